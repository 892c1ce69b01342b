"""What a round pays: charges and functions of the last m + 1 arms, by hand, and the same in every engine."""

import functools
import itertools
import math
import operator
import pickle
import types

import gymnasium as gym
import numba
import numpy as np
import pytest

from dp_bandit_envs import LaplaceClipRescale, make_algorithm, play, simulate
from dp_bandit_envs.adversaries import Adversary, GainTable, MemoryBounded, Stochastic, SwitchingCost, overfished, stay
from dp_bandit_envs.agents import Exp3
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.envs.bandit_vector_env import BanditVectorEnv
from dp_bandit_envs.envs.graph_env import GraphEnv, GraphVectorEnv
from dp_bandit_envs.errors import BoundaryError, GainRangeError, PayoffRangeError, WrongTypeError
from dp_bandit_envs.simulation import engines as engines_module
from dp_bandit_envs.wrappers import HybridSums, MiniBatchAverage, vector
from tests.tools import payoff_functions as functions
from tests.tools.refusals import refused

BY_HAND = [
    # A gain counts if the arm was also played in the m rounds before, or in all of them while there are fewer.
    (0, [0, 0, 1, 1, 1, 0, 2, 2], [1, 1, 1, 1, 1, 1, 1, 1]),
    (1, [0, 0, 1, 1, 1, 0, 2, 2], [1, 1, 0, 1, 1, 0, 0, 1]),
    (2, [0, 0, 1, 1, 1, 0, 2, 2], [1, 1, 0, 0, 1, 0, 0, 0]),
    (2, [0, 1, 1, 1, 1, 1, 0, 1], [1, 0, 0, 1, 1, 1, 0, 0]),  # round 3 still remembers round 1
    (3, [0, 0, 0, 0, 1, 1, 1, 1], [1, 1, 1, 1, 0, 0, 0, 1]),
    (100, [1, 1, 1, 1, 0, 1, 1, 1], [1, 1, 1, 1, 0, 0, 0, 0]),  # a switch is never forgotten
]


def rewards(env, arms, seed=0):
    env.reset(seed=seed)
    return [env.step(arm)[1] for arm in arms]


@pytest.mark.parametrize(("memory", "arms", "counts"), BY_HAND)
def test_charges_by_hand(memory, arms, counts):
    """Of many games the second stays with arm 2 and pays nothing, so a charge that mixes up games would show."""
    for block_length in (1, 3, 8):
        ones = GainTable(np.ones((8, 3)))
        env = BanditEnv(MemoryBounded(memory=memory, gains=ones), block_length=block_length)
        assert rewards(env, arms) == counts
    env = BanditVectorEnv(2, MemoryBounded(memory=memory, gains=GainTable(np.ones((8, 3)))))
    env.reset(seed=0)
    seen = np.array([env.step(np.array([arm, 2]))[1] for arm in arms])
    assert (seen[:, 0].tolist(), seen[:, 1].tolist()) == (counts, [1] * 8)


def test_charged_gain_is_the_tables_own_or_zero():
    table = np.array([[0.1, 0.9], [0.2, 0.8], [0.3, 0.7], [0.4, 0.6]])
    env = BanditEnv(MemoryBounded(memory=1, gains=GainTable(table)))
    assert rewards(env, [0, 1, 1, 0]) == [0.1, 0.0, 0.7, 0.0]
    np.testing.assert_allclose(env.cumulative_gains, [1.0, 3.0], rtol=1e-15)  # before any charge
    assert env.collected == pytest.approx(0.8, rel=1e-15)
    # A new game forgets the last ones arms.
    env = BanditEnv(MemoryBounded(memory=1, gains=GainTable(np.ones((4, 2)))))
    assert rewards(env, [0, 0, 0, 0]) == [1, 1, 1, 1]
    assert rewards(env, [1, 1, 0, 0]) == [1, 1, 0, 1]
    # The other adversary brings its own size.
    adversary = MemoryBounded(4, 1000, gains=Stochastic(n_arms=7, horizon=50))
    assert (adversary.n_arms, adversary.horizon) == (7, 50)
    # Memory one over the walk is the switching cost game.
    arms = np.random.default_rng(0).integers(4, size=300).tolist()
    remembering = rewards(BanditEnv(MemoryBounded(horizon=300, memory=1)), arms, seed=9)
    assert remembering == rewards(BanditEnv(SwitchingCost(horizon=300)), arms, seed=9)
    assert 0.0 in remembering


