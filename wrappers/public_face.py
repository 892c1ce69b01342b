"""What a privacy boundary shows of itself, and that none of it can be changed from outside."""

import copy
from typing import Any

import numpy as np

from dp_bandit_envs import checks
from dp_bandit_envs.errors import WrongTypeError
from dp_bandit_envs.privacy.guarantee import PrivacyGuarantee
from dp_bandit_envs.privacy.mechanism import Below, Mechanism, Noise
from dp_bandit_envs.protocols import is_public


class ReadOnly:
    """An attribute that is set once, where the object is made, and cannot be set again."""

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
                f"{self._name} of a {type(instance).__name__} is read-only: its noise and its guarantee belong"
                " together. Make another one."
            )
        vars(instance)[self._name] = value


class PublicFace:
    """What a boundary, scalar or vector, shows in place of attributes that Gymnasium would take from below."""

    _public_random: np.random.Generator | None = None
    _below: Below
    _mechanism: Any = ReadOnly()
    sensitivity: Any = ReadOnly()
    guarantee: Any = ReadOnly()
    horizon: Any = ReadOnly()
    noise: Any = ReadOnly()
    above: Any = ReadOnly()
    n_arms: Any = ReadOnly()

    def _use(self, mechanism: Mechanism) -> None:
        """Take a mechanism of this boundary's own, and what is known of what it releases."""
        self._mechanism = copy.deepcopy(mechanism)
        # Asked of a copy: what a question changes in a mechanism changes no noise.
        asked = self.mechanism
        self.above = above = checked_above(asked, self._below)
        self.sensitivity, self.guarantee = above.sensitivity, above.guarantee
        self.horizon, self.noise = above.horizon, above.noise
        # What cannot be run is refused here, not in the middle of a game.
        asked.new_state(self._below)

    @property
    def mechanism(self) -> Mechanism:
        """A copy of what releases: who changes it changes no noise."""
        return copy.deepcopy(self._mechanism)  # type: ignore[no-any-return]

    @property
    def below(self) -> Below:
        """What is known of the gains that the mechanism gets; nothing of it is private."""
        return self._below

    @property
    def releases_sums(self) -> bool:
        """Whether it releases running sums instead of gains."""
        return bool(self._mechanism.releases_sums)

    @property
    def batch_size(self) -> int:
        """For how many steps below one arm is played in a step above."""
        return int(self._mechanism.batch_size)

    @property
    def _total_is(self) -> str:
        return "released sum" if self.releases_sums else "released gain"

    @property
    def spec(self) -> None:
        """None: the spec of what is below may hold private gains among its arguments."""
        return None

    @property
    def np_random(self) -> np.random.Generator:
        """A generator of this wrapper's own: the one below belongs to the seed of the private gains."""
        if self._public_random is None:
            self._public_random = np.random.default_rng()
        return self._public_random

    @np_random.setter
    def np_random(self, value: np.random.Generator) -> None:
        self._public_random = value

    def set_wrapper_attr(self, name: str, value: Any, *, force: bool = True) -> bool:
        """Set an attribute of this wrapper that is new; those that it has cannot be changed from outside."""
        if not is_public(name) or hasattr(self, name):
            raise AttributeError(
                f"{name} of a {type(self).__name__} cannot be set from outside: what it does and what it guarantees"
                " belong together. Make another one."
            )
        if force:
            setattr(self, name, value)
        return force

    def __reduce_ex__(self, protocol: Any) -> Any:
        """Refuse to be copied or pickled once a game has begun: the copy would draw the same noise again."""
        if self._has_begun():
            raise TypeError(
                f"a {type(self).__name__} whose game has begun cannot be copied or pickled: two releases with one draw"
                " of noise tell gains apart. Copy it before its first reset, or make another one."
            )
        return super().__reduce_ex__(protocol)

    def _has_begun(self) -> bool:
        """Whether noise has been drawn."""
        raise NotImplementedError

    @property
    def np_random_seed(self) -> int:
        """-1, which is Gymnasium's word for "unknown"."""
        return -1


def checked_mechanism(mechanism: Any) -> Mechanism:
    """Return a mechanism, or raise if it is none."""
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
    above = mechanism.above(below)
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
            f" {getattr(above, wrong[0])!r}."
        )
    return above
