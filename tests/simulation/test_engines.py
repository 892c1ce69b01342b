"""Which engine plays what, that the result says which and why, and that all of them meet the same gains."""

import itertools
import json
import math
import os
import subprocess
import sys

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.wrappers import RecordEpisodeStatistics, TimeLimit
from numba.core import config

from dp_bandit_envs import Adversary, Exp3, LaplaceClipRescale, Ledger, PrivacyGuarantee, compare, play, simulate
from dp_bandit_envs.adversaries import GainTable, MemoryBounded, Replay, Stochastic, overfished
from dp_bandit_envs.agents import Hedge, LocalUcb, Ucb, exp3
from dp_bandit_envs.agents.functional import Functions
from dp_bandit_envs.agents.noise_width import log_width
from dp_bandit_envs.algorithms import Algorithm, make_algorithm
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.envs.registration import IDS
from dp_bandit_envs.errors import BoundaryError, BudgetSpentError, GainRangeError
from dp_bandit_envs.experiments import running
from dp_bandit_envs.privacy import Mechanism, mechanisms
from dp_bandit_envs.simulation import engines as engines_module
from dp_bandit_envs.simulation.compiled_game import make_compiled_game
from dp_bandit_envs.simulation.engines import (
    ALWAYS_COMPILE,
    LEAST_TRIALS,
    MOST_ROUNDS,
    ROUNDS_TO_BEGIN,
    LaneEngine,
    ScalarEngine,
    always_compiled,
)
from dp_bandit_envs.simulation.lanes import supports
from dp_bandit_envs.simulation.simulation import prepare
from dp_bandit_envs.wrappers import BlockSums, ExactSums, MiniBatchAverage, PrivacyBoundary, RandomizedResponse
from tests.tools.both_ways import assert_same, batch, laplace
from tests.tools.playable import BANDITS, players_for
from tests.tools.refusals import missing, refused
from tests.tools.toys import Script, UncompiledExp3

GAME = "DPBandit-Stochastic-v0"


class Exp3WithMemories(Exp3):
    """Made of compilable functions, but it does more."""

    def update(self, arm, observation):
        super().update(arm, observation)
        self.last = arm


class Stubborn(Exp3):
    """`select_arm` is as much a part of an agent as `update`: compiled without it, another agent would play."""

    def select_arm(self):
        return 3


class GenerousEnv(BanditEnv):
    """An environment with a step of its own, which pays twice for nothing."""

    def step(self, action):
        observation, reward, *rest = super().step(action)
        return observation, 2 * reward, *rest


class Swapping(BanditEnv):
    """A reset of one's own may put another adversary in place, which the compiled loop would not notice."""

    def reset(self, **given):
        self.adversary = GainTable(np.tile([0.0, 1.0, 0.0, 0.0], (60, 1)))
        return super().reset(**given)


@pytest.mark.thorough
def test_everything_of_the_project_is_compiled():
    """This is settled before anything is compiled; `assert_same` looks at the engine of what has been played."""
    for env_id in IDS:
        setup = prepare(env_id, players_for(env_id), horizon=20, seed=0, checkpoints=None, env_kwargs=None)
        assert setup.in_threads and setup.reasons == {}
        assert [name for engine in setup.engines for name in engine.games] == list(setup.players)


def in_words(state, arm, gain, rng):
    # Numba knows no dict of such mixed values.
    words = {"gain": [gain]}
    words["arm"] = f"arm {arm}"
    return words["gain"][0] / 2, 1


class InWords(Mechanism):
    """Plain Python that Numba cannot compile."""

    release = staticmethod(in_words)

    def new_state(self, below):
        return exp3.start(below.n_values, 1.0)

    def guarantee(self, below):
        return PrivacyGuarantee.none("a test")


class Louder(LaplaceClipRescale):
    """A boundary with a step of its own."""

    def _advance(self, arm):
        observation, *rest = super()._advance(arm)
        return {**observation, "gain": observation["gain"] / 2}, *rest


