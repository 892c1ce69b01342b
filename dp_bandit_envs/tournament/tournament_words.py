"""What a tournament's page and report say in the same words."""

from typing import Final

from dp_bandit_envs.tournament.final_table import Mean, Place, can_tell_apart
from dp_bandit_envs.tournament.hidden_games import KINDS
from dp_bandit_envs.tournament.holding import Tournament
from dp_bandit_envs.tournament.refereeing import BY_THE_CLOCK

NO_SANDBOX: Final = (
    "This is no sandbox: an agent's process has your rights, and its limits stop mistakes, not attacks. Run files of"
    " people you do not trust in a container, as docs/tournament.md shows."
)
HOW_TO_READ: Final = (
    "The score is regret as a share of what choosing arms at random loses in the same kind of game, averaged over the"
    " kinds: 0 % is the best arm throughout, 100 % is chance, and less is better. Changing arms in time can give less"
    " than 0.",
    "The interval beside a score is for the mean over all games that could have been drawn, with 95 % confidence (BCa"
    " bootstrap over the games); what chance loses is taken as it was in these games.",
    "Possible ranks: everybody plays the same games, so agents are compared by their differences, game by game. Two"
    " agents share ranks unless a sign-flip test, corrected for all pairs by Holm's method, finds a difference. If the"
    " differences of a pair are as often above 0 as below by as much (symmetric), the chance of any such verdict is at"
    " most 5 %. It is no test of means alone: of two agents with equal means, one that is slightly better in most games"
    " and far worse in a few can be ranked before the other far more often than that.",
    "References are known algorithms in the same games; they have no rank.",
)


def settings(one: Tournament) -> str:
    """Return what was played, in two sentences."""
    games = one.games
    number = len(one.matches)
    return (
        f"{number} {'agent' if number == 1 else 'agents'} in the same {games.games * len(KINDS)} hidden games of"
        f" {games.horizon:,} rounds with {games.n_arms} arms: {games.games} of each of {len(KINDS)} kinds."
        f" Each agent had {one.limits.seconds:g} s of processor time, {BY_THE_CLOCK * one.limits.seconds:g} s by the"
        f" clock and {one.limits.megabytes:,} MB of memory for all of them."
    )


def privacy(one: Tournament) -> str:
    """Return what protects the gains that agents saw."""
    epsilon = one.games.epsilon
    if epsilon is None:
        return "Agents saw the true gains of the arms that they played; nothing was private."
    if epsilon == float("inf"):
        return "Agents saw gains through LaplaceClipRescale with epsilon = inf, which adds no noise."
    return (
        f"Every agent saw gains through LaplaceClipRescale with epsilon = {epsilon:g}, so that the arms it plays in a"
        f" game are {epsilon:g}-differentially private for one changed round, whatever it does. This is said of one"
        " agent, and holds unless agents exchange what they saw: all see the same gains, each with noise of its own,"
        " and two that pool it have up to twice the epsilon. Scores are computed from true gains, and are not private;"
        " the gains are made up."
    )


def about_seed(one: Tournament, command: str) -> str:
    """Return the seed, and how to play the same games again."""
    repeat = command if " --seed" in command else f"{command} --seed {one.games.seed}"
    return f"The games came from the seed {one.games.seed}. To play the same games again: {repeat}"


def warnings_of(one: Tournament) -> list[str]:
    """Return what a reader has to know: limits that this system does not have, and games too few to rank."""
    found = []
    if one.unlimited:
        found.append(f"This system sets no limit of {' and of '.join(one.unlimited)} for a process.")
    if not can_tell_apart(len(one.places), one.games.games):
        found.append(
            f"{one.games.games} games of each kind are too few to tell {len(one.places)} players apart; use more"
            " (--games)."
        )
    return found


def percent(value: float) -> str:
    """Return a share as a number of percent."""
    return f"{100 * value:.1f}"


def spread(mean: Mean) -> str:
    """Return the interval of a share in percent."""
    return f"{percent(mean.low)} to {percent(mean.high)}"


def possible(place: Place) -> str:
    """Return the possible ranks of a player."""
    if place.is_reference:
        return ""
    return str(place.first) if place.first == place.last else f"{place.first} to {place.last}"
