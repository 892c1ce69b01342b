"""The exact audit over the table of algorithms: no claim is passed, and where the noise is tight they are equal."""

import inspect
import math
import random

import gymnasium as gym
import numpy as np
import pytest

from dp_bandit_envs.adversaries.replay import GainTable
from dp_bandit_envs.algorithms import ALGORITHMS, make_algorithm
from dp_bandit_envs.audits import exact_loss, float_loss
from dp_bandit_envs.conformance import check_wrapper
from dp_bandit_envs.envs.graph_env import GraphEnv
from dp_bandit_envs.errors import ConformanceError, NotAuditedError, NothingReleasedError, WrongTypeError
from dp_bandit_envs.privacy import Mechanism, PrivacyGuarantee
from dp_bandit_envs.privacy.mechanisms import (
    BlockSums,
    CounterSums,
    ExactSums,
    LaplaceClipRescale,
    MiniBatchAverage,
)
from dp_bandit_envs.wrappers import PrivacyBoundary
from tests.tools.refusals import refused

EPSILONS = (0.1, 1.0, 3.0)
OWN_DRAWS = {"EXP3": 0.2, "EXP3-tau": 0.05, "Hedge": 0.7, "DP-Hedge": 0.5, "Lazy-Hedge": 0.5, "DP-Epochs": 0.5}
"""Algorithms that guarantee something by their agent's own draws, with the least part of the claim that is lost in four
rounds. EXP3's claim is for the worst history of any length, which four rounds are too short for; DP-Hedge's and
Lazy-Hedge's delta hides part of the loss; DP-Epochs comes close in epochs that are longer."""
NOTHING_CLAIMED = ["Tsallis-INF", "HTINF", "EXP3-SET", "EXP2", "Uniform"]
"""Their own draws, with no claim to compare with; Uniform claims 0."""
NOT_AUDITED = ["SCRiBLe", "OSMD"]
"""Their own draws are points, and nothing is claimed of them."""
NORMAL_DRAWS = ["Tuned-TS"]
"""Their own draws are normal; tests/agents/test_thompson_sampling.py has their exact laws in short games."""
NO_NOISE = ["GOPE", "UCB", "KL-UCB", "TS", "Gaussian-TS", "TS-N", "TS-MaxN", "UCB-N", "UCB-MaxN", "Top-Two"]
NO_DRAWS = ["SW-UCB", "D-UCB"]
"""They learn from gains as they are, and nothing is drawn at all."""
HORIZONS = {("DP-KLUCB", 0.1): 128, ("DP-IMED", 0.1): 128, ("DP-TT", 0.1): 128, ("DP-UCB-INT", 1.0): 64}
HORIZONS |= {(name, epsilon): 128 for name in ("DP-GOPE", "AdaC-GOPE") for epsilon in EPSILONS}
"""Where blocks are too long for 16 rounds."""
NOT_TIGHT = {"Private-UCB": 0.8}
"""Exact loss over claim: no arm gets every item of its counter."""
EMPTY = [("DP-SE", 0.1), ("DP-SE", 1.0), ("DP-SE", 3.0), ("DP-UCB-INT", 0.1)]
"""Algorithms that release nothing in so few rounds (BlockSums, which DP-SE uses, is audited with shorter blocks)."""
NOISY = [
    name
    for name in ALGORITHMS
    if name not in (*OWN_DRAWS, *NOTHING_CLAIMED, *NOT_AUDITED, *NO_NOISE, *NO_DRAWS, *NORMAL_DRAWS)
]
ON_VECTORS = ["Noisy-Hedge", "AS-FTRL", "AS-FTPL", "DP-FTRL"]
ON_PAYOFFS = ["AS-SCRiBLe", "Batched-Lap-SCRiBLe", "AS-OSMD"]
ON_GRAPHS = [name for name in NOISY if name not in (*ON_VECTORS, *ON_PAYOFFS, "DP-SE")]
TOO_SHORT = ("DP-GOPE", "AdaC-GOPE", "DP-KLUCB", "DP-IMED", "DP-TT", "DP-UCB-INT")
"""Algorithms that release nothing in ten rounds on a graph."""
GRAPHS = ("complete", "cycle", "star")
EVERYWHERE = ("scalar", "vector")
"""The compiled driver is checked in `test_releases`, because each mechanism takes seconds to compile."""


