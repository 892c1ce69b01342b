"""Numbers, missing values, names of arms, persons and columns as people write them."""

import math

import pytest

from dp_bandit_envs.errors import GainFileError
from dp_bandit_envs.files import DataFile
from dp_bandit_envs.recorded_data import clean
from dp_bandit_envs.recorded_data.cleaning import are_near, arms_of
from dp_bandit_envs.recorded_data.written_numbers import read_number
from tests.tools.refusals import refused


def given(lines, **decided):
    file = DataFile("trial.csv", "\n".join(lines).encode())
    return clean(file, **{"arm": "drug", "gain": "effect", **decided})


def found(records):
    return {(one.kind, one.column): (one.count, one.lines, one.is_open) for one in records.problems}


def test_one_number():
    for cell, decimal, value in [
        ("0.5", None, 0.5),
        ("0,5", None, 0.5),
        ("0,125", None, 0.125),
        (".5", None, 0.5),
        (" 5e-1 ", None, 0.5),
        ("1,234.5", None, 1234.5),
        ("1.234,5", None, 1234.5),
        ("1,234,567", None, 1234567),
        ("1 234,5", None, 1234.5),
        ("1\u00a0234", None, 1234),
        ("1'234.5", None, 1234.5),
        ("12 %", None, 12),
        ("\u22123", None, -3),
        ("1,234", "comma", 1.234),
        ("1,234", "point", 1234),
        ("1.234", "comma", 1234),
        ("1.234", None, 1.234),
    ]:
        assert read_number(cell, decimal=decimal).value == value


@pytest.mark.parametrize(
    ("cell", "kind"),
    [
        ("1,234", "ambiguous"),
        ("n.a.", "missing"),
        (" - ", "missing"),
        ("NaN", "nan"),
        ("-Inf", "infinite"),
        ("1e999", "infinite"),
        ("12 mg", "text"),
        ("1.2.3", "text"),
        ("1,23,4", "text"),
        ("1_000", "text"),
        ("٣", "text"),
    ],
)
def test_what_is_no_number(cell, kind):
    one = read_number(cell, decimal=None)
    assert one.kind == kind and math.isnan(one.value)


@pytest.mark.parametrize("group", ["1.234", "1,234"])
@pytest.mark.parametrize("other", ["0,5", "0.5", "7"])
def test_no_cell_decides_what_another_one_means(group, other):
    """Else one record would change the gains of others; a cell that is open is read by nobody."""
    alone, beside = (
        given(
            ["drug;effect", *(f"{arm};{cell}" for arm in "AB" for cell in cells)],
            scale=(0, 10_000),
            unreadable="drop",
        )
        for cells in ([group, "3"], [group, "3", other])
    )
    read = {gain for gain in beside.gains if gain * 10_000 not in (0.5, 7)}
    assert read <= set(alone.gains)


def test_gains_outside_the_scale_become_its_nearer_end():
    records = given(["drug,effect", "a,-5", "b,150", "a,50"], scale="0,100", outside="clip")
    assert records.gains.tolist() == [0, 1, 0.5] and found(records)["outside", "effect"] == (2, (2, 3), False)


def test_spellings_of_an_arm_are_one_arm_in_a_natural_order():
    arms = arms_of(["B", "a ", "A.", "A", "A", "10", "2.0", "2", "2"])
    assert arms.names == ("2", "10", "A", "B")
    assert arms.arm == [3, 2, 2, 2, 2, 1, 0, 0, 0]
    assert arms.common == [True, False, False, True, True, True, False, True, True]


