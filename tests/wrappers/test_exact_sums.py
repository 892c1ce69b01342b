"""What the wrappers that release sums hand on, how often their noise is drawn, and the grid that noisy sums lie on."""

import itertools
import math
import warnings

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from dp_bandit_envs.privacy.counters import COUNTERS, make_counter
from dp_bandit_envs.wrappers import (
    BlockSums,
    CounterSums,
    ExactSums,
    IntervalSums,
    MiniBatchAverage,
    vector,
)
from tests.tools.boundary_games import OWN_NOISE, SUMS, act, game, games, summed
from tests.tools.doors import one_each
from tests.tools.fake_draws import Counting, Impulse
from tests.tools.sums_noise import play

TABLE = [[0.25, 0.5], [0.5, 1.0], [0.0, 0.75], [1.0, 0.125]]
FORMS = {"scalar": game, "vector": lambda table, **options: games(1, table, **options)}


@pytest.fixture(params=FORMS)
def make(request):
    """A maker of games, scalar and vector."""
    return FORMS[request.param]


KINDS = [
    *((kind, game) for kind in SUMS),
    *((kind, FORMS["vector"]) for kind in ("Hybrid, hybrid", "Block(MiniBatch)")),
]


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


def test_sums_counts_and_rewards_by_hand(make):
    env = (ExactSums if make is game else vector.ExactSums)(make(TABLE))
    observation, info = env.reset(seed=0)
    assert observation["sum"].ravel().tolist() == [0.0, 0.0]
    assert observation["count"].ravel().tolist() == observation["release"].ravel().tolist() == [0, 0]
    assert int(np.ravel(info["round"])[0]) == 0
    assert step(env, 0) == ([0.25, 0.0], [1, 0], 0.25, False, 1)
    assert step(env, 1) == ([0.25, 1.0], [1, 1], 1.0, False, 2)
    assert step(env, 0) == ([0.25, 1.0], [2, 1], 0.125, False, 3)  # 0.25 / 2, not the gain 0
    assert step(env, 1) == ([0.25, 1.125], [2, 2], 0.5625, True, 4)
    env.reset(seed=0)  # nothing is left of the game before
    assert step(env, 1) == ([0.0, 0.5], [0, 1], 0.5, False, 1)


def test_blocks_that_forget_by_hand(make):
    """Arm 0 in blocks of 1, 1, 2 (ratio 2) without noise: gains 1/4, 1/2, then 0 and 1 together."""
    wrapper = BlockSums if make is game else vector.BlockSums
    env = wrapper(make(TABLE), epsilon=math.inf)
    env.reset(seed=0)
    assert step(env, 0) == ([0.25, 0.0], [1, 0], 0.25, False, 1)
    assert step(env, 0) == ([0.5, 0.0], [1, 0], 0.5, False, 2)
    assert step(env, 0) == ([0.5, 0.0], [1, 0], 0.5, False, 3)
    assert step(env, 0) == ([1.0, 0.0], [2, 0], 0.5, True, 4)
    env = wrapper(make(TABLE), epsilon=math.inf, keep=True)
    env.reset(seed=0)
    assert step(env, 0) == ([0.25, 0.0], [1, 0], 0.25, False, 1)
    assert step(env, 0) == ([0.75, 0.0], [2, 0], 0.375, False, 2)
    assert step(env, 0) == ([0.75, 0.0], [2, 0], 0.375, False, 3)
    assert step(env, 0) == ([1.75, 0.0], [4, 0], 0.4375, True, 4)


def test_intervals_wait_for_their_ends_by_hand(make):
    """Epsilon = 16: the input is 0.349 (see test_sums_privacy_loss), so intervals of ceil(1 / 0.349) = 3 gains."""
    wrapper = IntervalSums if make is game else vector.IntervalSums
    env = wrapper(make(TABLE), epsilon=16.0, intervals="uniform")
    assert env.mechanism.ends(4).tolist() == [3]
    env.reset(seed=0)
    assert step(env, 1) == ([0.0, 0.0], [0, 0], 0.0, False, 1)
    assert step(env, 1) == ([0.0, 0.0], [0, 0], 0.0, False, 2)
    sums, counts, reward, *_ = step(env, 1)
    assert counts == [0, 3] and sums[0] == 0.0
    assert sums[1] != 2.25 and reward == sums[1] / 3  # noise of scale 3^0.55
    assert step(env, 0) == (sums, counts, 0.0, True, 4)  # held; nothing is known of arm 0


@pytest.mark.thorough
@pytest.mark.parametrize(("kind", "make"), KINDS)
def test_rewards_spaces_and_copies_of_observations(kind, make):
    """The reward is the released mean of the arm played; all observations lie in their space, to the end of the game.

    Whoever writes into one changes nothing of what comes later, nor of the picture.
    """
    table = np.random.default_rng(2).random((14, 2))
    env, other = (summed(make(table, render_mode="ansi"), kind) for _ in range(2))
    seen, observation = env.reset(seed=3)[0], other.reset(seed=3)[0]
    assert observation in other.observation_space
    paid, ended, t = [], False, 0
    while not ended:
        seen["sum"][...], seen["count"][...] = 99.0, 9
        assert env.render() == other.render()
        arm = [0, 1, 1, 0, 0, 0, 1][t % 7]
        seen = env.step(act(env, arm))[0]
        observation, reward, terminated, truncated, _ = other.step(act(other, arm))
        assert observation in other.observation_space
        assert observation["sum"].dtype == np.float64 and observation["count"].dtype == np.int64
        assert all(seen[part].tobytes() == observation[part].tobytes() for part in seen)
        sums, counts = (observation[part].ravel().tolist() for part in ("sum", "count"))
        paid.append(float(np.ravel(reward)[0]))
        assert paid[-1] == sums[arm] / max(counts[arm], 1)
        ended, t = bool(np.all(terminated | truncated)), t + 1
    assert any(paid) and 0 < max(counts) <= env.horizon


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


