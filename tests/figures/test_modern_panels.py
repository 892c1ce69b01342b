"""Regret over time and over epsilon, with the lower bound: what is drawn where."""

import numpy as np
import pytest

from dp_bandit_envs.experiments.figure_modern.modern_panels import (
    LOWER_BOUND,
    WITHOUT_PRIVACY,
    OverEpsilon,
    OverTime,
    modern_figure,
)
from dp_bandit_envs.plots.figure_bytes import as_bytes
from dp_bandit_envs.plots.plot_style import BLACK, STYLES

ROUNDS = np.unique(np.round(np.geomspace(1, 10**5, 50)).astype(int))
LEVELS = np.array([0.05, 0.5, 2.0])
NAMES_ALONE = ["DP-SE", "DP-KLUCB", "KL-UCB"]
NAMES = ["DP-SE", "DP-KLUCB", "KL-UCB (no privacy)"]


def rows(rounds=ROUNDS, trials=6, games=2):
    noise = np.linspace(0.9, 1.1, trials)[:, None]
    logs = np.log(rounds)
    made = []
    for game in range(1, games + 1):
        curves = {name: noise * logs * slope * game for slope, name in enumerate(NAMES_ALONE, start=3)}
        time = OverTime(f"Game {game}", rounds, curves, logs * 2, logs, 0.7)
        private = {name: noise * slope * game / LEVELS for slope, name in enumerate(NAMES_ALONE[:2], start=1)}
        over = OverEpsilon(f"Sweep {game}", LEVELS, private, {"KL-UCB": noise[:, 0]}, 0.5 / LEVELS, 0.25)
        made.append((time, over))
    return made


def lines(axes):
    return {line.get_label(): line for line in axes.lines}


def test_each_game_has_a_row_time_on_the_left_and_epsilon_on_the_right():
    drawn = modern_figure(rows(), note="the note")
    titles = [axes.get_title(loc="left") for axes in drawn.axes]
    assert titles == ["(a) Game 1", "(b) Sweep 1", "(c) Game 2", "(d) Sweep 2"]
    assert [axes.get_xlabel() for axes in drawn.axes] == [
        "round $t$",
        r"privacy parameter $\varepsilon$",
    ] * 2
    assert {axes.get_ylabel() for axes in drawn.axes} == {"pseudo-regret (gain)"}
    assert {(axes.get_xscale(), axes.get_yscale()) for axes in drawn.axes} == {("log", "log")}
    assert len({axes.get_ylim() for axes in drawn.axes}) == 1
    assert drawn.get_supxlabel().endswith("the note")


def test_every_line_is_in_every_panel_and_once_in_the_legend():
    drawn = modern_figure(rows(), note="")
    bounds = [WITHOUT_PRIVACY, LOWER_BOUND]
    for axes in drawn.axes:
        assert list(lines(axes)) == [*NAMES, *bounds]
        assert [line.get_color() for line in axes.lines[:3]] == [STYLES[name].colour for name in NAMES_ALONE]
    assert [text.get_text() for text in drawn.legends[0].get_texts()] == [*NAMES, *bounds]


def test_the_guarantee_is_said_where_the_axis_does_not():
    """On the left below the title, or in it; on the right the axis says it."""
    drawn = modern_figure(rows(games=1), note="")
    assert [[text.get_text() for text in axes.texts] for axes in drawn.axes] == [[r"$\varepsilon=0.7$"], []]
    ((time, over),) = rows(games=1)
    titled = modern_figure([(time._replace(title="Game; epsilon = 0.7"), over)], note="")
    assert not any(axes.texts for axes in titled.axes)


def test_the_lower_bound_is_a_dashed_black_line():
    left, right = modern_figure(rows(games=1), note="").axes
    for axes in (left, right):
        bound = lines(axes)[LOWER_BOUND]
        assert (bound.get_color(), bound.get_linestyle()) == (BLACK, "--")
    shown = ROUNDS >= 10
    assert lines(left)[LOWER_BOUND].get_ydata() == pytest.approx(2 * np.log(ROUNDS[shown]))
    assert lines(left)[WITHOUT_PRIVACY].get_ydata() == pytest.approx(np.log(ROUNDS[shown]))
    assert lines(right)[LOWER_BOUND].get_ydata() == pytest.approx(0.5 / LEVELS)
    assert set(lines(right)[WITHOUT_PRIVACY].get_ydata()) == {0.25}


def test_lines_are_means_and_without_privacy_one_is_level():
    left, right = modern_figure(rows(games=1), note="").axes
    assert lines(left)["DP-SE"].get_ydata() == pytest.approx(3 * np.log(ROUNDS[ROUNDS >= 10]))
    assert lines(right)["DP-SE"].get_ydata() == pytest.approx(1 / LEVELS)
    assert lines(right)["KL-UCB (no privacy)"].get_ydata() == pytest.approx(np.ones(3))
    assert right.get_xticks().tolist() == LEVELS.tolist()


@pytest.mark.parametrize("rounds", [np.array([1]), np.array([1, 2]), np.arange(1, 13)])
@pytest.mark.parametrize("trials", [1, 2])
def test_the_shortest_games_can_be_drawn(rounds, trials):
    assert as_bytes(modern_figure(rows(rounds, trials), note=""), "png")


@pytest.mark.parametrize("kind", ["png", "svg"])
def test_the_same_figure_is_the_same_bytes(kind):
    assert as_bytes(modern_figure(rows(), note="x"), kind) == as_bytes(modern_figure(rows(), note="x"), kind)
