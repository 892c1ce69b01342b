"""Figures: what is in which panel, with which guarantee; and a reader's own size, axes, colours, labels and caption."""

import itertools
import warnings

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.text import Text

from dp_bandit_envs import compare
from dp_bandit_envs.experiments.drawing import PANELS
from tests.tools.refusals import refused

SIX = ["UCB", "DP-UCB", "DP-KLUCB", "DP-IMED", "AdaP-KLUCB", "DP-SE"]
COLUMN = (3.4, 2.2)
"""Inches of a panel as wide as a column of a paper."""


@pytest.fixture(scope="module")
def six():
    return compare("Stochastic:means=[.9,.5]", SIX, epsilon=1, horizon=60, trials=4)


@pytest.fixture(scope="module")
def panels():
    """Two games at two epsilons, one with a delta of its own."""
    return compare(
        ["Stochastic", "Switching"], ["UCB", "DP-KLUCB", "DP-UCB-INT"], epsilon=[0.5, 1], horizon=60, trials=4
    )


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def line_of(axes, label):
    (line,) = (line for line in axes.lines if line.get_label().startswith(label))
    return line


def legend_texts(figure):
    inside = [axes.get_legend() for axes in figure.axes if axes.get_legend() is not None]
    return [text.get_text() for legend in (*figure.legends, *inside) for text in legend.get_texts()]


def letters(figure):
    return [text.get_fontsize() for text in figure.findobj(Text) if text.get_visible() and text.get_text()]


# ---- one panel of a column's width


@pytest.mark.thorough_cases("7-below")
@pytest.mark.parametrize("legend", ["below", "inside"])
@pytest.mark.parametrize("size", [7, 8])
def test_six_lines_in_a_column_are_readable(six, size, legend):
    """Letters have 7 points at least; nothing covers anything or leaves the figure; the panel has most of it."""
    with mpl.rc_context({"font.size": size} if size != 8 else {}):
        figure = six.plot(size=COLUMN, legend=legend)
    assert tuple(figure.get_size_inches()) == COLUMN
    figure.draw_without_rendering()
    assert min(letters(figure)) >= 7 and len(figure.axes[0].lines) == len(legend_texts(figure)) == 6
    boxes = [figure.axes[0].get_tightbbox(), *(one.get_window_extent() for one in figure.legends)]
    for box in boxes:
        assert box.x0 >= 0 and box.y0 >= 0 and box.x1 <= figure.bbox.x1 and box.y1 <= figure.bbox.y1
    assert not any(one.overlaps(other) for one, other in itertools.combinations(boxes, 2))
    panel = figure.axes[0].get_window_extent()
    assert panel.width > 2.5 * figure.dpi and panel.height > (0.9 if legend == "below" else 1.4) * figure.dpi


@pytest.mark.thorough
def test_a_size_is_kept_with_several_panels_and_a_note(panels):
    figure = panels.plot(size=(7, 4.5), note=True)
    figure.draw_without_rendering()
    assert tuple(figure.get_size_inches()) == (7, 4.5) and "mean of 4 trials" in figure.get_supxlabel()
    assert panels.plot(size=(7, 4)).get_supxlabel() == "" and panels.plot(note=False).get_supxlabel() == ""


@pytest.mark.thorough
def test_too_small_a_size_says_what_is_left(six):
    for size in ((3.4, 1.0), (1.0, 2.2)):
        with refused(ValueError, "size", "inches", "legend=False", "labels="):
            six.plot(size=size)


@pytest.mark.filterwarnings("ignore:this will be removed")
def test_a_warning_of_a_library_is_no_lack_of_room(six, monkeypatch):
    draw = Figure.draw_without_rendering

    def draw_with_a_warning(figure):
        warnings.warn("this will be removed", PendingDeprecationWarning, stacklevel=1)
        draw(figure)

    monkeypatch.setattr(Figure, "draw_without_rendering", draw_with_a_warning)
    assert six.plot(size=COLUMN).get_size_inches() == pytest.approx(COLUMN)


def test_a_legend_can_be_left_out(six):
    figure = six.plot(size=COLUMN, legend=False)
    assert legend_texts(figure) == []
    figure.draw_without_rendering()
    assert figure.axes[0].get_window_extent().height > 1.3 * figure.dpi


# ---- settings of matplotlib


