"""Refuses, before anything is played, a measure that a game does not have."""

from dp_bandit_envs.comparison.entries import MEASURES
from dp_bandit_envs.runs.experiment import Experiment


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
