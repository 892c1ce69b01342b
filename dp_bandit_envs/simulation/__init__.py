"""Plays games: one the standard way, or many at once."""

from dp_bandit_envs.simulation.play import Game, play
from dp_bandit_envs.simulation.simulate import Outcome, Simulation, simulate

__all__ = ["Game", "Outcome", "Simulation", "play", "simulate"]
