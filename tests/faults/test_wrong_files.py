"""Thousands of damaged files: each is read as valid gains or a valid graph, or refused by name, in little memory."""

import gzip
import io
import tracemalloc

import numpy as np
import pytest

from dp_bandit_envs.adversaries import Replay
from dp_bandit_envs.checks import MOST_ARMS
from dp_bandit_envs.errors import GainFileError, GraphFileError
from dp_bandit_envs.files import DataFile
from dp_bandit_envs.graphs import as_feedback_graph

MOST_MEMORY = 2**27
"""Bytes; a damaged edge file may name arm 999,999, whose graph takes most of it. The files have less than 2 kB."""
TRICKS = (b"\0", b"\xff", b"\xb2", "²".encode(), "٣".encode(), b'"', b"nan", b"inf", b"1e999", b"-", b"9" * 5000, b"\r")
PLAIN = b"01,.\n 9"


def npy(array):
    buffer = io.BytesIO()
    np.save(buffer, array)
    return buffer.getvalue()


def valid_files():
    """Return valid files by name, with what reads them."""
    rng = np.random.default_rng(1)
    table = rng.random((12, 3)).round(3)
    text = "".join(",".join(map(str, row)) + "\n" for row in table.tolist()).encode()
    logged = ("arm,gain\n" + "".join(f"{t % 3},{gain}\n" for t, gain in enumerate(table.ravel().tolist()))).encode()
    edges = "".join(f"{one} {other}\n" for one, other in rng.integers(0, 12, (20, 2)).tolist()).encode()
    return {
        "float64.npy": npy(table),
        "float16 by columns.npy": npy(np.asfortranarray(table.astype(np.float16))),
        "longdouble.npy": npy(table.astype(np.longdouble)),
        "uint8.npy": npy((table > 0.5).astype(np.uint8)),
        "table.csv": text,
        "named.csv": b"\xef\xbb\xbfa,b,c\r\n" + text.replace(b"\n", b"\r\n"),
        "table.csv.gz": gzip.compress(text, mtime=0),
        "logged.csv": logged,
        "logged.csv.gz": gzip.compress(logged, mtime=0),
        "edges.txt": b"# edges\n" + edges,
        "edges.csv": edges.replace(b" ", b","),
        "edges.gz": gzip.compress(edges, mtime=0),
    }


def damaged(content, rng):
    """Return a copy with one to four flips, cuts, insertions or swaps, most of them near the start half the time."""
    content = bytearray(content)
    for _ in range(rng.integers(1, 5)):
        size = max(1, len(content))
        place = int(rng.integers(size if rng.random() < 0.5 else min(size, 130)))
        kind = rng.integers(7)
        if kind == 0 and content:
            content[place] ^= 1 << int(rng.integers(8))
        elif kind == 1 and content:
            content[place] = PLAIN[rng.integers(len(PLAIN))]
        elif kind == 2:
            del content[place:]
        elif kind == 3:
            del content[place : place + int(rng.integers(1, 20))]
        elif kind == 4:
            content[place:place] = TRICKS[rng.integers(len(TRICKS))]
        elif kind == 5:
            content[place:place] = rng.bytes(int(rng.integers(1, 20)))
        else:
            other = int(rng.integers(size))
            one, two = content[place : place + 8], content[other : other + 8]
            content[place : place + 8], content[other : other + 8] = two, one
    return bytes(content)


def read(name, content):
    """Read a file, and check what came of it; return whether it was refused by name."""
    file = DataFile(name, content)
    try:
        if name.startswith("edges"):
            graph = as_feedback_graph(file)
            assert 2 <= graph.n_arms <= MOST_ARMS
            assert graph.revealed.min() >= 0 and graph.revealed.max() < graph.n_arms
        else:
            adversary = Replay(file)
            adversary.begin(np.random.default_rng(0))
            rounds = min(adversary.horizon, 50)
            gains = adversary.next_gains(rounds)
            assert gains.shape == (rounds, adversary.n_arms) and ((gains >= 0) & (gains <= 1)).all()
        return False
    except (GainFileError, GraphFileError) as refusal:
        assert isinstance(refusal, GraphFileError) == name.startswith("edges")
        message = str(refusal)
        assert message.startswith(name) and message.endswith(".") and len(message) < 600
        return True


def read_damaged(files, seed):
    """Read that many damaged files; return how many were refused."""
    rng = np.random.default_rng(seed)
    valid = valid_files()
    names = list(valid)
    unnamed, refused = [], 0
    tracemalloc.start()
    try:
        for number in range(files):
            name = names[number % len(names)]
            content = damaged(valid[name], rng)
            tracemalloc.reset_peak()
            try:
                refused += read(name, content)
            except Exception as error:
                unnamed.append((number, name, type(error).__name__, str(error)[:200]))
            assert tracemalloc.get_traced_memory()[1] < MOST_MEMORY, (number, name)
    finally:
        tracemalloc.stop()
    assert unnamed == []
    return refused


def test_the_files_are_valid_before_they_are_damaged():
    assert not any(read(name, content) for name, content in valid_files().items())


@pytest.mark.thorough
@pytest.mark.parametrize(("files", "seed"), [(400, 1), pytest.param(5000, 2, marks=pytest.mark.slow)])
def test_damaged_files_are_read_or_refused_by_name(files, seed):
    assert 0.6 * files < read_damaged(files, seed) < files
