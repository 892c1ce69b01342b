"""The exact privacy loss of an algorithm's noise for a changed round, beside what is declared."""

import dataclasses
import math
from collections.abc import Sequence
from typing import SupportsIndex

import numpy as np

from dp_bandit_envs import checks
from dp_bandit_envs.algorithms import Algorithm
from dp_bandit_envs.algorithms.naming import Game, Player, environment_of
from dp_bandit_envs.audits.draw_laws import USUAL_NUMBERS, draw_losses, law_losses
from dp_bandit_envs.audits.drivers import differing
from dp_bandit_envs.audits.held_game import (
    Held,
    UnknownDrawError,
    audited,
    check_something_released,
    game_of,
    held_in,
    layers_of_game,
    usual_game,
)
from dp_bandit_envs.audits.linear_noise import (
    at_delta,
    check_hidden,
    clipped_loss,
    is_shown,
    linear_noise,
    row_loss,
)
from dp_bandit_envs.audits.own_norm import own_norm_losses
from dp_bandit_envs.errors import NotAuditedError
from dp_bandit_envs.privacy.gaussian import gaussian_epsilon
from dp_bandit_envs.privacy.guarantee import PrivacyGuarantee
from dp_bandit_envs.privacy.mechanism import Mechanism
from dp_bandit_envs.privacy.mechanisms import ExactSums
from dp_bandit_envs.protocols import Environment, FloatArray, plays_points
from dp_bandit_envs.wrappers import PrivacyBoundary

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
    """The exact privacy loss of one game, and what is declared.

    Attributes:
        name: The algorithm's or mechanism's name.
        declared: The guarantee that is declared.
        by_round: The pure loss if a round's gains change, `(rounds,)`, in nats; for normal draws rho instead. For an
            agent's own draws, and where the pure loss of Laplace draws is above the claim, that at the declared delta.
        gaussian: Whether the noise is normal.
        arms: The arms that were held, `(rounds,)`, all 0 where actions are points; for an agent's own draws, the arms
            that tell neighbours apart best.
        drawn_rho: For an agent's own draws, the largest Renyi divergence over its order; otherwise None.
        differs: The drivers that released something else for the same draws, of those that were asked for.
        attained: Whether so much is really lost; otherwise it is an upper bound, as where noisy numbers are clipped.
    """

    name: str
    declared: PrivacyGuarantee
    by_round: FloatArray
    gaussian: bool
    arms: tuple[int, ...]
    drawn_rho: float | None = None
    differs: tuple[str, ...] = ()
    attained: bool = True

    def __str__(self) -> str:
        exact = "exact" if self.attained else "at most"
        claim = f"declared epsilon = {self.declared.epsilon:.6g}"
        return f"{self.name}: {claim}, {exact} {self.epsilon:.6g}: {self.verdict}"

    @property
    def verdict(self) -> str:
        """What follows, in words."""
        if self.declared.model == "none" and not self.differs:
            return "nothing is declared"
        if self.holds:
            return "within the claim"
        return "refuted" if self.refuted else "neither within the claim nor refuted; use sampled_loss"

    @property
    def refuted(self) -> bool:
        """Whether more than is declared is really lost, or a driver releases something else."""
        return not self.holds and (self.attained or bool(self.differs))

    @property
    def rho(self) -> float | None:
        """The exact zCDP parameter of the worst round for normal draws and for an agent's own, otherwise None."""
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
        """The exact epsilon over the declared one; nan where none is declared, or 0 is."""
        claim = self.declared.epsilon
        return self.epsilon / claim if 0 < claim < math.inf else math.nan

    @property
    def holds(self) -> bool:
        """Whether the exact loss is within the claim, where any is declared, and no driver releases something else."""
        if self.differs:
            return False
        if self.declared.model == "none":
            return True
        slack = 0.0 if self.drawn_rho is None else LAW
        if self.rho is not None and self.declared.rho is not None:
            within = self.rho <= self.declared.rho * (1 + TOLERANCE) + slack
            if self.gaussian or not within:
                return within
        # The search for epsilon at a delta has a relative error of its own.
        return self.epsilon <= self.declared.epsilon * (1 + (2 if self.gaussian else 1) * TOLERANCE) + slack


