"""Ratios over T, extra regret over epsilon: what is drawn where in price-of-privacy."""

import math

import numpy as np
import pytest

from dp_bandit_envs.experiments.figure_price.price_drawing import ratio_band
from dp_bandit_envs.experiments.figure_price.price_numbers import Estimate
from dp_bandit_envs.experiments.figure_price.price_panels import Line, RatioPanel, price_figure
from dp_bandit_envs.plots.curves import Reference
from dp_bandit_envs.plots.figure_bytes import as_bytes
from dp_bandit_envs.plots.plot_style import BLACK, GREY, styles_for

HORIZONS = (2**10, 2**12, 2**14)


def line(name, values, at=HORIZONS, game="", error=0.1):
    return Line(name, at, ratio_band([Estimate(value, error) for value in values]), game)


def over_t(*lines, **given):
    return RatioPanel("Ball", "horizon T", "ratio", lines, **given)


def over_epsilon():
    levels = (0.1, 1.0, 10.0)
    lines = [line("One", (30, 3, value), levels, game) for game, value in (("experts", 0.3), ("ball", -0.1))]
    return RatioPanel("Levels", "epsilon", "extra regret", lines, free=False)


def drawn(*panels, note="the note", labels=None):
    return price_figure(panels or [over_t(line("One", (3, 2, 1)))], note=note, labels=labels or {})


def points(one):
    return one.get_xdata().tolist(), one.get_ydata().tolist()


def legend_texts(figure):
    found = [*figure.legends, *(axes.get_legend() for axes in figure.axes if axes.get_legend() and not axes.axison)]
    return [text.get_text() for legend in found for text in legend.get_texts()]


def test_a_panel_has_its_lines_and_the_line_where_privacy_is_free():
    axes = drawn(over_t(line("One", (3, 2, 1)), line("KL-UCB", (5, 5, 5)))).axes[0]
    free, one, other = axes.lines
    assert set(free.get_ydata()) == {1} and free.get_color() == BLACK
    assert points(one) == (list(HORIZONS), [3, 2, 1]) and points(other)[1] == [5, 5, 5]
    look = styles_for(["One", "KL-UCB"])["One"]
    assert (one.get_color(), one.get_linestyle(), one.get_marker()) == look
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    assert (axes.get_xlabel(), axes.get_ylabel(), axes.get_title(loc="left")) == ("horizon $T$", "ratio", "Ball")


def test_horizons_are_marked_as_powers_of_two():
    figure = drawn()
    figure.canvas.draw()
    assert [tick.get_text() for tick in figure.axes[0].get_xticklabels()] == ["$2^{10}$", "$2^{12}$", "$2^{14}$"]


def test_ratios_are_marked_as_plain_numbers():
    figure = drawn(over_t(line("One", (9, 3, 0.8))))
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
    lost = Reference("lost", np.array(HORIZONS), np.array([9.0, 9.0, 9.0]), colour=GREY)
    figure = drawn(over_t(line("One", (3, 2, 1)), references=[lost]), over_epsilon(), labels={"One": "One (eps 1)"})
    assert legend_texts(figure) == [r"One ($\varepsilon=1$)", "lost"]
    assert figure.get_supxlabel() == "the note"


def test_colours_of_one_panel_differ_though_there_are_more_lines_than_colours():
    panels = [over_t(*(line(f"{panel}{number}", (3, 2, 1)) for number in range(7))) for panel in "abc"]
    figure = drawn(*panels)
    for axes in figure.axes[:3]:
        assert len({one.get_color() for one in axes.lines[1:]}) == 7
    looks = {(one.get_color(), one.get_linestyle()) for axes in figure.axes[:3] for one in axes.lines[1:]}
    assert len(looks) == 21


def test_a_long_legend_stands_below_the_panels():
    panel = over_t(*(line(f"A learner with a long name, number {number}" * 2, (3, 2, 1)) for number in range(25)))
    figure = drawn(*[panel] * 5)
    assert len(figure.legends) == 1 and figure.axes[5].get_legend() is None


@pytest.mark.parametrize("value", [math.nan, 0.0, -1.0, 1e-9])
@pytest.mark.parametrize("error", [math.nan, 5.0])
def test_unknown_ratios_can_be_drawn(value, error):
    panel = over_t(line("One", (value,), (4,), error=error))
    assert as_bytes(drawn(panel), "png")


@pytest.mark.parametrize("kind", ["png", "svg"])
def test_the_same_figure_is_the_same_bytes(kind):
    assert as_bytes(drawn(over_epsilon()), kind) == as_bytes(drawn(over_epsilon()), kind)


def test_bands_of_ratios_are_95_per_cent_intervals_of_the_logarithm():
    """3 with error 0.3 is known up to a factor e^(1.96 * 0.1) = 1.2165; 1 with error 2 still ends above 0."""
    line, low, high = ratio_band([Estimate(3, 0.3), Estimate(1, 2), Estimate(2, math.nan)])
    assert line.tolist() == [3, 1, 2]
    assert low == pytest.approx([3 / 1.216526, math.exp(-3.92), 2])
    assert high == pytest.approx([3 * 1.216526, math.exp(3.92), 2], rel=1e-6)
