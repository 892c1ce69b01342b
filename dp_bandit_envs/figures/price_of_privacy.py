"""What differential privacy costs in online linear optimisation: nothing in the long run, or a constant factor."""

import functools
import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import gymnasium as gym
import numpy as np
from matplotlib.figure import Figure

from dp_bandit_envs import checks
from dp_bandit_envs.algorithms import make_algorithm
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.figures.judging import (
    DECIDES,
    NO,
    UNDECIDED,
    UNKNOWN,
    YES,
    Claims,
    Estimate,
    Found,
    all_ahead,
    exponent,
    fewer_or_shorter,
    joined,
    over_error,
    ratio_of_means,
    slope_of,
    slope_weights,
    with_names,
    yes_or_no,
)
from dp_bandit_envs.figures.price_panels import Line, RatioPanel, price_figure, ratio_band
from dp_bandit_envs.metrics import confidence_band, mean_and_standard_error
from dp_bandit_envs.plots.curves_figure import Reference
from dp_bandit_envs.plots.plot_style import GREY
from dp_bandit_envs.protocols import FloatArray
from dp_bandit_envs.runs.experiment import AlgorithmSpec, Experiment, GameSpec, Results, labels_of
from dp_bandit_envs.runs.run_report import Note, Numbers, Study, View

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


def study(*, horizon: int = HORIZON, trials: int = TRIALS, seed: int = 0) -> Study:
    """Return what to play and to report; arguments as for `experiments`."""
    return Study(
        name="price-of-privacy",
        title="The price of privacy in online linear optimisation",
        experiments=experiments(horizon=horizon, trials=trials, seed=seed),
        view=VIEW,
        notes=notes,
        claims=claims.judged,
        numbers=numbers,
        draw=draw,
    )


def notes(results: Sequence[Results]) -> list[Note]:
    """Return what a reader must know before the numbers."""
    over_horizon, *_, many = results
    text = (
        "Regret is external regret. With experts a mixture is played (`DPBandit-Simplex-v0`) and earns its mean gain:"
        " the same expected regret as drawing an expert from it, without the noise of the draws, which would hide"
        " ratios near 1. With many experts one expert is drawn in each round, because for"
        f" {COINS}, {LAZY} and {EPOCHS} the draws are what makes them private;"
        f" all four learners and {HEDGE} draw.\n\n"
        "Each length T is a game of its own. Over T the best choice is ahead by 2 sqrt(ln d / T) for experts,"
        " 2 sqrt(d / T) on the ball, 6 sqrt(K ln K / T) for arms and 14 sqrt(d / T) on the ball with payoffs only (at"
        " most 1): then regret without privacy grows like sqrt(T), its worst case, at every length. The factors for"
        " bandits are larger because their regret is, and a learner that learns nothing would look no worse than a"
        f" private one. Even so, with full information the ratio cannot exceed that of `{LOST}`. All other games"
        f" have a gap of {EASY:g}: there a learner that sees only noise would lose in proportion to T, so that"
        " exponents are not capped.\n\n"
        f"With many experts T = {longest(many):,}: a private sum of 10^4 experts needs that many draws a round."
        f" {FREE} is AS-FTRL without noise. {PAPER} has the paper's padded trees at the scale that"
        " epsilon needs; as printed the same algorithm has up to 2.885 epsilon at T = 2^16. An interval of a ratio is"
        " paired: both learners play the same gains."
    )
    few = fewer_or_shorter(longest(over_horizon), over_horizon.experiment.trials, HORIZON, TRIALS)
    return [Note(text), *few]


def ratios_over_horizon(results: Results, price: Price) -> dict[int, Estimate]:
    """Return the ratio of regrets at each horizon, ascending."""
    panels = {length: price.game.key(length) for length in lengths(longest(results), LENGTHS)}
    return {
        length: ratio_of_means(last(results, panel, price.private), last(results, panel, price.free))
        for length, panel in panels.items()
    }


