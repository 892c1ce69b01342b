"""What the boundary does for a mechanism that somebody else wrote, whatever it does: breaks off, keeps, withholds."""

import asyncio
import math
import signal
from typing import NamedTuple

import gymnasium as gym
import numpy as np
import pytest

from dp_bandit_envs import Algorithm, simulate, wrappers
from dp_bandit_envs.adversaries import Deterministic
from dp_bandit_envs.adversaries.replay import GainTable
from dp_bandit_envs.agents import Exp3
from dp_bandit_envs.course.checking import judged
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.envs.bandit_vector_env import BanditVectorEnv
from dp_bandit_envs.envs.experts_env import ExpertsEnv
from dp_bandit_envs.errors import BoundaryError, StepOutsideGameError, WrongGameError, WrongTypeError
from dp_bandit_envs.privacy import Mechanism, Noise, PrivacyGuarantee, mechanisms, noise_scale
from dp_bandit_envs.privacy.accounting import distance_of_draws
from dp_bandit_envs.privacy.counters import COUNTERS
from dp_bandit_envs.privacy.counters.trees import LogarithmicCounter
from dp_bandit_envs.privacy.facts import ValueRange, all_gains_of_arms
from dp_bandit_envs.privacy.laplace import DEVIATION, grid_of
from dp_bandit_envs.privacy.mechanisms.batch_average import release as average
from dp_bandit_envs.wrappers import (
    CounterSums,
    LaplaceClipRescale,
    MiniBatchAverage,
    PrivacyBoundary,
    RandomizedResponse,
    vector,
)
from dp_bandit_envs.wrappers.vector import VectorPrivacyBoundary
from tests.tools.boundary_games import MARK, PLANTED, everything_in, frames_of, game, games
from tests.tools.processes import interruptible
from tests.tools.refusals import refused
from tests.tools.vector_sums import factor_of


class State(NamedTuple):
    """Sums and numbers of gains."""

    sums: np.ndarray
    counts: np.ndarray


def add(state, arm, gain, rng):
    state.sums[arm] += gain
    state.counts[arm] += 1
    return state.sums[arm], state.counts[arm]


class Adds(Mechanism):
    """Exact sums."""

    release = staticmethod(add)
    releases_sums = True

    def new_state(self, inputs):
        """Return empty sums."""
        return State(np.zeros(inputs.n_values), np.zeros(inputs.n_values, np.int64))

    def guarantee(self, inputs):
        """Claim nothing."""
        return PrivacyGuarantee.none("a test")


class Stateless(Adds):
    """Forgets to return its state."""

    def new_state(self, inputs):
        """Return nothing."""


@pytest.mark.parametrize("many", [False, True])
def test_a_mechanism_without_a_state_is_refused_by_name(many):
    table = np.zeros((4, 2))
    with refused(WrongTypeError, "Stateless.new_state", "NamedTuple", "None"):
        VectorPrivacyBoundary(games(2, table), Stateless()) if many else PrivacyBoundary(game(table), Stateless())


# ---- what is not a Laplace draw is drawn as well


class Uniform(mechanisms.LaplaceClipRescale):
    """Releases a uniform number."""

    release = staticmethod(lambda state, arm, gain, rng: (rng.random(), 1))


class UniformCounter(LogarithmicCounter):
    """Has a uniform number in place of noise."""

    noise = staticmethod(lambda state, arm, rng: (rng.random(), True))


def test_a_class_derived_from_one_of_ours_may_draw_other_numbers(monkeypatch):
    monkeypatch.setitem(COUNTERS, "uniform", UniformCounter)
    for mechanism in (Uniform(epsilon=1), mechanisms.CounterSums(counter="uniform", epsilon=1)):
        env = PrivacyBoundary(gym.make("DPBandit-Stochastic-v0", means=[0.0, 0.0], horizon=9), mechanism)
        env.reset(seed=0)
        released = env.step(1)[0]
        assert 0 < released["sum" if mechanism.releases_sums else "gain"][1] < 1


# ---- what breaks off in the middle ends the game

BREAKS = {"on": None}


def broken_off(state, arm, gain, rng):
    state.sums[arm] += gain
    if BREAKS["on"]:
        stop, BREAKS["on"] = BREAKS["on"], None
        raise stop(f"private: {gain}")
    state.counts[arm] += 1
    return state.sums[arm], state.counts[arm]


