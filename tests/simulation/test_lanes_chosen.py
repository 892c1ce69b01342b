"""What is played side by side and what is not, that all of it meets the same gains, and what stops it."""

import math

import gymnasium as gym
import numpy as np
import pytest

from dp_bandit_envs import Exp3, LaplaceClipRescale, Ledger, make_algorithm, play, simulate
from dp_bandit_envs.adversaries import Adversary, MemoryBounded, Replay, Stochastic, overfished
from dp_bandit_envs.agents import Hedge, LocalUcb, Ucb, exp3
from dp_bandit_envs.agents.functional import Functions
from dp_bandit_envs.agents.noise_width import log_width
from dp_bandit_envs.algorithms import Algorithm
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.errors import BoundaryError, BudgetSpentError, GainRangeError
from dp_bandit_envs.privacy import mechanisms
from dp_bandit_envs.privacy.mechanisms import laplace_gains
from dp_bandit_envs.simulation.compiled_game import make_compiled_game
from dp_bandit_envs.simulation.engines import LEAST_TRIALS
from dp_bandit_envs.simulation.lanes import supports
from dp_bandit_envs.simulation.simulation import prepare
from dp_bandit_envs.wrappers import BlockSums, ExactSums, MiniBatchAverage, PrivacyBoundary
from tests.tools.playable import BANDITS
from tests.tools.refusals import refused

GAME = "DPBandit-Stochastic-v0"
BATCHES_OF_EXP3 = ["EXP3-tau", "Batched-Lap-EXP3", "Clipped-Lap"]
LANES = ["EXP3", "DP-EXP3-Lap", "DP-Lambda-Lap", *BATCHES_OF_EXP3, "Uniform", "UCB", "UCB-N", "LDP-UCB-B"]


def engines(game, algorithms, trials=LEAST_TRIALS, **options):
    return {name: outcome.engine for name, outcome in simulate(game, algorithms, trials=trials, **options).items()}


def settled(game, algorithms, trials=LEAST_TRIALS, **env_kwargs):
    """Return by what algorithms would be played, which is settled before anything is compiled."""
    options = {"horizon": 20, "seed": 0, "checkpoints": None, "env_kwargs": env_kwargs, "trials": trials}
    setup = prepare(game, algorithms, **options)
    return {name: engine.kind for engine in setup.engines for name in engine.algorithms}


def test_the_family_of_exp3_and_ucb_and_hedge_are_played_side_by_side_and_nothing_else():
    found = settled(GAME, BANDITS)
    assert found == {name: "lanes" if name in LANES else "compiled" for name in BANDITS}
    names = ["Hedge", "DP-Hedge", "Lazy-Hedge", "DP-Epochs", *LANES]
    found = settled("DPBandit-Experts-v0", names, n_arms=5)
    # Where gains of other arms are revealed, index policies know the arms by random labels.
    alone = ("Lazy-Hedge", "DP-Epochs", "UCB", "UCB-N", "LDP-UCB-B")
    assert found == {name: "compiled" if name in alone else "lanes" for name in names}


@pytest.mark.thorough
@pytest.mark.parametrize("trials", [LEAST_TRIALS - 1, LEAST_TRIALS])
def test_few_trials_go_one_by_one(trials):
    expected = "lanes" if trials >= LEAST_TRIALS else "compiled"
    assert engines(GAME, ["EXP3", "DP-UCB"], trials, horizon=20, first_trial=7) == {
        "EXP3": expected,
        "DP-UCB": "compiled",
    }


class ChildOfUcb(Ucb):
    """A user's agent that may have a state of its own."""


@pytest.mark.parametrize(
    ("agent", "n_arms", "fit"),
    [
        (Ucb(), 16, True),
        (Ucb(exploration=3, log_factor=2), 2, True),
        (Ucb(), 17, False),
        (Ucb(lazy=True), 2, False),
        (Ucb(forced=1), 2, False),
        (Ucb(width=log_width(1)), 2, False),
        (ChildOfUcb(), 2, False),
        (LocalUcb(), 2, False),
    ],
)
def test_ucb_is_carried_without_a_width_and_held_or_forced_arms(agent, n_arms, fit):
    env = gym.make(GAME, n_arms=n_arms, horizon=20)
    assert supports(make_compiled_game(Algorithm("UCB", lambda: agent, ExactSums), env)) == fit


def test_many_arms_graphs_points_and_payoffs_go_one_by_one():
    for (game, name, options), engine in (
        ((GAME, "Uniform", {"n_arms": 16}), "lanes"),
        ((GAME, "Uniform", {"n_arms": 17}), "compiled"),
        (("DPBandit-Graph-v0", "EXP3", {"graph": "complete", "n_arms": 4}), "compiled"),
        (("DPBandit-Ball-v0", "AS-FTRL", {}), "compiled"),
        (("DPBandit-MemoryBounded-v0", "EXP3", {"payoff": overfished, "n_arms": 3}), "compiled"),
    ):
        assert settled(game, name, **options) == {name: engine}


