"""What users of Gymnasium do first: its checkers, specs, vector environments, films, time limits, and RLlib's loop."""

import functools
import warnings

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from dp_bandit_envs import Exp3, LaplaceClipRescale, play, register_private
from dp_bandit_envs.adapters import from_gymnasium
from dp_bandit_envs.wrappers import HybridSums, vector
from tests.tools.boundary_games import PLANTED, find_planted
from tests.tools.doors import one_each
from tests.tools.refusals import refused

ID, PRIVATE_ID = "DPBandit-Stochastic-v0", "GymnasiumsPeople-v0"
MEANS = [0.05, 0.95, 0.05]


@pytest.fixture(autouse=True)
def private_id():
    register_private(PRIVATE_ID, game=ID, wrappers=["LaplaceClipRescale"], epsilon=20.0, env_kwargs={"means": MEANS})
    yield PRIVATE_ID
    gym.registry.pop(PRIVATE_ID)


def made(id_, horizon=40, **more):
    return gym.make(id_, horizon=horizon, **({"means": MEANS} if id_ == ID else {}), **more)


def private(**more):
    return LaplaceClipRescale(made(ID, **more), epsilon=20.0)


# ---- checkers and specs


@pytest.mark.thorough
def test_gymnasiums_checker_takes_a_private_id():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        check_env(made(PRIVATE_ID, render_mode="rgb_array"))
    # It asks for an environment without wrappers, and there is none without the boundary.
    assert {"is different from the unwrapped version" in str(one.message) for one in caught} == {True}


@pytest.mark.parametrize(
    ("make", "env"),
    one_each(
        [gym.make, functools.partial(gym.make_vec, num_envs=2)],
        [
            private,
            lambda: gym.wrappers.TimeLimit(HybridSums(private(), epsilon=1.0), 5),
            lambda: LaplaceClipRescale(gym.make("DPBandit-Replay-v0", gains=np.ones((4, 2))), epsilon=1.0),
            lambda: vector.LaplaceClipRescale(gym.make_vec(ID, num_envs=2), epsilon=1.0),
        ],
    ),
    ids=["one", "above", "needs gains", "vector", "make_vec"],
)
def test_the_spec_of_a_private_environment_names_register_private(make, env):
    with refused(ValueError, "spec", "dp_bandit_envs.register_private"):
        make(env().spec)


# ---- time limits


@pytest.mark.parametrize(
    "cut",
    [
        lambda: made(ID, max_episode_steps=7),
        lambda: gym.wrappers.TimeLimit(private(), 7),
        lambda: LaplaceClipRescale(gym.wrappers.TimeLimit(made(ID), 7), epsilon=1.0),
    ],
    ids=["id", "above", "below"],
)
def test_play_says_that_a_game_was_cut(cut):
    with pytest.warns(UserWarning, match=r"after 7 of its 40 rounds.*TimeLimit.*horizon"):
        assert len(play(cut(), Exp3()).arms) == 7


# ---- another package's bandit


class TwoCoins(gym.Env):
    """A bandit as other packages write it: an episode is one round."""

    action_space, observation_space = gym.spaces.Discrete(2), gym.spaces.Discrete(1)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return 0, {}

    def step(self, action):
        return 0, float(self.np_random.random() < (0.2, 0.8)[action]), True, False, {}


def test_another_packages_environment_names_the_adapter():
    for door in (lambda env: play(env, Exp3()), lambda env: LaplaceClipRescale(env, epsilon=1.0)):
        with refused(TypeError, "TwoCoins", "dp_bandit_envs.adapters.from_gymnasium", "horizon"):
            door(TwoCoins())
    assert len(play(from_gymnasium(TwoCoins(), horizon=9, low=0, high=1), Exp3()).arms) == 9


# ---- many games, films, RLlib

# TorchRL has other processes spawned, which do not know the ids of this one.
SAME_IDS = {"sync": {}, "async": {"context": "fork"}, "vector_entry_point": {}}


@pytest.mark.thorough
@pytest.mark.parametrize("id_", [ID, PRIVATE_ID])
@pytest.mark.parametrize("mode", ["sync", "async", "vector_entry_point"])
def test_make_vec_plays_each_game_as_make_does(id_, mode):
    if (id_, mode) == (PRIVATE_ID, "vector_entry_point"):
        with pytest.raises(gym.error.Error):  # it says that there is none
            gym.make_vec(id_, num_envs=2, vectorization_mode=mode)
        return
    envs = gym.make_vec(id_, num_envs=2, vectorization_mode=mode, vector_kwargs=SAME_IDS[mode], horizon=3, means=MEANS)
    single = gym.make(id_, horizon=3, means=MEANS)
    assert envs.single_action_space == single.action_space
    assert envs.single_observation_space == single.observation_space
    steps = [envs.reset(seed=[4, 5])[0], *(envs.step(np.array([0, 1])) for _ in range(3))]
    envs.close()
    single.reset(seed=5)
    alone = [single.step(1) for _ in range(3)]
    np.testing.assert_array_equal([step[1][1] for step in steps[1:]], [step[1] for step in alone])
    np.testing.assert_array_equal([step[0]["gain"][1] for step in steps[1:]], [step[0]["gain"] for step in alone])
    assert [step[2].tolist() for step in steps[1:]] == [[False] * 2, [False] * 2, [True] * 2]


