"""Compiles an algorithm's plain functions with Numba and caches the machine code until its source changes.

Numba's own cache does not notice an edit in another file, so it would silently play an old version of an algorithm.
Here the key of an entry is a fingerprint of the function and of everything it calls.

Numba is loaded when something is compiled, not with this module: it may be missing.
"""

import contextlib
import functools
import hashlib
import importlib
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from dp_bandit_envs.compiling.background import Stopped, in_background
from dp_bandit_envs.compiling.fingerprint import add, fingerprint, is_ours
from dp_bandit_envs.compiling.keeping import as_it_is_now, reached
from dp_bandit_envs.compiling.loading import MissingCodeError
from dp_bandit_envs.optional import installed

FAST = "pip install 'dp-bandit-envs[fast]'"
"""What installs Numba."""

MOST_SHARED = 256
"""The number of compiled functions of other people's that are kept for equal ones."""
_shared: "OrderedDict[bytes, tuple[Compiled, list[Any]]]" = OrderedDict()
"""By content, the last used last; with the objects that the content names by identity, so that they stay alive."""
_sharing = threading.Lock()


def compile_with(function: Callable[..., Any], replacements: Mapping[str, Callable[..., Any]]) -> "Compiled":
    """Compile `function` with some of the functions it calls replaced.

    Args:
        function: A plain function; it runs without the interpreter's lock once compiled.
        replacements: Plain functions to which global names in it are rebound.

    Returns:
        The compiled function, with the values that its parts use now. Its machine code is cached on disk if all parts
        belong to this package. If not, equal functions get the same compiled one: those of a notebook are unpickled
        again for each simulation in a worker.
    """
    parts = dict(replacements)
    if all(map(is_ours, reached(function, parts, set()))):
        return Compiled(function, parts)
    objects: list[Any] = []
    digest = hashlib.sha256()
    add(function, parts, digest, {}, objects)
    with _sharing:
        key = digest.digest()
        compiled, objects = _shared.pop(key) if key in _shared else (Compiled(function, parts), objects)
        _shared[key] = compiled, objects
        if len(_shared) > MOST_SHARED:
            _shared.popitem(last=False)
    return compiled


def obstacle() -> str:
    """Return why nothing can be compiled in this process; empty if Numba is there and not switched off."""
    if missing():
        return missing()
    from dp_bandit_envs.compiling.numba_functions import switched_off

    return "NUMBA_DISABLE_JIT is set" if switched_off() else ""


@functools.cache
def missing() -> str:
    """Return why Numba is not there, and what installs it; empty if it is there."""
    if not installed("numba"):
        return f"numba, which compiles, is not installed: {FAST}"
    try:
        # Not in this thread: Ctrl-C would leave half of Numba, which a second import does not mend.
        in_background(_load)
    except ImportError as error:  # as of a Numba that is older than NumPy
        return f"numba, which compiles, cannot be imported ({error}): {FAST}"
    return ""


def _load(stopped: Stopped) -> None:
    importlib.import_module("numba")
    importlib.import_module("dp_bandit_envs.compiling.numba_functions")


class Compiled:
    """A function that is compiled at its first call, without Numba's runtime if it allocates no arrays."""

    _without: ClassVar = {"no_cfunc_wrapper": True}
    """Numba's options for the ways to call it that nobody uses: compiling them takes time."""

    def __init__(self, function: Callable[..., Any], replacements: dict[str, Callable[..., Any]]) -> None:
        self._function = function
        self._replacements = replacements
        foreign = [part for part in reached(function, replacements, set()) if not is_ours(part)]
        self.foreign = sorted(foreign, key=lambda part: (part.__name__, part.__qualname__))
        """The functions that it calls from outside of this package."""
        if foreign:
            # Compiled at the first call for each signature, perhaps after what they use has changed.
            self._function, self._replacements = as_it_is_now(function, replacements), {}
        self._lean = True

    def __call__(self, *arguments: Any) -> Any:
        """Call the function; the first call for each signature compiles it or loads it from disk."""
        if not self._lean:
            return self._dispatcher(*arguments)
        from numba.core.errors import NumbaError

        try:
            return self._dispatcher(*arguments)
        except (NumbaError, MissingCodeError):
            # Raised while compiling or loading, so nothing has run yet.
            allocating = self._made(lean=False)
            returned = allocating(*arguments)
            self._dispatcher, self._lean = allocating, False
            return returned

    @property
    def ready(self) -> bool:
        """Whether it has been compiled or loaded here."""
        return "_dispatcher" in vars(self) and bool(self._dispatcher.signatures)

    @property
    def kept_on_disk(self) -> bool:
        """Whether its machine code is cached for other processes."""
        from dp_bandit_envs.compiling.machine_code import MachineCode

        return isinstance(self._dispatcher._cache, MachineCode)

    @functools.cached_property
    def _dispatcher(self) -> Any:
        return self._made(lean=True)

    def _compiler(self) -> dict[str, Any]:
        """Return Numba's option that names a compiler, if it is not Numba's own."""
        return {}

    def _made(self, *, lean: bool) -> Any:
        import numba

        from dp_bandit_envs.compiling.machine_code import MachineCode
        from dp_bandit_envs.compiling.numba_functions import LEAN, OPTIONS, clone

        options = LEAN if lean else OPTIONS
        ours = not self.foreign
        if not ours:
            # A third party's function must not read outside of its arrays, and divides as Python does.
            options = {**options, "boundscheck": True, "error_model": "python"}
        copy = clone(self._function, self._replacements, tuple(options.items()))
        key = fingerprint(self._function, self._replacements) + ("-lean" if lean else "") if ours else ""
        # Machine code from disk is found by its name, which Numba numbers by process: by content no two are alike.
        copy.__qualname__ += f"_{key[:12]}"
        dispatcher = numba.njit(**options, **self._compiler())(copy)
        dispatcher.targetoptions |= self._without
        if ours:
            # Without a folder to write to, as in a read-only container, every process compiles for itself.
            with contextlib.suppress(RuntimeError, OSError):
                dispatcher._cache = MachineCode(copy, key)
        return dispatcher


class CompiledAt(Compiled):
    """A loop over lanes, called at its address by machine code; without what calls it from Python, it compiles faster.

    It must return nothing and allocate no arrays.
    """

    _without: ClassVar = {**Compiled._without, "no_cpython_wrapper": True}

    def _compiler(self) -> dict[str, Any]:
        from dp_bandit_envs.compiling.inlining import ForLanes

        return {"pipeline_class": ForLanes}

    def __call__(self, *arguments: Any) -> Any:
        """Raise: there is no code for it."""
        raise TypeError(f"{self._function.__name__} is called by machine code only; use address.")

    def address(self, *arguments: Any) -> int:
        """Compile it for arguments of these types, or load it from disk; return the address for `built_in.call_at`."""
        from numba import typeof, types

        result = self._dispatcher.get_compile_result(types.none(*map(typeof, arguments)))
        return int(result.library.get_pointer_to_function(result.fndesc.llvm_func_name))
