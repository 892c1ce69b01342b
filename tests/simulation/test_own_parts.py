"""What the writer of an agent, a mechanism or an adversary gets: the same games everywhere, or a reason with a name."""

# ruff: noqa: NPY002 (some draw from the generators of the process, which is what is refused)

import contextlib
import functools
import logging
import math
import random
import threading
from pathlib import Path
from typing import NamedTuple

import gymnasium as gym
import numba
import numpy as np
import pytest
from numpy.random import standard_normal

from dp_bandit_envs import Adversary, Exp3, LaplaceClipRescale, Ledger, compare, play, register_adversary, simulate
from dp_bandit_envs.adversaries import MemoryBounded, Stochastic
from dp_bandit_envs.adversaries.adversary import RoundByRound
from dp_bandit_envs.agents import FunctionalAgent, Ucb
from dp_bandit_envs.agents.functional import Functions
from dp_bandit_envs.algorithms import Algorithm
from dp_bandit_envs.compiling import compiled
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.errors import BoundaryError, NotRepeatableError, WrongTypeError
from dp_bandit_envs.privacy import InputFacts, Mechanism, Noise, PrivacyGuarantee
from dp_bandit_envs.privacy.facts import all_gains_of_arms
from dp_bandit_envs.privacy.participation import Participation
from dp_bandit_envs.wrappers import PrivacyBoundary
from dp_bandit_envs.wrappers.vector import VectorPrivacyBoundary
from tests.tools.both_ways import assert_same, batch
from tests.tools.refusals import missing, refused
from tests.tools.toys import Script

GAME = "DPBandit-Stochastic-v0"
STREAM = np.random.default_rng(1)


def fails_with(**methods):
    """Return `Script` with other methods."""
    return type("Mine", (Script,), methods)


AsksForReward = fails_with(update=lambda self, arm, observation: observation["reward"])


def game(wrap=lambda env: env):
    return wrap(gym.make(GAME, horizon=5))


def test_a_missing_method_and_wrong_names_of_arguments_are_named():
    with refused(TypeError, "Mine", "no update"):
        play(game(), fails_with(update=None)())
    with refused(TypeError, "begin(n_arms=, horizon=, rng=)", "Mine.begin(n_arms, horizon)"):
        play(game(), fails_with(begin=lambda self, n_arms, horizon: None)())
    assert play(game(), Script()).arms.tolist() == [0] * 5


def test_a_missing_key_comes_with_those_that_there_are_and_another_error_stays_as_it_is():
    with pytest.raises(KeyError) as caught:
        play(game(lambda env: LaplaceClipRescale(env, epsilon=1.0)), AsksForReward())
    assert not missing("\n".join(caught.value.__notes__), "gain", "observed")
    with pytest.raises(KeyError) as caught:
        play(game(), fails_with(update=lambda self, arm, observation: {}[arm])())
    assert not hasattr(caught.value, "__notes__")


class State(NamedTuple):
    totals: np.ndarray


def select(state, rng):
    return int(rng.random() * len(state.totals))


def update(state, arm, seen):
    state.totals[arm] += seen.gains[arm]
    return state


def agent(choose=select, learn=update, first=State):
    """Return an agent's class of these functions."""

    class Mine(FunctionalAgent):
        functions = Functions(choose, learn)

        def initial_state(self, n_arms, horizon):
            return first(np.zeros(n_arms))

    return Mine


def in_words(state, arm, seen):
    str(f"{seen.gains[arm]:.2f}")  # here
    return state


def two_types(state, rng):
    return "first" if len(state.totals) > 9 else 0  # here


def look_up(values):
    return {value: place for place, value in enumerate(values)}[0.0].bit_length()  # here


def calls_another(state, rng):
    return look_up(state.totals) * 0


def of_numpy(state, rng):
    return int(np.random.random() * len(state.totals))  # here


def by_name(state, rng):
    return int(standard_normal() > 0)  # here


def of_its_own(state, rng):
    return int(STREAM.random() > 0.5)  # here


@numba.njit
def tossed():
    return np.random.random()


def compiled_by_hand(state, rng):
    return int(tossed() > 0.5)  # here


def under_another_name(state, rng):
    n = np  # here
    return int(n.random.random() * len(state.totals))


def helps(n):
    return int(np.random.random() * n)  # here


def through_another(state, rng):
    return helps(len(state.totals))


