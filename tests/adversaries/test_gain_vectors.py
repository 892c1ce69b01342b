"""Adversaries of gain vectors: vectors of their set, from the random stream alone, with the direction they state."""

import math

import numpy as np
import pytest

from dp_bandit_envs.adversaries import Alternating, Leaning, OneAxis, VectorTable
from dp_bandit_envs.decisions import Ball, Cube
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.errors import GainFileError, WrongGameError
from tests.tools.refusals import refused

ROUNDS = 700
TABLE = np.random.default_rng(8).uniform(-0.3, 0.3, (ROUNDS, 3))
MAKE = {
    "Leaning": lambda: Leaning(4, ROUNDS),
    "Leaning, all": lambda: Leaning(3, ROUNDS, gap=1.0),
    "OneAxis": lambda: OneAxis(5, ROUNDS),
    "OneAxis, no gap": lambda: OneAxis(2, ROUNDS, gap=0.0),
    "Alternating": lambda: Alternating(3, ROUNDS),
    "VectorTable": lambda: VectorTable(TABLE),
}
every_adversary = pytest.mark.parametrize("make", MAKE.values(), ids=MAKE.keys())


def gains_in_blocks(adversary, lengths, seed=3):
    """Fetch ROUNDS rounds of a new game in blocks of these lengths, the last one repeated to the end."""
    adversary.begin(np.random.default_rng(seed))
    blocks, left, index = [], ROUNDS, 0
    while left:
        rounds = min(lengths[min(index, len(lengths) - 1)], left)
        blocks.append(adversary.next_gains(rounds))
        left, index = left - rounds, index + 1
    return np.concatenate(blocks)


@every_adversary
def test_vectors_are_in_their_set_and_a_game_begins_anew(make):
    adversary = make()
    first = gains_in_blocks(adversary, [100])
    assert Ball(adversary.n_arms).has_gains(first)
    if not isinstance(adversary, Leaning):
        assert Cube(adversary.n_arms).has_gains(first)
    assert first.min() >= adversary.lowest == -1.0
    gains_in_blocks(adversary, [100], seed=4)
    np.testing.assert_array_equal(gains_in_blocks(adversary, [100]), first)


@pytest.mark.parametrize("gap", [0.0, 0.1, 0.6, 1.0])
def test_leaning_vectors_have_the_stated_mean(gap):
    """The mean of u is 0 with covariance I / d, so that of 40,000 rounds is within 6 standard errors of gap v."""
    rounds, d = 40_000, 4
    adversary = Leaning(d, rounds, gap=gap)
    adversary.begin(np.random.default_rng(5))
    gains = adversary.next_gains(rounds)
    direction = adversary._direction
    assert np.linalg.norm(direction) == pytest.approx(1.0)
    np.testing.assert_allclose(gains.mean(axis=0), gap * direction, atol=6 * (1 - gap) / math.sqrt(d * rounds) + 1e-12)
    remains = (gains - gap * direction) / max(1 - gap, 1e-9)
    if gap < 1:
        np.testing.assert_allclose(np.linalg.norm(remains, axis=1), 1.0, atol=1e-9)


@pytest.mark.parametrize("gap", [0.0, 0.3, 1.0])
def test_one_axis_a_round_with_the_stated_chance_of_its_good_sign(gap):
    """Every axis 10,000 times of 40,000, and gap on average in its good direction: within 6 standard errors."""
    rounds, d = 40_000, 4
    adversary = OneAxis(d, rounds, gap=gap)
    adversary.begin(np.random.default_rng(6))
    gains = adversary.next_gains(rounds)
    np.testing.assert_array_equal(np.abs(gains).sum(axis=1), 1.0)
    assert set(np.unique(gains)) <= {-1.0, 0.0, 1.0}
    counts = np.abs(gains).sum(axis=0)
    np.testing.assert_allclose(counts, rounds / d, atol=6 * math.sqrt(rounds * 0.25 * 0.75))
    leads = gains.sum(axis=0) * adversary._signs / counts
    np.testing.assert_allclose(leads, gap, atol=6 / math.sqrt(counts.min()) * math.sqrt(1 - gap**2) + 1e-12)


def test_good_signs_differ_from_game_to_game():
    adversary = OneAxis(20, 9)
    signs = set()
    for seed in range(10):
        adversary.begin(np.random.default_rng(seed))
        signs.add(tuple(adversary._signs))
    assert len(signs) == 10


def test_alternating_vectors_by_hand():
    gains = gains_in_blocks(Alternating(2, ROUNDS), [3])
    assert gains[:5].tolist() == [[0.5, 0.0], [-1.0, 0.0], [1.0, 0.0], [-1.0, 0.0], [1.0, 0.0]]


def test_a_table_is_played_row_by_row():
    np.testing.assert_array_equal(gains_in_blocks(VectorTable(TABLE), [50]), TABLE)
    assert VectorTable(TABLE, 5).horizon == 5


def test_what_a_table_says_of_itself_depends_on_no_entry():
    """Nor is an error: one negative coordinate would show in which games refuse the table."""
    for table in ([[0.0, 1.0], [0.5, 0.5]], [[0.0, 1.0], [-0.5, 0.5]]):
        assert VectorTable(table).lowest == -1.0
        with refused(WrongGameError, "VectorTable"):
            BanditEnv(VectorTable(table))


@pytest.mark.parametrize(
    "wrong",
    [[[0.5]], [0.5, 0.5], [], [[0.1, 0.2], [0.3]], [["a", "b"]], [[0.1, 1.5]], [[math.nan, 0.1]], [[math.inf, 0]]],
)
def test_wrong_tables_are_refused(wrong):
    with refused(GainFileError):
        VectorTable(wrong)
