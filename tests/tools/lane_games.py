"""The same trials side by side and one at a time, with what is left of both at their ends."""

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np

from dp_bandit_envs.algorithms import Algorithm
from dp_bandit_envs.compiling.layout import STREAM_WORDS, Parts
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.simulation.compiled_game import make_plan
from dp_bandit_envs.simulation.engines import CompiledTrials, SingleGame
from dp_bandit_envs.simulation.lanes import LaneLoop, Lanes, LaneTrials
from dp_bandit_envs.simulation.results import Column
from dp_bandit_envs.simulation.stages import Progress


class WatchedLanes(LaneTrials):
    """Keeps the lanes of each block."""

    def _lanes(self, trials: range, gains: Any, loops: list[LaneLoop]) -> Lanes:
        made = super()._lanes(trials, gains, loops)
        vars(self).setdefault("blocks", []).append(made)
        return made


class WatchedTrials(CompiledTrials):
    """Keeps the games of each trial."""

    def _play(self, trial: int, games: list[SingleGame], *arguments: Any) -> Any:
        vars(self).setdefault("trials", {})[trial] = dict(zip(self.plans, games, strict=True))
        return super()._play(trial, games, *arguments)


@dataclasses.dataclass
class Ends:
    """The columns of each trial by algorithm, and all that a game leaves behind: bits by name."""

    columns: list[dict[str, Column]]
    games: list[dict[str, dict[str, bytes]]]


def plans_of(env: BanditEnv, algorithms: list[Algorithm], checkpoints: Any) -> dict[str, Any]:
    """Return the plans by the algorithms' names."""
    return {algorithm.name: make_plan(algorithm, env, checkpoints=checkpoints) for algorithm in algorithms}


def side_by_side(env: BanditEnv, algorithms: list[Algorithm], seed: int, trials: range, checkpoints: Any) -> Ends:
    """Play trials in lanes."""
    work = WatchedLanes(env.unwrapped.adversary, plans_of(env, algorithms, checkpoints), seed, np.asarray(checkpoints))
    columns = by_trial(work.run_all(trials))
    blocks = vars(work)["blocks"]
    size = work.at_once
    games = [
        {
            name: _of_lane(loop, block[:, place % size])
            for name, loop, block in zip(work.plans, work._loops, blocks[place // size].algorithms, strict=True)
        }
        for place in range(len(trials))
    ]
    return Ends(columns, games)


def one_at_a_time(env: BanditEnv, algorithms: list[Algorithm], seed: int, trials: range, checkpoints: Any) -> Ends:
    """Play trials in the scalar loop."""
    work = WatchedTrials(env.unwrapped.adversary, plans_of(env, algorithms, checkpoints), seed, np.asarray(checkpoints))
    columns = by_trial(work.run_all(trials))
    games = vars(work)["trials"]
    return Ends(columns, [{name: _of_single(game) for name, game in games[trial].items()} for trial in trials])


def by_trial(columns: Mapping[str, Column]) -> list[dict[str, Column]]:
    """Return the results of each trial alone."""
    trials = {len(part) for column in columns.values() for part in column if part is not None}
    assert len(trials) == 1
    return [
        {name: Column(*(None if part is None else part[place] for part in column)) for name, column in columns.items()}
        for place in range(*trials)
    ]


def assert_same_ends(one: Ends, other: Ends) -> None:
    """Compare to the last bit."""
    assert len(one.columns) == len(other.columns)
    for trial, (left, right) in enumerate(zip(one.columns, other.columns, strict=True)):
        assert list(left) == list(right)
        for name in left:
            assert_same_columns(left[name], right[name], (trial, name))
    for trial, (mine, others) in enumerate(zip(one.games, other.games, strict=True)):
        for name in mine:
            assert mine[name].keys() == others[name].keys()
            for part, bits in mine[name].items():
                assert bits == others[name][part], (trial, name, part)


def assert_same_columns(one: Column, other: Column, where: Any = None) -> None:
    """Compare the results of one game to the last bit."""
    for field, left, right in zip(Column._fields, one, other, strict=True):
        assert (left is None) == (right is None), (where, field)
        if left is not None:
            assert left.dtype == right.dtype and left.shape == right.shape, (where, field)
            assert left.tobytes() == right.tobytes(), (where, field)


def _of_lane(loop: LaneLoop, words: Any) -> dict[str, bytes]:
    """Return the bits of all parts of one game of a block."""
    game = _decoded(loop._layout.form, words)
    return _bits(game.state, game.states[:-1], game.streams, game.progress, tuple(game.own))


def _decoded(form: Any, words: Any) -> Any:
    """Return what the words of a game mean, nested as the form is."""
    if isinstance(form, Parts):
        inner = [_decoded(part, words) for part in form.inner]
        return form.kind(*inner) if form.kind else tuple(inner)
    if form.kind == "variable":
        return np.zeros(form.size, form.dtype)
    size = {"array": form.size, "slot": 2, "stream": STREAM_WORDS, "number": 1}[form.kind]
    found = words[form.row : form.row + size].copy()
    if form.kind == "stream":
        return found
    if form.kind != "slot":
        return found.view(form.dtype)
    dense = np.zeros(form.size, form.dtype)
    dense[found[0]] = found[1:].view(form.dtype)[0]
    return dense


def _of_single(game: SingleGame) -> dict[str, bytes]:
    """Return the bits of all parts of one game of the scalar loop."""
    _, arm, run, _, switches, _ = game.progress.counters
    streams = tuple(stream.bit_generator.state["state"]["state"] for stream in game.streams)
    return _bits(game.state, game.states, streams, game.progress, (arm, run, switches))


def _bits(state: Any, states: Any, streams: Any, progress: Progress, own: Any) -> dict[str, bytes]:
    # Counters are kept in another way, and a history is of payoff functions only.
    shown = tuple(progress)[1:-1]
    parts = {"state": state, "states": states, "streams": streams, "progress": shown, "own": own}
    return {f"{name}[{place}]": word for name, part in parts.items() for place, word in enumerate(_words(part))}


def _words(part: Any) -> list[bytes]:
    """Return the bits of each array or number of nested tuples, integers and truth values as int64."""
    if isinstance(part, tuple):
        return [word for inner in part for word in _words(inner)]
    array = np.atleast_1d(np.asarray(part))
    return [array.astype(np.float64 if array.dtype.kind == "f" else np.int64).tobytes()]
