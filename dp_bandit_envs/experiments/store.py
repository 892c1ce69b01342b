"""A results folder: its archives belong to one configuration and are checked for damage; it can grow."""

import contextlib
import errno
import hashlib
import io
import json
import os
import re
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from dp_bandit_envs import files
from dp_bandit_envs.errors import ResultsError
from dp_bandit_envs.experiments.configurations import DESCRIBED, SECRET, cells_of, difference, union, why_not_joined

CONFIGURATION = "configuration.json"
CHUNKS = "chunks"
LOCK = ".lock"
OF_SYSTEMS = re.compile(r"\.DS_Store|Thumbs\.db|desktop\.ini|lost\+found|\.nfs\w+")
"""What systems put into an empty folder."""
GROWTH = "growth"
"""The subfolder in which a finished run grows, until the new part is finished too."""
RESULTS = "results"
"""The name of the archive with all results."""
UNWRITABLE = (errno.EACCES, errno.EPERM, errno.EROFS)
UNREADABLE = (errno.EACCES, errno.EPERM, errno.EIO, errno.EMFILE, errno.ENFILE, errno.ENOMEM)
"""Why a file may not be read just now that is intact."""
MANIFEST = "manifest.json"
"""The member with the archive's origin and a digest of each array; its own digest is the archive's comment."""
KEPT_BYTES = 2**28
"""Arrays are cached in memory up to this many bytes in total; others are read each time."""
Origin = Mapping[str, str | int]


def write_archive(file: IO[bytes], arrays: Iterable[tuple[str, Sequence[NDArray[Any]]]], origin: Origin) -> None:
    """Write an archive; equal arrays and origins give equal bytes.

    Args:
        file: The file to write to.
        arrays: Each array's name, and its pieces, which are joined along their first axis.
        origin: The run and the part that the archive belongs to.
    """
    digests = {}
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for key, pieces in arrays:
            with archive.open(f"{key}.npy", "w", force_zip64=True) as member:
                header = {"descr": npy.dtype_to_descr(pieces[0].dtype), "fortran_order": False, "shape": _shape(pieces)}
                npy.write_array_header_1_0(member, header)
                for piece in pieces:
                    member.write(np.ascontiguousarray(piece).tobytes())
            digests[key] = _digest(pieces)
        manifest = json.dumps({"origin": dict(origin), "sha256": digests}).encode()
        archive.writestr(zipfile.ZipInfo(MANIFEST), manifest)
        archive.comment = hashlib.sha256(manifest).hexdigest().encode()


def _shape(pieces: Sequence[NDArray[Any]]) -> tuple[int, ...]:
    return (sum(map(len, pieces)), *pieces[0].shape[1:])


def _digest(pieces: Sequence[NDArray[Any]]) -> str:
    """Return the digest of the array joined from pieces: of its type, shape and content."""
    digest = hashlib.sha256(f"{pieces[0].dtype.str} {_shape(pieces)}".encode())
    for piece in pieces:
        digest.update(np.ascontiguousarray(piece).tobytes())
    return digest.hexdigest()


