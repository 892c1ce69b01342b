"""The games of price-of-privacy: what is played, how large, and by how much the best choice is ahead."""

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import gymnasium as gym

from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.runs.experiment import AlgorithmSpec, GameSpec


class Game(NamedTuple):
    """A game of any size.

    Attributes:
        name: Its name in keys and in words.
        title: Its name in titles.
        env_id: A registered id.
        size: What its size is called, `"d"` or `"K"`.
        dimension: Its size where that does not vary.
        hard_gap: By how much the best choice is ahead for `(dimension, horizon)`, so that regret grows like sqrt(T).
        means: Whether its arguments are the means of arms, instead of a dimension and a gap.
        arguments: Its further arguments.
    """

    name: str
    title: str
    env_id: str
    size: str
    dimension: int
    hard_gap: Callable[[int, int], float]
    means: bool = False
    arguments: tuple[tuple[str, Any], ...] = ()

    def env_kwargs(self, dimension: int, horizon: int, gap: float) -> dict[str, Any]:
        """Return the arguments of its environment, as plain JSON values."""
        more = {"horizon": horizon, **dict(self.arguments)}
        if self.means:
            return {"means": [(1 + gap) / 2] + [(1 - gap) / 2] * (dimension - 1), **more}
        return {"dimension": dimension, "gap": gap, **more}

    def make(self, horizon: int, dimension: int | None = None) -> BanditEnv:
        """Return its environment at a length, at the usual size or another."""
        arguments = self.env_kwargs(dimension or self.dimension, horizon, self.hard(horizon))
        game = gym.make(self.env_id, **arguments).unwrapped
        assert isinstance(game, BanditEnv)
        return game

    def hard(self, horizon: int) -> float:
        """Return the gap of the games over T, at most 1."""
        return min(self.hard_gap(self.dimension, horizon), 1.0)

    def key(self, horizon: int, dimension: int | None = None, kind: str = "") -> str:
        """Return the key of its panel with these sizes."""
        return f"{self.name}{kind and '-'}{kind}-{self.size}{dimension or self.dimension}-T{horizon}"


EXPERTS = Game("experts", "Experts", "DPBandit-Simplex-v0", "d", 10, lambda d, t: 2 * math.sqrt(math.log(d) / t))
BALL = Game("ball", "Ball", "DPBandit-Ball-v0", "d", 10, lambda d, t: 2 * math.sqrt(d / t))
CUBE = Game("cube", "Cube", "DPBandit-Cube-v0", "d", 10, lambda d, t: 2 * math.sqrt(d / t))
ARMS = Game(
    "arms", "Arms", "DPBandit-Stochastic-v0", "K", 4, lambda k, t: 6 * math.sqrt(k * math.log(k) / t), means=True
)
PAYOFFS = Game(
    "ball with payoffs only",
    "Ball, payoffs only",
    "DPBandit-Ball-v0",
    "d",
    5,
    lambda d, t: 14 * math.sqrt(d / t),
    arguments=(("feedback", "bandit"),),
)
MANY = Game("drawn experts", "Experts, drawn", "DPBandit-Experts-v0", "d", 10, EXPERTS.hard_gap, means=True)
FULL = (EXPERTS, BALL, CUBE)
"""Games in which a round reveals its whole gain vector."""
EASY = 0.5
"""The gap of the games over epsilon and dimension, and of those for exponents.

With a gap of order 1 / sqrt(T) no regret can exceed the order of sqrt(T), which would hide how large the price is.
"""


def game_spec(
    game: Game,
    horizon: int,
    contestants: Sequence[AlgorithmSpec],
    *,
    gap: float | None = None,
    dimension: int | None = None,
    kind: str = "",
) -> GameSpec:
    """Return a panel: a game at a length, by default with its hard gap and its usual size."""
    size = dimension or game.dimension
    ahead = game.hard(horizon) if gap is None else gap
    return GameSpec(
        key=game.key(horizon, dimension, kind),
        title=f"{game.title}, {game.size} = {size:,}, T = {horizon:,}, gap {ahead:.3g}",
        env_id=game.env_id,
        env_kwargs=game.env_kwargs(size, horizon, ahead),
        contestants=tuple(contestants),
    )
