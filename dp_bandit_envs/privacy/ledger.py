"""A ledger over data: counts every game that begins on them, and refuses the one that would pass the budget."""

import dataclasses
import os
import secrets
from collections.abc import Mapping, Sequence
from typing import Any, Self, SupportsFloat

from dp_bandit_envs import checks
from dp_bandit_envs.data_use import DataUse
from dp_bandit_envs.errors import BudgetSpentError, LedgerError, LedgerFileError, UnprotectedGameError
from dp_bandit_envs.privacy.announced import Games, current
from dp_bandit_envs.privacy.budget import Account, Budget, Cost, Spent, costs_of, total
from dp_bandit_envs.privacy.guarantee import UNITS, PrivacyGuarantee, Unit, for_unit
from dp_bandit_envs.privacy.ledger_arrival import arrived, made_here
from dp_bandit_envs.privacy.ledger_file import LedgerFile
from dp_bandit_envs.privacy.ledger_memory import LedgerMemory

UNPROTECTED = (
    "a game on data with a ledger must be played behind a privacy wrapper, or by an algorithm with a guarantee, through"
    " play or simulate; {}. Nothing was played."
)


class Ledger:
    r"""A privacy budget for all games over the same data.

    Give one ledger to every environment over these data: `Replay(..., ledger=ledger)`, `Trial(ledger=ledger)`,
    `gym.make("DPBandit-Replay-v0", gains=..., ledger=ledger)` or `env_kwargs={"ledger": ledger, ...}` of `simulate`.
    Every game counts before its first round, whatever becomes of it: each reset, each game of a vector and each time
    these start again, each trial of each algorithm. `simulate` counts all of its games before the first one begins.

    A game counts with what it is played under: the guarantee of the privacy wrappers, or of the algorithm that
    `play` or `simulate` plays. A game with neither is refused, and so is one with a seed: only noise that nobody can
    repeat is independent of that of other games. What the guarantees cover is protected; the results of `simulate` are
    computed from true gains, for the evaluator.

    **Guarantee.** Everything that the games show is (epsilon, delta + draws_delta)-DP for the unit, also if
    games and parameters are chosen by what earlier ones have shown: basic composition and zCDP as privacy filters, see
    `dp_bandit_envs.privacy.budget`. It holds for the budget; `spent` says how much of it is used.

    A ledger with a path counts in that file, across processes and restarts; the file is locked while it is used, and on
    the disk before a game begins. One without counts in memory, and only in the process that made it: copies are the
    same ledger, and in another process it refuses every game that was not counted before.

    Args:
        epsilon: The budget, in (0, inf).
        delta: In [0, 1).
        unit: What is protected: `"record"`: one record (a row of a table), in all rounds in which it can serve; or
            `"person"`: all records of one person, where the environment knows them (`persons=`).
        zcdp_delta: The part of delta for converting zCDP, in [0, delta], by default half of it; the rest is for the
            games' own deltas. With 0, epsilons are only added up.
        draws_delta: What the inexactness of fast draws may add to delta, in [0, 1): some 1e-13 e^epsilon a game.
            With 0, only games whose draws add nothing may begin, such as with `draws="secure"`.
        path: A file. If it exists, it must have this budget, and counting goes on.

    Raises:
        LedgerFileError: If the file cannot be used, or has another budget.

    Example:
        >>> import gymnasium as gym
        >>> from dp_bandit_envs import Ledger, make_algorithm, play
        >>> ledger = Ledger(epsilon=3)
        >>> env = gym.make("DPBandit-Trial-v0", horizon=300, ledger=ledger)
        >>> game = play(env, make_algorithm("DP-IMED", epsilon=1), seed=None)
        >>> ledger.spent.games, ledger.spent.epsilon
        (1, 1.0)
    """

    def __init__(
        self,
        *,
        epsilon: SupportsFloat,
        delta: SupportsFloat = 0.0,
        unit: Unit = "record",
        zcdp_delta: SupportsFloat | None = None,
        draws_delta: SupportsFloat = 1e-6,
        path: str | os.PathLike[str] | None = None,
    ) -> None:
        bound = checks.greater_than("epsilon", epsilon, 0.0)
        whole = 0.0 if delta == 0 else checks.delta(delta)
        part = whole / 2 if zcdp_delta is None else checks.in_range("zcdp_delta", zcdp_delta, 0.0, whole)
        checks.one_of("unit", unit, UNITS)
        for_draws = 0.0 if draws_delta == 0 else checks.in_range("draws_delta", draws_delta, 0.0, 1.0)
        budget = Budget(bound, whole, part, unit, for_draws)
        account = Account(secrets.token_hex(8), budget, {})
        if path is None:
            self._use(account, LedgerMemory(account))
            return
        file = LedgerFile(path)
        with file.locked():
            if not file.exists():
                file.write(account)
            account = file.read()
        if account.budget != budget:
            raise LedgerFileError(
                f"{file.path}: the file must have the same budget; it has {account.budget}, received {budget}. Use"
                " Ledger.load(path), or another file for other data."
            )
        self._use(account, file)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Return the ledger of a file, with the budget that it was made with.

        Raises:
            LedgerFileError: If there is no such file, or it is damaged.
        """
        file = LedgerFile(path)
        ledger = cls.__new__(cls)
        ledger._use(file.read(), file)
        return ledger

    def _use(self, account: Account, store: LedgerFile | LedgerMemory) -> None:
        self._id, self._budget, self._store = account.id, account.budget, store
        if isinstance(store, LedgerMemory) and store.is_here:
            made_here[self._id] = self

    @property
    def budget(self) -> Budget:
        """What may be spent."""
        return self._budget

    @property
    def id(self) -> str:
        """Distinguishes this ledger from all others; the same in every process."""
        return self._id

    @property
    def spent(self) -> Spent:
        """What the games cost that have begun so far."""
        games = self._read().games
        cost = total(games)
        epsilon = self._budget.epsilon_of(cost)
        needs_zcdp = cost.epsilon > 0 and epsilon < float(cost.epsilon)
        delta = float(cost.delta) + (self._budget.zcdp_delta if needs_zcdp else 0.0)
        return Spent(sum(games.values()), epsilon, delta, self._budget.added_by_draws(cost))

    def enter(self, use: DataUse | None, beginnings: int = 1, *, ahead: bool = False) -> None:
        """Count the games that begin now, or refuse them; an adversary over data calls this first in `begin`.

        Args:
            use: In how many rounds of a game a record, and a person, can serve; None counts as unknown.
            beginnings: How many games, at least 1.
            ahead: Whether the adversary's `begin`, which calls this again, then finds its games counted.

        Raises:
            BudgetSpentError: If they would pass the budget.
            UnprotectedGameError: If nothing private is announced, or the seed is known.
            LedgerFileError: If the file cannot be read and written.
        """
        checks.integer("beginnings", beginnings, at_least=1)
        game = current()
        if game is not None and game.was_paid(self._id, use, beginnings, take=not ahead):
            return
        try:
            if game is None:
                raise UnprotectedGameError(UNPROTECTED.format("none is above this one"))
            self.spend(game.games, use, beginnings, secret=game.secret)
        except LedgerError as error:
            if game is not None:
                game.shared.refusal = error
            raise
        if ahead and use is not None:
            game.pay(self._id, use, beginnings)

    def spend(self, games: Games, use: DataUse | None, times: int = 1, *, secret: bool) -> None:
        """Count games, all or none of them.

        Args:
            games: For each game the guarantees that hold for a round of it, any of which may be counted.
            use: In how many rounds of a game a record, and a person, can serve.
            times: How often each of them is played, at least 1.
            secret: Whether nobody knows the seed of their noise.

        Raises:
            BudgetSpentError: If they would pass the budget.
            UnprotectedGameError: If one of them has no guarantee, or the seed is known.
            LedgerFileError: If the file cannot be read and written.
        """
        checks.integer("times", times, at_least=1)
        if not secret:
            raise UnprotectedGameError(
                "a game on data with a ledger must have a secret seed: a given one repeats its noise, which cancels in"
                " a difference of two games. Use seed=None, or reset() without a seed. Nothing was played."
            )
        if not games:
            raise UnprotectedGameError(UNPROTECTED.format("none is known to be above this one"))
        ways = [self._ways(guarantees, use) for guarantees in games]
        with self._store.locked():
            account = self._read()
            self._store.write(Account(self._id, self._budget, self._after(account.games, ways, times)))

    def _read(self) -> Account:
        account = self._store.read()
        if (account.id, account.budget) != (self._id, self._budget):
            raise LedgerFileError(
                f"{self._store.path}: the file must be that of this ledger; it is another one's. Nothing was played."
            )
        return account

    def _ways(self, guarantees: Sequence[PrivacyGuarantee], use: DataUse | None) -> list[Cost]:
        """Return the ways in which one game may be counted."""
        unit: Unit = self._budget.unit
        if use is None or getattr(use, unit) is None:
            raise UnprotectedGameError(
                f"a ledger for a {unit} needs data that say in how many rounds one can serve; these do not. Give Replay"
                " persons=, or make the ledger for another unit. Nothing was played."
            )
        ways = []
        for guarantee in guarantees:
            ways += costs_of(for_unit(dataclasses.replace(guarantee, data=use), unit))
        if not ways:
            raise UnprotectedGameError(UNPROTECTED.format(f"for a {unit}, nothing is guaranteed in this one"))
        return ways

    def _after(self, before: Mapping[Cost, int], ways: list[list[Cost]], times: int) -> dict[Cost, int]:
        """Return the counts with these games, each in the way that leaves most of the budget, or raise."""
        after = dict(before)
        for one in ways:
            spent = total(after)
            best = min(one, key=lambda cost: self._rank(total([(spent, 1), (cost, times)])))
            after[best] = after.get(best, 0) + times
        if not self._budget.allows(total(after)):
            raise BudgetSpentError(self._budget.refusal(before, after))
        return after

    def _rank(self, cost: Cost) -> tuple[bool, float, Any, Any]:
        return not self._budget.allows(cost), self._budget.epsilon_of(cost), cost.delta, cost.rho

    def __repr__(self) -> str:
        where = "" if self._store.path is None else f" in {self._store.path}"
        return f"Ledger({self._budget}{where})"

    def __copy__(self) -> Self:
        """Return this very ledger: a copy would count the copies' games apart."""
        return self

    def __deepcopy__(self, memo: Any) -> Self:
        """Return this very ledger."""
        return self

    def __reduce__(self) -> Any:
        """Be sent to another process as the file, or as a ledger that can only tell which games were counted before."""
        return arrived, (type(self), Account(self._id, self._budget, {}), self._store.path)
