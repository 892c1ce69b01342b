"""The user's own data as a game: every accepted form of file gives the gains that were put in."""

import gzip

import gymnasium as gym
import numpy as np
import pytest

import dp_bandit_envs  # noqa: F401 - registers the ids
from dp_bandit_envs.adversaries import OutcomePools, Replay, Trial
from tests.tools.refusals import refused

TABLE = [[0.25, 1.0], [0.5, 0.0], [0.125, 0.75]]
WIDE = "0.25,1\n0.5,0\n0.125,0.75\n"
LONG = "arm,gain\n1,0.75\n0,0.25\n1,0.5\n0,1\n0,0\n"


def gains_of(adversary):
    adversary.begin(np.random.default_rng(0))
    return adversary.next_gains(adversary.horizon)


def write(path, text, encoding="utf-8"):
    data = text.encode(encoding)
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


def test_an_array_is_played_row_by_row():
    assert gains_of(Replay(np.array(TABLE))).tolist() == TABLE
    assert gains_of(Replay(TABLE)).tolist() == TABLE


def test_an_npy_file_is_played_row_by_row(tmp_path):
    np.save(tmp_path / "gains.npy", TABLE)
    assert gains_of(Replay(tmp_path / "gains.npy")).tolist() == TABLE
    assert gains_of(Replay(str(tmp_path / "gains.npy"))).tolist() == TABLE


def test_an_npy_file_of_whole_numbers_is_played_as_gains(tmp_path):
    np.save(tmp_path / "gains.npy", np.array([[0, 1], [1, 0]]))
    assert gains_of(Replay(tmp_path / "gains.npy")).tolist() == [[0, 1], [1, 0]]


@pytest.mark.parametrize("name", ["gains.csv", "gains.csv.gz", "trial.2.csv", "trial.2.csv.gz"])
@pytest.mark.parametrize("first_line", ["", "control,treatment\n", '"arm 1","arm 2, high dose"\n'])
def test_a_csv_table_is_played_row_by_row_with_and_without_names(tmp_path, name, first_line):
    assert gains_of(Replay(write(tmp_path / name, first_line + WIDE))).tolist() == TABLE


@pytest.mark.parametrize(
    "text",
    [
        "\ufeff" + WIDE,  # a byte order mark, as spreadsheets write
        "\ufeffa,b\n" + WIDE,
        "\n\n" + WIDE.replace("\n", "\n\n") + "\n",  # blank lines
        WIDE.replace("\n", "\r\n"),
        WIDE.rstrip("\n"),
        WIDE.replace(",", " , "),
        '"0.25","1"\n5e-1,0.0\n.125,75e-2\n',
    ],
    ids=["BOM", "BOM and names", "blank lines", "CRLF", "no last line end", "spaces", "other spellings"],
)
def test_a_csv_table_may_be_written_in_other_ways(tmp_path, text):
    assert gains_of(Replay(write(tmp_path / "gains.csv", text))).tolist() == TABLE


@pytest.mark.parametrize("name", ["log.csv", "log.csv.gz"])
@pytest.mark.parametrize(
    "text",
    [LONG, "\ufeff" + LONG, LONG.replace("\n", "\n\n"), "gain,arm\n0.75,1\n0.25,0\n0.5,1\n1,0\n0,0\n"],
    ids=["as documented", "BOM", "blank lines", "columns swapped"],
)
def test_recorded_gains_become_one_pool_for_each_arm(tmp_path, name, text):
    adversary = Replay(write(tmp_path / name, text))
    pools = OutcomePools([np.array([0.25, 1, 0]), np.array([0.75, 0.5])])
    assert (adversary.n_arms, adversary.horizon) == (2, 5)
    np.testing.assert_array_equal(gains_of(adversary), gains_of(pools))
    np.testing.assert_array_equal(adversary.means, pools.means)


@pytest.mark.parametrize("header", ["Arm,Gain", "ARM,GAIN", "arm, gain"])
def test_recorded_gains_are_recognised_however_their_names_are_written(tmp_path, header):
    """Taken for a table, the arms' numbers 0 and 1 would silently become gains."""
    adversary = Replay(write(tmp_path / "log.csv", f"{header}\n0,0.25\n1,0.75\n1,0.5\n"))
    np.testing.assert_allclose(adversary.means, [0.25, 0.625], rtol=1e-15)


def test_recorded_gains_may_be_played_beyond_their_number(tmp_path):
    adversary = Replay(write(tmp_path / "log.csv", LONG), horizon=50)
    gains = gains_of(adversary)
    assert gains.shape == (50, 2)
    assert set(gains[:, 1]) == {0.75, 0.5}


def test_a_shorter_horizon_plays_the_first_rows():
    assert gains_of(Replay(TABLE, horizon=2)).tolist() == TABLE[:2]


def test_a_table_cannot_be_played_beyond_its_end():
    with refused(ValueError, "horizon", 3, 4):
        Replay(TABLE, horizon=4)


@pytest.mark.parametrize("horizon", [0, -1, 1.5, "2", True])
def test_horizon_must_be_a_number_of_rounds(horizon):
    with refused(ValueError, "horizon", 1, repr(horizon)):
        Replay(TABLE, horizon=horizon)


def test_left_out_gains_are_the_trials_outcomes():
    np.testing.assert_array_equal(gains_of(Replay()), gains_of(Trial()))
    assert Replay(horizon=10).horizon == 10


def test_the_users_array_is_copied():
    table = np.array(TABLE)
    adversary = Replay(table)
    table[:] = 0.0
    assert gains_of(adversary).tolist() == TABLE


def test_a_file_can_be_played_through_gym_make(tmp_path):
    path = write(tmp_path / "gains.csv", WIDE)
    env = gym.make("DPBandit-Replay-v0", gains=str(path))
    env.reset(seed=0)
    assert [env.step(arm)[1] for arm in (0, 1, 1)] == [0.25, 0.0, 0.75]
