"""File access: users' files are read once, our files are written atomically (complete or absent); locks."""

import contextlib
import dataclasses
import errno
import gzip
import hashlib
import io
import os
import platform
import re
import secrets
import stat
import sys
import warnings
import zlib
from collections.abc import Iterator
from pathlib import Path, PurePath
from typing import IO, Final, Self

from dp_bandit_envs import checks
from dp_bandit_envs.errors import DataFileError, FileAccessError, WrongTypeError

MOST_BYTES: Final = 2**30
"""The largest file: 134 million gains as float64."""
MOST_TEXT_BYTES: Final = 2**28
"""The most text, after decompression; reading so much takes up to five times as much memory."""
_PIECE: Final = 2**16
_LINE: Final = re.compile(r"[^\r\n]*(?:\r\n?|\n)|[^\r\n]+")
NODE = zlib.crc32(platform.node().encode(errors="replace"))
PARTIAL = re.compile(r"\.(?P<name>.+)\.(?P<node>[0-9a-f]{8})-(?P<process>\d+)-[0-9a-f]{8}\.partial", re.DOTALL)
"""The name of a file while it is being written, with the process and the machine that write it."""

PRIVATE, PRIVATE_FOLDER = 0o600, 0o700
"""The permissions of a file with private data: only its owner reads it (not enforced on Windows)."""
ATTEMPTS = 100
"""Number of attempts if other processes keep removing the folder."""
HELD = (errno.EAGAIN, errno.EACCES)
"""How systems say that somebody else has a lock."""


@dataclasses.dataclass(frozen=True)
class DataFile:
    """A file's name and content, read once.

    A file may change between hashing it and reading it again; a `DataFile` does not. `Replay` and `as_feedback_graph`
    accept it instead of a path, and it can be pickled.

    Args:
        name: The path, for messages; its ending decides how the content is read.
        content: All bytes of the file. They may be private, so a repr does not show them.
    """

    name: str
    content: bytes = dataclasses.field(repr=False)

    def __post_init__(self) -> None:
        """Refuse text and other objects instead of bytes."""
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
            WrongTypeError: If `path` is not a path.
            DataFileError: As an `error`, if the file is missing, a folder, unreadable or too large.
        """
        if not isinstance(path, (str, os.PathLike)):
            raise WrongTypeError(
                f"a file must be given by its path, such as 'my.csv'; received {checks.kind_of(path)}."
            )
        try:
            try:  # Path.is_file says of every name, however long, that there is no such file from Python 3.14 on
                mode = Path(path).stat().st_mode
            except (FileNotFoundError, NotADirectoryError, ValueError):
                mode = 0
            if stat.S_ISDIR(mode):
                raise error(f"{path}: must be a file; it is a folder. Give the path of a file in it.")
            if not stat.S_ISREG(mode):
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
                f" such as Latin-1 or UTF-16, or as what it is, such as Excel or Parquet, and save it as UTF-8."
            ) from None
        nul = text.find("\0")
        if nul >= 0:
            raise error(
                f"{self.name}, line {1 + _lines_before(data, data.index(0))}: must be UTF-8 text; there is a NUL byte."
                f" If it is UTF-16, save it again as UTF-8."
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


@contextlib.contextmanager
def whole_file(target: Path, mode: int = 0o666) -> Iterator[IO[bytes]]:
    """Open a new file, which gets the name `target` only once it is completely on disk.

    Args:
        target: Its name.
        mode: Its permissions, minus the process's umask; `PRIVATE` for private data.

    Raises:
        NotSyncedError: If it is written, but its name may not be on the disk yet.
        OSError: If it cannot be written; `target` is then unchanged.
    """
    partial = _partial(target)
    try:
        with open_new(partial, mode) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(partial, target)
    except BaseException:
        remove(partial)
        raise
    try:
        sync_folder(target.parent)
    except OSError as error:
        raise NotSyncedError(*error.args) from error


def replace(file: Path, target: Path) -> None:
    """Move a file that is on disk to the name of another file, replacing it.

    Raises:
        OSError: If it cannot be moved, or its name may not be on the disk yet.
    """
    os.replace(file, target)
    sync_folder(target.parent)


class NotSyncedError(OSError):
    """A file is written, but if the machine stops now, its name may be lost."""


def write_whole(target: Path, content: str | bytes) -> None:
    """Write a file, whole or not at all, and delete what crashed processes have left in its folder.

    Raises:
        FileAccessError: If it cannot be written; the message says whether `target` is unchanged.
    """
    clear_partial_files(target.parent)
    try:
        with whole_file(target) as file:
            file.write(content.encode() if isinstance(content, str) else content)
    except NotSyncedError as error:
        raise inaccessible(target, "was written, but is not safe on the disk", error) from error
    except OSError as error:
        raise inaccessible(target, "was not written and is unchanged", error) from error


def inaccessible(path: Path, what: str, error: OSError) -> FileAccessError:
    """Return an error that names a file, its state, and the reason."""
    named = FileAccessError(f"{path} {what}; {error.strerror or error}. Correct that and try again.")
    named.errno = error.errno
    return named


def create_once(target: Path, content: bytes, mode: int = 0o666) -> bool:
    """Write a file unless it exists; only one call among all processes writes it and returns True."""
    clear_partial_files(target.parent)
    partial = _partial(target)
    try:
        _write_new(partial, content, mode)
        try:
            # Unlike a rename, a link never replaces another file.
            os.link(partial, target)
        except FileExistsError:
            return False
        except (OSError, NotImplementedError, AttributeError):
            # Some file systems have no links; then the file is still new, but a crash may leave it incomplete.
            try:
                _write_new(target, content, mode)
            except FileExistsError:
                return False
    finally:
        remove(partial)
    sync_folder(target.parent)
    return True


def _write_new(path: Path, content: bytes, mode: int) -> None:
    with open_new(path, mode) as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the operating system's lock on a file, which is created for it; a killed process releases it.

    On a disk without locks, a warning is given and no lock is held.

    Raises:
        BlockingIOError: If another process, or another thread, holds it; with its process and machine, if known.
        OSError: If the file cannot be made.
    """
    descriptor = _locked(path)
    try:
        os.ftruncate(descriptor, 0)
        os.write(descriptor, f"process {os.getpid()} on {platform.node()}".encode(errors="replace"))
        yield
    finally:
        try:
            remove(path)  # while it is locked, so that it is never another one's
        finally:
            _unlock(descriptor)
            os.close(descriptor)


