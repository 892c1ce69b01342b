"""TODO."""

import math

import gymnasium as gym
import numpy as np
import pytest

from dp_bandit_envs import make_algorithm, play, simulate, wrappers
from dp_bandit_envs.adversaries import Adversary, Deterministic
from dp_bandit_envs.adversaries.replay import GainTable
from dp_bandit_envs.checks import shown
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.envs.bandit_vector_env import BanditVectorEnv
from dp_bandit_envs.envs.experts_env import ExpertsEnv
from dp_bandit_envs.errors import BoundaryError, GainRangeError, WrongGameError
from dp_bandit_envs.privacy import Noise, PrivacyGuarantee, mechanisms
from dp_bandit_envs.privacy.counters import COUNTERS
from dp_bandit_envs.privacy.facts import ValueRange, all_gains_of_arms
from dp_bandit_envs.wrappers import (
    BlockSums,
    CounterSums,
    LaplaceClipRescale,
    MiniBatchAverage,
    PrivacyBoundary,
    vector,
)
from tests.tools.boundary_games import (
    FORMS,
    MARK,
    PLANTED,
    SOME_IN_BOTH,
    Adds,
    Outside,
    RevealsBoth,
    act,
    around,
    everything_in,
    foreign,
    frames_of,
    game,
    game as game_of,
    play_until_it_fails,
    wrapped,
)
from tests.tools.doors import one_each
from tests.tools.refusals import missing, refused
from tests.tools.vector_sums import factor_of


def check_outside(name: str, form: str, offset: float) -> None:
    error = play_until_it_fails(wrapped(foreign(Outside, form, offset=offset), name))
    assert isinstance(error, BoundaryError)
    assert not missing(str(error), "[0, 1]")
    assert MARK not in everything_in(error) + frames_of(error)


@pytest.mark.thorough
@pytest.mark.parametrize(("name", "form"), SOME_IN_BOTH)
def test_a_gain_outside_the_unit_interval_is_refused_without_being_shown(name, form):
    """Not in the message, nor in the frames. Also by sums without noise: an agent's index rests on gains in [0, 1]."""
    check_outside(name, form, 1.0)


@pytest.mark.parametrize("offset", [-1.0, -0.1234568, math.nan, math.inf])
def test_gains_outside_on_either_side_and_nan_are_refused(offset):
    for form in FORMS:
        for name in ("Laplace", "MiniBatch", "Hybrid, hybrid"):
            check_outside(name, form, offset)


class Pays(Adversary):
    """Pays one number, in the last round."""

    def __init__(self, gain, horizon=200):
        super().__init__(2, horizon)
        self.gain = gain

    def begin(self, rng):
        self._round = 0

    def next_gains(self, rounds):
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


# ---- how much a round reveals


class RevealsByRound(BanditEnv):
    """A changing public graph: arm 1 is revealed in odd rounds only, arm 2 never."""

    sensitivity = 2.0

    def step(self, action):
        observation, reward, terminated, truncated, info = super().step(action)
        row = self._rows[len(self._arms) - 1]
        odd = info["round"] % 2
        observation["gain"] = np.array([row[0], row[1] if odd else 0.0, 0.0])
        observation["observed"] = np.array([1, odd, 0], np.int8)
        return observation, reward, terminated, truncated, info


def test_an_average_is_released_only_for_arms_revealed_in_every_round_of_the_batch():
    """An average over fewer rounds would move by more than 1 / tau, so it must not be handed on."""
    table = np.full((6, 3), 1.0)
    env = MiniBatchAverage(RevealsByRound(GainTable(table)), batch_size=2)
    env.reset(seed=1)
    observation, *_ = env.step(0)
    assert observation["gain"].tolist() == [1.0, 0.0, 0.0]
    assert observation["observed"].tolist() == [1, 0, 0]
    one = MiniBatchAverage(RevealsByRound(GainTable(table)), batch_size=1)
    one.reset(seed=1)
    assert [one.step(0)[0]["observed"].tolist() for _ in range(2)] == [[1, 1, 0], [1, 0, 0]]
    # Noise grows with the number of gains that a round reveals.
    env = RevealsBoth(GainTable(np.full((12, 2), PLANTED)))
    assert LaplaceClipRescale(env, epsilon=1.0).noise.scale == pytest.approx(2.0, rel=2e-9)
    assert MiniBatchAverage(env, batch_size=4).sensitivity == 0.5
    assert around(env, "Laplace(MiniBatch)", tau=4, epsilon=0.5).noise.scale == pytest.approx(1.0, rel=2e-9)
    noisy = LaplaceClipRescale(env, epsilon=1.0, outside="clip")
    noisy.reset(seed=1)
    observation, *_ = noisy.step(0)
    assert observation["observed"].tolist() == [1, 1]
    assert len(set(observation["gain"].tolist())) == 2  # two gains alike, two draws


