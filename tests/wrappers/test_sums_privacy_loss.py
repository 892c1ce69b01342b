"""The exact privacy loss of whole games through the wrappers that release sums, against what they declare.

`tests.tools.sums_noise` finds the linear map from draws and gains to everything that comes out; see there for why its
cheapest shift is the loss.
"""

import functools
import itertools
import math

import numpy as np
import pytest

from dp_bandit_envs.adversaries.replay import GainTable
from dp_bandit_envs.privacy.counters import COUNTERS
from dp_bandit_envs.privacy.mechanisms.block_sums import RestartedSums
from dp_bandit_envs.wrappers import (
    BatchSums,
    BlockSums,
    CounterSums,
    HybridSums,
    IntervalSums,
    MiniBatchAverage,
    PrivacyBoundary,
)
from tests.privacy.test_groups_and_games import delta_by_convolution
from tests.tools.boundary_games import RevealsBoth, game
from tests.tools.sums_noise import laplace_loss, linear_map

EPSILON = 0.7
ROUNDS = 12
ARMS = [0, 1, 0, 0, 1, 0, 0, 0, 1, 0, 1, 0]
"""Eight plays of arm 0 and four of arm 1."""
LAPLACE = [name for name in COUNTERS if name != "square-root"]


# ---- counters ------------------------------------------------------------------------------------------------------


@pytest.mark.thorough
@pytest.mark.parametrize(("pad", "name"), [(pad, name) for name in LAPLACE for pad in (False, True)])
def test_no_round_loses_more_than_epsilon(pad, name):
    """Arms compose in parallel, each with a counter made for 12 items; padded ones get an item in every round."""
    wrap = functools.partial(CounterSums, epsilon=EPSILON, counter=name, pad_unplayed=pad)
    losses = laplace_loss(linear_map(wrap, ARMS, ROUNDS))
    assert losses.min() > 0 or name == "logarithmic"
    assert losses.max() <= EPSILON * (1 + 1e-9)
    assert wrap(game(np.zeros((ROUNDS, 2)))).guarantee.epsilon == EPSILON


ATTAINED = [
    *[(name, 12) for name in ("logarithmic", "binary", "honaker", "hybrid", "segment-trees", "smooth-binary")],
    # Three levels of base 3 hold 13 items.
    ("k-ary", 13),
]


@pytest.mark.thorough
def test_some_round_loses_exactly_epsilon():
    """One arm is played throughout. Neither too little noise nor more than the guarantee asks for."""
    for pad in [False, True]:
        for name, rounds in ATTAINED:
            more = {"base": 3} if name == "k-ary" else {}
            wrap = functools.partial(CounterSums, epsilon=EPSILON, counter=name, pad_unplayed=pad, **more)
            losses = laplace_loss(linear_map(wrap, [0] * rounds, rounds))
            assert losses.max() == pytest.approx(wrap(game(np.zeros((rounds, 2)))).guarantee.epsilon, rel=2e-9)


@pytest.mark.parametrize("pad", [False, True])
def test_losses_of_the_default_by_hand(pad):
    """T = 8, epsilon = 1, arm 1 in rounds 0, 4 and 6. Logarithmic draws have scale 2, tree nodes 2 k.

    As one counter of 8 items (padded): items 1, 2, 4, 8 enter one logarithmic draw, 1/2; item 3 the only node of its
    tree as well, 1; items 5 to 7 a tree of two levels: 5 enters two nodes of scale 4, 6 and 7 one, with 1/2 for the
    logarithmic draw that is made at 8. Not padded, arm 0 has items 1 to 5: the last enters one node of scale 4, 1/4,
    and no draw at 8; the others are as before. Arm 1 has items 1 to 3, and none of the draw at 4: 1/2 each.
    """
    arms = [1, 0, 0, 0, 1, 0, 1, 0]
    losses = laplace_loss(linear_map(functools.partial(HybridSums, epsilon=1.0, pad_unplayed=pad), arms, 8))
    by_hand = [0.5, 0.5, 1.0, 0.5, 1.0, 0.75, 0.75, 0.5] if pad else [0.5, 0.5, 0.5, 1.0, 0.5, 0.5, 0.5, 0.25]
    assert losses == pytest.approx(by_hand, rel=2e-9)


