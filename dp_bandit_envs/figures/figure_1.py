"""Figure 1 of Tossou and Dimitrakakis (2017): EXP3, DP-EXP3-Lap and EXP3-tau against five adversaries."""

import math

from dp_bandit_envs import checks
from dp_bandit_envs.algorithms import Algorithm, paper_epsilon
from dp_bandit_envs.algorithms.specs import AlgorithmSpec, GameSpec
from dp_bandit_envs.experiments.experiment import Experiment, Results
from dp_bandit_envs.experiments.report import AS_IN_2017, Note, Numbers, Study
from dp_bandit_envs.figures.judging import (
    NO,
    Claims,
    Judgement,
    after_names,
    all_ahead,
    errors_ahead,
    ratio,
    warn_if_smaller,
    yes_or_no,
)
from dp_bandit_envs.privacy.guarantee import DELTA, PrivacyGuarantee

N_ARMS = 4
HORIZON = 2**18
TRIALS = 720
GAMES = tuple(
    GameSpec(game.lower(), title, f"DPBandit-{game}-v0", {"n_arms": N_ARMS})
    for game, title in (
        ("Deterministic", "Deterministic"),
        ("Stochastic", "Stochastic"),
        ("FullyOblivious", "Fully oblivious"),
        ("Oblivious", "Oblivious"),
        ("Switching", "Switching costs"),
    )
)
WITHOUT_MEMORY, SWITCHING = GAMES[:4], GAMES[4]
EXP3, LAP, TAU = "EXP3", "DP-EXP3-Lap", "EXP3-tau"
CLOSE = 1.25
"""The largest ratio of regrets for "competitive with"."""
MEANINGFUL = 10.0
"""The largest epsilon that gives meaningful protection."""
NEARLY = 0.9
"""The smallest ratio of regret to bound for "attained"."""


def experiment(
    *, epsilon: float | None = None, horizon: int = HORIZON, trials: int = TRIALS, seed: int = 0
) -> Experiment:
    """Return the paper's experiment, or the same games with five algorithms at another privacy level.

    Without an epsilon there are the paper's three algorithms at its epsilon (243.29 at full size). Otherwise
    DP-EXP3-Lap and the batched algorithms are epsilon-DP, EXP3-tau is (epsilon, T^-2)-DP, and EXP3 is unchanged.
    """
    horizon = checks.integer("horizon", horizon, at_least=2)
    private: tuple[AlgorithmSpec, ...]
    if epsilon is None:
        private = (AlgorithmSpec(LAP, {"epsilon": paper_epsilon(N_ARMS, horizon)}), AlgorithmSpec(TAU))
    else:
        private = (
            AlgorithmSpec(LAP, {"epsilon": epsilon}),
            AlgorithmSpec(TAU, {"epsilon": epsilon, "delta": horizon**-2}),
            AlgorithmSpec("Batched-Lap-EXP3", {"epsilon": epsilon}),
            AlgorithmSpec("Batched-Lap-HTINF", {"epsilon": epsilon}),
        )
    return Experiment("figure-1", GAMES, (AlgorithmSpec(EXP3), *private), horizon, trials, seed)


def study(*, epsilon: float | None = None, horizon: int = HORIZON, trials: int = TRIALS, seed: int = 0) -> Study:
    """Return the study: experiments, figure and report; arguments as for `experiment`."""
    if epsilon is not None:
        epsilon = checks.epsilon(epsilon)
    return Study(
        name="figure-1" if epsilon is None else f"figure-1-epsilon-{epsilon:g}",
        title="Figure 1 of Achieving Privacy in the Adversarial Multi-Armed Bandit (AAAI 2017)",
        experiments=(experiment(epsilon=epsilon, horizon=horizon, trials=trials, seed=seed),),
        view=AS_IN_2017 if epsilon is None else AS_IN_2017._replace(log_games=(SWITCHING.key,)),
        notes=lambda results: notes(results[0], epsilon),
        claims=claims.judged,
        numbers=lambda results: _numbers(results[0], epsilon),
    )


