"""`check_wrapper` passes every wrapper of ours, and catches one that breaks each of its rules."""

from functools import partial

import numpy as np
import pytest
from gymnasium import Wrapper

from dp_bandit_envs import PrivacyGuarantee, wrappers
from dp_bandit_envs.audits.gallery import LESSONS
from dp_bandit_envs.conformance import ConformanceError, check_wrapper
from dp_bandit_envs.privacy.counters import COUNTERS
from dp_bandit_envs.privacy.mechanisms import MECHANISMS
from dp_bandit_envs.wrappers import PrivacyBoundary, vector
from tests.tools.hand_made_wrappers import HandMade

GAMES = 200
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


@pytest.mark.parametrize(("wrap", "many"), OURS.values(), ids=OURS.keys())
def test_wrappers_of_ours_pass(wrap, many):
    """False alarm: 5e-7."""
    assert check_wrapper(wrap, vector=many, games=GAMES) is None


def test_no_wrapper_is_forgotten_here():
    made = {name.partition(",")[0].partition("(")[0] for name in OURS}
    assert made == {name for name in wrappers.__all__ if not name.endswith("Boundary")} - {"ProjectToSet"}


@BY_HAND
def test_a_wrapper_made_by_hand_passes():
    """False alarm: 5e-7."""
    assert check_wrapper(HandMade) is None
    assert check_wrapper(HandMade, horizon=4, n_arms=2, games=GAMES) is None


class NotAnEnvironment:
    def __init__(self, env):
        pass


class OtherGame(HandMade):
    unwrapped = property(lambda self: self)


class NoSensitivity(HandMade):
    sensitivity = property(lambda self: 0.0)


class NoGuarantee(HandMade):
    guarantee = property(lambda self: 0.5)


class DeltaOne(HandMade):
    guarantee = property(lambda self: PrivacyGuarantee(1.0, delta=1.0))


class LongHorizon(HandMade):
    horizon = property(lambda self: self.unwrapped.horizon + 1)


class ShortHorizon(HandMade):
    horizon = property(lambda self: self.unwrapped.horizon // 2)


class Undeclared(HandMade):
    def has_wrapper_attr(self, name):
        return super().has_wrapper_attr(name) and name != "n_arms"


class Writable(HandMade):
    guarantee = PrivacyGuarantee(0.5, theorem="Laplace mechanism")


class WritableByName(HandMade):
    def set_wrapper_attr(self, name, value, *, force=True):
        self._epsilon = 7.0


class OutsideItsSpace(HandMade):
    def noisy(self, gain):
        return 0.5

    def release(self, arm, gain):
        released = super().release(arm, gain)
        released["gain"][arm] = 1.5
        return released


class CountsInFloats(HandMade):
    def info(self):
        return {"round": float(self._round)}


class TrueReward(HandMade):
    def advance(self, arm):
        super().advance(arm)
        self._true = float(self.env.unwrapped._earned[-1])

    def reward(self, released, arm):
        return self._true


class NumpyReward(HandMade):
    def reward(self, released, arm):
        return released["gain"][arm]


class NumpyFlags(HandMade):
    def advance(self, arm):
        super().advance(arm)
        self._result = self._result[0], np.bool_(self._result[1])


class GainsUnobserved(HandMade):
    def release(self, arm, gain):
        released = super().release(arm, gain)
        released["observed"][arm] = 0
        return released


class ReleasesAtReset(HandMade):
    def reset(self, **options):
        observation, info = super().reset(**options)
        observation["gain"][0] = 0.5
        return observation, info


class StepsBeforeReset(HandMade):
    def step(self, arm):
        if self._noise is None and arm == 0:
            return self.nothing(), 0.0, False, False, {"round": 1}
        return super().step(arm)


class StepsAfterTheEnd(HandMade):
    def step(self, arm):
        if self._ended:
            return self.nothing(), 0.0, True, False, {"round": 1}
        return super().step(arm)


class AnyArm(HandMade):
    def step(self, arm):
        return super().step(int(arm) % self.n_arms)


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


class StopsAtZeros(HandMade):
    """Ends early if there was no true gain so far: whoever sees the end knows it."""

    def advance(self, arm):
        super().advance(arm)
        if self._round > 4 and not any(self.env.unwrapped._earned):
            self._result = self._result[0], True


class SeesAllGains(HandMade):
    def advance(self, arm):
        super().advance(arm)
        row = self.env.unwrapped._rows[len(self.env.unwrapped._arms) - 1]
        self._result[0]["gain"][arm] = np.clip(self.noisy(float(np.mean(row))), 0, 1)


class TooSensitive(HandMade):
    sensitivity = property(lambda self: 0.01)


class WithholdsZeros(HandMade):
    """Has no noise, claims nothing, and withholds some gains for what they are."""

    guarantee = property(lambda self: PrivacyGuarantee.none("no noise"))

    def noisy(self, gain):
        return gain

    def release(self, arm, gain):
        return super().release(arm, gain) if gain else self.nothing()


class ShowsBelow(HandMade):
    def has_wrapper_attr(self, name):
        return super().has_wrapper_attr(name) or hasattr(self.unwrapped, name)

    def get_wrapper_attr(self, name):
        return getattr(self, name) if name in PUBLIC_AND_ENV else getattr(self.unwrapped, name)


PUBLIC_AND_ENV = ("sensitivity", "guarantee", "horizon", "n_arms", "observation_space", "action_space")


class PassesOn(HandMade):
    """Has all attributes of what is below, as wrappers of old Gym had."""

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self.env, name)


