"""Results of games: the results of a task, tables of results, and the outcomes of a simulation."""

import dataclasses
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from dp_bandit_envs import checks
from dp_bandit_envs.compiling.compiled import IsCancelled, not_cancelled
from dp_bandit_envs.metrics import (
    Moments,
    external_regret,
    policy_regret,
    pseudo_regret,
    recommendation_error,
    rounds_until_stop,
    summary,
)
from dp_bandit_envs.privacy.guarantee import PrivacyGuarantee, label_of, shown_epsilon
from dp_bandit_envs.protocols import FloatArray, IntArray
from dp_bandit_envs.text import html_table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

EngineName = Literal["lanes", "compiled", "play"]
STOPPING = ("rounds_until_stop", "error")
"""The measures of algorithms that look for the best arm and stop."""
MEASURES = ("external_regret", "pseudo_regret", "dynamic_regret", "policy_regret", "collected", "switches", *STOPPING)
COLUMNS = ("algorithm", "epsilon", "delta", "mean regret", "standard error", "median", "99 % quantile", "engine")
UNEVEN = 4
"""Rounds are drawn on a logarithmic axis if the last two are so many times as far apart as the first two."""


class TrialResults(NamedTuple):
    """An algorithm's results in some trials, each of shape `(trials, checkpoints)`, and `pulls` `(trials, n_arms)`.

    Those of a single game have no axis for trials, until they are stacked. `dynamic_regret` is for means that move, the
    last two for algorithms that look for the best arm.
    """

    external_regret: FloatArray
    policy_regret: FloatArray
    pseudo_regret: FloatArray | None
    collected: FloatArray
    switches: IntArray
    pulls: IntArray
    dynamic_regret: FloatArray | None = None
    rounds_until_stop: IntArray | None = None
    error: FloatArray | None = None

    def changed(self, change: Callable[[Any], Any]) -> "TrialResults":
        """Return the results with a function applied to each known array."""
        parts: Iterator[Any] = (None if part is None else change(part) for part in self)
        return TrialResults(*parts)


Keep = Literal["trials", "summary"]
SUMMED_AT_ONCE = 1024
"""The most trials that a worker has in memory whose results it sums up."""


class StoppedEarlyError(Exception):
    """Raised by a trial that was cancelled."""


class Engine(Protocol):
    """Plays trials of some algorithms, all on the same gains; can run in any thread or process."""

    @property
    def kind(self) -> EngineName:
        """Its name in results."""

    @property
    def algorithms(self) -> Collection[str]:
        """The names of the algorithms."""

    def refusal(self, algorithm: str, trials: int) -> str:
        """Return why it does not play this many trials of an algorithm; "" if it does."""

    def only(self, algorithms: Collection[str]) -> Self:
        """Return the engine of these algorithms."""

    @property
    def at_once(self) -> int:
        """Number of trials that run together (the vector width); they take about as long as one."""

    @property
    def ready(self) -> bool:
        """Whether all machine code is loaded already."""

    def compile(self, is_cancelled: IsCancelled) -> None:
        """Do the slow one-time work; end early after `is_cancelled` returns True."""

    def run(self, trials: range, is_cancelled: IsCancelled = not_cancelled) -> dict[str, TrialResults]:
        """Return the results by algorithm; raise `StoppedEarlyError` soon after `is_cancelled` returns True."""


class TaskResults(NamedTuple):
    """The results of a task by algorithm, and its duration in seconds."""

    seconds: float
    columns: "Mapping[str, KeptResults]"


def run_task(engine: Engine, trials: range, is_cancelled: IsCancelled = not_cancelled) -> TaskResults:
    """Play all trials of a task; raise `StoppedEarlyError` soon after `is_cancelled` returns True."""
    start = time.perf_counter()
    columns = engine.run(trials, is_cancelled)
    return TaskResults(time.perf_counter() - start, columns)


def run_and_keep(play: Callable[[range], TaskResults], trials: range, keep: Keep) -> TaskResults:
    """Play trials with `play`, and reduce their results if only a summary is kept."""
    if keep == "trials":
        return play(trials)
    seconds, tables = 0.0, dict[str, ResultTable]()
    for start in range(0, len(trials), SUMMED_AT_ONCE):
        played = play(trials[start : start + SUMMED_AT_ONCE])
        seconds += played.seconds
        for name, results in played.columns.items():
            tables.setdefault(name, ResultTable(len(trials))).put(start, results, keep)
    return TaskResults(seconds, tables)