# ---- games that pay by a function of the last m + 1 arms


ID = "DPBandit-MemoryBounded-v0"
ROWS = np.array([[0.5, 0.25, 1.0], [0.75, 0.5, 0.0], [0.25, 1.0, 0.5], [1.0, 0.125, 0.75], [0.5, 0.5, 0.625]])
PAYOFFS = [stay, overfished, functions.late, functions.weighted, functions.helped, functions.repeated]


def game(payoff, memory, rows=ROWS, **options):
    return BanditEnv(MemoryBounded(memory=memory, gains=GainTable(rows), payoff=payoff), **options)


def test_overfished_game_by_hand():
    """A gain is worth a quarter after arm 0; in round 1, the arm played counts as the one before."""
    env = game(overfished, 1)
    assert rewards(env, [0, 0, 1, 1]) == [0.5 / 4, 0.75 / 4, 1.0 / 4, 0.125]
    # In the last place of (0, 0, 1, 1): arm 0 pays .125 + .1875 + .0625 + 1, arm 1 .25 + .125 + .25 + .125, and
    # arm 2 1 + 0 + .125 + .75, which is the most.
    assert env.external_regret() == 1.875 - 0.6875
    # Throughout: arm 0 pays a quarter of 2.5, arm 1 1.875, arm 2 1 + 0 + .5 + .75.
    assert env.policy_regret() == 2.25 - 0.6875
    # In round 1 all m + 1 arms are the first; with m = 2, arm 0 of round 1 is forgotten in round 4.
    assert rewards(game(overfished, 2), [0, 1, 1, 1]) == [0.5 / 4, 0.5 / 4, 1.0 / 4, 0.125]
    # Whatever is played, no arm in the last place would have changed a round but the first: 1 bounds the regret.
    rows = np.tile([1.0, 0.0], (50, 1))
    env = game(functions.late, 1, rows)
    rewards(env, [1] * 50)
    assert env.external_regret() == 1.0  # round 1 is its own past
    assert env.policy_regret() == 50.0


def added(numbers):
    """Return the sum from left to right; from Python 3.12 on `sum` makes up for rounding, which games do not."""
    return functools.reduce(operator.add, numbers)


def by_definition(payoff, memory, arms, rows):
    """Return rewards, external and policy regret from f_t(x_1, ..., x_t), written down as in the docstring."""

    def f(t, played):
        last = ([played[0]] * (memory + 1) + list(played))[-(memory + 1) :]
        return float(payoff(rows[t - 1], np.array(last), t))

    rounds, n_arms = range(1, len(arms) + 1), rows.shape[1]
    earned = [f(t, arms[:t]) for t in rounds]
    external = max(added(f(t, [*arms[: t - 1], y]) for t in rounds) for y in range(n_arms))
    policy = max(added(f(t, [y] * t) for t in rounds) for y in range(n_arms))
    return earned, external - added(earned), policy - added(earned)


@pytest.mark.thorough
def test_every_history_pays_by_definition():
    for n_arms, rounds, memory in [(2, 5, 0), (2, 5, 1), (2, 5, 2), (3, 4, 1), (3, 4, 9)]:
        for payoff in PAYOFFS if memory == 1 else [functions.weighted]:
            rows = ROWS[:rounds, :n_arms].copy()
            env = game(payoff, memory, rows, block_length=2)
            for arms in itertools.product(range(n_arms), repeat=rounds):
                earned, external, policy = by_definition(payoff, memory, arms, rows)
                assert rewards(env, arms) == earned
                assert env.external_regret() == external
                assert env.policy_regret() == policy


