"""Games behind a wrapper, step by step as an agent above it sees them, and what two of them must have in common.

Equal seeds and equal gains give the same game, other gains the same flags; the vector form plays the same; and noise is
fresh, drawn from the wrapper's own stream, and as large as declared.
"""

import math
import warnings
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from dp_bandit_envs.adversaries import GainTable
from dp_bandit_envs.audits.events import chance_at_least, features_of
from dp_bandit_envs.audits.floats import count_impossible
from dp_bandit_envs.audits.held_game import Held, game_of, layers_of_game
from dp_bandit_envs.audits.sampled import changes_of
from dp_bandit_envs.conformance.rules import FALSE_ALARM, must_not_fail, require, require_hidden, tested
from dp_bandit_envs.conformance.trial_games import games_of
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.envs.bandit_vector_env import BanditVectorEnv
from dp_bandit_envs.errors import NotAuditedError
from dp_bandit_envs.privacy.guarantee import ANY_AGENT, PrivacyGuarantee
from dp_bandit_envs.privacy.secure_draws import takes_no_seed
from dp_bandit_envs.protocols import Environment, FloatArray, Observation

Wrap = Callable[[Any], Any]
NO_SEED: Final = -1
GAMES: Final = 30
FIRST_SEED: Final = 1_000_000
"""The seed of the first game in which an event is looked for."""
LOW_BITS: Final = 200
"""Releases whose low bits are looked at."""
NUM_ENVS: Final = 3
FACTS: Final = ("sensitivity", "guarantee", "horizon", "n_arms")


class Step(NamedTuple):
    """What one step returned; for `reset`, without reward and flags."""

    observation: Observation
    reward: Any
    terminated: Any
    truncated: Any
    info: dict[str, Any]


def wrapped(wrap: Wrap, game: BanditEnv) -> Environment:
    """Wrap a game."""
    # No game has begun, so that a message holds no gain.
    way_out = "Pass another horizon=, if the wrapper needs a longer or shorter game."
    if isinstance(wrap, type) or not callable(wrap):
        way_out = "wrap is a function of the game alone, such as lambda env: MyWrapper(env, epsilon=1.0)."
    with must_not_fail("wrap(env)", way_out, shown=True):
        env: Environment = wrap(game)
    return env