def audited(name, epsilon, **game):
    game = game or {"horizon": HORIZONS.get((name, epsilon), 16)}
    return exact_loss(make_algorithm(name, epsilon=epsilon), drivers=EVERYWHERE, **game)


def test_every_algorithm_is_in_one_of_the_lists():
    takes = [name for name in NOISY if "epsilon" in inspect.signature(ALGORITHMS[name]).parameters]
    assert takes == NOISY
    assert len(NOISY) >= 25


@pytest.mark.thorough
@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("name", NOISY)
def test_no_algorithm_loses_more_than_it_claims(name, epsilon):
    if (name, epsilon) in EMPTY:
        with refused(NothingReleasedError, "nothing was released in 16 rounds"):
            audited(name, epsilon)
        return
    loss = audited(name, epsilon)
    assert loss.declared.model != "none"
    assert loss.holds and not loss.differs
    assert loss.declared.epsilon > 0
    assert loss.ratio == pytest.approx(NOT_TIGHT.get(name, 1.0), rel=1e-7)


SETTINGS = {"EXP3": [{}], "EXP3-tau": [{"batch_size": 2}], "Hedge": [{}]}
"""Of algorithms that take no epsilon, or are not to."""
OWN_SETTINGS = [
    (name, one) for name in OWN_DRAWS for one in SETTINGS.get(name, [{"epsilon": each} for each in EPSILONS])
]


@pytest.mark.thorough
@pytest.mark.parametrize(("name", "settings"), OWN_SETTINGS)
def test_an_agents_own_draws_lose_no_more_than_it_claims(name, settings):
    loss = exact_loss(make_algorithm(name, **settings))
    assert loss.holds and loss.declared.model == "central"
    assert OWN_DRAWS[name] < loss.ratio <= 1
    assert 0 < loss.rho <= loss.declared.rho


@pytest.mark.thorough
@pytest.mark.parametrize("name", NOTHING_CLAIMED)
def test_draws_without_a_claim_are_audited_too(name):
    loss = exact_loss(name)
    assert loss.holds and math.isfinite(loss.epsilon)
    assert loss.declared.epsilon in (0, math.inf)
    # HTINF skips every loss of so short a game: its threshold is above the largest estimate.
    assert (loss.epsilon > 0) == (name not in ("Uniform", "HTINF"))


@pytest.mark.parametrize("name", NO_DRAWS)
def test_arms_without_a_draw_hide_nothing(name):
    assert exact_loss(name).epsilon == math.inf


@pytest.mark.parametrize("name", NOT_AUDITED)
def test_what_is_not_audited_says_why(name):
    with refused(NotAuditedError, name, "points"):
        exact_loss(name)


@pytest.mark.parametrize("name", NO_NOISE)
def test_what_is_released_without_noise_hides_nothing(name):
    loss = exact_loss(name, drivers=EVERYWHERE, horizon=64 if name == "GOPE" else 16)
    assert loss.epsilon == math.inf
    assert loss.declared.model == "none" and loss.holds and math.isnan(loss.ratio)


@pytest.mark.thorough
@pytest.mark.parametrize("graph", GRAPHS)
@pytest.mark.parametrize("name", ON_GRAPHS)
def test_on_graphs_no_algorithm_loses_more_than_it_claims(name, graph):
    """Equal to it wherever some round of this game fills what it takes part in, with all gains that it can reveal.

    On a star only the middle reveals all; the games are too short for the first blocks and intervals of some.
    """
    env = GraphEnv(graph, n_arms=3, gains=GainTable(np.random.default_rng(0).random((10, 3))))
    if name in TOO_SHORT:
        with refused(NothingReleasedError, "10 rounds", "longer game"):
            audited(name, 1.0, environment=env)
        return
    loss = audited(name, 1.0, environment=env)
    assert loss.holds and not loss.differs
    assert loss.epsilon > 0
    if graph != "star" and name not in NOT_TIGHT:
        assert loss.ratio == pytest.approx(1.0, rel=1e-7)


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [0.1, 3.0])
@pytest.mark.parametrize("graph", GRAPHS)
@pytest.mark.parametrize("name", ON_GRAPHS)
def test_on_graphs_no_algorithm_loses_more_than_it_claims_at_other_epsilons(name, graph, epsilon):
    """Longer games, so that blocks of 4 / epsilon gains are full; with the compiled loop, too."""
    rounds = 24 if epsilon == 0.1 else HORIZONS.get((name, epsilon), 24)
    gains = GainTable(np.random.default_rng(0).random((rounds, 3)))
    env = GraphEnv(graph, n_arms=3, gains=gains)
    algorithm = make_algorithm(name, epsilon=epsilon)
    if epsilon == 0.1 and name in TOO_SHORT:
        with refused(NothingReleasedError, "24 rounds"):
            exact_loss(algorithm, environment=env)
        return
    loss = exact_loss(algorithm, environment=env, drivers=(*EVERYWHERE, "compiled"))
    assert loss.holds and not loss.differs


