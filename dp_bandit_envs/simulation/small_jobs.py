"""Plays small simulations with `play` where compiling their loops would take longer; the games are the same.

A process plays an algorithm so for `MOST_ROUNDS` rounds in all. Then it compiles it: many small simulations, as of a
slider in a notebook, would otherwise never get fast.
"""

import contextlib
import dataclasses
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextvars import ContextVar
from typing import Any

from dp_bandit_envs.adversaries import Adversary
from dp_bandit_envs.compiling.compiled import Stopped, in_background
from dp_bandit_envs.simulation.compiling_beside import missing_in, of_plans
from dp_bandit_envs.simulation.lane_trials import LaneTrials
from dp_bandit_envs.simulation.plan import Plan
from dp_bandit_envs.simulation.prepared import Prepared
from dp_bandit_envs.simulation.tasks import Terms
from dp_bandit_envs.simulation.trials import TOO_FEW_ROUNDS, CompiledTrials, PlayedTrials

MOST_ROUNDS = 20_000
"""`play` takes .1 to 1.7 s for them, and compiling 1 to 3 s."""
ROUNDS_TO_BEGIN = 200
"""The rounds that `play` plays in the time that it takes to begin a game."""
ALWAYS_COMPILE = "DP_BANDIT_ENVS_COMPILE"
"""The environment variable that is `always` where small simulations are compiled, too."""

_played: Counter[object] = Counter()
"""Rounds played here instead of compiled, by compiled loop."""
_all_compiled: ContextVar[bool] = ContextVar("_all_compiled", default=False)


@contextlib.contextmanager
def always_compiled() -> Iterator[None]:
    """Compile small simulations, too."""
    token = _all_compiled.set(True)
    try:
        yield
    finally:
        _all_compiled.reset(token)


def is_few(horizon: int, trials: int) -> bool:
    """Return whether so many games may be played instead of compiled at all."""
    compiled = _all_compiled.get() or os.environ.get(ALWAYS_COMPILE) == "always"
    return not compiled and trials * (horizon + ROUNDS_TO_BEGIN) <= MOST_ROUNDS


def smaller_than_compiling(trials: int, *, cluster: Any) -> Callable[[Plan, Adversary], bool]:
    """Return what says for `prepare` whether a plan is played, so often, in less time than it takes to compile it."""

    def small(plan: Plan, adversary: Adversary) -> bool:
        here = cluster is None and adversary.ledger is None
        rounds = trials * (adversary.horizon + ROUNDS_TO_BEGIN)
        return here and is_few(adversary.horizon, trials) and _counted(plan, rounds)

    return small


def jobs_for(reasons: Iterable[str], jobs: int) -> int:
    """Return how many games to play at a time: one, if they are too few to be compiled, and so to start processes."""
    return 1 if TOO_FEW_ROUNDS in reasons else jobs


def placed(prepared: Prepared, *, trials: int, cluster: Any) -> Prepared:
    """Return the simulation as it is best played: small ones here by `play`.

    Args:
        prepared: The simulation.
        trials: Number of trials.
        cluster: As for `simulate`.
    """
    return played_if_small(prepared, trials) if cluster is None else prepared


def played_if_small(prepared: Prepared, trials: int) -> Prepared:
    """Return the simulation with those algorithms played that are small and have no machine code on disk."""
    work = next((work for work in prepared.works if isinstance(work, CompiledTrials)), None)
    if work is None or work.adversary.ledger is not None or not is_few(work.adversary.horizon, trials):
        return prepared
    rounds = trials * (work.adversary.horizon + ROUNDS_TO_BEGIN)
    small = [name for name, plan in work.plans.items() if _played[plan.block] + rounds <= MOST_ROUNDS]
    found: list[str] = []

    def look(stopped: Stopped) -> None:
        for one in prepared.works_of(trials):
            if isinstance(one, (CompiledTrials, LaneTrials)):
                found.extend(missing_in(of_plans(one, [name for name in one.plans if name in small])))

    if small:
        in_background(look)
    if not found:
        return prepared
    for name in found:
        _counted(work.plans[name], rounds)
    rest = {name: plan for name, plan in work.plans.items() if name not in found}
    works: list[CompiledTrials | PlayedTrials] = [of_plans(work, list(rest))] if rest else []
    reasons = {**prepared.reasons, **dict.fromkeys(found, TOO_FEW_ROUNDS)}
    algorithms = {name: prepared.players[name] for name in reasons}
    works.append(PlayedTrials(prepared.make_env, algorithms, work.seed, work.checkpoints, Terms(prepared.secret)))
    return dataclasses.replace(prepared, works=tuple(works), reasons=reasons)


def _counted(plan: Plan, rounds: int) -> bool:
    """Count rounds of a plan that are played instead of compiled; return False if they are too many."""
    if _played[plan.block] + rounds > MOST_ROUNDS:
        return False
    _played[plan.block] += rounds
    return True
