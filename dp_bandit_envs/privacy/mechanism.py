"""The one concept behind every privacy wrapper: a mechanism releases one revealed gain at a time.

A mechanism is written once, as plain functions over a state, which is a NamedTuple of arrays and numbers:

    release(state, arm, gain, rng) -> (value, count)

takes one gain that a round revealed and returns what may be known of its arm: for mechanisms that release gains, a
value in [0, 1] and 1; for those that release sums, the arm's released sum and the number of gains in it. A count of 0
means that nothing (new) is released. Arrays of the state are changed in place; the rest of it stays as it is.

Two more functions are there for the few mechanisms that need them:

    idle(state, arm, rng) -> (value, count)     in a round that reveals other arms, but not this one
    forget(state) -> None                       after each batch of `batch_size` rounds

Three drivers run the same text: the scalar boundary, the vector boundary and the compiled loop. They alone handle what
is private: they check its range, count rounds and releases, replace errors and hand out copies.
"""

import abc
import dataclasses
import math
from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple, TypeAlias

from dp_bandit_envs.privacy.guarantee import REPLACE_ONE_ROUND, PrivacyGuarantee

Release: TypeAlias = Callable[..., tuple[float, int]]


class Noise(NamedTuple):
    """What is public about the noise in released values, for agents whose confidence terms depend on it.

    Attributes:
        sensitivity: How far one changed round moves the values that get noise, in L1: noise for epsilon is as large as
            that for epsilon / sensitivity where a round reveals one gain.
        scale: Scale of the Laplace noise in each released gain, in units of gain; 0 where there is none.
        bound: A released gain v stands for the noisy gain v (2 bound + 1) - bound.
    """

    sensitivity: float = 1.0
    scale: float = 0.0
    bound: float = 0.0


class Below(NamedTuple):
    """What is known of the gains that a mechanism gets.

    Attributes:
        n_arms: Number of arms.
        horizon: Number of steps in which it gets gains.
        sensitivity: How far one changed round moves these gains, in L1, with noise below held still.
        gains_in_a_round: The most gains that one round of the game reveals.
        guarantee: What the mechanisms below guarantee; None if there are none.
        withheld: Whether a gain may be withheld because of its value, without a guarantee below that covers it; no
            noise above hides that.
        noise: What is public about noise below.
    """

    n_arms: int
    horizon: int
    sensitivity: float = 1.0
    gains_in_a_round: int = 1
    guarantee: PrivacyGuarantee | None = None
    withheld: bool = False
    noise: Noise = Noise()


class Mechanism(abc.ABC):
    """Base of all mechanisms: parameters, the functions above, and what is known of what they release.

    A mechanism of your own sets `release = staticmethod(my_release)` to a function of a module, so that it can be
    compiled, and has `new_state` and `guarantee`. `PrivacyBoundary(env, mechanism)` puts it around an environment.
    """

    release: Any
    """The plain function; one that is no plain function (a bound method) is played, not compiled."""
    idle: Any = None
    forget: Any = None
    releases_sums: ClassVar[bool] = False
    """Whether it releases running sums; otherwise gains."""
    batch_size: int = 1
    """For how many steps below one arm is played in a step above."""

    withholds: bool = True
    """Whether a gain may be withheld (count 0) because of its value. Set it to False where that never happens, or
    mechanisms above this one have no guarantee of their own; then a gain that is withheld ends the game."""
    example: ClassVar[dict[str, Any]] = {"epsilon": 1.0}
    """Arguments with which a mechanism of the table is shown and tested."""

    @abc.abstractmethod
    def new_state(self, below: Below) -> Any:
        """Return the state before the first round, with arrays of its own."""

    @abc.abstractmethod
    def guarantee(self, below: Below) -> PrivacyGuarantee:
        """Return what one game guarantees to everything above."""

    def sensitivity(self, below: Below) -> float:
        """Return how far one changed round moves what is released, in L1, with the noise held still.

        Each gain that a round reveals changes one released gain, which lies in [0, 1] or is withheld. Sums have no
        bound, as a changed gain stays in them.
        """
        return math.inf if self.releases_sums else max(float(below.gains_in_a_round), below.sensitivity)

    def horizon(self, below: Below) -> int:
        """Return the number of steps above."""
        return below.horizon // self.batch_size

    def noise(self, below: Below) -> Noise:
        """Return what is public about the noise in what is released; noise of a mechanism's own hides that below it."""
        return Noise(below.sensitivity)

    def gains_in_a_round(self, below: Below) -> int:
        """Return how many released gains one round can influence: as many as it reveals, if none is released twice."""
        return below.gains_in_a_round

    def above(self, below: Below) -> Below:
        """Return what is known of what it releases, for the next mechanism."""
        guarantee = self.guarantee(below)
        return below._replace(
            horizon=self.horizon(below),
            sensitivity=self.sensitivity(below),
            gains_in_a_round=self.gains_in_a_round(below),
            guarantee=guarantee,
            withheld=guarantee.model == "none" and (below.withheld or self.withholds),
            noise=self.noise(below),
        )


def noise_of(env: Any) -> Noise:
    """Return what is public about the noise in an environment's observations."""
    if env.has_wrapper_attr("noise"):
        noise: Noise = env.get_wrapper_attr("noise")
        return noise
    return Noise(env.get_wrapper_attr("sensitivity"))


def after_noise_below(own: PrivacyGuarantee, below: Below) -> PrivacyGuarantee:
    """Return the guarantee of a mechanism with noise of its own above others that may have added some already."""
    inner = below.guarantee
    if inner is None:
        return own
    if inner.model != "none":
        # Either holds alone; the one below covers all that leaves it, so what is done above costs nothing.
        added = "" if own.model == "none" else "; the noise added above it is post-processing"
        return dataclasses.replace(inner, theorem=inner.theorem + added)
    if below.withheld and own.model != "none":
        return PrivacyGuarantee.none(
            "a mechanism below may withhold a gain because of its value, which noise above shows"
        )
    # What is below may keep true gains for a while, as batches do, so it must be trusted.
    return dataclasses.replace(own, model="central") if own.model == "local" else own


def for_rounds(own: PrivacyGuarantee, sensitivity: float, theorem: str) -> PrivacyGuarantee:
    """Turn a guarantee for one item of one arm's sum into one for a round, by the reason why that is the same."""
    if own.model == "none":
        return own
    reason = (
        "a round enters the sum of one arm, so arms compose in parallel"
        if sensitivity <= 1
        else f"a round moves all sums by at most {sensitivity:.4g}, which multiplies the noise"
    )
    return dataclasses.replace(own, neighbours=REPLACE_ONE_ROUND, theorem=f"{theorem}; {reason}")
