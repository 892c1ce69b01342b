"""Registers every environment with Gymnasium; runs on `import dp_bandit_envs`."""

import gymnasium as gym

MODULE = "dp_bandit_envs.envs.game_classes"
GAMES = (
    "Deterministic",
    "Stochastic",
    "FullyOblivious",
    "Oblivious",
    "Switching",
    "MemoryBounded",
    "Trial",
    "Replay",
    "Graph",
)
IDS = tuple(f"DPBandit-{game}-v0" for game in GAMES)
"""Every registered id; the class of `DPBandit-X-v0` is `XEnv`, and `XVectorEnv` plays many at once."""


def register() -> None:
    """Register all ids that are not registered yet."""
    for game, id_ in zip(GAMES, IDS, strict=True):
        if id_ not in gym.registry:
            gym.register(
                id=id_,
                entry_point=f"{MODULE}:{game}Env",
                vector_entry_point=f"{MODULE}:{game}VectorEnv",
            )
