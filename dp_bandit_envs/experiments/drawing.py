"""Draws comparisons: against the round, one panel a game; or the last round against epsilon, arms or horizon."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from dp_bandit_envs import checks
from dp_bandit_envs.experiments.entries import Entries, Entry, by_epsilon
from dp_bandit_envs.plots.curves_figure import ROUND, Curve, Panel, curves_figure
from dp_bandit_envs.privacy.guarantee import label_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

AGAINST = ("round", "epsilon", "arms", "horizon")
LABELS = {"round": ROUND, "epsilon": "epsilon asked for", "arms": "number of arms K", "horizon": "horizon T"}
IN_A_ROW = {2: 2, 3: 3, 4: 2}
"""How many panels over rounds stand in a row, by the number of epsilons."""


def draw(
    comparison: Entries,
    against: str,
    *,
    measure: str,
    band: str,
    x_scale: str | None,
    y_scale: str,
    columns: int | None = None,
) -> "Figure":
    """Return the figure; see `Comparison.plot`.

    Raises:
        ValueError: If something is unknown, or the comparison has fewer than two places on the horizontal axis.
    """
    checks.one_of("against", against, AGAINST)
    panels = PANELS[against](comparison, measure)
    if against == "round":
        scale = str(comparison.configuration["checkpoints"])
    else:
        scale = "log"
        if max(len(curve.at) for panel in panels for curve in panel.curves) < 2:
            raise ValueError(
                f"a plot against {against} needs at least two values of it; this comparison has one. Give compare"
                f" several, such as {EXAMPLES[against]}, or plot against 'round'."
            )
    if columns is None and against == "round":
        columns = IN_A_ROW.get(len(comparison.epsilons))
    return curves_figure(
        panels,
        across=LABELS[against],
        measure=measure,
        band=band,
        x_scale=scale if x_scale is None else x_scale,
        y_scale=y_scale,
        columns=columns,
    )


EXAMPLES = {"epsilon": "epsilon=[0.1, 1]", "arms": "n_arms=[2, 10]", "horizon": "horizon=[1_000, 10_000]"}


def _over_rounds(comparison: Entries, measure: str) -> list[Panel]:
    """Return a panel for each game, and if there are several epsilons, for each of them in it, on one scale."""
    return [
        Panel(
            title,
            [_curve(one.algorithm, [one], one.rounds, one.values(measure)) for one in group],
            beside=group[0].title if group else "",
        )
        for title, group in by_epsilon(comparison.entries, lambda one: one.title)
    ]


def _over_epsilons(comparison: Entries, measure: str) -> list[Panel]:
    """Return a panel for each game; an algorithm that takes no epsilon is the same at each."""
    panels = []
    for title in comparison.titles:
        curves = []
        for name in comparison.algorithms:
            of_name = [one for one in comparison.entries if (one.title, one.algorithm) == (title, name)]
            if not of_name:
                continue
            of_name.sort(key=lambda entry: entry.asked or 0.0)
            takes_none = of_name[0].asked is None
            at = comparison.epsilons if takes_none else [entry.asked for entry in of_name]
            last = [entry.values(measure)[:, -1] for entry in of_name]
            exact = all(entry.level[:2] == (entry.asked, 0.0) for entry in of_name)  # the axis says it
            curve = _curve(name, of_name, at, last * len(at) if takes_none else last)
            curves.append(curve._replace(label=name) if exact else curve)
        panels.append(Panel(title, curves))
    return panels


def _over_sizes(size: str) -> Callable[[Entries, str], list[Panel]]:
    def panels(comparison: Entries, measure: str) -> list[Panel]:
        """Return a panel for each environment, epsilon, and size that is not on the horizontal axis."""
        other = "horizon" if size == "n_arms" else "n_arms"
        word = "T" if other == "horizon" else "K"
        is_divided = len({getattr(entry, other) for entry in comparison.entries}) > 1
        divided = []

        def title_of(entry: Entry) -> str:
            return entry.environment + (f", {word} = {getattr(entry, other):,}" if is_divided else "")

        for title, group in by_epsilon(comparison.entries, title_of):
            curves = []
            for name in dict.fromkeys(entry.algorithm for entry in group):
                of_name = sorted((one for one in group if one.algorithm == name), key=lambda one: getattr(one, size))
                at = [getattr(entry, size) for entry in of_name]
                curves.append(_curve(name, of_name, at, [entry.values(measure)[:, -1] for entry in of_name]))
            divided.append(Panel(title, curves, beside=title_of(group[0]) if group else ""))
        return divided

    return panels


def _curve(name: str, entries: Sequence[Entry], at: Any, samples: Any) -> Curve:
    return Curve(name, label_of(name, list(dict.fromkeys(one.level for one in entries))), at, samples)


PANELS: dict[str, Callable[[Entries, str], list[Panel]]] = {
    "round": _over_rounds,
    "epsilon": _over_epsilons,
    "arms": _over_sizes("n_arms"),
    "horizon": _over_sizes("horizon"),
}
"""What divides a comparison into panels, by horizontal axis."""
