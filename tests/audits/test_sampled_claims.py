"""The sampled audits against every claim: none is refuted, and a claim that is just true hardly ever."""

import pytest
from scipy.stats import binom

from dp_bandit_envs.algorithms import ALGORITHMS, make_algorithm
from dp_bandit_envs.audits import sampled_loss
from dp_bandit_envs.cli.run_arguments import contestant
from dp_bandit_envs.errors import NotAuditedError, NothingReleasedError
from dp_bandit_envs.privacy.mechanisms import LaplaceClipRescale, RandomizedResponse
from tests.tools.refusals import refused

EPSILONS = (0.1, 1.0, 3.0)
ROWS = [name for name in ALGORITHMS if make_algorithm(name).make_agent is not None]
AUDITS = 2 * len(EPSILONS) * len(ROWS)
FALSE_ALARM = 1e-4
LEVEL = 0.2
LATE = ("DP-UCB-INT", "DP-SE", "DP-KLUCB", "DP-IMED")
"""Rows that release nothing in so few rounds at some epsilon."""


def audited(name, epsilon, **settings):
    """Return the sampled losses of one row, from arms and, if the claim covers them, from releases."""
    chosen = contestant(name, epsilon, 12)
    algorithm = make_algorithm(name, **chosen.parameters)
    losses = [sampled_loss(algorithm, of="arms", **settings)]
    try:
        losses.append(sampled_loss(algorithm, of="releases", **settings))
    except NothingReleasedError:
        assert name in LATE
    except NotAuditedError:
        assert "releases" not in losses[0].declared.covers
    return losses


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("name", ROWS)
def test_no_row_of_the_table_is_refuted(name, epsilon):
    """False alarm: 1e-4 for all rows, epsilons and kinds of events together (Bonferroni)."""
    for loss in audited(name, epsilon, games=20_000, confidence=1 - FALSE_ALARM / AUDITS):
        assert loss.holds, (name, epsilon, loss.epsilon, loss.declared.epsilon)


@pytest.mark.parametrize("name", ["DP-IMED"])
def test_some_rows_of_the_table_are_not_refuted(name):
    """False alarm: 1e-4 for all together (Bonferroni)."""
    for loss in audited(name, 1.0, games=500, horizon=10, confidence=1 - FALSE_ALARM / AUDITS):
        assert loss.holds


def test_a_game_without_releases_is_not_judged():
    with refused(NothingReleasedError, "DP-SE", "nothing was released in 4 rounds"):
        sampled_loss("DP-SE", of="releases", games=100, horizon=4)


def alarms(mechanism, repetitions):
    """Return how many audits of a level refute a mechanism that loses just what it declares."""
    settings = {"of": "releases", "games": 1000, "horizon": 2, "confidence": 1 - LEVEL}
    losses = [sampled_loss(mechanism(epsilon=1.0), seed=seed, **settings) for seed in range(repetitions)]
    # They are of use: the bounds are above half of it in most.
    assert sum(loss.epsilon > 0.5 for loss in losses) > 0.8 * repetitions
    return sum(not loss.holds for loss in losses)


@pytest.mark.slow
@pytest.mark.parametrize("mechanism", [LaplaceClipRescale, RandomizedResponse])
def test_a_claim_that_is_just_true_is_refuted_no_more_often_than_the_level(mechanism):
    """False alarm: 1e-5 for each, by the binomial tail of 200 audits at level .2."""
    assert binom.sf(alarms(mechanism, 200) - 1, 200, LEVEL) > 1e-5


def test_a_claim_that_is_just_true_survives_most_of_ten_audits():
    """False alarm: 1e-4; more than seven alarms of ten at level .2 have probability 7.8e-5."""
    assert alarms(RandomizedResponse, 10) <= 7
