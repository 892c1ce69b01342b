"""The tidy table of an experiment: one row for each panel, algorithm and checkpoint."""

import csv
import io

from dp_bandit_envs.experiments.experiment import Results
from dp_bandit_envs.experiments.privacy_levels import levels_in
from dp_bandit_envs.metrics import gini_below_and_above, mean_and_standard_error, median_and_tail, median_of_means

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


def summary_csv(results: Results, measure: str = "external_regret") -> str:
    """Return the table of a measure of regret as comma-separated text, with the columns `COLUMNS`.

    The columns `epsilon` and `delta` are the guarantee; epsilon is inf for no privacy.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for panel in results.experiment.panels:
        levels = levels_in(results.experiment, panel)
        for name in results.names_in(panel):
            regret = results.regret(panel.key, name, measure)
            middle = median_of_means(regret)
            below, above = gini_below_and_above(regret, middle.value)
            mean, error = mean_and_standard_error(regret)
            columns = (middle.value, middle.low, middle.high, below, above, mean, error, *median_and_tail(regret))
            level = [f"{number:.10g}" for number in levels[name]]
            for index, round_ in enumerate(results.rounds(panel.key)):
                numbers = (f"{column[index]:.10g}" for column in columns)
                writer.writerow([panel.key, name, *level, int(round_), len(regret), *numbers])
    return text.getvalue()
