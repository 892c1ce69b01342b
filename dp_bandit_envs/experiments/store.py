"""A results folder that survives Ctrl-C, kill -9 and power cuts: every file in it is whole, or not there."""

import hashlib
import io
import json
import os
import re
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dp_bandit_envs.errors import ResultsError

CONFIGURATION = "configuration.json"
PARTIAL = re.compile(r"\.(?P<name>[\w-]+\.(npz|json|csv|md|png|svg))\.(?P<process>\d+)\.partial")
"""How a file is called while it is being written."""
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
            self._clear_litter()
        except OSError as error:
            raise ResultsError(
                f"{path}: the results folder must be writable; {error.strerror}. Choose another."
            ) from None

    def save(self, name: str, arrays: Arrays) -> None:
        """Write arrays to `name`.npz."""
        buffer = io.BytesIO()
        np.savez_compressed(buffer, allow_pickle=False, **arrays)
        with zipfile.ZipFile(buffer, "a") as archive:
            archive.comment = _digest(arrays)
        self.write(f"{name}.npz", buffer.getvalue())

    def load(self, name: str) -> dict[str, NDArray[Any]] | None:
        """Read the arrays of `name`.npz, or return None if there is no such file.

        Raises:
            ResultsError: If the file is damaged.
        """
        file = self.path / f"{name}.npz"
        try:
            data = file.read_bytes()
        except FileNotFoundError:
            return None
        try:
            with np.load(io.BytesIO(data), allow_pickle=False) as saved:
                arrays = {key: saved[key] for key in saved.files}
            with zipfile.ZipFile(io.BytesIO(data)) as archive:
                if archive.comment != _digest(arrays):
                    raise ValueError
            return arrays
        except Exception:  # a damaged archive can fail in any way
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
            target.parent.mkdir(exist_ok=True)
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

    def begin_chunks(self) -> None:
        """Make the folder of chunks."""
        (self.path / "chunks").mkdir(exist_ok=True)

    def remove_chunks(self) -> None:
        """Remove the chunks, once their content is elsewhere in the folder."""
        chunks = self.path / "chunks"
        if chunks.is_dir():
            for file in chunks.iterdir():
                file.unlink()
            chunks.rmdir()

    def _clear_litter(self) -> None:
        """Remove our own half-written files, of processes that are gone."""
        for file in [*self.path.iterdir(), *self.path.glob("chunks/*")]:
            ours = PARTIAL.fullmatch(file.name)
            if ours and not _is_running(ours["process"]):
                file.unlink(missing_ok=True)

    def _claim(self, text: str) -> None:
        file = self.path / CONFIGURATION
        if not file.exists():
            if any(not _is_half_a_configuration(entry.name) for entry in self.path.iterdir()):
                raise ResultsError(
                    f"{self.path}: a results folder must be empty or made by this command; it holds other files."
                    " Choose another."
                )
            self.write(CONFIGURATION, text)
        elif (found := file.read_bytes()) != text.encode():
            raise ResultsError(
                f"{self.path}: the folder belongs to another configuration, see {CONFIGURATION} in it; nothing was"
                f" changed. {_difference(found.decode(errors='replace'), text)}Choose another folder with --out."
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


def _digest(arrays: Arrays) -> bytes:
    """Return a digest of names and contents, which is kept as the archive's comment."""
    digest = hashlib.sha256()
    for key, array in arrays.items():
        digest.update(f"{key} {array.dtype.str} {array.shape}".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest().encode()


def _is_half_a_configuration(name: str) -> bool:
    ours = PARTIAL.fullmatch(name)
    return ours is not None and ours["name"] == CONFIGURATION


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


def _sync_folder(folder: Path) -> None:
    # Makes the new name itself durable; Windows cannot open folders and does without.
    if os.name == "posix":
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
