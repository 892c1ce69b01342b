"""Whatever a folder for results is called, the command ends in results or in a sentence."""

import os
import subprocess

import pytest

from tests.tools.processes import COMMAND_LINE, POSIX

NAMES = {
    "no text": b"\xff\xfe\x80",
    "markup": b"[/bold]",
    "line break": b"a\nb",
    "blank": b" ",
    "letters of other alphabets": "ünï☃".encode(),
    "escape code": b"\x1b[31m",
    "long": b"a" * 300,
    "a device": b"/dev/null",
    "nothing": b"",
}
SOME = ("no text", "long")
"""Names for the ordinary tests."""

PLAIN = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}


@pytest.mark.thorough
@pytest.mark.slow_cases("letters of other alphabets-C")
@pytest.mark.skipif(not POSIX, reason="names of bytes")
@pytest.mark.parametrize(
    ("name", "locale"),
    [(name, {}) for name in SOME]
    + [("letters of other alphabets", PLAIN)]
    + [pytest.param(name, {}, marks=pytest.mark.slow) for name in NAMES if name not in SOME]
    + [pytest.param(name, PLAIN, marks=pytest.mark.slow) for name in ("no text", "long")],
    ids=lambda part: part if isinstance(part, str) else "C" if part else "",
)
def test_an_odd_name_is_no_traceback(name, locale, tmp_path):
    (tmp_path / "other").touch()
    command = [
        *COMMAND_LINE,
        *["run", "Stochastic", "Uniform", "--trials", "2", "--horizon", "20", "--jobs", "1", "--out"],
    ]
    done = subprocess.run([*command, NAMES[name]], cwd=tmp_path, env={**os.environ, **locale}, capture_output=True)
    if name in ("long", "a device"):
        assert done.returncode == 2 and done.stderr.startswith(b"error: ")
    elif name in ("blank", "nothing"):
        assert done.returncode == 2 and b"--out" in done.stderr and b"Traceback" not in done.stderr
    else:
        assert (done.returncode, done.stderr) == (0, b"")
        assert os.path.exists(os.path.join(os.fsencode(tmp_path), NAMES[name], b"report.md"))
