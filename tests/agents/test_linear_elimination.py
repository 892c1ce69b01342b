"""G-optimal elimination: designs, estimates and widths by another route, a step by hand, limits, audits and bounds."""

import dataclasses
import itertools
import math

import gymnasium as gym
import numpy as np
import pytest

from dp_bandit_envs import calibrate, compare, make_algorithm, play, simulate
from dp_bandit_envs.agents import linear_elimination as elimination
from dp_bandit_envs.agents.linear_elimination import LinearElimination
from dp_bandit_envs.errors import UnreachableGuaranteeError
from dp_bandit_envs.privacy.facts import Noise
from dp_bandit_envs.protocols import Sums
from dp_bandit_envs.theory.linear_bounds import (
    DESIGN_SLACK,
    batch_lengths,
    design_support,
    elimination_nats,
    elimination_width,
    linear_elimination_bound,
)
from tests.tools.fake_draws import InOrder
from tests.tools.linear_features import FEATURES
from tests.tools.refusals import refused

NAMES = ("GOPE", "DP-GOPE", "AdaC-GOPE")
LINEAR = "DPBandit-Linear-v0"


def begun(features, n_arms=None, horizon=20_000, scale=0.0, normal=False):
    agent = LinearElimination(normal=normal)
    agent.see_features(features)
    agent.see_noise(Noise(1.0, scale))
    n_arms = len(features) if n_arms is None else n_arms
    state = agent.initial_state(n_arms, horizon)
    assert elimination.select(state, InOrder()) in range(n_arms)
    return state


def kept_only(state, live):
    """Leave only these arms alive, and plan the batch again."""
    state.alive[:] = 0
    state.alive[live] = 1
    state.status[elimination.ARMS_LEFT] = len(live)
    state.status[elimination.ROUNDS_LEFT] = 0
    elimination.select(state, InOrder())
    return state


