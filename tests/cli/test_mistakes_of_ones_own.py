"""Mistakes in a file of one's own: one sentence that names the file and the line, not a traceback."""

import sys

import pytest

from dp_bandit_envs.algorithms import ALGORITHMS
from tests.tools.refusals import missing

FILE = """import math

from dp_bandit_envs import Algorithm, Exp3, LaplaceClipRescale, register_algorithm
from dp_bandit_envs.privacy.mechanisms.randomized_response import RandomizedResponse as RandomizedResponseMechanism


class Forgetful:
    def begin(self, *, n_arms, horizon, rng):
        self.table = {}

    def select_arm(self):
        return self.table["x"]  # line 12

    def update(self, arm, observation):
        pass


def fails(epsilon=1.0):
    return 1 / 0


def noisy(rate=0.5, epsilon=1.0):
    return Algorithm("Noisy", lambda: Exp3(exploration_rate=rate), lambda env: LaplaceClipRescale(env, epsilon=epsilon))


register_algorithm("Private-Noisy", noisy)


class Coin(RandomizedResponseMechanism):
    def __init__(self, *, honest):
        super().__init__(epsilon=math.log((1 + honest) / (1 - honest)))


class Shown(Coin):
    example = {"honest": 0.5}


class Wrapper(LaplaceClipRescale):
    pass
"""


@pytest.fixture(autouse=True)
def mine(tmp_path):
    (tmp_path / "mistaken.py").write_text(FILE, encoding="utf-8")


@pytest.mark.thorough
def test_a_line_that_fails_is_named_from_worker_processes_too(dp_bandit):
    words = ("run", "Stochastic", "mistaken:Forgetful", "--trials", 2, "--horizon", 9, "--jobs", 2)
    code, _, err = dp_bandit(*words)
    assert code == 2 and missing(err, "mistaken.py, line 12", "KeyError", "'x'") == [] and "Traceback" not in err


@pytest.mark.parametrize(
    ("words", "named"),
    [
        ("run Stochastic mistaken:fails", ["fails", "ZeroDivisionError"]),
        ("run Stochastic mistaken:noisy:rat=1", ["noisy", "'rat'", "rate"]),
        ("run Stochastic mistaken:noisy:rate=1,rate=2", ["rate", "twice"]),
        ("run Stochastic mistaken:noisy:", ["mistaken:noisy:parameter=value"]),
        ("run Stochastic mistaken:noisy:rate=7 --trials 1 --horizon 9", ["7"]),
        ("run Stochastic mistaken:noisy:epsilon=-1 --trials 1 --horizon 9", ["epsilon", "0", "-1"]),
        ("calibrate mistaken:Forgetful --epsilon 1 --n-arms 2 --horizon 9", ["Forgetful", "private"]),
        ("audit mistaken:noisy:rat=1", ["noisy", "'rat'", "rate"]),
        ("audit mistaken:Coin", ["Coin", "honest"]),
        ("audit mistaken:Coin:honest=.5 --epsilon 1", ["--epsilon", "Coin"]),
        ("show mistaken:Nothing", ["mistaken", "Nothing", "register"]),
    ],
)
def test_wrong_words_about_parts_of_ones_own_are_one_sentence(dp_bandit, words, named):
    code, _, err = dp_bandit(*words.split())
    assert code == 2 and missing(err, *named) == [] and "Traceback" not in err


@pytest.fixture
def forgotten():
    """What the file registers is known in this process only until the test ends."""
    yield
    ALGORITHMS.pop("Private-Noisy", None)
    sys.modules.pop("mistaken", None)


SMALL = "--trials 2 --horizon 20"


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("words", "named"),
    [
        (f"run Stochastic NAME --epsilon 0.5 {SMALL}", ["Private-Noisy", "0.5"]),
        (f"run Stochastic mistaken:private-noisy:rate=.3 --epsilon 0.5 {SMALL}", ["Private-Noisy", "0.5"]),
        ("show NAME", ["Private-Noisy: algorithm", "rate = 0.5", "epsilon = 1"]),
        ("calibrate NAME --epsilon 0.5 --n-arms 2 --horizon 9", ["epsilon=0.5"]),
        ("audit NAME --epsilon 0.5 --games 0", ["Private-Noisy", "within the claim"]),
    ],
)
def test_what_a_module_registers_is_named_with_it(dp_bandit, forgotten, words, named):
    code, out, err = dp_bandit(*words.replace("NAME", "mistaken:Private-Noisy").split())
    assert code == 0, err
    assert missing(out, *named) == []


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("words", "named"),
    [
        ("mistaken:noisy --epsilon 0.5", ["noisy", "declared", "0.5", "within the claim"]),
        ("mistaken:noisy:rate=.3,epsilon=2", ["rate=0.3", "within the claim"]),
        ("mistaken:Coin:honest=.5", ["Coin", "1.09861", "within the claim"]),
        ("mistaken:Wrapper --epsilon 2", ["Wrapper", "within the claim"]),
        ("mistaken:Forgetful", ["Forgetful", "--games 1000"]),
    ],
)
def test_parts_of_ones_own_are_audited(dp_bandit, forgotten, words, named):
    code, out, err = dp_bandit("audit", *words.split(), "--games", 0)
    assert code == (3 if "Forgetful" in words else 0), err  # 3: nothing could be judged
    assert missing(out + err, *named) == [] and "sampled_loss" not in out + err


@pytest.mark.parametrize(
    ("name", "named"),
    [
        ("Shown", ["Shown: mechanism", "honest = 0.5: epsilon = 1.09861"]),  # ln(1.5 / 0.5)
        ("Coin", ["Coin: mechanism", "example = {'honest': ...}"]),
        ("Wrapper", ["Wrapper: wrapper", "epsilon = 1.0: epsilon = 1"]),
        ("noisy", ["noisy: algorithm", "Guarantee"]),
    ],
)
def test_the_kind_and_the_guarantee_of_a_part_of_ones_own_are_shown(dp_bandit, forgotten, name, named):
    code, out, err = dp_bandit("show", f"mistaken:{name}")
    assert code == 0, err
    assert missing(out, *named) == []
    assert "Source" not in out.splitlines()  # it has none, and so no heading


def test_a_class_that_is_no_part_of_a_game_is_not_shown_as_an_agent(dp_bandit, forgotten):
    code, _, err = dp_bandit("show", "mistaken:Algorithm")
    assert code == 2 and missing(err, "the class Algorithm") == []
