"""No error or interrupt shows what is below a boundary, and mechanisms of others are held to what they say."""

import asyncio
import math
import signal
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from dp_bandit_envs import Algorithm, make_algorithm, play, simulate, wrappers
from dp_bandit_envs.adversaries import Adversary, Stochastic
from dp_bandit_envs.adversaries.replay import GainTable
from dp_bandit_envs.agents import Exp3
from dp_bandit_envs.course.checking import judged
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.envs.experts_env import ExpertsEnv
from dp_bandit_envs.errors import BoundaryError, StepOutsideGameError, WrongGameError, WrongTypeError
from dp_bandit_envs.privacy import Mechanism, PrivacyGuarantee, mechanisms, noise_scale
from dp_bandit_envs.privacy.accounting import distance_of_draws
from dp_bandit_envs.privacy.counters import COUNTERS
from dp_bandit_envs.privacy.counters.trees import LogarithmicCounter
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
from tests.tools.boundary_games import (
    EVERYWHERE,
    FORMS,
    MARK,
    ORDERS,
    PLANTED,
    SOME_IN_BOTH,
    Adds,
    Outside,
    act,
    around,
    error_of,
    everything_in,
    foreign,
    frames_of,
    game,
    games,
    play_until_it_fails,
    wrapped,
)
from tests.tools.processes import interruptible
from tests.tools.refusals import refused
from tests.tools.vector_sums import factor_of


class Talkative(Exception):
    """An error of a foreign library."""


def raise_it(kind: type[BaseException], gain: float) -> None:
    """Raise an error that carries a gain in its message, arguments, notes, cause and context."""
    try:
        raise KeyError(f"inner {gain!r}")
    except KeyError as inner:
        error = kind(f"the gain was {gain!r}", gain)
        error.add_note(f"note: {gain!r}")
        raise error from inner


ERRORS = [ValueError, KeyError, ZeroDivisionError, gym.error.Error, RuntimeWarning, StopIteration, Talkative]


class Fails:
    """A foreign environment, of one game or many, that fails when it starts or in its third round, and tells a gain."""

    where = "step"
    kind: type[BaseException] = ValueError

    def step(self, action):
        result = super().step(action)
        if self.where == "step" and np.max(result[4]["round"]) == 3:
            raise_it(self.kind, float(np.max(result[1])))
        return result

    def reset(self, **arguments):
        begun = super().reset(**arguments)
        if self.where == "reset":
            raise_it(self.kind, PLANTED)
        return begun


def check_replaced(name: str, form: str, **facts: Any) -> None:
    # A batch of 4 fails in its third round, when two gains have been added up; the sums of "Running" are released.
    tau = {"tau": 4} if "MiniBatch" in name and name in ORDERS and name != "MiniBatch(MiniBatch)" else {}
    error = play_until_it_fails(wrapped(foreign(Fails, form, **facts), name, **tau))
    assert isinstance(error, BoundaryError) and "withheld" in str(error)
    assert error.__cause__ is None and error.__context__ is None and not hasattr(error, "__notes__")
    assert MARK not in everything_in(error)
    assert name == "Running" or MARK not in frames_of(error)


@pytest.mark.thorough
@pytest.mark.parametrize(("name", "form"), SOME_IN_BOTH)
def test_an_error_from_below_is_replaced_by_one_without_its_message(name, form):
    """And in its frames, which error reporters print, are no gains, nor sums of those before."""
    check_replaced(name, form)


@pytest.mark.parametrize("kind", ERRORS)
def test_an_error_of_any_kind_is_replaced(kind):
    for form in FORMS:
        for where in ("step", "reset"):
            check_replaced("Laplace(MiniBatch)", form, kind=kind, where=where)


@pytest.mark.parametrize("kind", [StepOutsideGameError, BoundaryError])
def test_an_error_of_a_public_kind_is_not_trusted_when_a_foreign_environment_raises_it(kind):
    """Anyone can raise StepOutsideGameError, and its message, notes and cause are theirs."""
    for form in FORMS:
        for where in ("step", "reset"):
            error = play_until_it_fails(around(foreign(Fails, form, kind=kind, where=where), "Laplace(MiniBatch)"))
            assert MARK not in everything_in(error)


# ---- what a foreign environment says of itself


