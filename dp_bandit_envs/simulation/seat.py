"""One algorithm in one game of the compiled loop."""

from typing import Any

import numpy as np

from dp_bandit_envs.graphs import FeedbackGraph
from dp_bandit_envs.protocols import FloatArray, IntArray
from dp_bandit_envs.simulation.graph_feedback import Rows
from dp_bandit_envs.simulation.own_errors import explained
from dp_bandit_envs.simulation.payoffs import new_history, read_only
from dp_bandit_envs.simulation.plan import Plan
from dp_bandit_envs.simulation.play_block import ARM, FILLED, Nothing, new_record
from dp_bandit_envs.simulation.points import Points


class Seat:
    """One algorithm in one trial: its state, random streams and record, and the compiled loop that plays it."""

    def __init__(self, plan: Plan, seed: int, trial: int, checkpoints: IntArray) -> None:
        self._plan = plan
        self._block = plan.block
        self.state, self._states, self._progress = plan.first.copy()
        self._streams = plan.streams(seed, trial)
        if plan.payoff is not None:
            # Not part of the copy, which would separate the arms from their read-only view.
            history = new_history(plan.rules.memory, checkpoints, plan.n_arms)
            self._progress = self._progress._replace(history=history)
        self.record = new_record(checkpoints, len(self._progress.pulls))
        self._world: Any = Nothing()
        if plan.decision_set is not None:
            self._world = Points(np.zeros(plan.n_arms), *plan.decision_set.payoffs)

    def play(self, gains: FloatArray, graph: FeedbackGraph | None) -> None:
        """Play one round for each row of `gains`, all with the same graph."""
        # An agent sees a new graph when it next chooses an arm, that is, after the current batch.
        filled = self._progress.counters[FILLED]
        busy = self._plan.rules.batch_size - filled if filled > 0 and graph is not None else 0
        if busy > 0:
            self._call(gains[:busy], graph)
        if len(gains) > busy:
            if graph is not None:
                self.state = self._plan.agent.with_graph(self.state, graph.copy())
            self._call(gains[busy:], graph)

    def compile(self, gains: FloatArray, graph: FeedbackGraph | None) -> None:
        """Compile the loop, or load it from disk, by playing 0 rounds."""
        self._call(gains[:0], graph)

    @property
    def totals_at(self) -> FloatArray | None:
        """At each checkpoint, what each arm would have paid in total; None without a payoff function."""
        return None if self._plan.payoff is None else self._progress.history.totals_at

    def _call(self, gains: FloatArray, graph: FeedbackGraph | None) -> None:
        if self._plan.payoff is not None:
            gains = read_only(gains)
        world = self._world if graph is None else Rows(graph.starts, graph.revealed)
        progress = self._progress
        try:
            self.state = self._block(
                self.state, self._states, world, gains, self._plan.rules, self._streams, progress, self.record
            )
        except Exception as error:
            better = explained(error, self._plan, int(progress.counters[ARM]))
            if better is error:
                raise
            raise better from None
