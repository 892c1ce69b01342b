"""Measures the time of `import dp_bandit_envs`, and whether it imports slow libraries."""

import json
import statistics
import subprocess
import sys

from tests.benchmarks.measuring import Line

REPETITIONS = 7
SLOW = ("numba", "torch", "matplotlib")
PROGRAM = f"""
import json, sys, time
start = time.perf_counter()
import dp_bandit_envs
taken = time.perf_counter() - start
print(json.dumps([taken, [name for name in {SLOW} if name in sys.modules]]))
"""


def lines() -> list[Line]:
    """Return two lines: below 0.6 s, with none of the slow libraries."""
    runs = [import_in_fresh_process() for _ in range(REPETITIONS)]
    taken = statistics.median(run[0] for run in runs)
    loaded = sorted({name for run in runs for name in run[1]})
    return [
        Line("import dp_bandit_envs", f"{taken:.2f} s", "", taken, 0.6, " s", True),
        Line(f"... loads of {', '.join(SLOW)}", ", ".join(loaded) or "none", "", len(loaded), 0, "", True),
    ]


def import_in_fresh_process() -> tuple[float, list[str]]:
    """Return the seconds that the import took and which slow libraries it loaded."""
    output = subprocess.run([sys.executable, "-c", PROGRAM], check=True, capture_output=True, encoding="utf-8").stdout
    taken, loaded = json.loads(output)
    return taken, loaded
