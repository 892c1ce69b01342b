"""What the stochastic algorithms lose: below their bounds, at numbers measured elsewhere, and in the papers' order."""

import math

import pytest

from dp_bandit_envs import make_algorithm, simulate

WITH_BOUND = ["UCB", "DP-UCB-BOUND", "DP-SE", "AdaP-UCB", "LDP-UCB-L", "LDP-UCB-B"]
AZIZE_BASU = (0.75, 0.625, 0.5, 0.375, 0.25)


def pseudo_regrets(algorithms, means, *, horizon, trials, seed=0):
    """Return each algorithm's last pseudo-regrets, one for each trial."""
    given = {"horizon": horizon, "trials": trials, "seed": seed, "checkpoints": 1, "env_kwargs": {"means": means}}
    simulation = simulate("DPBandit-Stochastic-v0", algorithms, **given)
    return {name: outcome.pseudo_regret[:, -1] for name, outcome in simulation.items()}


def mean_and_error(sample):
    return sample.mean(), sample.std(ddof=1) / math.sqrt(len(sample))


def below(one, other):
    """Return by how many of its standard errors the mean of `one` is below that of `other`, trial by trial."""
    mean, error = mean_and_error(other - one)
    return mean / error


@pytest.mark.parametrize("means", [(0.9, 0.6), (0.7, 0.5, 0.5, 0.3)], ids=str)
@pytest.mark.parametrize("epsilon", [0.3, 1.0, math.inf])
def test_mean_pseudo_regret_is_below_the_bound(means, epsilon):
    """Twenty trials of 20,000 rounds; DP-SE is just below, as its first epochs are played by the clock.

    False alarm: below 1e-9 (the closest bound is more than 20 standard errors above the mean).
    """
    algorithms = [make_algorithm(name, **({} if name == "UCB" else {"epsilon": epsilon})) for name in WITH_BOUND]
    regrets = pseudo_regrets(algorithms, means, horizon=20_000, trials=20)
    for algorithm in algorithms:
        bound = algorithm.pseudo_regret_bound(means=means, horizon=20_000)
        assert 0 < regrets[algorithm.name].mean() <= bound, algorithm.name


def test_successive_elimination_loses_what_its_first_epoch_costs():
    """Means .95 and .05, epsilon = 1, T = 20,000: 4 (h + c) = 0.33 < 0.9, so arm 1 goes after epoch 1, of 1624 plays.

    128 ln(16 * 20,000) = 1622.4, rounded up, plus 1. Its mean would have to stray by more than 0.5 to stay.
    """
    regret = pseudo_regrets(["DP-SE"], (0.95, 0.05), horizon=20_000, trials=10)["DP-SE"]
    assert regret.tolist() == pytest.approx([0.9 * 1624] * 10, rel=1e-12)


def assert_ucb_is_the_one_measured_elsewhere(trials):
    """370.1 +- 2.3 for UCB1 at T = 20,000, from 400 games of another program: within five combined standard errors.

    False alarm: 1e-6 (five standard errors, two sides).
    """
    mean, error = mean_and_error(pseudo_regrets(["UCB"], (0.55, 0.5, 0.5, 0.5), horizon=20_000, trials=trials)["UCB"])
    assert error < 2.3 * math.sqrt(400 / trials) * 1.3
    assert abs(mean - 370.1) < 5 * math.hypot(error, 2.3)


def test_ucb_is_the_one_measured_elsewhere_in_few_games():
    assert_ucb_is_the_one_measured_elsewhere(200)


@pytest.mark.slow
def test_ucb_is_the_one_measured_elsewhere():
    assert_ucb_is_the_one_measured_elsewhere(400)


def assert_adap_ucb_is_the_one_measured_elsewhere(trials):
    """About 268 on (.9, .6) at T = 30,000 and epsilon = 1, without a standard error: three percent for its own.

    False alarm: 1e-6 (five standard errors, two sides).
    """
    mean, error = mean_and_error(pseudo_regrets(["AdaP-UCB"], (0.9, 0.6), horizon=30_000, trials=trials)["AdaP-UCB"])
    assert abs(mean - 268) < 5 * error + 0.03 * 268


def test_adap_ucb_is_the_one_measured_elsewhere_in_few_games():
    assert_adap_ucb_is_the_one_measured_elsewhere(200)


@pytest.mark.slow
def test_adap_ucb_is_the_one_measured_elsewhere():
    """Its regret has a standard deviation of 67, so that the standard error is 1."""
    assert_adap_ucb_is_the_one_measured_elsewhere(4000)


NAMES = ("DP-KLUCB", "DP-IMED", "AdaP-KLUCB", "AdaP-UCB", "DP-SE", "DP-UCB")


def assert_order(regrets, at_least):
    """The better one's mean is so many standard errors of the difference below, and the equal ones not above.

    False alarm: below 1e-9 (the smallest difference is 20 of its standard errors).
    """
    for best in ("DP-KLUCB", "DP-IMED"):
        assert below(regrets[best], regrets["AdaP-KLUCB"]) > at_least, best
    for worse in ("DP-SE", "DP-UCB"):
        assert below(regrets["AdaP-UCB"], regrets[worse]) > at_least, worse


def test_private_algorithms_compare_as_the_papers_say_in_short_games():
    """Five arms, epsilon = 1. That KL beats its UCB shows only in longer games, and by little: see the slow test."""
    assert_order(pseudo_regrets(NAMES, AZIZE_BASU, horizon=100_000, trials=20), 5)


@pytest.mark.slow
def test_private_algorithms_compare_as_the_papers_say():
    """T = 10^6: 20 trials for the wide gaps; 200 for AdaP-KLUCB against AdaP-UCB, whose means are near each other."""
    assert_order(pseudo_regrets(NAMES, AZIZE_BASU, horizon=10**6, trials=20), 5)
    near = pseudo_regrets(("AdaP-KLUCB", "AdaP-UCB"), AZIZE_BASU, horizon=10**6, trials=200)
    assert below(near["AdaP-KLUCB"], near["AdaP-UCB"]) > 3