def by_choice(state, rng):
    return rng.choice(len(state.totals))  # here


def many_draws(state, rng):
    return int(rng.random(2)[0])  # here


def replaces(state, arm, seen):
    return state._replace(totals=state.totals)  # here


def learns_by_chance(state, arm, seen):
    state.totals[arm] += random.gauss(0.0, 1.0)  # here
    return state


def keeps_a_dict(state, arm, seen):
    return state  # here


REFUSED = {
    in_words: ({"learn": in_words}, " of Mine"),
    two_types: ({"choose": two_types}, " of Mine"),
    look_up: ({"choose": calls_another}, ""),
    of_numpy: ({"choose": of_numpy}, " of Mine", "np.random", "rng.random()"),
    by_name: ({"choose": by_name}, " of Mine", "standard_normal", "rng.random()"),
    of_its_own: ({"choose": of_its_own}, " of Mine", "STREAM", "rng.random()"),
    compiled_by_hand: ({"choose": compiled_by_hand}, " of Mine", "tossed", "rng.random()"),
    under_another_name: ({"choose": under_another_name}, " of Mine", "np.random", "rng.random()"),
    helps: ({"choose": through_another}, "", "np.random"),
    by_choice: ({"choose": by_choice}, " of Mine", "rng.choice", "rng.integers(n)"),
    many_draws: ({"choose": many_draws}, " of Mine", "rng.random", "one number at a time"),
    replaces: ({"learn": replaces}, " of Mine", "_replace", "State(...)"),
    learns_by_chance: ({"learn": learns_by_chance}, " of Mine", "random.gauss"),
}
"""By the function that is named: the agent's functions, whose it is, and other words of the reason."""


def line_marked(function):
    """Return the number of the line in a function of this file that ends in `# here`."""
    lines, first = Path(__file__).read_text(encoding="utf-8").splitlines(), function.__code__.co_firstlineno
    return next(number for number in range(first, first + 9) if lines[number - 1].endswith("# here"))


@pytest.fixture
def heard(monkeypatch, caplog):
    """Let this test hear what is said once in a process."""
    monkeypatch.setattr(compiled, "_said", set())
    caplog.set_level(logging.WARNING, "dp_bandit_envs")
    return caplog


@pytest.mark.thorough
@pytest.mark.parametrize("function", REFUSED, ids=lambda function: function.__name__)
def test_what_cannot_be_compiled_or_draws_elsewhere_is_played_and_named_with_its_line(function, heard):
    functions, owner, *words = REFUSED[function]
    outcome = simulate(GAME, {"mine": agent(**functions)}, horizon=20)["mine"]
    assert outcome.engine == "play"
    place = f"{function.__name__}{owner} ({Path(__file__).name}, line {line_marked(function)})"
    assert not missing(outcome.reason, place, *words)
    assert "calls_another" not in outcome.reason and len(outcome.reason) < 330 and "\n" not in outcome.reason
    assert [text for text in heard.messages if text.startswith("mine is played") and place in text]


def test_a_state_that_machine_code_cannot_hold_is_named():
    made = agent(learn=keeps_a_dict, choose=lambda state, rng: 0, first=lambda zeros: {"totals": zeros})
    reason = simulate(GAME, {"mine": made}, horizon=20)["mine"].reason
    assert not missing(reason, "state", "NamedTuple", "keeps_a_dict of Mine")


def late(gains, arms, t):
    return float(f"{gains[arms[-1]]:.3f}")


@pytest.mark.thorough
def test_a_payoff_function_is_named_with_its_adversary():
    class Late(Stochastic):
        payoff = staticmethod(late)

    reason = simulate(lambda: BanditEnv(Late(horizon=20)), ["EXP3"])["EXP3"].reason
    assert f"late, the payoff function of Late ({Path(__file__).name}, line " in reason


@pytest.mark.thorough
def test_an_own_agent_that_is_compiled_is_announced_once(heard, monkeypatch):
    monkeypatch.setattr(compiled, "QUIET", 0.0)
    for made in ({"mine": agent(), "other": Algorithm("other", agent(learn=keeps_a_dict))}, {"mine": agent()}):
        assert simulate(GAME, made, horizon=20)["mine"].engine == "compiled"
    assert [text for text in heard.messages if "compiling" in text] == ["compiling Mine (once in each process)"]


