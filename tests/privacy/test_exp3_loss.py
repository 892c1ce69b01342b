"""Every step of the proof in docs/notes/exp3-privacy.md, on random states; and wrong constants, which must fail."""

import math
from typing import NamedTuple

import numpy as np
import pytest

from dp_bandit_envs.privacy.exp3_privacy import draw_loss, largest_start, phi

ROUNDING = 1e-9
"""Relative; states carry rounding errors of about 1e-13."""


class States(NamedTuple):
    """Random states and constants of the proof, one a row; arrays over arms have a second axis."""

    n_arms: int
    gamma: np.ndarray
    scores: np.ndarray
    d: np.ndarray
    arm: np.ndarray
    gain: np.ndarray

    @property
    def eta(self):
        return self.gamma / self.n_arms

    @property
    def kappa(self):
        return (self.n_arms - 2) * self.gamma / (self.n_arms * (1 - self.gamma))

    @property
    def c(self):
        return (math.e - 2) / (1 - (math.e - 1) * self.kappa)

    def of_arm(self, values):
        return values[np.arange(len(values)), self.arm]


def random_states(n_arms, count, seed):
    """Return states with exploration rates up to the theorem's condition, about half of them at extremes.

    The arm played is often one with a probability near eta, its gain often 1, the differences d often on few arms.
    """
    rng = np.random.default_rng(seed)
    # (e - 1) kappa = part gives this gamma; part spreads over (0, 1).
    part = rng.uniform(0, 0.999, count) ** rng.choice([1.0, 6.0], count)
    share = part * n_arms / ((math.e - 1) * max(n_arms - 2, 1e-3))
    gamma = np.maximum(share / (1 + share), 5e-5)
    scores = rng.normal(0, 1, (count, n_arms)) * rng.choice([0.0, 1.0, 5.0], (count, 1))
    arm = rng.integers(0, n_arms, count)
    every = np.arange(count)
    # Put the arm's softmax weight at about t eta, t log-uniform, in half of the states.
    rest = np.exp(scores).sum(axis=1) - np.exp(scores[every, arm])
    low = np.log(rest * gamma / n_arms) + rng.uniform(-4, 4, count)
    scores[every, arm] = np.where(rng.random(count) < 0.5, low, scores[every, arm])
    d = rng.exponential(1.0, (count, n_arms)) * (rng.random((count, n_arms)) < rng.choice([0.0, 0.2, 1.0], (count, 1)))
    d[every, arm] += rng.choice([0.0, 1.0, 1000.0], count)
    d[every, rng.integers(0, n_arms, count)] += 0.1
    gain = np.where(rng.random(count) < 0.5, 1.0, rng.random(count))
    return States(n_arms, gamma, scores, d, arm, gain)


def softmax(scores):
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True)


def probabilities(states, scores):
    return (1 - states.gamma)[:, None] * softmax(scores) + states.eta[:, None]


def played(states, scores, sign=1):
    """Return the scores after the play: + eta g / p, or in loss form - eta (1 - g) / p."""
    value = states.gain if sign > 0 else -(1 - states.gain)
    after = scores.copy()
    p = states.of_arm(probabilities(states, scores))
    after[np.arange(len(scores)), states.arm] += states.eta * value / p
    return after


def moved(states, sign=1):
    """Return d after the play by step 1: d_j falls by theta e_j (in loss form it grows)."""
    p = states.of_arm(probabilities(states, states.scores))
    value = states.gain if sign > 0 else -(1 - states.gain)
    theta = states.eta / p * value * (1 - states.eta / p)
    after = states.d.copy()
    x = (softmax(states.scores) * states.d).sum(axis=1)
    after[np.arange(len(after)), states.arm] -= theta * (states.of_arm(states.d) - x)
    return after


