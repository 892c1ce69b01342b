"""A damaged file of machine code is as good as none: the function is compiled again, and the file is replaced."""

import hashlib

import numba
import numpy as np
import pytest
from numba.core import config

from dp_bandit_envs.compiling.compiled import compile_with
from dp_bandit_envs.compiling.numba_functions import DIGEST_BYTES, MachineCode
from dp_bandit_envs.simulation.totals import add_up


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """The folder of a cache of its own."""
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


def call():
    """Call a small function of the package as a new process would, and return it."""
    compiled = compile_with(add_up, {})
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
}


def test_a_whole_file_is_loaded(cache):
    assert not was_loaded(call())
    assert was_loaded(call())


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_file_is_compiled_again_and_replaced(damage, cache):
    call()
    file = one_file(cache)
    whole = file.read_bytes()
    file.write_bytes(DAMAGE[damage](whole))
    assert not was_loaded(call())
    assert was_loaded(call())


@pytest.mark.slow
def test_no_flipped_byte_is_ever_executed(cache):
    """Numba's own cache let 3 of 40 damaged files kill the process."""
    call()
    file = one_file(cache)
    whole = file.read_bytes()
    for place in range(0, len(whole), max(1, len(whole) // 300)):
        file.write_bytes(whole[:place] + bytes([whole[place] ^ 255]) + whole[place + 1 :])
        assert not was_loaded(call()), place


def test_a_digest_of_something_that_is_no_code_is_a_miss(cache):
    call()
    one_file(cache).write_bytes(hashlib.sha256(b"nothing").digest() + b"nothing")
    assert not was_loaded(call())
    assert DIGEST_BYTES == 32


def test_a_folder_that_cannot_be_written_costs_time_only(cache, monkeypatch):
    def refused(*arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("dp_bandit_envs.compiling.numba_functions.os.replace", refused)
    call()
    assert not [path for path in cache.rglob("*") if path.is_file() and path.suffix != ".nbi"]


def test_a_file_in_the_place_of_the_folder_costs_time_only(cache):
    cache.write_text("in the way")
    call()
    assert cache.read_text() == "in the way"


def test_the_cache_stands_in_for_numbas(cache):
    """The private names of Numba that it rests on are there."""
    assert isinstance(call()._dispatcher._cache, MachineCode), numba.__version__
