"""Compares two games behind a wrapper that differ only in the gains below."""

import math

import numpy as np

from dp_bandit_envs.conformance.rules import require
from dp_bandit_envs.conformance.trial_games import games_of
from dp_bandit_envs.conformance.wrapper_games import Step, Wrap, arms_of, play_table, run, wrapped
from dp_bandit_envs.protocols import FloatArray


def check_flags(wrap: Wrap, table: FloatArray, steps: list[Step]) -> None:
    """Require flags and info that depend on the horizon only."""
    arms = arms_of(len(table), table.shape[1])
    flags = [step[2:] for step in steps]
    for other, seed in ((np.zeros_like(table), 3), (np.ones_like(table), 4), (1 - table, 5)):
        seen = [step[2:] for step in run(wrapped(wrap, games_of(other)), arms[::-1], seed)]
        require(
            seen == flags, "flags and info must depend on the horizon only", "others for other gains", "Pass them on."
        )


def check_unrevealed(wrap: Wrap, table: FloatArray) -> None:
    """Require that gains of arms that were not played change nothing."""
    other = 1 - table
    other[:, 0] = table[:, 0]
    arms = [0] * len(table)
    for seed in range(5):
        same = np.array_equal(play_table(wrap, table, seed, arms), play_table(wrap, other, seed, arms))
        require(
            same,
            "gains of arms that were not played must change nothing",
            "other releases",
            "Use what was observed below, not env.unwrapped.",
        )


def check_sensitivity(wrap: Wrap, table: FloatArray) -> None:
    """Require that one changed round changes released gains by at most the sensitivity, with the noise fixed."""
    env = wrapped(wrap, games_of(table))
    declared = float(env.get_wrapper_attr("sensitivity"))
    if math.isinf(declared) or "gain" not in env.observation_space.spaces:  # type: ignore[attr-defined]
        return
    arms = arms_of(len(table), table.shape[1])
    covered = env.get_wrapper_attr("guarantee").model != "none"
    for seed in range(4):
        for changed in range(len(table)):
            one, other = table.copy(), table.copy()
            one[changed], other[changed] = 0.0, 1.0
            pair = [[s.observation for s in run(wrapped(wrap, games_of(part)), arms, seed)] for part in (one, other)]
            gains, seen = ([np.array([part[key] for part in each]) for each in pair] for key in ("gain", "observed"))
            require(
                covered or np.array_equal(seen[0], seen[1]),
                "without a guarantee, which gains are withheld must not depend on their values",
                "a game in which it did",
                "Release clipped gains instead, or add noise first.",
            )
            moved = float(np.abs(gains[0] - gains[1])[(seen[0] > 0) & (seen[1] > 0)].sum())
            require(
                moved <= declared * (1 + 1e-9),
                f"one changed round must move the released gains by at most sensitivity = {declared:g} in L1",
                f"a game in which it moved them by {moved:g}",
                "Declare a larger sensitivity; noise above is made for it.",
            )
