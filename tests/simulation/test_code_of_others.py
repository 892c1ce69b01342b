"""The code of others, sent and remembered: other processes play what it is now, and a digest notices what it uses."""

import functools
import importlib
import linecache
import os
import signal
import subprocess
import sys
import tempfile
import threading
import types

import gymnasium as gym
import joblib
import numpy as np
import pytest

from dp_bandit_envs import Adversary, compare, register_adversary, simulate
from dp_bandit_envs.compiling.functions import code_text
from dp_bandit_envs.errors import NotSendableError, ResultsError
from dp_bandit_envs.simulation.pickling import PickledWork
from dp_bandit_envs.simulation.provenance import code_digest, foreign_code, installed_as
from tests.tools.refusals import refused
from tests.tools.toys import USERS_AGENT, Script, UncompiledExp3, drifting, forget

GAME = "DPBandit-Stochastic-v0"
FILE = f"""import threading
from typing import NamedTuple
import numpy as np
from dp_bandit_envs.agents import FunctionalAgent
from dp_bandit_envs.agents.functional import Functions

ARM = {{arm}}
lock = threading.Lock()

{USERS_AGENT.format(arm="ARM")}

class State(NamedTuple):
    sums: np.ndarray


def select(state, rng):
    return arm_of_all(state)


def arm_of_all(state):
    return min(ARM, len(state.sums) - 1)


def update(state, arm, seen):
    return state


class CompiledFunction(FunctionalAgent):
    functions = Functions(select, update)

    def initial_state(self, n_arms, horizon):
        return State(np.zeros(n_arms))


class Locked(Fixed):
    def select_arm(self):
        with lock:
            return ARM
"""


def arm_of(player, engine="play"):
    """Return the arm that an agent pulls in two processes."""
    with joblib.parallel_config(backend="loky"):
        outcome = simulate(GAME, {"a": player}, horizon=9, trials=4, jobs=2)["a"]
    assert outcome.engine == engine and np.all(outcome.pulls.max(axis=1) == 9)
    return int(outcome.pulls[0].argmax())


@pytest.fixture
def workers():
    """Processes that have not seen the files below, and do not look for them where they will be."""
    arm_of(Script)


@pytest.fixture
def fixed_arm(workers, written):
    """Return a function that writes `fixed_arm.py` and imports it."""
    return lambda arm, load=True: written(load, fixed_arm=FILE.format(arm=arm))


@pytest.mark.thorough
def test_a_file_that_was_changed_is_played_as_it_is_once_it_is_loaded_again(fixed_arm):
    assert [arm_of(fixed_arm(arm).Fixed) for arm in (0, 1, 0)] == [0, 1, 0]
    agent = fixed_arm(1).Fixed
    fixed_arm(0, load=False)
    assert arm_of(agent) == 1
    assert [arm_of(fixed_arm(arm).CompiledFunction, "compiled") for arm in (0, 1)] == [0, 1]


@pytest.mark.thorough
def test_what_cannot_be_sent_says_so_and_plays_with_one_job(fixed_arm):
    agent = fixed_arm(1).Locked
    with refused(NotSendableError, "environment", "picklable", "_thread.lock", "installed", "jobs=1"):
        arm_of(agent)
    outcome = simulate(GAME, {"a": agent}, horizon=9, trials=4, jobs=1)["a"]
    assert np.all(outcome.pulls[:, 1] == 9)


@pytest.mark.thorough
def test_an_attribute_of_a_class_is_played_as_it_is_now():
    """The workers have seen the class before, by the same id, and keep what they have unpacked."""

    class Set(Script):  # travels by value, as one of a notebook does
        arm = 0

        def select_arm(self):
            return self.arm + getattr(self, "more", 0)

    arms = []
    for Set.arm in (0, 1, 0):
        arms.append(arm_of(Set))
    Set.more = 2
    arms.append(arm_of(Set))
    del Set.more
    assert [*arms, arm_of(Set)] == [0, 1, 0, 2, 0]


