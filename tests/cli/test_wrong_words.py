"""Wrong words, and mistakes in a file of one's own: one sentence each, before anything is played, and no traceback."""

import shlex
import sys

import pytest

from dp_bandit_envs.algorithms import ALGORITHMS
from tests.tools.refusals import missing

MODULE = """
from dp_bandit_envs import make_algorithm

number = 3


def private(epsilon=1.0):
    \"\"\"Return mine.\"\"\"
    return make_algorithm("DP-EXP3-Lap", epsilon=epsilon)
"""
WRONG = {
    "run Stochastic EXP3 --out ''": ("--out", "empty"),
    "run Stochastic EXP3 --out afile": ("--out", "afile", "is a file"),
    "run Stochastic DP-KLUCB --epsilon 1,1.0": ("epsilon", "once"),
    "run Stochastic DP-KLUCB:epsilon=1 --epsilon 2": ("epsilon", "DP-KLUCB (epsilon=1)", "Leave epsilon out"),
    "run Stochastic EXP3 --epsilon 1": ("epsilon", "EXP3", "Leave epsilon out"),
    "run Stochastic EXP3 DP-KLUCB --delta 1e-6": ("delta", "EXP3, DP-KLUCB", "DP-UCB-INT"),
    "run Stochastic DP-KLUCB --epsilon 0,5": ("--epsilon", "0.5"),
    "run Stochastic DP-KLUCB --epsilon 1e400": ("--epsilon", "'1e400'", "inf"),
    "run Stochastic DP-KLUCB --epsilon 1eps": ("--epsilon", "'1eps'", "0.1,1"),
    "run Stochastic DP-KLUCB --epsilon 0.1 1": ("--epsilon 0.1,1", "'1'"),
    "run Stochastic DP-UCB-BOUND:counter=logarithmic": ("counter", "'logarithmic'", "hybrid"),
    "run Trial EXP3 --n-arms 3": ("n_arms", "Trial", 3),
    "run Graph:graph=karate-club EXP3 --n-arms 3": ("n_arms", 34, 3),
    "run Stochastic EXP3 --n-arms 2.5": ("--n-arms", "'2.5'"),
    "run Stochastic EXP3 --horizon 1,000": ("--horizon", "1,000", "1000"),
    "run Stochastic EXP3 --trials 1e30": ("trials", "10,000,000"),
    "run Stochastic EXP3 --seed 1.5": ("--seed", "'1.5'"),
    "run Stochastic EXP3 --jobs two": ("--jobs", "'two'"),
    "run Stochastic Oblivious EXP3 --persons 2": ("persons", "my.csv", "'Stochastic'"),
    "run gains.csv EXP3 --persons ''": ("persons", "empty"),
    "run Ball EXP3-tau --out results-of-mine": ("EXP3-tau", "points", "OSMD", "Ball"),
    "run Stochastic Simplex EXP3": ("EXP3", "points", "OSMD", "Simplex"),
    "run Stochastic Hedge": ("Hedge", "Use DPBandit-Experts-v0. The game is Stochastic."),
    "run Stochastic: EXP3": ("'Stochastic:'", "Graph:graph=cycle"),
    "run Stochastic:size=3 EXP3": ("'size'", "n_arms", "means"),
    "run Stochastic EXP3 --at-guarantee": ("at_guarantee",),
    "run Stochastic mine_here:number": ("algorithm", "int"),
    "run Stochastic mine_here:Nobody": ("Nobody", "mine_here"),
    "run Stochastic mine_here.py:private": ("mine_here:Name",),
    "run Stochastic mine_here.py": ("'mine_here.py'", "mine_here:Name"),
    "run Stochastic mine_here": ("algorithm 'mine_here'", "mine_here:Name"),
    "audit mine_here.py --epsilon 1": ("mine_here:Name",),
    "show mine_here.py": ("mine_here:Name",),
    "compile DP-KLUBC": ("algorithm 'DP-KLUBC'", "DP-KLUCB"),
    "compile Stochastic mine_here:private": ("'mine_here:private'", "each process"),
    "run Stochastic broken_here:x": ("broken_here", "ZeroDivisionError"),
    "run Stochastic nowhere:x": ("'nowhere'", "nowhere.py"),
    "run Stochastic mine_here:privat": ("'mine_here:privat'", "Did you mean private"),
    "audit DP-KLUCB --seed -1": ("seed", -1),
    "audit DP-KLUCB --horizon 1e30": ("horizon", "100,000"),
    "audit EXP3 --epsilon 2": ("--epsilon", "EXP3"),
    "audit DP-KLUCB --confidence 99": ("confidence", "(0, 1)", 99.0),
    "audit DP-KLUCB --out p.jpg": ("--out", "p.jpg", ".svg"),
    "show counters --horizon 1e13": ("horizon", "2^40"),
    "show counters --epsilon inf": ("epsilon", "finite"),
    "run Stochastic EXP3:exploration_rate=[]": ("exploration_rate", "empty list"),
    "run Stochastic EXP3:exploration_rate=[.1,.1]": ("EXP3 (exploration_rate=0.1)", "twice"),
    "show counters --measure switches": ("--measure", "folder of results", "'counters'"),
    "show counters --out table.tex": ("--out", ".png", "'table.tex'"),
    "show EXP3 --y-scale log": ("--y-scale", "folder of results", "'EXP3'"),
    "show nowhere/mine": ("nowhere/mine", "folder of results", "run --out"),
    "show .": ("configuration.json", "run --out"),
    "show counters --out plot.jpg": ("--out", ".png", "plot.jpg"),
    "run Stochastik EXP3": ("environment", "'Stochastik'", "Stochastic"),
    "reproduce figure-3": ("experiment", "'figure-3'", "figure-1"),
    "reproduce figure-1-modern --horizon 64 --trials 3": ("experiment", "figure-2-modern", "'figure-1-modern'"),
    "run Stochastic EXP3:rate": ("name=value", "'rate'"),
    "run Stochastic EXP3:exploration_rate=2": ("exploration_rate", "(0, 1]", 2),
    "reproduce figure-1-epsilon-1e-320 --horizon 64 --trials 3": ("epsilon",),
    "reproduce figure-1-epsilon-1e-9 --horizon 64 --trials 3": ("EXP3-tau", "horizon"),
    "run Stochastic EXP3 exp3 --horizon 64 --trials 3": ("algorithms", "'EXP3'"),
    "run Stochastic:means EXP3": ("'means'", "Stochastic:means=VALUE"),
    "run 'Stochastic(means=[.9,.6])' EXP3": ("'Stochastic(means=[.9,.6])'", "colon", "Stochastic:parameter=value"),
    "run named.csv EXP3": ("named.csv", "'person'", "--persons", "docs/real-data.md"),
    "run messy.csv EXP3": ("messy.csv", "line 2", "docs/real-data.md"),
    "run Stochastic DP-KLUCB --eps 1": ("--eps", "--epsilon"),
    "run Stochastic EXP3 --ledger my.ledger": ("my.ledger", "dp-bandit ledger my.ledger --epsilon 3"),
    "run Stochastic": ("algorithm", "'Stochastic'", "dp-bandit list"),
    "show Laplace": ("'Laplace'", "LaplaceClipRescale"),
    "show EXP3 --horizon 10": ("--horizon", "dp-bandit show counters"),
    "audit": ("NAME",),
    "audit DP-KLUCB --games 50": ("games", 100, 50),
    "calibrate DP-KLUCB --n-arms 3 --horizon 9": ("--epsilon",),
    "calibrate DP-KLUCB:epsilon=1 --epsilon 1 --n-arms 3 --horizon 100": ("epsilon", "DP-KLUCB"),
    "calibrate EXP3 --epsilon 1 --n-arms 3 --horizon 9 --rounds-per-person 7": ("EXP3", "7 rounds"),
    "run Stochastic DP-IMED --epsilon 1 --rounds-per-person 2": ("rounds_per_person", "at_guarantee"),
    "ledger nowhere.ledger": ("nowhere.ledger", "dp-bandit ledger nowhere.ledger --epsilon 3"),
    "ledger nofolder/my.ledger --epsilon 1": ("folder", "Make"),
    "lab price-of-privcy": ("'price-of-privcy'", "price-of-privacy"),
    "labs": ("'labs'", "'lab'"),
    "run CartPole-v1 EXP3": ("CartPole-v1", "Gymnasium", "dp_bandit_envs.adapters.from_gymnasium", "in Python"),
    "run Stochastic DP-IMED --epsilon 1 --at-guarantee person": ("persons=", "rounds_per_person=3"),
    "show EXP3:exploration_rate=.1": ("without parameters", "EXP3"),
    "compile Ball EXP3": ("EXP3", "arms", "OSMD"),
    "list agentz": ("kind 'agentz'", "agents"),
    "run Stochastic mistaken:fails": ("fails", "ZeroDivisionError"),
    "run Stochastic mistaken:noisy:rat=1": ("noisy", "'rat'", "rate"),
    "run Stochastic mistaken:noisy:rate=1,rate=2": ("rate", "twice"),
    "run Stochastic mistaken:noisy:": ("mistaken:noisy:parameter=value",),
    "run Stochastic mistaken:noisy:rate=7 --trials 1 --horizon 9": ("7",),
    "run Stochastic mistaken:noisy:epsilon=-1 --trials 1 --horizon 9": ("epsilon", "0", "-1"),
    "calibrate mistaken:Forgetful --epsilon 1 --n-arms 2 --horizon 9": ("Forgetful", "private"),
    "audit mistaken:noisy:rat=1": ("noisy", "'rat'", "rate"),
    "audit mistaken:Coin": ("Coin", "honest"),
    "audit mistaken:Coin:honest=.5 --epsilon 1": ("--epsilon", "Coin"),
    "show mistaken:Algorithm": ("the class Algorithm",),
    "show mistaken:Nothing": ("mistaken", "Nothing", "register"),
}


