"""Lab 8, the HIV trial: checks of a per-round epsilon that keeps a promise to patients, and of publishing."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from matplotlib.figure import Figure

from dp_bandit_envs.course.checking import (
    WrongAnswer,
    brief,
    check_formula,
    graded,
    kind,
    mistakes,
    rows,
    some_epsilon,
    some_number,
)
from dp_bandit_envs.course.notebooks import panel
from dp_bandit_envs.plots.plot_style import BLUE, GREY


def histogram(numbers: Sequence[int], chance: int, most: int) -> Figure:
    """Draw the distribution of the number of patients with a better treatment."""
    figure, axes = panel(2.4)
    axes.hist(numbers, bins=range(700, most + 20, 20), color=BLUE)
    axes.axvline(chance, color=GREY, linestyle="--")
    axes.text(chance, 0.97, "chance ", ha="right", va="top", transform=axes.get_xaxis_transform())
    axes.set(xlabel="patients on one of the better treatments", ylabel=f"re-runs of {len(numbers)}", xlim=(700, most))
    return figure


# The promise, the patients of each treatment, and the rounds.
STUDIES: Final[tuple[tuple[float, tuple[int, ...], int], ...]] = (
    (1.0, (532, 522, 524, 561), 2139),
    (0.5, (300, 100), 900),
    (2.0, (100, 350), 900),
    (1.0, (50, 60, 70), 50),
    (3.0, (40, 20, 10), 41),
    (1.0, (200, 400, 300), 400),
)


def most_rounds(patients: Sequence[int], rounds: int) -> int:
    """Return the most rounds that can use one patient."""
    return -(-rounds // min(patients))


MISTAKES: Final = mistakes(
    "promise, patients, rounds",
    """\
