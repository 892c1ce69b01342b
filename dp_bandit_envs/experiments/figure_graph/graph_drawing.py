"""Draws the figure of `reproduce figure-graph`."""

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure

from dp_bandit_envs.experiments.figure_graph import graph_setup as setup
from dp_bandit_envs.experiments.reproduction import Reproduction
from dp_bandit_envs.plots.curves import Curve, Panel, Reference
from dp_bandit_envs.plots.curves_plot import ROUND, curves_figure
from dp_bandit_envs.privacy.guarantee import NO_PRIVACY
from dp_bandit_envs.protocols import FloatArray
from dp_bandit_envs.runs.experiment import GameSpec, Results, labels_in

BOUND = "bound for TS-N"
REVEALED = "gains revealed in a round"


def draw_graph(reproduction: Reproduction, results: Sequence[Results]) -> Figure:
    """Draw a panel for each graph, and one for the cost of feedback under privacy; all axes are logarithmic."""
    graphs, feedback = results
    measure = reproduction.view.measure
    note = (
        "Means of arms are uniform in [0, 1], drawn in each game. Bound: sqrt(chi H t / 2), chi cliques of a greedy"
        f" cover, H = ln K. In the last panel {setup.PRIVATE} has the same epsilon whatever a round reveals, so its"
        " noise grows with that"
    )
    return curves_figure(
        [*(_on_graph(graphs, panel, measure) for panel in graphs.experiment.panels), _by_feedback(feedback)],
        across=ROUND,
        measure="Bayesian regret (gain)",
        band="ci",
        x_scale="log",
        y_scale="log",
        note=note,
    )


def _on_graph(results: Results, panel: GameSpec, measure: str) -> Panel:
    rounds, labels = results.rounds(panel.key), labels_in(results.experiment, panel)
    curves = [
        Curve(name, labels[name], rounds, results.regret(panel.key, name, measure)) for name in results.names_in(panel)
    ]
    title = f"{panel.title}, {results.experiment.game(panel).n_arms} arms"
    return Panel(title, curves, [Reference(BOUND, rounds, setup.bound(results, panel, rounds))])


def _by_feedback(results: Results) -> Panel:
    revealed = np.array(setup.REVEALED)
    curves = [
        Curve(setup.PRIVATE, f"{setup.PRIVATE} (eps {level:g})", revealed, _regret(results, level))
        for level in setup.LEVELS
    ]
    curves.append(Curve(setup.FREE, f"{setup.FREE} {NO_PRIVACY}", revealed, _regret(results, None)))
    horizon = int(results.rounds(setup.revealing(setup.REVEALED[0]))[-1])
    return Panel(f"complete graph, {setup.PRIVATE_ARMS} arms, T = {horizon:,}", curves, across=REVEALED)


def _regret(results: Results, level: float | None) -> FloatArray:
    return setup.by_feedback(results, setup.label_at(level))
