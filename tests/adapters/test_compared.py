"""`compare` plays what every adapter makes; what another package brings alone names its adapter."""

import gymnasium as gym
import pytest

from dp_bandit_envs import adapters, compare, load, simulate
from dp_bandit_envs.errors import WrongTypeError
from tests.tools.refusals import refused

GAME = ("Stochastic", {"n_arms": 3})
SMALL = {"horizon": 12, "trials": 2, "seed": 1}


def last_arm(counts, sums, rng):
    return len(counts) - 1


def mabwiser_policy():
    return pytest.importorskip("mabwiser.mab").LearningPolicy.UCB1(alpha=1.25)


def river_policy():
    return pytest.importorskip("river.bandit").UCB(delta=1)


def sb3_model():
    sb3 = pytest.importorskip("stable_baselines3")
    return sb3.A2C("MultiInputPolicy", gym.make("DPBandit-Stochastic-v0", **GAME[1]), seed=0, device="cpu")


def vowpal_wabbit():
    pytest.importorskip("vowpalwabbit")
    return "--epsilon 0.1"


THEIRS = {
    "from_function": lambda: last_arm,
    "from_mabwiser": mabwiser_policy,
    "from_river": river_policy,
    "from_sb3": sb3_model,
    "from_vowpalwabbit": vowpal_wabbit,
}


def test_these_are_all_adapters_of_agents():
    assert {name for name in adapters.__all__ if name.startswith("from_")} == {*THEIRS, "from_gymnasium"}


@pytest.mark.parametrize("adapter", THEIRS)
def test_compare_plays_it_and_keeps_its_results(adapter, tmp_path):
    make = getattr(adapters, adapter)(THEIRS[adapter]())
    played = compare(GAME, {"theirs": make}, **SMALL, folder=tmp_path / "kept", progress=False)
    collected = played[0].values("collected")
    assert collected.shape == (2, 12) and 0 <= collected.min() <= collected.max() <= 12
    assert load(tmp_path / "kept")[0].values("collected").tolist() == collected.tolist()


@pytest.mark.parametrize("adapter", [name for name in THEIRS if name != "from_vowpalwabbit"])
@pytest.mark.parametrize("door", [compare, simulate])
def test_without_its_adapter_the_error_names_it(adapter, door):
    theirs = THEIRS[adapter]()
    for algorithms in ([theirs], {"theirs": theirs}, theirs):
        with refused(WrongTypeError, f"dp_bandit_envs.adapters.{adapter}"):
            door(GAME, algorithms, **SMALL)


class Policy(tuple):
    """A learning policy as MABWiser has them, which are named tuples."""


def test_a_policy_that_is_a_tuple_is_one_algorithm(monkeypatch):
    monkeypatch.setattr(Policy, "__module__", "mabwiser.mab")
    for door in (compare, simulate):
        with refused(WrongTypeError, "a Policy", "dp_bandit_envs.adapters.from_mabwiser"):
            door(GAME, Policy((1.25,)), **SMALL)
