"""The table of the suite: its digest, its games, its anchors by hand, and one game in a loop of one's own."""

import gymnasium as gym
import numpy as np
import pytest

from dp_bandit_envs import make_algorithm, play, simulate, suite
from dp_bandit_envs.errors import StepOutsideGameError, UnknownNameError, WrongTypeError
from dp_bandit_envs.suite.reference import REFERENCE_SEED
from dp_bandit_envs.suite.scores import score_of
from dp_bandit_envs.suite.task_table import CORE, DELTA, SIZES, TASKS, TaskGame, digest_of_table, public_seed
from tests.tools.refusals import refused

DIGEST = "85f33c6b4450aa817b5c46d3e1c8346fc0c3ddf12aeb746a324d53f5f13ec9f4"
every_task = pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)


def test_the_table_has_the_digest_axes_levels_and_sizes_of_its_version():
    """If this fails, either undo the change of the table, or make the table version 2 with a reference of its own."""
    assert digest_of_table() == DIGEST
    assert len(TASKS) == 20 and len(CORE) == 18
    assert suite.AXES == ("stochastic", "adversarial", "switching", "graph", "experts", "linear", "drift", "data")
    assert suite.LEVELS == (None, 0.1, 1.0, 10.0) and DELTA == 1e-6
    assert {name: tuple(size) for name, size in SIZES.items()} == {
        "tiny": (1024, 10), "quick": (8192, 40), "full": (65536, 200)
    }  # fmt: skip


def test_tasks_are_found_by_axis_and_by_name():
    assert [task.name for task in suite.tasks("graph")] == ["graph/ring", "graph/cliques", "graph/redrawn"]
    assert [task.name for task in suite.tasks(["data", "stochastic/rare"])] == ["stochastic/rare", "data/trial"]
    assert suite.tasks() == list(TASKS.values())
    with refused(UnknownNameError, "axis", "'graphs'", "graph"):
        suite.tasks("graphs")
    with refused(UnknownNameError, "size", "'small'", "tiny"):
        suite.tasks("graph")[0].make(size="small")


@every_task
def test_every_game_is_made_at_every_size_with_arms_in_random_order(task):
    for name, size in SIZES.items():
        env = task.environment(name)
        assert env.unwrapped.horizon == min(size.horizon, task.longest or size.horizon) == task.horizon(name)
    orders = set()
    for trial in range(4):
        env.reset(seed=1, options={"trial": trial})
        adversary = env.unwrapped.adversary
        orders.add(None if adversary.order is None else tuple(adversary.order))
    assert orders == {None} if not task.has_arms else len(orders) > 1


@every_task
def test_the_best_plays_its_task_without_privacy(task):
    algorithm = make_algorithm(task.best)
    assert algorithm.refusal(task.environment("tiny")) is None
    assert algorithm.guarantee_in(task.environment("tiny")).model == "none"


BY_HAND = {
    "stochastic/gap-0.3": 0.3 * 3 / 4,
    "stochastic/gap-0.2": 0.2 * 9 / 10,
    "stochastic/many-arms": 0.4 * 29 / 30,
    "stochastic/rare": 0.1 - (0.1 + 0.05 + 0.05 + 0.02 + 0.02) / 5,
    "adversarial/constrained": 0.2 * 3 / 4,
    "graph/ring": 0.2 * 19 / 20,
    "experts/coins": 0.1 * 19 / 20,
    "drift/five-shifts": 0.4 * 3 / 4,
}
"""The mean gap over arms, which chance loses in every round of every game."""


@pytest.mark.parametrize(("name", "gap"), BY_HAND.items())
def test_chance_is_exact_where_means_are_known(name, gap):
    task = TASKS[name]
    env = task.environment("tiny")
    for trial in range(3):
        env.reset(seed=5, options={"trial": trial})
        assert task.regret_of_chance(env) == pytest.approx(1024 * gap, rel=1e-12)


