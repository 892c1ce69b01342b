# mypy: disable-error-code="no-untyped-call, no-untyped-def, attr-defined"
"""Compiles a plain function for NVIDIA's GPUs with numba-cuda: the same function that Numba compiles for the processor.

Bits: a GPU's compiler fuses a multiplication and an addition into one operation, which rounds once instead of twice, so
that other numbers come out. libNVVM's option `-fma=0` forbids it: all operations then carry the suffix `.rn`, which the
assembler must not fuse either. numba-cuda passes no such option on, so `unfused` adds it where numba-cuda calls NVVM;
`refuse_fused` looks at the result.

Nothing of this was ever run on a GPU: it was written and compiled on machines without one.
"""

import contextlib
import functools
import re
import warnings
from collections.abc import Callable, Iterator, Mapping
from types import ModuleType, SimpleNamespace
from typing import Any

from numpy.typing import NDArray

from dp_bandit_envs.errors import DeviceError
from dp_bandit_envs.optional import require

THREADS = 128
"""Threads in a block."""
FUSED = re.compile(r"\bfma\.rn\.f64\b|\b(?:mul|add|sub)\.f64\b")
"""Operations that are fused, or that the assembler may fuse."""


def target() -> ModuleType:
    """Return the module `numba.cuda` of numba-cuda, or raise an ImportError that says how to install it."""
    require("numba_cuda", extra="gpu")
    return require("numba.cuda", extra="gpu")


def check_there() -> None:
    """Raise a DeviceError if this machine has no GPU that numba-cuda can use."""
    cuda = target()
    if not cuda.is_available():
        # numba-cuda's words have several lines.
        why = " ".join(str(cuda.cuda_error() or "no device").split())
        raise DeviceError(f"device='cuda' needs an NVIDIA GPU and its driver; none was found ({why}) Use device='cpu'.")


def kernel_of(play: Callable[..., Any], parts: Mapping[str, Any], words: int) -> Callable[..., Any]:
    """Return a plain function in which every thread plays one game.

    Args:
        play: `simulation.game_alone.play_games`.
        parts: What replaces its placeholders, by name.
        words: The words of a game, which lie in the thread's own memory.
    """
    cuda = target()
    from dp_bandit_envs.compiling.numba_functions import LEAN, clone

    inner = cuda.jit(device=True)(clone(play, parts, tuple(LEAN.items())))

    def kernel(block, rounds, checkpoints, collected, switches, pulls, totals_at):
        game = cuda.grid(1)
        if game < block.shape[1]:
            own = cuda.local.array(words, cuda.int64)
            inner(block, own, game, game + 1, rounds, checkpoints, collected, switches, pulls, totals_at)

    return kernel


@functools.cache
def signature() -> tuple[Any, ...]:
    """Return the types of a kernel's arguments."""
    cuda = target()
    i8, f8 = cuda.int64, cuda.float64
    return (i8[:, ::1], i8, i8[::1], f8[:, ::1], i8[:, ::1], i8[:, :, ::1], f8[:, :, ::1])


class Kernel:
    """A kernel on this machine's GPU, compiled at once.

    Args:
        function: See `kernel_of`.

    Raises:
        DeviceError: If its operations were fused.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self._dispatcher = target().jit(lto=False)(function)
        with unfused():
            self._dispatcher.compile(signature())
            for compiled in self._dispatcher.overloads.values():
                refuse_fused(compiled.library.get_asm_str())

    def put(self, array: NDArray[Any]) -> Any:
        """Return a copy of an array in the GPU's memory."""
        return target().to_device(array)

    def get(self, array: Any) -> NDArray[Any]:
        """Return a copy of an array from the GPU's memory."""
        return array.copy_to_host()  # type: ignore[no-any-return]

    def __call__(self, threads: int, *arguments: Any) -> None:
        """Let so many threads run, and wait for them."""
        # Unfused here as well, should numba-cuda compile for other types than those above.
        with unfused(), warnings.catch_warnings():
            # That so few threads leave the GPU idle.
            warnings.simplefilter("ignore")
            self._dispatcher[-(-threads // THREADS), THREADS](*arguments)
        target().synchronize()


def code_for(function: Callable[..., Any], capability: tuple[int, int]) -> str:
    """Return the PTX of a kernel for GPUs of this compute capability, on a machine with or without one."""
    cuda = target()
    from numba.cuda import dispatcher

    # What asks for this machine's GPU, to compile the functions that a kernel calls for it.
    device = SimpleNamespace(compute_capability=capability)
    with _changed(dispatcher, "get_current_device", lambda: device), unfused():
        code, _ = cuda.compile(function, signature(), device=False, abi="numba", cc=capability)
    return str(code)


@contextlib.contextmanager
def unfused() -> Iterator[None]:
    """Compile without fused multiply-adds in this block."""
    target()
    from numba.cuda.cudadrv import nvvm

    with _changed(nvvm, "compile_ir", functools.partial(nvvm.compile_ir, fma=False)):
        yield


@contextlib.contextmanager
def _changed(module: ModuleType, name: str, value: Any) -> Iterator[None]:
    """Rebind a name of a module in this block."""
    before = getattr(module, name)
    setattr(module, name, value)
    try:
        yield
    finally:
        setattr(module, name, before)


def refuse_fused(code: str) -> None:
    """Raise if PTX has operations that are fused, or may be."""
    found = sorted(set(FUSED.findall(code)))
    if found:
        raise DeviceError(
            f"the GPU's code must round as the processor's does; NVVM wrote {', '.join(found)}. Use the version of"
            " numba-cuda in constraints.txt, or device='cpu'."
        )
