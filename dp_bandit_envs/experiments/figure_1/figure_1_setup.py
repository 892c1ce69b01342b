"""The experiment of figure 1 of Tossou and Dimitrakakis (2017): three algorithms against five adversaries."""

from dp_bandit_envs import checks
from dp_bandit_envs.algorithms import paper_epsilon
from dp_bandit_envs.runs.experiment import AlgorithmSpec, Experiment, GameSpec

N_ARMS = 4
HORIZON = 2**18
TRIALS = 720
PANELS = tuple(
    GameSpec(game.lower(), title, f"DPBandit-{game}-v0", {"n_arms": N_ARMS})
    for game, title in (
        ("Deterministic", "Deterministic"),
        ("Stochastic", "Stochastic"),
        ("FullyOblivious", "Fully oblivious"),
        ("Oblivious", "Oblivious"),
        ("Switching", "Switching costs"),
    )
)
WITHOUT_MEMORY = PANELS[:4]
SWITCHING = PANELS[4]


def experiment(
    *, epsilon: float | None = None, horizon: int = HORIZON, trials: int = TRIALS, seed: int = 0
) -> Experiment:
    """Return the paper's experiment, or the same games with five algorithms at another privacy level.

    Args:
        epsilon: None for the paper's three algorithms at its epsilon (243.29 at full size). Otherwise DP-EXP3-Lap and
            the batched algorithms are epsilon-DP, EXP3-tau is (epsilon, T^-2)-DP, and EXP3 is unchanged.
        horizon: Number of rounds T.
        trials: Number of trials.
        seed: The seed.
    """
    horizon = checks.integer("horizon", horizon, at_least=2)
    contestants: tuple[AlgorithmSpec, ...] = (AlgorithmSpec("EXP3"),)
    if epsilon is None:
        budget = paper_epsilon(N_ARMS, horizon)
        contestants += (AlgorithmSpec("DP-EXP3-Lap", {"epsilon": budget}), AlgorithmSpec("EXP3-tau"))
    else:
        contestants += (
            AlgorithmSpec("DP-EXP3-Lap", {"epsilon": epsilon}),
            AlgorithmSpec("EXP3-tau", {"epsilon": epsilon, "delta": horizon**-2}),
            AlgorithmSpec("Batched-Lap-EXP3", {"epsilon": epsilon}),
            AlgorithmSpec("Batched-Lap-HTINF", {"epsilon": epsilon}),
        )
    return Experiment("figure-1", PANELS, contestants, horizon, trials, seed)
