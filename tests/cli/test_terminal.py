"""How words are read and printed: options, progress, formulas, and terminals that know ASCII only."""

import os
import re
import subprocess
import sys

import numpy as np
import pytest
import typer

from dp_bandit_envs import __version__
from dp_bandit_envs.cli.command_names import COMMANDS
from dp_bandit_envs.cli.options import folder, parse_integer
from dp_bandit_envs.cli.show_commands import KINDS, WIDTH, describe_name, plain
from dp_bandit_envs.experiments import progress


@pytest.mark.parametrize(
    ("text", "number"),
    [("1000", 1000), ("1e5", 100_000), ("2.5e3", 2500), ("100_000", 100_000), ("1,000,000", 10**6), (7, 7), ("0", 0)],
)
def test_whole_numbers_are_read_as_people_write_them(text, number):
    assert parse_integer(text) == number and isinstance(parse_integer(text), int)


@pytest.mark.parametrize("text", ["", "many", "1.5", "1e-1", "nan", "inf", "1,00", "1,0000", "10,00,000", "1e5x"])
def test_other_words_are_refused(text):
    with pytest.raises(typer.BadParameter, match="whole number"):
        parse_integer(text)


def test_a_folder_is_not_named_like_a_file(tmp_path):
    assert folder(tmp_path / "results.v2") == tmp_path / "results.v2"
    with pytest.raises(typer.BadParameter, match="folder"):
        folder(tmp_path / "plot.PNG")
    (tmp_path / "plot.png").mkdir()
    assert folder(tmp_path / "plot.png").is_dir()


@pytest.mark.thorough
def test_a_run_shows_how_far_it_is(dp_bandit, monkeypatch):
    """Saved games count as done; a pipe gets lines, which stay."""
    monkeypatch.setattr(progress, "FIRST_LINE", 0.0)
    words = "run Stochastic Switching EXP3 UCB --horizon 200 --trials 2 --jobs 1 --out mine"
    code, out, _ = dp_bandit(*words.split())
    assert code == 0 and re.search(r"dp-bandit: \d\d% of 1,600 rounds, ", out) and "\x1b" not in out
    code, out, _ = dp_bandit(*words.split())
    assert code == 0 and "dp-bandit: " not in out and "Nothing was played again" in out


def test_roles_of_sphinx_go_and_formulas_are_text():
    text = "A :class:`~a.B` of ``x``:\n\n.. math:: a^{2}\n\nand :math:`c_{1}`."
    assert plain(text) == "A a.B of ``x``:\n\n    a^2\n\nand c_1."
    assert plain(r":math:`\hat\mu_i + \sqrt{\frac{2 \ln t}{n_i}}`") == "μ\u0302_i + √((2 ln t) / n_i)"
    assert plain(r":math:`\ln \frac{K - 1}{\beta} + \frac 1 2 e^{-\text{gap}}`") == "ln ((K - 1) / β) + 1/2 e^(-gap)"


@pytest.mark.thorough
def test_what_is_said_of_a_name_fits_the_terminal():
    """But for programs, which are copied; no command of LaTeX is left."""
    lines = [line for names in KINDS.values() for name in names() for line in describe_name(name).splitlines()]
    assert [line for line in lines if (len(line) > WIDTH and ">>>" not in line) or re.search(r"\\[A-Za-z]", line)] == []
    assert "    env: A bandit environment" in "\n".join(lines)


PROGRAM = "import sys; sys.argv[0] = 'dp-bandit'; from dp_bandit_envs.cli import main; main()"
SHORT_RUN = ("run", "Stochastic", "Uniform", "--trials", "2", "--horizon", "20", "--jobs", "1", "--out")
# Without coercion and UTF-8 mode, which Python turns on by itself in this locale.
LOCALE = {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0", "COLUMNS": "200"}
LOCALES = {"ASCII locale": LOCALE, "ASCII and strict": LOCALE | {"PYTHONIOENCODING": "ascii:strict"}}

locales = pytest.mark.parametrize("locale", LOCALES.values(), ids=LOCALES.keys())


def in_locale(folder, locale, *words):
    """Run the command line in a process of its own; return code, and stdout and stderr as bytes."""
    own = {key: value for key, value in os.environ.items() if key not in ("PYTHONIOENCODING", "FORCE_COLOR")}
    command = [sys.executable, "-c", PROGRAM, *(word if isinstance(word, bytes) else word.encode() for word in words)]
    done = subprocess.run(command, cwd=folder, env=own | locale, capture_output=True)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("locale", "words", "said"),
    [(LOCALE, ["list"], b"DP-IMED"), (LOCALES["ASCII and strict"], ["show", "KL-UCB"], b"Garivier and Capp? (2011)")],
)
def test_everything_can_be_printed(tmp_path, locale, words, said):
    code, out, err = in_locale(tmp_path, locale, *words)
    assert (code, err) == (0, b"")
    assert out.isascii() and said in out