def test_a_vector_of_games_pays_by_definition():
    """Two games with other histories, so that a mix-up would show."""
    for memory in [0, 1, 3]:
        for payoff in PAYOFFS:
            env = BanditVectorEnv(2, MemoryBounded(memory=memory, gains=GainTable(ROWS), payoff=payoff))
            for arms in ([0, 1, 1, 2, 0], [2, 2, 2, 1, 1]), ([1, 1, 0, 0, 0], [0, 0, 0, 0, 2]):
                env.reset(seed=0)
                seen = np.array([env.step(np.array(pair))[1] for pair in zip(*arms, strict=True)]).T
                for played, earned, external, policy in zip(
                    arms, seen, env.external_regret(), env.policy_regret(), strict=True
                ):
                    assert (earned.tolist(), external, policy) == by_definition(payoff, memory, played, ROWS)


@pytest.mark.thorough
@pytest.mark.parametrize("memory", [0, 2])
def test_stay_pays_as_the_default_charge(memory):
    """The same rewards and policy regret, to the last bit; external regret too where m = 0."""
    rows = np.random.default_rng(1).random((5, 3))
    default, written = game(None, memory, rows), game(stay, memory, rows)
    for arms in itertools.product(range(3), repeat=5):
        assert rewards(default, arms) == rewards(written, arms)
        assert default.policy_regret() == default.external_regret() == written.policy_regret()
        assert memory > 0 or written.external_regret() == default.external_regret()


