"""Simulates many games: compiled if all parts can be compiled and it takes no longer, otherwise with `play`."""

import contextlib
import dataclasses
import functools
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from typing import Any, Literal, SupportsFloat, SupportsIndex, get_args

import numpy as np

from dp_bandit_envs import checks
from dp_bandit_envs.adversaries import Adversary
from dp_bandit_envs.algorithms import Algorithm
from dp_bandit_envs.algorithms.calibration import NOTHING_ASKED, AskedPrivacy, asked_privacy, played_at
from dp_bandit_envs.algorithms.specs import Game, NamedGame, Player, game_of, is_one, sized
from dp_bandit_envs.compiling.compiled import (
    IsCancelled,
    MissingCodeError,
    not_cancelled,
    only_from_disk,
    run_in_thread,
    say_once,
    says_compiling,
    why_no_numba,
)
from dp_bandit_envs.envs.bandit_env import NOT_A_BANDIT_ENV, BanditEnv
from dp_bandit_envs.errors import SeedRefusedError, UnprotectedGameError, WrongTypeError
from dp_bandit_envs.privacy.ledger import Reservation
from dp_bandit_envs.protocols import Environment, IntArray
from dp_bandit_envs.seeding import Seed, chosen_seed, draw_seed, warn_of_known_seed
from dp_bandit_envs.simulation.compiled_game import Plan, make_plan
from dp_bandit_envs.simulation.determinism import check_repeatable
from dp_bandit_envs.simulation.engines import TOO_FEW_ROUNDS, CompiledTrials, PlayedTrials, check_compiles
from dp_bandit_envs.simulation.lanes import LEAST_TRIALS, LaneTrials, carries
from dp_bandit_envs.simulation.playing import to_count
from dp_bandit_envs.simulation.results import Engine, Keep, Outcome, Simulation, Summary, Table, Work
from dp_bandit_envs.simulation.stages import NotCompilableError, RefusedByNumbaError
from dp_bandit_envs.simulation.workers import Task, Terms, compile_now, refuse_backend_elsewhere, spread

SPACINGS = ("linear", "log")
MOST_TRIALS = 10_000_000
"""The most games of one algorithm; a gigabyte of results for each of its measures is a tenth of that."""


