"""What is public of a file of records: how many arms, how many records, and the most records of a person."""

import csv
from collections import Counter
from pathlib import Path
from typing import NamedTuple

from dp_bandit_envs.adversaries import gain_files
from dp_bandit_envs.adversaries.gain_files import Pools
from dp_bandit_envs.data_files import DataFile
from dp_bandit_envs.data_use import use_of_pools
from dp_bandit_envs.errors import GainFileError
from dp_bandit_envs.protocols import FloatArray

PERSON = "person"
"""The column of persons in clean files."""


class TrialShape(NamedTuple):
    """The shape of a trial, and its gains, which only `look_at_gains` may use.

    Attributes:
        name: The file's name.
        n_arms: Number of arms.
        records: Number of records.
        most: The most records of a person; None if it is not known whose they are.
        pools: For each arm its gains. Private.
        owners: For each arm whose its records are; empty if it is not known.
    """

    name: str
    n_arms: int
    records: int
    most: int | None
    pools: list[FloatArray]
    owners: list[list[str]]

    def rounds_in_replay(self, most: int) -> int:
        """Return in how many rounds one person serves, at most, if all records are replayed, one a round.

        Args:
            most: The most records of a person, which counts if it is not known whose they are.
        """
        use = use_of_pools([len(pool) for pool in self.pools], self.records, self.owners or most)
        assert use.person is not None
        return use.person


def shape_of(source: str | Path | DataFile, person: str | None) -> TrialShape:
    """Read a file with the columns `arm,gain`, and perhaps one of persons.

    Args:
        source: The file, strictly written; `recorded_data.clean` makes such a file of a messy one.
        person: The name of the column of persons; by default `person`, if there is one.

    Raises:
        GainFileError: If it is no such file.
    """
    file = source if isinstance(source, DataFile) else DataFile.read(source, error=GainFileError)
    if person is None and PERSON in _names(file):
        person = PERSON
    recorded = gain_files.read(file, person)
    if not isinstance(recorded, Pools):
        raise GainFileError(
            f"{file.name}: advice needs a file with the columns 'arm' and 'gain'; this is a table of another form."
            " Clean it with dp-bandit data, or give the number of arms and the horizon instead of a file."
        )
    counts = Counter(owner for owners in recorded.owners for owner in owners)
    most = max(counts.values()) if counts else None
    pools = recorded.gains
    return TrialShape(file.path.name, len(pools), sum(map(len, pools)), most, pools, recorded.owners)


def _names(file: DataFile) -> list[str]:
    if file.path.suffix == ".npy":
        return []
    first = next(csv.reader(file.lines(error=GainFileError)), [])
    return [cell.strip().lower() for cell in first]
