"""Says with which parameters an algorithm plays a game: at each epsilon, or at each guarantee, that is asked for."""

import functools
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from dp_bandit_envs.algorithms import Algorithm, calibrated_in, make_algorithm
from dp_bandit_envs.algorithms.calibration import calibrated_parameters
from dp_bandit_envs.comparison.asked_algorithms import Asked
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.errors import UnreachableGuaranteeError
from dp_bandit_envs.runs.experiment import AlgorithmSpec


class Wanted(NamedTuple):
    """The privacy that is asked for.

    Attributes:
        epsilons: For all algorithms that take one; none for each algorithm's own.
        delta: For all algorithms that take one, or None for T^-2.
        at_guarantee: Whether each epsilon, with `delta` or else 0, is a guarantee that an algorithm's real one has to
            meet as closely as possible from below.
        rounds: The most rounds of a person, whom that guarantee is for; None if it is for a round.
    """

    epsilons: list[float]
    delta: float | None
    at_guarantee: bool = False
    rounds: int | None = None


def contestants(one: Asked, wanted: Wanted, game: Callable[[], BanditEnv]) -> Iterator[AlgorithmSpec]:
    """Yield an algorithm at each epsilon at which it plays a game: once, if it takes none.

    Args:
        one: The algorithm.
        wanted: The privacy.
        game: Makes the game.

    Raises:
        UnreachableGuaranteeError: If its guarantee cannot meet the target. One that never guarantees anything plays as
            it is, for comparison.
        ValueError: If persons are known to serve in more rounds than the guarantee is asked for.
    """
    levels: list[float | None] = [*wanted.epsilons]
    for epsilon in levels or [None]:
        if wanted.at_guarantee and epsilon is not None:
            parameters = _calibrated(one, (epsilon, wanted.delta or 0.0), wanted.rounds, game())
            played: float | None = None if parameters is None else epsilon
            parameters = one.parameters if parameters is None else parameters
        else:
            parameters = one.at(epsilon, wanted.delta, lambda: game().horizon)
            played = epsilon if one.takes_epsilon else None
        several = len(wanted.epsilons) > 1 and played is not None
        label = one.label({"epsilon": f"{played:g}"} if several else {})
        yield AlgorithmSpec(one.name, parameters, label, shown_as=one.shown_as, asked=played, maker=one.maker)
        if played is None:
            return


def _calibrated(one: Asked, target: tuple[float, float], asked: int | None, game: BanditEnv) -> dict[str, Any] | None:
    """Return the parameters that meet a guarantee; None for an algorithm that guarantees nothing."""
    if asked is not None:
        _refuse_too_few(asked, game)
    rounds = asked or 1
    if one.maker is None:
        if not one.takes_epsilon:
            made = make_algorithm(one.name, **one.parameters)
            made.check_game(game)
            if made.guarantee_in(game).model == "none":
                return None
        return calibrated_in(one.name, target, game, rounds_per_person=rounds, **one.parameters)
    needed = {key for key, each in one.takes.items() if each.default is each.empty and key not in one.parameters}
    made = one.maker(**{key: target[0] if key == "epsilon" else 1e-6 for key in needed}, **one.parameters)
    made.check_game(game)
    if made.guarantee_in(game).model == "none":
        return None
    measure = functools.partial(Algorithm.guarantee_in, env=game)
    if one.takes_epsilon:
        return calibrated_parameters(
            one.maker, one.maker, one.shown_as, target, measure, game.horizon, one.parameters, rounds
        )
    guarantee = measure(made).for_group(rounds)
    reached = guarantee.epsilon_at(target[1]) if target[1] > 0 else guarantee.pure_epsilon
    if not reached <= target[0]:
        raise UnreachableGuaranteeError(
            f"{one.shown_as} must have a guarantee of at most the target; it has epsilon = {reached:g}, and the target"
            f" is {target[0]:g}. Use another parameter for it."
        )
    return dict(one.parameters)


def _refuse_too_few(rounds: int, game: BanditEnv) -> None:
    use = game.adversary.data_use
    serves = None if use is None else use.person
    if serves is not None and serves > rounds:
        raise ValueError(
            f"rounds_per_person must be at least {serves:,} here, the rounds in which the data of one person can serve;"
            f" received {rounds:,}."
        )
