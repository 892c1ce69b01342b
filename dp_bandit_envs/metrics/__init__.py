"""Regrets, and summaries of them over trials."""

from dp_bandit_envs.metrics.regrets import external_regret, policy_regret, pseudo_regret
from dp_bandit_envs.metrics.trial_summaries import (
    BANDS,
    Band,
    MedianOfMeans,
    band_of,
    confidence_band,
    gini_below_and_above,
    gini_mean_difference,
    mean_and_standard_error,
    median_and_tail,
    median_of_means,
    quantile_band,
    spread_band,
)

__all__ = [
    "BANDS",
    "Band",
    "MedianOfMeans",
    "band_of",
    "confidence_band",
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
