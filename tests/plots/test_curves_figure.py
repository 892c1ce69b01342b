"""Figures of curves: what they say, what they draw on either axis, in which style, and that they stay the same."""

import itertools

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.collections import FillBetweenPolyCollection, LineCollection, PolyCollection

from dp_bandit_envs.algorithms import algorithm_names
from dp_bandit_envs.metrics import BANDS, band_of
from dp_bandit_envs.plots.curves_figure import ROUND, Curve, Panel, Reference, curves_figure
from dp_bandit_envs.plots.plot_style import COLOURS, DASHES, MARKERS, STYLES, Style, again, as_bytes, styles_for
from tests.tools.refusals import refused

ROUNDS = np.arange(10, 1001, 10)
LOG = {"x_scale": "log", "y_scale": "log"}
LEVELS = np.array([0.1, 0.5, 1.0, 2.0])


def regret(slope, seed, trials=30):
    noise = np.random.default_rng(seed).normal(0, 1, (trials, len(ROUNDS)))
    return slope * np.sqrt(ROUNDS) + noise.cumsum(axis=1)


def panels_of(number=1, names=("EXP3", "EXP3-tau"), guarantees=("eps 1",)):
    return [
        Panel(
            f"Game {panel}",
            [
                Curve(name, f"{name} ({guarantees[panel % len(guarantees)]})", ROUNDS, regret(place + 1, place))
                for place, name in enumerate(names)
            ],
        )
        for panel in range(number)
    ]


def drawn(panels, **given):
    return curves_figure(panels, **({"across": ROUND, "measure": "external_regret", "band": "ci"} | given))


def alone(samples, at=ROUNDS, name="EXP3", **given):
    return drawn([Panel("Game", [Curve(name, name, at, np.asarray(samples, dtype=float))])], **given)


def texts(figure):
    return [text.get_text() for legend in legends(figure) for text in legend.get_texts()]


def legends(figure):
    return [*figure.legends, *(axes.get_legend() for axes in figure.axes if axes.get_legend() is not None)]


def notes(axes):
    return [text.get_text() for text in axes.texts if text.get_text()]


def outline(axes, place=0):
    return [one for one in axes.collections if isinstance(one, PolyCollection)][place].get_paths()[0].vertices


@pytest.mark.parametrize("number", [1, 5])
def test_axes_say_what_they_show_and_in_which_unit(number):
    figure = drawn(panels_of(number), note="the rest")
    used = figure.axes[:number]
    assert {axes.get_xlabel() for axes in used} == {"round $t$"}
    assert {axes.get_ylabel() for axes in used} == {"external regret (gain)"}
    titles = [axes.get_title(loc="left") for axes in used]
    assert titles == (["Game 0"] if number == 1 else [f"({'abcde'[i]}) Game {i}" for i in range(number)])
    note = " ".join(figure.get_supxlabel().split())
    assert note.startswith("line: mean of 30 trials; band: its 95 % confidence") and note.endswith(". the rest")


@pytest.mark.parametrize("number", [1, 5])
def test_one_legend_names_every_algorithm_once_with_its_guarantee(number):
    figure = drawn(panels_of(number, ("EXP3", "DP-SE", "mine"), ("eps 1, delta 1e-06",)))
    assert len(legends(figure)) == 1
    assert texts(figure) == [rf"{name} ($\varepsilon=1$, $\delta=10^{{-6}}$)" for name in ("EXP3", "DP-SE", "mine")]
    assert not any(notes(axes) for axes in figure.axes)


def test_guarantees_that_differ_between_panels_are_said_in_each_and_those_unlike_most_by_name():
    figure = drawn(panels_of(2, guarantees=("eps 1", "eps 0.1")))
    assert texts(figure) == ["EXP3", "EXP3-tau"]
    assert [notes(axes) for axes in figure.axes] == [[r"$\varepsilon=1$"], [r"$\varepsilon=0.1$"]]
    panels = panels_of(2, ("EXP3", "DP-SE", "DP-TS"), ("eps 1", "eps 0.1"))
    odd = panels[1].curves[1]._replace(label="DP-SE (eps 0.05, delta 1e-06)")
    panels[1] = panels[1]._replace(curves=[panels[1].curves[0], odd, panels[1].curves[2]])
    (note,) = notes(drawn(panels).axes[1])
    assert note.replace("\n", " ") == r"DP-SE: $\varepsilon=0.05$, $\delta=10^{-6}$; others: $\varepsilon=0.1$"


