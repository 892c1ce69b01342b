"""A ledger in a file: it survives its process, processes at once lose no game, and no other file will do."""

import contextlib
import functools
import gc
import os
import pickle
import signal
import sqlite3
import subprocess
import sys
import time

import gymnasium as gym
import numpy as np
import pytest

import dp_bandit_envs  # noqa: F401 - registers the ids
from dp_bandit_envs import Algorithm, Ledger, simulate
from dp_bandit_envs.agents import Exp3
from dp_bandit_envs.errors import BudgetSpentError, LedgerFileError
from dp_bandit_envs.privacy import PrivacyGuarantee
from dp_bandit_envs.privacy.participation import Participation
from dp_bandit_envs.simulation.simulation import prepare
from dp_bandit_envs.simulation.workers import run_tasks
from dp_bandit_envs.wrappers import LaplaceClipRescale
from tests.tools.refusals import refused

TABLE = np.zeros((4, 2))
GAME = [[PrivacyGuarantee(1.0)]]
SPEND = """
import sys
from dp_bandit_envs.privacy.participation import Participation
from dp_bandit_envs.errors import BudgetSpentError
from dp_bandit_envs.privacy import Ledger, PrivacyGuarantee
ledger = Ledger.load(sys.argv[1])
game = [[PrivacyGuarantee(float(sys.argv[3]))]]
print("ready", flush=True)
sys.stdin.readline()
begun = 0
for _ in range(int(sys.argv[2])):
    try:
        ledger.spend(game, Participation(1), secret=True)
        begun += 1
        if len(sys.argv) > 4:
            print(begun, flush=True)
    except BudgetSpentError:
        break
print(begun)
"""


def spend(ledger, times=1):
    return ledger.spend(GAME, Participation(1), times, secret=True)


def started(path, *arguments):
    one = subprocess.Popen(
        [sys.executable, "-c", SPEND, str(path), *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    return one


def go(one):
    assert one.stdout.readline() == "ready\n"
    one.stdin.write("go\n")
    one.stdin.flush()


@pytest.fixture
def path(tmp_path):
    return tmp_path / "mine.ledger"


@pytest.mark.parametrize("name", ["mine.ledger", "100% mine? #1 ü.ledger"])
def test_counting_goes_on_after_a_restart(tmp_path, name):
    """And after `with`; names with signs are names."""
    path = tmp_path / name
    with Ledger.create(path, epsilon=3.0) as ledger:
        spend(ledger)
    spend(ledger)
    again = Ledger.load(str(path))
    assert path.exists() and again.spent == (2, 2.0, 0.0) and again.budget == (3.0, 1e-6, "record", 0.0)
    env = LaplaceClipRescale(gym.make("DPBandit-Replay-v0", gains=TABLE, ledger=again), epsilon=1.0)
    env.reset()
    assert Ledger.load(path).spent.games == 2
    env.step(0)
    with pytest.raises(BudgetSpentError):
        spend(Ledger.load(path))
    assert Ledger.load(path).spent.games == 3


@pytest.mark.thorough
def test_six_processes_on_a_budget_of_one_begin_exactly_ten_games_of_a_tenth(path):
    Ledger.create(path, epsilon=1.0)
    all_ = [started(path, 10, 0.1) for _ in range(6)]
    for one in all_:
        go(one)
    begun = [int(one.communicate()[0]) for one in all_]
    assert sum(begun) == 10 == Ledger.load(path).spent.games and Ledger.load(path).spent.epsilon == 1.0
    assert all(one.returncode == 0 for one in all_)


@pytest.mark.thorough
@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL")
@pytest.mark.parametrize("kills", [4, pytest.param(20, marks=pytest.mark.slow)])
def test_kills_while_spending_lose_no_game_and_no_file(path, kills):
    """What was reported as begun is counted, and at most one more, which was on the disk before it could begin."""
    Ledger.create(path, epsilon=1e6)
    counted = 0
    for number in range(kills):
        one = started(path, 10**6, 1.0, "loud")
        go(one)
        one.stdout.readline()
        time.sleep(0.003 * number)
        one.send_signal(signal.SIGKILL)
        lines = [line for line in one.communicate()[0].split("\n")[:-1] if line]
        said = int(lines[-1]) if lines else 1
        found = Ledger.load(path).spent.games
        assert counted + said <= found <= counted + said + 1
        counted = found
    with contextlib.closing(sqlite3.connect(path)) as db:
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)


@pytest.mark.thorough
def test_threads_lose_no_game(path):
    from concurrent.futures import ThreadPoolExecutor

    for ledger in (Ledger(epsilon=100.0), Ledger.create(path, epsilon=100.0)):
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(lambda _, ledger=ledger: spend(ledger), range(40)))
        assert ledger.spent.games == 40


