"""Finds the arm with the largest of many independent Beta draws, without looking at most of them.

The law of the result is exact. As in `largest_beta`, the draw of one arm, the leader, is the floor, and another arm is
drawn only if its coin falls on heads. Here the coins' probabilities are chances to exceed a *line* below the floor,
which stays where it is for rounds, so that only an arm whose posterior has changed needs a new one; and one number
decides the coins of `SPAN` arms at once, by the probability that all of them fall on tails.

The line is the highest of the arms' means less `BELOW` standard deviations, and the arm that has it leads; both are
chosen again after `ROUNDS_OF_A_LINE` rounds, or when a floor was below the line. While too many arms are likely to
exceed such a line, it is the floor of each round.
"""

import math
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from dp_bandit_envs.agents.beta_draws import UNKNOWN, above, chance, log_scale
from dp_bandit_envs.arithmetic import log

MANY: Final = 32
"""From so many arms on it is faster than `largest_beta`; this and the next three numbers were chosen by timing."""

SPAN: Final = 16
"""Arms whose coins are decided at once."""

BELOW: Final = 2.5
"""Standard deviations of the leader's posterior from its mean down to the line."""

ROUNDS_OF_A_LINE: Final = 64
"""Rounds after which the line is drawn again."""

CROWD: Final = 0.1
"""The mean chance to exceed the line from which on the line is the floor."""

STALE: Final = -1.0
"""Takes the place of a chance that was not computed."""

LEADER: Final = 0
ROUNDS_LEFT: Final = 1
AT_FLOOR: Final = 2


class Search(NamedTuple):
    """What is kept from round to round; arrays, because compiled code can write to arrays only.

    Attributes:
        scales: The `log_scale` of each arm's posterior where it was needed, or UNKNOWN.
        chances: A bound on each arm's chance to exceed the line, or STALE.
        spans: The probability that all coins of `SPAN` arms fall on tails, or STALE.
        line: The line c, ln c and ln(1 - c).
        status: `LEADER`, the arm whose draw is the floor; `ROUNDS_LEFT`, rounds until a line is chosen again;
            `AT_FLOOR`, 1 if the line is each round's floor until then, and the arm found last leads.
    """

    scales: Any
    chances: Any
    spans: Any
    line: Any
    status: Any


def start(n_arms: int) -> Search:
    """Return the state before the first search."""
    spans = np.full((n_arms + SPAN - 1) // SPAN, STALE)
    status = np.array([0, 0, 0])
    return Search(np.full(n_arms, UNKNOWN), np.full(n_arms, STALE), spans, np.zeros(3), status)


def changed(search: Search, arm: int) -> None:
    """Note that the posterior of an arm has changed."""
    search.scales[arm] = UNKNOWN
    search.chances[arm] = STALE
    search.spans[arm // SPAN] = STALE


def among_many(alphas: Sequence[float], betas: Sequence[float], search: Search, rng: np.random.Generator) -> int:
    """Return the arm with the largest of K independent draws from Beta(alphas[i], betas[i]).

    Args:
        alphas: First parameters, shape `(n_arms,)`, each at least 1.
        betas: Second parameters, shape `(n_arms,)`, each at least 1.
        search: The state; changed in place. Call `changed` for each arm whose parameters have changed.
        rng: Source of randomness.
    """
    chances, spans, status = search.chances, search.spans, search.status
    leader = status[LEADER]
    best = leader
    floor = rng.beta(alphas[leader], betas[leader])
    log_floor, log_rest = log(floor), log(1.0 - floor)
    if status[ROUNDS_LEFT] == 0:
        choose_line(alphas, betas, search)
    status[ROUNDS_LEFT] -= 1
    if status[AT_FLOOR] == 1:
        draw_line(alphas, betas, search, floor, log_floor, log_rest)
    elif floor < search.line[0]:
        draw_line(alphas, betas, search, floor, log_floor, log_rest)
        status[ROUNDS_LEFT] = 0
    u = rng.random()
    tails = 1.0
    for span in range(len(spans)):
        if spans[span] == STALE:
            renew(alphas, betas, search, span)
        if u < tails * spans[span]:
            tails *= spans[span]
            continue
        for arm in range(span * SPAN, min((span + 1) * SPAN, len(alphas))):
            tails *= 1.0 - chances[arm]
            if u < tails:
                continue
            # The leader has its draw.
            draw = 0.0
            if arm != leader:
                draw = draw_above(alphas[arm], betas[arm], search, arm, floor, log_floor, log_rest, rng)
            if draw > floor:
                best = arm
                floor = draw
                log_floor, log_rest = log(floor), log(1.0 - floor)
            u = rng.random()
            tails = 1.0
    if status[AT_FLOOR] == 1:
        status[LEADER] = best
    return int(best)


def draw_above(
    alpha: float,
    beta: float,
    search: Search,
    arm: int,
    floor: float,
    log_floor: float,
    log_rest: float,
    rng: np.random.Generator,
) -> float:
    """Return a draw of an arm whose coin fell on heads, if it exceeds the floor; otherwise any value that does not."""
    bound = search.chances[arm]
    if bound == 1.0:
        if search.scales[arm] == UNKNOWN:
            search.scales[arm] = log_scale(alpha, beta)
        bound = chance(alpha, beta, search.scales[arm], floor, log_floor, log_rest)
        if bound == 1.0:
            return float(rng.beta(alpha, beta))
        if rng.random() >= bound:
            return 0.0
    return above(alpha, beta, floor, bound, rng)


def choose_line(alphas: Sequence[float], betas: Sequence[float], search: Search) -> None:
    """Choose the leader and a line for the next rounds."""
    chances, status = search.chances, search.status
    for arm in range(len(alphas)):
        total = alphas[arm] + betas[arm]
        mean = alphas[arm] / total
        chances[arm] = mean - BELOW * math.sqrt(mean * (1.0 - mean) / total)
    leader = status[LEADER]
    for arm in range(len(alphas)):
        if chances[arm] > chances[leader]:
            leader = arm
    status[LEADER] = leader
    status[ROUNDS_LEFT] = ROUNDS_OF_A_LINE
    # A line has to be above 0; no arm can be told from the others yet.
    if chances[leader] <= 0.0:
        status[AT_FLOOR] = 1
        return
    height = chances[leader]
    draw_line(alphas, betas, search, height, log(height), log(1.0 - height))
    heads = 0.0
    for arm in range(len(alphas)):
        heads += chances[arm]
    status[AT_FLOOR] = 1 if heads > CROWD * len(alphas) else 0


def draw_line(
    alphas: Sequence[float], betas: Sequence[float], search: Search, height: float, log_height: float, log_rest: float
) -> None:
    """Draw the line at this height, in (0, 1], and compute all chances to exceed it."""
    chances, line = search.chances, search.line
    line[0], line[1], line[2] = height, log_height, log_rest
    # A loop of its own, so that machine code takes several arms at once.
    for arm in range(len(alphas)):
        chances[arm] = chance(alphas[arm], betas[arm], search.scales[arm], height, log_height, log_rest)
    for span in range(len(search.spans)):
        search.spans[span] = STALE


def renew(alphas: Sequence[float], betas: Sequence[float], search: Search, span: int) -> None:
    """Compute the chances of a span where they are stale, and that of tails only."""
    scales, chances, line = search.scales, search.chances, search.line
    tails = 1.0
    for arm in range(span * SPAN, min((span + 1) * SPAN, len(alphas))):
        if chances[arm] == STALE:
            chances[arm] = chance(alphas[arm], betas[arm], scales[arm], line[0], line[1], line[2])
        tails *= 1.0 - chances[arm]
    search.spans[span] = tails
