"""Machine code is what a function and its values are now, in memory and on disk; and the words of a game in it."""

import contextlib
import functools
import gc
import hashlib
import inspect
import os
import shutil
import subprocess
import sys
import textwrap
import time
import types
from pathlib import Path
from typing import NamedTuple

import cloudpickle
import gymnasium as gym
import numba
import numpy as np
import pytest
from numba.core import config, event
from numba.core.caching import CacheImpl
from numba.core.compiler import Flags

from dp_bandit_envs import Algorithm, BanditEnv, PrivacyGuarantee, make_algorithm, simulate
from dp_bandit_envs.adversaries import MemoryBounded
from dp_bandit_envs.agents import FunctionalAgent, exp3, tsallis_inf, uniform
from dp_bandit_envs.agents.functional import Functions
from dp_bandit_envs.compiling.compiled import CompiledFunction
from dp_bandit_envs.compiling.functions import bind, code_text, content, fingerprint, frozen
from dp_bandit_envs.compiling.layout import Image
from dp_bandit_envs.compiling.numba_functions import _Flags
from dp_bandit_envs.privacy.mechanism import Mechanism
from dp_bandit_envs.simulation import lanes, stages
from dp_bandit_envs.simulation.compiled_game import make_compiled_game
from dp_bandit_envs.simulation.lanes import LaneGains, LaneLoop, supports
from dp_bandit_envs.simulation.simulation import prepare
from dp_bandit_envs.simulation.stages import add_up
from dp_bandit_envs.wrappers import PrivacyBoundary
from tests.tools.both_ways import assert_same
from tests.tools.refusals import refused


def test_a_fingerprint_covers_what_stands_for_select_and_update():
    def parts(select, update):
        return {"choose": bind(stages.choose, {"select": select}), "update": update}

    functions = parts(exp3.select, exp3.update)
    whole = fingerprint(bind(stages.play_block, functions))
    assert whole == fingerprint(bind(stages.play_block, dict(reversed(functions.items()))))
    others = [(uniform.select, exp3.update), (exp3.select, uniform.update), (exp3.update, exp3.select)]
    others = [fingerprint(bind(stages.play_block, parts(*other))) for other in others]
    assert len({whole, fingerprint(stages.play_block), *others}) == 5


def edited(module, name, old, new):
    """Return a function of a module with its source edited, in the module's own namespace."""
    source = textwrap.dedent(inspect.getsource(getattr(module, name)))
    assert old in source
    namespace = dict(vars(module))
    exec(source.replace(old, new), namespace)
    return namespace[name]


def test_an_edit_of_a_helper_and_of_a_constant_of_an_agent_is_noticed(monkeypatch):
    found = [fingerprint(exp3.update), fingerprint(tsallis_inf.update)]
    monkeypatch.setattr(exp3, "probability", edited(exp3, "probability", "1.0 - gamma", "0.9 - gamma"))
    monkeypatch.setattr(tsallis_inf, "SKIP_SHARE", 0.3)
    assert not {*found} & {fingerprint(exp3.update), fingerprint(tsallis_inf.update)}


def test_a_reworded_docstring_is_not_noticed(monkeypatch):
    """Otherwise each new sentence would compile all loops anew on the disks of all users."""
    before = [fingerprint(exp3.update), fingerprint(exp3.select)]
    for name in ("update", "probability"):
        words = getattr(exp3, name).__doc__
        assert words
        monkeypatch.setattr(exp3, name, edited(exp3, name, words, "Say it in other words."))
    assert [fingerprint(exp3.update), fingerprint(exp3.select)] == before


@pytest.mark.parametrize("kind", ["def f(a):", "class C:", "class C:\n  def f(a):", ""])
def test_a_docstring_is_no_text_of_code_and_other_texts_are(kind):
    body = "\n".join(f"    {line}" if kind else line for line in ("{!r}", "x = {!r}", "g(x)"))
    source = f"{kind}\n{body}\n"
    texts = [code_text(compile(source.format(*words), "m", "exec")) for words in ("ab", "cb", "ac", "bb", "aa")]
    assert texts[0] == texts[1] and texts[0] != texts[2] and len(set(texts[2:])) == 3


