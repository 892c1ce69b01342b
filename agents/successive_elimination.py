"""Successive elimination: plays all arms that may still be best equally often, until only one is left."""

import math
from typing import Final, NamedTuple, SupportsFloat

import numpy as np

from dp_bandit_envs import checks
from dp_bandit_envs.agents.functional import FunctionalAgent, Functions
from dp_bandit_envs.agents.random_labels import shuffle
from dp_bandit_envs.draws import log
from dp_bandit_envs.protocols import FloatArray, IntArray, Sums

EPOCH: Final = 0
PLACE: Final = 1
ARMS_LEFT: Final = 2


class State(NamedTuple):
    """The state of successive elimination.

    Attributes:
        means: Each arm's mean in the current epoch.
        counts: Number of gains in each arm's last release.
        releases: Number of releases of each arm when it was last played.
        alive: 1 for an arm that may still be best, else 0.
        order: The live arms in the order of this epoch, then the others.
        status: `EPOCH`, from 1; `PLACE` of the arm in the order, -1 before the epoch; `ARMS_LEFT`, the number of live
            arms. One array, because compiled code can write to arrays only.
        log_arms: ln(K / beta), with beta the failure probability of the whole game.
        epsilon: Privacy parameter.
    """

    means: FloatArray
    counts: IntArray
    releases: IntArray
    alive: IntArray
    order: IntArray
    status: IntArray
    log_arms: float
    epsilon: float


def start(n_arms: int, log_arms: float, epsilon: float) -> State:
    """Return the state before the first round."""
    counts, releases, order = (np.zeros(n_arms, np.int64) for _ in range(3))
    alive, status = np.ones(n_arms, np.int64), np.array([1, -1, n_arms])
    return State(np.zeros(n_arms), counts, releases, alive, order, status, log_arms, epsilon)


def select(state: State, rng: np.random.Generator) -> int:
    """Return the arm whose turn it is; draw the order of an epoch in its first round."""
    status, order = state.status, state.order
    if status[PLACE] < 0:
        left = 0
        for arm in range(len(order)):
            if state.alive[arm] == 1:
                order[left] = arm
                left += 1
        shuffle(order, left, rng)
        status[PLACE] = 0
    return int(order[status[PLACE]])


def update(state: State, arm: int, seen: Sums) -> State:
    """After the arm's release, go to the next arm; after the last arm, eliminate arms and begin the next epoch."""
    means, counts, status = state.means, state.counts, state.status
    if status[ARMS_LEFT] == 1 or seen.releases[arm] == state.releases[arm]:
        return state
    state.releases[arm] = seen.releases[arm]
    counts[arm] = seen.counts[arm]
    means[arm] = seen.sums[arm] / seen.counts[arm]
    status[PLACE] += 1
    if status[PLACE] == status[ARMS_LEFT]:
        eliminate(state)
        status[EPOCH] += 1
        status[PLACE] = -1
    return state


def eliminate(state: State) -> None:
    """Drop the arms whose mean is below the largest by more than twice the widths for chance and noise."""
    means, alive, status = state.means, state.alive, state.status
    # Counts are equal, except on a feedback graph, where neighbours may have revealed more gains of an arm.
    samples = math.inf
    for arm in range(len(alive)):
        if alive[arm] == 1:
            samples = min(samples, float(state.counts[arm]))
    nats = state.log_arms + 2.0 * log(status[EPOCH])
    chance = math.sqrt((nats + log(8.0)) / (2.0 * samples))
    noise = (nats + log(4.0)) / (samples * state.epsilon)
    largest = -math.inf
    for arm in range(len(alive)):
        if alive[arm] == 1:
            largest = max(largest, means[arm])
    for arm in range(len(alive)):
        if alive[arm] == 1 and largest - means[arm] > 2.0 * (chance + noise):
            alive[arm] = 0
            status[ARMS_LEFT] -= 1


class SuccessiveElimination(FunctionalAgent):
    r"""Plays in epochs, each live arm until its next release, and then drops arms that are clearly worse.

    After epoch e, with R gains in each mean, an arm is dropped if it is below the largest mean by more than

    .. math:: 2 \sqrt{\frac{\ln(8 K e^2 / \beta)}{2 R}} + 2 \frac{\ln(4 K e^2 / \beta)}{R \epsilon}, \quad
              \beta = \frac{1}{T}

    Learns from sums of blocks: wrap the environment in `BlockSums(env, epsilon=..., lengths=epoch_lengths(...))`.

    Args:
        epsilon: Privacy parameter of that wrapper, in (0, inf].

    Source: Even-Dar, Mannor and Mansour (2002); Sajed and Sheffet (2019), algorithm 2 (DP-SE).
    Differs from the source in: the logarithms contain K instead of the number of live arms, so that the lengths of the
    epochs are known in advance. The arms of an epoch are played in a fresh random order; it depends on no gain and
    leaves each arm's block, noise and release unchanged, so the guarantee is the same.

    Example:
        >>> import gymnasium as gym
        >>> from dp_bandit_envs import play
        >>> from dp_bandit_envs.agents import SuccessiveElimination
        >>> from dp_bandit_envs.wrappers import BlockSums
        >>> from dp_bandit_envs.agents.successive_elimination import epoch_lengths
        >>> lengths = epoch_lengths(n_arms=2, horizon=5000, epsilon=1)
        >>> game = gym.make("DPBandit-Stochastic-v0", means=[0.2, 0.8], horizon=5000)
        >>> arms = play(BlockSums(game, epsilon=1, lengths=lengths), SuccessiveElimination(epsilon=1), seed=0).arms
        >>> print(f"the best arm in {(arms == 1).mean():.0%} of all rounds")
        the best arm in 71% of all rounds
    """

    functions = Functions(select, update)
    learns_from = Sums
    waits = True

    def __init__(self, *, epsilon: SupportsFloat = math.inf) -> None:
        self.epsilon = checks.epsilon(epsilon)

    def initial_state(self, n_arms: int, horizon: int) -> State:
        """Return the state before the first step."""
        return start(n_arms, log(n_arms * horizon), self.epsilon / self.noise.sensitivity)


def epoch_lengths(n_arms: int, horizon: int, epsilon: float) -> list[int]:
    r"""Return the number of times that each arm is played in epoch e = 1, 2, ..., until the horizon is reached.

    .. math:: R_e = \Big\lceil \max\Big( \frac{32 \ln(8 K e^2 T)}{D^2}, \frac{8 \ln(4 K e^2 T)}{\epsilon D} \Big)
              \Big\rceil + 1, \quad D = 2^{-e}
    """
    lengths: list[int] = []
    while sum(lengths) < horizon:
        epoch = len(lengths) + 1
        gap = 2.0**-epoch
        nats = log(n_arms * horizon) + 2 * log(epoch)
        needed = max(32 * (nats + log(8)) / gap**2, 8 * (nats + log(4)) / epsilon / gap)
        lengths.append(math.ceil(min(needed, horizon)) + 1)
    return lengths