@pytest.fixture
def mine():
    yield register_adversary("Mine", drifting(1.0))
    forget("Mine")


def regrets(game, jobs, **options):
    outcome = simulate(game, {"a": UncompiledExp3}, trials=4, jobs=jobs, **options)["a"]
    assert outcome.engine == "play"
    return outcome.external_regret


@pytest.mark.thorough
def test_workers_know_a_game_that_was_registered_in_the_parent_only(mine):
    """By its id, in a function, and as gains on a graph."""

    def make():
        return gym.make("DPBandit-Mine-v0", horizon=20)

    on_graph = {"horizon": 20, "env_kwargs": {"graph": "star", "gains": "mine", "n_arms": 4}}
    for game, options in ((mine, {}), (make, {}), ("DPBandit-Graph-v0", on_graph)):
        np.testing.assert_array_equal(regrets(game, 2, **options), regrets(game, 1, **options))


@pytest.mark.thorough
def test_a_registered_game_is_played_as_it_is_now(mine):
    """Joblib's workers outlive a simulation, and know the older class and the older attribute."""
    found = []
    for power in (1.0, 5.0, 1.0):
        forget("Mine")
        register_adversary("Mine", drifting(power))
        found.append(regrets(mine, 2))
        np.testing.assert_array_equal(found[-1], regrets(mine, 1))
    assert np.array_equal(found[0], found[2]) and not np.array_equal(found[0], found[1])


@pytest.mark.thorough
def test_an_attribute_of_a_registered_game_is_that_of_now():
    class Best(Adversary):
        best = 0

        def begin(self, rng):
            pass

        def next_gains(self, rounds):
            return np.tile(np.arange(self.n_arms) == self.best, (rounds, 1)).astype(float)

    id_, found = register_adversary("BestOfNow", Best), []
    for Best.best in (0, 1, 0):
        outcome = simulate(id_, {"a": Script}, horizon=9, trials=4, jobs=2)["a"]
        found.append(outcome.external_regret[0, -1])
    forget("BestOfNow")
    assert found == [0, 9, 0]


@pytest.mark.thorough
def test_an_adversary_that_cannot_be_pickled_says_what_to_do():
    locked = drifting(1.0)
    locked.lock = threading.Lock()
    id_ = register_adversary("Locked", locked)
    with refused(NotSendableError, "DPBandit-Locked-v0", "picklable", "jobs=1"):
        regrets(id_, 2)
    regrets(id_, 1)
    # Other games do not need it.
    regrets(GAME, 2, horizon=10)
    forget("Locked")


class TwoWordsError(Exception):
    """Cannot be unpickled: its class takes two arguments, and it keeps one."""

    def __init__(self, arm, why):
        super().__init__(f"arm {arm} {why}")


class Stops(UncompiledExp3):
    def select_arm(self):
        raise TwoWordsError(3, "is gone")


@pytest.mark.parametrize("jobs, error", [(1, TwoWordsError), (2, RuntimeError)])
def test_an_error_that_cannot_be_pickled_keeps_its_words(jobs, error):
    with refused(error, "arm 3 is gone") as caught:
        simulate(GAME, {"a": Stops}, horizon=10, trials=2, jobs=jobs)
    assert jobs == 1 or "TwoWordsError" in str(caught.value)


class Unknown:
    """Work whose game is unknown where it is played."""

    seed = 123456

    def run(self, trials, stopped):
        """Make it."""
        return [gym.make("DPBandit-Nowhere-v0") for _ in trials]


def test_what_a_worker_cannot_import_says_so_and_a_log_does_not_show_the_work():
    """Dask writes what a task was given into its logs when it fails; the seed of all noise is in it."""
    with refused(NotSendableError, "environment", "importable"):
        PickledWork(b"nonsense", ()).play(range(1))
    sent = PickledWork(PickledWork.of(Unknown()).work, (("Nowhere", b"nonsense"),))
    assert "bytes" in repr(sent) and "123456" not in repr(sent) and "Unknown" not in repr(sent)
    with refused(NotSendableError, "DPBandit-Nowhere-v0", "importable"):
        sent.play(range(1))
    with pytest.raises(gym.error.NameNotFound):
        PickledWork(sent.work, ()).play(range(1))


