"""The algorithms for stochastic arms: what they guarantee, what they refuse, and what they are without noise."""

import math

import gymnasium as gym
import numpy as np
import pytest

from dp_bandit_envs import make_algorithm, play, simulate
from dp_bandit_envs.privacy.counters import BinaryCounter
from dp_bandit_envs.privacy.counters.counter import laplace_width
from dp_bandit_envs.theory.stochastic_bounds import private_ucb_bound
from dp_bandit_envs.wrappers import BlockSums, CounterSums, ExactSums, IntervalSums, RandomizedResponse
from tests.tools.refusals import refused

CENTRAL = ["DP-UCB-BOUND", "DP-UCB", "DP-SE", "AdaP-UCB", "AdaP-KLUCB", "Lazy-DP-TS", "DP-TS", "DP-KLUCB", "DP-IMED"]
LOCAL = ["LDP-UCB-L", "LDP-UCB-B"]
PRIVATE = [*CENTRAL, *LOCAL, "DP-UCB-INT", "Private-UCB"]
SIZE = {"n_arms": 10, "horizon": 1000}


def wrapped(name, n_arms=3, horizon=500, **parameters):
    return make_algorithm(name, **parameters).wrap(gym.make("DPBandit-Stochastic-v0", n_arms=n_arms, horizon=horizon))


def test_they_guarantee_the_epsilon_asked_for():
    """Where the paper is right the two guarantees are one; without noise there is none."""
    for name in CENTRAL + LOCAL:
        algorithm = make_algorithm(name, epsilon=0.3)
        guarantee = algorithm.guarantee(**SIZE)
        assert (guarantee.epsilon, guarantee.delta, guarantee.agents) == (0.3, 0.0, "any agent")
        assert guarantee.model == ("local" if name in LOCAL else "central")
        assert guarantee.neighbours == "replace the gains of all arms in one round"
        if name not in ("DP-UCB-BOUND", "DP-UCB"):
            assert guarantee == algorithm.paper_guarantee(**SIZE)
    free = [make_algorithm(name) for name in ("UCB", "KL-UCB", "TS", "Gaussian-TS")]
    for algorithm in [*free, *(make_algorithm(name, epsilon=math.inf) for name in PRIVATE)]:
        assert algorithm.guarantee(**SIZE).model == "none"


@pytest.mark.parametrize(
    ("epsilon", "mode", "intervals"), [(0.1, "once", "lemma"), (1.0, "bonus", "uniform"), (3.7, "once", "uniform")]
)
def test_dp_ucb_int_spends_no_more_than_asked_for(epsilon, mode, intervals):
    """Its releases compose to less than the paper's count, so there is no equality."""
    algorithm = make_algorithm("DP-UCB-INT", epsilon=epsilon, delta=1e-4, mode=mode, intervals=intervals)
    guarantee = algorithm.guarantee(**SIZE)
    assert 0 <= guarantee.epsilon <= epsilon
    assert guarantee.delta <= 1e-4
    assert guarantee.model == "central"
    claimed = algorithm.paper_guarantee(**SIZE)
    assert (claimed.epsilon, claimed.delta, claimed.model) == (epsilon, 1e-4, "central")


def test_dp_ucb_int_as_printed_guarantees_nothing():
    """Algorithm 3 draws the noise of a release again and again; its claim stays what the paper says."""
    algorithm = make_algorithm("DP-UCB-INT", epsilon=1.0, mode="redraw")
    assert algorithm.guarantee(**SIZE).model == "none"
    assert "drawn again in every round" in algorithm.guarantee(**SIZE).theorem
    assert (algorithm.paper_guarantee(**SIZE).epsilon, algorithm.paper_guarantee(**SIZE).delta) == (1, math.exp(-10))


def test_private_ucb_pays_for_every_arm_and_its_improved_form_does_not():
    """Epsilon / K for each of K = 10 counters: in parallel that is epsilon / K altogether, not epsilon."""
    paper = make_algorithm("Private-UCB", epsilon=2.0)
    assert paper.guarantee(**SIZE).epsilon == pytest.approx(0.2, rel=1e-15)
    assert paper.paper_guarantee(**SIZE).epsilon == 2.0
    improved = make_algorithm("Private-UCB", epsilon=2.0, constants="improved")
    assert improved.guarantee(**SIZE).epsilon == 2.0
    assert improved.guarantee(**SIZE).model == paper.guarantee(**SIZE).model == "central"


