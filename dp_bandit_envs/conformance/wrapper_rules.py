"""The rules for privacy wrappers: only releases leave the wrapper, with the noise that it declares.

Nothing private leaves through attributes, errors, gains out of range or copies either.
"""

import contextlib
import copy
import math
import pickle
import traceback
import warnings
from collections.abc import Callable, Sequence
from numbers import Real
from typing import Any, Final, NamedTuple

import gymnasium as gym
import numpy as np

from dp_bandit_envs import checks
from dp_bandit_envs.adversaries import GainTable, VectorTable
from dp_bandit_envs.audits.events import chance_at_least, features_of
from dp_bandit_envs.audits.floats import count_impossible
from dp_bandit_envs.audits.held_game import Held, game_of, layers_of_game
from dp_bandit_envs.audits.sampled import changes_of
from dp_bandit_envs.conformance.rules import (
    FALSE_ALARM,
    global_randomness_untouched,
    must_not_fail,
    require,
    require_hidden,
    tested,
)
from dp_bandit_envs.conformance.trial_games import games_of, table_of
from dp_bandit_envs.decisions import Cube, payoff
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.envs.bandit_vector_env import BanditVectorEnv
from dp_bandit_envs.envs.point_env import PointEnv
from dp_bandit_envs.errors import NotAuditedError, WrongGameError, WrongPointError
from dp_bandit_envs.privacy.facts import Below
from dp_bandit_envs.privacy.guarantee import ANY_AGENT, PrivacyGuarantee
from dp_bandit_envs.privacy.mechanism import Mechanism
from dp_bandit_envs.privacy.secure_draws import takes_no_seed
from dp_bandit_envs.protocols import Environment, FloatArray, Observation
from dp_bandit_envs.seeding import FIRST_WRAPPER
from dp_bandit_envs.wrappers.boundary import streams_of

Wrap = Callable[[Any], Any]
NO_SEED: Final = -1
GAMES: Final = 30
FIRST_SEED: Final = 1_000_000
"""The seed of the first game in which an event is looked for."""
LOW_BITS: Final = 200
"""Releases whose low bits are looked at."""
NUM_ENVS: Final = 3
FACTS_OF_VECTOR: Final = ("sensitivity", "guarantee", "horizon", "n_arms")


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
    for fact in FACTS_OF_VECTOR:
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
        warnings.warn(f"low bits not looked at: {reason}.", stacklevel=checks.level_of_caller())
        return
    least = float(chance_at_least(np.array(impossible), looked_at, FALSE_ALARM))
    require(
        not impossible or not least > guarantee.delta_at(guarantee.epsilon),
        f"a release must be possible for every gain, but with a probability of delta; declared is {guarantee}",
        f"{impossible} of {looked_at} that no draw leads to if one gain is at the other end of its range",
        "Round the noisy value to a grid of some hundredths of the noise: privacy.laplace.noisy does.",
    )


DIMENSION: Final = 3
FEEDBACKS: Final = ("full", "bandit")
KEPT_FACTS = ("sensitivity", "guarantee", "horizon", "mechanism")


