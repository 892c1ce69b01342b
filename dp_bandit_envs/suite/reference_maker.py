"""Makes the references of the suite: `python -m dp_bandit_envs.suite.reference_maker tiny quick`.

Played cells are stored in `results/reference`, so that an interrupted run can be resumed. Sizes that are not named keep
their data in the file, if the table and the names are unchanged.
"""

import hashlib
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

import dp_bandit_envs
from dp_bandit_envs.algorithms import algorithm_names, make_algorithm
from dp_bandit_envs.experiments.progress import progress_of
from dp_bandit_envs.files import write_whole
from dp_bandit_envs.protocols import FloatArray
from dp_bandit_envs.suite import identification
from dp_bandit_envs.suite.card import card_of
from dp_bandit_envs.suite.evaluation import SECONDS_A_CELL, CellStore, played_agents
from dp_bandit_envs.suite.players import players_of
from dp_bandit_envs.suite.reference import COLUMNS, REFERENCE_FILE, REFERENCE_SEED
from dp_bandit_envs.suite.sheet import level_in_words
from dp_bandit_envs.suite.task_table import CORE, DELTA, LEVELS, SIZES, TASKS, VERSION, digest_of_table, size_name

FORMAT: Final = "dp-bandit-envs suite reference"
FILE: Final = Path(__file__).with_name(REFERENCE_FILE)
IDENTIFICATION_FILE: Final = FILE.with_name(identification.REFERENCE_FILE)
FURTHER: Final = ("Clipped-Lap:base=TS",)
"""Algorithms with parameters that have rows of their own."""
DIGITS_OF_DIGEST: Final = 8
ANCHORS: Final = ("chance", "best")


def names_of_reference() -> list[str]:
    """Return the names of the rows: all algorithms, and the standard wrapper around Thompson sampling."""
    # Those that look for the best arm play for something else than the regret that is scored.
    stopping = set(names_of_identification())
    return [*(name for name in algorithm_names() if name not in stopping), *FURTHER]


def names_of_identification() -> list[str]:
    """Return the algorithms that look for the best arm."""
    return [name for name in algorithm_names() if make_algorithm(name).sample_bound is not None]


def make(sizes: Sequence[str], folder: Path, file: Path = FILE, jobs: int = 1) -> None:
    """Play the missing cells of some sizes, and write the reference.

    Args:
        sizes: The names of the sizes.
        folder: The folder of cells.
        file: The file to write.
        jobs: Number of games to play in parallel.
    """
    players = players_of(names_of_reference())
    names = [player.label for player in players]
    old = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
    same = old.get("table") == digest_of_table() and old.get("names") == names and old.get("seed") == REFERENCE_SEED
    kept = old["sizes"] if same else {}
    played = {size: _of_size(size, players, names, CellStore(folder, size, REFERENCE_SEED), jobs) for size in sizes}
    facts = {
        "format": FORMAT,
        "suite": VERSION,
        "table": digest_of_table(),
        "package": dp_bandit_envs.__version__,
        "seed": REFERENCE_SEED,
        "delta": DELTA,
        "columns": list(COLUMNS),
        "core": list(CORE),
        "names": names,
        "sizes": {size: played.get(size) or kept[size] for size in SIZES if size in played or size in kept},
    }
    write_whole(file, text_of(facts))


