"""`dp-bandit suite`: agents, the folder of a class, lists, the reference, and wrong words."""

import json

import pytest

from dp_bandit_envs import suite

AGENT = """
class MyAgent:
    arm = {arm}

    def begin(self, *, n_arms, horizon, rng):
        self.n_arms = n_arms

    def select_arm(self):
        {select}

    def update(self, arm, observation):
        pass
"""
AT_LINES = {
    "fails": "1: ModuleNotFoundError: No module named 'nothing_like_this'",
    "finn": "9: KeyError: 'x'",
    "gerd": "3: KeyError: ...",
    "hugo": "1: SyntaxError:",
}
"""What is said of files with an error: its line, and no gains."""
EASY = ("--axis", "stochastic/gap-0.3", "--size", "tiny", "--epsilon", "1")


@pytest.fixture
def submissions(tmp_path):
    folder = tmp_path / "submissions"
    folder.mkdir()

    def put(name, select="return self.arm", arm=0):
        (folder / f"{name}.py").write_text(AGENT.format(arm=arm, select=select), encoding="utf-8")

    put("student_anna")
    put("student_ben", arm=1)
    put("student_carl", select="return None")
    put("student_dora", select="raise RuntimeError('no idea')")
    put("student_endless", select="\n        while True: pass")
    put("student_finn", select="return {}['x']")
    (folder / "student_fails.py").write_text("import nothing_like_this\n", encoding="utf-8")
    (folder / "student_gerd.py").write_text("print('loud')\n\nraise KeyError(0.25)\n", encoding="utf-8")
    (folder / "student_hugo.py").write_text("def hugo(:\n", encoding="utf-8")
    (folder / "_shared.py").write_text("", encoding="utf-8")
    return folder


def test_an_agent_is_scored_and_its_card_sheet_and_picture_are_written(dp_bandit, tmp_path):
    (tmp_path / "suite_mine.py").write_text(AGENT.format(arm=0, select="return self.arm"), encoding="utf-8")
    code, out, err = dp_bandit("suite", "suite_mine:MyAgent", "DP-IMED", *EASY, "--out", "out")
    assert code == 0, err
    assert "> DP-IMED" in out and "> MyAgent" in out and "figure.png" in out
    card = suite.load(tmp_path / "out" / "card.json")
    assert {cell["agent"] for cell in card.cells} == {"MyAgent", "DP-IMED"}
    assert (tmp_path / "out" / "figure.png").stat().st_size > 5000
    assert (tmp_path / "out" / "sheet.txt").read_text(encoding="utf-8") == f"{card}\n"
    text = (tmp_path / "out" / "card.json").read_bytes()
    assert dp_bandit("suite", "suite_mine:MyAgent", "DP-IMED", *EASY, "--out", "out")[0] == 0
    assert (tmp_path / "out" / "card.json").read_bytes() == text


@pytest.mark.thorough
def test_another_call_keeps_the_first_card(dp_bandit, tmp_path):
    for name in ("DP-IMED", "DP-KLUCB", "DP-IMED", "Clipped-Lap:base=TS"):
        assert dp_bandit("suite", name, *EASY)[0] == 0
    cards = [suite.load(path) for path in sorted((tmp_path / "results").glob("suite-*/card.json"))]
    assert [card.cells[0]["agent"] for card in cards] == ["Clipped-Lap (base=TS)", "DP-IMED", "DP-KLUCB"]


def test_cards_are_joined(dp_bandit, tmp_path):
    for name in ("DP-IMED", "DP-KLUCB"):
        assert dp_bandit("suite", name, *EASY, "--out", name)[0] == 0
    cards = [str(tmp_path / name / "card.json") for name in ("DP-IMED", "DP-KLUCB")]
    code, out, err = dp_bandit("suite", *cards, "--out", "both")
    assert code == 0, err
    assert "> DP-IMED" in out and "> DP-KLUCB" in out and (tmp_path / "both" / "figure.png").is_file()
    assert {cell["agent"] for cell in suite.load(tmp_path / "both" / "card.json").cells} == {"DP-IMED", "DP-KLUCB"}


