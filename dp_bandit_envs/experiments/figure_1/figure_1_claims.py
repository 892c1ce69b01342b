"""What Tossou and Dimitrakakis (2017) say about their figure 1, held against the numbers."""

import math

from dp_bandit_envs.experiments.claim import Claim
from dp_bandit_envs.experiments.experiment import Panel, Results
from dp_bandit_envs.experiments.figure_1.figure_1_setup import HORIZON, N_ARMS, PANELS, SWITCHING, WITHOUT_MEMORY
from dp_bandit_envs.experiments.verdicts import DECIDES, judged, lead, listed, ratio


def claims(results: Results) -> list[Claim]:
    """Return every claim in the paper's discussion of its figure, with what was seen.

    Verdicts on order are of the form "mean difference of paired trials over its standard error"; 3 decides.
    """
    names = {contestant.name: contestant.make().name for contestant in results.experiment.contestants}
    exp3, lap, tau = names["EXP3"], names["DP-EXP3-Lap"], names["EXP3-tau"]
    horizon = results.experiment.horizon or HORIZON
    ratios = {panel.title: ratio(_mean(results, panel, lap), _mean(results, panel, exp3)) for panel in WITHOUT_MEMORY}
    behind = {panel.title: lead(results, panel.key, lap, tau) for panel in WITHOUT_MEMORY}
    ahead = {name: lead(results, SWITCHING.key, tau, name) for name in (exp3, lap)}
    shares = {name: _mean(results, PANELS[0], name) / _bound(results, PANELS[0], name) for name in (exp3, lap, tau)}
    within = [
        _mean(results, panel, name) <= _bound(results, panel, name)
        for panel in PANELS
        for name in (exp3, lap, tau)
        if math.isfinite(_bound(results, panel, name))
    ]
    guarantee = {
        contestant.name: contestant.make().guarantee(n_arms=N_ARMS, horizon=horizon)
        for contestant in results.experiment.contestants
    }
    budget = guarantee["DP-EXP3-Lap"].epsilon
    tau_epsilon = guarantee["EXP3-tau"].epsilon_at(horizon**-2)
    close = max(ratios.values()) <= 1.25
    return [
        Claim(
            "The deterministic adversary makes the algorithms attain their upper bound.",
            "mean regret over bound: " + listed(shares, "{:.2f}"),
            judged(
                min(shares.values()) >= 0.9,
                "nearly",
                f"{min(shares.values()):.0%} to {max(shares.values()):.0%} of the bounds used here",
            ),
        ),
        Claim(
            "DP-EXP3-Lap is very competitive against EXP3 (oblivious adversary or weaker).",
            "mean regret of DP-EXP3-Lap over EXP3: " + listed(ratios, "{:.3f}"),
            judged(close, f"at epsilon = {budget:.4g}", f"at epsilon = {budget:.4g}"),
        ),
        Claim(
            "DP-EXP3-Lap has a significantly better privacy than EXP3.",
            f"epsilon {budget:.4g} against {guarantee['EXP3'].epsilon:,.0f}, the best bound known here for EXP3",
            judged(budget < guarantee["EXP3"].epsilon, f"but {_meaning(budget)}", "EXP3's bound is as good"),
        ),
        Claim(
            "DP-EXP3-Lap gets privacy for free against adversaries up to the oblivious one.",
            f"at epsilon = {budget:.4g} its regret is {max(ratios.values()):.2f} times that of EXP3 at most",
            judged(close and budget <= 10, _meaning(budget), _meaning(budget) if close else "the regret is larger"),
        ),
        Claim(
            "EXP3-tau is worse than DP-EXP3-Lap against an oblivious adversary or one less powerful.",
            "mean difference in standard errors: " + listed(behind, "{:.0f}"),
            judged(min(behind.values()) > DECIDES, "in all four games", "not in all four games"),
        ),
        Claim(
            "With switching costs the situation is reversed: EXP3-tau outperforms EXP3 and DP-EXP3-Lap.",
            "mean regret: "
            + listed({name: _mean(results, SWITCHING, name) for name in (exp3, lap, tau)}, "{:,.0f}")
            + "; lead in standard errors: "
            + listed(ahead, "{:.0f}"),
            judged(min(ahead.values()) > DECIDES, "by far", "not over both"),
        ),
        Claim(
            "The experiments confirm the theoretical analysis.",
            f"{sum(within)} of {len(within)} mean regrets are below their bound (where one is known)",
            judged(all(within), "as far as upper bounds can be confirmed", "see the table above"),
        ),
        Claim(
            "EXP3-tau provides privacy for free against switching costs.",
            f"it is ({tau_epsilon:.3g}, T^-2)-DP and has the least regret of the three",
            judged(min(ahead.values()) > DECIDES and tau_epsilon <= 10, _meaning(tau_epsilon), _meaning(tau_epsilon)),
        ),
    ]


def _mean(results: Results, panel: Panel, name: str) -> float:
    return float(results.regret(panel.key, name)[:, -1].mean())


def _bound(results: Results, panel: Panel, name: str) -> float:
    game = results.experiment.game(panel)
    algorithm = next(made for one in results.experiment.contestants if (made := one.make()).name == name)
    return algorithm.regret_bound(n_arms=game.n_arms, horizon=game.horizon, memory=game.adversary.memory)


def _meaning(epsilon: float) -> str:
    return f"epsilon = {epsilon:.3g} protects nobody" if epsilon > 10 else f"at epsilon = {epsilon:.3g}"
