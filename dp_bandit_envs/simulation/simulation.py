"""Simulates many games: compiled if all parts can be compiled, otherwise with `play`."""

import dataclasses
import functools
import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, SupportsIndex

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from dp_bandit_envs import checks
from dp_bandit_envs.algorithms import Algorithm, make_algorithm
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.errors import WrongTypeError
from dp_bandit_envs.privacy.guarantee import PrivacyGuarantee
from dp_bandit_envs.protocols import AgentFactory, Environment, FloatArray, IntArray
from dp_bandit_envs.simulation.chain import NotCompilableError
from dp_bandit_envs.simulation.checkpoints import checked, spaced
from dp_bandit_envs.simulation.plan import Plan, make_plan
from dp_bandit_envs.simulation.spreading import Column, Task, spread
from dp_bandit_envs.simulation.trials import CompiledTrials, PlayedTrials, check_compiles

Algorithms = Sequence[str | Algorithm] | Mapping[str, Algorithm | AgentFactory]
Progress = Callable[[int, int], None]


@dataclasses.dataclass(frozen=True, repr=False)
class Outcome:
    """What one algorithm achieved, each of shape `(trials, checkpoints)` unless said otherwise; the last column is T.

    Attributes:
        external_regret: Against the best fixed arm up to the checkpoint; with a payoff function, each arm replaces the
            last of the arms actually played.
        policy_regret: Against the best constant play up to the checkpoint.
        pseudo_regret: The expected cost of the arms played; None if the means are unknown, or with a payoff function.
        collected: Gains collected, or what the payoff function paid, less charges.
        switches: Number of changes of arm.
        pulls: Number of rounds in which each arm was played in the whole game, shape `(trials, n_arms)`.
        engine: `"compiled"`, or `"play"` for parts that the compiled loop does not support.
        reason: Why it was not compiled; empty if it was.
        guarantee: The privacy guarantee of each game.
    """

    external_regret: FloatArray
    policy_regret: FloatArray
    pseudo_regret: FloatArray | None
    collected: FloatArray
    switches: IntArray
    pulls: IntArray
    engine: Literal["compiled", "play"]
    reason: str
    guarantee: PrivacyGuarantee

    def __repr__(self) -> str:
        regret = self.external_regret[:, -1].mean()
        return f"Outcome({len(self.collected)} trials, mean external regret {regret:.6g}, {self.engine})"


@dataclasses.dataclass(frozen=True, repr=False)
class Simulation(Mapping[str, Outcome]):
    """The outcomes by algorithm: `simulation["EXP3"].external_regret`.

    Attributes:
        outcomes: By name, in the order of the `algorithms` argument.
        checkpoints: Rounds, ascending, shape `(checkpoints,)`; the last is the horizon.
        horizon: Number of rounds T.
        n_arms: Number of arms K.
        seed: The seed.
        first_trial: The number of the first trial.
    """

    outcomes: dict[str, Outcome]
    checkpoints: IntArray
    horizon: int
    n_arms: int
    seed: int
    first_trial: int = 0

    def __getitem__(self, name: str) -> Outcome:
        if name in self.outcomes:
            return self.outcomes[name]
        return self.outcomes[checks.known_name("algorithm", name, self.outcomes)]

    def __repr__(self) -> str:
        return f"Simulation({', '.join(map(repr, self.outcomes))}: {self.horizon} rounds, seed {self.seed})"

    def __iter__(self) -> Iterator[str]:
        return iter(self.outcomes)

    def __len__(self) -> int:
        return len(self.outcomes)