@checks.answers_wrong_calls
def check_wrapper(
    wrap: Wrap,
    *,
    vector: Callable[[Any], Any] | None = None,
    horizon: int = 24,
    n_arms: int = 3,
    games: int = 1000,
) -> None:
    """Check a privacy wrapper of your own: its releases, that nothing else leaks, and that its noise is as declared.

    The rules: observations are in the declared space, and new arrays at every step; the reward is the released gain of
    the arm played, or its released mean; `info` is `{"round": t}`; the flags and the rounds depend on the horizon only,
    and the game has as many steps as declared; an arm outside the game, and a step before `reset` or after the end, are
    refused; the mechanism's `release` returns a value in its range and a count; `sensitivity`, `guarantee`, `horizon`
    and `mechanism` are read-only; the layers below cannot be reached through attributes; gains that were not revealed
    change nothing; one changed round changes released gains by at most `sensitivity` with the noise fixed, and without
    a guarantee no gain is withheld because of its value; errors from below arrive without their text, values and
    frames; gains outside [0, 1] are refused; a copy or a pickle of a game that has begun is refused; equal seeds give
    equal noise, no seed fresh noise; the global random state is not used; the vector form, if given, plays the same
    games; a wrapper whose mechanism accepts any range keeps the rules on games of points, too; low bits of releases
    show no gain (a warning says so where they cannot be looked at); and on two neighbouring tables of gains no tested
    event is more than exp(epsilon) times as frequent, plus delta.

    The last rule is a test on samples: it finds noise that is much too small, and cannot prove that noise is large
    enough. Probabilities below about 15 / `games` are not detected, so an epsilon above 4 is hardly tested; use a
    smaller one for the test. A correct wrapper fails with a probability below 1e-6. A wrapper with secure draws takes
    no seed; check it with `draws="fast"`.

    Args:
        wrap: Wraps an environment, such as `lambda env: LaplaceClipRescale(env, epsilon=1.0)`.
        vector: Wraps a vector environment in the vector form.
        horizon: Number of rounds of the games T, at least 4 and at least a batch.
        n_arms: Number of arms K, at least 2.
        games: Number of games of each table in the last rule; 0 skips it.

    Raises:
        ConformanceError: If a rule is broken.
    """
    rounds = checks.integer("horizon", horizon, at_least=4)
    k = checks.integer("n_arms", n_arms, at_least=2)
    table = table_of(rounds, k)
    with global_randomness_untouched("a wrapper"):
        _check_facts(wrap, table)
        check_mechanism(wrapped(wrap, games_of(table)))
        steps = _check_steps(wrap, table)
        _check_order(wrap, table)
        _check_freshness(wrap, table)
        check_flags(wrap, table, steps)
        check_unrevealed(wrap, table)
        check_sensitivity(wrap, table)
        check_secrets(wrap, table)
        check_noise(wrap, table)
        if getattr(getattr(wrap(games_of(table)), "mechanism", None), "any_range", False):
            check_points(wrap, rounds)
        if vector is not None:
            check_vector(wrap, vector, table)
        check_low_bits(wrap, table)
        if checks.integer("games", games, at_least=0):
            check_privacy(wrap, rounds, k, games)


def _check_facts(wrap: Wrap, table: FloatArray) -> None:
    game = games_of(table)
    env: Any = wrapped(wrap, game)
    require(isinstance(env, gym.Env), "wrap(env) must return an environment", checks.kind_of(env), "Return it.")
    require(env.unwrapped is game, "unwrapped must be the game below, for the evaluator", "another", "Keep the game.")
    space = gym.spaces.Discrete(table.shape[1])
    require(env.action_space == space, f"the action space must be {space}", f"{env.action_space}", "Keep it.")
    good: dict[str, Callable[[Any], bool]] = {
        "sensitivity": lambda value: isinstance(value, (int, float)) and value > 0,
        "guarantee": lambda value: isinstance(value, PrivacyGuarantee),
        "horizon": lambda value: type(value) is int and 1 <= value <= len(table),
        "n_arms": lambda value: value == table.shape[1],
    }
    wanted = "a number above 0, a PrivacyGuarantee, a number of steps of at most T, and K"
    for fact, is_good in good.items():
        with must_not_fail(f"reading {fact} of a wrapper", f"A wrapper declares {', '.join(good)}: {wanted}."):
            value = env.get_wrapper_attr(fact)
        require(is_good(value), f"a wrapper must declare {', '.join(good)}: {wanted}", f"{fact} = {value!r}", "Set it.")
    claimed = env.guarantee
    stated = (
        claimed.epsilon >= 0 and 0 <= claimed.delta < 1 and (claimed.model != "none" or math.isinf(claimed.epsilon))
    )
    way_out = "PrivacyGuarantee.none(reason) states that there is none."
    require(stated, "a guarantee has epsilon >= 0 and delta in [0, 1)", f"{claimed.epsilon}, {claimed.delta}", way_out)

    def shown() -> dict[str, Any]:
        # `mechanism` may return a new copy each time, whose repr contains an address.
        facts = {fact: getattr(env, fact) for fact in KEPT_FACTS if hasattr(env, fact)}
        return {name: type(value) if name == "mechanism" else value for name, value in facts.items()}

    before = shown()
    for fact in before:
        for change in (lambda: setattr(env, fact, None), lambda: env.set_wrapper_attr(fact, None)):  # noqa: B023
            with contextlib.suppress(Exception):
                change()
        require(
            shown() == before,
            f"{fact} must be read-only: noise and guarantee belong together",
            "a wrapper in which it can be set",
            "Inherit PrivacyBoundary, or make it a property.",
        )


