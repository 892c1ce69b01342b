"""Evaluations: agents of all kinds, cells without a score, refuted claims, folders, and cards that are read again."""

import dataclasses
import json
import math
import time

import numpy as np
import pytest

from dp_bandit_envs import Algorithm, LaplaceClipRescale, suite
from dp_bandit_envs.adapters import from_function, from_sb3
from dp_bandit_envs.agents import BallOsmd, Exp3, Ucb
from dp_bandit_envs.errors import ResultsError, UnknownNameError, WrongGameError
from dp_bandit_envs.privacy.mechanisms import LaplaceClipRescale as LaplaceMechanism
from dp_bandit_envs.suite import evaluation
from dp_bandit_envs.suite.players import players_of
from dp_bandit_envs.suite.task_table import TASKS
from dp_bandit_envs.wrappers import PrivacyBoundary
from tests.tools.refusals import refused

EASY = "stochastic/gap-0.3"


def evaluate(agents, **options):
    settings = {"tasks": EASY, "size": "tiny", "epsilon": 1, "progress": False}
    return suite.evaluate(agents, **{**settings, **options})


class Greedy:
    """A plain agent: the arm with the best released mean, the others first."""

    def begin(self, *, n_arms, horizon, rng):
        self.sums, self.counts = np.zeros(n_arms), np.zeros(n_arms)

    def select_arm(self):
        return int(np.argmax(np.where(self.counts > 0, self.sums / np.maximum(self.counts, 1), np.inf)))

    def update(self, arm, observation):
        self.sums += observation["gain"]
        self.counts += observation["observed"]


class Raising(Greedy):
    """Breaks down in its tenth step."""

    def select_arm(self):
        if self.counts.sum() >= 9:
            raise RuntimeError("out of ideas")
        return super().select_arm()


class Endless(Greedy):
    """Never returns."""

    def select_arm(self):
        while True:
            pass


class Sleeping(Greedy):
    """Waits for something that does not come."""

    def select_arm(self):
        time.sleep(1000)


class Stubborn(Greedy):
    """Never returns, whatever is raised."""

    def select_arm(self):
        while True:
            try:
                while True:
                    pass
            except BaseException:
                self.stopped += 1
                if self.stopped > 1:
                    raise

    stopped = 0


class Leaving(Greedy):
    """Ends the program."""

    def select_arm(self):
        raise SystemExit(3)


class Outside(Greedy):
    """Plays an arm that is not there."""

    def select_arm(self):
        return 1000


def fixed(epsilon):
    return Algorithm("fixed", Exp3, lambda env: LaplaceClipRescale(env, epsilon=epsilon))


# ---- who is evaluated ----------------------------------------------------------------------------------------------


def test_the_best_scores_1_and_uniform_play_about_0():
    """Uniform play: its standard error is 1 / sqrt(10 K) of a gap of .23, below .02; allow five. False alarm: 6e-7."""
    scores = evaluate(["TS", "Uniform"], epsilon=None)
    assert scores.cell("TS", EASY, None)["score"] == 1
    assert abs(scores.cell("Uniform", EASY, None)["score"]) < 0.1


@pytest.mark.thorough
def test_agents_of_all_kinds_hold_the_level():
    agents = {
        "name": "DP-KLUCB",
        "with a parameter": "DP-KLUCB:first=2",
        "behind the wrapper": "Clipped-Lap:base=TS",
        "class": Greedy,
        "compiled class": Ucb,
        "function": from_function(lambda counts, sums, rng: int(rng.integers(len(counts)))),
        "algorithm": fixed(0.5),
        "function of epsilon": lambda epsilon=1.0: fixed(epsilon),
        "module": "tests.suite.test_evaluation:Greedy",
        "bare algorithm": Algorithm("bare", Exp3),
    }
    scores = evaluate(agents, epsilon=[0.5, 10])
    for label in agents:
        for level in (0.5, 10):
            cell = scores.cell(label, EASY, level)
            assert cell["guarantee"]["epsilon"] <= level, label
            assert label == "algorithm" or cell["guarantee"]["epsilon"] > level * (1 - 1e-5), label
            assert -1 < cell["low"] <= cell["score"] <= cell["high"] < 1.5 and cell["games"] == 10
    assert scores.cell("class", EASY, 10)["mean"] == scores.cell("module", EASY, 10)["mean"]
    assert {audit["kind"] for audit in scores.values["audits"]} == {"exact"}
    assert not any(audit["refuted"] for audit in scores.values["audits"])