def test_settings_that_a_reader_changed_are_obeyed(six):
    mine = {"font.size": 12, "lines.linewidth": 3.0, "axes.grid": True, "axes.spines.top": True, "lines.markersize": 9}
    with mpl.rc_context({**mine, "legend.fontsize": 6, "axes.facecolor": "yellow"}):
        figure = six.plot()
    axes = figure.axes[0]
    assert axes.xaxis.label.get_fontsize() == 12 and axes.get_title(loc="left")
    assert axes._left_title.get_fontsize() == pytest.approx(12 * 8.5 / 8)
    assert {text.get_fontsize() for text in figure.legends[0].get_texts()} == {6}
    assert {(line.get_linewidth(), line.get_markersize()) for line in axes.lines} == {(3.0, 9.0)}
    assert mpl.colors.to_hex(axes.get_facecolor()) == "#ffff00"
    usual = six.plot().axes[0]
    assert usual.xaxis.label.get_fontsize() == 8 and usual.lines[0].get_linewidth() == 1.4


@pytest.mark.thorough
def test_a_size_that_is_set_for_all_figures_is_that_of_one_panel(six, panels):
    with mpl.rc_context({"figure.figsize": (5.0, 3.0)}):
        assert tuple(six.plot().get_size_inches()) == (5, 3)
        assert tuple(six.plot(size=COLUMN).get_size_inches()) == COLUMN
        assert tuple(panels.plot().get_size_inches()) != (5, 3)


# ---- axes of one's own


@pytest.mark.thorough
def test_panels_of_several_comparisons_stand_in_one_figure(six, panels):
    """UCB and DP-KLUCB look the same in both, and what is new gets a look that is not there."""
    figure, (left, middle, right) = plt.subplots(1, 3, figsize=(9, 3), layout="constrained")
    middle.set_title("mine")
    some = panels.select(environment="Switching", epsilon=1)
    assert some.plot(ax=left, legend=False) is figure
    six.plot(ax=middle, legend="below")
    panels.select(environment="Stochastic", epsilon=0.5).plot(ax=right)
    figure.draw_without_rendering()
    assert (left.get_title(), middle.get_title(), right.get_title()) == ("Switching", "mine", "Stochastic")
    assert left.get_legend() is None and len(middle.get_legend().get_texts()) == 6
    looks = {}
    for axes in (left, middle, right):
        for line in axes.lines:
            name = line.get_label().partition(" (")[0]
            looks.setdefault(name, set()).add((line.get_color(), line.get_linestyle(), line.get_marker()))
    assert set(looks) == {*SIX, "DP-UCB-INT"} and all(len(of_name) == 1 for of_name in looks.values())
    assert len({next(iter(of_name))[0] for of_name in looks.values()}) == 7
    below = middle.get_legend().get_window_extent()
    assert below.y1 <= middle.xaxis.label.get_window_extent().y0 + 1
    within = right.get_legend().get_window_extent()
    assert right.get_window_extent().contains(within.x0, within.y0)


def test_all_panels_of_a_comparison_go_to_a_grid_and_letters_are_those_of_the_axes(panels):
    with mpl.rc_context({"font.size": 10}):
        figure, grid = plt.subplots(2, 2)
        panels.plot(ax=grid, y_scale="log")
        assert [axes.get_title() for axes in grid.flat][3].startswith("Switching")
        assert {axes.xaxis.label.get_fontsize() for axes in grid.flat} == {10}
        assert {text.get_fontsize() for axes in grid.flat for text in axes.get_legend().get_texts()} == {10}
    assert r"DP-UCB-INT ($\varepsilon=" in legend_texts(figure)[-1]


# ---- colours, labels, bands


def test_colours_and_labels_are_the_readers(six):
    labels, colors = {"DP-KLUCB": "ours", "UCB": r"UCB, $\varepsilon = \infty$"}, {"DP-KLUCB": "red", "UCB": "C1"}
    axes = six.plot(labels=labels, colors=colors).axes[0]
    texts = legend_texts(axes.figure)
    assert "ours" in texts and labels["UCB"] in texts and r"DP-SE ($\varepsilon=1$)" in texts
    assert mpl.colors.to_hex(line_of(axes, "ours").get_color()) == "#ff0000"
    assert mpl.colors.same_color(line_of(axes, "UCB").get_color(), "C1")
    others = [line.get_color() for line in axes.lines if line.get_label() not in labels.values()]
    assert len({*others, "#FF0000", mpl.colors.to_hex("C1").upper()}) == 6


def test_without_a_band_there_are_lines_alone(six):
    some = six.select(algorithm=["UCB", "DP-SE"])
    axes = some.plot(band=None).axes[0]
    assert not axes.collections and some.plot().axes[0].collections
    mean = some[0].values("external_regret").mean(axis=0)
    assert np.allclose(line_of(axes, "UCB").get_ydata(), mean)
    assert axes.figure.get_supxlabel() == "line: mean of 4 trials"
    assert not six.plot(band=None).axes[0].collections and not six.plot(band=None, y_scale="log").axes[0].collections


