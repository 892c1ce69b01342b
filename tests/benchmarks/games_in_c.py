"""Compares algorithms in `simulate`, on one core, with the same games in C, in vector registers.

Both rates are without what a call costs beside its rounds, which is a line of its own.
"""

import ctypes
import functools
import operator
import platform
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import gymnasium as gym
import numpy as np

from dp_bandit_envs import Adversary, Algorithm, make_algorithm, simulate
from dp_bandit_envs.decisions import Ball
from dp_bandit_envs.protocols import FloatArray
from dp_bandit_envs.seeding import ADVERSARY, stream
from dp_bandit_envs.simulation.compiled_game import make_compiled_game
from dp_bandit_envs.simulation.engines import ROUNDS_AT_ONCE
from dp_bandit_envs.simulation.results import Outcome
from tests.benchmarks.measuring import Line, Skipped, written
from tests.benchmarks.speeds import MEANS

LANES, HORIZON, SEED, D, ROWS = 16, 2**17, 3, 10, 2**11
# Contraction would fuse a product and a sum on some processors, and round once where Python rounds twice.
OPTIONS = ("-O3", "-march=native", "-fopenmp-simd", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math")
FULL_VECTORS = ("-mprefer-vector-width=512",)


class Repeated(Adversary):
    """Plays a table again and again, shape `(rows, d)`, so that gains cost little more than a copy."""

    lowest = -1.0

    def __init__(self, table: FloatArray, horizon: int) -> None:
        super().__init__(table.shape[1], horizon)
        self.table = table
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


def directions(horizon: int) -> Repeated:
    """Return gains of length .99 in directions that a seed determines."""
    table = np.random.default_rng(SEED).normal(size=(ROWS, D))
    return Repeated(0.99 * table / np.linalg.norm(table, axis=1, keepdims=True), horizon)


class Played(NamedTuple):
    """One comparison: what `simulate` plays in how many trials, its function in `games.c`, and the ratio wanted."""

    title: str
    algorithm: Algorithm
    function: str
    trials: int
    wanted: float
    means: tuple[float, ...] = ()

    @property
    def on_the_ball(self) -> bool:
        """Whether actions are points."""
        return self.function == "play_ball"

    def simulated(self, horizon: int) -> Outcome:
        """Let `simulate` play."""
        outcomes = simulate(
            self.env_id, [self.algorithm], trials=self.trials, seed=SEED, checkpoints=1, env_kwargs=self.kwargs(horizon)
        )
        return outcomes[self.algorithm.name]

    @property
    def env_id(self) -> str:
        """The game's id."""
        return "DPBandit-Ball-v0" if self.on_the_ball else "DPBandit-Stochastic-v0"

    def kwargs(self, horizon: int) -> dict[str, Any]:
        """Return the game's arguments."""
        if self.on_the_ball:
            return {"gains": directions(horizon)}
        return {"horizon": horizon, **({"means": self.means} if self.means else {"arm_order": "given"})}


GAMES = (
    Played("EXP3, K = 4", make_algorithm("EXP3"), "play_exp3", LANES, 0.75),
    Played("DP-EXP3-Lap, K = 4", make_algorithm("DP-EXP3-Lap"), "play_laplace", LANES, 0.65),
    Played("UCB, K = 10, 16 games side by side", make_algorithm("UCB"), "play_ucb", LANES, 0.4, tuple(MEANS)),
    Played("UCB, K = 10, one game", make_algorithm("UCB"), "play_one_ucb", 1, 0.6, tuple(MEANS)),
    Played("KL-UCB, K = 10, one game", make_algorithm("KL-UCB"), "play_kl_ucb", 1, 0.65, tuple(MEANS)),
    Played("AdaP-UCB, K = 10, one game", make_algorithm("AdaP-UCB"), "play_adap_ucb", 1, 0.5, tuple(MEANS)),
    Played("DP-UCB, K = 10, one game", make_algorithm("DP-UCB"), "play_dp_ucb", 1, 0.5, tuple(MEANS)),
    Played("TS, K = 10, one game", make_algorithm("TS"), "play_thompson", 1, 0.8, tuple(MEANS)),
    Played("AS-FTRL, ball, d = 10", make_algorithm("AS-FTRL", counter="binary"), "play_ball", 1, 0.6),
)


class CGame(ctypes.Structure):
    """`game` of `games.c`."""

    _fields_ = (
        *((name, ctypes.c_int64) for name in ("horizon", "rows")),
        ("gains", ctypes.c_void_p),
        *((name, ctypes.c_double) for name in ("rate", "scale", "grid", "bound", "slope")),
        *((name, ctypes.c_void_p) for name in ("scales", "coins", "choices", "noise", "collected", "pulls", "totals")),
    )


def lines() -> list[Line | Skipped]:
    """Return two lines a game: its ratio to C, and what a call of `simulate` costs beside the rounds."""
    compiler = shutil.which("cc")
    if compiler is None:
        return [Skipped(f"{played.title}, beside C", "there is no C compiler (cc) here") for played in GAMES]
    with tempfile.TemporaryDirectory() as folder:
        library = compiled(compiler, Path(folder))
        return [line for played in GAMES for line in lines_of(played, library)]


def compiled(compiler: str, folder: Path) -> ctypes.CDLL:
    """Compile `games.c`."""
    library, source = folder / "games.so", Path(__file__).with_name("games.c")
    options = (*OPTIONS, *(FULL_VECTORS if platform.machine() in ("x86_64", "AMD64") else ()), f"-DL={LANES}")
    subprocess.run([compiler, *options, "-shared", "-fPIC", str(source), "-o", str(library), "-lm"], check=True)
    return ctypes.CDLL(str(library))


def lines_of(played: Played, library: ctypes.CDLL) -> list[Line | Skipped]:
    """Return the lines of a game."""
    in_c = functools.partial(played_in_c, played, library)
    assert_same_games(played, played.simulated(HORIZON), in_c(HORIZON))
    works: dict[str, Callable[[int], object]] = {"ours": played.simulated, "C": in_c}
    if played.on_the_ball:
        works["adversary"] = write_gains
    seconds = {(name, horizon): np.inf for name in works for horizon in (1, HORIZON)}
    for _ in range(7):
        for name, horizon in seconds:
            seconds[name, horizon] = min(seconds[name, horizon], seconds_of(works[name], horizon))
    rounds = HORIZON * played.trials
    each = {name: (seconds[name, HORIZON] - seconds[name, 1]) / rounds for name in works}
    ours = each["ours"] - each.get("adversary", 0.0)
    ratio, fixed = each["C"] / ours, 1e3 * seconds["ours", 1]
    title = f"{played.title}, a call with {played.trials} games of one round"
    return [
        Line(f"{played.title}, beside C", written(1 / ours), written(1 / each["C"]), ratio, played.wanted),
        Line(title, f"{fixed:.2f} ms", "", fixed, 1.0, " ms", at_most=True),
    ]


def seconds_of(work: Callable[[int], object], horizon: int) -> float:
    """Return the processor time that a game takes in this thread."""
    start = time.thread_time()
    work(horizon)
    return time.thread_time() - start


def write_gains(horizon: int) -> None:
    """Do the adversary's part of `simulate` on the ball: copy the table's rows, and check them."""
    adversary, block = directions(horizon), np.empty((min(ROUNDS_AT_ONCE, horizon), D))
    adversary.begin(np.random.default_rng(0))
    for _ in range(horizon // len(block)):
        adversary.fill(block)
        assert Ball(D).has_gains(block)


def played_in_c(played: Played, library: ctypes.CDLL, horizon: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Play the same games in C; return collected, shape `(games,)`, pulls and totals, `(values, games)`."""
    env = gym.make(played.env_id, **played.kwargs(horizon))
    plan = make_compiled_game(played.algorithm, env)
    trials, state, states = range(played.trials), *plan.first_states[:2]
    words = [[words_of(stream(SEED, trial=trial, role=ADVERSARY)) for trial in trials]]
    words += [list(map(words_of, of_role)) for of_role in zip(*(plan.streams(SEED, t) for t in trials), strict=True)]
    coins, choices, noise = [np.stack(some, axis=1) for some in (*words, words[0])[:3]]
    adversary = env.unwrapped.adversary
    gains = adversary.table if played.on_the_ball else adversary.means
    number = {**parts_of(state), **parts_of(states)}
    rate = next((number[name] for name in ("rate", "exploration_rate", "exploration") if name in number), 0.0)
    scales = np.ascontiguousarray(number.get("scales", np.zeros(1)))
    collected, *sizes = np.zeros(played.trials), *(np.zeros((plan.n_arms, played.trials)) for _ in range(2))
    given = [array.ctypes.data for array in (scales, coins, choices, noise, collected, *sizes)]
    number.setdefault("scale", float(scales[0]))
    others = [number.get(name, 0.0) for name in ("scale", "grid", "bound", "slope")]
    game = CGame(horizon, len(gains), gains.ctypes.data, rate, *others, *given)
    library[played.function](ctypes.byref(game))
    return collected, sizes[0], sizes[1]


def parts_of(state: Any) -> dict[str, Any]:
    """Return the parts of nested tuples by name, those of the last where several have one."""
    named = state._asdict() if hasattr(state, "_asdict") else {}
    inner = [parts_of(part) for part in (named.values() or state) if isinstance(part, tuple)]
    return functools.reduce(operator.or_, inner, named)


def words_of(rng: np.random.Generator) -> np.ndarray[tuple[int], np.dtype[np.uint64]]:
    """Return the state of an SFC64, shape `(4,)`."""
    words: np.ndarray[tuple[int], np.dtype[np.uint64]] = rng.bit_generator.state["state"]["state"]
    return words


def assert_same_games(played: Played, outcome: Outcome, in_c: tuple[FloatArray, FloatArray, FloatArray]) -> None:
    """Assert that both played the same games, so that their speeds can be compared."""
    collected, pulls, totals = in_c
    best = np.sqrt(np.sum(totals * totals, axis=0)) if played.on_the_ball else totals.max(axis=0)
    assert outcome.engine in ("compiled", "lanes")
    assert collected.tolist() == outcome.collected[:, -1].tolist()
    assert (best - collected).tolist() == outcome.external_regret[:, -1].tolist()
    assert played.on_the_ball or pulls.T.tolist() == outcome.pulls.tolist()
