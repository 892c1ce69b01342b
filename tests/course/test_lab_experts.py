"""The checks of the lab on experts: solutions pass, and each kind of wrong answer gets the words that fit."""

import math

import numpy as np
import pytest

from dp_bandit_envs.course.lab_experts import SIZES, check_noise_scale, check_probabilities
from dp_bandit_envs.labs.solutions.experts import probabilities


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (lambda k, epsilon: k / epsilon**3, "right at epsilon = 1, but"),
        (lambda k, epsilon: round(k / epsilon, 2), "right, but rounded"),
        (lambda k, epsilon: 0.9 * k / epsilon, "not private"),
        (lambda k, epsilon: 1.1 * k / epsilon, "too much noise"),
    ],
)
def test_a_wrong_scale_is_explained(wrong, said):
    verdict = check_noise_scale(wrong)
    assert not verdict.passed
    assert said in verdict.says
    assert not any(f"scale {k / epsilon:g} " in verdict.says for k, epsilon in SIZES)


def shares(weights):
    return weights / weights.sum()


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (lambda sums, rate: shares(np.exp(-rate * (sums - sums.min()))), "more is better"),
        (lambda sums, rate: shares(np.exp(sums - sums.max())), "the rate changes nothing"),
        (lambda sums, rate: np.eye(len(sums))[np.argmax(sums)], "take the leader"),
        (lambda sums, rate: sums / sums.sum(), "follow the sums themselves"),
        (lambda sums, rate: np.exp(rate * (sums - sums.max())), "add up to"),
        (lambda sums, rate: shares(np.exp(rate * sums)), "leave the range of floats"),
        (lambda sums, rate: shares(2.0 ** (rate * (sums - sums.max()))), "ratio of two probabilities"),
        (lambda sums, rate: np.exp(rate * sums).sum(), "it has ()"),
        (lambda sums, rate: [0.5, 0.5], "shape"),
        (lambda sums, rate: probabilities(sums, rate).reshape(-1, 1), "shape"),
        (lambda sums, rate: probabilities(np.maximum(sums, 0), rate), "ratio of two probabilities"),
        (lambda sums, rate: (1 - rate) * probabilities(sums, rate) + rate / len(sums), "ratio of two probabilities"),
        (lambda sums, rate: np.round(probabilities(sums, rate), 3), "ratio of two probabilities"),
    ],
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_wrong_step_is_explained(wrong, said):
    verdict = check_probabilities(wrong)
    assert not verdict.passed
    assert said in verdict.says


@pytest.mark.parametrize(
    "step",
    [
        lambda sums, rate: np.exp(rate * sums - np.logaddexp.reduce(rate * sums)),
        lambda sums, rate: [1 / sum(math.exp(min(700, rate * (other - one))) for other in sums) for one in sums],
        lambda sums, rate: tuple(probabilities(np.array(sums), rate)),
    ],
)
def test_other_right_steps_pass(step):
    assert check_probabilities(step)
