"""A game may have algorithms of its own, an algorithm more games than others; results, chunks and reports follow."""

import csv
import dataclasses
import io
import json
import math

import numpy as np
import pytest

from dp_bandit_envs import simulate
from dp_bandit_envs.algorithms.specs import AlgorithmSpec, GameSpec
from dp_bandit_envs.experiments import running
from dp_bandit_envs.experiments.comparison import comparison_of
from dp_bandit_envs.experiments.experiment import Experiment
from dp_bandit_envs.experiments.report import View, numbers_json, report_md
from dp_bandit_envs.experiments.running import chunks_of, joined_to_one_task, run
from dp_bandit_envs.experiments.store import ResultsFolder
from dp_bandit_envs.experiments.tables import summary_csv
from dp_bandit_envs.figures.judging import errors_ahead
from dp_bandit_envs.metrics import median_of_means
from dp_bandit_envs.privacy.guarantee import shown_epsilon
from tests.tools.refusals import refused

GAME = ("DPBandit-Stochastic-v0", {"means": [0.9, 0.1]})
EXPERIMENT = Experiment(
    "levels",
    (
        GameSpec("strong", "Strong", *GAME, (AlgorithmSpec("DP-EXP3-Lap", {"epsilon": 0.1}), AlgorithmSpec("EXP3"))),
        GameSpec("weak", "Weak", *GAME, (AlgorithmSpec("DP-EXP3-Lap", {"epsilon": 10.0}),)),
        GameSpec("shared", "Shared", *GAME),
    ),
    (AlgorithmSpec("Uniform"),),
    horizon=60,
    trials=5,
)


def go(path, experiment=EXPERIMENT, **given):
    return run(experiment, ResultsFolder(path, experiment.configuration()), **given)


def test_the_same_label_holds_each_games_own_setting(tmp_path):
    results = go(tmp_path / "out")
    for panel, parameters in (("strong", {"epsilon": 0.1}), ("weak", {"epsilon": 10.0})):
        player = AlgorithmSpec("DP-EXP3-Lap", parameters).build()
        simulation = simulate(GAME[0], [player], horizon=60, trials=5, env_kwargs=GAME[1])
        assert np.array_equal(results.regret(panel, "DP-EXP3-Lap"), simulation["DP-EXP3-Lap"].external_regret)
        assert np.array_equal(
            results.regret(panel, "DP-EXP3-Lap", "pseudo_regret"), simulation["DP-EXP3-Lap"].pseudo_regret
        )
    names = [["DP-EXP3-Lap", "EXP3"], ["DP-EXP3-Lap"], ["Uniform"]]
    assert [results.names_in(panel) for panel in EXPERIMENT.games] == names


def test_rounds_are_those_that_are_played(tmp_path):
    assert EXPERIMENT.rounds == 5 * 60 * 4
    played = []
    go(tmp_path / "out", progress=lambda title, rounds: played.append(rounds))
    assert sum(played) == EXPERIMENT.rounds


def test_summary_and_report_follow(tmp_path):
    results = go(tmp_path / "out")
    compared = comparison_of(results)
    rows = list(csv.DictReader(io.StringIO(summary_csv(compared, "pseudo_regret"))))
    assert list(rows[0]) == [
        *("game", "algorithm", "epsilon", "delta", "round", "trials", "median_of_means", "interval_low"),
        *("interval_high", "gini_below", "gini_above", "mean", "standard_error", "median", "quantile_99"),
    ]
    assert {(row["game"], row["algorithm"]) for row in rows} == {
        (panel.key, name) for panel in EXPERIMENT.games for name in results.names_in(panel)
    }
    last = next(row for row in rows if row["game"] == "weak" and row["round"] == "60")
    end = results.regret("weak", "DP-EXP3-Lap", "pseudo_regret")[:, -1]
    assert float(last["mean"]) == pytest.approx(end.mean())
    middle = median_of_means(end)
    shown = [float(last[name]) for name in ("median_of_means", "interval_low", "interval_high")]
    assert shown == pytest.approx([float(middle.value), float(middle.low), float(middle.high)], rel=1e-9)
    numbers = json.loads(numbers_json([compared], View("pseudo_regret"), {"more": {"gap": math.nan}}))
    assert numbers["weak/DP-EXP3-Lap"] == {
        "trials": 5,
        "mean": pytest.approx(end.mean()),
        "error": pytest.approx(end.std(ddof=1) / math.sqrt(5)),
        "median": pytest.approx(np.median(end)),
        "tail": pytest.approx(np.quantile(end, 0.99)),
        "least": end.min(),
        "most": end.max(),
    }
    assert numbers["more"] == {"gap": None}
    text = report_md([compared], title="T", command="c")
    guarantees = text.partition("## Privacy guarantees")[2].partition("A guarantee covers")[0]
    for beginning in ("DP-EXP3-Lap | eps 0.1 ", "DP-EXP3-Lap | eps 10 ", "EXP3 | ", "Uniform | eps 0 "):
        assert sum(line.startswith(f"| {beginning}") for line in guarantees.splitlines()) == 1, beginning