def test_the_papers_budget_loses_twice_epsilon_and_says_so():
    """Erratum 1 of algorithms 1 and 2: both parts of the hybrid counter with all of epsilon."""
    wrap = functools.partial(HybridSums, epsilon=EPSILON, budget="paper")
    losses = laplace_loss(linear_map(wrap, [0] * 12, 12))
    assert losses.max() == pytest.approx(2 * EPSILON, rel=2e-9)
    assert wrap(game(np.zeros((12, 2)))).guarantee.epsilon == 2 * EPSILON


@pytest.mark.thorough
@pytest.mark.parametrize("pad", [False, True])
def test_the_square_root_counter_moves_by_no_more_than_its_rho(pad):
    """Gaussian noise: the loss is the distance ||R_j|| / sigma, and rho half its square. Padded, round 1 attains it."""
    wrap = functools.partial(CounterSums, epsilon=EPSILON, counter="square-root", delta=1e-4, pad_unplayed=pad)
    found = linear_map(wrap, ARMS, ROUNDS)
    answer = np.linalg.lstsq(found.noise * found.scales, found.moves, rcond=None)[0]
    assert np.abs(found.noise * found.scales @ answer - found.moves).max() < 1e-7
    rho = (answer**2).sum(axis=0) / 2
    declared = wrap(game(np.zeros((ROUNDS, 2)))).guarantee
    assert (declared.epsilon, declared.delta) == (EPSILON, 1e-4)
    assert rho.max() <= declared.rho * (1 + 1e-9)
    if pad:
        assert rho[0] == pytest.approx(declared.rho, rel=1e-6)


def test_a_gain_of_the_other_arm_is_never_seen():
    """The whole row of a round changes, and only the entry of the arm played comes out, in that arm's sum only."""
    found = linear_map(functools.partial(HybridSums, epsilon=EPSILON), ARMS, ROUNDS)
    moves = found.moves.reshape(ROUNDS, 2, ROUNDS)
    for changed, arm in enumerate(ARMS):
        assert not moves[:, 1 - arm, changed].any()
        assert moves[:, arm, changed].tolist() == [float(t >= changed) for t in range(ROUNDS)]


# ---- blocks --------------------------------------------------------------------------------------------------------


def in_full_blocks(lengths, arms) -> list[bool]:
    """Return for each round whether its gain is in a block that fills up within the game."""
    full = []
    for t, arm in enumerate(arms):
        n = sum(played == arm for played in arms[: t + 1])
        total = sum(played == arm for played in arms)
        ends = list(itertools.accumulate([*lengths, *[lengths[-1]] * len(arms)]))
        full.append(next(end for end in ends if end >= n) <= total)
    return full


@pytest.mark.thorough
@pytest.mark.parametrize("keep", [False, True])
@pytest.mark.parametrize(
    ("arguments", "lengths"),
    [
        ({"ratio": 2}, [1, 1, 2, 4, 8]),
        ({"ratio": 1.1}, [1]),  # 1.1 times up to 9 gains, rounded up, is one more
        ({"ratio": 1}, [1]),
        ({"lengths": [3, 2]}, [3, 2]),
        ({"lengths": [5]}, [5]),
    ],
)
def test_a_gain_in_a_block_that_was_released_loses_exactly_epsilon(arguments, lengths, keep):
    """Whether blocks are kept or forgotten: every release ever made counts. A block still open loses nothing."""
    wrap = functools.partial(BlockSums, epsilon=EPSILON, keep=keep, **arguments)
    losses = laplace_loss(linear_map(wrap, ARMS, ROUNDS))
    expected = [EPSILON if full else 0.0 for full in in_full_blocks(lengths, ARMS)]
    assert losses == pytest.approx(expected, rel=2e-9)
    assert wrap(game(np.zeros((ROUNDS, 2)))).guarantee.epsilon == EPSILON
    # First, middle and last round by hand: arm 0 has 8 = 3 + 2 + 2 + 1 gains, and the last one's block stays open.
    if arguments == {"lengths": [3, 2]}:
        assert losses[[0, 5, 11]].tolist() == pytest.approx([EPSILON, EPSILON, 0.0])


