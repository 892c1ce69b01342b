"""Lab 10: adversaries that break a rule, hurt too little, or enough; and the ranking beside what is proven."""

import numpy as np
import pytest

from dp_bandit_envs import Adversary
from dp_bandit_envs.conformance import check_adversary
from dp_bandit_envs.course.checking import WrongAnswer
from dp_bandit_envs.course.lab_own_adversary import (
    ENOUGH,
    GAMES,
    HARDEST,
    LEAGUES,
    PROVEN,
    VICTIM,
    Turn,
    VictimRegrets,
    bound,
    check_own_adversary,
    checked,
    in_words,
    ranking,
    regrets,
)
from dp_bandit_envs.labs.solutions.your_own_adversary import MyAdversary


class Moving(Adversary):
    """One arm pays, another one after each 1,000 rounds."""

    def begin(self, rng):
        self.t = 0

    def next_gains(self, rounds):
        gains = np.zeros((rounds, self.n_arms))
        gains[np.arange(rounds), (self.t + np.arange(rounds)) // 1000 % 4] = 1.0
        self.t += rounds
        return gains


class Forgetful(Moving):
    def next_gains(self, rounds):
        return np.eye(4)[np.arange(rounds) % 4]


class Failing(Moving):
    def next_gains(self, rounds):
        return np.ones(rounds) / self.nothing


class Charging(Moving):
    memory = 1


class Short(Moving):
    def __init__(self, n_arms=4, horizon=100):
        super().__init__(n_arms, 100)


class Hidden(Moving):
    """It turns after 3,000 rounds, which the general rules do not look at; `late` says what happens then."""

    late = "stays"

    def next_gains(self, rounds):
        after = self.t + np.arange(rounds) >= 3_000
        gains = np.full((rounds, self.n_arms), 0.4)
        gains[after, 3] = 1.5 if self.late == "too much" else 1.0
        if after.any() and self.late == "fails":
            return gains / self.nothing
        self.t += rounds * (self.late != "forgets" or self.t < 1_000)
        return gains


Forgets, TooMuch, FailsLate = (type("Late", (Hidden,), {"late": late}) for late in ("forgets", "too much", "fails"))


class Ends(Hidden):
    def next_gains(self, rounds):
        return super().next_gains(rounds)[: 3_000 - self.t]


class FailsInOneGame(Moving):
    def begin(self, rng):
        super().begin(rng)
        self.order = {index: index for index in range(99)}[rng.integers(100)]


def test_turns_keep_the_rules_for_adversaries():
    check_adversary(Turn)


def test_at_the_turn_an_arm_begins_to_pay_always_and_only_one_learner_has_a_bound():
    """Half of 400 rounds are before the turn; .18 are five standard errors of a mean of 200 coins.

    False alarm: below 1e-6, once for the seed.
    """

    class Plain(Turn):
        def begin(self, rng):
            super().begin(rng)
            self._order = np.arange(4)

    game = Plain(4, 400)
    game.begin(np.random.default_rng(0))
    first, second = game.next_gains(200), game.next_gains(200)
    assert (second[:, 1] == 1).all() and first[:, 1].mean() == pytest.approx(0.4, abs=0.18)
    assert bound(VICTIM) == np.inf and bound(PROVEN) == pytest.approx(1039.56, abs=0.01)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (None, "no adversary yet"),
        (Moving(), "this is an adversary"),
        (lambda: Moving(), "inherits Adversary"),
        (Forgetful, "A rule for adversaries is broken"),
        (Failing, "in the line `return np.ones(rounds) / self.nothing`"),
        (Charging, "no memory"),
        (Short, "it has 4 and 100"),
        (Forgets, "Does `self.t` count all rounds"),
        (Ends, "rows in a game of 4,000 rounds"),
        (TooMuch, "in all rounds, the last too"),
        (FailsLate, "in the line `return gains / self.nothing`"),
        (FailsInOneGame, "The adversary stops in one of the games, with KeyError"),
    ],
)
def test_broken_rules_get_words(answer, said):
    verdict = check_own_adversary(answer)
    assert not verdict and said in verdict.says


def test_a_game_of_just_four_arms_keeps_the_rules():
    assert checked(Hidden).n_arms == 4


def test_leagues_are_counted_and_words_fit():
    ones = np.ones(LEAGUES * GAMES)

    def against(won, own):
        """Return games of which the first `won` leagues are won; the others are lost by far less."""
        lost = np.where(np.arange(LEAGUES * GAMES) < won * GAMES, own, min(own, 200.0) - 1)
        return VictimRegrets(lost, 200.0 * ones)

    assert against(ENOUGH, 500.0).won == ENOUGH and "No proof forbids it" in in_words(against(ENOUGH, 500.0))
    for played, said in (
        (against(ENOUGH - 1, 500.0), "When should the game turn"),
        (against(0, 90.0), "as if arms were coins"),
        (against(0, -90.0), "Below 0"),
    ):
        with pytest.raises(WrongAnswer, match=said):
            in_words(played)


def test_the_ranking_begins_with_what_hurts_most_and_ends_with_the_bound():
    lines = ranking({"turning": Turn, "moving": Moving}, trials=3, horizon=300).splitlines()[2:]
    lost = [float(line.split("|")[2].split("±")[0].replace(",", "")) for line in lines[:-1]]
    assert lost == sorted(lost, reverse=True) and len(lost) == 6
    assert any("**turning**" in line for line in lines) and any(HARDEST in line for line in lines)
    assert f"at most {bound(PROVEN, 300):,.0f}" in lines[-1] and "*nothing*" in lines[-1]


@pytest.mark.slow
def test_the_solution_wins_every_league_and_coins_win_none():
    assert isinstance(checked(MyAdversary), Adversary)
    assert "It wins 40 of 40 leagues" in check_own_adversary(MyAdversary).says
    assert "Below 0" in check_own_adversary(Moving).says


@pytest.mark.slow
def test_what_the_lab_and_its_teacher_say_of_the_games():
    """Standard errors of 1,000 games: up to 18 for DP-KLUCB, 4 for the other."""
    for share, leader, expected in ((0.5, 0.5, (610, 473)), (0.4, 0.5, (663, 511)), (0.7, 0.7, (48, 421))):
        found = [each.mean() for each in regrets(Turn(share=share, leader=leader)).values()]
        assert found == pytest.approx(expected, rel=0.01, abs=1)


@pytest.mark.thorough
def test_the_verdict_and_the_ranking_say_one_number_of_one_game():
    says, table = check_own_adversary(MyAdversary).says, ranking({"yours": MyAdversary})
    for words in ("**yours**", HARDEST):
        said = next(line for line in table.splitlines() if words in line).split("|")[2].strip()
        assert " ± " in said and f" {said} " in says
