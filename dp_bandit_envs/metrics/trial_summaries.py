"""Summaries over trials: median of means, Gini's mean difference above and below it, mean with standard error."""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dp_bandit_envs import checks
from dp_bandit_envs.protocols import FloatArray


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
    """Return Gini's mean difference of the samples below a centre, and of those above it.

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


TAIL = 0.99
"""The quantile reported beside the median, where a few bad games dominate the mean."""


def median_and_tail(samples: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the median over trials and the 99 % quantile, each of shape `(...)`.

    The 99 % quantile of few trials lies between the two greatest.

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
        """Return those of samples of shape `(trials, ...)`."""
        mean = samples.mean(axis=0)
        return cls(len(samples), mean, ((samples - mean) ** 2).sum(axis=0))

    def __or__(self, other: "Moments") -> "Moments":
        """Return those of both samples together (Chan, Golub and LeVeque 1983)."""
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
