"""What `dp-bandit reproduce` needs to know of a paper's experiment, and how its regret is to be shown."""

import dataclasses
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from dp_bandit_envs.experiments.claim import Claim, Note
from dp_bandit_envs.experiments.experiment import Experiment, Results

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class View(NamedTuple):
    """How regret is shown in figure, tables and report.

    Attributes:
        measure: `"external_regret"` or `"pseudo_regret"`.
        centre: What a line is, `"median of means"` or `"mean"`.
        scale: The axis of regret, `"linear"` or `"log"`.
        columns: Panels beside each other in the figure; None leaves it to the figure.
        claimed_by: Whose claims they are, for a heading.
    """

    measure: str = "external_regret"
    centre: str = "median of means"
    scale: str = "linear"
    columns: int | None = None
    claimed_by: str = "The paper"


AS_IN_2017 = View()
"""As Tossou and Dimitrakakis (2017) show it."""


@dataclasses.dataclass(frozen=True)
class Reproduction:
    """One figure: what to run, and what to say about it.

    Attributes:
        name: The folder's name below `results/`.
        title: The report's heading.
        experiments: What to run; several have a folder each, called by their names.
        view: How regret is shown.
        notes: From the results of all experiments, what a reader must know before the numbers.
        claims: From the same, every claim with what was seen.
        draw: Draws the results; None for lines over time, a panel for each game.
    """

    name: str
    title: str
    experiments: tuple[Experiment, ...]
    view: View = AS_IN_2017
    notes: Callable[[Sequence[Results]], Sequence[Note]] = lambda _: ()
    claims: Callable[[Sequence[Results]], list[Claim]] = lambda _: []
    draw: "Callable[[Reproduction, Sequence[Results]], Figure] | None" = None
