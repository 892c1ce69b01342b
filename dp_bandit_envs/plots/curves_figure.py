"""Lines with bands in panels that share one legend: regret against the round, epsilon, arms, or the horizon."""

import dataclasses
import weakref
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple, Self

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dp_bandit_envs import checks
from dp_bandit_envs.metrics import BANDS, Band, band_of, describe_band
from dp_bandit_envs.plots.figure_layout import (
    FEW,
    add_legend_and_note,
    grid_of,
    log_limits,
    outer_labels_only,
    place_legend,
    places_axis,
    set_titles,
    values_axis,
)
from dp_bandit_envs.plots.plot_style import (
    BLACK,
    DASHES,
    LONG,
    THREE_DOTS,
    Dash,
    Style,
    again,
    style,
    styles_for,
    with_colour,
)
from dp_bandit_envs.protocols import FloatArray, IntArray
from dp_bandit_envs.typesetting import typeset

MARKERS_ON_A_LINE = 8
SHARES_OF_GAPS = {"-": 0.0, LONG: 0.2, "--": 0.3, "-.": 0.3, THREE_DOTS: 0.4, ":": 0.5}
"""How much of a line is left open, about: lines with more gaps are drawn above others, so that none hides another."""
MOST_BANDS = 5
"""So many bands of a panel are filled; where there are more, each line has bars at its markers, and none is hidden."""
LABELS = {
    "external_regret": "external regret (gain)",
    "pseudo_regret": "pseudo-regret (gain)",
    "dynamic_regret": "dynamic regret (gain)",
    "policy_regret": "policy regret (gain)",
    "collected": "collected gain",
    "switches": "number of switches",
    "rounds_until_stop": "rounds until stop",
    "error": "share of wrong recommendations",
}
SCALES = ("linear", "log")
ROUND = "round t"
"""The horizontal axis of one game, with many positions per line."""
Key = tuple[str, str]
"""A line of the legend: an algorithm's name, and its label if a panel has several curves of that name, else ""."""


class Curve(NamedTuple):
    """One line of one panel.

    Attributes:
        name: The algorithm, which decides the look.
        label: The legend's entry: the name, and after it the guarantee, as in "DP-KLUCB (eps 1)".
        at: Positions on the horizontal axis, ascending, shape `(places,)`.
        samples: Shape `(trials, places)`; or one array `(trials,)` per position, if numbers of trials differ; or the
            line and its band, if they are not statistics of trials.
        end: What to write beside its last place.
    """

    name: str
    label: str
    at: FloatArray | IntArray
    samples: FloatArray | Sequence[FloatArray] | Band
    end: str = ""

    @property
    def shown_name(self) -> str:
        """The name for readers: that of the label, without the guarantee."""
        return self.name if self.label.startswith(self.name) else self.label


class Reference(NamedTuple):
    """A line without an algorithm, such as a bound: its label, positions and heights `(places,)`, and look."""

    label: str
    at: FloatArray | IntArray
    line: FloatArray
    colour: str = BLACK
    width: float = 1.8
    dash: Dash = "--"


class Panel(NamedTuple):
    """One panel.

    Attributes:
        title: Its title.
        curves: Its curves.
        references: Lines without an algorithm.
        across: The label of its horizontal axis, if it differs from the figure's.
        beside: Panels with the same value here share their linear vertical axis, such as panels of one game.
        up: The label of its vertical axis, if it differs from the figure's; panels with the same label share it.
        y_scale: The scale of its vertical axis, if it is not that of the figure.
    """

    title: str
    curves: Sequence[Curve]
    references: Sequence[Reference] = ()
    across: str = ""
    beside: str = ""
    up: str = ""
    y_scale: str = ""


class Appearance(NamedTuple):
    """How readers want a figure.

    Attributes:
        size: Width and height in inches, of which legend and note have their parts; None for what the panels need.
        colours: A colour for each of some algorithms.
        legend: `"below"` the panels, `"inside"` the first one, or False for none.
        note: Whether to say below all what line and band are.
        is_shaded: Whether bands are drawn.
    """

    size: tuple[float, float] | None = None
    colours: Mapping[str, str] = MappingProxyType({})
    legend: str | bool = "below"
    note: bool = True
    is_shaded: bool = True


PLAIN = Appearance()
_LOOKS: weakref.WeakKeyDictionary[Figure, dict[Key, Style]] = weakref.WeakKeyDictionary()
"""How algorithms look in figures of readers, who may draw several comparisons in one."""


