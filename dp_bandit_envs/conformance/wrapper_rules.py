"""The rules for privacy wrappers: only releases leave the wrapper, with the noise that it declares.

Nothing private leaves through attributes, errors, gains out of range or copies either. A wrapper whose mechanism
accepts any range is asked the same of games of points as of games of arms.
"""

import contextlib
import copy
import dataclasses
import functools
import itertools
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
from dp_bandit_envs.audits.events import chernoff_lower_bound, threshold_features
from dp_bandit_envs.audits.fixed_play import FixedPlay, fixed_game, layers_of_game
from dp_bandit_envs.audits.floats import count_impossible
from dp_bandit_envs.conformance.rules import (
    FALSE_ALARM,
    global_randomness_untouched,
    must_not_fail,
    require,
    require_hidden,
    tested,
)
from dp_bandit_envs.conformance.trial_games import table_of
from dp_bandit_envs.decisions import Cube, payoff
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.envs.bandit_vector_env import BanditVectorEnv
from dp_bandit_envs.envs.point_env import PointEnv
from dp_bandit_envs.errors import NotAuditedError, WrongGameError, WrongPointError
from dp_bandit_envs.privacy.facts import InputFacts
from dp_bandit_envs.privacy.guarantee import ANY_AGENT, PrivacyGuarantee
from dp_bandit_envs.privacy.mechanism import Mechanism
from dp_bandit_envs.privacy.secure_draws import takes_no_seed
from dp_bandit_envs.protocols import Environment, FloatArray, Observation
from dp_bandit_envs.seeding import FIRST_WRAPPER
from dp_bandit_envs.wrappers.boundary import streams_of

