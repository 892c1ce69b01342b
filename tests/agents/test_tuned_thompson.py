"""Tuned-TS: pulls and wide draws make one Gaussian mechanism of Thompson sampling; exact laws of short games agree."""

import itertools
import math

import numpy as np
import pytest

from dp_bandit_envs import calibrate, make_algorithm, play, simulate
from dp_bandit_envs.audits import sampled_loss
from dp_bandit_envs.audits.draw_laws import divergence_over_order
from dp_bandit_envs.envs.graph_env import GraphEnv
from dp_bandit_envs.privacy.gaussian import gaussian_sigma
from dp_bandit_envs.privacy.guarantee import PrivacyGuarantee
from tests.tools.refusals import refused

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


def test_play_and_simulate_agree():
    outcome = simulate("Stochastic", "Tuned-TS", **SIZE, trials=2, seed=8)["Tuned-TS"]
    assert outcome.external_regret[1][-1] == play("Stochastic", "Tuned-TS", **SIZE, seed=8, trial=1).external_regret[-1]


def test_on_a_graph_nothing_is_declared():
    """A round there moves the sums of several arms; the proof is for one."""
    env = GraphEnv("complete", n_arms=4, horizon=50)
    guarantee = make_algorithm("Tuned-TS").guarantee_in(env)
    assert guarantee.model == "none" and "several gains" in guarantee.theorem


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
