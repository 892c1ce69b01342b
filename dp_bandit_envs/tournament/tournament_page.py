"""The results of a tournament as one HTML file that needs no other: for a projector and for a telephone."""

from html import escape
from typing import Final

from dp_bandit_envs import __version__
from dp_bandit_envs.comparison.tables import amount
from dp_bandit_envs.tournament.final_table import Place
from dp_bandit_envs.tournament.hidden_games import KINDS
from dp_bandit_envs.tournament.holding import Tournament
from dp_bandit_envs.tournament.tournament_words import (
    HOW_TO_READ,
    about_seed,
    percent,
    possible,
    privacy,
    settings,
    spread,
    warnings_of,
)

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


def page_of(one: Tournament, command: str) -> str:
    """Return the page; every name and message in it is escaped.

    Args:
        one: The results.
        command: The command as it was typed.
    """
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
    head = "<th class='number'>rank</th><th class='name'>agent</th><th class='number'>score</th>"
    rows = "".join(_row(place, lowest, widest) for place in one.places)
    zero = "; thin upright line: 0 %, the best arm; bars to its left are below 0" if lowest < 0 else ""
    legend = (
        "<p class='note'>Below a rank: the ranks that are possible. Bar: score; thin line: 95 % interval; upright line:"
        f" chance, 100 %{zero}.</p>"
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>{legend}"


def _row(place: Place, lowest: float, widest: float) -> str:
    kind, rank = (" class='reference'", "") if place.is_reference else ("", str(place.rank))
    value, low, high, zero, chance = (
        100 * (min(max(part, lowest), widest) - lowest) / (widest - lowest) for part in (*place.share, 0.0, 1.0)
    )
    bar = (
        f"<div class='bar'><i style='left:{min(zero, value):.2f}%;width:{abs(value - zero):.2f}%'></i>"
        f"<u style='left:{low:.2f}%;width:{high - low:.2f}%'></u><b style='left:{chance:.2f}%'></b>"
        + (f"<s style='left:{zero:.2f}%'></s>" if lowest < 0 else "")
        + "</div>"
    )
    score = f"{percent(place.share.value)} %<small>{spread(place.share)}</small>"
    return (
        f"<tr{kind}><td class='number'>{rank}<small>{possible(place)}</small></td>"
        f"<td>{escape(place.name)}{bar}</td><td class='number'>{score}</td></tr>"
    )


def _by_kind(one: Tournament) -> str:
    head = "".join(f"<th class='number'>{escape(kind.name)}</th>" for kind in KINDS)
    rows = []
    for place in one.places:
        cells = "".join(
            f"<td class='number'>{amount(mean.value)}<small>{amount(mean.low)} to {amount(mean.high)}</small></td>"
            for mean in place.regret
        )
        kind = " class='reference'" if place.is_reference else ""
        rows.append(f"<tr{kind}><td>{escape(place.name)}</td>{cells}</tr>")
    return (
        f"<div class='wide'><table><thead><tr><th>agent</th>{head}</tr></thead>"
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )
