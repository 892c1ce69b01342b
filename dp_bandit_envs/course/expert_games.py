"""Games of lab 7: a rule that is ahead by little, Hedge with three kinds of noise, and a student's own step."""

import math
from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np

from dp_bandit_envs.algorithms import Algorithm, make_algorithm
from dp_bandit_envs.course.counter_lines import BY_WORDS, worst
from dp_bandit_envs.protocols import FloatArray
from dp_bandit_envs.simulation import simulate
from dp_bandit_envs.simulation.outcomes import Simulation
from dp_bandit_envs.wrappers import CounterSums

EXPERTS: Final = 10
TREE: Final = "binary tree"
BETTER: Final = "wide tree, joint noise"
ROUNDS: Final = "noise on rounds"
"""The names of the three private learners."""


def means(rounds: int) -> list[float]:
    """Return the experts' mean gains: the best is ahead by 2 sqrt(ln 10 / T), which can just be found in T rounds.

    Args:
        rounds: Number of rounds T.
    """
    half = math.sqrt(math.log(EXPERTS) / rounds)
    return [0.5 + half] + [0.5 - half] * (EXPERTS - 1)


def play_all(rounds: int, epsilon: float, trials: int) -> Simulation:
    """Return games of Hedge, and of Hedge with noise on sums, from two trees, and on rounds.

    Args:
        rounds: Number of rounds T.
        epsilon: What protects the gains of each round.
        trials: Number of games.
    """
    learners = [
        make_algorithm("Hedge"),
        make_algorithm("AS-FTRL", epsilon=epsilon, counter="binary", label=TREE),
        make_algorithm("AS-FTRL", epsilon=epsilon, counter="k-ary", noise="own-norm", label=BETTER),
        make_algorithm("Noisy-Hedge", epsilon=epsilon, label=ROUNDS),
    ]
    return played(learners, rounds, trials, seed=7)


def deviations(rounds: int) -> dict[str, float]:
    """Return the standard deviations of an expert's sum where it is noisiest, at epsilon = 1, in gains.

    A node's Laplace noise is as wide for ten gains as for ten items that all change together: 10 times that of lab 4.
    Joint noise is a point drawn uniformly from a cube of half side R ~ Gamma(11, b), where one gain alone has scale b:
    its variance is E[R^2] / 3 = 44 b^2, that of a Laplace draw 2 b^2.

    Args:
        rounds: Number of rounds T.
    """
    binary, wide = (BY_WORDS[words] for words in ("binary tree", "tree with many children"))
    return {
        TREE: EXPERTS * worst(binary, rounds, 1.0),
        "wide tree": EXPERTS * worst(wide, rounds, 1.0),
        BETTER: math.sqrt((EXPERTS + 1) * (EXPERTS + 2) / 3 / 2) * worst(wide, rounds, 1.0),
        ROUNDS: EXPERTS * worst(BY_WORDS["noise on every item"], rounds, 1.0),
    }


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
