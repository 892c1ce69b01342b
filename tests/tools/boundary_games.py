"""Games with a planted private number, every wrapper of the design, and a search for that number."""

import math
import traceback
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import gymnasium as gym
import numpy as np

from dp_bandit_envs import wrappers
from dp_bandit_envs.adversaries.replay import GainTable
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.envs.bandit_vector_env import BanditVectorEnv
from dp_bandit_envs.privacy import Mechanism, PrivacyGuarantee
from dp_bandit_envs.privacy.counters import COUNTERS
from dp_bandit_envs.privacy.mechanisms import MECHANISMS
from dp_bandit_envs.wrappers import vector

PLANTED = 0.1234567891
MARK = "1234567"
"""Digits that repr, str.format and NumPy's printing all keep."""
CLOSE = 1e-8
"""Mechanisms that release sums round the gains that they add up to multiples of 2^-30."""


ROUNDS = 11
"""With batches of 2 (or 2 of 2), at least one round at the end is played but never released."""


EVERYWHERE = np.full((ROUNDS, 3), PLANTED)

BY_LETTER = {"L": "LaplaceClipRescale", "M": "MiniBatchAverage", "R": "RandomizedResponse"}

ORDERS: dict[str, tuple[str, ...]] = {
    "Laplace": ("L",),
    "MiniBatch": ("M",),
    "Laplace(MiniBatch)": ("M", "L"),
    "MiniBatch(Laplace)": ("L", "M"),
    "Laplace(MiniBatch(Laplace))": ("L", "M", "L"),
    "Laplace(Laplace)": ("L", "L"),
    "MiniBatch(MiniBatch)": ("M", "M"),
    "Response": ("R",),
    "Response(MiniBatch)": ("M", "R"),
    "MiniBatch(Response)": ("R", "M"),
    "Laplace(Response)": ("R", "L"),
    **{name: (name,) for name, one in MECHANISMS.items() if not one.releases_sums and name not in BY_LETTER.values()},
}
"""Every wrapper order of the design that hands on gains, from the inside out."""

SUMS: dict[str, tuple[tuple[str, ...], str, dict[str, Any]]] = {
    "Running": ((), "ExactSums", {}),
    "Running(Laplace)": (("L",), "ExactSums", {}),
    "Running(Response)": (("R",), "ExactSums", {}),
    **{f"Hybrid, {name}": ((), "CounterSums", {"epsilon": 1.0, "counter": name}) for name in COUNTERS},
    "Hybrid, Gaussian": ((), "CounterSums", {"epsilon": 1.0, "counter": "honaker", "noise": "gaussian"}),
    "Hybrid, padded": ((), "CounterSums", {"epsilon": 1.0, "counter": "binary", "pad_unplayed": True}),
    "Hybrid(MiniBatch)": (("M",), "HybridSums", {"epsilon": 1.0, "pad_unplayed": True}),
    "Hybrid(Response)": (("R",), "HybridSums", {"epsilon": 1.0}),
    "Interval, lemma": ((), "IntervalSums", {"epsilon": 16.0}),
    "Interval, uniform": ((), "IntervalSums", {"epsilon": 16.0, "intervals": "uniform"}),
    "Interval, redraw": ((), "IntervalSums", {"epsilon": 16.0, "release": "redraw"}),
    "Block": ((), "BlockSums", {"epsilon": 1.0}),
    "Block, kept": ((), "BlockSums", {"epsilon": 1.0, "ratio": 1.1, "keep": True}),
    "Block of 1": ((), "BlockSums", {"epsilon": 1.0, "ratio": 1}),
    "Block, lengths": ((), "BlockSums", {"epsilon": 1.0, "lengths": [2, 1]}),
    "Block(MiniBatch)": (("M",), "BlockSums", {"epsilon": 1.0}),
}
for _name in {name for name, one in MECHANISMS.items() if one.releases_sums} - {name for _, name, _ in SUMS.values()}:
    SUMS[_name] = ((), _name, MECHANISMS[_name].example)
