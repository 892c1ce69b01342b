"""What the literature says about private stochastic bandits, held against the numbers of figure-modern."""

import math
from collections.abc import Sequence

import numpy as np

from dp_bandit_envs.experiments.claim import Claim, Verdict
from dp_bandit_envs.experiments.experiment import Results
from dp_bandit_envs.experiments.figure_modern.modern_setup import (
    EPSILON,
    GAMES,
    OPTIMAL,
    PRIVATE,
    REFERENCE,
    SWEEP,
    VIEW,
    Means,
    key,
    sweep_of,
)
from dp_bandit_envs.experiments.verdicts import (
    DECIDES,
    all_ahead,
    decided,
    joined,
    over_error,
    paired,
    ratio,
    with_names,
)
from dp_bandit_envs.metrics import mean_and_standard_error
from dp_bandit_envs.protocols import FloatArray
from dp_bandit_envs.theory.lower_bounds import lai_robbins, private_lower_bound

ORDER = (
    ("DP-KLUCB and DP-IMED have no more regret than AdaP-KLUCB", ("DP-KLUCB", "DP-IMED"), ("AdaP-KLUCB",)),
    ("AdaP-KLUCB has less regret than AdaP-UCB", ("AdaP-KLUCB",), ("AdaP-UCB",)),
    ("AdaP-UCB has less regret than DP-SE and DP-UCB", ("AdaP-UCB",), ("DP-SE", "DP-UCB")),
)
LATE = "averaged over ln t in the last two powers of ten"
"""What orders are judged by: episodes that double make regret go in steps, which decide what is seen at one round."""
CLOSE = 0.25
TOLD = ("DP-SE",)
"""Who is told the horizon."""
NEARLY = 2.0
"""The factor that counts as nothing: what blocks that double can cost."""


def claims(over_time: Results, over_epsilon: Results) -> list[Claim]:
    """Return every claim, with what was seen in both experiments."""
    return [
        *(_order_at_the_end(over_time, *each) for each in ORDER),
        *(_order_over_epsilon(over_epsilon, *each) for each in ORDER),
        _above_the_lower_bound(over_time),
        _reaches_the_lower_bound(over_time),
        _free_at_large_epsilon(over_epsilon),
        _inverse_at_small_epsilon(over_epsilon),
    ]


def _order_at_the_end(results: Results, says: str, better: Sequence[str], worse: Sequence[str]) -> Claim:
    shown, leads, last = {}, {}, {}
    for game in GAMES:
        panel = key(game, EPSILON)
        for one, other in _pairs(better, worse):
            name = f"{one} to {other}, {game.name}"
            leads[name] = over_error(paired(_late(results, panel, other), _late(results, panel, one)))
            last[name] = over_error(paired(_last(results, panel, other), _last(results, panel, one)))
            late = ratio(_late(results, panel, one).mean(), _late(results, panel, other).mean())
            shown[name] = (
                f"{late:.2f} / {ratio(_last(results, panel, one).mean(), _last(results, panel, other).mean()):.2f}"
            )
    return Claim(
        f"{says}: at epsilon = {EPSILON:g}, T = {_end(results):,}.",
        f"ratio of mean regrets, {LATE} / at T alone: {with_names(shown)}; {_at_the_end(last)}",
        decided(
            all_ahead(leads.values()),
            results,
            yes=f"by at least {min(leads.values()):.0f} standard errors",
            no=f"the other way round: {joined([name for name, each in leads.items() if each < -DECIDES])}",
            unknown=_unclear(leads),
        ),
    )


