"""Legend, note and panels are inside the picture and cover nothing, however many algorithms it has."""

import itertools

import numpy as np
import pytest
from matplotlib.legend import Legend

from dp_bandit_envs.algorithms import algorithm_names
from dp_bandit_envs.experiments.figure_graph.graph_panels import ByFeedback, OnGraph, graph_figure
from dp_bandit_envs.experiments.figure_modern.modern_panels import OverEpsilon, OverTime, modern_figure
from dp_bandit_envs.plots.plot_style import UNLISTED_STYLES, UNLISTED_STYLES_OF_MANY, style_of
from dp_bandit_envs.plots.regret_plot import regret_figure

ROUNDS = np.arange(10, 1001, 99)  # few, as boxes depend on the ends only
LEVELS = np.array([0.05, 0.5, 2.0])
REVEALED = (1, 2, 5)


def curves(names):
    spread = np.linspace(0.9, 1.1, 4)[:, None]
    return {name: spread * (place + 1) * np.sqrt(ROUNDS) for place, name in enumerate(names)}


def over_time(panels, names, note, **given):
    return regret_figure([(f"Game {panel}", ROUNDS, curves(names)) for panel in range(panels)], note=note, **given)


def modern(names, note):
    ends = {name: regret[:, :3] for name, regret in curves(names).items()}
    time = OverTime("Game", ROUNDS, curves(names), 2.0 * ROUNDS, 1.0 * ROUNDS)
    return modern_figure([(time, OverEpsilon("Sweep", LEVELS, ends, {}, 0.5 / LEVELS, 0.25))] * 2, note=note)


def graph(names, note):
    cost = ByFeedback("Cost", REVEALED, {f"epsilon = {level}": np.full((4, 3), 1.0 + level) for level in range(6)})
    panels = [OnGraph(f"Graph {panel}", ROUNDS, curves(names), 7.0 * np.sqrt(ROUNDS)) for panel in range(4)]
    return graph_figure(panels, cost, note=note)


FIGURES = {
    "one panel": lambda names, note: over_time(1, names, note),
    "five panels": lambda names, note: over_time(5, names, note),
    "two columns": lambda names, note: over_time(4, names, note, columns=2, centre="mean", scale="log", spacing="log"),
    "modern": modern,
    "graph": graph,
}


def legends(figure):
    own = [one for axes in figure.axes for one in (*axes.artists, axes.get_legend()) if isinstance(one, Legend)]
    return [*figure.legends, *own]


def check(figure):
    """Measure the boxes as they would be drawn: panels with all their labels, legends and the note."""
    figure.draw_without_rendering()
    boxes = {f"panel {i}": axes.get_tightbbox() for i, axes in enumerate(figure.axes) if axes.axison}
    boxes |= {f"legend {i}": legend.get_window_extent() for i, legend in enumerate(legends(figure))}
    # Matplotlib has no public way to the text itself.
    boxes |= {"note": figure._supxlabel.get_window_extent()} if figure.get_supxlabel() else {}
    for name, box in boxes.items():
        assert box.x0 >= 0 and box.y0 >= 0, name
        assert box.x1 <= figure.bbox.x1 and box.y1 <= figure.bbox.y1, name
    for one, other in itertools.combinations(boxes, 2):
        assert not boxes[one].overlaps(boxes[other]), (one, other)
    for axes in figure.axes:
        # No panel is squeezed: inches without its labels.
        extent = axes.get_window_extent()
        assert extent.width > 1.9 * figure.dpi and extent.height > 1.4 * figure.dpi


@pytest.mark.parametrize("number", [1, 13, 50, *[pytest.param(n, marks=pytest.mark.slow) for n in (6, 12, 20)]])
@pytest.mark.parametrize("kind", FIGURES)
def test_legend_note_and_panels_have_room(kind, number):
    names = [f"EXP3-tau (batch_size={batch})" for batch in range(11, 11 + number)]
    note = "line: median of means; epsilon of " + "; ".join(f"{name}: 1.234 at delta = T^-2" for name in names)
    figure = FIGURES[kind](names, note)
    check(figure)
    texts = [text.get_text() for legend in legends(figure) for text in legend.get_texts()]
    assert sorted(set(names) & set(texts)) == names and len(texts) == len(set(texts))


@pytest.mark.parametrize("number", [1, 50])
@pytest.mark.parametrize("kind", FIGURES)
def test_very_long_names_and_wide_letters_have_room(kind, number):
    names = [f"DP-Lambda-Lap (base=Tsallis-INF, epsilon={place}, outside=reject)" for place in range(number)]
    check(FIGURES[kind](names, "WWW WWWWWWW " * 200))


@pytest.mark.parametrize("kind", FIGURES)
def test_a_long_note_alone_leaves_panels_their_room(kind):
    check(FIGURES[kind](["EXP3"], "a note of many words " * 300))


def test_figures_of_the_papers_keep_their_size():
    for kind, size in {
        "one panel": (7.6, 3.2),
        "five panels": (10.2, 6.1),
        "two columns": (8.4, 6.1),
        "modern": (9.8, 7.3),
        "graph": (10.5, 6.1),
    }.items():
        names = algorithm_names()[: 6 if kind == "graph" else 12]
        figure = FIGURES[kind](names, "line: mean of 100 trials; band: its 95% confidence interval")
        assert figure.get_size_inches() == pytest.approx(size), kind
        check(figure)


def test_fifty_unknown_algorithms_differ_in_colour_or_dash():
    names = [f"mine {place}" for place in range(50)]
    styles = [style_of(name, names) for name in names]
    assert len({(each.colour, each.line) for each in styles}) == 50
    # The first have the styles that they have among few.
    assert styles[: len(UNLISTED_STYLES)] == UNLISTED_STYLES == [style_of(name, names[:5]) for name in names[:5]]
    assert styles == UNLISTED_STYLES_OF_MANY
