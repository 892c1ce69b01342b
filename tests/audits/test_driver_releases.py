"""The drivers release what the audit sees, bit for bit; one that does not is found."""

import inspect

import gymnasium as gym
import numpy as np
import pytest

from dp_bandit_envs.adversaries.replay import GainTable, Replay
from dp_bandit_envs.algorithms import ALGORITHMS, make_algorithm
from dp_bandit_envs.audits import exact_loss
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.envs.graph_env import GraphEnv
from dp_bandit_envs.errors import BoundaryError
from dp_bandit_envs.privacy.mechanisms import BlockSums, CounterSums, LaplaceClipRescale, MiniBatchAverage
from dp_bandit_envs.wrappers import boundary, vector
from tests.audits.test_exact_loss import NO_NOISE, NOISY, ON_PAYOFFS, HalfTheNoise
from tests.tools.refusals import refused

ALL = ("scalar", "vector", "compiled")
FIRST_RELEASE = {"DP-UCB-INT": 64, "DP-SE": 2048, "DP-GOPE": 32, "AdaC-GOPE": 32, "GOPE": 32}
NOTHING_IN_NINE = (*FIRST_RELEASE, "DP-KLUCB", "DP-IMED")


def algorithm(name):
    takes = inspect.signature(ALGORITHMS[name]).parameters
    return make_algorithm(name, **({"epsilon": 1.0} if "epsilon" in takes else {}))


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["DP-EXP3-Lap", "DP-UCB"])
def test_compiled_releases_are_those_of_the_audit(name):
    assert exact_loss(algorithm(name), drivers=["compiled"]).differs == ()


@pytest.mark.slow
@pytest.mark.parametrize("name", [*NOISY, *NO_NOISE])
def test_compiled_releases_are_those_of_the_audit_for_every_algorithm(name):
    assert exact_loss(algorithm(name), horizon=FIRST_RELEASE.get(name), drivers=ALL).differs == ()
    if name in ON_PAYOFFS or name in NOTHING_IN_NINE:
        return
    if algorithm(name).feedback == "full":
        env = gym.make("DPBandit-Ball-v0", dimension=3, horizon=8)
        assert name == "Hedge" or exact_loss(algorithm(name), environment=env, drivers=ALL).differs == ()
    else:
        env = GraphEnv("star", n_arms=3, gains=GainTable(np.random.default_rng(0).random((9, 3))))
        assert exact_loss(algorithm(name), environment=env, drivers=ALL).differs == ()


@pytest.mark.parametrize(
    "mechanism",
    [
        LaplaceClipRescale(epsilon=1.0),
        MiniBatchAverage(batch_size=3),
        CounterSums(counter="hybrid", epsilon=1.0),
        HalfTheNoise(BlockSums(epsilon=1.0)),
    ],
    ids=lambda mechanism: type(mechanism).__name__,
)
def test_mechanisms_alone(mechanism):
    assert exact_loss(mechanism, drivers=("scalar", "vector")).differs == ()


def test_a_vector_form_with_half_the_noise_is_found(monkeypatch):
    """Its draws are its own code, so only a look at what it releases can find it."""
    whole = vector.LaplaceClipRescale._draw
    monkeypatch.setattr(vector.LaplaceClipRescale, "_draw", lambda self, seen: whole(self, seen) / 2)
    loss = exact_loss("DP-EXP3-Lap", drivers=("scalar", "vector"))
    assert loss.epsilon == pytest.approx(1.0, rel=1e-9)
    assert loss.differs == ("vector",) and not loss.holds
    # Clipped, nothing is withheld: then the values alone differ, and no count.
    assert exact_loss(LaplaceClipRescale(epsilon=1.0, outside="clip"), drivers=("vector",)).differs == ("vector",)


def test_a_driver_that_takes_a_gain_twice_is_found(monkeypatch):
    once = boundary.MechanismRun.feed

    def twice(self, gain, observed):
        once(self, gain, observed)
        once(self, gain, observed)

    monkeypatch.setattr(boundary.MechanismRun, "feed", twice)
    assert exact_loss(BlockSums(epsilon=1.0), drivers=("scalar",)).differs == ("scalar",)


class FailsAtAnEighth(LaplaceClipRescale):
    """Fails where a gain is .125, in words that show it."""

    @property
    def release(self):
        return release_unless_an_eighth


def release_unless_an_eighth(state, arm, gain, rng):
    """Fail at .125 alone, which no made-up table of an audit has."""
    if gain == 0.125:
        raise ValueError(f"gain {gain}")
    return gain + rng.laplace(0.0, 1.0), 1


@pytest.mark.filterwarnings("ignore")
def test_an_error_of_a_mechanism_shows_no_gain_of_the_environment():
    """Its own error was raised, with the gain in it."""
    env = BanditEnv(Replay(np.full((16, 2), 0.125)))
    assert exact_loss(FailsAtAnEighth(epsilon=1.0), environment=env).holds
    with refused(BoundaryError, "withheld", "drivers") as caught:
        exact_loss(FailsAtAnEighth(epsilon=1.0), environment=env, drivers=["scalar"])
    assert "0.125" not in str(caught.value) and caught.value.__context__ is caught.value.__cause__ is None


def test_unknown_drivers_are_refused():
    with refused(ValueError, "drivers", "threads"):
        exact_loss(BlockSums(epsilon=1.0), drivers=["threads"])
