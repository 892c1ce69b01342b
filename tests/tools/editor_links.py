"""Shows an editable install to type checkers and editors: a folder of links in the environment, on Python's path.

The package's folders `agents/` and `wrappers/` lie elsewhere in this repository, and an editable install joins them
by a hook of Python's import, which mypy, pyright and editors do not run. `python -m tests.tools.editor_links` makes
the links for the Python that runs it; the Makefile does so after each editable install. Files in folders are seen as
soon as they are there. The links lie outside site-packages, where pip could write or delete through them.
"""

import shutil
import sys
import sysconfig
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = "dp_bandit_envs"


def targets() -> dict[str, Path]:
    """Return what the package's folder holds: the files and folders themselves, by the names they are imported by."""
    configuration = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    elsewhere = configuration["tool"]["setuptools"]["package-dir"]
    found = {path.name: path for path in (ROOT / PACKAGE).iterdir() if path.name != "__pycache__"}
    for module, folder in elsewhere.items():
        _, _, name = module.partition(".")
        if "." not in name:  # a folder brings those below it
            found[name] = ROOT / folder
    return found


def make_links(environment: Path, site_packages: Path) -> Path:
    """Make the links, in place of older ones, and return their folder.

    Args:
        environment: The folder of the virtual environment.
        site_packages: Where its packages are.
    """
    folder = environment / f"{PACKAGE}-links"
    if folder.exists():
        shutil.rmtree(folder)  # removes links, not what they lead to
    (folder / PACKAGE).mkdir(parents=True)
    for name, path in targets().items():
        (folder / PACKAGE / name).symlink_to(path, target_is_directory=path.is_dir())
    (site_packages / f"{PACKAGE}-links.pth").write_text(f"{folder}\n", encoding="utf-8")
    return folder


if __name__ == "__main__":
    make_links(Path(sys.prefix), Path(sysconfig.get_path("purelib")))
