"""The base class of adversaries: the gains of the next rounds, in blocks, and the length of the adversary's memory."""

import abc
import copy
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, Self, SupportsIndex

import numpy as np

from dp_bandit_envs import checks
from dp_bandit_envs.compiling.functions import is_ours
from dp_bandit_envs.errors import GainRangeError, WrongGainsError, WrongTypeError
from dp_bandit_envs.privacy.data_use import DataUse, use_together
from dp_bandit_envs.protocols import FloatArray

MOST_DEEP: Final = 3
"""How deep lists and dictionaries are searched for adversaries and arrays."""
NEW_GAME: Final = -1
"""A key of the memo of copies, where no id is: they begin a new game before they are played."""
SIMPLE: Final = frozenset({bool, int, float, str, type(None), np.random.Generator})


class Adversary(abc.ABC):
    """Chooses the gain of every arm in every round without seeing the arms played; only charge and payoff see them.

    The gains must not depend on how the rounds are split into blocks, so draw random numbers round by round. The memory
    used may grow with the number of arms and the length of a block, not with the horizon.

    Args:
        n_arms: Number of arms K, at least 2.
        horizon: Number of rounds T, at least 1.

    Attributes:
        memory: Number m of earlier rounds whose arms influence what a round pays. Without a payoff function, a gain
            counts only if the same arm was also played in the m rounds before (or in all of them, while there are
            fewer), so 0 means that it always counts.
        payoff: What a round pays, as a function `payoff(gains, arms, t)`; see `MemoryBounded`. None: the gain of the
            arm played, if it counts. In a class body write `payoff = staticmethod(function)`.
        means: The arms' expected gains, shape `(n_arms,)`, if they are the same in every round; otherwise None.
        features: Public feature vectors of the arms, shape `(n_arms, dimension)`, if gains are linear in them; see
            `LinearGains`.
        lowest: The smallest gain: 0; or -1 for gain vectors of points, whose coordinates take the arms' place.
        data_use: Where gains are recorded data, in how many rounds a record and a person can serve; None where gains
            are made up. Set it in `__init__`; by default it is that of an adversary among the attributes, or of all of
            them together, in which the same record may serve.
        ledger: The `Ledger` of these data, if there is one; by default that of an adversary among the attributes. An
            adversary over data sets both in `__init__`, and calls `enter_ledger()` first in `begin`. Later is too late:
            an environment plays a copy of what it was given.
        is_real: Whether gains are data of a user's, or of patients, so that the seed is secret unless one is given. By
            default those with a ledger, or with a `data_use` that counts persons, and those of such an adversary among
            the attributes; set it in `__init__` for others.

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
    lowest: float = 0.0
    _data_use: DataUse | None = None
    _ledger: Any = None
    _is_real: bool | None = None

    def __init__(self, n_arms: SupportsIndex = 4, horizon: SupportsIndex = 2**18) -> None:
        self.n_arms = checks.integer("n_arms", n_arms, at_least=2, at_most=checks.MOST_ARMS)
        self.horizon = checks.integer("horizon", horizon, at_least=1, at_most=checks.MOST_ROUNDS)

    @property
    def data_use(self) -> DataUse | None:
        """In how many rounds recorded data can serve."""
        uses = [part.data_use for part in self._inner() if part.data_use is not None]
        if self._data_use is not None or not uses:
            return self._data_use
        return uses[0] if len(uses) == 1 else use_together(uses, self.horizon)

    @data_use.setter
    def data_use(self, use: DataUse | None) -> None:
        self._data_use = use

    @property
    def ledger(self) -> Any:
        """The ledger of the data."""
        return self._ledger or next((part.ledger for part in self._inner() if part.ledger is not None), None)

    @ledger.setter
    def ledger(self, ledger: Any) -> None:
        if ledger is not None and not callable(getattr(ledger, "enter", None)):
            raise WrongTypeError(f"ledger must be a dp_bandit_envs.Ledger; received {checks.kind_of(ledger)}.")
        self._ledger = ledger

    @property
    def is_real(self) -> bool:
        """Whether gains are real data."""
        if self._is_real is not None:
            return self._is_real
        counts_persons = self._data_use is not None and self._data_use.person is not None
        return counts_persons or self._ledger is not None or any(part.is_real for part in self._inner())

    @is_real.setter
    def is_real(self, is_real: bool) -> None:
        self._is_real = checks.boolean("is_real", is_real)

    def enter_ledger(self) -> None:
        """Count the game that begins in this adversary's own ledger, if it has one; without its leave none begins.

        Raises:
            LedgerError: If the budget is spent, or nothing private is above the game.
        """
        if self._ledger is not None:
            self._ledger.enter(self.data_use)

    def _inner(self) -> "Iterator[Adversary]":
        # Asked in every game: numbers and names first, which are most.
        some = [value for value in vars(self).values() if type(value) not in SIMPLE]
        return iter({id(part): part for part in among(some, Adversary)}.values())

    @property
    def by_rounds(self) -> Any:
        """The `RoundByRound` whose `next_round` draws the gains, itself or one in it; None if there is none."""
        return None

    def means_of(self, state: Any) -> FloatArray | None:
        """Return `means` in the game in which `by_rounds` has this state."""
        return self.means

    def has_methods_of(self, kind: type[Any]) -> bool:
        """Return whether games begin and gains are drawn as in a class, and in no other way of a subclass."""
        return all(getattr(type(self), name) is getattr(kind, name) for name in ("begin", "next_gains", "fill"))

    def __copy__(self) -> Self:
        """Return an adversary to `begin` another game with, which may be played at the same time.

        It is a deep copy, but what cannot be copied, such as an open file, is shared. Adversaries of this package,
        whose `begin` creates anew what a game changes, share their attributes, but inner adversaries are copied.
        """
        return self.__deepcopy__({NEW_GAME: True})

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """Return an adversary in the same round of a game of its own, with the same gains to come.

        Read-only arrays are shared: make large tables read-only by `table.flags.writeable = False`. So is a ledger,
        which is for all games on its data.
        """
        memo[id(self)] = clone = object.__new__(type(self))
        if NEW_GAME in memo and is_ours(type(self)):
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

        In small pieces, because temporary arrays of several 100 kB go back to the operating system after every use, and
        allocating them again costs several times more than drawing their random numbers. With `check`, gains outside
        [lowest, 1] are refused; the simulator and vector environments check them themselves.
        """
        piece = max(1, 16384 // self.n_arms)
        for start in range(0, len(gains), piece):
            part = gains[start : start + piece]
            fresh = self.next_gains(len(part))
            try:
                fresh = np.asarray(fresh, float)
            except (TypeError, ValueError):
                # NumPy's words would show a gain.
                raise WrongGainsError(type(self).__name__, part.shape, None) from None
            if fresh.shape != part.shape:
                raise WrongGainsError(type(self).__name__, part.shape, fresh.shape)
            part[...] = fresh
            if check:
                self.check_range(part)

    def check_range(self, gains: FloatArray) -> None:
        """Raise GainRangeError if gains are outside [lowest, 1], or NaN."""
        if gains.size and not (gains.min() >= self.lowest and gains.max() <= 1):
            raise GainRangeError(self)


def _of_another_game(attributes: Mapping[str, Any], memo: dict[int, Any]) -> dict[str, Any]:
    """Return copies of attributes that have nothing in common with them that a game can change; `memo` is added to.

    Arrays that are read-only are shared, and for a new game what cannot be copied, such as an open file.
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
