"""`dp-bandit run` on a file of real data: what holds for whom, the secret seed, and its page."""

import json
import re
import shlex
import stat
import sys
import zipfile
from collections import Counter

import numpy as np
import pytest

from dp_bandit_envs.adversaries import Replay
from dp_bandit_envs.algorithms import make_algorithm
from dp_bandit_envs.experiments import load, running
from dp_bandit_envs.simulation import simulation
from tests.tools.pages import blocks, lines, run

LINES = "arm,gain,who\n" + "".join(f"{i % 2},{i % 3 / 2},p{i % 4}\n" for i in range(8))


@pytest.fixture(autouse=True)
def mine(tmp_path):
    """A file `mine.csv` in the folder in which the command line runs."""
    (tmp_path / "mine.csv").write_text(LINES, encoding="utf-8")


WORDS = "run mine.csv DP-EXP3-Lap Tsallis-INF --epsilon 0.5 --trials 2 --horizon 16 --out out"
RUN = tuple(WORDS.split())


@pytest.mark.thorough
def test_terminal_and_report_say_what_holds_for_a_record_and_a_person(dp_bandit, tmp_path, monkeypatch):
    """Sixteen rounds, pools of 4: a record serves in 4 rounds; p0 has two of arm 0, so serves in 8.

    That a file has the name of the column changes nothing.
    """
    monkeypatch.setenv("COLUMNS", "80")
    (tmp_path / "who").write_text("another file", encoding="utf-8")
    code, out, err = dp_bandit(*RUN, "--persons", "who")
    assert (code, err) == (0, "")
    for words in ("record", "person", "eps 2", "eps 4"):
        assert words in out
    report = (tmp_path / "out" / "report.md").read_text(encoding="utf-8")
    assert "| algorithm | guaranteed | for a record | for a person |" in report
    assert "| DP-EXP3-Lap | eps 0.5 | eps 2 | eps 4 |" in report
    assert "| Tsallis-INF | (no privacy) |  |  |" in report
    assert "for a person, which can serve in up to 8 rounds: epsilon = 4" in report


def test_what_all_games_spend_together_is_for_a_person_and_has_its_delta(dp_bandit):
    """A person of 8 rounds has 64 times rho, and two games twice that; never twice one epsilon of AdaC-GOPE."""
    words = "run mine.csv AdaC-GOPE:rho=0.01 DP-EXP3-Lap:epsilon=0.5 --trials 2 --horizon 16 --persons who --out out"
    code, out, _ = dp_bandit(*words.split())
    together = make_algorithm("AdaC-GOPE", rho=2 * 64 * 0.01).guarantee(n_arms=2, horizon=16).epsilon_at(1e-6)
    said = " ".join(out.split()).partition("all 2 games spends it 2 times, together ")[2]
    shown = re.match(
        r"AdaC-GOPE \(rho=0.01\) \(eps ([\d.]+), delta 1e-06\) for a person,"
        r" DP-EXP3-Lap \(epsilon=0.5\) \(eps 8\) for a person\.",
        said,
    )
    assert code == 0 and shown is not None, said
    assert float(shown[1]) == pytest.approx(together, rel=1e-3)


def test_a_guarantee_that_says_nothing_for_a_person_is_named_as_one(dp_bandit):
    """In eight rounds, rho = 6.4 is an epsilon of 25, at which fast draws add more than 1e-6 to delta."""
    words = "run mine.csv AdaC-GOPE:rho=0.1 --trials 1 --horizon 16 --persons who --out out"
    code, out, err = dp_bandit(*words.split())
    assert (code, err) == (0, "")
    assert "hardly protects anybody: AdaC-GOPE (rho=0.1) (none for a person)." in " ".join(out.split())


SECRET = 271828182845904523536028747135266249775
PLAIN = (*RUN, "--persons", "who")


def written(folder):
    """Return all bytes that a run has written, with those of archives unpacked."""
    found = []
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            found.append(path.read_bytes())
            if path.suffix == ".npz":
                with zipfile.ZipFile(path) as archive:
                    found += [archive.read(name) for name in archive.namelist()]
    return b"\n".join(found)


@pytest.mark.thorough
def test_without_a_seed_it_is_secret_and_written_nowhere(dp_bandit, tmp_path, monkeypatch):
    monkeypatch.setattr(simulation, "draw_seed", lambda: SECRET)
    code, out, err = dp_bandit(*PLAIN)
    assert (code, err) == (0, "")
    assert "secret" in out and "cannot be repeated" in out
    report = (tmp_path / "out" / "report.md").read_text(encoding="utf-8")
    assert "A secret seed; 2 trials" in report and "same command gives the same numbers" not in report
    assert json.loads((tmp_path / "out" / "configuration.json").read_text(encoding="utf-8"))["seed"] is None
    everything = written(tmp_path / "out") + (out + err).encode()
    in_bytes = SECRET.to_bytes(16, "little")
    for form in (str(SECRET).encode(), f"{SECRET:x}".encode(), in_bytes, in_bytes[::-1]):
        assert form not in everything


