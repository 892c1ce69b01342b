"""Calls a student's function and reads its answer, so that anything that can go wrong becomes plain words.

A check is a function that raises `WrongAnswer` for what is wrong and returns the words of praise; `graded` makes a
`Verdict` of both.
"""

import copy
import functools
import html
import inspect
import linecache
import math
import reprlib
import traceback
from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from numbers import Real
from typing import Any, NamedTuple, ParamSpec, TypeAlias

import numpy as np

from dp_bandit_envs.protocols import FloatArray

Arguments = ParamSpec("Arguments")
Mistakes: TypeAlias = Sequence[tuple[Callable[..., Any], str]]
"""What students write instead of a right answer, and what to say about each."""


class Verdict(NamedTuple):
    """Whether an answer is right, and one or two sentences for the student.

    Args:
        passed: Whether the task is solved.
        says: What is wrong without the right answer, or what the right answer means.
        word: What the box of a right answer begins with.
    """

    passed: bool
    says: str
    word: str = "Right"

    def __bool__(self) -> bool:
        """Return whether the answer is right."""
        return self.passed

    def __str__(self) -> str:
        """Return the verdict as a line of text."""
        return f"{self.word if self.passed else 'Not yet'}. {self.says}"

    def _repr_html_(self) -> str:
        """Return the verdict as a box, for notebooks; readable on light and on dark pages."""
        colour, word = ("#2e8b57", html.escape(self.word)) if self.passed else ("#c77700", "Not yet")
        return (
            f'<div role="status" class="verdict" data-passed="{str(self.passed).lower()}" style="border-left: 5px solid'
            f' {colour}; background: {colour}22; padding: .6em 1em; border-radius: 4px">'
            f"<b>{word}.</b> {html.escape(self.says)}</div>"
        )


class WrongAnswer(Exception):
    """An answer is wrong; its text says why, to the student."""


def graded(check: Callable[Arguments, str]) -> Callable[Arguments, Verdict]:
    """Return a check that gives a `Verdict`: passed with the words returned, or failed with those of `WrongAnswer`."""

    @functools.wraps(check)
    def checked(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Verdict:
        try:
            return Verdict(True, check(*args, **kwargs))
        except WrongAnswer as wrong:
            return Verdict(False, str(wrong))

    checked.__annotations__ = {**check.__annotations__, "return": Verdict}
    return checked


def call(function: Any, *arguments: Any, **named: Any) -> Any:
    """Return what a student's function answers; it gets copies, so that changing its arguments changes nothing here.

    Random generators are no copies: each call draws new numbers.

    Args:
        function: What the student wrote; it need not be a function.
        arguments: What it is called with.
        named: What it is called with by name.

    Raises:
        WrongAnswer: If it cannot be called, raises, or returns nothing.
    """
    if function is None or function is ... or unwritten(function):
        raise WrongAnswer("There is no answer yet: write the function.")
    if not callable(function):
        raise WrongAnswer(f"This has to be a function; it is {kind(function)}. Give its name, without calling it.")
    try:
        answer = function(*map(copied, arguments), **{key: copied(value) for key, value in named.items()})
        problem = "returns nothing (None). Is there a `return`?" if answer is None or answer is ... else ""
    except (Exception, SystemExit) as error:
        problem = f"stops with {failure(error)}."
    if not problem:
        return answer
    name = getattr(function, "__name__", "the function")
    shown = ", ".join([*map(brief, arguments), *(f"{key}={brief(value)}" for key, value in named.items())])
    try:
        inspect.signature(function).bind(*arguments, **named)
    except TypeError as error:
        raise WrongAnswer(f"{name} cannot be called as {name}({shown}): {error}.") from None
    except ValueError:
        pass  # some functions in C do not say what they take
    raise WrongAnswer(f"{name}({shown}) {problem}")


def unwritten(function: Any) -> bool:
    """Return whether a function is still `...` alone, or has nothing else either."""

    def nothing() -> None: ...

    code = getattr(function, "__code__", None)
    return code is not None and code.co_code == nothing.__code__.co_code and code.co_consts[-1] in (None, ...)


def copied(value: Any) -> Any:
    """Return a copy of an argument, or the same random generator."""
    return value if isinstance(value, np.random.Generator) else copy.deepcopy(value)


def number(value: Any, what: str = "The answer") -> float:
    """Return an answer as a float.

    Args:
        value: What the student answered.
        what: Its name at the beginning of a sentence.

    Raises:
        WrongAnswer: If it is missing, text, a truth value, an array, complex, nan or infinite.
    """
    if value is None or value is ...:
        raise WrongAnswer(f"{what} is missing: write a number.")
    array = plain(value)
    if array is None or array.ndim:
        raise WrongAnswer(f"{what} has to be one number; it is {kind(value)}.")
    found = float(array)
    if not math.isfinite(found):
        raise WrongAnswer(f"{what} has to be a finite number; it is {found}.")
    return found


def whole(value: Any, what: str = "The answer") -> int:
    """Return an answer as an int; a float such as 3.0 will do.

    Raises:
        WrongAnswer: If it is no whole number.
    """
    found = number(value, what)
    if not found.is_integer():
        raise WrongAnswer(f"{what} has to be a whole number; it is {found:g}.")
    return int(found)


def numbers(value: Any, shape: tuple[int, ...], what: str = "The answer") -> np.ndarray:
    """Return an answer as an array of floats.

    Args:
        value: What the student answered: a list, a tuple or an array.
        shape: The shape it has to have.
        what: Its name at the beginning of a sentence.

    Raises:
        WrongAnswer: If it is missing, no array of numbers, of another shape, or has a nan or an infinite number.
    """
    if value is None or value is ...:
        raise WrongAnswer(f"{what} is missing: write {math.prod(shape)} numbers.")
    array = plain(value)
    if array is None:
        raise WrongAnswer(f"{what} has to be an array of numbers; it is {kind(value)}.")
    if array.shape != shape:
        raise WrongAnswer(f"{what} has to have the shape {shape}; it has {array.shape}.")
    if not np.isfinite(array).all():
        raise WrongAnswer(f"{what} has to be finite; it has {int((~np.isfinite(array)).sum())} entries that are not.")
    return array


def plain(value: Any) -> np.ndarray | None:
    """Return numbers as an array of floats, or None if they are something else: text, truth values, complex, ragged.

    Fractions and decimals are numbers.
    """
    try:
        array = np.asarray(value)
        exact = array.dtype == object and all(
            isinstance(each, (Real, Decimal)) and not isinstance(each, bool) for each in array.flat
        )
        return array.astype(float) if exact or array.dtype.kind in "iuf" else None
    except (TypeError, ValueError, OverflowError):
        return None


def agree(answers: Any, right: Any, *, relative: float = 1e-6, absolute: float = 0.0) -> bool:
    """Return whether all answers are the right ones, but for the rounding of floats."""
    return bool(np.allclose(answers, np.array(right, float), rtol=relative, atol=absolute))


def refuse_mistakes(
    mistakes: Mistakes, cases: Iterable[Sequence[Any]], answers: Any, *, relative: float = 1e-6, absolute: float = 0.0
) -> None:
    """Raise `WrongAnswer` with the words about the first mistake that gives these answers."""
    asked = list(cases)
    for mistake, words in mistakes:
        if agree(answers, [mistake(*case) for case in asked], relative=relative, absolute=absolute):
            raise WrongAnswer(words)


def only_rounded(answers: Sequence[float], right: Sequence[float]) -> bool:
    """Return whether all answers are the right ones, up or down to a whole number of units, tenths, ... or millionths.

    Answers that are as good as right are not rounded; ask about wrong ones only.
    """
    return any(
        all(
            abs(answer - wanted) < 1 / unit and math.isclose(answer * unit, round(answer * unit), abs_tol=1e-6)
            for answer, wanted in zip(answers, right, strict=True)
        )
        for unit in (1, 10, 100, 1_000, 10_000, 100_000, 1_000_000)
    )


def kind(value: Any) -> str:
    """Return what a value is, in words, such as `text ('1')` or `a list ([1, 2])`."""
    if isinstance(value, str):
        return f"text ({brief(value)})"
    if isinstance(value, (bool, np.bool_)):
        return f"a truth value ({value})"
    if callable(value):
        return f"a function ({getattr(value, '__name__', type(value).__name__)})"
    if isinstance(value, np.ndarray):
        return f"an array of shape {value.shape}"
    name = type(value).__name__
    return f"{'an' if name[0] in 'aeiou' else 'a'} {name} ({brief(value)})"


def brief(value: Any) -> str:
    """Return a value as text that fits into a sentence."""
    if isinstance(value, np.random.Generator):
        return "rng"
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, np.ndarray):
        value = value.tolist()
    return reprlib.repr(value)


