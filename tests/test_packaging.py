"""Wheel and sdist play games in clean environments; mypy in a project of one's own sees an editable install."""

import os
import re
import subprocess
import sys
import tomllib
import venv
import zipfile

import pytest

import dp_bandit_envs
from tests.tools import editor_links
from tests.tools.release import MINORS, PROJECT, ROOT, python_of

GAME = """
import gymnasium as gym, dp_bandit_envs, pathlib
from dp_bandit_envs import Algorithm, Exp3, LaplaceClipRescale, make_algorithm, play, simulate
assert "site-packages" in dp_bandit_envs.__file__, dp_bandit_envs.__file__
env = LaplaceClipRescale(gym.make("DPBandit-Trial-v0"), epsilon=1.0)
game = play(env, make_algorithm("EXP3"), seed=3)
player = make_algorithm("EXP3").player
private = Algorithm("EXP3", Exp3, lambda env: LaplaceClipRescale(env, epsilon=1.0), player=player)
same = simulate("DPBandit-Trial-v0", [private], trials=1, seed=3)
assert game.external_regret[-1] == same["EXP3"].external_regret[0, -1]
assert pathlib.Path(dp_bandit_envs.__file__).with_name("py.typed").exists()
engine = simulate("DPBandit-Stochastic-v0", ["EXP3"], horizon=10_000, trials=10)["EXP3"].engine
print(len(game.arms), engine)
"""


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    source = tmp_path_factory.mktemp("source")
    # From a copy of what git knows, as setuptools leaves a folder "build" behind.
    files = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout.split(b"\0")
    for name in filter(None, files):
        path = ROOT / name.decode()
        if path.is_file():
            copy = source / name.decode()
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(path.read_bytes())
    return source


@pytest.fixture(scope="module")
def wheel(source, tmp_path_factory):
    target = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", target, source], check=True
    )
    return next(target.glob("*.whl"))


@pytest.fixture(scope="module")
def sdist(source, tmp_path_factory):
    backend, target = tmp_path_factory.mktemp("backend"), tmp_path_factory.mktemp("sdist")
    requires = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["build-system"]["requires"]
    subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--target", backend, *requires], check=True)
    build = f"import setuptools.build_meta; setuptools.build_meta.build_sdist({str(target)!r})"
    environment = {**os.environ, "PYTHONPATH": str(backend)}
    subprocess.run([sys.executable, "-c", build], cwd=source, env=environment, capture_output=True, check=True)
    return next(target.glob("*.tar.gz"))


def test_all_files_name_the_same_version_and_day():
    citation, changelog = ((ROOT / name).read_text(encoding="utf-8") for name in ("CITATION.cff", "CHANGELOG.md"))
    version, day = (re.search(rf"^{key}: (.+)$", citation, re.MULTILINE)[1] for key in ("version", "date-released"))
    assert version == PROJECT["version"] == dp_bandit_envs.__version__
    assert re.search("^## (.+)$", changelog, re.MULTILINE)[1] == f"{version} ({day})"


@pytest.mark.thorough
def test_the_wheel_has_one_top_level_package_and_all_of_it(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.split("/")[0] for name in names if ".dist-info" not in name} == {"dp_bandit_envs"}
    for folder, inside in (("dp_bandit_envs", ""), ("agents", "agents/"), ("wrappers", "wrappers/")):
        for path in [*(ROOT / folder).rglob("*.py"), *(ROOT / folder).rglob("*.pyi")]:
            assert f"dp_bandit_envs/{inside}{path.relative_to(ROOT / folder).as_posix()}" in names
    assert "dp_bandit_envs/data/actg175.csv" in names
    assert "dp_bandit_envs/labs/counters.py" in names
    assert not [name for name in names if "solutions" in name or "teacher" in name]


@pytest.mark.thorough
def test_a_game_can_be_played_from_the_wheel_in_a_clean_environment(wheel, tmp_path):
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "env"], check=True)
    python = tmp_path / "env" / "bin" / "python"
    # One game imports a part of what is installed; compiling all of it would take longer than the rest.
    install = ["-m", "pip", "--python", python, "install", "--quiet", "--no-compile", wheel]
    subprocess.run([sys.executable, *install], check=True)
    done = subprocess.run([python, "-c", GAME], cwd=tmp_path, capture_output=True, encoding="utf-8")
    assert done.returncode == 0, done.stderr
    # Without extras there is no Numba, and games are played.
    assert done.stdout.split() == ["2139", "play"]


