"""Wrappers that release sums: what they hand on, how often noise is drawn, its grid, the exact loss of games."""

import functools
import itertools
import math
import warnings

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from dp_bandit_envs import wrappers
from dp_bandit_envs.adversaries.replay import GainTable
from dp_bandit_envs.privacy import mechanisms
from dp_bandit_envs.privacy.counters import COUNTERS, make_counter
from dp_bandit_envs.privacy.facts import InputFacts, gains_of_arms
from dp_bandit_envs.privacy.mechanisms.block_sums import RestartedSums
from dp_bandit_envs.wrappers import (
    BatchSums,
    BlockSums,
    CounterSums,
    HybridSums,
    IntervalSums,
    MiniBatchAverage,
    PrivacyBoundary,
    vector,
)
from tests.privacy.test_groups_and_games import delta_by_convolution
from tests.tools.boundary_games import OWN_NOISE, SUMS, RevealsBoth, act, game, games, summed
from tests.tools.counter_noise import LAPLACE
from tests.tools.doors import one_each
from tests.tools.fake_draws import Counting, Impulse, cheapest_shift
from tests.tools.sums_noise import laplace_loss, linear_map, play
from tests.tools.vector_sums import FACTS, OneNode, ball, box, cross_polytope, experts, factor_of, released

TABLE = [[0.25, 0.5], [0.5, 1.0], [0.0, 0.75], [1.0, 0.125]]
FORMS = {"scalar": game, "vector": lambda table, **options: games(1, table, **options)}


@pytest.fixture(params=FORMS)
def make(request):
    """A maker of games, scalar and vector."""
    return FORMS[request.param]


def step(env, arm):
    """Play one arm; return sum, count, reward, ended and info of game 0 as plain numbers."""
    observation, reward, terminated, truncated, info = env.step(act(env, arm))
    assert set(observation) == {"sum", "count", "release"}
    assert set(info) == ({"round"} if isinstance(env, gym.Env) else {"round", "_round"})
    return (
        observation["sum"].ravel().tolist(),
        observation["count"].ravel().tolist(),
        float(np.ravel(reward)[0]),
        bool(np.all(terminated | truncated)),
        int(np.ravel(info["round"])[0]),
    )


def wrapper_of(name, make):
    """Return a wrapper in the form that goes around such games."""
    return getattr(wrappers if make is game else vector, name)


def test_sums_counts_and_rewards_by_hand(make):
    env = wrapper_of("ExactSums", make)(make(TABLE))
    for _ in range(2):  # nothing is left of the game before
        observation, info = env.reset(seed=0)
        assert not any(np.any(part) for part in observation.values()) and int(np.ravel(info["round"])[0]) == 0
        assert step(env, 0) == ([0.25, 0.0], [1, 0], 0.25, False, 1)
        assert step(env, 1) == ([0.25, 1.0], [1, 1], 1.0, False, 2)
        assert step(env, 0) == ([0.25, 1.0], [2, 1], 0.125, False, 3)  # 0.25 / 2, not the gain 0
        assert step(env, 1) == ([0.25, 1.125], [2, 2], 0.5625, True, 4)


def test_blocks_that_forget_by_hand(make):
    """Arm 0 in blocks of 1, 1, 2 (ratio 2) without noise: gains 1/4, 1/2, then 0 and 1 together."""
    for keep, by_hand in (
        (False, [(0.25, 1), (0.5, 1), (0.5, 1), (1.0, 2)]),
        (True, [(0.25, 1), (0.75, 2), (0.75, 2), (1.75, 4)]),
    ):
        env = wrapper_of("BlockSums", make)(make(TABLE), epsilon=math.inf, keep=keep)
        env.reset(seed=0)
        for t, (total, count) in enumerate(by_hand, start=1):
            assert step(env, 0) == ([total, 0.0], [count, 0], total / count, t == 4, t)


