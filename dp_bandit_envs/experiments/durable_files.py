"""Writes files and folders so that each is there as a whole or not at all, whatever kills the program or the power."""

import contextlib
import os
import platform
import re
import secrets
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO

NODE = zlib.crc32(platform.node().encode(errors="replace"))
PARTIAL = re.compile(
    r"\.(?P<name>[\w-]+\.(npz|json|csv|md|png|svg))\.(?P<node>[0-9a-f]{8})-(?P<process>\d+)-[0-9a-f]{8}\.partial"
)
"""How a file is called while it is being written: by which process of which machine."""

ATTEMPTS = 100
"""How often a folder may be removed by others before it counts as an error."""


@contextlib.contextmanager
def whole_file(target: Path) -> Iterator[IO[bytes]]:
    """Open a new file; it takes the name `target` when everything is on the disk, and not before.

    Raises:
        OSError: If it cannot be written; then nothing has changed.
    """
    partial = _partial(target)
    try:
        with open_new(partial) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(partial, target)
    except BaseException:
        remove(partial)
        raise
    sync_folder(target.parent)


def create_once(target: Path, content: bytes) -> bool:
    """Write a new file unless there is one of that name; return whether this call, of all processes, wrote it."""
    partial = _partial(target)
    try:
        with open_new(partial) as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        try:
            # Unlike a rename, a link never takes the place of another file.
            os.link(partial, target)
        except FileExistsError:
            return False
        except (OSError, NotImplementedError, AttributeError):
            # Not every file system has links; then the file is new, but a crash may leave half of it.
            try:
                with open_new(target) as file:
                    file.write(content)
                    file.flush()
                    os.fsync(file.fileno())
            except FileExistsError:
                return False
    finally:
        remove(partial)
    sync_folder(target.parent)
    return True


def open_new(path: Path) -> IO[bytes]:
    """Open a file for writing that is not there yet, in a folder that is made if need be."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    for _ in range(ATTEMPTS):
        make_folder(path.parent)
        # Another process may remove the folder, once it is empty, between these two lines.
        with contextlib.suppress(FileNotFoundError):
            return os.fdopen(os.open(path, flags), "wb")
    return os.fdopen(os.open(path, flags), "wb")


def make_folder(path: Path) -> None:
    """Make a folder and those above it; their names are on the disk afterwards."""
    if path.is_dir():
        return
    make_folder(path.parent)
    with contextlib.suppress(FileExistsError):
        os.mkdir(path)
    sync_folder(path.parent)


def remove(path: Path) -> None:
    """Remove a file if it is there and may be removed."""
    with contextlib.suppress(OSError):
        os.unlink(path)


def remove_folder(path: Path, ending: str) -> None:
    """Remove the files of a folder with an ending, and the folder if it is empty then, as far as allowed."""
    clear_partial_files(path)
    with contextlib.suppress(OSError):
        for file in list(path.glob(f"*{ending}")):
            remove(file)
        os.rmdir(path)
        sync_folder(path.parent)


def clear_partial_files(folder: Path) -> None:
    """Remove the partial files that processes of this machine left behind when they were killed."""
    with contextlib.suppress(OSError):
        for file in list(folder.iterdir()):
            ours = PARTIAL.fullmatch(file.name)
            if ours and ours["node"] == f"{NODE:08x}" and not _is_running(ours["process"]):
                remove(file)


def sync_folder(folder: Path) -> None:
    """Bring the names in a folder to the disk, unless another process has removed it.

    Windows cannot open folders and does without.
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
        return True  # elsewhere the signal 0 is not a question
    try:
        os.kill(int(process), 0)
    except (ValueError, OverflowError, ProcessLookupError):
        return False
    except PermissionError:
        return True
    return True