RATIO = "regret / regret without privacy"


def draw(results: Sequence[Results], columns: int | None = None) -> Figure:
    """Draw the price over T in three panels, over epsilon, and over the number of experts."""
    over_t, over_epsilon, _, many = results
    end, middle = (f"{longest(one):,}" for one in (many, over_epsilon))
    d, k = EXPERTS.dimension, ARMS.dimension
    panels = [
        _drawn_over_t(f"Experts, d = {d}", over_t, PANELS["experts"], lost=EXPERTS),
        _drawn_over_t(f"Ball, d = {BALL.dimension}", over_t, PANELS["ball"], lost=BALL),
        _drawn_over_t(f"Bandits: K = {k} arms, ball d = 5", over_t, PANELS["bandits"]),
        RatioPanel(
            f"d = {d}, T = {middle}", "epsilon", "extra regret (gain)", _lines_over_epsilon(over_epsilon), free=None
        ),
        RatioPanel(f"Many experts, T = {end}", "number of experts d", RATIO, _lines_of_many(many)),
    ]
    labels = labels_of([over_t.experiment, many.experiment])
    labels |= {price.private: f"{labels[price.private]}, {price.game.name}" for price in PANELS["bandits"]}
    labels |= {COINS: f"{labels[COINS]}, table 1's previous best", FRESH: f"{labels[FRESH]}, baseline"}
    note = (
        f"line: ratio (d: difference) of mean regrets of {over_t.experiment.trials} games"
        f" ({many.experiment.trials} in e) on the same"
        " gains; bar or band: its 95 % confidence interval (ratio: normal law of its logarithm; difference: bootstrap)."
        " a to c: epsilon = 1, the best choice ahead by a gap of order 1 / sqrt(T), so that no learning costs a"
        f" constant ratio. d, e: gap {EASY:g}; in d the levels are those of the axis, and {OWN} has Laplace noise on"
        " the cube, whose own norm is L1"
    )
    return price_figure(panels, note=note, labels=labels, columns=columns)


def _drawn_over_t(title: str, results: Results, prices: Sequence[Price], lost: Game | None = None) -> RatioPanel:
    ratios = {price.private: ratios_over_horizon(results, price) for price in prices}
    lines = [Line(name, list(each), ratio_band(list(each.values()))) for name, each in ratios.items()]
    references = []
    if lost is not None:
        each = ratios_over_horizon(results, Price(LOST, FREE, lost))
        heights = np.array([one.value for one in each.values()])
        references.append(Reference(LOST, np.array(list(each)), heights, colour=GREY, dash=":"))
    return RatioPanel(title, "horizon T", RATIO, lines, references=references)


def _lines_over_epsilon(results: Results) -> list[Line]:
    lines = []
    for name in OVER_EPSILON:
        for game in FULL:
            panel = game.key(longest(results))
            free = last(results, panel, FREE)
            extra = np.stack([last(results, panel, label_at(name, level)) - free for level in LEVELS], axis=1)
            lines.append(Line(name, LEVELS, confidence_band(extra), game.name))
    return lines


def _lines_of_many(results: Results) -> list[Line]:
    panels = [MANY.key(longest(results), number) for number in NUMBERS_OF_EXPERTS]
    lines = []
    for price in OVER_DIMENSION:
        pairs = [[last(results, panel, name) for name in (price.private, price.free)] for panel in panels]
        points = [ratio_of_means(private, free) for private, free in pairs]
        lines.append(Line(price.private, NUMBERS_OF_EXPERTS, ratio_band(points)))
    return lines


TOLERANCE = 0.1
"""By how much a measured exponent may exceed the paper's: logarithms and lower orders count at a finite T."""
LOOSE = 0.1
"""The largest standard error of an exponent that decides."""
SMALL = tuple(level for level in LEVELS if level <= EPSILON)
"""The values of epsilon from which the exponent is taken: at larger ones little is left of the price."""
Term = Callable[[float, float, float], float]
"""A term of a bound, as a function of (T, size, epsilon)."""


