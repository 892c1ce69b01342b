"""Benchmarks Thompson sampling on a graph of 500 arms, and the memory of a sparse graph of 10,000."""

import functools
import tracemalloc

import gymnasium as gym

from dp_bandit_envs import simulate
from tests.benchmarks.measuring import Line, median_rates, written

HORIZON = 100_000
GRAPH = {"graph": "erdos-renyi", "n_arms": 500, "degree": 10}


def lines() -> list[Line]:
    """Return the lines: TS-N plays at least 100 k rounds a second; 10,000 arms take memory for their edges only."""
    names = ("TS-N", "TS-MaxN", "UCB-N", "UCB-MaxN", "EXP3-SET")
    rates = median_rates({name: (functools.partial(_play, name), HORIZON) for name in names}, repetitions=3)
    speeds = [
        Line(f"{name}, K = 500, mean degree 10", written(rate), "", rate / 1e3, 100, unit=" k/s")
        for name, rate in rates.items()
    ]
    tracemalloc.start()
    env = gym.make("DPBandit-Graph-v0", graph="power-law", n_arms=10_000, degree=10, horizon=100)
    env.reset(seed=0)
    for arm in range(100):
        env.step(arm)
    peak = tracemalloc.get_traced_memory()[1] / 2**20
    tracemalloc.stop()
    return [
        *speeds,
        Line(
            "memory, K = 10,000, 50,000 edges",
            f"{peak:.0f} MB",
            "",
            peak,
            200,
            unit=" MB",
            at_most=True,
            note="a K x K matrix of bytes: 95 MB, of doubles 763 MB; networkx takes most of ours",
        ),
    ]


def _play(name: str) -> None:
    simulate("DPBandit-Graph-v0", [name], horizon=HORIZON, checkpoints=[HORIZON], env_kwargs=GRAPH, seed=1)
