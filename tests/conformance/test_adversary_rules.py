"""Adversaries, and all parts of games of points: ours pass, and one that breaks each rule is caught."""

import functools
import random
import threading
from typing import ClassVar

import numpy as np
import pytest
from scipy import stats

from dp_bandit_envs import Adversary, Algorithm, PrivacyGuarantee, adversaries, register_adversary
from dp_bandit_envs.adversaries import Alternating, Leaning, OneAxis, VectorTable
from dp_bandit_envs.agents.regularized_leader import RegularizedLeader
from dp_bandit_envs.conformance import ConformanceError, check_adversary, check_agent, check_algorithm, check_wrapper
from dp_bandit_envs.conformance.adversary_rules import mean_width
from dp_bandit_envs.envs.registration import IDS
from dp_bandit_envs.errors import WrongGameError
from dp_bandit_envs.privacy.mechanisms import LaplaceClipRescale
from dp_bandit_envs.wrappers import CounterSums, ExactSums, PrivacyBoundary
from tests.tools.refusals import refused

POOLS = [np.linspace(0, 1, 13), np.linspace(0, 0.5, 5), np.array([0.25])]
OBJECTS = {
    "BernoulliPrior": lambda: adversaries.BernoulliPrior(n_arms=4, horizon=300),
    "Oblivious, period 7": functools.partial(adversaries.Oblivious, horizon=300, period=7),
    "OutcomePools": adversaries.OutcomePools(POOLS, horizon=300),
    "GainTable": lambda: adversaries.GainTable(np.eye(3)),
    "Stochastic, certain": adversaries.Stochastic(means=[0.0, 1.0], horizon=50),
    "Stochastic, one round": adversaries.Stochastic(means=[0.01, 0.99], horizon=1),
}


@pytest.mark.thorough
@pytest.mark.slow_cases(
    *("DPBandit-Ball-v0", "DPBandit-Cube-v0", "DPBandit-Deterministic-v0", "DPBandit-FullyOblivious-v0"),
    *("DPBandit-Linear-v0", "DPBandit-Oblivious-v0", "DPBandit-Shifting-v0", "DPBandit-Simplex-v0"),
    *("DPBandit-Switching-v0", "DPBandit-Trial-v0"),
)
@pytest.mark.parametrize("id_", IDS)
def test_ids_of_ours_pass(id_):
    assert check_adversary(id_, horizon=300) is None


@pytest.mark.thorough
@pytest.mark.parametrize("adversary", OBJECTS.values(), ids=OBJECTS.keys())
def test_adversaries_of_ours_pass(adversary):
    assert check_adversary(adversary) is None


class Good(Adversary):
    """Every arm is a coin, and the first is a little better."""

    def __init__(self, n_arms=3, horizon=400):
        super().__init__(n_arms, horizon)
        self.means = np.linspace(0.7, 0.4, self.n_arms)

    def begin(self, rng):
        self.rng = rng
        self.round = 0

    def next_gains(self, rounds):
        self.round += rounds
        return (self.rng.random((rounds, self.n_arms)) < self.means).astype(float)


def test_a_third_partys_class_and_its_id_pass():
    check_adversary(Good)
    check_adversary(Good(n_arms=2, horizon=9))
    check_adversary(register_adversary("Good", Good))


def starts(**facts):
    """Return an `__init__` that sets these attributes after the usual one."""

    def init(self, n_arms=3, horizon=400):
        Good.__init__(self, n_arms, horizon)
        vars(self).update({name: fact(self) for name, fact in facts.items()})

    return init


def draws(gains):
    """Return a `next_gains` that returns a function of the adversary and the number of rounds."""
    return {"next_gains": gains}


def coins(self, rounds, means=0.5):
    return (self.rng.random((rounds, self.n_arms)) < means).astype(float)


class SameStream(Good):
    """Draws, but not from the stream."""

    __init__ = starts(means=lambda self: None)
    next_gains = coins

    def begin(self, rng):
        rng.random()
        super().begin(np.random.default_rng(0))


