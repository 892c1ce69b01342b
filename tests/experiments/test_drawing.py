"""Pictures of comparisons: what is in which panel, at which place, and with which guarantee."""

import numpy as np
import pytest

from dp_bandit_envs import compare
from dp_bandit_envs.experiments.drawing import PANELS
from tests.tools.refusals import refused


@pytest.fixture(scope="module")
def compared():
    sizes = {"horizon": [40, 80], "n_arms": [2, 3], "trials": 3}
    return compare(["Stochastic", "Switching"], ["UCB", "DP-SE"], epsilon=[1, 2], **sizes)


def drawn(compared, against, measure="external_regret"):
    return {panel.title: {curve.name: curve for curve in panel.curves} for panel in PANELS[against](compared, measure)}


def last(compared, **which):
    (entry,) = compared.select(**which)
    return entry.values("external_regret")[:, -1]


@pytest.mark.thorough
def test_there_is_a_panel_for_each_game_and_epsilon(compared):
    panels = drawn(compared, "round")
    assert len(panels) == 2 * 2 * 2 * 2
    curves = panels["Switching, K = 3, T = 80, epsilon = 2"]
    assert [curve.label for curve in curves.values()] == ["UCB (no privacy)", "DP-SE (eps 2)"]
    which = {"environment": "Switching", "n_arms": 3, "horizon": 80, "algorithm": "DP-SE", "epsilon": 2}
    assert np.array_equal(curves["DP-SE"].samples[:, -1], last(compared, **which))
    assert curves["DP-SE"].at[-1] == 80


def test_against_epsilon_one_that_takes_none_is_flat(compared):
    curves = drawn(compared, "epsilon")["Stochastic, K = 2, T = 40"]
    which = {"environment": "Stochastic, K = 2, T = 40"}
    assert list(curves["DP-SE"].at) == list(curves["UCB"].at) == [1.0, 2.0]
    assert np.array_equal(curves["DP-SE"].samples[1], last(compared, **which, algorithm="DP-SE", epsilon=2))
    for samples in curves["UCB"].samples:
        assert np.array_equal(samples, last(compared, **which, algorithm="UCB"))


@pytest.mark.parametrize(("against", "places", "title"), [("arms", [2, 3], "T = 80"), ("horizon", [40, 80], "K = 3")])
def test_against_a_size_the_other_one_divides_panels(compared, against, places, title):
    panels = drawn(compared, against)
    assert len(panels) == 2 * 2 * 2
    curves = panels[f"Stochastic, {title}, epsilon = 1"]
    assert list(curves["DP-SE"].at) == places
    which = {"environment": "Stochastic", "n_arms": 3, "horizon": 80, "algorithm": "DP-SE", "epsilon": 1}
    assert np.array_equal(curves["DP-SE"].samples[-1], last(compared, **which))


@pytest.mark.thorough
def test_figures_are_drawn(compared):
    for against in PANELS:
        figure = compared.select(environment="Switching").plot(against, band="quantiles", y_scale="log")
        labels = [text.get_text() for legend in figure.legends for text in legend.get_texts()]
        assert any("DP-SE" in label for label in labels), against


def test_one_value_is_no_axis(compared):
    one = compared.select(epsilon=1, horizon=40)
    for against, word in (("epsilon", "epsilon=[0.1, 1]"), ("horizon", "horizon=[1_000, 10_000]")):
        with refused(ValueError, against, word):
            one.select(algorithm="DP-SE").plot(against)
    with refused(ValueError, "against"):
        one.plot("time")
    with refused(ValueError, "band"):
        one.plot(band="sd")


def test_a_guarantee_other_than_that_of_the_axis_is_written_with_its_name():
    """Private-UCB has epsilon / K, which differs between panels; DP-KLUCB has the axis's, and nothing is written."""
    figure = compare("Stochastic", ["DP-KLUCB", "Private-UCB"], epsilon=[0.1, 1], n_arms=[2, 5], horizon=20, trials=2)
    figure = figure.plot(against="epsilon")
    notes = [text.get_text() for axes in figure.axes for text in axes.texts]
    assert notes == [rf"Private-UCB: $\varepsilon={low}$ or {high}" for low, high in ((0.05, 0.5), (0.02, 0.2))]
