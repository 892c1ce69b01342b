"""A file with every problem: all are reported at once with exact counts, and what is decided becomes a clean file."""

import hashlib
import json
import os
import stat

import numpy as np
import pytest

from dp_bandit_envs import simulate
from dp_bandit_envs.adversaries import Replay
from dp_bandit_envs.errors import GainFileError
from dp_bandit_envs.files import DataFile
from dp_bandit_envs.recorded_data import arm_names, clean
from tests.recorded_data.messy_trial import COLUMNS, DECIDED, SECRET_GAIN, SECRET_PERSON, SECRET_TEXT, messy
from tests.tools.refusals import refused

# Of each problem: its column, its count, its first lines, and whether it is open without decisions.
EXPECTED = {
    ("mark", ""): (1, (1,), False),
    ("encoding", ""): (1, (78,), False),
    ("sep", ""): (1, (1,), False),
    ("separator", ""): (1, (2,), False),
    ("empty", ""): (2, (41, 42), False),
    ("names", ""): (1, (47,), False),
    ("quotes", ""): (2, (43, 44), False),
    ("open quote", ""): (1, (44,), False),
    ("broken", ""): (2, (45, 46), True),
    ("unknown", ""): (2, (), False),
    ("copy", ""): (1, (48,), False),
    ("missing", "Outcome"): (3, (30, 31, 32), True),
    ("nan", "Outcome"): (1, (34,), True),
    ("infinite", "Outcome"): (1, (35,), True),
    ("text", "Outcome"): (1, (36,), True),
    ("comma", "Outcome"): (2, (28, 37), False),
    ("thousands", "Outcome"): (1, (37,), False),
    ("percent", "Outcome"): (2, (29, 48), False),
    ("missing", "Treatment"): (1, (40,), True),
    ("missing", "ID"): (1, (39,), True),
    ("spelling", "Treatment"): (2, (27, 28), False),
    ("few", "Treatment"): (8, (50, 51, 52), False),
    ("many", "ID"): (1, (58,), False),
}


def cleaned(**decided):
    return clean(DataFile("messy.csv", messy()), **COLUMNS, **decided)


def found(records):
    return {(one.kind, one.column): (one.count, one.lines, one.is_open) for one in records.problems}


def test_all_problems_are_reported_at_once():
    problems = found(cleaned())
    # Without a scale everything but the gaps is outside [0, 1]. There are decimal commas and, in lines 58 to 77,
    # decimal points, so that 9,125 may be either.
    assert problems.pop(("outside", "Outcome"))[1:] == ((3, 4, 5), True)
    assert problems.pop(("no percent", "Outcome"))[2]
    assert problems.pop(("ambiguous", "Outcome")) == (1, (49,), True)
    assert problems == EXPECTED


def test_only_of_lines_is_said_that_they_are_left_out():
    """A sign that is not read costs no line."""
    kept = {one.kind: one.remedy for one in cleaned(**DECIDED).problems if one.kind in ("thousands", "percent")}
    assert len(kept) == 2 and all("left out" not in remedy for remedy in kept.values())


def test_decisions_close_them():
    records = cleaned(**DECIDED)
    assert not records.open_problems
    problems = found(records)
    assert problems["missing", "Outcome"] == (4, (30, 31, 32), False)  # with the code -99
    assert problems["outside", "Outcome"] == (2, (37, 38), False)
    # 24 + 14 + 2 + 2 + 8 + 20 + 2 lines have five cells. Of these, 30 to 36 have no gain, 37 and 38 one outside, 39 and
    # 40 no name, and 49 is not clear.
    left_out = 7 + 2 + 2 + 1
    assert records.lines == 72 and len(records.gains) == records.lines - left_out
    assert records.arm_names == ("A", "B", "placebo")
    assert records.records_of_arms[2] == 8 and sum(records.records_of_arms) == len(records.arms)
    assert records.rounds_per_person.most == 20 and records.rounds_per_person.persons == 15
    assert records.gains[24] == float(SECRET_GAIN) / 100 and records.gains[25] == 0.555


