"""The figure of regret against time: what it says, what it draws, and that it is always the same."""

import itertools

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.collections import PolyCollection

from dp_bandit_envs.algorithms import algorithm_names
from dp_bandit_envs.experiments.figure_2 import figure_2_setup
from dp_bandit_envs.experiments.figure_modern.modern_setup import PRIVATE, REFERENCE
from dp_bandit_envs.metrics import gini_below_and_above, mean_and_standard_error, median_of_means
from dp_bandit_envs.plots.plot_style import STYLES, UNLISTED_STYLES, style_of
from dp_bandit_envs.plots.regret_plot import as_bytes, regret_figure

ROUNDS = np.arange(10, 1001, 10)


def regret(slope, seed):
    noise = np.random.default_rng(seed).normal(0, 1, (30, len(ROUNDS)))
    return slope * np.sqrt(ROUNDS) + noise.cumsum(axis=1)


def figure(panels=1, names=("EXP3", "EXP3-tau"), **given):
    curves = {name: regret(place + 1, place) for place, name in enumerate(names)}
    drawn = regret_figure([(f"Game {panel}", ROUNDS, curves) for panel in range(panels)], note="the note", **given)
    return drawn, curves


def texts(drawn):
    return [text.get_text() for legend in legends(drawn) for text in legend.get_texts()]


def legends(drawn):
    return [*drawn.legends, *(axes.get_legend() for axes in drawn.axes if axes.get_legend() is not None)]


@pytest.mark.parametrize("panels", [1, 2, 5])
def test_axes_say_what_they_show_and_in_which_unit(panels):
    drawn, _ = figure(panels)
    used = drawn.axes[:panels]
    assert [axes.get_xlabel() for axes in used] == ["round t"] * panels
    assert [axes.get_ylabel() for axes in used] == ["external regret (gain)"] * panels
    assert drawn.get_supxlabel().replace("\n", " ") == "the note"
    titles = [axes.get_title(loc="left") for axes in used]
    assert titles == (["Game 0"] if panels == 1 else [f"({'abcde'[i]}) Game {i}" for i in range(panels)])


@pytest.mark.parametrize("panels", [1, 2, 5])
def test_one_legend_names_every_algorithm_once(panels):
    drawn, _ = figure(panels, algorithm_names())
    assert texts(drawn) == algorithm_names()
    assert len(legends(drawn)) == 1


def test_lines_are_medians_of_means_and_bands_ginis_difference():
    drawn, curves = figure()
    axes = drawn.axes[0]
    bands = [artist for artist in axes.collections if isinstance(artist, PolyCollection)]
    assert len(axes.lines) == len(bands) == 2
    for line, band, sample in zip(axes.lines, bands, curves.values(), strict=True):
        middle = median_of_means(sample).value
        below, above = gini_below_and_above(sample, middle)
        assert line.get_xdata().tolist() == ROUNDS.tolist()
        assert np.array_equal(line.get_ydata(), middle)
        outline = band.get_paths()[0].vertices
        assert outline[:, 1].min() == pytest.approx((middle - below).min())
        assert outline[:, 1].max() == pytest.approx((middle + above).max())


def test_an_algorithm_looks_the_same_in_every_figure():
    """Whatever else is drawn, in whatever order."""
    seen = {}
    for names in (
        ("EXP3", "EXP3-tau"),
        ("Uniform", "EXP3-tau", "mine", "EXP3"),
        ("EXP3-tau",),
        ("mine", "HTINF", "EXP3"),
    ):
        drawn, _ = figure(2, names)
        for axes in drawn.axes[:2]:
            for line in axes.lines:
                style = (line.get_color(), line.get_linestyle(), line.get_marker())
                assert seen.setdefault(line.get_label(), style) == style


def test_line_and_band_share_a_colour():
    drawn, _ = figure(1, algorithm_names())
    axes = drawn.axes[0]
    for line, band in zip(axes.lines, axes.collections, strict=True):
        assert mpl.colors.to_hex(band.get_facecolor()[0]) == mpl.colors.to_hex(line.get_color())


def test_every_algorithm_has_a_look_of_its_own():
    assert set(STYLES) >= set(algorithm_names())
    assert len({(each.colour, each.line) for each in STYLES.values()}) == len(STYLES)
    unlisted = {each.marker for each in UNLISTED_STYLES}
    assert len(unlisted) == len(UNLISTED_STYLES) and not unlisted & {each.marker for each in STYLES.values()}


def test_unlisted_get_looks_that_nobody_else_in_the_figure_has():
    names = ["EXP3", *(f"mine {i}" for i in range(5)), "HTINF"]
    styles = [style_of(name, names) for name in names]
    assert len(set(styles)) == len(names)


def luminance(colour):
    """Return relative luminance (WCAG 2), which people of any colour vision see."""
    parts = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in mpl.colors.to_rgb(colour)]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


def simulated(colour):
    """Return how a person without green cones sees a colour (Vienot, Brettel and Mollon 1999), as RGB in [0, 1]."""
    matrix = [[0.29275, 0.70725, 0.0], [0.29275, 0.70725, 0.0], [-0.02234, 0.02234, 1.0]]
    linear = np.array(mpl.colors.to_rgb(colour)) ** 2.2
    return np.clip(matrix @ linear, 0, 1) ** (1 / 2.2)


