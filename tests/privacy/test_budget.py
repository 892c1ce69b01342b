"""The arithmetic of a ledger: sums by hand, and the worst adaptive analyst that its rule allows, worked out exactly."""

import functools
import math
from decimal import Decimal

import pytest

from dp_bandit_envs.privacy import PrivacyGuarantee
from dp_bandit_envs.privacy.accounting import gaussian_law, zcdp_epsilon
from dp_bandit_envs.privacy.budget import Budget, Cost, costs_of, total, upper, written

PURE = Budget(1.0, 0.0, 0.0, "record")
HALF = Budget(1.0, 1e-6, 5e-7, "record")


def cost(epsilon, delta=0.0, **more):
    return costs_of(PrivacyGuarantee(epsilon, delta, **more))[0]


def test_ten_games_of_a_tenth_are_one_and_eleven_are_too_many():
    """Added as doubles, 0.1 is a little more than a tenth, and ten of them a little more than 1."""
    assert PURE.epsilon_of(total({cost(0.1): 10})) == 1.0 and PURE.allows(total({cost(0.1): 10}))
    assert not PURE.allows(total({cost(0.1): 11}))
    assert PURE.allows(total({cost(0.7): 1, cost(0.1): 3})) and not PURE.allows(total({cost(0.7): 1, cost(0.1): 4}))


def test_deltas_add_up_to_the_games_part():
    """Of 1e-6, half is kept for zCDP: five games of (.1, 1e-7) use up the rest, six pass it."""
    assert HALF.allows(total({cost(0.1, 1e-7): 5})) and not HALF.allows(total({cost(0.1, 1e-7): 6}))
    assert Budget(1.0, 1e-6, 0.0, "record").allows(total({cost(1.0, 1e-6): 1}))
    assert not PURE.allows(total({cost(0.1, 1e-7): 1}))


def test_many_small_games_are_counted_by_zcdp():
    """300 games of .01 sum up to 3; their rho is 300 * .01^2 / 2 = .015, which is epsilon < 1 at 5e-7."""
    many = total({cost(0.01): 300})
    assert many.rho == Decimal("0.015") and many.epsilon == 3
    assert HALF.epsilon_of(many) == zcdp_epsilon(0.015, 5e-7) < 1.0
    assert HALF.allows(many) and not PURE.allows(many)


def test_guarantees_of_every_kind_by_hand():
    assert costs_of(PrivacyGuarantee(0.2)) == [Cost(Decimal("0.2"), Decimal(0), Decimal("0.02"))]
    assert costs_of(PrivacyGuarantee(0.2, rho=0.001))[0].rho == Decimal("0.001")
    both = costs_of(PrivacyGuarantee(0.2, 1e-9, rho=0.001))
    assert both[0] == Cost(Decimal("0.2"), Decimal("1E-9"), Decimal("0.02"))
    assert both[1] == Cost(Decimal("Infinity"), Decimal(0), Decimal("0.001"))
    gaussian = costs_of(PrivacyGuarantee(math.inf, law=gaussian_law(3.0)))
    assert [float(one.rho) for one in gaussian] == [pytest.approx(1 / 18)]
    assert gaussian[0].rho >= Decimal("0.05555555555555555555555555555")
    assert costs_of(PrivacyGuarantee.none("no noise")) == costs_of(PrivacyGuarantee(math.inf)) == []


def test_rounding_is_upwards():
    assert upper(written(0.1)) == 0.1
    assert upper(Decimal("0.1000000000000000000000000000001")) == math.nextafter(0.1, 1)


def worst(budget, epsilons):
    """Return max over adaptive analysts of P(S) - e^epsilon P'(S), exactly: each game is randomised response.

    A game of epsilon adds +epsilon to the loss with probability e^epsilon / (1 + e^epsilon), otherwise -epsilon; the
    analyst chooses the next game by the losses so far, as long as the budget allows it, and in the end takes all
    outcomes of a loss above the budget's epsilon: the gain is E max(0, 1 - e^(epsilon - loss)). Backward induction.
    """
    costs = [cost(epsilon) for epsilon in epsilons]

    @functools.cache
    def allowed(counts):
        return budget.allows(total(zip(costs, counts, strict=True)))

    @functools.cache
    def value(counts, ups):
        loss = sum(each * (2 * up - count) for each, up, count in zip(epsilons, ups, counts, strict=True))
        best = max(0.0, -math.expm1(budget.epsilon - loss)) if loss > budget.epsilon + 1e-12 else 0.0
        for game, epsilon in enumerate(epsilons):
            more = tuple(count + (place == game) for place, count in enumerate(counts))
            if allowed(more):
                likely = 1 / (1 + math.exp(-epsilon))
                up = tuple(count + (place == game) for place, count in enumerate(ups))
                best = max(best, likely * value(more, up) + (1 - likely) * value(more, ups))
        return best

    none = (0,) * len(epsilons)
    return value(none, none)


@pytest.mark.parametrize(("delta", "epsilons"), [(1e-2, (0.1, 0.5)), (1e-4, (0.02, 0.3))])
def test_the_worst_adaptive_analyst_stays_within_the_budget(delta, epsilons):
    """At epsilon = 1, either filter may let a game begin; what both together lose stays below c, half of delta."""
    budget = Budget(1.0, delta, delta / 2, "record")
    assert 0 < worst(budget, epsilons) <= delta / 2


def test_the_worst_analyst_finds_a_budget_that_is_too_lax():
    """With a rule that converts rho at 1e-2, a claim of 1e-4 is refuted."""
    assert worst(Budget(1.0, 1e-2, 1e-2, "record"), (0.1, 0.5)) > 1e-4
    assert worst(PURE, (0.1, 0.5)) == 0
