"""Exact laws: of all arms that Hedge and lazy Hedge play, sequence by sequence, and of the best of fair coins."""

import itertools
import math

import numpy as np
from scipy import stats


def softmax(scores):
    """Return the softmax of an array."""
    weights = np.exp(scores - scores.max())
    return weights / weights.sum()


def hedge_marginals(table, rate):
    """Return Hedge's probability of each arm in each round, shape `table.shape`, from the definition."""
    before = np.cumsum(np.vstack([np.zeros(table.shape[1]), table]), axis=0)[:-1]
    return np.array([softmax(rate * row) for row in before])


def hedge_law(table, rate):
    """Return the probability of each sequence of arms; draws are independent when gains are fixed."""
    chances = hedge_marginals(table, rate)
    arms = range(table.shape[1])
    return {
        sequence: math.prod(chances[t, arm] for t, arm in enumerate(sequence))
        for sequence in itertools.product(arms, repeat=len(table))
    }


def lazy_law(table, rate, fresh, most):
    """Return the probability of each sequence of arms of lazy Hedge, summed over what no sequence shows.

    Args:
        table: Gains, shape `(rounds, n_arms)`.
        rate: a.
        fresh: p.
        most: Number of draws after the first round.
    """
    n_arms = table.shape[1]
    # The probability of each number of draws left, by the arms so far.
    paths = {(arm,): {most: 1 / n_arms} for arm in range(n_arms)}
    chances = hedge_marginals(table, rate)
    for t in range(1, len(table)):
        longer = {}
        for arms, lefts in paths.items():
            keep = (1 - fresh) * math.exp(-rate * (1 - table[t - 1, arms[-1]]))
            for left, chance in lefts.items():
                stays = chance if left == 0 else chance * keep
                _add(longer, (*arms, arms[-1]), left, stays)
                for arm in range(n_arms) if left else ():
                    _add(longer, (*arms, arm), left - 1, chance * (1 - keep) * chances[t, arm])
        paths = longer
    return {arms: sum(lefts.values()) for arms, lefts in paths.items()}


def _add(paths, arms, left, chance):
    lefts = paths.setdefault(arms, {})
    lefts[left] = lefts.get(left, 0.0) + chance


def marginals(law, n_arms):
    """Return the probability of each arm in each round, shape `(rounds, n_arms)`."""
    rounds = len(next(iter(law)))
    found = np.zeros((rounds, n_arms))
    for sequence, chance in law.items():
        found[np.arange(rounds), list(sequence)] += chance
    return found


def renyi(one, other, order):
    """Return the Renyi divergence of an order above 1, or for order 1 the KL divergence, between two laws."""
    pairs = [(math.log(chance), math.log(other[key])) for key, chance in one.items() if chance > 0]
    if order == 1:
        return sum(math.exp(p) * (p - q) for p, q in pairs)
    exponents = [order * p + (1 - order) * q for p, q in pairs]
    largest = max(exponents)
    return (largest + math.log(sum(math.exp(each - largest) for each in exponents))) / (order - 1)


def best_of_coins(n_arms, horizon):
    """Return E max over arms of S_i, for sums S_i of `horizon` fair signs: twice every algorithm's regret on coins."""
    heads = np.arange(horizon + 1)
    law = np.diff(stats.binom.cdf(heads, horizon, 0.5) ** n_arms, prepend=0.0)
    return float(law @ (2 * heads - horizon))
