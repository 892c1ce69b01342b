"""The public attributes of a privacy boundary, which cannot be changed from outside."""

import contextlib
import copy
import dataclasses
from collections.abc import Iterator
from typing import Any, SupportsIndex

import numpy as np
from gymnasium.envs.registration import EnvSpec

from dp_bandit_envs import checks
from dp_bandit_envs.decisions import DecisionSet
from dp_bandit_envs.errors import WrongGameError, WrongTypeError
from dp_bandit_envs.privacy.announced import announced, current, taken_seed
from dp_bandit_envs.privacy.guarantee import PrivacyGuarantee
from dp_bandit_envs.privacy.mechanism import Below, Mechanism, Noise, facts_above, noise_label
from dp_bandit_envs.privacy.secure_draws import takes_no_seed
from dp_bandit_envs.privacy.values import Values
from dp_bandit_envs.protocols import is_public
from dp_bandit_envs.seeding import checked_seed, warn_of_known_seed
from dp_bandit_envs.wrappers.data_below import data_use_below, is_real_below
from dp_bandit_envs.wrappers.declared_values import check_values
from dp_bandit_envs.wrappers.public_spec import public_spec
from dp_bandit_envs.wrappers.secure_streams import refuse_seed


class ReadOnly:
    """An attribute that can be set once, by the constructor, and never again."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, instance: Any, owner: type) -> Any:
        if instance is None:
            return self
        try:
            return vars(instance)[self._name]
        except KeyError:
            raise AttributeError(f"{owner.__name__} has no {self._name} yet.") from None

    def __set__(self, instance: Any, value: Any) -> None:
        if self._name in vars(instance):
            raise AttributeError(
                f"{self._name} of a {type(instance).__name__} is read-only: its guarantee holds for its own noise only."
                " Make another one."
            )
        vars(instance)[self._name] = value


class PublicFace:
    """The public attributes of scalar and vector boundaries, in place of those that Gymnasium would read from below."""

    _public_random: np.random.Generator | None = None
    _spec: EnvSpec | None = None
    _seed_is_known: bool = False
    """Whether somebody may know the seed of the noise, because it was given to `reset`."""
    _below: Below
    _below_takes_seed: bool = True
    _mechanism: Any = ReadOnly()
    sensitivity: Any = ReadOnly()
    guarantee: Any = ReadOnly()
    horizon: Any = ReadOnly()
    noise: Any = ReadOnly()
    above: Any = ReadOnly()
    n_arms: Any = ReadOnly()
    n_values: Any = ReadOnly()
    features: Any = ReadOnly()
    _set: DecisionSet
    _n_plays: int
    """Number of arms; 0 where actions are points."""

    def _use_plays(self, plays: DecisionSet | int) -> None:
        """Keep what can be played: the number of arms, or a copy of the decision set, which no one else can change."""
        if isinstance(plays, DecisionSet):
            self._set, self._n_plays = copy.deepcopy(plays), 0
        else:
            self.n_arms = self._n_plays = plays

    @property
    def decision_set(self) -> DecisionSet:
        """A copy of the set whose points are played; changing it changes neither the check nor the noise."""
        if "_set" not in vars(self):
            raise AttributeError(f"{type(self).__name__} has no attribute 'decision_set': its plays are arms.")
        return copy.deepcopy(self._set)

    def _use(self, mechanism: Mechanism) -> None:
        """Keep a copy of the mechanism, and the public facts about what it releases."""
        low, high = self._below.values.low, self._below.values.high
        if (low, high) != (0.0, 1.0) and not mechanism.any_range:
            raise WrongGameError(
                f"{type(mechanism).__name__} needs values in [0, 1]; this game reveals values in [{low:g}, {high:g}]."
                " LaplaceClipRescale, MiniBatchAverage and CounterSums accept them."
            )
        self._mechanism = copy.deepcopy(mechanism)
        self._noise_label = noise_label(self._mechanism, self._below)
        # Asked of a copy: what a question changes in a mechanism changes no noise.
        asked = self.mechanism
        self.above = above = checked_above(asked, self._below)
        self.sensitivity = above.sensitivity
        assert above.guarantee is not None
        self.guarantee = dataclasses.replace(above.guarantee, data=data_use_below(self.env))  # type: ignore[attr-defined]
        self.horizon, self.noise = above.horizon, above.noise
        # Raises here, not in the middle of a game, if the mechanism cannot run on these gains.
        asked.new_state(self._below)

    @property
    def mechanism(self) -> Mechanism:
        """A copy of the mechanism; changing it does not change the noise."""
        return copy.deepcopy(self._mechanism)  # type: ignore[no-any-return]

    @property
    def below(self) -> Below:
        """Public facts about the gains that the mechanism receives."""
        return self._below

    @property
    def values(self) -> Values:
        """Public facts about the gains that are released."""
        if self.releases_sums:
            raise AttributeError(f"{type(self).__name__} has no attribute 'values': it releases sums, of any size.")
        values: Values = self.above.values
        return values

    @property
    def releases_sums(self) -> bool:
        """Whether it releases running sums instead of gains."""
        return bool(self._mechanism.releases_sums)

    @property
    def batch_size(self) -> int:
        """Number of steps below in which one step above plays its arm."""
        return int(self._mechanism.batch_size)

    @property
    def takes_seed(self) -> bool:
        """Whether `reset` accepts a seed: not where this wrapper or one below has secure draws."""
        return self._below_takes_seed and not takes_no_seed(self._mechanism)

    def _checked_seed(self, seed: SupportsIndex | None) -> int | None:
        """Return the seed as an int or None, or raise if it is none or must not be given."""
        if not self.takes_seed:
            refuse_seed(seed, type(self).__name__)
        return taken_seed() if seed is None else checked_seed(seed)

    @property
    def _total_is(self) -> str:
        return "released sum" if self.releases_sums else "released gain"

    @property
    def spec(self) -> EnvSpec | None:
        """Which game and wrappers these are; their arguments, which may be private gains, are left out."""
        if self._spec is not None:
            return copy.deepcopy(self._spec)
        return public_spec(self.env.spec, type(self))  # type: ignore[attr-defined]

    @property
    def np_random(self) -> np.random.Generator:
        """A generator of this wrapper's own; the one below is seeded like the private gains."""
        if self._public_random is None:
            self._public_random = np.random.default_rng()
        return self._public_random

    @np_random.setter
    def np_random(self, value: np.random.Generator) -> None:
        self._public_random = value

    def set_wrapper_attr(self, name: str, value: Any, *, force: bool = True) -> bool:
        """Set a new attribute of this wrapper; existing ones cannot be changed from outside."""
        if not is_public(name) or hasattr(self, name):
            raise AttributeError(
                f"{name} of a {type(self).__name__} cannot be set from outside: its guarantee holds for the wrapper as"
                " it was made. Make another one."
            )
        if force:
            setattr(self, name, value)
        return force

    def __reduce_ex__(self, protocol: Any) -> Any:
        """Refuse to be copied or pickled once a game has begun: the copy would draw the same noise again."""
        if self._has_begun():
            raise TypeError(
                f"a {type(self).__name__} whose game has begun cannot be copied or pickled: the copy would use the same"
                " noise again, which cancels in a difference. Copy it before its first reset, or make another one."
            )
        return super().__reduce_ex__(protocol)

    def __del__(self) -> None:
        """Do nothing; Gymnasium before 1.4 would close the games below, also those of a wrapper that was refused."""

    @contextlib.contextmanager
    def _announced(self, *, given: bool) -> Iterator[None]:
        """Say to a ledger below what the games that begin are played under; raise its error if it refuses them.

        Args:
            given: Whether the caller gives a seed; otherwise noise goes on from the last one.
        """
        if given and current() is None:
            warn_of_known_seed(is_real_below(self.env), stacklevel=5)  # type: ignore[attr-defined]
        with announced([[self.guarantee]], secret=None if given else not self._seed_is_known) as game:
            yield
        game.raise_refusal()
        if given:
            self._seed_is_known = not game.secret

    def _has_begun(self) -> bool:
        """Whether noise has been drawn."""
        raise NotImplementedError

    @property
    def np_random_seed(self) -> int:
        """-1, which means "unknown" in Gymnasium."""
        return -1


