"""`dp-bandit audit`: one row for what is declared, one for what the noise loses, one for what arms reveal."""

import math
import re

import pytest
import typer
from matplotlib.colors import to_hex
from rich.console import Console

from dp_bandit_envs.algorithms import make_algorithm
from dp_bandit_envs.cli.audit_command import BAR, show_audit
from dp_bandit_envs.cli.options import picture
from dp_bandit_envs.plots.audit_plot import MOST_WIDE, Bar, audit_figure
from dp_bandit_envs.plots.plot_style import VERMILION
from tests.tools.refusals import refused


def shown(text, *, epsilon=1.0, games=0, confidence=0.99, horizon=8, width=140, out=None):
    console = Console(width=width, record=True, quiet=False)
    with console.capture() as captured:
        settings = {"epsilon": epsilon, "confidence": confidence, "horizon": horizon, "games": games, "out": out}
        show_audit(console, text, seed=0, **settings)
    return captured.get()


def numbers(table, row):
    """Return the epsilon in the row that begins with this word."""
    return re.search(rf"{row}[^│]*│\s*(?:>= )?(\S+)", table)[1]


@pytest.mark.parametrize("name", ["DP-UCB", "DP-EXP3-Lap", "AdaP-UCB"])
def test_declared_and_exact_epsilon_are_shown(name):
    table = shown(name, epsilon=0.7)
    assert numbers(table, "declared") == "0.7" == numbers(table, "exact")
    assert "within" in table and "sampled" not in table


def test_parameters_follow_a_name():
    assert numbers(shown("DP-UCB:epsilon=.3", epsilon=None), "exact") == "0.3"


def test_the_sampled_bounds_are_shown_with_their_confidence():
    table = shown("LDP-UCB-B", games=500, confidence=0.9, horizon=4)
    for row in ("sampled, arms", "sampled, releases"):
        assert 0 <= float(numbers(table, row)) <= 1
    assert "confidence 0.9 " in table


def test_bars_are_as_long_as_their_epsilon():
    """At eight rounds the exact loss of Private-UCB in its own game is .375 of a declared .5."""
    lines = shown("Private-UCB", width=80).splitlines()
    lengths = {word: next(line for line in lines if f" {word}" in line).count("█") for word in ("declared", "exact")}
    assert lengths == {"declared": BAR, "exact": BAR * 3 // 4}


@pytest.mark.parametrize("kind", ["png", "svg"])
def test_the_plot_is_saved(tmp_path, kind):
    out = tmp_path / f"audit.{kind}"
    table = shown("AdaP-UCB", out=out)
    assert str(out) in table.replace("\n", "")
    assert out.read_bytes().startswith(b"\x89PNG" if kind == "png" else b"<?xml")


def test_a_plot_that_cannot_be_saved_is_refused_before_anything_is_played(tmp_path):
    with refused(typer.BadParameter, ".png", "audit.txt"):
        picture(tmp_path / "audit.txt")


def test_a_refuted_claim_is_red_and_an_infinite_bar_ends_at_the_axis():
    bars = [
        Bar("declared", "declared", 1.0),
        Bar("exact", "exact", math.inf),
        Bar("arms", "arms", 0.5, at_least=True),
        Bar("releases", "releases", None, at_least=True),
    ]
    axes = audit_figure(bars, "").axes[0]
    widths = [patch.get_width() for patch in axes.patches]
    assert widths == [1.0, MOST_WIDE, 0.5, 0.0]
    red = [to_hex(patch.get_facecolor()).upper() == VERMILION for patch in axes.patches]
    assert red == [False, True, False, False]
    assert [text.get_text() for text in axes.texts] == ["1", r"$\infty$", "at least 0.5", "-"]


def test_an_agents_own_draws_are_audited_in_short_games():
    table = shown("EXP3", epsilon=None, games=100, horizon=3)
    assert 0.2 < float(numbers(table, "exact")) < 0.3
    assert numbers(shown("EXP3", epsilon=None, horizon=8), "exact") == "-"
    declared = make_algorithm("EXP3").guarantee(n_arms=2, horizon=3).epsilon
    assert numbers(table, "declared") == f"{declared:.6g}" and declared < 3


def test_points_have_no_sampled_bound():
    table = shown("AS-SCRiBLe", games=100)
    assert numbers(table, "exact") == "1"
    assert numbers(table, "sampled, arms") == numbers(table, "sampled, releases") == "-"
