"""Compares AS-FTRL on experts and on the ball in `simulate`, on one core, with the same games in C."""

import ctypes
import functools
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

import gymnasium as gym
import numpy as np

from dp_bandit_envs import make_algorithm, simulate
from dp_bandit_envs.adversaries import Adversary
from dp_bandit_envs.algorithms import Algorithm
from dp_bandit_envs.decisions import Ball
from dp_bandit_envs.protocols import FloatArray
from dp_bandit_envs.simulation.outcomes import Outcome
from dp_bandit_envs.simulation.plan import make_plan
from dp_bandit_envs.simulation.trials import ROUNDS_AT_ONCE
from tests.benchmarks.exp3_in_c import words_of
from tests.benchmarks.measuring import Line, Skipped, median_rates, written

HORIZON, TRIALS, SEED, D, ROWS = 2**18, 8, 3, 10, 2**11
WANTED = 6.0
"""Million rounds a second, on an idle core."""
GAMES = {"experts": "DPBandit-Experts-v0", "ball": "DPBandit-Ball-v0"}
CGame = Callable[[int], tuple[float, FloatArray]]


class Repeated(Adversary):
    """Plays a table again and again, shape `(rows, d)`, so that gains cost little more than a copy."""

    def __init__(self, table: FloatArray, lowest: float) -> None:
        super().__init__(table.shape[1], HORIZON)
        self.table, self.lowest = table, lowest
        self._twice = np.concatenate([table, table])

    def begin(self, rng: np.random.Generator) -> None:
        """Start at the first row."""
        self._row = 0

    def next_gains(self, rounds: int) -> FloatArray:
        """Return the next rows, at most as many as the table has."""
        assert rounds <= len(self.table)
        gains = self._twice[self._row : self._row + rounds].copy()
        self._row = (self._row + rounds) % len(self.table)
        return gains


class Sums(ctypes.Structure):
    """`game` of `linear.c`."""

    _fields_ = (
        *((name, ctypes.c_int64) for name in ("horizon", "d", "rows", "levels")),
        ("table", ctypes.c_void_p),
        *((name, ctypes.c_double) for name in ("rate", "scale", "factor", "grid")),
        *((name, ctypes.c_void_p) for name in ("upward", "exact", "noise", "sums", "totals")),
    )


def lines() -> list[Line | Skipped]:
    """Return two lines a game, both without the adversary's time: beside C, at least 1 / 1.5, and rounds a second.

    C reads the table where it lies.
    """
    compiler = shutil.which("cc")
    if compiler is None:
        return [Skipped("AS-FTRL simulated, one core, beside C", "there is no C compiler (cc) here")]
    with tempfile.TemporaryDirectory() as folder:
        library = compiled(compiler, Path(folder))
        return [line for name in GAMES for line in lines_of(name, library)]


def lines_of(name: str, library: ctypes.CDLL) -> list[Line | Skipped]:
    """Return the lines of a game."""
    adversary = repeated(name)
    game = c_game(name, adversary, library)
    ours = functools.partial(
        simulate, GAMES[name], [algorithm()], trials=TRIALS, seed=SEED, checkpoints=1, env_kwargs={"gains": adversary}
    )
    assert_same_games(name, ours()["AS-FTRL"], game)
    rounds = HORIZON * TRIALS
    rates = median_rates(
        {
            "ours": (ours, rounds),
            "adversary": (functools.partial(write_gains, adversary), rounds),
            "C": (lambda: [game(trial) for trial in range(TRIALS)], rounds),
        }
    )
    speed = 1 / (1 / rates["ours"] - 1 / rates["adversary"])
    title = f"AS-FTRL, binary counter, {name}, d = {D}"
    here, there = written(speed), written(rates["C"])
    return [
        Line(
            f"{title}, beside C",
            here,
            there,
            speed / rates["C"],
            1 / 1.5,
            note=f"same regret; {written(rates['ours'])} with the adversary",
        ),
        Line(title, here, "", speed / 1e6, WANTED, unit=" M/s", note="without the adversary; for an idle core"),
    ]


def write_gains(adversary: Repeated) -> None:
    """Do the adversary's part of `simulate`: copy the table's rows, and check those of the ball."""
    block = np.empty((ROUNDS_AT_ONCE, D))
    for _ in range(TRIALS):
        adversary.begin(np.random.default_rng(0))
        for _ in range(HORIZON // ROUNDS_AT_ONCE):
            adversary.fill(block)
            assert adversary.lowest == 0 or Ball(D).has_gains(block)


def algorithm() -> Algorithm:
    """Return the algorithm that is measured."""
    return make_algorithm("AS-FTRL", counter="binary")


def repeated(name: str) -> Repeated:
    """Return the adversary of a game: coins for experts, directions of length .99 for the ball."""
    rng = np.random.default_rng(SEED)
    if name == "experts":
        return Repeated((rng.random((ROWS, D)) < 0.5).astype(np.float64), 0.0)
    table = rng.normal(size=(ROWS, D))
    return Repeated(0.99 * table / np.linalg.norm(table, axis=1, keepdims=True), -1.0)


def compiled(compiler: str, folder: Path) -> ctypes.CDLL:
    """Compile `linear.c`."""
    library = folder / "linear.so"
    source = Path(__file__).with_name("linear.c")
    # Contraction would fuse a product and a sum on some processors, and round once where Python rounds twice.
    options = ["-O3", "-ffp-contract=off", "-shared", "-fPIC"]
    subprocess.run([compiler, *options, str(source), "-o", str(library), "-lm"], check=True)
    return ctypes.CDLL(str(library))


def c_game(name: str, adversary: Repeated, library: ctypes.CDLL) -> CGame:
    """Return a function from a trial's number to (gains collected, sums of all coordinates' gains)."""
    function = library[f"play_{name}"]
    function.restype = ctypes.c_double
    function.argtypes = [ctypes.c_void_p] * 4
    plan = make_plan(algorithm(), gym.make(GAMES[name], gains=adversary))
    of_agent, (of_sums,), _ = plan.first.copy()
    rate = of_agent.learning_rate if name == "experts" else of_agent.rate
    scales = rate, of_sums.together.scale, of_sums.factor, of_sums.grid
    levels = HORIZON.bit_length()

    def game(trial: int) -> tuple[float, FloatArray]:
        streams = [words_of(rng) for rng in plan.streams(SEED, trial)]
        rooms = [np.zeros((levels + 1, D)), *(np.zeros(D) for _ in range(4))]
        addresses = [room.ctypes.data for room in rooms]
        of = Sums(HORIZON, D, ROWS, levels, adversary.table.ctypes.data, *scales, *addresses)
        own = np.zeros(D)
        given = [ctypes.addressof(of), *(words.ctypes.data for words in streams)]
        collected: float = function(*given, own.ctypes.data)
        return collected, rooms[-1]

    return game


def assert_same_games(name: str, outcome: Outcome, game: CGame) -> None:
    """Assert that both play the same games, so that their speeds can be compared."""
    assert outcome.engine == "compiled"
    for trial in range(TRIALS):
        collected, totals = game(trial)
        assert collected == outcome.collected[trial, -1]
        best = totals.max() if name == "experts" else np.sqrt(np.sum(totals * totals))
        assert best - collected == outcome.external_regret[trial, -1]
