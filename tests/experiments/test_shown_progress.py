"""Progress of `compare` on stderr: silent if quick, one line in a terminal, a handful of lines in an hour elsewhere."""

import io
import sys
from types import SimpleNamespace

import pytest

from dp_bandit_envs import compare
from dp_bandit_envs.compiling import compiled
from dp_bandit_envs.compiling.compiled import CompileJob
from dp_bandit_envs.experiments import comparison, progress as progress_module
from dp_bandit_envs.experiments.progress import ShownProgress
from tests.tools.processes import INTERRUPTIBLE, finish, start


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
def test_what_takes_less_than_two_seconds_is_silent(stream):
    text = stream()
    after(text, 1).close()
    assert text.getvalue() == ""


def test_a_terminal_has_one_bar_which_goes_away():
    text = Terminal()
    shown = after(text, 60)
    written = text.getvalue()
    assert "\n" not in written and written.count("\r") == 59
    assert written.endswith("compare [##########..........] 50%, 60 s left")
    shown.close()
    assert text.getvalue().endswith(" \r") and text.getvalue().rsplit("\r", 2)[1].isspace()


def test_a_file_or_a_notebook_has_a_line_after_10_20_40_seconds():
    """An hour has nine: 10 * 2**8 = 2,560 seconds. As half is done, as much time is left as has gone."""
    text = io.StringIO()
    after(text, 3600).close()
    lines = text.getvalue().splitlines()
    assert lines[:3] == [f"compare: 50% of 100 rounds, {seconds} s left" for seconds in (10, 20, 40)]
    assert len(lines) == 9 and lines[-1].endswith(", 43 min left")
    assert "\r" not in text.getvalue()


def test_time_left_counts_neither_compiling_nor_what_was_saved():
    """Ten seconds of compiling, then 20 of 100 rounds in four seconds, where 60 were saved: 20 are left, 4 s."""
    text, now = Terminal(), [0.0]
    shown = ShownProgress(text, clock=lambda: now[0])
    now[0] = 5.0
    shown.say("compiling 1 of 2: UCB (about 5 s)")
    assert text.getvalue() == "\rcompiling 1 of 2: UCB (about 5 s)"
    now[0] = 10.0
    shown.say("")
    shown(60, 100, 60)
    assert text.getvalue().rstrip().endswith("60%")
    now[0] = 14.0
    shown(80, 100, 60)
    assert text.getvalue().rstrip().endswith("] 80%, 4 s left")


def test_where_lines_stay_few_say_what_is_compiled():
    text, now = io.StringIO(), [0.0]
    shown = ShownProgress(text, clock=lambda: now[0])
    for second in range(2, 65):
        now[0] = float(second)
        shown.say(f"compiling {second}")
    assert text.getvalue().splitlines() == [f"compiling {second}" for second in (2, 4, 8, 16, 32, 64)]


@pytest.mark.parametrize(
    ("seconds", "words"), [(0.2, "1 s"), (12.4, "12 s"), (99, "99 s"), (150, "2 min"), (7500, "2 h 5 min")]
)
def test_times_in_words(seconds, words):
    assert progress_module.duration(seconds) == words


@pytest.mark.thorough
@pytest.mark.parametrize("progress, written", [(True, True), (False, False), (lambda *_: None, False)])
def test_compare_shows_it_unless_told_otherwise(progress, written, monkeypatch, capsys):
    monkeypatch.setattr(progress_module, "FIRST_LINE", 0.0)
    compare("Stochastic", "EXP3", horizon=20, trials=40, progress=progress)
    assert ("compare: " in capsys.readouterr().err) == written


class NeverReady:
    """Compiles nothing, and says that it did not know the code."""

    functions = ()


def jobs(count):
    return [CompileJob(f"A{number}", [NeverReady()], lambda is_cancelled: None) for number in range(1, count + 1)]


