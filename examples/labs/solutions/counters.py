"""The lab on counters: the noise of a node, and private running sums by a binary tree."""

import numpy as np


def node_scale(horizon, epsilon):
    """Return the Laplace scale of a node: an item is in one node of each level, and each costs 1 / scale."""
    return horizon.bit_length() / epsilon


def private_sums(items, epsilon, rng):
    """Return the private sums after 1, ..., T items; all of them together lose epsilon about an item."""
    horizon = len(items)
    scale = node_scale(horizon, epsilon)
    nodes = np.zeros(horizon.bit_length())  # at each level, the last full node: its exact sum and its noise
    sums = np.zeros(horizon)
    for t in range(1, horizon + 1):
        level = (t & -t).bit_length() - 1  # the number of zeros at the end of t in base 2
        length = 1 << level
        nodes[:level] = 0.0  # this node covers the shorter ones before it
        nodes[level] = items[t - length : t].sum() + rng.laplace(scale=scale)
        sums[t - 1] = nodes.sum()
    return sums
