"""Random calls over the public API: each returns or is refused in a sentence, and its object still works."""

import fractions
import linecache
import math
import warnings

import gymnasium as gym
import numpy as np
import pytest

from dp_bandit_envs import agents, algorithm_names, make_algorithm, wrappers
from dp_bandit_envs.envs.registration import IDS
from dp_bandit_envs.errors import BoundaryError, KnownSeedWarning, MadeUpGainsWarning
from dp_bandit_envs.privacy.counters import COUNTERS, make_counter
from dp_bandit_envs.privacy.guarantee import PrivacyGuarantee
from dp_bandit_envs.protocols import KEYS
from dp_bandit_envs.wrappers import vector
from tests.tools.playable import agents_for

PLANTED = 0.1234567891
MARK = "1234567"
NAMED = (TypeError, ValueError, BoundaryError, gym.error.Error)
GAINS = np.full((30, 2), PLANTED)

NUMBERS = (0, 1, 2, 3, 5, 30, -1, 10**6, 2**20, 2**31, 2**62, 2**63, 2**64, 10**30, -(10**30), True, np.int64(3))
REALS = (0.0, 0.5, 1.0, 1.5, -0.5, 1e-300, 5e-324, 1e-9, 1e300, math.nan, math.inf, -math.inf, np.float64(0.5))
ODD = (
    None, False, "", "a", "1", "hybrid", "reject", b"x", (), (1,), (0.5, 0.5), fractions.Fraction(1, 3), 1j, len,
    int, object, np.array(1), np.array(0.5), np.array([1, 0]), np.array([0.5, 0.5]), np.array([math.nan, 0.5]),
    np.array([1, 2, 3]), np.array([[0.5, 0.5], [0.25, 1.0]]), np.array(["a", "b"]), np.zeros(2, np.int8),
    np.array([1, None]), np.array([]), np.array([2**63], np.uint64), np.array([0.2, 0.4], np.float16),
)  # fmt: skip
OPTIONS = {
    "horizon", "n_arms", "gains", "means", "gap", "period", "memory", "outcome", "graph", "prior", "redraw_every",
    "max_revealed", "self_loops", "observe_charge", "render_mode", "block_length", "degree", "size", "typo",
}  # fmt: skip
OF_WRAPPERS = {
    "LaplaceClipRescale": ("epsilon", "bound", "outside"),
    "MiniBatchAverage": ("batch_size",),
    "RandomizedResponse": ("epsilon",),
    "ExactSums": (),
    "CounterSums": ("epsilon", "counter", "pad_unplayed", "budget", "base", "delta", "rng", "horizon", "typo"),
    "IntervalSums": ("epsilon", "v", "delta", "release", "intervals"),
    "BlockSums": ("epsilon", "ratio", "first", "keep", "lengths"),
}
OF_AGENTS = ("exploration_rate", "learning_rate", "exploration", "log_factor", "width", "lazy", "level", "each_first")
OF_ALGORITHMS = (
    "epsilon", "batch_size", "bound", "outside", "delta", "v", "counter", "constants", "failure_probability", "label",
    "exponent", "ratio", "first", "typo", "exploration_rate",
)  # fmt: skip


def raised_on_purpose(error):
    """Whether an error comes from a raise statement of this project or of Gymnasium, and not from an accident."""
    trace = error.__traceback__
    while trace.tb_next is not None:
        trace = trace.tb_next
    file = trace.tb_frame.f_code.co_filename
    line = linecache.getline(file, trace.tb_lineno).strip()
    ours = "gymnasium" not in file
    home = "/dp_bandit_envs/" in file or "/agents/" in file or "/wrappers/" in file or not ours
    message = str(error)
    sentence = len(message.split()) >= 4 and (message.endswith((".", "?")) or not ours)
    return home and line.startswith(("raise ", "assert isinstance(num_envs")) and sentence


