"""Audits of EXP3's own privacy: exact laws of games, and histories close to the bounds."""

import itertools
import math
from decimal import Decimal, localcontext
from types import SimpleNamespace

import numpy as np
import pytest

from dp_bandit_envs.agents import Exp3
from dp_bandit_envs.agents.exp3 import default_exploration_rate
from dp_bandit_envs.algorithms import make_algorithm
from dp_bandit_envs.privacy import exp3_guarantee
from dp_bandit_envs.privacy.exp3_privacy import WholeGame, cell_edges, draw_loss
from tests.privacy.test_exp3_loss import (
    ARMS,
    COUNT,
    lyapunov,
    moved,
    probabilities as state_probabilities,
    random_states,
    softmax,
    starts,
)
from tests.tools.exp3_laws import law_of_arms, probabilities, renyi

# ---- the reference and the agent are the same algorithm


@pytest.mark.parametrize(("n_arms", "rate"), [(2, 0.3), (4, 0.05), (3, 1.0), (5, 0.01)])
def test_agent_has_the_probabilities_of_equation_2_1_to_the_last_bits(n_arms, rate):
    """Second route: 50 decimal digits. Each of n updates rounds a score by a few units in the last place."""
    rounds = 300
    rng = np.random.default_rng(12)
    agent = Exp3(exploration_rate=rate)
    agent.begin(n_arms=n_arms, horizon=rounds, rng=np.random.default_rng(1))
    with localcontext() as context:
        context.prec = 50
        gamma, estimates = Decimal(rate), [Decimal(0)] * n_arms
        for _ in range(rounds):
            weights = [(gamma / n_arms * estimate).exp() for estimate in estimates]
            exact = [(1 - gamma) * weight / sum(weights) + gamma / n_arms for weight in weights]
            for one, other in zip(agent.probabilities(), exact, strict=True):
                assert abs(Decimal(float(one)) / other - 1) < 8 * rounds * Decimal(2) ** -52
            arm, gain = int(rng.integers(n_arms)), float(rng.choice([0.0, 1.0, rng.random()]))
            observation = {"gain": np.zeros(n_arms), "observed": np.zeros(n_arms, np.int8)}
            observation["gain"][arm], observation["observed"][arm] = gain, 1
            agent.update(arm, observation)
            estimates[arm] += Decimal(gain) / exact[arm]


def test_agent_draws_each_arm_on_a_stretch_of_the_unit_interval_as_long_as_its_probability():
    """What is audited here are probabilities; this says that draws follow them."""
    agent = Exp3(exploration_rate=0.2)
    agent.begin(n_arms=3, horizon=10, rng=np.random.default_rng(0))
    for arm, gain in ((0, 1.0), (2, 0.5), (0, 1.0), (1, 0.0)):
        agent.update(arm, {"gain": np.full(3, gain), "observed": np.ones(3, np.int8)})
    points = 20_000
    counts = np.zeros(3)
    for point in range(points):
        agent._rng = SimpleNamespace(random=lambda point=point: (point + 0.5) / points)
        counts[agent.select_arm()] += 1
    # A stretch of length p holds p n points of a grid, up to one at each end.
    np.testing.assert_allclose(counts, points * agent.probabilities(), rtol=0, atol=1)


# ---- exact laws


def log_law(
    n_arms: int,
    rate: float,
    levels: list[float],
    rounds: int,
    draws: int,
    table: np.ndarray | None = None,
) -> np.ndarray:
    """Return log P(arms | gains seen) for every sequence of arms and of levels seen.

    Only the gains of arms played are ever read, so a pair (arms, gains seen) stands for all tables that hold them.
    With `table`, shape `(tables, rounds, n_arms)`, the gains are those of the tables instead of `levels`.

    Args:
        n_arms: Number of arms.
        rate: Exploration rate.
        levels: The values that a gain can take.
        rounds: Rounds whose gains are seen.
        draws: Arms drawn; one more than rounds when a last shorter batch is played.
        table: Tables of gains.
    """
    arms = np.array(list(itertools.product(range(n_arms), repeat=draws)))
    if table is None:
        seen = np.array(list(itertools.product(levels, repeat=rounds)))
        gains = np.broadcast_to(seen[np.newaxis], (len(arms), *seen.shape))
    else:
        gains = table[:, np.arange(rounds), arms[:, :rounds]].transpose(1, 0, 2)  # (arms, tables, rounds)
    scores = np.zeros((*gains.shape[:2], n_arms))
    result = np.zeros(gains.shape[:2])
    which = np.arange(len(arms))
    for t in range(draws):
        own = probabilities(scores, rate)[which, :, arms[:, t]]
        result += np.log(own)
        if t < rounds:
            scores[which, :, arms[:, t]] += rate / n_arms * gains[..., t] / own
    return result


