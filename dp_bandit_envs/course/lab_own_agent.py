"""Lab 9, your own agent: leagues of hidden games against greedy, the check, and the file of an agent."""

import linecache
import os
import re
from pathlib import Path
from typing import Any, Final, NamedTuple

import gymnasium as gym
import numpy as np

from dp_bandit_envs.adversaries.stochastic import BernoulliPrior
from dp_bandit_envs.agents import FunctionalAgent
from dp_bandit_envs.agents.functional import Functions
from dp_bandit_envs.algorithms import Algorithm, make_algorithm
from dp_bandit_envs.conformance import check_agent
from dp_bandit_envs.course.checking import TaskVerdict, WrongAnswer, failure, graded, kind
from dp_bandit_envs.course.notebooks import cells_of
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.errors import ConformanceError
from dp_bandit_envs.files import write_whole
from dp_bandit_envs.protocols import AgentFactory, Environment, FloatArray, Gains
from dp_bandit_envs.simulation import play, simulate
from dp_bandit_envs.wrappers import LaplaceClipRescale


class State(NamedTuple):
    """Sums and numbers of the released gains, `(n_arms,)` each, and the share of exploration rounds."""

    sums: FloatArray
    counts: FloatArray
    share: float


def select(state: State, rng: np.random.Generator) -> int:
    """Choose a uniform arm in a share of the rounds, otherwise the arm with the best average; new arms come first."""
    n_arms = len(state.sums)
    if rng.random() < state.share:
        return int(rng.random() * n_arms)
    best, highest = 0, -1.0
    for arm in range(n_arms):
        average = state.sums[arm] / state.counts[arm] if state.counts[arm] > 0 else 2.0
        if average > highest:
            best, highest = arm, average
    return best


def update(state: State, arm: int, seen: Gains) -> State:
    """Add the released gains."""
    if seen.observed[arm] == 1:
        state.sums[arm] += seen.gains[arm]
        state.counts[arm] += 1.0
    return state


class Greedy(FunctionalAgent):
    """Epsilon-greedy; its epsilon is the share of exploration rounds, in [0, 1], as epsilon means privacy here."""

    functions = Functions(select, update)

    def __init__(self, share: float = 0.1) -> None:
        self.share = share

    def initial_state(self, n_arms: int, horizon: int) -> State:
        """Return the state before the first round."""
        return State(np.zeros(n_arms), np.zeros(n_arms), self.share)


