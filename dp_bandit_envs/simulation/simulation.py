"""Simulates many games: compiled if all parts can be compiled and it is not slower, otherwise with `play`."""

import contextlib
import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, Literal, SupportsFloat, SupportsIndex, get_args

import numpy as np

from dp_bandit_envs import checks
from dp_bandit_envs.algorithms import ALGORITHMS, Algorithm
from dp_bandit_envs.algorithms.calibration import NO_REQUEST, PrivacyRequest, read_player
from dp_bandit_envs.algorithms.specs import Game, GameSpec, Player, is_single_algorithm, read_game
from dp_bandit_envs.compiling.compiled import say_once, says_compiling, why_no_numba, why_not_compiled
from dp_bandit_envs.compiling.functions import is_builtin
from dp_bandit_envs.envs.bandit_env import NOT_A_BANDIT_ENV, BanditEnv
from dp_bandit_envs.errors import SeedRefusedError, UnprotectedGameError, WrongTypeError
from dp_bandit_envs.protocols import Environment, IntArray
from dp_bandit_envs.seeding import Seed, chosen_seed, draw_seed, warn_of_known_seed
from dp_bandit_envs.simulation.compiled_game import CompiledGame, make_compiled_game
from dp_bandit_envs.simulation.determinism import check_repeatable
from dp_bandit_envs.simulation.engines import TOO_FEW_ROUNDS, SimulationSetup, choose_engines, say_slow
from dp_bandit_envs.simulation.results import Keep, Outcome, ResultTable, Simulation, Summary
from dp_bandit_envs.simulation.stages import NotCompilableError, RefusedByNumbaError
from dp_bandit_envs.simulation.workers import compile_ahead, refuse_backend_elsewhere, run_tasks

SPACINGS = ("linear", "log")
MOST_TRIALS = 10_000_000
"""The most games of one algorithm; a gigabyte of results for each of its measures is a tenth of that."""


def spaced(horizon: int, number: int = 100, spacing: str = "linear") -> IntArray:
    """Return about `number` rounds up to and including the horizon.

    Args:
        horizon: Number of rounds T.
        number: Number of rounds; duplicates are dropped.
        spacing: `"linear"` or `"log"` (from round 1).
    """
    number = checks.integer("number of checkpoints", number, at_least=1, at_most=checks.MOST_ROUNDS_IN_MEMORY)
    checks.one_of("spacing", spacing, SPACINGS)
    if spacing == "linear":
        rounds = np.arange(1, number + 1) * horizon // number
    else:
        rounds = np.round(np.geomspace(1, horizon, number)).astype(np.int64)
    return checked([*rounds[rounds >= 1].tolist(), horizon], horizon)


def checked(checkpoints: Sequence[int] | IntArray, horizon: int) -> IntArray:
    """Return checkpoints in ascending order, without duplicates and ending with the horizon, or raise."""
    rounds = np.unique(np.array([checks.integer("checkpoint", t, at_least=1) for t in checkpoints], np.int64))
    if rounds.size and rounds[-1] > horizon:
        raise ValueError(f"checkpoints must be at most the horizon, {horizon}; received {rounds[-1]}.")
    if not rounds.size or rounds[-1] != horizon:
        rounds = np.append(rounds, horizon)
    return rounds


Algorithms = Player | Sequence[Player] | Mapping[str, Player]


def refuse_shared_noise(players: Mapping[str, Algorithm]) -> None:
    """Refuse two algorithms with the same random streams, whose noise would cancel in a difference."""
    names: dict[str, str] = {}
    for name, player in players.items():
        if player.player in names:
            raise UnprotectedGameError(
                f"algorithms on data with a ledger must have noise of their own; {names[player.player]!r} and {name!r}"
                " have the same. Play one of them, or give them other parameters. Nothing was played."
            )
        names[player.player] = name


def refuse_secure(env: Environment) -> None:
    """Raise if a privacy wrapper takes no seed."""
    if env.has_wrapper_attr("takes_seed") and not env.get_wrapper_attr("takes_seed"):
        raise SeedRefusedError(
            f"{type(env).__name__} has draws='secure', which simulate does not play: its trials and its compiled loop"
            " draw from generators with a seed. Use play(env, agent, seed=None), or draws='fast'."
        )


