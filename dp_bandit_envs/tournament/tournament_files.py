"""What a tournament writes: one page of HTML, a report and a table, from the same rows and in the same words."""

import itertools
import re
import tempfile
from html import escape
from pathlib import Path
from typing import Final, NamedTuple

from dp_bandit_envs.comparison.tables import amount, comma_separated
from dp_bandit_envs.errors import ResultsError
from dp_bandit_envs.files import make_folder, whole_folder
from dp_bandit_envs.runs.run_report import table
from dp_bandit_envs.submitted_code import NO_SANDBOX, html_list, html_page, no_formula, scrolling_table, shown
from dp_bandit_envs.tournament.hidden_games import KINDS
from dp_bandit_envs.tournament.holding import Place, Tournament, can_tell_apart

PAGE, REPORT, SUMMARY = "index.html", "report.md", "summary.csv"
HEAD: Final = ("rank", "agent", "score", "95 % interval", "possible ranks")
"""The names of the first five columns of `Row`."""
HOW_TO_READ: Final = (
    "The score is regret as a share of what a blind player loses in the same kind of game, averaged over the kinds, of"
    " which switching costs count half: 0 % is the best arm throughout, 100 % is blind, and less is better. Changing"
    " arms in time can give less than 0.",
    "Two players are blind: one chooses arms at random, one plays always the same arm; in each kind of game the one who"
    " loses less counts. If arms at random alone counted, always the same arm would score well below 100 % without"
    " having learnt anything: it never pays for a change of arm, and arms at random do so in most rounds.",
    "The interval beside a score is for the mean over all games that could have been drawn, with 95 % confidence (BCa"
    " bootstrap over the games); what blind players lose is taken as it was in these games.",
    "Possible ranks: everybody plays the same games, so agents are compared by their differences, game by game. Two"
    " agents share ranks unless a sign-flip test, corrected for all pairs by Holm's method, finds a difference. If the"
    " differences of a pair are as often above 0 as below by as much (symmetric), the chance of any such verdict is at"
    " most 5 %. It is no test of means alone: of two agents with equal means, one that is slightly better in most games"
    " and far worse in a few can be ranked before the other far more often than that.",
    "References are known algorithms in the same games; they have no rank.",
)
WIDEST: Final = 1.2
"""The share at the right end of the bars, if nobody is far worse than blind."""
STYLE: Final = """
.number { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; } .name { width: 100%; }
.reference td { color: var(--faint); }
.bar { position: relative; height: .6rem; margin-top: .35rem; border-radius: .3rem; background: var(--line); }
.bar i { position: absolute; height: 100%; border-radius: .3rem; background: var(--bar); }
.reference .bar i { background: var(--other); }
.bar u { position: absolute; top: 35%; height: 30%; background: var(--ink); }
.bar b { position: absolute; top: -.15rem; width: 2px; height: .9rem; background: var(--chance); }
.bar s { position: absolute; top: -.15rem; width: 1px; height: .9rem; background: var(--ink); }
"""


class Row(NamedTuple):
    """A player's place in words: its name is to be escaped, scores are in percent, and references have no rank."""

    rank: str
    name: str
    score: str
    interval: str
    possible: str
    regrets: list[tuple[str, str]]


def rows_of(one: Tournament) -> list[Row]:
    """Return a row for each player that played to the end, the best first."""
    found = []
    for place in one.places:
        value, low, high = (f"{100 * part:.1f}" for part in place.share)
        rank, possible = str(place.rank), " to ".join(map(str, sorted({place.first, place.last})))
        if place.is_reference:
            rank = possible = ""
        regrets = [(amount(mean.value), f"{amount(mean.low)} to {amount(mean.high)}") for mean in place.regret]
        found.append(Row(rank, place.name, f"{value} %", f"{low} to {high}", possible, regrets))
    return found


def settings(one: Tournament) -> str:
    """Return what was played, in two sentences."""
    games = one.games
    number = len(one.matches)
    return (
        f"{number} {'agent' if number == 1 else 'agents'} in the same {games.games * len(KINDS)} hidden games of"
        f" {games.horizon:,} rounds with {games.n_arms} arms: {games.games} of each of {len(KINDS)} kinds."
        f" Each agent had {one.limits.seconds:g} s of processor time, {one.limits.by_the_clock:g} s by the"
        f" clock and {one.limits.megabytes:,} MB of memory for all of them."
    )


