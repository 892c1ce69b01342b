"""A plain function as an agent, the names of all adapters, and what they make in `compare`, with its results."""

import subprocess
import sys

import gymnasium as gym
import numpy as np
import pytest

from dp_bandit_envs import Algorithm, BanditEnv, LaplaceClipRescale, adapters, compare, load, play, simulate
from dp_bandit_envs.adapters import from_function
from dp_bandit_envs.adversaries import GainTable
from dp_bandit_envs.conformance import check_agent
from dp_bandit_envs.errors import NotAnIntegerError, WrongTypeError
from dp_bandit_envs.wrappers import ExactSums, HybridSums
from tests.tools.refusals import refused

TABLE = np.random.default_rng(0).random((40, 3))


def greedy(counts, sums, rng):
    """Try each arm once, then play the best mean, or any arm with a chance of 10 %."""
    if not counts.all():
        return int(np.argmin(counts))
    return int(rng.integers(len(counts))) if rng.random() < 0.1 else int(np.argmax(sums / counts))


def recorded(seen):
    def choose(counts, sums, rng):
        seen.append((counts.tolist(), sums.tolist()))
        return (len(seen) - 1) % 3

    return choose


@pytest.mark.thorough
def test_it_keeps_the_contract_of_agents_with_gains_and_with_sums():
    check_agent(from_function(greedy), learns_from="both")


def test_counts_and_sums_are_those_of_the_gains_so_far_above_exact_sums_too():
    seen = []
    play(BanditEnv(GainTable(TABLE)), from_function(recorded(seen))(), seed=1)
    for t, (counts, sums) in enumerate(seen):
        rows = TABLE[:t]
        own = [rows[arm::3, arm] for arm in range(3)]
        assert counts == [len(part) for part in own]
        assert sums == pytest.approx([part.sum() for part in own])
    above, below = [], []
    play(BanditEnv(GainTable(TABLE)), from_function(recorded(below))(), seed=1)
    play(ExactSums(BanditEnv(GainTable(TABLE))), from_function(recorded(above))(), seed=1)
    assert [counts for counts, _ in above] == [counts for counts, _ in below]
    np.testing.assert_allclose([sums for _, sums in above], [sums for _, sums in below], rtol=1e-9)


@pytest.mark.parametrize(
    "wrap", [lambda env: LaplaceClipRescale(env, epsilon=1.0), lambda env: HybridSums(env, epsilon=1.0)]
)
def test_behind_a_wrapper_it_is_given_released_values_and_a_game_can_be_repeated(wrap):
    algorithm = Algorithm("greedy", from_function(greedy), wrap)
    games = [play(BanditEnv(GainTable(TABLE)), algorithm, seed=seed).arms.tolist() for seed in (3, 3, 4)]
    assert games[0] == games[1] != games[2]
    assert algorithm.guarantee(n_arms=3, horizon=40).epsilon == 1.0
    seen = []
    play(wrap(BanditEnv(GainTable(np.full((40, 3), 0.5)))), from_function(recorded(seen))(), seed=3)
    assert any(total != 0.5 * count for counts, sums in seen for count, total in zip(counts, sums, strict=True))


@pytest.mark.parametrize("arm", [3, -1, 0.5, None])
def test_a_wrong_arm_is_named(arm):
    with refused(ValueError if isinstance(arm, int) else NotAnIntegerError, "choose", "[0, 2]", arm):
        play(BanditEnv(GainTable(TABLE)), from_function(lambda counts, sums, rng: arm)())


@pytest.mark.parametrize("wrong", [None, "greedy", dict])
def test_something_else_than_a_function_is_refused(wrong):
    with refused(WrongTypeError, "choose", wrong.__name__ if isinstance(wrong, type) else type(wrong).__name__):
        from_function(wrong)


CALLS = {
    "river": (lambda: adapters.from_river(None), ["river", "river.bandit.base"]),
    "mabwiser": (lambda: adapters.from_mabwiser(None), ["mabwiser", "mabwiser.mab"]),
    "vowpalwabbit": (lambda: adapters.from_vowpalwabbit(), ["vowpalwabbit"]),
    "stable_baselines3": (
        lambda: adapters.from_sb3(None),
        ["stable_baselines3", "stable_baselines3.common.base_class"],
    ),
}


@pytest.mark.parametrize("package", CALLS)
def test_a_missing_package_is_named_with_the_extra_that_installs_it(package, monkeypatch):
    call, modules = CALLS[package]
    for module in modules:
        monkeypatch.setitem(sys.modules, module, None)
    with refused(ImportError, package, "pip install"):
        call()


@pytest.mark.thorough
def test_importing_all_adapters_loads_no_other_package():
    code = (
        "import sys; from dp_bandit_envs.adapters import *;"
        "print([name for name in ('river', 'mabwiser', 'vowpalwabbit', 'stable_baselines3', 'torch', 'sklearn')"
        " if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, check=True)
    assert done.stdout.split() == [b"[]"]


def test_arguments_of_vowpal_wabbit_are_text():
    with refused(TypeError, "arguments", "int"):
        adapters.from_vowpalwabbit(3)
    for wrong in ("--cb_explore 3", "--random_seed=3 --epsilon 0.1"):
        with refused(ValueError, "arguments", repr(wrong)):
            adapters.from_vowpalwabbit(wrong)


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


@pytest.mark.thorough_cases("from_function", "from_mabwiser", "from_sb3")
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
