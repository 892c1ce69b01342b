"""SCRiBLe where every round reveals a noisy gain vector, of which it uses the payoff of the point played only."""

from typing import ClassVar, Literal, NamedTuple

import numpy as np

from dp_bandit_envs.agents import scrible
from dp_bandit_envs.agents.functional import Functions
from dp_bandit_envs.agents.scrible import Scrible, learn, select_in_ball, select_in_cube
from dp_bandit_envs.observations import Gains
from dp_bandit_envs.protocols import FloatArray
from dp_bandit_envs.theory.linear_bounds import noise_of_payoffs, scrible_rate


class State(NamedTuple):
    """SCRiBLe's state, and the point played last, shape `(dimension,)`."""

    own: scrible.State
    point: FloatArray


def select_and_keep_in_ball(state: State, point: FloatArray, rng: np.random.Generator) -> None:
    """Play as SCRiBLe does on the ball, and keep the point."""
    select_in_ball(state.own, point, rng)
    for place in range(len(point)):
        state.point[place] = point[place]


def select_and_keep_in_cube(state: State, point: FloatArray, rng: np.random.Generator) -> None:
    """Play as SCRiBLe does on the cube, and keep the point."""
    select_in_cube(state.own, point, rng)
    for place in range(len(point)):
        state.point[place] = point[place]


def update(state: State, arm: int, seen: Gains) -> State:
    """Learn from the product of the released vector and the point."""
    payoff = 0.0
    for place in range(len(state.point)):
        if seen.observed[place] == 0:
            return state
        payoff += seen.gains[place] * state.point[place]
    learn(state.own, payoff)
    return state


SELECT = {"ball": select_and_keep_in_ball, "cube": select_and_keep_in_cube}


class ScribleOnVectors(Scrible):
    r"""SCRiBLe on the payoffs :math:`\langle g_t + Z_t, x_t \rangle` of noisy gain vectors, as Agarwal and Singh print.

    It needs full information, below a wrapper that puts noise on vectors, but learns from one number a round, as if it
    saw payoffs only. Noise on the payoff itself has a variance that is up to d times smaller; see `Scrible`.

    Args:
        learning_rate: Greater than 0; by default the one with the smallest bound for the noise in payoffs.

    Source: Agarwal and Singh (2017), algorithm 4, around Abernethy, Hazan and Rakhlin (2008).
    """

    feedback: ClassVar[Literal["full", "payoff"]] = "full"

    @property
    def functions(self) -> Functions:  # type: ignore[override]
        """The functions for the decision set that was seen."""
        return Functions(SELECT[self._set_name], update)  # type: ignore[arg-type]

    def initial_state(self, dimension: int, horizon: int) -> State:  # type: ignore[override]
        """Return the state before the first step."""
        name, rate = self._set_name, self.learning_rate
        if rate is None:
            rounds = max(horizon, 1)
            scale, most = noise_of_payoffs(name, dimension, self.noise.scale, rounds)
            rate = scrible_rate(name, dimension, rounds, scale, most)
        return State(scrible.start(dimension, rate, self.noise.bound), np.zeros(dimension))
