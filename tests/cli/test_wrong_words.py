"""Wrong words of the command line: each gets one sentence, which is the library's, before anything is played."""

import shlex
import sys

import pytest

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
    "run Stochastic DP-KLUCB --epsilon nan": ("epsilon", "nan", "Use inf"),
    "run Stochastic DP-UCB-BOUND:counter=logarithmic": ("counter", "'logarithmic'", "hybrid"),
    "run Trial EXP3 --n-arms 3": ("n_arms", "Trial", 3),
    "run Graph:graph=karate-club EXP3 --n-arms 3": ("n_arms", 34, 3),
    "run Stochastic EXP3 --n-arms 1": ("n_arms", 2, 1),
    "run Stochastic EXP3 --n-arms 2.5": ("--n-arms", "'2.5'"),
    "run Stochastic EXP3 --horizon 1,000": ("--horizon", "1,000", "1000"),
    "run Stochastic EXP3 --trials 1e30": ("trials", "10,000,000"),
    "run Stochastic EXP3 --seed 1.5": ("--seed", "'1.5'"),
    "run Stochastic EXP3 --jobs two": ("--jobs", "'two'"),
    "run Stochastic Oblivious EXP3 --persons 2": ("persons", "my.csv", "'Stochastic'"),
    "run gains.csv EXP3 --persons ''": ("persons", "empty"),
    "run Ball EXP3-tau --out results-of-mine": ("EXP3-tau", "points", "OSMD", "Ball"),
    "run Cube DP-SE --epsilon 1 --out results-of-mine": ("DP-SE", "points", "OSMD", "Cube"),
    "run Stochastic Simplex EXP3": ("EXP3", "points", "OSMD", "Simplex"),
    "run Stochastic Hedge": ("Hedge", "feedback='full'"),
    "run Stochastic: EXP3": ("'Stochastic:'", "Graph:graph=cycle"),
    "run Stochastic EXP3:": ("'EXP3:'", "name:parameter=value"),
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
    "compile mine_here:private": ("'mine_here:private'", "each process"),
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
    "show EXP3 --out plot.png": ("--out", "folder of results", "'EXP3'"),
    "show nowhere/mine": ("nowhere/mine", "folder of results", "run --out"),
    "show .": ("configuration.json", "run --out"),
    "show counters --out plot.jpg": ("--out", ".png", "plot.jpg"),
    "run Stochastik EXP3": ("environment", "'Stochastik'", "Stochastic"),
    "run Stochastic EXP33": ("algorithm", "'EXP33'", "EXP3"),
    "reproduce figure-3": ("experiment", "'figure-3'", "figure-1"),
    "reproduce figure-1-modern --horizon 64 --trials 3": ("experiment", "figure-2-modern", "'figure-1-modern'"),
    "run Stochastic EXP3:rate=1": ("EXP3", "'rate'", "exploration_rate"),
    "run Stochastic EXP3:rate": ("name=value", "'rate'"),
    "run Stochastic EXP3:exploration_rate=2": ("exploration_rate", "(0, 1]", 2),
    "run Stochastic DP-Lambda-Lap:outside=x --horizon 64 --trials 3": ("outside", "'reject'", "'clip'", "'x'"),
    "reproduce figure-1-epsilon-1e-320 --horizon 64 --trials 3": ("epsilon",),
    "reproduce figure-1-epsilon-1e-9 --horizon 64 --trials 3": ("EXP3-tau", "horizon"),
    "run Stochastic EXP3 --trials 0": ("trials", 1, 0),
    "run Stochastic EXP3 --horizon 0": ("horizon", 1, 0),
    "run Switching EXP3 --horizon 1": ("horizon", 2, 1),
    "reproduce figure-1 --seed -1 --horizon 64 --trials 3": ("seed", 0, -1),
    "run Stochastic EXP3 --jobs -1": ("jobs", 0, -1),
    "run Stochastic EXP3 --checkpoints cubic": ("checkpoints", "'cubic'"),
    "run Stochastic EXP3 exp3 --horizon 64 --trials 3": ("algorithms", "'EXP3'"),
    "run Stochastic:means=.9,.6 EXP3": ("'.6'", "brackets", "quotes", "'Stochastic:means=[.9,.6]'"),
    "run Stochastic:means EXP3": ("'means'", "Stochastic:means=VALUE"),
    "run 'Stochastic(means=[.9,.6])' EXP3": ("'Stochastic(means=[.9,.6])'", "colon", "Stochastic:parameter=value"),
    "run Bernoulli EXP3": ("environment", "'Bernoulli'", "Stochastic"),
    "run Stochastic Thompson": ("algorithm", "'Thompson'", "TS"),
    "run named.csv EXP3": ("named.csv", "'person'", "--persons", "docs/real-data.md"),
    "run messy.csv EXP3": ("messy.csv", "line 2", "docs/real-data.md"),
    "run Stochastic DP-KLUCB --eps 1": ("--eps", "--epsilon"),
    "run Stochastic EXP3 --ledger my.ledger": ("my.ledger", "dp-bandit ledger my.ledger --epsilon 3"),
    "run Stochastic": ("algorithm", "'Stochastic'", "dp-bandit list"),
    "reproduce fig1": ("experiment", "'fig1'", "figure-1"),
    "show Laplace": ("'Laplace'", "LaplaceClipRescale"),
    "show EXP3 --horizon 10": ("--horizon", "dp-bandit show counters"),
    "audit": ("NAME",),
    "audit DP-KLUCB --games 50": ("games", 100, 50),
    "calibrate DP-KLUCB --n-arms 3 --horizon 9": ("--epsilon",),
    "calibrate DP-KLUCB:epsilon=1 --epsilon 1 --n-arms 3 --horizon 100": ("epsilon", "DP-KLUCB"),
    "calibrate UCB --epsilon 1 --n-arms 3 --horizon 9": ("UCB", "private"),
    "calibrate DP-IMED --epsilon 1 --n-arms 3 --horizon 9 --rounds-per-person 0": ("rounds_per_person", 1, 0),
    "calibrate EXP3 --epsilon 1 --n-arms 3 --horizon 9 --rounds-per-person 7": ("EXP3", "7 rounds"),
    "run Stochastic DP-IMED --epsilon 1 --rounds-per-person 2": ("rounds_per_person", "at_guarantee"),
    "ledger nowhere.ledger": ("nowhere.ledger", "dp-bandit ledger nowhere.ledger --epsilon 3"),
    "ledger nofolder/my.ledger --epsilon 1": ("folder", "Make"),
    "lab price-of-privcy": ("'price-of-privcy'", "price-of-privacy"),
    "labs": ("'labs'", "'lab'"),
    "lab 0": ("1 to 10", "0", "dp-bandit list labs"),
    "lab 11": ("1 to 10", "11"),
    "run CartPole-v1 EXP3": ("CartPole-v1", "Gymnasium", "dp_bandit_envs.adapters.from_gymnasium", "in Python"),
    "run Stochastic all": ("algorithm 'all'", "name each", "EXP3"),
    "run Stochastic DP-KLUBC": ("algorithm 'DP-KLUBC'", "DP-KLUCB"),
    "run Stochastic EXP3 UCB --epsilon 1": ("EXP3, UCB take none", "'DP-KLUCB'"),
    "run Stochastic DP-IMED --epsilon 1 --at-guarantee person": ("persons=", "rounds_per_person=3"),
    "show EXP3:exploration_rate=.1": ("without parameters", "EXP3"),
    "compile Ball EXP3": ("EXP3", "arms", "OSMD"),
    "compile Stochastic UBC": ("algorithm 'UBC'", "UCB"),
    "list agentz": ("kind 'agentz'", "agents"),
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