def spaced(horizon: int, number: int = 100, spacing: str = "linear") -> IntArray:
    """Return about `number` rounds up to and including the horizon.

    Args:
        horizon: Number of rounds T.
        number: How many to space; duplicates are dropped.
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
    algorithms: Algorithms, privacy: AskedPrivacy = NOTHING_ASKED, game: Any = None
) -> dict[str, Algorithm]:
    """Return algorithms by name, from any form that `simulate` accepts; their names must differ.

    Args:
        algorithms: The algorithms.
        privacy: What is asked of all of them, with one epsilon at most.
        game: The game, if anything is.
    """
    several: Any = [algorithms] if is_one(algorithms) else algorithms
    players: dict[str, Algorithm] = {}
    use = False
    for label, one in several.items() if isinstance(several, Mapping) else ((None, one) for one in several):
        player, given = played_at(one, label, privacy, lambda: game)
        use |= given
        if player.name in players:
            raise ValueError(
                f"algorithms must have different names; received {player.name!r} twice."
                " Use make_algorithm(..., label='another name') for two settings of one algorithm."
            )
        players[player.name] = player
    if not players:
        raise ValueError("algorithms must name at least one; received none.")
    if (privacy.epsilons or privacy.delta is not None) and not use:
        raise ValueError(
            f"{'epsilon' if privacy.epsilons else 'delta'} must be for at least one algorithm; {', '.join(players)}"
            " would not get it, taking none or having it already. Leave it out, or add one that takes it, such as"
            " DP-UCB-INT."
        )
    return players


Checkpoints = Iterable[int] | int | str | None


@dataclasses.dataclass(frozen=True)
class Prepared:
    """A simulation of any number of trials.

    Attributes:
        game: The innermost game.
        env: The environment that the wrappers of the players surround; it may have wrappers of its own.
        seed: The seed.
        secret: Whether nobody knows it: it came from the operating system, and is written nowhere.
        checkpoints: Rounds at which to record results, ascending; the last is the horizon.
        players: The algorithms by name.
        inside: The environment in the wrappers of each.
        reasons: Why an algorithm is played instead of compiled; for these only.
        make_env: Makes another such environment.
        works: What has to be played in each trial: the compiled algorithms together, the others together.
        unchecked: Why it was not checked whether the game can be repeated; empty if it was.
        reservation: What a ledger has counted, if the data have one.
    """

    game: BanditEnv
    env: Environment = dataclasses.field(repr=False)
    seed: int = dataclasses.field(repr=False)
    secret: bool
    checkpoints: IntArray
    players: dict[str, Algorithm]
    inside: dict[str, Environment] = dataclasses.field(repr=False)
    reasons: dict[str, str]
    make_env: Callable[[], Environment] = dataclasses.field(repr=False)
    works: tuple[CompiledTrials | PlayedTrials, ...]
    unchecked: str = ""
    reservation: Reservation | None = None

    def works_of(self, trials: int) -> tuple[Work, ...]:
        """Return what has to be played in so many trials: side by side what lanes carry, if that pays."""
        return self.works if trials < LEAST_TRIALS else self._side_by_side

    def tasks(self, trials: range, owner: Any = None) -> list[Task]:
        """Return what has to be played in these trials; `owner` is returned with each result."""
        env_id = None if self.game.spec is None else self.game.spec.id
        return [Task(work, trials, env_id, owner) for work in self.works_of(len(trials))]

    def reserved(self, trials: int) -> "Prepared":
        """Count all games of so many trials in the ledger of the data, if they have one, and note that in the works.

        Everything is compiled before. `refund()` gives back what has not begun.

        Raises:
            LedgerError: If the ledger refuses them; nothing is counted then.
        """
        adversary = self.game.adversary
        if adversary.ledger is None:
            return self
        games = [[to_count(player, self.env)] for player in self.players.values()]
        compile_now(self.works)
        use, names = adversary.data_use, list(self.players)
        reservation = adversary.ledger.spend(games, use, trials, secret=self.secret, players=names)
        works = (dataclasses.replace(one, terms=one.terms._replace(reservation=reservation)) for one in self.works)
        return dataclasses.replace(self, works=tuple(works), reservation=reservation)

    def refund(self) -> None:
        """Give back to the ledger of the data the games that have not begun."""
        if self.reservation is not None:
            self.reservation.refund()

    @property
    def in_threads(self) -> bool:
        """Whether all of it is compiled, and so can run in threads."""
        return not self.reasons

    def tables(self, trials: int) -> dict[str, Table]:
        """Return empty tables by the algorithm's name."""
        return {name: Table(trials) for name in self.players}

    @functools.cached_property
    def _side_by_side(self) -> tuple[Work, ...]:
        """The works, with what lanes carry apart; made once, so that it is compiled and its speed measured once."""
        return tuple(part for work in self.works for part in self._parts(work))

    def _parts(self, work: CompiledTrials | PlayedTrials) -> Iterator[Work]:
        lanes = self._in_lanes
        if isinstance(work, PlayedTrials) or not lanes:
            yield work
            return
        yield LaneTrials(work.adversary, lanes, work.seed, work.checkpoints)
        if len(lanes) < len(work.plans):
            rest = {name: plan for name, plan in work.plans.items() if name not in lanes}
            yield dataclasses.replace(work, plans=rest)

    @functools.cached_property
    def _in_lanes(self) -> dict[str, Plan]:
        """The plans that lanes carry; games on data with a ledger, or whose means move, are played one by one."""
        compiled = [work for work in self.works if isinstance(work, CompiledTrials)]
        adversary = self.game.adversary
        if adversary.ledger is not None or adversary.means_move or not compiled or compiled[0].source:
            return {}
        return {name: plan for name, plan in compiled[0].plans.items() if carries(plan)}

    def outcome(self, name: str, table: Table) -> Outcome:
        """Return the outcome of an algorithm from its full table."""
        reason = self.reasons.get(name, "")
        engine: Engine = "lanes" if table.trials >= LEAST_TRIALS and name in self._in_lanes else "compiled"
        about: dict[str, Any] = {
            "name": name,
            "checkpoints": self.checkpoints,
            "engine": "play" if reason else engine,
            "reason": "; ".join(filter(None, (reason, self.unchecked))),
            "guarantee": self.players[name].guarantee_inside(self.inside[name], self.env),
        }
        if table.moments:
            return Summary(table, **about)
        measures: dict[str, Any] = {"pseudo_regret": None, **table.measures}
        measures.setdefault("dynamic_regret", measures["pseudo_regret"])
        return Outcome(**about, **measures)