@pytest.mark.thorough
def test_the_report_gives_the_real_guarantee_and_its_reason_beside_the_papers(tmp_path):
    """The paper's epsilon of EXP3-tau is another one."""
    experiment = Experiment("one", (GameSpec("a", "A", *GAME),), (AlgorithmSpec("EXP3-tau"),), 60, 2)
    results = run(experiment, ResultsFolder(tmp_path / "out", experiment.configuration()))
    player, game = AlgorithmSpec("EXP3-tau").build(), experiment.make_game(experiment.games[0])
    real, claimed = player.guarantee_in(game), player.paper_guarantee_in(game)
    assert str(real) != str(claimed)
    text = report_md([comparison_of(results)], title="T", command="c")
    (row,) = [line for line in text.splitlines() if line.endswith(f"| {real} |")]
    assert row.startswith(f"| EXP3-tau | {shown_epsilon(real)} | {claimed.epsilon:.6g}")


@pytest.mark.parametrize(
    ("game", "known"),
    [
        (("DPBandit-FullyOblivious-v0", {}), True),
        (("DPBandit-Oblivious-v0", {"period": 1}), True),
        (("DPBandit-Oblivious-v0", {"period": 2}), False),
        (("DPBandit-Graph-v0", {"graph": np.eye(2), "means": [0.9, 0.1]}), True),
        (("DPBandit-Graph-v0", {"graph": np.diag([0, 1]), "self_loops": False, "means": [0.9, 0.1]}), False),
    ],
    ids=["fully oblivious", "period 1", "period 2", "own gains", "a hidden arm"],
)
def test_bounds_on_pseudo_regret_are_for_independent_rounds_that_reveal_the_arm_played(game, known, tmp_path):
    """Where each outcome is repeated, UCB's mean pseudo-regret is several times the bound for independent rounds."""
    experiment = Experiment("one", (GameSpec("a", "A", *game),), (AlgorithmSpec("Gaussian-TS"),), 60, 2)
    results = run(experiment, ResultsFolder(tmp_path / "out", experiment.configuration()))
    text = report_md([comparison_of(results)], title="T", command="c", view=View("pseudo_regret"))
    (row,) = [line for line in text.splitlines() if line.startswith("| A | Gaussian-TS")]
    assert row.endswith("| none known |") != known


def test_settings_of_a_game_are_checked_before_anything_is_written():
    bad = Experiment("bad", (GameSpec("a", "A", *GAME, (AlgorithmSpec("DP-EXP3-Lap", {"epsilon": -1}),)),), (), 60, 1)
    with refused(ValueError, "epsilon", 0, -1):
        bad.check()
    with refused(ValueError, "algorithms"):
        Experiment("bad", (GameSpec("a", "A", *GAME),), (), 60, 1).check()


@pytest.mark.parametrize(
    ("horizon", "players", "expected"),
    [
        (2**18, 3, 32),  # figure 1
        (2**20, 4, 32),
        (2**20, 5, 16),
        (10**7, 9, 16),
    ],
)
def test_long_games_come_in_small_chunks(horizon, players, expected):
    """2^27 rounds at most, but 16 trials at least, which are played side by side."""
    algorithms = tuple(AlgorithmSpec("Uniform", {}, f"{i}") for i in range(players))
    experiment = Experiment("x", (GameSpec("a", "A", *GAME),), algorithms, horizon, 100)
    sizes = [chunk.trials for chunk in chunks_of(experiment, experiment.games[0])]
    assert sizes[0] == expected and sum(sizes) == 100


def with_more(more):
    panel = GameSpec("coins", "Coins", "DPBandit-Stochastic-v0", {"means": [0.9, 0.6]})
    return Experiment("some", (panel,), (AlgorithmSpec("UCB"), AlgorithmSpec("DP-IMED", trials=more)), 50, 3, seed=4)


