"""How every figure looks: one colour, line and marker for each algorithm everywhere, safe for colour-blind readers."""

from typing import Any, NamedTuple

# Okabe and Ito (2008), Color Universal Design; told apart by people with any kind of colour vision.
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
# Tol (2021), the muted scheme; with the colours above there are ten that can be told apart in one figure.
WINE, OLIVE = "#882255", "#999933"


class Look(NamedTuple):
    """How an algorithm is drawn."""

    colour: str
    line: str | tuple[int, tuple[float, ...]]
    marker: str


LOOKS = {
    "EXP3": Look(BLACK, "-", "o"),
    "DP-EXP3-Lap": Look(VERMILION, "--", "s"),
    "EXP3-tau": Look(BLUE, "-.", "^"),
    "Batched-Lap-EXP3": Look(ORANGE, (0, (5, 1)), "D"),
    "Batched-Lap-HTINF": Look(GREEN, ":", "v"),
    "DP-Lambda-Lap": Look(PURPLE, (0, (3, 1, 1, 1)), "P"),
    "Tsallis-INF": Look(SKY, "-", "X"),
    "HTINF": Look(PURPLE, "-", "d"),
    "Uniform": Look(GREY, ":", "*"),
    "UCB": Look(BLACK, (0, (1, 0)), "o"),
    "KL-UCB": Look(BLACK, (0, (7, 1)), "h"),
    "TS": Look(GREY, "--", "*"),
    "Private-UCB": Look(LIGHT_GREY, (0, (5, 1)), "X"),
    "DP-UCB-BOUND": Look(ORANGE, "--", "s"),
    "DP-UCB": Look(PURPLE, "-.", "^"),
    "DP-UCB-INT": Look(VERMILION, "-", "D"),
    "DP-SE": Look(WINE, ":", "v"),
    "AdaP-UCB": Look(VERMILION, (0, (5, 1)), "<"),
    "AdaP-KLUCB": Look(SKY, "-.", ">"),
    "Lazy-DP-TS": Look(OLIVE, (0, (3, 1, 1, 1)), "P"),
    "DP-TS": Look(OLIVE, "-", "p"),
    "DP-KLUCB": Look(BLUE, "-", "*"),
    "DP-IMED": Look(GREEN, "--", "p"),
    "TS-N": Look(VERMILION, ":", "v"),
    "TS-MaxN": Look(OLIVE, "--", ">"),
    "UCB-N": Look(BLUE, "--", "^"),
    "UCB-MaxN": Look(SKY, "--", "<"),
    "EXP3-SET": Look(ORANGE, "-", "D"),
    "LDP-UCB-L": Look(WINE, "-", "H"),
    "LDP-UCB-B": Look(WINE, "--", "8"),
}
SPARE = [Look(colour, "-", marker) for colour, marker in zip((PURPLE, SKY, GREY, ORANGE, GREEN), "1234x", strict=True)]
# For many: each colour with each of five dashes. The first are those of SPARE.
_COLOURS = (PURPLE, SKY, GREY, ORANGE, GREEN, BLACK, BLUE, VERMILION, WINE, OLIVE)
_DASHES: tuple[Any, ...] = ("-", (0, (5, 2)), (0, (1, 1.5)), (0, (8, 2, 1, 2)), (0, (4, 1, 1, 1, 1, 1)))
SPARE_OF_MANY = [
    Look(colour, line, "1234x+"[(10 * dash + place) % 6])
    for dash, line in enumerate(_DASHES)
    for place, colour in enumerate(_COLOURS)
]
MANY = 13
"""Algorithms from which on unknown ones get the looks for many; figures of fewer have always looked as they do."""

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


def look(name: str, names: list[str]) -> Look:
    """Return the look of algorithm `name` in a figure of `names`; unknown ones get spare looks in order."""
    if name in LOOKS:
        return LOOKS[name]
    unknown = [other for other in names if other not in LOOKS]
    spare = SPARE if len(names) < MANY else SPARE_OF_MANY
    return spare[unknown.index(name) % len(spare)]