def test_intervals_wait_for_their_ends_by_hand(make):
    """Epsilon = 16: the input is 0.349 (see redrawn noise below), so intervals of ceil(1 / 0.349) = 3 gains."""
    env = wrapper_of("IntervalSums", make)(make(TABLE), epsilon=16.0, intervals="uniform")
    assert env.mechanism.ends(4).tolist() == [3]
    env.reset(seed=0)
    assert [step(env, 1) for _ in range(2)] == [([0.0, 0.0], [0, 0], 0.0, False, t) for t in (1, 2)]
    sums, counts, reward, *_ = step(env, 1)
    assert counts == [0, 3] and sums[0] == 0.0
    assert sums[1] != 2.25 and reward == sums[1] / 3  # noise of scale 3^0.55
    assert step(env, 0) == (sums, counts, 0.0, True, 4)  # held; nothing is known of arm 0


ABOUT_THE_WRAPPER = (
    "different from the unwrapped version",
    "minimum value is -infinity",  # noise can carry a sum anywhere
    "maximum value is infinity",
    "Not able to test alternative render modes",  # as a boundary shows no spec
)


def test_gymnasiums_own_check_passes():
    """Its warnings are errors, but for those that say what a boundary is for."""
    for kind in ("Running", "Hybrid, hybrid", "Interval, lemma", "Block(MiniBatch)"):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            check_env(summed(game(np.full((14, 2), 0.5)), kind))
        others = [str(w.message) for w in caught if not any(known in str(w.message) for known in ABOUT_THE_WRAPPER)]
        assert not others


# ---- how often noise is drawn by the wrappers that release sums, and the grid that noisy sums lie on


def draws(env, arms) -> list[int]:
    """Return how many draws each step makes."""
    env.reset(seed=0)
    env._run._rng = rng = Counting()
    made = [0]
    for arm in arms:
        env.step(arm)
        made.append(rng.draws)
    return np.diff(made).tolist()


def zeros(rounds: int):
    """Return a game without gains."""
    return game(np.zeros((rounds, 2)))


@pytest.mark.parametrize(("release", "again"), [("once", 0), ("redraw", 1)])
def test_an_interval_is_drawn_once_however_long_its_arm_waits_and_again_if_it_is_redrawn(release, again):
    """Ends at 3, 6, ... (epsilon = 16, uniform): one draw for arm 0, then ten for the 30 gains of arm 1.

    Erratum 5: redrawn, arm 0 has 30 draws more as it waits. Arm 1 never waits while it is played.
    """
    env = IntervalSums(zeros(33), epsilon=16.0, intervals="uniform", release=release)
    arms = [0] * 3 + [1] * 30
    assert draws(env, arms) == [0, 0, 1] + [again, again, 1 + again] * 10
    sums, counts = play(env, arms, np.random.default_rng(1))
    assert len(set(sums[2:, 0].tolist())) == 1 + 30 * again and sums[2, 0] != 0
    assert set(counts[2:, 0].tolist()) == {3}
    if again:
        assert env.guarantee.model == "none" and env.guarantee.epsilon == math.inf
        assert "drawn again in every round" in env.guarantee.theorem


def test_redraw_does_not_draw_for_an_arm_between_two_ends():
    """Arm 0 has 4 gains: its fourth is not told, and the third's mean is not told again."""
    env = IntervalSums(zeros(12), epsilon=16.0, intervals="uniform", release="redraw")
    assert draws(env, [0, 0, 0, 0, *[1] * 8]) == [0, 0, 1, 0, 0, 0, 1, 0, 0, 1, 0, 0]


# ---- draws


@pytest.mark.thorough
def test_the_average_of_redrawn_noise_tells_the_mean():
    """The attack: n draws of scale 3^0.55 around 3 gains of 0.8 average to 2.4, to within five standard errors.

    Drawn once, the average is the first number told, and no closer than one draw.

    False alarm: 4e-5 (five standard errors, two sides; and four single draws that close, 0.076^4).
    """
    n, scale = 8_000, 3**0.55

    def close(release, seed, waits):
        options = {"epsilon": 16.0, "intervals": "uniform", "delta": math.exp(-10), "release": release}
        env = IntervalSums(game(np.full((waits + 3, 2), 0.8)), **options)
        sums, _ = play(env, [0] * 3 + [1] * waits, np.random.default_rng(seed))
        return abs(sums[2:, 0].mean() - 2.4) < 5 * scale * math.sqrt(2 / n)

    assert close("redraw", 2, n)
    assert not all(close("once", seed, 9) for seed in (2, 3, 4, 5))


