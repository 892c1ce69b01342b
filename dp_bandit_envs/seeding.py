"""Random streams: from one seed, an independent stream for each trial, role and player, by a one-way hash.

In Gymnasium `env.reset(seed=s)` and `numpy.random.default_rng(s)` are the same stream, so an agent seeded with the
environment's integer would share its random numbers with the gains and have almost no regret. Here no part draws from
the seed's own stream, and the state of one stream reveals neither other streams nor the seed. NumPy's `SeedSequence`
can be inverted, so with it an agent could compute the seed, and all noise, from its own generator.
"""

import hashlib
import os
import reprlib
import secrets
import warnings
from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal, SupportsIndex

import numpy as np
from numpy.random.bit_generator import ISpawnableSeedSequence
from numpy.typing import NDArray

from dp_bandit_envs import checks
from dp_bandit_envs.draws import Stream
from dp_bandit_envs.errors import KnownSeedWarning, UnknownNameError, WrongTypeError

ADVERSARY: Final = 0
AGENT: Final = 1
FIRST_WRAPPER: Final = 2
"""The role of the privacy wrapper next to the environment; the one above it has the next number, and so on."""
GRAPH: Final = 2**16
"""The role of feedback graphs, which are random like the gains, but public; no stack of wrappers is that deep."""
Seed = SupportsIndex | Literal["auto"] | None
"""A user's seed: a number, None for a secret seed, or `"auto"`; see `chosen_seed`."""
Seeds = int | Sequence[int | None] | None
"""The seed of many games: one for all, or one for each."""
OPTIONS: Final = ("trial", "player")
"""The options of `reset`."""
LOCKSTEP: Final = (
    " Many games begin together here; without privacy wrappers around them all, those of gymnasium.make_vec(...,"
    " vectorization_mode='sync') need not."
)
KNOWN_SEED: Final = (
    "these data are real and the seed is known: whoever knows it, or finds it by trying, can"
    " subtract the noise, so that nothing is protected. Use seed=None, on the command line no --seed, for"
    " a secret one; such a run cannot be repeated."
)

FORKS: Final = [0]
"""Number of forks between this process and an unforked ancestor: a fork copies all begun games."""

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=lambda: FORKS.append(FORKS.pop() + 1))


class HashedSeed(ISpawnableSeedSequence):
    """Seeds a NumPy bit generator with words of SHA-256.

    Args:
        text: The text to hash; only the hash is stored.
    """

    def __init__(self, text: bytes) -> None:
        self._digest = hashlib.sha256(text).digest()
        self._spawned = 0

    def generate_state(self, n_words: int, dtype: Any = np.uint32) -> NDArray[Any]:
        """Return words of a type such as `numpy.uint64`, shape `(n_words,)`."""
        size = np.dtype(dtype).itemsize
        words, block = b"", 0
        while len(words) < n_words * size:
            words += hashlib.sha256(self._digest + b"words %d" % block).digest()
            block += 1
        return np.frombuffer(words, f"<u{size}", n_words).astype(dtype)

    def spawn(self, n_children: int) -> list["HashedSeed"]:
        """Return seeds for `n_children` more generators."""
        first = self._spawned
        self._spawned += n_children
        return [HashedSeed(self._digest + b"child %d" % (first + number)) for number in range(n_children)]


def stream(seed: int, *, trial: int = 0, role: int, episode: int = 0, player: str = "", noise_key: str = "") -> Stream:
    """Return the stream of one role in one trial.

    The generator is NumPy's `SFC64`, whose steps are additions, shifts and exclusive ors of 64-bit words; its single
    draws are the formulas of `dp_bandit_envs.draws`. Not cryptographic: seeds below 2^40, say, can be found by trying.
    With real data, use seed=None.

    Args:
        seed: The only number that a user chooses, in [0, 2^128).
        trial: Number of the trial, in [0, 2^32); each has its own stream, so splitting or repeating work does not
            change streams.
        role: `ADVERSARY`, `AGENT`, or `FIRST_WRAPPER` plus the wrapper's depth.
        episode: Number of earlier episodes of this trial since the seed was given.
        player: The player: an algorithm and its parameters, or an agent's class. Players of one trial share its gains
            but not noise.
        noise_key: The source of draws: a mechanism and its parameters. Different keys have different noise.
    """
    if not (0 <= seed < 2**128 and 0 <= trial < 2**32):
        raise ValueError(f"seed must be in [0, 2^128) and trial in [0, 2^32); received {seed} and {trial}.")
    # The length shows where the player's name ends.
    text = f"{seed} {trial} {role} {episode} {len(player)} {player}{noise_key}"
    hashed: Any = HashedSeed(text.encode("utf-8", "surrogatepass"))
    return Stream(np.random.SFC64(hashed))


def checked_seed(seed: SupportsIndex | None) -> int | None:
    """Return the seed of `reset` as an int or None, or raise if it is neither."""
    if seed is None:
        return None
    number = checks.integer("seed", seed, at_least=0)
    if number >= 2**128:
        raise ValueError(f"seed must be in [0, 2^128); received a number of {number.bit_length()} bits.")
    return number


