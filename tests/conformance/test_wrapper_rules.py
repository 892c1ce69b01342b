"""`check_wrapper` and `check_mechanism` pass ours and catch one that breaks each rule; and the page of all rules."""

import itertools
import re
from functools import partial
from typing import NamedTuple

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import Wrapper
from gymnasium.error import ResetNeeded

from dp_bandit_envs import BanditEnv, PrivacyGuarantee, play, wrappers
from dp_bandit_envs.adversaries import GainTable
from dp_bandit_envs.agents import Uniform
from dp_bandit_envs.audits.gallery import LESSONS
from dp_bandit_envs.conformance import ConformanceError, check_wrapper, wrapper_rules
from dp_bandit_envs.conformance.mechanism_rules import check_mechanism
from dp_bandit_envs.errors import BoundaryError
from dp_bandit_envs.privacy.counters import COUNTERS
from dp_bandit_envs.privacy.mechanism import Mechanism
from dp_bandit_envs.privacy.mechanisms import MECHANISMS
from dp_bandit_envs.wrappers import PrivacyBoundary, vector
from tests.docs.test_generated_pages import rule_tables
from tests.tools.boundary_games import MARK, PLANTED, everything_in
from tests.tools.refusals import refused
from tests.tools.toys import Script

PUBLIC = ("sensitivity", "guarantee", "horizon", "n_arms", "observation_space", "action_space", "render_mode")


class HandMade(Wrapper):
    """Adds Laplace noise of scale 1 / epsilon to the gain played and clips it to [0, 1]."""

    def __init__(self, env, *, epsilon=0.5):
        super().__init__(env)
        self._epsilon, self._scale = epsilon, 1 / epsilon
        self._noise = self._failure = None
        self._begun = self._ended = False
        self._own = np.random.default_rng()

    sensitivity = property(lambda self: 1.0)
    horizon = property(lambda self: self.unwrapped.horizon)
    n_arms = property(lambda self: self.unwrapped.n_arms)
    guarantee = property(lambda self: PrivacyGuarantee(self._epsilon, model="local", theorem="Laplace mechanism"))
    spec = property(lambda self: None)
    np_random = property(lambda self: self._own)

    def has_wrapper_attr(self, name):
        return name in PUBLIC

    def get_wrapper_attr(self, name):
        if not self.has_wrapper_attr(name):
            raise AttributeError(name)
        return getattr(self, name)

    def set_wrapper_attr(self, name, value, *, force=True):
        raise AttributeError(name)

    def __reduce_ex__(self, protocol):
        if self._begun:
            raise TypeError("it has begun")
        return super().__reduce_ex__(protocol)

    def reset(self, *, seed=None, options=None):
        self._noise = None
        if not self.quietly(lambda: self.env.reset(seed=seed, options=options) and None):
            raise RuntimeError("withheld")
        self._noise = self.stream(seed)
        self._begun, self._ended, self._round = True, False, 0
        return self.nothing(), {"round": 0}

    def stream(self, seed):
        return np.random.default_rng(None if seed is None else [seed, 99])

    def nothing(self):
        return {"gain": np.zeros(self.n_arms), "observed": np.zeros(self.n_arms, np.int8)}

    def step(self, arm):
        if arm not in range(self.n_arms):
            raise ValueError("no such arm")
        if self._noise is None or self._ended:
            raise ResetNeeded("reset first")
        if not self.quietly(lambda: self.advance(arm)):
            self._noise = None
            raise RuntimeError("withheld")
        released, self._ended = self._result
        self._round += 1
        return released, self.reward(released, arm), self._ended, False, self.info()

    def reward(self, released, arm):
        return float(released["gain"][arm])

    def info(self):
        return {"round": self._round}

    def quietly(self, call):
        """Return whether a call succeeds; nothing of its error stays behind."""
        try:
            call()
        except BaseException:
            return False
        return True

    def advance(self, arm):
        """Play a round below and keep what is released."""
        seen, _, ended, cut, _ = self.env.step(arm)
        gain = float(seen["gain"][arm])
        if not (self.in_range(gain) and self.is_last(ended, cut)):
            raise ValueError
        self._result = self.release(arm, gain), ended

    def is_last(self, ended, cut):
        return (ended, cut) == (self._round + 1 == self.unwrapped.horizon, False)

    def in_range(self, gain):
        return 0 <= gain <= 1

    def release(self, arm, gain):
        """Return the observation."""
        released = self.nothing()
        released["gain"][arm] = np.clip(self.noisy(gain), 0, 1)
        released["observed"][arm] = 1
        return released

    def noisy(self, gain):
        return gain + self._noise.laplace(0, self._scale)


