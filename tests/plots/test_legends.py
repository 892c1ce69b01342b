"""Legend, note, panels and mathematics are inside the picture and cover nothing, however many algorithms it has."""

import itertools

import numpy as np
import pytest
from matplotlib.legend import Legend
from matplotlib.mathtext import MathTextParser
from matplotlib.text import Text

from dp_bandit_envs.algorithms import algorithm_names
from dp_bandit_envs.plots.curves_figure import ROUND, Curve, Panel, Reference, curves_figure
from dp_bandit_envs.plots.figure_layout import wrapped
from dp_bandit_envs.typesetting import typeset
from tests.tools.doors import one_each

ROUNDS = np.arange(10, 1001, 99)  # few, as boxes depend on the ends only
LEVELS = np.array([0.05, 0.5, 2.0])


def samples(names):
    spread = np.linspace(0.9, 1.1, 4)[:, None]
    return {name: spread * (place + 1) * np.sqrt(ROUNDS) for place, name in enumerate(names)}


def over_time(number, names, note, **given):
    curves = [Curve(name, name, ROUNDS, regret) for name, regret in samples(names).items()]
    panels = [Panel(f"Game {panel}", curves) for panel in range(number)]
    return curves_figure(panels, across=ROUND, measure="external_regret", band="ci", note=note, **given)


def guarantees(names, note):
    """Draw panels that differ in every guarantee, so that each says all of them below its title."""
    panels = [
        Panel(
            f"Game {panel}",
            [Curve(n, f"{n} (eps {panel}.{i})", ROUNDS, r) for i, (n, r) in enumerate(samples(names[:9]).items())],
        )
        for panel in range(2)
    ]
    return curves_figure(panels, across=ROUND, measure="external_regret", band="ci", note=note)


def with_bounds(names, note):
    """Draw two columns with different axes, and reference lines, as in the page on stochastic algorithms."""
    over_time = [Curve(name, f"{name} (eps 1)", ROUNDS, regret) for name, regret in samples(names).items()]
    over_epsilon = [Curve(name, name, LEVELS, regret[:, :3]) for name, regret in samples(names).items()]
    panels = [
        Panel("Game", over_time, [Reference("asymptotic lower bound", ROUNDS, 2.0 * ROUNDS)]),
        Panel("Sweep", over_epsilon, [Reference("asymptotic lower bound", LEVELS, 0.5 / LEVELS)], across="epsilon"),
    ]
    scales = {"x_scale": "log", "y_scale": "log"}
    return curves_figure(panels * 2, across=ROUND, measure="pseudo_regret", band="ci", note=note, columns=2, **scales)


FIGURES = {
    "one panel": lambda names, note: over_time(1, names, note),
    "five panels": lambda names, note: over_time(5, names, note),
    "two columns": lambda names, note: over_time(4, names, note, columns=2, y_scale="log", x_scale="log"),
    "narrow": lambda names, note: over_time(3, names, note, columns=1),
    "guarantees": guarantees,
    "with bounds": with_bounds,
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
        assert extent.width > 1.7 * figure.dpi and extent.height > 1.25 * figure.dpi


@pytest.mark.thorough
@pytest.mark.slow_cases("one panel-50")
@pytest.mark.parametrize(("kind", "number"), one_each(FIGURES, (13, 1, 50)))
def test_legend_note_and_panels_have_room(kind, number):
    names = [f"EXP3-tau (batch_size={batch})" for batch in range(11, 11 + number)]
    note = "of the tests " * 20
    figure = FIGURES[kind](names, note)
    check(figure)
    texts = [text.get_text() for legend in legends(figure) for text in legend.get_texts()]
    assert len(texts) == len(set(texts))
    assert {name for name in names if any(text.startswith(name) for text in texts)} == set(
        names[:9] if kind == "guarantees" else names
    )


@pytest.mark.thorough
@pytest.mark.slow_cases("one panel-50")
@pytest.mark.parametrize(("kind", "number"), [*one_each(FIGURES, (1, 50)), ("narrow", 50)])
def test_very_long_names_and_wide_letters_have_room(kind, number):
    names = [f"DP-Lambda-Lap (base=Tsallis-INF, epsilon={place}, outside=reject)" for place in range(number)]
    check(FIGURES[kind](names, "WWW WWWWWWW " * 200))


@pytest.mark.thorough
def test_a_legend_takes_no_third_of_the_sheet():
    """Of twelve algorithms, as in the figures of the papers; the rest of its rows is the panels' width."""
    for kind, draw in FIGURES.items():
        figure = draw(algorithm_names()[:12], "a few words")
        check(figure)
        for legend in figure.legends:
            assert legend.get_window_extent().height < figure.bbox.height / 3, kind
        panels = [axes.get_tightbbox() for axes in figure.axes if axes.axison]
        assert max(box.x1 for box in panels) > 0.97 * figure.bbox.x1, kind


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("number", "columns", "width"), [(3, 1, 3.6), (1, 1, 3.6), (1, None, 6), (2, 2, 7.2), (5, None, 7.2)]
)
def test_figures_are_as_wide_as_a_page_or_a_column_and_letters_have_7_points_there(number, columns, width):
    """So does the site: a page of it shows 7.2 inches at full size, and a telephone 3.6."""
    figure = over_time(number, algorithm_names()[:7], "a note", columns=columns)
    assert figure.get_figwidth() == pytest.approx(width)
    figure.draw_without_rendering()
    written = [text for text in figure.findobj(Text) if text.get_visible() and text.get_text()]
    assert len(written) > 20 and min(text.get_fontsize() for text in written) >= 7