class BrokenOff(Adds):
    """Ctrl-C arrives between two lines."""

    release = staticmethod(broken_off)


class Gain08(KeyboardInterrupt):
    """What a program of somebody else's is interrupted by; its name may say a gain."""


class Panic(BaseException):
    """No `Exception`, as some packages raise."""


def group(text):
    return BaseExceptionGroup(text, [KeyboardInterrupt(text), ValueError(text)])


STOPS = {
    **{stop: stop for stop in (KeyboardInterrupt, SystemExit, GeneratorExit, asyncio.CancelledError)},
    **dict.fromkeys((Gain08, Panic, group, type("MyExit", (SystemExit,), {})), BoundaryError),
}


@pytest.mark.parametrize(("stop", "shown"), STOPS.items())
@pytest.mark.parametrize("many", [False, True])
def test_an_interrupted_step_ends_the_game_and_shows_nothing(many, stop, shown):
    """Played on, a counter whose draw was interrupted released a sum without noise."""
    table = np.full((6, 2), PLANTED)
    env = VectorPrivacyBoundary(games(2, table), BrokenOff()) if many else PrivacyBoundary(game(table), BrokenOff())
    arms = np.zeros(2, int) if many else 0
    env.reset(seed=0)
    env.step(arms)
    BREAKS["on"] = stop
    with pytest.raises(BaseException) as caught:
        env.step(arms)
    assert MARK not in frames_of(caught.value) + everything_in(caught.value)
    assert type(caught.value) is shown and caught.value.__context__ is caught.value.__cause__ is None
    # A program that failed does not end as if it had not.
    assert shown is BoundaryError or caught.value.args == ((1,) if shown is SystemExit else ())
    with pytest.raises(StepOutsideGameError):
        env.step(arms)
    env.reset(seed=0)
    assert np.ravel(env.step(arms)[0]["count"])[0] == 1


class Interrupted(BanditEnv):
    """Ctrl-C is pressed in its first round, or its task is cancelled."""

    def step(self, action):
        """Be stopped."""
        if self.collected == 0.0:
            BREAKS["now"]()
        return super().step(action)


def test_ctrl_c_and_cancelling_still_work():
    env = LaplaceClipRescale(Interrupted(GainTable(np.ones((5, 2)))), epsilon=1.0)

    async def played():
        env.reset(seed=0)
        env.step(0)

    def cancel():
        raise asyncio.CancelledError("private")

    async def cancelled():
        task = asyncio.ensure_future(played())
        await asyncio.wait([task])
        return task.cancelled()

    BREAKS["now"] = cancel
    assert asyncio.run(cancelled())
    BREAKS["now"] = lambda: signal.raise_signal(signal.SIGINT)
    env.reset(seed=0)
    with interruptible(), pytest.raises(KeyboardInterrupt):
        env.step(0)
    with pytest.raises(StepOutsideGameError):
        env.step(0)


def test_a_check_of_the_course_that_takes_too_long_is_stopped_within_a_boundary():
    def without_end():
        while True:
            pass

    BREAKS["now"] = without_end
    env = LaplaceClipRescale(Interrupted(GainTable(np.ones((5, 2)))), epsilon=1.0)
    env.reset(seed=0)
    verdict = judged(lambda step: step(0), lambda: env.step, seconds=0.2)
    assert not verdict.passed and "stopped" in verdict.says


class FailsLater(Adds):
    """Has no room for the state of its third game."""

    def __init__(self, made):
        self.made = made

    def __deepcopy__(self, memo):
        return FailsLater(self.made)

    def new_state(self, inputs):
        """Return empty sums, twice."""
        self.made.append(1)
        if len(self.made) == 3:
            raise MemoryError
        return super().new_state(inputs)


def test_a_reset_that_fails_late_leaves_no_game():
    env = PrivacyBoundary(game(np.ones((5, 2))), FailsLater([]))
    env.reset(seed=1)
    env.step(0)
    with pytest.raises(MemoryError):
        env.reset(seed=2)
    with pytest.raises(StepOutsideGameError):
        env.step(0)


# ---- no game knows anything of another


class KeepsItsState(Adds):
    """Makes its state once."""

    state = None

    def new_state(self, inputs):
        """Return the same again."""
        if self.state is None:
            self.state = super().new_state(inputs)
        return self.state