@pytest.mark.thorough
def test_agents_of_points_play_the_balls():
    class Osmd(BallOsmd):
        feedback = "payoff"

    scores = evaluate({"mine": Osmd, "named": "AS-OSMD"}, tasks=["linear/ball", EASY])
    assert scores.cell("mine", "linear/ball", 1)["guarantee"]["epsilon"] == 1
    assert scores.cell("mine", EASY, 1)["cannot"] == scores.cell("named", EASY, 1)["cannot"] == "game"


def test_two_agents_of_the_same_name_get_their_modules():
    other = type("Greedy", (Greedy,), {"__module__": "anna"})
    assert [player.label for player in players_of([Greedy, other])] == [f"{__name__}:Greedy", "anna:Greedy"]
    assert [player.label for player in players_of({"a": Greedy, "b": other})] == ["a", "b"]
    assert [player.label for player in players_of("UCB")] == ["UCB"]
    with refused(ValueError, "agents", "'Greedy'"):
        players_of([Algorithm("Greedy", Exp3), Algorithm("Greedy", Ucb)])
    with refused(ValueError, "agents"):
        players_of([])


@pytest.mark.thorough
def test_a_wrapper_of_ones_own_replaces_the_standard_one():
    def noisy(env, *, epsilon):
        return LaplaceClipRescale(env, epsilon=epsilon / 2)

    scores = evaluate({"mine": Greedy, "named": "DP-KLUCB"}, wrapper=noisy)
    assert scores.cell("mine", EASY, 1)["guarantee"]["epsilon"] == 0.5
    assert scores.cell("named", EASY, 1)["guarantee"]["epsilon"] == pytest.approx(1, rel=1e-5)


@pytest.mark.thorough
def test_what_trains_a_model_gets_games_that_are_not_scored():
    """One training for each task and level, in games that differ from each other and from those that count."""
    seen = []

    def train(env):
        games = []
        for _ in range(2):
            env.reset(seed=0)  # which begins the next game all the same
            games.append([env.step(0)[1] for _ in range(10)])
        seen.append(games)
        return Greedy

    scores = evaluate({"trained": train}, tasks=[EASY, "data/trial", "linear/ball"], epsilon=[None, 1])
    assert len(seen) == 2 and all(games[0] != games[1] for games in seen)
    scored = TASKS[EASY].make(size="tiny")
    scored.reset()
    assert seen[0][0] != [scored.step(0)[1] for _ in range(10)]
    assert scores.cell("trained", EASY, 1)["guarantee"]["epsilon"] == 1
    assert scores.cell("trained", "data/trial", 1)["cannot"] == "game"
    assert "patients" in scores.cell("trained", "data/trial", None)["reason"]
    assert scores.cell("trained", "linear/ball", 1)["cannot"] == "game"
    assert (
        scores.card()
        == evaluate({"trained": train}, tasks=[EASY, "data/trial", "linear/ball"], epsilon=[None, 1]).card()
    )


# ---- cells without a score -----------------------------------------------------------------------------------------


@pytest.mark.thorough
def test_there_are_three_kinds_of_cannot():
    failing = {"Raising": Raising, "Outside": Outside, "Leaving": Leaving}
    agents = {"no guarantee": "EXP3", "other game": "Hedge", **failing, "fine": "DP-KLUCB"}
    scores = evaluate(agents)
    cells = {label: scores.cell(label, EASY, 1) for label in agents}
    assert {label: cell.get("cannot") for label, cell in cells.items()} == {
        "no guarantee": "guarantee",
        "other game": "game",
        **dict.fromkeys(failing, "failed"),
        "fine": None,
    }
    assert {label: cell["score"] for label, cell in cells.items() if label != "fine"} == {
        "no guarantee": None, "other game": None, **dict.fromkeys(failing, 0)
    }  # fmt: skip
    assert "out of ideas" in cells["Raising"]["reason"] and "1000" in cells["Outside"]["reason"]
    line = Leaving.select_arm.__code__.co_firstlineno + 1
    assert cells["Leaving"]["reason"] == f"test_evaluation.py:{line}: SystemExit: 3"
    assert "EXP3" in cells["no guarantee"]["reason"] and "reveal" in cells["other game"]["reason"]
    text = str(scores)
    assert "no guarantee in stochastic/gap-0.3" in text and "failed in stochastic/gap-0.3" in text
    assert [total["agent"] for total in scores.totals] == [*failing, "fine"]
    assert all(total["rank"] is None and total["coverage"] == pytest.approx(1 / 18) for total in scores.totals)


