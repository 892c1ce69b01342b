"""Every part for points passes its check, and for every rule there is a broken part that it catches."""

import numpy as np
import pytest

from dp_bandit_envs.adversaries import Alternating, Leaning, OneAxis, VectorTable
from dp_bandit_envs.agents.regularized_leader import RegularizedLeader
from dp_bandit_envs.algorithms import Algorithm
from dp_bandit_envs.conformance import ConformanceError, check_adversary, check_agent, check_algorithm, check_wrapper
from dp_bandit_envs.errors import WrongGameError
from dp_bandit_envs.privacy.guarantee import PrivacyGuarantee
from dp_bandit_envs.privacy.mechanisms import LaplaceClipRescale
from dp_bandit_envs.wrappers import CounterSums, ExactSums, PrivacyBoundary
from tests.tools.refusals import refused


class Follower:
    """Follows the leader on gain vectors, from a random start."""

    def see_set(self, decision_set):
        """Keep the set."""
        self.set = decision_set

    def begin(self, *, dimension, horizon, rng):
        """Start anew."""
        self.totals, self.rng = rng.standard_normal(dimension), rng

    def select_point(self):
        """Play the best point so far."""
        return self.set.best_point(self.totals)

    def update(self, point, observation):
        """Add up."""
        self.totals = self.totals + observation["gain"]


class OfPayoffs(Follower):
    """Moves at random, further after small payoffs."""

    feedback = "payoff"

    def update(self, point, observation):
        """Read the payoff."""
        self.totals = self.totals + self.rng.standard_normal(len(point)) * (1 - float(observation["gain"][0]))


@pytest.mark.thorough
@pytest.mark.parametrize("right", [Follower, OfPayoffs])
def test_a_right_agent_passes(right):
    assert check_agent(right) is None


class Keeps(Follower):
    """Reads an observation one round late."""

    kept = None

    def begin(self, **sizes):
        """Nothing is kept yet."""
        super().begin(**sizes)
        self.kept = None

    def update(self, point, observation):
        """Read the one before."""
        if self.kept is not None:
            self.totals = self.totals + self.kept["gain"]
        self.kept = observation


class Shares(Follower):
    """Adds up in the class."""

    def begin(self, **sizes):
        """Set it for all."""
        super().begin(**sizes)
        Shares.shared = self.totals

    def update(self, point, observation):
        """Add for all."""
        Shares.shared = self.totals = Shares.shared + observation["gain"]


class WantsReward(Follower):
    """Asks for more than there is."""

    def update(self, point, observation, reward=None):
        """Add up."""
        super().update(point, observation)


class LooksForReward(Follower):
    """Looks for what is not in an observation."""

    def update(self, point, observation):
        """Look, and add up."""
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


BROKEN = {
    "outside": ({"select_point": lambda self: 2 * Follower.select_point(self)}, ["select_point"]),
    "keeps": (Keeps, ["update must not keep the observation"]),
    "shares": (Shares, ["two agents must share nothing"]),
    "wants reward": (WantsReward, ["from the point and the observation alone", "WantsReward.update with reward"]),
    "looks for reward": (LooksForReward, ["an agent that reads reward"]),
    "own error": (on_sets(fails_on_the_simplex), ["KeyError", "WrongGameError"]),
    "no set": (on_sets(refuses_all), ["WrongGameError"]),
}


@pytest.mark.thorough
@pytest.mark.parametrize(("broken", "words"), BROKEN.values(), ids=BROKEN)
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
    """Claims more privacy than there is."""

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


@pytest.mark.parametrize(("broken", "words"), [(RewardsAll, ["reward"]), (ChecksTheSharedSet, ["WrongPointError"])])
def test_a_wrapper_that_is_broken_on_points_only_is_caught(broken, words):
    with refused(ConformanceError, *words):
        check_wrapper(lambda env: broken(env, LaplaceClipRescale(epsilon=1.0)), games=0)
    assert check_wrapper(lambda env: PrivacyBoundary(env, LaplaceClipRescale(epsilon=1.0)), games=0) is None


class OfTheBall:
    """Plays points of the ball in any game, and never looks at the set."""

    def begin(self, *, dimension, horizon, rng):
        """Start anew."""
        self.totals = rng.standard_normal(dimension)

    def select_point(self):
        """Play the direction of all gains so far."""
        return self.totals / np.linalg.norm(self.totals)

    def update(self, point, observation):
        """Add up."""
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
