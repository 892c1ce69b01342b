"""Benchmarks every stochastic algorithm in `simulate` with ten arms, including the drawing of gains."""

import functools
from collections.abc import Callable

from dp_bandit_envs import simulate
from tests.benchmarks.measuring import Line, median_rates, written

MEANS = [0.1] * 8 + [0.55, 0.2]
HORIZON = 2**18
ALGORITHMS = (
    "UCB",
    "KL-UCB",
    "TS",
    "DP-UCB-BOUND",
    "DP-UCB",
    "DP-UCB-INT",
    "Private-UCB",
    "DP-SE",
    "AdaP-UCB",
    "AdaP-KLUCB",
    "Lazy-DP-TS",
    "DP-TS",
    "DP-KLUCB",
    "DP-IMED",
    "LDP-UCB-L",
    "LDP-UCB-B",
)
IN_LANES, TRIALS = "UCB, 16 games side by side", 16
WANTED = {"UCB": 10.0, "KL-UCB": 0.3, IN_LANES: 25.0}
"""In M rounds/s; KL-UCB solves an equation in every round."""
PUBLISHED = 65e3
"""Rounds a second of github.com/keirp/private-bandits, as measured on another machine."""


def lines() -> list[Line]:
    """Return a line for each: at least 3 M rounds a second on one core, or the rate in `WANTED`."""
    programs: dict[str, tuple[Callable[[], object], int]] = {
        name: (functools.partial(_play, name), HORIZON) for name in ALGORITHMS
    }
    programs[IN_LANES] = functools.partial(_play, "UCB", TRIALS), TRIALS * HORIZON
    rates = median_rates(programs, repetitions=5)
    of_each = [
        Line(f"{name}, K = 10", written(rate), "", rate / 1e6, WANTED.get(name, 3.0), unit=" M/s")
        for name, rate in rates.items()
    ]
    bound = rates["DP-UCB-BOUND"]
    published = Line(
        "DP-UCB-BOUND beside published code",
        written(bound),
        written(PUBLISHED),
        bound / PUBLISHED,
        50,
        note="keirp/private-bandits, measured elsewhere",
    )
    return [*of_each, published]


def _play(name: str, trials: int = 1) -> None:
    game = {"horizon": HORIZON, "checkpoints": [HORIZON], "env_kwargs": {"means": MEANS}}
    simulate("DPBandit-Stochastic-v0", [name], trials=trials, seed=1, **game)
