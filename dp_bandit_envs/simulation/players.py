"""The algorithms of a simulation by name, from any form that `simulate` accepts, and those that it refuses."""

import dataclasses
import inspect
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from dp_bandit_envs.algorithms import Algorithm, calibrate_in, make_algorithm
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.errors import SeedRefusedError, UnprotectedGameError, WrongTypeError
from dp_bandit_envs.protocols import AgentFactory, Environment
from dp_bandit_envs.written_arguments import read_call

Algorithms = Sequence[str | Algorithm] | Mapping[str, Algorithm | AgentFactory]


def refuse_shared_noise(players: Mapping[str, Algorithm]) -> None:
    """Refuse two algorithms with the same random streams, whose noise would cancel in a difference."""
    names: dict[str, str] = {}
    for name, player in players.items():
        if player.player in names:
            raise UnprotectedGameError(
                f"algorithms on data with a ledger must have noise of their own; {names[player.player]!r} and {name!r}"
                " have the same. Play one of them, or give them other parameters. Nothing was played."
            )
        names[player.player] = name


def refuse_secure(env: Environment) -> None:
    """Raise if a privacy wrapper takes no seed."""
    if env.has_wrapper_attr("takes_seed") and not env.get_wrapper_attr("takes_seed"):
        raise SeedRefusedError(
            f"{type(env).__name__} has draws='secure', which simulate does not play: its trials and its compiled loop"
            " draw from generators with a seed. Use play(env, agent, seed=None), or draws='fast'."
        )


def at_equal_guarantee(algorithms: Algorithms, target: tuple[float, float], game: BanditEnv) -> list[str | Algorithm]:
    """Return each named algorithm with the parameter at which its guarantee in this game meets (epsilon, delta)."""
    names = [algorithms] if isinstance(algorithms, str) else list(algorithms)
    if isinstance(algorithms, Mapping) or not all(isinstance(name, str) for name in names):
        raise WrongTypeError(
            "algorithms must be names where at_guarantee is given; received others. Calibrate an algorithm of your own"
            " and leave at_guarantee out, or register it."
        )
    calibrated: list[str | Algorithm] = []
    for text in map(str, names):
        name, parameters = read_call(text)
        one = calibrate_in(name, target, game, **parameters)
        calibrated.append(dataclasses.replace(one, name=text) if parameters else one)
    return calibrated


def named_players(algorithms: Algorithms) -> dict[str, Algorithm]:
    """Return algorithms by name, from any form that `simulate` accepts; their names must differ."""
    if isinstance(algorithms, (str, Algorithm)):
        algorithms = [algorithms]
    if not isinstance(algorithms, Iterable):
        raise WrongTypeError(
            f"algorithms must be names, Algorithms, or a mapping to agents; received a {type(algorithms).__name__}."
        )
    players: dict[str, Algorithm] = {}
    for entry in algorithms.items() if isinstance(algorithms, Mapping) else ((None, one) for one in algorithms):
        player = _player(*entry)
        if player.name in players:
            raise ValueError(
                f"algorithms must have different names; received {player.name!r} twice."
                " Use make_algorithm(..., label='another name') for two settings of one algorithm."
            )
        players[player.name] = player
    if not players:
        raise ValueError("algorithms must name at least one; received none.")
    return players


def _player(name: str | None, given: Any) -> Algorithm:
    if isinstance(given, str):
        known, parameters = read_call(given)
        given = make_algorithm(known, **parameters, **({"label": given} if parameters else {}))
    if isinstance(given, Algorithm):
        return given if name is None else dataclasses.replace(given, name=name)
    if name is not None and callable(given):
        return Algorithm(name, given)
    raise TypeError(
        "an algorithm must be a name, an Algorithm, or an agent's class in a mapping {'name': MyAgent}; received"
        f" {given.__name__ if inspect.isclass(given) else given!r}."
    )
