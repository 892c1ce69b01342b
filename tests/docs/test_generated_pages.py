"""The pages that are made from the code: none is missing, each has all of its parts, and its pictures are sound."""

import importlib.util
import math
import re
import sys
import warnings
from xml.etree import ElementTree

import gymnasium as gym
import numpy as np
import pytest

from dp_bandit_envs import algorithm_names, make_algorithm
from dp_bandit_envs.algorithms import ALGORITHMS
from dp_bandit_envs.envs.registration import GAMES
from dp_bandit_envs.errors import KnownSeedWarning
from dp_bandit_envs.figures.reproduction import FIGURES
from tests.tools.pages import PAGES, ROOT

# Sphinx finds the package beside conf.py; so do we.
spec = importlib.util.spec_from_file_location(
    "generators",
    ROOT / "docs" / "generators" / "__init__.py",
    submodule_search_locations=[str(ROOT / "docs" / "generators")],
)
sys.modules["generators"] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(sys.modules["generators"])

from generators import (  # noqa: E402, F401 (after the lines above; other tests take some from here)
    algorithm_pages,
    bounds,
    docstrings,
    drawings,
    environment_pages,
    lab_pages,
    measured,
    pages,
    papers,
    registry_tables,
    reproduction_pages,
    rule_tables,
    settings,
    shown_games,
)

OURS = [id_ for id_ in GAMES if isinstance(GAMES[id_].adversary, str) or GAMES[id_].adversary is None]
EXP3_THERE = "EXP3 (eps 29.2, delta 1e-06)"
PARTS = ("Rule", "Guarantee", "Regret bound", "Measured", "Differs from the source", "Play it")
MOST_BYTES = 400_000


def drawn(page):
    """Return the drawings of a page: each is small and sound XML, has a text, and nothing black on a dark page."""
    found = re.findall(r"<svg.*?</svg>", page, re.DOTALL)
    for one in found:
        root = ElementTree.fromstring(one)
        assert len(one) < MOST_BYTES and len(root.get("aria-label")) > 10 and root.get("width") is None
        # No rule of a drawing reaches beyond it.
        assert not re.search(r"#000000|#010203|>\*\{", one) and "currentColor" in one
    return found


@pytest.mark.thorough
def test_every_algorithm_has_a_page_with_all_its_parts():
    for name in algorithm_names():
        parts = docstrings.algorithm_parts(ALGORITHMS[name])
        page = algorithm_pages.page(name, "<svg></svg>")
        assert re.findall(r"^## (.+)$", page, re.MULTILINE) == [
            *PARTS[:4],
            *(["What else to know"] if parts.notes else []),
            *PARTS[4:],
        ]
        # The rule, the reason, and the differences are sentences of its docstring; the source is a paper.
        assert len(parts.rule) > 50 and " because " in parts.reason and parts.differs.endswith(".")
        assert all(part in page for part in (parts.rule, parts.reason, parts.differs))
        assert "| source | " in page and settings.SETTINGS[settings.setting_of(name)] in page
        declared = (
            make_algorithm(name).guarantee(n_arms=4, horizon=1000) if settings.setting_of(name) != "points" else None
        )
        if declared is not None:
            assert (declared.model == "none") == parts.reason.startswith("Not private")


@pytest.mark.thorough
def test_every_algorithm_is_measured_where_it_can_play_beside_one_without_privacy():
    for name in algorithm_names():
        assert settings.TWINS.get(name, name) in ALGORITHMS
        for game in settings.GAMES[settings.setting_of(name)]:
            env = gym.make(game.id, **game.arguments)
            assert make_algorithm(name).refusal(env) is None
            # Points have a leader without noise in place of Hedge, which plays arms only.
            twin = make_algorithm(settings.TWINS.get(name, name))
            assert (twin.refusal(env) is None) == (twin.name != "Hedge" or game is not settings.BALL)
            env.close()
        private = settings.can_be_calibrated(name)
        assert private == (name in settings.TWINS) or settings.setting_of(name) == "graph"


