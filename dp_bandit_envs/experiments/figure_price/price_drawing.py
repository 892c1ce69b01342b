"""Draws the figure of `reproduce price-of-privacy`."""

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure

from dp_bandit_envs.experiments.figure_price import price_setup as setup
from dp_bandit_envs.experiments.figure_price.price_games import ARMS, BALL, EASY, EXPERTS, FULL, MANY, Game
from dp_bandit_envs.experiments.figure_price.price_numbers import (
    Estimate,
    over_horizon,
    ratio_of_means,
)
from dp_bandit_envs.experiments.figure_price.price_panels import Line, RatioPanel, price_figure
from dp_bandit_envs.experiments.figure_price.price_setup import Price, label_at, last, longest
from dp_bandit_envs.experiments.reproduction import Reproduction
from dp_bandit_envs.metrics import Band, confidence_band
from dp_bandit_envs.plots.curves import Reference
from dp_bandit_envs.plots.plot_style import GREY
from dp_bandit_envs.runs.experiment import Results, labels_of

RATIO = "regret / regret without privacy"
NORMAL_95 = 1.96


def draw_price(reproduction: Reproduction, results: Sequence[Results]) -> Figure:
    """Draw the price over T in three panels, over epsilon, and over the number of experts."""
    over_t, over_epsilon, _, many = results
    end, middle = (f"{longest(one):,}" for one in (many, over_epsilon))
    d, k = EXPERTS.dimension, ARMS.dimension
    panels = [
        _over_t(f"Experts, d = {d}", over_t, setup.PANELS["experts"], lost=EXPERTS),
        _over_t(f"Ball, d = {BALL.dimension}", over_t, setup.PANELS["ball"], lost=BALL),
        _over_t(f"Bandits: K = {k} arms, ball d = 5", over_t, setup.PANELS["bandits"]),
        RatioPanel(f"d = {d}, T = {middle}", "epsilon", "extra regret (gain)", _over_epsilon(over_epsilon), free=False),
        RatioPanel(f"Many experts, T = {end}", "number of experts d", RATIO, _many(many)),
    ]
    labels = labels_of([over_t.experiment, many.experiment])
    labels |= {price.private: f"{labels[price.private]}, {price.game.name}" for price in setup.PANELS["bandits"]}
    labels |= {
        setup.COINS: f"{labels[setup.COINS]}, table 1's previous best",
        setup.FRESH: f"{labels[setup.FRESH]}, baseline",
    }
    trials = over_t.experiment.trials
    note = (
        f"line: ratio (d: difference) of mean regrets of {trials} games ({many.experiment.trials} in e) on the same"
        " gains; band: its 95 % confidence interval (ratio: normal law of its logarithm; difference: bootstrap). a to"
        " c: epsilon = 1, the best choice ahead by a gap of order 1 / sqrt(T), so that no learning costs a constant"
        f" ratio. d, e: gap {EASY:g}; in d the levels are those of the axis, and {setup.OWN} has Laplace noise on the"
        " cube, whose own norm is L1"
    )
    return price_figure(panels, note=note, labels=labels)


def _over_t(title: str, results: Results, prices: Sequence[Price], lost: Game | None = None) -> RatioPanel:
    lines = []
    for price in prices:
        ratios = over_horizon(results, price)
        lines.append(Line(price.private, list(ratios), ratio_band(list(ratios.values()))))
    references = []
    if lost is not None:
        ratios = over_horizon(results, Price(setup.LOST, setup.FREE, lost))
        heights = np.array([one.value for one in ratios.values()])
        references.append(Reference(setup.LOST, np.array(list(ratios)), heights, colour=GREY, dash=":"))
    return RatioPanel(title, "horizon T", RATIO, lines, references=references)


def ratio_band(points: Sequence[Estimate]) -> Band:
    r"""Return ratios with the intervals :math:`r e^{\pm 1.96 s / r}`, those of the logarithm, which stay above 0.

    Args:
        points: Each ratio r with its standard error s; without an error, the interval is r.
    """
    line = np.array([one.value for one in points], dtype=float)
    error = np.nan_to_num(np.array([one.error for one in points], dtype=float))
    # A ratio that is hardly known has a band over the whole axis, not one that overflows.
    factor = np.exp(np.minimum(NORMAL_95 * np.divide(error, line, out=np.zeros_like(line), where=line > 0), 20))
    return Band(line, line / factor, line * factor)


def _over_epsilon(results: Results) -> list[Line]:
    lines = []
    for name in setup.OVER_EPSILON:
        for game in FULL:
            panel = game.key(longest(results))
            free = last(results, panel, setup.FREE)
            extra = np.stack([last(results, panel, label_at(name, level)) - free for level in setup.LEVELS], axis=1)
            lines.append(Line(name, setup.LEVELS, confidence_band(extra), game.name))
    return lines


def _many(results: Results) -> list[Line]:
    lines = []
    for price in setup.OVER_DIMENSION:
        panels = [MANY.key(longest(results), number) for number in setup.NUMBERS_OF_EXPERTS]
        pairs = [[last(results, panel, name) for name in (price.private, price.free)] for panel in panels]
        points = [ratio_of_means(private, free) for private, free in pairs]
        lines.append(Line(price.private, setup.NUMBERS_OF_EXPERTS, ratio_band(points)))
    return lines