def test_the_papers_budget_is_twice_what_the_paper_says():
    """Lemma B.2 gives both parts of the hybrid counter all of epsilon."""
    for name in ("DP-UCB-BOUND", "DP-UCB"):
        for budget, epsilon in (("paper", 1.4), ("split", 0.7)):
            algorithm = make_algorithm(name, epsilon=0.7, budget=budget)
            assert algorithm.guarantee(**SIZE).epsilon == epsilon
            assert algorithm.paper_guarantee(**SIZE).epsilon == 0.7


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("name", "counter"),
    [
        *(("DP-UCB", name) for name in ("logarithmic", "segment-trees", "k-ary", "honaker", "square-root")),
        *(("DP-UCB-BOUND", name) for name in ("binary", "smooth-binary")),
    ],
)
def test_other_counters_keep_the_guarantee(name, counter):
    """Gaussian noise needs a delta, and serves where no width is needed."""
    algorithm = make_algorithm(name, epsilon=0.7, counter=counter)
    guarantee = algorithm.guarantee(**SIZE)
    assert (guarantee.epsilon, guarantee.model) == (0.7, "central")
    assert guarantee.delta == 0 if counter != "square-root" else 0 < guarantee.delta < 1e-5
    env = gym.make("DPBandit-Stochastic-v0", n_arms=3, horizon=200)
    assert len(play(algorithm.wrap(env), algorithm.agent()).arms) == 200
    if counter == "square-root":
        with refused(ValueError, "SquareRootCounter"):
            bound = make_algorithm("DP-UCB-BOUND", counter=counter)
            play(bound.wrap(env), bound.agent())


def test_a_bound_is_there_for_counters_whose_width_follows_the_digits_only():
    means = {"means": [0.9, 0.6], "horizon": 1000}
    for counter, finite in (("hybrid", True), ("segment-trees", True), ("binary", True), ("k-ary", False)):
        assert math.isfinite(make_algorithm("DP-UCB-BOUND", counter=counter).pseudo_regret_bound(**means)) == finite
    assert make_algorithm("DP-UCB-BOUND", formula="printed").pseudo_regret_bound(**means) == math.inf
    # The proof for episodes that double needs alpha > 2, or the failures do not add up.
    assert make_algorithm("AdaP-UCB", alpha=2.0).pseudo_regret_bound(**means) == math.inf


def test_the_printed_width_has_a_bound_where_it_covers_the_noise():
    """Gamma = K ln^2 T ln(K T ln T / gamma) / epsilon against noise of epsilon / K, at the worst of all counts."""
    means, epsilon, failure = [0.9, 0.6], 0.7, 1e-3
    for horizon, covered in ((3, False), (20, True), (100_000, True)):
        log = max(math.log(horizon), 1.0)
        gamma = 2 * log**2 * math.log(2 * horizon * log / failure) / epsilon
        scales = BinaryCounter(epsilon=epsilon / 2, horizon=horizon).scales
        widest = max(laplace_width(scales(n), failure / (2 * horizon)) for n in range(1, min(horizon, 2048) + 1))
        if horizon < 2048:
            assert (widest <= gamma) == covered
        algorithm = make_algorithm("Private-UCB", epsilon=epsilon, failure_probability=failure)
        bound = algorithm.pseudo_regret_bound(means=means, horizon=horizon)
        by_hand = private_ucb_bound(means, horizon, gamma, failure)
        assert bound == (pytest.approx(by_hand, rel=1e-12) if covered else math.inf)
    # Without noise nothing fails; the width that moves with t has a bound of its own, above T times the gap here.
    silent = make_algorithm("Private-UCB", epsilon=math.inf, failure_probability=failure)
    assert silent.pseudo_regret_bound(means=means, horizon=5000) == private_ucb_bound(means, 5000, 0.0, 0.0)
    moving = make_algorithm("Private-UCB").pseudo_regret_bound(means=means, horizon=5000)
    assert moving == pytest.approx(5000 * 0.3)


def blocks_of(env):
    """Return the lengths of the blocks that a game's gains are put into, as its first state holds them."""
    lengths = env.mechanism.blocks(env.inputs.horizon)
    assert env.mechanism.new_state(env.inputs).lengths.tolist() == list(lengths)
    return lengths


