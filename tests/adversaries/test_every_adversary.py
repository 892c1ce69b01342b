"""What every adversary promises: gains in [0, 1] that depend on the random stream alone."""

import functools
import pickle

import numpy as np
import pytest

from dp_bandit_envs import Adversary, LaplaceClipRescale, adversaries, play, simulate
from dp_bandit_envs.agents import Uniform
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.envs.registration import GAMES
from dp_bandit_envs.errors import BoundaryError, WrongGainsError
from tests.adversaries.test_gain_vectors import MAKE as OF_VECTORS, gains_in_blocks
from tests.tools.doors import one_each
from tests.tools.refusals import refused

ROUNDS = 700
POOLS = [np.linspace(0, 1, 13), np.linspace(0, 0.5, 5), np.array([0.25])]
TABLE = np.random.default_rng(1).random((ROUNDS, 3))


def ordered(make, arm_order):
    """Return an adversary with that `arm_order`."""
    adversary = make()
    adversary.arm_order = arm_order
    return adversary


GAMES_OF_ADVERSARIES = {id_: game.adversary_class for id_, game in GAMES.items() if game.adversary_class is not None}
MAKE = {id_: functools.partial(class_, horizon=ROUNDS) for id_, class_ in GAMES_OF_ADVERSARIES.items()} | {
    "BernoulliPrior": lambda: adversaries.BernoulliPrior(n_arms=4, horizon=ROUNDS),
    "LinearGains, coins": lambda: adversaries.LinearGains(9, ROUNDS, coins=True),
    "Oblivious, period 1": lambda: adversaries.Oblivious(horizon=ROUNDS, period=1),
    "Oblivious, period 7": lambda: adversaries.Oblivious(horizon=ROUNDS, period=7),
    "OutcomePools": lambda: adversaries.OutcomePools(POOLS, horizon=ROUNDS),
    **{
        f"{name}, arms in {order} order": functools.partial(ordered, make, order)
        for name, make, order in (
            ("Stochastic", lambda: adversaries.Stochastic(means=[0.6, 0.4, 0.4], horizon=ROUNDS), "random"),
            ("OutcomePools", lambda: adversaries.OutcomePools(POOLS, horizon=ROUNDS), "random"),
            ("GainTable", lambda: adversaries.GainTable(TABLE), "random"),
            ("Replay", lambda: adversaries.Replay(TABLE), "random"),
            ("Trial", lambda: adversaries.Trial(ROUNDS), "given"),
        )
    },
    "GainTable": lambda: adversaries.GainTable(TABLE),
    "Replay of a table": lambda: adversaries.Replay(TABLE),
}
LENGTHS = [[1, 2, 3, 5, 8, 13, 21, 200], [1], [2], [3], [64], [255], [199, 1, 1, 199, 300]]


def test_no_adversary_is_forgotten_here():
    public = [getattr(adversaries, name) for name in adversaries.__all__]
    classes = {one for one in public if isinstance(one, type)} - {adversaries.Adversary}
    assert classes <= {type(make()) for make in (MAKE | OF_VECTORS).values()}


def test_gains_depend_on_the_stream_alone_and_not_on_how_rounds_are_cut_into_blocks():
    """Nor on who writes over them; and `fill` writes the same, into a strided view as vector environments do."""
    for name, lengths in one_each(MAKE | OF_VECTORS, LENGTHS):
        adversary = (MAKE | OF_VECTORS)[name]()
        whole = gains_in_blocks(adversary, [ROUNDS])
        np.testing.assert_array_equal(gains_in_blocks(adversary, lengths), whole)
        np.testing.assert_array_equal(gains_in_blocks((MAKE | OF_VECTORS)[name](), lengths), whole)
        adversary.begin(np.random.default_rng(3))
        adversary.next_gains(50).fill(0.125)
        np.testing.assert_array_equal(adversary.next_gains(50), whole[50:100])
        wide = np.full((ROUNDS, 2, adversary.n_arms), np.nan)
        adversary.begin(np.random.default_rng(3))
        adversary.fill(wide[:, 1])
        np.testing.assert_array_equal(wide[:, 1], whole)
        assert np.isnan(wide[:, 0]).all()


@pytest.mark.parametrize("make", MAKE.values(), ids=MAKE.keys())
def test_gains_are_in_the_unit_interval_and_their_average_is_the_declared_mean(make):
    """Each arm's average over 700 rounds has a standard error of at most 0.5 / sqrt(700): allow five of them.

    False alarm: 2.3e-6 (five standard errors, two sides, four arms).
    """
    adversary = make()
    gains = gains_in_blocks(adversary, [ROUNDS])
    assert gains.shape == (ROUNDS, adversary.n_arms) and gains.dtype == np.float64
    assert gains.min() >= 0 and gains.max() <= 1
    if isinstance(adversary, adversaries.Oblivious):
        gains = gains[:: adversary.period]  # held gains are no new draws
    if adversary.means is not None:
        assert np.all(np.abs(gains.mean(axis=0) - adversary.means) <= 5 * 0.5 / np.sqrt(len(gains)))


@pytest.mark.parametrize(
    ("make", "given"),
    [
        (lambda given: adversaries.Stochastic(means=given[0], horizon=3), np.full((3, 2), 0.0)),
        (adversaries.OutcomePools, np.zeros((2, 3))),
        (adversaries.Replay, np.zeros((3, 2))),
        (adversaries.VectorTable, np.zeros((3, 2))),
        (lambda given: adversaries.LinearGains(features=given, horizon=3), np.eye(2)),
    ],
)
def test_what_an_adversary_is_given_is_copied(make, given):
    one, other = make(given.copy()), make(given)
    given[:] = 0.5
    for each in (one, other):
        each.begin(np.random.default_rng(3))
    np.testing.assert_array_equal(one.next_gains(3), other.next_gains(3))


