"""Simulations on a GPU, with the processor in its place: same games, refusals, faults, batches."""

import gymnasium as gym
import numpy as np
import pytest

from dp_bandit_envs import Exp3, Ledger, simulate
from dp_bandit_envs.adversaries import MemoryBounded, Stochastic, overfished
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.errors import DeviceError, GainRangeError
from dp_bandit_envs.simulation import gpu_games
from tests.tools.gpu_machines import OneThread, assert_same_games, simulate_on
from tests.tools.playable import BANDITS, FULL_INFORMATION

STOCHASTIC = "DPBandit-Stochastic-v0"
GRAPH = "DPBandit-Graph-v0"
GAMES = {
    "Switching": ("DPBandit-Switching-v0", ["EXP3-tau"], {}),
    "MemoryBounded": ("DPBandit-MemoryBounded-v0", ["DP-EXP3-Lap"], {"memory": 3, "observe_charge": False}),
    "FullyOblivious": ("DPBandit-FullyOblivious-v0", ["EXP3"], {}),
    "Oblivious": ("DPBandit-Oblivious-v0", ["EXP3"], {}),
    "Deterministic": ("DPBandit-Deterministic-v0", ["EXP3"], {}),
    "Experts": ("DPBandit-Experts-v0", ["DP-Hedge"], {}),
    "Graph": (GRAPH, ["UCB-N"], {"graph": "cycle", "n_arms": 7}),
    "sums": (STOCHASTIC, ["DP-UCB", "TS"], {"n_arms": 3}),
}


@pytest.mark.parametrize("game", GAMES)
def test_a_thread_plays_the_games_of_the_processor(game, monkeypatch):
    id_, names, arguments = GAMES[game]
    monkeypatch.setattr(gpu_games, "ROUNDS_AT_ONCE", 77)
    assert_same_games(monkeypatch, OneThread, id_, names, **arguments)


@pytest.mark.slow
@pytest.mark.parametrize("name", [*BANDITS, *FULL_INFORMATION])
def test_a_thread_plays_every_algorithm(name, monkeypatch):
    assert_same_games(monkeypatch, OneThread, STOCHASTIC if name in BANDITS else "DPBandit-Experts-v0", [name])


def test_results_do_not_depend_on_batches_or_launches(monkeypatch):
    monkeypatch.setattr(gpu_games, "MOST_GAMES", 3)
    monkeypatch.setattr(gpu_games, "ROUNDS_AT_ONCE", 1000)
    done = []
    options = {"horizon": 50, "trials": 7, "first_trial": 2, "progress": lambda *numbers: done.append(numbers)}
    simulation = simulate_on(monkeypatch, OneThread, STOCHASTIC, ["EXP3", "Uniform"], **options)
    # Batches of 3, 3 and 1 trials; in each, one algorithm after the other.
    assert done == [(games, 14) for games in range(1, 15)]
    expected = simulate(STOCHASTIC, ["EXP3", "Uniform"], horizon=50, trials=7, first_trial=2)
    for name in expected:
        np.testing.assert_array_equal(simulation[name].collected, expected[name].collected)


REFUSED = {
    "a secret seed": (STOCHASTIC, ["EXP3"], {"seed": None}, "needs a seed"),
    "an adversary without rounds": (
        "DPBandit-Trial-v0",
        ["EXP3"],
        {"seed": 0},
        "Trial does not draw its gains round by",
    ),
    "points": ("DPBandit-Ball-v0", ["DP-FTRL"], {"env_kwargs": {"dimension": 3}}, "its actions are points"),
    "a payoff": (
        lambda: BanditEnv(MemoryBounded(2, 50, gains=Stochastic(2, 50), payoff=overfished)),
        ["EXP3"],
        {},
        "the adversary has a payoff function",
    ),
    "a changing graph": (
        GRAPH,
        ["UCB-N"],
        {"env_kwargs": {"graph": "erdos-renyi", "n_arms": 9, "degree": 3, "redraw_every": 5}},
        "graph changes within a game",
    ),
    "graphs of several sizes": (
        GRAPH,
        ["UCB-N"],
        {"env_kwargs": {"graph": "erdos-renyi", "n_arms": 9, "degree": 3}},
        "another number of edges in each game",
    ),
    "a cluster": (STOCHASTIC, ["EXP3"], {"cluster": "tcp://127.0.0.1:1"}, "received a cluster as well"),
    "what is played": (STOCHASTIC, {"mine": lambda: Played()}, {}, "mine cannot be played on a GPU: Played has"),
}


class Played(Exp3):
    """Is not compiled."""

    def begin(self, *arguments, **named):
        """Begin as EXP3 does."""
        super().begin(*arguments, **named)