class Talks:
    """A foreign environment, of one game or many, whose text form shows its data, and that fails to close."""

    def __str__(self):
        return f"Patients({PLANTED})"

    __repr__ = __str__

    def close(self, **kwargs):
        raise OSError(f"could not save the last gain, {PLANTED}")


@pytest.mark.parametrize("form", FORMS)
def test_text_form_of_a_boundary_does_not_show_what_is_below(form):
    """Nor does an error while closing it."""
    env = wrapped(foreign(Talks, form), "Laplace")
    assert MARK not in str(env) + repr(env) + everything_in(error_of(env.close))


class NotABandit(gym.Env):
    """A foreign environment without a sensitivity, whose text form shows its data."""

    action_space = gym.spaces.Discrete(3)
    observation_space = gym.spaces.Box(0, 1)

    def __str__(self):
        return f"Patients({PLANTED})"


class RoundsTellGains(BanditEnv):
    """A foreign environment that puts a gain where the number of the round belongs."""

    def step(self, action):
        observation, reward, terminated, truncated, _ = super().step(action)
        return observation, reward, terminated, truncated, {"round": self.encode(reward)}


@pytest.mark.parametrize(
    "encode", [lambda gain: round(gain * 1e10), str, lambda gain: {}[gain]], ids=["int", "text", "key"]
)
def test_the_round_above_a_boundary_does_not_come_from_a_foreign_info(encode):
    env = RoundsTellGains(GainTable(EVERYWHERE))
    env.encode = encode
    env = LaplaceClipRescale(env, epsilon=1.0)
    env.reset(seed=1)
    try:
        seen = repr(env.step(0)[4])
    except Exception as error:
        seen = everything_in(error)
    assert MARK not in seen


class KindTellsGain(BanditEnv):
    """A foreign environment whose kind of error depends on the gain."""

    def step(self, action):
        _, reward, *_ = super().step(action)
        raise (ValueError if reward > 0.5 else TypeError)("")


def test_the_kind_of_an_error_below_does_not_tell_gains_apart():
    """One bit of a gain a round is what a guarantee of epsilon forbids."""
    messages = set()
    for gain in (0.0, 1.0):
        env = LaplaceClipRescale(KindTellsGain(GainTable(np.full((3, 2), gain))), epsilon=1.0)
        env.reset(seed=1)
        messages.add(everything_in(error_of(lambda env=env: env.step(0))))
    assert len(messages) == 1
    # gym.make adds a checker that warns about observations outside their space; it must not print them.
    env = gym.wrappers.OrderEnforcing(gym.wrappers.PassiveEnvChecker(foreign(Outside, "scalar")))
    env = around(env, "Laplace")
    with pytest.warns(UserWarning, match="not within the observation space") as caught:
        env.reset(seed=1)
        error_of(lambda: env.step(0))
    assert not [w for w in caught if MARK in str(w.message)]
    # Refusing an environment that is no bandit does not print it.
    with refused(TypeError, "LaplaceClipRescale", "'n_arms'", "NotABandit") as error:
        LaplaceClipRescale(NotABandit(), epsilon=1.0)
    assert MARK not in everything_in(error.value)


# ---- who made the game reads its errors


class OutOfPaper(Adversary):
    """Fails in round 1."""

    def begin(self, rng):
        """Begin."""

    def next_gains(self, rounds):
        raise RuntimeError("no paper in tray 2")


@pytest.mark.parametrize(
    "name", ["DP-EXP3-Lap", *(pytest.param(name, marks=pytest.mark.slow) for name in ("DP-KLUCB", "TS"))]
)
def test_who_made_the_game_and_chose_the_algorithm_sees_the_error(name):
    with refused(RuntimeError, "no paper in tray 2"):
        play(BanditEnv(OutOfPaper(2, 50)), make_algorithm(name))
    with refused(RuntimeError, "no paper in tray 2"):
        simulate(lambda: BanditEnv(OutOfPaper(2, 50)), [name])


def test_above_a_boundary_it_stays_hidden():
    env = LaplaceClipRescale(BanditEnv(OutOfPaper(2, 50)), epsilon=1.0)
    for player in (Exp3(), make_algorithm("TS")):
        with pytest.raises(BoundaryError) as caught:
            play(env, player)
        assert "paper" not in str(caught.value)


