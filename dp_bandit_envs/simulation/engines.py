"""Engines: `engine_for` chooses the first of lanes, the compiled loop and `play` that does not refuse an algorithm."""

import contextlib
import copy
import dataclasses
import functools
import os
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from contextvars import ContextVar
from typing import Any, ClassVar, Final, Self

import numpy as np

from dp_bandit_envs.adversaries import Adversary
from dp_bandit_envs.adversaries.adversary import RoundByRound
from dp_bandit_envs.adversaries.payoff import python_function
from dp_bandit_envs.algorithms import Algorithm
from dp_bandit_envs.compiling.compiled import (
    CompiledFunction,
    CompileJob,
    IsCancelled,
    compile_in_turn,
    loads_from_disk,
    not_cancelled,
    run_in_thread,
    say_once,
)
from dp_bandit_envs.compiling.functions import is_builtin
from dp_bandit_envs.compiling.layout import empty_words
from dp_bandit_envs.compiling.numba_errors import in_short
from dp_bandit_envs.decisions import DecisionSet
from dp_bandit_envs.envs.bandit_env import BanditEnv, checked_beginning
from dp_bandit_envs.errors import GainRangeError
from dp_bandit_envs.graphs import FeedbackGraph, GraphSource
from dp_bandit_envs.privacy.admission import admission_to
from dp_bandit_envs.privacy.guarantee import PrivacyGuarantee
from dp_bandit_envs.privacy.ledger import Reservation
from dp_bandit_envs.protocols import Environment, FloatArray, IntArray
from dp_bandit_envs.seeding import ADVERSARY, GRAPH, stream
from dp_bandit_envs.simulation.compiled_game import PROGRESS, CompiledGame, SingleGame, begin_games
from dp_bandit_envs.simulation.lanes import (
    DRAWN_ALONE,
    LANES,
    LaneBlock,
    LaneGains,
    LaneLoop,
    PythonGains,
    compiled_play_pieces,
    supports,
)
from dp_bandit_envs.simulation.playing import play, to_count
from dp_bandit_envs.simulation.results import (
    Engine,
    EngineName,
    ResultTable,
    StoppedEarlyError,
    StopRecord,
    TrialResults,
    stack_results,
    trial_results,
)
from dp_bandit_envs.simulation.stages import (
    DynamicRegret,
    GameState,
    History,
    Progress,
    compiled_add_up,
    compiled_add_up_constant,
    new_history,
)
from dp_bandit_envs.simulation.workers import Task, TrialTerms, compile_now

MOST_ROUNDS: Final = 20_000
"""`play` takes .1 to 1.7 s for them, and compiling 1 to 3 s."""
ROUNDS_TO_BEGIN: Final = 200
"""The rounds that `play` plays in the time that it takes to begin a game."""
ALWAYS_COMPILE: Final = "DP_BANDIT_ENVS_COMPILE"
"""The environment variable that is `always` where small simulations are compiled, too."""
TOO_FEW_ROUNDS: Final = (
    "it is faster to play so few rounds than to compile the loop; once compiled, it is used for few rounds, too"
)

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
    """Return whether this many games may be played in Python instead of compiled."""
    compiled = _all_compiled.get() or os.environ.get(ALWAYS_COMPILE) == "always"
    return not compiled and _rounds(horizon, trials) <= MOST_ROUNDS


def _rounds(horizon: int, trials: int) -> int:
    return trials * (horizon + ROUNDS_TO_BEGIN)


