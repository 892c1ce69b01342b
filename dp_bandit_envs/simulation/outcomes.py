"""What games bring: the results of a task, the tables that they are put into, and the outcomes of a simulation."""

import dataclasses
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from dp_bandit_envs import checks
from dp_bandit_envs.compiling.background import Stopped, never
from dp_bandit_envs.html_table import html_table
from dp_bandit_envs.metrics import mean_and_standard_error, median_and_tail
from dp_bandit_envs.privacy.guarantee import PrivacyGuarantee
from dp_bandit_envs.privacy.levels import label_of, level_of
from dp_bandit_envs.protocols import FloatArray, IntArray

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Engine = Literal["lanes", "compiled", "play"]
MEASURES = ("external_regret", "pseudo_regret", "policy_regret", "collected", "switches")
COLUMNS = ("algorithm", "epsilon", "delta", "mean regret", "standard error", "median", "99 % quantile", "engine")
UNEVEN = 4
"""Rounds are drawn on a logarithmic axis if the last two are so many times as far apart as the first two."""


class Column(NamedTuple):
    """The results of one game at the checkpoints, each of shape `(checkpoints,)`, and `pulls` of `(n_arms,)`."""

    external_regret: FloatArray
    policy_regret: FloatArray
    pseudo_regret: FloatArray | None
    collected: FloatArray
    switches: IntArray
    pulls: IntArray


class StoppedEarlyError(Exception):
    """Raised by a trial that was cancelled."""


class Work(Protocol):
    """What is played in a trial; can run in any thread or process.

    Attributes:
        at_once: How many trials it plays at a time: as many take hardly longer than one.
    """

    at_once: int

    def compile(self, stopped: Stopped) -> None:
        """Do the slow one-time work; end early after `stopped` returns True."""

    def run_all(self, trials: range, stopped: Stopped = never) -> list[dict[str, Column]]:
        """Play these trials; raise `StoppedEarlyError` soon after `stopped` returns True."""


class Played(NamedTuple):
    """The results of a task, one for each trial, and the seconds that it took."""

    seconds: float
    columns: list[dict[str, Column]]


def play_all(work: Work, trials: range, stopped: Stopped = never) -> Played:
    """Play all trials of a task; raise `StoppedEarlyError` soon after `stopped` returns True."""
    start = time.perf_counter()
    columns = work.run_all(trials, stopped)
    return Played(time.perf_counter() - start, columns)


@dataclasses.dataclass(frozen=True, repr=False)
class Outcome:
    """What one algorithm achieved, each of shape `(trials, checkpoints)` unless said otherwise; the last column is T.

    Attributes:
        name: The algorithm's name in the simulation.
        checkpoints: Rounds, ascending, shape `(checkpoints,)`; the last is the horizon T.
        external_regret: Against the best fixed arm up to the checkpoint; with a payoff function, each arm replaces the
            last of the arms actually played.
        policy_regret: Against the best constant play up to the checkpoint.
        pseudo_regret: The expected cost of the arms played; None if the means are unknown, or with a payoff function.
        collected: Gains collected, or what the payoff function paid, less charges.
        switches: Number of changes of arm.
        pulls: Number of rounds in which each arm was played in the whole game, shape `(trials, n_arms)`.
        engine: `"lanes"` for compiled games side by side, `"compiled"` for compiled games one at a time, or
            `"play"` for parts that the compiled loop does not support.
        reason: Why it was not compiled, such as for few rounds without machine code on disk; and if the adversary
            cannot be copied, that nobody checked whether it draws from its `rng` only. Empty if there is neither.
        guarantee: The privacy guarantee of each game.
    """

    name: str
    checkpoints: IntArray
    external_regret: FloatArray
    policy_regret: FloatArray
    pseudo_regret: FloatArray | None
    collected: FloatArray
    switches: IntArray
    pulls: IntArray
    engine: Engine
    reason: str
    guarantee: PrivacyGuarantee

    def __repr__(self) -> str:
        regret = self.external_regret[:, -1].mean()
        return f"Outcome({len(self.collected)} trials, mean external regret {regret:.6g}, {self.engine})"

    @property
    def label(self) -> str:
        """The name with its guarantee, as legends show it."""
        return label_of(self.name, [level_of(self.guarantee)])

    def plot(self, measure: str = "external_regret", band: str = "ci") -> "Figure":
        """Draw a measure against the round; the arguments are those of `Simulation.plot`."""
        return drawn_outcomes([self], measure, band)

    def _repr_html_(self) -> str:
        return outcomes_table([self])


