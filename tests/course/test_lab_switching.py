"""Lab 3: the batch size at which a bound on regret is least."""

import importlib
import math
import types

import numpy as np
import pytest

from dp_bandit_envs import make_algorithm
from dp_bandit_envs.course.lab_switching import check_best_batch
from dp_bandit_envs.labs.solutions.switching_costs import best_batch


def load(n_arms):
    return (math.e - 1) * n_arms * math.log(n_arms)


def bound(size, horizon, n_arms):
    return 2 * math.sqrt(size * horizon * load(n_arms)) + horizon / size


def by_search(horizon, n_arms):
    sizes = np.geomspace(1e-2, horizon, 20_000)
    return sizes[np.argmin([bound(size, horizon, n_arms) for size in sizes])]


def on_a_grid(step, start):
    """Return the size with the least bound among `start`, `start + step`, ..."""

    def answer(horizon, n_arms):
        sizes = np.arange(start, horizon, step)
        return sizes[np.argmin(2 * np.sqrt(sizes * horizon * load(n_arms)) + horizon / sizes)]

    return answer


@pytest.mark.thorough
def test_the_solution_passes_and_so_does_a_search():
    assert check_best_batch(best_batch)
    assert check_best_batch(by_search)
    assert check_best_batch(lambda horizon, n_arms: (horizon / (1.718 * n_arms * math.log(n_arms))) ** (1 / 3))
    for start in (0.1, 0.05, 1.0):
        assert check_best_batch(on_a_grid(0.1, start)), start
    for share in (-1.9e-3, 1.9e-3):
        assert check_best_batch(lambda horizon, n_arms, share=share: best_batch(horizon, n_arms) * (1 + share))


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (lambda horizon, n_arms: round(best_batch(horizon, n_arms)), "That is rounded"),
        (on_a_grid(1, 1), "That is rounded"),
        (lambda horizon, n_arms: math.floor(best_batch(horizon, n_arms)), "That is rounded"),
        (lambda horizon, n_arms: best_batch(10_000, 4), "right for T = 10,000 and K = 4, but not for T = 1,000"),
        (lambda horizon, n_arms: -1.0, "greater than 0"),
        (lambda horizon, n_arms: 5.0, "the bound is 3,380 with your batches of 5 rounds"),
    ],
)
def test_other_wrong_answers_get_the_words_that_fit(answer, said):
    verdict = check_best_batch(answer)
    assert not verdict and said in verdict.says


@pytest.mark.slow
def test_what_the_lab_and_its_teacher_say_of_the_games():
    lab = importlib.import_module("dp_bandit_envs.labs.switching_costs")
    _, found = lab.app.run(defs={"guess": types.SimpleNamespace(value="a guess")})

    def regrets(gap, costs, *names):
        games = found["play_all"](list(names), gap, costs)
        return [game.policy_regret[:, -1].mean() for game in games.values()]

    private = [f"Batched-Lap-HTINF:epsilon={epsilon}" for epsilon in (0.1, 1)]
    with_costs = regrets(0.1, True, *private, "HTINF", "EXP3", "Uniform", "Tsallis-INF")
    assert with_costs == pytest.approx([987, 1377, 1174, 2064, 4675, 778], rel=0.12)
    assert with_costs[0] < with_costs[2] < with_costs[1] < with_costs[3]
    assert regrets(0.1, False, "EXP3", *reversed(private), "Uniform") == pytest.approx([324, 382, 635, 740], rel=0.1)
    assert regrets(0.1, True, make_algorithm("EXP3-tau", batch_size=10)) == pytest.approx([967], rel=0.05)
    half = "Batched-Lap-HTINF:epsilon=0.5"
    assert regrets(0.3, True, half, private[1], private[0], "EXP3") == pytest.approx([1290, 2060, 1660, 1598], rel=0.2)
    assert regrets(0.3, False, private[1]) == pytest.approx([360], rel=0.1)
    by_size = [make_algorithm("EXP3-tau", batch_size=size) for size in (1, 2, 5, 500)]
    assert [regrets(0.3, True, each)[0] for each in by_size] == pytest.approx([1590, 1194, 1215, 2130], rel=0.03)
