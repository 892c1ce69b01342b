"""The joint form of each counter: every coordinate has the noise of a counter of its own, independent of the others."""

import math

import gymnasium as gym
import numpy as np
import pytest

from dp_bandit_envs import wrappers
from dp_bandit_envs.compiling.compiled import CompiledFunction
from dp_bandit_envs.compiling.functions import stream_address
from dp_bandit_envs.compiling.intrinsics import put_back, stream_at
from dp_bandit_envs.privacy.counters import COUNTERS
from dp_bandit_envs.privacy.facts import InputFacts
from dp_bandit_envs.privacy.mechanisms import CounterSums, counter_sums
from dp_bandit_envs.seeding import stream
from tests.tools.counter_noise import ALL, counter, linear_map
from tests.tools.fake_draws import Counting, Impulse
from tests.tools.vector_sums import FACTS, experts, released

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


# ---- one position for all coordinates ------------------------------------------------------------------------------


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


@pytest.mark.parametrize("share", [0.9, 0.5, 0.2])
def test_a_withheld_coordinate_breaks_nothing(share):
    """No coordinate gets the noise of a position twice, positions grow, and a round's coordinates share one."""
    revealed = np.random.default_rng(4).random((200, 4)) < share
    found = positions(experts(4, 200), revealed)
    for column in found.T:
        assert (np.diff(column[column >= 0]) > 0).all()
    for row in found:
        assert len(set(row[row >= 0].tolist())) <= 1


def test_rounds_with_other_coordinates_may_share_a_position():
    """First coordinate 0, then 1 and 2, then 0 again: two positions, of which each coordinate uses each once."""
    revealed = np.array([[1, 0, 0], [0, 1, 1], [1, 0, 0], [0, 1, 0]], bool)
    assert positions(experts(3, 4), revealed).tolist() == [[0, -1, -1], [-1, 0, 0], [1, -1, -1], [-1, 1, -1]]


def test_one_coordinate_moves_on_in_every_round():
    assert positions(experts(1, 6), np.ones((6, 1), bool)).ravel().tolist() == list(range(6))


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


# ---- a function for one kind of game -------------------------------------------------------------------------------


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
