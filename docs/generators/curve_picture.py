"""The measured curve of an algorithm as SVG inside its page, in the colours of the page's text."""

import io
import re

import matplotlib as mpl

from dp_bandit_envs.plots.curves_figure import ROUND, Curve, Panel, curves_figure
from dp_bandit_envs.plots.figure_layout import NOTE
from dp_bandit_envs.plots.plot_style import BLACK, INDIGO, RC, WINE
from generators.measured import SEED, Line
from generators.settings import Measured

INK = "#010203"
"""Stands for the colour of the page's text."""
SHOWN = {
    INK: "currentColor",
    BLACK: "currentColor",
    NOTE["color"]: "currentColor",
    INDIGO.lower(): f"var(--indigo, {INDIGO})",
    WINE.lower(): f"var(--wine, {WINE})",
}
"""What is dark, and so cannot be seen on a dark page, with what is shown instead; drawings.css has the two names."""
INKED = ("text.color", "axes.labelcolor", "xtick.color", "ytick.color", "axes.edgecolor")


def curve_picture(name: str, panels: list[tuple[Measured, list[Line]]]) -> str:
    """Return the picture of one or more games.

    Args:
        name: Its id in the page.
        panels: Each game with its lines.
    """
    drawn = [Panel(game.title, [Curve(*line) for line in lines]) for game, lines in panels]
    measures = {game.measure for game, _ in panels}
    measure = measures.pop() if len(measures) == 1 else "external_regret"
    with mpl.rc_context(dict.fromkeys(INKED, INK)):
        figure = curves_figure(drawn, across=ROUND, measure=measure, band="ci", y_scale="log", note=f"Seed {SEED}.")
        buffer = io.StringIO()
        with mpl.rc_context(RC | dict.fromkeys(INKED, INK) | {"svg.fonttype": "path"}):
            figure.savefig(buffer, format="svg", transparent=True, metadata={"Date": None})
    return inlined(buffer.getvalue(), name)


def inlined(text: str, name: str) -> str:
    """Return a file of Matplotlib as a part of a page: as wide as its column, in the colours of the page."""
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = re.sub(
        r'(<svg [^>]*?)width="[^"]*pt" ?', rf'\1id="{name}" class="drawing curves" role="img" ', text, count=1
    )
    text = re.sub(r'(<svg [^>]*?)height="[^"]*pt" ?', r"\1", text, count=1)
    text = text.replace("*{stroke-linejoin", f"#{name} *{{stroke-linejoin")
    for ink, shown in SHOWN.items():
        text = text.replace(ink, shown)
    # Elements without a colour of their own are black unless the root says otherwise.
    text = text.replace("<svg ", '<svg fill="currentColor" ', 1)
    # Two decimals are enough for lines; scales keep all of theirs.
    text = re.sub(r'( d="[^"]*")', lambda path: re.sub(r"(\d+\.\d{2})\d+", r"\1", path[1]), text)
    return re.sub(r"\n\s*\n", "\n", text)
