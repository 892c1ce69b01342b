"""Compares the claims on the price of privacy with the results of price-of-privacy."""

import math
from collections.abc import Mapping
from functools import partial

from dp_bandit_envs.experiments.figure_price import price_exponents as exponents
from dp_bandit_envs.experiments.figure_price import price_free as free
from dp_bandit_envs.experiments.figure_price import price_many as many
from dp_bandit_envs.experiments.figure_price import price_words as words
from dp_bandit_envs.experiments.figure_price.price_numbers import Estimate
from dp_bandit_envs.experiments.figure_price.price_numbers import over_horizon as ratios_over_horizon
from dp_bandit_envs.experiments.figure_price.price_setup import COINS, FRESH, GAUSSIAN, OWN, PANELS, PAPER, Price
from dp_bandit_envs.experiments.verdicts import judged
from dp_bandit_envs.runs.experiment import Results
from dp_bandit_envs.runs.run_report import Claim

LEADERS = (PAPER, OWN, GAUSSIAN)
"""Algorithms whose price may vanish, from the paper's noise to today's."""
DIMENSIONS = (10, 100)
"""Those at which FTPL's noise is worked out."""


def claims(over_horizon: Results, over_epsilon: Results, for_exponents: Results, many_experts: Results) -> list[Claim]:
    """Return every claim with its verdict from the four experiments."""
    return [
        *(judged(over_horizon, partial(free.nearly_free, prices=_of(name)), words.nearly_free) for name in LEADERS),
        judged(
            over_horizon,
            partial(free.exactly_free, dimensions=DIMENSIONS),
            words.exactly_free,
            fewest=0,
        ),
        judged(over_horizon, partial(free.constant_factor, prices=_of(COINS) + _of(FRESH)), words.before_the_paper),
        *(
            judged(over_horizon, partial(free.constant_factor, prices=prices), words.bandits)
            for prices in (PANELS["bandits"][:1], PANELS["bandits"][1:2], PANELS["bandits"][2:])
        ),
        *(
            judged(for_exponents, partial(exponents.measured, levels=over_epsilon, row=row), words.exponents)
            for row in exponents.ROWS
        ),
        judged(many_experts, many.crossing, words.crossing),
    ]


def numbers(
    over_horizon: Results, over_epsilon: Results, for_exponents: Results, many_experts: Results
) -> dict[str, Mapping[str, float]]:
    """Return what the page quotes: ratios of regrets, from which T on privacy is nearly free, exponents."""
    found: dict[str, Mapping[str, float]] = {}
    for price in (price for prices in PANELS.values() for price in prices):
        for length, ratio in ratios_over_horizon(over_horizon, price).items():
            found[f"ratio/{price}/{length}"] = _plain(ratio)
    for name in LEADERS:
        nearly, _ = free.nearly_free(over_horizon, _of(name))
        for price, first in nearly.first.items():
            by_bound = nearly.by_bound.get(price)
            found[f"nearly free/{price}"] = {
                "from": first or math.inf,
                "by bound": math.inf if by_bound is None else 2.0**by_bound,
            }
    exact, _ = free.exactly_free(over_horizon, DIMENSIONS)
    found["exactly free"] = {f"d = {size}": since or math.inf for size, since in exact.horizons.items()}
    for row in exponents.ROWS:
        one, _ = exponents.measured(for_exponents, over_epsilon, row)
        for prices, of in ((one.regret, ""), (one.extra, ", extra")):
            for price, each in prices.items():
                for quantity, power in each.items():
                    found[f"exponent/{price}{of}/{quantity}"] = {**_plain(power.measured), "paper": power.paper}
        found[f"exponent/without privacy, {row.game.name}/T"] = _plain(one.free.measured)
    for name, ends in many.crossing(many_experts)[0].ratios.items():
        for size, ratio in zip(("few", "many"), ends, strict=True):
            found[f"{size} experts/{name}"] = _plain(ratio)
    return found


def _plain(one: Estimate) -> Mapping[str, float]:
    return {"mean": one.value, "error": one.error}


def _of(name: str) -> tuple[Price, ...]:
    """Return an algorithm's lines with full information."""
    return tuple(price for panel in ("experts", "ball") for price in PANELS[panel] if price.private == name)