def arms_of(rounds: int, n_arms: int) -> list[int]:
    """Return a sequence of arms with runs and returns, like an agent's."""
    return [t // 3 % n_arms for t in range(rounds)]


def run(
    env: Environment,
    arms: Sequence[Any],
    seed: int,
    *,
    after: Callable[[Step], Any] = lambda step: None,
) -> list[Step]:
    """Play a game to its end, or to the end of `arms` (or points); return copies of all steps, from `reset` on.

    The seed may be `NO_SEED`. `after` is called with each step as it was returned.
    """

    def kept(step: Step) -> Step:
        observation = {name: part.copy() if np.ndim(part) else part for name, part in step.observation.items()}
        return step._replace(observation=observation, info=dict(step.info))

    with must_not_fail("a game behind the wrapper", "It is reset once and then stepped to its end."):
        observation, info = env.reset() if seed == NO_SEED else env.reset(seed=seed)
        step = Step(observation, 0.0, False, False, info)
        steps = [kept(step)]
        after(step)
        for arm in arms:
            step = Step(*env.step(arm))
            steps.append(kept(step))
            after(step)
            if step.terminated or step.truncated:
                break
    return steps


def released(steps: Sequence[Step]) -> FloatArray:
    """Return all numbers of all observations after `reset`, shape `(steps, numbers)`."""
    rows = [np.concatenate([np.ravel(step.observation[key]) for key in sorted(step.observation)]) for step in steps[1:]]
    numbers: FloatArray = np.array(rows, dtype=float)
    return numbers


def play_table(wrap: Wrap, table: FloatArray, seed: int, arms: Sequence[int] | None = None) -> FloatArray:
    """Play a game with these gains behind the wrapper and return what it released."""
    env = wrapped(wrap, games_of(table))
    return released(run(env, arms_of(len(table), table.shape[1]) if arms is None else arms, seed))


def check_flags(wrap: Wrap, table: FloatArray, steps: list[Step]) -> None:
    """Require flags and info that depend on the horizon only."""
    arms = arms_of(len(table), table.shape[1])
    flags = [step[2:] for step in steps]
    for other, seed in ((np.zeros_like(table), 3), (np.ones_like(table), 4), (1 - table, 5)):
        seen = [step[2:] for step in run(wrapped(wrap, games_of(other)), arms[::-1], seed)]
        require(
            seen == flags, "flags and info must depend on the horizon only", "others for other gains", "Pass them on."
        )


def check_unrevealed(wrap: Wrap, table: FloatArray) -> None:
    """Require that gains of arms that were not played change nothing."""
    other = 1 - table
    other[:, 0] = table[:, 0]
    arms = [0] * len(table)
    for seed in range(5):
        same = np.array_equal(play_table(wrap, table, seed, arms), play_table(wrap, other, seed, arms))
        require(
            same,
            "gains of arms that were not played must change nothing",
            "other releases",
            "Use what was observed below, not env.unwrapped.",
        )


def check_sensitivity(wrap: Wrap, table: FloatArray) -> None:
    """Require that one changed round changes released gains by at most the sensitivity, with the noise fixed."""
    env = wrapped(wrap, games_of(table))
    declared = float(env.get_wrapper_attr("sensitivity"))
    if math.isinf(declared) or "gain" not in env.observation_space.spaces:  # type: ignore[attr-defined]
        return
    arms = arms_of(len(table), table.shape[1])
    covered = env.get_wrapper_attr("guarantee").model != "none"
    for seed in range(4):
        for changed in range(len(table)):
            tables = changes_of(table, changed)[0][:2]
            pair = [run(wrapped(wrap, games_of(part)), arms, seed) for part in tables]
            seen = [[step.observation["observed"] for step in steps] for steps in pair]
            require(
                covered or np.array_equal(seen[0], seen[1]),
                "without a guarantee, which gains are withheld must not depend on their values",
                "a game in which it did",
                "Release clipped gains instead, or add noise first.",
            )
            require_sensitivity(declared, pair, "round")


def require_sensitivity(declared: float, pair: Sequence[Sequence[Step]], changed: str) -> None:
    """Require that what two games with the same noise release differs by no more than the sensitivity in L1."""
    gains, seen = (
        [np.array([step.observation[key] for step in each]) for each in pair] for key in ("gain", "observed")
    )
    moved = float(np.abs(gains[0] - gains[1])[(seen[0] > 0) & (seen[1] > 0)].sum())
    require(
        moved <= declared * (1 + 1e-9),
        f"one changed {changed} must move the released gains by at most sensitivity = {declared:g} in L1",
        f"a game in which it moved them by {moved:g}",
        "Declare a larger sensitivity; noise above is made for it.",
    )


def check_vector(wrap: Wrap, vector: Wrap, table: FloatArray) -> None:
    """Require equal declarations, and that game i of the vector form is the scalar game with seed + i, bit by bit."""
    single = wrapped(wrap, games_of(table))
    with must_not_fail("vector(envs)", "It puts the vector form around a BanditVectorEnv."):
        many: Any = vector(BanditVectorEnv(NUM_ENVS, GainTable(table)))
    for fact in FACTS:
        one, other = single.get_wrapper_attr(fact), getattr(many, fact, None)
        require(one == other, f"{fact} of the vector form must be that of the scalar one", f"{other!r}", "Declare it.")
    arms = arms_of(len(table), table.shape[1])
    scalar = [run(wrapped(wrap, games_of(table)), arms, 5 + game) for game in range(NUM_ENVS)]
    with must_not_fail("games behind the vector form", "They are reset once and stepped to their end."):
        observation, info = many.reset(seed=5)
        never = np.zeros(NUM_ENVS)
        together = [(observation, never, never, never, info)]
        together += [many.step(np.full(NUM_ENVS, arm)) for arm in arms[: len(scalar[0]) - 1]]
    for game in range(NUM_ENVS):
        for alone, all_games in zip(scalar[game], together, strict=True):
            seen, *rest, info = all_games
            same = set(seen) == set(alone.observation)
            same = same and all(np.array_equal(seen[key][game], part) for key, part in alone.observation.items())
            same = same and [part[game] for part in rest] == list(alone[1:4])
            same = same and set(info) <= {"round", "_round"} and info["round"][game] == alone.info["round"]
            require(
                same,
                "game i of the vector form must be the scalar one with seed + i, to the last bit",
                f"another game {game}",
                "Use the same mechanism code and one stream for each game.",
            )


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
