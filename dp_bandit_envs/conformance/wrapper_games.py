"""Plays games behind a wrapper step by step, as an agent above it sees them."""

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from dp_bandit_envs.conformance.rules import must_not_fail
from dp_bandit_envs.conformance.trial_games import games_of
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.protocols import Environment, FloatArray, Observation

Wrap = Callable[[Any], Any]
NO_SEED: Final = -1


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
    """Play a game to its end, or to the end of `arms`; return copies of all steps, beginning with `reset`.

    Args:
        env: The wrapped game.
        arms: The arm, or point, of each step.
        seed: The seed of `reset`, or `NO_SEED`.
        after: Called with each step as it was returned.
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
