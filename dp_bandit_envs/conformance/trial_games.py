"""Trial games: tables of gains, the observations of agents, and two ways to play them."""

import functools
from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple

import gymnasium as gym
import numpy as np

from dp_bandit_envs.adversaries import GainTable
from dp_bandit_envs.algorithms import Algorithm
from dp_bandit_envs.conformance.rules import must_not_fail, require
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.envs.experts_env import ExpertsEnv
from dp_bandit_envs.envs.registration import GAMES
from dp_bandit_envs.protocols import Environment, FloatArray, Observation
from dp_bandit_envs.simulation import play, simulate
from dp_bandit_envs.simulation.engines import always_compiled
from dp_bandit_envs.wrappers import BlockSums, ExactSums, HybridSums, LaplaceClipRescale

World = Callable[[Environment], Environment]
STOCHASTIC: Final = "DPBandit-Stochastic-v0"
EXPERTS: Final = "DPBandit-Experts-v0"
"""The id of the games for agents that need the gains of all arms."""
GRAPH: Final = "DPBandit-Graph-v0"
REVEALING_ALL: Final[dict[str, dict[str, Any]]] = {EXPERTS: {}, GRAPH: {"graph": "complete", "n_arms": 4}}
"""The ids and arguments of games that reveal the gains of all arms."""
POINT_IDS: Final = ("DPBandit-Ball-v0", "DPBandit-Cube-v0", "DPBandit-Simplex-v0")
OWN_IDS: Final = tuple(id_ for id_, game in GAMES.items() if not isinstance(game.adversary, type))
"""The ids of this project's games, without those registered by others."""
COMPILED: Final = "a FunctionalAgent"
"""Parts made of functions that Numba compiles; they must not fall back to `play`."""


WORLDS: Final[dict[str, dict[str, World]]] = {
    "gains": {
        "gains": lambda env: env,
        "noisy gains": functools.partial(LaplaceClipRescale, epsilon=1.0, bound=0.5),  # about a third are withheld
    },
    "sums": {
        "exact sums": ExactSums,
        "noisy sums": functools.partial(HybridSums, epsilon=0.05),  # far outside [0, count]
        "sums of blocks": functools.partial(BlockSums, epsilon=1.0),  # few releases, each of fewer gains than pulls
    },
}
"""The observations of each kind that an agent must support."""


def revealing_all(world: World) -> World:
    """Return a world with the same observations that reveals the gains of all arms in every round."""

    def around(env: Environment) -> Environment:
        game = env.unwrapped
        return world(ExpertsEnv(gains=game.adversary) if type(game) is BanditEnv else env)

    return around


def table_of(rounds: int, n_arms: int, *, key: int = 0) -> FloatArray:
    """Return gains with the largest means for the first arms, shape `(rounds, n_arms)`; half are 0 or 1."""
    rng = np.random.default_rng([key, rounds, n_arms])
    gains = np.clip(rng.random((rounds, n_arms)) * 0.4 + np.linspace(0.6, 0.0, n_arms), 0, 1)
    coins = (rng.random((rounds, n_arms)) < gains).astype(float)
    return np.where(rng.random((rounds, n_arms)) < 0.5, coins, gains)


def games_of(table: FloatArray) -> BanditEnv:
    """Return a game with exactly these gains."""
    return BanditEnv(GainTable(table))


def made(id_: str, **arguments: Any) -> Environment:
    """Make a registered environment, without the checkers that Gymnasium puts around it."""
    return gym.make(id_, disable_env_checker=True, **with_gains(id_, arguments))