Wrap = Callable[[Any], Any]
GAMES: Final = 30
FIRST_SEED: Final = 1_000_000
"""The seed of the first game in which an event is looked for."""
LOW_BITS: Final = 200
"""Releases whose low bits are looked at."""
NUM_ENVS: Final = 3
FACTS_OF_VECTOR: Final = ("sensitivity", "guarantee", "horizon", "n_arms")
KEPT_FACTS: Final = ("sensitivity", "guarantee", "horizon", "mechanism")
DIMENSION: Final = 3
PLANTED: Final = 0.1234567891
DIGITS: Final = "1234567"
"""Digits of the planted gain that repr, str.format and NumPy's printing all show."""
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
    """Check a privacy wrapper of your own: its releases, that nothing else leaks, and that its noise is as declared.

    The site's table of rules has each of them. In short: what a step returns is declared, fresh, and a function of what
    is released; `info` and flags depend on the horizon only, and a game whose flags do not is refused; facts are
    read-only, and nothing below can be reached through attributes, errors, copies or gains outside [0, 1]; noise
    depends on the seed alone; one changed round changes released gains by at most `sensitivity`; the vector form, if
    given, plays the same games; low bits of releases show no gain (a warning says so where they cannot be looked at);
    and on two neighbouring tables of gains no tested event is more than exp(epsilon) times as frequent, plus delta. A
    wrapper whose mechanism accepts any range keeps the rules on games of points, too.

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
    with global_randomness_untouched("a wrapper"):
        arms = Trial(wrap, table_of(rounds, k))
        _check_facts(arms)
        check_mechanism(arms.env())
        for trial in (arms, *_trials_of_points(wrap, rounds)):
            for check in RULES:
                check(trial)
        if vector is not None:
            _check_vector(arms, vector)
        _check_low_bits(arms)
        if checks.integer("games", games, at_least=0):
            _check_privacy(arms, games)


class Stopped(BaseException):
    """What another package may raise, which is no `Exception`."""


class Step(NamedTuple):
    """What one step returned; for `reset`, without reward and flags."""

    observation: Observation
    reward: Any
    terminated: Any
    truncated: Any
    info: dict[str, Any]

    @property
    def released(self) -> FloatArray:
        """All numbers of the observation, shape `(numbers,)`."""
        parts = [np.ravel(self.observation[key]) for key in sorted(self.observation)]
        numbers: FloatArray = np.concatenate(parts).astype(float)
        return numbers


@dataclasses.dataclass(frozen=True)
class Trial:
    """A wrapper with the game that it is tried in: of arms, or of points.

    Attributes:
        wrap: Wraps an environment.
        table: The gains of arms, shape `(rounds, n_arms)`; or gain vectors, shape `(rounds, dimension)`.
        feedback: What a game of points reveals, `"full"` or `"bandit"`; "" for arms.
    """

    wrap: Wrap
    table: FloatArray
    feedback: str = ""

    @functools.cached_property
    def plays(self) -> list[Any]:
        """What is played: arms with runs and returns, like an agent's, or points all over the set."""
        rounds, width = self.table.shape
        if not self.feedback:
            return [t // 3 % width for t in range(rounds)]
        return [Cube(width).project(row * 4) for row in np.random.default_rng(1).standard_normal((rounds, width))]

    def game(self, table: FloatArray | None = None) -> Any:
        """Return a game with these gains, by default the trial's."""
        table = self.table if table is None else table
        if not self.feedback:
            return BanditEnv(GainTable(table))
        adversary = VectorTable(table)
        adversary.is_real = False
        return PointEnv(adversary, Cube(table.shape[1]), feedback=self.feedback)

    def env(self, game: BanditEnv | None = None) -> Any:
        """Return the wrapper around a game, by default the trial's."""
        # No game has begun, so that a message holds no gain.
        way_out = "Pass another horizon=, if the wrapper needs a longer or shorter game."
        if isinstance(self.wrap, type) or not callable(self.wrap):
            way_out = "wrap is a function of the game alone, such as lambda env: MyWrapper(env, epsilon=1.0)."
        with must_not_fail("wrap(env)", way_out, shown=True):
            return self.wrap(self.game() if game is None else game)

    def play(self, seed: int | None, table: FloatArray | None = None, plays: Sequence[Any] | None = None) -> list[Step]:
        """Play a game in a new environment; see `_run`."""
        return _run(self.env(self.game(table)), self.plays if plays is None else plays, seed)

    def neighbours(self) -> list[tuple[FloatArray, FloatArray]]:
        """Return for each round two tables in which its gains are at one end of their range, and at the other."""
        width = self.table.shape[1]
        low, high = (-np.eye(width)[0], np.eye(width)[0]) if self.feedback else (np.zeros(width), np.ones(width))
        ends = np.eye(len(self.table))[:, :, np.newaxis]
        return [(self.table * (1 - end) + end * low, self.table * (1 - end) + end * high) for end in ends]


def _trials_of_points(wrap: Wrap, rounds: int) -> list[Trial]:
    """Return the trials on points; none for a wrapper that is for gains in [0, 1]."""
    table = np.random.default_rng(rounds).uniform(-0.3, 0.3, (rounds, DIMENSION))
    trials = [Trial(wrap, table, feedback) for feedback in ("full", "bandit")]
    if not getattr(getattr(wrap(Trial(wrap, abs(table)).game()), "mechanism", None), "any_range", False):
        return []
    try:
        wrap(trials[0].game())
    except WrongGameError:
        return []  # a mechanism further below needs gains in [0, 1]
    return trials


def _faulty(
    game: Any, *, fails_in: str = "", kind: type[BaseException] = ValueError, added: float = 0.0, ends: str = ""
) -> Any:
    """Let a game fail with a gain in its message, arguments, note and cause, or break a rule in its second round.

    Args:
        game: The game.
        fails_in: `"reset"`, or `"step"` for the third round.
        kind: The error's class.
        added: What is added to a value in the second round.
        ends: The flag that is set in the second round, `"terminated"` or `"truncated"`.
    """
    reset, step = game.reset, game.step

    def fail(gain: float) -> None:
        error = kind(f"the gain {gain} is wrong", gain)
        error.add_note(f"gain {gain}")
        raise error from KeyError(gain)

    def faulty_reset(**options: Any) -> Any:
        return fail(PLANTED) if fails_in == "reset" else reset(**options)

    def faulty_step(action: Any) -> Any:
        observation, *others, info = step(action)
        if fails_in == "step" and info == {"round": 3}:
            fail(PLANTED)
        if info == {"round": 2}:
            observation["gain"][np.argmax(observation["observed"])] += added
            others = [others[0], ends == "terminated" or others[1], ends == "truncated" or others[2]]
        return observation, *others, info

    game.reset, game.step = faulty_reset, faulty_step
    return game


def _run(
    env: Environment, plays: Sequence[Any], seed: int | None, after: Callable[[Step], Any] = lambda step: None
) -> list[Step]:
    """Play a game to its end, or to the end of `plays`; return all steps, from `reset` on, each also given to `after`.

    With a seed of None, `reset` gets none.
    """
    with must_not_fail("a game behind the wrapper", "It is reset once and then stepped to its end."):
        observation, info = env.reset() if seed is None else env.reset(seed=seed)
        steps = [Step(observation, 0.0, False, False, info)]
        after(steps[0])
        for play in plays:
            steps.append(Step(*env.step(play)))
            after(steps[-1])
            if steps[-1].terminated or steps[-1].truncated:
                break
    return steps


def _releases(steps: Sequence[Step]) -> FloatArray:
    return np.array([step.released for step in steps[1:]])


def _check_facts(trial: Trial) -> None:
    game, (rounds, n_arms) = trial.game(), trial.table.shape
    env: Any = trial.env(game)
    require(isinstance(env, gym.Env), "wrap(env) must return an environment", checks.kind_of(env), "Return it.")
    require(env.unwrapped is game, "unwrapped must be the game below, for the evaluator", "another", "Keep the game.")
    space = gym.spaces.Discrete(n_arms)
    require(env.action_space == space, f"the action space must be {space}", f"{env.action_space}", "Keep it.")
    good: dict[str, Callable[[Any], bool]] = {
        "sensitivity": lambda value: isinstance(value, (int, float)) and value > 0,
        "guarantee": lambda value: isinstance(value, PrivacyGuarantee),
        "horizon": lambda value: type(value) is int and 1 <= value <= rounds,
        "n_arms": lambda value: value == n_arms,
    }
    wanted = "a number above 0, a PrivacyGuarantee, a number of steps of at most T, and K"
    for fact, is_good in good.items():
        with must_not_fail(f"reading {fact} of a wrapper", f"A wrapper declares {', '.join(good)}: {wanted}."):
            value = env.get_wrapper_attr(fact)
        require(is_good(value), f"a wrapper must declare {', '.join(good)}: {wanted}", f"{fact} = {value!r}", "Set it.")
    claimed = env.guarantee
    stated = claimed.epsilon >= 0 and 0 <= claimed.delta < 1
    stated = stated and (claimed.model != "none" or math.isinf(claimed.epsilon))
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


def _check_freshness(trial: Trial) -> None:
    """Require arrays and infos that are new at each step and may be written to; the other rules rest on this one."""
    kept: list[Any] = []
    seen: list[FloatArray] = []

    def spoil(step: Step) -> None:
        arrays = [part for part in step.observation.values() if isinstance(part, np.ndarray)]
        kept.extend([*arrays, step.info])
        seen.append(step.released)
        for part in arrays:
            part[...] = 1
        step.info["round"] = -7

    again = np.array_equal(_releases(trial.play(3)), _releases(trial.play(3)))
    _require_same_noise(again, "other releases: its noise does not come from rng")
    _run(trial.env(), trial.plays, 3, after=spoil)
    fresh = len({id(part) for part in kept}) == len(kept)
    require(
        fresh and np.array_equal(np.array(seen[1:]), _releases(trial.play(3))),
        "every step must return fresh arrays and a fresh info, which may be written to",
        "arrays that are used again",
        "Return copies.",
    )


def _check_steps(trial: Trial) -> None:
    """Check every step as an agent sees it."""
    env, rounds, plays = trial.env(), len(trial.table), trial.plays
    steps = _run(env, plays, 3)
    past = -1
    for number, step in enumerate(steps):
        where = f"step {number}" if number else "reset"
        inside = env.observation_space.contains(step.observation)
        require(inside, "observations must be in observation_space", f"one of {where} outside", "Declare its space.")
        info = step.info
        known = set(info) == {"round"} and type(info["round"]) is int and info["round"] > past
        rule = 'info must be {"round": t} with an int that rises'
        require(known, rule, f"keys {sorted(info)}", "Return nothing else.")
        past = info["round"]
        if number:
            _check_reward(trial, step, plays[number - 1])
            flags = type(step.terminated) is bool and type(step.truncated) is bool
            require(flags, "flags must be bools", f"{type(step.terminated).__name__}", "Return bool(terminated).")
    horizon = int(env.get_wrapper_attr("horizon"))
    # Rounds left over after the last batch may take an extra step, which releases nothing.
    extra = len(steps) == horizon + 2 and steps[-1].info["round"] < rounds + 1
    ended = len(steps) == horizon + 1 or (extra and _released_nothing_new(steps))
    require(
        ended and steps[-1].terminated and past == rounds,
        f"a game of {rounds} rounds must end after its declared horizon of {horizon} steps, with all rounds played",
        f"{len(steps) - 1} steps and {past} rounds",
        "Declare horizon as the number of steps that release something.",
    )
    empty = not np.any(steps[0].released) and steps[0].info == {"round": 0}
    require(empty, "reset must return nothing released and round 0", "something", "Return zeros.")


def _released_nothing_new(steps: list[Step]) -> bool:
    last, before = steps[-1], steps[-2]
    if "observed" in last.observation:
        return not np.any(last.observation["observed"])
    return np.array_equal(last.released, before.released)


def _check_reward(trial: Trial, step: Step, play: Any) -> None:
    seen, reward = step.observation, step.reward
    require(type(reward) is float, "reward must be a float", checks.kind_of(reward), "Return float(reward).")
    if "gain" in seen:
        values = seen["gain"]
        hidden = values[seen["observed"] == 0]
        require(not np.any(hidden), "gain must be 0 where observed is 0", "others", "Write zeros there.")
    else:
        values = np.where(seen["count"] > 0, seen["sum"] / np.maximum(seen["count"], 1), 0.0)
    if trial.feedback:
        expected = payoff(values.tolist(), play.tolist() if trial.feedback == "full" else [1.0], -1.0, 1.0)
    else:
        expected = float(values[play])
    rule = (
        "the reward of a point must be the scalar product of released values, or means, with it"
        if trial.feedback
        else "reward must be the released gain of the arm played, or its released mean, and 0.0 if there is none"
    )
    withheld = "another number, which is withheld"
    require(reward == expected, rule, withheld, "Compute it from the observation that is returned.")


def _check_order(trial: Trial) -> None:
    """Require that a step outside of a game is refused."""
    needed = gym.error.ResetNeeded
    for moment in ("before reset", "after the last step"):
        env = trial.env()
        if moment != "before reset":
            _run(env, trial.plays, 3)
        received = _error_of(env, trial.plays[0])
        shown = "no error" if received is None else f"a {type(received).__name__}"
        asked = isinstance(received, needed)
        require(asked, f"step {moment} must raise {needed.__name__}", shown, "Inherit PrivacyBoundary, or raise it.")


def _check_wrong_plays(trial: Trial) -> None:
    """Require that what cannot be played is refused; a point also after the set that is handed out was changed."""
    width = trial.table.shape[1]
    wrong = (np.full(width, 9.0), np.full(width, math.nan), np.zeros(width - 1), None)
    for play in wrong if trial.feedback else (-1, width, 0.5):
        env: Any = trial.env()
        env.reset(seed=1)
        if trial.feedback:
            with contextlib.suppress(Exception):
                vars(env.decision_set).update(contains=lambda _: True)
        received = _error_of(env, play)
        known = isinstance(received, WrongPointError if trial.feedback else (ValueError, TypeError))
        shown = "none" if received is None else type(received).__name__
        rule = (
            "a wrong point must raise a WrongPointError"
            if trial.feedback
            else f"an arm outside [0, {width - 1}] must raise a ValueError"
        )
        require(known, rule, f"for {play} {shown}", "Check it in step, a point against a copy of the set.")


def _error_of(env: Environment, play: Any) -> Exception | None:
    try:
        env.step(play)
    except Exception as error:
        return error
    return None


def _check_flags(trial: Trial) -> None:
    """Require flags and info that depend on the horizon only."""
    table = trial.table
    rule = "flags and info must depend on the horizon only"
    others = (0 * table, -table) if trial.feedback else (0 * table, 0 * table + 1, 1 - table)
    flags = [step[2:] for step in trial.play(3)]
    for seed, other in enumerate(others, start=3):
        seen = [step[2:] for step in trial.play(seed, other, trial.plays[::-1])]
        require(seen == flags, rule, "others for other gains", "Pass them on.")


def _check_unrevealed(trial: Trial) -> None:
    """Require that gains of arms that were not played change nothing."""
    if trial.feedback:
        return
    other, arms = 1 - trial.table, [0] * len(trial.table)
    other[:, 0] = trial.table[:, 0]
    for seed in range(5):
        same = np.array_equal(_releases(trial.play(seed, plays=arms)), _releases(trial.play(seed, other, arms)))
        rule = "gains of arms that were not played must change nothing"
        require(same, rule, "other releases", "Use what was observed below, not env.unwrapped.")


def _check_sensitivity(trial: Trial) -> None:
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
            pair = [[step.observation for step in _run(env, trial.plays, seed)] for env in envs]
            (one, other), seen = (
                [np.array([observation[key] for observation in each]) for each in pair] for key in ("gain", "observed")
            )
            require(
                covered or np.array_equal(seen[0], seen[1]),
                "without a guarantee, which gains are withheld must not depend on their values",
                "a game in which it did",
                "Release clipped gains instead, or add noise first.",
            )
            moved = float(np.abs(one - other)[(seen[0] > 0) & (seen[1] > 0)].sum())
            require(
                moved <= declared * (1 + 1e-9),
                f"one changed {what} must move the released gains by at most sensitivity = {declared:g} in L1",
                f"a game in which it moved them by {moved:g}",
                "Declare a larger sensitivity; noise above is made for it.",
            )


def _check_attributes(trial: Trial) -> None:
    """Require that nothing of the game is an attribute of the wrapper, or in its texts."""
    game: Any = trial.game(np.full_like(trial.table, PLANTED))
    game.planted = PLANTED
    env: Any = trial.env(game)
    env.reset(seed=1)
    env.step(trial.plays[0])
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
    inputs = game.np_random
    require(env.np_random is not inputs, "np_random must be the wrapper's own", "the game's", "Its seed is the gains'.")
    for what, text in (("repr", repr(env)), ("str", str(env)), ("spec", repr(env.spec))):
        require(DIGITS not in text, f"the {what} of a wrapper must show nothing private", "a gain", "Leave it out.")


def _check_errors(trial: Trial) -> None:
    """Require that errors from below, and values out of range, end a game without showing gains."""
    planted, width = np.full_like(trial.table, PLANTED), 2.0 if trial.feedback else 1.0
    for fails_in, kind in itertools.product(("step", "reset"), (ValueError, GeneratorExit, Stopped)):
        shown = _failure(trial.env(_faulty(trial.game(planted), fails_in=fails_in, kind=kind)), trial.plays)
        require(shown, "an error from below must end the game", "a game that went on", "Do not swallow it.")
        rule = "an error from below must be replaced by one that contains nothing of it"
        way_out = "Raise a BoundaryError outside of the except clause, or inherit PrivacyBoundary."
        require(DIGITS not in shown, rule, "a private gain in its text, notes, causes or frames", way_out)
    for added in (width, -width, math.nan):
        shown = _failure(trial.env(_faulty(trial.game(planted), added=added)), trial.plays)
        rule = "gains outside [0, 1] and NaN must be refused, because noise is not calibrated for them"
        require(shown, rule, "a game that went on", "Check them before they are used; write it so NaN fails.")
        rule = "an error must not show the gain that it refuses"
        require(DIGITS not in shown, rule, "a private gain in it", "Leave it out.")


def _check_ends(trial: Trial) -> None:
    """Require that a game below that ends in another round than its last is refused."""
    for flag in ("terminated", "truncated"):
        shown = _failure(trial.env(_faulty(trial.game(), ends=flag)), trial.plays)
        rule = f"a game that is {flag} in another round than its last must be refused, because gains may have decided"
        require(shown, rule, "a game that ended there", "Raise where a flag is not what the horizon says.")


def _failure(env: Environment, plays: Sequence[Any]) -> str:
    """Return all that the error of a game shows: its text, that of its causes, and its frames' variables; or ""."""
    try:
        env.reset(seed=1)
        for play in plays:
            if any(env.step(play)[2:4]):
                break
    except (Exception, GeneratorExit, Stopped) as error:
        inputs = error.__traceback__.tb_next if error.__traceback__ else None  # without this frame
        frames = traceback.TracebackException(type(error), error, inputs, capture_locals=True)
        return "\n".join([_text_of(error), *frames.format(chain=False)])
    return ""


def _text_of(error: BaseException | None) -> str:
    """Return the message, arguments and notes of an error, and those of its causes and contexts."""
    if error is None:
        return ""
    parts = [str(error), repr(error), *map(repr, error.args), *getattr(error, "__notes__", [])]
    return "\n".join([*parts, _text_of(error.__cause__), _text_of(error.__context__)])


def _check_copies(trial: Trial) -> None:
    env: Any = trial.env()
    env.reset(seed=1)
    with must_not_fail("a step", "It comes after reset."):
        env.step(trial.plays[0])
    way_out = "Raise a TypeError in __reduce_ex__ after the first reset, or inherit PrivacyBoundary."
    ways: dict[str, Callable[[Any], Any]] = {
        "copy.copy": copy.copy,
        "copy.deepcopy": copy.deepcopy,
        "pickle": pickle.dumps,
    }
    for name, make in ways.items():
        rule = f"{name} of a game that has begun must be refused: two releases with one draw of noise tell gains apart"
        try:
            make(env)
        except Exception:
            continue
        require(False, rule, "a copy", way_out)


def _require_same_noise(same: bool, received: str) -> None:
    require(same, "equal seeds must give equal noise", received, "Draw from the stream that reset begins only.")


def _check_noise(trial: Trial) -> None:
    """Require equal noise for equal seeds, and with a guarantee, fresh noise otherwise.

    Seeds are compared over thirty games, because a mechanism with few outputs may agree in one.
    """
    env, unseeded, plays = trial.env(), trial.env(), trial.plays
    first = [_releases(_run(env, plays, seed)) for seed in range(GAMES)]
    same = all(np.array_equal(one, _releases(trial.play(seed))) for seed, one in enumerate(first))
    _require_same_noise(same, "other releases")
    require(
        any(map(np.any, first)),
        f"something must be released within {len(trial.table)} rounds, or there is nothing to check",
        f"{GAMES} games without a release",
        "Pass a larger horizon=, or a wrapper with other parameters.",
    )
    if math.isinf(tested(env.get_wrapper_attr("guarantee"))[0]):
        return
    again = [_releases(_run(unseeded, plays, None if game else 3)) for game in range(GAMES)]
    compared = {
        "games of different seeds": first,
        "games of environments that were never given a seed": [_releases(trial.play(None)) for _ in range(GAMES)],
        "games after a reset without a seed": again,
    }
    for what, games in compared.items():
        require(
            any(not np.array_equal(game, games[0]) for game in games),
            f"{what} must have fresh noise, if a guarantee is declared",
            f"{GAMES} equal ones",
            "Begin a stream of your own in reset, or declare PrivacyGuarantee.none(reason).",
        )


RULES: Final = (
    _check_freshness,
    _check_steps,
    _check_order,
    _check_wrong_plays,
    _check_flags,
    _check_unrevealed,
    _check_sensitivity,
    _check_attributes,
    _check_errors,
    _check_ends,
    _check_copies,
    _check_noise,
)
"""The rules for arms and for points, in the order in which they are asked."""


def check_mechanism(env: Any) -> None:
    """Require that the outermost mechanism's `release` returns (value, count), in the range it declares.

    Behind a wrapper such faults end a game without a word about their cause, because it may be private. Wrappers that
    are no `PrivacyBoundary` have no mechanism, and are not looked at.

    Args:
        env: The wrapper around a game.
    """
    mechanism, inputs = getattr(env, "mechanism", None), getattr(env, "inputs", None)
    if not isinstance(mechanism, Mechanism) or not isinstance(inputs, InputFacts):
        return
    name = type(mechanism).__name__
    rng = streams_of(mechanism, FIRST_WRAPPER, "conformance").next(None if takes_no_seed(mechanism) else 0)
    low, high = inputs.values.low, inputs.values.high
    gains, batch = np.random.default_rng(0).uniform(low, high, inputs.horizon), mechanism.batch_size
    gains[: 2 * batch] = np.repeat([low, high], batch)[: len(gains)]
    state, release, released = mechanism.new_state(inputs), mechanism.release_for(inputs), 0
    for t, gain in enumerate(gains.tolist()):
        arm = t // (3 * batch) % inputs.n_values
        try:
            returned = release(state, arm, gain, rng)
            for other in range(inputs.n_values):
                if mechanism.idle is not None and other != arm:
                    mechanism.idle(state, other, rng)
            if mechanism.forget is not None and (t + 1) % batch == 0:
                mechanism.forget(state)
        except Exception as error:
            received = f"{checks.kind_of(error)} ({error}) for the gain {gain:g} of this check"
            require(
                False,
                f"release(state, arm, gain, rng) of {name} must not fail",
                received,
                "Mend it; the error is the cause of this one.",
            )
        released = (released if t % batch else 0) + _checked_count(returned, gain, mechanism, inputs)
        withheld = (t + 1) % batch == 0 and not released
        rule = f"{name}, which has withholds = False, must release every gain, or batch of gains of one arm"
        kept = not withheld or mechanism.withholds or mechanism.releases_sums
        require(kept, rule, f"count 0 for the gain {gain:g} of this check", "Set withholds = True.")


def _checked_count(returned: Any, gain: float, mechanism: Mechanism, inputs: InputFacts) -> int:
    name, low, high = type(mechanism).__name__, inputs.values.low, inputs.values.high
    shown = f"{returned!r} for the gain {gain:g} of this check"
    pair: Any = isinstance(returned, tuple) and len(returned) == 2
    pair = pair and isinstance(returned[0], Real) and isinstance(returned[1], (int, np.integer)) and returned[1] >= 0
    rule = f"release(state, arm, gain, rng) of {name} must return a number and how many gains are in it"
    require(pair, rule, shown, "Return (value, 1), or (0.0, 0) where nothing is released.")
    value, count = returned
    if mechanism.releases_sums:
        good = count == 0 or math.isfinite(value)
        require(good, f"a sum that {name} releases must be finite", f"{value!r}", "Return (0.0, 0) until there is one.")
        return int(count)
    way_out = "Clip it, withhold it with count 0, or set releases_sums = True if it is a sum."
    inside: Any = count == 0 or low <= value <= high
    require(inside, f"a gain that {name} releases must be in [{low:g}, {high:g}]", shown, way_out)
    return int(count)


def _check_vector(trial: Trial, vector: Wrap) -> None:
    """Require equal declarations, and that game i of the vector form is the scalar game with seed + i, bit by bit."""
    single = trial.env()
    with must_not_fail("vector(envs)", "It puts the vector form around a BanditVectorEnv."):
        many: Any = vector(BanditVectorEnv(NUM_ENVS, GainTable(trial.table)))
    for fact in FACTS_OF_VECTOR:
        one, other = single.get_wrapper_attr(fact), getattr(many, fact, None)
        require(one == other, f"{fact} of the vector form must be that of the scalar one", f"{other!r}", "Declare it.")
    scalar = [trial.play(5 + game) for game in range(NUM_ENVS)]
    with must_not_fail("games behind the vector form", "They are reset once and stepped to their end."):
        observation, info = many.reset(seed=5)
        never = np.zeros(NUM_ENVS)
        together = [Step(observation, never, never, never, info)]
        together += [Step(*many.step(np.full(NUM_ENVS, arm))) for arm in trial.plays[: len(scalar[0]) - 1]]
    for game in range(NUM_ENVS):
        for alone, step in zip(scalar[game], together, strict=True):
            seen = {key: part[game] for key, part in step.observation.items()}
            same = set(seen) == set(alone.observation)
            same = same and np.array_equal(step._replace(observation=seen).released, alone.released)
            same = same and [part[game] for part in step[1:4]] == list(alone[1:4])
            same = same and set(step.info) <= {"round", "_round"} and step.info["round"][game] == alone.info["round"]
            rule = "game i of the vector form must be the scalar one with seed + i, to the last bit"
            require(same, rule, f"another game {game}", "Use the same mechanism code and one stream for each game.")


def _check_low_bits(trial: Trial) -> None:
    """Look for releases that one gain can lead to and another one cannot, whatever the noise is.

    Warns:
        UserWarning: If they cannot be looked at: where the wrapper is no `PrivacyBoundary`, or draws other noise.
    """
    env = trial.env()
    guarantee: PrivacyGuarantee = env.get_wrapper_attr("guarantee")
    if guarantee.model == "none":
        return
    layers = layers_of_game(env)
    if any(takes_no_seed(mechanism) for mechanism, _ in layers):
        return  # secure draws are exact
    batch = math.prod(mechanism.batch_size for mechanism, _ in layers)
    arms = tuple(trial.plays[t // batch] for t in range(len(trial.table)))
    held = FixedPlay(trial.wrap, "", trial.game(), layers, arms)
    try:
        if not layers:
            raise NotAuditedError("the wrapper is no PrivacyBoundary")
        found = count_impossible(fixed_game(held, 0), LOW_BITS, 0)
    except NotAuditedError as reason:
        warnings.warn(f"low bits not looked at: {reason}.", stacklevel=checks.level_of_caller())
        return
    least = float(chernoff_lower_bound(np.array(found.impossible), found.looked_at, FALSE_ALARM))
    require(
        not found.impossible or not least > guarantee.delta_at(guarantee.epsilon),
        f"a release must be possible for every gain, but with a probability of delta; declared is {guarantee}",
        f"{found.impossible} of {found.looked_at} that no draw leads to if one gain is at the other end of its range",
        "Round the noisy value to a grid of some hundredths of the noise: privacy.laplace.noisy does.",
    )


def _check_privacy(trial: Trial, games: int) -> None:
    """Compare two neighbouring tables of gains: no event may be exp(epsilon) times as frequent, plus delta.

    A wrapper that keeps its guarantee fails with a probability below 5e-7, if seeds give independent noise. The events:
    the release at a step, its change, or the total so far is above a threshold, or is not. The round that differs is
    the first, one in the middle, or the last.
    """
    rounds, arms = len(trial.table), [0] * len(trial.table)
    neighbours = Trial(trial.wrap, 0 * trial.table).neighbours()
    pairs = [neighbours[changed] for changed in (0, rounds // 2, rounds - 1)]
    guarantee: PrivacyGuarantee = trial.env().get_wrapper_attr("guarantee")
    if math.isinf(tested(guarantee)[0]) or guarantee.agents != ANY_AGENT:
        return

    def sample(table: FloatArray, numbers: range) -> FloatArray:
        env = trial.env(trial.game(table))
        return threshold_features(np.array([_releases(_run(env, arms, FIRST_SEED + number)) for number in numbers]))

    require_hidden(
        f"no event may be more than exp(epsilon) times as frequent if one round changes; declared is {guarantee}",
        "Add more noise, for the sensitivity of what is below, or declare a larger epsilon.",
        guarantee,
        pairs,
        sample,
        tries=max(100, games // 10),
        games=games,
    )
