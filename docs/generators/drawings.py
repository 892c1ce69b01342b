"""The drawings of the pages, as SVG in the colours of the page's text: arms, points, graphs, and measured curves."""

import io
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from html import escape
from typing import Any

import matplotlib as mpl
import networkx as nx
import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from dp_bandit_envs.plots.curves_figure import ROUND, Curve, Panel, curves_figure
from dp_bandit_envs.plots.figure_layout import NOTE_COLOUR
from dp_bandit_envs.plots.plot_style import BLACK, BLUE, GREEN, GREY, INDIGO, ORANGE, PURPLE, RC, SKY, VERMILION, WINE
from dp_bandit_envs.protocols import FloatArray, plays_points
from generators.measured import SEED
from generators.played import PlayedGame, thinned
from generators.settings import MeasuredGame

COLOURS = (BLUE, ORANGE, GREEN, PURPLE, SKY, VERMILION)
"""Of the arms of a game, seen on white and on black; of more arms only the best has a colour."""
INK = "#010203"
"""Stands for the colour of the page's text."""
SHOWN = {
    INK: "currentColor",
    BLACK: "currentColor",
    NOTE_COLOUR: "currentColor",
    INDIGO.lower(): f"var(--indigo, {INDIGO})",
    WINE.lower(): f"var(--wine, {WINE})",
}
"""What is dark, and so cannot be seen on a dark page, with what is shown instead; drawings.css has the two names."""
INKED = dict.fromkeys(("text.color", "axes.labelcolor", "xtick.color", "ytick.color", "axes.edgecolor"), INK)
LETTERS = {
    "font.size": 11,
    "legend.fontsize": 10.5,
    "axes.titlesize": 11,
    "axes.titlelocation": "left",
    "axes.titleweight": "bold",
}
WIDTH = 480
"""Points; letters of 11 can be read on a telephone."""
POINTS, BARS, PIXELS = 160, 80, 8
"""How many places a line has, and a row of the arms that are played; and the width of a square."""

# ---- Figures and files ----


@contextmanager
def inked(**more: Any) -> Iterator[None]:
    """Draw in the colour of the page's text."""
    with mpl.rc_context(RC | INKED | more):
        yield


def as_svg(figure: Figure, name: str, title: str, kind: str = "") -> str:
    """Return a figure as a part of a page: as wide as its column, and transparent.

    Args:
        figure: The figure, drawn within `inked`.
        name: Its id in the page.
        title: What it shows, for readers who do not see it.
        kind: A class for the style sheet.
    """
    buffer = io.StringIO()
    with inked(**{"svg.fonttype": "path"}):
        figure.savefig(buffer, format="svg", transparent=True, dpi=200, metadata={"Date": None})
    text = buffer.getvalue()
    text = re.sub(r"<metadata>.*?</metadata>", "", text[text.index("<svg") :], flags=re.DOTALL)
    # Elements without a colour of their own are black unless the root says otherwise.
    about = (
        f'fill="currentColor" id="{name}" class="{f"drawing {kind}".strip()}" role="img" aria-label="{escape(title)}"'
    )
    text = re.sub(r'<svg ([^>]*?)width="[^"]*pt" ?', rf"<svg {about} \1", text, count=1)
    text = re.sub(r'(<svg [^>]*?)height="[^"]*pt" ?', r"\1", text, count=1)
    text = re.sub(r' id="[\w.]+_\d+"', "", text)  # other drawings of the page have the same
    text = text.replace("*{stroke-linejoin", f"#{name} *{{stroke-linejoin")
    for ink, colour in SHOWN.items():
        text = text.replace(ink, colour)
    # Two decimals are enough for lines; scales keep all of theirs.
    text = re.sub(r'( d="[^"]*")', lambda path: re.sub(r"(\d+\.\d{2})\d+", r"\1", path[1]), text)
    return re.sub(r"\n\s*\n", "\n", text)


def panels(*heights: float) -> tuple[Figure, list[Any]]:
    """Return a figure of panels, one below the other, with their heights in points."""
    figure = Figure(figsize=(WIDTH / 72, sum(heights) / 72), layout="constrained")
    grid = list(figure.subplots(len(heights), squeeze=False, height_ratios=heights)[:, 0])
    for axes in grid:
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_locator(MaxNLocator(4, steps=[1, 2, 2.5, 5, 10]))
        axes.xaxis.set_major_formatter("{x:,.0f}")
    return figure, grid


# ---- What every environment's page shows ----


