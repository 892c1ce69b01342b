"""Wrong inputs at Python's doors, each with the words that its answer must have: what was received, and a way out.

Those of the command line are in `tests/cli/test_wrong_words.py`.
"""

import functools
import math
import re
import subprocess
import sys

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.envs.registration import EnvSpec

from dp_bandit_envs import (
    Algorithm,
    BanditEnv,
    Exp3,
    LaplaceClipRescale,
    Ledger,
    algorithm_names,
    calibrate,
    compare,
    load,
    make_algorithm,
    play,
    register_adversary,
    register_algorithm,
    register_private,
    reproduce,
    simulate,
)
from dp_bandit_envs.adapters import OutsideGame
from dp_bandit_envs.adversaries import MemoryBounded, Stochastic
from dp_bandit_envs.agents import Hedge, Ucb
from dp_bandit_envs.audits import exact_loss, sampled_loss
from dp_bandit_envs.conformance import check_agent, check_algorithm, check_wrapper
from dp_bandit_envs.privacy.counters import KAryCounter
from dp_bandit_envs.privacy.mechanisms import RandomizedResponse
from dp_bandit_envs.wrappers import HybridSums, vector
from tests.tools.refusals import missing

ID = "DPBandit-Stochastic-v0"
SIZE = {"n_arms": 3, "horizon": 9}


def observed_by(agent, begun_with):
    """Show an agent that was begun with one number of arms an observation of a game of four."""
    env = gym.make(ID, n_arms=4)
    agent.begin(n_arms=begun_with, horizon=9, rng=np.random.default_rng(0))
    env.reset(seed=0)
    agent.update(0, env.step(0)[0])


class Arms:
    """Chooses what it is told, and learns nothing."""

    def __init__(self, arm):
        self.arm = arm

    def begin(self, *, n_arms, horizon, rng):
        """Begin."""

    def select_arm(self):
        return self.arm

    def update(self, arm, observation):
        """Learn nothing."""


class CannotLearn:
    """Has one of three methods."""

    def select_arm(self):
        return 0


def env(**more):
    return gym.make(ID, **{**SIZE, **more})


def private():
    return LaplaceClipRescale(env(), epsilon=1.0)


def learnt(reward):
    game = OutsideGame("DP-KLUCB", **SIZE)
    return game.learn(game.next_arm(), reward)


def register(id_="WrongInputs-v0", **more):
    return register_private(id_, **{"game": ID, "wrappers": ["LaplaceClipRescale"], "epsilon": 1.0, **more})