class Archive(Mapping[str, NDArray[Any]]):
    """The arrays of a file, each read and checked when it is accessed.

    Args:
        path: The file.
        origin: The expected origin.

    Raises:
        FileNotFoundError: If the file is missing.
        ResultsError: Here or when an array is read, if the file is damaged or has another origin.
    """

    def __init__(self, path: Path, origin: Origin) -> None:
        self._path = path
        self._origin = dict(origin)
        self._kept: dict[str, NDArray[Any]] = {}
        with self._open() as archive:
            self._keys = dict.fromkeys(self._manifest(archive))

    def __getitem__(self, key: str) -> NDArray[Any]:
        if key not in self._kept:
            array = self.read(key)
            if sum(kept.nbytes for kept in self._kept.values()) + array.nbytes > KEPT_BYTES:
                return array
            self._kept[key] = array
        return self._kept[key]

    def __contains__(self, key: object) -> bool:
        return key in self._keys  # that of mappings would read the array

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __len__(self) -> int:
        return len(self._keys)

    def check(self) -> None:
        """Read and check every array without keeping it."""
        with self._open() as archive:
            for key, expected in self._manifest(archive).items():
                self._array(archive, key, expected)

    def read(self, key: str) -> NDArray[Any]:
        """Read an array from the file, without keeping it."""
        if key not in self._keys:
            raise KeyError(key)
        with self._open() as archive:
            return self._array(archive, key, self._manifest(archive)[key])

    def _array(self, archive: zipfile.ZipFile, key: str, expected: str) -> NDArray[Any]:
        try:
            array: NDArray[Any] = npy.read_array(io.BytesIO(archive.read(f"{key}.npy")), allow_pickle=False)
            if _digest([array]) != expected:
                raise ValueError
        except Exception as error:  # a damaged archive can fail in any way
            raise self._failed(error) from None
        return array

    def _open(self) -> zipfile.ZipFile:
        try:
            return zipfile.ZipFile(self._path)
        except FileNotFoundError:
            raise
        except Exception as error:
            raise self._failed(error) from None

    def _manifest(self, archive: zipfile.ZipFile) -> dict[str, str]:
        """Return the digest of each array, or raise if the archive is damaged or of another origin."""
        try:
            text = archive.read(MANIFEST)
            if hashlib.sha256(text).hexdigest().encode() != archive.comment:
                raise ValueError
            manifest = json.loads(text)
            origin, digests = dict(manifest["origin"]), dict(manifest["sha256"])
        except Exception as error:
            raise self._failed(error) from None
        if origin != self._origin:
            keys = [key for key in {**origin, **self._origin} if origin.get(key) != self._origin.get(key)]
            others = ", ".join(
                f"{key} {_short(origin.get(key))} instead of {_short(self._origin.get(key))}" for key in keys
            )
            raise ResultsError(
                f"{self._path}: a saved file must belong to this run; this one has {others}. Move it elsewhere and run"
                " the same command again; only the missing part is simulated again."
            )
        return digests

    def _failed(self, error: Exception) -> ResultsError:
        if isinstance(error, MemoryError) or getattr(error, "errno", None) in UNREADABLE:
            reason = "memory is full" if isinstance(error, MemoryError) else _reason(error)
            return ResultsError(
                f"{self._path}: a saved file of results must be readable; {reason}. It was not changed; run the same"
                " command again when it is."
            )
        return ResultsError(
            f"{self._path}: a saved file of results must be intact; this one is damaged. Delete it and run the same"
            " command again; only the missing part is simulated again."
        )


def _short(value: str | int | None) -> str:
    return f"{value[:8]}..." if isinstance(value, str) and len(value) == 64 else repr(value)