TOGETHER = {
    "figure-1": ("EXP3", "DP-EXP3-Lap", "EXP3-tau"),
    "figure-1 at another epsilon": ("EXP3", "DP-EXP3-Lap", "EXP3-tau", "Batched-Lap-EXP3", "Batched-Lap-HTINF"),
    "figure-2": [one.make().name for one in figure_2_setup.contestants(1.0, modern=False)],
    "figure-2 with the modern": [one.make().name for one in figure_2_setup.contestants(1.0, modern=True)],
    "figure-modern": (*PRIVATE, REFERENCE),
    "feedback graphs": ("UCB", "TS", "TS-N", "TS-MaxN", "UCB-N", "UCB-MaxN", "EXP3-SET"),
}


@pytest.mark.parametrize("figure", TOGETHER)
def test_algorithms_that_appear_together_differ_for_colour_blind_readers(figure):
    """All in marker; and in line, or in colour by a sixth of the cube's side."""
    for one, other in itertools.combinations(TOGETHER[figure], 2):
        (colour, line, marker), (its_colour, its_line, its_marker) = STYLES[one], STYLES[other]
        assert marker != its_marker, (one, other)
        apart = np.abs(simulated(colour) - simulated(its_colour)).max()
        assert apart > 1 / 6 or (line != its_line and apart > 1 / 20), (one, other, apart)
    # Against white, lines must stand out: the weakest of Okabe and Ito's has a contrast of 2.
    for each in STYLES.values():
        assert 1.05 / (luminance(each.colour) + 0.05) > 2


def test_the_papers_three_algorithms_are_far_apart():
    for one, other in itertools.combinations([STYLES[name] for name in TOGETHER["figure-1"]], 2):
        assert np.abs(simulated(one.colour) - simulated(other.colour)).max() > 0.2 and one.line != other.line


@pytest.mark.parametrize("kind", ["png", "svg"])
def test_the_same_figure_is_the_same_bytes(kind):
    one, other = (as_bytes(figure(2)[0], kind) for _ in range(2))
    assert one == other
    assert one.startswith(b"\x89PNG" if kind == "png" else b"<?xml")
    assert as_bytes(figure(2, ("EXP3", "Uniform"))[0], kind) != one


def test_drawing_leaves_the_readers_settings_alone():
    before = dict(mpl.rcParams)
    as_bytes(figure()[0], "png")
    assert dict(mpl.rcParams) == before


def test_a_log_axis_is_drawn_for_log_spacing():
    drawn, _ = figure(spacing="log")
    assert drawn.axes[0].get_xscale() == "log"
    assert drawn.axes[0].get_xlim() == (10, 1000)
    assert figure()[0].axes[0].get_xlim() == (0, 1000)


@pytest.mark.parametrize("trials", [1, 2])
def test_few_trials_and_few_rounds_can_be_drawn(trials):
    curves = {"EXP3": np.ones((trials, 1))}
    assert as_bytes(regret_figure([("tiny", np.array([1]), curves)], note=""), "png")


def test_negative_regret_stays_in_view():
    curves = {"EXP3": np.full((5, 3), -4.0)}
    drawn = regret_figure([("lucky", np.array([1, 2, 3]), curves)], note="")
    low, high = drawn.axes[0].get_ylim()
    assert low <= -4 <= high


MEANS = {"measure": "pseudo_regret", "centre": "mean", "scale": "log", "spacing": "log", "columns": 2}


def test_lines_may_be_means_with_their_confidence_interval():
    drawn, curves = figure(**MEANS)
    axes = drawn.axes[0]
    for line, band, sample in zip(axes.lines, axes.collections, curves.values(), strict=True):
        mean, error = mean_and_standard_error(sample)
        shown = line.get_ydata()
        assert np.array_equal(shown[mean > 0], mean[mean > 0]) and np.isnan(shown[mean <= 0]).all()
        outline = band.get_paths()[0].vertices
        assert outline[:, 1].max() == pytest.approx((mean + 1.96 * error).max())


def test_panels_with_a_log_axis_of_regret_share_it():
    """Panels can then be compared by eye, and lines begin where regret does."""
    small, large = np.full((4, 100), 0.5), np.linspace(0, 900, 100)[None, :].repeat(4, axis=0)
    panels = [("small", ROUNDS, {"UCB": small}), ("large", ROUNDS, {"UCB": large, "DP-SE": large})]
    drawn = regret_figure(panels, note="", **MEANS)
    limits = {axes.get_ylim() for axes in drawn.axes}
    assert len(limits) == 1 and limits.pop() == pytest.approx((0.5 / 1.6, 900 * 1.6))
    for axes in drawn.axes:
        assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
        assert axes.get_ylabel() == "pseudo-regret (gain)"
    assert np.isnan(drawn.axes[1].lines[0].get_ydata()[0])
    # An algorithm that is in one panel only is in the legend all the same.
    assert texts(drawn) == ["UCB", "DP-SE"]


@pytest.mark.parametrize(("panels", "rows"), [(4, 2), (3, 2), (2, 1)])
def test_columns_leave_the_legend_beside(panels, rows):
    drawn, _ = figure(panels, **MEANS)
    assert len({axes.get_gridspec() for axes in drawn.axes}) == 1
    assert drawn.axes[0].get_gridspec().get_geometry() == (rows, 2)
    assert len(drawn.legends) == 1 and texts(drawn) == ["EXP3", "EXP3-tau"]


@pytest.mark.parametrize("rounds", [1, 2])
def test_regret_of_nothing_can_be_drawn_on_log_axes(rounds):
    curves = {"UCB": np.zeros((2, rounds))}
    assert as_bytes(regret_figure([("tiny", np.arange(1, rounds + 1), curves)] * 4, note="", **MEANS), "png")
