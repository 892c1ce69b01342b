"""Plays a paper's experiment again, draws its figure, and judges what the paper says about it."""

import importlib
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from dp_bandit_envs import checks
from dp_bandit_envs.comparison.compared import comparison_of_results, folder_of
from dp_bandit_envs.comparison.comparing import Wanted, check_progress, progress_of
from dp_bandit_envs.comparison.reporting import Report, folders_of, played, played_in_memory, report_on
from dp_bandit_envs.runs.run_report import Study

if TYPE_CHECKING:
    from distributed import Client


class Figure(NamedTuple):
    """The module of a figure, with a function `study(*, seed, trials, horizon, **options)`, and its further options."""

    module: str
    options: tuple[str, ...] = ()


FIGURES = {
    "figure-1": Figure("figure_1", ("epsilon",)),
    "figure-2": Figure("figure_2", ("modern",)),
    "figure-graph": Figure("figure_graph"),
    "price-of-privacy": Figure("price_of_privacy"),
}
SIZES = ("seed", "trials", "horizon")


def study_of(name: str, **options: Any) -> Study:
    """Return what to play and to report for a figure, a key of `FIGURES`; `options` are those that were chosen.

    Raises:
        UnknownNameError: If there is no such figure.
        ValueError: If an option is another figure's, or out of range.
    """
    name = checks.known_name("experiment", name, FIGURES)
    module, takes = FIGURES[name]
    for option in options:
        if option not in (*SIZES, *takes):
            owners = " or ".join(other for other, each in FIGURES.items() if option in each.options)
            raise ValueError(f"{option} is an option of {owners} only; received it with {name}.")
    found: Study = importlib.import_module(f"dp_bandit_envs.figures.{module}").study(**options)
    return found


@checks.answers_wrong_calls
def reproduce(
    name: str,
    *,
    folder: str | Path | None = None,
    horizon: int | None = None,
    trials: int | None = None,
    seed: int = 0,
    jobs: int = 1,
    epsilon: float | None = None,
    modern: bool = False,
    progress: Wanted = True,
    cluster: "str | Client | None" = None,
) -> Report:
    """Play a paper's experiment again, by default at full size; draw its figure, and judge what the paper says of it.

    Args:
        name: `"figure-1"` (Tossou and Dimitrakakis, AAAI 2017: adversaries), `"figure-2"` (the same, AAAI 2016: coins),
            `"figure-graph"` (graph feedback) or `"price-of-privacy"` (what privacy costs with full information and with
            bandits).
        folder: Where to write figure, tables, report and raw arrays, as `dp-bandit reproduce --out` does. The same call
            continues where it was interrupted. By default nothing is written.
        horizon: Number of rounds of each game, or of the longest; by default the paper's.
        trials: Number of games of each algorithm; by default the paper's.
        seed: The seed.
        jobs: Number of games to play at a time.
        epsilon: For figure 1: another privacy parameter than the paper's, and more algorithms.
        modern: For figure 2: whether to add algorithms published since.
        progress: As for `compare`.
        cluster: As for `simulate`.

    Returns:
        The figure, every claim with its verdict, and the results.

    Raises:
        ResultsError: If the folder holds something else.
        UnknownNameError: If there is no such figure.
        ValueError: If an option is another figure's, or out of range.

    Example:
        >>> from dp_bandit_envs import reproduce
        >>> report = reproduce("figure-1", horizon=1000, trials=10)
        >>> report.claims[2].answer
        'yes, in pure epsilon alone, and epsilon = 221 protects nobody'
        >>> report.results["figure-1"].algorithms[0], len(report.figure.axes)
        ('EXP3', 6)
    """
    asked = {"horizon": horizon, "trials": trials, "epsilon": epsilon, "modern": modern or None}
    chosen = {option: value for option, value in asked.items() if value is not None}
    study = study_of(name, seed=seed, **chosen)
    checks.integer("jobs", jobs, at_least=1)
    check_progress(progress)
    for experiment in study.experiments:
        experiment.check()
    words = [repr(name), *(f"{key}={value!r}" for key, value in {**chosen, "seed": seed}.items())]
    folders = [] if folder is None else folders_of(study, folder_of(folder))
    with progress_of("reproduce", progress, sum(one.rounds for one in study.experiments)) as advance:
        how: dict[str, Any] = {"jobs": jobs, "progress": advance, "cluster": cluster}
        try:
            results = played(study, folders, **how) if folders else played_in_memory(study, **how)
        except KeyboardInterrupt as stop:
            if folders:
                stop.add_note(f"Finished games are saved in {folders[0].path}; the same call goes on from there.")
            raise
    return report_on(
        study,
        results,
        list(map(comparison_of_results, results)),
        command=f"reproduce({', '.join(words)})",
        folders=folders,
    )
