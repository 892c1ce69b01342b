"""Agents print the parameters that were chosen, and are made again from them."""

import inspect
import math

import numpy as np
import pytest

from dp_bandit_envs import Exp3, agents, play
from dp_bandit_envs.adversaries import Deterministic
from dp_bandit_envs.agents import FunctionalAgent, FunctionalPointAgent, RandomLabels, Ucb
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.envs.experts_env import ExpertsEnv
from dp_bandit_envs.protocols import Sums
from dp_bandit_envs.wrappers import ExactSums
from tests.tools.refusals import refused


def own_width(n_arms, horizon, sensitivity):
    raise NotImplementedError


OTHER = {
    "agent": Ucb(forced=1.0),
    "alpha": 4.0,
    "bonus": 0.25,
    "constants": "improved",
    "discount": 0.5,
    "each_first": True,
    "epsilon": 0.5,
    "exploration": 3.0,
    "exploration_rate": 0.125,
    "failure_probability": 0.25,
    "forced": 2.0,
    "fresh_probability": 0.5,
    "index": "kl",
    "lazy": True,
    "leader_share": 0.25,
    "learning_rate": 0.5,
    "level": 2.0,
    "log_factor": 2.0,
    "most_draws": 7,
    "normal": True,
    "period": 10,
    "rule": "episodes",
    "shifts": 3,
    "sigma": 2.0,
    "window": 20,
}
CLASSES = [kind for name in agents.__all__ if not inspect.isabstract(kind := getattr(agents, name))]


def cases():
    for kind in CLASSES:
        for name in inspect.signature(kind).parameters:
            if name in OTHER:  # but for functions, and texts that need other parameters
                yield pytest.param(kind, name, id=f"{kind.__name__}-{name}")


@pytest.mark.parametrize(("kind", "name"), list(cases()))
def test_every_parameter_is_printed_and_cloned(kind, name):
    agent = kind(**{name: OTHER[name]})
    again = eval(repr(agent), {**vars(agents), "inf": math.inf})
    assert repr(agent).startswith(f"{kind.__name__}({name}=")
    for other in (again, agent.clone()):
        assert type(other) is kind and other is not agent
        assert repr(other) == repr(agent)
        assert {**other.parameters, "agent": 0} == {**agent.parameters, "agent": 0}


@pytest.mark.parametrize("kind", [kind for kind in CLASSES if kind is not RandomLabels])
def test_defaults_are_not_printed(kind):
    assert repr(kind()) == repr(kind().clone()) == f"{kind.__name__}()"


def test_a_clone_plays_what_the_agent_plays():
    def arms(agent):
        game = ExpertsEnv if agent.feedback == "full" else BanditEnv
        env = game(gains=Deterministic(3, 60)) if game is ExpertsEnv else game(Deterministic(3, 60))
        return play(ExactSums(env) if agent.learns_from is Sums else env, agent, seed=3).arms

    for kind in CLASSES:
        if issubclass(kind, FunctionalPointAgent) or "features" in str(inspect.getsource(kind)):
            continue
        given = [name for name in inspect.signature(kind).parameters if name in OTHER and name != "each_first"]
        agent = kind(**{name: OTHER[name] for name in given[:1]})
        np.testing.assert_array_equal(arms(agent), arms(agent.clone()), err_msg=repr(agent))


def test_a_clone_has_no_game_and_takes_other_values():
    agent = Exp3(exploration_rate=0.5)
    agent.begin(n_arms=2, horizon=10, rng=np.random.default_rng(0))
    with refused(Exception, "begin(n_arms=, horizon=, rng=)"):
        agent.clone().select_arm()
    assert agent.clone(exploration_rate=0.25).exploration_rate == 0.25
    with refused(TypeError, "exploration_rat", "Did you mean exploration_rate"):
        agent.clone(exploration_rat=0.25)


def test_the_agent_of_a_clone_is_another_one():
    agent = RandomLabels(Ucb(exploration=3.0))
    assert agent.clone().agent is not agent.agent
    assert repr(agent.clone()) == "RandomLabels(agent=Ucb(exploration=3.0))"


def test_functions_are_printed_by_name():
    assert repr(Ucb(width=own_width)) == f"Ucb(width={__name__}.own_width)"
    assert Ucb(width=own_width).clone().width is own_width


class Named(FunctionalAgent):
    """An agent that keeps one argument under another name."""

    functions = Exp3.functions

    def __init__(self, share, *, other=1):
        self.share, self._other = share, other

    def initial_state(self, n_arms, horizon):
        raise NotImplementedError


def test_an_agent_of_ones_own_is_printed_and_says_what_it_must_store():
    assert repr(Named(0.5)) == "Named(share=0.5)"
    with refused(TypeError, "Named", "'other'", "self.other = other"):
        Named(0.5).clone()
    assert Named(0.5).clone(other=2)._other == 2