def test_another_version_of_numba_is_another_fingerprint(monkeypatch):
    before = fingerprint(exp3.update)
    monkeypatch.setattr(numba, "__version__", "99")
    assert fingerprint(exp3.update) != before


@pytest.mark.parametrize("name", ["DP-EXP3-Lap", "DP-UCB"])
def test_fingerprints_are_the_same_in_every_process(name):
    """An address in one would be another in the next process, which would compile what is on disk."""
    env = gym.make("DPBandit-Stochastic-v0")
    plan = make_compiled_game(make_algorithm(name), env)
    loops = [plan.loop]
    if supports(plan):
        adversary = env.unwrapped.adversary
        loops += [LaneLoop(plan).compiled, LaneGains(adversary, adversary).compiled]
    for compiled in loops:
        written = content(compiled._function)
        assert len(written.splitlines()) > 5 and len(written) > 4_000
        assert " at 0x" not in written


class Named(NamedTuple):
    first: float
    second: float


class Swapped(NamedTuple):
    """The same numbers by each other's names."""

    second: float
    first: float


CELL_OF_A_CLOSURE = """
def outer():
    number = 2.0
    def use(x): return x * number
    def change():
        nonlocal number
        number = 5.0
    return use, change
use, change = outer()
"""
MODULE_OF_A_PACKAGE = """
mine = types.ModuleType("mine")
mine.settings = types.ModuleType("mine.settings")
mine.settings.NUMBER = 2.0
def use(x): return x * mine.settings.NUMBER
"""
CHANGES = {
    "global": ("NUMBER = 2.0\ndef use(x): return x * NUMBER", "NUMBER = 5.0"),
    "of a helper": ("NUMBER = 2.0\ndef helper(): return NUMBER\ndef use(x): return x * helper()", "NUMBER = 5.0"),
    "another helper": ("def helper(): return 2.0\ndef use(x): return x * helper()", "def helper(): return 5.0"),
    "default": ("def use(x, by=2.0): return x * by", "use.__defaults__ = (5.0,)"),
    "array": ("TABLE = np.array([2.0])\ndef use(x): return x * TABLE[0]", "TABLE[0] = 5.0"),
    "named tuple": ("PAIR = Named(2.0, 5.0)\ndef use(x): return x * PAIR.first", "PAIR = Swapped(2.0, 5.0)"),
    "cell of a closure": (CELL_OF_A_CLOSURE, "change()"),
    "module of a package": (MODULE_OF_A_PACKAGE, "mine.settings.NUMBER = 5.0"),
}


def made(source):
    """Run a cell; return its names."""
    names = {"np": np, "types": types, "Named": Named, "Swapped": Swapped}
    exec(source, names)
    return names


@pytest.mark.thorough
@pytest.mark.parametrize(("cell", "change"), CHANGES.values(), ids=CHANGES)
def test_a_function_whose_values_changed_is_compiled_anew(cell, change):
    inside = made(cell)
    use = inside["use"]
    before, copy, digest = CompiledFunction(use, {}), frozen(use), fingerprint(use)
    assert before(3.0) == 6.0 and copy is not use and frozen(use) is copy
    # Copies, as each task of a notebook unpacks one, are compiled once.
    assert len({frozen(cloudpickle.loads(cloudpickle.dumps(use))) for _ in range(2)}) == 1
    exec(change, inside)
    assert inside["use"](3.0) == 15.0 and frozen(inside["use"]) is not copy and fingerprint(inside["use"]) != digest
    assert CompiledFunction(inside["use"], {})(3.0) == 15.0
    # CompiledFunction for another type afterwards, the first is what it was, but for what a module has.
    assert before(3) == (15.0 if "mine" in inside else 6.0)


def test_what_is_bound_makes_it_another_and_globals_are_those_of_now():
    use = made("NUMBER = 2.0\ndef part(): return 0.0\ndef use(x): return NUMBER * part()")["use"]
    three, four = made("def part(): return 3.0")["part"], made("def part(): return 4.0")["part"]
    assert bind(use, {"part": three})(1.0) == 6.0
    assert frozen(bind(use, {"part": three})) is frozen(bind(use, {"part": three}))
    assert frozen(bind(use, {"part": three})) is not frozen(bind(use, {"part": four}))
    use.__globals__["NUMBER"] = 5.0
    assert bind(use, {"part": three})(1.0) == 15.0


