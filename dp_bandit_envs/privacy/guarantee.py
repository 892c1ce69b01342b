"""What is guaranteed, to whom, and why: one object that a reader can question."""

import dataclasses
import math
from typing import Final, Literal

from dp_bandit_envs import checks

REPLACE_ONE_ROUND: Final = "replace the gains of all arms in one round"
ANY_AGENT: Final = "any agent"


@dataclasses.dataclass(frozen=True)
class PrivacyGuarantee:
    """A differential privacy guarantee for everything that comes out of a game, all arms played included.

    For neighbouring games and every set S of outcomes, P(S) <= exp(epsilon) P'(S) + delta; and, where `rho` is given,
    rho-zero-concentrated differential privacy (Bun and Steinke 2016).

    Attributes:
        epsilon: In [0, inf]; inf means that there is no such guarantee.
        delta: In [0, 1).
        rho: The zCDP parameter, or None where none is claimed.
        neighbours: Which two games must be hard to tell apart.
        model: `"local"`: the gain is noisy before anyone stores it; `"central"`: a trusted part sees true gains;
            `"none"`: nothing is guaranteed.
        theorem: The reason, short enough to check.
        agents: For which agents it holds.
    """

    epsilon: float
    delta: float = 0.0
    rho: float | None = None
    neighbours: str = REPLACE_ONE_ROUND
    model: Literal["local", "central", "none"] = "central"
    theorem: str = ""
    agents: str = ANY_AGENT

    @classmethod
    def none(cls, reason: str) -> "PrivacyGuarantee":
        """State that nothing is guaranteed, and why."""
        return cls(epsilon=math.inf, model="none", theorem=reason)

    def epsilon_at(self, delta: float) -> float:
        """Return the smallest epsilon of an (epsilon, delta) guarantee that follows.

        The smaller of the pure guarantee and rho + 2 sqrt(rho ln(1 / delta)) (Bun and Steinke 2016, proposition 1.3).

        Args:
            delta: In (0, 1).
        """
        delta = checks.delta(delta)
        pure = self.epsilon if self.delta <= delta else math.inf
        if self.rho is None:
            return pure
        return min(pure, self.rho + 2 * math.sqrt(self.rho * math.log(1 / delta)))

    def __str__(self) -> str:
        if self.model == "none":
            return f"none: {self.theorem}"
        parts = [f"epsilon = {self.epsilon:.6g}"]
        if self.delta > 0:
            parts.append(f"delta = {self.delta:.3g}")
        if self.rho is not None:
            at = "" if self.delta > 0 else f" (epsilon = {self.epsilon_at(1e-6):.4g} at delta = 1e-06)"
            parts.append(f"zCDP rho = {self.rho:.4g}{at}")
        return f"{', '.join(parts)} ({self.model}; {self.neighbours}; {self.agents}): {self.theorem}"
