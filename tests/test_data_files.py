"""A data file is read once: what is hashed is what is played, whatever becomes of the file."""

import copy
import errno
import gzip
import hashlib
import os
import pickle

import gymnasium as gym
import numpy as np
import pytest

from dp_bandit_envs import files
from dp_bandit_envs.adversaries import Replay
from dp_bandit_envs.errors import DataFileError, GainFileError
from dp_bandit_envs.files import DataFile
from tests.tools.refusals import refused

TABLE = "0.25,0.5\n0.75,1\n"


def gains_of(adversary):
    adversary.begin(np.random.default_rng(0))
    return adversary.next_gains(adversary.horizon).tolist()


def test_a_file_changed_after_it_was_read_changes_nothing(tmp_path):
    path = tmp_path / "gains.csv"
    path.write_text(TABLE)
    file = DataFile.read(path)
    path.write_text("1,1\n1,1\n")
    assert gains_of(Replay(file)) == [[0.25, 0.5], [0.75, 1.0]]
    assert file.sha256 == hashlib.sha256(TABLE.encode()).hexdigest()


def test_environments_take_one_in_place_of_a_path():
    file = DataFile("gains.csv", TABLE.encode())
    env = gym.make("DPBandit-Replay-v0", gains=file)
    env.reset(seed=0)
    assert env.step(1)[1] == 0.5
    games = gym.make_vec("DPBandit-Replay-v0", num_envs=2, gains=file)
    games.reset(seed=0)
    assert games.step([0, 1])[1].tolist() == [0.25, 0.5]
    assert gym.make("DPBandit-Graph-v0", graph=DataFile("edges", b"0 1\n1 2\n")).unwrapped.n_arms == 3


def test_what_cannot_be_read_is_refused_by_name(tmp_path):
    for path, *words in (
        (tmp_path / "nowhere.csv", "exist"),
        (tmp_path, "folder"),
        (tmp_path / ("x" * 300), os.strerror(errno.ENAMETOOLONG)),
        ("a\0b", "exist"),
    ):
        with refused(DataFileError, str(path), *words):
            DataFile.read(path)
        with pytest.raises(GainFileError):
            Replay(path)


def test_an_unreadable_file_is_refused(tmp_path, monkeypatch):
    """Whoever runs tests as root can read everything, so the refusal is played."""

    def refuse(*arguments, **options):
        raise PermissionError(13, "Permission denied")

    path = tmp_path / "gains.csv"
    path.write_text(TABLE)
    monkeypatch.setattr(files.Path, "open", refuse)
    with refused(DataFileError, str(path), "Permission denied"):
        DataFile.read(path)


def test_a_file_or_text_over_the_limit_is_refused_before_it_is_read(tmp_path, monkeypatch):
    path = tmp_path / "gains.npy"
    with path.open("wb") as file:
        file.truncate(files.MOST_BYTES + 1)  # a hole on the disk
    with refused(DataFileError, "1,073,741,824", "1,073,741,825"):
        DataFile.read(path)
    monkeypatch.setattr(files, "MOST_TEXT_BYTES", 10)
    for name, packed in (("a.csv", bytes), ("a.csv.gz", gzip.compress)):
        assert DataFile(name, packed(b"0123456789")).text() == "0123456789"
        with refused(DataFileError, name, 10):
            DataFile(name, packed(b"0" * 11)).text()


def test_lines_end_where_an_editor_ends_them():
    text = "one\r\ntwo\rthree\x0b\x0c\x1c\u2028 still three\n\nfive"
    lines = ["one\r\n", "two\r", "three\x0b\x0c\x1c\u2028 still three\n", "\n", "five"]
    assert [*DataFile("a", text.encode()).lines()] == lines
    assert [*DataFile("a", b"").lines()] == []


def test_text_is_utf_8_with_or_without_its_mark_and_another_encoding_is_refused_with_a_line():
    for encoding in ("utf-8", "utf-8-sig"):
        assert DataFile("a.csv", "café\n".encode(encoding)).text() == "café\n"
        assert DataFile("a.csv.gz", gzip.compress("café\n".encode(encoding))).text() == "café\n"
    for encoding in ("latin-1", "utf-16"):
        with refused(DataFileError, "a.csv", "line 1", "UTF-8"):
            DataFile("a.csv", "café\n".encode(encoding)).text()


def test_a_file_is_a_name_and_bytes_travels_to_other_processes_and_its_repr_shows_no_gain():
    file = DataFile("gains.csv", TABLE.encode())
    for other in (pickle.loads(pickle.dumps(file)), copy.deepcopy(file)):
        assert other == file and other.sha256 == file.sha256
    assert repr(file) == "DataFile(name='gains.csv')"
    for name, content in (("a.csv", "0.5,0.5"), ("a.csv", None), (5, b""), ("a", bytearray(3))):
        with refused(TypeError, "DataFile.read(path)"):
            DataFile(name, content)