def worst_loss(n_arms, rate, levels, rounds, draws, step=1.0) -> float:
    """Return the largest log ratio over all tables of levels, neighbours moved by at most a step, and sequences."""
    law = log_law(n_arms, rate, levels, rounds, draws)
    law = law.reshape(len(law), *[len(levels)] * rounds)
    worst = 0.0
    for t in range(rounds):
        by_level = np.moveaxis(law, t + 1, -1)
        for i, j in itertools.permutations(range(len(levels)), 2):
            if abs(levels[i] - levels[j]) <= step + 1e-12:
                worst = max(worst, float((by_level[..., i] - by_level[..., j]).max()))
    return worst


def claimed(n_arms, draws, rate, sensitivity=1.0) -> float:
    return exp3_guarantee(n_arms=n_arms, draws=draws, exploration_rate=rate, sensitivity=sensitivity).epsilon


def test_law_agrees_with_the_agent():
    """One sequence, through the agent's own update."""
    arms, gains = [1, 0, 0, 1, 0], [1.0, 0.0, 1.0, 1.0, 0.0]
    agent = Exp3(exploration_rate=0.3)
    agent.begin(n_arms=2, horizon=5, rng=np.random.default_rng(0))
    total = 0.0
    for arm, gain in zip(arms, gains, strict=True):
        total += math.log(agent.probabilities()[arm])
        agent.update(arm, {"gain": np.full(2, gain), "observed": np.ones(2, np.int8)})
    law = log_law(2, 0.3, [0.0, 1.0], 5, 5)
    place = lambda digits: int("".join(str(int(digit)) for digit in digits), 2)  # noqa: E731
    assert law[place(arms), place(gains)] == pytest.approx(total, abs=1e-13)


@pytest.mark.thorough
@pytest.mark.parametrize(("n_arms", "horizon"), [(2, 8), (3, 5), (4, 4), pytest.param(2, 10, marks=pytest.mark.slow)])
def test_no_neighbours_among_all_zero_one_tables_lose_more_than_claimed(n_arms, horizon):
    """All tables, all neighbours, all sequences of arms."""
    for rate in [None, 0.01, 0.1, 0.3, 0.6, 0.9, 1.0]:
        rate = default_exploration_rate(n_arms, horizon) if rate is None else rate
        loss = worst_loss(n_arms, rate, [0.0, 1.0], horizon, horizon)
        assert loss <= claimed(n_arms, horizon, rate)
        # The round itself is seen by later draws only, so T - 1 of them pay: the claim has one to spare.
        assert loss <= claimed(n_arms, horizon - 1, rate) + 1e-12
        assert (loss > 0.01) == (rate < 1)


def test_one_round_after_the_change_by_hand():
    """K = 2, T = 2: gain 1 or 0 in round 1 makes the scores (gamma / 2) / (1 / 2) = gamma or 0."""
    gamma = 0.4
    other = (1 - gamma) / (1 + math.exp(gamma)) + gamma / 2  # probability of the arm not played
    assert worst_loss(2, gamma, [0.0, 1.0], 2, 2) == pytest.approx(math.log(0.5 / other), abs=1e-15)
    # Declared numbers by hand.
    # Beyond the condition of draw_loss, at gamma = 0.54 > K / (K + (e - 1) (K - 2)) = 0.538:
    guarantee = exp3_guarantee(n_arms=4, draws=1000, exploration_rate=0.54, sensitivity=0.25)
    assert (guarantee.epsilon, guarantee.rho, guarantee.curve) == (250.0, 1000 / 128, None)
    # gamma = 0.9: the two ends of a probability are 0.225 and 0.325, closer than e^1
    guarantee = exp3_guarantee(n_arms=4, draws=10, exploration_rate=0.9)
    assert guarantee.epsilon == pytest.approx(10 * math.log(0.325 / 0.225), rel=1e-14)
    assert guarantee.model == "central" and guarantee.delta == 0
    assert guarantee.agents.startswith("Exp3 in gain form")