def test_what_is_on_disk_is_not_announced(heard, monkeypatch):
    monkeypatch.setattr(compiled, "QUIET", 0.0)
    simulate(GAME, ["EXP3"], horizon=30_000, trials=4)
    heard.clear()
    compiled._said.clear()
    simulate(GAME, ["EXP3"], horizon=30_000, trials=4)
    assert heard.messages == []


def forgets(state, arm, seen):
    state.totals[arm] += 1.0


def by_zero(state, rng):
    return int(1 / state.totals[0])


@pytest.mark.thorough
@pytest.mark.slow_cases("no state")
@pytest.mark.parametrize(
    ("functions", "error", "words"),
    [
        ({"learn": forgets}, TypeError, ("forgets of Mine", "return state")),
        ({"choose": lambda state, rng: -3}, IndexError, ("Mine", "[0, 3]", -3)),
        ({"choose": lambda state, rng: int(state.totals[0] * math.nan)}, ValueError, ()),
    ],
    ids=["no state", "no arm", "nan"],
)
def test_what_compiled_functions_return_wrong_is_told(functions, error, words):
    with refused(error, *words):
        simulate(GAME, {"mine": agent(**functions)}, horizon=20)


@pytest.mark.thorough
def test_an_error_in_compiled_functions_names_them_and_the_agent():
    with pytest.raises(ZeroDivisionError) as caught:
        simulate(GAME, {"mine": agent(choose=by_zero)}, horizon=20)
    assert not missing("\n".join(caught.value.__notes__), "by_zero of Mine", Path(__file__).name)


# ---- mechanisms
class Share(NamedTuple):
    """Chance of a coin, and a place for each arm that counts its gains."""

    honest: float
    seen: np.ndarray


def honest_or_not(state, arm, gain, rng):
    state.seen[arm] += 1
    if rng.random() < state.honest:
        return math.floor(gain + rng.random()), 1
    return (1.0 if rng.random() < 0.5 else 0.0), state.seen[arm] % 3


class Warner(Mechanism):
    """A truthful coin with some chance, otherwise any coin; every third lie is withheld."""

    release = staticmethod(honest_or_not)

    def __init__(self, honest):
        self.honest = honest

    def new_state(self, inputs):
        return Share(self.honest, np.zeros(inputs.n_values, np.int64))

    def guarantee(self, inputs):
        return PrivacyGuarantee(epsilon=math.log((2 * self.honest + 1) / (1 - self.honest)), model="local")


class Sevens(NamedTuple):
    sums: np.ndarray
    counts: np.ndarray
    scale: float


def every_seventh(state, arm, gain, rng):
    state.sums[arm] += gain
    state.counts[arm] += 1
    if state.counts[arm] % 7:
        return 0.0, 0
    return state.sums[arm] + rng.laplace(0.0, state.scale), state.counts[arm]


def tick(state, arm, rng):
    # Arms that wait draw too, so that the drivers must agree on when they wait.
    return rng.random(), 0


def no_release(state):
    state.sums[0] += 0.0


class EverySeventh(Mechanism):
    """Releases a sum after every seventh gain of an arm; no guarantee is claimed."""

    release = staticmethod(every_seventh)
    releases_sums = True

    def __init__(self, scale, idle=False):
        self.scale = scale
        self.idle = tick if idle else None
        self.forget = no_release

    def new_state(self, inputs):
        return Sevens(np.zeros(inputs.n_values), np.zeros(inputs.n_values, np.int64), self.scale * inputs.sensitivity)

    def guarantee(self, inputs):
        return PrivacyGuarantee.none("a test")

    def noise(self, inputs):
        return Noise(inputs.sensitivity, self.scale * inputs.sensitivity)


def clock(state):
    state.seen[0] += 1


def every_third_step(state, arm, gain, rng):
    return (gain, 1) if state.seen[0] % 3 else (0.0, 0)


class ByTheClock(Warner):
    """Releases by how many steps there were."""

    release = staticmethod(every_third_step)
    forget = staticmethod(clock)


def sums_by_the_clock(state, arm, gain, rng):
    state.sums[arm] += gain
    state.counts[arm] += 1
    return (state.sums[arm], state.counts[arm]) if state.counts[-1] % 3 == 0 else (0.0, 0)


def tick_of_sums(state):
    state.counts[-1] += 1


class SumsByTheClock(EverySeventh):
    """Forgets after it got the step's gain, not before."""

    release = staticmethod(sums_by_the_clock)

    def __init__(self):
        super().__init__(0.0)
        self.forget = tick_of_sums