class RevealsTwo(BanditEnv):
    """A foreign environment that reveals two gains in a round, and declares the sensitivity of one."""

    def step(self, action):
        observation, *rest = super().step(action)
        observation["gain"][(action + 1) % 3], observation["observed"][(action + 1) % 3] = PLANTED, 1
        return observation, *rest


@pytest.mark.parametrize("form", FORMS)
def test_a_round_that_reveals_more_gains_than_it_declares_ends_the_game(form):
    """Each of the two would get noise for one: epsilon twice, where the guarantee says once."""

    def make(sensitivity):
        env = RevealsTwo(GainTable(np.full((12, 3), PLANTED)))
        env.sensitivity = sensitivity
        return env

    def private(sensitivity):
        if form == "scalar":
            return LaplaceClipRescale(make(sensitivity), epsilon=1.0)
        several = gym.vector.SyncVectorEnv([lambda: make(sensitivity)] * 2)
        return vector.LaplaceClipRescale(several, epsilon=1.0)

    env = private(1.0)
    env.reset(seed=1)
    with refused(BoundaryError, "sensitivity", 1) as error:
        env.step(act(env, 0))
    assert MARK not in everything_in(error.value)
    env = private(2.0)
    env.reset(seed=1)
    assert np.all(np.asarray(env.step(act(env, 0))[0]["observed"]).sum(axis=-1) == 2)


@pytest.mark.parametrize(
    ("fact", "value"),
    [
        ("guarantee", None),
        ("sensitivity", math.nan),
        ("sensitivity", -1.0),
        ("gains_in_a_round", 0),
        ("noise", "loud"),
        ("horizon", 10**9),
        ("horizon", 0),
    ],
)
def test_facts_that_cannot_be_are_refused(fact, value):
    wrong = type("Wrong", (Adds,), {fact: lambda self, inputs: value})()
    if fact in ("guarantee", "noise"):
        # Both are asked for other things first.
        wrong.outputs = lambda inputs: inputs._replace(
            **{"guarantee": PrivacyGuarantee.none("a test"), "noise": Noise(), "sensitivity": math.inf, fact: value}
        )
    with refused(ValueError, "Wrong", fact):
        PrivacyBoundary(game(np.zeros((5, 2))), wrong)


# ---- how a game ends


class EndsWhenRich:
    """Ends once enough is collected: by a flag, or by moving the TimeLimit around it to or fro."""

    flag, limit, to = "terminated", None, None

    def step(self, action):
        observation, reward, terminated, truncated, info = super().step(action)
        if np.max(self.collected) >= 2:
            if self.limit is not None:
                self.limit._max_episode_steps = self.to
            terminated, truncated = terminated | (self.flag == "terminated"), truncated | (self.flag == "truncated")
        return observation, reward, terminated, truncated, info


class OneRich(EndsWhenRich, BanditEnv):
    """One game."""


class ManyRich(EndsWhenRich, BanditVectorEnv):
    """Several games."""


def rich(flag, to, form):
    """Return a game of seven rounds that reveals the gain 1 in each, and ends as the flag, or the new limit, says."""

    def made():
        core = OneRich(GainTable(np.ones((7, 2))))
        core.flag = flag
        if to is None:
            return core
        core.to, core.limit = to, gym.wrappers.TimeLimit(core, 4)
        return core.limit

    if form == "scalar":
        return made()
    if form == "sync":
        return gym.vector.SyncVectorEnv([made, made])
    core = ManyRich(2, GainTable(np.ones((7, 2))))
    core.flag = flag
    return core