@pytest.mark.parametrize("name", ["how_many", "Select", "n_revealed "])
def test_a_placeholder_that_is_not_there_is_refused(name):
    """Bound in silence it would change nothing: `play_block` would be compiled for another game."""
    with pytest.raises(NameError, match=f"play_block .*{name}"):
        bind(stages.play_block, {"n_revealed": stages.all_arms, name: stages.all_arms})
    assert bind(stages.play_games, {"n_revealed": stages.all_arms}) is not stages.play_games


@contextlib.contextmanager
def heard(name):
    """Collect the thresholds of searches for garbage at the beginning and at the end of each event of Numba's."""
    seen = []

    class Listener(event.Listener):
        def on_start(self, event):
            seen.append(gc.get_threshold())

        on_end = on_start

    with event.install_listener(name, Listener()):
        yield seen


@pytest.mark.thorough
def test_an_agent_of_a_notebook_is_compiled_once():
    mine = {"mine": own_agent(lambda state, rng: len(state.first) - 2, swapped)}
    for compiled in (True, False):
        with heard("numba:compile") as begun:
            assert simulate("DPBandit-Stochastic-v0", mine, horizon=20)["mine"].engine == "compiled"
        assert bool(begun) == compiled


STEP, ANSWER, PAID = 1, 0.0, 0.0


class Turn(NamedTuple):
    turn: np.ndarray


def select(state, rng):
    """Return the arms in turn."""
    return int(state.turn[0]) % 4


def update(state, arm, seen):
    """Go on by the step, and farther if a gain was released."""
    state.turn[0] += STEP + int(2 * seen.gains[arm])
    return state


class Turns(FunctionalAgent):
    """Plays the arms in turn, at a step."""

    functions = Functions(select, update)

    def initial_state(self, n_arms, horizon):
        return Turn(np.zeros(1))


class Truth(NamedTuple):
    number: float


def answer(state, arm, gain, rng):
    """Release the same whatever the gain."""
    return ANSWER, 1


class Answers(Mechanism):
    release = staticmethod(answer)
    withholds = False

    def new_state(self, below):
        return Truth(0.0)

    def guarantee(self, below):
        return PrivacyGuarantee.none("it is only a test")


def paid(gains, arms, t):
    """Pay the same in each round."""
    return PAID


@pytest.mark.thorough
def test_simulate_plays_as_play_does_after_a_global_changed(monkeypatch):
    """An agent's, a mechanism's, and a payoff function's: their functions are the same objects before and after."""
    player, seen = Algorithm("a", Turns, lambda env: PrivacyBoundary(env, Answers())), set()
    for name, value in (("STEP", 1), ("STEP", 2), ("ANSWER", 1.0), ("PAID", 1.0)):
        monkeypatch.setattr(sys.modules[__name__], name, value)
        make = functools.partial(BanditEnv, MemoryBounded(4, 40, payoff=paid))
        arms = assert_same(make, [player], trials=1)["a", 0]
        seen.add((*arms, PAID))
    assert len(seen) == 4


def calls_nothing(number):
    return number + 1.0


def calls_what_is_not_there(number):
    return calls_nothing(number).not_there


@pytest.mark.parametrize("function", [calls_nothing, calls_what_is_not_there])
def test_searches_for_garbage_are_rare_while_something_is_compiled_and_as_before_afterwards(function):
    before = gc.get_threshold()
    with heard("numba:run_pass") as seen, contextlib.suppress(numba.TypingError):
        CompiledFunction(function, {})(np.float64(sys.maxsize))
    assert len(seen) > 20 and {first >= 50_000 for first, *_ in seen} == {True}
    assert gc.get_threshold() == before


def test_options_are_equal_where_numbas_are():
    values = ({}, {"nrt": True}, {"nrt": False}, {"boundscheck": True}, {"nrt": True, "release_gil": True})
    all_of = [Flags() for _ in values]
    for flags, options in zip(all_of, values, strict=True):
        for name, value in options.items():
            setattr(flags, name, value)
    for one in all_of:
        for other in all_of:
            assert (_Flags(one) == other) == (one == other) == (other == _Flags(one))
            assert one == other or _Flags(one) != _Flags(other)
        assert hash(_Flags(one)) == hash(one) and _Flags(one) == _Flags(one) and _Flags(one) != "nrt"


