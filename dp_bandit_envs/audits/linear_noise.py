r"""Additive noise: the releases of a game as a linear map of gains and draws, and the loss of a changed round.

With additive noise that does not depend on gains, the releases are o = D g + L z, for gains g and draws z of scale 1. A
change v of one round's gains is compensated by a change r of the draws with L r = D v. For Laplace draws it costs the
sum of |r_i| in log-density, attained far out in the direction of r; for normal draws, half the sum of r_i^2 is the
Renyi divergence of order 1 (rho). The cheapest r gives the exact loss. This module does not read a mechanism's declared
guarantee.

Later steps are post-processing of n = D g + L z if all gains and draws with the same n give the same release. The loss
of n is then an upper bound. It is also a lower bound if the releases determine the n with the largest loss, as with
unclipped noise. Clipped noise loses less. With one draw of distribution function F per release, a release between two
ends equals n, so the best events are "n at most c", for a threshold c between these ends, and their complements. For
Laplace and normal draws, whose likelihood ratios are monotone, the loss at delta is the largest of
:math:`\ln((F(c) - \delta) / F(c - r))`, if the changed gain moves n by r scales.
"""

import itertools
import math
from typing import NamedTuple

import numpy as np

from dp_bandit_envs.audits.fixed_play import FakeDraws, FixedGame, GameReleases
from dp_bandit_envs.audits.true_losses import SHARES, TrueLoss, loss_of, loss_of_pure
from dp_bandit_envs.checks import require
from dp_bandit_envs.errors import NotAuditedError
from dp_bandit_envs.privacy.accounting import DominatingNoise
from dp_bandit_envs.privacy.facts import ValueRange
from dp_bandit_envs.protocols import FloatArray

IMPULSE = 0.25
"""The largest change of a released number in the search for the map: clipping mechanisms are linear within it."""
SMALLEST = 1e-6
"""The smallest impulse, in scales."""
SAME = 1e-7
"""Two numbers are the same below this share of the largest one."""
TABLES = 3
"""How many random tables of gains at the ends of the range, and as many inside it, are held to the map."""
MOST_SIGNS = 10
"""The most values that a round may reveal: all signs of their changes are tried."""


class LinearNoise(NamedTuple):
    """The linear map of one game.

    Attributes:
        noise: L, `(releases, draws)`, for draws of scale 1.
        moves: D, `(releases, rounds, n_values)`: the change of the releases per unit change of one gain.
        kind: `"laplace"` or `"normal"`; `""` without draws.
        of_value: The index of the value of each release.
    """

    noise: FloatArray
    moves: FloatArray
    kind: str
    of_value: list[int]


def linear_noise(game: FixedGame) -> LinearNoise:
    """Return the linear map from gains and noise draws to releases.

    Raises:
        NotAuditedError: If its noise is not additive, depends on gains, or is of two kinds.
    """
    values = game.layers[0][1].values
    middle, half = (values.low + values.high) / 2, values.width / 2
    base_gains = np.full((len(game.revealed), game.layers[0][1].n_values), middle)
    base = game.play(base_gains, FakeDraws())
    kinds = {kind for kind, scale in base.requests if scale > 0}
    if len(kinds) > 1:
        raise NotAuditedError("its draws are Laplace and normal ones together, for which no exact loss is known here")

    def moved(gains: FloatArray, heights: FloatArray) -> FloatArray:
        return _difference(base, game.play(gains, FakeDraws(heights.tolist())))

    height = np.array([IMPULSE * half / max(scale, half) for _, scale in base.requests])
    columns = []
    for number in range(len(height)):
        row = np.zeros(len(height))
        row[number] = height[number]
        column = moved(base_gains, row)
        # A mechanism may multiply a draw of scale 1 itself, and clip what so large an impulse becomes.
        while np.abs(column).max(initial=0.0) > 1.01 * IMPULSE * half and height[number] > SMALLEST:
            row[number] = height[number] = height[number] / 8
            column = moved(base_gains, row)
        columns.append(column / height[number])
    noise = np.array(columns).T if columns else np.zeros((len(base.values), 0))
    moves = np.zeros((len(base.values), *base_gains.shape))
    for t, seen in enumerate(game.revealed):
        for arm in seen:
            gains = base_gains.copy()
            gains[t, arm] += half
            moves[:, t, arm] = moved(gains, np.zeros(0)) / half
    # A second route to the same numbers: all draws at once, a little, with signs; and all gains at once.
    some = height * np.cos(np.arange(len(height)))
    if not nearly_equal(moved(base_gains, some), noise @ some):
        raise NotAuditedError("what it releases is not linear in its draws")
    rng = np.random.default_rng(0)
    for table in range(2 * TABLES):
        # Multiples that sums of gains do not round.
        step = half * (rng.integers(-(2**20), 2**20, base_gains.shape) / 2**20)
        step = np.copysign(half, step) if table % 2 else step
        if not nearly_equal(moved(base_gains + step, np.zeros(0)), np.tensordot(moves, step)):
            raise NotAuditedError("what it releases is not linear in the gains")
    return LinearNoise(noise, moves, kinds.pop() if kinds else "", [arm for _, arm, _ in base.positions])


