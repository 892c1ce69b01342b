"""Machine code is what a function and its values are now: of equal ones it is made once, of others anew."""

import contextlib
import functools
import gc
import inspect
import sys
import textwrap
import types
from typing import NamedTuple

import cloudpickle
import gymnasium as gym
import numba
import numpy as np
import pytest
from numba.core import event
from numba.core.compiler import Flags

from dp_bandit_envs import Algorithm, BanditEnv, play, simulate
from dp_bandit_envs.adversaries import MemoryBounded
from dp_bandit_envs.agents import FunctionalAgent, exp3, tsallis_inf, uniform
from dp_bandit_envs.agents.functional import Functions
from dp_bandit_envs.algorithms import make_algorithm
from dp_bandit_envs.compiling.compiled import CompiledFunction
from dp_bandit_envs.compiling.functions import bind, code_text, content, fingerprint, frozen
from dp_bandit_envs.privacy import PrivacyGuarantee
from dp_bandit_envs.privacy.mechanism import Mechanism
from dp_bandit_envs.simulation import stages
from dp_bandit_envs.simulation.compiled_game import make_compiled_game
from dp_bandit_envs.simulation.lanes import LaneGains, LaneLoop, supports
from dp_bandit_envs.wrappers import PrivacyBoundary
from tests.simulation.test_own_agents import GAME, agent


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
    """Two numbers."""

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


@pytest.fixture
def numba_compiled():
    """What Numba has begun to compile."""
    begun = []

    class Listener(event.Listener):
        def on_start(self, event):
            begun.append(event)

        def on_end(self, event):
            pass

    with event.install_listener("numba:compile", Listener()):
        yield begun


@pytest.mark.thorough
def test_an_agent_of_a_notebook_is_compiled_once(numba_compiled):
    mine = {"mine": agent(choose=lambda state, rng: len(state.totals) - 2)}
    assert simulate(GAME, mine, horizon=20)["mine"].engine == "compiled"
    before = len(numba_compiled)
    assert simulate(GAME, mine, horizon=20)["mine"].engine == "compiled"
    assert len(numba_compiled) == before > 0


STEP, ANSWER, PAID = 1, 0.0, 0.0


class Turn(NamedTuple):
    """An array."""

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
        """Return arm 0."""
        return Turn(np.zeros(1))


class Truth(NamedTuple):
    """Nothing of use."""

    number: float


def answer(state, arm, gain, rng):
    """Release the same whatever the gain."""
    return ANSWER, 1


class Answers(Mechanism):
    """Releases one number."""

    release = staticmethod(answer)
    withholds = False

    def new_state(self, below):
        """Return a state."""
        return Truth(0.0)

    def guarantee(self, below):
        """Return none."""
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
        outcome, game = simulate(make, [player], seed=0)["a"], play(make(), player, seed=0)
        assert outcome.engine == "compiled"
        assert np.array_equal(outcome.pulls[0], np.bincount(game.arms, minlength=4))
        assert outcome.collected[0, -1] == game.collected[-1]
        seen.add((*outcome.pulls[0], outcome.collected[0, -1]))
    assert len(seen) == 4


def calls_nothing(number):
    return number + 1.0


def calls_what_is_not_there(number):
    return calls_nothing(number).not_there


@pytest.mark.parametrize("function", [calls_nothing, calls_what_is_not_there])
def test_searches_for_garbage_are_rare_while_something_is_compiled_and_as_before_afterwards(function):
    before, seen = gc.get_threshold(), []

    class Listener(event.Listener):
        def on_start(self, event):
            seen.append(gc.get_threshold())

        def on_end(self, event):
            seen.append(gc.get_threshold())

    with event.install_listener("numba:run_pass", Listener()), contextlib.suppress(numba.TypingError):
        CompiledFunction(function, {})(np.float64(sys.maxsize))
    assert len(seen) > 20 and {first >= 50_000 for first, *_ in seen} == {True}
    assert gc.get_threshold() == before


def test_options_are_equal_where_numbas_are():
    from dp_bandit_envs.compiling.numba_functions import _Flags

    def options(**values):
        flags = Flags()
        for name, value in values.items():
            setattr(flags, name, value)
        return flags

    all_of = [
        options(),
        options(nrt=True),
        options(nrt=False),
        options(boundscheck=True),
        options(nrt=True, release_gil=True),
    ]
    for one in all_of:
        for other in all_of:
            assert (_Flags(one) == other) == (one == other) == (other == _Flags(one))
            assert one == other or _Flags(one) != _Flags(other)
        assert hash(_Flags(one)) == hash(one) and _Flags(one) == _Flags(one) and _Flags(one) != "nrt"
