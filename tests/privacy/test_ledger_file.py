"""A ledger in a file: it survives its process, two processes at once lose no game, and no other file will do."""

import functools
import json
import os
import pickle
import subprocess
import sys
import threading

import gymnasium as gym
import numpy as np
import pytest

import dp_bandit_envs  # noqa: F401 - registers the ids
from dp_bandit_envs import Algorithm, Ledger, durable_files, simulate
from dp_bandit_envs.agents import Exp3
from dp_bandit_envs.data_use import DataUse
from dp_bandit_envs.errors import BudgetSpentError, LedgerFileError
from dp_bandit_envs.privacy import PrivacyGuarantee
from dp_bandit_envs.privacy.announced import announced
from dp_bandit_envs.simulation.simulation import prepare
from dp_bandit_envs.simulation.workers import spread
from dp_bandit_envs.wrappers import LaplaceClipRescale
from tests.tools.refusals import refused

TABLE = np.zeros((4, 2))
GAME = [[PrivacyGuarantee(1.0)]]
SPEND = """
import sys
from dp_bandit_envs.data_use import DataUse
from dp_bandit_envs.errors import BudgetSpentError
from dp_bandit_envs.privacy import Ledger, PrivacyGuarantee
ledger = Ledger.load(sys.argv[1])
print("ready", flush=True)
sys.stdin.readline()
begun = 0
for _ in range(int(sys.argv[2])):
    try:
        ledger.spend([[PrivacyGuarantee(1.0)]], DataUse(1), secret=True)
        begun += 1
    except BudgetSpentError:
        break
print(begun)
"""


def spend(ledger, times=1):
    ledger.spend(GAME, DataUse(1), times, secret=True)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "mine.json"


def test_counting_goes_on_after_a_restart(path):
    spend(Ledger(epsilon=3.0, path=path), 2)
    again = Ledger(epsilon=3.0, path=str(path))
    assert again.spent == Ledger.load(path).spent == (2, 2.0, 0.0, 0.0)
    env = LaplaceClipRescale(gym.make("DPBandit-Replay-v0", gains=TABLE, ledger=again), epsilon=1.0)
    env.reset()
    with pytest.raises(BudgetSpentError):
        Ledger.load(path).spend(GAME, DataUse(1), secret=True)
    assert Ledger.load(path).spent.games == 3


