"""The reference: its file, ranks beside it, and cells that are played again to the last bit."""

import itertools
import json
import re
from importlib import resources

import numpy as np
import pytest

from dp_bandit_envs import suite
from dp_bandit_envs.errors import ResultsError
from dp_bandit_envs.suite import reference_maker
from dp_bandit_envs.suite.evaluation import CellStore, played_agents
from dp_bandit_envs.suite.players import players_of
from dp_bandit_envs.suite.reference import (
    COLUMNS,
    REFERENCE_FILE,
    REFERENCE_SEED,
    RankedRow,
    SuiteReference,
    first_as_chance,
    rank_among,
    reference,
)
from dp_bandit_envs.suite.scores import exponent_of
from dp_bandit_envs.suite.task_table import CORE, LEVELS, SIZES, TASKS, digest_of_table
from tests.tools.refusals import refused

LARGEST = 500_000


def ranked(name, total, rank, error=0.02):
    return RankedRow(name, total, total - 0.04, total + 0.04, rank, error, {})


def all_rows(size):
    return [(task, level, row) for task in TASKS for level in LEVELS for row in reference().rows(task, size, level)]


def test_the_file_is_small_and_of_this_table_and_these_names():
    file = resources.files("dp_bandit_envs.suite").joinpath(REFERENCE_FILE)
    assert len(file.read_bytes()) < LARGEST
    values = reference().values
    assert values["table"] == digest_of_table() and values["suite"] == 1 and values["seed"] == REFERENCE_SEED
    assert values["names"] == [player.label for player in players_of(reference_maker.names_of_reference())]
    assert tuple(values["columns"]) == COLUMNS and reference().sizes == tuple(SIZES)


def test_a_size_that_was_not_made_is_refused_by_name():
    sizes = reference().values["sizes"]
    smaller = SuiteReference({**reference().values, "sizes": {size: sizes[size] for size in ("tiny", "quick")}})
    with refused(ResultsError, "'full'", "tiny and quick", "SIZES=full"):
        smaller.rows("stochastic/rare", "full", 1.0)
    assert not smaller.has("full") and smaller.ranking("full", 1.0) == []


@pytest.mark.parametrize("size", SIZES)
def test_rows_have_scores_errors_quantiles_and_digests(size):
    for task, level, row in all_rows(size):
        chance, best = (regrets.mean() for regrets in reference().anchors(task, size))
        assert row.score == pytest.approx((chance - row.mean) / (chance - best)), (task, level, row.name)
        assert row.error * (chance - best) * SIZES[size].games ** 0.5 == pytest.approx(row.deviation)
        assert row.quantiles == tuple(sorted(row.quantiles)) and re.fullmatch("[0-9a-f]{8}", row.digest)


@pytest.mark.parametrize("size", SIZES)
def test_the_best_scores_1_and_every_level_is_held(size):
    for task in TASKS.values():
        name, _, free = task.best.partition(":")
        row = next(row for row in reference().rows(task.name, size, None) if row.name == name)
        assert row.score == pytest.approx(1) and free in ("", "epsilon=inf")
        chance, best = reference().anchors(task.name, size)
        assert chance.shape == best.shape == (SIZES[size].games,)
        assert best.mean() == pytest.approx(row.mean, rel=1e-5)
    for _, level, row in all_rows(size):
        assert row.epsilon is None if level is None else 0 <= row.epsilon <= level * (1 + 1e-6)


@pytest.mark.parametrize("size", SIZES)
def test_those_who_play_all_tasks_have_ranks(size):
    for level in LEVELS:
        rows, scores = reference().ranking(size, level), reference().scores(size, level)
        assert {row.name for row in rows} == {name for name, tasks in scores.items() if set(CORE) <= set(tasks)}
        assert len(rows) > 15 and rows[0].rank == 1
        assert [row.total for row in rows] == sorted((row.total for row in rows), reverse=True)
        for position, (row, following) in enumerate(itertools.pairwise(rows)):
            assert following.rank in (row.rank, position + 2)
        for row in rows:
            assert row.low - 2e-4 <= row.total <= row.high + 2e-4 and 0 < row.error < 0.2


def test_exponents_are_those_of_the_sizes():
    for task in ("stochastic/gap-0.2", "adversarial/constrained"):
        exponents = reference().exponents(task, 1.0)
        means = [{row.name: row.mean for row in reference().rows(task, size, 1.0)}["DP-KLUCB"] for size in SIZES]
        horizons = [size.horizon for size in SIZES.values()]
        assert exponents["DP-KLUCB"] == pytest.approx(exponent_of(horizons, means)) and exponents["DP-KLUCB"] > 0
        assert 0.8 < exponents["DP-EXP3-Lap"] < 1.2


