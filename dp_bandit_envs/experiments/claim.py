"""What a figure's report says: claims with their verdicts, and notes before the numbers."""

import enum
from typing import NamedTuple


class Verdict(enum.Enum):
    """Whether a claim holds in the numbers; the values are the words that a reader sees."""

    YES = "yes"
    NO = "no"
    UNDECIDED = "cannot tell"


class Judgement(NamedTuple):
    """A verdict, and in words on what it rests."""

    verdict: Verdict
    why: str = ""

    def __str__(self) -> str:
        between = " " if self.verdict is Verdict.UNDECIDED else ", "
        return f"{self.verdict.value}{between}{self.why}" if self.why else self.verdict.value


class Claim(NamedTuple):
    """A claim of a paper, the statistic by which it is judged as it was seen here, and whether it holds."""

    says: str
    seen: str
    holds: Judgement


class Note(NamedTuple):
    """What a reader must know before the numbers.

    Attributes:
        text: Markdown.
        warning: Words before it that must not be missed, on the terminal either.
        on_terminal: Whether the terminal shows it without a warning, too.
    """

    text: str
    warning: str = ""
    on_terminal: bool = False

    def __str__(self) -> str:
        return f"**{self.warning}** {self.text}" if self.warning else self.text
