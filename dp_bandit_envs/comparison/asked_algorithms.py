"""Reads the algorithms of a comparison: names with parameters, and agents and algorithms of your own."""

import functools
import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from dp_bandit_envs import checks
from dp_bandit_envs.algorithms import ALGORITHMS, Algorithm, calibrated_in, make_algorithm
from dp_bandit_envs.comparison.asked_games import loaded
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.errors import UnreachableGuaranteeError, WrongTypeError
from dp_bandit_envs.experiments.specs import AlgorithmSpec
from dp_bandit_envs.written_arguments import in_brackets, read_call

FIXED_BY = {"EXP3-tau": "batch_size"}
"""The parameter that fixes the privacy of an algorithm in place of epsilon and delta."""
WANTED = (
    "an algorithm must be a name, an Algorithm, an agent's class, or a function that returns an Algorithm; received {}."
)


class Asked(NamedTuple):
    """An algorithm as it was asked for, before it is known at which epsilons it plays.

    Attributes:
        name: Its name, in the table unless there is a maker.
        parameters: The parameters that were given.
        shown_as: Its name for readers.
        takes: The parameters of the function that makes it, by name.
        maker: Makes it, if it is in no table.
    """

    name: str
    parameters: dict[str, Any]
    shown_as: str
    takes: Mapping[str, inspect.Parameter]
    maker: Callable[..., Algorithm] | None = None

    def label(self, more: Mapping[str, Any]) -> str:
        """Return the name of its results, with more parameters in brackets."""
        own = f"{self.name}{in_brackets(self.parameters)}"
        return (
            f"{self.name}{in_brackets({**self.parameters, **more})}"
            if self.shown_as == own
            else (f"{self.shown_as}{in_brackets(dict(more))}")
        )

    @property
    def takes_epsilon(self) -> bool:
        """Whether an epsilon that is given for all algorithms is for this one."""
        return "epsilon" in self.takes and "epsilon" not in self.parameters and not self._fixed

    @property
    def wants_delta(self) -> bool:
        """Whether it has a delta beside its epsilon."""
        return "delta" in self.takes and ("noise" not in self.takes or self.parameters.get("noise") == "gaussian")

    @property
    def _fixed(self) -> bool:
        return FIXED_BY.get(self.name) in self.parameters

    def at(self, epsilon: float | None, delta: float | None, horizon: Callable[[], int]) -> dict[str, Any]:
        """Return its parameters, with the epsilon if it takes one, and with a delta, T^-2 unless given, if it has one.

        Args:
            epsilon: The epsilon for all algorithms, or None.
            delta: The delta for all algorithms, or None.
            horizon: Returns the game's horizon T.
        """
        found = dict(self.parameters)
        if epsilon is not None and self.takes_epsilon:
            found["epsilon"] = epsilon
            needs_delta = self.wants_delta
        else:
            # Beside an epsilon that is written with the name, a paper's own delta stands.
            needs_delta = self.wants_delta and "epsilon" in found and self.takes["delta"].default is None
        if delta is not None and self.wants_delta and not self._fixed:
            found.setdefault("delta", delta)
        elif needs_delta:
            found.setdefault("delta", usual_delta(self.name, horizon()))
        return found


def usual_delta(name: str, horizon: int) -> float:
    """Return T^-2, the default for an algorithm with a delta."""
    if horizon < 2:
        raise ValueError(f"horizon must be at least 2 for {name}, whose delta is T^-2; received {horizon}.")
    return float(horizon) ** -2


