"""Times benchmarks, and defines the line that each prints."""

import dataclasses
import statistics
import time
from collections.abc import Callable, Mapping

Programs = Mapping[str, tuple[Callable[[], object], int]]


@dataclasses.dataclass(frozen=True)
class Line:
    """One line of the table.

    Attributes:
        name: What was measured.
        ours, other: The two measurements as text; `other` is empty if there is nothing to compare with.
        result: The number that is compared with `wanted`: a ratio, or `ours` itself.
        wanted: The bound on it.
        unit: The unit of both: `"x"`, `" M/s"`, ...
        at_most: Whether smaller is better.
        note: A remark for the reader.
    """

    name: str
    ours: str
    other: str
    result: float
    wanted: float
    unit: str = "x"
    at_most: bool = False
    note: str = ""

    @property
    def reached(self) -> bool:
        """Whether the result meets the bound."""
        return self.result <= self.wanted if self.at_most else self.result >= self.wanted


@dataclasses.dataclass(frozen=True)
class Skipped:
    """A line that could not be measured here, and why."""

    name: str
    why: str


def seconds(work: Callable[[], object]) -> float:
    """Return how long `work` takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def median_rates(programs: Programs, repetitions: int = 7) -> dict[str, float]:
    """Return the median number of rounds a second of each program; see `rates`."""
    return {name: statistics.median(values) for name, values in rates(programs, repetitions).items()}


def best_rates(programs: Programs, repetitions: int = 7) -> dict[str, float]:
    """Return the largest number of rounds a second of each program; see `rates`."""
    return {name: max(values) for name, values in rates(programs, repetitions).items()}


def rates(programs: Programs, repetitions: int) -> dict[str, list[float]]:
    """Return the numbers of rounds a second of each program.

    They take turns, so that a slow minute of the machine affects all of them, after one warm-up turn.

    Args:
        programs: By name, what to do and the number of rounds in it.
        repetitions: Number of turns.
    """
    found: dict[str, list[float]] = {name: [] for name in programs}
    for turn in range(repetitions + 1):
        for name, (work, rounds) in programs.items():
            rate = rounds / seconds(work)
            if turn > 0:
                found[name].append(rate)
    return found


def written(rate: float) -> str:
    """Return a number of rounds a second for reading, such as `16.4 M/s`."""
    return f"{rate / 1e6:.1f} M/s" if rate >= 1e6 else f"{rate / 1e3:.0f} k/s"
