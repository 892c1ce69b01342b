"""Top-Two sampling: plays the arm that seems best or its closest rival, until the best arm is identified."""

import math
from typing import Final, NamedTuple, SupportsFloat

import numpy as np

from dp_bandit_envs import checks
from dp_bandit_envs.agents.functional import Functions, StoppingAgent
from dp_bandit_envs.agents.random_labels import shuffle
from dp_bandit_envs.draws import log
from dp_bandit_envs.protocols import FloatArray, IntArray, Sums
from dp_bandit_envs.theory.transport_costs import (
    bernoulli_cost,
    episode_threshold,
    exceeds_noisy_cost,
    gaussian_cost,
    noisy_threshold,
    private_cost,
    sequential_threshold,
)

RULES: Final = ("sequential", "episodes", "sums")
SEQUENTIAL, EPISODES, SUMS = range(3)
ROUND, LEADER, CHALLENGER, BEST, ARMS_UNRELEASED, STOPPED = range(6)


class State(NamedTuple):
    """The state of Top-Two.

    Attributes:
        means: Released mean of each arm.
        counts: Number of gains in that mean; 0 before the first release.
        releases: Number of releases of each arm.
        order: The order for trying new arms and breaking ties; `order[0]` is -1 before the first round.
        status: `ROUND`, the number of rounds played; the arms `LEADER`, `CHALLENGER` and `BEST`, the arm with the
            largest mean; `ARMS_UNRELEASED`, the number of arms without a release; `STOPPED`, 1 after it stopped. One
            array, because compiled code can write to arrays only.
        rule: The stopping rule, an index of `RULES`.
        log_odds: ln((K - 1) / beta), with beta the failure probability.
        leader_share: The probability of playing the leader.
        epsilon: Privacy parameter of the releases.
    """

    means: FloatArray
    counts: IntArray
    releases: IntArray
    order: IntArray
    status: IntArray
    rule: int
    log_odds: float
    leader_share: float
    epsilon: float


def start(n_arms: int, rule: int, log_odds: float, leader_share: float, epsilon: float) -> State:
    """Return the state before the first round."""
    counts, releases, order = np.zeros(n_arms, np.int64), np.zeros(n_arms, np.int64), np.full(n_arms, -1, np.int64)
    status = np.array([0, 0, 0, 0, n_arms, 0])
    return State(np.zeros(n_arms), counts, releases, order, status, rule, log_odds, leader_share, epsilon)


def select(state: State, rng: np.random.Generator) -> int:
    """Return the best arm after the end, else the first arm without a release, else the leader or its challenger."""
    status, order = state.status, state.order
    if order[0] < 0:
        for arm in range(len(order)):
            order[arm] = arm
        shuffle(order, len(order), rng)
    if status[STOPPED] == 1:
        return int(status[BEST])
    if status[ARMS_UNRELEASED] > 0:
        for place in range(len(order)):
            if state.counts[order[place]] == 0:
                return int(order[place])
    return int(status[LEADER] if rng.random() < state.leader_share else status[CHALLENGER])


def update(state: State, arm: int, seen: Sums) -> State:
    """Store new releases; if there are any, choose leader and challenger again, or stop."""
    news = 0
    for released in range(len(state.counts)):
        news += store_release(state, released, seen)
    return decide(state, news)


def update_own(state: State, arm: int, seen: Sums) -> State:
    """Do as `update`, when only the arm played can have a new release."""
    return decide(state, store_release(state, arm, seen))


def store_release(state: State, arm: int, seen: Sums) -> int:
    """Store an arm's release and return 1, if it is new; otherwise return 0."""
    status = state.status
    if status[STOPPED] == 1 or seen.releases[arm] == state.releases[arm]:
        return 0
    status[ARMS_UNRELEASED] -= state.counts[arm] == 0
    state.releases[arm] = seen.releases[arm]
    state.counts[arm] = seen.counts[arm]
    state.means[arm] = seen.sums[arm] / seen.counts[arm]
    return 1


def decide(state: State, news: int) -> State:
    """After new releases, choose leader, challenger and best arm, or stop."""
    status = state.status
    status[ROUND] += 1
    if news == 0:
        return state
    nats = log(float(status[ROUND]))
    best, leader, largest, highest = -1, -1, -math.inf, -math.inf
    for place in range(len(state.order)):
        arm = state.order[place]
        n = float(state.counts[arm])
        if n > 0.0:
            mean = state.means[arm]
            index = mean + math.sqrt(nats / (2.0 * n)) + nats / (state.epsilon * n)
            if mean > largest:
                largest = mean
                best = arm
            if index > highest:
                highest = index
                leader = arm
    status[BEST] = best
    status[LEADER] = leader
    if status[ARMS_UNRELEASED] == 0:
        status[CHALLENGER] = closest_rival(state, leader)
        status[STOPPED] = beats_all(state, best)
    return state


def closest_rival(state: State, leader: int) -> int:
    """Return the arm against which the leader has the smallest cost."""
    rival = leader
    least = math.inf
    for place in range(len(state.order)):
        arm = state.order[place]
        if arm != leader:
            nats = cost(state, leader, arm)
            if nats < least or rival == leader:
                least = nats
                rival = arm
    return rival