def with_gains(id_: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of a game, with a table for the game that otherwise warns about made-up gains."""
    return {"gains": table_of(1000, 4), **arguments} if id_ == "DPBandit-Replay-v0" else arguments


class AgentTrial(NamedTuple):
    """A game for an agent.

    Attributes:
        make: Makes it, with the wrappers that release the observations.
        what: Name of the game, for messages.
        n_arms: Number of arms the agent sees (1 means one of two in the game); 0 for points.
        decision_set: The points that may be played.
    """

    make: Callable[[], Environment]
    what: str
    n_arms: int = 0
    decision_set: Any = None


def game_of_arms(world: World, table: FloatArray) -> AgentTrial:
    """Return the game of a table of gains, `(rounds, n_arms)`; a single arm appears twice in the game."""
    rounds, n_arms = table.shape
    gains = table if n_arms > 1 else np.repeat(table, 2, axis=1)
    return AgentTrial(lambda: world(games_of(gains)), f"a game of {n_arms} arms and {rounds} rounds", n_arms)


def game_of_points(world: World, id_: str, rounds: int, dimension: int, *, feedback: str) -> AgentTrial:
    """Return a game of points of this size, which reveals gain vectors or payoffs."""

    def make() -> Environment:
        return world(made(id_, horizon=rounds, dimension=dimension, feedback=feedback))

    decision_set: Any = make().get_wrapper_attr("decision_set")
    return AgentTrial(make, f"a game on the {decision_set.name}", decision_set=decision_set)


def begin(agent: Any, env: Environment, seed: int, *, n_arms: int = 0) -> None:
    """Begin an agent's game; pass the set first, if it plays points."""
    rng, horizon = np.random.default_rng([seed, 7]), int(env.get_wrapper_attr("horizon"))
    if n_arms:
        agent.begin(n_arms=n_arms, horizon=horizon, rng=rng)
        return
    decision_set = env.get_wrapper_attr("decision_set")
    if hasattr(agent, "see_set"):
        agent.see_set(decision_set)
    agent.begin(dimension=decision_set.dimension, horizon=horizon, rng=rng)


def steps_of(
    agent: Any,
    trial: AgentTrial,
    *,
    seed: int = 0,
    observed: Callable[[Observation], Observation] = lambda seen: seen,
    before: Callable[[], Any] = lambda: None,
    after: Callable[[Observation], Any] = lambda seen: None,
) -> Iterator[Any]:
    """Play one game and yield each arm or point as the agent returned it.

    The seed determines the noise and the agent's stream. `before` is called before each choice, `observed` changes the
    observation that the agent sees, and `after` is called with it after the agent has learned from it.
    """
    env, n_arms = trial.make(), trial.n_arms
    env.reset(seed=seed)
    begin(agent, env, seed, n_arms=n_arms)
    ended: Any = False
    while not ended:
        before()
        chosen = agent.select_arm() if n_arms else agent.select_point()
        yield chosen
        action = int(chosen) if n_arms else env.get_wrapper_attr("decision_set").checked(chosen)
        whole, _, terminated, truncated, _ = env.step(action)
        seen = observed({name: _first(part, n_arms) for name, part in whole.items()})
        agent.update(chosen, seen)
        after(seen)
        ended = terminated or truncated


def _first(numbers: Any, n_arms: int) -> Any:
    if not np.ndim(numbers):
        return numbers
    return numbers[:n_arms].copy() if n_arms else numbers.copy()


def check_played_equals_simulated(
    algorithm: Algorithm, id_: str, *, what: str, horizon: int | None = 120, trials: int = 2, **arguments: Any
) -> None:
    """Require that `simulate` and `play` give the same pulls, switches, gains and regret, round by round.

    The message contains `what`, the checked part; a horizon of None is the environment's.
    """
    sized = arguments if horizon is None else {"horizon": horizon, **arguments}
    with must_not_fail(f"play with {what} in {id_}", "play(gym.make(id), algorithm) shows the error."):
        games = [play(made(id_, **sized), algorithm, seed=11, trial=trial) for trial in range(trials)]
    with must_not_fail(f"simulate with {what} in {id_}", "simulate(id, {'name': MyAgent}) shows the error."):
        rounds = range(1, len(games[0].arms) + 1)
        options: Any = {"trials": trials, "seed": 11, "checkpoints": rounds, "env_kwargs": with_gains(id_, sized)}
        with always_compiled():
            outcome = simulate(id_, [algorithm], **options)[algorithm.name]
    if what == COMPILED:
        way_out = "docs/own-agent.md says what is fit to compile."
        require(outcome.engine == "compiled", f"{what} must be compiled", outcome.reason, way_out)
    n_arms = outcome.pulls.shape[1]
    for trial, game in enumerate(games):
        pairs = {
            "pulls": (outcome.pulls[trial], np.bincount(game.arms, minlength=n_arms)),
            "switches": (outcome.switches[trial], game.switches),
            "collected gains": (outcome.collected[trial], game.collected),
            "external regret": (outcome.external_regret[trial], game.external_regret),
        }
        if outcome.rounds_until_stop is not None and game.rounds_until_stop is not None:
            pairs["rounds until stop"] = (outcome.rounds_until_stop[trial], game.rounds_until_stop)
        if outcome.error is not None and game.error is not None:
            pairs["errors"] = (outcome.error[trial], game.error)
        for name, (simulated, played) in pairs.items():
            require(
                np.array_equal(simulated, played),
                f"{what} must play the same games by play and by simulate ({outcome.engine}), to the last bit",
                f"other {name} in {id_}",
                "Use scalar arithmetic and math in select and update; numpy.sum and numpy.exp round otherwise.",
            )
