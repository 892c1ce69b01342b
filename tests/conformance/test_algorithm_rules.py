"""`check_algorithm` passes every algorithm of ours, and catches one that breaks each of its rules."""

import dataclasses
import functools
import math
import threading

import pytest

from dp_bandit_envs import Algorithm, Exp3, LaplaceClipRescale, PrivacyGuarantee, algorithm_names, register_algorithm
from dp_bandit_envs.agents import Hedge, LazyHedge, Ucb, Uniform
from dp_bandit_envs.conformance import ConformanceError, check_algorithm
from dp_bandit_envs.wrappers import ExactSums, HybridSums

ONE_OF_EACH_KIND = (
    *("EXP3", "DP-EXP3-Lap", "EXP3-tau", "Tsallis-INF", "UCB", "DP-UCB", "DP-SE", "AdaP-KLUCB", "TS", "DP-KLUCB"),
    *("LDP-UCB-B", "UCB-MaxN", "EXP3-SET", "Hedge", "DP-Hedge", "Lazy-Hedge", "AS-FTRL", "AS-EXP2", "AS-SCRiBLe"),
    *("OSMD", "Uniform"),
)


@pytest.mark.thorough
@pytest.mark.slow_cases(
    "AS-EXP2",
    "AS-FTRL",
    "AS-SCRiBLe",
    "AdaP-KLUCB",
    "DP-Hedge",
    "DP-KLUCB",
    "DP-SE",
    "DP-UCB",
    "EXP3",
    "EXP3-SET",
    "EXP3-tau",
    "LDP-UCB-B",
    "Lazy-Hedge",
    "OSMD",
    "TS",
    "Tsallis-INF",
    "UCB",
    "UCB-MaxN",
    "Uniform",
)
@pytest.mark.parametrize("name", ONE_OF_EACH_KIND)
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


class Foreign(Exp3):
    """An agent that is not compiled."""

    def begin(self, **options):
        super().begin(**options)


def mine(*, epsilon=1.0):
    """Play EXP3 behind Laplace noise."""
    return Algorithm("whatever", Exp3, functools.partial(LaplaceClipRescale, epsilon=epsilon))


@pytest.mark.thorough
def test_third_parties_algorithms_pass():
    """False alarm: 1e-6."""
    check_algorithm(GOOD, games=100)
    check_algorithm(Algorithm("foreign", Foreign, laplace), games=100)
    register_algorithm("Mine", mine)
    check_algorithm("mine", games=100)
    # Those without a name, which `simulate` sends to other processes, and that refuse graphs.
    check_algorithm(changed(wrapping=lambda env: laplace(env), make_agent=RefusesGraphs), games=0)


class FailsOnGraphs(Foreign):
    def see_graph(self, graph):
        raise IndexError


class RefusesGraphs(Foreign):
    def see_graph(self, graph):
        raise ValueError("not for graphs")


class FailsOnCompleteGraphs(LazyHedge):
    def see_graph(self, graph):
        raise ValueError("not for graphs")


class FailsAtOneRound(Foreign):
    def begin(self, *, n_arms, horizon, rng):
        1 / (horizon - 1)
        super().begin(n_arms=n_arms, horizon=horizon, rng=rng)


class Counts(Foreign):
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


def fails(env):
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


BROKEN = {
    "no algorithm": (Exp3(), "algorithm must be an Algorithm or a name; received an Exp3"),
    "no name": (changed(name="  "), "an algorithm must have a name"),
    "unknown name": ("EXP3000", "making 'EXP3000' must not fail; received a UnknownNameError"),
    "one agent": (changed(make_agent=same_agent), "make a fresh agent each time"),
    "no agent": (changed(make_agent=no_agent), r"agent\(\) must return an agent; received an int"),
    "other game": (changed(wrapping=other_game), "wrap must keep the game it is given"),
    "wrap fails": (changed(wrapping=fails), r"wrap\(env\) must not fail; received a RuntimeError"),
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
@pytest.mark.parametrize(("broken", "message"), BROKEN.values(), ids=BROKEN.keys())
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
