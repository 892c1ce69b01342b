"""Best arm identification beside the suite: table, scores by hand, wrong recommendations, cards, and the reference."""

import json
import math
from importlib import resources

import numpy as np
import pytest

from dp_bandit_envs import make_algorithm, suite
from dp_bandit_envs.errors import ResultsError, UnknownNameError
from dp_bandit_envs.suite import identification, reference_maker
from dp_bandit_envs.suite.identification import MEANS, SIZES, digest_of_table, identification_reference
from dp_bandit_envs.suite.reference import REFERENCE_SEED
from dp_bandit_envs.suite.task_table import LEVELS
from dp_bandit_envs.theory.identification_bounds import identification_lower_bound
from tests.tools.refusals import refused

DIGEST = "c6625414700c5d63f9245b7499b6bc40f050ad255ab71197d33a7fc070a5c9dc"
TWO = "identification/two-arms"


def evaluate(agents, **options):
    settings = {"tasks": TWO, "size": "tiny", "epsilon": 1, "progress": False}
    return suite.evaluate(agents, **{**settings, **options})


class InTurn:
    """Plays the arms in turn; stops after `looks` looks at each, and recommends the arm with the largest mean."""

    looks = 60

    def begin(self, *, n_arms, horizon, rng):
        self.sums, self.counts = np.zeros(n_arms), np.zeros(n_arms)

    def select_arm(self):
        return int(np.argmin(self.counts))

    def update(self, arm, observation):
        self.sums += observation["gain"]
        self.counts += observation["observed"]

    def recommend(self):
        return int(np.argmax(self.sums / np.maximum(self.counts, 1)))

    @property
    def done(self):
        return bool(self.counts.min() >= self.looks)


class Hasty(InTurn):
    """Stops after one look at each arm, and would know the best arm at the end of the game."""

    looks = 1


class Silent(InTurn):
    """Has no recommendation."""

    recommend = None


class Broken(InTurn):
    """Cannot say what it recommends."""

    def recommend(self):
        raise RuntimeError("no idea")


def card_of(cells, size="tiny", audits=()):
    """Return the card of cells: agent, level, task, rounds of its games, and which of them are wrong."""
    statistics = [
        {"agent": agent, "level": level, "task": task, "rounds": rounds, "wrong": wrong, "games": len(rounds)}
        for agent, level, task, rounds, wrong in cells
    ]
    return identification.card_of(size, 3, [1.0], statistics, list(audits))


def test_another_table_is_another_version():
    """If this fails, either undo the change of the table, or make it version 2 with a reference of its own."""
    assert digest_of_table() == DIGEST


@pytest.mark.thorough
def test_games_last_for_a_multiple_of_the_lower_bound_at_their_level():
    assert {len(means) for means in MEANS.values()} == {2, 5, 10}
    for level in LEVELS:
        tasks = suite.identification_tasks(epsilon=level)
        assert [task.name for task in tasks] == list(MEANS) and {task.axis for task in tasks} == {"identification"}
        for task in tasks:
            least = identification_lower_bound(MEANS[task.name], 0.01, level or math.inf)
            for size, (multiple, games) in SIZES.items():
                assert task.horizon(size) == math.ceil(multiple * least) and task.trials(size) == games
            env = task.environment("tiny")
            env.reset(seed=1, options={"trial": 0})
            assert env.unwrapped.horizon == task.horizon("tiny") and env.unwrapped.adversary.order is not None


def test_tasks_are_of_identification_or_of_the_total():
    assert [task.name for task in suite.identification_tasks([TWO])] == [TWO]
    with refused(UnknownNameError, "axis", "'identification/twoarms'", "identification/two-arms"):
        evaluate("DP-TT", tasks="identification/twoarms")
    with refused(ValueError, "identification", "its own call"):
        evaluate("DP-TT", tasks=["identification", "stochastic"])


