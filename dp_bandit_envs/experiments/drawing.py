"""Draws comparisons: against the round, one panel per game; or the last round against epsilon, arms or horizon."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes

from dp_bandit_envs import checks
from dp_bandit_envs.errors import WrongTypeError
from dp_bandit_envs.experiments.entries import Entries, Entry, by_epsilon, convention_of
from dp_bandit_envs.experiments.tables import in_latex
from dp_bandit_envs.metrics import BANDS
from dp_bandit_envs.plots.curves_figure import (
    ROUND,
    Appearance,
    Curve,
    CurvePanels,
    Panel,
    curves_figure,
    draw_on_axes,
)
from dp_bandit_envs.privacy.guarantee import ShownEpsilon, format_levels, label_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

AGAINST = ("round", "epsilon", "arms", "horizon")
LABELS = {"round": ROUND, "epsilon": "epsilon asked for", "arms": "number of arms K", "horizon": "horizon T"}
MOST_INCHES = 100
IN_A_ROW = {2: 2, 3: 3, 4: 2}
"""How many panels over rounds stand in a row, by the number of epsilons."""


class PlotContent(NamedTuple):
    """The settings of a comparison's figure; see `Comparison.plot`."""

    against: str
    measure: str
    band: str | None
    x_scale: str | None
    y_scale: str
    labels: Any

    def panels(self, comparison: Entries) -> list[Panel]:
        """Return the panels, with the user's labels.

        Raises:
            ValueError: If an argument is unknown, or the comparison has fewer than two points on the horizontal axis.
        """
        panels = PANELS[checks.one_of("against", self.against, AGAINST)](comparison, self.measure)
        if self.against != "round" and max(len(curve.at) for panel in panels for curve in panel.curves) < 2:
            raise ValueError(
                f"a plot against {self.against} needs at least two values of it; this comparison has one. Give compare"
                f" several, such as {EXAMPLES[self.against]}, or plot against 'round'."
            )
        labels = _checked_labels(comparison, self.labels)
        return [
            panel._replace(curves=[one._replace(label=labels.get(one.name, one.label)) for one in panel.curves])
            for panel in panels
        ]

    def settings(self, comparison: Entries) -> dict[str, Any]:
        """Return arguments of `curves_figure`."""
        if not (self.band is None or isinstance(self.band, str)):
            known = ", ".join(map(repr, BANDS))
            raise WrongTypeError(f"band must be {known}, or None for lines alone; received {self.band!r}.")
        usual = str(comparison.configuration["checkpoints"]) if self.against == "round" else "log"
        return {
            "across": LABELS[self.against],
            "measure": self.measure,
            "band": "ci" if self.band is None else self.band,
            "x_scale": usual if self.x_scale is None else self.x_scale,
            "y_scale": self.y_scale,
        }


def draw(
    comparison: Entries,
    content: PlotContent,
    *,
    columns: int | None = None,
    ax: Any = None,
    size: Any = None,
    colors: Any = None,
    legend: Any = None,
    note: Any = None,
) -> "Figure":
    """Return the figure; see `Comparison.plot`.

    Raises:
        ValueError: If an argument is unknown or out of range, or a size leaves panels too little room.
        WrongTypeError: If an argument has the wrong type.
    """
    panels, settings = content.panels(comparison), content.settings(comparison)
    appearance = Appearance(
        size=_size_of_settings(panels, columns) if size is None else _checked_size(size),
        colours=_checked_colours(comparison, colors),
        legend=("below" if ax is None else "inside") if legend is None else _checked_legend(legend),
        note=size is None if note is None else checks.boolean("note", note),
        is_shaded=content.band is not None,
    )
    if ax is None:
        if columns is None and content.against == "round":
            columns = IN_A_ROW.get(len(comparison.epsilons))
        return curves_figure(panels, **settings, columns=columns, appearance=appearance)
    for name, setting in {"size": size, "columns": columns, "note": note or None}.items():
        if setting is not None:
            way_out = "plot_note() returns its text" if name == "note" else "Give it to plt.subplots"
            raise ValueError(f"{name} must be left out with ax, whose figure is yours; received {setting}. {way_out}.")
    return draw_on_axes(_checked_axes(ax, [panel.title for panel in panels]), panels, appearance, **settings)