WRONG = {
    # play
    "play a class": (lambda: play(BanditEnv, Exp3()), "BanditEnv(Stochastic(n_arms=10))"),
    "play nothing": (lambda: play(None, Exp3()), "environment", "NoneType", "'Stochastic'", "gymnasium.make"),
    "an agent without methods": (lambda: play(env(), CannotLearn()), "begin", "update", "dp_bandit_envs.Exp3()"),
    "an arm too many": (lambda: play(env(), Arms(3)), "Arms.select_arm", "[0, 2]", 3, "begin(n_arms=...)"),
    "an agent of sums": (lambda: play(env(), Ucb()), "Ucb", "HybridSums(env, epsilon=...)", "dp_bandit_envs"),
    "an agent of gains": (lambda: play(HybridSums(env(), epsilon=1.0), Exp3()), "'gain'", "dp_bandit_envs"),
    "a seed in words": (lambda: play(env(), Exp3(), seed="seven"), "seed", "'seven'"),
    # arguments that a door does not take
    "trials of one game": (lambda: play(ID, "EXP3", trials=3), "'trials'", "trial?", "simulate"),
    "trials of no game": (lambda: calibrate("DP-KLUCB", trials=3), "'trials'", "rounds_per_person", "simulate"),
    "a paper's letter": (lambda: simulate(ID, "EXP3", T=100), "'T'", "horizon"),
    "one game in the plural": (lambda: simulate(ID, policies="EXP3"), "'policies'", "algorithms"),
    "no algorithm": (lambda: simulate(ID), "algorithms", "simulate(environment, algorithms)"),
    "nothing for an algorithm": (lambda: simulate(ID, None), "algorithm", "NoneType"),
    "a number without a name": (lambda: simulate(ID, "EXP3", 100), "environment, algorithms", 3, "horizon"),
    "a wrapper's number": (lambda: LaplaceClipRescale(env(), 1.0), "all but env", 2, "epsilon"),
    "a wrapper's short word": (lambda: LaplaceClipRescale(env(), eps=1.0), "'eps'", "epsilon"),
    "a wrapper of no game": (lambda: LaplaceClipRescale(epsilon=1.0), "LaplaceClipRescale(env, epsilon=...)"),
    "a ledger's number": (lambda: Ledger(1.0), "everything by name", 1, "epsilon, delta"),
    "an agent's old name": (lambda: Algorithm("x", agent=Exp3), "'agent'", "make_agent"),
    "one argument twice": (lambda: play(ID, "EXP3", environment=ID), "once", "play(environment, algorithm)"),
    # simulate and compare
    "an unknown parameter": (lambda: simulate(ID, "EXP3:rate=.5", trials=1), "'rate'", "exploration_rate"),
    "an unknown argument": (lambda: simulate(ID, "EXP3", trials=1, env_kwargs={"mean": 1}), "'mean'", "means"),
    "parameters in brackets": (lambda: compare("Stochastic(n_arms=3)", "EXP3"), "Stochastic:parameter=value"),
    # algorithms
    "far names": (lambda: make_algorithm("epsilon-greedy"), "'epsilon-greedy'", *algorithm_names()),
    "a parameter": (lambda: make_algorithm("DP-KLUCB", eps=1), "DP-KLUCB", "'eps'", "epsilon"),
    "no privacy parameter": (lambda: make_algorithm("DP-KLUCB", epsilon=0), "epsilon", 0, "math.inf"),
    "an agent for its class": (lambda: Algorithm("x", Exp3()), "make_agent", "an Exp3", "lambda"),
    "a wrapper that needs more": (lambda: Algorithm("x", Exp3, LaplaceClipRescale), "wrapping", "'epsilon'", "lambda"),
    "a wrapper of nothing": (lambda: play(env(), Algorithm("x", Exp3, lambda env: None)), "wrapping", "None"),
    "no guarantee": (lambda: calibrate("UCB", epsilon=1.0, **SIZE), "UCB", "dp-bandit list"),
    # tables
    "a small name": (lambda: register_adversary("mine", Stochastic), "'mine'", "'Drifting'"),
    "an adversary": (lambda: register_adversary("Mine", Stochastic(**SIZE)), "a Stochastic", "BanditEnv(adversary)"),
    "an agent for an adversary": (lambda: register_adversary("Mine", Exp3), "Adversary", "Exp3"),
    "a name that is taken": (lambda: register_adversary("Stochastic", Stochastic), "'Stochastic'", ID),
    "an agent for a maker": (lambda: register_algorithm("Mine", Exp3), "the class Exp3", "dp_bandit_envs.Algorithm"),
    "a maker of agents": (lambda: register_algorithm("Mine", lambda: Exp3()), "an Exp3", "dp_bandit_envs.Algorithm"),
    "an algorithm that is taken": (lambda: register_algorithm("exp3", dict), "'exp3'", "EXP3"),
    "a wrapper's short name": (lambda: register(wrappers=["Laplace"]), "'Laplace'", "LaplaceClipRescale"),
    "a wrapper without a list": (lambda: register(wrappers="LaplaceClipRescale"), "list", "'LaplaceClipRescale'"),
    "an argument of no wrapper": (lambda: register(eps=1.0), "'eps'", "env_kwargs"),
    # environments and wrappers
    "arms of another name": (lambda: gym.make(ID, arms=3), "'arms'", "n_arms"),
    "a graph": (lambda: gym.make("DPBandit-Graph-v0", graph="circle"), "'circle'", "cycle"),
    "a file": (lambda: gym.make("DPBandit-Replay-v0", gains="missing.csv"), "missing.csv", "path"),
    "a ledger's name": (lambda: gym.make("DPBandit-Replay-v0", gains=np.eye(2), ledger="x"), "dp_bandit_envs.Ledger"),
    "an adversary's class": (lambda: BanditEnv(Stochastic), "the class Stochastic", "dp_bandit_envs.adversaries"),
    "an array as an arm": (lambda: [(one := env()).reset(), one.step(np.array([1]))], "array([1])", "item()"),
    "an id for an environment": (lambda: LaplaceClipRescale(ID, epsilon=1.0), "gymnasium.Env", "a str"),
    "many games": (
        lambda: LaplaceClipRescale(gym.make_vec(ID, num_envs=2), epsilon=1.0),
        "dp_bandit_envs.wrappers.vector.LaplaceClipRescale",
    ),
    "one game": (lambda: vector.LaplaceClipRescale(env(), epsilon=1.0), "dp_bandit_envs.wrappers.LaplaceClipRescale"),
    "a wrapper without epsilon": (lambda: LaplaceClipRescale(env()), "LaplaceClipRescale(env, epsilon=...)"),
    "a delta for Laplace": (lambda: HybridSums(env(), epsilon=1.0, delta=1e-6), "delta", "noise='gaussian'"),
    # ledgers, results, audits, rules
    "a unit": (lambda: Ledger(epsilon=1.0, unit="persons"), "'person'", "'persons'"),
    "no folder": (lambda: load("nowhere"), "nowhere", "configuration.json", "dp-bandit run --out"),
    "audit of a game": (lambda: exact_loss(env()), "OrderEnforcing", "dp_bandit_envs.Algorithm"),
    "samples of a wrapper": (lambda: sampled_loss(LaplaceClipRescale), "the class LaplaceClipRescale"),
    "an agent to check": (lambda: check_agent(Exp3()), "make_agent", "an Exp3", "class"),
    "an agent for an algorithm": (lambda: check_algorithm(Exp3()), "an Exp3", "dp_bandit_envs.Algorithm"),
    "a wrapper's class": (lambda: check_wrapper(LaplaceClipRescale), "epsilon=...", "lambda"),
    "an environment to check": (lambda: check_wrapper(env()), "OrderEnforcing", "lambda"),
    "a game outside": (lambda: OutsideGame(Exp3(), **SIZE), "an Exp3", "Give Exp3 itself"),
    "arms without a name": (lambda: OutsideGame("DP-KLUCB", 2, 100), "all but algorithm", 3, "n_arms, horizon"),
    "a reward in words": (lambda: learnt("0.5"), "withheld", "Give a number"),
    "an algorithm's full name": (lambda: make_algorithm("Thompson Sampling"), "TS or Gaussian-TS or DP-TS"),
    "a game's law": (lambda: compare("Bernoulli", "UCB"), "Stochastic"),
    "an algorithm for a game": (lambda: compare("UCB", "Stochastic"), "'UCB'", "Environments come first"),
    "calibrated at last": (lambda: calibrate("DP-UCB", epsilon=1), "n_arms and horizon, as calibrate(algorithm"),
    # sizes and floats that no game has
    "a billion trials": (lambda: simulate(ID, "EXP3", trials=10**9), "trials", "10,000,000"),
    "a billion checkpoints": (lambda: simulate(ID, "EXP3", checkpoints=10**9), "checkpoints", "134,217,728"),
    "checkpoints of a float": (lambda: simulate(ID, "EXP3", checkpoints=3.0), "checkpoints", "3.0", "Use 3"),
    "checkpoints of bytes": (lambda: simulate(ID, "EXP3", checkpoints=b"\3"), "checkpoints", "b'\\x03'"),
    "a horizon of bytes": (lambda: compare(ID, "EXP3", horizon=b"x"), "horizon", "b'x'"),
    "arms of bytes": (lambda: compare(ID, "EXP3", n_arms=bytearray(b"xy")), "n_arms", "a bytearray"),
    "a number too long to write": (lambda: simulate(ID, "EXP3", horizon=10**5000), "horizon", "float"),
    "a huge dimension": (lambda: gym.make("DPBandit-Linear-v0", dimension=2**53), "dimension", "1,000,000"),
    "a mean above all floats": (lambda: gym.make(ID, means=[10**400, 0.5]), "means", "[0, 1]"),
    "noise of a tiny epsilon": (lambda: simulate(ID, "Batched-Lap-HTINF:epsilon=1e-300"), "sigma", "inf"),
    "a rate of a tiny epsilon": (
        lambda: simulate("Experts", "Noisy-Hedge:epsilon=1e-300", horizon=9),
        "noisy_hedge_rate",
        "noise_scale",
    ),
    "rates of a tiny epsilon": (lambda: simulate(ID, "AS-EXP2:epsilon=1e-300"), "exp2_rates", "scale"),
    # functions and paths
    "a maker of nothing": (lambda: play(lambda: None, Exp3()), "returns", "NoneType"),
    "a maker with an argument": (lambda: play(lambda size: None, Exp3()), "without arguments"),
    "a class of Python's": (lambda: simulate(int, "EXP3"), "the class int"),
    "progress of one number": (lambda: simulate(ID, "EXP3", progress=lambda done: None), "progress", "games in all"),
    "a rate of nothing": (lambda: play("Experts", Hedge(learning_rate=lambda k, t: math.nan)), "learning_rate", "nan"),
    "a width of a number": (lambda: play(HybridSums(env(), epsilon=1.0), Ucb(width=lambda *_: 0)), "width", "an int"),
    "a ledger in no file": (lambda: Ledger.create(None, epsilon=1.0), "path", "NoneType"),
    "a ledger in a null": (lambda: Ledger.load("a\0b"), "path", "'a\\x00b'"),
    "a diary without a name": (lambda: OutsideGame("DP-KLUCB", **SIZE, diary=""), "diary", "''"),
    "a delta of an array": (lambda: Ledger(epsilon=1.0, delta=np.array([])), "delta", "number"),
    "arms by name": (lambda: OutsideGame("EXP3", arms=["red", "blue"], horizon=9), "'arms'", "arm_names"),
    "arms by name in a game": (lambda: play(ID, "EXP3", arms=["red", "blue"]), "'arms'", "n_arms=2", "number"),
    "begin without names": (
        lambda: Exp3().begin(4, 100, np.random.default_rng(0)),
        "Exp3.begin",
        "by name",
        "n_arms, horizon, rng",
    ),
    "begin of another agent": (lambda: Ucb().begin(4), "Ucb.begin", "by name"),
    "an agent's parameter without its name": (lambda: Exp3(0.1), "Exp3", "by name", "exploration_rate"),
    "an adversary's without its name": (lambda: MemoryBounded(4, 9, 2), "MemoryBounded", "by name", "memory"),
    "a mechanism's without its name": (lambda: RandomizedResponse(1.0), "RandomizedResponse", "by name", "epsilon"),
    "a counter's without its name": (lambda: KAryCounter(1.0), "KAryCounter", "epsilon=..."),
    "another number of arms": (lambda: observed_by(Exp3(), begun_with=3), "Exp3", "n_arms=3", "4 values", "begin"),
    "a game has no guarantee": (
        lambda: gym.make(ID).unwrapped.guarantee,
        "wrapper",
        "dp_bandit_envs.LaplaceClipRescale",
    ),
    "nor has a vector": (
        lambda: gym.make_vec(ID, num_envs=2).guarantee,
        "wrapper",
        "dp_bandit_envs.LaplaceClipRescale",
    ),
    **{
        f"a vector for {door.__name__}": (
            lambda door=door: door(gym.make_vec(ID, num_envs=3), "EXP3"),
            "StochasticVectorEnv",
            "3",
            "gymnasium.make",
            "trials",
        )
        for door in (play, simulate, compare)
    },
    "a window below noise": (
        lambda: LaplaceClipRescale(gym.wrappers.HumanRendering(gym.make(ID, render_mode="rgb_array")), epsilon=1.0),
        "render_mode='human'",
        "'rgb_array'",
        "gymnasium.wrappers.HumanRendering",
    ),
    "letters exchanged": (lambda: simulate(ID, "DP-KLUBC"), "unknown algorithm 'DP-KLUBC'", "DP-KLUCB"),
    "no word in a name begins so": (lambda: simulate(ID, "all"), "unknown algorithm 'all'", "name each"),
    "an environment for an algorithm": (lambda: simulate(ID, "Switching"), "'Switching' is an environment"),
    "an algorithm for an environment": (lambda: simulate("UCB", "UCB"), "'UCB' is an algorithm"),
    **{
        f"an epsilon that nobody takes in {door.__name__}": (
            lambda door=door, players=players: door(ID, players, epsilon=1, horizon=9),
            f"{players if isinstance(players, str) else 'EXP3, UCB'} take{'s' * isinstance(players, str)} none",
            "'DP-KLUCB'",
        )
        for door, players in ((simulate, ["EXP3", "UCB"]), (compare, ["EXP3", "UCB"]), (play, "UCB"))
    },
    "an epsilon that is there": (lambda: simulate(ID, "DP-SE:epsilon=1", epsilon=1), "has its own already"),
    "a delta that nobody takes": (lambda: compare(ID, "UCB", delta=1e-6), "delta", "'DP-UCB-INT'"),
    "checkpoints of a comparison": (lambda: compare(ID, "UCB", checkpoints=[1, 9]), "a list", "simulate"),
    "the ledger of a comparison": (lambda: compare(ID, "UCB", ledger=1), "'ledger'", "OutsideGame"),
    "two at once": (lambda: play(ID, ["UCB", "EXP3"]), "simulate and compare"),
    "an id in a wrapper": (lambda: LaplaceClipRescale(ID, epsilon=1.0), "a str", "gymnasium.make"),
    "which regret": (lambda: play(ID, "UCB", horizon=9).regret, "'regret'", "external_regret"),
    "which regret of many": (lambda: simulate(ID, "UCB", horizon=9)["UCB"].regret, "'regret'", "external_regret"),
    "regret of a summary": (
        lambda: simulate(ID, "UCB", horizon=9, keep="summary")["UCB"].lats(),
        "'lats'",
        "last",
    ),
    "an argument of no figure": (lambda: reproduce("figure-1", n_arms=3), "'n_arms'", "It takes name", "simulate"),
}


