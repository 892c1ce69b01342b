"""The list of broken lines fits the code, and some of its lines are caught; `python -m tests.mutations` plays all."""

import pytest

from tests.mutations.broken_lines import FEW, MUTATIONS, NOISE, TABLE
from tests.mutations.copies import ROOT, Copy, Result


def test_every_line_is_there_and_changes():
    assert len(MUTATIONS) >= 50 and len({one.what for one in MUTATIONS}) == len(MUTATIONS)
    for one in MUTATIONS:
        assert (ROOT / one.file).read_text(encoding="utf-8").count(one.old) == 1, one.what
        assert one.old != one.new
        assert (ROOT / one.tests[0]).is_file()


def test_breaks_of_the_noise_are_left_to_the_table():
    assert {one.tests for one in NOISE} == {(TABLE,)}


def test_a_line_that_is_gone_is_not_called_caught(tmp_path):
    copy = Copy.__new__(Copy)
    copy.folder = tmp_path
    one = MUTATIONS[0]
    copy.path(one.file).parent.mkdir(parents=True)
    copy.path(one.file).write_text("", encoding="utf-8")
    assert copy.play(one) == Result(None, "the line occurs 0 times", 0.0)


@pytest.mark.slow
def test_some_broken_lines_are_caught(tmp_path):
    copy, chosen = Copy(tmp_path), tuple(one for one in MUTATIONS if one.what in FEW)
    assert len(chosen) == len(FEW)
    assert [copy.run(tests).caught for tests in copy.selections(chosen)] == [False] * len(copy.selections(chosen))
    assert [one.what for one in chosen if copy.play(one).caught is not True] == []
