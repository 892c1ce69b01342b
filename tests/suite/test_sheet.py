"""What is printed and drawn of cards and of the reference."""

import io

import numpy as np
import pytest

from dp_bandit_envs import suite
from dp_bandit_envs.plots.scores_figure import ScorePanel, scores_figure
from dp_bandit_envs.suite.card import apart_by_errors, totals_of
from dp_bandit_envs.suite.reference import RankedRow, reference
from dp_bandit_envs.suite.scores import exponent_of
from dp_bandit_envs.suite.sheet import (
    ALL_AXES,
    best_of,
    dots_of,
    lines_of_ranking,
    lines_of_reference,
    picture_of_reference,
)
from dp_bandit_envs.suite.task_table import AXES, CORE


def ranked(name, total, rank, low):
    return RankedRow(name, total, low, total + 0.1, rank, 0.05, {"drift": total})


RANKING = [ranked("A", 0.8, 1, 0.7), ranked("B", 0.5, 2, 0.4), ranked("C", 0.1, 3, -0.1), ranked("D", -0.2, 4, -0.3)]


def total_of(agent, total, rank):
    row = {"agent": agent, "total": total, "low": total - 0.1, "high": total + 0.1, "axes": {"drift": total}}
    return {**row, "rank": 1, "field": {"rank": rank, "algorithms": 4}}


def test_an_agent_stands_among_the_best_and_the_rest_is_one_line():
    lines = lines_of_ranking([total_of("mine", 0.6, 2)], RANKING, ["drift"])
    assert [line.split()[:3] for line in lines[:3]] == [["1", "A", "0.80"], ["2", ">", "mine"], ["2", "B", "0.50"]]
    assert lines[3].strip() == "3    2 of the package's 4 algorithms, no better than chance, C the first"
    assert len(lines) == 4
    # An agent stands among those no better than chance by its total, and one of the package's names stands once.
    lines = lines_of_ranking([total_of("A", 0.8, 1), total_of("mine", -0.1, 4)], RANKING, ["drift"])
    assert [line.split()[1:3] for line in lines[:3]] == [[">", "A"], ["B", "0.50"], ["C", "0.10"]]
    assert [line.split()[1:3] for line in lines[3:]] == [[">", "mine"], ["D", "-0.20"]]


def test_every_algorithm_of_the_package_is_counted_once_and_in_order():
    ranking = [ranked(name, 0.9 - index / 10, index + 1, 0.1 - (index > 6)) for index, name in enumerate("ABCDEFGHI")]
    lines = lines_of_ranking([total_of("mine", 0.45, 6), total_of("I", 0.1, 9)], ranking, ["drift"])
    assert [line.split()[:2] for line in lines] == [
        ["1", "A"], ["2", "B"], ["3", "C"], ["4", "2"], ["6", ">"], ["6", "2"], ["8", "H"], ["9", ">"]
    ]  # fmt: skip
    assert "2 of the package's 9 algorithms, D the first" in lines[3]
    assert not any("chance" in line for line in lines)


@pytest.mark.parametrize("failing", [1, len(CORE)])
def test_who_fails_in_a_task_outranks_nobody(failing):
    weak = [{"agent": "weak", "level": 1.0, "task": task, "score": -0.1, "error": 0.01} for task in CORE]
    crashing = [{**cell, "agent": "crashing", "score": 0.5} for cell in weak]
    crashing[:failing] = [{**cell, "score": 0.0, "cannot": "failed"} for cell in crashing[:failing]]
    first, second = totals = totals_of([*crashing, *weak], "tiny", {}, apart_by_errors)
    assert first["total"] > second["total"] and first["failed"] == failing and "failed" not in second
    assert first["rank"] is first["field"] is None and second["rank"] == 1 and second["field"]["rank"] > 1
    lines = lines_of_ranking(totals, RANKING, ["drift"])
    assert lines[-1].split()[:2] == [">", "crashing"] and any("> weak" in line for line in lines[:-1])
    card = suite.ScoreCard({"cells": [*crashing, *weak], "totals": totals})
    assert [row.split(",")[2] for row in card.table("csv").splitlines()[1:]] == ["failed", str(second["field"]["rank"])]


