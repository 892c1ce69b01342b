"""The exact loss of uniform draws: an agent's own draws of arms, or the random bits of a mechanism.

Both are step functions of uniform numbers; the steps are found on a grid and by bisection.
"""

import copy
import functools
import itertools
import math
from collections.abc import Callable, Hashable
from typing import Any, NamedTuple, TypeVar

import numpy as np

from dp_bandit_envs.adversaries import GainTable
from dp_bandit_envs.agents import FunctionalAgent
from dp_bandit_envs.algorithms import Algorithm
from dp_bandit_envs.audits.fixed_play import FixedGame, layers_of_game
from dp_bandit_envs.audits.true_losses import TrueLoss, loss_of_outcomes, loss_of_pure
from dp_bandit_envs.errors import NotAuditedError
from dp_bandit_envs.privacy.mechanism import noise_of
from dp_bandit_envs.protocols import KEYS, Environment, FloatArray, IntArray
from dp_bandit_envs.seeding import AGENT, stream

Value = TypeVar("Value")
Outcome = tuple[float, int]
DEFAULT_NUMBERS = 8
"""By default a game has as many rounds as fit into this many gains."""
MOST_NUMBERS = 12
"""All 2^n tables of n gains are played."""
MOST_SEQUENCES = 2**12
MOST_STEPS = 4096
"""A function of a uniform number with more steps than this does not count as a draw."""
GAMES = 8
"""Random games, half of them with gains at the ends of the range only."""
ORDERS = (1.0, 1.5, 2.0, 4.0, 8.0, 32.0, 128.0)
"""The orders of the Renyi divergences that are compared with rho."""


class Branch(NamedTuple):
    """One outcome of `select`: its probability, the arm, and the agent's state afterwards."""

    probability: float
    arm: int
    state: Any


class DrawLosses(NamedTuple):
    """The effect of one changed round on the law of the arms.

    Attributes:
        by_round: The smallest epsilon that holds at the given delta if the gains of this round change, `(rounds,)`.
        rho: The largest Renyi divergence divided by its order.
        arms: The sequence of arms with the largest log ratio.
        losses: The largest loss of each round.
    """

    by_round: FloatArray
    rho: float
    arms: tuple[int, ...]
    losses: list[TrueLoss]


