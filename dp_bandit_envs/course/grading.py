"""Grades a folder of submitted labs: one process per file, and our checks on the names that its cells define.

This is not a sandbox: the process has the rights of the user who starts it, and its time limit stops mistakes, not
attacks. The parent process only reads the files and does not run them.
"""

import ast
import contextlib
import hashlib
import importlib
import inspect
import json
import linecache
import os
import re
import signal
import subprocess
import symtable
import sys
import tempfile
import threading
import time
import tokenize
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, Final, NamedTuple

from dp_bandit_envs import checks
from dp_bandit_envs.course.checking import TaskVerdict, WrongAnswer, failure
from dp_bandit_envs.course.notebooks import COURSE, LABS, Lab, cells_of, imported, not_here, parsed
from dp_bandit_envs.experiments.tables import comma_separated
from dp_bandit_envs.files import write_whole

MOST_BYTES: Final = 2**20
"""The longest file, which is read into memory."""
MOST_WORDS: Final = 1_200
"""Characters of a verdict that are kept."""
LONG_LABS: Final = {"your-own-agent": 15, "your-own-adversary": 15}
"""Labs whose checks take long, and how many times the limit they have."""
NO_NAMES: Final = re.compile(
    rf"{'|'.join(lab.name.replace('-', '[-_ ]') for lab in LABS)}|([ _-]*\(\d+\)|[ _-]*copy)+$", re.IGNORECASE
)
"""Parts of a file's name that do not belong to the student's name: the lab, and marks of copies, such as (2)."""


class Grade(NamedTuple):
    """The result for a file: student, lab, a verdict for each task, free answers, and a remark."""

    student: str
    file: str
    lab: str = ""
    verdicts: dict[str, TaskVerdict] = {}  # noqa: RUF012 (never changed)
    answers: dict[str, str] = {}  # noqa: RUF012
    remark: str = ""

    @property
    def points(self) -> int:
        """Number of solved tasks."""
        return sum(map(bool, self.verdicts.values()))

    @property
    def summary(self) -> str:
        """The file and its points, or the reason for none, in one line."""
        points = f"{self.points} of {len(self.verdicts)}" if self.verdicts else "not graded"
        return f"{self.file}: {points}{': ' if self.remark else ''}{self.remark}"


def grade(
    folder: str | Path,
    secret: str,
    *,
    seconds: float = 60.0,
    jobs: int = 1,
    progress: Callable[[Grade], None] | None = None,
) -> list[Grade]:
    """Grade every lab of a folder, each in its own process, and return a grade for each file, sorted by path.

    Args:
        folder: Contains the files, or one folder of files per student. Names that begin with . or _ are ignored.
        secret: Seed of the checks' cases.
        seconds: Time limit for the tasks of a file, greater than 0; labs 9 and 10 have 15 times as much. After a task
            that used it up, the limit starts again for the next tasks.
        jobs: Number of files graded at a time, at least 1.
        progress: Called with each grade, from the calling thread.

    Raises:
        ValueError: If an argument leaves its range, or the folder has no files.
    """
    checks.greater_than("seconds", seconds, 0.0)
    checks.integer("jobs", jobs, at_least=1)
    root, stopped = Path(folder), threading.Event()
    paths = [path.relative_to(root) for path in sorted(root.glob("**/*")) if path.suffix == ".py" or not path.is_dir()]
    others = ("all_labs.py", "labs.css", "pyproject.toml")
    paths = [path for path in paths if path.name not in others and not any(part[0] in "._" for part in path.parts)]
    if not paths:
        raise ValueError(
            f"FOLDER must be a folder with submitted labs, .py; there is no file in {str(folder)!r}. Names that begin"
            " with . or _ do not count."
        )
    with ThreadPoolExecutor(jobs) as threads:
        try:
            futures = [threads.submit(_grade, root, path, secret, seconds, stopped) for path in paths]
            for future in as_completed(futures):
                if progress is not None:
                    progress(future.result())
        finally:
            stopped.set()
    return [future.result() for future in futures]


