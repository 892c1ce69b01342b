"""Calls a student's function and reads its answer; all errors become plain words.

A check is a function that raises `WrongAnswer` for a wrong answer and otherwise returns praise; `graded` turns either
into a `TaskVerdict`.
"""

import contextlib
import copy
import functools
import html
import inspect
import linecache
import math
import reprlib
import traceback
from collections.abc import Callable, Sequence
from decimal import Decimal
from numbers import Real
from typing import Any, Final, NamedTuple, ParamSpec, TypeAlias

import numpy as np

from dp_bandit_envs.errors import TooLongError
from dp_bandit_envs.time_limit import limited

Arguments = ParamSpec("Arguments")
Mistakes: TypeAlias = Sequence[tuple[Callable[..., Any], str]]
"""What students write instead of a right answer, and what to say about each."""


class TaskVerdict(NamedTuple):
    """Whether an answer is right, one or two sentences for the student, and the prefix of the box of a right answer."""

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
            f'<div role="status" class="verdict" style="border-left: 5px solid {colour}; background: {colour}22;'
            f' padding: .6em 1em; border-radius: 4px">'
            f"<b>{word}.</b> {html.escape(self.says)}</div>"
        )


class WrongAnswer(Exception):
    """An answer is wrong; its text explains why to the student."""


def graded(check: Callable[Arguments, str]) -> Callable[Arguments, TaskVerdict]:
    """Wrap a check so that it returns a `TaskVerdict`: passed with its words, or failed with `WrongAnswer`'s."""

    @functools.wraps(check)
    def checked(*args: Arguments.args, **kwargs: Arguments.kwargs) -> TaskVerdict:
        try:
            return TaskVerdict(True, check(*args, **kwargs))
        except WrongAnswer as wrong:
            return TaskVerdict(False, str(wrong))

    checked.__annotations__ = {**check.__annotations__, "return": TaskVerdict}
    return checked


LONG: Final = 60.0
"""Seconds for a check; the slowest check without compilation takes about five."""


def judged(check: Callable[..., TaskVerdict], *answers: Callable[[], Any], seconds: float = LONG) -> TaskVerdict:
    """Return the verdict of a check on the value of `answers`, such as `lambda: regret`; the name may be missing."""
    try:
        values = [answer() for answer in answers]
        with limited(seconds):
            return check(*values)
    except NameError as missing:
        says = "yet: give your answer this name, and look whether its cell has an error."
        return TaskVerdict(False, f"There is no `{missing.name}` {says}")
    except TooLongError:
        return TaskVerdict(
            False, f"After {seconds:g} seconds it is still at work, and was stopped. Is there a loop that never ends?"
        )


def call(function: Any, *arguments: Any) -> Any:
    """Call a student's function on copies of its arguments (except random generators); return its answer, or raise."""
    if function is None or function is ... or unwritten(function):
        raise WrongAnswer("There is no answer yet: write the function.")
    if not callable(function):
        raise WrongAnswer(f"This has to be a function; it is {kind(function)}. Give its name, without calling it.")
    try:
        answer = function(*map(copied, arguments))
        problem = "returns nothing (None). Is there a `return`?" if answer is None or answer is ... else ""
    except (Exception, SystemExit) as error:
        problem = f"stops with {failure(error)}."
    if not problem:
        return answer
    name = getattr(function, "__name__", "the function")
    shown_arguments = ", ".join(map(brief, arguments))
    with contextlib.suppress(ValueError):  # some functions in C have no signature
        try:
            inspect.signature(function).bind(*arguments)
        except TypeError as error:
            raise WrongAnswer(f"{name} cannot be called as {name}({shown_arguments}): {error}.") from None
    raise WrongAnswer(f"{name}({shown_arguments}) {problem}")


def unwritten(function: Any) -> bool:
    """Return whether a function's body is still `...` or empty."""
    code, nothing = getattr(function, "__code__", None), (lambda: None).__code__.co_code
    return code is not None and code.co_code == nothing and code.co_consts[-1] in (None, ...)


def copied(value: Any) -> Any:
    """Return a copy of an argument; random generators are handed on."""
    return value if isinstance(value, np.random.Generator) else copy.deepcopy(value)


