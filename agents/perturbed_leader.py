"""Follow the perturbed leader: the best arm or point for released sums, whose noise is the perturbation."""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from dp_bandit_envs.agents.functional import FunctionalAgent, FunctionalPointAgent, Functions
from dp_bandit_envs.protocols import FloatArray, Sums


class State(NamedTuple):
    """The released sums of the arms or coordinates, 0 before the first release."""

    sums: FloatArray


def leader(sums: FloatArray) -> int:
    """Return the index of the largest sum."""
    best = 0
    for index in range(1, len(sums)):
        if sums[index] > sums[best]:
            best = index
    return best


def select_arm(state: State, rng: np.random.Generator) -> int:
    """Play the arm with the largest sum."""
    return leader(state.sums)


def select_in_ball(state: State, point: FloatArray, rng: np.random.Generator) -> None:
    """Play S scaled to length 1; the centre while S is 0."""
    square = 0.0
    for total in state.sums:
        square += total * total
    length = math.sqrt(square)
    for coordinate in range(len(point)):
        point[coordinate] = state.sums[coordinate] / length if length > 0.0 else 0.0


def select_in_cube(state: State, point: FloatArray, rng: np.random.Generator) -> None:
    """Play the signs of S; 0 where S is 0."""
    for coordinate in range(len(point)):
        total = state.sums[coordinate]
        point[coordinate] = 1.0 if total > 0.0 else -1.0 if total < 0.0 else 0.0


def select_in_simplex(state: State, point: FloatArray, rng: np.random.Generator) -> None:
    """Play the corner of the largest sum."""
    best = leader(state.sums)
    for coordinate in range(len(point)):
        point[coordinate] = 1.0 if coordinate == best else 0.0


def update(state: State, arm: int, seen: Sums) -> State:
    """Keep the released sums."""
    for index in range(len(state.sums)):
        state.sums[index] = seen.sums[index]
    return state


SELECT: dict[str, Callable[..., None]] = {
    "ball": select_in_ball,
    "cube": select_in_cube,
    "simplex": select_in_simplex,
}


class PerturbedLeader(FunctionalPointAgent):
    r"""Plays the best point for the released sums S, :math:`\arg\max_{x \in X} \langle x, S_t \rangle`.

    On the ball this is S scaled to length 1, on the cube its signs, on the simplex the corner of the largest sum.
    Without noise this is follow-the-leader, whose regret can be linear. Gaussian noise of the right size gives regret
    of order sqrt(T), and that noise may already suffice for privacy.

    Source: Kalai and Vempala (2005); Agarwal and Singh (2017), algorithm 3.
    """

    learns_from = Sums

    @property
    def functions(self) -> Functions:  # type: ignore[override]
        """The functions for the decision set that was seen."""
        return Functions(self.for_set(SELECT), update)

    def initial_state(self, dimension: int, horizon: int) -> State:
        """Return the state before the first step."""
        return State(np.zeros(dimension))


class PerturbedLeaderOfArms(FunctionalAgent):
    """Plays the arm with the largest released sum; for games that reveal the gains of all arms.

    Ties go to the lowest arm.

    Source: Kalai and Vempala (2005); Agarwal and Singh (2017), algorithm 3.
    """

    functions = Functions(select_arm, update)
    learns_from = Sums
    feedback = "full"

    def initial_state(self, n_arms: int, horizon: int) -> State:
        """Return the state before the first step."""
        return State(np.zeros(n_arms))
