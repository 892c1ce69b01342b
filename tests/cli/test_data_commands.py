"""`dp-bandit data` and `advise`: what they print, write and refuse, and that their pages can be followed."""

import json
import re
import shlex

import pytest

from dp_bandit_envs.adversaries import Replay
from tests.recorded_data.messy_trial import SECRET_GAIN, SECRET_PERSON, SECRET_TEXT, messy
from tests.tools.doors import one_each
from tests.tools.pages import PAGES, blocks, in_order, lines, run, small

DATA = "data messy.csv --arm treatment --gain outcome --persons id"
DECIDED = "--scale 0,100 --missing drop --missing-codes=-99 --unreadable drop --outside clip --out clean.csv"
ADVISE = "advise clean.csv --epsilon 1 --gap 0.3 --trials 4 --algorithm DP-KLUCB --jobs 1"


def test_a_messy_file_becomes_clean_and_is_advised_on(dp_bandit, tmp_path):
    (tmp_path / "messy.csv").write_bytes(messy())
    code, first, err = dp_bandit(*DATA.split(), "--out", "clean.csv")
    assert code == 1 and err == "" and "--missing drop" in first and not (tmp_path / "clean.csv").exists()
    code, second, err = dp_bandit(*DATA.split(), *DECIDED.split())
    assert (code, err) == (0, "") and "--persons person" in second
    assert not any(secret in first + second for secret in (SECRET_GAIN, SECRET_PERSON, SECRET_TEXT, "canary"))
    assert json.loads((tmp_path / "clean.csv.json").read_text(encoding="utf-8"))["arm_names"] == ["A", "B", "placebo"]
    (run,) = [line for line in second.splitlines() if line.startswith("dp-bandit run")]
    epsilon = float(run.split("--epsilon ")[1].split()[0])
    served = Replay(tmp_path / "clean.csv", persons="person").data_use.person
    assert 0.99 < epsilon * served <= 1 < served
    code, out, err = dp_bandit(*ADVISE.split())
    assert (code, err) == (0, "") and "all 20 rounds of a person" in out
    assert "What to take" in out and "Privacy pays" in out and "no outcome was used" in out


def test_a_clean_file_is_replaced_only_if_told_and_a_messy_one_never(dp_bandit, tmp_path):
    (tmp_path / "messy.csv").write_bytes(messy())
    assert dp_bandit(*DATA.split(), *DECIDED.split())[0] == 0
    code, _, err = dp_bandit(*DATA.split(), *DECIDED.split())
    assert code == 2 and "--force" in err
    assert dp_bandit(*DATA.split(), *DECIDED.split(), "--force")[0] == 0
    assert dp_bandit(*DATA.split(), "--out", "messy.csv", "--force")[0] == 2
    assert (tmp_path / "messy.csv").read_bytes() == messy()


def test_without_an_arm_the_columns_are_listed_unless_they_may_be_a_record(dp_bandit, tmp_path):
    (tmp_path / "trial.csv").write_text("who,drug,effect\nm,a,1\nn,b,0\n", encoding="utf-8")
    code, out, _ = dp_bandit("data", "trial.csv")
    assert code == 1 and "'who', 'drug', 'effect'" in out and "--arm COLUMN" in out
    (tmp_path / "bare.csv").write_text("Meier,Ramipril,gut\nHuber,Ramipril,gut\n", encoding="utf-8")
    code, out, err = dp_bandit("data", "bare.csv")
    assert code == 2 and "--arm" in err and "Meier" not in out + err and "gut" not in out + err


@pytest.mark.parametrize(
    ("command", "content"),
    one_each(
        [["advise"], ["run", "Batched-Lap-HTINF"]],
        ["Zürich;1\n".encode("latin-1"), b"arm;gain;person\n0;1;a\n", messy()],
    ),
)
def test_a_messy_file_is_to_be_cleaned(dp_bandit, tmp_path, command, content):
    (tmp_path / "messy.csv").write_bytes(content)
    code, _, err = dp_bandit(command[0], "messy.csv", *command[1:], "--epsilon", 1)
    assert code == 2 and "dp-bandit data" in err


def test_a_clean_file_needs_its_column_of_persons(dp_bandit, tmp_path):
    (tmp_path / "clean.csv").write_text("arm,gain,person\n0,1,0\n1,0,1\n", encoding="utf-8")
    code, _, err = dp_bandit("run", "clean.csv", "Batched-Lap-HTINF", "--epsilon", 1)
    assert code == 2 and "--persons person" in err


QUICK = ["--algorithm", "DP-KLUCB", "--gap", "0.3", "--trials", "4", "--jobs", "1"]


def test_a_messy_file_is_cleaned_and_played_and_advised_on_as_the_pages_say(dp_bandit, capsys):
    said = ""
    for language, code in in_order("docs/recorded-data.md"):
        if language == "python":
            run(small(code).replace("gap=0.2)", "gap=0.2, trials=4)"))
            said += capsys.readouterr().out
            continue
        for line in code.strip().splitlines():
            words = shlex.split(re.sub("--horizon 5000", "--horizon 500", line))[1:]
            sizes = {"run": ["--trials", "2", "--out", "results"], "advise": QUICK}
            exit_code, out, err = dp_bandit(*words, *sizes.get(words[0], []))
            said += out
            # Before anything is decided, problems are open.
            assert (exit_code, err) == (1 if words[0] == "data" and "--out" not in words else 0, ""), line
            assert words[0] != "advise" or "What to take" in out
    quoted = [
        line
        for line in PAGES["docs/recorded-data.md"].splitlines()
        if re.match(r"    (\w+\.csv|TO DECIDE|done|\d+ persons|Replayed)", line)
    ]
    assert len(quoted) == 9
    for line in quoted:
        assert line.strip().removesuffix("...").strip() in said, line


def test_a_file_is_played_and_counted_as_the_page_says(dp_bandit):
    """The lines for a shell play the file that the Python of the page has written."""
    run(*blocks("docs/real-data.md", "python"))
    written = lines("docs/real-data.md")
    for number, line in enumerate(written):
        words = shlex.split(line)[1:]
        size = ["--trials", "2", "--horizon", "600", "--jobs", "1", "--out", f"results-{number}"]
        code, out, err = dp_bandit(*words, *(size if words[0] == "run" else []))
        assert (code, err) == (0, ""), line
    assert len(written) == 5 and written[-1].endswith("budget.ledger") and "2 games" in out
