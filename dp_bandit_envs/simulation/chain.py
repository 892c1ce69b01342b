"""Composes the functions of a chain of mechanisms into the stages of the compiled loop.

Every function here is a template whose placeholders are replaced: `release`, `idle`, `own_forget` by a mechanism's
functions, `before` and `before_forget` by the composition of the mechanisms below, `PLACE` by the mechanism's index,
counted from the innermost.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from types import FunctionType
from typing import Any, NamedTuple

import numpy as np

from dp_bandit_envs.privacy.mechanism import Mechanism
from dp_bandit_envs.privacy.values import Values
from dp_bandit_envs.simulation import full_feedback, graph_feedback, play_block, points
from dp_bandit_envs.simulation.graph_feedback import Rows
from dp_bandit_envs.simulation.play_block import Progress, Streams
from dp_bandit_envs.specialise import specialise

PLACE = 0
"""Placeholder."""
LOW, HIGH, OUTSIDE = 0.0, 1.0, ""
"""Placeholders: the range of the values that are released, and what is said of others."""
MUST_RELEASE = False
"""Placeholder: whether a mechanism never withholds a gain."""


class NotCompilableError(Exception):
    """Raised if the compiled loop cannot play an algorithm; the message says why."""


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
    if count < 1:
        if MUST_RELEASE:
            raise ValueError("a mechanism withheld a gain, which it says it never does.")
        return 0.0, 0
    if not LOW <= value <= HIGH:
        raise ValueError(OUTSIDE)
    return float(value), 1


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
        put(arm, value, count, progress)


def add_row(graph: Rows, arm: int, states: Any, streams: Streams, progress: Progress) -> None:
    """Pass it the gains of a row of a feedback graph."""
    for place in range(graph.starts[arm], graph.starts[arm + 1]):
        each = graph.revealed[place]
        if progress.observed[each] != 0:
            value, count = release(states[PLACE], each, progress.gains[each], streams[PLACE + 1])
            put(each, value, count, progress)


def add_every(world: Any, arm: int, states: Any, streams: Streams, progress: Progress) -> None:
    """Pass it the gains of all arms that were revealed."""
    for each in range(len(progress.observed)):
        if progress.observed[each] != 0:
            value, count = release(states[PLACE], each, progress.gains[each], streams[PLACE + 1])
            put(each, value, count, progress)


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
            put(each, value, count, progress)


def add_then_forget(world: Any, arm: int, states: Any, streams: Streams, progress: Progress) -> None:
    """Let a mechanism that releases sums forget after it got what the step revealed."""
    add(world, arm, states, streams, progress)
    own_forget(states[PLACE])


def put(arm: int, value: float, count: int, progress: Progress) -> None:
    """Store the release of an arm's sum."""
    if count >= 1:
        if not math.isfinite(value):
            raise ValueError("a mechanism released a sum that is no finite number.")
        progress.sums[arm] = value
        progress.counts[arm] = count
        progress.releases[arm] += 1


class Feedback(NamedTuple):
    """The stages that depend on what a round reveals, and on what is played.

    Attributes:
        revealing: The module with `reveal` and `clear`.
        playing: The module with `choose` and `gain_of`.
        adding: Passes what was revealed to a mechanism that releases sums.
        settling: Passes what a batch released to the mechanisms above it.
    """

    revealing: Any
    playing: Any
    adding: Callable[..., Any]
    settling: Callable[..., Any]


FEEDBACK = {
    "arm": Feedback(play_block, play_block, add_one, settle_one),
    "graph": Feedback(graph_feedback, play_block, add_row, settle_all),
    "all": Feedback(full_feedback, play_block, add_every, settle_all),
    "vector": Feedback(points, points, add_every, settle_all),
    "payoff": Feedback(play_block, points, add_one, settle_one),
}
"""What a round may reveal: gains of an arm, of a row of a graph or of all arms; a gain vector, or a point's payoff."""


def stages(mechanisms: Sequence[Mechanism], *, feedback: str, values: Values) -> dict[str, Callable[..., Any]]:
    """Return the functions that replace the stages of `play_block`, by name.

    Args:
        mechanisms: From the innermost; only the last may release sums.
        feedback: What a round reveals, a key of `FEEDBACK`.
        values: Public facts about the values that a round reveals.

    Raises:
        NotCompilableError: If a mechanism has a function that is not plain, or only `play` supports it.
    """
    revealing, playing, adding_revealed, settling = FEEDBACK[feedback]
    parts: dict[str, Callable[..., Any]] = {
        "reveal": revealing.reveal,
        "clear": revealing.clear,
        "choose": playing.choose,
        "gain_of": playing.gain_of,
    }
    below_batch, above_batch, batched = play_block.pass_on, pass_on, False
    for place, mechanism in enumerate(mechanisms):
        _check(mechanism, batched, above=mechanisms[place + 1 :])
        own = {"PLACE": place, "release": mechanism.release}
        forgetting = {"PLACE": place, "own_forget": mechanism.forget}
        if mechanism.releases_sums:
            parts["observe"] = play_block.observe_sums
            idling = {} if mechanism.idle is None else {"idle": mechanism.idle}
            adding = _joined(add_to_all if idling else adding_revealed, {**own, **idling})
            if mechanism.forget is not None:
                adding = _joined(add_then_forget, {**forgetting, "add": adding})
            parts["add_to_sums"] = adding
            continue
        never = not mechanism.withholds and mechanism.batch_size == 1
        outside = f"a mechanism that releases gains released one outside [{values.low:g}, {values.high:g}]."
        own.update({"MUST_RELEASE": never, "LOW": values.low, "HIGH": values.high, "OUTSIDE": outside})
        if batched:
            above_batch = _joined(then_release, {**own, "before": above_batch})
            parts["settle"] = _joined(settle_one, {"before": above_batch})
            if settling is settle_all:
                parts["settle"] = _joined(settle_all, {"settle_one": parts["settle"]})
        else:
            below_batch = _joined(then_release, {**own, "before": below_batch})
        if mechanism.forget is not None:
            parts["forget"] = _joined(
                then_forget, {**forgetting, "before_forget": parts.get("forget", play_block.forget)}
            )
        batched = batched or mechanism.batch_size > 1
    parts["reveal"] = specialise(parts["reveal"], "pass_on", below_batch)
    return parts


def _check(mechanism: Mechanism, batched: bool, above: Sequence[Mechanism]) -> None:
    name = type(mechanism).__name__
    for part in ("release", "idle", "forget"):
        function = getattr(mechanism, part)
        if function is not None and not isinstance(function, FunctionType):
            raise NotCompilableError(f"{part} of {name} is not a plain function")
    if mechanism.idle is not None and not mechanism.releases_sums:
        raise NotCompilableError(f"{name} releases gains of arms that were not revealed")
    if mechanism.batch_size > 1 and (batched or mechanism.releases_sums):
        raise NotCompilableError(f"{name} makes batches of its own above another mechanism's, or of sums")
    in_between = batched and not mechanism.releases_sums
    if mechanism.forget is not None and (in_between or any(one.batch_size > 1 for one in above)):
        raise NotCompilableError(f"{name} forgets beside a batch of another mechanism")


def _joined(function: Callable[..., Any], parts: Mapping[str, Any]) -> Callable[..., Any]:
    for name, part in parts.items():
        function = specialise(function, name, part)
    return function
