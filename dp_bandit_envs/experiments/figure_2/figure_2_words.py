"""The report's words for each claim about figure 2."""

import math
from collections.abc import Mapping

from dp_bandit_envs.experiments.figure_2.figure_2_gaps import (
    SAID_GAP,
    SAID_PRIVATE_GAP,
    GapToUcb,
    SpreadOfOwn,
    SpreadOfPrivateUcb,
)
from dp_bandit_envs.experiments.figure_2.figure_2_orders import (
    BestOfThePrivate,
    Early,
    EarlyOrder,
    LateOrder,
    PrivateUcbOrder,
)
from dp_bandit_envs.experiments.figure_2.figure_2_theorems import (
    HybridPrivacy,
    IntervalPrivacy,
    OptimalRegret,
    PrintedBounds,
)
from dp_bandit_envs.experiments.sentences import joined, with_names
from dp_bandit_envs.experiments.verdicts import DECIDES, Words

WHY_INT = (
    "the printed algorithm draws new noise on the same mean in every round that its arm waits, which averages the noise"
    " out and protects nothing; here each release has one draw, so a bad one on the best arm hides it for long, in"
    " a few runs for the rest of the game"
)
WHY_ZEROS = (
    "DP-UCB feeds a 0 to every counter in every round, so that its noise grows with the rounds t and not, as in the"
    " proof of theorem 3.3, with the pulls n of an arm, and it has no bonus against it"
)
WHY_BOUND = (
    "lemma B.2 gives both parts of the hybrid mechanism all of epsilon, which is 2 epsilon; with half each, noise and"
    " bonus are twice as large"
)
WHY_SHARE = (
    "it divides epsilon by the number of arms, though a gain enters the sum of one arm only: what it really guarantees"
    " is epsilon / K, which asks more of it than of the others"
)
WHY_GROWS = (
    "theorem 3.5 needs the noise n^(v/2 - 1) to be below the bonus sqrt(2 ln t / n) and solves that for n the wrong way"
    " round: for v > 1 the noise falls more slowly than the bonus, so no n meets it"
)
WHY_BOUNDS = (
    "the proofs have gaps all the same. Theorem 3.2 has lost a factor of 2 between (A.12) and (3.1) and a 1/gap inside"
    f" its logarithm, and rests on half the noise; 3.3 on noise that grows with pulls, not rounds; and {WHY_GROWS}"
)


def best_of_the_private(found: BestOfThePrivate) -> Words:
    """Return the words for DP-UCB-INT beside the other private algorithms."""
    shown = {
        name: f"{one.median:,.0f} / {one.mean:,.0f} / {one.greatest:,.0f} against {one.least_other:,.0f}"
        for name, one in found.panels.items()
    }
    lost = _lost({name: found.panels[name].lost for name in found.behind}, found.runs)
    return Words(
        says="The performance of DP-UCB-INT is significantly better than all other private algorithms.",
        seen=f"median / mean / greatest regret of DP-UCB-INT, and the least mean of the others: {with_names(shown)}",
        yes="in all four panels",
        no=f"not for {joined(found.behind)}: {WHY_INT}",
        unknown=f" for {joined(found.behind)}" + (f". {lost}: {WHY_INT}" if lost else ""),
    )


def gap_to_ucb(found: GapToUcb) -> Words:
    """Return the words for the gap between DP-UCB-INT and UCB."""
    shown = {
        name: f"{one.first:,.0f} at t = {one.round:,} and {one.last:,.0f} at T" for name, one in found.panels.items()
    }
    growing = [name for name, one in found.panels.items() if one.grows]
    lost = _lost({name: one.lost for name, one in found.panels.items()}, found.runs)
    reasons = [f"it grows for {joined(growing)}"] if growing else []
    reasons += [f"{lost}, where it grows with t itself"] if lost else []
    return Words(
        says="The gap between the regret of DP-UCB-INT and the non-private UCB does not increase with time.",
        seen=f"mean gap, once all arms have a release: {with_names(shown)}",
        yes="from there on it grows by less than a tenth",
        no=f"{' and '.join(reasons)}: {WHY_GROWS}, and with one draw of noise the best arm can be hidden",
    )


