"""An own agent: the solution wins, wrong ones get the words that fit, and its cell becomes a file that plays alone."""

import random
from typing import NamedTuple

import numpy as np
import pytest

from dp_bandit_envs.agents import FunctionalAgent
from dp_bandit_envs.agents.functional import Functions
from dp_bandit_envs.course.checking import WrongAnswer
from dp_bandit_envs.course.lab_own_agent import (
    ENOUGH,
    FIRST_LINE,
    GAMES,
    LEAGUES,
    Greedy,
    LeagueRegrets,
    State,
    cell_source,
    check_it_plays,
    check_own_agent,
    in_words,
    play_leagues,
    save_submission,
    select,
    update,
)
from dp_bandit_envs.labs.solutions.your_own_agent import MyAgent


@pytest.mark.thorough
def test_the_solution_wins_every_league_and_greedy_does_not_beat_itself():
    assert play_leagues(MyAgent, 1, leagues=4).won == 4
    same = play_leagues(Greedy, 1, leagues=4)
    assert same.won < 4
    assert same.chance > 2 * same.agent[:, -1].mean()


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


@pytest.mark.thorough
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
    return LeagueRegrets(np.outer(own, quarters), np.outer(greedy, quarters), 3000.0)


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


def test_thirty_three_leagues_are_enough_at_the_rates_of_the_binomial_law():
    own = np.repeat([400.0, 500.0], [ENOUGH * GAMES, (LEAGUES - ENOUGH) * GAMES])
    assert "33 of 40 leagues" in in_words(played(own, GREEDY))
    own[0] += 10_000.0
    with pytest.raises(WrongAnswer):
        in_words(played(own, GREEDY))
    stats = pytest.importorskip("scipy.stats")
    assert stats.binom.cdf(ENOUGH - 1, LEAGUES, 0.95) == pytest.approx(7.2e-4, rel=0.02)
    assert stats.binom.sf(ENOUGH - 1, LEAGUES, 0.5) <= 2.2e-5


def test_a_saved_file_plays_alone_and_may_be_saved_again(tmp_path):
    for _ in range(2):
        verdict = save_submission(MyAgent, "optimist", tmp_path / "new")
        assert verdict.passed
        assert "dp-bandit run Stochastic optimist:MyAgent EXP3" in str(verdict)
        assert str(verdict).startswith("Saved. ")
    names = {"__name__": "alone"}
    exec((tmp_path / "new" / "optimist.py").read_text(encoding="utf-8"), names)
    names["MyAgent"]().begin(n_arms=3, horizon=10, rng=np.random.default_rng(1))


class Elsewhere(Greedy):
    functions = Functions(Greedy.functions.select, update)


@pytest.mark.parametrize(
    ("agent", "name", "said"),
    [
        (Greedy(), "mine", "Give the agent's class"),
        (None, "mine", "Give the agent's class"),
        (Greedy, "../mine", "begin with a letter"),
        (Greedy, "", "begin with a letter"),
        (Greedy, "a" * 41, "at most 40"),
        (Elsewhere, "mine", "have to be in the same cell"),
    ],
)
def test_what_cannot_be_saved_is_explained(agent, name, said, tmp_path):
    verdict = save_submission(agent, name, tmp_path)
    assert not verdict.passed
    assert said in verdict.says
    assert not any(tmp_path.iterdir())


NOTEBOOK = """\
WIDTH = 0.1
{first}
@app.cell
def _(FunctionalAgent, Functions, NamedTuple, np):
{body}
    return (MyAgent,)
"""


def agent_of(text, folder):
    """Return the agent of a notebook's text, as marimo makes it when the notebook runs as a program."""
    path = folder / "notebook.py"
    path.write_text(text, encoding="utf-8")
    taken = []

    class App:
        def cell(self, function):
            taken.append(function)
            return function

    names = {"app": App()}
    exec(compile(text, str(path), "exec"), names)
    parts = {"FunctionalAgent": FunctionalAgent, "Functions": Functions, "NamedTuple": NamedTuple}
    return taken[0](**parts, np=np)[0]


BODY = """\
    class State(NamedTuple):
        sums: np.ndarray

    def select(state, rng):
        return int(rng.random() * len(state.sums) * {number})

    def update(state, arm, seen):
        return state

    class MyAgent(FunctionalAgent):
        functions = Functions(select, update)

        def initial_state(self, n_arms, horizon):
            return State(np.zeros(n_arms))
"""


def test_the_cell_alone_is_saved(tmp_path):
    agent = agent_of(NOTEBOOK.format(first="", body=BODY.format(number="1.0")), tmp_path)
    source = cell_source(agent)
    assert source.startswith("class State(NamedTuple):")
    assert source.endswith("return State(np.zeros(n_arms))")
    assert save_submission(agent, "mine", tmp_path / "folder").passed


def test_what_the_cell_lacks_is_named(tmp_path):
    agent = agent_of(NOTEBOOK.format(first="", body=BODY.format(number="WIDTH")), tmp_path)
    verdict = save_submission(agent, "mine", tmp_path / "folder")
    assert "name 'WIDTH' is not defined" in verdict.says
    assert "has to be in its cell" in verdict.says
    assert not (tmp_path / "folder").exists()


def test_a_file_of_others_is_left_alone(tmp_path):
    (tmp_path / "mine.py").write_text("# my thesis\n", encoding="utf-8")
    assert "Take another name" in save_submission(MyAgent, "mine", tmp_path).says
    assert (tmp_path / "mine.py").read_text(encoding="utf-8") == "# my thesis\n"
    assert not FIRST_LINE.startswith("# my")


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
