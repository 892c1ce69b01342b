"""Which tests `make quick` leaves out: those that cost most, by name, in `tests/thorough.txt`; and slow cases of tests.

`python -m pytest -n 2 --junitxml=times.xml && python -m tests.tools.thorough times.xml` writes the list anew.
"""

import collections
import sys
from pathlib import Path
from xml.etree import ElementTree

LIST = Path(__file__).parents[1] / "thorough.txt"
SLOW = LIST.with_name("slow.txt")
SHARE = 0.94
"""Of the time of all tests; those that cost most are left out until the list takes this much."""


def names() -> list[str]:
    """Return the listed tests as pytest names them, without parameters."""
    return [line for line in LIST.read_text(encoding="utf-8").splitlines() if line and not line.startswith("#")]


def slow_cases() -> set[str]:
    """Return the single cases that only `make test-slow` runs, as pytest names them."""
    lines = SLOW.read_text(encoding="utf-8").splitlines()
    return {line for line in lines if line and not line.startswith("#")}


def function_of(node_id: str) -> str:
    """Return a test's name without its parameters."""
    return node_id.partition("[")[0]


def costly(report: Path) -> list[str]:
    """Return the tests that take `SHARE` of the time in a JUnit report, all cases of one test together."""
    seconds = collections.Counter()
    for case in ElementTree.parse(report).iter("testcase"):
        name = f"{case.get('classname', '').replace('.', '/')}.py::{function_of(case.get('name', ''))}"
        seconds[name] += float(case.get("time", 0))
    chosen, left = [], SHARE * seconds.total()
    for name, taken in seconds.most_common():
        if left <= 0:
            break
        chosen.append(name)
        left -= taken
    return sorted(chosen)


if __name__ == "__main__":
    head = [line for line in LIST.read_text(encoding="utf-8").splitlines() if line.startswith("#")]
    LIST.write_text("\n".join([*head, *costly(Path(sys.argv[1]))]) + "\n", encoding="utf-8")