def counter_of(env):
    return env.mechanism.counter(env.inputs.horizon)


def test_the_wrappers_are_those_of_the_papers():
    env = wrapped("DP-UCB", epsilon=0.5)
    assert isinstance(env, CounterSums) and env.mechanism.pad_unplayed and counter_of(env).epsilon == 0.5
    assert not wrapped("DP-UCB-BOUND").mechanism.pad_unplayed
    assert counter_of(wrapped("Private-UCB", epsilon=0.6)).epsilon == pytest.approx(0.2, rel=1e-15)
    assert isinstance(counter_of(wrapped("Private-UCB")), BinaryCounter)
    assert isinstance(wrapped("DP-UCB-INT"), IntervalSums)
    # Doubling counts that forget, doubling blocks that forget, doubling counts that keep, and single gains.
    assert blocks_of(wrapped("AdaP-UCB"))[:6] == (1, 1, 2, 4, 8, 16)
    assert blocks_of(wrapped("Lazy-DP-TS"))[:6] == (1, 2, 4, 8, 16, 32)
    assert not wrapped("AdaP-KLUCB").mechanism.keep and not wrapped("Lazy-DP-TS").mechanism.keep
    for name in ("DP-KLUCB", "DP-IMED"):
        # 4 / epsilon gains first, then twice as many in all; or whatever is asked for.
        env = wrapped(name, epsilon=0.3)
        assert env.mechanism.keep and blocks_of(env)[:4] == (14, 14, 28, 56)
        assert blocks_of(wrapped(name, ratio=1.5, first=2))[:5] == (2, 1, 2, 3, 4)
    single = wrapped("LDP-UCB-L")
    assert isinstance(single, BlockSums) and blocks_of(single) == (1,) and single.mechanism.keep
    coins = wrapped("LDP-UCB-B")
    assert isinstance(coins, ExactSums) and isinstance(coins.env, RandomizedResponse)
    assert blocks_of(wrapped("DP-SE", n_arms=2, horizon=10**6, epsilon=1.0))[0] == 2125


@pytest.mark.parametrize(
    ("name", "ahead"), [("Lazy-DP-TS", 1.5 * math.log(3)), ("DP-TS", 3 * math.sqrt(8) * math.log(401) * math.log(3))]
)
def test_thompson_sampling_allows_for_noise_by_hand(name, ahead):
    """A third release, of 400 gains with the sum 100, at epsilon = 2: Beta(1 + 100 + n w, 1 + 300 - n w)."""
    agent = make_algorithm(name, epsilon=2.0).agent()
    agent.begin(n_arms=2, horizon=1000, rng=np.random.default_rng(0))
    for sums, counts, releases in (([1, 0], [1, 0], [1, 0]), ([1, 1], [1, 1], [1, 1]), ([100, 1], [400, 1], [2, 1])):
        agent.update(0, {"sum": np.array(sums), "count": np.array(counts), "release": np.array(releases)})
    assert (agent._state.alphas[0], agent._state.betas[0]) == pytest.approx((101 + ahead, 301 - ahead))


@pytest.mark.thorough
@pytest.mark.slow_cases("DP-UCB-BOUND", "DP-UCB-INT", "LDP-UCB-B", "Lazy-DP-TS", "Private-UCB")
@pytest.mark.parametrize("name", PRIVATE)
def test_without_noise_they_learn_better_than_with_much(name):
    """Mean pseudo-regret over 400 trials, paired on the gains, by four standard errors.

    The best arm is the last one, as ties go to the first. Uniform play costs 750. Without noise, none costs more than
    DP-SE's first epoch, 128 ln(16 * 5000) = 1445.1, so 1447 rounds of the worse arm, or 434.1.

    False alarm: below 1e-9 (the smallest difference, DP-IMED's, is 12 of its standard errors).
    """
    algorithms = [make_algorithm(name, epsilon=epsilon, label=str(epsilon)) for epsilon in (0.1, math.inf)]
    given = {"horizon": 5000, "trials": 400, "checkpoints": 1, "env_kwargs": {"means": [0.6, 0.9]}}
    noisy, clear = (o.pseudo_regret[:, -1] for o in simulate("DPBandit-Stochastic-v0", algorithms, **given).values())
    difference = noisy - clear
    assert difference.mean() > 4 * difference.std(ddof=1) / math.sqrt(400)
    assert clear.mean() < 434.2
