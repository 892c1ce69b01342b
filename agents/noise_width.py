r"""Confidence widths for the noise in released sums: the extra term in every private index.

A width adds :math:`(\text{slope} \ln t + \text{offset}) \, w(n)` to an arm's mean over n gains after t rounds.
Algorithms differ in w(n). It is computed once for each n, so that a round costs one multiplication for each arm.
"""

import functools
import math
from collections.abc import Callable
from typing import Any, Final, NamedTuple, SupportsFloat

import numpy as np

from dp_bandit_envs import checks
from dp_bandit_envs.draws import exp, log, log1p, map_array
from dp_bandit_envs.errors import WrongTypeError
from dp_bandit_envs.privacy.counters import Counter, make_counter
from dp_bandit_envs.protocols import FloatArray

NONE: Final = 0
POWER: Final = 1
LOGARITHM: Final = 2
TABLE: Final = 3
STEPS_IN_AN_OCTAVE: Final = 4
"""Number of table rows while t doubles; each row holds the width at the end of its range of t."""


class NoiseWidth(NamedTuple):
    """The parameters of a width.

    Attributes:
        slope, offset: w(n) is multiplied by slope ln t + offset.
        kind: `NONE` (w = 0), `POWER` (n^-power), `LOGARITHM` (ln(n + 1) / n) or `TABLE` (table entry / n).
        power: The exponent of `POWER`.
        table: Widths of a sum by step of t, by number of bits of n and by number of ones in n, flattened.
        bits: The largest number of bits of n in the table.
        until: The last round of each step of t.
    """

    slope: float
    offset: float
    kind: int
    power: float
    table: FloatArray
    bits: int
    until: FloatArray


WidthFor = Callable[[int, int, float], NoiseWidth]
"""Returns the width for `(n_arms, horizon, sensitivity)`, where the sensitivity is that of the values with noise. The
functions returned by this module can be pickled, so that agents can be."""


def weight(width: NoiseWidth, count: int, step: int) -> float:
    """Return w(n) for n = `count` > 0, at a step of t."""
    if width.kind == NONE:
        return 0.0
    if width.kind == POWER:
        return 1.0 / count if width.power == 1.0 else exp(-width.power * log(count))
    if width.kind == LOGARITHM:
        return log(count + 1.0) / count
    bits = 0
    ones = 0
    left = count
    while left > 0:
        ones += left & 1
        bits += 1
        left >>= 1
    total: float = width.table[(step * width.bits + bits - 1) * width.bits + ones - 1]
    return total / count


def smooth(width: NoiseWidth, agent: str) -> NoiseWidth:
    """Return the width, or raise if it is table-based: `agent` cannot refresh it as t grows."""
    if width.kind == TABLE:
        raise ValueError(f"{agent} takes a width in ln t, such as log_width(...); counter_width(...) is for Ucb.")
    return width


def checked_width(width: WidthFor | None) -> WidthFor:
    """Return the function that returns the width, `no_width` for None; raise if it is not callable."""
    if width is not None and not callable(width):
        raise WrongTypeError(
            f"width must be None or a function of (n_arms, horizon, sensitivity); received {width!r}. Use"
            " log_width(...) or counter_width(...) of dp_bandit_envs.agents.noise_width."
        )
    return no_width if width is None else checks.function("width", width, "n_arms", "horizon", "sensitivity")


def width_in(width: WidthFor, n_arms: int, horizon: int, sensitivity: float) -> NoiseWidth:
    """Return the width of a game, or raise if the function returns none."""
    noise_width = width(n_arms, horizon, sensitivity)
    if not isinstance(noise_width, NoiseWidth):
        raise WrongTypeError(
            f"width must return a NoiseWidth, as log_width(...) does; received {checks.kind_of(noise_width)}."
        )
    return noise_width


def no_width(n_arms: int, horizon: int, sensitivity: float) -> NoiseWidth:
    """Return a width of 0."""
    return _plain(0.0, 0.0, NONE, 1.0)


def log_width(slope: SupportsFloat, *, power: SupportsFloat = 1.0, offset: SupportsFloat = 0.0) -> WidthFor:
    """Return the width (slope ln t + offset) n^-power, as for one noise draw in a mean.

    For values of sensitivity 1; other sensitivities multiply it.
    """
    factors = checks.at_least("slope", slope, 0), checks.at_least("offset", offset, 0)
    exponent = checks.greater_than("power", power, 0)
    return functools.partial(_scaled, _plain(*factors, POWER, exponent))


def log_log_width(slope: SupportsFloat) -> WidthFor:
    """Return the width slope ln t ln(n + 1) / n, as for the noise of a binary tree."""
    factor = checks.at_least("slope", slope, 0)
    return functools.partial(_scaled, _plain(factor, 0.0, LOGARITHM, 1.0))


