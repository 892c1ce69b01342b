"""Prints what `dp-bandit audit` shows: the declared, the exact and the sampled epsilons of one algorithm, as bars."""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from rich.console import Console
from rich.table import Table

from dp_bandit_envs import checks
from dp_bandit_envs.algorithms import Algorithm
from dp_bandit_envs.audits import ExactLoss, SampledLoss, exact_loss, sampled_loss
from dp_bandit_envs.cli.run_arguments import audited
from dp_bandit_envs.errors import NotAuditedError
from dp_bandit_envs.plots.audit_plot import Bar, audit_figure, longest_of
from dp_bandit_envs.plots.figure_bytes import as_bytes
from dp_bandit_envs.privacy.guarantee import PrivacyGuarantee
from dp_bandit_envs.privacy.mechanism import Mechanism

REFUTED = "refuted: more is lost than declared"
NOTHING = "nothing is declared"
MOST_ROUNDS = 100_000
"""The most rounds of an audited game: all its noise is held as a table."""
BAR = 20
"""The length of the longest bar, in characters."""


class Row(NamedTuple):
    """One bar, and what is said of it."""

    bar: Bar
    verdict: str


def show_audit(
    console: Console,
    text: str,
    *,
    epsilon: float | None,
    confidence: float,
    horizon: int,
    games: int,
    seed: int,
    out: Path | None = None,
) -> None:
    """Print the table with bars, and save a plot if `out` is set.

    Args:
        console: Where to print.
        text: As for `audited`.
        epsilon: For an algorithm with this parameter whose text does not set it.
        confidence: That of each sampled bound, in (0, 1).
        horizon: Number of rounds, at least 2.
        games: Games on each table for each test; 0 leaves sampling out.
        seed: The seed.
        out: A `.png` or `.svg` file for the plot.
    """
    horizon = checks.integer("horizon", horizon, at_least=2, at_most=MOST_ROUNDS)
    games = checks.integer("games", games, at_least=0)
    seed = checks.integer("seed", seed, at_least=0)
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must be in (0, 1); received {confidence!r}. Use 0.99, for example.")
    algorithm, name, parameters = audited(text, None if epsilon is None else checks.epsilon(epsilon), horizon)
    if epsilon is not None and parameters.get("epsilon") != epsilon:
        raise ValueError(
            f"epsilon must be for an algorithm that takes one; {name} takes none, or has it written after its"
            " name. Leave --epsilon out."
        )
    rows, declared, note = _audited(algorithm, confidence=confidence, horizon=horizon, games=games, seed=seed)
    if declared is not None:
        total = declared.delta_with_draws
        delta = f"delta = {total:.3g}" + ("" if declared.delta > 0 else " from fast draws") if total > 0 else ""
        rows.insert(0, Row(Bar("declared", "declared", declared.epsilon), delta))
    bars = [row.bar for row in rows]
    title = f"Privacy of {name}, T = {horizon:,}, K = 2"
    longest, block = longest_of(bars), "#" if console.options.ascii_only else "█"
    table = Table(title=title, title_justify="left")
    for column in ("loss for a round", "epsilon", "", " "):
        right = column == "epsilon"
        table.add_column(column, justify="right" if right else "left", no_wrap=column != " ", overflow="fold")
    for bar, verdict in rows:
        share = min((bar.epsilon or 0.0) / longest, 1.0)
        table.add_row(bar.label, _number(bar), block * round(BAR * share), verdict)
    console.print(table, highlight=False)
    if any(bar.at_least for bar in bars):
        console.print(f">= is a lower bound from games, with confidence {confidence:.4g} for each.", highlight=False)
    if note:
        console.print(f"Played in ordinary Python, which takes longer: {note}.", highlight=False)
    if out is not None:
        title += f"; lower bounds with confidence {confidence:.4g}" if games else ""
        out.write_bytes(as_bytes(audit_figure(bars, title), out.suffix[1:]))
        console.print(f"See {out}.", highlight=False, soft_wrap=True)


def _audited(
    algorithm: Algorithm | Mechanism, *, confidence: float, horizon: int, games: int, seed: int
) -> tuple[list[Row], PrivacyGuarantee | None, str]:
    """Return a row for each audit, the guarantee, and why games were not compiled."""
    rows: list[Row] = []
    found: list[Any] = []

    def add(bar: Bar, audit: Callable[[], ExactLoss | SampledLoss], survived: str) -> None:
        try:
            loss = audit()
        except NotAuditedError as reason:
            rows.append(Row(bar, str(reason)))
            return
        found.append(loss)
        verdict = NOTHING if loss.declared.model == "none" else survived if loss.holds else REFUTED
        rows.append(Row(bar._replace(epsilon=loss.epsilon), verdict))

    settings: dict[str, Any] = {"horizon": horizon, "seed": seed}
    exact = Bar("exact", "exact, of the noise", None)
    add(exact, lambda: exact_loss(algorithm, **settings), "within the claim")
    if games:
        settings |= {"games": games, "confidence": confidence}
        arms = Bar("arms", "sampled, arms", None, at_least=True)
        add(arms, lambda: sampled_loss(algorithm, of="arms", **settings), "not refuted")
        releases = Bar("releases", "sampled, releases", None, at_least=True)
        add(releases, lambda: sampled_loss(algorithm, of="releases", **settings), "not refuted")
    note = next((loss.note for loss in found if getattr(loss, "note", "")), "")
    return rows, found[-1].declared if found else None, note


def _number(bar: Bar) -> str:
    if bar.epsilon is None:
        return "-"
    number = "inf" if math.isinf(bar.epsilon) else f"{bar.epsilon:.6g}"
    return f">= {number}" if bar.at_least else number
