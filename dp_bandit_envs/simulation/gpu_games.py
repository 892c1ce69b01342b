"""Plays simulations on a GPU, one game in a thread: the functions are those of the other engines, and so are the games.

The processor makes each game's first state and random streams, as for `CompiledTrials`, and writes them into one column
of a block; the GPU runs `game_alone.play_games` on all columns for some rounds at a time; the results at checkpoints
come back at the end. Games of one algorithm form a batch, as large as memory and `MOST_GAMES` allow.

If a thread ends early, its game raised an error. The processor then plays that game, and raises the same error here.
"""

import copy
import dataclasses
import functools
import itertools
import operator
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from dp_bandit_envs import checks
from dp_bandit_envs.compiling.compiled import compile_with
from dp_bandit_envs.compiling.cuda_code import Kernel, check_there, kernel_of
from dp_bandit_envs.compiling.layout import Layout
from dp_bandit_envs.errors import DeviceError
from dp_bandit_envs.metrics.regrets import external_regret, policy_regret, pseudo_regret
from dp_bandit_envs.seeding import ADVERSARY, GRAPH, stream
from dp_bandit_envs.simulation.entry import loop_of
from dp_bandit_envs.simulation.game_alone import ROUND, Alone, play_games
from dp_bandit_envs.simulation.graph_feedback import Rows
from dp_bandit_envs.simulation.plan import Plan
from dp_bandit_envs.simulation.play_block import Nothing
from dp_bandit_envs.simulation.prepared import Prepared
from dp_bandit_envs.simulation.tasks import Column, Result, Task
from dp_bandit_envs.simulation.trials import CompiledTrials

DEVICES = ("cpu", "cuda")
ROUNDS_AT_ONCE = 10_000
"""Rounds of one launch, after which Ctrl-C and faults are noticed."""
MOST_GAMES = 2**17
"""Games of a batch: about twice as many as an H200 has threads at a time."""
MOST_BYTES = 2**31
"""The memory of a batch on the GPU."""
MOST_WORDS = 2**15
"""The words of a game: half of the memory that a thread may have of its own."""


def for_device(prepared: Prepared, device: str = "cpu", cluster: Any = None) -> Prepared:
    """Return a simulation for a device, one of `DEVICES`.

    Raises:
        DeviceError: If it is a GPU, and there is none, or it cannot play something.
        ImportError: If it is a GPU, and the extra `gpu` is not installed.
    """
    if checks.one_of("device", device, DEVICES) == "cpu":
        return prepared
    if cluster is not None:
        raise DeviceError("device='cuda' plays on this machine's GPU; received a cluster as well. Give one of them.")
    if prepared.secret:
        raise DeviceError(
            "device='cuda' needs a seed: a secret one would stay in the GPU's memory, which nobody clears. Give a seed,"
            " or use device='cpu'."
        )
    for name, why in prepared.reasons.items():
        raise _refused(name, why)
    for work in prepared.works:
        assert isinstance(work, CompiledTrials)
        for name, plan in work.plans.items():
            if obstacle := _obstacle(work, plan):
                raise _refused(name, obstacle)
    check_there()
    return dataclasses.replace(prepared, on_gpu=True)


def play_on_gpu(tasks: Iterable[Task], machine: Callable[..., Any] | None = None) -> Iterator[Result]:
    """Play tasks; yield the results of each algorithm in each trial.

    Args:
        tasks: Tasks of simulations for a GPU; those of one work that follow each other are played together.
        machine: What plays games, like `kernel`; by default this.
    """
    for work, group in itertools.groupby(tasks, key=lambda task: task.work):
        assert isinstance(work, CompiledTrials)
        players = {name: GpuGames(work, name, plan, machine or kernel) for name, plan in work.plans.items()}
        trials = ((task.owner, trial) for task in group for trial in task.trials)
        at_once = min(player.at_once for player in players.values())
        while batch := list(itertools.islice(trials, at_once)):
            for name, player in players.items():
                columns = player.play([trial for _, trial in batch])
                for (owner, trial), column in zip(batch, columns, strict=True):
                    yield owner, trial, {name: column}


