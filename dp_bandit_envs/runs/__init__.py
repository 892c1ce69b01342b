"""Runs: what is played, the folder that holds its results, playing what is missing, and the report."""
