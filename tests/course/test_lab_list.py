"""The list of labs: names, numbers, nearest names."""

import pytest

from dp_bandit_envs.course.notebooks import LABS, find
from tests.tools.refusals import refused


def test_nine_labs_of_twenty_to_thirty_minutes():
    assert len({lab.name for lab in LABS}) == len(LABS) == 9
    assert all(20 <= lab.minutes <= 30 and lab.question.endswith("?") for lab in LABS)


@pytest.mark.parametrize("word", ["price-of-privacy", "price_of_privacy.py", "Price of privacy", "2"])
def test_a_lab_has_several_names(word):
    assert find(word).file == "price_of_privacy.py"


@pytest.mark.parametrize("word", ["0", "10", "prise-of-privacy"])
def test_a_wrong_name_is_refused(word):
    with refused(ValueError, "lab", word):
        find(word)
    with refused(ValueError, "price-of-privacy"):
        find("prise-of-privacy")
