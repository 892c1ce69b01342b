"""Tables and levels of privacy: the numbers of the games, every guarantee, and text that other programs take."""

import csv
import io
import itertools
import math
import pickle
import re
import shutil
import subprocess
import sys

import numpy as np
import pytest
from matplotlib.mathtext import MathTextParser

from dp_bandit_envs import Exp3, PrivacyGuarantee, compare, load, make_algorithm
from dp_bandit_envs.algorithms import ALGORITHMS
from dp_bandit_envs.cli import main
from dp_bandit_envs.cli.show_commands import describe, list_names
from dp_bandit_envs.experiments.tables import amount, latex
from dp_bandit_envs.privacy.accounting import zcdp_epsilon
from dp_bandit_envs.privacy.guarantee import CONVENTION, ShownEpsilon, format_levels, shown_epsilon
from tests.tools.pages import PAGES
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


@pytest.mark.thorough
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
            # Two digits of the error, and as many decimals of the mean.
            assert error == pytest.approx(last.std(ddof=1) / 3, rel=0.05)
            assert mean == pytest.approx(last.mean(), abs=0.051 * error)
            if epsilon is not None:
                assert row["guarantee"] == f"epsilon {entry.level.epsilon:.4g}, central"
                assert entry.level.epsilon == epsilon
    # What a cell is, below: in a paper the header has no room for it.
    text = compared.table("latex", wide=True)
    assert r"algorithm & guarantee & " in text and r"DP-UCB & $\varepsilon=5$, central & " in text
    assert r"is pure up to 30, or else the least at $\delta=10^{-6}$. Bold: " in text
    assert r"\caption{Mean external regret $\pm$ standard error; $\varepsilon$ is" in text
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


def test_latex_takes_greek_letters_infinity_and_totals_with_their_intervals():
    text = latex(["algorithm", "total"], [["DP-UCB (ε=1, δ=0)", "-0.38 [-0.42, 0.01]"], ["epsilon = inf", "1.00"]])
    assert text.splitlines() == [
        r"\begin{tabular}{lr}",
        r"\toprule",
        r"algorithm & total \\",
        r"\midrule",
        r"DP-UCB ($\varepsilon$=1, $\delta$=0) & $-$0.38 [$-$0.42, 0.01] \\",
        r"$\varepsilon=\infty$ & 1.00 \\",
        r"\bottomrule",
        r"\end{tabular}",
    ]


# ---- LaTeX of a paper


def cells_of_latex(text):
    """Return the head and the rows of a table, each as its cells, without the lines of environments."""
    _, rest = text.split("\\toprule\n")
    lines = [line.removesuffix(r" \\") for line in rest.split("\n") if line.endswith(r"\\")]
    return [line.split(" & ") for line in lines if not line.startswith(r"\multicolumn")]


def check_latex(text):
    """Check braces, that each row has as many cells as the table has columns, and that mathtext reads mathematics."""
    plain = re.sub(r"\\[\\{}&%$#_]", "", text)
    depths = list(itertools.accumulate((letter == "{") - (letter == "}") for letter in plain))
    assert min(depths) == 0 == depths[-1]
    columns = re.search(r"\\begin\{tabular\}\{(\w+)\}", text)[1]
    assert {len(cells) for cells in cells_of_latex(text)} == {len(columns)}
    outside, *formulas = re.split(r"(?<!\\)\$", re.sub(r"\\\$", "", text))
    assert len(formulas) % 2 == 0
    for formula in formulas[::2]:
        MathTextParser("path").parse(f"${formula}$")
    outside += "".join(formulas[1::2])
    assert not re.search(r"(?<!\\)[_^#]|\de[-+]\d|\bepsilon\b", outside)
    return columns


GAMES = ["Stochastic:means=[.9,.5]", "Switching"]
PAIR = {"horizon": 300, "trials": 12}


def tables_of(compared):
    ranked = compared.ranking()
    return [
        compared.table("latex"),
        compared.table("latex", wide=True),
        ranked.table("latex"),
        ranked.table_of_pairs("latex"),
    ]


@pytest.fixture(scope="module")
def of_a_paper():
    """Names with letters that LaTeX reads as commands, a delta, and baselines without a guarantee."""
    algorithms = {"UCB": "UCB", "DP_1 & <50 %> {x}~^#$": "DP-UCB-INT", "DP-KLUCB": "DP-KLUCB", "EXP3": "EXP3"}
    return compare(GAMES, algorithms, epsilon=[0.5, 4], delta=1e-6, **PAIR)


