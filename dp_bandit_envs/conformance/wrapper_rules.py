"""The rules for privacy wrappers: only releases leave the wrapper, with the noise that it declares.

Private data must not leak through attributes, errors, gains out of range or copies either. A wrapper whose mechanism
accepts any range is checked by the same rules in games of points as in games of arms.
"""

import contextlib
import copy
import itertools
import math
import pickle
import warnings
from collections.abc import Callable
from typing import Any, Final

import gymnasium as gym
import numpy as np

from dp_bandit_envs import checks
from dp_bandit_envs.adversaries import GainTable
from dp_bandit_envs.audits.events import chernoff_lower_bound, threshold_features
from dp_bandit_envs.audits.fixed_play import FixedPlay, fixed_game, layers_of_game
from dp_bandit_envs.audits.floats import count_impossible
from dp_bandit_envs.conformance.mechanism_rules import check_mechanism
from dp_bandit_envs.conformance.rules import (
    FALSE_ALARM,
    global_randomness_untouched,
    must_not_fail,
    require,
    require_hidden,
    tested,
)
from dp_bandit_envs.conformance.trial_games import table_of
from dp_bandit_envs.conformance.wrapper_trials import (
    DIGITS,
    PLANTED,
    ForeignError,
    Step,
    Wrap,
    WrapperTrial,
    play_game,
    releases_of,
    trials_of_points,
)
from dp_bandit_envs.decisions import payoff
from dp_bandit_envs.envs.bandit_vector_env import BanditVectorEnv
from dp_bandit_envs.errors import NotAuditedError, WrongPointError
from dp_bandit_envs.privacy.guarantee import ANY_AGENT, PrivacyGuarantee
from dp_bandit_envs.privacy.secure_draws import takes_no_seed
from dp_bandit_envs.protocols import Environment, FloatArray

GAMES: Final = 30
FIRST_SEED: Final = 1_000_000
"""The seed of the first game in the search for an event."""
LOW_BITS: Final = 200
"""Number of releases whose low bits are examined."""
NUM_ENVS: Final = 3
FACTS_OF_VECTOR: Final = ("sensitivity", "guarantee", "horizon", "n_arms")
KEPT_FACTS: Final = ("sensitivity", "guarantee", "horizon", "mechanism")
BELOW: Final = ("adversary", "external_regret", "cumulative_gains", "collected", "on_block", "_rows", "planted", "env")
"""Attributes of a game (some planted for the test) that only an evaluator may read."""