class Row(NamedTuple):
    """A row of the paper's tables: its bound in words, and its terms.

    Attributes:
        game: The game.
        says: The bound.
        before: The previous best by the same table, logarithms left out.
        terms: The terms of the bound; with full information the second is the price of privacy.
        sized: Whether the paper states how it depends on the size.
    """

    game: Game
    says: str
    before: str
    terms: tuple[Term, ...]
    sized: bool = True


ROWS = (
    Row(
        EXPERTS,
        "sqrt(T ln N) + N ln N ln^2 T / epsilon",
        "sqrt(T ln N) / epsilon",
        (
            lambda t, d, e: math.sqrt(t * math.log(d)),
            lambda t, d, e: d * math.log(d) * math.log(t) ** 2 / e,
        ),
    ),
    Row(
        BALL,
        "sqrt(T) + N ln^2 T / epsilon",
        "sqrt(N T) / epsilon",
        (lambda t, d, e: math.sqrt(t), lambda t, d, e: d * math.log(t) ** 2 / e),
    ),
    Row(
        CUBE,
        "sqrt(N T) + N ln^2 T / epsilon",
        "sqrt(N T) / epsilon",
        (lambda t, d, e: math.sqrt(d * t), lambda t, d, e: d * math.log(t) ** 2 / e),
    ),
    Row(
        PAYOFFS,
        "sqrt(T) / epsilon, logarithms and N left out",
        "T^(2/3) / epsilon",
        (lambda t, d, e: d * math.sqrt(t * math.log(t)) / e,),
        sized=False,
    ),
    Row(
        ARMS,
        "sqrt(T N ln N) / epsilon, logarithms left out",
        "N T^(2/3) / epsilon",
        (lambda t, d, e: math.sqrt(t * d * math.log(d)) / e,),
    ),
)
"""Tables 1 and 2. For linear bandits the size's exponent is that of theorem 4.5 with noise on the payoff."""


class Exponent(NamedTuple):
    """A measured exponent beside the paper's, fitted to its formula at the same sizes."""

    measured: Estimate
    paper: float

    def __str__(self) -> str:
        return str(self.measured) if math.isnan(self.paper) else f"{self.measured} ({self.paper:.2f})"

    @property
    def over(self) -> bool:
        """Whether it is clearly larger than the paper's."""
        return self.measured.value - DECIDES * self.measured.error > self.paper + TOLERANCE

    @property
    def decided(self) -> bool:
        """Whether its standard error is small enough."""
        return self.measured.known and self.measured.error <= LOOSE


Exponents = Mapping[Price, Mapping[str, Exponent]]
"""The exponents of `"T"`, the size and `"1 / epsilon"` for each algorithm."""


class Measured(NamedTuple):
    """The exponents of one row.

    Attributes:
        horizon: The longest games.
        regret: Those of regret, beside the largest of a term of the bound.
        extra: Those of regret beyond that without privacy, beside the second term's; with full information only.
        free: The exponent of T without privacy, beside 1 / 2.
    """

    horizon: int
    regret: Exponents
    extra: Exponents
    free: Exponent


class Place(NamedTuple):
    """A game of a sweep: the varying value, its panel, its epsilon if that varies, and the arguments of terms."""

    value: float
    panel: str
    epsilon: float | None
    arguments: tuple[float, float, float]


def _sweeps(horizon: int, game: Game) -> dict[str, list[Place]]:
    """Return the games in which T, the size and epsilon vary."""
    d, middle = game.dimension, min(horizon, SWEEP_HORIZON)
    horizons = lengths(min(horizon, EXPONENT_HORIZON), EXPONENT_LENGTHS)
    levels = game.key(middle) if game in FULL else game.key(middle, kind="epsilon")
    return {
        "T": [Place(length, game.key(length, kind="length"), None, (length, d, EPSILON)) for length in horizons],
        game.size: [
            Place(size, game.key(middle, size, "size"), None, (middle, size, EPSILON)) for size in sizes_of(game)
        ],
        "1 / epsilon": [Place(1 / each, levels, each, (middle, d, each)) for each in SMALL],
    }


