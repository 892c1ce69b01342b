"""Judging figures: claims as functions of results, decided at three standard errors."""

import dataclasses
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from dp_bandit_envs.algorithms.specs import GameSpec
from dp_bandit_envs.experiments.experiment import Results
from dp_bandit_envs.experiments.report import Claim, Note, Verdict
from dp_bandit_envs.metrics import mean_and_standard_error
from dp_bandit_envs.protocols import FloatArray

YES, NO, UNDECIDED = Verdict
DECISIVE_ERRORS = 3.0
"""Standard errors for a clear mean of paired differences."""
FEWEST = 5
"""Number of runs below which the standard error is too uncertain."""
LONG = 10_000
"""Number of rounds below which algorithms may not have converged."""


class Estimate(NamedTuple):
    """A number with its standard error; NaN where the games do not determine it."""

    value: float
    error: float

    def __str__(self) -> str:
        if math.isnan(self.error):
            return "unknown" if math.isnan(self.value) else f"{self.value:.2f}"
        return f"{self.value:.2f} ± {self.error:.2f}"


UNKNOWN = Estimate(math.nan, math.nan)


@dataclasses.dataclass(frozen=True)
class Judgement:
    """The finding on a claim.

    Attributes:
        verdict: Whether it holds, if there are enough runs.
        numbers: The decisive numbers.
        seen: These numbers in words.
        yes, no: The reasons for these verdicts.
        unknown: The text after "from 100 runs" if the runs do not decide.
    """

    verdict: Verdict
    numbers: Any
    seen: str
    yes: str = ""
    no: str = ""
    unknown: str = ""


class Claims(list[Callable[[Sequence[Results]], Claim]]):
    """The claims of a figure, in order: `@claims("what the paper says")` adds the function below it, which judges it.

    Calling `judged` with the results of all experiments returns every claim with its verdict.
    """

    def __call__(
        self, says: str | Callable[[Results], str], *, of: tuple[int, ...] = (0,), fewest: int = FEWEST
    ) -> Callable[[Callable[..., Judgement]], Callable[..., Judgement]]:
        """Return a decorator for the function that judges a claim.

        Args:
            says: The claim in words, or a function of the first results that returns it.
            of: The experiments whose results the function takes; the runs of the first experiment count.
            fewest: Least number of runs for a verdict; 0 for claims that do not depend on chance.
        """

        def add(judge: Callable[..., Judgement]) -> Callable[..., Judgement]:
            def claim(results: Sequence[Results]) -> Claim:
                taken = [results[index] for index in of]
                judgement, runs = judge(*taken), taken[0].experiment.trials
                verdict = judgement.verdict
                text = says if isinstance(says, str) else says(taken[0])
                if runs < fewest:
                    few = f"from {runs} run{'' if runs == 1 else 's'}: that is too few"
                    return Claim(judgement.numbers, UNDECIDED, text, judgement.seen, few)
                why = {YES: judgement.yes, NO: judgement.no, UNDECIDED: f"from {runs} runs{judgement.unknown}"}[verdict]
                return Claim(judgement.numbers, verdict, text, judgement.seen, why)

            self.append(claim)
            return judge

        return add

    def judged(self, results: Sequence[Results]) -> list[Claim]:
        """Return every claim with its verdict, from the results of all experiments."""
        return [claim(results) for claim in self]


def yes_or_no(holds: bool) -> Verdict:
    """Return the verdict on a claim that is computed exactly."""
    return YES if holds else NO


def all_ahead(errors: Iterable[float]) -> Verdict:
    """Return YES if all differences are clearly positive, NO if one is clearly negative, else UNDECIDED.

    Args:
        errors: Differences in standard errors.
    """
    errors = list(errors)
    if any(one < -DECISIVE_ERRORS for one in errors):
        return NO
    return YES if errors and all(one > DECISIVE_ERRORS for one in errors) else UNDECIDED


def errors_ahead(
    results: Results, game: str, better: str, worse: str, measure: str = "external_regret", checkpoint: int = -1
) -> float:
    """Return the advantage in regret of `better`, in standard errors; trials are paired, as they share their gains."""
    better_regret, worse_regret = (results.regret(game, name, measure)[:, checkpoint] for name in (better, worse))
    return in_standard_errors(paired_differences(worse_regret, better_regret))


def paired_differences(first: FloatArray, second: FloatArray) -> FloatArray:
    """Return the differences one - other of samples `(trials,)`, for games played by both."""
    both = min(len(first), len(second))
    difference: FloatArray = first[:both] - second[:both]
    return difference


