"""Games against agents that learn from sums, with invented releases: no environment, no wrapper, no simulator."""

import math
import weakref

import numpy as np

_LAST_TOLD = weakref.WeakKeyDictionary()
"""What each agent was told last: sums, counts, numbers of releases."""


def begun(agent, n_arms, horizon=1000, seed=0, rng=None):
    """Return the agent at the start of a game; `rng` instead of a seed."""
    _LAST_TOLD.pop(agent, None)
    agent.begin(n_arms=n_arms, horizon=horizon, rng=np.random.default_rng(seed) if rng is None else rng)
    return agent


def told(agent, sums, counts, *, arm=0, rounds=1, releases=None):
    """Tell the agent the same releases in so many rounds, and return it.

    Left out, the number of an arm's releases grows by one where its sum or its count is another than last time.
    """
    sums, counts = np.array(sums, float), np.array(counts, np.int64)
    if releases is None:
        nothing = np.zeros(len(counts))
        old_sums, old_counts, old_releases = _LAST_TOLD.get(agent, (nothing, nothing, nothing))
        releases = old_releases + ((sums != old_sums) | (counts != old_counts))
    releases = np.array(releases, np.int64)
    _LAST_TOLD[agent] = sums, counts, releases
    for _ in range(rounds):
        agent.update(arm, {"sum": sums.copy(), "count": counts.copy(), "release": releases.copy()})
    return agent


class Releases:
    """Invented sums, one at the end of each of an arm's blocks: n times a mean that is drawn anew.

    Args:
        means: Where the released means of an arm are around.
        spread: Their standard deviation, wide enough for the lead to change hands.
        longest: A block has from half of so many gains to so many.
        keep: Whether a release covers all gains so far, or its own block only.
        seed: The seed of all of it.
    """

    def __init__(self, means, *, spread=0.1, longest=1, keep=True, seed=0):
        self.means, self.spread, self.longest, self.keep = means, spread, longest, keep
        self.rng = np.random.default_rng(seed)
        self.sums, self.counts = np.zeros(len(means)), np.zeros(len(means), np.int64)
        self.releases = np.zeros(len(means), np.int64)
        self._left = self.rng.integers((longest + 1) // 2, longest + 1, len(means))
        self._inside = np.zeros(len(means), np.int64)

    def play(self, arm):
        """Play an arm; return the observation and whether it has a new release."""
        self._inside[arm] += 1
        self._left[arm] -= 1
        fresh = self._left[arm] == 0
        if fresh:
            self.counts[arm] = self._inside[arm]
            self.sums[arm] = self.counts[arm] * self.rng.normal(self.means[arm], self.spread)
            self.releases[arm] += 1
            self._left[arm] = self.rng.integers((self.longest + 1) // 2, self.longest + 1)
            if not self.keep:
                self._inside[arm] = 0
        return {"sum": self.sums.copy(), "count": self.counts.copy(), "release": self.releases.copy()}, fresh


def holds_against(agent, indices, releases, *, rounds=2000, lazy=False, slack=1e-9):
    """Hold every arm of a game against the largest of `indices(t, sums, counts)`.

    Indices closer than `slack` times (1 + their size) may be either way round. Returned are the arms that the index
    decided, each with the number of arms that were so close.
    """
    begun(agent, len(releases.counts), rounds)
    decided, held = [], None
    for t in range(rounds):
        arm = agent.select_arm()
        if lazy and held is not None:
            assert arm == held, t
        elif 0 in releases.counts:
            assert arm == releases.counts.tolist().index(0), t
        else:
            found = indices(t, releases.sums.tolist(), releases.counts.tolist())
            highest = max(found)
            assert math.isfinite(highest)
            close = highest - slack * (1 + abs(highest))
            assert found[arm] >= close, (t, arm, found)
            decided.append((arm, sum(index >= close for index in found)))
        observation, fresh = releases.play(arm)
        held = None if fresh else arm
        agent.update(arm, observation)
    return decided
