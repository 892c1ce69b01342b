"""Games side by side are those one at a time, and those of `play`, to the last bit: in any block, thread and order."""

import contextlib
import functools
import math
import os
import pickle
import re
import subprocess
import sys
from types import FunctionType

import gymnasium as gym
import joblib
import numpy as np
import pytest
from numba.core.registry import cpu_target

from dp_bandit_envs import Algorithm, BanditEnv, Exp3, LaplaceClipRescale, make_algorithm, play, simulate
from dp_bandit_envs.adversaries import MemoryBounded, Replay, Stochastic
from dp_bandit_envs.agents import Hedge, Ucb, Uniform
from dp_bandit_envs.agents.exp3 import MOST_AHEAD
from dp_bandit_envs.agents.functional import Functions
from dp_bandit_envs.compiling import numba_functions
from dp_bandit_envs.simulation import engines, lanes
from dp_bandit_envs.simulation.compiled_game import make_compiled_game
from dp_bandit_envs.simulation.engines import LaneEngine
from dp_bandit_envs.simulation.lanes import LANES, ROUND, LaneBlock, LaneGains, LaneLoop, LaneSupport, supports
from dp_bandit_envs.simulation.results import StoppedEarlyError, TrialResults
from dp_bandit_envs.wrappers import ExactSums, MiniBatchAverage, RandomizedResponse
from tests.simulation.test_results_do_not_depend_on import assert_equal
from tests.tools.both_ways import ORDERS, SEED, LastBit
from tests.tools.lane_games import (
    Ends,
    assert_same_columns,
    assert_same_ends,
    compiled_games_of,
    one_at_a_time,
    side_by_side,
)
from tests.tools.toys import UncompiledExp3

# Prime: no batch ends with it.
HORIZON = 701


def bandits(epsilon=1.0):
    """Return algorithms in whose games something happens within some hundred rounds."""
    return [
        make_algorithm("EXP3"),
        make_algorithm("EXP3", exploration_rate=1.0, label="rate 1"),
        make_algorithm("DP-EXP3-Lap", epsilon=epsilon),
        make_algorithm("DP-Lambda-Lap", epsilon=epsilon, base="Uniform"),
        make_algorithm("EXP3-tau", batch_size=7),
        make_algorithm("UCB"),
        Algorithm("UCB on noisy bits", lambda: Ucb(exploration=0.5, log_factor=3), lambda env: bits(env, epsilon)),
        Algorithm(
            "pairs at rate 1", lambda: Exp3(exploration_rate=1.0), lambda env: MiniBatchAverage(env, batch_size=2)
        ),
        make_algorithm("Batched-Lap-EXP3", epsilon=epsilon),
        make_algorithm("Uniform"),
    ]


def experts(epsilon=1.0):
    """Return algorithms for games that reveal all gains."""
    return [
        make_algorithm("Hedge"),
        make_algorithm("DP-Hedge", epsilon=epsilon),
        # Its scores move by 50 every ten rounds or so, and then all weights are taken afresh.
        Algorithm("fast Hedge", lambda: Hedge(learning_rate=5.0), ExactSums),
        Algorithm("noisy Hedge", lambda: Hedge(learning_rate=2.0), lambda env: ExactSums(noisy(env, epsilon))),
        Algorithm("batched Hedge", Hedge, lambda env: ExactSums(MiniBatchAverage(env, batch_size=5))),
        *bandits(epsilon)[-2:],
    ]


def noisy(env, epsilon):
    return LaplaceClipRescale(env, epsilon=epsilon)


def bits(env, epsilon):
    return ExactSums(RandomizedResponse(MiniBatchAverage(env, batch_size=3), epsilon=epsilon))