@pytest.mark.parametrize("keep", [False, True])
@pytest.mark.parametrize(
    ("arguments", "ends"),
    [
        ({"ratio": 2}, [1, 2, 4, 8, 16, 32]),
        # ceil(1.1 n): one more up to 10, then 11, 13, 15, 17, 19, 21, 24, 27, 30, 33
        ({"ratio": 1.1}, [*range(1, 12), 13, 15, 17, 19, 21, 24, 27, 30, 33]),
        ({"ratio": 1}, list(range(1, 34))),
        ({"lengths": [2, 5]}, [2, 7, 12, 17, 22, 27, 32]),
    ],
)
def test_a_block_is_drawn_once(arguments, ends, keep):
    """At the gain that fills it, and never for an arm that waits."""
    env = BlockSums(zeros(40), epsilon=1.0, keep=keep, **arguments)
    made = draws(env, [0] * 33 + [1] * 7)
    assert [t + 1 for t in np.flatnonzero(made[:33])] == ends
    assert max(made) == 1
    assert [t + 1 for t in np.flatnonzero(made[33:])] == [end for end in ends if end <= 7]


@pytest.mark.parametrize("name", COUNTERS)
def test_counters_of_arms_that_were_not_played_draw_only_if_padded(name):
    some, state, rng = make_counter(name, epsilon=1.0, horizon=13), None, Counting()
    alone = []  # how many draws the counter makes for each item
    for _ in range(13):
        state, before = state or some.new_state(1), rng.draws
        some.noise(state, 0, rng)
        alone.append(rng.draws - before)
    arms = [0] * 11 + [1] * 2
    env = CounterSums(zeros(13), epsilon=1.0, counter=name)
    assert draws(env, arms) == alone[:11] + alone[:2]
    sums, counts = play(env, arms, np.random.default_rng(0))
    assert not sums[:11, 1].any() and not counts[:11, 1].any()
    padded = CounterSums(zeros(13), epsilon=1.0, counter=name, pad_unplayed=True)
    assert draws(padded, arms) == [2 * drawn for drawn in alone]
    sums, counts = play(padded, arms, np.random.default_rng(0))
    assert sums[11:, 1].all() or name == "logarithmic"
    assert not sums[:11, 1].any() and not counts[:11, 1].any()  # an item 0 is no gain