@pytest.mark.parametrize("name", ["adversarial/deterministic", "switching/coins", "experts/leaders", "data/trial"])
def test_chance_is_the_mean_over_arms_of_playing_one_throughout(name):
    task = TASKS[name]
    env = task.environment("tiny")
    env.reset(seed=REFERENCE_SEED, options={"trial": 2})
    regrets = []
    for arm in range(env.unwrapped.n_arms):
        game = task.make(trial=2, size="tiny")
        game.reset()
        while not game.step(arm)[2]:
            pass
        regrets.append(game.regret())
    assert np.mean(regrets) == pytest.approx(task.regret_of_chance(env), rel=1e-12)


@pytest.mark.parametrize("name", ["linear/ball", "linear/ball-full"])
def test_chance_stays_at_the_origin_of_a_ball(name):
    task = TASKS[name]
    env = task.environment("tiny")
    env.reset(seed=REFERENCE_SEED, options={"trial": 2})
    game = task.make(trial=2, size="tiny")
    game.reset()
    while not game.step(np.zeros(5))[2]:
        pass
    assert game.regret() == pytest.approx(task.regret_of_chance(env), rel=1e-12)


@every_task
def test_chance_scores_0_and_the_best_1_with_room_between_them(task):
    anchors = task.anchors("tiny", seed=3)
    assert anchors.chance.shape == anchors.best.shape == (SIZES["tiny"].games,)
    assert score_of(anchors.chance, *anchors) == 0 and score_of(anchors.best, *anchors) == 1
    assert not anchors.best.flags.writeable


MEASURES = ["stochastic/rare", "adversarial/deterministic", "adversarial/constrained", "switching/memory", "data/trial"]


@pytest.mark.parametrize("name", [*MEASURES, "graph/redrawn", "linear/features"])
def test_a_loop_of_ones_own_is_scored_as_play_and_simulate_are(name):
    """The same arms, played again by hand in the game of `task.make`, have the regret of `play`."""
    task = TASKS[name]
    with public_seed():
        game = play(task.game_at("tiny"), "Uniform", seed=3, trial=4)
        outcome = simulate(task.game_at("tiny"), ["Uniform"], trials=5, seed=3, progress=False)["Uniform"]
    env = task.make(trial=4, seed=3, size="tiny")
    for _ in range(2):  # reset begins the same game again
        env.reset(seed=99)
        for arm in game.arms[:-1]:
            assert not env.step(int(arm))[2]
        with refused(StepOutsideGameError, name, "reset"):
            task.score(env)
        assert env.step(int(game.arms[-1]))[2]
        regret = getattr(game, task.measure)[-1]
        assert env.regret() == pytest.approx(regret, rel=1e-12) == pytest.approx(outcome.last(task.measure)[4])
        anchors = task.anchors("tiny", 3)
        assert task.score(env) == pytest.approx(score_of([regret], *anchors))


def test_the_standard_wrapper_is_around_the_game_and_its_steps_are_batches():
    task = TASKS["stochastic/gap-0.2"]
    env = task.make(epsilon=0.1, trial=1)
    assert env.get_wrapper_attr("guarantee").epsilon == 0.1
    env.reset()
    steps, ended = 0, False
    while not ended:
        observation, _, ended, *_ = env.step(steps % 10)
        steps += 1
        assert observation["gain"].min() >= 0 and observation["gain"].max() <= 1
    assert steps == -(-8192 // 40)
    assert -1 < task.score(env) < 1
    sums = task.make(epsilon=1, sums=True, size="tiny")
    assert "sum" in sums.reset()[0]
    own = task.make(wrapper=lambda env: gym.wrappers.RecordEpisodeStatistics(env), size="tiny")
    assert isinstance(own, TaskGame) and not own.has_wrapper_attr("guarantee")


def test_a_score_is_of_the_tasks_own_environments():
    task = TASKS["stochastic/gap-0.2"]
    with refused(WrongTypeError, "env", "stochastic/gap-0.2"):
        task.score(TASKS["stochastic/rare"].make(size="tiny"))
    with refused(WrongTypeError, "env", "stochastic/gap-0.2"):
        task.score(gym.make("DPBandit-Stochastic-v0"))