class ResultsFolder:
    """A folder that belongs to one configuration, or has finished results that can grow to it.

    Args:
        path: The folder; it is created if needed.
        configuration: Everything that determines the results, as plain JSON values.

    Raises:
        ResultsError: If the folder belongs to another configuration or has other contents, and cannot grow to this
            configuration; or if it cannot be written.
    """

    def __init__(self, path: Path, configuration: Mapping[str, Any]) -> None:
        self.path = path
        self.configuration = configuration
        text = _written(configuration)
        self._digest = hashlib.sha256(text).hexdigest()
        try:
            # Results on real data are not private.
            real = _is_real(configuration)
            self._was_there = path.is_dir()
            files.make_folder(path, files.PRIVATE_FOLDER if real else 0o777)
            self._is_new = self._take(text)
        except (OSError, ValueError) as error:
            raise ResultsError(
                f"{path}: the results folder must be writable; {_reason(error)}. Choose another."
            ) from None
        for folder in (path, path / CHUNKS):
            files.clear_partial_files(folder)

    def save(self, name: str, arrays: Iterable[tuple[str, Sequence[NDArray[Any]]]], **origin: int) -> None:
        """Write arrays, in pieces, to `name`.npz; its origin is this configuration, the name and `origin`."""
        with self._writing(f"{name}.npz") as file:
            write_archive(file, arrays, self._origin(name, origin))

    def load(self, name: str, **origin: int) -> Archive | None:
        """Return the arrays of `name`.npz, or None if the file is missing.

        Raises:
            ResultsError: If the file is damaged or has another origin.
        """
        try:
            return Archive(self.path / f"{name}.npz", self._origin(name, origin))
        except FileNotFoundError:
            return None

    def write(self, name: str, content: bytes | str) -> None:
        """Write a file atomically, even if the power fails."""
        with self._writing(name) as file:
            # A file's name may contain undecodable bytes; the report quotes it unchanged.
            file.write(content.encode(errors="surrogateescape") if isinstance(content, str) else content)

    def write_again(self, name: str, content: bytes | str) -> bool:
        """Write a file that is derived from the results; return False if the folder is read-only."""
        try:
            self.write(name, content)
        except ResultsError as error:
            cause = error.__cause__
            if isinstance(cause, OSError) and cause.errno in UNWRITABLE:
                return False
            raise
        return True

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Lock the folder for other commands; a new folder is removed if an error comes before any result.

        Raises:
            ResultsError: If another command uses it.
        """
        with contextlib.ExitStack() as stack:
            try:
                stack.enter_context(files.locked(self.path / LOCK))
            except BlockingIOError as error:
                owner = str(error) or "another process"
                raise ResultsError(
                    f"{self.path}: one command at a time may work in a results folder; {owner} does. Wait for it,"
                    " or choose another folder. For many workers give one command --jobs, or use a cluster's"
                    " (docs/cluster.md)."
                ) from None
            except OSError as error:
                raise self._unwritable(self.path / LOCK, error) from error
            try:
                yield
            except Exception:
                if self._is_new and {entry.name for entry in self.path.iterdir()} <= {CONFIGURATION, LOCK}:
                    files.remove(self.path / CONFIGURATION)
                    stack.close()
                    if not self._was_there:
                        files.remove_folder(self.path, LOCK)
                raise

    def has(self, name: str) -> bool:
        """Whether `name`.npz exists, without reading it."""
        return (self.path / f"{name}.npz").exists()

    def _origin(self, name: str, more: Mapping[str, int]) -> dict[str, str | int]:
        return {"configuration": self._digest, "name": name, **more}

    @contextlib.contextmanager
    def _writing(self, name: str) -> Iterator[IO[bytes]]:
        target = self.path / name
        try:
            with files.whole_file(target) as file:
                yield file
        except OSError as error:
            raise self._unwritable(target, error) from error

    def _unwritable(self, target: Path, error: OSError) -> ResultsError:
        if isinstance(error, files.NotSyncedError):
            return ResultsError(f"{target}: was written, but is not safe on the disk; {_reason(error)}. Try again.")
        return ResultsError(f"{target}: could not be written; {_reason(error)}. Earlier results are unchanged.")

    def _take(self, text: bytes) -> bool:
        """Write the configuration, or compare it with the folder's; return whether it was written."""
        file = self.path / CONFIGURATION
        if not file.exists():
            if any(not _is_nothing(entry.name) for entry in self.path.iterdir()) and not file.exists():
                raise ResultsError(
                    f"{self.path}: a results folder must be empty or made by this command; it contains other files."
                    " Choose another."
                )
            self._refuse_if_others_could_read()
            if files.create_once(file, text):
                return True
        if (there := _configuration_file(self.path).read_bytes()) != text:
            try:
                stored = json.loads(there)
            except ValueError:
                stored = None
            self.refuse_unless_it_grows(stored if isinstance(stored, dict) else {})
        return False

    def refuse_unless_it_grows(self, stored: Mapping[str, Any]) -> None:
        """Raise unless the folder, of configuration `stored`, is finished and can grow to this configuration."""
        reason = difference(stored, self.configuration) if stored else ""
        if stored and self.has(RESULTS) and DESCRIBED in self.configuration:
            reason = why_not_joined(stored, self.configuration)
            if not reason and not _is_real(stored):
                self._refuse_if_others_could_read()
            if not reason:
                return
        differs = f"{reason}. " if reason == SECRET else f"Different: {reason}. " if reason else ""
        raise ResultsError(
            f"{self.path}: the folder belongs to another configuration, see {CONFIGURATION} in it; nothing was changed."
            f" {differs}Choose another folder, or delete this one if its results are"
            " no longer wanted."
        )

    def _refuse_if_others_could_read(self) -> None:
        if _is_real(self.configuration) and _is_open(self.path):
            raise ResultsError(
                f"{self.path}: results on real data are not private, and others can open this folder; nothing was"
                " changed. Close it (chmod 700), or choose another folder."
            )

    def finished(self) -> tuple[dict[str, Any], Archive] | None:
        """Return configuration and results of a finished folder with any configuration; None if it is unfinished.

        Raises:
            ResultsError: If a file is damaged or of another run.
        """
        return read_finished(self.path) if self.has(RESULTS) else None

    def growing(self, configuration: Mapping[str, Any]) -> "ResultsFolder":
        """Return the subfolder in which its results grow to a configuration.

        Raises:
            ResultsError: If they began to grow to another configuration.
        """
        return ResultsFolder(self.path / GROWTH, configuration)

    @property
    def has_grown(self) -> bool:
        """Whether grown results have not yet replaced the old results, or leftovers remain."""
        grown = self.path / GROWTH
        is_finished = (grown / f"{RESULTS}.npz").exists()
        is_left = (grown / CHUNKS).is_dir() and not (grown / CONFIGURATION).exists()
        return is_finished or is_left or _belongs_to(self.path / f"{RESULTS}.npz", grown / CONFIGURATION)

    def end_growth(self) -> None:
        """Replace the old results by the grown results, if finished; results can be read at any moment."""
        grown = self.path / GROWTH
        if not self.has_grown:
            return
        try:
            if (grown / f"{RESULTS}.npz").exists():
                files.remove_folder(grown / CHUNKS, ".npz")
                files.replace(grown / f"{RESULTS}.npz", self.path / f"{RESULTS}.npz")
            if (grown / CONFIGURATION).exists():
                files.replace(grown / CONFIGURATION, self.path / CONFIGURATION)
            files.remove_folder(grown / CHUNKS, ".npz")
            files.remove_folder(grown, LOCK)
        except OSError as error:
            raise self._unwritable(self.path / CONFIGURATION, error) from error


