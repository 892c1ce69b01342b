"""Figure 2 of Tossou and Dimitrakakis (2016): private UCB algorithms on coins, at two privacy levels."""

from collections.abc import Sequence

from dp_bandit_envs.experiments.figure_2.figure_2_claims import claims
from dp_bandit_envs.experiments.figure_2.figure_2_setup import HORIZON, MODERN, TRIALS, VIEW, experiment
from dp_bandit_envs.experiments.reproduction import Reproduction
from dp_bandit_envs.experiments.sentences import smaller_than
from dp_bandit_envs.metrics import mean_and_standard_error
from dp_bandit_envs.runs.experiment import GameSpec, Results
from dp_bandit_envs.runs.run_report import Note


def reproduction(*, modern: bool = False, horizon: int = HORIZON, trials: int = TRIALS, seed: int = 0) -> Reproduction:
    """Return what `dp-bandit reproduce figure-2` runs and reports; arguments as for `experiment`."""
    return Reproduction(
        name="figure-2-modern" if modern else "figure-2",
        title="Figure 2 of Algorithms for Differentially Private Multi-Armed Bandits (AAAI 2016)",
        experiments=(experiment(modern=modern, horizon=horizon, trials=trials, seed=seed),),
        view=VIEW,
        notes=lambda results: notes(results[0]),
        claims=lambda results: claims(results[0]),
    )


def notes(results: Results) -> list[Note]:
    """Return the notes that precede the results."""
    text = (
        "Regret is pseudo-regret, each round's difference in mean between the best arm and the arm played: the paper's"
        " definition without the randomness of the gains. The algorithms are the paper's with its privacy errors"
        " corrected, so that each has the epsilon in the panel's title (DP-UCB-INT at delta = e^-10, with the"
        " intervals of lemma B.1). Private-UCB is the algorithm of Mishra and Thakurta (2015) with the constants as"
        " printed and the failure probability t^-4 of this paper. The same games are played at both levels. With two"
        " arms the best arm is the first. Algorithms that play each arm until its first release begin with it, so their"
        " lines begin where they leave it."
    )
    found = [Note(text), *smaller_than(results, HORIZON, TRIALS)]
    modern = [name for name in results.names if name in MODERN]
    if modern:
        found.append(Note(f"Added to the paper's algorithms: {', '.join(modern)}. {_least(results)}"))
    return found


def _least(results: Results) -> str:
    """Name the private algorithm with the smallest mean regret in each panel, next to DP-UCB-INT's mean regret."""
    found: Sequence[str] = [
        f"{panel.title}: {best}, {means[best]:,.1f} ± {errors[best]:,.1f} against {means['DP-UCB-INT']:,.1f}"
        for panel in results.experiment.panels
        for means, errors in [_means(results, panel)]
        for best in [min((name for name in means if name != "UCB"), key=means.__getitem__)]
    ]
    return f"Smallest mean regret of all private algorithms, against DP-UCB-INT's: {'; '.join(found)}."


def _means(results: Results, panel: GameSpec) -> tuple[dict[str, float], dict[str, float]]:
    pairs = {
        name: mean_and_standard_error(results.regret(panel.key, name, VIEW.measure)[:, -1])
        for name in results.names_in(panel)
    }
    return {name: float(pair[0]) for name, pair in pairs.items()}, {
        name: float(pair[1]) for name, pair in pairs.items()
    }
