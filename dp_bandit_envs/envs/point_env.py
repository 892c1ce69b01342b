"""Games whose actions are points of a decision set: a point earns its scalar product with the round's gain vector."""

import inspect
from typing import Any, ClassVar, SupportsFloat, SupportsIndex

import numpy as np

from dp_bandit_envs import checks
from dp_bandit_envs.adversaries import Adversary, Alternating, Leaning, OneAxis, Stochastic, VectorTable
from dp_bandit_envs.decisions import Ball, Cube, DecisionSet, Simplex, payoff
from dp_bandit_envs.envs.bandit_env import BanditEnv, observation_space, refuse_unknown, with_own_size
from dp_bandit_envs.envs.registration import sized_adversaries
from dp_bandit_envs.envs.rendering import PointBoard
from dp_bandit_envs.errors import GainRangeError, UnknownArgumentError, WrongGameError, WrongTypeError
from dp_bandit_envs.privacy.facts import ValueRange
from dp_bandit_envs.protocols import FloatArray, Observation

FEEDBACK = ("full", "bandit")
DIMENSION = 10
HORIZON = 2**16


FOR_SETS: dict[str, tuple[type[Adversary], ...]] = {
    "ball": (Leaning, OneAxis, Alternating),
    "cube": (OneAxis, Alternating),
    "simplex": (Stochastic,),
}
"""The adversaries with gain vectors for each set, the default first; the simplex also accepts adversaries of arms."""


class PointFacts:
    """Common base of games of points and their vector forms: public facts from set and feedback."""

    decision_set: DecisionSet
    feedback: str
    sensitivity: float

    def _use_set(self, decision_set: DecisionSet, feedback: str) -> None:
        if not isinstance(decision_set, DecisionSet):
            kind = type(decision_set).__name__
            raise WrongTypeError(f"decision_set must be a DecisionSet, such as Ball(10); received a {kind}.")
        self.decision_set = decision_set
        self.feedback = checks.one_of("feedback", feedback, FEEDBACK)
        self._low, self._high = decision_set.payoffs
        self.sensitivity = decision_set.l1 if feedback == "full" else self._high - self._low

    def _check_adversary(self, adversary: Adversary) -> None:
        """Refuse an adversary of another dimension, or with payoffs that depend on earlier plays."""
        if adversary.n_arms != self.dimension:
            raise ValueError(
                "gain vectors and decision set must have one dimension; received"
                f" {adversary.n_arms} and {self.dimension}."
            )
        if adversary.memory or adversary.payoff is not None:
            raise WrongGameError(
                f"{type(adversary).__name__} pays by the arms played before; a point earns its own payoff only."
            )

    @property
    def dimension(self) -> int:
        """Number of coordinates d of a point."""
        return self.decision_set.dimension

    @property
    def n_values(self) -> int:
        """Number of values that a round of one game reveals: d, or 1 with bandit feedback."""
        return self.dimension if self.feedback == "full" else 1

    @property
    def values(self) -> ValueRange:
        """Public facts about the values that a round of one game reveals."""
        return self.decision_set.vectors if self.feedback == "full" else self.decision_set.payoff_values

    def best(self, totals: FloatArray) -> FloatArray:
        """Return the payoff of the best fixed point, shape `(...)`, on summed gain vectors `(..., dimension)`."""
        return self.decision_set.support(totals)


