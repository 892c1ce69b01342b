"""Grades a folder of submitted labs: a process for each file, and our checks on what its cells define.

That is no sandbox: the process has the rights of whoever starts it, and its limit by the clock stops mistakes, not
attacks. The process that starts it reads files and runs nothing of them.
"""

import ast
import contextlib
import csv
import hashlib
import importlib
import inspect
import io
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
from dp_bandit_envs.course.checking import Verdict, failure
from dp_bandit_envs.course.notebooks import COURSE, LABS, Lab, cells_of, imported, not_here, parsed, texts_in
from dp_bandit_envs.files import whole_file

MOST_BYTES: Final = 2**20
"""The longest file, which is read into memory."""
MOST_WORDS: Final = 1_200
"""Characters of a verdict that are kept."""
LONG_LABS: Final = {"your-own-agent": 15, "your-own-adversary": 15}
"""Labs whose checks take long, and how many times the limit they have."""
WRITTEN: Final = "written_down = "
"""How the code begins with a student's answers to the questions that no check judges."""


class NotGraded(Exception):
    """A file cannot be graded; the text says why."""


class Grade(NamedTuple):
    """What came of a file: whose it is, a verdict for each task, free answers, the student's own code, and a remark."""

    student: str
    file: str
    lab: str = ""
    verdicts: dict[str, Verdict] = {}  # noqa: RUF012 (never changed)
    answers: dict[str, str] = {}  # noqa: RUF012
    code: str = ""
    remark: str = ""

    @property
    def points(self) -> int:
        """How many tasks are solved."""
        return sum(map(bool, self.verdicts.values()))

    @property
    def summary(self) -> str:
        """The file and its points, or why there are none, in a line."""
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
    """Grade every lab of a folder, each in a process of its own, and return a grade for each file, sorted by path.

    Args:
        folder: Has the files, or a folder of files for each student. Names that begin with . or _ do not count.
        secret: Cases of checks are drawn from it.
        seconds: By the clock, for the tasks of a file, greater than 0; labs 9 and 10 have 15 times as much. After a
            task that used it up, the next ones have it anew.
        jobs: How many files are graded at a time, at least 1.
        progress: Called with each grade, from the calling thread.

    Raises:
        ValueError: If an argument leaves its range, or there is no file in the folder.
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
        except BaseException:
            stopped.set()
            threads.shutdown(cancel_futures=True)
            raise
    return [future.result() for future in futures]


def _grade(root: Path, path: Path, secret: str, seconds: float, stopped: threading.Event) -> Grade:
    """Return the grade of a file, whatever is in it."""
    is_alone = len(path.parts) == 1
    # Without the marks of copies, such as (2).
    name = re.sub(r"([ _-]*\(\d+\)|[ _-]*copy)+$", "", path.stem, flags=re.I) if is_alone else path.parts[0]
    student, file = printable(name), printable(path.as_posix())
    try:
        submission = Submission(_source(root / path))
        lab = submission.lab
        if is_alone:
            student = re.sub(lab.name.replace("-", "[-_ ]"), "", student, flags=re.I).strip(" -_.") or student
        verdicts = _verdicts(submission, secret, seconds * LONG_LABS.get(lab.name, 1), stopped)
    except NotGraded as reason:
        return Grade(student, file, remark=str(reason))
    except Exception as error:  # such as a RecursionError; the others are graded all the same
        return Grade(student, file, remark=printable(f"It could not be graded: {type(error).__name__}: {error}"))
    remark = " ".join(f"It is a copy of another version of the lab: {gone} is not here." for gone in submission.gone)
    return Grade(student, file, lab.name, verdicts, submission.answers(), submission.own_code, remark)


def printable(text: str) -> str:
    """Return text on one line; other letters that cannot be printed are written as in Python."""
    return "".join(char if char.isprintable() else " " if char.isspace() else ascii(char)[1:-1] for char in text)


def _source(path: Path) -> str:
    """Return the text of a file of at most `MOST_BYTES`, or raise `NotGraded`."""
    if path.suffix != ".py":
        raise NotGraded("not a .py file")
    try:
        if not path.is_file():  # a folder, a device, or a named pipe, for whose writer nobody waits
            raise NotGraded("It cannot be read: it is no regular file.")
        with path.open("rb") as file:
            content = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise NotGraded(f"It cannot be read: {error.strerror}.") from None
    if len(content) > MOST_BYTES:
        raise NotGraded(f"It is longer than {MOST_BYTES:,} bytes.")
    try:
        encoding = tokenize.detect_encoding(io.BytesIO(content).readline)[0]
        return content.decode(encoding).replace("\r\n", "\n").replace("\r", "\n")
    except (SyntaxError, UnicodeDecodeError, LookupError):
        guess = "UTF-16" if content[:2] in (b"\xff\xfe", b"\xfe\xff") else "another encoding, such as Latin-1"
        raise NotGraded(f"It is not in UTF-8 but in {guess}: save it as UTF-8.") from None


# ---- The labs of this version ----


class Task(NamedTuple):
    """A task of a lab: its title, the check and its module, and the expressions that the check is given."""

    title: str
    check: str
    module: str
    arguments: tuple[str, ...]


class Original(NamedTuple):
    """A lab as it is in this version: its name, its tasks, and its statements."""

    name: str
    tasks: tuple[Task, ...]
    statements: frozenset[str]


@cache
def original(lab: Lab) -> Original:
    """Return a lab of this version; its tasks are its calls of `judged` with a check."""
    text = (resources.files("dp_bandit_envs.labs") / lab.file).read_text("utf-8")
    modules = {name: module for module, name in imported(text) if name.startswith("check_")}
    titles = [title.strip() for title in re.findall(r"^\s*\"?#+ (Task\b[^\n\\\"]*)", text, re.MULTILINE)]
    statements = [statement for cell in cells_of(text) for statement in parsed(cell.code).body]
    calls = [
        [ast.unparse(argument).removeprefix("lambda: ") for argument in node.args]
        for node in (node for statement in statements for node in ast.walk(statement))
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "judged" and ast.unparse(node.args[0]) in modules
    ]
    tasks = (
        Task(title, check, modules[check], tuple(arguments))
        for title, (check, *arguments) in zip(titles, calls, strict=True)
    )
    return Original(lab.name, tuple(tasks), frozenset(map(_squeezed, statements)))


def _squeezed(statement: ast.stmt) -> str:
    """Return code without white space, which marimo changes in texts when it saves a notebook."""
    return "".join(ast.unparse(statement).replace("\\n", "").split())


def original_of(source: str) -> Original:
    """Return the lab of which a file is a copy, by the checks that it imports, or raise `NotGraded`."""
    names = imported(source)
    for lab in map(original, LABS):
        if names & {(task.module, task.check) for task in lab.tasks}:
            return lab
    if COURSE in source:
        raise NotGraded("It is a copy of a lab of another version, whose checks are not here.")
    raise NotGraded("It is no lab: it imports no check of the course.")


# ---- A student's file ----


class Submission:
    """The cells of a student's copy of a lab; in the process that runs them, also what they define.

    `gone` are names of the course that are not in this version, `own_code` is what is not the lab's.

    Raises:
        NotGraded: If it is no copy of a lab of this version, or no Python.
    """

    def __init__(self, source: str) -> None:
        self.source = source
        try:
            codes = [cell.code for cell in cells_of(source)]
        except SyntaxError as error:
            raise NotGraded(f"It is no Python: {error.msg}, line {error.lineno}.") from None
        except Exception:  # such as a RecursionError
            raise NotGraded("It cannot be read as a notebook.") from None
        cells, self._broken = list[list[ast.stmt]](), list[tuple[str, SyntaxError]]()
        for code in codes:
            try:
                cells.append(parsed(code).body)
            except SyntaxError as error:
                self._broken.append((code, error))
        self._statements = [statement for cell in cells for statement in cell]
        text = "\n".join([*map(ast.unparse, self._statements), *(code for code, _ in self._broken)])
        self.lab, self.gone = original_of(text), not_here(imported(text))
        # A statement of the lab, or what else is in a cell, is a unit: code, cell, and names that it gives and takes.
        self._units, own = list[tuple[str, int, set[str], set[str]]](), list[str]()
        for number, cell in enumerate(cells):
            labs = [ast.unparse(part) for part in cell if _squeezed(part) in self.lab.statements]
            students = [ast.unparse(part) for part in cell if _squeezed(part) not in self.lab.statements]
            own += [code for code in students if not code.startswith(WRITTEN)]
            self._units += [(code, number, *_names(code)) for code in [*labs, "\n".join(students)] if code]
        self.own_code = "\n".join(own)
        self._names: dict[str, Any] = {"__name__": "submission"}
        self._errors = dict[int, BaseException | None]()

    def answers(self) -> dict[str, str]:
        """Return a student's answers to what no check can judge, and new texts as notes; nothing is run."""
        answers, notes = dict[str, str](), list[str]()
        for statement in self._statements:
            code = ast.unparse(statement)
            if isinstance(statement, ast.Assign) and code.startswith(WRITTEN):
                try:
                    pairs = ast.literal_eval(statement.value).items()
                    answers |= {str(key): str(answer) for key, answer in pairs if str(answer).strip()}
                except (ValueError, TypeError, AttributeError, SyntaxError):
                    notes.append(code.removeprefix(WRITTEN))
            elif code.startswith("mo.md(") and _squeezed(statement) not in self.lab.statements:
                notes += texts_in(statement)
        return {**answers, "notes": "\n\n".join(notes)} if notes else answers

    def judge(self, task: Task, check: Callable[..., Verdict], secret: str) -> Verdict:
        """Return what our check says of what the cells define; its cases are drawn from the secret."""
        needed = sorted(text.split(".")[0] for text in task.arguments)
        if problem := next(filter(None, map(self._problem, needed)), ""):
            return Verdict(False, problem)
        try:
            for name in needed:
                self._define(name)
            arguments = [eval(text, dict(self._names)) for text in task.arguments]
        except ModuleNotFoundError as error:
            return Verdict(False, f"It imports {error.name}, which is not installed here.")
        except BaseException as error:  # such as SystemExit
            return Verdict(False, f"A cell stops with {failure(error)}.")
        seed = int.from_bytes(hashlib.sha256(f"{secret}\0{task.module}.{task.check}".encode()).digest()[:7]) % 2**31
        seeded = {"seed": seed} if "seed" in inspect.signature(check).parameters else {}
        try:
            return check(*arguments, **seeded)
        except BaseException as error:
            return Verdict(False, f"The check cannot judge this, please look: {failure(error)}.")

    def _problem(self, name: str) -> str:
        """Return why a name cannot be had; empty if it can."""
        number = len({cell for _, cell, gives, _ in self._units if name in gives})
        if number > 1:
            return f"{name} is defined in {number} cells; marimo runs none of them. Keep one."
        for code, error in () if number else self._broken:
            if re.search(rf"\b(def|class)\s+{name}\b|^\s*{name}\s*=", code, re.MULTILINE):
                return f"The cell of {name} is no Python: {error.msg}, in its line {error.lineno}."
        return "" if number else f"There is no {name} in this file."

    def _define(self, name: str) -> None:
        """Run the units that give a name, each at most once, and before them those that they need."""
        for place, (code, cell, gives, takes) in enumerate(self._units):
            if name in gives and place not in self._errors:
                self._errors[place] = None
                try:
                    for other in sorted(takes):
                        self._define(other)
                    # Variables that a cell does not give are its own. Error messages quote lines from the cache.
                    names, file = dict(self._names), f"cell {cell + 1}, {place}"
                    linecache.cache[file] = (0, None, code.splitlines(keepends=True), file)
                    exec(compile(code, file, "exec", dont_inherit=True), names)
                    self._names.update({name: names[name] for name in gives if name in names})
                except BaseException as error:
                    self._errors[place] = error
            if name in gives and (error_before := self._errors[place]) is not None:
                raise error_before


