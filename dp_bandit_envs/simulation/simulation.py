"""Simulates many games: compiled if all parts can be compiled and it takes no longer, otherwise with `play`."""

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, SupportsIndex

from dp_bandit_envs import checks
from dp_bandit_envs.compiling.compiled import announced
from dp_bandit_envs.errors import ClusterError
from dp_bandit_envs.protocols import Environment
from dp_bandit_envs.seeding import Seed, warn_of_known_seed
from dp_bandit_envs.simulation.outcomes import Simulation
from dp_bandit_envs.simulation.players import Algorithms
from dp_bandit_envs.simulation.prepared import SECRET, prepare
from dp_bandit_envs.simulation.small_jobs import jobs_for, placed, smaller_than_compiling
from dp_bandit_envs.simulation.spreading import spread

if TYPE_CHECKING:
    from distributed import Client

Progress = Callable[[int, int], None]


def simulate(
    env_id: str | Callable[[], Environment],
    algorithms: Algorithms,
    *,
    horizon: SupportsIndex | None = None,
    trials: SupportsIndex = 1,
    seed: Seed = "auto",
    checkpoints: Iterable[int] | int | str | None = None,
    jobs: SupportsIndex = 1,
    env_kwargs: Mapping[str, Any] | None = None,
    first_trial: SupportsIndex = 0,
    progress: Progress | None = None,
    cluster: "str | Client | None" = None,
    at_guarantee: tuple[float, float] | None = None,
) -> Simulation:
    """Play every algorithm in many games; in one trial all algorithms face the same gains.

    Args:
        env_id: A registered id, or a function that makes a DPBandit environment, whose horizon is then used.
        algorithms: Names, with parameters after a colon if wanted (`"EXP3-tau:batch_size=100"`), or `Algorithm`
            objects; or a mapping from names to `Algorithm` objects or agents' classes.
        horizon: Number of rounds T; by default the environment's.
        trials: Number of games of each algorithm.
        seed: The seed of all randomness; whoever knows or guesses it can subtract the noise. Trial i does not depend on
            the other arguments, and is the game `play(env, algorithm, seed=seed, trial=i)`. In one trial algorithms
            share the gains and no noise. With None it is drawn from the operating system and written nowhere, so that
            the simulation cannot be repeated. By default 0, and None where the data are real; any other one ends in a
            `KnownSeedWarning` there.
        checkpoints: The rounds at which to record results; or a number of evenly spaced rounds, by default 100; or
            `"linear"` or `"log"` for 100 rounds with that spacing. T is always one of them.
        jobs: Number of trials to run in parallel: in threads, or in processes if something is not compiled. Games
            registered in this process are registered there too. joblib's `parallel_config` chooses another backend;
            without joblib all of it runs in threads.
        env_kwargs: More arguments for the environment.
        first_trial: Number of the first trial.
        progress: Called with (games done, games in all) after each trial, from the calling thread.
        cluster: The address of a dask scheduler, such as `"tcp://127.0.0.1:8786"`, or a `distributed.Client`; its
            workers then play all trials, and `jobs` is ignored. A secret seed is refused, as a cluster may store what
            it is sent. They need this package in the same version; games
            registered in this process travel to them. A trial whose worker died is played again by another.
        at_guarantee: An (epsilon, delta) that every algorithm's real guarantee in this game meets as closely as
            possible from below, as with `calibrate`; algorithms are then names.

    Raises:
        ClusterError: If the cluster cannot be reached, has no workers, or is lost while it plays.
        ImportError: If `cluster` is given and the extra `cluster` is not installed.
        LedgerError: If the data have a ledger, and it refuses these games; all of them are counted before the first.
        NotRepeatableError: If an adversary or a mechanism of somebody else's draws from elsewhere than its `rng`, or
            keeps something from game to game, as far as its first 256 rounds show; nothing is played then.
        NotSendableError: If trials run in other processes and a part cannot be pickled or imported there.

    Example:
        >>> from dp_bandit_envs import simulate
        >>> results = simulate("DPBandit-Stochastic-v0", ["Uniform", "KL-UCB"], horizon=200, trials=20, seed=0)
        >>> for name, outcome in results.items():
        ...     print(f"{name}: mean regret {outcome.external_regret[:, -1].mean():.2f}")
        Uniform: mean regret 13.50
        KL-UCB: mean regret 9.30
    """
    trials = checks.integer("trials", trials, at_least=1)
    first_trial = checks.integer("first_trial", first_trial, at_least=0)
    jobs = checks.integer("jobs", jobs, at_least=1)
    prepared = prepare(
        env_id,
        algorithms,
        horizon=horizon,
        seed=seed,
        checkpoints=checkpoints,
        env_kwargs=env_kwargs,
        at_guarantee=at_guarantee,
        small=smaller_than_compiling(trials, cluster=cluster),
    )
    if cluster is not None and prepared.secret:
        raise ClusterError(SECRET)
    prepared = placed(prepared, trials=trials, cluster=cluster)
    jobs = jobs_for(prepared.reasons.values(), jobs)
    prepared = prepared.entered(trials)  # first, because a ledger may refuse
    if not prepared.secret:
        warn_of_known_seed(prepared.game.adversary.is_real)
    tasks = prepared.tasks(range(first_trial, first_trial + trials))
    tables = prepared.tables(trials)
    done = 0
    played = spread(tasks, jobs, in_threads=prepared.in_threads, cluster=cluster)
    with announced([name for name in prepared.players if name not in prepared.reasons]):
        for _, trial, columns in played:
            for name, column in columns.items():
                tables[name].put(trial - first_trial, column)
            done += len(columns)
            if progress is not None:
                progress(done, trials * len(tables))
    outcomes = {name: prepared.outcome(name, table) for name, table in tables.items()}
    game = prepared.game
    known = None if prepared.secret else prepared.seed
    return Simulation(outcomes, prepared.checkpoints, game.horizon, game.adversary.n_arms, known, first_trial)