@pytest.mark.thorough
def test_latex_is_well_formed_and_its_numbers_stand_right(of_a_paper):
    long, wide, standings, pairs = map(check_latex, tables_of(of_a_paper))
    assert long == "lrrrlrrrr" and wide == "llrr"
    assert standings == "lrrrrrrrl" and pairs == "llrrrrr"
    text = of_a_paper.table("latex", wide=True)
    assert r"$\delta=10^{-6}$, central & " in text and r"DP\_1 \& \textless{}50 \%\textgreater{}" in text


def test_mean_and_error_have_the_same_decimals(of_a_paper):
    for wide in (True, False):
        _, *rows = cells_of_latex(of_a_paper.table("latex", wide=wide))
        for row in rows:
            cells = [cell.removeprefix(r"\textbf{").removesuffix("}") for cell in row]
            pairs = [cell.split(r" $\pm$ ") for cell in cells[2:]] if wide else [cells[-4:-2]]
            for mean, error in pairs:
                assert len(mean.partition(".")[2]) == len(error.partition(".")[2])
                assert len(error.replace(".", "").lstrip("0")) == 2 or float(error) >= 100


@pytest.mark.thorough
def test_the_best_private_one_and_what_cannot_be_told_from_it_are_bold():
    """UCB guarantees nothing, and EXP3 less than was asked for: they are in no competition.

    Two names of one algorithm are equal in every trial.
    """
    algorithms = {"UCB": "UCB", "EXP3": "EXP3", "one": "DP-KLUCB", "other": "DP-KLUCB", "worse": "DP-UCB"}
    compared = compare(GAMES[0], algorithms, epsilon=1, **PAIR)
    for wide in (True, False):
        text = compared.table("latex", wide=wide)
        bold = {cells[0] for cells in cells_of_latex(text) if r"\textbf" in "".join(cells)}
        assert bold == {"one", "other"} and r"Bold: the best of those that guarantee the $\varepsilon$ asked" in text
    alone = compared.select(algorithm="UCB")
    assert r"\textbf" in alone.table("latex", wide=True)
    few = compare(GAMES[0], algorithms, epsilon=1, horizon=300, trials=5).table("latex", wide=True)
    assert "textbf" not in few and "Bold" not in few
    gains = compared.table("latex", wide=True, measure="collected")
    assert {cells[0] for cells in cells_of_latex(gains) if r"\textbf" in "".join(cells)} == {"one", "other"}


def test_a_guarantee_that_all_share_is_said_once():
    same = compare(GAMES, ["DP-KLUCB", "DP-IMED"], epsilon=1, horizon=100, trials=6)
    wide, long = same.table("latex", wide=True), same.table("latex")
    assert cells_of_latex(wide)[0] == ["algorithm", r"\shortstack{Stochastic \\ (means=[0.9, 0.5])}", "Switching"]
    assert wide.count("central") == long.count("central") == 1
    assert r"Guarantee of all: $\varepsilon=1$, central." in wide
    assert r"; $\varepsilon=1$; $\delta=0$; guarantee: central; 6 trials each;" in long
    assert "guarantee" not in cells_of_latex(long)[0]


def test_a_long_table_in_latex_is_narrow(of_a_paper):
    """Of the letters of a line, without commands; 100 of the smallest size are about the width of a page."""
    text = of_a_paper.table("latex")
    head, *rows = cells_of_latex(text)
    titles = [re.sub(r"^\\shortstack\{|\}$", "", cell).split(r" \\ ") for cell in head]
    columns = [[*parts, *(row[n] for row in rows)] for n, parts in enumerate(titles)]
    plain = [[re.sub(r"\\\w+|[{}$^]", "", cell) for cell in column] for column in columns]
    assert sum(max(map(len, column)) + 2 for column in plain) <= 100 and r"\scriptsize" in text
    assert r"\multicolumn{9}{l}{Switching}" in text


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
def test_latex_compiles(of_a_paper, tmp_path):
    body = "\n\n".join(
        [*tables_of(of_a_paper), rf"\begin{{figure}}\caption{{{of_a_paper.plot_note(format='latex')}}}\end{{figure}}"]
    )
    document = rf"\documentclass{{article}}\usepackage{{booktabs}}\begin{{document}}{body}\end{{document}}"
    (tmp_path / "paper.tex").write_text(document, encoding="utf-8")
    words = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "paper.tex"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:]
    assert (tmp_path / "paper.pdf").stat().st_size > 10_000


