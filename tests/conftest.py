"""What tests see does not depend on the terminal they are started from: its width, its colours, its encoding."""

import gc
import importlib
import os
import random
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

# Rich reads them when it is imported, and processes that tests start inherit them.
for _name in ("COLUMNS", "LINES", "FORCE_COLOR", "NO_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE", "PYTHONIOENCODING"):
    os.environ.pop(_name, None)

# With CI set, pytest compares two pictures that differ line by line, which takes it an hour.
for _name in ("CI", "BUILD_NUMBER"):
    os.environ.pop(_name, None)

# Processes that tests start, some hundred, would each translate all modules of the package again.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

COMPILED = {
    *("adversaries", "agents", "benchmarks", "counters", "experiments", "graphs", "simulation", "wrappers"),
    *("test_cluster", "test_draws", "test_foreign_env", "test_kinds_of_games", "test_leaders", "test_ledger"),
    *("test_register_adversary", "test_transcripts"),
}
"""Folders and files that compare machine code with Python, or count chunks, which are dealt out otherwise if compiled.

In all others they are played where that is quicker, as for users; that the bits are the same is tested in these.
"""

# A failed assert in a helper shows its values, as one in a test does.
pytest.register_assert_rewrite("tests.tools")

SHARED = "PYTEST_XDIST_WORKER" in os.environ
"""Whether this process shares the cores with other workers."""

# PyTorch would start as many threads as there are cores in each.
os.environ.setdefault("OMP_NUM_THREADS", "1")


def pytest_configure(config: pytest.Config) -> None:
    """Keep the order below; xdist would begin with the files of most tests, and end with those of few long ones."""
    config.option.loadscopereorder = False


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark the cases of `slow_cases` and `thorough_cases`; put files of most marks first where they are shared out."""
    unknown: dict[tuple[str, str], set[str]] = {}
    for item in items:
        for mark in ("slow", "thorough"):
            if marker := item.get_closest_marker(f"{mark}_cases"):
                case = item.name.partition("[")[2].removesuffix("]")
                unknown.setdefault((mark, item.nodeid.partition("[")[0]), set(marker.args)).discard(case)
                if case in marker.args:
                    item.add_marker(mark)
    renamed = {test: cases for test, cases in unknown.items() if cases}
    if renamed and not any("::" in argument for argument in config.args):
        raise pytest.UsageError(f"cases that the test does not have: {renamed}")
    if SHARED:  # so that no worker waits for another's long file
        costly = "slow" if config.option.markexpr == "slow" else "thorough"
        number = Counter(item.path for item in items if costly in item.keywords)
        items.sort(key=lambda item: -number[item.path])


@pytest.fixture(autouse=True, scope="module")
def compile_small_simulations(request: pytest.FixtureRequest) -> Iterator[None]:
    """Compile small simulations where it matters; see `simulation/engines.py`."""
    with pytest.MonkeyPatch.context() as patch:
        where = {request.path.parent.name, request.path.stem}
        patch.setenv("DP_BANDIT_ENVS_COMPILE", "always" if where & COMPILED else "auto")
        yield


@pytest.fixture(autouse=True)
def nothing_counts_from_other_tests() -> None:
    """Let each test play as many rounds without compiling as a process of a user does, and make its games anew."""
    if engines := sys.modules.get("dp_bandit_envs.simulation.engines"):
        engines._played.clear()
    if simulation := sys.modules.get("dp_bandit_envs.simulation.simulation"):
        simulation._kept_setups.clear()


@pytest.fixture(autouse=True)
def secret_seeds_are_known(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw a test's secret seeds from its name, so that no run fails by bad luck that the next one does not have."""
    monkeypatch.setattr("secrets.randbits", random.Random(request.node.nodeid).getrandbits)


@pytest.fixture(autouse=True, scope="module")
def nothing_stays_registered() -> Iterator[None]:
    """Take away what a file's tests register: which files share a process is chance."""
    import gymnasium as gym

    from dp_bandit_envs.algorithms import ALGORITHMS
    from dp_bandit_envs.envs.registration import GAMES

    tables: tuple[dict[str, Any], ...] = (gym.registry, ALGORITHMS, GAMES)
    before = [dict(table) for table in tables]
    yield
    for table, rows in zip(tables, before, strict=True):
        table.clear()
        table.update(rows)


@pytest.fixture
def written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Any]]:
    """Return a function that writes modules of `sources` by name into `tmp_path` and loads the last one."""
    monkeypatch.syspath_prepend(tmp_path)
    # Byte code is kept for a file of this second and this size.
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    names: set[str] = set()

    def write(load: bool = True, **sources: str) -> Any:
        loaded = None
        for name, source in sources.items():
            (tmp_path / f"{name}.py").write_text(source, encoding="utf-8")
            names.add(name)
            if load:
                sys.modules.pop(name, None)
                importlib.invalidate_caches()
                loaded = importlib.import_module(name)
        return loaded

    yield write
    for name in names:
        sys.modules.pop(name, None)


def pytest_collection_finish() -> None:
    """Keep the search for garbage, which compiling starts often, out of thousands of collected tests."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 100)
