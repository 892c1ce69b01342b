"""Prints what `dp-bandit audit` shows: the declared, the exact and the sampled epsilon of one algorithm."""

import math

from rich.console import Console
from rich.table import Table

from dp_bandit_envs import checks
from dp_bandit_envs.algorithms import make_algorithm
from dp_bandit_envs.audits import exact_loss, sampled_loss
from dp_bandit_envs.cli.run_arguments import contestant
from dp_bandit_envs.errors import NotAuditedError
from dp_bandit_envs.privacy.guarantee import PrivacyGuarantee

REFUTED = "refuted: more is lost than declared"
NOTHING = "nothing is declared"


def show_audit(
    console: Console,
    text: str,
    *,
    epsilon: float | None,
    confidence: float,
    horizon: int,
    games: int,
    seed: int,
) -> None:
    """Print the table.

    Args:
        console: Where to print.
        text: An algorithm's name, with parameters after a colon if wanted.
        epsilon: For an algorithm with this parameter whose text does not set it.
        confidence: That of the sampled bound, in (0, 1).
        horizon: Number of rounds, at least 2.
        games: Games on each table for each test; 0 leaves sampling out.
        seed: The seed.
    """
    horizon = checks.integer("horizon", horizon, at_least=2)
    games = checks.integer("games", games, at_least=0)
    chosen = contestant(text, None if epsilon is None else checks.epsilon(epsilon), lambda: horizon)
    algorithm = make_algorithm(chosen.name, **chosen.parameters)
    rows: list[tuple[str, float | None, str]] = []
    declared: PrivacyGuarantee | None = None
    try:
        exact = exact_loss(algorithm, horizon=horizon, seed=seed)
        declared = exact.declared
        verdict = NOTHING if declared.model == "none" else "within the claim" if exact.holds else REFUTED
        rows.append(("exact, of the noise", exact.epsilon, verdict))
    except NotAuditedError as reason:
        rows.append(("exact, of the noise", None, str(reason)))
    if games:
        try:
            sampled = sampled_loss(algorithm, games=games, confidence=confidence, horizon=horizon, seed=seed)
            declared = sampled.declared
            verdict = NOTHING if declared.model == "none" else "not refuted" if sampled.holds else REFUTED
            rows.append((f"sampled, at least ({confidence:.4g})", sampled.epsilon, verdict))
        except NotAuditedError as reason:
            rows.append(("sampled", None, str(reason)))
    if declared is not None:
        total = declared.delta_with_draws
        delta = f"delta = {total:.3g}" + ("" if declared.delta > 0 else " from fast draws") if total > 0 else ""
        rows.insert(0, ("declared", declared.epsilon, delta))
    table = Table(title=f"Privacy of {chosen.label or chosen.name}, T = {horizon:,}, K = 2", title_justify="left")
    for column in ("loss for a round", "epsilon", ""):
        table.add_column(column, justify="right" if column == "epsilon" else "left", overflow="fold")
    for row, number, words in rows:
        table.add_row(row, _number(number), words)
    console.print(table, highlight=False)


def _number(epsilon: float | None) -> str:
    if epsilon is None:
        return "-"
    return "inf" if math.isinf(epsilon) else f"{epsilon:.6g}"
