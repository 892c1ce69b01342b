"""Names of columns help to find the right one, but a first line that may be a record is never shown."""

import pytest

from dp_bandit_envs.data_files import DataFile
from dp_bandit_envs.errors import GainFileError
from dp_bandit_envs.recorded_data import clean
from tests.tools.refusals import refused


def given(lines, **columns):
    return clean(DataFile("trial.csv", "\n".join(lines).encode()), **{"arm": "drug", "gain": "effect", **columns})


@pytest.mark.parametrize("first", ["P003,Ramipril,gut", "Meier,Ramipril,gut", "Meier,Ramipril,2.5.2024"])
def test_a_record_in_the_first_line_is_withheld(first):
    with refused(GainFileError, "line 1", "'drug'") as caught:
        given([first, "P004,Enalapril,gut", "P005,Ramipril,schlecht"])
    for cell in first.split(","):
        assert cell not in str(caught.value)


def test_names_are_shown_where_a_wanted_one_is_found_or_none_can_be_a_record():
    records = ["P004,Enalapril,gut", "P005,Ramipril,schlecht"]
    with refused(GainFileError, "'effects'", "'P12'"):
        given(["P12,drug,effects", *records])
    with refused(GainFileError, "'treatment'"):
        given(["who,treatment,result", *records])


def test_a_near_name_is_proposed():
    with refused(GainFileError, "'effect'", "Did you mean 'Effects'?"):
        given(["who,drug,Effects", "a,b,1", "c,d,0"])


def test_exchanged_columns_show_no_count_of_outcomes():
    lines = ["drug,effect", *["Ramipril,gut"] * 30, *["Enalapril,gut"] * 4, *["Enalapril,schlecht"] * 3]
    records = given(lines, arm="effect", gain="drug")
    assert records.open_problems and "34 record" not in str(records) and "3 record" not in str(records)


def test_titles_above_the_names_are_found_and_skipped():
    lines = ["Trial of 2024, ward 3", "", "who,drug,effect", "m,a,1", "n,b,0", "m,b,1"]
    with refused(GainFileError, "--header 3"):
        given(lines)
    records = given(lines, header=3, person="who")
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
