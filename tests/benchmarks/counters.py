"""Benchmarks inserting one item into a compiled counter and releasing its sum, in short and long games."""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from dp_bandit_envs.compiling.compiled import Compiled
from dp_bandit_envs.privacy.counters import COUNTERS, Counter, make_counter
from tests.benchmarks.measuring import Line, median_rates

SHORT, LONG = 2**10, 2**20


def insert(state: Any, arm: int, rng: np.random.Generator) -> tuple[float, bool]:
    """Placeholder; replaced by a counter's own function before compiling."""
    raise NotImplementedError


def insert_many(state: Any, arms: int, items: int, rng: np.random.Generator) -> float:
    """Insert items for each of many arms and add their releases up."""
    total = 0.0
    for arm in range(arms):
        for _ in range(items):
            noise, _ = insert(state, arm, rng)
            total += noise
    return total


def lines() -> list[Line]:
    """Return a line for each: twice the levels, at most twice the time."""
    programs: dict[str, tuple[Callable[[], object], int]] = {}
    for name in COUNTERS:
        for horizon in (SHORT, LONG):
            counter = make_counter(name, epsilon=1.0, horizon=horizon)
            counter.new_state(1)
            programs[f"{name} {horizon}"] = functools.partial(_run, name, counter), LONG
    rates = median_rates(programs, repetitions=3)
    found = []
    for name in COUNTERS:
        short, long = (1e9 / rates[f"{name} {horizon}"] for horizon in (SHORT, LONG))
        found.append(
            Line(
                f"counter {name}, an item, T = 2^20 beside 2^10",
                f"{long:.0f} ns",
                f"{short:.0f} ns",
                long / short,
                2.0,
                at_most=True,
            )
        )
    return found


@functools.cache
def _compiled(name: str) -> Callable[..., float]:
    return Compiled(insert_many, {"insert": COUNTERS[name].noise})


def _run(name: str, counter: Counter) -> None:
    assert counter.horizon is not None
    arms = LONG // counter.horizon
    _compiled(name)(counter.new_state(arms), arms, counter.horizon, np.random.default_rng(0))