def test_infinite_epsilon_draws_nothing_and_is_exact():
    """Every sum is that of so many gains of its arm in a row, and of all from the first one if it is kept.

    Gains are multiples of 1/64, so that sums are exact in whatever order they are added up.
    """
    table = np.random.default_rng(4).integers(0, 65, (14, 2)) / 64
    for kind in [kind for kind in OWN_NOISE if "(Response)" not in kind]:
        size = 2 if "M" in SUMS[kind][0] else 1
        arms = [0, 1, 1, 0, 0, 0, 0, 1, 0, 1, 1, 0, 0, 0][: 14 // size]
        means, rng = table.reshape(-1, size, 2).mean(axis=1), Counting()
        sums, counts = play(summed(game(table), kind, epsilon=math.inf), arms, rng)
        assert rng.draws == 0 and counts.max() >= 1 and sums.any()
        forgets = kind == "BatchSums" or (kind.startswith("Block") and kind != "Block, kept")
        for t, arm in itertools.product(range(len(arms)), (0, 1)):
            gains, count = [means[s, arm] for s in range(t + 1) if arms[s] == arm], counts[t, arm]
            rows = [sum(gains[first : first + count]) for first in range(len(gains) - count + 1 if forgets else 1)]
            assert sums[t, arm] in rows


# ---- the grid

GRIDS = {
    # The largest power of two up to the smallest deviation, over 256, for T = 13, which takes 4 levels in base 2.
    "logarithmic": 2.0**-8,  # scale 1, deviation 1.4
    "binary": 2.0**-6,  # 4, 5.7
    "honaker": 2.0**-6,  # that of a leaf
    "hybrid": 2.0**-7,  # 2, 2.8
    "segment-trees": 2.0**-8,  # 1, 1.4
    "smooth-binary": 2.0**-6,  # 3, 4.2, as C(6, 3) = 20 > 13 and C(5, 3) is not
}


def gains_of_all_sorts(rounds: int) -> list[np.ndarray]:
    """Return tables of gains that are no multiples of anything, that nearly are, and an end."""
    odd = (0.1, 2.0**-9 + 2.0**-40, np.nextafter(1.0, 0.0), 1.0)
    return [np.random.default_rng(6).random((rounds, 2)), *(np.full((rounds, 2), gain) for gain in odd)]


def check_grid(wrap, grid: float, rounds: int, steps: int) -> None:
    """Assert that sums are multiples of this number, whatever the gains, and not all of twice it."""
    finer = False
    for table in gains_of_all_sorts(rounds):
        for seed in range(2):
            arms = [t % 2 for t in range(steps)]
            sums, _ = play(wrap(game(table)), arms, np.random.default_rng(seed))
            assert not (sums % grid).any()
            finer |= bool((sums % (2 * grid)).any())
    assert finer


@pytest.mark.thorough
@pytest.mark.parametrize(("pad", "name"), one_each([False, True], [*GRIDS, "k-ary", "square-root"]))
def test_sums_of_counters_lie_on_a_grid(name, pad):
    """Bases and sigmas of the last two are the counter's, so its own scale is asked; a normal draw has 3 bits."""
    if name in GRIDS:
        grid = GRIDS[name]
    else:
        ((scale, _),) = make_counter(name, epsilon=1.0, horizon=13).item_draws()
        deviation, bits = (scale, 3) if name == "square-root" else (math.sqrt(2) * scale, 8)
        grid = 2.0 ** (math.floor(math.log2(deviation)) - bits)
    check_grid(lambda env: CounterSums(env, epsilon=1.0, counter=name, pad_unplayed=pad), grid, 13, 13)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("keep", "case"), one_each([False, True], [(1.0, 2.0**-8), (0.3, 2.0**-6), (16.0, 2.0**-12), (1e-3, 4.0)])
)
def test_sums_of_blocks_lie_on_a_grid(keep, case):
    """Deviations 1.4, 4.7, 1.4/16 and 1,414, a 2^8th of the power of two below; sums of multiples are multiples."""
    epsilon, grid = case
    check_grid(lambda env: BlockSums(env, epsilon=epsilon, ratio=1.1, keep=keep), grid, 13, 13)
    # Around averages of 5 gains a fifth of the noise, on a finer grid.
    check_grid(lambda env: BlockSums(MiniBatchAverage(env, batch_size=5), epsilon=1.0), 2.0**-10, 30, 6)


def test_each_release_of_an_interval_has_a_grid_of_its_own():
    """Deviations 1.41 n^0.55 at n = 3, 6, ...: 2.6, 3.8, 4.7, 5.5, 6.3; grids 2^-7, 2^-7, 2^-6, 2^-6, 2^-6."""
    finer = set()
    for seed, table in itertools.product(range(3), gains_of_all_sorts(15)):
        env = IntervalSums(game(table), epsilon=16.0, intervals="uniform")
        sums, counts = play(env, [0] * 15, np.random.default_rng(seed))
        for total, count in zip(sums[:, 0], counts[:, 0], strict=True):
            grid = {0: 1.0, 3: 2.0**-7, 6: 2.0**-7, 9: 2.0**-6, 12: 2.0**-6, 15: 2.0**-6}[int(count)]
            assert total % grid == 0
            finer |= {int(count)} if total % (2 * grid) else set()
    assert finer == {3, 6, 9, 12, 15}
    # And it rounds after the noise: what is told is the multiple nearest to sum plus noise.
    table = np.random.default_rng(6).random((13, 2))
    silent, _ = play(BlockSums(game(table), epsilon=1.0, ratio=1), [0] * 13, Impulse())
    assert 0 < np.abs(silent[:, 0] - table[:, 0]).max() <= 2.0**-9
    hot = Impulse(0)
    hot.laplace = lambda location, scale: 0.3  # type: ignore[method-assign]
    sums, _ = play(BlockSums(game(table), epsilon=1.0, ratio=1), [0] * 13, hot)
    nearest = np.round((table[:, 0] + 0.3) * 256) / 256
    np.testing.assert_array_equal(sums[:, 0], nearest)


# ---- the exact privacy loss of whole games, against what is declared