def privacy(one: Tournament) -> str:
    """Return what protects the gains that agents saw."""
    epsilon = one.games.epsilon
    if epsilon is None:
        return "Agents saw the true gains of the arms that they played; nothing was private."
    if epsilon == float("inf"):
        return "Agents saw gains through LaplaceClipRescale with epsilon = inf, which adds no noise."
    return (
        f"Every agent saw gains through LaplaceClipRescale with epsilon = {epsilon:g}, so that the arms it plays in a"
        f" game are {epsilon:g}-differentially private for one changed round, whatever it does. This is said of one"
        " agent, and holds unless agents exchange what they saw: all see the same gains, each with noise of its own,"
        " and two that pool it have up to twice the epsilon. Scores are computed from true gains, and are not private;"
        " the gains are made up."
    )


def about_seed(one: Tournament, command: str) -> str:
    """Return the seed, and how to play the same games again."""
    repeat = command if " --seed" in command else f"{command} --seed {one.games.seed}"
    return f"The games came from the seed {one.games.seed}. To play the same games again: {repeat}"


def warnings_of(one: Tournament) -> list[str]:
    """Return what a reader has to know: limits that this system does not have, equal agents, games too few to rank."""
    found = []
    if one.unlimited:
        found.append(f"This system sets no limit of {' and of '.join(one.unlimited)} for a process.")
    found += [f"The same code, but for comments and spaces: {', '.join(names)}." for names in one.equal]
    if not can_tell_apart(len(one.places), one.games.games):
        found.append(
            f"{one.games.games} games of each kind are too few to tell {len(one.places)} players apart; use more"
            " (--games)."
        )
    return found


def page_of(one: Tournament, command: str) -> str:
    """Return the page; every name and message in it is escaped."""
    parts = [f"<p>{escape(settings(one))}</p><p>{escape(privacy(one))}</p><h2>Ranking</h2>{_ranking(one)}"]
    parts += [f"<p><strong>{escape(warning)}</strong></p>" for warning in warnings_of(one)]
    if one.failures:
        lines = (f"{match.submission.name}: {match.failure}" for match in one.failures)
        parts.append(f"<h2>Did not finish</h2>{html_list(lines)}")
    kinds = html_list((f"{kind.name}: {kind.about}" for kind in KINDS), "note")
    parts += [f"<h2>How to read it</h2>{html_list(HOW_TO_READ)}"]
    parts += [f"<h2>Mean regret of a game, by kind</h2>{_by_kind(one)}{kinds}"]
    parts.append(f"<p class='note'>{escape(about_seed(one, command))}</p>")
    return html_page("Tournament", parts, STYLE)


def _ranking(one: Tournament) -> str:
    lowest = min(0.0, *(place.share.low for place in one.places))
    widest = max(WIDEST, *(place.share.high for place in one.places))
    rows = (
        f"<tr{_kind(place)}><td class='number'>{row.rank}<small>{row.possible}</small></td>"
        f"<td>{escape(row.name)}{_bar(place, lowest, widest)}</td>"
        f"<td class='number'>{row.score}<small>{row.interval}</small></td></tr>"
        for place, row in zip(one.places, rows_of(one), strict=True)
    )
    head = "<th class='number'>rank</th><th class='name'>agent</th><th class='number'>score</th>"
    zero = "; thin upright line: 0 %, the best arm; bars to its left are below 0" if lowest < 0 else ""
    return (
        f"<table><tr>{head}</tr>{''.join(rows)}</table><p class='note'>Below a rank: the ranks that are possible. Bar:"
        f" score; thin line: 95 % interval; upright line: blind, 100 %{zero}.</p>"
    )


def _kind(place: Place) -> str:
    return " class='reference'" if place.is_reference else ""


