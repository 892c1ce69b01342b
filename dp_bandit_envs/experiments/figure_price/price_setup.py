"""The algorithms and sizes of price-of-privacy, its four experiments, and how to find their numbers."""

import math
from typing import Any, NamedTuple

from dp_bandit_envs import checks
from dp_bandit_envs.experiments.figure_price.price_games import (
    ARMS,
    BALL,
    EASY,
    EXPERTS,
    FULL,
    MANY,
    PAYOFFS,
    Game,
    game_spec,
)
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
VIEW = View(centre="mean", scale="log", claimed_by="The literature")

PAPER, K_ARY, OWN, GAUSSIAN = "AS-FTRL", "AS-FTRL, k-ary", "AS-FTRL, k-ary own-norm", "DP-FTRL"
PERTURBED, FRESH = "AS-FTPL", "Noisy-Hedge"
FREE, LOST = "FTRL", "no learning"
HEDGE, COINS, LAZY, EPOCHS = "Hedge", "DP-Hedge", "Lazy-Hedge", "DP-Epochs"
SMALLEST = "AS-EXP2, smallest-bound"
PARAMETERS: dict[str, tuple[str, dict[str, Any]]] = {
    FREE: ("AS-FTRL", {"epsilon": math.inf, "counter": "binary"}),
    LOST: ("AS-FTRL", {"epsilon": math.inf, "counter": "binary", "learning_rate": 1e-9}),
    K_ARY: ("AS-FTRL", {"counter": "k-ary"}),
    OWN: ("AS-FTRL", {"counter": "k-ary", "noise": "own-norm"}),
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
        "over-horizon": (over_horizon(horizon), trials),
        "over-epsilon": (over_epsilon(min(horizon, SWEEP_HORIZON)), trials),
        "exponents": (exponents(horizon), fewer),
        "many-experts": (many_experts(min(horizon, MANY_HORIZON)), fewer),
    }
    return tuple(
        Experiment(name, panels, (), None, games, seed, checkpoints="log") for name, (panels, games) in parts.items()
    )


def over_horizon(horizon: int) -> tuple[GameSpec, ...]:
    """Return the games over T: gaps shrink, so that they are as hard at every length."""
    found = []
    for prices in PANELS.values():
        for game in dict.fromkeys(price.game for price in prices):
            names = _with_free([price for price in prices if price.game is game])
            lost = "Uniform" if game is ARMS else LOST
            names += [] if game in (PAYOFFS, MANY) else [lost]
            found += [game_spec(game, length, _specs(names)) for length in lengths(horizon, LENGTHS)]
    return tuple(found)


def over_epsilon(horizon: int) -> tuple[GameSpec, ...]:
    """Return the games over epsilon, one for each game with full information, at the same gap."""
    specs = [_spec(FREE)] + [_spec(name, epsilon) for name in OVER_EPSILON for epsilon in LEVELS]
    return tuple(game_spec(game, horizon, specs, gap=EASY) for game in FULL)


def exponents(horizon: int) -> tuple[GameSpec, ...]:
    """Return the games for exponents: of T and of the dimension; bandits also of epsilon. All have the same gap."""
    found = []
    for game, prices in MEASURED.items():
        names = _with_free(prices)
        for length in lengths(min(horizon, EXPONENT_HORIZON), EXPONENT_LENGTHS):
            found.append(game_spec(game, length, _specs(names), gap=EASY, kind="length"))
        length = min(horizon, SWEEP_HORIZON)
        for size in sizes_of(game):
            found.append(game_spec(game, length, _specs(names), gap=EASY, dimension=size, kind="size"))
        if game not in FULL:
            levels = [_spec(price.private, epsilon) for price in prices for epsilon in LEVELS]
            found.append(game_spec(game, length, levels, gap=EASY, kind="epsilon"))
    return tuple(found)


def many_experts(horizon: int) -> tuple[GameSpec, ...]:
    """Return the games with many experts, of which one is drawn in each round."""
    specs = _specs(_with_free(OVER_DIMENSION))
    return tuple(game_spec(MANY, horizon, specs, gap=EASY, dimension=number) for number in NUMBERS_OF_EXPERTS)


def sizes_of(game: Game) -> tuple[int, ...]:
    """Return the dimensions, or numbers of arms, from which a game's exponent is measured."""
    if game is ARMS:
        return ARM_SIZES
    return FULL_SIZES if game in FULL else POINT_SIZES


def label_at(name: str, epsilon: float) -> str:
    """Return the label of an algorithm where its epsilon varies."""
    return f"{name}, epsilon = {epsilon:g}"


def longest(results: Results) -> int:
    """Return the number of rounds of the longest game."""
    return max(int(panel.env_kwargs["horizon"]) for panel in results.experiment.panels)


def last(results: Results, panel: str, name: str) -> FloatArray:
    """Return each game's regret after the last round, shape `(trials,)`."""
    regret: FloatArray = results.regret(panel, name, VIEW.measure)[:, -1]
    return regret


def _with_free(prices: list[Price] | tuple[Price, ...]) -> list[str]:
    return list(dict.fromkeys(name for price in prices for name in (price.free, price.private)))


def _specs(names: list[str]) -> list[AlgorithmSpec]:
    return [_spec(name) for name in names]


def _spec(label: str, epsilon: float | None = None) -> AlgorithmSpec:
    """Return the algorithm of a label, at epsilon = 1 or at a level, which is then a part of the label."""
    name, parameters = PARAMETERS.get(label, (label, {}))
    level = {} if epsilon is None else {"epsilon": epsilon}
    shown = label if epsilon is None else label_at(label, epsilon)
    return AlgorithmSpec(name, {**parameters, **level}, None if shown == name else shown)
