"""Admission of games on data with a ledger: each game is charged once, with its wrappers, before its first round.

An adversary over real data cannot see the wrappers around its game. The privacy boundary, `play` and `simulate` can:
they declare them around the reset (`playing_under`). The environment requests admission there and pays right before the
first round: a reset alone reveals no data and is free. A game without such a declaration is refused.
"""

import contextlib
import contextvars
import copy
import dataclasses
from collections.abc import Iterator, Sequence
from typing import Any, Final, NoReturn, Self

from dp_bandit_envs.errors import LedgerError, UnprotectedGameError
from dp_bandit_envs.privacy.composition_filters import Cost
from dp_bandit_envs.privacy.ledger import UNPROTECTED, Games, Reservation
from dp_bandit_envs.privacy.participation import Participation

UNKNOWN: Final = (
    "a game on data with a ledger must know before it begins in how many rounds they serve; its adversary holds a {} as"
    " something else than an attribute of its own, or makes it in begin. Make it in __init__, and keep it as an"
    " attribute, or in a list or a dict. Nothing was played."
)


@dataclasses.dataclass
class Ticket:
    """State shared by all wrappers around one reset; each field is used once.

    Attributes:
        reservation: Games charged in advance, for the first game that it covers.
        seed: A secret seed, for the outermost boundary that begins without one; wrappers above it are public.
        refusal: Reason why the game may not begin. Boundaries show it; they withhold all other errors from below.
    """

    reservation: Reservation | None = None
    seed: int | None = dataclasses.field(default=None, repr=False)
    refusal: Exception | None = None

    def take_seed(self) -> int | None:
        """Return the seed, once."""
        seed, self.seed = self.seed, None
        return seed


@dataclasses.dataclass(frozen=True)
class Conditions:
    """The conditions under which games are played.

    Attributes:
        games: The games that one reset begins, on the same gains.
        secret: Whether the seed of the noise is secret.
        players: The player of each game; empty if unknown.
        ticket: State shared by all conditions around one reset.
        admissions: Admissions of the games that began under these conditions.
    """

    games: Games
    secret: bool
    players: Sequence[str] = ()
    ticket: Ticket = dataclasses.field(default_factory=Ticket)
    admissions: "list[Admission]" = dataclasses.field(default_factory=list)


_conditions: contextvars.ContextVar[Conditions | None] = contextvars.ContextVar("conditions", default=None)


def current() -> Conditions | None:
    """Return the conditions of a game that begins now, or None."""
    return _conditions.get()


@contextlib.contextmanager
def playing_under(
    games: Games,
    *,
    secret: bool | None,
    players: Sequence[str] = (),
    seed: int | None = None,
    reservation: Reservation | None = None,
) -> Iterator[Conditions]:
    """Declare the conditions of the games that begin in this `with` statement; nested statements combine.

    Args:
        games: The games that one reset begins; empty if unknown here.
        secret: Whether the seed of the noise is secret; None if it is given from above.
        players: The player of each game, for the ledger.
        seed: A secret seed for the outermost boundary.
        reservation: Games charged in advance for one reset.
    """
    outer = current() or Conditions((), secret is not None)
    if games and outer.games:
        games = [(*above, *here) for above, here in zip(outer.games, games, strict=True)]
    inner = Conditions(
        games or outer.games, outer.secret and secret is not False, outer.players or players, outer.ticket
    )
    inner.ticket.seed = inner.ticket.seed if seed is None else seed
    inner.ticket.reservation = reservation or inner.ticket.reservation
    token = _conditions.set(inner)
    try:
        yield inner
    finally:
        _conditions.reset(token)
        outer.admissions.extend(inner.admissions)


@contextlib.contextmanager
def on_its_own() -> Iterator[None]:
    """Clear the conditions within this `with` statement, for example for games that an agent plays inside its game."""
    token = _conditions.set(None)
    try:
        yield
    finally:
        _conditions.reset(token)


