"""What a game that is about to begin is played under: announced from above, where it is known, and read by a ledger.

An adversary over real data does not know what surrounds its game. Those that do, a privacy boundary, `play` and
`simulate`, announce it around the reset, and `Ledger.enter`, which the adversary calls when a game begins, reads it. A
game that nobody announced is refused, so that none can be forgotten.
"""

import contextlib
import contextvars
import dataclasses
from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

from dp_bandit_envs.privacy.guarantee import PrivacyGuarantee
from dp_bandit_envs.privacy.participation import Participation

Games: TypeAlias = Sequence[Sequence[PrivacyGuarantee]]
"""The games that one beginning starts, on the same gains; for each the guarantees that hold for it, any of which may be
counted."""
Paid: TypeAlias = tuple[str, Participation]
"""A ledger's `id`, and the data for which it has counted a game."""


@dataclasses.dataclass
class Shared:
    """What an announcement has in common with those around it.

    Attributes:
        paid: For each ledger's `id` the beginnings that were counted before: for which data, and how many.
        refusal: The error with which a game was refused to begin, by a ledger or because its data came too late.
        seed: A secret seed, for the first boundary that begins without one; wrappers above it are public.
        on_round: Called when the first round is about to be played; before that, no noise was drawn.
    """

    paid: dict[str, dict[Participation, int]] = dataclasses.field(default_factory=dict)
    refusal: Exception | None = None
    seed: int | None = dataclasses.field(default=None, repr=False)
    on_round: Callable[[], None] | None = dataclasses.field(default=None, repr=False)


@dataclasses.dataclass(frozen=True)
class Announced:
    """What a game is played under.

    Attributes:
        games: What one beginning starts.
        secret: Whether nobody knows the seed of the noise.
        shared: What all announcements of this game have in common.
        whom: Who plays it, for the ledger; "" if that is not known.
    """

    games: Games
    secret: bool
    shared: Shared = dataclasses.field(default_factory=Shared)
    whom: str = ""

    def pay(self, ledger_id: str, use: Participation, beginnings: int) -> None:
        """Note that a ledger has counted what will begin, on data that serve so often."""
        paid = self.shared.paid.setdefault(ledger_id, {})
        paid[use] = paid.get(use, 0) + beginnings

    def was_paid(self, ledger_id: str, use: Participation | None, beginnings: int = 1, *, take: bool = True) -> bool:
        """Return whether a ledger has counted so many beginnings before, on data that serve at least as often.

        A game that was counted for records that serve in r rounds may have several beginnings, of adversaries whose
        records serve in r rounds together.

        Args:
            ledger_id: The ledger's `id`.
            use: In how many rounds of a game a record, and a person, can serve.
            beginnings: How many.
            take: Whether they begin now, so that others must be counted anew.
        """
        paid = self.shared.paid.get(ledger_id, {})
        enough = [each for each, number in paid.items() if use and each.covers(use) and number >= beginnings]
        if use and enough and take:
            counted = min(enough)
            paid[counted] -= beginnings
            left = counted.without(use)
            paid[left] = paid.get(left, 0) + beginnings
        return bool(enough)

    def raise_refusal(self) -> None:
        """Raise the error of a refused game anew: its own traceback leads to frames with private gains."""
        if self.shared.refusal is not None:
            raise type(self.shared.refusal)(*self.shared.refusal.args)


_current: contextvars.ContextVar[Announced | None] = contextvars.ContextVar("announced", default=None)


def current() -> Announced | None:
    """Return what was announced for the game that begins now, or None."""
    return _current.get()


def taken_seed() -> int | None:
    """Return the secret seed that is meant for the boundary which asks, once; or None."""
    game = current()
    if game is None:
        return None
    seed, game.shared.seed = game.shared.seed, None
    return seed


def round_begins() -> None:
    """Say that the first round of the game is about to be played, to whoever announced it."""
    game = current()
    if game is not None and game.shared.on_round is not None:
        game.shared.on_round()


def unless_secret(seed: int | None) -> int | None:
    """Return a seed that others may see, where Gymnasium keeps it; None if it is a secret."""
    game = current()
    return seed if game is None or not game.secret else None


@contextlib.contextmanager
def announced(
    games: Games,
    *,
    secret: bool | None,
    paid_by: Paid | None = None,
    seed: int | None = None,
    whom: str = "",
    on_round: Callable[[], None] | None = None,
) -> Iterator[Announced]:
    """Announce what the games that begin in this `with` statement are played under.

    Within another announcement, the guarantees of both hold.

    Args:
        games: What one beginning starts; empty if it is not known here.
        secret: Whether nobody knows the seed of the noise; None if it is given from above.
        paid_by: The `id` of a ledger that has counted one beginning before, and for which data.
        seed: A secret seed for the outermost boundary.
        whom: Who plays.
        on_round: Called when the first round is about to be played.
    """
    outer = _current.get() or Announced((), secret is not None)
    if games and outer.games:
        games = [(*above, *here) for above, here in zip(outer.games, games, strict=True)]
    inner = Announced(games or outer.games, outer.secret and secret is not False, outer.shared, whom or outer.whom)
    if paid_by is not None:
        inner.pay(*paid_by, 1)
    if seed is not None:
        inner.shared.seed = seed
    if on_round is not None:
        inner.shared.on_round = on_round
    token = _current.set(inner)
    try:
        yield inner
    finally:
        _current.reset(token)