def test_a_score_is_the_lower_bound_over_all_rounds_for_each_game_with_a_stop():
    (task,) = suite.identification_tasks(TWO, epsilon=1)
    end, least = task.horizon("tiny"), task.least_rounds
    rounds = [1000.0, 2000.0, 3000.0, end]
    card = card_of([("mine", 1.0, TWO, rounds, [0, 0, 0, 1])])
    cell = card.cell("mine", TWO, 1.0)
    # Three stops in 6,000 rounds and one whole game; whoever did not stop claims no arm, right or wrong.
    assert cell["score"] == pytest.approx(least / ((6000 + end) / 3))
    assert (cell["stopped"], cell["errors"], cell["least_rounds"]) == (3, 0, least)
    assert cell["low"] < cell["score"] < cell["high"] and cell["error"] > 0
    alike = card_of([("mine", 1.0, TWO, [least] * 4, [0] * 4)]).cell("mine", TWO, 1.0)
    assert (alike["score"], alike["error"]) == pytest.approx((1, 0)) and alike["low"] == pytest.approx(1)
    assert card_of([("mine", 1.0, TWO, [end] * 4, [1] * 4)]).cell("mine", TWO, 1.0)["score"] == 0


def test_whoever_is_wrong_too_often_has_no_score():
    """Of 40 right to 1 in 100, at most 3 are wrong but for 1 game in 1,000: by the law of Binomial(40, .01)."""
    law = [math.comb(40, k) * 0.01**k * 0.99 ** (40 - k) for k in range(41)]
    assert sum(law[4:]) < 1e-3 < sum(law[3:])
    for errors, refused_here in ((3, False), (4, True)):
        wrong = [1.0] * errors + [0.0] * (10 - errors)
        cells = [("mine", 1.0, task, [500.0] * 10, wrong if task == TWO else [0.0] * 10) for task in MEANS]
        card = card_of(cells)
        assert [cell["score"] is None for cell in card.cells] == [refused_here] * 4
        assert bool(card.totals) != refused_here
        assert ("too many" in str(card)) == refused_here
    assert card.cells[0]["cannot"] == "wrong" and "4 of 40" in card.cells[0]["reason"]


def test_totals_are_means_with_ranks_where_all_tasks_are_played():
    cells = [
        (agent, 1.0, task, [rounds, rounds + 10], [0, 0])
        for agent, rounds in (("slow", 4000), ("fast", 500))
        for task in MEANS
    ]
    card = card_of([*cells, ("half", 1.0, TWO, [300, 310], [0, 0])])
    totals = {total["agent"]: total for total in card.totals}
    scores = [card.cell("fast", task, 1.0)["score"] for task in MEANS]
    assert totals["fast"]["total"] == pytest.approx(np.mean(scores)) and list(totals["fast"]["axes"].values()) == scores
    assert [totals[name]["rank"] for name in ("fast", "slow", "half")] == [1, 2, None]
    assert totals["half"]["coverage"] == 0.25 and totals["half"]["field"] is None
    # The package's algorithms at tiny and epsilon = 1: DP-TT has .14, CTB-TT .05.
    assert totals["slow"]["field"]["rank"] == 2 and totals["slow"]["field"]["algorithms"] == 3
    refuted = card_of(cells, audits=[{"agent": "fast", "level": 1.0, "refuted": True, "kind": "none", "reason": "x"}])
    assert [cell["score"] for cell in refuted.cells if cell["agent"] == "fast"] == [None] * 4


