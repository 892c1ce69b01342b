"""The exact privacy loss of an algorithm's noise for a changed round, beside what is declared."""

import dataclasses
from collections.abc import Sequence
from typing import SupportsIndex

import numpy as np

from dp_bandit_envs import checks
from dp_bandit_envs.algorithms import Algorithm, make_algorithm
from dp_bandit_envs.audits.after_noise import check_hidden, clipped_loss, is_shown
from dp_bandit_envs.audits.agent_draws import USUAL_NUMBERS, draw_losses
from dp_bandit_envs.audits.audited_games import check_something_released, game_of, held_in, usual_game
from dp_bandit_envs.audits.bit_laws import law_losses
from dp_bandit_envs.audits.driver_releases import Held, differing
from dp_bandit_envs.audits.exact_result import ExactLoss
from dp_bandit_envs.audits.held_game import HeldGame, UnknownDrawError, layers_of_game
from dp_bandit_envs.audits.laplace_curve import dominates, epsilon_of_moves
from dp_bandit_envs.audits.linear_noise import LinearNoise, RowLoss, linear_noise, row_loss
from dp_bandit_envs.audits.own_norm_noise import own_norm_losses
from dp_bandit_envs.errors import NotAuditedError, WrongTypeError
from dp_bandit_envs.privacy.guarantee import PrivacyGuarantee
from dp_bandit_envs.privacy.mechanism import Mechanism
from dp_bandit_envs.privacy.mechanisms import ExactSums
from dp_bandit_envs.protocols import Environment, FloatArray, plays_points
from dp_bandit_envs.wrappers import PrivacyBoundary

ROUNDS = 16
"""The usual number of rounds; fewer for an agent's own draws, where all tables of gains are played."""

IN_CURVE = 0.01
"""By how much a loss at delta may be too large: see `laplace_curve`."""


def exact_loss(
    algorithm: Algorithm | Mechanism | str,
    *,
    horizon: SupportsIndex | None = None,
    n_arms: SupportsIndex = 2,
    env: Environment | None = None,
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
    and 1 of a short game; see `agent_draws`.

    Args:
        algorithm: An algorithm or the name of one; or a mechanism, for which the worst of a few sequences of arms
            (one arm only, and arms in turn) is taken.
        horizon: Number of rounds, at least 1; by default 16, or where the agent's own draws are the noise, as many as
            8 gains allow. Only without `env`.
        n_arms: Number of arms, at least 2. Only without `env`.
        env: The game, without the algorithm's wrappers; by default random gains in [0, 1], all of which are revealed
            if the algorithm needs them all, or the ball in two dimensions for one that plays points only. The gains of
            a game whose noise is the agent's own draws are replaced.
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
    if isinstance(algorithm, str):
        algorithm = make_algorithm(algorithm)
    k = checks.integer("n_arms", n_arms, at_least=2)
    t = ROUNDS if horizon is None else checks.integer("horizon", horizon, at_least=1)
    if not isinstance(algorithm, (Algorithm, Mechanism)):
        raise WrongTypeError(
            "exact_loss audits an algorithm, its name, or a mechanism; received"
            f" {getattr(algorithm, '__name__', type(algorithm).__name__)}. Put your wrapper into"
            " Algorithm('mine', Uniform, lambda env: MyWrapper(env, ...))."
        )
    part = algorithm
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
        rows = [row_of(found, game, t) for t in range(len(game.revealed))]
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


def row_of(found: LinearNoise, game: HeldGame, t: int) -> RowLoss:
    """Return the loss of round t for the worst change of its row; rho for normal draws."""
    if not found.moves[:, t].any():
        return RowLoss(0.0, np.zeros(found.moves.shape[2]), np.zeros(found.noise.shape[1]))
    return row_loss(found, t, game.revealed[t], game.layers[0][1].values)


def at_delta(rows: list[RowLoss], delta: float) -> FloatArray:
    """Return the loss of each round at a delta, for Laplace draws and the changes that lose most at delta = 0."""
    known: list[tuple[FloatArray, float]] = []
    losses = np.zeros(len(rows))
    for t in sorted(range(len(rows)), key=lambda t: -rows[t].loss):
        draws = rows[t].draws
        assert draws is not None
        found = next((loss for moves, loss in known if dominates(moves, draws)), None)
        if found is None:
            found = epsilon_of_moves(draws, delta)
            known.append((draws, found))
        # A round that another one dominates loses at most as much as that one, and at most what it does at 0.
        losses[t] = min(found, rows[t].loss)
    return losses
