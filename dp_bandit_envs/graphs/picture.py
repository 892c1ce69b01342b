"""A picture of a game on a graph: what was played and what was seen."""

from typing import Any

import networkx as nx
import numpy as np

from dp_bandit_envs.graphs.feedback_graph import FeedbackGraph
from dp_bandit_envs.protocols import FloatArray, IntArray


class GraphPicture:
    """Counts plays and sightings on a feedback graph, and draws them.

    Args:
        n_arms: Number of arms.
    """

    def __init__(self, n_arms: int) -> None:
        self._plays = np.zeros(n_arms, np.int64)
        self._seen = np.zeros(n_arms, np.int64)
        self._last: tuple[int, IntArray] | None = None
        self._places: FloatArray | None = None

    def add(self, arm: int, seen: IntArray) -> None:
        """Count that `arm` was played and the arms `seen` were revealed."""
        self._plays[arm] += 1
        self._seen[seen] += 1
        self._last = arm, seen

    def render(self, mode: str | None, graph: FeedbackGraph, title: str, regret: float) -> Any:
        """Draw the graph as it is now: size for plays, colour for sightings, rings for the last round."""
        if mode == "ansi":
            lines = [title]
            for arm, (plays, seen) in enumerate(zip(self._plays, self._seen, strict=True)):
                row = graph.revealed_by(arm)
                shown = " ".join(map(str, row[:12])) + (" ..." if len(row) > 12 else "")
                lines.append(f"arm {arm:<4d} plays {plays:>8,}  seen {seen:>8,}  reveals {shown}")
            return "\n".join([*lines, f"external regret {regret:,.2f}"]) + "\n"
        return self._picture(graph, f"{title}, external regret {regret:,.1f}")

    def _picture(self, feedback: FeedbackGraph, title: str) -> FloatArray:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.collections import LineCollection
        from matplotlib.figure import Figure

        rows = np.repeat(np.arange(len(self._plays)), np.diff(feedback.starts))
        if self._places is None:
            graph = nx.empty_graph(len(self._plays))
            graph.add_edges_from(zip(rows.tolist(), feedback.revealed.tolist(), strict=True))
            # Beyond that many nodes networkx would ask for scipy, and a picture shows hardly more than a cloud.
            placed = nx.spring_layout(graph, seed=1) if len(graph) <= 300 else nx.circular_layout(graph)
            self._places = np.array([placed[arm] for arm in range(len(self._plays))])
        places = self._places
        figure = Figure(figsize=(6.4, 5.2), dpi=100, layout="constrained")
        canvas = FigureCanvasAgg(figure)
        axes = figure.subplots()
        axes.add_collection(
            LineCollection(
                np.stack([places[rows], places[feedback.revealed]], axis=1).tolist(), colors="#BBBBBB", zorder=1
            )
        )
        sizes = 40 + 500 * self._plays / max(int(self._plays.sum()), 1)
        dots = axes.scatter(places[:, 0], places[:, 1], s=sizes, c=self._seen, cmap="viridis", zorder=3)
        if self._last is not None:
            arm, seen = self._last
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
        axes.set_title(f"{title}\nsize: rounds played; rings: played (red) and seen (orange) last", fontsize=9)
        axes.axis("off")
        canvas.draw()  # type: ignore[no-untyped-call]
        return np.asarray(canvas.buffer_rgba())[..., :3].copy()  # type: ignore[no-untyped-call]
