"""What is played for the price of privacy: games that a learner loses slowly, at many lengths, sizes and levels."""

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import gymnasium as gym

from dp_bandit_envs import checks
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.protocols import FloatArray
from dp_bandit_envs.runs.experiment import AlgorithmSpec, Experiment, GameSpec, Results
from dp_bandit_envs.runs.run_report import View

HORIZON = 2**20
"""Rounds of the longest games over T; the others have a quarter of the next longer one's, down to 2^10."""
LENGTHS = 6
SWEEP_HORIZON = 2**16
"""Rounds of the games in which epsilon or the dimension varies."""
EXPONENT_HORIZON = 2**18
EXPONENT_LENGTHS = 4
MANY_HORIZON = 2**13
"""Rounds of the games with many experts; with 10^4 of them, a round of a private sum takes about 0.1 ms."""
TRIALS = 60
FEWER = 20
"""Number of games for exponents and with many experts."""
EPSILON = 1.0
LEVELS = (0.1, 0.3, 1.0, 3.0, 10.0)
FULL_SIZES = (5, 10, 20)
POINT_SIZES = (2, 4, 8, 16)
ARM_SIZES = (4, 8, 16, 32)
"""From 4 on, as of K arms one is the best, and playing at random costs (K - 1) / K of the gap."""
NUMBERS_OF_EXPERTS = (10, 100, 1_000, 10_000)
EASY = 0.5
"""The gap of the games over epsilon and dimension, and of those for exponents.

With a gap of order 1 / sqrt(T) no regret can exceed the order of sqrt(T), which would hide how large the price is.
"""
VIEW = View(centre="mean", scale="log", claimed_by="The literature")


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

    def hard(self, horizon: int) -> float:
        """Return the gap of the games over T, at most 1."""
        return min(self.hard_gap(self.dimension, horizon), 1.0)

    def key(self, horizon: int, dimension: int | None = None, kind: str = "") -> str:
        """Return the key of its panel with these sizes."""
        return f"{self.name}{kind and '-'}{kind}-{self.size}{dimension or self.dimension}-T{horizon}"

    def env_kwargs(self, dimension: int, horizon: int, gap: float) -> dict[str, Any]:
        """Return the arguments of its environment, as plain JSON values."""
        more = {"horizon": horizon, **dict(self.arguments)}
        if self.means:
            return {"means": [(1 + gap) / 2] + [(1 - gap) / 2] * (dimension - 1), **more}
        return {"dimension": dimension, "gap": gap, **more}

    def make(self, horizon: int, dimension: int | None = None) -> BanditEnv:
        """Return its environment at a length, with its hard gap, at the usual size or another."""
        arguments = self.env_kwargs(dimension or self.dimension, horizon, self.hard(horizon))
        game = gym.make(self.env_id, **arguments).unwrapped
        assert isinstance(game, BanditEnv)
        return game

    def panel(
        self,
        horizon: int,
        contestants: Sequence[AlgorithmSpec],
        *,
        gap: float | None = None,
        dimension: int | None = None,
        kind: str = "",
    ) -> GameSpec:
        """Return a panel: the game at a length, by default with its hard gap and its usual size."""
        size = dimension or self.dimension
        ahead = self.hard(horizon) if gap is None else gap
        return GameSpec(
            key=self.key(horizon, dimension, kind),
            title=f"{self.title}, {self.size} = {size:,}, T = {horizon:,}, gap {ahead:.3g}",
            env_id=self.env_id,
            env_kwargs=self.env_kwargs(size, horizon, ahead),
            contestants=tuple(contestants),
        )


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

PAPER, K_ARY, OWN, GAUSSIAN = "AS-FTRL", "AS-FTRL, k-ary", "AS-FTRL, k-ary own-norm", "DP-FTRL"
PERTURBED, FRESH = "AS-FTPL", "Noisy-Hedge"
FREE, LOST = "FTRL", "no learning"
HEDGE, COINS, LAZY, EPOCHS = "Hedge", "DP-Hedge", "Lazy-Hedge", "DP-Epochs"
SMALLEST = "AS-EXP2, smallest-bound"
PARAMETERS: dict[str, tuple[str, dict[str, Any]]] = {
    FREE: (PAPER, {"epsilon": math.inf, "counter": "binary"}),
    LOST: (PAPER, {"epsilon": math.inf, "counter": "binary", "learning_rate": 1e-9}),
    K_ARY: (PAPER, {"counter": "k-ary"}),
    OWN: (PAPER, {"counter": "k-ary", "noise": "own-norm"}),
    SMALLEST: ("AS-EXP2", {"rates": "smallest-bound"}),
}
"""The algorithm and parameters of labels that are not just an algorithm's name."""


class Price(NamedTuple):
    """A private algorithm, and the one without privacy whose regret its own is divided by, in one game."""

    private: str
    free: str
    game: Game

    def __str__(self) -> str:
        return f"{self.private}, {self.game.name}"


PANELS = {
    "experts": (
        *(Price(name, FREE, EXPERTS) for name in (PAPER, K_ARY, OWN, GAUSSIAN)),
        Price(COINS, HEDGE, MANY),
        Price(FRESH, FREE, EXPERTS),
    ),
    "ball": tuple(Price(name, FREE, BALL) for name in (PAPER, K_ARY, OWN, GAUSSIAN, PERTURBED, FRESH)),
    "bandits": (
        Price("AS-EXP2", "EXP3", ARMS),
        Price(SMALLEST, "EXP3", ARMS),
        Price("AS-SCRiBLe", "SCRiBLe", PAYOFFS),
        Price("AS-OSMD", "OSMD", PAYOFFS),
    ),
}
"""The lines of the panels over T; DP-Hedge is private by the draws of its experts, so they are drawn."""
OVER_EPSILON = (PAPER, OWN)
"""Algorithms of the panel over epsilon, in the games with full information."""
OVER_DIMENSION = tuple(Price(name, HEDGE, MANY) for name in (OWN, COINS, LAZY, EPOCHS))
MEASURED = {
    **{game: tuple(Price(name, FREE, game) for name in OVER_EPSILON) for game in FULL},
    PAYOFFS: PANELS["bandits"][2:],
    ARMS: PANELS["bandits"][:1],
}
"""The algorithms whose exponents are measured, by game; the first one decides."""


