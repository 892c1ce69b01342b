"""`run --at-guarantee` and `--ledger`, `calibrate`, `ledger` and `--rounds-per-person`: what a person is promised."""

import json
import re

import numpy as np
import pytest

from dp_bandit_envs import Ledger, calibrate, compare, make_algorithm, simulate
from dp_bandit_envs.errors import UnreachableGuaranteeError, WrongGameError
from dp_bandit_envs.experiments.arguments import experiment_from
from tests.tools.refusals import missing, refused

SIZE = {"n_arms": 2, "horizon": 300}


def calibrated(*algorithms, target, environment="Stochastic:means=[.9,.6]"):
    epsilon, delta = target
    options = {"epsilon": epsilon, "delta": delta, "trials": 2, "horizon": 300, "seed": 0}
    return experiment_from([environment], list(algorithms), at_guarantee=True, **options)


@pytest.mark.thorough
def test_a_run_plays_what_simulate_plays(dp_bandit, tmp_path):
    """The same parameters, hence the same noise; the words on the terminal are in the report, too."""
    words = "run Stochastic:means=[.9,.6] Private-UCB DP-UCB-INT --epsilon 1 --delta 1e-6 --at-guarantee"
    words += " --horizon 300 --trials 2 --out mine"
    code, out, err = dp_bandit(*words.split())
    assert (code, err) == (0, "")
    saved = json.loads((tmp_path / "mine" / "configuration.json").read_text(encoding="utf-8"))["described"][0][
        "results"
    ]
    report = (tmp_path / "mine" / "report.md").read_text(encoding="utf-8")
    options = {"trials": 2, "env_kwargs": {"means": [0.9, 0.6]}, "horizon": 300}
    names = ["Private-UCB", "DP-UCB-INT"]
    outcomes = simulate("DPBandit-Stochastic-v0", names, epsilon=1.0, delta=1e-6, at_guarantee=True, **options)
    with np.load(tmp_path / "mine" / "results.npz") as arrays:
        for one in saved:
            assert 0.97 < make_algorithm(one["name"], **one["parameters"]).guarantee(**SIZE).epsilon_at(1e-6) <= 1
            (key,) = (key for key in arrays if key.endswith(f"/{one['name']}/collected"))
            assert np.array_equal(arrays[key][:, -1], outcomes[one["name"]].collected[:, -1])
            said = f"epsilon = {one['parameters']['epsilon']:.7g}"
            assert said in report and said in " ".join(out.split())


def test_a_guarantee_is_for_the_game_that_is_played_and_for_a_person_if_their_rounds_are_given():
    """Private-UCB spends its epsilon on K arms and needs K times the target."""
    for n_arms in (3, 5):
        (one,) = calibrated("Private-UCB", target=(0.5, 0.0), environment=f"Stochastic:n_arms={n_arms}").all_algorithms
        assert one.parameters["epsilon"] == pytest.approx(0.5 * n_arms, rel=2e-6)
    asked_for = {"epsilon": 1.0, "at_guarantee": True, "horizon": 300, "trials": 2}
    (one,) = experiment_from(["Stochastic"], ["DP-IMED"], rounds_per_person=3, **asked_for).all_algorithms
    guarantee = make_algorithm(one.name, **one.parameters).guarantee(n_arms=4, horizon=300)
    assert guarantee.epsilon == pytest.approx(1 / 3) and guarantee.for_group(3).epsilon <= 1
    with refused(ValueError, "rounds_per_person", "1", "0"):
        experiment_from(["Stochastic"], ["DP-IMED"], rounds_per_person=0, **asked_for)
    with refused(ValueError, "rounds_per_person must be left out"):
        compare("Trial", "DP-IMED", epsilon=1, at_guarantee="person", rounds_per_person=3, trials=2, seed=1)


def test_algorithms_that_cannot_meet_it_are_refused_by_name(dp_bandit, tmp_path):
    with refused(UnreachableGuaranteeError, "EXP3", "1"):
        calibrated("DP-SE", "EXP3", target=(1.0, 0.0))
    with refused(UnreachableGuaranteeError, "EXP3-tau"):
        calibrated("EXP3-tau:batch_size=2", target=(0.1, 1e-6))
    with refused(WrongGameError, "DP-Hedge"):
        calibrated("DP-Hedge", target=(1.0, 1e-6))
    for words, named in (("EXP3 --epsilon 1 --at-guarantee", "EXP3"), ("DP-SE --at-guarantee", "epsilon")):
        code, _, err = dp_bandit("run", "Stochastic", *words.split(), "--horizon", 50)
        assert code == 2 and missing(err, named) == []
    assert not (tmp_path / "results").exists()


