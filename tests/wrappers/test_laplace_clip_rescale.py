"""LaplaceClipRescale: noise of the declared scale, rejection, clipping, rescaling, and what it declares."""

import math
from types import SimpleNamespace

import gymnasium as gym
import numpy as np
import pytest

from dp_bandit_envs.privacy import Noise
from dp_bandit_envs.wrappers import LaplaceClipRescale, MiniBatchAverage, vector
from tests.tools.boundary_games import game, games
from tests.tools.refusals import missing, refused

FORMS = {
    "scalar": (LaplaceClipRescale, lambda table: game(table)),
    "vector": (vector.LaplaceClipRescale, lambda table: games(1, table)),
}


@pytest.fixture(params=FORMS)
def form(request):
    """The wrapper and a maker of games, scalar and vector."""
    return FORMS[request.param]


def noises(tau: int, epsilon: float, draws: int) -> np.ndarray:
    """Return the noise of `draws` releases of an average of zeros, with a bound that nothing reaches."""
    num_envs = 100
    steps = draws // num_envs
    env = games(num_envs, np.zeros((tau * steps, 2)))
    if tau > 1:
        env = vector.MiniBatchAverage(env, batch_size=tau)
    bound = 60 / (tau * epsilon)  # exp(-60) of all draws lie beyond
    env = vector.LaplaceClipRescale(env, epsilon=epsilon, bound=bound)
    env.reset(seed=17)
    released = np.array([env.step(np.zeros(num_envs, int))[0]["gain"][:, 0] for _ in range(steps)])
    return (released * (1 + 2 * bound) - bound).ravel()


@pytest.mark.thorough
@pytest.mark.parametrize(("tau", "epsilon"), [(1, 1.0), (1, 0.1), (1, 5.0), (4, 0.5), (10, 0.1)])
def test_noise_has_the_declared_scale(tau, epsilon):
    """Mean |Lap(b)| = b with standard error b / sqrt(n); mean 0 with b sqrt(2 / n). Allow five of each.

    False alarm: 1.8e-6 (five standard errors, two sides, three numbers).
    """
    n = 20_000
    noise = noises(tau, epsilon, n)
    b = 1 / (tau * epsilon)
    assert abs(np.abs(noise).mean() - b) < 5 * b / math.sqrt(n)
    assert abs(noise.mean()) < 5 * b * math.sqrt(2 / n)
    # P(|N| > 2 b) = exp(-2), which a normal law with the same mean |N| misses by far
    share = math.exp(-2)
    assert abs((np.abs(noise) > 2 * b).mean() - share) < 5 * math.sqrt(share * (1 - share) / n)


def test_noise_draws_are_independent_from_release_to_release():
    """Sample autocorrelation of n independent draws has standard error 1 / sqrt(n): allow five.

    False alarm: 1.2e-6 (five standard errors, two sides, two correlations).
    """
    n = 20_000
    noise = noises(1, 1.0, n).reshape(-1, 100)
    along_time = np.corrcoef(noise[:-1].ravel(), noise[1:].ravel())[0, 1]
    across_games = np.corrcoef(noise[:, :-1].ravel(), noise[:, 1:].ravel())[0, 1]
    assert abs(along_time) < 5 / math.sqrt(n)
    assert abs(across_games) < 5 / math.sqrt(n)


@pytest.mark.parametrize(("epsilon", "horizon"), [(0.1, 2139), (243.29, 2**18), (2.0, 2), (1.0, 1)])
def test_default_bound_is_the_papers_ln_t_over_epsilon(form, epsilon, horizon):
    wrapper, make = form
    bound = wrapper(make(np.zeros((horizon, 2))), epsilon=epsilon).noise.bound
    assert bound == pytest.approx(math.log(horizon) / epsilon, rel=2e-9)


def test_default_bound_above_batches_is_the_noise_scale_times_ln_of_the_number_of_releases():
    env = LaplaceClipRescale(MiniBatchAverage(game(np.zeros((1003, 2))), batch_size=10), epsilon=0.5)
    assert env.noise.scale == pytest.approx(0.2, rel=2e-9)
    assert env.noise.bound == pytest.approx(0.2 * math.log(100), rel=2e-9)
    assert env.horizon == 100