def test_a_gain_in_a_block_that_a_restart_drops_loses_nothing():
    """Period 5. Arm 0 fills blocks of 1 and 1 in rounds 0 and 2, and begins one of 2 in round 3, which is dropped."""

    def wrap(env):
        return PrivacyBoundary(env, RestartedSums(epsilon=EPSILON, period=5))

    losses = laplace_loss(linear_map(wrap, ARMS, ROUNDS))
    assert losses == pytest.approx([0.0 if t == 3 else EPSILON for t in range(ROUNDS)], rel=2e-9)
    assert wrap(game(np.zeros((ROUNDS, 2)))).guarantee.epsilon == EPSILON


@pytest.mark.parametrize("both", [False, True])
def test_a_gain_in_a_full_block_with_gaussian_noise_loses_rho(both):
    """Half the squared distance of what comes out, in standard deviations; a gain of an open block loses nothing."""
    wrap = functools.partial(BlockSums, epsilon=EPSILON, delta=1e-5)
    make = (lambda table: RevealsBoth(GainTable(table))) if both else game
    noise, scales, moves = linear_map(wrap, ARMS, ROUNDS, make)
    shift = np.linalg.lstsq(noise * scales, moves, rcond=None)[0]
    assert noise * scales @ shift == pytest.approx(moves, abs=1e-6)
    declared = wrap(make(np.zeros((ROUNDS, 2)))).guarantee
    assert (declared.epsilon, declared.delta) == (EPSILON, 1e-5)
    rho = (shift**2).sum(axis=0) / 2
    lost = rho[rho > 0]
    assert len(lost) > ROUNDS // 2 and lost.max() == pytest.approx(declared.rho, rel=1e-6)
    assert both or lost == pytest.approx([declared.rho] * len(lost), rel=1e-6)


# ---- batches -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("both", [False, True])
@pytest.mark.parametrize("lengths", [[3, 4], [2], [5], [12], [13]])
def test_a_gain_in_a_batch_that_ended_loses_exactly_epsilon(lengths, both):
    """A batch ends for all arms at once; one still open loses nothing. With both arms' gains seen, two sums move."""
    wrap = functools.partial(BatchSums, epsilon=EPSILON, lengths=lengths)
    make = (lambda table: RevealsBoth(GainTable(table))) if both else game
    ends = [end for end in itertools.accumulate(lengths + lengths[-1:] * ROUNDS) if end <= ROUNDS]
    expected = [EPSILON if t < max(ends, default=0) else 0.0 for t in range(ROUNDS)]
    assert laplace_loss(linear_map(wrap, ARMS, ROUNDS, make)) == pytest.approx(expected, rel=2e-9)
    assert wrap(make(np.zeros((ROUNDS, 2)))).guarantee.epsilon == EPSILON


@pytest.mark.parametrize("both", [False, True])
def test_a_gain_in_a_batch_with_gaussian_noise_loses_rho(both):
    """Half the squared distance of what comes out, in standard deviations: each release has a draw of its own."""
    wrap = functools.partial(BatchSums, epsilon=EPSILON, delta=1e-5, lengths=[3, 4])
    make = (lambda table: RevealsBoth(GainTable(table))) if both else game
    noise, scales, moves = linear_map(wrap, ARMS, ROUNDS, make)
    shift = np.linalg.lstsq(noise * scales, moves, rcond=None)[0]
    assert noise * scales @ shift == pytest.approx(moves, abs=1e-6)
    declared = wrap(make(np.zeros((ROUNDS, 2)))).guarantee
    assert (declared.epsilon, declared.delta) == (EPSILON, 1e-5)
    rho = (shift**2).sum(axis=0) / 2
    assert rho[:11] == pytest.approx([declared.rho] * 11, rel=1e-6) and rho[11] == 0


