"""What differential privacy costs in online linear optimisation: nothing in the long run, or a constant factor."""

import functools
import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.legend import Legend
from matplotlib.lines import Line2D

from dp_bandit_envs.algorithms import make_algorithm
from dp_bandit_envs.figures.judging import (
    DECIDES,
    NO,
    UNDECIDED,
    UNKNOWN,
    YES,
    Claims,
    Estimate,
    Found,
    all_ahead,
    fewer_or_shorter,
    joined,
    over_error,
    ratio_of_means,
    slope_of,
    slope_weights,
    with_names,
    yes_or_no,
)
from dp_bandit_envs.figures.price_exponents import ROWS, measured, table_claims
from dp_bandit_envs.figures.price_games import (
    ARMS,
    BALL,
    COINS,
    EASY,
    EPOCHS,
    EPSILON,
    EXPERTS,
    FREE,
    FRESH,
    FULL,
    GAUSSIAN,
    HEDGE,
    HORIZON,
    LAZY,
    LENGTHS,
    LEVELS,
    LOST,
    MANY,
    NUMBERS_OF_EXPERTS,
    OVER_DIMENSION,
    OVER_EPSILON,
    OWN,
    PANELS,
    PAPER,
    PERTURBED,
    TRIALS,
    VIEW,
    Game,
    Price,
    experiments,
    in_powers,
    label_at,
    last,
    lengths,
    longest,
)
from dp_bandit_envs.metrics import Band, confidence_band, mean_and_standard_error
from dp_bandit_envs.plots.curves_figure import MOST_BANDS, Reference, draw_band, draw_reference
from dp_bandit_envs.plots.figure_layout import (
    add_legend_and_note,
    add_legends_below,
    grid_of,
    log_limits,
    outer_labels_only,
    places_axis,
    set_titles,
    values_axis,
)
from dp_bandit_envs.plots.plot_style import BLACK, DASHES, GREY, RC, Style, styles_for, typeset
from dp_bandit_envs.runs.experiment import Results, labels_of
from dp_bandit_envs.runs.run_report import Note, Numbers, Study


def study(*, horizon: int = HORIZON, trials: int = TRIALS, seed: int = 0) -> Study:
    """Return what to play and to report; arguments as for `experiments`."""
    return Study(
        name="price-of-privacy",
        title="The price of privacy in online linear optimisation",
        experiments=experiments(horizon=horizon, trials=trials, seed=seed),
        view=VIEW,
        notes=notes,
        claims=claims.judged,
        numbers=numbers,
        draw=draw,
    )


def notes(results: Sequence[Results]) -> list[Note]:
    """Return what a reader must know before the numbers."""
    over_horizon, *_, many = results
    text = (
        "Regret is external regret. With experts a mixture is played (`DPBandit-Simplex-v0`) and earns its mean gain:"
        " the same expected regret as drawing an expert from it, without the noise of the draws, which would hide"
        " ratios near 1. With many experts one expert is drawn in each round, because for"
        f" {COINS}, {LAZY} and {EPOCHS} the draws are what makes them private;"
        f" all four learners and {HEDGE} draw.\n\n"
        "Each length T is a game of its own. Over T the best choice is ahead by 2 sqrt(ln d / T) for experts,"
        " 2 sqrt(d / T) on the ball, 6 sqrt(K ln K / T) for arms and 14 sqrt(d / T) on the ball with payoffs only (at"
        " most 1): then regret without privacy grows like sqrt(T), its worst case, at every length. The factors for"
        " bandits are larger because their regret is, and a learner that learns nothing would look no worse than a"
        f" private one. Even so, with full information the ratio cannot exceed that of `{LOST}`. All other games"
        f" have a gap of {EASY:g}: there a learner that sees only noise would lose in proportion to T, so that"
        " exponents are not capped.\n\n"
        f"With many experts T = {longest(many):,}: a private sum of 10^4 experts needs that many draws a round."
        f" {FREE} is AS-FTRL without noise. {PAPER} has the paper's padded trees at the scale that"
        " epsilon needs; as printed the same algorithm has up to 2.885 epsilon at T = 2^16. An interval of a ratio is"
        " paired: both learners play the same gains."
    )
    few = fewer_or_shorter(longest(over_horizon), over_horizon.experiment.trials, HORIZON, TRIALS)
    return [Note(text), *few]


