"""The report's words for each claim about the price of privacy."""

import math
from collections.abc import Mapping

from dp_bandit_envs.experiments.figure_price.price_exponents import TOLERANCE, Exponent, Measured
from dp_bandit_envs.experiments.figure_price.price_free import (
    FLAT,
    LARGEST_EXACT,
    LARGEST_POWER,
    NEARLY,
    ConstantFactor,
    ExactlyFree,
    NearlyFree,
)
from dp_bandit_envs.experiments.figure_price.price_games import FULL
from dp_bandit_envs.experiments.figure_price.price_many import Crossing
from dp_bandit_envs.experiments.figure_price.price_numbers import Estimate
from dp_bandit_envs.experiments.figure_price.price_setup import COINS, EPOCHS, FRESH, GAUSSIAN, OWN, PAPER, Price
from dp_bandit_envs.experiments.sentences import joined, with_names
from dp_bandit_envs.experiments.verdicts import Words

NOISE = {
    PAPER: "the paper's noise (padded binary trees, with the scale that epsilon needs)",
    OWN: "k-ary trees and noise in the shape of the gain vectors (errata: no factor ln N, and no padding)",
    GAUSSIAN: "the square-root counter and Gaussian noise, at a delta of 1e-6",
}


def nearly_free(found: NearlyFree) -> Words:
    """Return the words for a ratio of regrets that comes near 1."""
    name = next(iter(found.ratios)).private
    first = {price.game.name: _since(length) for price, length in found.first.items()}
    bounds = {price.game.name: _power(power) for price, power in found.by_bound.items()}
    by_bound = f"; the bounds come that near from this T on: {with_names(bounds)}" if bounds else ""
    return Words(
        says=f"With full information and epsilon = 1, privacy is free in long games. {name}, with {NOISE[name]}: less"
        f" than {NEARLY:g} times the regret without privacy at T = {_rounds(found.horizon)}.",
        seen=f"ratio of mean regrets: {_by_price(found.ends)}; below {NEARLY:g} from this T on: {with_names(first)}"
        f"{by_bound}",
        yes="in both games",
        no="noise still decides at this T; the order of the bound says nothing about when",
        unknown=f": too close to {NEARLY:g}",
    )


def exactly_free(found: ExactlyFree) -> Words:
    """Return the words for FTPL, whose noise is large enough anyway."""
    since = {f"d = {size}": _since(horizon, 2**LARGEST_EXACT) for size, horizon in found.horizons.items()}
    return Words(
        says="On the ball privacy costs AS-FTPL exactly nothing in long games: the noise that keeps its regret small is"
        " already enough for epsilon = 1 and delta = 1e-6, so it plays the same points as without privacy.",
        seen=f"so from this T, a power of 2, on: {with_names(since)}. (The paper writes epsilon for what is (epsilon,"
        " delta), and its noise is d^(1/4) times what the ball needs.)",
        yes="the wrappers are the same, so play for play the games are",
        no="in no game of the figure",
    )


def before_the_paper(found: ConstantFactor) -> Words:
    """Return the words for the previous best, and for fresh noise on each round."""
    return Words(
        says=f"Without the paper's sums privacy costs a constant factor, however long the game: {COINS} for experts, of"
        " the order of table 1's previous best, sqrt(T ln N) / epsilon, and noise on each round"
        f" ({FRESH}, a baseline).",
        seen=_factors(found),
        yes=f"the exponents are within {FLAT:g} of 0",
        no=_changing(found),
        unknown=": an exponent is not known well enough, or a ratio is not clearly above 1",
    )


def bandits(found: ConstantFactor) -> Words:
    """Return the words for bandits."""
    return Words(
        says=f"With bandit feedback, {joined([str(price) for price in found.ends])}, privacy costs a constant factor"
        " (the paper's algorithm 4, which adds noise to each payoff and so is local, which it does not say).",
        seen=_factors(found),
        yes=f"the exponents are within {FLAT:g} of 0",
        no=_changing(found),
        unknown=": an exponent is not known well enough, or a ratio is not clearly above 1",
    )


def exponents(found: Measured) -> Words:
    """Return the words for a row of the paper's tables."""
    row, game = found.row, found.row.game
    table = "1" if game in FULL else "2"
    parts = [f"{price.private}: {_exponents(each)}" for price, each in found.regret.items()]
    parts += [f"{price.private}, extra regret: {_exponents(each)}" for price, each in found.extra.items()]
    theorem = "; for d, which table 2 hides, the paper's is that of theorem 4.5 with noise on the payoff"
    hidden = "" if row.sized else theorem
    return Words(
        says=f"Table {table}, {game.name}: regret at most of order {row.says} (the previous best: {row.before}).",
        seen=f"exponents, measured (the paper's): {'; '.join(parts)}; of T without privacy: {_exponent(found.free)}"
        f"{hidden}",
        yes=f"none is clearly larger than the paper's by more than {TOLERANCE:g}",
        no=f"larger in {joined(found.over)}, in games of up to {_rounds(found.horizon)} rounds",
        unknown=f": not known well enough in {joined(found.unclear)}",
    )


def crossing(found: Crossing) -> Words:
    """Return the words for few and many experts."""
    shown = {name: f"{few} / {many}" for name, (few, many) in found.ratios.items()}
    return Words(
        says=f"Private sums are for few experts, lazy or rare draws for many: with {found.few:,} experts {OWN} has less"
        f" regret than {joined(list(found.tree))}, with {found.many:,} more than {joined(list(found.rivals))}.",
        seen=f"regret over Hedge's with {found.few:,} / {found.many:,} experts, T = {_rounds(found.horizon)}:"
        f" {with_names(shown)}. ({EPOCHS} is for independent gains, as here.)",
        yes="by more than three standard errors each",
        no="the other way round for one of them",
        unknown=": one of them is too close",
    )


def _changing(found: ConstantFactor) -> str:
    grows, falls = joined([str(price) for price in found.growing]), joined([str(price) for price in found.falling])
    parts = [f"the ratio grows with T for {grows}"] if grows else []
    parts += (
        [f"the ratio still falls with T for {falls}: logarithms count, as in how often to explore"] if falls else []
    )
    return "; ".join(parts) or "a ratio is below 1"


def _factors(found: ConstantFactor) -> str:
    slopes = {str(price): str(one) for price, one in found.exponents.items()}
    return (
        f"exponent of T in the ratio of mean regrets: {with_names(slopes)}; the ratio at T = {_rounds(found.horizon)}:"
        f" {_by_price(found.ends)}"
    )


def _by_price(ratios: Mapping[Price, Estimate]) -> str:
    return with_names({str(price): str(one) for price, one in ratios.items()})


def _exponents(each: Mapping[str, Exponent]) -> str:
    return ", ".join(f"{name} {_exponent(one)}" for name, one in each.items())


def _exponent(one: Exponent) -> str:
    return str(one.measured) if math.isnan(one.paper) else f"{one.measured} ({one.paper:.2f})"


def _rounds(horizon: int) -> str:
    power = horizon.bit_length() - 1
    return f"2^{power}" if horizon == 2**power else f"{horizon:,}"


def _since(horizon: int | None, most: int | None = None) -> str:
    if horizon is not None:
        return _rounds(horizon)
    return "none" if most is None else f"none up to {_rounds(most)}"


def _power(power: int | None) -> str:
    return f"none up to 2^{LARGEST_POWER}" if power is None else f"2^{power}"
