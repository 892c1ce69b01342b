"""The privacy level of each algorithm of an experiment, over its panels."""

from collections.abc import Iterable

from dp_bandit_envs.algorithms import Algorithm
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.experiments.experiment import Experiment
from dp_bandit_envs.experiments.specs import GameSpec
from dp_bandit_envs.privacy.guarantee import UNITS, Level, for_unit, in_words, label_of, level_of, rounds_of


def level_in(game: BanditEnv, algorithm: Algorithm) -> Level:
    """Return the level of an algorithm in a game."""
    return level_of(algorithm.guarantee_in(game))


def levels_in(experiment: Experiment, panel: GameSpec) -> dict[str, Level]:
    """Return the level of each algorithm of a panel, by the label of its results."""
    game = experiment.game(panel)
    return {algorithm.name: level_in(game, algorithm) for algorithm in experiment.players(panel)}


def units_of(experiments: Iterable[Experiment]) -> dict[str, dict[str, str]]:
    """Return what each algorithm's guarantee is worth for a record, and for a person, over all panels, in words.

    By the unit's name; without a unit for which no panel's data say in how many rounds it can serve.
    """
    found: dict[str, dict[str, dict[Level, None]]] = {}
    for experiment in experiments:
        for panel in experiment.panels:
            game = experiment.game(panel)
            for unit in UNITS:
                for algorithm in experiment.players(panel):
                    guarantee = algorithm.guarantee_in(game)
                    if guarantee.model != "none" and rounds_of(guarantee, unit) is not None:
                        level = level_of(for_unit(guarantee, unit))
                        found.setdefault(unit, {}).setdefault(algorithm.name, {})[level] = None
    return {unit: {name: in_words(levels) for name, levels in names.items()} for unit, names in found.items()}


def words_of(experiments: Iterable[Experiment]) -> dict[str, str]:
    """Return the levels of each algorithm over all panels, in words."""
    return {name: in_words(levels) for name, levels in _levels_of(experiments).items()}


def _levels_of(experiments: Iterable[Experiment]) -> dict[str, list[Level]]:
    found: dict[str, dict[Level, None]] = {}
    for experiment in experiments:
        for panel in experiment.panels:
            for name, level in levels_in(experiment, panel).items():
                found.setdefault(name, {})[level] = None
    return {name: list(levels) for name, levels in found.items()}


def labels_of(experiments: Iterable[Experiment]) -> dict[str, str]:
    """Return each algorithm's label in a legend: its name and its levels over all panels."""
    return {name: label_of(name, levels) for name, levels in _levels_of(experiments).items()}


def labels_in(experiment: Experiment, panel: GameSpec) -> dict[str, str]:
    """Return each algorithm's label in one panel: its name and its level there."""
    return {name: label_of(name, [level]) for name, level in levels_in(experiment, panel).items()}
