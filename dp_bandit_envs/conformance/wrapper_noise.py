"""Checks that a wrapper's noise is fresh, drawn from its own stream, and as large as declared."""

import math
import warnings
from typing import Final

import numpy as np

from dp_bandit_envs.audits.events import chance_at_least, features_of
from dp_bandit_envs.audits.floats import count_impossible
from dp_bandit_envs.audits.held_game import Held, game_of, layers_of_game
from dp_bandit_envs.audits.sampled import changes_of
from dp_bandit_envs.conformance.rules import FALSE_ALARM, require, require_hidden, tested
from dp_bandit_envs.conformance.trial_games import games_of
from dp_bandit_envs.conformance.wrapper_games import NO_SEED, Wrap, arms_of, play_table, released, run, wrapped
from dp_bandit_envs.errors import NotAuditedError
from dp_bandit_envs.privacy.guarantee import ANY_AGENT, PrivacyGuarantee
from dp_bandit_envs.privacy.secure_draws import takes_no_seed
from dp_bandit_envs.protocols import FloatArray

GAMES: Final = 30
FIRST_SEED: Final = 1_000_000
"""The seed of the first game in which an event is looked for."""
LOW_BITS: Final = 200
"""Releases whose low bits are looked at."""


def check_noise(wrap: Wrap, table: FloatArray) -> None:
    """Require equal noise for equal seeds, and with a guarantee, fresh noise otherwise.

    Seeds are compared over thirty games, because a mechanism with few outputs may agree in one.
    """
    arms = arms_of(len(table), table.shape[1])
    env = wrapped(wrap, games_of(table))
    first = [released(run(env, arms, seed)) for seed in range(GAMES)]
    again = [play_table(wrap, table, seed) for seed in range(GAMES)]
    same = all(np.array_equal(one, other) for one, other in zip(first, again, strict=True))
    require(same, "equal seeds must give equal noise", "other releases", "Draw from the stream that reset begins only.")
    require(
        any(map(np.any, first)),
        f"something must be released within {len(table)} rounds, or there is nothing to check",
        f"{GAMES} games without a release",
        "Pass a larger horizon=, or a wrapper with other parameters.",
    )
    if math.isinf(tested(env.get_wrapper_attr("guarantee"))[0]):
        return
    unseeded = wrapped(wrap, games_of(table))
    pairs = {
        "games of different seeds": first,
        "games of environments that were never given a seed": [play_table(wrap, table, NO_SEED) for _ in range(GAMES)],
        "games after a reset without a seed": [
            released(run(unseeded, arms, NO_SEED if game else 3)) for game in range(GAMES)
        ],
    }
    for what, games in pairs.items():
        require(
            any(not np.array_equal(game, games[0]) for game in games),
            f"{what} must have fresh noise, if a guarantee is declared",
            f"{GAMES} equal ones",
            "Begin a stream of your own in reset, or declare PrivacyGuarantee.none(reason).",
        )


def check_privacy(wrap: Wrap, rounds: int, n_arms: int, games: int) -> None:
    """Compare two neighbouring tables of gains: no event may be exp(epsilon) times as frequent, plus delta.

    A wrapper that keeps its guarantee fails with a probability below 5e-7, if seeds give independent noise. The events:
    the release at a step, its change, or the total so far is above a threshold, or is not. The round that differs is
    the first, one in the middle, or the last.
    """
    zeros = np.zeros((rounds, n_arms))
    pairs = [changes_of(zeros, changed)[0][:2] for changed in (0, rounds // 2, rounds - 1)]
    guarantee: PrivacyGuarantee = wrapped(wrap, games_of(pairs[0][0])).get_wrapper_attr("guarantee")
    if math.isinf(tested(guarantee)[0]) or guarantee.agents != ANY_AGENT:
        return
    arms = [0] * rounds

    def sample(table: FloatArray, numbers: range) -> FloatArray:
        env = wrapped(wrap, games_of(table))
        return features_of(np.array([released(run(env, arms, FIRST_SEED + number)) for number in numbers]))

    require_hidden(
        f"no event may be more than exp(epsilon) times as frequent if one round changes; declared is {guarantee}",
        "Add more noise, for the sensitivity of what is below, or declare a larger epsilon.",
        guarantee,
        pairs,
        sample,
        tries=max(100, games // 10),
        games=games,
    )


def check_low_bits(wrap: Wrap, table: FloatArray) -> None:
    """Look for first releases that one gain can lead to and another one cannot, whatever the noise is.

    Warns:
        UserWarning: If they cannot be looked at: where the wrapper is no `PrivacyBoundary`, or draws other noise.
    """
    env = wrapped(wrap, games_of(table))
    guarantee: PrivacyGuarantee = env.get_wrapper_attr("guarantee")
    if guarantee.model == "none":
        return
    layers = layers_of_game(env)
    if any(takes_no_seed(mechanism) for mechanism, _ in layers):
        return  # secure draws are exact
    batch = math.prod(mechanism.batch_size for mechanism, _ in layers)
    arms = arms_of(len(table), table.shape[1])
    held = Held(wrap, "", games_of(table), layers, tuple(arms[t // batch] for t in range(len(table))))
    try:
        if not layers:
            raise NotAuditedError("the wrapper is no PrivacyBoundary")
        impossible, looked_at = count_impossible(game_of(held, 0), LOW_BITS, 0)
    except NotAuditedError as reason:
        warnings.warn(f"low bits not looked at: {reason}.", stacklevel=3)
        return
    least = float(chance_at_least(np.array(impossible), looked_at, FALSE_ALARM))
    require(
        not impossible or not least > guarantee.delta_at(guarantee.epsilon),
        f"a release must be possible for every gain, but with a probability of delta; declared is {guarantee}",
        f"{impossible} of {looked_at} that no draw leads to if one gain is at the other end of its range",
        "Round the noisy value to a grid of some hundredths of the noise: privacy.laplace.noisy does.",
    )