@pytest.mark.thorough
@pytest.mark.slow_cases("ASCII and strict")
@pytest.mark.skipif(os.name != "posix", reason="bytes as words of a command line")
@locales
def test_files_may_have_names_that_the_locale_cannot_read(tmp_path, locale):
    np.save(tmp_path / "gains.npy", np.full((20, 2), 0.5))
    os.rename(os.fsencode(tmp_path / "gains.npy"), os.fsencode(tmp_path) + "/donnée.npy".encode())
    words = ("run", "donnée.npy", "EXP3", "--trials", "1", "--jobs", "1", "--out", "été")
    code, out, err = in_locale(tmp_path, locale, *words)
    assert (code, err) == (0, b"")
    # Each byte of the folder's name that the locale does not know is a question mark.
    assert b"See ??t??/report.md and ??t??/figure.png." in out
    with open(os.fsencode(tmp_path) + "/été/report.md".encode(), encoding="utf-8") as report:
        text = report.read()
    assert "dp-bandit run donnée.npy EXP3 --trials 1 --jobs 1 --out été" in text.replace("'", "")


FOLDERS = {
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
SLOW = [name for name in FOLDERS if name not in ("no text", "long")]


@pytest.mark.thorough
@pytest.mark.slow_cases(*SLOW, "no text-C", "long-C", "letters of other alphabets-C")
@pytest.mark.skipif(os.name != "posix", reason="names of bytes")
@pytest.mark.parametrize(
    ("name", "locale"),
    [
        *(pytest.param(name, {}, id=name) for name in FOLDERS),
        *(pytest.param(name, LOCALE, id=f"{name}-C") for name in ("no text", "long", "letters of other alphabets")),
    ],
)
def test_a_folder_with_an_odd_name_is_no_traceback(name, locale, tmp_path):
    code, _, err = in_locale(tmp_path, locale, *SHORT_RUN, FOLDERS[name])
    if name in ("long", "a device"):
        assert code == 2 and err.startswith(b"error: ")
    elif name in ("blank", "nothing"):
        assert code == 2 and b"--out" in err and b"Traceback" not in err
    else:
        assert (code, err) == (0, b"")
        assert os.path.exists(os.path.join(os.fsencode(tmp_path), FOLDERS[name], b"report.md"))


@pytest.mark.thorough
def test_a_wrong_word_is_one_line(tmp_path):
    code, out, err = in_locale(tmp_path, LOCALE, "run", "Stochéstic", "EXP3", *SHORT_RUN[3:], "mine")
    assert (code, out) == (2, b"")
    assert err.startswith(b"error: unknown environment") and err.count(b"\n") == 1


def test_a_module_is_the_command(tmp_path):
    done = subprocess.run([sys.executable, "-m", "dp_bandit_envs", "--version"], capture_output=True, cwd=tmp_path)
    assert (done.returncode, done.stdout.decode().strip()) == (0, f"dp-bandit-envs {__version__}")


def test_help_has_the_commands_in_groups_and_examples_one_a_line(dp_bandit):
    code, out, _ = dp_bandit("--help")
    assert code == 0
    places = [out.index(f"\n{title}:\n") for title in COMMANDS]
    assert places == sorted(places)
    for names in COMMANDS.values():
        assert all(re.search(rf"^  {name}  +\S", out, re.MULTILINE) for name in names)
    code, out, _ = dp_bandit("run", "--help")
    examples = out.partition("Examples:\n")[2].strip().splitlines()
    assert code == 0 and len(examples) == 4 and all(line.strip().startswith("dp-bandit run ") for line in examples)
    assert "bool" not in out


def test_a_shell_completes_commands(tmp_path):
    asked = {"_DP_BANDIT_COMPLETE": "complete_bash", "COMP_WORDS": "dp-bandit cal", "COMP_CWORD": "1"}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=os.environ | asked, capture_output=True, text=True, cwd=tmp_path
    )
    assert done.returncode == 0 and done.stdout.split() == ["calibrate"]
