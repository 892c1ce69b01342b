"""Looks at an algorithm around an environment and says how the compiled loop can play it, or why it cannot."""

import dataclasses
import functools
from collections.abc import Callable
from types import FunctionType, ModuleType
from typing import Any

import gymnasium as gym
from gymnasium.wrappers import OrderEnforcing, PassiveEnvChecker
from numba.core import config

from dp_bandit_envs.agents import FunctionalAgent
from dp_bandit_envs.algorithms import Algorithm
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.envs.graph_env import GraphEnv
from dp_bandit_envs.privacy.laplace import LaplaceMechanism, release_by
from dp_bandit_envs.privacy.randomized_response import ResponseMechanism, respond
from dp_bandit_envs.privacy.sums import SumMechanism
from dp_bandit_envs.protocols import Environment
from dp_bandit_envs.seeding import FIRST_WRAPPER
from dp_bandit_envs.simulation import graph_feedback, payoffs
from dp_bandit_envs.simulation import play_block as play_block_module
from dp_bandit_envs.simulation.entry import Entry
from dp_bandit_envs.simulation.play_block import Nothing, Rules
from dp_bandit_envs.specialise import specialise
from dp_bandit_envs.wrappers import (
    BlockSums,
    CounterSums,
    ExactSums,
    HybridSums,
    IntervalSums,
    LaplaceClipRescale,
    MiniBatchAverage,
    RandomizedResponse,
)

PLAIN = ("begin", "select_arm", "update", "see_graph")


@dataclasses.dataclass(frozen=True)
class Plan:
    """How the compiled loop plays an algorithm.

    Attributes:
        agent: Gives each game its first state.
        steps: The horizon as the agent sees it.
        rules: What does not change during a game.
        parts: What takes the places of the stages of the loop, by name.
        sums: What releases sums, if anything does.
        roles: The random streams of `inner`, `outer` and the sums.
        on_graph: Whether a round reveals the row of a feedback graph.
        payoff: The adversary's payoff function, if it has one.
    """

    agent: FunctionalAgent
    steps: int
    rules: Rules
    parts: dict[str, Callable[..., Any]]
    sums: SumMechanism | None
    roles: tuple[int, int, int]
    on_graph: bool
    payoff: Callable[..., Any] | None = None

    def sums_state(self, n_arms: int) -> Any:
        """Return the first state of what releases sums."""
        return Nothing() if self.sums is None else self.sums.new_state(n_arms)

    @property
    def block(self) -> Entry:
        """The compiled loop; looked up where it is used, as machine code does not travel to other processes."""
        tell = {} if self.sums is None else {"tell": self.sums.tell}
        return _block(**self.agent.functions._asdict(), **self.parts, **tell)


class NotCompilable(Exception):
    """An algorithm has a part that the compiled loop does not know; the message names it."""


def make_plan(algorithm: Algorithm, env: Environment) -> Plan:
    """Return a plan, or raise `NotCompilable`.

    Args:
        algorithm: What is to be played.
        env: The environment before the algorithm's wrappers.
    """
    game = env.unwrapped
    if config.DISABLE_JIT:  # type: ignore[attr-defined]
        raise NotCompilable("NUMBA_DISABLE_JIT is set")
    if type(game).step is not BanditEnv.step or type(game).reset is not BanditEnv.reset:
        raise NotCompilable(f"{type(game).__name__} has a step or reset of its own")
    on_graph = isinstance(game, GraphEnv)
    kind_of_game = GraphEnv if on_graph else BanditEnv
    if any(getattr(type(game), hook) is not getattr(kind_of_game, hook) for hook in ("_begin", "_reveal")):
        raise NotCompilable(f"{type(game).__name__} has feedback of its own")
    agent = algorithm.agent(sensitivity=env.get_wrapper_attr("sensitivity"))
    if not isinstance(agent, FunctionalAgent):
        raise NotCompilable(f"{type(agent).__name__} is not made of compilable functions")
    kind = type(agent)
    if any(getattr(kind, method) is not getattr(FunctionalAgent, method) for method in PLAIN):
        raise NotCompilable(f"{kind.__name__} has a begin or update of its own, or chooses arms its own way")
    assert isinstance(game, BanditEnv)
    payoff = payoffs.compilable(game.adversary)
    if isinstance(payoff, str):
        raise NotCompilable(payoff)
    wrapped = algorithm.wrap(env)
    chain = _chain(wrapped)
    sums = chain["sums"].mechanism if "sums" in chain else None
    if sums is not None and not isinstance(sums.tell, FunctionType):
        raise NotCompilable(f"the {sums.counter.__class__.__name__} is not made of compilable functions")
    if (sums is None) == ("sum" in agent.learns_from):
        raise NotCompilable(f"{kind.__name__} learns from {' and '.join(agent.learns_from)}")
    mechanisms: dict[str, Any] = {place: chain[place].mechanism for place in ("inner", "outer") if place in chain}
    depths = {place: depth for depth, place in enumerate(chain)}
    return Plan(
        agent=agent,
        steps=wrapped.get_wrapper_attr("horizon"),
        rules=Rules(
            game.adversary.memory,
            game.observe_charge,
            chain["batch"].batch_size if "batch" in chain else 1,
            mechanisms.get("inner", Nothing()),
            mechanisms.get("outer", Nothing()),
        ),
        parts=payoffs.with_payoff(
            _stages(graph_feedback if on_graph else play_block_module, mechanisms),
            payoff,
            shown=on_graph and game.observe_charge,
        ),
        sums=sums,
        on_graph=on_graph,
        payoff=payoff,
        roles=tuple(FIRST_WRAPPER + depths.get(place, 0) for place in ("inner", "outer", "sums")),  # type: ignore[arg-type]
    )


MECHANISMS: dict[type, Callable[..., Any]] = {LaplaceMechanism: release_by, ResponseMechanism: respond}
"""The plain function of each mechanism that works on one gain."""


def _stages(module: ModuleType, mechanisms: dict[str, Any]) -> dict[str, Callable[..., Any]]:
    """Return the stages of a kind of feedback with the mechanisms in their places."""
    stages: dict[str, Callable[..., Any]] = {"clear": module.clear}
    for stage, place in (("gather", "inner"), ("settle", "outer")):
        plain = getattr(module, stage)
        present = place in mechanisms
        stages[stage] = specialise(plain, place, MECHANISMS[type(mechanisms[place])]) if present else plain
    return stages


@functools.cache
def _block(**parts: Callable[..., Any]) -> Entry:
    return Entry(parts)


def _chain(env: Environment) -> dict[str, Any]:
    """Return the privacy wrappers from the innermost, by their place in the loop: `inner`, `batch`, `outer`, `sums`."""
    chain: dict[str, Any] = {}
    for layer in reversed(_layers(env)):
        if type(layer) in (PassiveEnvChecker, OrderEnforcing):
            continue
        place = None
        if type(layer) is MiniBatchAverage:
            place = "batch"
        elif type(layer) in (LaplaceClipRescale, RandomizedResponse):
            place = "outer" if "batch" in chain else "inner"
        elif type(layer) in (ExactSums, CounterSums, HybridSums, IntervalSums, BlockSums):
            place = "sums"
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
