"""The base classes of adversaries, which write gains in blocks of rounds or round by round."""

import abc
import copy
import functools
import math
import sys
import weakref
from collections.abc import Callable, Iterator, Mapping
from time import perf_counter
from typing import Any, ClassVar, Final, Self, SupportsIndex

import numpy as np
from numpy.typing import ArrayLike

from dp_bandit_envs import checks
from dp_bandit_envs.checks import installed
from dp_bandit_envs.compiling.compiled import CompiledFunction, run_in_thread, why_not_compiled
from dp_bandit_envs.compiling.functions import bind, is_builtin, put_back, stream_address, stream_at
from dp_bandit_envs.draws import Stream
from dp_bandit_envs.errors import GainRangeError, LateDataError, WrongGainsError, WrongTypeError
from dp_bandit_envs.metrics import shortfalls
from dp_bandit_envs.privacy.admission import require_admission
from dp_bandit_envs.privacy.participation import Participation, combine_participation
from dp_bandit_envs.protocols import FloatArray, IntArray

MOST_DEEP: Final = 3
"""How deep lists and dictionaries are searched for adversaries and arrays."""
ARM_ORDERS: Final = ("given", "random")
NEW_GAME: Final = -1
"""A key of the memo of copies, where no id is: they begin a new game before they are played."""
SIMPLE: Final = frozenset({bool, int, float, str, type(None), np.random.Generator})