def _check_steps(wrap: Wrap, table: FloatArray) -> list[Step]:
    """Check every step as an agent sees it, and return the steps."""
    env = wrapped(wrap, games_of(table))
    arms = arms_of(len(table), table.shape[1])
    steps = run(env, arms, 3)
    past = -1
    for number, step in enumerate(steps):
        where = f"step {number}" if number else "reset"
        inside = env.observation_space.contains(step.observation)
        require(inside, "observations must be in observation_space", f"one of {where} outside", "Declare its space.")
        info = step.info
        known = set(info) == {"round"} and type(info["round"]) is int and info["round"] > past
        require(
            known, 'info must be {"round": t} with an int that rises', f"keys {sorted(info)}", "Return nothing else."
        )
        past = info["round"]
        if number:
            _check_reward(step, arms[number - 1])
            flags = type(step.terminated) is bool and type(step.truncated) is bool
            require(flags, "flags must be bools", f"{type(step.terminated).__name__}", "Return bool(terminated).")
    horizon = int(env.get_wrapper_attr("horizon"))
    # Rounds left over after the last batch may take an extra step, which releases nothing.
    extra = len(steps) == horizon + 2 and steps[-1].info["round"] < len(table) + 1
    ended = len(steps) == horizon + 1 or (extra and _released_nothing_new(steps))
    require(
        ended and steps[-1].terminated and past == len(table),
        f"a game of {len(table)} rounds must end after its declared horizon of {horizon} steps, with all rounds played",
        f"{len(steps) - 1} steps and {past} rounds",
        "Declare horizon as the number of steps that release something.",
    )
    first = steps[0].observation
    empty = all(not np.any(part) for part in first.values()) and steps[0].info == {"round": 0}
    require(empty, "reset must return nothing released and round 0", "something", "Return zeros.")
    return steps


def _released_nothing_new(steps: list[Step]) -> bool:
    last, before = steps[-1].observation, steps[-2].observation
    if "observed" in last:
        return not np.any(last["observed"])
    return all(np.array_equal(part, before[key]) for key, part in last.items())


def _check_reward(step: Step, arm: int) -> None:
    seen, reward = step.observation, step.reward
    require(type(reward) is float, "reward must be a float", checks.kind_of(reward), "Return float(reward).")
    if "gain" in seen:
        expected = float(seen["gain"][arm])
        hidden = seen["gain"][seen["observed"] == 0]
        require(not np.any(hidden), "gain must be 0 where observed is 0", "others", "Write zeros there.")
    else:
        count = float(seen["count"][arm])
        expected = float(seen["sum"][arm]) / count if count else 0.0
    require(
        reward == expected,
        "reward must be the released gain of the arm played, or its released mean, and 0.0 if there is none",
        "another number, which is withheld",
        "Compute it from the observation that is returned.",
    )


def _check_order(wrap: Wrap, table: FloatArray) -> None:
    needed = gym.error.ResetNeeded
    for moment in ("before reset", "after the last step"):
        env = wrapped(wrap, games_of(table))
        if moment != "before reset":
            run(env, arms_of(len(table), table.shape[1]), 3)
        received = _error_type(env, 0)
        asked = received is not None and issubclass(received, needed)
        shown = "no error" if received is None else f"a {received.__name__}"
        require(asked, f"step {moment} must raise {needed.__name__}", shown, "Inherit PrivacyBoundary, or raise it.")
    for arm in (-1, table.shape[1], 0.5):
        env = wrapped(wrap, games_of(table))
        env.reset(seed=1)
        received = _error_type(env, arm)
        known = received is not None and issubclass(received, (ValueError, TypeError))
        rule = f"an arm outside [0, {table.shape[1] - 1}] must raise a ValueError"
        require(known, rule, f"for {arm} " + ("none" if received is None else received.__name__), "Check it in step.")


def _error_type(env: Environment, arm: Any) -> type[Exception] | None:
    try:
        env.step(arm)
    except Exception as error:
        return type(error)
    return None


def _check_freshness(wrap: Wrap, table: FloatArray) -> None:
    arms = arms_of(len(table), table.shape[1])
    expected = play_table(wrap, table, 3)
    kept: list[Any] = []
    seen: list[FloatArray] = []

    def spoil(step: Step) -> None:
        for part in (*step.observation.values(), step.info):
            kept.append(part)
        seen.append(np.concatenate([np.ravel(step.observation[key]) for key in sorted(step.observation)]).astype(float))
        for part in step.observation.values():
            if isinstance(part, np.ndarray):
                part[...] = 1
        step.info["round"] = -7

    run(wrapped(wrap, games_of(table)), arms, 3, after=spoil)
    objects = [part for part in kept if isinstance(part, (np.ndarray, dict))]
    fresh = len({id(part) for part in objects}) == len(objects)
    require(
        fresh and np.array_equal(np.array(seen[1:]), expected),
        "every step must return fresh arrays and a fresh info, which may be written to",
        "arrays that are used again",
        "Return copies.",
    )


