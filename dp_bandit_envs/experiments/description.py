"""Describes what an experiment plays in plain values, so that its results can be read without its code."""

import math
from typing import TYPE_CHECKING, Any

from dp_bandit_envs.privacy.guarantee import UNITS, Level, for_unit, level_of, rounds_of

if TYPE_CHECKING:
    from dp_bandit_envs.algorithms import Algorithm
    from dp_bandit_envs.envs.bandit_env import BanditEnv
    from dp_bandit_envs.experiments.experiment import Experiment
    from dp_bandit_envs.experiments.specs import AlgorithmSpec


def described(experiment: "Experiment") -> list[dict[str, Any]]:
    """Return one entry a game, as plain JSON values: its sizes, and each algorithm in it with its guarantee."""
    return [
        {
            "key": panel.key,
            "title": panel.title,
            "environment": panel.environment or panel.title,
            "n_arms": game.adversary.n_arms,
            "horizon": game.horizon,
            "is_real": game.adversary.is_real,
            "results": [
                _result(one, player, game)
                for one, player in zip(experiment.contestants_of(panel), experiment.players(panel), strict=True)
            ],
        }
        for panel, game in ((panel, experiment.game(panel)) for panel in experiment.panels)
    ]


def _result(spec: "AlgorithmSpec", player: "Algorithm", game: "BanditEnv") -> dict[str, Any]:
    guarantee = player.guarantee_in(game)
    level = level_of(guarantee)
    units = {
        unit: _plain_level(level_of(for_unit(guarantee, unit)))
        for unit in UNITS
        if guarantee.model != "none" and rounds_of(guarantee, unit) is not None
    }
    return {
        "name": player.name,
        "algorithm": spec.shown_as or player.name,
        "asked": None if spec.asked is None else _plain(spec.asked),
        "level": _plain_level(level),
        "model": guarantee.model,
        "covers": guarantee.covers,
        "guarantee": str(guarantee),
        "units": units,
    }


def _plain_level(level: Level) -> list[float | str]:
    return [_plain(level.epsilon), level.delta, level.exact]


def _plain(number: float) -> float | str:
    """Return a number as JSON can hold it; `float` reads both."""
    return number if math.isfinite(number) else str(number)
