"""An algorithm with secure draws in all its privacy wrappers."""

import dataclasses
from typing import Any

from dp_bandit_envs.algorithms.algorithm import Algorithm
from dp_bandit_envs.errors import WrongTypeError
from dp_bandit_envs.privacy.secure_draws import ChoosesDraws
from dp_bandit_envs.protocols import Environment
from dp_bandit_envs.wrappers import PrivacyBoundary


def secured(algorithm: Algorithm) -> Algorithm:
    """Return an algorithm whose privacy wrappers have secure draws, for `play` with `seed=None`.

    Agents and guarantees stay as they are, but for `tau`; noise that must cover a grid is larger by about
    one part in 10^9. Agents still draw arms with NumPy's generator. Wrappers without noise stay as they are.

    Raises:
        WrongTypeError: If it is no `Algorithm`; from `wrap`, if a wrapper has noise of somebody else's, which has no
            secure form.
        ValueError: From `wrap`, if a wrapper has own-norm noise, or a counter that weighs its draws (that of `AS-FTPL`,
            and of `DP-FTRL` unless its `counter` is another one), of which there is no exact form.
        ImportError: From `wrap`, if OpenDP is missing (extra `secure`).
    """
    if not isinstance(algorithm, Algorithm):
        raise WrongTypeError(f"secured needs an Algorithm, such as make_algorithm('DP-IMED'); received {algorithm!r}.")

    def wrapping(env: Environment) -> Environment:
        return _again(algorithm.wrap(env), env)

    return dataclasses.replace(algorithm, wrapping=wrapping)


def _again(inside: Environment, env: Environment) -> Environment:
    """Return the environment in the same wrappers, with secure draws."""
    if inside is env:
        return env
    name = type(inside).__name__
    if not isinstance(inside, PrivacyBoundary):
        raise WrongTypeError(f"only privacy wrappers can have secure draws; this algorithm has a {name} of its own.")
    mechanism = inside.mechanism
    if isinstance(mechanism, ChoosesDraws):
        mechanism = mechanism.secured()
    elif mechanism.guarantee(inside.below).model != "none":
        raise WrongTypeError(
            f"{name} has noise without a secure form. Those of dp_bandit_envs.privacy.mechanisms have one."
        )
    made: Any = type(inside).__new__(type(inside))
    PrivacyBoundary.__init__(made, _again(inside.env, env), mechanism)
    return made  # type: ignore[no-any-return]
