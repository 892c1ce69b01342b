"""The labs as notebooks: their list, a student's copies, marimo in its own process, and small pictures."""

import ast
import importlib.util
import logging
import os
import re
import secrets
import signal
import socket
import subprocess
import sys
import tempfile
import time
import webbrowser
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from importlib import resources
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from dp_bandit_envs import checks
from dp_bandit_envs.checks import require
from dp_bandit_envs.errors import UnknownNameError
from dp_bandit_envs.files import write_whole

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
    Lab("what-is-a-bandit", "What is a bandit?", "Is there one best way to play against five different opponents?", 30),
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
    Lab("your-own-adversary", "Your own adversary", "Which game hurts a private learner most?", 30),
)


def find(name: str) -> Lab:
    """Return a lab by its name, the beginning of it, its file's name or its number, or raise `UnknownNameError`."""
    word = name.strip().lower().removesuffix(".py").replace("_", "-").replace(" ", "-")
    if word.isdecimal() and 1 <= int(word) <= len(LABS):
        return LABS[int(word) - 1]
    if re.fullmatch(r"[+-]?\d+", word):
        raise UnknownNameError(
            f"labs have the numbers 1 to {len(LABS)}; received {word}. `dp-bandit list labs` names them."
        )
    begin_so = [lab for lab in LABS if word and lab.name.startswith(word)]
    if len(begin_so) == 1:
        return begin_so[0]
    name = checks.known_name("lab", word, [lab.name for lab in LABS])
    return next(lab for lab in LABS if lab.name == name)


ONE_PARSES: Final = Lock()


def parsed(code: str) -> Any:
    """Return the tree of some code; Python 3.11 sometimes fails where two threads ask for one at the same time."""
    with ONE_PARSES:
        return ast.parse(code)


def cells_of(source: str) -> list[str]:
    """Return the code of a marimo notebook's cells, from top to bottom; the text of cells that are not Python."""
    lines, cells = source.splitlines(), []
    for node in parsed(source).body:
        marks = [*getattr(node, "decorator_list", []), *(each.context_expr for each in getattr(node, "items", []))]
        mark = " ".join(map(ast.unparse, marks))
        if isinstance(node, ast.Expr) and "app._unparsable_cell" in ast.unparse(node):
            texts = [each.value for each in ast.walk(node) if isinstance(each, ast.Constant)]
            cells += [text for text in texts if isinstance(text, str) and text != "_"]
        elif "app." in mark:
            cell = "app.cell" in mark or "app.setup" in mark
            body = [part for part in node.body if not isinstance(part, ast.Return)] if cell else [node]
            if body:
                cells.append(_dedented(lines, body))
    return cells


def _dedented(lines: list[str], body: list[Any]) -> str:
    """Return the code of some statements, with the comments before, and without the indentation of a cell."""
    first, last = body[0].lineno - 1, body[-1].end_lineno
    if not body[0].col_offset:
        return "\n".join(lines[first:last])  # a function that is a cell by itself, without marimo's decorator
    first = min([first, *(each.lineno - 1 for each in getattr(body[0], "decorator_list", []))])
    while lines[first - 1].lstrip().startswith("#"):
        first -= 1
    # Lines inside a string stay unchanged.
    inside = {
        line
        for statement in body
        for node in ast.walk(statement)
        if isinstance(node, (ast.Constant, ast.JoinedStr)) and '"""' in lines[node.lineno - 1]
        for line in range(node.lineno, node.end_lineno or 0)
    }
    kept = ((place, lines[place]) for place in range(first, last))
    return "\n".join(line if place in inside else line.removeprefix("    ") for place, line in kept)


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
/* marimo's words at a name that two cells define get ours above them. */
p.font-medium:has(+ p + ul [role="link"])::before {
  content: "np and math are imported already: take an import of them out of your cell, and run it again. Another name \
belongs to one cell, too: give yours another one.";
  display: block;
  margin-bottom: 0.5em;
  font-weight: bold;
}
/* A figure of one column is drawn for a telephone, and larger elsewhere. */
@media (min-width: 48em) {
  img[width="372"] {
    width: 500px;
  }
}
/* On a telephone a label is above its control, a long button has as many lines as it needs, and a wide table scrolls,
so that its headings have more than a word a line. */
@media (max-width: 30em) {
  .markdown table {
    display: block;
    overflow-x: auto;
  }
  .markdown :is(th, td) {
    min-width: 4.4rem;
    padding-inline: 0.3rem !important;
  }
  .mo-label {
    flex-direction: column;
    align-items: flex-start;
  }
  button:not([role]) {
    height: auto !important;
  }
}
"""


def copy_labs(folder: Path) -> list[str]:
    """Copy the labs into a folder, except existing files, and return the names of the new files."""
    copied = []
    with resources.as_file(resources.files("dp_bandit_envs.labs")) as labs:
        for name in sorted(path.name for path in labs.glob("*.py") if path.name != "__init__.py"):
            if not (folder / name).exists():
                write_whole(folder / name, linked((labs / name).read_text(encoding="utf-8")))
                copied.append(name)
    for name, text in (("pyproject.toml", SETTINGS), ("labs.css", STYLE)):
        if not (folder / name).exists():
            write_whole(folder / name, text)
    return copied


SITE: Final = "DP_BANDIT_ENVS_SITE"
"""The variable with the address of the site that `make docs` builds, if it is hosted."""


def linked(text: str, site: str | None = None) -> str:
    """Return a lab's text with its further pages as links to the site; unchanged without a site."""
    site = os.environ.get(SITE, "") if site is None else site
    return re.sub(r"`(docs/[\w/-]+)\.md`", rf"[\1]({site.rstrip('/')}/\1.html)", text) if site else text


