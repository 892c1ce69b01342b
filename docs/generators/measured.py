"""Simulates every algorithm in the games of its setting, at guarantees of epsilon 1 and 0.1."""

import functools
import inspect
import math

import gymnasium as gym

from dp_bandit_envs.algorithms import ALGORITHMS, calibrate_in, make_algorithm
from dp_bandit_envs.errors import UnreachableGuaranteeError
from dp_bandit_envs.plots.curves_figure import Curve
from dp_bandit_envs.privacy.guarantee import ShownEpsilon, label_of, shown_epsilon
from dp_bandit_envs.simulation import simulate
from dp_bandit_envs.simulation.results import Outcome
from generators.settings import TWINS, MeasuredGame, can_be_calibrated

TRIALS = 60
CHECKPOINTS = 50
SEED = 2017
EPSILONS = (1.0, 0.1)
DELTA = 1e-6
"""Of algorithms that have a delta; others have pure differential privacy."""


def delta_of(name: str) -> float:
    """Return the delta at which an algorithm is measured."""
    parameter = inspect.signature(ALGORITHMS[name]).parameters.get("delta")
    return DELTA if name == "EXP3-tau" or (parameter is not None and parameter.default is not None) else 0.0


@functools.cache
def outcome_of(game: MeasuredGame, name: str, epsilon: float | None = None, trials: int = TRIALS) -> Outcome | None:
    """Return the result of an algorithm as it is, or at an epsilon; None if the game is not for it, or too short."""
    env = gym.make(game.id, **game.arguments)
    try:
        if epsilon is None or math.isinf(epsilon):
            algorithm = make_algorithm(name, **({} if epsilon is None else {"epsilon": epsilon}))
        else:
            algorithm = calibrate_in(name, (epsilon, delta_of(name)), env)
        if algorithm.refusal(env) is not None:
            return None
    except UnreachableGuaranteeError:
        return None
    finally:
        env.close()
    limits = {"trials": trials, "seed": SEED, "checkpoints": CHECKPOINTS}
    (outcome,) = simulate(game.id, [algorithm], **limits, env_kwargs=game.arguments, jobs=2).values()
    return outcome


def line(game: MeasuredGame, name: str, epsilon: float | None = None, trials: int = TRIALS) -> Curve | None:
    """Return a line of a picture, whose label has the guarantee: where one was asked for, at the delta asked for."""
    outcome = outcome_of(game, name, epsilon, trials)
    if outcome is None:
        return None
    level = shown_epsilon(outcome.guarantee)
    if epsilon in EPSILONS:
        delta = delta_of(name)
        holds = outcome.guarantee.epsilon_at(delta) if delta else outcome.guarantee.pure_epsilon
        level = ShownEpsilon(float(f"{holds:.3g}"), delta)
    return Curve(name, label_of(name, [level]), outcome.checkpoints, getattr(outcome, game.measure))


def centre(game: MeasuredGame, name: str, trials: int = TRIALS) -> Curve:
    """Return the regret of the centre of the ball, which earns nothing: what the best point earns."""
    outcome = outcome_of(game, name, None, trials)
    assert outcome is not None, name
    return Curve("centre", "centre of the ball", outcome.checkpoints, outcome.collected + outcome.external_regret)


def lines_for(name: str, game: MeasuredGame, trials: int = TRIALS) -> list[Curve]:
    """Return the lines of one algorithm's picture: its own, its twin's without privacy, and that of uniform play."""
    lines = [line(game, name, epsilon, trials) for epsilon in (EPSILONS if can_be_calibrated(name) else (None,))]
    if name in TWINS:
        # Hedge plays no points: there, AS-FTRL without noise stands for it.
        lines.append(line(game, TWINS[name], None, trials) or line(game, "AS-FTRL", math.inf, trials))
    relatives = [other for other, twin in TWINS.items() if twin == name and can_be_calibrated(other)]
    lines += [line(game, other, 1.0, trials) for other in relatives[:2]]
    if name != "Uniform":
        lines.append(line(game, "Uniform", None, trials) or centre(game, name, trials))
    return [curve for curve in lines if curve is not None]