def test_two_processes_at_once_lose_no_game_and_stop_at_the_budget(path):
    """Each wants 40 games of the 50 that there are; both begin when both are ready."""
    Ledger(epsilon=50.0, path=path)
    both = [
        subprocess.Popen(
            [sys.executable, "-c", SPEND, str(path), "40"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for _ in range(2)
    ]
    for one in both:
        assert one.stdout.readline() == "ready\n"
    for one in both:
        one.stdin.write("go\n")
        one.stdin.flush()
    begun = [int(one.communicate()[0]) for one in both]
    assert sum(begun) == 50 == Ledger.load(path).spent.games
    assert all(one.returncode == 0 for one in both)


def test_threads_lose_no_game(path):
    from concurrent.futures import ThreadPoolExecutor

    for ledger in (Ledger(epsilon=100.0), Ledger(epsilon=100.0, path=path)):
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(lambda _, ledger=ledger: spend(ledger), range(40)))
        assert ledger.spent.games == 40


@pytest.mark.skipif(sys.platform == "win32", reason="there, an open file cannot be deleted")
def test_a_lock_that_somebody_deletes_loses_no_game(path, monkeypatch):
    """A second one begins while the first is between reading and writing; it waits, or else is overwritten."""
    first, second = Ledger(epsilon=9.0, path=path), Ledger.load(path)
    reads, others = first._store.read, []

    def reads_while_another_begins():
        account = reads()
        path.with_name("mine.json.lock").unlink()
        others.append(threading.Thread(target=spend, args=(second,)))
        others[0].start()
        others[0].join(1.0)
        return account

    monkeypatch.setattr(first._store, "read", reads_while_another_begins)
    spend(first)
    others[0].join()
    assert Ledger.load(path).spent.games == 2


def test_a_game_is_on_the_disk_before_it_begins(path, monkeypatch):
    """If the file cannot be written, nothing is played, and the file is as it was."""
    ledger = Ledger(epsilon=5.0, path=path)
    env = LaplaceClipRescale(gym.make("DPBandit-Replay-v0", gains=TABLE, ledger=ledger), epsilon=1.0)
    env.reset()
    before = path.read_bytes()

    def full(target):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(durable_files, "whole_file", full)
    with refused(LedgerFileError, "mine.json", "No space left on device"):
        env.reset()
    assert path.read_bytes() == before
    with pytest.raises(gym.error.ResetNeeded):
        env.step(0)


@pytest.mark.parametrize(
    "budget", [{"epsilon": 4.0}, {"epsilon": 3.0, "delta": 1e-6}, {"epsilon": 3.0, "unit": "person"}]
)
def test_a_file_keeps_its_budget(path, budget):
    Ledger(epsilon=3.0, path=path)
    with refused(LedgerFileError, "mine.json", "epsilon = 3"):
        Ledger(**budget, path=path)


def test_every_damaged_byte_is_noticed(path):
    spend(Ledger(epsilon=3.0, delta=1e-6, path=path))
    whole = path.read_bytes()
    harmless = 0
    for place in range(len(whole)):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        try:
            assert Ledger.load(path).spent.games == 1  # such as a space that becomes another one
            harmless += 1
        except LedgerFileError:
            pass
    assert harmless < len(whole) / 5
    for text in (b"", b"{}", b"[]", b"\xff", whole[:-9], json.dumps({"format": 1}).encode()):
        path.write_bytes(text)
        with refused(LedgerFileError, "mine.json"):
            Ledger.load(path)


def test_a_file_that_is_missing_or_another_ledgers_is_refused(path, tmp_path):
    with refused(LedgerFileError, "mine.json"):
        Ledger.load(path)
    ledger = Ledger(epsilon=3.0, path=path)
    spend(ledger)
    path.unlink()
    with pytest.raises(LedgerFileError):
        spend(ledger)  # a ledger that began anew would have forgotten a game
    Ledger(epsilon=3.0, path=path)
    with refused(LedgerFileError, "mine.json"):
        spend(ledger)
    with pytest.raises(LedgerFileError):
        Ledger(epsilon=1.0, path=tmp_path / "nowhere" / "mine.json")


def test_a_link_is_the_file_that_it_leads_to(path, tmp_path):
    """Written anew, a link would become a second file with the whole budget."""
    ledger = Ledger(epsilon=1.0, path=path)
    link, folder = tmp_path / "link.json", tmp_path / "folder"
    link.symlink_to(path)
    folder.symlink_to(tmp_path)
    spend(Ledger.load(link))
    assert link.is_symlink() and ledger.spent.games == Ledger.load(folder / "mine.json").spent.games == 1
    with pytest.raises(BudgetSpentError):
        spend(ledger)
    later = tmp_path / "later.json"
    (tmp_path / "to-later.json").symlink_to(later)
    spend(Ledger(epsilon=1.0, path=tmp_path / "to-later.json"))
    assert Ledger.load(later).spent.games == 1


def test_a_file_with_two_names_is_refused(path, tmp_path):
    ledger = Ledger(epsilon=1.0, path=path)
    os.link(path, tmp_path / "second.json")
    for begin in (lambda: spend(ledger), lambda: Ledger.load(tmp_path / "second.json")):
        with refused(LedgerFileError, "2"):
            begin()
    (tmp_path / "second.json").unlink()
    spend(ledger)


def test_an_older_copy_of_a_file_is_refused_by_a_process_that_knows_better(path, tmp_path):
    ledger = Ledger(epsilon=3.0, path=path)
    first = path.read_bytes()
    spend(ledger)
    second = path.read_bytes()
    path.write_bytes(first)
    (tmp_path / "copy.json").write_bytes(first)
    for begin in (lambda: spend(ledger), lambda: ledger.spent, lambda: Ledger.load(tmp_path / "copy.json")):
        with refused(LedgerFileError, "0", "1"):
            begin()
    path.write_bytes(second)
    spend(ledger)
    assert ledger.spent.games == 2


def test_in_other_processes_a_file_counts_and_memory_refuses_what_was_not_counted(path, tmp_path):
    """A forked process has a copy of the memory, a spawned one a pickle; neither may count apart."""
    script = """
import os, pickle, sys
from dp_bandit_envs.data_use import DataUse
from dp_bandit_envs.errors import LedgerFileError
from dp_bandit_envs.privacy import Ledger, PrivacyGuarantee
from dp_bandit_envs.privacy.announced import announced
game = [[PrivacyGuarantee(1.0)]]
with open(sys.argv[1], "rb") as file:
    in_file, in_memory = pickle.load(file)
in_file.spend(game, DataUse(1), secret=True)
def refuses(ledger):
    try:
        ledger.spend(game, DataUse(1), secret=True)
    except LedgerFileError:
        return True
assert refuses(in_memory)
with announced(game, secret=True, paid_by=(in_memory.id, DataUse(1))):
    in_memory.enter(DataUse(1))
    try:
        in_memory.enter(DataUse(1))
    except LedgerFileError:
        print("refused")
own = Ledger(epsilon=9.0)
if hasattr(os, "fork"):
    child = os.fork()
    if child == 0:
        os._exit(0 if refuses(own) else 1)
    assert os.waitpid(child, 0)[1] == 0
own.spend(game, DataUse(1), secret=True)
print(own.spent.games)
"""
    in_file, in_memory = Ledger(epsilon=9.0, path=path), Ledger(epsilon=9.0)
    (tmp_path / "both.pickle").write_bytes(pickle.dumps((in_file, in_memory)))
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", script, str(tmp_path / "both.pickle")],
        cwd=os.path.dirname(tmp_path),
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stdout.split()) == (0, ["refused", "1"]), done.stderr
    assert (in_file.spent.games, in_memory.spent.games) == (1, 0)


