"""What the tests of counters share: all of them, their noise as an exact linear map, and noise measured in bulk."""

import functools

import numpy as np

from dp_bandit_envs.compiling.compiled import CompiledFunction
from dp_bandit_envs.privacy.counters import COUNTERS, Counter, make_counter
from tests.tools.fake_draws import Impulse, cheapest_shift

ALL = list(COUNTERS)
LAPLACE = [name for name in ALL if name != "square-root"]
ANYTIME = ["logarithmic", "hybrid", "segment-trees"]
KNOWN_HORIZON = [name for name in ALL if name not in ANYTIME]


def counter(name: str, horizon: int, epsilon: float = 1.0, **more) -> Counter:
    """Return a counter by name; all of them take a horizon, also those that do not need one."""
    return make_counter(name, horizon=horizon, epsilon=epsilon, **more)


# ---- the noise as a linear map -------------------------------------------------------------------------------------


def linear_map(some: Counter, items: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return what each release adds up, found from outside: one draw is 1 and all others are 0, for each draw in turn.

    Returns:
        L, `(releases, draws)`, with noise = L draws; the scale of each draw, `(draws,)`; and the number of items that
        each release covers, `(releases,)`.
    """
    silent = Impulse()
    state = some.new_state(1)
    fresh = np.array([some.noise(state, 0, silent)[1] for _ in range(items)])
    scales = np.array(silent.asked)
    state = some.new_state(len(scales))
    columns = []
    for hot in range(len(scales)):
        impulse = Impulse(hot)
        columns.append([some.noise(state, hot, impulse)[0] for _ in range(items)])
        # The scales and their order do not depend on what was drawn.
        assert impulse.asked == silent.asked
    noise = np.array(columns).T
    return noise[fresh], scales, np.flatnonzero(fresh) + 1


def shifts(noise: np.ndarray, scales: np.ndarray, covers: np.ndarray, items: int) -> np.ndarray:
    """Return R, `(draws, items)`: what the draws must change by to hide a change of item j by 1, at the least cost.

    Changing item j by 1 moves every release that covers it by 1, so L R_j must be that step; the log-density of the
    outputs then changes by at most the sum of |R_ij| / scale_i. Where L leaves a choice, the cheapest R_j is found by
    linear programming. None of this looks at the nodes that the counter says it has.
    """
    steps = (covers[:, np.newaxis] >= np.arange(1, items + 1)).astype(float)
    releases, draws = noise.shape
    if releases == draws:
        found = np.linalg.solve(noise, steps)
    else:
        found = np.array([cheapest_shift(noise, scales, step) for step in steps.T]).T
    assert np.abs(noise @ found - steps).max() < 1e-9
    return found


def laplace_losses(some: Counter, items: int) -> np.ndarray:
    """Return the exact privacy loss of each item, over all releases of `items` items."""
    noise, scales, covers = linear_map(some, items)
    return (np.abs(shifts(noise, scales, covers, items)) / scales[:, np.newaxis]).sum(axis=0)


# ---- noise in bulk -------------------------------------------------------------------------------------------------


def insert(state, arm, rng):
    """Stand for a counter's own function, which takes this one's place when `_record` is compiled."""
    raise NotImplementedError


def _record(state, place, rng, out):
    for arm in range(out.shape[1]):
        for t in range(len(place)):
            noise, _ = insert(state, arm, rng)
            if place[t] >= 0:
                out[place[t], arm] = noise


@functools.cache
def _recorder(name: str):
    return CompiledFunction(_record, {"insert": COUNTERS[name].noise})


def measured_noise(some: Counter, name: str, times: np.ndarray, trials: int, seed: int) -> np.ndarray:
    """Return the noise of the releases after `times` items, which grow, in independent counters: `(times, trials)`."""
    rng = np.random.default_rng(seed)
    state = some.new_state(trials)
    place = np.full(times[-1], -1)
    place[np.asarray(times) - 1] = np.arange(len(times))
    out = np.empty((len(times), trials))
    _recorder(name)(state, place, rng, out)
    return out
