"""Refuses users' adversaries and mechanisms that draw from other sources than their random stream.

In one trial all algorithms must meet the same gains. An adversary that draws from `np.random` or from its own
generator, or continues its last game, breaks this silently. So before a simulation, two fresh adversaries play min(T,
256) rounds from equal streams, one of them twice. The global generators of Python and NumPy are seeded differently
before each game, and the games must be equal. A mechanism is run on synthetic gains. No recorded data are played. The
check finds accidents, but not all: a part that draws from other sources only after round 256 passes.
"""

import contextlib
import copy
import functools
import random
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final

import numpy as np

from dp_bandit_envs.adversaries import Adversary
from dp_bandit_envs.adversaries.adversary import among
from dp_bandit_envs.algorithms import Algorithm
from dp_bandit_envs.compiling.functions import is_builtin
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.errors import NotRepeatableError
from dp_bandit_envs.privacy.facts import InputFacts
from dp_bandit_envs.privacy.mechanism import Mechanism
from dp_bandit_envs.protocols import Environment
from dp_bandit_envs.seeding import ADVERSARY, stream
from dp_bandit_envs.wrappers import PrivacyBoundary
from dp_bandit_envs.wrappers.layers import layers_of

MOST_ROUNDS: Final = 256
MOST_GAINS: Final = 2**12
"""About the most gains in these rounds, which are fewer with more than 16 arms: some milliseconds."""
_GLOBAL_GENERATORS = threading.RLock()


@contextlib.contextmanager
def _kept_global_generators() -> Iterator[None]:
    with _GLOBAL_GENERATORS:
        pythons, numpys = random.getstate(), np.random.get_state(legacy=False)  # noqa: NPY002
        try:
            yield
        finally:
            random.setstate(pythons)
            np.random.set_state(numpys)  # noqa: NPY002


@_kept_global_generators()
def check_repeatable(
    env: Environment, make_env: Callable[[], Environment], players: Iterable[tuple[Algorithm, Environment]]
) -> str:
    """Raise if a user's adversary or mechanism gives different games for equal streams.

    Args:
        env: The environment inside the players' wrappers; it is not played.
        make_env: Makes another such environment.
        players: The algorithms, each with the environment in its wrappers.

    Returns: Why a part was not checked; empty if all were.

    Raises:
        NotRepeatableError: If games differ; the message names the part.
    """
    unchecked, adversary = "", _adversary(env)
    other = next((part for part in _parts(adversary) if not is_builtin(type(part))), None)
    if other is not None and not _is_recorded(adversary):
        name = type(other).__name__
        fresh = _fresh(adversary, make_env)
        if fresh is None:
            unchecked = f"{name} cannot be copied, so it was not checked whether it draws from its rng only"
        else:
            _require_same([functools.partial(_gains, each) for each in fresh], name, "gains", "begin")
    for player, wrapped in players:
        for index, (mechanism, inputs) in enumerate(_mechanisms(wrapped)):
            if not is_builtin(type(mechanism)):
                fresh_mechanism, _ = _mechanisms(player.wrap(env))[index]
                games = [functools.partial(_releases, each, inputs) for each in (mechanism, fresh_mechanism)]
                _require_same(games, type(mechanism).__name__, "releases or states", "release")
    return unchecked


def _adversary(env: Environment) -> Adversary:
    game = env.unwrapped
    assert isinstance(game, BanditEnv)
    return game.adversary


def _is_recorded(adversary: Adversary) -> bool:
    return adversary.is_real or adversary.ledger is not None or adversary.data_use is not None


def _parts(adversary: Adversary) -> Iterator[Adversary]:
    yield adversary
    for inner in among(vars(adversary).values(), Adversary):
        yield from _parts(inner)


def _fresh(adversary: Adversary, make_env: Callable[[], Environment]) -> tuple[Adversary, Adversary] | None:
    """Return two adversaries for the check's games, or the same one twice if only a copy exists; else None."""
    with contextlib.suppress(Exception):
        first, second = _adversary(make_env()), _adversary(make_env())
        if adversary is not first is not second is not adversary:
            return first, second
    with contextlib.suppress(Exception):
        copied = copy.deepcopy(adversary)
        return copied, copied
    return None


def _mechanisms(env: Environment) -> list[tuple[Mechanism, InputFacts]]:
    return [(layer.mechanism, layer.inputs) for layer in layers_of(env) if isinstance(layer, PrivacyBoundary)]


def _require_same(
    games: Sequence[Callable[[np.random.Generator], Iterator[Any]]], name: str, what: str, method: str
) -> None:
    """Raise if two games, and a repetition of the second, differ in their outputs or draws."""
    records = []
    for number, game in enumerate((*games, games[-1])):
        random.seed(number)
        np.random.seed(number)  # noqa: NPY002 (it is about those who draw from there)
        records.append(_recorded(game))
    if records[1:] != records[:-1]:
        raise NotRepeatableError(
            f"{name} must give the same game for the same random stream; two such games had other {what}. It draws from"
            f" elsewhere than rng, or keeps something from game to game. Draw from the rng of {method}, as in"
            " rng.random(), and start each game anew."
        )


def _recorded(game: Callable[[np.random.Generator], Iterator[Any]]) -> list[Any]:
    """Play a game; return its failure, all numbers that it yields, and the final state of its stream."""
    rng, parts, failure = stream(0, role=ADVERSARY), list[Any](), ""
    try:
        for yielded in game(rng):
            parts.append(yielded)
    except Exception as error:  # as the game itself will say
        failure = type(error).__name__
    arrays = map(np.asarray, among(parts, (np.ndarray, np.generic, int, float)))
    numbers = [array.tobytes() for array in arrays if not array.dtype.hasobject]
    return [failure, *numbers, str(rng.bit_generator.state)]


def _gains(adversary: Adversary, rng: np.random.Generator) -> Iterator[Any]:
    """Yield the gains of the first rounds, and the other public facts of the adversary."""
    gains = np.zeros((_rounds(adversary.horizon, adversary.n_arms), adversary.n_arms))
    yield gains
    adversary.begin(rng)
    # Real data that come only now are refused by the game itself.
    if not _is_recorded(adversary):
        adversary.fill(gains)
    yield getattr(adversary.by_rounds, "_state", None)


def _releases(mechanism: Mechanism, inputs: InputFacts, rng: np.random.Generator) -> Iterator[Any]:
    """Yield the state of a mechanism, and its releases of synthetic gains."""
    made_up, size = np.random.default_rng(0), inputs.n_values
    state, release = mechanism.new_state(inputs), mechanism.release_for(inputs)
    yield state
    for t in range(_rounds(inputs.horizon, size)):
        step = t // mechanism.batch_size
        revealed = {(step + place) % size for place in range(min(size, inputs.gains_in_a_round))}
        gains = made_up.uniform(inputs.values.low, inputs.values.high, size).tolist()
        for arm, gain in enumerate(gains):
            if arm in revealed:
                yield release(state, arm, gain, rng)
            elif mechanism.idle is not None:
                yield mechanism.idle(state, arm, rng)
        if mechanism.forget is not None and (t + 1) % mechanism.batch_size == 0:
            mechanism.forget(state)


def _rounds(horizon: int, width: int) -> int:
    return min(horizon, MOST_ROUNDS, max(4, MOST_GAINS // width))