class Stateless(Adds):
    """Forgets to return its state."""

    def new_state(self, inputs):
        """Return nothing."""


@pytest.mark.parametrize("form", FORMS)
def test_a_mechanism_without_a_state_is_refused_by_name(form):
    boundary = VectorPrivacyBoundary if form == "vector" else PrivacyBoundary
    with refused(WrongTypeError, "Stateless.new_state", "NamedTuple", "None"):
        boundary(FORMS[form](np.zeros((4, 2))), Stateless())


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


@pytest.mark.thorough
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
    # A state that is kept is forgotten between games and not shown.
    env = PrivacyBoundary(game(np.full((5, 2), PLANTED)), KeepsItsState())
    for _ in range(2):
        env.reset(seed=1)
        assert env.step(0)[0]["count"].tolist() == [1, 0]
    assert env.mechanism.state is None and env.get_wrapper_attr("mechanism").state is None
    many = VectorPrivacyBoundary(games(3, np.ones((5, 2))), KeepsItsState())
    many.reset(seed=1)
    assert many.step(np.zeros(3, int))[0]["count"][:, 0].tolist() == [1, 1, 1]


# ---- no game knows anything of another


class KeepsItsState(Adds):
    """Makes its state once."""

    state = None

    def new_state(self, inputs):
        if self.state is None:
            self.state = super().new_state(inputs)
        return self.state


# ---- what is withheld because of its value is told, and no noise hides that


def above_a_half(state, arm, gain, rng):
    return (gain, 1) if gain > 0.5 else (0.0, 0)


class AboveAHalf(Mechanism):
    """Withholds small gains, and claims nothing."""

    release = staticmethod(above_a_half)

    def new_state(self, inputs):
        return ()

    def guarantee(self, inputs):
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


def average_above_a_half(state, arm, gain, rng):
    value, count = average(state, arm, gain, rng)
    return value, count if value > 0.5 else 0


class AverageAboveAHalf(mechanisms.MiniBatchAverage):
    """An average of small gains is withheld, and its author left `withholds` as it was."""

    release = staticmethod(average_above_a_half)


class LastOfBatch(SaysItDoesNot):
    """Releases the last gain above a half of each batch of three."""

    batch_size = 3


BATCHES = {
    "gain": (SaysItDoesNot, 1),
    "average": (lambda: AverageAboveAHalf(batch_size=3), 3),
    "last": (LastOfBatch, 3),
}


@pytest.mark.parametrize("kind", BATCHES)
@pytest.mark.parametrize("many", [False, True])
def test_who_says_that_no_batch_is_withheld_is_held_to_it(kind, many):
    """Laplace noise above it said epsilon = .01, and `observed` told which averages were above a half."""
    make, size = BATCHES[kind]
    table = np.repeat([[1.0, 1.0], [0.0, 0.0], [1.0, 1.0]], size, axis=0)[: 2 * size + 1]
    layer = VectorPrivacyBoundary(games(2, table), make()) if many else PrivacyBoundary(game(table), make())
    env = (vector if many else wrappers).LaplaceClipRescale(layer, epsilon=0.01)
    env.reset(seed=0)
    env.step(act(env, 0))
    with refused(BoundaryError, "withholds"):
        env.step(act(env, 0))
    if size > 1:  # of a batch that ends with the game nothing is due
        twice = PrivacyBoundary(game(table[[0, 0, 0, 3]]), make())
        twice.reset(seed=0)
        assert [twice.step(0)[0]["observed"][0] for _ in range(2)] == [1, 0]


def test_in_simulate_too():
    """So many rounds are compiled, but for batches of somebody else's, whose releases are looked at."""
    player = Algorithm("mine", Exp3, lambda env: PrivacyBoundary(env, AverageAboveAHalf(batch_size=3)))
    with refused(BoundaryError, "withholds"):
        simulate("DPBandit-Stochastic-v0", [player], horizon=30_000)


# ---- what is stated is checked


class ReleasesThrice(AboveAHalf):
    """States that one round can influence three of its releases."""

    def gains_in_a_round(self, inputs):
        return 3 * inputs.gains_in_a_round

    def sensitivity(self, inputs):
        return 3 * inputs.sensitivity


