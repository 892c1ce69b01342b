"""Builds the sdist and the wheel, and tries them on every Python of this machine: `make release`.

All of it happens outside the repository, with a clone of the last commit; the files to publish are copied to dist/.
A check that fails does not stop the others. `python -m tests.tools.release --no-tests` leaves the suites of tests out,
which take most of the time.
"""

import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

from tests.tools.pages import ROOT, blocks, lines

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
MINORS = [int(minor) for minor in re.findall(r"Python :: 3\.(\d+)", "\n".join(PROJECT["classifiers"]))]
"""The second numbers of the Pythons that the package is for."""
LIGHT = """
import importlib.metadata, gymnasium as gym
from dp_bandit_envs import Exp3, LaplaceClipRescale, make_algorithm, play
assert not {"numba", "scipy", "pandas"} & {each.name for each in importlib.metadata.distributions()}
env = gym.make("DPBandit-Stochastic-v0", horizon=500)
private = LaplaceClipRescale(gym.make("DPBandit-Stochastic-v0", horizon=500), epsilon=1.0)
for game, agent in ((env, make_algorithm("DP-EXP3-Lap")), (private, Exp3(exploration_rate=0.1))):
    assert len(play(game, agent, seed=3).arms) == 500
"""
NUMBERS = """
import hashlib
from dp_bandit_envs import simulate
digest = hashlib.sha256()
names = ["UCB", "EXP3", "KL-UCB", "TS", "DP-EXP3-Lap", "DP-KLUCB", "Batched-Lap-HTINF"]
for game in ("Stochastic", "Switching", "Oblivious"):
    for result in simulate(game, names, horizon=1000, trials=17, seed=1).values():
        digest.update(result.external_regret.tobytes() + result.pulls.tobytes())
print(digest.hexdigest())
"""
"""Plays 17 games of each pair: 16 side by side and one alone."""
FEATURES = "import numpy._core._multiarray_umath as core; print(','.join(core.__cpu_dispatch__))"
SMALL = ("reproduce figure-1 --trials 3 --horizon 500 --out figure-1", "suite --size tiny UCB")
LEFT = """
Left to a person:
- Pythons that are not on this machine: {missing}. Other systems: Windows, macOS, ARM.
- `make test-slow` on this commit, which takes an hour, and `python -m tests.mutations`, a quarter of one.
- The address of the repository, in place of <address> in docs/install.md, in [project.urls] of pyproject.toml, as
  repository-code in CITATION.cff, and before the README's links and pictures, which PyPI does not show otherwise; the
  private vulnerability report of its host switched on (SECURITY.md).
- The authors' names, in CITATION.cff, pyproject.toml and LICENSE.
- The day of the release, in CHANGELOG.md and CITATION.cff, if it is another one.
- git tag -a v{version}, and pushing the tag.
- An account on PyPI with the project's name: twine upload dist/*
- A DOI, for example of Zenodo, which archives the tag; then `doi:` in CITATION.cff.
"""
failures: list[str] = []


