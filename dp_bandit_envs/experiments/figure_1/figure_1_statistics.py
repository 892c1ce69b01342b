"""The statistics for each claim of Tossou and Dimitrakakis (2017) about their figure 1, and their verdicts."""

import math
from collections.abc import Mapping
from typing import NamedTuple

from dp_bandit_envs.experiments.figure_1.figure_1_setup import HORIZON, N_ARMS, PANELS, SWITCHING, WITHOUT_MEMORY
from dp_bandit_envs.experiments.verdicts import all_ahead, errors_ahead, ratio, yes_or_no
from dp_bandit_envs.privacy.guarantee import PrivacyGuarantee
from dp_bandit_envs.runs.experiment import GameSpec, Results
from dp_bandit_envs.runs.run_report import Verdict

CLOSE = 1.25
"""The largest ratio of regrets at which one algorithm counts as competitive with another."""
MEANINGFUL = 10.0
"""The largest epsilon that gives meaningful protection."""
NEARLY = 0.9
"""The smallest ratio of regret to bound at which the bound counts as attained."""


class SharesOfBounds(NamedTuple):
    """Each algorithm's mean regret against the deterministic adversary, divided by its bound."""

    shares: Mapping[str, float]


class BesideExp3(NamedTuple):
    """DP-EXP3-Lap's epsilon, and its mean regret divided by that of EXP3 in each game without memory."""

    epsilon: float
    ratios: Mapping[str, float]

    @property
    def close(self) -> bool:
        """Whether the regrets are close in every game."""
        return all(one <= CLOSE for one in self.ratios.values())


class TwoEpsilons(NamedTuple):
    """DP-EXP3-Lap's epsilon, and the smallest known here for EXP3."""

    lap: float
    exp3: float


class LapAhead(NamedTuple):
    """By how many standard errors DP-EXP3-Lap has less regret than EXP3-tau in each game without memory."""

    errors: Mapping[str, float]


class SwitchingCosts(NamedTuple):
    """Mean regrets with switching costs, and by how many standard errors EXP3-tau has less than each of the others."""

    regrets: Mapping[str, float]
    errors: Mapping[str, float]


class WithinBounds(NamedTuple):
    """How many of the mean regrets that have a bound are within it."""

    within: int
    bounded: int


class TauAhead(NamedTuple):
    """EXP3-tau's epsilon at delta = T^-2, and by how many standard errors it has less regret with switching costs."""

    epsilon: float
    errors: Mapping[str, float]


def shares_of_bounds(results: Results) -> tuple[SharesOfBounds, Verdict]:
    """Judge whether the deterministic adversary makes all algorithms attain their bounds."""
    shares = {name: _mean(results, PANELS[0], name) / _bound(results, PANELS[0], name) for name in _names(results)}
    return SharesOfBounds(shares), yes_or_no(min(shares.values()) >= NEARLY)


def beside_exp3(results: Results) -> tuple[BesideExp3, Verdict]:
    """Judge whether DP-EXP3-Lap is competitive with EXP3."""
    exp3, lap, _ = _names(results)
    ratios = {panel.title: ratio(_mean(results, panel, lap), _mean(results, panel, exp3)) for panel in WITHOUT_MEMORY}
    found = BesideExp3(_guarantee(results, "DP-EXP3-Lap").epsilon, ratios)
    return found, yes_or_no(found.close)


def two_epsilons(results: Results) -> tuple[TwoEpsilons, Verdict]:
    """Judge whether DP-EXP3-Lap has more privacy than EXP3."""
    found = TwoEpsilons(_guarantee(results, "DP-EXP3-Lap").epsilon, _guarantee(results, "EXP3").epsilon)
    return found, yes_or_no(found.lap < found.exp3)


def lap_for_free(results: Results) -> tuple[BesideExp3, Verdict]:
    """Judge whether DP-EXP3-Lap pays nothing for its privacy."""
    found, _ = beside_exp3(results)
    return found, yes_or_no(found.close and found.epsilon <= MEANINGFUL)


def lap_ahead(results: Results) -> tuple[LapAhead, Verdict]:
    """Judge whether EXP3-tau is worse than DP-EXP3-Lap without memory."""
    _, lap, tau = _names(results)
    errors = {panel.title: errors_ahead(results, panel.key, lap, tau) for panel in WITHOUT_MEMORY}
    return LapAhead(errors), all_ahead(errors.values())


def switching_costs(results: Results) -> tuple[SwitchingCosts, Verdict]:
    """Judge whether EXP3-tau outperforms the others with switching costs."""
    regrets = {name: _mean(results, SWITCHING, name) for name in _names(results)}
    errors = _tau_ahead(results)
    return SwitchingCosts(regrets, errors), all_ahead(errors.values())


def within_bounds(results: Results) -> tuple[WithinBounds, Verdict]:
    """Judge whether mean regrets are within their bounds."""
    pairs = [
        (_mean(results, panel, name), _bound(results, panel, name)) for panel in PANELS for name in _names(results)
    ]
    within = [mean <= bound for mean, bound in pairs if math.isfinite(bound)]
    return WithinBounds(sum(within), len(within)), yes_or_no(all(within))


def tau_for_free(results: Results) -> tuple[TauAhead, Verdict]:
    """Judge whether EXP3-tau pays nothing for its privacy with switching costs."""
    horizon = results.experiment.horizon or HORIZON
    errors = _tau_ahead(results)
    epsilon = _guarantee(results, "EXP3-tau").epsilon_at(horizon**-2)
    return TauAhead(epsilon, errors), Verdict.NO if epsilon > MEANINGFUL else all_ahead(errors.values())


def _names(results: Results) -> tuple[str, str, str]:
    """Return the labels of the paper's three algorithms."""
    names = {contestant.name: contestant.make().name for contestant in results.experiment.contestants}
    return names["EXP3"], names["DP-EXP3-Lap"], names["EXP3-tau"]


def _tau_ahead(results: Results) -> dict[str, float]:
    exp3, lap, tau = _names(results)
    return {name: errors_ahead(results, SWITCHING.key, tau, name) for name in (exp3, lap)}


def _guarantee(results: Results, algorithm: str) -> PrivacyGuarantee:
    made = next(one.make() for one in results.experiment.contestants if one.name == algorithm)
    return made.guarantee(n_arms=N_ARMS, horizon=results.experiment.horizon or HORIZON)


def _mean(results: Results, panel: GameSpec, name: str) -> float:
    return float(results.regret(panel.key, name)[:, -1].mean())


def _bound(results: Results, panel: GameSpec, name: str) -> float:
    game = results.experiment.game(panel)
    algorithm = next(made for one in results.experiment.contestants if (made := one.make()).name == name)
    return algorithm.regret_bound(n_arms=game.n_arms, horizon=game.horizon, memory=game.adversary.memory)
