"""The checks of the lab on the HIV trial: solutions pass, and each kind of wrong answer gets the words that fit."""

import itertools
import math
from fractions import Fraction

import gymnasium as gym
import numpy as np
import pytest

import dp_bandit_envs
from dp_bandit_envs.algorithms import make_algorithm
from dp_bandit_envs.course.lab_hiv import (
    CASES,
    STUDIES,
    check_epsilon_of_a_round,
    check_publishing,
    most_rounds,
)
from dp_bandit_envs.labs.solutions.hiv_trial import decisions, epsilon_of_a_round
from dp_bandit_envs.privacy.participation import use_of_pools


def test_the_solution_passes_both_checks():
    assert check_epsilon_of_a_round(epsilon_of_a_round).passed
    assert check_publishing(decisions).passed
    for kind in (np.bool_, int):
        assert check_publishing({letter: kind(may) for letter, may in reversed(decisions.items())}).passed


@pytest.mark.parametrize(
    "answer",
    [
        lambda promise, patients, rounds: Fraction(promise) / -(-rounds // min(patients)),
        lambda promise, patients, rounds: promise / max(math.ceil(rounds / each) for each in patients),
        lambda promise, patients, rounds: min(promise, epsilon_of_a_round(promise, patients, rounds)),
    ],
)
def test_other_right_epsilons_pass(answer):
    assert check_epsilon_of_a_round(answer)


def test_rounds_of_a_patient_are_those_that_the_environment_states():
    trial = gym.make("DPBandit-Trial-v0").unwrapped.adversary
    assert trial.data_use.person == most_rounds((532, 522, 524, 561), 2139) == 5
    for _, patients, rounds in STUDIES:
        assert use_of_pools(patients, rounds, persons=1).person == most_rounds(patients, rounds)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (lambda promise, patients, rounds: round(epsilon_of_a_round(promise, patients, rounds), 2), "but rounded"),
        (lambda promise, patients, rounds: promise / 10, "more of it was free"),
        (lambda promise, patients, rounds: promise / 3, "breaks the promise"),
        (lambda promise, patients, rounds: promise / (rounds // min(patients) + 1), "more of it was free"),
        (lambda promise, patients, rounds: 0.2, "breaks the promise"),
        (lambda promise, patients, rounds: -promise, "greater than 0"),
    ],
)
def test_a_wrong_epsilon_is_explained(wrong, said):
    verdict = check_epsilon_of_a_round(wrong)
    assert not verdict.passed
    assert said in verdict.says


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (None, "no decisions yet"),
        ([True] * 7, "have to be a dict"),
        (decisions | {"H": True}, "no case H"),
        (decisions | {"C": None}, "Not decided yet: C"),
        (decisions | {"C": "no"}, "the decision about C has to be True or False; it is 'no'"),
        (decisions | {"C": 2}, "the decision about C has to be True or False; it is 2"),
        ([letter for letter, may in decisions.items() if may], "have to be a dict"),
        ({}, "Not decided yet: A, B, C, D, E, F, G"),
        ({letter: not may for letter, may in decisions.items()}, "the other way round"),
        (dict.fromkeys(CASES, True), "Everything may be published?"),
        (dict.fromkeys(CASES, False), "Nothing may be published?"),
        (decisions | {"B": True}, "1 of 7 is wrong. One question for one of them: what a reader can do"),
        (decisions | {"C": True, "D": True}, "2 of 7 are wrong. One question for one of them: what the other 19"),
    ],
)
def test_wrong_decisions_are_explained(wrong, said):
    verdict = check_publishing(wrong)
    assert not verdict.passed
    assert said.lower() in verdict.says.lower()


def test_one_answer_of_all_passes_and_no_hint_names_its_case():
    answers = [dict(zip(CASES, each, strict=True)) for each in itertools.product((True, False), repeat=len(CASES))]
    assert [answer for answer in answers if check_publishing(answer).passed] == [decisions]
    assert not any(f" {letter} " in f" {case.hint} " for letter, case in CASES.items() if letter != "A")


@pytest.mark.parametrize(("name", "few"), [("DP-KLUCB", True), ("DP-IMED", True), ("Batched-Lap-HTINF", False)])
def test_what_the_lab_says_of_lone_bars(name, few):
    """The first treatment gets a doubled number of patients unless the trial ends within a block; no seed matters."""
    given = {"env_kwargs": {"arm_order": "given"}, "trials": 60, "seed": None}
    game = dp_bandit_envs.simulate("DPBandit-Trial-v0", [make_algorithm(name, epsilon=0.2)], **given)[name]
    of_first = np.unique(game.pulls[:, 0])
    assert (len(of_first) <= 10) == few
    assert not few or set(of_first) & {80, 160, 320}
