"""`check_agent` and `check_algorithm` pass all of ours, and catch one that breaks each of their rules."""

import dataclasses
import functools
import math
import random
import threading
from typing import NamedTuple

import numpy as np
import pytest

from dp_bandit_envs import (
    Algorithm,
    Exp3,
    LaplaceClipRescale,
    PrivacyGuarantee,
    agents,
    algorithm_names,
    register_algorithm,
)
from dp_bandit_envs.agents import Hedge, LazyHedge, Ucb, Uniform
from dp_bandit_envs.agents.functional import FunctionalAgent, Functions
from dp_bandit_envs.agents.noise_width import counter_width
from dp_bandit_envs.conformance import ConformanceError, check_agent, check_algorithm
from dp_bandit_envs.protocols import Sums
from dp_bandit_envs.wrappers import ExactSums, HybridSums
from tests.tools.playable import agents_for
from tests.tools.refusals import refused
from tests.tools.toys import UncompiledExp3

OURS = {name: getattr(agents, name) for points in (False, True) for name in agents_for(points=points)}
WITH_PARAMETERS = {
    "Exp3, rate 1": functools.partial(agents.Exp3, exploration_rate=1.0),
    "Ucb, by random labels": lambda: agents.RandomLabels(agents.Ucb()),
    "Ucb, for noise": functools.partial(agents.Ucb, width=counter_width("hybrid", epsilon=1.0)),
}


