"""Turns an algorithm and its wrappers into arguments of the compiled loop, or says why it cannot be compiled."""

import copy
import dataclasses
import functools
import itertools
from collections.abc import Callable
from types import FunctionType
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.wrappers import OrderEnforcing, PassiveEnvChecker

from dp_bandit_envs.agents import FunctionalAgent
from dp_bandit_envs.agents.functional_points import FunctionalPointAgent
from dp_bandit_envs.algorithms import Algorithm
from dp_bandit_envs.compiling.compiled import obstacle
from dp_bandit_envs.compiling.functions import frozen
from dp_bandit_envs.decisions import DecisionSet
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.envs.experts_env import ExpertsEnv
from dp_bandit_envs.envs.graph_env import GraphEnv
from dp_bandit_envs.envs.point_env import PointEnv
from dp_bandit_envs.observations import Sums
from dp_bandit_envs.privacy.mechanism import Below, Mechanism, noise_label, noise_of
from dp_bandit_envs.privacy.values import Values
from dp_bandit_envs.protocols import Environment
from dp_bandit_envs.seeding import AGENT, FIRST_WRAPPER, stream
from dp_bandit_envs.simulation import payoffs, play_block
from dp_bandit_envs.simulation.chain import NotCompilableError, stages
from dp_bandit_envs.simulation.entry import Entry
from dp_bandit_envs.simulation.first_state import FirstState
from dp_bandit_envs.simulation.play_block import Progress, Rules, new_progress
from dp_bandit_envs.specialise import specialise
from dp_bandit_envs.wrappers import PrivacyBoundary

KINDS = {"graph": GraphEnv, "all": ExpertsEnv, "vector": PointEnv, "arm": BanditEnv}
"""The kinds of games by what a round reveals; every game is of the last kind."""
HOOKS = ("_begin", "_reveal", "_take", "_payoff")
PLAIN: dict[Any, tuple[str, ...]] = {
    FunctionalPointAgent: ("begin", "select_point", "update", "see_set"),
    FunctionalAgent: ("begin", "select_arm", "update", "see_graph"),
}
"""The methods of agents that the compiled loop replaces, by the class that defines them."""
DRIVER = [name for name, part in vars(PrivacyBoundary).items() if callable(part) and name != "__init__"]
"""Methods of a boundary; a subclass that overrides one of them is played, not compiled."""


@dataclasses.dataclass(frozen=True)
class Plan:
    """How the compiled loop plays an algorithm.

    Attributes:
        agent: Makes the first state of each game.
        player: The algorithm and its parameters, which determine the random streams.
        n_arms: Number of arms, or of coordinates of a point.
        n_values: Number of values that a round can reveal.
        steps: The horizon as the agent sees it.
        rules: The constants of a game.
        mechanisms: The wrappers' mechanisms, from the innermost, each with the description of its input.
        feedback: What a round reveals, a key of `chain.FEEDBACK`.
        payoff: The adversary's payoff function, if it has one.
        decision_set: The set whose points are played, if actions are points.
    """

    agent: FunctionalAgent
    player: str
    n_arms: int
    n_values: int
    steps: int
    rules: Rules
    mechanisms: tuple[tuple[Mechanism, Below], ...]
    feedback: str
    payoff: Callable[..., Any] | None = None
    decision_set: DecisionSet | None = None

    @functools.cached_property
    def first(self) -> FirstState[tuple[Any, tuple[Any, ...], Progress]]:
        """The first states of the agent and of the mechanisms, and the progress before round 1."""
        # Of copies, so that no question asked later sees what a mechanism kept.
        states = tuple(copy.deepcopy(mechanism).new_state(below) for mechanism, below in self.mechanisms)
        progress = new_progress(self.n_arms if self.decision_set is None else 1, self.n_values)
        return FirstState((self.agent.initial_state(self.n_arms, self.steps), states, progress))

    def streams(self, seed: int, trial: int) -> tuple[np.random.Generator, ...]:
        """Return the random streams of one game: the agent's, and those of the mechanisms."""
        of_agent = stream(seed, trial=trial, role=AGENT, player=self.player)
        return (
            of_agent,
            *(
                stream(seed, trial=trial, role=FIRST_WRAPPER + depth, player=self.player, part=label)
                for depth, label in enumerate(self._labels)
            ),
        )

    @functools.cached_property
    def _labels(self) -> tuple[str, ...]:
        return tuple(itertools.starmap(noise_label, self.mechanisms))

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what was looked up here, because machine code cannot be pickled."""
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}

    @functools.cached_property
    def block(self) -> Entry:
        """The compiled loop."""
        return _block(**self.parts)

    @property
    def owners(self) -> dict[Any, str]:
        """The classes that functions in the loop belong to, in words: " of MyAgent"."""
        named = {function: f" of {type(self.agent).__name__}" for function in self.agent.functions if function}
        for mechanism, _ in self.mechanisms:
            parts = (mechanism.release, mechanism.idle, mechanism.forget)
            named |= {function: f" of {type(mechanism).__name__}" for function in parts if function}
        return named

    @property
    def parts(self) -> dict[str, Callable[..., Any]]:
        """The functions that replace placeholders of `play_block`, by name."""
        return self.parts_that(raising=True)

    def parts_that(self, *, raising: bool) -> dict[str, Callable[..., Any]]:
        """Return `parts`; if they do not raise, what breaks a rule is counted in the last of the mechanisms' states."""
        parts = stages(self.mechanisms, feedback=self.feedback, values=self._values, raising=raising)
        parts = payoffs.with_payoff(parts, self.payoff, shown=self.feedback != "arm" and self.rules.observe_charge)
        parts["choose"] = specialise(parts["choose"], "select", self.agent.functions.select)
        if self.decision_set is not None:
            parts["choose"] = specialise(parts["choose"], "contains", self.decision_set.contains)
        parts["update"], tidy = self.agent.functions.update, self.agent.functions.tidy
        if tidy is not None:
            parts["tidied"] = specialise(play_block.tidied_at_times, "tidy", tidy)
        return {name: frozen(part) for name, part in parts.items()}

    @property
    def _values(self) -> Values:
        """The range of what a round reveals."""
        return self.mechanisms[0][1].values if self.mechanisms else Values()