EPSILON = 0.7
ROUNDS = 12
ARMS = [0, 1, 0, 0, 1, 0, 0, 0, 1, 0, 1, 0]
"""Eight plays of arm 0 and four of arm 1."""


# ---- counters


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
    # The whole row of a round changes, and only the entry of the arm played comes out, in that arm's sum only.
    found = linear_map(functools.partial(HybridSums, epsilon=EPSILON), ARMS, ROUNDS)
    moves = found.moves.reshape(ROUNDS, 2, ROUNDS)
    for changed, arm in enumerate(ARMS):
        assert not moves[:, 1 - arm, changed].any()
        assert moves[:, arm, changed].tolist() == [float(t >= changed) for t in range(ROUNDS)]


def rho_of(found):
    """Return half the squared distance by which each round moves what comes out, in standard deviations."""
    shift = np.linalg.lstsq(found.noise * found.scales, found.moves, rcond=None)[0]
    assert found.noise * found.scales @ shift == pytest.approx(found.moves, abs=1e-6)
    return (shift**2).sum(axis=0) / 2


@pytest.mark.thorough
@pytest.mark.parametrize("pad", [False, True])
def test_the_square_root_counter_moves_by_no_more_than_its_rho(pad):
    """Padded, round 1 attains it."""
    wrap = functools.partial(CounterSums, epsilon=EPSILON, counter="square-root", delta=1e-4, pad_unplayed=pad)
    rho = rho_of(linear_map(wrap, ARMS, ROUNDS))
    declared = wrap(game(np.zeros((ROUNDS, 2)))).guarantee
    assert (declared.epsilon, declared.delta) == (EPSILON, 1e-4)
    assert rho.max() <= declared.rho * (1 + 1e-9)
    if pad:
        assert rho[0] == pytest.approx(declared.rho, rel=1e-6)


# ---- blocks


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


def both_arms(table):
    """Return a game that reveals both gains in every round."""
    return RevealsBoth(GainTable(table))


def test_a_gain_in_a_block_that_a_restart_drops_loses_nothing():
    """Period 5. Arm 0 fills blocks of 1 and 1 in rounds 0 and 2, and begins one of 2 in round 3, which is dropped."""
    wrap = functools.partial(PrivacyBoundary, mechanism=RestartedSums(epsilon=EPSILON, period=5))
    losses = laplace_loss(linear_map(wrap, ARMS, ROUNDS))
    assert losses == pytest.approx([0.0 if t == 3 else EPSILON for t in range(ROUNDS)], rel=2e-9)
    assert wrap(game(np.zeros((ROUNDS, 2)))).guarantee.epsilon == EPSILON


# ---- batches


@pytest.mark.parametrize("make", [game, both_arms])
@pytest.mark.parametrize("lengths", [[3, 4], [2], [5], [12], [13]])
def test_a_gain_in_a_batch_that_ended_loses_exactly_epsilon(lengths, make):
    """A batch ends for all arms at once; one still open loses nothing. With both arms' gains seen, two sums move."""
    wrap = functools.partial(BatchSums, epsilon=EPSILON, lengths=lengths)
    ends = [end for end in itertools.accumulate(lengths + lengths[-1:] * ROUNDS) if end <= ROUNDS]
    expected = [EPSILON if t < max(ends, default=0) else 0.0 for t in range(ROUNDS)]
    assert laplace_loss(linear_map(wrap, ARMS, ROUNDS, make)) == pytest.approx(expected, rel=2e-9)
    assert wrap(make(np.zeros((ROUNDS, 2)))).guarantee.epsilon == EPSILON


@pytest.mark.parametrize("make", [game, both_arms])
@pytest.mark.parametrize("kind", [BlockSums, functools.partial(BatchSums, lengths=[3, 4])])
def test_a_gain_in_a_batch_or_a_full_block_with_gaussian_noise_loses_rho(kind, make):
    """Each release has a draw of its own. A gain of an open block, or of the batch of round 12, loses nothing."""
    wrap = functools.partial(kind, epsilon=EPSILON, delta=1e-5)
    rho = rho_of(linear_map(wrap, ARMS, ROUNDS, make))
    declared = wrap(make(np.zeros((ROUNDS, 2)))).guarantee
    assert (declared.epsilon, declared.delta) == (EPSILON, 1e-5)
    if kind is BlockSums:
        lost = rho[rho > 0]
        assert len(lost) > ROUNDS // 2 and lost.max() == pytest.approx(declared.rho, rel=1e-6)
        assert make is both_arms or lost == pytest.approx([declared.rho] * len(lost), rel=1e-6)
    else:
        assert rho[:11] == pytest.approx([declared.rho] * 11, rel=1e-6) and rho[11] == 0