@pytest.mark.thorough
def test_a_wrong_input_is_answered_with_a_way_out():
    for name in WRONG:
        call, *words = WRONG[name]
        with pytest.raises(Exception) as caught:
            call()
        said = str(caught.value)
        assert missing(said, *words) == [], said
        assert not re.search("0x[0-9a-f]{6}|'\\.\\.\\.'", said), said


@pytest.mark.parametrize(
    "algorithm",
    [
        make_algorithm("DP-KLUCB"),
        Algorithm(
            "mine", functools.partial(Exp3, exploration_rate=0.5), lambda env: env, parameters={"f": max, "o": ID}
        ),
        Algorithm("objects", Exp3, parameters={"object": object(), "function": lambda: 0}),
    ],
    ids=lambda one: one.name,
)
def test_the_repr_of_an_algorithm_has_no_address(algorithm):
    shown = repr(algorithm)
    assert "0x" not in shown
    # What makes the agent of an algorithm of the package is a function without a name.
    assert ("make_agent=Exp3" in shown) == (algorithm.name != "DP-KLUCB")
    assert missing(shown, repr(algorithm.name), *algorithm.parameters) == []


def test_extreme_settings_that_are_games_are_played():
    """Privacy losses and rates whose squares no float holds, and a rate that is 0 when it is divided by K."""
    for game, name in (
        ("Stochastic", "EXP3:exploration_rate=5e-324"),
        ("Stochastic", "EXP3:exploration_rate=1e-310"),
        ("Experts", "DP-Epochs:epsilon=1e300"),
        ("Experts", "Hedge:learning_rate=1e300"),
    ):
        outcome = next(iter(simulate(game, name, horizon=12, trials=2, seed=0).values()))
        assert np.isfinite(outcome.external_regret).all() and not math.isnan(outcome.guarantee.epsilon)