def ratios_over_horizon(results: Results, price: Price) -> dict[int, Estimate]:
    """Return the ratio of regrets at each horizon, ascending."""
    panels = {length: price.game.key(length) for length in lengths(longest(results), LENGTHS)}
    return {
        length: ratio_of_means(last(results, panel, price.private), last(results, panel, price.free))
        for length, panel in panels.items()
    }


RATIO = "regret / regret without privacy"
NORMAL_95 = 1.96


class Line(NamedTuple):
    """A line: its name in the legend, its places and its band, and which game of the panel it is about."""

    name: str
    at: Sequence[float]
    band: Band
    game: str = ""


class RatioPanel(NamedTuple):
    """A panel with logarithmic axes.

    Attributes:
        title: Its title.
        across, up: The labels of its axes.
        lines: Its lines.
        free: The ratio at which privacy is free, drawn as a line; None for none.
        references: Lines that are no algorithms.
    """

    title: str
    across: str
    up: str
    lines: Sequence[Line]
    free: float | None = 1.0
    references: Sequence[Reference] = ()


def draw(results: Sequence[Results], columns: int | None = None) -> Figure:
    """Draw the price over T in three panels, over epsilon, and over the number of experts."""
    over_t, over_epsilon, _, many = results
    end, middle = (f"{longest(one):,}" for one in (many, over_epsilon))
    d, k = EXPERTS.dimension, ARMS.dimension
    panels = [
        _drawn_over_t(f"Experts, d = {d}", over_t, PANELS["experts"], lost=EXPERTS),
        _drawn_over_t(f"Ball, d = {BALL.dimension}", over_t, PANELS["ball"], lost=BALL),
        _drawn_over_t(f"Bandits: K = {k} arms, ball d = 5", over_t, PANELS["bandits"]),
        RatioPanel(
            f"d = {d}, T = {middle}", "epsilon", "extra regret (gain)", _lines_over_epsilon(over_epsilon), free=None
        ),
        RatioPanel(f"Many experts, T = {end}", "number of experts d", RATIO, _lines_of_many(many)),
    ]
    labels = labels_of([over_t.experiment, many.experiment])
    labels |= {price.private: f"{labels[price.private]}, {price.game.name}" for price in PANELS["bandits"]}
    labels |= {COINS: f"{labels[COINS]}, table 1's previous best", FRESH: f"{labels[FRESH]}, baseline"}
    note = (
        f"line: ratio (d: difference) of mean regrets of {over_t.experiment.trials} games"
        f" ({many.experiment.trials} in e) on the same"
        " gains; bar or band: its 95 % confidence interval (ratio: normal law of its logarithm; difference: bootstrap)."
        " a to c: epsilon = 1, the best choice ahead by a gap of order 1 / sqrt(T), so that no learning costs a"
        f" constant ratio. d, e: gap {EASY:g}; in d the levels are those of the axis, and {OWN} has Laplace noise on"
        " the cube, whose own norm is L1"
    )
    return price_figure(panels, note=note, labels=labels, columns=columns)


def _drawn_over_t(title: str, results: Results, prices: Sequence[Price], lost: Game | None = None) -> RatioPanel:
    ratios = {price.private: ratios_over_horizon(results, price) for price in prices}
    lines = [Line(name, list(each), ratio_band(list(each.values()))) for name, each in ratios.items()]
    references = []
    if lost is not None:
        each = ratios_over_horizon(results, Price(LOST, FREE, lost))
        heights = np.array([one.value for one in each.values()])
        references.append(Reference(LOST, np.array(list(each)), heights, colour=GREY, dash=":"))
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