def exact_loss(
    algorithm: Player | Mechanism,
    *,
    horizon: SupportsIndex | None = None,
    n_arms: SupportsIndex = 2,
    env: Game | None = None,
    seed: int = 0,
    drivers: Sequence[str] = (),
) -> ExactLoss:
    """Work out the exact privacy loss of an algorithm's noise in one game, over all rounds and whole rows of gains.

    The agent plays one game with real noise; then its arms are held. They may be: the agent sees released values only,
    so the density of what is released, given the arms, changes by the same factor as the joint density. How the
    releases depend on gains and draws is found by calling the mechanisms' `release` with fake draws. The loss is that
    of the released numbers before they are rounded to the grid, so it is an upper bound after that. It belongs to the
    arms of this game: a longer one, or other arms, can lose more.

    Where the noise is an agent's own draws, as in EXP3, the law of all arms is worked out on every table of gains 0
    and 1 of a short game; see `draw_laws`.

    Args:
        algorithm: An algorithm, or what names one, as for `play`; or a mechanism, for which the worst of a few
            sequences of arms (one arm only, and arms in turn) is taken.
        horizon: Number of rounds, at least 1; by default 16, or where the agent's own draws are the noise, as many as
            8 gains allow. Only without `env`.
        n_arms: Number of arms, at least 2. Only without `env`.
        env: The game, without the algorithm's wrappers, or what names one, as for `play`; by default random gains in
            [0, 1], all of which are revealed if the algorithm needs them all, or the ball in two dimensions for one
            that plays points only. The gains of a game whose noise is the agent's own draws are replaced.
        seed: The seed of that game.
        drivers: Which of `"scalar"`, `"vector"` and `"compiled"` must release exactly what was audited, for the same
            draws. (`"compiled"` takes seconds the first time.)

    Raises:
        WrongTypeError: If `algorithm` is none of these, such as a wrapper's class.
        NotAuditedError: If a draw is of no known kind, if releases are not linear in the draws, or if an agent draws
            more than arms; the message says why.
        NothingReleasedError: If nothing is released in the game, so that nothing can be said.
        ImportError: If SciPy is needed and missing (extra `audits`).

    Source: Hardt and Talwar (2010) for the loss of additive noise; Denisov, McMahan, Rush, Smith and Thakurta (2022)
    for gains chosen after earlier releases.
    """
    part = audited(algorithm)
    env = None if env is None else environment_of(env)
    k = checks.integer("n_arms", n_arms, at_least=2)
    t = ROUNDS if horizon is None else checks.integer("horizon", horizon, at_least=1)
    game = usual_game(part, k, t, seed) if env is None else env
    if isinstance(part, Mechanism):
        name, declared = type(part).__name__, PrivacyBoundary(game, part).guarantee
    else:
        if part.own_guarantee is not None or not layers_of_game(part.wrap(game)):
            if env is None and horizon is None and part.make_agent is not None:
                game = usual_game(part, k, max(1, USUAL_NUMBERS // k), seed)
            return _of_draws(part, game)
        name, declared = part.name, part.guarantee_in(game)
    games = held_in(part, game, seed)
    longer = None if env is not None else lambda rounds: usual_game(part, k, rounds, seed)
    check_something_released(name, part, games, seed, longer)
    losses = [_loss(name, declared, held, seed) for held in games]
    differs = differing(games[-1], drivers, seed)
    return dataclasses.replace(max(losses, key=lambda each: each.epsilon), differs=differs)


def _of_draws(algorithm: Algorithm, env: Environment) -> ExactLoss:
    if plays_points(env):
        raise NotAuditedError(
            f"{algorithm.name} has no noise but its agent's own draws of points, of which there are too many."
        )
    declared = algorithm.guarantee_in(env)
    found = draw_losses(algorithm, env, declared.delta)
    return ExactLoss(algorithm.name, declared, found.by_round, False, found.arms, found.rho)


def _loss(name: str, declared: PrivacyGuarantee, held: Held, seed: int) -> ExactLoss:
    game, arms = game_of(held, seed), held.arms
    try:
        try:
            found = linear_noise(game)
        except UnknownDrawError as draw:
            kind = draw.args[0]
            own_norm = kind in ("standard_gamma", "standard_normal")
            losses = own_norm_losses(game) if own_norm else law_losses(game, kind)
            # Of random bits, what is done above them may show less.
            shown = own_norm or all(isinstance(mechanism, ExactSums) for mechanism, _ in held.layers[1:])
            return ExactLoss(name, declared, losses, False, arms, attained=shown)
        rows = [row_loss(found, game, t) for t in range(len(game.revealed))]
        check_hidden(game, rows)
        losses = np.array([row.loss for row in rows])
        worst = int(losses.argmax())
        shown = is_shown(game, found, worst, rows[worst])
        loss = ExactLoss(name, declared, losses, found.kind == "normal", arms, attained=shown)
        if not shown and not (loss.holds and loss.gaussian and declared.rho is not None):
            clipped = [clipped_loss(game, found, t, row, declared.delta) for t, row in enumerate(rows)]
            if None not in clipped:
                return ExactLoss(name, declared, np.array(clipped), False, arms)
        if loss.holds or loss.gaussian or not declared.delta > 0 or not np.isfinite(losses).all():
            return loss
        if np.linalg.matrix_rank(found.noise) < found.noise.shape[1]:
            raise NotAuditedError(
                f"the loss at delta = 0 is {loss.epsilon:g}, and where draws outnumber releases no audit here gives"
                f" that of Laplace noise at delta = {declared.delta:g}"
            )
    except NotAuditedError as error:
        raise NotAuditedError(f"{name}: {error}. Use sampled_loss.") from None
    lower = at_delta(rows, declared.delta)
    attained = shown and float(lower.max()) > (1 + IN_CURVE) * declared.epsilon
    return dataclasses.replace(loss, by_round=lower, attained=attained)