class RandomBelow(HandMade):
    np_random = property(lambda self: self.unwrapped.np_random)


class ShowsGains(HandMade):
    def __repr__(self):
        return f"a wrapper around gains {self.env.unwrapped._rows}"


class PassesErrors(HandMade):
    def quietly(self, call):
        call()
        return True


class PassesErrorsOfReset(HandMade):
    def quietly(self, call):
        if self._noise is None:
            call()
            return True
        return super().quietly(call)


class Chains(HandMade):
    def quietly(self, call):
        try:
            call()
        except Exception as error:
            raise RuntimeError("withheld") from error
        return True


class KeepsTheContext(HandMade):
    def quietly(self, call):
        try:
            call()
        except Exception:
            raise RuntimeError("withheld") from None
        return True


class SwallowsErrors(HandMade):
    def quietly(self, call):
        super().quietly(call)
        return True


class AnyGain(HandMade):
    def in_range(self, gain):
        return True


class NanIsFine(HandMade):
    def in_range(self, gain):
        return not (gain < 0 or gain > 1)


class ShowsRefusedGains(HandMade):
    def step(self, arm):
        result = super().step(arm)
        return result

    def quietly(self, call):
        try:
            call()
        except ArithmeticError as error:
            self._failure = str(error)
        except Exception:
            return False
        if self._failure:
            raise RuntimeError(self._failure)
        return True

    def in_range(self, gain):
        if not super().in_range(gain):
            raise ArithmeticError(f"gain {gain - 1 if gain > 1 else gain} is not in [0, 1]")
        return True


class Copies(HandMade):
    def __reduce_ex__(self, protocol):
        return object.__reduce_ex__(self, protocol)


class UnseededNoise(HandMade):
    def stream(self, seed):
        return np.random.default_rng()


class OneStream(HandMade):
    def stream(self, seed):
        return np.random.default_rng(0)


class OneStreamWithoutSeed(HandMade):
    def stream(self, seed):
        return np.random.default_rng([1 if seed is None else seed, 99])


class RepeatsWithoutSeed(HandMade):
    """A reset without a seed draws the noise of the seed before again."""

    def stream(self, seed):
        self.last = seed if seed is not None else getattr(self, "last", None)
        return super().stream(self.last)


class DrawsGlobally(HandMade):
    def noisy(self, gain):
        return gain + self._noise.laplace(0, self._scale) + np.random.rand() * 0  # noqa: NPY002


class ReleasesNothing(HandMade):
    def release(self, arm, gain):
        return self.nothing()


class NoNoise(HandMade):
    def noisy(self, gain):
        return gain


class TenthOfNoise(HandMade):
    def noisy(self, gain):
        return gain + self._noise.laplace(0, self._scale / 10)


class HalfOfNoise(HandMade):
    def noisy(self, gain):
        return gain + self._noise.laplace(0, self._scale / 2)


