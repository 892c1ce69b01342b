"""`dp-bandit audit`: one row for what is declared, one for what the noise loses, one for what arms reveal."""

import re

import pytest
from rich.console import Console

from dp_bandit_envs.algorithms import make_algorithm
from dp_bandit_envs.cli.audit_command import show_audit


def shown(text, *, epsilon=1.0, games=0, confidence=0.99, horizon=8):
    console = Console(width=140, record=True, quiet=False)
    with console.capture() as captured:
        show_audit(console, text, epsilon=epsilon, confidence=confidence, horizon=horizon, games=games, seed=0)
    return captured.get()


def numbers(table, row):
    """Return the epsilon in the row that begins with this word."""
    return re.search(rf"{row}[^│]*│\s*(\S+)", table)[1]


@pytest.mark.parametrize("name", ["DP-UCB", "DP-EXP3-Lap", "AdaP-UCB"])
def test_declared_and_exact_epsilon_are_shown(name):
    table = shown(name, epsilon=0.7)
    assert numbers(table, "declared") == "0.7" == numbers(table, "exact")
    assert "within" in table and "sampled" not in table


def test_parameters_follow_a_name():
    assert numbers(shown("DP-UCB:epsilon=.3"), "exact") == "0.3"


def test_the_sampled_bound_is_shown_with_its_confidence():
    table = shown("LDP-UCB-B", games=500, confidence=0.9, horizon=4)
    assert 0 <= float(numbers(table, "sampled")) <= 1
    assert "(0.9)" in table


def test_an_agents_own_draws_are_audited_in_short_games():
    table = shown("EXP3", epsilon=None, games=100, horizon=3)
    assert 0.2 < float(numbers(table, "exact")) < 0.3
    assert numbers(shown("EXP3", epsilon=None, horizon=8), "exact") == "-"
    declared = make_algorithm("EXP3").guarantee(n_arms=2, horizon=3).epsilon
    assert numbers(table, "declared") == f"{declared:.6g}" and declared < 3


def test_points_have_no_sampled_bound():
    table = shown("AS-SCRiBLe", games=100)
    assert numbers(table, "exact") == "1"
    assert numbers(table, "sampled") == "-"
