"""The pages of docs/adapters/, whose code is run here and in tests/neighbours/."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = {path.stem: path for path in sorted((ROOT / "docs" / "adapters").glob("*.md"))}
NEEDS = {
    "cleanrl": "torch",
    "mabwiser": "mabwiser",
    "minari": "minari",
    "river": "river",
    "stable-baselines3": "stable_baselines3",
    "torchrl": "torchrl",
    "vowpal-wabbit": "vowpalwabbit",
}
"""The package that a page's code needs; the others need none."""


def run_page(name: str, folder: Path) -> str:
    """Run a page's blocks from top to bottom in one process, with warnings as errors; return what they print."""
    code = "\n\n".join(re.findall(r"^```python\n(.*?)^```", PAGES[name].read_text(encoding="utf-8"), re.S | re.M))
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], cwd=folder, capture_output=True, encoding="utf-8"
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
