"""Figures: one file for each kind, and one for the style that all share."""

from dp_bandit_envs.checks import require

require("matplotlib", extra="plots")
