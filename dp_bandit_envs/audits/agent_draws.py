"""The exact loss of an agent's own draws: the law of all arms of a short game, on every table of gains 0 and 1."""

import copy
import itertools
import math
from typing import Any, NamedTuple

import numpy as np

from dp_bandit_envs.adversaries import GainTable
from dp_bandit_envs.agents import FunctionalAgent
from dp_bandit_envs.algorithms import Algorithm
from dp_bandit_envs.audits.draw_laws import Branch, copied, frozen, select_law
from dp_bandit_envs.audits.held_game import layers_of_game
from dp_bandit_envs.errors import NotAuditedError
from dp_bandit_envs.observations import KEYS
from dp_bandit_envs.privacy.mechanism import noise_of
from dp_bandit_envs.protocols import Environment, FloatArray, IntArray
from dp_bandit_envs.seeding import AGENT, stream

USUAL_NUMBERS = 8
"""By default a game has as many rounds as fit into this many gains."""
MOST_NUMBERS = 12
"""All 2^n tables of n gains are played."""
MOST_SEQUENCES = 2**12
ORDERS = (1.0, 1.5, 2.0, 4.0, 8.0, 32.0, 128.0)
"""The orders at which Renyi divergences are compared with rho."""


class DrawLosses(NamedTuple):
    """What one changed round changes in the law of the arms.

    Attributes:
        by_round: The smallest epsilon that holds at the given delta if a round's gains change, `(rounds,)`.
        rho: The largest Renyi divergence divided by its order.
        arms: The sequence of arms with the largest log ratio.
    """

    by_round: FloatArray
    rho: float
    arms: tuple[int, ...]


def draw_losses(algorithm: Algorithm, env: Environment, delta: float) -> DrawLosses:
    """Return the losses over all pairs of tables of gains 0 and 1 that differ in one round.

    The law of the arms is worked out from the agent's `select` and `update`. Along one sequence of arms, gains that
    depend on earlier arms are those of some table; so at delta = 0 no adversary with gains 0 and 1 makes it lose more.

    Args:
        algorithm: An algorithm without noise but its agent's own draws.
        env: The game, whose gains are replaced.
        delta: In [0, 1).

    Raises:
        NotAuditedError: If the agent is not made of plain functions, or the game is too long.
    """
    laws = _Laws(algorithm, env)
    rounds, width = laws.rounds, laws.n_arms
    if rounds * width > MOST_NUMBERS:
        raise NotAuditedError(
            f"{algorithm.name}: its own draws are followed on all tables of at most {MOST_NUMBERS} gains; received"
            f" {rounds} rounds of {width} arms. Use at most {MOST_NUMBERS // width} rounds (--horizon"
            f" {MOST_NUMBERS // width}), or sampled_loss."
        )
    tables = np.array(list(itertools.product((0.0, 1.0), repeat=rounds * width))).reshape(-1, rounds, width)
    every = [laws.of(table) for table in tables]
    sequences = sorted(every[0])
    chances = np.array([[law.get(arms, 0.0) for arms in sequences] for law in every])
    by_round, rho = np.zeros(rounds), 0.0
    worst, arms = -1.0, sequences[0]
    for t in range(rounds):
        one, other = _pairs(len(tables), rounds, width, t)
        first, second = chances[one], chances[other]
        with np.errstate(divide="ignore", invalid="ignore"):
            ratios = np.where(first == second, 0.0, np.abs(np.log(first) - np.log(second)))
        place = np.unravel_index(ratios.argmax(), ratios.shape)
        if ratios[place] > worst:
            worst, arms = float(ratios[place]), sequences[int(place[1])]
        by_round[t] = ratios[place]
        if delta > 0:
            by_round[t] = max(epsilon_of(first, second, delta), epsilon_of(second, first, delta))
        rho = max(rho, divergence_over_order(first, second), divergence_over_order(second, first))
    return DrawLosses(by_round, rho, arms)


def _pairs(tables: int, rounds: int, width: int, t: int) -> tuple[IntArray, IntArray]:
    """Return the numbers of all tables, and of those that differ from them in round t; every pair comes once."""
    shift = width * (rounds - 1 - t)
    numbers = np.arange(tables)
    found = [(numbers, numbers ^ (change << shift)) for change in range(1, 2**width)]
    one, other = (np.concatenate(part) for part in zip(*found, strict=True))
    return one[one < other], other[one < other]


