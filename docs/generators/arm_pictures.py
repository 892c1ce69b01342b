"""Drawings of a game with arms: what they pay, and a game going by."""

import itertools

import numpy as np

from dp_bandit_envs.plots.plot_style import VERMILION
from dp_bandit_envs.protocols import FloatArray
from generators import moving, svg
from generators.played import Played, thinned

LEFT, PLOT, SIDE = 62, 316, 388
"""Left end and width of the panels, and where what is beside them begins."""
OTHERS = ("7 3", "2 3", "7 3 2 3")
"""Dashes of the regrets of other algorithms."""
MOST_COLOURS = 6


def colours_of(totals: FloatArray) -> list[str]:
    """Return the colour of each arm; of many arms only the best has one."""
    n_arms = totals.shape[1]
    if n_arms <= MOST_COLOURS:
        return list(svg.COLOURS[:n_arms])
    best = int(totals[-1].argmax())
    return [svg.COLOURS[0] if arm == best else svg.TEXT for arm in range(n_arms)]


def arm_name(game: Played, arm: int) -> str:
    """Return an arm's number, or of many arms the number of the best only."""
    n_arms = game.totals.shape[1]
    if n_arms > MOST_COLOURS and arm != int(game.totals[-1].argmax()):
        return ""
    return f"arm {arm}"


def spread_out(places: list[float], apart: float = 13) -> list[float]:
    """Return places for labels that do not touch, as near to the wanted ones as it goes from the top down."""
    found = list(places)
    order = sorted(range(len(places)), key=lambda one: places[one])
    for before, after in itertools.pairwise(order):
        found[after] = max(found[after], found[before] + apart)
    # What was pushed out at the bottom comes back up.
    surplus = max((found[one] for one in order), default=0) - max(places, default=0)
    return [place - surplus / 2 for place in found]


def first_rounds(game: Played, rounds: int, top: float, row: float) -> list[str]:
    """Return a row for each arm and a square for each of the first rounds, the fuller the more it pays."""
    return squares(np.diff(game.totals[: rounds + 1], axis=0), colours_of(game.totals), top, row, PLOT)


def squares(gains: FloatArray, colours: list[str], top: float, row: float, width: float) -> list[str]:
    """Return a row for each arm and a square for each round of `gains`, shape `(rounds, n_arms)`."""
    low, high = float(gains.min()), float(gains.max())
    scaled = (gains - low) / (high - low) if high > low else np.zeros_like(gains)
    step, parts = width / len(gains), []
    for arm in range(gains.shape[1]):
        for t, share in enumerate(scaled[:, arm]):
            if share > 0.02:
                place = LEFT + step * t, top + row * arm
                shade = {"opacity": f"{share:.2f}".rstrip("0").rstrip(".")}
                parts.append(svg.box(*place, step - 1, row - 2, colours[arm], **shade))
    return parts


def rows_of(n_arms: int) -> float:
    """Return the height of a row."""
    return max(7.0, min(18.0, 100 / n_arms))