ARMS: Final = 4
ROUNDS: Final = 10_000
LEAGUES: Final = 40
GAMES: Final = 25
"""Games of a league."""
ENOUGH: Final = 33
"""Leagues to win. With probability at least 0.95 per league, fewer wins have probability 7.2e-4 (binomial, exact)."""
QUARTERS: Final = (ROUNDS // 4, ROUNDS // 2, 3 * ROUNDS // 4, ROUNDS)


class LeagueRegrets(NamedTuple):
    """Pseudo-regret of an agent and of greedy after each quarter, `(games, 4)`, and of uniform play at the end."""

    agent: FloatArray
    greedy: FloatArray
    chance: float

    @property
    def won(self) -> int:
        """The leagues with a smaller mean regret of the agent."""
        agent, greedy = (regret[:, -1].reshape(-1, GAMES).mean(axis=1) for regret in (self.agent, self.greedy))
        return int((agent < greedy).sum())


def hidden_game() -> BanditEnv:
    """Return a game of coins whose means are drawn, uniform in [0, 1], when it begins."""
    return BanditEnv(BernoulliPrior(ARMS, ROUNDS))


def play_leagues(make_agent: AgentFactory, seed: int, leagues: int = LEAGUES) -> LeagueRegrets:
    """Play all leagues with an agent; it must compile, or this takes minutes."""

    def behind_noise(env: Environment) -> Environment:
        return LaplaceClipRescale(env, epsilon=1.0)

    players = {name: Algorithm(name, make, behind_noise) for name, make in (("agent", make_agent), ("greedy", Greedy))}
    players["chance"] = make_algorithm("Uniform")
    played: Any = simulate(hidden_game, players, trials=leagues * GAMES, seed=seed, checkpoints=QUARTERS)
    regret = {name: outcome.pseudo_regret for name, outcome in played.items()}
    return LeagueRegrets(regret["agent"], regret["greedy"], float(regret["chance"][:, -1].mean()))


@graded
def check_own_agent(make_agent: Any, *, seed: int = 2026) -> str:
    """Check an agent: its class, or a function that makes one.

    It must pass `check_agent`, be a `FunctionalAgent` that compiles, and win 33 of 40 leagues against greedy with 10 %
    exploration. A league is 25 hidden games of four coins with unknown means, 10,000 rounds long, behind Laplace noise
    of epsilon = 1; the smaller mean regret wins it. An agent that wins a league with probability at least 0.95 is
    refused with probability at most 7.2e-4 (fewer than 33 of 40 independent leagues; binomial, exact). Greedy itself
    passes with probability at most 2.2e-5. The same seed gives the same verdict.
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


def in_words(leagues: LeagueRegrets) -> str:
    """Return praise for an agent that wins enough leagues; raise `WrongAnswer` otherwise."""
    agent, greedy = leagues.agent[:, -1], leagues.greedy[:, -1]
    numbers = (
        f"It wins {leagues.won} of {LEAGUES} leagues; its mean regret is {agent.mean():,.0f}, that of greedy"
        f" {greedy.mean():,.0f} and that of chance {leagues.chance:,.0f}."
    )
    if leagues.won >= ENOUGH:
        return f"{numbers} Save it to a file."
    numbers = f"{numbers} It takes {ENOUGH} leagues."
    if agent.mean() > 0.9 * leagues.chance:
        raise WrongAnswer(f"{numbers} That is hardly better than chance: does select use what update has stored?")
    if np.median(agent) < np.median(greedy) and agent.mean() > greedy.mean():
        raise WrongAnswer(
            f"{numbers} In most games it is better than greedy, but in a few it stays with a worse arm for long: noise"
            " can make the best arm look bad at first. When does your agent look at it again?"
        )
    first, last = leagues.agent[:, 0].mean(), (leagues.agent[:, -1] - leagues.agent[:, -2]).mean()
    if last > 0.7 * first:
        raise WrongAnswer(
            f"{numbers} In the last quarter of the rounds it loses nearly as much as in the first: it goes on trying"
            " arms about which it could be sure by then."
        )
    raise WrongAnswer(f"{numbers} How many rounds does it need to tell two arms apart through the noise?")


FIRST_LINE: Final = "# An agent, saved by lab 9; edit it there or here."
HEADER: Final = f"""\
{FIRST_LINE}
import math
from typing import NamedTuple

import numpy as np

from dp_bandit_envs.agents import FunctionalAgent
from dp_bandit_envs.agents.functional import Functions
from dp_bandit_envs.draws import exp, log


"""
NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,39}")


def save_submission(agent_class: Any, name: str, folder: str | os.PathLike[str] = "submissions") -> TaskVerdict:
    """Save the cell of an agent's class as `folder/name.py`, if the file plays on its own. No false alarms."""
    return graded(saved)(agent_class, name, folder)._replace(word="Saved")


def saved(agent_class: Any, name: str, folder: str | os.PathLike[str]) -> str:
    """Save the cell and return how to play its file, or raise `WrongAnswer`."""
    if not (isinstance(agent_class, type) and issubclass(agent_class, FunctionalAgent)):
        raise WrongAnswer("Give the agent's class, one that inherits FunctionalAgent.")
    if not NAME.fullmatch(name):
        raise WrongAnswer("The name has to begin with a letter and be made of at most 40 letters, digits and _.")
    text = HEADER + cell_source(agent_class) + "\n"
    check_alone(text, agent_class.__name__)
    # Absolute: a lab works in its own folder, and the student's terminal is elsewhere.
    path = Path(folder).resolve() / f"{name}.py"
    try:
        if path.exists() and not path.read_text(encoding="utf-8").startswith(FIRST_LINE):
            raise WrongAnswer(f"{path} is there already, and this lab did not write it. Take another name.")
        write_whole(path, text)
    except OSError as error:
        raise WrongAnswer(f"{path} cannot be written: {error.strerror or error}.") from None
    command = f"dp-bandit run Stochastic {name}:{agent_class.__name__} EXP3"
    return f"The file is {path}. In its folder, play it with: {command}"


def cell_source(agent_class: type[FunctionalAgent]) -> str:
    """Return the code of the cell with an agent's class and its `select`, or raise `WrongAnswer`."""
    code, name = agent_class.functions.select.__code__, agent_class.__name__
    text = "".join(linecache.getlines(code.co_filename))
    if not text:
        raise WrongAnswer("The code of your agent cannot be found; run its cell again.")
    # Marimo keeps a file for each cell; where the notebook runs as a program, a cell is a function in its file.
    for cell in cells_of(text) or [text]:
        if re.search(rf"^class {name}\b", cell, re.MULTILINE):
            return cell.strip()
    raise WrongAnswer(f"The class {name} and its select have to be in the same cell.")


def check_alone(text: str, class_name: str) -> None:
    """Raise `WrongAnswer` unless an agent's file plays a short game without the notebook."""
    names: dict[str, Any] = {"__name__": "submission"}
    try:
        exec(compile(text, "submission.py", "exec"), names)
        play(gym.make("DPBandit-Stochastic-v0", horizon=60), names[class_name](), seed=0)
    except NameError as error:
        raise WrongAnswer(f"Alone the file stops: {error}. All that the agent needs has to be in its cell.") from None
    except Exception as error:
        raise WrongAnswer(f"Alone the file stops with {failure(error)}.") from None
