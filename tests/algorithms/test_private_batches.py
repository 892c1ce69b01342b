"""EXP3-tau's batch sizes for a given (epsilon, delta): enough, and the smallest that are."""

import math

import pytest

from dp_bandit_envs.agents.exp3 import default_exploration_rate
from dp_bandit_envs.algorithms import make_algorithm
from dp_bandit_envs.algorithms.exp3_family import batches_guarantee, private_batch_size
from tests.tools.refusals import missing, refused


@pytest.mark.parametrize("horizon", [300, 2139, 2**14, 2**18])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 243.29])
@pytest.mark.parametrize("delta", [1e-2, 2.0**-36])
def test_private_batch_size_is_the_inverse_of_the_guarantee(horizon, epsilon, delta):
    """Enough at this size; and at no smaller one, by trying them all."""
    try:
        size = private_batch_size(4, horizon, epsilon, delta)
    except ValueError as error:
        assert missing(str(error), "horizon", horizon) == []
        size = horizon + 1
    else:
        algorithm = make_algorithm("EXP3-tau", epsilon=epsilon, delta=delta)
        guarantee = algorithm.guarantee(n_arms=4, horizon=horizon)
        assert guarantee.epsilon_at(delta) <= epsilon and guarantee.delta == delta
        assert guarantee.epsilon_at(delta) == batches_guarantee(4, horizon, size).epsilon_at(delta)
    for smaller in range(1, size):
        # Batches so large that EXP3 plays uniformly are no answer.
        if default_exploration_rate(4, horizon // smaller) < 1:
            assert batches_guarantee(4, horizon, smaller).epsilon_at(delta) > epsilon


@pytest.mark.parametrize(
    ("n_arms", "horizon", "epsilon", "expected", "before"),
    [
        (4, 2**18, 1.0, 26, 150),
        (4, 2**18, 0.1, 162, 690),
        (4, 2**22, 1.0, 47, 403),
        (4, 2**14, 1.0, 14, 55),
        (4, 2**14, 0.1, 92, 252),
    ],
)
def test_private_batch_sizes_at_delta_t_to_the_minus_two(n_arms, horizon, epsilon, expected, before):
    """Before: T / (8 tau^3) <= rho with rho + 2 sqrt(rho ln(1 / delta)) = epsilon."""
    log = 2 * math.log(horizon)
    assert math.ceil(math.cbrt(horizon / (8 * (math.sqrt(log + epsilon) - math.sqrt(log)) ** 2))) == before
    assert private_batch_size(n_arms, horizon, epsilon, horizon**-2.0) == expected


def test_where_the_theorem_ends_batches_are_not_lost():
    """K = 10, T = 2^14, epsilon = .1: between batches for which the theorem, and the older bound, is enough, a gap."""
    size = private_batch_size(10, 2**14, 0.1, 2.0**-28)
    assert size == 110
    holds = [batches_guarantee(10, 2**14, tau).epsilon_at(2.0**-28) <= 0.1 for tau in range(size - 1, 253)]
    assert not holds[0] and holds[1] and holds[-1] and not all(holds[1:])


def test_targets_that_only_uniform_play_meets_are_left_to_the_older_bound():
    """K = 20, T = 132: at 16 rounds a batch, 8 steps, the exploration rate is 1 and nothing is lost."""
    assert default_exploration_rate(20, 132 // 16) == 1
    assert private_batch_size(20, 132, 0.39, 2.9e-6) == 16
    assert batches_guarantee(20, 132, 18).epsilon == 0
    with refused(ValueError, "horizon", 132):
        private_batch_size(20, 132, 0.01, 2.9e-6)


def test_no_epsilon_needs_no_batches():
    assert private_batch_size(4, 1000, math.inf, 0.1) == 1
    assert private_batch_size(4, 2, math.inf, 0.1) == 1
