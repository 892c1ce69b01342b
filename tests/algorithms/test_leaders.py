"""Leaders on noisy sums, and Noisy-Hedge on points: published numbers, bounds by hand, and limit cases."""

import dataclasses
import math

import gymnasium as gym
import numpy as np
import pytest

from dp_bandit_envs.algorithms import make_algorithm
from dp_bandit_envs.algorithms.leader_family import as_ftrl
from dp_bandit_envs.errors import WrongGameError
from dp_bandit_envs.metrics import mean_and_standard_error
from dp_bandit_envs.privacy.gaussian import gaussian_epsilon
from dp_bandit_envs.simulation import play, simulate
from dp_bandit_envs.theory.experts_bounds import (
    equal_noise_bound,
    fresh_noise_bound,
    fresh_noise_rate,
    growing_noise_bound,
    perturbed_leader_bound,
)
from dp_bandit_envs.wrappers import MiniBatchAverage
from tests.tools.refusals import refused

SETS = ("Ball", "Cube", "Simplex", "Experts")
FREE = {"epsilon": math.inf}
OWN = {"counter": "k-ary", "noise": "own-norm"}


def final_regrets(name, game, trials, horizon, seed=5, **arguments):
    """Return the regret after the last round in each trial, and the algorithm's bound in the game."""
    parameters = arguments.pop("parameters", {})
    algorithm = make_algorithm(name, **parameters)
    outcome = simulate(
        f"DPBandit-{game}-v0",
        [algorithm],
        horizon=horizon,
        trials=trials,
        seed=seed,
        checkpoints=[horizon],
        env_kwargs=arguments,
    )[algorithm.name]
    assert outcome.engine == "compiled"
    bound = algorithm.regret_bound_in(gym.make(f"DPBandit-{game}-v0", horizon=horizon, **arguments))
    return outcome.external_regret[:, -1], bound


# Horizon 2^16, dimension 10, epsilon 1: an independent prototype's mean and standard error over 12 games, for the game
# and the gap. Padded trees there have one more node than here, and than in the paper.
PUBLISHED = [
    ("AS-FTRL", FREE, "Simplex", 0.1, 141.2, 0.1),
    ("AS-FTRL", {}, "Simplex", 0.1, 1525 * (16 / 17) ** 1.5, 45),
    ("AS-FTRL", {"counter": "binary"}, "Simplex", 0.1, 958, 61),
    ("AS-FTRL", {"counter": "smooth-binary"}, "Simplex", 0.1, 701, 38),
    ("AS-FTRL", {"counter": "k-ary"}, "Simplex", 0.1, 387, 22),
    ("AS-FTRL", {"counter": "smooth-binary", "noise": "own-norm"}, "Simplex", 0.1, 359, 14),
    ("AS-FTRL", OWN, "Simplex", 0.1, 192, 14),
    ("DP-FTRL", {}, "Simplex", 0.1, 157, 9),
    ("AS-FTPL", {}, "Simplex", 0.1, 236, 28),
    ("AS-FTRL", FREE, "Ball", 0.1, 143.9, 0.1),
    ("AS-FTRL", {}, "Ball", 0.1, 1713 * (16 / 17) ** 1.5, 19),
    ("AS-FTRL", {"counter": "k-ary"}, "Ball", 0.1, 450, 13),
    ("AS-FTRL", OWN, "Ball", 0.1, 317, 10),
    ("DP-FTRL", {}, "Ball", 0.1, 173, 4),
    ("AS-FTPL", {}, "Ball", 0.1, 176.5, 6.7),
    ("AS-FTRL", FREE, "Cube", 0.0247, 630, 8),
    ("AS-FTRL", {"counter": "k-ary"}, "Cube", 0.0247, 724, 42),
    ("DP-FTRL", {}, "Cube", 0.0247, 694, 24),
    ("AS-FTPL", {}, "Cube", 0.0247, 815, 35),
]


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("case", "trials"),
    [
        *((PUBLISHED[place], 12) for place in (10, 13)),
        *(pytest.param(case, 60, marks=pytest.mark.slow) for case in PUBLISHED),
    ],
    ids=str,
)
def test_regret_is_that_of_an_independent_prototype(case, trials):
    """Compare means by four standard errors of both. False alarm: 6e-5."""
    name, parameters, game, gap, mean, error = case
    regrets, bound = final_regrets(name, game, trials, 2**16, parameters=parameters, gap=gap)
    found, own_error = (float(value) for value in mean_and_standard_error(regrets))
    assert abs(found - mean) < 4 * math.hypot(error, own_error), (found, own_error)
    assert found < bound


