"""The exact privacy loss of an algorithm's noise for a changed round, beside what is declared."""

import dataclasses
import math
from typing import Any, SupportsIndex

import gymnasium as gym
import numpy as np

from dp_bandit_envs import checks
from dp_bandit_envs.adversaries import GainTable
from dp_bandit_envs.algorithms import Algorithm, make_algorithm
from dp_bandit_envs.audits.bit_laws import law_losses
from dp_bandit_envs.audits.held_game import HeldGame, Layer, UnknownDrawError, layers_of_game
from dp_bandit_envs.audits.linear_noise import LinearNoise, cheapest_change, linear_noise, row_changes
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.envs.experts_env import ExpertsEnv
from dp_bandit_envs.errors import NotAuditedError
from dp_bandit_envs.privacy.gaussian import gaussian_epsilon
from dp_bandit_envs.privacy.guarantee import PrivacyGuarantee
from dp_bandit_envs.privacy.mechanism import Mechanism
from dp_bandit_envs.protocols import Environment, FloatArray, plays_points
from dp_bandit_envs.simulation import play
from dp_bandit_envs.wrappers import PrivacyBoundary

TOLERANCE = 1e-9
"""A loss is within a claim up to this relative difference, which is that of the arithmetic."""


@dataclasses.dataclass(frozen=True)
class ExactLoss:
    """The exact privacy loss of the releases of one game with the arms held, and what is declared.

    Attributes:
        name: The algorithm's or mechanism's name.
        declared: The guarantee that is declared.
        by_round: The pure loss if a round's gains change, `(rounds,)`, in nats; for normal draws rho instead.
        gaussian: Whether the noise is normal.
        arms: The arms that were held, `(rounds,)`; all 0 where actions are points.
    """

    name: str
    declared: PrivacyGuarantee
    by_round: FloatArray
    gaussian: bool
    arms: tuple[int, ...]

    @property
    def rho(self) -> float | None:
        """The exact zCDP parameter of the worst round for normal draws, otherwise None."""
        return float(self.by_round.max()) if self.gaussian else None

    @property
    def epsilon(self) -> float:
        """The smallest epsilon that holds, in [0, inf]: at the declared delta for normal draws, else at delta = 0."""
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
        """Whether the exact loss is within the claim; True where nothing is declared."""
        if self.declared.model == "none":
            return True
        if self.rho is not None and self.declared.rho is not None:
            return self.rho <= self.declared.rho * (1 + TOLERANCE)
        # The search for epsilon at a delta has a relative error of its own.
        return self.epsilon <= self.declared.epsilon * (1 + (2 if self.gaussian else 1) * TOLERANCE)


def exact_loss(
    algorithm: Algorithm | Mechanism | str,
    *,
    horizon: SupportsIndex = 16,
    n_arms: SupportsIndex = 2,
    env: Environment | None = None,
    seed: int = 0,
) -> ExactLoss:
    """Work out the exact privacy loss of an algorithm's noise in one game, over all rounds and whole rows of gains.

    The agent plays one game with real noise; then its arms are held. They may be: the agent sees released values only,
    so the density of what is released, given the arms, changes by the same factor as the joint density. How the
    releases depend on gains and draws is found by calling the mechanisms' `release` with fake draws. The loss is that
    of the released numbers before they are rounded to the grid, so it is an upper bound after that. It belongs to the
    arms of this game: a longer one, or other arms, can lose more.

    Args:
        algorithm: An algorithm or the name of one; or a mechanism, for which the worst of a few sequences of arms
            (one arm only, and arms in turn) is taken.
        horizon: Number of rounds, at least 1. Only without `env`.
        n_arms: Number of arms, at least 2. Only without `env`.
        env: The game, without the algorithm's wrappers; by default random gains in [0, 1], all of which are revealed
            if the algorithm needs them all, or the ball in two dimensions for one that plays points only.
        seed: The seed of that game.

    Raises:
        NotAuditedError: If nothing draws noise but the agent itself, if a draw is neither Laplace nor normal nor a
            random bit for each gain, or if the releases are not linear in the draws.
        ImportError: If SciPy is needed and missing (extra `audits`).

    Source: Hardt and Talwar (2010) for the loss of additive noise; Denisov, McMahan, Rush, Smith and Thakurta (2022)
    for gains chosen after earlier releases.
    """
    if isinstance(algorithm, str):
        algorithm = make_algorithm(algorithm)
    k, t = checks.integer("n_arms", n_arms, at_least=2), checks.integer("horizon", horizon, at_least=1)
    if isinstance(algorithm, Mechanism):
        return _of_mechanism(algorithm, env or _random_game(k, t, seed))
    if env is None:
        full = algorithm.feedback == "full"
        env = _random_game(k, t, seed, everything=full) if algorithm.make_agent else _points(t, algorithm.feedback)
    declared = algorithm.guarantee_in(env)
    arms = tuple(play(env, algorithm, seed=seed).arms.tolist())
    layers = layers_of_game(algorithm.wrap(env))
    if algorithm.own_guarantee is not None or not layers:
        raise NotAuditedError(
            f"{algorithm.name} has no noise but its agent's own draws, which this audit does not cover."
            " Use sampled_loss."
        )
    return _loss(algorithm.name, declared, layers, env, arms, seed, algorithm.player)


