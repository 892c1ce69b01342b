"""Writes all pages that are made from the code, under docs/generated/."""

import hashlib
import json
from pathlib import Path

from dp_bandit_envs.algorithms import algorithm_names
from dp_bandit_envs.course.notebooks import LABS
from dp_bandit_envs.envs.registration import GAMES
from generators import algorithm_pages, environment_pages, lab_pages, reproduction_pages, rule_tables
from generators.cards import Card
from generators.kept import ROOT, code_digest, kept, write as write_text
from generators.papers import in_markdown

GENERATED = ROOT / "docs" / "generated"


def write_all(folder: Path = GENERATED) -> None:
    """Write the pages of all environments, algorithms, reproductions and rules, and of the labs."""
    write_environments(folder / "environments", list(GAMES))
    write_algorithms(folder / "algorithms", algorithm_names())
    write(folder / "reproductions" / "index.md", reproduction_pages.index())
    write(folder / "rules.md", rule_tables.page())
    write_labs(folder / "html" / "labs")


def write(path: Path, page: str) -> None:
    """Write a page, in which every paper is a link."""
    write_text(path, in_markdown(page))


def write_environments(folder: Path, ids: list[str]) -> None:
    """Write the pages of some environments and their index; games are played again only when the code has changed."""
    cards = []
    for id_ in ids:
        name = environment_pages.slug(id_)
        docs = environment_pages.GAMES[id_].env_class.__doc__ or ""
        key = f"{code_digest()} {hash_of(docs)}"
        text, card = json.loads(kept(f"environment-{name}.json", lambda id_=id_: environment(id_), key=key))
        write(folder / f"{name}.md", text)
        cards.append(Card(*card))
    write(folder / "index.md", environment_pages.index(cards))


def environment(id_: str) -> str:
    """Return an environment's page and card as JSON."""
    games = environment_pages.games_of(id_)
    return json.dumps([environment_pages.page(id_, games), environment_pages.card(id_, games[0])])


def write_algorithms(folder: Path, names: list[str]) -> None:
    """Write the pages of some algorithms and their index; the curves are drawn again only when the code has changed."""
    for name in names:
        curve = kept(f"curve-{algorithm_pages.slug(name)}.svg", lambda name=name: algorithm_pages.curve_of(name))
        write(folder / f"{algorithm_pages.slug(name)}.md", algorithm_pages.page(name, curve))
    write(folder / "index.md", algorithm_pages.index(names))


def write_labs(folder: Path) -> None:
    """Write the pages of the labs; a lab is run again only when the code has changed."""
    for lab in LABS:
        key = f"{code_digest()} {hash_of(lab_pages.source_of(lab))}"
        text = kept(f"lab-{lab.name}.html", lambda lab=lab: lab_pages.page(lab), key=key)
        write_text(folder / f"{lab.name}.html", text)


def hash_of(text: str) -> str:
    """Return a short digest of a text."""
    return hashlib.sha256(text.encode()).hexdigest()