def write_note(comparison: Entries, content: PlotContent, format: str) -> str:
    """Return the meaning of line and band, and every guarantee; see `Comparison.plot_note`."""
    checks.one_of("format", format, ("text", "latex"))
    panels, appearance = content.panels(comparison), Appearance(is_shaded=content.band is not None)
    curve_panels = CurvePanels.prepare(panels, **content.settings(comparison), appearance=appearance)
    shown = {curve.name: curve.shown_name for panel in panels for curve in panel.curves}
    names_by_guarantee: dict[str, list[str]] = {}
    for name in comparison.algorithms:
        guarantee = _guarantee([entry for entry in comparison.entries if entry.algorithm == name])
        names_by_guarantee.setdefault(guarantee, []).append(shown[name])
    guarantees = "; ".join(f"{', '.join(names)}: {words}" for words, names in names_by_guarantee.items())
    words = (
        f"{curve_panels.note[:1].upper()}{curve_panels.note[1:]}. {guarantees}; {convention_of(comparison.entries)}."
    )
    return in_latex(words) if format == "latex" else re.sub(r"\beps (?=\d)", "epsilon = ", words)


def _guarantee(entries: Sequence[Entry]) -> str:
    """Return the guarantee of a round, and of what is protected longest: a person if the data have persons."""
    levels: dict[str, dict[ShownEpsilon, None]] = {}
    for entry in entries:
        of_units = [(f", for a {unit} ", level) for unit, level in entry.units.items()]
        for words, level in [("", entry.level), *of_units[-1:]]:
            levels.setdefault(words, {})[level] = None
    return "".join(words + format_levels(of_words).strip("()") for words, of_words in levels.items())


def _checked_size(size: Any) -> tuple[float, float]:
    if isinstance(size, str) or not isinstance(size, (Sequence, np.ndarray)) or len(size) != 2:
        raise WrongTypeError(f"size must be a width and a height in inches, as in size=(3.4, 2.2); received {size!r}.")
    width, height = (checks.greater_than("size", side, 0) for side in size)
    if max(width, height) > MOST_INCHES:
        raise ValueError(
            f"size must be in inches, at most {MOST_INCHES} each; received {width:g} x {height:g}. A point is 1/72 of"
            " an inch."
        )
    return width, height


def _size_of_settings(panels: Sequence[Panel], columns: int | None) -> tuple[float, float] | None:
    """Return the user's default figure size, which is for one panel."""
    width, height = mpl.rcParams["figure.figsize"]
    is_set = [width, height] != mpl.rcParamsDefault["figure.figsize"]
    return (width, height) if is_set and len(panels) == 1 and columns is None else None


def _checked_legend(legend: Any) -> str | bool:
    if legend is False or (isinstance(legend, str) and legend in ("below", "inside")):
        return legend
    raise ValueError(f"legend must be 'below', 'inside' or False; received {legend!r}.")


def _checked_colours(comparison: Entries, colors: Any) -> dict[str, str]:
    given = _by_algorithm(comparison, "colors", colors, "'black'")
    for name, colour in given.items():
        if not mpl.colors.is_color_like(colour):
            raise ValueError(
                f"colors must be colours of matplotlib, such as 'black', '#0072B2' or 'C0'; received {colour!r} for"
                f" {name}."
            )
    return {name: mpl.colors.to_hex(colour).upper() for name, colour in given.items()}


def _checked_labels(comparison: Entries, labels: Any) -> dict[str, str]:
    given = _by_algorithm(comparison, "labels", labels, "'ours'")
    for name, label in given.items():
        if not isinstance(label, str) or not label.strip():
            raise WrongTypeError(f"labels must be text; received {label!r} for {name}. legend=False leaves all out.")
    others = [name for name in comparison.algorithms if name not in given]
    for label in given.values():
        if [*given.values(), *others].count(label) > 1:
            raise ValueError(f"labels must differ, so that lines can be told apart; received {label!r} twice.")
    return given


def _by_algorithm(comparison: Entries, what: str, given: Any, example: str) -> dict[str, Any]:
    if given is None:
        return {}
    names = comparison.algorithms
    if not isinstance(given, Mapping):
        raise WrongTypeError(
            f"{what} must be a mapping from algorithms, as in {{{names[0]!r}: {example}}}; received"
            f" {checks.kind_of(given)}."
        )
    for name in given:
        if name not in names:
            raise ValueError(f"{what} must be of algorithms that are drawn: {', '.join(names)}; received {name!r}.")
    return dict(given)