@pytest.mark.slow_cases("Sleeping")
@pytest.mark.thorough
@pytest.mark.parametrize("agent", [Endless, Sleeping, Stubborn])
def test_an_agent_that_never_ends_is_stopped_and_costs_its_own_cell_only(tmp_path, agent):
    evaluate({"fine": Greedy}, folder=tmp_path)  # whose first game takes longer
    scores = evaluate({"Endless": agent, "fine": Greedy}, seconds=3, folder=tmp_path)
    cell = scores.cell("Endless", EASY, 1)
    assert (cell["cannot"], cell["score"]) == ("failed", 0) and "stopped after 3 seconds" in cell["reason"]
    assert scores.cell("fine", EASY, 1)["score"] is not None
    # With more time it may end, so it is not kept.
    kept = [json.loads(path.read_text())["answer"] for path in tmp_path.glob("*.json")]
    assert sorted(sorted(answer) for answer in kept) == [["regrets"]]


# ---- claims --------------------------------------------------------------------------------------------------------


def scaled(name, factor):
    """Return a broken mechanism: it declares the law of its epsilon, and draws noise of `factor(inputs)` times that."""

    def new_state(self, inputs):
        state = LaplaceMechanism.new_state(self, inputs)
        return state._replace(scale=state.scale * factor(inputs))

    return type(name, (LaplaceMechanism,), {"new_state": new_state, "__module__": __name__})


HalfTheNoise = scaled("HalfTheNoise", lambda inputs: 0.5)
NoiseForOneArm = scaled("NoiseForOneArm", lambda inputs: 1 / inputs.sensitivity if inputs.n_values > 1 else 1.0)
"""With several arms in a round, each has the noise of one."""
NoiseForGains = scaled("NoiseForGains", lambda inputs: 0.5 if inputs.values.low < 0 else 1.0)
"""Payoffs in [-1, 1] get the noise of gains in [0, 1]."""


class SameNoise(LaplaceMechanism):
    """Broken: the noise of all releases is that of the first."""

    def new_state(self, inputs):
        return (super().new_state(inputs), np.array([math.nan]))

    @staticmethod
    def release(state, arm, gain, rng):
        if math.isnan(state[1][0]):
            state[1][0] = rng.laplace(0.0, state[0].scale)
        return min(max(gain + state[1][0], 0.0), 1.0), 1


def broken(kind):
    def make(epsilon=1.0):
        return Algorithm(
            "broken", Exp3, lambda env: PrivacyBoundary(env, kind(epsilon=epsilon, outside="clip", bound=0))
        )

    return make


@pytest.mark.thorough_cases("SameNoise")
@pytest.mark.parametrize("kind", [HalfTheNoise, SameNoise])
def test_a_refuted_claim_has_no_score(kind):
    scores = evaluate({"broken": broken(kind), "honest": broken(LaplaceMechanism)})
    audits = {audit["agent"]: audit for audit in scores.values["audits"]}
    assert audits["broken"]["refuted"] and not audits["honest"]["refuted"]
    cell = scores.cell("broken", EASY, 1)
    assert cell["cannot"] == "refuted" and cell["score"] is None and cell["mean"] > 0
    assert scores.cell("honest", EASY, 1)["score"] is not None
    assert "broken at epsilon = 1" in str(scores)
    assert [total["agent"] for total in scores.totals] == ["honest"]


