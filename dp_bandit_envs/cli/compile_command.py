"""The command `compile`: the machine code of algorithms in games, made once, for an image of a lab or a cluster."""

import contextlib
import sys
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from dp_bandit_envs.adversaries.adversary import filler
from dp_bandit_envs.algorithms import ALGORITHMS, make_algorithm
from dp_bandit_envs.algorithms.specs import read_game, read_import
from dp_bandit_envs.cli.terminal import say
from dp_bandit_envs.compiling.compiled import says_compiling, why_not_compiled
from dp_bandit_envs.compiling.functions import is_builtin
from dp_bandit_envs.envs.registration import GAMES
from dp_bandit_envs.experiments.progress import ShownProgress, duration
from dp_bandit_envs.seeding import ADVERSARY, stream
from dp_bandit_envs.simulation.engines import SimulationSetup, always_compiled
from dp_bandit_envs.simulation.lanes import LANES
from dp_bandit_envs.simulation.simulation import prepare
from dp_bandit_envs.simulation.workers import compile_now

FORMS = ("Graph:graph=complete", "Ball:feedback=bandit", "Cube:feedback=bandit")
"""Games with other loops than those of the id."""
MADE_UP = "Replay"
"""Without data it warns, and its loops are those of other games."""


def compile_all(environments: Sequence[str], algorithms: Sequence[str]) -> None:
    """Compile algorithms in environments, showing progress, and print the number of loops.

    By default these are all environments of the package, and in each all algorithms that can play it.

    Raises:
        ValueError: If one of them is not of the package.
    """
    if reason := why_not_compiled():
        raise ImportError(f"nothing can be compiled: {reason}")
    for name in (*environments, *algorithms):
        if read_import(name) is not None:
            raise ValueError(
                f"what is compiled here stays on disk, and your own parts are compiled in each process that plays them;"
                f" received {name!r}. Name parts of the package."
            )
    games = environments or [*(game.name for game in GAMES.values() if game.name != MADE_UP), *FORMS]
    names = algorithms or [name for name, maker in ALGORITHMS.items() if is_builtin(maker)]
    line, began = ShownProgress(sys.stdout), time.monotonic()
    with always_compiled(), says_compiling(line.say), contextlib.closing(line):
        setups = [setup for game in games for setup in _setups(game, names, required=bool(environments and algorithms))]
        engines = [engine for setup in setups for engine in setup.engines]
        compiled = compile_now(engines)
        for setup in setups:
            _compile_filler(setup)
    loops = {id(loop) for engine in engines for loop in getattr(engine, "loops", ())}
    say(
        f"Loops on disk: {len(loops)}, {compiled} of them compiled now, in {duration(time.monotonic() - began)}."
        " docs/install.md says where, and other processors need others."
    )


def _setups(game: str, names: Sequence[str], *, required: bool) -> list[SimulationSetup]:
    """Return the setups of the algorithms that can play a game, for one trial and many, together and alone.

    If `required`, all of them must be able to play it.
    """
    env: Any = read_game(game).make()
    players = [name for name in names if required or make_algorithm(name).refusal(env) is None]
    if not players:
        return []
    options: dict[str, Any] = {"horizon": None, "seed": 0, "checkpoints": 1}
    one, many = (prepare(game, players, **options, trials=trials) for trials in (1, LANES))
    beside = [name for engine in many.engines if engine.kind == "lanes" for name in engine.algorithms]
    # Alone, an algorithm draws the gains itself.
    return [one, many, *(prepare(game, name, **options, trials=LANES) for name in beside if len(players) > 1)]


def _compile_filler(setup: SimulationSetup) -> None:
    """Compile the filler of blocks of gains, if a function of one round draws them."""
    adversary: Any = setup.game.adversary.by_rounds if hasattr(setup.game.adversary, "by_rounds") else None
    if adversary is None or not is_builtin(type(adversary).next_round):
        return
    rng = stream(0, role=ADVERSARY)
    gains = np.zeros((2, adversary.n_arms))
    for rows in (gains, gains[:, ::-1]):
        filler(type(adversary).next_round).compile(adversary.first_round_state(rng), rows, rng)
