"""Scores by hand, ranks that the games can tell apart, and files in which no name does harm."""

import csv
import dataclasses
import html.parser
import io
import re

import numpy as np
import pytest

from dp_bandit_envs.submitted_code import MOST_LETTERS, Limits, Submission, different, shown, submissions_in
from dp_bandit_envs.tournament.hidden_games import KINDS, SAME_ARM, UNIFORM, HiddenGames
from dp_bandit_envs.tournament.holding import Mean, Tournament, can_tell_apart, places
from dp_bandit_envs.tournament.refereeing import Match
from dp_bandit_envs.tournament.tournament_files import page_of, report_of, summary_of
from tests.tools.refusals import refused

EVIL = "<script>alert(1)</script>|*x*`[a](b)"
FORMULA = '=HYPERLINK("http://a")'


def constant(*values, games=20):
    """Return regrets that are the same in every game of a kind, but for a little noise of their own."""
    rng = np.random.default_rng([abs(int(value)) for value in values])
    return np.array(values)[:, np.newaxis] + rng.normal(0, 1e-3, (len(values), games))


@pytest.fixture(scope="module")
def table():
    regrets = {
        UNIFORM: constant(10.0, 100.0),
        "good": constant(1.0, 30.0),  # (.1 + .3) / 2 = 20 % of what chance loses
        "same": constant(1.0, 30.0),
        "bad": constant(20.0, 200.0),  # 200 %
    }
    return places(regrets, [UNIFORM])


def test_scores_are_shares_of_what_chance_loses(table):
    by_name = {place.name: place for place in table}
    assert by_name["good"].share.value == pytest.approx(0.2, abs=1e-3)
    assert by_name["bad"].share.value == pytest.approx(2.0, abs=1e-3)
    assert by_name[UNIFORM].share.value == pytest.approx(1.0)
    assert [mean.value for mean in by_name["good"].regret] == pytest.approx([1.0, 30.0], abs=1e-2)
    assert all(place.share.low <= place.share.value <= place.share.high for place in table)


def test_players_who_look_at_nothing_score_100_percent_or_more():
    """In the second kind always the same arm loses 5, arms at random 100: 5 counts, and half as much as the first."""
    regrets = {UNIFORM: constant(10.0, 100.0), SAME_ARM: constant(12.0, 5.0), "learns": constant(4.0, 10.0)}
    found = {place.name: place.share.value for place in places(regrets, [UNIFORM, SAME_ARM], [1.0, 0.5])}
    expected = {UNIFORM: (1 + 20 / 2) / 1.5, SAME_ARM: (1.2 + 1 / 2) / 1.5, "learns": (0.4 + 2 / 2) / 1.5}
    assert found == pytest.approx(expected, abs=1e-3)


def test_ranks_are_of_submissions_and_equal_ones_share_them(table):
    ranks = {place.name: (place.rank, place.first, place.last) for place in table}
    assert ranks == {"good": (1, 1, 2), "same": (1, 1, 2), "bad": (3, 3, 3), UNIFORM: (0, 0, 0)}
    assert [place.name for place in table][-1] == "bad"


def test_few_games_cannot_rank_many():
    """Of 2^G signs two are as extreme as all of one sign: 2 / 2^6 times 3 pairs is .09, of 2^8 .02."""
    assert not can_tell_apart(3, 6) and can_tell_apart(3, 8)


def test_without_a_loss_of_chance_there_is_nothing_to_compare_with():
    with refused(ValueError, "--horizon", "--games"):
        places({UNIFORM: constant(-1.0, 3.0), "a": constant(1.0, 1.0)}, [UNIFORM])


def held():
    """Return a tournament among names that mean something to HTML, Markdown and spreadsheets."""
    names = [EVIL, FORMULA]
    number = len(KINDS)
    regrets = {UNIFORM: constant(*[10.0] * number), **{name: constant(*[5.0] * number) for name in names}}
    matches = [Match(Submission(name, name, f"{name}.py", b""), regrets[name], output=EVIL) for name in names]
    bad = "<i>bad"
    matches.append(Match(Submission(bad, bad, f"{bad}.py", b""), None, f"stopped: {EVIL}"))
    games = HiddenGames(50, 3, 20, 0.5, 7)
    return Tournament(games, Limits(1.0, 64), tuple(places(regrets, [UNIFORM])), tuple(matches))


class Tags(html.parser.HTMLParser):
    """The tags and the text of a page."""

    def __init__(self):
        super().__init__()
        self.tags, self.text = [], []

    def handle_starttag(self, tag, attrs):
        """Keep a tag, which must lead nowhere."""
        self.tags.append(tag)
        assert not [value for name, value in attrs if name in ("src", "href")]

    def handle_data(self, data):
        """Keep text."""
        self.text.append(data)


def test_the_page_shows_names_as_they_are_and_needs_no_other_file():
    page = page_of(held(), "dp-bandit tournament <x>")
    read = Tags()
    read.feed(page)
    assert "script" not in read.tags and "img" not in read.tags and "link" not in read.tags
    # The bars have these tags: one for each player.
    assert read.tags.count("i") == 3
    text = " ".join(read.text)
    for shown_there in (
        EVIL,
        FORMULA,
        f"stopped: {EVIL}",
        "seed 7",
        "dp-bandit tournament <x> --seed 7",
        "epsilon = 0.5",
    ):
        assert shown_there in text
    assert "prefers-color-scheme: dark" in page and "width=device-width" in page


def test_a_score_below_zero_has_a_bar_to_the_left_of_zero():
    """From -50 % to 120 %, zero is at 50 / 170 of the width, and the bar of -50 % ends there."""
    one = held()
    best = one.places[0]._replace(share=Mean(-0.5, -0.5, -0.5))
    page = page_of(dataclasses.replace(one, places=(best, *one.places[1:])), "dp-bandit tournament x")
    assert "<i style='left:0.00%;width:29.41%'></i>" in page
    assert page.count("<s style='left:29.41%'></s>") == len(one.places) and "bars to its left are below 0" in page
    assert "<s " not in page_of(one, "x") and "<i style='left:0.00%;width:41.67%'></i>" in page_of(one, "x")


def test_the_report_escapes_and_the_summary_begins_no_formula():
    report = report_of(held(), "dp-bandit tournament x")
    report = re.sub(r"^    .*$", "", report, flags=re.MULTILINE)  # code, which is shown as it is
    assert "<script" not in report
    # Neither a guarantee nor a verdict is claimed for more than it holds for.
    assert "unless agents exchange what they saw" in report and "no test of means alone" in report
    assert "\\*x\\*" in report and "](b)" not in report.replace("\\](b)", "")
    rows = list(csv.reader(io.StringIO(summary_of(held()))))
    assert len({len(row) for row in rows}) == 1
    assert not [cell for row in rows for cell in row if cell.startswith(("=", "@"))]
    assert [row[3] for row in rows[1:]].count(f"'{FORMULA}") == 1


def test_names_are_printable_different_and_not_those_of_references(tmp_path):
    assert shown("a\nb\x1b[31m\udc80") == "a b?[31m?"
    assert different(["A", "a", "a (2)"], ["a"]) == ["A (2)", "a (3)", "a (2) (2)"]
    (tmp_path / ("n" * 200 + ".py")).write_text("")
    (tmp_path / "Uniform.py").write_text("")
    names = [one.name for one in submissions_in(tmp_path, ["uniform"])]
    assert names == ["Uniform (2)", "n" * MOST_LETTERS]