def test_an_agent_that_fails_in_several_ways_has_one_line():
    reasons = ["mine.py:3: KeyError: 2", "mine.py:3: KeyError: 2", "mine.py:5: ValueError: no"]
    cells = [
        {"agent": "mine", "level": 1, "task": task, "score": 0.0, "cannot": "failed", "reason": reason}
        for task, reason in zip(CORE, reasons, strict=False)
    ]
    facts = {"suite": 1, "size": "tiny", "seed": 1, "levels": [1], "totals": [], "growth": [], "audits": []}
    for count, end in ((2, ""), (3, " (and others)")):
        sheet = str(suite.ScoreCard({**facts, "cells": cells[:count]}))
        (line,) = [line for line in sheet.splitlines() if "failed" in line]
        assert line == f"mine at epsilon = 1: failed in {', '.join(CORE[:count])}: {reasons[0]}{end}"


def test_the_reference_is_printed_by_axis_and_the_best_of_an_axis_play_all_its_tasks():
    lines = lines_of_reference("quick")
    assert sum(line.startswith("epsilon = ") for line in lines) == 3
    assert sum(line.split()[:1] == ["switching"] for line in lines) == 3
    (of_axis,) = [line for line in lines_of_reference("quick", "experts") if "DP-KLUCB" in line][:1]
    assert of_axis.count(",") > 10
    names = [name for name, _ in best_of(reference(), "quick", 1.0, "experts")]
    assert "Lazy-Hedge" in names and "DP-KLUCB" in names and "EXP3" not in names
    means = [mean for _, mean in best_of(reference(), "quick", 1.0, ALL_AXES)]
    assert means == sorted(means, reverse=True)


def test_a_picture_names_the_leader_and_the_first_agents_with_a_score():
    cells = [{"agent": name, "level": 1, "score": None if name == "C" else 0.5} for name in "ABCDEF"]
    totals = [{"agent": name, "level": 1, "total": total} for name, total in zip("ABDEF", (1, 2, 3, 9, 4), strict=True)]
    card = suite.ScoreCard({"cells": cells, "totals": totals})
    assert card.named_agents() == ["A", "B", "E"]
    assert suite.ScoreCard({"cells": cells, "totals": totals[:3]}).named_agents() == ["A", "B", "D"]
    assert suite.ScoreCard({"cells": cells[:2], "totals": []}).named_agents() == ["A", "B"]


def test_dots_have_intervals_of_their_axes():
    """An axis with two tasks of errors .1 and .2: sqrt(.05) / 2 = .1118, times 1.96 = .219."""
    cells = {"drift/five-shifts": (0.5, 0.1), "drift/budget": (-3.0, 0.2), "linear/ball": (0.9, 0.1)}
    dots = dots_of(cells, None)
    assert list(dots) == ["drift"]
    assert dots["drift"] == pytest.approx((-0.25, -0.25 - 0.2191, -0.25 + 0.2191), abs=1e-3)


def test_the_picture_has_a_panel_for_each_epsilon_and_a_row_for_each_axis():
    figure = picture_of_reference(["DP-KLUCB", "LDP-UCB-B"])
    assert [place.get_title() for place in figure.axes] == ["ε = 0.1", "ε = 1", "ε = 10"]
    first = figure.axes[0]
    assert [label.get_text() for label in first.get_yticklabels()] == [ALL_AXES, *AXES]
    ticks = next(line for line in first.lines if line.get_label() == "the package's algorithms")
    assert len(ticks.get_xdata()) == len(reference().ranking("quick", 0.1))
    (legend,) = figure.legends
    field, *names = [text.get_text() for text in legend.get_texts()]
    assert field == "the package's algorithms" and [name.partition(":")[0] for name in names] == [
        "DP-KLUCB",
        "LDP-UCB-B",
    ]
    row = next(row for row in reference().ranking("quick", 0.1) if row.name == "DP-KLUCB")
    assert names[0].startswith(f"DP-KLUCB: {row.total:.2f} ({row.rank}), ")


@pytest.mark.parametrize("levels", [[1.0], [0.1, 1.0], [0.1, 1.0, 10.0]])
def test_nothing_is_cut_off_at_the_edge_of_the_picture(levels):
    figure = picture_of_reference(["Batched-Lap-HTINF", "Restarted-AdaP-UCB", "Clipped-Lap (base=TS)"], "quick", levels)
    for drawn in (*figure.legends, *figure.texts):
        box = drawn.get_window_extent()
        assert box.x0 >= 0 and box.x1 <= figure.bbox.x1 and box.y0 >= 0 and box.y1 <= figure.bbox.y1


