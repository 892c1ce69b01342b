"""A simulation as a figure and as a table, that no name breaks them, and what is left of it with keep="summary"."""

import dataclasses
import pickle
import tracemalloc
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

from dp_bandit_envs import PrivacyGuarantee, simulate
from dp_bandit_envs.metrics import BANDS, Moments, band_of
from dp_bandit_envs.plots.plot_style import as_bytes
from dp_bandit_envs.simulation.results import MEASURES, STOPPING, Outcome, Simulation
from tests.tools.refusals import refused

ROUNDS = np.array([10, 20, 40, 100])


def outcome(name="EXP3", scale=1.0, guarantee=None, rounds=ROUNDS, **other):
    regret = scale * np.linspace(0.5, 1.5, 5)[:, None] * np.sqrt(rounds)
    measures = ("external_regret", "policy_regret", "pseudo_regret", "collected", "dynamic_regret")
    made = Outcome(
        name=name,
        checkpoints=rounds,
        **{measure: factor * regret for factor, measure in enumerate(measures, 1)},
        switches=(6 * regret).astype(int),
        pulls=np.ones((5, 2), dtype=int),
        engine="lanes",
        reason="",
        guarantee=guarantee or PrivacyGuarantee(1.0, delta=1e-6),
    )
    return dataclasses.replace(made, **other)


def simulation(*outcomes):
    return Simulation({one.name: one for one in outcomes}, ROUNDS, 100, 2, 0)


def rows_of(table):
    """Return the cells of a table, row by row; it is XML, too, so that an unescaped name breaks it or adds a tag."""
    (*_, head, body) = ElementTree.fromstring(table)
    rows = [*head, *body]
    assert all(not list(cell) for row in rows for cell in row)
    return [[cell.text for cell in row] for row in rows]


def test_an_outcome_alone_is_its_line_of_the_table():
    one, other = outcome(), outcome("<script>alert('&')</script>", scale=2.0)  # a name that must be escaped
    (line,) = rows_of(other._repr_html_())[1:]
    assert [line] == rows_of(simulation(one, other)._repr_html_())[2:] and line[0] == other.name


def test_the_table_has_guarantee_and_regret_of_each_algorithm():
    """The last regrets are 10 times 0.5, 0.75, 1, 1.25, 1.5.

    Their mean is 10 and their standard error 10 sqrt(0.15625 / 5) = 1.77; the 99 % quantile is at 3.96 of 0 to 4,
    12.5 + 0.96 * 2.5 = 14.9.
    """
    free = outcome("UCB", scale=2, guarantee=PrivacyGuarantee.none("no noise"), engine="play")
    head, first, second = rows_of(simulation(outcome(), free)._repr_html_())
    measured = ["mean regret", "standard error", "median", "99 % quantile"]
    assert head == ["algorithm", "epsilon", "delta", *measured, "engine"]
    assert first == ["EXP3", "1", "1e-06", "10.0", "1.8", "10.0", "14.9", "lanes"]
    assert second == ["UCB", "inf", "0", "20.0", "3.5", "20.0", "29.8", "play"]


@pytest.mark.parametrize("band", BANDS)
def test_all_algorithms_are_drawn_with_their_guarantees(band):
    """And names of mathematics are names."""
    assert as_bytes(simulation(outcome(r"$\\alpha^ {mine} $5")).plot(band=band), "svg")
    figure = simulation(outcome(), outcome("DP-SE", scale=3)).plot(band=band)
    (axes,) = figure.axes
    assert [text.get_text() for text in figure.legends[0].get_texts()] == [
        rf"{name} ($\varepsilon=1$, $\delta=10^{{-6}}$)" for name in ("EXP3", "DP-SE")
    ]
    assert axes.lines[1].get_ydata() == pytest.approx(band_of(outcome(scale=3).external_regret, band).line)
    assert axes.get_title(loc="left") == "$T=100$"


MEASURED = {
    "external_regret": (1, "external regret (gain)"),
    "policy_regret": (2, "policy regret (gain)"),
    "pseudo_regret": (3, "pseudo-regret (gain)"),
    "collected": (4, "collected gain"),
}


