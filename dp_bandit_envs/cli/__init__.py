"""The command line `dp-bandit`."""

from dp_bandit_envs.cli.app import main

__all__ = ["main"]