@pytest.mark.slow
def test_record_video_films_an_id(tmp_path):
    pytest.importorskip("moviepy", reason="not installed; pip install moviepy")
    env = gym.wrappers.RecordVideo(
        made(PRIVATE_ID, 4, render_mode="rgb_array"), str(tmp_path / "film"), disable_logger=True
    )
    env.reset(seed=4)
    ended = False
    while not ended:
        *_, ended, _, _ = env.step(1)
    env.close()
    (film,) = tmp_path.glob("film/*.mp4")
    assert film.stat().st_size > 1000


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("mode", "make"),
    one_each(["sync", "async"], [private, functools.partial(made, ID), functools.partial(made, PRIVATE_ID)]),
)
def test_rllibs_loop(mode, make):
    """As `SingleAgentEnvRunner` calls it: an id of its own, infos in a list, a lost step after each episode."""
    gym.register("rllib-single-agent-env-v0", entry_point=lambda: make())
    try:
        envs = gym.make_vec(
            "rllib-single-agent-env-v0", num_envs=2, vectorization_mode=mode, vector_kwargs=SAME_IDS[mode]
        )
        envs = gym.wrappers.vector.DictInfoToList(envs)
        assert envs.metadata["autoreset_mode"] is gym.vector.AutoresetMode.NEXT_STEP
        observations, infos = envs.reset(seed=7)
        fresh, lengths, returns = [False, False], [[0], [0]], np.zeros(2)
        space = envs.single_observation_space
        for _ in range(2 * 41 + 4):
            actions = envs.action_space.sample()
            observations, rewards, terminated, truncated, infos = envs.step(actions)
            for game in range(2):
                assert space.contains({key: value[game] for key, value in observations.items()})
                if fresh[game]:  # this step was a reset
                    assert rewards[game] == 0 and not observations["observed"][game].any()
                    lengths[game].append(0)
                    fresh[game] = False
                else:
                    lengths[game][-1] += 1
                    returns[game] += rewards[game]
                    assert infos[game]["round"] == lengths[game][-1]
                    fresh[game] = bool(terminated[game] or truncated[game])
        assert lengths == [[40, 40, 4]] * 2 and (returns > 0).all()
        envs.close()
    finally:
        gym.registry.pop("rllib-single-agent-env-v0")


# ---- Stable-Baselines3 by id


@pytest.mark.thorough
@pytest.mark.slow_cases("A2C-GymnasiumsPeople-v0", "DQN-DPBandit-Stochastic-v0")
@pytest.mark.parametrize(("name", "id_"), [("PPO", PRIVATE_ID), ("DQN", ID), ("A2C", PRIVATE_ID)])
def test_models_learn_on_an_id(name, id_):
    """By chance a third of arms are the best one; a false alarm needs a model that learnt nothing."""
    sb3 = pytest.importorskip("stable_baselines3", reason="not installed; pip install 'dp-bandit-envs[sb3]'")
    options = {
        "PPO": {"n_steps": 80, "batch_size": 80, "learning_rate": 0.01, "gamma": 0.0},
        "A2C": {"n_steps": 20, "learning_rate": 0.01, "gamma": 0.0},
        "DQN": {"learning_starts": 100, "train_freq": 4, "learning_rate": 0.005, "gamma": 0.0},
    }
    model = getattr(sb3, name)("MultiInputPolicy", made(id_), seed=0, device="cpu", **options[name])
    model.learn(800)
    env = made(id_)
    observation, _ = env.reset(seed=1)
    arms = []
    for _ in range(40):
        arm, _ = model.predict(observation, deterministic=True)
        arms.append(int(arm))
        observation, *_ = env.step(arm)
    assert np.mean(np.array(arms) == 1) > 0.7


# ---- TorchRL


@pytest.mark.thorough
def test_a_private_game_is_played_by_its_id_in_torchrl_and_shows_released_values_only():
    """Its environments are not imported above, as every worker that collects tests would take seconds for it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its libraries warn of each other
        envs = pytest.importorskip("torchrl.envs", reason="not installed; pip install -c constraints.txt torchrl")
    game = {"game": "DPBandit-Replay-v0", "env_kwargs": {"gains": np.full((6, 3), PLANTED)}}
    id_ = register_private("PrivateTable-v0", wrappers=["LaplaceClipRescale"], epsilon=1.0, **game)
    env = envs.GymEnv(id_)
    env.set_seed(3)
    played = env.rollout(20)
    assert played.batch_size == (6,)
    assert not list(find_planted(played["next", "gain"].numpy()))
    assert not np.isclose(played["next", "reward"].numpy(), PLANTED, rtol=1e-6).any()
    assert played["next", "observed"].sum() > 0
