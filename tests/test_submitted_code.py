"""Submitted code leaves nothing behind: no process that outlives it, and no file outside of its folder."""

import os
import subprocess
import sys
import time
from threading import Event

import pytest

from dp_bandit_envs.submitted_code import (
    JOB,
    ForbiddenError,
    Limits,
    MessagePipe,
    Submission,
    WatchedProcess,
    refuse_event,
)
from tests.tools.refusals import refused

ESCAPES = """
import os, sys, time
from dp_bandit_envs.submitted_code import serve

def work(pipe):
    if not os.fork():
        os.setsid()
        if not os.fork():
            print(os.getpid(), file=sys.stderr, flush=True)
            time.sleep(100)
        os._exit(0)
    os.wait()
    pipe.receive()  # until the test has seen the grandchild
    {after}

serve(work)
"""


def is_running(process):
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux gives orphans to a chosen process")
@pytest.mark.parametrize("after", ["time.sleep(0.5)", "os._exit(3)", "os.kill(os.getpid(), 9)", "time.sleep(100)"])
def test_nothing_outlives_submitted_code(after):
    """A grandchild in a session of its own is ended, however its parent ends, or is ended."""
    program = [sys.executable, "-c", ESCAPES.format(after=after)]
    with subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        escaped = int(process.stderr.readline())
        assert is_running(escaped)
        MessagePipe(process.stdout, process.stdin).send(JOB)
        if "100" in after:
            process.terminate()
        code = process.wait()
    assert code == {"os._exit(3)": 3, "time.sleep(0.5)": 0}.get(after, -9)
    assert not is_running(escaped)


def test_files_elsewhere_are_not_changed(tmp_path):
    own, other = str(tmp_path / "own"), str(tmp_path / "results" / "page.html")
    for event, arguments in (
        ("open", (other, "w", os.O_WRONLY | os.O_CREAT)),
        ("open", (other.encode(), None, os.O_RDWR)),
        ("os.remove", (other, -1)),
        ("os.rename", (f"{own}/mine", other, -1, -1)),
        ("os.mkdir", (f"{own}/../results", 0o777, -1)),
    ):
        with refused(ForbiddenError, "outside of its folder", event):
            refuse_event(event, arguments, own)
    for event, arguments in (
        ("open", (other, "r", os.O_RDONLY)),
        ("open", (f"{own}/mine", "w", os.O_WRONLY | os.O_CREAT)),
        ("open", ("/dev/null", "w", os.O_WRONLY)),
        ("open", (3, "w", os.O_WRONLY)),
        ("os.mkdir", (f"{own}/below", 0o777, -1)),
    ):
        refuse_event(event, arguments, own)


def test_ctypes_is_refused_in_submitted_lines_and_not_in_libraries():
    call = "def call(refuse):\n    refuse('ctypes.dlopen', ('libc',), '/own')\n"
    for file, is_submitted in (("mine.py", True), ("/own/mine.py", True), ("<string>", True), ("/usr/lib/x.py", False)):
        names = {}
        exec(compile(call, file, "exec"), names)
        if is_submitted:
            with refused(ForbiddenError, "ctypes"):
                names["call"](refuse_event)
        else:
            names["call"](refuse_event)


def test_a_process_that_is_stopped_has_ended_when_its_context_is_left(tmp_path):
    stopped = Event()
    mine = Submission("mine", "mine", "mine.py", b"")
    with WatchedProcess("course", "grade_process", mine, Limits(5.0, 256), stopped) as process:
        stopped.set()
        began = time.monotonic()
        with pytest.raises((EOFError, OSError)):
            process.ask()
        assert time.monotonic() - began < 100
    assert process._process.returncode is not None