@pytest.mark.thorough_cases("experts/coins-experts")
@pytest.mark.parametrize(("task", "kind"), [("graph/ring", "graphs"), ("experts/coins", "experts")])
def test_a_claim_that_is_wrong_in_one_kind_of_game_is_refuted_there(task, kind):
    one_arm = broken(NoiseForOneArm)
    assert not evaluate(one_arm).values["audits"][0]["refuted"]
    scores = evaluate(one_arm, tasks=[EASY, task])
    (audit,) = scores.values["audits"]
    assert audit["refuted"] and audit["games"] == {"arms": "exact", kind: "exact"}
    assert audit["found"] > 1.9 * audit["declared"]["epsilon"]
    assert {cell["cannot"] for cell in scores.cells} == {"refuted"} and "REFUTES" in str(scores)


@pytest.mark.thorough
@pytest.mark.parametrize("mechanism", [NoiseForGains, LaplaceMechanism])
def test_a_claim_that_is_wrong_for_points_is_refuted(mechanism):
    def player(epsilon=1.0):
        return Algorithm(
            "points",
            None,
            lambda env: PrivacyBoundary(env, mechanism(epsilon=epsilon)),
            make_point_agent=BallOsmd,
            feedback="payoff",
        )

    scores = evaluate(player, tasks="linear/ball")
    (audit,) = scores.values["audits"]
    assert audit["games"] == {"points (bandit)": "exact"} and audit["refuted"] == (mechanism is NoiseForGains)
    assert (scores.cells[0]["score"] is None) == audit["refuted"]


class FourArms(Greedy):
    """Plays games with four arms only, as a trained model does."""

    def begin(self, *, n_arms, horizon, rng):
        if n_arms != 4:
            raise WrongGameError("four arms are needed")
        super().begin(n_arms=n_arms, horizon=horizon, rng=rng)


@pytest.mark.thorough
@pytest.mark.parametrize("mechanism", [HalfTheNoise, SameNoise, LaplaceMechanism])
def test_an_agent_that_plays_no_small_games_is_audited_by_its_wrappers_releases(mechanism):
    def player(epsilon=1.0):
        return dataclasses.replace(broken(mechanism)(epsilon), make_agent=FourArms)

    scores = evaluate(player)
    (audit,) = scores.values["audits"]
    assert audit["player"] == "arms in turn" and audit["kind"] == "exact"
    assert audit["refuted"] == (mechanism is not LaplaceMechanism)
    assert "of its wrapper" in str(scores)


def test_a_file_is_no_folder_and_nothing_is_played(tmp_path):
    (tmp_path / "mine.py").write_text("", encoding="utf-8")
    with pytest.raises(ResultsError, match="must be a folder; it is a file"):
        evaluate("DP-KLUCB", folder=tmp_path / "mine.py")


@pytest.mark.parametrize("text", ["", "[]", "{", '{"question": 1}', '{"question": 1, "answer": 2}'])
def test_a_cell_that_was_damaged_is_refused_by_name(text, tmp_path):
    task = TASKS[EASY]
    store = evaluation.CellStore(tmp_path, "tiny", 1)
    answer = store.kept(task, {"agent": "ours"}, lambda: {"mean": 1})
    assert store.kept(task, {"agent": "ours"}, lambda: {"mean": 2}) == answer == {"mean": 1}
    (cell,) = tmp_path.iterdir()
    cell.write_text(text, encoding="utf-8")
    with refused(ResultsError, cell.name, "damaged"):
        store.kept(task, {"agent": "ours"}, lambda: {"mean": 2})


def test_what_is_no_agent_is_told_what_is_absent():
    class Half:
        def select_arm(self):
            return 0

    with pytest.raises(TypeError, match="has no begin and no update"):
        evaluate(Half)
    reason = evaluate({"mine": lambda env: None}).cell("mine", EASY, 1)["reason"]
    assert "mine must return the model that it trained; received None" in reason


def test_a_patient_has_an_epsilon_of_its_own():
    """At tiny, 1,024 rounds: a patient of the trial serves in up to two."""
    scores = evaluate({"mine": "Clipped-Lap:base=TS"}, tasks="data", epsilon=[1, None])
    person = scores.cell("mine", "data/trial", 1)["guarantee"]["person"]
    assert person == {"epsilon": 2.0, "delta": 0.0, "rounds": 2}
    assert "person" not in scores.cell("mine", "data/trial", None)["guarantee"]
    assert "a patient of data/trial serves in up to 2 rounds: epsilon = 2 where a round has 1" in str(scores)


