"""The report of an experiment: the exact command, what was measured, what is guaranteed, and which claims hold."""

import importlib.metadata
import platform
from collections.abc import Sequence
from typing import NamedTuple

from dp_bandit_envs.experiments.experiment import Experiment, Results
from dp_bandit_envs.metrics import gini_below_and_above, mean_and_standard_error, median_of_means

PACKAGES = ("dp-bandit-envs", "gymnasium", "numpy", "numba", "matplotlib")


ABOUT_GUARANTEES = """\
A guarantee is for one game, for whoever sees the arms played in it. It does not cover this report: regrets, figure and
raw arrays are the evaluator's, computed from true gains. Where the gains are real data, every trial of every algorithm
on the same data costs its guarantee again, a person whose data serve in r rounds is protected at r times epsilon, and
whoever knows the seed above can subtract the noise."""


class Claim(NamedTuple):
    """A claim of a paper, and what was seen."""

    says: str
    seen: str
    holds: str


def report_md(results: Results, *, title: str, command: str, notes: str = "", claims: Sequence[Claim] = ()) -> str:
    """Return a report in Markdown.

    Args:
        results: The raw numbers.
        title: Its heading.
        command: The exact command.
        notes: A paragraph before the numbers.
        claims: A table of them is added if there are any.
    """
    parts = [f"# {title}", _settings(results.experiment, command)]
    if notes:
        parts.append(notes)
    parts.append("![Regret against time](figure.png)")
    parts.append(f"## Regret after the last round\n\n{_regrets(results)}")
    parts.append(f"## What is guaranteed\n\n{_guarantees(results)}\n\n{ABOUT_GUARANTEES}")
    if claims:
        rows = [(claim.says, claim.seen, claim.holds) for claim in claims]
        parts.append(f"## The paper's claims\n\n{table(('the paper says', 'seen here', 'holds?'), rows)}")
    parts.append(
        "## Files\n\n"
        "`results.npz`: raw arrays, named `panel/algorithm/measure`, shape (trials, checkpoints).\n"
        "`summary.csv`: one row for each panel, algorithm and checkpoint. `figure.png`, `figure.svg`: the figure.\n"
        "`configuration.json`: everything that determines the numbers."
    )
    return "\n\n".join(parts) + "\n"


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(str(cell).replace("|", "\\|") for cell in line) + " |" for line in lines)


def _settings(experiment: Experiment, command: str) -> str:
    versions = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in PACKAGES)
    horizon = "each game's own" if experiment.horizon is None else f"{experiment.horizon:,}"
    return (
        f"Command: `{command}`\n\n"
        f"Seed {experiment.seed}, {experiment.trials} trials, horizon {horizon}. Python {platform.python_version()},"
        f" {versions}. The same command gives the same numbers to the last bit, whatever the number of cores."
    )


def _regrets(results: Results) -> str:
    rows = []
    level = 0.0
    for panel in results.experiment.panels:
        for contestant in results.experiment.contestants:
            algorithm = contestant.make()
            last = results.regret(panel.key, algorithm.name)[:, -1]
            middle = median_of_means(last)
            level = middle.confidence
            below, above = gini_below_and_above(last, middle.value)
            mean, error = mean_and_standard_error(last)
            game = panel.game(results.experiment.horizon)
            memory = game.adversary.memory
            bound = algorithm.regret_bound(n_arms=game.n_arms, horizon=game.horizon, memory=memory)
            rows.append(
                (
                    panel.title,
                    algorithm.name,
                    f"{middle.value:,.1f}",
                    f"{middle.low:,.1f} to {middle.high:,.1f}",
                    f"{float(below):,.1f} / {float(above):,.1f}",
                    f"{mean:,.1f} ± {error:,.1f}",
                    f"{bound:,.0f}" if bound < float("inf") else "none known",
                )
            )
    head = (
        "game",
        "algorithm",
        "median of means",
        f"its interval ({level:.3f})",
        "Gini's mean difference below / above",
        "mean ± s.e.",
        "bound on the mean",
    )
    return table(head, rows)


def _guarantees(results: Results) -> str:
    game = results.experiment.panels[0].game(results.experiment.horizon)
    k, t = game.n_arms, game.horizon
    rows = []
    for contestant in results.experiment.contestants:
        algorithm = contestant.make()
        holds = algorithm.guarantee(n_arms=k, horizon=t)
        claimed = algorithm.paper_guarantee(n_arms=k, horizon=t)
        at = f"{holds.epsilon_at(t**-2):.4g} at delta = T^-2" if holds.rho is not None and t > 1 else ""
        paper = f"{claimed.epsilon:.6g}" + (f", delta = {claimed.delta:.2g}" if claimed.delta else "")
        rows.append((algorithm.name, f"{holds.epsilon:.6g}", at, paper, str(holds)))
    head = ("algorithm", "epsilon", "by zCDP", "the paper's figure", "guarantee and reason")
    return table(head, rows)
