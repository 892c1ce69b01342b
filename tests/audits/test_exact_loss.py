"""The exact audit over the table of algorithms: no claim is passed, and where the noise is tight they are equal."""

import inspect
import math

import numpy as np
import pytest

from dp_bandit_envs.adversaries.replay import GainTable
from dp_bandit_envs.algorithms import ALGORITHMS, make_algorithm
from dp_bandit_envs.audits import exact_loss
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.envs.graph_env import GraphEnv
from dp_bandit_envs.errors import NotAuditedError
from dp_bandit_envs.privacy.guarantee import PrivacyGuarantee
from dp_bandit_envs.privacy.mechanism import Mechanism
from dp_bandit_envs.privacy.mechanisms import BlockSums, CounterSums, ExactSums, LaplaceClipRescale, MiniBatchAverage
from tests.tools.refusals import refused

EPSILONS = (0.1, 1.0, 3.0)
OWN_DRAWS = ["EXP3", "EXP3-tau", "Tsallis-INF", "HTINF", "EXP3-SET", "Hedge", "DP-Hedge", "Lazy-Hedge", "DP-Epochs"]
OWN_DRAWS += ["EXP2", "SCRiBLe", "OSMD", "Uniform"]
"""Algorithms whose only noise is in the agent's draws."""
NO_NOISE = ["UCB", "KL-UCB", "TS", "TS-N", "TS-MaxN", "UCB-N", "UCB-MaxN"]
HORIZONS = {("DP-KLUCB", 0.1): 128, ("DP-IMED", 0.1): 128, ("DP-UCB-INT", 1.0): 64}
"""Where blocks are too long for 16 rounds."""
NOT_TIGHT = {"Private-UCB": 0.8, "DP-SE": 0.0}
"""Exact loss over claim: no arm gets every item of its counter; no block of DP-SE is full in so few rounds."""
NOISY = [name for name in ALGORITHMS if name not in (*OWN_DRAWS, *NO_NOISE)]


def audited(name, epsilon):
    return exact_loss(make_algorithm(name, epsilon=epsilon), horizon=HORIZONS.get((name, epsilon), 16))


def test_every_algorithm_is_in_one_of_the_lists():
    takes = [name for name in NOISY if "epsilon" in inspect.signature(ALGORITHMS[name]).parameters]
    assert takes == NOISY
    assert len(NOISY) >= 25


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("name", NOISY)
def test_no_algorithm_loses_more_than_it_claims(name, epsilon):
    loss = audited(name, epsilon)
    assert loss.declared.model != "none"
    assert loss.holds
    if name == "DP-UCB-INT":
        # At 0.1 its first interval is longer than the game, so nothing is declared to be lost, and nothing is.
        assert loss.epsilon == pytest.approx(loss.declared.epsilon, rel=1e-9)
        assert (loss.epsilon > 0) == (epsilon > 0.1)
        return
    assert loss.declared.epsilon > 0
    assert loss.ratio == pytest.approx(NOT_TIGHT.get(name, 1.0), rel=1e-9)


@pytest.mark.parametrize("name", OWN_DRAWS)
def test_an_agents_own_draws_are_not_audited_here(name):
    with refused(NotAuditedError, name, "sampled_loss"):
        exact_loss(name)


@pytest.mark.parametrize("name", NO_NOISE)
def test_what_is_released_without_noise_hides_nothing(name):
    loss = exact_loss(name)
    assert loss.epsilon == math.inf
    assert loss.declared.model == "none" and loss.holds and math.isnan(loss.ratio)


@pytest.mark.parametrize("name", ["DP-EXP3-Lap", "DP-UCB", "DP-UCB-BOUND", "AdaP-UCB", "LDP-UCB-B"])
@pytest.mark.parametrize("graph", ["complete", "cycle"])
def test_on_graphs_whole_rows_lose_exactly_epsilon(name, graph):
    gains = GainTable(np.random.default_rng(0).random((10, 3)))
    loss = exact_loss(make_algorithm(name, epsilon=1.0), env=GraphEnv(graph, n_arms=3, gains=gains))
    assert loss.ratio == pytest.approx(1.0, rel=1e-9)


