"""The literature's claims on the price of privacy, judged by the games; and the numbers that the page quotes."""

import functools
import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import gymnasium as gym
import numpy as np

from dp_bandit_envs.algorithms import make_algorithm
from dp_bandit_envs.experiments.experiment import Results
from dp_bandit_envs.experiments.report import Numbers
from dp_bandit_envs.figures.judging import (
    DECISIVE_ERRORS,
    NO,
    UNDECIDED,
    UNKNOWN,
    YES,
    Claims,
    Estimate,
    Judgement,
    all_ahead,
    exponent,
    in_standard_errors,
    join_names,
    ratio_of_means,
    slope_of,
    slope_weights,
    with_names,
    yes_or_no,
)
from dp_bandit_envs.figures.price_of_privacy import games
from dp_bandit_envs.figures.price_of_privacy.games import (
    Price,
    SizedGame,
    SweepGame,
    last,
    longest,
    ratios_over_horizon,
)
from dp_bandit_envs.metrics import mean_and_standard_error
from dp_bandit_envs.protocols import Environment, FloatArray

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
"""The horizons for computing FTPL's noise."""
TOLERANCE = 0.1
"""Allowed excess of a measured exponent over a bound's term, for logarithms and lower orders."""
LOOSE = 0.1
"""The largest standard error of an exponent that decides."""
LEADERS = {
    games.PAPER: "the paper's noise (padded binary trees, with the scale that epsilon needs)",
    games.OWN: "k-ary trees and noise in the shape of the gain vectors (errata: no factor ln N, and no padding)",
    games.GAUSSIAN: "the square-root counter and Gaussian noise, at a delta of 1e-6",
}
"""Algorithms whose price may vanish, from the paper's noise to today's."""


def is_below(estimate: Estimate, limit: float) -> bool:
    """Whether an estimate is clearly below a limit."""
    return estimate.value + DECISIVE_ERRORS * estimate.error < limit


def is_above(estimate: Estimate, limit: float) -> bool:
    """Whether an estimate is clearly above a limit."""
    return estimate.value - DECISIVE_ERRORS * estimate.error > limit


def in_powers(horizon: int | None, most: int | None = None) -> str:
    """Return a horizon in words; None means none up to `most`."""
    if horizon is None:
        return "none" if most is None else f"none up to {in_powers(most)}"
    power = horizon.bit_length() - 1
    return f"2^{power}" if horizon == 2**power else f"{horizon:,}"


def game_of(game: SizedGame, horizon: int, dimension: int | None = None) -> Environment:
    """Return the environment of a game at a length, with its hard gap, at the usual or another size."""
    spec = game.spec(horizon, (), dimension=dimension)
    env: Environment = gym.make(spec.env_id, **spec.env_kwargs).unwrapped
    return env


def _with_full_information(*names: str) -> list[Price]:
    """Return the prices of algorithms in the games with full information."""
    prices = games.PANELS["experts"] + games.PANELS["ball"]
    return [price for name in names for price in prices if price.private == name]


def _nearly_free(results: Results, name: str) -> Judgement:
    """Judge the last ratio of regrets; also find the T from which it is nearly 1, measured and by bounds."""
    prices = _with_full_information(name)
    ratios = {price: ratios_over_horizon(results, price) for price in prices}
    ends = {price: by_horizon[max(by_horizon)] for price, by_horizon in ratios.items()}
    by_bound = {price: _first_by_bound(price) for price in prices if name == games.PAPER}
    first = {price: _first_below(by_horizon) for price, by_horizon in ratios.items()}
    since = with_names({price.game.name: in_powers(horizon) for price, horizon in first.items()})
    bounds = {price.game.name: in_powers(horizon, 2**LARGEST_POWER) for price, horizon in by_bound.items()}
    too_dear = any(is_above(one, NEARLY) for one in ends.values())
    return Judgement(
        NO if too_dear else YES if all(is_below(one, NEARLY) for one in ends.values()) else UNDECIDED,
        {"ends": ends, "first": first, "by_bound": by_bound},
        f"ratio of mean regrets: {with_names(ends)}; below {NEARLY:g} from this T on: {since}"
        + (f"; the bounds come that near from this T on: {with_names(bounds)}" if bounds else ""),
        yes="in both games",
        no="noise still decides at this T; the order of the bound says nothing about when",
        unknown=f": too close to {NEARLY:g}",
    )


