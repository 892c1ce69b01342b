"""What a figure's report says: claims with their verdicts, and notes before the numbers."""

import dataclasses
import enum
from typing import Any, NamedTuple


class Verdict(enum.Enum):
    """Whether a claim holds in the numbers; the values are the words that a reader sees."""

    YES = "yes"
    NO = "no"
    UNDECIDED = "cannot tell"


class Words(NamedTuple):
    """A claim in words, with a reason for each verdict.

    Attributes:
        says: The claim.
        seen: The statistic by which it is judged, as it was seen here.
        yes, no: Reasons for these verdicts.
        unknown: What follows "from 100 runs" where these do not decide.
    """

    says: str
    seen: str
    yes: str = ""
    no: str = ""
    unknown: str = ""


@dataclasses.dataclass(frozen=True)
class Claim:
    """A claim of a paper, held against the numbers.

    Attributes:
        statistic: The numbers by which it is judged, each with a name.
        verdict: Whether it holds in them.
        says: The claim in words.
        seen: The statistic in words.
        why: The reason for the verdict.
    """

    statistic: Any
    verdict: Verdict
    says: str
    seen: str
    why: str = ""

    @property
    def answer(self) -> str:
        """The verdict with its reason, as in "no, it grows for two arms"."""
        between = " " if self.verdict is Verdict.UNDECIDED else ", "
        return f"{self.verdict.value}{between}{self.why}" if self.why else self.verdict.value


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
