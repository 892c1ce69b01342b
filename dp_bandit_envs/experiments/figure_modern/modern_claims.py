"""Compares the literature's claims about private stochastic bandits with the results of figure-modern."""

from functools import partial

from dp_bandit_envs.experiments.figure_modern import modern_lower_bound as lower_bound
from dp_bandit_envs.experiments.figure_modern import modern_orders as orders
from dp_bandit_envs.experiments.figure_modern import modern_words as words
from dp_bandit_envs.experiments.verdicts import judged
from dp_bandit_envs.runs.experiment import Results
from dp_bandit_envs.runs.run_report import Claim


def claims(over_time: Results, over_epsilon: Results) -> list[Claim]:
    """Return every claim with its verdict from both experiments."""
    return [
        *(judged(over_time, partial(orders.at_one_epsilon, order=one), words.at_one_epsilon) for one in orders.ORDERS),
        *(judged(over_epsilon, partial(orders.over_epsilon, order=one), words.over_epsilon) for one in orders.ORDERS),
        judged(over_time, lower_bound.above_the_lower_bound, words.above_the_lower_bound),
        judged(over_time, lower_bound.reaches_the_lower_bound, words.reaches_the_lower_bound),
        judged(over_epsilon, lower_bound.free_at_large_epsilon, words.free_at_large_epsilon),
        judged(over_epsilon, lower_bound.inverse_at_small_epsilon, words.inverse_at_small_epsilon),
    ]