def _grade(root: Path, path: Path, secret: str, seconds: float, stopped: threading.Event) -> Grade:
    name = path.parts[0] if len(path.parts) > 1 else NO_NAMES.sub("", path.stem).strip(" -_.") or path.stem
    student, file = printable(name), printable(path.as_posix())
    try:
        source = _source(root / path)
        cells, lab = cells_of(source), _lab(source)
        verdicts = _verdicts(cells, tasks_of(lab), secret, seconds * LONG_LABS.get(lab.name, 1), stopped)
        gone = (f"It is a copy of another version of the lab: {it} is not here." for it in not_here(imported(source)))
        return Grade(student, file, lab.name, verdicts, _answers(cells), " ".join(gone))
    except WrongAnswer as reason:
        remark = str(reason)
    except SyntaxError as error:
        remark = f"It is no Python: {error.msg}, line {error.lineno}."
    except (RecursionError, MemoryError):
        remark = "It cannot be read as a notebook."
    except Exception as error:  # the others are graded all the same
        remark = printable(f"It could not be graded: {type(error).__name__}: {error}")
    return Grade(student, file, remark=remark)


def printable(text: str) -> str:
    """Return text on one line; other letters that cannot be printed are written as in Python."""
    return "".join(char if char.isprintable() else " " if char.isspace() else ascii(char)[1:-1] for char in text)


# ---- A student's file ----


def _source(path: Path) -> str:
    if path.suffix != ".py":
        raise WrongAnswer("not a .py file")
    try:
        if not path.is_file():  # a folder, a device, or a named pipe, for whose writer nobody waits
            raise WrongAnswer("It cannot be read: it is no regular file.")
        if path.stat().st_size > MOST_BYTES:
            raise WrongAnswer(f"It is longer than {MOST_BYTES:,} bytes.")
        with tokenize.open(path) as file:
            return file.read()
    except OSError as error:
        raise WrongAnswer(f"It cannot be read: {error.strerror}.") from None
    except (SyntaxError, UnicodeDecodeError, LookupError):
        is_utf_16 = path.read_bytes()[:2] in (b"\xff\xfe", b"\xfe\xff")
        guess = "UTF-16" if is_utf_16 else "another encoding, such as Latin-1"
        raise WrongAnswer(f"It is not in UTF-8 but in {guess}: save it as UTF-8.") from None


def _lab(source: str) -> Lab:
    names = imported(source)
    for lab in LABS:
        if names & {(task.module, task.check) for task in tasks_of(lab)}:
            return lab
    if COURSE in source:
        raise WrongAnswer("It is a copy of a lab of another version, whose checks are not here.")
    raise WrongAnswer("It is no lab: it imports no check of the course.")


def _answers(cells: Sequence[str]) -> dict[str, str]:
    """Return a student's answers to the questions without a check, from a dict `written_down`, without running it."""
    answers = dict[str, str]()
    for code in cells:
        with contextlib.suppress(SyntaxError):
            for statement in parsed(code).body:
                if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == "written_down":
                    try:
                        pairs = ast.literal_eval(statement.value).items()
                    except (ValueError, TypeError, AttributeError):
                        pairs = [("all", ast.unparse(statement.value))]
                    answers |= {str(key): str(answer) for key, answer in pairs if str(answer).strip()}
    return answers


# ---- The tasks ----


class LabTask(NamedTuple):
    """A task of a lab: its title, the check and its module, and the expressions that the check is given."""

    title: str
    check: str
    module: str
    arguments: tuple[str, ...]


@cache
def tasks_of(lab: Lab) -> tuple[LabTask, ...]:
    """Return the tasks of a lab of this version: its calls of `judged` with a check."""
    text = (resources.files("dp_bandit_envs.labs") / lab.file).read_text("utf-8")
    modules = {name: module for module, name in imported(text) if name.startswith("check_")}
    titles = [title.strip() for title in re.findall(r"^\s*\"?#+ (Task\b[^\n\\\"]*)", text, re.MULTILINE)]
    nodes = [node for node in ast.walk(parsed(text)) if isinstance(node, ast.Call)]
    nodes = sorted((node for node in nodes if ast.unparse(node.func) == "judged"), key=lambda node: node.lineno)
    calls = [[ast.unparse(argument).removeprefix("lambda: ") for argument in node.args] for node in nodes]
    calls = [call for call in calls if call[0] in modules]
    return tuple(
        LabTask(title, check, modules[check], tuple(arguments))
        for title, (check, *arguments) in zip(titles, calls, strict=True)
    )


