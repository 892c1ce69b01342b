"""Attacks that once got something from a boundary: wrong gains, repeated rounds, copies, attributes, subclasses."""

import copy
import inspect
import math
import pickle
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from dp_bandit_envs import Algorithm, make_algorithm, play, simulate, wrappers
from dp_bandit_envs.adversaries import Adversary, Stochastic
from dp_bandit_envs.agents import Ucb
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.envs.bandit_vector_env import BanditVectorEnv
from dp_bandit_envs.errors import BoundaryError, GainRangeError
from dp_bandit_envs.privacy import mechanisms
from dp_bandit_envs.privacy.counters import COUNTERS, BinaryCounter
from dp_bandit_envs.wrappers import (
    CounterSums,
    LaplaceClipRescale,
    MiniBatchAverage,
    vector as of_many,
)
from tests.tools.boundary_games import FORMS, SUMS, act, summed
from tests.tools.doors import one_each
from tests.tools.refusals import refused

TABLE = np.round(np.random.default_rng(3).random((20, 2)), 2)


# ---- sensitivity assumes gains in [0, 1]


class Pays(Adversary):
    """Pays one number, in the last round."""

    def __init__(self, gain, horizon=200):
        super().__init__(2, horizon)
        self.gain = gain

    def begin(self, rng):
        """Start anew."""
        self._round = 0

    def next_gains(self, rounds):
        """Return zeros until the last round."""
        gains = np.zeros((rounds, 2))
        self._round += rounds
        if self._round == self.horizon:
            gains[-1, 1] = self.gain
        return gains


WRONG = [1000.0, np.nan, -1e-9, np.nextafter(1.0, 2.0), np.inf]


SLOW = ("DP-KLUCB", "DP-UCB-BOUND", "LDP-UCB-B")


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("name", "gain"),
    [
        *one_each(["DP-EXP3-Lap", "EXP3"], WRONG),
        *(pytest.param(name, gain, marks=pytest.mark.slow) for name in SLOW for gain in WRONG),
    ],
)
def test_every_engine_refuses_a_gain_outside_the_range(name, gain):
    algorithm = make_algorithm(name, **({} if name == "EXP3" else {"epsilon": 0.01}))
    with refused(GainRangeError, "[0, 1]", "Pays"):
        simulate(lambda: BanditEnv(Pays(gain)), [algorithm])
    with pytest.raises((GainRangeError, BoundaryError)) as error:
        play(algorithm.wrap(BanditEnv(Pays(gain))), algorithm.agent())
    assert "1000" not in str(error.value)
    many = BanditVectorEnv(2, Pays(gain))
    many.reset(seed=1)
    with pytest.raises(GainRangeError):
        for _ in range(200):
            many.step(np.zeros(2, int))


# ---- a started boundary is not copied

COPIES = {"copy": copy.copy, "deepcopy": copy.deepcopy, "pickle": lambda env: pickle.loads(pickle.dumps(env))}


def boundaries(num_envs=None):
    """Yield boundaries of every kind, scalar or vector."""

    def game():
        if num_envs is None:
            return gym.make("DPBandit-Replay-v0", gains=TABLE)
        return gym.make_vec("DPBandit-Replay-v0", num_envs=num_envs, gains=TABLE)

    module = of_many if num_envs else None
    laplace = LaplaceClipRescale if module is None else module.LaplaceClipRescale
    batch = MiniBatchAverage if module is None else module.MiniBatchAverage
    yield laplace(game(), epsilon=0.01)
    yield laplace(batch(game(), batch_size=4), epsilon=0.01)
    yield from (summed(game(), name) for name in SUMS)


@pytest.mark.thorough
@pytest.mark.parametrize(("num_envs", "how"), one_each([None, 2], COPIES))
def test_a_boundary_is_copied_before_its_first_game_only(num_envs, how):
    for env in boundaries(num_envs):
        arm = 0 if num_envs is None else np.zeros(num_envs, int)
        twin = COPIES[how](env)
        twin.reset(seed=1)
        twin.step(arm)
        for begun in (twin, gym.Wrapper(twin) if num_envs is None else gym.vector.VectorWrapper(twin)):
            if how != "copy" or begun is twin:
                with refused(TypeError, type(twin).__name__, "reset"):
                    COPIES[how](begun)
        twin.step(arm)


# ---- what a boundary does and what it guarantees belong together


