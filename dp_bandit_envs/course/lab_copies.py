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
"""


def copy_labs(folder: Path) -> list[str]:
    """Copy the labs into a folder, and settings of marimo beside them; a file that is there already is left as it is.

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
    settings = folder / "pyproject.toml"
    if not settings.exists():
        settings.write_text(SETTINGS, encoding="utf-8")
    return copied
