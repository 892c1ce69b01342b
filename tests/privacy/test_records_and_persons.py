"""What a guarantee for a round is worth for a record and for a person of the data, and where it is said."""

import gymnasium as gym
import numpy as np
import pytest

import dp_bandit_envs  # noqa: F401 - registers the ids
from dp_bandit_envs import make_algorithm, simulate
from dp_bandit_envs.adversaries import OutcomePools, Replay, Trial
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.privacy import PrivacyGuarantee
from dp_bandit_envs.privacy.data_use import DataUse
from dp_bandit_envs.wrappers import ExactSums, LaplaceClipRescale, MiniBatchAverage
from dp_bandit_envs.wrappers import vector as of_many
from tests.tools.refusals import refused


def test_by_hand():
    """Five rounds of a record, seven of a person: 5 * .2 and 7 * .2; rho 25 and 49 fold."""
    guarantee = PrivacyGuarantee(0.2, rho=0.02, data=DataUse(5, 7))
    assert (guarantee.for_record().epsilon, guarantee.for_person().epsilon) == (pytest.approx(1.0), pytest.approx(1.4))
    assert guarantee.for_record().rho == pytest.approx(0.5) and guarantee.for_person().rho == pytest.approx(0.98)
    assert "one record" in guarantee.for_record().neighbours and "one person" in guarantee.for_person().neighbours
    assert guarantee.for_record().data is None and guarantee.for_group(2).data is None
    assert guarantee.for_games(3).for_record().epsilon == pytest.approx(3.0)


def test_a_pool_of_one_record_loses_as_much_as_is_stated():
    """All T rounds of the arm show the same record, so that two records differ by 1 in each of T noisy gains.

    The noise of scale 1 / epsilon then has likelihood ratios up to e^(T epsilon), which is what a record is promised.
    """
    env = LaplaceClipRescale(BanditEnv(OutcomePools([np.ones(1), np.zeros(4)], 4)), epsilon=0.25)
    scale = env.mechanism.noise(env.below).scale
    assert env.guarantee.for_record().epsilon == pytest.approx(4 * 1 / scale) == 1.0


def test_unknown_units_are_refused():
    with refused(ValueError, "record"):
        PrivacyGuarantee(1.0).for_record()
    with refused(ValueError, "person", "Replay"):
        PrivacyGuarantee(1.0, data=DataUse(5)).for_person()


def test_text_says_what_holds_for_a_record_beside_a_round():
    text = str(PrivacyGuarantee(0.001, data=DataUse(3335, 6670)))
    assert "epsilon = 0.001" in text and "one round" in text
    assert "for a record, which can serve in up to 3,335 rounds: epsilon = 3.335" in text
    assert "for a person, which can serve in up to 6,670 rounds: epsilon = 6.67" in text
    assert "for a record" not in str(PrivacyGuarantee(0.001)) and "person" not in str(
        PrivacyGuarantee(1.0, data=DataUse(1))
    )


def test_a_delta_that_a_record_uses_up_leaves_nothing():
    guarantee = PrivacyGuarantee(10.0, delta=1e-6, data=DataUse(5))
    assert guarantee.for_record().model == "none" and "up to 5 rounds: nothing" in str(guarantee)


@pytest.mark.parametrize(
    "wrap",
    [
        lambda env: LaplaceClipRescale(env, epsilon=1.0),
        lambda env: LaplaceClipRescale(MiniBatchAverage(env, batch_size=3), epsilon=1.0),
        lambda env: ExactSums(LaplaceClipRescale(env, epsilon=1.0)),
    ],
    ids=["noise", "above batches", "below sums"],
)
def test_every_boundary_knows_the_data_below(wrap):
    assert wrap(gym.make("DPBandit-Trial-v0")).guarantee.for_record().epsilon == 5.0
    assert wrap(gym.make("DPBandit-Stochastic-v0")).guarantee.data is None


def test_vector_boundaries_know_the_data_of_all_games():
    envs = gym.make_vec("DPBandit-Trial-v0", num_envs=2)
    assert of_many.LaplaceClipRescale(envs, epsilon=1.0).guarantee.data == DataUse(5, 5)
    pools = [[np.ones(1), np.ones(4)], [np.ones(2), np.ones(4)]]
    games = [lambda each=each: BanditEnv(OutcomePools(each, 4, persons=1)) for each in pools]
    games = gym.vector.SyncVectorEnv(games, autoreset_mode=gym.vector.AutoresetMode.NEXT_STEP)
    assert of_many.LaplaceClipRescale(games, epsilon=1.0).guarantee.data == DataUse(4, 4)


@pytest.mark.parametrize("name", ["DP-EXP3-Lap", "EXP3-tau", "EXP3", "Uniform", "DP-IMED"])
def test_every_algorithm_knows_the_data_of_its_game(name):
    """Also where the agent's own draws give the guarantee."""
    guarantee = make_algorithm(name).guarantee_in(gym.make("DPBandit-Trial-v0"))
    assert guarantee.data == DataUse(5, 5)
    assert guarantee.for_record().epsilon == pytest.approx(5 * guarantee.epsilon)


def test_a_file_with_three_records_of_one_arm_reports_what_they_are_promised(tmp_path):
    """At 10,003 rounds each of the three serves in up to 3,335: epsilon = 1 for a round is 3,335 for a record."""
    path = tmp_path / "mine.csv"
    path.write_text("arm,gain\n0,1\n0,0\n0,1\n" + "".join(f"1,{i % 2}\n" for i in range(10_000)), encoding="utf-8")
    result = simulate("DPBandit-Replay-v0", ["DP-EXP3-Lap"], env_kwargs={"gains": path}, checkpoints=1)["DP-EXP3-Lap"]
    assert result.pulls.sum() == 10_003 and result.guarantee.epsilon == 1.0
    assert result.guarantee.for_record().epsilon == 3335.0
    assert Replay(path).data_use == DataUse(3335) and Trial().data_use == DataUse(5, 5)
