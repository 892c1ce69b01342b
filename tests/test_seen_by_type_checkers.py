"""After `make figure-1`, mypy in a user's own project sees the package that is installed for editing here."""

import subprocess
import sys
import venv
from pathlib import Path

import pytest

from tests.tools import editor_links

pytest.importorskip("mypy", reason="mypy is not installed; pip install -e '.[test]'")

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
    expected = {6: "arg-type", 7: "call-arg", 8: "call-arg", 9: "assignment"}
    found = errors(linked, tmp_path, {"right.py": MINE, "wrong.py": WRONG})
    assert found == {("wrong.py", line): code for line, code in expected.items()}


def test_links_lead_to_this_folder_and_are_made_anew(linked):
    links = linked / "dp_bandit_envs-links" / "dp_bandit_envs"
    seen = {path.relative_to(links).as_posix() for path in links.glob("*/*.py")}
    assert {"agents/exp3.py", "wrappers/boundary.py", "envs/bandit_env.py"} <= seen
    assert (links / "agents").resolve() == editor_links.ROOT / "agents"
    (site_packages,) = linked.glob("lib/python*/site-packages")
    (links / "old.py").symlink_to(Path("/nowhere"))
    editor_links.make_links(linked, site_packages)
    assert not (links / "old.py").is_symlink() and (editor_links.ROOT / "agents" / "exp3.py").exists()
