"""Every registered id keeps Gymnasium's contract and this project's own."""

import copy
import functools
import inspect
import pickle
import subprocess
import sys

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from dp_bandit_envs.envs import game_classes
from dp_bandit_envs.envs.registration import GAMES, IDS, register
from dp_bandit_envs.wrappers import ProjectToSet
from tests.tools.doors import one_each
from tests.tools.plays import ARM_IDS, POINT_IDS, play
from tests.tools.refusals import refused

HEADINGS = (
    "Description",
    "Action Space",
    "Observation Space",
    "Rewards",
    "Starting State",
    "Episode End",
    "Arguments",
    "Version History",
    "References",
)
COMMON = ("observe_charge", "render_mode", "block_length")
GRAPH, EXPERTS = "DPBandit-Graph-v0", "DPBandit-Experts-v0"
LINEAR = "DPBandit-Linear-v0"
ARMS = {GRAPH: 34, EXPERTS: 10, LINEAR: 10}
HORIZONS = {GRAPH: 10_000, **dict.fromkeys([EXPERTS, *POINT_IDS], 2**16)}
HORIZONS |= {"DPBandit-Trial-v0": 2139, "DPBandit-Replay-v0": 1000}
every_id = pytest.mark.parametrize("id_", IDS)


@pytest.mark.thorough
@every_id
def test_gymnasiums_checker_has_no_complaint(id_):
    check_env(gym.make(id_).unwrapped)


@every_id
def test_stable_baselines_checker_has_no_complaint(id_):
    checker = pytest.importorskip("stable_baselines3.common.env_checker")
    # Its advice on actions, float32 in [-1, 1]^d, is not for points of a set, so `ProjectToSet` follows it.
    env = gym.make(id_).unwrapped
    checker.check_env(ProjectToSet(env) if id_ in POINT_IDS else env)