class Adversary(abc.ABC):
    """Chooses the gain of every arm in every round without seeing the arms played; charges and payoffs depend on them.

    The gains must not depend on how the rounds are split into blocks, so draw random numbers round by round. The memory
    used may grow with the number of arms and the length of a block, not with the horizon.

    Args:
        n_arms: Number of arms K, at least 2.
        horizon: Number of rounds T, at least 1.

    Attributes:
        memory: Number m of earlier rounds whose arms influence a round's payoff. Without a payoff function, a gain
            counts only if the same arm was played in the m rounds before (or in all earlier rounds if fewer); 0 means
            that it always counts.
        payoff: A round's payoff as a function `payoff(gains, arms, t)`; see `MemoryBounded`. None: the gain of the arm
            played, if it counts. In a class body write `payoff = staticmethod(function)`.
        means: The arms' expected gains, shape `(n_arms,)`, if they are constant; otherwise None, and `means_at` may
            give the means of each round.
        features: Public feature vectors of the arms, shape `(n_arms, dimension)`, if gains are linear in them; see
            `LinearGains`.
        arm_order: `"given"`: arms keep the numbers of their description. `"random"`: each game numbers them at random
            (see `draw_order`), so that no algorithm profits from the order in which it tries arms. By default random if
            the gains are this package's own, such as default means, and otherwise given.
        order: Shape `(n_arms,)`: arm i of the current game is arm `order[i]` of the description; None if the order is
            given. Means, features, graph and names are in the order of the game.
        lowest: The smallest gain: 0; or -1 for gain vectors of points, with coordinates instead of arms.
        data_use: For recorded data, the participation of a record and of a person; None for made-up gains. Set it in
            `__init__`. By default it is combined from the adversaries among the attributes, which may share records.
        ledger: The `Ledger` of these data, if any; by default the ledger of an adversary among the attributes. An
            adversary over data sets both in `__init__`, because an environment plays a copy. It calls `enter_ledger()`
            first in `begin`, which raises an error outside of an environment, where the game would not be charged.
        is_real: Whether gains are real data, of users or patients, so that the seed is secret unless one is given. True
            by default with a ledger, with a `data_use` that counts persons, or if an adversary among the attributes has
            either; set it in `__init__` for others.

    Example:
        >>> import numpy as np
        >>> from dp_bandit_envs import Adversary, BanditEnv, Exp3, play
        >>> class FirstArm(Adversary):
        ...     def begin(self, rng): pass
        ...     def next_gains(self, rounds): return np.tile([1.0, 0.0], (rounds, 1))
        >>> game = play(BanditEnv(FirstArm(n_arms=2, horizon=1000)), Exp3(), seed=0)
        >>> print(f"collected {game.gains.sum():.0f} of 1000")
        collected 954 of 1000
    """

    memory: int = 0
    payoff: Callable[..., Any] | None = None
    means: FloatArray | None = None
    features: FloatArray | None = None
    order: IntArray | None = None
    lowest: float = 0.0
    _arm_order: str = "given"
    _data_use: Participation | None = None
    _ledger: Any = None
    _is_real: bool | None = None

    def __init_subclass__(cls) -> None:
        """Let the constructors of this package's adversaries answer wrong calls."""
        super().__init_subclass__()
        checks.answer_wrong_calls_of(cls, "__init__")

    def __init__(self, n_arms: SupportsIndex = 4, horizon: SupportsIndex = 2**18) -> None:
        self.n_arms = checks.integer("n_arms", n_arms, at_least=2, at_most=checks.MOST_ARMS)
        self.horizon = checks.integer("horizon", horizon, at_least=1, at_most=checks.MOST_ROUNDS)

    @property
    def arm_order(self) -> str:
        """`"given"` or `"random"`: how arms are numbered."""
        return self._arm_order

    @arm_order.setter
    def arm_order(self, arm_order: str) -> None:
        self._arm_order = checks.one_of("arm_order", arm_order, ARM_ORDERS)

    def draw_order(self, rng: np.random.Generator) -> IntArray:
        """Draw and return `order` for a new game if `arm_order` is random; else return 0, 1, ..., K - 1.

        An adversary that supports both orders calls it in `begin` and permutes all its per-arm data by it. The order
        has its own stream, so `rng` returns the same numbers in both cases.
        """
        self.order = rng.spawn(1)[0].permutation(self.n_arms) if self.arm_order == "random" else None
        return np.arange(self.n_arms) if self.order is None else self.order

    @property
    def data_use(self) -> Participation | None:
        """The participation of records and persons."""
        if self._data_use is not None:
            return self._data_use
        parts = [(part.data_use, part.ledger) for part in self._inner()]
        uses = [use for use, _ in parts if use is not None]
        # Where one with a ledger does not say it, it is not known for all of them.
        if not uses or any(use is None and ledger is not None for use, ledger in parts):
            return None
        return uses[0] if len(uses) == 1 else combine_participation(uses, self.horizon)

    @data_use.setter
    def data_use(self, use: Participation | None) -> None:
        self._refuse_late("data_use")
        self._data_use = use

    @property
    def ledger(self) -> Any:
        """The ledger of the data."""
        return next(iter(self.ledgers), None)

    @ledger.setter
    def ledger(self, ledger: Any) -> None:
        if ledger is not None and not callable(getattr(ledger, "spend", None)):
            raise WrongTypeError(f"ledger must be a dp_bandit_envs.Ledger; received {checks.kind_of(ledger)}.")
        self._refuse_late("ledger")
        self._ledger = ledger

    @property
    def ledgers(self) -> list[Any]:
        """All ledgers of the data: its own, and the ledgers of adversaries among its attributes."""
        of_its_data = [] if self._ledger is None else [self._ledger]
        inner = [ledger for adversary in self._inner() for ledger in adversary.ledgers]
        return list({ledger.id: ledger for ledger in (*of_its_data, *inner)}.values())

    @property
    def holders(self) -> "list[Adversary]":
        """The adversaries with their own ledger: itself and adversaries among its attributes."""
        own = [] if self._ledger is None else [self]
        return [*own, *(holder for part in self._inner() for holder in part.holders)]

    @property
    def is_real(self) -> bool:
        """Whether gains are real data."""
        if self._is_real is not None:
            return self._is_real
        counts_persons = self._data_use is not None and self._data_use.person is not None
        return counts_persons or self._ledger is not None or any(part.is_real for part in self._inner())

    @is_real.setter
    def is_real(self, is_real: bool) -> None:
        self._refuse_late("is_real")
        self._is_real = checks.boolean("is_real", is_real)

    def _refuse_late(self, fact: str) -> None:
        """Refuse to change declarations about the data after a copy: games of the copies would not see the change."""
        if _copied.get(id(self)) is self:
            raise LateDataError(
                f"{fact} of a {type(self).__name__} must be set before it is copied, as every environment does: copies"
                " would play on without it. Make another one, and set it first."
            )

    def enter_ledger(self) -> None:
        """Refuse to begin a game unless this adversary's own ledger, if any, has admitted it.

        Raises:
            LedgerError: If the game begins outside of an environment, which would ask the ledger and pay.
        """
        if self._ledger is not None:
            require_admission(self, self._ledger)

    def _inner(self) -> "Iterator[Adversary]":
        # Asked in every game: numbers and names first, which are most.
        some = [value for value in vars(self).values() if type(value) not in SIMPLE]
        return iter({id(part): part for part in among(some, Adversary)}.values())

    @property
    def by_rounds(self) -> Any:
        """The `RoundByRound` whose `next_round` draws the gains, itself or one in it; None if there is none."""
        return None

    def means_of(self, state: Any) -> FloatArray | None:
        """Return the means of a game, given the state of its `by_rounds`."""
        return self.means

    def means_at(self, rounds: ArrayLike) -> FloatArray | None:
        """Return the arms' expected gains in rounds of the current game, counted from 1.

        Adversaries with changing means define it, and results then include `dynamic_regret`. It makes no random draws:
        random means are drawn in `begin`.

        Args:
            rounds: The rounds, shape `(rounds,)`.

        Returns:
            Means of shape `(rounds, n_arms)`, by default `means` in each round; None if they are unknown.
        """
        return None if self.means is None else np.tile(self.means, (len(np.asarray(rounds)), 1))

    def shortfalls_at(self, rounds: ArrayLike) -> FloatArray | None:
        """Return each arm's gap to the best mean of its round, `(rounds, n_arms)`; None if unknown.

        Raises:
            ValueError: If `means_at` does not return such a table of finite numbers.
        """
        means = self.means_at(rounds)
        if means is None:
            return None
        wanted = (len(np.asarray(rounds)), self.n_arms)
        table = np.asarray(means)
        if not (table.shape == wanted and table.dtype.kind in "biuf" and np.isfinite(table).all()):
            raise ValueError(
                f"{type(self).__name__}.means_at must return finite numbers of shape (rounds, n_arms), here {wanted};"
                f" received {table.dtype.name} of shape {table.shape}. For one row of means that stay, set means."
            )
        return shortfalls(table.astype(float))

    @property
    def means_move(self) -> bool:
        """Whether its class defines `means_at`, the means of each round."""
        return type(self).means_at is not Adversary.means_at and self.payoff is None

    def has_methods_of(self, kind: type[Any]) -> bool:
        """Return whether games begin and gains are drawn as in a class: no subclass overrides these methods."""
        return all(getattr(type(self), name) is getattr(kind, name) for name in ("begin", "next_gains", "fill"))

    def __copy__(self) -> Self:
        """Return an adversary for another game, which may be played at the same time.

        It is a deep copy, except that objects that cannot be copied, such as open files, are shared. Adversaries of
        this package share their attributes, because `begin` recreates all that a game changes; inner adversaries are
        copied.
        """
        return self.__deepcopy__({NEW_GAME: True})

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """Return an independent adversary in the same round, with the same future gains.

        Read-only arrays are shared (make large tables read-only by `table.flags.writeable = False`), and so are
        ledgers.
        """
        memo[id(self)] = clone = object.__new__(type(self))
        _copied[id(self)] = self
        if NEW_GAME in memo and is_builtin(type(self)):
            for name, value in vars(self).items():
                setattr(clone, name, copy.deepcopy(value, memo) if isinstance(value, Adversary) else value)
        else:
            vars(clone).update(_of_another_game(vars(self), memo))
        return clone

    @abc.abstractmethod
    def begin(self, rng: np.random.Generator) -> None:
        """Start a new game at round 1; every random number of the game comes from `rng`."""

    @abc.abstractmethod
    def next_gains(self, rounds: int) -> FloatArray:
        """Return the gains of the next `rounds` rounds: a fresh array of shape `(rounds, n_arms)`, in [0, 1]."""

    def fill(self, gains: FloatArray, *, check: bool = False) -> None:
        """Write the gains of the next `len(gains)` rounds into `gains`, an array of shape `(rounds, n_arms)`.

        It works in small pieces: temporary arrays of several 100 kB are returned to the operating system after every
        use, and allocating them again costs several times more than drawing their random numbers. With `check`, gains
        outside [lowest, 1] are refused; the simulator and vector environments check them themselves.
        """
        piece = max(1, 16384 // self.n_arms)
        for start in range(0, len(gains), piece):
            block = gains[start : start + piece]
            fresh = self.next_gains(len(block))
            try:
                fresh = np.asarray(fresh, float)
            except (TypeError, ValueError, OverflowError):
                # NumPy's words would show a gain.
                raise WrongGainsError(type(self).__name__, block.shape, None) from None
            if fresh.shape != block.shape:
                raise WrongGainsError(type(self).__name__, block.shape, fresh.shape)
            block[...] = fresh
            if check:
                self.check_range(block)

    def check_range(self, gains: FloatArray) -> None:
        """Raise GainRangeError if gains are outside [lowest, 1], or NaN."""
        if gains.size and not (gains.min() >= self.lowest and gains.max() <= 1):
            raise GainRangeError(self)


_copied: "weakref.WeakValueDictionary[int, Adversary]" = weakref.WeakValueDictionary()
"""The adversaries that were copied, by id; no attribute of theirs, which digests and copies would take over."""


def _of_another_game(attributes: Mapping[str, Any], memo: dict[int, Any]) -> dict[str, Any]:
    """Return copies of attributes that share no state that a game can change; `memo` is updated.

    Read-only arrays are shared, and for a new game also objects that cannot be copied, such as open files.
    """
    for array in among(attributes.values(), np.ndarray):
        if not array.flags.writeable:
            memo[id(array)] = array
    copies = {}
    for name, value in attributes.items():
        try:
            copies[name] = copy.deepcopy(value, memo)
        except Exception:
            # In the middle of a game, such as a generator, sharing it would move the original.
            if NEW_GAME not in memo:
                raise
            copies[name] = value
    return copies


def among(values: Any, kind: type[Any] | tuple[type[Any], ...], depth: int = MOST_DEEP) -> Iterator[Any]:
    """Yield the objects of a class (or of several) among some values, and in the containers among them."""
    for value in values:
        if isinstance(value, kind):
            yield value
        elif depth and isinstance(value, (list, tuple, set, frozenset, dict)):
            yield from among(value.values() if isinstance(value, dict) else value, kind, depth - 1)


SECONDS_TO_IMPORT: Final = 0.5
SECONDS_TO_COMPILE: Final = 0.05
"""Between loading machine code from disk, 0.01 s, and compiling it, 0.2 to 0.6 s."""
GAINS_AT_ONCE: Final = 2**13
"""The number of gains that are drawn in Python before the price is asked again."""


class RoundByRound(Adversary):
    """An adversary with a plain function of one round, which `next_gains` and compiled games call.

    A block of gains is filled in Python while there is little to draw, then compiled if the function is of this
    package. Machine code draws a few hundred times faster, but compiling it takes seconds. So a process draws in Python
    until it has spent about the time that compiling takes (ski rental), which is never much more than twice the
    optimum. The numbers are the same.

    Attributes:
        next_round: A static method, `next_round(state, t, row, rng)`, that writes the gains of round t, from 1, into
            `row`, of shape `(n_arms,)`: of every arm, in every round. It draws single numbers from `rng`, round by
            round, and changes arrays of the state only in place. Functions of this package are compiled. To let many
            games run in vector registers, they have no early return and loop only over arms. Their conditions and
            indices depend on t, arms and constants of the state, not on gains or draws.
    """

    next_round: ClassVar[Callable[..., None]]
    _state: Any

    @abc.abstractmethod
    def first_round_state(self, rng: np.random.Generator) -> tuple[Any, ...]:
        """Return the state before round 1, a tuple or NamedTuple of arrays (float64 or int64) and constants.

        Arrays that rounds change are fresh, and values that differ between games are in arrays. It may draw from `rng`.
        """

    def begin(self, rng: np.random.Generator) -> None:
        """Start a new game at round 1; every random number of the game comes from `rng`."""
        self._rng = rng
        self._state = self.first_round_state(rng)
        self._round = 0
        if type(self).means_of is not Adversary.means_of:
            means = self.means_of(self._state)
            if means is not self.means:  # a property may give them already
                self.means = means

    def next_gains(self, rounds: int) -> FloatArray:
        """Return the gains of the next `rounds` rounds, shape `(rounds, n_arms)`."""
        gains = np.empty((rounds, self.n_arms))
        self._draw(type(self).next_round, gains)
        return gains

    def fill(self, gains: FloatArray, *, check: bool = False) -> None:
        """Write the gains of the next `len(gains)` rounds into `gains`, an array of shape `(rounds, n_arms)`."""
        if not self.has_methods_of(RoundByRound):
            super().fill(gains, check=check)
            return
        self._draw(type(self).next_round, gains)
        if check:
            self.check_range(gains)

    @property
    def by_rounds(self) -> Self | None:
        """Itself, if its gains come from `next_round`: for example, if no subclass overrides `next_gains`."""
        return self if self.has_methods_of(RoundByRound) else None

    def _draw(self, function: Callable[..., None], rows: FloatArray) -> None:
        """Call a function like `next_round` for each of the next rounds, with the rows of an array."""
        filler(function).fill(self._state, self._round + 1, rows, self._rng)
        self._round += len(rows)


def next_round(state: Any, t: int, row: FloatArray, rng: np.random.Generator) -> None:
    """Write the gains of round t; placeholder for an adversary's own function."""
    raise NotImplementedError


def fill_rounds(state: Any, first: int, gains: FloatArray, rng: np.random.Generator) -> None:
    """Write the gains of rounds `first`, `first` + 1, ... into the rows of `gains`, shape `(rounds, n_arms)`."""
    for row in range(len(gains)):
        next_round(state, first + row, gains[row], rng)


class Filler:
    """Fills blocks by one function of a round.

    Args:
        function: A function like `next_round`; only functions of this package are compiled.
    """

    def __init__(self, function: Callable[..., None]) -> None:
        self._loop = bind(fill_rounds, {"next_round": function})
        self._ours = f"{function.__module__}.".startswith("dp_bandit_envs.")
        self._python_seconds = 0.0
        """Seconds spent without machine code; -inf where it will not be compiled."""
        self._compiled: dict[bool, Callable[..., None]] = {}
        """Machine code by whether arrays are contiguous in C order."""

    def fill(self, state: Any, first: int, gains: FloatArray, rng: np.random.Generator) -> None:
        """Write gains as `fill_rounds` does."""
        contiguous, compiled = gains.flags.c_contiguous, None
        if not self._ours:
            gains.fill(math.nan)  # an arm that is not written is an error, and not what stood in memory before
        # Other generators have draws of their own, which machine code does not know.
        compilable = self._ours and type(rng) is Stream and isinstance(rng.bit_generator, np.random.SFC64)
        at_once = max(1, GAINS_AT_ONCE // gains.shape[1])
        start = 0
        while start < len(gains):
            if compilable:
                compiled = self._compiled.get(contiguous) or self._compiled_if_worthwhile(contiguous, state, gains, rng)
            if compiled is not None:
                compiled(state, first + start, gains[start:], rng)
                return
            began = perf_counter()
            self._loop(state, first + start, gains[start : start + at_once], rng)
            self._python_seconds += perf_counter() - began
            start += at_once

    def _compiled_if_worthwhile(
        self, contiguous: bool, state: Any, gains: FloatArray, rng: np.random.Generator
    ) -> Callable[..., None] | None:
        """Return machine code, compiled once Python has spent as long as compiling takes; None before that."""
        if self._python_seconds >= price() and not installed("numba"):
            self._python_seconds = -math.inf
        elif self._python_seconds >= price():
            run_in_thread(lambda stopped: self.compile(state, gains, rng))
        return self._compiled.get(contiguous)

    def compile(self, state: Any, gains: FloatArray, rng: np.random.Generator) -> None:
        """Make machine code for such arrays, or note that there will be none."""
        fill = compiled(self._loop, state, gains, rng)
        if fill is None:
            self._python_seconds = -math.inf
        else:
            self._compiled[gains.flags.c_contiguous] = fill


def price() -> float:
    """Return about how many seconds machine code costs in this process."""
    return SECONDS_TO_COMPILE + (0.0 if "numba" in sys.modules else SECONDS_TO_IMPORT)


filler = functools.cache(Filler)
"""Returns the one filler of a function."""


def compiled(
    loop: Callable[..., None], state: Any, gains: FloatArray, rng: np.random.Generator
) -> Callable[..., None] | None:
    """Compile a loop like `fill_rounds` for arguments like these, for streams of SFC64, without drawing.

    Returns:
        The machine code, called like the loop; None if Numba is missing or switched off.
    """
    if why_not_compiled():
        return None
    entry = CompiledFunction(enter, {"fill_rounds": loop})

    def fill(state: Any, first: int, gains: FloatArray, rng: np.random.Generator) -> None:
        entry(state, first, len(gains), gains, stream_address(rng))

    entry(state, 1, 0, gains, stream_address(rng))
    return fill


def enter(state: Any, first: int, rounds: int, gains: FloatArray, address: int) -> None:
    """Fill the first rows of an array with the generator at the given address. Runs only compiled."""
    rng = stream_at(address)
    fill_rounds(state, first, gains[:rounds], rng)
    put_back(address, rng)
