"""The loss of several Laplace draws at a delta: by hand, by sampling, and for intervals, whose claim is by zCDP."""

import math

import numpy as np
import pytest

from dp_bandit_envs.audits import exact_loss
from dp_bandit_envs.audits.linear_noise import dominates, epsilon_of_moves
from dp_bandit_envs.errors import NotAuditedError
from dp_bandit_envs.privacy.guarantee import PrivacyGuarantee
from dp_bandit_envs.privacy.mechanisms import CounterSums, IntervalSums
from tests.tools.refusals import refused


@pytest.mark.parametrize("delta", [1e-9, 0.1, 0.3])
def test_one_draw_by_hand(delta):
    """A move by r scales has delta = 1 - e^((epsilon - r) / 2), so epsilon = r + 2 ln(1 - delta)."""
    found = epsilon_of_moves(np.array([0.0, -1.0]), delta)
    exact = 1 + 2 * math.log1p(-delta)
    assert exact <= found <= exact + 1e-4


def test_two_draws_by_sampling():
    """E max(0, 1 - e^(epsilon - y)) over 400,000 losses is delta, within five standard errors. False alarm: 6e-7."""
    rng, moves, delta = np.random.default_rng(1), np.array([0.5, 1.2]), 0.05
    epsilon = epsilon_of_moves(moves, delta)
    draws = rng.laplace(size=(400_000, 2))
    losses = (np.abs(draws + moves) - np.abs(draws)).sum(axis=1)
    over = np.maximum(0.0, -np.expm1(np.minimum(epsilon - losses, 0.0)))
    assert abs(over.mean() - delta) < 5 * over.std() / math.sqrt(len(over)) + 1e-4


def test_nothing_moved_loses_nothing():
    assert epsilon_of_moves(np.zeros(3), 0.1) == 0
    assert epsilon_of_moves(np.full(40, 0.1), 1e-6) < 4.0


def test_domination_by_hand():
    assert dominates(np.array([1.0, -2.0, 0.0]), np.array([0.0, 1.5, 1.0]))
    assert not dominates(np.array([1.0, 1.0, 1.0]), np.array([0.0, 2.0, 0.0]))


def test_intervals_lose_at_their_delta_what_they_claim():
    """Many releases of one arm: pure loss 1.9, .84 by zCDP at delta .1, exactly .48, which is also what is declared."""
    loss = exact_loss(IntervalSums(epsilon=5.0, delta=0.1), horizon=64)
    assert loss.declared.delta == 0.1
    assert loss.holds and loss.ratio > 0.999
    later = loss.by_round[loss.by_round > 0]
    assert (np.diff(later) <= 1e-9).all()


def test_a_false_claim_at_a_delta_is_refuted(monkeypatch):
    claim = PrivacyGuarantee(epsilon=0.4, delta=0.1, theorem="false")
    monkeypatch.setattr(IntervalSums, "guarantee", lambda self, below: claim)
    assert not exact_loss(IntervalSums(epsilon=5.0, delta=0.1), horizon=64).holds


def test_draws_that_outnumber_releases_are_refused_at_a_delta(monkeypatch):
    """Then a change can be hidden in many ways, and the loss is that of no single one."""
    claim = PrivacyGuarantee(epsilon=0.5, delta=0.01, theorem="false")
    monkeypatch.setattr(CounterSums, "guarantee", lambda self, below: claim)
    with refused(NotAuditedError, "CounterSums", "sampled_loss"):
        exact_loss(CounterSums(counter="padded-binary", epsilon=1.0), horizon=8)