def epsilon_of(first: FloatArray, second: FloatArray, delta: float) -> float:
    """Return the smallest epsilon with P(S) <= e^epsilon Q(S) + delta for the laws in all pairs of rows."""
    low, high = 0.0, 1.0

    def holds(epsilon: float) -> bool:
        return bool((np.maximum(first - math.exp(epsilon) * second, 0.0).sum(axis=1) <= delta).all())

    if holds(0.0):
        return 0.0
    while not holds(high):
        low, high = high, 2 * high
        if high > 500:
            return math.inf
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def divergence_over_order(first: FloatArray, second: FloatArray) -> float:
    """Return the largest Renyi divergence over its order, for the laws in all pairs of rows; inf where one is."""
    if ((second == 0) & (first > 0)).any():
        return math.inf
    with np.errstate(divide="ignore", invalid="ignore"):
        p, q = np.log(first), np.log(second)
        found = np.where(first > 0, first * (p - q), 0.0).sum(axis=1).max()
        for order in ORDERS[1:]:
            terms = np.where(first > 0, order * p + (1 - order) * q, -np.inf)
            top = terms.max(axis=1)
            sums = top + np.log(np.exp(terms - top[:, np.newaxis]).sum(axis=1))
            found = max(found, float((sums / (order - 1) / order).max()))
    return float(found)


class _Laws:
    """Works out laws of the arms of one algorithm in one kind of game."""

    def __init__(self, algorithm: Algorithm, env: Environment) -> None:
        self._algorithm, self._game = algorithm, env
        adversary: Any = getattr(env.unwrapped, "adversary", None)
        agent = algorithm.agent(env)
        if not isinstance(agent, FunctionalAgent) or adversary is None:
            raise NotAuditedError(f"{algorithm.name}: its agent is not made of plain functions. Use sampled_loss.")
        if adversary.payoff is not None or adversary.memory:
            raise NotAuditedError(f"{algorithm.name}: own draws are followed in games without charges and payoffs.")
        self.rounds, self.n_arms = int(adversary.horizon), int(adversary.n_arms)
        inside = algorithm.wrap(env)
        agent.see_noise(noise_of(inside))
        see_features = getattr(agent, "see_features", None)
        if see_features is not None:
            see_features(inside.get_wrapper_attr("features") if inside.has_wrapper_attr("features") else None)
        self._steps = int(inside.get_wrapper_attr("horizon"))
        if self.n_arms ** max(self._steps, 1) > MOST_SEQUENCES:
            raise NotAuditedError(f"{algorithm.name}: there are more than {MOST_SEQUENCES} sequences of arms.")
        agent.begin(n_arms=self.n_arms, horizon=self._steps, rng=stream(0, role=AGENT))
        state = agent.initial_state(self.n_arms, self._steps)
        if inside.has_wrapper_attr("graph"):
            inside.reset(seed=0)
            state = agent.with_graph(state, inside.get_wrapper_attr("graph"))
        self._first, self._functions, self._learns_from = copied(state), agent.functions, agent.learns_from
        self._known: dict[Any, list[Branch]] = {}
        self._rounds_a_step = math.prod(mechanism.batch_size for mechanism, _ in layers_of_game(inside))
        self._observed: dict[Any, Any] = {}

    def of(self, table: FloatArray) -> dict[tuple[int, ...], float]:
        """Return the probability of every sequence of arms on one table."""
        paths: dict[tuple[int, ...], dict[Any, tuple[float, Any]]] = {(): {frozen(self._first): (1.0, self._first)}}
        ended: dict[tuple[int, ...], float] = {}
        while paths:
            longer: dict[tuple[int, ...], dict[Any, tuple[float, Any]]] = {}
            for arms, states in paths.items():
                for key, (chance, state) in states.items():
                    for branch in self._law(key, state):
                        after = longer.setdefault((*arms, branch.arm), {})
                        place = frozen(branch.state)
                        before = after.get(place, (0.0, None))[0]
                        after[place] = (before + chance * branch.probability, branch.state)
            paths = {}
            for arms, states in longer.items():
                if len(arms) * self._rounds_a_step >= self.rounds:
                    ended[arms] = sum(chance for chance, _ in states.values())
                else:
                    paths[arms] = self._updated(states, arms[-1], self._seen(table, arms), len(arms))
        return ended

    def _law(self, key: Any, state: Any) -> list[Branch]:
        if key not in self._known:
            self._known[key] = select_law(self._functions.select, state)
        return self._known[key]

    def _updated(
        self, states: dict[Any, tuple[float, Any]], arm: int, seen: Any, step: int
    ) -> dict[Any, tuple[float, Any]]:
        after: dict[Any, tuple[float, Any]] = {}
        for chance, state in states.values():
            fresh = copied(self._functions.after(copied(state), arm, seen, step))
            key = frozen(fresh)
            after[key] = (after.get(key, (0.0, None))[0] + chance, fresh)
        return after

    def _seen(self, table: FloatArray, arms: tuple[int, ...]) -> Any:
        """Return what is released after the last of these arms, by playing them; it depends on earlier rounds only."""
        key = table[: len(arms) * self._rounds_a_step].tobytes(), arms
        if key not in self._observed:
            game = copy.deepcopy(self._game)
            core: Any = game.unwrapped
            core.adversary = GainTable(table)
            inside = self._algorithm.wrap(game)
            inside.reset(seed=0)
            for arm in arms:
                observation = inside.step(arm)[0]
            self._observed[key] = self._learns_from(*(observation[part].tolist() for part in KEYS[self._learns_from]))
        return self._observed[key]