class OneDraw(HandMade):
    """Draws once a game and adds the same number in every round."""

    def stream(self, seed):
        rng = super().stream(seed)
        self.draw = rng.laplace(0, self._scale / 4)
        return rng

    def noisy(self, gain):
        return 0.5 + (gain + self.draw - 0.5) / 10


class UniformNoise(HandMade):
    """Noise of the right variance with ends: beyond them a value gives the gain away."""

    def noisy(self, gain):
        return 0.5 + (gain + self._noise.uniform(-1, 1) * 1.5 - 0.5) / 4


class SparesTheLast(HandMade):
    """Adds no noise in the last round."""

    def noisy(self, gain):
        return gain if self._round == self.horizon - 1 else super().noisy(gain)


class ReleasesAgain(HandMade):
    """Releases the first gain in each of 24 rounds, each time with fresh noise, whose average is small."""

    sensitivity = property(lambda self: 24.0)

    def reset(self, **options):
        self.first = None
        return super().reset(**options)

    def noisy(self, gain):
        if self.first is None:
            self.first = gain
        return 0.5 + (self.first - 0.5 + self._noise.laplace(0, self._scale)) / 20


BROKEN = {
    NotAnEnvironment: r"wrap\(env\) must return an environment; received a NotAnEnvironment",
    OtherGame: "unwrapped must be the game below",
    NoSensitivity: "must declare sensitivity, .* received sensitivity = 0.0",
    NoGuarantee: "received guarantee = 0.5",
    DeltaOne: "a guarantee has epsilon >= 0",
    LongHorizon: "received horizon = 25",
    ShortHorizon: "must end after its declared horizon of 12 steps, .* received 24 steps and 24 rounds",
    Undeclared: "reading n_arms of a wrapper must not fail",
    Writable: "guarantee must be read-only",
    WritableByName: "sensitivity must be read-only",
    OutsideItsSpace: "observations must be in observation_space; received one of step 1 outside",
    CountsInFloats: "info must be",
    TrueReward: "reward must be the released gain .* received another number, which is withheld",
    NumpyReward: "reward must be a float; received a float64",
    NumpyFlags: "flags must be bools; received bool",
    GainsUnobserved: "gain must be 0 where observed is 0",
    ReleasesAtReset: "reset must return nothing released",
    StepsBeforeReset: "step before reset must raise ResetNeeded; received no error",
    StepsAfterTheEnd: "step after the last step must raise ResetNeeded; received no error",
    AnyArm: r"an arm outside \[0, 2\] must raise a ValueError; received for -1 none",
    SameArrays: "every step must return fresh arrays",
    SameInfo: "every step must return fresh arrays and a fresh info",
    StopsAtZeros: "flags and info must depend on the horizon only; received others for other gains",
    SeesAllGains: "gains of arms that were not played must change nothing",
    TooSensitive: "by at most sensitivity = 0.01 in L1",
    WithholdsZeros: "which gains are withheld must not depend on",
    ShowsBelow: "not be reachable through get_wrapper_attr; received 'adversary' of the game",
    PassesOn: "a wrapper must not have attributes of the game; received 'adversary'",
    RandomBelow: "np_random must be the wrapper's own",
    ShowsGains: "the repr of a wrapper must show nothing private",
    PassesErrors: "an error from below must be replaced .* received a private gain in its text, notes or causes",
    PassesErrorsOfReset: "an error from below must be replaced",
    Chains: "an error from below must be replaced",
    KeepsTheContext: "an error from below must be replaced",
    SwallowsErrors: "an error from below must end the game; received a game that went on",
    AnyGain: r"gains outside \[0, 1\] and NaN must be refused",
    NanIsFine: r"gains outside \[0, 1\] and NaN must be refused",
    ShowsRefusedGains: "an error must not show the gain that it refuses",
    Copies: "copy.copy of a game that has begun must be refused",
    UnseededNoise: "equal seeds must give equal noise|fresh arrays",
    OneStream: "games of different seeds must have fresh noise",
    OneStreamWithoutSeed: "games of environments that were never given a seed must have fresh noise",
    RepeatsWithoutSeed: "games after a reset without a seed must have fresh noise",
    DrawsGlobally: "leave the global random state alone",
    ReleasesNothing: "something must be released within 24 rounds",
    NoNoise: "games of different seeds must have fresh noise",
}
TOO_LITTLE_NOISE = {
    TenthOfNoise: r"declared is epsilon = 0.5 .* at least exp\([2-5]",
    HalfOfNoise: r"at least exp\(0\.[5-9]",
    OneDraw: r"no event may be more than exp\(epsilon\) times as frequent",
    UniformNoise: r"no event may be more than exp\(epsilon\) times as frequent",
    SparesTheLast: r"at least exp\([2-5]",
    ReleasesAgain: r"no event may be more than exp\(epsilon\) times as frequent",
}


