"""Regrets, and summaries over trials: median of means, Gini's mean difference, mean and standard error; and bands.

The three kinds of bands stay within the range of the samples.
"""

import math
from collections.abc import Callable, Sequence
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dp_bandit_envs import checks
from dp_bandit_envs.protocols import FloatArray, IntArray

__all__ = [
    "BANDS",
    "Band",
    "MedianOfMeans",
    "band_of",
    "confidence_band",
    "dynamic_regret",
    "external_regret",
    "gini_below_and_above",
    "gini_mean_difference",
    "mean_and_standard_error",
    "median_and_tail",
    "median_of_means",
    "policy_regret",
    "pseudo_regret",
    "quantile_band",
    "spread_band",
]

TAIL = 0.99
"""The quantile reported with the median, if a few bad games dominate the mean."""
RESAMPLES = 2000
CONFIDENCE = 0.95
QUANTILES = (0.1, 0.9)
_SEED = 2016
_AT_ONCE = 2_000_000
"""The largest number of weights in memory; more resamples are made in several steps."""


class MedianOfMeans(NamedTuple):
    """A median of means and its confidence interval, each of shape `(...)`."""

    value: FloatArray
    low: FloatArray
    high: FloatArray
    confidence: float


def median_of_means(samples: FloatArray, groups: int = 24) -> MedianOfMeans:
    r"""Return the median over groups of the mean within each, with the confidence interval of proposition 4.1.

    With probability at least :math:`1 - e^{-a/4.5}` the value is within :math:`\sigma \sqrt{6 a / N}` of the mean, for
    a groups and N samples; for a = 24 that is 0.9952. The unknown sigma is replaced by the sample's.

    Args:
        samples: Shape `(trials, ...)`; trial j goes to group j mod groups. With fewer trials than groups, each trial
            is a group.
        groups: Number of groups a, at least 1.

    Source: Tossou and Dimitrakakis (2017), proposition 4.1; Hsu and Sabato (2013).
    """
    groups = min(checks.integer("groups", groups, at_least=1), len(samples))
    means = np.array([samples[group::groups].mean(axis=0) for group in range(groups)])
    value = np.median(means, axis=0)
    spread: FloatArray = samples.std(axis=0, ddof=1) if len(samples) > 1 else np.full(value.shape, math.nan)
    half = spread * math.sqrt(6 * groups / len(samples))
    return MedianOfMeans(value, value - half, value + half, 1 - math.exp(-groups / 4.5))


def gini_mean_difference(samples: FloatArray) -> FloatArray:
    r"""Return the mean absolute difference of two samples, :math:`\frac{2}{N (N-1)} \sum_j (2 j - N - 1) x_{(j)}`.

    Args:
        samples: Shape `(trials, ...)`; one trial or none gives 0.

    Differs from the source in: Tossou and Dimitrakakis (2017) print the sum without the factor 2 / (N (N - 1)).
    """
    n = len(samples)
    if n < 2:
        return np.zeros(samples.shape[1:])
    weights = 2 * np.arange(1, n + 1) - n - 1
    total = np.tensordot(weights, np.sort(samples, axis=0), axes=1)
    return np.asarray(total * (2 / (n * (n - 1))), dtype=float)


