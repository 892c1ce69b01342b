"""Draws the figure of `reproduce figure-graph`."""

from collections.abc import Sequence

from matplotlib.figure import Figure

from dp_bandit_envs.experiments.experiment import Results
from dp_bandit_envs.experiments.figure_graph import graph_setup as setup
from dp_bandit_envs.experiments.figure_graph.graph_panels import ByFeedback, OnGraph, graph_figure
from dp_bandit_envs.experiments.privacy_levels import words_of
from dp_bandit_envs.experiments.reproduction import Reproduction


def draw_graph(reproduction: Reproduction, results: Sequence[Results]) -> Figure:
    """Draw a panel for each graph, and one for the cost of feedback under privacy."""
    graphs, feedback = results
    measure = reproduction.view.measure
    panels = []
    for panel in graphs.experiment.panels:
        rounds = graphs.rounds(panel.key)
        curves = {name: graphs.regret(panel.key, name, measure) for name in graphs.names_in(panel)}
        arms = graphs.experiment.game(panel).n_arms
        panels.append(OnGraph(f"{panel.title}, {arms} arms", rounds, curves, setup.bound(graphs, panel, rounds)))
    horizon = int(feedback.rounds(setup.revealing(setup.REVEALED[0]))[-1])
    labels = [setup.label_at(epsilon) for epsilon in (*setup.LEVELS, None)]
    cost = ByFeedback(
        f"{setup.PRIVATE}, {setup.PRIVATE_ARMS} arms, T = {horizon:,}",
        setup.REVEALED,
        {label: setup.by_feedback(feedback, label) for label in labels},
    )
    note = (
        f"line: mean of {graphs.experiment.trials} games ({feedback.experiment.trials} in the last panel); band and"
        " bars: its 95% confidence interval (1.96 standard errors). Means of arms are uniform in [0, 1], drawn in each"
        " game. Bound: sqrt(chi H t / 2), chi cliques of a greedy cover, H = ln K. Last panel: a line has the same"
        " epsilon whatever a round reveals, so its noise grows with that; no privacy is KL-UCB"
    )
    guarantee = "; ".join(dict.fromkeys(words_of([graphs.experiment]).values()))
    return graph_figure(panels, cost, note=note, guarantee=guarantee)