CODES = [
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


def test_a_number_of_many_digits_is_a_name_like_others():
    """Python itself refuses to read one, by an error that names neither the file nor the line."""
    cells = ["1", "01.0", "9" * 5000, "9" * 5000]
    assert arms_of(cells).arm == [0, 0, 1, 1]


def test_words_and_negative_numbers_are_missing_in_every_column():
    records = given(CODES, persons="who", missing="drop", missing_codes="-99,refused,99")
    problems = found(records)
    assert problems["missing", "who"] == (4, (42, 43, 49), False)
    assert problems["missing", "drug"] == (1, (44,), False)
    assert problems["missing", "effect"] == (3, (46, 47, 48), False)
    assert problems["spelling", "who"] == (1, (51,), False) and "P3" not in str(records)
    assert records.arm_names == ("99", "a", "b") and not records.open_problems
    assert records.rounds_per_person.persons == 7 and len(records.gains) == 42


def test_a_negative_id_is_a_problem_and_no_person():
    records = given(CODES, persons="who", missing="drop", missing_codes="refused,99")
    assert found(records)["code", "who"] == (2, (49, 50), True)
    assert "--missing-codes" in records.report(command_line=True)


ALIKE = ["drug,effect", *["Placebo,1"] * 700, *["Plazebo,0"] * 300, *["unclear,1"] * 4, *["Ramipril 5 mg,1"] * 600]


def test_names_can_be_made_one_or_missing():
    text = given(ALIKE).report(command_line=True)
    assert "--arms-alike Placebo=Plazebo" in text and "--arms-alike unclear=" in text
    records = given(ALIKE, arms_alike="plazebo=Placebo,unclear=", missing="drop")
    assert records.arm_names == ("Placebo", "Ramipril 5 mg") and records.records_of_arms == (1000, 600)
    assert not {"near", "few"} & {one.kind for one in records.problems}
    assert given(ALIKE, arms_alike={"unclear": ""}).open_problems[0].kind == "missing"
    with refused(ValueError, "arms_alike", "Plazebo=Placebo"):
        given(ALIKE, arms_alike="Plazebo")


@pytest.mark.parametrize(
    ("one", "other", "near"),
    [
        ("Placebo", "Plazebo", True),
        ("Placebo", "Placebos", True),
        ("Ramipril 5 mg", "Ramipril 10mg", True),
        ("Placebo", "Standard", False),
        ("Placebo", "Pluzebo", False),
        ("A1", "A2", False),
        ("arm", "arms", False),
    ],
)
def test_what_is_near(one, other, near):
    assert are_near(one, other) == near == are_near(other, one)


@pytest.mark.parametrize("first", ["P003,Ramipril,gut", "Meier,Ramipril,gut", "Meier,Ramipril,2.5.2024"])
def test_a_record_in_the_first_line_is_withheld(first):
    with refused(GainFileError, "line 1", "'drug'") as caught:
        given([first, "P004,Enalapril,gut", "P005,Ramipril,schlecht"])
    for cell in first.split(","):
        assert cell not in str(caught.value)


def test_names_are_shown_where_a_wanted_one_is_found_or_none_can_be_a_record():
    records = ["P004,Enalapril,gut", "P005,Ramipril,schlecht"]
    with refused(GainFileError, "'effects'", "'P12'", "Did you mean 'effects'?"):
        given(["P12,drug,effects", *records])
    with refused(GainFileError, "'treatment'"):
        given(["who,treatment,result", *records])


def test_the_separator_is_the_one_that_gives_the_wanted_columns():
    """Commas would make four columns of these names, and semicolons three."""
    records = given(["drug;effect;note, a, b, c", "x;1;", "y;0;"])
    assert records.arm_names == ("x", "y") and records.gains.tolist() == [1, 0]


def test_exchanged_columns_show_no_count_of_outcomes():
    lines = ["drug,effect", *["Ramipril,gut"] * 30, *["Enalapril,gut"] * 4, *["Enalapril,schlecht"] * 3]
    records = given(lines, arm="effect", gain="drug")
    assert records.open_problems and "34 record" not in str(records) and "3 record" not in str(records)


def test_titles_above_the_names_are_found_and_skipped():
    lines = ["Trial of 2024, ward 3", "", "who,drug,effect", "m,a,1", "n,b,0", "m,b,1"]
    with refused(GainFileError, "--header 3"):
        given(lines)
    records = given(lines, header=3, persons="who")
    assert records.arms.tolist() == [0, 1, 1] and not records.open_problems


def test_sheets_of_excel_are_named_and_chosen(tmp_path):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("openpyxl")
    path = tmp_path / "trial.xlsx"
    with pandas.ExcelWriter(path) as book:
        for name, gain in (("first", 1), ("second", 0)):
            table = pandas.DataFrame({"drug": ["a", "b"], "effect": [gain, gain]})
            table.to_excel(book, sheet_name=name, index=False, startrow=2 * (name == "second"))
    columns = {"arm": "drug", "gain": "effect"}
    first = clean(path, **columns)
    assert "second" in str(first) and first.gains.tolist() == [1, 1]
    with refused(GainFileError, "--header 3"):
        clean(path, sheet="second", **columns)
    assert clean(path, sheet="second", header=3, **columns).gains.tolist() == [0, 0]
    with refused(GainFileError, "'third'", "'first'", "'second'"):
        clean(path, sheet="third", **columns)
