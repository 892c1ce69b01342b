"""A game with fixed arms: the mechanisms' releases for given gains and noise, and how such games are found."""

import copy
import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import gymnasium as gym
import numpy as np

from dp_bandit_envs import checks
from dp_bandit_envs.adversaries import GainTable
from dp_bandit_envs.algorithms import Algorithm
from dp_bandit_envs.algorithms.specs import build_algorithm
from dp_bandit_envs.draws import Stream
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.envs.experts_env import ExpertsEnv
from dp_bandit_envs.errors import NotAuditedError, NothingReleasedError, WrongTypeError
from dp_bandit_envs.privacy.facts import InputFacts
from dp_bandit_envs.privacy.mechanism import Mechanism
from dp_bandit_envs.protocols import Environment, FloatArray, plays_points
from dp_bandit_envs.simulation import play
from dp_bandit_envs.wrappers import PrivacyBoundary
from dp_bandit_envs.wrappers.layers import layers_of

Layer = tuple[Mechanism, InputFacts]
LONGEST = 2**17
"""The longest game in the search for a first release."""


NO_PART = (
    "an audit is of an algorithm, its name, or a mechanism; received {}. Put your wrapper into"
    " dp_bandit_envs.Algorithm('mine', dp_bandit_envs.agents.Uniform, lambda env: MyWrapper(env, ...))."
)


class FakeDraws:
    """A random generator whose draw number i is `heights[i]` times its scale, and 0 beyond them; it keeps the scales.

    Attributes:
        requests: The kind (`"laplace"` or `"normal"`) and the scale of each draw.
    """

    def __init__(self, heights: Sequence[float] = ()) -> None:
        self._heights = heights
        self.requests: list[tuple[str, float]] = []

    def laplace(self, loc: float = 0.0, scale: float = 1.0) -> float:
        """Return the location plus the draw's height times its scale."""
        return self._draw("laplace", loc, scale, loc, scale)

    def laplaces(self, numbers: FloatArray, scale: float) -> None:
        """Write draws."""
        for index in range(len(numbers)):
            numbers[index] = self.laplace(0.0, scale)

    def normal(self, loc: float = 0.0, scale: float = 1.0) -> float:
        """Return the location plus the draw's height times its scale."""
        return self._draw("normal", loc, scale, loc, scale)

    def _draw(self, kind: str, loc: float, scale: float, *parameters: float) -> float:
        number = len(self.requests)
        self.requests.append((kind, float(scale)))
        return loc + (self._heights[number] * scale if number < len(self._heights) else 0.0)

    def __getattr__(self, name: str) -> Any:
        raise UnknownDrawError(name)


class UnknownDrawError(Exception):
    """A mechanism requested a draw other than Laplace or normal; the only argument is the method's name."""


class GameReleases(NamedTuple):
    """All releases of one game.

    Attributes:
        values: The released numbers in their order, `(releases,)`.
        positions: Step, value and count of each; public, so it must not depend on gains or noise.
        requests: Kind and scale of each draw.
    """

    values: FloatArray
    positions: list[tuple[int, int, int]]
    requests: list[tuple[str, float]]


class FixedGame:
    """One game with fixed arms: gains and noise do not affect which values each round reveals.

    Args:
        layers: Each mechanism with the facts about its input, from the innermost.
        revealed: The numbers of the values that each round reveals.
        on_grid: Whether to round released numbers to the grid, as in a real game.
    """

    def __init__(self, layers: Sequence[Layer], revealed: Sequence[Sequence[int]], *, on_grid: bool = False) -> None:
        self.layers, self.revealed = list(layers), [list(each) for each in revealed]
        self.on_grid = on_grid

    def play(self, gains: FloatArray, rng: Any) -> GameReleases:
        """Return the releases for gains `(rounds, n_values)`, with one generator for all layers or one per layer.

        Raises:
            NotAuditedError: If a mechanism that is given `FakeDraws` fails; with true draws its own error is raised.
        """
        try:
            return self._play(gains, rng)
        except (NotAuditedError, UnknownDrawError):
            raise
        except Exception as error:
            if not isinstance(rng, FakeDraws):
                raise
            # All gains that are played with such draws are made up, so that its words show no private gain.
            what = f"{checks.kind_of(error)} ({error})"
            raise NotAuditedError(f"it fails with draws in place of the generator's own: {what}") from error

    def _play(self, gains: FloatArray, rng: Any) -> GameReleases:
        run = _FixedRun(self, gains, rng)
        numbers: list[float] = []
        positions: list[tuple[int, int, int]] = []
        step = 0
        while run.round < len(self.revealed):
            for index, (number, count) in sorted(run.step(len(self.layers) - 1).items()):
                numbers.append(number)
                positions.append((step, index, count))
            step += 1
        return GameReleases(np.array(numbers), positions, list(getattr(rng, "requests", ())))


