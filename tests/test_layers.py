"""The layers of the design: imports go down only, nothing global is overwritten, nothing heavy is loaded early."""

import ast
import functools
import importlib
import inspect
import json
import pkgutil
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import dp_bandit_envs
from tests.tools.import_graph import ImportGraph, circles, written_imports
from tests.tools.refusals import refused

ROOT = Path(__file__).parents[1]
PACKAGE = "dp_bandit_envs"
GRAPH = ImportGraph(
    PACKAGE,
    {PACKAGE: ROOT / PACKAGE, f"{PACKAGE}.agents": ROOT / "agents", f"{PACKAGE}.wrappers": ROOT / "wrappers"},
)
MODULES = GRAPH.paths
MOST_FLOORS, MOST_ROOMS = 10, 20
ROW = re.compile(r"^\| (\d+) \| (`[^|]+`) \|", re.MULTILINE)
"""A row of the table of layers in docs/architecture.md: the floor, and the parts on it."""
GROUND = 1
"""The floor whose parts may import each other."""


def floors():
    """Return the floor of each part, as docs/architecture.md has it."""
    page = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
    return {
        written.removeprefix(f"{PACKAGE}/").removesuffix("/").removesuffix(".py").replace("/", "."): int(floor)
        for floor, parts in ROW.findall(page)
        for written in re.findall("`([^`]+)`", parts)
    }


LEVEL = floors()


def part_of(module):
    """Return the part that a module belongs to, the smaller one if the table names two."""
    parts = module.split(".")[1:3]
    if parts == ["__main__"]:
        return "cli"
    return ".".join(parts) if ".".join(parts) in LEVEL else parts[0] if parts else "__init__"


def rooms():
    """Return the folders of the package, and its single files as one."""
    return sorted({module for module, path in MODULES.items() if path.name == "__init__.py" and module.count(".") == 1})


def room_of(module):
    """Return the folder of a module, or the single file that it is."""
    return ".".join(module.split(".")[:2])


def room_circles():
    """Return the folders and single files that import each other."""
    graph = {}
    for module, targets in GRAPH.edges.items():
        others = {room_of(target) for target in targets} - {PACKAGE}
        graph.setdefault(room_of(module), set()).update(others - {room_of(module)})
    return circles(graph)


@functools.cache
def roots(path):
    """Return the packages that a file imports."""
    return {name.split(".")[0] for name, _ in written_imports(ast.parse(path.read_text(encoding="utf-8")))}


def test_every_part_has_a_floor_and_every_floor_its_parts():
    assert {part_of(module) for module in MODULES} - {"__init__"} == set(LEVEL)
    assert len(MODULES) > 40
    assert sorted(set(LEVEL.values())) == list(range(1, max(LEVEL.values()) + 1))
    assert max(LEVEL.values()) <= MOST_FLOORS
    assert len(rooms()) + 1 <= MOST_ROOMS


@pytest.mark.thorough
def test_imports_go_down_only():
    wrong = [fault for module in MODULES if part_of(module) != "__init__" for fault in imports_upwards(module)]
    assert not wrong, "\n".join(wrong)


def imports_upwards(module):
    """Return a line for each import of a part that is not below the module's own."""
    own = part_of(module)
    for origin, names in GRAPH.imports[module]:
        # The top of the package is above everything; only its version may be asked for.
        if origin == PACKAGE and any(f"{PACKAGE}.{name}" not in MODULES for name in {*names} - {"__version__"}):
            yield f"{module} imports {names} from the top of the package"
    for part in {part_of(target) for target in GRAPH.edges[module]} - {own, "__init__"}:
        if not (LEVEL[part] < LEVEL[own] or LEVEL[part] == LEVEL[own] == GROUND):
            yield f"{module} ({own}) imports {part}"


@pytest.mark.thorough
def test_there_is_no_import_circle():
    """Neither among modules nor among folders, however an import is written."""
    assert GRAPH.circles() == []
    assert room_circles() == []


BY_HAND = {
    "at the top": "from house.upper import high",
    "in a function": """
        def low():
            from house import upper
    """,
    "under a condition": """
        try:
            import house.upper
        except ImportError:
            pass
    """,
    "by name": """
        import importlib
        low = lambda: importlib.import_module("house.upper").high
    """,
    "by a name in parts": """
        from importlib import import_module
        low = lambda name: import_module(f"house.{name}")
    """,
    "by a table of names": """
        import importlib
        HOMES = {"high": "house.upper"}
        low = lambda name: importlib.import_module(HOMES[name])
    """,
    "by a name that is loaded on first use": """
        def low():
            from house import high
    """,
    "by such a name at the second remove": """
        def low():
            from house import highest
    """,
}
"""Ways in which the lower of two modules imports the upper one, which imports it."""


@pytest.mark.parametrize("way", BY_HAND)
def test_a_circle_is_seen_however_an_import_is_written(way, tmp_path):
    house(tmp_path, BY_HAND[way])
    (circle,) = ImportGraph("house", {"house": tmp_path}).circles()
    assert {"house.lower", "house.upper"} <= set(circle)


@pytest.mark.parametrize(
    "text",
    [
        "from house import lowest",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from house.upper import high",
        'ENTRY_POINT = "house.upper:high"',
        'import importlib\nlow = importlib.import_module("house.ground")',
    ],
)
def test_what_imports_nothing_above_is_no_circle(text, tmp_path):
    house(tmp_path, text)
    assert ImportGraph("house", {"house": tmp_path}).circles() == []


