"""Writes files and folders atomically, so that a crash or a power cut leaves each complete or absent."""

import contextlib
import os
import platform
import re
import secrets
import time
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO

NODE = zlib.crc32(platform.node().encode(errors="replace"))
PARTIAL = re.compile(
    r"\.(?P<name>[\w-]+\.(npz|json|csv|md|png|svg|html))\.(?P<node>[0-9a-f]{8})-(?P<process>\d+)-[0-9a-f]{8}\.partial"
)
"""The name of a file while it is being written, with the process and the machine that write it."""

OWNER = re.compile(r"(?P<node>[0-9a-f]{8})-(?P<process>\d+)")
"""The content of a claim: the machine and the process."""
PRIVATE, PRIVATE_FOLDER = 0o600, 0o700
"""The permissions of a file with private data: only its owner reads it (not enforced on Windows)."""
ATTEMPTS = 100
"""Number of attempts if other processes keep removing the folder."""
EMPTY_LOOKS = 50
"""How often, in half a second, to look whether an empty claim has been written."""


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
        with open_new(partial, mode) as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        try:
            # Unlike a rename, a link never replaces another file.
            os.link(partial, target)
        except FileExistsError:
            return False
        except (OSError, NotImplementedError, AttributeError):
            # Some file systems have no links; then the file is still new, but a crash may leave it incomplete.
            try:
                with open_new(target, mode) as file:
                    file.write(content)
                    file.flush()
                    os.fsync(file.fileno())
            except FileExistsError:
                return False
    finally:
        remove(partial)
    sync_folder(target.parent)
    return True


def claim(target: Path) -> bool:
    """Write machine and process to a new file; return False if it belongs to another process that may be running.

    A file of a process of this machine that is gone is taken over. Claims are not synced: losing one loses no result.
    """
    own = f"{NODE:08x}-{os.getpid()}"
    try:
        with open_new(target) as file:
            file.write(own.encode())
    except FileExistsError:
        found = _owner(target)
        if found and found[0] != own and (found["node"] != f"{NODE:08x}" or _is_running(found["process"])):
            return False
        remove(target)
        with contextlib.suppress(OSError), open_new(target) as file:
            file.write(own.encode())
    except OSError:
        pass  # what cannot be claimed is played all the same
    return True


def _owner(target: Path) -> re.Match[str] | None:
    """Return what is in a claim. An empty one is being written by its owner, or was left so by a power cut."""
    text = ""
    for _ in range(EMPTY_LOOKS):
        try:
            text = target.read_text(errors="replace")
        except FileNotFoundError:
            return None
        if text:
            break
        time.sleep(0.01)
    return OWNER.fullmatch(text)


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


def remove_folder(path: Path, endings: tuple[str, ...]) -> None:
    """Remove the files of a folder with these endings, and then the folder if it is empty, if permissions allow."""
    clear_partial_files(path)
    with contextlib.suppress(OSError):
        for file in [file for file in path.iterdir() if file.name.endswith(endings)]:
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
