"""Removes a folder in which folders may be nested so deeply that `shutil.rmtree` cannot follow."""

import contextlib
import os
import shutil
import uuid
from typing import Final

FULL: Final = 0o700
"""The rights without which a folder's content cannot be moved."""


def remove_folder(folder: str) -> None:
    """Remove a folder with all that is in it; what the system does not let go stays, without an error.

    Args:
        folder: Its path.
    """
    with contextlib.suppress(RecursionError):
        shutil.rmtree(folder, ignore_errors=True)
    if os.path.isdir(folder):
        with contextlib.suppress(OSError):
            _flatten(folder)


def _flatten(folder: str) -> None:
    """Remove a folder by moving up what is in its subfolders: no path gets long, and no call is nested."""
    prefix = uuid.uuid4().hex
    moved = 0
    while names := os.listdir(folder):
        for name in names:
            path = os.path.join(folder, name)
            if os.path.islink(path) or not os.path.isdir(path):
                os.unlink(path)
                continue
            os.chmod(path, FULL)
            for inner in os.listdir(path):
                os.rename(os.path.join(path, inner), os.path.join(folder, f"{prefix}{moved}"))
                moved += 1
            os.rmdir(path)
    os.rmdir(folder)