def assert_same_three_ways(make, algorithms, trials=range(3)):
    """Compare at every round, so that equal curves leave no room for other arms; return the lanes' games."""
    env = make()
    for algorithm in algorithms:
        assert supports(make_compiled_game(algorithm, env)), algorithm.name
    every_round = np.arange(1, env.unwrapped.horizon + 1)
    found = side_by_side(env, algorithms, SEED, trials, every_round)
    assert_same_ends(found, one_at_a_time(env, algorithms, SEED, trials, every_round))
    for columns, trial in zip(found.columns, trials, strict=True):
        for algorithm in algorithms:
            game = play(make(), algorithm, seed=SEED, trial=trial)
            assert_same_columns(columns[algorithm.name], trial_results(game))
    return found


def trial_results(game):
    """Return the column of a game of `play`; the pulls of all arms but those at the end are in the pseudo-regret."""
    pulls = np.bincount(game.arms, minlength=game.n_plays)
    return TrialResults(
        game.external_regret, game.policy_regret, game.pseudo_regret, game.collected, game.switches, pulls
    )


def made(name, horizon=HORIZON, **options):
    return functools.partial(gym.make, f"DPBandit-{name}-v0", horizon=horizon, **options)


GAMES = {
    **{
        name: made(name, n_arms=4)
        for name in ("Deterministic", "Stochastic", "FullyOblivious", "Oblivious", "Switching", "MemoryBounded")
    },
    "Switching, charge hidden": made("Switching", n_arms=4, observe_charge=False),
    "memory 0": made("MemoryBounded", n_arms=4, memory=0, observe_charge=False),
    "memory 1": made("MemoryBounded", n_arms=4, memory=1, observe_charge=False),
    "memory 3": made("MemoryBounded", n_arms=4, memory=3),
    "memory around coins": lambda: BanditEnv(MemoryBounded(memory=2, gains=Stochastic(4, HORIZON))),
    # Adversaries without a function of a round.
    "Trial": made("Trial"),
    "Linear": made("Linear", n_arms=4),
    "Replay": made("Replay", gains=np.random.default_rng(1).random((HORIZON, 4))),
    "memory around a table": lambda: BanditEnv(MemoryBounded(gains=Replay(np.eye(4)[np.arange(HORIZON) % 4]))),
}
FULL_INFORMATION = {
    "Experts": made("Experts", n_arms=4),
    "Experts with a charge": made("Experts", gains="Switching", n_arms=4),
    "Experts with a hidden charge": made("Experts", gains="Switching", n_arms=4, observe_charge=False),
}


FULL = ("Stochastic", "Switching, charge hidden", "Trial")
"""Games in which all algorithms play: coins, gains with a memory, and a table; in the others those of `SOME` do."""
SOME = ("DP-EXP3-Lap", "EXP3-tau", "UCB on noisy bits")


def reference(game, name, place=0):
    """Return what the weights of EXP3 or Hedge are relative to; it moves when all of them are taken afresh."""
    return np.frombuffer(game[name]["state[2]"])[place]


@pytest.mark.thorough
@pytest.mark.parametrize("game", GAMES)
def test_lanes_one_at_a_time_and_play_are_the_same_games(game):
    chosen = [one for one in bandits() if game in FULL or one.name in SOME]
    found = assert_same_three_ways(GAMES[game], chosen)
    if game == "Stochastic":  # or it would say nothing of `tidy`
        assert all(reference(one, "rate 1") >= MOST_AHEAD for one in found.games)


@pytest.mark.slow
@pytest.mark.parametrize("game", [game for game in GAMES if game not in FULL])
def test_they_are_for_every_other_algorithm(game):
    assert_same_three_ways(GAMES[game], [one for one in bandits() if one.name not in SOME])


@pytest.mark.thorough
@pytest.mark.parametrize("game", FULL_INFORMATION)
def test_they_are_where_all_gains_are_revealed(game):
    some = ("DP-Hedge", "batched Hedge", *(("fast Hedge",) if game == "Experts" else ()))
    chosen = [one for one in experts() if one.name in some]
    found = assert_same_three_ways(FULL_INFORMATION[game], chosen)
    if game == "Experts":  # its sums are taken afresh
        assert all(reference(one, "fast Hedge", 1) > 100 for one in found.games)


