"""What every adversary promises: gains in [0, 1] that depend on the random stream alone."""

import functools
import pickle

import numpy as np
import pytest

from dp_bandit_envs import Adversary, LaplaceClipRescale, Uniform, adversaries, play, simulate
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.envs.registration import GAMES
from dp_bandit_envs.errors import BoundaryError, WrongGainsError
from tests.adversaries.test_gain_vectors import MAKE as OF_VECTORS, gains_in_blocks
from tests.tools.doors import one_each
from tests.tools.refusals import refused

ROUNDS = 700
POOLS = [np.linspace(0, 1, 13), np.linspace(0, 0.5, 5), np.array([0.25])]
TABLE = np.random.default_rng(1).random((ROUNDS, 3))
GAMES_OF_ADVERSARIES = {id_: game.adversary_class for id_, game in GAMES.items() if game.adversary_class is not None}
MAKE = {id_: functools.partial(class_, horizon=ROUNDS) for id_, class_ in GAMES_OF_ADVERSARIES.items()} | {
    "BernoulliPrior": lambda: adversaries.BernoulliPrior(n_arms=4, horizon=ROUNDS),
    "Oblivious, period 1": lambda: adversaries.Oblivious(horizon=ROUNDS, period=1),
    "Oblivious, period 7": lambda: adversaries.Oblivious(horizon=ROUNDS, period=7),
    "OutcomePools": lambda: adversaries.OutcomePools(POOLS, horizon=ROUNDS),
    "GainTable": lambda: adversaries.GainTable(TABLE),
    "Replay of a table": lambda: adversaries.Replay(TABLE),
}
LENGTHS = [[1, 2, 3, 5, 8, 13, 21, 200], [1], [2], [3], [64], [255], [199, 1, 1, 199, 300]]
every_adversary = pytest.mark.parametrize("make", MAKE.values(), ids=MAKE.keys())


def test_no_adversary_is_forgotten_here():
    public = [getattr(adversaries, name) for name in adversaries.__all__]
    classes = {one for one in public if isinstance(one, type)} - {adversaries.Adversary}
    assert classes <= {type(make()) for make in (MAKE | OF_VECTORS).values()}


def test_gains_depend_on_the_stream_alone_and_not_on_how_rounds_are_cut_into_blocks():
    for name, lengths in one_each(MAKE | OF_VECTORS, LENGTHS):
        adversary = (MAKE | OF_VECTORS)[name]()
        whole = gains_in_blocks(adversary, [ROUNDS])
        np.testing.assert_array_equal(gains_in_blocks(adversary, lengths), whole)
        np.testing.assert_array_equal(gains_in_blocks((MAKE | OF_VECTORS)[name](), lengths), whole)


