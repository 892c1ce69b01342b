"""Theory: upper and lower bounds on regret, and the divergences that they are made of."""
