"""The labs in the order of the course."""

import difflib
from typing import Final, NamedTuple

from dp_bandit_envs.errors import UnknownNameError


class Lab(NamedTuple):
    """One lab.

    Args:
        name: Its name on the command line, such as `price-of-privacy`.
        title: Its title.
        question: The question that it answers.
        minutes: How long a student takes.
    """

    name: str
    title: str
    question: str
    minutes: int

    @property
    def file(self) -> str:
        """The notebook's file name."""
        return f"{self.name.replace('-', '_')}.py"


LABS: Final = (
    Lab("what-is-a-bandit", "What is a bandit?", "Is there one best way to play against five different opponents?", 25),
    Lab("price-of-privacy", "The price of privacy", "How much more regret does a smaller epsilon cost?", 25),
    Lab("switching-costs", "Switching costs", "Which learner is best when every change of arm costs a round?", 25),
    Lab("counters", "Counters", "How well can one know a running sum that is published all the time?", 25),
    Lab(
        "what-an-attacker-sees",
        "What an attacker sees",
        "What do the arms alone give away, and how sure can one be?",
        30,
    ),
    Lab("graph-feedback", "Graph feedback", "Does it help to see more than the arm that was played?", 25),
    Lab("experts", "Experts", "Why is privacy nearly free when every gain is seen?", 25),
    Lab("hiv-trial", "A trial of HIV drugs", "What may one publish about the people of a real study?", 30),
    Lab("your-own-agent", "Your own agent", "Can you beat the algorithms of the papers?", 30),
)


def find(name: str) -> Lab:
    """Return a lab by its name, the beginning of its name, its file's name or its number from 1.

    Raises:
        UnknownNameError: If there is none; the error names the nearest one.
    """
    word = name.strip().lower().removesuffix(".py").replace("_", "-").replace(" ", "-")
    if word.isdecimal() and 1 <= int(word) <= len(LABS):
        return LABS[int(word) - 1]
    begin_so = [lab for lab in LABS if word and lab.name.startswith(word)]
    if len(begin_so) == 1:
        return begin_so[0]
    nearest = max(LABS, key=lambda lab: likeness(word, lab.name))
    if likeness(word, nearest.name) >= 0.5:
        hint = f"Did you mean {nearest.name}?"
    else:
        hint = f"Known: {', '.join(lab.name for lab in LABS)}."
    raise UnknownNameError(f"lab must be the name of a lab, or its number; received {name!r}. {hint}")


def likeness(word: str, name: str) -> float:
    """Return how much a word is like a name or one of the name's words, in [0, 1]."""
    return max(difflib.SequenceMatcher(None, word, other).ratio() for other in (name, *name.split("-")))