def test_an_agent_shares_the_rank_of_the_row_above_unless_it_is_apart():
    ranking = [ranked("a", 0.8, 1), ranked("b", 0.5, 2), ranked("c", 0.49, 2), ranked("d", 0.1, 4)]
    assert rank_among(0.9, 0.02, ranking) == 1
    assert rank_among(0.79, 0.02, ranking) == 1
    assert rank_among(0.65, 0.02, ranking) == 2
    assert rank_among(0.485, 0.02, ranking) == 2
    # sqrt(.02^2 + .02^2) 1.96 = .055, which .49 - .44 is within and .49 - .43 is not.
    assert rank_among(0.44, 0.02, ranking) == 2 and rank_among(0.43, 0.02, ranking) == 4
    assert rank_among(-1.0, 0.0, ranking) == 5 and rank_among(0.3, 0.1, []) == 1


def test_the_rows_at_the_end_that_reach_0_are_as_good_as_chance():
    assert first_as_chance([(0.5, 0.6), (-0.1, 0.2), (0.01, 0.1), (-0.1, 0.1), (-0.5, -0.4)]) == 3
    assert first_as_chance([(0.5, 0.6)]) == 1 and first_as_chance([]) == 0


def replayed(size, cells):
    """Play cells again, and assert that they have the digests of the file."""
    players = {player.label: player for player in players_of(reference_maker.names_of_reference())}
    store = CellStore(None, size, REFERENCE_SEED)
    for task, level, row in cells:
        (agent,) = played_agents([players[row.name]], [TASKS[task]], [level], store, 1, 600.0, lambda *_: None)
        regrets = np.array(agent.cells[0]["regrets"])
        assert reference_maker.digest_of_regrets(regrets) == row.digest, (task, level, row.name)


SIX = [
    ("stochastic/gap-0.3", 1.0, "DP-KLUCB"),
    ("switching/memory", None, "DP-IMED"),
    ("graph/redrawn", 10.0, "DP-TS"),
    ("linear/ball", 1.0, "AS-OSMD"),
    ("drift/budget", 0.1, "Clipped-Lap (base=TS)"),
    ("data/trial", 1.0, "Batched-Lap-HTINF"),
]


@pytest.mark.thorough
def test_six_cells_are_played_again_to_the_last_bit():
    rows = {(task, level, row.name): row for task, level, row in all_rows("tiny")}
    replayed("tiny", [(task, level, rows[task, level, name]) for task, level, name in SIX])


@pytest.mark.slow
@pytest.mark.parametrize(("size", "cells"), [("tiny", 30), ("quick", 30), ("full", 30)])
def test_cells_drawn_at_random_are_played_again_to_the_last_bit(size, cells):
    rows = [row for row in all_rows(size) if row[2].name != "DP-UCB-INT"]  # whose calibration takes ten seconds
    drawn = np.random.default_rng(43).choice(len(rows), cells, replace=False)
    replayed(size, [rows[index] for index in drawn])


@pytest.mark.thorough
def test_a_reference_is_made_from_a_folder_and_keeps_other_sizes(tmp_path, monkeypatch):
    chosen = {name: task for name, task in TASKS.items() if name in ("stochastic/gap-0.2", "linear/ball")}
    monkeypatch.setattr(reference_maker, "TASKS", chosen)
    monkeypatch.setattr(reference_maker, "names_of_reference", lambda: ["EXP3", "OSMD", "DP-KLUCB"])
    file, folder = tmp_path / "made.json", tmp_path / "folder"
    reference_maker.make(["tiny"], folder, file)
    first = file.read_text(encoding="utf-8")
    made = SuiteReference(json.loads(first))
    assert made.sizes == ("tiny",) and set(made.scores("tiny", 1.0)) == {"DP-KLUCB"}
    stored = {row.name: row for row in reference().rows("stochastic/gap-0.2", "tiny", 1.0)}
    assert made.rows("stochastic/gap-0.2", "tiny", 1.0) == [stored["DP-KLUCB"]]
    monkeypatch.setattr("dp_bandit_envs.suite.evaluation.simulate", None)  # nothing is played a second time
    reference_maker.make(["tiny"], folder, file)
    assert file.read_text(encoding="utf-8") == first
    other = {**made.values, "sizes": {**made.values["sizes"], "quick": made.values["sizes"]["tiny"]}}
    file.write_text(reference_maker.text_of(other), encoding="utf-8")
    reference_maker.make(["tiny"], folder, file)
    assert SuiteReference(json.loads(file.read_text(encoding="utf-8"))).sizes == ("tiny", "quick")


def test_chance_and_best_of_the_default_seed_are_not_played(monkeypatch):
    monkeypatch.setattr("dp_bandit_envs.suite.task_table.simulate", None)
    anchors = TASKS["switching/coins"].anchors("quick")
    assert anchors.best.mean() < anchors.chance.mean() == pytest.approx(1229, rel=0.02)
    assert suite.tasks("switching")[0].make(size="tiny").seed == REFERENCE_SEED
