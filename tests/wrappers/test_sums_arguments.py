"""Wrong arguments of the wrappers that release sums and of randomized response: refused with the rule and a way out."""

import math

import gymnasium as gym
import numpy as np
import pytest

from dp_bandit_envs import wrappers
from dp_bandit_envs.wrappers import BlockSums, HybridSums, vector
from tests.tools.boundary_games import game, games

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
    with pytest.raises(
        ValueError,
        match=rf"^epsilon must be greater than 0; received {epsilon}\. Use math\.inf for a run without noise",
    ):
        wrap(name, epsilon=epsilon)


@pytest.mark.parametrize("name", PRIVATE)
@pytest.mark.parametrize("epsilon", ["1", None, [1.0], True])
def test_epsilon_must_be_a_number(wrap, name, epsilon):
    with pytest.raises(TypeError, match=r"^epsilon must be a number; received "):
        wrap(name, epsilon=epsilon)


@pytest.mark.parametrize("name", PRIVATE)
def test_epsilon_must_be_named(wrap, name):
    with pytest.raises(TypeError, match="epsilon"):
        wrap(name)


@pytest.mark.parametrize("v", [1, 1.0, 1.6, 0.5, -1.2, math.nan, math.inf, math.nextafter(1.5, 2.0)])
def test_v_must_lie_above_one_and_at_most_at_one_and_a_half(wrap, v):
    with pytest.raises(ValueError, match=rf"^v must be in \(1, 1\.5\]; received {v}\."):
        wrap("IntervalSums", epsilon=1.0, v=v)


def test_ends_of_the_range_of_v_are_as_stated(wrap):
    wrap("IntervalSums", epsilon=1.0, v=1.5)
    wrap("IntervalSums", epsilon=1.0, v=1.0001)


@pytest.mark.parametrize("delta", [0, 1, 0.0, 1.0, -0.1, 2, math.nan])
def test_delta_must_lie_between_zero_and_one(wrap, delta):
    with pytest.raises(ValueError, match=rf"^delta must be in \(0, 1\); received {delta}\."):
        wrap("IntervalSums", epsilon=1.0, delta=delta)
    with pytest.raises(ValueError, match=rf"^delta must be in \(0, 1\); received {delta}\."):
        wrap("CounterSums", epsilon=1.0, counter="square-root", delta=delta)


@pytest.mark.parametrize("release", ["twice", "", "Once", None])
def test_release_is_once_or_redraw(wrap, release):
    with pytest.raises(ValueError, match=rf"^release must be one of 'once', 'redraw'; received {release!r}\."):
        wrap("IntervalSums", epsilon=1.0, release=release)


@pytest.mark.parametrize("intervals", ["lemma B.1", "", "geometric", None])
def test_intervals_are_those_of_the_lemma_or_uniform(wrap, intervals):
    with pytest.raises(ValueError, match=rf"^intervals must be one of 'lemma', 'uniform'; received {intervals!r}\."):
        wrap("IntervalSums", epsilon=1.0, intervals=intervals)


@pytest.mark.parametrize("ratio", [0.5, 0, -2, math.nan, math.inf, math.nextafter(1.0, 0.0)])
def test_ratio_must_be_at_least_one(wrap, ratio):
    with pytest.raises(ValueError, match=rf"^ratio must be a finite number of at least 1; received {ratio}\."):
        wrap("BlockSums", epsilon=1.0, ratio=ratio)


@pytest.mark.parametrize("ratio", ["2", None])
def test_ratio_must_be_a_number(wrap, ratio):
    with pytest.raises(TypeError, match=r"^ratio must be a number; received "):
        wrap("BlockSums", epsilon=1.0, ratio=ratio)


@pytest.mark.parametrize("lengths", [[], (), iter([])])
def test_lengths_must_name_a_block(wrap, lengths):
    with pytest.raises(ValueError, match=r"^lengths must name at least one block; received none"):
        wrap("BlockSums", epsilon=1.0, lengths=lengths)


@pytest.mark.parametrize("lengths", [[0], [2, 0], [-1], [3, -3]])
def test_a_length_must_be_at_least_one(wrap, lengths):
    with pytest.raises(ValueError, match=rf"^a length must be an integer of at least 1; received {min(lengths)}\."):
        wrap("BlockSums", epsilon=1.0, lengths=lengths)


