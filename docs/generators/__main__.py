"""Writes the pages without building the site: `python docs/generators`.

`python docs/generators results [NAME ...]` takes the numbers of reproductions from results and draws their pictures.
`python docs/generators pictures` draws the README's comparison and the counters.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

if __name__ == "__main__":
    if sys.argv[1:] == ["pictures"]:
        from generators.drawn_again import draw_others

        draw_others()
    elif sys.argv[1:]:
        from generators.reproduction_pages import PAGES, remake

        remake(Path(sys.argv[1]), tuple(sys.argv[2:]) or PAGES)
    else:
        from generators.pages import write_all

        write_all()