class GoesOn(Good):
    def begin(self, rng):
        self.rng, self.round = rng, getattr(self, "round", 0)

    def next_gains(self, rounds):
        late = self.round > 0
        return super().next_gains(rounds) * (0.5 if late else 1.0)


class KeepsHalf(Good):
    """Goes on with what is left of the game before."""

    left = 0

    def begin(self, rng):
        super().begin(rng)
        self.rng.random(self.left)

    def next_gains(self, rounds):
        self.left = (self.left + rounds) % 400
        return super().next_gains(rounds)


class OwnData(Good):
    __init__ = starts(
        means=lambda self: None,
        table=lambda self: np.tile(np.linspace(0, 1, self.horizon)[:, np.newaxis], self.n_arms),
    )

    def next_gains(self, rounds):
        self.round += rounds
        return self.table[self.round - rounds : self.round]


class OneBuffer(Good):
    """Returns what it will return again."""

    __init__ = starts(means=lambda self: None)

    def begin(self, rng):
        super().begin(rng)
        self.row = rng.random(self.n_arms)

    def next_gains(self, rounds):
        if rounds != 50:
            return np.tile(self.row, (rounds, 1))
        self.rows = getattr(self, "rows", None) if hasattr(self, "rows") else np.tile(self.row, (50, 1))
        return self.rows


class DriftingMeans(Good):
    """Right on average, wrong in the first round."""

    def __init__(self, n_arms=3, horizon=32):
        super().__init__(n_arms, 32)
        self.means = np.full(self.n_arms, 0.5)

    def next_gains(self, rounds):
        drift = np.linspace(0, 1, 32)[self.round : self.round + rounds, np.newaxis]
        self.round += rounds
        return coins(self, rounds, drift)


class ForgetsInCopies(Good):
    scale = 1.0
    __init__ = starts(probabilities=lambda self: self.means, means=lambda self: None, scale=lambda self: 0.5)

    def __getstate__(self):
        return {name: value for name, value in vars(self).items() if name != "scale"}

    def next_gains(self, rounds):
        return coins(self, rounds, self.probabilities) * self.scale


class SharedState(Good):
    """Its copy writes to the same list, which is not the adversary's but the class's."""

    at: ClassVar = [0]
    __init__ = starts(means=lambda self: None)

    def begin(self, rng):
        super().begin(rng)
        self.at[0] = 0

    def next_gains(self, rounds):
        t = np.arange(self.at[0], self.at[0] + rounds)[:, np.newaxis]
        self.at[0] += rounds
        return np.tile(t / 10_000, (1, self.n_arms))


def fails(self, rounds):
    raise RuntimeError("the gain 0.1234567 is wrong")


def draws_globally(self, rounds):
    np.random.rand()  # noqa: NPY002
    return Good.next_gains(self, rounds)


def draws_from_random(self, rounds):
    random.random()
    return Good.next_gains(self, rounds)


