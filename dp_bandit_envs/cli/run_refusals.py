"""Refuses, before anything is played, what `dp-bandit run` could not use: an epsilon or a delta for nobody, a measure."""

from collections.abc import Sequence

from dp_bandit_envs.comparison.compared_games import MEASURES
from dp_bandit_envs.experiments.experiment import Experiment


def refuse_unused(
    experiment: Experiment, epsilons: Sequence[float] | None, delta: float | None, *, at_guarantee: bool
) -> None:
    """Raise if no algorithm got --epsilon or --delta.

    Raises:
        ValueError: If so; with `at_guarantee` both are a target, which is never unused.
    """
    if at_guarantee:
        return
    players = experiment.all_contestants
    names = ", ".join(dict.fromkeys(one.shown_as or one.name for one in players))
    if epsilons and all(one.asked is None for one in players):
        raise ValueError(
            f"--epsilon must be for at least one algorithm; {names} would not get it, taking none or having it written"
            " after the name. Leave --epsilon out, or add an algorithm that takes one, such as DP-KLUCB."
        )
    if delta is not None and all(one.parameters.get("delta") != delta for one in players):
        raise ValueError(
            f"--delta must be for at least one algorithm; {names} would not get it. Leave --delta out, or add an"
            " algorithm that takes one, such as Private-UCB."
        )


def refuse_unknown_measure(experiment: Experiment, measure: str) -> None:
    """Raise if a game has no pseudo-regret: its arms have no means, or its actions are points or payoffs.

    Raises:
        ValueError: If so.
    """
    if measure != "pseudo_regret":
        return
    for panel in experiment.panels:
        game = experiment.game(panel)
        adversary = game.adversary
        if not hasattr(game, "n_arms") or adversary.payoff is not None or adversary.means is None:
            known = ", ".join(name for name in MEASURES if name != measure)
            raise ValueError(
                f"--measure must be known in every game; pseudo_regret is not in {panel.title}, where arms have no"
                f" fixed means. Use one of {known}."
            )
