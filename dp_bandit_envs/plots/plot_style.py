"""The style of every figure: one colour, line and marker for each algorithm, safe for colour-blind readers."""

from typing import Any, NamedTuple

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
# Tol (2021), the muted scheme; with the colours above there are ten that can be distinguished in one figure.
WINE, OLIVE = "#882255", "#999933"


class Style(NamedTuple):
    """How an algorithm is drawn."""

    colour: str
    line: str | tuple[int, tuple[float, ...]]
    marker: str


STYLES = {
    "EXP3": Style(BLACK, "-", "o"),
    "DP-EXP3-Lap": Style(VERMILION, "--", "s"),
    "EXP3-tau": Style(BLUE, "-.", "^"),
    "Batched-Lap-EXP3": Style(ORANGE, (0, (5, 1)), "D"),
    "Batched-Lap-HTINF": Style(GREEN, ":", "v"),
    "DP-Lambda-Lap": Style(PURPLE, (0, (3, 1, 1, 1)), "P"),
    "Tsallis-INF": Style(SKY, "-", "X"),
    "HTINF": Style(PURPLE, "-", "d"),
    "Uniform": Style(GREY, ":", "*"),
    "UCB": Style(BLACK, (0, (1, 0)), "o"),
    "KL-UCB": Style(BLACK, (0, (7, 1)), "h"),
    "TS": Style(GREY, "--", "*"),
    "Private-UCB": Style(LIGHT_GREY, (0, (5, 1)), "X"),
    "DP-UCB-BOUND": Style(ORANGE, "--", "s"),
    "DP-UCB": Style(PURPLE, "-.", "^"),
    "DP-UCB-INT": Style(VERMILION, "-", "D"),
    "DP-SE": Style(WINE, ":", "v"),
    "AdaP-UCB": Style(VERMILION, (0, (5, 1)), "<"),
    "AdaP-KLUCB": Style(SKY, "-.", ">"),
    "Lazy-DP-TS": Style(OLIVE, (0, (3, 1, 1, 1)), "P"),
    "DP-TS": Style(OLIVE, "-", "p"),
    "DP-KLUCB": Style(BLUE, "-", "*"),
    "DP-IMED": Style(GREEN, "--", "p"),
    "TS-N": Style(VERMILION, ":", "v"),
    "TS-MaxN": Style(OLIVE, "--", ">"),
    "UCB-N": Style(BLUE, "--", "^"),
    "UCB-MaxN": Style(SKY, "--", "<"),
    "EXP3-SET": Style(ORANGE, "-", "D"),
    "Hedge": Style(BLACK, (0, (3, 1)), "o"),
    "DP-Hedge": Style(ORANGE, (0, (3, 1, 1, 1)), "s"),
    "Lazy-Hedge": Style(BLUE, ":", "^"),
    "DP-Epochs": Style(GREEN, "-", "v"),
    "Noisy-Hedge": Style(VERMILION, "-.", "X"),
    "AS-FTRL": Style(PURPLE, "--", "D"),
    "AS-FTPL": Style(SKY, ":", "p"),
    "DP-FTRL": Style(WINE, "-.", "P"),
    "EXP2": Style(GREEN, "-.", "h"),
    "AS-EXP2": Style(VERMILION, (0, (3, 1, 1, 1)), "h"),
    "SCRiBLe": Style(BLACK, "-.", "^"),
    "AS-SCRiBLe": Style(BLUE, (0, (5, 1)), "^"),
    "Batched-Lap-SCRiBLe": Style(SKY, (0, (5, 1)), "D"),
    "OSMD": Style(GREY, "-", "v"),
    "AS-OSMD": Style(OLIVE, ":", "v"),
    "LDP-UCB-L": Style(WINE, "-", "H"),
    "LDP-UCB-B": Style(WINE, "--", "8"),
}
UNLISTED_STYLES = [
    Style(colour, "-", marker) for colour, marker in zip((PURPLE, SKY, GREY, ORANGE, GREEN), "1234x", strict=True)
]
# For many algorithms: each colour with each of five dashes. The first ones are those of UNLISTED_STYLES.
_COLOURS = (PURPLE, SKY, GREY, ORANGE, GREEN, BLACK, BLUE, VERMILION, WINE, OLIVE)
_DASHES: tuple[Any, ...] = ("-", (0, (5, 2)), (0, (1, 1.5)), (0, (8, 2, 1, 2)), (0, (4, 1, 1, 1, 1, 1)))
UNLISTED_STYLES_OF_MANY = [
    Style(colour, line, "1234x+"[(10 * dash + place) % 6])
    for dash, line in enumerate(_DASHES)
    for place, colour in enumerate(_COLOURS)
]
MANY = 13
"""Number of algorithms from which on unlisted ones get the styles for many; figures of fewer keep their styles."""

RC: dict[Any, Any] = {
    "font.size": 9,
    "axes.titlesize": 10,
    "axes.grid": True,
    "grid.alpha": 0.3,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
    "lines.linewidth": 1.6,
    "svg.hashsalt": "dp-bandit-envs",
    "svg.fonttype": "none",
}


def style_of(name: str, names: list[str]) -> Style:
    """Return the style of algorithm `name` in a figure of `names`; unlisted algorithms get unused styles in order."""
    if name in STYLES:
        return STYLES[name]
    unknown = [other for other in names if other not in STYLES]
    unlisted = UNLISTED_STYLES if len(names) < MANY else UNLISTED_STYLES_OF_MANY
    return unlisted[unknown.index(name) % len(unlisted)]