def test_equal_lines_are_said_to_be_equal_under_the_readers_names():
    same = compare("Stochastic", {"one": "UCB", "other": "UCB"}, horizon=20, trials=2)
    assert legend_texts(same.plot(labels={"one": "mine"})) == ["mine", "other (no privacy), the same as mine"]


# ---- the text of a caption


def test_a_note_says_line_band_and_every_guarantee(six, panels):
    assert six.plot_note() == (
        "Line: mean of 4 trials; bar: its 95 % confidence interval (bootstrap). UCB: no privacy; DP-UCB, DP-KLUCB,"
        " DP-IMED, AdaP-KLUCB, DP-SE: epsilon = 1; epsilon is pure up to 30, or else the least at delta = 1e-6."
    )
    text = panels.plot_note(band=None, labels={"DP-KLUCB": "ours"}, format="latex")
    assert text.startswith("Line: mean of 4 trials. UCB: no privacy; ours: $\\varepsilon=0.5$ or 1; DP-UCB-INT: ")
    assert text.endswith(r"the least at $\delta=10^{-6}$.") and "%" not in text
    assert r"95 \%" in six.plot_note(format="latex")
    assert six.plot_note(band="quantiles", measure="switches").startswith("Line: median of 4 trials")
    with refused(ValueError, "format", "latex"):
        six.plot_note(format="html")


def test_a_note_says_what_a_person_has_where_the_data_have_persons(tmp_path):
    rows = "".join(f"p{row % 8},{row % 2},{row % 3 % 2}\n" for row in range(40))
    (tmp_path / "calls.csv").write_text(f"caller,a,b\n{rows}", encoding="utf-8")
    game = f"Replay:gains={tmp_path / 'calls.csv'},persons=caller"
    calls = compare(game, ["DP-KLUCB", "UCB"], epsilon=1, at_guarantee="person", trials=2, progress=False)
    assert "DP-KLUCB: epsilon = 0.2, for a person epsilon = 1; UCB: no privacy;" in calls.plot_note()
    labels = [curve.label for panel in PANELS["round"](calls, "external_regret") for curve in panel.curves]
    assert labels == ["DP-KLUCB (eps 0.2, for a person eps 1)", "UCB (no privacy)"]
    at_parameter = compare(game, ["DP-KLUCB"], epsilon=1, trials=2, progress=False)
    assert PANELS["round"](at_parameter, "external_regret")[0].curves[0].label == "DP-KLUCB (eps 1)"


def test_one_trial_has_no_band_in_picture_or_note():
    one = compare("Deterministic", ["UCB"], horizon=50, trials=1)
    assert one.plot_note().startswith("Line: one trial. UCB: no privacy;")
    figure = one.plot()
    assert (
        not any("band" in text.get_text() for text in figure.texts) and "line: one trial" in figure.texts[0].get_text()
    )


def test_wrong_wishes_are_refused_with_a_way_out(six, panels):
    polar = plt.subplots(subplot_kw={"projection": "polar"})[1]
    one, two = plt.subplots()[1], plt.subplots(1, 2)[1]
    gone = plt.subplots()[1]
    gone.remove()
    for wishes, words in (
        ({"size": 3}, ("size", "(3.4, 2.2)", 3)),
        ({"size": "3x2"}, ("size", "inches", "'3x2'")),
        ({"size": (340, 220)}, ("size", "inches", "340 x 220", "1/72")),
        ({"size": (0, 2)}, ("size", "greater than 0")),
        ({"size": ("a", 2)}, ("size", "'a'")),
        ({"legend": True}, ("legend", "'inside'", True)),
        ({"legend": "left"}, ("legend", "'below'", "'left'")),
        ({"colors": {"EXP3": "red"}}, ("colors", "DP-KLUCB", "'EXP3'")),
        ({"colors": {"UCB": "redd"}}, ("colors", "#0072B2", "'redd'", "UCB")),
        ({"colors": ["red"]}, ("colors", "mapping", "{'UCB': 'black'}", "list")),
        ({"labels": {"ucb": "x"}}, ("labels", "UCB", "'ucb'")),
        ({"labels": {"UCB": "DP-SE"}}, ("labels", "differ", "'DP-SE'")),
        ({"labels": {"UCB": " "}}, ("labels", "text", "UCB")),
        ({"band": False}, ("band", "None", False)),
        ({"note": "yes"}, ("note", "'yes'")),
        ({"ax": 3}, ("ax", "plt.subplots", "int")),
        ({"ax": []}, ("ax", "plt.subplots", "list")),
        ({"ax": plt.figure()}, ("ax", "plt.subplots", "Figure")),
        ({"ax": two}, ("ax", 1, "Stochastic", 2)),
        ({"ax": polar}, ("ax", "polar")),
        ({"ax": gone}, ("ax", "removed")),
        ({"ax": one, "size": COLUMN}, ("size", "ax", "plt.subplots")),
        ({"ax": one, "columns": 1}, ("columns", "ax")),
        ({"ax": one, "note": True}, ("note", "plot_note()")),
    ):
        with refused((ValueError, TypeError), *words):
            six.plot(**wishes)
    with refused(ValueError, "ax", 4, "Switching, epsilon = 1", "select()"):
        panels.plot(ax=two)