def _locked(path: Path) -> int:
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            _lock(descriptor)
            if os.path.samestat(os.fstat(descriptor), os.stat(path)):
                return descriptor
        except FileNotFoundError:
            pass  # its last owner has removed it since it was opened
        except OSError as error:
            if error.errno not in HELD:
                warnings.warn(
                    f"{path.parent}: this disk has no locks ({error.strerror}), so nothing keeps a second command out"
                    " of the folder; start one only.",
                    stacklevel=2,
                )
                return descriptor
            owner = os.read(descriptor, 200).decode(errors="replace")
            os.close(descriptor)
            raise BlockingIOError(owner) from None
        os.close(descriptor)


if sys.platform == "win32":
    import msvcrt

    def _at_the_lock(descriptor: int, mode: int) -> None:
        # Far behind the text, which others could not read otherwise.
        os.lseek(descriptor, 2**30, os.SEEK_SET)
        msvcrt.locking(descriptor, mode, 1)
        os.lseek(descriptor, 0, os.SEEK_SET)

    def _lock(descriptor: int) -> None:
        _at_the_lock(descriptor, msvcrt.LK_NBLCK)

    def _unlock(descriptor: int) -> None:
        with contextlib.suppress(OSError):
            _at_the_lock(descriptor, msvcrt.LK_UNLCK)

else:

    def _lock(descriptor: int) -> None:
        with contextlib.suppress(ImportError):  # as in a browser, where there is one process
            import fcntl

            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def _unlock(descriptor: int) -> None:
        """Unlock, even if a fork has a copy of the descriptor."""
        with contextlib.suppress(ImportError, OSError):
            import fcntl

            fcntl.flock(descriptor, fcntl.LOCK_UN)


def open_new(path: Path, mode: int = 0o666) -> IO[bytes]:
    """Open a new file for writing, and create its folder if needed."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    for _ in range(ATTEMPTS):
        make_folder(path.parent)
        # Another process may remove the folder, once it is empty, between these two lines.
        with contextlib.suppress(FileNotFoundError):
            return os.fdopen(os.open(path, flags, mode), "wb")
    return os.fdopen(os.open(path, flags, mode), "wb")


def make_folder(path: Path, mode: int = 0o777) -> None:
    """Create a folder, with a mode, and its parents, and sync their names to the disk."""
    if path.is_dir():
        return
    make_folder(path.parent)
    with contextlib.suppress(FileExistsError):
        os.mkdir(path, mode)
    sync_folder(path.parent)


def remove(path: Path) -> None:
    """Remove a file if it exists and permissions allow."""
    with contextlib.suppress(OSError):
        os.unlink(path)


def remove_folder(path: Path, ending: str) -> None:
    """Remove the files of a folder with this ending, and then the folder if it is empty, if permissions allow."""
    clear_partial_files(path)
    with contextlib.suppress(OSError):
        for file in [file for file in path.iterdir() if file.name.endswith(ending)]:
            remove(file)
        os.rmdir(path)
        sync_folder(path.parent)


def clear_partial_files(folder: Path) -> None:
    """Delete partial files left by crashed runs of this machine."""
    with contextlib.suppress(OSError):
        for file in list(folder.iterdir()):
            ours = PARTIAL.fullmatch(file.name)
            if ours and ours["node"] == f"{NODE:08x}" and not _is_running(ours["process"]):
                remove(file)


def sync_folder(folder: Path) -> None:
    """Sync the names in a folder to the disk, unless another process has removed it.

    Windows cannot open folders; there this has no effect.
    """
    if os.name == "posix":
        with contextlib.suppress(FileNotFoundError):
            descriptor = os.open(folder, os.O_RDONLY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)


def _partial(target: Path) -> Path:
    return target.with_name(f".{target.name}.{NODE:08x}-{os.getpid()}-{secrets.token_hex(4)}.partial")


def _is_running(process: str) -> bool:
    if os.name != "posix":
        return True  # on Windows signal 0 would not only test
    try:
        os.kill(int(process), 0)
    except (ValueError, OverflowError, ProcessLookupError):
        return False
    except PermissionError:
        return True
    return True