@pytest.mark.parametrize(("tau", "batches"), [(2, 5), (3, 4), (4, 4)])
@pytest.mark.parametrize("rate", [None, 0.1, 0.5])
def test_averages_of_tau_gains_lose_no_more_than_claimed(tau, batches, rate):
    """EXP3-tau: averages move by 1 / tau; the last, shorter batch is one more draw, which learns from all averages."""
    rate = default_exploration_rate(2, batches) if rate is None else rate
    levels = [success / tau for success in range(tau + 1)]
    loss = worst_loss(2, rate, levels, batches, batches + 1, step=1 / tau)
    assert 0 < loss <= claimed(2, batches, rate, 1 / tau) + 1e-12


# ---- zero-concentrated


ORDERS_OF_RENYI = [1.001, 1.5, 2.0, 4.0, 16.0, 100.0]


def check_zcdp(first, second, rho):
    worst = 0.0
    for order in ORDERS_OF_RENYI:
        found = max(renyi(first, second, order).max(), renyi(second, first, order).max())
        assert found <= rho * order
        worst = max(worst, found / order)
    assert worst > 0


@pytest.mark.parametrize("rate", [None, 0.05, 0.3])
def test_zcdp_holds_for_every_zero_one_table_of_four_rounds(rate):
    rounds = 4
    rate = default_exploration_rate(2, rounds) if rate is None else rate
    tables = np.array(list(itertools.product([0.0, 1.0], repeat=2 * rounds))).reshape(-1, rounds, 2)
    law = log_law(2, rate, [], rounds, rounds, table=tables)
    index = np.arange(len(tables))
    rho = exp3_guarantee(n_arms=2, draws=rounds, exploration_rate=rate).rho
    for t in range(rounds):
        low_bit = 2 * (rounds - 1 - t)
        for change in (1, 2, 3):  # replace one gain of the row, the other, or both
            check_zcdp(law, law[:, index ^ (change << low_bit)], rho)


# ---- the lemma


def spread(d: np.ndarray) -> np.ndarray:
    return d.max(axis=-1) - d.min(axis=-1)


def two_games(n_arms: int, instances: int, rounds: int, sensitivity: float = 1.0, seed: int = 0):
    """Play the same arms and gains in two games that differ in one gain; return the spreads and the ratios of draws.

    The state before the change is arbitrary; exploration rates are log-uniform in [0.01, 1]; arms are played at
    random, by probability, or to make the difference large; gains are 0, 1 or anything.
    """
    rng = np.random.default_rng(seed)
    rate = np.exp(rng.uniform(math.log(0.01), 0, instances))
    eta = rate / n_arms
    first = rng.normal(0, 1, (instances, n_arms)) * rng.choice([0.0, 1.0, 5.0], (instances, 1))
    second = first.copy()
    every = np.arange(instances)
    arm = rng.integers(0, n_arms, instances)
    first[every, arm] += eta * sensitivity / probabilities(first, rate)[every, arm]
    spreads, ranges, ratios = [spread(first - second)], [], []
    for t in range(rounds):
        p, q = probabilities(first, rate), probabilities(second, rate)
        ratio = np.log(p / q)
        ratios.append(np.abs(ratio).max(axis=1))
        ranges.append(spread(ratio))
        if t % 3 == 0:
            arm = rng.integers(0, n_arms, instances)
        elif t % 3 == 1:
            arm = np.abs(first - second).argmax(axis=1)
        else:
            arm = (p.cumsum(axis=1) < rng.random((instances, 1))).sum(axis=1).clip(max=n_arms - 1)
        gain = rng.choice([0.0, 1.0, 1.0, rng.random()], instances)
        first[every, arm] += eta * gain / p[every, arm]
        second[every, arm] += eta * gain / q[every, arm]
        spreads.append(spread(first - second))
    return np.array(spreads), np.array(ranges), np.array(ratios)


