"""Looks of algorithms: their own where it is free, never two alike, and apart for colour-blind readers."""

import itertools

import matplotlib as mpl
import numpy as np
import pytest

from dp_bandit_envs.algorithms import algorithm_names
from dp_bandit_envs.figures import figure_2
from dp_bandit_envs.figures.figure_modern import PRIVATE, REFERENCE
from dp_bandit_envs.plots.plot_style import COLOURS, DASHES, MARKERS, STYLES, Style, again, styles_for

FIGURE_1 = ["EXP3", "DP-EXP3-Lap", "EXP3-tau"]
FIGURE_2 = [one.make().name for one in figure_2.experiment(modern=True).panels[0].contestants]
# Models of missing green and missing red cones (Vienot, Brettel and Mollon 1999), on linear RGB.
BLINDNESS = {
    "green": [[0.29275, 0.70725, 0.0], [0.29275, 0.70725, 0.0], [-0.02234, 0.02234, 1.0]],
    "red": [[0.11238, 0.88762, 0.0], [0.11238, 0.88762, 0.0], [0.00401, -0.00401, 1.0]],
}


def simulated(colour, kind):
    linear = np.array(mpl.colors.to_rgb(colour)) ** 2.2
    return np.clip(np.array(BLINDNESS[kind]) @ linear, 0, 1) ** (1 / 2.2)


def luminance(colour):
    """Return relative luminance (WCAG 2), which people of any colour vision see."""
    parts = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in mpl.colors.to_rgb(colour)]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


def subsets():
    """Yield figures: all pairs of algorithms, all of them, and random ones of any size with unknown names."""
    names = algorithm_names()
    yield from itertools.permutations(names, 2)
    yield names
    rng = np.random.default_rng(0)
    unknown = [f"mine {place}" for place in range(30)]
    for _ in range(300):
        everyone = [*names, *unknown]
        rng.shuffle(everyone)
        yield everyone[: int(rng.integers(1, len(everyone) + 1))]


def test_no_two_lines_of_any_figure_are_alike():
    for names in subsets():
        looks = styles_for(names)
        assert list(looks) == list(names)
        # More than that all three are not equal: nobody needs the marker, which a line of few places may lack.
        pairs = {(each.colour, each.line) for each in looks.values()}
        assert len(pairs) == min(len(names), len(COLOURS) * len(DASHES))
        assert len(set(looks.values())) == len(names)
        if len(names) <= len(COLOURS):
            assert len({each.colour for each in looks.values()}) == len(names)
        if len(names) <= len(MARKERS):
            assert len({each.marker for each in looks.values()}) == len(names)


def test_the_first_of_a_colour_keeps_it_whatever_else_is_drawn():
    for names in subsets():
        looks, claimed = styles_for(names), set()
        for name in names:
            own = STYLES.get(name)
            if own is not None and own.colour not in claimed:
                claimed.add(own.colour)
                assert looks[name][:2] == own[:2]


def test_two_recommended_algorithms_of_one_colour_get_two():
    assert STYLES["DP-KLUCB"].colour == STYLES["AS-SCRiBLe"].colour
    first, second = styles_for(["DP-KLUCB", "AS-SCRiBLe"]).values()
    assert first == STYLES["DP-KLUCB"] and second.colour != first.colour


def test_looks_depend_on_names_and_order_only():
    for names in subsets():
        assert styles_for(names) == styles_for(iter(names)) == styles_for([*names, *names])


def test_parameters_do_not_take_the_look_away():
    looks = styles_for(["EXP3-tau (batch_size=50)", "EXP3-tau (batch_size=9)"])
    assert looks["EXP3-tau (batch_size=50)"] == STYLES["EXP3-tau"] != looks["EXP3-tau (batch_size=9)"]


def test_where_colours_return_they_do_in_other_panels():
    first = [f"a {place}" for place in range(10)]
    second = [*first[:4], *(f"b {place}" for place in range(5))]
    looks = styles_for([*first, *second], together=[first, second])
    for panel in (first, second):
        assert len({looks[name].colour for name in panel}) == len(panel)


def test_further_lines_of_an_algorithm_share_its_colour_alone():
    looks = [Style(COLOURS[0], "--", "s")]
    for _ in range(5):
        looks.append(again(looks[0], looks))
    assert {each.colour for each in looks} == {COLOURS[0]}
    assert len({each.line for each in looks}) == len({each.marker for each in looks}) == 6
    assert again(looks[0], looks).colour != COLOURS[0]


def test_more_than_all_looks_can_be_drawn():
    number = len(COLOURS) * len(DASHES) * len(MARKERS) + 1
    looks = [Style(*each) for each in itertools.product(COLOURS, DASHES, MARKERS)]
    assert again(looks[0], looks) in looks and number > len(set(looks))
    assert len(set(styles_for(f"mine {place}" for place in range(200)).values())) == 200


def test_every_algorithm_has_a_look_that_figures_can_give():
    assert set(STYLES) >= set(algorithm_names())
    for colour, line, marker in STYLES.values():
        assert colour in COLOURS and line in DASHES and marker in MARKERS


@pytest.mark.parametrize("kind", BLINDNESS)
def test_any_two_colours_differ_for_colour_blind_readers(kind):
    """The nearest, blue and purple without red cones, are a tenth of the cube's side apart."""
    for one, other in itertools.combinations(COLOURS, 2):
        assert np.abs(simulated(one, kind) - simulated(other, kind)).max() > 0.09, (one, other)


def test_every_colour_stands_out_against_white():
    """The weakest of Okabe and Ito's has a contrast of 2."""
    assert all(1.05 / (luminance(colour) + 0.05) > 2 for colour in COLOURS)


@pytest.mark.parametrize("names", [FIGURE_1, FIGURE_2, [*PRIVATE, REFERENCE]], ids=["1", "2", "modern"])
def test_figures_of_papers_have_a_colour_each_and_their_own_looks(names):
    looks = styles_for(names)
    assert len({each.colour for each in looks.values()}) == len(names)
    assert [looks[name].colour for name in names] == [STYLES[name].colour for name in names]


def test_the_papers_three_algorithms_are_far_apart():
    for one, other in itertools.combinations(styles_for(FIGURE_1).values(), 2):
        for kind in BLINDNESS:
            assert np.abs(simulated(one.colour, kind) - simulated(other.colour, kind)).max() > 0.2
        assert one.line != other.line