GAMES = 100
BY_HAND = pytest.mark.filterwarnings("ignore:low bits not looked at")


def both(name, **options):
    """Return the scalar and the vector form."""
    return partial(getattr(wrappers, name), **options), partial(getattr(vector, name), **options)


OURS = {
    **{name: both(name, **one.example) for name, one in MECHANISMS.items()},
    "LaplaceClipRescale, clipped": both("LaplaceClipRescale", epsilon=0.5, outside="clip"),
    "LaplaceClipRescale, no noise": both("LaplaceClipRescale", epsilon=np.inf),
    "MiniBatchAverage, no rounds left over": both("MiniBatchAverage", batch_size=6),
    **{f"CounterSums, {name}": both("CounterSums", epsilon=1.0, counter=name) for name in COUNTERS},
    "CounterSums, padded": both("CounterSums", epsilon=1.0, counter="binary", pad_unplayed=True),
    "IntervalSums": both("IntervalSums", epsilon=16.0),
    "BlockSums, kept": both("BlockSums", epsilon=1.0, ratio=1, keep=True),
    "LaplaceClipRescale(MiniBatchAverage)": tuple(
        lambda env, home=home: home.LaplaceClipRescale(home.MiniBatchAverage(env, batch_size=5), epsilon=1.0)
        for home in (wrappers, vector)
    ),
    "MiniBatchAverage(LaplaceClipRescale)": tuple(
        lambda env, home=home: home.MiniBatchAverage(home.LaplaceClipRescale(env, epsilon=1.0), batch_size=3)
        for home in (wrappers, vector)
    ),
    "ExactSums(RandomizedResponse)": tuple(
        lambda env, home=home: home.ExactSums(home.RandomizedResponse(env, epsilon=1.0)) for home in (wrappers, vector)
    ),
}


@pytest.mark.thorough
@pytest.mark.slow_cases(
    *("BlockSums, kept", "CounterSums, binary", "CounterSums, honaker", "CounterSums, hybrid", "CounterSums, k-ary"),
    *("CounterSums, logarithmic", "CounterSums, padded", "CounterSums, padded-binary", "CounterSums, segment-trees"),
    *("CounterSums, smooth-binary", "CounterSums, square-root", "ExactSums(RandomizedResponse)"),
    *("LaplaceClipRescale(MiniBatchAverage)", "LaplaceClipRescale, clipped", "LaplaceClipRescale, no noise"),
    *("MiniBatchAverage(LaplaceClipRescale)", "MiniBatchAverage, no rounds left over", "RandomizedResponse"),
)
@pytest.mark.parametrize(("wrap", "many"), OURS.values(), ids=OURS.keys())
def test_wrappers_of_ours_pass(wrap, many, monkeypatch):
    """With fewer releases whose low bits are looked at than by default; False alarm: 5e-7."""
    monkeypatch.setattr(wrapper_rules, "LOW_BITS", 40)
    assert check_wrapper(wrap, vector=many, horizon=12, games=GAMES) is None


def test_no_wrapper_is_forgotten_here():
    made = {name.partition(",")[0].partition("(")[0] for name in OURS}
    assert made == {name for name in wrappers.__all__ if not name.endswith("Boundary")} - {"ProjectToSet"}


@pytest.mark.thorough
@BY_HAND
def test_a_wrapper_made_by_hand_passes():
    """False alarm: 5e-7."""
    assert check_wrapper(HandMade, games=GAMES) is None
    assert check_wrapper(HandMade, horizon=4, n_arms=2, games=GAMES) is None


def fact(value):
    """Return a property of this value."""
    return property(lambda self: value)


def earned(self):
    """Return the true gains so far, which nobody above the wrapper may know."""
    return self.env.unwrapped._earned


def lets_out(change):
    """Return an `advance` that changes what was released and whether the game ended."""

    def advance(self, arm):
        HandMade.advance(self, arm)
        self._result = change(self, arm, *self._result)

    return advance


