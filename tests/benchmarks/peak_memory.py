"""Measures the peak memory of a simulation at three horizons, each in a fresh process."""

import re
import resource
import subprocess
import sys
from pathlib import Path

from tests.benchmarks.measuring import Line

HORIZONS = (2**14, 2**18, 2**22)
ALGORITHMS = ["EXP3", "DP-EXP3-Lap", "EXP3-tau"]


def lines() -> list[Line]:
    """Return two lines: below 1 GB at the longest horizon, and no more there than at the shortest."""
    simulate_in_fresh_process(HORIZONS[0])  # compile first, because compiling takes memory of its own
    peaks = [simulate_in_fresh_process(horizon) for horizon in HORIZONS]
    written = [f"{peak / 1e6:.0f} MB" for peak in peaks]
    note = f"2^14, 2^18, 2^22 rounds: {', '.join(written)}"
    return [
        Line("Peak memory, 3 algorithms, 2^22 rounds", written[-1], "", peaks[-1] / 1e6, 1000, " MB", True, note),
        # Storing the gains of all rounds would take 134 MB, so 1.05 allows only for variation of the allocator.
        Line("Peak memory, 2^22 rounds beside 2^14", written[-1], written[0], peaks[-1] / peaks[0], 1.05, at_most=True),
    ]


def simulate_in_fresh_process(horizon: int) -> int:
    """Return the peak memory in bytes of a process that simulates two trials."""
    command = [sys.executable, "-m", "tests.benchmarks.peak_memory", str(horizon)]
    return int(subprocess.run(command, check=True, capture_output=True, encoding="utf-8").stdout)


def peak_memory() -> int:
    """Return the peak memory of this process in bytes."""
    status = Path("/proc/self/status")
    if status.exists():
        # On Linux getrusage starts a process off with the peak of the process that started it.
        found = re.search(r"VmHWM:\s+(\d+) kB", status.read_text(encoding="utf-8"))
        assert found is not None
        return 1024 * int(found[1])
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


if __name__ == "__main__":
    from dp_bandit_envs import simulate

    simulate("DPBandit-Stochastic-v0", ALGORITHMS, horizon=int(sys.argv[1]), trials=2)
    print(peak_memory())