BROKEN = {
    "unfinished": (
        {"__init__": lambda self, n_arms=3, horizon=400: setattr(self, "means", None)},
        "n_arms must be an int of at least 2; received None in Broken",
    ),
    "no memory": ({"memory": None}, "memory must be an int of at least 0; received None"),
    "too high": (draws(lambda self, rounds: Good.next_gains(self, rounds) * 2), r"gains must be in \[0, 1\], and not"),
    "NaN": (draws(lambda self, rounds: np.full((rounds, self.n_arms), np.nan)), r"gains must be in \[0, 1\], and not"),
    "transposed": (draws(lambda self, rounds: Good.next_gains(self, rounds).T.copy()), r"must return a float64 array"),
    "by blocks": (
        draws(lambda self, rounds: (self.means > self.rng.random((self.n_arms, rounds)).T).astype(float)),
        r"gains must not depend on how rounds are cut into blocks, such as \[1\]",
    ),
    "no stream": ({"begin": lambda self, rng: Good.begin(self, np.random.default_rng())}, "the same stream must give"),
    "same stream": (SameStream, "games of different streams must differ if random numbers are drawn; received 30"),
    "goes on": (GoesOn, "gains must not depend on how|begin must start a new game"),
    "keeps half": (KeepsHalf, "begin must start a new game in the middle of one"),
    "own data": (OwnData, "next_gains must return fresh arrays, not its own data"),
    "one buffer": (OneBuffer, "next_gains must return fresh arrays"),
    "own fill": ({"fill": lambda self, gains, *, check=False: gains.fill(0.5)}, "fill must write the gains"),
    "draws globally": (draws(draws_globally), "leave the global random state alone"),
    "draws from random": (draws(draws_from_random), "leave the global random state alone"),
    "wrong means": (draws(lambda self, rounds: coins(self, rounds, self.means + 0.1)), r"means must be the expected"),
    "drifting means": (DriftingMeans, r"expected gains of every round, round 1 included; received others for arms"),
    "means of one arm": (
        {"__init__": starts(means=lambda self: np.array([0.5])), **draws(coins)},
        r"means must be an array of 3 numbers in \[0, 1\]; received shape \(1,\)",
    ),
    "locked": ({"__init__": starts(lock=lambda self: threading.Lock())}, "making a deep copy of an adversary"),
    "forgets in copies": (ForgetsInCopies, "a pickled copy must play like the original"),
    "shared state": (SharedState, r"copy.copy\(adversary\) and begin must leave the original's game alone"),
    "four arms": (
        {"__init__": lambda self, n_arms=4, horizon=400: Good.__init__(self, 4, horizon)},
        "made with n_arms=2 and horizon=2 must have them; received 4 and 2",
    ),
    "fails": (draws(fails), "Broken.begin and next_gains must not fail; received a RuntimeError"),
}


@pytest.mark.thorough
@pytest.mark.parametrize(("broken", "message"), BROKEN.values(), ids=BROKEN)
def test_a_broken_adversary_is_caught(broken, message):
    kind = type("Broken", (Good,), broken) if isinstance(broken, dict) else broken
    with pytest.raises(ConformanceError, match=message) as caught:
        check_adversary(kind, horizon=400)
    assert "0.1234567" not in str(caught.value)


@pytest.mark.parametrize("wrong", [3, None, lambda: 3, "DPBandit-Nowhere-v0", "CartPole-v1"])
def test_what_is_no_adversary_is_caught(wrong):
    message = rf"gym.make\('{wrong}'\) must not fail" if isinstance(wrong, str) else "adversary must"
    with pytest.raises(ConformanceError, match=message):
        check_adversary(wrong)


class CountsItself(Good):
    """Each object begins where the one before left off: games depend on how many were made."""

    made = 0

    def __init__(self, n_arms=3, horizon=400):
        super().__init__(n_arms, horizon)
        self.means = None

    def __copy__(self):
        clone = super().__copy__()
        clone.scale = 0.5
        return clone

    scale = 1.0

    def next_gains(self, rounds):
        return (self.rng.random((rounds, self.n_arms)) < 0.5) * self.scale


def test_a_copy_that_plays_otherwise_is_caught_in_the_vector_environment():
    """`make_vec` and `simulate` play copies, `gym.make` plays the original."""
    with pytest.raises(ConformanceError, match=r"game i of gym.make_vec must be the game of gym.make with seed \+ i"):
        check_adversary(register_adversary("Counts", CountsItself))


@pytest.mark.parametrize("failure", [0.1, 1e-3, 1e-10])
def test_the_width_of_a_mean_fails_as_rarely_as_it_says(failure):
    n = 300
    hits = np.arange(n + 1)
    samples = (np.arange(n)[:, np.newaxis] < hits).astype(float)  # column h has h ones
    widths = np.array([mean_width(samples[:, [h]], failure)[0] for h in hits])
    for chance in (0.0, 0.001, 0.03, 0.2, 0.5, 0.77, 0.99, 1.0):
        weights = stats.binom.pmf(hits, n, chance)
        assert weights[np.abs(hits / n - chance) > widths].sum() <= failure
    together = mean_width(samples, failure)
    assert np.all(together >= widths)


