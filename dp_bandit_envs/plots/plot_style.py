"""The style of every figure: colours, dashes, markers, and the bytes of a picture."""

import io
import itertools
from collections.abc import Collection, Container, Iterable, Mapping
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

import matplotlib as mpl
from matplotlib.figure import Figure

# Okabe and Ito (2008), Color Universal Design; distinguishable with any kind of colour vision.
BLACK, ORANGE, SKY, GREEN, BLUE, VERMILION, PURPLE = (
    "#000000",
    "#E69F00",
    "#56B4E9",
    "#009E73",
    "#0072B2",
    "#D55E00",
    "#CC79A7",
)
GREY, LIGHT_GREY = "#7F7F7F", "#B0B0B0"
# Tol (2021), the muted scheme; with the colours above there are ten that can be distinguished in one figure. Grey is
# none of them, as it is green to readers without green cones; it is left to bounds and keys.
WINE, OLIVE, INDIGO = "#882255", "#999933", "#332288"
COLOURS = (BLUE, VERMILION, GREEN, ORANGE, PURPLE, SKY, WINE, OLIVE, INDIGO, BLACK)
"""In the order in which free ones are given out."""
Dash = Literal["-", "--", "-.", ":"] | tuple[float, tuple[float, ...]]
LONG: Dash = (0, (8, 2))
THREE_DOTS: Dash = (0, (4, 1, 1, 1, 1, 1, 1, 1))
DASHES: tuple[Dash, ...] = ("-", "--", "-.", ":", LONG, THREE_DOTS)
MARKERS = "os^DvPX*<>dphH8"


class Style(NamedTuple):
    """The look of an algorithm: a colour, a line from `DASHES` and a marker from `MARKERS`."""

    colour: str
    line: Dash
    marker: str


