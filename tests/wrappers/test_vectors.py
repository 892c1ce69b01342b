"""Game i of a vector wrapper is, to the last bit, the scalar wrapper with that game's seed, game after game."""

import inspect
import math
import pickle

import gymnasium as gym
import numpy as np
import pytest

from dp_bandit_envs import wrappers
from dp_bandit_envs.adversaries import Stochastic, SwitchingCost
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.envs.bandit_vector_env import BanditVectorEnv
from dp_bandit_envs.envs.experts_env import ExpertsEnv, ExpertsVectorEnv
from dp_bandit_envs.privacy.mechanisms import MECHANISMS
from dp_bandit_envs.wrappers import CounterSums, LaplaceClipRescale, MiniBatchAverage, PrivacyBoundary, vector
from dp_bandit_envs.wrappers.vector import VectorPrivacyBoundary
from tests.tools.boundary_games import EVERY, EVERYWHERE, ORDERS, PLANTED, SUMS, around, game, games, wrapped
from tests.tools.refusals import refused

HORIZON = 13
NUM_ENVS = 3


def same(one, other):
    """Assert that two results of a step or reset of many games are the same to the last bit."""
    assert set(one[0]) == set(other[0])
    for key in one[0]:
        assert one[0][key].tobytes() == other[0][key].astype(one[0][key].dtype).tobytes()
    for left, right in zip(one[1:-1], other[1:-1], strict=True):
        np.testing.assert_array_equal(left, right)
    assert set(one[-1]) == set(other[-1])
    for key in one[-1]:
        np.testing.assert_array_equal(one[-1][key], other[-1][key])


CASES = [
    *((order, {"tau": 2, "outside": "reject", "epsilon": 0.5}, Stochastic) for order in ORDERS),
    ("Laplace(Laplace)", {"outside": "clip", "epsilon": 4.0}, SwitchingCost),
    ("Laplace(MiniBatch)", {"tau": 2, "epsilon": math.inf}, SwitchingCost),
    *((name, {}, Stochastic if place % 2 else SwitchingCost) for place, name in enumerate(SUMS)),
]


@pytest.mark.thorough
@pytest.mark.parametrize(("name", "options", "kind"), CASES)
def test_three_routes_to_the_same_games(name, options, kind):
    """Native games in vector wrappers; scalar games, each wrapped; scalar games below vector wrappers."""
    horizon = HORIZON if name in ORDERS else 14  # so that batches of 2 below sums leave no round over

    def adversary():
        return kind(3, horizon)

    native = wrapped(BanditVectorEnv(NUM_ENVS, adversary()), name, **options)
    alone = gym.vector.SyncVectorEnv([lambda: wrapped(BanditEnv(adversary()), name, **options)] * NUM_ENVS)
    mixed = wrapped(gym.vector.SyncVectorEnv([lambda: BanditEnv(adversary())] * NUM_ENVS), name, **options)
    routes = [native, alone, mixed]
    first, *others = [env.reset(seed=21) for env in routes]
    for other in others:
        same(first, other)
    rng, ends, last = np.random.default_rng(5), 0, set()
    for _ in range(3 * (horizon + 1)):  # several ends of games, and the steps that begin the next ones
        arms = rng.integers(0, 3, NUM_ENVS)
        first, *others = [env.step(arms) for env in routes]
        for other in others:
            same(first, other)
        assert all(env.observation_space.contains(first[0]) for env in routes)
        if first[2].all():
            ends += 1
            last.add(first[0]["sum"].tobytes() if name in SUMS else ends)
    assert ends >= 2 and len(last) == ends  # every game has its own gains and noise
    first, other = (env.reset(seed=[7, 8, 30], options={"trial": 4}) for env in (native, mixed))
    same(first, other)
    for _ in range(4):
        same(*(env.step(np.array([0, 0, 0])) for env in (native, mixed)))


