"""Regret on graphs over time, with the bound, and regret over what a round reveals: what is drawn where."""

import dataclasses
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

from dp_bandit_envs.experiments import figure_graph
from dp_bandit_envs.experiments.experiment import Results
from dp_bandit_envs.experiments.figure_graph import graph_setup
from dp_bandit_envs.experiments.figure_graph.graph_drawing import draw_graph
from dp_bandit_envs.experiments.figure_graph.graph_panels import ByFeedback, OnGraph, graph_figure
from dp_bandit_envs.plots.figure_bytes import as_bytes
from dp_bandit_envs.plots.plot_style import BLACK, style_of

ROUNDS = np.unique(np.round(np.geomspace(1, 10**4, 40)).astype(int))
NAMES = ["TS-N", "TS-MaxN", "UCB-N"]
LEVELS = {"epsilon = 0.1": 900.0, "epsilon = 1": 90.0, "no privacy": 20.0}
REVEALED = (1, 2, 5)
BOUND = "bound for TS-N"


def noise(trials):
    return np.linspace(0.9, 1.1, trials)[:, None] if trials > 1 else np.ones((1, 1))


def on_graphs(rounds=ROUNDS, trials=6, graphs=2):
    """Make graphs on which algorithm i has the regret (i + 1) sqrt(t), times the graph's number."""
    return [
        OnGraph(
            f"Graph {graph}",
            rounds,
            {name: noise(trials) * np.sqrt(rounds) * (place + 1) * graph for place, name in enumerate(NAMES)},
            7.0 * graph * np.sqrt(rounds),
        )
        for graph in range(1, graphs + 1)
    ]


def by_feedback(trials=6):
    return ByFeedback(
        "Cost", REVEALED, {label: noise(trials) * mean / np.array(REVEALED) for label, mean in LEVELS.items()}
    )


def drawn(rounds=ROUNDS, trials=6, graphs=2, note="the note"):
    return graph_figure(on_graphs(rounds, trials, graphs), by_feedback(trials), note=note)


def lines(axes):
    return {line.get_label(): line for line in axes.lines if not line.get_label().startswith("_")}


def texts(legend):
    return [text.get_text() for text in legend.get_texts()]


def legends(axes):
    """Return both legends of the cell, that of the graphs first."""
    (first,) = axes.artists
    return first, axes.get_legend()


def made(trials=5, rounds=ROUNDS):
    """Make results of two real graphs and of the second experiment, without playing; algorithm i's is i + 1."""
    graphs, feedback = graph_setup.experiments(horizon=int(rounds[-1]), trials=trials)
    graphs = dataclasses.replace(graphs, panels=graphs.panels[3:5])
    found = []
    for experiment, ends in ((graphs, rounds), (feedback, 10 * rounds)):
        arrays = {}
        for number, panel in enumerate(experiment.panels):
            arrays[f"{panel.key}/checkpoints"] = ends
            for place, player in enumerate(experiment.players(panel)):
                regret = noise(trials) * np.sqrt(ends) * (place + 1) / (number + 1)
                arrays[f"{panel.key}/{player.name}/pseudo_regret"] = regret
        found.append(Results(experiment, arrays))
    return found


@pytest.mark.parametrize(("graphs", "cells"), [(1, 3), (2, 6), (4, 6), (5, 9), (7, 9)])
def test_each_graph_has_a_panel_then_feedback_then_the_legends(graphs, cells):
    axes = drawn(graphs=graphs).axes
    titles = [f"({chr(97 + index)}) Graph {index + 1}" for index in range(graphs)]
    titles.append(f"({chr(97 + graphs)}) Cost")
    assert [one.get_title(loc="left") for one in axes] == titles + [""] * (cells - graphs - 1)
    assert [one.axison for one in axes] == [True] * (graphs + 1) + [False] * (cells - graphs - 1)
    assert [one.get_xlabel() for one in axes[: graphs + 1]] == ["round t"] * graphs + ["gains revealed in a round"]
    assert {one.get_ylabel() for one in axes[: graphs + 1]} == {"Bayesian regret (gain)"}
    assert [bool(one.get_legend()) for one in axes] == [index == graphs + 1 for index in range(cells)]


