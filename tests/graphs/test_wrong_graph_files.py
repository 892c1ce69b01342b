"""Wrong files of edges: every error names the file, the line, the column and a rule to mend it."""

import gzip
import tracemalloc

import pytest

from dp_bandit_envs.checks import MOST_ARMS
from dp_bandit_envs.data_files import DataFile
from dp_bandit_envs.errors import DataFileError, GraphFileError
from dp_bandit_envs.graphs import GraphSource, as_feedback_graph

WRONG = {
    "a weight": (b"# edges\n0 1\n0 1 0.5\n", ["line 3", "two arm numbers, such as 0 3", "received: 3"]),
    "one arm": (b"0 1\n4\n", ["line 2", "received: 1"]),
    "a negative arm": (b"0 1\n0 -1\n", ["line 2, column 2", "Number the arms"]),
    "names": (b"0 1\na b\n", ["line 2, column 1"]),
    "a half": (b"0 1\n1.0 2\n", ["line 2, column 1"]),
    "semicolons": (b"0 1\n0;1\n", ["line 2", "received: 1"]),
    "a superscript": ("0 1\n0 ²\n".encode(), ["line 2, column 2"]),
    "a digit of another alphabet": ("0 1\n٣ 1\n".encode(), ["line 2, column 1"]),
    "a digit in a circle": ("0 ①\n".encode(), ["line 1, column 2"]),
    "5,000 digits": (b"0 1\n0 " + b"9" * 5000 + b"\n", ["line 2, column 2", "[0, 999,999]", "5,000 digits"]),
    "5,000 zeros": (b"0 1\n0 " + b"0" * 5000 + b"\n", ["line 2, column 2", "5,000 digits"]),
    "too many arms": (b"0 50000000\n", ["line 1, column 2", "[0, 999,999]", "received 50000000", "without large gaps"]),
    "Latin-1": ("# amis de José\n0 1\n".encode("latin-1"), ["line 1", "Latin-1", "save it again as UTF-8"]),
    "UTF-16": ("0 1\n".encode("utf-16"), ["line 1", "UTF-16"]),
    "NUL": (b"0 1\n0 \0\n", ["line 2", "NUL"]),
    "no edges": (b"# nothing\n", ["at least one edge; it holds none"]),
    "empty": (b"", ["at least one edge; it holds none"]),
    "one arm alone": (b"0 0\n", ["must have at least 2 arms; received 1"]),
}


def refused(given, *words):
    """Assert that a file is refused with a sentence that begins with its name and holds all the words."""
    with pytest.raises(GraphFileError) as caught:
        as_feedback_graph(given)
    message = str(caught.value)
    assert message.startswith(given.name if isinstance(given, DataFile) else str(given))
    assert message.endswith(".")
    for word in words:
        assert word in message
    assert issubclass(GraphFileError, DataFileError) and issubclass(DataFileError, ValueError)


@pytest.mark.parametrize(("content", "words"), WRONG.values(), ids=WRONG.keys())
def test_wrong_files_are_refused_with_line_and_column(tmp_path, content, words):
    path = tmp_path / "edges.txt"
    path.write_bytes(content)
    refused(path, *words)
    refused(DataFile("edges.txt", content), *words)
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
        refused(DataFile("edges", b"0 50000000\n"))
        with pytest.raises(ValueError, match=f"n_arms must be at most {MOST_ARMS:,} for a file of edges; received 2"):
            as_feedback_graph(DataFile("edges", b"0 1\n"), n_arms=2_000_000_000)
        assert tracemalloc.get_traced_memory()[1] < 2**20
    finally:
        tracemalloc.stop()


def test_the_largest_arm_that_is_read():
    assert as_feedback_graph(DataFile("edges", b"0 999999\n")).n_arms == MOST_ARMS == 1_000_000


def test_no_file_and_a_folder_are_refused(tmp_path):
    refused(tmp_path / "no such file", "must exist")
    refused(tmp_path, "it is a folder")
    refused(tmp_path / ("long" * 200), "File name too long")


def test_a_name_that_is_too_long_for_a_file_is_an_unknown_name():
    with pytest.raises(KeyError, match="graph must be a known name"):
        GraphSource("long" * 200)


def test_a_compressed_file_of_edges_is_read():
    assert as_feedback_graph(DataFile("edges.gz", gzip.compress(b"0 1\n1 2\n"))).n_arms == 3