@pytest.mark.parametrize("graph", GRAPHS)
@pytest.mark.parametrize("name", ["EXP3", "EXP3-tau"])
def test_on_graphs_own_draws_lose_no_more_than_is_claimed(name, graph):
    loss = exact_loss(name, environment=GraphEnv(graph, n_arms=3, gains=GainTable(np.zeros((2, 3)))))
    assert loss.holds and 0 < loss.ratio <= 1


@pytest.mark.thorough
@pytest.mark.parametrize("game", ["Ball", "Cube", "Simplex"])
@pytest.mark.parametrize("noise", ["laplace", "own-norm", "gaussian"])
def test_noise_on_vectors_loses_what_it_claims(noise, game):
    """Up to 2^-30 a coordinate, by which noise is larger for rounding."""
    algorithm = make_algorithm("AS-FTRL", epsilon=1.0, noise=noise, counter="k-ary")
    env = gym.make(f"DPBandit-{game}-v0", dimension=3, horizon=6)
    loss = exact_loss(algorithm, environment=env, drivers=EVERYWHERE)
    assert loss.holds and not loss.differs
    assert loss.ratio == pytest.approx(1.0, rel=1e-6)


@pytest.mark.thorough
@pytest.mark.parametrize("name", [*ON_VECTORS, *ON_PAYOFFS])
@pytest.mark.parametrize("game", ["Ball", "Cube", "Simplex"])
def test_in_every_game_of_points_algorithms_lose_what_they_claim(name, game):
    if name in ON_PAYOFFS and (game == "Simplex" or (name == "AS-OSMD" and game == "Cube")):
        pytest.skip("it does not play this set")
    feedback = "bandit" if name in ON_PAYOFFS else "full"
    loss = audited(name, 1.0, environment=gym.make(f"DPBandit-{game}-v0", dimension=3, horizon=6, feedback=feedback))
    assert loss.holds and not loss.differs
    assert loss.ratio == pytest.approx(1.0, rel=1e-6)


def test_arms_with_features_lose_what_they_claim():
    loss = audited("AS-EXP2", 1.0, environment=gym.make("DPBandit-Linear-v0", horizon=6))
    assert loss.holds and loss.ratio == pytest.approx(1.0, rel=1e-7)


@pytest.mark.parametrize("epsilon", [1.0])
def test_the_printed_noise_loses_more_than_the_paper_claims(epsilon):
    algorithm = make_algorithm("AS-FTRL", epsilon=epsilon, paper=True)
    loss = exact_loss(algorithm, environment=gym.make("DPBandit-Ball-v0", dimension=3, horizon=8))
    assert loss.holds and loss.ratio == pytest.approx(1.0, rel=1e-6)
    assert loss.epsilon > 2 * algorithm.paper_guarantee(n_arms=3, horizon=8).epsilon


def test_losses_of_blocks_by_hand():
    """Blocks of 1, 1, 2, 4, ... gains of one arm: in 7 rounds the first four gains are in full blocks."""
    loss = exact_loss(BlockSums(epsilon=0.7), horizon=7)
    assert loss.arms == (0,) * 7
    assert loss.by_round == pytest.approx([0.7] * 4 + [0.0] * 3, rel=2e-9)
    # Exact sums hide nothing.
    assert exact_loss(ExactSums()).epsilon == math.inf
    assert exact_loss(MiniBatchAverage(batch_size=2)).epsilon == math.inf


@pytest.mark.thorough
@pytest.mark.parametrize("counter", ["binary", "honaker", "k-ary", "hybrid", "logarithmic", "segment-trees"])
def test_a_counter_with_one_arm_loses_epsilon(counter):
    """One arm gets all items, so the first of them is in as many nodes as any; see tests/counters."""
    assert exact_loss(CounterSums(counter=counter, epsilon=0.3), horizon=12).epsilon == pytest.approx(0.3, rel=1e-7)