@checks.answers_wrong_calls
def check_wrapper(
    wrap: Wrap,
    *,
    vector: Callable[[Any], Any] | None = None,
    horizon: int = 24,
    n_arms: int = 3,
    games: int = 1000,
) -> None:
    """Check your own privacy wrapper: its releases, that it leaks no other data, and that its noise is as declared.

    The site's table of rules lists all rules. In short: a step returns declared, fresh values that are a function of
    the releases. `info` and flags depend on the horizon only, and games with other flags are refused. Facts are
    read-only, and layers below cannot be reached through attributes, errors, copies or gains outside [0, 1]. Noise
    depends on the seed alone. One changed round changes released gains by at most `sensitivity`. The vector form, if
    given, plays the same games. Low bits of releases do not reveal gains (with a warning if this cannot be checked). On
    two neighbouring tables of gains no tested event is more than exp(epsilon) times as frequent, plus delta. A wrapper
    whose mechanism accepts any range satisfies the rules on games of points, too. The last rule is a test on samples:
    it finds noise that is much too small, but cannot prove that noise is large enough. Probabilities below about 15 /
    `games` are not detected, so epsilons above 4 are barely tested; use a smaller epsilon for the test. A correct
    wrapper fails with a probability below 1e-6. A wrapper with secure draws takes no seed; check it with
    `draws="fast"`.

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
    with global_randomness_untouched("a wrapper"):
        arms = WrapperTrial(wrap, table_of(rounds, k))
        _check_facts(arms)
        check_mechanism(arms.env())
        for trial in (arms, *trials_of_points(wrap, rounds)):
            for check in RULES:
                check(trial)
        if vector is not None:
            _check_vector(arms, vector)
        _check_low_bits(arms)
        if checks.integer("games", games, at_least=0):
            _check_privacy(arms, games)


def _check_facts(trial: WrapperTrial) -> None:
    game, (rounds, n_arms) = trial.game(), trial.table.shape
    env: Any = trial.env(game)
    require(isinstance(env, gym.Env), "wrap(env) must return an environment", checks.kind_of(env), "Return it.")
    require(env.unwrapped is game, "unwrapped must be the game below, for the evaluator", "another", "Keep the game.")
    space = gym.spaces.Discrete(n_arms)
    require(env.action_space == space, f"the action space must be {space}", f"{env.action_space}", "Keep it.")
    is_right: dict[str, Callable[[Any], bool]] = {
        "sensitivity": lambda number: isinstance(number, (int, float)) and number > 0,
        "guarantee": lambda guarantee: isinstance(guarantee, PrivacyGuarantee),
        "horizon": lambda steps: type(steps) is int and 1 <= steps <= rounds,
        "n_arms": lambda number: number == n_arms,
    }
    wanted = "a number above 0, a PrivacyGuarantee, a number of steps of at most T, and K"
    rule = f"a wrapper must declare {', '.join(is_right)}: {wanted}"
    for fact, check in is_right.items():
        with must_not_fail(f"reading {fact} of a wrapper", f"A wrapper declares {', '.join(is_right)}: {wanted}."):
            declared = env.get_wrapper_attr(fact)
        require(check(declared), rule, f"{fact} = {declared!r}", "Set it.")
    claimed = env.guarantee
    possible = claimed.epsilon >= 0 and 0 <= claimed.delta < 1
    possible = possible and (claimed.model != "none" or math.isinf(claimed.epsilon))
    rule = "a guarantee has epsilon >= 0 and delta in [0, 1)"
    received = f"{claimed.epsilon}, {claimed.delta}"
    require(possible, rule, received, "PrivacyGuarantee.none(reason) states that there is none.")

    def declared_facts() -> dict[str, Any]:
        declared = {fact: getattr(env, fact) for fact in KEPT_FACTS if hasattr(env, fact)}
        # `mechanism` may return a new copy each time, whose repr contains an address.
        return {fact: type(declared[fact]) if fact == "mechanism" else declared[fact] for fact in declared}

    before = declared_facts()
    for fact in before:
        for change in (lambda: setattr(env, fact, None), lambda: env.set_wrapper_attr(fact, None)):  # noqa: B023
            with contextlib.suppress(Exception):
                change()
        rule = f"{fact} must be read-only: noise and guarantee belong together"
        way_out = "Inherit PrivacyBoundary, or make it a property."
        require(declared_facts() == before, rule, "a wrapper in which it can be set", way_out)


def _check_freshness(trial: WrapperTrial) -> None:
    """Require arrays and infos that are new at each step and may be written to; the other rules rest on this one."""
    objects: list[Any] = []
    releases: list[FloatArray] = []

    def spoil(step: Step) -> None:
        arrays = [array for array in step.observation.values() if isinstance(array, np.ndarray)]
        objects.extend([*arrays, step.info])
        releases.append(step.released)
        for array in arrays:
            array[...] = 1
        step.info["round"] = -7

    again = np.array_equal(trial.releases(3), trial.releases(3))
    _require_same_noise(again, "other releases: its noise does not come from rng")
    play_game(trial.env(), trial.actions, 3, on_step=spoil)
    fresh = len(set(map(id, objects))) == len(objects) and np.array_equal(np.array(releases[1:]), trial.releases(3))
    rule = "every step must return fresh arrays and a fresh info, which may be written to"
    require(fresh, rule, "arrays that are used again", "Return copies.")


def _check_steps(trial: WrapperTrial) -> None:
    env, rounds, actions = trial.env(), len(trial.table), trial.actions
    steps = play_game(env, actions, 3)
    past = -1
    for number, step in enumerate(steps):
        where = f"step {number}" if number else "reset"
        inside = env.observation_space.contains(step.observation)
        require(inside, "observations must be in observation_space", f"one of {where} outside", "Declare its space.")
        info = step.info
        rises = set(info) == {"round"} and type(info["round"]) is int and info["round"] > past
        rule = 'info must be {"round": t} with an int that rises'
        require(rises, rule, f"keys {sorted(info)}", "Return nothing else.")
        past = info["round"]
        if number:
            _check_reward(trial, step, actions[number - 1])
            flags = type(step.terminated) is bool and type(step.truncated) is bool
            require(flags, "flags must be bools", f"{type(step.terminated).__name__}", "Return bool(terminated).")
    horizon = int(env.get_wrapper_attr("horizon"))
    # Rounds left over after the last batch may take an extra step without a release.
    extra = len(steps) == horizon + 2 and steps[-1].info["round"] < rounds + 1
    ended = len(steps) == horizon + 1 or (extra and _released_nothing_new(steps))
    ended = ended and steps[-1].terminated and past == rounds
    rule = f"a game of {rounds} rounds must end after its declared horizon of {horizon} steps, with all rounds played"
    way_out = "Declare horizon as the number of steps that release something."
    require(ended, rule, f"{len(steps) - 1} steps and {past} rounds", way_out)
    empty = not np.any(steps[0].released) and steps[0].info == {"round": 0}
    require(empty, "reset must return nothing released and round 0", "something", "Return zeros.")


def _released_nothing_new(steps: list[Step]) -> bool:
    last, before = steps[-1], steps[-2]
    if "observed" in last.observation:
        return not np.any(last.observation["observed"])
    return np.array_equal(last.released, before.released)


def _check_reward(trial: WrapperTrial, step: Step, action: Any) -> None:
    observation, reward = step.observation, step.reward
    require(type(reward) is float, "reward must be a float", checks.kind_of(reward), "Return float(reward).")
    if "gain" in observation:
        means = observation["gain"]
        hidden = means[observation["observed"] == 0]
        require(not np.any(hidden), "gain must be 0 where observed is 0", "others", "Write zeros there.")
    else:
        counts = observation["count"]
        means = np.where(counts > 0, observation["sum"] / np.maximum(counts, 1), 0.0)
    if trial.feedback:
        rule = "the reward of a point must be the scalar product of released values, or means, with it"
        expected = payoff(means.tolist(), action.tolist() if trial.feedback == "full" else [1.0], -1.0, 1.0)
    else:
        rule = "reward must be the released gain of the arm played, or its released mean, and 0.0 if there is none"
        expected = float(means[action])
    way_out = "Compute it from the observation that is returned."
    require(reward == expected, rule, "another number, which is withheld", way_out)


def _check_order(trial: WrapperTrial) -> None:
    error, way_out = gym.error.ResetNeeded, "Inherit PrivacyBoundary, or raise it."
    for moment in ("before reset", "after the last step"):
        env = trial.env()
        if moment != "before reset":
            play_game(env, trial.actions, 3)
        received = _error_of(env, trial.actions[0])
        kind = "no error" if received is None else f"a {type(received).__name__}"
        require(isinstance(received, error), f"step {moment} must raise {error.__name__}", kind, way_out)


def _check_wrong_actions(trial: WrapperTrial) -> None:
    """Require that invalid actions are refused; invalid points also after a change of the returned set."""
    width, points = trial.table.shape[1], bool(trial.feedback)
    wrong_points = (np.full(width, 9.0), np.full(width, math.nan), np.zeros(width - 1), None)
    actions: Any = wrong_points if points else (-1, width, 0.5)
    rule = (
        "a wrong point must raise a WrongPointError"
        if points
        else f"an arm outside [0, {width - 1}] must raise a ValueError"
    )
    for action in actions:
        env: Any = trial.env()
        env.reset(seed=1)
        if points:
            with contextlib.suppress(Exception):
                vars(env.decision_set).update(contains=lambda _: True)
        received = _error_of(env, action)
        kind = "none" if received is None else type(received).__name__
        way_out = "Check it in step, a point against a copy of the set."
        right = isinstance(received, WrongPointError if points else (ValueError, TypeError))
        require(right, rule, f"for {action} {kind}", way_out)


def _error_of(env: Environment, action: Any) -> Exception | None:
    try:
        env.step(action)
    except Exception as error:
        return error
    return None


def _check_flags(trial: WrapperTrial) -> None:
    table = trial.table
    rule = "flags and info must depend on the horizon only"
    others = (0 * table, -table) if trial.feedback else (0 * table, 0 * table + 1, 1 - table)
    flags = [step[2:] for step in trial.play(3)]
    for seed, other in enumerate(others, start=3):
        flags_there = [step[2:] for step in trial.play(seed, other, trial.actions[::-1])]
        require(flags_there == flags, rule, "others for other gains", "Pass them on.")


def _check_unrevealed(trial: WrapperTrial) -> None:
    if trial.feedback:
        return
    other, arms = 1 - trial.table, [0] * len(trial.table)
    other[:, 0] = trial.table[:, 0]
    for seed in range(5):
        same = np.array_equal(trial.releases(seed, actions=arms), trial.releases(seed, other, arms))
        rule = "gains of arms that were not played must change nothing"
        require(same, rule, "other releases", "Use what was observed below, not env.unwrapped.")


def _check_sensitivity(trial: WrapperTrial) -> None:
    """Require that one changed round changes released gains by at most the sensitivity, with the noise fixed."""
    env: Any = trial.env()
    declared = float(env.get_wrapper_attr("sensitivity"))
    if math.isinf(declared) or "gain" not in env.observation_space.spaces:
        return
    covered = env.get_wrapper_attr("guarantee").model != "none"
    what = "gain vector" if trial.feedback else "round"
    for tables in trial.neighbours():
        envs = [trial.env(trial.game(table)) for table in tables]
        for seed in range(4):
            games = [play_game(env, trial.actions, seed) for env in envs]
            gains, observed = (
                np.array([[step.observation[key] for step in game] for game in games]) for key in ("gain", "observed")
            )
            rule = "without a guarantee, which gains are withheld must not depend on their values"
            way_out = "Release clipped gains instead, or add noise first."
            require(covered or np.array_equal(*observed), rule, "a game in which it did", way_out)
            moved = float(np.abs(gains[0] - gains[1])[observed.all(axis=0)].sum())
            rule = f"one changed {what} must move the released gains by at most sensitivity = {declared:g} in L1"
            way_out = "Declare a larger sensitivity; noise above is made for it."
            require(moved <= declared * (1 + 1e-9), rule, f"a game in which it moved them by {moved:g}", way_out)


def _check_attributes(trial: WrapperTrial) -> None:
    """Require that the game does not appear in the wrapper's attributes or texts."""
    game: Any = trial.game(np.full_like(trial.table, PLANTED))
    game.planted = PLANTED
    env: Any = trial.env(game)
    env.reset(seed=1)
    env.step(trial.actions[0])
    for name in BELOW:
        reached = env.has_wrapper_attr(name)
        with contextlib.suppress(AttributeError):
            reached = env.get_wrapper_attr(name) is not None or reached
        rule = "attributes of what is below must not be reachable through get_wrapper_attr"
        way_out = "End the search at the wrapper, or inherit PrivacyBoundary."
        require(not reached, rule, f"{name!r} of the game", way_out)
        if name != "env":
            require(not hasattr(env, name), "a wrapper must not have attributes of the game", repr(name), "Remove it.")
    is_own = env.np_random is not game.np_random
    require(is_own, "np_random must be the wrapper's own", "the game's", "Its seed is the gains'.")
    for what, text in (("repr", repr(env)), ("str", str(env)), ("spec", repr(env.spec))):
        require(DIGITS not in text, f"the {what} of a wrapper must show nothing private", "a gain", "Leave it out.")