@dataclasses.dataclass(frozen=True)
class CurvePanels:
    """Panels with everything that is decided before they are drawn on axes.

    Attributes:
        panels: What to draw.
        bands: The line and band of each curve, by panel.
        legend: Labels, looks and what holds in some panels only.
        across: The label of the horizontal axis.
        measure: What the samples are.
        band: The kind of line and band; None if all curves have their own.
        is_shaded: Whether bands are drawn.
        x_scale: That of the horizontal axes.
        is_log: Whether the vertical axis is logarithmic, by panel.
    """

    panels: Sequence[Panel]
    bands: Sequence[Sequence[Band]]
    legend: "_Legend"
    across: str
    measure: str
    band: str | None
    is_shaded: bool
    x_scale: str
    is_log: Sequence[bool]

    @classmethod
    def prepare(
        cls,
        panels: Sequence[Panel],
        *,
        across: str,
        measure: str,
        band: str | None,
        x_scale: str = "linear",
        y_scale: str = "linear",
        appearance: Appearance = PLAIN,
        looks: Mapping[Key, Style] = MappingProxyType({}),
    ) -> Self:
        """Return it; arguments as for `curves_figure`, and looks that algorithms have already."""
        if not panels:
            raise ValueError("panels must have at least one panel; received none.")
        x_scale, y_scale = (checks.known_name("scale", scale, SCALES) for scale in (x_scale, y_scale))
        band = None if band is None else checks.known_name("band", band, BANDS)
        bands = [[_band(curve, band) for curve in panel.curves] for panel in panels]
        if not appearance.is_shaded:
            bands = [[Band(one.line, one.line, one.line) for one in of_panel] for of_panel in bands]
        fixed = dict(looks)
        for name, colour in appearance.colours.items():
            fixed[name, ""] = with_colour(name, colour, fixed.values())
        is_log = [(panel.y_scale or y_scale) == "log" for panel in panels]
        legend = _legend_of(panels, bands, fixed)
        return cls(panels, bands, legend, across, measure, band, appearance.is_shaded, x_scale, is_log)

    def draw(self, grid: Sequence[Axes]) -> dict[str, Any]:
        """Draw each panel on its axes; return the lines by label, algorithms first."""
        legend, bars = self.legend, [len(panel.curves) > MOST_BANDS for panel in self.panels]
        shared_limits = {panel.up: _log_limits(panel.up, self._logarithmic) for panel, _ in self._logarithmic}
        algorithms: dict[str, Any] = {}
        others: dict[str, Any] = {}
        for axes, panel, bands, is_log, has_bars in zip(grid, self.panels, self.bands, self.is_log, bars, strict=False):
            floor = shared_limits[panel.up][0] if is_log else None
            for index, (curve, band) in enumerate(zip(panel.curves, bands, strict=True)):
                key = _key(curve, legend.several)
                look: dict[str, Any] = {"floor": floor, "turn": index / len(bands), "bars": has_bars}
                line = draw_band(axes, curve.at, band, legend.looks[key], **look, is_shaded=self.is_shaded)
                line.set_label(typeset(legend.labels[key]))
                if curve.end:
                    _write_at_end(axes, curve, band, legend.looks[key])
                algorithms.setdefault(typeset(legend.labels[key]), line)
            for reference in panel.references:
                others[typeset(reference.label)] = draw_reference(axes, reference, log=is_log)
            label = panel.across or self.across
            places = [curve.at for curve in panel.curves] + [reference.at for reference in panel.references]
            places_axis(axes, places, self.x_scale, rounds=label == ROUND)
            axes.set_xlabel(typeset(label))
            axes.set_ylabel(typeset(panel.up) or LABELS.get(self.measure) or typeset(self.measure))
        limits = _up_to_the_same(grid, self.panels)
        for axes, panel, is_log, limit in zip(grid, self.panels, self.is_log, limits, strict=False):
            values_axis(axes, shared_limits[panel.up] if is_log else None, limit)
        return algorithms | others

    @property
    def note(self) -> str:
        """What line and band are; empty if curves have their own."""
        if self.band is None:
            return ""
        thin = [len(panel.curves) > MOST_BANDS for panel in self.panels]
        drawn = "bar" if all(thin) else "band or bar" if any(thin) else "band"
        note = describe_band(self.band, *_trials_in_words(self.panels), drawn)
        if not self.is_shaded:
            note = note.partition(";")[0]
        if any(np.any(band.line <= 0) for _, bands in self._logarithmic for band in bands):
            note += "; a line begins where it is above 0"
        return note

    @property
    def _logarithmic(self) -> list[tuple[Panel, Sequence[Band]]]:
        pairs = zip(self.panels, self.bands, strict=True)
        return [pair for pair, is_log in zip(pairs, self.is_log, strict=True) if is_log]


