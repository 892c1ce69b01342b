"""What the scores have to say: private algorithms, batches, more epsilon, other seeds, and the order of the wrapper."""

import functools

import pytest

from dp_bandit_envs import Algorithm, suite
from dp_bandit_envs.agents import ThompsonSampling
from dp_bandit_envs.algorithms.standard_wrapper import standard_batch_size
from dp_bandit_envs.wrappers import ExactSums, LaplaceClipRescale, MiniBatchAverage

SWITCHING = ["switching/coins", "switching/memory"]


@functools.cache
def scores_of(names, axes, levels, seed=0):
    """Score algorithms at size quick."""
    return suite.evaluate(list(names), size="quick", tasks=list(axes), epsilon=list(levels), seed=seed, progress=False)


def mean_of(scores, agent, axis, level):
    return next(total["axes"][axis] for total in scores.totals if (total["agent"], total["level"]) == (agent, level))


@pytest.mark.slow
def test_dp_imed_and_dp_klucb_lead_stochastic_arms_among_the_private():
    names = ("DP-IMED", "DP-KLUCB", "AdaP-KLUCB", "DP-SE", "LDP-UCB-B", "Batched-Lap-HTINF", "DP-TS", "DP-EXP3-Lap")
    scores = scores_of(names, ("stochastic",), (1.0, 10.0))
    for level in (1.0, 10.0):
        order = sorted(names, key=lambda name: -mean_of(scores, name, "stochastic", level))
        assert set(order[:2]) == {"DP-IMED", "DP-KLUCB"}


@pytest.mark.slow
def test_batches_lead_where_a_change_of_arm_is_charged():
    """EXP3-tau against EXP3, which pays for nearly every round."""
    scores = scores_of(("EXP3-tau", "EXP3"), ("switching",), (None,))
    for task in SWITCHING:
        batched, plain = (scores.cell(name, task, None) for name in ("EXP3-tau", "EXP3"))
        assert batched["low"] > plain["high"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["DP-KLUCB", "DP-IMED", "DP-EXP3-Lap", "Batched-Lap-HTINF", "LDP-UCB-B", "Clipped-Lap"]
)
def test_more_epsilon_lowers_no_axis_without_a_charge(name):
    """Within the intervals of both means, where a change of arm costs nothing."""
    axes = ("stochastic", "adversarial", "drift")
    scores = scores_of((name,), axes, (0.1, 1.0, 10.0))
    for less, more in ((0.1, 1.0), (1.0, 10.0)):
        for axis in axes:
            cells = [[scores.cell(name, task.name, level) for task in suite.tasks(axis)] for level in (less, more)]
            wide = sum(cell["high"] - cell["low"] for of_level in cells for cell in of_level) / 2 / len(cells[0])
            assert mean_of(scores, name, axis, more) > mean_of(scores, name, axis, less) - wide


@pytest.mark.slow
def test_totals_of_two_seeds_agree():
    """The 95 % intervals of the same total from two seeds overlap."""
    names = ("DP-KLUCB", "DP-IMED", "Clipped-Lap", "Batched-Lap-HTINF")
    axes = ("stochastic", "adversarial", "switching", "drift")
    totals = [scores_of(names, axes, (1.0,), seed).totals for seed in (0, 1)]
    for first, second in zip(*totals, strict=True):
        assert first["agent"] == second["agent"]
        assert first["low"] <= second["high"] and second["low"] <= first["high"], first["agent"]


def noise_inside(env, epsilon):
    """Return the standard wrapper in the wrong order: every gain gets noise, and averages of noisy gains are taken."""
    size = standard_batch_size(epsilon, env.get_wrapper_attr("horizon"), env.get_wrapper_attr("sensitivity"))
    return ExactSums(
        MiniBatchAverage(LaplaceClipRescale(env, epsilon=epsilon, outside="clip", bound=0), batch_size=size)
    )


@pytest.mark.slow
def test_noise_inside_the_average_scores_less_than_outside():
    wrong = Algorithm("inside", ThompsonSampling, functools.partial(noise_inside, epsilon=1.0))
    scores = suite.evaluate(
        {"inside": wrong, "outside": "Clipped-Lap:base=TS"}, tasks="stochastic", epsilon=1, progress=False
    )
    for task in suite.tasks("stochastic"):
        assert scores.cell("inside", task.name, 1)["high"] < scores.cell("outside", task.name, 1)["low"]
        assert scores.cell("inside", task.name, 1)["guarantee"]["epsilon"] == pytest.approx(1)