class HalfTheNoise(Mechanism):
    """A mechanism that divides the scale of another's noise by 2."""

    def __init__(self, mechanism):
        self._mechanism, self.release = mechanism, mechanism.release
        self.releases_sums, self.any_range = mechanism.releases_sums, mechanism.any_range

    def new_state(self, below):
        state = self._mechanism.new_state(below)
        if "counters" in state._fields:
            return state._replace(counters=state.counters._replace(scales=state.counters.scales / 2))
        return state._replace(scale=state.scale / 2)

    def guarantee(self, below):
        return self._mechanism.guarantee(below)


@pytest.mark.parametrize(
    "mechanism",
    [BlockSums(epsilon=1.0), LaplaceClipRescale(epsilon=1.0), CounterSums(counter="hybrid", epsilon=1.0)],
    ids=lambda mechanism: type(mechanism).__name__,
)
def test_half_the_noise_loses_twice_as_much(mechanism):
    loss = exact_loss(HalfTheNoise(mechanism))
    assert loss.epsilon == pytest.approx(2.0, rel=1e-7)
    assert not loss.holds


def test_normal_draws_by_hand():
    """An L2 distance of 1 with standard deviation sigma is 1 / (2 sigma^2)-zCDP; here each gain has a draw of its own.

    The claim of the mechanism below is too small, which is seen.
    """
    loss = exact_loss(Gaussian(2.0), horizon=3)
    assert loss.gaussian
    assert loss.by_round == pytest.approx([1 / 8] * 3, rel=1e-7)
    assert loss.rho == pytest.approx(1 / 8, rel=1e-7)
    assert not loss.holds


class Gaussian(Mechanism):
    """Adds a normal draw to each gain; claims half the truth."""

    any_range = True

    def __init__(self, sigma):
        self.sigma = sigma
        self.release = lambda state, arm, gain, rng: (min(max(gain + rng.normal(0.0, state), -99.0), 99.0), 1)

    releases_sums = True

    def new_state(self, below):
        return self.sigma

    def guarantee(self, below):
        return PrivacyGuarantee(epsilon=1.0, delta=1e-6, rho=1 / 16)


@pytest.mark.parametrize(
    "draw", [lambda rng, gain: rng.laplace(0.0, 1.0 + gain), lambda rng, gain: rng.laplace(0.0, 1.0) ** 2]
)
def test_draws_that_depend_on_gains_are_refused(draw):
    """And so are releases that are not linear in them."""
    broken = Gaussian(1.0)
    broken.release = lambda state, arm, gain, rng: (gain + draw(rng, gain), 1)
    with refused(NotAuditedError, "Gaussian", "sampled_loss"):
        exact_loss(broken)


SYSTEM = random.SystemRandom()


@pytest.mark.parametrize(
    "noise",
    [lambda rng: SYSTEM.gauss(0.0, 2.0), lambda rng: rng.normal(0.0, 2.0) + SYSTEM.random()],
    ids=["all", "some"],
)
def test_noise_from_the_operating_system_is_not_audited(noise):
    """It may be honest; it was called impossible for the other gain, and its arrays "used again"."""
    honest = Gaussian(2.0)
    honest.release = lambda state, arm, gain, rng: (min(max(gain + noise(rng), -99.0), 99.0), 1)
    for audit in (exact_loss, float_loss):
        with refused(NotAuditedError, "Gaussian", "its noise does not come from rng"):
            audit(honest)
    with refused(ConformanceError, "equal seeds", "its noise does not come from rng"):
        check_wrapper(lambda env: PrivacyBoundary(env, honest))


@pytest.mark.parametrize("given", [LaplaceClipRescale, lambda env: LaplaceClipRescale(env, epsilon=1.0), 3])
def test_what_is_no_algorithm_is_refused(given):
    with refused(WrongTypeError, "dp_bandit_envs.Algorithm"):
        exact_loss(given)


@pytest.mark.parametrize("name", NORMAL_DRAWS)
def test_normal_draws_of_an_agent_are_not_audited(name):
    with refused(NotAuditedError, "draws", "uniform numbers"):
        exact_loss(name)