def curves_figure(
    panels: Sequence[Panel],
    *,
    across: str,
    measure: str,
    band: str | None,
    x_scale: str = "linear",
    y_scale: str = "linear",
    note: str = "",
    columns: int | None = None,
    appearance: Appearance = PLAIN,
) -> Figure:
    """Draw a line with a band for each curve, panel by panel, with one legend and a note that explains line and band.

    All texts are plain, such as "eps 1" and "1e-06", and are typeset. If a label differs between panels, the legend has
    only the name, and each panel shows the rest of the label below its title. Settings of matplotlib that the reader
    has changed are obeyed.

    Args:
        panels: The panels.
        across: The label of the horizontal axis; `ROUND` for rounds of one game.
        measure: The measure of the samples: a key of `LABELS`, or a label for the vertical axis.
        band: The kind of line and band, a key of `dp_bandit_envs.metrics.BANDS`; None if all curves have their own.
        x_scale: `"linear"` or `"log"`, of the horizontal axes.
        y_scale: The same for the vertical axes; with `"log"` all panels with one label share it, and values of 0 or
            below are not drawn.
        note: Text after the meaning of line and band.
        columns: Number of panels in a row, 1 for a narrow figure; None for at most three.
        appearance: How the reader wants it.

    Raises:
        ValueError: If there is no panel, `band` or a scale is unknown, or a given size leaves panels too little room.
    """
    columns = None if columns is None else checks.integer("columns", columns, at_least=1, at_most=100)
    prepared = CurvePanels.prepare(
        panels, across=across, measure=measure, band=band, x_scale=x_scale, y_scale=y_scale, appearance=appearance
    )
    with mpl.rc_context(style()):
        figure, grid = grid_of(len(panels), columns, appearance.size)
        labelled = prepared.draw(grid)
        for axes in grid[len(panels) :]:
            axes.axis("off")
        grows = appearance.size is None
        set_titles(grid, [panel.title for panel in panels], prepared.legend.notes, grows=grows)
        outer_labels_only(grid[: len(panels)])
        if appearance.legend == "inside":
            place_legend(grid[0], labelled, inside=True)
        words = typeset(". ".join(filter(None, (prepared.note, note)))) if appearance.note else ""
        cell = grid[len(panels)] if len(grid) > len(panels) else None
        below = labelled if appearance.legend == "below" else {}
        add_legend_and_note(figure, below, words, cell, grows=grows)
        return figure


def draw_on_axes(grid: Sequence[Axes], panels: Sequence[Panel], appearance: Appearance, **settings: Any) -> Figure:
    """Draw panels on axes that are there already, each with a legend of its own, and return their figure.

    An algorithm that such a call drew in this figure before looks the same again. A title that is there stays.

    Args:
        grid: Axes for each panel.
        panels: The panels.
        appearance: How the reader wants it; its size and note do not count.
        settings: As for `curves_figure`.
    """
    figure = grid[0].get_figure(root=True)
    assert figure is not None
    looks = _LOOKS.setdefault(figure, {})
    with mpl.rc_context(style(letters=False)):
        for axes, panel in zip(grid, panels, strict=True):
            prepared = CurvePanels.prepare([panel], **settings, appearance=appearance, looks=looks)
            looks |= prepared.legend.looks
            labelled = prepared.draw([axes])
            if not any(axes.get_title(place) for place in ("left", "center", "right")):
                axes.set_title(typeset(panel.title))
            if appearance.legend:
                place_legend(axes, labelled, inside=appearance.legend == "inside")
    return figure


def _band(curve: Curve, band: str | None) -> Band:
    if isinstance(curve.samples, Band):
        return curve.samples
    if band is None:
        raise ValueError(f"band must be one of {', '.join(BANDS)} where curves are of samples; received None.")
    return band_of(curve.samples, band)


def _log_limits(up: str, logarithmic: Sequence[tuple[Panel, Sequence[Band]]]) -> tuple[float, float]:
    """Return the ends of the logarithmic axis that all panels with a label share."""
    drawn = [band for panel, bands in logarithmic if panel.up == up for band in bands]
    lines = [band.line for band in drawn]
    lines += [reference.line for panel, _ in logarithmic if panel.up == up for reference in panel.references]
    return log_limits(lines, [end for band in drawn for end in (band.low, band.high)])


def _write_at_end(axes: Axes, curve: Curve, band: Band, style: Style) -> None:
    points: Any = {"xycoords": "data", "textcoords": "offset points", "annotation_clip": False}
    place = (float(np.asarray(curve.at)[-1]), float(band.line[-1]))
    look: Any = {"va": "center", "fontsize": mpl.rcParams["font.size"] - 1, "color": style.colour}
    axes.annotate(typeset(curve.end), place, xytext=(6, 0), **points, **look)