# ---- intervals


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


# ---- sensitivity


WRAPS = {
    "counter": lambda env: HybridSums(env, epsilon=EPSILON),
    "padded": lambda env: CounterSums(env, epsilon=EPSILON, counter="segment-trees", pad_unplayed=True),
    "blocks": lambda env: BlockSums(env, epsilon=EPSILON),
    "intervals": lambda env: IntervalSums(env, epsilon=16.0),
}


def of_sensitivity_three(table):
    env = game(table)
    env.sensitivity = 3.0
    return env


@pytest.mark.thorough
@pytest.mark.parametrize("kind", WRAPS)
def test_sensitivity_three_gets_three_times_the_noise_and_batches_of_five_a_fifth_with_the_same_loss(kind):
    """Measured as noise in what comes out: a draw may be multiplied afterwards.

    Sixty rounds in batches of 5 are 12 steps; a round moves one average by 1/5, or 2^-30 more when rounded.
    """
    single, triple = (linear_map(WRAPS[kind], ARMS, ROUNDS, make) for make in (game, of_sensitivity_three))
    np.testing.assert_allclose(triple.noise * triple.scales, 3 * single.noise * single.scales, rtol=1e-10, atol=1e-10)
    np.testing.assert_array_equal(single.moves, triple.moves)
    found = linear_map(WRAPS[kind], ARMS, 5 * ROUNDS, lambda table: MiniBatchAverage(game(table), batch_size=5))
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
    found = linear_map(WRAPS[kind], ARMS, ROUNDS, both_arms)
    assert found.moves.reshape(ROUNDS, 2, ROUNDS)[-1].sum(axis=0).max() == 2.0
    pure = WRAPS[kind](both_arms(np.zeros((ROUNDS, 2)))).guarantee.epsilon
    if kind == "intervals":
        ends = WRAPS[kind](game(np.zeros((ROUNDS, 2)))).mechanism.ends(ROUNDS)
        pure = sum(float(end) ** -0.55 for end in ends)
    assert laplace_loss(found).max() == pytest.approx(pure, rel=2e-9)


# ---- more than is claimed is seen, and what is no item


def test_redrawn_noise_loses_more_with_every_round_that_an_arm_waits():
    """Arm 0 is played three times and reaches its first end, then arm 1: each wait tells arm 0's mean again.

    f = ceil(1 / input) = 3 for epsilon = 16, v = 1.1 and delta = e^-10: L = 10, zeta(1.1) = 10.584, so the input is
    (sqrt(74 / 84.68) - sqrt(10 / 84.68))^2 = 0.349. One release costs 3^-0.55 = 0.5465.
    """
    for waits in (0, 1, 5, 9):
        arms = [0, 0, 0] + [1] * waits
        for release, told in (("redraw", 1 + waits), ("once", 1)):
            wrap = functools.partial(IntervalSums, epsilon=16.0, intervals="uniform", release=release)
            assert laplace_loss(linear_map(wrap, arms, len(arms)), [0])[0] == pytest.approx(told * 3**-0.55, rel=2e-9)


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


# ---- the exact privacy loss of sums of vectors, for all three kinds of noise


D = 3
DIAMETER = {"experts": 1.0, "ball": 2.0, "cube": 2.0}
"""Of the values in their own norm."""


def map_of(mechanism, inputs: InputFacts, fake, height: float) -> tuple[np.ndarray, list[float], np.ndarray]:
    """Return what releases of coordinate 0 add up, `(releases, nodes)`; what was asked of the fake; which rounds."""
    zeros = np.zeros((inputs.horizon, inputs.n_values))
    silent = fake()
    fresh = ~np.isnan(released(mechanism, inputs, zeros, silent)[:, 0])
    columns = []
    for hot in range(len(silent.asked)):
        one = fake(hot, height=height)
        columns.append(released(mechanism, inputs, zeros, one)[fresh, 0] / height)
        assert one.asked == silent.asked
    return np.array(columns).T, silent.asked, np.flatnonzero(fresh)


