"""What one release of Laplace noise tells: exact chances of rejection, and doubles that no other gain could lead to."""

import math

import numpy as np
import pytest

from dp_bandit_envs.draws import laplace
from dp_bandit_envs.privacy import noise_scale
from dp_bandit_envs.privacy.laplace import DEVIATION, default_bound, grid_of
from dp_bandit_envs.privacy.mechanisms.laplace_gains import State, release


def test_rejection_alone_has_the_probabilities_that_epsilon_allows():
    """Withholding is post-processing: P(withheld | 1) / P(withheld | 0) lies within exp(+-epsilon), exactly."""
    for epsilon in (0.1, 1.0, 5.0):
        scale = noise_scale(1.0, epsilon)
        for bound in (0.0, 0.3 / epsilon, default_bound(scale, 1000)):

            def withheld(gain, scale=scale, bound=bound):
                return 0.5 * math.exp(-(bound + gain) / scale) + 0.5 * math.exp(-(bound + 1 - gain) / scale)

            for one in np.linspace(0, 1, 11):
                for other in np.linspace(0, 1, 11):
                    assert abs(math.log(withheld(one) / withheld(other))) <= epsilon + 1e-12
                    kept = math.log((1 - withheld(one)) / (1 - withheld(other))) if bound > 0 else 0.0
                    assert abs(kept) <= epsilon + 1e-12


# ---- floats are not real numbers


class Given:
    """A random stream whose next signed uniform number is this one."""

    def __init__(self, v):
        self._v = v

    def signed_uniform(self):
        return self._v

    laplace = laplace


def reject_beyond(scale: float, bound: float) -> State:
    """Return the state of a mechanism that rejects."""
    return State(scale, grid_of(DEVIATION * scale), bound, True, 0.0, 1.0)


def is_possible(released: float, gain: float, scale: float, bound: float, noise: float) -> bool:
    """Return whether any of the doubles near the one that belongs to `noise` makes `gain` into `released`."""
    # The nearest first, one of which nearly always does.
    offsets = np.array(sorted(range(-100, 101), key=abs))
    bits = np.float64(math.exp(-abs(noise) / scale)).view(np.int64) + offsets
    candidates = math.copysign(1.0, noise) * bits[bits <= np.float64(1.0).view(np.int64)].view(np.float64)
    state = reject_beyond(scale, bound)
    return any(release(state, 0, gain, Given(candidate)) == (released, 1) for candidate in candidates.tolist())


@pytest.mark.parametrize(("epsilon", "releases"), [(1.0, 2**18), (0.1, 2139), (10.0, 2**18)])
def test_every_value_released_for_one_gain_could_have_been_released_for_another(epsilon, releases):
    """Mironov (2012): doubles are spaced unevenly, so g + noise has holes that depend on g.

    A value that falls into a hole of gain 0 says "not 0" with certainty, whatever epsilon is. Only noise of 3 to 8
    scales below is tried, where doubles near a release are few enough for all to be listed: 1 release in 40. Rounding
    noisy gains to a grid of scale / 2^12 or so closes the holes and costs no accuracy.
    """
    scale = noise_scale(1.0, epsilon)
    bound = default_bound(scale, releases)
    rng = np.random.default_rng(6)
    impossible, tried = 0, 0
    while tried < 100:
        v = float(rng.uniform(-1.0, 1.0))
        noise = laplace(Given(v), 0.0, scale)
        if not 3 * scale < -noise < 8 * scale:
            continue
        tried += 1
        for gain, other in ((1.0, 0.0), (0.38, 0.4)):
            released, kept = release(reject_beyond(scale, bound), 0, gain, Given(v))
            assert kept and is_possible(released, gain, scale, bound, noise)
            impossible += not is_possible(released, other, scale, bound, noise + gain - other)
    assert impossible == 0