def test_reject_clip_and_rescale_by_hand():
    for outside in ["reject", "clip"]:
        for draw, reject, clip in [
            # gain 0.5, bound 1: kept in [-1, 2], rescaled by (noisy + 1) / 3
            (0.25, (1, 1.75 / 3), (1, 1.75 / 3)),
            (-1.5, (1, 0.0), (1, 0.0)),  # noisy is exactly -1: still inside
            (1.5, (1, 1.0), (1, 1.0)),  # noisy is exactly 2: still inside
            (-1.5625, (0, 0.0), (1, 0.0)),
            (1.5625, (0, 0.0), (1, 1.0)),
            (0.0, (1, 0.5), (1, 0.5)),
        ]:
            env = LaplaceClipRescale(game(np.full((1, 2), 0.5)), epsilon=2.0, bound=1.0, outside=outside)
            env.reset(seed=0)
            env._run._rng = SimpleNamespace(laplace=lambda location, scale, draw=draw: draw)
            observation, reward, *_ = env.step(1)
            observed, value = reject if outside == "reject" else clip
            assert observation["observed"].tolist() == [0, observed]
            assert observation["gain"].tolist() == [0.0, value]
            assert reward == value


def test_infinite_epsilon_leaves_gains_unchanged(form):
    wrapper, make = form
    table = np.random.default_rng(1).random((50, 2))
    table[:2] = [[0.0, 1.0], [1.0, 0.0]]
    env = wrapper(make(table), epsilon=math.inf)
    assert env.noise == Noise(1.0, 0.0, 0.0)
    env.reset(seed=1)
    for row in table:
        observation, reward, *_ = env.step(0 if isinstance(env, gym.Env) else np.array([0]))
        assert observation["gain"].ravel().tolist() == [row[0], 0.0]
        assert observation["observed"].ravel().tolist() == [1, 0]
        assert float(np.ravel(reward)[0]) == row[0]
    assert env.guarantee.model == "none"
    assert env.guarantee.epsilon == math.inf


@pytest.mark.parametrize("outside", ["reject", "clip"])
def test_tiny_epsilon_releases_numbers_in_the_unit_interval_or_is_refused(outside):
    for epsilon in (1e-3, 1e-12, 1e-300, 1e-307, 1e-308, 2.3e-308):
        try:
            env = LaplaceClipRescale(game(np.full((40, 2), 0.5)), epsilon=epsilon, outside=outside)
        except ValueError as error:
            assert not missing(str(error), "epsilon")
            continue
        env.reset(seed=1)
        released = [env.step(0)[0]["gain"].max() for _ in range(40)]
        assert all(0 <= value <= 1 for value in released)
        assert len(set(released)) > 1


@pytest.mark.thorough
def test_released_gains_stay_inside_the_unit_interval_whatever_the_bound(form):
    """Adding b twice and 2 b once do not round alike, so (1 + b + b) / (1 + 2 b) must not pass 1.

    Above 1, an observation leaves its space, and a second boundary refuses it: for a batch of 3 and epsilon 1,
    say, in a game of 100 rounds whose noise was clipped at the top.
    """
    wrapper, make = form
    outside = []
    bounds = np.random.default_rng(3).random(100 if wrapper is LaplaceClipRescale else 20) * 10
    for seed, bound in enumerate([*bounds.tolist(), math.log(33) / 3]):
        env = wrapper(make(np.ones((8, 2))), epsilon=0.05, bound=bound, outside="clip")
        env.reset(seed=seed)
        for _ in range(8):
            value = env.step(0 if isinstance(env, gym.Env) else np.array([0]))[0]["gain"].max()
            if not 0 <= value <= 1:
                outside.append((bound, value))
    assert not outside


def test_arms_are_checked_at_the_boundary():
    env = LaplaceClipRescale(game(np.zeros((3, 2))), epsilon=1.0)
    env.reset(seed=1)
    for arm in (-1, 2, 1.5, "0", None, np.nan):
        with refused(ValueError, "arm", "[0, 1]", repr(arm)):
            env.step(arm)
    assert env.unwrapped._round == 0  # and nothing was played
