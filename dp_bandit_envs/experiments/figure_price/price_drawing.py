"""Draws the figure of `reproduce price-of-privacy`."""

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure

from dp_bandit_envs.experiments.experiment import Results
from dp_bandit_envs.experiments.figure_price import price_setup as setup
from dp_bandit_envs.experiments.figure_price.price_games import ARMS, BALL, EASY, EXPERTS, FULL, MANY, Game
from dp_bandit_envs.experiments.figure_price.price_numbers import (
    Estimate,
    over_horizon,
    ratio_of_means,
)
from dp_bandit_envs.experiments.figure_price.price_panels import Curve, Panel, price_figure
from dp_bandit_envs.experiments.figure_price.price_setup import Price, label_at, last, longest
from dp_bandit_envs.experiments.privacy_levels import labels_of
from dp_bandit_envs.experiments.reproduction import Reproduction
from dp_bandit_envs.metrics import mean_and_standard_error
from dp_bandit_envs.plots.plot_style import BLUE, GREEN, GREY, OLIVE, ORANGE, PURPLE, SKY, VERMILION, WINE, Style

RATIO = "regret / regret without privacy"
STYLES = {
    setup.PAPER: Style(VERMILION, "-", "s"),
    setup.K_ARY: Style(ORANGE, "--", "D"),
    setup.OWN: Style(BLUE, "-", "o"),
    setup.GAUSSIAN: Style(GREEN, "-.", "^"),
    setup.PERTURBED: Style(PURPLE, (0, (5, 1)), "v"),
    setup.FRESH: Style(WINE, ":", "X"),
    setup.LOST: Style(GREY, ":", ""),
    "AS-EXP2": Style(WINE, "-", "P"),
    "AS-SCRiBLe": Style(SKY, "-", "h"),
    "AS-OSMD": Style(OLIVE, "--", ">"),
    setup.COINS: Style(SKY, "--", "<"),
    setup.LAZY: Style(OLIVE, "-", "p"),
    setup.EPOCHS: Style(PURPLE, "-.", "*"),
}
"""Colours of one panel differ; those of several panels return, with other markers."""


def draw_price(reproduction: Reproduction, results: Sequence[Results]) -> Figure:
    """Draw the price over T in three panels, over epsilon, and over the number of experts."""
    over_t, over_epsilon, _, many = results
    end, middle = (f"{longest(one):,}" for one in (many, over_epsilon))
    d, k = EXPERTS.dimension, ARMS.dimension
    panels = [
        _over_t(f"Experts, d = {d}", over_t, setup.PANELS["experts"], lost=EXPERTS),
        _over_t(f"Ball, d = {BALL.dimension}", over_t, setup.PANELS["ball"], lost=BALL),
        _over_t(f"Bandits: K = {k} arms, ball d = 5", over_t, setup.PANELS["bandits"]),
        Panel(f"d = {d}, T = {middle}", "epsilon", "extra regret", _over_epsilon(over_epsilon), free=False),
        Panel(f"Many experts, T = {end}", "number of experts d", RATIO, _many(many)),
    ]
    labels = labels_of([over_t.experiment, many.experiment])
    labels |= {price.private: f"{labels[price.private]}, {price.game.name}" for price in setup.PANELS["bandits"]}
    trials = over_t.experiment.trials
    note = (
        f"point: ratio (d: difference) of mean regrets of {trials} games ({many.experiment.trials} in e) on the same"
        " gains; band: its 95% confidence interval (1.96 standard errors). a to c: epsilon = 1, the best choice ahead"
        f" by a gap of order 1 / sqrt(T), so that no learning costs a constant ratio. d, e: gap {EASY:g}; in d"
        f" the levels are those of the axis, and {setup.OWN} has Laplace noise on the cube, whose own norm is L1"
    )
    return price_figure(panels, note=note, labels=labels, styles=STYLES)


def _over_t(title: str, results: Results, prices: Sequence[Price], lost: Game | None = None) -> Panel:
    shown = [*prices, *([] if lost is None else [Price(setup.LOST, setup.FREE, lost)])]
    curves = []
    for price in shown:
        ratios = over_horizon(results, price)
        curves.append(Curve(price.private, list(ratios), list(ratios.values())))
    return Panel(title, "horizon T", RATIO, curves, powers=True)


def _over_epsilon(results: Results) -> list[Curve]:
    curves = []
    for name in setup.OVER_EPSILON:
        for game in FULL:
            panel = game.key(longest(results))
            free = last(results, panel, setup.FREE)
            extra = np.stack([last(results, panel, label_at(name, level)) - free for level in setup.LEVELS], axis=1)
            points = [Estimate(*map(float, mean_and_standard_error(column))) for column in extra.T]
            curves.append(Curve(name, setup.LEVELS, points, game.name))
    return curves


def _many(results: Results) -> list[Curve]:
    curves = []
    for price in setup.OVER_DIMENSION:
        panels = [MANY.key(longest(results), number) for number in setup.NUMBERS_OF_EXPERTS]
        pairs = [[last(results, panel, name) for name in (price.private, price.free)] for panel in panels]
        points = [ratio_of_means(private, free) for private, free in pairs]
        curves.append(Curve(price.private, setup.NUMBERS_OF_EXPERTS, points))
    return curves
