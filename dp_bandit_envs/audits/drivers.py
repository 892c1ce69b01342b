"""Whether the drivers of mechanisms release, for the same draws, exactly what the audit sees.

`exact_loss` drives mechanisms by itself (`HeldGame`). Here one game is played by the scalar boundary, by the vector
boundary and by the compiled loop, with the noise of one seed, and what comes out is compared bit for bit.
"""

import copy
import functools
from collections.abc import Callable, Sequence
from typing import Any, Final

import gymnasium as gym
import numpy as np

from dp_bandit_envs import checks
from dp_bandit_envs.algorithms import Algorithm
from dp_bandit_envs.audits.held_game import Held, HeldGame
from dp_bandit_envs.envs.graph_env import GraphEnv
from dp_bandit_envs.privacy.mechanism import noise_label
from dp_bandit_envs.privacy.mechanisms import LaplaceClipRescale, MiniBatchAverage
from dp_bandit_envs.protocols import FloatArray, Observation, plays_points
from dp_bandit_envs.seeding import ADVERSARY, FIRST_WRAPPER, GRAPH, stream
from dp_bandit_envs.simulation.many_games import HeldArms, HeldPoint
from dp_bandit_envs.simulation.plan import make_plan
from dp_bandit_envs.simulation.trials import games_of
from dp_bandit_envs.wrappers import vector

GAMES: Final = 3
"""Games of the vector boundary; the last one is compared."""
Shown = tuple[FloatArray, FloatArray]
"""Released values and counts, each `(steps, n_values)`."""


def differing(held: Held, drivers: Sequence[str], seed: int) -> tuple[str, ...]:
    """Return the drivers, of some of `DRIVERS`, that release something else than the audited game does."""
    found = []
    for driver in drivers:
        checks.one_of("drivers", driver, tuple(DRIVERS))
        expected, shown = _audited(held, seed), DRIVERS[driver](held, seed)
        if not all(np.array_equal(*pair) for pair in zip(expected, shown, strict=True)):
            found.append(driver)
    return tuple(found)


def _audited(held: Held, seed: int) -> Shown:
    """Return what the audited game releases, on the grid."""
    gains, revealed = _private(held, seed)
    streams = [
        stream(seed, role=FIRST_WRAPPER + depth, player=held.player, part=noise_label(mechanism, below))
        for depth, (mechanism, below) in enumerate(held.layers)
    ]
    found = HeldGame(held.layers, revealed, on_grid=True).play(gains, streams)
    top, below = held.layers[-1]
    steps = 1 + max((step for step, _, _ in found.places), default=0)
    steps = max(steps, top.horizon(below))
    values, counts = np.zeros((steps, below.n_values)), np.zeros((steps, below.n_values))
    for (step, value, count), number in zip(found.places, found.values, strict=True):
        rows = slice(step, None) if top.releases_sums else step
        values[rows, value], counts[rows, value] = number, count if top.releases_sums else 1
    return _cut(held, values, counts)


def _cut(held: Held, values: FloatArray, counts: FloatArray) -> Shown:
    """Leave out the step of an unfinished last batch, which the compiled loop does not show to the agent."""
    top, below = held.layers[-1]
    return values[: top.horizon(below)], counts[: top.horizon(below)]


def _private(held: Held, seed: int) -> tuple[FloatArray, list[list[int]]]:
    """Return the values that each round reveals, `(rounds, n_values)`, and their numbers."""
    held.env.reset(seed=seed, options={"trial": 0, "player": held.player})
    point = plays_points(held.env)
    rows = [held.env.step(held.plays if point else arm)[0] for arm in held.arms]
    return np.array([row["gain"] for row in rows]), [np.flatnonzero(row["observed"]).tolist() for row in rows]


def _scalar(held: Held, seed: int) -> Shown:
    env = held.wrapping(copy.deepcopy(held.env))
    env.reset(seed=seed, options={"trial": 0, "player": held.player})
    shown: list[Observation] = []
    ended: Any = False
    while not ended:
        observation, _, ended, _, _ = env.step(held.at(len(shown)))
        shown.append(observation)
    return _stacked(held, shown)


def _vector(held: Held, seed: int) -> Shown:
    games: Any = gym.vector.SyncVectorEnv([functools.partial(copy.deepcopy, held.env) for _ in range(GAMES)])
    for mechanism, _ in held.layers:
        if isinstance(mechanism, LaplaceClipRescale):
            options: dict[str, Any] = {
                "epsilon": mechanism.epsilon,
                "bound": mechanism.bound,
                "outside": mechanism.outside,
            }
            games = vector.LaplaceClipRescale(games, **options)
        elif isinstance(mechanism, MiniBatchAverage):
            games = vector.MiniBatchAverage(games, batch_size=mechanism.batch_size)
        else:
            games = vector.VectorPrivacyBoundary(games, mechanism)
    others = [seed + 1 + game for game in range(GAMES - 1)]
    games.reset(seed=[*others, seed], options={"trial": 0, "player": held.player})
    shown: list[Observation] = []
    ended: Any = False
    while not ended:
        play = held.at(len(shown))
        observation, _, terminated, _, _ = games.step(np.array([play] * GAMES))
        shown.append({key: part[-1] for key, part in observation.items()})
        ended = bool(terminated[-1])
    return _stacked(held, shown)


def _stacked(held: Held, shown: Sequence[Observation]) -> Shown:
    keys = ("sum", "count") if held.layers[-1][0].releases_sums else ("gain", "observed")
    values, counts = (np.array([row[key] for row in shown], float) for key in keys)
    return _cut(held, values, counts)


def _compiled(held: Held, seed: int) -> Shown:
    top, below = held.layers[-1]
    points, sums = plays_points(held.env), top.releases_sums
    payoffs = points and held.env.get_wrapper_attr("feedback") == "bandit"
    kind: Any = functools.partial(HeldPoint, payoffs=payoffs) if points else HeldArms
    make = functools.partial(kind, held.plays, below.n_values, sums=sums)
    feedback: Any = "payoff" if payoffs else "any"
    agent: dict[str, Any] = {"make_agent": None, "make_point_agent": make} if points else {"make_agent": make}
    algorithm = Algorithm("held", wrapping=held.wrapping, feedback=feedback, **agent)
    # The name of no player is "" here, but that of an algorithm without one is its own.
    object.__setattr__(algorithm, "player", held.player)
    plan = make_plan(algorithm, held.env)
    core: Any = held.env.unwrapped
    gains = np.empty((core.horizon, core.adversary.n_arms))
    core.adversary.begin(stream(seed, role=ADVERSARY))
    core.adversary.fill(gains)
    _, (game,) = games_of(plan, seed, [0])
    graph = None
    if isinstance(core, GraphEnv):
        core.source.begin(stream(seed, role=GRAPH))
        graph = core.source.graph
    game.play(gains, graph)
    return _cut(held, game.state.values, game.state.counts.astype(float))


DRIVERS: Final[dict[str, Callable[[Held, int], Shown]]] = {"scalar": _scalar, "vector": _vector, "compiled": _compiled}