"""Every kind of wrapper that releases sums: what is below it from the inside out, its name and its arguments."""

OWN_NOISE = [name for name, (_, wrapper, _) in SUMS.items() if wrapper != "ExactSums"]


def around(
    env: Any,
    order: str,
    *,
    tau: int = 2,
    epsilon: float = 1.0,
    bound: float | None = None,
    outside: str = "reject",
) -> Any:
    """Put the wrappers of an order around an environment, in their vector form around a vector environment."""
    forms = vector if isinstance(env, gym.vector.VectorEnv) else wrappers
    for letter in ORDERS[order]:
        if letter == "L":
            env = forms.LaplaceClipRescale(env, epsilon=epsilon, bound=bound, outside=outside)
        elif letter == "R":
            env = forms.RandomizedResponse(env, epsilon=epsilon)
        elif letter in MECHANISMS:
            env = getattr(forms, letter)(env, **MECHANISMS[letter].example)
        else:
            env = forms.MiniBatchAverage(env, batch_size=tau)
    return env


def summed(env: Any, name: str, **more: Any) -> Any:
    """Put a wrapper of `SUMS`, and what stands below it there, around an environment; `more` replaces arguments."""
    forms = vector if isinstance(env, gym.vector.VectorEnv) else wrappers
    below, wrapper, arguments = SUMS[name]
    for letter in below:
        if letter == "M":
            env = forms.MiniBatchAverage(env, batch_size=2)
        else:
            env = {"L": forms.LaplaceClipRescale, "R": forms.RandomizedResponse}[letter](env, epsilon=1.0)
    return getattr(forms, wrapper)(env, **{**arguments, **more})


EVERY = [*ORDERS, *SUMS]
"""Every wrapper order, whether it hands on gains or sums."""
_INSIDE = {**ORDERS, **{name: below for name, (below, _, _) in SUMS.items()}}
NOISY = [name for name in EVERY if name in OWN_NOISE or {"L", "R"} & set(_INSIDE[name])]
"""Those of them that add noise somewhere."""


SOME = ["Laplace(MiniBatch)", "MiniBatch", "Response", "Running", "Hybrid, hybrid", "Interval, lemma", "Block"]


SOME_IN_BOTH = [*((name, "scalar") for name in SOME), ("Laplace(MiniBatch)", "vector"), ("Block", "vector")]
"""A step, and what it refuses and hides, is one function; `check_wrapper` asks it of every wrapper."""


def wrapped(env: Any, name: str, **more: Any) -> Any:
    """Put what `EVERY` calls by this name around an environment."""
    return around(env, name, **more) if name in ORDERS else summed(env, name, **more)


def act(env: Any, arm: int) -> Any:
    """Return an action that plays this arm, in every game of a vector."""
    return arm if isinstance(env, gym.Env) else np.full(env.num_envs, arm)


def game(table: Any, **options: Any) -> BanditEnv:
    """Return a game with exactly these gains, rows being rounds."""
    return BanditEnv(GainTable(np.array(table, dtype=float)), **options)


def games(num_envs: int, table: Any, **options: Any) -> BanditVectorEnv:
    """Return that game `num_envs` times."""
    return BanditVectorEnv(num_envs, GainTable(np.array(table, dtype=float)), **options)


FORMS: dict[str, Callable[..., Any]] = {"scalar": game, "vector": lambda table, **options: games(2, table, **options)}
"""Both forms of a game, by name."""


class RevealsBoth(BanditEnv):
    """Full information for two arms: one round moves both sums."""

    sensitivity = 2.0

    def step(self, action: int) -> Any:
        observation, *rest = super().step(action)
        observation["gain"] = np.array(self._rows[len(self._arms) - 1])
        observation["observed"] = np.ones(2, np.int8)
        return observation, *rest


