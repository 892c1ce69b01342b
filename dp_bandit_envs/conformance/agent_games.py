"""The registered games in which `check_agent` plays an agent."""

from typing import Any, Final

from dp_bandit_envs.conformance.rules import must_not_fail
from dp_bandit_envs.conformance.trial_games import EXPERTS, OWN_IDS, World, made
from dp_bandit_envs.protocols import AgentFactory, plays_points
from dp_bandit_envs.simulation import play

STOCHASTIC: Final = "DPBandit-Stochastic-v0"
GRAPH: Final = "DPBandit-Graph-v0"
REVEALING_ALL: Final[dict[str, dict[str, Any]]] = {EXPERTS: {}, GRAPH: {"graph": "complete", "n_arms": 4}}
"""The ids and arguments of games that reveal the gains of all arms."""


def check_agents_games(make_agent: AgentFactory, world: World, *, full: bool) -> None:
    """Require that an agent can play every registered game with arms, and one on a graph that is redrawn.

    Args:
        make_agent: Makes a fresh agent.
        world: Wraps a game so that it releases the observations of the agent's kind.
        full: Whether the agent needs the gains of all arms, so that only games that reveal them are played.
    """
    way_out = "play(world(gym.make(id)), agent) shows the error."
    for id_, arguments in REVEALING_ALL.items() if full else ((id_, {}) for id_ in OWN_IDS):
        game = made(id_, horizon=60, **arguments)
        if plays_points(game):
            continue
        with must_not_fail(f"a game of {id_}", way_out):
            play(world(game), make_agent(), seed=1)
    if not full:
        with must_not_fail("a game on a graph that is redrawn every 7 rounds", way_out):
            redrawn = made(GRAPH, horizon=60, graph="erdos-renyi", n_arms=5, redraw_every=7)
            play(world(redrawn), make_agent(), seed=1)
