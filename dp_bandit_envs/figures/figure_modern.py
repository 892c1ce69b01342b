"""Stochastic algorithms since 2016 beside those of 2016: regret over time and over epsilon, and lower bounds."""

import functools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dp_bandit_envs import checks
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
    joined,
    over_error,
    paired,
    ratio,
    runs_on_a_worse_arm,
    smaller_than,
    with_names,
)
from dp_bandit_envs.metrics import mean_and_standard_error
from dp_bandit_envs.plots.curves_figure import ROUND, Curve, Panel, Reference, curves_figure
from dp_bandit_envs.plots.plot_style import GREY
from dp_bandit_envs.privacy.guarantee import NO_PRIVACY
from dp_bandit_envs.protocols import FloatArray, IntArray
from dp_bandit_envs.runs.experiment import AlgorithmSpec, Experiment, GameSpec, Results
from dp_bandit_envs.runs.run_report import Note, Study, View
from dp_bandit_envs.theory.lower_bounds import lai_robbins, private_lower_bound

if TYPE_CHECKING:
    from matplotlib.figure import Figure

HORIZON = 10**7
SWEEP_HORIZON = 10**6
TRIALS = 20
OPTIMAL_TRIALS = 100
"""Number of games of the two best algorithms over epsilon, whose mean a few bad games decide; one takes about 30 ms."""
EPSILON = 1.0
SWEEP = (0.05, 0.1, 0.2, 0.5, 1.0, 2.0)
PRIVATE = ("DP-UCB-BOUND", "DP-UCB", "DP-SE", "AdaP-UCB", "AdaP-KLUCB", "Lazy-DP-TS", "DP-KLUCB", "DP-IMED")
OPTIMAL = ("DP-KLUCB", "DP-IMED")
REFERENCE = "KL-UCB"
TOLD = "DP-SE"
"""The algorithm that knows the horizon."""
VIEW = View(measure="pseudo_regret", centre="mean", scale="log", claimed_by="The literature")
NEARLY = 2.0
"""The factor that doubling blocks can cost; differences within it do not count."""
CLOSE = 0.25
"""The largest deviation of an exponent from -1, and its largest standard error, for it to count as -1."""
FROM = 10
"""The first round of long games that is drawn; an asymptotic bound means nothing before."""
FAR, FEW_LOST = 5, 3
"""A game is far from the others with more than this many medians; this many points with such games are named."""
LOWER_BOUND = "asymptotic lower bound"
WITHOUT_PRIVACY = "asymptotic lower bound without privacy"


class Means(NamedTuple):
    """A game's name, its title, and the means of its arms."""

    name: str
    title: str
    means: tuple[float, ...]


GAMES = (
    Means("spaced", "means .75 to .25", (0.5, 0.25, 0.75, 0.375, 0.625)),
    Means("one-ahead", "means .8 and four .1", (0.1, 0.1, 0.8, 0.1, 0.1)),
)
"""The best arm is in the middle, because most algorithms begin with the first arm."""


def experiments(*, horizon: int = HORIZON, trials: int = TRIALS, seed: int = 0) -> tuple[Experiment, Experiment]:
    """Return both experiments: regret over time at epsilon 1, and regret after 10^6 rounds over epsilon.

    Args:
        horizon: Number of rounds T of the first; the second has as many, but no more than 10^6.
        trials: Number of runs; from 20 on, the two best play 100 in the second.
        seed: The seed.
    """
    horizon = checks.integer("horizon", horizon, at_least=1)
    over_time = tuple(_panel(game, EPSILON, (*PRIVATE, REFERENCE)) for game in GAMES)
    more = OPTIMAL_TRIALS if trials >= TRIALS else 0
    levels = [*((epsilon, PRIVATE) for epsilon in SWEEP), (None, (REFERENCE,))]
    over_epsilon = tuple(_panel(game, epsilon, names, more) for game in GAMES for epsilon, names in levels)
    return (
        Experiment("over-time", over_time, (), horizon, trials, seed, checkpoints="log"),
        Experiment("over-epsilon", over_epsilon, (), min(horizon, SWEEP_HORIZON), trials, seed, checkpoints="log"),
    )


