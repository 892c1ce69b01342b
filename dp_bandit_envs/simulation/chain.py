"""Composes the functions of a chain of mechanisms into the stages of the compiled loop; see `mechanism_stages`."""

from collections.abc import Callable, Mapping, Sequence
from types import FunctionType
from typing import Any, NamedTuple

from dp_bandit_envs.privacy.mechanism import Below, Mechanism
from dp_bandit_envs.privacy.values import Values
from dp_bandit_envs.simulation import full_feedback, graph_feedback, play_block, points
from dp_bandit_envs.simulation.mechanism_stages import (
    add_at_once,
    add_every,
    add_one,
    add_row,
    add_then_forget,
    add_to_all,
    check_release,
    note_release,
    note_sum,
    nothing_to_clear,
    pass_on,
    settle_all,
    settle_one,
    then_forget,
    then_release,
)
from dp_bandit_envs.specialise import specialise, specialise_within


class NotCompilableError(Exception):
    """Raised if the compiled loop cannot play an algorithm; the message says why."""


class RefusedByNumbaError(NotCompilableError):
    """Raised if Numba refuses a function that somebody wrote for the compiled loop; the message says which and why."""


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


def stages(
    mechanisms: Sequence[tuple[Mechanism, Below]], *, feedback: str, values: Values, raising: bool = True
) -> dict[str, Callable[..., Any]]:
    """Return the functions that replace the stages of `play_block`, by name.

    Args:
        mechanisms: From the innermost, each with the description of its input; only the last may release sums.
        feedback: What a round reveals, a key of `FEEDBACK`.
        values: Public facts about the values that a round reveals.
        raising: Whether a broken word raises; otherwise it is counted in the last of the mechanisms' states.

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
    for place, (mechanism, below) in enumerate(mechanisms):
        _check(mechanism, batched, above=[above for above, _ in mechanisms[place + 1 :]])
        own = {"PLACE": place, "release": mechanism.release_for(below)}
        forgetting = {"PLACE": place, "own_forget": mechanism.forget}
        if mechanism.releases_sums:
            parts["observe"] = play_block.observe_sums
            if adding_revealed is add_every and len(mechanisms) == 1 and not (mechanism.idle or mechanism.forget):
                at_once = _joined(add_at_once, own)
                if not raising:
                    at_once = specialise_within(at_once, "check_sum", note_sum)
                return {**parts, "reveal": specialise(revealing.reveal, "keep", at_once), "clear": nothing_to_clear}
            idling = {} if mechanism.idle is None else {"idle": mechanism.idle}
            adding = _joined(add_to_all if idling else adding_revealed, {**own, **idling})
            if mechanism.forget is not None:
                adding = _joined(add_then_forget, {**forgetting, "add": adding})
            parts["add_to_sums"] = adding if raising else specialise_within(adding, "check_sum", note_sum)
            continue
        never = not mechanism.withholds and mechanism.batch_size == 1
        outside = f"a mechanism that releases gains released one outside [{values.low:g}, {values.high:g}]."
        word: dict[str, Any] = {"MUST_RELEASE": never, "LOW": values.low, "HIGH": values.high}
        check = _joined(check_release, {**word, "OUTSIDE": outside}) if raising else _joined(note_release, word)
        own["check_release"] = check
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
    parts["reveal"] = specialise_within(parts["reveal"], "pass_on", below_batch)
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
