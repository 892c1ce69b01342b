"""The price of differential privacy in online linear optimisation: asymptotically free, or a constant factor."""

from collections.abc import Sequence

from dp_bandit_envs.experiments.experiment import Results
from dp_bandit_envs.experiments.report import Note, Study
from dp_bandit_envs.figures.judging import warn_if_shorter
from dp_bandit_envs.figures.price_of_privacy import claims, games, panels
from dp_bandit_envs.figures.price_of_privacy.games import COINS, EASY, EPOCHS, FREE, HEDGE, LAZY, LOST, PAPER, longest


def study(*, horizon: int = games.HORIZON, trials: int = games.TRIALS, seed: int = 0) -> Study:
    """Return the study: experiments, figure and report; arguments as for `games.experiments`."""
    return Study(
        name="price-of-privacy",
        title="The price of privacy in online linear optimisation",
        experiments=games.experiments(horizon=horizon, trials=trials, seed=seed),
        view=games.VIEW,
        notes=notes,
        claims=claims.claims.judged,
        numbers=claims.numbers,
        draw=panels.draw,
    )


def notes(results: Sequence[Results]) -> list[Note]:
    """Return the notes that precede the results."""
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
    few = warn_if_shorter(longest(over_horizon), over_horizon.experiment.trials, games.HORIZON, games.TRIALS)
    return [Note(text), *few]