# ---- points
class Follower:
    """Follows the leader on gain vectors, from a random start."""

    def see_set(self, decision_set):
        """Keep the set."""
        self.set = decision_set

    def begin(self, *, dimension, horizon, rng):
        self.totals, self.rng = rng.standard_normal(dimension), rng

    def select_point(self):
        """Play the best point so far."""
        return self.set.best_point(self.totals)

    def update(self, point, observation):
        self.totals = self.totals + observation["gain"]


class OfPayoffs(Follower):
    """Moves at random, further after small payoffs."""

    feedback = "payoff"

    def update(self, point, observation):
        self.totals = self.totals + self.rng.standard_normal(len(point)) * (1 - float(observation["gain"][0]))


@pytest.mark.thorough
@pytest.mark.parametrize("right", [Follower, OfPayoffs])
def test_a_right_agent_passes(right):
    assert check_agent(right) is None


class Keeps(Follower):
    """Reads an observation one round late."""

    kept = None

    def begin(self, **sizes):
        super().begin(**sizes)
        self.kept = None

    def update(self, point, observation):
        if self.kept is not None:
            self.totals = self.totals + self.kept["gain"]
        self.kept = observation


class Shares(Follower):
    def begin(self, **sizes):
        super().begin(**sizes)
        Shares.shared = self.totals

    def update(self, point, observation):
        Shares.shared = self.totals = Shares.shared + observation["gain"]


class WantsReward(Follower):
    def update(self, point, observation, reward=None):
        super().update(point, observation)


class LooksForReward(Follower):
    def update(self, point, observation):
        observation.get("reward")
        super().update(point, observation)


def on_sets(look):
    """Return a `see_set` that looks at the name of the set first."""

    def see_set(self, decision_set):
        look(decision_set.name)
        Follower.see_set(self, decision_set)

    return {"see_set": see_set}


def fails_on_the_simplex(name):
    if name == "simplex":
        raise KeyError(name)


def refuses_all(name):
    raise WrongGameError("none is played.")


def refuses_all_but_balls(name):
    if name != "ball":
        raise WrongGameError("balls only.")


def kind_of(part):
    """Return a class, or a follower with some methods replaced."""
    return type("Broken", (Follower,), part) if isinstance(part, dict) else part


def test_an_agent_for_one_set_passes():
    assert check_agent(kind_of(on_sets(refuses_all_but_balls))) is None


BROKEN_ON_POINTS = {
    "outside": ({"select_point": lambda self: 2 * Follower.select_point(self)}, ["select_point"]),
    "keeps": (Keeps, ["update must not keep the observation"]),
    "shares": (Shares, ["two agents must share nothing"]),
    "wants reward": (WantsReward, ["from the point and the observation alone", "WantsReward.update with reward"]),
    "looks for reward": (LooksForReward, ["an agent that reads reward"]),
    "own error": (on_sets(fails_on_the_simplex), ["KeyError", "WrongGameError"]),
    "no set": (on_sets(refuses_all), ["WrongGameError"]),
}


@pytest.mark.thorough
@pytest.mark.parametrize(("broken", "words"), BROKEN_ON_POINTS.values(), ids=BROKEN_ON_POINTS)
def test_a_broken_agent_is_caught(broken, words):
    with refused(ConformanceError, *words):
        check_agent(kind_of(broken))


@pytest.mark.parametrize("kind", [Leaning, OneAxis, Alternating, lambda: VectorTable(np.full((90, 2), -0.25))])
def test_adversaries_of_gain_vectors_pass(kind):
    assert check_adversary(kind, horizon=300) is None


class Low(OneAxis):
    """Says that it has no gains below 0."""

    lowest = 0.0


class Deep(OneAxis):
    """Allows itself gains of -2."""

    lowest = -2.0


