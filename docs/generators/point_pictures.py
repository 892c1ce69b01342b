"""Drawings of a game of points in the plane: where gain vectors point, what is played, and what it costs."""

import math

import numpy as np

from dp_bandit_envs.protocols import FloatArray
from generators import moving, svg
from generators.arm_pictures import (
    LEFT,
    PLOT,
    cursor,
    regret_legend,
    regret_lines,
    spread_out,
    sweep_style,
    swept_parts,
)
from generators.played import Played, thinned

MIDDLE, TALL = 130.0, 108.0
"""Centre and half the height of the set, in the drawing's units."""


class Plane:
    """The plane in which a set is drawn: two coordinates, or a triangle for the simplex of three experts."""

    def __init__(self, name: str, centre: float, half: float = TALL) -> None:
        self.simplex, self.centre, self.half = name == "simplex", centre, half

    def at(self, point: FloatArray) -> tuple[float, float]:
        """Return the place of a point."""
        x, y = float(point[0]), float(point[1])
        if self.simplex:
            third = float(point[2])
            x, y = (third - x) * math.sqrt(3) / 2 * 1.1, (y * 1.5 - 0.5 * (x + y + third)) * 1.1 - 0.25
        return self.centre + self.half * x, MIDDLE - self.half * y

    def outline(self, outline: FloatArray) -> str:
        """Return the set."""
        corners = [np.eye(3)[place] for place in (0, 1, 2)] if self.simplex else list(outline)
        path = " ".join(f"{svg.number(x)},{svg.number(y)}" for x, y in map(self.at, corners))
        return f'<polygon points="{path}" fill="currentColor" fill-opacity=".07" stroke="currentColor" opacity=".8"/>'

    def labels(self) -> list[str]:
        """Return the names of the axes, or of the corners."""
        if self.simplex:
            places = [(*self.at(np.eye(3)[k]), f"expert {k}") for k in range(3)]
            return [svg.text(x, y + (-6 if k == 1 else 15), w, anchor="middle") for k, (x, y, w) in enumerate(places)]
        low = svg.text(self.centre, MIDDLE + self.half + 16, "coordinate 0", anchor="middle")
        x, y = self.centre - self.half - 14, MIDDLE
        turned = f"rotate(-90 {svg.number(x)} {svg.number(y)})"
        return [low, svg.text(x, y, "coordinate 1", anchor="middle", transform=turned)]


def what_is_gained(name: str, title: str, game: Played) -> str:
    """Return the gain vectors of the first rounds, and the sums of each coordinate over the rounds."""
    rounds, shown = len(game.regret), min(200, len(game.regret))
    vectors = np.diff(game.totals[: shown + 1], axis=0)
    rng = np.random.default_rng(0)
    at, _ = thinned(game.regret, 150)
    if game.env.decision_set.name == "simplex":
        parts, top = [], 26.0
    else:
        plane = Plane("ball", svg.WIDTH / 2)
        parts = [
            svg.text(0, 13, f"Gain vectors of rounds 1 to {shown}, in the set that they are from", font_weight="600")
        ]
        parts += [plane.outline(gain_outline(game.env.decision_set.name)), *plane.labels()]
        for vector in vectors:
            # Many may be equal; moved a little, they are seen.
            x, y = plane.at(vector + rng.normal(0, 0.02, len(vector)) * (game.env.decision_set.name == "cube"))
            parts.append(
                f'<circle cx="{svg.number(x)}" cy="{svg.number(y)}" r="2.4" fill="{svg.COLOURS[0]}" opacity=".6"/>'
            )
        top = MIDDLE + TALL + 50
    sums = game.totals[at.astype(int)]
    low, high = float(min(sums.min(), 0)), float(max(sums.max(), 1))
    panel = svg.Panel(LEFT, top, PLOT, 110, (0, rounds), (low, high))
    parts += [
        panel.title("Sum of the gain vectors, coordinate by coordinate"),
        *panel.frame(across=True, label="round"),
    ]
    ends = spread_out([panel.y(float(total)) + 4 for total in sums[-1]])
    for place, end in enumerate(ends):
        parts.append(panel.curve(at, sums[:, place], svg.COLOURS[place]))
        parts.append(svg.text(LEFT + PLOT + 6, end, f"coordinate {place}", fill=svg.COLOURS[place]))
    return svg.drawing(name, title, panel.top + panel.height + 38, parts)


def gain_outline(name: str) -> FloatArray:
    """Return the edge of the set of gain vectors: for the ball the ball, for the cube the L1 ball."""
    if name == "cube":
        return np.array([[1, 0], [0, 1], [-1, 0], [0, -1]], float)
    angles = np.linspace(0, 2 * math.pi, 73)
    return np.column_stack([np.cos(angles), np.sin(angles)])


