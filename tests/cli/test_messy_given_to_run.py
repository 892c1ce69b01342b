"""A file that is not clean, or a clean one without its column of persons, is told the command that helps."""

import pytest

from tests.recorded_data.messy_trial import messy


@pytest.mark.parametrize("command", [["advise"], ["run", "Batched-Lap-HTINF"]])
@pytest.mark.parametrize("content", ["Zürich;1\n".encode("latin-1"), b"arm;gain;person\n0;1;a\n", messy()])
def test_a_messy_file_is_to_be_cleaned(dp_bandit, tmp_path, command, content):
    (tmp_path / "messy.csv").write_bytes(content)
    code, _, err = dp_bandit(command[0], "messy.csv", *command[1:], "--epsilon", 1)
    assert code == 2 and "dp-bandit data" in err


def test_a_clean_file_needs_its_column_of_persons(dp_bandit, tmp_path):
    (tmp_path / "clean.csv").write_text("arm,gain,person\n0,1,0\n1,0,1\n", encoding="utf-8")
    code, _, err = dp_bandit("run", "clean.csv", "Batched-Lap-HTINF", "--epsilon", 1)
    assert code == 2 and "--persons person" in err
