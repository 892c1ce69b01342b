"""A third party's adversary is registered under a name of its own, and everything that plays games then knows it."""

import inspect
import pickle
import subprocess
import sys
from pathlib import Path

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from dp_bandit_envs import Exp3, adversaries, make_algorithm, play, register_adversary, simulate
from dp_bandit_envs.cli import main
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.envs.registration import IDS
from dp_bandit_envs.errors import NameTakenError, WrongTypeError
from tests.tools.refusals import missing, refused


class Drifting(adversaries.Adversary):
    """The gain of arm i is u^(i + 1) for one uniform u a round.

    Made for this test.

    Args:
        power: A factor of the exponent.

    Source: nobody (2000).
    """

    def __init__(self, n_arms=3, horizon=50, *, power=1.0):
        super().__init__(n_arms, horizon)
        self.power = power

    def begin(self, rng):
        self._rng = rng

    def next_gains(self, rounds):
        return self._rng.random((rounds, 1)) ** (self.power * np.arange(1, self.n_arms + 1))


@pytest.fixture
def drifting():
    """Register it."""
    return register_adversary("Drifting", Drifting)


def gains_of(env):
    env.reset(seed=5)
    return [env.step(t % 3)[1] for t in range(50)]


def test_it_is_a_game_like_any_other(drifting):
    assert drifting == "DPBandit-Drifting-v0" and drifting in IDS
    env = gym.make(drifting, power=2.0)
    assert gains_of(env) == gains_of(BanditEnv(Drifting(power=2.0)))
    check_env(gym.make(drifting).unwrapped)
    many = gym.make_vec(drifting, num_envs=2, power=2.0)
    many.reset(seed=5)
    assert [many.step(np.full(2, t % 3))[1][0] for t in range(50)] == gains_of(env)
    on_graph = gym.make("DPBandit-Graph-v0", graph="star", gains="drifting", n_arms=5, horizon=7).unwrapped
    assert isinstance(on_graph.adversary, Drifting) and (on_graph.n_arms, on_graph.horizon) == (5, 7)
    class_ = type(gym.make(drifting).unwrapped)
    assert str(inspect.signature(class_)).startswith("(*, n_arms=3, horizon=50, power=1.0, arm_order=None, observe")
    assert class_.__name__ == "DriftingEnv"
    for text in ("Made for this test.", "`power=1.0`: A factor of the exponent.", "## References\nnobody (2000)."):
        assert text in inspect.getdoc(class_)


@pytest.mark.thorough
def test_it_is_simulated_compiled_and_the_same_as_its_object(drifting):
    ours = simulate(drifting, ["EXP3"], trials=2)["EXP3"]
    assert ours.engine == "compiled"
    theirs = simulate(lambda: BanditEnv(Drifting()), ["EXP3"], trials=2)["EXP3"]
    np.testing.assert_array_equal(ours.external_regret, theirs.external_regret)


@pytest.mark.thorough
def test_a_pickled_environment_carries_its_registration_along(drifting):
    """Another process knows nothing of it; the module of the adversary is imported there, and registers nothing."""
    sent = pickle.dumps(gym.make(drifting, power=3.0))
    code = (
        "import pickle, sys, dp_bandit_envs\n"
        "from dp_bandit_envs.envs.registration import IDS\n"
        "assert 'DPBandit-Drifting-v0' not in IDS\n"
        "env = pickle.load(sys.stdin.buffer); env.reset(seed=5)\n"
        "assert 'DPBandit-Drifting-v0' in IDS\n"
        "print([env.step(t % 3)[1] for t in range(50)])"
    )
    done = subprocess.run([sys.executable, "-c", code], input=sent, capture_output=True, cwd=Path(__file__).parents[2])
    assert done.returncode == 0, done.stderr.decode()
    assert done.stdout.decode().strip() == str(gains_of(gym.make(drifting, power=3.0)))


MODULE = '''
import numpy as np
from dp_bandit_envs import Adversary, register_adversary
from dp_bandit_envs.agents import Uniform

class Rising(Adversary):
    """Gains rise."""
    def begin(self, rng):
        self._round = 0
    def next_gains(self, rounds):
        t = np.arange(self._round, self._round + rounds)
        self._round += rounds
        return (t[:, None] / self.horizon) ** np.arange(1, self.n_arms + 1)

class Foreign(Uniform):
    """An agent that is not compiled."""
    def begin(self, **options):
        super().begin(**options)

register_adversary("Rising", Rising)
'''


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "mine.py").write_text(MODULE, encoding="utf-8")
    return tmp_path


