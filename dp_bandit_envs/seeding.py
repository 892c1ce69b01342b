"""Random streams: one integer in, one independent stream for each (trial, role) out.

In Gymnasium `env.reset(seed=s)` and `numpy.random.default_rng(s)` are the same stream, so an agent seeded with the
environment's integer would share its random numbers with the gains and have almost no regret. Here no part draws from
the seed's own stream: each draws from a child stream of its own trial and role.
"""

import hashlib
import reprlib
import secrets
from collections.abc import Mapping
from typing import Any, Final, SupportsIndex

import numpy as np

from dp_bandit_envs import checks
from dp_bandit_envs.errors import WrongTypeError

ADVERSARY: Final = 0
AGENT: Final = 1
FIRST_WRAPPER: Final = 2
"""The role of the privacy wrapper next to the environment; the one above it has the next number, and so on."""
GRAPH: Final = 2**16
"""The role of feedback graphs, which are random like the gains, but public; no stack of wrappers is that deep."""


def stream(seed: int, *, trial: int = 0, role: int, episode: int = 0) -> np.random.Generator:
    """Return the stream of one role in one trial.

    Args:
        seed: The only number that a user chooses, in [0, 2^128).
        trial: Number of the trial, in [0, 2^32); each has its own stream, so splitting or re-running work changes none.
        role: `ADVERSARY`, `AGENT`, or `FIRST_WRAPPER` plus the wrapper's depth.
        episode: Number of earlier episodes of this trial since the seed was given.
    """
    # NumPy joins seed and key into one row of 32-bit words; with larger numbers two keys could give the same row.
    if not (0 <= seed < 2**128 and 0 <= trial < 2**32):
        raise ValueError(f"seed must be in [0, 2^128) and trial in [0, 2^32); received {seed} and {trial}.")
    key = (trial, role) if episode == 0 else (trial, role, episode)
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=key)))


def stream_for_agent(seed: int, trial: int) -> np.random.Generator:
    """Return the stream that an agent gets: the numbers of `AGENT`, but in an object that does not store the seed.

    NumPy's generators store their seed, from which the noise of the wrappers could be computed. Not cryptographic:
    small seeds can be found by trying. With real data, use seed=None.
    """
    bits = stream(seed, trial=trial, role=AGENT).bit_generator
    assert isinstance(bits, np.random.PCG64)
    hashed = hashlib.sha256(f"agent of seed {seed}, trial {trial}".encode()).digest()
    # Generators that the agent spawns from it are seeded by this hash.
    shown = np.random.PCG64(np.random.SeedSequence(int.from_bytes(hashed, "big")))
    shown.state = bits.state
    return np.random.Generator(shown)


def checked_seed(seed: SupportsIndex | None) -> int | None:
    """Return the seed of `reset` as an int or None, or raise if it is not one."""
    if seed is None:
        return None
    number = checks.integer("seed", seed, at_least=0)
    if number >= 2**128:
        raise ValueError(f"seed must be in [0, 2^128); received a number of {number.bit_length()} bits.")
    return number


def checked_options(options: dict[str, Any] | None) -> dict[str, Any] | None:
    """Return a copy of the options of `reset`, whose trial is an int in [0, 2^32), or raise if they are wrong."""
    if options is None:
        return None
    if not isinstance(options, Mapping):
        raise WrongTypeError(
            f'options must be None or a dict such as {{"trial": 3}}; received {reprlib.repr(options)}. Give the trial'
            " by its name."
        )
    if "trial" not in options:
        return dict(options)
    trial = checks.integer("trial", options["trial"], at_least=0)
    if trial >= 2**32:
        raise ValueError(f"trial must be in [0, 2^32); received {trial}.")
    return {**options, "trial": trial}


class EpisodeStreams:
    """The streams of one role, episode after episode, under Gymnasium's rules for `reset`.

    With a seed the episode is reproducible. Without one, the next episode of the same seed begins; if no seed was ever
    given, the operating system's entropy replaces it, as a deployment needs.
    """

    def __init__(self, role: int) -> None:
        self._role = role
        self._seed: int | None = None
        self._trial = 0
        self._played: dict[int, int] = {}

    @property
    def begun(self) -> bool:
        """Whether an episode was ever begun."""
        return self._seed is not None

    def next(self, seed: int | None, options: dict[str, Any] | None = None) -> np.random.Generator:
        """Begin the next episode.

        Args:
            seed: The seed, or None for another episode of the last one.
            options: `{"trial": i}` chooses trial i of the seed, at least 0. By default a new seed begins with trial 0,
                and without a seed the trial stays the same.
        """
        # Both are checked before anything changes, so that a refused call leaves the episodes as they were.
        seed, options = checked_seed(seed), checked_options(options)
        if seed is not None:
            self._seed, self._trial, self._played = seed, 0, {}
        elif self._seed is None:
            self._seed = secrets.randbits(128)
        self._trial = (options or {}).get("trial", self._trial)
        # A trial played again with the same seed is a new episode: the same noise twice would cancel in a difference.
        episode = self._played.get(self._trial, 0)
        self._played[self._trial] = episode + 1
        return stream(self._seed, trial=self._trial, role=self._role, episode=episode)