def test_amounts_are_short():
    assert [amount(value) for value in (12345.6, 1234.56, 12.345, 0.012345, 0.0, math.nan)] == [
        "12,346",
        "1,234.6",
        "12.3",
        "0.0123",
        "0",
        "",
    ]


@pytest.mark.thorough
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


# ---- levels of privacy
FREE = ShownEpsilon(math.inf, 0.0)


def test_levels_in_words():
    for levels, words in [
        ([FREE], "(no privacy)"),
        ([ShownEpsilon(1, 0)], "eps 1"),
        ([ShownEpsilon(1, 1e-10)], "eps 1, delta 1e-10"),
        ([ShownEpsilon(262144, 0)], "eps 262,144"),
        ([ShownEpsilon(1, 1e-6), ShownEpsilon(0.1, 1e-6)], "eps 1 or 0.1, delta 1e-06"),
        ([ShownEpsilon(1, 1e-6), ShownEpsilon(0.1, 0)], "eps 1, delta 1e-06 or eps 0.1"),
        ([ShownEpsilon(epsilon, 0) for epsilon in (0.05, 2, 0.1, 1)], "eps 0.05 to 2"),
        ([ShownEpsilon(1, 0), FREE], "eps 1 or (no privacy)"),
        ([ShownEpsilon(20, 0, exact=True)], "eps 20 with exact noise"),
        ([ShownEpsilon(20, 0, exact=True), ShownEpsilon(1, 0)], "eps 20 with exact noise or eps 1"),
    ]:
        assert format_levels(levels) == words


def test_the_level_of_a_guarantee():
    assert shown_epsilon(PrivacyGuarantee.none("no noise")) == FREE
    # Pure where that was asked for, or is at most 30.
    assert (
        shown_epsilon(PrivacyGuarantee(2.0)) == shown_epsilon(PrivacyGuarantee(2.0, rho=0.001)) == ShownEpsilon(2.0, 0)
    )
    assert shown_epsilon(PrivacyGuarantee(30.0, rho=0.001)) == ShownEpsilon(30.0, 0)
    assert shown_epsilon(PrivacyGuarantee(243.0)) == ShownEpsilon(243.0, 0)
    assert shown_epsilon(PrivacyGuarantee(0.5, delta=1e-4, pure=2.5, rho=0.01)) == ShownEpsilon(2.5, 0)
    # Else the least epsilon at 1e-6, whatever delta was asked for; else the guarantee's own pair.
    assert shown_epsilon(PrivacyGuarantee(50.0, rho=0.01)) == ShownEpsilon(zcdp_epsilon(0.01, 1e-6), 1e-6)
    assert shown_epsilon(PrivacyGuarantee(0.5, delta=1e-4, rho=0.01)) == ShownEpsilon(zcdp_epsilon(0.01, 1e-6), 1e-6)
    assert shown_epsilon(PrivacyGuarantee(0.5, delta=1e-9)) == ShownEpsilon(0.5, 1e-6)
    assert shown_epsilon(PrivacyGuarantee(0.5, delta=1e-4)) == ShownEpsilon(0.5, 1e-4)


def test_a_large_epsilon_with_fast_draws_is_that_of_exact_noise():
    size = {"n_arms": 4, "horizon": 1000}
    small, large = (make_algorithm("DP-EXP3-Lap", epsilon=one).guarantee(**size) for one in (10, 11))
    assert (str(shown_epsilon(small)), str(shown_epsilon(large))) == ("eps 10", "eps 11 with exact noise")
    # Nothing is drawn here but arms.
    drawn = make_algorithm("EXP3-tau", batch_size=9).guarantee(n_arms=4, horizon=2500)
    assert 10 < drawn.pure_epsilon < 30 and str(shown_epsilon(drawn)) == f"eps {drawn.pure_epsilon:.4g}"


@pytest.mark.thorough
def test_exp3_has_one_epsilon_everywhere():
    """In `list`, `show`, a report, a comparison, docs/algorithms.md and its generated page: 85.8 at 1e-6."""
    size = {"n_arms": 4, "horizon": 2**18}
    level = shown_epsilon(make_algorithm("EXP3").guarantee(**size))
    assert level.delta == 1e-6 and level.epsilon == pytest.approx(85.8, abs=0.1)
    line = next(line for line in list_names("algorithms") if line.startswith("  EXP3 "))
    assert f" {level} " in line and any(CONVENTION in line for line in list_names("algorithms"))
    assert f"{level} ({CONVENTION})" in " ".join(describe("algorithm", "EXP3", ALGORITHMS["EXP3"]).split())
    compared = compare("Stochastic", "EXP3", horizon=2**18, trials=1, n_arms=4)
    assert compared[0].level == level
    row = next(line for line in PAGES["docs/algorithms.md"].splitlines() if line.startswith("| `EXP3` |"))
    assert f"| epsilon = {level.epsilon:.3g} at delta = 1e-6 |" in row