# ---- what is in which panel
@pytest.fixture(scope="module")
def compared():
    sizes = {"horizon": [40, 80], "n_arms": [2, 3], "trials": 3}
    return compare(["Stochastic", "Switching"], ["UCB", "DP-SE"], epsilon=[1, 2], **sizes)


def drawn(compared, against, measure="external_regret"):
    return {panel.title: {curve.name: curve for curve in panel.curves} for panel in PANELS[against](compared, measure)}


def last(compared, **which):
    (entry,) = compared.select(**which)
    return entry.values("external_regret")[:, -1]


@pytest.mark.thorough
def test_there_is_a_panel_for_each_game_and_epsilon(compared):
    panels = drawn(compared, "round")
    assert len(panels) == 2 * 2 * 2 * 2
    curves = panels["Switching, K = 3, T = 80, epsilon = 2"]
    assert [curve.label for curve in curves.values()] == ["UCB (no privacy)", "DP-SE (eps 2)"]
    which = {"environment": "Switching", "n_arms": 3, "horizon": 80, "algorithm": "DP-SE", "epsilon": 2}
    assert np.array_equal(curves["DP-SE"].samples[:, -1], last(compared, **which))
    assert curves["DP-SE"].at[-1] == 80


def test_against_epsilon_one_that_takes_none_is_flat(compared):
    curves = drawn(compared, "epsilon")["Stochastic, K = 2, T = 40"]
    which = {"environment": "Stochastic, K = 2, T = 40"}
    assert list(curves["DP-SE"].at) == list(curves["UCB"].at) == [1.0, 2.0]
    assert np.array_equal(curves["DP-SE"].samples[1], last(compared, **which, algorithm="DP-SE", epsilon=2))
    for samples in curves["UCB"].samples:
        assert np.array_equal(samples, last(compared, **which, algorithm="UCB"))


@pytest.mark.parametrize(("against", "places", "title"), [("arms", [2, 3], "T = 80"), ("horizon", [40, 80], "K = 3")])
def test_against_a_size_the_other_one_divides_panels(compared, against, places, title):
    panels = drawn(compared, against)
    assert len(panels) == 2 * 2 * 2
    curves = panels[f"Stochastic, {title}, epsilon = 1"]
    assert list(curves["DP-SE"].at) == places
    which = {"environment": "Stochastic", "n_arms": 3, "horizon": 80, "algorithm": "DP-SE", "epsilon": 1}
    assert np.array_equal(curves["DP-SE"].samples[-1], last(compared, **which))


@pytest.mark.thorough
def test_figures_are_drawn(compared):
    for against in PANELS:
        figure = compared.select(environment="Switching").plot(against, band="quantiles", y_scale="log")
        labels = [text.get_text() for legend in figure.legends for text in legend.get_texts()]
        assert any("DP-SE" in label for label in labels), against


def test_one_value_is_no_axis(compared):
    one = compared.select(epsilon=1, horizon=40)
    for against, word in (("epsilon", "epsilon=[0.1, 1]"), ("horizon", "horizon=[1_000, 10_000]")):
        with refused(ValueError, against, word):
            one.select(algorithm="DP-SE").plot(against)
    with refused(ValueError, "against"):
        one.plot("time")
    with refused(ValueError, "band"):
        one.plot(band="sd")


def test_a_guarantee_other_than_that_of_the_axis_is_written_with_its_name():
    """Private-UCB has epsilon / K, which differs between panels; DP-KLUCB has the axis's, and nothing is written."""
    figure = compare("Stochastic", ["DP-KLUCB", "Private-UCB"], epsilon=[0.1, 1], n_arms=[2, 5], horizon=20, trials=2)
    figure = figure.plot(against="epsilon")
    notes = [text.get_text() for axes in figure.axes for text in axes.texts]
    assert notes == [rf"Private-UCB: $\varepsilon={low}$ or {high}" for low, high in ((0.05, 0.5), (0.02, 0.2))]
