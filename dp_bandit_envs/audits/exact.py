"""The exact privacy loss of an algorithm's noise for one changed round, compared with the declared guarantee."""

import contextlib
import copy
import dataclasses
import functools
import math
from collections.abc import Callable, Sequence
from typing import Any, Final, SupportsIndex, TypeVar

import gymnasium as gym
import numpy as np

from dp_bandit_envs import checks
from dp_bandit_envs.algorithms import Algorithm
from dp_bandit_envs.algorithms.specs import Game, Player, open_environment
from dp_bandit_envs.audits.draw_laws import DEFAULT_NUMBERS, draw_losses, law_losses
from dp_bandit_envs.audits.fixed_play import (
    FixedGame,
    FixedPlay,
    GameReleases,
    UnknownDrawError,
    algorithm_or_mechanism,
    check_repeats,
    check_something_released,
    default_game,
    fixed_game,
    fixed_plays,
    layers_of_game,
)
from dp_bandit_envs.audits.linear_noise import (
    SAME,
    TABLES,
    LinearNoise,
    attains_loss,
    cheapest_change,
    check_hidden,
    clipped_draws,
    clipped_loss,
    clipped_true_loss,
    linear_noise,
    losses_at_delta,
    nearly_equal,
    row_loss,
    true_losses_of_rows,
)
from dp_bandit_envs.audits.transcripts import FixedArms, FixedPoint
from dp_bandit_envs.audits.true_losses import TrueLoss, loss_of_pure, refuted_in_words, too_low
from dp_bandit_envs.envs.graph_env import GraphEnv
from dp_bandit_envs.errors import BoundaryError, NotAuditedError
from dp_bandit_envs.privacy.gaussian import gaussian_epsilon
from dp_bandit_envs.privacy.guarantee import PrivacyGuarantee
from dp_bandit_envs.privacy.mechanism import Mechanism, noise_key
from dp_bandit_envs.privacy.mechanisms import ExactSums, LaplaceClipRescale, MiniBatchAverage
from dp_bandit_envs.protocols import Environment, FloatArray, Observation, plays_points
from dp_bandit_envs.seeding import ADVERSARY, FIRST_WRAPPER, GRAPH, stream
from dp_bandit_envs.simulation.compiled_game import begin_games, make_compiled_game
from dp_bandit_envs.wrappers import PrivacyBoundary, vector

ROUNDS = 16
"""The usual number of rounds; fewer for an agent's own draws, where all tables of gains are played."""

IN_CURVE = 0.01
"""By how much a loss at delta may be too large: see `epsilon_of_moves`."""
TOLERANCE = 1e-9
"""A loss is within a claim up to this relative difference, which is that of the arithmetic."""
LAW = 1e-12
"""For laws of an agent's draws, the difference of sums of logarithms may be off by this much."""


