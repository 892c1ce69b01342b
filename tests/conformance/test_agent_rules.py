"""`check_agent` passes every agent of ours, and catches an agent that breaks each of its rules."""

import functools
import random
import threading
from typing import NamedTuple

import numpy as np
import pytest

from dp_bandit_envs import agents
from dp_bandit_envs.agents.functional import FunctionalAgent, Functions
from dp_bandit_envs.agents.noise_width import counter_width
from dp_bandit_envs.conformance import ConformanceError, check_agent
from dp_bandit_envs.protocols import Sums
from tests.tools.playable import agents_for
from tests.tools.refusals import refused

OURS = {name: getattr(agents, name) for points in (False, True) for name in agents_for(points=points)}
WITH_PARAMETERS = {
    "Exp3, rate 1": functools.partial(agents.Exp3, exploration_rate=1.0),
    "Ucb, by random labels": lambda: agents.RandomLabels(agents.Ucb()),
    "Ucb, for noise": functools.partial(agents.Ucb, width=counter_width("hybrid", epsilon=1.0)),
}


@pytest.mark.thorough
@pytest.mark.slow_cases(
    "BallOsmd",
    "DiscountedUcb",
    "EpochLeader",
    "Exp2",
    "Exp3, rate 1",
    "Exp3Set",
    "GaussianThompsonSampling",
    "Htinf",
    "Imed",
    "KlUcb",
    "LazyHedge",
    "LinearElimination",
    "LocalUcb",
    "PerturbedLeader",
    "PerturbedLeaderOfArms",
    "RegularizedLeader",
    "RestartedUcb",
    "Scrible",
    "ScribleOnVectors",
    "SlidingWindow",
    "SuccessiveElimination",
    "TsMaxN",
    "TsallisInf",
    "Ucb, for noise",
)
@pytest.mark.parametrize("make", (OURS | WITH_PARAMETERS).values(), ids=(OURS | WITH_PARAMETERS).keys())
def test_agents_of_ours_pass(make):
    assert check_agent(make) is None


class Good:
    """Follows the leader, and explores one step in ten; of gains and of sums."""

    def begin(self, *, n_arms, horizon, rng):
        self.n_arms, self.rng = n_arms, rng
        self.totals, self.counts = [0.0] * n_arms, [0] * n_arms

    def select_arm(self):
        if self.rng.random() < 0.1:
            return int(self.rng.integers(self.n_arms))
        return self.best()

    def best(self):
        means = [total / max(count, 1) for total, count in zip(self.totals, self.counts, strict=True)]
        return means.index(max(means))

    def update(self, arm, observation):
        if "sum" in observation:
            self.totals, self.counts = observation["sum"].tolist(), observation["count"].tolist()
        else:
            self.totals[arm] += float(observation["gain"][arm])
            self.counts[arm] += int(observation["observed"][arm])


@pytest.mark.thorough
@pytest.mark.parametrize("kind", [None, "both"])
def test_a_foreign_agent_passes(kind):
    assert check_agent(Good, learns_from=kind) is None


class WithProbabilities(Good):
    def probabilities(self):
        chances = np.full(self.n_arms, 0.1 / self.n_arms)
        chances[self.best()] += 0.9
        return chances


@pytest.mark.thorough
def test_a_foreign_agent_with_probabilities_passes():
    assert check_agent(WithProbabilities) is None


def after(change):
    """Return an `update` that does something more with the agent and the observation."""

    def update(self, arm, observation):
        Good.update(self, arm, observation)
        change(self, observation)

    return {"update": update}


def must(condition):
    """Return an `update` that fails if this does not hold of the agent, the arm and the observation."""

    def update(self, arm, observation):
        Good.update(self, arm, observation)
        assert condition(self, arm, observation)

    return {"update": update}


def begins(change):
    """Return a `begin` that does something more with the agent, the horizon and the stream."""

    def begin(self, *, n_arms, horizon, rng):
        kept = getattr(self, "totals", [])
        Good.begin(self, n_arms=n_arms, horizon=horizon, rng=rng)
        change(self, horizon, kept)

    return {"begin": begin}


def selects(choice):
    return {"select_arm": choice}


class OtherNames(Good):
    def begin(self, *, arms, horizon, rng):
        super().begin(n_arms=arms, horizon=horizon, rng=rng)


class WantsReward(Good):
    def update(self, arm, observation, reward=None):
        super().update(arm, observation)


class NotRepeatable(Good):
    def begin(self, *, n_arms, horizon, rng):
        super().begin(n_arms=n_arms, horizon=horizon, rng=np.random.default_rng())