# ---- on disk: never stale, damaged or another function's
ROOT = Path(__file__).parents[2]
# Played with fixed seeds by both engines; the difference must be nothing, and the regret shows which code ran.
PROGRAM = """
import dp_bandit_envs, numpy as np, gymnasium as gym, sys
from dp_bandit_envs import make_algorithm, play, simulate
assert dp_bandit_envs.__file__.startswith(sys.argv[1]), dp_bandit_envs.__file__
algorithm = make_algorithm(sys.argv[2])
outcome = simulate("DPBandit-Stochastic-v0", [algorithm], horizon=400, checkpoints=400, seed=1)[algorithm.name]
assert outcome.engine == "compiled"
game = play(gym.make("DPBandit-Stochastic-v0", horizon=400), algorithm, seed=1)
assert np.array_equal(outcome.external_regret[0], game.external_regret), "stale"
print(",".join(map(str, game.arms)))
"""


class Copy:
    """A copy of the package with a cache of its own."""

    def __init__(self, folder):
        self.package = folder / "copy" / "dp_bandit_envs"
        self.cache = folder / "cache"
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / "dp_bandit_envs", self.package, ignore=ignored)
        for name in ("agents", "wrappers"):
            shutil.copytree(ROOT / name, self.package / name, ignore=ignored)

    def arms(self, algorithm):
        """Run the program above and return the arms played."""
        home = str(self.package.parent)
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM, home, algorithm],
            cwd=home,
            env={**os.environ, "PYTHONPATH": home, "NUMBA_CACHE_DIR": str(self.cache)},
            capture_output=True,
            encoding="utf-8",
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def edit(self, file, old, new):
        """Edit a source file; its length and time stamp are the same as before, as if by a careless tool."""
        path = self.package / file
        source, times = path.read_text(encoding="utf-8"), path.stat()
        assert source.count(old) == 1
        assert len(old) == len(new)
        path.write_text(source.replace(old, new), encoding="utf-8")
        # Python's own cache of byte code trusts the time stamp; Numba's must not need it.
        shutil.rmtree(path.parent / "__pycache__", ignore_errors=True)
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))

    def machine_code(self):
        """Return the files of compiled code with their contents' time stamps."""
        return {path.name: path.stat().st_mtime_ns for path in self.cache.rglob("*.nbc")}


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    return Copy(tmp_path_factory.mktemp("stale"))


@pytest.mark.thorough
def test_a_second_run_takes_everything_from_the_cache_and_an_edit_nothing_old(copy):
    """One story, because each compilation costs seconds: run, edit a mechanism, undo it and edit comments.

    An agent's functions and constants are in `test_compiling.py`.
    """
    first = copy.arms("DP-EXP3-Lap")
    assert len(copy.machine_code()) == 2  # the loop with EXP3, and what checks and adds up gains

    # A constant in a helper of the loop itself.
    copy.edit("privacy/mechanisms/laplace_gains.py", "(width + 2.0 * state.bound)", "(width + 9.0 * state.bound)")
    assert copy.arms("DP-EXP3-Lap") != first

    # Undone, the first code is back, from the cache, whatever comments say.
    kept = copy.machine_code()
    copy.edit("privacy/mechanisms/laplace_gains.py", "(width + 9.0 * state.bound)", "(width + 2.0 * state.bound)")
    copy.edit("compiling/intrinsics.py", "# mypy: disable-error-code", "# MYPY: disable-error-code")
    copy.edit("compiling/numba_functions.py", "# Loops over arms", "# LOOPS over arms")
    assert copy.arms("DP-EXP3-Lap") == first
    assert copy.machine_code() == kept