@pytest.mark.parametrize(
    ("name", "parameters", "game"),
    [
        *(("AS-FTRL", {"counter": "padded-binary"}, game) for game in SETS[:3]),
        ("DP-FTRL", {}, "Ball"),
        ("Noisy-Hedge", {}, "Cube"),
    ],
)
def test_without_noise_it_is_the_regularised_leader_by_hand(name, parameters, game):
    """The leader's point is recomputed from sums of true gains with NumPy's functions, not with the agent's."""
    horizon = 60
    env = gym.make(f"DPBandit-{game}-v0", horizon=horizon, dimension=3)
    env.reset(seed=4, options={"trial": 0})
    decision_set, block = env.unwrapped.decision_set, []
    for _ in range(horizon):
        observation, *_ = env.step(decision_set.project(np.zeros(3)))
        block.append(observation["gain"])
    table = np.array(block)
    sums = np.vstack([np.zeros(3), np.cumsum(table, axis=0)[:-1]])
    rate = {"Ball": 1 / math.sqrt(60), "Cube": math.sqrt(3 / 60), "Simplex": math.sqrt(8 * math.log(3) / 60)}[game]
    if game == "Simplex":
        weights = np.exp(rate * sums)
        points = weights / weights.sum(axis=1, keepdims=True)
    else:
        points = np.array([decision_set.project(rate * one) for one in sums])
    collected = np.cumsum((points * table).sum(axis=1))
    expected = decision_set.support(np.cumsum(table, axis=0)) - collected
    algorithm = make_algorithm(name, epsilon=math.inf, **parameters)
    game_played = play(gym.make(f"DPBandit-{game}-v0", horizon=horizon, dimension=3), algorithm, seed=4)
    # Incoming gains are rounded to multiples of 2^-30 in the sums.
    assert game_played.external_regret == pytest.approx(expected, abs=1e-6)


def test_the_printed_noise_is_worth_what_the_report_says():
    """2 ceil(lg T) / ln T on the ball and the cube; half of it for experts, whose gains are in [0, 1]."""
    algorithm = make_algorithm("AS-FTRL", paper=True)
    for game, factor in (("Ball", 2), ("Cube", 2), ("Simplex", 1), ("Experts", 1)):
        env = gym.make(f"DPBandit-{game}-v0", horizon=2**16)
        true = algorithm.guarantee_in(env).epsilon
        assert true == pytest.approx(factor * 16 / math.log(2**16), rel=1e-9)
        assert algorithm.paper_guarantee_in(env).epsilon == 1.0
        assert make_algorithm("AS-FTRL").guarantee_in(env).epsilon == 1.0
    with pytest.raises(ValueError, match="printed"):
        make_algorithm("AS-FTRL", paper=True, noise="own-norm")


