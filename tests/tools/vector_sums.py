"""Sums of vectors without a game: what a mechanism knows of it, and a driver that reveals every coordinate."""

from typing import Any

import numpy as np

from dp_bandit_envs.privacy.facts import InputFacts, ValueRange, all_gains_of_arms
from dp_bandit_envs.privacy.mechanism import Mechanism


def experts(d: int, horizon: int) -> InputFacts:
    """Return the facts about the gains of d experts, in [0, 1]."""
    return InputFacts(d, horizon, float(d), d, values=all_gains_of_arms(d))


def box(d: int, horizon: int) -> InputFacts:
    """Return the facts about values in [-1, 1], as those of Agarwal and Singh's experts."""
    return InputFacts(d, horizon, 2.0 * d, d, values=ValueRange(-1.0, 1.0, 2 * d**0.5, "sup", 2.0, True))


def ball(d: int, horizon: int) -> InputFacts:
    """Return the facts about the coordinates of a vector in the L2 ball."""
    return InputFacts(d, horizon, 2.0 * d**0.5, d, values=ValueRange(-1.0, 1.0, 2.0, "l2", 2.0, True))


def cross_polytope(d: int, horizon: int) -> InputFacts:
    """Return the facts about the coordinates of a vector in the L1 ball."""
    return InputFacts(d, horizon, 2.0, d, values=ValueRange(-1.0, 1.0, 2.0, "l1", 2.0, True))


FACTS = {"experts": experts, "ball": ball, "cube": cross_polytope}


def released(mechanism: Mechanism, inputs: InputFacts, table: np.ndarray, rng: Any) -> np.ndarray:
    """Return what is released after each row of a table in which every coordinate is revealed; nan where nothing is."""
    state, release = mechanism.new_state(inputs), mechanism.release
    sums = np.full(table.shape, np.nan)
    for t, row in enumerate(table.tolist()):
        for coordinate, value in enumerate(row):
            total, count = release(state, coordinate, value, rng)
            if count:
                assert count == t + 1
                sums[t, coordinate] = total
    return sums


def factor_of(mechanism, inputs) -> float:
    """Return by how much a mechanism's noise is larger than that of its counter for one item."""
    states = mechanism.new_state(inputs).counters, mechanism.counter(inputs.horizon).new_state(1)
    one, alone = (state.scales[-1] if hasattr(state, "scales") else state.scale for state in states)
    return one / alone


class OneNode:
    """A random generator whose node number `hot` is a large vector of own-norm noise, and all others 0.

    Attributes:
        asked: The shape of each Gamma draw: one a node.
    """

    def __init__(self, hot: int = -1, height: float = 2.0**30) -> None:
        """Take the number of the node, from 0; -1 for none."""
        self.hot, self.height = hot, height
        self.asked: list[float] = []

    def standard_gamma(self, shape: float) -> float:
        self.asked.append(shape)
        return self.height * (len(self.asked) - 1 == self.hot)

    def signed_uniform(self) -> float:
        """Return 1, so that the vector is in the corner of the cube."""
        return 1.0

    def standard_normal(self) -> float:
        """Return 1, so that the vector has equal coordinates."""
        return 1.0