def test_a_full_disk_begins_nothing(path, monkeypatch):
    """SQLite's own limit of pages stands for the disk; the file is as it was."""
    ledger = Ledger.create(path, epsilon=5.0)
    env = LaplaceClipRescale(gym.make("DPBandit-Replay-v0", gains=TABLE, ledger=ledger), epsilon=1.0)
    env.reset()
    env.step(0)
    before, connect = path.read_bytes(), sqlite3.connect

    def full(*arguments, **options):
        db = connect(*arguments, **options)
        db.execute(f"PRAGMA max_page_count = {db.execute('PRAGMA page_count').fetchone()[0]}")
        return db

    monkeypatch.setattr(sqlite3, "connect", full)
    other = [[PrivacyGuarantee(1e-3, theorem=str(i))] for i in range(200)]
    with refused(LedgerFileError, "mine.ledger", "full"):
        ledger.spend(other, Participation(1), secret=True, players=[str(i) for i in range(200)])
    monkeypatch.undo()
    assert path.read_bytes() == before and ledger.spent.games == 1
    # As a disk that is mounted read-only.
    path.unlink()
    ledger, connect = Ledger.create(path, epsilon=5.0), sqlite3.connect
    read_only = functools.partial(lambda where, **options: connect(where.replace("mode=rw", "mode=ro"), **options))
    monkeypatch.setattr(sqlite3, "connect", read_only)
    with refused(LedgerFileError, "mine.ledger", "readonly"):
        spend(ledger)
    assert ledger.spent.games == 0


def test_creating_a_budget_and_opening_one_are_two_calls(path, tmp_path):
    with refused(LedgerFileError, "mine.ledger", "Ledger.create"):
        Ledger.load(path)
    assert not path.exists()
    ledger = Ledger.create(path, epsilon=3.0)
    spend(ledger)
    with refused(LedgerFileError, "mine.ledger", "Ledger.load"):
        Ledger.create(path, epsilon=3.0)
    assert ledger.spent.games == 1
    with refused(LedgerFileError, "nowhere"):
        Ledger.create(tmp_path / "nowhere" / "mine.ledger", epsilon=1.0)
    with pytest.raises(TypeError):
        Ledger(epsilon=3.0, path=path)


def test_a_file_that_is_gone_or_another_ledgers_is_refused(path, tmp_path):
    ledger = Ledger.create(path, epsilon=3.0)
    spend(ledger)
    path.unlink()
    for begin in (lambda: spend(ledger), lambda: ledger.spent, lambda: Ledger.load(path)):
        with refused(LedgerFileError, "mine.ledger", "there is none"):
            begin()
    assert not path.exists()  # one that began anew would have forgotten a game
    Ledger.create(path, epsilon=3.0)
    with refused(LedgerFileError, "mine.ledger", "another one's"):
        spend(ledger)


def test_a_file_that_is_no_ledger_is_refused(path):
    other = sqlite3.connect(path)
    with other:
        other.execute("CREATE TABLE mine (number INTEGER)")
    other.close()
    for text in (None, b"", b"gains", b"{}", b"\xff" * 5000):
        if text is not None:
            path.write_bytes(text)
        with refused(LedgerFileError, "mine.ledger", "damaged or something else"):
            Ledger.load(path)


@pytest.mark.thorough_cases("let go", "let go in a circle")
@pytest.mark.parametrize("left", ["with", "with an error", "let go", "let go in a circle"])
def test_a_ledger_in_memory_leaves_no_connection_open(left):
    """Python 3.13 and later warn of one."""
    ledger = Ledger(epsilon=3.0)
    db = ledger._store._memory
    if "with" in left:
        with contextlib.suppress(ZeroDivisionError), ledger as same:
            spend(same)
            assert same is ledger and ledger.spent.games == 1
            1 / (left == "with")
        for begin in (lambda: spend(ledger), lambda: ledger.spent, lambda: pickle.loads(pickle.dumps(ledger)).spent):
            with refused(LedgerFileError, "closed", "Ledger.create"):
                begin()
        ledger.close()
    else:
        ledger.itself = ledger if "circle" in left else None
        del ledger
        gc.collect()
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        db.execute("SELECT 1")