@pytest.mark.thorough
def test_agents_of_all_kinds_stand_beside_the_packages_algorithms():
    agents = {"mine": InTurn, "hasty": Hasty, "silent": Silent, "broken": Broken, "DP-TT": "DP-TT", "UCB": "UCB"}
    agents["bold"] = "DP-TT:failure_probability=0.1"
    scores = evaluate(agents, epsilon=[None, 1])
    cells = {(cell["agent"], cell["level"]): cell for cell in scores.cells}
    assert cells["DP-TT", 1.0]["guarantee"]["epsilon"] == 1 and cells["DP-TT", 1.0]["errors"] == 0
    free = cells["mine", None]
    assert free["mean"] == 120 and free["stopped"] == 10  # 60 looks at each of two arms
    # The standard wrapper averages 4 rounds at epsilon = 1, so that 60 looks are 240 rounds.
    assert cells["mine", 1.0]["mean"] == 480 and cells["mine", 1.0]["guarantee"]["epsilon"] == 1
    # It would be right at the end of the game, but what it recommends when it stops counts.
    assert cells["hasty", None]["cannot"] == "wrong" and cells["hasty", None]["mean"] == 2
    for level in (None, 1.0):
        assert [cells[name, level]["cannot"] for name in ("silent", "UCB", "bold")] == ["game", "game", "guarantee"]
        assert cells["broken", level]["cannot"] == "failed" and cells["broken", level]["score"] == 0
    sheet = str(scores)
    for words in ("> mine", "hasty without privacy: wrong in", "failure_probability must be at most 0.01", "no idea"):
        assert words in sheet
    assert "the audit finds exactly 1 (arms)" in sheet and "two-arms" in scores.table()
    # The package's algorithms stand beside them in this one task, too.
    (row,) = [line for line in sheet.split("\n") if line.split()[:1] == ["CTB-TT"] and "0.0" in line]
    rounds = {
        c["task"]: c for c in identification_reference()["tiny"]["cells"] if (c["agent"], c["level"]) == ("CTB-TT", 1)
    }
    assert row.split()[1] == row.split()[-1] == f"{rounds[TWO]['score']:.2f}"


@pytest.mark.thorough
def test_a_card_is_saved_read_joined_and_drawn(tmp_path):
    first, second = evaluate("DP-TT", tasks="identification"), evaluate("CTB-TT", tasks="identification")
    first.save(tmp_path / "card.json")
    read = suite.load(tmp_path / "card.json")
    assert isinstance(read, suite.IdentificationCard) and read.card() == first.card() and str(read) == str(first)
    joined = suite.join(read, second)
    both = evaluate(["DP-TT", "CTB-TT"], tasks="identification")
    assert joined.card() == both.card() and isinstance(joined, suite.IdentificationCard)
    (panel,) = both.plot().axes
    assert [words.get_text() for words in panel.get_yticklabels()][:2] == ["all tasks", "two-arms"]
    assert panel.get_title() == "ε = 1" and panel.get_xlim()[0] > -0.2
    of_total = suite.evaluate("EXP3", tasks="stochastic/gap-0.3", size="tiny", epsilon=None, progress=False)
    with refused(ResultsError, "same format"):
        suite.join(first, of_total)
    changed = {**first.card(), "suite": 2}
    (tmp_path / "other.json").write_text(json.dumps(changed), encoding="utf-8")
    with refused(ResultsError, "card of suite 1", "suite 2"):
        suite.load(tmp_path / "other.json")


def test_a_run_is_resumed_from_its_folder(tmp_path, monkeypatch):
    whole = evaluate("DP-TT", folder=tmp_path)
    monkeypatch.setattr("dp_bandit_envs.suite.evaluation.simulate", None)  # nothing is played a second time
    assert evaluate("DP-TT", folder=tmp_path).card() == whole.card()


# ---- the reference -------------------------------------------------------------------------------------------------


def test_the_reference_is_small_and_of_this_table():
    text = resources.files("dp_bandit_envs.suite").joinpath(identification.REFERENCE_FILE).read_text(encoding="utf-8")
    made = json.loads(text)
    assert len(text) < 100_000 and made["table"] == digest_of_table() and made["seed"] == REFERENCE_SEED
    assert list(made["sizes"]) == list(SIZES)
    names = reference_maker.names_of_identification()
    for facts in made["sizes"].values():
        assert list(dict.fromkeys(cell["agent"] for cell in facts["cells"])) == names
        keys = {(cell["agent"], cell["task"], cell["level"]) for cell in facts["cells"]}
        assert len(keys) == len(facts["cells"]) == 4 * 4 * 4


