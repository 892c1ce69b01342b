"""Lines with bands in panels that share one legend: regret against the round, epsilon, arms, or the horizon."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

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
    places_axis,
    set_titles,
    values_axis,
)
from dp_bandit_envs.plots.plot_style import BLACK, DASHES, RC, Dash, Style, again, styles_for, typeset
from dp_bandit_envs.protocols import FloatArray, IntArray

MARKERS_ON_A_LINE = 8
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
"""The horizontal axis of one game, on which a line has many places."""
Key = tuple[str, str]
"""A line of the legend: an algorithm's name, and its label if a panel has several curves of that name, else ""."""


class Curve(NamedTuple):
    """One line of one panel.

    Attributes:
        name: The algorithm, which decides the look.
        label: The legend's entry: the name, and after it the guarantee, as in "DP-KLUCB (eps 1)".
        at: Places on the horizontal axis, ascending, shape `(places,)`.
        samples: Shape `(trials, places)`; or one array `(trials,)` for each place, if numbers of trials differ; or the
            line and its band, if they are no statistics of trials.
    """

    name: str
    label: str
    at: FloatArray | IntArray
    samples: FloatArray | Sequence[FloatArray] | Band


class Reference(NamedTuple):
    """A line that is no algorithm, such as a bound: its label, its places and heights `(places,)`, and its look."""

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
        references: Lines that are no algorithms.
        across: The label of its horizontal axis, if it is not that of the figure.
        beside: Panels with the same word here share their linear vertical axis, as those of one game do.
        up: The label of its vertical axis, if it is not that of the figure; panels with the same one share it.
    """

    title: str
    curves: Sequence[Curve]
    references: Sequence[Reference] = ()
    across: str = ""
    beside: str = ""
    up: str = ""


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
) -> Figure:
    """Draw a line with a band for each curve, panel by panel, with one legend and a note that explains line and band.

    All texts are plain, such as "eps 1" and "1e-06", and are typeset. Where a label differs between panels, the legend
    has the name alone, and each panel says below its title what follows it there.

    Args:
        panels: What to draw.
        across: The label of the horizontal axis; `ROUND` for rounds of one game.
        measure: What the samples are, a key of `LABELS` or a label for the vertical axis.
        band: The kind of line and band, a key of `dp_bandit_envs.metrics.BANDS`; None if all curves have their own.
        x_scale: `"linear"` or `"log"`, of the horizontal axes.
        y_scale: The same of the vertical axes; with `"log"` all panels with one label share it, and nothing is drawn at
            0 or below.
        note: What to say after the meaning of line and band.
        columns: Number of panels in a row, 1 for a narrow figure; None for at most three.

    Raises:
        ValueError: If there is no panel, or `band` or a scale is unknown.
    """
    if not panels:
        raise ValueError("panels must have at least one panel; received none.")
    x_scale, y_scale = (checks.known_name("scale", scale, SCALES) for scale in (x_scale, y_scale))
    band = None if band is None else checks.known_name("band", band, BANDS)
    columns = None if columns is None else checks.integer("columns", columns, at_least=1, at_most=100)
    bands = [[_band(curve, band) for curve in panel.curves] for panel in panels]
    legend = _legend_of(panels, bands)
    every_limits = {panel.up: _log_limits(panel.up, panels, bands) for panel in panels} if y_scale == "log" else {}
    thin = [len(panel.curves) > MOST_BANDS for panel in panels]
    with mpl.rc_context(RC):
        figure, grid = grid_of(len(panels), columns)
        algorithms: dict[str, Any] = {}
        others: dict[str, Any] = {}
        for axes, panel, of, bars in zip(grid, panels, bands, thin, strict=False):
            limits = every_limits.get(panel.up)
            for index, (curve, band_of_curve) in enumerate(zip(panel.curves, of, strict=True)):
                key, floor = _key(curve, legend.several), None if limits is None else limits[0]
                turn = index / len(of)
                line = draw_band(axes, curve.at, band_of_curve, legend.looks[key], floor=floor, turn=turn, bars=bars)
                line.set_label(typeset(legend.labels[key]))
                algorithms.setdefault(typeset(legend.labels[key]), line)
            for reference in panel.references:
                others[typeset(reference.label)] = draw_reference(axes, reference, log=limits is not None)
            label = panel.across or across
            places = [curve.at for curve in panel.curves] + [reference.at for reference in panel.references]
            places_axis(axes, places, x_scale, rounds=label == ROUND)
            axes.set_xlabel(typeset(label))
            axes.set_ylabel(typeset(panel.up) or LABELS.get(measure) or typeset(measure))
        for axes, panel, limit in zip(grid, panels, _up_to_the_same(grid, panels), strict=False):
            values_axis(axes, every_limits.get(panel.up), limit)
        for axes in grid[len(panels) :]:
            axes.axis("off")
        set_titles(grid, [panel.title for panel in panels], legend.notes)
        outer_labels_only(grid[: len(panels)])
        says = ""
        if band is not None:
            trials, fewest = _trials_in_words(panels)
            says = describe_band(band, trials, fewest, "bar" if all(thin) else "band or bar" if any(thin) else "band")
            if every_limits and any(np.any(one.line <= 0) for of in bands for one in of):
                says += "; a line begins where it is above 0"
        cell = grid[len(panels)] if len(grid) > len(panels) else None
        add_legend_and_note(figure, algorithms | others, typeset(". ".join(filter(None, (says, note)))), cell)
        return figure


def _band(curve: Curve, band: str | None) -> Band:
    if isinstance(curve.samples, Band):
        return curve.samples
    if band is None:
        raise ValueError(f"band must be one of {', '.join(BANDS)} where curves are of samples; received None.")
    return band_of(curve.samples, band)


def _log_limits(up: str, panels: Sequence[Panel], bands: Sequence[Sequence[Band]]) -> tuple[float, float]:
    """Return the ends of the logarithmic axis that all panels with a label share."""
    drawn = [one for panel, of in zip(panels, bands, strict=True) if panel.up == up for one in of]
    lines = [one.line for one in drawn]
    lines += [one.line for panel in panels if panel.up == up for one in panel.references]
    return log_limits(lines, [end for one in drawn for end in (one.low, one.high)])


def draw_band(
    axes: Axes,
    at: FloatArray | IntArray,
    band: Band,
    style: Style,
    *,
    floor: float | None = None,
    turn: float = 0.0,
    bars: bool = False,
) -> Any:
    """Draw a line with its band at places of shape `(places,)`, and return the line.

    Args:
        axes: The axes to draw on.
        at: Places on the horizontal axis.
        band: What to draw.
        style: How it looks.
        floor: The lower end of a logarithmic axis, where a band that falls to 0 ends; None for a linear axis.
        turn: The share of the distance between two markers by which they are moved, in [0, 1), so that those of
            lines which coincide are seen; where each place has a marker they stay.
        bars: Whether the band is drawn as bars at the markers.
    """
    line, low, high = band
    if floor is not None:
        line = np.where(line > 0, line, np.nan)
        high = np.where(high > 0, high, np.nan)
        low = np.where(low > 0, low, floor)
    every = 1 if len(at) <= FEW else len(at) // MARKERS_ON_A_LINE
    marked = slice(int(turn * every), None, every)
    if bars:
        axes.vlines(np.asarray(at)[marked], low[marked], high[marked], color=style.colour, linewidth=1.1, zorder=1.9)
    else:
        axes.fill_between(at, low, high, color=style.colour, alpha=0.18, linewidth=0)
    drawn = axes.plot(
        at,
        line,
        color=style.colour,
        linestyle=style.line,
        marker=style.marker,
        markevery=(marked.start, every),
        markersize=4,
    )
    return drawn[0]


def draw_reference(axes: Axes, reference: Reference, *, log: bool) -> Any:
    """Draw a line that is no algorithm, on a logarithmic axis where it is above 0, and return it."""
    label, at, line, colour, width, dash = reference
    if log:
        line = np.where(line > 0, line, np.nan)
    return axes.plot(at, line, color=colour, linewidth=width, linestyle=dash, label=typeset(label))[0]


def _up_to_the_same(grid: Sequence[Axes], panels: Sequence[Panel]) -> list[tuple[float, float]]:
    """Return the ends of each panel's linear vertical axis, which hold for all panels beside it."""
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
            names_by_trials.setdefault(trials, {})[curve.name] = None
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