@pytest.mark.parametrize(
    ("game", "largest", "distance"),
    [("Ball", 1.0, 2.0), ("Cube", 1.0, 2.0), ("Simplex", math.sqrt(3), math.sqrt(3))],
)
def test_the_printed_noise_of_theorem_3_5(game, largest, distance):
    """Sigma by hand for d = 3, T = 2^10, epsilon = .5 and 50, and what it is worth, by sigma / (D_2 sqrt 10)."""
    env = gym.make(f"DPBandit-{game}-v0", horizon=2**10, dimension=3)
    log = math.log(2**10)
    for epsilon in (0.5, 50.0):
        private = math.sqrt(3) / epsilon * log * math.log(log / 1e-6)
        sigma = max(largest * math.sqrt(2**10 / (math.sqrt(3) * log)), private)
        algorithm = make_algorithm("AS-FTPL", epsilon=epsilon, paper=True)
        found = algorithm.wrap(env).get_wrapper_attr("mechanism").counter(2**10)
        node = math.sqrt(found.variance(700) / 10) * env.get_wrapper_attr("values").l2
        assert node == pytest.approx(sigma, rel=1e-6)
        true = gaussian_epsilon(sigma / (distance * math.sqrt(10)), 1e-6)
        assert algorithm.guarantee_in(env).epsilon_at(1e-6) == pytest.approx(true, rel=1e-3)
        assert algorithm.paper_guarantee_in(env).epsilon == epsilon
        assert algorithm.regret_bound_in(env) > make_algorithm("AS-FTPL", epsilon=epsilon).regret_bound_in(env)
    with pytest.raises(ValueError, match="printed"):
        make_algorithm("AS-FTPL", paper=True, deviation=3.0)


def test_on_the_ball_privacy_is_exactly_free_from_two_to_the_fifteen_on():
    """Where the noise that regret asks for is larger than that of privacy: the same game, play for play."""
    for horizon, same in ((2**14, False), (2**15, True)):
        private, free = (
            simulate(
                "DPBandit-Ball-v0",
                [dataclasses.replace(make_algorithm("AS-FTPL", epsilon=epsilon), player="one")],
                **{"horizon": horizon, "seed": 2, "env_kwargs": {"dimension": 10}},
            )["AS-FTPL"]
            for epsilon in (1.0, math.inf)
        )
        assert (private.external_regret.tolist() == free.external_regret.tolist()) == same
        assert (private.guarantee.epsilon < 1) == same
        assert private.guarantee.delta == 1e-6


def test_bounds_by_hand():
    # Without noise: A / a + B a T at the best a.
    assert equal_noise_bound("ball", 7, 400, 0.05, "laplace", 0.0, 3) == pytest.approx(math.sqrt(400))
    assert equal_noise_bound("cube", 4, 100, 0.2, "laplace", 0.0, 3) == pytest.approx(math.sqrt(4 * 100))
    rate = math.sqrt(8 * math.log(5) / 300)
    assert equal_noise_bound("simplex", 5, 300, rate, "laplace", 0.0, 1) == pytest.approx(
        math.sqrt(300 * math.log(5) / 2)
    )
    # Small noise costs a E|Z|^2 / 2: two nodes of scale 1, 2 coordinates, variance 2 each.
    noisy = equal_noise_bound("ball", 2, 400, 0.05, "laplace", 1.0, 2) - math.sqrt(400)
    assert noisy == pytest.approx(0.05 / 2 * 8)
    # Own-norm noise on the ball: E r^2 = d (d + 1) for r of Gamma(d).
    assert equal_noise_bound("ball", 2, 400, 0.05, "own-norm", 1.0, 2) - math.sqrt(400) == pytest.approx(0.05 / 2 * 12)
    assert growing_noise_bound("cube", 4, 100, 0.2, 3.0) == pytest.approx(20 + 0.1 * 4 * 9)
    assert growing_noise_bound("simplex", 5, 300, rate, 3.0) == pytest.approx(
        math.sqrt(150 * math.log(5)) + rate / 2 * 9
    )
    # Constant s on the ball: s sqrt(d) + (T - 1) / (2 s sqrt(d)), and the first round.
    assert perturbed_leader_bound("ball", 4, [5.0] * 11) == pytest.approx(2 + 10 + 10 / 20)


