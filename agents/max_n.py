"""MaxN on a feedback graph: instead of exploring an arm, play the best arm that reveals it.

TS-MaxN and UCB-MaxN let Thompson sampling or UCB choose an arm i, and then play the arm with the largest mean among the
arms that reveal i.
"""

import abc
import math
from typing import Any, NamedTuple

import numpy as np

from dp_bandit_envs.agents import thompson_sampling, ucb
from dp_bandit_envs.agents.functional import FunctionalAgent, Functions
from dp_bandit_envs.agents.noise_width import no_width
from dp_bandit_envs.agents.thompson_sampling import select as ts_select
from dp_bandit_envs.agents.ucb import ROUND
from dp_bandit_envs.compiling.functions import bind
from dp_bandit_envs.draws import log
from dp_bandit_envs.graphs import FeedbackGraph
from dp_bandit_envs.protocols import FloatArray, IntArray, Sums

UNSEEN = 0.5
"""The mean of an arm without gains, as for a uniform prior."""


class State(NamedTuple):
    """The state of MaxN.

    Attributes:
        inner: The state of the algorithm that chooses an arm to explore.
        means: Mean of each arm's gains.
        counts: Number of gains in that mean.
        starts, revealers: The arms that reveal each arm, as in `FeedbackGraph`.
    """

    inner: Any
    means: FloatArray
    counts: IntArray
    starts: IntArray
    revealers: IntArray


def choose(state: Any, rng: np.random.Generator) -> int:
    """Placeholder; replaced by one of the two functions below."""
    raise NotImplementedError


def choose_ts(state: Any, rng: np.random.Generator) -> int:
    """Return the arm that Thompson sampling would explore; an arm without gains is drawn from its prior."""
    return ts_select(state.inner, rng)


def choose_ucb(state: Any, rng: np.random.Generator) -> int:
    """Return the arm that UCB would explore, among the arms that some arm reveals."""
    counts, roots = state.inner.counts, state.inner.roots
    revealed = -1
    for arm in range(len(counts)):
        if state.starts[arm] < state.starts[arm + 1]:
            if counts[arm] == 0:
                return arm
            revealed = arm
    if revealed < 0:
        return 0
    spread = math.sqrt(state.inner.exploration * log(state.inner.status[ROUND]))
    best = revealed
    highest = -math.inf
    for arm in range(len(counts)):
        if state.starts[arm] < state.starts[arm + 1]:
            index = state.inner.means[arm] + spread * roots[arm]
            if index > highest:
                highest = index
                best = arm
    return best


def learn(state: Any, arm: int, seen: Sums) -> Any:
    """Placeholder; replaced by the `update` of that algorithm."""
    raise NotImplementedError


def select(state: State, rng: np.random.Generator) -> int:
    """Return the arm with the largest mean among the arms that reveal the chosen arm; ties are broken at random."""
    wanted = choose(state, rng)
    best, alike = -1, 0
    for index in range(state.starts[wanted], state.starts[wanted + 1]):
        arm = state.revealers[index]
        if best < 0 or state.means[arm] > state.means[best]:
            best, alike = arm, 1
        elif state.means[arm] == state.means[best]:
            alike += 1
            if rng.random() * alike >= alike - 1:
                best = arm
    # Without self-loops it may be that no arm reveals the chosen one; then the chosen arm is played.
    return best if best >= 0 else wanted


def update(state: State, arm: int, seen: Sums) -> State:
    """Update the means and the inner algorithm with the revealed gains."""
    for each_arm in range(len(state.counts)):
        if seen.counts[each_arm] != state.counts[each_arm]:
            state.counts[each_arm] = seen.counts[each_arm]
            state.means[each_arm] = seen.sums[each_arm] / seen.counts[each_arm]
    return State(learn(state.inner, arm, seen), state.means, state.counts, state.starts, state.revealers)


class MaxN(FunctionalAgent):
    """Base class of UCB-MaxN and TS-MaxN: plays the best arm that reveals the arm its inner algorithm would explore.

    Learns from running sums, in a game with a feedback graph: wrap `DPBandit-Graph-v0` in `ExactSums`. In an undirected
    graph, an arm is revealed by exactly the arms that it reveals.

    Source: Caron, Kveton, Lelarge and Bhagat (2012), UCB-MaxN; Tossou, Dimitrakakis and Dubhashi (2017), TS-MaxN.
    Differs from the source in: on directed graphs we play an arm that reveals the chosen arm (not one revealed by it,
    which would give other information); an arm without gains has mean 1/2.
    """

    learns_from = Sums

    def initial_state(self, n_arms: int, horizon: int) -> State:
        """Return the state before the first step: every arm reveals only itself."""
        means = np.full(n_arms, UNSEEN)
        starts = np.arange(n_arms + 1)
        return State(self._inner(n_arms, horizon), means, np.zeros(n_arms, np.int64), starts, np.arange(n_arms))

    def with_graph(self, state: State, graph: FeedbackGraph) -> State:
        """Return the state with the feedback graph of the next round."""
        return state._replace(starts=graph.revealer_starts, revealers=graph.revealers)

    @abc.abstractmethod
    def _inner(self, n_arms: int, horizon: int) -> Any:
        """Return the first state of the inner algorithm."""


class UcbMaxN(MaxN):
    """UCB-MaxN: UCB chooses an arm by mean + sqrt(2 ln t / n), and the best arm that reveals it is played.

    Arms that no arm reveals (possible without self-loops) are not explored, as their gains are never observed.

    Example:
        >>> import gymnasium as gym
        >>> from dp_bandit_envs import play
        >>> from dp_bandit_envs.agents import UcbMaxN
        >>> from dp_bandit_envs.wrappers import ExactSums
        >>> env = ExactSums(gym.make("DPBandit-Graph-v0", graph="star", n_arms=4, horizon=1000))
        >>> game = play(env, UcbMaxN(), seed=0)
        >>> print(f"the best arm in {(game.arms == 3).mean():.0%} of all rounds")
        the best arm in 96% of all rounds
    """

    tries_in_order = True
    functions = Functions(
        bind(select, {"choose": choose_ucb}),
        bind(update, {"learn": ucb.update}),
    )

    def _inner(self, n_arms: int, horizon: int) -> ucb.State:
        return ucb.start(n_arms, 2.0, 0.0, False, no_width(n_arms, horizon, 1.0))


class TsMaxN(MaxN):
    """TS-MaxN: Thompson sampling chooses an arm, and the best arm that reveals it is played.

    Example:
        >>> import gymnasium as gym
        >>> from dp_bandit_envs import play
        >>> from dp_bandit_envs.agents import TsMaxN
        >>> from dp_bandit_envs.wrappers import ExactSums
        >>> env = ExactSums(gym.make("DPBandit-Graph-v0", graph="star", n_arms=4, horizon=1000))
        >>> game = play(env, TsMaxN(), seed=0)
        >>> print(f"the best arm in {(game.arms == 3).mean():.0%} of all rounds")
        the best arm in 99% of all rounds
    """

    functions = Functions(
        bind(select, {"choose": choose_ts}),
        bind(update, {"learn": thompson_sampling.update}),
    )

    def _inner(self, n_arms: int, horizon: int) -> thompson_sampling.State:
        return thompson_sampling.start(n_arms, False, False, no_width(n_arms, horizon, 1.0))
