"""Adversaries and mechanisms of others that do not draw from their stream only are refused before a simulation."""

import contextlib
import random
import threading
from typing import NamedTuple

import numpy as np
import pytest

from dp_bandit_envs import Adversary, Exp3, Ledger, compare, register_adversary, simulate
from dp_bandit_envs.adversaries import MemoryBounded
from dp_bandit_envs.adversaries.adversary import RoundByRound
from dp_bandit_envs.algorithms import Algorithm
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.errors import NotRepeatableError
from dp_bandit_envs.privacy import Mechanism, PrivacyGuarantee
from dp_bandit_envs.privacy.participation import Participation
from dp_bandit_envs.wrappers import PrivacyBoundary
from tests.tools.refusals import refused

ROUNDS = 300
OWN = np.random.default_rng(1)


class Mine(Adversary):
    """Coins from the stream that it is given."""

    last = 0.0

    def __init__(self, n_arms=3, horizon=ROUNDS):
        super().__init__(n_arms, horizon)
        self.own = np.random.default_rng(5)

    def begin(self, rng):
        """Keep the stream."""
        self.rng, self.t = rng, 0

    def next_gains(self, rounds):
        """Toss coins."""
        gains = np.array([[self.coin() for _ in range(self.n_arms)] for _ in range(rounds)]) < 0.5
        self.t += rounds
        return gains.astype(float)

    def coin(self):
        """Return a number below 1."""
        return (self.rng.random() + self.last) % 1


def broken(name, **methods):
    """Return a class with other methods."""
    return type(name, (Mine,), methods)


def goes_on(self, rng):
    Mine.begin(self, rng)
    self.last += 0.25


def counts_games(self, rng):
    Mine.begin(self, rng)
    type(self).last += 0.25


def draws_more(self, rounds):
    # Shows it in what it takes of the stream only.
    self.rng.random(random.randrange(1000))
    return np.full((rounds, self.n_arms), 0.5)


def fails_by_chance(self, rng):
    Mine.begin(self, rng)
    if random.random() < 0.8:
        raise ValueError


OfNumpy = broken("OfNumpy", coin=lambda self: np.random.random())  # noqa: NPY002
FailsByChance = broken("FailsByChance", begin=fails_by_chance)
BROKEN = [
    OfNumpy,
    FailsByChance,
    broken("OfTheModule", coin=lambda self: OWN.random()),
    broken("OfItsOwn", coin=lambda self: self.own.random()),
    broken("OfEntropy", begin=lambda self, rng: Mine.begin(self, np.random.default_rng())),
    broken("GoesOn", begin=goes_on),
    broken("CountsGames", begin=counts_games),
    broken("DrawsMore", next_gains=draws_more),
]


class Turn(NamedTuple):
    """The round in which gains change."""

    turn: np.ndarray


def turned(state, t, row, rng):
    row[:] = 0.25 if t < state.turn[0] else 0.75


class LateTurn(RoundByRound):
    """Shows it in its state long before it does in gains."""

    next_round = staticmethod(turned)

    def first_round_state(self, rng):
        """Draw the turn."""
        return Turn(np.array([random.randrange(10**6)]))


@pytest.mark.parametrize("made", [*BROKEN, LateTurn])
def test_an_adversary_that_does_not_draw_from_its_rng_only_is_refused_by_name(made):
    """Whether each game has a new one, or all share one that was given."""
    env = BanditEnv(made(3, ROUNDS))
    for make in (lambda: BanditEnv(made(3, ROUNDS)), lambda: env):
        with refused(NotRepeatableError, made.__name__, "elsewhere than rng", "keeps something from game to game"):
            simulate(make, ["EXP3"], trials=2)


def test_what_is_drawn_while_it_is_made_is_found_where_each_game_has_a_new_one():
    def made():
        adversary = Mine()
        adversary.last = random.random()
        return BanditEnv(adversary)

    with refused(NotRepeatableError, "Mine"):
        simulate(made, ["EXP3"])
    env = made()
    assert simulate(lambda: env, ["Uniform"])["Uniform"].reason == ""