@pytest.mark.parametrize("noise", ["laplace", "own-norm", "gaussian"])
def test_two_routes_to_the_same_sums_of_vectors(noise):
    """Full information: all coordinates share a position in each game, and the games have noise of their own."""
    more = {"counter": "honaker", "epsilon": 1.0, "noise": noise}
    native = vector.CounterSums(ExpertsVectorEnv(NUM_ENVS, gains=Stochastic(3, 14, means=[0.55, 0.5, 0.5])), **more)
    wrapped = gym.vector.SyncVectorEnv(
        [lambda: CounterSums(ExpertsEnv(gains=Stochastic(3, 14, means=[0.55, 0.5, 0.5])), **more)] * NUM_ENVS
    )
    same(native.reset(seed=21), wrapped.reset(seed=21))
    rng = np.random.default_rng(5)
    for _ in range(2 * 15):
        arms = rng.integers(0, 3, NUM_ENVS)
        first, other = native.step(arms), wrapped.step(arms)
        same(first, other)
        if first[2].any():
            assert len(set(first[0]["sum"].ravel().tolist())) == 3 * NUM_ENVS


@pytest.mark.thorough
def test_noise_is_fetched_ahead_without_changing_its_order():
    """More draws than are fetched at once, and a number of draws a step that differs between games."""
    horizon = 1400
    options = {"epsilon": 2.0, "bound": 1.0}  # about one release in eight falls outside
    env = around(games(2, np.zeros((horizon, 2))), "Laplace(Laplace)", **options)
    scalar = gym.vector.SyncVectorEnv([lambda: around(game(np.zeros((horizon, 2))), "Laplace(Laplace)", **options)] * 2)
    same(env.reset(seed=1), scalar.reset(seed=1))
    withheld = 0
    for _ in range(horizon):
        one, other = env.step(np.array([0, 1])), scalar.step(np.array([0, 1]))
        same(one, other)
        withheld += 2 - int(one[0]["observed"].sum())
    assert withheld > horizon / 10


@pytest.mark.thorough
@pytest.mark.parametrize("name", EVERY)
def test_declared_facts_are_the_same(name):
    scalar, many = wrapped(game(np.zeros((HORIZON, 2))), name), wrapped(games(2, np.zeros((HORIZON, 2))), name)
    facts = ["sensitivity", "guarantee", "horizon", "n_arms", "inputs", "releases_sums", "noise"]
    for fact in [*facts, *(["batch_size"] if name in ORDERS else [])]:
        assert getattr(scalar, fact) == getattr(many, fact), fact
    assert scalar.observation_space == many.single_observation_space
    if name in ORDERS:
        assert vars(scalar.mechanism) == vars(many.mechanism)


def test_games_with_one_seed_are_refused():
    """They would have the same noise, which cancels in a difference of their releases."""
    table = np.zeros((5, 2))
    routes = (games(3, table), around(games(3, table), "Laplace", epsilon=1.0))
    for env in routes:
        with refused(ValueError, "seed", 3, 2) as caught:
            env.reset(seed=[71234567, 8, 71234567])
        assert "71234567" not in str(caught.value)
        env.reset(seed=[7, None, None])


def test_an_average_inside_a_sync_vector_env_makes_the_noise_around_it_central():
    """The part that averages sees true gains of many rounds, wherever it stands."""
    scalar = LaplaceClipRescale(MiniBatchAverage(game(EVERYWHERE), batch_size=2), epsilon=1.0)
    inside = gym.vector.SyncVectorEnv([lambda: MiniBatchAverage(game(EVERYWHERE), batch_size=2)] * 2)
    assert vector.LaplaceClipRescale(inside, epsilon=1.0).guarantee == scalar.guarantee
    # Whether the inner wrapper rejected a gain is protected by its own epsilon only.
    inside = gym.vector.SyncVectorEnv([lambda: LaplaceClipRescale(game(EVERYWHERE), epsilon=10.0)] * 2)
    assert vector.LaplaceClipRescale(inside, epsilon=0.1).guarantee.epsilon == 10.0
    # In the mode SAME_STEP the last observation of a game is replaced by the first of the next one.
    below = gym.vector.SyncVectorEnv([lambda: game(EVERYWHERE)] * 2, autoreset_mode=gym.vector.AutoresetMode.SAME_STEP)
    with refused((TypeError, ValueError), "NEXT_STEP"):
        vector.LaplaceClipRescale(below, epsilon=1.0)