class KeepsObservations(Good):
    def begin(self, *, n_arms, horizon, rng):
        super().begin(n_arms=n_arms, horizon=horizon, rng=rng)
        self.seen = []

    def update(self, arm, observation):
        self.seen.append((observation["gain"], observation["observed"]))

    def best(self):
        totals = [sum(gain[arm] for gain, _ in self.seen) for arm in range(self.n_arms)]
        counts = [sum(int(observed[arm]) for _, observed in self.seen) for arm in range(self.n_arms)]
        means = [total / max(count, 1) for total, count in zip(totals, counts, strict=True)]
        return means.index(max(means))


class Shares(Good):
    pulls = np.zeros(1000)

    def begin(self, *, n_arms, horizon, rng):
        super().begin(n_arms=n_arms, horizon=horizon, rng=rng)
        Shares.pulls[:] = 0

    def best(self):
        return int(Shares.pulls[: self.n_arms].argmin())

    def update(self, arm, observation):
        Shares.pulls[arm] += 1


class SharesTheLast(Good):
    """Keeps the last observation in the class; an agent that plays beside it changes that."""

    def begin(self, *, n_arms, horizon, rng):
        super().begin(n_arms=n_arms, horizon=horizon, rng=rng)
        SharesTheLast.last = 0

    def best(self):
        return SharesTheLast.last % self.n_arms

    def update(self, arm, observation):
        SharesTheLast.last = arm + 1


class SeedsGlobally(Good):
    def begin(self, *, n_arms, horizon, rng):
        np.random.seed(0)  # noqa: NPY002
        super().begin(n_arms=n_arms, horizon=horizon, rng=rng)


class ForgetsInCopies(Good):
    skill = 0

    def __init__(self):
        self.skill = 1

    def __getstate__(self):
        return {}

    def best(self):
        return super().best() if self.skill else 0


def draws_for_probabilities(self):
    self.rng.random()
    return WithProbabilities.probabilities(self)


def fails(self, graph):
    raise RuntimeError


WRONG_PROBABILITIES = {"probabilities": lambda self: np.eye(self.n_arms)[self.best()]}
BROKEN = {
    "no update": ({"update": None}, r"must have the method update\(arm, observation\)"),
    "other names": (OtherNames, r"is called by begin\(n_arms, horizon, rng\), names included"),
    "wants reward": (WantsReward, "from the arm and the observation alone; received WantsReward.update with reward"),
    "looks for reward": (after(lambda self, seen: seen.get("reward")), "must read only what is in the observation"),
    "counts from one": (selects(lambda self: Good.select_arm(self) + 1), r"must return an integer in \[0, 0\]"),
    "bools": (selects(lambda self: self.n_arms > 1 and Good.select_arm(self) == 1), r"must return an integer in \[0"),
    "not repeatable": (NotRepeatable, "the same stream and observations must give the same arms"),
    "remembers": (
        begins(lambda self, horizon, kept: setattr(self, "totals", (kept + self.totals)[: self.n_arms])),
        "begin must forget the game before",
    ),
    "keeps observations": (KeepsObservations, "update must not keep the observation"),
    "changes observations": (
        after(lambda self, seen: np.add(seen["gain"], 1.0, out=seen["gain"])),
        "update must not change the observation",
    ),
    "shares": (Shares, "two agents must share nothing"),
    "shares the last": (SharesTheLast, "two agents must share nothing"),
    "draws globally": (selects(lambda self: int(np.random.rand() * 0)), "leave the global random state"),  # noqa: NPY002
    "seeds globally": (SeedsGlobally, "leave the global random state alone"),
    "divides by rounds": (begins(lambda self, horizon, kept: 1 / (horizon - 1)), "in a game of 1 arms and 1 rounds"),
    "needs gains": (must(lambda self, arm, seen: seen["observed"][arm]), "must not fail; received an AssertionError"),
    "needs plausible sums": (
        {
            "learns_from": Sums,
            **must(lambda self, arm, seen: all(map(lambda s, n: 0 <= s <= n, self.totals, self.counts))),
        },
        "must not fail; received an AssertionError",
    ),
    "locked": ({"__init__": lambda self: setattr(self, "lock", threading.Lock())}, "making a deep copy of an agent"),
    "forgets in copies": (ForgetsInCopies, "a deep copy must play like the original"),
    "odd probabilities": (
        {"probabilities": lambda self: WithProbabilities.probabilities(self) / 2},
        "numbers of at least 0 with sum 1",
    ),
    "draws for probabilities": ({"probabilities": draws_for_probabilities}, r"asking for probabilities\(\) must not"),
    "wrong probabilities": (WRONG_PROBABILITIES, "an arm of probability 0 must not be played"),
    "fails on graphs": ({"see_graph": fails}, "a game of DPBandit-Graph-v0 must not fail; received a RuntimeError"),
    # No size of the unit games has four arms.
    "knows four arms": (must(lambda self, arm, seen: self.n_arms != 4), "a game of DPBandit-Deterministic-v0"),
}