def _check_errors(trial: WrapperTrial) -> None:
    """Require that errors from below, and values out of range, end a game without showing gains."""
    for fails_in, kind in itertools.product(("step", "reset"), (ValueError, GeneratorExit, ForeignError)):
        failure = trial.failure(fails_in=fails_in, kind=kind)
        require(failure, "an error from below must end the game", "a game that went on", "Do not swallow it.")
        rule = "an error from below must be replaced by one that contains nothing of it"
        way_out = "Raise a BoundaryError outside of the except clause, or inherit PrivacyBoundary."
        require(DIGITS not in failure, rule, "a private gain in its text, notes, causes or frames", way_out)
    width = 2.0 if trial.feedback else 1.0
    for added in (width, -width, math.nan):
        failure = trial.failure(added=added)
        rule = "gains outside [0, 1] and NaN must be refused, because noise is not calibrated for them"
        require(failure, rule, "a game that went on", "Check them before they are used; write it so NaN fails.")
        rule = "an error must not show the gain that it refuses"
        require(DIGITS not in failure, rule, "a private gain in it", "Leave it out.")
    for flag in ("terminated", "truncated"):
        rule = f"a game that is {flag} in another round than its last must be refused, because gains may have decided"
        way_out = "Raise where a flag is not what the horizon says."
        require(trial.failure(ends=flag), rule, "a game that ended there", way_out)