def notes(results: Results, epsilon: float | None) -> list[Note]:
    """Return the notes that precede the results."""
    if epsilon is not None:
        text = (
            f"All private algorithms have epsilon = {epsilon:g} (EXP3-tau also delta = T^-2); EXP3 has no privacy, for"
            " comparison."
        )
    else:
        budget = paper_epsilon(N_ARMS, _horizon(results))
        text = (
            f"**The paper's epsilon is {budget:.2f} (its corollary 3.2). That is no meaningful privacy:** it allows the"
            f" probability of what is published to change by a factor of e^{budget:.0f} when one person's data change,"
            f" and DP-EXP3-Lap adds noise of scale {1 / budget:.4f} to gains in [0, 1]. The"
            " theorem of `dp_bandit_envs.privacy.exp3_privacy` gives EXP3-tau"
            f" epsilon = {_epsilon_of_tau(results):.2f} at delta = T^-2 with the same batches. The same figure is"
            " also drawn with all private algorithms at one level, and the batched ones beside: give an epsilon of 1 or"
            " of 0.1."
        )
    return [Note(text), *warn_if_smaller(results, HORIZON, TRIALS)]


def _numbers(results: Results, epsilon: float | None) -> dict[str, Numbers]:
    """Return the numbers on the page: the paper's and the correct epsilon, shares of bounds, or EXP3-tau's batches."""
    if epsilon is not None:
        env = _algorithms(results)[TAU].wrap(results.experiment.make_game(GAMES[0]))
        return {TAU: {"batch": env.get_wrapper_attr("mechanism").batch_size}}
    return {
        TAU: {"epsilon": _epsilon_of_tau(results)},
        LAP: {"epsilon": paper_epsilon(N_ARMS, _horizon(results))},
        "share of bound": _shares_of_bounds(results).numbers,
    }


def _horizon(results: Results) -> int:
    return results.experiment.horizon or HORIZON


def _algorithms(results: Results) -> dict[str, Algorithm]:
    """Return the paper's three algorithms; their labels in the results may have a parameter."""
    built = {one.name: one.build() for one in results.experiment.algorithms}
    return {name: built[name] for name in (EXP3, LAP, TAU)}


def _labels(results: Results) -> list[str]:
    return [one.name for one in _algorithms(results).values()]


def _guarantee(results: Results, name: str) -> PrivacyGuarantee:
    return _algorithms(results)[name].guarantee(n_arms=N_ARMS, horizon=_horizon(results))


def _epsilon_of_tau(results: Results) -> float:
    return _guarantee(results, TAU).epsilon_at(_horizon(results) ** -2)


def _mean(results: Results, spec: GameSpec, label: str) -> float:
    return float(results.regret(spec.key, label)[:, -1].mean())


def _bound(results: Results, spec: GameSpec, label: str) -> float:
    game = results.experiment.make_game(spec)
    algorithm = next(one for one in _algorithms(results).values() if one.name == label)
    return algorithm.regret_bound(n_arms=game.n_arms, horizon=game.horizon, memory=game.adversary.memory)


def _lap_over_exp3(results: Results) -> dict[str, float]:
    """Return the ratio of mean regrets of DP-EXP3-Lap and EXP3, by game without memory."""
    exp3, lap, _ = _labels(results)
    return {spec.title: ratio(_mean(results, spec, lap), _mean(results, spec, exp3)) for spec in WITHOUT_MEMORY}


def _tau_ahead(results: Results) -> dict[str, float]:
    """Return EXP3-tau's advantage in regret over each other algorithm under switching costs, in standard errors."""
    exp3, lap, tau = _labels(results)
    return {name: errors_ahead(results, SWITCHING.key, tau, name) for name in (exp3, lap)}


def _meaning(epsilon: float) -> str:
    return f"epsilon = {epsilon:.3g} protects nobody" if epsilon > MEANINGFUL else f"at epsilon = {epsilon:.3g}"


claims = Claims()


@claims("The deterministic adversary makes the algorithms attain their upper bound.")
def _shares_of_bounds(results: Results) -> Judgement:
    shares = {name: _mean(results, GAMES[0], name) / _bound(results, GAMES[0], name) for name in _labels(results)}
    least, most = min(shares.values()), max(shares.values())
    return Judgement(
        yes_or_no(least >= NEARLY),
        shares,
        f"mean regret over bound: {after_names(shares, '{:.2f}')}",
        yes="nearly",
        no=f"{least:.0%} to {most:.0%} of the bounds used here",
    )


