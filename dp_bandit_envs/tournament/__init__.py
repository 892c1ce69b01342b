"""A tournament: everybody's agent, each in a process of its own, in the same hidden games; tables and a page."""

from dp_bandit_envs.tournament.holding import Tournament, hold

__all__ = ["Tournament", "hold"]