@pytest.mark.thorough
def test_the_package_works_without_docstrings():
    program = "import dp_bandit_envs as dp; print(dp.play('Stochastic', 'DP-KLUCB', horizon=9, seed=0).arms.tolist())"
    answers = [
        subprocess.run([sys.executable, *flags, "-c", program], capture_output=True, text=True, check=True).stdout
        for flags in ((), ("-OO",))
    ]
    assert answers[0] == answers[1] != ""


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("Stochastic", {"means": np.array([0.1, 0.2])}),
        ("Stochastic", {"n_arms": np.int64(3)}),
        ("Replay", {"gains": np.full((5, 2), 0.5)}),
        ("Linear", {"features": np.eye(2)}),
    ],
)
@pytest.mark.parametrize("many", [False, True])
def test_a_spec_with_arrays_goes_through_json(name, arguments, many):
    id_ = f"DPBandit-{name}-v0"
    made = gym.make_vec(id_, num_envs=2, **arguments) if many else gym.make(id_, **arguments)
    spec = EnvSpec.from_json(made.spec.to_json())
    again = gym.make_vec(spec, num_envs=2) if many else gym.make(spec)
    assert again.unwrapped.spec.kwargs.keys() == made.unwrapped.spec.kwargs.keys()
    assert again.unwrapped.n_arms == made.unwrapped.n_arms
    assert all(np.array_equal(again.spec.kwargs[key], value) for key, value in arguments.items())