def check_mechanism(env: Any) -> None:
    """Require that the outermost mechanism's `release` returns (value, count), in the range it declares.

    Behind a wrapper such faults end a game without a word about their cause, because it may be private. Wrappers that
    are no `PrivacyBoundary` have no mechanism, and are not looked at.

    Args:
        env: The wrapper around a game.
    """
    mechanism, below = getattr(env, "mechanism", None), getattr(env, "below", None)
    if not isinstance(mechanism, Mechanism) or not isinstance(below, Below):
        return
    name = type(mechanism).__name__
    rng = streams_of(mechanism, FIRST_WRAPPER, "conformance").next(None if takes_no_seed(mechanism) else 0)
    low, high = below.values.low, below.values.high
    gains = np.random.default_rng(0).uniform(low, high, below.horizon)
    gains[:2] = low, high
    state, release = mechanism.new_state(below), mechanism.release_for(below)
    for gain, arm in zip(gains.tolist(), arms_of(below.horizon, below.n_values), strict=True):
        try:
            returned = release(state, arm, gain, rng)
            for other in range(below.n_values):
                if mechanism.idle is not None and other != arm:
                    mechanism.idle(state, other, rng)
            if mechanism.forget is not None:
                mechanism.forget(state)
        except Exception as error:
            received = f"{checks.kind_of(error)} ({error}) for the gain {gain:g} of this check"
            require(
                False,
                f"release(state, arm, gain, rng) of {name} must not fail",
                received,
                "Mend it; the error is the cause of this one.",
            )
        _check_returned(returned, gain, mechanism, below)


def _check_returned(returned: Any, gain: float, mechanism: Mechanism, below: Below) -> None:
    name, low, high = type(mechanism).__name__, below.values.low, below.values.high
    pair = isinstance(returned, tuple) and len(returned) == 2
    pair = pair and isinstance(returned[0], Real) and isinstance(returned[1], (int, np.integer))
    require(
        pair and returned[1] >= 0,
        f"release(state, arm, gain, rng) of {name} must return a number and how many gains are in it",
        f"{returned!r} for the gain {gain:g} of this check",
        "Return (value, 1), or (0.0, 0) where nothing is released.",
    )
    value, count = returned
    if mechanism.releases_sums:
        good = count == 0 or math.isfinite(value)
        require(good, f"a sum that {name} releases must be finite", f"{value!r}", "Return (0.0, 0) until there is one.")
        return
    require(
        count == 0 or low <= value <= high,
        f"a gain that {name} releases must be in [{low:g}, {high:g}]",
        f"{value!r} for the gain {gain:g} of this check",
        "Clip it, withhold it with count 0, or set releases_sums = True if it is a sum.",
    )
    require(
        count > 0 or mechanism.withholds or mechanism.batch_size > 1,
        f"{name}, which has withholds = False, must release every gain",
        f"count 0 for the gain {gain:g} of this check",
        "Set withholds = True.",
    )


class _FailingPoints(PointEnv):
    """A game whose error contains a gain vector."""

    def _reveal(self, arm: int, gain: float) -> Any:
        if self._round == 3:
            raise ValueError(f"the gains {self._shown().tolist()} are wrong") from KeyError(PLANTED)
        return super()._reveal(arm, gain)


class _PointsOutOfRange(PointEnv):
    """A game that reveals a value below -1."""

    def _reveal(self, arm: int, gain: float) -> Any:
        observation = super()._reveal(arm, gain)
        observation["gain"][0] -= 2.5
        return observation