@pytest.mark.parametrize("band", BANDS)
def test_lines_and_bands_are_those_of_the_kind(band):
    panels = panels_of()
    axes = drawn(panels, band=band).axes[0]
    for place, curve in enumerate(panels[0].curves):
        line, low, high = band_of(curve.samples, band)
        assert axes.lines[place].get_xdata().tolist() == ROUNDS.tolist()
        assert np.array_equal(axes.lines[place].get_ydata(), line)
        edges = outline(axes, place)[:, 1]
        assert edges.min() == pytest.approx(low.min()) and edges.max() == pytest.approx(high.max())


@pytest.mark.thorough
def test_more_than_five_bands_are_bars_at_the_markers():
    """They end where bands would; a figure with both kinds of panels says both."""
    (panel,) = panels_of(1, "ABCDEF")
    figure = drawn([panel, panel._replace(curves=panel.curves[:5])])
    thin, filled = figure.axes
    assert {type(one) for one in thin.collections} == {LineCollection}
    assert {type(one) for one in filled.collections} == {FillBetweenPolyCollection}
    for place, curve in enumerate(panel.curves):
        _, low, high = band_of(curve.samples, "ci")
        first, every = thin.lines[place].get_markevery()
        ends = np.array([[ROUNDS, low], [ROUNDS, high]])[:, :, first::every]
        assert np.array_equal(np.array(thin.collections[place].get_segments()), ends.transpose(2, 0, 1))
        assert mpl.colors.to_hex(thin.collections[place].get_color()[0]) == thin.lines[place].get_color().lower()
    assert "; band or bar: its 95 %" in " ".join(figure.get_supxlabel().split())
    assert "; bar: its 95 %" in " ".join(drawn([panel]).get_supxlabel().split())


def test_panels_beside_each_other_share_a_linear_scale_and_others_do_not():
    heights = {"one": (9, "game"), "two": (90, "game"), "three": (900, ""), "four": (3, "")}
    panels = [
        Panel(title, [Curve("A", "A", ROUNDS, np.full((3, 100), float(height)))], beside=game)
        for title, (height, game) in heights.items()
    ]
    one, two, three, four = (axes.get_ylim() for axes in drawn(panels).axes)
    assert one == two and 90 < two[1] < 100 and 900 < three[1] < 1000 and four[1] < 4


def test_an_algorithm_looks_the_same_in_all_panels_and_as_styles_for_says():
    panels = [panels_of(1, names)[0] for names in (("DP-KLUCB", "mine"), ("mine", "AS-SCRiBLe"), ("AS-SCRiBLe",))]
    looks = styles_for(["DP-KLUCB", "mine", "AS-SCRiBLe"])
    assert looks["DP-KLUCB"] == STYLES["DP-KLUCB"]
    for axes, panel in zip(drawn(panels).axes, panels, strict=False):
        for line, band, curve in zip(axes.lines, axes.collections, panel.curves, strict=True):
            assert (line.get_color(), line.get_marker()) == (looks[curve.name].colour, looks[curve.name].marker)
            assert mpl.colors.to_hex(band.get_facecolor()[0]) == mpl.colors.to_hex(line.get_color())


@pytest.mark.parametrize("number", [1, 5])
def test_each_entry_of_the_legend_shows_its_own_line(number):
    names = ("EXP3", "DP-SE", "mine")
    (legend,) = legends(drawn(panels_of(number, names)))
    looks = styles_for(names)
    for text, line in zip(legend.get_texts(), legend.get_lines(), strict=True):
        assert line.get_color() == looks[text.get_text().partition(" ")[0]].colour