def lyapunov(states, scores, d, c):
    """Return V and e = d - X."""
    x = (softmax(scores) * d).sum(axis=1)
    e = d - x[:, None]
    return (1 - states.gamma) * x + states.eta * (d.sum(axis=1) + c * np.abs(e).sum(axis=1)), e


def growth(states, c, sign=1):
    """Return by how much V grows in the play, relative to V."""
    before, _ = lyapunov(states, states.scores, states.d, c)
    after, _ = lyapunov(states, played(states, states.scores, sign), moved(states, sign), c)
    return (after - before) / before


ARMS = [2, 3, 30]
COUNT = 4000


@pytest.mark.parametrize("n_arms", ARMS)
def test_step_1_differences_move_as_the_derivative_of_a_play(n_arms):
    """Second route: central differences of the play itself; their error is of order step^2 d^3."""
    states = random_states(n_arms, COUNT, seed=1)
    step = 1e-4 / states.d.max(axis=1, keepdims=True)
    after = [played(states, states.scores + sign * step * states.d) for sign in (1, -1)]
    slope = (after[0] - after[1]) / (2 * step)
    largest = states.d.max(axis=1, keepdims=True)
    np.testing.assert_allclose(slope / largest, moved(states) / largest, rtol=0, atol=1e-6)
    assert moved(states).min() >= 0


@pytest.mark.parametrize("n_arms", ARMS)
def test_step_1_the_average_moves_between_a_half_and_e_minus_one_times_as_far(n_arms):
    states = random_states(n_arms, COUNT, seed=2)
    p = states.of_arm(probabilities(states, states.scores))
    e = states.of_arm(states.d) - (softmax(states.scores) * states.d).sum(axis=1)
    delta = states.eta / p * states.gain * (1 - states.eta / p) * e
    after = played(states, states.scores)
    change = (softmax(after) * moved(states)).sum(axis=1) - (softmax(states.scores) * states.d).sum(axis=1)
    clear = np.abs(delta) * states.eta > 1e-7 * states.d.max(axis=1)  # where rounding leaves six digits of the quotient
    beta = (change * (1 - states.gamma))[clear] / (states.eta * delta)[clear]
    assert clear.sum() > 500
    assert beta.min() >= 0.5 - 1e-5 and beta.max() <= math.e - 1 + 1e-5
    assert beta.max() > 1.6


@pytest.mark.parametrize("n_arms", ARMS)
def test_step_1_no_arm_crosses_the_average(n_arms):
    """The arm played keeps its sign of e = d - X, and |e| falls."""
    states = random_states(n_arms, COUNT, seed=3)
    _, before = lyapunov(states, states.scores, states.d, 0.0)
    _, after = lyapunov(states, played(states, states.scores), moved(states), 0.0)
    one, other = states.of_arm(before), states.of_arm(after)
    size = states.d.max(axis=1) * ROUNDING
    assert np.all(one * other >= -(size**2))
    assert np.all(np.abs(other) <= np.abs(one) + size)


@pytest.mark.parametrize(
    ("n_arms", "count"),
    [*((k, COUNT) for k in ARMS), *(pytest.param(k, 17_000, marks=pytest.mark.slow) for k in range(2, 31))],
)
def test_step_2_v_never_grows(n_arms, count):
    states = random_states(n_arms, count, seed=4)
    assert growth(states, states.c).max() <= ROUNDING


@pytest.mark.parametrize("n_arms", ARMS)
def test_step_2_fails_with_a_smaller_c_and_in_loss_form(n_arms):
    """The planted faults: c is the least that will do, and the direction of the update matters."""
    states = random_states(n_arms, COUNT, seed=4)
    assert (growth(states, 0.95 * states.c) > ROUNDING).sum() > 5
    assert (growth(states, states.c, sign=-1) > ROUNDING).sum() > COUNT / 10


