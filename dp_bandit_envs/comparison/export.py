"""Results for other programs: with labels for pandas and xarray, as `summary.csv` and as netCDF."""

import importlib.util
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dp_bandit_envs.comparison.tables import summary_csv
from dp_bandit_envs.optional import require
from dp_bandit_envs.simulation.outcomes import MEASURES

if TYPE_CHECKING:
    import pandas
    import xarray

    from dp_bandit_envs.comparison.compared import Comparison
    from dp_bandit_envs.comparison.entries import Entry
    from dp_bandit_envs.runs.store import ResultsFolder

EXTRA = "results"
MOST_NUMBERS = 2**24
"""The most numbers that are written as netCDF."""


def to_pandas(entries: "Sequence[Entry]") -> "pandas.DataFrame":
    """Return a row for each entry, trial and recorded round; see `Comparison.to_pandas`."""
    pd = require("pandas", extra=EXTRA)
    known = [measure for measure in MEASURES if any(measure in entry.measures for entry in entries)]
    frames = []
    for entry in entries:
        trials, places = entry.trials, len(entry.rounds)
        columns: dict[str, Any] = {
            "environment": entry.title,
            "n_arms": entry.n_arms,
            "horizon": entry.horizon,
            "algorithm": entry.algorithm,
            "asked_epsilon": np.nan if entry.asked is None else entry.asked,
            "epsilon": entry.level.epsilon,
            "delta": entry.level.delta,
            "trial": np.repeat(np.arange(trials), places),
            "round": np.tile(entry.rounds, trials),
        }
        for measure in known:
            columns[measure] = entry.measures[measure].ravel() if measure in entry.measures else np.nan
        frames.append(pd.DataFrame(columns))
    return pd.concat(frames, ignore_index=True)


def to_xarray(entries: "Sequence[Entry]", epsilons: Sequence[float], attributes: Mapping[str, str]) -> "xarray.Dataset":
    """Return a dataset of all entries; see `Comparison.to_xarray`."""
    xr = require("xarray", extra=EXTRA)
    titles = list(dict.fromkeys(entry.title for entry in entries))
    names = list(dict.fromkeys(entry.algorithm for entry in entries))
    levels = list(epsilons) or [np.nan]
    rounds = np.unique(np.concatenate([entry.rounds for entry in entries]))
    trials = max(entry.trials for entry in entries)
    grid = (len(titles), len(names), len(levels))
    known = [measure for measure in MEASURES if any(measure in entry.measures for entry in entries)]
    arrays = {measure: np.full((*grid, trials, len(rounds)), np.nan) for measure in known}
    guaranteed = {"epsilon": np.full(grid, np.nan), "delta": np.full(grid, np.nan)}
    words = np.full(grid, "", dtype=object)
    sizes = {name: np.zeros(len(titles), dtype=np.int64) for name in ("n_arms", "horizon")}
    for entry in entries:
        row = titles.index(entry.title)
        sizes["n_arms"][row], sizes["horizon"][row] = entry.n_arms, entry.horizon
        at = np.searchsorted(rounds, entry.rounds)
        for place, level in enumerate(levels):
            if entry.asked is not None and entry.asked != level:
                continue
            cell = (row, names.index(entry.algorithm), place)
            guaranteed["epsilon"][cell], guaranteed["delta"][cell] = entry.level[:2]
            words[cell] = entry.guarantee
            for measure in known:
                if measure in entry.measures:
                    arrays[measure][cell][: entry.trials, at] = entry.measures[measure]
    dims = ("environment", "algorithm", "epsilon")
    variables: dict[str, Any] = {name: ((*dims, "trial", "round"), array) for name, array in arrays.items()}
    variables |= {f"guaranteed_{name}": (dims, array) for name, array in guaranteed.items()}
    variables["guarantee"] = (dims, words.astype(str))
    coordinates = {
        "environment": titles,
        "algorithm": names,
        "epsilon": levels,
        "trial": np.arange(trials),
        "round": rounds,
        **{name: ("environment", array) for name, array in sizes.items()},
    }
    dataset: xarray.Dataset = xr.Dataset(variables, coordinates, dict(attributes))
    return dataset


def write_tables(
    comparison: "Comparison", folder: "ResultsFolder", measure: str = "external_regret", *, netcdf: bool = True
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


def _netcdf(comparison: "Comparison") -> bytes:
    data = comparison.to_xarray()
    encoding = {name: {"zlib": True, "complevel": 1} for name in MEASURES if name in data}
    with tempfile.TemporaryDirectory() as folder:
        # Older versions of xarray return no bytes.
        file = Path(folder) / "results.nc"
        data.to_netcdf(file, engine="h5netcdf", encoding=encoding)
        return file.read_bytes()