def test_an_algorithm_at_several_epsilons_has_one_colour_and_several_dashes():
    """A dash is a guarantee, the same for all algorithms."""
    names = ("DP-SE", "DP-KLUCB", "mine")
    curves = [
        Curve(name, f"{name} (eps {level})", ROUNDS, regret(level + 3 * place, 0))
        for place, name in enumerate(names)
        for level in (1, 2, 3)
    ]
    figure = drawn([Panel("one", curves)])
    lines = figure.axes[0].lines
    assert texts(figure) == [rf"{name} ($\varepsilon={level}$)" for name in names for level in (1, 2, 3)]
    for place, name in enumerate(names):
        assert {line.get_color() for line in lines[3 * place : 3 * place + 3]} == {styles_for(names)[name].colour}
    dashes = [[line.get_linestyle() for line in lines[level::3]] for level in range(3)]
    assert all(len(set(each)) == 1 for each in dashes) and len({each[0] for each in dashes}) == 3
    assert len({line.get_marker() for line in lines}) == len({line.get_color() for line in lines}) * 3 == 9


def test_equal_curves_are_said_to_be_equal():
    def panel(title, other):
        curves = [Curve(name, name, ROUNDS, regret(1, seed)) for name, seed in (("A", 0), ("B", 0), ("C", other))]
        return Panel(title, curves)

    everywhere = drawn([panel("one", 1), panel("two", 2)])
    assert texts(everywhere) == ["A", "B, the same as A", "C"]
    in_one = drawn([panel("one", 1), panel("two", 0)])
    assert texts(in_one) == ["A", "B, the same as A", "C"]
    assert [notes(axes) for axes in in_one.axes] == [[], ["C is the same as A"]]
    # Not as "DP-GOPE, the same as GOPE (no privacy)", which reads as if DP-GOPE had none.
    curves = [Curve(name, label, ROUNDS, regret(1, 0)) for name, label in (("A", "A (no privacy)"), ("B", "B"))]
    assert texts(drawn([Panel("one", curves)])) == ["A (no privacy)", "B, the same as A"]


def test_nothing_is_drawn_at_or_below_0_on_a_log_axis():
    """A line begins where it becomes positive; a band that falls to 0 ends at the axis."""
    samples = np.array([[0, 0, 0, 1, 4], [0, 0, 2, 3, 5], [0, 0, -1, 5, 6.0]])
    figure = alone(samples, np.array([1, 2, 4, 8, 16]), band="quantiles", **LOG)
    (axes,) = figure.axes
    height = axes.lines[0].get_ydata()
    assert np.isnan(height[:3]).all() and height[3:].tolist() == [3, 5]
    bottom = axes.get_ylim()[0]
    assert bottom > 0 and outline(axes)[:, 1].min() >= bottom * (1 - 1e-12)
    assert "a line begins where it is above 0" in " ".join(figure.get_supxlabel().split())
    assert "above 0" not in alone(samples + 2, np.array([1, 2, 4, 8, 16]), band="quantiles", **LOG).get_supxlabel()
    assert as_bytes(figure, "svg")


def test_panels_with_a_log_axis_of_regret_share_it():
    """Panels can then be compared by eye."""
    panels = [
        Panel(name, [Curve(one, one, ROUNDS, np.linspace(*ends, 100)[None, :].repeat(4, axis=0)) for one in names])
        for name, ends, names in (("small", (0.5, 0.5), ["UCB"]), ("large", (0, 900), ["UCB", "DP-SE"]))
    ]
    figure = drawn(panels, **LOG)
    limits = {axes.get_ylim() for axes in figure.axes}
    assert len(limits) == 1 and limits.pop() == pytest.approx((0.5 / 1.3, 900 * 1.3))
    assert {(axes.get_xscale(), axes.get_yscale()) for axes in figure.axes} == {("log", "log")}
    # An algorithm that is in one panel only is in the legend all the same.
    assert texts(figure) == ["UCB", "DP-SE, the same as UCB"]


def test_a_reference_is_no_algorithm():
    at = np.array([1.0, 10.0, 100.0])
    bound = Reference("bound", at, np.array([0.0, 3.0, 9.0]), colour="#7F7F7F")
    panel = panels_of()[0]._replace(references=[bound], title="one")
    figure = drawn([panel, panel], **LOG)
    line = figure.axes[1].lines[-1]
    assert np.isnan(line.get_ydata()[0]) and line.get_ydata()[1:].tolist() == [3, 9]
    assert (line.get_color(), line.get_marker()) == ("#7F7F7F", "None")
    assert texts(figure)[-1] == "bound" and len(texts(figure)) == 3


