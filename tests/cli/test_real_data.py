"""`dp-bandit run` on a file of real data: what holds for a record and for a person."""

import sys

import pytest

from dp_bandit_envs.cli import main

LINES = "arm,gain,who\n" + "".join(f"{i % 2},{i % 3 / 2},p{i % 4}\n" for i in range(8))


@pytest.fixture
def dp_bandit(monkeypatch, capsys, tmp_path):
    """Return a function that runs the command line in a folder with a file `mine.csv`: (exit code, stdout, stderr)."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "300")
    (tmp_path / "mine.csv").write_text(LINES, encoding="utf-8")

    def call(*words):
        monkeypatch.setattr(sys, "argv", ["dp-bandit", *map(str, words)])
        capsys.readouterr()
        code = 0
        try:
            main()
        except SystemExit as leave:
            code = leave.code
        return code, *capsys.readouterr()

    return call


WORDS = "run mine.csv DP-EXP3-Lap Tsallis-INF --epsilon 0.5 --trials 2 --horizon 16 --out out"
RUN = tuple(WORDS.split())


@pytest.mark.parametrize("width", [300, 80])
def test_terminal_and_report_say_what_holds_for_a_record_and_a_person(dp_bandit, tmp_path, monkeypatch, width):
    """Sixteen rounds, pools of 4: a record serves in 4 rounds; p0 has two of arm 0, so serves in 8."""
    monkeypatch.setenv("COLUMNS", str(width))
    code, out, err = dp_bandit(*RUN, "--persons", "who")
    assert (code, err) == (0, "")
    for words in ("record", "person", "eps 2", "eps 4"):
        assert words in out
    report = (tmp_path / "out" / "report.md").read_text(encoding="utf-8")
    assert "| algorithm | epsilon | for a record | for a person |" in report
    assert "| DP-EXP3-Lap | 0.5 | eps 2 | eps 4 |" in report and "| Tsallis-INF | inf |  |  |" in report
    assert "for a person, which can serve in up to 8 rounds: epsilon = 4" in report


def test_persons_may_be_a_number_and_unknown(dp_bandit, tmp_path):
    text = "arm,gain\n" + "".join(f"{i % 2},{i % 3 / 2}\n" for i in range(8))
    (tmp_path / "mine.csv").write_text(text, encoding="utf-8")
    assert "eps 6" in dp_bandit(*RUN, "--persons", 3)[1]
    _, out, _ = dp_bandit(*RUN[:-1], "unknown")
    assert "for a record" in out and "for a person" not in out


def test_a_column_may_have_the_name_of_a_file(dp_bandit, tmp_path):
    (tmp_path / "who").write_text("another file", encoding="utf-8")
    assert dp_bandit(*RUN, "--persons", "who")[0] == 0


@pytest.mark.parametrize("words", [("mine.csv", "EXP3", "--persons", "patient"), ("Trial", "EXP3", "--persons", "who")])
def test_wrong_persons_are_one_line(dp_bandit, words):
    code, _, err = dp_bandit("run", *words)
    assert code == 2 and "person" in err and "Traceback" not in err


def test_made_up_gains_have_no_such_columns(dp_bandit, tmp_path):
    _, out, _ = dp_bandit("run", "Stochastic", "DP-EXP3-Lap", "--trials", 1, "--horizon", 8, "--out", "coins")
    assert "for a record" not in out
    assert "| for a record |" not in (tmp_path / "coins" / "report.md").read_text(encoding="utf-8")
