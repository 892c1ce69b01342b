"""Simulates many games, compiled where the parts are the project's own, and through `play` where they are not."""

import copy
import dataclasses
import functools
import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Literal, NamedTuple, SupportsIndex

import gymnasium as gym
import numpy as np
from joblib import Parallel, delayed
from joblib.parallel import SequentialBackend, ThreadingBackend, get_active_backend
from numpy.typing import NDArray

from dp_bandit_envs import checks
from dp_bandit_envs.adversaries import Adversary
from dp_bandit_envs.algorithms import Algorithm, make_algorithm
from dp_bandit_envs.bandit_env import BanditEnv
from dp_bandit_envs.metrics.regret import external_regret, policy_regret, pseudo_regret
from dp_bandit_envs.privacy.guarantee import PrivacyGuarantee
from dp_bandit_envs.protocols import AgentFactory, Environment, FloatArray, IntArray
from dp_bandit_envs.seeding import ADVERSARY, AGENT, stream
from dp_bandit_envs.simulation.checkpoints import checked, spaced
from dp_bandit_envs.simulation.compiling import compile_with
from dp_bandit_envs.simulation.game import play
from dp_bandit_envs.simulation.plan import NotCompilable, Plan, make_plan
from dp_bandit_envs.simulation.play_block import Streams, add_up, new_progress, new_record

ROUNDS_AT_ONCE = 2**14
LOCAL = (SequentialBackend, ThreadingBackend)
Algorithms = Sequence[str | Algorithm] | Mapping[str, Algorithm | AgentFactory]
Progress = Callable[[int, int], None]