def early_order(found: EarlyOrder) -> Words:
    """Return the words for DP-UCB beside DP-UCB-BOUND at first."""
    return Words(
        says="DP-UCB is better than DP-UCB-BOUND for small time steps.",
        seen="regret of DP-UCB beside DP-UCB-BOUND, where clear:"
        f" {with_names({name: _early(one) for name, one in found.panels.items()})}",
        yes="it has no bonus for noise, which DP-UCB-BOUND pays for at first",
        no=f"not for {joined(found.behind)}, where the two cross several times: DP-UCB-BOUND goes in steps, as its"
        f" bonus is least where a count is a power of two, and {WHY_ZEROS}",
    )


def _early(one: Early) -> str:
    if not one.most < 0:
        return "never less"
    return f"{-100 * one.most:.0f}% less at t = {one.round:,}, after at most {100 * one.before:.0f}% more"


def late_order(found: LateOrder) -> Words:
    """Return the words for DP-UCB beside DP-UCB-BOUND at T."""
    shown = {name: f"{one.ratio:.2f}" for name, one in found.panels.items()}
    return Words(
        says="As the time step increases, DP-UCB-BOUND outperforms DP-UCB.",
        seen=f"mean regret of DP-UCB over that of DP-UCB-BOUND at T: {with_names(shown)}",
        yes=f"in all four panels: {WHY_ZEROS}",
        no=f"not by T = {found.horizon:,} for {joined(found.behind)}: {WHY_BOUND}, so that it still explores",
    )


def private_ucb_order(found: PrivateUcbOrder) -> Words:
    """Return the words for Private-UCB beside all others."""
    shown = {name: f"{one.over_in_turn:.2f}" for name, one in found.panels.items()}
    worse = [
        f"{name} ({panel})"
        for panel, one in found.panels.items()
        for name, errors in one.errors.items()
        if errors < -DECIDES
    ]
    return Words(
        says="Private-UCB performs worse than all other algorithms.",
        seen=f"its mean regret over that of playing all arms in turn: {with_names(shown)}",
        yes=f"in all four panels: its bonus outweighs the differences between the arms. But {WHY_SHARE}",
        no=f"worse than it: {joined(worse)}. Its bonus makes it play all arms in turn, which costs less than"
        f" leaving the best arm for good. Besides, {WHY_SHARE}",
    )


def spread_of_own(found: SpreadOfOwn) -> Words:
    """Return the words for the spread of the paper's algorithms."""
    shown = {
        f"{name}, {level}": f"{one.realised:,.0f} / {one.without_luck:,.0f}"
        for (name, level), one in found.spreads.items()
    }
    over = joined([f"{name}, {level}" for name, level in found.over])
    return Words(
        says=f"With 2 arms the difference between the best and the worst regret of 100 runs is under {SAID_GAP} for all"
        " its algorithms and UCB.",
        seen="best-worst gap with the luck of the gains, as in the paper's equation (2.1) / without:"
        f" {with_names(shown)}",
        yes=f"but most of such a gap is the luck of {found.horizon:,} coins, whose standard deviation is"
        f" {found.luck:,.0f}",
        no=f"over it: {over}. {found.luck:,.0f} is the standard deviation of {found.horizon:,} coins alone,"
        " and where noise is drawn once, not in every round, a bad draw lasts",
    )


