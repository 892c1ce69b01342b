"""Clean records, the problems that were found with what was done about each, and the file that they are written to."""

import csv
import dataclasses
import io
import json
import re
import shlex
import statistics
from collections import Counter
from collections.abc import Hashable, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from dp_bandit_envs.errors import GainFileError
from dp_bandit_envs.files import PRIVATE, create_once, whole_file
from dp_bandit_envs.privacy.data_use import DataUse, use_of_pools
from dp_bandit_envs.protocols import FloatArray, IntArray

NOTES: Final = ".json"
"""What is put behind a clean file's name for the notes on what was done to it."""


SHOWN_LINES: Final = 3
"""How many line numbers are kept for each problem."""
_OPTION: Final = re.compile(r"\{(\w+)=([^}]*)\}")


@dataclasses.dataclass(frozen=True)
class Problem:
    """One kind of problem in one column. It never holds a gain or a person's id.

    Attributes:
        kind: A short name, such as `"missing"`.
        column: The name of the column; "" for the whole file.
        count: How many cells or lines.
        lines: The numbers of the first lines, at most three; line 1 is the first of the file.
        what: What it is, in words.
        remedy: What was done; or, if it is open, what to do. Options are written `{name=value}`.
        is_open: Whether it needs a decision before there can be a clean file.
    """

    kind: str
    column: str
    count: int
    lines: tuple[int, ...]
    what: str
    remedy: str
    is_open: bool

    def sentence(self, *, command_line: bool = False) -> str:
        """Return it as one line of text.

        Args:
            command_line: Write options as on the command line, `--missing drop`, and not as in Python.
        """
        where = f"{self.column}: " if self.column else ""
        lines = ", ".join(f"{line:,}" for line in self.lines)
        if lines:
            lines = (
                f" ({'line' if self.count == 1 else 'lines'} {lines}{', ...' if self.count > len(self.lines) else ''})"
            )
        return f"{where}{self.count:,} {self.what}{lines}: {_options(self.remedy, command_line)}"


class Findings:
    """Collects the lines of each kind of problem in one column, or in the whole file if that is ""."""

    def __init__(self, column: str = "") -> None:
        self.column = column
        self._counts: Counter[str] = Counter()
        self._lines: dict[str, list[int]] = {}

    def add(self, kind: str, line: int) -> None:
        """Count one more problem."""
        self._counts[kind] += 1
        lines = self._lines.setdefault(kind, [])
        if len(lines) < SHOWN_LINES:
            lines.append(line)

    def count(self, kind: str) -> int:
        """Return how many problems of a kind there are."""
        return self._counts[kind]

    def problem(self, kind: str, what: str, remedy: str, *, is_open: bool = False) -> list[Problem]:
        """Return the problem of a kind as a list of one, or of none if it did not occur.

        In `what`, `[s]` is the ending of a noun unless there is one only.
        """
        count = self.count(kind)
        if not count:
            return []
        words = what.replace("[s]", "" if count == 1 else "s")
        return [Problem(kind, self.column, count, tuple(self._lines[kind]), words, remedy, is_open)]


class Rounds(NamedTuple):
    """How many persons there are, and how many records a person has."""

    persons: int
    most: int
    median: float


def rounds_of(owners: Sequence[Hashable]) -> Rounds | None:
    """Return how many persons own records, and how many each; None without records."""
    counts = Counter(owners).values()
    return Rounds(len(counts), max(counts), float(statistics.median(counts))) if counts else None