class Submission:
    """The definitions of a file's cells; each cell is run at most once, and only if a task needs it."""

    def __init__(self, cells: Sequence[str]) -> None:
        self._cells, self._broken = list[tuple[str, set[str], set[str]]](), list[tuple[str, SyntaxError]]()
        for code in cells:
            try:
                self._cells.append((code, *_names(code)))
            except SyntaxError as error:
                self._broken.append((code, error))
        self._defined: dict[str, Any] = {"__name__": "submission"}
        self._ran = set[int]()

    def judge(self, task: LabTask, check: Callable[..., TaskVerdict], secret: str) -> TaskVerdict:
        """Return the verdict of a check on the cells' definitions; its cases are drawn from the secret."""
        try:
            for index in [self._place_of(text.split(".")[0]) for text in task.arguments]:
                self._run(index)
            arguments = [eval(text, dict(self._defined)) for text in task.arguments]
        except WrongAnswer as wrong:
            return TaskVerdict(False, str(wrong))
        except ModuleNotFoundError as error:
            return TaskVerdict(False, f"It imports {error.name}, which is not installed here.")
        except BaseException as error:  # such as SystemExit
            return TaskVerdict(False, f"A cell stops with {failure(error)}.")
        seed = int.from_bytes(hashlib.sha256(f"{secret}\0{task.module}.{task.check}".encode()).digest()[:7]) % 2**31
        seeded = {"seed": seed} if "seed" in inspect.signature(check).parameters else {}
        try:
            return check(*arguments, **seeded)
        except BaseException as error:
            return TaskVerdict(False, f"The check cannot judge this, please look: {failure(error)}.")

    def _place_of(self, name: str) -> int:
        """Return the cell that defines a name, or raise `WrongAnswer` unless there is exactly one."""
        places = [place for place, (_, gives, _) in enumerate(self._cells) if name in gives]
        if len(places) == 1:
            return places[0]
        if places:
            raise WrongAnswer(f"{name} is defined in {len(places)} cells; marimo runs none of them. Keep one.")
        for code, error in self._broken:
            if re.search(rf"\b(def|class)\s+{name}\b|^\s*{name}\s*=", code, re.MULTILINE):
                raise WrongAnswer(f"The cell of {name} is no Python: {error.msg}, in its line {error.lineno}.")
        raise WrongAnswer(f"There is no {name} in this file.")

    def _run(self, index: int) -> None:
        """Run a cell, after the cells whose names it uses."""
        if index in self._ran:
            return
        self._ran.add(index)
        code, gives, takes = self._cells[index]
        for other, (_, others, _) in enumerate(self._cells):
            if takes & others:
                self._run(other)
        # Variables that a cell does not give are its own. Error messages quote lines from the cache.
        names, file = dict(self._defined), f"cell {index + 1}"
        linecache.cache[file] = (0, None, code.splitlines(keepends=True), file)
        exec(compile(code, file, "exec", dont_inherit=True), names)
        self._defined.update({name: names[name] for name in gives if name in names})


def _names(code: str) -> tuple[set[str], set[str]]:
    """Return the names that a cell defines, and the names that it uses from others, also inside its functions."""
    tables = [symtable.symtable(code, "cell", "exec")]
    symbols = tables[0].get_symbols()
    gives = {symbol.get_name() for symbol in symbols if symbol.is_assigned() or symbol.is_imported()}
    takes = {symbol.get_name() for symbol in symbols if symbol.is_referenced()}
    for table in tables:
        tables.extend(table.get_children())
        takes |= {symbol.get_name() for symbol in table.get_symbols() if table is not tables[0] and symbol.is_global()}
    return gives, takes - gives


# ---- The process ----

PROGRAM: Final = f"from {__name__} import judge_submission; judge_submission()"
JOB: Final = "job.json"
VERDICTS: Final = "verdicts.jsonl"


def _verdicts(
    cells: Sequence[str], tasks: Sequence[LabTask], secret: str, seconds: float, stopped: threading.Event
) -> dict[str, TaskVerdict]:
    verdicts = dict[str, TaskVerdict]()
    while len(verdicts) < len(tasks) and not stopped.is_set():
        lines, end = _process([cells, tasks[len(verdicts) :], secret], seconds, stopped)
        for title, passed, says in map(json.loads, lines):
            verdicts[title] = TaskVerdict(passed, printable(says)[:MOST_WORDS])
        if len(verdicts) < len(tasks):
            verdicts[tasks[len(verdicts)].title] = TaskVerdict(False, f"Not graded: {end}.")
    return verdicts