@pytest.mark.parametrize(
    ("flag", "to", "form"),
    [
        *((flag, None, form) for flag in ("terminated", "truncated") for form in ("scalar", "sync", "native")),
        ("truncated", 4, "scalar"),  # behind a TimeLimit, but before it ends the game
        ("truncated", 4, "sync"),
        ("", 2, "scalar"),
        ("", 2, "sync"),
        ("", 6, "scalar"),  # and one that does not end it where it must
        ("", 6, "sync"),
    ],
)
def test_a_game_that_ends_by_its_gains_is_refused(flag, to, form):
    forms = wrappers if form == "scalar" else vector
    env = forms.LaplaceClipRescale(rich(flag, to, form), epsilon=0.01)
    env.reset(seed=0)
    arms = 0 if form == "scalar" else np.zeros(2, int)
    for _ in range(3 if to == 6 else 1):
        env.step(arms)
    with refused(BoundaryError, "horizon", "gymnasium.wrappers.TimeLimit"):
        env.step(arms)


@pytest.mark.parametrize("limits", [(4, 9), (9, 4), (7, 20), (4, 4)])
def test_a_time_limit_below_ends_the_game_in_its_round(limits):
    def made():
        return gym.wrappers.TimeLimit(gym.wrappers.TimeLimit(game(np.ones((7, 2))), limits[0]), limits[1])

    env = LaplaceClipRescale(made(), epsilon=0.01)
    many = vector.LaplaceClipRescale(gym.vector.SyncVectorEnv([made, made]), epsilon=0.01)
    for each, arms in ((env, 0), (many, np.zeros(2, int))):
        each.reset(seed=0)
        flags = [each.step(arms)[2:4] for _ in range(min(limits))]
        last = min(limits) == 7, True
        assert [[np.all(flag) for flag in pair] for pair in flags] == [[False, False]] * (min(limits) - 1) + [[*last]]


class KeepsFlags(BanditVectorEnv):
    """Says with flags that are numbers what the last gain was, and may write into them later."""

    def step(self, actions):
        observation, rewards, terminated, _, infos = super().step(actions)
        return observation, rewards, terminated, np.copysign(np.zeros(2), rewards - 0.5), infos


def test_flags_of_many_games_are_no_arrays_from_below():
    env = vector.LaplaceClipRescale(KeepsFlags(2, GainTable(np.ones((7, 2)) * [0.0, 1.0])), epsilon=0.01)
    env.reset(seed=0)
    assert all(flags.dtype == np.bool_ for flags in env.step(np.array([0, 1]))[2:4])


# ---- what is said of values

D = 5


RIGHT = all_gains_of_arms(D)


IMPOSSIBLE = {
    "a norm with a typing error": RIGHT._replace(norm="linf"),
    "L2 left at its default": ValueRange(complete=True),
    "a sup norm too small": RIGHT._replace(norm_distance=0.1),
    "an L1 norm like a sup norm": RIGHT._replace(norm="l1"),
    "an L2 norm like a sup norm": RIGHT._replace(norm="l2"),
    "no distance": RIGHT._replace(l2=0.0),
    "a negative distance": RIGHT._replace(norm_distance=-1.0),
    "NaN": RIGHT._replace(l2=math.nan),
    "an empty range": RIGHT._replace(high=0.0),
    "an infinite range": RIGHT._replace(low=-math.inf),
    "text": RIGHT._replace(high="1"),
}


class Declares(ExpertsEnv):
    """A foreign game of five experts that says what it likes of its values."""

    def __init__(self, values, sensitivity=float(D)):
        super().__init__(gains=Deterministic(D, 4))
        self._declared, self.sensitivity = values, sensitivity

    @property
    def values(self):
        return self._declared