def house(folder, lower):
    """Write a package of three modules, the lower one with this text, and names that are loaded on first use."""
    (folder / "rooms").mkdir()
    texts = {
        "__init__.py": "",
        "__init__.pyi": """
            from house.ground import lowest as lowest
            from house.rooms import highest as highest
            from house.upper import high as high
        """,
        "rooms/__init__.py": "",
        "rooms/__init__.pyi": "from house.upper import highest as highest",
        "ground.py": "lowest = 1",
        "lower.py": lower,
        "upper.py": "import house.lower\nhigh, highest = 2, 3",
    }
    for name, text in texts.items():
        (folder / name).write_text(textwrap.dedent(text), encoding="utf-8")


def test_a_file_says_by_its_name_where_one_is_and_the_top_loads_its_names_and_the_registration_only():
    """An editor's tab shows the name only."""
    names = [path.name for path in MODULES.values() if path.name != "__init__.py"]
    assert not {name for name in names if names.count(name) > 1}
    assert GRAPH.edges[PACKAGE] == {f"{PACKAGE}.lazy_names", f"{PACKAGE}.envs.registration"}
    with refused(AttributeError, "'dp_bandit_envs'", "'nothing'"):
        dp_bandit_envs.nothing  # noqa: B018 (looking it up is the test)


PLAIN = ("adversaries", "privacy", "theory", "metrics")
"""Parts that are plain mathematics on arrays, of use outside of any environment."""


@pytest.mark.thorough
def test_each_part_knows_only_what_it_is_about():
    """Agents and wrappers know spaces and observations; nothing but `compiling` knows Numba."""
    for module, path in MODULES.items():
        part, known = part_of(module), {part_of(target) for target in GRAPH.edges[module]}
        assert part not in ("agents", "wrappers") or not known & {"adversaries", "envs"}, module
        assert part not in PLAIN or not roots(path) & {"gymnasium", "numba", "matplotlib"}, module
        assert part == "compiling" or "numba" not in roots(path), module


@pytest.mark.thorough
def test_no_import_finds_agents_wrappers_or_a_test_by_its_bare_name():
    """The repository's root is on the path of tests, where `import agents` would load a second copy of every class."""
    files = [
        path
        for folder in (PACKAGE, "agents", "wrappers", "tests", "examples")
        for path in (ROOT / folder).rglob("*.py")
    ]
    bare = {"agents", "wrappers"} | {path.stem for path in (ROOT / "tests").glob("*/**/*.py")}
    for path in files:
        assert not roots(path) & bare, path


LOADED = """
import importlib, json, sys, gymnasium
env = gymnasium.make("dp_bandit_envs:DPBandit-Switching-v0", horizon=9)
roots = sorted({name.split(".")[0] for name in sys.modules})
from dp_bandit_envs.envs.registration import IDS, register
import dp_bandit_envs
register(); importlib.reload(dp_bandit_envs)
once = sum(id_.startswith("DPBandit-") for id_ in gymnasium.registry) == len(IDS)
print(json.dumps([env.unwrapped.horizon, roots, once]))
"""


@pytest.mark.thorough
def test_an_id_needs_no_import_loads_nothing_heavy_and_is_registered_once():
    command = [sys.executable, "-W", "error", "-c", LOADED]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", cwd=ROOT / "tests")
    assert done.returncode == 0, done.stderr
    horizon, loaded, once = json.loads(done.stdout)
    assert horizon == 9 and once and PACKAGE in loaded
    assert not {*loaded} & {"numba", "torch", "matplotlib", "joblib", "rich", "typer", "scipy", "stable_baselines3"}


def test_lists_of_public_names_are_true():
    for module in MODULES:
        if module.endswith("stable_baselines3"):
            continue
        loaded = importlib.import_module(module)
        for name in getattr(loaded, "__all__", ()):
            assert hasattr(loaded, name), f"{module}.{name}"


def test_a_module_is_what_its_name_says():
    """A function that shares its module's name hides the module: `import package.thing` would give the function."""
    hidden = []
    for module in MODULES:
        if module.endswith("stable_baselines3") or "." not in module:
            continue
        parent, _, name = module.rpartition(".")
        importlib.import_module(module)
        if not inspect.ismodule(getattr(importlib.import_module(parent), name)):
            hidden.append(module)
    assert hidden == []


def test_the_installed_package_is_the_one_in_this_folder():
    """Otherwise the tests above would look at one copy and import another."""
    found = {module.name for module in pkgutil.walk_packages(dp_bandit_envs.__path__, f"{PACKAGE}.", onerror=print)}
    assert {name for name in MODULES if ".agents" not in name and ".wrappers" not in name} - {PACKAGE} <= found
    for module in ("agents", "wrappers", "wrappers.vector", "simulation"):
        loaded = importlib.import_module(f"{PACKAGE}.{module}")
        assert Path(loaded.__file__).is_relative_to(ROOT)


if __name__ == "__main__":
    print(f"{len(rooms()) + 1} rooms: {', '.join(room.rpartition('.')[2] for room in rooms())}, and the single files")
    print(f"{max(LEVEL.values())} floors")
    for floor in range(max(LEVEL.values()), 0, -1):
        print(f"{floor:3} {', '.join(part for part in LEVEL if LEVEL[part] == floor)}")
    met = GRAPH.circles() + room_circles()
    print(f"{len(met)} circles", *map(", ".join, met), sep="\n")
