"""Writes files and folders atomically, so that a crash or a power cut leaves each complete or absent; locks files."""

import contextlib
import errno
import os
import platform
import re
import secrets
import sys
import warnings
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO

NODE = zlib.crc32(platform.node().encode(errors="replace"))
PARTIAL = re.compile(
    r"\.(?P<name>[\w-]+\.(npz|json|csv|md|png|svg|html))\.(?P<node>[0-9a-f]{8})-(?P<process>\d+)-[0-9a-f]{8}\.partial"
)
"""The name of a file while it is being written, with the process and the machine that write it."""

PRIVATE, PRIVATE_FOLDER = 0o600, 0o700
"""The permissions of a file with private data: only its owner reads it (not enforced on Windows)."""
ATTEMPTS = 100
"""Number of attempts if other processes keep removing the folder."""
HELD = (errno.EAGAIN, errno.EACCES)
"""How systems say that somebody else has a lock."""


@contextlib.contextmanager
def whole_file(target: Path, mode: int = 0o666) -> Iterator[IO[bytes]]:
    """Open a new file, which gets the name `target` only once all of it is on the disk.

    Args:
        target: Its name.
        mode: Its permissions, less those that the process withholds; `PRIVATE` for private data.

    Raises:
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
    sync_folder(target.parent)


def create_once(target: Path, content: bytes, mode: int = 0o666) -> bool:
    """Write a file unless it exists; return True for the one call, of all processes, that wrote it."""
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
    """Hold the system's lock on a file, which is made for it; a process that is killed loses it.

    On a disk without locks a warning says so, and nothing is held.

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
        """Unlock, also if a fork has a copy of the descriptor."""
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

    Windows cannot open folders, so nothing is done there.
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