@pytest.mark.thorough
@pytest.mark.parametrize(("broken", "message"), BROKEN.values(), ids=BROKEN)
def test_a_broken_agent_is_caught(broken, message):
    kind = type("Broken", (Good,), broken) if isinstance(broken, dict) else broken
    with pytest.raises(ConformanceError, match=message):
        check_agent(kind)


class NeedsAll(Good):
    """Plays the arm that gained most so far, and relies on seeing the gains of others too."""

    def begin(self, **options):
        super().begin(**options)
        self.own = self.others = 0

    def update(self, arm, observation):
        seen = observation["observed"]
        self.own += int(seen[arm])
        self.others += int(seen.sum() - seen[arm])
        assert self.n_arms == 1 or self.own < 20 or self.others > 0
        self.totals = [total + float(gain) for total, gain in zip(self.totals, observation["gain"], strict=True)]
        self.counts = [1] * self.n_arms


@pytest.mark.thorough
def test_an_agent_that_needs_all_gains_passes_where_they_are_revealed():
    class SaysSo(NeedsAll):
        feedback = "full"

    check_agent(NeedsAll, feedback="full")
    check_agent(SaysSo)
    with pytest.raises(ConformanceError, match="must not fail; received an AssertionError"):
        check_agent(SaysSo, feedback="any")


def test_feedback_is_any_or_full():
    with refused(ValueError, "feedback", "'any'", "'full'", "'some'"):
        check_agent(Good, feedback="some")


class State(NamedTuple):
    totals: np.ndarray


def sets_a_field(state, arm, seen):
    state.totals += seen.gains
    return state


def test_what_a_compiled_agent_may_not_do_is_named_and_nothing_is_said_of_sums():
    class Mine(FunctionalAgent):
        functions = Functions(lambda state, rng: 0, sets_a_field)

        def initial_state(self, n_arms, horizon):
            return State(np.zeros(n_arms))

    with refused(ConformanceError, "sets_a_field of Mine", "fields of the state cannot be set") as caught:
        check_agent(Mine)
    assert "learns_from" not in str(caught.value)


def select_with_overflow(state, rng):
    # Python's integers grow; compiled, they are those of the processor.
    return state[0] * 2**62 * 3 // 7 % state[0]


class NotTheSame(agents.Uniform):
    """Plays one arm in Python and another one compiled."""

    functions = Functions(select_with_overflow, agents.Uniform.functions.update)


def select_by_name(state, rng):
    # Numba knows no eval.
    return eval("0")


class NotCompilableError(agents.Uniform):
    """Plays in Python only."""

    functions = Functions(select_by_name, agents.Uniform.functions.update)


class Needs(Good):
    def __init__(self, rate):
        pass


class OfSums(Good):
    def update(self, arm, observation):
        self.totals = observation["sum"].tolist()


ONE_AGENT = Good()
UNFIT = {
    "an agent": (Good(), "make_agent must make a fresh agent when called; received a Good"),
    "one agent again": (lambda: ONE_AGENT, "must make a fresh agent each time"),
    "needs parameters": (Needs, r"make_agent\(\) must not fail; received a TypeError"),
    "of sums": (OfSums, r"check_agent\(..., learns_from='sums'\)"),
    "otherwise when compiled": (NotTheSame, "must play the same games by play and by simulate"),
    "not compilable": (NotCompilableError, "must be compiled"),
}


@pytest.mark.parametrize(("make", "message"), UNFIT.values(), ids=UNFIT)
def test_what_makes_no_fit_agent_is_caught(make, message):
    with pytest.raises(ConformanceError, match=message):
        check_agent(make)


def test_the_global_random_state_is_put_back():
    np.random.seed(5)  # noqa: NPY002
    random.seed(5)
    before = np.random.get_state()[1].tolist(), random.getstate()  # noqa: NPY002
    with pytest.raises(ConformanceError):
        check_agent(SeedsGlobally)
    assert (np.random.get_state()[1].tolist(), random.getstate()) == before  # noqa: NPY002
