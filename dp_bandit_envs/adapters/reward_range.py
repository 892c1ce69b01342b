"""The declared range of rewards that come from outside: private numbers become gains in [0, 1], or are refused."""

import math
from typing import Any, NamedTuple, Self, SupportsFloat

from dp_bandit_envs import checks
from dp_bandit_envs.protocols import FloatArray


class RewardRange(NamedTuple):
    """What is public about rewards; made by `checked`.

    The range must be known without looking at the rewards: their smallest and largest value would be private.

    Attributes:
        low: The reward that becomes the gain 0.
        high: The reward that becomes the gain 1.
        clip: Whether rewards outside count as the nearer end; otherwise they are refused.
    """

    low: float
    high: float
    clip: bool

    @classmethod
    def checked(cls, low: SupportsFloat, high: SupportsFloat, clip: bool) -> Self:
        """Return the range, or raise if it is none."""
        least, most = checks.real("low", low), checks.real("high", high)
        if not (least < most and math.isfinite(most - least)):
            raise ValueError(f"low must be less than high, and both finite; received low={low!r} and high={high!r}.")
        return cls(least, most, checks.boolean("clip", clip))

    def gain_of(self, reward: Any) -> float:
        """Return a reward as a gain in [0, 1].

        Raises:
            ValueError: If it is no number, or outside and not to be clipped. The message does not show it.
        """
        try:
            number = float(reward)
        except OverflowError:
            number = math.inf if reward > 0 else -math.inf
        except (TypeError, ValueError):
            number = math.nan
        if self.clip and not math.isnan(number):
            number = min(max(number, self.low), self.high)
        if not self.low <= number <= self.high:
            way_out = "Check where it comes from." if self.clip else "Use clip=True, or declare a wider range."
            raise ValueError(
                f"a reward must be a number in [{self.low:g}, {self.high:g}]; received another one, which is withheld"
                f" because it may be private. {way_out}"
            )
        return (number - self.low) / (self.high - self.low)

    def gains_of_means(self, means: FloatArray) -> FloatArray:
        """Return public mean rewards as mean gains, or raise if one is outside."""
        if not ((means >= self.low) & (means <= self.high)).all():
            raise ValueError(f"means must be in [{self.low:g}, {self.high:g}]; received {means.tolist()}.")
        gains: FloatArray = (means - self.low) / (self.high - self.low)
        return gains
