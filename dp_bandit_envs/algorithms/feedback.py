"""Whether a game reveals what an agent needs: some agents need every value of every round."""

from typing import Any, Final

from dp_bandit_envs.protocols import Environment

HIDDEN: Final = (
    "{} learns from the gains of all arms or coordinates, but this game does not reveal them all in every round. Use"
    " DPBandit-Experts-v0, or feedback='full'."
)
"""Why a game is refused that does not reveal everything."""


def needs_all(agent: Any) -> bool:
    """Whether an agent, or what makes it, says that it needs every value of every round."""
    return getattr(agent, "feedback", "any") == "full"


def hides_gains(env: Environment) -> bool:
    """Whether some rounds of a game do not reveal every value."""
    values = getattr(env.unwrapped, "values", None)
    return not (values is not None and values.complete)