STYLES = {
    "EXP3": Style(BLACK, "-", "o"),
    "DP-EXP3-Lap": Style(VERMILION, "--", "s"),
    "EXP3-tau": Style(BLUE, "-.", "^"),
    "Batched-Lap-EXP3": Style(ORANGE, LONG, "D"),
    "Batched-Lap-HTINF": Style(GREEN, ":", "v"),
    "DP-Lambda-Lap": Style(PURPLE, THREE_DOTS, "P"),
    "Clipped-Lap": Style(WINE, LONG, "d"),
    "Tsallis-INF": Style(SKY, "-", "X"),
    "HTINF": Style(PURPLE, "-", "d"),
    "Uniform": Style(INDIGO, ":", "*"),
    "UCB": Style(BLACK, "-", "o"),
    "KL-UCB": Style(BLACK, "-", "h"),
    "TS": Style(INDIGO, "--", "*"),
    "Gaussian-TS": Style(OLIVE, LONG, "*"),
    "Tuned-TS": Style(OLIVE, "-.", "*"),
    "Private-UCB": Style(INDIGO, LONG, "X"),
    "DP-UCB-BOUND": Style(ORANGE, "--", "s"),
    "DP-UCB": Style(PURPLE, "-.", "^"),
    "DP-UCB-INT": Style(VERMILION, "-", "D"),
    "DP-SE": Style(WINE, ":", "v"),
    "AdaP-UCB": Style(VERMILION, LONG, "<"),
    "AdaC-UCB": Style(PURPLE, LONG, "<"),
    "AdaP-KLUCB": Style(SKY, "-.", ">"),
    "Lazy-DP-TS": Style(OLIVE, THREE_DOTS, "P"),
    "DP-TS": Style(OLIVE, "-", "p"),
    "DP-KLUCB": Style(BLUE, "-", "*"),
    "DP-IMED": Style(GREEN, "--", "p"),
    "TS-N": Style(VERMILION, ":", "v"),
    "TS-MaxN": Style(OLIVE, "--", ">"),
    "UCB-N": Style(BLUE, "--", "^"),
    "UCB-MaxN": Style(SKY, "--", "<"),
    "EXP3-SET": Style(ORANGE, "-", "D"),
    "Hedge": Style(BLACK, "--", "o"),
    "DP-Hedge": Style(ORANGE, THREE_DOTS, "s"),
    "Lazy-Hedge": Style(BLUE, ":", "^"),
    "DP-Epochs": Style(GREEN, "-", "v"),
    "Noisy-Hedge": Style(VERMILION, "-.", "X"),
    "AS-FTRL": Style(PURPLE, "--", "D"),
    "AS-FTRL, k-ary": Style(INDIGO, "-", "*"),
    "AS-FTRL, k-ary own-norm": Style(BLACK, "-", "<"),
    "AS-FTPL": Style(SKY, ":", "p"),
    "DP-FTRL": Style(WINE, "-.", "P"),
    "EXP2": Style(GREEN, "-.", "h"),
    "AS-EXP2": Style(VERMILION, THREE_DOTS, "h"),
    "AS-EXP2, smallest-bound": Style(ORANGE, "-", ">"),
    "GOPE": Style(BLACK, "--", "8"),
    "DP-GOPE": Style(BLUE, "-", "8"),
    "AdaC-GOPE": Style(WINE, THREE_DOTS, "8"),
    "SCRiBLe": Style(BLACK, "-.", "^"),
    "AS-SCRiBLe": Style(BLUE, LONG, "^"),
    "Batched-Lap-SCRiBLe": Style(SKY, LONG, "D"),
    "OSMD": Style(INDIGO, "-", "v"),
    "AS-OSMD": Style(OLIVE, ":", "v"),
    "LDP-UCB-L": Style(WINE, "-", "H"),
    "LDP-UCB-B": Style(WINE, "--", "8"),
    "Top-Two": Style(BLACK, "-", "o"),
    "AdaP-TT": Style(VERMILION, "--", "s"),
    "DP-TT": Style(BLUE, "-", "*"),
    "CTB-TT": Style(WINE, "-.", "8"),
    "SW-UCB": Style(BLACK, "-", "s"),
    "D-UCB": Style(OLIVE, "-.", "d"),
    "SW-KLUCB-CF": Style(SKY, THREE_DOTS, "s"),
    "Restarted-AdaP-UCB": Style(VERMILION, LONG, "P"),
}
"""The look of each algorithm where its colour is free in the figure."""

LETTERS, TITLE = 8.0, 8.5
"""Points of letters, and of a panel's title."""
RC: dict[Any, Any] = {
    "font.size": LETTERS,
    "axes.titlesize": TITLE,
    "axes.grid": True,
    "grid.alpha": 0.3,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
    "legend.handlelength": 2.8,
    "legend.columnspacing": 1.3,
    "lines.linewidth": 1.4,
    "svg.hashsalt": "dp-bandit-envs",
    "svg.fonttype": "none",
}
MARKED: dict[Any, Any] = {"lines.markersize": 4}
"""Beside `RC`, for figures of curves."""
OF_LETTERS = ("font.size", "axes.titlesize")


def style(*, letters: bool = True) -> dict[Any, Any]:
    """Return the settings of `RC` and `MARKED` that readers have not changed from matplotlib's own: theirs are obeyed.

    Args:
        letters: Whether sizes of letters are among them; on axes that are there already, all letters are the reader's.
    """
    ours = RC | MARKED
    settings = {name: setting for name, setting in ours.items() if mpl.rcParams[name] == mpl.rcParamsDefault[name]}
    if "axes.titlesize" in settings and "font.size" not in settings:
        settings["axes.titlesize"] = mpl.rcParams["font.size"] * TITLE / LETTERS
    return settings if letters else {name: one for name, one in settings.items() if name not in OF_LETTERS}