@pytest.mark.thorough
def test_make_with_the_module_in_the_id_needs_no_import():
    program = (
        "import sys, gymnasium as gym\n"
        "assert 'dp_bandit_envs' not in sys.modules\n"
        f"for id_ in {list(IDS)}:\n"
        "    env = gym.make(f'dp_bandit_envs:{id_}', horizon=5)\n"
        "    env.reset(seed=0)\n"
        "    assert env.step(env.action_space.sample())[4] == {'round': 1}, id_\n"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-W", "ignore:without gains", "-c", program],
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@every_id
def test_docstring_has_a_sentence_every_heading_of_gymnasium_and_every_argument(id_):
    env_class = type(gym.make(id_).unwrapped)
    sections = {}
    for part in env_class.__doc__.split("## ")[1:]:
        heading, _, text = part.partition("\n")
        assert heading not in sections
        sections[heading] = text.strip()
    assert set(sections) == set(HEADINGS)
    assert all(sections.values())
    first = inspect.getdoc(env_class).split("\n")[0]
    assert 20 < len(first) < 120 and first.endswith(".")
    # The game on a graph takes its arguments itself.
    names = set(inspect.signature(env_class.adversary_class or env_class).parameters)
    assert [name for name in names - {*COMMON, "options", "unknown"} if f"`{name}" not in sections["Arguments"]] == []


@every_id
def test_classes_have_the_names_of_their_game_and_show_the_adversarys_arguments_with_their_defaults(id_):
    shown = inspect.signature(type(gym.make(id_).unwrapped)).parameters
    for name, one in inspect.signature(GAMES[id_].adversary_class or GAMES[id_].env_class).parameters.items():
        assert shown[name].default == one.default, name
    # Points pay no charge that could be observed.
    assert set(COMMON) - ({"observe_charge"} if id_ in POINT_IDS else set()) <= set(shown)
    of_many = inspect.signature(type(gym.make_vec(id_, num_envs=2).unwrapped)).parameters
    assert next(iter(of_many)) == "num_envs"
    assert GAMES[id_].adversary is None or set(of_many) == {"num_envs", *shown} - {"block_length"}
    assert gym.make(id_).unwrapped.horizon == HORIZONS.get(id_, 2**18)
    name = GAMES[id_].name
    for env, kind in ((gym.make(id_), "Env"), (gym.make_vec(id_, num_envs=2), "VectorEnv")):
        class_ = type(env.unwrapped)
        assert (class_.__name__, class_.__qualname__) == (name + kind,) * 2
        assert getattr(sys.modules[class_.__module__], name + kind) is class_
        assert pickle.loads(pickle.dumps(class_)) is class_


def test_signature_of_the_stochastic_game_by_hand():
    assert str(inspect.signature(game_classes.StochasticEnv)) == (
        "(*, n_arms=None, horizon=262144, means=None, arm_order=None, observe_charge=True, render_mode=None,"
        " block_length=4096)"
    )
    assert str(inspect.signature(game_classes.TrialVectorEnv)) == (
        "(num_envs=1, *, horizon=2139, outcome='event_free', ledger=None, arm_order=None, observe_charge=True,"
        " render_mode=None)"
    )
    with refused(AttributeError, "'GraphicEnv'"):
        game_classes.GraphicEnv  # noqa: B018 (looking it up is the test)
    assert {"SwitchingEnv", "SwitchingVectorEnv"} <= set(dir(game_classes))
    before = dict(gym.registry)
    register()
    assert gym.registry == before
    # Spaces are those of the default number of arms.
    for id_ in ARM_IDS:
        env = gym.make(id_)
        n_arms = ARMS.get(id_, 4)
        assert env.action_space == gym.spaces.Discrete(n_arms)
        assert env.observation_space == gym.spaces.Dict(
            gain=gym.spaces.Box(0.0, 1.0, (n_arms,), np.float64), observed=gym.spaces.MultiBinary(n_arms)
        )


@pytest.mark.parametrize(("id_", "feedback"), one_each(POINT_IDS, ["full", "bandit"]))
def test_a_step_reveals_the_gain_vector_or_the_payoff_of_the_point_alone(id_, feedback):
    env = gym.make(id_, horizon=30, dimension=4, feedback=feedback).unwrapped
    observation, info = env.reset(seed=1)
    size = 4 if feedback == "full" else 1
    low = 0.0 if "Simplex" in id_ else -1.0
    assert env.observation_space == gym.spaces.Dict(
        gain=gym.spaces.Box(low, 1.0, (size,), np.float64), observed=gym.spaces.MultiBinary(size)
    )
    assert not observation["gain"].any() and not observation["observed"].any() and info == {"round": 0}
    tables = []
    env.on_block = lambda arms, gains, table: tables.append(table.copy())
    points = [play(env, t) for t in range(30)]
    steps = [env.step(each) for each in points]
    env.report_block()
    collected = 0.0
    for t, (gains, each, step) in enumerate(zip(np.concatenate(tables), points, steps, strict=True), 1):
        observation, reward, terminated, truncated, info = step
        assert env.observation_space.contains(observation)
        assert reward == pytest.approx(float(np.dot(gains, each)), abs=1e-12) and type(reward) is float
        np.testing.assert_array_equal(observation["gain"], gains if feedback == "full" else [reward])
        assert observation["observed"].tolist() == [1] * size
        assert (terminated, truncated, info) == (t == 30, False, {"round": t})
        collected += reward
    assert env.collected == collected
    expected = env.decision_set.support(np.concatenate(tables).sum(axis=0)) - collected
    assert env.external_regret() == env.policy_regret() == pytest.approx(expected, abs=1e-9)


def test_a_step_reveals_the_reward_of_the_arm_played_and_other_gains_to_experts_only():
    for id_ in ARM_IDS:
        four = {GRAPH: {"graph": "empty", "n_arms": 4}, EXPERTS: {"n_arms": 4}, LINEAR: {"n_arms": 4}}
        env = gym.make(id_, horizon=30, **four.get(id_, {})).unwrapped
        observation, info = env.reset(seed=1)
        assert not observation["gain"].any()
        assert not observation["observed"].any()
        assert info == {"round": 0}
        before = env.cumulative_gains
        for t in range(1, 31):
            arm = t // 4 % 4
            observation, reward, terminated, truncated, info = env.step(arm)
            assert env.observation_space.contains(observation)
            revealed = np.ones(4) if id_ == EXPERTS else np.eye(4)[arm]
            gains = env.cumulative_gains - before
            before = env.cumulative_gains
            expected = np.where(np.arange(4) == arm, reward, gains)
            np.testing.assert_array_equal(observation["gain"], expected * revealed)
            np.testing.assert_array_equal(observation["observed"], revealed)
            assert info == {"round": t}
            assert type(info["round"]) is int
            assert type(reward) is float
            assert type(terminated) is bool
            assert terminated == (t == 30)
            assert truncated is False


@every_id
def test_every_step_returns_fresh_arrays(id_):
    env = gym.make(id_, horizon=9).unwrapped
    seen = [env.reset(seed=0)] + [env.step(play(env, 0))[::4] for _ in range(9)]
    copies = [({key: value.copy() for key, value in observation.items()}, dict(info)) for observation, info in seen]
    for observation, info in seen[:-1]:
        observation["gain"][:] = 7.0
        observation["observed"][:] = 7
        info["round"] = -7
    np.testing.assert_equal(seen[-1], copies[-1])
    assert len({id(part) for observation, info in seen for part in (*observation.values(), info)}) == 30
    again = gym.make(id_, horizon=9).unwrapped
    np.testing.assert_equal([again.reset(seed=0)] + [again.step(play(again, 0))[::4] for _ in range(9)], copies)


@pytest.mark.thorough
@every_id
def test_equal_seeds_give_equal_games_and_other_seeds_others(id_):
    def game(seed):
        env = gym.make(id_, horizon=400).unwrapped
        env.reset(seed=seed)
        return [env.step(play(env, t // 20 % 4))[1] for t in range(400)]

    assert game(3) == game(3)
    if game(3) == game(4):
        # Only an adversary that draws nothing at all may play the same game for every seed.
        adversary = gym.make(id_, horizon=400).unwrapped.adversary
        adversary.begin(NoStream())
        assert adversary.next_gains(400).shape == (400, adversary.n_arms)


class NoStream:
    """A stream that is not there."""

    def __getattr__(self, name):
        raise AssertionError(f"{name} was asked for")


@pytest.mark.thorough
@pytest.mark.parametrize("made", [gym.make, functools.partial(gym.make_vec, num_envs=2)], ids=["scalar", "vector"])
@pytest.mark.parametrize(("id_", "blocks"), one_each(IDS, [(7, 300), (1, 300), (4096, 4200)]))
def test_copies_in_the_middle_of_a_game_are_games_of_their_own(id_, blocks, made):
    """The same plays bring all of them what they bring an environment without copies, whichever plays first."""
    block, rounds = blocks
    mode = "ansi" if block == 7 else None
    plays = [play(made(id_, horizon=2), number) for number in range(4)]

    def begun():
        env = made(id_, horizon=rounds, render_mode=mode)
        env.unwrapped._block_length = block
        env.reset(seed=3)
        for t in range(230):
            env.step(plays[t // 20 % 4])
        return env

    def the_rest(env):
        observations, rewards, *_ = zip(*(env.step(plays[t // 20 % 4]) for t in range(230, rounds)), strict=True)
        gains = np.array([observation["gain"] for observation in observations])
        return gains, np.array(rewards), env.unwrapped.external_regret(), mode and env.render()

    expected, env = the_rest(begun()), begun()
    for one in (copy.deepcopy(env), pickle.loads(pickle.dumps(env)), env):
        np.testing.assert_equal(the_rest(one), expected)