def test_one_inside_another_and_one_that_is_registered_are_found_and_named():
    with refused(NotRepeatableError, "OfNumpy must"):
        simulate(lambda: BanditEnv(MemoryBounded(gains=OfNumpy(3, ROUNDS))), ["EXP3"])
    game = register_adversary("DrawsElsewhere", OfNumpy)
    with refused(NotRepeatableError, "OfNumpy"):
        simulate(game, ["Uniform"], horizon=20)
    with refused(NotRepeatableError, "OfNumpy"):  # before anything is played
        compare(game, ["Uniform", "EXP3"], horizon=20, trials=2, progress=False)


@pytest.mark.parametrize("made", [Mine, FailsByChance])
def test_global_generators_are_put_back(made):
    before = random.getstate(), np.random.get_state()  # noqa: NPY002
    with contextlib.nullcontext() if made is Mine else pytest.raises(NotRepeatableError):
        assert simulate(lambda: BanditEnv(made()), ["Uniform"])["Uniform"].reason == ""
    np.testing.assert_equal((random.getstate(), np.random.get_state()), before)  # noqa: NPY002


class Locked(Mine):
    """Has what cannot be copied."""

    def __init__(self):
        super().__init__()
        self.lock = threading.Lock()


def test_what_cannot_be_copied_is_not_checked_and_the_result_says_so():
    env = BanditEnv(Locked())
    outcome = simulate(lambda: env, ["Uniform"])["Uniform"]
    assert "Locked cannot be copied" in outcome.reason and outcome.engine == "compiled"
    assert simulate(lambda: BanditEnv(Locked()), ["Uniform"])["Uniform"].reason == ""


@pytest.mark.parametrize("of", ["records", "real", "ledger"])
def test_recorded_data_are_never_played_for_it(of):
    begun = []

    def made():
        # It would be refused if it were played.
        adversary = type("Recorded", (OfNumpy,), {"begin": lambda self, rng: begun.append(self.enter_ledger())})()
        adversary.t, adversary._is_real = 0, of == "real" or None
        adversary.data_use = None if of == "real" else Participation(1)
        adversary.ledger = Ledger(epsilon=9) if of == "ledger" else None
        return BanditEnv(adversary)

    simulate(made, ["DP-EXP3-Lap:epsilon=1"], trials=2)
    assert len(begun) == 2


class Honest(NamedTuple):
    """The chance, and how often each arm was seen."""

    chance: float
    seen: np.ndarray


def honest(state, arm, gain, rng):
    state.seen[arm] += 1
    return (gain if rng.random() < state.chance else 0.5), 1


def dishonest(state, arm, gain, rng):
    return (gain if np.random.random() < state.chance else 0.5), 1  # noqa: NPY002


def idle_elsewhere(state, arm, rng):
    state.seen[arm] += random.randrange(1000)
    return 0.0, 0


class Coin(Mechanism):
    """Shows a gain by chance."""

    release = staticmethod(honest)

    def __init__(self, chance=0.5):
        self.chance = chance

    def new_state(self, below):
        """Return the chance."""
        return Honest(self.chance, np.zeros(below.n_values, np.int64))

    def guarantee(self, below):
        """Claim nothing."""
        return PrivacyGuarantee.none("a test")


class CoinOfNumpy(Coin):
    """Draws noise from elsewhere."""

    release = staticmethod(dishonest)


class CoinOfPythonFromTheStart(Coin):
    """Draws a first state from elsewhere."""

    def new_state(self, below):
        """Return it."""
        return Honest(0.5, np.full(below.n_values, random.randrange(10**6)))


class CoinOfPythonWhileIdle(Coin):
    """Draws from elsewhere while other arms are played."""

    idle = staticmethod(idle_elsewhere)


def behind(mechanism):
    return Algorithm("mine", Exp3, lambda env: PrivacyBoundary(env, mechanism()))


@pytest.mark.parametrize(
    ("mechanism", "game"),
    [(CoinOfNumpy, "Graph"), (CoinOfPythonFromTheStart, "Replay"), (CoinOfPythonWhileIdle, "Stochastic")],
)
def test_a_mechanism_that_does_not_draw_from_its_rng_only_is_refused_by_name(mechanism, game):
    with refused(NotRepeatableError, f"{mechanism.__name__} must", "releases or states"):
        simulate(f"DPBandit-{game}-v0", [behind(mechanism)], horizon=40)


@pytest.mark.thorough
def test_an_honest_mechanism_is_simulated():
    assert simulate("DPBandit-Stochastic-v0", [behind(Coin)], horizon=40)["mine"].reason == ""
