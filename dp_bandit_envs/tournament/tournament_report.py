"""The results of a tournament as Markdown and as a CSV table."""

import re
from typing import Final

from dp_bandit_envs.comparison.tables import amount, comma_separated
from dp_bandit_envs.runs.run_report import table
from dp_bandit_envs.tournament.hidden_games import KINDS
from dp_bandit_envs.tournament.holding import Tournament
from dp_bandit_envs.tournament.submissions import shown
from dp_bandit_envs.tournament.tournament_words import (
    HOW_TO_READ,
    NO_SANDBOX,
    about_seed,
    percent,
    possible,
    privacy,
    settings,
    spread,
    warnings_of,
)

FORMULA: Final = ("=", "+", "-", "@")
"""With these a spreadsheet begins a formula."""


def report_of(one: Tournament, command: str) -> str:
    """Return the report in Markdown.

    Args:
        one: The results.
        command: The command as it was typed.
    """
    parts = ["# Tournament", settings(one), privacy(one), "## Ranking", _ranking(one), *warnings_of(one)]
    parts.append("\n".join(f"- {line}" for line in HOW_TO_READ))
    kinds = "\n".join(f"- {kind.name}: {kind.about}" for kind in KINDS)
    parts += ["## Mean regret of a game, by kind", _by_kind(one), kinds]
    if one.failures:
        lines = (f"- {plain(match.submission.name)}: {plain(match.failure)}" for match in one.failures)
        parts += ["## Did not finish", "\n".join(lines)]
    printed = [match for match in one.matches if match.output.strip()]
    if printed:
        parts.append("## What agents printed")
        parts += [f"{plain(match.submission.name)}:\n\n{_indented(match.output)}" for match in printed]
    parts += ["## Again", plain(about_seed(one, command)), NO_SANDBOX]
    return "\n\n".join(parts) + "\n"


def summary_of(one: Tournament) -> str:
    """Return one row for each player: rank, score in percent, mean regret of a game of each kind."""
    kinds = [f"regret: {kind.name}" for kind in KINDS]
    head = ["rank", "first possible", "last possible", "agent", "what", "score", "low", "high", *kinds, "why not"]
    rows = []
    for place in one.places:
        ranks = ["", "", ""] if place.is_reference else [str(place.rank), str(place.first), str(place.last)]
        score = [f"{100 * value:.10g}" for value in place.share]
        regrets = [f"{mean.value:.10g}" for mean in place.regret]
        what = "reference" if place.is_reference else "submission"
        rows.append([*ranks, _no_formula(place.name), what, *score, *regrets, ""])
    for match in one.failures:
        blank = [""] * (3 + len(kinds))
        row = ["", "", "", _no_formula(match.submission.name), "did not finish", *blank, _no_formula(match.failure)]
        rows.append(row)
    return comma_separated(head, rows)


def plain(text: str) -> str:
    """Return text that Markdown and HTML in it show as it is."""
    escaped = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return re.sub(r"([\\`*_\[\]#~])", r"\\\1", escaped)


def _ranking(one: Tournament) -> str:
    rows = []
    for place in one.places:
        rank = "" if place.is_reference else str(place.rank)
        rows.append([rank, plain(place.name), f"{percent(place.share.value)} %", spread(place.share), possible(place)])
    return table(["rank", "agent", "score", "95 % interval", "possible ranks"], rows)


def _by_kind(one: Tournament) -> str:
    rows = []
    for place in one.places:
        cells = [f"{amount(mean.value)} ({amount(mean.low)} to {amount(mean.high)})" for mean in place.regret]
        rows.append([plain(place.name), *cells])
    return table(["agent", *(kind.name for kind in KINDS)], rows)


def _indented(output: str) -> str:
    return "\n".join(f"    {shown(line)}" for line in output.splitlines())


def _no_formula(text: str) -> str:
    return f"'{text}" if text.startswith(FORMULA) else text