def gini_below_and_above(samples: FloatArray, centre: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return Gini's mean difference of the samples below a centre, and of the samples above it.

    Args:
        samples: Shape `(trials, ...)`.
        centre: Shape `(...)`, such as the median of means.
    """
    flat, middle = samples.reshape(len(samples), -1), np.reshape(centre, -1)
    sides = [
        np.array([gini_mean_difference(column[side(column, at)]) for column, at in zip(flat.T, middle, strict=True)])
        for side in (np.less, np.greater)
    ]
    return sides[0].reshape(np.shape(centre)), sides[1].reshape(np.shape(centre))


def median_and_tail(samples: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the median over trials and the 99 % quantile, each of shape `(...)`.

    For few trials, the 99 % quantile lies between the two greatest.

    Args:
        samples: Shape `(trials, ...)`.
    """
    return np.median(samples, axis=0), np.quantile(samples, TAIL, axis=0)


class Moments(NamedTuple):
    """The number of samples, their mean, and the sum of squared deviations from it, each of shape `(...)`."""

    trials: int
    mean: FloatArray
    squares: FloatArray

    @classmethod
    def of(cls, samples: NDArray[Any]) -> "Moments":
        """Return the moments of samples of shape `(trials, ...)`."""
        mean = samples.mean(axis=0)
        return cls(len(samples), mean, ((samples - mean) ** 2).sum(axis=0))

    def __or__(self, other: "Moments") -> "Moments":
        """Return the moments of both samples together (Chan, Golub and LeVeque 1983)."""
        trials, apart = self.trials + other.trials, other.mean - self.mean
        squares = self.squares + other.squares + apart**2 * (self.trials * other.trials / trials)
        return Moments(trials, self.mean + apart * (other.trials / trials), squares)

    @property
    def standard_error(self) -> FloatArray:
        """The standard error of the mean; NaN for one trial."""
        if self.trials < 2:
            return np.full(np.shape(self.mean), math.nan)
        error: FloatArray = np.sqrt(self.squares / (self.trials - 1)) / math.sqrt(self.trials)
        return error


def mean_and_standard_error(samples: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the mean over trials and its standard error, each of shape `(...)`; the error of one trial is NaN.

    Args:
        samples: Shape `(trials, ...)`.
    """
    moments = Moments.of(samples)
    return moments.mean, moments.standard_error


def summary(samples: FloatArray) -> dict[str, FloatArray]:
    """Return all statistics over trials by name, in the order of `summary.csv`, each of shape `(...)`.

    Args:
        samples: Shape `(trials, ...)`.
    """
    middle = median_of_means(samples)
    below, above = gini_below_and_above(samples, middle.value)
    mean, error = mean_and_standard_error(samples)
    median, tail = median_and_tail(samples)
    return {
        "median_of_means": middle.value,
        "interval_low": middle.low,
        "interval_high": middle.high,
        "gini_below": below,
        "gini_above": above,
        "mean": mean,
        "standard_error": error,
        "median": median,
        "quantile_99": tail,
    }


class Band(NamedTuple):
    """A line and the ends of its band, each of shape `(places,)`."""

    line: FloatArray
    low: FloatArray
    high: FloatArray


def confidence_band(samples: FloatArray) -> Band:
    r"""Return the mean over trials and its 95 % confidence interval by the bootstrap BCa.

    The ends are means of resampled trials, so positive samples give a positive lower end, unlike the mean less 1.96
    standard errors. All places use the same resamples, drawn with a fixed seed. With one trial, or if all trials are
    equal, the interval is that number. No interval can account for a rare value that dominates the mean but is in no
    trial.

    Args:
        samples: Shape `(trials, places)`.

    Source: Efron (1987), Better bootstrap confidence intervals, section 3: bias z0 from the share of resampled means
        below the mean, acceleration a from the skewness.
    """
    trials = len(samples)
    mean: FloatArray = samples.mean(axis=0)
    if trials < 2:
        return Band(mean, mean.copy(), mean.copy())
    means = np.sort(_resampled_means(samples), axis=0)
    ends = []
    centred = samples - mean
    square = (centred**2).sum(axis=0)
    skewed = np.divide((centred**3).sum(axis=0), 6 * square**1.5, out=np.zeros_like(mean), where=square > 0)
    # Means of the same trials in another order are equal but for rounding.
    rounding = 1e-12 * np.abs(samples).max(axis=0)
    below = ((means < mean - rounding).mean(axis=0) + (means <= mean + rounding).mean(axis=0)) / 2
    normal = NormalDist()
    # A share of 0 or 1 has no quantile.
    bias = np.array([normal.inv_cdf(share) for share in np.clip(below, 1 / RESAMPLES, 1 - 1 / RESAMPLES)])
    for side in (-1, 1):
        reach = bias + side * normal.inv_cdf((1 + CONFIDENCE) / 2)
        # Beyond 1 the correction has no meaning: the end is the most extreme resample.
        stretch = np.maximum(1 - skewed * reach, 1e-6)
        shares = np.array([normal.cdf(one) for one in bias + reach / stretch])
        places = np.clip(np.round(shares * RESAMPLES - 0.5).astype(int), 0, RESAMPLES - 1)
        ends.append(np.take_along_axis(means, places[None, :], axis=0)[0])
    # Rounding apart, equal trials have equal means.
    low, high = np.where(square > 0, ends, mean)
    return Band(mean, np.minimum(low, mean), np.maximum(high, mean))


def _resampled_means(samples: FloatArray) -> FloatArray:
    """Return the means of resampled trials, shape `(RESAMPLES, places)`."""
    trials = len(samples)
    rng = np.random.default_rng(_SEED)
    step = max(1, min(RESAMPLES, _AT_ONCE // trials))
    parts = []
    for first in range(0, RESAMPLES, step):
        chosen = rng.integers(0, trials, (min(step, RESAMPLES - first), trials))
        rows = np.arange(len(chosen))[:, None] * trials
        counts = np.bincount((chosen + rows).ravel(), minlength=chosen.size).reshape(chosen.shape)
        parts.append(counts.astype(float) @ samples / trials)
    return np.concatenate(parts)


def spread_band(samples: FloatArray) -> Band:
    """Return the median of means, and Gini's mean difference of the trials below and above it.

    Two positive numbers below a centre differ by less than the centre, so positive samples give a positive lower end.

    Args:
        samples: Shape `(trials, places)`.

    Source: Tossou and Dimitrakakis (2017), section 4.
    """
    middle = median_of_means(samples).value
    below, above = gini_below_and_above(samples, middle)
    return Band(middle, middle - below, middle + above)


def quantile_band(samples: FloatArray) -> Band:
    """Return the median over trials with the 10 % and the 90 % quantile: four games in five end in the band.

    Args:
        samples: Shape `(trials, places)`.
    """
    line: FloatArray = np.median(samples, axis=0)
    low, high = np.quantile(samples, QUANTILES, axis=0)
    return Band(line, low, high)


BANDS: dict[str, Callable[[FloatArray], Band]] = {
    "ci": confidence_band,
    "spread": spread_band,
    "quantiles": quantile_band,
}


def band_of(samples: FloatArray | Sequence[FloatArray], kind: str) -> Band:
    """Return the band of a kind.

    Args:
        samples: Shape `(trials, places)`; or one array `(trials,)` per place, if numbers of trials differ.
        kind: A key of `BANDS`.
    """
    make = BANDS[checks.known_name("band", kind, BANDS)]
    if isinstance(samples, np.ndarray):
        return make(np.asarray(samples, dtype=float))
    bands = [make(np.asarray(sample, dtype=float)[:, None]) for sample in samples]
    return Band(*(np.concatenate(parts) if parts else np.empty(0) for parts in zip(*bands, strict=True)))


def describe_band(kind: str, trials: str | int, fewest: int | None = None, drawn: str = "band") -> str:
    """Return a description of line and band for a note below a picture.

    Args:
        kind: A key of `BANDS`.
        trials: The number of trials, or words for it.
        fewest: The smallest number of trials of a line, for the number of groups of a median of means.
        drawn: The form in which the band is drawn.
    """
    if str(trials) == "1":
        return "line: one trial"
    if kind == "ci":
        return f"line: mean of {trials} trials; {drawn}: its 95 % confidence interval (bootstrap)"
    if kind == "quantiles":
        return f"line: median of {trials} trials; {drawn}: from their 10 % to their 90 % quantile"
    groups = f" ({min(24, fewest)} groups)" if fewest is not None else ""
    return (
        f"line: median of means of {trials} trials{groups}; {drawn}: spread of the trials (Gini's mean difference below"
        " and above)"
    )


def external_regret(cumulative_gains: FloatArray, collected: FloatArray) -> FloatArray:
    r"""Return :math:`\max_y \sum_t g_{y,t} - \sum_t g_{I_t,t}`: against the best fixed arm in hindsight.

    The fixed arm is never charged for switching, because it never switches. If a round pays a function f of the last m
    + 1 arms, the fixed arm's gains are :math:`f_t(I_{t-m}, \ldots, I_{t-1}, y)`, the payoff of arm y after the arms
    really played. Exact for every K and m.

    Args:
        cumulative_gains: Each fixed arm's gains up to a round, shape `(..., n_arms)`.
        collected: The agent's gains up to that round, minus charges, shape `(...)`.
    """
    regret: FloatArray = np.max(cumulative_gains, axis=-1) - collected
    return regret


def pseudo_regret(pulls: IntArray, means: FloatArray) -> FloatArray:
    r"""Return :math:`\sum_i n_i (\mu^* - \mu_i)`: the expected loss of the arms played, independent of the drawn gains.

    Args:
        pulls: How often each arm was played up to a round, shape `(..., n_arms)`.
        means: The arms' expected gains, shape `(..., n_arms)`.
    """
    # Summed in the order of the arms, so that a result does not depend on how many rounds are looked at together.
    regret: FloatArray = np.cumsum(pulls * (means.max(axis=-1, keepdims=True) - means), axis=-1)[..., -1]
    return regret


def rounds_until_stop(rounds: IntArray, stop: IntArray) -> IntArray:
    """Return how many of the rounds up to each one were played before an algorithm stopped.

    Args:
        rounds: Rounds, ascending, shape `(rounds,)`.
        stop: The round after which it stopped, or 0 if it did not, shape `(..., 1)`, or one number.
    """
    played: IntArray = np.where(stop > 0, np.minimum(rounds, stop), rounds)
    return played


def recommendation_error(arms: IntArray, means: FloatArray) -> FloatArray:
    """Return 1 where an arm has not the largest mean, else 0.

    Args:
        arms: The arms recommended, shape `(..., places)`.
        means: The arms' expected gains, shape `(..., n_arms)` with an axis of length 1 for places if `arms` has more.
    """
    best = means >= means.max(axis=-1, keepdims=True)
    places = np.broadcast_to(best, (*np.shape(arms), best.shape[-1]))
    missed: FloatArray = 1.0 - np.take_along_axis(places, np.asarray(arms)[..., np.newaxis], axis=-1)[..., 0]
    return missed


def dynamic_regret(means: FloatArray, arms: IntArray) -> FloatArray:
    r"""Return :math:`\sum_t (\max_i \mu_t(i) - \mu_t(I_t))` up to each round, shape `(rounds,)`.

    The comparator may play another arm in each round, so with changing means it exceeds any fixed arm; with constant
    means this is the pseudo-regret.

    Args:
        means: The arms' expected gains in each round, shape `(rounds, n_arms)`.
        arms: The arm played in each round, shape `(rounds,)`.
    """
    regret: FloatArray = np.cumsum(np.take_along_axis(shortfalls(means), np.asarray(arms)[:, np.newaxis], axis=1))
    return regret


def shortfalls(means: FloatArray) -> FloatArray:
    """Return each arm's gap to the best expected gain of its round; both are `(rounds, n_arms)`."""
    short: FloatArray = means.max(axis=1, keepdims=True) - means
    return short


def policy_regret(constant_play: FloatArray, collected: FloatArray) -> FloatArray:
    r"""Return :math:`\max_y \sum_t f_t(y, ..., y) - \sum_t f_t(I_{t-m}, ..., I_t)`: against the best constant play.

    An adversary with memory pays other plays differently, so the comparison uses its payoffs for constant play (Arora,
    Dekel and Tewari 2012). Adversaries without a payoff function pay constant play its gains in full, so the result
    equals `external_regret`. Exact for every K and m: the comparison is with K constant plays.

    Args:
        constant_play: Total payoff of playing each arm in all rounds, minus charges, shape `(..., n_arms)`.
        collected: The agent's gains, minus charges, shape `(...)`.
    """
    regret: FloatArray = np.max(constant_play, axis=-1) - collected
    return regret