def read_finished(path: Path) -> tuple[dict[str, Any], Archive]:
    """Return the configuration and the results of a finished folder, made by any code and data.

    Raises:
        ResultsError: If the folder does not exist, is not finished, or is damaged.
    """
    try:
        text = _configuration_file(path).read_bytes()
    except (OSError, ValueError) as error:
        raise ResultsError(
            f"{path}: it must be a folder of results with a {CONFIGURATION}; {_reason(error)}. Give the folder that"
            " `compare(..., folder=)`, `Comparison.save` or `dp-bandit run --out` wrote."
        ) from None
    try:
        configuration = json.loads(text)
        if not isinstance(configuration, dict) or not {DESCRIBED, "experiments"} & configuration.keys():
            raise ValueError
    except ValueError:
        raise ResultsError(
            f"{path}: {CONFIGURATION} must be intact; this one is damaged. Make the results again."
        ) from None
    if "experiments" in configuration:
        names = ", ".join(str(path / name) for name in configuration["experiments"])
        raise ResultsError(f"{path}: it must hold one experiment; this one holds several. Load one of {names}.")
    digest = hashlib.sha256(text).hexdigest()
    try:
        return configuration, Archive(path / f"{RESULTS}.npz", {"configuration": digest, "name": RESULTS})
    except FileNotFoundError:
        raise ResultsError(
            f"{path}: the run must be finished; this one is not. Give the same command again; it goes on from there."
        ) from None


def find_growing(parent: Path, wanted: Mapping[str, Any]) -> Path | None:
    """Return the largest finished run below a folder that is part of a configuration, or None.

    Runs that have begun to grow to another configuration, or in which another process works, are excluded.
    """
    runs: list[tuple[int, Path]] = []
    for folder in sorted(parent.glob("run-*")):
        try:
            stored, _ = read_finished(folder)
        except ResultsError:
            continue
        if why_not_joined(stored, wanted) or (_is_real(wanted) and not _is_real(stored) and _is_open(folder)):
            continue
        trials = {cell.identity: cell.trials for cell in cells_of(wanted)}
        is_part = all(cell.trials <= trials.get(cell.identity, 0) for cell in cells_of(stored))
        growth = folder / GROWTH / CONFIGURATION
        grows_elsewhere = growth.exists() and growth.read_bytes() != _written(union(stored, wanted))
        if is_part and not grows_elsewhere and (stored == wanted or _can_be_locked(folder)):
            runs.append((sum(cell.trials for cell in cells_of(stored)), folder))
    return max(runs, default=(0, None))[1]


def _can_be_locked(folder: Path) -> bool:
    try:
        with files.locked(folder / LOCK):
            pass
    except OSError:
        return False
    return True


def _written(configuration: Mapping[str, Any]) -> bytes:
    return f"{json.dumps(configuration, indent=2)}\n".encode()


def _configuration_file(path: Path) -> Path:
    """Return the file of a folder's configuration; a growing run may have been stopped between two file changes."""
    grown = path / GROWTH / CONFIGURATION
    return grown if _belongs_to(path / f"{RESULTS}.npz", grown) else path / CONFIGURATION


def _belongs_to(archive: Path, configuration: Path) -> bool:
    """Return whether an archive belongs to the configuration in a file, if both exist."""
    try:
        digest = hashlib.sha256(configuration.read_bytes()).hexdigest()
        with zipfile.ZipFile(archive) as file:
            return bool(json.loads(file.read(MANIFEST))["origin"]["configuration"] == digest)
    except Exception:  # a damaged file can fail in any way, and is named where it is read
        return False


def _is_real(configuration: Mapping[str, Any]) -> bool:
    """Return whether a game, or one of several experiments, is played on real data."""
    parts = configuration.get("experiments", {}).values()
    return any(game.get("is_real") for game in configuration.get(DESCRIBED, ())) or any(map(_is_real, parts))


def _is_open(folder: Path) -> bool:
    """Return whether users other than its owner can open a folder."""
    return os.name == "posix" and bool(folder.stat().st_mode & 0o077)


def _is_nothing(name: str) -> bool:
    """Return whether a file may be ignored: a system file, or a partial configuration."""
    ours = files.PARTIAL.fullmatch(name)
    return OF_SYSTEMS.fullmatch(name) is not None or (ours is not None and ours["name"] == CONFIGURATION)


def _reason(error: Exception) -> str:
    # A path with a null character raises a ValueError.
    return getattr(error, "strerror", None) or str(error)