def named_players(
    algorithms: Algorithms, privacy: PrivacyRequest = NO_REQUEST, game: Any = None
) -> dict[str, Algorithm]:
    """Return algorithms by name, from any form that `simulate` accepts; their names must differ.

    Args:
        algorithms: The algorithms.
        privacy: The request for all of them.
        game: The game, if there is a request.
    """
    requests: Any = [algorithms] if is_single_algorithm(algorithms) else algorithms
    labelled = requests.items() if isinstance(requests, Mapping) else ((None, request) for request in requests)
    players: dict[str, Algorithm] = {}
    use = False
    for label, request in labelled:
        player, takes_it = read_player(request, label, privacy, game)
        use |= takes_it
        if player.name in players:
            raise ValueError(
                f"algorithms must have different names; received {player.name!r} twice."
                " Use make_algorithm(..., label='another name') for two settings of one algorithm."
            )
        players[player.name] = player
    if not players:
        raise ValueError("algorithms must name at least one; received none.")
    if not use:
        privacy.refuse_for(players)
    return players


Checkpoints = Iterable[int] | int | str | None


def prepare(
    game: Game | GameSpec,
    algorithms: Algorithms,
    *,
    horizon: SupportsIndex | None,
    seed: Seed,
    checkpoints: Checkpoints,
    n_arms: SupportsIndex | None = None,
    env_kwargs: Mapping[str, Any] | None = None,
    privacy: PrivacyRequest = NO_REQUEST,
    trials: int = 1,
) -> SimulationSetup:
    """Make the game and choose the engines for this many trials of each algorithm; arguments as for `simulate`.

    The last few games named by text and numbers only are cached without their seed, as making one takes longer than a
    short game. They contain only parts of this package, so a user's redefinitions cannot be missed.
    """
    if env_kwargs is not None and not isinstance(env_kwargs, Mapping):
        raise WrongTypeError(
            f"env_kwargs must be a dict, such as {{'n_arms': 3}}; received {checks.shown(env_kwargs)}."
        )
    arguments = (game, algorithms, horizon, n_arms, checkpoints, env_kwargs or {}, privacy)
    key = repr(arguments) if is_plain(arguments) and not why_not_compiled() else ""
    is_kept = (setup := _kept_setups.pop(key, None)) is not None
    if setup is None:
        setup = _make_setup(*arguments)
    number = chosen_seed(seed, setup.game.adversary.is_real)
    secret = number is None
    if number is None:
        refuse_backend_elsewhere()
        number = draw_seed()
    if key and (is_kept or _may_be_kept(setup)):
        _kept_setups[key] = setup
        for oldest in list(_kept_setups)[:-MOST_KEPT]:
            _kept_setups.pop(oldest, None)
    # Whoever gets the results may write to their checkpoints.
    setup = dataclasses.replace(setup, seed=number, secret=secret, checkpoints=setup.checkpoints.copy())
    return choose_engines(setup, trials)


MOST_KEPT: Final = 8
"""The most setups that are kept."""
MOST_WORDS_KEPT: Final = 2**16
"""The most initial words of the games of a cached setup, half a megabyte."""
MOST_PARTS: Final = 64
"""The longest list among the arguments of a setup that is kept: no table of gains."""
_kept_setups: dict[str, SimulationSetup] = {}


def is_plain(value: Any) -> bool:
    """Return whether a value is a number, text, None, or a collection of these, so that its repr identifies it."""
    if type(value) is dict:
        value = [*value.items()]
    if type(value) in (list, tuple, PrivacyRequest):
        return len(value) <= MOST_PARTS and all(map(is_plain, value))
    if type(value) is int:
        return value.bit_length() <= 64  # Python writes no integer of more than 4,300 digits
    return value is None or type(value) in (bool, float, str)


def _may_be_kept(setup: SimulationSetup) -> bool:
    """Return whether a setup is small, fully compiled, and made only of this package's parts and numbers."""
    spec, games = setup.game.spec, setup.compiled_games
    builtin = {name.lower() for name, maker in ALGORITHMS.items() if is_builtin(maker)}
    return (
        spec is not None
        and is_builtin(type(setup.game.adversary))
        and setup.game.adversary.data_use is None
        # Text may name a file, which may change.
        and not any(isinstance(value, str) for value in spec.kwargs.values())
        and all(name.partition(":")[0].lower() in builtin for name in setup.players)
        and not setup.refusals
        and sum(game.image.words for game in games.values()) <= MOST_WORDS_KEPT
    )