class GpuGames:
    """The games of one algorithm.

    Args:
        work: What it belongs to.
        name: The algorithm's name.
        plan: How it is played.
        machine: Returns what plays games, from the placeholders' functions and the number of words.

    Attributes:
        at_once: The number of games in a batch.
    """

    def __init__(self, work: CompiledTrials, name: str, plan: Plan, machine: Callable[..., Any]) -> None:
        self._work, self._name, self._plan = work, name, plan
        example = self._game(0)
        self._shapes = list(map(np.shape, example.world))
        self._layout = Layout(example, 1)
        if self._layout.rows > MOST_WORDS:
            words = f"a game has {self._layout.rows:,} words, more than the {MOST_WORDS:,} that a thread may have"
            raise _refused(name, words)
        self._kernel = machine(tuple(_parts(work, plan, self._layout).items()), self._layout.rows)
        numbers = len(work.checkpoints) * (plan.n_arms + len(example.progress.pulls) + 2) + self._layout.rows
        self.at_once = max(1, min(MOST_GAMES, MOST_BYTES // (8 * numbers)))

    def play(self, trials: list[int]) -> list[Column]:
        """Play the games of some trials."""
        checkpoints, adversary, kernel = self._work.checkpoints, self._work.adversary, self._kernel
        games, number, n_arms = len(trials), len(checkpoints), self._plan.n_arms
        columns = np.empty((games, self._layout.rows), np.int64)
        plays, means = 0, []
        for place, trial in enumerate(trials):
            game = self._game(trial)
            if any(map(operator.ne, map(np.shape, game.world), self._shapes)):
                raise _refused(self._name, "the feedback graph has another number of edges in each game")
            self._layout.write(columns.T, place, game)
            plays = len(game.progress.pulls)
            means.append(adversary.means_of(game.adversary))
        block = kernel.put(np.ascontiguousarray(columns.T))
        at = kernel.put(checkpoints)
        shapes = ((np.float64, ()), (np.int64, ()), (np.int64, (plays,)), (np.float64, (n_arms,)))
        record = [kernel.put(np.zeros((number, *shape, games), dtype)) for dtype, shape in shapes]
        clock = self._layout.form.inner[Alone._fields.index("progress")].inner[0].row + ROUND
        horizon = int(checkpoints[-1])
        for start in range(0, horizon, ROUNDS_AT_ONCE):
            rounds = min(ROUNDS_AT_ONCE, horizon - start)
            kernel(games, block, rounds, at, *record)
            reached = kernel.get(block[clock])
            if np.any(reached != start + rounds):
                self._raise_fault(trials[int(np.argmax(reached != start + rounds))])
        collected, switches, pulls, totals_at = (np.moveaxis(kernel.get(part), -1, 0).copy() for part in record)
        return [
            Column(
                external_regret(totals, gains),
                policy_regret(totals, gains),
                None if expected is None else pseudo_regret(played, expected),
                gains,
                changes,
                played[-1],
            )
            for totals, gains, changes, played, expected in zip(
                totals_at, collected, switches, pulls, means, strict=True
            )
        ]

    def _game(self, trial: int) -> Alone:
        """Return a game before round 1."""
        work, plan = self._work, self._plan
        coins = stream(work.seed, trial=trial, role=ADVERSARY)
        hidden = work.adversary.by_rounds.first_round_state(coins)
        state, states, progress = plan.first.copy()
        world: Any = Nothing()
        if work.source is not None:
            source = copy.copy(work.source)
            source.begin(stream(work.seed, trial=trial, role=GRAPH))
            state = plan.agent.with_graph(state, source.graph.copy())
            world = Rows(source.graph.starts, source.graph.revealed)
        streams = plan.streams(work.seed, trial)
        gains, totals = np.zeros((1, plan.n_arms)), np.zeros(plan.n_arms)
        return Alone(state, states, world, plan.rules, streams, progress, hidden, coins, gains, totals)

    def _raise_fault(self, trial: int) -> None:
        """Raise what a game raised."""
        dataclasses.replace(self._work, plans={self._name: self._plan}).run_all(range(trial, trial + 1))
        raise DeviceError(
            f"the GPU stopped {self._name} in trial {trial}, which the processor plays to its end: a fault of this"
            " package, of numba-cuda or of the GPU. Use device='cpu', and report it."
        )


@functools.lru_cache(maxsize=64)
def kernel(parts: tuple[tuple[str, Any], ...], words: int) -> Kernel:
    """Return the compiled kernel of an algorithm's games."""
    return Kernel(kernel_of(play_games, dict(parts), words))


def _parts(work: CompiledTrials, plan: Plan, layout: Layout) -> dict[str, Any]:
    """Return what replaces the placeholders of `play_games`."""
    from dp_bandit_envs.compiling.layout_code import reader, writer

    return {
        "game_at": reader(layout.form),
        "keep": writer(layout.form.inner[0]),
        "next_round": work.adversary.by_rounds.next_round,
        "play_block": loop_of(plan.parts),
    }


def _obstacle(work: CompiledTrials, plan: Plan) -> str | None:
    """Return why a GPU cannot play a plan, or None."""
    if plan.decision_set is not None:
        return "its actions are points"
    if plan.payoff is not None:
        return "the adversary has a payoff function"
    if work.adversary.ledger is not None:
        return "the data have a ledger"
    if work.source is not None and work.source.redraw_every is not None:
        return "the feedback graph changes within a game"
    if work.adversary.by_rounds is None:
        return f"{type(work.adversary).__name__} does not draw its gains round by round, by a function `next_round`"
    replaced = {"next_round": work.adversary.by_rounds.next_round, "play_block": loop_of(plan.parts)}
    foreign = compile_with(play_games, replaced).foreign
    if foreign:
        names = ", ".join(function.__name__ for function in foreign)
        return f"a GPU checks no bounds of arrays, and {names} are not this package's functions"
    return None


def _refused(name: str, why: str) -> DeviceError:
    return DeviceError(f"{name} cannot be played on a GPU: {why}. Use device='cpu'.")
