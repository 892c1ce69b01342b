# mypy: disable-error-code="no-untyped-call"
"""Compiles a function that others inline: its code goes into theirs, and none of its own is made.

Numba optimises each function and makes machine code of it, also of those that are only ever inlined; that took a third
of the time of compiling. Below it, the compiler of the loops over lanes.
"""

from typing import Any

from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler


class _NoCode(JITCodeLibrary):
    """A module that other modules take in as it is, and optimise as a part of them; overrides Numba's methods."""

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        return 0

    @property
    def codegen(self) -> Any:
        return _NoEnvironments(self._codegen)


class _NoEnvironments:
    """Numba's code generator for a module without code, which has no globals in memory either."""

    def __init__(self, codegen: Any) -> None:
        self._codegen = codegen

    def __getattr__(self, name: str) -> Any:
        return getattr(self._codegen, name)

    def set_env(self, name: str, environment: Any) -> None:
        """Do nothing."""


class ForInlining(Compiler):
    """Numba's compiler, of functions that others inline."""

    def __init__(self, typing_context: Any, target_context: Any, library: Any, *rest: Any) -> None:
        super().__init__(typing_context, target_context, _NoCode(target_context.codegen(), "inlined"), *rest)


class _FullVectors(JITCodeLibrary):
    """A module whose loops may use the widest vector registers; LLVM's tuning for Intel takes 256 bits of 512."""

    def add_ir_module(self, ir_module: Any) -> None:
        for function in ir_module.functions:
            # llvmlite's own `add` knows no attributes with values; other processors ignore this one.
            set.add(function.attributes, '"prefer-vector-width"="512"')
        super().add_ir_module(ir_module)


class ForLanes(Compiler):
    """Numba's compiler, of loops over lanes."""

    def __init__(self, typing_context: Any, target_context: Any, library: Any, *rest: Any) -> None:
        super().__init__(typing_context, target_context, _FullVectors(target_context.codegen(), "lanes"), *rest)