# ---- draws ---------------------------------------------------------------------------------------------------------


def test_an_interval_is_drawn_once_however_long_its_arm_waits():
    """Ends at 3, 6, ... (epsilon = 16, uniform): one draw for arm 0, then ten for the 30 gains of arm 1."""
    env = IntervalSums(zeros(33), epsilon=16.0, intervals="uniform")
    arms = [0] * 3 + [1] * 30
    made = draws(env, arms)
    assert made == [0, 0, 1] + [0, 0, 1] * 10
    sums, counts = play(env, arms, np.random.default_rng(1))
    assert len(set(sums[2:, 0].tolist())) == 1 and sums[2, 0] != 0
    assert set(counts[2:, 0].tolist()) == {3}


def test_redraw_draws_again_in_every_round_and_guarantees_nothing():
    """Erratum 5. Arm 0 waits 30 rounds: 30 draws more. Arm 1 never waits while it is played."""
    env = IntervalSums(zeros(33), epsilon=16.0, intervals="uniform", release="redraw")
    arms = [0] * 3 + [1] * 30
    made = draws(env, arms)
    assert made == [0, 0, 1] + [1, 1, 2] * 10
    sums, _ = play(env, arms, np.random.default_rng(1))
    assert len(set(sums[2:, 0].tolist())) == 31
    assert env.guarantee.model == "none" and env.guarantee.epsilon == math.inf
    assert "drawn again in every round" in env.guarantee.theorem


def test_redraw_does_not_draw_for_an_arm_between_two_ends():
    """Arm 0 has 4 gains: its fourth is not told, and the third's mean is not told again."""
    env = IntervalSums(zeros(12), epsilon=16.0, intervals="uniform", release="redraw")
    assert draws(env, [0, 0, 0, 0, *[1] * 8]) == [0, 0, 1, 0, 0, 0, 1, 0, 0, 1, 0, 0]


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


def of_counter(name: str, horizon: int, items: int) -> list[int]:
    """Return how many draws a counter makes for each item."""
    some = make_counter(name, epsilon=1.0, horizon=horizon)
    state, rng, made = some.new_state(1), Counting(), [0]
    for _ in range(items):
        some.noise(state, 0, rng)
        made.append(rng.draws)
    return np.diff(made).tolist()


@pytest.mark.parametrize("name", COUNTERS)
def test_counters_of_arms_that_were_not_played_draw_only_if_padded(name):
    arms = [0] * 11 + [1] * 2
    env = CounterSums(zeros(13), epsilon=1.0, counter=name)
    assert draws(env, arms) == of_counter(name, 13, 11) + of_counter(name, 13, 2)
    sums, counts = play(env, arms, np.random.default_rng(0))
    assert not sums[:11, 1].any() and not counts[:11, 1].any()
    padded = CounterSums(zeros(13), epsilon=1.0, counter=name, pad_unplayed=True)
    assert draws(padded, arms) == [2 * made for made in of_counter(name, 13, 13)]
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


# ---- the grid ------------------------------------------------------------------------------------------------------

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
@pytest.mark.parametrize(("pad", "name"), one_each([False, True], GRIDS))
def test_sums_of_counters_lie_on_a_grid(name, pad):
    check_grid(lambda env: CounterSums(env, epsilon=1.0, counter=name, pad_unplayed=pad), GRIDS[name], 13, 13)


@pytest.mark.parametrize("name", ["k-ary", "square-root"])
def test_sums_of_other_counters_lie_on_a_grid(name):
    """Bases and sigmas are the counter's, so its own scale is asked; a normal draw has 3 bits."""
    some = make_counter(name, epsilon=1.0, horizon=13)
    ((scale, _),) = some.item_draws()
    deviation, bits = (scale, 3) if name == "square-root" else (math.sqrt(2) * scale, 8)
    grid = 2.0 ** (math.floor(math.log2(deviation)) - bits)
    check_grid(lambda env: CounterSums(env, epsilon=1.0, counter=name), grid, 13, 13)


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


def test_rounding_moves_a_sum_by_half_a_step_at_most():
    """And it rounds after the noise: what is told is the multiple nearest to sum plus noise."""
    table = np.random.default_rng(6).random((13, 2))
    silent, _ = play(BlockSums(game(table), epsilon=1.0, ratio=1), [0] * 13, Impulse())
    assert 0 < np.abs(silent[:, 0] - table[:, 0]).max() <= 2.0**-9
    hot = Impulse(0)
    hot.laplace = lambda location, scale: 0.3  # type: ignore[method-assign]
    sums, _ = play(BlockSums(game(table), epsilon=1.0, ratio=1), [0] * 13, hot)
    nearest = np.round((table[:, 0] + 0.3) * 256) / 256
    np.testing.assert_array_equal(sums[:, 0], nearest)
