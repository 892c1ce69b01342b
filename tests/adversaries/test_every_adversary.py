"""What every adversary promises: gains in [0, 1], or vectors of their set, that depend on the random stream alone."""

import copy
import functools
import math
import pickle

import numpy as np
import pytest

from dp_bandit_envs import Adversary, LaplaceClipRescale, Ledger, adversaries, make_algorithm, play, simulate
from dp_bandit_envs.adversaries import Alternating, Leaning, Oblivious, OneAxis, Replay, VectorTable
from dp_bandit_envs.agents import Uniform
from dp_bandit_envs.decisions import Ball, Cube
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.envs.registration import GAMES
from dp_bandit_envs.errors import BoundaryError, GainFileError, WrongGainsError, WrongGameError
from tests.tools.doors import one_each
from tests.tools.refusals import refused

ROUNDS = 700
VECTORS = np.random.default_rng(8).uniform(-0.3, 0.3, (ROUNDS, 3))
OF_VECTORS = {
    "Leaning": lambda: Leaning(4, ROUNDS),
    "Leaning, all": lambda: Leaning(3, ROUNDS, gap=1.0),
    "OneAxis": lambda: OneAxis(5, ROUNDS),
    "OneAxis, no gap": lambda: OneAxis(2, ROUNDS, gap=0.0),
    "Alternating": lambda: Alternating(3, ROUNDS),
    "VectorTable": lambda: VectorTable(VECTORS),
}
every_adversary = pytest.mark.parametrize("make", OF_VECTORS.values(), ids=OF_VECTORS.keys())


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
    # A table is played row by row.
    np.testing.assert_array_equal(gains_in_blocks(VectorTable(VECTORS), [50]), VECTORS)
    assert VectorTable(VECTORS, 5).horizon == 5
    # Nor is an error: one negative coordinate would show in which games refuse the table.
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


# ---- every adversary


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


@pytest.mark.thorough
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
        (adversaries.ConstrainedCoins, "gap", (0.0, 1.5, np.nan), (...,)),
        (adversaries.LeaderBlocks, "gap", (0.0, -1.0), (...,)),
        (adversaries.LeaderBlocks, "blocks", (0, 1.5), (...,)),
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


# ---- gains of another shape


class Shaped(Adversary):
    """Three arms and nine rounds, whatever it returns."""

    def __init__(self, shape):
        super().__init__(3, 9)
        self.shape = shape

    def begin(self, rng):
        """Do nothing."""

    def next_gains(self, rounds):
        return np.zeros(self.shape)


@pytest.mark.thorough_cases("shape0")
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


# ---- games that are played at the same time


class History(Adversary):
    """Keeps an array and a list for all games, the list twice, and shows both in the gains."""

    def __init__(self):
        super().__init__(2, 50)
        self.place, self.seen = np.zeros(2), []
        self.own = {"list": self.seen}

    def begin(self, rng):
        self.rng = rng
        self.place[:] = 0
        self.seen.clear()

    def next_gains(self, rounds):
        gains = np.empty((rounds, 2))
        for row in gains:
            self.seen.append(self.rng.random())
            self.place += self.seen[-1]
            self.place %= 1
            row[:] = np.mean(self.own["list"]), self.place[1] / len(self.seen)
        return gains


class Inside(Adversary):
    """Has another adversary in a list."""

    def __init__(self):
        super().__init__(3, 50)
        self.parts = [Oblivious(3, 50)]

    def begin(self, rng):
        self.parts[0].begin(rng)

    def next_gains(self, rounds):
        return self.parts[0].next_gains(rounds)


both = pytest.mark.parametrize("made", [History, Inside])


@pytest.mark.thorough
@both
def test_games_side_by_side_are_those_of_play(made):
    outcome = simulate(lambda: BanditEnv(made()), ["Uniform"], trials=5, seed=1)["Uniform"]
    for trial in range(5):
        game = play(BanditEnv(made()), make_algorithm("Uniform"), seed=1, trial=trial)
        assert outcome.external_regret[trial, -1] == game.external_regret[-1], (outcome.engine, trial)


@both
def test_a_copy_in_the_middle_of_a_game_goes_on_by_itself(made):
    one, alone = made(), made()
    for each in (one, alone):
        each.begin(np.random.default_rng(2))
        each.next_gains(10)
    expected = alone.next_gains(40).tolist()
    for copied in (copy.deepcopy(one), pickle.loads(pickle.dumps(one))):
        assert copied.next_gains(40).tolist() == expected
    assert one.next_gains(40).tolist() == expected


def test_what_copies_share(tmp_path):
    """Read-only tables and ledgers; and what cannot be copied, but not in the middle of a game."""
    one = Inside()
    one.table, one.other = np.ones(5), np.ones(5)
    one.table.flags.writeable = False
    one.bound, one.ledger = one.next_gains, Ledger(epsilon=1)
    two = copy.copy(one)
    assert two.table is one.table and two.ledger is one.ledger and two.other is not one.other
    assert two.bound.__self__ is two
    with (tmp_path / "open").open("w") as one.parts[0].file:
        assert copy.copy(one).parts[0].file is one.parts[0].file
        with pytest.raises(TypeError):
            copy.deepcopy(one)
    one = Inside()
    assert not one.is_real
    one.parts.append(Replay(np.ones((60, 3))))
    assert one.is_real and one.data_use.record == 1  # in a list, data are real too


def test_copies_share_the_ledger_and_cost_no_game():
    ledger = Ledger(epsilon=3)
    env = LaplaceClipRescale(BanditEnv(Replay(np.tile([0.2, 0.6], (20, 1)), ledger=ledger)), epsilon=1)
    env.reset()
    below = env.unwrapped
    copied = copy.deepcopy(below)
    assert [copied.step(1)[1] for _ in range(20)] == [below.step(1)[1] for _ in range(20)] == [0.6] * 20
    assert copied.adversary.ledger is ledger
    assert ledger.spent.games == 1
    env.reset()
    env.step(0)
    assert ledger.spent.games == 2
