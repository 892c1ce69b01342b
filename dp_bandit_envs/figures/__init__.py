"""Figures of papers, played again: one file a figure, with its games, its algorithms and the claims it tests."""

from dp_bandit_envs.experiments.reporting import Report
from dp_bandit_envs.experiments.run_report import Claim, Verdict
from dp_bandit_envs.figures.reproduction import reproduce

__all__ = ["Claim", "Report", "Verdict", "reproduce"]
