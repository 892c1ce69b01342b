"""Frames and text of a game: a scoreboard of arms, the points of a set, a feedback graph."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from dp_bandit_envs.checks import require
from dp_bandit_envs.protocols import FloatArray

if TYPE_CHECKING:
    from dp_bandit_envs.decisions import DecisionSet
    from dp_bandit_envs.graphs import FeedbackGraph

KEPT: Final = 200
"""How many points of a curve or a path are kept, whatever the horizon."""
BLUE, GREEN, RED, ORANGE, GREY = "#0072B2", "#009E73", "#D55E00", "#E69F00", "#808080"
BEST: Final = {"color": RED, "markersize": 13, "markerfacecolor": "none", "markeredgewidth": 1.5, "clip_on": False}
"""A hollow star, which does not hide the point played there."""


class _Board:
    """Base class of scoreboards of arms and of points: the round, the best play, the curve of regret."""

    _text: Callable[[str, str], str]
    _draw: Callable[[Any, Any, str], None]
    """Draws the board's own part on two axes."""

    def __init__(self, horizon: int, best: Callable[[], Any] | None) -> None:
        self._horizon, self._best = horizon, best
        self._every = -(-horizon // KEPT)
        self._curve: list[tuple[int, float]] = [(0, 0.0)]
        self._round = 0

    def render(self, mode: str | None, *, title: str, total: str) -> Any:
        """Draw; `total` names the summed quantity, such as "gain" or "released gain"."""
        title = f"{title}, round {self._round:,} of {self._horizon:,}"
        return self._text(title, total) if mode == "ansi" else self._frame(title, total)

    def _is_due(self, round_: int) -> bool:
        """Whether the curve needs a point, after the rounds from `self._round` up to this one."""
        return round_ // self._every > self._round // self._every or round_ == self._horizon

    def _best_so_far(self) -> Any:
        return self._best() if self._best is not None and self._round > 0 else None

    def _frame(self, title: str, total: str) -> FloatArray:
        panels = 2 if self._best is None else 3
        figure = _figure(3.2 * panels, 3.6)
        axes = figure.subplots(1, panels)
        self._draw(axes[0], axes[1], total)
        if self._best is not None:
            rounds, regret = zip(*self._curve, strict=True)
            axes[2].plot(rounds, regret, color=RED)
            axes[2].set(xlabel="round", ylabel="external regret (gain)", xlim=(0, self._horizon))
        for axis in axes[:2]:
            axis.locator_params(axis="x", integer=True)
        figure.suptitle(title)
        handles, labels = axes[0].get_legend_handles_labels()
        if labels:
            figure.legend(handles, labels, loc="outside lower center", ncols=3, fontsize="small", frameon=False)
        return _pixels(figure)


class Scoreboard(_Board):
    """Shows the plays and the gains of each arm, the best arm, and regret over time; memory stays the same.

    Args:
        n_arms: Number of arms.
        horizon: Number of rounds.
        best: Returns the best fixed arm; None above a privacy boundary, where there is no curve of regret.
    """

    def __init__(self, n_arms: int, horizon: int, best: Callable[[], int] | None = None) -> None:
        super().__init__(horizon, best)
        self._plays = np.zeros(n_arms, np.int64)
        self._gains = np.zeros(n_arms)

    def add(
        self, round_: int, arm: int, gain: float, regret: Callable[[], float] | None = None, rounds: int = 1
    ) -> None:
        """Record that `arm` collected `gain` in `rounds` rounds up to `round_`; `regret` is called when it is drawn."""
        if regret is not None and self._is_due(round_):
            self._curve.append((round_, regret()))
        self._round = round_
        self._plays[arm] += rounds
        self._gains[arm] += gain

    def show_totals(self, totals: FloatArray) -> None:
        """Show these totals, shape `(n_arms,)`, instead of the accumulated totals."""
        self._gains = np.array(totals, dtype=float)

    def _text(self, title: str, total: str) -> str:
        widest, best = max(int(self._plays.max()), 1), self._best_so_far()
        lines = [title]
        for arm, (plays, gain) in enumerate(zip(self._plays, self._gains, strict=True)):
            bar = "█" * round(30 * plays / widest)
            lines.append(f"arm {arm:<3d} plays {plays:>9,}  {total} {gain:>11,.2f}  {bar}")
        if best is not None:
            lines.append(f"best fixed arm so far: arm {best}")
        if self._best is not None:
            heights = "▁▂▃▄▅▆▇█"
            values = np.array([value for _, value in self._curve])
            low, high = values.min(), values.max()
            shape = np.zeros(len(values)) if high == low else (values - low) / (high - low)
            picked = shape[np.linspace(0, len(shape) - 1, min(60, len(shape))).astype(int)]
            lines.append(f"external regret {values[-1]:,.2f}  " + "".join(heights[round(7 * v)] for v in picked))
        return "\n".join(lines) + "\n"

    def _draw(self, left: Any, right: Any, total: str) -> None:
        best = self._best_so_far()
        for axis, values, label, colour in (
            (left, self._plays, "rounds played", BLUE),
            (right, self._gains, f"{total} so far", GREEN),
        ):
            axis.bar(np.arange(len(values)), values, color=colour)
            axis.set(xlabel="arm", ylabel=label)
            if best is not None:
                axis.plot(best, values[best], "*", label="best fixed arm so far", **BEST)


class PointBoard(_Board):
    """Shows the last points played, the best point, and regret over time, with the methods of `Scoreboard`.

    Args:
        decision_set: The set.
        horizon: Number of rounds.
        point: Returns the point played last.
        best: Returns the best fixed point; None above a privacy boundary.
    """

    def __init__(
        self,
        decision_set: "DecisionSet",
        horizon: int,
        point: Callable[[], Sequence[float] | None],
        best: Callable[[], FloatArray] | None = None,
    ) -> None:
        super().__init__(horizon, best)
        self._set, self._point = decision_set, point
        self._path: list[FloatArray] = []
        self._total = 0.0

    def add(
        self, round_: int, arm: int, gain: float, regret: Callable[[], float] | None = None, rounds: int = 1
    ) -> None:
        """Record a step up to `round_` that collected `gain`; `regret` is called when the curve needs a point."""
        if self._is_due(round_) or not self._path:
            self._path.append(np.array(self._point()))
            if regret is not None:
                self._curve.append((round_, regret()))
        self._round = round_
        self._total += gain

    def show_totals(self, totals: FloatArray) -> None:
        """Ignore released sums: the picture shows points."""

    def _text(self, title: str, total: str) -> str:
        point, best = self._point(), self._best_so_far()
        coordinates = [] if point is None else [*point]
        largest = max(map(abs, [*coordinates, 1e-12]))
        lines = [title]
        for index, coordinate in enumerate(coordinates):
            bar = "█" * round(20 * abs(coordinate) / largest)
            ideal = "" if best is None else f"  best {best[index]:+.3f}"
            lines.append(f"coordinate {index:<3d} {coordinate:+.3f}{ideal}  {bar}")
        lines.append(f"{total} {self._total:,.2f}")
        if self._best is not None:
            lines.append(f"external regret {self._curve[-1][1]:,.2f}")
        return "\n".join(lines) + "\n"

    def _draw(self, left: Any, right: Any, total: str) -> None:
        """Draw the path in the first two coordinates of the set, and the last and the best point in all coordinates."""
        point, best = self._point(), self._best_so_far()
        places, second = np.arange(self._set.dimension), min(1, self._set.dimension - 1)
        left.fill(*self._set.outline().T, facecolor="#F0F0F0", edgecolor=GREY, zorder=0)
        if self._path:
            path = np.array(self._path)[:, [0, second]].T
            left.plot(path[0], path[1], color=BLUE, linewidth=0.8, alpha=0.6, label="points played")
            left.plot(*path[:, -1], "o", color=BLUE, markersize=5, label="point played last")
        if point is not None:
            right.bar(places, point, color=BLUE, alpha=0.8)
        if best is not None:
            left.plot(best[0], best[second], "*", label="best fixed point so far", **BEST)
            right.hlines(best, places - 0.4, places + 0.4, color=RED, linewidth=2)
        right.axhline(0, color=GREY, linewidth=0.8, zorder=0)
        left.set(xlabel="coordinate 0", ylabel="coordinate 1", aspect="equal")
        limits = {"xlim": (-0.6, len(places) - 0.4), "ylim": (self._set.low - 0.05, self._set.high + 0.05)}
        right.set(xlabel="coordinate", ylabel="value of the coordinate", **limits)


class GraphPicture:
    """Counts plays and observations of each arm, and draws the counts on the feedback graph.

    Args:
        graph: The graph of the first round.
    """

    def __init__(self, graph: "FeedbackGraph") -> None:
        self._plays = np.zeros(graph.n_arms, np.int64)
        self._seen = np.zeros(graph.n_arms, np.int64)
        self._graph = graph
        self._last: int | None = None
        self._positions: FloatArray | None = None

    def add(self, arm: int, graph: "FeedbackGraph") -> None:
        """Count that `arm` was played on `graph`."""
        self._plays[arm] += 1
        self._seen[graph.revealed_by(arm)] += 1
        self._graph, self._last = graph, arm

    def render(self, mode: str | None, title: str, regret: float) -> Any:
        """Draw the graph of the last round: size for plays, colour for observations, edges for the last round."""
        if mode != "ansi":
            return self._frame(f"{title}, external regret {regret:,.1f}")
        lines = [title]
        for arm, (plays, seen) in enumerate(zip(self._plays, self._seen, strict=True)):
            row = self._graph.revealed_by(arm)
            reveals = " ".join(map(str, row[:12])) + (" ..." if len(row) > 12 else "")
            name = "" if self._graph.names is None else f"  {self._graph.names[arm]}"
            lines.append(f"arm {arm:<4d} plays {plays:>8,}  seen {seen:>8,}  reveals {reveals}{name}")
        return "\n".join([*lines, f"external regret {regret:,.2f}"]) + "\n"

    def _frame(self, title: str) -> FloatArray:
        graph, n_arms = self._graph, len(self._plays)
        pairs = np.stack([np.repeat(np.arange(n_arms), np.diff(graph.starts)), graph.revealed], axis=1)
        pairs = pairs[pairs[:, 0] != pairs[:, 1]]
        if self._positions is None:
            nx = require("networkx", extra="graphs")
            drawn = nx.empty_graph(n_arms)
            drawn.add_edges_from(pairs.tolist())
            # With more nodes networkx would need scipy, and the picture would show little more than a cloud.
            placed = nx.spring_layout(drawn, seed=1) if n_arms <= 300 else nx.circular_layout(drawn)
            self._positions = np.array([placed[arm] for arm in range(n_arms)])
        positions = self._positions
        figure = _figure(6.4, 5.2)
        axes = figure.subplots()
        # Arrow heads end at the edge of a dot of medium size; without them arrows are lines.
        start, way = positions[pairs[:, 0]], positions[pairs[:, 1]] - positions[pairs[:, 0]]
        heads = {"headwidth": 6} if graph.directed else {"headwidth": 1, "headlength": 0, "headaxislength": 0}
        units = {"angles": "xy", "scale_units": "xy", "scale": 1, "width": 0.003}
        axes.quiver(*start.T, *((0.93 if graph.directed else 1) * way).T, color="#AAAAAA", **units, **heads)
        rings = np.full(n_arms, "none", dtype=object)
        if self._last is not None:
            rings[graph.revealed_by(self._last)], rings[self._last] = ORANGE, RED
        sizes = 120 + 500 * self._plays / max(int(self._plays.sum()), 1)
        dots = axes.scatter(
            *positions.T, s=sizes, c=self._seen, cmap="summer_r", edgecolors=rings, linewidths=3, zorder=3
        )
        for arm, position in enumerate(positions if n_arms <= 100 else ()):
            axes.annotate(str(arm), position, ha="center", va="center", fontsize=7, zorder=4)
        figure.colorbar(dots, ax=axes, label="rounds seen", shrink=0.7)
        arrows = "; arrows: reveals" if graph.directed else ""
        axes.set_title(f"{title}\nsize: rounds played; edge: played (red) and seen (orange) last{arrows}", fontsize=9)
        axes.axis("off")
        return _pixels(figure)


def _figure(width: float, height: float) -> Any:
    """Return an off-screen figure of this size in inches."""
    require("matplotlib", extra="plots")
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), dpi=100, layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def _pixels(figure: Any) -> FloatArray:
    figure.canvas.draw()
    return np.asarray(figure.canvas.buffer_rgba())[..., :3].copy()
