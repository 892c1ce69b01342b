"""EXP3's exact laws, written for audits and apart from the package: sequences of arms, from any scores."""

import numpy as np


def probabilities(scores: np.ndarray, rate: np.ndarray | float) -> np.ndarray:
    """Return (1 - gamma) softmax(scores) + gamma / K along the last axis; scores are eta times the estimates."""
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    rate = np.asarray(rate)[..., np.newaxis]
    return (1 - rate) * weights / weights.sum(axis=-1, keepdims=True) + rate / scores.shape[-1]


def renyi(first: np.ndarray, second: np.ndarray, order: float) -> np.ndarray:
    """Return the Renyi divergences of laws given by logs along axis 0."""
    exponent = order * first + (1 - order) * second
    top = exponent.max(axis=0)
    return (top + np.log(np.exp(exponent - top).sum(axis=0))) / (order - 1)


def law_of_arms(scores: np.ndarray, rate: float, gains: np.ndarray) -> np.ndarray:
    """Return the log probability of every sequence of arms, from these scores; a row of gains for each sequence.

    Gains may depend on past arms: in round t the sequences that agree in their first t + 1 arms have the same gain.
    """
    n_arms, (sequences, draws) = len(scores), gains.shape
    arms = np.stack(np.unravel_index(np.arange(sequences), (n_arms,) * draws), axis=1)
    now, result, which = np.tile(scores, (sequences, 1)), np.zeros(sequences), np.arange(sequences)
    for t in range(draws):
        own = probabilities(now, rate)[which, arms[:, t]]
        result += np.log(own)
        now[which, arms[:, t]] += rate / n_arms * gains[:, t] / own
    return result
