"""Saves comparisons into folders, and loads any finished folder of results."""

import importlib.util
import os
import tempfile
from pathlib import Path

import numpy as np

from dp_bandit_envs.comparison.compared import Comparison, comparison_of
from dp_bandit_envs.comparison.compared_games import MEASURES
from dp_bandit_envs.comparison.tables import summary_csv
from dp_bandit_envs.errors import WrongTypeError
from dp_bandit_envs.runs.store import DESCRIBED, RESULTS, ResultsFolder, read_finished

MOST_NUMBERS = 2**24


def load(folder: "str | Path") -> Comparison:
    """Return the results in a finished folder, by whatever version, code and data they were made.

    Every array is checked by its digest when it is first used. `Comparison.made_by` says by which version and code the
    numbers were made; only resuming a run needs the same.

    Args:
        folder: One that `compare(..., folder=)`, `Comparison.save`, `dp-bandit run` or `dp-bandit reproduce` wrote.

    Raises:
        ResultsError: If it is no such folder, or is not finished, damaged, or older than digests.

    Example:
        >>> import tempfile
        >>> from dp_bandit_envs import compare, load
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = compare("Stochastic", "Uniform", horizon=100, trials=2).save(f"{folder}/results")
        ...     print(load(path))
        Comparison(Uniform on Stochastic: 1 results, seed 0)
    """
    return comparison_of(*read_finished(folder_of(folder)))


def folder_of(folder: "str | Path") -> Path:
    """Return the path of a folder, or raise if it is none."""
    if not isinstance(folder, (str, os.PathLike)):
        raise WrongTypeError(f"folder must be a path, such as 'results/mine'; received a {type(folder).__name__}.")
    if not os.fspath(folder):
        raise ValueError("folder must be a path, such as 'results/mine'; received ''.")
    return Path(folder)


def save(comparison: Comparison, path: Path) -> Path:
    """Write a comparison into a folder; see `Comparison.save`."""
    kept = {(entry.key, entry.name) for entry in comparison.entries}
    games = [
        {**game, "results": [one for one in game["results"] if (game["key"], one["name"]) in kept]}
        for game in comparison.configuration[DESCRIBED]
    ]
    games = [game for game in games if game["results"]]
    folder = ResultsFolder(path, {**comparison.configuration, DESCRIBED: games})
    arrays = {f"{entry.key}/checkpoints": entry.rounds for entry in comparison.entries}
    for entry in comparison.entries:
        arrays |= {f"{entry.key}/{entry.name}/{name}": array for name, array in entry.measures.items()}
    folder.save(RESULTS, ((name, [np.asarray(array)]) for name, array in arrays.items()))
    write_tables(comparison, folder)
    return path


def write_tables(
    comparison: Comparison, folder: ResultsFolder, measure: str = "external_regret", *, netcdf: bool = True
) -> list[bool]:
    """Write `summary.csv` and `results.nc` (netCDF) for other programs.

    The latter is written with the extra `results` only, and for up to `MOST_NUMBERS` numbers, as it needs all of them
    in memory at once; `Comparison.to_xarray` has no limit.

    Args:
        comparison: The results.
        folder: Their folder.
        measure: What the summary shows.
        netcdf: Whether to write `results.nc` at all.

    Returns:
        Whether each could be written; a folder may be read-only.
    """
    written = [folder.write_again("summary.csv", summary_csv(comparison.entries, measure))]
    numbers = sum(entry.trials * len(entry.rounds) * len(MEASURES) for entry in comparison.entries)
    installed = all(importlib.util.find_spec(module) for module in ("xarray", "h5netcdf"))
    if netcdf and installed and numbers <= MOST_NUMBERS:
        written.append(folder.write_again("results.nc", _netcdf(comparison)))
    return written


def _netcdf(comparison: Comparison) -> bytes:
    data = comparison.to_xarray()
    encoding = {name: {"zlib": True, "complevel": 1} for name in MEASURES if name in data}
    with tempfile.TemporaryDirectory() as folder:
        # Older versions of xarray return no bytes.
        file = Path(folder) / "results.nc"
        data.to_netcdf(file, engine="h5netcdf", encoding=encoding)
        return file.read_bytes()
