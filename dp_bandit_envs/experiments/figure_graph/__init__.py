"""Thompson sampling and UCB on feedback graphs, and whether feedback is worth the extra noise that privacy needs."""

from collections.abc import Sequence

from dp_bandit_envs.experiments.figure_graph.graph_claims import claims
from dp_bandit_envs.experiments.figure_graph.graph_drawing import draw_graph
from dp_bandit_envs.experiments.figure_graph.graph_setup import (
    DEGREE,
    HORIZON,
    N_ARMS,
    PRIVATE,
    PRIVATE_ARMS,
    SOCIAL,
    TRIALS,
    VIEW,
    experiments,
)
from dp_bandit_envs.experiments.figure_graph.graph_statistics import regret_over_that_of_one
from dp_bandit_envs.experiments.reproduction import Reproduction
from dp_bandit_envs.experiments.sentences import smaller_than
from dp_bandit_envs.graphs import REAL
from dp_bandit_envs.runs.experiment import Results
from dp_bandit_envs.runs.run_report import Note


def reproduction(*, horizon: int = HORIZON, trials: int = TRIALS, seed: int = 0) -> Reproduction:
    """Return what `dp-bandit reproduce figure-graph` runs and reports; arguments as for `experiments`."""
    return Reproduction(
        name="figure-graph",
        title="Thompson sampling with graph feedback, and privacy for it",
        experiments=experiments(horizon=horizon, trials=trials, seed=seed),
        view=VIEW,
        notes=notes,
        claims=lambda results: claims(*results),
        numbers=lambda results: regret_over_that_of_one(results[1]),
        draw=draw_graph,
    )


def notes(results: Sequence[Results]) -> list[Note]:
    """Return what a reader must know before the numbers."""
    sources = "; ".join(f"{SOCIAL[name]}: {source}" for name, (_, source) in REAL.items())
    text = (
        "Arms pay coins, and each game draws the arms' means uniformly from [0, 1], so that the mean of the"
        f" pseudo-regret is the Bayesian regret. Random graphs ({N_ARMS} arms, mean degree {DEGREE}) are redrawn in"
        " each game. **Sizes, horizon and number of games are ours:** our sources do not state those of the thesis'"
        f" experiments. Real graphs: {sources}.\n\nThe bound is sqrt(chi H T / 2) for TS-N, with chi the size of a"
        " clique cover found greedily (the smallest cover may be smaller, and so the bound), and H = ln K the entropy"
        " of the best arm under this prior.\n\nThe second experiment is about privacy: a complete graph of"
        f" {PRIVATE_ARMS} arms. A round reveals the gain of the arm played and those of random others; {PRIVATE}"
        " has the same epsilon everywhere, so its noise grows with what a round reveals."
    )
    return [Note(text), *smaller_than(results[0], HORIZON, TRIALS)]