def changes_release(change):
    """Return a `release` that changes the observation."""

    def release(self, arm, gain):
        released = HandMade.release(self, arm, gain)
        change(released, arm)
        return released

    return release


def releases_at_reset(self, **options):
    observation, info = HandMade.reset(self, **options)
    observation["gain"][0] = 0.5
    return observation, info


def unless(condition, result):
    """Return a `step` that returns this instead of refusing."""

    def step(self, arm):
        if condition(self, arm):
            return self.nothing(), 0.0, result, False, {"round": 1}
        return HandMade.step(self, arm)

    return step


class SameArrays(HandMade):
    def reset(self, **options):
        self.kept = super().nothing()
        return super().reset(**options)

    def nothing(self):
        for part in self.kept.values():
            part[:] = 0
        return self.kept


class SameInfo(HandMade):
    def reset(self, **options):
        self.kept = {"round": 0}
        return super().reset(**options)[0], self.kept

    def info(self):
        self.kept["round"] = self._round
        return self.kept


def sees_all_gains(self, arm, released, ended):
    row = self.env.unwrapped._rows[len(self.env.unwrapped._arms) - 1]
    released["gain"][arm] = np.clip(self.noisy(float(np.mean(row))), 0, 1)
    return released, ended


NO_NOISE = {"noisy": lambda self, gain: gain}
PUBLIC_AND_ENV = ("sensitivity", "guarantee", "horizon", "n_arms", "observation_space", "action_space")


class ShowsBelow(HandMade):
    def has_wrapper_attr(self, name):
        return super().has_wrapper_attr(name) or hasattr(self.unwrapped, name)

    def get_wrapper_attr(self, name):
        return getattr(self, name) if name in PUBLIC_AND_ENV else getattr(self.unwrapped, name)


class PassesOn(HandMade):
    """Has all attributes of what is below, as wrappers of old Gym had."""

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self.env, name)


def passes(self, call):
    call()
    return True


def passes_in_reset(self, call):
    return passes(self, call) if self._noise is None else HandMade.quietly(self, call)


def passes_what_is_no_exception(self, call):
    try:
        call()
    except Exception:
        return False
    return True


def chains(self, call):
    try:
        call()
    except Exception as error:
        raise RuntimeError("withheld") from error
    return True


def keeps_the_context(self, call):
    try:
        call()
    except Exception:
        raise RuntimeError("withheld") from None
    return True


class ShowsRefusedGains(HandMade):
    def quietly(self, call):
        try:
            call()
        except ArithmeticError as error:
            self._failure = str(error)
        except BaseException:
            return False
        if self._failure:
            raise RuntimeError(self._failure)
        return True

    def in_range(self, gain):
        if not super().in_range(gain):
            raise ArithmeticError(f"gain {gain - 1 if gain > 1 else gain} is not in [0, 1]")
        return True


class RepeatsWithoutSeed(HandMade):
    """A reset without a seed draws the noise of the seed before again."""

    def stream(self, seed):
        self.last = seed if seed is not None else getattr(self, "last", None)
        return super().stream(self.last)


class OneDraw(HandMade):
    """Draws once a game and adds the same number in every round."""

    def stream(self, seed):
        rng = super().stream(seed)
        self.draw = rng.laplace(0, self._scale / 4)
        return rng

    def noisy(self, gain):
        return 0.5 + (gain + self.draw - 0.5) / 10


class ReleasesAgain(HandMade):
    """Releases the first gain in each of 24 rounds, each time with fresh noise, whose average is small."""

    sensitivity = fact(24.0)

    def reset(self, **options):
        self.first = None
        return super().reset(**options)

    def noisy(self, gain):
        if self.first is None:
            self.first = gain
        return 0.5 + (self.first - 0.5 + self._noise.laplace(0, self._scale)) / 20


def laplace(part):
    """Return a `noisy` with this part of the noise that is declared."""
    return {"noisy": lambda self, gain: gain + self._noise.laplace(0, self._scale * part)}


def none_in_the_last_round(self, gain):
    return gain if self._round == self.horizon - 1 else HandMade.noisy(self, gain)