@pytest.mark.thorough
@pytest.mark.skipif(not hasattr(os, "fork"), reason="only where processes can be forked")
def test_a_fork_does_not_wait_for_its_parents_workers():
    """It plays the same games; the limit is there to let it fail."""
    before = regrets(GAME, 2, horizon=30)
    child = os.fork()
    if child == 0:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(120)
        same = False
        try:
            same = np.array_equal(regrets(GAME, 2, horizon=30), before)
        finally:
            os._exit(0 if same else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert np.array_equal(regrets(GAME, 2, horizon=30), before)


# ---- a digest of code
BEGIN = """
import collections, functools, random, threading
NUMBER = 0

class Value:
    def __get__(self, one, kind=None): return NUMBER

class Kept:
    def __init__(self): self.function = lambda: NUMBER

class Fixed:
    number = 0

@functools.cache
def cached(): return NUMBER

kept, fixed, row, rng, lock = Kept(), Fixed(), collections.deque([0]), random.Random(0), threading.Lock()
"""
HIDDEN = {
    "what a cache wraps": ("def use(): return cached()", "NUMBER = 1"),
    "a descriptor": ("class use:\n    number = Value()", "NUMBER = 1"),
    "another function in an object": ("def use(): return kept.function()", "kept.function = lambda: 1"),
    "the class of an object": ("def use(): return fixed.number", "Fixed.number = 1"),
    "a deque": ("def use(): return row[0]", "row[0] = 1"),
    "a state in C": ("def use(): return rng.random()", "rng.seed(1)"),
}


def test_plain_values_in_closures_defaults_and_partials_count():
    """The same source is another agent at another temperature."""

    def make(value, default):
        def used(first, second=default, *, third=default):
            return first, value

        return used

    def partly(value):
        return functools.partial(make(0, 0), [value])

    makers = [make(0, 0), make(1, 0), make(0, 1), make([0], 0), partly(0), partly(1)]
    assert len({code_digest(one) for one in makers}) == 6
    assert code_digest(partly(1)) == code_digest(partly(1)) and code_digest(make([0], 0)) == code_digest(makers[3])


def test_what_is_hidden_counts():
    for what, (code, change) in HIDDEN.items():
        names = {"__name__": "a_notebook"}
        exec(BEGIN + code, names)
        before = code_digest(names["use"])
        assert code_digest(names["use"]) == before, what
        exec(change, names)
        assert code_digest(names["use"]) != before, what


def test_the_values_of_tensors_count_also_where_numpy_reads_none():
    torch = pytest.importorskip("torch")
    kinds = {
        "with a gradient": lambda value: torch.tensor([value, 1.0], requires_grad=True),
        "computed of one": lambda value: torch.tensor([value, 1.0], requires_grad=True) * 2,
        "of bfloat16": lambda value: torch.tensor([value, 1.0], dtype=torch.bfloat16),
        "sparse": lambda value: torch.tensor([value, 1.0]).to_sparse(),
        "in a layer": lambda value: torch.nn.Embedding.from_pretrained(torch.tensor([[value]]), freeze=False),
    }
    for what, make in kinds.items():
        first, same, other = (code_digest(make(value)) for value in (0.5, 0.5, 0.25))
        assert first == same != other, what


class Unwilling:
    """Raises for attributes that it does not have, as a proxy of PyTorch's does."""

    def __getattr__(self, name):
        raise RuntimeError(name)


def test_an_object_that_raises_for_unknown_attributes_has_a_digest():
    assert code_digest(Unwilling()) == code_digest(Unwilling())


@pytest.mark.thorough
def test_it_is_the_same_in_another_process():
    """Also beside a lock and a filled cache, which are nothing of the code's."""
    code = BEGIN + "def use(): return cached(), kept.function(), fixed.number, row, rng, lock, {'a', 'b', 'c'}\n"
    imported = "from dp_bandit_envs.simulation.provenance import code_digest\n"
    program = f"{imported}__name__ = 'a_notebook'\n{code}\nprint(code_digest(use))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    names = {"__name__": "a_notebook"}
    exec(code, names)
    names["cached"]()
    assert done.stdout.strip() == code_digest(names["use"])


EDITS = {
    "moved out of try": (
        "try:\n  x=g()\n  y=h(x)\n except E:\n  return 0",
        "try:\n  x=g()\n except E:\n  return 0\n else:\n  y=h(x)",
    ),
    "an assert": ("assert a > 0", "assert a > 1"),
    "a keyword only": ("def g(a, b): pass", "def g(a, *, b): pass"),
    "a position only": ("def g(a, b): pass", "def g(a, b, /): pass"),
    "many positions": ("def g(a): pass", "def g(*a): pass"),
    "many keywords": ("def g(a): pass", "def g(**a): pass"),
    "-0.0": ("return 0.0", "return -0.0"),
}


def install(folder, name, version, *, editable=False):
    """Make a distribution of a module in a folder."""
    info = folder / f"{name}_dist-{version}.dist-info"
    info.mkdir(exist_ok=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}-dist\nVersion: {version}\n")
    (info / "top_level.txt").write_text(name)
    if editable:
        (info / "direct_url.json").write_text('{"url": "file:///x", "dir_info": {"editable": true}}')
    for cached in vars(importlib.import_module(installed_as.__module__)).values():
        if isinstance(cached, functools._lru_cache_wrapper) and cached.__name__ in ("_owners", "_packages"):
            cached.cache_clear()


@pytest.mark.thorough
def test_every_edit_of_what_is_done_counts_as_source_and_as_byte_code(written):
    """Keys of machine code are made of byte code, which has instructions for all but handlers and arguments."""
    for what, edit in EDITS.items():
        first, second = (foreign_code([written(zz_mine=f"def f(a):\n {body}\n").f]) for body in edit)
        assert first["module zz_mine"] != second["module zz_mine"], what
        first, second = (code_text(compile(f"def f(a):\n {body}\n return y\n", "m", "exec")) for body in edit)
        assert first != second, what


@pytest.mark.thorough
def test_what_the_functions_reach_counts_by_name(written):
    """A helper beside it, one that is imported in a function, one that is reached through a module."""
    mine = """import zz_module
import numpy
from zz_base import Base

class Mine(Base):
    def select_arm(self):
        from zz_lazy import arm
        return arm() + zz_module.arm() + numpy.random.random()
"""
    helpers = {"zz_deep": "def deep(): return 0", "zz_module": "from zz_deep import deep\ndef arm(): return deep()"}
    helpers |= {"zz_lazy": "def arm(): return 0", "zz_base": "class Base: pass", "zz_unused": "x = 1"}
    first = foreign_code([written(**helpers, zz_mine=mine).Mine])
    assert first["installed numpy"] == sys.modules["numpy"].__version__
    reached = [f"module {name}" for name in ("zz_base", "zz_deep", "zz_lazy", "zz_mine", "zz_module")]
    assert sorted(name for name in first if name.startswith("module")) == reached
    for name in ("zz_base", "zz_deep", "zz_lazy", "zz_module"):
        changed = {**helpers, name: f"{helpers[name]}\nx = 1"}
        second = foreign_code([written(**changed, zz_mine=mine).Mine])
        assert {key for key in first if first[key] != second[key]} == {f"module {name}"}


@pytest.mark.thorough
def test_a_file_that_was_changed_after_it_was_loaded_is_not_what_plays(written):
    old = written(zz_mine="def f(): return 0\n").f
    written(load=False, zz_mine="def f(): return 1\n")
    before = foreign_code([old])
    assert before != foreign_code([written(zz_mine="def f(): return 1\n").f])


@pytest.mark.thorough
def test_a_value_that_another_file_gives_counts(written, tmp_path):
    source = (
        f"import pathlib\nRATE = float(pathlib.Path({str(tmp_path / 'rate')!r}).read_text())\ndef f(): return RATE\n"
    )
    found = []
    for rate in ("0.1", "0.2", "0.1"):
        (tmp_path / "rate").write_text(rate)
        found.append(foreign_code([written(zz_mine=source).f]))
    assert found[0] == found[2] != found[1]


def kept(agent, folder):
    return compare("Deterministic", [agent], horizon=20, trials=2, folder=folder)


@pytest.mark.thorough
def test_an_agent_of_another_version_of_a_package_is_refused_by_name(written, tmp_path):
    """Source and version count; for a package that does not play the version only; if editable the source only."""
    agent = written(zz_agents=USERS_AGENT.format(arm=0)).Fixed
    install(tmp_path, "zz_agents", "1.0")
    kept(agent, tmp_path / "out")
    kept(agent, tmp_path / "out")
    with refused(ResultsError, "module zz_agents"):
        kept(written(zz_agents=USERS_AGENT.format(arm=1)).Fixed, tmp_path / "out")
    (tmp_path / "zz_agents_dist-1.0.dist-info").rename(tmp_path / "zz_agents_dist-2.0.dist-info")
    install(tmp_path, "zz_agents", "2.0")
    with refused(ResultsError, "installed zz_agents-dist 1.0 there, 2.0 here"):
        kept(written(zz_agents=USERS_AGENT.format(arm=0)).Fixed, tmp_path / "out")
    uses = "import zz_agents\nclass Mine(zz_agents.Fixed): pass\n"
    found = foreign_code([written(zz_mine=uses).Mine])
    assert found["installed zz_agents-dist"] == "2.0" and "module zz_agents" not in found
    install(tmp_path, "zz_agents", "2.0", editable=True)
    found = foreign_code([written(zz_mine=uses).Mine])
    assert "installed zz_agents-dist" not in found and "module zz_agents" in found


@pytest.mark.thorough
def test_an_extension_module_counts_by_its_bytes(tmp_path, monkeypatch):
    module = types.ModuleType("zz_fast")
    module.__file__ = str(tmp_path / f"zz_fast{importlib.machinery.EXTENSION_SUFFIXES[-1]}")
    monkeypatch.setitem(sys.modules, "zz_fast", module)
    found = []
    for content in (b"\x7fELF\x00", b"\x7fELF\x01"):
        (tmp_path / module.__file__).write_bytes(content)
        found.append(foreign_code([], [module])["module zz_fast"])
    assert found[0] != found[1]


def cell(number, source):
    """Run a cell of a notebook, as Jupyter does."""
    file = f"{tempfile.gettempdir()}/ipykernel_1/{number}.py"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    names = {"__name__": "a_notebook"}
    exec(compile(source, file, "exec"), names)
    return names["Mine"]


def test_a_cell_of_a_notebook_counts_but_not_its_comments():
    source = (
        "import dataclasses\n@dataclasses.dataclass\nclass Mine:\n    number: int = 0\n    def f(self):\n        {}\n"
    )
    first = foreign_code([cell(1, source.format("return 0"))])
    assert foreign_code([cell(2, "\n# A comment\n" + source.format("return 0  # none"))]) == first
    assert foreign_code([cell(3, source.format("assert True\n        return 0"))]) != first


@pytest.mark.thorough
def test_what_has_no_source_counts_by_its_byte_code(tmp_path):
    agents = []
    for arm in (0, 0, 1):
        names = {"__name__": "a_notebook"}
        exec(USERS_AGENT.format(arm=arm), names)
        agents.append(names["Fixed"])
    kept(agents[0], tmp_path / "out")
    kept(agents[1], tmp_path / "out")
    with refused(ResultsError, "a_notebook.Fixed"):
        kept(agents[2], tmp_path / "out")
