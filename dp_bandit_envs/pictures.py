"""Pictures of a game so far, as text or as an array: a scoreboard of arms, the points of a set, a feedback graph."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from dp_bandit_envs.optional import require
from dp_bandit_envs.protocols import FloatArray

if TYPE_CHECKING:
    from dp_bandit_envs.decisions import DecisionSet
    from dp_bandit_envs.graphs import FeedbackGraph

KEPT: Final = 200
"""How many points of a curve or a path are kept, whatever the horizon."""
BLUE, GREEN, RED, ORANGE, GREY = "#0072B2", "#009E73", "#D55E00", "#E69F00", "#808080"
BEST: Final = {"color": RED, "markersize": 13, "markerfacecolor": "none", "markeredgewidth": 1.5, "clip_on": False}
"""A hollow star, which does not hide the point played there."""


class Scoreboard:
    """Shows the plays and the gains of each arm, the best arm, and regret over time; memory stays the same.

    Args:
        n_arms: Number of arms.
        horizon: Number of rounds.
        best: Returns the best fixed arm so far; above a privacy boundary there is none, and no curve of regret.
    """

    def __init__(self, n_arms: int, horizon: int, best: Callable[[], int] | None = None) -> None:
        self._horizon = horizon
        self._best = best
        self._every = -(-horizon // KEPT)
        self._plays = np.zeros(n_arms, np.int64)
        self._gains = np.zeros(n_arms)
        self._curve: list[tuple[int, float]] = [(0, 0.0)]
        self._round = 0

    def add(
        self, round_: int, arm: int, gain: float, regret: Callable[[], float] | None = None, rounds: int = 1
    ) -> None:
        """Record that `arm` was played for `rounds` rounds up to `round_` and collected `gain`.

        Args:
            round_: The last of those rounds.
            arm: The arm.
            gain: What to add to the arm's total.
            regret: Called when the curve needs a point.
            rounds: Number of rounds.
        """
        self._round = round_
        self._plays[arm] += rounds
        self._gains[arm] += gain
        if regret is not None and (round_ % self._every == 0 or round_ == self._horizon):
            self._curve.append((round_, regret()))

    def show_totals(self, totals: FloatArray) -> None:
        """Show these totals, shape `(n_arms,)`, instead of those that were added up."""
        self._gains = np.array(totals, dtype=float)

    def render(self, mode: str | None, *, title: str, total: str) -> Any:
        """Draw; `total` says what was added up for each arm, such as "gain" or "released gain"."""
        title = f"{title}, round {self._round:,} of {self._horizon:,}"
        return self._text(title, total) if mode == "ansi" else self._picture(title, total)

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

    def _best_so_far(self) -> int | None:
        return self._best() if self._best is not None and self._round > 0 else None

    def _picture(self, title: str, total: str) -> FloatArray:
        panels = 2 if self._best is None else 3
        figure = _figure(3.2 * panels, 3.2)
        axes = figure.subplots(1, panels)
        arms, best = np.arange(len(self._plays)), self._best_so_far()
        for axis, values, label, colour in (
            (axes[0], self._plays, "rounds played", BLUE),
            (axes[1], self._gains, f"{total} so far", GREEN),
        ):
            axis.bar(arms, values, color=colour)
            axis.set(xlabel="arm", ylabel=label)
            if len(arms) <= 20:
                axis.set_xticks(arms)
            if best is not None:
                axis.plot(best, values[best], "*", label="best fixed arm so far", **BEST)
        if best is not None:
            handles, labels = axes[0].get_legend_handles_labels()
            figure.legend(handles, labels, loc="outside lower center", fontsize="small", frameon=False)
        if panels == 3:
            _draw_regret(axes[2], self._curve, self._horizon)
        figure.suptitle(title)
        return _pixels(figure)


class PointBoard:
    """Shows the last points played in their set, the best one, and regret over time, with the methods of `Scoreboard`.

    Args:
        decision_set: The set.
        horizon: Number of rounds.
        point: Returns the point played last.
        best: Returns the best fixed point so far; above a privacy boundary there is none.
    """

    def __init__(
        self,
        decision_set: "DecisionSet",
        horizon: int,
        point: Callable[[], Sequence[float] | None],
        best: Callable[[], FloatArray] | None = None,
    ) -> None:
        self._set, self._horizon = decision_set, horizon
        self._point, self._best = point, best
        self._every = -(-horizon // KEPT)
        self._path: list[FloatArray] = []
        self._curve: list[tuple[int, float]] = [(0, 0.0)]
        self._round, self._total = 0, 0.0

    def add(
        self, round_: int, arm: int, gain: float, regret: Callable[[], float] | None = None, rounds: int = 1
    ) -> None:
        """Record a step up to `round_` that collected `gain`; `regret` is called when the curve needs a point."""
        due = round_ // self._every > self._round // self._every or round_ == self._horizon or not self._path
        self._round = round_
        self._total += gain
        if due:
            self._path.append(np.array(self._point()))
            if regret is not None:
                self._curve.append((round_, regret()))

    def show_totals(self, totals: FloatArray) -> None:
        """Show nothing of released sums: the picture is of points."""

    def render(self, mode: str | None, *, title: str, total: str) -> Any:
        """Draw; `total` says what was added up, such as "gain" or "released gain"."""
        title = f"{title}, round {self._round:,} of {self._horizon:,}"
        return self._text(title, total) if mode == "ansi" else self._picture(title)

    def _text(self, title: str, total: str) -> str:
        point = self._point()
        lines = [title]
        if point is not None:
            best = None if self._best is None else self._best()
            for place, coordinate in enumerate(point):
                bar = "█" * round(20 * abs(coordinate) / max(abs(one) for one in (*point, 1e-12)))
                ideal = "" if best is None else f"  best {best[place]:+.3f}"
                lines.append(f"coordinate {place:<3d} {coordinate:+.3f}{ideal}  {bar}")
        lines.append(f"{total} {self._total:,.2f}")
        if self._best is not None:
            lines.append(f"external regret {self._curve[-1][1]:,.2f}")
        return "\n".join(lines) + "\n"

    def _picture(self, title: str) -> FloatArray:
        panels = 2 if self._best is None else 3
        figure = _figure(3.4 * panels, 3.8)
        figure.get_layout_engine().set(w_pad=0.12, h_pad=0.08)
        axes = figure.subplots(1, panels)
        self._draw_path(axes[0])
        self._draw_coordinates(axes[1])
        if panels == 3:
            _draw_regret(axes[2], self._curve, self._horizon)
        figure.suptitle(title)
        handles, labels = axes[0].get_legend_handles_labels()
        if labels:
            figure.legend(handles, labels, loc="outside lower center", ncols=3, fontsize="small", frameon=False)
        return _pixels(figure)

    def _draw_path(self, axis: Any) -> None:
        """Draw the first two coordinates of the path inside the set's outline."""
        outline = self._set.outline()
        axis.fill(outline[:, 0], outline[:, 1], facecolor="#F0F0F0", edgecolor=GREY, zorder=0)
        if self._path:
            path = np.array(self._path)[:, :2] if self._set.dimension > 1 else np.array(self._path)[:, [0, 0]]
            axis.plot(path[:, 0], path[:, 1], color=BLUE, linewidth=0.8, alpha=0.6, label="points played")
            axis.plot(*path[-1], "o", markersize=5, color=BLUE, label="point played last")
        if self._best is not None:
            best = self._best()
            axis.plot(best[0], best[min(1, len(best) - 1)], "*", label="best fixed point so far", **BEST)
        axis.set(xlabel="coordinate 0", ylabel="coordinate 1", aspect="equal")

    def _draw_coordinates(self, axis: Any) -> None:
        """Draw all coordinates of the last point as bars, and those of the best point as lines across them."""
        point = self._point()
        places = np.arange(self._set.dimension)
        if point is not None:
            axis.bar(places, point, color=BLUE, alpha=0.8)
        if self._best is not None:
            axis.hlines(self._best(), places - 0.4, places + 0.4, color=RED, linewidth=2)
        axis.axhline(0, color=GREY, linewidth=0.8, zorder=0)
        low, high = self._set.low - 0.05, self._set.high + 0.05
        axis.set(xlabel="coordinate", ylabel="value of the coordinate", ylim=(low, high))
        if len(places) <= 20:
            axis.set_xticks(places)


