"""Digests of private data that only this user of this machine can compute, so that they can be stored.

A plain digest of data gives them away: who knows all records but one tries every value of that one.
"""

import contextlib
import functools
import hmac
import os
import secrets
from pathlib import Path
from typing import Final

KEY_BYTES: Final = 32


def private_digest(content: bytes) -> str:
    """Return the HMAC-SHA-256 of some content under this user's key, as hexadecimal digits."""
    return hmac.new(_key(), content, "sha256").hexdigest()


def key_file() -> Path:
    """Return where the key is: below XDG_DATA_HOME, LOCALAPPDATA on Windows, or .local/share in the home folder."""
    home = os.environ.get("XDG_DATA_HOME") or os.environ.get("LOCALAPPDATA") or Path.home() / ".local" / "share"
    return Path(home) / "dp-bandit-envs" / "private-digests.key"


@functools.cache
def _key() -> bytes:
    """Return the key, made at its first use; without a place to keep it, one for this process."""
    with contextlib.suppress(OSError, RuntimeError):
        path = key_file()
        path.parent.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(FileExistsError):
            # Another process that begins now reads a whole key or none.
            part = path.with_name(f"{path.name}.{os.getpid()}.partial")
            descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with os.fdopen(descriptor, "wb") as file:
                file.write(secrets.token_bytes(KEY_BYTES))
            try:
                os.link(part, path)
            finally:
                part.unlink()
        key = path.read_bytes()
        if len(key) == KEY_BYTES:
            return key
    return secrets.token_bytes(KEY_BYTES)
