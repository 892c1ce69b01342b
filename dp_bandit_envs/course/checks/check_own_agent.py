"""Lab 9, your own agent: it keeps the rules, is compiled, and beats greedy behind the same noise."""

from typing import Any

import numpy as np

from dp_bandit_envs.adversaries.bernoulli_prior import BernoulliPrior
from dp_bandit_envs.agents import FunctionalAgent
from dp_bandit_envs.conformance import check_agent
from dp_bandit_envs.course.checking import WrongAnswer, failure, graded, kind
from dp_bandit_envs.course.leagues import ENOUGH, LEAGUES, Played, play_leagues
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.errors import ConformanceError
from dp_bandit_envs.simulation import play


@graded
def check_own_agent(make_agent: Any, *, seed: int = 2026) -> str:
    """Check an agent: its class, or a function that makes one.

    It has to pass `check_agent`, to be a `FunctionalAgent` that is compiled, and to win 33 of 40 leagues against greedy
    with 10 % exploration. A league is 25 hidden games of four coins with unknown means, 10,000 rounds long, behind
    Laplace noise of epsilon = 1; the smaller mean regret wins it. An agent that wins a league with a probability of
    at least 0.95 is refused with a probability of at most 7.2e-4: that of fewer than 33 of 40 independent leagues
    (binomial, exact). Greedy itself passes with one of 2.2e-5 at most. The same seed gives the same verdict.

    Args:
        make_agent: What the student wrote.
        seed: Seed of the games and of the noise.
    """
    check_it_plays(make_agent)
    return in_words(play_leagues(make_agent, seed))


def check_it_plays(make_agent: Any) -> None:
    """Raise `WrongAnswer` unless it makes agents that keep all rules and are compiled."""
    if make_agent is None or make_agent is ...:
        raise WrongAnswer("There is no agent yet.")
    if isinstance(make_agent, FunctionalAgent) or not callable(make_agent):
        what = "an agent" if isinstance(make_agent, FunctionalAgent) else kind(make_agent)
        raise WrongAnswer(f"Give the agent's class, or a function that makes a new agent; this is {what}.")
    try:
        # First, because its errors name the line; check_agent names the broken rule.
        play(BanditEnv(BernoulliPrior(4, 200)), make_agent(), seed=0)
        check_agent(make_agent)
    except ConformanceError as broken:
        raise WrongAnswer(f"A rule for agents is broken. {broken}") from None
    except Exception as error:
        raise WrongAnswer(f"The agent stops with {failure(error)}.") from None
    if not isinstance(make_agent(), FunctionalAgent):
        raise WrongAnswer(
            "It keeps the rules for agents, but plays step by step in Python, too slowly for 1,000 games. Write it as"
            " a State, select and update, in a class that inherits FunctionalAgent."
        )


def in_words(played: Played) -> str:
    """Return what to say about an agent that wins enough leagues; raise `WrongAnswer` about another one."""
    own, greedy = played.own[:, -1], played.greedy[:, -1]
    numbers = (
        f"It wins {played.won} of {LEAGUES} leagues; its mean regret is {own.mean():,.0f}, that of greedy"
        f" {greedy.mean():,.0f} and that of chance {played.chance:,.0f}."
    )
    if played.won >= ENOUGH:
        return f"{numbers} Save it to a file for the tournament."
    numbers = f"{numbers} It takes {ENOUGH} leagues."
    if own.mean() > 0.9 * played.chance:
        raise WrongAnswer(f"{numbers} That is hardly better than chance: does select use what update has stored?")
    if np.median(own) < np.median(greedy) and own.mean() > greedy.mean():
        raise WrongAnswer(
            f"{numbers} In most games it is better than greedy, but in a few it stays with a worse arm for long: noise"
            " can make the best arm look bad at first. When does your agent look at it again?"
        )
    first, last = played.own[:, 0].mean(), (played.own[:, -1] - played.own[:, -2]).mean()
    if last > 0.7 * first:
        raise WrongAnswer(
            f"{numbers} In the last quarter of the rounds it loses nearly as much as in the first: it goes on trying"
            " arms about which it could be sure by then."
        )
    raise WrongAnswer(f"{numbers} How many rounds does it need to tell two arms apart through the noise?")
