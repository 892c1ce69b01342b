"""The labs as notebooks: their list, a student's own copies, marimo in a process of its own, and small pictures."""

import difflib
import importlib.util
import logging
import os
import re
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from dp_bandit_envs.errors import UnknownNameError
from dp_bandit_envs.optional import require

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Lab(NamedTuple):
    """One lab."""

    name: str
    title: str
    question: str
    minutes: int

    @property
    def file(self) -> str:
        """The notebook's file name."""
        return f"{self.name.replace('-', '_')}.py"


LABS: Final = (
    Lab("what-is-a-bandit", "What is a bandit?", "Is there one best way to play against five different opponents?", 25),
    Lab("price-of-privacy", "The price of privacy", "How much more regret does a smaller epsilon cost?", 25),
    Lab("switching-costs", "Switching costs", "Which learner is best when every change of arm costs a round?", 25),
    Lab("counters", "Counters", "How well can one know a running sum that is published all the time?", 25),
    Lab(
        "what-an-attacker-sees",
        "What an attacker sees",
        "What do the arms alone give away, and how sure can one be?",
        30,
    ),
    Lab("graph-feedback", "Graph feedback", "Does it help to see more than the arm that was played?", 25),
    Lab("experts", "Experts", "Why is privacy nearly free when every gain is seen?", 25),
    Lab("hiv-trial", "A trial of HIV drugs", "What may one publish about the people of a real study?", 30),
    Lab("your-own-agent", "Your own agent", "Can you beat the algorithms of the papers?", 30),
)


def find(name: str) -> Lab:
    """Return a lab by its name, the beginning of its name, its file's name or its number from 1.

    Raises:
        UnknownNameError: If there is none; the error names the nearest one.
    """
    word = name.strip().lower().removesuffix(".py").replace("_", "-").replace(" ", "-")
    if word.isdecimal() and 1 <= int(word) <= len(LABS):
        return LABS[int(word) - 1]
    begin_so = [lab for lab in LABS if word and lab.name.startswith(word)]
    if len(begin_so) == 1:
        return begin_so[0]
    nearest = max(LABS, key=lambda lab: likeness(word, lab.name))
    if likeness(word, nearest.name) >= 0.5:
        hint = f"Did you mean {nearest.name}?"
    else:
        hint = f"Known: {', '.join(lab.name for lab in LABS)}."
    raise UnknownNameError(f"lab must be the name of a lab, or its number; received {name!r}. {hint}")


def likeness(word: str, name: str) -> float:
    """Return how much a word is like a name or one of the name's words, in [0, 1]."""
    return max(difflib.SequenceMatcher(None, word, other).ratio() for other in (name, *name.split("-")))


START_PAGE: Final = "all_labs.py"
"""The notebook with the list of all labs."""
SETTINGS: Final = """\
# Settings of marimo for the labs of this folder: cells run when a notebook is opened.
[tool.marimo.runtime]
auto_instantiate = true

[tool.marimo.ai]
enabled = false

[tool.marimo.display]
theme = "system"
custom_css = ["labs.css"]
"""
STYLE: Final = """\
/* Pictures are drawn on white. On a dark page they are turned dark, and their hues are kept. */
.dark img[src^="data:image/png"] {
  filter: invert(0.9) hue-rotate(180deg);
}
/* A question must not hide in a box that scrolls. */
.output-area {
  max-height: none !important;
}
"""


