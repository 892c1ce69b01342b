"""Pages that are made from the code when the site is built: each environment, each algorithm, and their pictures."""

from pathlib import Path

ROOT = Path(__file__).parents[2]
