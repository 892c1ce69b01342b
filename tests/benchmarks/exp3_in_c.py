"""Compares EXP3 in `simulate`, on one core, with the same games in C; both must pull the same arms."""

import ctypes
import functools
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

from dp_bandit_envs import make_algorithm, simulate
from dp_bandit_envs.adversaries import Stochastic
from dp_bandit_envs.agents import Exp3
from dp_bandit_envs.protocols import FloatArray, IntArray
from dp_bandit_envs.seeding import ADVERSARY, AGENT, stream
from tests.benchmarks.measuring import Line, Skipped, median_rates, written

NAME = "EXP3 simulated, one core, beside C"
HORIZON, TRIALS, SEED = 2**18, 16, 3
CGame = Callable[[int], tuple[IntArray, FloatArray, float]]


def lines() -> list[Line | Skipped]:
    """Return the line: at least 0.4 of the speed of C."""
    compiler = shutil.which("cc")
    if compiler is None:
        return [Skipped(NAME, "there is no C compiler (cc) here")]
    with tempfile.TemporaryDirectory() as folder:
        game = c_game(compiler, Path(folder))
        assert_same_games(game)
        ours = functools.partial(
            simulate, "DPBandit-Stochastic-v0", ["EXP3"], horizon=HORIZON, trials=TRIALS, seed=SEED
        )
        rates = median_rates(
            {
                "ours": (ours, HORIZON * TRIALS),
                "C": (lambda: [game(trial) for trial in range(TRIALS)], HORIZON * TRIALS),
            }
        )
    ratio = rates["ours"] / rates["C"]
    return [Line(NAME, written(rates["ours"]), written(rates["C"]), ratio, 0.4, note="same pulls, gains and regret")]


def c_game(compiler: str, folder: Path) -> CGame:
    """Compile `exp3.c` and return a function from a trial's number to (pulls, every arm's gains, gains collected)."""
    library = folder / "exp3.so"
    source = Path(__file__).with_name("exp3.c")
    # Contraction would fuse a product and a sum on some processors, and round once where Python rounds twice.
    options = ["-O3", "-ffp-contract=off", "-shared", "-fPIC"]
    subprocess.run([compiler, *options, str(source), "-o", str(library), "-lm"], check=True)
    function = ctypes.CDLL(str(library)).play
    function.restype = ctypes.c_double
    function.argtypes = [ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p, ctypes.c_double, *[ctypes.c_void_p] * 6]
    adversary = Stochastic(horizon=HORIZON)
    assert adversary.means is not None
    means, n_arms, rate = adversary.means, adversary.n_arms, Exp3().rate(adversary.n_arms, HORIZON)

    def game(trial: int) -> tuple[IntArray, FloatArray, float]:
        coins = stream(SEED, trial=trial, role=ADVERSARY)
        choices = stream(SEED, trial=trial, role=AGENT, player=make_algorithm("EXP3").player)
        streams = [words_of(coins), words_of(choices)]
        scores, weights, totals = np.zeros(n_arms), np.zeros(n_arms), np.zeros(n_arms)
        pulls = np.zeros(n_arms, np.int64)
        arrays = [array.ctypes.data for array in (*streams, scores, weights, pulls, totals)]
        collected: float = function(HORIZON, n_arms, means.ctypes.data, rate, *arrays)
        return pulls, totals, collected

    return game


def words_of(rng: np.random.Generator) -> np.ndarray[tuple[int], np.dtype[np.uint64]]:
    """Return the state of an SFC64, shape `(4,)`."""
    words: np.ndarray[tuple[int], np.dtype[np.uint64]] = rng.bit_generator.state["state"]["state"]
    return words


def assert_same_games(game: CGame) -> None:
    """Assert that both play the same games, so that their speeds can be compared."""
    outcome = simulate("DPBandit-Stochastic-v0", ["EXP3"], horizon=HORIZON, trials=TRIALS, seed=SEED)["EXP3"]
    assert outcome.engine == "compiled"
    for trial in range(TRIALS):
        pulls, totals, collected = game(trial)
        assert pulls.tolist() == outcome.pulls[trial].tolist()
        assert collected == outcome.collected[trial, -1]
        assert totals.max() - collected == outcome.external_regret[trial, -1]