@pytest.mark.parametrize("num_envs", [None, 2])
def test_nothing_that_decides_on_the_noise_can_be_set_from_outside(num_envs):
    without = mechanisms.LaplaceClipRescale(epsilon=math.inf)
    for env in boundaries(num_envs):
        for name in ("mechanism", "sensitivity", "guarantee", "horizon", "_mechanism", "_rng", "env", "n_arms"):
            if num_envs is None:
                with refused(AttributeError, name, type(env).__name__):
                    env.set_wrapper_attr(name, without)
            if name in ("mechanism", "sensitivity", "guarantee", "horizon"):
                with pytest.raises(AttributeError, match=r"read-only|no setter|can't set"):
                    setattr(env, name, without)
        for name in ("batch_size", "noise", "inputs", "releases_sums"):
            with pytest.raises(AttributeError, match=r"read-only|no setter|can't set"):
                setattr(env, name, 1)
        for name in inspect.signature(type(env.mechanism)).parameters:
            with pytest.raises(AttributeError, match=rf"{name} .*cannot be set|no setter|can't set"):
                setattr(env, name, 1e9)
        env.mechanism.epsilon = 1e9
        assert getattr(env.mechanism, "epsilon", None) != 1e9


# ---- a counter's noise is its own


class Tenfold(BinaryCounter):
    """Ten times the noise, so a tenth of epsilon."""

    def noise(self, state, arm, rng):
        """Multiply the noise."""
        noise, fresh = BinaryCounter.noise(state, arm, rng)
        return 10 * noise, fresh


binary_noise = BinaryCounter.noise


def tenfold_noise(state, arm, rng):
    noise, fresh = binary_noise(state, arm, rng)
    return 10.0 * noise, fresh


class TenfoldPlain(BinaryCounter):
    """The same as a plain function, declared on the class."""

    noise = staticmethod(tenfold_noise)


@pytest.mark.thorough
@pytest.mark.parametrize(("tenfold", "engine"), [(Tenfold, "play"), (TenfoldPlain, "compiled")])
def test_simulate_plays_a_counters_own_noise(monkeypatch, tenfold, engine):
    monkeypatch.setitem(COUNTERS, "binary", tenfold)
    player = Algorithm("mine", Ucb, lambda env: CounterSums(env, epsilon=20.0, counter="binary"))
    outcome = simulate("DPBandit-Stochastic-v0", [player], horizon=300, checkpoints=300, seed=3)["mine"]
    assert outcome.engine == engine
    game = play(BanditEnv(Stochastic(horizon=300)), player, seed=3)
    assert np.array_equal(outcome.external_regret[0], game.external_regret)
    monkeypatch.setitem(COUNTERS, "binary", BinaryCounter)
    assert not np.array_equal(play(BanditEnv(Stochastic(horizon=300)), player, seed=3).arms, game.arms)


# ---- nothing that is handed out is what the noise is made of


def everything_shown(env) -> list[Any]:
    """Return what the public attributes of a boundary hand out."""
    names = [name for name in dir(env) if not name.startswith("_") and name not in ("env", "unwrapped")]
    if isinstance(env, gym.Env):
        names = [name for name in names if env.has_wrapper_attr(name)]
    return [shown for shown in (getattr(env, name, None) for name in names) if not callable(shown)]


def meddle_with(env) -> None:
    """Change all that can be changed in it."""
    for shown in everything_shown(env):
        if isinstance(shown, dict):
            shown |= {"delta": 0.99, "budget": "paper"}
        elif isinstance(getattr(shown, "__dict__", None), dict):
            vars(shown).update(dict.fromkeys(vars(shown), 1e9))
    if hasattr(env.mechanism, "counter"):
        env.mechanism.counter(20).sigma = 0.0
    else:
        env.mechanism.ends(20)[:] = 1


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("form", "kind"),
    one_each(
        FORMS,
        [
            ("CounterSums", {"epsilon": 0.1, "counter": "square-root", "delta": 1e-6}),
            ("CounterSums", {"epsilon": 0.1, "counter": "hybrid", "budget": "split"}),
            ("IntervalSums", {"epsilon": 16.0, "intervals": "uniform"}),
        ],
    ),
    ids=str,
)
def test_who_changes_what_is_handed_out_changes_no_noise(kind, form):
    """A dictionary of options once was what the noise was made of; and so were ends that two wrappers shared."""
    name, options = kind

    def released(meddle):
        module = wrappers if form == "scalar" else of_many
        env, other = (getattr(module, name)(FORMS[form](TABLE), **options) for _ in "ab")
        found = []
        for each in (env, other):
            each.reset(seed=1)
            if meddle:
                meddle_with(env)
            each.reset(seed=1)
            found.append([each.step(act(each, 0))[0]["sum"].tolist() for _ in range(8)])
        return found

    assert released(meddle=True) == released(meddle=False)
    assert np.any(released(meddle=False))
