"""The figure of price-of-privacy: ratios of regrets over T, what privacy adds over epsilon, ratios over d."""

from collections.abc import Callable, Sequence

import numpy as np
from matplotlib.figure import Figure

from dp_bandit_envs.experiments.experiment import Results, labels_of
from dp_bandit_envs.figures.judging import Estimate, ratio_of_means
from dp_bandit_envs.figures.price_of_privacy import games
from dp_bandit_envs.figures.price_of_privacy.games import Price, SizedGame, last, longest, ratios_over_horizon
from dp_bandit_envs.metrics import Band, confidence_band
from dp_bandit_envs.plots.curves_figure import Curve, Panel, Reference, curves_figure
from dp_bandit_envs.plots.plot_style import GREY

RATIO = "regret / regret without privacy"
NORMAL_95 = 1.96
WITH_GAME = {*games.OVER_EPSILON, *(price.private for price in games.PANELS["bandits"])}
"""Algorithms whose labels name the game: those that are drawn in several, and those of which each is in one."""


def draw(results: Sequence[Results], columns: int | None = None) -> Figure:
    """Draw the price over T in three panels, over epsilon, and over the number of experts."""
    over_t, over_epsilon, _, many = results
    end, middle = (f"{longest(one):,}" for one in (many, over_epsilon))
    d = games.EXPERTS.dimension
    labels = labels_of([over_t.experiment, many.experiment])
    labels |= {games.COINS: f"{labels[games.COINS]}, table 1's previous best"}
    labels |= {games.FRESH: f"{labels[games.FRESH]}, baseline"}

    def label(name: str, game: SizedGame) -> str:
        return f"{labels[name]}, {game.name}" if name in WITH_GAME else labels[name]

    note = (
        f"line: ratio (d: difference) of mean regrets of {over_t.experiment.trials} games"
        f" ({many.experiment.trials} in e) on the same"
        " gains; bar or band: its 95 % confidence interval (ratio: normal law of its logarithm; difference: bootstrap)."
        " a to c: epsilon = 1, the best choice ahead by a gap of order 1 / sqrt(T), so that no learning costs a"
        f" constant ratio. d, e: gap {games.EASY:g}; in d the levels are those of the axis, and {games.OWN} has Laplace"
        " noise on the cube, whose own norm is L1"
    )
    return curves_figure(
        [
            _over_t(f"Experts, d = {d}", over_t, games.PANELS["experts"], label, lost=games.EXPERTS),
            _over_t(f"Ball, d = {games.BALL.dimension}", over_t, games.PANELS["ball"], label, lost=games.BALL),
            _over_t(f"Bandits: K = {games.ARMS.dimension} arms, ball d = 5", over_t, games.PANELS["bandits"], label),
            _over_epsilon(f"d = {d}, T = {middle}", over_epsilon, label),
            _over_dimension(f"Many experts, T = {end}", many, label),
        ],
        across="horizon T",
        measure=RATIO,
        band=None,
        x_scale="log",
        y_scale="log",
        note=note,
        columns=columns or 2,
    )


Label = Callable[[str, SizedGame], str]


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


def _above_zero(band: Band) -> Band:
    """Return a band without places at which the line is not above 0, which a logarithmic axis does not have."""
    line, low, high = (np.where(band.line > 0, part, np.nan) for part in band)
    return Band(line, low, high)


def _free(at: Sequence[float]) -> Reference:
    """Return the line of the ratio at which privacy is free."""
    return Reference("no price: ratio 1", np.array([min(at), max(at)]), np.ones(2), colour=GREY, width=1.2, dash="-")


def _over_t(
    title: str, results: Results, prices: Sequence[Price], label: Label, lost: SizedGame | None = None
) -> Panel:
    ratios = {price: ratios_over_horizon(results, price) for price in prices}
    curves = [
        Curve(
            price.private,
            label(*price[::2]),
            np.array(list(by_horizon)),
            _above_zero(ratio_band(list(by_horizon.values()))),
        )
        for price, by_horizon in ratios.items()
    ]
    references = [_free(list(ratios[prices[0]]))]
    if lost is not None:
        by_horizon = ratios_over_horizon(results, Price(games.LOST, games.FREE, lost))
        heights = np.array([one.value for one in by_horizon.values()])
        references.append(Reference(games.LOST, np.array(list(by_horizon)), heights, colour=GREY, dash=":"))
    return Panel(title, curves, references)


def _over_epsilon(title: str, results: Results, label: Label) -> Panel:
    curves = []
    for name in games.OVER_EPSILON:
        for game in games.FULL:
            key = game.key(longest(results))
            free = last(results, key, games.FREE)
            private = [last(results, key, games.label_at(name, level)) for level in games.LEVELS]
            extra = _above_zero(confidence_band(np.stack([one - free for one in private], axis=1)))
            curves.append(Curve(name, label(name, game), np.array(games.LEVELS), extra))
    return Panel(title, curves, across="epsilon", up="extra regret (gain)")


def _over_dimension(title: str, results: Results, label: Label) -> Panel:
    numbers = games.NUMBERS_OF_EXPERTS
    keys = [games.MANY.key(longest(results), number) for number in numbers]
    curves = []
    for price in games.OVER_DIMENSION:
        pairs = [[last(results, key, name) for name in (price.private, price.free)] for key in keys]
        band = _above_zero(ratio_band([ratio_of_means(private, free) for private, free in pairs]))
        curves.append(Curve(price.private, label(price.private, games.MANY), np.array(numbers), band))
    return Panel(title, curves, [_free(numbers)], across="number of experts d", up="regret / Hedge's regret")
