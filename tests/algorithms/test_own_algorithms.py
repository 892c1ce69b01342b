"""A third party's algorithm: registered under a name of its own, and refused if its parts are none."""

import pickle

import gymnasium as gym
import numpy as np
import pytest

from dp_bandit_envs import Algorithm, Exp3, LaplaceClipRescale, make_algorithm, play, register_algorithm, simulate
from dp_bandit_envs.algorithms import ALGORITHMS
from dp_bandit_envs.errors import NameTakenError, UnknownNameError, WrongTypeError
from dp_bandit_envs.experiments.arguments import experiment_from
from dp_bandit_envs.experiments.running import run
from dp_bandit_envs.experiments.store import ResultsFolder
from dp_bandit_envs.wrappers import ExactSums
from tests.tools.one_noise import as_one_player
from tests.tools.refusals import refused

GAME = "DPBandit-Stochastic-v0"


def mine(*, epsilon=1.0):
    """Play EXP3 behind Laplace noise."""
    return Algorithm("whatever", Exp3, lambda env: LaplaceClipRescale(env, epsilon=epsilon), parameters={})


@pytest.fixture
def registered():
    """Register it for one test."""
    register_algorithm("My-EXP3", mine)
    yield
    del ALGORITHMS["My-EXP3"]


def test_it_plays_the_game_of_the_paper_under_its_own_name(registered):
    ours = simulate(GAME, ["my-exp3"], horizon=50, trials=2)["My-EXP3"]
    lap = as_one_player(make_algorithm("DP-EXP3-Lap", epsilon=1.0), player=make_algorithm("My-EXP3").player)
    theirs = simulate(GAME, [lap], horizon=50, trials=2)["DP-EXP3-Lap"]
    assert ours.engine == "compiled" and ours.guarantee == theirs.guarantee
    np.testing.assert_array_equal(ours.external_regret, theirs.external_regret)
    game = play(gym.make(GAME, horizon=50), make_algorithm("My-EXP3"), seed=0)
    assert game.external_regret[-1] == ours.external_regret[0, -1]


def test_labels_parameters_and_pickles(registered):
    algorithm = make_algorithm("My-EXP3", epsilon=0.5, label="half")
    assert algorithm.name == "half" and make_algorithm("My-EXP3").name == "My-EXP3"
    sent = pickle.loads(pickle.dumps(algorithm))
    assert sent.guarantee(n_arms=2, horizon=9).epsilon == 0.5
    with refused(TypeError, "My-EXP3", "'rate'"):
        make_algorithm("My-EXP3", rate=1)


def test_the_command_line_runs_it_and_remembers_its_code(registered, tmp_path):
    texts = ["My-EXP3:epsilon=2", "EXP3"]
    experiment = experiment_from(["Stochastic"], texts, epsilon=None, trials=2, horizon=20, seed=0)
    configuration = experiment.configuration()
    assert f"{__name__}.mine" in configuration["made_by"]
    assert not [name for name in configuration["made_by"] if name.startswith("dp_bandit_envs.")]
    results = run(experiment, ResultsFolder(tmp_path / "out", configuration))
    assert results.names == ["My-EXP3 (epsilon=2)", "EXP3"]


def test_a_function_that_is_defined_again_takes_the_place_of_the_older_one():
    """As where a cell of a notebook is edited and run again."""
    names = {"__name__": "a_notebook", "Algorithm": Algorithm, "Exp3": Exp3}
    try:
        for rate in (0.5, 0.25):
            exec(f"def made(): return Algorithm('Cell', lambda: Exp3(exploration_rate={rate}))", names)
            register_algorithm("Cell", names["made"])
            assert make_algorithm("Cell").agent().exploration_rate == rate
        with refused(NameTakenError, "'cell'", "Cell"):
            register_algorithm("cell", names["made"])
        with refused(NameTakenError, "'Cell'"):
            register_algorithm("Cell", mine)
    finally:
        del ALGORITHMS["Cell"]


@pytest.mark.parametrize(
    ("name", "maker", "error", "words"),
    [
        ("EXP3", mine, NameTakenError, ("name", "EXP3")),
        ("exp3-TAU", mine, NameTakenError, ("name", "EXP3-tau")),
        ("two words", mine, ValueError, ("name", "'two words'")),
        ("A:b", mine, ValueError, ("name", "'A:b'")),
        (7, mine, WrongTypeError, ("name", "int")),
        ("Mine", Exp3, WrongTypeError, ("Algorithm",)),
        ("Mine", None, WrongTypeError, ("Algorithm",)),
    ],
    ids=lambda part: part if isinstance(part, str) else "",
)
def test_what_is_no_algorithm_is_refused(name, maker, error, words):
    with refused(error, *words):
        register_algorithm(name, maker)
    with pytest.raises(UnknownNameError):
        make_algorithm("Mine")


def test_a_wrapping_is_a_function_that_returns_an_environment():
    """Or a class that needs the environment alone."""
    env = gym.make(GAME, horizon=5)
    assert isinstance(Algorithm("mine", Exp3, ExactSums).wrap(env), ExactSums)
    with refused(TypeError, "wrapping", "lambda env", "a LaplaceClipRescale"):
        Algorithm("mine", Exp3, LaplaceClipRescale(env, epsilon=1.0))
    with refused(TypeError, "wrapping", "lambda env", "LaplaceClipRescale", "epsilon"):
        Algorithm("mine", Exp3, LaplaceClipRescale)
    for returned, word in ((None, "None"), (3, "int")):
        with refused(TypeError, "wrapping", "lambda env", word):
            play(env, Algorithm("mine", Exp3, lambda env, returned=returned: returned))


def test_a_repr_shows_no_function_without_a_name():
    assert repr(make_algorithm("DP-KLUCB")).startswith("Algorithm('DP-KLUCB', parameters={'epsilon': 1.0,")
    assert repr(Algorithm("mine", Exp3, lambda env: env)) == "Algorithm('mine', make_agent=Exp3)"
