"""What the wrappers that release sums hand on: sums, counts, the released mean as reward, and the round."""

import math
import warnings

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from dp_bandit_envs.errors import StepOutsideGameError
from dp_bandit_envs.wrappers import (
    BlockSums,
    ExactSums,
    HybridSums,
    IntervalSums,
    LaplaceClipRescale,
    MiniBatchAverage,
    RandomizedResponse,
    vector,
)
from tests.tools.boundary_games import OWN_NOISE, SUMS, game, games, summed
from tests.tools.refusals import refused

TABLE = [[0.25, 0.5], [0.5, 1.0], [0.0, 0.75], [1.0, 0.125]]
FORMS = {"scalar": game, "vector": lambda table, **options: games(1, table, **options)}


@pytest.fixture(params=FORMS)
def make(request):
    """A maker of games, scalar and vector."""
    return FORMS[request.param]


def step(env, arm):
    """Play one arm; return sum, count, reward, ended and info of game 0 as plain numbers."""
    scalar = isinstance(env, gym.Env)
    observation, reward, terminated, truncated, info = env.step(arm if scalar else np.array([arm]))
    assert set(observation) == {"sum", "count", "release"}
    assert set(info) == ({"round"} if scalar else {"round", "_round"})
    return (
        observation["sum"].ravel().tolist(),
        observation["count"].ravel().tolist(),
        float(np.ravel(reward)[0]),
        bool(np.all(terminated | truncated)),
        int(np.ravel(info["round"])[0]),
    )


def test_sums_counts_and_rewards_by_hand(make):
    env = (ExactSums if make is game else vector.ExactSums)(make(TABLE))
    observation, info = env.reset(seed=0)
    assert observation["sum"].ravel().tolist() == [0.0, 0.0]
    assert observation["count"].ravel().tolist() == observation["release"].ravel().tolist() == [0, 0]
    assert int(np.ravel(info["round"])[0]) == 0
    assert step(env, 0) == ([0.25, 0.0], [1, 0], 0.25, False, 1)
    assert step(env, 1) == ([0.25, 1.0], [1, 1], 1.0, False, 2)
    assert step(env, 0) == ([0.25, 1.0], [2, 1], 0.125, False, 3)  # 0.25 / 2, not the gain 0
    assert step(env, 1) == ([0.25, 1.125], [2, 2], 0.5625, True, 4)
    env.reset(seed=0)  # nothing is left of the game before
    assert step(env, 1) == ([0.0, 0.5], [0, 1], 0.5, False, 1)


def test_blocks_that_forget_by_hand(make):
    """Arm 0 in blocks of 1, 1, 2 (ratio 2) without noise: gains 1/4, 1/2, then 0 and 1 together."""
    wrapper = BlockSums if make is game else vector.BlockSums
    env = wrapper(make(TABLE), epsilon=math.inf)
    env.reset(seed=0)
    assert step(env, 0) == ([0.25, 0.0], [1, 0], 0.25, False, 1)
    assert step(env, 0) == ([0.5, 0.0], [1, 0], 0.5, False, 2)
    assert step(env, 0) == ([0.5, 0.0], [1, 0], 0.5, False, 3)
    assert step(env, 0) == ([1.0, 0.0], [2, 0], 0.5, True, 4)
    env = wrapper(make(TABLE), epsilon=math.inf, keep=True)
    env.reset(seed=0)
    assert step(env, 0) == ([0.25, 0.0], [1, 0], 0.25, False, 1)
    assert step(env, 0) == ([0.75, 0.0], [2, 0], 0.375, False, 2)
    assert step(env, 0) == ([0.75, 0.0], [2, 0], 0.375, False, 3)
    assert step(env, 0) == ([1.75, 0.0], [4, 0], 0.4375, True, 4)


def test_intervals_wait_for_their_ends_by_hand(make):
    """Epsilon = 16: the input is 0.349 (see test_sums_privacy_loss), so intervals of ceil(1 / 0.349) = 3 gains."""
    wrapper = IntervalSums if make is game else vector.IntervalSums
    env = wrapper(make(TABLE), epsilon=16.0, intervals="uniform")
    assert env.mechanism.ends(4).tolist() == [3]
    env.reset(seed=0)
    assert step(env, 1) == ([0.0, 0.0], [0, 0], 0.0, False, 1)
    assert step(env, 1) == ([0.0, 0.0], [0, 0], 0.0, False, 2)
    sums, counts, reward, *_ = step(env, 1)
    assert counts == [0, 3] and sums[0] == 0.0
    assert sums[1] != 2.25 and reward == sums[1] / 3  # noise of scale 3^0.55
    assert step(env, 0) == (sums, counts, 0.0, True, 4)  # held; nothing is known of arm 0


@pytest.mark.parametrize("kind", SUMS)
def test_the_reward_is_the_released_mean_of_the_arm_played(kind, make):
    env = summed(make(np.random.default_rng(2).random((14, 2))), kind)
    env.reset(seed=3)
    paid = []
    for arm in [0, 1, 1, 0, 0, 0, 1]:
        sums, counts, reward, *_ = step(env, arm)
        assert reward == sums[arm] / max(counts[arm], 1)
        paid.append(reward)
    assert any(paid)


