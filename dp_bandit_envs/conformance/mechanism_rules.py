"""The rules for the mechanism inside a wrapper, tried on gains of the check's own, which error messages may show."""

import math
from numbers import Real
from typing import Any

import numpy as np

from dp_bandit_envs.conformance.rules import require
from dp_bandit_envs.conformance.wrapper_games import arms_of
from dp_bandit_envs.privacy.facts import Below
from dp_bandit_envs.privacy.mechanism import Mechanism
from dp_bandit_envs.privacy.secure_draws import takes_no_seed
from dp_bandit_envs.seeding import FIRST_WRAPPER
from dp_bandit_envs.wrappers.boundary import streams_of


def check_mechanism(env: Any) -> None:
    """Require that the outermost mechanism's `release` returns (value, count), in the range it declares.

    Behind a wrapper such faults end a game without a word about their cause, because it may be private. Wrappers that
    are no `PrivacyBoundary` have no mechanism, and are not looked at.

    Args:
        env: The wrapper around a game.
    """
    mechanism, below = getattr(env, "mechanism", None), getattr(env, "below", None)
    if not isinstance(mechanism, Mechanism) or not isinstance(below, Below):
        return
    name = type(mechanism).__name__
    rng = streams_of(mechanism, FIRST_WRAPPER, "conformance").next(None if takes_no_seed(mechanism) else 0)
    low, high = below.values.low, below.values.high
    gains = np.random.default_rng(0).uniform(low, high, below.horizon)
    gains[:2] = low, high
    state, release = mechanism.new_state(below), mechanism.release_for(below)
    for gain, arm in zip(gains.tolist(), arms_of(below.horizon, below.n_values), strict=True):
        try:
            returned = release(state, arm, gain, rng)
            for other in range(below.n_values):
                if mechanism.idle is not None and other != arm:
                    mechanism.idle(state, other, rng)
            if mechanism.forget is not None:
                mechanism.forget(state)
        except Exception as error:
            received = f"a {type(error).__name__} ({error}) for the gain {gain:g} of this check"
            require(
                False,
                f"release(state, arm, gain, rng) of {name} must not fail",
                received,
                "Mend it; the error is the cause of this one.",
            )
        _check_returned(returned, gain, mechanism, below)


def _check_returned(returned: Any, gain: float, mechanism: Mechanism, below: Below) -> None:
    name, low, high = type(mechanism).__name__, below.values.low, below.values.high
    pair = isinstance(returned, tuple) and len(returned) == 2
    pair = pair and isinstance(returned[0], Real) and isinstance(returned[1], (int, np.integer))
    require(
        pair and returned[1] >= 0,
        f"release(state, arm, gain, rng) of {name} must return a number and how many gains are in it",
        f"{returned!r} for the gain {gain:g} of this check",
        "Return (value, 1), or (0.0, 0) where nothing is released.",
    )
    value, count = returned
    if mechanism.releases_sums:
        good = count == 0 or math.isfinite(value)
        require(good, f"a sum that {name} releases must be finite", f"{value!r}", "Return (0.0, 0) until there is one.")
        return
    require(
        count == 0 or low <= value <= high,
        f"a gain that {name} releases must be in [{low:g}, {high:g}]",
        f"{value!r} for the gain {gain:g} of this check",
        "Clip it, withhold it with count 0, or set releases_sums = True if it is a sum.",
    )
    require(
        count > 0 or mechanism.withholds or mechanism.batch_size > 1,
        f"{name}, which has withholds = False, must release every gain",
        f"count 0 for the gain {gain:g} of this check",
        "Set withholds = True.",
    )