def simulate(
    env_id: str | Callable[[], Environment],
    algorithms: Algorithms,
    *,
    horizon: SupportsIndex | None = None,
    trials: SupportsIndex = 1,
    seed: SupportsIndex = 0,
    checkpoints: Iterable[int] | int | str | None = None,
    jobs: SupportsIndex = 1,
    env_kwargs: Mapping[str, Any] | None = None,
    first_trial: SupportsIndex = 0,
    progress: Progress | None = None,
) -> Simulation:
    """Play every algorithm in many games; in one trial all algorithms face the same gains.

    Args:
        env_id: A registered id, or a function that makes a DPBandit environment, whose horizon is then used.
        algorithms: Names or `Algorithm` objects; or a mapping from names to `Algorithm` objects or agents' classes.
        horizon: Number of rounds T; by default the environment's.
        trials: Number of games of each algorithm.
        seed: The seed of all randomness; whoever knows or guesses it can subtract the noise. Trial i does not depend on
            the other arguments, and is the game `play(env, algorithm, seed=seed, trial=i)`. In one trial algorithms
            share the gains and no noise.
        checkpoints: The rounds at which to record results; or a number of evenly spaced rounds, by default 100; or
            `"linear"` or `"log"` for 100 rounds with that spacing. T is always one of them.
        jobs: Number of trials to run in parallel: in threads, or in processes if something is not compiled. Games
            registered in this process are registered there too. joblib's `parallel_config` chooses another backend.
        env_kwargs: More arguments for the environment.
        first_trial: Number of the first trial.
        progress: Called with (games done, games in all) after each trial, from the calling thread.

    Raises:
        NotSendableError: If trials run in other processes and a part cannot be pickled or imported there.
    """
    arguments = dict(env_kwargs or {})
    if horizon is not None:
        if "horizon" in arguments:
            raise ValueError(f"horizon must be given once; received {horizon} and {arguments['horizon']} (env_kwargs).")
        arguments["horizon"] = checks.integer("horizon", horizon, at_least=1)
    seed = checks.integer("seed", seed, at_least=0)
    trials = checks.integer("trials", trials, at_least=1)
    first_trial = checks.integer("first_trial", first_trial, at_least=0)
    jobs = checks.integer("jobs", jobs, at_least=1)
    if not callable(env_id) and not isinstance(env_id, str):
        kind = type(env_id).__name__
        raise WrongTypeError(f"env_id must be an id or a function that makes the environment; received a {kind}.")
    make_env = functools.partial(gym.make, env_id, **arguments) if isinstance(env_id, str) else env_id
    if not isinstance(env_id, str) and arguments:
        raise ValueError("horizon and env_kwargs need an id; pass them to the environment in your function instead.")
    env = make_env()
    game = env.unwrapped
    if not isinstance(game, BanditEnv):
        raise TypeError(f"simulate needs a DPBandit environment, which computes the regret; received {game}.")
    rounds = _rounds(checkpoints, game.horizon)
    players = named_players(algorithms)
    plans: dict[str, Plan | str] = {}
    for name, player in players.items():
        try:
            made = make_plan(player, env)
            check_compiles(made, game.adversary, getattr(game, "source", None))
            plans[name] = made
        except NotCompilableError as obstacle:
            plans[name] = str(obstacle)
    compiled = {name: plan for name, plan in plans.items() if isinstance(plan, Plan)}
    played = {name: players[name] for name in players if name not in compiled}
    numbers = range(first_trial, first_trial + trials)
    game_id = None if game.spec is None else game.spec.id
    done = 0
    tables = {name: _Table(trials) for name in players}
    tasks: list[tuple[Task, int, str]] = []
    if compiled:
        compiled_trials = CompiledTrials(game.adversary, compiled, seed, rounds, getattr(game, "source", None))
        tasks.append((compiled_trials, len(compiled), "threads"))
    if played:
        tasks.append((PlayedTrials(make_env, played, seed, rounds), len(played), "processes"))
    for task, games, prefer in tasks:
        for row, result in enumerate(spread(task, numbers, min(jobs, trials), prefer, env_id=game_id)):
            for name, column in result.items():
                tables[name].put(row, column)
            done += games
            if progress is not None:
                progress(done, trials * len(players))
    outcomes = {}
    for name, player in players.items():
        plan = plans[name]
        outcomes[name] = _outcome(tables[name], player, game, plan if isinstance(plan, str) else "")
    return Simulation(outcomes, rounds, game.horizon, game.n_arms, seed, first_trial)


class _Table:
    """The results of many games, one row for each game, copied into arrays as the games end."""

    def __init__(self, trials: int) -> None:
        self._trials = trials
        self.arrays: list[NDArray[Any] | None] = []

    def put(self, row: int, column: Column) -> None:
        if not self.arrays:
            empty = (None if part is None else np.empty((self._trials, *part.shape), part.dtype) for part in column)
            self.arrays = list(empty)
        for array, part in zip(self.arrays, column, strict=True):
            if array is not None:
                array[row] = part


def _outcome(table: _Table, player: Algorithm, game: BanditEnv, reason: str) -> Outcome:
    arrays = Column._make(table.arrays)
    return Outcome(
        **arrays._asdict(),
        engine="play" if reason else "compiled",
        reason=reason,
        guarantee=player.guarantee(n_arms=game.n_arms, horizon=game.horizon, sensitivity=game.sensitivity),
    )


def _rounds(checkpoints: Iterable[int] | int | str | None, horizon: int) -> IntArray:
    if checkpoints is None:
        return spaced(horizon)
    if isinstance(checkpoints, str):
        return spaced(horizon, spacing=checkpoints)
    if isinstance(checkpoints, (int, np.integer)):
        return spaced(horizon, int(checkpoints))
    return checked(list(checkpoints), horizon)


def named_players(algorithms: Algorithms) -> dict[str, Algorithm]:
    """Return algorithms by name, from any form that `simulate` accepts; their names must differ."""
    if isinstance(algorithms, (str, Algorithm)):
        algorithms = [algorithms]
    players: dict[str, Algorithm] = {}
    for entry in algorithms.items() if isinstance(algorithms, Mapping) else ((None, one) for one in algorithms):
        player = _player(*entry)
        if player.name in players:
            raise ValueError(
                f"algorithms must have different names; received {player.name!r} twice."
                " Use make_algorithm(..., label='another name') for two settings of one algorithm."
            )
        players[player.name] = player
    if not players:
        raise ValueError("algorithms must name at least one; received none.")
    return players


def _player(name: str | None, given: Any) -> Algorithm:
    if isinstance(given, str):
        given = make_algorithm(given)
    if isinstance(given, Algorithm):
        return given if name is None else dataclasses.replace(given, name=name)
    if name is not None and callable(given):
        return Algorithm(name, given)
    raise TypeError(
        "an algorithm must be a name, an Algorithm, or an agent's class in a mapping {'name': MyAgent}; received"
        f" {given.__name__ if inspect.isclass(given) else given!r}."
    )
