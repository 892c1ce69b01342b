"""The report's words for each claim about figure-modern."""

from collections.abc import Mapping

from dp_bandit_envs.experiments.figure_modern.modern_lower_bound import (
    NEARLY,
    TOLD,
    Estimate,
    LargeEpsilon,
    Played,
    Slopes,
    SmallEpsilon,
)
from dp_bandit_envs.experiments.figure_modern.modern_orders import Order, OrderAtOneEpsilon, OrderOverEpsilon, Pair
from dp_bandit_envs.experiments.figure_modern.modern_setup import REFERENCE
from dp_bandit_envs.experiments.sentences import joined, with_names
from dp_bandit_envs.experiments.verdicts import DECIDES, Words

AVERAGED = "averaged over ln t in the last two powers of ten"
SLOPES = "slope over the last two powers of ten, as a multiple of the slope of the bound"


def at_one_epsilon(found: OrderAtOneEpsilon) -> Words:
    """Return the words for an order at one epsilon."""
    shown = {_pair(pair): f"{one.ratio:.2f} / {one.ratio_at_end:.2f}" for pair, one in found.pairs.items()}
    errors = {_pair(pair): one.errors for pair, one in found.pairs.items()}
    behind = [name for name, each in errors.items() if each < -DECIDES]
    unclear = [name for name, each in errors.items() if abs(each) <= DECIDES]
    at_end = {_pair(pair): one.errors_at_end for pair, one in found.pairs.items()}
    return Words(
        says=f"{_order(found.order)}: at epsilon = {found.epsilon:g}, T = {found.horizon:,}.",
        seen=f"ratio of mean regrets, {AVERAGED} / at T alone: {with_names(shown)}; {_at_end(at_end)}",
        yes=f"by at least {min(errors.values()):.0f} standard errors",
        no=f"the other way round: {joined(behind)}",
        unknown=f" for {joined(unclear)}" if unclear else "",
    )


def over_epsilon(found: OrderOverEpsilon) -> Words:
    """Return the words for an order at every epsilon."""
    levels = max(map(len, found.pairs.values()))
    clear = {_pair(pair): f"{sum(one.errors > DECIDES for one in each.values())}" for pair, each in found.pairs.items()}
    at_end = {
        f"{_pair(pair)}, epsilon = {epsilon:g}": one.errors_at_end
        for pair, each in found.pairs.items()
        for epsilon, one in each.items()
    }
    behind = [_with_levels(*each) for each in found.behind.items()]
    behind = behind or [f"{_with_levels(*each)}, at T" for each in found.behind_at_end.items()]
    return Words(
        says=f"{_order(found.order)}: at every epsilon, T = {found.horizon:,}.",
        seen=f"clearly less, {AVERAGED}, at how many of {levels} values of epsilon: {with_names(clear)};"
        f" {_at_end(at_end)}",
        yes="at all of them",
        no=f"the other way round: {'; '.join(behind)}. All are of order ln T / epsilon there, and constants decide",
        unknown=f" for {'; '.join(_with_levels(*each) for each in found.unclear.items())}",
    )


def above_the_lower_bound(found: Slopes) -> Words:
    """Return the words for slopes below the bound's."""
    below = [f"{_played(name)}: {_with_error(one)}" for name, one in found.below.items()]
    return Words(
        says=f"No regret grows more slowly in ln t than its lower bound ({REFERENCE}: than that without privacy;"
        f" {joined(TOLD)}, which knows T and stops exploring for good, so that its regret stops growing: regret"
        " at T over ln T).",
        seen=f"{SLOPES}: {with_names({_played(name): f'{one.value:.2f}' for name, one in found.slopes.items()})}",
        yes="none is below 1 by three standard errors",
        no=f"below: {'; '.join(below)}. The bound is about the limit of large t, and an algorithm can for a"
        " while exploit what it learnt from earlier pulls",
    )


def reaches_the_lower_bound(found: Slopes) -> Words:
    """Return the words for slopes over the bound's."""
    return Words(
        says=f"DP-KLUCB and DP-IMED match the lower bound up to the growth of their blocks (at most {NEARLY:g}).",
        seen=f"{SLOPES}: {_estimates(found.slopes)}",
        yes=f"none is above {NEARLY:g} by three standard errors",
        no=f"above: {joined([_played(name) for name in found.over])}, by T = {found.horizon:,}; the claim is about the"
        " limit",
    )


def free_at_large_epsilon(found: LargeEpsilon) -> Words:
    """Return the words for the price of privacy at the largest epsilon."""
    ratios = with_names({_played(name): f"{one:.2f}" for name, one in found.ratios.items()})
    bounds = with_names({game: f"{one:.2f}" for game, one in found.bounds.items()})
    return Words(
        says=f"Privacy is nearly free for large epsilon: at {found.epsilon:g}, DP-KLUCB and DP-IMED have less than"
        f" {NEARLY:g} times the regret of {REFERENCE}.",
        seen=f"ratio of mean regrets: {ratios}; ratio of the lower bounds: {bounds}",
        yes="in both games",
        no=f"not at T = {found.horizon:,}",
    )


def inverse_at_small_epsilon(found: SmallEpsilon) -> Words:
    """Return the words for the price of privacy at the smallest."""
    return Words(
        says="For small epsilon regret is proportional to 1 / epsilon.",
        seen=f"exponent of epsilon between {found.low:g} and {found.high:g}: {_estimates(found.exponents)}",
        yes="-1 to within a quarter",
        no=f"not at T = {found.horizon:,}: part of the regret does not depend on epsilon, and none can exceed T"
        " times the gap",
        unknown=f" for {joined([_played(name) for name in found.loose])}",
    )


def _order(order: Order) -> str:
    has = "has less" if len(order.better) == 1 else "have no more"
    return f"{joined(order.better)} {has} regret than {joined(order.worse)}"


def _pair(pair: Pair) -> str:
    return f"{pair.better} to {pair.worse}, {pair.game}"


def _with_levels(pair: Pair, levels: list[float]) -> str:
    return f"{_pair(pair)}, epsilon = {joined([f'{epsilon:g}' for epsilon in levels])}"


def _at_end(errors: Mapping[str, float]) -> str:
    """Return the result if regret at T alone decided."""
    clear = sum(each > DECIDES for each in errors.values())
    behind = [name for name, each in errors.items() if each < -DECIDES]
    text = f"at T alone clear in {clear} of {len(errors)} cases"
    return f"{text}, the other way round in {'; '.join(behind)}" if behind else text


def _played(name: Played) -> str:
    return f"{name.algorithm}, {name.game}"


def _estimates(estimates: Mapping[Played, Estimate]) -> str:
    return with_names({_played(name): _with_error(one) for name, one in estimates.items()})


def _with_error(one: Estimate) -> str:
    return f"{one.value:.2f} ± {one.error:.2f}"
