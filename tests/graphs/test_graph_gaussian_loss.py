"""Gaussian counters on graphs: a row of s gains moves s sums by 1 each, sqrt(s) in L2, and noise grows by no more.

The exact rho of a changed row is half the squared L2 norm, in standard deviations, of the least draws that hide it.
"""

import functools
import math

import numpy as np
import pytest

from dp_bandit_envs.algorithms import make_algorithm
from dp_bandit_envs.privacy.facts import gains_of_arms
from dp_bandit_envs.wrappers import CounterSums
from tests.graphs.test_graph_privacy_loss import (
    ARMS,
    GRAPHS,
    every_graph,
    graph_map,
    without_the_graphs_sensitivity,
)
from tests.tools.graph_games import table_game
from tests.tools.vector_sums import factor_of

EVERY_COUNTER = ["k-ary", "square-root", *(pytest.param(name, marks=pytest.mark.slow) for name in ("binary", "hybrid"))]


def gaussian(name):
    """Return a wrapper with so little noise that a gain of 1 is on the grid, as the map is made of such gains."""
    return functools.partial(CounterSums, epsilon=8.0, counter=name, noise="gaussian", delta=1e-6)


def as_in_l1(wrap):
    """Return the copy whose noise grows with s, as that of Laplace noise must."""

    def louder(env):
        values = gains_of_arms(env.sensitivity)._replace(l2=env.sensitivity)
        env.__class__ = type("Louder", (type(env),), {"values": values})
        return wrap(env)

    return louder


def game_on(graph):
    n_arms, _, kind, options = GRAPHS[graph]
    return table_game(np.zeros((len(ARMS), n_arms)), kind, **options)


def rho_of(found):
    """Return the largest rho of a row. Each arm has its own draws, so none in [-1, 1] is farther than that of ones."""
    noise = found.noise * found.scales
    moves = found.moves.sum(axis=2)
    shares = np.linalg.lstsq(noise, moves, rcond=None)[0]
    assert np.abs(noise @ shares - moves).max() < 1e-6
    return float((shares**2).sum(axis=0).max() / 2)


@pytest.mark.parametrize("name", EVERY_COUNTER)
@every_graph
def test_no_row_loses_more_than_the_declared_rho(graph, name):
    declared = gaussian(name)(game_on(graph)).guarantee
    assert (declared.epsilon, declared.delta) == (8.0, 1e-6)
    assert 0 < rho_of(graph_map(graph, gaussian(name))) <= declared.rho * (1 + 1e-6)


@pytest.mark.usefixtures("lies_are_believed")
@pytest.mark.parametrize("name", EVERY_COUNTER)
@pytest.mark.parametrize("graph", ["complete", pytest.param("directed", marks=pytest.mark.slow)])
def test_noise_for_one_gain_is_too_little_and_noise_times_s_more_than_needed(graph, name):
    """On the map itself: rho is proportional to the inverse square of the noise's factor, 1, sqrt(s) or s."""
    s = GRAPHS[graph][1]
    true, quiet, loud = (
        rho_of(graph_map(graph, wrap(gaussian(name))))
        for wrap in (lambda one: one, without_the_graphs_sensitivity, as_in_l1)
    )
    declared = gaussian(name)(game_on(graph)).guarantee.rho
    assert true > 0.7 * declared and quiet > 1.2 * declared and loud < 0.6 * declared
    assert quiet == pytest.approx(s * true, rel=1e-4) and loud == pytest.approx(true / s, rel=1e-4)


@pytest.mark.parametrize("graph", GRAPHS)
def test_noise_is_multiplied_by_the_root_of_the_most_gains(graph):
    """As DP-UCB has them; an agent is told the same factor."""
    s = GRAPHS[graph][1]
    env = make_algorithm("DP-UCB", counter="square-root").wrap(game_on(graph))
    assert factor_of(env.mechanism, env.below) == pytest.approx(math.sqrt(s), rel=1e-6)
    assert env.noise.sensitivity == pytest.approx(math.sqrt(s), rel=1e-12)
    assert (env.guarantee.epsilon, env.guarantee.delta) == (1.0, 1e-6)
