"""Grades a folder of submitted labs: reads each file, has it run in a process of its own, and collects the verdicts.

This process runs nothing that was handed in. It finds the cells that a task needs by their names; checks, pictures and
games of the submission are not among them.
"""

import ast
import hashlib
import io
import json
import re
import secrets
import symtable
import tokenize
from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import cache
from graphlib import CycleError, TopologicalSorter
from importlib import resources
from pathlib import Path
from threading import Event
from typing import Any, Final, NamedTuple

from dp_bandit_envs.course.exporting import MARIMOS
from dp_bandit_envs.course.grade_process import VERDICT
from dp_bandit_envs.course.notebooks import COURSE, LABS, Lab, cells_of, imported, not_here, parsed, texts_in
from dp_bandit_envs.submitted_code import (
    DONE,
    FAILED,
    MOST_WORDS,
    Limits,
    Submission,
    SubmissionError,
    WatchedProcess,
    checked_limits,
    files_in,
    in_threads,
    read_submission,
    run,
    shown,
)

WRITTEN: Final = "written_down"
"""The name of a student's answers to the questions that no check can judge."""
PREDICTION: Final = "prediction"
JUDGED: Final = "judged"
"""What a lab calls with a check, and with functions that return what it is given."""
LONG_LABS: Final = {"your-own-agent": 15, "your-own-adversary": 15}
"""Labs whose checks take long, and how many times the limits they have: then as long as in the notebook, 300 s."""


class Unit(NamedTuple):
    """A statement of the lab, or the other statements of a cell: code, place of the cell, names given and taken."""

    code: str
    cell: int
    gives: frozenset[str]
    takes: frozenset[str]


class Task(NamedTuple):
    """A task of a lab: its title, the check and its module, and the expressions that the check is given."""

    title: str
    check: str
    module: str
    arguments: tuple[str, ...]


class Original(NamedTuple):
    """A lab as it is in this version: its tasks, the statements of its cells, and what it asks and does not check."""

    lab: Lab
    tasks: tuple[Task, ...]
    statements: frozenset[str]
    questions: dict[str, str]


class Graded(NamedTuple):
    """One task of one file: whether it is solved, and the words."""

    task: str
    passed: bool
    says: str


class Grade(NamedTuple):
    """What came of one file of a student; `source` is what distinguishes its code from the lab's.

    `remarks` are for the student, too, `equal` names others' files with the same code.
    """

    student: str
    file: str
    lab: str
    tasks: tuple[Graded, ...] = ()
    remarks: tuple[str, ...] = ()
    equal: tuple[str, ...] = ()
    written: dict[str, str] = {}  # noqa: RUF012 (never changed)
    source: str = ""
    seconds: float = 0.0

    @property
    def points(self) -> int:
        """How many tasks are solved."""
        return sum(task.passed for task in self.tasks)

    @property
    def for_teacher(self) -> str:
        """All remarks."""
        same = [f"The same code as in {', '.join(self.equal)}, but for comments and spaces."] if self.equal else []
        return " ".join([*self.remarks, *same])


# ---- Read a file, without running it ----


class Read(NamedTuple):
    """What a file has: cells as statements, cells that are no Python, texts, and whether cells share all names."""

    cells: list[list[ast.stmt]]
    broken: list[str]
    texts: list[str]
    together: bool


def read(source: bytes, file: str) -> Read:
    """Return what a notebook of marimo or Jupyter has, or raise `SubmissionError`."""
    together = file.endswith(".ipynb")
    try:
        encoding = tokenize.detect_encoding(io.BytesIO(source).readline)[0]
        text = source.decode(encoding).replace("\r\n", "\n").replace("\r", "\n")
    except (SyntaxError, UnicodeDecodeError, LookupError):
        guess = "UTF-16" if source[:2] in (b"\xff\xfe", b"\xfe\xff") else "another encoding, such as Latin-1"
        raise SubmissionError(f"It is not in UTF-8 but in {guess}: save it as UTF-8.") from None
    try:
        texts, codes = _of_jupyter(text) if together else ([], [cell.code for cell in cells_of(text)])
    except SyntaxError as error:
        raise SubmissionError(f"It is no Python: {error.msg}, line {error.lineno}.") from None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, MemoryError):
        raise SubmissionError("It cannot be read as a notebook.") from None
    cells, broken = [], []
    for code in codes:
        try:
            cells.append(parsed(code).body)
        except SyntaxError:
            broken.append(code)
    shows = (body[0] for body in cells if len(body) == 1 and ast.unparse(body[0]).startswith("mo.md("))
    texts += [text for part in shows for text in texts_in(part)]
    return Read(cells, broken, texts, together)


