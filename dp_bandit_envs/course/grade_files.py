"""What grading writes: a page, tables of verdicts and of free answers, and a results.json for each submission."""

import json
from collections.abc import Iterable, Iterator
from html import escape
from pathlib import Path
from typing import Final

from dp_bandit_envs.comparison.tables import comma_separated
from dp_bandit_envs.course.grading import Grade, Grading, originals
from dp_bandit_envs.errors import ResultsError
from dp_bandit_envs.files import whole_folder
from dp_bandit_envs.submitted_code import html_list, html_page, no_formula, scrolling_table

PAGE, TABLE, ANSWERS, RESULTS = "index.html", "grades.csv", "answers.csv", "results"
NOTES: Final = (
    "Points: one for a task whose check passes. The checks are this package's own; cases that could be learnt by heart"
    " were drawn from the teacher's secret, the same for all.",
    "Files with the same code are named. Right answers to a task of one line are often the same by chance.",
    "Predictions and free answers are below, as they were written; nothing judges them.",
)
STYLE: Final = """
.wide :is(th, td):nth-child(2) { white-space: nowrap; }
.wide td:nth-child(n + 3) { min-width: 9rem; }
b.yes { color: var(--yes); } b.no { color: var(--no); } .answer { white-space: pre-wrap; }
"""


def check_folder(folder: Path) -> None:
    """Raise `ResultsError` for a folder that has other files than grades: it is replaced as a whole."""
    others = []
    if folder.exists():
        ours = {PAGE, TABLE, ANSWERS, RESULTS}
        others = sorted(path.name for path in folder.iterdir() if path.name not in ours) if folder.is_dir() else ["it"]
    if others:
        raise ResultsError(
            f"{folder}: the folder of grades must be new, empty, or one of grades; it has {others[0]}. Choose another"
            " --out."
        )


def write(folder: Path, grading: Grading) -> None:
    """Write all files as a new folder, which then takes the place of that of before."""
    contents = {PAGE: page_of(grading), TABLE: table_of(grading.grades), ANSWERS: answers_of(grading.grades)}
    for one in grading.grades:
        contents[f"{RESULTS}/{one.file.replace('/', '--')}.json"] = json.dumps(results_of(one), indent=1) + "\n"
    check_folder(folder)
    whole_folder(folder, {name: text.encode(errors="replace") for name, text in contents.items()})


def results_of(one: Grade) -> dict[str, object]:
    """Return a file's grade in the shape of Gradescope's results.json, which otter-grader's is, too."""
    tests = [
        {"name": title, "score": float(passed), "max_score": 1.0, "output": says, "visibility": "visible"}
        for title, passed, says in one.tasks
    ]
    words = "\n".join(one.remarks) or f"{one.points} of {len(one.tasks)} tasks are solved."
    whole = {"score": float(one.points), "execution_time": round(one.seconds, 1), "output": words, "tests": tests}
    # What students do not see.
    about = {"student": one.student, "lab": one.lab, "answers": one.written, "same_code": one.equal}
    return {**whole, "extra_data": about}


def table_of(grades: Iterable[Grade]) -> str:
    """Return a row for each task of each file; a file that has none has one row."""
    rows = []
    for one in grades:
        about = [one.student, one.file, one.lab]
        for task in one.tasks:
            rows.append([*about, task.task, str(int(task.passed)), "1", task.says, one.for_teacher])
        if not one.tasks:
            rows.append([*about, "", "0", "0", "", one.for_teacher])
    return _csv("student file lab task points maximum verdict remarks", rows)


def answers_of(grades: Iterable[Grade]) -> str:
    """Return a row for each free answer, question by question."""
    rows = [
        [lab, key, question, one.student, one.file, answer]
        for lab, key, question, found in _asked(grades)
        for one, answer in found
    ]
    return _csv("lab number question student file answer", rows)


def _csv(head: str, rows: list[list[str]]) -> str:
    return comma_separated(head.split(), [[no_formula(cell) for cell in row] for row in rows])


def _asked(grades: Iterable[Grade]) -> Iterator[tuple[str, str, str, list[tuple[Grade, str]]]]:
    """Yield each lab, number, question, and its answers; questions that nobody answered are left out."""
    known = {one.lab.name: one.questions for one in originals()}
    grades = list(grades)
    for lab, questions in known.items():
        keys = dict.fromkeys([*questions, *(key for one in grades if one.lab == lab for key in one.written)])
        for key in keys:
            found = [(one, one.written[key]) for one in grades if one.lab == lab and key in one.written]
            if found:
                yield lab, key, questions.get(key, "Notes" if key == "notes" else key), found


def page_of(grading: Grading) -> str:
    """Return the page; every name and message in it is escaped."""
    grades = grading.grades
    parts = [f"<p class='note'>{escape(note)}</p>" for note in NOTES]
    for original in originals():
        ours = [one for one in grades if one.lab == original.lab.name]
        titles = [task.title for task in original.tasks]
        parts += [f"<h2>{escape(original.lab.title)}</h2>{_table(titles, ours)}"] if ours else []
    if strays := [f"{one.file}: {' '.join(one.remarks)}" for one in grades if not one.lab]:
        parts.append(f"<h2>Not graded</h2>{html_list(strays)}")
    for lab, key, question, found in _asked(grades):
        rows = (
            f"<tr><td>{escape(one.student)}</td><td class='answer'>{escape(answer)}</td></tr>" for one, answer in found
        )
        number = f"{key}. " if key.isdecimal() else ""
        parts.append(f"<h3>{escape(lab)}: {number}{escape(question)}</h3><table>{''.join(rows)}</table>")
    return html_page("Grades", parts, STYLE)


def _table(titles: list[str], grades: list[Grade]) -> str:
    """Return the table of a lab; under each task, how many solved it."""
    graded = [one for one in grades if one.tasks]
    solved = [sum(one.tasks[place].passed for one in graded) for place in range(len(titles))]
    heads = [
        f"<th>{escape(title)}<small>{number} of {len(graded)}</small></th>"
        for title, number in zip(titles, solved, strict=True)
    ]
    rows = []
    for one in grades:
        cells = "".join(
            f"<td><b class='{'yes' if task.passed else 'no'}'>{'Right' if task.passed else 'Not yet'}</b>"
            f"<small>{escape(task.says)}</small></td>"
            for task in one.tasks
        )
        remarks = f"<small>{escape(one.for_teacher)}</small>" if one.for_teacher else ""
        rows.append(
            f"<tr><td>{escape(one.student)}<small>{escape(one.file)}</small>{remarks}</td>"
            f"<td>{one.points} of {len(titles)}</td>{cells or f'<td colspan={len(titles)}></td>'}</tr>"
        )
    return scrolling_table(["<th>student</th>", "<th>points</th>", *heads], rows)