def test_all_axes_are_logarithmic_and_graphs_share_theirs():
    figure = drawn()
    first, second, last = figure.axes[:3]
    assert {(axes.get_xscale(), axes.get_yscale()) for axes in (first, second, last)} == {("log", "log")}
    assert first.get_ylim() == second.get_ylim() != last.get_ylim()
    # From the least regret, 1, to the greatest bound, 14 sqrt(10,000); and from what KL-UCB's bar holds to the worst.
    assert first.get_ylim() == pytest.approx((1 / 1.6, 1400 * 1.6))
    low, high = last.get_ylim()
    assert low < 4 and high > 900
    assert first.get_xlim() == second.get_xlim() == (1, 10_000)
    assert figure.get_supxlabel() == "the note"


def test_lines_are_means_and_look_as_everywhere():
    for number, axes in enumerate(drawn().axes[:2], start=1):
        assert list(lines(axes)) == [*NAMES, BOUND]
        for place, name in enumerate(NAMES):
            line = lines(axes)[name]
            assert line.get_xdata() == pytest.approx(ROUNDS)
            assert line.get_ydata() == pytest.approx(np.sqrt(ROUNDS) * (place + 1) * number)
            assert line.get_color() == style_of(name, NAMES).colour
        # A band for each algorithm and none for the bound.
        assert len(axes.collections) == len(NAMES)


def test_the_bound_is_a_dashed_black_line():
    for number, axes in enumerate(drawn().axes[:2], start=1):
        bound = lines(axes)[BOUND]
        assert (bound.get_color(), bound.get_linestyle()) == (BLACK, "--")
        assert bound.get_ydata() == pytest.approx(7 * number * np.sqrt(ROUNDS))


def test_each_level_has_a_line_over_what_is_revealed():
    axes = drawn().axes[2]
    assert axes.get_xticks().tolist() == list(REVEALED)
    assert [container.get_label() for container in axes.containers] == list(LEVELS)
    colours = set()
    for container, (label, mean) in zip(axes.containers, LEVELS.items(), strict=True):
        line, _, (bars,) = container.lines
        assert line.get_xdata() == pytest.approx(REVEALED)
        assert line.get_ydata() == pytest.approx(mean / np.array(REVEALED))
        colours.add(str(line.get_color()))
        assert (line.get_color() == BLACK) == (line.get_linestyle() == "--") == (label == "no privacy")
        half = 1.96 * np.std(noise(6), ddof=1) / np.sqrt(6) * mean / np.array(REVEALED)
        lows, highs = zip(*(segment[:, 1] for segment in bars.get_segments()), strict=True)
        assert np.subtract(highs, lows) == pytest.approx(2 * half)
    assert len(colours) == len(LEVELS)


def test_each_line_is_in_a_legend_once_and_which_is_said():
    first, second = legends(drawn(graphs=3).axes[4])
    assert texts(first) == [*NAMES, BOUND] and texts(second) == list(LEVELS)
    assert first.get_title().get_text() == "(a) to (c)" and second.get_title().get_text() == "(d)"


@pytest.mark.parametrize("graphs", [2, 7])
def test_legends_cover_nothing(graphs):
    """They share a cell with the longest names there are; nor do they cover each other."""
    nothing = np.ones((2, 3))
    cost = ByFeedback(
        "Cost", REVEALED, dict.fromkeys(["epsilon = 0.1", *(f"epsilon = {x}" for x in range(10, 15))], nothing)
    )
    panels = [each._replace(curves={"UCB-MaxN": each.curves["TS-N"]}) for each in on_graphs(graphs=graphs)]
    figure = graph_figure(panels, cost, note="")
    figure.canvas.draw()
    one, other = (legend.get_window_extent() for legend in legends(figure.axes[graphs + 1]))
    assert not one.overlaps(other)
    for legend in (one, other):
        assert not any(legend.overlaps(axes.get_tightbbox()) for axes in figure.axes[: graphs + 1])
        assert legend.x0 >= 0 and legend.x1 <= figure.bbox.x1