def prepare(
    game: Game | NamedGame,
    algorithms: Algorithms,
    *,
    horizon: SupportsIndex | None,
    seed: Seed,
    checkpoints: Checkpoints,
    n_arms: SupportsIndex | None = None,
    env_kwargs: Mapping[str, Any] | None = None,
    privacy: AskedPrivacy = NOTHING_ASKED,
    small: Callable[[Plan, Adversary], bool] = lambda plan, adversary: False,
) -> Prepared:
    """Make the game and find out which algorithms can be compiled; the arguments are those of `simulate`.

    Where `small` says so, those of somebody else's are not compiled to find it out.
    """
    if env_kwargs is not None and not isinstance(env_kwargs, Mapping):
        raise WrongTypeError(
            f"env_kwargs must be a dict, such as {{'n_arms': 3}}; received {checks.shown(env_kwargs)}."
        )
    make_env = sized(game_of(game).with_arguments(**(env_kwargs or {})), n_arms=n_arms, horizon=horizon).make
    env = make_env()
    game = env.unwrapped
    if not isinstance(game, BanditEnv):
        raise TypeError(NOT_A_BANDIT_ENV.format("simulate", game))
    number = chosen_seed(seed, game.adversary.is_real)
    secret = number is None
    if number is None:
        refuse_backend_elsewhere()
        number = draw_seed()
    rounds = _rounds(checkpoints, game.horizon)
    players = named_players(algorithms, privacy, game)
    compiled: dict[str, Plan] = {}
    reasons: dict[str, str] = {}
    inside = {}
    for name, player in players.items():
        player.check_game(env)
        inside[name] = player.wrap(env)
        refuse_secure(inside[name])
    if game.adversary.ledger is not None:
        refuse_shared_noise(players)
    unchecked = check_repeatable(env, make_env, zip(players.values(), inside.values(), strict=True))
    source, decision_set = getattr(game, "source", None), getattr(game, "decision_set", None)
    for name, player in players.items():
        try:
            plan = make_plan(player, env, inside[name], rounds)
            check_compiles(plan, game.adversary, source, small)
            compiled[name] = plan
        except NotCompilableError as error:
            reasons[name] = str(error)
            if isinstance(error, RefusedByNumbaError):
                say_once(name, f"{name} is played in ordinary Python, which is slow: {error}")
    if why_no_numba():
        say_once("missing", f"games are played in ordinary Python, which is slow: {why_no_numba()}")
    works: list[CompiledTrials | PlayedTrials] = []
    if compiled:
        known = () if game.adversary.ledger is None else tuple(to_count(players[name], env) for name in compiled)
        terms = Terms(secret, known)
        works.append(CompiledTrials(game.adversary, compiled, number, rounds, terms, source, decision_set))
    if reasons:
        works.append(PlayedTrials(make_env, {name: players[name] for name in reasons}, number, rounds, Terms(secret)))
    return Prepared(game, env, number, secret, rounds, players, inside, reasons, make_env, tuple(works), unchecked)


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


MOST_ROUNDS = 20_000
"""`play` takes .1 to 1.7 s for them, and compiling 1 to 3 s."""
ROUNDS_TO_BEGIN = 200
"""The rounds that `play` plays in the time that it takes to begin a game."""
ALWAYS_COMPILE = "DP_BANDIT_ENVS_COMPILE"
"""The environment variable that is `always` where small simulations are compiled, too."""

_played: Counter[object] = Counter()
"""Rounds played here instead of compiled, by compiled loop."""
_all_compiled: ContextVar[bool] = ContextVar("_all_compiled", default=False)


