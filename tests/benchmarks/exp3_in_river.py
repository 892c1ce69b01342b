"""Compares EXP3 in `simulate`, on one core, with EXP3 of other libraries."""

import functools
import importlib.util

import numpy as np

from dp_bandit_envs import Exp3, simulate
from dp_bandit_envs.adversaries import Stochastic
from tests.benchmarks.measuring import Line, Skipped, median_rates, written

HORIZON, TRIALS = 2**18, 16
RIVER_ROUNDS = 20_000
SMPYBANDITS = 16e3
"""Rounds a second: the upper end of the 14-16 k that were measured elsewhere, quoted and not measured again."""


def lines() -> list[Line | Skipped]:
    """Return two lines: at least 40 times as fast as river, and 700 times the published speed of SMPyBandits."""
    simulated = functools.partial(simulate, "DPBandit-Stochastic-v0", ["EXP3"], horizon=HORIZON, trials=TRIALS)
    programs = {"ours": (simulated, HORIZON * TRIALS)}
    name = "EXP3 simulated, one core, beside river"
    beside_river: list[Line | Skipped] = [Skipped(name, "river is not installed: pip install 'dp-bandit-envs[bench]'")]
    with_river = importlib.util.find_spec("river") is not None
    if with_river:
        programs["river"] = (functools.partial(play_in_river, given_gains()), RIVER_ROUNDS)
    rates = median_rates(programs)
    if with_river:
        ratio = rates["ours"] / rates["river"]
        beside_river = [Line(name, written(rates["ours"]), written(rates["river"]), ratio, 40)]
    quoted = Line(
        "EXP3 simulated, one core, beside SMPyBandits",
        written(rates["ours"]),
        written(SMPYBANDITS),
        rates["ours"] / SMPYBANDITS,
        700,
        note="quoted, not measured here (14-16 k/s elsewhere)",
    )
    return [*beside_river, quoted]


def given_gains() -> list[list[float]]:
    """Return gains drawn beforehand, so that river's time is its algorithm's alone; ours draws them in its time."""
    adversary = Stochastic(horizon=RIVER_ROUNDS)
    adversary.begin(np.random.default_rng(0))
    return adversary.next_gains(RIVER_ROUNDS).tolist()


def play_in_river(gains: list[list[float]]) -> None:
    """Play one game of river's EXP3, in the loop of its manual."""
    from river import bandit

    arms = range(len(gains[0]))
    policy = bandit.Exp3(gamma=Exp3().rate(len(arms), len(gains)), seed=0)
    for row in gains:
        arm = policy.pull(arms)
        policy.update(arm, row[arm])
