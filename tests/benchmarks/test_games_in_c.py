"""The games of `games.c` are those of `simulate`, to the last bit, so that their speeds can be compared."""

import shutil

import pytest

from tests.benchmarks import games_in_c
from tests.benchmarks.games_in_c import GAMES, assert_same_games, compiled, played_in_c

HORIZON = 3000


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("there is no C compiler (cc) here")
    return compiled(compiler, tmp_path_factory.mktemp("games_in_c"))


SOME = ("play_exp3", "play_ucb", "play_ball")
"""Functions of `games.c` for the ordinary tests: two in lanes, and points."""


@pytest.mark.thorough
@pytest.mark.parametrize(
    "played",
    [one if one.function in SOME else pytest.param(one, marks=pytest.mark.slow) for one in GAMES],
    ids=lambda played: played.title,
)
def test_c_plays_the_same_games_as_simulate(played, library):
    in_c = played_in_c(played, library, HORIZON)
    assert_same_games(played, played.simulated(HORIZON), in_c)
    # Games of one more round, or of other gains, are told apart.
    with pytest.raises(AssertionError):
        assert_same_games(played, played.simulated(HORIZON), played_in_c(played, library, HORIZON + 1))


def test_without_a_compiler_each_row_is_skipped(monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda name: None)
    assert [line.why for line in games_in_c.lines()] == ["there is no C compiler (cc) here"] * len(GAMES)
