"""Thompson sampling, Beta, Gaussian and tuned: posteriors by hand, how often arms are played, exact laws."""

import itertools
import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import beta

from dp_bandit_envs import PrivacyGuarantee, calibrate, make_algorithm, play
from dp_bandit_envs.agents import GaussianThompsonSampling, ThompsonSampling
from dp_bandit_envs.agents.noise_width import log_width
from dp_bandit_envs.audits import sampled_loss
from dp_bandit_envs.audits.draw_laws import divergence_over_order
from dp_bandit_envs.envs.graph_env import GraphEnv
from dp_bandit_envs.privacy.gaussian import gaussian_sigma
from tests.tools.invented_releases import begun, told
from tests.tools.refusals import refused


def posterior(agent):
    return list(zip(agent._state.alphas, agent._state.betas, strict=True))


def chances(posteriors):
    """Return each arm's probability to have the largest draw: its density times the others' distribution functions."""

    def density(theta, arm):
        others = math.prod(beta.cdf(theta, *other) for each, other in enumerate(posteriors) if each != arm)
        return beta.pdf(theta, *posteriors[arm]) * others

    return [quad(density, 0, 1, args=(arm,), limit=200, points=[0.25, 0.5, 0.75])[0] for arm in range(len(posteriors))]


def test_posteriors_by_hand():
    """Sum 3.5 of 5 is Beta(1 + 3.5, 1 + 1.5); an arm without a release keeps Beta(1, 1)."""
    agent = told(begun(ThompsonSampling(), 3), [3.5, 0, 2], [5, 0, 2])
    assert posterior(agent) == [(4.5, 2.5), (1, 1), (3, 1)]
    # A new release takes the place of the old one; it does not add to it.
    assert posterior(told(agent, [1, 0, 2], [4, 0, 2])) == [(2, 4), (1, 1), (3, 1)]


def test_noise_may_not_push_a_posterior_out_of_its_range():
    """A sum of -2 of 5 counts as 0 and one of 7 as 5: parameters below 1 would be a prior nobody asked for."""
    agent = told(begun(ThompsonSampling(), 2), [-2, 7], [5, 5])
    assert posterior(agent) == [(1, 6), (6, 1)]


def test_the_allowance_for_one_draw_of_noise_by_hand():
    """Lazy-DP-TS, epsilon = 1/2: 3 ln t / (epsilon n) on the mean is 6 ln t on the sum; t = 1, then 2."""
    agent = begun(make_algorithm("Lazy-DP-TS", epsilon=0.5).agent(), 2)
    assert posterior(told(agent, [3, 0], [20, 0])) == [(4, 18), (1, 1)]
    told(agent, [3, 6], [20, 7], arm=1)
    # Arm 1: 6 + 6 ln 2 is more than 7, which is the most there is.
    expected = [(4 + 6 * math.log(2), 18 - 6 * math.log(2)), (8, 1)]
    assert np.array(posterior(agent)) == pytest.approx(np.array(expected), rel=1e-14)


def test_the_allowance_for_the_noise_of_a_tree_by_hand():
    """DP-TS, epsilon = 2: 6 sqrt(8) ln t ln(n + 1) / (2 n) on the mean; t = 2 and n = 99 make 3 sqrt(8) ln 2 ln 100."""
    agent = told(begun(make_algorithm("DP-TS", epsilon=2).agent(), 2), [40, 0], [99, 1], rounds=2)
    reach = 3 * math.sqrt(8) * math.log(2) * math.log(100)
    assert reach == pytest.approx(27.085, abs=1e-3)
    assert posterior(agent)[0] == pytest.approx((41 + reach, 60 - reach), rel=1e-14)


@pytest.mark.parametrize("lazy", [False, True])
def test_the_allowance_grows_with_the_rounds(lazy):
    """Every round when the agent is not lazy; when it is, at the next release of the arm played."""
    agent = begun(ThompsonSampling(width=log_width(1.0), lazy=lazy), 2)
    told(agent, [1, 1], [10, 10])
    before = posterior(agent)
    told(agent, [1, 1], [10, 10])
    grown = [(2 + math.log(2), 10 - math.log(2))] * 2
    assert np.array(posterior(agent)) == pytest.approx(np.array(before if lazy else grown))
    told(agent, [2, 1], [11, 10])
    assert posterior(agent)[1] == pytest.approx((2 + math.log(3), 10 - math.log(3)))


SUMS = {
    "close": ([5.0, 6.0, 5.5], [10, 10, 10]),
    "one without a release": ([30.0, 0.0, 24.0], [60, 0, 40]),
    "no release at all": ([0.0, 0.0, 0.0], [0, 0, 0]),
    "one ahead": ([180.0, 90.0, 12.5], [300, 200, 25]),
    "at both ends": ([8.0, 0.0, 3.0], [8, 9, 3]),
}


