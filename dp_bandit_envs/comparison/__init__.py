"""Comparisons: every algorithm at every epsilon in every game, as one object with tables, plots and files."""

from dp_bandit_envs.comparison.compared import Comparison, load
from dp_bandit_envs.comparison.comparing import compare
from dp_bandit_envs.comparison.entries import Entry
from dp_bandit_envs.comparison.ranking import Ranking

__all__ = ["Comparison", "Entry", "Ranking", "compare", "load"]
