"""The games of price-of-privacy: environments, algorithms, lengths, and gaps of the best choice."""

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from dp_bandit_envs import checks
from dp_bandit_envs.algorithms.specs import AlgorithmSpec, GameSpec
from dp_bandit_envs.experiments.experiment import Experiment, Results
from dp_bandit_envs.experiments.report import View
from dp_bandit_envs.figures.judging import Estimate, ratio_of_means
from dp_bandit_envs.protocols import FloatArray

HORIZON = 2**20
"""Rounds of the longest games over T; the others have a quarter of the next longer one's, down to 2^10."""
LENGTHS = 6
SWEEP_HORIZON = 2**16
"""Rounds of the games with varying epsilon or dimension."""
EXPONENT_HORIZON = 2**18
EXPONENT_LENGTHS = 4
MANY_HORIZON = 2**13
"""Rounds of the games with many experts; with 10^4 of them, a round of a private sum takes about 0.1 ms."""
TRIALS = 60
FEWER = 20
"""Number of games for exponents and with many experts."""
EPSILON = 1.0
LEVELS = (0.1, 0.3, 1.0, 3.0, 10.0)
SMALL = tuple(level for level in LEVELS if level <= EPSILON)
"""The values of epsilon for the exponent: at larger values the price is too small."""
NUMBERS_OF_EXPERTS = (10, 100, 1_000, 10_000)
EASY = 0.5
"""The gap of the games over epsilon and dimension, and of those for exponents.

With a gap of order 1 / sqrt(T) no regret can exceed the order of sqrt(T), which would hide how large the price is.
"""
VIEW = View(centre="mean", scale="log", claimed_by="The literature")


class SizedGame(NamedTuple):
    """A game of any size.

    Attributes:
        name, title: Its name in keys and in words, and in titles.
        env_id: A registered id.
        size: Symbol of its size, `"d"` or `"K"`.
        dimension: Its size if constant.
        sizes: Its sizes for measuring an exponent.
        hard_gap: Gap of the best choice for `(dimension, horizon)`, so that regret grows like sqrt(T).
        means: Whether its arguments are the arms' means, instead of a dimension and a gap.
        arguments: Its further arguments.
    """

    name: str
    title: str
    env_id: str
    size: str
    dimension: int
    sizes: tuple[int, ...]
    hard_gap: Callable[[int, int], float]
    means: bool = False
    arguments: tuple[tuple[str, Any], ...] = ()

    def key(self, horizon: int, dimension: int | None = None, kind: str = "") -> str:
        """Return the key of the game with these sizes."""
        return f"{self.name}{kind and '-'}{kind}-{self.size}{dimension or self.dimension}-T{horizon}"

    def spec(
        self,
        horizon: int,
        algorithms: Sequence[AlgorithmSpec],
        *,
        gap: float | None = None,
        dimension: int | None = None,
        kind: str = "",
    ) -> GameSpec:
        """Return the game at a length, by default with its hard gap, at most 1, and its usual size."""
        size = dimension or self.dimension
        ahead = min(self.hard_gap(self.dimension, horizon), 1.0) if gap is None else gap
        sized: dict[str, Any] = {"dimension": size, "gap": ahead}
        if self.means:
            sized = {"means": [(1 + ahead) / 2] + [(1 - ahead) / 2] * (size - 1)}
        return GameSpec(
            key=self.key(horizon, dimension, kind),
            title=f"{self.title}, {self.size} = {size:,}, T = {horizon:,}, gap {ahead:.3g}",
            env_id=self.env_id,
            env_kwargs={**sized, "horizon": horizon, **dict(self.arguments)},
            algorithms=tuple(algorithms),
        )


def _least(factor: float) -> Callable[[int, int], float]:
    return lambda d, t: factor * math.sqrt(d / t)


EXPERTS = SizedGame(
    "experts", "Experts", "DPBandit-Simplex-v0", "d", 10, (5, 10, 20), lambda d, t: 2 * math.sqrt(math.log(d) / t)
)
BALL = SizedGame("ball", "Ball", "DPBandit-Ball-v0", "d", 10, (5, 10, 20), _least(2))
CUBE = SizedGame("cube", "Cube", "DPBandit-Cube-v0", "d", 10, (5, 10, 20), _least(2))
# From 4 arms on, as of K arms one is the best, and playing at random costs (K - 1) / K of the gap.
ARMS = SizedGame(
    "arms",
    "Arms",
    "DPBandit-Stochastic-v0",
    "K",
    4,
    (4, 8, 16, 32),
    lambda k, t: 6 * math.sqrt(k * math.log(k) / t),
    means=True,
)
PAYOFFS = SizedGame(
    "ball with payoffs only",
    "Ball, payoffs only",
    "DPBandit-Ball-v0",
    "d",
    5,
    (2, 4, 8, 16),
    _least(14),
    arguments=(("feedback", "bandit"),),
)
MANY = SizedGame("drawn experts", "Experts, drawn", "DPBandit-Experts-v0", "d", 10, (), EXPERTS.hard_gap, means=True)
FULL = (EXPERTS, BALL, CUBE)
"""Games with full information."""

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
    """A private algorithm and its non-private baseline, the denominator of the regret ratio, in one game."""

    private: str
    free: str
    game: SizedGame

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
"""The algorithms whose exponents are measured, by game; the first algorithm decides."""


