"""The figures of price-of-privacy: ratios of regrets over T, what privacy adds over epsilon, ratios over d."""

from collections.abc import Callable, Sequence

import numpy as np
from matplotlib.figure import Figure

from dp_bandit_envs.experiments.experiment import Results, labels_of
from dp_bandit_envs.figures.judging import Estimate, ratio_of_means
from dp_bandit_envs.figures.price_of_privacy import games
from dp_bandit_envs.figures.price_of_privacy.games import Price, SizedGame, last, longest, ratios_over_horizon
from dp_bandit_envs.metrics import Band, confidence_band
from dp_bandit_envs.plots.curves_figure import PLAIN, Curve, Panel, Reference, curves_figure
from dp_bandit_envs.plots.plot_style import GREY

RATIO = "regret / regret without privacy"
NORMAL_95 = 1.96
BANDITS = tuple(price.free for price in games.PANELS["bandits"])
"""Algorithms without privacy of the figure whose lines are of different games, which their labels name."""
Label = Callable[[Price], str]


def draw(results: Sequence[Results], columns: int | None = None, note: bool = True) -> dict[str, Figure]:
    """Draw four figures: over T with full information and with bandits, over epsilon, and over numbers of experts."""
    over_t, over_epsilon, _, many = results
    labels = labels_of([over_t, many])
    labels |= {games.COINS: f"{labels[games.COINS]}, table 1's previous best"}
    labels |= {games.FRESH: f"{labels[games.FRESH]}, baseline"}

    def label(price: Price) -> str:
        return f"{labels[price.private]}, {price.game.name}" if price.free in BANDITS else labels[price.private]

    of_ratio = "line: ratio of mean regrets of {} games on the same gains; {}: its 95 % confidence interval"
    hard = (
        f"{of_ratio.format(over_t.experiment.trials, 'band or bar')}. epsilon = 1, the best choice ahead by a gap of"
        " order 1 / sqrt(T), so that no learning costs a constant ratio"
    )
    experts, ball, arms = games.EXPERTS, games.BALL, games.ARMS
    panels = {
        "full-information": [
            _over_t(f"Experts, d = {experts.dimension}", over_t, games.PANELS["experts"], label, lost=experts),
            _over_t(f"Ball, d = {ball.dimension}", over_t, games.PANELS["ball"], label, lost=ball),
        ],
        "bandits": [_over_t(f"K = {arms.dimension} arms; ball, d = 5", over_t, games.PANELS["bandits"], label)],
        "epsilon": [_over_epsilon(game, over_epsilon) for game in games.FULL],
        "many-experts": [_over_dimension(f"Experts, drawn, T = {longest(many):,}", many, label)],
    }
    notes = {
        "full-information": hard,
        "bandits": hard,
        "epsilon": f"line: difference of mean regrets of {over_epsilon.experiment.trials} games on the same gains;"
        f" band: its 95 % confidence interval (bootstrap). Gap {games.EASY:g}. {games.OWN} has Laplace noise on the"
        " cube, whose own norm is L1",
        "many-experts": f"{of_ratio.format(many.experiment.trials, 'band')}. Gap {games.EASY:g}",
    }
    return {
        name: curves_figure(
            of_figure,
            across="horizon T",
            measure=RATIO,
            band=None,
            x_scale="log",
            y_scale="log",
            note=notes[name],
            columns=columns,
            appearance=PLAIN._replace(note=note),
        )
        for name, of_figure in panels.items()
    }


def ratio_band(points: Sequence[Estimate]) -> Band:
    r"""Return ratios with the intervals :math:`r e^{\pm 1.96 s / r}` of their logarithms, which stay above 0.

    Args:
        points: Each ratio r with its standard error s; without an error, the interval is the point r.
    """
    line = np.array([ratio.value for ratio in points], dtype=float)
    error = np.nan_to_num(np.array([ratio.error for ratio in points], dtype=float))
    # A ratio that is hardly known has a band over the whole axis, not one that overflows.
    factor = np.exp(np.minimum(NORMAL_95 * np.divide(error, line, out=np.zeros_like(line), where=line > 0), 20))
    return Band(line, line / factor, line * factor)


def _above_zero(band: Band) -> Band:
    """Return a band without points whose line is not above 0, for a logarithmic axis."""
    line, low, high = (np.where(band.line > 0, part, np.nan) for part in band)
    return Band(line, low, high)


def _free(at: Sequence[float]) -> Reference:
    """Return the line of ratio 1, where privacy is free."""
    return Reference("no price: ratio 1", np.array([min(at), max(at)]), np.ones(2), colour=GREY, width=1.2, dash="-")


def _over_t(
    title: str, results: Results, prices: Sequence[Price], label: Label, lost: SizedGame | None = None
) -> Panel:
    ratios = {price: ratios_over_horizon(results, price) for price in prices}
    curves = [
        Curve(
            price.private, label(price), np.array(list(by_horizon)), _above_zero(ratio_band(list(by_horizon.values())))
        )
        for price, by_horizon in ratios.items()
    ]
    references = [_free(list(ratios[prices[0]]))]
    if lost is not None:
        by_horizon = ratios_over_horizon(results, Price(games.LOST, games.FREE, lost))
        heights = np.array([ratio.value for ratio in by_horizon.values()])
        references.append(Reference(games.LOST, np.array(list(by_horizon)), heights, colour=GREY, dash=":"))
    return Panel(title, curves, references)


def _over_epsilon(game: SizedGame, results: Results) -> Panel:
    curves = []
    key = game.key(longest(results))
    free = last(results, key, games.FREE)
    for name in games.OVER_EPSILON:
        private = [last(results, key, games.label_at(name, level)) for level in games.LEVELS]
        extra = _above_zero(confidence_band(np.stack([regret - free for regret in private], axis=1)))
        curves.append(Curve(name, name, np.array(games.LEVELS), extra))
    title = f"{game.title}, d = {game.dimension}, T = {longest(results):,}"
    return Panel(title, curves, across="epsilon", up="extra regret (gain)")


def _over_dimension(title: str, results: Results, label: Label) -> Panel:
    numbers = games.NUMBERS_OF_EXPERTS
    keys = [games.MANY.key(longest(results), number) for number in numbers]
    curves = []
    for price in games.OVER_DIMENSION:
        pairs = [[last(results, key, name) for name in (price.private, price.free)] for key in keys]
        band = _above_zero(ratio_band([ratio_of_means(private, free) for private, free in pairs]))
        curves.append(Curve(price.private, label(price), np.array(numbers), band))
    return Panel(title, curves, [_free(numbers)], across="number of experts d", up="regret / Hedge's regret")
