"""Some algorithms may play more games than the others: the first are the same ones, and differences are paired."""

import numpy as np

from dp_bandit_envs.comparison.compared import comparison_of
from dp_bandit_envs.comparison.summary_table import summary_csv
from dp_bandit_envs.experiments.figure_2 import figure_2_setup
from dp_bandit_envs.experiments.figure_modern import modern_setup
from dp_bandit_envs.experiments.verdicts import errors_ahead, paired
from dp_bandit_envs.runs.experiment import AlgorithmSpec, Experiment, GameSpec
from dp_bandit_envs.runs.running import chunks_of, joined_to_one_task, run
from dp_bandit_envs.runs.store import ResultsFolder


def made(more):
    panel = GameSpec("coins", "Coins", "DPBandit-Stochastic-v0", {"means": [0.9, 0.6]})
    return Experiment("some", (panel,), (AlgorithmSpec("UCB"), AlgorithmSpec("DP-IMED", trials=more)), 50, 3, seed=4)


def results(experiment, path):
    return run(experiment, ResultsFolder(path, experiment.configuration()))


def test_the_first_games_are_the_same_and_more_follow(tmp_path):
    few, many = results(made(0), tmp_path / "few"), results(made(30), tmp_path / "many")
    for measure in ("pseudo_regret", "collected", "pulls"):
        assert few.arrays[f"coins/UCB/{measure}"].tolist() == many.arrays[f"coins/UCB/{measure}"].tolist()
        assert len(many.arrays[f"coins/DP-IMED/{measure}"]) == 30
        assert few.arrays[f"coins/DP-IMED/{measure}"].tolist() == many.arrays[f"coins/DP-IMED/{measure}"][:3].tolist()
    assert made(30).rounds == 50 * (3 + 30) and made(2).rounds == 50 * 6
    assert (made(30).more_trials, made(3).more_trials) == ("30 of DP-IMED", "")
    panel = many.experiment.panels[0]
    chunks = chunks_of(made(30), panel)
    assert [(one.first_trial, one.trials) for one in chunks] == [(0, 3), (3, 27)]
    # Other players are another task.
    assert list(joined_to_one_task(made(30), chunks)) == [[chunks[0]], [chunks[1]]]
    assert errors_ahead(many, "coins", "UCB", "DP-IMED") == errors_ahead(few, "coins", "UCB", "DP-IMED")
    text = summary_csv(comparison_of(many.experiment.configuration(), many.arrays), "external_regret")
    counts = {line.split(",")[1]: line.split(",")[5] for line in text.splitlines()[1:]}
    assert counts == {"UCB": "3", "DP-IMED": "30"}


def test_a_cut_run_goes_on_with_what_is_left(tmp_path):
    whole = results(made(30), tmp_path / "whole")
    folder = ResultsFolder(tmp_path / "cut", made(30).configuration())
    played = []
    run(made(30), folder, progress=lambda _, rounds: played.append(rounds))
    assert sum(played) == made(30).rounds
    again = run(made(30), folder)
    assert all(np.array_equal(again.arrays[key], whole.arrays[key]) for key in whole.arrays)


def test_pairs_are_the_games_of_both():
    assert paired(np.array([5.0, 7.0, 9.0]), np.array([1.0, 2.0])).tolist() == [4.0, 5.0]


def test_full_sizes_play_more_games_of_the_best_and_small_ones_do_not():
    for panel in figure_2_setup.experiment(modern=True).panels:
        counts = {one.name: one.trials for one in panel.contestants}
        assert counts["DP-IMED"] == counts["DP-KLUCB"] == 1000 and counts["UCB"] == counts["Lazy-DP-TS"] == 0
    assert not figure_2_setup.experiment(modern=True, trials=5).more_trials
    over_time, over_epsilon = modern_setup.experiments()
    assert over_time.more_trials == "" and over_epsilon.more_trials == "100 of DP-KLUCB, DP-IMED"
    assert not modern_setup.experiments(trials=2)[1].more_trials