def styles_for(
    names: Iterable[str],
    together: Iterable[Collection[str]] = (),
    fixed: Mapping[str, Style] = MappingProxyType({}),
) -> dict[str, Style]:
    """Return the look of each algorithm of a figure; pairs of colour and dash are unique, and so are up to 15 markers.

    An algorithm keeps its own look if its colour and marker are free. Others get the next free colour, and once all ten
    are taken, the next pair of a dash and a colour; beyond 60, pairs repeat with other markers. The same names in the
    same order always get the same looks.

    Args:
        names: The algorithms of all panels; parameters in brackets after a name belong to the same algorithm.
        together: The algorithms of each panel; repeated colours are placed in different panels if possible.
        fixed: Given looks, reserved for their algorithms.
    """
    panels = list(together)
    order = list(dict.fromkeys(names))
    wishes = {name: STYLES.get(name) or STYLES.get(name.partition(" (")[0]) for name in order}
    styles = dict(fixed)
    # First those who keep their colour, so that unknown algorithms do not take it away.
    for name in order:
        wish = wishes[name]
        if name not in styles and wish is not None and wish.colour not in {each.colour for each in styles.values()}:
            styles[name] = wish._replace(marker=_free_marker(wish.marker, styles.values()))
    for name in order:
        if name not in styles:
            near = {other for panel in panels if name in panel for other in panel}
            others = {styles[one].colour for one in near if one in styles}
            styles[name] = _next_look(wishes[name], styles.values(), others)
    return {name: styles[name] for name in order}


def with_colour(name: str, colour: str, taken: Iterable[Style]) -> Style:
    """Return the style of an algorithm in the given colour, with a marker that is free."""
    wish = STYLES.get(name) or STYLES.get(name.partition(" (")[0]) or Style(colour, "-", MARKERS[0])
    return Style(colour, wish.line, _free_marker(wish.marker, taken))


def again(style: Style, taken: Iterable[Style]) -> Style:
    """Return a style for another line of the same algorithm: its colour with a free dash, or a free dash and marker."""
    taken = list(taken)
    pairs = {(each.colour, each.line) for each in taken}
    line = next((dash for dash in (style.line, *DASHES) if (style.colour, dash) not in pairs), None)
    if line is None:
        return _next_look(style, taken)
    return Style(style.colour, line, _free_marker(style.marker, taken))


def _next_look(wish: Style | None, taken: Iterable[Style], near: Container[str] = ()) -> Style:
    """Return a look with the next free colour, or the next free pair of dash and colour, if possible none of `near`."""
    taken = list(taken)
    dash, marker = ("-", MARKERS[0]) if wish is None else (wish.line, wish.marker)
    colours = {each.colour for each in taken}
    free = next((colour for colour in COLOURS if colour not in colours), None)
    if free is not None:
        return Style(free, dash, _free_marker(marker, taken))
    pairs = {(each.colour, each.line) for each in taken}
    for line, colour in sorted(itertools.product(DASHES, COLOURS), key=lambda pair: pair[1] in near):
        if (colour, line) not in pairs:
            return Style(colour, line, _free_marker(marker, taken))
    looks = itertools.product(MARKERS, DASHES, COLOURS)
    return next((look for sign, line, colour in looks if (look := Style(colour, line, sign)) not in taken), taken[0])


def _free_marker(wish: str, taken: Iterable[Style]) -> str:
    """Return the wished marker if it is free, or the next free one; if all are taken, the least used."""
    used = [each.marker for each in taken]
    if wish not in used:
        return wish
    return min(MARKERS, key=used.count)


def as_bytes(figure: Figure, kind: str) -> bytes:
    """Return a figure as the bytes of a `"png"`, `"svg"` or `"pdf"` file; equal figures give equal bytes."""
    buffer = io.BytesIO()
    metadata: dict[str, Any] = {{"svg": "Date", "png": "Software", "pdf": "CreationDate"}[kind]: None}
    with mpl.rc_context(style()):
        figure.savefig(buffer, format=kind, dpi=200, metadata=metadata)
    return buffer.getvalue()