@pytest.mark.thorough
@pytest.mark.slow_cases("8", "16")
@pytest.mark.parametrize("n_arms", [2, 8, 16])
def test_they_are_with_few_and_many_arms(n_arms):
    chosen = [one for one in bandits() if one.name in ("pairs at rate 1", "UCB")]
    found = assert_same_three_ways(made("FullyOblivious", n_arms=n_arms), chosen)
    # All arms are played, and each again; of two arms, weights are rescaled after 32 batches.
    assert all(columns["UCB"].pulls.min() > 1 for columns in found.columns)
    assert n_arms > 2 or all(reference(one, "pairs at rate 1") >= MOST_AHEAD for one in found.games)


@pytest.mark.thorough
def test_what_an_agent_is_told_is_equal_to_the_last_bit(monkeypatch):
    """This agent's state is numbers, which every update replaces; lanes take it here only."""
    own = [FunctionType(one.__code__, one.__globals__, one.__name__) for one in LastBit.functions[:2]]
    for function in own:  # copies, as what is known of a function is kept
        function.__module__ = Exp3.functions.update.__module__
    monkeypatch.setattr(LastBit, "functions", Functions(*own))
    monkeypatch.setattr(lanes, "AGENTS", {LastBit: LaneSupport(LastBit.functions)})
    for game in ("Switching", "Replay"):
        assert_same_three_ways(GAMES[game], [Algorithm("last bit", LastBit, ORDERS["batch around Laplace"])])


@pytest.mark.thorough
def test_wrappers_in_another_order_are_the_same_games():
    """Noise that is clipped, around batches; all other orders are slow."""
    order = "Laplace around batch, clipped"
    assert_same_three_ways(made("Switching", 331), [Algorithm(order, Exp3, ORDERS[order])])


BLOCK_HORIZON = 331
CHECKPOINTS = [1, 6, 7, 8, 64, 224, 330, BLOCK_HORIZON]
PLAYERS = [make_algorithm("DP-EXP3-Lap"), make_algorithm("EXP3-tau", batch_size=7), make_algorithm("UCB")]
DOORS = {"drawn": "Switching", "filled": "Trial"}


@pytest.fixture(scope="module", params=DOORS)
def env(request):
    return made(DOORS[request.param], BLOCK_HORIZON)()


@pytest.fixture(scope="module")
def alone(env):
    return one_at_a_time(env, PLAYERS, SEED, range(40), CHECKPOINTS)


def part_of(ends, trials):
    return Ends([ends.columns[trial] for trial in trials], [ends.games[trial] for trial in trials])


@pytest.mark.parametrize("trials", [range(1), range(16), range(17), range(5, 38), range(39, -1, -2)], ids=str)
def test_any_number_any_order_and_any_choice_of_trials(env, alone, trials):
    found = side_by_side(env, PLAYERS, SEED, trials, CHECKPOINTS)
    assert_same_ends(found, part_of(alone, trials))
    assert len({columns["DP-EXP3-Lap"].collected.tobytes() for columns in found.columns}) > 0.8 * len(trials)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("rounds", "pieces"), [(0, 1), (1, 1), (7, 1), (100, 1), (BLOCK_HORIZON - 1, 1), (10**6, 1), (1, 3), (100, 1000)]
)
def test_pieces_and_calls_of_any_length(env, alone, rounds, pieces, monkeypatch):
    """Rounds in a piece, and pieces in a call: they cut batches, and end before, at and after checkpoints."""
    for name in ("LANE_NUMBERS", "LANE_NUMBERS_FILLED"):
        monkeypatch.setattr(engines, name, rounds * 4 * LANES)
    monkeypatch.setattr(engines, "LANE_ROUNDS", pieces * max(rounds, 1) * LANES * len(PLAYERS))
    assert_same_ends(side_by_side(env, PLAYERS, SEED, range(20), CHECKPOINTS), part_of(alone, range(20)))


