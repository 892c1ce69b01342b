"""Finds the columns that were asked for; the cells of a first line that may be a record are never shown."""

import difflib
from collections.abc import Sequence
from typing import Final

from dp_bandit_envs.errors import GainFileError
from dp_bandit_envs.recorded_data.file_cells import Record, Sheet
from dp_bandit_envs.recorded_data.written_numbers import looks_like_number

MOST_SHOWN: Final = 20
"""How many names of columns a message shows."""
NO_NAMES: Final = (
    "{}: line {} must name the columns{}; it does not look like names of columns (its cells are withheld, as they may"
    " be private). Check the names that you gave, or write a first line of names into the file."
)


def columns_of(sheet: Sheet, wanted: Sequence[str], *, name: str) -> list[int]:
    """Return the index of each wanted column, whatever the case of the letters.

    Raises:
        GainFileError: If one is missing or there twice. Names are shown only under the rule of `shown_names`.
    """
    known = [one.casefold() for one in sheet.names]
    for one in wanted:
        times = known.count(one.strip().casefold())
        if times == 1:
            continue
        shown = shown_names(sheet, wanted)
        if not shown:
            raise GainFileError(NO_NAMES.format(name, sheet.line, f", {one!r} among them"))
        near = difflib.get_close_matches(one.strip().casefold(), known, 1)
        mean = f" Did you mean {sheet.names[known.index(near[0])]!r}?" if near and times == 0 else ""
        raise GainFileError(
            f"{name}: there must be one column {one!r}; there is {times or 'no'} such among {shown}.{mean} Give the"
            " name of a column, or rename columns in the file."
        )
    return [known.index(one.strip().casefold()) for one in wanted]


def shown_names(sheet: Sheet, wanted: Sequence[str] = ()) -> str:
    """Return the names of the columns as a message may show them; "" if the first line may be somebody's record.

    They are shown if a wanted one is among them; or if none has a digit and none occurs as a cell below, as an arm or
    an outcome would.
    """
    known = {one.casefold() for one in sheet.names}
    if not known & {one.strip().casefold() for one in wanted} and (
        any(looks_like_number(one) or any(map(str.isdigit, one)) for one in known) or _again(known, sheet.records)
    ):
        return ""
    return ", ".join(map(repr, sheet.names[:MOST_SHOWN])) + (", ..." if len(sheet.names) > MOST_SHOWN else "")


def _again(known: set[str], records: Sequence[Record]) -> bool:
    cells = known - {""}
    return any(cell.strip().casefold() in cells for record in records for cell in record.cells)