@pytest.mark.parametrize("set_name", ["ball", "cube", "simplex"])
@pytest.mark.parametrize("kind", ["laplace", "own-norm"])
def test_the_bound_covers_the_mean_of_the_conjugate(set_name, kind):
    """E[(R / a)^*(Z)] by sampling: an independent route to what the closed form bounds. False alarm: 6e-5."""
    rng = np.random.default_rng(3)
    d, nodes, samples = 5, 3, 40_000
    for scale in (0.3, 4.0, 60.0):
        rate = 0.1
        noise = np.zeros((samples, d))
        for _ in range(nodes):
            if kind == "laplace" or set_name == "cube":
                noise += rng.laplace(0, scale, (samples, d))
            elif set_name == "ball":
                direction = rng.standard_normal((samples, d))
                direction /= np.linalg.norm(direction, axis=1, keepdims=True)
                noise += scale * rng.gamma(d, size=(samples, 1)) * direction
            else:
                noise += scale * rng.gamma(d + 1, size=(samples, 1)) * rng.uniform(-1, 1, (samples, d))
        if set_name == "simplex":
            largest = noise.max(axis=1)
            conjugate = largest + np.log(np.exp(rate * (noise - largest[:, None])).mean(axis=1)) / rate
        else:
            lengths = np.linalg.norm(noise, axis=1)[:, None] if set_name == "ball" else np.abs(noise)
            huber = np.where(rate * lengths <= 1, rate * lengths**2 / 2, lengths - 1 / (2 * rate))
            conjugate = huber.sum(axis=1)
        bound = equal_noise_bound(set_name, d, 1, rate, kind, scale, nodes)
        bound -= equal_noise_bound(set_name, d, 1, rate, kind, 0.0, nodes)
        mean, error = (float(value) for value in mean_and_standard_error(conjugate))
        assert mean - 4 * error <= bound <= 3 * mean + 4 * error


@pytest.mark.parametrize(("name", "delta"), [("AS-FTPL", 1e-9), ("DP-FTRL", 1e-9), ("DP-FTRL", 1e-3)])
def test_they_guarantee_the_epsilon_asked_for_at_the_delta_asked_for(name, delta):
    asked = make_algorithm(name, epsilon=0.1, delta=delta).guarantee(n_arms=4, horizon=1000)
    assert 0.0999 < asked.epsilon_at(delta) <= 0.1


def test_as_ftpl_guarantees_it_above_batches_and_in_games_of_a_few_rounds():
    """A batch of 3 moves averages by a third of the distance, so a third of the noise is as private.

    In few rounds so little noise is wanted that fast draws would need much of delta; then there is a little more.
    """
    for game in SETS:
        env = gym.make(f"DPBandit-{game}-v0", horizon=3 * 64)
        batches = MiniBatchAverage(env, batch_size=3)
        assert batches.values.l2 == pytest.approx(env.get_wrapper_attr("values").l2 / 3)
        algorithm = make_algorithm("AS-FTPL", epsilon=0.1)
        found = algorithm.guarantee_in(batches)
        assert (found.epsilon, found.delta) == (0.1, 1e-6)
        assert algorithm.wrap(batches).guarantee == found
    free = make_algorithm("AS-FTPL", epsilon=math.inf)
    for horizon in (1, 2, 40):
        game = gym.make("DPBandit-Ball-v0", horizon=horizon)
        assert free.guarantee_in(game).epsilon <= 20
        assert np.isfinite(play(game, make_algorithm("AS-FTPL")).external_regret).all()


@pytest.mark.parametrize("game", ["Experts", "Ball"])
def test_as_ftpl_has_the_noise_of_what_was_asked_for_or_is_refused_near_the_least_delta(game):
    """Fast draws need about .5e-12 here: above twice that the noise was of an epsilon down to .035 for the 1 asked."""
    env = gym.make(f"DPBandit-{game}-v0", horizon=100)
    for factor in (1.01, 1.1, 1.5, 4):
        epsilons = {
            make_algorithm(name, delta=factor * least_delta(name, env)).guarantee_in(env).epsilon
            for name in ("AS-FTPL", "DP-FTRL")
        }
        assert epsilons == {1.0}
    with refused(WrongGameError, "fast draws", "a delta of at least"):
        make_algorithm("AS-FTPL", delta=0.9 * least_delta("AS-FTPL", env)).guarantee_in(env)


