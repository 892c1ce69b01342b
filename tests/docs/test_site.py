"""The documentation's site: every page has its place, every public name its entry, and all of it builds."""

import importlib.util
import re
import subprocess
import sys

import pytest

import dp_bandit_envs
from dp_bandit_envs import algorithm_names
from dp_bandit_envs.course.notebooks import LABS
from dp_bandit_envs.envs.registration import IDS
from tests.docs.test_generated_pages import pages, registry_tables
from tests.tools.pages import PAGES, ROOT, anchors
from tests.tools.site_links import broken


def part(name):
    """Load a module of docs/building."""
    spec = importlib.util.spec_from_file_location(f"site_{name}", ROOT / "docs" / "building" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


navigation, api_pages, search_order = part("navigation"), part("api_pages"), part("search_order")
PLACES = [page for pages in (*navigation.CAPTIONS.values(), *navigation.BELOW.values()) for page in pages]
ROOTS = {"CONTRIBUTING", "SECURITY", "CHANGELOG"}


def test_every_page_has_one_place_in_the_contents_under_its_caption():
    pages = {name.removesuffix(".md") for name in PAGES if name != "README.md"} | ROOTS
    written = [page for page in PLACES if navigation.exists(page) and not page.startswith(navigation.GENERATED)]
    assert sorted([*written, navigation.HOME]) == sorted(pages)
    added = navigation.contents_of(navigation.HOME)
    captions = re.findall(":caption: (.+)", added)
    assert captions == list(navigation.CAPTIONS)
    assert [caption for caption in captions if "," not in caption] == [
        "Tutorials",
        "How-to",
        "Reference",
        "Background",
        "Proofs",
        "Project",
    ]
    assert "\n/docs/first-game\n" in added and "docs/nowhere" not in added
    assert "\n/docs/nowhere\n" not in navigation.contents(["docs/nowhere"])


@pytest.mark.thorough
def test_the_api_has_every_public_name_once_with_a_line_and_its_page_is_made_from_the_code():
    """If the page is old, `python docs/generators tables` writes it again."""
    listed = [name for _, names in api_pages.TOPICS.values() for name in names.split()]
    assert sorted([*listed, "__version__"]) == dp_bandit_envs.__all__
    names = api_pages.subpackages()
    assert {"agents", "metrics", "privacy.counters", "wrappers.vector"} <= set(names) and "cli" not in names
    text = api_pages.pages()
    assert "   privacy.counters\n" in text["index"] and ".. autoclass:: BinaryCounter" in text["privacy.counters"]
    assert PAGES["docs/api.md"] == api_pages.in_markdown()
    assert registry_tables.who_plays_what() in PAGES["docs/api.md"]
    rows = [row for names in api_pages.listed().values() for row in names]
    assert {"compare", "BinaryCounter", "exact_loss"} <= {name for name, _, _ in rows}
    assert [name for name, _, text in rows if not text.endswith((".", "`", "?", ":"))] == []


def test_the_index_of_the_api_can_be_filtered_by_feedback():
    index = api_pages.index_in_html()
    tags = {
        name: kind.split() for kind, name in re.findall(r'data-feedback="([\w ]*)"><td><a [^>]+><code>([^<]+)<', index)
    }
    assert len(tags) > 200
    assert tags["Exp3"] == ["bandit", "graph", "full"] and tags["Ledger"] == [] and tags["Scrible"] == ["payoff"]
    assert tags["DPBandit-Ball-v0"] == ["payoff", "vector"] and tags["DPBandit-Graph-v0"] == ["graph"]
    assert tags["DP-Epochs"] == ["full"] and tags["SCRiBLe"] == ["payoff"] and "graph" in tags["TS-N"]
    script = (ROOT / "docs" / "_static" / "api_filter.js").read_text(encoding="utf-8")
    ids = set(re.findall(r'id="([\w-]+)"', index))
    assert ids == set(re.findall(r'getElementById\("([\w-]+)"\)', script))


def test_the_table_of_the_registry_lists_each_algorithm_where_it_can_play():
    text = registry_tables.who_plays_what()
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines() if line.startswith("| ")][2:]
    named = {name for row in rows for cell in row[3:] for name in re.findall("`([^`]+)`", cell)}
    assert named == set(algorithm_names())
    assert {name for row in rows for name in re.findall("`([^`]+)`", row[0])} == {
        id_.removeprefix("DPBandit-").removesuffix("-v0") for id_ in IDS
    }
    (epochs,) = [row for row in rows if "`DP-Epochs`" in row[3]]
    assert epochs[:2] == ["`Experts`", "the gains of all arms"]


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


def test_the_gallerys_thumbnails_get_a_text():
    nodes = pytest.importorskip("docutils.nodes")
    pytest.importorskip("sphinx")
    thumbnail = nodes.image(uri="examples/images/thumb/sphx_glr_01_first_game_thumb.png", alt="")
    picture = nodes.image(uri="examples/suite.png", alt="Three panels")
    part("plain_words").give_pictures_their_size(None, nodes.paragraph("", "", thumbnail, picture))
    assert thumbnail["alt"] == "Thumbnail of example 1, first game" and "scale" not in thumbnail
    assert picture["alt"] == "Three panels" and picture["scale"] == 100


def test_the_search_answers_the_terms_of_the_glossary_and_every_term_is_linked_from_a_page():
    text, headings = search_order.text(), re.findall(r"^## (.+)$", PAGES["docs/glossary.md"], re.MULTILINE)
    assert len(headings) >= 30 and search_order.PLACE not in text
    assert {heading.lower() for heading in headings} <= set(search_order.terms())
    words = {"group privacy", "curator", "post-processing", "sensitivity", "zcdp", "reward", "neighbouring datasets"}
    assert words <= set(search_order.terms())
    order = (ROOT / "docs" / "_static" / "search_order.js").read_text(encoding="utf-8")
    first = re.findall(r'/, "([\w/-]+)"\]', order)
    assert {"docs/guarantees", "docs/labs"} <= set(first) and all(map(navigation.exists, first))
    links = set(re.findall(r"glossary\.md#([\w-]+)", "\n".join(PAGES.values())))
    own = set(re.findall(r"\]\(#([\w-]+)\)", PAGES["docs/glossary.md"]))
    assert anchors(PAGES["docs/glossary.md"]) - {"glossary"} - links == set() and own <= anchors(
        PAGES["docs/glossary.md"]
    )


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
    for page in ("index", "docs/index", "docs/first-game", "docs/generated/examples/01_first_game"):
        assert (tmp_path / "html" / f"{page}.html").is_file()
    assert broken(tmp_path / "html") == []
    pages_of_site = [path.read_text(encoding="utf-8") for path in (tmp_path / "html" / "docs").rglob("*.html")]
    images = [image for text in pages_of_site for image in re.findall(r"<img\b[^>]*>", text)]
    assert len(images) > 20 and [image for image in images if not re.search(r'alt="[^"]{10,}"', image)] == []
    for lab in LABS:
        page = (tmp_path / "html" / "labs" / f"{lab.name}.html").read_text(encoding="utf-8")
        assert "You said" in page and len(page) < 3_000_000, lab.name
    shown = (tmp_path / "html/docs/generated/api/players.html").read_text(encoding="utf-8")
    assert "the best arm in" in shown and "<math" in shown
