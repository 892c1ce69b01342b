"""Compiled code is kept under a fingerprint of everything that determines it."""

import inspect
import textwrap
import types

import gymnasium as gym
import numba
import numpy as np
import pytest
from numba.core.caching import CacheImpl, IndexDataCacheFile

from dp_bandit_envs.agents import exp3, tsallis_inf, uniform
from dp_bandit_envs.algorithms import make_algorithm
from dp_bandit_envs.compiling import functions as plain_functions
from dp_bandit_envs.compiling.compiled import Compiled
from dp_bandit_envs.compiling.functions import bind, content, fingerprint
from dp_bandit_envs.compiling.numba_functions import MachineCode
from dp_bandit_envs.privacy import laplace
from dp_bandit_envs.privacy.counters import BinaryCounter, trees
from dp_bandit_envs.privacy.facts import Below, gains_of_arms
from dp_bandit_envs.privacy.mechanisms import CounterSums, LaplaceClipRescale, laplace_gains
from dp_bandit_envs.simulation import loop
from dp_bandit_envs.simulation.lanes import LaneGains, LaneLoop, carries
from dp_bandit_envs.simulation.plan import make_plan

SOURCE = """
    import math
    from typing import NamedTuple

    RATE = 0.5
    PAIR = (0.25, 0.75)
    TABLE = np.array([1.0, 2.0])

    class Size(NamedTuple):
        width: float
        height: float

    def inner(x):
        return x + 1.0

    def helper(x, step=2.0):
        # A comment.
        return inner(x) * step

    def outer(x):
        def nested(y):
            return y - 3.0
        size = Size(x, RATE)
        return helper(x) + nested(x) * math.sqrt(size.height) + PAIR[0] + TABLE[1]
"""


def digest(*edits, name="outer"):
    """Return the fingerprint of a function above after some edits."""
    source = textwrap.dedent(SOURCE)
    for old, new in edits:
        assert old in source
        source = source.replace(old, new)
    namespace = {"np": np}
    exec(source, namespace)
    return fingerprint(namespace[name])


@pytest.mark.parametrize(
    "edit",
    [
        ("RATE = 0.5", "RATE = 0.6"),
        ("PAIR = (0.25, 0.75)", "PAIR = (0.35, 0.75)"),
        ("np.array([1.0, 2.0])", "np.array([1.0, 3.0])"),
        ("PAIR[0]", "PAIR[1]"),
        ("y - 3.0", "y - 4.0"),
        ("y - 3.0", "y + 3.0"),
        ("x + 1.0", "x + 2.0"),
        ("x + 1.0", "x - 1.0"),
        ("x + 1.0", "1.0 + x"),
        ("step=2.0", "step=3.0"),
        ("math.sqrt", "math.exp"),
        ("width: float\n    height: float", "height: float\n    width: float"),
        ("inner(x) * step", "(x + 1.0) * step"),
    ],
    ids=str,
)
def test_whatever_changes_the_result_changes_the_fingerprint(edit):
    assert digest(edit) != digest()


@pytest.mark.parametrize(
    "edit",
    [
        ("# A comment.", "# Another comment, and more of it."),
        ("def helper", "\n\ndef helper"),
        ("import math", "import math\nUNUSED = 1"),
    ],
    ids=str,
)
def test_comments_and_the_place_in_the_file_do_not(edit):
    assert digest(edit) == digest()


def test_a_constant_of_another_module_is_noticed():
    """Numba freezes it like a global of the function's own module."""

    def digest_with(value):
        settings = types.ModuleType("dp_bandit_envs.settings")
        settings.RATE = value
        namespace = {"settings": settings}
        exec("def outer(x):\n    return x * settings.RATE", namespace)
        return fingerprint(namespace["outer"])

    assert digest_with(0.5) != digest_with(0.6)


def test_a_value_from_an_enclosing_function_is_noticed():
    """Numba freezes it like a global."""

    def factory(rate):
        def outer(x):
            return x * rate

        return outer

    assert Compiled(factory(0.5), {})(1.0) == 0.5
    assert fingerprint(factory(0.5)) != fingerprint(factory(0.6))