def number(value: Any, what: str = "The answer") -> float:
    """Return an answer as a float; raise if it is missing, text, a truth value, an array, complex, nan or infinite."""
    if value is None or value is ...:
        raise WrongAnswer(f"{what} is missing: write a number.")
    array = plain(value)
    if array is None or array.ndim:
        raise WrongAnswer(f"{what} has to be one number; it is {kind(value)}.")
    real = float(array)
    if not math.isfinite(real):
        raise WrongAnswer(f"{what} has to be a finite number; it is {real}.")
    return real


def whole(value: Any, what: str = "The answer") -> int:
    """Return an answer as an int, or raise; a float such as 3.0 is accepted."""
    real = number(value, what)
    if not real.is_integer():
        raise WrongAnswer(f"{what} has to be a whole number; it is {real:g}.")
    return int(real)


def numbers(value: Any, shape: tuple[int, ...], what: str = "The answer") -> np.ndarray:
    """Return an answer as an array of finite floats of this shape, or raise."""
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
    """Return numbers as an array of floats; None for text, truth values, complex or ragged values."""
    try:
        array = np.asarray(value)
        exact = array.dtype == object and all(
            isinstance(cell, (Real, Decimal)) and not isinstance(cell, bool) for cell in array.flat
        )
        return array.astype(float) if exact or array.dtype.kind in "iuf" else None
    except (TypeError, ValueError, OverflowError):
        return None


def agree(answers: Any, right: Any, *, relative: float = 1e-6, absolute: float = 0.0) -> bool:
    """Return whether all answers are right, up to the rounding of floats."""
    return bool(np.allclose(answers, np.array(right, float), rtol=relative, atol=absolute))


def mistakes(arguments: str, table: str, **names: Any) -> Mistakes:
    """Return the mistakes of a table: each line has a formula, a bar, and a comment."""
    namespace = {"math": math, "np": np, **names}
    return [(eval(f"lambda {arguments}: {formula}", namespace), message) for formula, message in rows(table)]


def rows(table: str) -> list[list[str]]:
    """Return the cells of a text's lines, which bars divide."""
    return [row.split(" | ") for row in table.strip().splitlines()]


def refuse_mistakes(known_mistakes: Mistakes, cases: Sequence[Any], answers: Any, **close: float) -> None:
    """Raise `WrongAnswer` with the words about the first mistake that gives these answers."""
    for mistake, message in known_mistakes:
        if agree(answers, [mistake(*case) for case in cases], **close):
            raise WrongAnswer(message)


MORE: Final = 8
"""Number of drawn cases besides a check's fixed cases, so that a table of the latter fails."""


def check_formula(
    function: Any,
    right: Callable[..., Any],
    cases: Sequence[Any],
    draw: Callable[[np.random.Generator], tuple[Any, ...]],
    seed: int | None,
    *,
    known_mistakes: Mistakes,
    wrong: str | Callable[[Any, float, float], str],
    sides: tuple[str, str] = ("", ""),
    what: str = "The answer",
    rounded: str = "",
    partly: Sequence[tuple[Callable[..., bool], str]] = (),
    refuse_more: Callable[[Sequence[float], Sequence[float]], None] | None = None,
    **close: float,
) -> None:
    """Raise `WrongAnswer` unless a student's function agrees with `right`, in the fixed cases and in drawn ones.

    Args:
        function: The student's function.
        right: The right function.
        cases: Arguments of both.
        draw: Draws further arguments, which are tested once the fixed cases are right.
        seed: The seed of these; None for a fresh seed.
        known_mistakes: Mistakes in `cases`, with a comment on each.
        wrong: The default comment, as a function of a case, the answer and the right answer; or a text with
            placeholders {0}, {1}, ... for the case, {answer}, and {side} for an entry of `sides`.
        sides: Words for an answer that is too small, and too large.
        what: The name of an answer.
        rounded: The comment on a right but rounded answer; empty for none.
        partly: The comment on a function that is right under a condition on the case.
        refuse_more: Raises for answers and right answers that need their own comment.
        close: The tolerance, as in `agree`.
    """
    answers, wanted = [number(call(function, *case), what) for case in cases], [right(*case) for case in cases]
    good = [agree(answer, want, **close) for answer, want in zip(answers, wanted, strict=True)]
    if all(good):
        rng = np.random.default_rng(seed)
        for case in (draw(rng) for _ in range(MORE)):
            answer = number(call(function, *case), what)
            if not agree(answer, right(*case), **close):
                shown_case = ", ".join(map(brief, case))
                raise WrongAnswer(f"Right in some cases, but not in others: for ({shown_case}), {answer:g} is wrong.")
        return
    refuse_mistakes(known_mistakes, cases, answers, **close)
    if rounded and only_rounded(answers, wanted):
        raise WrongAnswer(f"It is right, but rounded: give it with all its digits. {rounded}")
    for condition, message in partly:
        if all(one for one, case in zip(good, cases, strict=True) if condition(*case)):
            raise WrongAnswer(message)
    if refuse_more is not None:
        refuse_more(answers, wanted)
    if min(wanted) > 0 >= min(answers):
        raise WrongAnswer(f"{what} has to be greater than 0; yours is {min(answers):g} in one case.")
    first = good.index(False)
    case, answer, want = cases[first], answers[first], wanted[first]
    if isinstance(wrong, str):
        raise WrongAnswer(wrong.format(*case, answer=answer, side=sides[answer > want]))
    raise WrongAnswer(wrong(case, answer, want))


