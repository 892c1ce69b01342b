"""A privacy guarantee as one object: its parameters, its neighbour relation, and the reason why it holds."""

import dataclasses
import math
from typing import Final, Literal

from dp_bandit_envs import checks
from dp_bandit_envs.privacy.renyi import RenyiCurve, epsilon_from_renyi

REPLACE_ONE_ROUND: Final = "replace the gains of all arms in one round"
ANY_AGENT: Final = "any agent"


@dataclasses.dataclass(frozen=True)
class PrivacyGuarantee:
    r"""A differential privacy guarantee for all releases of a game together with all arms played.

    For neighbouring games and every set S of outcomes, :math:`P(S) \le e^\epsilon P'(S) + \delta`; and, where `rho` is
    given, rho-zero-concentrated differential privacy (Bun and Steinke 2016).

    Attributes:
        epsilon: In [0, inf]; inf means that there is no such guarantee.
        delta: In [0, 1).
        rho: The zCDP parameter, or None where none is claimed.
        neighbours: How two neighbouring games differ.
        model: `"local"`: the gain is noisy before anyone stores it; `"central"`: a trusted part sees true gains;
            `"none"`: nothing is guaranteed.
        theorem: Why it holds, in a form short enough to check.
        agents: For which agents it holds.
        renyi: Pairs (order, divergence) of the whole game, orders greater than 1 and ascending, or None: the Renyi
            divergences of these orders are at most that, in both directions.
    """

    epsilon: float
    delta: float = 0.0
    rho: float | None = None
    neighbours: str = REPLACE_ONE_ROUND
    model: Literal["local", "central", "none"] = "central"
    theorem: str = ""
    agents: str = ANY_AGENT
    renyi: RenyiCurve | None = dataclasses.field(default=None, repr=False)

    @classmethod
    def none(cls, reason: str) -> "PrivacyGuarantee":
        """Make the statement that nothing is guaranteed, with the reason."""
        return cls(epsilon=math.inf, model="none", theorem=reason)

    def epsilon_at(self, delta: float) -> float:
        r"""Return the smallest known epsilon for which an (epsilon, delta) guarantee follows.

        The smallest of `epsilon`, if `delta` allows it, :math:`\rho + 2 \sqrt{\rho \ln(1 / \delta)}` (Bun and Steinke
        2016, proposition 1.3), and what `renyi` gives (`epsilon_from_renyi`).

        Args:
            delta: In (0, 1).
        """
        delta = checks.delta(delta)
        pure = self.epsilon if self.delta <= delta else math.inf
        if self.renyi is not None:
            pure = min(pure, epsilon_from_renyi(self.renyi, delta))
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
