"""What a card looks like: ranks beside the package's algorithms, as text, as a table and as a picture."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from dp_bandit_envs import checks
from dp_bandit_envs.suite.reference import REFERENCE_SEED, RankedRow, SuiteReference, first_as_chance, reference
from dp_bandit_envs.suite.scores import NORMAL_95, axis_means, standard_error_of_total
from dp_bandit_envs.suite.task_table import AXES, CORE, LEVELS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ALL_AXES: Final = "all axes"
PRIVATE_LEVELS: Final = tuple(level for level in LEVELS if level is not None)
MOST_DOTS: Final = 3
BEST_SHOWN: Final = 3
"""How many of the package's algorithms are shown above and beside an agent."""
NAME_WIDTH: Final = 26


def level_in_words(level: float | None) -> str:
    """Return a level as tables show it."""
    return "none" if level is None else f"{level:g}"


def lines_of_ranking(
    totals: Sequence[Mapping[str, Any]], ranking: Sequence[RankedRow], axes: Sequence[str]
) -> list[str]:
    """Return the lines of one level: agents among the best of the package, and who is as good as chance.

    Args:
        totals: The totals of the card at this level.
        ranking: The package's algorithms at this level and size, the best first; empty where they have no ranks.
        axes: The axes that are shown.
    """
    chance = first_as_chance([(row.low, row.high) for row in ranking])
    rows: list[tuple[float, str]] = []
    for total in totals:
        rank = "" if total["rank"] is None else str((total["field"] or total)["rank"])
        interval = f"{total['total']:5.2f} [{total['low']:.2f}, {total['high']:.2f}]"
        rows.append((total["total"], _line(rank, "> " + total["agent"], interval, total["axes"], axes)))
    agents = {total["agent"] for total in totals}
    for row in [row for row in ranking[:chance] if row.name not in agents][:BEST_SHOWN]:
        interval = f"{row.total:5.2f} [{row.low:.2f}, {row.high:.2f}]"
        rows.append((row.total, _line(str(row.rank), "  " + row.name, interval, row.axes, axes)))
    lines = [line for _, line in sorted(rows, key=lambda pair: -pair[0])]
    if chance < len(ranking):
        first = ranking[chance]
        lines.append(
            f"{first.rank:>4}    from here on as good as chance: {len(ranking) - chance} of the package's"
            f" {len(ranking)} algorithms, {first.name} the first"
        )
    return lines


def _line(rank: str, name: str, interval: str, means: Mapping[str, float], axes: Sequence[str]) -> str:
    scores = "".join(f"{means[axis]:{len(axis) + 2}.2f}" if axis in means else " " * (len(axis) + 2) for axis in axes)
    return f"{rank:>4}  {name:<{NAME_WIDTH}}{interval:<20}{scores}".rstrip()


def head_of(level: float | None, axes: Sequence[str]) -> str:
    """Return the head of the lines of a level."""
    words = "no privacy" if level is None else f"epsilon = {level:g}"
    return f"rank  {words:<{NAME_WIDTH}}{'total':<20}" + "".join(f"  {axis}" for axis in axes)


# ---- the picture ---------------------------------------------------------------------------------------------------


def field_of(known: SuiteReference, size: str, level: float | None) -> dict[str, list[float]]:
    """Return by row of the picture the scores of all algorithms of the package that play the whole axis."""
    field: dict[str, list[float]] = {ALL_AXES: [row.total for row in known.ranking(size, level)]}
    for scores in known.scores(size, level).values():
        core = {task: score for task, score in scores.items() if task in CORE}
        for axis, mean in axis_means(core).items():
            if all(task in core for task in CORE if task.startswith(f"{axis}/")):
                field.setdefault(axis, []).append(float(mean))
    return field


def dots_of(
    scores: Mapping[str, float], errors: Mapping[str, float], total: tuple[float, float, float] | None
) -> dict[str, tuple[float, float, float]]:
    """Return by row of the picture a score and its 95 % interval.

    Args:
        scores: By task.
        errors: The standard errors of these scores.
        total: The total with its interval; None if not all tasks were played.
    """
    dots = {} if total is None else {ALL_AXES: total}
    core = {task: score for task, score in scores.items() if task in CORE}
    for axis, mean in axis_means(core).items():
        error = standard_error_of_total({task: errors[task] for task in core if task.startswith(f"{axis}/")})
        dots[axis] = (float(mean), mean - NORMAL_95 * error, mean + NORMAL_95 * error)
    return dots