@every_adversary
def test_the_environments_block_length_changes_nothing(make):
    def play(env):
        env.reset(seed=5)
        rewards = [env.step(t // 3 % env.n_arms)[1] for t in range(ROUNDS)]
        return rewards, env.cumulative_gains.tolist(), env.collected

    assert play(BanditEnv(make(), block_length=17)) == play(BanditEnv(make()))


@every_adversary
def test_fill_writes_the_same_gains_as_next_gains(make):
    """The array is a strided view, as the vector environment passes it, and 3 x 2,000 arms force several pieces."""
    adversary = make()
    wide = np.full((ROUNDS, 2, adversary.n_arms), np.nan)
    adversary.begin(np.random.default_rng(3))
    adversary.fill(wide[:, 1])
    np.testing.assert_array_equal(wide[:, 1], gains_in_blocks(make(), [ROUNDS]))
    assert np.isnan(wide[:, 0]).all()


def test_fill_takes_many_arms_in_several_pieces():
    """With 2,000 arms a piece is 16384 // 2000 = 8 rounds, so 10 rounds take two pieces."""
    pieces = []

    class Counting(adversaries.Stochastic):
        def next_gains(self, rounds):
            pieces.append(rounds)
            return super().next_gains(rounds)

    adversary = Counting(n_arms=2000, horizon=10)
    adversary.begin(np.random.default_rng(0))
    gains = np.empty((10, 2000))
    adversary.fill(gains)
    assert pieces == [8, 2]
    again = adversaries.Stochastic(n_arms=2000, horizon=10)
    again.begin(np.random.default_rng(0))
    np.testing.assert_array_equal(gains, again.next_gains(10))


@every_adversary
def test_gains_are_float64_in_the_unit_interval(make):
    adversary = make()
    gains = gains_in_blocks(adversary, [ROUNDS])
    assert gains.shape == (ROUNDS, adversary.n_arms)
    assert gains.dtype == np.float64
    assert gains.min() >= 0
    assert gains.max() <= 1


@every_adversary
def test_gains_are_fresh_arrays_that_a_reader_may_overwrite(make):
    adversary = make()
    expected = gains_in_blocks(make(), [50])
    adversary.begin(np.random.default_rng(3))
    adversary.next_gains(50).fill(0.125)
    np.testing.assert_array_equal(adversary.next_gains(50), expected[50:100])
    np.testing.assert_array_equal(gains_in_blocks(adversary, [50]), expected)


@every_adversary
def test_declared_means_are_the_average_of_the_gains(make):
    """Each arm's average over 700 rounds has a standard error of at most 0.5 / sqrt(700): allow five of them.

    False alarm: 2.3e-6 (five standard errors, two sides, four arms).
    """
    adversary = make()
    gains = gains_in_blocks(adversary, [ROUNDS])
    if isinstance(adversary, adversaries.Oblivious):
        gains = gains[:: adversary.period]  # held gains are no new draws
    if adversary.means is not None:
        assert np.all(np.abs(gains.mean(axis=0) - adversary.means) <= 5 * 0.5 / np.sqrt(len(gains)))


# ---- gains of another shape ----------------------------------------------------------------------------------------


class Shaped(Adversary):
    """Three arms and nine rounds, whatever it returns."""

    def __init__(self, shape):
        super().__init__(3, 9)
        self.shape = shape

    def begin(self, rng):
        """Do nothing."""

    def next_gains(self, rounds):
        """Return gains of a shape."""
        return np.zeros(self.shape)


@pytest.mark.parametrize("shape", [(9, 7), (9, 1), (1, 3), (3,), (9, 3, 1), ()])
def test_gains_of_another_shape_are_refused(shape):
    with refused(WrongGainsError, "Shaped", "(9, 3)", str(shape)):
        play(BanditEnv(Shaped(shape)), Uniform(), seed=0)
    with refused(WrongGainsError, "Shaped", "(9, 3)", str(shape)):
        simulate(lambda: BanditEnv(Shaped(shape)), {"uniform": Uniform}, trials=4, seed=0)


class Written(Shaped):
    """Returns something else."""

    def next_gains(self, rounds):
        """Return what was given."""
        return self.shape


@pytest.mark.parametrize(
    "values", [[["cell-17", 0, 1]] * 9, [[0.5, 0.5, {}]] * 9, [[0.5, 0.5], [0.5]], {"cell-17": 1}, "cell-17"]
)
def test_what_is_no_table_of_numbers_is_refused_without_showing_it(values):
    with refused(WrongGainsError, "Written", "(9, 3)") as error:
        play(BanditEnv(Written(values)), Uniform(), seed=0)
    assert "cell-17" not in str(error.value)
    with refused(WrongGainsError, "Written") as error:
        simulate(lambda: BanditEnv(Written(values)), {"uniform": Uniform}, trials=4, seed=0)
    assert "cell-17" not in str(error.value)


def test_the_right_shape_is_played_and_a_boundary_withholds_the_error():
    assert play(BanditEnv(Shaped((9, 3))), Uniform(), seed=0).gains.sum() == 0
    with pytest.raises(BoundaryError):
        play(LaplaceClipRescale(BanditEnv(Shaped((9, 1))), epsilon=1.0), Uniform(), seed=0)


def test_the_error_comes_back_from_another_process():
    error = WrongGainsError("Shaped", (9, 3), (9, 1))
    assert str(pickle.loads(pickle.dumps(error))) == str(error)
    unreadable = WrongGainsError("Shaped", (9, 3), None)
    assert str(pickle.loads(pickle.dumps(unreadable))) == str(unreadable)
