"""One trial at a time: all algorithms of a simulation on the same gains, and many trials side by side."""

import copy
import dataclasses
import functools
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from joblib.parallel import SequentialBackend, ThreadingBackend, get_active_backend
from numpy.typing import NDArray

from dp_bandit_envs.adversaries import Adversary
from dp_bandit_envs.algorithms import Algorithm
from dp_bandit_envs.graphs import FeedbackGraph, GraphSource
from dp_bandit_envs.metrics.regret import external_regret, policy_regret, pseudo_regret
from dp_bandit_envs.protocols import Environment, FloatArray, IntArray
from dp_bandit_envs.seeding import ADVERSARY, AGENT, GRAPH, stream
from dp_bandit_envs.simulation.compiling import compile_with
from dp_bandit_envs.simulation.game import play
from dp_bandit_envs.simulation.graph_feedback import Rows
from dp_bandit_envs.simulation.plan import Plan
from dp_bandit_envs.simulation.play_block import FILLED, Nothing, Streams, add_up, new_progress, new_record

ROUNDS_AT_ONCE = 2**14
NUMBERS_AT_ONCE = 2**18
"""The most gains in a block; with many arms, blocks are shorter."""
LOCAL = (SequentialBackend, ThreadingBackend)


class Column(NamedTuple):
    """What one game leaves behind at the checkpoints, each of shape `(checkpoints,)`, and `pulls` of `(n_arms,)`."""

    external_regret: FloatArray
    policy_regret: FloatArray
    pseudo_regret: FloatArray | None
    collected: FloatArray
    switches: IntArray
    pulls: IntArray


Task = Callable[[int], dict[str, Column]]