def nearly_equal(numbers: FloatArray, expected: FloatArray) -> bool:
    """Whether two arrays are equal up to rounding."""
    return bool(np.abs(numbers - expected).max(initial=0.0) <= SAME * (1 + np.abs(expected).max(initial=0.0)))


def _difference(base: GameReleases, other: GameReleases) -> FloatArray:
    if base.requests != other.requests or base.positions != other.positions:
        raise NotAuditedError("the number of its draws, their scales or its counts depend on gains or noise")
    return other.values - base.values


class RowLoss(NamedTuple):
    """The loss of one round.

    Attributes:
        loss: The loss of the worst change of its values; rho for normal draws, inf if no draws compensate it.
        change: That change, `(n_values,)`.
        draws: The change of the draws that compensates it, `(draws,)`, in units of their scales; None if there is none.
    """

    loss: float
    change: FloatArray
    draws: FloatArray | None


def row_loss(noise_map: LinearNoise, game: FixedGame, t: int) -> RowLoss:
    """Return the loss of round t of a game for the worst change of its values."""
    moves, seen, values = noise_map.moves[:, t], game.revealed[t], game.layers[0][1].values
    if not moves.any():
        return RowLoss(0.0, np.zeros(moves.shape[1]), np.zeros(noise_map.noise.shape[1]))
    if values.norm == "l2":
        return _ball_loss(noise_map, moves, seen, values.norm_distance)
    losses = [_loss_of_change(noise_map, moves, change) for change in row_changes(seen, moves.shape[1], values)]
    return max(losses, key=lambda row: row.loss)


def _loss_of_change(noise_map: LinearNoise, moves: FloatArray, change: FloatArray) -> RowLoss:
    """Return the loss for one change, and the change of draws that compensates it."""
    draws = cheapest_change(noise_map, moves @ change)
    if draws is None:
        return RowLoss(math.inf, change, None)
    cost = (draws**2).sum() / 2 if noise_map.kind == "normal" else np.abs(draws).sum()
    return RowLoss(float(cost), change, draws)


def _ball_loss(noise_map: LinearNoise, moves: FloatArray, seen: list[int], diameter: float) -> RowLoss:
    """Return the loss for two rows in an L2 ball, if every value has its own draws.

    Then the costs c_i of a change of value i by 1 add up: for Laplace draws to sum c_i |v_i|, which on |v| = D is at
    most D |c|; for normal draws to sum c_i v_i^2, at most D^2 max c_i. Both are attained.
    """
    owners = np.array(noise_map.of_value)
    uses_draws = [np.abs(noise_map.noise[owners == coordinate]).max(axis=0, initial=0.0) > 0 for coordinate in seen]
    if (np.sum(uses_draws, axis=0) > 1).any():
        raise NotAuditedError("its vectors are in an L2 ball, and their coordinates share draws")
    for coordinate in seen:
        if np.abs(moves[owners != coordinate, coordinate]).max(initial=0.0) > 0:
            raise NotAuditedError("its vectors are in an L2 ball, and a coordinate moves another one's releases")
    units = np.eye(moves.shape[1])
    costs = np.array([_loss_of_change(noise_map, moves, units[coordinate]).loss for coordinate in seen])
    if not np.isfinite(costs).all() or not costs.any():
        return RowLoss(float(costs.max()), units[seen[0]], None if costs.any() else np.zeros(noise_map.noise.shape[1]))
    worst = units[seen[int(costs.argmax())]] if noise_map.kind == "normal" else units[seen].T @ (costs / norm(costs))
    return _loss_of_change(noise_map, moves, diameter * worst)