class _FixedRun:
    """One pass through a fixed game, driven as `PrivacyBoundary` drives it."""

    def __init__(self, game: FixedGame, gains: FloatArray, rng: Any) -> None:
        self._game, self._gains = game, gains.tolist()
        self._rngs = rng if isinstance(rng, list) else [rng] * len(game.layers)
        self._mechanisms = [copy.deepcopy(mechanism) for mechanism, _ in game.layers]
        states = [each.new_state(inputs) for each, (_, inputs) in zip(self._mechanisms, game.layers, strict=True)]
        self._states = states if game.on_grid else [without_grid(state) for state in states]
        self.round = 0

    def step(self, depth: int) -> dict[int, tuple[float, int]]:
        """Play one step of a layer; return each value that it released, with its count."""
        if depth < 0:
            row, seen = self._gains[self.round], self._game.revealed[self.round]
            self.round += 1
            return {index: (row[index], 1) for index in seen}
        mechanism, state, inputs = self._mechanisms[depth], self._states[depth], self._game.layers[depth][1]
        rng = self._rngs[depth]
        released: dict[int, tuple[float, int]] = {}
        for _ in range(mechanism.batch_size):
            revealed = self.step(depth - 1)
            for index in range(inputs.n_values):
                if index in revealed:
                    number, count = mechanism.release(state, index, revealed[index][0], rng)
                elif mechanism.idle is not None and revealed:
                    number, count = mechanism.idle(state, index, rng)
                else:
                    continue
                if count >= 1:
                    released[index] = (float(number), int(count))
            if self.round == len(self._game.revealed):
                break
        if mechanism.forget is not None:
            mechanism.forget(state)
        return released


def without_grid(state: Any) -> Any:
    """Return a state whose fields `grid` and `grids`, if it has any, are 0: releases are then not rounded.

    Rounding a noisy number is post-processing, so the loss before rounding is an upper bound on the loss after it.
    """
    fields = getattr(state, "_fields", ())
    zeros: dict[str, Any] = {name: np.zeros_like(getattr(state, name)) for name in ("grids",) if name in fields}
    zeros |= {name: without_grid(getattr(state, name)) for name in fields if hasattr(getattr(state, name), "_fields")}
    if "grid" in fields:
        zeros["grid"] = 0.0
    return state._replace(**zeros) if zeros else state


def layers_of_game(env: Environment) -> list[Layer]:
    """Return the mechanisms of an environment's privacy wrappers with the facts about their input, innermost first."""
    return [(one.mechanism, one.inputs) for one in layers_of(env) if isinstance(one, PrivacyBoundary)][::-1]


class FixedPlay(NamedTuple):
    """One game with fixed actions.

    Attributes:
        wrapping: Puts the privacy wrappers around an environment.
        player: The player, for the streams of the noise.
        env: The game without wrappers.
        layers: Their mechanisms, with the facts about their input, innermost first.
        arms: The arm of each round; for points, one fixed point.
    """

    wrapping: Callable[[Environment], Environment]
    player: str
    env: Environment
    layers: list[Layer]
    arms: tuple[int, ...]

    @property
    def plays(self) -> Any:
        """The arm of each step above, `(steps,)`, or the point of all steps, `(dimension,)`."""
        if plays_points(self.env):
            inside = self.env.get_wrapper_attr("decision_set")
            return inside.project(np.linspace(0.5, 0.1, inside.dimension))
        rounds = math.prod(mechanism.batch_size for mechanism, _ in self.layers)
        return np.array(self.arms[::rounds], np.int64)

    def at(self, step: int) -> Any:
        """Return the play of a step."""
        return self.plays if plays_points(self.env) else int(self.plays[step])


def algorithm_or_mechanism(asked: Any) -> Algorithm | Mechanism:
    """Return the part that is audited: an algorithm, also by its name, or a mechanism."""
    if isinstance(asked, (Algorithm, Mechanism)):
        return asked
    try:
        return build_algorithm(asked)
    except WrongTypeError:
        raise WrongTypeError(NO_PART.format(checks.kind_of(asked))) from None


def default_game(subject: Algorithm | Mechanism, n_arms: int, horizon: int, seed: int) -> Environment:
    """Return random gains in [0, 1], all revealed if the algorithm needs them all; or the ball in two dimensions."""
    if isinstance(subject, Algorithm) and subject.make_agent is None:
        seen = "bandit" if subject.feedback == "payoff" else "full"
        game: Environment = gym.make("DPBandit-Ball-v0", dimension=2, horizon=horizon, feedback=seen)
        return game
    gains = GainTable(np.random.default_rng(seed).random((horizon, n_arms)))
    return (
        ExpertsEnv(gains=gains) if isinstance(subject, Algorithm) and subject.feedback == "full" else BanditEnv(gains)
    )


