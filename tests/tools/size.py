"""Prints how many files and lines each room of the project has: `make size`."""

import subprocess
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[2]
OTHERS = ("tests", "examples", "docs")
"""Folders that are one room, whatever is in them."""


def room_of(path: Path) -> str:
    """Return the room of a file: a part of the package, or a folder at the top."""
    first, *others = path.parts
    if first in OTHERS or len(others) < 2:
        return first
    return f"{first}/{others[0]}"


def main() -> None:
    """Print a table of all rooms with Python files, the largest first, and the sum of the package's."""
    known = subprocess.run(["git", "ls-files", "*.py"], cwd=ROOT, capture_output=True, text=True, check=True)
    lines: Counter[str] = Counter()
    files: Counter[str] = Counter()
    for path in map(Path, known.stdout.split()):
        if (ROOT / path).exists():
            lines[room_of(path)] += len((ROOT / path).read_text(encoding="utf-8").splitlines())
            files[room_of(path)] += 1
    ours = [room for room in lines if room.split("/")[0] not in OTHERS]
    rows = [(room, lines[room], files[room]) for room in sorted(ours, key=lambda room: -lines[room])]
    rows.append(("all of the package", sum(lines[room] for room in ours), sum(files[room] for room in ours)))
    rows += [(room, lines[room], files[room]) for room in OTHERS]
    for name, of_lines, of_files in rows:
        print(f"{name:32s}{of_lines:8,d} lines{of_files:6,d} files")


if __name__ == "__main__":
    main()