def _panel(game: Means, epsilon: float | None, names: Sequence[str], more: int = 0) -> GameSpec:
    """Return a game at a privacy level (None for none), with `more` games of the two best if that is more."""
    return GameSpec(
        key=key(game, epsilon),
        title=f"{game.title}, " + ("no privacy" if epsilon is None else f"epsilon = {epsilon:g}"),
        env_id="DPBandit-Stochastic-v0",
        env_kwargs={"means": list(game.means)},
        contestants=tuple(
            AlgorithmSpec(
                name, {} if name == REFERENCE else {"epsilon": epsilon}, trials=more if name in OPTIMAL else 0
            )
            for name in names
        ),
    )


def key(game: Means, epsilon: float | None) -> str:
    """Return the key of a game's panel at a privacy level; None means no privacy."""
    return f"{game.name}-epsilon-{'none' if epsilon is None else f'{epsilon:g}'}"


def study(*, horizon: int = HORIZON, trials: int = TRIALS, seed: int = 0) -> Study:
    """Return what to play and to report; arguments as for `experiments`."""
    return Study(
        name="figure-modern",
        title="Private stochastic bandits since 2016, and the lower bound",
        experiments=experiments(horizon=horizon, trials=trials, seed=seed),
        view=VIEW,
        notes=notes,
        claims=claims.judged,
        draw=draw,
    )


def notes(results: Sequence[Results]) -> list[Note]:
    """Return what a reader must know before the numbers."""
    games = "; ".join(f"{game.name}, with means {', '.join(f'{one:g}' for one in game.means)}" for game in GAMES)
    lost = [
        f"{count} of {len(one.regret(panel.key, name, VIEW.measure))} of {name} ({panel.title})"
        for one in results
        for panel in one.experiment.panels
        for name in one.names_in(panel)
        if (count := runs_on_a_worse_arm(one, panel, name))
    ]
    text = (
        f"Games: {games}. Regret is pseudo-regret, each round's difference in mean between the best arm and the arm"
        f" played. All algorithms are epsilon-differentially private, but for {REFERENCE}, which has no privacy and"
        " stands for what privacy costs. The lower bound is asymptotic: for an algorithm that is good at all means, the"
        " slope of regret in ln t is at least the sum over arms of gap / d_epsilon(mean, best mean) in the long run"
        " (Azize and others 2025; without privacy Lai and Robbins 1985, with kl in place of d_epsilon). Its line is"
        " that slope times ln t; at a finite t regret may be below it.\n\nRuns that stay with a worse arm to the end,"
        f" where noise hides the best one: {', '.join(lost) + '. One of them decides a mean' if lost else 'none'}."
    )
    return [Note(text), *smaller_than(results[0], HORIZON, TRIALS)]


def draw(results: Sequence[Results], columns: int | None = None) -> "Figure":
    """Draw a row for each game: regret over time on the left, over epsilon on the right, all axes logarithmic."""
    over_time, over_epsilon = results
    return curves_figure(
        [
            panel
            for game in GAMES
            for panel in (_drawn_over_time(over_time, game), _drawn_over_epsilon(over_epsilon, game))
        ],
        across=ROUND,
        measure=VIEW.measure,
        band=VIEW.band,
        x_scale="log",
        y_scale=VIEW.scale,
        note=f"{_about_bands(over_epsilon)}The lower bounds are the least slope of regret in ln t, times ln t: at a"
        " finite t, regret may be below",
        columns=columns or 2,
    )


