"""A process that was forked from one with a pool of workers plays the same games; the limit is there to let it fail."""

import os
import signal

import numpy as np
import pytest

from dp_bandit_envs import simulate


class Drawn:
    """An agent that is not compiled, so that it plays in processes."""

    def begin(self, *, n_arms, horizon, rng):
        """Keep what it needs."""
        self.n_arms, self.rng = n_arms, rng

    def select_arm(self):
        """Return any arm."""
        return int(self.rng.integers(self.n_arms))

    def update(self, arm, observation):
        """Nothing."""


def pulls():
    """Return the pulls of a few games in two processes."""
    return simulate("DPBandit-Stochastic-v0", {"a": Drawn}, horizon=30, trials=4, jobs=2, seed=0)["a"].pulls


@pytest.mark.skipif(not hasattr(os, "fork"), reason="only where processes can be forked")
def test_a_fork_does_not_wait_for_its_parents_workers():
    before = pulls()
    child = os.fork()
    if child == 0:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(120)
        same = False
        try:
            same = np.array_equal(pulls(), before)
        finally:
            os._exit(0 if same else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert np.array_equal(pulls(), before)
