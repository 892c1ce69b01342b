"""Compares what Tossou and Dimitrakakis (2017) say about their figure 1 with the results."""

from dp_bandit_envs.experiments.figure_1 import figure_1_statistics as statistics
from dp_bandit_envs.experiments.figure_1 import figure_1_words as words
from dp_bandit_envs.experiments.verdicts import judged
from dp_bandit_envs.runs.experiment import Results
from dp_bandit_envs.runs.run_report import Claim


def claims(results: Results) -> list[Claim]:
    """Return every claim in the paper's discussion of its figure, with its verdict."""
    return [
        judged(results, statistics.shares_of_bounds, words.shares_of_bounds),
        judged(results, statistics.beside_exp3, words.beside_exp3),
        judged(results, statistics.two_epsilons, words.two_epsilons, fewest=0),
        judged(results, statistics.lap_for_free, words.lap_for_free),
        judged(results, statistics.lap_ahead, words.lap_ahead),
        judged(results, statistics.switching_costs, words.switching_costs),
        judged(results, statistics.within_bounds, words.within_bounds),
        judged(results, statistics.tau_for_free, words.tau_for_free),
    ]
