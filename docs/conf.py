"""Sphinx's settings for the site that `make docs` builds from docs/, the examples and the code.

The source folder is the repository, so that the links between the pages are the same there and here.
"""

import os
import sys
from pathlib import Path

# PyTorch on small networks: on a busy machine several threads wait for each other, six times as long.
os.environ.setdefault("OMP_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).parent))

from building import api_pages, navigation, search_order
from generators import lab_pages
from sphinx_gallery import gen_gallery

import dp_bandit_envs

# A folder with a README is a gallery to sphinx-gallery; examples/labs has one for teachers, and pages made elsewhere.
gen_gallery.get_subsections = lambda *_, **__: []

ROOT = navigation.ROOT
project = "dp-bandit-envs"
version = release = dp_bandit_envs.__version__
author = "the authors of dp-bandit-envs"
project_copyright = author

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
    "building.heads_and_pictures",
    "building.math_in_html",
    "building.plain_words",
    "generators.pages",
]
root_doc = navigation.HOME
include_patterns = ["CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", "docs/**"]
exclude_patterns = [
    ".*",
    "docs/_build",
    "docs/_static",
    "docs/building",
    "docs/generators",
    "docs/generated/examples/*.ipynb",
]

myst_heading_anchors = 6
myst_enable_extensions = ["dollarmath"]

autosummary_generate = False
default_role = "named"
toc_object_entries = False
html_math_renderer = "mathml"
autodoc_typehints = "signature"
autodoc_member_order = "bysource"
autodoc_default_options = {"members": True, "no-value": True}
napoleon_custom_sections = ["Differs from the source in"]
napoleon_use_ivar = True
napoleon_attr_annotations = False
napoleon_use_rtype = False

sphinx_gallery_conf = {
    "examples_dirs": "examples",
    "gallery_dirs": f"{navigation.GENERATED}/examples",
    "filename_pattern": r"/\d\d_",
    "ignore_pattern": r"/labs/",
    "within_subsection_order": "FileNameSortKey",
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "min_reported_time": 10**6,
    "image_scrapers": ("matplotlib",),
    "nested_sections": False,
    "write_computation_times": False,
    "remove_config_comments": True,
}

html_theme = "furo"
html_title = f"dp-bandit-envs {version}"
html_static_path = ["_static"]
html_css_files = ["site.css", "drawings.css"]
html_js_files = ["api_filter.js"]
html_extra_path = ["generated/html"]
html_favicon = "_static/favicon.svg"
html_search_scorer = str(search_order.write(ROOT / navigation.GENERATED / "search_order.js"))
html_additional_pages = {"index": "redirect.html"}
templates_path = ["_templates"]
html_show_sourcelink = False
html_copy_source = False
linkcheck_timeout = 15
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
copybutton_exclude = ".linenos, .gp, .go"


def add_contents(app, page, source):
    """Add the lists of pages and the links to labs, which the Markdown files do not have."""
    if page == "docs/labs":
        source[0] = lab_pages.linked(source[0])
    if page == navigation.HOME:
        source[0] = source[0].replace("# dp-bandit-envs\n", f"# dp-bandit-envs {version}\n", 1)
    source[0] += navigation.contents_of(page)


def setup(app):
    """Have pages written before, and lists of pages added while, Sphinx reads."""
    api_pages.write(ROOT / navigation.GENERATED / "api")
    (ROOT / navigation.GENERATED / "html").mkdir(exist_ok=True)  # Sphinx looks for it before pages are made
    app.connect("source-read", add_contents)
