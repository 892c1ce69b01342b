"""Pools, phases, blocks, shifts and the switching walk, each by hand and against its law."""

import csv
import math
from collections import Counter
from fractions import Fraction
from importlib import resources

import gymnasium as gym
import numpy as np
import pytest
from scipy.stats import chi2

from dp_bandit_envs import make_algorithm, play, simulate
from dp_bandit_envs.adversaries import (
    ConstrainedCoins,
    LeaderBlocks,
    OutcomePools,
    Shifting,
    Stochastic,
    SwitchingCost,
    Trial,
)
from dp_bandit_envs.adversaries.constrained import first_rounds
from dp_bandit_envs.adversaries.switching import lowest_bit
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.metrics import dynamic_regret
from dp_bandit_envs.seeding import ADVERSARY, stream
from dp_bandit_envs.simulation.engines import always_compiled

POOLS = [np.linspace(0, 1, 40), np.linspace(0, 0.5, 7)]


def gains_of(pools, rounds, seed=0):
    adversary = OutcomePools(pools, horizon=rounds)
    adversary.begin(np.random.default_rng(seed))
    return adversary.next_gains(rounds)


def test_each_pass_through_a_pool_is_a_permutation_of_it():
    gains = gains_of(POOLS, 200)
    for arm, pool in enumerate(POOLS):
        count = 200 // len(pool)
        passes = gains[: count * len(pool), arm].reshape(count, -1)
        np.testing.assert_array_equal(np.sort(passes, axis=1), np.tile(pool, (count, 1)))
        assert len(np.unique(passes, axis=0)) > 1  # reshuffled
    # An arms order does not depend on the other arms pool.
    np.testing.assert_array_equal(gains_of(POOLS, 100)[:, 0], gains_of([POOLS[0], np.ones(3)], 100)[:, 0])
    gains = gains_of([POOLS[0], POOLS[0]], 40)
    assert (gains[:, 0] != gains[:, 1]).any()
    # Horizon defaults to all outcomes.
    assert OutcomePools(POOLS).horizon == 47
    np.testing.assert_allclose(OutcomePools(POOLS).means, [0.5, 0.25], rtol=1e-15)


@pytest.mark.thorough
def test_every_outcome_comes_first_equally_often():
    """7,000 games: each count is binomial with deviation sqrt(7000 * 1/7 * 6/7) = 29.3; allow five of them.

    False alarm: 4e-6 (five standard errors, two sides, seven counts).
    """
    adversary, rng = OutcomePools(POOLS), np.random.default_rng(0)
    first = []
    for _ in range(7000):
        adversary.begin(rng)
        first.append(adversary.next_gains(1)[0, 1])
    counts = np.unique(first, return_counts=True)[1]
    assert np.abs(counts - 1000).max() <= 5 * np.sqrt(7000 * 6 / 49)


# ---- the clinical trial


PATIENTS = [532, 522, 524, 561]
RATES = {  # to three digits, as published with the data
    "event_free": [0.660, 0.803, 0.792, 0.772],
    "cd4_not_fallen": [0.444, 0.665, 0.559, 0.569],
}


@pytest.fixture(scope="module")
def patients():
    """The shipped file, read without the project's help."""
    with resources.files("dp_bandit_envs.data").joinpath("actg175.csv").open(encoding="utf-8") as lines:
        return list(csv.DictReader(lines))


def test_shipped_file_holds_every_patient_once(patients):
    assert len(patients) == 2139
    assert len({row["patient"] for row in patients}) == 2139
    assert Counter(row["arm"] for row in patients) == dict(zip("0123", PATIENTS, strict=True))
    assert (Trial().horizon, Trial().n_arms) == (2139, 4)


@pytest.mark.parametrize("outcome", RATES)
def test_success_rates_are_those_published_with_the_data(patients, outcome):
    adversary = Trial(outcome=outcome)
    assert np.round(adversary.means, 3).tolist() == RATES[outcome]
    for arm in range(4):
        outcomes = [int(row[outcome]) for row in patients if row["arm"] == str(arm)]
        assert adversary.means[arm] == pytest.approx(sum(outcomes) / PATIENTS[arm], rel=1e-15)


