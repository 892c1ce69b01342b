"""Which game each environment's page shows: its arguments, as the page's own code has them, and who plays."""

from typing import Any, NamedTuple

import numpy as np

from dp_bandit_envs.envs.registration import GAMES

Player = tuple[str, dict[str, Any]]
UNIFORM: Player = ("Uniform", {})
EXP3: Player = ("EXP3", {})


class PageGame(NamedTuple):
    """What a page shows.

    Attributes:
        arguments: Arguments of the environment in Python, with `np` for NumPy.
        players: The algorithm that is seen playing, and others whose regret is shown.
        note: What to know about these arguments.
    """

    arguments: str
    players: tuple[Player, ...] = (EXP3, UNIFORM)
    note: str = ""

    @property
    def values(self) -> dict[str, Any]:
        """The arguments."""
        arguments: dict[str, Any] = eval(f"dict({self.arguments})", {"np": np})
        return arguments


GAP = "The gap is larger than the default, so that a short game shows something."
LEADER: Player = ("DP-FTRL", {"epsilon": 1.0})
WITHOUT: Player = ("AS-FTRL", {"epsilon": float("inf")})
SHOWN = {
    "Deterministic": PageGame("horizon=5_000"),
    "Stochastic": PageGame("means=[0.7, 0.5, 0.5, 0.5], horizon=5_000", note=GAP),
    "FullyOblivious": PageGame("gap=0.2, horizon=5_000", note=GAP),
    "Oblivious": PageGame("gap=0.2, horizon=20_000", note=GAP),
    "Switching": PageGame("horizon=20_000", (("EXP3-tau", {}), EXP3, UNIFORM)),
    "MemoryBounded": PageGame("memory=2, horizon=20_000", (("EXP3-tau", {}), EXP3, UNIFORM)),
    "Trial": PageGame("horizon=2_139", (("DP-KLUCB", {"epsilon": 1.0}), ("TS", {}), UNIFORM)),
    "Linear": PageGame("gap=0.6, horizon=5_000", (("EXP2", {}), EXP3, UNIFORM), GAP),
    "Shifting": PageGame("shifts=3, gap=0.6, horizon=5_000", note=GAP),
    "Constrained": PageGame("horizon=5_000"),
    "Leaders": PageGame("horizon=5_000", (EXP3, ("TS", {}), UNIFORM)),
    "Replay": PageGame(
        "gains=0.5 + 0.4 * np.sin(np.arange(4_000)[:, None] / 600 + np.array([0, 2, 4]))",
        note="The table has three arms, each of which is the best for a while.",
    ),
    "Experts": PageGame(
        "means=[0.6] + [0.5] * 9, horizon=2_000", (("Hedge", {}), ("DP-FTRL", {"epsilon": 1.0}), UNIFORM), GAP
    ),
    "Ball": PageGame("dimension=2, gap=0.2, horizon=3_000", (LEADER, WITHOUT)),
    "Cube": PageGame('dimension=2, gains="OneAxis", gap=0.2, horizon=3_000', (LEADER, WITHOUT)),
    "Simplex": PageGame("dimension=3, gap=0.1, horizon=3_000", (LEADER, WITHOUT)),
    "Graph": PageGame("horizon=2_000", (("TS-N", {}), ("UCB-N", {}), UNIFORM)),
}


def shown(id_: str) -> PageGame:
    """Return what the page of an environment shows; of one that has no row, a short game of EXP3."""
    return SHOWN.get(GAMES[id_].name, PageGame("horizon=2_000"))
