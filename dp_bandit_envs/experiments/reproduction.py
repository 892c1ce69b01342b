"""The description of a paper's experiment for `dp-bandit reproduce`, and how to show its regret."""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from dp_bandit_envs.experiments.claim import Claim, Note
from dp_bandit_envs.experiments.experiment import Experiment, Results

if TYPE_CHECKING:
    from matplotlib.figure import Figure


Numbers: TypeAlias = Mapping[str, float]
"""Numbers by name, such as a `"mean"` and its standard `"error"`."""
CENTRES = {"ci": "mean", "quantiles": "median", "spread": "median of means"}
"""The statistic of a line, by the kind of its band."""


class View(NamedTuple):
    """How to show regret in figure, tables and report.

    Attributes:
        measure: What is shown, such as `"external_regret"`.
        centre: The statistic of a line, a value of `CENTRES`.
        scale: The axis of regret, `"linear"` or `"log"`.
        columns: Number of panels in a row of the figure; None for the figure's default.
        claimed_by: The author of the claims, for a heading.
    """

    measure: str = "external_regret"
    centre: str = "median of means"
    scale: str = "linear"
    columns: int | None = None
    claimed_by: str = "The paper"

    @property
    def band(self) -> str:
        """The kind of line and band in the figure, a key of `dp_bandit_envs.metrics.BANDS`."""
        return next(band for band, centre in CENTRES.items() if centre == self.centre)


AS_IN_2017 = View()
"""As in Tossou and Dimitrakakis (2017)."""


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
