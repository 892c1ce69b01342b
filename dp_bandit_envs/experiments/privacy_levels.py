"""The privacy level of each algorithm as tables and legends show it, such as "eps 1, delta 1e-10"."""

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from dp_bandit_envs.privacy.data_units import UNITS, for_unit, rounds_of
from dp_bandit_envs.privacy.guarantee import PrivacyGuarantee

if TYPE_CHECKING:
    from dp_bandit_envs.algorithms import Algorithm
    from dp_bandit_envs.envs.bandit_env import BanditEnv
    from dp_bandit_envs.experiments.experiment import Experiment
    from dp_bandit_envs.experiments.specs import GameSpec

NO_PRIVACY = "(no privacy)"
FEW = 3
"""The largest number of epsilons to list; more are shown as a range."""


class Level(NamedTuple):
    """A guaranteed (epsilon, delta); epsilon is inf if there is no guarantee."""

    epsilon: float
    delta: float

    def __str__(self) -> str:
        return in_words([self])


def level_of(guarantee: PrivacyGuarantee, horizon: int) -> Level:
    """Return the level at which a guarantee is reported.

    This is its own epsilon and delta, or if zCDP gives a smaller epsilon at delta = T^-2, that pair. Both are those of
    exact noise; the report's table of guarantees also shows what fast draws add.
    """
    if guarantee.model == "none":
        return Level(math.inf, 0.0)
    if guarantee.rho is not None and guarantee.delta == 0 and horizon > 1:
        usual = float(horizon) ** -2
        if guarantee.epsilon_at(usual) < guarantee.epsilon:
            return Level(guarantee.epsilon_at(usual), usual)
    return Level(guarantee.epsilon, guarantee.delta)


def level_in(game: "BanditEnv", algorithm: "Algorithm") -> Level:
    """Return the level of an algorithm in a game."""
    return level_of(algorithm.guarantee_in(game), game.horizon)


def levels_in(experiment: "Experiment", panel: "GameSpec") -> dict[str, Level]:
    """Return the level of each algorithm of a panel, by the label of its results."""
    game = experiment.game(panel)
    return {algorithm.name: level_in(game, algorithm) for algorithm in experiment.players(panel)}


def units_of(experiments: "Iterable[Experiment]") -> dict[str, dict[str, str]]:
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
                        level = level_of(for_unit(guarantee, unit), game.horizon)
                        found.setdefault(unit, {}).setdefault(algorithm.name, {})[level] = None
    return {unit: {name: in_words(levels) for name, levels in names.items()} for unit, names in found.items()}


def words_of(experiments: "Iterable[Experiment]") -> dict[str, str]:
    """Return the levels of each algorithm over all panels, in words."""
    return {name: in_words(levels) for name, levels in _levels_of(experiments).items()}


def _levels_of(experiments: "Iterable[Experiment]") -> dict[str, list[Level]]:
    found: dict[str, dict[Level, None]] = {}
    for experiment in experiments:
        for panel in experiment.panels:
            for name, level in levels_in(experiment, panel).items():
                found.setdefault(name, {})[level] = None
    return {name: list(levels) for name, levels in found.items()}


def labels_of(experiments: "Iterable[Experiment]") -> dict[str, str]:
    """Return each algorithm's label in a legend: its name and its levels."""
    return {
        # "(no privacy)" already has brackets.
        name: f"{name} {in_words(levels)}" if math.isinf(levels[0].epsilon) else f"{name} ({in_words(levels)})"
        for name, levels in _levels_of(experiments).items()
    }


def in_words(levels: Iterable[Level]) -> str:
    """Return levels as `eps 1`, `eps 1, delta 1e-10`, `eps 1 or 0.1`, `eps 0.05 to 2` or `(no privacy)`."""
    levels = list(levels)
    deltas = dict.fromkeys(level.delta for level in levels)
    if all(math.isinf(level.epsilon) for level in levels):
        return NO_PRIVACY
    if len(deltas) > 1 or any(math.isinf(level.epsilon) for level in levels):
        return " or ".join(dict.fromkeys(in_words([level]) for level in levels))
    shown = list(dict.fromkeys(_short(level.epsilon) for level in levels))
    if len(shown) > FEW:
        ends = [end(level.epsilon for level in levels) for end in (min, max)]
        shown = [" to ".join(map(_short, ends))]
    delta = next(iter(deltas))
    return f"eps {' or '.join(shown)}" + (f", delta {delta:.3g}" if delta else "")


def _short(epsilon: float) -> str:
    return f"{epsilon:,.0f}" if epsilon >= 1000 else f"{epsilon:.4g}"