def test_a_state_that_is_kept_is_forgotten_between_games_and_not_shown():
    env = PrivacyBoundary(game(np.full((5, 2), PLANTED)), KeepsItsState())
    for _ in range(2):
        env.reset(seed=1)
        assert env.step(0)[0]["count"].tolist() == [1, 0]
    assert env.mechanism.state is None and env.get_wrapper_attr("mechanism").state is None
    many = VectorPrivacyBoundary(games(3, np.ones((5, 2))), KeepsItsState())
    many.reset(seed=1)
    assert many.step(np.zeros(3, int))[0]["count"][:, 0].tolist() == [1, 1, 1]


# ---- what is withheld because of its value is told, and no noise hides that


def above_a_half(state, arm, gain, rng):
    return (gain, 1) if gain > 0.5 else (0.0, 0)


class AboveAHalf(Mechanism):
    """Withholds small gains, and claims nothing."""

    release = staticmethod(above_a_half)

    def new_state(self, inputs):
        """Return nothing."""
        return ()

    def guarantee(self, inputs):
        """Claim nothing."""
        return PrivacyGuarantee.none("a test")


class SaysItDoesNot(AboveAHalf):
    """Says that it withholds nothing."""

    withholds = False


NOISE = {
    "Laplace": lambda env: LaplaceClipRescale(env, epsilon=0.01),
    "coins": lambda env: RandomizedResponse(env, epsilon=0.01),
    "counters": lambda env: CounterSums(env, epsilon=0.01, counter="binary"),
    "Laplace on averages": lambda env: LaplaceClipRescale(MiniBatchAverage(env, batch_size=2), epsilon=0.01),
}


@pytest.mark.parametrize("noise", NOISE)
def test_noise_above_gains_withheld_by_their_value_guarantees_nothing(noise):
    table = np.zeros((8, 2))
    assert NOISE[noise](PrivacyBoundary(game(table), AboveAHalf())).guarantee.model == "none"
    assert NOISE[noise](PrivacyBoundary(game(table), SaysItDoesNot())).guarantee.epsilon == 0.01
    assert NOISE[noise](LaplaceClipRescale(game(table), epsilon=2.0)).guarantee.epsilon == 2.0


def test_who_says_that_it_withholds_nothing_is_held_to_it():
    env = PrivacyBoundary(game([[1.0, 0.0], [0.0, 0.0]]), SaysItDoesNot())
    env.reset(seed=0)
    assert env.step(0)[0]["observed"].tolist() == [1, 0]
    with refused(BoundaryError, "withholds"):
        env.step(0)


def average_above_a_half(state, arm, gain, rng):
    value, count = average(state, arm, gain, rng)
    return value, count if value > 0.5 else 0


class AverageAboveAHalf(mechanisms.MiniBatchAverage):
    """An average of small gains is withheld, and its author left `withholds` as it was."""

    release = staticmethod(average_above_a_half)


class LastOfBatch(SaysItDoesNot):
    """Releases the last gain above a half of each batch of three."""

    batch_size = 3


@pytest.mark.parametrize("kind", [lambda: AverageAboveAHalf(batch_size=3), LastOfBatch], ids=["average", "last"])
@pytest.mark.parametrize("many", [False, True])
def test_who_says_that_no_batch_is_withheld_is_held_to_it(kind, many):
    """Laplace noise above it said epsilon = .01, and `observed` told which averages were above a half."""
    table = np.repeat([[1.0, 1.0], [0.0, 0.0], [1.0, 1.0]], 3, axis=0)[:-2]
    layer = VectorPrivacyBoundary(games(2, table), kind()) if many else PrivacyBoundary(game(table), kind())
    env = (vector if many else wrappers).LaplaceClipRescale(layer, epsilon=0.01)
    arms = np.zeros(2, int) if many else 0
    env.reset(seed=0)
    env.step(arms)
    with refused(BoundaryError, "withholds"):
        env.step(arms)
    # Of a batch that ends with the game nothing is due.
    twice = PrivacyBoundary(game(table[[0, 0, 0, 3]]), kind())
    twice.reset(seed=0)
    assert [twice.step(0)[0]["observed"][0] for _ in range(2)] == [1, 0]