class StopRecord(NamedTuple):
    """Recommendations and stops of an algorithm that looks for the best arm, in some trials.

    Attributes:
        checkpoints: Rounds, ascending, shape `(checkpoints,)`.
        recommended: The arms recommended there, shape `(trials, checkpoints)`.
        stop: The last round before each trial stopped, shape `(trials, 1)`; 0 if it did not stop.
    """

    checkpoints: IntArray
    recommended: IntArray
    stop: IntArray


def trial_results(
    fixed: FloatArray,
    always: FloatArray,
    collected: FloatArray,
    switches: IntArray,
    pulls: IntArray,
    means: Sequence[FloatArray | None],
    dynamic: FloatArray | None = None,
    stops: StopRecord | None = None,
) -> TrialResults:
    """Return the results of some trials; copies, because views would keep whole blocks of games in memory.

    Args:
        fixed: Gains of fixed arms, shape `(trials, checkpoints, n_arms)`.
        always: Gains of constant plays; the same array without a payoff function.
        collected: The collected gains, shape `(trials, checkpoints)`.
        switches: The changes of arm, same shape.
        pulls: The pulls, shape `(trials, checkpoints, n_arms)`.
        means: The arms' means in each trial, if known.
        dynamic: The dynamic regret, shape `(trials, checkpoints)`, for changing means.
        stops: When the algorithm stopped, if it looks for the best arm.
    """
    collected = np.array(collected, order="C")
    regret = np.ascontiguousarray(external_regret(fixed, collected))
    known_means = [own for own in means if own is not None]
    arm_means = np.stack(known_means)[:, np.newaxis] if known_means else None
    return TrialResults(
        regret,
        regret if always is fixed else policy_regret(always, collected),
        None if arm_means is None else pseudo_regret(pulls, arm_means).copy(),
        collected,
        switches.copy(),
        pulls[:, -1].copy(),
        None if dynamic is None else dynamic.copy(),
        None if stops is None else rounds_until_stop(stops.checkpoints, stops.stop),
        None if stops is None or arm_means is None else recommendation_error(stops.recommended, arm_means),
    )


def stack_results(
    games: Sequence[Mapping[str, TrialResults]], stack: Callable[..., NDArray[Any]] = np.stack
) -> dict[str, TrialResults]:
    """Return the results of several games, or with `np.concatenate` of several groups of games, in one array each."""
    if len(games) == 1 and stack is np.concatenate:
        return dict(games[0])
    stacked: dict[tuple[int, ...], NDArray[Any]] = {}

    def one(*parts: Any) -> Any:
        key = tuple(map(id, parts))
        if parts[0] is not None and key not in stacked:
            stacked[key] = stack(parts)
        return stacked.get(key)  # one array for two measures that are the same by definition: it is sent once

    return {name: TrialResults(*map(one, *(game[name] for game in games))) for name in games[0]}


