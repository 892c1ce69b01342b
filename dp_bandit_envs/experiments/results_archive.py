"""Archives of arrays (`.npz`) that record the run, panel and trials they belong to, and detect any damaged byte."""

import hashlib
import io
import json
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from dp_bandit_envs.errors import ResultsError

MANIFEST = "manifest.json"
"""The member with the archive's origin and a digest of each array; its own digest is the archive's comment."""
KEPT_BYTES = 2**28
"""Arrays are cached in memory up to this many bytes in total; others are read each time."""
JOINED_BYTES = 2**28
"""The most bytes of arrays to join in one pass over archives; a pass joins at least one array."""
Origin = Mapping[str, str | int]


def write_archive(file: IO[bytes], arrays: Iterable[tuple[str, Sequence[NDArray[Any]]]], origin: Origin) -> None:
    """Write an archive; equal arrays and origins give equal bytes.

    Args:
        file: The file to write to.
        arrays: Each array's name, and its pieces, which are joined along their first axis.
        origin: The run and the part of it that the archive belongs to.
    """
    digests = {}
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for key, pieces in arrays:
            dtype, shape = pieces[0].dtype, (sum(map(len, pieces)), *pieces[0].shape[1:])
            with archive.open(f"{key}.npy", "w", force_zip64=True) as member:
                header = {"descr": npy.dtype_to_descr(dtype), "fortran_order": False, "shape": shape}
                npy.write_array_header_1_0(member, header)
                digest = _digest_of_kind(dtype, shape)
                for piece in pieces:
                    content = np.ascontiguousarray(piece).tobytes()
                    digest.update(content)
                    member.write(content)
            digests[key] = digest.hexdigest()
        manifest = json.dumps({"origin": dict(origin), "sha256": digests}).encode()
        archive.writestr(zipfile.ZipInfo(MANIFEST), manifest)
        archive.comment = hashlib.sha256(manifest).hexdigest().encode()


class Archive(Mapping[str, NDArray[Any]]):
    """The arrays of a file, each read and checked when it is accessed.

    Args:
        path: The file.
        origin: The expected origin.

    Raises:
        FileNotFoundError: If there is no such file.
        ResultsError: Here or when an array is read, if the file is damaged or has another origin.
    """

    def __init__(self, path: Path, origin: Origin) -> None:
        self._path = path
        self._origin = dict(origin)
        self._kept: dict[str, NDArray[Any]] = {}
        with self._open() as archive:
            self._keys = list(self._manifest(archive))

    def __getitem__(self, key: str) -> NDArray[Any]:
        if key not in self._kept:
            array = self.read(key)
            if sum(kept.nbytes for kept in self._kept.values()) + array.nbytes > KEPT_BYTES:
                return array
            self._kept[key] = array
        return self._kept[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __len__(self) -> int:
        return len(self._keys)

    def check(self) -> None:
        """Read and check every array without keeping it."""
        for key in self._keys:
            self.read(key)

    def read(self, key: str) -> NDArray[Any]:
        """Read an array from the file, without keeping it."""
        if key not in self._keys:
            raise KeyError(key)
        with self._open() as archive:
            expected = self._manifest(archive)[key]
            try:
                array: NDArray[Any] = npy.read_array(io.BytesIO(archive.read(f"{key}.npy")), allow_pickle=False)
                digest = _digest_of_kind(array.dtype, array.shape)
                digest.update(np.ascontiguousarray(array).tobytes())
                if digest.hexdigest() != expected:
                    raise ValueError
            except Exception:  # a damaged archive can fail in any way
                raise self._damaged() from None
        return array

    def _open(self) -> zipfile.ZipFile:
        try:
            return zipfile.ZipFile(self._path)
        except FileNotFoundError:
            raise
        except Exception:
            raise self._damaged() from None

    def _manifest(self, archive: zipfile.ZipFile) -> dict[str, str]:
        """Return the digest of each array, or raise if the archive is damaged or of another origin."""
        try:
            text = archive.read(MANIFEST)
            if hashlib.sha256(text).hexdigest().encode() != archive.comment:
                raise ValueError
            manifest = json.loads(text)
            origin, digests = dict(manifest["origin"]), dict(manifest["sha256"])
        except Exception:
            raise self._damaged() from None
        if origin != self._origin:
            keys = [key for key in {**origin, **self._origin} if origin.get(key) != self._origin.get(key)]
            found = ", ".join(
                f"{key} {_short(origin.get(key))} instead of {_short(self._origin.get(key))}" for key in keys
            )
            raise ResultsError(
                f"{self._path}: a saved file must belong to this run; this one has {found}. Move it elsewhere and run"
                " the same command again; only the missing part is simulated again."
            )
        return digests

    def _damaged(self) -> ResultsError:
        return ResultsError(
            f"{self._path}: a saved file of results must be intact; this one is damaged. Delete it and run the same"
            " command again; only the missing part is simulated again."
        )


def _short(value: str | int | None) -> str:
    """Return a value as text, with digests shortened."""
    return f"{value[:8]}..." if isinstance(value, str) and len(value) == 64 else repr(value)


def _digest_of_kind(dtype: np.dtype[Any], shape: tuple[int, ...]) -> Any:
    return hashlib.sha256(f"{dtype.str} {shape}".encode())


def has_digests(path: Path, *, missing: bool) -> bool:
    """Whether an archive has a manifest with digests; `missing` if there is no such file, True if it is damaged."""
    try:
        with zipfile.ZipFile(path) as archive:
            return MANIFEST in archive.namelist()
    except FileNotFoundError:
        return missing
    except (OSError, zipfile.BadZipFile):
        return True


def joined(
    parts: Sequence[Callable[[], Archive]], *, common: tuple[str, ...]
) -> Iterator[tuple[str, list[NDArray[Any]]]]:
    """Yield each array of the first archive with its pieces from all of them, or one piece if it is a `common` one.

    Args:
        parts: Open the archives, in order; an array may be missing in later ones.
        common: The arrays that are the same in all archives.
    """
    first = parts[0]()
    for key in common:
        yield key, [first.read(key)]
    left = [key for key in first if key not in common]
    while left:
        size, number = 0, 0
        while number < len(left) and (number == 0 or size < JOINED_BYTES):
            size += first.read(left[number]).nbytes * len(parts)
            number += 1
        keys, left = left[:number], left[number:]
        pieces: dict[str, list[NDArray[Any]]] = {key: [] for key in keys}
        for archive in (open_part() for open_part in parts):
            for key in keys:
                if key in archive:
                    pieces[key].append(archive.read(key))
        for key in keys:
            yield key, pieces.pop(key)
