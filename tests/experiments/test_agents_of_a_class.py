"""Agents in files of their own, all called `MyAgent`, are ranked under the names of their files."""

import sys

import pytest

from dp_bandit_envs import compare

ANNA = """import numpy as np
from dp_bandit_envs import Agent


class MyAgent(Agent):
    '''Plays an arm 20 times in a row, then the one with the best average, and now and then another.'''

    def begin(self, *, n_arms, horizon, rng):
        self.rng, self.n_arms, self.round = rng, n_arms, 0
        self.sums, self.counts = np.zeros(n_arms), np.zeros(n_arms)

    def select_arm(self):
        if self.round % 20 == 0:
            explores = self.rng.random() < 0.1
            averages = self.sums / np.maximum(self.counts, 1) + (self.counts == 0)
            self.arm = int(self.rng.random() * self.n_arms) if explores else int(np.argmax(averages))
        self.round += 1
        return self.arm

    def update(self, arm, observation):
        self.sums += observation["gain"]
        self.counts += observation["observed"]
"""
# Plays each arm once, then always the one with the best average.
BEN = """
import numpy as np
from dp_bandit_envs import Agent

class MyAgent(Agent):
    def begin(self, *, n_arms, horizon, rng):
        self.sums, self.counts, self.rng = np.zeros(n_arms), np.zeros(n_arms), rng

    def select_arm(self):
        means = self.sums / np.maximum(self.counts, 1) + (self.counts == 0)
        return int(np.argmax(means + 1e-9 * self.rng.random(len(means))))

    def update(self, arm, observation):
        self.sums += observation["gain"]
        self.counts += observation["observed"]
"""


@pytest.fixture
def students(tmp_path, monkeypatch):
    """Put anna.py and ben.py where Python finds them."""
    (tmp_path / "anna.py").write_text(ANNA, encoding="utf-8")
    (tmp_path / "ben.py").write_text(BEN, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    for module in ("anna", "ben"):
        monkeypatch.delitem(sys.modules, module, raising=False)


@pytest.mark.thorough
def test_two_files_are_ranked_as_in_the_tournament_that_was(students):
    """`dp-bandit tournament` played such games until this version.

    Its table of these two files had anna before ben with coins, drawn biases and periodic gains. In 40 games with the
    same periodic gains, anna's mean regret was 72.6 with a standard error of 3.
    """
    games = ["Stochastic:means=[.2,.35,.5,.65,.8]", "FullyOblivious:gap=.15", "Deterministic"]
    ranking = compare(
        games, {"anna": "anna:MyAgent", "ben": "ben:MyAgent"}, n_arms=5, horizon=2_000, trials=40, progress=False
    ).ranking()
    assert [standing.name for standing in ranking.standings] == ["anna", "ben"] * 3
    periodic = ranking.standings[-2]
    assert periodic.title.startswith("Deterministic") and periodic.low < 72.6 + 3 and periodic.high > 72.6 - 3


def test_equal_names_get_their_modules(students):
    import anna
    import ben

    small = {"horizon": 20, "trials": 6, "progress": False}
    for agents in (["anna:MyAgent", "ben:MyAgent"], [anna.MyAgent, ben.MyAgent]):
        standings = compare("Stochastic", [*agents, "EXP3"], **small).ranking().standings
        assert {standing.name for standing in standings} == {"anna:MyAgent", "ben:MyAgent", "EXP3"}
    (alone,) = compare("Stochastic", "anna:MyAgent", **small).ranking().standings
    assert alone.name == "MyAgent"
