"""The joint form of each counter: noise of its own for every coordinate; and the noise of one node."""

import math

import gymnasium as gym
import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import gamma, kstest

from dp_bandit_envs import wrappers
from dp_bandit_envs.compiling.compiled import CompiledFunction
from dp_bandit_envs.compiling.functions import stream_address
from dp_bandit_envs.compiling.intrinsics import put_back, stream_at
from dp_bandit_envs.draws import Stream
from dp_bandit_envs.privacy.counters import COUNTERS
from dp_bandit_envs.privacy.facts import InputFacts
from dp_bandit_envs.privacy.mechanisms import CounterSums, counter_sums
from dp_bandit_envs.privacy.node_noise import NORM_CODES, fill, fill_normal, fill_own_norm
from dp_bandit_envs.seeding import stream
from tests.tools.counter_noise import ALL, counter, linear_map
from tests.tools.fake_draws import Counting, Impulse
from tests.tools.vector_sums import FACTS, box, experts, released

SOME = [("k-ary", "own-norm")]
"""Kinds that are compiled in the ordinary run, which takes a second; AS-FTRL and DP-FTRL play on two others."""
KINDS = [(name, noise) for name in ALL for noise in COUNTERS[name].noises]


def joint_map(some, name: str, items: int, d: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return what each release adds up, `(releases, d, draws)`, the scales of the draws, and when it releases."""

    def run(rng):
        state = some.new_joint_state(d)
        found, fresh = [], []
        for _ in range(items):
            fresh.append(COUNTERS[name].joint_noise(state, rng))
            found.append(state.noise.copy())
        return np.array(found), np.array(fresh)

    silent = Impulse()
    _, fresh = run(silent)
    columns = []
    for hot in range(len(silent.asked)):
        impulse = Impulse(hot)
        columns.append(run(impulse)[0])
        assert impulse.asked == silent.asked
    return np.stack(columns, axis=-1)[fresh], np.array(silent.asked), np.flatnonzero(fresh) + 1


def in_order(noise: np.ndarray, scales: np.ndarray) -> np.ndarray:
    """Return the columns of a map for draws of scale 1, sorted; draws that are in no release are left out."""
    columns = (noise * scales)[:, np.abs(noise).sum(axis=0) > 0].T.round(10)
    return np.array(sorted(columns.tolist()))


@pytest.mark.thorough
def test_every_coordinate_has_the_noise_of_a_counter_of_its_own():
    """All releases of a coordinate are the same sums of draws as the scalar form's, so their joint law is the same.

    And no two coordinates share a draw, so they are independent.
    """
    for horizon in [1, 2, 13, 32, 33]:
        for name in ALL:
            some = counter(name, horizon, 0.7)
            alone, own_scales, covers = linear_map(some, horizon)
            noise, scales, times = joint_map(some, name, horizon, 3)
            np.testing.assert_array_equal(times, covers)
            used = np.abs(noise).sum(axis=0) > 0
            assert (used.sum(axis=0) <= 1).all()
            for coordinate in range(3):
                np.testing.assert_allclose(
                    in_order(noise[:, coordinate], scales), in_order(alone, own_scales), atol=1e-9
                )


@pytest.mark.parametrize("name", ALL)
def test_the_joint_form_without_noise_draws_nothing(name):
    rng = Counting()
    state = counter(name, 100, math.inf).new_joint_state(2)
    for _ in range(100):
        COUNTERS[name].joint_noise(state, rng)
        assert not state.noise.any()
    assert rng.draws == 0


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("name", "noise"), [kind if kind in SOME else pytest.param(*kind, marks=pytest.mark.slow) for kind in KINDS]
)
def test_compiled_sums_of_vectors_are_the_python_ones_bit_for_bit(name, noise):
    """In all three games with norms of their own, and where a coordinate is left out of some rounds."""
    mechanism = CounterSums(counter=name, epsilon=0.7, noise=noise)
    compiled = CompiledFunction(release_from, {"release": mechanism.release})
    chosen = np.random.default_rng(5)
    for facts in FACTS.values():
        below = facts(5, 100)
        states = mechanism.new_state(below), mechanism.new_state(below)
        streams = [stream(8, role=2) for _ in states]
        address = (stream_address(streams[1]),)
        for _ in range(100):
            for coordinate in np.flatnonzero(chosen.random(5) < 0.9).tolist():
                value = float(chosen.uniform(-1, 1))
                python = mechanism.release(states[0], coordinate, value, streams[0])
                assert compiled(address, states[1], coordinate, value) == python
        assert np.array_equal(states[0].exact, states[1].exact)
        assert streams[0].random() == streams[1].random()


def release_from(addresses, state, value, gain):
    """Release with the stream at an address."""
    rng = stream_at(addresses[0])
    released = release(state, value, gain, rng)
    put_back(addresses[0], rng)
    return released


def release(state, value, gain, rng):
    """Stand for a mechanism's function."""


# ---- one position for all coordinates


def path(mechanism, below, rounds: int, seed: int) -> np.ndarray:
    """Return the noise of all positions, `(rounds, d)`."""
    return released(mechanism, below, np.zeros((rounds, below.n_values)), stream(seed, role=2))


def positions(below, revealed: np.ndarray) -> np.ndarray:
    """Return the position whose noise each revealed coordinate gets, `(rounds, d)`; -1 where nothing is revealed."""
    mechanism = CounterSums(counter="binary", epsilon=1.0)
    # Without a grid, so that no two releases are equal by chance.
    states = [mechanism.new_state(below)._replace(grid=0.0) for _ in "ab"]
    streams = [stream(3, role=2) for _ in "ab"]
    every = [[mechanism.release(states[0], i, 0.0, streams[0])[0] for i in range(below.n_values)] for _ in revealed]
    noise, state, rng = np.array(every), states[1], streams[1]
    assert len(np.unique(noise)) == noise.size
    found = np.full(revealed.shape, -1)
    for t, coordinate in zip(*np.nonzero(revealed), strict=True):
        value, _ = mechanism.release(state, int(coordinate), 0.0, rng)
        found[t, coordinate] = np.flatnonzero(noise[:, coordinate] == value)[0]
    return found


def test_all_coordinates_of_a_round_share_a_position():
    assert positions(experts(3, 20), np.ones((20, 3), bool)).tolist() == [[t] * 3 for t in range(20)]
    # One coordinate moves on in every round.
    assert positions(experts(1, 6), np.ones((6, 1), bool)).ravel().tolist() == list(range(6))
    # First coordinate 0, then 1 and 2, then 0 again: two positions, of which each coordinate uses each once.
    revealed = np.array([[1, 0, 0], [0, 1, 1], [1, 0, 0], [0, 1, 0]], bool)
    assert positions(experts(3, 4), revealed).tolist() == [[0, -1, -1], [-1, 0, 0], [1, -1, -1], [-1, 1, -1]]


@pytest.mark.parametrize("share", [0.9, 0.5, 0.2])
def test_a_withheld_coordinate_breaks_nothing(share):
    """No coordinate gets the noise of a position twice, positions grow, and a round's coordinates share one."""
    revealed = np.random.default_rng(4).random((200, 4)) < share
    found = positions(experts(4, 200), revealed)
    for column in found.T:
        assert (np.diff(column[column >= 0]) > 0).all()
    for row in found:
        assert len(set(row[row >= 0].tolist())) <= 1


def test_a_padded_coordinate_moves_on_with_the_others():
    """`pad` takes the noise of the same position, and the number of gains stays."""
    below = experts(2, 8)
    mechanism = CounterSums(counter="binary", epsilon=1.0, pad_unplayed=True)
    noise = path(mechanism, below, 8, seed=6)
    state, rng = mechanism.new_state(below), stream(6, role=2)
    for t in range(8):
        assert mechanism.release(state, 0, 0.0, rng) == (noise[t, 0], t + 1)
        assert mechanism.idle(state, 1, rng) == (noise[t, 1], 0)


def test_a_counter_without_a_joint_form_still_works(monkeypatch):
    """Each coordinate has a position of its own; own-norm noise is refused."""
    kind = type("Mine", (COUNTERS["binary"],), {"joint_noise": None})
    monkeypatch.setitem(COUNTERS, "mine", kind)
    mechanism = CounterSums(counter="mine", epsilon=1.0)
    sums = path(mechanism, experts(3, 9), 9, seed=1)
    state, rng = COUNTERS["binary"](epsilon=1.0, horizon=9).new_state(3), stream(1, role=2)
    expected = np.array([[3.0 * COUNTERS["binary"].noise(state, arm, rng)[0] for arm in range(3)] for _ in range(9)])
    # A release adds up at most 3 nodes, each of which is rounded.
    assert np.abs(sums - expected).max() <= 3 * mechanism.new_state(experts(3, 9)).grid / 2
    with pytest.raises(TypeError, match="own-norm"):
        CounterSums(counter="mine", epsilon=1.0, noise="own-norm")
    # Nor is the placeholder for it ever called.
    with pytest.raises(NotImplementedError):
        counter_sums.insert_all(None, rng)


# ---- a function for one kind of game


@pytest.mark.parametrize("below", [experts(3, 20), InputFacts(3, 20)], ids=["one-position", "positions-of-their-own"])
def test_release_for_a_game_is_release(below):
    mechanism = CounterSums(counter="binary", epsilon=1.0)
    functions = mechanism.release, mechanism.release_for(below)
    assert functions[0] is not functions[1]
    states, streams = zip(*((mechanism.new_state(below), stream(2, role=2)) for _ in functions), strict=True)
    for step in range(60):
        one, other = (
            function(state, step % 3, 0.5, rng) for function, state, rng in zip(functions, states, streams, strict=True)
        )
        assert one == other


def test_a_derived_class_keeps_its_own_release():
    own = staticmethod(lambda state, arm, gain, rng: (0.0, 1))
    derived = type("Derived", (CounterSums,), {"release": own})(counter="binary", epsilon=1.0)
    assert derived.release_for(experts(3, 20)) is derived.release


def test_padded_counters_share_a_position_with_the_same_numbers(monkeypatch):
    """Only where an item takes one draw: then the arms' draws come in the same order."""

    def sums():
        env = wrappers.CounterSums(gym.make("DPBandit-Stochastic-v0", n_arms=3, horizon=70), **padded)
        env.reset(seed=1)
        shared = env._run._state.value.joint
        return shared, [env.step(step * step % 3)[0]["sum"].tolist() for step in range(70)]

    for noise in ("laplace", "gaussian"):
        padded = {"counter": "hybrid", "epsilon": 1.0, "pad_unplayed": True, "noise": noise}
        shared, together = sums()
        monkeypatch.setattr(COUNTERS["hybrid"], "draws_once", False)
        apart, one_by_one = sums()
        monkeypatch.undo()
        assert shared and not apart
        assert together == one_by_one


# ---- the noise of one node: its density, its moments, and what Agarwal and Singh's printed noise loses


NORMS = {
    "l1": lambda nodes: np.abs(nodes).sum(axis=1),
    "l2": lambda nodes: np.linalg.norm(nodes, axis=1),
    "sup": lambda nodes: np.abs(nodes).max(axis=1),
}
DRAWS = 4000


def nodes(norm: str, d: int, scale: float = 2.0, fills=fill_own_norm, draws: int = DRAWS) -> np.ndarray:
    """Return nodes drawn one after another, `(draws, d)`."""
    rng = Stream(np.random.SFC64(d))
    drawn = np.empty((draws, d))
    for node in drawn:
        fills(node, scale, NORM_CODES[norm], rng)
    return drawn


@pytest.mark.thorough
@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("d", [1, 2, 3, 10])
def test_the_norm_of_a_node_has_the_distribution_gamma(norm, d):
    """False alarm: 1.2e-5 (1e-6 for each of twelve Kolmogorov-Smirnov tests)."""
    assert kstest(NORMS[norm](nodes(norm, d)) / 2.0, gamma(d).cdf).pvalue > 1e-6


@pytest.mark.parametrize("norm", NORMS)
def test_the_direction_of_a_node_is_that_of_the_unit_ball(norm):
    """Uniform points of the unit ball made by rejection; drawing z from its norm and such a direction is the density.

    The first coordinate of the direction, compared in halves of large and small norms: independent of the norm's size.
    False alarm: 9e-6 (1e-6 for each of nine tests).
    """
    cube = np.random.default_rng(1).uniform(-1, 1, (60_000, 3))
    inside = cube[NORMS[norm](cube) <= 1]
    direction = (inside / NORMS[norm](inside)[:, np.newaxis])[:, 0]
    drawn = nodes(norm, 3)
    size = NORMS[norm](drawn)
    found = drawn[:, 0] / size
    for part in (found, found[size > np.median(size)], found[size <= np.median(size)]):
        assert kstest(part, direction).pvalue > 1e-6


@pytest.mark.thorough
@pytest.mark.parametrize(("d", "ratio"), [(2, 1.41), (10, 2.13), (100, 2.41)])
def test_own_norm_noise_of_experts_is_smaller_than_laplace_noise(d, ratio):
    """Standard deviations sqrt(2) d and sqrt((d + 1)(d + 2) / 3), in units of m / epsilon.

    False alarm: 2e-6 (five standard errors).
    """
    exact = math.sqrt((d + 1) * (d + 2) / 3)
    assert math.sqrt(2) * d / exact == pytest.approx(ratio, abs=0.005)
    squares = (nodes("sup", d, 1.0, draws=2000) ** 2).mean(axis=1)
    assert abs(squares.mean() - exact**2) < 5 * squares.std() / math.sqrt(len(squares))


@pytest.mark.thorough
@pytest.mark.parametrize("d", [1, 2, 3, 10, 100])
def test_moments_of_own_norm_noise_are_at_most_those_of_laplace_noise(d):
    """So confidence widths from moments, made for Laplace noise of the L1 distance, hold for own-norm noise too.

    False alarm: none, as these are numbers and no samples.

    Of one coordinate: E |z|^k = (d + 1) ... (d + k) / (k + 1) in the sup norm, against d^k k!; in L2, E z^(2 k) =
    d (d + 1) ... (d + 2 k - 1) (1 3 ... (2 k - 1)) / (d (d + 2) ... (d + 2 k - 2)), against d^k (2 k)!.
    """
    for k in range(1, 12):
        assert math.prod(range(d + 1, d + k + 1)) <= (k + 1) * d**k * math.factorial(k)
        odd, even = math.prod(range(1, 2 * k, 2)), math.prod(range(d, d + 2 * k, 2))
        assert math.prod(range(d, d + 2 * k)) * odd <= d**k * math.factorial(2 * k) * even
    sup, l2 = nodes("sup", d, 1.0, draws=2000), nodes("l2", d, 1.0, draws=2000)
    for drawn, second in ((sup, (d + 1) * (d + 2) / 3), (l2, d + 1)):
        squares = (drawn**2).mean(axis=1)
        assert abs(squares.mean() - second) < 5 * squares.std() / math.sqrt(len(squares))


@pytest.mark.parametrize(("fills", "variance"), [(fill, 8.0), (fill_normal, 4.0)])
def test_independent_draws_have_the_declared_scale(fills, variance):
    """Variances 2 b^2 and sigma^2 at 2. False alarm: 6e-7 for each (five standard errors)."""
    drawn = nodes("l1", 4, fills=fills)
    squares = drawn**2
    assert abs(squares.mean() - variance) < 5 * squares.std() / math.sqrt(squares.size)
    assert np.abs(np.corrcoef(drawn.T) - np.eye(4)).max() < 6 / math.sqrt(DRAWS)


# ---- what the printed noise loses


def above(x: float, scale: float) -> float:
    """Return P(Z_1 - Z_2 > x) for independent Laplace draws of this scale."""
    tail = math.exp(-abs(x) / scale) * (2 + abs(x) / scale) / 4
    return tail if x >= 0 else 1 - tail


def loss_by_plays(scale: float, probability: float = 0.005) -> float:
    """Return ln of the ratio of the chances that the second play of d = 2 experts puts a weight beyond c on the first.

    The weight is the softmax of the first release, which grows with S_1 - S_2. Gains of round 1 are (1, -1) or (-1, 1),
    so the difference is 2 or -2 before noise; c is such that the larger chance is the given one.
    """
    c = brentq(lambda c: above(c - 2, scale) - probability, 0, 100 * scale)
    return math.log(above(c - 2, scale) / above(c + 2, scale))


def test_the_printed_noise_loses_more_than_it_claims():
    """Agarwal and Singh (2017), algorithm 2, T = 2, epsilon = 1: Lap(|Y|_1 ln T / epsilon), |Y|_1 = 2 in [-1, 1]^2.

    The limit is 4 / (2 ln 2) = 2.885; with logarithms in base 2 it is 2.
    """
    assert 2.5 <= loss_by_plays(2 * math.log(2)) <= 4 / (2 * math.log(2))
    assert 1.7 <= loss_by_plays(2 * math.log2(2)) <= 2
    # Scale 4 m / epsilon: one node for the one release that plays see, and two for both, at half the loss.
    losses = []
    for horizon, nodes_per_item in ((1, 1), (2, 2)):
        state = CounterSums(counter="binary", epsilon=1.0).new_state(box(2, horizon))
        (scale,) = state.together.scales
        assert scale == pytest.approx(4 * nodes_per_item, rel=2e-9)
        losses.append(loss_by_plays(scale))
    assert losses[0] == pytest.approx(0.88, abs=0.01)
    assert losses[1] < losses[0] <= 1