def in_standard_errors(sample: FloatArray) -> float:
    """Return the mean of a sample `(trials,)` over its standard error; NaN for a single trial."""
    mean, error = (float(value) for value in mean_and_standard_error(sample))
    # Samples that differ only by rounding count as equal: rounding errors must not be divided by their spread.
    if error <= 1e-12 * abs(mean):
        return float(np.sign(mean)) * math.inf if mean else 0.0
    return mean / error


def clearly_above(sample: FloatArray) -> bool:
    """Return whether the mean of a sample is clearly above 0."""
    return in_standard_errors(sample) > DECISIVE_ERRORS


def runs_on_a_worse_arm(results: Results, spec: GameSpec, name: str) -> int:
    """Return the number of runs whose loss in the second half of the game is over half of a second-best arm's."""
    means = np.array(spec.env_kwargs["means"], dtype=float)
    rounds = results.rounds(spec.key)
    half = min(int(np.searchsorted(rounds, rounds[-1] / 2)), len(rounds) - 1)
    gap = (means.max() - means)[means < means.max()].min()
    regret = results.regret(spec.key, name, "pseudo_regret")
    least = 0.5 * gap * (rounds[-1] - rounds[half])
    return int(np.sum(regret[:, -1] - regret[:, half] > least)) if rounds[-1] >= LONG else 0


def ratio(numerator: float, denominator: float) -> float:
    """Return a ratio; NaN if it is undefined."""
    return float(numerator / denominator) if denominator > 0 else math.nan


def ratio_of_means(private: FloatArray, free: FloatArray) -> Estimate:
    r"""Return the ratio of mean regrets, paired by game, with its standard error by the delta method.

    The ratio r of means is, to first order, off by the mean of :math:`(p_j - r f_j) / \bar f` over games j.

    Args:
        private: Regret p of each game, shape `(trials,)`.
        free: Regret f without privacy on the same gains, shape `(trials,)`.
    """
    middle = float(free.mean())
    if not middle > 0:
        return UNKNOWN
    value = float(private.mean()) / middle
    _, error = mean_and_standard_error((private - value * free) / middle)
    return Estimate(value, float(error))


def exponent(sizes: Sequence[float], regrets: FloatArray) -> Estimate:
    r"""Return the least-squares slope of ln E[regret] in ln(size), with its standard error by the delta method.

    Games of one row share their seed, so a row's regrets are not independent; the error is over rows.

    Args:
        sizes: The values of T, d or epsilon, shape `(sizes,)`.
        regrets: Shape `(trials, sizes)`.
    """
    means: FloatArray = regrets.mean(axis=0)
    if len(sizes) < 2 or not np.all(means > 0):
        return UNKNOWN
    weights = slope_weights(sizes)
    _, error = mean_and_standard_error((regrets / means) @ weights)
    return Estimate(float(np.log(means) @ weights), float(error))


def slope_weights(sizes: Sequence[float]) -> FloatArray:
    """Return the weights that give the least-squares slope in ln(size), shape `(sizes,)`."""
    places = np.log(np.asarray(sizes, dtype=float))
    centred = places - places.mean()
    weights: FloatArray = centred / (centred @ centred)
    return weights


def slope_of(sizes: Sequence[float], values: Sequence[float] | FloatArray) -> float:
    """Return the slope of a formula's logarithm, fitted as `exponent` fits regrets."""
    logarithms = np.log(np.maximum(values, 1e-300))
    return float(logarithms @ slope_weights(sizes)) if len(sizes) > 1 else math.nan


def with_names(values: Mapping[Any, object]) -> str:
    """Return values, each followed by its name in brackets, on one line."""
    return ", ".join(f"{value} ({name})" for name, value in values.items())


def after_names(values: Mapping[str, float], form: str) -> str:
    """Return values in a format, each after its name, on one line."""
    return ", ".join(f"{name} {form.format(value)}" for name, value in values.items())


def join_names(names: Iterable[Any]) -> str:
    """Return names as in a sentence."""
    *first, last = [*map(str, names)] or [""]
    return last if not first else f"{', '.join(first)} and {last}"


def warn_if_shorter(played_horizon: int, played_trials: int, horizon: int, trials: int) -> list[Note]:
    """Return a warning if the longest games, or their number, are smaller than in the figure, else ""."""
    if played_horizon >= horizon and played_trials >= trials:
        return []
    warning = f"This is {played_trials} runs of {played_horizon:,} rounds instead of {trials} of {horizon:,}."
    return [Note("Differences may come from that alone, whatever reason is given.", warning)]


def warn_if_smaller(results: Results, horizon: int, trials: int) -> list[Note]:
    """Return such a warning for an experiment whose games all have its horizon."""
    has = results.experiment
    return [] if has.horizon is None else warn_if_shorter(has.horizon, has.trials, horizon, trials)
