r"""What is done after the noise was added: whether gains show beside it, and what clipping leaves of the loss.

A mechanism is post-processing of the noisy numbers n = D g + L z (see `linear_noise`) if it releases the same for all
gains and draws with the same n. The loss of n is then an upper bound. It is also a lower bound if what is released
shows the n that lose most, as those of unclipped noise do. Noise that is clipped loses less: with one draw F for each
release, all that is left of n between two ends is n itself, so that the best events are n up to a threshold c between
these ends, and their complements. For Laplace and normal draws, whose likelihood ratios are monotone, the loss at delta
is the largest of :math:`\ln((F(c) - \delta) / F(c - r))`, if the changed gain moves n by r scales.
"""

import math

import numpy as np

from dp_bandit_envs.audits.held_game import FakeDraws, HeldGame, Released
from dp_bandit_envs.audits.linear_noise import SAME, LinearNoise, RowLoss, same
from dp_bandit_envs.errors import NotAuditedError
from dp_bandit_envs.protocols import FloatArray

FAR = 30.0
"""How far out draws are looked at, in scales: fast Laplace draws go farther."""
NORMAL_FAR = 8.0
"""Beyond so many standard deviations nothing is lost that counts."""
PAIRS = 12
"""How many pairs of random tables with the same noisy numbers are compared."""
TINY = 2.0**-16
"""How near to a gain, in scales, Laplace noise must be shown."""
HALVINGS = 60
"""Of an interval, until its ends are equal but for rounding."""
LARGEST = 700.0
"""Larger losses are infinite."""


def check_hidden(game: HeldGame, rows: list[RowLoss]) -> None:
    """Check that gains show in nothing but the noisy numbers: on random tables, at 0 and 1, and with draws far out.

    Args:
        game: The game.
        rows: What each round loses, and what hides its change.

    Raises:
        NotAuditedError: If they do.
    """
    values = game.layers[0][1].values
    changes = np.array([row.change for row in rows])
    known = np.array([row.draws is not None for row in rows])
    number = max((len(row.draws) for row in rows if row.draws is not None), default=0)
    hiding = np.array([np.zeros(number) if row.draws is None else row.draws for row in rows])
    rng = np.random.default_rng(0)

    def check(first: FloatArray, second: FloatArray, draws: FloatArray, what: str) -> None:
        """Compare two tables: each round at a place from -1 to 1 between the ends of its change."""
        second = np.where(known, second, first)
        middle = (values.low + values.high) / 2
        tables = [middle + place[:, np.newaxis] / 2 * changes for place in (first, second)]
        one = game.play(tables[0], FakeDraws(draws.tolist()))
        other = game.play(tables[1], FakeDraws((draws - (second - first) / 2 @ hiding).tolist()))
        if not _equal(one, other):
            raise NotAuditedError(f"{what} do not hide a gain, so its noise is cut, or depends on gains")

    whole = np.ones(len(rows))
    for pair in range(PAIRS):
        # Zeros and ones against other tables, then random ones against each other; at the ends of the range, or inside.
        first, second = rng.integers(-(2**20), 2**20, (2, len(rows))) / 2**20
        first = (-whole, whole)[pair] if pair < 2 else first
        if pair % 4 < 2:
            first, second = np.copysign(1.0, first), np.copysign(1.0, second)
        check(first, second, rng.normal(0.0, 2.0, number), "the same noisy numbers")
    # Rounds that are hidden by the same draws, as those of a block are, are looked at once.
    for t in {draws.tobytes(): t for t, draws in enumerate(hiding) if draws.any()}.values():
        ends = np.zeros((2, len(rows)))
        ends[:, t] = -1, 1
        for side in (1.0, -1.0):
            far = side * np.sign(hiding[t]) * (FAR + 2 * np.abs(hiding[t]).max())
            check(ends[0], ends[1], far, f"draws {FAR:g} scales out")


def _equal(one: Released, other: Released) -> bool:
    alike = one.asked == other.asked and one.places == other.places
    return alike and same(other.values, one.values)


def _table(game: HeldGame, t: int, change: FloatArray) -> FloatArray:
    """Return gains in the middle of the range, but for round t at the lower end of its change."""
    values = game.layers[0][1].values
    gains = np.full((len(game.revealed), len(change)), (values.low + values.high) / 2)
    gains[t] -= change / 2
    return gains


def is_shown(game: HeldGame, found: LinearNoise, t: int, row: RowLoss) -> bool:
    """Whether what is released shows the noisy numbers by which round t loses most, so that its loss is attained.

    For Laplace draws these are all that lie beyond the gains, seen from the other gains, or at these gains; for normal
    ones, all up to `NORMAL_FAR` standard deviations. They are shown if releases follow a small change of any draw.
    """
    if row.draws is None or not row.draws.any():
        return True
    if found.kind == "normal":
        direction = row.draws / np.abs(row.draws).max()
        points = [height * direction for height in (-NORMAL_FAR, -NORMAL_FAR / 4, NORMAL_FAR / 4, NORMAL_FAR)]
        return all(_follows(game, found, _table(game, t, row.change), point) for point in points)
    sides = [(row.change, np.sign(row.draws)), (-row.change, -np.sign(row.draws))]
    return any(
        _follows(game, found, _table(game, t, change), height * towards)
        for change, towards in sides
        for height in (TINY, -TINY)
    )