def test_a_note_is_wrapped_between_words_and_never_within_mathematics():
    text = r"a bound of $\sqrt{\chi\ H\ t\ /\ 2}$ for \$5 and $\varepsilon=1$ in all"
    for letters in range(5, 60):
        lines = wrapped(text, letters).split("\n")
        assert " ".join(lines) == text
        assert all(line.replace(r"\$", "").count("$") % 2 == 0 for line in lines)
    assert wrapped("aa bb cc dd", 5) == "aa bb\ncc dd"
    # Six letters are drawn.
    assert wrapped(r"$\varepsilon=1$ bb", 6) == r"$\varepsilon=1$ bb"


# ---- plain text to mathematics: parameters, horizons and numbers, and nothing that breaks a picture


def test_text_is_typeset():
    for plain, shown in [
        ("DP-KLUCB (eps 1)", r"DP-KLUCB ($\varepsilon=1$)"),
        ("EXP3-tau (eps 2.065, delta 1e-08)", r"EXP3-tau ($\varepsilon=2.065$, $\delta=10^{-8}$)"),
        ("delta 4.54e-05", r"$\delta=4.54\times10^{-5}$"),
        ("eps 0.05 to 2", r"$\varepsilon=0.05$ to 2"),
        ("2 arms, epsilon = 0.1", r"2 arms, $\varepsilon=0.1$"),
        ("d = 10, T = 262,144", r"$d=10$, $T=2^{18}$"),
        ("T = 1,000,000", r"$T=10^{6}$"),
        ("T = 1,000", r"$T=1{,}000$"),
        ("T = 300", r"$T=300$"),
        ("T = 0", r"$T=0$"),
        ("K = 1,024", r"$K=1{,}024$"),
        ("epsilon", r"$\varepsilon$"),
        ("delta = T^-2", r"$\delta$ = $T^{-2}$"),
        ("1 / sqrt(T)", r"1 / $\sqrt{T}$"),
        ("sqrt(chi H t / 2)", r"$\sqrt{\chi\ H\ t\ /\ 2}$"),
        ("round t", "round $t$"),
        ("1e5 games", r"$10^{5}$ games"),
        # What is no mathematics stays as it is.
        ("epsilon-greedy", "epsilon-greedy"),
        ("my_deltas 3", "my_deltas 3"),
        ("a_b^c 50 %", "a_b^c 50 %"),
        ("x2e5 T-shirt d", "x2e5 T-shirt d"),
        ("costs $5 and $6", r"costs \$5 and \$6"),
        (r"$\varepsilon$ of DP-TS", r"$\varepsilon$ of DP-TS"),
        (r"$\nonsense{$", r"\$\nonsense{\$"),
        ("", ""),
    ]:
        assert typeset(plain) == shown
        MathTextParser("path").parse(shown)
    # Mathtext raises an error where dollar signs or backslashes are not mathematics.
    for text in ("$", "$$", "a$b$c", r"\alpha", r"$\alpha", "{$}", "$_$", "%$#", r"\$x$", "$a$ $\\frac$", "eps 1$"):
        MathTextParser("path").parse(typeset(text))
