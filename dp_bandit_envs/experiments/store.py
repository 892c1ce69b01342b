"""A results folder that survives Ctrl-C, kill -9 and power cuts: every file in it is whole, or not there."""

import io
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from dp_bandit_envs.errors import ResultsError

CONFIGURATION = "configuration.json"
Arrays = Mapping[str, NDArray[Any]]


class ResultsFolder:
    """A folder that belongs to one configuration.

    Args:
        path: The folder; it is made if it is not there.
        configuration: Everything that determines the results, as plain JSON values.

    Raises:
        ResultsError: If the folder belongs to another configuration or to something else, or cannot be written.
    """

    def __init__(self, path: Path, configuration: Mapping[str, Any]) -> None:
        self.path = path
        text = json.dumps(configuration, indent=2, sort_keys=True) + "\n"
        try:
            path.mkdir(parents=True, exist_ok=True)
            self._claim(text)
            (path / "chunks").mkdir(exist_ok=True)
        except OSError as error:
            raise ResultsError(
                f"{path}: the results folder must be writable; {error.strerror}. Choose another."
            ) from None

    def save(self, name: str, arrays: Arrays) -> None:
        """Write arrays to `name`.npz."""
        buffer = io.BytesIO()
        np.savez_compressed(buffer, allow_pickle=False, **arrays)
        self.write(f"{name}.npz", buffer.getvalue())

    def load(self, name: str) -> dict[str, NDArray[Any]] | None:
        """Read the arrays of `name`.npz, or return None if there is no such file.

        Raises:
            ResultsError: If the file is damaged.
        """
        file = self.path / f"{name}.npz"
        try:
            with np.load(file, allow_pickle=False) as saved:
                return {key: saved[key] for key in saved.files}
        except FileNotFoundError:
            return None
        except (OSError, ValueError, EOFError, BadZipFile, KeyError):
            raise ResultsError(
                f"{file}: a saved file of results must be whole; this one is damaged. Delete it and run the same"
                " command again: only what it held is simulated anew."
            ) from None

    def write(self, name: str, content: bytes | str) -> None:
        """Write a file so that it is there as a whole or not at all, even if the power fails."""
        data = content.encode() if isinstance(content, str) else content
        target = self.path / name
        partial = target.with_name(f".{target.name}.{os.getpid()}.partial")
        try:
            with partial.open("wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            partial.replace(target)
        except OSError as error:
            partial.unlink(missing_ok=True)
            raise ResultsError(
                f"{target}: could not be written; {error.strerror}. What was saved before is untouched."
            ) from None
        _sync_folder(target.parent)

    def remove_chunks(self) -> None:
        """Remove the chunks, once their content is elsewhere in the folder."""
        for file in (self.path / "chunks").iterdir():
            file.unlink()
        (self.path / "chunks").rmdir()

    def _claim(self, text: str) -> None:
        file = self.path / CONFIGURATION
        if not file.exists():
            if any(not entry.name.endswith(".partial") for entry in self.path.iterdir()):
                raise ResultsError(
                    f"{self.path}: a results folder must be empty or made by this command; it holds other files."
                    " Choose another."
                )
            self.write(CONFIGURATION, text)
        elif file.read_text(encoding="utf-8") != text:
            raise ResultsError(
                f"{self.path}: the folder belongs to another configuration, see {CONFIGURATION} in it; nothing was"
                f" changed. {_difference(file.read_text(encoding='utf-8'), text)}Choose another folder with --out."
            )


def _difference(old: str, new: str) -> str:
    try:
        before, after = json.loads(old), json.loads(new)
    except ValueError:
        return ""
    if not isinstance(before, dict):
        return ""
    keys = [key for key in after if before.get(key) != after[key]]
    shown = [f"{key}: {before.get(key)!r} there, {after[key]!r} here" for key in keys]
    short = [text for text in shown if len(text) < 120] or keys
    return f"Different: {'; '.join(short)}. " if short else ""


def _sync_folder(folder: Path) -> None:
    # Makes the new name itself durable; Windows cannot open folders and does without.
    if os.name == "posix":
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