class Admission:
    """Permission to begin games on data with a ledger: granted at the reset, paid for before the first round.

    Args:
        ledgers: The ledgers of the data; all of them are charged.
        participation: The most rounds of a game in which a record, and a person, can take part.
        n_games: How many games begin with this reset.
        holders: The adversaries in these games that have a ledger of their own.

    Attributes:
        is_over: Whether another game has begun in the same environment.

    Raises:
        LedgerError: If the games have no guarantee, the seed is known, or they would exceed a budget.
    """

    def __init__(
        self, ledgers: Sequence[Any], participation: Participation | None, n_games: int, holders: Sequence[Any] = ()
    ) -> None:
        self._holders = list(holders)
        self._unpaid, self._participation, self._n_games = list(ledgers), participation, n_games
        self._reserved_costs: dict[str, list[list[Cost]]] = {}
        self._conditions = current()
        self.is_over = False
        for ledger in ledgers:
            self._ask(ledger)
        if self._conditions is not None:
            self._conditions.admissions.append(self)

    def pay(self) -> None:
        """Charge the games, whose first round is about to be played; once, also if this game was copied.

        A refused game stays unpaid, so that no copy can continue it.
        """
        while self._unpaid:
            self._charge(self._unpaid[-1])
            self._unpaid.pop()

    def waits_for(self, ledger: Any) -> bool:
        """Return whether its first round is still to come and unpaid in this ledger."""
        return not self.is_over and any(unpaid.id == ledger.id for unpaid in self._unpaid)

    def knows(self, holder: Any) -> bool:
        """Return whether an adversary was included when the ledger was asked, so that its records are counted."""
        return any(known is holder for known in self._holders)

    def __deepcopy__(self, memo: Any) -> Self:
        """Return a copy that shares payment with this one: a copy of a begun game is the same game."""
        return copy.copy(self)

    def _ask(self, ledger: Any) -> None:
        """Raise unless a ledger admits the games, together with unpaid games of the same reset."""
        with self._refusing() as now:
            reservation = now.ticket.reservation
            if reservation is not None and self._n_games == 1:
                costs = ledger.costs(now.games, self._participation, secret=now.secret)
                if reservation.covers(ledger.id, now.players, costs):
                    self._reserved_costs[ledger.id] = costs
                    return
            waiting = [other for other in now.admissions if other.waits_for(ledger)]
            n_games = self._n_games + sum(other._n_games for other in waiting)
            ledger.admit(now.games, self._participation, n_games, secret=now.secret)

    def _charge(self, ledger: Any) -> None:
        """Charge the games to a ledger, unless the reservation pays for them."""
        with self._refusing() as now:
            reservation, costs = now.ticket.reservation, self._reserved_costs.get(ledger.id, [])
            if reservation is not None and reservation.pay(ledger.id, now.players, costs):
                now.ticket.reservation = None
                return
            ledger.spend(now.games, self._participation, self._n_games, secret=now.secret, players=now.players)

    @contextlib.contextmanager
    def _refusing(self) -> Iterator[Conditions]:
        """Yield the conditions of the games; let boundaries show why a ledger refuses them."""
        if self._conditions is None:
            raise UnprotectedGameError(UNPROTECTED.format("none is above this one"))
        try:
            yield self._conditions
        except LedgerError as error:
            self._conditions.ticket.refusal = error
            raise


def admission_to(data: Any, *copies: Any, previous: Admission | None = None) -> Admission | None:
    """Return the admission of games on some data (such as an adversary) that begin now; None without a ledger.

    Args:
        data: An object with `ledgers`, `data_use` and `holders`.
        copies: The same for more games.
        previous: The admission of the previous game in the same environment, which ends here.
    """
    if previous is not None:
        previous.is_over = True
    if not data.ledgers:
        return None
    holders = [holder for one in (data, *copies) for holder in one.holders]
    return Admission(data.ledgers, data.data_use, 1 + len(copies), holders)


def require_admission(holder: Any, ledger: Any) -> None:
    """Raise unless a game of this adversary was admitted by its ledger under the current conditions."""
    now = current()
    waiting = [] if now is None else [admission for admission in now.admissions if admission.waits_for(ledger)]
    if not waiting:
        raise UnprotectedGameError(UNPROTECTED.format("none is above this one"))
    if not any(admission.knows(holder) for admission in waiting):
        refuse(UnprotectedGameError(UNKNOWN.format(type(holder).__name__)))


def refuse(error: Exception) -> NoReturn:
    """Raise an error that boundaries show; they withhold others from below."""
    now = current()
    if now is not None:
        now.ticket.refusal = error
    raise error


def public_seed(seed: int | None) -> int | None:
    """Return the seed for Gymnasium to store publicly; None if it is secret."""
    now = current()
    return seed if now is None or not now.secret else None