def _follows(game: HeldGame, found: LinearNoise, gains: FloatArray, draws: FloatArray) -> bool:
    """Whether a small change of all draws at once moves what is released as the map says."""
    small = TINY / 4 * np.cos(1 + np.arange(len(draws)))
    one, other = (game.play(gains, FakeDraws(each.tolist())) for each in (draws, draws + small))
    if one.asked != other.asked or one.places != other.places or len(one.values) != len(found.noise):
        return False
    expected = found.noise @ small
    return bool(np.abs(other.values - one.values - expected).max() <= 1e-4 * np.abs(expected).max())


def clipped_loss(game: HeldGame, found: LinearNoise, t: int, row: RowLoss, delta: float) -> float | None:
    """Return the exact loss of round t at delta where its releases are clipped between two ends; None if unknown.

    Args:
        game: The game.
        found: Its map.
        t: The round.
        row: What it loses before clipping.
        delta: In [0, 1).
    """
    if row.draws is None:
        return None
    moved = np.flatnonzero(row.draws)
    if len(moved) > 1 and delta > 0:
        return None
    gains, total = _table(game, t, row.change), 0.0
    for draw in moved:
        releases = np.flatnonzero(found.noise[:, draw])
        if len(releases) != 1 or np.count_nonzero(found.noise[releases[0]]) != 1:
            return None
        distance = float(row.draws[draw])
        ends = _ends(game, gains, int(draw), int(releases[0]), distance)
        if ends is None:
            return None
        low, high = ends if distance > 0 else (ends[0] - distance, ends[1] - distance)
        total += loss_between(found.kind, abs(distance), low, high, delta)
    return total


def _ends(game: HeldGame, gains: FloatArray, draw: int, release: int, distance: float) -> tuple[float, float] | None:
    """Return between which heights of a draw its release is a line; None if it is not constant beyond them."""
    heights = [0.0] * (draw + 1)

    def released(height: float) -> float:
        heights[draw] = height
        shown = game.play(gains, FakeDraws(heights))
        return float(shown.values[release]) if len(shown.values) > release else math.nan

    middle, far = distance / 2, FAR + 2 * abs(distance)
    ends = []
    for side in (-1.0, 1.0):
        inside, outside = middle, side * far
        last = released(outside)
        if released(outside / 2) != last:
            ends.append(side * math.inf)
            continue
        for _ in range(HALVINGS):
            between = (inside + outside) / 2
            inside, outside = (inside, between) if released(between) == last else (between, outside)
        ends.append(outside)
    low, high = max(ends[0], -far), min(ends[1], far)
    places = low + (high - low) * np.array([0.001, 0.1, 0.3, 0.5, 0.7, 0.9, 0.999])
    seen = np.array([released(height) for height in places])
    line = seen[0] + (seen[-1] - seen[0]) * (places - places[0]) / (places[-1] - places[0])
    straight = low < high and np.abs(seen - line).max() <= SAME * (1 + np.abs(line).max())
    return (ends[0], ends[1]) if straight else None


def loss_between(kind: str, distance: float, low: float, high: float, delta: float) -> float:
    """Return the loss at delta of a number moved by `distance` scales that is clipped to [low, high], in scales.

    Args:
        kind: `"laplace"` or `"normal"`.
        distance: Above 0: the number is 0 or `distance`, plus a draw.
        low: All that lies below is one event.
        high: All that lies above is one event.
        delta: In [0, 1).
    """
    # The event that the number is large is that it is small, seen from the other end.
    return max(_half(kind, distance, *ends, delta) for ends in ((low, high), (distance - high, distance - low)))


def _half(kind: str, distance: float, low: float, high: float, delta: float) -> float:
    """Return the largest log ratio of the event that the number is at most c, over c in [low, high]."""
    if delta == 0.0:
        # The ratio falls with c; that of Laplace draws is the same for all c up to 0.
        c = max(low, -FAR) if kind == "laplace" else low
        one, other = below(kind, c), below(kind, c - distance)
        return math.log(one / other) if other > 0 else math.inf
    least, most = 0.0, LARGEST
    for _ in range(100):
        epsilon = (least + most) / 2
        best = (distance - epsilon) / 2 if kind == "laplace" else distance / 2 - epsilon / distance
        if kind == "laplace" and epsilon >= distance:
            best = -math.inf
        c = min(max(best, low), high)
        too_small = below(kind, c) - math.exp(epsilon) * below(kind, c - distance) > delta
        least, most = (epsilon, most) if too_small else (least, epsilon)
    return most


def below(kind: str, number: float) -> float:
    """Return the probability that a draw of scale 1 is at most a number."""
    if kind == "normal":
        return math.erfc(-number / math.sqrt(2)) / 2
    return math.exp(number) / 2 if number < 0 else 1 - math.exp(-number) / 2
