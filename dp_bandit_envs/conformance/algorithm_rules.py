"""The rules for algorithms: a name, wrappers and an agent that fit together, and a correct guarantee and bounds."""

import functools
import itertools
import math
from typing import Any, Final

import gymnasium as gym
import numpy as np

from dp_bandit_envs import checks
from dp_bandit_envs.adversaries import Adversary, Deterministic, GainTable
from dp_bandit_envs.algorithms import Algorithm
from dp_bandit_envs.algorithms.specs import Player, build_algorithm
from dp_bandit_envs.audits.sampled import neighbours_of
from dp_bandit_envs.conformance.rules import (
    copies_of,
    global_randomness_untouched,
    must_not_fail,
    require,
    require_hidden,
    tested,
)
from dp_bandit_envs.conformance.trial_games import (
    EXPERTS,
    GRAPH,
    OWN_IDS,
    POINT_IDS,
    REVEALING_ALL,
    STOCHASTIC,
    check_played_equals_simulated,
    made,
)
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.envs.experts_env import ExpertsEnv
from dp_bandit_envs.errors import ConformanceError, WrongGameError
from dp_bandit_envs.privacy.guarantee import PrivacyGuarantee
from dp_bandit_envs.protocols import Agent, Environment, FloatArray, PointAgent, plays_points
from dp_bandit_envs.simulation import play, simulate

SIZES: Final = ((2, 2), (2, 64), (4, 2**12), (4, 2**18), (50, 1000))
"""Numbers of arms and rounds for checking the guarantee and the bounds."""
HORIZONS: Final = tuple(2**k for k in range(6, 23, 2))
MEANS: Final = ((0.9, 0.6), (0.5, 0.5), (0.7, 0.5, 0.5, 0.3), (1.0, 0.0))
LARGEST_TESTED: Final = 4.0
"""The largest tested epsilon: a few hundred games cannot show the small probabilities of larger epsilons."""
ROUNDS: Final = 24
POINT_ROUNDS: Final = 12
FEEDBACKS: Final = ("full", "bandit")


@checks.answers_wrong_calls
def check_algorithm(algorithm: Player, *, games: int = 400) -> None:
    """Check your own algorithm: that it plays, and that its guarantee and bounds are plausible.

    The rules: it has a name, the key of stored results. `agent()` makes a new agent each time and `wrap` keeps the
    game. The guarantee is a `PrivacyGuarantee` with a theorem, and equals the outermost wrapper's, unless it comes from
    the agent, and then it covers the arms only. Regret bounds are in [0, T] or inf, and do not decrease with more
    rounds, more memory or a larger sensitivity. Copies and pickles play the same. Every base game can be played, also
    with one round, unless `refusal` gives a reason and `play` then raises a WrongGameError. The same holds for a game
    on a graph, unless it is refused with a ValueError or TypeError. `simulate` equals `play` to the last bit. If a
    guarantee with an epsilon of at most 4 is declared, no tested event of the arms played is more than exp(epsilon)
    times as frequent, plus delta, when one round changes. An algorithm with `feedback="full"` is checked in games that
    reveal the gains of all arms, with experts and on the complete graph. An algorithm for points is checked in all
    games of points that it plays.

    The last rule is a test on samples, and cannot prove a guarantee. A correct algorithm fails with a probability below
    1e-6.

    Args:
        algorithm: The algorithm or its name, as for `play`.
        games: Number of games for each table of gains in the last rule; 0 skips it.

    Raises:
        ConformanceError: If a rule is broken.
    """
    with global_randomness_untouched("an algorithm"):
        chosen = algorithm if isinstance(algorithm, Algorithm) else _named(algorithm)
        way_out = "Make one: dp_bandit_envs.Algorithm('mine', MyAgent)."
        rule = "algorithm must be an Algorithm or a name"
        require(isinstance(chosen, Algorithm), rule, checks.kind_of(chosen), way_out)
        named = isinstance(chosen.name, str) and chosen.name.strip()
        require(named, "an algorithm must have a name", repr(chosen.name), "Results are filed under it.")
        if chosen.make_point_agent is not None:
            _check_points(chosen, games)
            if chosen.make_agent is None:
                _check_refused(chosen, STOCHASTIC)
                return
        _check_parts(chosen, made(_home(chosen), horizon=ROUNDS))
        _check_guarantees(chosen)
        _check_bounds(chosen)
        _check_games(chosen)
        _check_copies(chosen, made(_home(chosen), horizon=60))
        if games:
            _check_arms_hide(chosen, games)


