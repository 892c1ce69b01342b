"""The exact privacy loss of a short game through a wrapper that releases sums, found from outside.

All noise here is additive and does not depend on gains, so what comes out of a game is o = D g + L z: linear in the
draws z. One draw at a time is set to a large number and all others to 0, which shows L; one gain at a time is set to 1,
which shows D. A change of gain j by 1 is hidden by a change of the draws R_j with L R_j = D_j, which costs
sum_i |R_ij| / scale_i in log-density; the cheapest R_j is the privacy loss, attained far out where all draws have the
signs of R_j. Nothing here looks at what a mechanism says of itself.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from dp_bandit_envs.draws import with_formulas
from tests.tools.boundary_games import game
from tests.tools.fake_draws import Impulse, cheapest_shift

SIZE = 2.0**38
"""What the one draw is: so large that rounding to a grid of a thousandth is lost in it."""


def play(env: Any, arms: Sequence[int], rng: Any) -> tuple[np.ndarray, np.ndarray]:
    """Play these arms with the noise of `rng`; return all released sums and counts, each `(steps, n_arms)`."""
    env.reset(seed=0)
    env._run._rng = with_formulas(rng)
    results = [env.step(arm) for arm in arms]
    assert results[-1][2]
    return np.array([result[0]["sum"] for result in results]), np.array([result[0]["count"] for result in results])


class Map(NamedTuple):
    """What comes out of a game as a linear map.

    Attributes:
        noise: L, `(releases, draws)`.
        scales: The scale of each draw, `(draws,)`.
        moves: D, `(releases, rounds)`: how a change of one round's gains from 0 to 1 moves what comes out.
    """

    noise: np.ndarray
    scales: np.ndarray
    moves: np.ndarray


def linear_map(wrap: Callable[[Any], Any], arms: Sequence[int], rounds: int, make: Callable[..., Any] = game) -> Map:
    """Return the map of a game of `rounds` rounds in which the agent plays `arms`."""
    zeros = np.zeros((rounds, 2))
    silent = Impulse()
    base, counts = play(wrap(make(zeros)), arms, silent)
    assert not base.any()
    columns = []
    for hot in range(len(silent.asked)):
        impulse = Impulse(hot, height=SIZE)
        columns.append(play(wrap(make(zeros)), arms, impulse)[0].ravel() / SIZE)
        assert impulse.asked == silent.asked
    moves = []
    for changed in range(rounds):
        table = zeros.copy()
        table[changed] = 1.0
        rng = Impulse()
        sums, again = play(wrap(make(table)), arms, rng)
        # Neither how much is drawn nor what is counted depends on gains.
        assert rng.asked == silent.asked
        np.testing.assert_array_equal(counts, again)
        moves.append(sums.ravel())
    noise = np.array(columns).T if columns else np.zeros((base.size, 0))
    return Map(noise, np.array(silent.asked), np.array(moves).T)


def laplace_loss(found: Map, rounds: Sequence[int] | None = None) -> np.ndarray:
    """Return the privacy loss of each round, `(rounds,)`; inf where no change of the draws hides it."""
    noise, scales, moves = found
    rounds = range(moves.shape[1]) if rounds is None else rounds
    # Sums that were held since the step before say nothing new.
    rows = np.unique(np.hstack([noise, moves]).round(9), axis=0, return_index=True)[1]
    noise, moves = noise[rows], moves[rows]
    losses = []
    for changed in rounds:
        if not moves[:, changed].any():
            losses.append(0.0)
        elif not len(scales):
            losses.append(np.inf)
        else:
            shift = cheapest_shift(noise, scales, moves[:, changed])
            losses.append(np.inf if shift is None else np.abs(shift) @ (1 / scales))
    return np.array(losses)
