"""A file has one agent, or the message says in one sentence what it has instead."""

import sys

import pytest

from dp_bandit_envs.submitted_code import ForbiddenError, SubmissionError as Error, refuse_event
from dp_bandit_envs.tournament.agent_process import MODULE, load_maker
from tests.tools.refusals import refused
from tests.tools.submitted_agents import LEADER, UNREAD, agent


@pytest.fixture(autouse=True)
def no_module_is_left(monkeypatch):
    monkeypatch.setitem(sys.modules, MODULE, None)


@pytest.mark.parametrize("name", UNREAD)
def test_a_file_without_one_agent_is_refused_by_name(name):
    text, words = UNREAD[name]
    with refused(Error, f"{name}.py", *words) as caught:
        load_maker(text.encode(), f"{name}.py")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (LEADER, "Leader"),
        (agent(), "Mine"),
        (LEADER.replace("class Leader", "class _Base") + "class Better(_Base): pass\n", "Better"),
        (LEADER + "Same = Leader\n", "Leader"),
        (LEADER + agent() + "def make_agent(): return Mine()\n", "Mine"),
        ("from dp_bandit_envs import Exp3\nmake_agent = Exp3\n", "Exp3"),
        ("from dataclasses import dataclass\n" + agent().replace("class", "@dataclass\nclass"), "Mine"),
        ("# Umlaute: äöü\n" + agent(), "Mine"),
    ],
)
def test_the_one_agent_is_found(text, kind):
    make = load_maker(text.encode(), "mine.py")
    assert type(make()).__name__ == kind and make() is not make()


@pytest.mark.parametrize("text", [LEADER.replace("def select_arm", "def choose"), "class Thing: pass\n"])
def test_methods_that_are_missing_are_named(text):
    """Those of the class `Agent` do nothing, and do not count."""
    code = text + ("" if "Leader" in text else "make_agent = Thing\n")
    with refused(Error, "mine.py", "begin", "select_arm", "update", "Leader" if "Leader" in text else "Thing"):
        load_maker(code.encode(), "mine.py")()


def test_a_maker_that_returns_one_agent_for_all_games_is_refused():
    make = load_maker((agent() + "one = Mine()\ndef make_agent(): return one\n").encode(), "mine.py")
    make()
    with refused(Error, "mine.py", "make_agent()", "new agent", "same"):
        make()


@pytest.mark.parametrize("event", ["os.fork", "os.kill", "subprocess.Popen", "os.system", "socket.connect"])
def test_processes_and_networks_are_refused_and_the_rest_is_not(event):
    with refused(ForbiddenError, event):
        refuse_event(event, ())
    refuse_event("open", ("x", "r", 0))
