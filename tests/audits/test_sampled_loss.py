"""The sampled audit: its bounds by hand and in many repetitions, what it finds, and what it must not claim."""

import dataclasses
import math

import numpy as np
import pytest

from dp_bandit_envs.adversaries.replay import GainTable
from dp_bandit_envs.algorithms import Algorithm, make_algorithm
from dp_bandit_envs.audits import sampled_loss
from dp_bandit_envs.audits.arm_events import codes_of, least_epsilon, strongest_arm_event
from dp_bandit_envs.audits.neighbours import candidate_pairs
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.envs.graph_env import GraphEnv
from dp_bandit_envs.errors import NotAuditedError
from dp_bandit_envs.privacy.mechanisms import BlockSums
from dp_bandit_envs.simulation import play
from dp_bandit_envs.simulation.arms_played import arms_played
from dp_bandit_envs.wrappers import PrivacyBoundary
from tests.tools.refusals import refused


class TooLittleNoise(BlockSums):
    """Blocks with the noise of epsilon that claim a quarter of it."""

    def guarantee(self, below):
        """Claim a quarter."""
        honest = super().guarantee(below)
        return dataclasses.replace(honest, epsilon=honest.epsilon / 4)


def adap_ucb(mechanism):
    """Return AdaP-UCB's agent around this mechanism."""
    honest = make_algorithm("AdaP-UCB", epsilon=4.0)
    return Algorithm("mine", honest.make_agent, wrapping=lambda env: PrivacyBoundary(env, mechanism))


@pytest.mark.parametrize("name", ["AdaP-UCB", "LDP-UCB-B", "DP-UCB", "DP-FTRL", "EXP3"])
def test_no_claim_is_refuted(name):
    """False alarm: at most 1e-4 for each algorithm, the confidence asked for."""
    epsilon = {} if name == "EXP3" else {"epsilon": 0.3}
    loss = sampled_loss(make_algorithm(name, **epsilon), games=1000, confidence=1 - 1e-4, horizon=6)
    assert loss.holds
    assert 0 <= loss.epsilon <= loss.declared.epsilon


def test_too_little_noise_is_rejected_from_arms_alone():
    """It claims 1 and has the noise of 4; about 1.9 is shown with this many games."""
    loss = sampled_loss(adap_ucb(TooLittleNoise(epsilon=4.0)), games=2000, horizon=6)
    assert loss.declared.epsilon == 1.0
    assert loss.epsilon > 1.2
    assert not loss.holds


def test_the_same_noise_with_an_honest_claim_passes():
    """False alarm: 1e-4."""
    assert sampled_loss(adap_ucb(BlockSums(epsilon=4.0)), games=2000, horizon=6, confidence=1 - 1e-4).holds


def test_a_seed_repeats_an_audit():
    one, other = (sampled_loss("LDP-UCB-B", games=200, horizon=4, seed=5) for _ in range(2))
    assert one.epsilon == other.epsilon
    np.testing.assert_array_equal(one.pair.one, other.pair.one)
    np.testing.assert_array_equal(one.event.codes, other.event.codes)


def test_bounds_by_hand():
    """All of 10 and none of 10: Clopper-Pearson gives (f/2)^(1/10) from below and 1 - (f/2)^(1/10) from above."""
    low = 0.05 ** (1 / 10)
    assert least_epsilon(10, 0, 10, 0.0, 0.1) == pytest.approx(math.log(low / (1 - low)), rel=1e-12)
    assert least_epsilon(10, 0, 10, 0.5, 0.1) == pytest.approx(math.log((low - 0.5) / (1 - low)), rel=1e-12)
    assert least_epsilon(0, 10, 10, 0.0, 0.1) == -math.inf
    assert least_epsilon(10, 10, 10, 0.0, 0.1) == pytest.approx(math.log(low), rel=1e-12)


def test_false_alarms_are_within_the_level():
    """Coins of .3 e and .3 / 1 at failure .2: alarms above epsilon = 1 in at most 20 % of 1,000 repetitions.

    Five standard errors of a share of .2 are .063. False alarm: 3e-7.
    """
    rng, n = np.random.default_rng(8), 200
    p = 0.3
    hits = rng.binomial(n, [p * math.e, p], (1000, 2))
    alarms = [least_epsilon(int(more), int(less), n, 0.0, 0.2) > 1 for more, less in hits]
    assert np.mean(alarms) <= 0.2 + 0.063
    # The bound is of use: at half the true epsilon it is above in most.
    assert np.mean([least_epsilon(int(more), int(less), n, 0.0, 0.2) > 0.5 for more, less in hits]) > 0.9


def test_the_event_is_the_sequence_that_differs():
    same = np.tile([0, 0, 1], (50, 1))
    one = np.vstack([same, np.tile([1, 0, 1], (50, 1))])
    other = np.vstack([same, np.tile([0, 1, 1], (50, 1))])
    event = strongest_arm_event(one, other)
    arms = one if event.first else other
    assert event.codes.tolist() in ([0b101], [0b011])
    assert event.hits(arms) == 50
    assert event.hits(other if event.first else one) == 0


def test_codes_are_digits():
    arms = np.array([[2, 0, 1], [0, 1, 2]])
    assert codes_of(arms, (0, 1, 2), 3).tolist() == [19, 5]
    assert codes_of(arms, (2,), 3).tolist() == [1, 2]


@pytest.mark.parametrize(("rounds", "n_arms"), [(2, 2), (9, 4)])
def test_neighbours_differ_in_one_round(rounds, n_arms):
    pairs = candidate_pairs(rounds, n_arms, np.random.default_rng(0))
    assert len(pairs) > 10
    for one, other, changed in pairs:
        assert one.shape == (rounds, n_arms)
        differs = (one != other).any(axis=1)
        assert np.flatnonzero(differs).tolist() == [changed]
        assert min(one.min(), other.min()) >= 0 and max(one.max(), other.max()) <= 1


@pytest.mark.parametrize("name", ["AdaP-UCB", "DP-UCB", "EXP3"])
def test_arms_of_many_games_are_those_of_play(name):
    env = BanditEnv(GainTable(np.random.default_rng(1).random((7, 3))))
    arms = arms_played(env, make_algorithm(name), 4, seed=3, first_trial=2)
    for row, trial in enumerate(range(2, 6)):
        np.testing.assert_array_equal(arms[row], play(env, make_algorithm(name), seed=3, trial=trial).arms)


def test_arms_on_a_graph_are_those_of_play():
    env = GraphEnv("complete", n_arms=3, gains=GainTable(np.random.default_rng(1).random((5, 3))))
    algorithm = make_algorithm("DP-TS", epsilon=1.0)
    arms = arms_played(env, algorithm, 2, seed=3)
    np.testing.assert_array_equal(arms[1], play(env, algorithm, seed=3, trial=1).arms)


def test_bad_arguments_are_refused():
    with refused(ValueError, "confidence", 1.0):
        sampled_loss("LDP-UCB-B", confidence=1.0)
    with refused(ValueError, "games", 100, 99):
        sampled_loss("LDP-UCB-B", games=99)
    with refused(NotAuditedError, "OSMD"):
        sampled_loss("OSMD")