@pytest.mark.thorough
@pytest.mark.slow_cases("Oblivious-2")
@pytest.mark.parametrize(("game", "place"), [("Stochastic", 0), ("FullyOblivious", 1), ("Oblivious", 2)])
def test_an_algorithm_that_draws_the_gains_itself(game, place):
    env = made(game, BLOCK_HORIZON)()
    arguments = env, PLAYERS[place : place + 1], SEED, range(18), CHECKPOINTS
    assert type(env.unwrapped.adversary) in lanes.DRAWN_ALONE
    assert_same_ends(side_by_side(*arguments), one_at_a_time(*arguments))


@pytest.mark.thorough
@pytest.mark.parametrize("horizon", [1, 2, 32, 33])
def test_the_shortest_games(horizon):
    env = gym.make("DPBandit-Stochastic-v0", horizon=horizon)
    players = [*map(make_algorithm, ("EXP3", "UCB")), make_algorithm("Batched-Lap-EXP3", batch_size=min(horizon, 2))]
    arguments = env, players, SEED, range(17), range(1, horizon + 1)
    assert_same_ends(side_by_side(*arguments), one_at_a_time(*arguments))


@pytest.mark.slow
@pytest.mark.parametrize("order", ORDERS)
def test_wrappers_in_every_order_are_the_same_games(order):
    players = [Algorithm(order, agent, ORDERS[order]) for agent in (Exp3, Uniform)]
    for player in players:
        assert_same_three_ways(made("Stochastic", 331), [player], range(5, 25))
        assert_same_three_ways(made("MemoryBounded", 331, memory=2, observe_charge=False), [player])
        assert_same_three_ways(made("Experts", 331, n_arms=3), [player])


@pytest.mark.slow
@pytest.mark.parametrize("n_arms", range(2, 9))
@pytest.mark.parametrize("name", ["Deterministic", "Stochastic", "FullyOblivious", "Oblivious", "Switching", "Experts"])
def test_every_number_of_arms_and_much_and_little_noise(name, n_arms):
    for epsilon in (0.1, 1.0, math.inf):
        algorithms = experts(epsilon) if name == "Experts" else bandits(epsilon)
        assert_same_three_ways(made(name, 3001, n_arms=n_arms), algorithms, range(4, 24))


# ---- stopped, in threads and processes, and in memory
SWITCHING, TWO = "DPBandit-Switching-v0", ["EXP3", "DP-EXP3-Lap"]


def work(horizon=300, players=TWO):
    env = gym.make(SWITCHING, horizon=horizon)
    games = compiled_games_of(env, [*map(make_algorithm, players)], [horizon])
    return LaneEngine(env.unwrapped.adversary, games, 3, np.array([horizon]))


def test_work_stops_before_the_next_block_of_rounds(monkeypatch):
    monkeypatch.setattr(engines, "LANE_NUMBERS", 5 * 4 * 16)
    monkeypatch.setattr(engines, "LANE_ROUNDS", 10 * 2 * 16)
    played = []
    monkeypatch.setattr(LaneBlock, "check", lambda made: played.append(made.arguments.clocks[:, ROUND].tolist()))
    with pytest.raises(StoppedEarlyError):
        work().run(range(40), lambda: len(played) >= 7)
    # Seven calls of two pieces of five rounds, of the adversary and both algorithms; the other trials were not begun.
    assert played == [[10 * call] * 3 for call in range(1, 8)]


@pytest.mark.parametrize("jobs", [1, 2])
def test_an_interrupt_in_a_block_ends_everything_at_once(jobs, monkeypatch):
    """As Ctrl-C does when machine code returns; what was played before is counted."""
    monkeypatch.setattr(engines, "LANE_NUMBERS", 10 * 4 * 16)
    monkeypatch.setattr(engines, "LANE_ROUNDS", 1)
    done, blocks = [], []

    def progress(games, of):
        done.append(games)
        if games >= 2 * 20:
            raise KeyboardInterrupt

    real = LaneEngine._run
    monkeypatch.setattr(
        LaneEngine, "_run", lambda self, trials, stopped: blocks.append(trials) or real(self, trials, stopped)
    )
    with pytest.raises(KeyboardInterrupt):
        simulate(SWITCHING, TWO, horizon=20_000, trials=16 * 40, jobs=jobs, progress=progress)
    assert done == [32, 64]
    assert len(blocks) < 40