@dataclasses.dataclass(frozen=True)
class ExactLoss:
    """The exact privacy loss of one game, and the declared guarantee.

    Attributes:
        name: The algorithm's or mechanism's name.
        declared: The declared guarantee.
        by_round: The pure loss if a round's gains change, `(rounds,)`, in nats; rho for normal draws. The loss at the
            declared delta for an agent's own draws, and if the pure loss of Laplace draws is above the claim.
        gaussian: Whether the noise is normal.
        arms: The fixed arms, `(rounds,)`, all 0 for points; for an agent's own draws, the arms that tell neighbours
            apart best.
        drawn_rho: For an agent's own draws, the largest Renyi divergence over its order; otherwise None.
        differs: The requested drivers that released different values for the same draws.
        attained: Whether the loss is attained; otherwise it is an upper bound, as for clipped noise.
        too_low: The fields of `noise_law`, `curve`, `rho` and `pure` in the guarantee that state less than the loss.
    """

    name: str
    declared: PrivacyGuarantee
    by_round: FloatArray
    gaussian: bool
    arms: tuple[int, ...]
    drawn_rho: float | None = None
    differs: tuple[str, ...] = ()
    attained: bool = True
    too_low: tuple[str, ...] = ()

    def __str__(self) -> str:
        exact = "exact" if self.attained else "at most"
        claim = f"declared epsilon = {self.declared.epsilon:.6g}"
        return f"{self.name}: {claim}, {exact} {self.epsilon:.6g}: {self.verdict}"

    @property
    def verdict(self) -> str:
        """The conclusion, in words."""
        if self.declared.model == "none" and not self.differs:
            return "nothing is declared"
        if self.holds:
            return "within the claim"
        if not self.refuted:
            return "neither within the claim nor refuted; use sampled_loss"
        return refuted_in_words(self.too_low)

    @property
    def refuted(self) -> bool:
        """Whether the actual loss exceeds the declared loss, or a driver releases different values."""
        return not self.holds and (self.attained or bool(self.differs))

    @property
    def rho(self) -> float | None:
        """The exact zCDP parameter of the worst round for normal draws and an agent's own draws, otherwise None."""
        return float(self.by_round.max()) if self.gaussian else self.drawn_rho

    @property
    def epsilon(self) -> float:
        """The smallest epsilon that holds, in [0, inf]: at the declared delta, or at delta = 0; see `by_round`."""
        worst = float(self.by_round.max())
        if not self.gaussian or worst in (0.0, math.inf):
            return worst
        if not self.declared.delta > 0:
            return math.inf
        return gaussian_epsilon(1 / math.sqrt(2 * worst), self.declared.delta)

    @property
    def ratio(self) -> float:
        """The exact epsilon over the declared epsilon; nan if that is missing or 0."""
        claim = self.declared.epsilon
        return self.epsilon / claim if 0 < claim < math.inf else math.nan

    @property
    def holds(self) -> bool:
        """Whether the exact loss is within the claim, if any, and all drivers release the same."""
        if self.differs or self.too_low:
            return False
        if self.declared.model == "none":
            return True
        slack = 0.0 if self.drawn_rho is None else LAW
        most = math.inf if self.declared.rho is None else self.declared.rho * (1 + TOLERANCE) + slack
        if self.rho is not None and not self.rho <= most:
            return False
        # The search for epsilon at a delta has a relative error of its own.
        return self.epsilon <= self.declared.epsilon * (1 + (2 if self.gaussian else 1) * TOLERANCE) + slack


