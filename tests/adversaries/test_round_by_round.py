"""One function of a round: its blocks against NumPy's of the same uniform numbers, in Python and in machine code."""

import copy
import hashlib
import math
import os
import subprocess
import sys
import threading

import numpy as np
import pytest
from scipy.special import ndtri

from dp_bandit_envs import play, simulate
from dp_bandit_envs.adversaries import (
    BernoulliPrior,
    Deterministic,
    FullyOblivious,
    MemoryBounded,
    Oblivious,
    Replay,
    Stochastic,
    SwitchingCost,
    adversary as base,
)
from dp_bandit_envs.adversaries.adversary import RoundByRound
from dp_bandit_envs.compiling.compiled import COMPILER
from dp_bandit_envs.draws import Stream
from dp_bandit_envs.envs.bandit_env import FIRST_BLOCK, BanditEnv
from dp_bandit_envs.envs.bandit_vector_env import BanditVectorEnv
from dp_bandit_envs.errors import GainRangeError
from dp_bandit_envs.seeding import ADVERSARY, stream
from tests.tools.doors import one_each
from tests.tools.refusals import refused

ROUNDS = 1300
KINDS = [Deterministic, Stochastic, FullyOblivious, Oblivious, SwitchingCost, BernoulliPrior, MemoryBounded]
TIMES = np.arange(1, ROUNDS + 1)


def new_stream(seed=4):
    return stream(seed, role=ADVERSARY)


def gains_of(adversary, rng, lengths=(ROUNDS,)):
    adversary.begin(rng)
    return np.concatenate([adversary.next_gains(length) for length in lengths])


@pytest.fixture(params=["Python", "machine code"])
def engine(request, monkeypatch):
    """Draw everything in Python, or everything in machine code."""
    price = math.inf if request.param == "Python" else 0.0
    monkeypatch.setattr(base, "price", lambda: price)
    base.filler.cache_clear()
    yield request.param
    base.filler.cache_clear()


def deterministic(n_arms, rng):
    gains = np.zeros((ROUNDS, n_arms))
    gains[:, 0], gains[:, 1] = 0.38, TIMES % 2 == 0
    gains[:, 2:3] = (TIMES % 3 == 0)[:, np.newaxis]
    return gains


def stochastic(n_arms, rng):
    means = np.full(n_arms, 0.5)
    means[0] = 0.55
    return rng.random((ROUNDS, n_arms)) < means


def fully_oblivious(n_arms, rng, rounds=ROUNDS):
    """With p = lowest + 2 gap u, a gain is [v < p]."""
    lowest = np.full(n_arms, 0.45)
    lowest[0] = 0.5
    u, v = np.moveaxis(rng.random((rounds, n_arms, 2)), 2, 0)
    return v - 0.1 * u < lowest


