"""Nothing that is handed out can be written to so that noise gets smaller, or read so that it can be subtracted."""

import pickle
from typing import NamedTuple

import gymnasium as gym
import numpy as np
import pytest

from dp_bandit_envs import Algorithm, play, simulate
from dp_bandit_envs.adversaries import Stochastic
from dp_bandit_envs.adversaries.replay import GainTable
from dp_bandit_envs.agents.functional import FunctionalAgent, Functions
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.errors import BoundaryError, StepOutsideGameError
from dp_bandit_envs.seeding import AGENT, EpisodeStreams, stream
from dp_bandit_envs.wrappers import CounterSums, LaplaceClipRescale, RandomizedResponse, vector as of_many
from tests.tools.refusals import refused

# ---- seeds ---------------------------------------------------------------------------------------------------------


class Keeps:
    """An agent that keeps its generator."""

    def begin(self, *, n_arms, horizon, rng):
        """Keep it."""
        self.rng = rng

    def select_arm(self):
        """Draw something."""
        return int(self.rng.integers(2))

    def update(self, arm, observation):
        """Learn nothing."""


def test_an_agents_generator_does_not_tell_the_seed():
    """Nothing in it is the seed or leads to NumPy's `SeedSequence`, which can be inverted."""
    agent, seed = Keeps(), 2**127 + 12345
    play(BanditEnv(Stochastic(2, 5)), agent, seed=seed, trial=3)
    bits = agent.rng.bit_generator
    assert isinstance(bits, np.random.SFC64)
    assert not isinstance(bits.seed_seq, np.random.SeedSequence)
    assert set(vars(bits.seed_seq)) == {"_digest", "_spawned"}
    text = pickle.dumps((bits, bits.state, bits.seed_seq)) + repr((bits.state, vars(bits.seed_seq))).encode()
    for base in (str(seed), f"{seed:x}", seed.to_bytes(16, "little"), seed.to_bytes(16, "big")):
        assert (base.encode() if isinstance(base, str) else base) not in text


def test_an_agent_may_spawn_generators_of_its_own():
    spawned = [stream(*key, role=AGENT).spawn(2) for key in ((1,), (1,), (2,))]
    numbers = [[child.random() for child in children] for children in spawned]
    assert numbers[0] == numbers[1]
    assert len({*numbers[0], *numbers[2]}) == 4
    twice = stream(1, role=AGENT)
    assert [twice.spawn(1)[0].random(), twice.spawn(1)[0].random()] == numbers[0]


def test_two_keys_never_read_the_same():
    """The words of trial 2 * 2^32, role 2, are those of trial 0, role 2, episode 2."""
    for seed, trial in ((0, 2**32), (0, 2 * 2**32), (2**128, 0), (-1, 0)):
        with refused(ValueError, "seed", "[0, 2^128)", "trial", "[0, 2^32)", seed, trial):
            stream(seed, trial=trial, role=2)
    with refused(ValueError, "trial", "[0, 2^32)", 2**33):
        EpisodeStreams(2).next(1, {"trial": 2**33})
    for wrapped in (
        LaplaceClipRescale(BanditEnv(Stochastic(2, 5)), epsilon=1.0),
        of_many.LaplaceClipRescale(gym.make_vec("DPBandit-Stochastic-v0", 2, horizon=5), epsilon=1.0),
    ):
        with refused(ValueError, "trial", "[0, 2^32)", 2**33):
            wrapped.reset(options={"trial": 2**33})


# ---- spaces --------------------------------------------------------------------------------------------------------


def test_spaces_are_copies():
    """`FlattenObservation` joins the parts of an observation in the order of the space below it."""
    table = np.random.default_rng(3).random((30, 2))
    below = gym.wrappers.FlattenObservation(BanditEnv(GainTable(table)))
    wrapped = RandomizedResponse(below, epsilon=0.01)
    for name in ("observation_space", "action_space", "metadata"):
        assert getattr(wrapped, name) == getattr(below.unwrapped, name)
        assert getattr(wrapped, name) is not getattr(below.unwrapped, name)
    parts = wrapped.get_wrapper_attr("observation_space").spaces
    parts["gain"] = parts.pop("gain")
    wrapped.reset(seed=0)
    for _ in range(30):
        observation = wrapped.step(0)[0]
        assert set(observation["observed"].tolist()) <= {0, 1}


def test_spaces_of_many_games_are_copies():
    for mode in ("sync", "vector_entry_point"):
        below = gym.make_vec("DPBandit-Stochastic-v0", 3, vectorization_mode=mode, horizon=9)
        wrapped = of_many.LaplaceClipRescale(below, epsilon=0.1)
        for name in ("observation_space", "single_observation_space", "action_space", "single_action_space"):
            assert getattr(wrapped, name) == getattr(below, name)
            assert getattr(wrapped, name) is not getattr(below, name)
        assert wrapped.single_observation_space["gain"] is not below.single_observation_space["gain"]


