"""Repeats a paper's experiment, draws its figure, and judges the paper's claims."""

import importlib
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from dp_bandit_envs import checks
from dp_bandit_envs.experiments.comparison import folder_of, run_study
from dp_bandit_envs.experiments.progress import Requested, check_progress, interruption, progress_of
from dp_bandit_envs.experiments.report import Report, Study


class Figure(NamedTuple):
    """The module of a figure, with a function `study(*, seed, trials, horizon, **options)`, and its options."""

    module: str
    options: Mapping[str, Any] = {}


FIGURES = {
    "figure-1": Figure("figure_1"),
    "figure-1-epsilon-1": Figure("figure_1", {"epsilon": 1.0}),
    "figure-1-epsilon-0.1": Figure("figure_1", {"epsilon": 0.1}),
    "figure-2": Figure("figure_2"),
    "figure-2-modern": Figure("figure_2", {"modern": True}),
    "figure-graph": Figure("figure_graph"),
    "price-of-privacy": Figure("price_of_privacy"),
}
OTHER_EPSILON = re.compile(r"figure-1-epsilon-(\d*\.?\d+(?:e-?\d+)?)")
"""Figure 1 at any other epsilon."""


def study_of(name: str, **sizes: Any) -> Study:
    """Return the study of a figure: a key of `FIGURES`, or figure 1 at another epsilon.

    Raises:
        UnknownNameError: If the figure is unknown.
        ValueError: If a size or an epsilon is out of range.
    """
    if isinstance(name, str) and (other := OTHER_EPSILON.fullmatch(name)):
        figure = Figure("figure_1", {"epsilon": float(other[1])})
    else:
        figure = FIGURES[checks.known_name("experiment", name, FIGURES)]
    study: Study = importlib.import_module(f"dp_bandit_envs.figures.{figure.module}").study(**figure.options, **sizes)
    return study


@checks.answers_wrong_calls
def reproduce(
    name: str,
    *,
    folder: str | Path | None = None,
    horizon: int | None = None,
    trials: int | None = None,
    seed: int = 0,
    jobs: int = 1,
    progress: Requested = True,
) -> Report:
    """Repeat a paper's experiment, by default at full size; draw its figure, and judge the paper's claims.

    Args:
        name: `"figure-1"` (Tossou and Dimitrakakis, AAAI 2017: adversaries), `"figure-1-epsilon-1"` (all its private
            algorithms and newer algorithms at epsilon = 1; any other number works, too), `"figure-2"` (the same
            authors, AAAI 2016: coins), `"figure-2-modern"` (with algorithms published since), `"figure-graph"` (graph
            feedback) or `"price-of-privacy"` (the cost of privacy with full information and with bandit feedback).
        folder: Output folder for figure, tables, report and raw arrays, as for `dp-bandit reproduce --out`. The same
            call resumes an interrupted run. By default no files are written.
        horizon: Number of rounds of each game, or of the longest; by default the paper's.
        trials: Number of games of each algorithm; by default the paper's.
        seed: The seed.
        jobs: Number of games to play in parallel.
        progress: As for `compare`.

    Returns:
        The figure, every claim with its verdict, and the results.

    Raises:
        ResultsError: If the folder has other contents.
        UnknownNameError: If the figure is unknown.
        ValueError: If a number is out of range.

    Example:
        >>> from dp_bandit_envs import reproduce
        >>> report = reproduce("figure-1", horizon=1000, trials=10)
        >>> report.claims[2].answer
        'yes, in pure epsilon alone, and epsilon = 221 protects nobody'
        >>> report.results["figure-1"].algorithms[0], len(report.figure.axes)
        ('EXP3', 6)
    """
    chosen = {size: number for size, number in (("horizon", horizon), ("trials", trials)) if number is not None}
    study = study_of(name, seed=seed, **chosen)
    checks.integer("jobs", jobs, at_least=1)
    check_progress(progress)
    for experiment in study.experiments:
        experiment.check()
    arguments = [repr(name), *(f"{key}={value!r}" for key, value in {**chosen, "seed": seed}.items())]
    path = None if folder is None else folder_of(folder)
    with progress_of("reproduce", progress, sum(one.rounds for one in study.experiments)) as advance:
        try:
            command = f"reproduce({', '.join(arguments)})"
            return run_study(study, path, jobs=jobs, progress=advance, command=command)
        except KeyboardInterrupt:
            raise interruption(path) from None