def check_points(wrap: Wrap, rounds: int) -> None:
    """Require that a wrapper whose mechanism accepts any range keeps the rules on games of points, too.

    Args:
        wrap: Wraps an environment.
        rounds: Number of rounds of the games.
    """
    table = np.random.default_rng(rounds).uniform(-0.3, 0.3, (rounds, DIMENSION))
    table[:, 1] = PLANTED
    points = [Cube(DIMENSION).project(row * 4) for row in np.random.default_rng(1).standard_normal((rounds, DIMENSION))]
    try:
        wrap(PointEnv(_made_up(table), Cube(DIMENSION)))
    except WrongGameError:
        return  # a mechanism further below needs gains in [0, 1]
    for feedback in FEEDBACKS:
        game = PointEnv(_made_up(table), Cube(DIMENSION), feedback=feedback)
        env: Any = wrapped(wrap, game)
        steps = run(env, points, 3)
        for number, step in enumerate(steps[1:]):
            inside = env.observation_space.contains(step.observation)
            require(inside, "observations must be in observation_space", "one outside", "Declare its space.")
            _check_points_reward(step.observation, step.reward, points[number], feedback)
        again = released(run(wrapped(wrap, game), points, 3))
        same = np.array_equal(again, released(steps))
        require(same, "equal seeds must give equal noise", "other releases", "Draw from the stream of reset only.")
        _check_set(wrap, game, points[0])
        _check_withheld(wrap, table, feedback, points)
        _check_vectors_sensitivity(wrap, table, feedback, points)


def _made_up(table: FloatArray) -> VectorTable:
    adversary = VectorTable(table)
    adversary.is_real = False
    return adversary


def _check_points_reward(seen: Any, reward: Any, point: FloatArray, feedback: str) -> None:
    means = seen["sum"] / np.maximum(seen["count"], 1) if "sum" in seen else seen["gain"]
    expected = payoff(means.tolist(), point.tolist() if feedback == "full" else [1.0], -1.0, 1.0)
    require(
        type(reward) is float and reward == expected,
        "the reward of a point must be the scalar product of released values, or means, with it",
        "another number, which is withheld",
        "Compute it from the observation that is returned.",
    )


def _check_set(wrap: Wrap, game: PointEnv, point: FloatArray) -> None:
    """Require that points outside are refused, also after the set that is handed out was changed."""
    env: Any = wrapped(wrap, game)
    env.reset(seed=1)
    with contextlib.suppress(Exception):
        vars(env.decision_set).update(contains=lambda _: True)
    for wrong in (point * 0 + 9.0, point * math.nan, point[1:], None):
        received = "no error"
        try:
            env.step(wrong)
        except WrongPointError:
            continue
        except Exception as error:
            received = checks.kind_of(error)
        require(False, "a wrong point must raise a WrongPointError", received, "Check it against a copy of the set.")


def _check_withheld(wrap: Wrap, table: FloatArray, feedback: str, points: list[FloatArray]) -> None:
    for kind in (_FailingPoints, _PointsOutOfRange):
        env = wrapped(wrap, kind(_made_up(table), Cube(DIMENSION), feedback=feedback))
        caught, _ = failure(env, points)
        rule = "an error from below, and a value outside its range, must end a game of points without showing gains"
        require(caught is not None, rule, "a game that went on", "Inherit PrivacyBoundary.")
        require(DIGITS not in everything_in(caught), rule, "a private gain in the error", "Inherit PrivacyBoundary.")


def _check_vectors_sensitivity(wrap: Wrap, table: FloatArray, feedback: str, points: list[FloatArray]) -> None:
    one, other = table.copy(), table.copy()
    one[1], other[1] = (1.0, 0.0, 0.0), (-1.0, 0.0, 0.0)
    envs = [wrapped(wrap, PointEnv(_made_up(part), Cube(DIMENSION), feedback=feedback)) for part in (one, other)]
    declared = float(envs[0].get_wrapper_attr("sensitivity"))
    if not math.isinf(declared):
        require_sensitivity(declared, [run(env, points, 5) for env in envs], "gain vector")


PLANTED: Final = 0.1234567891
DIGITS: Final = "1234567"
"""Digits of the planted gain that repr, str.format and NumPy's printing all show."""
BELOW: Final = ("adversary", "external_regret", "cumulative_gains", "collected", "on_block", "_rows", "planted", "env")
"""Attributes of a game (some planted for the test) that only an evaluator may read."""


class _Failing(BanditEnv):
    """A game whose error contains a gain in its message, arguments, note and cause."""

    fails_in = "step"

    def reset(self, **options: Any) -> Any:
        """Fail in `reset`, if so configured."""
        if self.fails_in == "reset":
            self._fail(PLANTED)
        return super().reset(**options)

    def step(self, action: Any) -> Any:
        """Fail in the third round, if so configured."""
        result: tuple[Any, ...] = super().step(action)
        if self.fails_in == "step" and result[4] == {"round": 3}:
            self._fail(float(self._rows[2][int(action)]))
        return result

    def _fail(self, gain: float) -> None:
        error = ValueError(f"the gain {gain} is wrong", gain)
        error.add_note(f"gain {gain}")
        raise error from KeyError(gain)


