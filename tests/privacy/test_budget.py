"""The arithmetic of a ledger: its two filters, what the first charge fixes, and why the least over orders is none."""

import functools
import itertools
import math
import operator

import gymnasium as gym
import numpy as np
import pytest

from dp_bandit_envs import Ledger, make_algorithm
from dp_bandit_envs.errors import BudgetSpentError
from dp_bandit_envs.privacy import PrivacyGuarantee
from dp_bandit_envs.privacy.accounting import ORDERS, DominatingNoise, gaussian_law, one_laplace
from dp_bandit_envs.privacy.composition_filters import (
    Budget,
    CompositionFilters,
    conversion_cost,
    cost_of,
    delta_of_draws,
    fixed_by,
    pure_filter,
    renyi_filter,
    total_of,
)
from dp_bandit_envs.privacy.gaussian import gaussian_sigma
from dp_bandit_envs.privacy.participation import Participation
from tests.tools.refusals import refused

ONE = Participation(1)


def spend(ledger, guarantee, times=1):
    return ledger.spend([[guarantee]], ONE, times, secret=True)


def most(ledger, guarantee, limit=10**6):
    """Return how many such games begin one after the other, by halving: the first charge is one game."""
    spend(ledger, guarantee)
    begun, step = 1, limit
    while step >= 1 and begun <= 3 * limit:
        try:
            spend(ledger, guarantee, step)
            begun += step
        except BudgetSpentError:
            step //= 2
    return begun


def total(*guarantees, room=1e-8, times=1):
    return total_of([(cost_of(guarantee, room), times) for guarantee in guarantees])


def test_costs_by_hand():
    pure = cost_of(PrivacyGuarantee(0.5, noise_law=one_laplace(0.5), draw_distance=1e-12), 1e-8)
    assert (pure.epsilon, pure.draw_distance) == (0.5, 1e-12) and pure.delta == pytest.approx(
        (1 + math.exp(0.5)) * 1e-12
    )
    assert len(pure.curve) == len(ORDERS) and 0 < pure.curve[0] < pure.curve[-1] <= 0.5
    pair = PrivacyGuarantee(0.5, delta=1e-7)
    assert cost_of(pair, 1e-8)[:2] == cost_of(pair, 1e-6)[:2] == (0.5, 1e-7) and cost_of(pair, 1.0).curve[0] == math.inf
    both = PrivacyGuarantee(0.5, delta=1e-7, pure=2.0)
    assert cost_of(both, 1e-6)[:2] == (0.5, 1e-7) and cost_of(both, 1e-8)[:2] == (2.0, 0.0)
    gaussian = cost_of(PrivacyGuarantee(math.inf, noise_law=gaussian_law(3.0)), 1.0)
    assert gaussian.epsilon == math.inf and gaussian.curve == pytest.approx([order / 18 for order in ORDERS])
    # Sums are those of the numbers as they are written.
    ten = total(*[PrivacyGuarantee(0.1)] * 10)
    assert pure_filter(Budget(1.0, 0.0), ten) == 1.0 and functools.reduce(operator.add, [0.1] * 10) != 1.0
    assert str(ten.epsilon) == "1.0"


@pytest.mark.thorough
def test_what_the_first_charge_fixes_admits_it_most_often():
    """Over all orders, and over 400 epsilons up to the budget's."""
    budget = Budget(3.0, 1e-6)
    for guarantee in (
        PrivacyGuarantee(0.1),
        PrivacyGuarantee(0.1, draw_distance=1e-13),
        PrivacyGuarantee(0.01, noise_law=one_laplace(0.01), draw_distance=2e-12),
        PrivacyGuarantee(math.inf, noise_law=gaussian_law(20.0), draw_distance=1e-12),
    ):
        first = total(guarantee)
        filters = fixed_by(budget, first)

        def often(order, epsilon, first=first):
            room = epsilon - conversion_cost(budget, order)
            added = delta_of_draws(first, epsilon)
            return min(room / first.curve[order], budget.for_draws / added if added else math.inf)

        grid = itertools.product(range(len(ORDERS)), np.linspace(0.0, 3.0, 401))
        best = max(often(order, float(epsilon)) for order, epsilon in grid)
        assert often(filters.order, filters.epsilon) >= best * (1 - 1e-9) and filters.epsilon <= 3.0


def test_a_filter_adds_up_at_its_one_order():
    """Games that are cheap at other orders fill it all the same, as it was fixed by the first one."""
    budget = Budget(3.0, 1e-6)
    filters = fixed_by(budget, total(PrivacyGuarantee(0.1)))
    room = (3.0 - conversion_cost(budget, filters.order)) / ORDERS[filters.order]
    for share, holds in ((0.5, True), (0.999, True), (1.001, False)):
        games = total(PrivacyGuarantee(math.inf, rho=room * share))
        assert (renyi_filter(budget, games, filters) <= 3.0) is holds