def _lines_over_epsilon(results: Results) -> list[Line]:
    lines = []
    for name in OVER_EPSILON:
        for game in FULL:
            panel = game.key(longest(results))
            free = last(results, panel, FREE)
            extra = np.stack([last(results, panel, label_at(name, level)) - free for level in LEVELS], axis=1)
            lines.append(Line(name, LEVELS, confidence_band(extra), game.name))
    return lines


def _lines_of_many(results: Results) -> list[Line]:
    panels = [MANY.key(longest(results), number) for number in NUMBERS_OF_EXPERTS]
    lines = []
    for price in OVER_DIMENSION:
        pairs = [[last(results, panel, name) for name in (price.private, price.free)] for panel in panels]
        points = [ratio_of_means(private, free) for private, free in pairs]
        lines.append(Line(price.private, NUMBERS_OF_EXPERTS, ratio_band(points)))
    return lines


def price_figure(
    panels: Sequence[RatioPanel], *, note: str, labels: Mapping[str, str], columns: int | None = None
) -> Figure:
    """Draw panels two in a row, each above its own legend: all together have more lines than there are colours.

    Args:
        panels: What to draw.
        note: What to say below the figure.
        labels: The legend's label for each line's name, where it is not the name.
        columns: Number of panels in a row.
    """
    names = [[line.name for line in panel.lines] for panel in panels]
    looks = styles_for(itertools.chain(*names), together=names, reserved=(BLACK,))
    with mpl.rc_context(RC):
        figure, grid = grid_of(len(panels), columns or min(2, len(panels)))
        drawn = [_draw_panel(axes, panel, looks) for axes, panel in zip(grid, panels, strict=False)]
        for axes in grid[len(panels) :]:
            axes.axis("off")
        set_titles(grid, [panel.title for panel in panels])
        outer_labels_only(grid[: len(panels)])
        for axes in grid[: len(panels)]:
            axes.xaxis.label.set_visible(True)  # a legend stands between panels above each other
        legends = [{typeset(labels.get(name, name)): line for name, line in found.items()} for found in drawn]
        add_legends_below(grid, legends)
        add_legend_and_note(figure, {}, typeset(note))
        return figure


def _draw_panel(axes: Axes, panel: RatioPanel, looks: Mapping[str, Style]) -> dict[str, Any]:
    """Draw a panel; return the line of each name."""
    games = list(dict.fromkeys(line.game for line in panel.lines))
    found: dict[str, Any] = {}
    bands = [line.band for line in panel.lines]
    heights = [band.line for band in bands] + [reference.line for reference in panel.references]
    if panel.free is not None:
        heights.append(np.array([panel.free]))
        axes.axhline(panel.free, color=BLACK, linewidth=0.9)
    limits = log_limits(heights, [end for band in bands for end in (band.low, band.high)])
    for line in panel.lines:
        look = looks[line.name]
        if len(games) > 1:
            look = look._replace(line=DASHES[games.index(line.game) % len(DASHES)])
        # A logarithmic axis has no place for a mean of 0 or less; its point is left out, and others are joined.
        shown = line.band.line > 0
        band, at = Band(*(part[shown] for part in line.band)), np.array(line.at)[shown]
        bars = len(panel.lines) > MOST_BANDS
        found.setdefault(line.name, draw_band(axes, at, band, look, floor=limits[0], bars=bars))
    for reference in panel.references:
        found.setdefault(reference.label, draw_reference(axes, reference, log=True))
    places_axis(axes, [np.asarray(line.at, dtype=float) for line in panel.lines], "log", rounds=False)
    values_axis(axes, limits)
    axes.set_xlabel(typeset(panel.across))
    axes.set_ylabel(panel.up)
    if len(games) > 1:
        keys = [Line2D([], [], color=GREY, linestyle=DASHES[place % len(DASHES)]) for place in range(len(games))]
        axes.add_artist(Legend(axes, keys, games, loc="lower left"))
    return found