def test_in_simulate_too():
    """So many rounds are compiled, but for batches of somebody else's, whose releases are looked at."""
    player = Algorithm("mine", Exp3, lambda env: PrivacyBoundary(env, AverageAboveAHalf(batch_size=3)))
    with refused(BoundaryError, "withholds"):
        simulate("DPBandit-Stochastic-v0", [player], horizon=30_000)


# ---- what is stated is checked


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


class EndsWhenRich:
    """Ends once enough is collected: by a flag, or by moving the TimeLimit around it to or fro."""

    flag, limit, to = "terminated", None, None

    def step(self, action):
        """End early, or go on."""
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
        """Return a zero with the sign of the gain."""
        observation, rewards, terminated, _, infos = super().step(actions)
        return observation, rewards, terminated, np.copysign(np.zeros(2), rewards - 0.5), infos


def test_flags_of_many_games_are_no_arrays_from_below():
    env = vector.LaplaceClipRescale(KeepsFlags(2, GainTable(np.ones((7, 2)) * [0.0, 1.0])), epsilon=0.01)
    env.reset(seed=0)
    assert all(flags.dtype == np.bool_ for flags in env.step(np.array([0, 1]))[2:4])


class ReleasesThrice(AboveAHalf):
    """States that one round can influence three of its releases."""

    def gains_in_a_round(self, inputs):
        """Return three times what is below."""
        return 3 * inputs.gains_in_a_round

    def sensitivity(self, inputs):
        """Return three times what is below."""
        return 3 * inputs.sensitivity


def test_how_many_releases_a_round_influences_is_told_upwards():
    """Three coins that one round can flip share epsilon; each got all of it."""
    env = RandomizedResponse(PrivacyBoundary(game(np.zeros((6, 2))), ReleasesThrice()), epsilon=1.2)
    assert env.inputs.gains_in_a_round == 3 and env.sensitivity == 3.0
    floor, span = env.mechanism.new_state(env.inputs)
    assert 3 * math.log((floor + span) / floor) == pytest.approx(1.2, rel=1e-12)
    thrice = LaplaceClipRescale(PrivacyBoundary(game(np.zeros((6, 2))), ReleasesThrice()), epsilon=1.0)
    assert thrice.noise.scale == pytest.approx(3.0, rel=2e-9)


class OneAndTwoMore(ReleasesThrice):
    """The same for games that reveal everything; its sensitivity follows from the number of releases."""

    withholds = False
    sensitivity = Mechanism.sensitivity


def test_sums_above_a_round_that_counts_thrice_have_three_times_the_noise_of_each_kind():
    """Gaussian noise was scaled to 1: three items of one sum move its topmost node by 3, not by the root of 3."""
    once = PrivacyBoundary(game(np.zeros((6, 2))), ReleasesThrice())
    for noise in ("gaussian", "laplace"):
        env = CounterSums(once, counter="binary", epsilon=1.0, noise=noise)
        assert factor_of(env.mechanism, env.inputs) >= 3.0 * (1 - 1e-15)
    experts = PrivacyBoundary(ExpertsEnv(2, 6), OneAndTwoMore())
    assert experts.sensitivity == 6.0
    for env in (experts, LaplaceClipRescale(experts, epsilon=math.inf)):
        with refused(WrongGameError, "own-norm"):
            CounterSums(env, counter="binary", epsilon=1.0, noise="own-norm")


# ---- what is below a mechanism counts in its guarantee, whether its author thought of it or not


def toss(state, arm, gain, rng):
    return float(rng.random() < 0.25 + gain / 2), 1


class HonestCoin(AboveAHalf):
    """Randomised response with odds of 3 to 1, whose author wrote down what its own coins guarantee and no more."""

    release = staticmethod(toss)
    withholds = False

    def guarantee(self, inputs):
        """Return ln 3."""
        return PrivacyGuarantee(math.log(3.0), model="local", theorem="odds of 3 to 1")