@pytest.fixture
def here(dp_bandit, tmp_path, monkeypatch):
    (tmp_path / "mine_here.py").write_text(MODULE, encoding="utf-8")
    (tmp_path / "broken_here.py").write_text("1 / 0\n", encoding="utf-8")
    (tmp_path / "gains.csv").write_text("0.1,0.2\n0.5,0.6\n", encoding="utf-8")
    (tmp_path / "named.csv").write_text("arm,gain,person\n0,0.5,a\n1,0.7,b\n", encoding="utf-8")
    (tmp_path / "messy.csv").write_text("treatment,outcome,id\nA,12,p1\nB,30,p2\n", encoding="utf-8")
    (tmp_path / "afile").write_text("", encoding="utf-8")
    for name in ("mine_here", "broken_here"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    return dp_bandit


@pytest.mark.thorough
@pytest.mark.parametrize("line", WRONG)
def test_a_wrong_word_gets_one_sentence_before_anything_is_played(line, here, tmp_path):
    before = {path.name for path in tmp_path.iterdir()}
    code, out, err = here(*shlex.split(line))
    assert code == 2 and out == ""
    last = err.strip().splitlines()[-1]
    assert len(err.splitlines()) == 1 or "Usage: dp-bandit" in err
    assert last.lower().startswith("error: ") and missing(last, *WRONG[line]) == [], err
    assert "Traceback" not in err
    assert {path.name for path in tmp_path.iterdir()} <= {*before, "__pycache__"}


def test_an_agent_without_a_docstring_is_not_shown_with_that_of_its_base_class(here, tmp_path):
    (tmp_path / "silent_here.py").write_text(
        "from dp_bandit_envs.agents import FunctionalAgent\n\nclass Silent(FunctionalAgent):\n"
        "    def __init__(self, width=0.7):\n        self.width = width\n",
        encoding="utf-8",
    )
    code, out, err = here("show", "silent_here:Silent")
    assert code == 0 and out.split() == ["Silent:", "agent", "Parameters", "width", "=", "0.7"], err


@pytest.mark.thorough
def test_a_module_of_the_working_directory_is_found_and_shown(here, tmp_path):
    assert here("run", "Stochastic", "mine_here:private", "--epsilon", 1, "--trials", 1, "--horizon", 5)[0] == 0
    code, out, _ = here("show", "mine_here:private")
    assert code == 0 and missing(out, "private: algorithm", "epsilon = 1.0", "Guarantee") == []


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


@pytest.mark.slow_cases("mistaken:Coin:honest=.5-named2")
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
