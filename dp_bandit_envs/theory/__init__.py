"""Theory: regret bounds from above and below, and the divergences, batch sizes and constants they are made of."""
