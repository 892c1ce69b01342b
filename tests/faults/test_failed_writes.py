"""Every file that a user keeps is written whole or not at all: each call of the system on the way to it fails once."""

import contextlib
import errno
import functools
import io
import itertools
import os
import unittest.mock

import pytest

from dp_bandit_envs import OutsideGame, files, suite
from dp_bandit_envs.agents import FunctionalAgent
from dp_bandit_envs.cli.audit_commands import show_audit
from dp_bandit_envs.cli.show_commands import show_counters
from dp_bandit_envs.cli.suite_commands import write_card
from dp_bandit_envs.cli.terminal import console
from dp_bandit_envs.course import lab_own_agent
from dp_bandit_envs.course.checking import WrongAnswer
from dp_bandit_envs.course.grading import write
from dp_bandit_envs.course.notebooks import copy_labs
from dp_bandit_envs.errors import FileAccessError, ResultsError
from dp_bandit_envs.experiments.store import ResultsFolder
from tests.tools.refusals import refused


class HalfWritten(io.FileIO):
    """A file on a disk that becomes full in the middle of what is written."""

    def write(self, content):
        super().write(bytes(content)[: len(content) // 2])
        raise OSError(errno.ENOSPC, "No space left on device")


@contextlib.contextmanager
def failing(number):
    """Make one of the calls that write files fail, the one of this number; yield what was called."""
    called = []

    def failed(name, real):
        def call(*args, **kwargs):
            called.append(name)
            if len(called) != number:
                return real(*args, **kwargs)
            if name == "fdopen":
                return HalfWritten(args[0], "wb")
            raise OSError(errno.EIO, "Input/output error")

        return call

    def opened(path, mode="r", *args, real=io.open, **kwargs):
        """Stand in for the one of `Path.write_bytes` and `Path.write_text`, which write over what is there."""
        if "r" in mode or isinstance(path, int):
            return real(path, mode, *args, **kwargs)
        called.append("open")
        return HalfWritten(path, mode) if len(called) == number else real(path, mode, *args, **kwargs)

    names = ("open", "fdopen", "fsync", "replace")
    with (
        unittest.mock.patch.multiple(os, **{name: failed(name, getattr(os, name)) for name in names}),
        unittest.mock.patch("io.open", opened),
    ):
        yield called


def content(folder):
    return {file.name: file.read_bytes() for file in folder.iterdir()}


@functools.cache
def score_uniform():
    return suite.evaluate("Uniform", size="tiny", tasks="stochastic/gap-0.3", epsilon=None, seed=3, progress=False)


NOBODY = 2**22 + 1
"""More than the largest number of a process."""
AUDIT = {
    "console": console,
    "text": "DP-KLUCB",
    "epsilon": None,
    "confidence": 0.9,
    "horizon": 4,
    "games": 0,
    "seed": 0,
}
WRITERS = {
    "show counters": (lambda folder: show_counters(64, 1.0, None, folder / "a.svg"), ("a.svg",)),
    "audit": (lambda folder: show_audit(**AUDIT, out=folder / "a.svg"), ("a.svg",)),
    "an agent": (lambda folder: lab_own_agent.saved(FunctionalAgent, "a", folder), ("a.py",)),
    "a card": (lambda folder: write_card(score_uniform(), folder), ("card.json", "sheet.txt", "figure.png")),
    "grades": (lambda folder: write(folder, []), ("grades.csv", "answers.csv")),
}


@pytest.mark.slow_cases("audit")
@pytest.mark.thorough_cases("show counters", "audit", "a card", "grades")
@pytest.mark.parametrize("writer", WRITERS)
def test_each_file_is_the_old_or_the_new_one_and_the_error_names_it(writer, tmp_path, monkeypatch):
    monkeypatch.setattr(lab_own_agent, "cell_source", lambda agent: "new = 1")
    monkeypatch.setattr(lab_own_agent, "check_alone", lambda text, name: None)
    make, names = WRITERS[writer]
    old = dict.fromkeys(names, f"{lab_own_agent.FIRST_LINE}\n{'old ' * 100}".encode())
    new, failed = {}, 0
    for number in itertools.count():  # at 0 nothing fails
        folder = tmp_path / str(number)
        for name in names:
            files.write_whole(folder / name, old[name])
            (folder / f".{name}.{files.NODE:08x}-{NOBODY}-00000000.partial").write_text("half")
        with failing(number) as called:
            try:
                make(folder)
            except (FileAccessError, WrongAnswer) as error:
                failed += 1
                assert str(folder) in str(error)
        found = content(folder)
        new = new or dict(found)
        assert all(found.pop(name) in (old[name], new[name]) for name in names)
        assert not found  # nothing is left beside them
        if number > len(called):
            break
    assert failed > 4


@pytest.mark.thorough
def test_a_failed_copy_of_the_labs_leaves_whole_labs_and_the_next_call_copies_the_rest(tmp_path):
    copy_labs(tmp_path / "all")
    whole = content(tmp_path / "all")
    for number in (3, 4, 5, 6, 17, 18, 19):
        folder = tmp_path / str(number)
        with failing(number), pytest.raises(OSError, match=folder.name):
            copy_labs(folder)
        assert content(folder).items() <= whole.items()
        copy_labs(folder)
        assert content(folder) == whole


def test_results_that_were_written_are_not_said_to_be_unchanged(tmp_path, monkeypatch):
    results = ResultsFolder(tmp_path / "r", {"a": 1})
    results.write("report.md", "old")

    def fails(folder):
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(files, "sync_folder", fails)
    with pytest.raises(ResultsError) as caught:
        results.write("report.md", "new")
    assert "was written" in str(caught.value) and "unchanged" not in str(caught.value)
    assert (tmp_path / "r" / "report.md").read_text() == "new"


def test_a_diary_that_cannot_be_written_is_named_and_goes_on_where_it_was(tmp_path):
    diary = tmp_path / "diary"
    for number, reason in ((1, "No space left"), (2, "Input/output")):
        game = OutsideGame("DP-KLUCB", n_arms=2, horizon=10, diary=diary)
        arm, before = game.next_arm(), diary.read_bytes()
        with failing(number), refused(FileAccessError, str(diary), "learnt", reason):
            game.learn(arm, 1.0)
        game.close()
        assert diary.read_bytes() == before


def test_a_diary_that_is_a_folder_is_named(tmp_path):
    with refused(FileAccessError, str(tmp_path), "file"):
        OutsideGame("DP-KLUCB", n_arms=2, horizon=10, diary=tmp_path)