@pytest.mark.parametrize("lengths", [[1.5], [2.0], ["2"], [None]])
def test_a_length_must_be_an_integer(wrap, lengths):
    with pytest.raises(TypeError, match=r"^a length must be an integer of at least 1; received "):
        wrap("BlockSums", epsilon=1.0, lengths=lengths)


def test_lengths_may_be_numpy_integers_and_come_from_an_iterator(wrap):
    assert wrap("BlockSums", epsilon=1.0, lengths=np.array([2, 3])).mechanism.lengths == (2, 3)
    assert wrap("BlockSums", epsilon=1.0, lengths=(n for n in (2, 3))).mechanism.lengths == (2, 3)


def test_an_unknown_counter_brings_a_suggestion(wrap):
    with pytest.raises(ValueError, match=r"^counter must be a known name; received 'hybird'. Did you mean hybrid"):
        wrap("CounterSums", epsilon=1.0, counter="hybird")
    with pytest.raises(KeyError, match="Known: logarithmic, binary, hybrid"):
        wrap("CounterSums", epsilon=1.0, counter="xyzzy")
    assert wrap("CounterSums", epsilon=1.0, counter="K-ARY").mechanism.counter(9).__class__.__name__ == "KAryCounter"


@pytest.mark.parametrize(
    ("counter", "option"),
    [("k-ary", {"budget": "paper"}), ("hybrid", {"base": 3}), ("binary", {"delta": 0.1}), ("hybrid", {"nonsense": 1})],
)
def test_an_option_that_the_counter_does_not_have_is_refused(wrap, counter, option):
    with pytest.raises(
        TypeError, match=f"the {counter} counter has no argument '{next(iter(option))}'. Known: epsilon"
    ):
        wrap("CounterSums", epsilon=1.0, counter=counter, **option)


def test_the_horizon_of_the_counters_is_that_of_the_game(wrap):
    with pytest.raises(TypeError, match="horizon is that of the game"):
        wrap("HybridSums", epsilon=1.0, horizon=5)


@pytest.mark.parametrize("option", ["horizon", "sensitivity"])
def test_what_the_game_decides_cannot_be_given_as_an_option(wrap, option):
    """A smaller sensitivity would be less noise."""
    with pytest.raises(TypeError, match=option):
        wrap("HybridSums", epsilon=1.0, **{option: 1})


def test_options_of_counters_are_checked(wrap):
    with pytest.raises(ValueError, match=r"^budget must be one of 'split', 'paper'; received 'double'"):
        wrap("HybridSums", epsilon=1.0, budget="double")
    with pytest.raises(ValueError, match=r"^base must be odd; received 4"):
        wrap("CounterSums", epsilon=1.0, counter="k-ary", base=4)
    assert wrap("CounterSums", epsilon=1.0, counter="k-ary", base=5).mechanism.counter(9).base == 5


@pytest.mark.parametrize("sensitivity", [0.0, -1.0, math.nan, math.inf])
@pytest.mark.parametrize("name", [*PRIVATE, "ExactSums"])
@pytest.mark.parametrize("form", FORMS)
def test_a_sensitivity_that_would_switch_the_noise_off_is_refused(form, name, sensitivity):
    forms, make = FORMS[form]
    env = make(np.zeros((40, 2)))
    env.sensitivity = sensitivity
    with pytest.raises(ValueError, match=f"{name} needs an environment whose sensitivity is finite and greater than 0"):
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
    with pytest.raises(ValueError, match="too large for a noise scale"):
        BlockSums(env, epsilon=1e-320)
    with pytest.raises(TypeError, match="lengths must be several numbers, one for each block; received 5"):
        BlockSums(env, epsilon=1.0, lengths=5)
    with pytest.raises(TypeError, match=r"drawn from the game's own stream; rng cannot be given"):
        HybridSums(env, epsilon=1.0, rng=np.random.default_rng(0))


def test_blocks_longer_than_the_game_are_never_released():
    env = game(np.zeros((40, 2)))
    for huge in (BlockSums(env, epsilon=1.0, lengths=[10**30]), BlockSums(env, epsilon=1.0, ratio=1e19, first=2)):
        huge.reset(seed=0)
        assert huge.step(0)[0]["count"].tolist() == [0] * huge.n_arms
