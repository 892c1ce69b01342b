"""Codes for missing values: words and numbers, in all three columns, and persons who are none."""

from dp_bandit_envs.data_files import DataFile
from dp_bandit_envs.recorded_data import clean

LINES = [
    "who,drug,effect",
    *(f"p{i % 7},{'ab'[i % 2]},{i % 2}" for i in range(40)),
    "k.A.,a,1",  # 42
    "refused,b,1",
    "p1,refused,1",
    "p1,99,1",  # 45: may be an arm
    "p2,a,Keine Angabe",
    "p2,a,unbekannt",
    "p2,b,99",
    "-99,b,1",  # 49
    "-99,a,0",
    " P3.,a,0",  # 51
]


def given(**decided):
    file = DataFile("trial.csv", "\n".join(LINES).encode())
    records = clean(file, arm="drug", gain="effect", person="who", **decided)
    return records, {(one.kind, one.column): (one.count, one.lines, one.is_open) for one in records.problems}


def test_words_and_negative_numbers_are_missing_in_every_column():
    records, found = given(missing="drop", missing_codes="-99,refused,99")
    assert found["missing", "who"] == (4, (42, 43, 49), False)
    assert found["missing", "drug"] == (1, (44,), False)
    assert found["missing", "effect"] == (3, (46, 47, 48), False)
    assert records.arm_names == ("99", "a", "b") and not records.open_problems
    assert records.rounds_per_person.persons == 7 and len(records.gains) == 42


def test_a_negative_id_is_a_problem_and_no_person():
    records, found = given(missing="drop", missing_codes="refused,99")
    assert found["code", "who"] == (2, (49, 50), True)
    assert "--missing-codes" in records.report(command_line=True)


def test_spellings_of_persons_are_said_without_an_id():
    records, found = given(missing="drop", missing_codes="-99,refused,99")
    assert found["spelling", "who"] == (1, (51,), False) and "P3" not in str(records)