def _about_bands(over_epsilon: Results) -> str:
    """Return which games make an interval of the two best wide over epsilon, beside narrow ones; "" for none."""
    found = []
    for name in OPTIMAL:
        for panel in over_epsilon.experiment.panels:
            if name in over_epsilon.names_in(panel):
                regret = _last(over_epsilon, panel.key, name)
                middle = float(np.median(regret))
                if middle > 0 and (lost := int(np.sum(regret > FAR * middle))):
                    found.append((regret.mean() / middle, f"{lost} of {len(regret)} of {name} at {panel.title}"))
    if not found:
        return ""
    named = [words for _, words in sorted(found, reverse=True)[:FEW_LOST]]
    which = "; ".join(named + [f"{len(found) - FEW_LOST} more"] * (len(found) > FEW_LOST))
    return (
        f"A bar is wide where games with more than {FAR} times the median regret decide it, in which noise hid the best"
        f" arm for long: {which}. "
    )


def _drawn_over_time(results: Results, game: Means) -> Panel:
    panel = key(game, EPSILON)
    rounds = results.rounds(panel)
    shown = rounds >= min(FROM, rounds[-1])
    curves = [
        Curve(name, f"{name} (eps {EPSILON:g})", rounds[shown], results.regret(panel, name, VIEW.measure)[:, shown])
        for name in PRIVATE
    ]
    free = results.regret(panel, REFERENCE, VIEW.measure)[:, shown]
    curves.append(Curve(REFERENCE, f"{REFERENCE} {NO_PRIVACY}", rounds[shown], free))
    private, without = (bounds_over_time(game, rounds[shown].tolist(), epsilon) for epsilon in (EPSILON, None))
    return Panel(f"{game.title}; epsilon = {EPSILON:g}", curves, _bounds(rounds[shown], private, without))


def _drawn_over_epsilon(results: Results, game: Means) -> Panel:
    levels, horizon = np.array(SWEEP), _horizon(results)
    curves = [Curve(name, name, levels, _sweep(results, game, name)) for name in PRIVATE]
    # Without privacy one regret is that of all levels.
    free = _last(results, key(game, None), REFERENCE)[:, None].repeat(len(SWEEP), axis=1)
    curves.append(Curve(REFERENCE, f"{REFERENCE} {NO_PRIVACY}", levels, free))
    private, without = bounds_over_epsilon(game, horizon), np.full(len(SWEEP), lai_robbins(game.means, horizon))
    title = f"{game.title}; T = {horizon:,}"
    return Panel(title, curves, _bounds(levels, private, without), across="privacy parameter epsilon")


def _bounds(at: IntArray | FloatArray, private: FloatArray, without: FloatArray) -> tuple[Reference, Reference]:
    return (
        Reference(WITHOUT_PRIVACY, at, without, colour=GREY, width=1.2),
        Reference(LOWER_BOUND, at, private, width=2.2),
    )


def bounds_over_time(game: Means, rounds: Sequence[int], epsilon: float | None) -> FloatArray:
    """Return the lower bound at each round, shape `(rounds,)`."""
    whole = lai_robbins(game.means, 2) if epsilon is None else private_lower_bound(game.means, 2, epsilon)
    slopes: FloatArray = whole / np.log(2) * np.log(np.asarray(rounds, dtype=float))
    return slopes


def bounds_over_epsilon(game: Means, horizon: int) -> FloatArray:
    """Return the lower bound at the horizon for each epsilon of `SWEEP`, shape `(levels,)`."""
    return np.array([private_lower_bound(game.means, horizon, epsilon) for epsilon in SWEEP])


def _horizon(results: Results) -> int:
    assert results.experiment.horizon is not None
    return results.experiment.horizon


def _begin(results: Results, panel: str) -> int:
    """Return the checkpoint at which the last two powers of ten begin."""
    rounds = results.rounds(panel)
    return min(int(np.searchsorted(rounds, rounds[-1] / 100)), len(rounds) - 1)


def _last(results: Results, panel: str, name: str) -> FloatArray:
    """Return each run's regret after the last round."""
    regret: FloatArray = results.regret(panel, name, VIEW.measure)[:, -1]
    return regret


def _sweep(results: Results, game: Means, name: str) -> FloatArray:
    """Return the regret after the last round at each epsilon of `SWEEP`, shape `(trials, levels)`."""
    return np.stack([_last(results, key(game, epsilon), name) for epsilon in SWEEP], axis=1)