def dots_of_reference(known: SuiteReference, name: str, size: str, level: float | None) -> dict[str, Any]:
    """Return the dots of an algorithm of the package; none if it plays nothing at this level."""
    scores, errors = known.scores(size, level).get(name, {}), known.errors(size, level).get(name, {})
    total = next(((row.total, row.low, row.high) for row in known.ranking(size, level) if row.name == name), None)
    return dots_of(scores, errors, total)


def picture_of_reference(
    names: Sequence[str],
    size: str = "quick",
    levels: Sequence[float | None] = PRIVATE_LEVELS,
    columns: int | None = None,
) -> "Figure":
    """Return the picture of at most three algorithms among all of the package."""
    known = reference()
    dots = {level: {name: dots_of_reference(known, name, size, level) for name in names} for level in levels}
    table = [["total (rank)", *(f"ε = {level_in_words(level)}" for level in dots)]]
    for name in names:
        ranked = [next((row for row in known.ranking(size, level) if row.name == name), None) for level in dots]
        table.append([name, *("" if row is None else f"{row.total:.2f} ({row.rank})" for row in ranked)])
    return picture(size, dots, table, columns)


def picture(
    size: str,
    dots: Mapping[float | None, Mapping[str, Mapping[str, tuple[float, float, float]]]],
    table: Sequence[Sequence[str]],
    columns: int | None = None,
) -> "Figure":
    """Return the picture of some agents at some levels, among the algorithms of the package if they have this size."""
    from dp_bandit_envs.plots.scores_figure import ScorePanel, scores_figure

    known = reference()
    panels = []
    for level, of_level in dots.items():
        field = field_of(known, size, level) if known.has(size) else {}
        shown = {name: rows for name, rows in of_level.items() if rows}
        panels.append(ScorePanel("no privacy" if level is None else f"ε = {level:g}", field, shown))
    present = {row for panel in panels for rows in panel.dots.values() for row in rows}
    rows = [row for row in (ALL_AXES, *AXES) if row in present]
    return scores_figure(panels, rows, field="the package's algorithms", table=table, columns=columns)


# ---- the reference alone -------------------------------------------------------------------------------------------


def lines_of_reference(size: str = "quick", axis: str | None = None) -> list[str]:
    """Return the best of the package by axis and level, as `dp-bandit suite` prints them.

    Args:
        size: The size.
        axis: One axis, of which all algorithms are shown; by default the three best of each.

    Raises:
        ResultsError: If the reference has no such size.
        UnknownNameError: If there is no such axis.
    """
    known = reference()
    known.of_size(size)
    axis = None if axis is None else checks.known_name("axis", axis, AXES)
    which = "The three best of the package" if axis is None else "The algorithms of the package"
    lines = [f"{which} by axis; size {size}, seed {REFERENCE_SEED}: 0 is chance, 1 the best without privacy."]
    for level in PRIVATE_LEVELS:
        lines += ["", f"epsilon = {level:g}"]
        for row in (ALL_AXES, *AXES) if axis is None else (axis,):
            best = best_of(known, size, level, row)
            named = [f"{name} {score:.2f}" for name, score in (best if axis else best[:BEST_SHOWN])]
            lines.append(f"  {row:<12} {', '.join(named)}")
    return lines


def best_of(known: SuiteReference, size: str, level: float | None, row: str) -> list[tuple[str, float]]:
    """Return the algorithms that play all tasks of an axis, or all tasks with arms, and their means, the best first."""
    if row == ALL_AXES:
        return [(ranked.name, ranked.total) for ranked in known.ranking(size, level)]
    means = []
    for name, scores in known.scores(size, level).items():
        core = {task: score for task, score in scores.items() if task in CORE and task.startswith(f"{row}/")}
        if len(core) == sum(task.startswith(f"{row}/") for task in CORE):
            means.append((name, float(axis_means(core)[row])))
    return sorted(means, key=lambda pair: -pair[1])
