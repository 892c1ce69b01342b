"""The games of a tournament: five kinds of adversaries, drawn anew for each game, and known algorithms in them."""

import dataclasses
import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, NamedTuple

import numpy as np

from dp_bandit_envs.adversaries import Adversary, Deterministic, FullyOblivious, Oblivious, Stochastic
from dp_bandit_envs.algorithms import Algorithm, make_algorithm
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.protocols import Agent, Environment, FloatArray, IntArray
from dp_bandit_envs.seeding import ADVERSARY, AGENT, stream
from dp_bandit_envs.simulation import simulate
from dp_bandit_envs.wrappers import LaplaceClipRescale

BLOCK: Final = 256
"""Rounds for which gains are fetched at once: short, because all games are in memory together."""


class Kind(NamedTuple):
    """A kind of game: `make` returns one; arms of the last `memory` rounds decide whether a gain counts."""

    name: str
    about: str
    make: Callable[[int, int, np.random.Generator], Adversary]
    memory: int = 0
    weight: float = 1.0


def _coins(n_arms: int, horizon: int, rng: np.random.Generator) -> Adversary:
    return Stochastic(n_arms, horizon, means=[_between(rng, 0.2, 0.8) for _ in range(n_arms)])


def _biases(n_arms: int, horizon: int, rng: np.random.Generator) -> Adversary:
    return FullyOblivious(n_arms, horizon, gap=_between(rng, 0.05, 0.25))