@pytest.mark.thorough
def test_workers_reach_a_registration_by_the_modules_name(folder):
    program = (
        "from dp_bandit_envs import simulate, Algorithm\n"
        "if __name__ == '__main__':\n"
        "    import mine\n"
        "    game = {'environment': 'mine:DPBandit-Rising-v0', 'horizon': 30, 'trials': 4}\n"
        "    both = [simulate(algorithms={'a': mine.Foreign}, jobs=jobs, **game)['a'] for jobs in (1, 2)]\n"
        "    assert both[0].engine == 'play', both[0]\n"
        "    print((both[0].external_regret == both[1].external_regret).all())\n"
    )
    (folder / "program.py").write_text(program, encoding="utf-8")
    done = subprocess.run([sys.executable, "program.py"], cwd=folder, capture_output=True, encoding="utf-8")
    assert (done.stdout, done.returncode) == ("True\n", 0), done.stderr


@pytest.mark.thorough
def test_the_command_line_runs_it_by_the_modules_name(folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "path", [*sys.path])  # to which the command adds the folder
    words = ["EXP3", "--trials", "2", "--horizon", "40", "--out", "results"]
    monkeypatch.setattr(sys, "argv", ["dp-bandit", "run", "mine:DPBandit-Rising-v0:n_arms=3", *words])
    main()
    assert "Rising" in (folder / "results" / "report.md").read_text(encoding="utf-8")
    monkeypatch.setattr(sys, "argv", ["dp-bandit", "run", "yours:DPBandit-Rising-v0", *words])
    with pytest.raises(SystemExit) as left:
        main()
    assert left.value.code == 2 and missing(capsys.readouterr().err, "yours") == []


class Takes(Drifting):
    """Takes what every environment takes."""

    def __init__(self, render_mode=None):
        super().__init__()


def test_wrong_names_and_classes_are_refused(drifting):
    for name, made, error, words in [
        *((name, Drifting, ValueError, ("name", repr(name))) for name in ("", "drifting", "Two Words", "A-B", "Ünder")),
        *((name, Drifting, ValueError, ("name", repr(name))) for name in ("9Lives", "Many\n", "ManyVector")),
        (3, Drifting, TypeError, ("name", "int")),
        *((name, Drifting, NameTakenError, ("name", repr(name))) for name in ("SWITCHING", "Graph")),
        ("DRifting", Drifting, NameTakenError, ("'DRifting'", drifting)),
        *(("Mine", one, TypeError, ("adversary_class", "Adversary", one.__name__)) for one in (Exp3, dict)),
        ("Mine", adversaries.Adversary, TypeError, ("adversary_class",)),
        ("Mine", Drifting(), TypeError, ("adversary_class", "Drifting")),
        ("Takes", Takes, ValueError, ("Takes", "render_mode")),
    ]:
        with refused(error, *words):
            register_adversary(name, made)
    assert "DPBandit-Mine-v0" not in IDS


def test_an_adversary_whose_base_class_was_not_initialised_is_told_so():
    class Silent(Drifting):
        def __init__(self, n_arms=3, horizon=50):
            self.power = 1.0

    for play_it in (lambda: BanditEnv(Silent()), lambda: simulate(Silent, "EXP3", horizon=50, trials=1)):
        with refused(WrongTypeError, "Silent.__init__", "super().__init__"):
            play_it()


def test_a_class_that_is_defined_again_takes_the_place_of_the_older_one():
    """As where a cell of a notebook is edited and run again."""
    names = {"__name__": "a_notebook", "Drifting": Drifting}
    gains = []
    for factor in (1.0, 0.5):
        code = f"class Cell(Drifting):\n def next_gains(self, n):\n  return super().next_gains(n) * {factor}\n"
        exec(code, names)
        id_ = register_adversary("Cell", names["Cell"])
        assert register_adversary("Cell", names["Cell"]) == id_
        env, many = gym.make(id_), gym.make_vec(id_, num_envs=2)
        assert type(env.unwrapped.adversary) is type(many.unwrapped.adversaries[0]) is names["Cell"]
        gains.append(gains_of(env))
        played = simulate(id_, ["EXP3"], trials=2, seed=0)["EXP3"].external_regret[-1, -1]
        assert played == play(env, make_algorithm("EXP3"), seed=0, trial=1).external_regret[-1]
    assert gains[1] == [gain / 2 for gain in gains[0]]
    # Another class is not that one again.
    with refused(NameTakenError, "'Cell'"):
        register_adversary("Cell", Drifting)