def starts(states):
    """Return V just after the changed round, for s = 1: d = eta / p_0 at the arm, its score raised by eta g / p_0."""
    p = states.of_arm(probabilities(states, states.scores))
    d = np.zeros_like(states.d)
    d[np.arange(len(d)), states.arm] = states.eta / p
    return lyapunov(states, played(states, states.scores), d, states.c)[0]


def most_at_start(states, without_growth=False):
    """Return H for each state; with the fault, the arm's probability is taken as that before the play."""
    if not without_growth:
        return np.array([largest_start(*one) for one in zip(states.c, states.kappa, strict=True)])
    # max over h of (1 + c kappa) (1 - h) + (1 + c) h, linear in h
    return np.maximum(1 + states.c * states.kappa, 1 + states.c)


@pytest.mark.thorough
@pytest.mark.parametrize("n_arms", ARMS)
def test_step_3_v_starts_below_h_and_close_to_it(n_arms):
    states = random_states(n_arms, COUNT, seed=6)
    ratio = starts(states) / (states.eta * most_at_start(states))
    assert 0.98 < ratio.max() <= 1 + ROUNDING
    assert (starts(states) > states.eta * most_at_start(states, without_growth=True)).any()


@pytest.mark.parametrize(("c", "kappa"), [(math.e - 2, 0.0), (1.5, 0.3), (20.0, 0.56)])
def test_the_largest_start_is_the_maximum_over_a_grid(c, kappa):
    h = np.linspace(0, 1, 100_001)
    grid = ((1 + c * kappa) * (1 - h) * np.exp(h) + (1 + c) * h).max()
    assert grid <= largest_start(c, kappa) * (1 + 1e-15) and largest_start(c, kappa) == pytest.approx(grid, rel=1e-9)


@pytest.mark.thorough
@pytest.mark.parametrize("n_arms", ARMS)
def test_step_4_v_bounds_log_ratios_and_fisher_information(n_arms):
    """Derivatives are scaled so that V is exactly H eta; the bounds hold, and the one on log ratios is reached."""
    states = random_states(n_arms, COUNT, seed=7)
    v, e = lyapunov(states, states.scores, states.d, states.c)
    p = probabilities(states, states.scores)
    scale = most_at_start(states) * states.eta / v
    slope = (1 - states.gamma)[:, None] * softmax(states.scores) * e / p * scale[:, None]
    losses = [draw_loss(n_arms, float(gamma), 1.0) for gamma in states.gamma]
    assert None not in losses
    largest = np.array([loss.log_ratio for loss in losses])
    assert 0.97 < (np.abs(slope).max(axis=1) / largest).max() <= 1 + ROUNDING
    fisher = (p * slope**2).sum(axis=1) / np.array([loss.fisher for loss in losses])
    assert 0.9 < fisher.max() <= 1 + ROUNDING


@pytest.mark.parametrize("x", [0.0, 1e-9, 1e-3, 0.0099, 0.0101, 1.0, 30.0])
def test_phi_is_its_integral(x):
    """phi(x) = 2 int_0^1 (1 - t) e^(t x) dt; Gauss's rule with 40 points is exact here."""
    nodes, weights = np.polynomial.legendre.leggauss(40)
    t = (nodes + 1) / 2
    assert phi(x) == pytest.approx(float((weights * (1 - t) * np.exp(t * x)).sum()), rel=1e-12)
    assert phi(1e4) == math.inf


@pytest.mark.parametrize(("n_arms", "end"), [(2, 1.0), (3, 0.636), (4, 0.538), (100, 0.373)])
def test_the_condition_ends_where_it_must(n_arms, end):
    """(e - 1) (K - 2) gamma = K (1 - gamma), so gamma = K / (K + (e - 1) (K - 2))."""
    assert n_arms / (n_arms + (math.e - 1) * (n_arms - 2)) == pytest.approx(end, abs=1e-3)
    assert draw_loss(n_arms, end - 1e-3, 1.0) is not None
    assert draw_loss(n_arms, min(1.0, end + 1e-3), 1.0) is None