def cost(state: State, arm: int, rival: int) -> float:
    """Return the transportation cost of the rule's sampling."""
    high, low = state.means[arm], state.means[rival]
    n_high, n_low = float(state.counts[arm]), float(state.counts[rival])
    if state.rule == SEQUENTIAL:
        return bernoulli_cost(high, n_high, low, n_low)
    if state.rule == EPISODES:
        return gaussian_cost(high, n_high, low, n_low)
    return private_cost(in_unit(high), n_high, in_unit(low), n_low, state.epsilon)


def beats_all(state: State, best: int) -> int:
    """Return 1 if the cost of the best arm against every other arm exceeds its threshold, else 0."""
    for rival in range(len(state.means)):
        if rival != best and not beats(state, best, rival):
            return 0
    return 1


def beats(state: State, best: int, rival: int) -> bool:
    """Return whether the cost of an arm against another exceeds its threshold."""
    n_high, n_low = float(state.counts[best]), float(state.counts[rival])
    if state.rule == SEQUENTIAL:
        return cost(state, best, rival) > sequential_threshold(n_high, n_low, state.log_odds)
    k_high, k_low = float(state.releases[best]), float(state.releases[rival])
    if state.rule == EPISODES:
        nats = episode_threshold(n_high, n_low, k_high, k_low, state.log_odds, state.epsilon)
        return cost(state, best, rival) > nats
    high, low = in_unit(state.means[best]), in_unit(state.means[rival])
    nats = noisy_threshold(k_high, k_low, state.log_odds)
    return exceeds_noisy_cost(high, n_high, k_high, low, n_low, k_low, state.epsilon, nats)


def in_unit(mean: float) -> float:
    """Return a mean clipped to [0, 1]."""
    return min(max(mean, 0.0), 1.0)


def recommend(state: State) -> int:
    """Return the arm with the largest released mean; 0 before any release."""
    return int(state.status[BEST])


def is_done(state: State) -> bool:
    """Return whether it has stopped."""
    return bool(state.status[STOPPED] == 1)


class TopTwo(StoppingAgent):
    r"""Plays the leader or its challenger, each with probability 1/2, and stops when the best arm is identified.

    The leader has the largest :math:`\hat\mu_i + \sqrt{\ln t / (2 n_i)} + \ln t / (\epsilon n_i)`, its challenger the
    smallest transportation cost against it (`dp_bandit_envs.theory.transport_costs`). It stops when the cost of the arm
    with the largest released mean exceeds its threshold against every other arm; from then on it plays that arm. If
    gains are independent with fixed means, it is wrong with probability at most `failure_probability`.

    New arms are tried, and ties broken, in an order drawn at random. Leader and challenger change with a release only.

    Learns from sums: wrap the environment in `ExactSums` or `BlockSums`.

    Args:
        failure_probability: beta, in (0, 1).
        rule: `"sequential"`: costs of coins, for exact sums; `"episodes"`: squared gaps, for the noisy sum of an arm's
            last block alone; `"sums"`: the private divergence, for noisy sums of all its blocks.
        epsilon: Privacy parameter of the blocks, in (0, inf]; it must be finite for the rule `"sums"`.
        leader_share: The probability of playing the leader, in (0, 1).

    Source: Russo (2016), Top-Two; Jourdan and Degenne (2023), whose leader has the largest upper confidence bound;
    Azize, Jourdan, Al Marjani and Basu (2023) for episodes.
    Differs from the source in: the thresholds, which are derived in docs/notes/identification.md.

    Example:
        >>> import gymnasium as gym
        >>> from dp_bandit_envs import play
        >>> from dp_bandit_envs.agents import TopTwo
        >>> from dp_bandit_envs.wrappers import ExactSums
        >>> agent = TopTwo(failure_probability=0.01)
        >>> game = play(ExactSums(gym.make("DPBandit-Stochastic-v0", means=[0.2, 0.8], horizon=1000)), agent, seed=0)
        >>> agent.done, agent.recommend(), int(game.rounds_until_stop[-1])
        (True, 1, 61)
    """

    functions = Functions(select, update, update_own=update_own, recommend=recommend, is_done=is_done)
    learns_from = Sums
    waits = True

    def __init__(
        self,
        *,
        failure_probability: SupportsFloat = 0.01,
        rule: str = "sequential",
        epsilon: SupportsFloat = math.inf,
        leader_share: SupportsFloat = 0.5,
    ) -> None:
        self.failure_probability = checks.probability("failure_probability", failure_probability)
        self.rule = checks.one_of("rule", rule, RULES)
        self.epsilon = checks.epsilon(epsilon)
        self.leader_share = checks.probability("leader_share", leader_share)
        if self.rule == "sums" and math.isinf(self.epsilon):
            raise ValueError("epsilon must be finite for rule='sums'; received inf. Use rule='sequential'.")

    def initial_state(self, n_arms: int, horizon: int) -> State:
        """Return the state before the first step."""
        log_odds = log(max(n_arms - 1, 1) / self.failure_probability)
        # Noise is multiplied by the sensitivity, and has a scale 1e-9 above 1 / epsilon.
        epsilon = self.epsilon / self.noise.sensitivity * (1.0 - 2e-9)
        return start(n_arms, RULES.index(self.rule), log_odds, self.leader_share, epsilon)