@BY_HAND
@pytest.mark.parametrize(("broken", "message"), BROKEN.items(), ids=lambda part: getattr(part, "__name__", ""))
def test_a_broken_wrapper_is_caught(broken, message):
    with pytest.raises(ConformanceError, match=message) as caught:
        check_wrapper(broken, games=0)
    assert "0.1234567" not in str(caught.value)


IN_THE_GALLERY = {
    "total in info": r"info must be \{\"round\": t\} .* received keys \['round', 'total'\]",
    "same noise again": "equal seeds must give equal noise",
    "early end": "must end after its declared horizon of 24 steps",
    "first mean": "a release must be possible for every gain",
    "redrawn noise": "a release must be possible for every gain",
}


@pytest.mark.filterwarnings("ignore:low bits not looked at")
@pytest.mark.parametrize("fault", IN_THE_GALLERY)
def test_what_is_broken_in_the_gallery_is_caught_and_its_twin_passes(fault):
    lesson = LESSONS[fault]

    def wraps(part):
        return part if lesson.of == "boundary" else lambda env: PrivacyBoundary(env, part)

    with pytest.raises(ConformanceError, match=IN_THE_GALLERY[fault]):
        check_wrapper(wraps(lesson.broken(0.5)), games=0)
    check_wrapper(wraps(lesson.repaired(0.5)), games=0)


@BY_HAND
@pytest.mark.parametrize("broken", TOO_LITTLE_NOISE, ids=lambda part: part.__name__)
def test_too_little_noise_is_caught(broken):
    """Their chances are far from what is declared: by Chernoff's bound, a check misses them below 1e-6.

    False alarm: 1e-6.
    """
    games = 3000 if broken is HalfOfNoise else 500
    with pytest.raises(ConformanceError, match=TOO_LITTLE_NOISE[broken]):
        check_wrapper(broken, games=games)


@BY_HAND
def test_events_are_tested_in_fresh_games():
    """No two of the games in which an event is chosen or tested have the same seed."""
    seeds = []

    class Notes(HandMade):
        def stream(self, seed):
            seeds.append(seed)
            return super().stream(seed)

    check_wrapper(Notes, games=100)
    sampled = [seed for seed in seeds if seed is not None and seed >= 1_000_000]
    assert len(sampled) == len(set(sampled)) == 3 * 2 * 100 + 2 * 100


class ShiftedNoise(vector.LaplaceClipRescale):
    """Its games have the noise of other seeds."""

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
        check_wrapper(partial(wrappers.LaplaceClipRescale, epsilon=1.0), vector=many, games=0)


class Unfaithful(Wrapper):
    """An ordinary wrapper of Gymnasium is no privacy wrapper."""


def test_no_wrapper_at_all_is_caught():
    with pytest.raises(ConformanceError, match="reading guarantee of a wrapper must not fail"):
        check_wrapper(Unfaithful)
    with pytest.raises(ConformanceError, match="reading guarantee of a wrapper must not fail"):
        check_wrapper(lambda env: env)


def test_a_horizon_that_is_too_short_says_so():
    with pytest.raises(
        ConformanceError, match=r"wrap\(env\) must not fail; received a ValueError \(.*24.*\). Pass another horizon"
    ):
        check_wrapper(partial(wrappers.MiniBatchAverage, batch_size=100))
    with pytest.raises(ConformanceError, match="something must be released within 24 rounds"):
        check_wrapper(partial(wrappers.IntervalSums, epsilon=1.0))
