"""Drawings of a game on a feedback graph: which arms reveal which, what is played and what is seen."""

import networkx as nx
import numpy as np

from dp_bandit_envs.protocols import FloatArray
from generators import moving, svg
from generators.arm_pictures import LEFT, PLOT, cursor, regret_legend, regret_lines, sweep_style, swept_parts
from generators.played import Played, thinned

TALL = 230.0


def places_of(game: Played) -> FloatArray:
    """Return a place in the drawing for each arm, shape `(n_arms, 2)`."""
    graph = nx.empty_graph(game.totals.shape[1])
    graph.add_edges_from(edges_of(game))
    placed = nx.spring_layout(graph, seed=4, iterations=200)
    found = np.array([placed[arm] for arm in range(len(graph))])
    found = (found - found.min(axis=0)) / np.ptp(found, axis=0)
    return found * [svg.WIDTH - 40, TALL - 30] + [20, 15]  # type: ignore[no-any-return]


def edges_of(game: Played) -> list[tuple[int, int]]:
    """Return the edges, each once, without those from an arm to itself."""
    graph = game.env.graph
    pairs = {(min(arm, int(one)), max(arm, int(one))) for arm in range(graph.n_arms) for one in graph.revealed_by(arm)}
    return sorted(pair for pair in pairs if pair[0] != pair[1])


def edge_lines(pairs: list[tuple[int, int]], places: FloatArray, colour: str, **how: str) -> str:
    """Return all edges as one path."""
    path = "".join(
        f"M{svg.number(places[a][0])} {svg.number(places[a][1])}L{svg.number(places[b][0])} {svg.number(places[b][1])}"
        for a, b in pairs
    )
    extra = "".join(f' {key.replace("_", "-")}="{value}"' for key, value in how.items())
    return f'<path d="{path}" fill="none" stroke="{colour}"{extra}/>'


def circle(place: FloatArray, radius: float, colour: str, **more: str) -> str:
    """Return a filled circle."""
    extra = "".join(f' {key.replace("_", "-")}="{value}"' for key, value in more.items())
    middle = f'cx="{svg.number(place[0])}" cy="{svg.number(place[1])}"'
    return f'<circle {middle} r="{svg.number(radius)}" fill="{colour}"{extra}/>'


def what_is_revealed(name: str, title: str, game: Played) -> str:
    """Return the graph, each arm as large as its mean, and how many gains a round reveals by the arm played."""
    places, means = places_of(game), game.totals[-1] / len(game.regret)
    words = "The feedback graph; the larger an arm, the larger its mean"
    parts = [svg.text(0, 13, words, font_weight="600"), '<g transform="translate(0 18)">']
    parts.append(edge_lines(edges_of(game), places, svg.TEXT, opacity=".3"))
    best = int(means.argmax())
    for arm, place in enumerate(places):
        colour = svg.COLOURS[5] if arm == best else svg.COLOURS[0]
        parts.append(circle(place, 3 + 8 * float(means[arm]), colour))
    parts.append("</g>")
    degrees = np.array([len(game.env.graph.revealed_by(arm)) for arm in range(len(places))])
    most = int(degrees.max())
    counts = np.bincount(degrees, minlength=most + 1)
    panel = svg.Panel(LEFT, TALL + 52, PLOT, 80, (0.5, most + 0.5), (0, float(counts.max()) * 1.05))
    parts += [panel.title("Number of arms by how many gains they reveal"), *panel.frame(across=True)]
    for degree, count in enumerate(counts):
        if count:
            left, right = panel.x(degree - 0.4), panel.x(degree + 0.4)
            height = panel.y(float(count))
            parts.append(svg.box(left, height, right - left, panel.top + panel.height - height, svg.COLOURS[0]))
    parts.append(svg.text(LEFT + PLOT / 2, panel.top + panel.height + 30, "gains revealed in a round", anchor="middle"))
    return svg.drawing(name, title, panel.top + panel.height + 38, parts)