ROUNDING = 1e-9
"""Scores grow to a few hundred here, so differences of theirs carry errors of some 1e-13, each round."""


@pytest.mark.parametrize(
    ("n_arms", "sensitivity", "instances", "rounds"),
    [
        (2, 0.25, 500, 100),
        (4, 1.0, 500, 100),
        *(pytest.param(n_arms, 1.0, 4000, 200, marks=pytest.mark.slow) for n_arms in (2, 3, 4, 6, 10)),
    ],
)
def test_difference_of_two_games_never_spreads_in_gain_form(n_arms, sensitivity, instances, rounds):
    spreads, ranges, ratios = two_games(n_arms, instances, rounds, sensitivity)
    assert spreads[0].max() <= sensitivity + ROUNDING
    assert spreads[0].max() > 0.9 * sensitivity  # step 1 of the proof is tight
    assert np.diff(spreads, axis=0).max() <= ROUNDING
    # Step 3: the logs of the ratios of one draw's probabilities lie in a range no longer than the spread.
    assert (ranges - spreads[:-1]).max() <= ROUNDING
    assert (ratios - spreads[:-1]).max() <= ROUNDING


# ---- what is declared


# ---- the Renyi curve against exact laws of all sequences of arms


ORDERS = [1.001, 1.5, 2.0, 8.0, 32.0, 400.0]


# ---- exact laws of all sequences of arms