class PointEnv(PointFacts, BanditEnv):
    """Online linear optimisation: each round, a point of a set is played and earns <g, x> with a hidden gain vector g.

    Args:
        adversary: Chooses the gain vectors: its arms are the coordinates.
        decision_set: The set of points.
        feedback: `"full"` or `"bandit"`.
        render_mode: None, `"rgb_array"` or `"ansi"`.
        block_length: As in `BanditEnv`.

    Source: Agarwal and Singh (2017), The Price of Differential Privacy for Online Learning, ICML.

    ## Action Space
    `PointSpace(decision_set)`: a box whose members are only the points of the set, shape `(dimension,)`. `step` refuses
    others with `WrongPointError`; `dp_bandit_envs.wrappers.ProjectToSet(env)` plays the nearest point.

    ## Observation Space
    `Dict(gain=Box(low, 1, (n,), float64), observed=MultiBinary(n))`: with `feedback="full"` the round's gain vector, n
    = dimension; with `"bandit"` the payoff, n = 1. The bound `low` is 0 on the simplex, -1 on the ball and the cube.
    `observed` is 1 after every round.

    ## Rewards
    The payoff <g, x> of the point x played, in [low, 1], larger is better.
    """

    def __init__(
        self,
        adversary: Adversary,
        decision_set: DecisionSet,
        *,
        feedback: str = "full",
        render_mode: str | None = None,
        block_length: SupportsIndex = 4096,
    ) -> None:
        self._use_set(decision_set, feedback)
        super().__init__(adversary, render_mode=render_mode, block_length=block_length)

    def best_point(self) -> FloatArray:
        """Return the best fixed point, shape `(dimension,)`. For the evaluator."""
        return self.decision_set.best_point(self.cumulative_gains)

    def _set_spaces(self, width: int) -> None:
        self._check_adversary(self.adversary)
        self.action_space = self.decision_set.space  # type: ignore[assignment]
        low, high = self.values.low, self.values.high
        self.observation_space = observation_space(self.n_values, low, high)  # type: ignore[assignment]

    def _take(self, action: Any) -> int:
        self._point = self.decision_set.checked(action).tolist()
        return 0

    def _payoff(self, gains: list[float]) -> float:
        assert self._point is not None
        return payoff(gains, self._point, self._low, self._high)

    def _check_gains(self) -> None:
        if not self.decision_set.has_gains(self._block):
            raise GainRangeError(self.adversary, f"gain vectors of the {self.decision_set.name}")

    def _reveal(self, arm: int, gain: float) -> Observation:
        if self.feedback == "bandit":
            return {"gain": np.array([gain]), "observed": np.ones(1, np.int8)}
        return {"gain": self._shown().copy(), "observed": np.ones(self.dimension, np.int8)}

    def _new_scoreboard(self) -> Any:
        return PointBoard(self.decision_set, self.horizon, self._point_played, self.best_point)

    def _point_played(self) -> list[float] | None:
        return self._point


class NamedSetEnv(PointEnv):
    """The shared part of the registered games of points, which differ in their set."""

    set_class: ClassVar[type[DecisionSet]]

    def __init__(
        self,
        dimension: SupportsIndex | None = None,
        horizon: SupportsIndex | None = None,
        *,
        feedback: str = "full",
        gains: Any = None,
        gap: SupportsFloat | None = None,
        render_mode: str | None = None,
        block_length: SupportsIndex = 4096,
        **unknown: Any,
    ) -> None:
        refuse_unknown(type(self), unknown)
        adversary = point_adversary(self.set_class.name, gains, dimension, horizon, gap)
        super().__init__(
            adversary,
            self.set_class(adversary.n_arms),
            feedback=feedback,
            render_mode=render_mode,
            block_length=block_length,
        )


class BallEnv(NamedSetEnv):
    """Online linear optimisation on the unit ball.

    ## Description
    Points and gain vectors have L2 norm at most 1, and the payoff <g, x> is in [-1, 1]. With full information a round
    reveals its gain vector; its L1 `sensitivity` is 2 sqrt(d), its distance in L2, the ball's own norm, 2.

    ## Arguments
    `dimension=10`, `horizon=65_536`; `feedback="full"` or `"bandit"`; `gains="Leaning"`, `"OneAxis"` or
    `"Alternating"`, your own adversary, or an array of your own gain vectors, shape `(horizon, dimension)`; `gap=0.1`,
    the lead of the best point, in [0, 1], for the first two.

    ## Version History
    v0: first version.

    ## References
    Agarwal and Singh (2017), The Price of Differential Privacy for Online Learning, ICML.
    """

    set_class = Ball


