"""The games in which algorithms are compared, and what each loses there: stable arms, drifting ones, and records."""

import csv
import dataclasses
import math
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, Literal, NamedTuple, SupportsIndex

import numpy as np
from numpy.typing import ArrayLike

from dp_bandit_envs.adversaries import Adversary, Shifting, gain_files
from dp_bandit_envs.adversaries.adversary import RoundByRound
from dp_bandit_envs.adversaries.gain_files import Pools
from dp_bandit_envs.adversaries.outcome_pools import OutcomePools
from dp_bandit_envs.adversaries.stochastic import Coins, toss
from dp_bandit_envs.algorithms import Algorithm
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.errors import GainFileError
from dp_bandit_envs.files import DataFile
from dp_bandit_envs.metrics import mean_and_standard_error, median_and_tail
from dp_bandit_envs.privacy.data_use import use_of_pools
from dp_bandit_envs.protocols import FloatArray
from dp_bandit_envs.simulation import simulate

GAPS: Final = (0.05, 0.1, 0.3)
"""The gaps by default: 5 to 30 more successes of a hundred with the best arm."""
SHIFTS: Final = 5
"""How often the best arm changes in a game that drifts."""
Role = Literal["private", "uniform", "not private"]
PERSON: Final = "person"
"""The column of persons in clean files."""
WIDTH = 1.96
"""Standard errors on each side of the mean in a 95 % interval."""


class Situation(NamedTuple):
    """A kind of game.

    Attributes:
        name: What it is called in tables.
        kind: `"stable"` if every arm's outcomes come in random order, with means that do not change; or `"drifting"`.
        adversary: Returns the adversary of a game of so many rounds.
        n_arms: Number of arms K.
        uniform: The mean regret of uniform play in each round, where arms are stable; otherwise 0.
    """

    name: str
    kind: Literal["stable", "drifting"]
    adversary: Callable[[int], Adversary]
    n_arms: int
    uniform: float

    def game(self, horizon: int) -> BanditEnv:
        """Return a game of so many rounds."""
        return BanditEnv(self.adversary(horizon))


def made_up(n_arms: int, gaps: Sequence[float]) -> list[Situation]:
    """Return a stable game for each gap, and one in which arms drift by the largest gap.

    In a stable game the best arm succeeds with probability (1 + gap) / 2, and each other with (1 - gap) / 2.
    """
    return [*(_stable(n_arms, gap) for gap in gaps), drifting(n_arms, max(gaps))]


def drifting(n_arms: int, gap: float) -> Situation:
    """Return a game in which another arm becomes the best one at unknown rounds."""
    name = f"effects change: at {SHIFTS} unknown rounds another arm becomes the best one, ahead by {gap:g}"

    def changing(horizon: int) -> Shifting:
        return Shifting(n_arms, horizon, shifts=min(SHIFTS, horizon - 1), gap=gap)

    return Situation(name, "drifting", changing, n_arms, 0.0)


def of_records(pools: Sequence[FloatArray], name: str) -> Situation:
    """Return a game in which each arm pays its recorded outcomes in random order, again and again."""
    means = OutcomePools(pools, 1).means
    assert means is not None
    uniform = float(means.max() - means.mean())
    return Situation(
        f"outcomes of {name}", "stable", lambda horizon: ShuffledPools(pools, horizon), len(pools), uniform
    )


def _stable(n_arms: int, gap: float) -> Situation:
    means = [(1 + gap) / 2, *[(1 - gap) / 2] * (n_arms - 1)]
    name = f"effects stay, and the best arm is ahead by {gap:g}"
    uniform = gap * (n_arms - 1) / n_arms
    return Situation(name, "stable", lambda horizon: ShuffledCoins(means, horizon), n_arms, uniform)