COURSE: Final = "dp_bandit_envs.course."


def imported(source: str) -> set[tuple[str, str]]:
    """Return the modules of the course, and their names, that a notebook's text imports."""
    imports = re.findall(rf"^[ \"]*from ({re.escape(COURSE)}[\w.]+) import (\([^)]*\)|[^\n\\]*)", source, re.M)
    return {(module, name) for module, names in imports for name in re.findall(r"(\w+)(?: as \w+)?", names)}


def not_here(names: set[tuple[str, str]]) -> list[str]:
    """Return the names that the course lacks, without importing it."""
    missing = []
    for module, name in sorted(names):
        spec = importlib.util.find_spec(module) if module.count(".") == 2 else None
        text = Path(spec.origin).read_text("utf-8") if spec is not None and spec.origin else ""
        if not re.search(rf"\b{name}\b", text):
            missing.append(f"{module.removeprefix(COURSE)}.{name}")
    return missing


def outdated(folder: Path) -> list[str]:
    """Return the copies in a folder that import names missing in this version of the course."""
    paths = sorted(folder.glob("*.py"))
    return [path.name for path in paths if not_here(imported(path.read_text("utf-8", errors="replace")))]


FIRST_PORT: Final = 2718
"""Where to look for a free port, as marimo does."""
LOOPBACK: Final = "127.0.0.1"


@contextmanager
def served(
    folder: Path, page: str, *, read_only: bool = False, host: str = LOOPBACK, port: int | None = None
) -> Iterator[tuple[str, "subprocess.Popen[bytes]"]]:
    """Start marimo on a folder, and later stop it and its children; yield the address of a page, and the process.

    Unless it is `read_only`, anyone with the address, which contains a password, can run any code on this machine.
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
        process = subprocess.Popen(
            command,
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=said,
            stderr=said,
            # Ctrl-C is not for the child: it is ours to end it, without its questions. The first is for Windows.
            creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
            start_new_session=True,
        )
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
    """Return the port if it is free, or by default the first free one; raise `ValueError` if there is none."""
    for candidate in [port] if port else range(FIRST_PORT, FIRST_PORT + 100):
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as server:
            if sys.platform != "win32":
                server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                server.bind((host, candidate))
            except (OSError, OverflowError) as error:
                refused = error
                continue
        return candidate
    where = f"port {port}" if port else f"none of the ports from {FIRST_PORT} on"
    raise ValueError(
        f"The labs need a port that is free; {where} can be used at {host} ({refused}). Use another --port."
    )


def answers(host: str, port: int) -> bool:
    """Return whether a process listens on a port."""
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


def unless_compiling(record: logging.LogRecord) -> bool:
    """Return whether a line does not announce compiling."""
    return not record.getMessage().startswith("compiling ")


def leave_compiling_to_spinners() -> None:
    """Drop `simulate`'s announcements of compiling in this process; keep other lines."""
    logging.getLogger("dp_bandit_envs").addFilter(unless_compiling)


def begin(mo: Any) -> Callable[[str, Any, Sequence[Any]], Any]:
    """Leave announcements of compiling to a notebook's spinners; return a slider's factory (label, value, steps)."""
    if mo.running_in_notebook():
        leave_compiling_to_spinners()
    return lambda label, value, steps: mo.ui.slider(
        steps=list(steps), value=value, label=label, show_value=True, debounce=True
    )


def you_said(guess: str, holds: Mapping[str, bool]) -> str:
    """Return a prediction in Markdown, and whether it `holds`: by option, as measured in the lab."""
    right = [option for option, true in holds.items() if true]
    if guess in right:
        return f"You said *{guess}*: **right**."
    return f"You said *{guess}*: **wrong**{f'; right is *{right[0]}*' if right else ''}."


def panel(height: float = 3.4, width: float = 4.7) -> tuple["Figure", Any]:
    """Return a small separate figure in the project's style, and its axes, so that panels fit on a narrow screen."""
    import matplotlib as mpl
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    from dp_bandit_envs.plots.plot_style import RC

    with mpl.rc_context(RC):
        figure = Figure(figsize=(width, height), layout="constrained")
        FigureCanvasAgg(figure)
        return figure, figure.subplots()