def draw_losses(algorithm: Algorithm, env: Environment, delta: float) -> DrawLosses:
    """Return the losses over all pairs of tables of gains 0 and 1 that differ in one round.

    The law of the arms is computed from the agent's `select` and `update`. Along one sequence of arms, gains that
    depend on earlier arms equal the gains of some table; so at delta = 0 no adversary with gains 0 and 1 causes a
    larger loss. The gains of the game are replaced.

    Raises:
        NotAuditedError: If the agent does not consist of plain functions, or the game is too long.
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
    arm_laws = [laws.arm_law(table) for table in tables]
    sequences = sorted(arm_laws[0])
    chances = np.array([[law.get(arms, 0.0) for arms in sequences] for law in arm_laws])
    by_round, rho, losses = np.zeros(rounds), 0.0, []
    worst, arms = -1.0, sequences[0]
    for t in range(rounds):
        numbers, neighbours = _neighbour_numbers(len(tables), rounds, width, t)
        first, second = chances[numbers], chances[neighbours]
        losses.append(loss_of_outcomes(first, second))
        with np.errstate(divide="ignore", invalid="ignore"):
            ratios = np.where(first == second, 0.0, np.abs(np.log(first) - np.log(second)))
        worst_pair = np.unravel_index(ratios.argmax(), ratios.shape)
        if ratios[worst_pair] > worst:
            worst, arms = float(ratios[worst_pair]), sequences[int(worst_pair[1])]
        by_round[t] = ratios[worst_pair]
        if delta > 0:
            by_round[t] = max(epsilon_of(first, second, delta), epsilon_of(second, first, delta))
        rho = max(rho, divergence_over_order(first, second), divergence_over_order(second, first))
    return DrawLosses(by_round, rho, arms, losses)


def _neighbour_numbers(tables: int, rounds: int, width: int, t: int) -> tuple[IntArray, IntArray]:
    """Return the indices of all pairs of tables that differ in round t, each pair once."""
    shift = width * (rounds - 1 - t)
    numbers = np.arange(tables)
    pairs = [(numbers, numbers ^ (change << shift)) for change in range(1, 2**width)]
    first, second = (np.concatenate(part) for part in zip(*pairs, strict=True))
    return first[first < second], second[first < second]


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
    """Return the largest Renyi divergence over its order, for the laws in all pairs of rows; inf if one is infinite."""
    if ((second == 0) & (first > 0)).any():
        return math.inf
    with np.errstate(divide="ignore", invalid="ignore"):
        p, q = np.log(first), np.log(second)
        largest = np.where(first > 0, first * (p - q), 0.0).sum(axis=1).max()
        for order in ORDERS[1:]:
            terms = np.where(first > 0, order * p + (1 - order) * q, -np.inf)
            top = terms.max(axis=1)
            sums = top + np.log(np.exp(terms - top[:, np.newaxis]).sum(axis=1))
            largest = max(largest, float((sums / (order - 1) / order).max()))
    return float(largest)


class _Laws:
    """Computes laws of the arms of one algorithm in one kind of game."""

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
        self._first, self._functions, self._learns_from = copy_with_lists(state), agent.functions, agent.learns_from
        self._laws: dict[Any, list[Branch]] = {}
        self._rounds_a_step = math.prod(mechanism.batch_size for mechanism, _ in layers_of_game(inside))
        self._observed: dict[Any, Any] = {}

    def arm_law(self, table: FloatArray) -> dict[tuple[int, ...], float]:
        """Return the probability of every sequence of arms on one table."""
        paths: dict[tuple[int, ...], dict[Any, tuple[float, Any]]] = {(): {as_tuples(self._first): (1.0, self._first)}}
        ended: dict[tuple[int, ...], float] = {}
        while paths:
            longer: dict[tuple[int, ...], dict[Any, tuple[float, Any]]] = {}
            for arms, states in paths.items():
                for key, (chance, state) in states.items():
                    for branch in self._select_law(key, state):
                        after = longer.setdefault((*arms, branch.arm), {})
                        key_after = as_tuples(branch.state)
                        before = after.get(key_after, (0.0, None))[0]
                        after[key_after] = (before + chance * branch.probability, branch.state)
            paths = {}
            for arms, states in longer.items():
                if len(arms) * self._rounds_a_step >= self.rounds:
                    ended[arms] = math.fsum(chance for chance, _ in states.values())
                else:
                    paths[arms] = self._update_states(states, arms[-1], self._released_after(table, arms), len(arms))
        return ended

    def _select_law(self, key: Any, state: Any) -> list[Branch]:
        if key not in self._laws:
            self._laws[key] = select_law(self._functions.select, state)
        return self._laws[key]

    def _update_states(
        self, states: dict[Any, tuple[float, Any]], arm: int, seen: Any, step: int
    ) -> dict[Any, tuple[float, Any]]:
        after: dict[Any, tuple[float, Any]] = {}
        for chance, state in states.values():
            fresh = copy_with_lists(self._functions.after(copy_with_lists(state), arm, seen, step))
            key = as_tuples(fresh)
            after[key] = (after.get(key, (0.0, None))[0] + chance, fresh)
        return after

    def _released_after(self, table: FloatArray, arms: tuple[int, ...]) -> Any:
        """Return the release after the last of these arms, by playing them; it depends on earlier rounds only."""
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


class _NeedsMoreError(Exception):
    """`select` needs one more uniform number."""


class _Uniforms:
    """A random generator that returns given uniform numbers, and then raises an error."""

    def __init__(self, numbers: list[float], spent: Exception, kind: str) -> None:
        self._left, self._spent, self._kind = numbers[::-1], spent, kind

    def random(self) -> float:
        """Return the next number."""
        if not self._left:
            raise self._spent
        return self._left.pop()

    def __getattr__(self, name: str) -> Any:
        raise NotAuditedError(f"its draws ({name}) are not of {self._kind}")


def copy_with_lists(state: Any) -> Any:
    """Return a copy of a state with lists instead of arrays, which are faster in ordinary Python."""
    if isinstance(state, np.ndarray):
        return state.tolist()
    if isinstance(state, list):
        return [copy_with_lists(row) for row in state] if state and isinstance(state[0], list) else [*state]
    return type(state)(*map(copy_with_lists, state)) if isinstance(state, tuple) else state


def as_tuples(state: Any) -> Hashable:
    """Return a state as nested tuples, which can be compared."""
    return tuple(map(as_tuples, state)) if isinstance(state, (list, tuple)) else state


def select_law(select: Callable[[Any, Any], int], state: Any, uniforms: list[float] | None = None) -> list[Branch]:
    """Return every outcome of `select` with its probability, exact up to 2^-53 for each.

    Each further uniform number is explored: the arm is a step function of it, whose steps are bisected. The state, as
    `copy_with_lists` returns it, is not changed.

    Raises:
        NotAuditedError: If it draws other than uniform numbers, or its state keeps more about them than the arm.
    """
    numbers = uniforms or []

    def outcome(*more: float) -> tuple[int, Any]:
        state_copy = copy_with_lists(state)
        try:
            return int(
                select(state_copy, _Uniforms([*numbers, *more], _NeedsMoreError(), "uniform numbers"))
            ), state_copy
        except _NeedsMoreError:
            return -1, state

    arm, after = outcome()
    if arm >= 0:
        return [Branch(1.0, arm, after)]
    branches: list[Branch] = []
    for low, high, arm in step_intervals(lambda u: outcome(u)[0]):
        ends = [outcome(u) for u in (low, (low + high) / 2)]
        if arm < 0:
            # The position in the interval has no effect: the number is only compared with the interval's ends.
            inner = select_law(select, state, [*numbers, low])
        elif as_tuples(ends[0][1]) != as_tuples(ends[1][1]):
            raise NotAuditedError("its state keeps more of a draw than the arm it led to")
        else:
            inner = [Branch(1.0, arm, ends[0][1])]
        branches += [each._replace(probability=each.probability * (high - low)) for each in inner]
    return branches


def step_intervals(result: Callable[[float], Value], *, places: int = 9) -> list[tuple[float, float, Value]]:
    """Return the intervals [low, high) of [0, 1) on which a step function is constant, with its value there.

    It is evaluated at this many points first; intervals with a step are then bisected.
    """
    intervals: list[tuple[float, float, Value]] = []
    looked_at = np.linspace(0.0, np.nextafter(1.0, 0.0), places).tolist()
    start, now = 0.0, result(0.0)
    for left, right in itertools.pairwise(looked_at):
        while result(right) != now:
            low, high = max(left, start), right
            while low < (middle := (low + high) / 2) < high:
                low, high = (middle, high) if result(middle) == now else (low, middle)
            intervals.append((start, high, now))
            start, now = high, result(high)
            if len(intervals) > MOST_STEPS:
                raise NotAuditedError("what it does is no step function of a uniform number")
    return [*intervals, (start, 1.0, now)]


def law_losses(game: FixedGame, draw: str) -> tuple[FloatArray, TrueLoss]:
    """Return the exact loss of each round, `(rounds,)`, and the loss of the worst round.

    The loss of a round is the number of gains it reveals times the loss of one gain. The lowest mechanism draws one
    uniform number per gain, through the method `draw`, and keeps no state between gains. The layers above are
    post-processing, so its loss is an upper bound on the total loss.
    """
    mechanism, inputs = game.layers[0]
    if draw != "random":
        raise NotAuditedError(f"no exact audit covers draws of the kind {draw}. Use sampled_loss.")
    state = mechanism.new_state(inputs)
    low, high = (
        _outcome_law(lambda u, gain=gain: mechanism.release(state, 0, gain, _one_uniform(u)))  # type: ignore[misc]
        for gain in (inputs.values.low, inputs.values.high)
    )
    _check_forgets(game)
    loss = 0.0
    for outcome in {*low, *high}:
        first, second = low.get(outcome, 0.0), high.get(outcome, 0.0)
        loss = math.inf if first == 0 or second == 0 else max(loss, abs(math.log(first / second)))
        if math.isinf(loss):
            break
    gains = max(map(len, game.revealed), default=0)
    chances = np.array([[law.get(outcome, 0.0) for outcome in {**low, **high}] for law in (low, high)])
    if chances.shape[1] ** gains > MOST_SEQUENCES:
        lost = loss_of_pure(loss * gains)
    else:
        lost = loss_of_outcomes(*(functools.reduce(np.kron, [law[np.newaxis]] * gains) for law in chances))
    return np.array([loss * len(seen) for seen in game.revealed]), lost


def _one_uniform(u: float) -> _Uniforms:
    return _Uniforms([u], NotAuditedError("it draws more than one uniform number for a gain"), "one known kind")


def _check_forgets(game: FixedGame) -> None:
    """Check on random games that the release for a gain and a draw does not depend on other gains."""
    mechanism, inputs = game.layers[0]
    rng = np.random.default_rng(0)
    for table in range(GAMES):
        state = mechanism.new_state(inputs)
        for seen in game.revealed:
            for arm in seen:
                gain, u = rng.uniform(inputs.values.low, inputs.values.high), rng.random()
                if table % 2:
                    gain = rng.choice([inputs.values.low, inputs.values.high])
                first = mechanism.release(mechanism.new_state(inputs), arm, float(gain), _one_uniform(u))
                if mechanism.release(state, arm, float(gain), _one_uniform(u)) != first:
                    raise NotAuditedError("what it releases of a gain depends on other gains")


def _outcome_law(result: Callable[[float], Outcome]) -> dict[Outcome, float]:
    """Return the probability of each result for u uniform in [0, 1), if it is a step function of u with few steps."""
    law: dict[Outcome, float] = {}
    for low, high, outcome in step_intervals(result, places=257):
        law[outcome] = law.get(outcome, 0.0) + high - low
    return law
