"""The rules for algorithms: a name, wrappers and an agent that fit together, and a correct guarantee and bounds."""

import functools
import itertools
import math
from typing import Any, Final

import numpy as np

from dp_bandit_envs.adversaries import Adversary, Deterministic, GainTable
from dp_bandit_envs.algorithms import Algorithm, make_algorithm
from dp_bandit_envs.conformance.agent_games import GRAPH, REVEALING_ALL, STOCHASTIC
from dp_bandit_envs.conformance.audit import excess, strongest_event
from dp_bandit_envs.conformance.point_algorithm_rules import check_point_algorithm
from dp_bandit_envs.conformance.rules import copies_of, global_randomness_untouched, must_not_fail, require
from dp_bandit_envs.conformance.same_games import check_played_equals_simulated
from dp_bandit_envs.conformance.trial_games import EXPERTS, OWN_IDS, made
from dp_bandit_envs.conformance.wrapper_noise import neighbours, opposite_neighbours, tested
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.envs.experts_env import ExpertsEnv
from dp_bandit_envs.errors import ConformanceError, WrongGameError
from dp_bandit_envs.privacy.guarantee import PrivacyGuarantee
from dp_bandit_envs.protocols import Agent, FloatArray
from dp_bandit_envs.simulation import play, simulate

SIZES: Final = ((2, 2), (2, 64), (4, 2**12), (4, 2**18), (50, 1000))
"""Numbers of arms and rounds at which the guarantee and the bounds are checked."""
HORIZONS: Final = tuple(2**k for k in range(6, 23, 2))
MEANS: Final = ((0.9, 0.6), (0.5, 0.5), (0.7, 0.5, 0.5, 0.3), (1.0, 0.0))
LARGEST_TESTED: Final = 4.0
"""The largest epsilon that is tested: a few hundred games cannot show the small probabilities of a larger one."""
FALSE_ALARM: Final = 5e-7
ROUNDS: Final = 24


def check_algorithm(algorithm: Algorithm | str, *, games: int = 400) -> None:
    """Check an algorithm of your own: that it plays, and that its guarantee and bounds are plausible.

    The rules: it has a name, under which results are stored; `agent()` makes a new agent each time and `wrap` keeps the
    game; the guarantee is a `PrivacyGuarantee` with a theorem, and that of the outermost wrapper unless it comes from
    the agent, and then it covers the arms only; regret bounds are in [0, T] or inf, and do not decrease with more
    rounds, more memory or a larger sensitivity; copies and pickles play the same; every base game can be played, also
    with one round, unless `refusal` says why not and `play` then raises a WrongGameError, and one on a graph unless it
    is refused with a ValueError or TypeError; `simulate` gives what `play` gives, to the last bit; and if a guarantee
    with an epsilon of at most 4 is declared, no tested event of the arms played is more than exp(epsilon) times as
    frequent, plus delta, when one round changes. An algorithm with `feedback="full"` is checked in games that reveal
    the gains of all arms, with experts and on the complete graph. One that plays points is checked in all games of
    points that it plays.

    The last rule is a test on samples, and cannot prove a guarantee. A correct algorithm fails with a probability below
    1e-6.

    Args:
        algorithm: The algorithm, or the name of a registered one.
        games: Number of games for each table of gains in the last rule; 0 skips it.

    Raises:
        ConformanceError: If a rule is broken.
    """
    with global_randomness_untouched("an algorithm"):
        made_algorithm = _named(algorithm) if isinstance(algorithm, str) else algorithm
        if isinstance(made_algorithm, Algorithm) and made_algorithm.make_point_agent is not None:
            check_point_algorithm(made_algorithm, games)
            if made_algorithm.make_agent is None:
                _check_refused(made_algorithm, STOCHASTIC)
                return
        _check_parts(made_algorithm)
        _check_guarantee(made_algorithm)
        _check_bounds(made_algorithm)
        _check_games(made_algorithm)
        _check_copies(made_algorithm)
        if games:
            _check_privacy(made_algorithm, games)


def _named(name: str) -> Algorithm:
    with must_not_fail(f"make_algorithm({name!r})", "register_algorithm(name, maker) registers one."):
        return make_algorithm(name)


def _check_parts(algorithm: Algorithm) -> None:
    kind = type(algorithm).__name__
    require(isinstance(algorithm, Algorithm), "algorithm must be an Algorithm or a name", f"a {kind}", "Make one.")
    named = isinstance(algorithm.name, str) and algorithm.name.strip()
    require(named, "an algorithm must have a name", repr(algorithm.name), "Results are filed under it.")
    with must_not_fail("agent()", "It makes a fresh agent."):
        one, other = algorithm.agent(), algorithm.agent()
    for agent in (one, other):
        fits = isinstance(agent, Agent) and not isinstance(agent, type)
        require(fits, "agent() must return an agent", f"a {type(agent).__name__}", "check_agent says more.")
    require(one is not other, "agent() must make a fresh agent each time", "one twice", "Pass the agent's class.")
    game = made(_home(algorithm), horizon=ROUNDS)
    with must_not_fail("wrap(env)", "It puts the algorithm's wrappers around any DPBandit environment."):
        env = algorithm.wrap(game)
    kept = getattr(env, "unwrapped", None) is game.unwrapped
    require(kept, "wrap must keep the game it is given", "another", "Return wrappers around env.")


