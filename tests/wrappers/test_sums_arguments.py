"""Wrong arguments of the wrappers that release sums and of randomized response: refused with the rule and a way out."""

import math

import gymnasium as gym
import numpy as np
import pytest

from dp_bandit_envs import wrappers
from dp_bandit_envs.errors import WrongGameError
from dp_bandit_envs.privacy.counters import COUNTERS
from dp_bandit_envs.wrappers import BlockSums, HybridSums, vector
from tests.tools.boundary_games import game, games
from tests.tools.refusals import refused

FORMS = {"scalar": (wrappers, game), "vector": (vector, lambda table: games(2, table))}
PRIVATE = ["HybridSums", "IntervalSums", "BlockSums", "RandomizedResponse"]


@pytest.fixture(params=FORMS)
def wrap(request):
    """A function that puts a wrapper by name around a game of 40 rounds."""
    forms, make = FORMS[request.param]
    return lambda name, **arguments: getattr(forms, name)(make(np.zeros((40, 2))), **arguments)


@pytest.mark.parametrize("name", PRIVATE)
@pytest.mark.parametrize("epsilon", [0, 0.0, -1, math.nan, -math.inf])
def test_epsilon_must_be_greater_than_zero(wrap, name, epsilon):
    with refused(ValueError, "epsilon", 0, epsilon, "math.inf"):
        wrap(name, epsilon=epsilon)


@pytest.mark.parametrize("name", PRIVATE)
@pytest.mark.parametrize("epsilon", ["1", None, [1.0], True])
def test_epsilon_must_be_a_number(wrap, name, epsilon):
    with refused(TypeError, "epsilon", repr(epsilon)):
        wrap(name, epsilon=epsilon)


@pytest.mark.parametrize("name", PRIVATE)
def test_epsilon_must_be_named(wrap, name):
    with pytest.raises(TypeError, match="epsilon"):
        wrap(name)


@pytest.mark.parametrize("v", [1, 1.0, 1.6, 0.5, -1.2, math.nan, math.inf, math.nextafter(1.5, 2.0)])
def test_v_must_lie_above_one_and_at_most_at_one_and_a_half(wrap, v):
    with refused(ValueError, "v", "(1, 1.5]", v):
        wrap("IntervalSums", epsilon=1.0, v=v)


def test_ends_of_the_range_of_v_are_as_stated(wrap):
    wrap("IntervalSums", epsilon=1.0, v=1.5)
    wrap("IntervalSums", epsilon=1.0, v=1.0001)


@pytest.mark.parametrize("delta", [0, 1, 0.0, 1.0, -0.1, 2, math.nan])
def test_delta_must_lie_between_zero_and_one(wrap, delta):
    with refused(ValueError, "delta", "(0, 1)", delta):
        wrap("IntervalSums", epsilon=1.0, delta=delta)
    with refused(ValueError, "delta", "(0, 1)", delta):
        wrap("CounterSums", epsilon=1.0, counter="square-root", delta=delta)


@pytest.mark.parametrize("release", ["twice", "", "Once", None])
def test_release_is_once_or_redraw(wrap, release):
    with refused(ValueError, "release", "'once'", "'redraw'", repr(release)):
        wrap("IntervalSums", epsilon=1.0, release=release)


@pytest.mark.parametrize("intervals", ["lemma B.1", "", "geometric", None])
def test_intervals_are_those_of_the_lemma_or_uniform(wrap, intervals):
    with refused(ValueError, "intervals", "'lemma'", "'uniform'", repr(intervals)):
        wrap("IntervalSums", epsilon=1.0, intervals=intervals)


@pytest.mark.parametrize("ratio", [0.5, 0, -2, math.nan, math.inf, math.nextafter(1.0, 0.0)])
def test_ratio_must_be_at_least_one(wrap, ratio):
    with refused(ValueError, "ratio", 1, ratio):
        wrap("BlockSums", epsilon=1.0, ratio=ratio)


@pytest.mark.parametrize("ratio", ["2", None])
def test_ratio_must_be_a_number(wrap, ratio):
    with refused(TypeError, "ratio", repr(ratio)):
        wrap("BlockSums", epsilon=1.0, ratio=ratio)


@pytest.mark.parametrize("lengths", [[], (), iter([])])
def test_lengths_must_name_a_block(wrap, lengths):
    with refused(ValueError, "lengths", "none"):
        wrap("BlockSums", epsilon=1.0, lengths=lengths)


@pytest.mark.parametrize("lengths", [[0], [2, 0], [-1], [3, -3]])
def test_a_length_must_be_at_least_one(wrap, lengths):
    with refused(ValueError, "length", 1, min(lengths)):
        wrap("BlockSums", epsilon=1.0, lengths=lengths)


@pytest.mark.parametrize("lengths", [[1.5], [2.0], ["2"], [None]])
def test_a_length_must_be_an_integer(wrap, lengths):
    with refused(TypeError, "length", 1, repr(lengths[0])):
        wrap("BlockSums", epsilon=1.0, lengths=lengths)


def test_lengths_may_be_numpy_integers_and_come_from_an_iterator(wrap):
    assert wrap("BlockSums", epsilon=1.0, lengths=np.array([2, 3])).mechanism.lengths == (2, 3)
    env = wrap("BlockSums", epsilon=1.0, lengths=(n for n in (2, 3)))
    assert env.mechanism.lengths == env.lengths == (2, 3)


