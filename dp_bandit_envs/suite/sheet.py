"""The presentation of a card: ranks among the package's algorithms, as text, as a table and as a picture."""

import itertools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from dp_bandit_envs import checks
from dp_bandit_envs.suite.reference import REFERENCE_SEED, RankedRow, SuiteReference, first_as_chance, reference
from dp_bandit_envs.suite.scores import NORMAL_95, axis_means, standing_of
from dp_bandit_envs.suite.task_table import AXES, CORE, LEVELS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ALL_AXES: Final = "all axes"
PRIVATE_LEVELS: Final = tuple(level for level in LEVELS if level is not None)
MOST_DOTS: Final = 3
BEST_SHOWN: Final = 3
"""How many of the package's algorithms are shown above and beside an agent."""
NAME_WIDTH: Final = 26
CHANCE: Final = ", no better than chance"


def level_in_words(level: float | None) -> str:
    """Return a level for tables."""
    return "none" if level is None else f"{level:g}"


def at_levels(*levels: float | None) -> str:
    """Return at which levels something holds, such as "at epsilon = 0.1 and 1"."""
    private = " and ".join(f"{level:g}" for level in levels if level is not None)
    shown = [f"at epsilon = {private}"] * bool(private) + ["without privacy"] * (None in levels)
    return " and ".join(shown)


def lines_of_ranking(
    totals: Sequence[Mapping[str, Any]], ranking: Sequence[RankedRow], axes: Sequence[str]
) -> list[str]:
    """Return the lines of one level: agents among the best of the package, and how many others stand between them.

    Args:
        totals: The totals of the card at this level.
        ranking: The package's algorithms at this level and size, the best first; empty without ranks.
        axes: The axes to show.
    """
    agents = {total["agent"] for total in totals}
    chance = first_as_chance([(row.low, row.high) for row in ranking])
    kinds = dict.fromkeys([row.name for row in ranking[chance:]], CHANCE)
    best = [row.name for row in ranking[:chance] if row.name not in agents][:BEST_SHOWN]
    kinds |= dict.fromkeys(best, "  ") | dict.fromkeys(agents, "> ")
    rows = [row_of(total) for total in totals if "failed" not in total]
    rows = sorted([*rows, *(row for row in ranking if row.name not in agents)], key=lambda row: -row.total)
    lines = []
    for kind, group in itertools.groupby(rows, key=lambda row: kinds.get(row.name, "")):
        of_kind = list(group)
        first = of_kind[0]
        hidden = f"{first.rank or '':>4}    {len(of_kind)} of the package's {len(ranking)} algorithms"
        if kind in ("  ", "> ") or len(of_kind) == 1:
            lines += [line_of_row(row, "> " if kind == "> " else "  ", axes) for row in of_kind]
        else:
            lines.append(f"{hidden}{kind}, {first.name} the first")
    return lines + [line_of_row(row_of(total), "> ", axes) for total in totals if "failed" in total]


def row_of(total: Mapping[str, Any]) -> RankedRow:
    """Return a total of a card as a row, with its rank among the package's algorithms if it has one."""
    rank = (total["field"] or total)["rank"]
    agent, mean, low, high = (total[name] for name in ("agent", "total", "low", "high"))
    return RankedRow(agent, mean, low, high, rank, total.get("error", 0.0), total["axes"])


def line_of_row(row: RankedRow, mark: str, axes: Sequence[str]) -> str:
    """Return the line of one row, with a mark before its name."""
    means = [f"{row.axes[axis]:{len(axis) + 2}.2f}" if axis in row.axes else " " * (len(axis) + 2) for axis in axes]
    interval = f"{row.total:5.2f} [{row.low:.2f}, {row.high:.2f}]"
    return f"{row.rank or '':>4}  {mark + row.name:<{NAME_WIDTH}}{interval:<20}{''.join(means)}".rstrip()


def head_of(level: float | None, axes: Sequence[str]) -> str:
    """Return the head of the lines of a level."""
    words = "no privacy" if level is None else f"epsilon = {level:g}"
    return f"rank  {words:<{NAME_WIDTH}}{'total':<20}" + "".join(f"  {axis}" for axis in axes)


# ---- the picture ---------------------------------------------------------------------------------------------------


Cells = Mapping[str, tuple[float, float]]
"""By task, a score and its standard error."""


def picture_of_reference(
    names: Sequence[str],
    size: str = "quick",
    levels: Sequence[float | None] = PRIVATE_LEVELS,
    columns: int | None = None,
) -> "Figure":
    """Return the picture of at most three algorithms among all of the package."""
    stored = reference()
    shown: dict[float | None, Any] = {level: {} for level in levels}
    for level, of_level in shown.items():
        rows, ranking = stored.rows_by_name(size, level), {row.name: row for row in stored.ranking(size, level)}
        for name in names:
            cells = {task: (row.score, row.error) for task, row in rows.get(name, {}).items()}
            of_level[name] = cells, ranking.get(name)
    return picture(size, shown, columns)


