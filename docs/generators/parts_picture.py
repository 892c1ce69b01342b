"""The drawing of who sees what: adversary, environment, privacy wrapper, agent and evaluator.

All letters stand in light boxes, so that it can be read on a light page and on a dark one.
"""

from html import escape
from pathlib import Path

from generators.kept import ROOT

PICTURE = ROOT / "examples" / "parts.svg"
WIDTH, HEIGHT = 480, 520
TRUE, RELEASED, OUTSIDE = "#fde3cf", "#d3ecdf", "#dfe7f3"
"""What knows true gains, what knows releases only, and who looks on."""
INK, LINE = "#1b1b1b", "#7d7d7d"


def box(x: int, y: int, width: int, name: str, *does: str, colour: str) -> str:
    """Return a part with its name and what it does."""
    height = 34 + 19 * len(does)
    lines = "".join(
        f'<text x="{x + width / 2:g}" y="{y + 43 + 19 * number}" font-size="15">{escape(words)}</text>'
        for number, words in enumerate(does)
    )
    return (
        f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="8" fill="{colour}" stroke="{LINE}"/>'
        f'<text x="{x + width / 2:g}" y="{y + 24}" font-size="17" font-weight="bold">{escape(name)}</text>{lines}'
    )


def arrow(points: str, x: int, y: int, words: str) -> str:
    """Return an arrow, and in a small box at a place what goes along it."""
    width = 8 * len(words) + 12
    return (
        f'<polyline points="{points}" fill="none" stroke="{LINE}" stroke-width="2.5" marker-end="url(#tip)"/>'
        f'<rect x="{x - width / 2:g}" y="{y - 13}" width="{width}" height="20" rx="5" fill="#f6f6f6" stroke="{LINE}"'
        f' stroke-width=".6"/><text x="{x}" y="{y + 2}" font-size="14">{escape(words)}</text>'
    )


def drawing() -> str:
    """Return the drawing as SVG."""
    parts = [
        arrow("150,72 150,128", 150, 96, "gains of all arms"),
        arrow("150,185 150,241", 150, 209, "true gain"),
        arrow("150,317 150,373", 150, 338, "noisy gain"),
        arrow("40,373 40,185", 40, 279, "arm"),
        arrow("260,157 312,157", 283, 120, "regret"),
        arrow("260,402 312,402", 287, 380, "arms"),
        box(20, 15, 240, "Adversary", "chooses all gains", colour=TRUE),
        box(20, 130, 240, "Environment", "a game of T rounds", colour=TRUE),
        box(70, 243, 190, "Privacy wrapper", "adds noise,", "states the guarantee", colour=TRUE),
        box(20, 375, 240, "Agent", "learns, chooses an arm", colour=RELEASED),
        box(314, 120, 156, "Evaluator: you", "sees everything,", "is trusted", colour=OUTSIDE),
        box(314, 366, 156, "Anybody else", "can tell little", "about any gain", colour=OUTSIDE),
        f'<line x1="10" y1="349" x2="470" y2="349" stroke="{LINE}" stroke-width="2" stroke-dasharray="7 5"/>',
        f'<rect x="304" y="325" width="166" height="22" rx="5" fill="#f6f6f6" stroke="{LINE}" stroke-width=".6"/>',
        '<text x="387" y="341" font-size="14">private above this line</text>',
        f'<rect x="20" y="462" width="16" height="16" fill="{TRUE}" stroke="{LINE}"/>',
        f'<rect x="20" y="490" width="16" height="16" fill="{RELEASED}" stroke="{LINE}"/>',
        '<rect x="44" y="458" width="268" height="24" rx="5" fill="#f6f6f6"/>',
        '<rect x="44" y="486" width="268" height="24" rx="5" fill="#f6f6f6"/>',
        '<text x="50" y="475" font-size="14" text-anchor="start">knows true gains</text>',
        '<text x="50" y="503" font-size="14" text-anchor="start">knows only what was released</text>',
    ]
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}"'
        f' font-family="DejaVu Sans, Verdana, sans-serif" fill="{INK}" text-anchor="middle" role="img">'
        "<title>Who sees what</title>"
        '<defs><marker id="tip" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" orient="auto">'
        f'<path d="M0,0 L10,5 L0,10 z" fill="{LINE}"/></marker></defs>'
    )
    return "\n".join([head, *parts, "</svg>"]) + "\n"


def draw(picture: Path = PICTURE) -> None:
    """Write the drawing."""
    picture.write_text(drawing(), encoding="utf-8")
