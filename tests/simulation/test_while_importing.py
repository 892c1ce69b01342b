"""A script that simulates while it is imported, as a notebook's helper module or a test's module does."""

import subprocess
import sys

MODULE = """
from typing import NamedTuple
import numpy as np
from dp_bandit_envs import Algorithm, Exp3, simulate
from dp_bandit_envs.wrappers import PrivacyBoundary
from dp_bandit_envs.privacy import PrivacyGuarantee
from dp_bandit_envs.privacy.mechanism import Mechanism


class State(NamedTuple):
    truth: float


def release(state, arm, gain, rng):
    return (1.0 if rng.random() < gain else 0.0), 1


class Coin(Mechanism):
    release = staticmethod(release)
    withholds = False

    def new_state(self, below):
        return State(1.0)

    def guarantee(self, below):
        return PrivacyGuarantee.none("a coin hides nothing")


mine = Algorithm("mine", Exp3, lambda env: PrivacyBoundary(env, Coin()))
found = simulate("DPBandit-Stochastic-v0", [mine], horizon=50, trials=2)["mine"]
print(found.engine, found.pulls.sum())
"""


def test_functions_of_a_module_that_is_being_imported_are_compiled(tmp_path):
    """Another thread would wait for the import for ever; the limit is only there so that the test can fail."""
    (tmp_path / "experiment.py").write_text(MODULE, encoding="utf-8")
    command = [sys.executable, "-c", "import experiment"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=True)
    assert done.stdout.split() == ["compiled", "100"]