def _legend_of(panels: Sequence[Panel], bands: Sequence[Sequence[Band]]) -> _Legend:
    """Return what the legend and the panels say: names, looks, guarantees that differ between panels, equal curves.

    A label that is the same in all panels is the legend's. Otherwise the legend has the name, and each panel says what
    follows the name there. Of two curves that are equal wherever both are drawn the legend says so; of two that are
    equal in some panels, these panels do.
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
    same, equal_here = _equal(panels, bands, several)
    for key, other in same.items():
        labels[key] += f", the same as {other[1] or other[0]}"
    notes = ["; ".join(filter(None, (note, *equal))) for note, equal in zip(notes, equal_here, strict=True)]
    return _Legend(several, labels, _looks(panels, labels_by_key), notes)


def _key(curve: Curve, several: frozenset[str]) -> Key:
    return curve.name, curve.label if curve.name in several else ""


def _looks(panels: Sequence[Panel], keys: Iterable[Key]) -> dict[Key, Style]:
    """Return a look for each line; those of one algorithm share its colour, and those of one guarantee their dash."""
    keys = list(keys)
    first = styles_for((name for name, _ in keys), together=[[curve.name for curve in each.curves] for each in panels])
    looks = {key: first[key[0]] for key in keys if not key[1]}
    guarantees = list(dict.fromkeys(label.removeprefix(name) for name, label in keys if label))
    for key in keys:
        name, label = key
        if label:
            wish = first[name]._replace(line=DASHES[guarantees.index(label.removeprefix(name)) % len(DASHES)])
            looks[key] = again(wish, looks.values())
    return looks


def _guarantees(curves: Sequence[Curve], *, named: bool = False) -> str:
    """Return what follows the names of curves in their labels, as in "Private-UCB: eps 0.5; others: eps 1".

    All are `named` where nothing follows another curve's name, whose guarantee is that of the axis.
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
    panels: Sequence[Panel], bands: Sequence[Sequence[Band]], several: frozenset[str]
) -> tuple[dict[Key, Key], list[list[str]]]:
    """Return which lines are equal to an earlier one wherever both are drawn, and what the panels of others say."""
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
                notes[index].append(f"{key[1] or key[0]} is the same as {other[1] or other[0]}")
    return same, notes


def _coincide(band: Band, other: Band) -> bool:
    """Whether two curves cannot be told apart, because they agree to more digits than can be drawn."""
    return all(np.allclose(one, two, rtol=1e-6, atol=0.0, equal_nan=True) for one, two in zip(band, other, strict=True))