@dataclasses.dataclass(frozen=True)
class SimulationSetup:
    """The games of a simulation and their engines.

    Attributes:
        game: The innermost game.
        env: The environment inside the players' wrappers; it may have its own wrappers.
        make_env: Makes another such environment.
        seed: The seed.
        secret: Whether the seed is secret: from the operating system, and not stored.
        checkpoints: Rounds to record, ascending; the last is the horizon.
        players: The algorithms by name.
        wrapped: The environment in the wrappers of each algorithm.
        unchecked: Why the game's repeatability was not checked; empty if it was.
        compiled_games: The loop's arguments for compiled algorithms.
        refusals: Reasons against compiling, for the others.
        engines: The engines, each with its algorithms.
        reasons: Reasons for playing an algorithm in Python, for these only.
        reservation: The games charged in a ledger, if the data have one.
    """

    game: BanditEnv
    env: Environment = dataclasses.field(repr=False)
    make_env: Callable[[], Environment] = dataclasses.field(repr=False)
    seed: int = dataclasses.field(repr=False)
    secret: bool
    checkpoints: IntArray
    players: dict[str, Algorithm]
    wrapped: dict[str, Environment] = dataclasses.field(repr=False)
    unchecked: str = ""
    compiled_games: dict[str, CompiledGame] = dataclasses.field(default_factory=dict, repr=False)
    refusals: dict[str, str] = dataclasses.field(default_factory=dict)
    engines: tuple[Engine, ...] = ()
    reasons: dict[str, str] = dataclasses.field(default_factory=dict)
    reservation: Reservation | None = None

    def tasks(self, trials: range, owner: Any = None) -> list[Task]:
        """Return the tasks of these trials; `owner` is returned with each result."""
        env_id = None if self.game.spec is None else self.game.spec.id
        return [Task(engine, trials, env_id, owner) for engine in self.engines]

    def reserved(self, trials: int) -> "SimulationSetup":
        """Charge all games of this many trials to the data's ledger, if any, and pass the reservation to the engines.

        Everything is compiled before. `refund()` returns games that have not begun.

        Raises:
            LedgerError: If the ledger refuses them; no game is charged then.
        """
        adversary = self.game.adversary
        if adversary.ledger is None:
            return self
        games = [[to_count(player, self.env, self.wrapped[name])] for name, player in self.players.items()]
        compile_now(self.engines)
        use, names = adversary.data_use, list(self.players)
        reservation = adversary.ledger.spend(games, use, trials, secret=self.secret, players=names)
        engines = (
            dataclasses.replace(engine, terms=engine.terms._replace(reservation=reservation))
            for engine in self.engines
            if isinstance(engine, (ScalarEngine, PythonEngine))
        )
        return dataclasses.replace(self, engines=tuple(engines), reservation=reservation)

    def refund(self) -> None:
        """Refund the games that have not begun to the data's ledger."""
        if self.reservation is not None:
            self.reservation.refund()

    @property
    def in_threads(self) -> bool:
        """Whether all engines are compiled, and so can run in threads."""
        return not self.reasons

    def tables(self, trials: int) -> dict[str, ResultTable]:
        """Return empty tables by the algorithm's name."""
        return {name: ResultTable(trials) for name in self.players}


@dataclasses.dataclass
class CompiledEngine:
    """Base class of the two engines of machine code."""

    adversary: Adversary
    games: dict[str, CompiledGame]
    seed: int = dataclasses.field(repr=False)
    checkpoints: IntArray

    @property
    def algorithms(self) -> list[str]:
        """The names of the algorithms."""
        return list(self.games)

    @property
    def ready(self) -> bool:
        """Whether nothing has to be compiled or loaded."""
        raise NotImplementedError

    def compile(self, is_cancelled: IsCancelled) -> None:
        """Compile everything, or load it from disk."""
        raise NotImplementedError

    def only(self, algorithms: Collection[str]) -> Self:
        """Return the engine of these algorithms; machine code is shared."""
        engine = object.__new__(type(self))
        vars(engine).update(vars(self), games={name: self.games[name] for name in algorithms})
        return engine

    @property
    def loops(self) -> list[CompiledFunction]:
        """The loops of its algorithms."""
        raise NotImplementedError

    def _too_few_rounds(self, algorithm: str, trials: int) -> str:
        """Return `TOO_FEW_ROUNDS` if compiling an algorithm takes longer than playing it; otherwise ""."""
        game, horizon = self.games[algorithm], self.adversary.horizon
        if self.adversary.ledger is not None or not is_small_simulation(horizon, trials):
            return ""
        if _played[game.loop] + _rounds(horizon, trials) > MOST_ROUNDS:
            return ""
        alone = self.only([algorithm])
        # Machine code of users' functions is never on disk.
        has_code = alone.ready or (not game.user_functions and loads_from_disk(alone.compile))
        return "" if has_code else TOO_FEW_ROUNDS