def counter_width(
    counter: str, *, epsilon: SupportsFloat, formula: str = "chernoff", exponent: SupportsFloat = 4, **options: Any
) -> WidthFor:
    """Return the width that a counter's noise exceeds with probability at most t^-exponent.

    t is rounded up to a power of 2^(1/4), which makes the width up to 4 % larger at t = 33, and 2 % at t = 10^5.

    Args:
        counter: A key of `dp_bandit_envs.privacy.counters.COUNTERS` with Laplace noise.
        epsilon: The counter's privacy parameter, in (0, inf].
        formula: `"chernoff"` for `Counter.error_width`; `"printed"` for equation 2.2 of Tossou and Dimitrakakis (2016)
            with levels in base 2, which is about twice as wide, for the hybrid counter.
        exponent: Of the failure probability, see above.
        options: Further arguments of the counter.
    """
    epsilon = checks.epsilon(epsilon)
    checks.one_of("formula", formula, ("chernoff", "printed"))
    power = checks.greater_than("exponent", exponent, 0)
    if formula == "printed" and counter != "hybrid":
        raise ValueError(f"the printed formula is for the hybrid counter; received {counter!r}. Use 'chernoff'.")
    _check_terms(make_counter(counter, epsilon=1.0, horizon=1, **options), 0, 1)
    if math.isinf(epsilon):
        return no_width
    return functools.partial(_from_table, counter, formula, power, tuple(sorted(options.items())), epsilon)


def _from_table(
    counter: str,
    formula: str,
    exponent: float,
    options: tuple[tuple[str, Any], ...],
    epsilon: float,
    n_arms: int,
    horizon: int,
    sensitivity: float,
) -> NoiseWidth:
    table, until = _table(counter, formula, exponent, horizon, options)
    return NoiseWidth(0.0, 1.0, TABLE, 1.0, table / (epsilon / sensitivity), horizon.bit_length(), until)


def _scaled(width: NoiseWidth, n_arms: int, horizon: int, sensitivity: float) -> NoiseWidth:
    """Return the width for noise `sensitivity` times as large, with copies of its arrays."""
    return width._replace(
        slope=width.slope * sensitivity,
        offset=width.offset * sensitivity,
        table=width.table.copy(),
        until=width.until.copy(),
    )


def _plain(slope: float, offset: float, kind: int, power: float) -> NoiseWidth:
    return NoiseWidth(slope, offset, kind, power, np.zeros(1), 1, np.array([math.inf]))


@functools.lru_cache(maxsize=64)
def _table(
    name: str, formula: str, exponent: float, horizon: int, options: tuple[tuple[str, Any], ...]
) -> tuple[FloatArray, FloatArray]:
    """Return the widths at epsilon = 1, to be divided by epsilon, and the last round of each step of t."""
    counter = make_counter(name, epsilon=1.0, horizon=horizon, **dict(options))
    bits = horizon.bit_length()
    steps = math.ceil(STEPS_IN_AN_OCTAVE * math.log2(horizon)) + 1 if horizon > 1 else 1
    octaves, quarters = np.divmod(np.arange(steps), STEPS_IN_AN_OCTAVE)
    # Powers of two are exact, and not just below the round at which their step ends.
    until = np.ldexp(map_array(exp, quarters * (log(2.0) / STEPS_IN_AN_OCTAVE)), octaves)
    ends = np.minimum(until, 2.0 * horizon)
    nats = map_array(log, ends)
    until[-1] = math.inf
    table = np.zeros((steps, bits, bits))
    for places in range(bits):
        for ones in range(1, places + 2):
            if formula == "printed":
                # One draw of the logarithmic part, and the tree's levels; at a power of two the tree is empty.
                share = 2 if dict(options).get("budget", "split") == "split" else 1
                levels = 1 if ones == 1 else places + 1
                table[:, places, ones - 1] = share * math.sqrt(8) * (log(4.0) + exponent * nats) * levels
            else:
                table[:, places, ones - 1] = _chernoff(counter, places, ones, exponent * nats)
    return table.ravel(), until


def _chernoff(counter: Counter, places: int, ones: int, minus_log: FloatArray) -> FloatArray:
    """Return `laplace_width` for many failure probabilities at once, minimised on a grid of s; every s is valid."""
    terms = _check_terms(counter, places, ones)
    widest = max(scale for scale, _ in terms)
    share = np.linspace(0, 1, 402)[1:-1]
    cost = map_array(log1p, -share)
    for scale, number in terms:
        cost = cost - number * map_array(log1p, -((scale / widest * share) ** 2))
    widths = (log(2) + minus_log[:, np.newaxis] + cost) * (widest / share)
    narrowest: FloatArray = widths.min(axis=1)
    return narrowest


def _check_terms(counter: Counter, places: int, ones: int) -> list[tuple[float, int]]:
    """Return the Laplace scales of the noisiest release at counts of `places` + 1 bits, `ones` of them 1, or raise."""
    terms = [(scale, number) for scale, number in counter.noisiest(places, ones) if scale > 0 and number > 0]
    if not terms or counter.delta is not None:
        gaussian = " with Gaussian noise" if counter.delta is not None else ""
        raise ValueError(
            f"the counter must have Laplace noise in every release; received {checks.kind_of(counter)}{gaussian}. Use"
            " 'hybrid' or 'k-ary' without delta, for example."
        )
    return terms