def game_picture(name: str, title: str, games: Sequence[PlayedGame]) -> str:
    """Return a whole game: gains of arms or moves of points, the plays, and the regret next to the others'."""
    with inked(**LETTERS):
        if plays_points(games[0].env):
            figure, axes = panels(270, 190)
            draw_path(axes[0], games[0])
        elif hasattr(games[0].env, "graph"):
            figure, axes = panels(260, 190)
            draw_graph(axes[0], games[0], played=True)
        else:
            rows = height_of(games[0])
            figure, axes = panels(140, rows + 34, 190)
            window = max(1, len(games[0].regret) // 40)
            draw_averages(axes[0], games[0], window, f"What each arm would have paid (average of {window:,} rounds)")
            axes[0].set_xlabel("")
            draw_plays(axes[1], games[0])
        looks = zip(games, (VERMILION, INK, INK, INK), ("-", "--", ":", "-."), strict=False)
        for game, colour, dash in looks:
            axes[-1].plot(*thinned(game.regret, POINTS), color=colour, ls=dash, label=game.label)
        axes[-1].set(title="Regret (gain)", xlabel="round", xlim=(0, len(games[0].regret)))
        axes[-1].legend(loc="lower right", bbox_to_anchor=(1, 1), borderaxespad=0)
        return as_svg(figure, name, title)


def gains_picture(name: str, title: str, game: PlayedGame) -> str:
    """Return what rounds pay: gains of the first ones and averages, gain vectors and their sums, or the graph."""
    with inked(**LETTERS):
        if plays_points(game.env):
            sums = game.totals[thinned(game.regret, POINTS)[0].astype(int)]
            if game.env.decision_set.name == "simplex":
                figure, axes = panels(180)
            else:
                figure, axes = panels(260, 180)
                draw_vectors(axes[0], game)
            names = [f"coordinate {place}" for place in range(sums.shape[1])]
            draw_lines(axes[-1], thinned(game.regret, POINTS)[0], sums, names, list(COLOURS))
            axes[-1].set_title("Sum of the gain vectors, coordinate by coordinate")
        elif hasattr(game.env, "graph"):
            figure, axes = panels(250, 160)
            draw_graph(axes[0], game, played=False)
            degrees = [len(game.env.graph.revealed_by(arm)) for arm in range(game.totals.shape[1])]
            axes[1].bar(*np.unique(degrees, return_counts=True), color=BLUE)
            axes[1].set(title="Number of arms by how many gains they reveal", xlabel="gains revealed in a round")
        else:
            few = min(60, len(game.regret))
            gains = np.diff(game.totals[: few + 1], axis=0)
            figure, axes = panels(height_of(game) + 34, 180)
            draw_squares(axes[0], game, scaled(gains))
            ends = f"{gains.min():.2g} (empty) to {gains.max():.2g} (full)"
            axes[0].set_title(f"Gains in rounds 1 to {few}, {ends}")
            draw_averages(axes[1], game, None, "Average gain of each arm up to the round")
        return as_svg(figure, name, title)


def thumbnail(name: str, title: str, game: PlayedGame) -> str:
    """Return a small drawing: the path of the points, the graph, or gains of the first rounds.

    Where the first rounds are alike, the gains are of a few over the whole game.
    """
    with inked():
        figure, (axes,) = panels(126)
        if plays_points(game.env):
            draw_path(axes, game, named=False)
        elif hasattr(game.env, "graph"):
            draw_graph(axes, game, played=False)
            axes.set_title("")
        else:
            gains = np.diff(game.totals, axis=0)
            few = min(36, len(gains))
            rows = gains[:few]
            if np.all(rows.std(axis=0) < 0.25 * gains.std(axis=0) + 1e-12):
                rows = gains[np.linspace(0, len(gains) - 1, few).round().astype(int)]
            draw_squares(axes, game, scaled(rows))
            axes.set_axis_off()
        return as_svg(figure, name, title)


# ---- Games with arms ----


def colours_of(game: PlayedGame) -> list[str]:
    """Return the colour of each arm."""
    n_arms, best = game.totals.shape[1], int(game.totals[-1].argmax())
    if n_arms <= len(COLOURS):
        return list(COLOURS[:n_arms])
    return [COLOURS[0] if arm == best else GREY for arm in range(n_arms)]


def names_of(game: PlayedGame) -> list[str]:
    """Return the name of each arm that has a colour, and "" for others."""
    return ["" if colour == GREY else f"arm {arm}" for arm, colour in enumerate(colours_of(game))]


def height_of(game: PlayedGame) -> float:
    """Return the height of a row for each arm together."""
    n_arms = game.totals.shape[1]
    return n_arms * max(7.0, min(18.0, 100 / n_arms))


def scaled(gains: FloatArray) -> FloatArray:
    """Return gains on a scale from 0, the least of them, to 1."""
    return (gains - gains.min()) / (np.ptp(gains) or 1.0)  # type: ignore[no-any-return]


def draw_squares(axes: Any, game: PlayedGame, shares: FloatArray, *, gaps: bool = True) -> None:
    """Draw a row for each arm, and in it each place of `shares`, shape `(places, n_arms)`: the fuller, the more."""
    for arm, colour in enumerate(colours_of(game)):
        row = np.tile(to_rgba(colour), (1, len(shares) * PIXELS, 1))
        row[0, :, 3] = np.repeat(shares[:, arm], PIXELS)
        row[0, PIXELS - 1 :: PIXELS, 3] *= not gaps
        ends = (0, len(shares), arm + 0.44, arm - 0.44)
        axes.imshow(row, extent=ends, aspect="auto", interpolation="nearest")
    names = names_of(game)
    axes.set(xlim=(0, len(shares)), ylim=(len(names) - 0.5, -0.5), xticks=[])
    axes.set_yticks(range(len(names)), names)
    axes.tick_params(length=0)
    axes.grid(visible=False)
    axes.spines[:].set_visible(False)


def draw_plays(axes: Any, game: PlayedGame) -> None:
    """Draw a row for each arm, full where it is played in every round, with its share of all rounds at the end."""
    played = np.eye(game.totals.shape[1])[game.actions.astype(int)]
    bars = np.array_split(played, min(BARS, len(played)))
    draw_squares(axes, game, np.array([bar.mean(axis=0) for bar in bars]), gaps=False)
    for arm, (share, name) in enumerate(zip(played.mean(axis=0), names_of(game), strict=True)):
        if name:
            axes.text(len(bars) * 1.02, arm, f"{share:.0%}", va="center")
    axes.set_title(f"Arms that {game.label.partition(' (')[0]} plays, and in which share of the rounds")


def draw_averages(axes: Any, game: PlayedGame, window: int | None, title: str) -> None:
    """Draw the average gain of each arm over the last rounds, or up to each round; the scale leaves out the first."""
    at, _ = thinned(game.regret, POINTS)
    at = at[at >= (window or at[max(2, len(at) // 30)])]
    since = at.astype(int) - (window or at.astype(int))
    averages = (game.totals[at.astype(int)] - game.totals[since]) / (at - since)[:, None]
    draw_lines(axes, at, averages, names_of(game), colours_of(game))
    axes.set(title=title, xlim=(0, len(game.regret)))


def draw_lines(axes: Any, at: FloatArray, values: FloatArray, names: list[str], colours: list[str]) -> None:
    """Draw a line for each column, with its name beside, in the order in which lines end."""
    ended = np.argsort(-values[-1], kind="stable")
    for column in ended:
        faint = {} if names[column] else {"alpha": 0.5, "lw": 0.8}
        axes.plot(at, values[:, column], color=colours[column], label=names[column] or None, **faint)
    axes.set_xlabel("round")
    axes.legend(loc="center left", bbox_to_anchor=(1, 0.5), handlelength=1, labelcolor="linecolor")


# ---- Games on graphs ----


def draw_graph(axes: Any, game: PlayedGame, *, played: bool) -> None:
    """Draw who reveals whom, and each arm as large as its mean, or as its plays with what the last one revealed."""
    n_arms, reveals = game.totals.shape[1], game.env.graph.revealed_by
    pairs = {tuple(sorted((arm, int(other)))) for arm in range(n_arms) for other in reveals(arm) if other != arm}
    graph = nx.empty_graph(n_arms)
    graph.add_edges_from(sorted(pairs))
    placed = nx.spring_layout(graph, seed=4, iterations=200)
    places = np.array([placed[arm] for arm in range(n_arms)])
    shares = np.bincount(game.actions.astype(int), minlength=n_arms) / len(game.actions)
    means = game.totals[-1] / len(game.regret)
    axes.add_collection(LineCollection(places[np.array(sorted(pairs))], colors=INK, alpha=0.3, lw=0.8))
    axes.scatter(*places.T, s=20 + 400 * shares if played else 20 + 230 * means, color=BLUE, lw=0, zorder=2)
    if played:
        last = int(game.actions[-1])
        seen = [int(other) for other in reveals(last) if other != last]
        axes.add_collection(LineCollection([places[[last, other]] for other in seen], colors=ORANGE, lw=2))
        axes.scatter(*places[seen].T, s=220, facecolors="none", edgecolors=ORANGE, lw=2, zorder=3)
        axes.scatter(*places[last], s=640, facecolors="none", edgecolors=VERMILION, lw=3, zorder=3)
        player = game.label.partition(" (")[0]
        axes.set_title(f"Size: plays of {player}. Last round: played (red), seen (orange)")
    else:
        axes.scatter(*places[means.argmax()], s=20 + 230 * means.max(), color=VERMILION, lw=0, zorder=3)
        axes.set_title("The feedback graph; the larger an arm, the larger its mean")
    axes.margins(0.05)
    axes.set_axis_off()


# ---- Games of points ----


def flat(points: FloatArray, simplex: bool) -> FloatArray:
    """Return places in the plane, shape `(n, 2)`: two coordinates, or three of the simplex as a triangle."""
    if not simplex:
        return points[:, :2]
    first, second, third = points.T
    return np.column_stack([(third - first) * 0.75**0.5, 1.5 * second - 0.5])


def draw_set(axes: Any, outline: FloatArray, simplex: bool) -> None:
    """Draw a set, with the names of its axes or corners."""
    axes.fill(*outline.T, facecolor=INK, alpha=0.07)
    axes.fill(*outline.T, facecolor="none", edgecolor=INK, lw=0.8)
    axes.set(aspect="equal", xticks=[], yticks=[])
    axes.spines[:].set_visible(False)
    if not simplex:
        axes.set(xlabel="coordinate 0", ylabel="coordinate 1")


def draw_path(axes: Any, game: PlayedGame, *, named: bool = True) -> None:
    """Draw the points played, the last of them, and the best fixed point."""
    decisions = game.env.decision_set
    simplex = decisions.name == "simplex"
    draw_set(axes, flat(np.eye(3), True) if simplex else decisions.outline(), simplex)
    path = flat(game.actions[thinned(game.regret, POINTS)[0].astype(int) - 1], simplex)
    best = flat(decisions.best_point(game.totals[-1])[None], simplex)
    axes.plot(*path.T, color=BLUE, lw=1, alpha=0.7)
    axes.plot(*path[-1:].T, "o", color=BLUE, ms=7, label=f"played by {game.label.partition(' (')[0]}")
    axes.plot(*best.T, "o", mfc="none", mec=VERMILION, mew=2, ms=13, label="best fixed point")
    if named:
        axes.legend(loc="upper left", bbox_to_anchor=(1, 1), handlelength=1.5)
        if simplex:
            for corner, (x, y) in enumerate(flat(np.eye(3), True)):
                axes.annotate(
                    f"expert {corner}", (x, y), (0, 7 if y > 0 else -16), textcoords="offset points", ha="center"
                )
    else:
        axes.set(xlabel="", ylabel="")


def draw_vectors(axes: Any, game: PlayedGame) -> None:
    """Draw the gain vectors of the first rounds, in the ball that they are from, or for the cube the L1 ball."""
    few = min(200, len(game.regret))
    vectors = np.diff(game.totals[: few + 1], axis=0)
    corners = np.linspace(0, 2 * np.pi, 5 if game.env.decision_set.name == "cube" else 73)
    draw_set(axes, np.column_stack([np.cos(corners), np.sin(corners)]), False)
    if game.env.decision_set.name == "cube":
        # Many are equal; moved a little, they are seen.
        vectors = vectors + np.random.default_rng(0).normal(0, 0.02, vectors.shape)
    axes.scatter(*vectors.T, s=12, color=BLUE, alpha=0.6, lw=0)
    axes.set_title(f"Gain vectors of rounds 1 to {few}")


# ---- MeasuredGame curves of an algorithm ----


def curve_picture(name: str, games: Sequence[tuple[MeasuredGame, list[Curve]]]) -> str:
    """Return the picture of one or more games, each with its lines."""
    drawn = [Panel(game.title, curves) for game, curves in games]
    measures = {game.measure for game, _ in games}
    measure = measures.pop() if len(measures) == 1 else "external_regret"
    with inked():
        figure = curves_figure(drawn, across=ROUND, measure=measure, band="ci", y_scale="log", note=f"Seed {SEED}.")
        return as_svg(figure, name, "Mean regret against the round, with its confidence", "curves")
