"""The same trials side by side and one at a time, with what is left of both at their ends."""

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np

from dp_bandit_envs.algorithms import Algorithm
from dp_bandit_envs.compiling.layout import STREAM_WORDS, Parts
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.simulation.compiled_game import SingleGame, make_compiled_game
from dp_bandit_envs.simulation.engines import LaneEngine, ScalarEngine
from dp_bandit_envs.simulation.lanes import LaneBlock, LaneLoop
from dp_bandit_envs.simulation.results import TrialResults
from dp_bandit_envs.simulation.stages import Progress


class WatchedLanes(LaneEngine):
    """Keeps the lanes of each block."""

    def _block(self, trials: range, gains: Any, loops: list[LaneLoop]) -> LaneBlock:
        made = super()._block(trials, gains, loops)
        vars(self).setdefault("blocks", []).append(made)
        return made


class WatchedTrials(ScalarEngine):
    """Keeps the games of each trial."""

    def _play(self, trial: int, games: list[SingleGame], *arguments: Any) -> Any:
        vars(self).setdefault("trials", {})[trial] = dict(zip(self.games, games, strict=True))
        return super()._play(trial, games, *arguments)


@dataclasses.dataclass
class Ends:
    """The columns of each trial by algorithm, and all that a game leaves behind: bits by name."""

    columns: list[dict[str, TrialResults]]
    games: list[dict[str, dict[str, bytes]]]


def compiled_games_of(env: BanditEnv, algorithms: list[Algorithm], checkpoints: Any) -> dict[str, Any]:
    """Return how they are compiled, by the algorithms' names."""
    return {algorithm.name: make_compiled_game(algorithm, env, checkpoints=checkpoints) for algorithm in algorithms}


def side_by_side(env: BanditEnv, algorithms: list[Algorithm], seed: int, trials: range, checkpoints: Any) -> Ends:
    """Play trials in lanes."""
    games = compiled_games_of(env, algorithms, checkpoints)
    engine = WatchedLanes(env.unwrapped.adversary, games, seed, np.asarray(checkpoints))
    columns = by_trial(engine.run(trials))
    blocks = vars(engine)["blocks"]
    size = engine.at_once
    ends = [
        {
            name: _of_lane(loop, block[:, place % size])
            for name, loop, block in zip(engine.games, engine._loops(), blocks[place // size].algorithms, strict=True)
        }
        for place in range(len(trials))
    ]
    return Ends(columns, ends)


def one_at_a_time(env: BanditEnv, algorithms: list[Algorithm], seed: int, trials: range, checkpoints: Any) -> Ends:
    """Play trials in the scalar loop."""
    games = compiled_games_of(env, algorithms, checkpoints)
    engine = WatchedTrials(env.unwrapped.adversary, games, seed, np.asarray(checkpoints))
    columns = by_trial(engine.run(trials))
    singles = vars(engine)["trials"]
    return Ends(columns, [{name: _of_single(game) for name, game in singles[trial].items()} for trial in trials])


def by_trial(columns: Mapping[str, TrialResults]) -> list[dict[str, TrialResults]]:
    """Return the results of each trial alone."""
    trials = {len(part) for column in columns.values() for part in column if part is not None}
    assert len(trials) == 1
    return [
        {
            name: TrialResults(*(None if part is None else part[place] for part in column))
            for name, column in columns.items()
        }
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


def assert_same_columns(one: TrialResults, other: TrialResults, where: Any = None) -> None:
    """Compare the results of one game to the last bit."""
    for field, left, right in zip(TrialResults._fields, one, other, strict=True):
        assert (left is None) == (right is None), (where, field)
        if left is not None:
            assert left.dtype == right.dtype and left.shape == right.shape, (where, field)
            assert left.tobytes() == right.tobytes(), (where, field)


def _of_lane(loop: LaneLoop, words: Any) -> dict[str, bytes]:
    """Return the bits of all parts of one game of a block."""
    game = _decoded(loop._layout.form, words)
    return _bits(game.state, game.states[:-1], game.streams, game.progress, tuple(game.counters))


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
