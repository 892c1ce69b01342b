"""Solutions of lab 8: the epsilon of a round, and what may be published."""

import math
from collections.abc import Sequence


def epsilon_of_a_round(promise: float, patients: Sequence[int], rounds: int) -> float:
    """Return the promise over the most rounds of one patient, who is one of the smallest treatment."""
    return promise / math.ceil(rounds / min(patients))


decisions = {"A": True, "B": False, "C": False, "D": False, "E": True, "F": True, "G": False}
