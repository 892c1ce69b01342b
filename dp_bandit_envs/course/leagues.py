"""Lab 9: an agent plays leagues of hidden games against greedy, both behind the same noise."""

from typing import Any, Final, NamedTuple

from dp_bandit_envs.adversaries.bernoulli_prior import BernoulliPrior
from dp_bandit_envs.algorithms import Algorithm, make_algorithm
from dp_bandit_envs.course.greedy_agent import Greedy
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.protocols import AgentFactory, Environment, FloatArray
from dp_bandit_envs.simulation import simulate
from dp_bandit_envs.wrappers import LaplaceClipRescale

ARMS: Final = 4
ROUNDS: Final = 10_000
LEAGUES: Final = 40
GAMES: Final = 25
"""Games of a league."""
ENOUGH: Final = 33
"""Leagues to win. Who wins each with a probability of at least 0.95 wins fewer with one of 7.2e-4 (binomial, exact)."""
QUARTERS: Final = (ROUNDS // 4, ROUNDS // 2, 3 * ROUNDS // 4, ROUNDS)


class Played(NamedTuple):
    """What two agents lost in the same games.

    Attributes:
        own: Pseudo-regret of the agent at the ends of the four quarters, shape `(games, 4)`, in units of gain.
        greedy: That of greedy.
        chance: Mean pseudo-regret of arms at random over a whole game.
    """

    own: FloatArray
    greedy: FloatArray
    chance: float

    @property
    def won(self) -> int:
        """The leagues in which the agent's mean regret is smaller."""
        own, greedy = (part[:, -1].reshape(-1, GAMES).mean(axis=1) for part in (self.own, self.greedy))
        return int((own < greedy).sum())


def behind_noise(env: Environment) -> Environment:
    """Return the game with Laplace noise on every gain, epsilon = 1."""
    return LaplaceClipRescale(env, epsilon=1.0)


def hidden_game() -> BanditEnv:
    """Return a game of coins whose means are drawn anew, uniform in [0, 1], when it begins."""
    return BanditEnv(BernoulliPrior(ARMS, ROUNDS))


def play_leagues(make_agent: AgentFactory, seed: int, leagues: int = LEAGUES) -> Played:
    """Play all leagues.

    Args:
        make_agent: Makes a new agent; one that is compiled, or this takes minutes.
        seed: Seed of the games and of the noise.
        leagues: How many.
    """
    players = {
        "own": Algorithm("own", make_agent, behind_noise),
        "greedy": Algorithm("greedy", Greedy, behind_noise),
        "chance": make_algorithm("Uniform"),
    }
    played: Any = simulate(hidden_game, players, trials=leagues * GAMES, seed=seed, checkpoints=QUARTERS)
    regret = {name: outcome.pseudo_regret for name, outcome in played.items()}
    return Played(regret["own"], regret["greedy"], float(regret["chance"][:, -1].mean()))
