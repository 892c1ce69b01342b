"""A run with a secret seed is that of one process: no other one knows the seed, and it is written nowhere."""

import contextlib
from collections.abc import Iterator
from typing import Any

from dp_bandit_envs.errors import ClusterError, ResultsError
from dp_bandit_envs.experiments.results_folder import CHUNKS, ResultsFolder
from dp_bandit_envs.simulation.simulation import SECRET


@contextlib.contextmanager
def alone(folder: ResultsFolder, name: str, cluster: Any) -> Iterator[None]:
    """Claim a whole run for this process while it plays.

    Args:
        folder: The run's folder.
        name: What the run makes.
        cluster: As for `simulate`; anything but None is refused.

    Raises:
        ClusterError: If a cluster is given, which may store what it is sent.
        ResultsError: If another process plays in the folder, or one began there and is gone.
    """
    if cluster is not None:
        raise ClusterError(SECRET)
    if not folder.claim(name):
        raise ResultsError(
            f"{folder.path}: a run with a secret seed must be that of one process; another one plays it. Wait for it,"
            " or choose another folder with --out."
        )
    try:
        if any((folder.path / CHUNKS).glob("*.npz")):
            raise ResultsError(
                f"{folder.path}: a run with a secret seed cannot be continued, as the seed went with its process."
                " Delete the folder, or choose another one with --out; its games have spent their privacy all the same."
            )
        yield
    finally:
        folder.release(name)