def _process(job: Sequence[Any], seconds: float, stopped: threading.Event) -> tuple[list[str], str]:
    """Judge tasks in a process with its own folder; return its lines, and why it stopped."""
    with tempfile.TemporaryDirectory(prefix="dp-bandit-", ignore_cleanup_errors=True) as folder:
        (Path(folder) / JOB).write_text(json.dumps(job), encoding="utf-8")
        (Path(folder) / VERDICTS).touch()
        quiet: Any = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)
        env = {**os.environ, "PYTHONHASHSEED": "0", "OMP_NUM_THREADS": "1"}
        command = [sys.executable, "-P", "-c", PROGRAM]
        process = subprocess.Popen(command, cwd=folder, env=env, start_new_session=True, **quiet)
        try:
            last = time.monotonic() + seconds
            while process.poll() is None and time.monotonic() < last and not stopped.wait(0.02):
                pass
            code = process.returncode
        finally:  # with all that it started and that is still in its group
            with contextlib.suppress(OSError):
                os.killpg(process.pid, signal.SIGKILL) if os.name == "posix" else process.kill()
            process.wait()
        end = f"its process ended in the middle of its work, with exit code {code}"
        if code is None:
            end = f"gave no answer in {seconds:g} s by the clock"
        return (Path(folder) / VERDICTS).read_text(encoding="utf-8").splitlines(), end


def judge_submission() -> None:
    """Judge the tasks of a file in this folder; write a line for each when it is judged."""
    cells, fields_of_tasks, secret = json.loads(Path(JOB).read_text(encoding="utf-8"))
    tasks = [LabTask(*fields) for fields in fields_of_tasks]
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=lambda: os._exit(1))  # a copy of this process must judge nothing
    # Before anything runs that could stand in their place.
    functions = [getattr(importlib.import_module(task.module), task.check) for task in tasks]
    with Path(VERDICTS).open("w", encoding="utf-8") as lines:
        for task, check in zip(tasks, functions, strict=True):
            verdict = Submission(cells).judge(task, check, secret)
            lines.write(json.dumps([task.title, bool(verdict), str(verdict.says)]) + "\n")
            lines.flush()
    os._exit(0)  # whatever threads are left


# ---- Two tables ----


def write(folder: Path, grades: Sequence[Grade]) -> None:
    """Write grades.csv, a row for each student, and answers.csv, a row for each free answer."""
    for name, rows in (("grades.csv", table_of_grades(grades)), ("answers.csv", table_of_answers(grades))):
        # A spreadsheet takes what begins so for a formula.
        safe = [[f"'{cell}" if str(cell).startswith(("=", "+", "-", "@")) else cell for cell in row] for row in rows]
        write_whole(folder / name, comma_separated(safe[0], safe[1:]).encode(errors="replace"))


def table_of_grades(grades: Sequence[Grade]) -> list[list[Any]]:
    """Return a head and a row for each student: total points and points per lab, unsolved tasks, remarks, files.

    Names that differ only in case belong to one student. Of several copies of a lab, the copy with the most points
    counts.
    """
    maxima = {lab.name: len(tasks_of(lab)) for lab in LABS}
    labs = [f"{lab} (of {number})" for lab, number in maxima.items()]
    rows: list[list[Any]] = [
        ["student", f"points (of {sum(maxima.values())})", *labs, "not solved", "remarks", "files"]
    ]
    students = dict[str, list[Grade]]()
    for grade in grades:
        students.setdefault(grade.student.casefold(), []).append(grade)
    for files in students.values():
        best = {grade.lab: grade for grade in sorted(files, key=lambda grade: grade.points) if grade.lab}
        points = [best[lab].points if lab in best else "" for lab in maxima]
        unsolved = [
            f"{grade.lab}, {title}: {verdict.says}"
            for grade in best.values()
            for title, verdict in grade.verdicts.items()
            if not verdict
        ]
        remarks = [grade.summary for grade in files if grade.remark]
        texts = (" | ".join(cell) for cell in (unsolved, remarks, [grade.file for grade in files]))
        rows.append([files[0].student, sum(grade.points for grade in best.values()), *points, *texts])
    return rows


def table_of_answers(grades: Sequence[Grade]) -> list[list[str]]:
    """Return a head and a row for each free answer, question by question."""
    rows = [
        [grade.lab, number, grade.student, grade.file, answer]
        for grade in grades
        for number, answer in grade.answers.items()
    ]
    return [["lab", "number", "student", "file", "answer"], *sorted(rows)]
