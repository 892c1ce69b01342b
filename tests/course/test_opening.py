"""The list of labs, their copies, and marimo's process: with a password, and ended with all that it started."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
import tomllib
import urllib.error
import urllib.request

import pytest

from dp_bandit_envs.checks import installed
from dp_bandit_envs.course import notebooks as opening
from dp_bandit_envs.course.notebooks import LABS, START_PAGE, copy_labs, find, outdated
from tests.tools.processes import COMMAND_LINE
from tests.tools.refusals import refused

needs_marimo = pytest.mark.skipif(not installed("marimo"), reason="there is no marimo: pip install -e '.[labs]'")


def test_ten_labs_of_twenty_to_thirty_minutes():
    assert len({lab.name for lab in LABS}) == len(LABS) == 10
    assert all(20 <= lab.minutes <= 30 and lab.question.endswith("?") for lab in LABS)


@pytest.mark.parametrize("word", ["price-of-privacy", "price_of_privacy.py", "Price of privacy", "2"])
def test_a_lab_has_several_names(word):
    assert find(word).file == "price_of_privacy.py"


@pytest.mark.parametrize("word", ["0", "11", "prise-of-privacy"])
def test_a_wrong_name_is_refused(word):
    with refused(ValueError, "labs" if word.isdigit() else "lab", word):
        find(word)
    with refused(ValueError, "price-of-privacy"):
        find("prise-of-privacy")


def test_a_copy_is_never_overwritten(tmp_path):
    folder = tmp_path / "labs"
    assert START_PAGE in copy_labs(folder)
    for name in ("price_of_privacy.py", "pyproject.toml", "labs.css"):
        assert (folder / name).exists()
        (folder / name).write_text("mine", encoding="utf-8")
    (folder / START_PAGE).unlink()
    assert copy_labs(folder) == [START_PAGE]
    assert {(folder / name).read_text() for name in ("price_of_privacy.py", "pyproject.toml", "labs.css")} == {"mine"}


def test_pages_to_read_on_are_links_where_somebody_serves_the_site(tmp_path, monkeypatch):
    copy_labs(tmp_path / "plain")
    monkeypatch.setenv("DP_BANDIT_ENVS_SITE", "https://course.example/")
    copy_labs(tmp_path / "linked")
    plain, linked = ((tmp_path / name / "counters.py").read_text(encoding="utf-8") for name in ("plain", "linked"))
    assert "the page `docs/counters.md`" in plain
    assert linked == plain.replace("`docs/counters.md`", "[docs/counters](https://course.example/docs/counters.html)")


def test_copies_of_another_version_are_named(tmp_path):
    """Theirs import what is not there any more; a student's own notebook, or a module of another package, may be."""
    copy_labs(tmp_path)
    assert outdated(tmp_path) == []
    (tmp_path / "mine.py").write_text("from nowhere.course.lab import thing\n", encoding="utf-8")
    for name, module in (("counters.py", "counter_lines"), ("experts.py", "checks.check_experts")):
        text = (tmp_path / name).read_text(encoding="utf-8").replace("course.notebooks", f"course.{module}")
        (tmp_path / name).write_text(text + f"    from dp_bandit_envs.course.{module} import thing\n", encoding="utf-8")
    assert outdated(tmp_path) == ["counters.py", "experts.py"]


def test_the_settings_name_the_style_that_lies_beside_them(tmp_path):
    copy_labs(tmp_path)
    settings = tomllib.loads((tmp_path / "pyproject.toml").read_text(encoding="utf-8"))
    styles = settings["tool"]["marimo"]["display"]["custom_css"]
    assert styles and all((tmp_path / name).is_file() for name in styles)


def test_a_port_that_is_taken_is_refused_and_another_one_found():
    with socket.socket() as one:
        one.bind((opening.LOOPBACK, 0))
        one.listen()
        taken = one.getsockname()[1]
        with refused(ValueError, f"port {taken}", "--port"):
            opening.free_port(opening.LOOPBACK, taken)
    assert opening.free_port(opening.LOOPBACK, None) >= opening.FIRST_PORT


def test_marimo_is_asked_for_by_the_name_of_the_extra(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "marimo", None)
    with refused(ImportError, "dp-bandit-envs[labs]"), opening.served(tmp_path, START_PAGE):
        pass


def alive_in(group):
    """Return the processes of a group that still run; dead ones stay listed until somebody asks for them."""
    import psutil  # comes with marimo

    found = []
    for one in psutil.process_iter():
        with contextlib.suppress(psutil.NoSuchProcess, ProcessLookupError):
            if os.getpgid(one.pid) == group and one.status() != psutil.STATUS_ZOMBIE:
                found.append(one.name())
    return found


@pytest.mark.thorough
@needs_marimo
def test_whoever_lacks_the_password_sees_nothing_and_nothing_is_left_running(tmp_path):
    copy_labs(tmp_path)
    with opening.served(tmp_path, START_PAGE) as (address, process):
        assert urllib.request.urlopen(address).status == 200
        password = address.rpartition("=")[2]
        assert len(password) > 10 and password not in " ".join(process.args)
        with urllib.request.urlopen(address.partition("&")[0]) as answer:
            assert "/auth/login" in answer.url
    with pytest.raises(OSError):
        urllib.request.urlopen(address)
    # What marimo started gets the same signal, and may need a moment more to end than marimo itself.
    for _ in range(1_000):
        if not alive_in(process.pid):
            break
        time.sleep(0.02)
    assert not alive_in(process.pid)


@pytest.mark.slow_cases("15")
@pytest.mark.thorough
@needs_marimo
@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_command_and_marimo(tmp_path, sent):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "counters.py").write_text("from dp_bandit_envs.course.counter_lines import WAYS\n", "utf-8")
    command = [*COMMAND_LINE, "lab", "price", "--folder", tmp_path / "mine", "--headless", "--read-only"]
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        start_new_session=True,
    ) as process:
        lines = [process.stdout.readline() for _ in range(4)]
        process.send_signal(sent)
        out, err = process.communicate()
    assert "counters.py is a copy from another version" in lines[1]
    assert "price_of_privacy.py" in lines[2] and "Ctrl-C" in lines[3]
    assert "Closed" in out and (process.returncode, err) == (0, "")
