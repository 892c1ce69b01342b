"""Pictures of the lab on attackers: what was counted, and what each round loses."""

import math
from collections.abc import Sequence

import matplotlib as mpl
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from dp_bandit_envs.audits import ExactLoss
from dp_bandit_envs.course.arms_attack import Counts
from dp_bandit_envs.course.checks.check_attacker import ends
from dp_bandit_envs.plots.plot_style import BLUE, GREY, ORANGE, RC, VERMILION


def counts_figure(counts: Counts, declared: float, bound: float, confidence: float) -> Figure:
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
    with mpl.rc_context(RC):
        figure = Figure(figsize=(9.2, 2.6), layout="constrained")
        FigureCanvasAgg(figure)
        left, right = figure.subplots(1, 2)
        reach = np.abs(intervals.T - frequencies)
        left.barh([0, 1], frequencies, xerr=reach, color=[VERMILION, BLUE], height=0.6, capsize=4)
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
        return figure


def losses_figure(losses: Sequence[ExactLoss], words: Sequence[str], declared: float) -> Figure:
    """Draw what each round of a game loses, for a broken mechanism and its repaired twin.

    Args:
        losses: Their exact losses.
        words: What each is called.
        declared: The declared epsilon.
    """
    finite = [float(loss) for each in losses for loss in each.by_round if math.isfinite(loss)]
    top = 1.25 * max(declared, *finite, 0.0)
    with mpl.rc_context(RC):
        figure = Figure(figsize=(9.2, 2.8), layout="constrained")
        FigureCanvasAgg(figure)
        for axes, loss, title in zip(figure.subplots(1, len(losses), sharey=True), losses, words, strict=True):
            rounds = np.arange(1, len(loss.by_round) + 1)
            above = loss.by_round > declared * (1 + 1e-6)
            axes.bar(rounds, np.minimum(loss.by_round, top), color=np.where(above, VERMILION, BLUE))
            for place in rounds[np.isinf(loss.by_round)]:
                axes.annotate(r"$\infty$", (place, top), ha="center", va="top", color="white")
            axes.axhline(declared, color=GREY, linestyle="--", linewidth=1.2)
            axes.set(title=title, xlabel="round that changes", ylim=(0, top))
            axes.grid(visible=False, axis="x")
        figure.axes[0].set_ylabel("exact loss (dashed: declared)")
        return figure