def _names(code: str) -> tuple[set[str], set[str]]:
    """Return the names that a unit gives, and those that it takes from others, also inside of its functions."""
    tables = [symtable.symtable(code, "cell", "exec")]
    symbols = tables[0].get_symbols()
    gives = {symbol.get_name() for symbol in symbols if symbol.is_assigned() or symbol.is_imported()}
    takes = {symbol.get_name() for symbol in symbols if symbol.is_referenced()}
    for table in tables:
        tables.extend(table.get_children())
        takes |= {symbol.get_name() for symbol in table.get_symbols() if table is not tables[0] and symbol.is_global()}
    return gives, takes - gives


# ---- Its process ----

PROGRAM: Final = f"from {__name__} import judge_submission; judge_submission()"


def _verdicts(submission: Submission, secret: str, seconds: float, stopped: threading.Event) -> dict[str, Verdict]:
    """Return a verdict for each task; after one that ends the process, another process goes on with the next."""
    titles, verdicts = [task.title for task in submission.lab.tasks], dict[str, Verdict]()
    while len(verdicts) < len(titles) and not stopped.is_set():
        lines, end = _process([submission.source, secret, len(verdicts)], seconds, stopped)
        for title, passed, words in map(json.loads, lines):
            verdicts[title] = Verdict(passed, printable(words)[:MOST_WORDS])
        if len(verdicts) < len(titles):
            verdicts[titles[len(verdicts)]] = Verdict(False, f"Not graded: {end}.")
    return verdicts