STACKS = {
    "nothing": lambda env: env,
    "Laplace": lambda env: LaplaceClipRescale(env, epsilon=0.1),
    "much Laplace": lambda env: LaplaceClipRescale(env, epsilon=10.0),
    "batch": lambda env: MiniBatchAverage(env, batch_size=2),
    "Laplace above batch": lambda env: LaplaceClipRescale(MiniBatchAverage(env, batch_size=2), epsilon=0.1),
    "batch above Laplace": lambda env: MiniBatchAverage(LaplaceClipRescale(env, epsilon=0.1), batch_size=2),
    "coins": lambda env: RandomizedResponse(env, epsilon=0.2),
    "withheld by value": lambda env: PrivacyBoundary(env, AboveAHalf()),
    "no noise": lambda env: LaplaceClipRescale(env, epsilon=math.inf),
}


class LikeLaplace(Adds):
    """Laplace noise of scale 1 on one gain a round, which counts what fast draws add if it is told to."""

    def __init__(self, counts):
        self.counts = counts

    def guarantee(self, inputs):
        """Claim 1."""
        scale = noise_scale(1.0, 1.0)
        off = distance_of_draws(scale, grid_of(DEVIATION * scale), inputs.gains_in_a_round)
        return PrivacyGuarantee(1.0, draw_distance=off if self.counts else 0.0)


def test_fast_draws_add_to_delta_what_a_mechanism_of_ones_own_says_of_them():
    few = game(np.full((5, 2), 0.5))
    ours = LaplaceClipRescale(few, epsilon=1.0).guarantee
    counted = PrivacyBoundary(few, LikeLaplace(counts=True)).guarantee
    assert counted.draw_distance == ours.draw_distance and counted.delta_at(1.0) == ours.delta_at(1.0) > 0
    assert PrivacyBoundary(few, LikeLaplace(counts=False)).guarantee.delta_at(1.0) == 0


@pytest.mark.parametrize("stack", STACKS)
def test_a_mechanism_of_ones_own_guarantees_what_one_of_ours_does_in_its_place(stack):
    stack_on = STACKS[stack]
    theirs = PrivacyBoundary(stack_on(game(np.zeros((8, 2)))), HonestCoin()).guarantee
    ours = RandomizedResponse(stack_on(game(np.zeros((8, 2)))), epsilon=math.log(3.0)).guarantee
    assert (theirs.epsilon, theirs.delta, theirs.model) == (ours.epsilon, ours.delta, ours.model)
    expected = {
        "nothing": (math.log(3.0), "local"),
        "Laplace": (0.1, "local"),
        "much Laplace": (10.0, "local"),
        "batch": (math.log(3.0), "central"),
        "Laplace above batch": (0.1, "central"),
        "batch above Laplace": (0.1, "local"),
        "coins": (0.2, "local"),
        "withheld by value": (math.inf, "none"),
        "no noise": (math.log(3.0), "central"),
    }
    assert (theirs.epsilon, theirs.model) == expected[stack]
    if stack == "batch":
        many = VectorPrivacyBoundary(vector.MiniBatchAverage(games(2, np.zeros((8, 2))), batch_size=2), HonestCoin())
        assert (many.guarantee.epsilon, many.guarantee.model) == expected[stack]


# ---- what is said of values: no noise may be scaled to less than it is


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
        """What it likes."""
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


def test_games_with_values_in_different_norms_are_not_played_together():
    other = RIGHT._replace(norm="l2", norm_distance=math.sqrt(D))
    many = gym.vector.SyncVectorEnv([lambda: Declares(RIGHT), lambda: Declares(other)])
    with refused(ValueError, "norm of values"):
        vector.LaplaceClipRescale(many, epsilon=1.0)


@pytest.mark.parametrize("values", [ValueRange(), RIGHT._replace(l2=0.5)])
def test_a_sensitivity_smaller_than_another_distance_is_refused(values):
    """Laplace noise would be scaled to 0.4, for values that differ by 1 in L2, or in the sup norm."""
    with refused(ValueError, "sensitivity"):
        LaplaceClipRescale(Declares(values, sensitivity=0.4), epsilon=1.0)


class Twice(mechanisms.MiniBatchAverage):
    """A foreign mechanism that says that a round counts twice, but not in how many values."""

    def sensitivity(self, inputs):
        """Return twice that below."""
        return 2 * inputs.sensitivity


def test_a_mechanism_whose_distances_do_not_fit_its_sensitivity_is_refused():
    """Gaussian noise above it would have been scaled to half of the distance."""
    with refused(ValueError, "Twice"):
        PrivacyBoundary(Declares(RIGHT), Twice(batch_size=1))
