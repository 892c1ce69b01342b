"""A user's file, read once: the bytes that are hashed are the bytes that are played."""

import dataclasses
import gzip
import hashlib
import io
import os
import re
import zlib
from collections.abc import Iterator
from pathlib import Path, PurePath
from typing import Final, Self

from dp_bandit_envs.errors import DataFileError, WrongTypeError

MOST_BYTES: Final = 2**30
"""The largest file: 134 million gains as float64."""
MOST_TEXT_BYTES: Final = 2**28
"""The most text, after decompression; reading so much takes up to five times as much memory."""
_CLEANED: Final = "; or, if it holds records, clean it: dp-bandit data FILE --arm COLUMN --gain COLUMN"
_PIECE: Final = 2**16
_LINE: Final = re.compile(r"[^\r\n]*(?:\r\n?|\n)|[^\r\n]+")


@dataclasses.dataclass(frozen=True)
class DataFile:
    """A file's name and content, read once.

    A file may change between hashing it and reading it again; a `DataFile` does not. It can be given to `Replay` and
    to `as_feedback_graph` in place of a path, and it can be pickled.

    Args:
        name: The path, for messages; its ending decides how the content is read.
        content: All bytes of the file. They may be private, so a repr does not show them.
    """

    name: str
    content: bytes = dataclasses.field(repr=False)

    def __post_init__(self) -> None:
        """Refuse text and other objects in place of bytes."""
        for attribute, kind in (("name", str), ("content", bytes)):
            if not isinstance(getattr(self, attribute), kind):
                received = type(getattr(self, attribute)).__name__
                raise WrongTypeError(
                    f"{attribute} of a DataFile must be {kind.__name__}; received {received}. Use DataFile.read(path)."
                )

    @classmethod
    def read(cls, path: str | Path, *, error: type[DataFileError] = DataFileError) -> Self:
        """Read a file once.

        Args:
            path: A file of at most `MOST_BYTES`.
            error: The class of the errors to raise.

        Raises:
            WrongTypeError: If `path` is no path.
            DataFileError: As an `error`, if there is no such file, or it is a folder, unreadable or too large.
        """
        if not isinstance(path, (str, os.PathLike)):
            raise WrongTypeError(
                f"a file must be given by its path, such as 'my.csv'; received a {type(path).__name__}."
            )
        try:
            if Path(path).is_dir():
                raise error(f"{path}: must be a file; it is a folder. Give the path of a file in it.")
            if not Path(path).is_file():
                raise error(f"{path}: the file must exist; there is none. Check the path.")
            with Path(path).open("rb") as file:
                size = file.seek(0, io.SEEK_END)
                file.seek(0)
                content = file.read() if size <= MOST_BYTES else b""
        except (OSError, ValueError, MemoryError) as failure:
            if isinstance(failure, DataFileError):
                raise
            reason = getattr(failure, "strerror", None) or type(failure).__name__
            raise error(f"{path}: must be readable; received {reason!r}. Check the path and its permissions.") from None
        if max(size, len(content)) > MOST_BYTES:
            raise error(
                f"{path}: a file must have at most {MOST_BYTES:,} bytes; received {max(size, len(content)):,}. Split"
                " it, or save gains as float32 by numpy.save."
            )
        return cls(str(path), content)

    @property
    def path(self) -> PurePath:
        """The name as a path, for its ending."""
        return PurePath(self.name)

    @property
    def sha256(self) -> str:
        """The SHA-256 of the content, in 64 hexadecimal digits."""
        return hashlib.sha256(self.content).hexdigest()

    def text(self, *, error: type[DataFileError] = DataFileError) -> str:
        """Return the content as text: UTF-8 with or without a byte-order mark, decompressed if the name ends in .gz.

        Args:
            error: The class of the errors to raise.

        Raises:
            DataFileError: As an `error`, if it is not such text, or more than `MOST_TEXT_BYTES`.
        """
        data = self.text_bytes(error=error)
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError as failure:
            # The failure's position does not count a byte-order mark, but the mark ends no line.
            line = 1 + _lines_before(data, failure.start)
            raise error(
                f"{self.name}, line {line}: must be UTF-8 text; the bytes there are not. Open it in its own encoding,"
                f" such as Latin-1 or UTF-16, and save it again as UTF-8{_CLEANED}."
            ) from None
        nul = text.find("\0")
        if nul >= 0:
            raise error(
                f"{self.name}, line {1 + _lines_before(data, data.index(0))}: must be UTF-8 text; there is a NUL byte."
                f" If it is UTF-16, save it again as UTF-8{_CLEANED}."
            )
        return text

    def text_bytes(self, *, error: type[DataFileError] = DataFileError) -> bytes:
        """Return the content, decompressed if the name ends in .gz.

        Args:
            error: The class of the errors to raise.

        Raises:
            DataFileError: As an `error`, if it cannot be decompressed, or is more than `MOST_TEXT_BYTES`.
        """
        data = self._decompressed(error) if self.name.endswith(".gz") else self.content
        if len(data) > MOST_TEXT_BYTES:
            raise self._too_much(error)
        return data

    def lines(self, *, error: type[DataFileError] = DataFileError) -> Iterator[str]:
        r"""Yield the lines of `text` with their ends, which are \n, \r\n or \r and no others, as in text editors."""
        return (match.group() for match in _LINE.finditer(self.text(error=error)))

    def _decompressed(self, error: type[DataFileError]) -> bytes:
        # The size is counted before anything is kept, so that a decompression bomb costs almost no memory.
        try:
            size = 0
            with gzip.open(io.BytesIO(self.content)) as file:
                while piece := file.read(_PIECE):
                    size += len(piece)
                    if size > MOST_TEXT_BYTES:
                        raise self._too_much(error)
            return gzip.decompress(self.content)
        except (OSError, EOFError, zlib.error):
            raise error(
                f"{self.name}: must be a complete gzip file, as its name ends in .gz; it is damaged, truncated or of"
                " another kind. Copy or save it again."
            ) from None

    def _too_much(self, error: type[DataFileError]) -> DataFileError:
        return error(
            f"{self.name}: text must have at most {MOST_TEXT_BYTES:,} bytes, decompressed; there are more. Split it, or"
            " save gains by numpy.save as .npy."
        )


def _lines_before(data: bytes, position: int) -> int:
    before = data[:position]
    return before.count(b"\n") + before.count(b"\r") - before.count(b"\r\n")