claims = Claims()
NEARLY = 1.5
"""The ratio of regrets below which privacy counts as nearly free."""
FLAT = 0.05
"""The largest exponent of T, up or down, that counts as constant."""
LOOSE_RATIO = 0.05
"""The largest standard error of the exponent of a ratio that decides."""
LARGEST_POWER = 40
"""The power of 2 up to which bounds are computed."""
LARGEST_EXACT = 20
"""The power of 2 up to which FTPL's noise is computed."""
DIMENSIONS = (10, 100)
"""Those at which FTPL's noise is worked out."""
LEADERS = {
    PAPER: "the paper's noise (padded binary trees, with the scale that epsilon needs)",
    OWN: "k-ary trees and noise in the shape of the gain vectors (errata: no factor ln N, and no padding)",
    GAUSSIAN: "the square-root counter and Gaussian noise, at a delta of 1e-6",
}
"""Algorithms whose price may vanish, from the paper's noise to today's."""


def _of(name: str) -> tuple[Price, ...]:
    """Return an algorithm's lines with full information."""
    return tuple(price for panel in ("experts", "ball") for price in PANELS[panel] if price.private == name)


class NearlyFree(NamedTuple):
    """Where privacy is nearly free, by price.

    Attributes:
        ends: The ratio of regrets at the longest horizon.
        first: The first horizon from which on the ratio is clearly below `NEARLY`; None if there is none.
        by_bound: The power of 2 from which on the bound is below `NEARLY` times that without noise; None if there is
            none, and no entry where no bound is known.
    """

    ends: Mapping[Price, Estimate]
    first: Mapping[Price, int | None]
    by_bound: Mapping[Price, int | None]


def _nearly_free(results: Results, name: str) -> Found:
    ratios = {price: ratios_over_horizon(results, price) for price in _of(name)}
    ends = {price: each[max(each)] for price, each in ratios.items()}
    by_bound = {price: _by_bound(price) for price in ratios if name == PAPER}
    found = NearlyFree(ends, {price: _first_below(each) for price, each in ratios.items()}, by_bound)
    first = with_names({price.game.name: in_powers(horizon) for price, horizon in found.first.items()})
    bounds = {
        price.game.name: f"none up to 2^{LARGEST_POWER}" if power is None else f"2^{power}"
        for price, power in by_bound.items()
    }
    above = any(one.value - DECIDES * one.error > NEARLY for one in ends.values())
    below = all(one.value + DECIDES * one.error < NEARLY for one in ends.values())
    return Found(
        NO if above else YES if below else UNDECIDED,
        found,
        f"ratio of mean regrets: {with_names(ends)}; below {NEARLY:g} from"
        f" this T on: {first}"
        + (f"; the bounds come that near from this T on: {with_names(bounds)}" if bounds else ""),
        yes="in both games",
        no="noise still decides at this T; the order of the bound says nothing about when",
        unknown=f": too close to {NEARLY:g}",
    )


def _first_below(ratios: Mapping[int, Estimate]) -> int | None:
    first = None
    for horizon in sorted(ratios, reverse=True):
        if not ratios[horizon].value + DECIDES * ratios[horizon].error < NEARLY:
            break
        first = horizon
    return first


@functools.lru_cache
def _by_bound(price: Price) -> int | None:
    for power in range(10, LARGEST_POWER + 1):
        env = price.game.make(2**power)
        private, free = (make_algorithm(PAPER, epsilon=one).regret_bound_in(env) for one in (EPSILON, math.inf))
        if private < NEARLY * free:
            return power
    return None


def _says_nearly_free(name: str) -> Callable[[Results], str]:
    return lambda results: (
        f"With full information and epsilon = 1, privacy is free in long games. {name}, with {LEADERS[name]}: less"
        f" than {NEARLY:g} times the regret without privacy at T = {in_powers(longest(results))}."
    )


for _name in LEADERS:
    claims(_says_nearly_free(_name))(functools.partial(_nearly_free, name=_name))