promise | This is the promise itself. It would do if a patient served in one round; count in how many one can serve.
promise * most_rounds(patients, rounds) | This is more than the promise: each round in which a patient serves costs \
another epsilon.
promise / max(1, rounds // min(patients)) | Almost: some patients serve once more. Rounds are left over after the \
last complete pass through the records.
promise / (rounds / min(patients)) | Almost: a patient serves in a whole number of rounds. What is left of the last \
pass counts for some of them.
promise / most_rounds([max(patients)], rounds) | You have looked at the treatment with the most patients. Whose \
records are used up first, and begin again?
promise / math.ceil(rounds / np.mean(patients)) | You have taken the average treatment. The promise is to \
every patient, those of the smallest one as well.
promise / most_rounds([patients[0]], rounds) | You have looked at the first treatment only. The promise is to the \
patients of all of them.
promise / math.ceil(rounds / sum(patients)) | Records are not shared by the treatments: when all rounds go to one of \
them, its own patients serve in all.
promise / rounds | A patient would have to serve in every round for that. Records come in turn: nobody serves twice \
in one pass.
promise / len(patients) | The number of treatments is not what counts: a patient was given one. How often can that \
record come back?
""",
    most_rounds=most_rounds,
)


def drawn_study(rng: np.random.Generator) -> tuple[float, tuple[int, ...], int]:
    """Return an unpredictable study."""
    patients = tuple(some_number(rng, 20, 700) for _ in range(some_number(rng, 2, 6)))
    return some_epsilon(rng), patients, some_number(rng, 50, 3_000)


@graded
def check_epsilon_of_a_round(epsilon_of_a_round: Any, *, seed: int | None = None) -> str:
    """Check the largest per-round epsilon that keeps a promise, from the promise, patients and rounds. No false alarms.

    Right is the promise over the most rounds of a patient, which is rounds / (patients of the smallest treatment),
    rounded up.
    """
    check_formula(
        epsilon_of_a_round,
        lambda promise, patients, rounds: promise / most_rounds(patients, rounds),
        STUDIES,
        drawn_study,
        seed,
        known_mistakes=MISTAKES,
        wrong="For {2} rounds and treatments of {1} patients, epsilon = {answer:.4g} {side}. Count the passes through"
        " the records of each treatment.",
        sides=("keeps the promise, but more of it was free", "breaks the promise"),
        what="The epsilon of a round",
        rounded="Rounded up, it breaks the promise.",
    )
    return "In the real trial a patient can serve in 5 rounds, so a round may cost a fifth of what is promised."


class Case(NamedTuple):
    """A group's actions and claim, whether it may be published, and a hint after a wrong decision."""

    says: str
    may: bool
    hint: str


CASES: Final = {
    letter: Case(says, may == "true", hint)
    for letter, may, says, hint in rows("""\
A | true | We played once with seed=None at epsilon = 0.2 a round. A patient serves in at most 5 rounds. We publish \
which treatment was given in each round: "epsilon = 1 for every patient". | what is published, how often a patient \
serves, and who knows the noise
B | false | The same, with seed=0, so that referees can repeat the game. | what a reader can do who knows the seed \
and has the code
C | false | We played 20 games at epsilon = 0.2 a round, with different settings, and publish the best one: "epsilon \
= 1 for every patient". | what the other 19 games looked at, and how the best one was chosen
D | false | The game of A; beside the treatments we print how many patients had an event in it, to the patient. | \
which of the two things that are printed went through the noise
E | true | The game of A, and in addition any table that can be worked out from the published treatments alone. | \
post-processing: what can be done with published numbers without looking at the data again
F | true | A budget of 1 for every patient was set before the first game; a ledger counted every game and refused \
the last one. We publish the treatments of all games that were played, with seed=None. | what a ledger adds up, and \
when it says no
G | false | We played EXP3 without a wrapper: "it draws its arms at random, so nobody can learn anything of a \
patient". | whether random arms alone give an epsilon that is worth anything, over 2,139 rounds
""")
}
"""What to decide about, in the order of the lab."""


@graded
def check_publishing(decisions: Any) -> str:
    """Check the decisions about `CASES`: by the letter of the case, True if it may be published.

    Without chance: the rate of false alarms is 0.
    """
    if decisions is None or decisions is ...:
        raise WrongAnswer("There are no decisions yet.")
    if not isinstance(decisions, Mapping):
        raise WrongAnswer(f"The decisions have to be a dict from letters to True or False; this is {kind(decisions)}.")
    unknown = sorted(str(letter) for letter in decisions if letter not in CASES)
    if unknown:
        raise WrongAnswer(f"There is no case {', '.join(unknown)}; the cases are {', '.join(CASES)}.")
    open_cases = [letter for letter in CASES if decisions.get(letter) is None]
    if open_cases:
        raise WrongAnswer(f"Not decided yet: {', '.join(open_cases)}.")
    for letter, answer in decisions.items():
        if not (isinstance(answer, (int, np.bool_)) and answer in (0, 1)):
            raise WrongAnswer(f"The decision about {letter} has to be True or False; it is {brief(answer)}.")
    wrong = [letter for letter, case in CASES.items() if decisions[letter] != case.may]
    if not wrong:
        return "A guarantee covers what went through the noise, once, with a secret seed; all else has to be counted."
    if len(wrong) == len(CASES):
        raise WrongAnswer("All of them are the other way round: True means that it may be published.")
    if not any(decisions.values()):
        raise WrongAnswer(
            "Nothing may be published? Then a guarantee would be worth nothing. One question: " + asked(wrong)
        )
    if all(decisions.values()):
        raise WrongAnswer("Everything may be published? Some of these claims are false. One question: " + asked(wrong))
    are = "is" if len(wrong) == 1 else "are"
    raise WrongAnswer(f"{len(wrong)} of {len(CASES)} {are} wrong. One question for one of them: {asked(wrong)}")


def asked(wrong: Sequence[str]) -> str:
    """Return the hint for the first wrong case, without its letter."""
    return f"{CASES[wrong[0]].hint}?"