class _OutOfRange(BanditEnv):
    """A game with gains outside [0, 1], for which noise is not calibrated."""

    added: float = 1.0

    def step(self, action: Any) -> Any:
        """Add to the gain in the second round."""
        result = super().step(action)
        if result[4] == {"round": 2}:
            result[0]["gain"][action] += self.added
        return result


def check_secrets(wrap: Wrap, table: FloatArray) -> None:
    """Require that nothing private leaks in other ways than through the observation."""
    planted, arms = np.full_like(table, PLANTED), arms_of(*table.shape)
    _check_attributes(wrap, planted)
    for fails_in in ("step", "reset"):
        failing = _Failing(GainTable(planted))
        failing.fails_in = fails_in
        error, frames = failure(wrapped(wrap, failing), arms)
        rule = "an error from below must be replaced by one that contains nothing of it"
        require(error is not None, "an error from below must end the game", "a game that went on", "Do not swallow it.")
        for place, text in (("text, notes or causes", everything_in(error)), ("frames", frames)):
            way_out = "Raise a BoundaryError outside of the except clause, or inherit PrivacyBoundary."
            require(DIGITS not in text, rule, f"a private gain in its {place}", way_out)
    for added in (1.0, -1.0, math.nan):
        outside = _OutOfRange(GainTable(planted))
        outside.added = added
        error, frames = failure(wrapped(wrap, outside), arms)
        rule = "gains outside [0, 1] and NaN must be refused, because noise is not calibrated for them"
        require(
            error is not None, rule, "a game that went on", "Check them before they are used; write it so NaN fails."
        )
        hidden = DIGITS not in everything_in(error) + frames
        require(hidden, "an error must not show the gain that it refuses", "a private gain in it", "Leave it out.")
    _check_copies(wrap, table)


def _check_attributes(wrap: Wrap, table: FloatArray) -> None:
    game: Any = games_of(table)
    game.planted = PLANTED
    env: Any = wrapped(wrap, game)
    env.reset(seed=1)
    env.step(0)
    for name in BELOW:
        try:
            found = env.get_wrapper_attr(name)
        except AttributeError:
            found = None
        reached = found is not None or env.has_wrapper_attr(name)
        require(
            not reached,
            "attributes of what is below must not be reachable through get_wrapper_attr",
            f"{name!r} of the game",
            "End the search at the wrapper, or inherit PrivacyBoundary.",
        )
        if name != "env":
            require(not hasattr(env, name), "a wrapper must not have attributes of the game", repr(name), "Remove it.")
    below = game.np_random
    require(env.np_random is not below, "np_random must be the wrapper's own", "the game's", "Its seed is the gains'.")
    for what, text in (("repr", repr(env)), ("str", str(env)), ("spec", repr(env.spec))):
        require(DIGITS not in text, f"the {what} of a wrapper must show nothing private", "a gain", "Leave it out.")


def failure(env: Environment, plays: Sequence[Any]) -> tuple[BaseException | None, str]:
    """Return the error of a game and the local variables of its traceback's frames, except this one."""
    try:
        env.reset(seed=1)
        for play in plays:
            if env.step(play)[2]:
                return None, ""
    except Exception as error:
        passed = error.__traceback__.tb_next if error.__traceback__ else None
        shown = traceback.TracebackException(type(error), error, passed, capture_locals=True)
        return error, "".join(shown.format(chain=False))
    return None, ""


def everything_in(error: BaseException | None) -> str:
    """Return the text of an error: message, arguments, notes, causes and contexts."""
    if error is None:
        return ""
    parts = [str(error), repr(error), *map(repr, error.args), *getattr(error, "__notes__", [])]
    return "\n".join([*parts, everything_in(error.__cause__), everything_in(error.__context__)])


def _check_copies(wrap: Wrap, table: FloatArray) -> None:
    ways: dict[str, Callable[[Any], Any]] = {
        "copy.copy": copy.copy,
        "copy.deepcopy": copy.deepcopy,
        "pickle": pickle.dumps,
    }
    env: Any = wrapped(wrap, games_of(table))
    env.reset(seed=1)
    with must_not_fail("a step", "It comes after reset."):
        env.step(0)
    for name, make in ways.items():
        try:
            make(env)
        except Exception:
            continue
        require(
            False,
            f"{name} of a game that has begun must be refused: two releases with one draw of noise tell gains apart",
            "a copy",
            "Raise a TypeError in __reduce_ex__ after the first reset, or inherit PrivacyBoundary.",
        )
