"""The statistics of the papers: bounds hold, regret grows at the promised rate, algorithms compare as they say."""

import math

import numpy as np
import pytest

from dp_bandit_envs import make_algorithm, simulate
from dp_bandit_envs.algorithms import paper_epsilon
from tests.tools.playable import BANDITS

PANELS = ("Deterministic", "Stochastic", "FullyOblivious", "Oblivious", "Switching")
MEMORY = {"Switching": 1, "MemoryBounded": 2}


def last_regrets(panel, algorithms, *, horizon, trials, seed=0, **env_kwargs):
    simulation = simulate(
        f"DPBandit-{panel}-v0",
        algorithms,
        horizon=horizon,
        trials=trials,
        seed=seed,
        checkpoints=1,
        env_kwargs=env_kwargs,
    )
    return {name: outcome.external_regret[:, -1] for name, outcome in simulation.items()}


def mean_and_error(sample):
    return sample.mean(), sample.std(ddof=1) / math.sqrt(len(sample))


def everything():
    algorithms = [make_algorithm(name) for name in BANDITS]
    for epsilon in (0.1, 20.0):
        for name in ("DP-EXP3-Lap", "Batched-Lap-EXP3", "Batched-Lap-HTINF"):
            algorithms.append(make_algorithm(name, epsilon=epsilon, label=f"{name} {epsilon}"))
        for base in ("Tsallis-INF", "HTINF"):
            label = f"{base} {epsilon}"
            algorithms.append(make_algorithm("DP-Lambda-Lap", base=base, epsilon=epsilon, label=label))
    return [*algorithms, make_algorithm("EXP3-tau", batch_size=40, label="tau 40")]


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("panel", "horizon"),
    [
        ("Switching", 100),
        *(pytest.param(panel, 3000, marks=pytest.mark.slow) for panel in (*PANELS, "MemoryBounded")),
    ],
)
def test_mean_regret_is_below_the_bound(panel, horizon):
    """The measured mean less four of its standard errors, for every algorithm and epsilon.

    False alarm: below 1e-6 (in 100 rounds the closest bound is a hundred standard errors above the mean, in 3000 five).
    """
    algorithms = everything()
    regrets = last_regrets(panel, algorithms, horizon=horizon, trials=12 if horizon == 100 else 24)
    for algorithm in algorithms:
        mean, error = mean_and_error(regrets[algorithm.name])
        bound = algorithm.regret_bound(n_arms=4, horizon=horizon, memory=MEMORY.get(panel, 0))
        assert mean - 4 * error <= bound, algorithm.name


def test_parameters_of_ones_own_that_may_fail_have_no_bound():
    """HTINF's bound needs E[loss^2] <= sigma^2; with a smaller sigma it skips nearly everything, and may fail."""
    for name, parameters in (
        ("HTINF", {"sigma": 0.1}),
        ("Batched-Lap-HTINF", {"epsilon": 1.0, "sigma": 0.05}),
        ("Batched-Lap-HTINF", {"epsilon": 0.01, "batch_size": 1}),
    ):
        assert make_algorithm(name, **parameters).regret_bound(n_arms=4, horizon=50_000) == math.inf


def slope(horizons, samples):
    """Return the slope of ln(mean regret) over ln T, weighted by the standard errors, with its own error."""
    x = np.log(horizons)
    means, errors = np.transpose([mean_and_error(sample) for sample in samples])
    y, weights = np.log(means), (means / errors) ** 2
    centred = x - np.average(x, weights=weights)
    spread = (weights * centred**2).sum()
    return (weights * centred * y).sum() / spread, 1 / math.sqrt(spread)


def check_slope(horizons, samples, expected):
    """Within five standard errors, which must be small enough to tell 1/2, 2/3 and 1 apart.

    False alarm: 3e-6 (five standard errors, two sides, weights from 60 trials).
    """
    value, error = slope(horizons, samples)
    assert error < 1 / 48
    assert abs(value - expected) < 5 * error


