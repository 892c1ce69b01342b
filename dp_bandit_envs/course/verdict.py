"""What a check of a student's answer returns: right or not, and why; a notebook shows it as a coloured box."""

import html
from typing import NamedTuple


class Verdict(NamedTuple):
    """Whether an answer is right, and one or two sentences for the student.

    Args:
        passed: Whether the task is solved.
        says: What is wrong without the right answer, or what the right answer means.
        word: What the box of a right answer begins with.
    """

    passed: bool
    says: str
    word: str = "Right"

    def __bool__(self) -> bool:
        """Return whether the answer is right."""
        return self.passed

    def __str__(self) -> str:
        """Return the verdict as a line of text."""
        return f"{self.word if self.passed else 'Not yet'}. {self.says}"

    def _repr_html_(self) -> str:
        """Return the verdict as a box, for notebooks; readable on light and on dark pages."""
        colour, word = ("#2e8b57", html.escape(self.word)) if self.passed else ("#c77700", "Not yet")
        return (
            f'<div role="status" class="verdict" data-passed="{str(self.passed).lower()}" style="border-left: 5px solid'
            f' {colour}; background: {colour}22; padding: .6em 1em; border-radius: 4px">'
            f"<b>{word}.</b> {html.escape(self.says)}</div>"
        )