@dataclasses.dataclass
class CompiledTrials:
    """Plays one trial of all compiled algorithms on the same gains."""

    adversary: Adversary
    plans: dict[str, Plan]
    seed: int
    checkpoints: IntArray
    source: GraphSource | None = None

    def run(self, trial: int) -> dict[str, Column]:
        """Play one trial."""
        adversary = copy.copy(self.adversary)
        n_arms, horizon, number = adversary.n_arms, adversary.horizon, len(self.checkpoints)
        adversary.begin(stream(self.seed, trial=trial, role=ADVERSARY))
        source = copy.copy(self.source)
        if source is not None:
            source.begin(stream(self.seed, trial=trial, role=GRAPH))
        block = np.empty((min(ROUNDS_AT_ONCE, max(1, NUMBERS_AT_ONCE // n_arms), horizon), n_arms))
        totals, totals_at = _moved(np.zeros(n_arms)), np.zeros((number, n_arms))
        states: dict[str, Any] = {}
        sums: dict[str, Any] = {}
        streams, progress, records = {}, {}, {}
        for name, plan in self.plans.items():
            states[name] = _apart(plan.agent.initial_state(n_arms, plan.steps))
            sums[name] = _apart(plan.sums_state(n_arms))
            roles = (AGENT, *plan.roles)
            streams[name] = Streams(*(stream(self.seed, trial=trial, role=role) for role in roles))
            progress[name] = _apart(new_progress(n_arms))
            records[name] = new_record(self.checkpoints, n_arms)
        count_up = _compiled_add_up()
        for start in range(0, horizon, len(block)):
            gains = block[: horizon - start]
            adversary.fill(gains)
            count_up(gains, totals, start + 1, self.checkpoints, totals_at)
            pieces = list(_pieces(gains, source))
            for name, plan in self.plans.items():
                rest = (plan.rules, streams[name], progress[name], records[name])
                for piece, graph in pieces:
                    rows = Nothing() if graph is None else Rows(graph.starts, graph.revealed)
                    # An agent sees a new graph when it next chooses an arm: after the batch that is being played.
                    filled = progress[name].counters[FILLED]
                    busy = plan.rules.batch_size - filled if filled > 0 and graph is not None else 0
                    if busy > 0:
                        states[name] = plan.block(states[name], sums[name], rows, piece[:busy], *rest)
                    if len(piece) > busy:
                        if graph is not None:
                            states[name] = plan.agent.with_graph(states[name], graph.copy())
                        states[name] = plan.block(states[name], sums[name], rows, piece[busy:], *rest)
        means = adversary.means
        return {
            name: Column(
                external_regret(totals_at, record.collected),
                policy_regret(totals_at, record.collected),
                None if means is None else pseudo_regret(record.pulls, means),
                record.collected,
                record.switches,
                record.pulls[-1],
            )
            for name, record in records.items()
        }


@dataclasses.dataclass
class PlayedTrials:
    """Plays one trial of all other algorithms the standard way."""

    make_env: Callable[[], Environment]
    algorithms: dict[str, Algorithm]
    seed: int
    checkpoints: IntArray

    def run(self, trial: int) -> dict[str, Column]:
        """Play one trial."""
        columns = {}
        at = self.checkpoints - 1
        for name, algorithm in self.algorithms.items():
            env = self.make_env()
            agent = algorithm.agent(sensitivity=env.get_wrapper_attr("sensitivity"))
            game = play(algorithm.wrap(env), agent, seed=self.seed, trial=trial)
            if len(game.arms) < self.checkpoints[-1]:
                raise ValueError(
                    f"every game must have the horizon's {self.checkpoints[-1]} rounds; {name} ended after"
                    f" {len(game.arms)}. Give the environment a shorter horizon instead of a TimeLimit."
                )
            columns[name] = Column(
                game.external_regret[at],
                game.policy_regret[at],
                None if game.pseudo_regret is None else game.pseudo_regret[at],
                game.collected[at],
                game.switches[at],
                np.bincount(game.arms, minlength=env.get_wrapper_attr("n_arms")),
            )
        return columns


def _pieces(gains: FloatArray, source: GraphSource | None) -> Iterator[tuple[FloatArray, FeedbackGraph | None]]:
    """Cut a block of gains where the graph changes; yield each piece with its graph."""
    if source is None:
        yield gains, None
        return
    start = 0
    while start < len(gains):
        left = source.rounds_left
        rounds = len(gains) - start if left is None else min(left, len(gains) - start)
        yield gains[start : start + rounds], source.graph
        source.advance(rounds)
        start += rounds


def spread(run: Task, numbers: Iterable[int], jobs: int, prefer: str) -> Iterator[dict[str, Column]]:
    """Run trials side by side and yield their results in order."""
    backend, _ = get_active_backend(prefer=prefer)
    if jobs == 1 and isinstance(backend, LOCAL):
        yield from map(run, numbers)
    elif prefer == "threads" and isinstance(backend, LOCAL):
        # joblib looks for results every 10 ms only, which is half a trial; its other backends are worth that.
        pool = ThreadPoolExecutor(jobs)
        try:
            yield from pool.map(run, numbers)
        finally:
            pool.shutdown(cancel_futures=True)
    else:
        parallel = Parallel(n_jobs=jobs, prefer=prefer, return_as="generator")
        yield from parallel(delayed(run)(trial) for trial in numbers)


def _apart(arrays: Any) -> Any:
    """Return a NamedTuple with its arrays in memory of their own, so that no two threads write to one cache line."""

    def apart(part: Any) -> Any:
        if isinstance(part, np.ndarray):
            return _moved(part)
        return _apart(part) if isinstance(part, tuple) else part

    return type(arrays)(*map(apart, arrays))


def _moved(array: NDArray[Any]) -> NDArray[Any]:
    room = np.zeros(array.size + 256, array.dtype)
    moved = room[128 : 128 + array.size].reshape(array.shape)
    moved[...] = array
    return moved


@functools.cache
def _compiled_add_up() -> Callable[..., None]:
    return compile_with(add_up, {})
