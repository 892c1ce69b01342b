"""The graphs, algorithms and privacy levels of figure-graph, and how to find their numbers in the results."""

import math
from typing import Any

import numpy as np

from dp_bandit_envs import checks
from dp_bandit_envs.envs.graph_env import GraphEnv
from dp_bandit_envs.protocols import FloatArray, IntArray
from dp_bandit_envs.runs.experiment import AlgorithmSpec, Experiment, GameSpec, Results
from dp_bandit_envs.runs.run_report import View
from dp_bandit_envs.seeding import GRAPH, stream

HORIZON = 10_000
TRIALS = 210
N_ARMS = 500
DEGREE = 10
ALGORITHMS = ("TS-N", "TS-MaxN", "UCB-N", "UCB-MaxN")
RANDOM = {"erdos-renyi": "Erdos-Renyi", "planted-partition": "planted partition", "power-law": "power law"}
SOCIAL = {
    "karate-club": "karate club",
    "les-miserables": "Les Misérables",
    "davis-southern-women": "Davis' southern women",
    "florentine-families": "Florentine families",
}
PRIVATE = "DP-KLUCB"
FREE = "KL-UCB"
LEVELS = (0.1, 0.3, 1.0, 3.0, 10.0)
PRIVATE_ARMS = 20
REVEALED = (1, 2, 5, 10, 20)
PRIVATE_HORIZON = 100_000
PRIVATE_TRIALS = 60
VIEW = View(measure="pseudo_regret", centre="mean", scale="log", claimed_by="The thesis")


def experiments(*, horizon: int = HORIZON, trials: int = TRIALS, seed: int = 0) -> tuple[Experiment, Experiment]:
    """Return both experiments: four algorithms on seven graphs, and a private one with increasing feedback.

    Args:
        horizon: Number of rounds T of the first; the second has ten times as many.
        trials: Number of games of each algorithm in the first; the second has at most 60.
        seed: The seed.
    """
    horizon = checks.integer("horizon", horizon, at_least=1)
    random = [(name, title, {"n_arms": N_ARMS, "degree": DEGREE}) for name, title in RANDOM.items()]
    social: list[tuple[str, str, dict[str, Any]]] = [(name, title, {}) for name, title in SOCIAL.items()]
    panels = tuple(
        GameSpec(name, title, "DPBandit-Graph-v0", {"graph": name, **size}) for name, title, size in [*random, *social]
    )
    levels = (
        *(AlgorithmSpec(PRIVATE, {"epsilon": epsilon}, label_at(epsilon)) for epsilon in LEVELS),
        AlgorithmSpec(FREE, {}, label_at(None)),
    )
    caps = tuple(
        GameSpec(
            revealing(most),
            f"{most} gain{'s' if most > 1 else ''} revealed in a round",
            "DPBandit-Graph-v0",
            {"graph": "complete", "n_arms": PRIVATE_ARMS, "max_revealed": most},
        )
        for most in REVEALED
    )
    return (
        Experiment(
            "graphs",
            panels,
            tuple(AlgorithmSpec(name) for name in ALGORITHMS),
            horizon,
            trials,
            seed,
            checkpoints="log",
        ),
        Experiment(
            "feedback",
            caps,
            levels,
            horizon * (PRIVATE_HORIZON // HORIZON),
            min(trials, PRIVATE_TRIALS),
            seed,
            checkpoints="log",
        ),
    )


def label_at(epsilon: float | None) -> str:
    """Return the label of the private algorithm at a level; None means no privacy."""
    return "no privacy" if epsilon is None else f"epsilon = {epsilon:g}"


def revealing(most: int) -> str:
    """Return the key of the panel in which a round reveals at most `most` gains."""
    return f"revealed-{most:02d}"


def bound(results: Results, panel: GameSpec, rounds: IntArray) -> FloatArray:
    """Return sqrt(chi H t / 2) at each round, shape `(rounds,)`, averaged over the graphs of the first games."""
    game = results.experiment.game(panel)
    assert isinstance(game, GraphEnv)
    games = range(min(20, results.experiment.trials)) if panel.key in RANDOM else range(1)
    seed, roots = results.experiment.seed, []
    assert seed is not None
    for trial in games:
        game.source.begin(stream(seed, trial=trial, role=GRAPH))
        roots.append(math.sqrt(len(game.graph.clique_cover)))
    found: FloatArray = np.mean(roots) * np.sqrt(math.log(game.n_arms) * np.asarray(rounds, dtype=float) / 2)
    return found


def by_feedback(results: Results, label: str) -> FloatArray:
    """Return the regret after the last round for each number of gains revealed, shape `(trials, numbers)`."""
    columns = [results.regret(revealing(most), label, VIEW.measure)[:, -1] for most in REVEALED]
    return np.stack(columns, axis=1)