def draw_band(
    axes: Axes,
    at: FloatArray | IntArray,
    band: Band,
    style: Style,
    *,
    floor: float | None = None,
    turn: float = 0.0,
    bars: bool = False,
    is_shaded: bool = True,
) -> Any:
    """Draw a line with its band at positions `(places,)`, and return the line.

    Args:
        axes: The axes to draw on.
        at: Positions on the horizontal axis.
        band: The line and its band.
        style: The look.
        floor: The lower end of a logarithmic axis, where a band that falls to 0 ends; None for a linear axis.
        turn: Shift of the markers as a share of their distance, in [0, 1), so that markers of coinciding lines are
            visible; ignored if each position has a marker.
        bars: Whether the band is drawn as bars at the markers.
        is_shaded: Whether it is drawn.
    """
    line, low, high = band
    if floor is not None:
        line = np.where(line > 0, line, np.nan)
        high = np.where(high > 0, high, np.nan)
        low = np.where(low > 0, low, floor)
    every = 1 if len(at) <= FEW else len(at) // MARKERS_ON_A_LINE
    marked = slice(int(turn * every), None, every)
    if bars and is_shaded:
        axes.vlines(np.asarray(at)[marked], low[marked], high[marked], color=style.colour, linewidth=1.1, zorder=1.9)
    elif is_shaded:
        axes.fill_between(at, low, high, color=style.colour, alpha=0.18, linewidth=0)
    drawn = axes.plot(
        at,
        line,
        color=style.colour,
        linestyle=style.line,
        marker=style.marker,
        markevery=(marked.start, every),
        zorder=2 + SHARES_OF_GAPS[style.line],
    )
    return drawn[0]


def draw_reference(axes: Axes, reference: Reference, *, log: bool) -> Any:
    """Draw a line without an algorithm (on a logarithmic axis, where it is above 0), and return it."""
    label, at, line, colour, width, dash = reference
    if log:
        line = np.where(line > 0, line, np.nan)
    return axes.plot(at, line, color=colour, linewidth=width, linestyle=dash, label=typeset(label))[0]


def _up_to_the_same(grid: Sequence[Axes], panels: Sequence[Panel]) -> list[tuple[float, float]]:
    """Return the ends of each panel's linear vertical axis, common to all panels that share it."""
    ends = [axes.get_ylim() for axes in grid[: len(panels)]]
    shared_ends = []
    for panel, ends_of_panel in zip(panels, ends, strict=True):
        same = [end for other, end in zip(panels, ends, strict=True) if panel.beside and other.beside == panel.beside]
        lows, highs = zip(*(same or [ends_of_panel]), strict=True)
        shared_ends.append((min(lows), max(highs)))
    return shared_ends


def _trials_in_words(panels: Sequence[Panel]) -> tuple[str, int]:
    """Return the numbers of trials, as in "100 (1,000 of DP-KLUCB, DP-IMED)", and the smallest."""
    names_by_trials: dict[int, dict[str, None]] = {}
    for panel in panels:
        for curve in panel.curves:
            # Where numbers differ between places, the smallest counts.
            uniform = isinstance(curve.samples, np.ndarray)
            trials = len(curve.samples) if uniform else min(map(len, curve.samples), default=0)
            names_by_trials.setdefault(trials, {})[curve.shown_name] = None
    if not names_by_trials:
        return "0", 0
    usual = max(names_by_trials, key=lambda trials: (len(names_by_trials[trials]), -trials))
    others = "; ".join(
        f"{trials:,} of {', '.join(names)}" for trials, names in sorted(names_by_trials.items()) if trials != usual
    )
    return f"{usual:,}" + (f" ({others})" if others else ""), min(names_by_trials)


class _Legend(NamedTuple):
    """The legend: whether a name has several lines, the label and look of each line, and the note of each panel."""

    several: frozenset[str]
    labels: dict[Key, str]
    looks: dict[Key, Style]
    notes: list[str]


