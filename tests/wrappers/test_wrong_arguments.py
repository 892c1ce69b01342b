"""Wrong arguments of private wrappers are refused with the rule and a way out: every value at one wrapper, and back."""

import math

import numpy as np
import pytest

from dp_bandit_envs import wrappers
from dp_bandit_envs.checks import shown
from dp_bandit_envs.errors import WrongGameError
from dp_bandit_envs.privacy.counters import COUNTERS
from dp_bandit_envs.wrappers import BlockSums, vector
from tests.tools.boundary_games import FORMS, act, game as game_of
from tests.tools.refusals import refused

PRIVATE = ["LaplaceClipRescale", "HybridSums", "IntervalSums", "BlockSums", "RandomizedResponse"]


@pytest.fixture(params=FORMS)
def wrap(request):
    """A function that puts a wrapper by name around a game of 40 rounds."""
    module = wrappers if request.param == "scalar" else vector
    return lambda name, **arguments: getattr(module, name)(FORMS[request.param](np.zeros((40, 2))), **arguments)


def by_value(name, argument, error, words, values, **others):
    """Return rows of the table below; words are what the error names beside the argument and the value."""
    return [(name, {**others, argument: value}, error, [argument, *words, shown(value)]) for value in values]


ONE = {"epsilon": 1.0}
WRONG = [
    *(row for name in PRIVATE for row in by_value(name, "epsilon", ValueError, [0, "math.inf"], [-1])),
    *(row for name in PRIVATE for row in by_value(name, "epsilon", TypeError, [], [[1.0]])),
    *((name, {}, TypeError, ["epsilon"]) for name in PRIVATE),
    *by_value("BlockSums", "epsilon", ValueError, [0, "math.inf"], [0, 0.0, math.nan, -math.inf]),
    *by_value("BlockSums", "epsilon", TypeError, [], ["a", "1", b"1", True, None, 1j]),
    ("BlockSums", {"epsilon": np.True_}, (TypeError, ValueError), ["epsilon", "received"]),
    ("BlockSums", {"epsilon": 10**400}, (TypeError, ValueError), ["epsilon", "received"]),
    ("BlockSums", {"epsilon": 1e-320}, ValueError, [1e-320, "epsilon"]),
    ("LaplaceClipRescale", {"epsilon": 5e-324}, ValueError, [5e-324, "epsilon"]),
    *by_value("LaplaceClipRescale", "bound", ValueError, [0], [-1e-9, -1.0, math.nan, math.inf], **ONE),
    *by_value("LaplaceClipRescale", "bound", TypeError, [], ["a", True], **ONE),
    *by_value("LaplaceClipRescale", "outside", ValueError, ["'reject'", "'clip'"], ["keep", "", None, 1], **ONE),
    *by_value("MiniBatchAverage", "batch_size", ValueError, [1], [0, -1, -(10**30), True]),
    *by_value("MiniBatchAverage", "batch_size", ValueError, [40], [41, 10**30]),
    *by_value("MiniBatchAverage", "batch_size", TypeError, [1], [1.5, 2.0, "2", None, math.nan, [2]]),
    *by_value("IntervalSums", "v", ValueError, ["(1, 1.5]"], [1, 1.0, 1.6, -1.2, math.nan, math.inf], **ONE),
    *by_value("IntervalSums", "delta", ValueError, ["(0, 1)"], [0, 1, 0.0, 1.0, -0.1, 2, math.nan], **ONE),
    *by_value("IntervalSums", "release", ValueError, ["'once'", "'redraw'"], ["twice", "", "Once", None], **ONE),
    *by_value("IntervalSums", "intervals", ValueError, ["'lemma'", "'uniform'"], ["lemma B.1", "", None], **ONE),
    *by_value("BlockSums", "ratio", ValueError, [1], [0.5, 0, math.nan, math.inf, math.nextafter(1.0, 0.0)], **ONE),
    *by_value("BlockSums", "ratio", TypeError, [], ["2", None], **ONE),
    *(("BlockSums", {**ONE, "lengths": value}, ValueError, ["lengths", "none"]) for value in ([], (), iter([]))),
    *(("BlockSums", {**ONE, "lengths": value}, ValueError, ["length", 1, min(value)]) for value in ([0], [2, 0], [-1])),
    *(("BlockSums", {**ONE, "lengths": [n]}, TypeError, ["length", 1, repr(n)]) for n in (1.5, 2.0, "2", None)),
    ("BlockSums", {**ONE, "lengths": 5}, TypeError, ["lengths", 5]),
    *by_value("CounterSums", "counter", ValueError, ["hybrid"], ["hybird"], **ONE),
    *by_value("CounterSums", "counter", KeyError, COUNTERS, ["xyzzy"], **ONE),
    *by_value("CounterSums", "delta", ValueError, ["(0, 1)"], [0, 1.0, math.nan], **ONE, counter="square-root"),
    *by_value("CounterSums", "delta", TypeError, ["'gaussian'", "'laplace'"], [0.1], **ONE, counter="binary"),
    *by_value("CounterSums", "noise", ValueError, ["'own-norm'", "'gaussian'"], ["normal"], **ONE, counter="binary"),
    *by_value("CounterSums", "noise", ValueError, ["'gaussian'"], ["laplace"], **ONE, counter="square-root"),
    ("CounterSums", {**ONE, "counter": "binary", "noise": "own-norm"}, WrongGameError, ["own-norm", "'gaussian'"]),
    *by_value("CounterSums", "base", ValueError, ["odd"], [4], **ONE, counter="k-ary"),
    *(
        ("CounterSums", {**ONE, "counter": counter, option: value}, TypeError, [counter, repr(option), "epsilon"])
        for counter, option, value in (("k-ary", "budget", "paper"), ("hybrid", "base", 3), ("hybrid", "nonsense", 1))
    ),
    *by_value("HybridSums", "budget", ValueError, ["'split'", "'paper'"], ["double"], **ONE),
    # What the game decides: a smaller sensitivity would be less noise.
    ("HybridSums", {**ONE, "horizon": 5}, TypeError, ["horizon=", "environment"]),
    ("HybridSums", {**ONE, "sensitivity": 1}, TypeError, ["sensitivity"]),
    ("HybridSums", {**ONE, "rng": np.random.default_rng(0)}, TypeError, ["rng", "reset(seed=...)"]),
]


