"""The page of each environment: what it does, what it takes, how to play it, and what a game looks like."""

import re
import warnings
from collections.abc import Mapping
from html import escape
from typing import Any, NamedTuple

from dp_bandit_envs import adversaries
from dp_bandit_envs.envs.registration import GAMES
from dp_bandit_envs.errors import KnownSeedWarning
from generators import docstrings, drawings
from generators.played import PlayedGame, played
from generators.shown_games import PageGame, shown

OWN_PARTS = {
    "Action Space": "Action space",
    "Observation Space": "Observation space",
    "Rewards": "Reward",
    "Starting State": "Starting state",
    "Episode End": "End",
}


def slug(id_: str) -> str:
    """Return the page's name."""
    return GAMES[id_].name.lower()


def games_of(id_: str) -> list[PlayedGame]:
    """Play the games that a page shows."""
    page_game = shown(id_)
    with warnings.catch_warnings():
        # The recorded data of the package are public, and so may be the seed.
        warnings.simplefilter("ignore", KnownSeedWarning)
        return [played(id_, page_game.values, player) for player in page_game.players]


class Pictures(NamedTuple):
    """The drawings of an environment, and how the game in them is described."""

    game: str
    gains: str
    thumbnail: str
    played: str


def pictures_of(id_: str) -> Pictures:
    """Play the games that a page shows, and draw them."""
    games, name = games_of(id_), slug(id_)
    first, *others = (game.label for game in games)
    against = f", beside {' and '.join(others)}" if others else ""
    return Pictures(
        drawings.game_picture(f"game-{name}", f"A game of {id_}, round by round", games),
        drawings.gains_picture(f"gains-{name}", f"What a round of {id_} pays", games[0]),
        drawings.thumbnail(f"small-{name}", f"The first rounds of {id_}", games[0]),
        f"One game of {len(games[0].regret):,} rounds (seed 1) of {first}{against}.",
    )


def first_line(id_: str) -> str:
    """Return what an environment is, in one line of plain text."""
    words = " ".join(docstrings.headings(GAMES[id_].env_class)[""].split("\n\n")[0].split())
    words = words.partition(": :math:")[0]
    return re.sub(r"[`]", "", words).rstrip(".") + "."


def page(id_: str, pictures: Pictures) -> str:
    """Return the page."""
    page_game, env_class = shown(id_), GAMES[id_].env_class
    parts = docstrings.headings(env_class)
    source, differs = parts.get("References", ""), ""
    about, _, rest = parts.get("Description", "").partition(docstrings.DIFFERS)
    if rest:
        differs = docstrings.sentence(" ".join(rest.split()))
    lines = [
        f"# {GAMES[id_].name}",
        docstrings.markdown([parts[""]]),
        f"`{id_}`",
        docstrings.picture(pictures.game, f"{pictures.played} {page_game.note}".strip()),
        "## What the adversary does",
        docstrings.markdown([each for each in about.split("\n\n") if each.strip()]),
        docstrings.picture(pictures.gains, f"The same game: {id_} with {page_game.arguments}."),
        "## Play it",
        f"```python\n{code(id_, page_game)}\n```",
        "## Arguments",
        arguments(parts.get("Arguments", "")),
    ]
    for heading, title in OWN_PARTS.items():
        if heading in parts:
            lines += [f"## {title}", docstrings.markdown(parts[heading].split("\n\n"))]
    lines += ["## Source", docstrings.markdown(source.split("\n\n"))]
    if differs:
        lines += ["## Differs from the source", docstrings.markdown([differs])]
    return "\n\n".join([*lines, "## In the API", api_links(env_class)]) + "\n"


def code(id_: str, page_game: PageGame) -> str:
    """Return the code that plays the game of the page."""
    (name, parameters), *_ = page_game.players
    factory = ", ".join([repr(name).replace("'", '"'), *(f"{key}={value}" for key, value in parameters.items())])
    real = GAMES[id_].name == "Trial"
    lines = ["import gymnasium as gym"] + (["import numpy as np"] if "np." in page_game.arguments else [])
    lines += ["import dp_bandit_envs", "from dp_bandit_envs import make_algorithm, play", ""]
    if len(page_game.arguments) < 70:
        lines.append(f'env = gym.make("{id_}", {page_game.arguments})')
    else:
        lines += ["env = gym.make(", f'    "{id_}",', f"    {page_game.arguments},", ")"]
    seed = "None" if real else "1"
    lines += [f"game = play(env, make_algorithm({factory}), seed={seed})", "print(game.policy_regret[-1])"]
    return "\n".join(lines)


def arguments(text: str) -> str:
    """Return the arguments: a table of those that are listed line by line, or the prose that there is."""
    entries = re.findall(r"^`(\w+)(?:=(.*?))?`: (.*(?:\n +.*)*)", text, re.MULTILINE)
    listed = all(re.match(r"`\w+(=.*?)?`: |    ", one) for one in text.splitlines())
    if not (entries and listed):
        items = re.split(r"\n(?=`\w+=)", text)
        if len(items) > 2 and items[0].startswith("`"):
            return "\n".join(f"- {docstrings.prose(item)}" for item in items)
        return docstrings.markdown(text.split("\n\n"))
    defaults = [f"`{default}`" if default else "none" for _, default, _ in entries]
    rows = [
        f"| `{name}` | {shown_default} | {docstrings.prose(words)} |"
        for (name, _, words), shown_default in zip(entries, defaults, strict=True)
    ]
    return "\n".join(["| argument | default | what it is |", "| --- | --- | --- |", *rows])


def api_links(env_class: Any) -> str:
    """Return links to the classes behind an environment."""
    links = ["{py:obj}`dp_bandit_envs.BanditEnv`, the base of all environments"]
    adversary = getattr(env_class, "adversary_class", None)
    if adversary is not None and adversary.__name__ in adversaries.__all__:
        links.append(f"{{py:obj}}`dp_bandit_envs.adversaries.{adversary.__name__}`, the adversary alone")
    links.append("{py:obj}`dp_bandit_envs.play` and {py:obj}`dp_bandit_envs.simulate`, which play it")
    return "\n".join(f"- {one}" for one in links)


def index(drawn: Mapping[str, Pictures]) -> str:
    """Return the page with all environments, each a card with a small picture that leads to its page."""
    cards = [
        f'<a class="card" href="{slug(id_)}.html">{pictures.thumbnail}<strong>{GAMES[id_].name}</strong>'
        f"<span>{escape(first_line(id_))}</span></a>"
        for id_, pictures in drawn.items()
    ]
    lines = [
        "# All environments",
        "Each small picture shows the gains of the first rounds, or of a few over the whole game: a row for an arm, a"
        " square for a round, the fuller the more it pays. Other games show the points played in their set, or the"
        " graph of who reveals whom.",
        docstrings.raw("\n".join(['<div class="cards">', *cards, "</div>"])),
        docstrings.contents(map(slug, drawn)),
    ]
    return "\n\n".join(lines) + "\n"
