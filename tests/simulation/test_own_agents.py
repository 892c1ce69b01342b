"""What the writer of an agent reads if a method is missing, if Numba refuses a function, or if compiled code fails."""
# ruff: noqa: NPY002 (some draw from the generators of the process, which is what is refused)

import logging
import math
import random
from pathlib import Path
from typing import NamedTuple

import gymnasium as gym
import numba
import numpy as np
import pytest
from numpy.random import standard_normal

from dp_bandit_envs import Algorithm, LaplaceClipRescale, play, simulate
from dp_bandit_envs.adversaries import Stochastic
from dp_bandit_envs.agents import FunctionalAgent
from dp_bandit_envs.agents.functional import Functions
from dp_bandit_envs.compiling import compiled
from dp_bandit_envs.envs.bandit_env import BanditEnv
from tests.tools.refusals import missing, refused

GAME = "DPBandit-Stochastic-v0"
STREAM = np.random.default_rng(1)


class Fine:
    """Plays arm 0."""

    def begin(self, *, n_arms, horizon, rng):
        """Begin."""

    def select_arm(self):
        """Return arm 0."""
        return 0

    def update(self, arm, observation):
        """Learn nothing."""


def fails_with(**methods):
    """Return `Fine` with other methods."""
    return type("Mine", (Fine,), methods)


AsksForReward = fails_with(update=lambda self, arm, observation: observation["reward"])


def game(wrap=lambda env: env):
    return wrap(gym.make(GAME, horizon=5))


def test_a_missing_method_and_wrong_names_of_arguments_are_named():
    with refused(TypeError, "Mine", "no update"):
        play(game(), fails_with(update=None)())
    with refused(TypeError, "begin(n_arms=, horizon=, rng=)", "Mine.begin(n_arms, horizon)"):
        play(game(), fails_with(begin=lambda self, n_arms, horizon: None)())
    assert play(game(), Fine()).arms.tolist() == [0] * 5


def test_a_missing_key_comes_with_those_that_there_are_and_another_error_stays_as_it_is():
    with pytest.raises(KeyError) as caught:
        play(game(lambda env: LaplaceClipRescale(env, epsilon=1.0)), AsksForReward())
    assert not missing("\n".join(caught.value.__notes__), "gain", "observed")
    with pytest.raises(KeyError) as caught:
        play(game(), fails_with(update=lambda self, arm, observation: {}[arm])())
    assert not hasattr(caught.value, "__notes__")


class State(NamedTuple):
    """Sums of gains."""

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