@pytest.mark.parametrize(
    ("powers", "trials"), [(range(9, 15), 60), pytest.param(range(11, 20), 200, marks=pytest.mark.slow)]
)
def test_regret_of_exp3_grows_like_the_root_of_T(powers, trials):
    """With a gap of sqrt(K ln K / T), the hardest for EXP3, pseudo-regret is of order sqrt(T) and no less."""
    samples = []
    for horizon in (horizons := [2**k for k in powers]):
        means = (0.5 + math.sqrt(4 * math.log(4) / horizon) / 2, 0.5, 0.5, 0.5)
        samples.append(pseudo_regrets(["EXP3"], means, horizon=horizon, trials=trials, seed=1)["EXP3"])
    check_slope(horizons, samples, 1 / 2)


@pytest.mark.parametrize(
    ("sizes", "trials"),
    [((2, 3, 4, 6, 8), 60), pytest.param((3, 4, 6, 8, 12, 16, 19, 24), 100, marks=pytest.mark.slow)],
)
def test_regret_of_exp3_tau_against_switching_costs_grows_like_T_to_the_two_thirds(sizes, trials):
    """At T = 7 K ln K n^3 the best batch size is n sharp, so that rounding it up does not bend the line."""
    horizons = [int(7 * 4 * math.log(4) * size**3) for size in sizes]
    samples = [
        last_regrets("Switching", ["EXP3-tau"], horizon=horizon, trials=trials, seed=1)["EXP3-tau"]
        for horizon in horizons
    ]
    check_slope(horizons, samples, 2 / 3)


def figure_1_regrets(horizon, trials):
    algorithms = [
        make_algorithm("EXP3"),
        make_algorithm("DP-EXP3-Lap", epsilon=paper_epsilon(4, horizon)),
        make_algorithm("EXP3-tau"),
    ]
    return {panel: last_regrets(panel, algorithms, horizon=horizon, trials=trials) for panel in PANELS}


def assert_order(regrets):
    """Trials are paired, as all algorithms of one meet the same gains; five standard errors of the difference.

    False alarm: 1e-9 (the smallest difference is 12 of its standard errors).
    """
    for panel, samples in regrets.items():
        sign = -1 if panel == "Switching" else 1
        for other in ("EXP3", "DP-EXP3-Lap"):
            assert below(*(sign * samples[name] for name in (other, "EXP3-tau"))) > 5, (panel, other)


def assert_close(regrets, horizon):
    """Theorem 3.1: noise within b = ln T / epsilon costs a factor 2 b + 1, and something; five standard errors.

    False alarm: 1.1e-5 (five measured standard errors of 60 trials, Student's law, four panels).
    """
    for panel in PANELS[:4]:
        lap, exp3 = (regrets[panel][name] for name in ("DP-EXP3-Lap", "EXP3"))
        mean, error = mean_and_error(lap - exp3)
        bound = math.log(horizon) / paper_epsilon(4, horizon)
        assert mean - 5 * error < 2 * bound * exp3.mean(), panel
        assert mean + 5 * error > 0, panel


def assert_same_law(regrets):
    """A fully oblivious gain is Bernoulli(.55) or (.5) after averaging over its bias, as a stochastic one is.

    So means agree within five combined standard errors, and so do spreads: the standard error of a standard deviation
    s of N values is about s / sqrt(2 N) times sqrt(kurtosis - 1) / sqrt(2), for which 2 s / sqrt(N) is ample.

    False alarm: 1.2e-5 (five standard errors, two sides, mean and deviation of three algorithms).
    """
    for name in ("EXP3", "DP-EXP3-Lap", "EXP3-tau"):
        one, other = (regrets[panel][name] for panel in ("Stochastic", "FullyOblivious"))
        (mean, error), (other_mean, other_error) = mean_and_error(one), mean_and_error(other)
        assert abs(mean - other_mean) < 5 * math.hypot(error, other_error), name
        spread = max(one.std(ddof=1), other.std(ddof=1))
        assert abs(one.std(ddof=1) - other.std(ddof=1)) < 5 * math.sqrt(2) * spread / math.sqrt(len(one)), name


@pytest.mark.thorough
@pytest.mark.parametrize(("horizon", "trials"), [(2**14, 60), pytest.param(2**18, 72, marks=pytest.mark.slow)])
def test_figure_1_compares_as_the_paper_says(horizon, trials):
    """With a gap of .08 instead of .05 the same law would be refused for EXP3-tau, so it means something.

    False alarm: 3e-5 (that of each part).
    """
    regrets = figure_1_regrets(horizon, trials)
    assert_order(regrets)
    assert_close(regrets, horizon)
    assert_same_law(regrets)
    if horizon == 2**14:
        other = last_regrets("FullyOblivious", ["EXP3", "EXP3-tau"], horizon=horizon, trials=trials, gap=0.08)[
            "EXP3-tau"
        ]
        (mean, error), (other_mean, other_error) = map(mean_and_error, (regrets["Stochastic"]["EXP3-tau"], other))
        assert abs(mean - other_mean) > 5 * math.hypot(error, other_error)


