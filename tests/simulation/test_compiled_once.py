"""Equal functions from elsewhere, as those of a notebook that each task unpacks again, are compiled once."""

from collections import OrderedDict

import cloudpickle
import numpy as np
import pytest

from dp_bandit_envs.compiling import compiled as compiling
from dp_bandit_envs.compiling.compiled import compile_with


def made(constant=2.0, table=(1.0, 2.0)):
    """Return a function that no module has, with a helper, a constant, a tuple and an array."""
    array = np.array(table)
    namespace = {"constant": constant, "table": table, "array": array}
    exec("def helper(x):\n    return x * constant\n", namespace)
    exec("def total(x):\n    return helper(x) + table[0] + array[1]\n", namespace)
    return namespace["total"]


def copied(function):
    return cloudpickle.loads(cloudpickle.dumps(function))


def test_a_copy_is_the_same_compiled_function():
    total = made()
    assert copied(total) is not total
    compiled = compile_with(total, {})
    assert compile_with(copied(total), {}) is compiled
    assert compiled(3.0) == 3.0 * 2 + 1 + 2


@pytest.mark.parametrize("other", [{"constant": 2.5}, {"table": (1.0, 2.5)}, {"table": (1.5, 2.0)}], ids=str)
def test_whatever_it_uses_makes_it_another(other):
    assert compile_with(made(**other), {}) is not compile_with(made(), {})
    constant, table = other.get("constant", 2.0), other.get("table", (1.0, 2.0))
    assert compile_with(made(**other), {})(3.0) == 3.0 * constant + sum(table)


def test_a_replacement_makes_it_another():
    assert compile_with(made(), {"helper": made(1.0)}) is not compile_with(made(), {})
    assert compile_with(made(), {"helper": made(1.0)}) is compile_with(made(), {"helper": made(1.0)})


def test_what_cannot_be_written_out_counts_by_identity():
    def using(part):
        namespace = {"part": part}
        exec("def use(x):\n    return part(x)\n", namespace)
        return namespace["use"]

    first, second = object(), object()
    assert compile_with(using(first), {}) is compile_with(using(first), {})
    assert compile_with(using(first), {}) is not compile_with(using(second), {})


def test_few_are_kept(monkeypatch):
    monkeypatch.setattr(compiling, "MOST_SHARED", 2)
    monkeypatch.setattr(compiling, "_shared", OrderedDict())
    first = compile_with(made(10.0), {})
    for constant in (11.0, 12.0, 13.0):
        compile_with(made(constant), {})
    assert len(compiling._shared) == 2
    assert compile_with(made(10.0), {}) is not first
