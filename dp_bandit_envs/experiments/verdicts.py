"""Decides whether a claim holds: a mean of paired differences of at least three standard errors is clear."""

import math
from collections.abc import Callable, Iterable
from typing import NamedTuple, TypeVar

import numpy as np

from dp_bandit_envs.metrics import mean_and_standard_error
from dp_bandit_envs.protocols import FloatArray
from dp_bandit_envs.runs.experiment import GameSpec, Results
from dp_bandit_envs.runs.run_report import Claim, Verdict

DECIDES = 3.0
"""Standard errors."""
FEWEST = 5
"""Number of runs below which the standard error is too uncertain."""
LONG = 10_000
"""Number of rounds below which algorithms may not have converged."""
Statistic = TypeVar("Statistic")


class Words(NamedTuple):
    """A claim in words, with a reason for each verdict.

    Attributes:
        says: The claim.
        seen: The value of the statistic that decides.
        yes, no: The reasons for these verdicts.
        unknown: The text after "from 100 runs" if the runs do not decide.
    """

    says: str
    seen: str
    yes: str = ""
    no: str = ""
    unknown: str = ""


def judged(
    results: Results,
    judge: Callable[[Results], tuple[Statistic, Verdict]],
    words: Callable[[Statistic], Words],
    *,
    fewest: int = FEWEST,
) -> Claim:
    """Return a claim with its verdict, in words.

    Args:
        results: The raw numbers.
        judge: Returns the statistic and the verdict that follows from it.
        words: Returns the words for the statistic.
        fewest: Number of runs below which there is no verdict; 0 for claims that do not depend on chance.
    """
    statistic, verdict = judge(results)
    says, seen, *reasons = words(statistic)
    runs = results.experiment.trials
    if runs < fewest:
        few = f"from {runs} run{'' if runs == 1 else 's'}: that is too few"
        return Claim(statistic, Verdict.UNDECIDED, says, seen, few)
    reason = dict(zip((Verdict.YES, Verdict.NO, Verdict.UNDECIDED), reasons, strict=True))[verdict]
    return Claim(
        statistic, verdict, says, seen, f"from {runs} runs{reason}" if verdict is Verdict.UNDECIDED else reason
    )


def yes_or_no(holds: bool) -> Verdict:
    """Return the verdict on a claim that is computed exactly."""
    return Verdict.YES if holds else Verdict.NO


def errors_ahead(
    results: Results, panel: str, better: str, worse: str, measure: str = "external_regret", checkpoint: int = -1
) -> float:
    """Return by how many standard errors `better` has less regret; trials are paired because they share their gains."""
    one, other = (results.regret(panel, name, measure)[:, checkpoint] for name in (better, worse))
    return over_error(paired(other, one))


def paired(one: FloatArray, other: FloatArray) -> FloatArray:
    """Return the differences one - other of samples `(trials,)`, for the games that both have played."""
    both = min(len(one), len(other))
    difference: FloatArray = one[:both] - other[:both]
    return difference


def over_error(sample: FloatArray) -> float:
    """Return the mean of a sample `(trials,)` over its standard error; NaN for a single trial."""
    mean, error = (float(value) for value in mean_and_standard_error(sample))
    # Samples that differ only by rounding count as equal: rounding errors must not be divided by their spread.
    if error <= 1e-12 * abs(mean):
        return float(np.sign(mean)) * math.inf if mean else 0.0
    return mean / error


def all_ahead(errors: Iterable[float]) -> Verdict:
    """Return YES if all differences are clearly positive, NO if one is clearly negative, else UNDECIDED.

    Args:
        errors: Differences in standard errors.
    """
    errors = list(errors)
    if any(one < -DECIDES for one in errors):
        return Verdict.NO
    return Verdict.YES if errors and all(one > DECIDES for one in errors) else Verdict.UNDECIDED


def clearly_above(sample: FloatArray) -> bool:
    """Return whether the mean of a sample is clearly above 0."""
    return over_error(sample) > DECIDES


def runs_on_a_worse_arm(results: Results, panel: GameSpec, name: str) -> int:
    """Return how many runs lose in the second half of the game more than half of what a second-best arm would lose."""
    means = np.array(panel.env_kwargs["means"], dtype=float)
    rounds = results.rounds(panel.key)
    half = min(int(np.searchsorted(rounds, rounds[-1] / 2)), len(rounds) - 1)
    gap = (means.max() - means)[means < means.max()].min()
    regret = results.regret(panel.key, name, "pseudo_regret")
    least = 0.5 * gap * (rounds[-1] - rounds[half])
    return int(np.sum(regret[:, -1] - regret[:, half] > least)) if rounds[-1] >= LONG else 0


def ratio(one: float, other: float) -> float:
    """Return a ratio; NaN if it is undefined."""
    return float(one / other) if other > 0 else math.nan
