"""`dp-bandit tournament`: what it writes, what it refuses before it plays, and what an interrupt leaves."""

import os
import re
import shlex
import signal
import time

import pytest

from dp_bandit_envs import tournament
from tests.tools.pages import PAGES, lines
from tests.tools.processes import POSIX, finish, start
from tests.tools.refusals import missing
from tests.tools.submitted_agents import BAD, LEADER, agent

SMALL = ("--horizon", 50, "--games", 6, "--n-arms", 3, "--jobs", 1, "--seed", 123456789)
FILES = {"index.html", "report.md", "summary.csv"}


@pytest.fixture(autouse=True)
def small_simulations_are_played(monkeypatch):
    monkeypatch.setenv("DP_BANDIT_ENVS_COMPILE", "auto")


def put(tmp_path, **files):
    folder = tmp_path / "agents"
    folder.mkdir(exist_ok=True)
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text, encoding="utf-8")
    return folder


def test_it_writes_all_files_and_names_the_seed_to_repeat_it(dp_bandit, tmp_path):
    put(tmp_path, leader=LEADER, raises=BAD["raises"][0])
    code, out, err = dp_bandit("tournament", "agents", *SMALL, "--epsilon", 1, "--out", "one")
    assert (code, err) == (0, "")
    assert missing(out, "no sandbox", "leader", "ZeroDivisionError", "123456789", "index.html", "DP-EXP3-Lap") == []
    assert {path.name for path in (tmp_path / "one").iterdir()} == FILES
    report = (tmp_path / "one" / "report.md").read_text(encoding="utf-8")
    assert missing(report, "epsilon = 1", "123456789", "no sandbox", "division by zero") == []
    # A second run does not touch the first.
    before = {path.name: path.read_bytes() for path in (tmp_path / "one").iterdir()}
    code, _, err = dp_bandit("tournament", "agents", *SMALL, "--out", "one")
    assert code == 2 and missing(err, "one", "new or empty") == []
    assert {path.name: path.read_bytes() for path in (tmp_path / "one").iterdir()} == before


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("agents", "--horizon", 49), ["--horizon", "50", "49"]),
        (("agents", "--n-arms", 1), ["--n-arms", "2", "1"]),
        (("agents", "--epsilon", "nan"), ["--epsilon", "nan"]),
        (("agents", "--seconds", "nan"), ["--seconds", "nan"]),
        (("nowhere",), ["FOLDER", "nowhere"]),
        (("empty",), ["FOLDER", "NAME.py"]),
        (("agents", "--out", "agents"), ["agents", "new or empty"]),
    ],
)
def test_what_it_refuses_before_anything_is_played(dp_bandit, tmp_path, options, words):
    put(tmp_path, leader=LEADER)
    (tmp_path / "empty").mkdir()
    code, out, err = dp_bandit("tournament", *options)
    assert code == 2 and "leader" not in out
    assert missing(err, *words) == [] and err.count("\n") == 1
    assert not any((tmp_path / "results").rglob("*"))


def test_an_error_while_it_writes_leaves_nothing(dp_bandit, tmp_path, monkeypatch):
    from dp_bandit_envs import files

    def full(target, content, mode):
        if target.name == "report.md":
            raise OSError(28, "No space left on device")
        return write_new(target, content, mode)

    write_new = files._write_new
    monkeypatch.setattr(files, "_write_new", full)
    put(tmp_path, leader=LEADER)
    code, _, err = dp_bandit("tournament", "agents", *SMALL, "--out", "one")
    assert code == 2 and "No space left" in err
    assert {path.name for path in tmp_path.iterdir()} == {"agents"}


def test_a_folder_that_others_wrote_into_meanwhile_is_left_alone(dp_bandit, tmp_path):
    """Such as an agent that knows a way; the page gets a fresh folder."""
    put(tmp_path, leader=LEADER, same="# mine\n" + LEADER)
    (tmp_path / "one").mkdir()
    with pytest.MonkeyPatch.context() as patch:
        hold = tournament.hold

        def meanwhile(*words, **options):
            (tmp_path / "one" / "index.html").write_text("!")
            return hold(*words, **options)

        patch.setattr(tournament, "hold", meanwhile)
        code, out, _ = dp_bandit("tournament", "agents", *SMALL, "--out", "one")
    assert code == 0 and "one-2/index.html" in out and "The same code, but for comments and spaces: leader, same" in out
    page = (tmp_path / "one-2" / "index.html").read_text(encoding="utf-8")
    assert page.partition("<body>")[2].strip().startswith("<p><strong>This is no sandbox")
    assert (tmp_path / "one" / "index.html").read_text() == "!"


@pytest.mark.skipif(not POSIX, reason="SIGINT")
def test_an_interrupt_stops_all_agents_and_leaves_nothing(tmp_path):
    select = "import os, time\nprint(os.getpid(), flush=True)\ntime.sleep(100)"
    folder = put(tmp_path, first=agent(select=select))
    put(tmp_path, marks=agent(begin=f"open('begun', 'w').write(str(__import__('os').getpid()))\n{select}"))
    (tmp_path / "temporary").mkdir()
    process = start(["tournament", folder, "--out", "out", "--jobs", "2"], tmp_path, TMPDIR=str(tmp_path / "temporary"))
    begun = ""
    while not begun:
        assert process.poll() is None
        begun = "".join(path.read_text() for path in tmp_path.glob("temporary/*/begun"))
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    code, _, err = finish(process)
    assert code == 130 and missing(err, "Interrupted", "nothing was written") == []
    assert not (tmp_path / "out").exists()
    with pytest.raises(ProcessLookupError):
        os.kill(int(begun), 0)


def test_the_page_of_the_tournament_can_be_followed(dp_bandit, tmp_path):
    """The file that it shows is submitted, and its commands are run on it, in small."""
    (file,) = re.findall(r"```python\n(# careful\.py\n.*?)```", PAGES["docs/tournament.md"], re.DOTALL)
    (tmp_path / "submissions").mkdir()
    (tmp_path / "submissions" / "careful.py").write_text(file, encoding="utf-8")
    commands = lines("docs/tournament.md", "dp-bandit ")
    assert commands
    for number, line in enumerate(commands):
        code, out, err = dp_bandit(*shlex.split(line)[1:], *SMALL, "--out", f"results-{number}")
        assert (code, err) == (0, "") and "careful: played all games" in out