def some_epsilon(rng: np.random.Generator) -> float:
    """Return a random epsilon from 0.05 to 4.5."""
    return round(float(np.exp(rng.uniform(-3, 1.5))), 4)


def some_number(rng: np.random.Generator, low: float, high: float) -> int:
    """Return a random whole number whose logarithm is uniform."""
    return int(np.exp(rng.uniform(math.log(low), math.log(high))))


def only_rounded(answers: Sequence[float], right: Sequence[float]) -> bool:
    """Return whether all of some wrong answers are right answers rounded to whole units, tenths, ... or millionths."""
    return any(
        all(
            abs(answer - wanted) < 1 / unit and math.isclose(answer * unit, round(answer * unit), abs_tol=1e-6)
            for answer, wanted in zip(answers, right, strict=True)
        )
        for unit in (1, 10, 100, 1_000, 10_000, 100_000, 1_000_000)
    )


def kind(value: Any) -> str:
    """Return the kind of a value, in words, such as `text ('1')` or `a list ([1, 2])`."""
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
    lines_of_student = [
        (frame.f_code.co_filename, line)
        for frame, line in frames
        if not frame.f_globals.get("__name__", "").startswith("dp_bandit_envs.")
        and "site-packages" not in frame.f_code.co_filename
    ]
    line = linecache.getline(*lines_of_student[-1]).strip() if lines_of_student else ""
    where = f", in the line `{line}`" if line else ""
    said = str(error).rstrip(".")
    return f"{type(error).__name__}{': ' if said else ''}{said}{where}"


DRAWING: Final = frozenset(name for name in dir(np.random.Generator) if name[0] != "_" and name != "laplace")
"""Requests that a script cannot answer."""


class ScriptedDraws(np.random.Generator):
    """Draws chosen by a check, to see how a student's function uses its `rng`; `scales` holds the requested scales.

    It replaces a NumPy generator whose only used method is `laplace`.

    Args:
        script: The draws in the order of the requests, in units of their scales.
        after: The draw after the end of the script, in units of its scale.
    """

    def __init__(self, script: Any = (), after: float = 0.0) -> None:
        super().__init__(np.random.SFC64(0))
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
        scripted = self._script[first : first + number]
        units[: len(scripted)] = scripted
        self.scales.extend(wide.ravel().tolist())
        drawn = np.asarray(loc) + units.reshape(wide.shape) * wide
        return drawn if drawn.ndim else float(drawn)

    def __deepcopy__(self, memo: Any) -> "ScriptedDraws":
        """Return the same draws: a check that passes copies still sees the requests."""
        return self

    def __getattribute__(self, name: str) -> Any:
        if name in DRAWING:
            raise AttributeError(f"this task needs rng.laplace(scale=...) only, not rng.{name}")
        return super().__getattribute__(name)