def _check_guarantee(algorithm: Algorithm) -> None:
    for n_arms, horizon in SIZES:
        size: dict[str, Any] = {"n_arms": n_arms, "horizon": horizon}
        with must_not_fail(f"guarantee(n_arms={n_arms}, horizon={horizon})", "Every size has one, or none(reason)."):
            stated = [algorithm.guarantee(**size), algorithm.paper_guarantee(**size)]
            stated.append(algorithm.guarantee(**size, sensitivity=2.0))
            env = algorithm.wrap(_game(algorithm, Deterministic(n_arms, horizon)))
        for guarantee in stated:
            true = isinstance(guarantee, PrivacyGuarantee) and guarantee.epsilon >= 0 and 0 <= guarantee.delta < 1
            require(
                true and guarantee.theorem and (guarantee.model == "none") <= math.isinf(guarantee.epsilon),
                "a guarantee must be a PrivacyGuarantee with epsilon >= 0, delta in [0, 1) and a theorem",
                f"{guarantee!r}",
                "PrivacyGuarantee.none(reason) states that there is none.",
            )
        if algorithm.own_guarantee is not None:
            require(
                all("releases" not in guarantee.covers for guarantee in (stated[0], stated[-1])),
                "own_guarantee hides gains by the arms drawn, so it covers the arms only",
                f"covers {stated[0].covers!r}",
                "What the wrappers release is not covered; leave covers as it is.",
            )
        if algorithm.own_guarantee is None and env.has_wrapper_attr("guarantee"):
            require(
                stated[0] == env.get_wrapper_attr("guarantee"),
                "the guarantee must be that of the outermost wrapper, or own_guarantee",
                str(stated[0]),
                "Leave Algorithm.guarantee as it is.",
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
        known = [bound for bound, _ in curve if math.isfinite(bound)]
        rising = all(late >= early * (1 - 1e-9) for early, late in itertools.pairwise(known))
        require(rising, f"{name} must not fall with more rounds", f"{known}", "Bound the regret of all rounds.")
    plain = curves["regret_bound with memory 0"]
    for harder in ("regret_bound with memory 1", "regret_bound with memory 2", "regret_bound with sensitivity 2"):
        above = all(hard >= easy for (hard, _), (easy, _) in zip(curves[harder], plain, strict=True))
        require(above, f"{harder} must not be below that without", "a smaller one", "A harder game costs no less.")


def _home(algorithm: Algorithm) -> str:
    """Return the id of the games in which most rules are checked."""
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
            f"a game on a graph must be played or refused; received a {type(error).__name__}. {way_out}"
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
        received = f"a {type(error).__name__}"
    require(
        False,
        f"{id_}, for which refusal(env) gives a reason, must end in a WrongGameError",
        received,
        "Leave Algorithm.agent and Algorithm.check_game as they are.",
    )


def _check_copies(algorithm: Algorithm) -> None:
    def arms(each: Algorithm) -> list[int]:
        played: list[int] = play(made(_home(each), horizon=60), each, seed=4).arms.tolist()
        return played

    expected = arms(algorithm)
    for name, twin in copies_of(algorithm, "an algorithm").items():
        same = twin.name == algorithm.name and arms(twin) == expected
        require(same, f"{name} of an algorithm must play the same", "other arms", "Keep no state in its functions.")


def _check_privacy(algorithm: Algorithm, games: int) -> None:
    """Compare the arms played on two neighbouring tables, as `check_wrapper` compares what is released."""
    guarantee = algorithm.guarantee(n_arms=2, horizon=ROUNDS)
    epsilon, delta = tested(guarantee)
    if epsilon > LARGEST_TESTED:
        return
    tables = opposite_neighbours if algorithm.feedback == "full" else neighbours
    pairs = [tables(ROUNDS, 2, changed) for changed in (0, ROUNDS // 2)]
    first_trial = 0

    def sample(table: FloatArray, number: int) -> FloatArray:
        nonlocal first_trial
        game = functools.partial(_game, algorithm, GainTable(table))
        options: Any = {"trials": number, "seed": 12, "first_trial": first_trial, "checkpoints": range(1, ROUNDS + 1)}
        first_trial += number
        outcome = simulate(game, {"played": algorithm}, **options)["played"]
        # Not the gains collected, which are private: only the arms are published.
        return np.concatenate([outcome.pulls, outcome.switches], axis=1).astype(float)

    tries = max(50, games // 4)
    events = [strongest_event(sample(one, tries), sample(other, tries), epsilon, delta) for one, other in pairs]
    best = max(range(len(pairs)), key=lambda index: events[index].score)
    one, other = (sample(table, games) for table in pairs[best])
    over = excess(events[best], one, other, epsilon, delta, FALSE_ALARM)
    require(
        not over > 0,
        "no event of the arms may be more than exp(epsilon) times as frequent if one round changes;"
        f" declared is {guarantee}",
        f"one that is at least exp({epsilon + over:.3g}) times as frequent",
        "Put a wrapper with enough noise around the game, or declare a larger epsilon.",
    )