@claims(
    "On the ball privacy costs AS-FTPL exactly nothing in long games: the noise that keeps its regret small is"
    " already enough for epsilon = 1 and delta = 1e-6, so it plays the same points as without privacy.",
    fewest=0,
)
def _exactly_free(results: Results) -> Found:
    horizons = {dimension: first_exactly_free(dimension) for dimension in DIMENSIONS}
    since = {f"d = {size}": in_powers(horizon, 2**LARGEST_EXACT) for size, horizon in horizons.items()}
    usual = horizons[BALL.dimension]
    return Found(
        yes_or_no(usual is not None and usual <= longest(results)),
        horizons,
        f"so from this T, a power of 2, on: {with_names(since)}. (The paper writes epsilon for what is (epsilon,"
        " delta), and its noise is d^(1/4) times what the ball needs.)",
        yes="the wrappers are the same, so play for play the games are",
        no="in no game of the figure",
    )


@functools.lru_cache
def first_exactly_free(dimension: int) -> int | None:
    """Return the first power of 2 at which FTPL needs no more noise for privacy than for regret; None if none does."""
    powers = (2**power for power in range(LARGEST_EXACT + 1))
    return next((horizon for horizon in powers if is_exactly_free(dimension, horizon)), None)


def is_exactly_free(dimension: int, horizon: int) -> bool:
    """Return whether FTPL at epsilon = 1 puts the same wrapper around the ball as FTPL without privacy."""
    game = BALL.make(horizon, dimension)
    wrapped = [make_algorithm(PERTURBED, epsilon=epsilon).wrap(game) for epsilon in (EPSILON, math.inf)]
    private, free = (one.get_wrapper_attr("mechanism").epsilon for one in wrapped)
    return bool(private == free)


def _constant_factor(results: Results, prices: Sequence[Price]) -> Found:
    """Judge whether the ratio of regrets stays above 1 and does not change with T."""
    exponents = {price: _exponent_of_ratio(results, price) for price in prices}
    ratios = {price: ratios_over_horizon(results, price) for price in prices}
    ends = {price: each[max(each)] for price, each in ratios.items()}
    growing = [price for price, one in exponents.items() if one.value - DECIDES * one.error > FLAT]
    falling = [price for price, one in exponents.items() if one.value + DECIDES * one.error < -FLAT]
    below = any(one.value + DECIDES * one.error < 1 for one in ends.values())
    dearer = all(one.value - DECIDES * one.error > 1 for one in ends.values())
    narrow = all(one.error <= LOOSE_RATIO for one in exponents.values())
    changing = [f"the ratio grows with T for {joined(growing)}"] if growing else []
    if falling:
        how = "logarithms count, as in how often to explore"
        changing.append(f"the ratio still falls with T for {joined(falling)}: {how}")
    return Found(
        NO if growing or falling or below else YES if dearer and narrow else UNDECIDED,
        {"exponents": exponents, "ends": ends},
        f"exponent of T in the ratio of mean regrets: {with_names(exponents)};"
        f" the ratio at T = {in_powers(longest(results))}: {with_names(ends)}",
        yes=f"the exponents are within {FLAT:g} of 0",
        no="; ".join(changing) or "a ratio is below 1",
        unknown=": an exponent is not known well enough, or a ratio is not clearly above 1",
    )


def _exponent_of_ratio(results: Results, price: Price) -> Estimate:
    horizons = lengths(longest(results), LENGTHS)
    private, free = (
        np.stack([last(results, price.game.key(length), name) for length in horizons], axis=1)
        for name in (price.private, price.free)
    )
    if len(horizons) < 2 or not (np.all(private.mean(axis=0) > 0) and np.all(free.mean(axis=0) > 0)):
        return UNKNOWN
    difference = private / private.mean(axis=0) - free / free.mean(axis=0)
    _, error = mean_and_standard_error(difference @ slope_weights(horizons))
    return Estimate(slope_of(horizons, private.mean(axis=0) / free.mean(axis=0)), float(error))


