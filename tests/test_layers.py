"""The layers of the design: imports go down only, nothing global is overwritten, nothing heavy is loaded early."""

import ast
import functools
import importlib
import inspect
import json
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import dp_bandit_envs
from tests.tools.refusals import refused

ROOT = Path(__file__).parents[1]
PACKAGE = "dp_bandit_envs"
# From the bottom up. Parts in one set must not know each other, but for the helpers at the bottom.
LAYERS = (
    {
        "errors",
        "checks",
        "arithmetic",
        "draws",
        "compiling",
        "seeding",
        "protocols",
        "observations",
        "optional",
        "text",
        "time_limit",
        "files",
        "data",
        "envs.rendering",  # frames and texts of what a board was told, which know no environment
    },
    {"privacy", "metrics", "graphs"},
    {"adversaries", "decisions", "theory", "plots"},
    {"envs", "agents", "wrappers"},
    {"algorithms"},
    {"simulation"},
    {"audits", "adapters", "runs"},
    {"conformance", "comparison"},
    {"course", "figures", "suite"},
    {"cli"},
)
MOST_FLOORS, MOST_ROOMS = 10, 27
"""A room is a folder; the single files at the bottom are one together."""
MAY_KNOW_EACH_OTHER = (0,)
LEVEL = {part: level for level, parts in enumerate(LAYERS) for part in parts}


def sources():
    """Yield (dotted name, path) of every module, with the two folders at the top level under their import names."""
    for folder, prefix in ((PACKAGE, PACKAGE), ("agents", f"{PACKAGE}.agents"), ("wrappers", f"{PACKAGE}.wrappers")):
        for path in sorted((ROOT / folder).rglob("*.py")):
            parts = path.relative_to(ROOT / folder).with_suffix("").parts
            yield ".".join([prefix, *(part for part in parts if part != "__init__")]), path


MODULES = dict(sources())


def typing_only(node):
    return isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING")


@functools.cache
def imports_of(path):
    """Return (module, names) of every import in a file that happens when the program runs, inside functions too."""
    return list(imports(ast.parse(path.read_text(encoding="utf-8"))))


def roots(path):
    """Return the packages that a file imports."""
    return {name.split(".")[0] for name, _ in imports_of(path)}


def imports(tree):
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute here"
            yield node.module, [alias.name for alias in node.names]
        elif isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, []
        elif not typing_only(node):
            yield from imports(node)


def imported_parts(path):
    """Yield the part of the package that each import of our own names, and the names taken from it."""
    for module, names in imports_of(path):
        if module == PACKAGE:
            for name in names or ["__init__"]:
                yield name if name in LEVEL else "__init__", [name]
        elif module.startswith(f"{PACKAGE}."):
            yield part_of(module), names


def part_of(module):
    """Return the part that a module belongs to, the smaller one if LAYERS names two."""
    parts = module.split(".")[1:3]
    if parts == ["__main__"]:
        return "cli"
    return ".".join(parts) if ".".join(parts) in LEVEL else parts[0] if parts else "__init__"


def test_every_part_has_a_layer_and_every_layer_its_parts():
    parts = {part_of(module) for module in MODULES} - {"__init__"}
    assert parts == set(LEVEL)
    assert len(MODULES) > 40
    rooms = {part for part in parts if Path(MODULES[f"{PACKAGE}.{part}"]).name == "__init__.py"}
    assert len(LAYERS) <= MOST_FLOORS
    assert len(rooms) + 1 <= MOST_ROOMS


def test_imports_go_down_only():
    wrong = [fault for module in MODULES if part_of(module) != "__init__" for fault in imports_upwards(module)]
    assert not wrong, "\n".join(wrong)


def imports_upwards(module):
    """Return a line for each import of a part that is not below the module's own."""
    own = part_of(module)
    for part, names in imported_parts(MODULES[module]):
        if part == "__init__":
            # The top of the package is above everything; only its version may be asked for.
            if names not in (["__init__"], ["__version__"]):
                yield f"{module} imports {names} from the top of the package"
        elif part != own:
            same = LEVEL[part] == LEVEL[own] and LEVEL[own] in MAY_KNOW_EACH_OTHER
            if not (LEVEL[part] < LEVEL[own] or same):
                yield f"{module} ({own}) imports {part}"


def circles(graph):
    """Return the sets of nodes that reach each other."""
    reached = {}
    for node in graph:
        reached[node], waiting = set(), [node]
        while waiting:
            new = graph[waiting.pop()] - reached[node]
            reached[node] |= new
            waiting += new
    return {frozenset(one for one in reached[node] if node in reached[one]) for node in graph} - {frozenset()}


def test_there_is_no_import_circle():
    graph = {}
    for module, path in MODULES.items():
        taken = [
            f"{origin}.{name}" if f"{origin}.{name}" in MODULES else origin
            for origin, names in imports_of(path)
            for name in names or [""]
        ]
        graph[module] = {one for one in taken if one in MODULES} - {module}
    found = [{module.rpartition(".")[2] for module in circle} for circle in circles(graph)]
    assert not found


def test_a_file_says_by_its_name_where_one_is():
    """An editor's tab shows the name only."""
    names = [path.name for path in MODULES.values() if path.name != "__init__.py"]
    assert not {name for name in names if names.count(name) > 1}


def test_the_top_of_the_package_loads_the_registration_only():
    assert list(imported_parts(MODULES[PACKAGE])) == [("envs", ["register"])]


@pytest.mark.parametrize("folder", ["agents", "wrappers"])
def test_agents_and_wrappers_never_know_an_environment_or_an_adversary(folder):
    """They know spaces and observations."""
    for module, path in MODULES.items():
        if part_of(module) == folder:
            assert not {part for part, _ in imported_parts(path)} & {"adversaries", "envs"}, module


def test_adversaries_mechanisms_and_metrics_do_not_know_gymnasium():
    """They are plain mathematics on arrays, of use outside of any environment."""
    for module, path in MODULES.items():
        if part_of(module) in ("adversaries", "privacy", "theory", "metrics"):
            assert not roots(path) & {"gymnasium", "numba", "matplotlib"}, module


def test_only_compiling_knows_numba():
    for module, path in MODULES.items():
        if part_of(module) != "compiling":
            assert "numba" not in roots(path), module


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


def test_an_id_needs_no_import_loads_nothing_heavy_and_is_registered_once():
    command = [sys.executable, "-W", "error", "-c", LOADED]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", cwd=ROOT / "tests")
    assert done.returncode == 0, done.stderr
    horizon, loaded, once = json.loads(done.stdout)
    assert horizon == 9 and once and PACKAGE in loaded
    assert not {*loaded} & {"numba", "torch", "matplotlib", "joblib", "rich", "typer", "scipy", "stable_baselines3"}


def test_an_unknown_name_is_an_attribute_error():
    with refused(AttributeError, "'dp_bandit_envs'", "'nothing'"):
        dp_bandit_envs.nothing  # noqa: B018 (looking it up is the test)


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