@pytest.mark.thorough
def test_in_other_processes_a_file_counts_and_memory_refuses_what_was_not_counted(path, tmp_path):
    """A forked process has a copy of the memory, a spawned one a pickle; neither may count apart."""
    script = """
import os, pickle, sys
from dp_bandit_envs.privacy.participation import Participation
from dp_bandit_envs.errors import LedgerFileError
from dp_bandit_envs.privacy import Ledger, PrivacyGuarantee
from dp_bandit_envs.privacy.admission import Admission, playing_under
game = [[PrivacyGuarantee(1.0)]]
with open(sys.argv[1], "rb") as file:
    in_file, in_memory, reservation = pickle.load(file)
in_file.spend(game, Participation(1), secret=True)
def refuses(ledger):
    try:
        ledger.spend(game, Participation(1), secret=True)
    except LedgerFileError:
        return True
assert refuses(in_memory)
with playing_under(game, secret=True, players=["mine"], reservation=reservation):
    Admission([in_memory], Participation(1), 1).pay()
    try:
        Admission([in_memory], Participation(1), 1)
    except LedgerFileError:
        print("refused")
own = Ledger(epsilon=9.0)
if hasattr(os, "fork"):
    child = os.fork()
    if child == 0:
        os._exit(0 if refuses(own) else 1)
    assert os.waitpid(child, 0)[1] == 0
own.spend(game, Participation(1), secret=True)
print(own.spent.games)
"""
    in_file, in_memory = Ledger.create(path, epsilon=9.0), Ledger(epsilon=9.0)
    reservation = in_memory.spend(GAME, Participation(1), secret=True, players=["mine"])
    (tmp_path / "both.pickle").write_bytes(pickle.dumps((in_file, in_memory, reservation)))
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", script, str(tmp_path / "both.pickle")],
        cwd=os.path.dirname(tmp_path),
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stdout.split()) == (0, ["refused", "1"]), done.stderr
    assert (in_file.spent.games, in_memory.spent.games) == (1, 1)
    assert pickle.loads(pickle.dumps(in_memory)) is in_memory


class Plain(Exp3):
    """An agent that is played, not compiled, and so in processes."""

    def update(self, arm, observation):
        super().update(arm, observation)


@pytest.mark.slow
def test_games_in_worker_processes_count(path):
    """Those of `simulate` in the process that calls it, whatever the ledger; others where they begin, in the file."""
    player = Algorithm("plain", Plain, functools.partial(LaplaceClipRescale, epsilon=1.0))
    in_file = Ledger.create(path, epsilon=6.0)
    for ledger, refusal in ((Ledger(epsilon=6.0), LedgerFileError), (in_file, BudgetSpentError)):
        data = {"gains": TABLE, "ledger": ledger}
        result = simulate("DPBandit-Replay-v0", [player], trials=4, seed=None, jobs=2, env_kwargs=data)
        assert result["plain"].engine == "play" and ledger.spent.games == 4
        with pytest.raises(BudgetSpentError):
            simulate("DPBandit-Replay-v0", [player], trials=3, seed=None, jobs=2, env_kwargs=data)
        prepared = prepare("DPBandit-Replay-v0", [player], horizon=None, seed=None, checkpoints=1, env_kwargs={**data})
        tasks = prepared.tasks(range(3))
        with pytest.raises(refusal):
            list(run_tasks(tasks, 2, in_threads=False))
    assert in_file.spent.games == 6


def test_a_ledger_has_its_name_only_when_it_is_whole(tmp_path, monkeypatch):
    """A process that is killed before leaves no file that later commands refuse."""
    path, link, linked = tmp_path / "a.ledger", os.link, []

    def watched(partial, target):
        linked.append((path.exists(), Ledger.load(partial).budget))
        link(partial, target)

    monkeypatch.setattr(os, "link", watched)
    ledger = Ledger.create(path, epsilon=1)
    assert linked == [(False, ledger.budget)]
    assert [*tmp_path.iterdir()] == [path]
