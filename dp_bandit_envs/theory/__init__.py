"""Theory: upper and lower regret bounds, and their divergences, batch sizes and constants."""