@dataclasses.dataclass(frozen=True, repr=False)
class Outcome:
    """The results of one algorithm, each of shape `(trials, checkpoints)` unless noted otherwise; the last column is T.

    Attributes:
        name: The algorithm's name in the simulation.
        checkpoints: Rounds, ascending, shape `(checkpoints,)`; the last is the horizon T.
        external_regret: Against the best fixed arm up to the checkpoint; with a payoff function, each arm replaces the
            last of the arms actually played.
        policy_regret: Against the best constant play up to the checkpoint.
        pseudo_regret: The expected cost of the arms played; None if the means are unknown, or with a payoff function.
        dynamic_regret: The same against the best arm of each round: the pseudo-regret for constant means, and more for
            changing ones (`DPBandit-Shifting-v0`); None if the means of a round are unknown.
        collected: Gains collected, or the payoffs of the payoff function, less charges.
        switches: Number of changes of arm.
        rounds_until_stop: For an algorithm that looks for the best arm, the rounds before it stopped or the checkpoint
            came; None for others.
        error: 1 if the recommended arm does not have the largest mean, else 0; None if the means are unknown.
        pulls: Number of plays of each arm in the whole game, shape `(trials, n_arms)`.
        engine: `"lanes"` for compiled games side by side, `"compiled"` for compiled games one at a time, or
            `"play"` for parts that the compiled loop does not support.
        reason: Why it was not compiled, such as too few rounds without machine code on disk. Also notes if an adversary
            that cannot be copied was not checked for drawing from its `rng` only. Otherwise empty.
        guarantee: The privacy guarantee of each game.
    """

    name: str
    checkpoints: IntArray
    external_regret: FloatArray
    policy_regret: FloatArray
    pseudo_regret: FloatArray | None
    dynamic_regret: FloatArray | None
    collected: FloatArray
    switches: IntArray
    pulls: IntArray
    engine: EngineName
    reason: str
    guarantee: PrivacyGuarantee
    rounds_until_stop: IntArray | None = None
    error: FloatArray | None = None

    def __repr__(self) -> str:
        return f"Outcome({self.trials} trials, mean external regret {self.last().mean():.6g}, {self.engine})"

    @property
    def trials(self) -> int:
        """The number of trials."""
        return len(self.collected)

    def mean(self, measure: str = "external_regret") -> FloatArray:
        """Return the mean of a measure, or of `"pulls"`, over trials, shape `(checkpoints,)` or `(n_arms,)`."""
        return self._moments(measure).mean

    def standard_error(self, measure: str = "external_regret") -> FloatArray:
        """Return the standard error of `mean`; NaN for one trial."""
        return self._moments(measure).standard_error

    def last(self, measure: str = "external_regret") -> FloatArray:
        """Return a measure's values at the horizon, shape `(trials,)`."""
        values: FloatArray = self.samples(checks.known_name("measure", measure, MEASURES))[:, -1]
        return values

    def samples(self, measure: str) -> FloatArray:
        """Return a measure by its name; raise `ValueError` if it is unknown in this game."""
        values: FloatArray | None = getattr(self, checks.known_name("measure", measure, (*MEASURES, "pulls")))
        return np.asarray(require_known(measure, values))

    def _moments(self, measure: str) -> Moments:
        return Moments.of(self.samples(measure))

    @property
    def label(self) -> str:
        """The name with its guarantee, as in legends."""
        return label_of(self.name, [shown_epsilon(self.guarantee)])

    def __getattr__(self, name: str) -> Any:
        raise checks.unknown_attribute(self, name)

    def plot(self, measure: str = "external_regret", band: str = "ci", *, columns: int | None = None) -> "Figure":
        """Draw a measure against the round; arguments as for `Simulation.plot`."""
        return drawn_outcomes([self], measure, band, columns)

    def _repr_html_(self) -> str:
        return outcomes_table([self])


class Summary(Outcome):
    """A summary of one algorithm's results, from `simulate(..., keep="summary")`, without the results of each trial.

    `mean` and `standard_error` have all checkpoints and equal an outcome's up to rounding, which depends on how workers
    shared the trials. `last` has all trials at the horizon, for quantiles. Attributes that would need all trials at all
    checkpoints, such as `external_regret`, raise an error that explains this, and so does `plot`.

    Args:
        table: The results at the horizon, and the moments.
        about: The attributes of an outcome that are not measures.
    """

    def __init__(self, table: "ResultTable", **about: Any) -> None:
        vars(self).update(about, _table=table)

    def __getattr__(self, name: str) -> Any:
        if name in TrialResults._fields:
            raise AttributeError(
                f"{name} of each trial is not kept with keep='summary'. Use mean({name!r}), standard_error({name!r}) or"
                f" last({name!r}), or simulate with keep='trials'."
            )
        raise checks.unknown_attribute(self, name)

    @property
    def trials(self) -> int:
        """The number of trials."""
        return int(self._table.trials)

    def last(self, measure: str = "external_regret") -> FloatArray:
        """Return a measure's values at the horizon, shape `(trials,)`."""
        values = of_measure(self._table.measures, checks.known_name("measure", measure, MEASURES))
        last: FloatArray = require_known(measure, values)[:, -1]
        return last

    def _moments(self, measure: str) -> Moments:
        known_name = checks.known_name("measure", measure, (*MEASURES, "pulls"))
        moments: Moments = require_known(measure, of_measure(self._table.moments, known_name))
        return moments


