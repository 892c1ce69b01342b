"""A picture of a game on a graph: what was played and what was seen."""

from typing import Any

import numpy as np

from dp_bandit_envs.graphs.feedback_graph import FeedbackGraph
from dp_bandit_envs.optional import require
from dp_bandit_envs.protocols import FloatArray


class GraphPicture:
    """Counts for each arm how often it was played and observed, and draws the counts on the feedback graph.

    Args:
        graph: The graph of the first round.
    """

    def __init__(self, graph: FeedbackGraph) -> None:
        self._plays = np.zeros(graph.n_arms, np.int64)
        self._seen = np.zeros(graph.n_arms, np.int64)
        self._graph = graph
        self._last: int | None = None
        self._places: FloatArray | None = None

    def add(self, arm: int, graph: FeedbackGraph) -> None:
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
        require("matplotlib", extra="plots")
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.collections import LineCollection
        from matplotlib.figure import Figure

        feedback = self._graph
        rows = np.repeat(np.arange(len(self._plays)), np.diff(feedback.starts))
        ends = feedback.revealed
        rows, ends = rows[rows != ends], ends[rows != ends]
        if self._places is None:
            nx = require("networkx", extra="graphs")
            graph = nx.empty_graph(len(self._plays))
            graph.add_edges_from(zip(rows.tolist(), ends.tolist(), strict=True))
            # With more nodes networkx would need scipy, and the picture would show little more than a cloud.
            placed = nx.spring_layout(graph, seed=1) if len(graph) <= 300 else nx.circular_layout(graph)
            self._places = np.array([placed[arm] for arm in range(len(self._plays))])
        places = self._places
        figure = Figure(figsize=(6.4, 5.2), dpi=100, layout="constrained")
        canvas = FigureCanvasAgg(figure)
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
        dots = axes.scatter(places[:, 0], places[:, 1], s=sizes, c=self._seen, cmap="viridis", zorder=3)
        if self._last is not None:
            arm, seen = self._last, feedback.revealed_by(self._last)
            axes.scatter(
                places[seen, 0], places[seen, 1], s=sizes[seen] + 90, facecolors="none", edgecolors="#E69F00", zorder=2
            )
            axes.scatter(
                places[[arm], 0],
                places[[arm], 1],
                s=sizes[[arm]] + 190,
                facecolors="none",
                edgecolors="#D55E00",
                zorder=2,
            )
        if len(places) <= 100:
            bright = self._seen > 0.6 * self._seen.max()
            for number, (x, y) in enumerate(places):
                colour = "black" if bright[number] else "white"
                axes.annotate(str(number), (x, y), ha="center", va="center", fontsize=6, color=colour, zorder=4)
        figure.colorbar(dots, ax=axes, label="rounds seen", shrink=0.7)
        arrows = "; arrows: reveals" if feedback.directed else ""
        axes.set_title(f"{title}\nsize: rounds played; rings: played (red) and seen (orange) last{arrows}", fontsize=9)
        axes.axis("off")
        canvas.draw()  # type: ignore[no-untyped-call]
        return np.asarray(canvas.buffer_rgba())[..., :3].copy()  # type: ignore[no-untyped-call]
