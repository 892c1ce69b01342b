"""Shows outcomes as a figure, and as a small HTML table for notebooks."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from dp_bandit_envs import checks
from dp_bandit_envs.html_table import html_table
from dp_bandit_envs.metrics import mean_and_standard_error, median_and_tail
from dp_bandit_envs.privacy.levels import level_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from dp_bandit_envs.simulation.outcomes import Outcome

MEASURES = ("external_regret", "pseudo_regret", "policy_regret", "collected", "switches")
COLUMNS = ("algorithm", "epsilon", "delta", "mean regret", "standard error", "median", "99 % quantile", "engine")
UNEVEN = 4
"""Rounds are drawn on a logarithmic axis if the last two are so many times as far apart as the first two."""


def drawn_outcomes(outcomes: Sequence["Outcome"], measure: str, band: str) -> "Figure":
    """Return a figure of a measure against the round, with arguments as for `Simulation.plot`."""
    from dp_bandit_envs.plots.curves import Curve, Panel
    from dp_bandit_envs.plots.curves_plot import ROUND, curves_figure

    measure = checks.known_name("measure", measure, MEASURES)
    curves = []
    for one in outcomes:
        samples = getattr(one, measure)
        if samples is None:
            raise ValueError(
                f"measure must be known in this game, whose arms have no known means or a payoff function; received"
                f" {measure!r}. Use 'external_regret'."
            )
        curves.append(Curve(one.name, one.label, one.checkpoints, samples))
    rounds = outcomes[0].checkpoints
    gaps = np.diff(rounds)
    uneven = len(gaps) > 1 and gaps[-1] > UNEVEN * gaps[0]
    panel = Panel(f"T = {int(rounds[-1]):,}", curves)
    return curves_figure([panel], across=ROUND, measure=measure, band=band, x_scale="log" if uneven else "linear")


def outcomes_table(outcomes: Sequence["Outcome"]) -> str:
    """Return a table with a row for each outcome: its guarantee, and external regret after the last round."""
    rows = []
    for one in outcomes:
        last = one.external_regret[:, -1]
        mean, error = mean_and_standard_error(last)
        median, tail = median_and_tail(last)
        level = level_of(one.guarantee)
        numbers = [
            f"{level.epsilon:.4g}",
            f"{level.delta:.3g}",
            *(f"{float(x):,.1f}" for x in (mean, error, median, tail)),
        ]
        rows.append([one.name, *numbers, one.engine])
    first = outcomes[0]
    caption = f"External regret after {int(first.checkpoints[-1]):,} rounds, {len(first.collected):,} trials"
    return html_table(COLUMNS, rows, caption)