@pytest.mark.thorough
def test_a_class_is_ranked_with_a_seed_of_its_own_and_bad_files_cost_themselves(dp_bandit, submissions, tmp_path):
    code, out, err = dp_bandit("suite", submissions, *EASY, "--seed", 8251, "--seconds", 2, "--out", "out")
    assert code == 0, err
    card = json.loads((tmp_path / "out" / "card.json").read_text(encoding="utf-8"))
    cells = {cell["agent"].removeprefix("student_"): cell for cell in card["cells"]}
    assert list(cells) == ["anna", "ben", "carl", "dora", "endless", *AT_LINES] and card["seed"] == 8251
    assert cells["anna"]["score"] is not None and cells["anna"]["mean"] != cells["ben"]["mean"]
    reasons = {"carl": "None", "dora": "no idea", "endless": "stopped after 2 seconds", **AT_LINES}
    for name, reason in reasons.items():
        assert cells[name]["cannot"] == "failed" and cells[name]["score"] == 0 and reason in cells[name]["reason"]
    for name, reason in AT_LINES.items():
        assert [line for line in out.splitlines() if name in line and "failed" in line] == [
            f"student_{name} at epsilon = 1: failed in stochastic/gap-0.3: {cells[name]['reason']}"
        ]
        assert cells[name]["reason"].startswith(f"student_{name}.py:{reason}")
    assert "no sandbox" in out and "loud" not in out
    assert "There are no ranks" in out and "The picture has student_anna, student_ben, student_carl;" in out


def test_tasks_are_listed_and_the_reference_is_shown_by_axis_at_the_levels_that_are_asked_for(dp_bandit):
    code, out, _ = dp_bandit("suite", "--list")
    assert code == 0 and "adversarial/constrained" in out and "T = 8,192, 40 games" in out and "scores 1" in out
    code, out, _ = dp_bandit("suite")
    assert code == 0 and out.count("all axes") == 3 and "quick" in out
    code, out, _ = dp_bandit("suite", "--size", "tiny", "--axis", "switching")
    assert code == 0 and "EXP3-tau" in out and "drift" not in out
    code, out, err = dp_bandit("suite", "--epsilon", "1,10")
    assert code == 0, err
    assert "epsilon = 1\n" in out and "epsilon = 10\n" in out and "epsilon = 0.1" not in out


@pytest.mark.thorough
def test_best_arm_identification_is_listed_shown_and_scored(dp_bandit, tmp_path):
    code, out, _ = dp_bandit("suite", "--list")
    assert code == 0 and "identification/close-rival" in out and "0.8 0.7 0.4" in out
    code, out, _ = dp_bandit("suite", "--axis", "identification", "--size", "tiny")
    assert code == 0 and out.count("DP-TT") == 4 and "epsilon = 0.1" in out and "no privacy" in out
    axis = ("--axis", "identification/two-arms,identification/steps", "--size", "tiny", "--epsilon", "1")
    code, out, err = dp_bandit("suite", "DP-TT", "UCB", *axis, "--out", "out")
    assert code == 0, err
    assert "> DP-TT" in out and "0 of 20 recommendations are wrong" in out and "figure.png" in out
    assert suite.load(tmp_path / "out" / "card.json").cell("UCB", "identification/steps", 1)["cannot"] == "game"
    code, _, err = dp_bandit("suite", "DP-TT", "--axis", "identification,drift")
    assert code == 2 and "its own call" in err


def test_a_card_without_a_score_has_no_picture(dp_bandit, tmp_path):
    code, out, err = dp_bandit("suite", "UCB", *EASY, "--out", "out")
    assert code == 0 and "Clipped-Lap:base=UCB" in out and "Warning" not in err
    assert (tmp_path / "out" / "card.json").is_file() and not (tmp_path / "out" / "figure.png").exists()
    with pytest.raises(ValueError, match="must have a score"):
        suite.load(tmp_path / "out" / "card.json").plot()


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (("DP-IMED", "--axis", "graphs"), ("graphs", "graph")),
        (("DP-IMED", "--size", "huge"), ("huge", "quick")),
        (("DP-IMED", "--epsilon", "0"), ("epsilon", "0")),
        (("DP-IMED", "--epsilon", "much"), ("--epsilon", "much")),
        (("DP-IMET",), ("DP-IMET", "DP-IMED")),
        (("nowhere:MyAgent",), ("nowhere",)),
        ((".", "DP-IMED"), ("folder",)),
        ((".",), ("MyAgent",)),
        (("mine.py",), ("mine.py", "mine:Name")),
        (("there/submissions",), ("there/submissions", "Check the path")),
        (("card.json", "DP-IMED"), ("card.json", "alone")),
        (("card.json", "--axis", "drift"), ("--axis", "Leave it out")),
        (("--epsilon", "3"), ("0.1, 1, 10", "3")),
        (("nowhere.json",), ("nowhere.json",)),
        (("--axis", "graphs"), ("graphs", "graph")),
        (("--axis", "foo"), ("foo", "drift", "identification")),
    ],
)
def test_wrong_words_are_one_sentence(dp_bandit, words, named):
    code, _, err = dp_bandit("suite", *words)
    assert code == 2 and "Traceback" not in err
    assert all(word in err for word in named), err