class Pair(NamedTuple):
    """Two algorithms in a game."""

    better: str
    worse: str
    game: str

    def __str__(self) -> str:
        return f"{self.better} to {self.worse}, {self.game}"


class Comparison(NamedTuple):
    """Two algorithms in a game at one epsilon.

    We compare averages over ln t, because doubling episodes make regret step-like.

    Attributes:
        ratio: Of mean regrets, averaged over ln t in the last two powers of ten.
        ratio_at_end: Of mean regrets at T.
        errors: By how many standard errors the first has less regret, averaged like `ratio`.
        errors_at_end: The same at T.
    """

    ratio: float
    ratio_at_end: float
    errors: float
    errors_at_end: float


def _compared(results: Results, game: Means, epsilon: float, pair: Pair) -> Comparison:
    panel = key(game, epsilon)
    begin = _begin(results, panel)
    # Checkpoints are even in ln t.
    one, other = (
        results.regret(panel, name, VIEW.measure)[:, begin:].mean(axis=1) for name in (pair.better, pair.worse)
    )
    one_at_end, other_at_end = (_last(results, panel, name) for name in (pair.better, pair.worse))
    return Comparison(
        ratio=ratio(one.mean(), other.mean()),
        ratio_at_end=ratio(one_at_end.mean(), other_at_end.mean()),
        errors=over_error(paired(other, one)),
        errors_at_end=over_error(paired(other_at_end, one_at_end)),
    )


def _at_end(errors: Mapping[str, float]) -> str:
    """Return the result if regret at T alone decided."""
    clear = sum(each > DECIDES for each in errors.values())
    behind = [name for name, each in errors.items() if each < -DECIDES]
    text = f"at T alone clear in {clear} of {len(errors)} cases"
    return f"{text}, the other way round in {'; '.join(behind)}" if behind else text


class Order(NamedTuple):
    """The claim that each of `better` has less regret than each of `worse`."""

    better: tuple[str, ...]
    worse: tuple[str, ...]

    def __str__(self) -> str:
        has = "has less" if len(self.better) == 1 else "have no more"
        return f"{joined(self.better)} {has} regret than {joined(self.worse)}"

    def pairs(self) -> Iterator[tuple[Means, Pair]]:
        """Yield all pairs in each game."""
        for game in GAMES:
            for better in self.better:
                for worse in self.worse:
                    yield game, Pair(better, worse, game.name)


ORDERS = (
    Order(("DP-KLUCB", "DP-IMED"), ("AdaP-KLUCB",)),
    Order(("AdaP-KLUCB",), ("AdaP-UCB",)),
    Order(("AdaP-UCB",), ("DP-SE", "DP-UCB")),
)
AVERAGED = "averaged over ln t in the last two powers of ten"
claims = Claims()


def _at_one_epsilon(results: Results, order: Order) -> Found:
    numbers = {pair: _compared(results, game, EPSILON, pair) for game, pair in order.pairs()}
    shown = {pair: f"{one.ratio:.2f} / {one.ratio_at_end:.2f}" for pair, one in numbers.items()}
    behind = [pair for pair, one in numbers.items() if one.errors < -DECIDES]
    unclear = [pair for pair, one in numbers.items() if abs(one.errors) <= DECIDES]
    at_end = _at_end({str(pair): one.errors_at_end for pair, one in numbers.items()})
    return Found(
        all_ahead(one.errors for one in numbers.values()),
        numbers,
        f"ratio of mean regrets, {AVERAGED} / at T alone: {with_names(shown)}; {at_end}",
        yes=f"by at least {min(one.errors for one in numbers.values()):.0f} standard errors",
        no=f"the other way round: {joined(behind)}",
        unknown=f" for {joined(unclear)}" if unclear else "",
    )


