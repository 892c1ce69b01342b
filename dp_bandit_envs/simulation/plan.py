"""Looks at an algorithm around an environment and says how the compiled loop can play it, or why it cannot."""

import dataclasses
import functools
from collections.abc import Callable
from typing import Any

import gymnasium as gym
from gymnasium.wrappers import OrderEnforcing, PassiveEnvChecker

from dp_bandit_envs.agents import FunctionalAgent
from dp_bandit_envs.algorithms import Algorithm
from dp_bandit_envs.bandit_env import BanditEnv
from dp_bandit_envs.privacy.laplace import LaplaceMechanism
from dp_bandit_envs.protocols import Environment
from dp_bandit_envs.seeding import FIRST_WRAPPER
from dp_bandit_envs.simulation.compiling import compile_with
from dp_bandit_envs.simulation.play_block import Rules, play_block
from dp_bandit_envs.wrappers import LaplaceClipRescale, MiniBatchAverage

PLAIN = ("begin", "select_arm", "update")
NO_NOISE = LaplaceMechanism(0.0, 0.0, False)


@dataclasses.dataclass(frozen=True)
class Plan:
    """How the compiled loop plays an algorithm.

    Attributes:
        agent: Gives each game its first state.
        steps: The horizon as the agent sees it.
        rules: What does not change during a game.
        inner_role, outer_role: The random streams of the two mechanisms.
    """

    agent: FunctionalAgent
    steps: int
    rules: Rules
    inner_role: int
    outer_role: int

    @property
    def block(self) -> Callable[..., Any]:
        """The compiled loop; looked up where it is used, as machine code does not travel to other processes."""
        return _block(*self.agent.functions)


class NotCompilable(Exception):
    """An algorithm has a part that the compiled loop does not know; the message names it."""


def make_plan(algorithm: Algorithm, env: Environment) -> Plan:
    """Return a plan, or raise `NotCompilable`.

    Args:
        algorithm: What is to be played.
        env: The environment before the algorithm's wrappers.
    """
    game = env.unwrapped
    if type(game).step is not BanditEnv.step or type(game).reset is not BanditEnv.reset:
        raise NotCompilable(f"{type(game).__name__} has a step or reset of its own")
    agent = algorithm.agent()
    if not isinstance(agent, FunctionalAgent):
        raise NotCompilable(f"{type(agent).__name__} is not made of compilable functions")
    kind = type(agent)
    if any(getattr(kind, method) is not getattr(FunctionalAgent, method) for method in PLAIN):
        raise NotCompilable(f"{kind.__name__} has a begin or update of its own, or chooses arms its own way")
    wrapped = algorithm.wrap(env)
    assert isinstance(game, BanditEnv)
    chain = _chain(wrapped)
    return Plan(
        agent=agent,
        steps=wrapped.get_wrapper_attr("horizon"),
        rules=Rules(
            game.adversary.memory,
            game.observe_charge,
            chain["batch"].batch_size if "batch" in chain else 1,
            *_part(chain.get("inner")),
            *_part(chain.get("outer")),
        ),
        inner_role=FIRST_WRAPPER,
        # Roles count wrappers from the inside; the outer mechanism comes last.
        outer_role=FIRST_WRAPPER + max(len(chain) - 1, 0),
    )


def _part(wrapper: LaplaceClipRescale | None) -> tuple[bool, float, float, bool]:
    return (False, *NO_NOISE) if wrapper is None else (True, *wrapper.mechanism)


@functools.cache
def _block(select: Callable[..., int], update: Callable[..., Any]) -> Callable[..., Any]:
    return compile_with(play_block, {"select": select, "update": update})


def _chain(env: Environment) -> dict[str, Any]:
    """Return the privacy wrappers by their place in the compiled loop: `inner`, `batch`, `outer`."""
    chain: dict[str, Any] = {}
    for layer in reversed(_layers(env)):
        if type(layer) in (PassiveEnvChecker, OrderEnforcing):
            continue
        place = None
        if type(layer) is MiniBatchAverage:
            place = "batch"
        elif type(layer) is LaplaceClipRescale:
            place = "outer" if "batch" in chain else "inner"
        if place is None or place in chain:
            raise NotCompilable(f"a {type(layer).__name__} in this place is not part of the compiled chain")
        chain[place] = layer
    return chain


def _layers(env: Environment) -> list[gym.Wrapper[Any, Any, Any, Any]]:
    """Return the wrappers from the outermost to the innermost."""
    layers = []
    layer: Any = env
    while isinstance(layer, gym.Wrapper):
        layers.append(layer)
        layer = layer.env
    return layers