def test_an_unknown_counter_brings_a_suggestion(wrap):
    with refused(ValueError, "counter", "'hybird'", "hybrid"):
        wrap("CounterSums", epsilon=1.0, counter="hybird")
    with refused(KeyError, "counter", "'xyzzy'", *COUNTERS):
        wrap("CounterSums", epsilon=1.0, counter="xyzzy")
    assert wrap("CounterSums", epsilon=1.0, counter="K-ARY").mechanism.counter(9).__class__.__name__ == "KAryCounter"


@pytest.mark.parametrize(
    ("counter", "option"),
    [("k-ary", {"budget": "paper"}), ("hybrid", {"base": 3}), ("hybrid", {"nonsense": 1})],
)
def test_an_option_that_the_counter_does_not_have_is_refused(wrap, counter, option):
    with refused(TypeError, counter, repr(next(iter(option))), "epsilon"):
        wrap("CounterSums", epsilon=1.0, counter=counter, **option)


def test_noise_that_does_not_fit_is_refused(wrap):
    with refused(TypeError, "delta", 0.1, "'gaussian'", "'laplace'"):
        wrap("CounterSums", epsilon=1.0, counter="binary", delta=0.1)
    with refused(ValueError, "noise", "'laplace'", "'own-norm'", "'gaussian'", "'normal'"):
        wrap("CounterSums", epsilon=1.0, counter="binary", noise="normal")
    with refused(ValueError, "noise", "'gaussian'", "'laplace'"):
        wrap("CounterSums", epsilon=1.0, counter="square-root", noise="laplace")
    with refused(WrongGameError, "own-norm", "DPBandit-Experts-v0", "'gaussian'"):
        wrap("CounterSums", epsilon=1.0, counter="binary", noise="own-norm")


def test_the_horizon_of_the_counters_is_that_of_the_game(wrap):
    with refused(TypeError, "horizon=", "environment"):
        wrap("HybridSums", epsilon=1.0, horizon=5)


@pytest.mark.parametrize("option", ["horizon", "sensitivity"])
def test_what_the_game_decides_cannot_be_given_as_an_option(wrap, option):
    """A smaller sensitivity would be less noise."""
    with pytest.raises(TypeError, match=option):
        wrap("HybridSums", epsilon=1.0, **{option: 1})


def test_options_of_counters_are_checked(wrap):
    with refused(ValueError, "budget", "'split'", "'paper'", "'double'"):
        wrap("HybridSums", epsilon=1.0, budget="double")
    with refused(ValueError, "base", "odd", 4):
        wrap("CounterSums", epsilon=1.0, counter="k-ary", base=4)
    assert wrap("CounterSums", epsilon=1.0, counter="k-ary", base=5).mechanism.counter(9).base == 5


@pytest.mark.parametrize("sensitivity", [0.0, -1.0, math.nan, math.inf])
@pytest.mark.parametrize("name", [*PRIVATE, "ExactSums"])
@pytest.mark.parametrize("form", FORMS)
def test_a_sensitivity_that_would_switch_the_noise_off_is_refused(form, name, sensitivity):
    forms, make = FORMS[form]
    env = make(np.zeros((40, 2)))
    env.sensitivity = sensitivity
    with refused(ValueError, name, "sensitivity", 0, sensitivity):
        getattr(forms, name)(env, **({} if name == "ExactSums" else {"epsilon": 1.0}))


@pytest.mark.parametrize("epsilon", [1e-12, 1e-9, 1e9])
@pytest.mark.parametrize("name", PRIVATE)
def test_extreme_but_valid_epsilons_play_a_game(wrap, name, epsilon):
    env = wrap(name, epsilon=epsilon)
    env.reset(seed=1)
    for _ in range(40):
        observation, *_ = env.step(1 if isinstance(env, gym.Env) else np.array([1, 1]))
        assert all(np.isfinite(part).all() for part in observation.values())


def test_a_game_too_short_for_a_release_spends_nothing(wrap):
    """The first end for epsilon = 0.1 is 1751 gains; here are 40 rounds."""
    env = wrap("IntervalSums", epsilon=0.1)
    assert (env.guarantee.epsilon, env.guarantee.model) == (0.0, "central")
    assert "too short" in env.guarantee.theorem
    assert env.mechanism.ends(40).size == 0


def test_noise_too_large_and_lengths_of_the_wrong_kind_are_refused_at_once():
    env = game(np.zeros((40, 2)))
    with refused(ValueError, 1e-320, "epsilon"):
        BlockSums(env, epsilon=1e-320)
    with refused(TypeError, "lengths", 5):
        BlockSums(env, epsilon=1.0, lengths=5)
    with refused(TypeError, "rng", "reset(seed=...)"):
        HybridSums(env, epsilon=1.0, rng=np.random.default_rng(0))


def test_blocks_longer_than_the_game_are_never_released():
    env = game(np.zeros((40, 2)))
    for huge in (BlockSums(env, epsilon=1.0, lengths=[10**30]), BlockSums(env, epsilon=1.0, ratio=1e19, first=2)):
        huge.reset(seed=0)
        assert huge.step(0)[0]["count"].tolist() == [0] * huge.n_arms
