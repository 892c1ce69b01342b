"""How a game on data with a ledger begins: each is charged once, with what surrounds it, and not if it showed nothing.

An adversary over real data does not know what surrounds its game. Those that do, a privacy boundary, `play` and
`simulate`, say it around the reset (`playing_under`). The environment asks for admission there, and pays right before
the first round: a reset alone shows nothing and costs nothing. A game of which nobody said anything is refused.
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
    """What all that surrounds one beginning shares; each part is used once.

    Attributes:
        reservation: What was counted before, for the first game that it covers.
        seed: A secret seed, for the outermost boundary that begins without one; wrappers above it are public.
        refusal: Why the game may not begin, which boundaries show; they withhold all other errors from below.
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
    """What games are played under.

    Attributes:
        games: What one reset begins, on the same gains.
        secret: Whether nobody knows the seed of the noise.
        players: Who plays each of them; empty if that is not known.
        ticket: What all conditions around one reset share.
        admissions: Of the games that began under these conditions.
    """

    games: Games
    secret: bool
    players: Sequence[str] = ()
    ticket: Ticket = dataclasses.field(default_factory=Ticket)
    admissions: "list[Admission]" = dataclasses.field(default_factory=list)


_conditions: contextvars.ContextVar[Conditions | None] = contextvars.ContextVar("conditions", default=None)


def current() -> Conditions | None:
    """Return what the game that begins now is played under, or None."""
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
    """Say what the games that begin in this `with` statement are played under; within another one, both hold.

    Args:
        games: What one reset begins; empty if it is not known here.
        secret: Whether nobody knows the seed of the noise; None if it is given from above.
        players: Who plays each, for the ledger.
        seed: A secret seed for the outermost boundary.
        reservation: What was counted before for one beginning.
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
    """Let what begins in this `with` statement, such as games that an agent plays in its game, be under none so far."""
    token = _conditions.set(None)
    try:
        yield
    finally:
        _conditions.reset(token)


class Admission:
    """Leave to begin games on data with a ledger: asked for at the reset, and paid for before the first round.

    Args:
        ledgers: The ledgers of the data, each of which is paid.
        participation: In how many rounds of a game a record, and a person, can serve.
        n_games: How many games begin with this reset.
        holders: The adversaries in these games that have a ledger of their own.

    Attributes:
        is_over: Whether another game has begun in the same environment.

    Raises:
        LedgerError: If nothing private is said of the games, the seed is known, or they would pass a budget.
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
        """Count the games, whose first round is about to be played; once, also for copies of this very game.

        What is refused stays unpaid, so that no copy plays on.
        """
        while self._unpaid:
            self._charge(self._unpaid[-1])
            self._unpaid.pop()

    def waits_for(self, ledger: Any) -> bool:
        """Return whether its first round is still to come, and to be paid for in this ledger."""
        return not self.is_over and any(unpaid.id == ledger.id for unpaid in self._unpaid)

    def knows(self, holder: Any) -> bool:
        """Return whether an adversary was there when the ledger was asked, so that what it serves is counted."""
        return any(known is holder for known in self._holders)

    def __deepcopy__(self, memo: Any) -> Self:
        """Return one that is paid together with this: a copy of a game that has begun is the same game."""
        return copy.copy(self)

    def _ask(self, ledger: Any) -> None:
        """Raise unless a ledger admits the games, with those that wait for their first round in the same reset."""
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
        """Count the games in a ledger, unless the reservation pays for them."""
        with self._refusing() as now:
            reservation, costs = now.ticket.reservation, self._reserved_costs.get(ledger.id, [])
            if reservation is not None and reservation.pay(ledger.id, now.players, costs):
                now.ticket.reservation = None
                return
            ledger.spend(now.games, self._participation, self._n_games, secret=now.secret, players=now.players)

    @contextlib.contextmanager
    def _refusing(self) -> Iterator[Conditions]:
        """Yield what the games are played under; let boundaries show why a ledger refuses them."""
        if self._conditions is None:
            raise UnprotectedGameError(UNPROTECTED.format("none is above this one"))
        try:
            yield self._conditions
        except LedgerError as error:
            self._conditions.ticket.refusal = error
            raise


def admission_to(data: Any, *copies: Any, previous: Admission | None = None) -> Admission | None:
    """Return the admission of games on some data, an adversary say, that begin now; None if these have no ledger.

    Args:
        data: What has `ledgers`, `data_use` and `holders`.
        copies: The same for more games.
        previous: The admission of the game before in the same environment, which is over then.
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
    """Return a seed that others may see, where Gymnasium keeps it; None if it is a secret."""
    now = current()
    return seed if now is None or not now.secret else None