# ---- intervals -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("intervals", "v", "epsilon"),
    [("uniform", 1.1, 16.0), ("lemma", 1.1, 16.0), ("lemma", 1.5, 4), ("pure", 1.1, 4)],
)
def test_a_gain_pays_at_every_release_that_covers_it(intervals, v, epsilon):
    """Release j covers W_j gains with noise W_j^(v/2) on the sum: W_j^(-v/2) each, added up from the first W_j >= n."""
    rounds = 16
    arms = [0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0]
    wrap = functools.partial(IntervalSums, epsilon=epsilon, v=v, intervals=intervals)
    mechanism = wrap(game(np.zeros((rounds, 2)))).mechanism
    ends = [int(end) for end in mechanism.ends(rounds)]
    assert 2 <= len(ends) < rounds and ends[-1] <= rounds
    found = linear_map(wrap, arms, rounds)
    drawn = [end ** (v / 2) for t, arm in enumerate(arms) for end in ends if arms[: t + 1].count(arm) == end]
    assert found.scales.tolist() == pytest.approx(drawn, rel=2e-9)
    losses = laplace_loss(found)
    for t, arm in enumerate(arms):
        n, total = arms[: t + 1].count(arm), arms.count(arm)
        assert losses[t] == pytest.approx(sum(end ** (-v / 2) for end in ends if n <= end <= total), rel=2e-9)
    assert losses[0] > 0  # the first gain pays most
    assert losses[0] == losses.max()


@pytest.mark.thorough
@pytest.mark.parametrize("delta", [1e-8, 0.3])
@pytest.mark.parametrize(("rounds", "target"), [(16, 16.0), (600, 1.0), (1500, 16.0)])
def test_what_intervals_declare_follows_from_their_ends(rounds, target, delta):
    """The ends say which releases there are; what they spend is added up here.

    Attained: the first gain of an arm that is played throughout is in all releases, so the pure loss is the sum of
    W_j^(-v/2), and rho is half the sum of their squares (Bun and Steinke 2016, proposition 1.4). The declared epsilon
    is at most the pure one, that of rho, the least over alpha, and the target; and it is enough and needed for its
    delta, by convolution of rounded losses.
    """
    env = IntervalSums(game(np.zeros((rounds, 2))), epsilon=target, delta=delta)
    losses = [float(end) ** -0.55 for end in env.mechanism.ends(rounds)]
    rho = sum(loss**2 for loss in losses) / 2
    alpha = 1 + np.geomspace(1e-4, 1e4, 100_000)
    over = alpha * rho + (math.log(1 / delta) - np.log(alpha)) / (alpha - 1) + np.log1p(-1 / alpha)
    concentrated = max(0.0, over.min())
    assert env.guarantee.rho == pytest.approx(rho, rel=1e-10)
    assert env.guarantee.rho >= rho * (1 - 1e-15)
    found = env.guarantee.epsilon
    assert env.guarantee.pure == pytest.approx(sum(losses), rel=2e-9)
    assert found <= min(sum(losses), concentrated) * (1 + 1e-9) and found <= target
    assert env.guarantee.delta == (0.0 if found == env.guarantee.pure else delta)
    if len(losses) <= 16 and found > 0:
        step = sum(losses) / 20_000
        assert delta_by_convolution(losses, found, up=False, step=step) <= delta
        slack = 0.003 * found + step * len(losses)
        assert delta_by_convolution(losses, found - slack, up=True, step=step) > delta
    if rounds <= 16:
        wrap = functools.partial(IntervalSums, epsilon=target, delta=delta)
        assert laplace_loss(linear_map(wrap, [0] * rounds, rounds), [0])[0] == pytest.approx(sum(losses), rel=2e-9)


# ---- sensitivity ---------------------------------------------------------------------------------------------------


def three(table):
    """Return a game that declares a sensitivity of 3."""
    env = game(table)
    env.sensitivity = 3.0
    return env


def batches(table):
    """Return a game in batches of 5."""
    return MiniBatchAverage(game(table), batch_size=5)


WRAPS = {
    "counter": lambda env: HybridSums(env, epsilon=EPSILON),
    "padded": lambda env: CounterSums(env, epsilon=EPSILON, counter="segment-trees", pad_unplayed=True),
    "blocks": lambda env: BlockSums(env, epsilon=EPSILON),
    "intervals": lambda env: IntervalSums(env, epsilon=16.0),
}


@pytest.mark.thorough
@pytest.mark.parametrize("kind", WRAPS)
def test_a_game_of_sensitivity_three_gets_three_times_the_noise(kind):
    """Measured as noise in what comes out: a draw may be multiplied afterwards."""
    one, other = (linear_map(WRAPS[kind], ARMS, ROUNDS, make) for make in (game, three))
    np.testing.assert_allclose(other.noise * other.scales, 3 * one.noise * one.scales, rtol=1e-10, atol=1e-10)
    np.testing.assert_array_equal(one.moves, other.moves)


