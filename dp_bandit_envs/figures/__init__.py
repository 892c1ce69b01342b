"""Reproductions of papers' figures: one file per figure, with its games, its algorithms and the claims it tests."""

from dp_bandit_envs.experiments.report import Claim, Report, Verdict
from dp_bandit_envs.figures.reproduction import reproduce

__all__ = ["Claim", "Report", "Verdict", "reproduce"]