@dataclasses.dataclass(frozen=True, repr=False)
class Simulation(Mapping[str, Outcome]):
    """The outcomes by algorithm: `simulation["EXP3"].external_regret`.

    Attributes:
        outcomes: The outcomes by name, in the order of the `algorithms` argument.
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

    def plot(self, measure: str = "external_regret", band: str = "ci", *, columns: int | None = None) -> "Figure":
        """Draw a measure of all algorithms against the round: a line through the trials with a band.

        Args:
            measure: `"external_regret"`, `"pseudo_regret"`, `"dynamic_regret"`, `"policy_regret"`, `"collected"`,
                `"switches"`, `"rounds_until_stop"` or `"error"`.
            band: `"ci"` for the mean with its 95 % confidence interval, `"spread"` for the median of means with Gini's
                mean difference below and above, or `"quantiles"` for the median with the 10 % and 90 % quantiles.
            columns: 1 for a figure as narrow as a column or a phone.

        Raises:
            ImportError: If the extra `plots` is not installed.
            ValueError: If an argument is invalid, or an algorithm's measure is unknown in this game.
        """
        return drawn_outcomes(list(self.outcomes.values()), measure, band, columns)

    def _repr_html_(self) -> str:
        return outcomes_table(list(self.outcomes.values()))

    def __iter__(self) -> Iterator[str]:
        return iter(self.outcomes)

    def __len__(self) -> int:
        return len(self.outcomes)


class ResultTable:
    """The results of an algorithm in many games, one row for each game, copied into arrays as the games end.

    Attributes:
        trials: The number of games.
        moments: Moments by measure, if only a summary is kept; the arrays then have the results at the horizon, without
            pulls.
    """

    def __init__(self, trials: int) -> None:
        self.trials = trials
        self.moments: dict[str, Moments] = {}
        self._arrays: list[NDArray[Any] | None] = []

    def put(self, row: int, results: "TrialResults | ResultTable", keep: Keep = "trials") -> None:
        """Copy the results of consecutive games, from this row on, or their summary."""
        moments, parts = {}, list[Any](results)
        if isinstance(results, ResultTable):
            moments = results.moments
        elif keep == "summary":
            fields = zip(results._fields, results, strict=True)
            moments = {name: Moments.of(part) for name, part in fields if part is not None}
            last = results.changed(lambda part: part[:, -1:])
            parts = [*last._replace(pulls=results.pulls[:, :0])]
        self.moments |= {
            name: self.moments[name] | one if name in self.moments else one for name, one in moments.items()
        }
        if not self._arrays:
            empty = (None if part is None else np.empty((self.trials, *part.shape[1:]), part.dtype) for part in parts)
            self._arrays = list(empty)
        for array, part in zip(self._arrays, parts, strict=True):
            if array is not None and part is not None:
                array[row : row + len(part)] = part

    def __iter__(self) -> Iterator[NDArray[Any] | None]:
        return iter(self._arrays)

    @property
    def measures(self) -> dict[str, NDArray[Any]]:
        """The arrays by the names of an outcome's attributes, without the measures that are unknown."""
        return {name: array for name, array in zip(TrialResults._fields, self, strict=True) if array is not None}


KeptResults = TrialResults | ResultTable


def of_measure(measures: Mapping[str, Any], measure: str) -> Any:
    """Return a measure, or None if it is unknown; for constant means, the dynamic regret is the pseudo-regret."""
    return measures.get("pseudo_regret" if measure == "dynamic_regret" and measure not in measures else measure)


def require_known(measure: str, values: Any) -> Any:
    """Return a measure's values, or raise a ValueError if it is unknown in a game."""
    if values is None and measure in STOPPING:
        raise ValueError(
            f"measure must be known of every algorithm; {measure!r} is unknown, as it is for algorithms that look for"
            " the best arm, such as Top-Two, where the means are known. Use 'external_regret'."
        )
    if values is None:
        raise ValueError(
            f"measure must be known in this game; {measure!r} is unknown, as arms have no known means or there is a"
            " payoff function. Use 'external_regret'."
        )
    return values


def drawn_outcomes(outcomes: Sequence[Outcome], measure: str, band: str, columns: int | None = None) -> "Figure":
    """Return a figure of a measure against the round, with arguments as for `Simulation.plot`."""
    from dp_bandit_envs.plots.curves_figure import ROUND, Curve, Panel, curves_figure

    measure = checks.known_name("measure", measure, MEASURES)
    curves = [Curve(one.name, one.label, one.checkpoints, one.samples(measure)) for one in outcomes]
    rounds = outcomes[0].checkpoints
    gaps = np.diff(rounds)
    uneven = len(gaps) > 1 and gaps[-1] > UNEVEN * gaps[0]
    panel = Panel(f"T = {int(rounds[-1]):,}", curves)
    x_scale = "log" if uneven else "linear"
    return curves_figure([panel], across=ROUND, measure=measure, band=band, x_scale=x_scale, columns=columns)


def outcomes_table(outcomes: Sequence[Outcome]) -> str:
    """Return a table with a row for each outcome: its guarantee, and external regret after the last round."""
    rows = []
    for outcome in outcomes:
        of, level = summary(outcome.last()), shown_epsilon(outcome.guarantee)
        numbers = [f"{float(of[name]):,.1f}" for name in ("mean", "standard_error", "median", "quantile_99")]
        rows.append([outcome.name, f"{level.epsilon:.4g}", f"{level.delta:.3g}", *numbers, outcome.engine])
    first = outcomes[0]
    caption = f"External regret after {int(first.checkpoints[-1]):,} rounds, {first.trials:,} trials"
    return html_table(COLUMNS, rows, caption)