def norm(numbers: FloatArray) -> float:
    """Return the L2 norm."""
    return float(np.sqrt((numbers * numbers).sum()))


def row_changes(seen: list[int], n_values: int, values: ValueRange) -> list[FloatArray]:
    """Return the changes of one round's values that can have the largest loss, each `(n_values,)`.

    The loss is convex in the change, so the extreme points of all differences of two rows suffice: all signs if every
    value has its own range, single values in the L1 norm. A change and its negative lose the same.
    """
    changes = []
    if values.norm == "l1":
        for coordinate in seen:
            changes.append(np.eye(n_values)[coordinate] * values.norm_distance)
        return changes
    if len(seen) > MOST_SIGNS:
        raise NotAuditedError(f"a round reveals {len(seen)} values, and all signs are tried for {MOST_SIGNS} at most")
    for signs in itertools.product((1.0, -1.0), repeat=max(len(seen) - 1, 0)):
        change = np.zeros(n_values)
        change[seen] = np.array([1.0, *signs])[: len(seen)] * values.width
        changes.append(change)
    return changes


def cheapest_change(noise_map: LinearNoise, move: FloatArray) -> FloatArray | None:
    """Return the cheapest change of the draws, in their scales, that moves the releases by `move`; or None.

    Cheapest is the least sum of absolute values for Laplace draws, and least squares for normal draws.
    """
    if not move.any():
        return np.zeros(noise_map.noise.shape[1])
    if not noise_map.noise.size:
        return None
    # Equal rows say the same; rows of unit size make one tolerance fit all.
    both = np.column_stack([noise_map.noise, move])
    both = both[np.abs(both).max(axis=1) > 0]
    both = both / np.abs(both[:, :-1]).max(axis=1, keepdims=True, initial=1e-300)
    noise, target = both[:, :-1], both[:, -1]
    if not np.isfinite(target).all() or np.abs(target).max() > 1e200:
        return None
    change, _, rank, _ = np.linalg.lstsq(noise, target, rcond=1e-10)
    if np.abs(noise @ change - target).max() > SAME * (1 + np.abs(target).max()):
        return None
    if noise_map.kind == "normal" or rank == noise.shape[1]:
        return np.asarray(change)
    return _linear_programme(noise, target)


def _linear_programme(noise: FloatArray, target: FloatArray) -> FloatArray:
    """Return the r with noise r = target and the least sum of |r_i|."""
    optimize = require("scipy.optimize", extra="audits")
    draws = noise.shape[1]
    answer = optimize.linprog(
        np.ones(2 * draws), A_eq=np.hstack([noise, -noise]), b_eq=target, bounds=(0, None), method="highs-ds"
    )
    if answer.status != 0:
        raise NotAuditedError(f"the linear programme was not solved ({answer.message})")
    change: FloatArray = answer.x[:draws] - answer.x[draws:]
    return change


POINTS = 2**16
"""Points of the grid between 0 and the sum of all moves."""
FLOOR = 1e-13
"""What rounding errors of the transforms may add to delta."""