def _first_below(ratios: Mapping[int, Estimate]) -> int | None:
    longest_first = sorted(ratios, reverse=True)
    near = list(itertools.takewhile(lambda horizon: is_below(ratios[horizon], NEARLY), longest_first))
    return near[-1] if near else None


@functools.lru_cache
def _first_by_bound(price: Price) -> int | None:
    horizons: list[int] = [2**power for power in range(10, LARGEST_POWER + 1)]
    for horizon in horizons:
        env = game_of(price.game, horizon)
        private, free = (
            make_algorithm(games.PAPER, epsilon=epsilon).regret_bound_in(env) for epsilon in (games.EPSILON, math.inf)
        )
        if private < NEARLY * free:
            return horizon
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
def _exactly_free(results: Results) -> Judgement:
    horizons = {dimension: first_exactly_free(dimension) for dimension in DIMENSIONS}
    since = {f"d = {size}": in_powers(horizon, 2**LARGEST_EXACT) for size, horizon in horizons.items()}
    usual = horizons[games.BALL.dimension]
    return Judgement(
        yes_or_no(usual is not None and usual <= longest(results)),
        horizons,
        f"so from this T, a power of 2, on: {with_names(since)}. (The paper writes epsilon for what is (epsilon,"
        " delta), and its noise is d^(1/4) times what the ball needs.)",
        yes="the wrappers are the same, so play for play the games are",
        no="in no game of the figure",
    )


@functools.lru_cache
def first_exactly_free(dimension: int) -> int | None:
    """Return the first power of 2 whose FTPL noise for regret suffices for privacy, or None."""
    powers = (2**power for power in range(LARGEST_EXACT + 1))
    return next((horizon for horizon in powers if is_exactly_free(dimension, horizon)), None)


def is_exactly_free(dimension: int, horizon: int) -> bool:
    """Return whether FTPL on the ball has the same wrapper at epsilon = 1 as without privacy."""
    game = game_of(games.BALL, horizon, dimension)
    wrapped = [make_algorithm(games.PERTURBED, epsilon=epsilon).wrap(game) for epsilon in (games.EPSILON, math.inf)]
    private, free = (one.get_wrapper_attr("mechanism").epsilon for one in wrapped)
    return bool(private == free)


def _constant_factor(results: Results, prices: Sequence[Price]) -> Judgement:
    """Judge whether the ratio of regrets stays above 1 and does not change with T."""
    exponents = {price: _exponent_of_ratio(results, price) for price in prices}
    ratios = {price: ratios_over_horizon(results, price) for price in prices}
    ends = {price: by_horizon[max(by_horizon)] for price, by_horizon in ratios.items()}
    growing = [price for price, one in exponents.items() if is_above(one, FLAT)]
    falling = [price for price, one in exponents.items() if is_below(one, -FLAT)]
    cheaper = any(is_below(one, 1) for one in ends.values())
    is_clear = all(is_above(one, 1) for one in ends.values()) and all(
        one.error <= LOOSE_RATIO for one in exponents.values()
    )
    changing = [f"the ratio grows with T for {join_names(growing)}"] if growing else []
    if falling:
        how = "logarithms count, as in how often to explore"
        changing.append(f"the ratio still falls with T for {join_names(falling)}: {how}")
    return Judgement(
        NO if changing or cheaper else YES if is_clear else UNDECIDED,
        {"exponents": exponents, "ends": ends},
        f"exponent of T in the ratio of mean regrets: {with_names(exponents)};"
        f" the ratio at T = {in_powers(longest(results))}: {with_names(ends)}",
        yes=f"the exponents are within {FLAT:g} of 0",
        no="; ".join(changing) or "a ratio is below 1",
        unknown=": an exponent is not known well enough, or a ratio is not clearly above 1",
    )


