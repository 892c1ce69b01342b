"""The lines of a messy text file: encodings, byte-order marks and NUL bytes are put right, and noted."""

import codecs
import re
from typing import Final, NamedTuple

from dp_bandit_envs.recorded_data.file_problems import Findings, Problem

_END: Final = re.compile(rb"\r\n|\r|\n")
_UTF16: Final = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


class Line(NamedTuple):
    """A line without its end, and its number, from 1."""

    number: int
    text: str


def lines_of(content: bytes) -> tuple[list[Line], list[Problem]]:
    """Return the lines of a file and what was wrong with its bytes.

    Each line is read as UTF-8 if it is that, and otherwise as Windows-1252, a superset of what is called Latin-1: parts
    of a file may come from different programs.

    Args:
        content: All bytes, decompressed.
    """
    found = Findings()
    if content.startswith(_UTF16):
        found.add("utf-16", 1)
        content = content.decode("utf-16", "replace").encode()
    elif content.startswith(codecs.BOM_UTF8):
        found.add("mark", 1)
        content = content[len(codecs.BOM_UTF8) :]
    lines = []
    modern = False
    for number, data in enumerate(_END.split(content), 1):
        try:
            text = data.decode("utf-8")
            modern = modern or not text.isascii()
        except UnicodeDecodeError:
            found.add("encoding", number)
            text = _western(data)
        if "\0" in text:
            found.add("nul", number)
            text = text.replace("\0", "")
        lines.append(Line(number, text))
    if lines and not lines[-1].text:
        lines.pop()
    other = "line[s] in Windows-1252 (Latin-1)" + (", where others are in UTF-8" if modern else "")
    return lines, [
        *found.problem("utf-16", "file in UTF-16", "read as such"),
        *found.problem("mark", "byte-order mark", "skipped"),
        *found.problem("encoding", other, "each line read in its encoding; compare the names below"),
        *found.problem("nul", "line[s] with NUL bytes", "the NUL bytes are left out"),
    ]


def _western(data: bytes) -> str:
    try:
        return data.decode("cp1252")
    except UnicodeDecodeError:
        return data.decode("latin-1")
