"""The pages of docs/adapters/ whose code needs no other package; tests/neighbours/ runs the others."""

import pytest

from tests.tools.adapter_pages import NEEDS, PAGES, run_page


@pytest.mark.parametrize("name", sorted(set(PAGES) - set(NEEDS)))
def test_the_code_of_a_page_runs(name, tmp_path):
    assert run_page(name, tmp_path)


def test_every_page_says_what_is_guaranteed_and_what_is_not():
    assert len(PAGES) == 10 and set(NEEDS) <= set(PAGES)
    for name, path in PAGES.items():
        text = path.read_text(encoding="utf-8")
        assert text.count("**What is guaranteed.**") == text.count("**Limits.**") >= 1, name