def test_losses_of_blocks_by_hand():
    """Blocks of 1, 1, 2, 4, ... gains of one arm: in 7 rounds the first four gains are in full blocks."""
    loss = exact_loss(BlockSums(epsilon=0.7), horizon=7)
    assert loss.arms == (0,) * 7
    assert loss.by_round == pytest.approx([0.7] * 4 + [0.0] * 3, rel=1e-12)


@pytest.mark.parametrize("counter", ["binary", "honaker", "k-ary", "hybrid", "logarithmic", "segment-trees"])
def test_a_counter_with_one_arm_loses_epsilon(counter):
    """One arm gets all items, so the first of them is in as many nodes as any; see tests/counters."""
    assert exact_loss(CounterSums(counter=counter, epsilon=0.3), horizon=12).epsilon == pytest.approx(0.3, rel=1e-9)


class HalfTheNoise(Mechanism):
    """A mechanism that divides the scale of another's noise by 2."""

    def __init__(self, mechanism):
        self._mechanism, self.release = mechanism, mechanism.release
        self.releases_sums, self.any_range = mechanism.releases_sums, mechanism.any_range

    def new_state(self, below):
        """Return the state with half the scale."""
        state = self._mechanism.new_state(below)
        name = "factor" if "factor" in state._fields else "scale"
        return state._replace(**{name: getattr(state, name) / 2})

    def guarantee(self, below):
        """Claim what the other one claims."""
        return self._mechanism.guarantee(below)


@pytest.mark.parametrize(
    "mechanism",
    [BlockSums(epsilon=1.0), LaplaceClipRescale(epsilon=1.0), CounterSums(counter="hybrid", epsilon=1.0)],
    ids=lambda mechanism: type(mechanism).__name__,
)
def test_half_the_noise_loses_twice_as_much(mechanism):
    loss = exact_loss(HalfTheNoise(mechanism))
    assert loss.epsilon == pytest.approx(2.0, rel=1e-9)
    assert not loss.holds


def test_normal_draws_by_hand():
    """An L2 distance of 1 with standard deviation sigma is 1 / (2 sigma^2)-zCDP; here each gain has a draw of its own.

    The claim of the mechanism below is too small, which is seen.
    """
    loss = exact_loss(Gaussian(2.0), horizon=3)
    assert loss.gaussian
    assert loss.by_round == pytest.approx([1 / 8] * 3, rel=1e-9)
    assert loss.rho == pytest.approx(1 / 8, rel=1e-9)
    assert not loss.holds


class Gaussian(Mechanism):
    """Adds a normal draw to each gain; claims half the truth."""

    any_range = True

    def __init__(self, sigma):
        self.sigma = sigma
        self.release = lambda state, arm, gain, rng: (min(max(gain + rng.normal(0.0, state), -99.0), 99.0), 1)

    releases_sums = True

    def new_state(self, below):
        """Return the standard deviation."""
        return self.sigma

    def guarantee(self, below):
        """Claim a rho of 1/16."""
        return PrivacyGuarantee(epsilon=1.0, delta=1e-6, rho=1 / 16)


def test_draws_that_depend_on_gains_are_refused():
    broken = Gaussian(1.0)
    broken.release = lambda state, arm, gain, rng: (gain + rng.laplace(0.0, 1.0 + gain), 1)
    with refused(NotAuditedError, "Gaussian", "sampled_loss"):
        exact_loss(broken)


def test_releases_that_are_not_linear_are_refused():
    broken = Gaussian(1.0)
    broken.release = lambda state, arm, gain, rng: (gain + rng.laplace(0.0, 1.0) ** 2, 1)
    with refused(NotAuditedError, "Gaussian", "sampled_loss"):
        exact_loss(broken)


def test_exact_sums_hide_nothing():
    assert exact_loss(ExactSums()).epsilon == math.inf
    assert exact_loss(MiniBatchAverage(batch_size=2)).epsilon == math.inf


def test_a_game_of_ones_own():
    table = np.zeros((5, 2))
    loss = exact_loss(LaplaceClipRescale(epsilon=2.0), env=BanditEnv(GainTable(table)))
    assert loss.by_round == pytest.approx([2.0] * 5, rel=1e-9)
