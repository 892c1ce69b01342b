"""Compares the thesis' claims on graph feedback, and a question about privacy, with the results of figure-graph."""

from functools import partial

from dp_bandit_envs.experiments.figure_graph import graph_statistics as statistics
from dp_bandit_envs.experiments.figure_graph import graph_words as words
from dp_bandit_envs.experiments.verdicts import judged
from dp_bandit_envs.runs.experiment import Results
from dp_bandit_envs.runs.run_report import Claim


def claims(graphs: Results, feedback: Results) -> list[Claim]:
    """Return every claim with its verdict from both experiments."""
    less = statistics.less_regret
    return [
        judged(graphs, partial(less, better="TS-N", worse="UCB-MaxN"), words.without_the_graph),
        judged(graphs, partial(less, better="TS-MaxN", worse="TS-N"), words.best_that_reveals),
        judged(graphs, statistics.bayesian_bound, words.bayesian_bound),
        judged(feedback, statistics.feedback, words.feedback),
    ]