def _order_over_epsilon(results: Results, says: str, better: Sequence[str], worse: Sequence[str]) -> Claim:
    ahead: dict[str, str] = {}
    behind: list[str] = []
    unclear: list[str] = []
    leads: list[float] = []
    last: dict[str, float] = {}
    for game in GAMES:
        for one, other in _pairs(better, worse):
            name = f"{one} to {other}, {game.name}"
            found = {}
            for epsilon in SWEEP:
                panel = key(game, epsilon)
                found[epsilon] = over_error(paired(_late(results, panel, other), _late(results, panel, one)))
                at_the_end = over_error(paired(_last(results, panel, other), _last(results, panel, one)))
                last[f"{name}, epsilon = {epsilon:g}"] = at_the_end
            leads += found.values()
            ahead[name] = f"{sum(each > DECIDES for each in found.values())}"
            for kind, chosen in ((behind, _at(found, -math.inf, -DECIDES)), (unclear, _at(found, -DECIDES, DECIDES))):
                kind += [f"{name}, epsilon = {chosen}"] if chosen else []
    # The figure shows regret at T, so what is the other way round there is a no.
    behind = behind or [f"{name}, at T" for name, each in last.items() if each < -DECIDES]
    return Claim(
        f"{says}: at every epsilon, T = {_end(results):,}.",
        f"clearly less, {LATE}, at so many of {len(SWEEP)} values of epsilon: {with_names(ahead)}; {_at_the_end(last)}",
        decided(
            Verdict.NO if behind else all_ahead(leads),
            results,
            yes="at all of them",
            no=f"the other way round: {'; '.join(behind)}. All are of order ln T / epsilon there, and constants decide",
            unknown=f" for {'; '.join(unclear)}",
        ),
    )


def _above_the_lower_bound(results: Results) -> Claim:
    shown, below, known = {}, [], True
    for game in GAMES:
        for name in (*PRIVATE, REFERENCE):
            slope, error = _slope(results, game, name)
            shown[f"{name}, {game.name}"] = f"{slope:.2f}"
            known &= not math.isnan(error)
            if slope + DECIDES * error < 1:
                below.append(f"{name}, {game.name}: {slope:.2f} ± {error:.2f}")
    return Claim(
        f"No regret grows more slowly in ln t than its lower bound ({REFERENCE}: than that without privacy;"
        f" {joined(TOLD)}, which is told T and stops exploring for good, so that it then stands still: regret at"
        " T over ln T).",
        f"slope over the last two powers of ten, in slopes of the bound: {with_names(shown)}",
        decided(
            Verdict.NO if below else (Verdict.YES if known else Verdict.UNDECIDED),
            results,
            yes="none is below 1 by three standard errors",
            no=f"below: {'; '.join(below)}. The bound is about the limit of large t, and an algorithm can live for a"
            " while on pulls that it made before",
        ),
    )


def _reaches_the_lower_bound(results: Results) -> Claim:
    shown, over, known = {}, [], True
    for game in GAMES:
        for name in OPTIMAL:
            slope, error = _slope(results, game, name)
            shown[f"{name}, {game.name}"] = f"{slope:.2f} ± {error:.2f}"
            known &= not math.isnan(error)
            if slope - DECIDES * error > NEARLY:
                over.append(f"{name}, {game.name}")
    return Claim(
        f"DP-KLUCB and DP-IMED match the lower bound up to the growth of their blocks (at most {NEARLY:g}).",
        f"slope over the last two powers of ten, in slopes of the bound: {with_names(shown)}",
        decided(
            Verdict.NO if over else (Verdict.YES if known else Verdict.UNDECIDED),
            results,
            yes=f"none is above {NEARLY:g} by three standard errors",
            no=f"above: {joined(over)}, by T = {_end(results):,}; the claim is about the limit",
        ),
    )


def _free_at_large_epsilon(results: Results) -> Claim:
    most = SWEEP[-1]
    shown, leads = {}, []
    for game in GAMES:
        reference = _last(results, key(game, None), REFERENCE)
        for name in OPTIMAL:
            regret = _last(results, key(game, most), name)
            shown[f"{name}, {game.name}"] = f"{ratio(regret.mean(), reference.mean()):.2f}"
            leads.append(over_error(NEARLY * reference - regret))
    bounds = {
        game.name: f"{private_lower_bound(game.means, 10, most) / lai_robbins(game.means, 10):.2f}" for game in GAMES
    }
    return Claim(
        f"Privacy is nearly free for large epsilon: at {most:g}, DP-KLUCB and DP-IMED have less than {NEARLY:g} times"
        f" the regret of {REFERENCE}.",
        f"ratio of mean regrets: {with_names(shown)}; ratio of the lower bounds: {with_names(bounds)}",
        decided(all_ahead(leads), results, yes="in both games", no=f"not at T = {_end(results):,}"),
    )