@pytest.mark.parametrize(("broken", "words"), [(Low, ["[0, 1]"]), (Deep, ["lowest", "-1"])])
def test_a_broken_adversary_of_gain_vectors_is_caught(broken, words):
    with refused(ConformanceError, *words):
        check_adversary(broken)


def noisy(env):
    """Return noisy sums."""
    return CounterSums(env, counter="binary", epsilon=1.0)


@pytest.mark.thorough
def test_right_algorithms_pass():
    """False alarm: 5e-7 for each of three games."""
    assert check_algorithm(Algorithm("leader", None, noisy, make_point_agent=RegularizedLeader), games=40) is None
    one_set = Algorithm("leader", None, ExactSums, make_point_agent=RegularizedLeader, decision_sets=("cube",))
    assert check_algorithm(one_set, games=0) is None


def claimed(n_arms, horizon):
    """Claim a small epsilon."""
    return PrivacyGuarantee(epsilon=0.1, theorem="a claim")


@pytest.mark.parametrize(
    ("broken", "words"),
    [
        (Algorithm("none", None, make_point_agent=RegularizedLeader, decision_sets=("cone",)), ["refusal(env)"]),
        (Algorithm("no agent", None, ExactSums, make_point_agent=dict), ["agent()"]),
        (Algorithm("bare", None, make_point_agent=RegularizedLeader), ["play"]),
    ],
)
def test_a_broken_algorithm_is_caught(broken, words):
    with refused(ConformanceError, *words):
        check_algorithm(broken, games=0)


class Claims(Algorithm):
    def guarantee_in(self, env):
        """Claim."""
        return claimed(2, 2)


@pytest.mark.thorough
def test_a_false_claim_of_privacy_is_caught():
    false = Claims("claims", None, ExactSums, own_guarantee=claimed, make_point_agent=RegularizedLeader)
    with refused(ConformanceError, "points", "epsilon = 0.1"):
        check_algorithm(false, games=100)


class RewardsAll(PrivacyBoundary):
    """Rewards the largest released value instead of the point's own."""

    def _reward(self, released, arm):
        return float(released["gain"].max()) if self._n_plays == 0 else super()._reward(released, arm)


class ChecksTheSharedSet(PrivacyBoundary):
    """Hands out the set with which it checks points."""

    @property
    def decision_set(self):
        """The set itself."""
        return self._set


@pytest.mark.thorough
@pytest.mark.parametrize(("broken", "words"), [(RewardsAll, ["reward"]), (ChecksTheSharedSet, ["WrongPointError"])])
def test_a_wrapper_that_is_broken_on_points_only_is_caught(broken, words):
    with refused(ConformanceError, *words):
        check_wrapper(lambda env: broken(env, LaplaceClipRescale(epsilon=1.0)), games=0)
    assert check_wrapper(lambda env: PrivacyBoundary(env, LaplaceClipRescale(epsilon=1.0)), games=0) is None


class OfTheBall:
    """Plays points of the ball in any game, and never looks at the set."""

    def begin(self, *, dimension, horizon, rng):
        self.totals = rng.standard_normal(dimension)

    def select_point(self):
        """Play the direction of all gains so far."""
        return self.totals / np.linalg.norm(self.totals)

    def update(self, point, observation):
        self.totals = self.totals + observation["gain"]


def test_an_agent_for_one_set_says_so_and_passes():
    with refused(ConformanceError, "simplex", "decision_sets=['ball']", "WrongGameError"):
        check_agent(OfTheBall)
    assert check_agent(OfTheBall, decision_sets=("ball", "cube")) is None


@pytest.mark.parametrize(
    ("sets", "error", "words"), [(["disc"], ValueError, ["'disc'", "'ball'"]), ([], ConformanceError, ["one"])]
)
def test_unknown_sets_and_none_are_refused(sets, error, words):
    with refused(error, *words):
        check_agent(OfTheBall, decision_sets=sets)