def thumbnail(name: str, title: str, game: Played) -> str:
    """Return a small drawing: the set and the path of the points played."""
    plane = Plane(game.env.decision_set.name, svg.WIDTH / 2)
    return svg.drawing(
        name, title, 2 * MIDDLE - 8, [plane.outline(game.env.decision_set.outline()), *path_of(plane, game)]
    )


def path_of(plane: Plane, game: Played) -> list[str]:
    """Return the path of the points, and the best fixed point."""
    _, moments = thinned(range(len(game.actions)), 4 * moving.FRAMES)
    points = [plane.at(game.actions[int(one)]) for one in moments]
    return [
        svg.line(points, svg.COLOURS[0], width=1.2, opacity=".7"),
        dot(*points[-1]),
        star(*plane.at(best_at(game, -1))),
    ]


def best_at(game: Played, place: int) -> FloatArray:
    """Return the best fixed point for the gain vectors up to a round."""
    return game.env.decision_set.best_point(game.totals[place])  # type: ignore[no-any-return]


def dot(x: float, y: float, **more: str) -> str:
    """Return the point played."""
    extra = "".join(f' {key}="{value}"' for key, value in more.items())
    return f'<circle cx="{svg.number(x)}" cy="{svg.number(y)}" r="5" fill="{svg.COLOURS[0]}"{extra}/>'


def star(x: float, y: float, **more: str) -> str:
    """Return the best fixed point, a ring that does not hide what is played there."""
    extra = "".join(f' {key}="{value}"' for key, value in more.items())
    ring = f'cx="{svg.number(x)}" cy="{svg.number(y)}" r="8" fill="none" stroke="{svg.COLOURS[5]}" stroke-width="2"'
    return f"<circle {ring}{extra}/>"


def a_game_goes_by(name: str, title: str, games: list[Played]) -> str:
    """Return the moving drawing: the point played, the best point so far, and the regret."""
    game, rounds = games[0], len(games[0].regret)
    plane, decisions = Plane(game.env.decision_set.name, 150), game.env.decision_set
    ends = np.linspace(0, rounds, moving.FRAMES + 1).round().astype(int)[1:]
    moments = np.linspace(0, rounds, 4 * moving.FRAMES + 1).round().astype(int)[1:] - 1
    points = [plane.at(game.actions[one]) for one in moments]
    parts = [plane.outline(decisions.outline()), *plane.labels()]
    rules, frames = sweep_style(name)
    for frame in range(moving.FRAMES):
        piece = points[max(4 * frame - 1, 0) : 4 * frame + 4]
        parts.append(svg.line(piece, svg.COLOURS[0], width=1.2, opacity=".7", **{"class": f"f{frame}"}))
        frames.append(keep_opacity(moving.appearing(name, frame), ".7"))
        rules.append(moving.moves(name, f".f{frame}", f"{name}-from-{frame}", steps=True))
    bests = [plane.at(best_at(game, int(end))) for end in ends]
    for kind, draw, places in (("best", star, bests), ("point", dot, points[3::4])):
        parts.append(draw(*places[-1], **{"class": kind}))
        steps = [((k + 1) / moving.FRAMES, shift(place, places[-1])) for k, place in enumerate(places)]
        frames.append(moving.keyframes(f"{name}-{kind}", [(0.0, steps[0][1]), *steps]))
        rules.append(moving.moves(name, f".{kind}", f"{name}-{kind}"))
    player = game.label.partition(" (")[0]
    for place, (mark, words) in enumerate([(dot, f"played by {player}"), (star, "best fixed point so far")]):
        parts += [mark(306, 40 + 24 * place), svg.text(320, 44 + 24 * place, words)]
    top = 2 * MIDDLE + 36 + 15 * (len(games) - 1)
    regrets = [thinned(one.regret, 160)[1] for one in games]
    at, _ = thinned(game.regret, 160)
    least, most = min(float(one.min()) for one in regrets), max(float(one.max()) for one in regrets)
    panel = svg.Panel(LEFT, top + 8, PLOT, 104, (0, rounds), (min(0.0, least), most * 1.05 + 1e-9))
    parts += regret_legend(games, top - 15 * (len(games) - 1) - 4)
    parts += panel.frame(across=True, label="round")
    bottom = panel.top + panel.height
    parts += [*swept_parts(name, regret_lines(at, panel, regrets), bottom), cursor(bottom, panel.top)]
    return svg.drawing(name, title, bottom + 38, parts, moving.only_if_wanted(name, rules, frames))


def shift(place: tuple[float, float], end: tuple[float, float]) -> str:
    """Return how far a mark that is drawn at its end is from there."""
    return f"transform:translate({svg.number(place[0] - end[0])}px,{svg.number(place[1] - end[1])}px)"


def keep_opacity(animation: str, opacity: str) -> str:
    """Return an animation that ends at an opacity below 1."""
    return animation.replace("opacity:1", f"opacity:{opacity}")
