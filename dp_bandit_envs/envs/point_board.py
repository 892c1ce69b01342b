"""A picture of a game of points: the last points played in their set, the best one, and regret over time."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dp_bandit_envs.decisions import DecisionSet
from dp_bandit_envs.optional import require
from dp_bandit_envs.protocols import FloatArray

KEPT = 200
"""How many points of the path and of the curve are kept, whatever the horizon."""

BEST = {"color": "#D55E00", "markersize": 13, "markerfacecolor": "none", "markeredgewidth": 1.5, "clip_on": False}
"""A hollow star, which does not hide the point played there."""


class PointBoard:
    """Keeps what the picture shows; memory does not grow with the horizon.

    Args:
        decision_set: The set.
        horizon: Number of rounds.
        point: Returns the point played last.
        best: Returns the best fixed point so far; above a privacy boundary there is none.
    """

    def __init__(
        self,
        decision_set: DecisionSet,
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
        if mode == "ansi":
            return self._text(title, total)
        return self._picture(title)

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
        require("matplotlib", extra="plots")
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

        panels = 2 if self._best is None else 3
        figure = Figure(figsize=(3.4 * panels, 3.8), dpi=100, layout="constrained")
        figure.get_layout_engine().set(w_pad=0.12, h_pad=0.08)  # type: ignore[union-attr, call-arg]
        canvas = FigureCanvasAgg(figure)
        axes = figure.subplots(1, panels)
        self._draw_path(axes[0])
        self._draw_coordinates(axes[1])
        if panels == 3:
            rounds, regret = zip(*self._curve, strict=True)
            axes[2].plot(rounds, regret, color="#D55E00")
            axes[2].set(xlabel="round", ylabel="external regret (gain)", xlim=(0, self._horizon))
        figure.suptitle(title)
        handles, labels = axes[0].get_legend_handles_labels()
        if labels:
            figure.legend(handles, labels, loc="outside lower center", ncols=3, fontsize="small", frameon=False)
        canvas.draw()  # type: ignore[no-untyped-call]
        return np.asarray(canvas.buffer_rgba())[..., :3].copy()  # type: ignore[no-untyped-call]

    def _draw_path(self, axis: Any) -> None:
        """Draw the first two coordinates of the path inside the set's outline."""
        outline = self._set.outline()
        axis.fill(outline[:, 0], outline[:, 1], facecolor="#F0F0F0", edgecolor="#808080", zorder=0)
        if self._path:
            path = np.array(self._path)[:, :2] if self._set.dimension > 1 else np.array(self._path)[:, [0, 0]]
            axis.plot(path[:, 0], path[:, 1], color="#0072B2", linewidth=0.8, alpha=0.6, label="points played")
            axis.plot(*path[-1], "o", markersize=5, color="#0072B2", label="point played last")
        if self._best is not None:
            best = self._best()
            axis.plot(best[0], best[min(1, len(best) - 1)], "*", label="best fixed point so far", **BEST)
        axis.set(xlabel="coordinate 0", ylabel="coordinate 1", aspect="equal")

    def _draw_coordinates(self, axis: Any) -> None:
        """Draw all coordinates of the last point as bars, and those of the best point as lines across them."""
        point = self._point()
        places = np.arange(self._set.dimension)
        if point is not None:
            axis.bar(places, point, color="#0072B2", alpha=0.8)
        if self._best is not None:
            axis.hlines(self._best(), places - 0.4, places + 0.4, color="#D55E00", linewidth=2)
        axis.axhline(0, color="#808080", linewidth=0.8, zorder=0)
        axis.set(
            xlabel="coordinate", ylabel="value of the coordinate", ylim=(self._set.low - 0.05, self._set.high + 0.05)
        )
        if len(places) <= 20:
            axis.set_xticks(places)