@pytest.mark.thorough
@pytest.mark.slow_cases(
    *("BallOsmd", "DiscountedUcb", "EpochLeader", "Exp2", "Exp3, rate 1", "Exp3Set", "GaussianThompsonSampling"),
    *("Htinf", "Imed", "KlUcb", "LazyHedge", "LinearElimination", "LocalUcb", "PerturbedLeader"),
    *("PerturbedLeaderOfArms", "RegularizedLeader", "RestartedUcb", "Scrible", "ScribleOnVectors", "SlidingWindow"),
    *("SuccessiveElimination", "TsMaxN", "TsallisInf", "Ucb, for noise"),
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


@pytest.mark.thorough_cases("otherwise when compiled", "not compilable")
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


# ---- algorithms
@pytest.mark.thorough
@pytest.mark.parametrize("name", ["DP-EXP3-Lap", "Hedge"])
def test_algorithms_of_ours_pass(name):
    """With fewer games than by default, which all of them play below; False alarm: 5e-7."""
    assert check_algorithm(name, games=100) is None


@pytest.mark.slow
@pytest.mark.parametrize("name", algorithm_names())
def test_algorithms_of_ours_pass_with_the_games_of_the_default(name):
    """False alarm: 5e-7."""
    assert check_algorithm(name) is None


def laplace(env):
    return LaplaceClipRescale(env, epsilon=1.0)


GOOD = Algorithm("mine", Exp3, laplace)


def mine(*, epsilon=1.0):
    """Play EXP3 behind Laplace noise."""
    return Algorithm("whatever", Exp3, functools.partial(LaplaceClipRescale, epsilon=epsilon))


@pytest.mark.thorough
def test_third_parties_algorithms_pass():
    """False alarm: 1e-6."""
    check_algorithm(GOOD, games=100)
    check_algorithm(Algorithm("foreign", UncompiledExp3, laplace), games=100)
    register_algorithm("Mine", mine)
    check_algorithm("mine", games=100)
    # Those without a name, which `simulate` sends to other processes, and that refuse graphs.
    check_algorithm(changed(wrapping=lambda env: laplace(env), make_agent=RefusesGraphs), games=0)


class FailsOnGraphs(UncompiledExp3):
    def see_graph(self, graph):
        raise IndexError


class RefusesGraphs(UncompiledExp3):
    def see_graph(self, graph):
        raise ValueError("not for graphs")


class FailsOnCompleteGraphs(LazyHedge):
    def see_graph(self, graph):
        raise ValueError("not for graphs")


class FailsAtOneRound(UncompiledExp3):
    def begin(self, *, n_arms, horizon, rng):
        1 / (horizon - 1)
        super().begin(n_arms=n_arms, horizon=horizon, rng=rng)


class Counts(UncompiledExp3):
    """Plays otherwise from game to game."""

    made = 0

    def __init__(self):
        super().__init__()
        Counts.made += 1

    def select_arm(self):
        return (super().select_arm() + Counts.made) % self._n_arms


class OtherGuarantee(Algorithm):
    def guarantee(self, **size):
        return PrivacyGuarantee(0.01, theorem="none of ours")


class AboveTheHorizon(Algorithm):
    def regret_bound(self, *, n_arms, horizon, **rest):
        return 2.0 * horizon


class AnyBoundOfMeans(Algorithm):
    def pseudo_regret_bound(self, *, means, horizon, **rest):
        return math.nan


class PlaysAnyway(Algorithm):
    """Says which games it is not for, and plays them."""

    def check_game(self, env):
        pass

    def agent(self, env=None):
        return self.make_agent()


def other_game(env):
    return type(env.unwrapped)(horizon=env.unwrapped.horizon)


def fails_at(env):
    raise RuntimeError


one_agent = Exp3()


def same_agent():
    return one_agent


def no_agent():
    return 3


def own(epsilon, **rest):
    """Return a guarantee for any size."""
    return lambda k, t: PrivacyGuarantee(epsilon, **{"theorem": "a claim", **rest})


def changed(**fields):
    return dataclasses.replace(GOOD, **fields)


def locked(lock):
    """Return a function that cannot be sent to another process, because it holds a lock."""
    return lambda env: laplace(env) if lock else env


BROKEN_ALGORITHMS = {
    "no algorithm": (Exp3(), "algorithm must be an Algorithm or a name; received an Exp3"),
    "no name": (changed(name="  "), "an algorithm must have a name"),
    "unknown name": ("EXP3000", "making 'EXP3000' must not fail; received a UnknownNameError"),
    "one agent": (changed(make_agent=same_agent), "make a fresh agent each time"),
    "no agent": (changed(make_agent=no_agent), r"agent\(\) must return an agent; received an int"),
    "other game": (changed(wrapping=other_game), "wrap must keep the game it is given"),
    "wrap fails": (changed(wrapping=fails_at), r"wrap\(env\) must not fail; received a RuntimeError"),
    "covers releases": (
        changed(wrapping=ExactSums, own_guarantee=own(1.0, covers="arms and releases")),
        "own_guarantee hides gains by the arms drawn, so it covers the arms only; received covers 'arms and releases'",
    ),
    "other guarantee": (OtherGuarantee("x", Exp3, laplace), "must be that of the outermost wrapper, or own_guarantee"),
    "no guarantee": (changed(own_guarantee=lambda k, t: 0.5), "a guarantee must be a PrivacyGuarantee"),
    "negative epsilon": (changed(own_guarantee=own(-1.0)), r"guarantee\(n_arms=2, horizon=2\) must not fail"),
    "no theorem": (changed(own_guarantee=own(1.0, theorem="")), "and a theorem"),
    "guarantee fails": (changed(own_guarantee=lambda k: None), r"guarantee\(n_arms=2, horizon=2\) must not fail"),
    "paper guarantee": (changed(paper_guarantee_of=lambda k, t: None), "a guarantee must be a PrivacyGuarantee"),
    "NaN": (changed(bound=lambda k, t, m: math.nan), r"must be in \[0, T\], or inf .* received nan"),
    "too large": (AboveTheHorizon("x", Exp3), r"must be in \[0, T\], or inf .* received 128.0 at T = 64"),
    "NaN of means": (AnyBoundOfMeans("x", Exp3), "pseudo_regret_bound for means .* received nan"),
    "falling bound": (changed(bound=lambda k, t, m: 1e4 / t), "must not fall with more rounds"),
    "memory helps": (changed(bound=lambda k, t, m: 10.0 - m), "with memory 1 must not be below that without"),
    "bound fails": (changed(bound=lambda k, t: 1.0), "a regret bound must not fail; received a TypeError"),
    "wrong agent": (changed(make_agent=Ucb), "play with mine in DPBandit-Deterministic-v0 must not fail"),
    "one round": (changed(make_agent=FailsAtOneRound), "play with mine in DPBandit-Stochastic-v0 must not fail"),
    "on graphs": (changed(make_agent=FailsOnGraphs), "on a graph must be played or refused; received an IndexError"),
    "on complete graphs": (
        Algorithm("mine", FailsOnCompleteGraphs),
        "play with mine in DPBandit-Graph-v0 must not fail",
    ),
    "plays what it refuses": (
        PlaysAnyway("mine", lambda: Exp3(), feedback="full"),
        "must end in a WrongGameError; received a game that was played",
    ),
    "from game to game": (changed(make_agent=Counts), "same games by play and by simulate"),
    "no pickle": (changed(wrapping=locked(threading.Lock())), "making a pickled copy of an algorithm must not fail"),
}


@pytest.mark.thorough
@pytest.mark.parametrize(("broken", "message"), BROKEN_ALGORITHMS.values(), ids=BROKEN_ALGORITHMS.keys())
def test_a_broken_algorithm_is_caught(broken, message):
    with pytest.raises(ConformanceError, match=message):
        check_algorithm(broken, games=0)


@pytest.mark.thorough
@pytest.mark.parametrize("rate", [0.01, 0.5])
def test_a_false_claim_of_an_algorithm_that_needs_all_gains_is_caught(rate):
    """At a rate of .01 the claim is true: 23 draws of range .02 are .46-DP. False alarm: 5e-7."""
    algorithm = Algorithm(
        "hedge", lambda: Hedge(learning_rate=rate), ExactSums, feedback="full", own_guarantee=own(0.46)
    )
    if rate == 0.01:
        return check_algorithm(algorithm)
    with pytest.raises(
        ConformanceError, match=r"no event of the arms may be more than exp\(epsilon\) times as frequent"
    ):
        check_algorithm(algorithm)


def claims_nothing_is_seen(k, t):
    return PrivacyGuarantee(0.1, theorem="a false claim")


FALSE_CLAIMS = {
    "none": ExactSums,
    "a hundredth of the noise": functools.partial(HybridSums, epsilon=10.0),
}


@pytest.mark.thorough
@pytest.mark.slow_cases("a hundredth of the noise")
@pytest.mark.parametrize("wrapping", FALSE_CLAIMS.values(), ids=FALSE_CLAIMS.keys())
def test_a_false_claim_about_the_arms_played_is_caught(wrapping):
    """UCB has no randomness of its own, so one changed round changes the arms nearly with certainty."""
    algorithm = Algorithm("UCB", Ucb, wrapping, own_guarantee=claims_nothing_is_seen)
    with pytest.raises(
        ConformanceError, match=r"no event of the arms may be more than exp\(epsilon\) times as frequent"
    ):
        check_algorithm(algorithm, games=100)


def test_a_true_claim_of_zero_passes():
    """False alarm: 5e-7."""
    check_algorithm(Algorithm("uniform", Uniform, own_guarantee=uniform_guarantee), games=100)


def uniform_guarantee(k, t):
    return PrivacyGuarantee(0.0, theorem="the arms do not depend on the gains")