@pytest.mark.parametrize("outcome", RATES)
def test_every_patient_of_an_arm_has_a_turn_before_anyone_has_a_second(outcome):
    """In n consecutive rounds from the start of a pass an arm of n patients pays all its successes, in every pass.

    A window that is one patient too long or too short would miss the count in one of the passes or arms.
    """
    adversary = Trial(horizon=3000, outcome=outcome)
    adversary.arm_order = "given"
    adversary.begin(np.random.default_rng(0))
    gains = adversary.next_gains(3000)
    for arm, (count, rate) in enumerate(zip(PATIENTS, RATES[outcome], strict=True)):
        passes = gains[: 3000 // count * count, arm].reshape(-1, count)
        assert passes.sum(axis=1).tolist() == [round(count * rate)] * len(passes)
        assert len(passes) == 5
        assert len(np.unique(passes, axis=0)) == 5  # reshuffled, not repeated


# ---- phases and blocks


def begun(adversary, seed=0):
    adversary.begin(np.random.default_rng(seed))
    return adversary


def test_phases_begin_at_powers_of_1_6():
    """1.6^k = 1, 1.6, 2.56, 4.096, 6.55, 10.49, 16.8; rounds 1, 2, 3, 5, 7, 11, 17 are the first not below."""
    assert first_rounds(11).tolist() == [1, 2, 3, 5, 7, 11, 17, 27]
    assert first_rounds(1).tolist() == [1, 2, 3]
    long = first_rounds(2**53).tolist()
    assert long == [math.ceil(Fraction(8, 5) ** k) for k in range(len(long))]
    assert long[-2] > 2**53 >= long[-3]
    # Around the first round of every phase up to 2^53, the rule of one round and the table of means agree.
    adversary = begun(ConstrainedCoins(2, 2**53, gap=1e-12), 1)
    starts = first_rounds(2**53)
    rounds = np.concatenate([starts[:-2] + shift for shift in (-1, 0, 1)])
    rounds = rounds[(rounds >= 1) & (rounds <= 2**53)]
    row, rng = np.empty(2), np.random.default_rng(0)
    for t, means in zip(rounds.tolist(), adversary.means_at(rounds), strict=True):
        adversary.next_round(adversary._state, t, row, rng)
        assert row.tolist() == np.round(means).tolist(), t


def test_means_of_constrained_coins_by_hand():
    """With gap .25 the arms have 1 and .75 in good phases, .25 and 0 in bad ones; the best arm is arm 0 if given."""
    adversary = ConstrainedCoins(3, 12, gap=0.25)
    adversary.arm_order = "given"
    kinds = set()
    for seed in range(8):
        means = begun(adversary, seed).means_at(np.arange(1, 13))
        good = means[:, 0] == 1
        kinds.add(bool(good[0]))
        np.testing.assert_array_equal(means[good], [[1.0, 0.75, 0.75]] * good.sum())
        np.testing.assert_array_equal(means[~good], [[0.25, 0.0, 0.0]] * (~good).sum())
        assert (np.flatnonzero(np.diff(good)) + 2).tolist() == [2, 3, 5, 7, 11]
    assert kinds == {False, True}
    # At gap 1 the best arm always pays 1 and the others 0; at a tiny gap, all pay 1 or 0 by the phase alone.
    adversary = begun(ConstrainedCoins(4, 5000, gap=1.0), 3)
    np.testing.assert_array_equal(adversary.next_gains(5000), np.tile(adversary.order == 0, (5000, 1)))
    adversary = begun(ConstrainedCoins(4, 5000, gap=1e-12), 3)
    phases = np.round(adversary.means_at(np.arange(1, 5001)))
    np.testing.assert_array_equal(adversary.next_gains(5000), phases)
    assert set(np.unique(phases)) == {0.0, 1.0}


def test_means_of_leader_blocks_by_hand():
    """11 rounds in 4 blocks of 3, 3, 3 and 2; at gap .4 most arms have .3, a leader .7 and the steady arm .55."""
    adversary = LeaderBlocks(5, 11, blocks=4, gap=0.4)
    for seed in range(20):
        state = begun(adversary, seed)._state
        expected = np.full((11, 5), 0.3)
        for t in range(11):
            expected[t, state.leaders[t // 3]] = 0.7
        expected[:, state.steady[0]] = 0.55
        np.testing.assert_allclose(adversary.means_at(np.arange(1, 12)), expected, rtol=1e-15)
    assert LeaderBlocks(5, 10, blocks=8, gap=0.4).horizon == 10
    assert begun(LeaderBlocks(5, 10, blocks=8))._state.length == 2  # five blocks are enough


def test_the_steady_arm_is_best_in_the_whole_game_and_each_arm_may_be_it():
    """Means of a whole game: .525 for the steady arm; a leader of j of 8 blocks has .4 + .025 j. Chi-square: 1e-6."""
    adversary, steady = LeaderBlocks(20, 80), np.zeros(20)
    for seed in range(2000):
        means = begun(adversary, seed).means_at(np.arange(1, 81)).mean(axis=0)
        steady[adversary._state.steady[0]] += 1
        assert means[adversary._state.steady[0]] == pytest.approx(0.525)
        led = np.bincount(adversary._state.leaders, minlength=20)
        assert led.max() > 4 or means.argmax() == adversary._state.steady[0]
    assert ((steady - 100) ** 2 / 100).sum() < chi2.isf(1e-6, 19)


MEANS_MOVE = [
    ConstrainedCoins(4, 20_000),
    LeaderBlocks(4, 20_000),
    Shifting(n_arms=4, horizon=20_000, gap=0.6, shifts=2),
    Shifting(n_arms=4, horizon=20_000, gap=0.6, budget=4.0),
]


@pytest.mark.parametrize("adversary", MEANS_MOVE, ids=["Constrained", "Leaders", "Shifting", "Drifting"])
def test_gains_are_coins_of_the_means(adversary):
    """Mean of gains less means, weighted by random signs: error below sqrt(.25 / 80,000). False alarm: 5e-7."""
    adversary = begun(adversary, 4)
    gains = np.concatenate([adversary.next_gains(rounds) for rounds in (7, 13_000, 6_993)])
    assert set(np.unique(gains)) == {0.0, 1.0}
    rest = gains - adversary.means_at(np.arange(1, 20_001))
    signs = np.random.default_rng(1).choice([-1, 1], (20, 1, 4)) * np.sign(np.sin(np.arange(20_000) / 900))[:, None]
    assert np.abs((rest * signs).mean(axis=(1, 2))).max() < 5.6 * np.sqrt(0.25 / 80_000)


@pytest.mark.parametrize(
    ("game", "player"), [("Constrained", "UCB"), ("Leaders", "UCB"), (("Experts", {"gains": "Leaders"}), "Hedge")]
)
def test_compiled_games_have_the_regrets_of_play(game, player):
    with always_compiled():
        outcome = simulate(game, [player], horizon=700, trials=3, seed=6, checkpoints=7)[player]
    assert outcome.engine == "compiled" and outcome.pseudo_regret is None
    for trial in range(3):
        alone = play(game, player, horizon=700, seed=6, trial=trial)
        at = outcome.checkpoints - 1
        assert outcome.dynamic_regret[trial].tolist() == alone.dynamic_regret[at].tolist()
        assert outcome.external_regret[trial].tolist() == alone.external_regret[at].tolist()


# ---- shifting coins


@pytest.mark.parametrize(("shifts", "horizon"), [(0, 50), (1, 2), (3, 4), (6, 200), (199, 200)])
def test_the_best_arm_changes_as_often_as_asked(shifts, horizon):
    for seed in range(20):
        means = begun(Shifting(n_arms=3, horizon=horizon, shifts=shifts, gap=0.5), seed).means_at(
            np.arange(1, horizon + 1)
        )
        assert set(np.unique(means)) == {0.25, 0.75} and (means.sum(axis=1) == 1.25).all()
        assert np.count_nonzero(np.diff(means.argmax(axis=1))) == shifts


@pytest.mark.thorough
def test_rounds_and_arms_of_changes_are_uniform():
    """One change in 4 rounds and 3 arms: rounds and 6 pairs of arms alike. False alarm: 1e-5 (five errors)."""
    seen, adversary, rng = np.zeros((4, 3, 3)), Shifting(n_arms=3, horizon=4, shifts=1), np.random.default_rng(0)
    for _ in range(3600):
        adversary.begin(rng)
        best = adversary.means_at([1, 2, 3, 4]).argmax(axis=1)
        seen[np.flatnonzero(np.diff(best))[0] + 1, best[0], best[-1]] += 1
    cells = seen[1:][:, ~np.eye(3, dtype=bool)]
    assert cells.sum() == 3600
    assert np.abs(cells - 200).max() < 5 * np.sqrt(3600 / 18 * 17 / 18)


@pytest.mark.parametrize("budget", [0.0, 0.3, 7.0, 500.0])
def test_drift_stays_within_its_budget(budget):
    """Away from the turns each round moves every mean by V / (T - 1), so nearly all of the budget is used."""
    for seed in range(5):
        means = begun(Shifting(n_arms=4, horizon=1001, gap=0.8, budget=budget), seed).means_at(np.arange(1, 1002))
        assert means.min() >= 0.1 - 1e-12 and means.max() <= 0.9 + 1e-12
        spent = np.abs(np.diff(means, axis=0)).max(axis=1).sum()
        assert spent <= budget * (1 + 1e-9) and spent >= 0.9 * budget


def test_dynamic_regret_by_hand():
    means = np.array([[0.5, 0.25], [0.5, 0.25], [0.25, 0.5], [0.25, 1.0]])
    assert dynamic_regret(means, np.array([0, 1, 0, 1])).tolist() == [0, 0.25, 0.5, 0.5]
    assert dynamic_regret(means, np.array([1, 1, 1, 0])).tolist() == [0.25, 0.5, 0.5, 1.25]
    # In constrained coins every other arm loses the gap each round.
    game = play(BanditEnv(ConstrainedCoins(4, 3000, gap=0.3)), "EXP3", seed=5)
    best = np.argmax(np.bincount(game.arms))
    assert game.dynamic_regret[-1] == pytest.approx(0.3 * np.count_nonzero(game.arms != best))


def test_play_states_the_dynamic_regret_beside_the_others():
    """Exact but for one comparison with 5 standard errors of the gains. False alarm: below 1e-6, once for the seed."""
    env = gym.make("DPBandit-Shifting-v0", n_arms=3, horizon=3000, shifts=4, gap=0.5)
    game = play(env, make_algorithm("UCB"), seed=3)
    means = env.unwrapped.adversary.means_at(np.arange(1, 3001))
    assert game.pseudo_regret is None and game.dynamic_regret.shape == (3000,)
    assert game.dynamic_regret[-1] == pytest.approx(0.5 * np.count_nonzero(game.arms != means.argmax(axis=1)))
    # The best arm of each round collects more than any fixed arm; the gains' own chance is below 5 sqrt(T) / 2.
    assert game.dynamic_regret[-1] > game.external_regret[-1] - 5 * np.sqrt(3000) / 2
    stable = play(BanditEnv(Stochastic(means=[0.2, 0.7], horizon=500)), make_algorithm("UCB"), seed=3)
    np.testing.assert_allclose(stable.dynamic_regret, stable.pseudo_regret, atol=1e-9)
    drifting = gym.make("DPBandit-Shifting-v0", horizon=300, budget=2.0)
    assert play(drifting, make_algorithm("EXP3"), seed=0).dynamic_regret[-1] >= 0
    charged = gym.make("DPBandit-Switching-v0", horizon=100)
    assert play(charged, make_algorithm("EXP3"), seed=0).dynamic_regret is None


# ---- the switching-cost adversary


def naive_walk(horizon, sigma, seed, n_arms=4):
    """W_t = W_{t & (t - 1)} + xi_t with W_0 = 0, one round after the other; the best arm is drawn before the xi."""
    rng = stream(seed, role=ADVERSARY)
    best_arm = int(rng.random() * n_arms)
    steps = np.array([rng.normal(0.0, sigma) for _ in range(horizon)])
    walk = np.zeros(horizon + 1)
    for t in range(1, horizon + 1):
        walk[t] = walk[t & (t - 1)] + steps[t - 1]
    return best_arm, steps, walk[1:]


@pytest.mark.parametrize(("horizon", "block"), [(2, 2), (3, 1), (1000, 1000), (1024, 100), (4097, 3)])
def test_walk_equals_the_naive_recursion_with_the_same_stream(horizon, block):
    adversary = SwitchingCost(horizon=horizon)
    adversary.begin(stream(7, role=ADVERSARY))
    best_arm, _, walk = naive_walk(horizon, adversary.sigma, 7)
    assert adversary.best_arm == best_arm
    blocks = [adversary.next_walk(min(block, horizon - start)) for start in range(0, horizon, block)]
    np.testing.assert_array_equal(np.concatenate(blocks), walk)


def test_walk_of_1024_rounds_has_width_11_and_depth_10():
    """Each round's parent is read off the walk: the round p for which W_p is W_t without its own step.

    Dekel et al.: width = max over t of the number of rounds s whose step from their parent passes over t. For
    t = 1024 = 2^10 it reaches the bound floor(log2 T) + 1 = 11. Depth = steps in W_t = ones in t, 10 at t = 1023.
    """
    adversary = SwitchingCost(horizon=1024)
    adversary.begin(stream(2, role=ADVERSARY))
    walk = np.concatenate([[0.0], adversary.next_walk(1024)])
    steps = naive_walk(1024, adversary.sigma, 2)[1]
    parent = np.array([0] + [np.abs(walk[:t] - (walk[t] - steps[t - 1])).argmin() for t in range(1, 1025)])
    later = np.arange(1025)
    assert max(np.count_nonzero((parent < t) & (t <= later)) for t in range(1, 1025)) == 11
    depth = np.zeros(1025, int)
    for t in range(1, 1025):
        depth[t] = depth[parent[t]] + 1
    assert depth.max() == 10
    assert SwitchingCost.memory == 1


def test_constants_at_paper_scale_match_the_formula_by_hand():
    """T = 2^18, K = 4: sigma = 1 / (9 * 18) = 1 / 162; gap = (4 / 2^18)^(1/3) / 162 = 2^(-16/3) / 162 = 1.531e-4."""
    adversary = SwitchingCost(n_arms=4, horizon=2**18)
    assert adversary.sigma == pytest.approx(1 / 162, rel=1e-12)
    assert adversary.gap == pytest.approx(2 ** (-16 / 3) / 162, rel=1e-12)
    assert adversary.gap == pytest.approx(1.531e-4, rel=1e-3)
    assert adversary.gap * 2**18 == pytest.approx(40, rel=0.01)  # all the regret that the hidden arm can cause
    # The lowest bit is that of integers.
    for number in (*range(1, 2049), 3 << 40, 2**53, 2**53 + 2**20, 2**62):
        assert lowest_bit(number) == (number & -number).bit_length() - 1


def test_others_gain_one_half_less_the_walk_and_the_best_is_ahead_by_exactly_the_gap():
    """Gains are near 1/2 and come from three roundings of numbers up to 1: each is off by at most 2^-53."""
    adversary = SwitchingCost(n_arms=5, horizon=1000)
    adversary.begin(stream(4, role=ADVERSARY))
    gains = adversary.next_gains(1000)
    others = np.delete(gains, adversary.best_arm, axis=1)
    np.testing.assert_array_equal(others, others[:, :1].repeat(4, axis=1))
    assert np.abs(gains[:, adversary.best_arm] - others[:, 0] - adversary.gap).max() <= 6 * 2.0**-53
    walk = naive_walk(1000, adversary.sigma, 4, n_arms=5)[2]
    np.testing.assert_allclose(others[:, 0], 0.5 - walk, rtol=0, atol=4e-16)


def test_a_walk_that_leaves_the_range_is_clipped():
    class Steps:
        ahead = iter([3.0, -3.0])  # W_1 = 3, W_2 = -3

        def integers(self, n_arms):
            return 0

        def normal(self, mean, sigma):
            return next(self.ahead)

    adversary = SwitchingCost(n_arms=2, horizon=2)
    adversary.begin(Steps())
    np.testing.assert_array_equal(adversary.next_gains(2), [[0, 0], [1, 1]])
