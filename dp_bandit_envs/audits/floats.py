"""Releases that reveal a gain through the spacing of floating-point numbers, whatever epsilon is.

The audit assumes only that draws lie within `REACH` and that releases are monotone in them.
"""

import dataclasses
import functools
import math
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple, SupportsFloat, SupportsIndex

import numpy as np

from dp_bandit_envs import checks
from dp_bandit_envs.algorithms import Algorithm
from dp_bandit_envs.algorithms.specs import Player
from dp_bandit_envs.audits.events import clopper_pearson
from dp_bandit_envs.audits.fixed_play import (
    FakeDraws,
    FixedGame,
    algorithm_or_mechanism,
    check_repeats,
    default_game,
    first_release,
    fixed_game,
    fixed_plays,
    layers_of_game,
)
from dp_bandit_envs.draws import Stream
from dp_bandit_envs.errors import NotAuditedError
from dp_bandit_envs.privacy.mechanism import Mechanism
from dp_bandit_envs.privacy.secure_draws import takes_no_seed
from dp_bandit_envs.protocols import FloatArray
from dp_bandit_envs.wrappers import PrivacyBoundary

OTHERS = 40
"""Number of redraws of a release's other draws, before these count as a possible explanation."""
MOST_NUMBERS = 16
"""The most releases of a game to examine; all of a game of 16 rounds."""
FIRST_NUMBERS = 4
"""Of more releases, these and the last are always examined; the others are drawn."""
LITTLE = 0.1
LOOKS = 33
"""At how many places it is checked that a release rises or falls with its draw."""
MOST_STEPS = 2_000_000
"""Approximate limit on the number of released gains: games with a late first release are examined less often."""
REACH: Final = {
    "laplace": (-45.0, 45.0),
    "normal": (-45.0, 45.0),
    "standard_normal": (-45.0, 45.0),
    "standard_exponential": (0.0, 45.0),
    "exponential": (0.0, 45.0),
    "standard_gamma": (0.0, 1000.0),
    "random": (0.0, 1.0 - 2.0**-53),
}
"""Between which numbers draws of scale 1 lie, by the generator's method; wider does no harm."""


@dataclasses.dataclass(frozen=True)
class FloatLoss:
    """How often a release rules the other gain out with certainty.

    Attributes:
        name: The mechanism's or algorithm's name.
        impossible: Number of releases of a gain at one end of its range that no draw can produce from the other end.
        games: Number of releases examined.
        delta: With the confidence, no finite epsilon holds with a delta below this; at least 0.
        declared_delta: The declared delta, including fast draws.
        numbers: The releases of a game that were examined, from 1; releases that cannot be analysed are left out.
        releases: Number of releases of a game.
    """

    name: str
    impossible: int
    games: int
    delta: float
    declared_delta: float
    numbers: tuple[int, ...] = (1,)
    releases: int = 1

    @property
    def holds(self) -> bool:
        """Whether the lower bound on delta is within the declared delta."""
        return self.delta <= self.declared_delta


@checks.answers_wrong_calls
def float_loss(
    part: Player | Mechanism,
    *,
    games: SupportsIndex = 1000,
    confidence: SupportsFloat = 0.99,
    horizon: SupportsIndex = 16,
    seed: int = 0,
) -> FloatLoss:
    """Release the smallest gain many times, and look for a draw that gives the same number from the largest gain.

    The game is played up to each of its releases in turn; of more than 16, up to the first four, the last and eleven
    random releases (by the seed). If a release is a monotone function of one draw, bisection over all doubles finds a
    draw that gives a number, if one exists. Fast draws are fewer, so more releases may be impossible than are counted.
    In every second game of each release the two gains are swapped.

    Args:
        part: A mechanism, an algorithm, or its name, as for `play`.
        games: Number of releases, at least 1; fewer are examined if the first release is late.
        confidence: In (0, 1).
        horizon: Number of rounds of the game; without a release, a longer game is played.
        seed: The seed of the draws.

    Raises:
        NotAuditedError: If the first release has draws of another kind, or several that might explain it; later
            releases are then left out.
        ImportError: If SciPy is needed and missing (extra `audits`).

    Source: Mironov (2012), On Significance of the Least Significant Bits For Differential Privacy.
    """
    number, rounds = checks.integer("games", games, at_least=1), checks.integer("horizon", horizon, at_least=1)
    sure = checks.probability("confidence", confidence)
    subject = algorithm_or_mechanism(part)
    name = subject.name if isinstance(subject, Algorithm) else type(subject).__name__
    env = default_game(subject, 2, rounds, seed)
    layers = layers_of_game(subject.wrap(env) if isinstance(subject, Algorithm) else PrivacyBoundary(env, subject))
    if not layers or (isinstance(subject, Algorithm) and subject.own_guarantee is not None):
        raise NotAuditedError(f"{name} is to hide gains from those who see its arms, which have no low bits.")
    if any(takes_no_seed(mechanism) for mechanism, _ in layers):
        raise NotAuditedError(f"{name} has secure draws, which are exact: nothing is impossible.")
    try:
        fixed_play = first_release(
            subject, fixed_plays(subject, env, seed), seed, lambda t: default_game(subject, 2, t, seed)
        )
        if fixed_play is None:
            raise NotAuditedError(f"nothing was released in {rounds:,} rounds, nor in longer games")
        count = count_impossible(fixed_game(fixed_play, seed), number, seed)
    except NotAuditedError as error:
        raise NotAuditedError(f"{name}: {error}.") from None
    delta = clopper_pearson(count.impossible, count.looked_at, 1 - sure)[0] if count.impossible else 0.0
    declared = fixed_play.wrapping(fixed_play.env).get_wrapper_attr("guarantee")
    return FloatLoss(
        name,
        impossible=count.impossible,
        games=count.looked_at,
        delta=delta,
        declared_delta=declared.delta_at(declared.epsilon),
        numbers=count.numbers,
        releases=count.releases,
    )


