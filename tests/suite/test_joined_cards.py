"""Cards of several runs are joined, as are their folders, and those of other games are refused."""

import shutil

import pytest

from dp_bandit_envs import suite
from dp_bandit_envs.errors import ResultsError
from dp_bandit_envs.suite import evaluation
from dp_bandit_envs.suite.card import REFUTED, digest_of
from dp_bandit_envs.suite.task_table import CORE
from tests.tools.refusals import refused

TASKS = ["stochastic/gap-0.3", "drift/budget"]


def evaluate(agents, **options):
    settings = {"size": "tiny", "epsilon": 1, "tasks": TASKS, "seed": 3, "progress": False}
    return suite.evaluate(agents, **{**settings, **options})


def changed(scores, **facts):
    """Return a card with other facts, and a digest that fits them."""
    card = {**scores.card(), **facts}
    return suite.ScoreCard({**card, "digest": digest_of(card)})


@pytest.mark.thorough
def test_a_folder_with_the_files_of_another_plays_nothing_and_gives_the_card_of_one_run(tmp_path, monkeypatch):
    evaluate(["DP-KLUCB"], folder=tmp_path / "here")
    evaluate(["DP-IMED"], folder=tmp_path / "there")
    shutil.copytree(tmp_path / "there", tmp_path / "here", dirs_exist_ok=True)
    played, simulate = [], evaluation.simulate

    def counted(*args, **kwargs):
        played.append(args)
        return simulate(*args, **kwargs)

    monkeypatch.setattr(evaluation, "simulate", counted)
    joined = evaluate(["DP-KLUCB", "DP-IMED"], folder=tmp_path / "here")
    assert not played
    assert evaluate(["DP-KLUCB", "DP-IMED"]).card() == joined.card()
    assert len(played) == 2 * len(TASKS)


def test_what_is_no_card_is_answered_with_what_writes_one(tmp_path):
    (tmp_path / "words.json").write_text("{}", encoding="utf-8")
    for file in ("nowhere.json", "words.json", ""):
        with pytest.raises(ResultsError, match=r"must be a card of the suite.*ScoreCard\.save"):
            suite.load(tmp_path / file)
    with pytest.raises(TypeError, match=r"suite\.load"):
        suite.join("card.json", "card.json")


@pytest.mark.thorough
def test_a_joined_card_has_the_agents_tasks_and_levels_of_all(tmp_path):
    """Another agent, another level, another task: each joined card is that of one call, but for intervals of totals."""
    whole = evaluate(["DP-KLUCB", "DP-IMED"], epsilon=[1, 10]).card()
    agents = suite.join(evaluate("DP-KLUCB", epsilon=[1, 10]), evaluate("DP-IMED", epsilon=[1, 10]))
    levels = suite.join(*(evaluate(["DP-KLUCB", "DP-IMED"], epsilon=level) for level in (1, 10)))
    tasks = suite.join(*(evaluate(["DP-KLUCB", "DP-IMED"], epsilon=[1, 10], tasks=task) for task in TASKS))

    def ordered(entries):
        return sorted(entries, key=lambda entry: [str(entry.get(key)) for key in ("agent", "task", "level")])

    for joined in (agents, levels, tasks):
        assert ordered(joined.cells) == ordered(whole["cells"])
        assert joined.values["anchors"] == whole["anchors"] and joined.values["levels"] == [1, 10]
        for total, of_whole in zip(ordered(joined.totals), ordered(whole["totals"]), strict=True):
            assert total["axes"] == pytest.approx(of_whole["axes"]) and total["coverage"] == 2 / len(CORE)
            assert total["total"] == pytest.approx(of_whole["total"])
            assert total["low"] == pytest.approx(of_whole["low"], abs=0.08)
        assert set(ordered(joined.values["audits"])[0]) == set(whole["audits"][0])
    assert ordered(agents.totals) == ordered(whole["totals"])
    agents.save(tmp_path / "card.json")
    assert suite.load(tmp_path / "card.json").text() == agents.text()
    assert suite.join(agents).text() == agents.text() == suite.join(agents, agents).text()


@pytest.mark.thorough
def test_agents_of_two_cards_are_ranked_as_in_different_games():
    """Both play all 18 tasks; `Uniform` is far behind, and a copy under another name is not apart."""
    both, copy = (
        evaluate({name: "Clipped-Lap:base=TS"}, tasks=None, epsilon=10, seed=43) for name in ("first", "second")
    )
    joined = suite.join(both, copy, evaluate("Uniform", tasks=None, epsilon=10, seed=43))
    assert {total["agent"]: total["rank"] for total in joined.totals} == {"first": 1, "second": 1, "Uniform": 3}


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        ({"size": "quick"}, ("size", "tiny", "quick")),
        ({"seed": 4}, ("seed", 3, 4)),
        ({"package": "9.9"}, ("package", "9.9")),
        ({"table": "another"}, ("table", "another")),
        ({"anchors": {TASKS[0]: {"best_name": "TS", "chance": 2.0, "best": 1.0}}}, (TASKS[0],)),
    ],
)
def test_cards_of_other_games_are_not_joined(facts, words):
    scores = evaluate("DP-KLUCB")
    with refused(ResultsError, "cards", *words):
        suite.join(scores, changed(scores, **facts))


def test_the_same_agent_must_have_the_same_results():
    scores = evaluate("DP-KLUCB")
    cells = scores.cells
    other = changed(scores, cells=[{**cells[0], "mean": cells[0]["mean"] + 1}, *cells[1:]])
    with refused(ResultsError, "cells", "DP-KLUCB", TASKS[0]):
        suite.join(scores, other)
    with refused(ValueError, "cards"):
        suite.join()


def test_a_claim_that_one_card_refutes_has_no_score_in_the_joined_one():
    first, second = (evaluate("DP-KLUCB", tasks=task) for task in TASKS)
    audits = [{**second.values["audits"][0], "refuted": True, "games": {"graphs": "exact"}}]
    refuting = changed(second, audits=audits, cells=[{**cell, **REFUTED} for cell in second.cells])
    joined = suite.join(first, refuting)
    assert [cell["cannot"] for cell in joined.cells] == ["refuted", "refuted"]
    assert joined.totals == [] and "REFUTES" in str(joined)