def _inverse_at_small_epsilon(results: Results) -> Claim:
    low, high = SWEEP[:2]
    shown, loose, within = {}, [], True
    for game in GAMES:
        for name in OPTIMAL:
            exponent, error = _exponent(sweep_of(results, game, name)[:, :2], math.log(high / low))
            shown[f"{name}, {game.name}"] = f"{exponent:.2f} ± {error:.2f}"
            loose += [] if error <= CLOSE else [f"{name}, {game.name}"]
            within &= not abs(exponent + 1) > CLOSE + DECIDES * error
    return Claim(
        "For small epsilon regret is proportional to 1 / epsilon.",
        f"exponent of epsilon between {low:g} and {high:g}: {with_names(shown)}",
        decided(
            Verdict.NO if not within else (Verdict.UNDECIDED if loose else Verdict.YES),
            results,
            yes="-1 to within a quarter",
            no=f"not at T = {_end(results):,}: part of the regret does not depend on epsilon, and none can exceed T"
            " times the gap",
            unknown=f" for {joined(loose)}",
        ),
    )


def _slope(results: Results, game: Means, name: str) -> tuple[float, float]:
    """Return the slope of regret in ln t over the last two powers of ten, over the bound's, and its standard error."""
    panel = key(game, EPSILON)
    rounds = results.rounds(panel)
    start = _start(results, panel)
    if rounds[start] == rounds[-1]:
        return math.nan, math.nan
    free = name == REFERENCE
    # The bound is linear in ln T, so at T = 10 it is ln 10 times its slope.
    bound = lai_robbins(game.means, 10) if free else private_lower_bound(game.means, 10, EPSILON)
    regret = results.regret(panel, name, VIEW.measure)
    if name in TOLD:
        slopes = regret[:, -1] / math.log(rounds[-1])
    else:
        slopes = (regret[:, -1] - regret[:, start]) / math.log(rounds[-1] / rounds[start])
    mean, error = mean_and_standard_error(slopes * math.log(10) / bound)
    return float(mean), float(error)


def _exponent(regrets: FloatArray, span: float) -> tuple[float, float]:
    """Return the slope of ln E[regret] between two levels, and its standard error by the delta method.

    Args:
        regrets: Shape `(trials, 2)`.
        span: The difference of the levels' logarithms.
    """
    means: FloatArray = regrets.mean(axis=0)
    if not np.all(means > 0):
        return math.nan, math.nan
    relative = regrets / means
    _, error = mean_and_standard_error(relative[:, 1] - relative[:, 0])
    return float(np.log(means[1] / means[0]) / span), float(error / span)


def _pairs(better: Sequence[str], worse: Sequence[str]) -> list[tuple[str, str]]:
    return [(one, other) for one in better for other in worse]


def _at(leads: dict[float, float], low: float, high: float) -> str:
    """Return the values of epsilon at which a lead is in [low, high]."""
    return joined([f"{epsilon:g}" for epsilon, each in leads.items() if low <= each <= high])


def _start(results: Results, panel: str) -> int:
    """Return the checkpoint at which the last two powers of ten begin."""
    rounds = results.rounds(panel)
    return min(int(np.searchsorted(rounds, rounds[-1] / 100)), len(rounds) - 1)


def _late(results: Results, panel: str, name: str) -> FloatArray:
    """Return each run's regret, averaged over the last two powers of ten."""
    late: FloatArray = results.regret(panel, name, VIEW.measure)[:, _start(results, panel) :].mean(axis=1)
    return late


def _at_the_end(leads: dict[str, float]) -> str:
    """Say what would be seen if regret at T alone were to decide."""
    clear = sum(each > DECIDES for each in leads.values())
    behind = [name for name, each in leads.items() if each < -DECIDES]
    text = f"at T alone clear in {clear} of {len(leads)} cases"
    return f"{text}, the other way round in {'; '.join(behind)}" if behind else text


def _last(results: Results, panel: str, name: str) -> FloatArray:
    regret: FloatArray = results.regret(panel, name, VIEW.measure)[:, -1]
    return regret


def _end(results: Results) -> int:
    assert results.experiment.horizon is not None
    return results.experiment.horizon


def _unclear(leads: dict[str, float]) -> str:
    unclear = [name for name, each in leads.items() if abs(each) <= DECIDES]
    return f" for {joined(unclear)}" if unclear else ""