def python_of(minor: int) -> str | None:
    """Return a Python 3.`minor` on the path or from pyenv that can make virtual environments, or None."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    on_path = [shutil.which(f"python3.{minor}", path=folder) for folder in os.get_exec_path()]
    for python in [*map(str, sorted(pyenv.glob(f"3.{minor}.*/bin/python"))), *filter(None, on_path)]:
        # A shim of pyenv may stand for a version that is not there, and a system's Python may lack venv.
        asked = [python, "-c", "import ensurepip, sys; print(sys.version_info[1])"]
        done = subprocess.run(asked, capture_output=True, encoding="utf-8")
        if done.returncode == 0 and done.stdout.strip() == str(minor):
            return python
    return None


def check(what: str, *command: object, folder: Path, **settings: str) -> str:
    """Run a command in a folder, print whether it passed, and return the last line of its output."""
    print(f"{what} ...", end=" ", flush=True)
    environment = {**os.environ, **settings}
    environment.pop("PYTHONPATH", None)
    done = subprocess.run(
        [*map(str, command)], cwd=folder, env=environment, encoding="utf-8", stdout=-1, stderr=subprocess.STDOUT
    )
    last = (done.stdout.strip().splitlines() or [""])[-1]
    print("passed" if done.returncode == 0 else f"FAILED:\n{done.stdout[-3000:]}", f" {last}"[:100], flush=True)
    if done.returncode:
        failures.append(what)
    return last


def try_on_python(minor: int, interpreter: str, work: Path, tests: bool) -> dict[str, str]:
    """Install the wheel into a fresh environment, run the README there, and return digests of numbers by where."""
    name, empty, place = f"Python 3.{minor}", work / f"empty-3.{minor}", work / f"venv-3.{minor}"
    empty.mkdir()
    check(f"{name}: make an environment", interpreter, "-m", "venv", place, folder=empty)
    python, wheel = str(place / "bin" / "python"), next((work / "dist").glob("*.whl"))
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]

    check(f"{name}: install the wheel alone", *pip, wheel, folder=empty)
    check(f"{name}: play without Numba", python, "-W", "error", "-c", LIGHT, folder=empty)
    check(f"{name}: install the wheel with [all]", *pip, f"{wheel}[all]", folder=empty)
    readme = "\n".join(blocks("README.md", "python"))
    check(f"{name}: the README's Python", python, "-W", "error", "-c", readme, folder=empty)
    commands = [line.removeprefix("dp-bandit ") for line in lines("README.md", "dp-bandit ")]
    for line in (*commands, *SMALL):
        check(f"{name}: dp-bandit {line}", place / "bin" / "dp-bandit", *shlex.split(line), folder=empty)

    processors: dict[str, dict[str, str]] = {"this processor": {}}
    if sys.version_info[1] == minor:
        if platform.machine() == "x86_64":
            processors["AVX2"] = {"NUMBA_CPU_NAME": "haswell", "NUMBA_CPU_FEATURES": "+avx2"}
        features = check(f"{name}: NumPy's processors", python, "-c", FEATURES, folder=empty)
        generic = {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": "", "NPY_DISABLE_CPU_FEATURES": features}
        processors["generic code"] = generic
    settings = {"DP_BANDIT_ENVS_COMPILE": "always", "NUMBA_CACHE_DIR": str(work / "code")}
    digests = {
        (what := f"{name}: numbers, {processor}"): check(what, python, "-c", NUMBERS, folder=empty, **settings, **more)
        for processor, more in processors.items()
    }
    if tests and sys.version_info[1] != minor:  # for this Python, `make test` is more
        # Not beside the wheel, whose machine code stays in site-packages and hides what is installed with -e.
        place = work / f"tests-3.{minor}"
        check(f"{name}: make an environment for tests", interpreter, "-m", "venv", place, folder=empty)
        python = str(place / "bin" / "python")
        install = ["-m", "pip", "install", "--quiet", "-c", "constraints.txt", "-e", ".[all,test]"]
        check(f"{name}: install the tests", python, *install, folder=work / "clone")
        quick = ["-m", "pytest", "-q", "-n", "auto", "--dist", "loadfile", "-m", "not slow and not thorough"]
        check(f"{name}: quick tests", python, *quick, folder=work / "clone")
    return digests


def main(*options: str) -> None:
    """Build, try everything, and print what is left; exit with 1 if a check failed."""
    tests = "--no-tests" not in options
    if changed := subprocess.run(["git", "status", "--short"], cwd=ROOT, capture_output=True, text=True).stdout:
        sys.exit(f"a release is made of what is committed; commit or remove first:\n{changed}")
    with tempfile.TemporaryDirectory(prefix="release-") as folder:
        work = Path(folder)
        clone, dist = work / "clone", work / "dist"
        check("clone", "git", "clone", "--quiet", ROOT, clone, folder=work)
        check("build the sdist, and the wheel from it", sys.executable, "-m", "build", "--outdir", dist, folder=clone)
        check("twine check", sys.executable, "-m", "twine", "check", "--strict", *sorted(dist.iterdir()), folder=work)
        pythons = {minor: python_of(minor) for minor in MINORS}
        digests: dict[str, str] = {}
        for minor, python in pythons.items():
            if python:
                digests |= try_on_python(minor, python, work, tests)
        if len(set(digests.values())) > 1:
            failures.append("numbers equal to the bit: " + str(digests))
        for target in ("figure-1", "test", "test-lowest", "docs") if tests else ():
            check(f"make {target} in the clone", "make", target, f"PYTHON={sys.executable}", folder=clone)
        shutil.copytree(dist, ROOT / "dist", dirs_exist_ok=True)
    missing = ", ".join(f"3.{minor}" for minor, python in pythons.items() if not python) or "none"
    print(LEFT.format(missing=missing, version=PROJECT["version"]))
    print(f"{len(failures)} checks failed", *failures, sep="\n- ")
    sys.exit(bool(failures))


if __name__ == "__main__":
    main(*sys.argv[1:])