def epsilon_of_moves(moves: FloatArray, delta: float) -> float:
    r"""Return an epsilon that holds at delta, at most a hundredth above the smallest for a few hundred draws.

    If a change is compensated only by moving draw i by :math:`r_i` scales, the privacy loss is the sum of
    :math:`|z_i + r_i| - |z_i|`, which are independent. Each lies in [-r, r], is r with probability 1/2, and at most l <
    r with probability :math:`e^{(l - r) / 2} / 2`. They are rounded up to a grid and added by Fourier transforms.
    """
    distances = np.abs(moves[moves != 0])
    pure = float(distances.sum())
    if not pure:
        return 0.0
    step = pure / POINTS
    size = 2 ** math.ceil(math.log2(2 * (POINTS + 2 * len(distances)) + 2))
    product = np.ones(size // 2 + 1, complex)
    offset = 0
    for distance in distances:
        steps = math.ceil(distance / step)
        ends = np.arange(-steps, steps) * step
        cumulative = np.concatenate([[0.0], np.exp((np.maximum(ends, -distance) - distance) / 2) / 2, [1.0]])
        product *= np.fft.rfft(np.diff(cumulative), size)
        offset += steps
    chances = np.maximum(np.fft.irfft(product, size), 0.0)[: 2 * offset + 1]
    losses = (np.arange(len(chances)) - offset) * step

    def rest(epsilon: float) -> float:
        above = losses > epsilon
        return float((chances[above] * -np.expm1(epsilon - losses[above])).sum()) + FLOOR

    low, high = 0.0, pure
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (low, middle) if rest(middle) <= delta else (middle, high)
    return high


def dominates(larger: FloatArray, smaller: FloatArray) -> bool:
    """Whether one change moves every draw at least as far as another, in some order: then it loses more."""
    first, second = (np.sort(np.abs(moves))[::-1] for moves in (larger, smaller))
    return bool((first >= second * (1 - 1e-12)).all())


def losses_at_delta(rows: list[RowLoss], delta: float) -> FloatArray:
    """Return the loss of each round at a delta, for Laplace draws and the worst changes at delta = 0."""
    known_losses: list[tuple[FloatArray, float]] = []
    losses = np.zeros(len(rows))
    for t in sorted(range(len(rows)), key=lambda t: -rows[t].loss):
        draws = rows[t].draws
        assert draws is not None
        loss = next((loss for moves, loss in known_losses if dominates(moves, draws)), None)
        if loss is None:
            loss = epsilon_of_moves(draws, delta)
            known_losses.append((draws, loss))
        # A round that another one dominates loses at most as much as that one, and at most what it does at 0.
        losses[t] = min(loss, rows[t].loss)
    return losses


def true_losses_of_rows(noise_map: LinearNoise, rows: list[RowLoss], *, independent: bool) -> list[TrueLoss]:
    """Return the losses of all rounds, without dominated rounds.

    If draws are not `independent` given the releases, other draws may compensate a change, too: then only the largest
    log ratio of Laplace draws is known.
    """
    most = max(row.loss for row in rows)
    if math.isinf(most) or not independent:
        return [TrueLoss(math.inf if most > 0 else 0.0) if noise_map.kind == "normal" else loss_of_pure(most)]
    worst: list[FloatArray] = []
    for row in sorted(rows, key=lambda row: -row.loss):
        assert row.draws is not None
        if not any(dominates(each, row.draws) for each in worst):
            worst.append(row.draws)
    if noise_map.kind == "normal":
        return [loss_of(DominatingNoise(gaussian=float((draws**2).sum()))) for draws in worst]
    terms = [np.abs(draws)[np.abs(draws) > SMALLEST * np.abs(draws).max(initial=0.0)] for draws in worst]
    return [loss_of(DominatingNoise(tuple((float(each), 1) for each in moved))) for moved in terms]


FAR = 30.0
"""The largest examined draws, in scales; fast Laplace draws can be larger."""
NORMAL_FAR = 8.0
"""Beyond this number of standard deviations, the loss is negligible."""
PAIRS = 12
"""How many pairs of random tables with the same noisy numbers are compared."""
TINY = 2.0**-16
"""How near to a gain, in scales, Laplace noise must be shown."""
HALVINGS = 60
"""Of an interval, until its ends are equal but for rounding."""
LARGEST = 700.0
"""Larger losses are infinite."""


def check_hidden(game: FixedGame, rows: list[RowLoss]) -> None:
    """Check that releases depend on gains only through noisy numbers: on random tables, at 0 and 1, and large draws."""
    values = game.layers[0][1].values
    changes = np.array([row.change for row in rows])
    is_hidden = np.array([row.draws is not None for row in rows])
    number = max((len(row.draws) for row in rows if row.draws is not None), default=0)
    hiding = np.array([np.zeros(number) if row.draws is None else row.draws for row in rows])
    rng = np.random.default_rng(0)

    def check(first: FloatArray, second: FloatArray, draws: FloatArray, what: str) -> None:
        """Compare two tables: each round at a position from -1 to 1 between the ends of its change."""
        second = np.where(is_hidden, second, first)
        middle = (values.low + values.high) / 2
        tables = [middle + place[:, np.newaxis] / 2 * changes for place in (first, second)]
        released = game.play(tables[0], FakeDraws(draws.tolist()))
        released_again = game.play(tables[1], FakeDraws((draws - (second - first) / 2 @ hiding).tolist()))
        if not _same_releases(released, released_again):
            raise NotAuditedError(f"{what} do not hide a gain, so its noise is cut, or depends on gains")

    whole = np.ones(len(rows))
    for pair in range(PAIRS):
        # Zeros and ones against other tables, then random ones against each other; at the ends of the range, or inside.
        first, second = rng.integers(-(2**20), 2**20, (2, len(rows))) / 2**20
        first = (-whole, whole)[pair] if pair < 2 else first
        if pair % 4 < 2:
            first, second = np.copysign(1.0, first), np.copysign(1.0, second)
        check(first, second, rng.normal(0.0, 2.0, number), "the same noisy numbers")
    # Rounds compensated by the same draws, such as the rounds of a block, are examined once.
    for t in {draws.tobytes(): t for t, draws in enumerate(hiding) if draws.any()}.values():
        ends = np.zeros((2, len(rows)))
        ends[:, t] = -1, 1
        for side in (1.0, -1.0):
            far = side * np.sign(hiding[t]) * (FAR + 2 * np.abs(hiding[t]).max())
            check(ends[0], ends[1], far, f"draws {FAR:g} scales out")


def _same_releases(first: GameReleases, second: GameReleases) -> bool:
    alike = first.requests == second.requests and first.positions == second.positions
    return alike and nearly_equal(second.values, first.values)


def _table(game: FixedGame, t: int, change: FloatArray) -> FloatArray:
    """Return gains in the middle of the range, except round t at the lower end of its change."""
    values = game.layers[0][1].values
    gains = np.full((len(game.revealed), len(change)), (values.low + values.high) / 2)
    gains[t] -= change / 2
    return gains


def attains_loss(game: FixedGame, noise_map: LinearNoise, t: int, row: RowLoss) -> bool:
    """Whether the releases determine the noisy numbers with the largest loss of round t, so that its loss is attained.

    For Laplace draws these are all numbers at or beyond the gains, seen from the other gains; for normal draws, all
    numbers up to `NORMAL_FAR` standard deviations. Releases determine them if they follow a small change of any draw.
    """
    if row.draws is None or not row.draws.any():
        return True
    if noise_map.kind == "normal":
        direction = row.draws / np.abs(row.draws).max()
        points = [height * direction for height in (-NORMAL_FAR, -NORMAL_FAR / 4, NORMAL_FAR / 4, NORMAL_FAR)]
        return all(_releases_follow(game, noise_map, _table(game, t, row.change), point) for point in points)
    sides = [(row.change, np.sign(row.draws)), (-row.change, -np.sign(row.draws))]
    return any(
        _releases_follow(game, noise_map, _table(game, t, change), height * towards)
        for change, towards in sides
        for height in (TINY, -TINY)
    )


def _releases_follow(game: FixedGame, noise_map: LinearNoise, gains: FloatArray, draws: FloatArray) -> bool:
    """Whether a small change of all draws at once moves the releases as the map predicts."""
    small = TINY / 4 * np.cos(1 + np.arange(len(draws)))
    first, second = (game.play(gains, FakeDraws(each.tolist())) for each in (draws, draws + small))
    if (
        first.requests != second.requests
        or first.positions != second.positions
        or len(first.values) != len(noise_map.noise)
    ):
        return False
    expected = noise_map.noise @ small
    return bool(np.abs(second.values - first.values - expected).max() <= 1e-4 * np.abs(expected).max())


def clipped_draws(
    game: FixedGame, noise_map: LinearNoise, t: int, row: RowLoss
) -> list[tuple[float, float, float]] | None:
    """Return the shift of each draw by round t, and the ends between which its release follows it; None if unknown."""
    if row.draws is None:
        return None
    gains, clipped = _table(game, t, row.change), []
    for draw in np.flatnonzero(row.draws):
        releases = np.flatnonzero(noise_map.noise[:, draw])
        if len(releases) != 1 or np.count_nonzero(noise_map.noise[releases[0]]) != 1:
            return None
        distance = float(row.draws[draw])
        ends = _clip_ends(game, gains, int(draw), int(releases[0]), distance)
        if ends is None:
            return None
        low, high = ends if distance > 0 else (ends[0] - distance, ends[1] - distance)
        clipped.append((abs(distance), low, high))
    return clipped


def clipped_loss(kind: str, draws: list[tuple[float, float, float]] | None, delta: float) -> float | None:
    """Return the exact loss at delta of draws that are clipped between two ends; None if unknown."""
    if draws is None or (len(draws) > 1 and delta > 0):
        return None
    return sum((loss_between(kind, *each, delta) for each in draws), 0.0)


def clipped_true_loss(kind: str, draws: list[tuple[float, float, float]]) -> TrueLoss:
    """Return the loss of clipped draws; for several draws, only the pure loss is known."""
    pure = sum(loss_between(kind, *each, 0.0) for each in draws)
    if len(draws) != 1:
        return loss_of_pure(pure)
    return TrueLoss(pure, SHARES * min(pure, LARGEST), lambda epsilon: delta_between(kind, *draws[0], epsilon))


def _clip_ends(
    game: FixedGame, gains: FloatArray, draw: int, release: int, distance: float
) -> tuple[float, float] | None:
    """Return the ends of the interval on which a release is linear in its draw; None if it is not constant outside."""
    heights = [0.0] * (draw + 1)

    def released(height: float) -> float:
        heights[draw] = height
        game_releases = game.play(gains, FakeDraws(heights))
        return float(game_releases.values[release]) if len(game_releases.values) > release else math.nan

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
    """Return the loss at delta of 0 or `distance` > 0, plus a draw, clipped to [low, high]; all in scales."""
    if delta == 0.0:
        return max(_log_ratio(kind, distance, end) for end in (low, distance - high))
    least, most = 0.0, LARGEST
    for _ in range(100):
        epsilon = (least + most) / 2
        too_small = delta_between(kind, distance, low, high, epsilon) > delta
        least, most = (epsilon, most) if too_small else (least, epsilon)
    return most


def _log_ratio(kind: str, distance: float, low: float) -> float:
    """Return the largest log ratio of the event that the number is at most c, over c of at least `low`."""
    # The ratio falls with c; that of Laplace draws is the same for all c up to 0.
    c = max(low, -FAR) if kind == "laplace" else low
    probability, neighbours_probability = draw_cdf(kind, c), draw_cdf(kind, c - distance)
    return math.log(probability / neighbours_probability) if neighbours_probability > 0 else math.inf


def delta_between(kind: str, distance: float, low: float, high: float, epsilon: float) -> float:
    """Return the delta at epsilon, at most `LARGEST`, for the mechanism of `loss_between`."""
    best = (distance - epsilon) / 2 if kind == "laplace" else distance / 2 - epsilon / distance
    if kind == "laplace" and epsilon >= distance:
        best = -math.inf
    # The event that the number is large is that it is small, seen from the other end.
    cuts = [min(max(best, low), high) for low, high in ((low, high), (distance - high, distance - low))]
    return max(draw_cdf(kind, c) - math.exp(epsilon) * draw_cdf(kind, c - distance) for c in cuts)


def draw_cdf(kind: str, number: float) -> float:
    """Return the probability that a draw of scale 1 is at most a number."""
    if kind == "normal":
        return math.erfc(-number / math.sqrt(2)) / 2
    return math.exp(number) / 2 if number < 0 else 1 - math.exp(-number) / 2
