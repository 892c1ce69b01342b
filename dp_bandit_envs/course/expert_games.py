"""Games of lab 7: a rule that is ahead by little, Hedge with two kinds of noise, and a student's own step."""

import math
from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np

from dp_bandit_envs.algorithms import Algorithm, make_algorithm
from dp_bandit_envs.protocols import FloatArray
from dp_bandit_envs.simulation import simulate
from dp_bandit_envs.simulation.outcomes import Simulation
from dp_bandit_envs.wrappers import CounterSums

EXPERTS: Final = 10
SUMS: Final = "noise on sums"
ROUNDS: Final = "noise on rounds"
"""The names of the two private learners."""


def means(rounds: int) -> list[float]:
    """Return the experts' mean gains: the best is ahead by 2 sqrt(ln 10 / T), which can just be found in T rounds.

    Args:
        rounds: Number of rounds T.
    """
    half = math.sqrt(math.log(EXPERTS) / rounds)
    return [0.5 + half] + [0.5 - half] * (EXPERTS - 1)


def play_all(rounds: int, epsilon: float, trials: int) -> Simulation:
    """Return games of Hedge, and of Hedge with noise on sums and on rounds.

    Args:
        rounds: Number of rounds T.
        epsilon: What protects the gains of each round.
        trials: Number of games.
    """
    learners = [
        make_algorithm("Hedge"),
        make_algorithm("AS-FTRL", epsilon=epsilon, counter="k-ary", noise="own-norm", label=SUMS),
        make_algorithm("Noisy-Hedge", epsilon=epsilon, label=ROUNDS),
    ]
    return played(learners, rounds, trials, seed=7)


def played(learners: list[Any], rounds: int, trials: int, seed: int) -> Simulation:
    """Return games of some learners."""
    return simulate(
        "DPBandit-Experts-v0",
        learners,
        horizon=rounds,
        trials=trials,
        env_kwargs={"means": means(rounds)},
        checkpoints=40,
        seed=seed,
    )


def last_regret(games: Simulation, name: str) -> float:
    """Return the mean pseudo-regret of a learner at the end."""
    regret = games[name].pseudo_regret
    assert regret is not None
    return float(regret[:, -1].mean())


def over_hedge(games: Simulation, name: str) -> float:
    """Return a learner's regret at the end over that of Hedge."""
    return last_regret(games, name) / last_regret(games, "Hedge")


def play_own_step(probabilities: Callable[[FloatArray, float], Any]) -> Simulation:
    """Return ten games of 1,024 rounds of a student's step on private sums at epsilon = 10, of Hedge and of chance.

    Args:
        probabilities: From the experts' sums and a learning rate to the probability of each.
    """

    class OwnStep:
        feedback = "full"

        def begin(self, *, n_arms: int, horizon: int, rng: np.random.Generator) -> None:
            self.sums, self.rng = np.zeros(n_arms), rng
            self.rate = math.sqrt(8 * math.log(n_arms) / horizon)

        def select_arm(self) -> int:
            return int(self.rng.choice(len(self.sums), p=probabilities(self.sums, self.rate)))

        def update(self, arm: int, observation: Mapping[str, Any]) -> None:
            self.sums = observation["sum"]

    private = Algorithm(
        "your learner", OwnStep, lambda env: CounterSums(env, counter="k-ary", noise="own-norm", epsilon=10.0)
    )
    return played([private, "Hedge", "Uniform"], 1024, 10, seed=1)