def _exponent_of_ratio(results: Results, price: Price) -> Estimate:
    regrets = games.over_horizon(results, price)
    horizons = list(regrets)
    private, free = (np.stack(columns, axis=1) for columns in zip(*regrets.values(), strict=True))
    if len(horizons) < 2 or not (np.all(private.mean(axis=0) > 0) and np.all(free.mean(axis=0) > 0)):
        return UNKNOWN
    difference = private / private.mean(axis=0) - free / free.mean(axis=0)
    _, error = mean_and_standard_error(difference @ slope_weights(horizons))
    return Estimate(slope_of(horizons, private.mean(axis=0) / free.mean(axis=0)), float(error))


claims(
    f"Without the paper's sums privacy costs a constant factor, however long the game: {games.COINS} for experts, of"
    " the order of table 1's previous best, sqrt(T ln N) / epsilon, and noise on each round"
    f" ({games.FRESH}, a baseline)."
)(functools.partial(_constant_factor, prices=_with_full_information(games.COINS, games.FRESH)))
for _prices in (games.PANELS["bandits"][:1], games.PANELS["bandits"][1:2], games.PANELS["bandits"][2:]):
    claims(
        f"With bandit feedback, {join_names(_prices)}, privacy costs a constant factor"
        " (the paper's algorithm 4, which adds noise to each payoff and so is local, which it does not say)."
    )(functools.partial(_constant_factor, prices=_prices))


Term = Callable[[float, float, float], float]
"""A term of a bound, as a function of (T, size, epsilon)."""


class PaperBound(NamedTuple):
    """A row of the paper's tables 1 and 2: its bound in words, and its terms.

    Attributes:
        game: The game.
        says: The bound.
        before: The previous best by the same table, up to logarithms.
        terms: The terms of the bound; with full information the second is the price of privacy.
    """

    game: SizedGame
    says: str
    before: str
    terms: tuple[Term, ...]


PAPER_BOUNDS = (
    PaperBound(
        games.EXPERTS,
        "sqrt(T ln N) + N ln N ln^2 T / epsilon",
        "sqrt(T ln N) / epsilon",
        (lambda t, d, e: math.sqrt(t * math.log(d)), lambda t, d, e: d * math.log(d) * math.log(t) ** 2 / e),
    ),
    PaperBound(
        games.BALL,
        "sqrt(T) + N ln^2 T / epsilon",
        "sqrt(N T) / epsilon",
        (lambda t, d, e: math.sqrt(t), lambda t, d, e: d * math.log(t) ** 2 / e),
    ),
    PaperBound(
        games.CUBE,
        "sqrt(N T) + N ln^2 T / epsilon",
        "sqrt(N T) / epsilon",
        (lambda t, d, e: math.sqrt(d * t), lambda t, d, e: d * math.log(t) ** 2 / e),
    ),
    # How it depends on the size the table leaves out; that is of theorem 4.5 with noise on the payoff.
    PaperBound(
        games.PAYOFFS,
        "sqrt(T) / epsilon, logarithms and N left out",
        "T^(2/3) / epsilon",
        (lambda t, d, e: d * math.sqrt(t * math.log(t)) / e,),
    ),
    PaperBound(
        games.ARMS,
        "sqrt(T N ln N) / epsilon, logarithms left out",
        "N T^(2/3) / epsilon",
        (lambda t, d, e: math.sqrt(t * d * math.log(d)) / e,),
    ),
)