def test_every_environment_can_be_shown():
    for id_ in OURS:
        one, parts = shown_games.shown(id_), docstrings.headings(GAMES[id_].env_class)
        assert GAMES[id_].name in shown_games.SHOWN
        assert {"Description", "Arguments", "References", *environment_pages.OWN_PARTS} <= set(parts)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", KnownSeedWarning)
            env = gym.make(id_, **one.values)
        assert 500 <= env.get_wrapper_attr("horizon") <= 20_000
        for name, parameters in one.players:
            assert make_algorithm(name, **parameters).refusal(env) is None
        compile(environment_pages.code(id_, one), id_, "exec")
        assert environment_pages.first_line(id_).endswith(".") and len(environment_pages.first_line(id_)) < 160


@pytest.mark.thorough
def test_the_page_of_one_environment(monkeypatch):
    row = shown_games.PageGame("means=[0.9, 0.2, 0.1], horizon=600")
    monkeypatch.setitem(shown_games.SHOWN, "Stochastic", row)
    id_ = "DPBandit-Stochastic-v0"
    pictures = environment_pages.pictures_of(id_)
    page, index = environment_pages.page(id_, pictures), environment_pages.index({id_: pictures})
    game, gains = drawn(page)
    # Texts are drawn as paths, and stand beside them as comments.
    assert "EXP3 (eps" in game and "Uniform (eps 0)" in game and "Average gain of each arm" in gains
    assert ["arm 0" in one for one in (game, gains)] == [True, True]
    assert "| `horizon` | `2**18` | Number of rounds T, at least 1. |" in page
    assert "Tossou and Dimitrakakis (2017)" in page and "means=[0.9, 0.2, 0.1], horizon=600" in page
    assert '<a class="card" href="stochastic.html">' in index and "coin" in index and len(drawn(index)) == 1
    # The totals are those of the game that was played: its regret follows from them and from the arms.
    game = environment_pages.games_of(id_)[0]
    collected = np.diff(game.totals, axis=0)[np.arange(600), game.actions.astype(int)].sum()
    assert math.isclose(game.totals[-1].max() - collected, game.regret[-1], abs_tol=1e-9)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("id_", "arguments", "player", "words"),
    [
        ("DPBandit-Ball-v0", "dimension=2, horizon=200", "DP-FTRL", "best fixed point|Gain vectors of rounds 1 to 200"),
        ("DPBandit-Simplex-v0", "dimension=3, horizon=200", "DP-FTRL", "expert 2|Sum of the gain vectors"),
        ("DPBandit-Graph-v0", "horizon=200", "TS-N", "plays of TS-N|The feedback graph"),
        ("DPBandit-Switching-v0", "n_arms=9, horizon=200", "EXP3", "Arms that EXP3 plays|Gains in rounds 1 to 60"),
    ],
)
def test_pictures_of_each_kind_of_game(id_, arguments, player, words, monkeypatch):
    row = shown_games.PageGame(arguments, ((player, {}),))
    monkeypatch.setitem(shown_games.SHOWN, GAMES[id_].name, row)
    pictures = environment_pages.pictures_of(id_)
    found = drawn("".join(pictures[:3]))
    assert len(found) == 3 and all(each in one for each, one in zip(words.split("|"), found, strict=False))


def test_captions_speak_of_private_algorithms_only_where_there_are_some():
    assert "real guarantee is epsilon = 1 and 0.1" in algorithm_pages.caption("DP-TS")
    assert "Private relatives" in algorithm_pages.caption("UCB")
    assert "rivate" not in algorithm_pages.caption("TS-N") + algorithm_pages.caption("Uniform")


@pytest.mark.thorough
def test_a_measured_curve():
    game = settings.RHYTHMS
    lines = measured.lines_for("DP-EXP3-Lap", game, trials=2)
    assert [one.label for one in lines] == [
        "DP-EXP3-Lap (eps 1)",
        "DP-EXP3-Lap (eps 0.1)",
        EXP3_THERE,
        "Uniform (eps 0)",
    ]
    assert lines[-1].samples.shape == (2, measured.CHECKPOINTS) and lines[-1].at[-1] == settings.HORIZON
    (picture,) = drawn(drawings.curve_picture("curve", [(game, lines)]))
    assert 'id="curve"' in picture


def test_a_bound_is_traced_to_the_function_that_has_its_proof():
    value, functions = bounds.traced(lambda: make_algorithm("EXP3").regret_bound(n_arms=4, horizon=10_000))
    assert [one.__name__ for one in functions] == ["exp3_regret_bound"]
    # 2 sqrt((e - 1) T K ln K)
    assert math.isclose(value, 2 * math.sqrt((math.e - 1) * 10_000 * 4 * math.log(4)))