LINES = "arm,gain,who\n" + "".join(f"{i % 2},{i % 3 / 2},p{i % 4}\n" for i in range(8))
GAME = ["run", "mine.csv", "DP-EXP3-Lap", "--epsilon", "0.05", "--horizon", "16", "--persons", "who"]
"""p0 has two of the four records of arm 0, each of which serves in 4 of 16 rounds, so that a person serves in 8."""


@pytest.fixture(autouse=True)
def mine(tmp_path):
    """A file of records, and a module with an algorithm, in the folder in which the command line runs."""
    (tmp_path / "mine.csv").write_text(LINES, encoding="utf-8")
    (tmp_path / "ledger_parts.py").write_text(
        "from dp_bandit_envs import Algorithm, Exp3, LaplaceClipRescale\n"
        "def noisy(rate=0.5, epsilon=1.0):\n"
        "    return Algorithm('Noisy', lambda: Exp3(exploration_rate=rate),\n"
        "                     lambda env: LaplaceClipRescale(env, epsilon=2 * epsilon))\n",
        encoding="utf-8",
    )


@pytest.mark.thorough
def test_a_run_counts_its_games_and_stops_at_the_budget(dp_bandit, tmp_path):
    """8 rounds at 0.05 are 0.4 for a person; two more games of 0.4 do not fit into the 0.6 that are left."""
    assert dp_bandit("ledger", "my.ledger", "--epsilon", 1, "--unit", "person")[0] == 0
    code, out, err = dp_bandit(*GAME, "--ledger", "my.ledger", "--out", "one")
    assert (code, err) == (0, "") and missing(" ".join(out.split()), "1 game", "epsilon = 0.4") == []
    assert "my.ledger" in (tmp_path / "one" / "report.md").read_text(encoding="utf-8")
    code, _, err = dp_bandit(*GAME, "--ledger", "my.ledger", "--out", "two", "--trials", 2)
    assert code == 2 and missing(err, "budget", "2 more", "1.2", "at_guarantee='person'") == []
    assert not (tmp_path / "two").exists()
    spent = Ledger.load(tmp_path / "my.ledger").spent
    assert (spent.games, spent.epsilon) == (1, pytest.approx(0.4))
    code, out, _ = dp_bandit("ledger", "my.ledger")
    assert code == 0 and missing(out, "1 game", "epsilon = 0.6", "Each is at delta = 9.8e-07; the rest of 1e-06") == []
    # The table: who, how many games, and what they cost alone.
    (row,) = (line for line in out.splitlines() if GAME[2].split(":")[0] in line and "│" in line)
    assert missing(row, "1", "0.4") == []


@pytest.mark.thorough
def test_all_games_of_a_run_are_counted_before_the_first(dp_bandit, tmp_path):
    dp_bandit("ledger", "my.ledger", "--epsilon", 5, "--unit", "person")
    both = ["run", "mine.csv", "DP-EXP3-Lap", "DP-IMED", *GAME[3:]]
    assert dp_bandit(*both, "--trials", 3, "--ledger", "my.ledger", "--out", "one")[0] == 0
    assert Ledger.load(tmp_path / "my.ledger").spent.games == 6
    again = dp_bandit(*both, "--trials", 3, "--ledger", "my.ledger", "--out", "one")
    assert again[0] == 0 and Ledger.load(tmp_path / "my.ledger").spent.games == 6  # nothing was played again


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("words", "named"),
    [
        ([*GAME, "--ledger", "my.ledger", "--seed", "3"], ["--ledger", "--seed"]),
        ([*GAME, "mine.csv", "--ledger", "my.ledger"], ["ledger", "2"]),
        (["run", "Stochastic", "DP-IMED", "--ledger", "my.ledger"], ["ledger", "Stochastic"]),
        (["run", "mine.csv", "Tsallis-INF", "--persons", "who", "--ledger", "my.ledger"], ["guaranteed"]),
        (["run", "mine.csv", "DP-IMED", "--persons", "who", "--ledger", "mine.csv"], ["mine.csv"]),
        (["ledger", "my.ledger", "--epsilon", "2"], ["my.ledger", "--epsilon"]),
        (["ledger", "my.ledger", "--unit", "record"], ["--epsilon", "--unit"]),
        (["ledger", "new.ledger", "--epsilon", "1", "--unit", "patient"], ["unit", "'patient'"]),
        ([*GAME, "--ledger", "strict.ledger"], ["delta"]),
    ],
)
def test_a_wrong_ledger_is_one_sentence_and_spends_nothing(dp_bandit, tmp_path, words, named):
    dp_bandit("ledger", "my.ledger", "--epsilon", 1, "--unit", "person")
    dp_bandit("ledger", "strict.ledger", "--epsilon", 1, "--unit", "person", "--delta", 0)
    code, _, err = dp_bandit(*words)
    assert code == 2 and missing(err, *named) == [] and "Traceback" not in err
    assert Ledger.load(tmp_path / "my.ledger").spent.games == 0


