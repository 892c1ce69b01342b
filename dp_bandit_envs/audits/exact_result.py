"""What an exact audit found, beside what is declared."""

import dataclasses
import math

from dp_bandit_envs.privacy.gaussian import gaussian_epsilon
from dp_bandit_envs.privacy.guarantee import PrivacyGuarantee
from dp_bandit_envs.protocols import FloatArray

TOLERANCE = 1e-9
"""A loss is within a claim up to this relative difference, which is that of the arithmetic."""
LAW = 1e-12
"""For laws of an agent's draws, the difference of sums of logarithms may be off by this much."""


@dataclasses.dataclass(frozen=True)
class ExactLoss:
    """The exact privacy loss of one game, and what is declared.

    Attributes:
        name: The algorithm's or mechanism's name.
        declared: The guarantee that is declared.
        by_round: The pure loss if a round's gains change, `(rounds,)`, in nats; for normal draws rho instead. For an
            agent's own draws, and where the pure loss of Laplace draws is above the claim, that at the declared delta.
        gaussian: Whether the noise is normal.
        arms: The arms that were held, `(rounds,)`, all 0 where actions are points; for an agent's own draws, the arms
            that tell neighbours apart best.
        drawn_rho: For an agent's own draws, the largest Renyi divergence over its order; otherwise None.
        differs: The drivers that released something else for the same draws, of those that were asked for.
        attained: Whether so much is really lost; otherwise it is an upper bound, as where noisy numbers are clipped.
    """

    name: str
    declared: PrivacyGuarantee
    by_round: FloatArray
    gaussian: bool
    arms: tuple[int, ...]
    drawn_rho: float | None = None
    differs: tuple[str, ...] = ()
    attained: bool = True

    def __str__(self) -> str:
        exact = "exact" if self.attained else "at most"
        claim = f"declared epsilon = {self.declared.epsilon:.6g}"
        return f"{self.name}: {claim}, {exact} {self.epsilon:.6g}: {self.verdict}"

    @property
    def verdict(self) -> str:
        """What follows, in words."""
        if self.declared.model == "none" and not self.differs:
            return "nothing is declared"
        if self.holds:
            return "within the claim"
        return "refuted" if self.refuted else "neither within the claim nor refuted; use sampled_loss"

    @property
    def refuted(self) -> bool:
        """Whether more than is declared is really lost, or a driver releases something else."""
        return not self.holds and (self.attained or bool(self.differs))

    @property
    def rho(self) -> float | None:
        """The exact zCDP parameter of the worst round for normal draws and for an agent's own, otherwise None."""
        return float(self.by_round.max()) if self.gaussian else self.drawn_rho

    @property
    def epsilon(self) -> float:
        """The smallest epsilon that holds, in [0, inf]: at the declared delta, or at delta = 0; see `by_round`."""
        worst = float(self.by_round.max())
        if not self.gaussian or worst in (0.0, math.inf):
            return worst
        if not self.declared.delta > 0:
            return math.inf
        return gaussian_epsilon(1 / math.sqrt(2 * worst), self.declared.delta)

    @property
    def ratio(self) -> float:
        """The exact epsilon over the declared one; nan where none is declared, or 0 is."""
        claim = self.declared.epsilon
        return self.epsilon / claim if 0 < claim < math.inf else math.nan

    @property
    def holds(self) -> bool:
        """Whether the exact loss is within the claim, where any is declared, and no driver releases something else."""
        if self.differs:
            return False
        if self.declared.model == "none":
            return True
        slack = 0.0 if self.drawn_rho is None else LAW
        if self.rho is not None and self.declared.rho is not None:
            within = self.rho <= self.declared.rho * (1 + TOLERANCE) + slack
            if self.gaussian or not within:
                return within
        # The search for epsilon at a delta has a relative error of its own.
        return self.epsilon <= self.declared.epsilon * (1 + (2 if self.gaussian else 1) * TOLERANCE) + slack