def _bar(place: Place, lowest: float, widest: float) -> str:
    value, low, high, zero, chance = (
        100 * (min(max(part, lowest), widest) - lowest) / (widest - lowest) for part in (*place.share, 0.0, 1.0)
    )
    return (
        f"<div class='bar'><i style='left:{min(zero, value):.2f}%;width:{abs(value - zero):.2f}%'></i>"
        f"<u style='left:{low:.2f}%;width:{high - low:.2f}%'></u><b style='left:{chance:.2f}%'></b>"
        + (f"<s style='left:{zero:.2f}%'></s>" if lowest < 0 else "")
        + "</div>"
    )


def _by_kind(one: Tournament) -> str:
    rows = []
    for place, row in zip(one.places, rows_of(one), strict=True):
        cells = "".join(f"<td class='number'>{mean}<small>{spread}</small></td>" for mean, spread in row.regrets)
        rows.append(f"<tr{_kind(place)}><td>{escape(row.name)}</td>{cells}</tr>")
    head = (f"<th class='number'>{escape(kind.name)}</th>" for kind in KINDS)
    return scrolling_table(["<th>agent</th>", *head], rows)


def report_of(one: Tournament, command: str) -> str:
    """Return the report in Markdown."""
    rows = rows_of(one)
    ranking = table(HEAD, [(row.rank, plain(row.name), row.score, row.interval, row.possible) for row in rows])
    by_kind = table(
        ["agent", *(kind.name for kind in KINDS)],
        [[plain(row.name), *(f"{mean} ({spread})" for mean, spread in row.regrets)] for row in rows],
    )
    parts = ["# Tournament", NO_SANDBOX, settings(one), privacy(one), "## Ranking", ranking]
    parts += [*map(plain, warnings_of(one)), "\n".join(f"- {line}" for line in HOW_TO_READ)]
    parts += ["## Mean regret of a game, by kind", by_kind, "\n".join(f"- {kind.name}: {kind.about}" for kind in KINDS)]
    if one.failures:
        lines = (f"- {plain(match.submission.name)}: {plain(match.failure)}" for match in one.failures)
        parts += ["## Did not finish", "\n".join(lines)]
    printed = [match for match in one.matches if match.output.strip()]
    if printed:
        parts.append("## What agents printed")
        for match in printed:
            output = "\n".join(f"    {shown(line)}" for line in match.output.splitlines())
            parts.append(f"{plain(match.submission.name)}:\n\n{output}")
    parts += ["## Again", plain(about_seed(one, command))]
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
        rows.append([*ranks, no_formula(place.name), what, *score, *regrets, ""])
    for match in one.failures:
        blank = [""] * (3 + len(kinds))
        row = ["", "", "", no_formula(match.submission.name), "did not finish", *blank, no_formula(match.failure)]
        rows.append(row)
    return comma_separated(head, rows)


def plain(text: str) -> str:
    """Return text that Markdown and HTML in it show as it is."""
    escaped = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return re.sub(r"([\\`*_\[\]#~])", r"\\\1", escaped)


def unused_folder(below: Path, name: str = "tournament") -> Path:
    """Return `tournament`, `tournament-2` and so on below a folder: the first that does not exist."""
    names = itertools.chain([name], (f"{name}-{number}" for number in itertools.count(2)))
    return next(path for name in names if not (path := below / name).exists())


def check_unused(folder: Path) -> None:
    """Raise `ResultsError` for a folder that is not new or empty, or cannot be made, before anything is played."""
    try:
        make_folder(folder.parent)
        with tempfile.TemporaryFile(dir=folder.parent):
            pass
        if folder.exists() and any(folder.iterdir()):
            raise ResultsError(
                f"{folder}: the folder of a tournament must be new or empty; it contains files. Choose another."
            )
    except OSError as error:
        raise ResultsError(f"{folder}: the folder must be writable; {error.strerror}. Choose another.") from None


def write(folder: Path, one: Tournament, command: str) -> Path:
    """Write all files, or none, into a fresh folder, another one if somebody wrote into it meanwhile, and return it."""
    if folder.exists() and any(folder.iterdir()):
        folder = unused_folder(folder.parent, folder.name)
    contents = {SUMMARY: summary_of(one), REPORT: report_of(one, command), PAGE: page_of(one, command)}
    # A folder's name in the command may contain undecodable bytes.
    whole_folder(folder, {name: text.encode(errors="replace") for name, text in contents.items()})
    return folder