@pytest.mark.parametrize("what", REFUSED)
def test_refused_is(what, monkeypatch):
    id_, names, options, message = REFUSED[what]
    with pytest.raises(DeviceError, match=message):
        simulate_on(monkeypatch, OneThread, id_, names, trials=4, **options)


def test_functions_of_others_are_refused(monkeypatch):
    """A GPU checks no bounds, so a mistake there would read or write anywhere."""
    monkeypatch.setattr(Stochastic, "next_round", staticmethod(lambda state, t, row, rng: None))
    with pytest.raises(DeviceError, match="a GPU checks no bounds of arrays, and <lambda>"):
        simulate_on(monkeypatch, OneThread, STOCHASTIC, ["EXP3"], horizon=20)


def test_data_with_a_ledger_are_refused_and_nothing_is_spent(monkeypatch):
    ledger = Ledger(epsilon=3.0)

    def make():
        adversary = Stochastic(2, 20)
        adversary.ledger = ledger
        return BanditEnv(adversary)

    with pytest.raises(DeviceError, match="the data have a ledger"):
        simulate_on(monkeypatch, OneThread, make, ["DP-EXP3-Lap"], seed=0)
    assert ledger.spent.epsilon == 0.0


def test_a_device_has_one_of_two_names():
    with pytest.raises(ValueError, match="device must be one of 'cpu', 'cuda'; received 'gpu'"):
        simulate(STOCHASTIC, ["EXP3"], horizon=20, device="gpu")


def test_a_game_with_too_many_words_is_refused(monkeypatch):
    monkeypatch.setattr(gpu_games, "MOST_WORDS", 60)
    with pytest.raises(DeviceError, match=r"EXP3 cannot be played on a GPU: a game has .* words, more than the 60"):
        simulate_on(monkeypatch, OneThread, STOCHASTIC, ["EXP3"], horizon=20)


class Stopping(OneThread):
    """Leaves game 2 as it was in its second launch, as a thread does that ends early."""

    launches = 0

    def __call__(self, threads, block, *arguments):
        """Play the games, but not all."""
        before = block[:, 2].copy()
        super().__call__(threads, block, *arguments)
        self.launches += 1
        if self.launches == 2:
            block[:, 2] = before


def test_a_thread_that_ends_without_a_reason_is_an_error(monkeypatch):
    monkeypatch.setattr(gpu_games, "ROUNDS_AT_ONCE", 10)
    with pytest.raises(DeviceError, match="the GPU stopped EXP3 in trial 7, which the processor plays to its end"):
        simulate_on(monkeypatch, Stopping, STOCHASTIC, ["EXP3"], horizon=50, trials=4, first_trial=5)


def above_one(state, t, row, rng):
    """Write a gain above 1 in round 12."""
    for arm in range(len(row)):
        row[arm] = 1.5 if t == 12 else 0.5


# As if it were this package's.
above_one.__module__ = "dp_bandit_envs.tests"


def test_a_thread_that_ends_with_a_reason_raises_what_the_processor_raises(monkeypatch):
    class Ending(OneThread):
        def __call__(self, *arguments):
            with pytest.raises(ValueError, match="out of range"):
                super().__call__(*arguments)

    monkeypatch.setattr(Stochastic, "next_round", staticmethod(above_one))
    with pytest.raises(GainRangeError, match=r"gains must be in \[0, 1\]; Stochastic returned others"):
        simulate_on(monkeypatch, Ending, STOCHASTIC, ["EXP3"], horizon=50)


def test_an_experiment_on_a_gpu_saves_the_same_results(monkeypatch, tmp_path):
    from dp_bandit_envs.cli.run_arguments import experiment_of
    from dp_bandit_envs.experiments.chunked_run import run
    from dp_bandit_envs.experiments.results_folder import ResultsFolder

    experiment = experiment_of(["Switching"], ["EXP3"], epsilon=None, trials=30, horizon=40, seed=1)
    panel = experiment.panels[0].key
    expected = run(experiment, ResultsFolder(tmp_path / "cpu", experiment.configuration()))
    monkeypatch.setattr(gpu_games, "check_there", lambda: None)
    monkeypatch.setattr(gpu_games, "kernel", OneThread)
    played = run(experiment, ResultsFolder(tmp_path / "gpu", experiment.configuration()), device="cuda")
    np.testing.assert_array_equal(
        played.regret(panel, "EXP3", "external_regret"), expected.regret(panel, "EXP3", "external_regret")
    )


def test_the_first_state_of_a_game_is_not_changed_by_another(monkeypatch):
    """The block is made of copies: playing twice gives the same."""
    env = gym.make(STOCHASTIC, horizon=30)
    assert env.unwrapped.adversary.means[0] == 0.55
    once, twice = (simulate_on(monkeypatch, OneThread, lambda: env, ["EXP3"], trials=3) for _ in range(2))
    np.testing.assert_array_equal(once["EXP3"].collected, twice["EXP3"].collected)
