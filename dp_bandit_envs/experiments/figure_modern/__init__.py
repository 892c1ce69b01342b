"""Compares stochastic algorithms since 2016 with those of 2016: regret over time and over epsilon, and lower bounds."""

from collections.abc import Sequence

from dp_bandit_envs.experiments.figure_modern.modern_claims import claims
from dp_bandit_envs.experiments.figure_modern.modern_drawing import draw_modern
from dp_bandit_envs.experiments.figure_modern.modern_setup import GAMES, HORIZON, REFERENCE, TRIALS, VIEW, experiments
from dp_bandit_envs.experiments.reproduction import Reproduction
from dp_bandit_envs.experiments.sentences import smaller_than
from dp_bandit_envs.experiments.verdicts import runs_on_a_worse_arm
from dp_bandit_envs.runs.experiment import Results
from dp_bandit_envs.runs.run_report import Note


def reproduction(*, horizon: int = HORIZON, trials: int = TRIALS, seed: int = 0) -> Reproduction:
    """Return what `dp-bandit reproduce figure-modern` runs and reports; arguments as for `experiments`."""
    return Reproduction(
        name="figure-modern",
        title="Private stochastic bandits since 2016, and the lower bound",
        experiments=experiments(horizon=horizon, trials=trials, seed=seed),
        view=VIEW,
        notes=notes,
        claims=lambda results: claims(*results),
        draw=draw_modern,
    )


def notes(results: Sequence[Results]) -> list[Note]:
    """Return what a reader must know before the numbers."""
    games = "; ".join(f"{game.name}, with means {', '.join(f'{one:g}' for one in game.means)}" for game in GAMES)
    lost = [
        f"{count} of {len(one.regret(panel.key, name, VIEW.measure))} of {name} ({panel.title})"
        for one in results
        for panel in one.experiment.panels
        for name in one.names_in(panel)
        if (count := runs_on_a_worse_arm(one, panel, name))
    ]
    text = (
        f"Games: {games}. Regret is pseudo-regret, each round's difference in mean between the best arm and the arm"
        f" played. All algorithms are epsilon-differentially private, but for {REFERENCE}, which has no privacy and"
        " stands for what privacy costs. The lower bound is asymptotic: for an algorithm that is good at all means, the"
        " slope of regret in ln t is at least the sum over arms of gap / d_epsilon(mean, best mean) in the long run"
        " (Azize and others 2025; without privacy Lai and Robbins 1985, with kl in place of d_epsilon). Its line is"
        " that slope times ln t; at a finite t regret may be below it.\n\nRuns that stay with a worse arm to the end,"
        f" where noise hides the best one: {', '.join(lost) + '. One of them decides a mean' if lost else 'none'}."
    )
    return [Note(text), *smaller_than(results[0], HORIZON, TRIALS)]