def test_noise_around_a_sync_vector_env_of_noisy_games_is_drawn_from_another_stream():
    inside = gym.vector.SyncVectorEnv([lambda: LaplaceClipRescale(game(EVERYWHERE), epsilon=1.0, outside="clip")] * 2)
    env = vector.LaplaceClipRescale(inside, epsilon=1.0, outside="clip")
    env.reset(seed=3)
    draws = []
    for release in (inside.step, env.step):
        env.reset(seed=3)
        draws.append(release(np.array([0, 0]))[0]["gain"][:, 0])
    _, scale, bound = env.noise
    once = draws[0] * (1 + 2 * bound) - bound - PLANTED  # the inner noise
    twice = draws[1] * (1 + 2 * bound) - bound - draws[0]  # the outer noise
    assert scale == pytest.approx(1.0, rel=2e-9)
    assert not np.allclose(once, twice, rtol=0, atol=1e-6)


# ---- each mechanism has a wrapper for one game and one for many, with its own arguments and docs


PACKAGES = ((wrappers, PrivacyBoundary), (vector, VectorPrivacyBoundary))


@pytest.mark.parametrize(("package", "boundary"), PACKAGES)
def test_each_mechanism_of_the_table_has_a_wrapper_and_each_wrapper_a_mechanism(package, boundary):
    made = {name for name in package.__all__ if issubclass(getattr(package, name), boundary)} - {boundary.__name__}
    missing = set(MECHANISMS) - made
    assert not missing, f"write a class for {missing} in wrappers/privacy_wrappers.py and vector/vector_wrappers.py"
    assert made == set(MECHANISMS)


@pytest.mark.parametrize(("package", "boundary"), PACKAGES)
@pytest.mark.parametrize("name", MECHANISMS)
def test_a_wrapper_takes_what_its_mechanism_takes(package, boundary, name):
    """The signatures are written out, so that nothing else would notice a default that differs."""
    _, *taken = inspect.signature(getattr(package, name)).parameters.values()
    assert taken == [*inspect.signature(MECHANISMS[name]).parameters.values()]


@pytest.mark.parametrize(("package", "boundary"), PACKAGES)
@pytest.mark.parametrize("name", MECHANISMS)
def test_a_wrapper_hands_each_argument_to_its_mechanism_and_shows_it(package, boundary, name):
    given = {
        "epsilon": 0.75,
        "delta": 0.01,
        "v": 1.25,
        "counter": "binary",
        "noise": "gaussian",
        "bound": 3.5,
        "outside": "clip",
        "batch_size": 3,
        "ratio": 1.5,
        "first": 4,
        "keep": True,
        "lengths": (2, 5),
        "release": "redraw",
        "intervals": "pure",
        "pad_unplayed": True,
    }
    takes = [key for key in inspect.signature(MECHANISMS[name]).parameters if key not in ("options", "draws")]
    arguments = {key: given[key] for key in takes}
    if name == "BlockSums":  # lengths take the place of its ratio and first
        del arguments["lengths"]
    if boundary is PrivacyBoundary:
        env = getattr(package, name)(gym.make("DPBandit-Stochastic-v0", horizon=24), **arguments)
    else:
        env = getattr(package, name)(gym.make_vec("DPBandit-Stochastic-v0", num_envs=2, horizon=24), **arguments)
    assert vars(env.mechanism).keys() == vars(MECHANISMS[name](**arguments)).keys()
    assert repr(sorted(vars(env.mechanism).items())) == repr(sorted(vars(MECHANISMS[name](**arguments)).items()))
    assert {key: getattr(env, key) for key in arguments if key != "noise"} == {
        key: argument for key, argument in arguments.items() if key != "noise"
    }


@pytest.mark.parametrize(("package", "boundary"), PACKAGES)
@pytest.mark.parametrize("name", MECHANISMS)
def test_help_has_the_mechanisms_arguments_and_source_below_the_wrappers_own_sentence(package, boundary, name):
    kind, mechanism = getattr(package, name), MECHANISMS[name]
    docs = inspect.getdoc(kind)
    assert docs.count("Args:\n    env: ") == 1 and "\n\n" in docs
    for line in inspect.getdoc(mechanism).partition("Args:")[2].partition("Example:")[0].splitlines():
        assert line in docs
    assert ("Example:" in docs) == (boundary is PrivacyBoundary)
    assert pickle.loads(pickle.dumps(kind)) is kind


def test_a_near_miss_is_named():
    with pytest.raises(AttributeError, match="Did you mean LaplaceClipRescale"):
        wrappers.LaplaceClipRescal  # noqa: B018 (looking it up is the test)
