"""`dp-bandit` where the terminal knows ASCII only: other letters are question marks, and files are UTF-8."""

import os
import subprocess
import sys

import numpy as np
import pytest

PROGRAM = "import sys; sys.argv[0] = 'dp-bandit'; from dp_bandit_envs.cli import main; main()"
SMALL = ("--horizon", "20", "--trials", "1", "--jobs", "1", "--out", "mine")
# Without coercion and UTF-8 mode, which Python turns on by itself in this locale.
LOCALE = {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0", "COLUMNS": "200"}
LOCALES = {"ASCII locale": LOCALE, "ASCII and strict": LOCALE | {"PYTHONIOENCODING": "ascii:strict"}}

locales = pytest.mark.parametrize("locale", LOCALES.values(), ids=LOCALES.keys())


def dp_bandit(folder, locale, *words):
    """Run the command line in a process of its own; return code, and stdout and stderr as bytes."""
    own = {key: value for key, value in os.environ.items() if key not in ("PYTHONIOENCODING", "FORCE_COLOR")}
    command = [sys.executable, "-c", PROGRAM, *(word.encode() for word in words)]
    done = subprocess.run(command, cwd=folder, env=own | locale, capture_output=True)
    return done.returncode, done.stdout, done.stderr


@locales
@pytest.mark.parametrize("words", [("list",), ("show", "KL-UCB")])
def test_everything_can_be_printed(tmp_path, locale, words):
    code, out, err = dp_bandit(tmp_path, locale, *words)
    assert (code, err) == (0, b"")
    assert out.isascii() and (b"DP-IMED" in out if words == ("list",) else b"Garivier and Capp? (2011)" in out)


@pytest.mark.slow
def test_a_figure_with_accents_is_made_and_its_report_keeps_them(tmp_path):
    code, out, err = dp_bandit(tmp_path, LOCALE, "reproduce", "figure-graph", *SMALL)
    assert (code, err) == (0, b"")
    assert out.isascii() and b"Les Mis?rables" in out
    assert "Les Misérables" in (tmp_path / "mine" / "report.md").read_text(encoding="utf-8")


@pytest.mark.skipif(os.name != "posix", reason="bytes as words of a command line")
@locales
def test_files_may_have_names_that_the_locale_cannot_read(tmp_path, locale):
    np.save(tmp_path / "gains.npy", np.full((20, 2), 0.5))
    os.rename(os.fsencode(tmp_path / "gains.npy"), os.fsencode(tmp_path) + "/donnée.npy".encode())
    words = ("run", "donnée.npy", "EXP3", "--trials", "1", "--jobs", "1", "--out", "été")
    code, out, err = dp_bandit(tmp_path, locale, *words)
    assert (code, err) == (0, b"")
    # Each byte of the folder's name that the locale does not know is a question mark.
    assert b"See ??t??/report.md and ??t??/figure.png." in out
    with open(os.fsencode(tmp_path) + "/été/report.md".encode(), encoding="utf-8") as report:
        text = report.read()
    assert "dp-bandit run donnée.npy EXP3 --trials 1 --jobs 1 --out été" in text.replace("'", "")


@locales
def test_a_wrong_word_is_one_line(tmp_path, locale):
    code, out, err = dp_bandit(tmp_path, locale, "run", "Stochéstic", "EXP3", *SMALL)
    assert (code, out) == (2, b"")
    assert err.startswith(b"error: environment") and err.count(b"\n") == 1