def test_a_mark_of_decimals_decides_what_is_not_clear():
    comma = cleaned(**DECIDED, decimal="comma")
    point = cleaned(**DECIDED, decimal="point")
    assert len(comma.gains) == len(point.gains) + 1  # 9.125 of a hundred, and nine thousand
    assert 0.09125 in comma.gains and found(point)["outside", "Outcome"] == (3, (37, 38, 49), False)


def test_missing_outcomes_may_count_as_no_success():
    records = cleaned(**{**DECIDED, "missing": 0})
    assert len(records.gains) == len(cleaned(**DECIDED).gains) + 5
    assert np.count_nonzero(records.gains == 0) == 5


def test_the_records_of_a_person_can_be_limited_and_copies_left_out():
    records = cleaned(**DECIDED, most_per_person=3, duplicates="drop")
    assert records.rounds_per_person.most == 3
    assert found(records)["beyond", "ID"][0] == (20 - 3) + (8 - 3) + (4 - 3)  # canary-99, canary-88, p2
    assert found(records)["copy", ""] == (1, (48,), False)


def test_nothing_shows_a_gain_or_a_person(tmp_path):
    said = []
    for decided in ({}, DECIDED):
        records = cleaned(**decided)
        said += [repr(records), str(records), records.report(command_line=True), repr(records.problems)]
        said.append(json.dumps(records.notes()))
    with pytest.raises(GainFileError) as caught:
        cleaned().save(tmp_path / "clean.csv")
    said.append(str(caught.value))
    cleaned(**DECIDED).save(tmp_path / "clean.csv")
    said.append((tmp_path / "clean.csv.json").read_text(encoding="utf-8"))
    for text in said:
        assert hashlib.sha256(messy()).hexdigest() not in text  # with which guesses could be checked
        for secret in (SECRET_GAIN, SECRET_TEXT, SECRET_PERSON, "canary", "55,5", "0.555"):
            assert secret not in text
    assert "canary" not in (tmp_path / "clean.csv").read_text(encoding="utf-8")


def test_a_round_trip_plays(tmp_path):
    records = cleaned(**DECIDED)
    path = records.save(tmp_path / "clean.csv")
    game = Replay(path, persons="person", arm_names=arm_names(path))
    assert game.arm_names == records.arm_names and game.horizon == len(records.gains)
    assert game.data_use == records.use
    assert np.allclose(game.means, [records.gains[records.arms == arm].mean() for arm in range(3)])
    played = simulate(
        "DPBandit-Replay-v0", ["DP-EXP3-Lap"], seed=None, env_kwargs={"gains": path, "persons": "person"}
    )["DP-EXP3-Lap"]
    assert played.guarantee.for_person().epsilon == played.guarantee.epsilon * records.use.person


@pytest.mark.skipif(os.name != "posix", reason="Windows has other permissions")
def test_only_the_owner_reads_a_clean_file(tmp_path):
    path = cleaned(**DECIDED).save(tmp_path / "clean.csv")
    for file in (path, tmp_path / "clean.csv.json"):
        assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_a_clean_file_replaces_nothing_unless_told(tmp_path):
    records = cleaned(**DECIDED)
    path = records.save(tmp_path / "clean.csv")
    first = path.read_bytes()
    path.write_text("mine", encoding="utf-8")
    with refused(FileExistsError, "force"):
        records.save(path)
    assert path.read_text(encoding="utf-8") == "mine"
    path.unlink()
    with refused(FileExistsError, "force"):
        records.save(path)  # its notes are there
    records.save(path, force=True)
    assert path.read_bytes() == first and len(list(tmp_path.iterdir())) == 2


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("scale", "auto"),
        ("scale", "0,0"),
        ("scale", "0,inf"),
        ("missing", 2),
        ("missing", "keep"),
        ("outside", "wrap"),
        ("unreadable", "clip"),
        ("duplicates", "refuse"),
        ("decimal", ","),
        ("values", "yes"),
        ("most_per_person", 0),
    ],
)
def test_wrong_decisions_are_refused(option, value):
    with refused(ValueError, option):
        cleaned(**{option: value})


