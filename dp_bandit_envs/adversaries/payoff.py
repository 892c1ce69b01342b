"""Payoff functions: a round's payoff, given the round's gains and the last arms played."""

import functools
import inspect
import numbers
from collections.abc import Callable
from types import FunctionType, MethodType
from typing import Any, Final, TypeAlias

import numpy as np

from dp_bandit_envs import checks
from dp_bandit_envs.adversaries.adversary import Adversary
from dp_bandit_envs.errors import PayoffRangeError, WrongTypeError
from dp_bandit_envs.protocols import FloatArray, IntArray

Payoff: TypeAlias = Callable[[FloatArray, IntArray, int], float]
MOST_MEMORY: Final = 2**16
"""The longest memory of a payoff function: each round shifts that many arms by one place."""
ASKED: Final = 64
"""The number of made-up rounds that a payoff function is asked about, twice."""


def stay(gains: FloatArray, arms: IntArray, t: int) -> float:
    """Return the gain of the arm played if all remembered arms are the same, and 0 otherwise.

    The default charge of `MemoryBounded`, as a payoff function: same payoffs and policy regret. External regret
    differs, because the default charge leaves the fixed arms uncharged.
    """
    for arm in arms:
        if arm != arms[-1]:
            return 0.0
    return float(gains[arms[-1]])


def overfished(gains: FloatArray, arms: IntArray, t: int) -> float:
    """Return the gain of the arm played, or a quarter of it if arm 0 was played in one of the m rounds before.

    Arm 0 overfishes: after it, every arm pays less for m rounds. With means (0.9, 0.5) arm 0 is the better arm after
    every history. So an agent with low external regret plays it nearly always and collects 0.225 per round; always
    playing arm 1 would pay 0.5. External regret does not measure this loss; policy regret grows by 0.275 per round.
    """
    for arm in arms[:-1]:
        if arm == 0:
            return 0.25 * float(gains[arms[-1]])
    return float(gains[arms[-1]])


def checked_payoff(payoff: Any, memory: int, n_arms: int) -> FunctionType:
    """Return a payoff function as a plain function, or raise; a function compiled by Numba is unwrapped first.

    Args:
        payoff: The user's payoff function.
        memory: Number m of earlier rounds.
        n_arms: Number of arms K.

    Raises:
        WrongTypeError: If it is not a plain function of gains, arms and t.
        ValueError: If repeated calls with the same arguments return different payoffs.
    """
    function = python_function(payoff)
    if not isinstance(function, FunctionType):
        way_out = " In a class body write payoff = staticmethod(function)." if isinstance(function, MethodType) else ""
        raise WrongTypeError(
            "payoff must be a plain function payoff(gains, arms, t) -> float; received"
            f" {checks.kind_of(function)}.{way_out}"
        )
    try:
        inspect.signature(function).bind(None, None, None)
    except TypeError:
        raise WrongTypeError(
            f"payoff must take (gains, arms, t); {function.__name__} takes {inspect.signature(function)}."
        ) from None
    _check_pays_the_same(function, memory, n_arms)
    return function


@functools.lru_cache(maxsize=256)
def _check_pays_the_same(function: FunctionType, memory: int, n_arms: int) -> None:
    """Compute the payoffs of synthetic rounds in two orders; raise if any differs. This finds mistakes, not malice."""
    rng = np.random.default_rng(1)
    gains, arms = rng.random((ASKED, n_arms)), _frozen(rng.integers(n_arms, size=ASKED + memory))

    def paid(row: int) -> Any:
        try:
            answer = function(_frozen(gains[row].copy()), arms[row : row + memory + 1], row + 1)
        except Exception as error:  # also raised in the game, and named there
            answer = error
        return repr(answer) if isinstance(answer, (numbers.Real, np.bool_)) else type(answer)

    first = [paid(place) for place in range(ASKED)]
    if first[::-1] != [paid(place) for place in reversed(range(ASKED))]:
        raise ValueError(
            "payoff must keep no state between rounds and draw nothing, because the guarantees require that a round's"
            f" gains influence that round only; {function.__name__} paid another number when it was asked the same"
            " (gains, arms, t) again. Use its arguments, and constants."
        )