def experiments(*, horizon: int = HORIZON, trials: int = TRIALS, seed: int = 0) -> tuple[Experiment, ...]:
    """Return the four experiments: over T, over epsilon, for exponents, and with many experts.

    Games are at most `horizon` rounds long; the last two experiments have at most 20 games of each algorithm.
    """
    horizon = checks.integer("horizon", horizon, at_least=1)
    trials = checks.integer("trials", trials, at_least=1)
    middle, short = min(horizon, SWEEP_HORIZON), min(horizon, MANY_HORIZON)
    levels = [_spec(FREE)] + [_spec(name, epsilon) for name in OVER_EPSILON for epsilon in LEVELS]
    many = _specs(OVER_DIMENSION)
    sweeps_played = {
        "over-horizon": (_over_horizon(horizon), trials),
        "over-epsilon": ([game.spec(middle, levels, gap=EASY) for game in FULL], trials),
        "exponents": (_exponents(horizon), min(trials, FEWER)),
        "many-experts": (
            [MANY.spec(short, many, gap=EASY, dimension=number) for number in NUMBERS_OF_EXPERTS],
            min(trials, FEWER),
        ),
    }
    return tuple(
        Experiment(name, tuple(specs), (), None, games, seed, checkpoints="log")
        for name, (specs, games) in sweeps_played.items()
    )


def lengths(longest: int, number: int) -> tuple[int, ...]:
    """Return a number of horizons, each a quarter of the next, ascending; none below 4."""
    return tuple(longest // 4**step for step in reversed(range(number)) if step == 0 or longest // 4**step >= 4)


def _over_horizon(horizon: int) -> list[GameSpec]:
    """Return the games over T: gaps shrink, so that all lengths are equally hard."""
    specs = []
    for prices in PANELS.values():
        for game in dict.fromkeys(price.game for price in prices):
            algorithms = _specs([price for price in prices if price.game is game])
            if game not in (PAYOFFS, MANY):
                algorithms.append(_spec("Uniform" if game is ARMS else LOST))
            specs += [game.spec(length, algorithms) for length in lengths(horizon, LENGTHS)]
    return specs


class SweepGame(NamedTuple):
    """A game of a sweep: the varying value, its key, its length and size, and epsilon if that varies."""

    value: float
    key: str
    horizon: int
    size: int
    epsilon: float | None = None


def sweeps(horizon: int, game: SizedGame) -> dict[str, list[SweepGame]]:
    """Return the games with varying T, size and epsilon, for exponents."""
    d, middle = game.dimension, min(horizon, SWEEP_HORIZON)
    horizons = lengths(min(horizon, EXPONENT_HORIZON), EXPONENT_LENGTHS)
    levels = game.key(middle) if game in FULL else game.key(middle, kind="epsilon")
    return {
        "T": [SweepGame(length, game.key(length, kind="length"), length, d) for length in horizons],
        game.size: [SweepGame(size, game.key(middle, size, "size"), middle, size) for size in game.sizes],
        "1 / epsilon": [SweepGame(1 / each, levels, middle, d, each) for each in SMALL],
    }


def _exponents(horizon: int) -> list[GameSpec]:
    """Return the games for exponents: of T and of the dimension; bandits also of epsilon. All have the same gap."""
    specs = []
    for game, prices in MEASURED.items():
        algorithms, (over_t, over_size, over_epsilon) = _specs(prices), sweeps(horizon, game).values()
        specs += [game.spec(one.horizon, algorithms, gap=EASY, kind="length") for one in over_t]
        specs += [game.spec(one.horizon, algorithms, gap=EASY, dimension=one.size, kind="size") for one in over_size]
        if game not in FULL:
            levels = [_spec(price.private, epsilon) for price in prices for epsilon in LEVELS]
            specs.append(game.spec(over_epsilon[0].horizon, levels, gap=EASY, kind="epsilon"))
    return specs


def label_at(name: str, epsilon: float) -> str:
    """Return the label of an algorithm for varying epsilon."""
    return f"{name}, epsilon = {epsilon:g}"


def _specs(prices: Sequence[Price]) -> list[AlgorithmSpec]:
    return [_spec(name) for name in dict.fromkeys(name for price in prices for name in (price.free, price.private))]


def _spec(label: str, epsilon: float | None = None) -> AlgorithmSpec:
    """Return the algorithm of a label, at epsilon = 1 or at a level in the label."""
    name, parameters = PARAMETERS.get(label, (label, {}))
    level = {} if epsilon is None else {"epsilon": epsilon}
    full_label = label if epsilon is None else label_at(label, epsilon)
    return AlgorithmSpec(name, {**parameters, **level}, "" if full_label == name else full_label)


def longest(results: Results) -> int:
    """Return the number of rounds of the longest game."""
    return max(int(spec.env_kwargs["horizon"]) for spec in results.experiment.games)


def last(results: Results, game: str, name: str) -> FloatArray:
    """Return each game's regret after the last round, shape `(trials,)`."""
    regret: FloatArray = results.regret(game, name, VIEW.measure)[:, -1]
    return regret


def over_horizon(results: Results, price: Price) -> dict[int, tuple[FloatArray, FloatArray]]:
    """Return for each horizon, ascending, the regret with and without privacy of each game, `(trials,)`."""
    keys = {length: price.game.key(length) for length in lengths(longest(results), LENGTHS)}
    return {length: (last(results, key, price.private), last(results, key, price.free)) for length, key in keys.items()}


def ratios_over_horizon(results: Results, price: Price) -> dict[int, Estimate]:
    """Return the ratio of regrets at each horizon, ascending."""
    return {length: ratio_of_means(*regrets) for length, regrets in over_horizon(results, price).items()}