def _checked_axes(ax: Any, titles: Sequence[str]) -> list[Axes]:
    axes = [ax] if isinstance(ax, Axes) else list(np.ravel(ax)) if isinstance(ax, (Sequence, np.ndarray)) else []
    wrong = next((one for one in axes or [ax] if not isinstance(one, Axes)), None)
    if wrong is not None or not axes:
        raise WrongTypeError(
            "ax must be axes of matplotlib, or a list of them, such as plt.subplots(1, 2)[1]; received"
            f" {checks.kind_of(ax if wrong is None else wrong)}."
        )
    if len(axes) != len(titles):
        raise ValueError(
            f"ax must be axes for each panel, here {len(titles)}: {'; '.join(titles)}; received {len(axes)}. Choose"
            " panels with select(), or make more axes with plt.subplots."
        )
    for one in axes:
        if one.name != "rectilinear" or one.figure is None:
            kind = "removed ones" if one.figure is None else f"a {one.name} projection"
            raise ValueError(f"ax must be ordinary axes of a figure; received {kind}. Make them with plt.subplots().")
    return axes


EXAMPLES = {"epsilon": "epsilon=[0.1, 1]", "arms": "n_arms=[2, 10]", "horizon": "horizon=[1_000, 10_000]"}


def _over_rounds(comparison: Entries, measure: str) -> list[Panel]:
    """Return a panel for each game and, if there are several, each epsilon, on one scale per game."""
    return [
        Panel(
            title,
            [_curve(one.algorithm, [one], one.rounds, one.values(measure)) for one in group],
            beside=group[0].title if group else "",
        )
        for title, group in by_epsilon(comparison.entries, lambda one: one.title)
    ]


def _over_epsilons(comparison: Entries, measure: str) -> list[Panel]:
    """Return a panel for each game; an algorithm that takes no epsilon is the same at each."""
    panels = []
    for title in comparison.titles:
        curves = []
        for name in comparison.algorithms:
            of_name = [one for one in comparison.entries if (one.title, one.algorithm) == (title, name)]
            if not of_name:
                continue
            of_name.sort(key=lambda entry: entry.asked or 0.0)
            takes_none = of_name[0].asked is None
            at = comparison.epsilons if takes_none else [entry.asked for entry in of_name]
            last = [entry.values(measure)[:, -1] for entry in of_name]
            exact = all(entry.level[:2] == (entry.asked, 0.0) for entry in of_name)  # the axis says it
            curve = _curve(name, of_name, at, last * len(at) if takes_none else last)
            curves.append(curve._replace(label=name) if exact else curve)
        panels.append(Panel(title, curves))
    return panels


def _over_sizes(size: str) -> Callable[[Entries, str], list[Panel]]:
    def panels(comparison: Entries, measure: str) -> list[Panel]:
        """Return a panel for each environment, epsilon and size, except the size on the horizontal axis."""
        other = "horizon" if size == "n_arms" else "n_arms"
        word = "T" if other == "horizon" else "K"
        is_divided = len({getattr(entry, other) for entry in comparison.entries}) > 1
        divided = []

        def title_of(entry: Entry) -> str:
            return entry.environment + (f", {word} = {getattr(entry, other):,}" if is_divided else "")

        for title, group in by_epsilon(comparison.entries, title_of):
            curves = []
            for name in dict.fromkeys(entry.algorithm for entry in group):
                of_name = sorted((one for one in group if one.algorithm == name), key=lambda one: getattr(one, size))
                at = [getattr(entry, size) for entry in of_name]
                curves.append(_curve(name, of_name, at, [entry.values(measure)[:, -1] for entry in of_name]))
            divided.append(Panel(title, curves, beside=title_of(group[0]) if group else ""))
        return divided

    return panels


def _curve(name: str, entries: Sequence[Entry], at: Any, samples: Any) -> Curve:
    label = label_of(name, list(dict.fromkeys(entry.level for entry in entries)))
    # What was asked for may be the guarantee of a person.
    asked_for = any(entry.calibrated and entry.units for entry in entries)
    return Curve(name, f"{name} ({_guarantee(entries)})" if asked_for else label, at, samples)


PANELS: dict[str, Callable[[Entries, str], list[Panel]]] = {
    "round": _over_rounds,
    "epsilon": _over_epsilons,
    "arms": _over_sizes("n_arms"),
    "horizon": _over_sizes("horizon"),
}
"""What divides a comparison into panels, by horizontal axis."""