def coins():
    return gym.make(GAME, horizon=60)


def generous():
    return GenerousEnv(Stochastic(4, 60))


def swapping():
    return Swapping(GainTable(np.tile([1.0, 0.0, 0.0, 0.0], (60, 1))))


PLAYED = {
    "an agent": (coins, lambda: Script([0, 1, 2, 3] * 15), lambda env: env, ("Script",)),
    "an agent that adds to ours": (coins, Exp3WithMemories, lambda env: env, ("Exp3WithMemories", "update")),
    "an agent that chooses arms its own way": (coins, Stubborn, lambda env: env, ("Stubborn", "its own way")),
    "two batches": (coins, Exp3, lambda env: batch(batch(env, 3), 2), ("MiniBatchAverage",)),
    "a wrapper": (coins, Exp3, lambda env: laplace(RecordEpisodeStatistics(env)), ("RecordEpisodeStatistics",)),
    "a mechanism": (coins, Exp3, lambda env: PrivacyBoundary(env, InWords()), ("in_words",)),
    "a boundary": (coins, Exp3, lambda env: Louder(env, epsilon=2.0), ("Louder",)),
    "an environment with its own step": (generous, Exp3, batch, ("GenerousEnv",)),
    "an environment with its own reset": (swapping, Exp3, batch, ("Swapping",)),
}
"""By what is the user's: the game, the agent, its wrappers, and what the reason names."""


@pytest.mark.thorough_cases("a mechanism")
@pytest.mark.parametrize("kind", PLAYED)
def test_what_is_not_ours_is_played_and_says_why(kind):
    make, agent, wrap, words = PLAYED[kind]
    player = Algorithm("mine", agent, wrap)
    outcomes = simulate(make, [player, "EXP3"], trials=2, seed=9)
    assert outcomes["mine"].engine == "play" and not missing(outcomes["mine"].reason, *words)
    assert outcomes["EXP3"].engine == ("compiled" if make is coins else "play")
    assert_same(make, [player], engine="play")


@pytest.mark.thorough
def test_any_number_of_mechanisms_is_compiled_and_those_around_the_environment_that_was_given():
    """What `env_id` makes may bring wrappers of its own; they count like the algorithm's."""

    def twice(env):
        return laplace(laplace(env), 3.0)

    def five(env):
        return RandomizedResponse(twice(batch(twice(env), 3)), epsilon=4.0)

    assert_same(GAME, [Algorithm("five", Exp3, five)])
    assert_same(lambda: laplace(coins(), 1.0), [make_algorithm("EXP3")])
    assert simulate(lambda: RecordEpisodeStatistics(laplace(coins())), ["EXP3"])["EXP3"].engine == "play"


def test_a_shorter_time_limit_ends_the_game_or_is_refused():
    """`play` stops at Gymnasium's limit; whatever `simulate` does, it must not report rounds that were not played."""

    def limited():
        return TimeLimit(gym.make(GAME, horizon=60), max_episode_steps=20)

    with pytest.warns(UserWarning, match="20 of its 60"):
        assert len(play(limited(), Exp3()).arms) == 20
    with pytest.raises(ValueError, match=r"horizon|rounds"):
        simulate(limited, ["EXP3"])


# ---- what is played side by side
BATCHES_OF_EXP3 = ["EXP3-tau", "Batched-Lap-EXP3", "Clipped-Lap"]
LANES = ["EXP3", "DP-EXP3-Lap", "DP-Lambda-Lap", *BATCHES_OF_EXP3, "Uniform", "UCB", "UCB-N", "LDP-UCB-B"]


def engines_of(game, algorithms, trials=LEAST_TRIALS, **options):
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


