"""An agent's folder is removed, whatever is in it."""

import os

from dp_bandit_envs.tournament.folder_removal import remove_folder
from tests.tools.processes import POSIX


def test_a_folder_nested_deeper_than_python_and_paths_go_is_removed(tmp_path):
    """More folders than a recursion has calls (1,000); together their names are longer than a path may be (4,096)."""
    folder, outside = tmp_path / "agent", tmp_path / "outside"
    outside.mkdir()
    (outside / "kept").write_text("")
    folder.mkdir()
    here = os.getcwd()
    try:
        os.chdir(folder)
        for _ in range(1_500 if POSIX else 20):
            open("file", "w").close()
            os.mkdir("deep")
            os.chdir("deep")
    finally:
        os.chdir(here)
    if POSIX:
        (folder / "link").symlink_to(outside)
    remove_folder(str(folder))
    assert not folder.exists() and (outside / "kept").exists()


def test_a_folder_that_is_gone_is_no_error(tmp_path):
    remove_folder(str(tmp_path / "gone"))
    assert tmp_path.exists()
