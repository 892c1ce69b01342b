"""What a tournament writes: one page of HTML, a report and a table, from the same rows and in the same words."""

import contextlib
import itertools
import re
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Final, NamedTuple

from dp_bandit_envs import __version__
from dp_bandit_envs.comparison.tables import amount, comma_separated
from dp_bandit_envs.errors import ResultsError
from dp_bandit_envs.files import make_folder, remove, whole_file
from dp_bandit_envs.runs.run_report import table
from dp_bandit_envs.tournament.hidden_games import KINDS
from dp_bandit_envs.tournament.holding import Place, Tournament, can_tell_apart
from dp_bandit_envs.tournament.refereeing import BY_THE_CLOCK, shown

PAGE, REPORT, SUMMARY = "index.html", "report.md", "summary.csv"
HEAD: Final = ("rank", "agent", "score", "95 % interval", "possible ranks")
"""The names of the first five columns of `Row`."""
NO_SANDBOX: Final = (
    "This is no sandbox: an agent's process has your rights, and its limits stop mistakes, not attacks. Run files of"
    " people you do not trust on a machine that has nothing else on it (docs/tournament.md)."
)
HOW_TO_READ: Final = (
    "The score is regret as a share of what choosing arms at random loses in the same kind of game, averaged over the"
    " kinds: 0 % is the best arm throughout, 100 % is chance, and less is better. Changing arms in time can give less"
    " than 0.",
    "The interval beside a score is for the mean over all games that could have been drawn, with 95 % confidence (BCa"
    " bootstrap over the games); what chance loses is taken as it was in these games.",
    "Possible ranks: everybody plays the same games, so agents are compared by their differences, game by game. Two"
    " agents share ranks unless a sign-flip test, corrected for all pairs by Holm's method, finds a difference. If the"
    " differences of a pair are as often above 0 as below by as much (symmetric), the chance of any such verdict is at"
    " most 5 %. It is no test of means alone: of two agents with equal means, one that is slightly better in most games"
    " and far worse in a few can be ranked before the other far more often than that.",
    "References are known algorithms in the same games; they have no rank.",
)
FORMULA: Final = ("=", "+", "-", "@")
"""With these a spreadsheet begins a formula."""
WIDEST: Final = 1.2
"""The share at the right end of the bars, if nobody is far worse than chance."""
STYLE: Final = """
:root { color-scheme: light dark; --ink: #1d2430; --paper: #fdfdfb; --faint: #667085; --line: #d9dce3;
  --bar: #2b6cb0; --other: #9aa5b5; --chance: #c2410c; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e8ec; --paper: #14171c; --faint: #9aa3b2; --line: #323843; --bar: #63a4e8; --other: #6b7586;
    --chance: #f59e66; }
}
body { margin: 0 auto; max-width: 58rem; padding: 1rem; color: var(--ink); background: var(--paper);
  font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.6rem; margin: .5rem 0; } h2 { font-size: 1.15rem; margin: 2rem 0 .5rem; }
table { border-collapse: collapse; width: 100%; }
th { text-align: left; font-weight: 600; color: var(--faint); font-size: .85rem; }
th, td { padding: .45rem .5rem; border-bottom: 1px solid var(--line); vertical-align: top; }
.number { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
.name { width: 100%; }
small { display: block; color: var(--faint); }
.reference td { color: var(--faint); }
.bar { position: relative; height: .6rem; margin-top: .35rem; border-radius: .3rem; background: var(--line); }
.bar i { position: absolute; height: 100%; border-radius: .3rem; background: var(--bar); }
.reference .bar i { background: var(--other); }
.bar u { position: absolute; top: 35%; height: 30%; background: var(--ink); }
.bar b { position: absolute; top: -.15rem; width: 2px; height: .9rem; background: var(--chance); }
.bar s { position: absolute; top: -.15rem; width: 1px; height: .9rem; background: var(--ink); }
.wide { overflow-x: auto; font-size: .9rem; } .wide td:first-child { min-width: 8rem; }
.note { color: var(--faint); font-size: .9rem; } li { margin: .3rem 0; }
"""