def _check_copies(trial: WrapperTrial) -> None:
    env: Any = trial.env()
    env.reset(seed=1)
    with must_not_fail("a step", "It comes after reset."):
        env.step(trial.actions[0])
    way_out = "Raise a TypeError in __reduce_ex__ after the first reset, or inherit PrivacyBoundary."
    copiers: Any = {"copy.copy": copy.copy, "copy.deepcopy": copy.deepcopy, "pickle": pickle.dumps}
    for name, make in copiers.items():
        rule = f"{name} of a game that has begun must be refused: two releases with one draw of noise tell gains apart"
        try:
            make(env)
        except Exception:
            continue
        require(False, rule, "a copy", way_out)


def _require_same_noise(same: bool, received: str) -> None:
    require(same, "equal seeds must give equal noise", received, "Draw from the stream that reset begins only.")


def _check_noise(trial: WrapperTrial) -> None:
    """Require equal noise for equal seeds, and with a guarantee, fresh noise otherwise.

    Seeds are compared over thirty games, because a mechanism with few outputs may agree in one.
    """
    env, unseeded, actions = trial.env(), trial.env(), trial.actions
    first = [releases_of(play_game(env, actions, seed)) for seed in range(GAMES)]
    same = all(np.array_equal(releases, trial.releases(seed)) for seed, releases in enumerate(first))
    _require_same_noise(same, "other releases")
    rule = f"something must be released within {len(trial.table)} rounds, or there is nothing to check"
    way_out = "Pass a larger horizon=, or a wrapper with other parameters."
    require(any(map(np.any, first)), rule, f"{GAMES} games without a release", way_out)
    if math.isinf(tested(env.get_wrapper_attr("guarantee"))[0]):
        return
    again = [releases_of(play_game(unseeded, actions, None if game else 3)) for game in range(GAMES)]
    compared = {
        "games of different seeds": first,
        "games of environments that were never given a seed": [trial.releases(None) for _ in range(GAMES)],
        "games after a reset without a seed": again,
    }
    for what, games in compared.items():
        differ = any(not np.array_equal(game, games[0]) for game in games)
        way_out = "Begin a stream of your own in reset, or declare PrivacyGuarantee.none(reason)."
        require(differ, f"{what} must have fresh noise, if a guarantee is declared", f"{GAMES} equal ones", way_out)


