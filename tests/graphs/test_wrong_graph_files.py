"""Wrong files of edges: every error names the file, the line, the column and a rule to mend it."""

import errno
import gzip
import os
import tracemalloc

import pytest

from dp_bandit_envs.checks import MOST_ARMS
from dp_bandit_envs.data_files import DataFile
from dp_bandit_envs.errors import DataFileError, GraphFileError
from dp_bandit_envs.graphs import GraphSource, as_feedback_graph
from tests.tools.refusals import refused

WRONG = {
    "a weight": (b"# edges\n0 1\n0 1 0.5\n", ["line 3", "0 3", 3]),
    "one arm": (b"0 1\n4\n", ["line 2", "0 3", 1]),
    "a negative arm": (b"0 1\n0 -1\n", ["line 2, column 2", "0 3"]),
    "names": (b"0 1\na b\n", ["line 2, column 1"]),
    "a half": (b"0 1\n1.0 2\n", ["line 2, column 1"]),
    "semicolons": (b"0 1\n0;1\n", ["line 2", "0 3", 1]),
    "a superscript": ("0 1\n0 ²\n".encode(), ["line 2, column 2"]),
    "a digit of another alphabet": ("0 1\n٣ 1\n".encode(), ["line 2, column 1"]),
    "a digit in a circle": ("0 ①\n".encode(), ["line 1, column 2"]),
    "5,000 digits": (b"0 1\n0 " + b"9" * 5000 + b"\n", ["line 2, column 2", "[0, 999,999]", "5,000 digits"]),
    "5,000 zeros": (b"0 1\n0 " + b"0" * 5000 + b"\n", ["line 2, column 2", "5,000 digits"]),
    "too many arms": (b"0 50000000\n", ["line 1, column 2", "[0, 999,999]", 50000000]),
    "Latin-1": ("# amis de José\n0 1\n".encode("latin-1"), ["line 1", "Latin-1", "UTF-8"]),
    "UTF-16": ("0 1\n".encode("utf-16"), ["line 1", "UTF-16"]),
    "NUL": (b"0 1\n0 \0\n", ["line 2", "NUL"]),
    "no edges": (b"# nothing\n", ["none"]),
    "empty": (b"", ["none"]),
    "one arm alone": (b"0 0\n", [2, 1, "n_arms="]),
}


def file_refused(given, *words):
    """Assert that a file is refused with a sentence that begins with its name and names all the words."""
    with refused(GraphFileError, *words) as caught:
        as_feedback_graph(given)
    message = str(caught.value)
    assert message.startswith(given.name if isinstance(given, DataFile) else str(given))
    assert message.endswith(".")
    assert issubclass(GraphFileError, DataFileError) and issubclass(DataFileError, ValueError)


@pytest.mark.parametrize(("content", "words"), WRONG.values(), ids=WRONG.keys())
def test_wrong_files_are_refused_with_line_and_column(tmp_path, content, words):
    path = tmp_path / "edges.txt"
    path.write_bytes(content)
    file_refused(path, *words)
    file_refused(DataFile("edges.txt", content), *words)
    with pytest.raises(GraphFileError):
        GraphSource(str(path))


def test_a_file_of_gains_given_by_mistake_is_not_shown(tmp_path):
    path = tmp_path / "gains.csv"
    for text in ("0.1234567,0.5\n", "0.1234567 0.1234567 0.1234567\n"):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(GraphFileError) as caught:
            as_feedback_graph(path)
        assert "1234567" not in str(caught.value)


def test_more_arms_than_are_read_are_refused_before_they_take_memory():
    tracemalloc.start()
    try:
        file_refused(DataFile("edges", b"0 50000000\n"))
        with refused(ValueError, "n_arms", f"{MOST_ARMS:,}", 2_000_000_000):
            as_feedback_graph(DataFile("edges", b"0 1\n"), n_arms=2_000_000_000)
        assert tracemalloc.get_traced_memory()[1] < 2**20
    finally:
        tracemalloc.stop()


def test_the_largest_arm_that_is_read():
    assert as_feedback_graph(DataFile("edges", b"0 999999\n")).n_arms == MOST_ARMS == 1_000_000


def test_no_file_and_a_folder_are_refused(tmp_path):
    file_refused(tmp_path / "no such file", "path")
    file_refused(tmp_path, "folder")
    file_refused(tmp_path / ("long" * 200), os.strerror(errno.ENAMETOOLONG))


def test_a_name_that_is_too_long_for_a_file_is_an_unknown_name():
    with refused(KeyError, "graph", repr("long" * 200)):
        GraphSource("long" * 200)


def test_a_compressed_file_of_edges_is_read():
    assert as_feedback_graph(DataFile("edges.gz", gzip.compress(b"0 1\n1 2\n"))).n_arms == 3
