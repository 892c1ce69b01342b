"""Environments, wrappers, agents and algorithms play in other processes as here; a fork plays no game on."""

import copy
import dataclasses
import os
import pickle
import subprocess
import sys

import gymnasium as gym
import numpy as np
import pytest

import dp_bandit_envs
from dp_bandit_envs import Algorithm, agents, algorithm_names, make_algorithm, play
from dp_bandit_envs.agents import FunctionalAgent
from dp_bandit_envs.agents.noise_width import counter_width, log_log_width, log_width
from dp_bandit_envs.envs.registration import IDS
from dp_bandit_envs.files import DataFile
from dp_bandit_envs.privacy.mechanisms import MECHANISMS
from dp_bandit_envs.protocols import Sums
from dp_bandit_envs.wrappers import HybridSums
from tests.tools.boundary_games import FORMS, act, boundaries, wrapped
from tests.tools.doors import one_each
from tests.tools.playable import EXPERTS, agents_for, arguments_of, home_of
from tests.tools.plays import play as play_of
from tests.tools.refusals import refused

HORIZON = 24
AGENTS = agents_for(points=False)
WIDTHS = {
    "log": lambda: log_width(0.5, offset=0.1),
    "log log": lambda: log_log_width(0.5),
    "counter": lambda: counter_width("hybrid", epsilon=1.0),
}


def sent(thing):
    return pickle.loads(pickle.dumps(thing))


def facts(played):
    """Return what is sent of a game that was played: its guarantee, and not the environment that has it."""
    return played.__getstate__()


def game(id_="DPBandit-Stochastic-v0", num_envs=None, **arguments):
    if num_envs is None:
        return gym.make(id_, horizon=HORIZON, **arguments)
    return gym.make_vec(id_, num_envs=num_envs, horizon=HORIZON)