def least_delta(name, env):
    """Return the least delta at which an algorithm can be played, by bisection."""
    low, high = -15.0, -9.0
    for _ in range(30):
        middle = (low + high) / 2
        try:
            make_algorithm(name, delta=10**middle).guarantee_in(env)
            high = middle
        except WrongGameError:
            low = middle
    return float(10**high)


def test_they_refuse_games_that_hide_gains():
    for name in ("AS-FTRL", "AS-FTPL", "DP-FTRL"):
        for game, arguments in (("Stochastic", {}), ("Ball", {"feedback": "bandit"})):
            with pytest.raises(WrongGameError):
                play(gym.make(f"DPBandit-{game}-v0", horizon=5, **arguments), make_algorithm(name))


def test_the_bound_of_the_perturbed_leader_skips_no_growth_of_its_noise():
    """It looks at some of the releases only, in long games; the exact sum is at most that, and hardly less."""
    horizon = 3 * 4096
    game = gym.make("DPBandit-Ball-v0", horizon=horizon)
    algorithm = make_algorithm("AS-FTPL")
    counter = algorithm.wrap(game).get_wrapper_attr("mechanism").counter(horizon)
    deviations = [2 * math.sqrt(counter.variance(t)) for t in range(1, horizon + 1)]
    exact = perturbed_leader_bound("ball", 10, deviations)
    assert exact <= algorithm.regret_bound_in(game) <= exact * (1 + 1e-5)


def test_the_bound_of_fresh_noise_by_hand_and_its_best_rate():
    # Ball: A = 1/2, d = 4, T = 100, b = 2: 1 / (2 * 0.1) + 0.05 * 100 * (1 + 2 * 4 * 4) + 2 * 2 = 5 + 165 + 4.
    assert fresh_noise_bound("ball", 4, 100, 0.1, 2.0) == pytest.approx(174)
    # Cube: A = d / 2 = 2, and the clipped part is d b = 8.
    assert fresh_noise_bound("cube", 4, 100, 0.1, 2.0) == pytest.approx(20 + 165 + 8)
    for set_name in ("ball", "cube"):
        rate = fresh_noise_rate(set_name, 10, 5000, 6.3)
        best = fresh_noise_bound(set_name, 10, 5000, rate, 6.3)
        assert best < min(fresh_noise_bound(set_name, 10, 5000, other * rate, 6.3) for other in (1.1, 1 / 1.1))


@pytest.mark.parametrize(("name", "distance"), [("Ball", 2 * math.sqrt(10)), ("Cube", 2.0), ("Simplex", 10.0)])
def test_noise_of_noisy_hedge_is_scaled_to_two_gain_vectors_and_its_regret_is_within_its_bound(name, distance):
    """The mean of 12 games, four standard errors below the bound. False alarm: 6e-5."""
    game, algorithm = gym.make(f"DPBandit-{name}-v0", horizon=100).unwrapped, make_algorithm("Noisy-Hedge", epsilon=0.5)
    assert algorithm.wrap(game).env.get_wrapper_attr("noise").scale == pytest.approx(distance / 0.5)
    assert algorithm.guarantee_in(game).epsilon == 0.5 and algorithm.guarantee_in(game).model == "local"
    regret, bound = final_regrets("Noisy-Hedge", name, 12, 4096, parameters={"epsilon": 3.0}, gap=0.5)
    assert 0 < regret.mean() + 4 * regret.std() / math.sqrt(12) < bound < 4096 * 2


def test_the_first_play_of_as_ftrl_uses_no_noise():
    """Line 3 of algorithm 1 draws noise for it, too; its docstring says where the two differ."""
    env = make_algorithm("AS-FTRL").wrap(gym.make("DPBandit-Ball-v0", horizon=2, dimension=3))
    observation, _ = env.reset(seed=0)
    assert not np.any(observation["sum"])
    observation, *_ = env.step(np.zeros(3))
    assert np.all(observation["sum"])
    assert "the first play, which uses no noise" in as_ftrl.__doc__
