"""What can go wrong in a student's function, or before it, becomes plain words, and never an error of ours."""

import math
import time
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from dp_bandit_envs.course import (
    checking,
    lab_attacker,
    lab_bandits,
    lab_counters,
    lab_experts,
    lab_graphs,
    lab_hiv,
    lab_price,
    lab_switching,
)
from dp_bandit_envs.course.checking import (
    ScriptedDraws,
    TaskVerdict,
    WrongAnswer,
    call,
    graded,
    judged,
    number,
    numbers,
    only_rounded,
    whole,
)


def words(function, *arguments):
    with pytest.raises(WrongAnswer) as caught:
        function(*arguments)
    return str(caught.value)


def returns_nothing(epsilon):
    epsilon + 1


def still_dots(epsilon):
    # epsilon is a number.
    ...


def divides_by_zero(epsilon):
    return 1 / (epsilon - epsilon)


def leaves(epsilon):
    raise SystemExit(3)


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (None, "no answer yet"),
        (..., "no answer yet"),
        (still_dots, "no answer yet"),
        (lambda epsilon: 0.5 if epsilon < 0 else None, "returns nothing"),
        (0.5, "has to be a function; it is a float (0.5)"),
        (returns_nothing, "returns_nothing(2.0) returns nothing (None). Is there a `return`?"),
        (divides_by_zero, "division by zero, in the line `return 1 / (epsilon - epsilon)`"),
        (leaves, "stops with SystemExit: 3"),
        (lambda: 1, "cannot be called as <lambda>(2.0): too many positional arguments"),
    ],
)
def test_a_broken_function_is_described(function, said):
    assert said in words(call, function, 2.0)


def test_a_loop_that_the_stop_button_ends_is_no_answer():
    """The button raises KeyboardInterrupt in the notebook, which a check lets through, so that its cell stops."""

    def endless(epsilon):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        call(endless, 2.0)


def test_a_function_cannot_change_what_it_is_given():
    given = np.zeros(3)
    assert call(lambda gains: gains.__iadd__(1).sum(), given) == 3
    assert not given.any()


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (None, "The scale is missing"),
        (..., "The scale is missing"),
        ("2", "it is text ('2')"),
        (True, "it is a truth value (True)"),
        ([1.0, 2.0], "it is a list ([1.0, 2.0])"),
        (np.ones(3), "it is an array of shape (3,)"),
        (1j, "it is a complex (1j)"),
        (len, "it is a function (len)"),
        (math.nan, "finite number; it is nan"),
        (np.float64("-inf"), "finite number; it is -inf"),
    ],
)
def test_what_is_no_number_is_described(value, said):
    assert said in words(number, value, "The scale")


def test_numbers_of_every_kind_are_taken():
    assert number(np.int64(3)) == number(3.0) == number(np.array(3)) == whole(3.0) == 3
    assert number(Fraction(1, 4)) == number(Decimal("0.25")) == 0.25
    assert numbers([1, Fraction(1, 2), Decimal("0.25")], (3,)).tolist() == [1.0, 0.5, 0.25]
    assert "whole number; it is 2.5" in words(whole, 2.5)


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (Fraction(10**400), "it is a Fraction"),
        (Decimal("nan"), "finite number; it is nan"),
        (np.array([True, None]), "it is an array"),
        (np.array([Fraction(1, 2), True]), "it is an array"),
        (np.array(True, dtype=object), "it is an array"),
    ],
)
def test_objects_that_are_no_finite_numbers_are_described(value, said):
    assert said in words(number, value)


def test_rounded_answers_are_told_from_wrong_ones():
    right = [1 / 28, 1 / 3, 2.0]
    for digits in (2, 3, 6):
        assert only_rounded([round(each, digits) for each in right], right)
        assert only_rounded([math.floor(each * 10**digits) / 10**digits for each in right], right)
    assert not only_rounded([1 / 28, 1 / 3, 2.001], right)
    assert not only_rounded([0.04, 0.33, 2.02], right)


def test_arrays_are_checked_for_shape_and_content():
    assert numbers([1, 2], (2,)).tolist() == [1.0, 2.0]
    assert "shape (2,); it has (3,)" in words(numbers, [1, 2, 3], (2,))
    assert "it is a list" in words(numbers, [[1], [2, 3]], (2,))
    assert "1 entries" in words(numbers, [math.nan, 1], (2,))
    assert "2 numbers" in words(numbers, None, (2,))


def test_a_graded_check_gives_a_verdict_and_keeps_its_name():
    @graded
    def check_one(value):
        """Whether it is one."""
        if number(value) != 1:
            raise WrongAnswer("It is <another> one.")
        return "One it is."

    assert check_one(1) == TaskVerdict(True, "One it is.")
    assert not check_one(2)
    assert str(check_one(2)) == "Not yet. It is <another> one."
    assert "It is &lt;another&gt; one." in check_one(2)._repr_html_()
    assert check_one.__name__ == "check_one" and check_one.__doc__ == "Whether it is one."


