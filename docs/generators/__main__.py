"""Draws pictures again, and puts numbers into the pages of reproductions.

`python docs/generators results [NAME ...]` takes the numbers of reproductions from results and draws their pictures.
`python docs/generators pictures` draws the README's comparison and the counters.
`python docs/generators suite` writes the tables and the picture of the suite from its reference.
`python docs/generators tables` writes `docs/api.md` from docstrings and the registry.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

if __name__ == "__main__":
    if sys.argv[1:] == ["pictures"]:
        from generators.drawn_again import draw_others

        draw_others()
    elif sys.argv[1:] == ["suite"]:
        from generators.suite_page import remake_suite

        remake_suite()
    elif sys.argv[1:] == ["tables"]:
        from building import api_pages

        (api_pages.ROOT / "docs" / "api.md").write_text(api_pages.in_markdown(), encoding="utf-8")
    else:
        from generators.reproduction_pages import PAGES, remake

        folder, *names = sys.argv[1:] or ["results"]
        remake(Path(folder), tuple(names) or PAGES)
