"""Arms that are one by the user's word, and names that only look alike."""

import pytest

from dp_bandit_envs.data_files import DataFile
from dp_bandit_envs.recorded_data import clean
from dp_bandit_envs.recorded_data.arms_alike import near_names
from tests.tools.refusals import refused

LINES = ["drug,effect", *["Placebo,1"] * 700, *["Plazebo,0"] * 300, *["unclear,1"] * 4, *["Ramipril,1"] * 600]


def given(**decided):
    return clean(DataFile("trial.csv", "\n".join(LINES).encode()), arm="drug", gain="effect", **decided)


def test_names_can_be_made_one_or_missing():
    records = given(arms_alike="plazebo=Placebo,unclear=", missing="drop")
    assert records.arm_names == ("Placebo", "Ramipril") and records.records_of_arms == (1000, 600)
    assert not {"near", "few"} & {one.kind for one in records.problems}
    assert given(arms_alike={"unclear": ""}).open_problems[0].kind == "missing"


def test_near_names_and_tiny_arms_name_the_option():
    text = given().report(command_line=True)
    assert "--arms-alike Placebo=Plazebo" in text and "--arms-alike unclear=" in text


@pytest.mark.parametrize(
    ("one", "other", "near"),
    [
        ("Placebo", "Plazebo", True),
        ("Placebo", "Placebos", True),
        ("Ramipril 5 mg", "Ramipril 10mg", True),
        ("Placebo", "Standard", False),
        ("Placebo", "Pluzebo", False),
        ("A1", "A2", False),
        ("arm", "arms", False),
    ],
)
def test_what_is_near(one, other, near):
    assert bool(near_names("drug", [one, other])) == near == bool(near_names("drug", [other, one]))


def test_names_with_spaces_are_quoted_on_the_command_line():
    (one,) = near_names("drug", ["Ramipril 5 mg", "Ramipril 10 mg"])
    assert "--arms-alike 'Ramipril 5 mg=Ramipril 10 mg'" in one.sentence(command_line=True)


def test_what_says_nothing_is_refused():
    with refused(ValueError, "arms_alike", "Plazebo=Placebo"):
        given(arms_alike="Plazebo")
