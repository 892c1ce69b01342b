"""The code of the README, of every page of docs/ and of docstrings runs, and their commands and links are right."""

import ast
import doctest
import importlib.util
import re
import shlex
import subprocess
import sys
import tomllib

import gymnasium as gym
import numpy as np
import pytest
import typer
from typer.testing import CliRunner

import dp_bandit_envs
from dp_bandit_envs import compare, load
from dp_bandit_envs.algorithms import ALGORITHMS
from dp_bandit_envs.cli.app import app
from dp_bandit_envs.envs.registration import GAMES
from tests.docs.test_generated_pages import papers
from tests.tools.pages import NEIGHBOURS, OURS, PAGES, ROOT, blocks, lines, prose, run, save_files, small

# tests/cli/test_real_data.py follows the first: its commands read what its Python writes.
# The second needs a cluster; tests/faults/test_cluster.py starts one.
FOLLOWED = {"docs/real-data.md", "docs/cluster.md"}
ALONE = [name for name in OURS if name not in FOLLOWED]
COMMANDS = sorted({line for name in OURS for line in lines(name, "dp-bandit ")})
# The figures are drawn small in tests/cli/test_command_line.py; test_grade.py grades, and test_suite_command.py scores.
ELSEWHERE = ("dp-bandit reproduce ", "dp-bandit grade ", "dp-bandit suite ")
CHEAP = sorted({line for name in ALONE for line in lines(name, "dp-bandit ") if not line.startswith(ELSEWHERE)})
PLAIN = re.compile(
    r"source \.venv/bin/activate|\.venv\\Scripts\\Activate\.ps1|(python3|py) -m venv \.venv"
    r"|pip install ['\"]?[\w.-]*(\[\w+\])?( @ git\+<address>)?['\"]?"
)
NO_PAPER = re.compile("Python|AAAI|ICML|FORC|January|Intel|Zen")
MADE_HERE = ("make ", "dp-bandit ", "python examples/", "marimo export ")  # the last in tests/labs/test_notebooks.py
WITH_PYTHON = [name for name in ALONE if blocks(name, "python")]