def _of_size(size: str, players: Any, names: list[str], store: CellStore, jobs: int) -> dict[str, Any]:
    """Play a size, and return its part of the file."""
    wanted = list(TASKS.values())
    cells: list[dict[str, Any]] = []
    anchors = {task.name: store.anchors(task) for task in wanted}
    rounds = sum(task.horizon(size) * SIZES[size].games for task in wanted)
    with progress_of(f"reference {size}", True, rounds * len(players) * len(LEVELS)) as advance:
        for agent in played_agents(players, wanted, LEVELS, store, jobs, SECONDS_A_CELL, advance):
            cells += agent.cells
    _refuse_failures(cells)
    card = card_of(size, REFERENCE_SEED, LEVELS, anchors, cells, [])
    rows: dict[str, dict[str, list[Any]]] = {task.name: {} for task in wanted}
    for cell in cells:
        if "regrets" not in cell:
            continue
        regrets = np.array(cell["regrets"])
        row = [
            names.index(cell["agent"]),
            _short(cell["mean"], 6),
            *(_short(number, 3) for number in (cell["deviation"], *cell["quantiles"].values())),
            None if cell["level"] is None else _short(cell["guarantee"]["epsilon"], 6),
            digest_of_regrets(regrets),
        ]
        rows[cell["task"]].setdefault(level_in_words(cell["level"]), []).append(row)
    ranks: dict[str, list[Any]] = {}
    for total in card["totals"]:
        if total["rank"] is not None:
            row = [names.index(total["agent"]), total["rank"], round(total["low"], 4), round(total["high"], 4)]
            ranks.setdefault(level_in_words(total["level"]), []).append(row)
    return {
        "horizon": SIZES[size].horizon,
        "games": SIZES[size].games,
        "anchors": {task: {name: _finals(games[name]) for name in ANCHORS} for task, games in anchors.items()},
        "rows": rows,
        "ranks": ranks,
    }


def make_identification(sizes: Sequence[str], folder: Path, file: Path = IDENTIFICATION_FILE, jobs: int = 1) -> None:
    """Play the missing cells of best arm identification at some sizes, and write its reference.

    Args:
        sizes: The names of the sizes.
        folder: The folder of cells.
        file: The file to write.
        jobs: Number of games to play in parallel.
    """
    players = players_of(names_of_identification())
    table = identification.digest_of_table()
    old = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
    of_sizes = dict(old["sizes"]) if old.get("table") == table else {}
    for size in sizes:
        store = CellStore(folder, size, REFERENCE_SEED)
        cells: list[dict[str, Any]] = []
        for level in LEVELS:
            tasks = identification.identification_tasks(epsilon=level)
            for agent in played_agents(players, tasks, [level], store, jobs, SECONDS_A_CELL, lambda *_: None):
                cells += agent.cells
        _refuse_failures(cells)
        card = identification.card_of(size, REFERENCE_SEED, LEVELS, cells, [])
        of_sizes[size] = {"cells": card.cells, "totals": [{**total, "field": None} for total in card.totals]}
    facts = {"table": table, "package": dp_bandit_envs.__version__, "seed": REFERENCE_SEED, "sizes": of_sizes}
    write_whole(file, json.dumps(facts, separators=(",", ":"), allow_nan=False).replace("},{", "},\n{") + "\n")


def _refuse_failures(cells: Sequence[dict[str, Any]]) -> None:
    failed = [cell for cell in cells if cell.get("cannot") == "failed"]
    if failed:
        raise RuntimeError(f"no algorithm of the package must fail; {failed[0]['agent']}: {failed[0]['reason']}")


def _finals(regrets: Sequence[float]) -> Any:
    """Return the regrets of all games, or their common value."""
    short = [_short(regret, 7) for regret in regrets]
    return short[0] if len(set(short)) == 1 else short


def digest_of_regrets(regrets: FloatArray) -> str:
    """Return the first digits of a SHA-256 of the regrets of all games, to the last bit."""
    return hashlib.sha256(np.ascontiguousarray(regrets, "<f8").tobytes()).hexdigest()[:DIGITS_OF_DIGEST]


def text_of(facts: dict[str, Any]) -> str:
    """Return the file as text, one line for each task and level."""
    return json.dumps(facts, separators=(",", ":"), allow_nan=False).replace("]],", "]],\n") + "\n"


def _short(number: float | str, digits: int) -> float | int | str:
    """Return a number with some significant digits, without a decimal point if it is an integer."""
    if isinstance(number, str):
        return number
    short = float(f"{number:.{digits}g}")
    return int(short) if short == int(short) else short


if __name__ == "__main__":
    sizes = [size_name(size) for size in sys.argv[1:]] or ["tiny", "quick"]
    for make_reference in (make, make_identification):
        make_reference(sizes, Path("results") / "reference")
