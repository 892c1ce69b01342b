"""Comparisons: every algorithm at every epsilon in every game, as one object with tables, plots and files."""

from dp_bandit_envs.experiments.comparison import Comparison, compare, load
from dp_bandit_envs.experiments.entries import Entry
from dp_bandit_envs.experiments.ranking import Ranking

__all__ = ["Comparison", "Entry", "Ranking", "compare", "load"]
