"""Caches compiled functions on disk; a damaged cache file only means that its function is compiled again."""

import contextlib
import hashlib
import os
import pickle
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

from numba.core.caching import FunctionCache
from numba.core.serialize import dumps

from dp_bandit_envs.compiling.announcing import about_to_compile
from dp_bandit_envs.compiling.loading import MissingCodeError, only_loads

DIGEST_BYTES = hashlib.sha256().digest_size


class MachineCode(FunctionCache):
    """One file for each fingerprint, signature and processor: a SHA-256 digest, then the code it belongs to.

    Numba's own cache raises, or kills the process, when one of its files is damaged (after a power cut, on a full disk,
    by a flipped bit); and it numbers its entries, so that of two processes that compile at once, one can load the
    other's code.

    Args:
        function: The function; its module determines the folder, as in Numba.
        key: The fingerprint of everything that determines the machine code.

    Raises:
        RuntimeError, OSError: If there is no writable folder.
    """

    def __init__(self, function: Callable[..., Any], key: str) -> None:
        super().__init__(function)  # type: ignore[no-untyped-call]
        self._key = key

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the compiled function, or None if there is no intact file."""
        loaded = self._loaded(sig, target_context)
        if loaded is None and only_loads():
            raise MissingCodeError
        if loaded is None:
            about_to_compile()
        return loaded

    def _loaded(self, sig: Any, target_context: Any) -> Any:
        target_context.refresh()
        try:
            content = self._file(sig, target_context.codegen()).read_bytes()
            digest, code = content[:DIGEST_BYTES], content[DIGEST_BYTES:]
            if hashlib.sha256(code).digest() != digest:
                return None
            return self._impl.rebuild(target_context, pickle.loads(code))
        except Exception:
            # Compiling again is always right, whatever the reason.
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Write the compiled function; where that fails, the next process compiles it again."""
        with contextlib.suppress(Exception):
            if not self._impl.check_cachable(data):
                return
            self._impl.locator.ensure_cache_path()
            code = dumps(self._impl.reduce(data))  # type: ignore[no-untyped-call]
            file = self._file(sig, data.codegen)
            partial = file.with_name(f"{file.name}.{uuid.uuid4().hex}")
            try:
                partial.write_bytes(hashlib.sha256(code).digest() + code)
                os.replace(partial, file)
            finally:
                partial.unlink(missing_ok=True)

    def _file(self, sig: Any, codegen: Any) -> Path:
        entry = hashlib.sha256(repr((self._key, sig, codegen.magic_tuple())).encode()).hexdigest()
        return Path(self._cache_path) / f"{self._impl.filename_base}-{entry[:32]}.nbc"
