"""Progress of `compare` on stderr: silent if quick, one line in a terminal, a handful of lines in an hour elsewhere."""

import io

import pytest

from dp_bandit_envs import compare
from dp_bandit_envs.compiling import compiled
from dp_bandit_envs.experiments import comparison, progress as progress_module
from dp_bandit_envs.experiments.progress import ShownProgress


class Terminal(io.StringIO):
    """A stream that says that it is a terminal."""

    def isatty(self):
        return True


def after(stream, seconds, done=50):
    """Return progress that was told something once each second."""
    now = [0.0]
    shown = ShownProgress(stream, clock=lambda: now[0])
    for second in range(1, seconds + 1):
        now[0] = float(second)
        shown(done, 100)
    return shown


@pytest.mark.parametrize("stream", [io.StringIO, Terminal])
def test_what_is_quick_is_silent(stream):
    text = stream()
    after(text, 2).close()
    assert text.getvalue() == ""


def test_a_terminal_has_one_line_which_goes_away():
    text = Terminal()
    shown = after(text, 60)
    written = text.getvalue()
    assert (
        "\n" not in written
        and written.count("\r") == 58
        and written.endswith("compare: 50% of 100 rounds, 60 s, about 60 s left")
    )
    shown.close()
    assert text.getvalue().endswith(" \r") and text.getvalue().rsplit("\r", 2)[1].isspace()


def test_a_file_or_a_notebook_has_a_line_after_10_20_40_seconds():
    """An hour has nine: 10 * 2**8 = 2,560 seconds."""
    text = io.StringIO()
    after(text, 3600).close()
    lines = text.getvalue().splitlines()
    assert [line.split(", ")[1] for line in lines[:3]] == ["10 s", "20 s", "40 s"] and len(lines) == 9
    assert "\r" not in text.getvalue()


@pytest.mark.parametrize("progress, written", [(True, True), (False, False), (lambda *_: None, False)])
def test_compare_shows_it_unless_told_otherwise(progress, written, monkeypatch, capsys):
    monkeypatch.setattr(progress_module, "FIRST_LINE", 0.0)
    compare("Stochastic", "EXP3", horizon=20, trials=40, progress=progress)
    assert ("compare: " in capsys.readouterr().err) == written


@pytest.mark.parametrize("progress, said", [(True, True), (False, False), (lambda *_: None, True)])
def test_compare_says_that_it_compiles_unless_it_is_silent(progress, said, monkeypatch, caplog):
    monkeypatch.setattr(compiled, "_said", set())
    played = comparison.run

    def compiles_first(*arguments, **settings):
        compiled._about_to_compile()  # as where machine code is not on disk
        return played(*arguments, **settings)

    monkeypatch.setattr(comparison, "run", compiles_first)
    with caplog.at_level("WARNING", logger="dp_bandit_envs"):
        compare("Stochastic", ["EXP3", "DP-KLUCB"], epsilon=[0.1, 1], horizon=20, trials=2, progress=progress)
    line = "compiling EXP3, DP-KLUCB: some seconds each, once on this machine"
    assert caplog.messages == ([line] if said else [])