@checks.answers_wrong_calls
def exact_loss(
    algorithm: Player | Mechanism,
    *,
    horizon: SupportsIndex | None = None,
    n_arms: SupportsIndex = 2,
    environment: Game | None = None,
    seed: int = 0,
    drivers: Sequence[str] = (),
) -> ExactLoss:
    """Compute the exact privacy loss of an algorithm's noise in one game, over all rounds and whole rows of gains.

    The agent plays one game with real noise; then its arms are fixed. This is allowed: the agent sees released values
    only, so the density of the releases given the arms changes by the same factor as the joint density. Calls of the
    mechanisms' `release` with fake draws show how the releases depend on gains and draws. The loss is computed for the
    released numbers before rounding to the grid, so it is an upper bound afterwards. It holds for the arms of this
    game: a longer game, or other arms, can lose more.

    If the noise is an agent's own draws, as in EXP3, the law of all arms is computed on every table of gains 0 and 1 of
    a short game; see `draw_laws`.

    Args:
        algorithm: An algorithm or its name, as for `play`; or a mechanism, audited on the worst of a few sequences of
            arms (one arm only, and arms in turn).
        horizon: Number of rounds, at least 1; by default 16, or for an agent's own draws the rounds that 8 gains allow.
            Only without `environment`.
        n_arms: Number of arms, at least 2. Only without `environment`.
        environment: The game, without the algorithm's wrappers, or its name, as for `play`. By default random gains in
            [0, 1], all revealed if the algorithm needs that, or the ball in two dimensions for algorithms on points.
            For an agent's own draws, the gains are replaced.
        seed: The seed of that game.
        drivers: The drivers among `"scalar"`, `"vector"` and `"compiled"` that must release exactly the audited values
            for the same draws. (`"compiled"` takes seconds the first time.)

    Raises:
        WrongTypeError: If `algorithm` is none of these, such as a wrapper's class.
        NotAuditedError: If a draw is of an unknown kind, if releases are not linear in the draws, or if an agent draws
            more than arms; the message gives the reason.
        NothingReleasedError: If the game has no release.
        BoundaryError: If a mechanism fails on the environment's gains, which `drivers` play.
        ImportError: If SciPy is needed and missing (extra `audits`).

    Source: Hardt and Talwar (2010) for the loss of additive noise; Denisov, McMahan, Rush, Smith and Thakurta (2022)
    for gains chosen after earlier releases.
    """
    subject = algorithm_or_mechanism(algorithm)
    env = None if environment is None else open_environment(environment)
    k = checks.integer("n_arms", n_arms, at_least=2)
    t = ROUNDS if horizon is None else checks.integer("horizon", horizon, at_least=1)
    game = default_game(subject, k, t, seed) if env is None else env
    if isinstance(subject, Mechanism):
        name, declared = type(subject).__name__, PrivacyBoundary(game, subject).guarantee
    else:
        if subject.own_guarantee is not None or not layers_of_game(subject.wrap(game)):
            if env is None and horizon is None and subject.make_agent is not None:
                game = default_game(subject, k, max(1, DEFAULT_NUMBERS // k), seed)
            return _draw_loss(subject, game)
        name, declared = subject.name, subject.guarantee_in(game)
    games = fixed_plays(subject, game, seed)
    longer = None if env is not None else lambda rounds: default_game(subject, k, rounds, seed)
    check_something_released(name, subject, games, seed, longer)
    losses = [_loss(name, declared, fixed_play, seed) for fixed_play in games]
    differs = find_differing_drivers(games[-1], drivers, seed)
    worst = max(losses, key=lambda loss: (loss.refuted, not loss.holds, loss.epsilon))
    return dataclasses.replace(worst, differs=differs)


def _draw_loss(algorithm: Algorithm, env: Environment) -> ExactLoss:
    if plays_points(env):
        raise NotAuditedError(
            f"{algorithm.name} has no noise but its agent's own draws of points, of which there are too many."
        )
    declared = algorithm.guarantee_in(env)
    draws = draw_losses(algorithm, env, declared.delta)
    return _with_claims(ExactLoss(algorithm.name, declared, draws.by_round, False, draws.arms, draws.rho), draws.losses)


def _with_claims(loss: ExactLoss, losses: Sequence[TrueLoss]) -> ExactLoss:
    """Return a loss with the fields of the guarantee that state less than the loss."""
    return dataclasses.replace(loss, too_low=too_low(loss.declared, losses))


def _loss(name: str, declared: PrivacyGuarantee, fixed_play: FixedPlay, seed: int) -> ExactLoss:
    game, arms = fixed_game(fixed_play, seed), fixed_play.arms
    try:
        check_repeats(game)
        try:
            noise_map = linear_noise(game)
        except UnknownDrawError as draw:
            kind = draw.args[0]
            if kind in ("standard_gamma", "standard_normal"):
                losses = own_norm_losses(game)
                lost = loss_of_pure(float(losses.max()))
                return _with_claims(ExactLoss(name, declared, losses, False, arms), [lost])
            losses, lost = law_losses(game, kind)
            # Of random bits, what is done above them may show less.
            attained = all(isinstance(mechanism, ExactSums) for mechanism, _ in fixed_play.layers[1:])
            return _with_claims(ExactLoss(name, declared, losses, False, arms, attained=attained), [lost])
        rows = [row_loss(noise_map, game, t) for t in range(len(game.revealed))]
        check_hidden(game, rows)
        losses = np.array([row.loss for row in rows])
        worst = int(losses.argmax())
        attained = attains_loss(game, noise_map, worst, rows[worst])
        columns = noise_map.noise.shape[1]
        independent = columns == 0 or np.linalg.matrix_rank(noise_map.noise) == columns  # NumPy 2.0 cannot rank none
        loss = ExactLoss(name, declared, losses, noise_map.kind == "normal", arms, attained=attained)
        loss = _with_claims(loss, true_losses_of_rows(noise_map, rows, independent=bool(independent)))
        if not attained and not (loss.holds and loss.gaussian and declared.rho is not None):
            clipped = [clipped_draws(game, noise_map, t, row) for t, row in enumerate(rows)]
            by_round = [clipped_loss(noise_map.kind, draws, declared.delta) for draws in clipped]
            if None not in by_round:
                loss = ExactLoss(name, declared, np.array(by_round), False, arms)
                return _with_claims(loss, [clipped_true_loss(noise_map.kind, draws) for draws in clipped if draws])
        if loss.holds or loss.gaussian or not declared.delta > 0 or not np.isfinite(losses).all():
            return loss
        if not independent:
            if loss.too_low and loss.refuted:
                return loss
            raise NotAuditedError(
                f"the loss at delta = 0 is {loss.epsilon:g}, and where draws outnumber releases no audit here gives"
                f" that of Laplace noise at delta = {declared.delta:g}"
            )
    except NotAuditedError as error:
        raise NotAuditedError(f"{name}: {error}. Use sampled_loss.") from None
    lower = losses_at_delta(rows, declared.delta)
    attained = loss.attained if loss.too_low else attained and float(lower.max()) > (1 + IN_CURVE) * declared.epsilon
    return dataclasses.replace(loss, by_round=lower, attained=attained)


GAMES: Final = 3
"""Games of the vector boundary; the last game is compared."""
Result = TypeVar("Result")
DriverReleases = tuple[FloatArray, FloatArray]
"""GameReleases values and counts, each `(steps, n_values)`."""


def find_differing_drivers(fixed_play: FixedPlay, drivers: Sequence[str], seed: int) -> tuple[str, ...]:
    """Return the drivers, among these, whose releases differ from the audited game.

    The scalar boundary, the vector boundary and the compiled loop play one game with the noise of one seed, and the
    releases are compared bit for bit.
    """
    drivers_that_differ = []
    for driver in drivers:
        checks.one_of("drivers", driver, tuple(DRIVERS))
        expected, released = _audited_releases(fixed_play, seed), DRIVERS[driver](fixed_play, seed)
        if not all(np.array_equal(*pair) for pair in zip(expected, released, strict=True)):
            drivers_that_differ.append(driver)
    return tuple(drivers_that_differ)


def _audited_releases(fixed_play: FixedPlay, seed: int) -> DriverReleases:
    """Return the audited game's releases, on the grid; its gains are the environment's and may be private."""
    gains, revealed = _private_gains(fixed_play, seed)
    streams = [
        stream(seed, role=FIRST_WRAPPER + depth, player=fixed_play.player, noise_key=noise_key(mechanism, inputs))
        for depth, (mechanism, inputs) in enumerate(fixed_play.layers)
    ]
    releases = _play_with_errors_withheld(
        lambda: FixedGame(fixed_play.layers, revealed, on_grid=True).play(gains, streams)
    )
    top, inputs = fixed_play.layers[-1]
    steps = 1 + max((step for step, _, _ in releases.positions), default=0)
    steps = max(steps, top.horizon(inputs))
    values, counts = np.zeros((steps, inputs.n_values)), np.zeros((steps, inputs.n_values))
    for (step, index, count), number in zip(releases.positions, releases.values, strict=True):
        rows = slice(step, None) if top.releases_sums else step
        values[rows, index], counts[rows, index] = number, count if top.releases_sums else 1
    return _without_unfinished_batch(fixed_play, values, counts)


def _play_with_errors_withheld(play: Callable[[], Result]) -> Result:
    """Play gains that may be private, and withhold an error of the mechanism, as `PrivacyBoundary` does."""
    with contextlib.suppress(Exception):
        return play()
    # Raised here, so that it has no context, whose text and frames may show a gain.
    raise BoundaryError(
        "the mechanism failed on the environment's gains; its error is withheld, as it may show one. Leave drivers out,"
        " or give an environment with made-up gains."
    )


def _without_unfinished_batch(fixed_play: FixedPlay, values: FloatArray, counts: FloatArray) -> DriverReleases:
    """Leave out the step of an unfinished last batch, which the compiled loop does not show to the agent."""
    top, inputs = fixed_play.layers[-1]
    return values[: top.horizon(inputs)], counts[: top.horizon(inputs)]


def _private_gains(fixed_play: FixedPlay, seed: int) -> tuple[FloatArray, list[list[int]]]:
    """Return the values that each round reveals, `(rounds, n_values)`, and their numbers."""
    fixed_play.env.reset(seed=seed, options={"trial": 0, "player": fixed_play.player})
    point = plays_points(fixed_play.env)
    rows = [fixed_play.env.step(fixed_play.plays if point else arm)[0] for arm in fixed_play.arms]
    return np.array([row["gain"] for row in rows]), [np.flatnonzero(row["observed"]).tolist() for row in rows]


def _scalar_releases(fixed_play: FixedPlay, seed: int) -> DriverReleases:
    env = fixed_play.wrapping(copy.deepcopy(fixed_play.env))
    env.reset(seed=seed, options={"trial": 0, "player": fixed_play.player})
    observations: list[Observation] = []
    ended: Any = False
    while not ended:
        observation, _, ended, _, _ = env.step(fixed_play.at(len(observations)))
        observations.append(observation)
    return _stack_releases(fixed_play, observations)


def _vector_releases(fixed_play: FixedPlay, seed: int) -> DriverReleases:
    games: Any = gym.vector.SyncVectorEnv([functools.partial(copy.deepcopy, fixed_play.env) for _ in range(GAMES)])
    for mechanism, _ in fixed_play.layers:
        if isinstance(mechanism, LaplaceClipRescale):
            options: dict[str, Any] = {
                "epsilon": mechanism.epsilon,
                "bound": mechanism.bound,
                "outside": mechanism.outside,
            }
            games = vector.LaplaceClipRescale(games, **options)
        elif isinstance(mechanism, MiniBatchAverage):
            games = vector.MiniBatchAverage(games, batch_size=mechanism.batch_size)
        else:
            games = vector.VectorPrivacyBoundary(games, mechanism)
    others = [seed + 1 + game for game in range(GAMES - 1)]
    games.reset(seed=[*others, seed], options={"trial": 0, "player": fixed_play.player})
    observations: list[Observation] = []
    ended: Any = False
    while not ended:
        play = fixed_play.at(len(observations))
        observation, _, terminated, _, _ = games.step(np.array([play] * GAMES))
        observations.append({key: part[-1] for key, part in observation.items()})
        ended = bool(terminated[-1])
    return _stack_releases(fixed_play, observations)


def _stack_releases(fixed_play: FixedPlay, observations: Sequence[Observation]) -> DriverReleases:
    keys = ("sum", "count") if fixed_play.layers[-1][0].releases_sums else ("gain", "observed")
    values, counts = (np.array([row[key] for row in observations], float) for key in keys)
    return _without_unfinished_batch(fixed_play, values, counts)


def _compiled_releases(fixed_play: FixedPlay, seed: int) -> DriverReleases:
    top, inputs = fixed_play.layers[-1]
    points, sums = plays_points(fixed_play.env), top.releases_sums
    payoffs = points and fixed_play.env.get_wrapper_attr("feedback") == "bandit"
    kind: Any = functools.partial(FixedPoint, payoffs=payoffs) if points else FixedArms
    make = functools.partial(kind, fixed_play.plays, inputs.n_values, sums=sums)
    feedback: Any = "payoff" if payoffs else "any"
    agent: dict[str, Any] = {"make_agent": None, "make_point_agent": make} if points else {"make_agent": make}
    algorithm = Algorithm("held", wrapping=fixed_play.wrapping, feedback=feedback, **agent)
    # The name of no player is "" here, but that of an algorithm without one is its own.
    object.__setattr__(algorithm, "player", fixed_play.player)
    plan = make_compiled_game(algorithm, fixed_play.env)
    core: Any = fixed_play.env.unwrapped
    gains = np.empty((core.horizon, core.adversary.n_arms))
    core.adversary.begin(stream(seed, role=ADVERSARY))
    core.adversary.fill(gains)
    _, (game,) = begin_games(plan, seed, [0])
    graph = None
    if isinstance(core, GraphEnv):
        core.source.begin(stream(seed, role=GRAPH), core.adversary.order)
        graph = core.source.graph
    _play_with_errors_withheld(lambda: game.play(gains, graph))
    return _without_unfinished_batch(fixed_play, game.state.values, game.state.counts.astype(float))


DRIVERS: Final[dict[str, Callable[[FixedPlay, int], DriverReleases]]] = {
    "scalar": _scalar_releases,
    "vector": _vector_releases,
    "compiled": _compiled_releases,
}


HEIGHT = 2.0**20
"""How far out the one vector is that is not 0."""


class FakeNodes:
    """A random generator for own-norm noise that puts some nodes on an axis and sets all others to 0.

    A node of the sup norm is one Gamma(d + 1) draw times d numbers of [-1, 1]; of L2, a Gamma(d) draw times a normal
    vector of length 1.

    Args:
        n_values: The dimension d.
        hot: The height and the axis of each node that is not 0, by its number.
    """

    def __init__(self, n_values: int, hot: dict[int, tuple[float, int]]) -> None:
        self._d, self._hot = n_values, hot
        self.requests: list[tuple[str, float]] = []
        self._axis = self._left = 0

    def standard_normal(self) -> float:
        """Return a coordinate of the next node's direction."""
        if self._left == 0:
            self._left, self._axis = self._d, self._hot.get(len(self.requests), (0.0, 0))[1]
        self._left -= 1
        return float(self._d - 1 - self._left == self._axis)

    def standard_gamma(self, shape: float) -> float:
        """Return the next node's norm."""
        number = len(self.requests)
        height, axis = self._hot.get(number, (0.0, 0))
        if shape == self._d + 1.0 and self._left == 0:
            self._left, self._axis = self._d, axis
            self.requests.append(("sup", shape))
        elif shape == float(self._d) and self._left == 0:
            self.requests.append(("l2", shape))
        else:
            raise NotAuditedError(
                f"its noise draws Gamma({shape:g}), which is no own-norm noise in dimension {self._d}"
            )
        return height

    def signed_uniform(self) -> float:
        """Return a coordinate of the node's direction, 1 or 0."""
        if self._left == 0:
            raise NotAuditedError("it draws uniform numbers besides own-norm noise")
        self._left -= 1
        return 1.0 if self._d - 1 - self._left == self._axis else 0.0

    def __getattr__(self, name: str) -> Any:
        raise NotAuditedError(f"it draws own-norm noise and another kind ({name}) together")


def own_norm_losses(game: FixedGame) -> FloatArray:
    r"""Return the exact loss of each round, `(rounds,)`, of a game whose lowest mechanism adds own-norm noise.

    Its density on nodes is proportional to :math:`e^{-\lVert z \rVert / b}`, and every coordinate has the same map L
    from nodes to releases. A change of round t by a vector v is hidden by a change of node n by :math:`R_n v` with L R
    = the step of that round, at the cost :math:`\sum_n |R_n| \lVert v \rVert` in units of the scale. No other change is
    cheaper: let u be a vector of dual norm 1 with :math:`\langle u, v \rangle = \lVert v \rVert`; its products with the
    nodes' changes solve the same problem for numbers.

    Raises:
        NotAuditedError: If the noise has another norm than the values' differences, or another form.
    """
    inputs = game.layers[0][1]
    d, values = inputs.n_values, inputs.values
    middle = (values.low + values.high) / 2
    base_gains = np.full((len(game.revealed), d), middle)
    base = game.play(base_gains, FakeNodes(d, {}))
    norms = {norm for norm, _ in base.requests}
    if norms != {values.norm}:
        raise NotAuditedError(f"its noise has the shape of {norms}, and the values' differences that of {values.norm}")

    def release_changes(gains: FloatArray, hot: dict[int, tuple[float, int]]) -> FloatArray:
        return _changes_of_releases(base, game.play(gains, FakeNodes(d, hot)), d)

    columns = [
        _only_column(release_changes(base_gains, {node: (HEIGHT, 0)}), 0) / HEIGHT for node in range(len(base.requests))
    ]
    noise = np.array(columns).T.reshape(-1, len(base.requests))
    some = {node: (HEIGHT * (1 + node % 3), node % d) for node in range(len(base.requests))}
    expected = np.zeros((len(noise), d))
    for node, (height, axis) in some.items():
        expected[:, axis] += noise[:, node] * height
    # A second route to the same numbers, with all coordinates and nodes at once.
    if not nearly_equal(release_changes(base_gains, some), expected):
        raise NotAuditedError("what it releases is not linear in its nodes, or differs from coordinate to coordinate")
    losses, moves = np.zeros(len(game.revealed)), np.zeros((len(noise), len(game.revealed)))
    for t in range(len(losses)):
        steps = [_change_by_gain(release_changes, base_gains, t, axis, values.width) for axis in range(d)]
        if any(np.abs(step - steps[0]).max(initial=0.0) > SAME for step in steps):
            raise NotAuditedError("a round moves its coordinates by different maps")
        change = cheapest_change(LinearNoise(noise, np.zeros(0), "laplace", []), steps[0])
        losses[t] = np.inf if change is None else float(np.abs(change).sum()) * values.norm_distance
        moves[:, t] = steps[0]
    rng, near = np.random.default_rng(0), {node: (height / HEIGHT, axis) for node, (height, axis) in some.items()}
    for table in range(2 * TABLES):
        step = rng.uniform(-values.width / 2, values.width / 2, base_gains.shape)
        step = np.copysign(values.width / 2, step) if table % 2 else step
        if not nearly_equal(release_changes(base_gains + step, near), expected / HEIGHT + moves @ step):
            raise NotAuditedError("what it releases is not linear in the gains")
    return losses


def _change_by_gain(release_changes: Any, base_gains: FloatArray, t: int, axis: int, width: float) -> FloatArray:
    """Return how the releases of a coordinate change with a gain of round t, per unit of gain.

    `release_changes` plays the game with other gains; gains in the middle of their range stay in it.
    """
    gains = base_gains.copy()
    gains[t, axis] += width / 4
    return _only_column(release_changes(gains, {}), axis) / (width / 4)


def _only_column(table: FloatArray, axis: int) -> FloatArray:
    """Return a column of a table whose other columns are 0, or raise."""
    if np.abs(np.delete(table, axis, axis=1)).max(initial=0.0) > SAME * np.abs(table).max(initial=0.0):
        raise NotAuditedError("a coordinate's noise or gain moves the releases of another one")
    column: FloatArray = table[:, axis]
    return column


def _changes_of_releases(base: GameReleases, other: GameReleases, d: int) -> FloatArray:
    """Return the changes of the releases, `(releases of a coordinate, d)`."""
    if base.positions != other.positions or base.requests != other.requests:
        raise NotAuditedError("the number of its draws or its counts depend on gains or noise")
    changes = other.values - base.values
    by_value = [
        [change for change, place in zip(changes, base.positions, strict=True) if place[1] == i] for i in range(d)
    ]
    if len({len(column) for column in by_value}) > 1:
        raise NotAuditedError("its coordinates have different numbers of releases")
    return np.array(by_value).T.reshape(-1, d)
