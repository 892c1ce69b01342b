"""Where the command line prints, whatever letters the terminal knows, and how it ends."""

import codecs
import os
import sys
import threading
import unicodedata

from rich.console import Console

from dp_bandit_envs.compiling.compiled import COMPILER

INTERRUPTED = 130
"""The exit code after Ctrl-C."""
console = Console()
errors = Console(stderr=True)


def write_any_letter() -> None:
    """Let standard output write letters that the terminal does not support without their accents."""
    codecs.register_error("dp-bandit", nearest)
    # Only stdout: stderr never raises for unknown characters. A handler that the user chose is kept.
    if getattr(sys.stdout, "errors", "") in ("strict", "surrogateescape") and hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="dp-bandit")


def leave_at_once(code: int) -> None:
    """Exit without waiting seconds for a background compilation."""
    if any(thread.name == COMPILER for thread in threading.enumerate()):
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    sys.exit(code)


def nearest(error: UnicodeError) -> tuple[str | bytes, int]:
    """Encode a character that the terminal does not support: a file name's bytes unchanged, others without accents.

    An error handler for `codecs.register_error`.
    """
    if not isinstance(error, UnicodeEncodeError):
        raise error
    letter, end = error.object[error.start], error.start + 1
    if "\udc80" <= letter <= "\udcff":
        return letter.encode("ascii", "surrogateescape"), end
    return unicodedata.normalize("NFKD", letter).encode("ascii", "ignore").decode("ascii") or "?", end