def test_a_fingerprint_covers_what_stands_for_select_and_update():
    def parts(select, update):
        return {"choose": bind(loop.choose, {"select": select}), "update": update}

    functions = parts(exp3.select, exp3.update)
    whole = fingerprint(bind(loop.play_block, functions))
    assert whole == fingerprint(bind(loop.play_block, dict(reversed(functions.items()))))
    others = [
        fingerprint(loop.play_block),
        fingerprint(bind(loop.play_block, parts(uniform.select, exp3.update))),
        fingerprint(bind(loop.play_block, parts(exp3.select, uniform.update))),
        fingerprint(bind(loop.play_block, parts(exp3.update, exp3.select))),
        fingerprint(bind(loop.play_block, parts(tsallis_inf.select, tsallis_inf.update))),
    ]
    assert len({whole, *others}) == 6


def edited(module, name, old, new):
    """Return a function of a module with its source edited, in the module's own namespace."""
    source = textwrap.dedent(inspect.getsource(getattr(module, name)))
    assert old in source
    namespace = dict(vars(module))
    exec(source.replace(old, new), namespace)
    return namespace[name]


@pytest.mark.parametrize(
    ("module", "helper", "old", "new"),
    [
        (exp3, "probability", "1.0 - gamma", "0.9 - gamma"),
        (tsallis_inf, "normalise", "range(50)", "range(3)"),
        (tsallis_inf, "normalise", "1e-13", "1e-3"),
    ],
)
def test_an_edit_in_a_helper_of_an_agent_is_noticed(module, helper, old, new, monkeypatch):
    before = fingerprint(module.update)
    monkeypatch.setattr(module, helper, edited(module, helper, old, new))
    assert fingerprint(module.update) != before


def test_an_edit_of_the_mechanism_is_noticed(monkeypatch):
    def of_loop():
        chain = [(LaplaceClipRescale(epsilon=1.0), Below(4, 100))]
        return fingerprint(bind(loop.play_block, loop.stages(chain, feedback="arm", values=gains_of_arms(1.0))))

    before = of_loop()
    changed = edited(laplace_gains, "release", "width + 2.0 * state.bound", "width + 3.0 * state.bound")
    with monkeypatch.context() as patch:
        patch.setattr(LaplaceClipRescale, "release", staticmethod(changed))
        assert of_loop() != before
    assert of_loop() == before
    monkeypatch.setattr(laplace_gains, "noisy", edited(laplace, "noisy", "value + draw", "value - draw"))
    plain_functions._kept.cache_clear()
    assert of_loop() != before
    plain_functions._kept.cache_clear()


def test_an_edit_of_a_counter_inside_the_sums_is_noticed(monkeypatch):
    """The counter's `next_noise` takes the place of a placeholder in a copy of `release`."""
    before = fingerprint(bind(loop.play_block, {"add_to_sums": CounterSums(counter="binary", epsilon=1.0).release}))
    doubled = edited(trees, "next_noise", "noise += draw(scale, rng)", "noise += 2.0 * draw(scale, rng)")
    monkeypatch.setattr(BinaryCounter, "noise", staticmethod(bind(doubled, {"node": trees.binary_node})))
    after = fingerprint(bind(loop.play_block, {"add_to_sums": CounterSums(counter="binary", epsilon=1.0).release}))
    other = fingerprint(bind(loop.play_block, {"add_to_sums": CounterSums(counter="hybrid", epsilon=1.0).release}))
    assert len({before, after, other}) == 3


def test_a_global_constant_of_an_agent_is_noticed(monkeypatch):
    before = fingerprint(tsallis_inf.update)
    monkeypatch.setattr(tsallis_inf, "SKIP_SHARE", 0.3)
    assert fingerprint(tsallis_inf.update) != before


def test_another_version_of_numba_is_another_fingerprint(monkeypatch):
    before = fingerprint(exp3.update)
    monkeypatch.setattr(numba, "__version__", "99")
    assert fingerprint(exp3.update) != before


def plus(x):
    return x + stand_in(x)


def stand_in(x):
    raise NotImplementedError


def twice(x):
    return 2.0 * x