LEAST_TRIALS: Final = 3
"""A block of fewer games takes longer than one game after the other."""
LANE_NUMBERS = 2**16
"""Gains in a piece, half a megabyte: they stay in a core's own cache until they are played."""
LANE_NUMBERS_FILLED = 2**18
"""The same for gains that Python fills in: fewer calls take less time."""
LANE_ROUNDS = 2**22
"""Rounds in a call of machine code, of all games and algorithms together: some hundredths of a second, as Ctrl-C and
other threads wait for its end."""


@dataclasses.dataclass
class LaneEngine(CompiledEngine):
    """Plays trials side by side; the games equal those of `ScalarEngine`."""

    beside_others: bool = False
    """Whether other algorithms than those in `games` meet the same gains, so that none draws them by itself."""
    _loop_by_name: dict[str, LaneLoop] = dataclasses.field(default_factory=dict, init=False, repr=False)
    kind: ClassVar[EngineName] = "lanes"
    at_once: ClassVar[int] = LANES

    @classmethod
    def of(cls, setup: SimulationSetup) -> Self:
        """Return the engine of all algorithms made of plain functions; it refuses most of them."""
        return cls(setup.game.adversary, setup.compiled_games, setup.seed, setup.checkpoints)

    def refusal(self, algorithm: str, trials: int) -> str:
        """Return why this many trials of an algorithm are not played side by side; "" if they are."""
        if trials < LEAST_TRIALS:
            return "a block of so few games takes longer than one game after the other"
        if algorithm not in self._supported:
            return "lanes do not support it, or are not faster"
        if self.adversary.ledger is not None or self.adversary.means_move:
            return "games on data with a ledger, or whose means move, are played one by one"
        return self._too_few_rounds(algorithm, trials)

    def only(self, algorithms: Collection[str]) -> Self:
        """Return the engine of these algorithms; machine code is shared."""
        _ = self._gains  # so that it is made once
        engine = super().only(algorithms)
        engine.beside_others = self.beside_others or len(self._supported) > 1
        return engine

    @property
    def loops(self) -> list[CompiledFunction]:
        """The loops of its algorithms, and the one that draws gains for all of them."""
        return [loop.compiled for loop in (*self._loops(), self._gains) if loop is not None]

    @property
    def ready(self) -> bool:
        """Whether nothing has to be compiled or loaded."""
        gains_are_ready = self._drawn is not None or compiled_add_up().ready
        return gains_are_ready and all(loop.ready for loop in (compiled_play_pieces(), *self.loops))

    def compile(self, is_cancelled: IsCancelled) -> None:
        """Compile everything, or load it from disk."""
        room = np.empty((1, self.adversary.n_arms, LANES), np.int64)
        if self._drawn is None:
            # No game begins here.
            PythonGains(self.adversary, self.seed, range(0), self.checkpoints).fill(room[:0])
        compiled_play_pieces()(0, room, self.checkpoints, self._block(range(1), None, []).arguments)
        for loop in (self._gains, *self._loops()):
            if is_cancelled():
                return
            _ = loop and loop.address

    def run(self, trials: range, is_cancelled: IsCancelled = not_cancelled) -> dict[str, TrialResults]:
        """Play these trials, block by block."""
        blocks = (trials[start : start + LANES] for start in range(0, len(trials), LANES))
        return stack_results([self._run(block, is_cancelled) for block in blocks], np.concatenate)

    def _run(self, trials: range, is_cancelled: IsCancelled) -> dict[str, TrialResults]:
        n_arms, horizon = self.adversary.n_arms, self.adversary.horizon
        block = self._block(trials, self._gains, self._loops())
        filled = PythonGains(self.adversary, self.seed, trials, self.checkpoints) if block.means is None else None
        rows = min(horizon, max(1, (LANE_NUMBERS_FILLED if filled else LANE_NUMBERS) // (n_arms * LANES)))
        room = np.empty((rows, n_arms, LANES), np.int64)
        pieces = 1 if filled else max(1, LANE_ROUNDS // (rows * LANES * len(self.games)))
        for start in range(0, horizon, rows * pieces):
            if is_cancelled():
                raise StoppedEarlyError
            rounds = min(rows * pieces, horizon - start)
            if filled:
                filled.fill(room[:rounds])
            compiled_play_pieces()(rounds, room, self.checkpoints, block.arguments)
            block.check()
        totals_at, means = (filled.totals_at, filled.means) if filled else (block.totals_at, block.means or [])
        fixed, results = np.moveaxis(totals_at, -1, 0)[: len(trials)], {}
        for name, (collected, counts) in zip(self.games, block.records, strict=True):
            by_game, collected = np.moveaxis(counts, -1, 0)[: len(trials)], collected.T[: len(trials)]
            pulls, switches = by_game[..., :-1], by_game[..., -1]
            results[name] = trial_results(fixed, fixed, collected, switches, pulls, means[: len(trials)])
        return results

    def _block(self, trials: range, gains: LaneGains | None, loops: list[LaneLoop]) -> LaneBlock:
        return LaneBlock(gains, loops, self.seed, trials, self.checkpoints, self.adversary.n_arms)

    def _loops(self) -> list[LaneLoop]:
        drawn = self._drawn if self._gains is None else None
        for name, game in self.games.items():
            if name not in self._loop_by_name:
                self._loop_by_name[name] = LaneLoop(game, drawn)
        return [self._loop_by_name[name] for name in self.games]

    @functools.cached_property
    def _supported(self) -> list[str]:
        return [name for name, game in self.games.items() if supports(game)]

    @functools.cached_property
    def _gains(self) -> LaneGains | None:
        """The loop that draws gains for all algorithms, unless they draw their own."""
        single = len(self._supported) == 1 and not self.beside_others
        alone = single and self._drawn is not None and type(self._drawn[1]) in DRAWN_ALONE
        return None if self._drawn is None or alone else LaneGains(*self._drawn)

    @functools.cached_property
    def _drawn(self) -> tuple[Adversary, RoundByRound] | None:
        """The adversary, and its inner adversary that draws; None without a plain function of this package."""
        drawn = self.adversary.by_rounds
        if not isinstance(drawn, RoundByRound):
            return None
        builtin = is_builtin(type(drawn).next_round) and is_builtin(type(drawn).first_round_state)
        return (self.adversary, drawn) if builtin else None

    def __getstate__(self) -> dict[str, object]:
        """Leave out machine code, which cannot be pickled."""
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(self)} | {"_loop_by_name": {}}


ROUNDS_AT_ONCE = 2**14
NUMBERS_AT_ONCE = 2**18
"""The largest number of gains (rounds times arms) in a block."""
MOST_AT_ONCE = 64
WORDS_AT_ONCE = 2**20
"""Of trials that are played at once: their number, and their words, 8 MB."""


@dataclasses.dataclass
class ScalarEngine(CompiledEngine):
    """Plays one trial of all compiled algorithms on the same gains."""

    terms: TrialTerms = dataclasses.field(default_factory=TrialTerms)
    source: GraphSource | None = None
    decision_set: DecisionSet | None = None
    refusals: dict[str, str] = dataclasses.field(default_factory=dict, repr=False)
    kind: ClassVar[EngineName] = "compiled"

    @classmethod
    def of(cls, setup: SimulationSetup) -> Self:
        """Return the engine of all algorithms that are made of plain functions."""
        games, adversary = setup.compiled_games, setup.game.adversary
        guarantees: tuple[PrivacyGuarantee, ...] = ()
        if adversary.ledger is not None:
            guarantees = tuple(to_count(setup.players[name], setup.env, setup.wrapped[name]) for name in games)
        source, decision_set = getattr(setup.game, "source", None), getattr(setup.game, "decision_set", None)
        terms = TrialTerms(setup.secret, guarantees)
        return cls(adversary, games, setup.seed, setup.checkpoints, terms, source, decision_set, setup.refusals)

    def refusal(self, algorithm: str, trials: int) -> str:
        """Return why an algorithm is not compiled; "" if it is. Users' functions are compiled to find out."""
        if algorithm in self.refusals:
            return self.refusals[algorithm]
        return self._too_few_rounds(algorithm, trials) or self._compile_error(algorithm)

    def only(self, algorithms: Collection[str]) -> Self:
        """Return the engine of these algorithms; machine code is shared."""
        engine = super().only(algorithms)
        guarantees = dict(zip(self.games, self.terms.guarantees, strict=False))
        engine.terms = self.terms._replace(guarantees=tuple(guarantees[name] for name in algorithms if guarantees))
        engine.refusals = {}
        return engine

    def _compile_error(self, algorithm: str) -> str:
        """Compile an algorithm with users' functions; return why Numba refuses it, or ""."""
        game = self.games[algorithm]
        if not game.user_functions:
            return ""
        alone = self.only([algorithm])
        try:
            if not game.loop.ready:
                compile_in_turn([CompileJob(type(game.agent).__name__, alone.loops, alone.compile, is_kept=False)])
            run_in_thread(alone.compile)
        # Numba raises errors of many types here.
        except Exception as error:
            reason = in_short(error, game.user_functions, game.owners)
            say_slow(algorithm, reason)
            return reason
        return ""

    @property
    def at_once(self) -> int:
        """The number of trials that take about as long as one trial of 2^16 rounds."""
        return max(1, min(MOST_AT_ONCE, 2**16 // self.adversary.horizon))

    @property
    def loops(self) -> list[CompiledFunction]:
        """The loops of its algorithms."""
        return [game.loop for game in self.games.values()]

    @property
    def ready(self) -> bool:
        """Whether nothing has to be compiled or loaded."""
        shared = self.adversary.payoff is None and compiled_add_up().ready
        return shared and all(loop.ready for loop in self.loops)

    def compile(self, is_cancelled: IsCancelled) -> None:
        """Compile everything, or load it from disk."""
        n_arms = self.adversary.n_arms
        gains, totals_at = np.empty((0, n_arms)), np.zeros((len(self.checkpoints), n_arms))
        compiled_add_up()(gains, np.zeros(n_arms), 1, self.checkpoints, totals_at)
        self._add_up_constant(gains, 1, self._constant_play())
        for game in self.games.values():
            if is_cancelled():
                return
            game.compile()

    def run(self, trials: range, is_cancelled: IsCancelled = not_cancelled) -> dict[str, TrialResults]:
        """Play these trials, one after the other."""
        words = sum(game.image.words for game in self.games.values())
        size = max(1, min(MOST_AT_ONCE, WORDS_AT_ONCE // max(1, words)))
        groups = (trials[start : start + size] for start in range(0, len(trials), size))
        return stack_results([self._run(group, is_cancelled) for group in groups], np.concatenate)

    def _run(self, trials: range, is_cancelled: IsCancelled) -> dict[str, TrialResults]:
        blocks, singles = {}, {}
        for name, game in self.games.items():
            blocks[name], singles[name] = begin_games(game, self.seed, trials)
        totals_at = np.zeros((len(trials), len(self.checkpoints), self.adversary.n_arms))
        means: list[FloatArray | None] = []
        constant_at = totals_at if self.adversary.payoff is None else np.zeros_like(totals_at)
        for row, trial in enumerate(trials):
            in_trial = [of_algorithm[row] for of_algorithm in singles.values()]
            adversary, constant = self._play(trial, in_trial, totals_at[row], is_cancelled)
            means.append(adversary.means if constant is None and self.decision_set is None else None)
            if constant is not None:
                constant_at[row] = constant.totals_at
        moved = self._means_move and adversary.means is None and adversary.means_at(np.array([1])) is not None
        fixed = self._fixed(totals_at)
        always = fixed if constant_at is totals_at else self._fixed(constant_at)
        results = {}
        for name, game in self.games.items():
            image, block = game.image, blocks[name]
            record: Any = image.form.inner[GameState._fields.index("record")]
            arrays = (image.arrays(block, place) for place in record.inner)
            _, collected, switches, pulls, recommended, stop = arrays
            progress: Any = image.form.inner[PROGRESS]
            history = progress.inner[Progress._fields.index("history")]
            dynamic = None
            if game.payoff is not None:
                fixed = self._fixed(image.arrays(block, history.inner[History._fields.index("totals_at")]))
            elif moved:
                dynamic = image.arrays(block, history.inner[DynamicRegret._fields.index("totals_at")])
            stops = StopRecord(self.checkpoints, recommended, stop) if game.stops else None
            results[name] = trial_results(fixed, always, collected, switches, pulls, means, dynamic, stops)
        return results

    def _play(
        self, trial: int, games: list[SingleGame], totals_at: FloatArray, is_cancelled: IsCancelled
    ) -> tuple[Adversary, History | None]:
        """Play all games of one trial; return the adversary, and the payoffs of constant plays."""
        adversary, source = copy.copy(self.adversary), copy.copy(self.source)
        n_arms, horizon = adversary.n_arms, adversary.horizon
        with self.terms.of_games(list(self.games)), checked_beginning(adversary):
            admission = admission_to(adversary)
            adversary.begin(stream(self.seed, trial=trial, role=ADVERSARY))
        if admission is not None:
            admission.pay()
        if source is not None:
            source.begin(stream(self.seed, trial=trial, role=GRAPH), adversary.order)
        if adversary.features is not None and adversary.order is not None:
            for game in games:
                game.see_features(adversary.features)
        block = np.empty((min(ROUNDS_AT_ONCE, max(1, NUMBERS_AT_ONCE // n_arms), horizon), n_arms))
        totals = empty_words(n_arms).view(np.float64)
        constant = self._constant_play()
        for start in range(0, horizon, len(block)):
            if is_cancelled():
                raise StoppedEarlyError
            gains = block[: horizon - start]
            adversary.fill(gains)
            valid = compiled_add_up()(gains, totals, start + 1, self.checkpoints, totals_at)
            self._check(gains, valid)
            self._add_up_constant(gains, start + 1, constant)
            if self._means_move:
                short = adversary.shortfalls_at(np.arange(start + 1, start + len(gains) + 1))
                gains = np.hstack([gains, np.zeros_like(gains) if short is None else short])
            pieces = list(_pieces(gains, source))
            for game in games:
                for piece, graph in pieces:
                    game.play(piece, graph)
        return adversary, constant

    @property
    def _means_move(self) -> bool:
        return any(game.means_move for game in self.games.values())

    def _check(self, gains: FloatArray, valid: bool) -> None:
        """Raise if gains break the game's rules; `valid` if they are in [0, 1]."""
        if self.decision_set is not None:
            if not self.decision_set.has_gains(gains):
                raise GainRangeError(self.adversary, f"gain vectors of the {self.decision_set.name}")
        elif not valid:
            raise GainRangeError(self.adversary)

    def _fixed(self, totals_at: FloatArray) -> FloatArray:
        """Return the gain of each fixed arm, or of the best fixed point only."""
        return totals_at if self.decision_set is None else self.decision_set.support(totals_at)[..., np.newaxis]

    def _constant_play(self) -> History | None:
        """Return the history that sums the payoffs of constant plays; None without a payoff function."""
        if self.adversary.payoff is None:
            return None
        return new_history(self.adversary.memory, self.checkpoints, self.adversary.n_arms)

    def _add_up_constant(self, gains: FloatArray, first: int, constant: History | None) -> None:
        if constant is not None:
            compiled_add_up_constant(python_function(self.adversary.payoff))(gains, first, constant)


@dataclasses.dataclass
class PythonEngine:
    """Plays one trial of all other algorithms with `play`."""

    make_env: Callable[[], Environment]
    algorithms: dict[str, Algorithm]
    seed: int = dataclasses.field(repr=False)
    checkpoints: IntArray
    terms: TrialTerms = dataclasses.field(default_factory=TrialTerms)
    kind: ClassVar[EngineName] = "play"
    at_once: ClassVar[int] = 1
    ready: ClassVar[bool] = True

    @classmethod
    def of(cls, setup: SimulationSetup) -> Self:
        """Return the engine of all algorithms."""
        return cls(setup.make_env, setup.players, setup.seed, setup.checkpoints, TrialTerms(setup.secret))

    def refusal(self, algorithm: str, trials: int) -> str:
        """Return "": this engine plays every algorithm."""
        return ""

    def only(self, algorithms: Collection[str]) -> Self:
        """Return the engine of these algorithms."""
        return dataclasses.replace(self, algorithms={name: self.algorithms[name] for name in algorithms})

    def compile(self, is_cancelled: IsCancelled) -> None:
        """Do nothing."""

    def run(self, trials: range, is_cancelled: IsCancelled = not_cancelled) -> dict[str, TrialResults]:
        """Play these trials, one after the other."""
        return stack_results([self._run(trial, is_cancelled) for trial in trials])

    def _run(self, trial: int, is_cancelled: IsCancelled) -> dict[str, TrialResults]:
        results = {}
        at = self.checkpoints - 1
        for name, algorithm in self.algorithms.items():
            if is_cancelled():
                raise StoppedEarlyError
            env = self.make_env()
            with self.terms.of_games([name]):
                game = play(env, algorithm, seed=self.seed, trial=trial)
            if len(game.arms) < self.checkpoints[-1]:
                raise ValueError(
                    f"every game must last the horizon's {self.checkpoints[-1]} rounds; {name} ended after"
                    f" {len(game.arms)}. Use a shorter horizon instead of a TimeLimit."
                )
            results[name] = TrialResults(
                game.external_regret[at],
                game.policy_regret[at],
                None if game.pseudo_regret is None else game.pseudo_regret[at],
                game.collected[at],
                game.switches[at],
                np.bincount(game.arms, minlength=game.n_plays),
                None if game.pseudo_regret is not None or game.dynamic_regret is None else game.dynamic_regret[at],
                None if game.rounds_until_stop is None else game.rounds_until_stop[at],
                None if game.error is None else game.error[at],
            )
        return results


ENGINES: Final = (LaneEngine, ScalarEngine, PythonEngine)
"""The fastest first."""


def engine_for(engines: Sequence[Engine], algorithm: str, trials: int) -> tuple[Engine, str]:
    """Return the first engine for this many trials of an algorithm, and why it is not compiled, if so."""
    reason = ""
    for engine in engines:
        refusal = engine.refusal(algorithm, trials)
        if not refusal:
            break
        reason = refusal
    return engine, reason if engine.kind == "play" else ""


def choose_engines(setup: SimulationSetup, trials: int) -> SimulationSetup:
    """Return a setup with the engines for this many trials, each with its algorithms, and why some are not compiled."""
    engines: list[Engine] = [engine.of(setup) for engine in ENGINES]
    chosen = {name: engine_for(engines, name, trials) for name in setup.players}
    reasons = {name: reason for name, (_, reason) in chosen.items() if reason}
    for name, reason in reasons.items():
        if reason == TOO_FEW_ROUNDS:
            _played[setup.compiled_games[name].loop] += _rounds(setup.game.horizon, trials)
    names = [[name for name, (engine, _) in chosen.items() if engine is candidate] for candidate in engines]
    used = tuple(engine.only(some) for engine, some in zip(engines, names, strict=True) if some)
    return dataclasses.replace(setup, engines=used, reasons=reasons)


def say_slow(algorithm: str, reason: str) -> None:
    """Print once why an algorithm is not compiled."""
    say_once(algorithm, f"{algorithm} is played in ordinary Python, which is slow: {reason}")


def _pieces(gains: FloatArray, source: GraphSource | None) -> Iterator[tuple[FloatArray, FeedbackGraph | None]]:
    """Split a block of gains at changes of the graph; yield each piece with its graph."""
    if source is None:
        yield gains, None
        return
    start = 0
    while start < len(gains):
        left = source.rounds_left
        rounds = len(gains) - start if left is None else min(left, len(gains) - start)
        yield gains[start : start + rounds], source.graph
        source.advance(rounds)
        start += rounds
