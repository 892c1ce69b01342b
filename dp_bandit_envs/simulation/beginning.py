"""Begins a game: gives agent, wrappers and environment their random streams, and says to a ledger what is played."""

from collections.abc import Sequence
from typing import Any

from dp_bandit_envs.privacy.announced import announced, current
from dp_bandit_envs.privacy.guarantee import PrivacyGuarantee
from dp_bandit_envs.privacy.mechanism import noise_of
from dp_bandit_envs.protocols import Environment, plays_points
from dp_bandit_envs.seeding import AGENT, checked_seed, stream


def begin(
    env: Environment,
    agent: Any,
    *,
    number: int,
    seed: int | None,
    trial: int,
    player: str,
    guarantees: Sequence[PrivacyGuarantee],
) -> None:
    """Begin a game of an agent and its environment; the first action is then the agent's to choose.

    Args:
        env: The environment with all wrappers.
        agent: The agent.
        number: The seed of all randomness.
        seed: The same, or None if it was drawn from the operating system and is a secret.
        trial: The number of the game for that seed.
        player: Who plays, for the random streams.
        guarantees: What a ledger may count for the game; empty where the data have none.

    Raises:
        SeedRefusedError: If a wrapper has secure draws and `seed` is not None.
        LedgerError: If the data have a ledger, and it refuses the game.
    """
    secret = None if seed is not None else True
    outer, below = current(), env.has_wrapper_attr("takes_seed")
    given = number if not below or env.get_wrapper_attr("takes_seed") else checked_seed(seed)
    hidden = None
    if below and (secret or (outer is not None and outer.secret)):
        # What is above the boundary is public, and does not see the seed of its noise.
        given, hidden = None, given
    beginning = announced([guarantees], secret=secret, seed=hidden)
    see_noise = getattr(agent, "see_noise", None)
    if see_noise is not None:
        see_noise(noise_of(env))
    if plays_points(env):
        see_set = getattr(agent, "see_set", None)
        if see_set is not None:
            see_set(env.get_wrapper_attr("decision_set"))
        size = {"dimension": int(env.get_wrapper_attr("decision_set").dimension)}
    else:
        see_features = getattr(agent, "see_features", None)
        if see_features is not None:
            see_features(env.get_wrapper_attr("features") if env.has_wrapper_attr("features") else None)
        size = {"n_arms": int(env.get_wrapper_attr("n_arms"))}
    agent.begin(
        **size,
        horizon=int(env.get_wrapper_attr("horizon")),
        rng=stream(number, trial=trial, role=AGENT, player=player),
    )
    with beginning:
        env.reset(seed=given, options={"trial": trial, "player": player})