class GraphPicture:
    """Counts for each arm how often it was played and observed, and draws the counts on the feedback graph.

    Args:
        graph: The graph of the first round.
    """

    def __init__(self, graph: "FeedbackGraph") -> None:
        self._plays = np.zeros(graph.n_arms, np.int64)
        self._seen = np.zeros(graph.n_arms, np.int64)
        self._graph = graph
        self._last: int | None = None
        self._places: FloatArray | None = None

    def add(self, arm: int, graph: "FeedbackGraph") -> None:
        """Count that `arm` was played on `graph`."""
        self._plays[arm] += 1
        self._seen[graph.revealed_by(arm)] += 1
        self._graph, self._last = graph, arm

    def render(self, mode: str | None, title: str, regret: float) -> Any:
        """Draw the graph of the last round: size for plays, colour for observations, rings for the last round."""
        if mode == "ansi":
            lines = [title]
            for arm, (plays, seen) in enumerate(zip(self._plays, self._seen, strict=True)):
                row = self._graph.revealed_by(arm)
                shown = " ".join(map(str, row[:12])) + (" ..." if len(row) > 12 else "")
                name = "" if self._graph.names is None else f"  {self._graph.names[arm]}"
                lines.append(f"arm {arm:<4d} plays {plays:>8,}  seen {seen:>8,}  reveals {shown}{name}")
            return "\n".join([*lines, f"external regret {regret:,.2f}"]) + "\n"
        return self._picture(f"{title}, external regret {regret:,.1f}")

    def _picture(self, title: str) -> FloatArray:
        figure = _figure(6.4, 5.2)
        from matplotlib.collections import LineCollection

        feedback = self._graph
        rows = np.repeat(np.arange(len(self._plays)), np.diff(feedback.starts))
        ends = feedback.revealed
        rows, ends = rows[rows != ends], ends[rows != ends]
        if self._places is None:
            self._places = _placed(len(self._plays), zip(rows.tolist(), ends.tolist(), strict=True))
        places = self._places
        axes = figure.subplots()
        if feedback.directed:
            # Arrow heads end at the edge of a dot of medium size.
            away = 0.93 * (places[ends] - places[rows])
            units: dict[str, Any] = {"angles": "xy", "scale_units": "xy", "scale": 1}
            axes.quiver(*places[rows].T, *away.T, **units, color="#999999", width=0.003, headwidth=6, zorder=1)
        else:
            lines = np.stack([places[rows], places[ends]], axis=1).tolist()
            axes.add_collection(LineCollection(lines, colors="#BBBBBB", zorder=1))
        sizes = 40 + 500 * self._plays / max(int(self._plays.sum()), 1)
        dots = axes.scatter(*places.T, s=sizes, c=self._seen, cmap="viridis", zorder=3)
        if self._last is not None:
            for arms, wider, colour in ((feedback.revealed_by(self._last), 90, ORANGE), ([self._last], 190, RED)):
                rings = {"facecolors": "none", "edgecolors": colour, "zorder": 2}
                axes.scatter(*places[arms].T, s=sizes[arms] + wider, **rings)
        if len(places) <= 100:
            bright = self._seen > 0.6 * self._seen.max()
            for number, (x, y) in enumerate(places):
                colour = "black" if bright[number] else "white"
                axes.annotate(str(number), (x, y), ha="center", va="center", fontsize=6, color=colour, zorder=4)
        figure.colorbar(dots, ax=axes, label="rounds seen", shrink=0.7)
        arrows = "; arrows: reveals" if feedback.directed else ""
        axes.set_title(f"{title}\nsize: rounds played; rings: played (red) and seen (orange) last{arrows}", fontsize=9)
        axes.axis("off")
        return _pixels(figure)


def _placed(n_arms: int, edges: Any) -> FloatArray:
    """Return where to draw each arm of a graph, shape `(n_arms, 2)`."""
    nx = require("networkx", extra="graphs")
    graph = nx.empty_graph(n_arms)
    graph.add_edges_from(edges)
    # With more nodes networkx would need scipy, and the picture would show little more than a cloud.
    placed = nx.spring_layout(graph, seed=1) if n_arms <= 300 else nx.circular_layout(graph)
    return np.array([placed[arm] for arm in range(n_arms)])


def _figure(width: float, height: float) -> Any:
    """Return a figure of this size in inches, which no window shows."""
    require("matplotlib", extra="plots")
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), dpi=100, layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def _pixels(figure: Any) -> FloatArray:
    figure.canvas.draw()
    return np.asarray(figure.canvas.buffer_rgba())[..., :3].copy()


def _draw_regret(axis: Any, curve: list[tuple[int, float]], horizon: int) -> None:
    rounds, regret = zip(*curve, strict=True)
    axis.plot(rounds, regret, color=RED)
    axis.set(xlabel="round", ylabel="external regret (gain)", xlim=(0, horizon))