def lengths(longest: int, number: int) -> tuple[int, ...]:
    """Return a number of horizons, each a quarter of the next, ascending; none below 4."""
    return tuple(longest // 4**step for step in reversed(range(number)) if step == 0 or longest // 4**step >= 4)


def experiments(*, horizon: int = HORIZON, trials: int = TRIALS, seed: int = 0) -> tuple[Experiment, ...]:
    """Return the four experiments: over T, over epsilon, for exponents, and with many experts.

    Args:
        horizon: Rounds of the longest games; no game is longer, and lengths that are shorter anyway stay.
        trials: Number of games of each algorithm; at most 20 in the last two.
        seed: The seed.
    """
    horizon = checks.integer("horizon", horizon, at_least=1)
    trials = checks.integer("trials", trials, at_least=1)
    fewer = min(trials, FEWER)
    parts = {
        "over-horizon": (_over_horizon(horizon), trials),
        "over-epsilon": (_over_epsilon(min(horizon, SWEEP_HORIZON)), trials),
        "exponents": (_exponents(horizon), fewer),
        "many-experts": (_many_experts(min(horizon, MANY_HORIZON)), fewer),
    }
    return tuple(
        Experiment(name, tuple(panels), (), None, games, seed, checkpoints="log")
        for name, (panels, games) in parts.items()
    )


def _over_horizon(horizon: int) -> list[GameSpec]:
    """Return the games over T: gaps shrink, so that they are as hard at every length."""
    found = []
    for prices in PANELS.values():
        for game in dict.fromkeys(price.game for price in prices):
            specs = _specs([price for price in prices if price.game is game])
            if game not in (PAYOFFS, MANY):
                specs.append(_spec("Uniform" if game is ARMS else LOST))
            found += [game.panel(length, specs) for length in lengths(horizon, LENGTHS)]
    return found


def _over_epsilon(horizon: int) -> list[GameSpec]:
    """Return the games over epsilon, one for each game with full information, at the same gap."""
    specs = [_spec(FREE)] + [_spec(name, epsilon) for name in OVER_EPSILON for epsilon in LEVELS]
    return [game.panel(horizon, specs, gap=EASY) for game in FULL]


def _exponents(horizon: int) -> list[GameSpec]:
    """Return the games for exponents: of T and of the dimension; bandits also of epsilon. All have the same gap."""
    found = []
    for game, prices in MEASURED.items():
        specs, middle = _specs(prices), min(horizon, SWEEP_HORIZON)
        for length in lengths(min(horizon, EXPONENT_HORIZON), EXPONENT_LENGTHS):
            found.append(game.panel(length, specs, gap=EASY, kind="length"))
        for size in sizes_of(game):
            found.append(game.panel(middle, specs, gap=EASY, dimension=size, kind="size"))
        if game not in FULL:
            levels = [_spec(price.private, epsilon) for price in prices for epsilon in LEVELS]
            found.append(game.panel(middle, levels, gap=EASY, kind="epsilon"))
    return found


def _many_experts(horizon: int) -> list[GameSpec]:
    """Return the games with many experts, of which one is drawn in each round."""
    specs = _specs(OVER_DIMENSION)
    return [MANY.panel(horizon, specs, gap=EASY, dimension=number) for number in NUMBERS_OF_EXPERTS]


def sizes_of(game: Game) -> tuple[int, ...]:
    """Return the dimensions, or numbers of arms, from which a game's exponent is measured."""
    if game is ARMS:
        return ARM_SIZES
    return FULL_SIZES if game in FULL else POINT_SIZES


def label_at(name: str, epsilon: float) -> str:
    """Return the label of an algorithm where its epsilon varies."""
    return f"{name}, epsilon = {epsilon:g}"


def _specs(prices: Sequence[Price]) -> list[AlgorithmSpec]:
    """Return all algorithms of some prices, each once."""
    return [_spec(name) for name in dict.fromkeys(name for price in prices for name in (price.free, price.private))]


def _spec(label: str, epsilon: float | None = None) -> AlgorithmSpec:
    """Return the algorithm of a label, at epsilon = 1 or at a level, which is then a part of the label."""
    name, parameters = PARAMETERS.get(label, (label, {}))
    level = {} if epsilon is None else {"epsilon": epsilon}
    shown = label if epsilon is None else label_at(label, epsilon)
    return AlgorithmSpec(name, {**parameters, **level}, None if shown == name else shown)


def longest(results: Results) -> int:
    """Return the number of rounds of the longest game."""
    return max(int(panel.env_kwargs["horizon"]) for panel in results.experiment.panels)


def last(results: Results, panel: str, name: str) -> FloatArray:
    """Return each game's regret after the last round, shape `(trials,)`."""
    regret: FloatArray = results.regret(panel, name, VIEW.measure)[:, -1]
    return regret


def in_powers(horizon: int | None, most: int | None = None) -> str:
    """Return a horizon in words; None is none, up to `most`."""
    if horizon is None:
        return "none" if most is None else f"none up to {in_powers(most)}"
    power = horizon.bit_length() - 1
    return f"2^{power}" if horizon == 2**power else f"{horizon:,}"
