"""What fair coins cost every algorithm, whatever it does: the sum of the best arm, seen afterwards."""

import numpy as np
from scipy import stats


def best_of_coins(n_arms, horizon):
    """Return E max over arms of S_i, for sums S_i of `horizon` fair signs: twice every algorithm's regret on coins."""
    heads = np.arange(horizon + 1)
    law = np.diff(stats.binom.cdf(heads, horizon, 0.5) ** n_arms, prepend=0.0)
    return float(law @ (2 * heads - horizon))