def in_every_round(state, arm, gain, rng):
    state.seen[arm] += 1
    return gain * rng.random(), state.seen[arm] % 2


class InEveryRound(Warner):
    """Makes batches, and releases in the middle of them too: the last release counts."""

    release = staticmethod(in_every_round)
    batch_size = 3


def behind(*mechanisms):
    """Return a wrapping of boundaries, the first one around the game."""
    return lambda env: functools.reduce(PrivacyBoundary, mechanisms, env)


CHAINS = {
    "gains": (Exp3, behind(Warner(0.5))),
    "batches of gains": (Exp3, lambda env: batch(PrivacyBoundary(env, Warner(0.9)), 2)),
    "sums, idle": (Ucb, behind(EverySeventh(2.0, idle=True))),
    "sums of gains": (Ucb, behind(Warner(0.5), EverySeventh(0.5))),
    "sums of batches": (Ucb, lambda env: PrivacyBoundary(batch(env, 3), EverySeventh(0.5, idle=True))),
    "clock": (Exp3, behind(ByTheClock(0.5))),
    "sums by the clock": (Ucb, behind(SumsByTheClock())),
    "early releases": (Exp3, behind(InEveryRound(0.5), Warner(0.7))),
    "sums of early releases": (Ucb, behind(InEveryRound(0.5), EverySeventh(0.5))),
}
GRAPHS = {"early releases": "erdos-renyi", "sums of early releases": "erdos-renyi", "sums, idle": "complete"}
"""Chains that are played on a graph, too."""
MORE = ("batches of gains", "sums of gains", "sums of batches", "sums by the clock", "early releases")
"""Chains whose parts are all in the others."""


@pytest.mark.thorough
@pytest.mark.slow_cases("sums of early releases")
@pytest.mark.parametrize("chain", [pytest.param(one, marks=pytest.mark.slow) if one in MORE else one for one in CHAINS])
def test_compiled_equals_played(chain):
    player = Algorithm(chain, *CHAINS[chain])
    assert_same("DPBandit-Stochastic-v0", [player], horizon=97)
    if chain in GRAPHS:
        redraw = {} if GRAPHS[chain] == "complete" else {"redraw_every": 2}
        assert_same("DPBandit-Graph-v0", [player], horizon=97, trials=1, graph=GRAPHS[chain], n_arms=6, **redraw)