@pytest.mark.parametrize("rounds", [np.array([1]), np.array([1, 2]), np.arange(1, 13)])
@pytest.mark.parametrize("trials", [1, 2])
def test_the_shortest_games_can_be_drawn(rounds, trials):
    figure = drawn(rounds, trials)
    assert as_bytes(figure, "png")
    assert len(lines(figure.axes[0])) == 4 and len(figure.axes[2].containers) == 3


def test_a_line_begins_where_regret_is_positive():
    graphs = on_graphs(graphs=1)
    graphs[0].curves["TS-N"][:, :5] = 0
    figure = graph_figure(graphs, by_feedback(), note="")
    height = lines(figure.axes[0])["TS-N"].get_ydata()
    assert np.isnan(height[:5]).all() and np.isfinite(height[5:]).all()
    assert as_bytes(figure, "svg")


def test_games_without_regret_can_be_drawn():
    nothing = ByFeedback("Cost", REVEALED, {label: np.zeros((2, 3)) for label in LEVELS})
    assert as_bytes(graph_figure(on_graphs(), nothing, note=""), "png")


@pytest.mark.parametrize("kind", ["png", "svg"])
def test_the_same_figure_is_the_same_bytes(kind):
    assert as_bytes(drawn(), kind) == as_bytes(drawn(), kind)


def test_results_are_put_where_they_belong():
    graphs, feedback = made()
    figure = draw_graph(figure_graph.reproduction(), (graphs, feedback))
    titles = [axes.get_title(loc="left") for axes in figure.axes]
    assert titles[:3] == [
        "(a) karate club, 34 arms",
        "(b) Les Misérables, 77 arms",
        "(c) DP-KLUCB, 20 arms, T = 100,000",
    ]
    for axes, panel in zip(figure.axes, graphs.experiment.panels, strict=False):
        assert list(lines(axes)) == [*graph_setup.ALGORITHMS, BOUND]
        for name in graph_setup.ALGORITHMS:
            mean = graphs.regret(panel.key, name, "pseudo_regret").mean(axis=0)
            assert lines(axes)[name].get_ydata() == pytest.approx(mean)
    for axes, chi, arms in zip(figure.axes, (20, 35), (34, 77), strict=False):
        assert lines(axes)[BOUND].get_ydata() == pytest.approx(np.sqrt(chi * np.log(arms) * ROUNDS / 2))
    labels = ["epsilon = 0.1", "epsilon = 0.3", "epsilon = 1", "epsilon = 3", "epsilon = 10", "no privacy"]
    first, second = legends(figure.axes[3])
    assert texts(second) == labels and "(no privacy)" in first.get_title().get_text()
    for place, container in enumerate(figure.axes[2].containers):
        line = container.lines[0]
        assert line.get_xdata() == pytest.approx([1, 2, 5, 10, 20])
        assert line.get_ydata() == pytest.approx(np.sqrt(10.0**5) * (place + 1) / np.arange(1, 6))
    note = " ".join(figure.get_supxlabel().split())
    assert "mean of 5 games (5 in the last panel)" in note and "same epsilon whatever a round reveals" in note
    assert "drawn in each game" in note and "sqrt(chi H t / 2)" in note


@pytest.mark.parametrize("rounds", [np.array([1]), np.array([1, 2])])
def test_the_smallest_results_can_be_drawn(rounds):
    figure = draw_graph(figure_graph.reproduction(), made(1, rounds))
    ElementTree.fromstring(as_bytes(figure, "svg"))
    assert f"T = {10 * rounds[-1]:,}" in figure.axes[2].get_title(loc="left")