def test_few_places_are_marked_one_by_one():
    figure = alone(np.ones((3, 4)), LEVELS, across="privacy parameter epsilon", x_scale="log")
    (axes,) = figure.axes
    assert axes.get_xticks().tolist() == LEVELS.tolist()
    assert axes.lines[0].get_markevery() == (0, 1)
    assert axes.get_xlabel() == r"privacy parameter $\varepsilon$"
    figure.draw_without_rendering()
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["0.1", "0.5", "1", "2"]


def test_places_may_have_other_numbers_of_trials_and_the_note_says_the_fewest():
    curves = [
        Curve("UCB", "UCB", LEVELS, [np.arange(float(trials)) for trials in (3, 9, 9, 9)]),
        *(Curve(name, name, LEVELS, np.ones((20, 4))) for name in ("DP-SE", "DP-TS")),
    ]
    figure = drawn([Panel("one", curves)], across="epsilon")
    assert figure.axes[0].lines[0].get_ydata().tolist() == [1, 4, 4, 4]
    assert "mean of 20 (3 of UCB) trials" in " ".join(figure.get_supxlabel().split())


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("value", "trials", "rounds", "scale"), [(0.0, 1, 1, "linear"), (0.0, 1, 1, "log"), (-1.0, 2, 3, "log")]
)
def test_the_smallest_results_can_be_drawn(value, trials, rounds, scale):
    figure = alone(np.full((trials, rounds), value), np.arange(1, rounds + 1), x_scale=scale, y_scale=scale)
    assert as_bytes(figure, "png")


@pytest.mark.thorough
@pytest.mark.parametrize("kind", ["png", "svg"])
def test_the_same_figure_is_the_same_bytes(kind):
    one, *others = (as_bytes(drawn(panels_of(2)), kind) for _ in range(2))
    assert {one} == {*others} and one.startswith(b"\x89PNG" if kind == "png" else b"<?xml")
    assert as_bytes(drawn(panels_of(2, ("EXP3", "Uniform"))), kind) != one


@pytest.mark.thorough
def test_edges_of_panels_are_rounded():
    """The solver's last bits differ from run to run."""
    figure = drawn(panels_of(3))
    figure.draw_without_rendering()
    for axes in figure.axes[:3]:
        bounds = axes.get_position(original=True).bounds
        assert bounds == pytest.approx([round(edge, 7) for edge in bounds], rel=0, abs=1e-14) and axes.get_in_layout()
    before = figure.axes[0].get_position(original=True).bounds
    figure.set_figheight(2 * figure.get_figheight())
    figure.draw_without_rendering()
    assert figure.axes[0].get_position(original=True).bounds != before


def test_drawing_leaves_the_readers_settings_alone():
    before = dict(mpl.rcParams)
    as_bytes(drawn(panels_of()), "png")
    assert dict(mpl.rcParams) == before


def test_what_cannot_be_drawn_is_refused():
    with refused(ValueError, "panels"):
        drawn([])
    with refused(ValueError, "band", "'sd'"):
        drawn(panels_of(), band="sd")
    with refused(ValueError, "columns", "0"):
        drawn(panels_of(), columns=0)
    with refused(ValueError, "scale", "'logarithm'"):
        drawn(panels_of(), y_scale="logarithm")
    assert drawn(panels_of(), band="CI", y_scale="LOG").axes[0].get_yscale() == "log"


@pytest.mark.parametrize(
    ("number", "columns", "shape"),
    [(4, None, (2, 2)), (5, None, (2, 3)), (3, 2, (2, 2)), (3, 1, (3, 1))],
)
def test_panels_stand_in_rows(number, columns, shape):
    figure = drawn(panels_of(number), columns=columns)
    assert figure.axes[0].get_gridspec().get_geometry() == shape
    # An empty cell has the legend.
    assert len(legends(figure)) == 1 and (not figure.legends or len(figure.axes) in (number, 6))