def thrice(x):
    return 3.0 * x


def test_a_replacement_stands_for_the_name_it_replaces():
    assert Compiled(plus, {"stand_in": twice})(1.0) == 3.0
    assert Compiled(plus, {"stand_in": thrice})(1.0) == 4.0
    # The original is untouched.
    assert plus.__globals__["stand_in"] is stand_in


def test_functions_from_elsewhere_are_not_kept_on_disk():
    """Their files are not ours to watch: another package may be edited at any time."""
    assert not isinstance(Compiled(plus, {"stand_in": twice})._dispatcher._cache, MachineCode)
    assert isinstance(Compiled(loop.add_up, {})._dispatcher._cache, MachineCode)


def doubled_array(x):
    return np.full(3, x) * 2.0


def test_a_function_that_makes_arrays_is_compiled_too():
    """Without Numba's runtime it cannot be, which shows when it is first called."""
    compiled = Compiled(doubled_array, {})
    assert compiled(1.5).tolist() == [3.0, 3.0, 3.0] == compiled(1.5).tolist()


def test_where_nothing_can_be_kept_it_is_compiled_each_time(monkeypatch):
    """A container may have no writable folder at all; that costs seconds, and must not cost the simulation."""
    monkeypatch.setattr(CacheImpl, "_locator_classes", [])
    for function in (plus, twice):
        monkeypatch.setattr(function, "__module__", "dp_bandit_envs.tests")
    assert Compiled(plus, {"stand_in": twice})(1.0) == 3.0


def test_two_processes_that_compile_at_once_do_not_swap_their_code(tmp_path, monkeypatch):
    """Numba numbers the files of one index 1, 2, ...; two processes may both take the next number.

    Here the second process reads the index before the first has written to it, and writes between the first one's
    index and its machine code, which is an order that an operating system may choose.
    """
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    for function in (plus, twice, thrice, stand_in):
        monkeypatch.setattr(function, "__module__", "dp_bandit_envs.tests")
    first, second = (Compiled(plus, {"stand_in": function}) for function in (twice, thrice))
    load_index, save_data = IndexDataCacheFile._load_index, IndexDataCacheFile._save_data
    waiting = True

    def save_data_late(file, name, data):
        nonlocal waiting
        if waiting:
            waiting = False
            assert second(1.0) == 4.0
        save_data(file, name, data)

    monkeypatch.setattr(IndexDataCacheFile, "_save_data", save_data_late)
    monkeypatch.setattr(IndexDataCacheFile, "_load_index", lambda file: {})
    assert first(1.0) == 3.0
    monkeypatch.setattr(IndexDataCacheFile, "_load_index", load_index)
    monkeypatch.setattr(IndexDataCacheFile, "_save_data", save_data)
    assert list(tmp_path.rglob("*.nbc"))
    for function, expected in ((twice, 3.0), (thrice, 4.0)):
        assert Compiled(plus, {"stand_in": function})(1.0) == expected


def test_the_file_of_a_function_that_was_sent_is_not_run(tmp_path, monkeypatch):
    """A process that gets a function gets it without its module, whose file may do anything once more."""
    (tmp_path / "runs_once.py").write_text("raise RuntimeError('run again')", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    sent = {"__name__": "runs_once"}
    exec("def half(x):\n    return x / 2\n\n\ndef quarter(x):\n    return half(half(x))\n", sent)
    assert Compiled(sent["quarter"], {})(3.0) == 0.75


@pytest.mark.parametrize("name", ["EXP3", "DP-EXP3-Lap", "DP-UCB"])
def test_fingerprints_are_the_same_in_every_process(name):
    """An address in one would be another in the next process, which would compile what is on disk."""
    env = gym.make("DPBandit-Stochastic-v0")
    plan = make_plan(make_algorithm(name), env)
    loops = [plan.loop]
    if carries(plan):
        adversary = env.unwrapped.adversary
        loops += [LaneLoop(plan).compiled, LaneGains(adversary, adversary).compiled]
    for compiled in loops:
        written = content(compiled._function)
        assert len(written.splitlines()) > 5 and len(written) > 4_000
        assert " at 0x" not in written
