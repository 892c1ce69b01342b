"""Tables: the numbers of the games, every guarantee, and text that LaTeX and other programs take."""

import csv
import io
import math

import numpy as np
import pytest

from dp_bandit_envs import compare
from dp_bandit_envs.experiments.tables import amount, latex
from tests.tools.refusals import refused


@pytest.fixture(scope="module")
def compared():
    return compare(["Stochastic:means=[.9,.5]"], ["UCB", "EXP3-tau"], epsilon=[2, 5], horizon=80, trials=9)


def test_numbers_are_those_of_the_games(compared):
    rows = list(csv.DictReader(io.StringIO(compared.table("csv"))))
    assert len(rows) == len(compared) == 3
    for row, entry in zip(rows, compared, strict=True):
        last = entry.values("external_regret")[:, -1]
        assert float(row["mean external regret"]) == pytest.approx(last.mean())
        assert float(row["standard error"]) == pytest.approx(last.std(ddof=1) / 3)
        assert float(row["99 % quantile"]) == pytest.approx(np.quantile(last, 0.99))
        assert (float(row["epsilon"]), float(row["delta"])) == pytest.approx(entry.level[:2])
        assert row["asked epsilon"] == ("" if entry.asked is None else f"{entry.asked:g}")


def test_a_wide_table_has_a_column_for_each_game():
    compared = compare(
        ["Stochastic:means=[.9,.5]", "Deterministic"], ["UCB", "DP-UCB"], epsilon=[2, 5], horizon=80, trials=9
    )
    (*rows,) = csv.DictReader(io.StringIO(compared.table("csv", wide=True)))
    assert [row["algorithm"] for row in rows] == ["UCB", "DP-UCB", "DP-UCB"]
    assert rows[0]["guarantee"] == "none"
    for row, epsilon in zip(rows, (None, 2, 5), strict=True):
        for title in compared.titles:
            (entry,) = compared.select(environment=title, algorithm=row["algorithm"], epsilon=epsilon)
            last = entry.values("external_regret")[:, -1]
            mean, error = map(float, row[title].split(" ± "))
            assert mean == pytest.approx(last.mean(), abs=0.06) and error == pytest.approx(
                last.std(ddof=1) / 3, abs=0.06
            )
            if epsilon is not None:
                assert row["guarantee"] == f"epsilon {entry.level.epsilon:.4g}, central"
                assert entry.level.epsilon == epsilon
    # What a cell is, below: in a paper the header has no room for it.
    text = compared.table("latex", wide=True)
    assert r"algorithm & guarantee & " in text and r"DP-UCB & $\varepsilon = 5$, central & " in text
    assert text.endswith(r"is pure up to 30, or else the least at $\delta = 10^{-6}$.}")
    assert r"{\footnotesize Mean external regret $\pm$ standard error; $\varepsilon$ is" in text
    for format in ("markdown", "html"):
        assert "Mean switches ± standard error; epsilon is pure" in compared.table(
            format, wide=True, measure="switches"
        )


def test_latex_takes_every_letter():
    """Each special letter, by hand; a number column is set to the right."""
    text = latex(["epsilon", "a_b"], [["inf", "50 % & {more} #1 ~ ^ \\ $"], ["1,000", "x"]])
    assert text.splitlines() == [
        r"\begin{tabular}{rl}",
        r"\toprule",
        r"$\varepsilon$ & a\_b \\",
        r"\midrule",
        r"$\infty$ & 50 \% \& \{more\} \#1 \textasciitilde{} \textasciicircum{} \textbackslash{} \$ \\",
        r"1,000 & x \\",
        r"\bottomrule",
        r"\end{tabular}",
    ]


def test_amounts_are_short():
    assert [amount(value) for value in (12345.6, 1234.56, 12.345, 0.012345, 0.0, math.nan)] == [
        "12,346",
        "1,234.6",
        "12.3",
        "0.0123",
        "0",
        "",
    ]


def test_names_cannot_put_markup_into_a_notebook():
    compared = compare("Stochastic", {"<b>bold</b>": "UCB"}, horizon=20, trials=6)
    for text in (compared._repr_html_(), compared.ranking()._repr_html_()):
        assert "&lt;b&gt;bold" in text and "<b>" not in text


def test_unknown_words_are_refused(compared):
    with refused(ValueError, "format", "latex"):
        compared.table("text")
    with refused(TypeError, "wide", "yes"):
        compared.table(wide="yes")
    with refused(ValueError, "measure", "external_regret"):
        compared.table(measure="regret")
    switching = compare("Switching", "UCB", horizon=20, trials=2)
    with refused(ValueError, "pseudo_regret", "Switching", "external_regret"):
        switching.table(measure="pseudo_regret")
    with refused(ValueError, "environment", "'Nowhere'", "Switching"):
        switching.select(environment="Nowhere")
