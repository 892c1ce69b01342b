"""What the scores have to say: private algorithms, batches, more epsilon, other seeds, and the order of the wrapper."""

import functools
import math

import gymnasium as gym
import numpy as np
import pytest

from dp_bandit_envs import Algorithm, compare, suite
from dp_bandit_envs.agents import ThompsonSampling
from dp_bandit_envs.algorithms.standard_wrapper import standard_batch_size
from dp_bandit_envs.suite.reference import reference
from dp_bandit_envs.suite.scores import standing_of
from dp_bandit_envs.suite.sheet import best_of
from dp_bandit_envs.suite.task_table import CORE, DELTA, SIZES, TASKS, public_seed
from dp_bandit_envs.wrappers import ExactSums, LaplaceClipRescale, MiniBatchAverage

SWITCHING = ["switching/coins", "switching/memory"]


@pytest.mark.slow
def test_totals_of_two_seeds_agree():
    """The 95 % intervals of the same total from two seeds overlap."""
    names = ["DP-KLUCB", "DP-IMED", "Clipped-Lap", "Batched-Lap-HTINF"]
    axes = ["stochastic", "adversarial", "switching", "drift"]
    totals = [suite.evaluate(names, tasks=axes, epsilon=1, seed=seed, progress=False).totals for seed in (0, 1)]
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


# ---- claims that the reference answers, for all algorithms ---------------------------------------------------------


@pytest.mark.parametrize(("size", "lead"), [("quick", 0.5), ("full", 0.05)])
def test_the_reference_has_dp_imed_and_dp_klucb_lead_stochastic_arms_and_exp3_tau_lead_exp3_with_a_charge(size, lead):
    for level in (1.0, 10.0):
        best = [name for name, _ in best_of(reference(), size, level, "stochastic")]
        leading = [name for name in best if not name.startswith("Clipped-Lap")][:2]
        assert set(leading) == {"DP-IMED", "DP-KLUCB"}
    for task in SWITCHING:
        scores = {row.name: row.score for row in reference().rows(task, size, None)}
        assert scores["EXP3-tau"] > scores["EXP3"] + lead


@pytest.mark.parametrize("size", ["quick", "full"])
def test_in_the_reference_more_epsilon_lowers_no_mean_of_axes_without_a_charge(size):
    """Beyond noise: at most six standard errors, over 16 tasks and 20 algorithms. False alarm: 3e-7."""
    free = [task for task in CORE if task not in SWITCHING]
    compared = 0
    for less, more in ((0.1, 1.0), (1.0, 10.0)):
        rows = [reference().rows_by_name(size, level) for level in (less, more)]
        for name in rows[0].keys() & rows[1].keys():
            if not all(task in of_level[name] for task in free for of_level in rows):
                continue
            few, many = (
                standing_of({task: (of_level[name][task].score, of_level[name][task].error) for task in free})
                for of_level in rows
            )
            assert many.total > few.total - 6 * math.hypot(few.error, many.error), (name, less, more)
            compared += 1
    assert compared > 30


# ---- agents that do not look, and arms in another order ------------------------------------------------------------


class InTurn:
    """Plays the arms in turn, each for some rounds."""

    rounds = 1

    def begin(self, *, n_arms, horizon, rng):
        self.n_arms, self.rng, self.played = n_arms, rng, 0

    def select_arm(self):
        return self.played // self.rounds % self.n_arms

    def update(self, arm, observation):
        self.played += 1


class OneArm(InTurn):
    """Keeps arm 0."""

    rounds = 2**30


class UniformRuns(InTurn):
    """Plays a random arm for 16 rounds."""

    def select_arm(self):
        if self.played % 16 == 0:
            self.arm = int(self.rng.random() * self.n_arms)
        return self.arm


class Greedy(InTurn):
    """Plays the arm with the best average, after each was played 20 times."""

    def begin(self, *, n_arms, horizon, rng):
        super().begin(n_arms=n_arms, horizon=horizon, rng=rng)
        self.sums, self.counts = np.zeros(n_arms), np.zeros(n_arms)

    def select_arm(self):
        return int(np.argmax(np.where(self.counts < 20, 2.0, self.sums / np.maximum(self.counts, 1))))

    def update(self, arm, observation):
        self.sums += observation["gain"]
        self.counts += observation["observed"]