@dataclasses.dataclass(frozen=True, repr=False)
class Outcome:
    """What one algorithm achieved, each of shape `(trials, checkpoints)` unless said otherwise; the last column is T.

    Attributes:
        external_regret: Against the best fixed arm up to the checkpoint.
        policy_regret: Against the best constant play up to the checkpoint.
        pseudo_regret: What the choice of arms cost on average; None where the means are unknown.
        collected: Gains collected, charges included.
        switches: Changes of arm.
        pulls: Rounds in which each arm was played over the whole game, shape `(trials, n_arms)`.
        engine: `"compiled"`, or `"play"` for parts that the compiled loop does not know.
        reason: Why it was not compiled; empty if it was.
        guarantee: What is guaranteed in each game.
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
        outcomes: By name, in the order in which they were given.
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
    """Play every algorithm in many games; in one trial all meet the same gains.

    Args:
        env_id: A registered id, or a function that makes a DPBandit environment (its `horizon` then stands).
        algorithms: Names or `Algorithm` objects; or a mapping from names to `Algorithm` objects or agents' classes.
        horizon: Number of rounds T; by default the environment's.
        trials: Number of games of each algorithm.
        seed: The seed of everything random. Trial i is the same whatever the other arguments are, and exactly the
            game `play(algorithm.wrap(env), algorithm.agent(), seed=seed, trial=i)`.
        checkpoints: Rounds at which to write results down; or how many evenly spaced ones, by default 100; or
            `"linear"` or `"log"` for 100 spaced so. T is always one.
        jobs: Number of trials to run at a time: threads, or processes if something is not compiled. Set joblib's
            `parallel_config` to run them elsewhere.
        env_kwargs: More arguments for the environment.
        first_trial: Number of the first trial.
        progress: Called with (games done, games in all) after each trial, from the calling thread.
    """
    arguments = dict(env_kwargs or {})
    if horizon is not None:
        arguments["horizon"] = checks.integer("horizon", horizon, at_least=1)
    seed = checks.integer("seed", seed, at_least=0)
    trials = checks.integer("trials", trials, at_least=1)
    first_trial = checks.integer("first_trial", first_trial, at_least=0)
    jobs = checks.integer("jobs", jobs, at_least=1)
    make_env = functools.partial(gym.make, env_id, **arguments) if isinstance(env_id, str) else env_id
    if not isinstance(env_id, str) and arguments:
        raise ValueError("horizon and env_kwargs go with an id; give them to your function's environment instead.")
    env = make_env()
    game = env.unwrapped
    if not isinstance(game, BanditEnv):
        raise TypeError(f"simulate needs a DPBandit environment, which keeps the score; received {game}.")
    rounds = _rounds(checkpoints, game.horizon)
    players = named_players(algorithms)
    plans: dict[str, Plan | str] = {}
    for name, player in players.items():
        try:
            plans[name] = make_plan(player, env)
        except NotCompilable as obstacle:
            plans[name] = str(obstacle)
    compiled = {name: plan for name, plan in plans.items() if isinstance(plan, Plan)}
    played = {name: players[name] for name in players if name not in compiled}
    numbers = range(first_trial, first_trial + trials)
    done = 0
    columns: dict[str, list[Column]] = {name: [] for name in players}
    tasks: list[tuple[Task, int, str]] = []
    if compiled:
        tasks.append((_CompiledTask(game.adversary, compiled, seed, rounds).run, len(compiled), "threads"))
    if played:
        tasks.append((_PlayTask(make_env, played, seed, rounds).run, len(played), "processes"))
    for run, games, prefer in tasks:
        for result in _spread(run, numbers, min(jobs, trials), prefer):
            for name, column in result.items():
                columns[name].append(column)
            done += games
            if progress is not None:
                progress(done, trials * len(players))
    outcomes = {}
    for name, player in players.items():
        plan = plans[name]
        outcomes[name] = _outcome(columns[name], player, game, plan if isinstance(plan, str) else "")
    return Simulation(outcomes, rounds, game.horizon, game.n_arms, seed, first_trial)


class Column(NamedTuple):
    """What one game leaves behind at the checkpoints, each of shape `(checkpoints,)`, and `pulls` of `(n_arms,)`."""

    external_regret: FloatArray
    policy_regret: FloatArray
    pseudo_regret: FloatArray | None
    collected: FloatArray
    switches: IntArray
    pulls: IntArray


Task = Callable[[int], dict[str, Column]]


@dataclasses.dataclass
class _CompiledTask:
    """Plays one trial of all compiled algorithms on the same gains."""

    adversary: Adversary
    plans: dict[str, Plan]
    seed: int
    checkpoints: IntArray

    def run(self, trial: int) -> dict[str, Column]:
        adversary = copy.copy(self.adversary)
        n_arms, horizon, number = adversary.n_arms, adversary.horizon, len(self.checkpoints)
        adversary.begin(stream(self.seed, trial=trial, role=ADVERSARY))
        block = np.empty((min(ROUNDS_AT_ONCE, horizon), n_arms))
        totals, totals_at = _moved(np.zeros(n_arms)), np.zeros((number, n_arms))
        states: dict[str, Any] = {}
        streams, progress, records = {}, {}, {}
        for name, plan in self.plans.items():
            states[name] = _apart(plan.agent.initial_state(n_arms, plan.steps))
            roles = (AGENT, plan.inner_role, plan.outer_role)
            streams[name] = Streams(*(stream(self.seed, trial=trial, role=role) for role in roles))
            progress[name] = _apart(new_progress(n_arms))
            records[name] = new_record(self.checkpoints, n_arms)
        count_up = _compiled_add_up()
        for start in range(0, horizon, len(block)):
            gains = block[: horizon - start]
            adversary.fill(gains)
            count_up(gains, totals, start + 1, self.checkpoints, totals_at)
            for name, plan in self.plans.items():
                states[name] = plan.block(states[name], gains, plan.rules, streams[name], progress[name], records[name])
        means = adversary.means
        return {
            name: Column(
                external_regret(totals_at, record.collected),
                policy_regret(totals_at, record.collected),
                None if means is None else pseudo_regret(record.pulls, means),
                record.collected,
                record.switches,
                record.pulls[-1],
            )
            for name, record in records.items()
        }


@dataclasses.dataclass
class _PlayTask:
    """Plays one trial of all other algorithms the standard way."""

    make_env: Callable[[], Environment]
    algorithms: dict[str, Algorithm]
    seed: int
    checkpoints: IntArray

    def run(self, trial: int) -> dict[str, Column]:
        columns = {}
        at = self.checkpoints - 1
        for name, algorithm in self.algorithms.items():
            env = self.make_env()
            game = play(algorithm.wrap(env), algorithm.agent(), seed=self.seed, trial=trial)
            if len(game.arms) < self.checkpoints[-1]:
                raise ValueError(
                    f"every game must have the horizon's {self.checkpoints[-1]} rounds; {name} ended after"
                    f" {len(game.arms)}. Give the environment a shorter horizon instead of a TimeLimit."
                )
            columns[name] = Column(
                game.external_regret[at],
                game.policy_regret[at],
                None if game.pseudo_regret is None else game.pseudo_regret[at],
                game.collected[at],
                game.switches[at],
                np.bincount(game.arms, minlength=env.get_wrapper_attr("n_arms")),
            )
        return columns


def _spread(run: Task, numbers: Iterable[int], jobs: int, prefer: str) -> Iterator[dict[str, Column]]:
    """Run trials side by side and yield their results in order."""
    backend, _ = get_active_backend(prefer=prefer)
    if jobs == 1 and isinstance(backend, LOCAL):
        yield from map(run, numbers)
    elif prefer == "threads" and isinstance(backend, LOCAL):
        # joblib looks for results every 10 ms only, which is half a trial; its other backends are worth that.
        pool = ThreadPoolExecutor(jobs)
        try:
            yield from pool.map(run, numbers)
        finally:
            pool.shutdown(cancel_futures=True)
    else:
        parallel = Parallel(n_jobs=jobs, prefer=prefer, return_as="generator")
        yield from parallel(delayed(run)(trial) for trial in numbers)


def _apart(arrays: Any) -> Any:
    """Return a NamedTuple with its arrays in memory of their own, so that no two threads write to one cache line."""
    return type(arrays)(*(_moved(part) if isinstance(part, np.ndarray) else part for part in arrays))


def _moved(array: NDArray[Any]) -> NDArray[Any]:
    room = np.zeros(array.size + 256, array.dtype)
    moved = room[128 : 128 + array.size].reshape(array.shape)
    moved[...] = array
    return moved


@functools.cache
def _compiled_add_up() -> Callable[..., None]:
    return compile_with(add_up, {})


def _outcome(columns: list[Column], player: Algorithm, game: BanditEnv, reason: str) -> Outcome:
    external, policy, pseudo, collected, switches, pulls = zip(*columns, strict=True)
    return Outcome(
        external_regret=np.array(external),
        policy_regret=np.array(policy),
        pseudo_regret=None if pseudo[0] is None else np.array(pseudo),
        collected=np.array(collected),
        switches=np.array(switches),
        pulls=np.array(pulls),
        engine="play" if reason else "compiled",
        reason=reason,
        guarantee=player.guarantee(n_arms=game.n_arms, horizon=game.horizon),
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
    """Return algorithms by name, made from all that `simulate` takes; their names must be different."""
    if isinstance(algorithms, (str, Algorithm)):
        algorithms = [algorithms]
    players: dict[str, Algorithm] = {}
    for entry in algorithms.items() if isinstance(algorithms, Mapping) else ((None, one) for one in algorithms):
        player = _player(*entry)
        if player.name in players:
            raise ValueError(
                f"algorithms must have different names; received {player.name!r} twice."
                " make_algorithm(..., label='another name') tells two settings apart."
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
        "an algorithm must be a name, an Algorithm, or in a mapping {'name': MyAgent} an agent's class; received"
        f" {given.__name__ if inspect.isclass(given) else given!r}."
    )