@pytest.mark.thorough
@pytest.mark.parametrize("kind", WRAPS)
def test_around_batches_of_five_there_is_a_fifth_of_the_noise_and_the_same_loss(kind):
    """Sixty rounds in batches of 5 are 12 steps; a round moves one average by 1/5, or 2^-30 more when rounded."""
    single = linear_map(WRAPS[kind], ARMS, ROUNDS)
    found = linear_map(WRAPS[kind], ARMS, 5 * ROUNDS, batches)
    np.testing.assert_allclose(found.noise * found.scales, single.noise * single.scales * (0.2 + 2.0**-30), rtol=1e-10)
    # The fifth of a gain is rounded to the grid, a thousandth of the noise, and then made exact again.
    exact = np.where(found.moves > 0.1, 0.2, 0.0)
    assert np.abs(found.moves - exact).max() < 2e-3
    losses = laplace_loss(found._replace(moves=exact))
    assert losses == pytest.approx(np.repeat(laplace_loss(single), 5), rel=1e-6)


@pytest.mark.thorough
@pytest.mark.parametrize("kind", WRAPS)
def test_a_round_that_reveals_both_arms_loses_no_more_than_epsilon(kind):
    """Sensitivity 2: the gains of both arms change at once, and enter two sums."""
    found = linear_map(WRAPS[kind], ARMS, ROUNDS, lambda table: RevealsBoth(GainTable(table)))
    assert found.moves.reshape(ROUNDS, 2, ROUNDS)[-1].sum(axis=0).max() == 2.0
    declared = WRAPS[kind](RevealsBoth(GainTable(np.zeros((ROUNDS, 2))))).guarantee
    losses = laplace_loss(found)
    pure = declared.epsilon
    if kind == "intervals":
        ends = WRAPS[kind](game(np.zeros((ROUNDS, 2)))).mechanism.ends(ROUNDS)
        pure = sum(float(end) ** -0.55 for end in ends)
    assert losses.max() == pytest.approx(pure, rel=2e-9)


# ---- more than is claimed is seen, and what is no item -----------------------------------------------------------


def test_redrawn_noise_loses_more_with_every_round_that_an_arm_waits():
    """Arm 0 is played three times and reaches its first end, then arm 1: each wait tells arm 0's mean again.

    f = ceil(1 / input) = 3 for epsilon = 16, v = 1.1 and delta = e^-10: L = 10, zeta(1.1) = 10.584, so the input is
    (sqrt(74 / 84.68) - sqrt(10 / 84.68))^2 = 0.349. One release costs 3^-0.55 = 0.5465.
    """
    for waits in (0, 1, 5, 9):
        rounds = 3 + waits
        wrap = functools.partial(IntervalSums, epsilon=16.0, intervals="uniform", release="redraw")
        env = wrap(game(np.zeros((rounds, 2))))
        assert env.guarantee.model == "none"
        arms = [0, 0, 0] + [1] * waits
        assert laplace_loss(linear_map(wrap, arms, rounds), [0])[0] == pytest.approx((1 + waits) * 3**-0.55, rel=2e-9)
        once = functools.partial(IntervalSums, epsilon=16.0, intervals="uniform")
        assert laplace_loss(linear_map(once, arms, rounds), [0])[0] == pytest.approx(3**-0.55, rel=2e-9)


@pytest.mark.thorough
@pytest.mark.parametrize("counter", ["binary", "honaker", "smooth-binary", "k-ary", "hybrid"])
def test_the_rest_of_a_game_below_batches_is_no_item(counter):
    """11 rounds in batches of 2 are 5 averages and a last step that reveals nothing; 5 items is what counters know."""

    def wrap(env):
        batches_of_two = MiniBatchAverage(env, batch_size=2)
        return CounterSums(batches_of_two, epsilon=1.0, counter=counter, pad_unplayed=True)

    found = linear_map(wrap, [0] * 6, 11)
    # An average of two gains moves by a half, which the grid keeps.
    assert set(np.unique(found.moves)) == {0.0, 0.5}
    assert laplace_loss(found).max() <= 1.0 + 1e-9