CHECKS = {
    "regret": (lab_bandits, lab_bandits.check_regret),
    "scale of an average": (lab_price, lab_price.check_noise_scale),
    "batch": (lab_switching, lab_switching.check_best_batch),
    "node": (lab_counters, lab_counters.check_node_scale),
    "bound": (lab_attacker, lab_attacker.check_epsilon_bound),
    "factor": (lab_graphs, lab_graphs.check_noise_factor),
    "scale of a round": (lab_experts, lab_experts.check_noise_scale),
    "epsilon": (lab_hiv, lab_hiv.check_epsilon_of_a_round),
    "release": (None, lab_price.check_release),
    "sums": (None, lab_counters.check_private_sums),
    "cover": (None, lab_graphs.check_clique_cover),
    "step": (None, lab_experts.check_probabilities),
}
"""All checks of a function, with the lab of those that know mistakes by their answers."""
NOT_NUMBERS = {"sums": "shape", "step": "shape", "cover": "list of groups"}
"""What is said of a number where the answer is something else."""


@pytest.mark.parametrize("name", CHECKS)
def test_every_check_explains_what_is_no_answer(name):
    for wrong, said in (
        (..., "no answer yet"),
        (3.5, "has to be a function"),
        (lambda *given: [].append(1), "Is there a `return`"),
        (lambda *given: 1 // 0, "ZeroDivisionError"),
        (lambda: 1.0, "cannot be called"),
        (lambda *given: "1.0", "text"),
        (lambda *given: math.nan, NOT_NUMBERS.get(name, "finite")),
    ):
        verdict = CHECKS[name][1](wrong)
        assert not verdict.passed and said in verdict.says


@pytest.mark.parametrize("name", [name for name, (lab, _) in CHECKS.items() if lab])
def test_every_mistake_that_is_known_gets_its_own_words(name, monkeypatch):
    monkeypatch.setattr(checking, "COURSE", "nowhere")  # the mistakes stand in the course
    lab, check = CHECKS[name]
    assert len(lab.MISTAKES) >= 8
    for mistake, says in lab.MISTAKES:
        assert check(mistake) == TaskVerdict(False, says)


def the_checks_own(horizon, n_arms):
    return lab_switching.best(horizon, n_arms)


@pytest.mark.parametrize("cheat", [lab_switching.best, the_checks_own])
def test_who_asks_the_check_for_the_answer_has_none(cheat):
    verdict = lab_switching.check_best_batch(cheat)
    assert not verdict and "`best`, which belongs to the checks" in verdict.says


@pytest.mark.parametrize("seed", [None, 7])
def test_a_table_of_known_answers_is_no_answer(seed):
    table = {case: 1 / math.prod(case) for case in lab_price.CASES}
    verdict = lab_price.check_noise_scale(lambda n, epsilon: table.get((n, epsilon), 1.0), seed=seed)
    assert not verdict and "Right in some cases, but not in others: for (" in verdict.says


def test_a_script_looks_like_any_generator():
    """An answer that is right for scripts only, or for others only, cannot tell them apart."""
    kinds = []
    for rng in (np.random.default_rng(1), ScriptedDraws([1.0])):
        call(lambda rng: kinds.append((type(rng), type(rng).__name__, isinstance(rng, np.random.Generator))) or 1, rng)
    assert kinds[0] == kinds[1] and kinds[0][1:] == ("Generator", True)


def test_a_generator_draws_the_same_numbers_inside_and_outside_of_a_call():
    inside, outside = np.random.default_rng(7), np.random.default_rng(7)
    for draw in (lambda rng: rng.laplace(scale=2.0), lambda rng: rng.normal(size=3).sum(), lambda rng: rng.random()):
        assert call(draw, inside) == draw(outside)


@graded
def check_double(double):
    if call(double, 3) != 6:
        raise WrongAnswer("Twice three is something else.")
    return "Six."


def test_a_verdict_is_that_of_the_check():
    assert judged(check_double, lambda: lambda n: 2 * n) == check_double(lambda n: 2 * n)
    assert judged(check_double, lambda: abs) == check_double(abs)


def test_a_name_that_is_missing_is_named():
    verdict = judged(check_double, lambda: double)  # noqa: F821
    assert not verdict and "There is no `double` yet" in verdict.says


def test_an_endless_loop_is_stopped_and_a_later_check_is_not():
    def endless(number):
        while True:
            number += 1

    verdict = judged(check_double, lambda: endless, seconds=0.2)
    assert not verdict and "After 0.2 seconds it is still at work" in verdict.says
    assert judged(check_double, lambda: lambda n: 2 * n, seconds=0.2)
    for _ in range(1_000):
        time.sleep(0.001)  # a late stop would come here
