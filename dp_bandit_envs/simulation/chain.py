"""Composes the functions of a chain of mechanisms into the stages of the compiled loop.

Every function here is a template whose placeholders are replaced: `release`, `idle`, `own_forget` by a mechanism's
functions, `before` and `before_forget` by the composition of the mechanisms below, `PLACE` by the mechanism's index,
counted from the innermost.
"""

from collections.abc import Callable, Mapping, Sequence
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from dp_bandit_envs.privacy.mechanism import Mechanism
from dp_bandit_envs.simulation import graph_feedback, play_block
from dp_bandit_envs.simulation.graph_feedback import Rows
from dp_bandit_envs.simulation.play_block import Progress, Streams
from dp_bandit_envs.specialise import specialise

PLACE = 0
"""Placeholder."""


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


def before_forget(states: Any) -> None:
    """Placeholder."""


def then_release(states: Any, arm: int, gain: float, streams: Streams) -> tuple[float, int]:
    """Pass a gain through the mechanisms below, and then through this one."""
    value, count = before(states, arm, gain, streams)
    if count == 0:
        return 0.0, 0
    value, count = release(states[PLACE], arm, value, streams[PLACE + 1])
    if count != 0 and not 0.0 <= value <= 1.0:
        raise ValueError("a mechanism that releases gains released one outside [0, 1].")
    return float(value), int(count)


def then_forget(states: Any) -> None:
    """Reset the mechanisms below, and then this one."""
    before_forget(states)
    own_forget(states[PLACE])


def add_one(graph: Any, arm: int, states: Any, streams: Streams, progress: Progress) -> None:
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


def add_to_all(graph: Any, arm: int, states: Any, streams: Streams, progress: Progress) -> None:
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


def put(arm: int, value: float, count: int, progress: Progress) -> None:
    """Store the release of an arm's sum."""
    if count != 0:
        progress.sums[arm] = value
        progress.counts[arm] = count
        progress.releases[arm] += 1


def stages(mechanisms: Sequence[Mechanism], *, on_graph: bool) -> dict[str, Callable[..., Any]]:
    """Return the functions that replace the stages of `play_block`, by name.

    Args:
        mechanisms: From the innermost; only the last may release sums.
        on_graph: Whether a round reveals a row of a feedback graph.

    Raises:
        NotCompilableError: If a mechanism has a function that is not plain, or only `play` supports it.
    """
    module: ModuleType = graph_feedback if on_graph else play_block
    parts: dict[str, Callable[..., Any]] = {"reveal": module.reveal, "clear": module.clear}
    batched = False
    for place, mechanism in enumerate(mechanisms):
        _check(mechanism, batched, above=mechanisms[place + 1 :])
        batched = batched or mechanism.batch_size > 1
        own = {"PLACE": place, "release": mechanism.release}
        if mechanism.releases_sums:
            parts["observe"] = play_block.observe_sums
            if mechanism.idle is not None:
                parts["add_to_sums"] = _joined(add_to_all, {**own, "idle": mechanism.idle})
            else:
                parts["add_to_sums"] = _joined(add_row if on_graph else add_one, own)
        else:
            below = parts.get("pass_on", play_block.pass_on)
            parts["pass_on"] = _joined(then_release, {**own, "before": below})
        if mechanism.forget is not None:
            below = parts.get("forget", play_block.forget)
            parts["forget"] = _joined(
                then_forget, {"PLACE": place, "own_forget": mechanism.forget, "before_forget": below}
            )
    if "pass_on" in parts:
        parts["reveal"] = specialise(parts["reveal"], "pass_on", parts.pop("pass_on"))
    return parts


def _check(mechanism: Mechanism, batched: bool, above: Sequence[Mechanism]) -> None:
    name = type(mechanism).__name__
    for part in ("release", "idle", "forget"):
        function = getattr(mechanism, part)
        if function is not None and not isinstance(function, FunctionType):
            raise NotCompilableError(f"{part} of {name} is not a plain function")
    if mechanism.idle is not None and not mechanism.releases_sums:
        raise NotCompilableError(f"{name} releases gains of arms that were not revealed")
    if mechanism.batch_size > 1 and batched:
        raise NotCompilableError(f"{name} makes batches of batches")
    if mechanism.forget is not None and any(one.batch_size > 1 for one in above):
        raise NotCompilableError(f"{name} forgets within a batch")


def _joined(function: Callable[..., Any], parts: Mapping[str, Any]) -> Callable[..., Any]:
    for name, part in parts.items():
        function = specialise(function, name, part)
    return function
