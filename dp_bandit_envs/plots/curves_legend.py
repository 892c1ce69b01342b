"""What the legend and the panels of a figure say: names, looks, guarantees that differ between panels, equal curves."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from dp_bandit_envs.metrics import Band
from dp_bandit_envs.plots.curves import Curve, Panel
from dp_bandit_envs.plots.plot_style import DASHES, Style, again, styles_for

Key = tuple[str, str]
"""A line of the legend: an algorithm's name, and its label if a panel has several curves of that name, else ""."""


class Entries(NamedTuple):
    """The legend: whether a name has several lines, the label and look of each line, and the note of each panel."""

    several: frozenset[str]
    labels: dict[Key, str]
    looks: dict[Key, Style]
    notes: list[str]

    def key(self, curve: Curve) -> Key:
        """Return the line of the legend that a curve belongs to."""
        return _key(curve, self.several)


def entries_of(panels: Sequence[Panel], bands: Sequence[Sequence[Band]]) -> Entries:
    """Return what the legend and the panels say.

    A label that is the same in all panels is the legend's. Otherwise the legend has the name, and each panel says what
    follows the name there. Of two curves that are equal wherever both are drawn the legend says so; of two that are
    equal in some panels, these panels do.

    Args:
        panels: The panels.
        bands: The bands of their curves.
    """
    several = frozenset(
        curve.name
        for panel in panels
        for curve in panel.curves
        if [one.name for one in panel.curves].count(curve.name) > 1
    )
    found: dict[Key, dict[str, None]] = {}
    for panel in panels:
        for curve in panel.curves:
            found.setdefault(_key(curve, several), {})[curve.label] = None
    labels = {key: next(iter(of)) if len(of) == 1 else key[0] for key, of in found.items()}
    notes = [_guarantees([curve for curve in panel.curves if len(found[_key(curve, several)]) > 1]) for panel in panels]
    same, equal_here = _equal(panels, bands, several)
    for key, other in same.items():
        labels[key] += f", the same as {labels[other]}"
    notes = ["; ".join(filter(None, (note, *equal))) for note, equal in zip(notes, equal_here, strict=True)]
    return Entries(several, labels, _looks(panels, found), notes)


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


def _guarantees(curves: Sequence[Curve]) -> str:
    """Return what follows the names of curves in their labels, as in "Private-UCB: eps 0.5; others: eps 1"."""
    of: dict[str, list[str]] = {}
    for curve in curves:
        after = curve.label.removeprefix(curve.name).strip()
        if not after:
            continue
        inside = after[1:-1]
        of.setdefault(inside if after == f"({inside})" and "(" not in inside else after, []).append(curve.name)
    most = max(of, key=lambda after: len(of[after]), default="")
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
