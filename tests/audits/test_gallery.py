"""Every broken mechanism is rejected by the audit for its fault, and every repaired twin passes it."""

import dataclasses
import inspect
import itertools
import math

import numpy as np
import pytest
from rich.console import Console

from dp_bandit_envs import agents, wrappers
from dp_bandit_envs.algorithms import ALGORITHMS
from dp_bandit_envs.audits import exact_loss, float_loss, gallery
from dp_bandit_envs.audits.gallery import LESSONS
from dp_bandit_envs.cli.audit_commands import show_gallery
from dp_bandit_envs.privacy.guarantee import PrivacyGuarantee
from dp_bandit_envs.privacy.mechanisms import MECHANISMS

EXACT = {
    "hybrid budget": 2.0,
    "range": 2.0,
    "shared draw": float("inf"),
    "last batch": 5.0,
    "first mean": float("inf"),
    "repeated round": 2.0,
    "graph": 3.0,
    "redrawn noise": 2.0,
}
"""By how much the exact loss passes the claim, by hand: see each lesson's sentence."""


@pytest.mark.parametrize(("name", "epsilon"), [*zip(LESSONS, itertools.cycle([0.1, 1.0, 3.0]))])
def test_the_broken_one_is_rejected_and_its_twin_passes(name, epsilon):
    """The audits are exact, or attacks whose answer no noise can change, but for one.

    In floats the twin has no impossible release, so it passes at any confidence.
    """
    lesson = LESSONS[name]
    assert lesson.rejects(lesson.broken(epsilon))
    assert not lesson.rejects(lesson.repaired(epsilon))


@pytest.mark.parametrize("name", [name for name, lesson in LESSONS.items() if lesson.of == "boundary"])
def test_no_repaired_boundary_is_accused_in_30_repetitions(name):
    """An attack needs eight draws within a hundredth of the scale, so none is.

    False alarm: below 1e-12.
    """
    lesson = LESSONS[name]
    accused = [lesson.rejects(lesson.repaired(epsilon)) for epsilon in np.geomspace(0.01, 30, 30)]
    assert not any(accused)


@pytest.mark.parametrize("name", EXACT)
def test_the_broken_one_loses_what_its_sentence_says(name):
    lesson = LESSONS[name]
    loss = exact_loss(lesson.broken(0.5), environment=lesson.game())
    assert loss.declared.epsilon == 0.5
    assert loss.epsilon == pytest.approx(0.5 * EXACT[name], rel=2e-9)
    assert exact_loss(lesson.repaired(0.5), environment=lesson.game()).ratio == pytest.approx(1.0, rel=2e-9)


def name_of(lesson):
    """Return the name of what is broken."""
    part = lesson.broken(1.0)
    if lesson.of == "algorithm":
        return type(part.agent()).__name__
    return type(part(lesson.game()) if lesson.of == "boundary" else part).__name__


def test_no_table_has_a_broken_one():
    names = [*ALGORITHMS, *MECHANISMS, *agents.__all__, *wrappers.__all__]
    assert not [name for name in names if name.lower().startswith("broken")]
    shown = [name_of(lesson) for lesson in LESSONS.values()]
    assert len(set(shown)) == len(shown) == 16
    defined = [
        name
        for name, one in inspect.getmembers(gallery, inspect.isclass)
        if name.startswith("Broken") and one.__module__ == gallery.__name__
    ]
    assert {*defined} - {"BrokenBoundary"} == {*shown}


def test_half_of_the_releases_in_plain_doubles_rule_the_other_gain_out():
    """Gain 0 with |noise| below 1/2 is finer than doubles near 1, which 1 + noise is rounded to.

    Every second game releases the gain 1, for which there is nothing to find.
    """
    lesson = LESSONS["no grid"]
    loss = float_loss(lesson.broken(3.0), games=600)
    assert loss.impossible > 30
    assert 0 < loss.delta < loss.impossible / loss.games
    assert float_loss(lesson.repaired(3.0), games=300).impossible == 0


def test_a_draw_of_the_loss_form_loses_what_its_sentence_says():
    """The most that any draw can lose at this rate is ln((2 - gamma) / gamma) = 3.66."""
    assert math.log((2 - gallery.LOSS_RATE) / gallery.LOSS_RATE) == pytest.approx(3.66, abs=0.01)
    lesson = LESSONS["loss form"]
    # At 900 rounds it claims 900; the 600 at the end lose more than 1.5 each.
    assert lesson.rejects(dataclasses.replace(lesson.broken(1.0), own_guarantee=_claiming(1.5)))
    assert not lesson.rejects(dataclasses.replace(lesson.broken(1.0), own_guarantee=_claiming(3.67)))


def _claiming(a_round):
    return lambda n_arms, horizon: PrivacyGuarantee(epsilon=a_round * horizon)


def test_the_gallery_is_a_table_of_one_line_each(monkeypatch):
    some = {name: LESSONS[name] for name in ("range", "first mean", "total in info")}
    monkeypatch.setattr("dp_bandit_envs.cli.audit_commands.LESSONS", some)
    console = Console(width=200)
    with console.capture() as captured:
        show_gallery(console)
    text = captured.get()
    for name, lesson in some.items():
        assert name in text and lesson.seen[:60] in text
    assert text.count("refuted") == 3 == text.count("passes")