@pytest.fixture
def measured(monkeypatch):
    """Let each job take three seconds by the clock, and nothing be compiled before."""
    now = [0.0]
    monkeypatch.setattr(compiled, "_times", compiled.CompileTimes())
    monkeypatch.setattr(compiled.time, "monotonic", lambda: now[0])

    def run(compile_parts, while_waiting):
        now[0] += 3.0
        while_waiting()

    monkeypatch.setattr(compiled, "run_in_thread", run)


def test_what_is_compiled_is_told_with_its_number_and_time(measured):
    """Jobs of the same size take as long as those before."""
    told = []
    with compiled.says_compiling(told.append):
        compiled.compile_in_turn(jobs(3))
    assert told == [
        "compiling 1 of 3: A1 (once on this machine)",
        "compiling 2 of 3: A2 (about 3 s)",
        "compiling 3 of 3: A3 (about 3 s)",
        "",
    ]


def test_the_time_is_that_of_the_code_that_is_new(measured):
    """A loop beside whose functions LOOP bytes count: two loops of no functions take twice as long as one."""
    told = []
    with compiled.says_compiling(told.append):
        compiled.compile_in_turn([*jobs(1), CompileJob("B", [NeverReady()] * 2, lambda is_cancelled: None)])
    assert told[1] == "compiling 2 of 2: B (about 6 s)"
    loop = SimpleNamespace(functions=[after, jobs])
    times = compiled.CompileTimes()
    job = CompileJob("C", [loop], lambda is_cancelled: None)
    assert times.estimate(job) is None
    times.add(job, 2.0)
    size = sum(len(function.__code__.co_code) for function in loop.functions)
    assert times.estimate(job) == pytest.approx(2.0 * compiled.LOOP / (compiled.LOOP + size))


def test_what_compiles_quickly_is_silent(monkeypatch):
    told = []
    with compiled.says_compiling(told.append):
        compiled.compile_in_turn(jobs(2))
    assert told == [""]


@pytest.mark.parametrize("progress, said", [(True, False), (False, False), (lambda *_: None, True)])
def test_compare_says_that_it_compiles_unless_it_is_silent(progress, said, monkeypatch, caplog, capsys):
    monkeypatch.setattr(compiled, "QUIET", 0.0)
    played = comparison.run

    def compiles_first(*arguments, **settings):
        compiled.compile_in_turn(jobs(1))
        return played(*arguments, **settings)

    monkeypatch.setattr(comparison, "run", compiles_first)
    with caplog.at_level("WARNING", logger="dp_bandit_envs"):
        compare("Stochastic", ["EXP3", "DP-KLUCB"], epsilon=[0.1, 1], horizon=20, trials=2, progress=progress)
    assert any("compiling A1" in line for line in caplog.messages) == said
    assert ("compiling A1" in capsys.readouterr().err.replace(caplog.text, "")) == (progress is True)


INTERRUPTED = """
import os, signal
from dp_bandit_envs import compare
calls = []
def stop(done, total):
    os.kill(os.getpid(), signal.SIGINT)
compare("Stochastic", ["EXP3", "UCB"], horizon=50, trials=4, progress=stop, folder={folder!r})
"""


@pytest.mark.thorough
@pytest.mark.parametrize("is_kept", [True, False])
def test_an_interruption_ends_with_a_sentence_and_few_frames(is_kept, tmp_path):
    folder = str(tmp_path / "mine") if is_kept else None
    code, _, err = finish(
        start([], tmp_path, [sys.executable, "-c", INTERRUPTIBLE + INTERRUPTED.format(folder=folder)])
    )
    assert code != 0 and err.count('File "') <= 3
    last = err.splitlines()[-1]
    assert last.startswith("KeyboardInterrupt: interrupted; ")
    assert ("the same call goes on there" in last and folder in last) if is_kept else ("nothing is kept" in last)


def test_a_secret_seed_cannot_be_gone_on_with():
    def stop(done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt, match="secret and is gone"):
        compare("Stochastic", "EXP3", horizon=50, trials=4, seed=None, progress=stop)