@dataclasses.dataclass(frozen=True, repr=False)
class Simulation(Mapping[str, Outcome]):
    """The outcomes by algorithm: `simulation["EXP3"].external_regret`.

    Attributes:
        outcomes: By name, in the order of the `algorithms` argument.
        checkpoints: Rounds, ascending, shape `(checkpoints,)`; the last is the horizon.
        horizon: Number of rounds T.
        n_arms: Number of arms K.
        seed: The seed; None if it was secret.
        first_trial: The number of the first trial.

    Example:
        >>> from dp_bandit_envs import simulate
        >>> simulation = simulate("DPBandit-Stochastic-v0", ["Uniform"], horizon=200, trials=5, checkpoints=4)
        >>> simulation.checkpoints
        array([ 50, 100, 150, 200])
        >>> simulation["Uniform"].external_regret.shape
        (5, 4)
    """

    outcomes: dict[str, Outcome]
    checkpoints: IntArray
    horizon: int
    n_arms: int
    seed: int | None
    first_trial: int = 0

    def __getitem__(self, name: str) -> Outcome:
        if name in self.outcomes:
            return self.outcomes[name]
        return self.outcomes[checks.known_name("algorithm", name, self.outcomes)]

    def __repr__(self) -> str:
        seed = "secret seed" if self.seed is None else f"seed {self.seed}"
        return f"Simulation({', '.join(map(repr, self.outcomes))}: {self.horizon} rounds, {seed})"

    def plot(self, measure: str = "external_regret", band: str = "ci") -> "Figure":
        """Draw a measure of all algorithms against the round: a line through the trials with a band.

        Args:
            measure: `"external_regret"`, `"pseudo_regret"`, `"policy_regret"`, `"collected"` or `"switches"`.
            band: `"ci"` for the mean with its 95 % confidence interval, `"spread"` for the median of means with Gini's
                mean difference below and above, or `"quantiles"` for the median with the 10 % and 90 % quantiles.

        Raises:
            ImportError: If the extra `plots` is not installed.
            ValueError: If an argument is none of these, or an algorithm's measure is unknown in this game.
        """
        return drawn_outcomes(list(self.outcomes.values()), measure, band)

    def _repr_html_(self) -> str:
        return outcomes_table(list(self.outcomes.values()))

    def __iter__(self) -> Iterator[str]:
        return iter(self.outcomes)

    def __len__(self) -> int:
        return len(self.outcomes)


class Table:
    """The results of an algorithm in many games, one row for each game, copied into arrays as the games end."""

    def __init__(self, trials: int) -> None:
        self.trials = trials
        self._arrays: list[NDArray[Any] | None] = []

    def put(self, row: int, column: Column) -> None:
        """Copy the results of one game."""
        if not self._arrays:
            empty = (None if part is None else np.empty((self.trials, *part.shape), part.dtype) for part in column)
            self._arrays = list(empty)
        for array, part in zip(self._arrays, column, strict=True):
            if array is not None:
                array[row] = part

    @property
    def measures(self) -> dict[str, NDArray[Any]]:
        """The arrays by the names of an outcome's attributes, without the measures that are unknown."""
        named = zip(Column._fields, self._arrays, strict=True)
        return {name: array for name, array in named if array is not None}


def drawn_outcomes(outcomes: Sequence[Outcome], measure: str, band: str) -> "Figure":
    """Return a figure of a measure against the round, with arguments as for `Simulation.plot`."""
    from dp_bandit_envs.plots.curves import Curve, Panel
    from dp_bandit_envs.plots.curves_plot import ROUND, curves_figure

    measure = checks.known_name("measure", measure, MEASURES)
    curves = []
    for one in outcomes:
        samples = getattr(one, measure)
        if samples is None:
            raise ValueError(
                f"measure must be known in this game, whose arms have no known means or a payoff function; received"
                f" {measure!r}. Use 'external_regret'."
            )
        curves.append(Curve(one.name, one.label, one.checkpoints, samples))
    rounds = outcomes[0].checkpoints
    gaps = np.diff(rounds)
    uneven = len(gaps) > 1 and gaps[-1] > UNEVEN * gaps[0]
    panel = Panel(f"T = {int(rounds[-1]):,}", curves)
    return curves_figure([panel], across=ROUND, measure=measure, band=band, x_scale="log" if uneven else "linear")


def outcomes_table(outcomes: Sequence[Outcome]) -> str:
    """Return a table with a row for each outcome: its guarantee, and external regret after the last round."""
    rows = []
    for one in outcomes:
        last = one.external_regret[:, -1]
        mean, error = mean_and_standard_error(last)
        median, tail = median_and_tail(last)
        level = level_of(one.guarantee)
        numbers = [
            f"{level.epsilon:.4g}",
            f"{level.delta:.3g}",
            *(f"{float(x):,.1f}" for x in (mean, error, median, tail)),
        ]
        rows.append([one.name, *numbers, one.engine])
    first = outcomes[0]
    caption = f"External regret after {int(first.checkpoints[-1]):,} rounds, {len(first.collected):,} trials"
    return html_table(COLUMNS, rows, caption)