@contextlib.contextmanager
def always_compiled() -> Iterator[None]:
    """Compile small simulations, too."""
    token = _all_compiled.set(True)
    try:
        yield
    finally:
        _all_compiled.reset(token)


def is_small_simulation(horizon: int, trials: int) -> bool:
    """Return whether so many games may be played instead of compiled at all."""
    compiled = _all_compiled.get() or os.environ.get(ALWAYS_COMPILE) == "always"
    return not compiled and trials * (horizon + ROUNDS_TO_BEGIN) <= MOST_ROUNDS


def smaller_than_compiling(trials: int) -> Callable[[Plan, Adversary], bool]:
    """Return what says for `prepare` whether a plan is played, so often, in less time than it takes to compile it."""

    def small(plan: Plan, adversary: Adversary) -> bool:
        rounds = trials * (adversary.horizon + ROUNDS_TO_BEGIN)
        return adversary.ledger is None and is_small_simulation(adversary.horizon, trials) and _counted(plan, rounds)

    return small


def jobs_for(reasons: Iterable[str], jobs: int) -> int:
    """Return how many games to play at a time: one, if they are too few to be compiled, and so to start processes."""
    return 1 if TOO_FEW_ROUNDS in reasons else jobs


def placed(prepared: Prepared, trials: int) -> Prepared:
    """Return the simulation with those algorithms played in Python that are small and have no machine code on disk."""
    work = next((work for work in prepared.works if isinstance(work, CompiledTrials)), None)
    if work is None or work.adversary.ledger is not None or not is_small_simulation(work.adversary.horizon, trials):
        return prepared
    rounds = trials * (work.adversary.horizon + ROUNDS_TO_BEGIN)
    small = [name for name, plan in work.plans.items() if _played[plan.loop] + rounds <= MOST_ROUNDS]
    found: list[str] = []

    def look(stopped: IsCancelled) -> None:
        for one in prepared.works_of(trials):
            if isinstance(one, (CompiledTrials, LaneTrials)):
                few = {name: plan for name, plan in one.plans.items() if name in small}
                found.extend(missing_in(dataclasses.replace(one, plans=few)))

    if small and not all(one.ready for one in prepared.works_of(trials)):
        run_in_thread(look)
    if not found:
        return prepared
    for name in found:
        _counted(work.plans[name], rounds)
    rest = {name: plan for name, plan in work.plans.items() if name not in found}
    works: list[CompiledTrials | PlayedTrials] = [dataclasses.replace(work, plans=rest)] if rest else []
    reasons = {**prepared.reasons, **dict.fromkeys(found, TOO_FEW_ROUNDS)}
    algorithms = {name: prepared.players[name] for name in reasons}
    works.append(PlayedTrials(prepared.make_env, algorithms, work.seed, work.checkpoints, Terms(prepared.secret)))
    return dataclasses.replace(prepared, works=tuple(works), reasons=reasons)


def missing_in(work: CompiledTrials | LaneTrials) -> list[str]:
    """Return the algorithms whose machine code is not on disk; that of the others is loaded."""
    names = []
    if isinstance(work, LaneTrials):
        work = dataclasses.replace(work, beside_others=len(work.plans) > 1)
    for name in work.plans:
        try:
            with only_from_disk():
                dataclasses.replace(work, plans={name: work.plans[name]}).compile(not_cancelled)
        except MissingCodeError:
            names.append(name)
    return names


def _counted(plan: Plan, rounds: int) -> bool:
    """Count rounds of a plan that are played instead of compiled; return False if they are too many."""
    if _played[plan.loop] + rounds > MOST_ROUNDS:
        return False
    _played[plan.loop] += rounds
    return True


Progress = Callable[[int, int], None]