def test_a_name_is_drawn_as_it_is_written():
    dots = {r"$\frac$ of $5": {"a": (0.5, 0.4, 0.6)}}
    figure = scores_figure([ScorePanel("one", {}, dots)], ["a"], field="others")
    figure.savefig(io.BytesIO())
    assert figure.legends[0].get_texts()[-1].get_text() == r"\$\frac\$ of \$5"


def test_a_row_of_totals_is_set_apart_and_without_totals_none_is_said():
    scores = suite.evaluate("DP-IMED", size="tiny", epsilon=1, tasks=["stochastic/gap-0.3"], progress=False)
    figure = scores.plot()
    assert [label.get_text() for label in figure.axes[0].get_yticklabels()] == ["stochastic"]
    assert not any("rank" in text.get_text() for text in figure.texts)
    apart = [line for line in figure.axes[0].lines if list(line.get_ydata()) == [0.5, 0.5]]
    assert apart == []
    apart = [line for line in picture_of_reference(["DP-IMED"]).axes[0].lines if list(line.get_ydata()) == [0.5, 0.5]]
    assert len(apart) == 1


def test_a_card_at_a_prompt_is_one_line():
    scores = suite.evaluate(
        ["DP-IMED", "UCB"], size="tiny", epsilon=[1, 10, None], tasks=["stochastic/gap-0.3"], progress=False
    )
    assert repr(scores) == "ScoreCard(DP-IMED, UCB at epsilon = 1 and 10 and without privacy: tiny, seed 43)"


def test_scores_beyond_the_axis_are_arrows_at_its_ends():
    dots = {"mine": {"a": (-7.0, -8.0, -6.0), "b": (3.0, 2.0, 4.0)}}
    figure = scores_figure([ScorePanel("one", {"a": [-5.0]}, dots)], ["a", "b"], field="others")
    markers = [line.get_marker() for line in figure.axes[0].lines]
    assert markers.count("<") == markers.count(">") == 1
    low, high = figure.axes[0].get_xlim()
    for line in figure.axes[0].lines:
        assert all(low <= x <= high for x in np.atleast_1d(line.get_xdata()))


@pytest.mark.thorough
def test_a_card_is_printed_drawn_and_ranked():
    scores = suite.evaluate(["DP-IMED", "Uniform"], size="tiny", epsilon=1, progress=False)
    text = str(scores)
    ranking = reference().ranking("tiny", 1.0)
    own = next(row for row in ranking if row.name == "DP-IMED")
    total = scores.totals[0]
    assert total["total"] == pytest.approx(own.total, abs=1e-3)
    assert total["field"]["rank"] <= own.rank and total["field"]["algorithms"] == len(ranking)
    parts = ("> DP-IMED", "> Uniform", "no better than chance", "in games of seed 43")
    assert all(part in text for part in parts)
    assert "audit finds exactly 1" in text and max(map(len, text.splitlines())) < 140
    assert len(scores.plot().axes) == 1
    assert scores.table("csv").splitlines()[1].startswith(f"DP-IMED,1,{total['field']['rank']},")
    assert scores.values["reference"] and set(CORE) <= {cell["task"] for cell in scores.cells}


def test_growth_is_reported_from_this_size_and_smaller_ones():
    task = "stochastic/gap-0.2"
    scores = suite.evaluate("DP-KLUCB", size="quick", tasks=task, epsilon=1, progress=False)
    (growth,) = scores.values["growth"]
    stored = [reference().rows_by_name(size, 1.0)["DP-KLUCB"][task].mean for size in ("tiny", "quick")]
    assert growth["exponent"] == pytest.approx(exponent_of([1024, 8192], stored), abs=1e-3)
    assert list(growth["means"]) == ["1024", "8192"] and f"T^{growth['exponent']:.2f} in {task}" in str(scores)
    assert suite.evaluate("DP-KLUCB", size="tiny", tasks=task, epsilon=1, progress=False).values["growth"] == []


@pytest.mark.thorough
def test_a_narrow_sheet_leaves_out_the_last_axes():
    scores = suite.evaluate("Uniform", size="tiny", epsilon=1, tasks=["stochastic", "graph"], progress=False)
    whole, narrow = (text.splitlines() for text in (str(scores), scores.sheet(70)))
    heads = [next(line for line in lines if line.startswith("rank")) for lines in (whole, narrow)]
    assert heads[0].split()[-2:] == ["stochastic", "graph"] and heads[1].split()[-1] == "stochastic"
    assert len(heads[1]) <= 70 and len(whole) == len(narrow)