def test_declared_means_are_those_of_the_paper():
    for made in (adversaries.Stochastic, adversaries.FullyOblivious, adversaries.Oblivious):
        np.testing.assert_allclose(made().means, [0.55, 0.5, 0.5, 0.5], rtol=1e-15)
    np.testing.assert_allclose(adversaries.FullyOblivious(n_arms=3, gap=0.25).means, [0.75, 0.5, 0.5], rtol=1e-15)
    assert adversaries.Stochastic(means=np.full(7, 0.5)).n_arms == 7


TWO_COINS = functools.partial(adversaries.Stochastic, 2)


@pytest.mark.parametrize(
    ("made", "argument", "values", "words"),
    [
        (TWO_COINS, "means", ([0.5, 1.1], [-0.1, 0.5], [0.5, np.nan], [[0.5, 0.5]], 0.5, [0.5] * 3), (2, "[0, 1]")),
        (adversaries.FullyOblivious, "gap", (-0.01, 0.26, np.nan), ("[0, 0.25]", ...)),
        (adversaries.Oblivious, "period", (0, 1.5), (1, ...)),
        (adversaries.SwitchingCost, "horizon", (1,), (2, 1)),
        (adversaries.MemoryBounded, "memory", (-1, 1.5), (0, ...)),
        (adversaries.OutcomePools, "pools", ([np.ones(3)], *([[wrong], [0.5]] for wrong in (1.5, -0.1, np.nan))), None),
        (adversaries.OutcomePools, "pools", ([[], [0.5]],), None),
        (adversaries.Trial, "outcome", ("cured",), ("'event_free'", "'cd4_not_fallen'", "'cured'")),
        (adversaries.Leaning, "gap", (-0.1, 1.1, np.nan), (...,)),
        (adversaries.OneAxis, "gap", (1.1,), (...,)),
        (functools.partial(adversaries.VectorTable, np.zeros((7, 2))), "horizon", (8,), (7, 8)),
        (functools.partial(adversaries.Replay, TABLE), "horizon", (0, 1.5, True, ROUNDS + 1), (...,)),
        (functools.partial(adversaries.Shifting, horizon=10), "shifts", (10, -1), (...,)),
        (adversaries.Shifting, "budget", (-0.5, np.nan, np.inf), (...,)),
        (functools.partial(adversaries.Shifting, shifts=2), "budget", (1.0,), ("shifts",)),
        (adversaries.Shifting, "gap", (0.0, 1.5), (...,)),
        (adversaries.BernoulliPrior, "alpha", (0, -1.0, np.nan, np.inf), (0, ...)),
        (adversaries.BernoulliPrior, "beta", (np.inf,), (0, ...)),
        (adversaries.BernoulliPrior, "n_arms", (1,), (2, ...)),
        (adversaries.BernoulliPrior, "horizon", (2.5,), (1, ...)),
        (adversaries.LinearGains, "features", ([[0.5]], [[2.0], [0.1]], [[0.0, 0.0]] * 3, [0.5, 0.5], "two"), ()),
        (adversaries.LinearGains, "features", ([[np.nan], [0.1]], [[0.1], [0.1, 0.2]]), ()),
        (functools.partial(adversaries.LinearGains, features=np.eye(2)), "n_arms", (5,), ("features", "dimension")),
        (functools.partial(adversaries.LinearGains, features=np.eye(2)), "dimension", (3,), ("features", "n_arms")),
        (adversaries.LinearGains, "gap", (2,), (...,)),
    ],
)
def test_wrong_arguments_are_refused_by_name(made, argument, values, words):
    """An ellipsis stands for the value that was received."""
    for value in values:
        named = () if words is None else (argument, *(value if word is ... else word for word in words))
        with refused(ValueError, *named):
            made(**{argument: value})


# ---- gains of another shape ----------------------------------------------------------------------------------------


class Shaped(Adversary):
    """Three arms and nine rounds, whatever it returns."""

    def __init__(self, shape):
        super().__init__(3, 9)
        self.shape = shape

    def begin(self, rng):
        """Do nothing."""

    def next_gains(self, rounds):
        return np.zeros(self.shape)


@pytest.mark.parametrize("shape", [(9, 7), (9, 1), (3,), (9, 3, 1), ()])
def test_gains_of_another_shape_are_refused(shape):
    with refused(WrongGainsError, "Shaped", "(9, 3)", str(shape)) as caught:
        play(BanditEnv(Shaped(shape)), Uniform(), seed=0)
    with refused(WrongGainsError, "Shaped", "(9, 3)", str(shape)):
        simulate(lambda: BanditEnv(Shaped(shape)), {"uniform": Uniform}, trials=4, seed=0)
    with pytest.raises(BoundaryError):
        play(LaplaceClipRescale(BanditEnv(Shaped(shape)), epsilon=1.0), Uniform(), seed=0)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


class Written(Shaped):
    """Returns something else."""

    def next_gains(self, rounds):
        return self.shape


@pytest.mark.parametrize("values", [[["cell-17", 0, 1]] * 9, [[0.5, 0.5], [0.5]], {"cell-17": 1}])
def test_what_is_no_table_of_numbers_is_refused_without_showing_it(values):
    with refused(WrongGainsError, "Written", "(9, 3)") as error:
        play(BanditEnv(Written(values)), Uniform(), seed=0)
    assert "cell-17" not in str(error.value)
    assert str(pickle.loads(pickle.dumps(error.value))) == str(error.value)
    with refused(WrongGainsError, "Written") as error:
        simulate(lambda: BanditEnv(Written(values)), {"uniform": Uniform}, trials=4, seed=0)
    assert "cell-17" not in str(error.value)
