"""The documentation's site: every page has its place, every public name its entry, and all of it builds."""

import importlib.util
import re
import subprocess
import sys

import pytest

import dp_bandit_envs
from dp_bandit_envs.course.notebooks import LABS
from tests.docs.test_generated_pages import pages
from tests.tools.pages import PAGES, ROOT
from tests.tools.site_links import broken


def part(name):
    """Load a module of docs/building."""
    spec = importlib.util.spec_from_file_location(f"site_{name}", ROOT / "docs" / "building" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


navigation, api_pages = part("navigation"), part("api_pages")
PLACES = [page for pages in (*navigation.CAPTIONS.values(), *navigation.BELOW.values()) for page in pages]
ROOTS = {"README", "CONTRIBUTING", "CHANGELOG"}


def test_every_page_has_one_place_in_the_contents():
    pages = {name.removesuffix(".md") for name in PAGES} | ROOTS
    written = [page for page in PLACES if navigation.exists(page) and not page.startswith(navigation.GENERATED)]
    assert sorted([*written, navigation.HOME]) == sorted(pages)


def test_the_contents_are_added_to_the_first_page_under_their_captions():
    added = navigation.contents_of(navigation.HOME)
    assert re.findall(":caption: (.+)", added) == list(navigation.CAPTIONS)
    assert "\n/docs/first-game\n" in added and "docs/nowhere" not in added
    assert "\n/docs/nowhere\n" not in navigation.contents(["docs/nowhere"])


def test_the_api_has_every_public_name_once():
    listed = [name for _, names in api_pages.TOPICS.values() for name in names.split()]
    assert sorted([*listed, "__version__"]) == dp_bandit_envs.__all__


def test_the_api_has_every_subpackage_with_public_names():
    names = api_pages.subpackages()
    assert {"agents", "metrics", "privacy.counters", "wrappers.vector"} <= set(names) and "cli" not in names
    text = api_pages.pages()
    assert "   privacy.counters\n" in text["index"] and ".. autoclass:: BinaryCounter" in text["privacy.counters"]


def test_every_formula_of_a_docstring_can_be_written():
    pytest.importorskip("latex2mathml")
    mathml = part("math_in_html").mathml
    sources = [path for folder in ("dp_bandit_envs", "agents", "wrappers") for path in (ROOT / folder).rglob("*.py")]
    text = "\n".join(path.read_text(encoding="utf-8") for path in sources)
    formulas = [one for one in re.findall(r":math:`([^`\[]+)`", text) if "formula" not in one]
    assert len(formulas) > 300
    assert all(mathml(formula).startswith("<math") for formula in set(formulas))
    assert mathml(r"\alpha \ln t").count("<mspace") == 2 and "<mspace" not in mathml(r"\ln(t) + \log_2(t)")
    with pytest.raises(ValueError, match="bogus"):
        mathml(r"\bogus x")


def test_words_that_the_search_answers_with_a_page_have_one():
    order = (ROOT / "docs" / "_static" / "search_order.js").read_text(encoding="utf-8")
    first = re.findall(r'/, "([\w/-]+)"\]', order)
    assert {"docs/guarantees", "docs/labs"} <= set(first) and all(map(navigation.exists, first))


def test_links_that_lead_nowhere_are_found(tmp_path):
    (tmp_path / "other.html").write_text('<p id="there">', encoding="utf-8")
    links = ("other.html", "other.html#there", "#here", "https://elsewhere.org/x#y", "other.html#gone", "gone.png")
    text = "".join(f'<a href="{link}">' for link in links) + '<h1 id="here">'
    (tmp_path / "one.html").write_text(text, encoding="utf-8")
    assert broken(tmp_path) == ["one.html: other.html#gone", "one.html: gone.png"]


def test_the_courses_page_leads_to_every_lab():
    text = pages.lab_pages.linked(PAGES["docs/labs.md"])
    assert all(f'<a href="../labs/{lab.name}.html">' in text for lab in LABS)


@pytest.mark.slow
def test_the_site_builds_without_a_warning(tmp_path):
    pytest.importorskip("sphinx")
    build = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-b", "html", "-c", "docs", "-d", tmp_path / "trees"]
    done = subprocess.run([*build, ".", tmp_path / "html"], cwd=ROOT, capture_output=True, encoding="utf-8")
    assert done.returncode == 0, done.stderr
    for page in ("index", "README", "docs/first-game", "docs/generated/examples/01_first_game"):
        assert (tmp_path / "html" / f"{page}.html").is_file()
    assert broken(tmp_path / "html") == []
    for lab in LABS:
        page = (tmp_path / "html" / "labs" / f"{lab.name}.html").read_text(encoding="utf-8")
        assert "You said" in page and len(page) < 3_000_000, lab.name
    shown = (tmp_path / "html/docs/generated/api/players.html").read_text(encoding="utf-8")
    assert "the best arm in" in shown and "<math" in shown