def copy_labs(folder: Path) -> list[str]:
    """Copy the labs into a folder, with marimo's settings and a style; a file that is there already is left as it is.

    Args:
        folder: Where to; it is made if it is not there.

    Returns:
        The names of the files that were copied now.

    Raises:
        OSError: If the folder cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    copied = []
    with resources.as_file(resources.files("dp_bandit_envs.labs")) as labs:
        for name in sorted(path.name for path in labs.glob("*.py") if path.name != "__init__.py"):
            if not (folder / name).exists():
                shutil.copyfile(labs / name, folder / name)
                copied.append(name)
    for name, text in (("pyproject.toml", SETTINGS), ("labs.css", STYLE)):
        if not (folder / name).exists():
            (folder / name).write_text(text, encoding="utf-8")
    return copied


def outdated(folder: Path) -> list[str]:
    """Return the copies in a folder that were made by another version of this package, and cannot run with this one.

    They import modules of the course that are not there; their cells say so, too.
    """
    found = []
    for path in sorted(folder.glob("*.py")):
        modules = re.findall(r"^ *from (dp_bandit_envs\.course\.[\w.]+) import", path.read_text(errors="replace"), re.M)
        if not all(known(module) for module in modules):
            found.append(path.name)
    return found


def known(module: str) -> bool:
    """Return whether a module is there."""
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:
        return False


FIRST_PORT: Final = 2718
"""Where to look for a free port, as marimo does."""
LOOPBACK: Final = "127.0.0.1"


@contextmanager
def served(
    folder: Path, page: str, *, read_only: bool = False, host: str = LOOPBACK, port: int | None = None
) -> Iterator[tuple[str, "subprocess.Popen[bytes]"]]:
    """Start marimo on a folder of notebooks, and stop it with all that it started.

    Args:
        folder: The notebooks.
        page: The file name of the notebook that the address leads to.
        read_only: Whether to show notebooks as apps, without their code. Otherwise whoever has the address, which holds
            a password, can run any code on this machine.
        host: The address to listen at.
        port: The port to listen at; by default the first free one from `FIRST_PORT` on.

    Yields:
        The address for the browser, and marimo's process.

    Raises:
        ImportError: If marimo is not installed.
        ValueError: If the port is taken.
        RuntimeError: If marimo does not start.
    """
    require("marimo", extra="labs")
    port = free_port(host, port)
    password = "" if read_only else secrets.token_urlsafe(12)
    command = [sys.executable, "-m", "marimo", "--quiet", "--log-level", "ERROR", "run" if read_only else "edit", "."]
    command += ["--headless", "--host", host, "--port", str(port)]
    # The password is read from the input, as everybody on this machine can see a process's arguments.
    command += [] if read_only else ["--token-password-file", "-", "--skip-update-check"]
    address = f"http://{LOOPBACK if host == '0.0.0.0' else host}:{port}/?file={page}"
    address += f"&access_token={password}" if password else ""
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(command, cwd=folder, stdin=subprocess.PIPE, stdout=said, stderr=said, **apart())
        try:
            assert process.stdin is not None
            process.stdin.write(password.encode())
            process.stdin.close()
            while not answers(host, port):
                if process.poll() is not None:
                    said.seek(0)
                    raise RuntimeError(f"marimo did not start: {said.read().decode(errors='replace').strip()[-2000:]}")
                time.sleep(0.1)
            yield address, process
        finally:
            stop(process)


def apart() -> dict[str, Any]:
    """Return the arguments that keep Ctrl-C from a child: it is ours to end it, without its questions."""
    if sys.platform == "win32":
        return {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}
    return {"start_new_session": True}


def stop(process: "subprocess.Popen[bytes]", seconds: float = 5.0) -> None:
    """End a process, and after some seconds all that it started."""
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            process.kill()
    if sys.platform != "win32":
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)  # kernels of notebooks that are still at work
    process.wait()


def free_port(host: str, port: int | None) -> int:
    """Return the port if it is free, or by default the first free one.

    Raises:
        ValueError: If it is taken, or none of a hundred is free.
    """
    for candidate in [port] if port else range(FIRST_PORT, FIRST_PORT + 100):
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as one:
            if sys.platform != "win32":
                one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                one.bind((host, candidate))
            except (OSError, OverflowError) as error:
                refused = error
                continue
        return candidate
    where = f"port {port}" if port else f"none of the ports from {FIRST_PORT} on"
    raise ValueError(
        f"The labs need a port that is free; {where} can be used at {host} ({refused}). Use another --port."
    )


def answers(host: str, port: int) -> bool:
    """Return whether somebody listens at a port."""
    try:
        with socket.create_connection((LOOPBACK if host == "0.0.0.0" else host, port), timeout=1):
            return True
    except OSError:
        return False


def show_in_browser(address: str) -> bool:
    """Open an address in the user's browser; return whether there is one."""
    try:
        return webbrowser.open(address)
    except webbrowser.Error:
        return False


def leave_compiling_to_spinners() -> None:
    """Drop the lines with which `simulate` announces in this process that something is compiled; others stay."""
    logging.getLogger("dp_bandit_envs").addFilter(unless_compiling)


def unless_compiling(record: logging.LogRecord) -> bool:
    """Return whether a line is no announcement of compiling."""
    return not record.getMessage().startswith("compiling ")


def panel(height: float = 3.4, width: float = 4.7) -> tuple["Figure", Any]:
    """Return a small figure of its own in the project's style, and its axes; panels then fit on a narrow screen."""
    import matplotlib as mpl
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    from dp_bandit_envs.plots.plot_style import RC

    with mpl.rc_context(RC):
        figure = Figure(figsize=(width, height), layout="constrained")
        FigureCanvasAgg(figure)
        return figure, figure.subplots()
