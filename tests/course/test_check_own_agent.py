"""The check of an own agent: the solution wins, and each kind of wrong agent gets the words that fit."""

import random

import numpy as np
import pytest

from dp_bandit_envs.agents import FunctionalAgent
from dp_bandit_envs.agents.functional import Functions
from dp_bandit_envs.course.checking import WrongAnswer
from dp_bandit_envs.course.lab_own_agent import (
    ENOUGH,
    GAMES,
    LEAGUES,
    Greedy,
    Played,
    State,
    check_it_plays,
    check_own_agent,
    in_words,
    play_leagues,
    select,
    update,
)
from dp_bandit_envs.labs.solutions.your_own_agent import MyAgent


def test_the_solution_wins_every_league_and_greedy_does_not_beat_itself():
    assert play_leagues(MyAgent, 1, leagues=4).won == 4
    same = play_leagues(Greedy, 1, leagues=4)
    assert same.won < 4
    assert same.chance > 2 * same.own[:, -1].mean()


class TenArms(Greedy):
    functions = Functions(lambda state, rng: 10, update)


class Remembers:
    """Goes on where the game before ended."""

    rounds = 0

    def begin(self, *, n_arms, horizon, rng):
        self.n_arms = n_arms

    def select_arm(self):
        Remembers.rounds += 1
        return Remembers.rounds % self.n_arms

    def update(self, arm, observation):
        pass


class OwnCoin(Greedy):
    functions = Functions(lambda state, rng: random.randrange(len(state.sums)), update)


class WholeArrays(Greedy):
    functions = Functions(lambda state, rng: int(np.argmax(state.sums + 1)) if (state.sums + 1).all() else 0, update)


class InPython:
    def begin(self, *, n_arms, horizon, rng):
        self.rng, self.n_arms = rng, n_arms

    def select_arm(self):
        return int(self.rng.integers(self.n_arms))

    def update(self, arm, observation):
        pass


class NoState(FunctionalAgent):
    functions = Functions(select, lambda state, arm, seen: None)

    def initial_state(self, n_arms, horizon):
        return State(np.zeros(n_arms), np.zeros(n_arms), 0.1)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (None, "no agent yet"),
        ("MyAgent", "text"),
        (Greedy(), "Give the agent's class"),
        (TenArms, "an integer in [0, 3] in this game; received 10"),
        (Remembers, "A rule for agents is broken"),
        (OwnCoin, "Draw from the rng of begin only"),
        (WholeArrays, "read and write single elements"),
        (NoState, "write return state"),
        (InPython, "step by step in Python"),
    ],
)
def test_a_broken_agent_is_explained(wrong, said):
    with pytest.raises(WrongAnswer) as caught:
        check_it_plays(wrong)
    assert said in str(caught.value)


def played(own, greedy, quarters=(0.4, 0.6, 0.8, 1.0)):
    """Return leagues with these regrets at the end, shape `(games,)`, and this share of them after each quarter."""
    return Played(np.outer(own, quarters), np.outer(greedy, quarters), 3000.0)


GREEDY = np.full(LEAGUES * GAMES, 430.0)


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (played(GREEDY + 1, GREEDY), "tell two arms apart through the noise"),
        (played(np.full(1000, 2900.0), GREEDY), "hardly better than chance"),
        (played(np.where(np.arange(1000) % 10, 200.0, 4000.0), GREEDY), "in a few it stays with a worse arm"),
        (played(GREEDY + 300, GREEDY, (0.25, 0.5, 0.75, 1.0)), "goes on trying"),
    ],
)
def test_an_agent_that_loses_is_told_how(found, said):
    with pytest.raises(WrongAnswer) as caught:
        in_words(found)
    assert said in str(caught.value)
    assert "It wins 0 of 40 leagues" in str(caught.value)


def test_thirty_three_leagues_are_enough():
    own = np.repeat([400.0, 500.0], [ENOUGH * GAMES, (LEAGUES - ENOUGH) * GAMES])
    assert "33 of 40 leagues" in in_words(played(own, GREEDY))
    own[0] += 10_000.0
    with pytest.raises(WrongAnswer):
        in_words(played(own, GREEDY))


def test_the_stated_rates_are_those_of_the_binomial_law():
    stats = pytest.importorskip("scipy.stats")
    assert stats.binom.cdf(ENOUGH - 1, LEAGUES, 0.95) == pytest.approx(7.2e-4, rel=0.02)
    assert stats.binom.sf(ENOUGH - 1, LEAGUES, 0.5) <= 2.2e-5


@pytest.mark.slow
def test_the_solution_passes_with_two_hundred_seeds_and_widths():
    """A right agent, which wins 95 % of leagues, is refused with a probability of 7.2e-4; these win nearly all of them.

    If each won 99 %, one of the 200 would be refused with a probability below 1e-5 (binomial).
    """
    widths = np.linspace(0.07, 0.13, 200)
    won = [play_leagues(lambda width=width: MyAgent(width), seed).won for seed, width in enumerate(widths)]
    assert min(won) >= ENOUGH


@pytest.mark.slow
def test_whole_checks():
    assert check_own_agent(MyAgent).passed
    assert "tell two arms apart" in check_own_agent(Greedy).says
    assert "in a few it stays with a worse arm" in check_own_agent(lambda: Greedy(0.0)).says
    assert "goes on trying" in check_own_agent(lambda: Greedy(0.3)).says
    assert "hardly better than chance" in check_own_agent(lambda: Greedy(1.0)).says