def rounds(env, seed=3, steps=HORIZON):
    """Return everything that comes out of a game; without a seed, of one that has begun."""
    seen = [] if seed is None else [env.reset(seed=seed)]
    for t in range(steps):
        seen.append(env.step(play_of(env, t // 3 % 2)))
        if np.any(seen[-1][2]):
            break
    return seen


def plays_the_same(env):
    """Assert that a copy that is sent before a game plays as the original does."""
    np.testing.assert_equal(rounds(sent(env)), rounds(env))


@pytest.mark.thorough
@pytest.mark.parametrize("id_", IDS)
def test_every_environment_can_be_sent(id_):
    plays_the_same(game(id_))
    plays_the_same(game(id_, 2))


@pytest.mark.thorough
@pytest.mark.parametrize("name", MECHANISMS)
def test_every_wrapper_can_be_sent_in_both_forms(name):
    """And around others, in one case."""
    example = MECHANISMS[name].example
    plays_the_same(getattr(dp_bandit_envs.wrappers, name)(game(), **example))
    plays_the_same(getattr(dp_bandit_envs.wrappers.vector, name)(game(num_envs=2), **example))
    if name == "HybridSums":
        plays_the_same(wrapped(game(), "Hybrid(MiniBatch)"))


def plain(part):
    """Whether a state is numbers and lists, arrays and NamedTuples of them."""
    if isinstance(part, (tuple, list)):
        return all(map(plain, part))
    if isinstance(part, np.ndarray):
        return part.dtype.kind in "biuf"
    return isinstance(part, (int, float, np.number))


def agent_plays_the_same(agent, env):
    np.testing.assert_equal(facts(play(env, sent(agent), seed=2)), facts(play(env, agent, seed=2)))
    if isinstance(agent, FunctionalAgent):
        assert plain(agent._state) and plain(agent.initial_state(3, 9))
        assert plain(sent(agent)._state)


@pytest.mark.parametrize(
    ("name", "id_"),
    [(name, "DPBandit-Stochastic-v0") for name in AGENTS]
    + [(name, "DPBandit-Graph-v0") for name in AGENTS if "MaxN" in name or name in ("ThompsonSampling", "Exp3Set")],
)
def test_every_agent_can_be_sent_and_its_state_is_plain(name, id_):
    agent = getattr(agents, name)()
    env = game(EXPERTS if agent.feedback == "full" else id_)
    if getattr(agent, "learns_from", None) is Sums:
        env = HybridSums(env, epsilon=1.0)
    agent_plays_the_same(agent, env)


@pytest.mark.parametrize("make", WIDTHS.values(), ids=WIDTHS.keys())
def test_widths_can_be_sent(make):
    np.testing.assert_equal(tuple(sent(make())(4, 100, 2.0)), tuple(make()(4, 100, 2.0)))


@pytest.mark.thorough
@pytest.mark.parametrize("name", algorithm_names())
def test_every_algorithm_can_be_sent_and_so_can_its_parts(name):
    algorithm = make_algorithm(name)
    copy = sent(algorithm)
    assert copy.name == algorithm.name and copy.parameters == algorithm.parameters
    sizes = {"n_arms": 4, "horizon": HORIZON}
    assert copy.guarantee(**sizes) == algorithm.guarantee(**sizes)
    env = algorithm.wrap(game(home_of(name), **arguments_of(name)))
    here = play(env, algorithm.agent(), seed=1)
    there = play(copy.wrap(game(home_of(name), **arguments_of(name))), sent(copy.agent()), seed=1)
    np.testing.assert_equal(facts(here), facts(there))


def test_an_algorithm_of_ones_own_is_sent_as_it_is_and_one_with_other_fields_is_not_taken_for_the_tables():
    own = Algorithm("mine", agents.Uniform)
    assert sent(own) == own
    assert sent(make_algorithm("EXP3", label="mine")).name == "mine"
    assert sent(dataclasses.replace(make_algorithm("TS"), name="other")).name == "other"
    # A game on a users file can be sent.
    file = DataFile("gains.csv", b"0.25,0.5\n0.75,1\n" * HORIZON)
    plays_the_same(gym.make("DPBandit-Replay-v0", gains=file, horizon=HORIZON))
    # Two games with one width share no arrays.
    for width in (log_width(0.5), log_log_width(0.5)):
        one, other = width(4, 100, 1.0), width(4, 100, 1.0)
        assert one.table is not other.table and one.until is not other.until


# ---- a forked process has a copy of every game that has begun: it can neither play it on nor repeat its noise later

SCRIPT = """
import os
import gymnasium as gym
import numpy as np
import dp_bandit_envs
from dp_bandit_envs.errors import BoundaryError, StepOutsideGameError
from dp_bandit_envs.wrappers import CounterSums, LaplaceClipRescale
from dp_bandit_envs.wrappers import vector as of_many

def made():
    game = gym.make("DPBandit-Stochastic-v0", n_arms=2, horizon=9, means=[1.0, 1.0])
    games = gym.make_vec("DPBandit-Stochastic-v0", num_envs=2, n_arms=2, horizon=9, means=[1.0, 1.0])
    yield LaplaceClipRescale(game, epsilon=0.1), 0
    yield CounterSums(LaplaceClipRescale(game, epsilon=0.1), counter="binary", epsilon=0.1), 0
    yield of_many.LaplaceClipRescale(games, epsilon=0.1), [0, 0]

def noise(env, arm):
    return np.concatenate([np.ravel(env.step(arm)[1]) for _ in range(8)]).tolist()

for env, arm in made():
    for seed in (None, 3):
        env.reset(seed=seed)
        env.step(arm)
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            said = "played on"
            try:
                env.step(arm)
            except BoundaryError as refusal:
                said = "refused" if "fork" in str(refusal) else str(refusal)
            try:
                env.step(arm)
            except StepOutsideGameError:
                env.reset()
                said = repr((said, noise(env, arm)))
            os.write(write, said.encode())
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        said, there = eval(os.read(read, 10_000))
        assert said == "refused", said
        env.step(arm)
        env.reset()
        here = noise(env, arm)
        assert len(here) == len(there) and len(set(here) & set(there) - {0.0, 1.0}) <= 3, (here, there)
print("done")
"""


@pytest.mark.thorough
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no forks")
def test_a_forked_game_is_refused_and_the_next_one_has_noise_of_its_own():
    """With and without a seed; in its parent the game goes on. In a process of its own, which has no threads.

    Repeated noise would share 8 or 16 numbers. Two independent draws are the same point of the grid with probability
    1 / 5120 (g / 4 b), so of up to 256 pairs four are equal with probability 3e-7.
    """
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True)
    assert (done.returncode, done.stdout.split()) == (0, ["done"]), done.stderr


# ---- a started boundary is not copied

COPIES = {"copy": copy.copy, "deepcopy": copy.deepcopy, "pickle": lambda env: pickle.loads(pickle.dumps(env))}


@pytest.mark.thorough
@pytest.mark.parametrize(("form", "how"), one_each(FORMS, COPIES))
def test_a_boundary_is_copied_before_its_first_game_only(form, how):
    for env in boundaries(form):
        twin = COPIES[how](env)
        twin.reset(seed=1)
        twin.step(act(twin, 0))
        for begun in (twin, (gym.Wrapper if form == "scalar" else gym.vector.VectorWrapper)(twin)):
            if how != "copy" or begun is twin:
                with refused(TypeError, type(twin).__name__, "reset"):
                    COPIES[how](begun)
        twin.step(act(twin, 0))
