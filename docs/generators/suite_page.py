"""The picture and the tables of docs/suite.md, from the suite's reference."""

import re

from dp_bandit_envs.plots.plot_style import as_bytes
from dp_bandit_envs.suite.evaluation import GROWTH_TASKS
from dp_bandit_envs.suite.identification import package_ranking
from dp_bandit_envs.suite.reference import reference
from dp_bandit_envs.suite.sheet import ALL_AXES, best_of, picture_of_reference
from dp_bandit_envs.suite.task_table import AXES, LEVELS
from generators import ROOT

SIZE = "quick"
DOTS = ("DP-IMED", "LDP-UCB-B", "Clipped-Lap (base=TS)")
PRIVATE = [level for level in LEVELS if level is not None]
MARKED = re.compile(r"(<!-- suite: ([\w-]+) -->\n).*?(<!-- end -->)", re.DOTALL)
KINDS = {
    ALL_AXES: "anything: the mean of all axes",
    "stochastic": "each arm's gains are independent draws",
    "adversarial": "an adversary chooses them",
    "switching": "a change of arm costs",
    "graph": "some other arms are revealed: a feedback graph",
    "experts": "all arms are revealed",
    "linear": "arms have features",
    "drift": "the best arm changes",
    "data": "patients of a trial, 2,139 rounds",
}
"""The axes in words."""
NAMED = 2
"""How many algorithms stand in a cell of the table of `by_axis`."""


def by_axis() -> str:
    """Return the best algorithms of each axis at each epsilon."""
    lines = ["| the gains | " + " | ".join(f"epsilon = {level:g}" for level in PRIVATE) + " |"]
    lines.append("| --- |" + " --- |" * len(PRIVATE))
    for axis in (ALL_AXES, *AXES):
        cells = []
        for level in PRIVATE:
            best = best_of(reference(), SIZE, level, axis)[:NAMED]
            cells.append(", ".join(f"{_code(name)} {score:.2f}" for name, score in best))
        lines.append(f"| {KINDS[axis]} | {' | '.join(cells)} |")
    return "\n".join(lines)


def totals() -> str:
    """Return the total, its interval and the rank of each algorithm at each epsilon."""
    rankings = {level: {row.name: row for row in reference().ranking(SIZE, level)} for level in PRIVATE}
    names = [name for name in reference().names if any(name in ranking for ranking in rankings.values())]
    order = sorted(names, key=lambda name: -max(ranking[name].total for ranking in [rankings[1.0]] if name in ranking))
    lines = ["| algorithm | " + " | ".join(f"epsilon = {level:g} | rank" for level in PRIVATE) + " |"]
    lines.append("| --- |" + " --: | --: |" * len(PRIVATE))
    for name in order:
        cells = []
        for ranking in rankings.values():
            row = ranking.get(name)
            half = "" if row is None else f"{row.total:.2f} ± {(row.high - row.low) / 2:.2f}"
            cells.append(f"{half} | {'' if row is None else row.rank}")
        lines.append(f"| {_code(name)} | {' | '.join(cells)} |")
    return "\n".join(lines)


def growth() -> str:
    """Return the exponents of regret in T of the algorithms that lead these tasks at epsilon = 1."""
    exponents = {task: reference().exponents(task, 1.0) for task in GROWTH_TASKS}
    scores = reference().scores(SIZE, 1.0)
    both = [name for name in reference().names if all(name in exponents[task] for task in GROWTH_TASKS)]
    shown = sorted(both, key=lambda name: -sum(scores[name][task] for task in GROWTH_TASKS))[:8]
    lines = ["| algorithm | " + " | ".join(GROWTH_TASKS) + " |", "| --- |" + " --: |" * len(GROWTH_TASKS)]
    for name in shown:
        lines.append(f"| {_code(name)} | " + " | ".join(f"{exponents[task][name]:.2f}" for task in GROWTH_TASKS) + " |")
    return "\n".join(lines)


def best_arm() -> str:
    """Return the scores of the algorithms that look for the best arm, at each epsilon and without privacy."""
    levels = [*PRIVATE, None]
    rankings = [{row.name: row for row in package_ranking(SIZE, level)} for level in levels]
    heads = [f"epsilon = {level:g}" for level in PRIVATE] + ["no privacy"]
    lines = [f"| algorithm | {' | '.join(heads)} |", "| --- |" + " --: |" * len(heads)]
    for name in rankings[-1]:
        rows = [ranking.get(name) for ranking in rankings]
        cells = ["" if row is None else f"{row.total:.2f} ± {(row.high - row.low) / 2:.2f}" for row in rows]
        lines.append(f"| {_code(name)} | {' | '.join(cells)} |")
    return "\n".join(lines)


TABLES = {"by-axis": by_axis, "totals": totals, "growth": growth, "best-arm": best_arm}


def with_tables(text: str) -> str:
    """Return a page with its marked tables made from the reference."""
    return MARKED.sub(lambda marked: f"{marked[1]}{TABLES[marked[2]]()}\n{marked[3]}", text)


def remake_suite() -> None:
    """Write the tables into the page, and draw the picture."""
    page = ROOT / "docs" / "suite.md"
    page.write_text(with_tables(page.read_text(encoding="utf-8")), encoding="utf-8")
    (ROOT / "examples" / "suite.png").write_bytes(as_bytes(picture_of_reference(DOTS, SIZE), "png"))


def _code(name: str) -> str:
    """Return a name as code; parameters in brackets as the package reads them."""
    return "`" + re.sub(r" [(](.*)[)]$", r":\1", name) + "`"
