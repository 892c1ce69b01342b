"""The figures that `dp-bandit reproduce` knows, and the options that each of them takes."""

import importlib
from typing import Any, NamedTuple

from dp_bandit_envs import checks
from dp_bandit_envs.cli.run_and_report import Draw, draw_over_time
from dp_bandit_envs.experiments.reproduction import Reproduction


class Figure(NamedTuple):
    """Where a figure is.

    Attributes:
        package: Has a function `reproduction(*, seed, trials, horizon, **options)`.
        options: What `reproduction` takes besides.
    """

    package: str
    options: tuple[str, ...] = ()


FIGURES = {
    "figure-1": Figure("figure_1", ("epsilon",)),
    "figure-2": Figure("figure_2", ("modern",)),
    "figure-modern": Figure("figure_modern"),
    "figure-graph": Figure("figure_graph"),
}
SIZES = ("seed", "trials", "horizon")


def figure(what: str, **options: Any) -> tuple[Reproduction, Draw]:
    """Return what to run for a figure, and how to draw it.

    Args:
        what: A key of `FIGURES`.
        options: `seed`, and what the user chose.
    """
    what = checks.known_name("experiment", what, FIGURES)
    package, takes = FIGURES[what]
    for option in options:
        if option not in (*SIZES, *takes):
            owners = " or ".join(name for name, each in FIGURES.items() if option in each.options)
            raise ValueError(f"--{option} goes with {owners} only; received it with {what}.")
    experiments = importlib.import_module(f"dp_bandit_envs.experiments.{package}")
    plan: Reproduction = experiments.reproduction(**options)
    return plan, plan.draw or draw_over_time