def find_planted(thing: Any, where: str = "it", seen: set[int] | None = None) -> Iterator[str]:
    """Yield every place in which the planted number stands: in numbers, text, containers and attributes.

    The attribute `env` is the documented door to what is below, and is not opened.
    """
    seen = set() if seen is None else seen
    if isinstance(thing, str):
        if MARK in thing:
            yield where
        return
    if isinstance(thing, (float, np.floating)):
        if math.isclose(thing, PLANTED, rel_tol=CLOSE):
            yield where
        return
    if thing is None or isinstance(thing, (int, np.integer, np.bool_, bytes, type)) or callable(thing):
        return
    if id(thing) in seen:
        return
    seen.add(id(thing))
    if isinstance(thing, np.ndarray):
        if thing.dtype.kind == "f" and np.isclose(thing, PLANTED, rtol=CLOSE, atol=0).any():
            yield where
    elif isinstance(thing, dict):
        for key, value in thing.items():
            if key != "env":
                yield from find_planted(value, f"{where}[{key!r}]", seen)
    elif isinstance(thing, (list, tuple, set)):
        for index, value in enumerate(thing):
            yield from find_planted(value, f"{where}[{index}]", seen)
    elif not isinstance(thing, (np.random.Generator, gym.spaces.Space)) and hasattr(thing, "__dict__"):
        yield from find_planted(vars(thing), f"vars({where})", seen)


def error_of(call: Callable[[], Any]) -> BaseException:
    """Return what a call raises."""
    try:
        call()
    except Exception as error:
        return error
    raise AssertionError("nothing was raised")


def everything_in(error: BaseException | None) -> str:
    """Return all the text of an error: message, arguments, notes, causes and contexts."""
    if error is None:
        return ""
    parts = [str(error), repr(error), *map(repr, error.args), *getattr(error, "__notes__", [])]
    return "\n".join([*parts, everything_in(error.__cause__), everything_in(error.__context__)])


def frames_of(error: BaseException) -> str:
    """Return an error as reporters print it that show the local variables of every frame it passed through.

    Sentry, rich and pytest can, and typer did by default for years. The caller's own frame is left out.
    """
    assert error.__traceback__ is not None
    passed = error.__traceback__.tb_next
    return "".join(traceback.TracebackException(type(error), error, passed, capture_locals=True).format())


def foreign(part: type, form: str, **facts: Any) -> Any:
    """Return a game of the number everywhere that behaves as the class says."""
    kind, sizes = (BanditEnv, ()) if form == "scalar" else (BanditVectorEnv, (2,))
    return type(part.__name__, (part, kind), facts)(*sizes, GainTable(EVERYWHERE))


def play_until_it_fails(env: Any) -> BaseException:
    def run() -> None:
        env.reset(seed=1)
        for _ in range(ROUNDS):
            env.step(act(env, 0))

    return error_of(run)


class Outside:
    """Pays the gain plus an offset, which no mechanism here covers."""

    offset = 1.0

    def step(self, action):
        observation, *rest = super().step(action)
        observation["gain"] = observation["gain"] + np.where(observation["observed"], self.offset, 0.0)
        return observation, *rest


def boundaries(form: str) -> Iterator[Any]:
    """Yield boundaries of every kind in a form, each around games that Gymnasium made."""
    for name in ("Laplace", "Laplace(MiniBatch)", *SUMS):
        if form == "scalar":
            yield wrapped(gym.make("DPBandit-Replay-v0", gains=EVERYWHERE), name)
        else:
            yield wrapped(gym.make_vec("DPBandit-Replay-v0", num_envs=2, gains=EVERYWHERE), name)


class State(NamedTuple):
    """Sums and numbers of gains."""

    sums: np.ndarray
    counts: np.ndarray


def add(state, arm, gain, rng):
    state.sums[arm] += gain
    state.counts[arm] += 1
    return state.sums[arm], state.counts[arm]


class Adds(Mechanism):
    """Exact sums."""

    release = staticmethod(add)
    releases_sums = True

    def new_state(self, inputs):
        return State(np.zeros(inputs.n_values), np.zeros(inputs.n_values, np.int64))

    def guarantee(self, inputs):
        return PrivacyGuarantee.none("a test")