def test_what_was_counted_before_begins_once(path):
    ledger = Ledger(epsilon=1.0, path=path)
    with announced(GAME, secret=True, paid_by=(ledger.id, DataUse(1))):
        ledger.enter(DataUse(1))
        ledger.enter(DataUse(1))
        with pytest.raises(BudgetSpentError):
            ledger.enter(DataUse(1))
    assert ledger.spent.games == 1


class Plain(Exp3):
    """An agent that is played, not compiled, and so in processes."""

    def update(self, arm, observation):
        """Learn as usual."""
        super().update(arm, observation)


@pytest.mark.slow
def test_games_in_worker_processes_count(path):
    """Those of `simulate` in the process that calls it, whatever the ledger; others where they begin, in the file."""
    player = Algorithm("plain", Plain, functools.partial(LaplaceClipRescale, epsilon=1.0))
    for ledger, refusal in ((Ledger(epsilon=6.0), LedgerFileError), (Ledger(epsilon=6.0, path=path), BudgetSpentError)):
        data = {"gains": TABLE, "ledger": ledger}
        result = simulate("DPBandit-Replay-v0", [player], trials=4, seed=None, jobs=2, env_kwargs=data)
        assert result["plain"].engine == "play" and ledger.spent.games == 4
        with pytest.raises(BudgetSpentError):
            simulate("DPBandit-Replay-v0", [player], trials=3, seed=None, jobs=2, env_kwargs=data)
        prepared = prepare("DPBandit-Replay-v0", [player], horizon=None, seed=None, checkpoints=1, env_kwargs={**data})
        tasks = prepared.tasks(range(3))
        with pytest.raises(refusal):
            list(spread(tasks, 2, in_threads=False))
    assert ledger.spent.games == 6