def spread_of_private_ucb(found: SpreadOfPrivateUcb) -> Words:
    """Return the words for the spread of Private-UCB."""
    gaps, means, pulls = (
        with_names({f"2 arms at {level}": f"{getattr(one, part):,.0f}" for level, one in found.levels.items()})
        for part in ("spread", "mean", "pulls")
    )
    same = [level for level, one in found.levels.items() if one.spread_of_int >= 0.9 * found.most]
    return Words(
        says=f"With 2 arms this gap reaches {SAID_PRIVATE_GAP:,.0f} for Private-UCB.",
        seen=f"best-worst gap: {gaps}; mean regret: {means}",
        yes="in at least one pair of runs",
        no=f"as T times the gap of the means is {found.most:,.0f}, one run would have to be perfect and another"
        " entirely wrong. With the constants as printed and failure probability t^-4 the bonus is above 1 until an arm"
        f" was played {pulls} times, so all runs play the arms in turn alike at first; only a smaller bonus lets the"
        " noise of the first pulls decide a run"
        + (f". It is DP-UCB-INT that has such a gap here ({joined(same)})" if same else ""),
    )


def optimal_regret(found: OptimalRegret) -> Words:
    """Return the words for the order of DP-UCB-INT's regret."""
    inverse = with_names({level: f"{one:,.0f}" for level, one in found.inverse_inputs.items()})
    waits = with_names({name: f"{wait:,}" for name, wait in found.waits.items()})
    return Words(
        says="DP-UCB-INT has optimal regret, O(1/epsilon + log T): that of UCB and an additive constant.",
        seen=f"1 / (input epsilon of corollary 3.2): {inverse}; rounds in turn before every arm has a release: {waits}",
        yes="the input is about the epsilon that is guaranteed",
        no="the theorem's epsilon is the input, and 1 / input is of order ln(1/delta) / epsilon^2 for the epsilon"
        " that is guaranteed, in each arm; nor is the part with T that of UCB (see the gap above)",
    )


def bounds_as_printed(found: PrintedBounds) -> Words:
    """Return the words for regrets beside the printed bounds."""
    total = len(found.bounds)
    above = [
        f"{name} has {one.mean:,.0f} over {one.bound:,.0f} ({panel})" for (name, panel), one in found.above.items()
    ]
    return Words(
        says="Experiments clearly validate the theoretical bounds (theorems 3.2, 3.3 and 3.5).",
        seen=f"{total - len(above)} of {total} mean regrets are under their printed bound; {found.telling} bounds are"
        " under T times the largest gap, so that they can fail at all" + (f"; {joined(above)}" if above else ""),
        yes=f"as far as experiments can validate upper bounds: {WHY_BOUNDS}",
        no=WHY_BOUNDS,
        unknown=f", as single runs decide the mean: {WHY_BOUNDS}",
    )


def hybrid_privacy(found: HybridPrivacy) -> Words:
    """Return the words for the privacy of DP-UCB-BOUND."""
    return Words(
        says="DP-UCB-BOUND and DP-UCB are epsilon-differentially private for input epsilon (theorem 3.1).",
        seen=f"for input {found.claimed:g}, as printed epsilon = {found.printed:g}; here {found.here:g}",
        no="lemma B.2 gives both parts of the hybrid mechanism all of epsilon, and a gain is in both, which is"
        " 2 epsilon; here each part has half",
    )


def interval_privacy(found: IntervalPrivacy) -> Words:
    """Return the words for the privacy of DP-UCB-INT."""
    printed = "no epsilon is guaranteed" if math.isinf(found.printed) else f"epsilon = {found.printed:.3g}"
    here = with_names({f"target {target:g}": f"{epsilon:.3g}" for target, epsilon in found.here.items()})
    return Words(
        says="DP-UCB-INT with the input of corollary 3.2 is (epsilon', delta')-differentially private.",
        seen=f"as printed, {printed}; here epsilon = {here} at delta = {found.delta:.2g}",
        no="the proof counts one draw of noise for each release, and the printed algorithm draws it anew in every"
        " round while the count of its arm does not change; with one draw, as here, it holds by a wide margin",
    )


def _lost(counts: Mapping[str, int], runs: int) -> str:
    """Return how many runs of DP-UCB-INT are lost, in words; "" if none is."""
    shown = {name: f"{count} of {runs} runs" for name, count in counts.items() if count}
    verb = "stays" if sum(counts.values()) == 1 else "stay"
    return f"{with_names(shown)} {verb} with a worse arm to the end" if shown else ""
