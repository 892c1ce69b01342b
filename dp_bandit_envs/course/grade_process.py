"""The process of one submission of a lab: it runs the cells that a task needs, and our check on what they define.

The cases of a check that could be learnt by heart are drawn anew, from a seed that only the teacher knows.
"""

import importlib
import inspect
import json
import linecache
from collections.abc import Callable
from typing import Any, Final, NoReturn

from dp_bandit_envs.course.checking import Verdict, failure
from dp_bandit_envs.submitted_code import MessagePipe, do_job

VERDICT: Final = b"V"
"""From the process: whether the next task is solved, and the words, as JSON."""


def main() -> NoReturn:
    """Grade what standard input brings, and answer on standard output."""
    do_job(_prepared)


def _prepared(job: dict[str, Any]) -> Callable[[MessagePipe], None]:
    # First, so that nothing that is handed in can stand in their place.
    checks = [getattr(importlib.import_module(task["module"]), task["check"]) for task in job["tasks"]]

    def work(pipe: MessagePipe) -> None:
        units = Units(job["units"], job["file"], together=job["together"])
        for task, check in zip(job["tasks"], checks, strict=True):
            verdict = _verdict(task, units, check)
            pipe.send(VERDICT, json.dumps([bool(verdict), str(verdict.says)]).encode(errors="replace"))

    return work


class Units:
    """What a submission is made of, each run at most once: code, the place of its cell, and the names that it gives.

    In Jupyter all share all names (`together`); in marimo, the variables of a cell that it does not give are its own.
    """

    def __init__(self, units: list[Any], file: str, *, together: bool) -> None:
        self._units, self._file, self._together = units, file, together
        self.names: dict[str, Any] = {"__name__": "submission", "__file__": file}
        self._ran: dict[int, BaseException | None] = {}

    def run(self, place: int) -> None:
        """Run a unit, or raise what it raised before."""
        if place not in self._ran:
            self._ran[place] = None
            try:
                self._execute(*self._units[place])
            except (Exception, SystemExit) as error:
                self._ran[place] = error
        if (before := self._ran[place]) is not None:
            raise before

    def _execute(self, code: str, cell: int, gives: list[str]) -> None:
        names = self.names if self._together else dict(self.names)
        file = f"{self._file}, cell {cell + 1}: {len(linecache.cache)}"
        linecache.cache[file] = (0, None, code.splitlines(keepends=True), file)
        exec(compile(code, file, "exec", dont_inherit=True), names)
        self.names.update({name: names[name] for name in gives if name in names})


def _verdict(task: dict[str, Any], units: Units, check: Callable[..., Verdict]) -> Verdict:
    """Return what our check says of what the units define."""
    if task["problem"]:
        return Verdict(False, task["problem"])
    try:
        for place in task["units"]:
            units.run(place)
        arguments = [eval(text, dict(units.names)) for text in task["arguments"]]
    except ModuleNotFoundError as error:
        return Verdict(False, f"It imports {error.name}, which is not installed here.")
    except (Exception, SystemExit) as error:
        return Verdict(False, f"A cell stops with {failure(error)}.")
    seeded = {"seed": task["seed"] % 2**31} if "seed" in inspect.signature(check).parameters else {}
    try:
        return check(*arguments, **seeded)
    except Exception as error:
        return Verdict(False, f"The check cannot judge this, please look: {failure(error)}.")
