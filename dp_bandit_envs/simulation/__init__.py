"""Plays games: one in ordinary Python, or many at once, compiled."""

from dp_bandit_envs.simulation.playing import Game, play
from dp_bandit_envs.simulation.results import Outcome, Simulation
from dp_bandit_envs.simulation.simulation import simulate

__all__ = ["Game", "Outcome", "Simulation", "play", "simulate"]