def _make_setup(
    game: Game | GameSpec,
    algorithms: Algorithms,
    horizon: SupportsIndex | None,
    n_arms: SupportsIndex | None,
    checkpoints: Checkpoints,
    env_kwargs: Mapping[str, Any],
    privacy: PrivacyRequest,
) -> SimulationSetup:
    """Make the game, and find out how the algorithms can be played, without seed and engines."""
    make_env = read_game(game).with_arguments(**env_kwargs).with_size(n_arms=n_arms, horizon=horizon).make
    env = make_env()
    game = env.unwrapped
    if not isinstance(game, BanditEnv):
        raise TypeError(NOT_A_BANDIT_ENV.format("simulate", game))
    rounds = _rounds(checkpoints, game.horizon)
    players = named_players(algorithms, privacy, game)
    wrapped = {}
    for name, player in players.items():
        player.check_game(env)
        wrapped[name] = player.wrap(env)
        refuse_secure(wrapped[name])
    if game.adversary.ledger is not None:
        refuse_shared_noise(players)
    unchecked = check_repeatable(env, make_env, zip(players.values(), wrapped.values(), strict=True))
    compiled_games, refusals = dict[str, CompiledGame](), dict[str, str]()
    for name, player in players.items():
        try:
            compiled_games[name] = make_compiled_game(player, env, wrapped[name], rounds, repeatable=True)
        except NotCompilableError as error:
            refusals[name] = str(error)
            if isinstance(error, RefusedByNumbaError):
                say_slow(name, refusals[name])
    if why_no_numba():
        say_once("missing", f"games are played in ordinary Python, which is slow: {why_no_numba()}")
    return SimulationSetup(game, env, make_env, 0, False, rounds, players, wrapped, unchecked, compiled_games, refusals)


def _outcome(setup: SimulationSetup, name: str, table: ResultTable) -> Outcome:
    reason = setup.reasons.get(name, "")
    about: dict[str, Any] = {
        "name": name,
        "checkpoints": setup.checkpoints,
        "engine": next(engine.kind for engine in setup.engines if name in engine.algorithms),
        "reason": "; ".join(filter(None, (reason, setup.unchecked))),
        "guarantee": setup.players[name].guarantee_inside(setup.wrapped[name], setup.env),
    }
    if table.moments:
        return Summary(table, **about)
    measures: dict[str, Any] = {"pseudo_regret": None, **table.measures}
    measures.setdefault("dynamic_regret", measures["pseudo_regret"])
    return Outcome(**about, **measures)


def _rounds(checkpoints: Checkpoints, horizon: int) -> IntArray:
    if checkpoints is None:
        return spaced(horizon)
    if isinstance(checkpoints, str):
        return spaced(horizon, spacing=checks.one_of("checkpoints", checkpoints, SPACINGS))
    # No list of rounds: a number, and bytes, of which Python would make numbers.
    if not isinstance(checkpoints, Iterable) or isinstance(checkpoints, bytes) or getattr(checkpoints, "ndim", 1) == 0:
        number: Any = checkpoints
        return spaced(horizon, number)
    return checked(list(checkpoints), horizon)


def jobs_for(reasons: Iterable[str], jobs: int) -> int:
    """Return the number of games to play in parallel: one, if they are too few to compile or to start processes."""
    return 1 if TOO_FEW_ROUNDS in reasons else jobs


Progress = Callable[[int, int], None]