RULES: Final = (
    _check_freshness,
    _check_steps,
    _check_order,
    _check_wrong_actions,
    _check_flags,
    _check_unrevealed,
    _check_sensitivity,
    _check_attributes,
    _check_errors,
    _check_copies,
    _check_noise,
)
"""The rules for arms and for points, in the order of the checks."""


def _check_vector(trial: WrapperTrial, vector: Wrap) -> None:
    """Require equal declarations, and that game i of the vector form is the scalar game with seed + i, bit by bit."""
    single = trial.env()
    with must_not_fail("vector(envs)", "It puts the vector form around a BanditVectorEnv."):
        many: Any = vector(BanditVectorEnv(NUM_ENVS, GainTable(trial.table)))
    for fact in FACTS_OF_VECTOR:
        declared = getattr(many, fact, None)
        rule = f"{fact} of the vector form must be that of the scalar one"
        require(declared == single.get_wrapper_attr(fact), rule, f"{declared!r}", "Declare it.")
    scalar_games = [trial.play(5 + game) for game in range(NUM_ENVS)]
    with must_not_fail("games behind the vector form", "They are reset once and stepped to their end."):
        observation, info = many.reset(seed=5)
        never = np.zeros(NUM_ENVS)
        vector_steps = [Step(observation, never, never, never, info)]
        vector_steps += [Step(*many.step(np.full(NUM_ENVS, arm))) for arm in trial.actions[: len(scalar_games[0]) - 1]]
    for game, scalar_steps in enumerate(scalar_games):
        for scalar, step in zip(scalar_steps, vector_steps, strict=True):
            observation = {key: rows[game] for key, rows in step.observation.items()}
            same = set(observation) == set(scalar.observation)
            same = same and np.array_equal(step._replace(observation=observation).released, scalar.released)
            same = same and [numbers[game] for numbers in step[1:4]] == list(scalar[1:4])
            same = same and set(step.info) <= {"round", "_round"} and step.info["round"][game] == scalar.info["round"]
            rule = "game i of the vector form must be the scalar one with seed + i, to the last bit"
            require(same, rule, f"another game {game}", "Use the same mechanism code and one stream for each game.")