@pytest.mark.thorough
@pytest.mark.parametrize(("case", "last"), [*((case, 0) for case in SUMS), ("close", 1), ("close", 2)])
def test_arms_are_played_as_often_as_they_are_likely_to_be_best(case, last):
    """Exact chances by numeric integration; the arm played last, which is drawn first, must not matter.

    A frequency of p among 30,000 choices has standard error sqrt(p (1 - p) / 30,000): allow five, and three
    choices, as rare ones are not normal.

    False alarm: 1.8e-6 (two sides, three counts).
    """
    sums, counts = SUMS[case]
    choices = 30_000
    agent = told(begun(ThompsonSampling(), 3, seed=7), sums, counts, arm=last)
    pulls = np.bincount([agent.select_arm() for _ in range(choices)], minlength=3)
    expected = np.array(chances(posterior(agent)))
    assert expected.sum() == pytest.approx(1, abs=1e-7)
    assert np.all(np.abs(pulls / choices - expected) <= 5 * np.sqrt(expected * (1 - expected) / choices) + 3 / choices)


def test_the_chances_by_hand():
    """Uniform against Beta(2, 1), whose density is 2 x: the uniform draw is above with probability 1 - 2/3."""
    assert chances([(2, 1), (1, 1)]) == pytest.approx([2 / 3, 1 / 3])


def test_each_first_plays_every_arm_until_its_release():
    agent = begun(ThompsonSampling(each_first=True), 3)
    for _ in range(3):
        assert agent.select_arm() == 0
        told(agent, [0, 0, 0], [0, 0, 0], arm=0)
    assert told(agent, [50, 0, 0], [50, 0, 0], arm=0).select_arm() == 1
    assert told(agent, [50, 0, 0], [50, 1, 0], arm=1).select_arm() == 2
    told(agent, [50, 0, 0], [50, 1, 1], arm=2)
    # From here on the posteriors decide: Beta(51, 1) is nearly always ahead of two Beta(1, 2).
    assert [agent.select_arm() for _ in range(50)].count(0) > 40


def test_a_lazy_agent_stays_until_the_release():
    """Between releases nothing is drawn, so the next draws are those of an agent that never waited."""
    agents = [begun(ThompsonSampling(lazy=True), 2, seed=5) for _ in range(2)]
    for agent in agents:
        told(agent, [2, 2], [4, 4])
    arm = agents[0].select_arm()
    assert agents[1].select_arm() == arm
    for _ in range(50):
        told(agents[0], [2, 2], [4, 4], arm=arm)
        assert agents[0].select_arm() == arm
    later = [3, 4] if arm else [4, 3]
    counts = [4, 8] if arm else [8, 4]
    one, other = ([told(agent, later, counts, arm=arm).select_arm()] for agent in agents)
    assert one == other
    assert [agents[0].select_arm() for _ in range(30)] == [agents[1].select_arm() for _ in range(30)]


def test_means_and_deviations_by_hand():
    """Sum 3.5 of 6 is N(3.5 / 7, 1 / 7); an arm without a release keeps N(0, 1)."""
    agent = told(begun(GaussianThompsonSampling(), 3), [3.5, 0, 2], [6, 0, 3])
    assert list(agent._state.means) == [0.5, 0, 0.5]
    assert list(agent._state.deviations) == pytest.approx([1 / math.sqrt(7), 1, 0.5], rel=1e-15)
    # A new release takes the place of the old one; it does not add to it.
    assert list(told(agent, [1, 0, 2], [7, 0, 3])._state.means) == [0.125, 0, 0.5]


def test_gaussian_arms_are_played_as_often_as_the_difference_of_two_normals_is_positive():
    """Phi((4/9 - 1/4) / sqrt(1/9 + 1/4)) = .627 with standard error .0035 in 20,000 draws: five of them are .017.

    False alarm: below 1e-6.
    """
    agent = told(begun(GaussianThompsonSampling(), 2), [4, 0.75], [8, 2])
    assert agent._state.means[1] == 0.25
    agent = told(agent, [4, 1], [8, 3])
    gap = (4 / 9 - 1 / 4) / math.sqrt(1 / 9 + 1 / 4)
    expected = 0.5 * math.erfc(-gap / math.sqrt(2))
    assert expected == pytest.approx(0.627, abs=1e-3)
    rng = np.random.default_rng(0)
    share = np.mean([agent.functions.select(agent._state, rng) == 0 for _ in range(20_000)])
    assert abs(share - expected) < 5 * math.sqrt(expected * (1 - expected) / 20_000)


# ---- tuned
SIZE = {"n_arms": 4, "horizon": 1000}


def normal_below(x):
    return math.erfc(-x / math.sqrt(2)) / 2


def law_of_arms(table, pulls, variance):
    """Return the probability of every sequence of two arms; arm 0 has the larger of two normal draws."""
    rounds, law = len(table), {}
    for arms in itertools.product((0, 1), repeat=rounds):
        chance, sums, counts = 1.0, [0.0, 0.0], [0, 0]
        for t, arm in enumerate(arms):
            short = [place for place in (0, 1) if counts[place] < pulls]
            if short:
                chance *= arm == short[0]
            else:
                means = [s / (n + 1) for s, n in zip(sums, counts, strict=True)]
                spread = math.sqrt(sum(variance / (n + 1) for n in counts))
                first = normal_below((means[0] - means[1]) / spread)
                chance *= first if arm == 0 else 1 - first
            sums[arm] += table[t][arm]
            counts[arm] += 1
        law[arms] = chance
    return law


