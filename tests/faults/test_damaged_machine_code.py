"""A damaged file of machine code is as good as none: the function is compiled again, and the file is replaced."""

import hashlib
import os
import shutil
import time

import numba
import numpy as np
import pytest
from numba.core import config

from dp_bandit_envs.compiling.compiled import Compiled
from dp_bandit_envs.compiling.numba_functions import MachineCode
from dp_bandit_envs.simulation.loop import add_up


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """The folder of a cache of its own."""
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


def call():
    """Call a small function of the package as a new process would, and return it."""
    compiled = Compiled(add_up, {})
    totals, record = np.zeros(2), np.zeros((1, 2))
    compiled(np.array([[0.25, 1.0], [0.5, 0.0]]), totals, 1, np.array([2]), record)
    assert totals.tolist() == record[0].tolist() == [0.75, 1.0]
    return compiled


def was_loaded(compiled):
    return sum(compiled._dispatcher.stats.cache_hits.values()) == 1


def one_file(cache):
    (file,) = cache.rglob("*.nbc")
    return file


DAMAGE = {
    "empty": lambda data: b"",
    "cut short": lambda data: data[: len(data) // 2],
    "zeros": lambda data: bytes(len(data)),
    "a flipped bit in the code": lambda data: data[:900] + bytes([data[900] ^ 1]) + data[901:],
    "a flipped bit in the digest": lambda data: bytes([data[0] ^ 1]) + data[1:],
    "text": lambda data: b"not machine code",
    "a digest of something that is no code": lambda data: hashlib.sha256(b"nothing").digest() + b"nothing",
}


def test_a_damaged_file_is_compiled_again_and_replaced(cache):
    assert not was_loaded(call())
    assert was_loaded(call())
    file = one_file(cache)
    whole = file.read_bytes()
    for kind, damage in DAMAGE.items():
        file.write_bytes(damage(whole))
        assert not was_loaded(call()), kind
        assert was_loaded(call()), kind


@pytest.mark.slow
def test_no_flipped_byte_is_ever_executed(cache):
    """Numba's own cache let 3 of 40 damaged files kill the process."""
    call()
    file = one_file(cache)
    whole = file.read_bytes()
    for place in range(0, len(whole), max(1, len(whole) // 300)):
        file.write_bytes(whole[:place] + bytes([whole[place] ^ 255]) + whole[place + 1 :])
        assert not was_loaded(call()), place


def test_a_folder_that_cannot_be_written_costs_time_only(cache, monkeypatch):
    def refused(*arguments):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("dp_bandit_envs.compiling.numba_functions.os.replace", refused)
        call()
    assert not [path for path in cache.rglob("*") if path.is_file() and path.suffix != ".nbi"]
    shutil.rmtree(cache)
    cache.write_text("a file in the place of the folder")
    call()
    assert cache.read_text() == "a file in the place of the folder"


def aged(file, days):
    then = time.time() - days * 86_400
    os.utime(file, (then, then))
    return file


def test_what_nobody_uses_is_removed_when_something_is_written(cache):
    call()
    used = one_file(cache)
    name, folder = used.name.rpartition("-")[0], used.parent
    left = [folder / "mine.nbc", folder / f"{name}-{'0' * 32}.txt"]
    old = [folder / f"{name}-{'0' * 32}.nbc", folder / f"{name}-{'1' * 32}.nbc.{'2' * 32}"]
    for file in (*left, *old):
        file.touch()
        aged(file, 91)
    young = folder / f"{name}-{'3' * 32}.nbc"
    young.touch()
    aged(young, 89)
    aged(used, 89)
    assert was_loaded(call())
    assert time.time() - used.stat().st_mtime < 3_600  # it was used now
    assert all(file.exists() for file in (*old, young))
    used.unlink()
    assert not was_loaded(call())
    assert not [file for file in old if file.exists()]
    assert all(file.exists() for file in (used, young, *left))


def test_a_folder_that_is_only_read_is_used_in_silence(cache, monkeypatch, capfd):
    call()
    aged(one_file(cache), 100)

    def refused(*arguments):
        raise PermissionError(30, "Read-only file system")

    for change in ("utime", "replace", "unlink"):
        monkeypatch.setattr(f"dp_bandit_envs.compiling.numba_functions.os.{change}", refused)
    assert was_loaded(call())
    assert capfd.readouterr() == ("", "")


def test_the_cache_stands_in_for_numbas(cache):
    """The private names of Numba that it rests on are there."""
    assert isinstance(call()._dispatcher._cache, MachineCode), numba.__version__
