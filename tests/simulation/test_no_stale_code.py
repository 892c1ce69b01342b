"""Compiled code is never older than its source: edit a copy of the package, run it again, and compare with `play`."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# Played with fixed seeds by both engines; the difference must be nothing, and the regret shows which code ran.
PROGRAM = """
import dp_bandit_envs, numpy as np, gymnasium as gym, sys
from dp_bandit_envs import make_algorithm, play, simulate
assert dp_bandit_envs.__file__.startswith(sys.argv[1]), dp_bandit_envs.__file__
algorithm = make_algorithm(sys.argv[2])
outcome = simulate("DPBandit-Stochastic-v0", [algorithm], horizon=400, checkpoints=400, seed=1)[algorithm.name]
assert outcome.engine == "compiled"
game = play(gym.make("DPBandit-Stochastic-v0", horizon=400), algorithm, seed=1)
assert np.array_equal(outcome.external_regret[0], game.external_regret), "stale"
print(",".join(map(str, game.arms)))
"""


class Copy:
    """A copy of the package with a cache of its own."""

    def __init__(self, folder):
        self.package = folder / "copy" / "dp_bandit_envs"
        self.cache = folder / "cache"
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / "dp_bandit_envs", self.package, ignore=ignored)
        for name in ("agents", "wrappers"):
            shutil.copytree(ROOT / name, self.package / name, ignore=ignored)

    def arms(self, algorithm):
        """Run the program above and return the arms played."""
        home = str(self.package.parent)
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM, home, algorithm],
            cwd=home,
            env={**os.environ, "PYTHONPATH": home, "NUMBA_CACHE_DIR": str(self.cache)},
            capture_output=True,
            encoding="utf-8",
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def edit(self, file, old, new):
        """Edit a source file; its length and time stamp are the same as before, as if by a careless tool."""
        path = self.package / file
        source, times = path.read_text(encoding="utf-8"), path.stat()
        assert source.count(old) == 1
        assert len(old) == len(new)
        path.write_text(source.replace(old, new), encoding="utf-8")
        # Python's own cache of byte code trusts the time stamp; Numba's must not need it.
        shutil.rmtree(path.parent / "__pycache__", ignore_errors=True)
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))

    def machine_code(self):
        """Return the files of compiled code with their contents' time stamps."""
        return {path.name: path.stat().st_mtime_ns for path in self.cache.rglob("*.nbc")}


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    return Copy(tmp_path_factory.mktemp("stale"))


def test_a_second_run_takes_everything_from_the_cache_and_an_edit_nothing_old(copy):
    """One story, because each compilation costs seconds: run, run again, edit the agent, edit the mechanism."""
    first = copy.arms("DP-EXP3-Lap")
    kept = copy.machine_code()
    assert len(kept) == 2  # the loop with EXP3, and what checks and adds up gains
    assert copy.arms("DP-EXP3-Lap") == first
    assert copy.machine_code() == kept

    # A constant in a helper that `update` calls: equation 2.1 with the exploration's share doubled.
    copy.edit("agents/exp3.py", "share + gamma / len(", "share + 2.0/1.0/len(")
    second = copy.arms("DP-EXP3-Lap")
    assert second != first

    # A constant in a helper of the loop itself.
    copy.edit("privacy/mechanisms/laplace_gains.py", "(width + 2.0 * state.bound)", "(width + 9.0 * state.bound)")
    third = copy.arms("DP-EXP3-Lap")
    assert third not in (first, second)

    # Undone, the first code is back, from the cache.
    number = len(copy.machine_code())
    copy.edit("privacy/mechanisms/laplace_gains.py", "(width + 9.0 * state.bound)", "(width + 2.0 * state.bound)")
    copy.edit("agents/exp3.py", "share + 2.0/1.0/len(", "share + gamma / len(")
    assert copy.arms("DP-EXP3-Lap") == first
    assert len(copy.machine_code()) == number


def test_an_edit_beneath_the_functions_is_noticed_and_one_of_a_comment_is_not(copy):
    """What generates machine code is code as well."""
    first = copy.arms("DP-EXP3-Lap")
    kept = copy.machine_code()
    copy.edit("compiling/intrinsics.py", "# mypy: disable-error-code", "# MYPY: disable-error-code")
    copy.edit("compiling/numba_functions.py", "# Loops over arms", "# LOOPS over arms")
    assert copy.arms("DP-EXP3-Lap") == first
    assert copy.machine_code() == kept
    copy.edit("compiling/intrinsics.py", "builder.add(counter, WORD(1))", "builder.add(WORD(1), counter)")
    assert copy.arms("DP-EXP3-Lap") == first
    assert len(copy.machine_code()) == len(kept) + 2


@pytest.mark.slow
def test_an_edit_of_a_constant_at_the_top_of_a_module_is_noticed(copy):
    before = copy.arms("HTINF")
    copy.edit("theory/adversarial_bounds.py", "Final = 1 - 2 ** (-1 / 3)", "Final = 9 - 2 ** (-1 / 3)")
    assert copy.arms("HTINF") != before