def test_data_with_a_ledger_are_played_and_counted_trial_by_trial():
    table, ledger = np.full((30, 2), 0.5), Ledger(epsilon=5.0)
    player = make_algorithm("DP-EXP3-Lap", epsilon=1.0)
    found = engines(lambda: BanditEnv(Replay(table, ledger=ledger)), player, 4, seed=None)
    assert found == {"DP-EXP3-Lap": "compiled"}
    assert engines(lambda: BanditEnv(Replay(table)), player, 4, seed=None) == {"DP-EXP3-Lap": "lanes"}
    assert ledger.spent.epsilon == pytest.approx(4.0)
    with pytest.raises(BudgetSpentError):
        engines(lambda: BanditEnv(Replay(table, ledger=ledger)), player, 3, seed=None)


def by_index(state, rng):
    return int(rng.random() * 2)


def learns_nothing(state, arm, seen):
    return state


class Child(Exp3):
    """A user's agent that is still EXP3."""


class Indifferent(Exp3):
    """A user's agent with functions of its own."""

    functions = Functions(by_index, learns_nothing)


def indifferent():
    agent = Exp3()
    agent.functions = Functions(by_index, exp3.update, exp3.tidy)
    return agent


class Quieter(laplace_gains.LaplaceClipRescale):
    """A user's mechanism."""


def louder(state, arm, gain, rng):
    return gain / 2, 1


def with_own_release(env):
    mechanism = laplace_gains.LaplaceClipRescale(epsilon=1.0)
    mechanism.release = louder
    return PrivacyBoundary(env, mechanism)


OWN = {
    "child": (Child,),
    "functions of a class": (Indifferent,),
    "functions of an object": (indifferent,),
    "child of a mechanism": (Exp3, lambda env: PrivacyBoundary(env, Quieter(epsilon=1.0))),
    "release of an object": (Exp3, with_own_release),
    "another mechanism": (Ucb, lambda env: BlockSums(env, epsilon=1.0)),
}


def assert_as_played(outcome, make, player, trials):
    for trial in range(trials):
        game = play(make(), player, trial=trial)
        assert np.array_equal(outcome.external_regret[trial], game.external_regret)
        assert np.array_equal(outcome.pulls[trial], np.bincount(game.arms, minlength=game.n_plays))


@pytest.mark.thorough
@pytest.mark.parametrize("name", OWN)
def test_parts_of_your_own_are_never_played_as_if_they_were_ours(name):
    player = Algorithm(name, *OWN[name])
    outcome = simulate(GAME, [player, "EXP3"], horizon=100, trials=3, checkpoints=100)[name]
    assert outcome.engine != "lanes"
    assert_as_played(outcome, lambda: gym.make(GAME, horizon=100), player, 3)


def in_python(state, t, row, rng):
    # No compiler knows a dict of such mixed values.
    words = {"gains": [rng.random() for _ in row], "t": t, "name": f"round {t}"}
    row[:] = words["gains"] if words["t"] % 3 else 0.25


class Worded(Stochastic):
    """Draws its rounds by a function that cannot be compiled."""

    next_round = staticmethod(in_python)


class Rising(Adversary):
    """Knows nothing of rounds."""

    begun = 0

    def begin(self, rng):
        """Count the games of all."""
        Rising.begun += 1
        self._rng = rng

    def next_gains(self, rounds):
        """Return uniform gains."""
        return self._rng.random((rounds, self.n_arms))


@pytest.mark.thorough
@pytest.mark.parametrize("kind", [Worded, Rising])
def test_agents_are_played_side_by_side_on_gains_of_an_adversary_of_your_own(kind):
    def make():
        return BanditEnv(kind(3, 100))

    Rising.begun = 0
    outcome = simulate(make, ["EXP3"], trials=4, checkpoints=range(1, 101))["EXP3"]
    assert outcome.engine == "lanes"
    # Three games are played before, to see whether they are the same.
    assert Rising.begun == (3 + 4 if kind is Rising else 0)
    assert_as_played(outcome, make, make_algorithm("EXP3"), 4)


@pytest.mark.thorough
@pytest.mark.slow_cases("1")
@pytest.mark.parametrize(
    ("jobs", "names"),
    [(1, ("EXP3", "DP-UCB")), (2, ("EXP3", "DP-UCB")), pytest.param(1, BANDITS, marks=pytest.mark.slow)],
    ids=["1", "2", "all"],
)
def test_all_engines_meet_the_same_gains(jobs, names):
    """Regret plus gains collected is the best arm's total: the same for all players of a trial, and it varies."""

    class Played(Exp3):
        def begin(self, **options):
            super().begin(**options)

    players = [*map(make_algorithm, names), Algorithm("played", Played)]
    for make in (
        lambda: gym.make("DPBandit-Oblivious-v0", horizon=200),
        lambda: BanditEnv(MemoryBounded(gains=Rising(4, 200))),
    ):
        simulation = simulate(make, players, trials=5, jobs=jobs)
        assert {outcome.engine for outcome in simulation.values()} == {"lanes", "compiled", "play"}
        best = [outcome.external_regret + outcome.collected for outcome in simulation.values()]
        assert all(np.allclose(total, best[0], rtol=0, atol=1e-9) for total in best)
        assert len(set(best[0][:, -1])) > 1