@pytest.mark.thorough
def test_a_given_seed_is_warned_of_on_the_terminal_and_in_the_report(dp_bandit, tmp_path):
    code, out, _ = dp_bandit(*PLAIN, "--seed", 3)
    assert code == 0 and "The noise can be subtracted." in out
    report = (tmp_path / "out" / "report.md").read_text(encoding="utf-8")
    assert "**The noise can be subtracted.**" in report and "Seed 3;" in report
    _, out, _ = dp_bandit("run", "Stochastic", "DP-EXP3-Lap", "--trials", 1, "--horizon", 8, "--out", "coins")
    assert "subtracted" not in out and "secret" not in out and "for a record" not in out
    report = (tmp_path / "coins" / "report.md").read_text(encoding="utf-8")
    assert "Seed 0;" in report and "| for a record |" not in report


@pytest.mark.thorough
def test_an_interrupted_run_with_a_secret_seed_cannot_go_on_and_says_so(dp_bandit, tmp_path, monkeypatch):
    """It stops when the first of three chunks is saved."""
    save = running.Chunk.save

    def interrupted(chunk, folder, arrays):
        save(chunk, folder, arrays)
        raise KeyboardInterrupt

    more = [*PLAIN, "--trials", 72, "--jobs", 1]
    with monkeypatch.context() as patch:
        patch.setattr(running.Chunk, "save", interrupted)
        code, _, err = dp_bandit(*more)
    assert code == 130 and "cannot be continued" in err and "same command continues" not in err
    before = written(tmp_path / "out")
    code, _, err = dp_bandit(*more)
    assert code == 2 and "secret seed" in err and "--out" in err
    assert written(tmp_path / "out") == before
    with monkeypatch.context() as patch:
        patch.setattr(running.Chunk, "save", interrupted)
        known = [*more, "--out", "known", "--seed", 1]
        code, _, err = dp_bandit(*known)
    assert code == 130 and "same command continues" in err
    assert dp_bandit(*known)[0] == 0


@pytest.mark.thorough
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such modes")
def test_nobody_else_can_open_the_results_on_real_data(dp_bandit, tmp_path):
    assert dp_bandit(*PLAIN)[0] == 0
    assert stat.S_IMODE((tmp_path / "out").stat().st_mode) == 0o700
    load(tmp_path / "out").save(tmp_path / "again")
    assert stat.S_IMODE((tmp_path / "again").stat().st_mode) == 0o700
    assert dp_bandit("run", "Stochastic", "Uniform", "--trials", 1, "--horizon", 8, "--out", "coins")[0] == 0
    assert stat.S_IMODE((tmp_path / "coins").stat().st_mode) & 0o500 == 0o500
    (tmp_path / "plain").mkdir()
    assert (tmp_path / "coins").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_gains_that_are_typed_get_into_no_report(dp_bandit, tmp_path):
    typed = "Replay:gains=[[.3125,.6875],[.3125,.6875]]"
    code, out, err = dp_bandit("run", typed, "Uniform", "--trials", 1, "--out", "mine")
    assert code == 0 and "3125" not in out + err
    for path in (tmp_path / "mine").iterdir():
        if path.suffix in (".md", ".csv", ".json", ".svg"):
            assert "3125" not in path.read_text(encoding="utf-8"), path.name


@pytest.mark.thorough
def test_a_file_is_played_and_counted_as_the_page_says(dp_bandit):
    """The lines for a shell play the file that the Python of the page has written."""
    run(*blocks("docs/real-data.md", "python"))
    written = lines("docs/real-data.md")
    for number, line in enumerate(written):
        words = shlex.split(line)[1:]
        size = ["--trials", "2", "--horizon", "600", "--jobs", "1", "--out", f"results-{number}"]
        code, out, err = dp_bandit(*words, *(size if words[0] == "run" else []))
        assert (code, err) == (0, ""), line
    assert len(written) == 6 and written[-1].endswith("budget.ledger") and "2 games" in out


def test_the_pages_lines_of_pandas_get_the_records_of_the_old_cleaning(tmp_path, monkeypatch):
    """595 of 600, with the gains that `dp-bandit data` found in the same file, and the counts that guarantees need."""
    pytest.importorskip("pandas")
    monkeypatch.chdir(tmp_path)
    run(*(code for code in blocks("docs/real-data.md", "python") if "trial.csv" in code))
    records = np.genfromtxt("clean.csv", delimiter=",", names=True)
    assert Counter(records["arm"].tolist()) == {0: 198, 1: 188, 2: 209}
    of_person = sorted(Counter(records["person"].tolist()).values())
    assert (len(of_person), of_person[-1], of_person[len(of_person) // 2]) == (227, 8, 2)
    use = Replay("clean.csv", persons="person").data_use
    assert (use.record, use.person) == (4, 27)
    assert round(records["gain"].sum(), 9) == 339.105
