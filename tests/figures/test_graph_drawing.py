"""Regret on graphs over time, with the bound, and regret over what a round reveals: what is drawn where."""

import dataclasses
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

from dp_bandit_envs.experiments import figure_graph
from dp_bandit_envs.experiments.figure_graph import graph_setup
from dp_bandit_envs.experiments.figure_graph.graph_drawing import BOUND, draw_graph
from dp_bandit_envs.plots.figure_bytes import as_bytes
from dp_bandit_envs.plots.plot_style import BLACK, STYLES
from dp_bandit_envs.runs.experiment import Results

ROUNDS = np.unique(np.round(np.geomspace(1, 10**4, 40)).astype(int))
LEVELS = [rf"DP-KLUCB ($\varepsilon={level}$)" for level in ("0.1", "0.3", "1", "3", "10")]


def noise(trials):
    return np.linspace(0.9, 1.1, trials)[:, None] if trials > 1 else np.ones((1, 1))


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


def drawn(*given):
    return draw_graph(figure_graph.reproduction(), made(*given))


def lines(axes):
    return {line.get_label(): line for line in axes.lines}


def test_each_graph_has_a_panel_and_feedback_the_last():
    axes = drawn().axes
    assert [one.get_title(loc="left") for one in axes] == [
        "(a) karate club, 34 arms",
        "(b) Les Misérables, 77 arms",
        "(c) complete graph,\n20 arms, $T=10^{5}$",
    ]
    assert [one.get_xlabel() for one in axes] == ["round $t$", "round $t$", "gains revealed in a round"]
    assert {one.get_ylabel() for one in axes} == {"Bayesian regret (gain)"}
    assert {(one.get_xscale(), one.get_yscale()) for one in axes} == {("log", "log")}
    assert len({one.get_ylim() for one in axes}) == 1
    assert axes[2].get_xticks().tolist() == list(graph_setup.REVEALED)


def test_lines_are_means_and_the_bound_is_dashed_and_black():
    graphs, feedback = made()
    axes = draw_graph(figure_graph.reproduction(), (graphs, feedback)).axes
    for one, panel, chi, arms in zip(axes, graphs.experiment.panels, (20, 35), (34, 77), strict=False):
        assert list(lines(one)) == [*(f"{name} (no privacy)" for name in graph_setup.ALGORITHMS), BOUND]
        for name in graph_setup.ALGORITHMS:
            line = lines(one)[f"{name} (no privacy)"]
            assert line.get_ydata() == pytest.approx(graphs.regret(panel.key, name, "pseudo_regret").mean(axis=0))
            assert line.get_color() == STYLES[name].colour
        bound = lines(one)[BOUND]
        assert bound.get_ydata() == pytest.approx(np.sqrt(chi * np.log(arms) * ROUNDS / 2))
        assert (bound.get_color(), bound.get_linestyle(), bound.get_marker()) == (BLACK, "--", "None")


def test_each_level_has_a_line_over_what_is_revealed():
    last = drawn().axes[2]
    assert list(lines(last)) == [*LEVELS, "KL-UCB (no privacy)"]
    for place, line in enumerate(last.lines):
        assert line.get_xdata() == pytest.approx([1, 2, 5, 10, 20])
        assert line.get_ydata() == pytest.approx(np.sqrt(10.0**5) * (place + 1) / np.arange(1, 6))
    *levels, free = last.lines
    assert len({line.get_color() for line in levels}) == 1 != len({line.get_linestyle() for line in levels})
    assert free.get_color() == BLACK


def test_the_legend_has_each_line_once_and_the_note_explains_the_rest():
    figure = drawn()
    (legend,) = figure.legends
    expected = [*(f"{name} (no privacy)" for name in graph_setup.ALGORITHMS), *LEVELS, "KL-UCB (no privacy)", BOUND]
    assert [text.get_text() for text in legend.get_texts()] == expected
    note = " ".join(figure.get_supxlabel().split())
    assert "mean of 5 trials" in note and r"whatever a round reveals" in note
    assert "drawn in each game" in note and r"$\sqrt{\chi\ H\ t\ /\ 2}$" in note


@pytest.mark.parametrize("rounds", [np.array([1]), np.array([1, 2])])
def test_the_smallest_results_can_be_drawn(rounds):
    figure = drawn(1, rounds)
    ElementTree.fromstring(as_bytes(figure, "svg"))
    assert f"$T={10 * rounds[-1]}$" in figure.axes[2].get_title(loc="left")
