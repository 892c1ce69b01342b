"""The games in which algorithms are compared: stable arms with several gaps, a drifting one, or recorded outcomes."""

from collections.abc import Callable, Sequence
from typing import Final, Literal, NamedTuple

from dp_bandit_envs.adversaries import Adversary
from dp_bandit_envs.adversaries.outcome_pools import OutcomePools
from dp_bandit_envs.advice.fading_arms import FadingArms
from dp_bandit_envs.advice.shuffled_arms import ShuffledCoins, ShuffledPools
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.protocols import FloatArray

GAPS: Final = (0.05, 0.1, 0.3)
"""The gaps by default: 5 to 30 more successes of a hundred with the best arm."""


class Situation(NamedTuple):
    """A kind of game.

    Attributes:
        name: What it is called in tables.
        kind: `"stable"` if every arm's outcomes come in random order, with means that do not change; or `"drifting"`.
        adversary: Returns the adversary of a game of so many rounds.
        n_arms: Number of arms K.
        uniform: The mean regret of uniform play in each round, where arms are stable; otherwise 0.
    """

    name: str
    kind: Literal["stable", "drifting"]
    adversary: Callable[[int], Adversary]
    n_arms: int
    uniform: float

    def game(self, horizon: int) -> BanditEnv:
        """Return a game of so many rounds."""
        return BanditEnv(self.adversary(horizon))


def made_up(n_arms: int, gaps: Sequence[float]) -> list[Situation]:
    """Return a stable game for each gap, and one in which arms drift by the largest gap.

    In a stable game the best arm succeeds with probability (1 + gap) / 2, and each other with (1 - gap) / 2.
    """
    return [*(_stable(n_arms, gap) for gap in gaps), drifting(n_arms, max(gaps))]


def drifting(n_arms: int, gap: float) -> Situation:
    """Return a game in which the arm that looks best at first fades."""
    size = min(gap, 0.5)
    name = f"effects drift: the arm that is best at first falls by {2 * size:g} after a third of the rounds"
    return Situation(name, "drifting", lambda horizon: FadingArms(n_arms, horizon, gap=size), n_arms, 0.0)


def of_records(pools: Sequence[FloatArray], name: str) -> Situation:
    """Return a game in which each arm pays its recorded outcomes in random order, again and again."""
    means = OutcomePools(pools, 1).means
    assert means is not None
    uniform = float(means.max() - means.mean())
    return Situation(
        f"outcomes of {name}", "stable", lambda horizon: ShuffledPools(pools, horizon), len(pools), uniform
    )


def _stable(n_arms: int, gap: float) -> Situation:
    means = [(1 + gap) / 2, *[(1 - gap) / 2] * (n_arms - 1)]
    name = f"effects stay, and the best arm is ahead by {gap:g}"
    uniform = gap * (n_arms - 1) / n_arms
    return Situation(name, "stable", lambda horizon: ShuffledCoins(means, horizon), n_arms, uniform)