def _legend_of(
    panels: Sequence[Panel], bands: Sequence[Sequence[Band]], fixed: Mapping[Key, Style] = MappingProxyType({})
) -> _Legend:
    """Return the texts of legend and panels: names, looks, guarantees that differ between panels, equal curves.

    A label that is the same in all panels is in the legend. Otherwise the legend has the name, and each panel has the
    rest. If two curves are equal wherever both are drawn, the legend states this; if they are equal in some panels,
    these panels do.
    """
    several = frozenset(
        curve.name
        for panel in panels
        for curve in panel.curves
        if sum(other.name == curve.name for other in panel.curves) > 1
    )
    labels_by_key: dict[Key, dict[str, None]] = {}
    for panel in panels:
        for curve in panel.curves:
            labels_by_key.setdefault(_key(curve, several), {})[curve.label] = None
    labels = {key: next(iter(of)) if len(of) == 1 else key[0] for key, of in labels_by_key.items()}
    notes = []
    for panel in panels:
        differing = [curve for curve in panel.curves if len(labels_by_key[_key(curve, several)]) > 1]
        notes.append(_guarantees(differing, named=any(curve.label == curve.name for curve in panel.curves)))
    names = {_key(curve, several): curve.shown_name for panel in panels for curve in panel.curves}
    same, equal_here = _equal(panels, bands, several, names)
    for key, other in same.items():
        labels[key] += f", the same as {other[1] or names[other]}"
    notes = ["; ".join(filter(None, (note, *equal))) for note, equal in zip(notes, equal_here, strict=True)]
    return _Legend(several, labels, _looks(panels, labels_by_key, fixed), notes)


def _key(curve: Curve, several: frozenset[str]) -> Key:
    return curve.name, curve.label if curve.name in several else ""


def _looks(panels: Sequence[Panel], keys: Iterable[Key], fixed: Mapping[Key, Style]) -> dict[Key, Style]:
    """Return a look for each line; lines of one algorithm share a colour, and lines of one guarantee a dash."""
    keys = list(keys)
    first = styles_for(
        (name for name, _ in keys),
        together=[[curve.name for curve in each.curves] for each in panels],
        fixed={name: look for (name, _), look in fixed.items()},
    )
    looks = {key: first[key[0]] for key in keys if not key[1]}
    guarantees = list(dict.fromkeys(label.removeprefix(name) for name, label in keys if label))
    for key in keys:
        name, label = key
        if label:
            wish = first[name]._replace(line=DASHES[guarantees.index(label.removeprefix(name)) % len(DASHES)])
            looks[key] = again(wish, looks.values())
    return looks


def _guarantees(curves: Sequence[Curve], *, named: bool = False) -> str:
    """Return the text after the names of curves in their labels, as in "Private-UCB: eps 0.5; others: eps 1".

    All are `named` if another curve has only its name, so that its guarantee is the axis.
    """
    of: dict[str, list[str]] = {}
    for curve in curves:
        after = curve.label.removeprefix(curve.name).strip()
        if not after:
            continue
        inside = after[1:-1]
        of.setdefault(inside if after == f"({inside})" and "(" not in inside else after, []).append(curve.name)
    most = max(of, key=lambda after: len(of[after]), default="")
    if named:
        return "; ".join(f"{', '.join(names)}: {after}" for after, names in of.items())
    if len(of) < 2:
        return most
    rest = [f"{', '.join(names)}: {after}" for after, names in of.items() if after != most]
    return "; ".join([*rest, f"{of[most][0] if len(of[most]) == 1 else 'others'}: {most}"])


def _equal(
    panels: Sequence[Panel], bands: Sequence[Sequence[Band]], several: frozenset[str], names: Mapping[Key, str]
) -> tuple[dict[Key, Key], list[list[str]]]:
    """Return the lines that equal an earlier line wherever both are drawn, and the remarks of panels for the others."""
    together: dict[tuple[Key, Key], list[int]] = {}
    equal: dict[tuple[Key, Key], list[int]] = {}
    for index, (panel, of) in enumerate(zip(panels, bands, strict=True)):
        for later, (curve, band) in enumerate(zip(panel.curves, of, strict=True)):
            for earlier, its in zip(panel.curves[:later], of[:later], strict=True):
                pair = (_key(curve, several), _key(earlier, several))
                together.setdefault(pair, []).append(index)
                if np.array_equal(curve.at, earlier.at) and _coincide(band, its):
                    equal.setdefault(pair, []).append(index)
    same: dict[Key, Key] = {}
    notes: list[list[str]] = [[] for _ in panels]
    for (key, other), where in equal.items():
        if key in same or other in same:
            continue
        if where == together[key, other]:
            same[key] = other
        else:
            for index in where:
                notes[index].append(f"{key[1] or names[key]} is the same as {other[1] or names[other]}")
    return same, notes


def _coincide(band: Band, other: Band) -> bool:
    """Whether two curves look the same, because they agree to more digits than can be drawn."""
    return all(np.allclose(one, two, rtol=1e-6, atol=0.0, equal_nan=True) for one, two in zip(band, other, strict=True))