def _repeated(n_arms: int, horizon: int, rng: np.random.Generator) -> Adversary:
    period = 2 + int(rng.random() * max(1, horizon // 50))
    return Oblivious(n_arms, horizon, gap=_between(rng, 0.1, 0.25), period=period)


def _periodic(n_arms: int, horizon: int, rng: np.random.Generator) -> Adversary:
    return Deterministic(n_arms, horizon)


def _between(rng: np.random.Generator, low: float, high: float) -> float:
    return low + (high - low) * rng.random()


KINDS: Final = (
    Kind("coins", "every arm is a coin, with a mean between 0.2 and 0.8", _coins),
    Kind("drawn biases", "coins whose biases are drawn in every round; one arm is better on average", _biases),
    Kind("repeated outcomes", "the same, but every outcome is repeated for some rounds", _repeated),
    Kind("periodic", "fixed periodic gains that make the best arm look worse than it is", _periodic),
    Kind("switching costs", "coins again, and a round with a change of arm pays 0", _coins, 1, 0.5),
)
"""All games of a tournament are of these kinds, as many of each."""


class HiddenArms(Adversary):
    """A game of one kind, whose parameters and order of arms are drawn when it begins."""

    def __init__(self, kind: Kind, n_arms: int, horizon: int) -> None:
        super().__init__(n_arms, horizon)
        self._kind, self.memory = kind, kind.memory

    def begin(self, rng: np.random.Generator) -> None:
        """Draw the parameters and the order of the arms, and start the game."""
        self._order = rng.permutation(self.n_arms)
        self._adversary = self._kind.make(self.n_arms, self.horizon, rng)
        self._adversary.begin(rng)

    def next_gains(self, rounds: int) -> FloatArray:
        """Return the gains of the next `rounds` rounds, shape `(rounds, n_arms)`."""
        return self._adversary.next_gains(rounds)[:, self._order]


@dataclasses.dataclass(frozen=True)
class HiddenGames:
    """The games that everybody plays.

    Attributes:
        horizon: Number of rounds T of each game.
        n_arms: Number of arms K.
        games: Number of games of each kind.
        epsilon: The privacy of what agents see, by `LaplaceClipRescale`; None for true gains.
        seed: The seed of all games; whoever knows it knows the games.
    """

    horizon: int
    n_arms: int
    games: int
    epsilon: float | None
    seed: int

    def trials(self, player: str) -> list[int]:
        """Return the numbers of all games for the seed, in the order in which a player's process has them.

        Game i of kind k has the number k * games + i. The order is drawn for each player, so that no agent knows a kind
        by its place, or a game by what another agent saw at the same place.
        """
        order = stream(self.seed, role=ADVERSARY, player=player, part="order of a tournament's games")
        numbers: list[int] = order.permutation(self.games * len(KINDS)).tolist()
        return numbers

    def arms(self, player: str) -> IntArray:
        """Return which arm of the environment each arm of a player is, shape `(all games, n_arms)`, in its order.

        It is drawn for each player and game, so that what one agent learns of an arm is of little use to another.
        """
        part = "order of a player's arms"
        orders: IntArray = np.array(
            [
                stream(self.seed, trial=trial, role=ADVERSARY, player=player, part=part).permutation(self.n_arms)
                for trial in self.trials(player)
            ]
        )
        return orders

    def environment(self, kind: int, *, private: bool = True) -> Environment:
        """Return a game of a kind, with `private` as agents see it."""
        env = BanditEnv(HiddenArms(KINDS[kind], self.n_arms, self.horizon), block_length=BLOCK)
        return self.behind_boundary(env) if private else env

    def behind_boundary(self, env: Environment) -> Environment:
        """Return an environment with the noise that this tournament adds, if any."""
        return env if self.epsilon is None else LaplaceClipRescale(env, epsilon=self.epsilon)

    def begun(self, player: str) -> Iterator[Environment]:
        """Yield all games in a player's order, begun: the same gains for everybody, noise of each player's own."""
        for trial in self.trials(player):
            env = self.environment(trial // self.games)
            env.reset(seed=self.seed, options={"trial": trial, "player": player})
            yield env

    def agent_streams(self, player: str) -> list[list[int]]:
        """Return the state of the random stream of a player's agent in each game; it says nothing of the seed."""
        states = []
        for trial in self.trials(player):
            bits = stream(self.seed, trial=trial, role=AGENT, player=player).bit_generator
            states.append([int(word) for word in bits.state["state"]["state"]])
        return states

    def global_seed(self, player: str) -> int:
        """Return a seed for the generators that Python and NumPy share among all code of a process."""
        return int(stream(self.seed, role=AGENT, player=player, part="shared generators").random() * 2**32)

    @property
    def rounds(self) -> int:
        """Number of rounds of one agent in all games."""
        return math.prod((self.horizon, self.games, len(KINDS)))


MARK: Final = "reference: "
"""How their names begin in tables."""
UNIFORM: Final = f"{MARK}Uniform"
SAME_ARM: Final = f"{MARK}Always the same arm"
RECOMMENDED: Final = "Batched-Lap-HTINF"
"""The private algorithm to take where an adversary may choose the gains; see docs/algorithms.md."""
EPSILON: Final = 1.0
"""Its epsilon in a tournament that adds no noise."""


class SameArm(Agent):
    """Plays arm 0 throughout, which is any arm: their order is drawn for each game."""

    def begin(self, *, n_arms: int, horizon: int, rng: np.random.Generator) -> None:
        """Begin a game."""

    def select_arm(self) -> int:
        """Return arm 0."""
        return 0

    def update(self, arm: int, observation: Mapping[str, Any]) -> None:
        """Learn nothing."""


def references(epsilon: float | None) -> dict[str, Algorithm]:
    """Return the algorithms by the names under which tables show them."""
    level = EPSILON if epsilon is None else epsilon
    exp3 = make_algorithm("EXP3") if epsilon is None else make_algorithm("DP-EXP3-Lap", epsilon=epsilon)
    private = make_algorithm(RECOMMENDED, epsilon=level)
    beside = "" if epsilon is not None else f", epsilon = {level:g}"
    same = Algorithm("Always the same arm", SameArm, lambda env: env)
    blind = {UNIFORM: make_algorithm("Uniform"), SAME_ARM: same}
    return {**blind, MARK + exp3.name: exp3, f"{MARK}{private.name}{beside}": private}


def reference_regrets(games: HiddenGames) -> dict[str, FloatArray]:
    """Return the external regret of each reference in each game, shape `(kinds, games)`."""
    players = references(games.epsilon)
    shown_as = {one.name: name for name, one in players.items()}
    found = {name: np.empty((len(KINDS), games.games)) for name in players}
    for kind in range(len(KINDS)):
        simulation = simulate(
            lambda kind=kind: games.environment(kind, private=False),  # type: ignore[misc]
            list(players.values()),
            trials=games.games,
            first_trial=kind * games.games,
            seed=games.seed,
            checkpoints=1,
        )
        for name, outcome in simulation.items():
            found[shown_as[name]][kind] = outcome.external_regret[:, -1]
    return found
