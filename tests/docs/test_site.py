"""The documentation's site: every page has its place, every public name its entry, and all of it builds."""

import base64
import importlib.util
import io
import re
import subprocess
import sys
import types

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
ROOTS = {"README", "ERRATA", "CONTRIBUTING", "CHANGELOG"}


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
    packages = [ROOT / "dp_bandit_envs", ROOT / "agents", ROOT / "wrappers"]
    found = [path.parent for package in packages for path in package.rglob("__init__.py")]
    files = [(folder, folder / "__init__.py") for folder in found]
    files += [(path.with_suffix(""), path) for path in packages[0].glob("[!_]*.py")]
    names = {
        ".".join(name.relative_to(ROOT).parts).removeprefix("dp_bandit_envs").removeprefix(".")
        for name, path in files
        if "__all__ = [" in path.read_text(encoding="utf-8")
    }
    # The command line has a page of its own.
    assert names - {"", "cli"} == set(api_pages.SUBPACKAGES)
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


def test_what_a_lab_shows_has_no_scripts(monkeypatch):
    """A slider at 1, a choice of which the first is made, a formula and a picture, as marimo writes them."""
    pytest.importorskip("latex2mathml")
    monkeypatch.syspath_prepend(ROOT / "docs")
    slider = """<marimo-slider data-initial-value='0' data-steps='[0.5, 1.0]' data-label='"epsilon"'></marimo-slider>"""
    radio = """<marimo-radio data-initial-value='"a"' data-options='["a", "b"]' data-label='"Which?"'></marimo-radio>"""
    shown = pages.lab_pages.still(
        f"<span><h2 id='x'>Try</h2><marimo-ui-element>{slider}{radio}</marimo-ui-element></span>"
    )
    assert shown.startswith("## Try\n") and "marimo" not in shown
    assert '<div class="control">epsilon <b>0.5</b></div>' in shown and "<li><b>a</b></li><li>b</li>" in shown
    assert shown.count("<div") == shown.count("</div>")
    (lab,) = (one for one in LABS if one.name == "counters")
    assert pages.lab_pages.linked(f"| 4 | `{lab.name}` |") == "| 4 | [`counters`](/docs/generated/labs/counters.md) |"


def test_a_labs_first_slider_shows_one_of_its_states(monkeypatch):
    """Three values, the second at first; headings stay, and pictures have few colours."""
    pytest.importorskip("latex2mathml")
    image = pytest.importorskip("PIL.Image")
    monkeypatch.syspath_prepend(ROOT / "docs")
    slider = pages.lab_pages.slider(types.SimpleNamespace(label_shown="epsilon", value=1.0), [0.5, 1.0, 2.0])
    assert 'max="2"' in slider and 'value="1"' in slider and "<output>1.0</output>" in slider
    written = io.BytesIO()
    image.linear_gradient("L").convert("RGB").save(written, "png")
    picture = f'<img src="data:image/png;base64,{base64.b64encode(written.getvalue()).decode()}">'
    shown = pages.lab_pages.moving(slider, [f"<h2>Try it</h2><p>{each}</p>{picture}" for each in "abc"], 1)
    assert shown.startswith("## Try it") and shown.count("Try it") == 1 and shown.count("lab-slider") == 1
    assert re.findall(r'<div data-state="(\d)"( hidden)?><p>(\w)', shown) == [
        ("0", " hidden", "a"),
        ("1", "", "b"),
        ("2", " hidden", "c"),
    ]
    found = re.findall(r'src="data:image/png;base64,([^"]+)"', shown)
    assert [len(image.open(io.BytesIO(base64.b64decode(each))).getcolors()) for each in found] == [64] * 3


def test_every_labs_page_has_its_question_as_its_only_description(tmp_path):
    pytest.importorskip("sphinx")
    building = str(ROOT / "docs" / "building")
    settings = f"import sys\nsys.path.insert(0, {building!r})\nextensions = ['myst_parser', 'heads_and_pictures']\n"
    (tmp_path / "conf.py").write_text(settings, encoding="utf-8")
    for lab in LABS:
        text = f"{pages.lab_pages.head(lab)}\n\n# {lab.title}\n\nThe same words stand on all of these pages.\n"
        (tmp_path / f"{lab.name}.md").write_text(text, encoding="utf-8")
    made = [sys.executable, "-m", "sphinx", "-q", "-b", "html", tmp_path, tmp_path / "html"]
    subprocess.run([*made, "-D", f"master_doc={LABS[0].name}"], check=True, capture_output=True)
    for place, lab in enumerate(LABS, 1):
        page = (tmp_path / "html" / f"{lab.name}.html").read_text(encoding="utf-8")
        (found,) = re.findall(r'<meta [^>]*name="description"[^>]*>', page)
        assert f'content="{lab.question} Lab {place} of a course' in found


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
        page = (tmp_path / "html" / "docs" / "generated" / "labs" / f"{lab.name}.html").read_text(encoding="utf-8")
        assert "data-state=" in page and len(page) < 3_000_000, lab.name
        assert 'href="../../../docs/' in page
    shown = (tmp_path / "html/docs/generated/api/players.html").read_text(encoding="utf-8")
    assert "the best arm in" in shown and "<math" in shown