@pytest.mark.parametrize("kind", SUMS)
def test_observations_are_fresh_copies(kind, make):
    """Whoever writes into one changes nothing of what comes later, nor of the picture."""
    table = np.random.default_rng(2).random((14, 2))
    env, other = (summed(make(table, render_mode="ansi"), kind) for _ in range(2))
    seen = [one.reset(seed=3)[0] for one in (env, other)]
    for _ in range(7):
        seen[0]["sum"][...], seen[0]["count"][...] = 99.0, 9
        assert env.render() == other.render()
        action = 0 if make is game else np.array([0])
        seen = [one.step(action)[0] for one in (env, other)]
        assert seen[0]["sum"].tobytes() == seen[1]["sum"].tobytes()
        assert seen[0]["count"].tobytes() == seen[1]["count"].tobytes()


@pytest.mark.parametrize("kind", SUMS)
def test_observations_lie_in_their_space_to_the_end_of_the_game(kind, make):
    env = summed(make(np.ones((14, 2))), kind)
    observation, _ = env.reset(seed=3)
    assert observation in env.observation_space
    ended, counts = False, [0, 0]
    while not ended:
        result = env.step(0 if make is game else np.array([0]))
        assert result[0] in env.observation_space
        assert result[0]["sum"].dtype == np.float64 and result[0]["count"].dtype == np.int64
        ended = bool(np.all(result[2]))
        counts = result[0]["count"].ravel().tolist()
    assert 0 < counts[0] <= env.horizon and counts[1] == 0


ABOUT_THE_WRAPPER = (
    "different from the unwrapped version",
    "minimum value is -infinity",  # noise can carry a sum anywhere
    "maximum value is infinity",
    "Not able to test alternative render modes",  # as a boundary shows no spec
)


@pytest.mark.parametrize("kind", SUMS)
def test_gymnasiums_own_check_passes(kind):
    """Its warnings are errors, but for those that say what a boundary is for."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        check_env(summed(game(np.full((14, 2), 0.5)), kind))
    others = [str(w.message) for w in caught if not any(known in str(w.message) for known in ABOUT_THE_WRAPPER)]
    assert not others


def test_a_game_that_ended_or_has_not_begun_is_not_played(make):
    env = (ExactSums if make is game else vector.ExactSums)(make(TABLE))
    with refused(StepOutsideGameError, "reset()"):
        step(env, 0)
    with refused(StepOutsideGameError, "reset()"):
        env.render()
    if make is game:
        env.reset(seed=0)
        for _ in TABLE:
            env.step(0)
        with refused(StepOutsideGameError, "reset()"):
            env.step(0)


# ---- guarantees of stacks


def test_exact_sums_guarantee_nothing_of_their_own():
    env = ExactSums(game(TABLE))
    assert (env.guarantee.model, env.guarantee.epsilon, env.sensitivity) == ("none", math.inf, math.inf)
    assert ExactSums(MiniBatchAverage(game(TABLE), batch_size=2)).guarantee.model == "none"


@pytest.mark.parametrize(
    "below",
    [
        lambda env: LaplaceClipRescale(env, epsilon=0.5),
        lambda env: RandomizedResponse(env, epsilon=0.5),
        lambda env: MiniBatchAverage(LaplaceClipRescale(env, epsilon=0.5), batch_size=2),
    ],
    ids=["Laplace", "Response", "MiniBatch(Laplace)"],
)
@pytest.mark.parametrize("epsilon", [0.01, 30.0, math.inf])
def test_around_a_guarantee_sums_keep_it(below, epsilon):
    """Not the smaller one: what the wrapper below withheld, or told as a coin, is protected by its epsilon only."""
    inner = below(game(np.zeros((40, 2))))
    assert ExactSums(inner).guarantee == inner.guarantee
    for env in (
        HybridSums(inner, epsilon=epsilon),
        BlockSums(inner, epsilon=epsilon),
        IntervalSums(inner, epsilon=epsilon),
    ):
        assert (env.guarantee.epsilon, env.guarantee.model) == (0.5, "local")
        assert env.guarantee.theorem.endswith("; the noise added above it is post-processing") or (
            env.guarantee == inner.guarantee and epsilon == math.inf
        )


@pytest.mark.parametrize("kind", OWN_NOISE)
def test_infinite_epsilon_is_no_guarantee(kind):
    if SUMS[kind][0] != ("R",):
        assert summed(game(np.zeros((14, 2))), kind, epsilon=math.inf).guarantee.model == "none"


@pytest.mark.parametrize(("lengths", "model"), [({"ratio": 1}, "local"), ({"ratio": 2}, "central")])
def test_blocks_of_one_are_local_and_longer_ones_are_not(lengths, model):
    env = BlockSums(game(np.zeros((40, 2))), epsilon=1.0, **lengths)
    assert (env.guarantee.model, env.guarantee.epsilon, env.guarantee.delta) == (model, 1.0, 0.0)


def test_counters_are_central_and_speak_of_rounds():
    """A counter by itself protects items; arms in parallel protect rounds."""
    guarantee = HybridSums(game(np.zeros((40, 2))), epsilon=0.3).guarantee
    assert (guarantee.model, guarantee.epsilon) == ("central", 0.3)
    assert guarantee.neighbours == "replace the gains of all arms in one round"
    assert "arms compose in parallel" in guarantee.theorem
