"""Says whose function it was, if somebody's own functions fail in the compiled loop."""

from pathlib import PurePath
from typing import Any, Final

from dp_bandit_envs.agents.own_functions import no_state

NO_ARM: Final = "select returned a number that is no arm."
"""What the compiled loop says, which knows no names."""


def explained(error: Exception, plan: Any, chosen: int) -> Exception:
    """Return the error to raise in place of one of the compiled loop: another, or the same with a note.

    Args:
        error: What the loop raised.
        plan: What it plays.
        chosen: The number that `select` returned last.
    """
    agent, foreign = type(plan.agent).__name__, plan.block.foreign
    if isinstance(error, IndexError) and str(error) == NO_ARM:
        return IndexError(
            f"{agent}.select must return an arm, an integer in [0, {plan.n_arms - 1}] in this game; received {chosen}."
            " initial_state(n_arms, horizon) says how many arms there are."
        )
    if isinstance(error, TypeError) and str(error).endswith(", got None"):
        return no_state(plan.agent)
    if foreign:
        places = [f"{one.__name__}{plan.owners.get(one, '')} ({_place(one.__code__)})" for one in foreign]
        error.add_note(
            f"Compiled code cannot say where: it is in {' or '.join(places)}; play(env, agent) says the line."
        )
    return error


def _place(code: Any) -> str:
    return f"{PurePath(code.co_filename).name}, line {code.co_firstlineno}"