def picture(
    size: str,
    shown: Mapping[float | None, Mapping[str, tuple[Cells, RankedRow | None]]],
    columns: int | None = None,
) -> "Figure":
    """Return the picture of some agents at some levels, among the algorithms of the package if they have this size.

    Args:
        size: The size.
        shown: By level and name, the cells, and the total if all tasks with arms were played.
        columns: Panels in a row; by default all.
    """
    from dp_bandit_envs.plots.scores_figure import ScorePanel, scores_figure

    panels = []
    for level, of_level in shown.items():
        dots = {name: dots_of(cells, total) for name, (cells, total) in of_level.items() if cells}
        panels.append(ScorePanel("no privacy" if level is None else f"ε = {level:g}", field_of(size, level), dots))
    after_names = {}
    for name in next(iter(shown.values()), {}):
        totals = [of_level[name][1] for of_level in shown.values()]
        if any(totals):
            words = ["-" if total is None else f"{total.total:.2f} ({total.rank})" for total in totals]
            after_names[name] = f": {', '.join(words)}"
    present = {row for panel in panels for rows in panel.dots.values() for row in rows}
    rows = [row for row in (ALL_AXES, *AXES) if row in present]
    note = "After a name, its total and in brackets its rank, by epsilon" if after_names else ""
    look: Any = {"total": ALL_AXES, "after_names": after_names, "note": note, "columns": columns}
    return scores_figure(panels, rows, field="the package's algorithms", **look)


def dots_of(cells: Cells, total: RankedRow | None) -> dict[str, tuple[float, float, float]]:
    """Return, by row of the picture, a score and its 95 % interval."""
    dots = {} if total is None else {ALL_AXES: (total.total, total.low, total.high)}
    if core := {task: cell for task, cell in cells.items() if task in CORE}:
        for axis, (mean, error) in standing_of(core).axes.items():
            dots[axis] = (mean, mean - NORMAL_95 * error, mean + NORMAL_95 * error)
    return dots


def field_of(size: str, level: float | None) -> dict[str, list[float]]:
    """Return, by row of the picture, the scores of all algorithms of the package that play the whole axis."""
    if not reference().has(size):
        return {}
    return {row: [mean for _, mean in best_of(reference(), size, level, row)] for row in (ALL_AXES, *AXES)}


# ---- the reference alone -------------------------------------------------------------------------------------------


def lines_of_reference(
    size: str = "quick", axis: str | None = None, levels: Sequence[float | None] = PRIVATE_LEVELS
) -> list[str]:
    """Return the best of the package by axis and level, as `dp-bandit suite` prints them.

    Args:
        size: The size.
        axis: One axis with all its algorithms; by default the three best of each axis.
        levels: The levels.

    Raises:
        ValueError: If the reference lacks a level.
        ResultsError: If the reference lacks the size.
        UnknownNameError: If the axis is unknown.
    """
    stored = reference()
    stored.of_size(size)
    axis = None if axis is None else checks.known_name("axis", axis, AXES)
    which = "The three best of the package" if axis is None else "The algorithms of the package"
    lines = [f"{which} by axis; size {size}, seed {REFERENCE_SEED}: 0 is chance, 1 the best without privacy."]
    for level in levels:
        if level not in PRIVATE_LEVELS:
            raise ValueError(
                f"epsilon must be among {', '.join(map(level_in_words, PRIVATE_LEVELS))} without an agent; received"
                f" {level_in_words(level)}. At another one, name agents to score."
            )
        lines += ["", f"epsilon = {level:g}"]
        for row in (ALL_AXES, *AXES) if axis is None else (axis,):
            best = best_of(stored, size, level, row)
            named = [f"{name} {score:.2f}" for name, score in (best if axis else best[:BEST_SHOWN])]
            lines.append(f"  {row:<12} {', '.join(named)}")
    return lines


def best_of(stored: SuiteReference, size: str, level: float | None, row: str) -> list[tuple[str, float]]:
    """Return the algorithms that play all tasks of an axis, or all tasks with arms, and their means, the best first."""
    if row == ALL_AXES:
        return [(ranked.name, ranked.total) for ranked in stored.ranking(size, level)]
    tasks, means = [task for task in CORE if task.startswith(f"{row}/")], []
    for name, scores in stored.scores(size, level).items():
        if all(task in scores for task in tasks):
            means.append((name, float(axis_means({task: scores[task] for task in tasks})[row])))
    return sorted(means, key=lambda pair: -pair[1])
