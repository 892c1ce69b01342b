"""Equal functions from elsewhere, as those of a notebook that each task unpacks again, are compiled once."""

import cloudpickle
import numpy as np
import pytest
from numba.core import event

from dp_bandit_envs import simulate
from dp_bandit_envs.compiling.compiled import Compiled
from dp_bandit_envs.compiling.functions import bind, frozen
from tests.simulation.test_refused_by_numba import GAME, agent, update


def made(constant=2.0, table=(1.0, 2.0)):
    """Return a function that no module has, with a helper, a constant, a tuple and an array."""
    array = np.array(table)
    namespace = {"constant": constant, "table": table, "array": array}
    exec("def helper(x):\n    return x * constant\n", namespace)
    exec("def total(x):\n    return helper(x) + table[0] + array[1]\n", namespace)
    return namespace["total"]


def copied(function):
    return cloudpickle.loads(cloudpickle.dumps(function))


def test_equal_functions_are_frozen_to_the_same_copy():
    total = made()
    copy = frozen(total)
    assert copy is not total and copied(total) is not total
    assert frozen(copied(total)) is copy is frozen(total)
    assert Compiled(copy, {})(3.0) == 3.0 * 2 + 1 + 2


@pytest.mark.parametrize("other", [{"constant": 2.5}, {"table": (1.0, 2.5)}, {"table": (1.5, 2.0)}], ids=str)
def test_whatever_it_uses_makes_it_another(other):
    assert frozen(made(**other)) is not frozen(made())
    constant, table = other.get("constant", 2.0), other.get("table", (1.0, 2.0))
    assert Compiled(made(**other), {})(3.0) == 3.0 * constant + sum(table)


def test_what_is_bound_makes_it_another():
    assert frozen(bind(made(), {"helper": made(1.0)})) is not frozen(made())
    assert frozen(bind(made(), {"helper": made(1.0)})) is frozen(bind(made(), {"helper": made(1.0)}))


def test_what_cannot_be_written_out_counts_by_identity():
    def using(part):
        namespace = {"part": part}
        exec("def use(x):\n    return part(x)\n", namespace)
        return namespace["use"]

    first, second = object(), object()
    assert frozen(using(first)) is frozen(using(first))
    assert frozen(using(first)) is not frozen(using(second))


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


def test_an_agent_of_a_notebook_is_compiled_once(numba_compiled):
    def last_but_one(state, rng):
        return len(state.totals) - 2

    mine = {"mine": agent(choose=last_but_one, learn=update)}
    assert simulate(GAME, mine, horizon=20)["mine"].engine == "compiled"
    before = len(numba_compiled)
    assert simulate(GAME, mine, horizon=20)["mine"].engine == "compiled"
    assert len(numba_compiled) == before > 0