@dataclasses.dataclass(frozen=True)
class Standing:
    """What one algorithm loses in one situation, in units of gain.

    Attributes:
        situation: The situation's name.
        algorithm: The algorithm's name.
        role: `"private"`; `"uniform"` for arms at random, which need no data; or `"not private"`.
        regret: The regret of each game: expected gains of the best arm of each round less those of the arms played,
            `dynamic_regret`; where arms are stable, that is the pseudo-regret. Shape `(trials,)`.
    """

    situation: str
    algorithm: str
    role: Role
    regret: FloatArray = dataclasses.field(repr=False, compare=False)

    @property
    def mean(self) -> float:
        """The mean regret."""
        return float(self.regret.mean())

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % confidence interval of the mean; NaN for one game."""
        return interval_of(self.regret)

    @property
    def tail(self) -> float:
        """The 99 % quantile: in one game of a hundred the regret is larger."""
        return float(median_and_tail(self.regret)[1])


def interval_of(samples: FloatArray) -> tuple[float, float]:
    """Return the 95 % confidence interval of the mean of samples."""
    mean, error = (float(part) for part in mean_and_standard_error(samples))
    return mean - WIDTH * error, mean + WIDTH * error


def standings(
    situation: Situation, players: Sequence[tuple[Algorithm, Role]], *, horizon: int, trials: int, seed: int, jobs: int
) -> list[Standing]:
    """Play algorithms in a situation, on the same gains, and return what each loses, the least mean first."""
    played = simulate(
        lambda: situation.game(horizon),
        [algorithm for algorithm, _ in players],
        trials=trials,
        seed=seed,
        checkpoints=1,
        jobs=jobs,
    )
    found = []
    for algorithm, role in players:
        outcome = played[algorithm.name]
        regret = outcome.external_regret if outcome.dynamic_regret is None else outcome.dynamic_regret
        found.append(Standing(situation.name, algorithm.name, role, np.array(regret[:, -1], dtype=float)))
    return sorted(found, key=lambda one: one.mean)


def shares(found: Sequence[Standing]) -> dict[str, FloatArray]:
    """Return for each algorithm its regret over uniform play's mean regret, averaged over situations; `(trials,)`.

    Args:
        found: Standings of the same algorithms in one or several situations, uniform play among them.
    """
    by_situation: dict[str, list[Standing]] = {}
    for one in found:
        by_situation.setdefault(one.situation, []).append(one)
    totals: dict[str, FloatArray] = {}
    for group in by_situation.values():
        uniform = next(one.mean for one in group if one.role == "uniform")
        for one in group:
            part = one.regret / (uniform if uniform > 0 else math.nan) / len(by_situation)
            totals[one.algorithm] = totals.get(one.algorithm, np.zeros(len(part))) + part
    return totals


class ShuffledCoins(RoundByRound):
    """Every arm is a coin; which arm has which mean is drawn anew for each game.

    With arms in a fixed order, an algorithm that begins with arm 0 would look too good.

    Args:
        means: The means, shape `(n_arms,)`, in [0, 1].
        horizon: Number of rounds T, at least 1.
    """

    next_round = staticmethod(toss)

    def __init__(self, means: ArrayLike, horizon: SupportsIndex) -> None:
        self._means = np.array(means, dtype=float)
        super().__init__(self._means.size, horizon)

    def first_round_state(self, rng: np.random.Generator) -> Coins:
        """Shuffle the means."""
        return Coins(rng.permutation(self._means))

    def means_of(self, state: Coins) -> FloatArray:
        """Return the means of a game."""
        return state.means

    @property
    def means(self) -> FloatArray | None:  # type: ignore[override]
        """The means of the game; None before one begins."""
        return self._state.means if hasattr(self, "_state") else None


class ShuffledPools(Adversary):
    """Recorded outcomes played again, as by `OutcomePools`; which arm has which outcomes is drawn anew for each game.

    Args:
        pools: For each arm its recorded gains.
        horizon: Number of rounds T, at least 1.
    """

    def __init__(self, pools: Sequence[FloatArray], horizon: SupportsIndex) -> None:
        super().__init__(len(pools), horizon)
        self._pools = OutcomePools(pools, horizon)

    def begin(self, rng: np.random.Generator) -> None:
        """Start a new game at round 1; every random number of the game comes from `rng`."""
        self._order = rng.permutation(self.n_arms)
        self._pools.begin(rng)
        assert self._pools.means is not None
        self.means = self._pools.means[self._order]

    def next_gains(self, rounds: int) -> FloatArray:
        """Return the gains of the next `rounds` rounds, shape `(rounds, n_arms)`."""
        return self._pools.next_gains(rounds)[:, self._order]


class TrialShape(NamedTuple):
    """The shape of a trial, and its gains, which only `look_at_gains` may use.

    Attributes:
        name: The file's name.
        n_arms: Number of arms.
        records: Number of records.
        most: The most records of a person; None if it is not known whose they are.
        pools: For each arm its gains. Private.
        owners: For each arm whose its records are; empty if it is not known.
    """

    name: str
    n_arms: int
    records: int
    most: int | None
    pools: list[FloatArray]
    owners: list[list[str]]

    def rounds_in_replay(self, most: int) -> int:
        """Return in how many rounds one person serves, at most, if all records are replayed, one a round.

        Args:
            most: The most records of a person, which counts if it is not known whose they are.
        """
        use = use_of_pools([len(pool) for pool in self.pools], self.records, self.owners or most)
        assert use.person is not None
        return use.person


def shape_of(source: str | Path | DataFile, person: str | None) -> TrialShape:
    """Read a file with the columns `arm,gain`, and perhaps one of persons.

    Args:
        source: The file, strictly written; `recorded_data.clean` makes such a file of a messy one.
        person: The name of the column of persons; by default `person`, if there is one.

    Raises:
        GainFileError: If it is no such file.
    """
    file = source if isinstance(source, DataFile) else DataFile.read(source, error=GainFileError)
    if person is None and PERSON in _names(file):
        person = PERSON
    recorded = gain_files.read(file, person)
    if not isinstance(recorded, Pools):
        raise GainFileError(
            f"{file.name}: advice needs a file with the columns 'arm' and 'gain'; this is a table of another form."
            " Clean it with dp-bandit data, or give the number of arms and the horizon instead of a file."
        )
    counts = Counter(owner for owners in recorded.owners for owner in owners)
    most = max(counts.values()) if counts else None
    pools = recorded.gains
    return TrialShape(file.path.name, len(pools), sum(map(len, pools)), most, pools, recorded.owners)


def _names(file: DataFile) -> list[str]:
    if file.path.suffix == ".npy":
        return []
    first = next(csv.reader(file.lines(error=GainFileError)), [])
    return [cell.strip().lower() for cell in first]
