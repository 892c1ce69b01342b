"""A simple picture of a game so far: the plays and the gains of each arm, and regret over time."""

from collections.abc import Callable
from typing import Any

import numpy as np

from dp_bandit_envs.optional import require
from dp_bandit_envs.protocols import FloatArray

POINTS = 200
"""How many points the curve keeps, whatever the horizon."""


class Scoreboard:
    """Counts what the picture shows; memory does not grow with the horizon.

    Args:
        n_arms: Number of arms.
        horizon: Number of rounds.
        regret: Whether there is a curve of regret; above a privacy boundary there is none.
    """

    def __init__(self, n_arms: int, horizon: int, *, regret: bool = False) -> None:
        self._horizon = horizon
        self._has_regret = regret
        self._every = -(-horizon // POINTS)
        self._plays = np.zeros(n_arms, np.int64)
        self._gains = np.zeros(n_arms)
        self._curve: list[tuple[int, float]] = [(0, 0.0)]
        self._round = 0

    def add(
        self,
        round_: int,
        arm: int,
        gain: float,
        regret: Callable[[], float] | None = None,
        rounds: int = 1,
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
        if mode == "ansi":
            return self._text(title, total)
        return self._picture(title, total)

    def _text(self, title: str, total: str) -> str:
        widest = max(int(self._plays.max()), 1)
        lines = [title]
        for arm, (plays, gain) in enumerate(zip(self._plays, self._gains, strict=True)):
            bar = "█" * round(30 * plays / widest)
            lines.append(f"arm {arm:<3d} plays {plays:>9,}  {total} {gain:>11,.2f}  {bar}")
        if self._has_regret:
            heights = "▁▂▃▄▅▆▇█"
            values = np.array([value for _, value in self._curve])
            low, high = values.min(), values.max()
            shape = np.zeros(len(values)) if high == low else (values - low) / (high - low)
            picked = shape[np.linspace(0, len(shape) - 1, min(60, len(shape))).astype(int)]
            lines.append(f"external regret {values[-1]:,.2f}  " + "".join(heights[round(7 * v)] for v in picked))
        return "\n".join(lines) + "\n"

    def _picture(self, title: str, total: str) -> FloatArray:
        require("matplotlib", extra="plots")
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

        panels = 3 if self._has_regret else 2
        figure = Figure(figsize=(3.2 * panels, 3.2), dpi=100, layout="constrained")
        canvas = FigureCanvasAgg(figure)
        axes = figure.subplots(1, panels)
        arms = np.arange(len(self._plays))
        for axis, values, label, colour in (
            (axes[0], self._plays, "rounds played", "#0072B2"),
            (axes[1], self._gains, f"{total} so far", "#009E73"),
        ):
            axis.bar(arms, values, color=colour)
            axis.set_xlabel("arm")
            axis.set_ylabel(label)
            if len(arms) <= 20:
                axis.set_xticks(arms)
        if panels == 3:
            rounds, regret = zip(*self._curve, strict=True)
            axes[2].plot(rounds, regret, color="#D55E00")
            axes[2].set_xlabel("round")
            axes[2].set_ylabel("external regret (gain)")
            axes[2].set_xlim(0, self._horizon)
        figure.suptitle(title)
        canvas.draw()  # type: ignore[no-untyped-call]
        return np.asarray(canvas.buffer_rgba())[..., :3].copy()  # type: ignore[no-untyped-call]