class Calls:
    """Makes calls, counts them, and collects what went wrong."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.made = self.refused = 0
        self.wrong = {}

    def pick(self, things):
        """Return one of them."""
        things = tuple(things)
        return things[self.rng.integers(len(things))]

    def wild(self):
        """Return anything."""
        return self.pick(self.pick((NUMBERS, REALS, ODD)))

    def some(self, names, chance=0.3):
        """Return wild values for some of the names."""
        return {name: self.wild() for name in names if self.rng.random() < chance}

    def call(self, what, function, *arguments, **options):
        """Return (whether it worked, the result)."""
        self.made += 1
        try:
            return True, function(*arguments, **options)
        except NAMED as error:
            self.refused += 1
            # What is wrong with the arguments' names is said by Python itself.
            known = raised_on_purpose(error) or (error.__traceback__.tb_next is None and "argument" in str(error))
            if not known or MARK in str(error):
                self.note(what, error)
        except Exception as error:
            self.note(what, error)
        return False, None

    def note(self, what, error):
        """Keep the first wrong error of each place."""
        trace = error.__traceback__
        while trace.tb_next is not None:
            trace = trace.tb_next
        place = f"{trace.tb_frame.f_code.co_filename.split('/')[-1]}:{trace.tb_lineno}"
        self.wrong.setdefault((what, place), f"{type(error).__name__}: {str(error)[:300]}")


def a_game(calls, many):
    """Return a game made with wild arguments if that works, or else one with planted gains."""

    def make(id_, **options):
        # Gymnasium's own checker loses its place when a first reset or step is refused.
        return gym.make_vec(id_, num_envs=2, **options) if many else gym.make(id_, disable_env_checker=True, **options)

    options = calls.some(calls.rng.choice(sorted(OPTIONS), 3, replace=False))
    if "render_mode" in options:
        # Gymnasium itself trips over what is no text, and warns of other modes.
        options["render_mode"] = calls.pick((None, "ansi", "rgb_array"))
    id_ = calls.pick(IDS)
    if id_ == "DPBandit-Replay-v0" and calls.rng.random() < 0.7:
        options["gains"] = GAINS
    worked, env = calls.call("make", make, id_, **options)
    if not worked or calls.rng.random() < 0.6:
        env = make("DPBandit-Replay-v0", gains=GAINS)
    return env


def play_wildly(calls, many):
    """Make a game, put wrappers around it, and call it."""
    env = a_game(calls, many)
    forms = vector if many else wrappers
    for _ in range(calls.rng.integers(3)):
        name = calls.pick(OF_WRAPPERS)
        if name == "MiniBatchAverage" and (env.horizon if many else env.get_wrapper_attr("horizon")) > 1000:
            continue  # one step could be a batch of a million rounds
        options = calls.some(OF_WRAPPERS[name], 0.4)
        if calls.rng.random() < 0.7 and "epsilon" in OF_WRAPPERS[name]:
            options["epsilon"] = 1.0
        around = calls.wild() if calls.rng.random() < 0.05 else env
        worked, wrapped = calls.call(name, getattr(forms, name), around, **options)
        env = wrapped if worked else env
    begun = False
    for _ in range(12):
        kind = calls.rng.random()
        if kind < 0.2 or not begun:
            options = {"seed": calls.wild()} if calls.rng.random() < 0.5 else {}
            if calls.rng.random() < 0.4:
                options["options"] = calls.wild() if calls.rng.random() < 0.5 else {"trial": calls.wild()}
            worked, _ = calls.call("reset", env.reset, **options)
            begun = begun or worked
            if kind < 0.05 and not begun:
                calls.call("step before reset", env.step, 0)
        elif kind < 0.5:
            calls.call("step", env.step, calls.wild())
        elif kind < 0.9:
            calls.call("step right", env.step, np.array([0, 1]) if many else 1)
        else:
            if env.render_mode is not None:
                calls.call("render", env.render)
    still_works(calls, env, many)


def still_works(calls, env, many):
    """Whatever was refused before, the next game can be played, unless what is below the wrappers cannot."""
    calls.call("reset at last", env.reset, seed=1)
    calls.call("step at last", env.step, np.array([0, 1]) if many else 1)


def agents_wildly(calls):
    """Make an agent, and call it out of order and with wild input."""
    name = calls.pick(agents_for(points=False))
    options = calls.some(calls.rng.choice(OF_AGENTS, 2, replace=False), 0.5)
    for option in ("width", "learning_rate"):
        if callable(options.get(option)):
            del options[option]  # a function of one's own may do anything
    worked, agent = calls.call(name, getattr(agents, name), **options)
    if not worked:
        agent = getattr(agents, name)()
    keys = KEYS[agent.learns_from]
    for _ in range(12):
        kind = calls.rng.random()
        if kind < 0.12:
            rng = np.random.default_rng(0) if calls.rng.random() < 0.8 else calls.wild()
            sizes = {"n_arms": 2, "horizon": 30}
            if calls.rng.random() < 0.5:
                sizes[calls.pick(sizes)] = calls.wild()
            calls.call(f"{name}.begin", agent.begin, **sizes, rng=rng)
        elif kind < 0.16:
            calls.call(f"{name}.see_graph", agent.see_graph, calls.wild())
        elif kind < 0.5:
            calls.call(f"{name}.select_arm", agent.select_arm)
        elif kind < 0.75:
            seen = {keys[0]: np.array([PLANTED, 0.0]), **{key: np.array([1, 0]) for key in keys[1:]}}
            if calls.rng.random() < 0.7:
                seen[calls.pick(seen)] = calls.wild()
            calls.call(f"{name}.update", agent.update, calls.wild(), seen if calls.rng.random() < 0.9 else calls.wild())
        else:
            seen = {keys[0]: np.array([PLANTED, 0.0]), **{key: np.array([1, 0]) for key in keys[1:]}}
            calls.call(f"{name}.update", agent.update, 0, seen)
    agent.begin(n_arms=2, horizon=30, rng=np.random.default_rng(0))
    agent.select_arm()


def numbers_wildly(calls):
    """Make algorithms, counters and guarantees."""
    name = calls.pick(algorithm_names()) if calls.rng.random() < 0.95 else calls.wild()
    worked, algorithm = calls.call(
        "make_algorithm", make_algorithm, name, **calls.some(calls.rng.choice(OF_ALGORITHMS, 3, replace=False), 0.3)
    )
    if worked:
        sizes = {"n_arms": 3, "horizon": 30}
        if calls.rng.random() < 0.5:
            sizes[calls.pick(sizes)] = calls.wild()
        calls.call(f"{name}.guarantee", algorithm.guarantee, **sizes)
        calls.call(f"{name}.regret_bound", algorithm.regret_bound, **sizes, **calls.some(["memory"]))
        calls.call(f"{name}.pseudo", algorithm.pseudo_regret_bound, means=calls.wild(), horizon=30)
        calls.call(f"{name}.agent", algorithm.agent)
    name = calls.pick(COUNTERS) if calls.rng.random() < 0.95 else calls.wild()
    options = {
        "epsilon": 1.0,
        "horizon": 9,
        **calls.some(("epsilon", "horizon", "budget", "base", "delta", "rng"), 0.2),
    }
    worked, counter = calls.call(f"counter {name}", make_counter, name, **options)
    if worked:
        for _ in range(4):
            calls.call(f"{name}.insert", counter.insert, PLANTED if calls.rng.random() < 0.5 else calls.wild())
            calls.call(f"{name}.release", counter.release)
        calls.call(f"{name}.variance", counter.variance, calls.wild())
        calls.call(f"{name}.error_width", counter.error_width, calls.wild())
    guarantee = PrivacyGuarantee(epsilon=1.0, rho=0.5)
    calls.call("epsilon_at", guarantee.epsilon_at, calls.wild())
    calls.call("str", str, guarantee)


def make_calls(number, seed):
    """Make so many calls; return them."""
    calls = Calls(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for expected in (KnownSeedWarning, MadeUpGainsWarning):
            warnings.simplefilter("ignore", expected)
        while calls.made < number:
            kind = calls.rng.random()
            if kind < 0.3:
                play_wildly(calls, many=False)
            elif kind < 0.5:
                play_wildly(calls, many=True)
            elif kind < 0.75:
                agents_wildly(calls)
            else:
                numbers_wildly(calls)
    assert calls.wrong == {}
    return calls


@pytest.mark.thorough
@pytest.mark.parametrize(("number", "seed"), [(3000, 1), pytest.param(200_000, 2, marks=pytest.mark.slow)])
def test_wild_calls_return_or_are_refused_in_a_sentence(number, seed):
    calls = make_calls(number, seed)
    assert 0.3 < calls.refused / number < 0.8