@pytest.mark.thorough
@pytest.mark.parametrize("jobs", [1, 2])
def test_progress_counts_each_game_once(jobs):
    told = []
    players = [*TWO, "DP-UCB", Algorithm("own", UncompiledExp3)]
    simulate(SWITCHING, players, horizon=50, trials=21, jobs=jobs, progress=lambda *numbers: told.append(numbers))
    assert {of for _, of in told} == {84}
    done = [games for games, _ in told]
    steps = sorted(np.diff([0, *done]))
    assert steps[0] > 0 and done[-1] == 84
    # Two algorithms in lanes, 16 and 5 games at a time, one beside them, and one that is played.
    assert jobs > 1 or steps == [*[1] * 21, 10, 21, 32]


def test_threads_and_processes_play_the_same_games(monkeypatch):
    monkeypatch.setattr(engines, "LANE_NUMBERS", 64 * 4 * 16)
    given = {"horizon": 2000, "trials": 70, "seed": 5, "checkpoints": 4, "first_trial": 3}
    alone = simulate(SWITCHING, [*TWO, "EXP3-tau"], **given)
    assert {outcome.engine for outcome in alone.values()} == {"lanes"}
    for backend, jobs in ((None, 4), ("loky", 2), ("threading", 2)):
        with joblib.parallel_config(backend) if backend else contextlib.nullcontext():
            assert_equal(alone, simulate(SWITCHING, [*TWO, "EXP3-tau"], jobs=jobs, **given))


def test_pickled_work_plays_the_same_games_before_and_after_it_has_played():
    """And nothing of one block is left in the next, nor in the adversary that was given."""
    mine = work()
    sent = [pickle.loads(pickle.dumps(mine))]
    found = mine.run(range(5))
    sent.append(pickle.loads(pickle.dumps(mine)))
    assert "seed" not in repr(mine)
    mine.run(range(7, 30))
    for other in [mine, *sent]:
        again = other.run(range(5))
        for name in found:
            assert_same_columns(found[name], again[name])


PROGRAM = """
import gc, resource, sys
from dp_bandit_envs import simulate

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

def play(horizon, trials):
    found = simulate("DPBandit-Switching-v0", ["EXP3", "DP-EXP3-Lap"], horizon=horizon, trials=trials, checkpoints=2)
    assert found["EXP3"].engine == "lanes"
    return peak()

play(20_000, 32)
print(peak(), play(500_000, 32), play(20_000, 1024))
"""


@pytest.mark.thorough
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="ru_maxrss in kilobytes")
def test_memory_is_flat_in_rounds_and_trials():
    """The gains of 500,000 rounds would be a quarter of a gigabyte; of a game, some hundred bytes are kept."""
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    first, longer, more = map(int, done.stdout.split())
    assert longer - first < 2**22
    assert more - first < 2**22


# ---- many games in a vector register, and every operation rounded by itself
TRIPLE, _, FEATURES = cpu_target.target_context.codegen().magic_tuple()
WITH_AVX2 = TRIPLE.startswith("x86_64") and "+avx2" in FEATURES
DIVISION = re.compile(r"\bvdivpd\s.*%[yz]mm")
FUSED = re.compile(r"\bvf(n?m(add|sub)|maddsub|msubadd)\w+")


@pytest.fixture
def afresh(monkeypatch):
    """Machine code from disk has no assembly to show."""
    if not WITH_AVX2:
        pytest.skip("instructions of x86-64 with AVX2")

    def nowhere(*arguments):
        raise RuntimeError

    monkeypatch.setattr(numba_functions, "MachineCode", nowhere)
    for name in ("_play_loop", "_draw_loop"):
        monkeypatch.setattr(lanes, name, getattr(lanes, name).__wrapped__)


