"""What the user decides about a messy file, checked before the file is read."""

import dataclasses
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal, TypeAlias, cast

from dp_bandit_envs import checks
from dp_bandit_envs.errors import WrongTypeError
from dp_bandit_envs.recorded_data.written_numbers import MISSING_NAMES, Decimal

Missing: TypeAlias = Literal["refuse", "drop"] | float
FROM_DATA: Final = ("auto", "data", "minmax", "min-max", "min,max", "range", "normalize", "normalise")
_UNSIGNED: Final = re.compile(r"\+?[\d.]+")
WHY_PUBLIC: Final = (
    "scale must be known without the data, such as 0,100 for a score from 0 to 100; received {!r}. The smallest and"
    " largest value in the data are somebody's outcomes: all clean gains would depend on them, which no noise for one"
    " record covers. Take the range from the questionnaire or the protocol."
)


@dataclasses.dataclass(frozen=True)
class Decisions:
    """The options of `clean`, checked.

    Attributes:
        worst: The outcome that becomes gain 0; None if gains are taken as they are.
        best: The outcome that becomes gain 1.
        missing: `"refuse"`, `"drop"`, or the gain that a missing outcome counts as.
        outside: What happens to gains outside [0, 1].
        unreadable: What happens to cells that are no number, and to lines of another number of cells.
        duplicates: Whether the second and later copies of a line are kept.
        decimal: The mark before decimals; None if nobody said it.
        values: Gains of outcomes that are words, by the word in lower case; before scaling.
        missing_codes: Spellings of a missing outcome, in lower case, beside the usual ones.
        most_per_person: Records of a person beyond this number are left out; None for no limit.
        arms_alike: Names of arms that stand for another, by the name in lower case; "" is a missing arm.
    """

    worst: float | None
    best: float
    missing: Missing
    outside: Literal["refuse", "drop", "clip"]
    unreadable: Literal["refuse", "drop"]
    duplicates: Literal["keep", "drop"]
    decimal: Decimal | None
    values: dict[str, float]
    missing_codes: frozenset[str]
    most_per_person: int | None
    arms_alike: dict[str, str]

    @property
    def missing_names(self) -> frozenset[str]:
        """Spellings of a missing arm or person: a code such as 99 is not, as it may be the number of one."""
        return MISSING_NAMES | {code for code in self.missing_codes if not _UNSIGNED.fullmatch(code)}


def decisions(
    *,
    scale: str | tuple[float, float] | None,
    missing: str | float,
    outside: str,
    unreadable: str,
    duplicates: str,
    decimal: str,
    values: Mapping[str, float] | str | None,
    missing_codes: Sequence[Any] | str,
    most_per_person: int | None,
    arms_alike: Mapping[str, str] | str | None,
) -> Decisions:
    """Return the options of `clean`, checked; see there.

    Raises:
        ValueError: If one is not among its choices.
    """
    if not isinstance(missing_codes, (str, Sequence)):
        raise WrongTypeError(f"missing_codes must be a list, such as [-99]; received a {type(missing_codes).__name__}.")
    worst, best = scale_of(scale)
    return Decisions(
        worst,
        best,
        _missing(missing),
        cast(Any, checks.one_of("outside", outside, ("refuse", "drop", "clip"))),
        cast(Any, checks.one_of("unreadable", unreadable, ("refuse", "drop"))),
        cast(Any, checks.one_of("duplicates", duplicates, ("keep", "drop"))),
        None if decimal == "auto" else cast(Any, checks.one_of("decimal", decimal, ("auto", "point", "comma"))),
        _values(values or {}),
        frozenset(
            str(code).strip().casefold()
            for code in (missing_codes.split(",") if isinstance(missing_codes, str) else missing_codes)
        ),
        None if most_per_person is None else checks.integer("most_per_person", most_per_person, at_least=1),
        _alike(arms_alike or {}),
    )


def scale_of(scale: Any) -> tuple[float | None, float]:
    """Return the worst and the best possible outcome.

    Args:
        scale: None, `"percent"`, a pair, or both as text, `"0,100"`.

    Raises:
        ValueError: If they are not two different numbers, or are to be taken from the data.
    """
    if scale is None:
        return None, 1.0
    if isinstance(scale, str):
        word = scale.strip().lower()
        if word == "percent":
            return 0.0, 100.0
        if word in FROM_DATA:
            raise ValueError(WHY_PUBLIC.format(scale))
        scale = word.split(",")
    try:
        worst, best = (float(end) for end in scale)
    except (TypeError, ValueError):
        worst = best = math.nan
    if not (math.isfinite(worst) and math.isfinite(best) and worst != best):
        raise ValueError(
            f"scale must be percent, or the worst and the best possible outcome, two different numbers such as 0,100;"
            f" received {scale!r}. Where less is better, as for days in hospital, begin with the larger: 30,0."
        )
    return worst, best


def _missing(missing: Any) -> Missing:
    if missing in ("refuse", "drop"):
        return cast(Missing, missing)
    try:
        gain = float(missing)
    except (TypeError, ValueError):
        gain = math.nan
    if isinstance(missing, bool) or not 0 <= gain <= 1:
        raise ValueError(
            f"missing must be refuse, drop, or the gain in [0, 1] that a missing outcome counts as; received"
            f" {missing!r}. Use drop, or 0 where no outcome means no success."
        )
    return gain


def _alike(arms_alike: Mapping[str, str] | str) -> dict[str, str]:
    try:
        pairs = (
            [part.split("=") for part in arms_alike.split(",")] if isinstance(arms_alike, str) else arms_alike.items()
        )
        return {" ".join(str(one).split()).casefold(): str(other).strip() for one, other in pairs}
    except (AttributeError, TypeError, ValueError):
        raise ValueError(
            "arms_alike must say which name stands for which, as in Plazebo=Placebo, or unbekannt= for none; what was"
            " given does not."
        ) from None


def _values(values: Mapping[str, float] | str) -> dict[str, float]:
    try:
        pairs: Any = [part.split("=") for part in values.split(",")] if isinstance(values, str) else values.items()
        numbers = {str(word).strip().casefold(): float(value) for word, value in pairs}
    except (AttributeError, TypeError, ValueError):
        numbers = {"": math.nan}
    if not all(math.isfinite(value) for value in numbers.values()):
        raise ValueError("values must say which number each word is, as in no=0,yes=1; what was given does not.")
    if len(numbers) < len(pairs):
        raise ValueError("values must say of each word once which number it is; one is there twice. Leave one out.")
    return numbers