def python_function(payoff: Any) -> Any:
    """Return the Python function behind a function compiled by Numba, and anything else unchanged."""
    return getattr(payoff, "py_func", payoff)


class Payments:
    """Computes the payoffs of one game: in each round, of every arm after the arms really played, and of constant play.

    Args:
        payoff: The payoff function, checked.
        memory: Number m of earlier rounds.
        n_arms: Number of arms K.

    Attributes:
        options: Payoff of each arm in the last round, given the arms played before it, shape `(n_arms,)`.
        option_totals: Their sums over all rounds, shape `(n_arms,)`, for external regret.
        constant_totals: Total payoff of each arm if played in all rounds, shape `(n_arms,)`, for policy regret.
        option_rows, constant_rows: The summands of both, one array `(n_arms,)` per round since `clear`.
    """

    def __init__(self, payoff: Payoff, memory: int, n_arms: int) -> None:
        # Kept unchanged, compiled or not: pickle finds a function by its name in its module.
        self._payoff = payoff
        # broadcast_to: read-only, and only one number each in memory.
        self._constant = [np.broadcast_to(np.int64(arm), memory + 1) for arm in range(n_arms)]
        self.begin()

    def begin(self) -> None:
        """Start a new game."""
        self._last: IntArray | None = None
        self.options, self.option_totals, self.constant_totals = np.zeros((3, len(self._constant)))
        self.clear()

    def clear(self) -> None:
        """Delete the rows of past rounds."""
        self.option_rows: list[FloatArray] = []
        self.constant_rows: list[FloatArray] = []

    def play(self, gains: FloatArray, arm: int, t: int) -> float:
        """Play `arm` in round t with the round's gains of shape `(n_arms,)`, and return its payoff.

        Raises:
            PayoffRangeError: If the payoff of any arm or of a constant play is not in [0, 1]; the round is then not
                played.
        """
        # A copy: a view would let the function read other rounds through its base.
        row = _frozen(gains.copy())
        constant = np.array([self._pay(row, arms, t) for arms in self._constant])
        if self._last is None:
            options = constant.copy()
            last = self._constant[arm]
        else:
            options = np.empty(len(gains))
            for option in range(len(gains)):
                arms = np.append(self._last[1:], option)
                options[option] = self._pay(row, _frozen(arms), t)
            last = np.append(self._last[1:], arm)
        self._last = last
        self.options = options
        # One addition a round, as in the compiled loop, so that sums are the same to the last bit.
        self.option_totals += options
        self.constant_totals += constant
        self.option_rows.append(options)
        self.constant_rows.append(constant)
        return float(options[arm])

    def _pay(self, gains: FloatArray, arms: IntArray, t: int) -> float:
        paid: Any = python_function(self._payoff)(gains, arms, t)
        if not (isinstance(paid, (numbers.Real, np.bool_)) and 0 <= paid <= 1):  # type: ignore[operator]
            raise PayoffRangeError
        return float(paid)


def _frozen(array: Any) -> Any:
    array.flags.writeable = False
    return array


def payments_of(adversary: Adversary, games: int = 1) -> list[Payments]:
    """Return the payments of games against an adversary, one for each; none if it has no payoff function.

    Raises:
        TypeError, ValueError: If its payoff function, or with one its memory, breaks a rule.
    """
    if adversary.payoff is None:
        return []
    memory = checks.integer("memory", adversary.memory, at_least=0, at_most=MOST_MEMORY)
    checked_payoff(adversary.payoff, memory, adversary.n_arms)
    return [Payments(adversary.payoff, memory, adversary.n_arms) for _ in range(games)]