@pytest.mark.parametrize("how", IMPOSSIBLE)
def test_values_that_cannot_be_or_do_not_fit_the_sensitivity_are_refused(how):
    """A norm that nobody knows had Laplace noise for one coordinate: five times the epsilon that was stated."""
    many = gym.vector.SyncVectorEnv([lambda: Declares(RIGHT), lambda: Declares(IMPOSSIBLE[how])])
    for noise in ("laplace", "own-norm", "gaussian"):
        arguments = {"counter": "binary", "epsilon": 1.0, "noise": noise}
        CounterSums(Declares(RIGHT), **arguments)
        with refused(ValueError, "CounterSums"):
            CounterSums(Declares(IMPOSSIBLE[how]), **arguments)
        with refused(ValueError, "CounterSums"):
            vector.CounterSums(many, **arguments)


@pytest.mark.parametrize("order", [1, -1])
def test_noise_of_many_games_is_scaled_to_the_farthest_of_them_in_each_norm(order):
    """Two games of one sensitivity: the first had decided how far all their values may be apart."""
    wide = RIGHT._replace(l2=4.0, norm_distance=2.0)
    declared = [RIGHT, wide][::order]
    many = gym.vector.SyncVectorEnv([lambda each=each: Declares(each) for each in declared])
    for noise, factor in (("gaussian", 4.0), ("own-norm", 2.0)):
        env = vector.CounterSums(many, counter="binary", epsilon=1.0, noise=noise)
        assert (env.inputs.values.l2, env.inputs.values.norm_distance) == (4.0, 2.0)
        assert factor_of(env.mechanism, env.inputs) >= factor


@pytest.mark.parametrize("values", [ValueRange(), RIGHT._replace(l2=0.5)])
def test_a_sensitivity_smaller_than_another_distance_is_refused(values):
    """Laplace noise would be scaled to 0.4, for values that differ by 1 in L2, or in the sup norm."""
    with refused(ValueError, "sensitivity"):
        LaplaceClipRescale(Declares(values, sensitivity=0.4), epsilon=1.0)


class Twice(mechanisms.MiniBatchAverage):
    """A foreign mechanism that says that a round counts twice, but not in how many values."""

    def sensitivity(self, inputs):
        return 2 * inputs.sensitivity


def test_a_mechanism_whose_distances_do_not_fit_its_sensitivity_is_refused():
    """Gaussian noise above it would have been scaled to half of the distance."""
    with refused(ValueError, "Twice"):
        PrivacyBoundary(Declares(RIGHT), Twice(batch_size=1))
    # Games with values in different norms are not played together.
    other = RIGHT._replace(norm="l2", norm_distance=math.sqrt(D))
    many = gym.vector.SyncVectorEnv([lambda: Declares(RIGHT), lambda: Declares(other)])
    with refused(ValueError, "norm of values"):
        vector.LaplaceClipRescale(many, epsilon=1.0)


# ---- arguments

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
    # What lies at the ends of what is right is taken.
    wrap("IntervalSums", epsilon=1.0, v=1.5)
    wrap("IntervalSums", epsilon=1.0, v=1.0001)
    assert wrap("BlockSums", epsilon=1.0, lengths=np.array([2, 3])).mechanism.lengths == (2, 3)
    blocks = wrap("BlockSums", epsilon=1.0, lengths=(n for n in (2, 3)))
    assert blocks.mechanism.lengths == blocks.lengths == (2, 3)
    batches = wrap("MiniBatchAverage", batch_size=np.int64(2))
    assert batches.batch_size == 2 and type(batches.batch_size) is int
    assert wrap("CounterSums", epsilon=1.0, counter="K-ARY").mechanism.counter(9).__class__.__name__ == "KAryCounter"
    assert wrap("CounterSums", epsilon=1.0, counter="k-ary", base=5).mechanism.counter(9).base == 5
    # The first end for epsilon = 0.1 is 1751 gains; here are 40 rounds.
    env = wrap("IntervalSums", epsilon=0.1)
    assert (env.guarantee.epsilon, env.guarantee.model) == (0.0, "central")
    assert "too short" in env.guarantee.theorem
    assert env.mechanism.ends(40).size == 0


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


def test_blocks_longer_than_the_game_are_never_released():
    env = game_of(np.zeros((40, 2)))
    for huge in (BlockSums(env, epsilon=1.0, lengths=[10**30]), BlockSums(env, epsilon=1.0, ratio=1e19, first=2)):
        huge.reset(seed=0)
        assert huge.step(0)[0]["count"].tolist() == [0] * huge.n_arms
