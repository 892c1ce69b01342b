"""Results with labels, for pandas and xarray."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from dp_bandit_envs.optional import require

if TYPE_CHECKING:
    import pandas
    import xarray

    from dp_bandit_envs.comparison.compared_games import Entry

EXTRA = "results"


def to_pandas(entries: "Sequence[Entry]", measures: Sequence[str]) -> "pandas.DataFrame":
    """Return a row for each entry, trial and recorded round; see `Comparison.to_pandas`."""
    pd = require("pandas", extra=EXTRA)
    known = [measure for measure in measures if any(measure in entry.measures for entry in entries)]
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


def to_xarray(
    entries: "Sequence[Entry]", measures: Sequence[str], epsilons: Sequence[float], attributes: Mapping[str, str]
) -> "xarray.Dataset":
    """Return a dataset of all entries; see `Comparison.to_xarray`."""
    xr = require("xarray", extra=EXTRA)
    titles = list(dict.fromkeys(entry.title for entry in entries))
    names = list(dict.fromkeys(entry.algorithm for entry in entries))
    levels = list(epsilons) or [np.nan]
    rounds = np.unique(np.concatenate([entry.rounds for entry in entries]))
    trials = max(entry.trials for entry in entries)
    grid = (len(titles), len(names), len(levels))
    known = [measure for measure in measures if any(measure in entry.measures for entry in entries)]
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