def failure(error: BaseException) -> str:
    """Return an error in words, with the line of the student's code where it came up."""
    frames = traceback.walk_tb(error.__traceback__)
    own = [
        (frame.f_code.co_filename, line)
        for frame, line in frames
        if not frame.f_globals.get("__name__", "").startswith("dp_bandit_envs.")
        and "site-packages" not in frame.f_code.co_filename
    ]
    line = linecache.getline(*own[-1]).strip() if own else ""
    where = f", in the line `{line}`" if line else ""
    return f"{type(error).__name__}: {str(error).rstrip('.') or 'no words'}{where}"


class ScriptedDraws:
    """Draws that a check chooses, to see how a student's function uses its `rng`.

    It stands for a NumPy generator of which only `laplace` is used, and keeps the scales that were asked for.

    Args:
        script: The draws in the order in which they are asked for, in units of their scales; 0 after the last one.
        after: What follows the script, in units of their scales.

    Attributes:
        scales: The scale of each draw so far.
    """

    def __init__(self, script: Sequence[float] | FloatArray = (), after: float = 0.0) -> None:
        self._script, self._after = np.asarray(script, float), after
        self.scales: list[float] = []

    def laplace(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        """Return the next draws of the script as `numpy.random.Generator.laplace` would its own."""
        wide = np.asarray(scale, float)
        if not (wide >= 0).all():
            raise ValueError("scale < 0")
        shape = np.broadcast_shapes(np.shape(loc), wide.shape) if size is None else size
        wide = np.broadcast_to(wide, shape)
        first, number = len(self.scales), wide.size
        units = np.full(number, self._after)
        known = self._script[first : first + number]
        units[: len(known)] = known
        self.scales.extend(wide.ravel().tolist())
        drawn = np.asarray(loc) + units.reshape(wide.shape) * wide
        return drawn if drawn.ndim else float(drawn)

    def __deepcopy__(self, memo: Any) -> "ScriptedDraws":
        """Return the same draws: a check that hands out copies still sees what was asked for."""
        return self

    def __repr__(self) -> str:
        return "rng"

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"this task needs rng.laplace(scale=...) only, not rng.{name}")
