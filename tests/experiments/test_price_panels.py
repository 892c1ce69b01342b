"""Ratios over T, extra regret over epsilon: what is drawn where in price-of-privacy."""

import math

import numpy as np
import pytest

from dp_bandit_envs.experiments.figure_price.price_numbers import Estimate
from dp_bandit_envs.experiments.figure_price.price_panels import Curve, Panel, price_figure
from dp_bandit_envs.plots.figure_bytes import as_bytes
from dp_bandit_envs.plots.plot_style import BLACK, BLUE, Style

STYLE = Style(BLUE, "--", "o")
HORIZONS = (2**10, 2**12, 2**14)


def curve(name, values, at=HORIZONS, game="", error=0.1):
    return Curve(name, at, [Estimate(value, error) for value in values], game)


def over_t(*curves):
    return Panel("Ball", "horizon T", "ratio", curves, powers=True)


def over_epsilon():
    levels = (0.1, 1.0, 10.0)
    curves = [curve("One", (30, 3, value), levels, game) for game, value in (("experts", 0.3), ("ball", -0.1))]
    return Panel("Levels", "epsilon", "extra regret", curves, free=False)


def drawn(*panels, note="the note", labels=None):
    return price_figure(
        panels or [over_t(curve("One", (3, 2, 1)))], note=note, labels=labels or {}, styles={"One": STYLE}
    )


def points(line):
    return line.get_xdata().tolist(), line.get_ydata().tolist()


def test_a_panel_has_its_lines_and_the_line_where_privacy_is_free():
    axes = drawn(over_t(curve("One", (3, 2, 1)), curve("KL-UCB", (5, 5, 5)))).axes[0]
    free, one, other = axes.lines
    assert set(free.get_ydata()) == {1} and free.get_color() == BLACK
    assert points(one) == (list(HORIZONS), [3, 2, 1]) and points(other)[1] == [5, 5, 5]
    assert (one.get_color(), one.get_linestyle(), one.get_marker()) == STYLE
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    assert (axes.get_xlabel(), axes.get_ylabel(), axes.get_title(loc="left")) == ("horizon T", "ratio", "(a) Ball")


def test_horizons_are_marked_as_powers_of_two():
    figure = drawn()
    figure.canvas.draw()
    assert [tick.get_text() for tick in figure.axes[0].get_xticklabels()] == ["$2^{10}$", "$2^{12}$", "$2^{14}$"]


def test_ratios_are_marked_as_plain_numbers():
    figure = drawn(over_t(curve("One", (9, 3, 0.8))))
    figure.canvas.draw()
    shown = {tick.get_text() for tick in figure.axes[0].get_yticklabels()}
    assert {"1", "2", "5"} <= shown


def test_games_of_one_panel_differ_in_their_dashes_and_a_mean_below_zero_is_left_out():
    axes = drawn(over_epsilon()).axes[0]
    experts, ball = axes.lines
    assert experts.get_linestyle() == "-" and ball.get_linestyle() != "-"
    assert experts.get_color() == ball.get_color()
    assert points(experts) == ([0.1, 1, 10], [30, 3, 0.3]) and points(ball) == ([0.1, 1], [30, 3])
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["experts", "ball"]


def test_every_name_is_once_in_the_legend():
    figure = drawn(over_t(curve("One", (3, 2, 1))), over_epsilon(), labels={"One": "One (eps 1)"})
    legend = figure.axes[2].get_legend()
    assert [text.get_text() for text in legend.get_texts()] == ["One (eps 1)"]
    assert figure.get_supxlabel() == "the note"


def test_a_long_legend_stands_beside_the_panels():
    panel = over_t(*(curve(f"A learner with a long name, number {number}" * 2, (3, 2, 1)) for number in range(25)))
    figure = drawn(panel)
    assert len(figure.legends) == 1 and figure.axes[1].get_legend() is None


@pytest.mark.parametrize("value", [math.nan, 0.0, -1.0])
@pytest.mark.parametrize("error", [math.nan, 0.0, 5.0])
def test_unknown_ratios_can_be_drawn(value, error):
    panel = over_t(curve("One", (value,), (4,), error=error))
    assert as_bytes(drawn(panel), "png")


@pytest.mark.parametrize("kind", ["png", "svg"])
def test_the_same_figure_is_the_same_bytes(kind):
    assert as_bytes(drawn(over_epsilon()), kind) == as_bytes(drawn(over_epsilon()), kind)


def test_bands_are_95_per_cent_intervals():
    axes = drawn(over_t(curve("One", (3, 2, 2), error=0.1))).axes[0]
    edges = axes.collections[0].get_paths()[0].vertices[:, 1]
    assert (np.min(edges), np.max(edges)) == pytest.approx((2 - 0.196, 3 + 0.196))