def _process(job: Sequence[Any], seconds: float, stopped: threading.Event) -> tuple[list[bytes], str]:
    """Have tasks judged in a process with a folder of its own; return its lines, and why there are no more."""
    with (
        tempfile.TemporaryDirectory(prefix="dp-bandit-", ignore_cleanup_errors=True) as folder,
        tempfile.TemporaryFile() as given,
        tempfile.TemporaryFile() as lines,
    ):
        given.write(json.dumps(job).encode())
        given.seek(0)
        process = subprocess.Popen(
            [sys.executable, "-P", "-c", PROGRAM],
            stdin=given,
            stdout=lines,
            stderr=subprocess.DEVNULL,
            cwd=folder,
            env={**os.environ, "PYTHONHASHSEED": "0", "OMP_NUM_THREADS": "1"},
            start_new_session=True,
        )
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
        elif code < 0:
            end = f"its process was ended by signal {-code} ({signal.strsignal(-code)})"
        lines.seek(0)
        return lines.readlines(), end


def judge_submission() -> None:
    """Judge the tasks of the file that standard input brings; write a line for each as soon as it is judged."""
    source, secret, first = json.load(sys.stdin)
    lines = os.fdopen(os.dup(1), "w", encoding="ascii")
    os.dup2(2, 1)  # what cells print goes elsewhere
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=lambda: os._exit(1))  # a copy of this process must judge nothing
    submission = Submission(source)
    tasks = submission.lab.tasks[first:]
    # Before anything runs that could stand in their place.
    functions = [getattr(importlib.import_module(task.module), task.check) for task in tasks]
    for task, check in zip(tasks, functions, strict=True):
        verdict = submission.judge(task, check, secret)
        lines.write(json.dumps([task.title, bool(verdict), str(verdict.says)]) + "\n")
        lines.flush()
    os._exit(0)  # whatever threads are left