def fixed_plays(subject: Algorithm | Mechanism, env: Environment, seed: int) -> list[FixedPlay]:
    """Return a game with the arms that the algorithm plays in it; for a mechanism, one arm only, and arms in turn."""
    if isinstance(subject, Algorithm):
        arms = tuple(play(env, subject, seed=seed).arms.tolist())
        return [FixedPlay(subject.wrapping, subject.player, env, layers_of_game(subject.wrap(env)), arms)]
    layers = layers_of_game(PrivacyBoundary(env, subject))
    rounds = int(env.get_wrapper_attr("horizon"))
    n_arms = 1 if plays_points(env) else int(env.get_wrapper_attr("n_arms"))
    tries = [tuple([0] * rounds), tuple((t // subject.batch_size) % n_arms for t in range(rounds))]
    return [FixedPlay(lambda game: PrivacyBoundary(game, subject), "", env, layers, arms) for arms in tries]


def fixed_game(play: FixedPlay, seed: int) -> FixedGame:
    """Return the values that each round of a fixed game reveals, by playing its arms again."""
    if plays_points(play.env):
        return FixedGame(play.layers, [list(range(play.layers[0][1].n_values))] * len(play.arms))
    options: dict[str, Any] = {"trial": 0, "player": play.player} if play.player else {"trial": 0}
    play.env.reset(seed=seed, options=options)
    seen = [np.flatnonzero(play.env.step(arm)[0]["observed"]).tolist() for arm in play.arms]
    return FixedGame(play.layers, seen)


def first_release(
    subject: Algorithm | Mechanism, plays: list[FixedPlay], seed: int, make: Callable[[int], Environment] | None
) -> FixedPlay | None:
    """Return the first of some fixed games with a release; else a longer game, or None if there is none.

    `make` makes a game of another length; it is None if games cannot be longer.
    """
    longer = len(plays[0].arms)
    while True:
        play = next((each for each in plays if _releases_anything(fixed_game(each, seed))), None)
        longer *= 2
        if play is not None or make is None or longer > LONGEST:
            return play
        plays = fixed_plays(subject, make(longer), seed)


def check_something_released(
    name: str,
    subject: Algorithm | Mechanism,
    plays: list[FixedPlay],
    seed: int,
    make: Callable[[int], Environment] | None,
) -> None:
    """Refuse games without a release; arguments as in `first_release`, with a name.

    Raises:
        NothingReleasedError: With a horizon that has a release.
    """
    rounds, play = len(plays[0].arms), first_release(subject, plays, seed, make)
    if play is None or len(play.arms) > rounds:
        longer = 0 if play is None else len(play.arms)
        way_out = f"In {longer:,} rounds something is; use horizon = {longer}." if longer else "Use a longer game."
        raise NothingReleasedError(
            f"{name}: nothing was released in {rounds:,} rounds, so nothing is judged. {way_out}"
        )


def horizon_with_release(make: Callable[[int], Algorithm | Mechanism], horizon: int, seed: int) -> int:
    """Return the first horizon among powers of two with a release by an algorithm made for it; 0 for none."""
    while (horizon := 2 * horizon) <= LONGEST:
        subject = make(horizon)
        if (
            first_release(subject, fixed_plays(subject, default_game(subject, 2, horizon, seed), seed), seed, None)
            is not None
        ):
            return horizon
    return 0


def check_repeats(game: FixedGame) -> None:
    """Raise if a game releases other numbers for the same gains and draws.

    Raises:
        NotAuditedError: If it does.
    """
    values = game.layers[0][1].values
    gains = np.full((len(game.revealed), game.layers[0][1].n_values), (values.low + values.high) / 2)
    try:
        first, second = (game.play(gains, Stream(np.random.SFC64(0))) for _ in range(2))
    except AttributeError:
        return  # a draw that no fast stream has
    if first.positions != second.positions or not np.array_equal(first.values, second.values):
        raise NotAuditedError("its noise does not come from rng: the same gains and draws released other numbers")


def _releases_anything(game: FixedGame) -> bool:
    """Whether a game with all gains low, or high, or random has a release."""
    inputs = game.layers[0][1]
    shares = np.zeros((3, len(game.revealed), inputs.n_values))
    shares[1], shares[2] = 1.0, np.random.default_rng(0).random(shares[2].shape)
    tables = inputs.values.low + inputs.values.width * shares
    try:
        return any(game.play(table, Stream(np.random.SFC64(0))).positions for table in tables)
    except AttributeError:
        # A draw that no fast stream has; the audits say so themselves.
        return True