# ---- reports
TWO_GAMES = {"environments": ["Stochastic:means=[.9,.5]", "Switching"], "algorithms": ["EXP3", "DP-SE"]}
TWO_GAMES |= {"epsilon": [1, 2], "horizon": 30, "trials": 7}


@pytest.fixture(scope="module")
def in_two_games():
    return compare(**TWO_GAMES)


@pytest.mark.thorough
def test_the_files_are_those_of_the_command_line(tmp_path, monkeypatch):
    """But for the line with the command, and the word for it."""
    monkeypatch.chdir(tmp_path)
    words = "run Stochastic:means=[.9,.5] Switching EXP3 DP-SE --epsilon 1,2 --horizon 30 --trials 7 --out there"
    monkeypatch.setattr(sys, "argv", ["dp-bandit", *words.split()])
    main()
    report = compare(**TWO_GAMES, folder="here").report("here")
    there, here = ({path.name: path.read_bytes() for path in (tmp_path / f).iterdir()} for f in ("there", "here"))
    one, other = (files.pop("report.md").decode().splitlines() for files in (here, there))
    assert here == there
    assert report.text.splitlines() == one
    assert [line for line in one[1:] if "same call" not in line] == [
        line for line in other[3:] if "same command" not in line
    ]


def test_mean_and_error_come_first_in_a_report(in_two_games):
    (head,) = [line for line in in_two_games.report().text.splitlines() if "mean ± s.e." in line]
    columns = [cell.strip() for cell in head.strip("|").split("|")]
    first = columns.index("trials") + 1
    assert columns[first : first + 3] == ["mean ± s.e.", "median / 99 % quantile", "median of means"]
    assert columns.index("median of means") < columns.index("Gini's mean difference below / above")


def test_a_selection_is_reported_alone_and_without_a_folder_nothing_is_written(in_two_games, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    report = in_two_games.select(algorithm="DP-SE", environment="Switching").report()
    assert not list(tmp_path.iterdir()) and report.folder is None
    assert "DP-SE (epsilon=2)" in report.text and "EXP3" not in report.text and "Stochastic" not in report.text
    assert report.numbers["switching/DP-SE (epsilon=1)"]["trials"] == 7
    assert report.notes[0].text == "epsilon = 1 and 2 go to DP-SE."


@pytest.mark.thorough
def test_gains_that_changed_on_the_disk_are_not_read_again(tmp_path):
    np.save(tmp_path / "gains.npy", np.tile([0.25, 0.75], (20, 1)))
    compared = compare(str(tmp_path / "gains.npy"), ["EXP3", "Uniform"], trials=2, seed=1)
    (tmp_path / "gains.npy").unlink()
    report = compared.select(algorithm="EXP3").report(tmp_path / "out")
    assert report.is_written and "The noise can be subtracted." in report.text and "NOT private" in report.text
    assert load(tmp_path / "out")[0].horizon == 20


@pytest.mark.thorough
def test_what_cannot_be_pickled_plays_and_a_copy_and_what_is_loaded_report_the_same(tmp_path):
    compared = compare(["Stochastic", "Switching"], {"mine": lambda: Exp3(), "DP": "DP-SE"}, horizon=20, trials=2)
    copy = pickle.loads(pickle.dumps(compared))
    stored = load(compared.save(tmp_path / "mine"))
    for other in (copy, stored):
        assert other.table() == compared.table()
        assert other.report().text == compared.report().text and other.report().numbers == compared.report().numbers


def test_wrong_words_are_refused_before_anything_is_written(in_two_games, tmp_path):
    for given, words in (
        ({"measure": "regret"}, ("measure", "external_regret")),
        ({"measure": "pseudo_regret"}, ("pseudo_regret", "Switching")),
        ({"band": "wide"}, ("band", "quantiles")),
        ({"against": "arms"}, ("arms",)),
        ({"y_scale": "square"}, ("scale", "log")),
    ):
        with refused(ValueError, *words):
            in_two_games.report(tmp_path / "out", **given)
        assert not (tmp_path / "out").exists()
