"""Digests of private data: the same for one user, another for everybody else, and never the plain one."""

import hashlib
import json
import os
import subprocess
import sys

import numpy as np
import pytest

from dp_bandit_envs import compare, local_key
from dp_bandit_envs.local_key import key_file, private_digest

CODE = "from dp_bandit_envs.local_key import private_digest; print(private_digest(b'outcomes'))"


def digest_of(home):
    environment = {**os.environ, "XDG_DATA_HOME": str(home)}
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True, env=environment)
    return done.stdout.strip()


def test_one_user_has_one_and_another_user_another(tmp_path):
    one, again, other = (digest_of(tmp_path / name) for name in ("one", "one", "other"))
    assert one == again != other
    assert hashlib.sha256(b"outcomes").hexdigest() not in (one, other)
    (key,) = (tmp_path / "one").rglob("*.key")
    if os.name == "posix":
        assert key.stat().st_mode & 0o077 == 0
    assert [path.name for path in key.parent.iterdir()] == [key.name]


def test_without_a_place_for_the_key_each_process_has_its_own(tmp_path):
    (tmp_path / "file").write_text("")
    assert digest_of(tmp_path / "file") != digest_of(tmp_path / "file")


@pytest.mark.parametrize("as_file", [True, False])
def test_no_guess_of_an_outcome_can_be_checked_against_a_results_folder(as_file, tmp_path, monkeypatch):
    """Whoever knows all outcomes but one must not find it by trying every value."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "home"))
    local_key._key.cache_clear()
    gains = np.tile([[0.25, 0.75]], (12, 1))
    np.save(tmp_path / "gains.npy", gains)
    game = str(tmp_path / "gains.npy") if as_file else ("DPBandit-Replay-v0", {"gains": gains})
    compare(game, "Uniform", trials=1, seed=None, folder=tmp_path / "mine")
    text = (tmp_path / "mine" / "configuration.json").read_text(encoding="utf-8")
    for plain in (gains.tobytes(), (tmp_path / "gains.npy").read_bytes()):
        assert hashlib.sha256(plain).hexdigest() not in text
    assert key_file().exists() and private_digest(b"x") not in text
    # The same data are recognised, and others are not.
    compare(game, "Uniform", trials=1, seed=None, folder=tmp_path / "mine")
    assert json.loads(text)["seed"] is None
    local_key._key.cache_clear()
