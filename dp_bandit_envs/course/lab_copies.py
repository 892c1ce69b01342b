"""A student's own copies of the labs: made once, never overwritten."""

import shutil
from importlib import resources
from pathlib import Path
from typing import Final

START_PAGE: Final = "all_labs.py"
"""The notebook with the list of all labs."""
SETTINGS: Final = """\
# Settings of marimo for the labs of this folder: cells run when a notebook is opened.
[tool.marimo.runtime]
auto_instantiate = true

[tool.marimo.ai]
enabled = false

[tool.marimo.display]
theme = "system"
custom_css = ["labs.css"]
"""
STYLE: Final = """\
/* Pictures are drawn on white. On a dark page they are turned dark, and their hues are kept. */
.dark img[src^="data:image/png"] {
  filter: invert(0.9) hue-rotate(180deg);
}
/* A question must not hide in a box that scrolls. */
.output-area {
  max-height: none !important;
}
"""


def copy_labs(folder: Path) -> list[str]:
    """Copy the labs into a folder, with marimo's settings and a style; a file that is there already is left as it is.

    Args:
        folder: Where to; it is made if it is not there.

    Returns:
        The names of the files that were copied now.

    Raises:
        OSError: If the folder cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    copied = []
    with resources.as_file(resources.files("dp_bandit_envs.labs")) as labs:
        for name in sorted(path.name for path in labs.glob("*.py") if path.name != "__init__.py"):
            if not (folder / name).exists():
                shutil.copyfile(labs / name, folder / name)
                copied.append(name)
    for name, text in (("pyproject.toml", SETTINGS), ("labs.css", STYLE)):
        if not (folder / name).exists():
            (folder / name).write_text(text, encoding="utf-8")
    return copied