def test_a_name_without_a_guarantee_leads_to_the_same_agent_behind_the_standard_wrapper():
    reason = evaluate("UCB").cell("UCB", EASY, 1)["reason"]
    assert "Clipped-Lap:base=UCB" in reason and reason in str(evaluate("UCB"))
    scores = evaluate({"class": Ucb, "name": "Clipped-Lap:base=UCB"})
    by_class, by_name = (scores.cell(label, EASY, 1) for label in ("class", "name"))
    assert by_class["low"] < by_name["high"] and by_name["low"] < by_class["high"]  # the same agent, with other noise


# ---- folders and cards ---------------------------------------------------------------------------------------------


@pytest.mark.thorough
def test_the_same_call_gives_the_same_card_to_the_byte_and_a_folder_is_played_once(tmp_path, monkeypatch):
    agents = {"DP-IMED": "DP-IMED", "mine": Greedy}
    first = evaluate(agents, folder=tmp_path / "folder")
    assert first.text() == evaluate(agents).text()
    plays = []
    simulate = evaluation.simulate

    def counting(*args, **options):
        plays.append(args[1][0].name)
        return simulate(*args, **options)

    monkeypatch.setattr(evaluation, "simulate", counting)
    assert evaluate(agents, folder=tmp_path / "folder").text() == first.text() and plays == []
    # It grows by further agents, levels and tasks; another seed is another evaluation.
    grown = evaluate({**agents, "TS": "Clipped-Lap:base=TS"}, folder=tmp_path / "folder")
    assert plays == ["TS"] and grown.cells[:2] == first.cells
    evaluate(agents, folder=tmp_path / "folder", seed=5)
    assert plays == ["TS", "DP-IMED", "mine"]
    assert all(file.suffix == ".json" for file in (tmp_path / "folder").iterdir())


@pytest.mark.thorough
def test_other_code_is_played_again(tmp_path):
    def class_with(arm):
        return type("Mine", (Greedy,), {"select_arm": lambda self: arm, "__module__": __name__})

    first, second = (evaluate({"Mine": class_with(arm)}, folder=tmp_path, seed=0).cells[0]["mean"] for arm in (0, 1))
    assert first != second


def test_an_interrupted_run_goes_on_where_it_stopped(tmp_path, monkeypatch):
    agents = {"DP-IMED": "DP-IMED", "DP-KLUCB": "DP-KLUCB"}
    simulate = evaluation.simulate

    def interrupted(*args, **options):
        if args[1][0].name == "DP-KLUCB":
            raise KeyboardInterrupt
        return simulate(*args, **options)

    monkeypatch.setattr(evaluation, "simulate", interrupted)
    with pytest.raises(KeyboardInterrupt) as stop:
        evaluate(agents, folder=tmp_path)
    assert str(tmp_path) in str(stop.value)
    monkeypatch.setattr(evaluation, "simulate", simulate)
    assert evaluate(agents, folder=tmp_path).text() == evaluate(agents).text()


KEYS = {
    "": "anchors audits cells delta digest format growth levels note package reference seed size suite table totals",
    "cells": "agent deviation error games guarantee high level low mean quantiles score task",
    "totals": "agent axes coverage error field high interquartile_mean level low rank total",
    "audits": "agent declared found games kind level player reason refuted",
}


def test_a_card_has_this_schema():
    card = evaluate("DP-IMED").card()
    assert sorted(card) == KEYS[""].split()
    for part in ("cells", "totals", "audits"):
        assert sorted(card[part][0]) == KEYS[part].split()
    assert sorted(card["anchors"][EASY]) == ["best", "best_name", "chance"]
    assert sorted(card["cells"][0]["guarantee"]) == ["covers", "delta", "epsilon", "model"]
    assert list(card["cells"][0]["quantiles"]) == ["0.1", "0.5", "0.9", "0.99"]
    assert (card["suite"], card["size"], card["seed"], card["delta"], card["levels"]) == (1, "tiny", 43, 1e-6, [1.0])
    assert card["anchors"][EASY]["best_name"] == TASKS[EASY].best
    # A card follows from its own numbers.
    cell, anchor = card["cells"][0], card["anchors"][EASY]
    assert cell["score"] == pytest.approx((anchor["chance"] - cell["mean"]) / (anchor["chance"] - anchor["best"]))