@pytest.mark.parametrize("mechanism", [Warner(0.5), EverySeventh(2.0, idle=True)], ids=["gains", "sums"])
def test_many_games_equal_single_ones(mechanism):
    many = VectorPrivacyBoundary(gym.make_vec("DPBandit-Stochastic-v0", num_envs=3, horizon=40), mechanism)
    single = [PrivacyBoundary(gym.make("DPBandit-Stochastic-v0", horizon=40), mechanism) for _ in range(3)]
    many.reset(seed=5)
    for number, env in enumerate(single):
        env.reset(seed=5 + number)
    for t in range(40):
        arms = np.array([t % 4, 0, t // 9 % 4])
        released, rewards, *_ = many.step(arms)
        for number, env in enumerate(single):
            alone, reward, *_ = env.step(int(arms[number]))
            assert reward == rewards[number]
            for key, part in alone.items():
                assert np.array_equal(part, released[key][number])


def leaks(state, arm, gain, rng):
    return 1.5 + gain, 1


class Leaks(Warner):
    release = staticmethod(leaks)


@pytest.mark.thorough
def test_a_released_gain_outside_the_range_is_refused_in_all_three():
    env = PrivacyBoundary(gym.make("DPBandit-Deterministic-v0", horizon=9), Leaks(0.5))
    env.reset(seed=1)
    with refused(BoundaryError, "[0, 1]"):
        env.step(0)
    envs = VectorPrivacyBoundary(gym.make_vec("DPBandit-Deterministic-v0", num_envs=2, horizon=9), Leaks(0.5))
    envs.reset(seed=1)
    with refused(BoundaryError, "[0, 1]"):
        envs.step(np.zeros(2, int))
    player = Algorithm("leaks", Exp3, behind(Leaks(0.5)))
    with refused(ValueError, "[0, 1]"):
        simulate("DPBandit-Deterministic-v0", [player], horizon=50)


def test_a_mechanism_is_what_the_boundary_says_of_it():
    env = PrivacyBoundary(gym.make("DPBandit-Graph-v0", horizon=9, graph="complete", n_arms=5), EverySeventh(2.0))
    assert env.noise == Noise(5.0, 10.0, 0.0)
    assert env.inputs == InputFacts(5, 9, 5.0, 5, noise=Noise(5.0), values=all_gains_of_arms(5))
    assert env.horizon == 9 and env.sensitivity == math.inf
    env.mechanism.scale = 0.0
    assert env.mechanism.scale == 2.0


# ---- what does not draw from its stream only
ROUNDS = 300
OWN = np.random.default_rng(1)


class Mine(Adversary):
    """Coins from the stream that it is given."""

    last = 0.0

    def __init__(self, n_arms=3, horizon=ROUNDS):
        super().__init__(n_arms, horizon)
        self.own = np.random.default_rng(5)

    def begin(self, rng):
        self.rng, self.t = rng, 0

    def next_gains(self, rounds):
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


OfNumpy = broken("OfNumpy", coin=lambda self: np.random.random())
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
    turn: int


def turned(state, t, row, rng):
    row[:] = 0.25 if t < state.turn else 0.75


class LateTurn(RoundByRound):
    """Shows it in its state long before it does in gains."""

    next_round = staticmethod(turned)

    def first_round_state(self, rng):
        return Turn(random.randrange(10**6))


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
    before = random.getstate(), np.random.get_state()
    with contextlib.nullcontext() if made is Mine else pytest.raises(NotRepeatableError):
        assert simulate(lambda: BanditEnv(made()), ["Uniform"])["Uniform"].reason == ""
    np.testing.assert_equal((random.getstate(), np.random.get_state()), before)


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


def dishonest(state, arm, gain, rng):
    return (gain if np.random.random() < state.honest else 0.5), 1


def idle_elsewhere(state, arm, rng):
    state.seen[arm] += random.randrange(1000)
    return 0.0, 0


class CoinOfNumpy(Warner):
    release = staticmethod(dishonest)


class CoinOfPythonFromTheStart(Warner):
    def new_state(self, inputs):
        return Share(0.5, np.full(inputs.n_values, random.randrange(10**6)))


class CoinOfPythonWhileIdle(Warner):
    idle = staticmethod(idle_elsewhere)


@pytest.mark.parametrize(
    ("mechanism", "game"),
    [(CoinOfNumpy, "Graph"), (CoinOfPythonFromTheStart, "Replay"), (CoinOfPythonWhileIdle, "Stochastic")],
)
def test_a_mechanism_that_does_not_draw_from_its_rng_only_is_refused_by_name(mechanism, game):
    with refused(NotRepeatableError, f"{mechanism.__name__} must", "releases or states"):
        simulate(f"DPBandit-{game}-v0", [Algorithm("mine", Exp3, behind(mechanism(0.5)))], horizon=40)


@pytest.mark.thorough
def test_an_honest_mechanism_is_simulated():
    assert (
        simulate("DPBandit-Stochastic-v0", [Algorithm("mine", Exp3, behind(Warner(0.5)))], horizon=40)["mine"].reason
        == ""
    )


MADE_BY_EXEC = """
from dp_bandit_envs.agents import Exp3
from dp_bandit_envs.algorithms import Algorithm
from dp_bandit_envs.wrappers import LaplaceClipRescale

def noisy(epsilon=1.0):
    return Algorithm("mine", Exp3, lambda env: LaplaceClipRescale(env, epsilon=epsilon))
"""


class Recommending(Script):
    """Its `done` is a method, which is true without being called."""

    def recommend(self):
        return 0

    def done(self):
        return False


def test_done_must_be_no_method():
    for door in (
        lambda: play(gym.make("DPBandit-Stochastic-v0", horizon=9), Recommending([0] * 9), seed=0),
        lambda: simulate("Stochastic", lambda: Recommending([0] * 9), horizon=9, trials=1),
    ):
        with refused(WrongTypeError, "Recommending.done", "@property"):
            door()


def test_parts_made_by_exec_without_a_module_are_compared(tmp_path):
    made = {}
    exec(MADE_BY_EXEC, made)
    assert made["noisy"].__module__ is None
    compared = compare("Stochastic", made["noisy"], epsilon=2, horizon=20, trials=2, folder=tmp_path / "kept")
    assert compared[0].level.epsilon == 2
