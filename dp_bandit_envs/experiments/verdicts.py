"""How claims are judged: by the mean of paired differences over its standard error; three standard errors decide."""

import math
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from dp_bandit_envs.experiments.claim import Judgement, Note, Verdict
from dp_bandit_envs.experiments.experiment import Panel, Results
from dp_bandit_envs.metrics import mean_and_standard_error
from dp_bandit_envs.protocols import FloatArray

DECIDES = 3.0
"""Standard errors."""
FEWEST = 5
"""Runs; the spread of fewer says too little of the standard error."""
LONG = 10_000
"""Rounds; in a shorter game every algorithm may still be telling the arms apart."""


def lead(
    results: Results, panel: str, better: str, worse: str, measure: str = "external_regret", checkpoint: int = -1
) -> float:
    """Return by how many standard errors `better` has less regret; trials are paired, as they share their gains."""
    one, other = (results.regret(panel, name, measure)[:, checkpoint] for name in (better, worse))
    return over_error(paired(other, one))


def paired(one: FloatArray, other: FloatArray) -> FloatArray:
    """Return the differences one - other of samples `(trials,)`, in the games that both have played."""
    both = min(len(one), len(other))
    difference: FloatArray = one[:both] - other[:both]
    return difference


def over_error(sample: FloatArray) -> float:
    """Return the mean of a sample `(trials,)` over its standard error, NaN for a single trial, which shows nothing."""
    mean, error = (float(value) for value in mean_and_standard_error(sample))
    # Equal to the last bits counts as equal: a sum of rounding errors must not be divided by its spread.
    if error <= 1e-12 * abs(mean):
        return float(np.sign(mean)) * math.inf if mean else 0.0
    return mean / error


def all_ahead(leads: Iterable[float]) -> Verdict:
    """Return YES if all leads are clear, NO if one is clearly the other way round, else UNDECIDED."""
    leads = list(leads)
    if any(one < -DECIDES for one in leads):
        return Verdict.NO
    return Verdict.YES if leads and all(one > DECIDES for one in leads) else Verdict.UNDECIDED


def listed(values: Mapping[str, float], form: str) -> str:
    """Return values with their names on one line."""
    return ", ".join(f"{name} {form.format(value)}" for name, value in values.items())


def judged(holds: bool, how: str, why_not: str) -> Judgement:
    """Return yes or no, with the reason."""
    return Judgement(Verdict.YES, how) if holds else Judgement(Verdict.NO, why_not)


def stuck(results: Results, panel: Panel, name: str) -> int:
    """Return how many runs lose, in the last half of the game, more than half of what a second-best arm loses."""
    means = np.array(panel.env_kwargs["means"], dtype=float)
    rounds = results.rounds(panel.key)
    half = min(int(np.searchsorted(rounds, rounds[-1] / 2)), len(rounds) - 1)
    gap = (means.max() - means)[means < means.max()].min()
    regret = results.regret(panel.key, name, "pseudo_regret")
    least = 0.5 * gap * (rounds[-1] - rounds[half])
    return int(np.sum(regret[:, -1] - regret[:, half] > least)) if rounds[-1] >= LONG else 0


def decided(answer: Verdict, results: Results, *, yes: str, no: str, unknown: str = "") -> Judgement:
    """Return the answer with its reason, or that the results are too few or, with `unknown` behind it, too close."""
    trials = results.experiment.trials
    if trials < FEWEST:
        return Judgement(Verdict.UNDECIDED, f"from {trials} run{'s' if trials != 1 else ''}: that is too few")
    reasons = {Verdict.YES: yes, Verdict.NO: no, Verdict.UNDECIDED: f"from {trials} runs{unknown}"}
    return Judgement(answer, reasons[answer])


def short_of(results: Results, horizon: int, trials: int) -> list[Note]:
    """Warn that a game is shorter than it should be, or the runs are fewer; nothing if neither is so."""
    has = results.experiment
    if has.horizon is None or (has.horizon >= horizon and has.trials >= trials):
        return []
    warning = f"This is {has.trials} runs of {has.horizon:,} rounds instead of {trials} of {horizon:,}."
    return [Note("What differs below may come from that alone, whatever reason is given.", warning)]


def clearly_above(sample: FloatArray) -> bool:
    """Return whether the mean of a sample is above 0 by what decides."""
    return over_error(sample) > DECIDES


def with_names(values: Mapping[str, str]) -> str:
    """Return values, each with its name in brackets, on one line."""
    return ", ".join(f"{value} ({name})" for name, value in values.items())


def joined(names: Sequence[str]) -> str:
    """Return names as in a sentence."""
    return " and ".join(names) if len(names) < 3 else f"{', '.join(names[:-1])} and {names[-1]}"


def ratio(one: float, other: float) -> float:
    """Return a ratio, NaN where it has no meaning."""
    return float(one / other) if other > 0 else math.nan
