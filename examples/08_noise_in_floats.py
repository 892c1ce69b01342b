"""Noise in floating-point numbers
===============================

Which releases of gain 0 cannot come from gain 1, whatever epsilon promises?

A double has 53 bits, and so has the uniform number behind a NumPy draw. `gain + rng.laplace()` therefore skips most
doubles, and which ones depends on the gain (Mironov 2012). Here every release of gain 0 is asked whether any random
word leads to it from gain 1; if none does, the release gives the gain away. Real Laplace noise never does. Fast draws
of this project use all 64 bits of a word, and a grid.

Secure draws need OpenDP: `pip install 'dp-bandit-envs[secure]'`.
"""

import math
from collections.abc import Callable

import matplotlib.pyplot as plt
import numpy as np

from dp_bandit_envs.adversaries import GainTable
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.wrappers import BlockSums

WORDS = 2**64


def naive_draw(word: int, scale: float) -> float:
    """Return the Laplace draw that NumPy makes of a word: of its upper 53 bits, a uniform number."""
    u = max(word >> 11, 1) / 2**53
    return -scale * math.log(2 - u - u) if u >= 0.5 else scale * math.log(u + u)


def fast_draw(word: int, scale: float) -> float:
    """Return the Laplace draw that this project makes of a word: of a sign, and 63 bits for the size."""
    nearer_end = min(2 * word + 1, 2 * WORDS - 2 * word - 1) / WORDS
    return scale * math.log(nearer_end) * (-1 if word >= WORDS // 2 else 1)


def possible(release: float, gain: float, drawn: Callable[[int], float], rounded: Callable[[float], float]) -> bool:
    """Whether some word leads from a gain to a release, which grows with the word."""
    low, high = 0, WORDS - 1
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if rounded(gain + drawn(middle)) >= release else (middle + 1, high)
    return rounded(gain + drawn(low)) == release


def releases(games: int, epsilon: float, draws: str) -> tuple[list[float], float]:
    """Return noisy gains of 0, one a round, as this project releases them, and the step of their grid."""
    env = BlockSums(BanditEnv(GainTable(np.zeros((games, 2)))), epsilon=epsilon, ratio=1, draws=draws)
    env.reset(seed=None)
    print(f"  declared: {env.guarantee.numbers()}")
    return [float(env.step(0)[0]["sum"][0]) for _ in range(games)], env.mechanism.new_state(env.inputs).grid


def given_away(games: int, epsilon: float, how: str, seed: int) -> float:
    """Return the share of releases of gain 0 that cannot come from gain 1."""
    print(f"{how} draws at epsilon = {epsilon:g}")
    scale = 1 / epsilon
    if how == "naive":
        naive = np.random.default_rng(seed).laplace(0, scale, games).tolist()
        outside = [not possible(each, 1.0, lambda word: naive_draw(word, scale), float) for each in naive]
    elif how == "fast":
        noisy, grid = releases(games, epsilon, "fast")
        outside = [
            not possible(each, 1.0, lambda word: fast_draw(word, scale), lambda number: round(number / grid) * grid)
            for each in noisy
        ]
    else:
        noisy, grid = releases(games, epsilon, "secure")
        # Any whole number of steps is a discrete Laplace draw, so a multiple of the grid comes from every gain on it.
        outside = [((each - 1) / grid) % 1 != 0 for each in noisy]
    share = float(np.mean(outside))
    print(f"  {share:.1%} of {games} releases give the gain away; real Laplace noise: none\n")
    return share


def draw(shares: dict[str, float]) -> None:
    """Draw the share of releases that give their gain away."""
    _, axes = plt.subplots(figsize=(7, 3.2), layout="constrained")
    bars = axes.bar([name.replace(" at ", " draws,\nepsilon = ") for name in shares], list(shares.values()))
    axes.bar_label(bars, fmt="{:.0%}")
    axes.set(ylabel="releases that give the gain away", ylim=(0, 1))


def main(games: int = 1000, seed: int = 0) -> dict[str, float]:
    """Attack naive, fast and secure noise; return the share of releases that give their gain away."""
    asked = (("naive", 1.0), ("fast", 1.0), ("fast", 40.0), ("secure", 1.0), ("secure", 40.0))
    shares = {f"{how} at {epsilon:g}": given_away(games, epsilon, how, seed) for how, epsilon in asked}
    draw(shares)
    return shares


if __name__ == "__main__":
    main()
    plt.show()
