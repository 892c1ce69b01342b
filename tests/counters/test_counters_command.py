"""`dp-bandit show counters`: the table of exact variances, the advice, and the plot."""

import io
import math
import sys

import numpy as np
import pytest
from rich.console import Console

from dp_bandit_envs.cli import main, show_commands
from dp_bandit_envs.plots.privacy_figures import counters_figure
from dp_bandit_envs.privacy.counters.table import compare
from tests.tools.refusals import missing


def shown(horizon: int, epsilon: float, delta: float | None = None, out=None) -> str:
    """Return what the command prints on a wide terminal."""
    text = io.StringIO()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(show_commands, "console", Console(file=text, width=140))
        show_commands.show_counters(horizon, epsilon, delta, out)
    return text.getvalue()


def rows_of(text: str) -> dict[str, tuple[float, float, str, str]]:
    """Return the rows of the table, by counter."""
    lines = [
        [cell.strip() for cell in line.strip("│").split("│")] for line in text.splitlines() if line.startswith("│")
    ]
    return {
        name: (float(mean.replace(",", "")), float(maximum.replace(",", "")), known, kind)
        for name, mean, maximum, known, kind in lines
    }


def test_the_table_for_two_items_by_hand():
    """Variances 2 scale^2 a draw, epsilon = 1, after one item and after two.

    Binary: two levels, one node each time: 8, 8. Honaker: 8, and 8 / (1 + 1/2) = 16/3. Hybrid: one and two draws of
    scale 2: 8, 16. Segment trees: one and two draws of scale 1: 2, 4. K-ary: one level: 2, 4. Smooth: leaves with two
    ones of height 3, as C(3, 2) = 3 > 2, so an item is in 3 - 2 nodes, and a release has two of scale 1: 4, 4.
    """
    rows = rows_of(shown(2, 1.0))
    assert rows == {
        "segment-trees": (3.0, 4.0, "no", "pure"),
        "k-ary": (3.0, 4.0, "yes", "pure"),
        "honaker": (6.7, 8.0, "yes", "pure"),
        "binary": (8.0, 8.0, "yes", "pure"),
        "hybrid": (12.0, 16.0, "no", "pure"),
        "smooth-binary": (4.0, 4.0, "yes", "pure"),
    }


def test_the_table_is_sorted_and_agrees_with_compare(monkeypatch, capsys):
    rows = rows_of(shown(1000, 0.5, 1e-6))
    expected = compare(1000, 0.5, 1e-6)
    assert list(rows) == [row.name for row in expected]
    for row in expected:
        mean, maximum, known, kind = rows[row.name]
        assert (mean, maximum) == (pytest.approx(row.mean, abs=0.051), pytest.approx(row.maximum, abs=0.051))
        assert known == ("yes" if row.counter.needs_horizon else "no")
        assert kind == ("(epsilon, delta)" if row.name == "square-root" else "pure")
    assert command(monkeypatch, "--horizon", "300", "--epsilon", "0.5", "--delta", "1e-6") == 0
    printed = capsys.readouterr().out
    assert "T = 300, epsilon = 0.5, delta = 1e-06" in printed
    assert len(rows_of(printed)) == 7
    assert printed.splitlines()[-1].startswith("Smallest mean ")


@pytest.mark.parametrize(
    ("horizon", "delta", "best"), [(1000, 1e-6, "k-ary"), (1000, 1e-3, "square-root"), (2, None, "segment-trees")]
)
def test_the_advice_is_the_smallest_mean_variance(horizon, delta, best):
    text = shown(horizon, 1.0, delta)
    assert text.splitlines()[-1] == f"Smallest mean over t = 1, ..., T: {best}; for an unknown horizon, segment-trees."
    rows = rows_of(text)
    assert best == min(rows, key=lambda name: rows[name][0])


# ---- the command


def command(monkeypatch, *arguments: str) -> int:
    """Run the command and return its exit code."""
    monkeypatch.setattr(sys, "argv", ["dp-bandit", "show", "counters", *arguments])
    try:
        main()
    except SystemExit as left:
        return int(left.code or 0)
    return 0


@pytest.mark.thorough
def test_the_plot_is_saved_and_is_the_same_every_time(monkeypatch, capsys, tmp_path):
    saved = []
    for name in ("one", "other"):
        file = tmp_path / f"{name}.svg"
        assert command(monkeypatch, "--horizon", "100", "--out", str(file)) == 0
        assert f"See {file}." in capsys.readouterr().out.replace("\n", "")
        saved.append(file.read_bytes())
    assert saved[0].startswith(b"<?xml") and saved[0] == saved[1]
    shown(1, 1.0, None, tmp_path / "one.png")  # a horizon of one item, without a warning
    assert (tmp_path / "one.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--horizon", "0"], ("horizon", 1, 0)),
        (["--epsilon", "0"], ("epsilon", 0, 0.0)),
        (["--epsilon", "inf"], ("epsilon", 0, "inf")),
        (["--epsilon", "nan"], ("epsilon", 0, "nan")),
        (["--delta", "1.5"], ("delta", "(0, 1)", 1.5)),
        (["--horizon", "10", "--epsilon", "1e-310"], (1e-310, "epsilon")),
        (["--horizon", "10", "--epsilon", "1e-200"], ()),  # a variance too large for a double
    ],
)
def test_wrong_arguments_are_one_sentence(monkeypatch, capsys, arguments, words):
    assert command(monkeypatch, *arguments) == 2
    error = capsys.readouterr().err
    assert error.startswith("error: ")
    assert missing(error, *words) == []
    assert len(error.splitlines()) == 1


# ---- the plot


def test_the_plot_shows_the_worst_error_so_far():
    """One line each; dashed if the counter must know the horizon; the largest of all exact variances up to each item.

    A second route: here all variances are looked up, and the plot asks for those of few items.
    """
    rows = compare(1000, 1.0, 1e-6)
    axes = counters_figure(rows, 1000).axes[0]
    lines = {str(line.get_label()).split(" (")[0]: line for line in axes.get_lines()}
    assert set(lines) == {row.name for row in rows}
    assert len({line.get_color() for line in lines.values()}) == len(rows)
    assert len({line.get_marker() for line in lines.values()} - {"None", ""}) == len(rows)
    # No two markers stand at the same item, from where a line of many items has room for all.
    marked = [at for line in lines.values() for at in line.get_xdata()[line.get_markevery()] if at > 10]
    assert len(marked) == len(set(marked)) > 2 * len(rows)
    for row in rows:
        line = lines[row.name]
        assert line.get_linestyle() == ("--" if row.counter.needs_horizon else "-")
        at, deviation = line.get_xdata(), line.get_ydata()
        assert (at[0], at[-1]) == (1, 1000) and np.all(np.diff(at) > 0)
        so_far = np.maximum.accumulate([row.counter.variance(t) for t in range(1, 1001)])
        assert deviation == pytest.approx(np.sqrt(so_far[at - 1]), rel=1e-12)
    assert math.isclose(lines["binary"].get_ydata()[-1] ** 2, rows_of(shown(1000, 1.0))["binary"][1], rel_tol=1e-3)


def test_each_line_of_the_plot_has_its_guarantee():
    figure = counters_figure(compare(1000, 0.5, 1e-6), 1000)
    labels = {text.get_text() for text in figure.legends[0].get_texts()}
    assert r"hybrid ($\varepsilon=0.5$)" in labels
    assert r"square-root ($\varepsilon=0.5$, $\delta=10^{-6}$)" in labels
    assert figure.axes[0].get_ylabel() == "largest standard deviation so far"
