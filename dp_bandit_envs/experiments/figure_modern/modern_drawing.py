"""Draws the figure of `reproduce figure-modern`."""

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure

from dp_bandit_envs.experiments.figure_modern import modern_setup as modern
from dp_bandit_envs.experiments.figure_modern.modern_panels import OverEpsilon, OverTime, modern_figure
from dp_bandit_envs.experiments.reproduction import Reproduction
from dp_bandit_envs.runs.experiment import Results
from dp_bandit_envs.theory.lower_bounds import lai_robbins


def draw_modern(reproduction: Reproduction, results: Sequence[Results]) -> Figure:
    """Draw both experiments, one row for each game."""
    over_time, over_epsilon = results
    measure = reproduction.view.measure
    rows = [(_over_time(over_time, game, measure), _over_epsilon(over_epsilon, game, measure)) for game in modern.GAMES]
    note = "The lower bounds are the least slope of regret in ln t, times ln t: at a finite t, regret may be below"
    return modern_figure(rows, note=note, measure=measure)


def _over_time(results: Results, game: modern.Means, measure: str) -> OverTime:
    panel = modern.key(game, modern.EPSILON)
    rounds = results.rounds(panel)
    return OverTime(
        f"{game.title}; epsilon = {modern.EPSILON:g}",
        rounds,
        {name: results.regret(panel, name, measure) for name in (*modern.PRIVATE, modern.REFERENCE)},
        modern.bounds_over_time(game, rounds.tolist(), modern.EPSILON),
        modern.bounds_over_time(game, rounds.tolist(), None),
        modern.EPSILON,
    )


def _over_epsilon(results: Results, game: modern.Means, measure: str) -> OverEpsilon:
    horizon = int(results.rounds(modern.key(game, None))[-1])
    free = results.regret(modern.key(game, None), modern.REFERENCE, measure)[:, -1]
    return OverEpsilon(
        f"{game.title}; T = {horizon:,}",
        np.array(modern.SWEEP),
        {name: modern.sweep_of(results, game, name) for name in modern.PRIVATE},
        {modern.REFERENCE: free},
        modern.bounds_over_epsilon(game, horizon),
        lai_robbins(game.means, horizon),
    )