claims(
    f"Without the paper's sums privacy costs a constant factor, however long the game: {COINS} for experts, of"
    " the order of table 1's previous best, sqrt(T ln N) / epsilon, and noise on each round"
    f" ({FRESH}, a baseline)."
)(functools.partial(_constant_factor, prices=_of(COINS) + _of(FRESH)))
for _prices in (PANELS["bandits"][:1], PANELS["bandits"][1:2], PANELS["bandits"][2:]):
    claims(
        f"With bandit feedback, {joined(_prices)}, privacy costs a constant factor"
        " (the paper's algorithm 4, which adds noise to each payoff and so is local, which it does not say)."
    )(functools.partial(_constant_factor, prices=_prices))
claims += table_claims


@claims(
    f"Private sums are for few experts, lazy or rare draws for many: with {NUMBERS_OF_EXPERTS[0]:,} experts {OWN} has"
    f" less regret than {joined((COINS, LAZY))}, with {NUMBERS_OF_EXPERTS[-1]:,} more than {joined((LAZY, EPOCHS))}.",
    of=(3,),
)
def _few_and_many(results: Results) -> Found:
    horizon, (few, *_, many) = longest(results), NUMBERS_OF_EXPERTS
    small, large = (MANY.key(horizon, number) for number in (few, many))
    errors = [over_error(last(results, small, name) - last(results, small, OWN)) for name in (COINS, LAZY)]
    errors += [over_error(last(results, large, OWN) - last(results, large, name)) for name in (LAZY, EPOCHS)]
    ratios = {
        name: tuple(ratio_of_means(last(results, panel, name), last(results, panel, HEDGE)) for panel in (small, large))
        for name in (OWN, COINS, LAZY, EPOCHS)
    }
    shown = with_names({name: " / ".join(map(str, both)) for name, both in ratios.items()})
    return Found(
        all_ahead(errors),
        ratios,
        f"regret over Hedge's with {few:,} / {many:,} experts, T = {in_powers(horizon)}:"
        f" {shown}. ({EPOCHS} is for independent gains, as here.)",
        yes="by more than three standard errors each",
        no="the other way round for one of them",
        unknown=": one of them is too close",
    )


def numbers(results: Sequence[Results]) -> dict[str, Numbers]:
    """Return what the page quotes: ratios of regrets, from which T on privacy is nearly free, exponents."""
    over_horizon, over_epsilon, for_exponents, many_experts = results
    found: dict[str, Numbers] = {}
    for price in itertools.chain(*PANELS.values()):
        for length, ratio in ratios_over_horizon(over_horizon, price).items():
            found[f"ratio/{price}/{length}"] = _plain(ratio)
    for name in LEADERS:
        nearly: NearlyFree = _nearly_free(over_horizon, name).numbers
        for price, first in nearly.first.items():
            power = nearly.by_bound.get(price)
            by_bound = math.inf if power is None else 2.0**power
            found[f"nearly free/{price}"] = {"from": first or math.inf, "by bound": by_bound}
    found["exactly free"] = {f"d = {size}": first_exactly_free(size) or math.inf for size in DIMENSIONS}
    for row in ROWS:
        one = measured(for_exponents, over_epsilon, row)
        for prices, of in ((one.regret, ""), (one.extra, ", extra")):
            for price, each in prices.items():
                for quantity, power_of in each.items():
                    entry = {**_plain(power_of.measured), "paper": power_of.paper}
                    found[f"exponent/{price}{of}/{quantity}"] = entry
        found[f"exponent/without privacy, {row.game.name}/T"] = _plain(one.free.measured)
    for name, ends in _few_and_many(many_experts).numbers.items():
        for size, ratio in zip(("few", "many"), ends, strict=True):
            found[f"{size} experts/{name}"] = _plain(ratio)
    return found


def _plain(one: Estimate) -> dict[str, float]:
    return {"mean": one.value, "error": one.error}
