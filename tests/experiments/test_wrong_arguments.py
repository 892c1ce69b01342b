"""Wrong arguments of comparisons: each is refused in a sentence of ours, not in one of Python's."""

import warnings

import gymnasium as gym
import numpy as np
import pytest

from dp_bandit_envs import Ledger, compare, load, make_algorithm, play, simulate
from dp_bandit_envs.agents import Exp3
from dp_bandit_envs.errors import LedgerError, WrongGameError, WrongTypeError
from dp_bandit_envs.seeding import KnownSeedWarning
from tests.tools.refusals import refused

SMALL = {"horizon": 10, "trials": 1}
HOME = "tests.experiments.test_compare"


@pytest.fixture(scope="module")
def compared():
    return compare("Stochastic", ["UCB", "DP-KLUCB"], epsilon=1, horizon=20, trials=2)


def test_a_wrong_question_is_refused():
    for environments, algorithms, more, error, words in [
        ("Stochastic", "UCB", {"epsilon": 1}, ValueError, ("epsilon", "UCB", "DP-KLUCB")),
        ("Stochastic", "UCB", {"delta": 1e-6}, ValueError, ("delta", "UCB", "DP-UCB-INT")),
        ("Stochastic", "DP-KLUCB:epsilon=1", {"epsilon": 2}, ValueError, ("epsilon", "DP-KLUCB (epsilon=1)")),
        ("Stochastic", "UCB", {"trials": 10**30}, ValueError, ("trials", "10,000,000")),
        ("Stochastic", "DP-KLUCB", {"epsilon": {1, 2}}, WrongTypeError, ("epsilon", "set", "list(...)")),
        ("Stochastic", "DP-KLUCB", {"epsilon": iter([1, 2])}, WrongTypeError, ("epsilon", "list(...)")),
        ("Stochastic", "DP-KLUCB", {"epsilon": 1, "at_guarantee": "yes"}, TypeError, ("person", "'yes'")),
        ("Stochastic", "UCB", {"jobs": 0}, ValueError, ("jobs", 1, 0)),
        ("Stochastic", "UCB", {"jobs": 1.5}, TypeError, ("jobs", 1.5)),
        ("Stochastic", "UCB", {"progress": 3}, WrongTypeError, ("progress", 3)),
        ("Stochastic", "UCB", {"folder": ""}, ValueError, ("folder", "results/mine")),
        ("Stochastic", "UCB", {"folder": 3}, WrongTypeError, ("folder", "int")),
        ("Trial", "UCB", {"n_arms": 3}, ValueError, ("n_arms", "Trial", 3)),
        (("Stochastic", {3: 3}), "UCB", {}, WrongTypeError, ("arguments", "n_arms")),
        ("Stochastic", {"": "UCB"}, {}, WrongTypeError, ("name", "''")),
        ("Stochastic", int, {}, WrongTypeError, ("agent's class", "int")),
        ("Stochastic", {"mine": object()}, {}, WrongTypeError, ("mine", "object")),
        ("Stochastic", {"mine": int}, {}, WrongTypeError, ("mine", "int")),
        ("Stochastic", "UCB:", {}, ValueError, ("colon", "'UCB:'")),
        ("Stochastic", "DP-UCB-BOUND:counter=logarithmic", {}, ValueError, ("'logarithmic'", "hybrid")),
        (["Stochastic", "Simplex"], "EXP3", {}, WrongGameError, ("EXP3", "OSMD", "Simplex")),
        ("Stochastic", [], {}, ValueError, ("algorithms",)),
        ([], "UCB", {}, ValueError, ("environments",)),
        ("Stochastic", ["UCB", "UCB"], {}, ValueError, ("'UCB' twice",)),
        (["Stochastic", "Stochastic"], "UCB", {}, ValueError, ("'stochastic' twice",)),
        ("Stochastic", "UCB", {"epsilon": [1, 1]}, ValueError, ("epsilon", "1 twice")),
        ("Stochastic", "UCB", {"epsilon": []}, ValueError, ("epsilon",)),
        ("Stochastic", "UCB", {"delta": 2}, ValueError, ("delta",)),
        ("Stochastic", "UCB", {"horizon": [5, 0]}, ValueError, ("horizon",)),
        ("Stochastic:n_arms=3", "UCB", {"n_arms": 2}, ValueError, ("n_arms", "once")),
        (3, "UCB", {}, TypeError, ()),
        ("Stochastic", Exp3(), {}, WrongTypeError, ("Exp3",)),
        ("Stochastic", lambda size: None, {}, WrongTypeError, ("size",)),
        ("Stochastic", lambda epsilon=1.0: Exp3(), {"epsilon": 1}, WrongTypeError, ("Algorithm", "epsilon")),
        ("Stochastic", "no.such.module:Name", {}, ValueError, ("no",)),
        ("Stochastic", f"{HOME}:Missing", {}, ValueError, ("Missing",)),
        ("Stochastic", f"{HOME}:noisy:arms=1", {}, ValueError, ("noisy", "'arms'", "epsilon")),
        ("Stochastic", f"{HOME}:FIXED:epsilon=1", {}, ValueError, ("'epsilon'",)),
    ]:
        with refused(error, *words):
            compare(environments, algorithms, **{**SMALL, **more})


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        ({"algorithm": "ucb"}, ValueError, ("algorithm", "UCB, DP-KLUCB", "'ucb'")),
        ({"algorithm": ["UCB", "EXP3"]}, ValueError, ("algorithm", "'EXP3'")),
        ({"algorithm": 3}, WrongTypeError, ("algorithm", "int")),
        ({"environment": "stochastic"}, ValueError, ("environment", "Stochastic", "'stochastic'")),
        ({"epsilon": 7}, ValueError, ("epsilon", 1, 7)),
        ({"epsilon": "1"}, WrongTypeError, ("epsilon", "'1'")),
    ],
)
def test_a_wrong_selection_is_refused(compared, given, error, words):
    with refused(error, *words):
        compared.select(**given)


def test_wrong_places_are_refused(compared):
    with refused(WrongTypeError, "index", "select"):
        compared["UCB"]
    for folder in (3, None):
        with refused(WrongTypeError, "folder", "results/mine"):
            load(folder)
        with refused(WrongTypeError, "folder", "results/mine"):
            compared.save(folder)
    with refused(ValueError, "folder"):
        load("")


def test_a_ledger_refuses_a_known_seed_without_a_warning():
    data = {"gains": np.full((20, 2), 0.5), "ledger": Ledger(epsilon=1.0)}
    with warnings.catch_warnings():
        warnings.simplefilter("error", KnownSeedWarning)
        with refused(LedgerError, "seed"):
            simulate("DPBandit-Replay-v0", "DP-EXP3-Lap", trials=1, seed=0, env_kwargs=data)
        with refused(LedgerError, "seed"):
            play(gym.make("DPBandit-Replay-v0", **data), make_algorithm("DP-EXP3-Lap"), seed=0)