def what_arms_pay(name: str, title: str, game: Played) -> str:
    """Return a drawing of the first rounds and of each arm's average so far."""
    n_arms, rounds = game.totals.shape[1], len(game.regret)
    colours, row, shown = colours_of(game.totals), rows_of(n_arms), min(60, rounds)
    gains = np.diff(game.totals[: shown + 1], axis=0)
    ends = f"{gains.min():.2g} (empty) to {gains.max():.2g} (full)"
    parts = [svg.text(0, 13, f"Gains in rounds 1 to {shown}, {ends}", font_weight="600")]
    parts += first_rounds(game, shown, 24, row)
    for arm in range(n_arms):
        parts.append(svg.text(LEFT - 6, 24 + row * arm + row / 2 + 3, arm_name(game, arm), anchor="end"))
    at, _ = thinned(game.regret, 150)
    means = game.totals[at.astype(int)] / at[:, None]
    first = max(2, len(at) // 30)
    low, high = float(means[first:].min()), float(means[first:].max())
    room = 0.08 * max(high - low, 0.02)
    panel = svg.Panel(LEFT, 24 + row * n_arms + 40, PLOT, 120, (0, rounds), (max(0, low - room), high + room))
    parts += [panel.title("Average gain of each arm up to the round"), *panel.frame(across=True, label="round")]
    parts += average_lines(panel, at[first:], means[first:], game, colours)
    return svg.drawing(name, title, panel.top + panel.height + 38, parts)


def average_lines(panel: svg.Panel, at: FloatArray, values: FloatArray, game: Played, colours: list[str]) -> list[str]:
    """Return a line for each arm with its name at the end; what leaves the panel is cut."""
    parts, cut = [], np.clip(values, *panel.up)
    for arm in range(values.shape[1]):
        faint = {} if colours[arm] != svg.TEXT else {"opacity": ".35"}
        parts.append(panel.curve(at, cut[:, arm], colours[arm], **faint))
    named = [arm for arm in range(values.shape[1]) if arm_name(game, arm)]
    places = spread_out([panel.y(float(cut[-1, arm])) + 4 for arm in named])
    for arm, place in zip(named, places, strict=True):
        parts.append(svg.text(SIDE - 4, place, arm_name(game, arm), fill=colours[arm]))
    return parts


def thumbnail(name: str, title: str, game: Played) -> str:
    """Return a small drawing: the gains of the first rounds, or of a few of all rounds where the first are alike."""
    gains = np.diff(game.totals, axis=0)
    few = min(36, len(gains))
    shown = gains[:few]
    if np.all(shown.std(axis=0) < 0.25 * gains.std(axis=0) + 1e-12):
        shown = gains[np.linspace(0, len(gains) - 1, few).round().astype(int)]
    parts = squares(shown, colours_of(game.totals), 4, 120 / gains.shape[1], svg.WIDTH - 36)
    return svg.drawing(name, title, 126, [f'<g transform="translate(-44 0)">{"".join(parts)}</g>'])


def a_game_goes_by(name: str, title: str, games: list[Played]) -> str:
    """Return the moving drawing: gains, arms played, regret, from the first round to the last.

    Args:
        name: Its id.
        title: What it shows.
        games: The game that is shown, and others whose regret is shown beside it.
    """
    game, rounds, n_arms = games[0], len(games[0].regret), games[0].totals.shape[1]
    colours, row = colours_of(game.totals), rows_of(n_arms)
    window = max(1, rounds // 40)
    at, _ = thinned(game.regret, 160)
    later = at[at >= window]
    since = later.astype(int) - window
    recent = (game.totals[since + window] - game.totals[since]) / window
    low, high = float(recent.min()), float(recent.max())
    room = 0.08 * max(high - low, 0.02)
    pays = svg.Panel(LEFT, 26, PLOT, 92, (0, rounds), (max(0, low - room), min(1.0, high + room)))
    plays = svg.Panel(LEFT, 150, PLOT, row * n_arms, (0, rounds), (0, 1))
    regrets = [thinned(one.regret, 160)[1] for one in games]
    top = plays.top + plays.height + 34 + 15 * (len(games) - 1)
    least, most = min(one.min() for one in regrets), max(one.max() for one in regrets)
    regret = svg.Panel(LEFT, top + 8, PLOT, 104, (0, rounds), (min(0.0, float(least)), float(most) * 1.05 + 1e-9))
    still, swept = [], []
    still += [pays.title(f"What each arm would have paid (average of {window:,} rounds)"), *pays.frame(across=False)]
    swept += average_lines(pays, later, recent, game, colours)
    still.append(plays.title(f"Arms that {game.label.partition(' (')[0]} plays"))
    still.append(svg.text(SIDE, plays.top - 9, "share so far"))
    shares = shares_played(game, n_arms)
    for arm in range(n_arms):
        height = plays.top + row * arm
        still.append(svg.text(LEFT - 6, height + row / 2 + 3, arm_name(game, arm), anchor="end"))
        still.append(svg.box(SIDE, height, 84, row - 2, svg.TEXT, opacity=".1"))
        still.append(f'<g transform="translate({SIDE} 0)">')
        size = svg.box(0, height, 84, row - 2, colours[arm], **{"class": f"share{arm}"})
        still += [size.replace("<rect", f'<rect style="transform:scaleX({shares[-1][arm]:.3f})"'), "</g>"]
    swept += played_strip(game, plays, row, colours)
    still += regret_legend(games, top - 15 * (len(games) - 1) - 4)
    still += regret.frame(across=True, label="round")
    swept += regret_lines(at, regret, regrets)
    bottom = regret.top + regret.height
    parts = [*swept_parts(name, swept, bottom), *still, cursor(bottom)]
    style = sweep_style(name)
    for arm in range(n_arms):
        steps = [(k / moving.FRAMES, f"transform:scaleX({share[arm]:.3f})") for k, share in enumerate(shares)]
        style[1].append(moving.keyframes(f"{name}-share{arm}", steps))
        style[0].append(moving.moves(name, f".share{arm}", f"{name}-share{arm}"))
    return svg.drawing(name, title, bottom + 38, parts, moving.only_if_wanted(name, *style))


def shares_played(game: Played, n_arms: int) -> FloatArray:
    """Return the share of rounds in which each arm was played, up to each frame, shape `(FRAMES + 1, n_arms)`."""
    counts = np.cumsum(np.eye(n_arms)[game.actions.astype(int)], axis=0)
    ends = np.linspace(0, len(counts), moving.FRAMES + 1).round().astype(int)
    return np.array([np.zeros(n_arms), *(counts[end - 1] / end for end in ends[1:])])


def played_strip(game: Played, panel: svg.Panel, row: float, colours: list[str]) -> list[str]:
    """Return a row for each arm, filled where it is played: fully, where it is played in every round."""
    bins, n_arms = min(80, len(game.actions)), len(colours)
    edges = np.linspace(0, len(game.actions), bins + 1).round().astype(int)
    step, parts = panel.width / bins, []
    for place in range(bins):
        shares = np.bincount(game.actions[edges[place] : edges[place + 1]].astype(int), minlength=n_arms)
        for arm, share in enumerate(shares / shares.sum()):
            if share > 0.01:
                where = panel.left + step * place, panel.top + row * arm
                shade = f"{share:.2f}".rstrip("0").rstrip(".")
                parts.append(svg.box(*where, step, row - 2, colours[arm], opacity=shade, shape_rendering="crispEdges"))
    return parts


def regret_legend(games: list[Played], top: float) -> list[str]:
    """Return the title of the panel of regrets, with a line for each algorithm."""
    looks = [(VERMILION, ""), *((svg.TEXT, dash) for dash in OTHERS)]
    entries = [(one.label, *look) for one, look in zip(games, looks, strict=False)]
    return [svg.text(0, top, "Regret (gain)", font_weight="600"), *svg.legend(112, top, entries)]


def regret_lines(at: FloatArray, panel: svg.Panel, regrets: list[FloatArray]) -> list[str]:
    """Return the line of each algorithm."""
    looks = [(VERMILION, ""), *((svg.TEXT, dash) for dash in OTHERS)]
    parts = []
    for values, (colour, dash), width in zip(regrets, looks, (2.2, 1.4, 1.4, 1.4), strict=False):
        parts.append(panel.curve(at, values, colour, width=width, dash=dash))
    return parts


def swept_parts(name: str, parts: list[str], bottom: float) -> list[str]:
    """Return parts that appear from left to right."""
    reach = f'x="{LEFT}" y="0" width="{svg.WIDTH - LEFT}" height="{svg.number(bottom + 2)}"'
    clip = f'<clipPath id="{name}-clip"><rect class="sweep" {reach}/></clipPath>'
    return [f"<defs>{clip}</defs>", f'<g clip-path="url(#{name}-clip)">', *parts, "</g>"]


def cursor(bottom: float, top: float = 26) -> str:
    """Return the line that shows the round."""
    there = LEFT + PLOT
    return svg.line([(there, top), (there, bottom)], svg.TEXT, width=1, opacity=".5", **{"class": "now"})


def sweep_style(name: str) -> tuple[list[str], list[str]]:
    """Return rules and animations of a sweep through the rounds."""
    share = PLOT / (svg.WIDTH - LEFT)
    frames = [
        keyed(f"{name}-sweep", "transform:scaleX(0)", f"transform:scaleX({share:.4f})", "transform:scaleX(1)"),
        keyed(f"{name}-now", f"transform:translateX(-{PLOT}px)", "transform:translateX(0)", "transform:translateX(0)"),
    ]
    rules = [
        f"#{name} .sweep{{transform-origin:{LEFT}px 0}}",
        moving.moves(name, ".sweep", f"{name}-sweep"),
        moving.moves(name, ".now", f"{name}-now"),
    ]
    return rules, frames


def keyed(name: str, first: str, last: str, after: str) -> str:
    """Return an animation from the first round to the last, after which names at the ends of lines are seen, too."""
    end = moving.moment(1)
    later = f"{float(end[:-1]) + 1:g}%"
    return f"@keyframes {name}{{0%{{{first}}}{end}{{{last}}}{later}{{{after}}}100%{{{after}}}}}"