def _of_jupyter(text: str) -> tuple[list[str], list[str]]:
    """Return texts and codes."""
    found: tuple[list[str], list[str]] = ([], [])
    for cell in json.loads(text)["cells"]:
        code = cell["cell_type"] == "code"
        source = "".join(cell["source"])
        found[code].append(_without_magic(source) if code else source)
    return found


def _without_magic(code: str) -> str:
    """Return a cell without lines for Jupyter itself, such as `%matplotlib inline`; `% n` may also go on with a sum."""
    try:
        parsed(code)
    except SyntaxError:
        return re.sub(r"^\s*[%!].*$", "", code, flags=re.MULTILINE)
    return code


def _unit(code: str, cell: int, *, together: bool) -> Unit:
    """Return some code with the names that it defines, and those that it takes from elsewhere."""
    top = symtable.symtable(code, "cell", "exec")
    gives = {one.get_name() for one in top.get_symbols() if one.is_assigned() or one.is_imported()}
    takes = {one.get_name() for one in top.get_symbols() if one.is_referenced()}
    inner = list(top.get_children())
    for table in inner:
        takes |= {one.get_name() for one in table.get_symbols() if one.is_global()}
        inner.extend(table.get_children())
    return Unit(code, cell, frozenset(gives), frozenset(takes if together else takes - gives))


def units_of(read: Read, original: "Original") -> list[Unit]:
    """Return what may be run by itself: each statement of the lab and each of its imports, and a student's cells."""
    found = []
    for place, body in enumerate(read.cells):
        codes, own = [], []
        for part in body:
            code = ast.unparse(part)
            if code not in original.statements:
                own.append(code)
            elif isinstance(part, ast.Import):
                codes += [ast.unparse(ast.Import([name])) for name in part.names]
            elif isinstance(part, ast.ImportFrom):
                codes += [ast.unparse(ast.ImportFrom(part.module, [name], part.level)) for name in part.names]
            else:
                codes.append(code)
        codes += ["\n".join(own)] if own else []
        found += [_unit(code, place, together=read.together) for code in codes]
    return found


# ---- The labs of this version ----


@cache
def originals() -> tuple[Original, ...]:
    """Return the labs that have tasks."""
    folder = resources.files("dp_bandit_envs.labs")
    return tuple(one for lab in LABS if (one := _original(lab, (folder / lab.file).read_text("utf-8"))).tasks)


def _original(lab: Lab, text: str) -> Original:
    cells = [parsed(cell.code).body for cell in cells_of(text)]
    names = {name: module for module, name in imported(text) if name.startswith("check_")}
    tasks = [
        (node.args[0].id, tuple(ast.unparse(each.body) for each in node.args[1:] if isinstance(each, ast.Lambda)))
        for part in (part for body in cells for part in body)
        for node in ast.walk(part)
        if isinstance(node, ast.Call) and ast.unparse(node.func) == JUDGED
        if isinstance(node.args[0], ast.Name) and node.args[0].id in names
    ]
    titles = [title.strip() for title in re.findall(r"^\s*\"?#+ (Task\b[^\n\\\"]*)", text, re.MULTILINE)]
    questions = {PREDICTION: "What do you predict?"}
    asked = re.search(r"Find out, and write down:\n(.*?)\n\s*\"\"\"", text, re.DOTALL)
    for number, question in re.findall(r"^\s*(\d)\. (.*(?:\n {5,}\S.*)*)", asked[1] if asked else "", re.MULTILINE):
        questions[number] = " ".join(question.split())
    return Original(
        lab,
        tuple(Task(title, check, names[check], given) for title, (check, given) in zip(titles, tasks, strict=True)),
        frozenset([*(ast.unparse(part) for body in cells for part in body), *MARIMOS.values()]),
        questions,
    )


def lab_of(source: str) -> Original:
    """Return the lab of which a file is a copy, by the checks that it imports, or raise `SubmissionError`."""
    names = imported(source)
    for one in originals():
        if names & {(task.module, task.check) for task in one.tasks}:
            return one
    if COURSE in source:
        raise SubmissionError("It is a copy of a lab of another version, whose checks are not here.")
    raise SubmissionError("It is no lab: it imports no check of the course.")


# ---- What a task needs ----


def plan(read: Read, units: Sequence[Unit], task: Task) -> tuple[list[int], str]:
    """Return which units a task needs, in the order in which they run, or why it cannot be graded."""
    needed = {ast.unparse(parsed(text, mode="eval")).split(".")[0] for text in task.arguments}
    problem = next(filter(None, (_missing(name, read, units) for name in sorted(needed))), "")
    places = set[int]()
    wild = {place for place, unit in enumerate(units) if read.together and "import *" in unit.code}
    while more := {place for place, unit in enumerate(units) if place in wild or unit.gives & needed} - places:
        places |= more
        needed |= frozenset().union(*(units[place].takes for place in more))
    if read.together:
        return sorted(places), problem
    before = {one: [each for each in sorted(places) if units[each].gives & units[one].takes] for one in sorted(places)}
    try:
        return list(TopologicalSorter(before).static_order()), problem
    except CycleError:
        return sorted(places), problem


def _missing(name: str, read: Read, units: Sequence[Unit]) -> str:
    """Return why a name cannot be had; empty if it can."""
    number = len({unit.cell for unit in units if name in unit.gives})
    if number > 1 and not read.together:
        return f"{name} is defined in {number} cells; marimo runs none of them. Keep one."
    for code in () if number else read.broken:
        if re.search(rf"\b(def|class)\s+{name}\b|^\s*{name}\s*=", code, re.MULTILINE):
            try:
                parsed(code)
            except SyntaxError as error:
                return f"The cell of {name} is no Python: {error.msg}, in its line {error.lineno}."
    return "" if number else f"There is no {name} in this file."


# ---- A folder ----


class Grading(NamedTuple):
    """What came of a folder: a grade for each file, and the secret from which cases were drawn."""

    grades: tuple[Grade, ...]
    secret: str


def grade(
    folder: str | Path,
    *,
    secret: str | None = None,
    seconds: float = 20.0,
    memory: int = 2_048,
    jobs: int = 1,
    progress: Callable[[Grade], None] | None = None,
) -> Grading:
    """Grade every lab of a folder, each in a process of its own.

    This is no sandbox: a process with the rights of this one can read and change what this one can. The limits stop
    mistakes, not attacks.

    Args:
        folder: Has the files, or a folder of files for each student.
        secret: Cases of checks are drawn from it; by default from a new one.
        seconds: Processor time for the tasks of a file, greater than 0, and three times as long by the clock; labs 9
            and 10 have 15 times as much. After a task that used it up, the next ones have it anew.
        memory: Megabytes that a submission may use, at least 64.
        jobs: How many are graded at a time, at least 1.
        progress: Called with each grade, from the calling thread.

    Raises:
        ValueError: If an argument leaves its range, or there is no file in the folder.
    """
    limits, jobs = checked_limits(seconds, memory, jobs)
    secret = secrets.token_hex(8) if secret is None else secret
    root, beside = Path(folder), ("all_labs.py", "labs.css", "pyproject.toml")
    found = files_in(root, "**/*", "submitted labs, .py or .ipynb")
    paths = [path for path in found if not path.is_dir() and path.name not in beside]
    grades = in_threads(
        lambda path, stopped: _grade(path, path.relative_to(root), limits, secret, stopped), paths, jobs, progress
    )
    return Grading(tuple(_compared(grades)), secret)


def _student(path: Path, lab: Lab | None) -> str:
    """Return whose a file is: its folder's name, or its own without a lab's name and the marks of copies."""
    if len(path.parts) > 1:
        return shown(path.parts[0])
    name = re.sub(r"([ _-]*\(\d+\)|[ _-]*copy)+$", "", path.stem, flags=re.IGNORECASE)
    if lab is not None:
        name = re.sub(lab.name.replace("-", "[-_ ]"), "", name, flags=re.IGNORECASE).strip(" -_.") or name
    return shown(name)


def _grade(path: Path, place: Path, limits: Limits, secret: str, stopped: Event) -> Grade:
    """Return the grade of a file, whatever is in it."""
    file = shown(place.as_posix())
    try:
        if path.suffix not in (".py", ".ipynb"):
            raise SubmissionError("It is no lab: it ends neither with .py nor with .ipynb.")
        submission = read_submission(path, shown(path.stem))
        if submission.problem:
            raise SubmissionError(f"It {submission.problem}.")
        found = read(submission.source, path.name)
        statements = [ast.unparse(part) for body in found.cells for part in body]
        original = lab_of("\n".join([*statements, *found.broken]))
    except SubmissionError as problem:
        return Grade(_student(place, None), file, "", remarks=(str(problem),))
    except Exception as error:  # such as a RecursionError; the others are graded all the same
        return Grade(_student(place, None), file, "", remarks=(_not_graded(error),))
    one = Grade(_student(place, original.lab), file, original.lab.name)
    unknown = not_here(imported("\n".join(statements)))
    remarks = [f"It is a copy of another version of the lab: {name} is not here." for name in unknown]
    mine = [part for part in statements if part not in original.statements and not part.startswith(f"{WRITTEN} =")]
    try:
        tasks, seconds = _run(submission, original, found, limits, secret, stopped)
    except Exception as error:
        return one._replace(remarks=(*remarks, _not_graded(error)))
    written = _written(found, original)
    return one._replace(
        tasks=tuple(tasks), remarks=tuple(remarks), written=written, source="\n".join(mine), seconds=seconds
    )


