"""Compares EXP3 in `simulate`, on one core, with the same games in C: one after the other, and in vector lanes."""

import ctypes
import functools
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from dp_bandit_envs import make_algorithm, simulate
from dp_bandit_envs.adversaries import Stochastic
from dp_bandit_envs.agents import Exp3
from dp_bandit_envs.protocols import FloatArray
from dp_bandit_envs.seeding import ADVERSARY, AGENT, stream
from dp_bandit_envs.simulation.outcomes import Outcome
from tests.benchmarks.measuring import Line, Skipped, median_rates, written

K, LANES = 4, 16
HORIZON, TRIALS, SEED = 2**18, 4 * LANES, 3
# Contraction would fuse a product and a sum on some processors, and round once where Python rounds twice.
OPTIONS = ("-O3", "-ffp-contract=off", "-shared", "-fPIC", f"-DK={K}", f"-DL={LANES}")
FOR_LANES = ("-march=native", "-fopenmp-simd")
WANTED = {"C": 2.0, "C in lanes": 0.5}


class Games(NamedTuple):
    """Games side by side: `pulls` and `totals` (each arm's gains), shape `(n_arms, games)`; `collected`, `(games,)`."""

    pulls: FloatArray
    totals: FloatArray
    collected: FloatArray


Play = Callable[[range], Games]


def lines() -> list[Line | Skipped]:
    """Return the lines: at least twice the speed of scalar C, and half of C in lanes."""
    names = {other: f"EXP3 simulated, one core, beside {other}" for other in WANTED}
    compiler = shutil.which("cc")
    if compiler is None:
        return [Skipped(name, "there is no C compiler (cc) here") for name in names.values()]
    ours = functools.partial(simulate, "DPBandit-Stochastic-v0", ["EXP3"], horizon=HORIZON, trials=TRIALS, seed=SEED)
    with tempfile.TemporaryDirectory() as folder:
        in_c = in_both_forms(compiler, Path(folder))
        for width, play in in_c.values():
            assert_same_games(ours()["EXP3"], width, play)
        programs = {"ours": (ours, HORIZON * TRIALS)}
        for other, (width, play) in in_c.items():
            programs[other] = (functools.partial(play_all, width, play), HORIZON * TRIALS)
        rates = median_rates(programs)
    found: list[Line | Skipped] = []
    for other, name in names.items():
        ratio = rates["ours"] / rates[other]
        note = "same pulls, gains and regret"
        found.append(Line(name, written(rates["ours"]), written(rates[other]), ratio, WANTED[other], note=note))
    return found


def in_both_forms(compiler: str, folder: Path) -> dict[str, tuple[int, Play]]:
    """Return, for both forms, how many games are played at once and a function that plays these trials."""
    return {
        "C": (1, in_c(compiler, folder, "exp3.c")),
        "C in lanes": (LANES, in_c(compiler, folder, "exp3_lanes.c", *FOR_LANES)),
    }


def in_c(compiler: str, folder: Path, source: str, *options: str) -> Play:
    """Compile a C file and return a function that plays some trials at once."""
    library = folder / f"{source}.so"
    path = Path(__file__).with_name(source)
    subprocess.run([compiler, *OPTIONS, *options, str(path), "-o", str(library)], check=True)
    function = ctypes.CDLL(str(library)).play
    function.restype = None
    function.argtypes = [ctypes.c_int64, ctypes.c_void_p, ctypes.c_double, *[ctypes.c_void_p] * 7]
    means, rate = Stochastic(K, HORIZON).means, Exp3().rate(K, HORIZON)
    assert means is not None
    player = make_algorithm("EXP3").player

    def play(trials: range) -> Games:
        coins = [words_of(stream(SEED, trial=trial, role=ADVERSARY)) for trial in trials]
        choices = [words_of(stream(SEED, trial=trial, role=AGENT, player=player)) for trial in trials]
        scores, weights, pulls, totals = (np.full((K, len(trials)), start) for start in (0.0, 1.0, 0.0, 0.0))
        collected = np.zeros(len(trials))
        words = [np.stack(some, axis=1) for some in (coins, choices)]
        arrays = (*words, scores, weights, pulls, totals, collected)
        function(HORIZON, means.ctypes.data, rate, *(array.ctypes.data for array in arrays))
        return Games(pulls, totals, collected)

    return play


def words_of(rng: np.random.Generator) -> np.ndarray[tuple[int], np.dtype[np.uint64]]:
    """Return the state of an SFC64, shape `(4,)`."""
    words: np.ndarray[tuple[int], np.dtype[np.uint64]] = rng.bit_generator.state["state"]["state"]
    return words


def play_all(width: int, play: Play) -> None:
    """Play all trials, `width` of them at once."""
    for first in range(0, TRIALS, width):
        play(range(first, first + width))


def assert_same_games(outcome: Outcome, width: int, play: Play) -> None:
    """Assert that both play the same games, so that their speeds can be compared."""
    trials = range(width)
    games = play(trials)
    assert games.pulls.T.tolist() == outcome.pulls[:width].tolist()
    assert games.collected.tolist() == outcome.collected[:width, -1].tolist()
    assert (games.totals.max(axis=0) - games.collected).tolist() == outcome.external_regret[:width, -1].tolist()