def test_machine_code_that_is_switched_off_is_not_asked_for(monkeypatch):
    from numba.core import config

    monkeypatch.setattr(config, "DISABLE_JIT", 1)
    assert engines(GAME, ["EXP3"], horizon=20) == {"EXP3": "play"}


def from_round_40(wrong, right):
    """Return gains of one number, and of another from round 40 on."""

    def gains(state, t, row, rng):
        for arm in range(len(row)):
            row[arm] = right if t < 40 else wrong

    gains.__module__ = Stochastic.__module__  # only functions of the package are compiled into lanes
    return gains


@pytest.mark.thorough
@pytest.mark.parametrize(("wrong", "right"), [(1.0 + 2.0**-52, 1.0), (math.nan, 0.5)])
def test_gains_outside_the_range_are_refused(wrong, right, monkeypatch):
    monkeypatch.setattr(Stochastic, "next_round", staticmethod(from_round_40(wrong, right)))
    for trials in (1, 3):
        assert simulate(GAME, "EXP3", horizon=39, trials=trials)["EXP3"].collected[0, -1] > 19
        with refused(GainRangeError, "Stochastic", "[0, 1]"):
            simulate(GAME, "EXP3", horizon=40, trials=trials)


class Wild(Adversary):
    """Gains leave the range in round 40 of some games."""

    def begin(self, rng):
        """Draw in which."""
        self._t, self._wild = 0, rng.random() < 0.5

    def next_gains(self, rounds):
        """Return halves, and then nothing allowed."""
        t = self._t + np.arange(1, rounds + 1)
        self._t += rounds
        return np.where((t[:, np.newaxis] >= 40) & self._wild, -1e-300, 0.5) * np.ones(self.n_arms)


def test_gains_of_an_adversary_of_your_own_are_checked_too():
    assert simulate(lambda: BanditEnv(Wild(3, 39)), "EXP3", trials=20)["EXP3"].engine == "lanes"
    with refused(GainRangeError, "Wild", "[0, 1]"):
        simulate(lambda: BanditEnv(Wild(3, 40)), "EXP3", trials=20)


def withholds(state, arm, gain, rng):
    return gain, 1 if rng.laplace(0.0, 1.0) < 4.0 else 0


def exceeds(state, arm, gain, rng):
    return (gain if rng.laplace(0.0, 1.0) < 4.0 else 1.0 + 2.0**-52), 1


def no_number(state, arm, gain, rng):
    state.exact[arm] += gain
    return (state.exact[arm] if rng.random() < 0.99 else np.inf), 1


for _function in (withholds, exceeds, no_number):
    _function.__module__ = LaplaceClipRescale.__module__


def wrong(env):
    return LaplaceClipRescale(env, epsilon=2.0, outside="clip")


LAYERS = {
    "alone": wrong,
    "below a batch": lambda env: MiniBatchAverage(wrong(env), batch_size=2),
    "above a batch": lambda env: wrong(MiniBatchAverage(env, batch_size=2)),
}


# Each is compiled twice; every layer and both wrongs are in the first three.
BROKEN = [("alone", exceeds), ("below a batch", withholds), ("above a batch", exceeds)]


@pytest.mark.thorough
@pytest.mark.slow_cases("above a batch-exceeds", "below a batch-withholds")
@pytest.mark.parametrize(("layers", "release"), BROKEN)
def test_a_mechanism_that_breaks_its_word_is_stopped(release, layers, monkeypatch):
    """One release in a hundred is wrong; noise without a limit never withholds a gain.

    The mechanism declares that it takes Laplace draws only, which `play` computes ahead.
    """
    monkeypatch.setattr(mechanisms.LaplaceClipRescale, "release", staticmethod(release))
    player = Algorithm("wrong", Exp3, LAYERS[layers])
    for trials in (1, 16):
        with refused(ValueError, "mechanism"):
            simulate(GAME, [player], horizon=2000, trials=trials)
    with refused(BoundaryError, "[0, 1]" if release is exceeds else "withheld"):
        play(gym.make(GAME, horizon=2000), player)


@pytest.mark.thorough
def test_a_sum_that_is_no_number_is_stopped(monkeypatch):
    monkeypatch.setattr(mechanisms.ExactSums, "release", staticmethod(no_number))
    batched = Algorithm("wrong", Hedge, lambda env: ExactSums(MiniBatchAverage(env, batch_size=2)))
    for player, trials in ((Algorithm("wrong", Hedge, ExactSums), 1), (batched, 16)):
        with refused(ValueError, "mechanism"):
            simulate("DPBandit-Experts-v0", [player], horizon=2000, trials=trials, env_kwargs={"n_arms": 3})