class Row(NamedTuple):
    """A player's place in words.

    Attributes:
        rank: Empty for a reference.
        name: The player, as it is: to be escaped.
        score: In percent.
        interval: That of the score, in percent.
        possible: The ranks that are possible; empty for a reference.
        regrets: The mean regret of a game of each kind, and its interval.
    """

    rank: str
    name: str
    score: str
    interval: str
    possible: str
    regrets: list[tuple[str, str]]


def rows_of(one: Tournament) -> list[Row]:
    """Return a row for each player that played to the end, the best first."""
    return [_row(place) for place in one.places]


def _row(place: Place) -> Row:
    value, low, high = (f"{100 * part:.1f}" for part in place.share)
    rank, possible = str(place.rank), f"{place.first} to {place.last}"
    if place.is_reference:
        rank = possible = ""
    elif place.first == place.last:
        possible = str(place.first)
    regrets = [(amount(mean.value), f"{amount(mean.low)} to {amount(mean.high)}") for mean in place.regret]
    return Row(rank, place.name, f"{value} %", f"{low} to {high}", possible, regrets)


def settings(one: Tournament) -> str:
    """Return what was played, in two sentences."""
    games = one.games
    number = len(one.matches)
    return (
        f"{number} {'agent' if number == 1 else 'agents'} in the same {games.games * len(KINDS)} hidden games of"
        f" {games.horizon:,} rounds with {games.n_arms} arms: {games.games} of each of {len(KINDS)} kinds."
        f" Each agent had {one.limits.seconds:g} s of processor time, {BY_THE_CLOCK * one.limits.seconds:g} s by the"
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
    """Return what a reader has to know: limits that this system does not have, and games too few to rank."""
    found = []
    if one.unlimited:
        found.append(f"This system sets no limit of {' and of '.join(one.unlimited)} for a process.")
    if not can_tell_apart(len(one.places), one.games.games):
        found.append(
            f"{one.games.games} games of each kind are too few to tell {len(one.places)} players apart; use more"
            " (--games)."
        )
    return found


def page_of(one: Tournament, command: str) -> str:
    """Return the page; every name and message in it is escaped."""
    parts = [f"<h1>Tournament</h1><p>{escape(settings(one))}</p><p>{escape(privacy(one))}</p>"]
    warnings = "".join(f"<p><strong>{escape(warning)}</strong></p>" for warning in warnings_of(one))
    parts.append(f"<h2>Ranking</h2>{_ranking(one)}{warnings}")
    if one.failures:
        lines = (
            f"<li><strong>{escape(match.submission.name)}</strong>: {escape(match.failure)}</li>"
            for match in one.failures
        )
        parts.append(f"<h2>Did not finish</h2><ul>{''.join(lines)}</ul>")
    parts.append(f"<h2>How to read it</h2><ul>{''.join(f'<li>{escape(line)}</li>' for line in HOW_TO_READ)}</ul>")
    kinds = "".join(f"<li>{escape(kind.name)}: {escape(kind.about)}</li>" for kind in KINDS)
    parts.append(f"<h2>Mean regret of a game, by kind</h2>{_by_kind(one)}<ul class='note'>{kinds}</ul>")
    notes = (about_seed(one, command), f"Made by dp-bandit-envs {__version__}.")
    parts.append("".join(f"<p class='note'>{escape(note)}</p>" for note in notes))
    return (
        "<!doctype html>\n<html lang='en'><head><meta charset='utf-8'>"
        "<meta name='viewport' content='width=device-width, initial-scale=1'>"
        f"<title>Tournament</title><style>{STYLE}</style></head>\n<body>\n" + "\n".join(parts) + "\n</body></html>\n"
    )


def _ranking(one: Tournament) -> str:
    lowest = min(0.0, *(place.share.low for place in one.places))
    widest = max(WIDEST, *(place.share.high for place in one.places))
    lines = []
    for place, row in zip(one.places, rows_of(one), strict=True):
        lines.append(
            f"<tr{_kind(place)}><td class='number'>{row.rank}<small>{row.possible}</small></td>"
            f"<td>{escape(row.name)}{_bar(place, lowest, widest)}</td>"
            f"<td class='number'>{row.score}<small>{row.interval}</small></td></tr>"
        )
    head = "<th class='number'>rank</th><th class='name'>agent</th><th class='number'>score</th>"
    zero = "; thin upright line: 0 %, the best arm; bars to its left are below 0" if lowest < 0 else ""
    legend = (
        "<p class='note'>Below a rank: the ranks that are possible. Bar: score; thin line: 95 % interval; upright line:"
        f" chance, 100 %{zero}.</p>"
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody></table>{legend}"


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
    head = "".join(f"<th class='number'>{escape(kind.name)}</th>" for kind in KINDS)
    lines = []
    for place, row in zip(one.places, rows_of(one), strict=True):
        cells = "".join(f"<td class='number'>{mean}<small>{spread}</small></td>" for mean, spread in row.regrets)
        lines.append(f"<tr{_kind(place)}><td>{escape(row.name)}</td>{cells}</tr>")
    return (
        f"<div class='wide'><table><thead><tr><th>agent</th>{head}</tr></thead>"
        f"<tbody>{''.join(lines)}</tbody></table></div>"
    )


def report_of(one: Tournament, command: str) -> str:
    """Return the report in Markdown."""
    rows = rows_of(one)
    ranking = table(HEAD, [(row.rank, plain(row.name), row.score, row.interval, row.possible) for row in rows])
    by_kind = table(
        ["agent", *(kind.name for kind in KINDS)],
        [[plain(row.name), *(f"{mean} ({spread})" for mean, spread in row.regrets)] for row in rows],
    )
    parts = ["# Tournament", settings(one), privacy(one), "## Ranking", ranking, *warnings_of(one)]
    parts.append("\n".join(f"- {line}" for line in HOW_TO_READ))
    parts += ["## Mean regret of a game, by kind", by_kind, "\n".join(f"- {kind.name}: {kind.about}" for kind in KINDS)]
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


def _indented(output: str) -> str:
    return "\n".join(f"    {shown(line)}" for line in output.splitlines())


def _no_formula(text: str) -> str:
    return f"'{text}" if text.startswith(FORMULA) else text


def unused_folder(below: Path) -> Path:
    """Return `tournament`, `tournament-2` and so on below a folder: the first that does not exist."""
    names = itertools.chain(["tournament"], (f"tournament-{number}" for number in itertools.count(2)))
    return next(path for name in names if not (path := below / name).exists())


@contextlib.contextmanager
def reserved(folder: Path) -> Iterator[None]:
    """Make the folder before anything is played; remove it again if nothing gets into it.

    Raises:
        ResultsError: If it is not empty, or cannot be made.
    """
    try:
        new = not folder.exists()
        make_folder(folder)
        if any(folder.iterdir()):
            raise ResultsError(
                f"{folder}: the folder of a tournament must be new or empty; it contains files. Choose another."
            )
    except OSError as error:
        raise ResultsError(f"{folder}: the folder must be writable; {error.strerror}. Choose another.") from None
    try:
        yield
    finally:
        if new:
            with contextlib.suppress(OSError):
                folder.rmdir()


def write(folder: Path, one: Tournament, command: str) -> None:
    """Write page, report and table, all of them or none."""
    contents = {SUMMARY: summary_of(one), REPORT: report_of(one, command), PAGE: page_of(one, command)}
    try:
        for name, text in contents.items():
            with whole_file(folder / name) as file:
                # A folder's name in the command may contain undecodable bytes.
                file.write(text.encode(errors="replace"))
    except BaseException:
        for name in contents:
            remove(folder / name)
        raise
