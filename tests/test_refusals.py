"""The helper that judges errors by what they name."""

import math

import pytest

from tests.tools.refusals import missing, refused


@pytest.mark.parametrize("word", ["arm", "[0, 3]", "-1", -1, "Ucb", "math.inf", "--out", "'a b'", math.nan])
def test_a_word_is_found_wherever_it_stands(word):
    text = "Ucb: arm must be in [0, 3]; received -1. Use math.inf, --out or 'a b'; nan"
    assert missing(text, word) == []


@pytest.mark.parametrize("word", [1, 10, "rm", "tau", "inf", 2, 1000])
def test_a_part_of_a_word_is_not_the_word(word):
    assert missing("arms -1 10.5 EXP3-tau math.inf 2.5 1000,5", word) == [str(word)]


def test_a_refusal_has_the_type_and_names_every_word():
    with refused(ValueError, "arm", 3) as caught:
        raise ValueError("arm 3")
    assert caught.type is ValueError
    with pytest.raises(AssertionError, match="epsilon"), refused(ValueError, "arm", "epsilon"):
        raise ValueError("arm 3")
    with pytest.raises(TypeError), refused(ValueError):
        raise TypeError
    with pytest.raises(pytest.fail.Exception), refused(ValueError):
        pass
