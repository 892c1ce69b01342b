"""A line through the trials and a band around it, in three kinds: none of them leaves the range of the samples."""

from collections.abc import Callable, Sequence
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from dp_bandit_envs import checks
from dp_bandit_envs.metrics.trial_summaries import gini_below_and_above, median_of_means
from dp_bandit_envs.protocols import FloatArray

RESAMPLES = 2000
CONFIDENCE = 0.95
QUANTILES = (0.1, 0.9)
_SEED = 2016
_AT_ONCE = 2_000_000
"""The largest number of weights in memory; more resamples are made in several steps."""


class Band(NamedTuple):
    """A line and the ends of its band, each of shape `(places,)`."""

    line: FloatArray
    low: FloatArray
    high: FloatArray


def confidence_band(samples: FloatArray) -> Band:
    r"""Return the mean over trials and its 95 % confidence interval by the bootstrap BCa.

    The ends are means of resampled trials, so positive samples give a positive lower end, unlike the mean less 1.96
    standard errors. All places use the same resamples, drawn with a fixed seed. With one trial, or where all trials
    are equal, the interval is that number. If a rare value decides the mean and no trial has it, no interval knows.

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
    """Return the median of means, and Gini's mean difference of the trials below it and of those above it.

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
        samples: Shape `(trials, places)`; or one array `(trials,)` for each place, if numbers of trials differ.
        kind: A key of `BANDS`.
    """
    make = BANDS[checks.known_name("band", kind, BANDS)]
    if isinstance(samples, np.ndarray):
        return make(np.asarray(samples, dtype=float))
    each = [make(np.asarray(sample, dtype=float)[:, None]) for sample in samples]
    return Band(*(np.concatenate(parts) if parts else np.empty(0) for parts in zip(*each, strict=True)))


def band_in_words(kind: str, trials: str | int, fewest: int | None = None) -> str:
    """Return what line and band are, in words for a note below a picture.

    Args:
        kind: A key of `BANDS`.
        trials: The number of trials, or words for it.
        fewest: The smallest number of trials of a line, for the number of groups of a median of means.
    """
    if kind == "ci":
        return f"line: mean of {trials} trials; band: its 95 % confidence interval (bootstrap)"
    if kind == "quantiles":
        return f"line: median of {trials} trials; band: from their 10 % to their 90 % quantile"
    groups = f" ({min(24, fewest)} groups)" if fewest is not None else ""
    return (
        f"line: median of means of {trials} trials{groups}; band: spread of the trials (Gini's mean difference below"
        " and above)"
    )
