"""The figures of `dp-bandit reproduce`, and the options of each."""

import importlib
from typing import Any, NamedTuple

from dp_bandit_envs import checks
from dp_bandit_envs.cli.run_and_report import Draw, draw_over_time
from dp_bandit_envs.experiments.reproduction import Reproduction


class Figure(NamedTuple):
    """The package of a figure, and its options.

    Attributes:
        package: Contains a function `reproduction(*, seed, trials, horizon, **options)`.
        options: The names of its further options.
    """

    package: str
    options: tuple[str, ...] = ()


FIGURES = {
    "figure-1": Figure("figure_1", ("epsilon",)),
    "figure-2": Figure("figure_2", ("modern",)),
    "figure-modern": Figure("figure_modern"),
    "figure-graph": Figure("figure_graph"),
    "price-of-privacy": Figure("figure_price"),
}
SIZES = ("seed", "trials", "horizon")


def figure(what: str, **options: Any) -> tuple[Reproduction, Draw]:
    """Return what to run for a figure, and how to draw it.

    Args:
        what: A key of `FIGURES`.
        options: `seed`, and the options that the user set.
    """
    what = checks.known_name("experiment", what, FIGURES)
    package, takes = FIGURES[what]
    for option in options:
        if option not in (*SIZES, *takes):
            owners = " or ".join(name for name, each in FIGURES.items() if option in each.options)
            raise ValueError(f"--{option} is an option of {owners} only; received it with {what}.")
    experiments = importlib.import_module(f"dp_bandit_envs.experiments.{package}")
    plan: Reproduction = experiments.reproduction(**options)
    return plan, plan.draw or draw_over_time