def test_a_card_is_read_again_and_a_damaged_one_refused(tmp_path):
    scores, path = evaluate("DP-IMED"), tmp_path / "card.json"
    scores.save(path)
    assert suite.load(path).text() == scores.text() == path.read_text(encoding="utf-8")
    card = scores.card()
    path.write_text(json.dumps({**card, "seed": 4}))
    with refused(ResultsError, path.name, "damaged"):
        suite.load(path)
    path.write_text(json.dumps({**card, "suite": 2}))
    with refused(ResultsError, path.name, 1, 2):
        suite.load(path)
    for text in ("{", "[]", '{"format": "other"}'):
        path.write_text(text)
        with refused(ResultsError, path.name, "card"):
            suite.load(path)


def test_a_table_has_a_row_for_each_agent_and_level():
    scores = evaluate(["DP-IMED", "DP-KLUCB"], epsilon=[1, 10])
    assert scores.table("csv").splitlines()[0] == "agent,epsilon,rank,total,stochastic"
    assert len(scores.table("csv").splitlines()) == 5
    assert "DP-IMED" in scores.table("latex") and "DP-IMED" in scores.table()


@pytest.mark.thorough
def test_ranks_need_every_core_task():
    """The best of each task would share one; here both play all 18 tasks, and far from each other."""
    scores = evaluate(["Uniform", "Clipped-Lap:base=TS"], tasks=None, epsilon=10)
    assert {total["agent"]: total["rank"] for total in scores.totals} == {"Uniform": 2, "Clipped-Lap (base=TS)": 1}
    assert all(total["coverage"] == 1 for total in scores.totals)
    switching = scores.cell("Uniform", "switching/memory", 10)
    assert switching["score"] < -1 and scores.totals[0]["axes"]["switching"] == -1
    assert "counts as -1" in str(scores)


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"agents": "DP-IMET"}, UnknownNameError, ("'DP-IMET'", "DP-IMED")),
        ({"tasks": "graphs"}, UnknownNameError, ("axis", "'graphs'", "graph")),
        ({"tasks": "foo"}, UnknownNameError, ("axis", "'foo'", "drift", "identification", "identification/steps")),
        ({"size": "huge"}, UnknownNameError, ("size", "'huge'", "tiny", "quick", "full")),
        ({"epsilon": 0}, ValueError, ("epsilon", 0)),
        ({"epsilon": [1, math.inf]}, ValueError, ("epsilon", "inf", "None")),
        ({"epsilon": []}, ValueError, ("epsilon",)),
        ({"epsilon": [1, 1.0]}, ValueError, ("epsilon",)),
        ({"seed": -1}, ValueError, ("seed", -1)),
        ({"jobs": 0}, ValueError, ("jobs", 0)),
        ({"seconds": 0}, ValueError, ("seconds", 0)),
    ],
)
def test_wrong_arguments_are_refused_by_name(options, error, words):
    with refused(error, *words):
        evaluate(**{"agents": "DP-IMED", **options})


@pytest.mark.thorough
def test_models_of_stable_baselines3_play_trained_and_ready():
    """A trained model plays the task it was trained for; a ready one plays games whose spaces are its own."""
    sb3 = pytest.importorskip("stable_baselines3")
    models = []

    def train(env):
        model = sb3.PPO("MultiInputPolicy", env, n_steps=64, batch_size=64, n_epochs=1, seed=0, device="cpu")
        models.append(model.learn(128))
        return model

    scores = evaluate({"ppo": train}, epsilon=1)
    assert scores.cell("ppo", EASY, 1)["score"] is not None and len(models) == 1
    (audit,) = scores.values["audits"]
    assert (audit["player"], audit["kind"], audit["refuted"]) == ("arms in turn", "exact", False)
    assert audit["found"] == pytest.approx(1)
    ready = evaluate({"ready": from_sb3(models[0])}, tasks=[EASY, "stochastic/many-arms"], epsilon=1)
    assert ready.cell("ready", EASY, 1)["score"] is not None
    assert ready.cell("ready", "stochastic/many-arms", 1)["cannot"] == "game"
