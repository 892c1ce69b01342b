"""Wrong calls get an error that says what went wrong and what the rule is, and the game goes on unharmed."""

import pickle

import gymnasium as gym
import numpy as np
import pytest

from dp_bandit_envs.adversaries import Stochastic
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.envs.registration import IDS
from dp_bandit_envs.errors import StepOutsideGameError, UnknownArgumentError
from tests.tools.refusals import refused

every_id = pytest.mark.parametrize("id_", IDS)
WITH_ARMS = [id_ for id_ in IDS if "Trial" not in id_ and "Replay" not in id_]


@every_id
def test_step_before_reset_raises(id_):
    with refused(StepOutsideGameError, "reset()"):
        gym.make(id_).unwrapped.step(0)


@every_id
@pytest.mark.parametrize("block_length", [1, 3, 4096])
def test_step_after_the_end_raises_and_a_reset_mends_it(id_, block_length):
    env = gym.make(id_, horizon=6, block_length=block_length).unwrapped
    env.reset(seed=0)
    for _ in range(6):
        env.step(0)
    for _ in range(2):
        with refused(StepOutsideGameError, 6, "reset()"):
            env.step(0)
    env.reset()
    assert env.step(0)[4] == {"round": 1}


@pytest.mark.parametrize(
    "ask", [lambda env: env.cumulative_gains, lambda env: env.collected, lambda env: env.external_regret()]
)
def test_evaluator_before_reset_raises(ask):
    with refused(StepOutsideGameError, "reset()"):
        ask(BanditEnv(Stochastic()))


@every_id
@pytest.mark.parametrize("arm", [-1, 1000, 1.5, 2.0, np.nan, "a", None, [1]], ids=repr)
def test_a_wrong_arm_is_refused_and_does_not_cost_a_round(id_, arm):
    def rewards(interrupt):
        env = gym.make(id_, horizon=8, block_length=2).unwrapped
        env.reset(seed=2)
        seen = []
        for t in range(8):
            if interrupt:
                with refused(ValueError, "arm", f"[0, {env.n_arms - 1}]", repr(arm)):
                    env.step(arm)
            seen.append(env.step(t // 2)[1])
        return seen, env.cumulative_gains.tolist()

    assert rewards(interrupt=True) == rewards(interrupt=False)


@pytest.mark.parametrize("arm", [1.5, np.nan, "a", None])
def test_an_arm_of_the_wrong_type_is_also_a_type_error(arm):
    env = BanditEnv(Stochastic())
    env.reset(seed=0)
    with refused(TypeError, "arm", "[0, 3]", repr(arm)):
        env.step(arm)


@pytest.mark.parametrize("arm", [np.int64(1), np.int8(1), np.uint8(1), np.array(1)], ids=repr)
def test_numpys_integers_are_arms_too(arm):
    env, again = BanditEnv(Stochastic()), BanditEnv(Stochastic())
    env.reset(seed=0)
    again.reset(seed=0)
    np.testing.assert_equal(env.step(arm), again.step(1))


@every_id
@pytest.mark.parametrize("horizon", [0, -1, 1.5, np.nan, "10", True], ids=repr)
def test_horizon_must_be_a_number_of_rounds(id_, horizon):
    with refused(ValueError, "horizon", 1, repr(horizon)):
        gym.make(id_, horizon=horizon)


@pytest.mark.parametrize("id_", WITH_ARMS)
@pytest.mark.parametrize("n_arms", [1, 0, -4, 2.5, "4", True], ids=repr)
def test_number_of_arms_must_be_an_integer_of_at_least_two(id_, n_arms):
    with refused(ValueError, "n_arms", 2, repr(n_arms)):
        gym.make(id_, n_arms=n_arms)


@every_id
def test_an_unknown_keyword_is_refused_by_name(id_):
    with pytest.raises(TypeError, match="horizn"):
        gym.make(id_, horizn=5)
    with pytest.raises(TypeError, match="horizn"):
        gym.make_vec(id_, num_envs=2, horizn=5)


@every_id
@pytest.mark.parametrize("block_length", [0, 1.5])
def test_block_length_must_be_a_positive_integer(id_, block_length):
    with refused(ValueError, "block_length", 1, block_length):
        gym.make(id_, block_length=block_length)


@pytest.mark.parametrize("wrong", [{"horizon": "ten"}, {"observe_charge": 3}, {"typo": 1}])
def test_gymnasium_does_not_show_private_gains_in_a_message(wrong):
    """It raises a TypeError anew with all arguments behind the message."""
    for make in (gym.make, lambda id_, **options: gym.make_vec(id_, num_envs=2, **options)):
        with pytest.raises(TypeError) as caught:
            make("DPBandit-Replay-v0", gains=np.full((3, 2), 0.1234567891), **wrong)
        assert "1234567" not in str(caught.value)
        assert str(caught.value).endswith(".")


def test_wrong_means_are_refused_through_gym_make():
    with refused(ValueError, "means", 4, "[0, 1]", [0.5]):
        gym.make("DPBandit-Stochastic-v0", n_arms=4, means=[0.5])


def test_an_environment_without_an_adversary_says_how_to_give_one():
    with refused(TypeError, "BanditEnv(Stochastic"):
        BanditEnv()


def test_an_adversary_must_be_one():
    with refused(TypeError, "adversary", "Adversary", "str"):
        BanditEnv("Stochastic")


def test_arguments_of_a_given_adversary_are_refused():
    with refused(TypeError, "n_arms", "adversary"):
        BanditEnv(Stochastic(), n_arms=5)


@pytest.mark.parametrize("trial", [-1, 1.5, "first", None], ids=repr)
def test_the_trial_must_be_a_number_from_zero(trial):
    with refused(ValueError, "trial", 0, repr(trial)):
        BanditEnv(Stochastic()).reset(seed=0, options={"trial": trial})


@pytest.mark.parametrize("make", [gym.make, gym.make_vec])
@pytest.mark.parametrize(
    ("game", "arguments"),
    [
        ("Stochastic", {}),
        ("Replay", {"gains": np.ones((2, 2))}),
        ("Graph", {}),
        ("Graph", {"graph": "erdos-renyi"}),
        ("Graph", {"graph": np.zeros((3, 3))}),
    ],
)
def test_an_unknown_argument_is_refused_in_pythons_own_words(make, game, arguments):
    """TorchRL and Stable-Baselines3 look for them, and then leave the argument out."""
    with refused(UnknownArgumentError, "got an unexpected keyword argument 'frameskip'") as caught:
        make(f"DPBandit-{game}-v0", frameskip=1, **arguments)
    assert "gains" not in str(caught.value).partition("Known")[0]
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)