WITH_BOUND = ["UCB", "DP-UCB-BOUND", "DP-SE", "AdaP-UCB", "AdaC-UCB", "LDP-UCB-L", "LDP-UCB-B"]
AZIZE_BASU = (0.75, 0.625, 0.5, 0.375, 0.25)


def pseudo_regrets(algorithms, means, *, horizon, trials, seed=0):
    """Return each algorithm's last pseudo-regrets, one for each trial."""
    given = {"horizon": horizon, "trials": trials, "seed": seed, "checkpoints": 1, "env_kwargs": {"means": means}}
    simulation = simulate("DPBandit-Stochastic-v0", algorithms, **given)
    return {name: outcome.pseudo_regret[:, -1] for name, outcome in simulation.items()}


def below(one, other):
    """Return by how many of its standard errors the mean of `one` is below that of `other`, trial by trial."""
    mean, error = mean_and_error(other - one)
    return mean / error


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("means", "epsilon"),
    [((0.9, 0.6), 0.3), pytest.param((0.7, 0.5, 0.5, 0.3), math.inf, marks=pytest.mark.slow)],
    ids=str,
)
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


@pytest.mark.parametrize("trials", [200, pytest.param(400, marks=pytest.mark.slow)])
def test_ucb_is_the_one_measured_elsewhere(trials):
    """370.1 +- 2.3 for UCB1 at T = 20,000, from 400 games of another program: within five combined standard errors.

    False alarm: 1e-6 (five standard errors, two sides).
    """
    # Alone on coins, an algorithm would be another loop to compile.
    regrets = pseudo_regrets(["UCB", "Uniform"], (0.55, 0.5, 0.5, 0.5), horizon=20_000, trials=trials)
    mean, error = mean_and_error(regrets["UCB"])
    assert error < 2.3 * math.sqrt(400 / trials) * 1.3
    assert abs(mean - 370.1) < 5 * math.hypot(error, 2.3)


@pytest.mark.parametrize("trials", [200, pytest.param(4000, marks=pytest.mark.slow)])
def test_adap_ucb_is_the_one_measured_elsewhere(trials):
    """About 268 on (.9, .6) at T = 30,000 and epsilon = 1, without a standard error: three percent for its own.

    Its regret has a standard deviation of 67. False alarm: 1e-6 (five standard errors, two sides).
    """
    mean, error = mean_and_error(pseudo_regrets(["AdaP-UCB"], (0.9, 0.6), horizon=30_000, trials=trials)["AdaP-UCB"])
    assert abs(mean - 268) < 5 * error + 0.03 * 268


NAMES = ("DP-KLUCB", "DP-IMED", "AdaP-KLUCB", "AdaP-UCB", "DP-SE", "DP-UCB")


@pytest.mark.thorough
@pytest.mark.parametrize("horizon", [50_000, pytest.param(10**6, marks=pytest.mark.slow)])
def test_private_algorithms_compare_as_the_papers_say(horizon):
    """Five arms, epsilon = 1: by five standard errors of the difference. In long games KL beats its UCB, by little.

    False alarm: below 1e-9 (the smallest difference is 20 of its standard errors).
    """
    regrets = pseudo_regrets(NAMES, AZIZE_BASU, horizon=horizon, trials=20)
    for best in ("DP-KLUCB", "DP-IMED"):
        assert below(regrets[best], regrets["AdaP-KLUCB"]) > 5, best
    for worse in ("DP-SE", "DP-UCB"):
        assert below(regrets["AdaP-UCB"], regrets[worse]) > 5, worse
    if horizon == 10**6:
        near = pseudo_regrets(("AdaP-KLUCB", "AdaP-UCB"), AZIZE_BASU, horizon=horizon, trials=200)
        assert below(near["AdaP-KLUCB"], near["AdaP-UCB"]) > 3