def test_less_may_be_better_and_words_may_be_outcomes():
    days = clean(DataFile("d.csv", b"arm,days\n" + b"a,30\nb,0\n" * 12), arm="arm", gain="days", scale="30,0")
    assert days.gains[:2].tolist() == [0, 1]
    words = DataFile("w.csv", b"arm,result\n" + b"a,Cured\nb,not cured\n" * 12)
    assert len(clean(words, arm="arm", gain="result").open_problems) == 1
    assert clean(words, arm="arm", gain="result", values="cured=1,not cured=0").gains[:2].tolist() == [1, 0]


@pytest.mark.parametrize(
    ("content", "named"),
    [
        (b"", "names"),
        (b"arm,gain\n", "record"),
        (b"a,0.5\nb,0.7719\n", "names"),
        (b"arm,outcome\na,0.5\n", "'gain'"),
        (b"arm,gain,gain\na,0.5,1\n", "2"),
    ],
)
def test_files_without_these_columns_are_refused_without_a_gain(content, named):
    with pytest.raises(GainFileError) as caught:
        clean(DataFile("f.csv", content), arm="arm", gain="gain")
    assert named in str(caught.value) and "0.5" not in str(caught.value) and "7719" not in str(caught.value)


def test_a_column_of_persons_named_as_that_of_arms_shows_no_id():
    lines = "".join(f"patient{i // 2},{i % 2}\n" for i in range(60))
    records = clean(DataFile("f.csv", f"who,gain\n{lines}".encode()), arm="who", gain="gain")
    assert [one.kind for one in records.open_problems] == ["names"]
    assert "patient" not in f"{records}{records!r}{records.problems}"


def test_one_arm_is_no_game():
    records = clean(DataFile("f.csv", b"arm,gain\n" + b"a,1\n" * 20), arm="arm", gain="gain")
    assert [one.kind for one in records.open_problems] == ["one arm"]


@pytest.mark.parametrize(
    "content",
    [
        b"arm\tgain\n" + b"x\t0.5\ny\t1\n" * 10,
        "arm;gain\n".encode("utf-16") + ("x;0,5\ny;1\n" * 10).encode("utf-16")[2:],
    ],
)
def test_tabs_and_utf_16_are_read(content):
    records = clean(DataFile("f.txt", content), arm="ARM", gain="Gain")
    assert records.arm_names == ("x", "y") and not records.open_problems
    assert records.gains[:2].tolist() == [0.5, 1]


@pytest.mark.parametrize("ending", ["parquet", "xlsx"])
def test_tables_of_pandas_give_the_same_records(tmp_path, ending):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow" if ending == "parquet" else "openpyxl")
    table = pandas.DataFrame({"arm": ["a", "b"] * 12, "gain": [0.25, None] * 12, "who": [1, 2] * 12})
    path = tmp_path / f"t.{ending}"
    table.to_parquet(path) if ending == "parquet" else table.to_excel(path, index=False)
    records = clean(path, arm="arm", gain="gain", persons="who", missing=0.5)
    assert found(records)["missing", "gain"] == (12, (3, 5, 7), False)
    assert records.gains[:2].tolist() == [0.25, 0.5] and records.rounds_per_person == (2, 12, 12)
    path.write_bytes(b"damaged")
    with refused(GainFileError, ending):
        clean(path, arm="arm", gain="gain")


def test_without_persons_nothing_is_said_for_one():
    columns = {**COLUMNS, "persons": None}
    records = clean(DataFile("messy.csv", messy()), **columns, **DECIDED)
    assert "nothing can be said for a person" in str(records) and "--persons" in records.report(command_line=True)
    assert "nothing can be said" not in str(cleaned(**DECIDED))


def test_a_dataframe_is_a_source_and_other_objects_are_refused_shortly():
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"drug": ["a", "b", "a"], "effect": [0.25, 1, None], "who": ["x, y", "z", "z"]})
    records = clean(table, arm="drug", gain="effect", persons="who", missing="drop")
    assert records.gains.tolist() == [0.25, 1.0] and records.persons.tolist() == [0, 1]
    with refused(TypeError, "DataFrame", "list") as caught:
        clean([0.7719] * 1000, arm="drug", gain="effect")
    assert len(str(caught.value)) < 200 and "0.7719" not in repr(caught.value)