def _columns(results: Results, levels: Results, name: str, sweep: Sequence[Place], *, free: bool = False) -> FloatArray:
    """Return an algorithm's regret in each game, shape `(trials, values)`; without privacy epsilon does not matter."""
    columns = []
    for place in sweep:
        source = results if f"{place.panel}/checkpoints" in results.arrays else levels
        label = name if place.epsilon is None or free else label_at(name, place.epsilon)
        columns.append(last(source, place.panel, label))
    return np.stack(columns, axis=1)


def _beside(sweep: Sequence[Place], regrets: FloatArray, terms: Sequence[Term]) -> Exponent:
    """Return the exponent of regret `(trials, values)` beside the largest of the terms'."""
    values = [place.value for place in sweep]
    paper = max(slope_of(values, [term(*place.arguments) for place in sweep]) for term in terms)
    return Exponent(exponent(values, regrets), paper)


def measured(results: Results, levels: Results, row: Row) -> Measured:
    """Return how regret grows in the games of a row of the paper's tables.

    Args:
        results: The games for exponents.
        levels: The games over epsilon, for games with full information.
        row: The row.
    """
    game, prices = row.game, MEASURED[row.game]
    sweeps = _sweeps(longest(results), game)
    regret, extra = {}, {}
    for price in prices:
        private = {name: _columns(results, levels, price.private, one) for name, one in sweeps.items()}
        regret[price] = {
            name: _beside(one, private[name], row.terms if name != "1 / epsilon" else row.terms[-1:])
            for name, one in sweeps.items()
        }
        if game in FULL:
            free = {name: _columns(results, levels, price.free, one, free=True) for name, one in sweeps.items()}
            extra[price] = {
                name: _beside(one, private[name] - free[name], row.terms[-1:]) for name, one in sweeps.items()
            }
    over_t = sweeps["T"]
    horizons = [place.value for place in over_t]
    alone = exponent(horizons, _columns(results, levels, prices[0].free, over_t, free=True))
    return Measured(int(horizons[-1]), regret, extra, Exponent(alone, 0.5))


def _row(results: Results, levels: Results, row: Row) -> Found:
    """Judge whether regret grows at most like a row of the paper's tables, apart from logarithms."""
    found = measured(results, levels, row)
    deciding = next(iter(found.regret.values()))
    over = [name for name, one in deciding.items() if one.over]
    unclear = [name for name, one in deciding.items() if not one.decided]
    parts = [
        f"{price.private}{what}: {', '.join(f'{name} {one}' for name, one in each.items())}"
        for what, prices in (("", found.regret), (", extra regret", found.extra))
        for price, each in prices.items()
    ]
    theorem = "; for d, which table 2 hides, the paper's is that of theorem 4.5 with noise on the payoff"
    return Found(
        NO if over else UNDECIDED if unclear else YES,
        found,
        f"exponents, measured (the paper's): {'; '.join(parts)}; of T without privacy: {found.free}"
        + ("" if row.sized else theorem),
        yes=f"none is clearly larger than the paper's by more than {TOLERANCE:g}",
        no=f"larger in {joined(over)}, in games of up to {in_powers(found.horizon)} rounds",
        unknown=f": not known well enough in {joined(unclear)}",
    )


table_claims = Claims()
for _each in ROWS:
    table_claims(
        f"Table {'1' if _each.game in FULL else '2'}, {_each.game.name}: regret at most of order {_each.says}"
        f" (the previous best: {_each.before}).",
        of=(2, 1),
    )(functools.partial(_row, row=_each))