@pytest.mark.thorough
@pytest.mark.slow_cases("docs/notes/exp3-privacy.md", "docs/notes/own-norm-noise.md", "docs/notes/thompson-privacy.md")
@pytest.mark.parametrize("name", WITH_PYTHON)
def test_python_blocks_run_from_top_to_bottom(name, tmp_path, monkeypatch, capsys):
    """With shorter and fewer games."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    for module in save_files(blocks(name, "python"), tmp_path):
        monkeypatch.delitem(sys.modules, module, raising=False)
    run(*map(small, blocks(name, "python")))
    assert capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.parametrize("name", WITH_PYTHON)
def test_python_blocks_run_as_they_are_written(name, tmp_path):
    code = "\n\n".join(blocks(name, "python"))
    save_files(blocks(name, "python"), tmp_path)
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], cwd=tmp_path, capture_output=True, encoding="utf-8"
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout


def test_parts_of_ones_own_can_be_pasted_into_one_file():
    """No two of the pages define a function or a class of the same name."""
    pages = [f"docs/own-{part}.md" for part in ("agent", "adversary", "mechanism")]
    trees = [ast.parse(block).body for name in pages for block in blocks(name, "python")]
    defined = [part.name for body in trees for part in body if isinstance(part, (ast.ClassDef, ast.FunctionDef))]
    assert len(defined) > 6 and [name for name in defined if defined.count(name) > 1] == []


def test_every_block_and_every_line_for_a_shell_is_one_that_is_checked():
    for name in PAGES:
        assert set(blocks(name)) <= {"python", "bash", "powershell"} or name not in OURS
        assert PAGES[name].count("```") == 2 * len(blocks(name))
    for name in OURS:
        assert [line for line in lines(name) if not line.startswith(MADE_HERE) and not PLAIN.fullmatch(line)] == []


def test_named_examples_are_all_there_are_and_extras_that_pages_name_exist():
    named = {line.split()[1] for name in OURS for line in lines(name, "python examples/")}
    assert named == {path.relative_to(ROOT).as_posix() for path in (ROOT / "examples").glob("*.py")}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    everything = "\n".join(PAGES[name] for name in OURS)
    lists = re.findall(r"(?:\.|dp-bandit-envs)\[([\w,]+)\]", everything)
    named = {extra for one in lists for extra in one.split(",")} | set(re.findall(r"extra `([\w-]+)`", everything))
    table = re.findall(r"^\| (.+?) \|", "\n".join(PAGES["docs/install.md"].split("| extra |")[1:]), re.MULTILINE)
    named |= {extra for cell in table for extra in re.findall(r"`([\w-]+)`", cell)}
    assert {"all", "fast", "sb3"} <= named
    assert named <= set(project["optional-dependencies"])


@pytest.mark.thorough
def test_commands_can_be_parsed():
    for line in COMMANDS:
        name, *words = shlex.split(line)[1:]
        typer.main.get_command(app).commands[name].make_context(name, words).close()


@pytest.mark.thorough
@pytest.mark.slow_cases("dp-bandit audit AdaP-UCB --epsilon 1 --games 1000")
@pytest.mark.parametrize("line", CHEAP)
def test_commands_run_at_a_small_size(line, tmp_path, monkeypatch):
    words = shlex.split(line)[1:]
    if words[:2] == ["show", "results/mine"]:
        monkeypatch.chdir(tmp_path)
        mine = compare(["Stochastic", "Switching"], "DP-KLUCB", epsilon=[0.1, 1], horizon=50, trials=2, progress=False)
        mine.save("results/mine")
    if words[0] == "lab":
        words = ["list", "labs"]  # opens no browser
    if words == ["compile"]:
        words += ["Stochastic", "Uniform"]  # all take minutes
    if words[0] == "audit":
        words += ["--games", "100"]
    if words[0] == "run":
        # Two horizons would both be played; of the others, the last one given counts.
        line = re.sub(r" --horizon \S+", "", line)
        words = [*shlex.split(line)[1:], "--trials", "2", "--horizon", "300", "--jobs", "1"]
        words += ["--out", str(tmp_path / "results")]
    done = CliRunner().invoke(app, words, catch_exceptions=False)
    assert done.exit_code == 0
    assert words[0] != "run" or (tmp_path / "results" / "report.md").is_file()


def test_every_page_is_linked_from_the_index():
    index = {(ROOT / "docs" / link).resolve() for link in re.findall(r"\]\(([^)#\s]+)\)", PAGES["docs/index.md"])}
    others = [name for name in PAGES if name not in ("docs/index.md", "README.md")]
    assert [name for name in others if (ROOT / name).resolve() not in index] == []


@pytest.mark.thorough
def test_every_picture_has_a_text_and_every_paper_a_link():
    for name in PAGES:
        text = PAGES[name]
        assert [words for words in re.findall(r"!\[(.*?)\]\(", text) if len(words) < 40] == []
        assert papers.in_markdown(text) == text
        rest = papers.KEPT.sub(" ", prose(text))
        assert [
            found for found in re.findall(r"[A-Z][\w-]+ \(?(?:19|20)\d\d\b\)?", rest) if not NO_PAPER.match(found)
        ] == []


@pytest.mark.thorough
def test_a_results_folder_has_the_files_and_columns_of_its_page(tmp_path):
    page, place = PAGES["docs/results-folder.md"], tmp_path / "results"
    compare("Stochastic", ["UCB", "DP-TT"], epsilon=1, horizon=50, trials=2, progress=False).report(place)

    def named(heading):
        """Return what stands in backticks in the first column of the table below a heading."""
        table = page.partition(heading)[2].partition("\n\n| ")[2].partition("\n\n")[0]
        return {
            word
            for line in table.splitlines()
            for word in re.findall(r"`([^`]+)`", line.split("|")[1 - (line[0] != "|")])
        }

    assert named("# Read a results folder") == {path.name for path in place.iterdir() if path.name[0] != "."}
    assert named("## The columns of") == set((place / "summary.csv").read_text().splitlines()[0].split(","))
    with np.load(place / "results.npz") as arrays:
        measures = {key.rpartition("/")[2] for key in arrays} - {"checkpoints", "manifest.json"}
    # The dynamic regret is another one only where means move.
    assert named("## The arrays of") == measures | {"dynamic_regret"} and "dynamic_regret" not in measures
    columns = page.partition("## In pandas")[2].partition("##")[0]
    assert [name for name in load(place).to_pandas() if f"`{name}`" not in columns and name not in measures] == []


def test_the_readme_is_a_first_screen_and_the_pages_to_read_are_short():
    assert len(PAGES["README.md"].splitlines()) <= 110
    table = PAGES["README.md"].partition("## I want to ...")[2].partition("\n\n[")[0]
    assert 3 < len(re.findall(r"^\| (?!---|I want)", table, re.MULTILINE)) <= 12
    # Pages of tables that are made or long by their nature do not count: errata, the API, the glossary, the suite.
    long = {"docs/errata.md", "docs/api.md", "docs/glossary.md", "docs/suite.md"}
    words = {name: len(text.split()) for name, text in PAGES.items() if name.count("/") == 1 and name not in long}
    assert sum(words.values()) <= 20_000, words


NAMES = [name for name in dp_bandit_envs.__all__ if name != "__version__"]


@pytest.fixture
def registers_as_before():
    """Take away what an example adds to the tables of this process."""
    tables = (gym.registry, ALGORITHMS, GAMES)
    before = [dict(table) for table in tables]
    yield
    for table, rows in zip(tables, before, strict=True):
        table.clear()
        table.update(rows)


@pytest.mark.thorough
@pytest.mark.parametrize("name", NAMES)
def test_the_example_of_a_docstring_prints_what_it_says(name, registers_as_before):
    thing = getattr(dp_bandit_envs, name)
    found = doctest.DocTestParser().get_doctest(thing.__doc__ or "", {}, name, None, None)
    assert len(found.examples) >= 2 and "Example:" in thing.__doc__
    assert any(example.want for example in found.examples)
    told = []
    doctest.DocTestRunner(verbose=False).run(found, out=told.append)
    assert not told, "".join(told)


ADAPTERS = [name[len(NEIGHBOURS) : -3] for name in PAGES if name.startswith(NEIGHBOURS)]
NEEDS = {
    "cleanrl": "torch",
    "mabwiser": "mabwiser",
    "minari": "minari",
    "river": "river",
    "stable-baselines3": "stable_baselines3",
    "torchrl": "torchrl",
    "vowpal-wabbit": "vowpalwabbit",
}
"""The package that a page's code needs; the others need none."""


@pytest.mark.thorough
@pytest.mark.slow_cases(
    "cleanrl", "foreign-environments", "mabwiser", "stable-baselines3", "text-observations", "torchrl"
)
@pytest.mark.parametrize("name", ADAPTERS)
def test_the_code_of_an_adapters_page_runs(name, tmp_path):
    """Its blocks run from top to bottom in one process, with warnings as errors."""
    if name in NEEDS and importlib.util.find_spec(NEEDS[name]) is None:
        pytest.skip(f"{NEEDS[name]} is not installed; pip install 'dp-bandit-envs[neighbours]'")
    code = "\n\n".join(blocks(f"{NEIGHBOURS}{name}.md", "python"))
    command = [sys.executable, "-W", "error", "-c", code]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, encoding="utf-8")
    assert done.returncode == 0, done.stderr
    assert done.stdout


def test_every_page_of_an_adapter_states_the_guarantee_and_the_limits():
    assert len(ADAPTERS) == 10 and set(NEEDS) <= set(ADAPTERS)
    for name in ADAPTERS:
        text = PAGES[f"{NEIGHBOURS}{name}.md"]
        assert text.count("**Guarantee.**") == text.count("**Limits.**") >= 1, name
