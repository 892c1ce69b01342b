"""Packages with lazy public names, listed once in a stub next to `__init__.py` and imported on first use.

Type checkers and editors read the stub, `__init__.pyi`; at run time the package itself does, by `names_of_stub`.
"""

import ast
import difflib
import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any


def names_of_stub(package: str, file: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return a package's `__getattr__`, `__dir__` and `__all__`.

    Args:
        package: Its `__name__`.
        file: Its `__file__`. The stub is in the same folder, with a line `from module import Name as Name` for each
            module, and a line such as `__version__: str` for each name that `__init__.py` defines.
    """
    modules: dict[str, str] = {}
    names: list[str] = []
    for statement in ast.parse(Path(file).with_suffix(".pyi").read_text(encoding="utf-8")).body:
        if isinstance(statement, ast.ImportFrom) and statement.module is not None:
            modules |= {alias.name: statement.module for alias in statement.names}
        elif isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            names.append(statement.target.id)
    names = sorted([*names, *modules])

    def load(name: str) -> Any:
        if name in modules:
            return getattr(importlib.import_module(modules[name]), name)
        near = difflib.get_close_matches(name, modules, n=1)
        hint = f" Did you mean {near[0]}?" if near else f" It has {', '.join(names)}."
        raise AttributeError(f"module {package!r} has no attribute {name!r}.{hint}")

    return load, names.copy, names