def make_plan(algorithm: Algorithm, env: Environment) -> Plan:
    """Return a plan, or raise `NotCompilableError`.

    Args:
        algorithm: The algorithm.
        env: The environment, without the algorithm's wrappers.
    """
    game = env.unwrapped
    why = obstacle()
    if why:
        raise NotCompilableError(why)
    if type(game).step is not BanditEnv.step or type(game).reset is not BanditEnv.reset:
        raise NotCompilableError(f"{type(game).__name__} has a step or reset of its own")
    feedback, kind_of_game = next(pair for pair in KINDS.items() if isinstance(game, pair[1]))
    if any(getattr(type(game), hook) is not getattr(kind_of_game, hook) for hook in HOOKS):
        raise NotCompilableError(f"{type(game).__name__} has feedback of its own")
    decision_set = game.decision_set if isinstance(game, PointEnv) else None
    if isinstance(game, PointEnv):
        feedback = "vector" if game.feedback == "full" else "payoff"
        if not isinstance(game.decision_set.contains, FunctionType):
            raise NotCompilableError(f"contains of {type(decision_set).__name__} is not a plain function")
    agent = algorithm.agent(env)
    kind = type(agent)
    base: Any = FunctionalAgent if decision_set is None else FunctionalPointAgent
    if not isinstance(agent, base):
        raise NotCompilableError(f"{kind.__name__} is not made of compilable functions")
    if any(getattr(kind, method) is not getattr(base, method) for method in PLAIN[base]):
        raise NotCompilableError(f"{kind.__name__} has a begin or update of its own, or chooses its own way")
    assert isinstance(game, BanditEnv)
    payoff = payoffs.compilable(game.adversary)
    if isinstance(payoff, str):
        raise NotCompilableError(payoff)
    wrapped = algorithm.wrap(env)
    mechanisms = _mechanisms(wrapped)
    # Called here to raise now rather than in the first trial.
    stages(mechanisms, feedback=feedback, values=game.values)
    sums = any(mechanism.releases_sums for mechanism, _ in mechanisms)
    if sums != (agent.learns_from is Sums):
        raise NotCompilableError(f"{kind.__name__} learns from {' and '.join(agent.learns_from._fields)}")
    agent.see_noise(noise_of(wrapped))
    if isinstance(agent, FunctionalPointAgent) and decision_set is not None:
        agent.see_set(decision_set)
    see_features = getattr(agent, "see_features", None)
    if see_features is not None:
        see_features(game.adversary.features)
    batches = [mechanism.batch_size for mechanism, _ in mechanisms]
    return Plan(
        agent=agent,
        player=algorithm.player,
        n_arms=game.adversary.n_arms,
        n_values=game.n_values,
        steps=wrapped.get_wrapper_attr("horizon"),
        rules=Rules(game.adversary.memory, game.observe_charge, max(batches, default=1)),
        mechanisms=mechanisms,
        feedback=feedback,
        payoff=payoff,
        decision_set=decision_set,
    )


@functools.lru_cache(maxsize=256)
def _block(**parts: Callable[..., Any]) -> Entry:
    return Entry(parts)


def _mechanisms(env: Environment) -> tuple[tuple[Mechanism, Below], ...]:
    """Return the mechanisms of the privacy wrappers, from the innermost."""
    found = []
    for layer in reversed(_layers(env)):
        if type(layer) in (PassiveEnvChecker, OrderEnforcing):
            continue
        name = type(layer).__name__
        if not isinstance(layer, PrivacyBoundary):
            raise NotCompilableError(f"a {name} is not part of the compiled loop")
        if any(getattr(type(layer), part) is not getattr(PrivacyBoundary, part) for part in DRIVER):
            raise NotCompilableError(f"{name} is a boundary that does something of its own")
        found.append((layer.mechanism, layer.below))
    return tuple(found)


def _layers(env: Environment) -> list[gym.Wrapper[Any, Any, Any, Any]]:
    """Return the wrappers from the outermost to the innermost."""
    layers = []
    layer: Any = env
    while isinstance(layer, gym.Wrapper):
        layers.append(layer)
        layer = layer.env
    return layers