def _named(algorithm: Any) -> Any:
    if not isinstance(algorithm, str) and not callable(algorithm):
        return algorithm
    with must_not_fail(f"making {algorithm!r}", "register_algorithm(name, maker) registers a function."):
        return build_algorithm(algorithm)


def _check_points(algorithm: Algorithm, games: int) -> None:
    options: dict[str, Any] = {"horizon": 60, "dimension": 3}
    games_of_points = [made(id_, feedback=feedback, **options) for id_ in POINT_IDS for feedback in FEEDBACKS]
    played = [game for game in games_of_points if algorithm.refusal(game) is None]
    require(played, "an algorithm must play one game at least", "one that refuses all", "Look at its refusal(env).")
    for game in played:
        env = _check_parts(algorithm, game)
        with must_not_fail("guarantee_in(env)", "Every game has one, or none(reason)."):
            guarantee = algorithm.guarantee_in(game)
        _check_stated(guarantee)
        _check_outermost(algorithm, guarantee, env, "Leave Algorithm.guarantee_in as it is.")
        core: Any = game.unwrapped
        for horizon, dimension in ((120, 4), (1, 2)):
            size: dict[str, Any] = {"horizon": horizon, "dimension": dimension, "feedback": core.feedback}
            check_played_equals_simulated(algorithm, core.spec.id, what=algorithm.name, **size)
        _check_copies(algorithm, game)
        if games:
            _check_points_hide(algorithm, core.spec.id, core.feedback, games)


def _check_parts(algorithm: Algorithm, game: Environment) -> Environment:
    """Check the agent and the wrappers in a game; return it with the wrappers."""
    points = plays_points(game)
    arguments = (game,) if points else ()
    what = "agent(env)" if points else "agent()"
    with must_not_fail(what, "It makes a fresh agent."):
        first, second = algorithm.agent(*arguments), algorithm.agent(*arguments)
    rule = "agent() must return an agent for points" if points else "agent() must return an agent"
    for agent in (first, second):
        fits = isinstance(agent, PointAgent if points else Agent) and not isinstance(agent, type)
        require(fits, rule, checks.kind_of(agent), "check_agent says more.")
    require(first is not second, "agent() must make a fresh agent each time", "one twice", "Pass the agent's class.")
    with must_not_fail("wrap(env)", "It puts the algorithm's wrappers around any DPBandit environment."):
        env = algorithm.wrap(game)
    kept = getattr(env, "unwrapped", None) is game.unwrapped
    require(kept, "wrap must keep the game it is given", "another", "Return wrappers around env.")
    return env


def _check_guarantees(algorithm: Algorithm) -> None:
    """Check the guarantees for games with arms of several sizes."""
    for n_arms, horizon in SIZES:
        size: dict[str, Any] = {"n_arms": n_arms, "horizon": horizon}
        with must_not_fail(f"guarantee(n_arms={n_arms}, horizon={horizon})", "Every size has one, or none(reason)."):
            stated = [algorithm.guarantee(**size), algorithm.paper_guarantee(**size)]
            stated.append(algorithm.guarantee(**size, sensitivity=2.0))
            env = algorithm.wrap(_game(algorithm, Deterministic(n_arms, horizon)))
        for guarantee in stated:
            _check_stated(guarantee)
        if algorithm.own_guarantee is not None:
            require(
                all("releases" not in guarantee.covers for guarantee in (stated[0], stated[-1])),
                "own_guarantee hides gains by the arms drawn, so it covers the arms only",
                f"covers {stated[0].covers!r}",
                "What the wrappers release is not covered; leave covers as it is.",
            )
        _check_outermost(algorithm, stated[0], env, "Leave Algorithm.guarantee as it is.")


