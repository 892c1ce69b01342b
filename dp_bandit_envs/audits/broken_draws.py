"""EXP3 with draws that hide less than is claimed: in loss form, and without a floor. For teaching only."""

import math
from typing import Any

import numpy as np

from dp_bandit_envs.agents.exp3 import Exp3, State, probability
from dp_bandit_envs.agents.functional import Functions
from dp_bandit_envs.agents.weighted_draw import draw_weighted
from dp_bandit_envs.algorithms import Algorithm
from dp_bandit_envs.observations import Gains
from dp_bandit_envs.privacy.exp3_privacy import exp3_guarantee
from dp_bandit_envs.privacy.guarantee import PrivacyGuarantee
from dp_bandit_envs.protocols import Environment, FloatArray

LOSS_RATE = 0.05
FLOOR_RATE = 0.9
APART = 300
"""Rounds in which the attack on the loss form drives two neighbouring games apart."""
REST = 600
"""Rounds after that in which it reads the difference."""
AHEAD = 4


def update_losses(state: State, arm: int, seen: Gains) -> State:
    """Subtract loss / probability from the estimate of the arm played."""
    scores, weights = state.scores, state.weights
    n_arms = len(weights)
    scores[arm] -= state.exploration_rate / n_arms * (1.0 - seen.gains[arm]) / probability(state, arm)
    largest = max(scores)
    for each in range(n_arms):
        weights[each] = math.exp(scores[each] - largest)
    return state


class BrokenLossForm(Exp3):
    """EXP3 on estimated losses: an arm that fell behind is hit harder, so a small difference grows."""

    functions: Any = Functions(Exp3.functions.select, update_losses)


def select_without_floor(state: State, rng: np.random.Generator) -> int:
    """Draw an arm in proportion to its weight, without exploring."""
    return draw_weighted(state.weights, rng)


def update_without_floor(state: State, arm: int, seen: Gains) -> State:
    """Add gain / probability to the estimate of the arm played, with the probability that it was really drawn with."""
    total = 0.0
    for weight in state.weights:
        total += weight
    step = state.exploration_rate / len(state.weights) * seen.gains[arm] * total / state.weights[arm]
    state.scores[arm] += step
    state.weights[arm] *= math.exp(step)
    return state


class BrokenNoFloor(Exp3):
    """EXP3 that never explores: a probability may be tiny, and a gain divided by it huge."""

    functions: Any = Functions(select_without_floor, update_without_floor)


def loss_form(agent: type[Exp3]) -> Algorithm:
    """Return EXP3 with this agent and the claim that a draw loses at most 1, which holds in gain form."""

    def claim(n_arms: int, horizon: int) -> PrivacyGuarantee:
        return PrivacyGuarantee(epsilon=float(horizon), theorem="a draw loses at most 1 (false in loss form)")

    return Algorithm(agent.__name__, lambda: agent(exploration_rate=LOSS_RATE), own_guarantee=claim)


def no_floor(agent: type[Exp3]) -> Algorithm:
    """Return EXP3 with this agent and the claim of EXP3, which rests on the floor rate / K of all probabilities."""

    def claim(n_arms: int, horizon: int) -> PrivacyGuarantee:
        return exp3_guarantee(n_arms=n_arms, draws=horizon, exploration_rate=FLOOR_RATE)

    return Algorithm(agent.__name__, lambda: agent(exploration_rate=FLOOR_RATE), own_guarantee=claim)


def refuted_by_a_long_history(algorithm: Algorithm, game: Environment) -> bool:
    """Whether one sequence of arms has probabilities on two neighbouring tables that are too far apart.

    The sequence comes from a greedy search on a model of the loss form; whose guarantee is attacked plays it itself.
    """
    history = drifting_arms()
    agents: list[Any] = []
    for _ in range(2):
        agent: Any = algorithm.agent()
        agent.begin(n_arms=2, horizon=APART + REST, rng=np.random.default_rng(0))
        agents.append(agent)
    total = 0.0
    for t in range(APART + REST):
        logs = [np.log(agent.probabilities()) for agent in agents]
        difference: FloatArray = logs[0] - logs[1]
        arm = history[t] if t < APART else int(np.abs(difference).argmax())
        total += difference[arm]
        for world, agent in enumerate(agents):
            gain = float(world) if t == 0 else float(t >= APART)
            agent.update(arm, {"gain": np.full(2, gain), "observed": np.ones(2, np.int8)})
    return abs(total) > algorithm.guarantee(n_arms=2, horizon=APART + REST).epsilon


def drifting_arms() -> list[int]:
    """Return arms that drive two games of the loss form apart which differ in the first loss; all losses are 1."""
    floor = LOSS_RATE / 2

    def chance(score: float) -> float:
        return floor + (1 - LOSS_RATE) / (1 + math.exp(-score))

    def hit(score: float, arm: int) -> float:
        return score - floor / chance(score) if arm == 0 else score + floor / (1 - chance(score))

    def apart(one: float, other: float, ahead: int) -> float:
        if ahead == 0:
            p, q = chance(one), chance(other)
            return max(abs(math.log(p / q)), abs(math.log((1 - p) / (1 - q))))
        return max(apart(hit(one, arm), hit(other, arm), ahead - 1) for arm in (0, 1))

    scores, arms = (hit(0.0, 0), 0.0), [0]
    for _ in range(APART - 1):
        one, other = scores
        arm = max((0, 1), key=lambda each: apart(hit(one, each), hit(other, each), AHEAD))
        scores = hit(one, arm), hit(other, arm)
        arms.append(arm)
    return arms