def moment(law, order):
    """Return the divergence of an order, the larger of both directions, of pairs (P, Q) of chances."""
    both = []
    for pairs in (law, [pq[::-1] for pq in law]):
        logs = [order * math.log(p) + (1 - order) * math.log(q) for p, q in pairs]
        both.append(max(logs) + math.log(math.fsum(math.exp(each - max(logs)) for each in logs)))
    return max(0.0, *both) / (order - 1)


def coin(chance, loss):
    """Return a law that has this loss with this chance, and otherwise nearly none."""
    return [(chance, chance * math.exp(-loss)), (1 - chance, 1 - chance * math.exp(-loss))]


def test_the_least_over_orders_is_no_filter():
    """A first game shows a bit; each second game is within the promise at an order of its own.

    The rare outcome of the first makes up its moment at a high order, the usual one that at a low order. After each, a
    second game spends all that its order leaves, where it loses epsilon and a little. Whoever accepts "at some order"
    accepts both, and the delta of all is 1.9 times the promised one. At one order, whichever, it is kept.
    """
    epsilon, c = 7.0, 1e-5
    low, high = (min(ORDERS, key=lambda order, near=near: abs(order - near)) for near in (3.0, 11.0))
    rare, lost = 1.5e-4, 2.0
    first = coin(rare, lost)

    def paid(order):
        return -(math.log(c) + math.log(order)) / (order - 1) + math.log1p(-1 / order)

    def filling(order, before):
        """Return the coin with the largest loss, after `before`, that fits at this order."""
        loss = epsilon + math.log(order / (order - 1)) - before
        few, many = 0.0, 1.0
        for _ in range(200):
            chance = (few + many) / 2
            fits = moment(first, order) + moment(coin(chance, loss), order) + paid(order) <= epsilon
            few, many = (chance, many) if fits else (few, chance)
        return coin(few, loss)

    second = {"usual": filling(low, 0.0), "rare": filling(high, lost)}

    def delta(accepted):
        """Return the smallest delta at epsilon of both games together, where these second games are played."""
        found = 0.0
        for (p, q), outcome in zip(first, ("rare", "usual"), strict=True):
            for one, other in second[outcome] if outcome in accepted else [(1.0, 1.0)]:
                found += max(0.0, p * one - math.exp(epsilon) * q * other)
        return found

    def fits(order, outcome):
        return moment(first, order) + moment(second[outcome], order) + paid(order) <= epsilon

    at_some_order = [outcome for outcome in second if any(fits(order, outcome) for order in ORDERS)]
    assert len(at_some_order) == 2 and delta(at_some_order) > 1.9 * c
    for order in ORDERS:
        assert delta([outcome for outcome in second if fits(order, outcome)]) <= c

    # The same by the arithmetic of a ledger.
    budget = Budget(epsilon, c / 0.98 * (1 + 1e-6))
    curves = {name: [moment(law, order) for order in ORDERS] for name, law in (("first", first), *second.items())}
    games = {name: PrivacyGuarantee(math.inf, curve=tuple(zip(ORDERS, curves[name], strict=True))) for name in curves}
    filters = fixed_by(budget, total(games["first"]))
    both = {outcome: total(games["first"], games[outcome]) for outcome in second}
    assert all(
        any(renyi_filter(budget, each, CompositionFilters(k, epsilon)) <= epsilon for k in range(60))
        for each in both.values()
    )
    admitted = [outcome for outcome, each in both.items() if renyi_filter(budget, each, filters) <= epsilon]
    assert delta(admitted) <= c


# ---- check values of docs/notes/accounting.md


@pytest.mark.thorough
@pytest.mark.parametrize("epsilon", [1.0, 8.0, 30.0])
def test_budgets_of_any_size_admit_nearly_all_small_games(epsilon):
    game = make_algorithm("DP-KLUCB", epsilon=0.001).guarantee(n_arms=4, horizon=1000)
    assert game.draw_distance > 0
    assert most(Ledger(epsilon=epsilon, delta=1e-6), game) >= 0.99 * epsilon / 0.001