@pytest.mark.parametrize("name", FEATURES)
def test_every_design_of_live_arms_is_nearly_optimal(name):
    """Kiefer and Wolfowitz: the largest leverage is at least d under any design; here it is at most 1.5 d."""
    features, rng = FEATURES[name], np.random.default_rng(2)
    for size in sorted({2, 3, len(features) // 2 + 1, len(features)}):
        live = np.sort(rng.choice(len(features), size, replace=False))
        state = kept_only(begun(features), live)
        rank = np.linalg.matrix_rank(features[live])
        assert state.status[elimination.RANK] == rank
        assert set(np.flatnonzero(state.weights)) <= set(live)
        assert state.weights.min() >= 0 and state.weights.sum() == pytest.approx(1, abs=1e-12)
        moment = np.linalg.pinv(features.T @ (state.weights[:, np.newaxis] * features), rcond=1e-10)
        leverages = np.einsum("ki,ij,kj->k", features[live], moment, features[live])
        assert rank * (1 - 1e-9) <= leverages.max() <= DESIGN_SLACK * rank * (1 + 1e-9)
        support, rounds = np.count_nonzero(state.weights), state.lengths[0]
        assert support <= design_support(size, rank)
        assert state.planned.sum() == rounds == 16 * np.linalg.matrix_rank(features)
        assert (state.planned >= state.weights * (rounds - support) - 1e-9).all()


@pytest.mark.slow_cases("60 in 8-0.7-False")
@pytest.mark.parametrize(
    ("name", "scale", "normal"),
    [*((name, 0.7, False) for name in FEATURES), *(("10 in 5", scale, True) for scale in (0.0, 0.7, 30.0))],
)
def test_estimates_and_widths_are_those_of_the_pseudo_inverse(name, scale, normal):
    """NumPy's pseudo-inverse of V in the given features, and the width of `elimination_width`."""
    features = FEATURES[name]
    state, rng = begun(features, scale=scale, normal=normal), np.random.default_rng(3)
    counts = np.array(state.planned)
    sums = counts * rng.random(len(features)) + scale * rng.normal(size=len(features)) * (counts > 0)
    inverse = np.linalg.pinv(features.T @ (counts[:, np.newaxis] * features), rcond=1e-10)
    estimates = features @ inverse @ features.T @ (sums - counts / 2)
    seen = Sums(sums, counts, (counts > 0).astype(int))
    elimination.fit(state, seen)
    np.testing.assert_allclose(state.leverages, estimates, atol=1e-8 * max(1, np.abs(estimates).max()))
    for one, other in itertools.permutations(range(len(features)), 2):
        shares = features @ inverse @ (features[one] - features[other])
        variance, squares = float(counts @ shares**2), float(shares[counts > 0] @ shares[counts > 0])
        widest = float(np.abs(shares[counts > 0]).max())
        expected = elimination_width(state.nats, variance, squares, widest, scale, normal=normal)
        assert elimination.width_between(state, one, other, seen) == pytest.approx(expected, rel=1e-6)
    best = int(np.argmax(state.leverages))
    width = [elimination.width_between(state, best, arm, seen) for arm in range(len(features))]
    expected = [int(state.leverages[best] - state.leverages[arm] <= width[arm]) for arm in range(len(features))]
    elimination.eliminate(state, seen)
    assert state.alive.tolist() == expected and state.status[elimination.ARMS_LEFT] == sum(expected)


def test_a_batch_on_arms_by_hand():
    """Two arms without features and 1000 rounds: batches of 32, 64, 128, ..., 1024; 16 plays each in the first.

    L = ln(2 * 2 * 6 * 1000) = 10.0858; without noise the width is 2 sqrt(L / 8 * (1 / 16 + 1 / 16)) = 0.7939. With
    Laplace noise of scale 1 the growth is 1 / 64 + 2 ln 2 * 2 / 256 = 0.026455, the rate 16 / sqrt(2) = 11.3137, less
    than sqrt(L / 0.026455), and the width L / 11.3137 + 0.026455 * 11.3137 = 1.1908.
    """
    assert batch_lengths(2, 1000) == [32, 64, 128, 256, 512, 1024]
    for scale, width in ((0.0, 0.7939), (1.0, 1.1908)):
        for behind, left in ((width - 0.0001, 2), (width + 0.0002, 1)):
            state = begun(None, 2, horizon=1000, scale=scale)
            sums = np.zeros(2)
            arms = []
            for _ in range(32):
                arms.append(elimination.select(state, InOrder()))
                sums[0] = 16 * behind  # released with the last round of the batch
                state = elimination.update(state, arms[-1], Sums(sums, np.array([16, 16]), np.ones(2, int)))
            assert arms == [0] * 16 + [1] * 16
            assert state.status[elimination.ARMS_LEFT] == left
            plays = [elimination.select(state, InOrder())]
            assert plays == [0] and state.planned.tolist() == ([32, 32] if left == 2 else [64, 0])


def test_arms_without_any_features_share_a_batch_and_all_stay():
    """They alone are left where the arm with features is the worst: all have the mean 1 / 2, and no design."""
    state = kept_only(begun(np.array([[1.0], [0.0], [0.0]]), scale=1.0), [1, 2])
    assert state.planned.tolist() == [0, 8, 8] and state.status[elimination.PLACE] == 1
    elimination.eliminate(state, Sums(np.array([0.0, 0.0, 8.0]), np.array([0, 8, 8]), np.array([0, 1, 1])))
    assert state.alive.tolist() == [0, 1, 1]
    env = gym.make(LINEAR, features=[[1.0], [0.0], [0.0]], gap=1.0, horizon=3000)
    for arms in (play(env, make_algorithm("GOPE"), seed=seed).arms for seed in (0, 2)):
        assert set(arms[1000:].tolist()) in ({0}, {1, 2})


@pytest.mark.parametrize(
    ("name", "game"),
    [("DP-GOPE", {"coins": True, "gap": 0.9}), ("AdaC-GOPE", {"n_arms": 40, "dimension": 3, "gap": 0.9})],
)
def test_without_noise_it_is_gope_to_the_last_bit(name, game):
    plain = make_algorithm("GOPE")
    other = dataclasses.replace(make_algorithm(name, epsilon=math.inf), player=plain.player)
    env = gym.make(LINEAR, horizon=4000, **game)
    one, two = play(env, plain, seed=3), play(env, other, seed=3)
    np.testing.assert_array_equal(one.arms, two.arms)
    np.testing.assert_array_equal(one.external_regret, two.external_regret)
    assert len(set(one.arms[-200:].tolist())) < len(set(one.arms[:200].tolist()))
    assert plain.regret_bound_in(env) == other.regret_bound_in(env)


@pytest.mark.parametrize("game", [{"coins": True, "gap": 1.0}, {"n_arms": 50, "dimension": 7}])
def test_play_equals_simulate_to_the_last_bit(game):
    algorithms = {name: make_algorithm(name, **({} if name == "GOPE" else {"epsilon": 3.0})) for name in NAMES}
    outcomes = simulate(LINEAR, algorithms, horizon=1500, trials=2, seed=8, checkpoints=1500, env_kwargs=game)
    env = gym.make(LINEAR, horizon=1500, **game)
    for name, outcome in outcomes.items():
        assert outcome.engine == "compiled"
        played = play(env, algorithms[name], seed=8, trial=1)
        np.testing.assert_array_equal(outcome.external_regret[1], played.external_regret)


def test_the_gaussian_row_states_its_rho():
    """One Gaussian release with the smallest deviation for (1, 1e-6), 4.2247: rho = 1 / (2 * 4.2247^2) = 0.02801."""
    guarantee = make_algorithm("AdaC-GOPE").guarantee(n_arms=10, horizon=1000)
    assert guarantee.rho == pytest.approx(0.02801, abs=1e-5)
    assert guarantee.epsilon_at(1e-6) == pytest.approx(1, rel=1e-6) and guarantee.epsilon_at(1e-6) <= 1
    for rho in (1e-4, 0.02801, 0.5, 2.0):
        found = make_algorithm("AdaC-GOPE", rho=rho).guarantee(n_arms=10, horizon=1000)
        assert (1 - 1e-3) * rho < found.rho <= rho
    with refused(ValueError, "rho", 0):
        make_algorithm("AdaC-GOPE", rho=0)
    with refused(ValueError, "rho", 1e9):
        make_algorithm("AdaC-GOPE", rho=1e9)
    with refused(ValueError, "epsilon", "rho"):
        make_algorithm("AdaC-GOPE", epsilon=0.3, rho=0.1)
    assert make_algorithm("DP-GOPE", epsilon=0.3).guarantee(n_arms=10, horizon=1000).epsilon == 0.3


def test_a_rho_takes_no_epsilon_that_is_for_all():
    """Nor is one searched for: with rho = 0.1 epsilon is 1.99 at delta = 1e-6, whatever else is asked."""
    found = compare("Stochastic", ["AdaC-GOPE:rho=0.1", "DP-GOPE"], epsilon=[0.5, 3], horizon=50, trials=1)
    assert [(one.algorithm, one.asked) for one in found] == [
        ("AdaC-GOPE (rho=0.1)", None),
        ("DP-GOPE", 0.5),
        ("DP-GOPE", 3),
    ]
    size = {"n_arms": 4, "horizon": 50, "delta": 1e-6}
    with refused(UnreachableGuaranteeError, "AdaC-GOPE", 1):
        calibrate("AdaC-GOPE", rho=0.1, epsilon=1, **size)
    assert calibrate("AdaC-GOPE", rho=0.1, epsilon=3, **size).parameters["epsilon"] == pytest.approx(1.9945, abs=1e-4)


def test_features_must_fit_the_game():
    agent = LinearElimination()
    agent.see_features(np.eye(4))
    with refused(ValueError, "features", 5, 4):
        agent.begin(n_arms=5, horizon=10, rng=np.random.default_rng(0))


@pytest.mark.parametrize("normal", [False, True])
def test_the_width_holds_as_often_as_it_says(normal):
    """Of 200,000 estimates at most 1 % on one side exceed the width for L = ln 100. False alarm: 1e-5 (4.3 errors)."""
    rng, weights, noise = np.random.default_rng(4), np.array([0.5, -0.3, 0.2, 0.1]), np.array([0.4, -0.1])
    coins = (rng.random((200_000, 4)) < 0.5) - 0.5
    draws = rng.normal(size=(200_000, 2)) if normal else rng.laplace(size=(200_000, 2))
    errors = coins @ weights + 0.8 * draws @ noise
    width = elimination_width(math.log(100), float(weights @ weights), float(noise @ noise), 0.4, 0.8, normal=normal)
    assert np.mean(errors > width) <= 0.01 + 4.3 * math.sqrt(0.01 * 0.99 / 200_000)
    assert np.mean(errors > 0.4 * width) > 0.01  # the width is not far too large


def test_the_bound_by_hand():
    """Two arms and 100 rounds, gap .5: 1 + 32 * 1 + 64 + 4 rounds of a gap of up to 1, so 101, cut to 100."""
    assert linear_elimination_bound(2, None, 100, 0.0) == 100
    assert linear_elimination_bound(2, None, 100, 0.0, gaps=[0.0, 0.5]) == 50
    # Without noise and 2^20 rounds, the largest width with n plays of two arms is 2 sqrt(L / (4 n)); at .5 that ends
    # the game after the batch with 2 * 2 sqrt(L / (4 n)) < .5, or n > 16 L.
    lengths = batch_lengths(2, 2**20)
    nats = elimination_nats(2, len(lengths), 2**20)
    played = 0
    for rounds in lengths:
        played += rounds
        if 2 * math.sqrt(nats / (rounds / 2 - 1)) < 0.5:
            break
    assert linear_elimination_bound(2, None, 2**20, 0.0, gaps=[0.0, 0.5]) == pytest.approx(0.5 * (1 + played))


def bounds_that_say_something(number, horizon, trials):
    """Hold mean external regrets of random settings below their bounds; return how many bounds are below T."""
    rng, says = np.random.default_rng(6), 0
    for index in range(number):
        dimension, n_arms = int(rng.integers(2, 21)), int(10 ** rng.uniform(1, 3))
        game = {"n_arms": n_arms, "dimension": dimension, "coins": bool(index % 2), "gap": float(rng.uniform(0.2, 1))}
        name, epsilon = NAMES[index % 3], float(10 ** rng.uniform(-1, 1))
        algorithm = make_algorithm(name, **({} if name == "GOPE" else {"epsilon": epsilon}))
        bound = algorithm.regret_bound_in(gym.make(LINEAR, horizon=horizon, **game))
        outcome = simulate(LINEAR, [algorithm], horizon=horizon, trials=trials, seed=2, checkpoints=1, env_kwargs=game)
        assert outcome[algorithm.name].external_regret[:, -1].mean() <= bound
        says += bound < horizon
    return says


def test_regret_is_below_its_bound_in_a_few_settings():
    bounds_that_say_something(3, 2**12, trials=2)


@pytest.mark.slow
def test_regret_is_below_its_bound_in_50_settings():
    assert bounds_that_say_something(50, 2**16, trials=3) >= 30