def _at_every_epsilon(results: Results, order: Order) -> Found:
    numbers = {
        pair: {epsilon: _compared(results, game, epsilon, pair) for epsilon in SWEEP} for game, pair in order.pairs()
    }
    behind = {pair: [e for e, one in each.items() if one.errors <= -DECIDES] for pair, each in numbers.items()}
    # The figure shows regret at T, so a reversed order there also refutes the claim.
    behind_at_end = {
        pair: [e for e, one in each.items() if one.errors_at_end < -DECIDES] for pair, each in numbers.items()
    }
    unclear = {pair: [e for e, one in each.items() if abs(one.errors) <= DECIDES] for pair, each in numbers.items()}
    clear = {pair: f"{sum(one.errors > DECIDES for one in each.values())}" for pair, each in numbers.items()}
    at_end = _at_end(
        {f"{pair}, epsilon = {e:g}": one.errors_at_end for pair, each in numbers.items() for e, one in each.items()}
    )
    reversed_ = _with_levels(behind) or [f"{one}, at T" for one in _with_levels(behind_at_end)]
    return Found(
        NO if reversed_ else all_ahead(one.errors for each in numbers.values() for one in each.values()),
        numbers,
        f"clearly less, {AVERAGED}, at how many of {len(SWEEP)} values of epsilon: {with_names(clear)}; {at_end}",
        yes="at all of them",
        no=f"the other way round: {'; '.join(reversed_)}. All are of order ln T / epsilon there, and constants decide",
        unknown=f" for {'; '.join(_with_levels(unclear))}",
    )


def _with_levels(levels: Mapping[Pair, Sequence[float]]) -> list[str]:
    """Return the pairs that have any levels, each with them."""
    return [f"{pair}, epsilon = {joined(f'{one:g}' for one in each)}" for pair, each in levels.items() if each]


def _says(order: Order, where: str) -> Callable[[Results], str]:
    return lambda results: f"{order}: {where}, T = {_horizon(results):,}."


for _order in ORDERS:
    claims(_says(_order, f"at epsilon = {EPSILON:g}"))(functools.partial(_at_one_epsilon, order=_order))
for _order in ORDERS:
    claims(_says(_order, "at every epsilon"), of=(1,))(functools.partial(_at_every_epsilon, order=_order))

SLOPES = "slope over the last two powers of ten, as a multiple of the slope of the bound"


class Played(NamedTuple):
    """An algorithm in a game."""

    algorithm: str
    game: str

    def __str__(self) -> str:
        return f"{self.algorithm}, {self.game}"


def _with_error(one: Estimate) -> str:
    return f"{one.value:.2f} ± {one.error:.2f}"


def _slopes(results: Results, names: Sequence[str]) -> dict[Played, Estimate]:
    return {Played(name, game.name): _slope(results, game, name) for game in GAMES for name in names}


def _slope(results: Results, game: Means, name: str) -> Estimate:
    """Return the slope of regret in ln t over the last two powers of ten, divided by the lower bound's."""
    panel = key(game, EPSILON)
    rounds, begin = results.rounds(panel), _begin(results, panel)
    if rounds[begin] == rounds[-1]:
        return UNKNOWN
    # The bound is linear in ln T, so at T = 10 it is ln 10 times its slope.
    bound = lai_robbins(game.means, 10) if name == REFERENCE else private_lower_bound(game.means, 10, EPSILON)
    regret = results.regret(panel, name, VIEW.measure)
    if name == TOLD:
        slopes = regret[:, -1] / math.log(rounds[-1])
    else:
        slopes = (regret[:, -1] - regret[:, begin]) / math.log(rounds[-1] / rounds[begin])
    mean, error = mean_and_standard_error(slopes * math.log(10) / bound)
    return Estimate(float(mean), float(error))


