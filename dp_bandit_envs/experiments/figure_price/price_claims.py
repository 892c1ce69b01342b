"""Compares the claims on the price of privacy with the results of price-of-privacy."""

from functools import partial

from dp_bandit_envs.experiments.claim import Claim
from dp_bandit_envs.experiments.experiment import Results
from dp_bandit_envs.experiments.figure_price import price_exponents as exponents
from dp_bandit_envs.experiments.figure_price import price_free as free
from dp_bandit_envs.experiments.figure_price import price_many as many
from dp_bandit_envs.experiments.figure_price import price_words as words
from dp_bandit_envs.experiments.figure_price.price_setup import FRESH, GAUSSIAN, OWN, PANELS, PAPER, Price
from dp_bandit_envs.experiments.verdicts import judged

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
        judged(over_horizon, partial(free.constant_factor, prices=_of(FRESH)), words.fresh_noise),
        *(
            judged(over_horizon, partial(free.constant_factor, prices=prices), words.bandits)
            for prices in (PANELS["bandits"][:1], PANELS["bandits"][1:])
        ),
        *(
            judged(for_exponents, partial(exponents.measured, levels=over_epsilon, row=row), words.exponents)
            for row in exponents.ROWS
        ),
        judged(many_experts, many.crossing, words.crossing),
    ]


def _of(name: str) -> tuple[Price, ...]:
    """Return an algorithm's lines with full information."""
    return tuple(price for panel in ("experts", "ball") for price in PANELS[panel] if price.private == name)
