"""An agent's cell becomes a file that plays alone, or the student hears why not."""

import numpy as np
import pytest

from dp_bandit_envs.agents.functional import Functions
from dp_bandit_envs.course.lab_own_agent import FIRST_LINE, Greedy, cell_source, save_submission, update
from dp_bandit_envs.labs.solutions.your_own_agent import MyAgent


def test_a_saved_file_plays_alone_and_may_be_saved_again(tmp_path):
    for _ in range(2):
        verdict = save_submission(MyAgent, "optimist", tmp_path / "new")
        assert verdict.passed
        assert f"dp-bandit tournament {tmp_path / 'new'} --epsilon 1" in str(verdict)
        assert str(verdict).startswith("Saved. ")
    names = {"__name__": "alone"}
    exec((tmp_path / "new" / "optimist.py").read_text(encoding="utf-8"), names)
    names["MyAgent"]().begin(n_arms=3, horizon=10, rng=np.random.default_rng(1))


class Elsewhere(Greedy):
    functions = Functions(Greedy.functions.select, update)


@pytest.mark.parametrize(
    ("agent", "name", "said"),
    [
        (Greedy(), "mine", "Give the agent's class"),
        (None, "mine", "Give the agent's class"),
        (Greedy, "../mine", "begin with a letter"),
        (Greedy, "", "begin with a letter"),
        (Greedy, "a" * 41, "at most 40"),
        (Elsewhere, "mine", "have to be in the same cell"),
    ],
)
def test_what_cannot_be_saved_is_explained(agent, name, said, tmp_path):
    verdict = save_submission(agent, name, tmp_path)
    assert not verdict.passed
    assert said in verdict.says
    assert not any(tmp_path.iterdir())


NOTEBOOK = """\
WIDTH = 0.1
{first}
@app.cell
def _(FunctionalAgent, Functions, NamedTuple, np):
{body}
    return (MyAgent,)
"""


def agent_of(text, folder):
    """Return the agent of a notebook's text, as marimo makes it when the notebook runs as a program."""
    path = folder / "notebook.py"
    path.write_text(text, encoding="utf-8")
    taken = []

    class App:
        def cell(self, function):
            taken.append(function)
            return function

    import dp_bandit_envs.labs.solutions.your_own_agent as solution

    names = {"app": App()}
    exec(compile(text, str(path), "exec"), names)
    parts = {"FunctionalAgent": solution.FunctionalAgent, "Functions": Functions, "NamedTuple": solution.NamedTuple}
    return taken[0](**parts, np=np)[0]


BODY = """\
    class State(NamedTuple):
        sums: np.ndarray

    def select(state, rng):
        return int(rng.random() * len(state.sums) * {number})

    def update(state, arm, seen):
        return state

    class MyAgent(FunctionalAgent):
        functions = Functions(select, update)

        def initial_state(self, n_arms, horizon):
            return State(np.zeros(n_arms))
"""


def test_the_cell_alone_is_saved(tmp_path):
    agent = agent_of(NOTEBOOK.format(first="", body=BODY.format(number="1.0")), tmp_path)
    source = cell_source(agent)
    assert source.startswith("class State(NamedTuple):")
    assert source.endswith("return State(np.zeros(n_arms))")
    assert save_submission(agent, "mine", tmp_path / "folder").passed


def test_what_the_cell_lacks_is_named(tmp_path):
    agent = agent_of(NOTEBOOK.format(first="", body=BODY.format(number="WIDTH")), tmp_path)
    verdict = save_submission(agent, "mine", tmp_path / "folder")
    assert "name 'WIDTH' is not defined" in verdict.says
    assert "has to be in its cell" in verdict.says
    assert not (tmp_path / "folder").exists()


def test_a_file_of_others_is_left_alone(tmp_path):
    (tmp_path / "mine.py").write_text("# my thesis\n", encoding="utf-8")
    assert "Take another name" in save_submission(MyAgent, "mine", tmp_path).says
    assert (tmp_path / "mine.py").read_text(encoding="utf-8") == "# my thesis\n"
    assert not FIRST_LINE.startswith("# my")