class Exponent(NamedTuple):
    """A measured exponent, and the largest exponent of a term of a bound, fitted to that term at the same sizes.

    The whole bound has a smaller exponent, because terms of lower order are a large part of it at these sizes.
    """

    measured: Estimate
    term: float

    def __str__(self) -> str:
        return str(self.measured) if math.isnan(self.term) else f"{self.measured} ({self.term:.2f})"


def measure_exponents(
    results: Results, levels: Results, bound: PaperBound
) -> tuple[dict[tuple[Price, str], dict[str, Exponent]], Exponent]:
    """Return the growth exponents of regret in the games of a row of the paper's tables.

    Args:
        results: The games for exponents.
        levels: The games over epsilon, for games with full information.
        bound: The row.

    Returns:
        The exponents of `"T"`, the size and `"1 / epsilon"`, for the regret of each algorithm (`""`), each with the
        largest exponent of a term of the bound, and with full information for the `", extra"` regret of privacy, each
        with the second term's; and the exponent of T without privacy, with 1 / 2.
    """

    def regrets(name: str, sweep: Sequence[SweepGame], *, private: bool = True) -> FloatArray:
        """Return an algorithm's regret, shape `(trials, games)`; without privacy epsilon is ignored."""
        columns = []
        for game in sweep:
            source = results if f"{game.key}/checkpoints" in results.arrays else levels
            label = games.label_at(name, game.epsilon) if private and game.epsilon is not None else name
            columns.append(last(source, game.key, label))
        return np.stack(columns, axis=1)

    def exponent_beside(sweep: Sequence[SweepGame], sample: FloatArray, terms: Sequence[Term]) -> Exponent:
        """Return the exponent of regret `(trials, games)` and the largest exponent of a term."""
        values = [game.value for game in sweep]
        along = [[term(game.horizon, game.size, game.epsilon or games.EPSILON) for game in sweep] for term in terms]
        return Exponent(exponent(values, sample), max(slope_of(values, each) for each in along))

    exponents: dict[tuple[Price, str], dict[str, Exponent]] = {}
    swept, noise = games.sweeps(longest(results), bound.game), bound.terms[-1:]
    prices = games.MEASURED[bound.game]
    for what, price in itertools.product(("", ", extra") if bound.game in games.FULL else ("",), prices):
        of_price = exponents[price, what] = {}
        for name, sweep in swept.items():
            sample = regrets(price.private, sweep)
            if what:
                sample = sample - regrets(price.free, sweep, private=False)
            of_price[name] = exponent_beside(sweep, sample, noise if what or name == "1 / epsilon" else bound.terms)
    free = regrets(prices[0].free, swept["T"], private=False)
    return exponents, Exponent(exponent([game.value for game in swept["T"]], free), 0.5)


def _at_most_the_bound(results: Results, levels: Results, bound: PaperBound) -> Judgement:
    """Judge whether regret grows at most like a row of the paper's tables, apart from logarithms."""
    exponents, free = measure_exponents(results, levels, bound)
    deciding = next(iter(exponents.values()))
    exceeds_paper = [name for name, one in deciding.items() if is_above(one.measured, one.term + TOLERANCE)]
    unclear = [name for name, one in deciding.items() if not one.measured.error <= LOOSE]
    lines = [
        f"{price.private}{what and f'{what} regret'}: "
        + ", ".join(f"{quantity} {power}" for quantity, power in by_quantity.items())
        for (price, what), by_quantity in exponents.items()
    ]
    theorem = "; for d, which table 2 hides, it is that of this project's bound, as theorem 4.5 has N^2 (E39)"
    horizon = games.sweeps(longest(results), bound.game)["T"][-1].horizon
    return Judgement(
        NO if exceeds_paper else UNDECIDED if unclear else YES,
        exponents,
        f"exponents, measured (the largest of a term of the bound): {'; '.join(lines)};"
        f" of T without privacy: {free}" + (theorem if bound.game is games.PAYOFFS else ""),
        yes=f"none is clearly larger by more than {TOLERANCE:g}",
        no=f"larger in {join_names(exceeds_paper)}, in games of up to {in_powers(horizon)} rounds",
        unknown=f": not known well enough in {join_names(unclear)}",
    )


