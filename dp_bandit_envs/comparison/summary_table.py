"""The tidy table of a comparison: one row for each game, algorithm and recorded round."""

import csv
import io
from collections.abc import Sequence
from typing import TYPE_CHECKING

from dp_bandit_envs.metrics import gini_below_and_above, mean_and_standard_error, median_and_tail, median_of_means

if TYPE_CHECKING:
    from dp_bandit_envs.comparison.compared_games import Entry

COLUMNS = (
    "panel",
    "algorithm",
    "epsilon",
    "delta",
    "round",
    "trials",
    "median_of_means",
    "interval_low",
    "interval_high",
    "gini_below",
    "gini_above",
    "mean",
    "standard_error",
    "median",
    "quantile_99",
)


def summary_csv(entries: "Sequence[Entry]", measure: str) -> str:
    """Return the table of a measure as comma-separated text, with the columns `COLUMNS`.

    The columns `epsilon` and `delta` are the guarantee; epsilon is inf for no privacy.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for entry in entries:
        values = entry.values(measure)
        middle = median_of_means(values)
        below, above = gini_below_and_above(values, middle.value)
        mean, error = mean_and_standard_error(values)
        columns = (middle.value, middle.low, middle.high, below, above, mean, error, *median_and_tail(values))
        level = [f"{number:.10g}" for number in entry.level[:2]]
        for index, round_ in enumerate(entry.rounds):
            numbers = (f"{column[index]:.10g}" for column in columns)
            writer.writerow([entry.key, entry.name, *level, int(round_), entry.trials, *numbers])
    return text.getvalue()