def thumbnail(name: str, title: str, game: Played) -> str:
    """Return a small drawing: the graph."""
    places, means = places_of(game), game.totals[-1] / len(game.regret)
    parts = [edge_lines(edges_of(game), places, svg.TEXT, opacity=".3")]
    parts += [circle(place, 3 + 8 * float(mean), svg.COLOURS[0]) for place, mean in zip(places, means, strict=True)]
    return svg.drawing(name, title, TALL, parts)


def a_game_goes_by(name: str, title: str, games: list[Played]) -> str:
    """Return the moving drawing: the arm played in some rounds with the arms it reveals, plays so far, and regret."""
    game, rounds = games[0], len(games[0].regret)
    places, arms = places_of(game), game.actions.astype(int)
    ends = np.linspace(0, rounds, moving.FRAMES + 1).round().astype(int)[1:]
    counts = np.cumsum(np.eye(len(places))[arms], axis=0)
    rules, frames = sweep_style(name)
    parts = ['<g transform="translate(0 22)">', edge_lines(edges_of(game), places, svg.TEXT, opacity=".25")]
    for arm, place in enumerate(places):
        sizes = [3 + 12 * float(np.sqrt(counts[end - 1][arm] / end)) for end in ends]
        parts.append(circle(place, 3, svg.COLOURS[0]))
        if max(sizes) < 4.5:
            continue
        parts.append(f'<g transform="translate({svg.number(place[0])} {svg.number(place[1])})">')
        scale = f"transform:scale({sizes[-1] / 12:.2f})"
        parts += [f'<circle r="12" fill="{svg.COLOURS[0]}" class="a{arm}" style="{scale}"/>', "</g>"]
        steps = [((k + 1) / len(ends), f"transform:scale({size / 12:.2f})") for k, size in enumerate(sizes)]
        frames.append(moving.keyframes(f"{name}-a{arm}", [(0.0, "transform:scale(.25)"), *steps]))
        rules.append(moving.moves(name, f".a{arm}", f"{name}-a{arm}"))
    for frame, end in enumerate(ends):
        arm = arms[end - 1]
        seen = [(arm, int(one)) for one in game.env.graph.revealed_by(arm) if one != arm]
        hidden = {} if frame == len(ends) - 1 else {"opacity": "0"}
        lines = edge_lines(seen, places, svg.COLOURS[1], stroke_width="2")
        rings = "".join(circle(places[one], 9, "none", stroke=svg.COLOURS[1], stroke_width="2") for _, one in seen)
        own = circle(places[arm], 17, "none", stroke=svg.COLOURS[5], stroke_width="3")
        extra = "".join(f' {key}="{value}"' for key, value in hidden.items())
        parts.append(f'<g class="f{frame}"{extra}>{lines}{rings}{own}</g>')
        frames.append(moving.passing(name, frame))
        rules.append(moving.moves(name, f".f{frame}", f"{name}-at-{frame}", steps=True))
    player = game.label.partition(" (")[0]
    parts += ["</g>", svg.text(0, 13, f"Arms that {player} plays (red ring) and sees (orange); size: plays so far")]
    top = TALL + 62 + 15 * (len(games) - 1)
    regrets = [thinned(one.regret, 160)[1] for one in games]
    at, _ = thinned(game.regret, 160)
    least, most = min(float(one.min()) for one in regrets), max(float(one.max()) for one in regrets)
    panel = svg.Panel(LEFT, top + 8, PLOT, 104, (0, rounds), (min(0.0, least), most * 1.05 + 1e-9))
    parts += regret_legend(games, top - 15 * (len(games) - 1) - 4)
    parts += panel.frame(across=True, label="round")
    bottom = panel.top + panel.height
    parts += [*swept_parts(name, regret_lines(at, panel, regrets), bottom), cursor(bottom, panel.top)]
    return svg.drawing(name, title, bottom + 38, parts, moving.only_if_wanted(name, rules, frames))