def test_a_hundred_pure_games_of_a_tenth():
    ledger = Ledger(epsilon=5.12, delta=1e-6)
    for _ in range(100):
        spend(ledger, PrivacyGuarantee(0.1))
    assert ledger.spent.games == 100 and 4.7746 < ledger.spent.epsilon <= 5.12
    # Games that cost nothing fix nothing.
    ledger = Ledger(epsilon=1.0, delta=1e-6)
    spend(ledger, PrivacyGuarantee(0.0), 5)
    assert ledger.spent == (5, 0.0, 0.0)
    assert most(ledger, PrivacyGuarantee(0.001)) > 1500


@pytest.mark.parametrize("name", ["EXP3-tau", "DP-Hedge", "Lazy-Hedge", "DP-FTRL", "AS-FTPL", "DP-UCB-INT", "DP-KLUCB"])
def test_a_ledger_admits_one_game_that_was_made_for_it(name):
    given = {} if name == "DP-KLUCB" else {"delta": 1e-6}
    experts = name in ("DP-FTRL", "AS-FTPL", "DP-Hedge", "Lazy-Hedge")
    env = gym.make(f"DPBandit-{'Experts' if experts else 'Stochastic'}-v0", horizon=2**12, n_arms=8)
    ledger = Ledger(epsilon=1.0, delta=1e-6)
    spend(ledger, make_algorithm(name, epsilon=1.0, **given).guarantee_in(env))
    assert ledger.spent.games == 1 and ledger.spent.epsilon <= 1.0


def test_a_game_that_fits_alone_closes_the_ledger():
    sigma = gaussian_sigma(1.0, 1e-6)
    game = PrivacyGuarantee(1.0, delta=1e-6, noise_law=gaussian_law(sigma))
    ledger = Ledger(epsilon=1.0, delta=1e-6)
    reservation = spend(ledger, game)
    assert ledger.spent == (1, pytest.approx(1.0), 1e-6)
    with refused(BudgetSpentError, "no other"):
        spend(ledger, PrivacyGuarantee(1e-9))
    for _ in range(2):  # a second time gives nothing
        reservation.refund()
        assert ledger.spent == (0, 0.0, 0.0)
    spend(ledger, PrivacyGuarantee(1.0))
    with pytest.raises(BudgetSpentError):
        spend(Ledger(epsilon=1.0, delta=1e-6), PrivacyGuarantee(1.0, delta=2e-6, noise_law=gaussian_law(sigma / 2)))


def test_a_larger_budget_admits_at_least_as_many_equal_games():
    for guarantee in (
        PrivacyGuarantee(0.05, draw_distance=1e-13),
        PrivacyGuarantee(math.inf, noise_law=gaussian_law(30.0), draw_distance=1e-12),
    ):
        counts = [most(Ledger(epsilon=each, delta=1e-6), guarantee, 4096) for each in (0.5, 1.0, 2.0, 4.0, 8.0, 16.0)]
        assert counts == sorted(counts)


def test_own_deltas_have_the_room_that_is_kept_for_them():
    pair = PrivacyGuarantee(0.1, delta=1e-7)
    with refused(BudgetSpentError, "delta"):
        spend(Ledger(epsilon=3.0, delta=1e-6), PrivacyGuarantee(0.1, delta=2e-6))
    ledger = Ledger(epsilon=3.0, delta=1e-6, own_delta=5e-7)
    assert most(ledger, pair, 64) == 5 and ledger.spent == (5, 0.5, 5e-7)
    assert ledger.budget.for_sums + ledger.budget.for_curve + ledger.budget.for_draws == pytest.approx(1e-6)


def test_both_filters_hold_sums_of_all_games():
    """What one of them admitted counts in the other one, too: sums never fall."""
    ledger = Ledger(epsilon=1.0, delta=1e-6)
    small = PrivacyGuarantee(0.001)
    begun = most(ledger, small)
    assert begun > 1500  # by divergences, beyond the 1,000 of sums
    with pytest.raises(BudgetSpentError):
        spend(ledger, PrivacyGuarantee(0.9))
    assert ledger.spent.games == begun and ledger.spent.epsilon <= 1.0
    game = PrivacyGuarantee(0.2, noise_law=DominatingNoise(laplace=((0.02, 10),)))
    fresh = Ledger(epsilon=1.0, delta=1e-6)
    assert most(fresh, game, 64) > 5


def test_without_a_delta_only_games_without_one_begin():
    ledger = Ledger(epsilon=1.0, delta=0)
    with refused(BudgetSpentError, "secure"):
        spend(ledger, PrivacyGuarantee(0.1, draw_distance=1e-15))
    spend(ledger, PrivacyGuarantee(0.1), 10)
    with pytest.raises(BudgetSpentError):
        spend(ledger, PrivacyGuarantee(0.1))
    assert ledger.spent == (10, 1.0, 0.0)
