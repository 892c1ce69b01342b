"""Writes the pages without building the site: `python docs/generators`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

if __name__ == "__main__":
    from generators.pages import write_all

    write_all()
