"""What `dp-bandit run` says where data are real: how commands are shown, and that a run cannot go on."""

import re
from pathlib import Path


def without_tables(text: str) -> str:
    """Return a command, or words of one, without the lists in it: they may be the gains themselves."""
    return re.sub(r"(?<==)[\[(].*[\])]", "[...]", text, flags=re.DOTALL)


def interrupted(out: Path) -> str:
    """Return what to print after Ctrl-C in a run with a secret seed."""
    return (
        f"\nInterrupted. The seed was secret and is gone, so this run cannot be continued. Delete {out}, or choose"
        " another folder with --out."
    )
