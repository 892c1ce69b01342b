"""Every broken mechanism is rejected by the audit for its fault, and every repaired twin passes it."""

import inspect

import pytest

from dp_bandit_envs.algorithms import ALGORITHMS
from dp_bandit_envs.audits import broken_noise, exact_loss, float_loss
from dp_bandit_envs.audits.gallery import LESSONS
from dp_bandit_envs.privacy.mechanism import Mechanism
from dp_bandit_envs.privacy.mechanisms import MECHANISMS, HybridSums

EXACT = {
    "hybrid budget": 2.0,
    "range": 2.0,
    "shared draw": float("inf"),
    "last batch": 5.0,
    "first mean": float("inf"),
    "repeated round": 2.0,
    "graph": 3.0,
}
"""By how much the exact loss passes the claim, by hand: see each lesson's sentence."""
every_lesson = pytest.mark.parametrize("name", LESSONS)


@every_lesson
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
def test_the_broken_one_is_rejected_and_its_twin_passes(name, epsilon):
    """The audits but one are exact. In floats the twin has no impossible release, so it passes at any confidence."""
    lesson = LESSONS[name]
    assert lesson.rejects(lesson.broken(epsilon))
    assert not lesson.rejects(lesson.repaired(epsilon))


@pytest.mark.parametrize("name", EXACT)
def test_the_broken_one_loses_what_its_sentence_says(name):
    lesson = LESSONS[name]
    loss = exact_loss(lesson.broken(0.5), env=lesson.game())
    assert loss.declared.epsilon == 0.5
    assert loss.epsilon == pytest.approx(0.5 * EXACT[name], rel=1e-9)
    assert exact_loss(lesson.repaired(0.5), env=lesson.game()).ratio == pytest.approx(1.0, rel=1e-9)


def test_no_table_has_a_broken_one():
    names = [*ALGORITHMS, *MECHANISMS]
    assert not [name for name in names if name.lower().startswith("broken")]
    kinds = {type(lesson.broken(1.0)) for lesson in LESSONS.values()}
    assert not kinds & set(MECHANISMS.values())
    assert all(kind.__name__.startswith("Broken") for kind in kinds)
    defined = [one for _, one in inspect.getmembers(broken_noise, inspect.isclass) if one.__module__.endswith("_noise")]
    assert {one for one in defined if issubclass(one, Mechanism)} == kinds


@every_lesson
def test_what_an_attacker_sees_is_one_sentence(name):
    seen = LESSONS[name].seen
    assert seen.endswith(".") and ". " not in seen


def test_half_of_the_releases_in_plain_doubles_rule_the_other_gain_out():
    """Gain 0 with |noise| below 1/2 is finer than doubles near 1, which 1 + noise is rounded to."""
    lesson = LESSONS["no grid"]
    loss = float_loss(lesson.broken(3.0), games=300)
    assert loss.impossible > 30
    assert 0 < loss.delta < loss.impossible / loss.games
    assert float_loss(lesson.repaired(3.0), games=300).impossible == 0


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 10.0])
def test_sums_on_a_grid_can_come_from_any_gain(epsilon):
    assert float_loss(HybridSums(epsilon=epsilon), games=200).impossible == 0