@pytest.mark.thorough
@pytest.mark.parametrize(("pulls", "variance"), [(0, 1.0), (0, 8.0), (1, 1.0), (1, 4.0), (2, 1.0)])
def test_exact_laws_of_short_games_keep_to_the_guarantee(pulls, variance):
    """All tables of gains 0 and 1 in five rounds, and all that differ from them in one round."""
    rounds = 5
    declared = make_algorithm("Tuned-TS", pulls=pulls, variance=variance).guarantee(n_arms=2, horizon=rounds)
    tables = [np.array(row).reshape(rounds, 2) for row in itertools.product((0.0, 1.0), repeat=2 * rounds)]
    laws = np.array([list(law_of_arms(table, pulls, variance).values()) for table in tables])
    assert laws.sum(axis=1) == pytest.approx(np.ones(len(tables)))
    largest, most = 0.0, dict.fromkeys((0.1, 0.5, 1.0), 0.0)
    for t in range(rounds):
        for change in (1, 2, 3):
            others = np.arange(len(tables)) ^ (change << (2 * (rounds - 1 - t)))
            largest = max(largest, divergence_over_order(laws, laws[others]))
            for epsilon in most:
                excess = np.maximum(laws - math.exp(epsilon) * laws[others], 0.0).sum(axis=1).max()
                most[epsilon] = max(most[epsilon], float(excess))
    assert 0.02 * declared.rho < largest <= declared.rho
    for epsilon, excess in most.items():
        assert excess <= declared._exact_delta(epsilon)


def test_the_guarantee_by_hand():
    """T = 1,000, K = 4, b = 100, c = 9: 601 rounds with draws at a squared distance of 1 / (9 * 101)."""
    guarantee = make_algorithm("Tuned-TS", pulls=100, variance=9).guarantee(**SIZE)
    assert guarantee.noise_law.gaussian == pytest.approx(601 / 909)
    assert guarantee.rho == pytest.approx(601 / 1818)
    assert guarantee.covers == "arms" and guarantee.model == "central"
    asked = make_algorithm("Tuned-TS", epsilon=0.5, pulls=100)
    assert asked.guarantee(**SIZE).noise_law.gaussian == pytest.approx(gaussian_sigma(0.5, 1e-6) ** -2)
    assert asked.guarantee(**SIZE).epsilon_at(1e-6) <= 0.5
    variance = asked.agent().initial_state(4, 1000).variance
    assert variance == pytest.approx(601 * gaussian_sigma(0.5, 1e-6) ** 2 / 101)
    assert make_algorithm("Tuned-TS", pulls=300).guarantee(**SIZE).epsilon == 0.0  # each arm is only pulled


def test_with_no_pulls_and_variance_1_it_is_gaussian_ts():
    tuned = make_algorithm("Tuned-TS", pulls=0, variance=1)
    state, other = tuned.agent().initial_state(4, 1000), make_algorithm("Gaussian-TS").agent().initial_state(4, 1000)
    assert state.deviations.tolist() == other.deviations.tolist() and state[3:] == other[3:]


def test_pulls_come_first_in_order():
    arms = play("Stochastic", "Tuned-TS:pulls=3", **SIZE, seed=1).arms
    assert arms[:12].tolist() == [0] * 3 + [1] * 3 + [2] * 3 + [3] * 3


def test_on_a_graph_nothing_is_declared():
    """A round there moves the sums of several arms; the proof is for one."""
    env = GraphEnv("complete", n_arms=4, horizon=50)
    guarantee = make_algorithm("Tuned-TS").guarantee_in(env)
    assert guarantee.model == "none" and "several gains" in guarantee.theorem


@pytest.mark.thorough
def test_a_sampled_audit_does_not_refute_it():
    loss = sampled_loss("Tuned-TS:pulls=1,variance=4", games=20_000)
    assert loss.holds and loss.declared.epsilon < 20


def test_calibration_and_wrong_parameters():
    found = calibrate("Tuned-TS", epsilon=0.5, delta=1e-6, **SIZE)
    assert found.guarantee(**SIZE).epsilon_at(1e-6) == pytest.approx(0.5, rel=1e-6)
    assert make_algorithm("Tuned-TS", epsilon=math.inf).guarantee(**SIZE) == PrivacyGuarantee.none(
        "epsilon is inf, so draws do not vary"
    )
    for parameters, words in (
        ({"variance": 0}, ("variance", 0)),
        ({"pulls": -1}, ("pulls", -1)),
        ({"epsilon": 0.3, "variance": 2.0}, ("epsilon", "variance")),
        ({"delta": 1}, ("delta", 1)),
    ):
        with refused(ValueError, *words):
            make_algorithm("Tuned-TS", **parameters)