BROKEN = {
    "the game itself": (lambda env: env, "reading guarantee of a wrapper must not fail"),
    "no privacy wrapper": (Wrapper, "reading guarantee of a wrapper must not fail"),
    "no environment": (lambda env: 3, r"wrap\(env\) must return an environment; received an int"),
    "another game": ({"unwrapped": property(lambda self: self)}, "unwrapped must be the game below"),
    "no sensitivity": ({"sensitivity": fact(0.0)}, "must declare sensitivity, .* received sensitivity = 0.0"),
    "no guarantee": ({"guarantee": fact(0.5)}, "received guarantee = 0.5"),
    "short horizon": ({"horizon": property(lambda self: self.unwrapped.horizon // 2)}, "must end after its declared"),
    "undeclared": (
        {"has_wrapper_attr": lambda self, name: name != "n_arms" and HandMade.has_wrapper_attr(self, name)},
        "reading n_arms of a wrapper must not fail",
    ),
    "writable": ({"guarantee": PrivacyGuarantee(0.5, theorem="Laplace mechanism")}, "guarantee must be read-only"),
    "writable by name": (
        {"set_wrapper_attr": lambda self, name, value, *, force=True: setattr(self, "_epsilon", 7.0)},
        "sensitivity must be read-only",
    ),
    "outside its space": (
        {"release": changes_release(lambda released, arm: released["gain"].put(arm, 1.5))},
        "observations must be in observation_space; received one of step 1 outside",
    ),
    "floats": ({"info": lambda self: {"round": float(self._round)}}, "info must be"),
    "total in info": (
        {"info": lambda self: {"round": self._round, "total": sum(earned(self))}},
        r"info must be \{\"round\": t\} .* received keys \['round', 'total'\]",
    ),
    "true reward": ({"reward": lambda self, released, arm: float(earned(self)[-1])}, "reward must be the released"),
    "reward of NumPy": ({"reward": lambda self, released, arm: released["gain"][arm]}, "reward must be a float"),
    "flags of NumPy": (
        {"advance": lets_out(lambda self, arm, released, ended: (released, np.bool_(ended)))},
        "flags must be bools; received bool",
    ),
    "gains unobserved": (
        {"release": changes_release(lambda released, arm: released["observed"].put(arm, 0))},
        "gain must be 0 where observed is 0",
    ),
    "releases at reset": ({"reset": releases_at_reset}, "reset must return nothing released"),
    "steps before reset": (
        {"step": unless(lambda self, arm: self._noise is None and arm == 0, False)},
        "step before reset must raise ResetNeeded; received no error",
    ),
    "steps after the end": ({"step": unless(lambda self, arm: self._ended, True)}, "step after the last step"),
    "any arm": ({"step": lambda self, arm: HandMade.step(self, int(arm) % self.n_arms)}, r"an arm outside \[0, 2\]"),
    "same arrays": (SameArrays, "every step must return fresh arrays"),
    "same info": (SameInfo, "every step must return fresh arrays and a fresh info"),
    "stops at zeros": (
        {
            "advance": lets_out(
                lambda self, arm, seen, ended: (seen, ended or (self._round > 4 and not any(earned(self))))
            )
        },
        "flags and info must depend on the horizon only; received others for other gains",
    ),
    "sees all gains": ({"advance": lets_out(sees_all_gains)}, "gains of arms that were not played must change nothing"),
    "too sensitive": ({"sensitivity": fact(0.01)}, "by at most sensitivity = 0.01 in L1"),
    "withholds zeros": (
        {
            **NO_NOISE,
            "guarantee": fact(PrivacyGuarantee.none("no noise")),
            "release": lambda self, arm, gain: HandMade.release(self, arm, gain) if gain else self.nothing(),
        },
        "which gains are withheld must not depend on",
    ),
    "shows below": (ShowsBelow, "not be reachable through get_wrapper_attr; received 'adversary' of the game"),
    "passes on": (PassesOn, "a wrapper must not have attributes of the game; received 'adversary'"),
    "random below": (
        {"np_random": property(lambda self: self.unwrapped.np_random)},
        "np_random must be the wrapper's own",
    ),
    "shows gains": (
        {"__repr__": lambda self: f"a wrapper around gains {self.env.unwrapped._rows}"},
        "the repr of a wrapper must show nothing private",
    ),
    "passes errors": ({"quietly": passes}, "an error from below must be replaced .* received a private gain in its"),
    "passes errors of reset": ({"quietly": passes_in_reset}, "an error from below must be replaced"),
    "chains": ({"quietly": chains}, "an error from below must be replaced"),
    "keeps the context": ({"quietly": keeps_the_context}, "an error from below must be replaced"),
    "swallows errors": ({"quietly": lambda self, call: HandMade.quietly(self, call) or True}, "must end the game"),
    "any gain": ({"in_range": lambda self, gain: True}, r"gains outside \[0, 1\] and NaN must be refused"),
    "stops some errors": ({"quietly": passes_what_is_no_exception}, "an error from below must be replaced"),
    "ends by gains": ({"is_last": lambda self, ended, cut: not cut}, "a game that is terminated in another round"),
    "cut by gains": (
        {"is_last": lambda self, ended, cut: ended == (self._round + 1 == self.unwrapped.horizon)},
        "a game that is truncated in another round",
    ),
    "shows refused gains": (ShowsRefusedGains, "an error must not show the gain that it refuses"),
    "copies": ({"__reduce_ex__": object.__reduce_ex__}, "copy.copy of a game that has begun must be refused"),
    "unseeded": ({"stream": lambda self, seed: np.random.default_rng()}, "equal seeds must give equal noise|fresh"),
    "one stream": ({"stream": lambda self, seed: np.random.default_rng(0)}, "games of different seeds must have"),
    "one stream without seed": (
        {"stream": lambda self, seed: np.random.default_rng([1 if seed is None else seed, 99])},
        "games of environments that were never given a seed must have fresh noise",
    ),
    "repeats without seed": (RepeatsWithoutSeed, "games after a reset without a seed must have fresh noise"),
    "draws globally": (
        {"noisy": lambda self, gain: HandMade.noisy(self, gain) + np.random.rand() * 0},  # noqa: NPY002
        "leave the global random state alone",
    ),
    "releases nothing": ({"release": lambda self, arm, gain: self.nothing()}, "something must be released within 12"),
    "no noise": (NO_NOISE, "games of different seeds must have fresh noise"),
}
TOO_LITTLE_NOISE = {
    "a tenth": (laplace(1 / 10), r"declared is epsilon = 0.5 .* at least exp\([2-5]"),
    "a half": (laplace(1 / 2), r"at least exp\(0\.[5-9]"),
    "one draw": (OneDraw, r"no event may be more than exp\(epsilon\) times as frequent"),
    # Of the right variance with ends: beyond them a value gives the gain away.
    "uniform": (
        {"noisy": lambda self, gain: 0.5 + (gain + self._noise.uniform(-1, 1) * 1.5 - 0.5) / 4},
        r"no event may be more than exp\(epsilon\) times as frequent",
    ),
    "none in the last round": ({"noisy": none_in_the_last_round}, r"at least exp\([2-5]"),
    "the first gain again": (ReleasesAgain, r"no event may be more than exp\(epsilon\) times as frequent"),
}


def made(broken):
    """Return a class, or one made by hand with some methods replaced."""
    return type("Broken", (HandMade,), broken) if isinstance(broken, dict) else broken


@pytest.mark.thorough
@BY_HAND
@pytest.mark.parametrize(("broken", "message"), BROKEN.values(), ids=BROKEN)
def test_a_broken_wrapper_is_caught(broken, message):
    with pytest.raises(ConformanceError, match=message) as caught:
        check_wrapper(made(broken), horizon=12, games=0)
    assert "0.1234567" not in str(caught.value)


IN_THE_GALLERY = {
    "first mean": "a release must be possible for every gain",
    "redrawn noise": "a release must be possible for every gain",
}


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore:low bits not looked at")
@pytest.mark.parametrize("fault", IN_THE_GALLERY)
def test_what_is_broken_in_the_gallery_is_caught_and_its_twin_passes(fault, monkeypatch):
    monkeypatch.setattr(wrapper_rules, "LOW_BITS", 40)
    lesson = LESSONS[fault]
    with pytest.raises(ConformanceError, match=IN_THE_GALLERY[fault]):
        check_wrapper(partial(PrivacyBoundary, mechanism=lesson.broken(0.5)), games=0)
    check_wrapper(partial(PrivacyBoundary, mechanism=lesson.repaired(0.5)), games=0)


@pytest.mark.thorough
@pytest.mark.slow_cases("a half", "a tenth", "one draw", "the first gain again", "uniform")
@BY_HAND
@pytest.mark.parametrize("part", TOO_LITTLE_NOISE)
def test_too_little_noise_is_caught(part):
    """Their chances are far from what is declared: by Chernoff's bound, a check misses them below 1e-6.

    False alarm: 1e-6.
    """
    broken, message = TOO_LITTLE_NOISE[part]
    with pytest.raises(ConformanceError, match=message):
        horizon = 24 if part == "the first gain again" else 8
        check_wrapper(made(broken), horizon=horizon, games=3000 if part == "a half" else 500)


@pytest.mark.thorough
@BY_HAND
def test_events_are_tested_in_fresh_games():
    """No two of the games in which an event is chosen or tested have the same seed."""
    seeds = []

    class Notes(HandMade):
        def stream(self, seed):
            seeds.append(seed)
            return super().stream(seed)

    check_wrapper(Notes, horizon=8, games=100)
    sampled = [seed for seed in seeds if seed is not None and seed >= 1_000_000]
    assert len(sampled) == len(set(sampled)) == 3 * 2 * 100 + 2 * 100


class ShiftedNoise(vector.LaplaceClipRescale):
    def reset(self, *, seed=None, options=None):
        return super().reset(seed=seed + 1, options=options)


class OtherLastGame(vector.LaplaceClipRescale):
    """Its last game has the noise of another seed."""

    def reset(self, *, seed=None, options=None):
        return super().reset(seed=[seed + i + 10 * (i == self.num_envs - 1) for i in range(self.num_envs)])


class OtherFacts(vector.LaplaceClipRescale):
    @property
    def n_arms(self):
        return 7

    @n_arms.setter
    def n_arms(self, value):
        pass


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("many", "message"),
    [
        (partial(ShiftedNoise, epsilon=1.0), r"game i of the vector form must be the scalar one with seed \+ i"),
        (partial(OtherLastGame, epsilon=1.0), r"to the last bit; received another game 2"),
        (
            partial(vector.LaplaceClipRescale, epsilon=2.0),
            "guarantee of the vector form must be that of the scalar one",
        ),
        (partial(OtherFacts, epsilon=1.0), "n_arms of the vector form must be"),
        (wrappers.ExactSums, r"vector\(envs\) must not fail"),
    ],
    ids=["noise of other seeds", "another last game", "another epsilon", "other facts", "a scalar wrapper"],
)
def test_a_broken_vector_form_is_caught(many, message):
    with pytest.raises(ConformanceError, match=message):
        check_wrapper(partial(wrappers.LaplaceClipRescale, epsilon=1.0), vector=many, horizon=8, games=0)


def test_a_horizon_that_is_too_short_says_so():
    with pytest.raises(
        ConformanceError, match=r"wrap\(env\) must not fail; received a ValueError \(.*24.*\). Pass another horizon"
    ):
        check_wrapper(partial(wrappers.MiniBatchAverage, batch_size=100))


# ---- mechanisms
class State(NamedTuple):
    scale: float


def honest(state, arm, gain, rng):
    return gain, 1


class Bare(Mechanism):
    """Releases gains as they are, or does something wrong."""

    withholds = False
    release = staticmethod(honest)
    stated = PrivacyGuarantee.none("a trial")

    def new_state(self, below):
        return State(1.0)

    def guarantee(self, below):
        return self.stated


def broken(function=honest, **more):
    """Return a wrapper with this mechanism."""
    kind = type("Broken", (Bare,), {"release": staticmethod(function), **more})
    return lambda env: PrivacyBoundary(env, kind())


def fails(state, arm, gain, rng):
    raise ZeroDivisionError(f"the gain was {gain}")


BREAKS = {
    "outside": (lambda state, arm, gain, rng: (gain + 1.5, 1), ["[0, 1]", "1.5"]),
    "nan": (lambda state, arm, gain, rng: (np.nan, 1), ["[0, 1]", "nan"]),
    "one value": (lambda state, arm, gain, rng: gain, ["release(state, arm, gain, rng)", "0.0"]),
    "three": (lambda state, arm, gain, rng: (gain, 1, 2), ["release(state, arm, gain, rng)", "(0.0, 1, 2)"]),
    "text": (lambda state, arm, gain, rng: ("half", 1), ["release(state, arm, gain, rng)", "('half', 1)"]),
    "no count": (lambda state, arm, gain, rng: (gain, None), ["release(state, arm, gain, rng)", "(0.0, None)"]),
    "negative count": (lambda state, arm, gain, rng: (gain, -1), ["release(state, arm, gain, rng)", "(0.0, -1)"]),
    "withheld": (lambda state, arm, gain, rng: (gain, 0), ["withholds = False", "withholds = True"]),
    "error": (fails, ["ZeroDivisionError", "the gain was 0.0"]),
}


@pytest.mark.parametrize(("function", "words"), BREAKS.values(), ids=BREAKS)
def test_a_broken_mechanism_is_caught_and_named(function, words):
    with refused(ConformanceError, "Broken", *words):
        check_wrapper(broken(function), games=0)
    if function is fails:  # and one whose sums are not finite
        with refused(ConformanceError, "Broken", "finite", "inf"):
            check_wrapper(broken(lambda state, arm, gain, rng: (np.inf, 1), releases_sums=True), games=0)


@pytest.mark.thorough
def test_a_right_one_passes():
    check_wrapper(broken(), games=0)


@pytest.mark.parametrize(("name", "kind"), MECHANISMS.items())
def test_those_of_ours_pass(name, kind):
    table = np.random.default_rng(0).random((40, 3))
    check_mechanism(PrivacyBoundary(BanditEnv(GainTable(table)), kind(**kind.example)))


@pytest.mark.parametrize("stated", [None, "1", 1.0])
def test_what_is_no_guarantee_is_named_and_how_to_state_that_there_is_none(stated):
    wrap = broken(stated=stated)
    with refused(ValueError, "Broken", "guarantee", stated, "PrivacyGuarantee.none(reason)"):
        wrap(BanditEnv(GainTable(np.eye(3))))
    with refused(ConformanceError, "Broken", "guarantee", stated, "PrivacyGuarantee.none(reason)"):
        check_wrapper(wrap, games=0)


@pytest.mark.parametrize("function", [BREAKS["one value"][0], BREAKS["three"][0]])
def test_in_a_game_a_release_that_is_no_pair_is_named_without_what_it_is(function):
    game = BanditEnv(GainTable(np.full((9, 3), PLANTED)))
    with refused(BoundaryError, "(value, count)", "dp_bandit_envs.conformance.check_wrapper") as caught:
        play(broken(function)(game), Uniform())
    assert MARK not in everything_in(caught.value)


def test_errors_of_a_boundary_are_shown_because_they_are_public():
    """The release is right on the gains on which the mechanism is tried, and wrong in a later game."""
    calls = itertools.count()

    def later(state, arm, gain, rng):
        return gain + (next(calls) > 30), 1

    with refused(ConformanceError, "BoundaryError", "releases_sums = True"):
        check_wrapper(broken(later), games=0)


@pytest.mark.parametrize("wrap", [broken(), gym.wrappers.TimeLimit, lambda env: env])
def test_an_arm_that_the_game_does_not_have_is_the_agents(wrap):
    env = BanditEnv(GainTable(np.eye(3)))
    with refused(ValueError, "Script.select_arm", "[0, 2]", 4, "n_arms"):
        play(wrap(env, 9) if wrap is gym.wrappers.TimeLimit else wrap(env), Script([4]))


# ---- the page
SECTIONS = dict(re.findall(r"^## `?([\w ]+?)`?\n(.*?)(?=^##|\Z)", rule_tables.page(), re.MULTILINE | re.DOTALL))


def test_the_table_has_rules_of_every_kind():
    """A sentence of each check that the reader may meet, written as in the error."""
    plain = {title: body.replace("\\", "") for title, body in SECTIONS.items()}
    assert "| begin must forget the game before |" in plain["check_agent"]
    assert "| gains must be in [..., 1], and not NaN |" in plain["check_adversary"]
    assert "| a step must not fail |" in plain["check_wrapper"]
    assert "| a regret bound must not fail |" in plain["check_algorithm"]
    assert (
        "| ... must play the same games by play and by simulate (...), to the last bit |"
        in plain["Asked by all of them"]
    )
    assert sum(body.count("\n| ") for body in SECTIONS.values()) > 120


def test_every_file_with_rules_is_among_them():
    known = {module for modules in rule_tables.MODULES.values() for module in modules}
    assert {path.stem for path in rule_tables.FOLDER.glob("*.py") if rule_tables.rules_of(path.stem)} == known
