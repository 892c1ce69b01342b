"""A simulation and a game as text, figure and table, that no name breaks them, and what keep="summary" leaves."""

import dataclasses
import pickle
import tracemalloc
import xml.etree.ElementTree as ElementTree

import gymnasium as gym
import numpy as np
import pytest

from dp_bandit_envs import Exp3, LaplaceClipRescale, PrivacyGuarantee, compare, make_algorithm, play, simulate
from dp_bandit_envs.adversaries import GainTable
from dp_bandit_envs.algorithms import Algorithm
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.metrics import BANDS, Moments, band_of
from dp_bandit_envs.plots.plot_style import as_bytes
from dp_bandit_envs.privacy.guarantee import shown_epsilon
from dp_bandit_envs.simulation.results import MEASURES, STOPPING, Outcome, Simulation
from dp_bandit_envs.text import aligned_table
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


@pytest.mark.thorough
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


def test_each_measure_can_be_drawn_over_linear_or_logarithmic_rounds():
    measures = ("external_regret", "policy_regret", "pseudo_regret", "collected")
    labels = ("external regret (gain)", "policy regret (gain)", "pseudo-regret (gain)", "collected gain")
    for factor, (measure, label) in enumerate(zip(measures, labels, strict=True), 1):
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


# ---- what a game and a comparison show at a prompt
def coins(**options):
    return gym.make("DPBandit-Stochastic-v0", means=[0.2, 0.8], horizon=300, **options)


@pytest.mark.parametrize(
    ("environment", "algorithm", "name", "level"),
    [
        (coins, "DP-KLUCB", "DP-KLUCB", "eps 1"),
        (coins, make_algorithm("DP-KLUCB", epsilon=0.5, label="mine"), "mine", "eps 0.5"),
        (coins, "EXP3", "EXP3", str(shown_epsilon(make_algorithm("EXP3").guarantee(n_arms=2, horizon=300)))),
        (coins, Exp3(), "Exp3", "no privacy"),
        (coins, Algorithm("of mine", Exp3), "of mine", "no privacy"),
        (lambda: LaplaceClipRescale(coins(), epsilon=0.25), Exp3(), "Exp3", "eps 0.25"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_game_is_one_line_with_name_rounds_regret_and_guarantee(environment, algorithm, name, level):
    game = play(environment(), algorithm, seed=0)
    assert repr(game) == f"Game({name}: 300 rounds, pseudo-regret {game.pseudo_regret[-1]:.1f}, {level})"


def test_the_external_regret_is_shown_where_means_are_unknown_and_the_gain_where_no_regret_is_known():
    game = play(BanditEnv(GainTable([[0.0, 1.0]])), Exp3(), seed=0)
    assert repr(game) == f"Game(Exp3: 1 round, external regret {game.external_regret[-1]:.1f}, no privacy)"
    object.__setattr__(game, "external_regret", np.full(1, np.nan))
    assert repr(game) == f"Game(Exp3: 1 round, collected {game.gains.sum():.1f}, no privacy)"
    with refused(ValueError, "pseudo_regret", "unknown", "'external_regret'"):
        game.plot("pseudo_regret")
    with refused(ValueError, "unknown measure 'regret'", "external_regret"):
        game.plot("regret")


def test_a_pickled_game_has_the_guarantee_of_the_algorithm_in_the_game_and_no_environment():
    algorithm = Algorithm("mine", lambda: Exp3(), lambda env: LaplaceClipRescale(env, epsilon=0.25))
    game = play(coins(), algorithm, seed=0)
    assert game.guarantee == algorithm.guarantee_in(coins())
    again = pickle.loads(pickle.dumps(game))
    assert repr(again) == repr(game) and again.guarantee == game.guarantee
    assert again.find_guarantee is None


def test_plot_draws_each_round_of_a_short_game_and_the_last_of_a_long_one():
    game = play(coins(), "DP-KLUCB", seed=0)
    (axes,) = game.plot().axes
    line = axes.lines[0]
    assert axes.get_ylabel() == "pseudo-regret (gain)"
    assert line.get_xdata().tolist() == list(range(1, 301))
    np.testing.assert_array_equal(line.get_ydata(), game.pseudo_regret)
    long = play("Stochastic", "Uniform", horizon=5000, seed=0)
    drawn = long.plot("collected").axes[0].lines[0]
    assert len(drawn.get_xdata()) == 1000 and drawn.get_xdata()[[0, -1]].tolist() == [1, 5000]
    assert drawn.get_ydata()[-1] == long.collected[-1]


SMALL = {"horizon": 60, "trials": 3, "seed": 0, "progress": False}


def test_a_comparison_prints_a_short_aligned_table():
    compared = compare("Stochastic", ["Uniform", "DP-KLUCB"], epsilon=[0.1, 2], **SMALL)
    about, head, *lines = str(compared).splitlines()
    assert about == "External regret after the last round, Stochastic, 3 trials, seed 0"
    assert head.split() == ["algorithm", "guarantee", "mean", "±", "s.e."]
    assert [line.split("  ")[0] for line in lines] == ["Uniform", "DP-KLUCB (epsilon=0.1)", "DP-KLUCB (epsilon=2)"]
    assert len({len(line) for line in (head, *lines)}) == 1
    mean = compared.entries[0].values("external_regret")[:, -1].mean()
    assert lines[0].split()[1:4] == ["eps", "0", f"{mean:.1f}"]


def test_environments_and_trials_have_a_column_where_they_differ_and_one_trial_has_no_error():
    compared = compare(["Stochastic", "Switching"], "UCB", **SMALL)
    assert str(compared).splitlines()[1].split() == ["environment", "algorithm", "guarantee", "mean", "±", "s.e."]
    both = compare("Stochastic", "UCB", **SMALL) + compare("Stochastic", "EXP3", **{**SMALL, "trials": 2})
    lines = [line.split() for line in str(both).splitlines()]
    assert lines[1][2] == "trials" and [lines[2][3], lines[3][-4]] == ["3", "2"]

    assert "±" not in str(compare("Stochastic", "UCB", **{**SMALL, "trials": 1})).splitlines()[-1]
    assert aligned_table([["a", "number"], ["longer", "7"]]) == "a       number\nlonger       7"