def steps(rounds: np.ndarray, horizon: int) -> np.ndarray:
    """Return how a change of each round by 1 moves the releases, `(releases, horizon)`."""
    return (rounds[:, np.newaxis] >= np.arange(horizon)).astype(float)


@pytest.mark.thorough
def test_own_norm_noise_loses_no_more_than_epsilon():
    """Some round loses all of it, except where the horizon is too short for all nodes of an item."""
    for horizon in [1, 3, 4, 8]:
        for name in LAPLACE:
            for kind in ["experts", "ball"]:
                inputs = FACTS[kind](D, horizon)
                mechanism = mechanisms.CounterSums(counter=name, epsilon=EPSILON, noise="own-norm")
                noise, asked, rounds = map_of(mechanism, inputs, OneNode, 2.0**30)
                # In the corner of the cube the sup norm of a node is `height` times its scale; in L2 sqrt(3) times.
                assert set(asked) == {D + 1.0 if kind == "experts" else float(D)}
                if kind == "ball":
                    noise = noise * math.sqrt(D)
                costs = [cheapest_shift(noise, np.ones(len(asked)), step) for step in steps(rounds, horizon).T]
                losses = np.abs(costs).sum(axis=1) * DIAMETER[kind]
                claimed = mechanism.guarantee(inputs).epsilon
                assert claimed == EPSILON
                assert losses.max() <= claimed * (1 + 1e-6)
                short = {("hybrid", 1), ("hybrid", 3), ("hybrid", 4), ("smooth-binary", 4), ("smooth-binary", 8)}
                if (name, horizon) not in short:
                    assert losses.max() >= 0.95 * claimed


@pytest.mark.thorough
def test_laplace_noise_on_vectors_loses_no_more_than_epsilon():
    """All coordinates have the same map; a round moves them by the L1 distance together. On the cube, own-norm too."""
    for kind in FACTS:
        for name in LAPLACE:
            inputs = FACTS[kind](D, 8)
            for noise_kind in ("laplace", "own-norm") if kind == "cube" else ("laplace",):
                mechanism = mechanisms.CounterSums(counter=name, epsilon=EPSILON, noise=noise_kind)
                noise, scales, rounds = map_of(mechanism, inputs, Impulse, 2.0**40)
                used = np.abs(noise).sum(axis=0) > 0
                cost = 1 / np.array(scales)[used]
                shifts = np.array([cheapest_shift(noise[:, used], 1 / cost, step) for step in steps(rounds, 8).T])
                losses = (np.abs(shifts) * cost).sum(axis=1) * inputs.sensitivity
                assert 0.6 * EPSILON <= losses.max() <= EPSILON * (1 + 1e-6)
                assert losses.max() >= 0.95 * EPSILON or name == "smooth-binary"


@pytest.mark.thorough
def test_gaussian_noise_moves_by_no_more_than_rho():
    """A round of experts moves all coordinates by 1: rho is D times half the squared distance of one coordinate.

    The distance of item j is the least L2 norm of the draws, in standard deviations, that hide it, by dense algebra.
    """
    for horizon in [1, 5, 8, 16, 33]:
        for name in COUNTERS:
            inputs = experts(D, horizon)
            mechanism = mechanisms.CounterSums(counter=name, epsilon=EPSILON, noise="gaussian", delta=1e-5)
            noise, scales, rounds = map_of(mechanism, inputs, Impulse, 2.0**40)
            in_units = noise * np.array(scales)
            moves = steps(rounds, horizon)
            answer = np.linalg.lstsq(in_units, moves, rcond=None)[0]
            assert np.abs(in_units @ answer - moves).max() < 1e-6
            rho = D * (answer**2).sum(axis=0) / 2
            declared = mechanism.guarantee(inputs)
            assert (declared.epsilon, declared.delta) == (EPSILON, 1e-5)
            assert rho.max() <= declared.rho * (1 + 1e-6)
            if horizon == 16 and name not in ("smooth-binary", "padded-binary"):
                # Honaker's refinement hides part of each node's draw: in L2 that is less than all nodes say.
                assert rho.max() >= (0.85 if name == "honaker" else 0.95) * declared.rho