@pytest.mark.slow
@pytest.mark.parametrize("minor", MINORS)
def test_games_can_be_compiled_from_the_sdist_on_each_python(sdist, tmp_path, minor):
    python = python_of(minor)
    if python is None:
        pytest.skip(f"there is no Python 3.{minor} here")
    subprocess.run([python, "-m", "venv", tmp_path / "env"], check=True)
    python = tmp_path / "env" / "bin" / "python"
    install = [python, "-m", "pip", "install", "--quiet", "--no-compile", f"{sdist}[all]"]
    subprocess.run(install, check=True)
    done = subprocess.run([python, "-c", GAME], cwd=tmp_path, capture_output=True, encoding="utf-8")
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["2139", "lanes"]
    version = subprocess.run([python, "--version"], capture_output=True, check=True).stdout
    assert version.startswith(f"Python 3.{minor}.".encode())


MINE = """
import gymnasium as gym
from dp_bandit_envs import LaplaceClipRescale, play
from dp_bandit_envs.agents import Ucb
from dp_bandit_envs.privacy import PrivacyGuarantee
from dp_bandit_envs.wrappers import vector

env = LaplaceClipRescale(gym.make("DPBandit-Trial-v0"), epsilon=1.0)
vector.LaplaceClipRescale(gym.make_vec("DPBandit-Trial-v0"), epsilon=1.0)
print(play(env, Ucb()).arms)
"""
WRONG = """
import gymnasium as gym
from dp_bandit_envs import LaplaceClipRescale
from dp_bandit_envs.agents import Ucb
from dp_bandit_envs.privacy import PrivacyGuarantee

LaplaceClipRescale(gym.make("DPBandit-Trial-v0"), epsilon="one")
LaplaceClipRescale(gym.make("DPBandit-Trial-v0"), epsiln=1.0)
Ucb().select_arm("left")
guarantee: PrivacyGuarantee = "epsilon = 1"
"""


@pytest.fixture(scope="module")
def linked(tmp_path_factory):
    """Return an environment as the Makefile sets it up, and its Python; other packages are those of this one."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, symlinks=True)
    (site_packages,) = folder.glob("lib/python*/site-packages")
    (site_packages / "others.pth").write_text("\n".join(path for path in sys.path if path.endswith("-packages")))
    editor_links.make_links(folder, site_packages)
    return folder


def errors(linked, folder, programs):
    """Return the codes of mypy's errors by program and line."""
    for name, program in programs.items():
        (folder / name).write_text(program, encoding="utf-8")
    mypy = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "--cache-dir", folder / "cache", *programs]
    done = subprocess.run([*mypy, "--python-executable", linked / "bin" / "python"], cwd=folder, capture_output=True)
    lines = [line.split(":") for line in done.stdout.decode().splitlines() if ": error: " in line]
    assert done.returncode in (0, 1) and not done.stderr, done.stderr
    return {(line[0], int(line[1])): line[-1].rpartition("[")[2].rstrip("]") for line in lines}


@pytest.mark.slow
def test_wrong_arguments_are_errors_and_right_ones_are_not(linked, tmp_path):
    """Both programs in one run of mypy, which takes half a minute without a cache."""
    pytest.importorskip("mypy", reason="mypy is not installed; pip install -e '.[test]'")
    expected = {7: "arg-type", 8: "call-arg", 9: "call-arg", 10: "assignment"}
    found = errors(linked, tmp_path, {"right.py": MINE, "wrong.py": WRONG})
    assert found == {("wrong.py", line): code for line, code in expected.items()}


def test_links_lead_to_this_folder_and_are_made_anew(linked):
    links = linked / "dp_bandit_envs-links" / "dp_bandit_envs"
    seen = {path.relative_to(links).as_posix() for path in links.glob("*/*.py")}
    assert {"agents/exp3.py", "wrappers/boundary.py", "envs/bandit_env.py"} <= seen
    assert (links / "agents").resolve() == editor_links.ROOT / "agents"
    (site_packages,) = linked.glob("lib/python*/site-packages")
    (links / "old.py").symlink_to("/nowhere")
    editor_links.make_links(linked, site_packages)
    assert not (links / "old.py").is_symlink() and (editor_links.ROOT / "agents" / "exp3.py").exists()
