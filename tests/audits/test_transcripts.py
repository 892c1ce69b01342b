"""Many games in one compiled loop: the games of `simulate`, each from the first state, whatever the threads."""

import numpy as np
import pytest

from dp_bandit_envs import Exp3
from dp_bandit_envs.adversaries.replay import GainTable
from dp_bandit_envs.algorithms import ALGORITHMS, Algorithm, make_algorithm
from dp_bandit_envs.audits.transcripts import CHUNK, TranscriptSampler, trials_of
from dp_bandit_envs.compiling.functions import stream_address
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.envs.experts_env import ExpertsEnv
from dp_bandit_envs.envs.graph_env import GraphEnv
from dp_bandit_envs.errors import WrongGameError
from dp_bandit_envs.simulation import play
from dp_bandit_envs.simulation.compiled_game import begin_games, make_compiled_game
from tests.tools.refusals import refused

ROUNDS, ARMS, SEED = 7, 3, 3
GAINS = np.random.default_rng(1).random((ROUNDS, ARMS))


def game(algorithm):
    table = GainTable(GAINS)
    return ExpertsEnv(gains=table) if algorithm.feedback == "full" else BanditEnv(table)


@pytest.mark.parametrize(
    "name",
    [
        name if name in ("AdaP-UCB", "EXP3") else pytest.param(name, marks=pytest.mark.slow)
        for name in ALGORITHMS
        if make_algorithm(name).make_agent is not None
    ],
)
def test_games_are_those_of_simulate(name):
    """The first game of a trial is that of `play`; the next goes on with its streams, from the first state."""
    algorithm = make_algorithm(name)
    env = game(algorithm)
    plan = make_compiled_game(algorithm, env, checkpoints=range(1, ROUNDS + 1))
    shown = TranscriptSampler(env, algorithm)
    assert shown.note == ""
    for trial in (0, 5):
        streams = plan.streams(SEED, trial)
        arms = shown.play(env, 12, seed=SEED, first_trial=trial).arms
        np.testing.assert_array_equal(arms[0], play(env, algorithm, seed=SEED, trial=trial).arms)
        for row in arms:
            _, (one,) = begin_games(plan, SEED, [trial])
            one._image.begin(one._words, [tuple(map(stream_address, streams))])
            one.play(GAINS)
            pulls = np.vstack([np.zeros((1, ARMS), np.int64), one.record.pulls])
            np.testing.assert_array_equal(row, np.diff(pulls, axis=0).argmax(axis=1))


@pytest.mark.thorough
def test_arms_of_batches_are_those_of_play():
    """The last batch of two of seven rounds is one round long."""
    algorithm = make_algorithm("EXP3-tau", batch_size=2)
    env = game(algorithm)
    arms = TranscriptSampler(env, algorithm).play(env, 1, seed=SEED, first_trial=4).arms
    np.testing.assert_array_equal(arms[0], play(env, algorithm, seed=SEED, trial=4).arms)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("name", "parameters", "steps"),
    [("LDP-UCB-B", {}, 7), ("Batched-Lap-EXP3", {"batch_size": 2}, 4), ("DP-FTRL", {}, 7)],
)
def test_releases_are_those_of_the_environments_step(name, parameters, steps):
    algorithm = make_algorithm(name, **parameters)
    env = game(algorithm)
    held = [step % ARMS for step in range(steps)]
    compiled = TranscriptSampler(env, algorithm, fixed_arms=held)
    assert compiled.note == ""
    for trial in (0, 6):
        one = compiled.play(env, 2, seed=SEED, first_trial=trial)
        other = compiled._stepped(env, SEED, range(trial, trial + 1))
        for part, expected in zip(one, other, strict=True):
            np.testing.assert_array_equal(part[:1], expected)
        assert (one.values[0] != one.values[1]).any()


def test_threads_change_nothing_and_chunks_are_trials():
    algorithm = make_algorithm("AdaP-UCB")
    env = game(algorithm)
    shown = TranscriptSampler(env, algorithm)
    one, other = (shown.play(env, CHUNK + 3, seed=SEED, first_trial=2, threads=threads).arms for threads in (1, 2))
    np.testing.assert_array_equal(one, other)
    assert one.shape == (CHUNK + 3, ROUNDS) and trials_of(CHUNK + 3) == 2 and trials_of(CHUNK) == 1
    np.testing.assert_array_equal(one[CHUNK:], shown.play(env, 3, seed=SEED, first_trial=3).arms)
    assert (one[:CHUNK] != one[:1]).any()


class Stubborn(Exp3):
    """An agent that is no compilable function."""

    def update(self, arm, observation):
        super().update(arm, observation)


@pytest.mark.parametrize(
    ("make", "algorithm", "word"),
    [
        (lambda: BanditEnv(GainTable(GAINS)), Algorithm("mine", Stubborn), "Stubborn"),
        (lambda: GraphEnv("complete", n_arms=ARMS, gains=GainTable(GAINS)), make_algorithm("DP-TS"), "graph"),
    ],
    ids=["agent", "graph"],
)
def test_what_is_not_compiled_is_played_and_says_so(make, algorithm, word):
    env = make()
    shown = TranscriptSampler(env, algorithm)
    assert word in shown.note
    for row, trial in zip(shown.play(env, 2, seed=SEED, first_trial=4).arms, (4, 5), strict=True):
        np.testing.assert_array_equal(row, play(env, algorithm, seed=SEED, trial=trial).arms)


def test_a_payoff_function_is_refused():
    env = BanditEnv(GainTable(GAINS))
    env.adversary.payoff = lambda gains, arms, t: gains[arms[-1]]
    with refused(WrongGameError, "payoff"):
        TranscriptSampler(env, make_algorithm("EXP3"))