def test_few_trials_go_one_by_one():
    for trials, engine in ((LEAST_TRIALS - 1, "compiled"), (LEAST_TRIALS, "lanes")):
        found = engines_of(GAME, ["EXP3", "DP-UCB"], trials, horizon=20, first_trial=7)
        assert found == {"EXP3": engine, "DP-UCB": "compiled"}


@pytest.mark.parametrize(
    ("agent", "n_arms", "fit"),
    [
        (Ucb(), 16, True),
        (Ucb(exploration=3, log_factor=2), 2, True),
        (Ucb(), 17, False),
        (Ucb(lazy=True), 2, False),
        (Ucb(forced=1), 2, False),
        (Ucb(width=log_width(1)), 2, False),
        (type("Child", (Ucb,), {})(), 2, False),  # it may have a state of its own
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
    found = engines_of(lambda: BanditEnv(Replay(table, ledger=ledger)), player, 4, seed=None)
    assert found == {"DP-EXP3-Lap": "compiled"}
    assert engines_of(lambda: BanditEnv(Replay(table)), player, 4, seed=None) == {"DP-EXP3-Lap": "lanes"}
    assert ledger.spent.epsilon == pytest.approx(4.0)
    with pytest.raises(BudgetSpentError):
        engines_of(lambda: BanditEnv(Replay(table, ledger=ledger)), player, 3, seed=None)


def by_index(state, rng):
    return int(rng.random() * 2)


def learns_nothing(state, arm, seen):
    return state


class Indifferent(Exp3):
    """A user's agent with functions of its own."""

    functions = Functions(by_index, learns_nothing)


def indifferent():
    agent = Exp3()
    agent.functions = Functions(by_index, exp3.update, exp3.tidy)
    return agent


def halves(state, arm, gain, rng):
    return gain / 2, 1


def with_own_release(env):
    mechanism = mechanisms.LaplaceClipRescale(epsilon=1.0)
    mechanism.release = halves
    return PrivacyBoundary(env, mechanism)


OWN = {
    "child": (type("Child", (Exp3,), {}),),
    "functions of a class": (Indifferent,),
    "functions of an object": (indifferent,),
    "child of a mechanism": (
        Exp3,
        lambda env: PrivacyBoundary(env, type("Quieter", (mechanisms.LaplaceClipRescale,), {})(epsilon=1.0)),
    ),
    "release of an object": (Exp3, with_own_release),
    "another mechanism": (Ucb, lambda env: BlockSums(env, epsilon=1.0)),
}


@pytest.mark.thorough
@pytest.mark.parametrize("name", OWN)
def test_parts_of_your_own_are_never_played_as_if_they_were_ours(name):
    assert_same(GAME, [Algorithm(name, *OWN[name])], trials=3, horizon=100, engine="compiled|play")


def in_python(state, t, row, rng):
    # No compiler knows a dict of such mixed values.
    words = {"gains": [rng.random() for _ in row], "t": t, "name": f"round {t}"}
    row[:] = words["gains"] if words["t"] % 3 else 0.25


class Worded(Stochastic):
    """Draws its rounds by a function that cannot be compiled."""

    next_round = staticmethod(in_python)


class Rising(Adversary):
    """Knows nothing of rounds, and counts the games of all."""

    begun = 0

    def begin(self, rng):
        Rising.begun += 1
        self._rng = rng

    def next_gains(self, rounds):
        return self._rng.random((rounds, self.n_arms))


@pytest.mark.thorough
@pytest.mark.parametrize("kind", [Worded, Rising])
def test_agents_are_played_side_by_side_on_gains_of_an_adversary_of_your_own(kind):
    def make():
        return BanditEnv(kind(3, 100))

    Rising.begun = 0
    simulate(make, ["EXP3"], trials=4)
    # Three games are played before, to see whether they are the same.
    assert Rising.begun == (3 + 4 if kind is Rising else 0)
    assert_same(make, [make_algorithm("EXP3")], trials=4, engine="lanes")


@pytest.mark.thorough
@pytest.mark.slow_cases("1")
@pytest.mark.parametrize(
    ("jobs", "names"),
    [(1, ("EXP3", "DP-UCB")), (2, ("EXP3", "DP-UCB")), pytest.param(1, BANDITS, marks=pytest.mark.slow)],
    ids=["1", "2", "all"],
)
def test_all_engines_meet_the_same_gains(jobs, names):
    """Regret plus gains collected is the best arm's total: the same for all players of a trial, and it varies."""
    players = [*map(make_algorithm, names), Algorithm("played", UncompiledExp3)]
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
    monkeypatch.setattr(config, "DISABLE_JIT", 1)
    assert engines_of(GAME, ["EXP3"], horizon=20) == {"EXP3": "play"}


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
        self._t, self._wild = 0, rng.random() < 0.5

    def next_gains(self, rounds):
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


# ---- small simulations without machine code on disk are played
SMALL = {"environment": "DPBandit-Stochastic-v0", "algorithms": ["EXP3"], "seed": 5}
PROGRAM = f"""
import json
from dp_bandit_envs import simulate
for horizon, trials in ((400, 2), (400, 4), ({MOST_ROUNDS}, 1), (400, 1)):
    outcome = simulate(**{SMALL!r}, horizon=horizon, trials=trials)["EXP3"]
    print(json.dumps([outcome.engine, bool(outcome.reason), outcome.collected.tolist(), outcome.pulls.tolist()]))
"""


@pytest.mark.thorough
def test_a_new_machine_plays_small_simulations_and_compiles_a_large_one(tmp_path):
    """Played, played with trials that lanes would carry, too large to be played, and small, but compiled by now."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path), ALWAYS_COMPILE: "never"}
    run = subprocess.run(
        [sys.executable, "-"], input=PROGRAM, env=environment, capture_output=True, text=True, check=True
    )
    found = [json.loads(line) for line in run.stdout.splitlines()]
    assert [engine for engine, *_ in found] == ["play", "play", "compiled", "compiled"]
    assert [reason for _, reason, *_ in found] == [True, True, False, False]
    for (horizon, trials), (_, _, collected, pulls) in zip(((400, 2), (400, 4)), found[:2], strict=True):
        here = simulate(**SMALL, horizon=horizon, trials=trials)["EXP3"]
        assert here.engine == ("compiled" if trials == 2 else "lanes")
        assert here.collected.tolist() == collected
        assert here.pulls.tolist() == pulls


def begin_anew(monkeypatch, *, compiled=False):
    """Let small simulations be played, as in a process that has played nothing, or compiled nothing either."""
    for engine in () if compiled else (ScalarEngine, LaneEngine):
        monkeypatch.setattr(engine, "ready", False)
    monkeypatch.delenv(ALWAYS_COMPILE, raising=False)
    monkeypatch.setattr(engines_module, "_played", type(engines_module._played)())


def engines_without_code(monkeypatch, missing, times=1, **options):
    """Return the engine of each of some simulations of 400 rounds, where the code of these algorithms is missing."""
    begin_anew(monkeypatch)
    missing = set(missing)
    load = "loads_from_disk"
    monkeypatch.setattr(engines_module, load, lambda compile_parts: missing.isdisjoint(compile_parts.__self__.games))
    game = {**SMALL, "algorithms": ["EXP3", "Uniform"], "horizon": 400, **options}
    outcomes = [simulate(**game) for _ in range(times)]
    for outcome in outcomes[1:]:
        assert np.array_equal(outcome["EXP3"].collected, outcomes[0]["EXP3"].collected)
    return [tuple(one.engine for one in outcome.values()) for outcome in outcomes]


def test_algorithms_with_code_stay_compiled(monkeypatch):
    assert engines_without_code(monkeypatch, ["EXP3"]) == [("play", "compiled")]
    assert engines_without_code(monkeypatch, ["EXP3", "Uniform"]) == [("play", "play")]


@pytest.mark.thorough
def test_an_algorithm_is_played_for_so_many_rounds_in_all(monkeypatch):
    """As with a slider: each simulation is small, but one compiles soon."""
    often = MOST_ROUNDS // (400 + ROUNDS_TO_BEGIN)
    found = engines_without_code(monkeypatch, ["EXP3", "Uniform"], often + 2)
    assert found == [("play", "play")] * often + [("compiled", "compiled")] * 2


@pytest.mark.thorough
def test_what_is_not_small_is_compiled(monkeypatch):
    assert engines_without_code(monkeypatch, ["EXP3"], horizon=MOST_ROUNDS) == [("compiled", "compiled")]
    assert engines_without_code(monkeypatch, ["EXP3"], trials=100) == [("lanes", "lanes")]
    assert engines_without_code(monkeypatch, ["EXP3"], jobs=2, trials=2) == [("play", "compiled")]
    assert engines_without_code(monkeypatch, ["EXP3"], jobs=2, trials=100) == [("lanes", "lanes")]
    with always_compiled():
        assert engines_without_code(monkeypatch, ["EXP3"]) == [("compiled", "compiled")]
    assert engines_without_code(monkeypatch, ["EXP3"]) == [("play", "compiled")]


NEW = itertools.count()


def own_agent():
    """Return EXP3 with functions that no test has compiled: those of equal content are compiled once."""
    number = next(NEW)

    def select(state, rng):
        return int(rng.random() * len(state.weights)) if number >= 0 else 0

    class Own(Exp3):
        functions = Functions(select, Exp3.functions.update)

    return Own


@pytest.mark.thorough
@pytest.mark.parametrize("jobs", [1, 2])
def test_few_rounds_of_an_agent_of_ones_own_are_not_compiled(jobs, monkeypatch):
    """It would be compiled only to learn whether it can be; once it is compiled, it stays so."""
    begin_anew(monkeypatch, compiled=True)  # and these functions are new, so that no machine code is ready
    given = {"environment": SMALL["environment"], "algorithms": {"own": own_agent()}, "jobs": jobs}
    found = [simulate(**given, horizon=horizon)["own"] for horizon in (300, MOST_ROUNDS, 300)]
    assert [one.engine for one in found] == ["play", "compiled", "compiled"]
    assert "few rounds" in found[0].reason
    assert np.array_equal(found[0].collected, found[2].collected)


@pytest.mark.thorough
@pytest.mark.slow_cases("horizons1-None-1")
@pytest.mark.parametrize(
    ("horizons", "plays", "jobs"),
    [([300], True, 2), ([300, MOST_ROUNDS], None, 1), ([300, MOST_ROUNDS], None, 2), ([MOST_ROUNDS], False, 2)],
)
def test_so_are_small_runs_in_folders_and_on_the_command_line(horizons, plays, jobs, monkeypatch, tmp_path):
    """With several jobs no game is played apart from larger ones."""
    begin_anew(monkeypatch)
    monkeypatch.setattr(engines_module, "loads_from_disk", lambda compile_parts: False)
    real, played = running.run_tasks, []

    def run_tasks(tasks, jobs, **where):
        tasks = list(tasks)
        played.append((jobs, {type(task.engine).__name__ for task in tasks}))
        return real(tasks, jobs, **where)

    monkeypatch.setattr(running, "run_tasks", run_tasks)
    own = Algorithm("Own", own_agent())
    compare("Stochastic", ["EXP3", own], horizon=horizons, trials=2, jobs=jobs, folder=tmp_path / "out")
    both = {"PythonEngine", "ScalarEngine"}
    if plays is None:
        assert played == [(1, both)] if jobs == 1 else played == [(2, {"ScalarEngine"})]
    else:
        assert played == [(1, {"PythonEngine"}) if plays else (jobs, {"ScalarEngine"})]
