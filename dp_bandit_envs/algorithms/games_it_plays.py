"""Which games an algorithm is for: arms or points, and how much of a round it needs to see."""

from typing import Any, Final, SupportsIndex

from dp_bandit_envs import checks
from dp_bandit_envs.protocols import Environment, plays_points

HIDDEN: Final = (
    "{} learns from the gains of all arms or coordinates, but this game does not reveal them all in every round. Use"
    " DPBandit-Experts-v0, or feedback='full'."
)
"""Why a game is refused that does not reveal everything."""


def needs_all(agent: Any) -> bool:
    """Whether an agent, or what makes it, says that it needs every value of every round."""
    return getattr(agent, "feedback", "any") == "full"


def hides_gains(env: Environment) -> bool:
    """Whether some rounds of a game do not reveal the gains of all arms, or the whole gain vector."""
    game: Any = env.unwrapped
    values = getattr(game, "values", None)
    payoffs_only = plays_points(env) and game.n_values < game.decision_set.dimension
    return values is None or not values.complete or payoffs_only


def refusal_of(algorithm: Any, env: Environment) -> str | None:
    """Return why an algorithm cannot play a game, or None if it can."""
    points = plays_points(env)
    if (algorithm.make_point_agent if points else algorithm.make_agent) is None:
        here, there = ("points", "arms") if points else ("arms", "points of a decision set")
        other = "OSMD" if points else "EXP3"
        return (
            f"{algorithm.name} plays {there}; the actions of this game are {here}. Use one for {here}, such as {other}."
        )
    facts: Any = env.unwrapped
    if algorithm.feedback == "full" and hides_gains(env):
        return HIDDEN.format(algorithm.name)
    if points and algorithm.feedback == "payoff" and facts.n_values != 1:
        return f"{algorithm.name} learns from payoffs; use feedback='bandit'."
    if points and algorithm.feedback != "payoff" and facts.n_values == 1:
        return f"{algorithm.name} learns from gain vectors, but this game reveals payoffs only. Use feedback='full'."
    name = facts.decision_set.name if points else ""
    if points and algorithm.decision_sets and name not in algorithm.decision_sets:
        return f"{algorithm.name} is for the {' and the '.join(algorithm.decision_sets)}; this game is on the {name}."
    return None


def width_of(env: Environment) -> int:
    """Return the number of arms, or of coordinates of a point."""
    return int(env.get_wrapper_attr("decision_set").dimension if plays_points(env) else env.get_wrapper_attr("n_arms"))


def size_of(n_arms: SupportsIndex, horizon: SupportsIndex) -> tuple[int, int]:
    """Return a game's number of arms and of rounds, or raise."""
    return checks.integer("n_arms", n_arms, at_least=2), checks.integer("horizon", horizon, at_least=1)
