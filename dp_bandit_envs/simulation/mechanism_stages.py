"""The stages of the compiled loop in which mechanisms release what a round revealed.

Every function here is a template whose placeholders are replaced: `release`, `idle`, `own_forget` by a mechanism's
functions, `before` and `before_forget` by the composition of the mechanisms below, `PLACE` by the mechanism's index,
counted from the innermost.
"""

import math
from typing import Any

import numpy as np

from dp_bandit_envs.simulation.graph_feedback import Rows
from dp_bandit_envs.simulation.play_block import Progress, Streams

PLACE = 0
"""Placeholder."""
LOW, HIGH, OUTSIDE = 0.0, 1.0, ""
"""Placeholders: the range of the values that are released, and what is said of others."""
MUST_RELEASE = False
"""Placeholder: whether a mechanism never withholds a gain."""


def release(state: Any, arm: int, gain: float, rng: np.random.Generator) -> tuple[float, int]:
    """Placeholder."""
    raise NotImplementedError


def idle(state: Any, arm: int, rng: np.random.Generator) -> tuple[float, int]:
    """Placeholder."""
    raise NotImplementedError


def own_forget(state: Any) -> None:
    """Placeholder."""


def before(states: Any, arm: int, gain: float, streams: Streams) -> tuple[float, int]:
    """Placeholder."""
    raise NotImplementedError


def add(world: Any, arm: int, states: Any, streams: Streams, progress: Progress) -> None:
    """Placeholder."""


def before_forget(states: Any) -> None:
    """Placeholder."""


def then_release(states: Any, arm: int, gain: float, streams: Streams) -> tuple[float, int]:
    """Pass a gain through the mechanisms below, and then through this one."""
    value, count = before(states, arm, gain, streams)
    if count < 1:
        return 0.0, 0
    value, count = release(states[PLACE], arm, value, streams[PLACE + 1])
    check_release(states, value, count)
    if count < 1:
        return 0.0, 0
    return float(value), 1


def check_release(states: Any, value: float, count: int) -> None:
    """Raise if a mechanism breaks its word. `note_release` takes its place where machine code cannot raise."""
    if count < 1:
        if MUST_RELEASE:
            raise ValueError("a mechanism withheld a gain, which it says it never does.")
    elif not LOW <= value <= HIGH:
        raise ValueError(OUTSIDE)


def note_release(states: Any, value: float, count: int) -> None:
    """Count a broken word."""
    broken = MUST_RELEASE if count < 1 else not LOW <= value <= HIGH
    states[-1].broken[0] += 1 if broken else 0


def settle_one(world: Any, arm: int, states: Any, streams: Streams, progress: Progress) -> None:
    """Give what a batch released of the arm played to the mechanisms above it."""
    if progress.observed[arm] != 0:
        value, count = before(states, arm, progress.gains[arm], streams)
        progress.gains[arm] = value
        progress.observed[arm] = count


def settle_all(world: Any, arm: int, states: Any, streams: Streams, progress: Progress) -> None:
    """Give what a batch released of any arm to the mechanisms above it, from the first arm."""
    for each in range(len(progress.observed)):
        settle_one(world, each, states, streams, progress)


def pass_on(states: Any, arm: int, gain: float, streams: Streams) -> tuple[float, int]:
    """Release a gain as it is: the mechanisms above a batch begin here."""
    return gain, 1


def then_forget(states: Any) -> None:
    """Reset the mechanisms below, and then this one."""
    before_forget(states)
    own_forget(states[PLACE])


def add_one(world: Any, arm: int, states: Any, streams: Streams, progress: Progress) -> None:
    """Pass the gain of the arm played to a mechanism that releases sums."""
    if progress.observed[arm] != 0:
        value, count = release(states[PLACE], arm, progress.gains[arm], streams[PLACE + 1])
        put(arm, value, count, states, progress)


def add_row(graph: Rows, arm: int, states: Any, streams: Streams, progress: Progress) -> None:
    """Pass it the gains of a row of a feedback graph."""
    for place in range(graph.starts[arm], graph.starts[arm + 1]):
        each = graph.revealed[place]
        if progress.observed[each] != 0:
            value, count = release(states[PLACE], each, progress.gains[each], streams[PLACE + 1])
            put(each, value, count, states, progress)


def add_every(world: Any, arm: int, states: Any, streams: Streams, progress: Progress) -> None:
    """Pass it the gains of all arms that were revealed."""
    for each in range(len(progress.observed)):
        if progress.observed[each] != 0:
            value, count = release(states[PLACE], each, progress.gains[each], streams[PLACE + 1])
            put(each, value, count, states, progress)


def add_at_once(each: int, gain: float, states: Any, streams: Streams, progress: Progress) -> None:
    """Pass it a gain as soon as it is revealed: the same without mechanisms below it and without batches."""
    value, count = release(states[PLACE], each, gain, streams[PLACE + 1])
    put(each, value, count, states, progress)


def nothing_to_clear(world: Any, arm: int, batch_size: int, progress: Progress) -> None:
    """Do nothing, as gains that are passed on at once are not kept."""


def add_to_all(world: Any, arm: int, states: Any, streams: Streams, progress: Progress) -> None:
    """Pass it what a step revealed and call `idle` for the other arms, unless nothing was revealed."""
    some = False
    for each in range(len(progress.observed)):
        some |= progress.observed[each] != 0
    if some:
        for each in range(len(progress.observed)):
            if progress.observed[each] != 0:
                value, count = release(states[PLACE], each, progress.gains[each], streams[PLACE + 1])
            else:
                value, count = idle(states[PLACE], each, streams[PLACE + 1])
            put(each, value, count, states, progress)


def add_then_forget(world: Any, arm: int, states: Any, streams: Streams, progress: Progress) -> None:
    """Let a mechanism that releases sums forget after it got what the step revealed."""
    add(world, arm, states, streams, progress)
    own_forget(states[PLACE])


def put(arm: int, value: float, count: int, states: Any, progress: Progress) -> None:
    """Store the release of an arm's sum."""
    if count >= 1:
        check_sum(states, value)
        progress.sums[arm] = value
        progress.counts[arm] = count
        progress.releases[arm] += 1


def check_sum(states: Any, value: float) -> None:
    """Raise if a released sum is no number. `note_sum` takes its place where machine code cannot raise."""
    if not math.isfinite(value):
        raise ValueError("a mechanism released a sum that is no finite number.")


def note_sum(states: Any, value: float) -> None:
    """Count a sum that is no number."""
    states[-1].broken[0] += 0 if -math.inf < value < math.inf else 1