claims = Claims()
NEARLY = 1.5
"""The ratio of regrets below which privacy counts as nearly free."""
FLAT = 0.05
"""The largest exponent of T, up or down, that counts as constant."""
LOOSE_RATIO = 0.05
"""The largest standard error of the exponent of a ratio that decides."""
LARGEST_POWER = 40
"""The power of 2 up to which bounds are computed."""
LARGEST_EXACT = 20
"""The power of 2 up to which FTPL's noise is computed."""
DIMENSIONS = (10, 100)
"""Those at which FTPL's noise is worked out."""
LEADERS = {
    PAPER: "the paper's noise (padded binary trees, with the scale that epsilon needs)",
    OWN: "k-ary trees and noise in the shape of the gain vectors (errata: no factor ln N, and no padding)",
    GAUSSIAN: "the square-root counter and Gaussian noise, at a delta of 1e-6",
}
"""Algorithms whose price may vanish, from the paper's noise to today's."""


def _of(name: str) -> tuple[Price, ...]:
    """Return an algorithm's lines with full information."""
    return tuple(price for panel in ("experts", "ball") for price in PANELS[panel] if price.private == name)


class NearlyFree(NamedTuple):
    """Where privacy is nearly free, by price.

    Attributes:
        ends: The ratio of regrets at the longest horizon.
        first: The first horizon from which on the ratio is clearly below `NEARLY`; None if there is none.
        by_bound: The power of 2 from which on the bound is below `NEARLY` times that without noise; None if there is
            none, and no entry where no bound is known.
    """

    ends: Mapping[Price, Estimate]
    first: Mapping[Price, int | None]
    by_bound: Mapping[Price, int | None]


def _nearly_free(results: Results, name: str) -> Found:
    ratios = {price: ratios_over_horizon(results, price) for price in _of(name)}
    ends = {price: each[max(each)] for price, each in ratios.items()}
    by_bound = {price: _by_bound(price) for price in ratios if name == PAPER}
    found = NearlyFree(ends, {price: _first_below(each) for price, each in ratios.items()}, by_bound)
    first = with_names({price.game.name: in_powers(horizon) for price, horizon in found.first.items()})
    bounds = {
        price.game.name: f"none up to 2^{LARGEST_POWER}" if power is None else f"2^{power}"
        for price, power in by_bound.items()
    }
    above = any(one.value - DECIDES * one.error > NEARLY for one in ends.values())
    below = all(one.value + DECIDES * one.error < NEARLY for one in ends.values())
    return Found(
        NO if above else YES if below else UNDECIDED,
        found,
        f"ratio of mean regrets: {with_names(ends)}; below {NEARLY:g} from"
        f" this T on: {first}"
        + (f"; the bounds come that near from this T on: {with_names(bounds)}" if bounds else ""),
        yes="in both games",
        no="noise still decides at this T; the order of the bound says nothing about when",
        unknown=f": too close to {NEARLY:g}",
    )


def _first_below(ratios: Mapping[int, Estimate]) -> int | None:
    first = None
    for horizon in sorted(ratios, reverse=True):
        if not ratios[horizon].value + DECIDES * ratios[horizon].error < NEARLY:
            break
        first = horizon
    return first


@functools.lru_cache
def _by_bound(price: Price) -> int | None:
    for power in range(10, LARGEST_POWER + 1):
        env = price.game.make(2**power)
        private, free = (make_algorithm(PAPER, epsilon=one).regret_bound_in(env) for one in (EPSILON, math.inf))
        if private < NEARLY * free:
            return power
    return None


def _says_nearly_free(name: str) -> Callable[[Results], str]:
    return lambda results: (
        f"With full information and epsilon = 1, privacy is free in long games. {name}, with {LEADERS[name]}: less"
        f" than {NEARLY:g} times the regret without privacy at T = {in_powers(longest(results))}."
    )


for _name in LEADERS:
    claims(_says_nearly_free(_name))(functools.partial(_nearly_free, name=_name))