@pytest.mark.thorough
def test_no_algorithm_of_the_package_beats_the_lower_bound_or_is_wrong_too_often():
    least = {task: make_algorithm("Top-Two").sample_lower_bound(means=means) for task, means in MEANS.items()}
    for facts in identification_reference().values():
        for cell in facts["cells"]:
            if "score" not in cell or cell["score"] is None:
                assert cell["agent"] == "Top-Two" and cell["level"] is not None and cell["cannot"] == "guarantee"
                continue
            assert cell["low"] <= 1 and cell["stopped"] <= cell["games"]
            assert cell["level"] is None or cell["guarantee"]["epsilon"] <= cell["level"] * (1 + 1e-6)
            assert cell["least_rounds"] >= least[cell["task"]] * (1 - 1e-9)


def test_what_the_page_says_of_the_reference():
    """DP-TT leads at 0.1 and 1; at 10 randomised responses cost least; without privacy all are Top-Two."""
    rows = {level: identification.package_ranking("quick", level) for level in LEVELS}
    assert [rows[level][0].name for level in (0.1, 1.0, 10.0)] == ["DP-TT", "DP-TT", "CTB-TT"]
    assert {row.rank for row in rows[None]} == {1} and len(rows[None]) == 4
    assert [row.name for row in rows[0.1] if row.total == 0] == ["CTB-TT"]


def check_played_again(size, names, levels):
    stored = {(c["agent"], c["task"], c["level"]): c for c in identification_reference()[size]["cells"]}
    played = evaluate(names, tasks="identification", size=size, epsilon=levels)
    assert len(played.cells) == len(names) * len(levels) * len(MEANS)
    for cell in played.cells:
        assert cell == stored[cell["agent"], cell["task"], cell["level"]]


@pytest.mark.thorough
def test_cells_of_the_reference_are_played_again_to_the_last_bit():
    check_played_again("tiny", ["DP-TT", "CTB-TT"], [1.0])


@pytest.mark.slow
@pytest.mark.parametrize(("size", "levels"), [("tiny", LEVELS), ("quick", LEVELS), ("full", LEVELS[:1])])
def test_all_cells_of_the_reference_are_played_again_to_the_last_bit(size, levels):
    """Of the largest size, those without privacy."""
    check_played_again(size, reference_maker.names_of_identification(), list(levels))


def test_a_reference_is_made_from_a_folder_and_keeps_other_sizes(tmp_path, monkeypatch):
    monkeypatch.setattr(reference_maker, "names_of_identification", lambda: ["DP-TT"])
    monkeypatch.setattr(reference_maker, "LEVELS", (1.0,))
    file = tmp_path / "made.json"
    reference_maker.make_identification(["tiny"], tmp_path / "cells", file)
    made = json.loads(file.read_text(encoding="utf-8"))
    stored = [c for c in identification_reference()["tiny"]["cells"] if (c["agent"], c["level"]) == ("DP-TT", 1.0)]
    assert made["sizes"]["tiny"]["cells"] == stored
    made["sizes"]["quick"] = {"cells": [], "totals": []}
    file.write_text(json.dumps(made), encoding="utf-8")
    monkeypatch.setattr("dp_bandit_envs.suite.evaluation.simulate", None)  # nothing is played a second time
    reference_maker.make_identification(["tiny"], tmp_path / "cells", file)
    assert list(json.loads(file.read_text(encoding="utf-8"))["sizes"]) == ["tiny", "quick"]


def test_sizes_and_levels_that_the_reference_lacks_are_refused(monkeypatch):
    sizes = identification_reference()
    smaller = {size: sizes[size] for size in ("tiny", "quick")}
    monkeypatch.setattr(identification, "identification_reference", lambda: smaller)
    with refused(ResultsError, "'full'", "tiny and quick", "SIZES=full"):
        identification.lines_of_identification("full")
    with refused(ValueError, "0.5", "0.1"):
        identification.lines_of_identification("tiny", [0.5])