def adaptive_gains(n_arms, draws, rng, kind):
    """Return a gain for each sequence of arms and round, shape (n_arms^draws, draws), that depends on past arms only.

    In round t the sequences that agree in their first t + 1 arms get the same gain.
    """
    gains = np.empty((n_arms**draws, draws))
    for t in range(draws):
        prefixes = n_arms ** (t + 1)
        by_prefix = {
            "zero-one": rng.integers(0, 2, prefixes).astype(float),
            "real": rng.random(prefixes),
            "nothing": np.zeros(prefixes),
        }[kind]
        gains[:, t] = np.repeat(by_prefix, n_arms**draws // prefixes)
    return gains


def shares_of_claim(n_arms, draws, rate, sensitivity, kind, rng):
    """Return each divergence of two neighbouring games over the claim; a gain goes from 1 - s to 1 in round 1 to 3."""
    changed = int(rng.integers(0, min(3, draws - 1)))
    first = adaptive_gains(n_arms, draws, rng, kind)
    second = first.copy()
    first[:, changed], second[:, changed] = 1 - sensitivity, 1.0
    laws = [law_of_arms(np.zeros(n_arms), rate, gains) for gains in (first, second)]
    assert np.exp(laws[0]).sum() == pytest.approx(1, abs=1e-11)
    later = draws - 1 - changed
    loss = draw_loss(n_arms, rate, sensitivity)
    assert np.abs(laws[0] - laws[1]).max() <= later * loss.log_ratio + 1e-12
    return [
        float(renyi(one, other, order)) / (later * loss.renyi(order))
        for order in ORDERS
        for one, other in (laws, laws[::-1])
    ]


LONGER = [(2, 14), (3, 9), (4, 7)]


@pytest.mark.thorough
@pytest.mark.parametrize("kind", ["zero-one", "real", "nothing"])
@pytest.mark.parametrize(
    ("n_arms", "draws"), [(2, 9), (3, 6), (4, 5), *(pytest.param(*size, marks=pytest.mark.slow) for size in LONGER)]
)
def test_no_order_loses_more_than_the_curve_says(n_arms, draws, kind):
    for rate in (0.01, 0.05, 0.3, 0.5):
        for sensitivity in (1.0, 0.25, 0.1):
            rng = np.random.default_rng(0)
            shares = [shares_of_claim(n_arms, draws, rate, sensitivity, kind, rng) for _ in range(5)]
            # A divergence of 1e-9 is a difference of sums of rounded logs.
            assert 0 < np.max(shares) <= 1 + 1e-6


# ---- histories that come close


def after_a_change(n_arms, rate, sensitivity, multiple):
    """Return the logs of one draw's laws in two games, for the rest of the game if all later gains are 0.

    An arm whose probability was `multiple` of rate / n_arms is played, and its gain is 1 - s or 1; the other arms have
    equal scores.
    """
    eta = rate / n_arms
    p = multiple * eta
    weight = (p - eta) / (1 - rate)
    score = math.log(weight * (n_arms - 1) / (1 - weight))
    scores = np.zeros((2, n_arms))
    scores[:, 0] = score + eta / p * np.array([1 - sensitivity, 1.0])
    return np.log(probabilities(scores, rate))


def test_the_constants_are_all_but_the_smallest_possible():
    """A halved or doubled constant fails here, one way or the other."""
    for rate in [0.0005, 0.002]:
        for sensitivity in [1.0, 1 / 19]:
            for n_arms in [2, 4, 10]:
                loss = draw_loss(n_arms, rate, sensitivity)
                log_ratio = kl = 0.0
                for multiple in np.linspace(1.2, 4, 57):
                    low, high = after_a_change(n_arms, rate, sensitivity, multiple)
                    log_ratio = max(log_ratio, np.abs(high - low).max())
                    kl = max(kl, (np.exp(high) * (high - low)).sum(), (np.exp(low) * (low - high)).sum())
                share = log_ratio / loss.log_ratio
                # Gains from 1 - s to 1 are the worst ones while s is small; at s = 1 the best known history has .285 s.
                assert (0.94 if sensitivity < 1 else 0.8) < share <= 1
                assert (0.7 if sensitivity < 1 else 0.4) < kl / loss.renyi(1 + 1e-9) <= 1


def test_a_rho_of_the_order_of_the_kl_divergence_is_false():
    """One draw at order 400 loses far more than 400 times what it loses at order 1: only the curve says so."""
    n_arms, rate, sensitivity = 4, 0.0153, 1 / 19
    unit = sensitivity**2 * rate / n_arms
    found = [0.0, 0.0]
    for multiple in np.linspace(1.2, 4, 57):
        low, high = after_a_change(n_arms, rate, sensitivity, multiple)
        for place, order in enumerate((1.001, 400.0)):
            worst = max(float(renyi(high, low, order)), float(renyi(low, high, order)))
            found[place] = max(found[place], worst / (order * unit))
    # Units of s^2 gamma / K for each unit of the order.
    assert found[0] == pytest.approx(0.126, abs=0.003)
    assert found[1] == pytest.approx(1.28, abs=0.01)
    assert draw_loss(n_arms, rate, sensitivity).renyi(400.0) >= found[1] * 400 * unit
    # Of a whole game of many draws, in which the arm of the changed round is drawn, too.
    guarantee = exp3_guarantee(n_arms=n_arms, draws=10_000, exploration_rate=rate, sensitivity=sensitivity)
    assert guarantee.rho >= 0.99 * found[1] * unit * 10_000
    assert all(divergence <= guarantee.rho * order for order, divergence in guarantee.curve)


# ---- what is declared


def test_the_constants_of_a_small_rate():
    """As gamma -> 0: H = max (1 - h) e^h + (e - 1) h, b = H / (1 + sqrt(e - 1))^2 = .3409; KL .168 s^2 gamma / K."""
    rate, sensitivity = 1e-7, 1e-3
    loss = draw_loss(4, rate, sensitivity)
    assert loss.log_ratio / sensitivity == pytest.approx(0.3409, abs=1e-4)
    assert loss.renyi(1 + 1e-9) / (sensitivity**2 * rate / 4) == pytest.approx(0.168, abs=1e-3)


# ---- the refined bound on the whole game


ORDERS_OF_GAMES = (1.01, 1.5, 2.0, 8.0, 32.0, 200.0)


def start_for(states, h):
    """Return H(h) for each state."""
    q = 1 + states.c
    return (1 + states.c * states.kappa) * (1 - h) * np.exp(h) + q * h


@pytest.mark.parametrize("n_arms", ARMS)
def test_v_starts_below_its_bound_for_the_arms_own_probability(n_arms):
    """For s = 1, and often close to it; a bound for a slightly smaller h fails."""
    states = random_states(n_arms, COUNT, seed=6)
    h = states.eta / states.of_arm(state_probabilities(states, states.scores))
    ratio = starts(states) / (states.eta * start_for(states, h))
    assert 0.98 < ratio.max() <= 1 + ROUNDING
    assert (starts(states) > states.eta * start_for(states, 0.95 * h)).any()


@pytest.mark.parametrize("n_arms", ARMS)
def test_no_difference_grows_beyond_the_largest(n_arms):
    states = random_states(n_arms, COUNT, seed=2)
    most = states.d.max(axis=1)
    after = moved(states)
    assert np.all(after.max(axis=1) <= most * (1 + ROUNDING)) and after.min() >= 0


def cell_of(game, edges, h):
    return np.minimum(np.searchsorted(edges[1:], h), len(edges) - 2)


@pytest.mark.thorough
@pytest.mark.parametrize("n_arms", ARMS)
def test_v_and_the_largest_difference_bound_log_ratios_and_fisher_information(n_arms):
    """Differences are scaled to the first of the two limits that they meet: V = H(h) eta, or the largest d = h."""
    states = random_states(n_arms, 400, seed=7)
    rng = np.random.default_rng(1)
    h = np.exp(rng.uniform(np.log(states.eta), 0.0))
    v, e = lyapunov(states, states.scores, states.d, states.c)
    scale = np.minimum(start_for(states, h) * states.eta / v, h / states.d.max(axis=1))
    p = state_probabilities(states, states.scores)
    slope = (1 - states.gamma)[:, None] * softmax(states.scores) * e / p * scale[:, None]
    largest, fisher = np.zeros(len(h)), np.zeros(len(h))
    for i, gamma in enumerate(states.gamma):
        game, edges = WholeGame(n_arms, float(gamma), 1.0), cell_edges(float(states.eta[i]), float(gamma))
        at = cell_of(game, edges, h[i])
        largest[i], fisher[i] = game.log_ratio[at], game.fisher[at]
    shares = np.abs(slope).max(axis=1) / largest
    assert 0.7 < shares.max() <= 1 + ROUNDING
    fisher_shares = (p * slope**2).sum(axis=1) / fisher
    assert 0.6 < fisher_shares.max() <= 1 + ROUNDING


def test_the_last_cell_is_the_bound_for_the_worst_arm():
    """At h = 1 nothing is refined: the constants of `draw_loss`, to the width of a cell."""
    for n_arms, gamma in ((2, 0.3), (4, 0.0153), (10, 0.2)):
        game, loss = WholeGame(n_arms, gamma, 0.1), draw_loss(n_arms, gamma, 0.1)
        assert game.log_ratio[-1] <= loss.log_ratio * (1 + 1e-9) and game.fisher[-1] <= loss.fisher * (1 + 1e-9)
        assert game.log_ratio.max() == pytest.approx(loss.log_ratio, rel=1e-9)
        assert np.all(np.diff(game.log_ratio[: len(game.log_ratio) // 2]) >= 0)


# ---- whole games


def start_at(multiples, rate, n_arms):
    """Return scores at which arms 1, 2, ... have these multiples of rate / n_arms as probabilities, arm 0 the rest."""
    eta = rate / n_arms
    weights = (np.array(multiples) - 1) * eta / (1 - rate)
    assert weights.sum() < 1
    return np.log(np.concatenate([[1 - weights.sum()], weights]))


def silent_game(scores, rate, sensitivity, order, draws):
    """Return the exact divergences, both ways, of a game whose gains are 0 after the changed round.

    In that round the arm drawn pays 1 - s or 1. Then scores stand still, and the draws are independent.
    """
    n_arms = len(scores)
    first = probabilities(scores, rate)
    total = np.full(2, -np.inf)
    for arm, p in enumerate(first):
        worlds = np.tile(scores, (2, 1))
        worlds[:, arm] += rate / n_arms / p * np.array([1 - sensitivity, 1.0])
        one, other = np.log(probabilities(worlds, rate))
        both = [np.exp(order * x + (1 - order) * y).sum() for x, y in ((one, other), (other, one))]
        total = np.logaddexp(total, math.log(p) + draws * np.log(both))
    return total / (order - 1)


@pytest.mark.thorough
@pytest.mark.parametrize("sensitivity", [1.0, 1 / 19])
@pytest.mark.parametrize(("n_arms", "rate", "draws"), [(4, 0.0153, 13_797), (2, 0.1, 300), (10, 0.02, 500)])
def test_games_of_full_size_lose_less_than_the_bound_and_not_much_less(n_arms, rate, draws, sensitivity):
    """Rare arms: one or all but one, each at 1.05 to 4 times the least probability, as EXP3 makes them."""
    orders = (*ORDERS_OF_GAMES, 20.0, 1000.0)
    bound = WholeGame(n_arms, rate, sensitivity).renyi(orders, draws)
    worst = np.zeros(len(orders))
    for number in {1, n_arms - 1}:
        for multiple in np.geomspace(1.05, 4.0, 25):
            others = [1 / n_arms / (rate / n_arms)] * (n_arms - 1 - number)
            scores = start_at([multiple] * number + others, rate, n_arms)
            found = [silent_game(scores, rate, sensitivity, order, draws).max() for order in orders]
            worst = np.maximum(worst, found)
    assert np.all(worst <= bound)
    assert (worst / bound).max() > 0.75


def test_weights_that_count_the_rarity_twice_are_too_small():
    """The planted faults: (eta / h)^2 in place of eta / h, and a reach of 0.8 h; 10^5 draws at order 8."""
    n_arms, rate, sensitivity, order, draws = 4, 0.0153, 1 / 19, 8.0, 100_000
    true = max(
        silent_game(start_at([multiple] * 3, rate, n_arms), rate, sensitivity, order, draws).max()
        for multiple in (1.4, 1.6, 1.8)
    )
    assert true <= WholeGame(n_arms, rate, sensitivity).renyi([order], draws)[0]
    twice = WholeGame(n_arms, rate, sensitivity)
    twice._log_weight = 2 * twice._log_weight
    short = WholeGame(n_arms, rate, sensitivity)
    short.log_ratio, short.log_range, short.fisher = 0.8 * short.log_ratio, 0.8 * short.log_range, 0.64 * short.fisher
    for wrong in (twice, short):
        assert wrong.renyi([order], draws)[0] < true


def test_no_law_of_all_arms_loses_more_than_the_bound():
    """The changed round is the first one; later gains depend on past arms, and the first law on any scores."""
    for n_arms, draws in [(2, 9), (3, 6), (4, 5)]:
        for rate in [0.02, 0.1, 0.3]:
            for sensitivity in [1.0, 0.2]:
                rng = np.random.default_rng(0)
                bound = WholeGame(n_arms, rate, sensitivity).renyi(ORDERS_OF_GAMES, draws - 1)
                largest = 0.0
                for trial in range(6):
                    scores = start_at(rng.uniform(1.1, 3.0, n_arms - 1), rate, n_arms)
                    first = adaptive_gains(n_arms, draws, rng, ("nothing", "zero-one", "real")[trial % 3])
                    second = first.copy()
                    first[:, 0], second[:, 0] = 1 - sensitivity, 1.0
                    laws = [law_of_arms(scores, rate, gains) for gains in (first, second)]
                    for order, most in zip(ORDERS_OF_GAMES, bound, strict=True):
                        for one, other in (laws, laws[::-1]):
                            largest = max(largest, float(renyi(one, other, order)) / most)
                # A divergence of 1e-9 is a difference of sums of rounded logs.
                assert 0.3 < largest <= 1 + 1e-6


# ---- what is declared


@pytest.mark.parametrize(
    ("batch", "expected", "older"), [(4, 11.409, 12.8), (19, 1.4359, 1.612), (76, 0.2525, 0.281), (150, 0.1093, 0.121)]
)
def test_exp3_tau_at_full_size(batch, expected, older):
    """K = 4, T = 2^18, delta = T^-2; for batches of 19 the truth is at least about 1.06."""
    guarantee = make_algorithm("EXP3-tau", batch_size=batch).guarantee(n_arms=4, horizon=2**18)
    assert guarantee.epsilon_at(2.0**-36) == pytest.approx(expected, abs=6e-4 * expected)
    assert guarantee.epsilon_at(2.0**-36) < 0.92 * older


@pytest.mark.thorough
@pytest.mark.parametrize(("n_arms", "sensitivity"), [(2, 1.0), (4, 0.01), (100, 1.0)])
def test_the_curve_is_the_smaller_of_both_bounds_at_every_order(n_arms, sensitivity):
    """And never above the older bound, which alone stands for rates beyond the condition."""
    for rate in (1e-6, 0.01, 0.2, 0.35, 0.5, 0.62, 1.0):
        guarantee = exp3_guarantee(n_arms=n_arms, draws=10, exploration_rate=rate, sensitivity=sensitivity)
        assert guarantee.epsilon <= 10 * sensitivity and guarantee.rho <= 10 * sensitivity**2 / 8
        if guarantee.curve is None:
            continue
        loss = draw_loss(n_arms, rate, sensitivity)
        orders = [order for order, _ in guarantee.curve]
        refined = WholeGame(n_arms, rate, sensitivity).renyi(orders, 10)
        for (order, divergence), of_game in zip(guarantee.curve, refined, strict=True):
            assert divergence <= of_game and divergence <= 10 * loss.renyi(order) * (1 + 1e-12)
            assert divergence <= guarantee.rho * order * (1 + 1e-14)
            assert divergence <= min(10 * sensitivity, 10 * order * sensitivity**2 / 8) * (1 + 1e-14)


# ---- rewards out of order


RATE = 0.01
ETA = RATE / 2
LATE = 15
"""Choices of arm 0 that are open at a time; one more is open whenever arm 1 is played."""


def probability(score):
    """Return the probability of arm 0, of two, from its score less that of arm 1."""
    return (1 - RATE) / (1 + math.exp(-score)) + ETA


def losses(waves, by_choice):
    """Yield the larger log ratio of a draw in two games after each play; they differ in the gain learnt first, 0 or 1.

    15 choices of arm 0 are open at a time, and one of arm 1 whenever it is played. All other gains are 1.

    Args:
        waves: How often 15 choices of arm 0 are made and then learnt.
        by_choice: Whether a late gain is divided by the probability of its choice; otherwise by that when it is learnt.
    """
    scores = [math.log(ETA) - 7] * 2
    scores[1] += ETA / probability(scores[0])
    for wave in range(waves + 1):
        chosen_with = [probability(score) for score in scores] if wave else [probability(math.log(ETA) - 7)] * 2
        for _ in range(LATE - (wave == 0)):
            if wave == 0 and sum(scores) / 2 > math.log(ETA):
                break  # the others of the first 15 have gains of 0, which change nothing
            divisors = chosen_with if by_choice else [probability(score) for score in scores]
            scores = [score + ETA / divisor for score, divisor in zip(scores, divisors, strict=True)]
            yield log_ratio(scores)
            while wave < waves and sum(scores) / 2 > math.log(ETA):
                scores = [score - ETA / (1 - probability(score)) for score in scores]
                yield log_ratio(scores)


def log_ratio(scores):
    arm_0, other = map(probability, scores)
    return max(abs(math.log(arm_0 / other)), abs(math.log((1 - arm_0) / (1 - other))))


def test_with_16_open_choices_one_draw_loses_12_times_what_is_proved():
    """By the probability when it is learnt the same game keeps to the theorem."""
    proved = draw_loss(n_arms=2, exploration_rate=RATE, sensitivity=1.0).log_ratio
    largest = [max(losses(waves, by_choice=True)) for waves in (0, 1, 2)]
    assert proved == pytest.approx(0.341, abs=5e-4)
    assert largest == pytest.approx([0.61, 2.07, 4.07], abs=0.01)
    assert 0.1 < max(losses(2, by_choice=False)) <= proved
