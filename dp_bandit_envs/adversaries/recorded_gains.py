"""What a file of gains holds: a table round by round, or for each arm a pool of recorded gains."""

from typing import NamedTuple

from dp_bandit_envs.protocols import FloatArray


class Table(NamedTuple):
    """Gains of shape `(rounds, n_arms)`, and whose each row is; no owners if no column was named."""

    gains: FloatArray
    owners: list[str]


class Pools(NamedTuple):
    """For each arm its recorded gains, and whose each of them is; no owners if no column was named."""

    gains: list[FloatArray]
    owners: list[list[str]]
