"""Arms that are good or bad together, and blocks with a leader of their own: means by hand, gains, and who is best."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import chi2

from dp_bandit_envs import play, simulate
from dp_bandit_envs.adversaries import ConstrainedCoins, LeaderBlocks
from dp_bandit_envs.adversaries.constrained import first_rounds
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.simulation.engines import always_compiled
from tests.tools.refusals import refused


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


def test_certain_phases_pay_what_the_means_say():
    """At gap 1 the best arm always pays 1 and the others 0; at a tiny gap, all pay 1 or 0 by the phase alone."""
    adversary = begun(ConstrainedCoins(4, 5000, gap=1.0), 3)
    np.testing.assert_array_equal(adversary.next_gains(5000), np.tile(adversary.order == 0, (5000, 1)))
    adversary = begun(ConstrainedCoins(4, 5000, gap=1e-12), 3)
    phases = np.round(adversary.means_at(np.arange(1, 5001)))
    np.testing.assert_array_equal(adversary.next_gains(5000), phases)
    assert set(np.unique(phases)) == {0.0, 1.0}


def test_no_rounding_of_a_logarithm_moves_a_phase():
    """Around the first round of every phase up to 2^53, the rule of one round and the table of means agree."""
    adversary = begun(ConstrainedCoins(2, 2**53, gap=1e-12), 1)
    starts = first_rounds(2**53)
    rounds = np.concatenate([starts[:-2] + shift for shift in (-1, 0, 1)])
    rounds = rounds[(rounds >= 1) & (rounds <= 2**53)]
    row, rng = np.empty(2), np.random.default_rng(0)
    for t, means in zip(rounds.tolist(), adversary.means_at(rounds), strict=True):
        adversary.next_round(adversary._state, t, row, rng)
        assert row.tolist() == np.round(means).tolist(), t


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


@pytest.mark.parametrize(
    "adversary", [ConstrainedCoins(4, 20_000), LeaderBlocks(4, 20_000)], ids=["Constrained", "Leaders"]
)
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


def test_in_constrained_coins_every_other_arm_loses_the_gap_each_round():
    game = play(BanditEnv(ConstrainedCoins(4, 3000, gap=0.3)), "EXP3", seed=5)
    best = np.argmax(np.bincount(game.arms))
    assert game.dynamic_regret[-1] == pytest.approx(0.3 * np.count_nonzero(game.arms != best))


@pytest.mark.parametrize(("made", "argument", "wrong"), [
    (ConstrainedCoins, "gap", 0.0), (ConstrainedCoins, "gap", 1.5), (ConstrainedCoins, "gap", math.nan),
    (LeaderBlocks, "gap", 0.0), (LeaderBlocks, "gap", -1.0), (LeaderBlocks, "blocks", 0), (LeaderBlocks, "blocks", 1.5),
])  # fmt: skip
def test_wrong_arguments_are_refused_by_name(made, argument, wrong):
    with refused(ValueError, argument, wrong):
        made(**{argument: wrong})
