"""What the labs use of marimo, for their copies in Jupyter: texts, controls, and cells that wait for an answer.

A copy imports this module as `mo`. The controls are ipywidgets, and a cell reads them when it runs.
"""

import ast
import contextlib
import importlib
import inspect
import sys
from collections.abc import Iterable, Iterator, Mapping
from types import SimpleNamespace
from typing import Any

import ipywidgets
from IPython.core.getipython import get_ipython

from dp_bandit_envs.optional import installed

if installed("matplotlib"):
    from matplotlib.figure import Figure

ipython: Any = importlib.import_module("IPython.display")  # has no types
Html = ipython.HTML


class Stopped(BaseException):
    """A cell has ended itself, and shows `output` in place of all that it would have shown."""

    def __init__(self, output: Any) -> None:
        self.output = output


def stop(condition: Any, output: Any = None) -> None:
    """End the cell if a condition holds."""
    if condition:
        raise Stopped(output)


def md(text: str) -> Any:
    """Return a text."""
    return ipython.Markdown(inspect.cleandoc(text))


def show(thing: Any) -> None:
    """Show what a cell ends with."""
    if isinstance(thing, list):
        for each in thing:
            show(each)
    elif isinstance(thing, Figure):
        from dp_bandit_envs.plots.plot_style import as_bytes

        ipython.display(ipython.Image(as_bytes(thing, "png"), width=thing.get_figwidth() * 96))
    elif thing is not None:
        ipython.display(thing)


def vstack(items: Iterable[Any], **_: Any) -> list[Any]:
    """Return parts to show, one below the other."""
    return list(items)


hstack = vstack


def accordion(items: Mapping[str, Any]) -> list[Any]:
    """Return texts below their titles."""
    return [part for title, text in items.items() for part in (md(f"**{title}**"), text)]


WIDE = ipywidgets.Layout(width="max-content")


class Control:
    """A widget below its label, and its value."""

    def __init__(self, label: str, widget: Any) -> None:
        self.label, self.widget = label, widget

    @property
    def value(self) -> Any:
        """What is chosen now; several as a list."""
        return list(self.widget.value) if isinstance(self.widget.value, tuple) else self.widget.value

    def _ipython_display_(self) -> None:
        ipython.display(*([ipython.Markdown(self.label)] if self.label else []), self.widget)


def _slider(steps: list[Any], value: Any, label: str, **_: Any) -> Control:
    return Control(label, ipywidgets.SelectionSlider(options=steps, value=value))


def _radio(options: Any, value: Any = None, label: str = "") -> Control:
    return Control(label, ipywidgets.RadioButtons(options=list(options), value=value, layout=WIDE))


def _dropdown(options: Any, value: Any = None, label: str = "") -> Control:
    pairs = dict(options) if isinstance(options, Mapping) else {one: one for one in options}
    return Control(label, ipywidgets.Dropdown(options=list(pairs.items()), value=pairs[value]))


def _button(label: str = "", on_change: Any = None, **_: Any) -> Control:
    """Return a button that stays pressed, or, with `on_change`, one that does something each time."""
    if on_change is None:
        return Control("", ipywidgets.ToggleButton(description=label, layout=WIDE))
    pressed = ipywidgets.Button(description=label)
    pressed.on_click(on_change)
    return Control("", pressed)


ui = SimpleNamespace(
    slider=_slider,
    radio=_radio,
    dropdown=_dropdown,
    button=_button,
    run_button=_button,
    multiselect=lambda options, value, label: Control(label, ipywidgets.SelectMultiple(options=options, value=value)),
    switch=lambda value, label: Control(label, ipywidgets.Checkbox(value=value, indent=False)),
    text=lambda label, value: Control(label, ipywidgets.Text(value)),
)


def state(value: Any) -> tuple[Any, Any]:
    """Return functions that get and change a value."""
    held = [value]
    return lambda: held[0], lambda change: held.__setitem__(0, change(held[0]))


@contextlib.contextmanager
def _spinner(title: str) -> Iterator[None]:
    print(title)
    yield


status = SimpleNamespace(spinner=_spinner, progress_bar=lambda items, title: print(title) or items)
running_in_notebook = lambda: True  # noqa: E731


# ---- Cells that wait ----

_waiting: set[str] = set()


class Waits(ast.NodeTransformer):
    """Has each cell end quietly at `stop`, and where it needs a name of a cell that has ended so."""

    def visit_Module(self, node: ast.Module) -> ast.Module:
        """Return a cell's code inside a `try`; its last expression is shown."""
        if not node.body:
            return node
        if isinstance(last := node.body[-1], ast.Expr):
            name = ast.Attribute(ast.Name("_labs", ast.Load()), "show", ast.Load())
            last.value = ast.Call(name, [last.value], [])
        names = sorted(set(_defined(node)))
        frame: Any = ast.parse(f"try: 0\nexcept (_labs.Stopped, NameError) as _error: _labs.wait(_error, {names})")
        frame.body[0].body = node.body
        whole: ast.Module = ast.fix_missing_locations(frame)
        return whole


def _defined(node: ast.AST) -> Iterator[str]:
    """Yield the names that code defines, but for imports and what is inside functions."""
    for part in ast.iter_child_nodes(node):
        if isinstance(part, (ast.FunctionDef, ast.ClassDef)):
            yield part.name
        elif isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
            yield part.id
        elif not isinstance(part, ast.Lambda):
            yield from _defined(part)


def wait(error: BaseException, names: list[str]) -> None:
    """Show why a cell has nothing to show, and forget what it defined when it ran before."""
    if isinstance(error, NameError) and error.name not in _waiting:
        raise error
    show(error.output if isinstance(error, Stopped) else md("*This waits for a cell above.*"))
    for name in names:
        shell.user_ns.pop(name, None)
        _waiting.add(name)


shell: Any = get_ipython()
if shell is not None and "_labs" not in shell.user_ns:  # all later cells of this notebook wait
    shell.user_ns["_labs"] = sys.modules[__name__]
    shell.ast_transformers.append(Waits())