def assembly(loop):
    """Return the machine code of a loop as text."""
    assert loop.address
    (text,) = loop.compiled._dispatcher.inspect_asm().values()
    return text


def of_algorithm(name, n_arms, env_id="DPBandit-Stochastic-v0", *, alone=False):
    env = gym.make(env_id, n_arms=n_arms, horizon=100)
    adversary = env.unwrapped.adversary
    assert not alone or type(adversary) in lanes.DRAWN_ALONE
    return assembly(LaneLoop(make_compiled_game(make_algorithm(name), env), (adversary, adversary) if alone else None))


def divisions(text):
    """Return how many divisions are of vectors, in code where nothing is fused."""
    assert not FUSED.search(text)
    return len(DIVISION.findall(text))


@pytest.mark.thorough
@pytest.mark.slow_cases("FullyOblivious", "Oblivious", "Deterministic")
@pytest.mark.parametrize("game", ["Stochastic", "FullyOblivious", "Oblivious", "Deterministic"])
def test_games_are_divided_side_by_side_where_an_algorithm_draws_the_gains(game, afresh):
    """EXP3 divides twice a round, so that a loop without vectors has no such division."""
    assert divisions(of_algorithm("EXP3", 4, f"DPBandit-{game}-v0", alone=True)) >= 2


@pytest.mark.thorough
@pytest.mark.slow_cases("Batched-Lap-EXP3-8", "EXP3-tau-2")
@pytest.mark.parametrize(("name", "n_arms"), [("DP-EXP3-Lap", 16), ("Batched-Lap-EXP3", 8), ("EXP3-tau", 2)])
def test_so_they_are_where_gains_are_given(name, n_arms, afresh):
    """With 16 arms LLVM thinks that vectors do not pay, and uses them because it is told to."""
    assert divisions(of_algorithm(name, n_arms)) >= 2


def test_these_instructions_would_be_found():
    assert divisions("\tvdivpd\t%zmm1, %zmm2, %zmm3") == 1 and divisions("\tvdivpd\t%xmm1, %xmm2, %xmm3") == 0
    assert FUSED.search("\tvfmadd213pd\t%ymm1") and FUSED.search("\tvfnmsub231sd\t%xmm1")


@pytest.mark.thorough
@pytest.mark.slow_cases("Stochastic", "FullyOblivious")
@pytest.mark.parametrize("game", ["Switching", "Stochastic", "FullyOblivious"])
def test_nothing_is_fused_in_the_loops_of_gains(game, afresh):
    adversary = gym.make(f"DPBandit-{game}-v0", horizon=100).unwrapped.adversary
    text = assembly(LaneGains(adversary, adversary))
    assert not FUSED.search(text)
    assert re.search(r"\bv(add|sub|cmp\w*|mul)pd\s.*%[yz]mm", text)


AVX512 = "+avx,+avx2,+avx512f,+avx512bw,+avx512dq,+avx512vl,+prefer-256-bit"
"""What LLVM says of Intel's processors."""
FOR_INTEL = """
import numpy
from dp_bandit_envs.compiling.compiled import AddressedFunction

def twice(numbers):
    for i in range(len(numbers)):
        numbers[i] = numbers[i] / 3.0

loop = AddressedFunction(twice, {})
loop.address(numpy.zeros(2))
print(*loop._dispatcher.inspect_asm().values())
"""


@pytest.mark.thorough
@pytest.mark.skipif(not WITH_AVX2, reason="instructions of x86-64 with AVX2")
def test_registers_of_512_bits_are_used_in_full():
    """The machine code is made for such a processor, and not run."""
    settings = {**os.environ, "NUMBA_CPU_NAME": "skylake-avx512", "NUMBA_CPU_FEATURES": AVX512}
    command = [sys.executable, "-c", FOR_INTEL]
    text = subprocess.run(command, env=settings, stdout=subprocess.PIPE, text=True, check=True).stdout
    assert re.search(r"\bvdivpd\s.*%zmm", text)
