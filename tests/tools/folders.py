"""What is in a folder, as a test compares it."""

import hashlib
from pathlib import Path


def files(folder: Path) -> dict[str, str]:
    """Return the digest of every file below a folder, by its path there; bytes are slow to show where they differ."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in paths}
