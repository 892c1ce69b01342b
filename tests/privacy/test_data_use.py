"""How often a record and a person can serve: as declared, and as counted in games whose records are all different."""

import math
from collections import Counter

import gymnasium as gym
import numpy as np
import pytest

from dp_bandit_envs.adversaries import GainTable, MemoryBounded, OutcomePools, Replay, Stochastic, Trial, VectorTable
from dp_bandit_envs.errors import GainFileError, WrongTypeError
from dp_bandit_envs.privacy.data_use import DataUse
from tests.tools.refusals import refused

LONG = "arm,gain,who\n0,.1,ann\n0,.2,bob\n1,.3,ann\n1,.4,ann\n1,.5,cleo\n"
WIDE = "who,left,right\nann,.1,.2\nbob,.3,.4\nann,.5,.6\nann,.7,.8\n"


def replay(tmp_path, text, **arguments):
    path = tmp_path / "gains.csv"
    path.write_text(text, encoding="utf-8")
    return Replay(path, **arguments)


@pytest.mark.parametrize("horizon", [1, 3, 4, 7, 8, 100])
def test_no_record_serves_in_more_rounds_than_declared_and_one_does_in_all(horizon):
    """Records with values of their own are counted in 20 games: the smaller pool, of 3, has the record used most."""
    adversary = OutcomePools([np.linspace(0, 0.4, 3), np.linspace(0.6, 1, 5)], horizon, persons=1)
    most = 0
    for seed in range(20):
        adversary.begin(np.random.default_rng(seed))
        most = max(most, *Counter(adversary.next_gains(horizon).ravel().tolist()).values())
    assert adversary.data_use == DataUse(-(-horizon // 3), -(-horizon // 3)) == DataUse(most, most)


@pytest.mark.parametrize("horizon", [2, 5, 9])
def test_no_person_serves_in_more_rounds_than_declared(tmp_path, horizon):
    """Ann has one of two records of arm 0 and two of three records of arm 1."""
    adversary = replay(tmp_path, LONG, horizon=horizon, persons="who")
    anns = {0.1, 0.3, 0.4}
    most = 0
    for seed in range(200):
        adversary.begin(np.random.default_rng(seed))
        gains = adversary.next_gains(horizon)
        most = max(most, sum(bool(anns & set(row)) for row in gains.tolist()))
    by_hand = {2: 2, 5: 5, 9: 9}[horizon]  # min(T, ceil(T / 2) + 2 ceil(T / 3)): 3, 7 and 11 cut to T
    assert adversary.data_use.person == by_hand >= most


def test_the_records_of_a_file_by_hand(tmp_path):
    """A hundred rounds: 34 passes through the smallest pool, of 3; ann has one of its records."""
    lines = "arm,gain,who\n" + "0,1,ann\n0,0,bob\n0,1,bob\n" + "".join(f"1,{i % 2},p{i}\n" for i in range(50))
    assert replay(tmp_path, lines, horizon=100, persons="who").data_use == DataUse(34, 68)  # bob's two
    without = "\n".join(line.rpartition(",")[0] for line in lines.splitlines())
    assert replay(tmp_path, without, horizon=100).data_use == DataUse(34)
    assert replay(tmp_path, without, horizon=100, persons=2).data_use == DataUse(34, 68)
    assert replay(tmp_path, without, horizon=100, persons=5).data_use == DataUse(34, 100)


def test_a_row_of_a_table_serves_once(tmp_path):
    assert replay(tmp_path, WIDE, persons="WHO").data_use == DataUse(1, 3)
    assert replay(tmp_path, WIDE, persons="who", horizon=3).data_use == DataUse(1, 2)
    assert replay(tmp_path, WIDE, persons="who").n_arms == 2
    assert Replay(np.zeros((4, 2))).data_use == DataUse(1)
    assert Replay(np.zeros((4, 2)), persons=9).data_use == DataUse(1, 4)
    assert VectorTable(np.zeros((4, 2))).data_use == DataUse(1)
    assert GainTable(np.zeros((4, 2)), persons=np.array([1, 2, 2, 2])).data_use == DataUse(1, 3)
    assert VectorTable(np.zeros((4, 2)), persons=9).data_use == DataUse(1, 4)
    assert VectorTable(np.zeros((4, 2)), persons=["a", "b", "a", "a"], horizon=3).data_use == DataUse(1, 2)


def test_the_column_of_persons_changes_no_gain(tmp_path):
    plain = replay(tmp_path, "\n".join(line.partition(",")[2] for line in WIDE.splitlines()))
    owned = replay(tmp_path, WIDE, persons="who")
    for adversary in (plain, owned):
        adversary.begin(np.random.default_rng(0))
    np.testing.assert_array_equal(plain.next_gains(4), owned.next_gains(4))


def test_each_patient_is_a_record_and_serves_in_up_to_five_rounds():
    """The smallest arm has 522 patients; the trial's length is 2,139."""
    assert Trial().data_use == Replay().data_use == DataUse(5, 5)
    assert Trial(522).data_use == DataUse(1, 1)
    assert MemoryBounded(gains=Trial()).data_use == DataUse(5, 5)


def test_made_up_gains_have_no_records():
    assert Stochastic().data_use is None
    assert gym.make("DPBandit-Graph-v0").unwrapped.data_use is None


def test_environments_of_all_kinds_say_it():
    trial = Trial()
    assert gym.make("DPBandit-Experts-v0", gains=trial).unwrapped.data_use == DataUse(5, 5)
    assert gym.make_vec("DPBandit-Trial-v0", num_envs=2).unwrapped.data_use == DataUse(5, 5)
    assert gym.make("DPBandit-Replay-v0", gains=np.zeros((4, 2)), persons=2).unwrapped.data_use == DataUse(1, 2)


@pytest.mark.parametrize(
    ("text", "persons"),
    [
        (LONG, "patient"),
        (LONG, "arm"),
        (LONG, ""),
        (WIDE.partition("\n")[2], "ann"),
        (WIDE.replace("bob", " "), "who"),
        (WIDE.replace("left", "who"), "who"),
        (LONG, None),
        ("who,left\nann,.5\n", "who"),
    ],
    ids=["unknown", "the arms", "no name", "no first line", "nobody's", "two", "an extra column", "one arm"],
)
def test_a_wrong_column_of_persons_is_refused(tmp_path, text, persons):
    with pytest.raises(GainFileError, match=r"gains\.csv"):
        replay(tmp_path, text, persons=persons)


def test_other_wrong_persons_are_refused(tmp_path):
    np.save(tmp_path / "gains.npy", np.zeros((4, 2)))
    for gains, persons in ((tmp_path / "gains.npy", "who"), (np.zeros((4, 2)), "who"), (None, 3)):
        with refused(ValueError, "persons"):
            Replay(gains, persons=persons)
    for persons in (0, True, 1.5):
        with refused((ValueError, TypeError), "persons", persons):
            Replay(np.zeros((4, 2)), persons=persons)
    with refused(ValueError, "persons", 3, 2):
        OutcomePools([np.zeros(3), np.zeros(2)], persons=[["a", "b"], ["c", "d"]])


@pytest.mark.parametrize(
    "persons",
    [
        [math.nan, float("nan"), 1.0, 2.0],  # NaN equals nothing, so each would count as a person of its own
        np.array([np.nan, np.nan, 1.0, 2.0]),
        [None, None, "a", "b"],
        [7, "7", 8, 9],
        [["a"], ["a"], ["b"], ["b"]],
    ],
)
@pytest.mark.parametrize(
    "kind",
    [GainTable, VectorTable, lambda table, persons: OutcomePools([[0.0] * 4, [1.0]], 4, persons=[persons, [5.0]])],
)
def test_ids_that_would_make_one_person_several_are_refused(kind, persons):
    with refused((ValueError, TypeError), "persons"):
        kind(np.zeros((4, 2)), persons=persons)


@pytest.mark.parametrize("persons", ["anne", {"anne", "bert"}, {"anne": 2}])
@pytest.mark.parametrize("kind", [GainTable, VectorTable, lambda table, persons: OutcomePools(table, persons=persons)])
def test_persons_are_a_number_or_a_list_and_never_shown(kind, persons):
    """The letters of a name are as many as the rows."""
    with refused(WrongTypeError, "persons", type(persons).__name__) as caught:
        kind(np.zeros((4, 2)), persons=persons)
    assert "anne" not in str(caught.value)


def test_a_list_of_persons_is_not_shown_by_replay():
    with refused(WrongTypeError, "persons", "list") as caught:
        Replay(np.zeros((2, 2)), persons=["anne", "bert"])
    assert "anne" not in str(caught.value)
