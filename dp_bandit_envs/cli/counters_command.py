"""Prints what `dp-bandit counters` shows: the variances of all counters, and which one to choose."""

import math
from pathlib import Path

from rich.console import Console
from rich.table import Table

from dp_bandit_envs import checks
from dp_bandit_envs.plots.plot_style import as_bytes
from dp_bandit_envs.plots.privacy_figures import counters_figure
from dp_bandit_envs.privacy.counters.table import compare


def show_counters(console: Console, horizon: int, epsilon: float, delta: float | None, out: Path | None) -> None:
    """Print the table, and save the plot if `out` is set."""
    horizon = checks.integer("horizon", horizon, at_least=1)
    if horizon > 2**40:
        raise ValueError(f"horizon must be at most 2^40, about 1e12; received {horizon}.")
    epsilon = checks.greater_than("epsilon", epsilon, 0)
    try:
        rows = compare(horizon, epsilon, None if delta is None else checks.delta(delta))
    except OverflowError:
        raise ValueError(f"epsilon must leave variances that fit a float; received {epsilon!r}.") from None
    if not all(math.isfinite(row.maximum) for row in rows):
        raise ValueError(f"epsilon must leave variances that fit a float; received {epsilon!r}.")
    privacy = f"epsilon = {epsilon:g}" + (f", delta = {delta:g} for square-root" if delta is not None else "")
    table = Table(title=f"Variance of released sums, T = {horizon:,}, {privacy}", title_justify="left")
    for column in ("counter", "mean", "maximum", "must know T", "guarantee"):
        table.add_column(column, justify="right" if column in ("mean", "maximum") else "left", overflow="fold")
    for row in rows:
        known = "yes" if row.counter.needs_horizon else "no"
        kind = "pure" if row.counter.guarantee.delta == 0 else "(epsilon, delta)"
        table.add_row(row.name, f"{row.mean:,.1f}", f"{row.maximum:,.1f}", known, kind)
    console.print(table)
    best = rows[0]
    anytime = next(row for row in rows if not row.counter.needs_horizon)
    console.print(
        f"Smallest mean over t = 1, ..., T: {best.name}; for an unknown horizon, {anytime.name}.", highlight=False
    )
    if out is not None:
        figure = counters_figure(rows, horizon)
        out.write_bytes(as_bytes(figure, out.suffix[1:]))
        console.print(f"See {out}.", highlight=False, soft_wrap=True)
