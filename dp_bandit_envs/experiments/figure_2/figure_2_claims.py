"""Compares what Tossou and Dimitrakakis (2016) say about their figure 2 with the results."""

from dp_bandit_envs.experiments.figure_2 import figure_2_gaps as gaps
from dp_bandit_envs.experiments.figure_2 import figure_2_orders as orders
from dp_bandit_envs.experiments.figure_2 import figure_2_theorems as theorems
from dp_bandit_envs.experiments.figure_2 import figure_2_words as words
from dp_bandit_envs.experiments.verdicts import judged
from dp_bandit_envs.runs.experiment import Results
from dp_bandit_envs.runs.run_report import Claim


def claims(results: Results) -> list[Claim]:
    """Return every claim in the paper's discussion of its figure; the last four are theorems."""
    return [
        judged(results, orders.best_of_the_private, words.best_of_the_private),
        judged(results, gaps.gap_to_ucb, words.gap_to_ucb),
        judged(results, orders.early_order, words.early_order),
        judged(results, orders.late_order, words.late_order),
        judged(results, orders.private_ucb_order, words.private_ucb_order),
        judged(results, gaps.spread_of_own, words.spread_of_own),
        judged(results, gaps.spread_of_private_ucb, words.spread_of_private_ucb),
        judged(results, theorems.optimal_regret, words.optimal_regret, fewest=0),
        judged(results, theorems.bounds_as_printed, words.bounds_as_printed),
        judged(results, theorems.hybrid_privacy, words.hybrid_privacy, fewest=0),
        judged(results, theorems.interval_privacy, words.interval_privacy, fewest=0),
    ]
