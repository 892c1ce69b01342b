"""Mistakes in a file of one's own: one sentence that names the file and the line, not a traceback."""

import pytest

from tests.tools.refusals import missing

FILE = """from dp_bandit_envs import Algorithm, Exp3, LaplaceClipRescale


class Forgetful:
    def begin(self, *, n_arms, horizon, rng):
        self.table = {}

    def select_arm(self):
        return self.table["x"]  # line 9

    def update(self, arm, observation):
        pass


def fails(epsilon=1.0):
    return 1 / 0


def noisy(rate=0.5, epsilon=1.0):
    return Algorithm("Noisy", lambda: Exp3(exploration_rate=rate), lambda env: LaplaceClipRescale(env, epsilon=epsilon))
"""


@pytest.fixture(autouse=True)
def mine(tmp_path):
    (tmp_path / "mistaken.py").write_text(FILE, encoding="utf-8")


def test_a_line_that_fails_is_named_from_worker_processes_too(dp_bandit):
    words = ("run", "Stochastic", "mistaken:Forgetful", "--trials", 2, "--horizon", 9, "--jobs", 2)
    code, _, err = dp_bandit(*words)
    assert code == 2 and missing(err, "mistaken.py, line 9", "KeyError", "'x'") == [] and "Traceback" not in err


@pytest.mark.parametrize(
    ("words", "named"),
    [
        ("run Stochastic mistaken:fails", ["fails", "ZeroDivisionError"]),
        ("run Stochastic mistaken:noisy:rat=1", ["noisy", "'rat'", "rate"]),
        ("run Stochastic mistaken:noisy:rate=1,rate=2", ["rate", "twice"]),
        ("run Stochastic mistaken:noisy:", ["mistaken:noisy:parameter=value"]),
        ("run Stochastic mistaken:noisy:rate=7 --trials 1 --horizon 9", ["7"]),
        ("run Stochastic mistaken:noisy:epsilon=-1 --trials 1 --horizon 9", ["epsilon", "0", "-1"]),
        ("calibrate mistaken:Forgetful --epsilon 1 --arms 2 --horizon 9", ["Forgetful", "private"]),
        ("advise --epsilon 1 --arms 3", ["--horizon"]),
        ("advise --epsilon 1", ["--arms", "--horizon"]),
    ],
)
def test_wrong_words_about_parts_of_ones_own_are_one_sentence(dp_bandit, words, named):
    code, _, err = dp_bandit(*words.split())
    assert code == 2 and missing(err, *named) == [] and "Traceback" not in err
