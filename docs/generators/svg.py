"""Small drawings as SVG inside a page, in the colours of its text, so that they fit a light and a dark page."""

import math
from collections.abc import Iterable, Sequence
from html import escape

from dp_bandit_envs.plots.plot_style import BLUE, GREEN, ORANGE, PURPLE, SKY, VERMILION
from dp_bandit_envs.protocols import FloatArray

COLOURS = (BLUE, ORANGE, GREEN, PURPLE, SKY, VERMILION)
"""Seen on white and on black."""
TEXT = "currentColor"
WIDTH = 480
"""Of every drawing, in its own units; letters of 12 units can be read on a telephone."""


def number(value: float) -> str:
    """Return a coordinate with one decimal."""
    return f"{value:.1f}".removesuffix(".0")


def text(x: float, y: float, words: str, *, anchor: str = "start", size: float = 12, **more: str) -> str:
    """Return a text; further attributes are written with hyphens for underscores."""
    extra = "".join(f' {name.replace("_", "-")}="{value}"' for name, value in {"fill": TEXT, **more}.items())
    place = f'x="{number(x)}" y="{number(y)}"'
    return f'<text {place} text-anchor="{anchor}" font-size="{number(size)}"{extra}>{escape(words)}</text>'


def line(points: Iterable[tuple[float, float]], colour: str, *, width: float = 1.6, dash: str = "", **more: str) -> str:
    """Return a line through points."""
    path = " ".join(f"{number(x)},{number(y)}" for x, y in points)
    extra = "".join(f' {name.replace("_", "-")}="{value}"' for name, value in more.items())
    dashed = f' stroke-dasharray="{dash}"' if dash else ""
    return f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="{number(width)}"{dashed}{extra}/>'


def box(x: float, y: float, width: float, height: float, colour: str, **more: str) -> str:
    """Return a filled rectangle."""
    extra = "".join(f' {name.replace("_", "-")}="{value}"' for name, value in more.items())
    size = f'width="{number(width)}" height="{number(height)}"'
    return f'<rect x="{number(x)}" y="{number(y)}" {size} fill="{colour}"{extra}/>'


def drawing(name: str, title: str, height: float, parts: Iterable[str], style: str = "") -> str:
    """Return the whole drawing.

    Args:
        name: Its id, which no other drawing of a page has.
        title: What it shows, for readers who do not see it.
        height: In the drawing's units.
        parts: What is in it.
        style: Its CSS, of which every selector begins with its id.
    """
    head = (
        f'<svg id="{name}" class="drawing" viewBox="0 0 {WIDTH} {number(height)}" role="img"'
        f' aria-label="{escape(title)}" xmlns="http://www.w3.org/2000/svg" font-family="inherit">'
    )
    css = f"<style>{style}</style>" if style else ""
    return "\n".join([head + css, *parts, "</svg>"])


def ticks(low: float, high: float, number_of: int = 4) -> list[float]:
    """Return about so many round numbers from low to high, at least two."""
    raw = (high - low) / number_of
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(power * factor for factor in (1, 2, 2.5, 5, 10) if power * factor >= raw * 0.999)
    first = math.ceil(low / step - 1e-9)
    found = [place * step for place in range(first, math.floor(high / step + 1e-9) + 1)]
    return found if len(found) >= 2 else ticks(low, high, number_of + 2)


def in_words(value: float) -> str:
    """Return a tick's label, such as `5,000` or `0.5`."""
    return f"{value:,.0f}" if abs(value) >= 10 or value == round(value) else f"{value:g}"


class Panel:
    """A rectangle of a drawing with a scale on each side.

    Args:
        left, top, width, height: Its place in the drawing.
        across, up: The ends of its scales.
    """

    def __init__(
        self,
        left: float,
        top: float,
        width: float,
        height: float,
        across: tuple[float, float],
        up: tuple[float, float],
    ) -> None:
        self.left, self.top, self.width, self.height = left, top, width, height
        self.across, self.up = across, up

    def x(self, value: float) -> float:
        """Return the place of a value on the horizontal scale."""
        return self.left + self.width * (value - self.across[0]) / (self.across[1] - self.across[0])

    def y(self, value: float) -> float:
        """Return the place of a value on the vertical scale."""
        return self.top + self.height * (1 - (value - self.up[0]) / (self.up[1] - self.up[0]))

    def curve(
        self, at: Sequence[float] | FloatArray, values: Sequence[float] | FloatArray, colour: str, **how: float | str
    ) -> str:
        """Return a line through values."""
        points = ((self.x(float(x)), self.y(float(y))) for x, y in zip(at, values, strict=True))
        return line(points, colour, **how)  # type: ignore[arg-type]

    def title(self, words: str) -> str:
        """Return a title above the panel."""
        return text(0, self.top - 9, words, font_weight="600")

    def frame(self, *, across: bool, label: str = "", up: bool = True) -> list[str]:
        """Return the scales with their numbers; `label` is what is counted across."""
        parts = []
        bottom, right = self.top + self.height, self.left + self.width
        if up:
            for tick in ticks(*self.up, 3):
                place = self.y(tick)
                parts.append(line([(self.left, place), (right, place)], TEXT, width=0.5, opacity=".25"))
                parts.append(text(self.left - 6, place + 4, in_words(tick), anchor="end", opacity=".75"))
        if across:
            parts.append(line([(self.left, bottom), (right, bottom)], TEXT, width=0.8, opacity=".6"))
            places = ticks(*self.across, 4)
            for tick in places:
                anchor = "end" if tick == places[-1] and self.x(tick) > right - 8 else "middle"
                parts.append(text(self.x(tick), bottom + 15, in_words(tick), anchor=anchor, opacity=".75"))
            if label:
                parts.append(text((self.left + right) / 2, bottom + 30, label, anchor="middle"))
        return parts


def legend(x: float, y: float, entries: Sequence[tuple[str, str, str]]) -> list[str]:
    """Return a line of the legend for each (label, colour, dash), one below the other."""
    parts = []
    for place, (label, colour, dash) in enumerate(entries):
        height = y + 15 * place
        parts.append(line([(x, height - 4), (x + 20, height - 4)], colour, width=2, dash=dash))
        parts.append(text(x + 26, height, label))
    return parts