def test_docstrings_become_markdown_by_hand_and_arguments_a_table_where_each_has_a_line():
    assert (
        docstrings.prose("a gain in [0, 1],\nby :math:`x_1` and `a[0]`") == r"a gain in \[0, 1\], by $x_1$ and `a[0]`"
    )
    assert docstrings.paragraph(".. math:: a \\\n          b") == "```{math}\na \\ b\n```"
    assert docstrings.paragraph("- one\n  more\n- two") == "- one more\n- two"
    assert docstrings.paragraph("* one\n  more\n* two") == "- one more\n- two"
    listed = "`horizon=9`: Number of rounds,\n    at least 1.\n`gap`: In [0, 1]."
    assert environment_pages.arguments(listed).splitlines()[2:] == [
        "| `horizon` | `9` | Number of rounds, at least 1. |",
        r"| `gap` | none | In \[0, 1\]. |",
    ]
    told = "`horizon=9`: rounds, and\n`gap=1`: how far."
    assert environment_pages.arguments(f"Both matter.\n{told}").startswith("Both matter. `horizon=9`")
    assert environment_pages.arguments("`a=1`: one\nor two.\n`b=2`: b.\n`c=3`: c.") == (
        "- `a=1`: one or two.\n- `b=2`: b.\n- `c=3`: c."
    )


@pytest.mark.thorough
def test_what_is_kept_is_made_again_when_its_key_changes(tmp_path):
    made = iter("abc")
    texts = [pages.kept("one", lambda: next(made), folder=tmp_path, depends=text) for text in ("1", "1", "2", "1")]
    assert texts == ["a", "a", "b", "c"]


def test_every_figure_has_its_page_with_picture_command_and_what_was_found():
    assert {f"docs/reproductions/{name}.md" for name in reproduction_pages.PAGES} == {
        name for name in PAGES if name.startswith("docs/reproductions/")
    }
    assert set(reproduction_pages.PAGES) == {name for name, figure in FIGURES.items() if not figure.options}
    for name in reproduction_pages.PAGES:
        text = PAGES[f"docs/reproductions/{name}.md"]
        assert f"dp-bandit reproduce {name}" in text and "benchmarks.md" in text
        picture = re.search(r"!\[.*?\]\(\.\./\.\./(examples/[\w-]+\.png)\)", text)
        assert picture is not None and (ROOT / picture[1]).is_file()


def run(code):
    """Run the code of a page."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", KnownSeedWarning)
        exec(compile(code, "page", "exec"), {})


@pytest.mark.parametrize("name", ["DP-KLUCB", "AS-SCRiBLe", "Lazy-Hedge"])
def test_the_code_of_an_algorithms_page_runs(name, capsys):
    run(algorithm_pages.code(name))
    assert "epsilon" in capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.parametrize("name", algorithm_names())
def test_the_code_of_every_algorithms_page_runs(name, capsys):
    run(algorithm_pages.code(name))
    assert len(capsys.readouterr().out.splitlines()) >= 2


@pytest.mark.slow
@pytest.mark.parametrize("id_", OURS)
def test_the_page_of_every_environment(id_, capsys):
    games, pictures = environment_pages.games_of(id_), environment_pages.pictures_of(id_)
    page = environment_pages.page(id_, pictures)
    assert len(drawn(page + pictures.thumbnail)) == 3
    run(re.search(r"```python\n(.*?)```", page, re.DOTALL)[1])
    # The code of the page is the game in its pictures.
    printed = float(capsys.readouterr().out)
    assert GAMES[id_].name == "Trial" or math.isclose(printed, games[0].regret[-1], rel_tol=1e-9, abs_tol=1e-9)


@pytest.mark.slow
def test_all_pages_are_written_and_every_card_leads_to_one(tmp_path):
    pages.write_all(tmp_path)
    for index, names in (
        ("environments", map(environment_pages.slug, GAMES)),
        ("algorithms", map(str.lower, ALGORITHMS)),
    ):
        text = (tmp_path / index / "index.md").read_text(encoding="utf-8")
        for name in names:
            assert (tmp_path / index / f"{name}.md").is_file() and name in text
    assert (tmp_path / "rules.md").is_file() and (tmp_path / "html" / "labs" / "counters.html").is_file()
