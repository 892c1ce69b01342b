"""What the writer of an agent, a mechanism or a payoff function reads if Numba cannot compile it."""

import logging
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from dp_bandit_envs import Algorithm, simulate
from dp_bandit_envs.adversaries import Stochastic
from dp_bandit_envs.agents import FunctionalAgent
from dp_bandit_envs.agents.functional import Functions
from dp_bandit_envs.compiling import compiled
from dp_bandit_envs.envs.bandit_env import BanditEnv

GAME = "DPBandit-Stochastic-v0"


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


def mixed_values(state, arm, seen):
    words = {"gain": [1.0]}
    words["arm"] = 3  # here
    return state


def in_words(state, arm, seen):
    str(f"{seen.gains[arm]:.2f}")  # here
    return state


def two_types(state, rng):
    return "first" if len(state.totals) > 9 else 0  # here


def draws_elsewhere(state, rng):
    return int(np.random.default_rng(3).integers(2))  # here


def look_up(values):
    return {value: place for place, value in enumerate(values)}[0.0].bit_length()  # here


def calls_another(state, rng):
    return look_up(state.totals) * 0


def helps_itself(state, rng):
    return max(range(len(state.totals)), key=lambda arm: state.totals[arm])  # here


BROKEN = [
    (agent(learn=mixed_values), mixed_values, "Mine"),
    (agent(learn=in_words), in_words, "Mine"),
    (agent(choose=two_types), two_types, "Mine"),
    (agent(choose=draws_elsewhere), draws_elsewhere, "Mine"),
    (agent(choose=helps_itself), helps_itself, "Mine"),
]


def line_marked(function):
    """Return the number of the line in a function of this file that ends in `# here`."""
    return line_marked_in(__file__, function)


def line_marked_in(file, function):
    """Return the number of the line in a function of a file that ends in `# here`."""
    lines = Path(file).read_text(encoding="utf-8").splitlines()
    first = function.__code__.co_firstlineno
    return next(number for number in range(first, first + 9) if lines[number - 1].endswith("# here"))


@pytest.fixture
def heard(monkeypatch, caplog):
    """Let this test hear what is said once in a process."""
    monkeypatch.setattr(compiled, "_said", set())
    caplog.set_level(logging.WARNING, "dp_bandit_envs")
    return caplog


@pytest.mark.parametrize("made, function, owner", BROKEN, ids=[function.__name__ for _, function, _ in BROKEN])
def test_the_reason_names_the_agent_the_function_and_the_line(made, function, owner, heard):
    outcome = simulate(GAME, {"mine": made}, horizon=20)["mine"]
    assert outcome.engine == "play"
    place = f"{function.__name__} of {owner} (test_refused_by_numba.py, line {line_marked(function)})"
    assert place in outcome.reason
    assert len(outcome.reason) < 320 and "\n" not in outcome.reason
    assert [text for text in heard.messages if text.startswith("mine is played") and place in text]


def test_a_function_that_a_function_calls_is_named_itself():
    made = agent(choose=calls_another)
    reason = simulate(GAME, {"mine": made}, horizon=20)["mine"].reason
    assert "look_up (test_refused_by_numba.py" in reason and "calls_another" not in reason


def test_a_state_that_machine_code_cannot_hold_is_named():
    made = agent(learn=keeps_a_dict, choose=first_arm, first=lambda zeros: {"totals": zeros})
    reason = simulate(GAME, {"mine": made}, horizon=20)["mine"].reason
    assert "state" in reason and "NamedTuple" in reason and "keeps_a_dict of Mine" in reason


def keeps_a_dict(state, arm, seen):
    return state


def first_arm(state, rng):
    return 0


def late(gains, arms, t):
    return float(f"{gains[arms[-1]]:.3f}")


def test_a_payoff_function_is_named_with_its_adversary():
    class Late(Stochastic):
        payoff = staticmethod(late)

    reason = simulate(lambda: BanditEnv(Late(horizon=20)), ["EXP3"])["EXP3"].reason
    assert "late, the payoff function of Late (test_refused_by_numba.py, line " in reason


def test_an_own_agent_that_is_compiled_is_announced_once(heard):
    made = {"mine": agent(), "other": Algorithm("other", agent(learn=keeps_a_dict))}
    for _ in range(2):
        assert simulate(GAME, made, horizon=20)["mine"].engine == "compiled"
    assert [text for text in heard.messages if "compiling" in text] == [
        "compiling Mine: some seconds, once in each process that plays it"
    ]


def test_what_is_on_disk_is_not_announced(heard):
    simulate(GAME, ["EXP3"], horizon=30_000, trials=4)
    heard.clear()
    compiled._said.clear()
    simulate(GAME, ["EXP3"], horizon=30_000, trials=4)
    assert heard.messages == []