@checks.answers_wrong_calls
def simulate(
    environment: Game,
    algorithms: Algorithms,
    *,
    epsilon: SupportsFloat | None = None,
    delta: SupportsFloat | None = None,
    at_guarantee: bool = False,
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
            DPBandit environment; an environment, of which a new one is made for each game; or a table or file of gains.
        algorithms: One or several: a name, with parameters after a colon if wanted (`"EXP3-tau:batch_size=100"`); an
            `Algorithm`; an agent's class, or a function that makes one, which plays without a wrapper; or a function
            that returns an `Algorithm`, which may take `epsilon` and `delta`. A mapping from names for readers to these
            names them.
        epsilon: For every algorithm that takes one and does not have it written after its name; by default each
            algorithm's own. `compare` takes several.
        delta: For every algorithm that takes one beside an epsilon; by default T^-2, or that of your own function.
        at_guarantee: Whether (epsilon, delta), with 0 for a delta that is not given, is a guarantee that every
            algorithm's real one in this game meets as closely as possible from below, as with `calibrate`. Algorithms
            that guarantee nothing play as they are.
        horizon: Number of rounds T; by default the environment's.
        n_arms: Number of arms K; by default the environment's.
        trials: Number of games of each algorithm.
        seed: The seed of all randomness; whoever knows or guesses it can subtract the noise. Trial i does not depend on
            the other arguments, and is the game `play(env, algorithm, seed=seed, trial=i)`. In one trial algorithms
            share the gains and no noise. With None it is drawn from the operating system and written nowhere, so that
            the simulation cannot be repeated. By default 0, and None where the data are real; any other one ends in a
            `KnownSeedWarning` there.
        checkpoints: The rounds at which to record results; or a number of evenly spaced rounds, by default 100; or
            `"linear"` or `"log"` for 100 rounds with that spacing. T is always one of them.
        jobs: Number of trials to run in parallel: in threads, or in processes if something is not compiled. Games
            registered in this process are registered there too. joblib's `parallel_config` chooses another backend,
            such as dask's, whose workers may be on other machines: they need this package in the same version, and a
            secret seed is refused. Without joblib all of it runs in threads.
        env_kwargs: More arguments for the environment.
        first_trial: Number of the first trial.
        progress: Called with (games done, games in all) as results come in, from the calling thread.
        keep: `"trials"` for all results of each trial, or `"summary"` for means and standard errors at the checkpoints
            and the trials' values at T only: 40 bytes a trial and algorithm instead of some thousand. The outcomes
            then have `mean(measure)`, `standard_error(measure)` and `last(measure)`, and refuse the rest by name.

    Raises:
        ClusterError: If joblib's active backend is none of its own four, and the seed is secret or a worker has other
            code.
        LedgerError: If the data have a ledger, and it refuses these games; all of them are counted before the first.
        NotRepeatableError: If an adversary or a mechanism of somebody else's draws from elsewhere than its `rng`, or
            keeps something from game to game, as far as its first 256 rounds show; nothing is played then.
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
    privacy = asked_privacy([] if epsilon is None else [epsilon], delta, at_guarantee=at_guarantee)
    prepared = prepare(
        environment,
        algorithms,
        horizon=horizon,
        seed=seed,
        checkpoints=checkpoints,
        n_arms=n_arms,
        env_kwargs=env_kwargs,
        privacy=privacy,
        small=smaller_than_compiling(trials),
    )
    prepared = placed(prepared, trials)
    jobs = jobs_for(prepared.reasons.values(), jobs)
    tables = prepared.tables(trials)
    done = 0
    with says_compiling([name for name in prepared.players if name not in prepared.reasons]):
        prepared = prepared.reserved(trials)
        try:
            if not prepared.secret:  # not before, because a ledger may refuse
                warn_of_known_seed(prepared.game.adversary.is_real)
            tasks = prepared.tasks(range(first_trial, first_trial + trials))
            played = spread(tasks, jobs, in_threads=prepared.in_threads, keep=keep)
            with contextlib.closing(played):
                for _, some, columns in played:
                    for name, column in columns.items():
                        tables[name].put(some.start - first_trial, column)
                    done += len(some) * len(columns)
                    if callable(progress):
                        progress(done, trials * len(tables))
        finally:
            prepared.refund()  # nothing where all games have begun
    outcomes = {name: prepared.outcome(name, table) for name, table in tables.items()}
    game = prepared.game
    known = None if prepared.secret else prepared.seed
    return Simulation(outcomes, prepared.checkpoints, game.horizon, game.adversary.n_arms, known, first_trial)
