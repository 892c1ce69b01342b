"""What a broken line is."""

from typing import NamedTuple

TABLE = "tests/audits/test_exact_loss.py"
"""The exact audit over the table of algorithms."""


class Mutation(NamedTuple):
    """One broken line.

    Attributes:
        what: What is broken, in words; a name for it.
        file: Where, from the root of the repository.
        old: A text that occurs there exactly once.
        new: What replaces it.
        tests: The tests that must catch it, as arguments of pytest. For noise that is `TABLE` alone.
    """

    what: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...] = (TABLE,)
