"""The style of every figure: each algorithm's colour, dash and marker, and how a figure shares them out."""

import itertools
from collections.abc import Collection, Container, Iterable
from typing import Any, Literal, NamedTuple

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
    """How an algorithm is drawn: its line is one of `DASHES`, its marker one of `MARKERS`."""

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
    "Tsallis-INF": Style(SKY, "-", "X"),
    "HTINF": Style(PURPLE, "-", "d"),
    "Uniform": Style(INDIGO, ":", "*"),
    "UCB": Style(BLACK, "-", "o"),
    "KL-UCB": Style(BLACK, "-", "h"),
    "TS": Style(INDIGO, "--", "*"),
    "Private-UCB": Style(INDIGO, LONG, "X"),
    "DP-UCB-BOUND": Style(ORANGE, "--", "s"),
    "DP-UCB": Style(PURPLE, "-.", "^"),
    "DP-UCB-INT": Style(VERMILION, "-", "D"),
    "DP-SE": Style(WINE, ":", "v"),
    "AdaP-UCB": Style(VERMILION, LONG, "<"),
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
    "AS-FTPL": Style(SKY, ":", "p"),
    "DP-FTRL": Style(WINE, "-.", "P"),
    "EXP2": Style(GREEN, "-.", "h"),
    "AS-EXP2": Style(VERMILION, THREE_DOTS, "h"),
    "SCRiBLe": Style(BLACK, "-.", "^"),
    "AS-SCRiBLe": Style(BLUE, LONG, "^"),
    "Batched-Lap-SCRiBLe": Style(SKY, LONG, "D"),
    "OSMD": Style(INDIGO, "-", "v"),
    "AS-OSMD": Style(OLIVE, ":", "v"),
    "LDP-UCB-L": Style(WINE, "-", "H"),
    "LDP-UCB-B": Style(WINE, "--", "8"),
}
"""The look of each algorithm where its colour is free in the figure."""

RC: dict[Any, Any] = {
    "font.size": 9,
    "axes.titlesize": 10,
    "axes.grid": True,
    "grid.alpha": 0.3,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
    "legend.fontsize": 8.5,
    "legend.handlelength": 2.8,
    "legend.columnspacing": 1.3,
    "lines.linewidth": 1.6,
    "svg.hashsalt": "dp-bandit-envs",
    "svg.fonttype": "none",
}


def styles_for(names: Iterable[str], together: Iterable[Collection[str]] = ()) -> dict[str, Style]:
    """Return the look of each algorithm of a figure; no two are alike in colour and dash, and up to 15 not in marker.

    An algorithm keeps its own look if nobody before it has its colour or marker. Others get the next free colour, and
    where all ten are taken, the next pair of a dash and a colour; beyond 60, pairs return with other markers.
    The same names in the same order always get the same looks.

    Args:
        names: The algorithms of all panels; parameters in brackets after a name belong to the same algorithm.
        together: The algorithms of each panel; where colours return, they do in other panels if possible.
    """
    panels = list(together)
    order = list(dict.fromkeys(names))
    own = {name: STYLES.get(name) or STYLES.get(name.partition(" (")[0]) for name in order}
    found: dict[str, Style] = {}
    # First those who keep their colour, so that unknown algorithms do not take it away.
    for name in order:
        wish = own[name]
        if wish is not None and wish.colour not in {each.colour for each in found.values()}:
            found[name] = wish._replace(marker=_free_marker(wish.marker, found.values()))
    for name in order:
        if name not in found:
            near = {other for panel in panels if name in panel for other in panel}
            found[name] = _next_look(own[name], found.values(), {found[one].colour for one in near if one in found})
    return {name: found[name] for name in order}


def again(style: Style, taken: Iterable[Style]) -> Style:
    """Return a look for another line of the same algorithm: its colour, with its dash and marker, or free ones."""
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
    """Return the wished marker if it is free, or the next one; if all are taken, the one used least."""
    used = [each.marker for each in taken]
    if wish not in used:
        return wish
    return min(MARKERS, key=used.count)