class CubeEnv(NamedSetEnv):
    """Online linear optimisation on the cube [-1, 1]^d.

    ## Description
    Gain vectors have L1 norm at most 1, and the payoff <g, x> is in [-1, 1]. With full information a round reveals its
    gain vector; its L1 `sensitivity` is 2, which is also the distance in the cube's own norm.

    ## Arguments
    `dimension=10`, `horizon=65_536`; `feedback="full"` or `"bandit"`; `gains="OneAxis"` or `"Alternating"`, your own
    adversary, or an array of your own gain vectors, shape `(horizon, dimension)`; `gap=0.1`, the lead of the good
    signs, in [0, 1].

    ## Version History
    v0: first version.

    ## References
    Agarwal and Singh (2017), The Price of Differential Privacy for Online Learning, ICML.
    """

    set_class = Cube


class SimplexEnv(NamedSetEnv):
    """Prediction with expert advice, with mixtures of experts as actions: the probability simplex.

    ## Description
    Gain vectors have entries in [0, 1], and so has the payoff <g, x>: the expected gain of an expert drawn from the
    mixture x. With full information a round reveals all gains, as in `DPBandit-Experts-v0`; its L1 `sensitivity` is d,
    its distance in the sup norm, the set's own norm, 1.

    ## Arguments
    `dimension=10`, `horizon=65_536`; `feedback="full"` or `"bandit"`; `gains="Stochastic"` or another adversary by the
    name of its environment, your own adversary, or an array of gains, shape `(horizon, dimension)`; `gap=None`, the
    lead of one expert's mean, drawn for each game, over the others (0.05 by default), in [0, 1].

    ## Version History
    v0: first version.

    ## References
    Agarwal and Singh (2017), The Price of Differential Privacy for Online Learning, ICML.
    """

    set_class = Simplex


def point_adversary(
    set_name: str,
    gains: Any,
    dimension: SupportsIndex | None,
    horizon: SupportsIndex | None,
    gap: SupportsFloat | None,
) -> Adversary:
    """Return the adversary of a game on a decision set.

    Args:
        set_name: The set's name.
        gains: An adversary, an array of gain vectors or a name, by default the set's own adversary. The first two have
            their own size.
        dimension: Number of coordinates; None for the adversary's own, or the default.
        horizon: Number of rounds; None for the adversary's own, or the default.
        gap: Lead of the best point, in [0, 1], for adversaries that take it.
    """
    if gains is not None and not isinstance(gains, str):
        if gap is not None:
            raise ValueError("gap belongs to an adversary by name; this one is given. Omit it.")
        adversary = gains if isinstance(gains, Adversary) else _table(gains)
        return with_own_size(adversary, dimension=dimension, horizon=horizon)
    kinds = {one.__name__: one for one in FOR_SETS[set_name]}
    if set_name == "simplex":
        kinds = {**kinds, **sized_adversaries()}
    kind = FOR_SETS[set_name][0] if gains is None else kinds[checks.known_name("gains", gains, kinds)]
    d = DIMENSION if dimension is None else checks.integer("dimension", dimension, at_least=2)
    size = (d, HORIZON if horizon is None else horizon)
    if gap is None:
        return kind(*size)
    if kind is Stochastic:
        ahead = checks.in_range("gap", gap, 0, 1)
        means = np.full(d, (1 - ahead) / 2)
        means[0] = (1 + ahead) / 2
        coins = Stochastic(*size, means=means)
        coins.arm_order = "random"
        return coins
    if "gap" not in inspect.signature(kind).parameters:
        raise UnknownArgumentError(kind.__name__, "gap", "It has none.")
    return kind(*size, gap=gap)  # type: ignore[call-arg]


def _table(gains: Any) -> VectorTable:
    if not (isinstance(gains, (list, tuple)) or hasattr(gains, "__array__")):
        raise WrongTypeError(
            "gains must be a name, an adversary, or an array of gain vectors, shape (horizon, dimension); received"
            f" {checks.kind_of(gains)}."
        )
    return VectorTable(gains)