# ---- looks of algorithms: their own where it is free, never two alike, and apart for colour-blind readers

# Models of missing green and missing red cones (Vienot, Brettel and Mollon 1999), on linear RGB.
BLINDNESS = {
    "green": [[0.29275, 0.70725, 0.0], [0.29275, 0.70725, 0.0], [-0.02234, 0.02234, 1.0]],
    "red": [[0.11238, 0.88762, 0.0], [0.11238, 0.88762, 0.0], [0.00401, -0.00401, 1.0]],
}


def simulated(colour, kind):
    linear = np.array(mpl.colors.to_rgb(colour)) ** 2.2
    return np.clip(np.array(BLINDNESS[kind]) @ linear, 0, 1) ** (1 / 2.2)


def subsets():
    """Yield figures: all pairs of algorithms, all of them, and random ones of any size with unknown names."""
    names = algorithm_names()
    yield from itertools.permutations(names, 2)
    yield names
    rng = np.random.default_rng(0)
    unknown = [f"mine {place}" for place in range(30)]
    for _ in range(300):
        everyone = [*names, *unknown]
        rng.shuffle(everyone)
        yield everyone[: int(rng.integers(1, len(everyone) + 1))]


@pytest.mark.thorough
def test_no_two_lines_of_any_figure_are_alike():
    for names in subsets():
        looks = styles_for(names)
        assert list(looks) == list(names) and looks == styles_for([*names, *names])
        claimed = set()
        for name in names:  # the first of a colour keeps it whatever else is drawn
            own = STYLES.get(name)
            if own is not None and own.colour not in claimed:
                claimed.add(own.colour)
                assert looks[name][:2] == own[:2]
        # More than that all three are not equal: nobody needs the marker, which a line of few places may lack.
        pairs = {(each.colour, each.line) for each in looks.values()}
        assert len(pairs) == min(len(names), len(COLOURS) * len(DASHES))
        assert len(set(looks.values())) == len(names)
        if len(names) <= len(COLOURS):
            assert len({each.colour for each in looks.values()}) == len(names)
        if len(names) <= len(MARKERS):
            assert len({each.marker for each in looks.values()}) == len(names)


def test_every_algorithm_has_a_look_and_its_further_lines_share_the_colour_alone():
    looks = [Style(COLOURS[0], "--", "s")]
    for _ in range(5):
        looks.append(again(looks[0], looks))
    assert {each.colour for each in looks} == {COLOURS[0]}
    assert len({each.line for each in looks}) == len({each.marker for each in looks}) == 6
    assert again(looks[0], looks).colour != COLOURS[0]
    assert set(STYLES) >= set(algorithm_names())
    for colour, line, marker in STYLES.values():
        assert colour in COLOURS and line in DASHES and marker in MARKERS


@pytest.mark.parametrize("kind", BLINDNESS)
def test_any_two_colours_differ_for_colour_blind_readers(kind):
    """The nearest, blue and purple without red cones, are a tenth of the cube's side apart."""
    for one, other in itertools.combinations(COLOURS, 2):
        assert np.abs(simulated(one, kind) - simulated(other, kind)).max() > 0.09, (one, other)


def test_a_panel_has_its_own_scale_a_dashed_line_is_above_a_solid_one_and_a_curve_says_something_at_its_end():
    first, last = panels_of(2)
    figure = drawn([first, last._replace(y_scale="log")])
    assert [axes.get_yscale() for axes in figure.axes] == ["linear", "log"]
    assert figure.axes[0].get_ylim()[0] <= 0 < figure.axes[1].get_ylim()[0]
    figure = drawn(panels_of(names=("EXP3", "DP-EXP3-Lap", "Batched-Lap-EXP3", "Batched-Lap-HTINF")))
    exp3, lap, batched, dotted = (line.get_zorder() for line in figure.axes[0].lines)
    assert exp3 < batched < lap < dotted
    curve = Curve("EXP3", "EXP3", LEVELS, np.ones((3, 1)) * LEVELS, end="eps 2")
    (text,) = drawn([Panel("Game", [curve])]).axes[0].texts
    assert (text.get_text(), text.xy) == (r"$\varepsilon=2$", (2.0, 2.0))