@checks.answers_wrong_calls
def simulate(
    environment: Game,
    algorithms: Algorithms,
    *,
    epsilon: SupportsFloat | None = None,
    delta: SupportsFloat | None = None,
    at_guarantee: bool | Literal["person"] = False,
    horizon: SupportsIndex | None = None,
    n_arms: SupportsIndex | None = None,
    trials: SupportsIndex = 1,
    seed: Seed = "auto",
    checkpoints: Iterable[int] | int | str | None = None,
    jobs: SupportsIndex = 1,
    env_kwargs: Mapping[str, Any] | None = None,
    first_trial: SupportsIndex = 0,
    progress: Progress | Literal[False] | None = None,
    keep: Keep = "trials",
) -> Simulation:
    """Play every algorithm in many games; in one trial all algorithms face the same gains.

    Args:
        environment: An id such as `"Switching"`, with arguments after a colon if wanted (`"Stochastic:means=[.9,.6]"`);
            a pair of an id and its arguments; an `Adversary` or a class that inherits it; a function that makes a
            DPBandit environment; an environment, recreated for each game; or a table or file of gains.
        algorithms: One or several: a name, with parameters after a colon if wanted (`"EXP3-tau:batch_size=100"`); an
            `Algorithm`; or a function that returns an `Algorithm` and may take `epsilon` and `delta`. An agent's class,
            or a function that makes an agent, plays without a wrapper. A mapping gives them display names.
        epsilon: For every algorithm that takes an epsilon without one in its name; by default each algorithm's own.
            `compare` takes several.
        delta: For every algorithm with a delta; by default T^-2, or your own function's default.
        at_guarantee: Whether (epsilon, delta), with delta 0 by default, is a target: each algorithm is calibrated so
            that its actual guarantee in this game is as close as possible from below, as with `calibrate`. Algorithms
            without a guarantee are unchanged. With `"person"` it is the guarantee of a person, whose number of rounds
            comes from the data.
        horizon: Number of rounds T; by default the environment's.
        n_arms: Number of arms K; by default the environment's.
        trials: Number of games of each algorithm.
        seed: The seed of all randomness; anyone who knows or guesses it can subtract the noise. Trial i does not depend
            on the other arguments, and is the game `play(env, algorithm, seed=seed, trial=i)`. In one trial algorithms
            share the gains but not noise. With None it is drawn from the operating system and not stored, so the
            simulation cannot be repeated. By default 0, and None for real data; another seed there gives a
            `KnownSeedWarning`.
        checkpoints: The rounds to record; or a number of evenly spaced rounds, by default 100; or `"linear"` or `"log"`
            for 100 rounds with that spacing. T is always included.
        jobs: Number of trials to run in parallel: in threads, or in processes if a part is not compiled. Games
            registered in this process are registered there too. With joblib's `parallel_config` you choose another
            backend, such as dask's, whose workers may be on other machines. They need the same version of this package,
            and a secret seed is refused. Without joblib all trials run in threads.
        env_kwargs: More arguments for the environment.
        first_trial: Number of the first trial.
        progress: Called with (games done, games in all) as results come in, from the calling thread.
        keep: `"trials"` for all results of each trial, or `"summary"` for means and standard errors at the checkpoints
            and the trials' values at T only: 40 bytes per trial and algorithm instead of some thousand. The outcomes
            then have `mean(measure)`, `standard_error(measure)` and `last(measure)`; other attributes raise an error.

    Raises:
        ClusterError: If joblib's active backend is not one of its own four, and the seed is secret or a worker has
            other code.
        LedgerError: If a ledger refuses these games; all of them are charged before the first begins.
        NotRepeatableError: If a user's adversary or mechanism draws from other sources than its `rng`, or keeps state
            between games, as far as its first 256 rounds show; no game is played then.
        NotSendableError: If trials run in other processes and a part cannot be pickled or imported there.

    Example:
        >>> from dp_bandit_envs import simulate
        >>> results = simulate("DPBandit-Stochastic-v0", ["Uniform", "KL-UCB"], horizon=200, trials=20, seed=0)
        >>> for name, outcome in results.items():
        ...     print(f"{name}: mean regret {outcome.external_regret[:, -1].mean():.2f}")
        Uniform: mean regret 12.75
        KL-UCB: mean regret 9.10
    """
    trials = checks.integer("trials", trials, at_least=1, at_most=MOST_TRIALS)
    first_trial = checks.integer("first_trial", first_trial, at_least=0)
    jobs = checks.integer("jobs", jobs, at_least=1)
    checks.one_of("keep", keep, get_args(Keep))
    if not (progress is None or progress is False or callable(progress)):
        raise WrongTypeError(
            f"progress must be a function of (games done, games in all), or None; received {progress!r}. compare shows"
            " it by itself."
        )
    if callable(progress):
        checks.function("progress", progress, "games done", "games in all")
    if isinstance(epsilon, (Sequence, np.ndarray)):
        raise WrongTypeError(f"epsilon must be one number; received {epsilon!r}. compare takes several.")
    privacy = PrivacyRequest.checked(epsilon, delta, at_guarantee=at_guarantee)
    with says_compiling((lambda _: None) if progress is False else None):
        setup = prepare(
            environment,
            algorithms,
            horizon=horizon,
            seed=seed,
            checkpoints=checkpoints,
            n_arms=n_arms,
            env_kwargs=env_kwargs,
            privacy=privacy,
            trials=trials,
        )
        jobs = jobs_for(setup.reasons.values(), jobs)
        tables = setup.tables(trials)
        done = 0
        setup = setup.reserved(trials)
        try:
            if not setup.secret:  # not before, because a ledger may refuse
                warn_of_known_seed(setup.game.adversary.is_real)
            compile_ahead(setup.engines, jobs, in_threads=setup.in_threads)
            tasks = setup.tasks(range(first_trial, first_trial + trials))
            played = run_tasks(tasks, jobs, in_threads=setup.in_threads, keep=keep)
            with contextlib.closing(played):
                for _, some, columns in played:
                    for name, column in columns.items():
                        tables[name].put(some.start - first_trial, column)
                    done += len(some) * len(columns)
                    if callable(progress):
                        progress(done, trials * len(tables))
        finally:
            setup.refund()  # nothing where all games have begun
    outcomes = {name: _outcome(setup, name, table) for name, table in tables.items()}
    game = setup.game
    seed_shown = None if setup.secret else setup.seed
    return Simulation(outcomes, setup.checkpoints, game.horizon, game.adversary.n_arms, seed_shown, first_trial)