def test_the_first_games_are_the_same_and_more_follow(tmp_path):
    few, many = go(tmp_path / "few", with_more(0)), go(tmp_path / "many", with_more(30))
    for measure in ("pseudo_regret", "collected", "pulls"):
        assert few.arrays[f"coins/UCB/{measure}"].tolist() == many.arrays[f"coins/UCB/{measure}"].tolist()
        assert len(many.arrays[f"coins/DP-IMED/{measure}"]) == 30
        assert few.arrays[f"coins/DP-IMED/{measure}"].tolist() == many.arrays[f"coins/DP-IMED/{measure}"][:3].tolist()
    assert with_more(30).rounds == 50 * (3 + 30) and with_more(2).rounds == 50 * 6
    panel = many.experiment.games[0]
    chunks = chunks_of(with_more(30), panel)
    assert [(one.first_trial, one.trials) for one in chunks] == [(0, 3), (3, 27)]
    # Other players are another task.
    assert list(joined_to_one_task(with_more(30), chunks)) == [[chunks[0]], [chunks[1]]]
    assert errors_ahead(many, "coins", "UCB", "DP-IMED") == errors_ahead(few, "coins", "UCB", "DP-IMED")
    text = summary_csv(comparison_of(many), "external_regret")
    counts = {line.split(",")[1]: line.split(",")[5] for line in text.splitlines()[1:]}
    assert counts == {"UCB": "3", "DP-IMED": "30"}


# ---- chunks: short ones are one task, and each is saved when it is complete

SHARED = Experiment(
    "shared",
    (GameSpec("a", "A", "DPBandit-Stochastic-v0"), GameSpec("b", "B", "DPBandit-Switching-v0", {"n_arms": 3})),
    (AlgorithmSpec("EXP3"), AlgorithmSpec("Uniform")),
    horizon=40,
    trials=30,
)


def sizes(trials, horizon):
    """Return the trials of each task, by game."""
    experiment = dataclasses.replace(SHARED, trials=trials, horizon=horizon)
    made = [chunk for panel in experiment.games for chunk in chunks_of(experiment, panel)]
    found = {}
    for together in joined_to_one_task(experiment, made):
        found.setdefault(together[0].game.key, []).append(together[-1].end - together[0].first_trial)
    return found


def test_chunks_of_short_games_are_one_task(monkeypatch):
    monkeypatch.setattr(running, "CHUNK", 5)
    assert sizes(23, 40) == {"a": [23], "b": [23]}
    monkeypatch.setattr(running, "MOST_CHUNKS", 2)
    assert sizes(23, 40) == {"a": [10, 10, 3], "b": [10, 10, 3]}


def test_a_task_of_several_chunks_has_so_many_rounds_at_most(monkeypatch):
    monkeypatch.setattr(running, "CHUNK", 5)
    monkeypatch.setattr(running, "TASK_ROUNDS", 15 * 2 * 40)
    assert sizes(23, 40) == {"a": [15, 8], "b": [15, 8]}
    assert sizes(23, 41) == {"a": [10, 13], "b": [10, 13]}


def test_chunks_of_a_task_are_saved_each_when_it_is_complete(tmp_path, monkeypatch):
    """Also in whatever order its trials come, some of two chunks or three together."""
    monkeypatch.setattr(running, "CHUNK", 5)
    folder = ResultsFolder(tmp_path / "out", SHARED.configuration())
    queue = running._Queue(SHARED, folder, None)
    task = next(queue.tasks())
    assert len(task.owner) == 6 and task.trials == range(30)
    found = []
    for trials in (range(18, 25), range(6, 18), range(6)):
        queue.put(task.owner, trials, task.engine.run(trials))
        found.append([chunk.first_trial for chunk in task.owner if folder.has(chunk.name)])
    assert found == [[20], [10, 15, 20], [0, 5, 10, 15, 20]]
    whole = task.engine.run(task.trials)
    for chunk in task.owner[:5]:
        saved = chunk.load(folder)
        for name, column in whole.items():
            own = column.external_regret[chunk.first_trial : chunk.end]
            assert np.array_equal(saved[f"{name}/external_regret"], own)


def test_a_game_is_not_made_anew_for_each_chunk(tmp_path, monkeypatch):
    """To make it, a file of gains is read: in each of 50 chunks, that took longer than to play them."""
    make, made = Experiment.make_game, []
    monkeypatch.setattr(Experiment, "make_game", lambda self, game: made.append(game) or make(self, game))
    numbers = []
    for trials in (32, 160):
        go(tmp_path / str(trials), dataclasses.replace(EXPERIMENT, games=EXPERIMENT.games[2:], trials=trials))
        numbers.append(len(made))
        made.clear()
    assert numbers[0] == numbers[1]