@claims(
    "On the ball privacy costs AS-FTPL exactly nothing in long games: the noise that keeps its regret small is"
    " already enough for epsilon = 1 and delta = 1e-6, so it plays the same points as without privacy.",
    fewest=0,
)
def _exactly_free(results: Results) -> Found:
    horizons = {dimension: first_exactly_free(dimension) for dimension in DIMENSIONS}
    since = {f"d = {size}": in_powers(horizon, 2**LARGEST_EXACT) for size, horizon in horizons.items()}
    usual = horizons[BALL.dimension]
    return Found(
        yes_or_no(usual is not None and usual <= longest(results)),
        horizons,
        f"so from this T, a power of 2, on: {with_names(since)}. (The paper writes epsilon for what is (epsilon,"
        " delta), and its noise is d^(1/4) times what the ball needs.)",
        yes="the wrappers are the same, so play for play the games are",
        no="in no game of the figure",
    )


@functools.lru_cache
def first_exactly_free(dimension: int) -> int | None:
    """Return the first power of 2 at which FTPL needs no more noise for privacy than for regret; None if none does."""
    powers = (2**power for power in range(LARGEST_EXACT + 1))
    return next((horizon for horizon in powers if is_exactly_free(dimension, horizon)), None)


def is_exactly_free(dimension: int, horizon: int) -> bool:
    """Return whether FTPL at epsilon = 1 puts the same wrapper around the ball as FTPL without privacy."""
    game = BALL.make(horizon, dimension)
    wrapped = [make_algorithm(PERTURBED, epsilon=epsilon).wrap(game) for epsilon in (EPSILON, math.inf)]
    private, free = (one.get_wrapper_attr("mechanism").epsilon for one in wrapped)
    return bool(private == free)


def _constant_factor(results: Results, prices: Sequence[Price]) -> Found:
    """Judge whether the ratio of regrets stays above 1 and does not change with T."""
    exponents = {price: _exponent_of_ratio(results, price) for price in prices}
    ratios = {price: ratios_over_horizon(results, price) for price in prices}
    ends = {price: each[max(each)] for price, each in ratios.items()}
    growing = [price for price, one in exponents.items() if one.value - DECIDES * one.error > FLAT]
    falling = [price for price, one in exponents.items() if one.value + DECIDES * one.error < -FLAT]
    below = any(one.value + DECIDES * one.error < 1 for one in ends.values())
    dearer = all(one.value - DECIDES * one.error > 1 for one in ends.values())
    narrow = all(one.error <= LOOSE_RATIO for one in exponents.values())
    changing = [f"the ratio grows with T for {joined(growing)}"] if growing else []
    if falling:
        how = "logarithms count, as in how often to explore"
        changing.append(f"the ratio still falls with T for {joined(falling)}: {how}")
    return Found(
        NO if growing or falling or below else YES if dearer and narrow else UNDECIDED,
        {"exponents": exponents, "ends": ends},
        f"exponent of T in the ratio of mean regrets: {with_names(exponents)};"
        f" the ratio at T = {in_powers(longest(results))}: {with_names(ends)}",
        yes=f"the exponents are within {FLAT:g} of 0",
        no="; ".join(changing) or "a ratio is below 1",
        unknown=": an exponent is not known well enough, or a ratio is not clearly above 1",
    )


def _exponent_of_ratio(results: Results, price: Price) -> Estimate:
    horizons = lengths(longest(results), LENGTHS)
    private, free = (
        np.stack([last(results, price.game.key(length), name) for length in horizons], axis=1)
        for name in (price.private, price.free)
    )
    if len(horizons) < 2 or not (np.all(private.mean(axis=0) > 0) and np.all(free.mean(axis=0) > 0)):
        return UNKNOWN
    difference = private / private.mean(axis=0) - free / free.mean(axis=0)
    _, error = mean_and_standard_error(difference @ slope_weights(horizons))
    return Estimate(slope_of(horizons, private.mean(axis=0) / free.mean(axis=0)), float(error))


