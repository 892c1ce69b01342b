"""Hides the order of the arms from an agent: it sees random labels instead of arm numbers."""

from typing import Any, NamedTuple

import numpy as np

from dp_bandit_envs.agents.functional import FunctionalAgent, Functions
from dp_bandit_envs.compiling.functions import bind
from dp_bandit_envs.graphs import FeedbackGraph
from dp_bandit_envs.privacy.facts import Noise
from dp_bandit_envs.protocols import Gains, IntArray, Sums


class State(NamedTuple):
    """The state of an agent that knows arms by labels.

    Attributes:
        inner: The agent's own state.
        arms: The arm of each label; `arms[0]` is -1 before the first round.
        labels: The label of each arm.
        seen: The releases, by label.
    """

    inner: Any
    arms: IntArray
    labels: IntArray
    seen: Any


def shuffle(arms: IntArray, number: int, rng: np.random.Generator) -> None:
    """Shuffle the first `number` arms uniformly."""
    for position in range(number - 1):
        other = min(position + int(rng.random() * (number - position)), number - 1)
        arm = arms[position]
        arms[position] = arms[other]
        arms[other] = arm


def select_label(inner: Any, rng: np.random.Generator) -> int:
    """Placeholder for the agent's `select`."""
    raise NotImplementedError


def update_label(inner: Any, label: int, seen: Any) -> Any:
    """Placeholder for the agent's `update`."""
    raise NotImplementedError


def tidy_label(inner: Any) -> Any:
    """Placeholder for the agent's `tidy`."""
    raise NotImplementedError


def select(state: State, rng: np.random.Generator) -> int:
    """Return the arm of the label that the agent chooses; draw the labels in the first round."""
    arms = state.arms
    if arms[0] < 0:
        for arm in range(len(arms)):
            arms[arm] = arm
        shuffle(arms, len(arms), rng)
        for label in range(len(arms)):
            state.labels[arms[label]] = label
    return int(arms[select_label(state.inner, rng)])


def update_sums(state: State, arm: int, seen: Sums) -> State:
    """Show the agent the released sums."""
    for each_arm in range(len(state.labels)):
        copy_sum(state, each_arm, seen)
    return State(update_label(state.inner, state.labels[arm], state.seen), state.arms, state.labels, state.seen)


def update_own_sum(state: State, arm: int, seen: Sums) -> State:
    """Do as `update_sums`, when only the arm played can have a new release."""
    copy_sum(state, arm, seen)
    return State(update_label(state.inner, state.labels[arm], state.seen), state.arms, state.labels, state.seen)


def copy_sum(state: State, arm: int, seen: Sums) -> None:
    """Copy an arm's release to its label."""
    label = state.labels[arm]
    state.seen.sums[label] = seen.sums[arm]
    state.seen.counts[label] = seen.counts[arm]
    state.seen.releases[label] = seen.releases[arm]


def update_gains(state: State, arm: int, seen: Gains) -> State:
    """Show the agent the released gains."""
    for each_arm in range(len(state.labels)):
        label = state.labels[each_arm]
        state.seen.gains[label] = seen.gains[each_arm]
        state.seen.observed[label] = seen.observed[each_arm]
    return State(update_label(state.inner, state.labels[arm], state.seen), state.arms, state.labels, state.seen)


def tidy(state: State) -> State:
    """Let the agent tidy up."""
    return State(tidy_label(state.inner), state.arms, state.labels, state.seen)


class RandomLabels(FunctionalAgent):
    """Wraps another agent and gives it uniformly random labels instead of arm numbers.

    An agent that tries arms in order, or breaks ties for the lowest arm, then favours no arm of the game. The labels
    are drawn from the agent's stream in the first round, before any release, so guarantees are unchanged.

    Args:
        agent: The agent. It must not use the feedback graph, which is not relabelled.

    Example:
        >>> import gymnasium as gym
        >>> from dp_bandit_envs import play
        >>> from dp_bandit_envs.agents import RandomLabels, Ucb
        >>> from dp_bandit_envs.wrappers import ExactSums
        >>> env = ExactSums(gym.make("DPBandit-Stochastic-v0", means=[0.2, 0.8, 0.5], horizon=3))
        >>> sorted(play(env, RandomLabels(Ucb()), seed=0).arms.tolist())
        [0, 1, 2]
    """

    def __init__(self, agent: FunctionalAgent) -> None:
        self.agent = agent
        self.learns_from, self.feedback, self.waits = agent.learns_from, agent.feedback, agent.waits  # type: ignore[misc]
        self.functions = _by_label(agent)

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the functions, which pickle cannot find by name."""
        return {name: part for name, part in vars(self).items() if name != "functions"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Make the functions again."""
        vars(self).update(state)
        self.functions = _by_label(self.agent)

    def see_noise(self, noise: Noise) -> None:
        """Pass the noise to the agent; called before `begin`."""
        super().see_noise(noise)
        self.agent.see_noise(noise)

    def with_graph(self, state: State, graph: FeedbackGraph) -> State:
        """Pass the graph to the agent, which may refuse it."""
        return state._replace(inner=self.agent.with_graph(state.inner, graph))

    def initial_state(self, n_arms: int, horizon: int) -> State:
        """Return the agent's first state, without labels."""
        numbers: Any = np.zeros(n_arms)
        counts: Any = np.zeros(n_arms, np.int64)
        seen = Sums(numbers, counts, counts.copy()) if self.learns_from is Sums else Gains(numbers, counts)
        arms, labels = np.full(n_arms, -1, np.int64), np.zeros(n_arms, np.int64)
        return State(self.agent.initial_state(n_arms, horizon), arms, labels, seen)


def _by_label(agent: FunctionalAgent) -> Functions:
    """Return an agent's functions, rewritten for labels."""
    functions, of_sums = agent.functions, agent.learns_from is Sums
    placeholders = {"update_label": functions.update}
    return Functions(
        bind(select, {"select_label": functions.select}),
        bind(update_sums if of_sums else update_gains, placeholders),
        None if functions.tidy is None else bind(tidy, {"tidy_label": functions.tidy}),
        bind(update_own_sum, {"update_label": functions.update_own or functions.update}) if of_sums else None,
    )