class Renamed(Greedy):
    """Greedy with the arms in reversed order."""

    def select_arm(self):
        return self.n_arms - 1 - super().select_arm()

    def update(self, arm, observation):
        reversed_arms = {name: np.asarray(observation[name])[::-1] for name in ("gain", "observed")}
        super().update(self.n_arms - 1 - arm, reversed_arms)


SIZES_OF_TESTS = ["tiny", pytest.param("quick", marks=pytest.mark.slow)]


@pytest.mark.thorough
@pytest.mark.parametrize("size", SIZES_OF_TESTS)
def test_who_does_not_look_scores_at_most_0(size):
    """Within six standard errors. False alarm: 1e-4 each with 10 games (t, 9)."""
    agents = [InTurn, OneArm, UniformRuns, "Uniform"]
    scores = suite.evaluate(agents, size=size, epsilon=None, seed=7, progress=False)
    for cell in scores.cells:
        if cell["task"] in CORE:
            assert cell["score"] < 6 * cell["error"] + 1e-9, (cell["agent"], cell["task"])


@pytest.mark.thorough
@pytest.mark.parametrize("size", SIZES_OF_TESTS)
def test_the_order_of_arms_does_not_count(size):
    """Scores are within two intervals."""
    axes = ["stochastic", "adversarial", "graph/ring", "drift"]
    scores = suite.evaluate([Greedy, Renamed], size=size, tasks=axes, epsilon=1, seed=7, progress=False)
    for task in {cell["task"] for cell in scores.cells}:
        first, second = (scores.cell(name, task, 1) for name in ("Greedy", "Renamed"))
        wide = sum(cell["high"] - cell["low"] for cell in (first, second))
        assert abs(first["score"] - second["score"]) < 2 * wide, task


def test_chance_does_not_depend_on_the_order_of_arms():
    for name in ("stochastic/rare", "adversarial/deterministic", "drift/budget", "linear/features", "data/trial"):
        task = TASKS[name]
        regrets = []
        for order in ("random", "given"):
            game, arguments = task.game_at("tiny")
            env = gym.make(f"DPBandit-{game}-v0", **{**arguments, "arm_order": order})
            with public_seed():
                env.reset(seed=5, options={"trial": 3})
            regrets.append(task.regret_of_chance(env))
        assert regrets[0] == pytest.approx(regrets[1], rel=1e-9), name


MANY = ["DP-KLUCB", "DP-IMED", "Batched-Lap-HTINF", "DP-EXP3-Lap", "LDP-UCB-B"]


@pytest.mark.parametrize(
    ("size", "names", "task"),
    [
        ("tiny", ["DP-KLUCB", "DP-EXP3-Lap"], "stochastic/gap-0.3"),
        pytest.param("quick", MANY, "stochastic/gap-0.2", marks=pytest.mark.slow),
        pytest.param("quick", MANY, "adversarial/constrained", marks=pytest.mark.slow),
        pytest.param("quick", MANY, "drift/five-shifts", marks=pytest.mark.slow),
    ],
)
def test_the_order_is_that_of_compare(size, names, task):
    """The finals are those of `compare` in the same games."""
    task = TASKS[task]
    horizon, games = SIZES[size]
    scores = suite.evaluate(names, size=size, tasks=task.name, epsilon=1, seed=7, progress=False)
    settings = {"epsilon": 1, "delta": DELTA, "at_guarantee": True, "trials": games, "seed": 7, "progress": False}
    compared = compare(task.game_at(size), names, **settings)
    means = {entry.algorithm: entry.values(task.measure)[:, -1].mean() for entry in compared.entries}
    assert task.horizon(size) == horizon
    for name in names:
        assert scores.cell(name, task.name, 1)["mean"] == pytest.approx(means[name], rel=1e-12)
    by_score = sorted(names, key=lambda name: -scores.cell(name, task.name, 1)["score"])
    assert by_score == sorted(names, key=means.get)