@claims("DP-EXP3-Lap is very competitive against EXP3 (oblivious adversary or weaker).")
def _beside_exp3(results: Results) -> Judgement:
    ratios = _lap_over_exp3(results)
    seen = f"mean regret of DP-EXP3-Lap over EXP3: {after_names(ratios, '{:.3f}')}"
    at = f"at epsilon = {_guarantee(results, LAP).epsilon:.4g}"
    return Judgement(yes_or_no(all(one <= CLOSE for one in ratios.values())), ratios, seen, yes=at, no=at)


@claims("DP-EXP3-Lap has significantly better privacy than EXP3.", fewest=0)
def _two_epsilons(results: Results) -> Judgement:
    lap, exp3 = (_guarantee(results, name) for name in (LAP, EXP3))
    numbers = {LAP: lap.epsilon, EXP3: exp3.epsilon}
    at_delta = exp3.epsilon_at(DELTA)
    seen = (
        f"pure epsilon {lap.epsilon:.4g} against {exp3.epsilon:,.0f}, the best one known here for EXP3, which has"
        f" {at_delta:.4g} at delta = {DELTA:g}"
    )
    behind = f"in pure epsilon alone, and {_meaning(lap.epsilon)}"
    yes = behind if lap.epsilon >= at_delta else _meaning(lap.epsilon)
    return Judgement(yes_or_no(lap.epsilon < exp3.epsilon), numbers, seen, yes=yes, no="EXP3's bound is as good")


@claims("DP-EXP3-Lap gets privacy for free against adversaries up to the oblivious one.")
def _lap_for_free(results: Results) -> Judgement:
    ratios, epsilon = _lap_over_exp3(results), _guarantee(results, LAP).epsilon
    close = all(one <= CLOSE for one in ratios.values())
    return Judgement(
        yes_or_no(close and epsilon <= MEANINGFUL),
        ratios,
        f"at epsilon = {epsilon:.4g} its regret is {max(ratios.values()):.2f} times that of EXP3 at most",
        yes=_meaning(epsilon),
        no=_meaning(epsilon) if close else "the regret is larger",
    )


@claims("EXP3-tau is worse than DP-EXP3-Lap against an oblivious adversary or one less powerful.")
def _lap_ahead(results: Results) -> Judgement:
    _, lap, tau = _labels(results)
    errors = {spec.title: errors_ahead(results, spec.key, lap, tau) for spec in WITHOUT_MEMORY}
    seen = f"mean difference in standard errors: {after_names(errors, '{:.0f}')}"
    return Judgement(all_ahead(errors.values()), errors, seen, yes="in all four games", no="not in all four games")


@claims("With switching costs the situation is reversed: EXP3-tau outperforms EXP3 and DP-EXP3-Lap.")
def _switching_costs(results: Results) -> Judgement:
    regrets = {name: _mean(results, SWITCHING, name) for name in _labels(results)}
    errors = _tau_ahead(results)
    seen = (
        f"mean regret: {after_names(regrets, '{:,.0f}')}; regret above that of EXP3-tau, in standard errors:"
        f" {after_names(errors, '{:.0f}')}"
    )
    return Judgement(all_ahead(errors.values()), regrets, seen, yes="by far", no="not over both")


@claims("The experiments confirm the theoretical analysis.")
def _within_bounds(results: Results) -> Judgement:
    pairs = [(_mean(results, spec, name), _bound(results, spec, name)) for spec in GAMES for name in _labels(results)]
    within = [mean <= bound for mean, bound in pairs if math.isfinite(bound)]
    return Judgement(
        yes_or_no(all(within)),
        {"within": sum(within), "bounded": len(within)},
        f"{sum(within)} of {len(within)} mean regrets are below their bound (where one is known)",
        yes="as far as upper bounds can be confirmed",
        no="see the table above",
    )


@claims("EXP3-tau provides privacy for free against switching costs.")
def _tau_for_free(results: Results) -> Judgement:
    epsilon, errors = _epsilon_of_tau(results), _tau_ahead(results)
    return Judgement(
        NO if epsilon > MEANINGFUL else all_ahead(errors.values()),
        {"epsilon": epsilon, **errors},
        f"it is ({epsilon:.3g}, T^-2)-DP; regret of the others above its own, in standard errors:"
        f" {after_names(errors, '{:.0f}')}",
        yes=_meaning(epsilon),
        no=_meaning(epsilon) if epsilon > MEANINGFUL else "its regret is larger than that of one of them",
    )