# ---- Two tables ----


def write(folder: Path, grades: Sequence[Grade]) -> None:
    """Write grades.csv, a row for each student, and answers.csv, a row for each free answer."""
    for name, rows in (("grades.csv", table_of_grades(grades)), ("answers.csv", table_of_answers(grades))):
        # A spreadsheet takes what begins so for a formula.
        safe = [[f"'{cell}" if str(cell).startswith(("=", "+", "-", "@")) else cell for cell in row] for row in rows]
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows(safe)
        with whole_file(folder / name) as file:
            file.write(text.getvalue().encode(errors="replace"))


def table_of_grades(grades: Sequence[Grade]) -> list[list[Any]]:
    """Return a head and a row for each student: points in all and in each lab, what is not solved, remarks, files.

    Names that differ in case only are one student's. Of several copies of a lab that with the most points counts.
    """
    maxima = {lab.name: len(original(lab).tasks) for lab in LABS}
    head = [
        "student",
        f"points (of {sum(maxima.values())})",
        *(f"{lab} (of {number})" for lab, number in maxima.items()),
    ]
    students, copies = dict[str, list[Grade]](), dict[tuple[str, str], list[Grade]]()
    for grade in grades:
        students.setdefault(grade.student.casefold(), []).append(grade)
        copies.setdefault((grade.lab, grade.code), []).append(grade)
    rows: list[list[Any]] = [[*head, "not solved", "remarks", "files"]]
    for files in students.values():
        best = {grade.lab: grade for grade in sorted(files, key=lambda grade: grade.points) if grade.lab}
        points = {lab: best[lab].points if lab in best else "" for lab in maxima}
        unsolved = [
            f"{grade.lab}, {title}: {verdict.says}"
            for grade in best.values()
            for title, verdict in grade.verdicts.items()
            if not verdict
        ]
        names, remarks = [grade.file for grade in files], list[str]()
        for grade in files:
            if grade.remark:
                remarks.append(grade.summary)
            elif best[grade.lab] is not grade:
                remarks.append(f"{grade.summary}; {best[grade.lab].file} counts")
            if equal := [copy.file for copy in copies[grade.lab, grade.code] if grade.code and copy not in files]:
                remarks.append(f"{grade.file}: the same code as {', '.join(equal)}, but for comments and spaces")
        rows.append([files[0].student, sum(grade.points for grade in best.values()), *points.values()])
        rows[-1] += [" | ".join(cell) for cell in (unsolved, remarks, names)]
    return rows


def table_of_answers(grades: Sequence[Grade]) -> list[list[Any]]:
    """Return a head and a row for each free answer, question by question."""
    order = {lab.name: place for place, lab in enumerate(LABS)}
    rows = [
        [grade.lab, number, grade.student, grade.file, answer]
        for grade in grades
        for number, answer in grade.answers.items()
    ]
    rows.sort(key=lambda row: (order[row[0]], row[1]))
    return [["lab", "number", "student", "file", "answer"], *rows]
