"""Machine code from disk is found by its name: code of several processes must not have the same one.

Numba numbers functions by process, so that loops for 4 and for 2 arms, compiled by two processes, had one name; a third
one that loaded both took one for the other.
"""

import numba

from dp_bandit_envs.compiling.layout_code import reader, writer
from dp_bandit_envs.simulation import lanes
from dp_bandit_envs.simulation.lanes import LaneLoop
from dp_bandit_envs.simulation.simulation import prepare


def loop(n_arms):
    given = {"horizon": 20, "seed": 0, "checkpoints": 3, "env_kwargs": {"n_arms": n_arms}}
    work = next(iter(prepare("DPBandit-Stochastic-v0", ["Uniform"], **given).works))
    return LaneLoop(work.plans["Uniform"])


def test_loops_for_other_layouts_have_other_names():
    four, two, again = (loop(n_arms) for n_arms in (4, 2, 4))
    for make in (reader, writer):
        names = [make(one._layout.form).__qualname__ for one in (four, two, again)]
        assert names[0] == names[2] != names[1]
    names = [one.compiled._dispatcher.py_func.__qualname__ for one in (four, two, again)]
    assert names[0] == names[2] != names[1]


def test_loops_over_lanes_are_kept_on_disk(tmp_path, monkeypatch):
    """They have a compiler of their own, which could forget it: each process would compile them."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(lanes, "_play_loop", lanes._play_loop.__wrapped__)
    assert loop(3).address
    assert len(list(tmp_path.rglob("lanes.play_lanes_*.nbc"))) == 1
