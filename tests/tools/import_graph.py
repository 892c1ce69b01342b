"""Which module of a package imports which, however the import is written, and which of them import each other."""

import ast
import functools


class ImportGraph:
    """The imports of a package that can happen when it runs: at the top of a file, in functions, by name, and lazily.

    `import_module` and `__import__` count with a name in quotes, also with one of which a part is known at run time
    only: that may be any module there. In a file that imports by a name from elsewhere, every dotted name of a module
    in quotes counts. A name that a package loads on first use, from the stub beside its `__init__.py`, is imported from
    the module that has it. What type checkers or Gymnasium import do not count: entry points, `module:Class`.

    Args:
        package: The name of the package.
        folders: The folder of the package, and of parts that are elsewhere, by the name under which they are imported.
    """

    def __init__(self, package, folders):
        self.package = package
        self.paths = {
            ".".join([prefix, *path.relative_to(folder).with_suffix("").parts]).removesuffix(".__init__"): path
            for prefix, folder in folders.items()
            for path in sorted(folder.rglob("*.py"))
        }
        self.stubs = {module: stub_of(path) for module, path in self.paths.items() if path.name == "__init__.py"}

    @functools.cached_property
    def imports(self):
        """(module, names) of every import, as it is written; names are empty for a whole module."""
        return {module: self._imports_of(module, path) for module, path in self.paths.items()}

    @functools.cached_property
    def edges(self):
        """The modules of the package that each module imports."""
        return {
            module: {target for origin, names in imports for target in self._targets(origin, names)} - {module}
            for module, imports in self.imports.items()
        }

    def _imports_of(self, module, path):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        return [*written_imports(tree), *((name, []) for name in self._by_name(tree, module))]

    def _by_name(self, tree, module):
        """Return the modules that a file imports by their names as text."""
        calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and is_import(node.func)]
        names = [text_of(call.args[0], module) for call in calls if call.args]
        if None in names:
            texts = [
                text_of(node, module) for node in ast.walk(tree) if isinstance(node, (ast.Constant, ast.JoinedStr))
            ]
            names += [text for text in texts if text and "." in text]
        found = set()
        for name in filter(None, names):
            found |= {one for one in self.paths if one == name or (name.endswith(".") and one.startswith(name))}
        return sorted(found - {module})

    def _targets(self, origin, names):
        """Return the modules of the package from which something is taken."""
        if origin not in self.paths:
            return set()
        modules = {f"{origin}.{name}" for name in names if f"{origin}.{name}" in self.paths}
        lazy = {name: self.stubs[origin][name] for name in names if name in self.stubs.get(origin, {})}
        taken = modules | {target for name, home in lazy.items() for target in self._targets(home, [name])}
        # A package whose module is imported runs, too, but takes nothing from it.
        return taken | ({origin} if len(modules) < len(names) or not names else set())

    def circles(self):
        """Return the sets of modules that import each other."""
        return circles(self.edges)


def written_imports(tree):
    """Yield (module, names) of every import statement, inside of functions too."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute here"
            yield node.module, [alias.name for alias in node.names]
        elif isinstance(node, ast.Import):
            yield from ((alias.name, []) for alias in node.names)
        elif not (isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING")):
            yield from written_imports(node)


def stub_of(path):
    """Return the modules of the names that a package loads on first use; none if it has no stub."""
    stub = path.with_suffix(".pyi")
    statements = ast.parse(stub.read_text(encoding="utf-8")).body if stub.exists() else []
    lines = [statement for statement in statements if isinstance(statement, ast.ImportFrom)]
    return {alias.name: line.module for line in lines for alias in line.names}


def is_import(function):
    """Whether a call imports the module of which its first argument is the name."""
    return ast.unparse(function).rpartition(".")[2] in ("import_module", "__import__")


def text_of(node, module):
    """Return a text, of one with unknown parts its beginning up to the last dot, or None."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None
    if not isinstance(node, ast.JoinedStr):
        return None
    text = ""
    for part in node.values:
        if isinstance(part, ast.Constant):
            text += part.value
        elif ast.unparse(part.value) == "__name__":
            text += module
        else:
            return text[: text.rfind(".") + 1] or None
    return text


def circles(graph):
    """Return the sets of nodes that reach each other."""
    reached = {}
    for node in graph:
        reached[node], waiting = set(), [node]
        while waiting:
            new = graph.get(waiting.pop(), set()) - reached[node]
            reached[node] |= new
            waiting += new
    sets = {frozenset(other for other in reached[node] if node in reached.get(other, ())) for node in graph}
    return sorted(map(sorted, sets - {frozenset()}))