def asked(algorithm: Any, label: str | None = None) -> Asked:
    """Return what is asked for by a name, an object or a function.

    Args:
        algorithm: `NAME`, `NAME:parameter=value,parameter=value`, or `module:Name` for something importable; an
            `Algorithm`; an agent's class, which plays without a wrapper; or a function that returns an `Algorithm` and
            takes, if it likes, `epsilon` and `delta`.
        label: Its name for readers; by default its own.

    Raises:
        UnknownNameError: If there is no such algorithm.
        ValueError: If the text cannot be read, or names a parameter that the algorithm does not have.
        WrongTypeError: If it is none of these.
    """
    if isinstance(algorithm, str):
        module = re.fullmatch(r"([\w.]+):([A-Za-z_]\w*)", algorithm)
        if module and module[1].lower() not in {known.lower() for known in ALGORITHMS}:
            found = getattr(loaded(module[1]), module[2], None)
            if found is None:
                raise ValueError(f"{module[1]} must have {module[2]}; received {algorithm!r}, and it has none.")
            return asked(found, label or module[2])
        return _of_text(algorithm, label)
    if isinstance(algorithm, Algorithm):
        return Asked(label or algorithm.name, {}, label or algorithm.name, {}, functools.partial(_itself, algorithm))
    if not callable(algorithm):
        raise WrongTypeError(WANTED.format(f"a {type(algorithm).__name__}"))
    name = str(label or getattr(algorithm, "__name__", type(algorithm).__name__))
    try:
        takes = inspect.signature(algorithm).parameters
    except ValueError:  # a class of Python's own, such as int
        raise WrongTypeError(WANTED.format(name)) from None
    # Noise follows from what plays, not from what it is called here.
    own_name = getattr(algorithm, "__name__", type(algorithm).__name__)
    bare = functools.partial(Algorithm, own_name, algorithm)
    if isinstance(algorithm, type):
        return Asked(name, {}, name, {}, bare)
    needed = [key for key, one in takes.items() if one.default is one.empty and one.kind in (0, 1, 3)]
    if set(needed) - {"epsilon", "delta"}:
        raise WrongTypeError(f"{name} must need no arguments but epsilon and delta; it needs {', '.join(needed)}.")
    made = algorithm(**{key: 1.0 if key == "epsilon" else 1e-6 for key in needed})
    if isinstance(made, Algorithm):
        return Asked(label or made.name, {}, label or made.name, takes, algorithm)
    of_privacy = [key for key in ("epsilon", "delta") if key in takes]
    if hasattr(made, "update") and of_privacy:
        raise WrongTypeError(
            f"{name} takes {' and '.join(of_privacy)} and must return an Algorithm with a privacy wrapper; it returns"
            " an agent alone, which is not private. Return Algorithm('name', MyAgent, lambda env:"
            " LaplaceClipRescale(env, epsilon=epsilon))."
        )
    if hasattr(made, "update"):
        return Asked(name, {}, name, {}, bare)
    raise WrongTypeError(WANTED.format(f"a function that returns a {type(made).__name__}"))


def contestants(
    one: Asked,
    epsilons: list[float],
    delta: float | None,
    game: Callable[[], BanditEnv],
    *,
    at_guarantee: bool = False,
) -> Iterator[AlgorithmSpec]:
    """Yield an algorithm at each epsilon at which it plays a game: once, if it takes none.

    Args:
        one: The algorithm.
        epsilons: For all algorithms that take one; none for each algorithm's own.
        delta: For all algorithms that take one, or None for T^-2.
        game: Makes the game.
        at_guarantee: Whether each epsilon, with `delta` or else 0, is a guarantee that its real one has to meet as
            closely as possible from below.

    Raises:
        UnreachableGuaranteeError: If its guarantee cannot meet the target. One that never guarantees anything plays as
            it is, for comparison.
        WrongTypeError: If an algorithm that is in no table would have to be calibrated.
    """
    levels: list[float | None] = [*epsilons]
    for epsilon in levels or [None]:
        if at_guarantee and epsilon is not None:
            parameters = _calibrated(one, (epsilon, delta or 0.0), game())
            played: float | None = None if parameters is None else epsilon
            parameters = one.parameters if parameters is None else parameters
        else:
            parameters = one.at(epsilon, delta, lambda: game().horizon)
            played = epsilon if one.takes_epsilon else None
        several = len(epsilons) > 1 and played is not None
        label = one.label({"epsilon": f"{played:g}"} if several else {})
        yield AlgorithmSpec(one.name, parameters, label, shown_as=one.shown_as, asked=played, maker=one.maker)
        if played is None:
            return


def _calibrated(one: Asked, target: tuple[float, float], game: BanditEnv) -> dict[str, Any] | None:
    """Return the parameters that meet a guarantee; None for an algorithm that guarantees nothing."""
    never = one.maker is None and not one.takes_epsilon
    if one.maker is None:
        made = make_algorithm(one.name, **one.parameters)
        made.check_game(game)
        if never and made.guarantee_in(game).model == "none":
            return None
        return calibrated_in(one.name, target, game, **one.parameters)
    made = one.maker()
    guarantee = made.guarantee_in(game)
    if guarantee.model == "none":
        return None
    if "epsilon" in one.takes:
        raise WrongTypeError(
            f"{one.shown_as} must be registered to be calibrated; received a function. Use register_algorithm, and give"
            " its name."
        )
    reached = guarantee.epsilon_at(target[1]) if target[1] > 0 else guarantee.pure_epsilon
    if not reached <= target[0]:
        raise UnreachableGuaranteeError(
            f"{one.shown_as} must have a guarantee of at most the target; it has epsilon = {reached:g}, and the target"
            f" is {target[0]:g}. Use another parameter for it."
        )
    return {}


def _of_text(text: str, label: str | None) -> Asked:
    written, parameters = read_call(text)
    name = checks.known_name("algorithm", written, ALGORITHMS)
    takes = {key: one for key, one in inspect.signature(ALGORITHMS[name]).parameters.items() if key != "label"}
    unknown = sorted(set(parameters) - set(takes))
    if unknown:
        known = ", ".join(sorted(takes)) or "none"
        raise ValueError(f"{name} has no parameter {unknown[0]!r}. Known: {known}.")
    return Asked(name, parameters, label or f"{name}{in_brackets(parameters)}", takes)


def _itself(algorithm: Algorithm) -> Algorithm:
    return algorithm
