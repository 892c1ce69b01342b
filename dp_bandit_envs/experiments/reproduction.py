"""The description of a paper's experiment for `dp-bandit reproduce`, and how to show its regret."""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from dp_bandit_envs.runs.experiment import Experiment, Results
from dp_bandit_envs.runs.run_report import AS_IN_2017, Claim, Note, Numbers, View

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclasses.dataclass(frozen=True)
class Reproduction:
    """One figure: what to run, and what to report.

    Attributes:
        name: The folder's name below `results/`.
        title: The report's heading.
        experiments: What to run; if several, each has a folder with its name.
        view: How to show regret.
        notes: Returns the notes that precede the results, from the results of all experiments.
        claims: Returns every claim with its verdict, from the same.
        numbers: Returns what `numbers.json` has beside regrets, by name.
        draw: Draws the results; None for lines over time, a panel for each game.
    """

    name: str
    title: str
    experiments: tuple[Experiment, ...]
    view: View = AS_IN_2017
    notes: Callable[[Sequence[Results]], Sequence[Note]] = lambda _: ()
    claims: Callable[[Sequence[Results]], list[Claim]] = lambda _: []
    numbers: Callable[[Sequence[Results]], Mapping[str, Numbers]] = lambda _: {}
    draw: "Callable[[Reproduction, Sequence[Results]], Figure] | None" = None