def test_how_many_releases_a_round_influences_is_told_upwards():
    """Three coins that one round can flip share epsilon; each got all of it."""
    env = RandomizedResponse(PrivacyBoundary(game(np.zeros((6, 2))), ReleasesThrice()), epsilon=1.2)
    assert env.inputs.gains_in_a_round == 3 and env.sensitivity == 3.0
    floor, span = env.mechanism.new_state(env.inputs)
    assert 3 * math.log((floor + span) / floor) == pytest.approx(1.2, rel=1e-12)
    thrice = LaplaceClipRescale(PrivacyBoundary(game(np.zeros((6, 2))), ReleasesThrice()), epsilon=1.0)
    assert thrice.noise.scale == pytest.approx(3.0, rel=2e-9)
    # Gaussian noise was scaled to 1: three items of one sum move its topmost node by 3, not by the root of 3.
    once = PrivacyBoundary(game(np.zeros((6, 2))), ReleasesThrice())
    for noise in ("gaussian", "laplace"):
        env = CounterSums(once, counter="binary", epsilon=1.0, noise=noise)
        assert factor_of(env.mechanism, env.inputs) >= 3.0 * (1 - 1e-15)
    experts = PrivacyBoundary(ExpertsEnv(2, 6), OneAndTwoMore())
    assert experts.sensitivity == 6.0
    for env in (experts, LaplaceClipRescale(experts, epsilon=math.inf)):
        with refused(WrongGameError, "own-norm"):
            CounterSums(env, counter="binary", epsilon=1.0, noise="own-norm")


class OneAndTwoMore(ReleasesThrice):
    """The same for games that reveal everything; its sensitivity follows from the number of releases."""

    withholds = False
    sensitivity = Mechanism.sensitivity


# ---- what is below a mechanism counts in its guarantee, whether its author thought of it or not


def toss(state, arm, gain, rng):
    return float(rng.random() < 0.25 + gain / 2), 1


class HonestCoin(AboveAHalf):
    """Randomised response with odds of 3 to 1, whose author wrote down what its own coins guarantee and no more."""

    release = staticmethod(toss)
    withholds = False

    def guarantee(self, inputs):
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


# ---- after a failure no game goes on


class FailsWhenTold(BanditEnv):
    """Fails after a round or a reset, when told to."""

    fail = False

    def reset(self, **arguments):
        begun = super().reset(**arguments)
        if self.fail:
            raise RuntimeError
        return begun

    def step(self, action):
        played = super().step(action)
        if self.fail:
            raise RuntimeError
        return played


@pytest.mark.parametrize("when", ["reset", "step"])
def test_after_a_failure_there_is_no_game_to_go_on_with(when):
    """Counters would go on with items of the next game, past their horizon, where noise runs out."""
    below = FailsWhenTold(Stochastic(2, 9))
    wrapped = CounterSums(below, epsilon=1.0, counter="k-ary")
    wrapped.reset(seed=0)
    wrapped.step(0)
    below.fail = True
    with pytest.raises(BoundaryError):
        wrapped.reset() if when == "reset" else wrapped.step(0)
    below.fail = False
    with pytest.raises(StepOutsideGameError):
        wrapped.step(0)
    assert wrapped.reset()[0]["count"].tolist() == [0, 0]
    wrapped.step(0)


def test_many_games_start_again_together():
    below = gym.make_vec("DPBandit-Stochastic-v0", 2, vectorization_mode="sync", horizon=9)
    wrapped = vector.HybridSums(below, epsilon=1.0)
    wrapped.reset(seed=0)
    with refused(ValueError, "reset_mask", "together"):
        wrapped.reset(options={"reset_mask": np.array([True, False])})
    uneven = gym.vector.SyncVectorEnv(
        [
            lambda: gym.make("DPBandit-Stochastic-v0", horizon=9, max_episode_steps=4),
            lambda: gym.make("DPBandit-Stochastic-v0", horizon=9),
        ]
    )
    wrapped = vector.HybridSums(uneven, epsilon=1.0)
    wrapped.reset(seed=0)
    for _ in range(3):
        wrapped.step(np.zeros(2, int))
    with refused(BoundaryError, "HybridSums", "lockstep"):
        wrapped.step(np.zeros(2, int))
    with pytest.raises(StepOutsideGameError):
        wrapped.step(np.zeros(2, int))
