"""Pictures of the lab on attackers: what was counted, and what each round loses."""

import math
from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure

from dp_bandit_envs.audits import ExactLoss
from dp_bandit_envs.course.arms_attack import Counts
from dp_bandit_envs.course.checks.check_attacker import ends
from dp_bandit_envs.course.panels import panel
from dp_bandit_envs.plots.plot_style import BLUE, GREY, LIGHT_GREY, ORANGE, VERMILION


def counts_pictures(counts: Counts, declared: float, bound: float, confidence: float) -> tuple[Figure, Figure]:
    """Draw the frequencies of an event on two tables with their intervals, and what they say of epsilon.

    Args:
        counts: What was counted.
        declared: The declared epsilon, or inf.
        bound: The lower bound on epsilon.
        confidence: Its confidence, in (0, 1).
    """
    hits = np.array([counts.more, counts.less])
    intervals = np.array([ends(int(each), counts.games, (1 - confidence) / 2) for each in hits])
    frequencies = hits / counts.games
    ratio = math.log(counts.more / counts.less) if counts.more and counts.less else math.nan
    (one, left), (two, right) = panel(2.4), panel(2.4)
    reach = np.abs(intervals.T - frequencies)
    left.barh([0, 1], frequencies, xerr=reach, color=[ORANGE, LIGHT_GREY], height=0.6, capsize=4)
    left.set_yticks([0, 1], ["one table", "its neighbour"])
    left.set(title="How often the event happened", xlabel="share of games, with Clopper-Pearson intervals")
    bars = [("at least", bound, VERMILION if bound > declared else ORANGE), ("ratio of frequencies", ratio, GREY)]
    if math.isfinite(declared):
        bars.append(("declared", declared, BLUE))
        right.axvline(declared, color=BLUE, linestyle="--", linewidth=1.0)
    known = [length if math.isfinite(length) else 0.0 for _, length, _ in bars]
    right.barh(range(len(bars)), known, color=[colour for _, _, colour in bars], height=0.6)
    right.set_yticks(range(len(bars)), [words for words, _, _ in bars])
    right.set(title="What that says of epsilon", xlabel="epsilon for one changed round")
    right.set_xlim(min(0.0, *known), 1.15 * max(*known, 0.1))
    for axes in (left, right):
        axes.invert_yaxis()
        axes.grid(visible=False, axis="y")
    return one, two


def losses_picture(loss: ExactLoss, words: str, declared: float, top: float) -> Figure:
    """Draw what each round of a game loses.

    Args:
        loss: The exact loss.
        words: The title.
        declared: The declared epsilon.
        top: Where the axis ends; an infinite loss reaches it.
    """
    figure, axes = panel(2.6)
    rounds = np.arange(1, len(loss.by_round) + 1)
    above = loss.by_round > declared * (1 + 1e-6)
    axes.bar(rounds, np.minimum(loss.by_round, top), color=np.where(above, VERMILION, BLUE))
    for place in rounds[np.isinf(loss.by_round)]:
        axes.annotate(r"$\infty$", (place, top), ha="center", va="top", color="white")
    axes.axhline(declared, color=GREY, linestyle="--", linewidth=1.2)
    axes.set(title=words, xlabel="round that changes", ylabel="exact loss (dashed: declared)", ylim=(0, top))
    axes.grid(visible=False, axis="x")
    return figure


def highest(losses: Sequence[ExactLoss], declared: float) -> float:
    """Return where an axis for some losses has to end.

    Args:
        losses: The exact losses.
        declared: The declared epsilon.
    """
    finite = [float(loss) for each in losses for loss in each.by_round if math.isfinite(loss)]
    return 1.25 * max(declared, *finite, 0.0)