def test_each_measure_can_be_drawn_over_linear_or_logarithmic_rounds():
    for measure, (factor, label) in MEASURED.items():
        (axes,) = outcome().plot(measure).axes
        assert axes.lines[0].get_ydata() == pytest.approx(factor * np.sqrt(ROUNDS)) and axes.get_ylabel() == label
        assert axes.lines[0].get_xdata().tolist() == ROUNDS.tolist()
    for rounds, scale in ((np.arange(1, 9) * 10, "linear"), (2 ** np.arange(8), "log")):
        assert outcome(rounds=rounds).plot("switches").axes[0].get_xscale() == scale


def test_what_is_unknown_is_refused():
    with refused(ValueError, "measure", "'regret'"):
        outcome().plot("regret")
    with refused(ValueError, "band", "'sd'"):
        outcome().plot(band="sd")
    with refused(ValueError, "pseudo_regret", "external_regret"):
        simulation(outcome(pseudo_regret=None)).plot("pseudo_regret")


GIVEN = {"horizon": 300, "trials": 45, "seed": 4, "checkpoints": 6}


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_summary_is_that_of_all_trials(jobs):
    """Sums of 45 numbers in another order differ by 45 roundings of 1.1e-16 at most, relative to their size."""
    names = ["EXP3", "DP-EXP3-Lap", "DP-UCB", "DP-TT"]
    whole = simulate("DPBandit-Stochastic-v0", names, **GIVEN)
    summary = simulate("DPBandit-Stochastic-v0", names, keep="summary", jobs=jobs, **GIVEN)
    for name in names:
        one, other = whole[name], summary[name]
        assert other.trials == 45 and other.engine == one.engine and other.label == one.label
        known = [measure for measure in MEASURES if name == "DP-TT" or measure not in STOPPING]
        for measure in (*known, "pulls"):
            size = 45 * 1.2e-16 * np.abs(one.samples(measure)).max(axis=0)
            assert np.all(np.abs(other.mean(measure) - one.mean(measure)) <= size)
            assert other.standard_error(measure) == pytest.approx(one.standard_error(measure), rel=1e-9)
        for measure in known:
            assert np.array_equal(other.last(measure), one.last(measure))
    assert repr(summary["EXP3"]).replace("Summary", "Outcome") == repr(whole["EXP3"])
    assert summary._repr_html_() == whole._repr_html_()
    again = pickle.loads(pickle.dumps(summary))
    assert np.array_equal(again["EXP3"].mean(), summary["EXP3"].mean())


def test_a_summary_refuses_by_name_what_it_has_not():
    summary = simulate("DPBandit-MemoryBounded-v0", ["EXP3"], keep="summary", env_kwargs={"memory": 2}, **GIVEN)
    one = summary["EXP3"]
    with refused(AttributeError, "external_regret", "keep='summary'", "keep='trials'"):
        _ = one.external_regret
    with refused(AttributeError, "keep='summary'", "keep='trials'"):
        summary.plot()
    with refused(ValueError, "measure", "pulls"):
        one.last("pulls")
    with refused(AttributeError, "gains"):
        _ = one.gains
    with refused(ValueError, "keep", "'means'"):
        simulate("DPBandit-Stochastic-v0", ["EXP3"], keep="means", **GIVEN)


def test_moments_of_two_samples_are_those_of_both():
    """Of 1, 2, 3, 4, 8 the mean is 3.6, and the squares are 6.76 + 2.56 + 0.36 + 0.16 + 19.36 = 29.2."""
    trials, mean, squares = Moments.of(np.array([[1.0], [2.0], [3.0]])) | Moments.of(np.array([[4.0], [8.0]]))
    assert (trials, mean[0], squares[0]) == (5, pytest.approx(3.6), pytest.approx(29.2))


@pytest.mark.thorough
def test_memory_of_a_summary_does_not_grow_with_the_checkpoints_of_trials():
    """2,000 trials of 100 checkpoints have 6.5 MB of results; a summary has 320 kB and what is played at the time."""

    def peak(trials, keep):
        tracemalloc.start()
        try:
            simulate("DPBandit-Stochastic-v0", ["EXP3"], horizon=100, trials=trials, keep=keep)
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    simulate("DPBandit-Stochastic-v0", ["EXP3"], horizon=100, trials=100, keep="summary")  # compiles
    assert peak(2000, "summary") - peak(800, "summary") < 1e6 < 6.5e6 < peak(2000, "trials")
