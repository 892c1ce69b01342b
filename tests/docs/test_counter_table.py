"""The table of docs/counters.md states the variances of the counters, worked out a second time from their formulas."""

import math

import numpy as np
import pytest
from scipy.signal import fftconvolve

from dp_bandit_envs.privacy.counters.square_root import exponentials
from dp_bandit_envs.privacy.counters.table import compare
from tests.tools.pages import PAGES


@pytest.mark.thorough
@pytest.mark.parametrize(("column", "horizon"), [(2, 1_000), (3, 100_000), (4, 2**20)])
def test_the_table_of_counters_states_their_variances(column, horizon):
    """Against the command's numbers, and against a look at every time with each counter's own formula."""
    rows = {row.name: row for row in compare(horizon, 1.0, 1e-6)}
    every = variances_at_every_time(horizon, rows["k-ary"].counter.base, rows["square-root"].counter.sigma)
    assert set(rows) == set(every)
    for name, row in rows.items():
        assert cells(name)[column] == f"{row.mean:,.1f} / {row.maximum:,.1f}"
        assert cells(name)[column] == f"{every[name].mean():,.1f} / {every[name].max():,.1f}"


def variances_at_every_time(horizon, base, sigma):
    """Return each counter's variances after 1, ..., T items at epsilon = 1, a draw of scale b having 2 b^2."""
    t = np.arange(1, horizon + 1)
    levels = horizon.bit_length()
    place = np.floor(np.log2(t)).astype(int)
    bits = [(t >> level) & 1 for level in range(levels)]
    ones = sum(bits)
    roots = np.concatenate([[0], np.cumsum(np.arange(1, levels + 1) ** 2)])[place]
    half = next(h for h in range(2, 60, 2) if math.comb(h, h // 2) > horizon) // 2
    zeros = next(h for h in range(2, 60) if math.comb(h, half) > horizon) - half
    tree, refined = 1.0, []
    for _ in range(levels):
        refined.append(tree)
        tree = 1 / (1 + 1 / (2 * tree))
    of_k_ary = next(h for h in range(1, 60) if (base**h - 1) // 2 >= horizon)
    rest, nodes = t, np.zeros(horizon)
    while rest.any():
        digit = np.where(rest % base > base // 2, rest % base - base, rest % base)
        nodes, rest = nodes + np.abs(digit), (rest - digit) // base
    releases, items = near_roots(horizon)
    return {
        "hybrid": 2 * 2**2 * (place + 1) + 2 * (2 * place) ** 2 * (ones - 1),
        "segment-trees": 2 * (1 + roots + (place + 1) ** 2 * (ones - 1)),
        "binary": 2 * levels**2 * ones,
        "honaker": 2 * levels**2 * sum(bit * each for bit, each in zip(bits, refined, strict=True)),
        "smooth-binary": np.full(horizon, 2 * half * zeros**2),
        "k-ary": 2 * of_k_ary**2 * nodes,
        "square-root": sigma**2 * (items**2).sum() * np.cumsum(releases**2),
    }


def near_roots(horizon):
    """Return the entries of the square-root counter's two factors, the second one by inverting the first."""
    decay, weights = exponentials(horizon)
    k = np.arange(horizon)
    releases = sum(weight * np.exp(k * np.log(each)) for each, weight in zip(decay, weights, strict=True))
    # Newton's iteration for the reciprocal of a power series; each turn doubles the entries that are right.
    inverse, right = np.array([1 / releases[0]]), 1
    while right < horizon:
        right = min(2 * right, horizon)
        inverse = (
            2 * np.append(inverse, np.zeros(right - len(inverse)))
            - fftconvolve(fftconvolve(inverse, inverse)[:right], releases[:right])[:right]
        )
    return releases, np.cumsum(inverse)


def cells(counter):
    """Return the cells of a counter's line, with an empty one before."""
    line = next(line for line in PAGES["docs/counters.md"].splitlines() if line.startswith(f"| `{counter}` |"))
    return [cell.strip() for cell in line.split("|")]