def _check_low_bits(trial: WrapperTrial) -> None:
    """Look for releases that are possible for one gain but not for another, whatever the noise is.

    Warns: UserWarning: If this cannot be checked: the wrapper is not a `PrivacyBoundary`, or draws other noise.
    """
    env = trial.env()
    guarantee: PrivacyGuarantee = env.get_wrapper_attr("guarantee")
    if guarantee.model == "none":
        return
    layers = layers_of_game(env)
    if any(takes_no_seed(mechanism) for mechanism, _ in layers):
        return  # secure draws are exact
    batch = math.prod(mechanism.batch_size for mechanism, _ in layers)
    arms = tuple(trial.actions[t // batch] for t in range(len(trial.table)))
    try:
        if not layers:
            raise NotAuditedError("the wrapper is no PrivacyBoundary")
        game = fixed_game(FixedPlay(trial.wrap, "", trial.game(), layers, arms), 0)
        impossible, looked_at, *_ = count_impossible(game, LOW_BITS, 0)
    except NotAuditedError as reason:
        warnings.warn(f"low bits not looked at: {reason}.", stacklevel=checks.level_of_caller())
        return
    least = float(chernoff_lower_bound(np.array(impossible), looked_at, FALSE_ALARM))
    require(
        not impossible or not least > guarantee.delta_at(guarantee.epsilon),
        f"a release must be possible for every gain, but with a probability of delta; declared is {guarantee}",
        f"{impossible} of {looked_at} that no draw leads to if one gain is at the other end of its range",
        "Round the noisy value to a grid of some hundredths of the noise: privacy.laplace.noisy does.",
    )


def _check_privacy(trial: WrapperTrial, games: int) -> None:
    """Compare two neighbouring tables of gains: no event may be exp(epsilon) times as frequent, plus delta.

    A wrapper that keeps its guarantee fails with a probability below 5e-7, if seeds give independent noise. The events:
    the release at a step, its change, or the running total is, or is not, above a threshold. The changed round is the
    first, a middle round, or the last.
    """
    rounds, arms = len(trial.table), [0] * len(trial.table)
    neighbours = WrapperTrial(trial.wrap, 0 * trial.table).neighbours()
    pairs = [neighbours[changed] for changed in (0, rounds // 2, rounds - 1)]
    guarantee: PrivacyGuarantee = trial.env().get_wrapper_attr("guarantee")
    if math.isinf(tested(guarantee)[0]) or guarantee.agents != ANY_AGENT:
        return

    def sample(table: FloatArray, numbers: range) -> FloatArray:
        env = trial.env(trial.game(table))
        games = [play_game(env, arms, FIRST_SEED + number) for number in numbers]
        return threshold_features(np.array(list(map(releases_of, games))))

    require_hidden(
        f"no event may be more than exp(epsilon) times as frequent if one round changes; declared is {guarantee}",
        "Add more noise, for the sensitivity of what is below, or declare a larger epsilon.",
        guarantee,
        pairs,
        sample,
        tries=max(100, games // 10),
        games=games,
    )