def oblivious(n_arms, rng):
    """Draw 0 in rounds 1 to 199, draw i from round 200 i."""
    return fully_oblivious(n_arms, rng, 1 + ROUNDS // 200)[TIMES // 200]


def switching(n_arms, rng):
    """The walk by its definition, round after round, from quantiles of another library."""
    best = int(rng.random() * n_arms)
    sigma = 1 / (9 * math.log2(ROUNDS))
    steps = sigma * ndtri(rng.random(ROUNDS))
    walk = np.zeros(ROUNDS + 1)
    for t in TIMES:
        walk[t] = walk[t & (t - 1)] + steps[t - 1]
    losses = np.tile(walk[1:, np.newaxis] + 0.5, n_arms)
    losses[:, best] -= (n_arms / ROUNDS) ** (1 / 3) * sigma
    return 1 - np.clip(losses, 0, 1)


def bernoulli_prior(n_arms, rng):
    means = [rng.beta(1.0, 1.0) for _ in range(n_arms)]
    return rng.random((ROUNDS, n_arms)) < means


BLOCKS = {
    Deterministic: deterministic,
    Stochastic: stochastic,
    FullyOblivious: fully_oblivious,
    Oblivious: oblivious,
    SwitchingCost: switching,
    BernoulliPrior: bernoulli_prior,
    MemoryBounded: switching,
}


@pytest.mark.thorough
@pytest.mark.parametrize(("kind", "n_arms"), one_each(KINDS, [3, 2, 7]))
def test_gains_are_numpys_of_the_same_uniform_numbers(engine, kind, n_arms):
    adversary = kind(n_arms, ROUNDS)
    adversary.arm_order = "given"
    gains = gains_of(adversary, new_stream(), (1, 2, 63, 64, ROUNDS - 130))
    expected = BLOCKS[kind](n_arms, new_stream()).astype(float)
    assert len(np.unique(expected)) >= 2
    np.testing.assert_allclose(gains, expected, rtol=0, atol=1e-13)


@pytest.mark.parametrize("kind", KINDS)
def test_python_and_machine_code_draw_the_same_bits(kind, monkeypatch):
    """A game that changes from one to the other in the middle, against games in Python: in blocks, and by rounds."""
    monkeypatch.setattr(base, "price", lambda: math.inf)
    rng, expected_rng, own_rng = new_stream(), new_stream(), new_stream()
    expected = gains_of(kind(5, ROUNDS), expected_rng)
    adversary = kind(5, ROUNDS)
    first = gains_of(adversary, rng, (700,))
    source = adversary.by_rounds
    assert isinstance(source, RoundByRound) and (source is adversary) == (kind is not MemoryBounded)
    state, row = source.first_round_state(own_rng), np.full(5, np.nan)
    np.testing.assert_array_equal(source.means_of(state), adversary.means)
    for t in range(1, 51):
        source.next_round(state, t, row, own_rng)
        np.testing.assert_array_equal(row, expected[t - 1])
    monkeypatch.setattr(base, "price", lambda: 0.0)
    second = adversary.next_gains(ROUNDS - 700)
    assert True in base.filler(source.next_round)._compiled
    assert np.concatenate([first, second]).tobytes() == expected.tobytes()
    assert rng.random() == expected_rng.random()


@pytest.mark.thorough
@pytest.mark.parametrize("kind", KINDS)
def test_copies_and_new_games_share_no_state(kind):
    """Two games of one adversary in turns, then a third: the state of a game is its own."""
    expected = {seed: gains_of(kind(3, ROUNDS), new_stream(seed)) for seed in (1, 2)}
    one = kind(3, ROUNDS)
    one.begin(new_stream(1))
    begun = one.next_gains(450)
    other = copy.copy(one)
    other.begin(new_stream(2))
    others = [other.next_gains(450)]
    np.testing.assert_array_equal(np.vstack([begun, one.next_gains(ROUNDS - 450)]), expected[1])
    others.append(other.next_gains(ROUNDS - 450))
    np.testing.assert_array_equal(np.vstack(others), expected[2])
    np.testing.assert_array_equal(gains_of(one, new_stream(2)), expected[2])


@pytest.mark.thorough
@pytest.mark.parametrize("kind", [SwitchingCost, MemoryBounded])
def test_rows_apart_in_memory_are_filled_in_place(engine, kind):
    wide = np.full((ROUNDS, 3, 4), np.nan)
    adversary = kind(4, ROUNDS)
    adversary.begin(new_stream())
    adversary.fill(wide[:500, 1], check=True)
    adversary.fill(wide[500:, 1])
    np.testing.assert_array_equal(wide[:, 1], gains_of(kind(4, ROUNDS), new_stream()))
    assert np.isnan(wide[:, [0, 2]]).all()


def test_other_generators_draw_in_python(monkeypatch):
    """Their normal numbers are NumPy's own, which machine code does not know."""
    monkeypatch.setattr(base, "price", lambda: 0.0)

    def walk_of(rng):
        adversary = SwitchingCost(2, ROUNDS)
        adversary.begin(rng)
        return adversary.next_walk(ROUNDS), adversary.sigma

    walk, sigma = walk_of(np.random.Generator(np.random.SFC64(3)))
    rng = np.random.Generator(np.random.SFC64(3))
    rng.integers(2)
    assert walk[0] == rng.normal(0.0, sigma)
    # A stream over another bit generator draws by the formulas, in Python.
    walk, sigma = walk_of(Stream(np.random.PCG64(3)))
    u = np.random.Generator(np.random.PCG64(3)).random(2)[1]
    assert walk[0] == pytest.approx(sigma * ndtri(u), rel=1e-12)


def test_gains_from_elsewhere_have_no_function_of_a_round():
    class Halved(Stochastic):
        def next_gains(self, rounds):
            return super().next_gains(rounds) / 2

    class Restarted(SwitchingCost):
        def begin(self, rng):
            rng.random()
            super().begin(rng)

    class Renamed(SwitchingCost):
        pass

    for adversary in (Halved(), Restarted(), Replay(np.eye(2)), MemoryBounded(gains=Replay(np.eye(2)))):
        assert adversary.by_rounds is None
        assert MemoryBounded(gains=adversary).by_rounds is None
    inner = Renamed()
    assert MemoryBounded(gains=MemoryBounded(gains=inner)).by_rounds is inner
    halved = Halved(2, 100)
    halved.begin(new_stream())
    gains = np.empty((100, 2))
    halved.fill(gains)
    assert set(gains.ravel()) == {0.0, 0.5}


def test_functions_of_others_are_drawn_in_python(monkeypatch):
    monkeypatch.setattr(base, "price", lambda: 0.0)

    class Thirds(RoundByRound):
        @staticmethod
        def next_round(state, t, row, rng):
            row[:] = np.arange(len(row)) / 3 if t % 3 else int(rng.random() * 3) / 3

        def first_round_state(self, rng):
            return ()

    gains = gains_of(Thirds(2, 9), new_stream(), (9,))
    assert gains[:2].tolist() == [[0.0, 1 / 3]] * 2
    assert not base.filler(Thirds.next_round)._compiled


@pytest.mark.parametrize("trials", [2, 20])
def test_an_arm_that_is_not_written_is_an_error_and_not_what_memory_held(trials):
    """The second row of a block stands where an earlier game's gains were; two trials play alone, twenty in lanes."""

    class Forgetful(RoundByRound):
        @staticmethod
        def next_round(state, t, row, rng):
            for arm in range(len(row) if t < 400 else 1):
                row[arm] = 0.5

        def first_round_state(self, rng):
            return ()

    simulate("Stochastic", "UCB", n_arms=2, horizon=1000, trials=trials)

    def game():
        return BanditEnv(Forgetful(2, 1000))

    with refused(GainRangeError, "Forgetful", "every arm"):
        simulate(game, "UCB", trials=trials)
    with refused(GainRangeError, "Forgetful", "every arm"):
        play(game, "UCB")


def test_machine_code_is_made_in_a_thread_of_its_own(monkeypatch):
    """Python handles signals in the main thread only, and LLVM would swallow a Ctrl-C."""
    threads = []
    monkeypatch.setattr(base, "price", lambda: 0.0)
    base.filler.cache_clear()
    monkeypatch.setattr(base, "compiled", lambda *arguments: threads.append(threading.current_thread()))
    expected = gains_of(Stochastic(4, ROUNDS), new_stream())
    assert [thread.name for thread in threads] == [COMPILER]
    # None means that Numba is switched off: no second try.
    np.testing.assert_array_equal(gains_of(Stochastic(4, ROUNDS), new_stream()), expected)
    assert len(threads) == 1
    base.filler.cache_clear()


# ---- what the first gains of a process cost


SHORT = """
import gymnasium as gym, dp_bandit_envs, sys
for id_ in ("Stochastic", "Switching", "Oblivious"):
    env = gym.make(f"DPBandit-{id_}-v0")
    env.reset(seed=1)
    for t in range(100):
        env.step(t % 4)
print("numba" in sys.modules)
"""
LONG = """
import hashlib
from dp_bandit_envs.adversaries import SwitchingCost
from dp_bandit_envs.adversaries import adversary as base
from dp_bandit_envs.seeding import ADVERSARY, stream
base.SECONDS_TO_IMPORT = base.SECONDS_TO_COMPILE = 0.0
adversary = SwitchingCost(4, 3000)
adversary.begin(stream(2, role=ADVERSARY))
print(hashlib.sha256(adversary.next_gains(3000).tobytes()).hexdigest())
print(len(base.filler(SwitchingCost.next_round)._compiled))
"""


def run(program, **variables):
    done = subprocess.run(
        [sys.executable, "-c", program], env={**os.environ, **variables}, capture_output=True, encoding="utf-8"
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


@pytest.mark.thorough
def test_a_short_game_does_not_load_numba():
    assert run(SHORT) == ["False"]


@pytest.mark.thorough
def test_gains_are_the_same_with_numba_switched_off():
    adversary = SwitchingCost(4, 3000)
    adversary.begin(stream(2, role=ADVERSARY))
    expected = hashlib.sha256(adversary.next_gains(3000).tobytes()).hexdigest()
    assert run(LONG, NUMBA_DISABLE_JIT="1") == [expected, "0"]


class Counted(SwitchingCost):
    """Counts the rounds that are drawn."""

    drawn = 0

    def next_gains(self, rounds):
        Counted.drawn += rounds
        return super().next_gains(rounds)


@pytest.mark.parametrize("many", [False, True])
def test_a_game_draws_at_most_four_times_what_it_plays(many):
    Counted.drawn = 0
    adversary = Counted(2, 100_000)
    env = BanditVectorEnv(1, adversary) if many else BanditEnv(adversary)
    env.reset(seed=0)
    for t in range(1, 9000):
        env.step(np.zeros(1, np.int64) if many else 0)
        assert t <= Counted.drawn <= max(FIRST_BLOCK, 4 * t)


def test_a_block_length_is_a_limit():
    Counted.drawn = 0
    env = BanditEnv(Counted(2, 50), block_length=7)
    env.reset(seed=0)
    for t in range(1, 51):
        env.step(0)
        assert Counted.drawn == min(-(-t // 7) * 7, 50)