def spread_seeds(seed: Seeds, num_envs: int) -> list[int | None]:
    """Return one seed for each game under Gymnasium's rule: an integer s means s, s + 1, s + 2, ...

    Two games with one seed are refused: behind a privacy boundary they would have the same noise.
    """
    if seed is None:
        return [None] * num_envs
    if isinstance(seed, np.ndarray):
        seed = seed.tolist()
    if isinstance(seed, (str, bytes)) or not isinstance(seed, Sequence):
        first = checked_seed(seed)  # type: ignore[arg-type]
        assert first is not None
        return [checked_seed(first + index) for index in range(num_envs)]
    if len(seed) != num_envs:
        raise ValueError(f"seed must be one integer or {num_envs} of them, one for each game; received {len(seed)}.")
    seeds = [checked_seed(each) for each in seed]
    chosen = [each for each in seeds if each is not None]
    different = len(set(chosen))
    if different < len(chosen):
        # Without the seeds, from which the noise follows.
        raise ValueError(f"seed must differ from game to game; received {len(chosen)} of which {different} differ.")
    return seeds


def chosen_seed(seed: Seed, is_real: bool) -> int | None:
    """Return a seed as a number, or None for a secret seed; `"auto"` is 0, or a secret seed for real data."""
    if isinstance(seed, str) and seed == "auto":
        return None if is_real else 0
    return checked_seed(seed)


def draw_seed() -> int:
    """Return a seed from the operating system's entropy."""
    return secrets.randbits(128)


def checked_options(options: dict[str, Any] | None) -> dict[str, Any] | None:
    """Return a copy of the options of `reset`: a trial is an int in [0, 2^32), a player a str; or raise.

    Other options are refused, such as `reset_mask`: a partial reset would break the lockstep of games.
    """
    if options is None:
        return None
    if not isinstance(options, Mapping):
        raise WrongTypeError(
            f'options must be None or a dict such as {{"trial": 3}}; received {reprlib.repr(options)}. Give the trial'
            " by its name."
        )
    unknown = next((name for name in options if name not in OPTIONS), None)
    if unknown is not None:
        why = LOCKSTEP if unknown == "reset_mask" else ""
        raise UnknownNameError(f"options must be among {', '.join(OPTIONS)}; received {checks.shown(unknown)}.{why}")
    checked = dict(options)
    if "trial" in options:
        checked["trial"] = trial = checks.integer("trial", options["trial"], at_least=0)
        if trial >= 2**32:
            raise ValueError(f"trial must be in [0, 2^32); received {trial}.")
    if not isinstance(options.get("player", ""), str):
        raise WrongTypeError(f"player must be a str; received {reprlib.repr(options['player'])}.")
    return checked


def warn_of_known_seed(is_real: bool) -> None:
    """Warn that noise can be subtracted, if the data are real."""
    if is_real:
        warnings.warn(KNOWN_SEED, KnownSeedWarning, stacklevel=checks.level_of_caller())


class EpisodeStreams:
    """The streams of one role, episode after episode, under Gymnasium's rules for `reset`.

    With a seed the episode is reproducible. Without a seed, the next episode of the same seed begins. If no seed was
    ever given, the operating system's entropy is used, as a deployment needs. A forked process uses it too, as its next
    episodes would otherwise have the same noise as its parent's.

    Args:
        role: As in `stream`.
        noise_key: As in `stream`; None for a stream that all players of a trial share.
    """

    def __init__(self, role: int, noise_key: str | None = None) -> None:
        self._role, self._noise_key = role, noise_key
        self._seed: int | None = None
        self._trial, self._player = 0, ""
        self._played: dict[tuple[int, str], int] = {}
        self._forks = FORKS[0]

    @property
    def begun(self) -> bool:
        """Whether an episode was ever begun."""
        return self._seed is not None

    def next(self, seed: int | None, options: dict[str, Any] | None = None) -> np.random.Generator:
        """Begin the next episode.

        Args:
            seed: The seed, or None for another episode of the last seed.
            options: `{"trial": i}` chooses trial i of the seed, at least 0, and `{"player": name}` the player. By
                default a new seed begins with trial 0 and no name; without a seed both stay the same.
        """
        # Both are checked before anything changes, so that a refused call leaves the episodes as they were.
        seed, options = checked_seed(seed), checked_options(options) or {}
        if seed is not None:
            self._seed, self._trial, self._player, self._played = seed, 0, "", {}
        elif self._seed is None or self._forks != FORKS[0]:
            self._seed = draw_seed()
        self._forks = FORKS[0]
        self._trial = options.get("trial", self._trial)
        if self._noise_key is not None:
            self._player = options.get("player", self._player)
        # A trial played again with the same seed is a new episode: the same noise twice would cancel in a difference.
        episode = self._played.get((self._trial, self._player), 0)
        self._played[self._trial, self._player] = episode + 1
        return stream(
            self._seed,
            trial=self._trial,
            role=self._role,
            episode=episode,
            player=self._player,
            noise_key=self._noise_key or "",
        )