@claims(
    f"No regret grows more slowly in ln t than its lower bound ({REFERENCE}: than that without privacy; {TOLD},"
    " which knows T and stops exploring for good, so that its regret stops growing: regret at T over ln T)."
)
def _above_the_lower_bound(results: Results) -> Found:
    slopes = _slopes(results, (*PRIVATE, REFERENCE))
    below = [f"{name}: {_with_error(one)}" for name, one in slopes.items() if one.value + DECIDES * one.error < 1]
    return Found(
        NO if below else YES if all(one.known for one in slopes.values()) else UNDECIDED,
        slopes,
        f"{SLOPES}: {with_names({name: f'{one.value:.2f}' for name, one in slopes.items()})}",
        yes="none is below 1 by three standard errors",
        no=f"below: {'; '.join(below)}. The bound is about the limit of large t, and an algorithm can for a"
        " while exploit what it learnt from earlier pulls",
    )


@claims(f"DP-KLUCB and DP-IMED match the lower bound up to the growth of their blocks (at most {NEARLY:g}).")
def _reaches_the_lower_bound(results: Results) -> Found:
    slopes = _slopes(results, OPTIMAL)
    above = [name for name, one in slopes.items() if one.value - DECIDES * one.error > NEARLY]
    return Found(
        NO if above else YES if all(one.known for one in slopes.values()) else UNDECIDED,
        slopes,
        f"{SLOPES}: {with_names({name: _with_error(one) for name, one in slopes.items()})}",
        yes=f"none is above {NEARLY:g} by three standard errors",
        no=f"above: {joined(above)}, by T = {_horizon(results):,}; the claim is about the limit",
    )


@claims(
    f"Privacy is nearly free for large epsilon: at {SWEEP[-1]:g}, DP-KLUCB and DP-IMED have less than {NEARLY:g} times"
    f" the regret of {REFERENCE}.",
    of=(1,),
)
def _free_at_large_epsilon(results: Results) -> Found:
    ratios, errors = {}, {}
    for game in GAMES:
        reference = _last(results, key(game, None), REFERENCE)
        for name in OPTIMAL:
            regret = _last(results, key(game, SWEEP[-1]), name)
            ratios[Played(name, game.name)] = ratio(regret.mean(), reference.mean())
            errors[Played(name, game.name)] = over_error(paired(NEARLY * reference, regret))
    bounds = {
        game.name: f"{private_lower_bound(game.means, 10, SWEEP[-1]) / lai_robbins(game.means, 10):.2f}"
        for game in GAMES
    }
    return Found(
        all_ahead(errors.values()),
        ratios,
        f"ratio of mean regrets: {with_names({name: f'{one:.2f}' for name, one in ratios.items()})};"
        f" ratio of the lower bounds: {with_names(bounds)}",
        yes="in both games",
        no=f"not at T = {_horizon(results):,}",
    )


@claims("For small epsilon regret is proportional to 1 / epsilon.", of=(1,))
def _inverse_at_small_epsilon(results: Results) -> Found:
    low, high = SWEEP[:2]
    exponents = {
        Played(name, game.name): _exponent(_sweep(results, game, name)[:, :2], math.log(high / low))
        for game in GAMES
        for name in OPTIMAL
    }
    loose = [name for name, one in exponents.items() if not one.error <= CLOSE]
    far = any(abs(one.value + 1) > CLOSE + DECIDES * one.error for one in exponents.values())
    return Found(
        NO if far else UNDECIDED if loose else YES,
        exponents,
        f"exponent of epsilon between {low:g} and {high:g}:"
        f" {with_names({name: _with_error(one) for name, one in exponents.items()})}",
        yes="-1 to within a quarter",
        no=f"not at T = {_horizon(results):,}: part of the regret does not depend on epsilon, and none can exceed T"
        " times the gap",
        unknown=f" for {joined(loose)}",
    )


def _exponent(regrets: FloatArray, span: float) -> Estimate:
    """Return the slope of ln E[regret], shape `(trials, 2)`, between two levels whose logarithms differ by `span`."""
    means: FloatArray = regrets.mean(axis=0)
    if not np.all(means > 0):
        return UNKNOWN
    relative = regrets / means
    _, error = mean_and_standard_error(relative[:, 1] - relative[:, 0])
    return Estimate(float(np.log(means[1] / means[0]) / span), float(error / span))
