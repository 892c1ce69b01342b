"""Every broken mechanism is rejected by the audit for its fault, and every repaired twin passes it."""

import inspect
import itertools

import pytest
from rich.console import Console

from dp_bandit_envs import agents, wrappers
from dp_bandit_envs.algorithms import ALGORITHMS
from dp_bandit_envs.audits import exact_loss, float_loss, gallery
from dp_bandit_envs.audits.gallery import LESSONS
from dp_bandit_envs.cli.audit_commands import show_gallery
from dp_bandit_envs.privacy.mechanisms import MECHANISMS

EXACT = {
    "hybrid budget": 2.0,
    "range": 2.0,
    "shared draw": float("inf"),
    "first mean": float("inf"),
    "graph": 3.0,
    "redrawn noise": 2.0,
}
"""By how much the exact loss passes the claim, by hand: see each lesson's sentence."""


@pytest.mark.thorough
@pytest.mark.parametrize(("name", "epsilon"), [*zip(LESSONS, itertools.cycle([0.1, 1.0, 3.0]))])
def test_the_broken_one_is_rejected_and_its_twin_passes(name, epsilon):
    """The audits are exact, but for floats: there the twin has no impossible release, so it passes with certainty."""
    lesson = LESSONS[name]
    assert lesson.rejects(lesson.broken(epsilon))
    assert not lesson.rejects(lesson.repaired(epsilon))


@pytest.mark.thorough
@pytest.mark.parametrize("name", EXACT)
def test_the_broken_one_loses_what_its_sentence_says(name):
    lesson = LESSONS[name]
    loss = exact_loss(lesson.broken(0.5), environment=lesson.game())
    assert loss.declared.epsilon == 0.5
    assert loss.epsilon == pytest.approx(0.5 * EXACT[name], rel=2e-9)
    assert exact_loss(lesson.repaired(0.5), environment=lesson.game()).ratio == pytest.approx(1.0, rel=2e-9)


def test_no_table_has_a_broken_one():
    names = [*ALGORITHMS, *MECHANISMS, *agents.__all__, *wrappers.__all__]
    assert not [name for name in names if name.lower().startswith("broken")]
    shown = [type(lesson.broken(1.0)).__name__ for lesson in LESSONS.values()]
    assert len(set(shown)) == len(shown) == 8
    defined = [
        name
        for name, one in inspect.getmembers(gallery, inspect.isclass)
        if name.startswith("Broken") and one.__module__ == gallery.__name__
    ]
    assert {*defined} == {*shown}


@pytest.mark.thorough
def test_half_of_the_releases_in_plain_doubles_rule_the_other_gain_out():
    """Gain 0 with |noise| below 1/2 is finer than doubles near 1, which 1 + noise is rounded to.

    Every second game releases the gain 1, for which there is nothing to find.
    """
    lesson = LESSONS["no grid"]
    loss = float_loss(lesson.broken(3.0), games=600)
    assert loss.impossible > 30
    assert 0 < loss.delta < loss.impossible / loss.games
    assert float_loss(lesson.repaired(3.0), games=300).impossible == 0


@pytest.mark.thorough
def test_the_gallery_is_a_table_of_one_line_each(monkeypatch):
    some = {name: LESSONS[name] for name in ("range", "first mean", "no grid")}
    monkeypatch.setattr("dp_bandit_envs.cli.audit_commands.LESSONS", some)
    console = Console(width=200)
    with console.capture() as captured:
        show_gallery(console)
    text = captured.get()
    for name, lesson in some.items():
        assert name in text and lesson.seen[:60] in text
    assert text.count("refuted") == 3 == text.count("passes")