# ---- arms in the compiled game -------------------------------------------------------------------------------------


class State(NamedTuple):
    """A number."""

    number: np.ndarray


def select_beyond(state, rng):
    """Return a number that is no arm."""
    state.number[0] += 1
    return 2 if state.number[0] > 3 else 0


def select_first(state, rng):
    """Return arm 0."""
    return 0


def nothing(state, arm, seen):
    """Learn nothing."""
    return state


def read_beyond(state, arm, seen):
    """Read what lies behind the array."""
    state.number[0] += int(seen.gains[10_000])
    return state


class Strays(FunctionalAgent):
    """Plays what is no arm."""

    functions = Functions(select_beyond, nothing)

    def initial_state(self, n_arms, horizon):
        """Return the state before the first step."""
        return State(np.zeros(1, np.int64))


class Pries(Strays):
    """Reads what is no part of an observation."""

    functions = Functions(select_first, read_beyond)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("agent", "message"), [(Strays, r"\bStrays\.select\b.*\[0, 1\].*\b2\b"), (Pries, "out of bounds|out of range")]
)
def test_compiled_agents_stay_within_the_arms(agent, message):
    player = Algorithm("mine", agent, lambda env: LaplaceClipRescale(env, epsilon=0.5))
    with pytest.raises(IndexError, match=message):
        simulate("DPBandit-Stochastic-v0", [player], horizon=50, env_kwargs={"n_arms": 2})


# ---- games that fail half-way --------------------------------------------------------------------------------------


class Fails(BanditEnv):
    """Fails when told to."""

    fail = False

    def reset(self, **arguments):
        """Fail after the game has begun anew."""
        begun = super().reset(**arguments)
        if self.fail:
            raise RuntimeError
        return begun

    def step(self, action):
        """Fail after the round."""
        played = super().step(action)
        if self.fail:
            raise RuntimeError
        return played


@pytest.mark.parametrize("when", ["reset", "step"])
def test_after_a_failure_there_is_no_game_to_go_on_with(when):
    """Counters would go on with items of the next game, past their horizon, where noise runs out."""
    below = Fails(Stochastic(2, 9))
    wrapped = CounterSums(below, epsilon=1.0, counter="k-ary")
    wrapped.reset(seed=0)
    wrapped.step(0)
    below.fail = True
    with pytest.raises(BoundaryError):
        wrapped.reset() if when == "reset" else wrapped.step(0)
    below.fail = False
    with pytest.raises(StepOutsideGameError):
        wrapped.step(0)
    assert wrapped.reset()[0]["count"].tolist() == [0, 0]
    wrapped.step(0)


def test_many_games_start_again_together():
    below = gym.make_vec("DPBandit-Stochastic-v0", 2, vectorization_mode="sync", horizon=9)
    wrapped = of_many.HybridSums(below, epsilon=1.0)
    wrapped.reset(seed=0)
    with refused(ValueError, "reset_mask", "together"):
        wrapped.reset(options={"reset_mask": np.array([True, False])})
    uneven = gym.vector.SyncVectorEnv(
        [
            lambda: gym.make("DPBandit-Stochastic-v0", horizon=9, max_episode_steps=4),
            lambda: gym.make("DPBandit-Stochastic-v0", horizon=9),
        ]
    )
    wrapped = of_many.HybridSums(uneven, epsilon=1.0)
    wrapped.reset(seed=0)
    for _ in range(3):
        wrapped.step(np.zeros(2, int))
    with refused(BoundaryError, "HybridSums", "lockstep"):
        wrapped.step(np.zeros(2, int))
    with pytest.raises(StepOutsideGameError):
        wrapped.step(np.zeros(2, int))


# ---- doors ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["env", "unwrapped", "set_wrapper_attr", "_rng"])
def test_the_evaluators_doors_are_not_public_attributes(name):
    wrapped = LaplaceClipRescale(BanditEnv(Stochastic(2, 9)), epsilon=1.0)
    assert hasattr(wrapped, name)
    assert not wrapped.has_wrapper_attr(name)
    with pytest.raises(AttributeError):
        wrapped.get_wrapper_attr(name)


def test_models_cannot_ask_for_them_either():
    pytest.importorskip("stable_baselines3")
    from dp_bandit_envs.agents.stable_baselines3 import Sb3VecEnv

    envs = Sb3VecEnv(of_many.LaplaceClipRescale(gym.make_vec("DPBandit-Stochastic-v0", 2, horizon=5), epsilon=1.0))
    for ask in (envs.get_attr, envs.env_method):
        for name in ("env", "unwrapped", "_streams"):
            with refused(AttributeError, name):
                ask(name)
    assert envs.get_attr("n_arms") == [4, 4]