@pytest.mark.thorough
def test_calibrate_prints_what_python_finds_for_a_person(dp_bandit):
    size = {"n_arms": 3, "horizon": 500}
    words = ["--epsilon", "1", "--delta", "1e-6", "--n-arms", "3", "--horizon", "500", "--rounds-per-person", "4"]
    code, out, err = dp_bandit("calibrate", "EXP3-tau", "Private-UCB", "DP-UCB-INT", *words)
    assert (code, err) == (0, "")
    for name, line in zip(("EXP3-tau", "Private-UCB", "DP-UCB-INT"), re.findall(r"^\S+$", out, re.M), strict=True):
        one = calibrate(name, epsilon=1, delta=1e-6, rounds_per_person=4, **size)
        found = {key: value for key, value in one.parameters.items() if value is not None}
        assert line == f"{name}:{','.join(f'{key}={value}' for key, value in found.items())}"
        assert 0.9 < one.guarantee(**size).for_group(4).epsilon_at(1e-6) <= 1
    # Without persons it is for a round, which is protected less.
    assert calibrate("Private-UCB", epsilon=1, **size).parameters["epsilon"] == pytest.approx(3)


def test_calibrate_shows_the_epsilon_at_the_delta_that_was_asked_for(dp_bandit):
    words = "--epsilon 1 --delta 1e-9 --n-arms 3 --horizon 5000 --rounds-per-person 3"
    code, out, _ = dp_bandit("calibrate", "EXP3-tau", "AdaC-GOPE", "DP-KLUCB", *words.split())
    tau, gope, klucb = re.split(r"\n(?=\S)", out)
    for line in (tau, gope):
        shown = re.findall(r"epsilon = ([\d.]+) at delta = 1e-09", line)
        assert code == 0 and len(shown) == 1 and 0.9 < float(shown[0]) <= 1
    assert "at delta" not in klucb


def test_an_algorithm_of_mine_is_calibrated_too(dp_bandit):
    words = "--epsilon 1 --n-arms 3 --horizon 50 --rounds-per-person 2"
    code, out, _ = dp_bandit("calibrate", "ledger_parts:noisy:rate=0.2", *words.split())
    written, _, said = out.partition("\n")
    name, _, value = written.rpartition("=")
    assert (code, name) == (0, "ledger_parts:noisy:rate=0.2,epsilon") and "epsilon = 1," in said
    assert float(value) == pytest.approx(0.25)  # it makes noise for twice its epsilon


def test_at_guarantee_person_takes_the_number_of_the_data(dp_bandit, tmp_path):
    """Twelve lines of five persons, of whom one has four; the game of 12 rounds plays each line twice at most."""
    lines = [f"{person},{row % 2},0.5" for row, person in enumerate("aaaabbccddee")]
    (tmp_path / "my.csv").write_text("\n".join(["person,arm,gain", *lines]), encoding="utf-8")
    game = {"trials": 1, "seed": 1, "persons": "person"}
    env = experiment_from([str(tmp_path / "my.csv")], ["DP-IMED"], **game)
    rounds = env.make_game(env.games[0]).adversary.data_use.person
    words = "run my.csv DP-IMED --persons person --epsilon 1 --at-guarantee person --trials 1 --seed 1 --out mine"
    code, _, _ = dp_bandit(*words.split())
    assert code == 0 and rounds > 1
    saved = json.loads((tmp_path / "mine" / "configuration.json").read_text(encoding="utf-8"))
    (result,) = saved["described"][0]["results"]
    (same,) = experiment_from(
        [str(tmp_path / "my.csv")], ["DP-IMED"], epsilon=1.0, at_guarantee=True, rounds_per_person=rounds, **game
    ).all_algorithms
    assert result["parameters"] == dict(same.parameters)
    assert float(result["units"]["person"][0]) == pytest.approx(1, rel=1e-5)


@pytest.mark.parametrize("door", [simulate, compare], ids=["simulate", "compare"])
def test_person_needs_data_that_say_who_is_who(door):
    with refused(ValueError, "at_guarantee='person'", "persons=", "rounds_per_person=3"):
        door("Stochastic", "DP-IMED", epsilon=1, at_guarantee="person", horizon=300, trials=2)
    with refused(TypeError, "at_guarantee", "True, False or 'person'", "record"):
        door("Stochastic", "DP-IMED", epsilon=1, at_guarantee="record", horizon=300, trials=2)
