"""Some algorithms may play more games than the others: the first are the same ones, and differences are paired."""

import numpy as np

from dp_bandit_envs.comparison.compared import comparison_of
from dp_bandit_envs.comparison.tables import summary_csv
from dp_bandit_envs.figures.judging import errors_ahead
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
