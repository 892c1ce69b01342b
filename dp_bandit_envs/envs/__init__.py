"""Environments: games, vector games and games on graphs, the table of their ids, and their frames and texts."""