@dataclasses.dataclass(frozen=True)
class CleanRecords:
    """The records of a file, clean, and all problems that were found in it.

    Attributes:
        source: The name of the file.
        lines: Number of records in it, before any was left out.
        arm_names: The arms' names; the arm numbered i is `arm_names[i]`.
        records_of_arms: How many records each arm has; while a problem is open, before any is left out for its gain.
        rounds_per_person: How many records a person has, counted in the same way; None without a column of persons.
        arms: The arm of each record; like the next two, without records while a problem is open. Shape `(records,)`.
        gains: The gain of each record, in [0, 1], shape `(records,)`. Private, so a repr does not show them.
        persons: The number of the person of each record, from 0, shape `(records,)`; None without such a column.
        problems: What was found; those that are open need a decision before `save`.
    """

    source: str
    lines: int
    arm_names: tuple[str, ...]
    records_of_arms: tuple[int, ...]
    rounds_per_person: Rounds | None
    arms: IntArray = dataclasses.field(repr=False)
    gains: FloatArray = dataclasses.field(repr=False)
    persons: IntArray | None = dataclasses.field(repr=False)
    problems: tuple[Problem, ...] = dataclasses.field(repr=False)

    @property
    def open_problems(self) -> tuple[Problem, ...]:
        """The problems that need a decision."""
        return tuple(problem for problem in self.problems if problem.is_open)

    @property
    def use(self) -> DataUse:
        """In how many rounds of a game a record and a person serve, if it is played on these records, one a round.

        Raises:
            GainFileError: If a problem is open.
        """
        self._refuse_open()
        total = len(self.arms)
        if self.persons is None:
            return use_of_pools(self.records_of_arms, total)
        owners = [self.persons[self.arms == arm].tolist() for arm in range(len(self.records_of_arms))]
        return use_of_pools(self.records_of_arms, total, owners)

    def report(self, *, command_line: bool = False) -> str:
        """Return what was found as text, which shows no gain and no person's id.

        Args:
            command_line: Write options as on the command line, `--missing drop`, and not as in Python.
        """
        many = len(self.open_problems)
        state = f"{many} to decide" if many else f"{len(self.arms):,} clean, {self.lines - len(self.arms):,} left out"
        lines = [f"{self.source}: {self.lines:,} records; {state}."]
        for one in sorted(self.problems, key=lambda one: not one.is_open):
            state = "TO DECIDE" if one.is_open else "done     "
            lines.append(f"{state}  {one.sentence(command_line=command_line)}")
        if not self.problems:
            lines.append("Nothing was wrong with it.")
        for arm, (name, count) in enumerate(zip(self.arm_names, self.records_of_arms, strict=False)):
            # While something is open, the columns may be exchanged, and the counts those of outcomes.
            records = "" if many else f" ({count:,} record{'' if count == 1 else 's'})"
            lines.append(f"arm {arm}: {name}{records}")
        rounds = self.rounds_per_person
        if rounds is not None:
            lines.append(
                f"{rounds.persons:,} persons; the most records of one: {rounds.most:,}, the median: {rounds.median:g}."
            )
        if not many:
            use = self.use
            person = "" if use.person is None else f", one person's in up to {use.person:,}"
            lines.append(
                f"Replayed for {len(self.arms):,} rounds, one record serves in up to {use.record:,}{person}; for it, a"
                " guarantee counts as many times."
            )
        if self.persons is None:
            lines.append(
                "Whose the records are is not known, so nothing can be said for a person: name their column with"
                f" {'--persons' if command_line else 'persons='}."
            )
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.report()

    def save(self, path: str | Path, *, force: bool = False) -> Path:
        """Write the columns `arm,gain`, and `person` if there are persons; and what was done, to `path` + `.json`.

        Both are written whole or not at all. Arms and persons are numbers; the notes have the arms' names. Gains stay
        private: only you may read the files (mode 0600); keep them as you keep the data.

        Args:
            path: Must end in .csv.
            force: Replace files that are there.

        Raises:
            GainFileError: If a problem is open, or the name ends otherwise.
            FileExistsError: If one of the two files is there, and `force` is False.
        """
        target = Path(path)
        if target.suffix != ".csv":
            raise GainFileError(f"{target}: the name of a clean file must end in .csv. Choose another name.")
        self._refuse_open()
        beside = target.with_name(target.name + NOTES)
        contents = {beside: (json.dumps(self.notes(), indent=2) + "\n").encode(), target: self._csv()}
        for file in contents:
            if file.exists() and not force:
                raise FileExistsError(
                    f"{file}: must be new; it exists. Choose another name, or use force to replace it."
                )
        for file, content in contents.items():
            if force:
                with whole_file(file, PRIVATE) as stream:
                    stream.write(content)
            elif not create_once(file, content, PRIVATE):
                raise FileExistsError(f"{file}: must be new; another process has just written it. Choose another name.")
        return target

    def notes(self) -> dict[str, Any]:
        """Return what was done, for the file beside the clean one: no gain and no person's id."""
        rounds = self.rounds_per_person
        return {
            "source": self.source,
            "arm_names": list(self.arm_names),
            "records": len(self.arms),
            "left_out": self.lines - len(self.arms),
            "rounds_per_person": None if rounds is None else rounds._asdict(),
            "done": [problem.sentence() for problem in self.problems],
        }

    def _refuse_open(self) -> None:
        if self.open_problems:
            kinds = "; ".join(problem.sentence() for problem in self.open_problems)
            many = "problem" if len(self.open_problems) == 1 else "problems"
            raise GainFileError(f"{self.source}: {len(self.open_problems)} {many} must be decided first: {kinds}.")

    def _csv(self) -> bytes:
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(["arm", "gain"] if self.persons is None else ["arm", "gain", "person"])
        columns = [self.arms.tolist(), map(repr, self.gains.tolist())]
        writer.writerows(zip(*columns, *([] if self.persons is None else [self.persons.tolist()]), strict=True))
        return text.getvalue().encode()


def arm_names(path: str | Path) -> tuple[str, ...]:
    """Return the names of the arms of a clean file, from the notes beside it.

    Args:
        path: The clean file, as `CleanRecords.save` wrote it.

    Raises:
        GainFileError: If there are no such notes beside it.
    """
    beside = Path(path).with_name(Path(path).name + NOTES)
    try:
        names = json.loads(beside.read_text(encoding="utf-8"))["arm_names"]
        return tuple(str(name) for name in names)
    except (OSError, ValueError, KeyError, TypeError):
        raise GainFileError(
            f"{beside}: the notes that CleanRecords.save wrote must be beside the clean file; they are missing or"
            " damaged. Clean the file again."
        ) from None


def _options(text: str, command_line: bool) -> str:
    if command_line:
        return _OPTION.sub(lambda found: f"--{found[1].replace('_', '-')} {shlex.quote(found[2])}", text)
    return _OPTION.sub(lambda found: f"{found[1]}={found[2]!r}", text)
