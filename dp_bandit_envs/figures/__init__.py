"""Figures of papers, played again: one file a figure, with its games, its algorithms and the claims it tests."""

from dp_bandit_envs.comparison.reporting import Report
from dp_bandit_envs.figures.reproduction import reproduce
from dp_bandit_envs.runs.run_report import Claim, Verdict

__all__ = ["Claim", "Report", "Verdict", "reproduce"]
