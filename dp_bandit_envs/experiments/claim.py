"""Parts of a figure's report: claims with their verdicts, and notes that precede the results."""

import dataclasses
import enum
from typing import Any, NamedTuple


class Verdict(enum.Enum):
    """Whether the results support a claim; the values are the words in the report."""

    YES = "yes"
    NO = "no"
    UNDECIDED = "cannot tell"


class Words(NamedTuple):
    """A claim in words, with a reason for each verdict.

    Attributes:
        says: The claim.
        seen: The value of the statistic that decides.
        yes, no: The reasons for these verdicts.
        unknown: The text after "from 100 runs" if the runs do not decide.
    """

    says: str
    seen: str
    yes: str = ""
    no: str = ""
    unknown: str = ""


@dataclasses.dataclass(frozen=True)
class Claim:
    """A claim of a paper with its verdict.

    Attributes:
        statistic: The numbers that decide, by name.
        verdict: Whether the claim holds.
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
    """Something that a reader must know before the results.

    Attributes:
        text: Markdown.
        warning: A warning before it, which the terminal shows too.
        on_terminal: Whether the terminal shows the note even without a warning.
    """

    text: str
    warning: str = ""
    on_terminal: bool = False

    def __str__(self) -> str:
        return f"**{self.warning}** {self.text}" if self.warning else self.text