claims(
    f"Without the paper's sums privacy costs a constant factor, however long the game: {COINS} for experts, of"
    " the order of table 1's previous best, sqrt(T ln N) / epsilon, and noise on each round"
    f" ({FRESH}, a baseline)."
)(functools.partial(_constant_factor, prices=_of(COINS) + _of(FRESH)))
for _prices in (PANELS["bandits"][:1], PANELS["bandits"][1:2], PANELS["bandits"][2:]):
    claims(
        f"With bandit feedback, {joined(_prices)}, privacy costs a constant factor"
        " (the paper's algorithm 4, which adds noise to each payoff and so is local, which it does not say)."
    )(functools.partial(_constant_factor, prices=_prices))
claims += table_claims


@claims(
    f"Private sums are for few experts, lazy or rare draws for many: with {NUMBERS_OF_EXPERTS[0]:,} experts {OWN} has"
    f" less regret than {joined((COINS, LAZY))}, with {NUMBERS_OF_EXPERTS[-1]:,} more than {joined((LAZY, EPOCHS))}.",
    of=(3,),
)
def _few_and_many(results: Results) -> Found:
    horizon, (few, *_, many) = longest(results), NUMBERS_OF_EXPERTS
    small, large = (MANY.key(horizon, number) for number in (few, many))
    errors = [over_error(last(results, small, name) - last(results, small, OWN)) for name in (COINS, LAZY)]
    errors += [over_error(last(results, large, OWN) - last(results, large, name)) for name in (LAZY, EPOCHS)]
    ratios = {
        name: tuple(ratio_of_means(last(results, panel, name), last(results, panel, HEDGE)) for panel in (small, large))
        for name in (OWN, COINS, LAZY, EPOCHS)
    }
    shown = with_names({name: " / ".join(map(str, both)) for name, both in ratios.items()})
    return Found(
        all_ahead(errors),
        ratios,
        f"regret over Hedge's with {few:,} / {many:,} experts, T = {in_powers(horizon)}:"
        f" {shown}. ({EPOCHS} is for independent gains, as here.)",
        yes="by more than three standard errors each",
        no="the other way round for one of them",
        unknown=": one of them is too close",
    )


def numbers(results: Sequence[Results]) -> dict[str, Numbers]:
    """Return what the page quotes: ratios of regrets, from which T on privacy is nearly free, exponents."""
    over_horizon, over_epsilon, for_exponents, many_experts = results
    found: dict[str, Numbers] = {}
    for price in itertools.chain(*PANELS.values()):
        for length, ratio in ratios_over_horizon(over_horizon, price).items():
            found[f"ratio/{price}/{length}"] = _plain(ratio)
    for name in LEADERS:
        nearly: NearlyFree = _nearly_free(over_horizon, name).numbers
        for price, first in nearly.first.items():
            power = nearly.by_bound.get(price)
            by_bound = math.inf if power is None else 2.0**power
            found[f"nearly free/{price}"] = {"from": first or math.inf, "by bound": by_bound}
    found["exactly free"] = {f"d = {size}": first_exactly_free(size) or math.inf for size in DIMENSIONS}
    for row in ROWS:
        one = measured(for_exponents, over_epsilon, row)
        for prices, of in ((one.regret, ""), (one.extra, ", extra")):
            for price, each in prices.items():
                for quantity, power_of in each.items():
                    entry = {**_plain(power_of.measured), "paper": power_of.paper}
                    found[f"exponent/{price}{of}/{quantity}"] = entry
        found[f"exponent/without privacy, {row.game.name}/T"] = _plain(one.free.measured)
    for name, ends in _few_and_many(many_experts).numbers.items():
        for size, ratio in zip(("few", "many"), ends, strict=True):
            found[f"{size} experts/{name}"] = _plain(ratio)
    return found


def _plain(one: Estimate) -> dict[str, float]:
    return {"mean": one.value, "error": one.error}