def checked_mechanism(mechanism: Any) -> Mechanism:
    """Return `mechanism`, or raise if it is not a `Mechanism`."""
    if not isinstance(mechanism, Mechanism):
        raise WrongTypeError(
            f"mechanism must be a Mechanism, such as dp_bandit_envs.privacy.mechanisms.ExactSums(); received a"
            f" {type(mechanism).__name__}."
        )
    return mechanism


def checked_above(mechanism: Mechanism, below: Below) -> Below:
    """Return what a mechanism says of what it releases, or raise if that cannot be."""
    name = type(mechanism).__name__
    checks.integer(f"batch_size of {name}", mechanism.batch_size, at_least=1)
    above = facts_above(mechanism, below)
    rules = {
        "guarantee": isinstance(above.guarantee, PrivacyGuarantee),
        "sensitivity": isinstance(above.sensitivity, (int, float)) and above.sensitivity > 0,
        "gains_in_a_round": type(above.gains_in_a_round) is int and above.gains_in_a_round >= 1,
        "horizon": type(above.horizon) is int and 1 <= above.horizon <= below.horizon // mechanism.batch_size,
        "noise": isinstance(above.noise, Noise),
    }
    wrong = [fact for fact, holds in rules.items() if not holds]
    if wrong:
        raise ValueError(
            f"{name} must state a PrivacyGuarantee, a sensitivity greater than 0, gains_in_a_round from 1, a horizon"
            f" from 1 to {below.horizon // mechanism.batch_size} and a Noise; its {wrong[0]} is"
            f" {getattr(above, wrong[0])!r}. PrivacyGuarantee.none(reason) says that there is no guarantee."
        )
    if not mechanism.releases_sums:
        check_values(above, name)
    return above
