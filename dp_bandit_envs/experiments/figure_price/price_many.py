"""Which private learner has less regret with few and with many experts."""

from collections.abc import Mapping
from typing import NamedTuple

from dp_bandit_envs.experiments.figure_price.price_games import MANY
from dp_bandit_envs.experiments.figure_price.price_numbers import Estimate, ratio_of_means
from dp_bandit_envs.experiments.figure_price.price_setup import (
    COINS,
    EPOCHS,
    HEDGE,
    LAZY,
    NUMBERS_OF_EXPERTS,
    OWN,
    last,
    longest,
)
from dp_bandit_envs.experiments.verdicts import all_ahead, over_error
from dp_bandit_envs.runs.experiment import Results
from dp_bandit_envs.runs.run_report import Verdict


class Crossing(NamedTuple):
    """Who has less regret with the fewest and with the most experts.

    Attributes:
        few, many: The numbers of experts.
        horizon: The number of rounds.
        tree: By how many standard errors sums have less regret with few experts, by rival.
        rivals: By how many standard errors each rival has less regret than sums with many.
        ratios: Regret over Hedge's, with few and with many experts.
    """

    few: int
    many: int
    horizon: int
    tree: Mapping[str, float]
    rivals: Mapping[str, float]
    ratios: Mapping[str, tuple[Estimate, Estimate]]


def crossing(results: Results) -> tuple[Crossing, Verdict]:
    """Judge whether private sums are better with few experts, and lazy or rare draws with many."""
    horizon, (few, *_, many) = longest(results), NUMBERS_OF_EXPERTS
    small, large = (MANY.key(horizon, number) for number in (few, many))
    tree = {name: over_error(last(results, small, name) - last(results, small, OWN)) for name in (COINS, LAZY)}
    rivals = {name: over_error(last(results, large, OWN) - last(results, large, name)) for name in (LAZY, EPOCHS)}
    ratios = {
        name: (
            ratio_of_means(last(results, small, name), last(results, small, HEDGE)),
            ratio_of_means(last(results, large, name), last(results, large, HEDGE)),
        )
        for name in (OWN, COINS, LAZY, EPOCHS)
    }
    found = Crossing(few, many, horizon, tree, rivals, ratios)
    return found, all_ahead([*tree.values(), *rivals.values()])
