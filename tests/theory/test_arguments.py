"""Every bound checks its arguments: one nasty value at a time ends in a number or in an error that names it."""

import importlib
import inspect
import math
import pkgutil
from decimal import Decimal

import numpy as np
import pytest

from dp_bandit_envs import theory
from dp_bandit_envs.theory.argument_ranges import RULES
from dp_bandit_envs.theory.experts_bounds import hedge_regret_bound
from dp_bandit_envs.theory.linear_bounds import exp2_regret_bound, linear_elimination_bound
from tests.tools.refusals import refused

UNCHECKED = ("argument_ranges", "divergences", "tails", "transport_costs")
"""Bounds check what the third takes; compiled agents call the second and the last for every arm in every round."""
MODULES = [
    importlib.import_module(f"{theory.__name__}.{module.name}")
    for module in pkgutil.iter_modules(theory.__path__)
    if module.name not in UNCHECKED
]
BOUNDS = {
    name: one
    for module in MODULES
    for name, one in vars(module).items()
    if inspect.isfunction(one) and one.__module__ == module.__name__ and not name.startswith("_")
}
USUAL = {
    **dict.fromkeys(("n_arms", "dimension", "rank", "batches", "independent", "cover"), 3),
    **dict.fromkeys(("batch_size", "most", "most_draws", "nodes", "releases", "choices"), 4),
    **dict.fromkeys(("steps", "window", "period", "trials"), 20),
    **dict.fromkeys(("scale", "noise_scale", "deviation", "epsilon", "leverage", "largest", "nats"), 2.0),
    **dict.fromkeys(("learning_rate", "rate", "exploration_rate", "failure_probability", "redraw_probability"), 0.1),
    **dict.fromkeys(("probability", "discount", "bonus", "failure_weight", "variance", "squares", "widest"), 0.5),
    **{"horizon": 100, "memory": 1, "sigma": 2.5, "clip": 3.0, "width": 5.0, "slope": 3.5, "alpha": 3.1, "v": 1.1},
    **{"means": [0.5, 0.3, 0.2], "gaps": [0.0, 0.2], "deviations": [1.0, 2.0], "ends": [1, 2, 4, 8]},
    **{"set_name": "ball", "kind": "laplace", "rates": "paper", "model": "local", "counter": "binary", "normal": True},
    **{"by_count": True, "redraws": True},
    "bound": lambda n_arms, horizon, memory=0: 2.0 * n_arms,
    "enough": lambda gap: 7.0,
    "plays": lambda gap: 7.0,
}
OWN = {"counter_ucb_bound": {"width": lambda items, failure: 5.0}}
NASTY = [None, True, 0, -1, 3.7, math.nan, math.inf, -math.inf, 1e-300, 1e300, 5e-324, 10**30, 10**400, 2**53 + 1]
NASTY += ["", "1", b"x", [], [1], [math.nan], [[1]], {}, object(), 1j, Decimal("NaN"), np.array([1])]
NASTY += [np.float32("nan"), np.array(0.5), np.uint8(200), range(3), {0.1}, ...]


@pytest.mark.parametrize("name", BOUNDS)
def test_one_nasty_value_ends_in_a_number_or_in_an_error_that_names_it(name):
    bound, own = BOUNDS[name], {**USUAL, **OWN.get(name, {})}
    usual = {one: own[one] for one in inspect.signature(bound).parameters if one != "options"}
    assert not has_nan(bound(**usual))
    for argument in usual:
        for nasty in NASTY:
            try:
                value = bound(**{**usual, argument: nasty})
            except (ValueError, TypeError) as error:
                assert argument in str(error), (argument, nasty, error)
            else:
                assert not has_nan(value), (argument, nasty)


def has_nan(value):
    return any(isinstance(one, float) and math.isnan(one) for one in (value if isinstance(value, tuple) else (value,)))


def test_every_argument_of_a_bound_has_a_rule():
    """Or it is checked in the function: of a counter."""
    taken = {argument for bound in BOUNDS.values() for argument in inspect.signature(bound).parameters}
    assert taken - set(RULES) == {"counter", "options"}
    assert set(RULES) <= taken


def test_a_bound_that_no_float_holds_is_refused_with_its_arguments():
    with refused(ValueError, "exp2_rates", "horizon=100", "scale=1e+300"):
        exp2_regret_bound("paper", 3, 2, 2.0, 1.0, 100, 1e300, 3.0)


def test_gaps_have_that_of_the_best_arm():
    with refused(ValueError, "gaps", 0):
        linear_elimination_bound(2, None, 100, 1.0, gaps=[0.1, 0.2])


def test_a_vacuous_bound_is_still_a_number():
    assert hedge_regret_bound(3, 100, 0) == math.inf
