"""A list of values after an algorithm's name are several algorithms, one for each value."""

import numpy as np

from dp_bandit_envs import Algorithm, Exp3, compare
from tests.tools.refusals import refused

HOME = "tests.experiments.test_sweeps"
SIZE = {"horizon": 40, "trials": 3, "progress": False}


def explorer(exploration_rate=0.1, decays=(1.0,)):
    assert isinstance(decays, (list, tuple))
    return Algorithm("explorer", lambda: Exp3(exploration_rate=exploration_rate))


def test_three_values_are_three_lines_with_the_numbers_of_three_names():
    swept = compare("Stochastic", ["UCB", "EXP3:exploration_rate=[.01,.03,.1]"], **SIZE)
    names = [f"EXP3:exploration_rate={rate}" for rate in (0.01, 0.03, 0.1)]
    written = compare("Stochastic", ["UCB", *names], **SIZE)
    assert [entry.name for entry in swept] == [
        "UCB",
        "EXP3 (exploration_rate=0.01)",
        "EXP3 (exploration_rate=0.03)",
        "EXP3 (exploration_rate=0.1)",
    ]
    assert swept.table() == written.table()
    for entry, other in zip(swept, written, strict=True):
        assert np.array_equal(entry.values("collected"), other.values("collected"))
    assert len(swept.plot().axes[0].lines) == 4


def test_lists_are_combined_and_a_list_in_a_list_is_one_value():
    swept = compare("Stochastic", f"{HOME}:explorer:exploration_rate=[.1,.2],decays=[[1],[1,2]]", **SIZE)
    assert [entry.parameters for entry in swept] == [
        {"exploration_rate": rate, "decays": decays} for rate in (0.1, 0.2) for decays in ([1], [1, 2])
    ]


def test_a_name_for_readers_is_followed_by_the_value():
    swept = compare("Stochastic", {"mine": "EXP3:exploration_rate=[.1,.2]", "other": "UCB"}, **SIZE)
    assert swept.algorithms == ["mine (exploration_rate=0.1)", "mine (exploration_rate=0.2)", "other"]


def test_each_is_played_at_the_guarantee_and_at_each_epsilon():
    swept = compare("Stochastic", "DP-UCB-INT:v=[1.1,1.5]", epsilon=[0.5, 1], delta=1e-6, at_guarantee=True, **SIZE)
    assert [(entry.parameters["v"], entry.asked) for entry in swept] == [(1.1, 0.5), (1.1, 1), (1.5, 0.5), (1.5, 1)]
    own = {entry.asked: entry.parameters["epsilon"] for entry in swept if entry.parameters["v"] == 1.5}
    others = {entry.asked: entry.parameters["epsilon"] for entry in swept if entry.parameters["v"] == 1.1}
    assert all(entry.calibrated for entry in swept) and own[1] != others[1]


def test_infinity_and_words_are_values_too():
    assert compare("Stochastic", "DP-KLUCB:epsilon=[.5,inf]", **SIZE).algorithms == [
        "DP-KLUCB (epsilon=0.5)",
        "DP-KLUCB (epsilon=inf)",
    ]
    assert compare("Stochastic", "DP-Lambda-Lap:base=[EXP3,Tsallis-INF]", **SIZE).algorithms == [
        "DP-Lambda-Lap (base=EXP3)",
        "DP-Lambda-Lap (base=Tsallis-INF)",
    ]


def test_wrong_lists_are_refused():
    for text, words in (
        ("EXP3:exploration_rate=[]", ("exploration_rate", "empty list")),
        ("EXP3:exploration_rate=[.1,.1]", ("EXP3 (exploration_rate=0.1)", "twice")),
        ("EXP3:exploration_rate=[.1,2]", ("exploration_rate", "(0, 1]", 2)),
        ("EXP3:exploration_rate=.1,.2", ("brackets", "'EXP3:exploration_rate=[.1,.2]'")),
        ("EXP3:rate=[.1,.2]", ("EXP3", "'rate'", "exploration_rate")),
    ):
        with refused(ValueError, *words):
            compare("Stochastic", text, **SIZE)
    for text in ("EXP3:exploration_rate=[[.1,.2]]", "EXP3:exploration_rate=[.1,x]"):
        with refused(TypeError, "exploration_rate must be a number"):
            compare("Stochastic", text, **SIZE)