for _bound in PAPER_BOUNDS:
    claims(
        f"Table {'1' if _bound.game in games.FULL else '2'}, {_bound.game.name}: regret at most of order {_bound.says}"
        f" (the previous best: {_bound.before}).",
        of=(2, 1),
    )(functools.partial(_at_most_the_bound, bound=_bound))


FEW, *_, SO_MANY = games.NUMBERS_OF_EXPERTS
RIVALS = (games.COINS, games.LAZY, games.EPOCHS)
"""Algorithms for many experts."""


@claims(
    f"Private sums are for few experts, lazy or rare draws for many: with {FEW:,} experts {games.OWN} has less regret"
    f" than {games.COINS} and {games.LAZY}, with {SO_MANY:,} more than {games.LAZY} and {games.EPOCHS}.",
    of=(3,),
)
def _few_and_many(results: Results) -> Judgement:
    horizon, trees = longest(results), games.OWN
    small, large = (
        {name: last(results, games.MANY.key(horizon, number), name) for name in (trees, *RIVALS, games.HEDGE)}
        for number in (FEW, SO_MANY)
    )
    errors = [in_standard_errors(small[name] - small[trees]) for name in (games.COINS, games.LAZY)]
    errors += [in_standard_errors(large[trees] - large[name]) for name in (games.LAZY, games.EPOCHS)]
    ratios = {
        name: tuple(ratio_of_means(regret[name], regret[games.HEDGE]) for regret in (small, large))
        for name in (trees, *RIVALS)
    }
    ratios_in_words = with_names({name: " / ".join(map(str, both)) for name, both in ratios.items()})
    return Judgement(
        all_ahead(errors),
        ratios,
        f"regret over Hedge's with {FEW:,} / {SO_MANY:,} experts, T = {in_powers(horizon)}:"
        f" {ratios_in_words}. ({games.EPOCHS} is for independent gains, as here.)",
        yes="by more than three standard errors each",
        no="the other way round for one of them",
        unknown=": one of them is too close",
    )


def numbers(results: Sequence[Results]) -> dict[str, Numbers]:
    """Return the numbers on the page: ratios of regrets, the T from which privacy is nearly free, exponents."""
    over_t, over_epsilon, for_exponents, many_experts = results
    quoted: dict[str, Numbers] = {}
    for price in itertools.chain(*games.PANELS.values()):
        for length, ratio in ratios_over_horizon(over_t, price).items():
            quoted[f"ratio/{price}/{length}"] = _plain(ratio)
    for name in LEADERS:
        nearly = _nearly_free(over_t, name).numbers
        for price, first in nearly["first"].items():
            by_bound = float(nearly["by_bound"].get(price) or math.inf)
            quoted[f"nearly free/{price}"] = {"from": first or math.inf, "by bound": by_bound}
    quoted["exactly free"] = {f"d = {size}": first_exactly_free(size) or math.inf for size in DIMENSIONS}
    for bound in PAPER_BOUNDS:
        exponents, free = measure_exponents(for_exponents, over_epsilon, bound)
        for (price, what), by_quantity in exponents.items():
            for quantity, power in by_quantity.items():
                quoted[f"exponent/{price}{what}/{quantity}"] = {**_plain(power.measured), "term": power.term}
        quoted[f"exponent/without privacy, {bound.game.name}/T"] = _plain(free.measured)
    for name, ends in _few_and_many(many_experts).numbers.items():
        for size, ratio in zip(("few", "many"), ends, strict=True):
            quoted[f"{size} experts/{name}"] = _plain(ratio)
    return quoted


def _plain(estimate: Estimate) -> dict[str, float]:
    return {"mean": estimate.value, "error": estimate.error}