def _check_stated(guarantee: Any) -> None:
    true = isinstance(guarantee, PrivacyGuarantee) and guarantee.epsilon >= 0 and 0 <= guarantee.delta < 1
    require(
        true and guarantee.theorem and (guarantee.model == "none") <= math.isinf(guarantee.epsilon),
        "a guarantee must be a PrivacyGuarantee with epsilon >= 0, delta in [0, 1) and a theorem",
        f"{guarantee!r}",
        "PrivacyGuarantee.none(reason) states that there is none.",
    )


def _check_outermost(algorithm: Algorithm, guarantee: PrivacyGuarantee, env: Environment, way_out: str) -> None:
    if algorithm.own_guarantee is None and env.has_wrapper_attr("guarantee"):
        require(
            guarantee == env.get_wrapper_attr("guarantee"),
            "the guarantee must be that of the outermost wrapper, or own_guarantee",
            str(guarantee),
            way_out,
        )


def _check_bounds(algorithm: Algorithm) -> None:
    curves: dict[str, list[tuple[float, int]]] = {}
    with must_not_fail("a regret bound", "Return math.inf where none is known."):
        for memory in (0, 1, 2):
            bounds = [(algorithm.regret_bound(n_arms=4, horizon=t, memory=memory), t) for t in HORIZONS]
            curves[f"regret_bound with memory {memory}"] = bounds
        noisy = [(algorithm.regret_bound(n_arms=4, horizon=t, sensitivity=2.0), t) for t in HORIZONS]
        curves["regret_bound with sensitivity 2"] = noisy
        for means in MEANS:
            pseudo = [(algorithm.pseudo_regret_bound(means=means, horizon=t), t) for t in HORIZONS]
            curves[f"pseudo_regret_bound for means {means}"] = pseudo
    for name, curve in curves.items():
        for bound, horizon in curve:
            rule = f"{name} must be in [0, T], or inf where none is known"
            good = isinstance(bound, (int, float)) and (0 <= bound <= horizon or bound == math.inf)
            require(good, rule, f"{bound!r} at T = {horizon}", "Return math.inf where none is known.")
        # A bound may hold only from some horizon on.
        finite = [bound for bound, _ in curve if math.isfinite(bound)]
        rising = all(late >= early * (1 - 1e-9) for early, late in itertools.pairwise(finite))
        require(rising, f"{name} must not fall with more rounds", f"{finite}", "Bound the regret of all rounds.")
    plain = curves["regret_bound with memory 0"]
    for harder in ("regret_bound with memory 1", "regret_bound with memory 2", "regret_bound with sensitivity 2"):
        above = all(hard >= easy for (hard, _), (easy, _) in zip(curves[harder], plain, strict=True))
        require(above, f"{harder} must not be below that without", "a smaller one", "A harder game costs no less.")


def _home(algorithm: Algorithm) -> str:
    return EXPERTS if algorithm.feedback == "full" else STOCHASTIC


def _game(algorithm: Algorithm, gains: Adversary) -> BanditEnv:
    return ExpertsEnv(gains=gains) if algorithm.feedback == "full" else BanditEnv(gains)


def _check_games(algorithm: Algorithm) -> None:
    for id_ in OWN_IDS:
        if id_ == GRAPH:
            continue
        if algorithm.refusal(made(id_, horizon=ROUNDS)) is None:
            check_played_equals_simulated(algorithm, id_, what=algorithm.name)
        else:
            _check_refused(algorithm, id_)
    check_played_equals_simulated(algorithm, _home(algorithm), what=algorithm.name, horizon=1, n_arms=2)
    if algorithm.feedback == "full":
        check_played_equals_simulated(algorithm, GRAPH, what=algorithm.name, **REVEALING_ALL[GRAPH])
        return
    try:
        play(made(GRAPH, horizon=ROUNDS), algorithm)
    except (ValueError, TypeError):
        return  # the algorithm does not support graphs
    except Exception as error:
        way_out = "Refuse games that it is not for with a ValueError."
        raise ConformanceError(
            f"a game on a graph must be played or refused; received {checks.kind_of(error)}. {way_out}"
        ) from error
    check_played_equals_simulated(algorithm, GRAPH, what=algorithm.name)