class ImpossibleCount(NamedTuple):
    """The number of releases that rule out one of the two gains; other fields as in `FloatLoss`."""

    impossible: int
    looked_at: int
    numbers: tuple[int, ...]
    releases: int


def count_impossible(game: FixedGame, games: int, seed: int) -> ImpossibleCount:
    """Examine this many releases, equally many of each number; later releases that cannot be analysed are left out.

    Raises:
        NotAuditedError: See `float_loss`.
    """
    check_repeats(game)
    looked_at = min(games, max(20, MOST_STEPS // (40 * len(game.revealed))))
    chosen, releases = _releases_of(game, seed)
    count = ImpossibleCount(0, 0, (), releases)
    for position, (number, release) in enumerate(chosen.items()):
        share = range(position, looked_at, len(chosen))
        if not share:
            break
        try:
            hits = sum(_is_impossible(release, trial, seed, turn) for turn, trial in enumerate(share))
        except NotAuditedError:
            if position == 0:
                raise
            continue
        count = ImpossibleCount(
            count.impossible + hits, count.looked_at + len(share), (*count.numbers, number), releases
        )
    return count


def _is_impossible(release: "_Release", trial: int, seed: int, turn: int) -> bool:
    """Whether the other table cannot produce the release of a game; the tables are swapped in every second turn."""
    rng = Stream(np.random.SFC64([seed, trial]))
    table, neighbour = release.tables if turn % 2 == 0 else release.tables[::-1]
    draws = RecordedDraws(rng=rng)
    released = release.released(table, draws)
    return math.isfinite(released) and not _is_possible(release, neighbour, released, draws.drawn, rng)


class Draw(NamedTuple):
    """A draw and the interval that contains it."""

    value: float
    low: float
    high: float


class RecordedDraws(FakeDraws):
    """A random generator that returns given draws unchanged, and then real draws; it records all.

    Args:
        first: The first draws.
        rng: Generator of further draws; None for none.
    """

    def __init__(self, first: Sequence[float] = (), rng: Any = None) -> None:
        super().__init__()
        self._first, self._rng = first, rng
        self.drawn: list[Draw] = []

    def exponential(self, scale: float = 1.0) -> float:
        """Return a draw."""
        return self._draw("exponential", 0.0, scale, scale)

    def standard_gamma(self, shape: float) -> float:
        """Return a draw."""
        return self._draw("standard_gamma", 0.0, 1.0 + shape, shape)

    def __getattr__(self, kind: str) -> Callable[[], float]:
        """Return a method that draws one number and has no parameters."""
        if kind not in REACH:
            raise NotAuditedError(f"its release has draws of the kind {kind}")
        return functools.partial(self._draw, kind, 0.0, 1.0)

    def _draw(self, kind: str, loc: float, scale: float, *parameters: float) -> float:
        number = len(self.drawn)
        if number < len(self._first):
            value = self._first[number]
        elif self._rng is None:
            raise NotAuditedError("how many draws its release has depends on gains or noise")
        else:
            value = float(getattr(self._rng, kind)(*parameters))
        low, high = REACH[kind]
        self.drawn.append(Draw(value, loc + low * scale, loc + high * scale))
        return value


class _Release(NamedTuple):
    """A game up to one release, its step and value index, and two tables that differ in one of its gains."""

    game: FixedGame
    step: int
    value_index: int
    tables: tuple[FloatArray, FloatArray]

    def released(self, table: FloatArray, draws: RecordedDraws) -> float:
        """Return the release, or nan if it is withheld."""
        releases = self.game.play(table, draws)
        numbers = zip(releases.positions, releases.values, strict=True)
        return float(next((number for position, number in numbers if position[:2] == self[1:3]), math.nan))


def chosen_numbers(releases: int, seed: int) -> list[int]:
    """Return the numbers, from 1, of a game's releases to examine: all, if they are few."""
    numbers = range(1, releases + 1)
    if releases <= MOST_NUMBERS:
        return list(numbers)
    drawn = np.random.default_rng(seed).permutation(numbers[FIRST_NUMBERS:-1])[: MOST_NUMBERS - FIRST_NUMBERS - 1]
    return sorted([*numbers[:FIRST_NUMBERS], *drawn.tolist(), releases])


def _releases_of(game: FixedGame, seed: int) -> tuple[dict[int, _Release], int]:
    """Return the game up to each examined release, by its number from 1, and the number of releases."""
    inputs = game.layers[0][1]
    values, step_rounds = inputs.values, math.prod(mechanism.batch_size for mechanism, _ in game.layers)
    for end in (values.low, values.high):
        gains = np.full((len(game.revealed), inputs.n_values), end)
        if positions := game.play(gains, Stream(np.random.SFC64(seed))).positions:
            break
    else:
        raise NotAuditedError(f"nothing was released in {len(game.revealed):,} rounds")
    chosen = {}
    for number in chosen_numbers(len(positions), seed):
        step, value_index, _ = positions[number - 1]
        rounds = game.revealed[: (step + 1) * step_rounds]
        changed = max((t for t, seen in enumerate(rounds) if value_index in seen), default=len(rounds) - 1)
        low, high = gains[: len(rounds)].copy(), gains[: len(rounds)].copy()
        low[changed, value_index], high[changed, value_index] = values.low, values.high
        chosen[number] = _Release(FixedGame(game.layers, rounds, on_grid=True), step, value_index, (low, high))
    return chosen, len(positions)


def _is_possible(game_to_release: _Release, table: FloatArray, released: float, draws: list[Draw], rng: Stream) -> bool:
    """Whether a table can release this number if one draw is changed.

    Raises:
        NotAuditedError: If no such draw is found, but other changes may exist.
    """
    by_one = 0
    for index in reversed(range(len(draws))):
        release = _as_function_of_draw(game_to_release, table, draws, index)
        if _changes_nothing(release, draws[index], released):
            continue
        if _some_draw_releases(release, draws[index], released):
            return True
        direction = _direction(release, draws[index])
        if direction == 0:
            continue
        by_one += 1 if direction in (-1, 1) else 2
    if by_one == 1:
        return False
    for _ in range(OTHERS if by_one else 0):
        fresh = RecordedDraws(rng=rng)
        game_to_release.released(table, fresh)
        for index in reversed(range(len(fresh.drawn))):
            if _some_draw_releases(
                _as_function_of_draw(game_to_release, table, fresh.drawn, index), fresh.drawn[index], released
            ):
                return True
    if by_one == 0:
        return False
    raise NotAuditedError("no single draw explains its release, which has several, or rises and falls with one")


def _as_function_of_draw(
    game_to_release: _Release, table: FloatArray, draws: list[Draw], index: int
) -> Callable[[float], float]:
    numbers = [draw.value for draw in draws]

    def release(number: float) -> float:
        numbers[index] = number
        return game_to_release.released(table, RecordedDraws(numbers))

    return release


def _direction(release: Callable[[float], float], draw: Draw) -> int:
    """Return 1 or -1 if a release rises or falls with a draw, 0 if it does not depend on it, and 2 for both."""
    near = (draw.high - draw.low) * np.geomspace(1e-4, 0.1, LOOKS // 3)
    numbers = np.concatenate([np.linspace(draw.low, draw.high, LOOKS), draw.value - near, draw.value + near])
    seen = np.array([release(float(each)) for each in np.sort(np.clip(numbers, draw.low, draw.high))])
    steps = np.diff(seen[np.isfinite(seen)])
    rises, falls = bool((steps > 0).any()), bool((steps < 0).any())
    return 2 if rises and falls else int(rises) - int(falls)


def _changes_nothing(release: Callable[[float], float], draw: Draw, released: float) -> bool:
    """Whether a draw seems to have no effect, as most earlier draws; a quick test before slower ones."""
    numbers = (draw.low, (draw.low + draw.high) / 2, draw.high, draw.value - LITTLE, draw.value, draw.value + LITTLE)
    seen = [repr(release(min(max(number, draw.low), draw.high))) for number in numbers]  # nan, if withheld, is like nan
    return len({*seen}) == 1 and seen[0] != repr(released)


def _some_draw_releases(release: Callable[[float], float], draw: Draw, released: float) -> bool:
    """Whether some draw releases this number, if releases rise with draws, or if they fall."""
    centre = (draw.low + draw.high) / 2
    for sign in (1, -1):
        low, high = draw.low, draw.high
        while low < (middle := (low + high) / 2) < high:
            number = release(middle)
            if number == released:
                return True
            # Where a number is withheld for being outside, it is outside on the side of the draw.
            too_small = middle < centre if math.isnan(number) else sign * number < sign * released
            low, high = (middle, high) if too_small else (low, middle)
        if released in (release(low), release(high)):
            return True
    return False
