"""A digest of code notices whatever the code uses, wherever that is hidden, and is the same in every process."""

import subprocess
import sys

import pytest

from dp_bandit_envs.simulation.code_digest import code_digest

BEGIN = """
import collections, functools, random, threading
NUMBER = 0

class Value:
    def __get__(self, one, kind=None): return NUMBER

class Meta(type):
    number = 0

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
    "a cached property": ("class use: number = functools.cached_property(lambda self: NUMBER)", "NUMBER = 1"),
    "a metaclass": ("class use(metaclass=Meta): pass", "Meta.number = 1"),
    "a function in an object": ("def use(): return kept.function()", "NUMBER = 1"),
    "another function in an object": ("def use(): return kept.function()", "kept.function = lambda: 1"),
    "the class of an object": ("def use(): return fixed.number", "Fixed.number = 1"),
    "a deque": ("def use(): return row[0]", "row[0] = 1"),
    "a state in C": ("def use(): return rng.random()", "rng.seed(1)"),
}


@pytest.mark.parametrize(("code", "change"), HIDDEN.values(), ids=HIDDEN)
def test_what_is_hidden_counts(code, change):
    names = {"__name__": "a_notebook"}
    exec(BEGIN + code, names)
    before = code_digest(names["use"])
    assert code_digest(names["use"]) == before
    exec(change, names)
    assert code_digest(names["use"]) != before


def test_it_is_the_same_in_another_process():
    """Also beside a lock and a filled cache, which are nothing of the code's."""
    code = BEGIN + "def use(): return cached(), kept.function(), fixed.number, row, rng, lock, {'a', 'b', 'c'}\n"
    imported = "from dp_bandit_envs.simulation.code_digest import code_digest\n"
    program = f"{imported}__name__ = 'a_notebook'\n{code}\nprint(code_digest(use))"
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    names = {"__name__": "a_notebook"}
    exec(code, names)
    names["cached"]()
    assert done.stdout.strip() == code_digest(names["use"])