def _check_refused(algorithm: Algorithm, id_: str) -> None:
    """Require that `play` refuses a game that `refusal` gives a reason against."""
    received = "a game that was played"
    try:
        play(made(id_, horizon=ROUNDS), algorithm)
    except WrongGameError:
        return
    except Exception as error:
        received = checks.kind_of(error)
    require(
        False,
        f"{id_}, for which refusal(env) gives a reason, must end in a WrongGameError",
        received,
        "Leave Algorithm.agent and Algorithm.check_game as they are.",
    )


def _check_copies(algorithm: Algorithm, game: Environment) -> None:
    def played(player: Algorithm) -> list[float]:
        result = play(game, player, seed=4)
        numbers: list[float] = (result.gains if plays_points(game) else result.arms).tolist()
        return numbers

    expected = played(algorithm)
    received = "other points" if plays_points(game) else "other arms"
    for name, twin in copies_of(algorithm, "an algorithm").items():
        same = twin.name == algorithm.name and played(twin) == expected
        require(same, f"{name} of an algorithm must play the same", received, "Keep no state in its functions.")


NOISE = "Put a wrapper with enough noise around the game, or declare a larger epsilon."


def _check_arms_hide(algorithm: Algorithm, games: int) -> None:
    """Compare the arms played on two neighbouring tables, as `check_wrapper` compares releases."""
    guarantee = algorithm.guarantee(n_arms=2, horizon=ROUNDS)
    if tested(guarantee)[0] > LARGEST_TESTED:
        return
    change = 1 if algorithm.feedback == "full" else 0
    pairs = [neighbours_of(np.zeros((ROUNDS, 2)), changed)[change][:2] for changed in (0, ROUNDS // 2)]

    def sample(table: FloatArray, numbers: range) -> FloatArray:
        game = functools.partial(_game, algorithm, GainTable(table))
        options: Any = {"trials": len(numbers), "first_trial": numbers.start, "checkpoints": range(1, ROUNDS + 1)}
        outcome = simulate(game, {"played": algorithm}, seed=12, **options)["played"]
        # Not the gains collected, which are private: only the arms are published.
        return np.concatenate([outcome.pulls, outcome.switches], axis=1).astype(float)

    rule = (
        "no event of the arms may be more than exp(epsilon) times as frequent if one round changes;"
        f" declared is {guarantee}"
    )
    require_hidden(rule, NOISE, guarantee, pairs, sample, tries=max(50, games // 4), games=games)


class _PointRecorder(gym.ActionWrapper[Any, Any, Any]):
    def __init__(self, env: Environment) -> None:
        super().__init__(env)
        self.points: list[Any] = []

    def action(self, action: Any) -> Any:
        self.points.append(action)
        return action


def _check_points_hide(algorithm: Algorithm, id_: str, feedback: str, games: int) -> None:
    """Compare the points played against neighbouring gain vectors, which differ in one of the first rounds."""
    others = np.zeros((POINT_ROUNDS, 2))
    game = made(id_, gains=others, feedback=feedback)
    guarantee = algorithm.guarantee_in(game)
    if tested(guarantee)[0] > LARGEST_TESTED:
        return
    first, second = others.copy(), others.copy()
    first[0], second[0] = (1.0, 0.0), (game.get_wrapper_attr("decision_set").payoffs[0], 0.0)

    def sample(table: FloatArray, numbers: range) -> FloatArray:
        rows = []
        for number in numbers:
            env = _PointRecorder(made(id_, gains=table, feedback=feedback))
            play(env, algorithm, seed=12, trial=number)
            rows.append(np.ravel(env.points))
        return np.array(rows)

    rule = (
        "no event of the points may be more than exp(epsilon) times as frequent if one round changes;"
        f" declared is {guarantee}"
    )
    require_hidden(rule, NOISE, guarantee, [(first, second)], sample, tries=max(50, games // 4), games=games)