def _random_game(n_arms: int, horizon: int, seed: int, *, everything: bool = False) -> BanditEnv:
    gains = GainTable(np.random.default_rng(seed).random((horizon, n_arms)))
    return ExpertsEnv(gains=gains) if everything else BanditEnv(gains)


def _points(horizon: int, feedback: str) -> Environment:
    seen = "bandit" if feedback == "payoff" else "full"
    game: Environment = gym.make("DPBandit-Ball-v0", dimension=2, horizon=horizon, feedback=seen)
    return game


def _of_mechanism(mechanism: Mechanism, env: Environment) -> ExactLoss:
    wrapped = PrivacyBoundary(env, mechanism)
    declared, layers = wrapped.guarantee, layers_of_game(wrapped)
    rounds, step = int(env.get_wrapper_attr("horizon")), mechanism.batch_size
    n_arms = 1 if plays_points(env) else int(env.get_wrapper_attr("n_arms"))
    tries = [[0] * rounds, [(t // step) % n_arms for t in range(rounds)]]
    losses = [_loss(type(mechanism).__name__, declared, layers, env, tuple(arms), 0, "") for arms in tries]
    return max(losses, key=lambda each: float(each.by_round.max()))


def _loss(
    name: str,
    declared: PrivacyGuarantee,
    layers: list[Layer],
    env: Environment,
    arms: tuple[int, ...],
    seed: int,
    player: str,
) -> ExactLoss:
    game = HeldGame(layers, _revealed(env, arms, layers[0][1].n_values, seed, player))
    try:
        found = linear_noise(game)
    except UnknownDrawError as draw:
        return ExactLoss(name, declared, law_losses(game, draw.args[0]), False, arms)
    except NotAuditedError as error:
        raise NotAuditedError(f"{name}: {error}. Use sampled_loss.") from None
    loss = ExactLoss(name, declared, round_losses(found, game), found.kind == "normal", arms)
    if not loss.holds and declared.delta > 0 and not loss.gaussian:
        raise NotAuditedError(
            f"{name}: the loss at delta = 0 is {loss.epsilon:g}, and no audit here gives that of Laplace noise at"
            f" delta = {declared.delta:g}. Use a shorter horizon, for which it declares delta = 0, or sampled_loss."
        )
    return loss


def round_losses(found: LinearNoise, game: HeldGame) -> FloatArray:
    """Return the loss of each round for the worst change of its row, `(rounds,)`; rho for normal draws."""
    values, n_values = game.layers[0][1].values, game.layers[0][1].n_values
    losses = np.zeros(len(game.revealed))
    for t, seen in enumerate(game.revealed):
        if not found.moves[:, t].any():
            continue
        for change in row_changes(seen, n_values, values):
            draws = cheapest_change(found, found.moves[:, t] @ change)
            if draws is None:
                losses[t] = math.inf
                break
            cost = float((draws**2).sum() / 2 if found.kind == "normal" else np.abs(draws).sum())
            losses[t] = max(losses[t], cost)
    return losses


def _revealed(env: Environment, arms: tuple[int, ...], n_values: int, seed: int, player: str) -> list[list[int]]:
    """Return the numbers of the values that each round of the game reveals, by playing its arms again."""
    if plays_points(env):
        return [list(range(n_values))] * len(arms)
    options: dict[str, Any] = {"trial": 0, "player": player} if player else {"trial": 0}
    env.reset(seed=seed, options=options)
    return [np.flatnonzero(env.step(arm)[0]["observed"]).tolist() for arm in arms]