def dense_factors(horizon: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the square-root counter's L from its releases, per unit draw, and C = L^-1 M, both as dense matrices."""
    mechanism = mechanisms.CounterSums(counter="square-root", epsilon=1.0, delta=1e-6)
    noise, scales, _ = map_of(mechanism, experts(1, horizon), Impulse, 2.0**40)
    return noise, np.linalg.solve(noise, np.tri(horizon)), np.array(scales)


@pytest.mark.thorough
@pytest.mark.parametrize("horizon", [1, 2, 17, 64, 200])
def test_columns_of_the_square_roots_other_factor_are_no_longer_than_its_noise(horizon):
    """Column 1 is the longest, and the standard deviation of a draw is sigma times its length, up to rounding."""
    noise, other, scales = dense_factors(horizon)
    np.testing.assert_allclose(noise @ other, np.tri(horizon), atol=1e-9)
    lengths = np.linalg.norm(other, axis=0)
    some = COUNTERS["square-root"](epsilon=1.0, delta=1e-6, horizon=horizon)
    assert lengths.argmax() == 0
    assert (scales >= some.sigma * lengths.max() * (1 - 1e-9)).all()
    assert scales == pytest.approx(some.sigma * lengths.max(), rel=2e-9)
    # The variances that it declares are those of this matrix.
    variances = [some.variance(t) for t in range(1, horizon + 1)]
    assert (noise**2).sum(axis=1) * scales[0] ** 2 == pytest.approx(variances, rel=2e-9)


@pytest.mark.parametrize("sensitivity", [1.0, 3.0, 4.0])
def test_gaussian_noise_grows_with_the_root_of_the_revealed_gains(sensitivity):
    """On a graph whose rows reveal s gains, the L2 distance is sqrt(s); Laplace noise grows with s."""
    inputs = InputFacts(6, 16, sensitivity, math.ceil(sensitivity), values=gains_of_arms(sensitivity))
    for name in ("square-root", "k-ary"):
        mechanism = mechanisms.CounterSums(counter=name, epsilon=1.0, noise="gaussian")
        factor = factor_of(mechanism, inputs)
        assert factor == pytest.approx(math.sqrt(sensitivity), rel=1e-6) and factor**2 >= sensitivity * (1 - 1e-15)
        assert mechanism.noise(inputs).sensitivity == pytest.approx(math.sqrt(sensitivity), rel=1e-15)
    assert factor_of(mechanisms.CounterSums(counter="k-ary", epsilon=1.0), inputs) == pytest.approx(
        sensitivity, rel=1e-15
    )


@pytest.mark.parametrize(
    ("facts", "l1", "l2", "own"),
    [(experts, 3.0, math.sqrt(3), 1.0), (box, 6.0, 2 * math.sqrt(3), 2.0), (ball, 2 * math.sqrt(3), 2.0, 2.0)],
)
def test_noise_is_scaled_to_the_distance_in_its_norm(facts, l1, l2, own):
    """Up to 2^-30 a coordinate, by which rounding may move values that are not the range apart; never below."""
    for noise, distance in (("laplace", l1), ("gaussian", l2), ("own-norm", own)):
        factor = factor_of(mechanisms.CounterSums(counter="binary", epsilon=1.0, noise=noise), facts(3, 9))
        assert distance * (1 - 1e-15) <= factor <= distance * (1 + 1e-6 * (noise == "gaussian")) + 3.01 * 2.0**-30


def test_sums_of_values_of_either_sign_are_exact_without_noise():
    for facts in [box, ball, cross_polytope]:
        for name in COUNTERS:
            table = np.random.default_rng(2).integers(-64, 65, (20, 3)) / 64
            sums = released(
                mechanisms.CounterSums(counter=name, epsilon=math.inf), facts(3, 20), table, np.random.default_rng(1)
            )
            exact = released(mechanisms.ExactSums(), facts(3, 20), table, None)
            fresh = ~np.isnan(sums)
            np.testing.assert_array_equal(sums[fresh], exact[fresh])
            assert (exact < 0).any() and mechanisms.CounterSums.any_range and mechanisms.ExactSums.any_range
