"""The rules for mechanisms: `release` returns a number and a count, in the declared range.

Behind a wrapper, such faults end a game without naming the cause, because it may be private.
"""

import math
from numbers import Real
from typing import Any

import numpy as np

from dp_bandit_envs import checks
from dp_bandit_envs.conformance.rules import require
from dp_bandit_envs.privacy.facts import InputFacts
from dp_bandit_envs.privacy.mechanism import Mechanism
from dp_bandit_envs.privacy.secure_draws import takes_no_seed
from dp_bandit_envs.seeding import FIRST_WRAPPER
from dp_bandit_envs.wrappers.boundary import streams_of


def check_mechanism(env: Any) -> None:
    """Require that the outermost mechanism's `release` returns (value, count), in the range it declares.

    Wrappers other than `PrivacyBoundary` have no mechanism and are skipped.

    Args:
        env: The wrapper around a game.
    """
    mechanism, inputs = getattr(env, "mechanism", None), getattr(env, "inputs", None)
    if not isinstance(mechanism, Mechanism) or not isinstance(inputs, InputFacts):
        return
    name, batch = type(mechanism).__name__, mechanism.batch_size
    rng = streams_of(mechanism, FIRST_WRAPPER, "conformance").next(None if takes_no_seed(mechanism) else 0)
    low, high = inputs.values.low, inputs.values.high
    gains = np.random.default_rng(0).uniform(low, high, inputs.horizon)
    gains[: 2 * batch] = np.repeat([low, high], batch)[: len(gains)]
    state, release, released = mechanism.new_state(inputs), mechanism.release_for(inputs), 0
    for t, gain in enumerate(gains.tolist()):
        arm, gain_text = t // (3 * batch) % inputs.n_values, f"for the gain {gain:g} of this check"
        try:
            returned = release(state, arm, gain, rng)
            for other in range(inputs.n_values):
                if mechanism.idle is not None and other != arm:
                    mechanism.idle(state, other, rng)
            if mechanism.forget is not None and (t + 1) % batch == 0:
                mechanism.forget(state)
        except Exception as error:
            rule = f"release(state, arm, gain, rng) of {name} must not fail"
            received = f"{checks.kind_of(error)} ({error}) {gain_text}"
            require(False, rule, received, "Mend it; the error is the cause of this one.")
        released = (released if t % batch else 0) + _checked_count(returned, gain_text, mechanism, inputs)
        withheld = (t + 1) % batch == 0 and not released
        rule = f"{name}, which has withholds = False, must release every gain, or batch of gains of one arm"
        is_kept = not withheld or mechanism.withholds or mechanism.releases_sums
        require(is_kept, rule, f"count 0 {gain_text}", "Set withholds = True.")


def _checked_count(returned: Any, gain_text: str, mechanism: Mechanism, inputs: InputFacts) -> int:
    """Return the count from `release`, or raise if it did not return a number and a count in range."""
    name, low, high = type(mechanism).__name__, inputs.values.low, inputs.values.high
    is_pair: Any = isinstance(returned, tuple) and len(returned) == 2 and isinstance(returned[0], Real)
    is_pair = is_pair and isinstance(returned[1], (int, np.integer)) and returned[1] >= 0
    rule = f"release(state, arm, gain, rng) of {name} must return a number and how many gains are in it"
    require(is_pair, rule, f"{returned!r} {gain_text}", "Return (value, 1), or (0.0, 0) where nothing is released.")
    number, count = returned
    if mechanism.releases_sums:
        is_finite = count == 0 or math.isfinite(number)
        way_out = "Return (0.0, 0) until there is one."
        require(is_finite, f"a sum that {name} releases must be finite", f"{number!r}", way_out)
    else:
        inside: Any = count == 0 or low <= number <= high
        way_out = "Clip it, withhold it with count 0, or set releases_sums = True if it is a sum."
        rule = f"a gain that {name} releases must be in [{low:g}, {high:g}]"
        require(inside, rule, f"{returned!r} {gain_text}", way_out)
    return int(count)