def _not_graded(error: Exception) -> str:
    return shown(f"It could not be graded: {type(error).__name__}: {error}")[:MOST_WORDS]


def _run(
    submission: Submission, original: Original, found: Read, limits: Limits, secret: str, stopped: Event
) -> tuple[list[Graded], float]:
    """Return a verdict for each task; after one that ends the process, another process goes on with the next."""
    limits = limits._replace(seconds=limits.seconds * LONG_LABS.get(original.lab.name, 1))
    units, tasks = units_of(found, original), []
    for task in original.tasks:
        places, problem = plan(found, units, task)
        seed = int.from_bytes(hashlib.sha256(f"{secret}\0{task.module}.{task.check}".encode()).digest()[:7])
        tasks.append({**task._asdict(), "units": places, "problem": problem, "seed": seed})
    codes = [[unit.code, unit.cell, sorted(unit.gives)] for unit in units]
    graded: list[Graded] = []
    seconds = 0.0
    while len(graded) < len(tasks) and not stopped.is_set():
        first = len(graded)
        process = WatchedProcess("course", "grade_process", submission, limits, stopped)

        def verdicts(process: WatchedProcess = process) -> tuple[bytes, bytes]:
            letter, content = process.ask()
            while letter == VERDICT and len(graded) < len(tasks):
                passed, says = json.loads(content)
                title = original.tasks[len(graded)].title
                graded.append(Graded(title, passed is True, shown(str(says))[: 3 * MOST_WORDS]))
                letter, content = process.ask()
            return letter if letter in (DONE, FAILED) else b"", content

        ran = run(process, {"units": codes, "tasks": tasks[first:], "together": found.together}, verdicts)
        seconds += ran.seconds
        if len(graded) < len(tasks):
            title, says = original.tasks[len(graded)].title, ran.failure or "its process ended early"
            graded.append(Graded(title, False, f"Not graded: {says}."))
    return graded, seconds


def _written(found: Read, original: Original) -> dict[str, str]:
    """Return a student's answers to what no check can judge; texts of its own count as notes."""
    answers: dict[str, str] = {}
    notes = []
    for part in (part for body in found.cells for part in body):
        if isinstance(part, ast.Assign) and ast.unparse(part.targets[0]) == WRITTEN:
            try:
                given = ast.literal_eval(part.value)
                answers.update({str(key): str(value) for key, value in given.items() if str(value).strip()})
            except (ValueError, TypeError, AttributeError, SyntaxError):
                notes.append(ast.unparse(part.value))
    known = "".join("".join(one.split()) for one in original.statements)
    for text in found.texts:
        theirs = text
        for marimos, jupyters in MARIMOS.items():
            theirs = theirs.replace(jupyters, marimos)
        own = text.strip() and "".join(repr(theirs)[1:-1].split()) not in known
        notes += [text] if own and not text.startswith("*This is a copy of the lab") else []
    return {**answers, "notes": "\n\n".join(notes)} if notes else answers


def _compared(grades: list[Grade]) -> list[Grade]:
    """Return grades with remarks on two files of one student, and on files of several students that are equal."""
    files, equal = defaultdict[Any, list[str]](list), defaultdict[Any, list[str]](list)
    for one in grades:
        files[one.student.lower(), one.lab].append(one.file)
        if one.source:
            equal[one.lab, one.source].append(one.file)
    found = []
    for one in grades:
        others = [name for name in files[one.student.lower(), one.lab] if name != one.file and one.lab]
        more = (f"{one.student} has other files of this lab: {', '.join(others)}.",) if others else ()
        same = [name for name in equal.get((one.lab, one.source), []) if name not in (one.file, *others)]
        found.append(one._replace(remarks=(*one.remarks, *more), equal=tuple(same)))
    return found
