"""The report's words for each claim about figure 1."""

from dp_bandit_envs.experiments.figure_1.figure_1_statistics import (
    MEANINGFUL,
    BesideExp3,
    LapAhead,
    SharesOfBounds,
    SwitchingCosts,
    TauAhead,
    TwoEpsilons,
    WithinBounds,
)
from dp_bandit_envs.experiments.sentences import after_names
from dp_bandit_envs.experiments.verdicts import Words


def shares_of_bounds(found: SharesOfBounds) -> Words:
    """Return the words for what the deterministic adversary does."""
    least, most = min(found.shares.values()), max(found.shares.values())
    return Words(
        says="The deterministic adversary makes the algorithms attain their upper bound.",
        seen=f"mean regret over bound: {after_names(found.shares, '{:.2f}')}",
        yes="nearly",
        no=f"{least:.0%} to {most:.0%} of the bounds used here",
    )


def beside_exp3(found: BesideExp3) -> Words:
    """Return the words for DP-EXP3-Lap beside EXP3."""
    return Words(
        says="DP-EXP3-Lap is very competitive against EXP3 (oblivious adversary or weaker).",
        seen=f"mean regret of DP-EXP3-Lap over EXP3: {after_names(found.ratios, '{:.3f}')}",
        yes=f"at epsilon = {found.epsilon:.4g}",
        no=f"at epsilon = {found.epsilon:.4g}",
    )


def two_epsilons(found: TwoEpsilons) -> Words:
    """Return the words for the privacy of both."""
    return Words(
        says="DP-EXP3-Lap has significantly better privacy than EXP3.",
        seen=f"epsilon {found.lap:.4g} against {found.exp3:,.0f}, the best bound known here for EXP3",
        yes=f"but {_meaning(found.lap)}",
        no="EXP3's bound is as good",
    )


def lap_for_free(found: BesideExp3) -> Words:
    """Return the words for what DP-EXP3-Lap pays for its privacy."""
    most = max(found.ratios.values())
    return Words(
        says="DP-EXP3-Lap gets privacy for free against adversaries up to the oblivious one.",
        seen=f"at epsilon = {found.epsilon:.4g} its regret is {most:.2f} times that of EXP3 at most",
        yes=_meaning(found.epsilon),
        no=_meaning(found.epsilon) if found.close else "the regret is larger",
    )


def lap_ahead(found: LapAhead) -> Words:
    """Return the words for EXP3-tau beside DP-EXP3-Lap without memory."""
    return Words(
        says="EXP3-tau is worse than DP-EXP3-Lap against an oblivious adversary or one less powerful.",
        seen=f"mean difference in standard errors: {after_names(found.errors, '{:.0f}')}",
        yes="in all four games",
        no="not in all four games",
    )


def switching_costs(found: SwitchingCosts) -> Words:
    """Return the words for the order with switching costs."""
    return Words(
        says="With switching costs the situation is reversed: EXP3-tau outperforms EXP3 and DP-EXP3-Lap.",
        seen=f"mean regret: {after_names(found.regrets, '{:,.0f}')}; regret above that of EXP3-tau, in standard errors:"
        f" {after_names(found.errors, '{:.0f}')}",
        yes="by far",
        no="not over both",
    )


def within_bounds(found: WithinBounds) -> Words:
    """Return the words for regrets and bounds."""
    return Words(
        says="The experiments confirm the theoretical analysis.",
        seen=f"{found.within} of {found.bounded} mean regrets are below their bound (where one is known)",
        yes="as far as upper bounds can be confirmed",
        no="see the table above",
    )


def tau_for_free(found: TauAhead) -> Words:
    """Return the words for what EXP3-tau pays for its privacy."""
    return Words(
        says="EXP3-tau provides privacy for free against switching costs.",
        seen=f"it is ({found.epsilon:.3g}, T^-2)-DP; regret of the others above its own, in standard errors:"
        f" {after_names(found.errors, '{:.0f}')}",
        yes=_meaning(found.epsilon),
        no=_meaning(found.epsilon) if found.epsilon > MEANINGFUL else "its regret is larger than that of one of them",
    )


def _meaning(epsilon: float) -> str:
    return f"epsilon = {epsilon:.3g} protects nobody" if epsilon > MEANINGFUL else f"at epsilon = {epsilon:.3g}"