def test_wrong_arguments_are_refused(wrap):
    for name, arguments, error, words in WRONG:
        with refused(error, *words):
            wrap(name, **arguments)


def test_what_lies_at_the_ends_of_what_is_right_is_taken(wrap):
    wrap("IntervalSums", epsilon=1.0, v=1.5)
    wrap("IntervalSums", epsilon=1.0, v=1.0001)
    assert wrap("BlockSums", epsilon=1.0, lengths=np.array([2, 3])).mechanism.lengths == (2, 3)
    blocks = wrap("BlockSums", epsilon=1.0, lengths=(n for n in (2, 3)))
    assert blocks.mechanism.lengths == blocks.lengths == (2, 3)
    batches = wrap("MiniBatchAverage", batch_size=np.int64(2))
    assert batches.batch_size == 2 and type(batches.batch_size) is int
    assert wrap("CounterSums", epsilon=1.0, counter="K-ARY").mechanism.counter(9).__class__.__name__ == "KAryCounter"
    assert wrap("CounterSums", epsilon=1.0, counter="k-ary", base=5).mechanism.counter(9).base == 5


@pytest.mark.parametrize("form", FORMS)
def test_a_sensitivity_that_would_switch_the_noise_off_is_refused(form):
    for name in [*PRIVATE, "ExactSums"]:
        for sensitivity in [0.0, -1.0, math.nan, math.inf] if name == "HybridSums" else [0.0]:
            env = FORMS[form](np.zeros((40, 2)))
            env.sensitivity = sensitivity
            with refused(ValueError, name, "sensitivity", 0, sensitivity):
                module = wrappers if form == "scalar" else vector
                getattr(module, name)(env, **({} if name == "ExactSums" else {"epsilon": 1.0}))


@pytest.mark.parametrize("name", PRIVATE)
def test_extreme_but_valid_epsilons_play_a_game(wrap, name):
    for epsilon in (1e-12, 1e9):
        env = wrap(name, epsilon=epsilon)
        env.reset(seed=1)
        for _ in range(40):
            observation, *_ = env.step(act(env, 1))
            assert all(np.isfinite(part).all() for part in observation.values())


def test_a_game_too_short_for_a_release_spends_nothing(wrap):
    """The first end for epsilon = 0.1 is 1751 gains; here are 40 rounds."""
    env = wrap("IntervalSums", epsilon=0.1)
    assert (env.guarantee.epsilon, env.guarantee.model) == (0.0, "central")
    assert "too short" in env.guarantee.theorem
    assert env.mechanism.ends(40).size == 0


def test_blocks_longer_than_the_game_are_never_released():
    env = game_of(np.zeros((40, 2)))
    for huge in (BlockSums(env, epsilon=1.0, lengths=[10**30]), BlockSums(env, epsilon=1.0, ratio=1e19, first=2)):
        huge.reset(seed=0)
        assert huge.step(0)[0]["count"].tolist() == [0] * huge.n_arms
