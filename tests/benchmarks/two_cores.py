"""Measures the speed-up from a second core: `simulate(..., jobs=2)` against `jobs=1`."""

import functools
import os

from dp_bandit_envs import simulate
from tests.benchmarks.measuring import Line, Skipped, best_rates, written

NAME = "EXP3 simulated, two cores beside one"
HORIZON, TRIALS = 2**18, 1024
"""One core plays them in a second or two; it takes some thousandths to begin and to end."""


def lines() -> list[Line | Skipped]:
    """Return the line: at least 1.85 times as fast."""
    if (os.cpu_count() or 1) < 2:
        return [Skipped(NAME, "there is only one core here")]
    run = functools.partial(simulate, "DPBandit-Stochastic-v0", ["EXP3"], horizon=HORIZON, trials=TRIALS)
    rounds = HORIZON * TRIALS
    # The best of each: whatever else runs makes both slower, but two cores more often.
    rates = best_rates({jobs: (functools.partial(run, jobs=int(jobs)), rounds) for jobs in ("1", "2")}, repetitions=10)
    return [Line(NAME, written(rates["2"]), written(rates["1"]), rates["2"] / rates["1"], 1.85)]