@pytest.mark.slow
def test_an_edit_beneath_the_functions_and_one_of_a_constant_of_a_module_are_noticed(copy):
    """What generates machine code is code as well."""
    first, number = copy.arms("DP-EXP3-Lap"), len(copy.machine_code())
    copy.edit("compiling/intrinsics.py", "builder.add(counter, WORD(1))", "builder.add(WORD(1), counter)")
    assert copy.arms("DP-EXP3-Lap") == first
    assert len(copy.machine_code()) == number + 2
    before = copy.arms("HTINF")
    copy.edit("theory/adversarial_bounds.py", "Final = 1 - 2 ** (-1 / 3)", "Final = 9 - 2 ** (-1 / 3)")
    assert copy.arms("HTINF") != before


def twice(x):
    return 2.0 * x


def test_where_nothing_can_be_kept_it_is_compiled_each_time(monkeypatch):
    """A container may have no writable folder at all; that costs seconds, and must not cost the simulation."""
    monkeypatch.setattr(CacheImpl, "_locator_classes", [])
    monkeypatch.setattr(twice, "__module__", "dp_bandit_envs.tests")
    assert CompiledFunction(twice, {})(1.0) == 2.0


def test_the_file_of_a_function_that_was_sent_is_not_run(tmp_path, monkeypatch):
    """A process that gets a function gets it without its module, whose file may do anything once more."""
    (tmp_path / "runs_once.py").write_text("raise RuntimeError('run again')", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    sent = {"__name__": "runs_once"}
    exec("def half(x):\n    return x / 2\n\n\ndef quarter(x):\n    return half(half(x))\n", sent)
    assert CompiledFunction(sent["quarter"], {})(3.0) == 0.75


def loop_for(n_arms):
    given = {"horizon": 20, "seed": 0, "checkpoints": 3, "env_kwargs": {"n_arms": n_arms}}
    (engine,) = prepare("DPBandit-Stochastic-v0", ["Uniform"], **given).engines
    return LaneLoop(engine.games["Uniform"])


@pytest.mark.thorough
def test_loops_over_lanes_are_kept_on_disk_and_have_a_name_for_each_layout(tmp_path, monkeypatch):
    """They have a compiler of their own, which could forget it; code from disk is found by its name."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(lanes, "_play_loop", lanes._play_loop.__wrapped__)
    assert loop_for(3).address
    assert len(list(tmp_path.rglob("lanes.play_lanes_*.nbc"))) == 1
    four, two, again = (loop_for(n_arms).compiled._dispatcher.py_func.__qualname__ for n_arms in (4, 2, 4))
    assert four == again != two


SEVERAL = """
import sys
started = []
starts = ("subprocess.Popen", "os.fork", "os.forkpty", "os.posix_spawn", "os.spawn", "os.startfile")
sys.addaudithook(lambda event, _: started.append(event) if event in starts else None)
from dp_bandit_envs import simulate
outcomes = simulate("DPBandit-Stochastic-v0", ["EXP3", "EXP3-tau", "Uniform", "UCB"], horizon=50, trials=4)
print({one.engine for one in outcomes.values()}, started)
"""


@pytest.mark.slow
def test_no_second_process_starts_to_compile_or_to_load(tmp_path):
    """Several loops over lanes, without machine code on disk and with all of it, which small simulations load, too."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    found = []
    for compiling in ("always", "always", "auto"):
        done = subprocess.run(
            [sys.executable, "-c", SEVERAL],
            env=environment | {"DP_BANDIT_ENVS_COMPILE": compiling},
            capture_output=True,
            text=True,
            check=True,
        )
        found.append((done.stdout.strip(), len(list(tmp_path.rglob("*.nbc")))))
    assert found[0] == found[1] == found[2] and found[0][0] == "{'lanes'} []" and found[0][1] > 4


MODULE = """
from typing import NamedTuple
import numpy as np
from dp_bandit_envs import Algorithm, Exp3, simulate
from dp_bandit_envs.wrappers import PrivacyBoundary
from dp_bandit_envs.privacy import PrivacyGuarantee
from dp_bandit_envs.privacy.mechanism import Mechanism


class State(NamedTuple):
    truth: float


def release(state, arm, gain, rng):
    return (1.0 if rng.random() < gain else 0.0), 1


class Coin(Mechanism):
    release = staticmethod(release)
    withholds = False

    def new_state(self, below):
        return State(1.0)

    def guarantee(self, below):
        return PrivacyGuarantee.none("a coin hides nothing")


mine = Algorithm("mine", Exp3, lambda env: PrivacyBoundary(env, Coin()))
found = simulate("DPBandit-Stochastic-v0", [mine], horizon=50, trials=2)["mine"]
print(found.engine, found.pulls.sum())
"""


@pytest.mark.thorough
def test_functions_of_a_module_that_is_being_imported_are_compiled(tmp_path):
    """Another thread would wait for the import for ever; the limit is only there so that the test can fail."""
    (tmp_path / "experiment.py").write_text(MODULE, encoding="utf-8")
    command = [sys.executable, "-c", "import experiment"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=True)
    assert done.stdout.split() == ["compiled", "100"]


# ---- a damaged file of machine code is as good as none: the function is compiled again, and the file is replaced


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """The folder of a cache of its own."""
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


def call():
    """Call a small function of the package as a new process would, and return it."""
    compiled = CompiledFunction(add_up, {})
    totals, record = np.zeros(2), np.zeros((1, 2))
    compiled(np.array([[0.25, 1.0], [0.5, 0.0]]), totals, 1, np.array([2]), record)
    assert totals.tolist() == record[0].tolist() == [0.75, 1.0]
    return compiled


def was_loaded(compiled):
    return sum(compiled._dispatcher.stats.cache_hits.values()) == 1


def one_file(cache):
    (file,) = cache.rglob("*.nbc")
    return file


DAMAGE = {
    "empty": lambda data: b"",
    "zeros": lambda data: bytes(len(data)),
    "a flipped bit in the code": lambda data: data[:900] + bytes([data[900] ^ 1]) + data[901:],
    "a flipped bit in the digest": lambda data: bytes([data[0] ^ 1]) + data[1:],
    "a digest of something that is no code": lambda data: hashlib.sha256(b"nothing").digest() + b"nothing",
}


@pytest.mark.thorough
def test_a_damaged_file_is_compiled_again_and_replaced(cache):
    assert not was_loaded(call())
    assert was_loaded(call())
    file = one_file(cache)
    whole = file.read_bytes()
    for kind, damage in DAMAGE.items():
        file.write_bytes(damage(whole))
        assert not was_loaded(call()), kind
        assert was_loaded(call()), kind


@pytest.mark.thorough
def test_a_folder_that_cannot_be_written_costs_time_only(cache, monkeypatch):
    def refused(*arguments):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("dp_bandit_envs.compiling.numba_functions.os.replace", refused)
        call()
    assert not [path for path in cache.rglob("*") if path.is_file() and path.suffix != ".nbi"]
    shutil.rmtree(cache)
    cache.write_text("a file in the place of the folder")
    call()
    assert cache.read_text() == "a file in the place of the folder"


def aged(file, days):
    then = time.time() - days * 86_400
    os.utime(file, (then, then))
    return file


@pytest.mark.thorough
def test_what_nobody_uses_is_removed_when_something_is_written(cache):
    call()
    used = one_file(cache)
    name, folder = used.name.rpartition("-")[0], used.parent
    left = [folder / "mine.nbc", folder / f"{name}-{'0' * 32}.txt"]
    old = [folder / f"{name}-{'0' * 32}.nbc", folder / f"{name}-{'1' * 32}.nbc.{'2' * 32}"]
    for file in (*left, *old):
        file.touch()
        aged(file, 91)
    young = folder / f"{name}-{'3' * 32}.nbc"
    young.touch()
    aged(young, 89)
    aged(used, 89)
    assert was_loaded(call())
    assert time.time() - used.stat().st_mtime < 3_600  # it was used now
    assert all(file.exists() for file in (*old, young))
    used.unlink()
    assert not was_loaded(call())
    assert not [file for file in old if file.exists()]
    assert all(file.exists() for file in (used, young, *left))


@pytest.mark.thorough
def test_a_folder_that_is_only_read_is_used_in_silence(cache, monkeypatch, capfd):
    call()
    aged(one_file(cache), 100)

    def refused(*arguments):
        raise PermissionError(30, "Read-only file system")

    for change in ("utime", "replace", "unlink"):
        monkeypatch.setattr(f"dp_bandit_envs.compiling.numba_functions.os.{change}", refused)
    assert was_loaded(call())
    assert capfd.readouterr() == ("", "")


# ---- the words of a game
class Inner(NamedTuple):
    """Arrays of several types, one of them empty and one in Fortran's order."""

    bits: np.ndarray
    table: np.ndarray
    nothing: np.ndarray


class State(NamedTuple):
    """Numbers and arrays, some of them further inside."""

    means: np.ndarray
    scale: float
    inner: Inner
    pair: tuple


def first_state():
    table = np.asfortranarray(np.arange(6.0).reshape(2, 3))
    return State(
        np.linspace(0, 1, 5), 0.5, Inner(np.array([True, False, True]), table, np.zeros((0, 4))), (3, np.ones(1))
    )


def arrays(state):
    return [state.means, state.inner.bits, state.inner.table, state.inner.nothing, state.pair[1]]


def test_a_game_has_the_same_numbers_types_and_shapes():
    image = Image(first_state())
    game = image.read(image.games([()])[0])
    assert type(game) is State and type(game.inner) is Inner and game.scale == 0.5 and game.pair[0] == 3
    for one, other in zip(arrays(game), arrays(first_state()), strict=True):
        np.testing.assert_array_equal(one, other)
        assert one.dtype == other.dtype and one.shape == other.shape
        assert one.flags.c_contiguous and one.flags.aligned and one.flags.writeable


def test_writing_to_a_game_changes_nothing_else():
    image = Image(first_state())
    block = image.games([()] * 3)
    for array in arrays(image.read(block[1])):
        array[...] = 7
    others = [image.read(game) for game in (block[0], block[2], image.games([()] * 1)[0])]
    for game in others:
        for one, other in zip(arrays(game), arrays(first_state()), strict=True):
            np.testing.assert_array_equal(one, other)
    image.begin(block, [()])
    np.testing.assert_array_equal(image.read(block[1]).means, first_state().means)


def test_what_machine_code_cannot_hold_is_refused():
    for part in (np.array([None], object), None, "word", {"a": 1}):
        with refused(TypeError, "state"):
            Image((part,))


def test_a_replaced_array_may_be_larger_and_of_the_same_type_only():
    image = Image(first_state())
    game = image.games([()] * 1)[0]
    contents_of = {}
    state = image.read(game, contents_of=contents_of)
    image.replace(game, state._replace(means=np.arange(9.0)), image.form, contents_of)
    assert image.read(game, contents_of=contents_of).means.tolist() == list(range(9))
    assert image.read(game, contents_of=contents_of).inner.table is state.inner.table
    with refused(TypeError, "types"):
        image.replace(game, state._replace(means=np.arange(5)), image.form, contents_of)


class Two(NamedTuple):
    first: np.ndarray
    second: np.ndarray
    number: float


def in_turn(state, rng):
    return int(state.first[0]) % len(state.first)


def swapped(state, arm, seen):
    """Exchange the arrays, one of them for a new one."""
    new = np.zeros(len(state.first))
    for each in range(len(new)):
        new[each] = state.first[each] + 1.0
    new[arm] += seen.gains[arm]
    return Two(state.second, new, state.number + 0.5)


def grown(state, arm, seen):
    return Two(state.first, np.zeros(len(state.second) + 1), state.number)


def own_agent(choose, learn):
    class Mine(FunctionalAgent):
        functions = Functions(choose, learn)

        def initial_state(self, n_arms, horizon):
            return Two(np.zeros(n_arms), np.arange(n_arms) * 2.0, 0.0)

    return Mine


@pytest.mark.thorough
def test_an_own_state_may_be_new_and_swapped(monkeypatch):
    """Between two calls of machine code it is in memory of its own, wherever `update` has put it."""
    monkeypatch.setattr("dp_bandit_envs.simulation.engines.ROUNDS_AT_ONCE", 7)
    mine = Algorithm("mine", own_agent(in_turn, swapped))
    arms = assert_same("DPBandit-Stochastic-v0", [mine], horizon=100, seed=4)
    assert len(set(arms["mine", 0].tolist())) > 1


@pytest.mark.thorough
def test_an_own_state_whose_arrays_grow_says_so():
    with refused(ValueError, "another shape", "initial_state"):
        simulate("DPBandit-Stochastic-v0", {"mine": own_agent(in_turn, grown)}, horizon=50, seed=0)