@pytest.mark.thorough
def test_low_external_regret_hides_linear_policy_regret():
    """EXP3 learns the arm that is better after every history; the other one's constant play pays .275 a round more."""
    horizon = 40_000
    coins = Stochastic(2, horizon, means=(0.9, 0.5))
    arguments = {"payoff": overfished, "memory": 1, "gains": coins}
    checkpoints = [horizon // 4, horizon]
    outcome = simulate(ID, ["EXP3"], trials=5, checkpoints=checkpoints, env_kwargs=arguments)["EXP3"]
    assert outcome.engine == "compiled", outcome.reason
    early, late = outcome.external_regret.mean(axis=0)
    assert late < 0.015 * horizon and late < 3 * early  # sublinear: four times the rounds, less than thrice the regret
    early, late = outcome.policy_regret.mean(axis=0)
    assert late > 0.23 * horizon and late > 3.9 * early
    # Arm 0 in every round would lose (.5 - .9 / 4) T = .275 T; what EXP3 loses is the more, the less it explores.
    assert late < 0.275 * horizon


def test_one_rounds_gains_move_that_rounds_observation_only():
    """What the sensitivity of privacy wrappers counts on, by changing one row under the same arms."""
    arms, changed = [0, 1, 1, 2, 0], ROWS.copy()
    changed[2] = [1.0, 0.0, 0.25]
    for payoff in PAYOFFS:
        seen = []
        for rows in (ROWS, changed):
            env = game(payoff, 2, rows)
            env.reset(seed=0)
            seen.append([env.step(arm)[0]["gain"] for arm in arms])
        moved = np.abs(np.array(seen[0]) - np.array(seen[1])).sum(axis=1)
        assert moved[[0, 1, 3, 4]].tolist() == [0, 0, 0, 0] and moved[2] <= game(payoff, 2).sensitivity == 1


def test_agents_see_gains_instead_of_payoffs_if_charges_are_not_observed():
    env = game(overfished, 1, observe_charge=False)
    env.reset(seed=0)
    observation, reward, *_ = env.step(0), env.step(0)[1]
    assert observation[0]["gain"].tolist() == [0.5, 0, 0] and reward == 0.75 / 4

    # Pseudo regret is unknown where rounds pay by a function.
    class Coins(Stochastic):
        payoff = staticmethod(overfished)
        memory = 1

    env = BanditEnv(Coins(horizon=50))
    assert play(env, make_algorithm("EXP3")).pseudo_regret is None
    assert simulate(lambda: BanditEnv(Coins(horizon=50)), ["EXP3"])["EXP3"].pseudo_regret is None


compiled_late = numba.njit(functions.late)


def test_gym_makes_the_game_and_a_pickle_keeps_it():
    """A function that Numba compiled counts as its Python function."""
    env = gym.make(ID, n_arms=3, horizon=20, payoff=overfished, memory=3)
    again = pickle.loads(pickle.dumps(env.unwrapped))
    for each in (env.unwrapped, again):
        assert each.adversary.payoff is overfished and each.adversary.memory == 3
    arms = [0, 1, 2, 0, 0] * 4
    assert rewards(env, arms) == rewards(again, arms)
    assert gym.make_vec(ID, num_envs=2, horizon=20, payoff=stay).unwrapped.adversaries[1].payoff is stay
    by_numba = game(compiled_late, 1)
    assert rewards(by_numba, [0, 1, 2]) == rewards(game(functions.late, 1), [0, 1, 2])
    pickle.loads(pickle.dumps(by_numba))


@pytest.mark.parametrize("payoff", functions.WRONG, ids=lambda payoff: payoff.__name__)
def test_payoffs_outside_their_range_are_refused(payoff):
    """Also of an arm that was not played, and of a constant play that nobody made."""
    rows = np.full((9, 3), 0.5)
    env = game(payoff, 1, rows)
    with pytest.raises(PayoffRangeError, match=r"must return a number in \[0, 1\].*withheld") as caught:
        rewards(env, [0] * 9)
    assert isinstance(caught.value, GainRangeError)
    assert pickle.loads(pickle.dumps(caught.value)).args == caught.value.args
    vector = BanditVectorEnv(2, MemoryBounded(memory=1, gains=GainTable(rows), payoff=payoff))
    vector.reset(seed=0)
    with pytest.raises(PayoffRangeError):
        for _ in range(9):
            vector.step(np.zeros(2, int))


def shows_other_rounds(gains, arms, t):
    return 0.5 if gains.base is None else 1.0


def test_a_payoff_function_gets_a_copy_of_its_round():
    """The base of a view of the block would hold all rounds of it. Parameters may come from a function around."""
    assert rewards(game(within(0.5), 0), [0, 1]) == [0.25, 0.25]
    assert rewards(game(shows_other_rounds, 1), [0, 1]) == [0.5, 0.5]
    # A payoff may know the rounds of its own game only.
    assert rewards(game(fails_for_some, 1), [0]) == [0.5]


SEEN: list = [0.0]


def appends(gains, arms, t):
    SEEN.append(gains[0])
    return SEEN[-2]


def draws(gains, arms, t):
    return np.random.random()  # noqa: NPY002  (that is what is refused)


def counting():
    count = 0

    def counted(gains, arms, t):
        nonlocal count
        count += 1
        return 1.0 / count

    return counted


def within(kept):
    def payoff(gains, arms, t):
        return kept * gains[arms[-1]]

    return payoff


KEEPS = [appends, draws, counting()]


@pytest.mark.parametrize("payoff", KEEPS, ids=lambda payoff: payoff.__name__)
def test_a_function_that_pays_by_what_it_was_asked_before_is_refused(payoff):
    """Past gains in a later payoff would let one round move two releases, and noise is for one."""
    for memory in (0, 2):
        with refused(ValueError, "payoff", "no state", payoff.__name__, "asked the same", "Use its arguments"):
            MemoryBounded(payoff=payoff, memory=memory)
    with refused(ValueError, payoff.__name__):
        BanditEnv(types.new_class("Own", (Stochastic,), {}, lambda body: body.update(payoff=staticmethod(payoff)))())


def fails_for_some(gains, arms, t):
    return {1: 0.5}[t]


class WithState:
    """Could keep anything."""

    def method(self, gains, arms, t):
        return 0.5


def two(gains, arms):
    return 0.5


@pytest.mark.parametrize(
    ("payoff", "match"),
    [
        ("stay", "must be a plain function .* received a str"),
        (WithState().method, "received a method.*staticmethod"),
        (math.sqrt, "received a builtin"),
        (two, r"must take \(gains, arms, t\); two takes \(gains, arms\)"),
    ],
    ids=["text", "method", "builtin", "two-arguments"],
)
def test_payoff_must_be_a_plain_function_of_three_arguments(payoff, match):
    with pytest.raises(WrongTypeError, match=match):
        MemoryBounded(payoff=payoff)


def test_an_adversarys_own_payoff_and_memory_are_checked_too():
    class Forgot(Stochastic):
        def payoff(self, gains, arms, t):
            return 0.5

    with pytest.raises(WrongTypeError, match="staticmethod"):
        BanditEnv(Forgot())
    with pytest.raises(WrongTypeError, match="staticmethod"):
        BanditVectorEnv(2, Forgot())
    odd = types.new_class("Odd", (Stochastic,), {}, lambda body: body.update(payoff=staticmethod(stay), memory=-1))
    with pytest.raises(ValueError, match="memory must be an integer of at least 0"):
        BanditEnv(odd())
    with pytest.raises(ValueError, match="memory must be at most 65,536"):
        MemoryBounded(memory=2**16 + 1, payoff=stay)
    assert Adversary.payoff is None


# ---- engines


HORIZON = 331  # prime
CURVES = ("external_regret", "policy_regret", "collected", "switches")


def names(payoff):
    return getattr(payoff, "__name__", None)


def assert_same(make_env, algorithms, *, trials=2, engine="compiled"):
    """Compare at every round, so that equal curves leave no room for other arms."""
    every_round = range(1, make_env().unwrapped.horizon + 1)
    simulation = simulate(make_env, algorithms, trials=trials, seed=7, checkpoints=every_round)
    for name, outcome in simulation.items():
        assert outcome.engine == engine, outcome.reason
        for trial in range(trials):
            game = play(make_env(), make_algorithm(name), seed=7, trial=trial)
            for curve in CURVES:
                assert np.array_equal(getattr(outcome, curve)[trial], getattr(game, curve)), (name, curve)
            assert np.array_equal(outcome.pulls[trial], np.bincount(game.arms, minlength=len(outcome.pulls[trial])))
    return simulation


@pytest.mark.thorough
@pytest.mark.slow_cases(
    "helped-1-True-algorithms4",
    "overfished-1-False-algorithms1",
    "repeated-3-True-algorithms5",
    "weighted-0-True-algorithms3",
    "weighted-4-True-algorithms2",
)
@pytest.mark.parametrize(
    ("payoff", "memory", "observe_charge", "algorithms"),
    [
        (stay, 2, True, ["DP-EXP3-Lap"]),
        (overfished, 1, False, ["EXP3", "UCB"]),
        (functions.weighted, 4, True, ["EXP3-tau"]),
        (functions.weighted, 0, True, ["EXP3"]),
        (functions.helped, 1, True, ["UCB"]),
        (functions.repeated, 3, True, ["EXP3"]),
    ],
    ids=names,
)
def test_played_and_compiled_games_are_the_same(monkeypatch, payoff, memory, observe_charge, algorithms):
    monkeypatch.setattr(engines_module, "ROUNDS_AT_ONCE", 100)

    def make_env():
        coins = Stochastic(3, HORIZON, means=(0.7, 0.5, 0.4))
        return gym.make(ID, payoff=payoff, memory=memory, gains=coins, observe_charge=observe_charge)

    assert_same(make_env, algorithms)


@pytest.mark.thorough
@pytest.mark.slow_cases("overfished-False-algorithms2", "weighted-True-algorithms0")
@pytest.mark.parametrize(
    ("payoff", "observe_charge", "algorithms"),
    [
        (functions.weighted, True, ["EXP3-SET"]),
        (overfished, True, ["UCB-N"]),
        (overfished, False, ["EXP3-SET"]),
    ],
    ids=names,
)
def test_on_a_graph_too(payoff, observe_charge, algorithms):
    def make_env():
        gains = MemoryBounded(memory=2, gains=Stochastic(5, HORIZON), payoff=payoff)
        return gym.make("DPBandit-Graph-v0", graph="cycle", gains=gains, observe_charge=observe_charge)

    assert_same(make_env, algorithms)


def test_neighbours_show_what_they_would_have_paid_by_hand():
    rows = np.array([[0.5, 0.25, 1.0], [0.75, 0.5, 0.25]])

    def gains():
        return MemoryBounded(memory=1, gains=GainTable(rows), payoff=overfished)

    env, envs = GraphEnv("complete", gains=gains()), GraphVectorEnv(2, "complete", gains=gains())
    for one in (env, envs):
        one.reset(seed=0)
    # Round 1 takes each arm's own past: only arm 0 finds the water overfished. Round 2 comes after arm 0.
    assert env.step(0)[0]["gain"].tolist() == [0.5 / 4, 0.25, 1.0]
    assert env.step(1)[0]["gain"].tolist() == [0.75 / 4, 0.5 / 4, 0.25 / 4]
    assert envs.step(np.array([0, 1]))[0]["gain"].tolist() == [[0.125, 0.25, 1.0]] * 2
    assert envs.step(np.array([1, 1]))[0]["gain"].tolist() == [[0.1875, 0.125, 0.0625], [0.75, 0.5, 0.25]]
    assert env.sensitivity == envs.sensitivity == 3
    # Sensitivity and guarantee are those of the game without memory.
    for wrapping in (
        lambda env: MiniBatchAverage(LaplaceClipRescale(env, epsilon=2.0), batch_size=7),
        lambda env: HybridSums(env, epsilon=1.0),
    ):
        plain = wrapping(gym.make("DPBandit-Stochastic-v0", horizon=50))
        paid = wrapping(gym.make(ID, gains=Stochastic(4, 50), memory=3, payoff=functions.weighted))
        assert (paid.sensitivity, paid.guarantee) == (plain.sensitivity, plain.guarantee)


@pytest.mark.thorough
def test_what_cannot_be_compiled_is_played_and_the_reason_says_so():
    """And pays as the function that does the same and can be compiled; other checkpoints change nothing."""
    given = {"memory": 2, "horizon": HORIZON}
    every, few, played = (
        simulate(ID, ["EXP3"], checkpoints=rounds, env_kwargs={**given, "payoff": payoff})["EXP3"]
        for payoff, rounds in (
            (functions.weighted, range(1, HORIZON + 1)),
            (functions.weighted, [10, 200, HORIZON]),
            (functions.interpreted, range(1, HORIZON + 1)),
        )
    )
    assert (every.engine, played.engine) == ("compiled", "play")
    assert "interpreted, the payoff function of MemoryBounded (payoff_functions.py, line " in played.reason
    for curve in CURVES:
        assert np.array_equal(getattr(every, curve), getattr(played, curve))
        assert np.array_equal(getattr(few, curve), getattr(every, curve)[:, [9, 199, HORIZON - 1]])


@pytest.mark.thorough
@pytest.mark.slow_cases("too_much")
@pytest.mark.parametrize("payoff", [functions.too_much, functions.only_constant_play_is_too_much], ids=names)
def test_wrong_payoffs_are_refused_by_every_engine_and_withheld_by_a_boundary(payoff):
    def make_env():
        return BanditEnv(MemoryBounded(3, 50, payoff=payoff, memory=1))

    for name in ("EXP3", "DP-EXP3-Lap"):  # who made the game sees the error, which names no number
        with pytest.raises(PayoffRangeError, match="withheld"):
            play(make_env(), make_algorithm(name))
    with pytest.raises(PayoffRangeError, match="withheld"):
        simulate(make_env, ["EXP3"])
    with pytest.raises(BoundaryError, match="withheld") as caught:
        play(LaplaceClipRescale(make_env(), epsilon=1.0), Exp3())
    assert caught.value.__cause__ is None and caught.value.__context__ is None
    envs = vector.LaplaceClipRescale(gym.make_vec(ID, num_envs=2, n_arms=3, horizon=50, payoff=payoff), epsilon=1.0)
    envs.reset(seed=0)
    with pytest.raises(BoundaryError, match="withheld"):
        for _ in range(50):
            envs.step(np.array([0, 1]))


@pytest.mark.thorough
@pytest.mark.slow_cases("writes_gains-ValueError-read-only")
@pytest.mark.parametrize(
    ("payoff", "error", "match"),
    [
        (functions.writes_gains, ValueError, "read-only"),
        (functions.writes_arms, ValueError, "read-only"),
        (functions.beyond_the_arms, IndexError, None),
    ],
    ids=names,
)
def test_a_function_cannot_write_to_its_arguments_or_read_beyond_the_arms(payoff, error, match):
    """All algorithms of a trial share the gains: what writes does not compile, and when it is played it is refused."""
    arguments = {"payoff": payoff, "memory": 1, "horizon": 50}
    with pytest.raises(error, match=match):
        play(gym.make(ID, **arguments), Exp3())
    with pytest.raises(error, match=match):
        simulate(ID, ["EXP3"], env_kwargs=arguments)
