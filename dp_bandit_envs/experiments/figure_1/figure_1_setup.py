"""What figure 1 of Tossou and Dimitrakakis (2017) plays: three algorithms against five adversaries."""

from dp_bandit_envs import checks
from dp_bandit_envs.algorithms import paper_epsilon
from dp_bandit_envs.experiments.experiment import Contestant, Experiment, Panel

N_ARMS = 4
HORIZON = 2**18
TRIALS = 720
PANELS = tuple(
    Panel(game.lower(), title, f"DPBandit-{game}-v0", {"n_arms": N_ARMS})
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
            the batched algorithms are epsilon-DP, and EXP3-tau (epsilon, T^-2)-DP; EXP3 stays as it is.
        horizon: Number of rounds T.
        trials: Number of trials.
        seed: The seed.
    """
    horizon = checks.integer("horizon", horizon, at_least=2)
    contestants: tuple[Contestant, ...] = (Contestant("EXP3"),)
    if epsilon is None:
        budget = paper_epsilon(N_ARMS, horizon)
        contestants += (Contestant("DP-EXP3-Lap", {"epsilon": budget}), Contestant("EXP3-tau"))
    else:
        contestants += (
            Contestant("DP-EXP3-Lap", {"epsilon": epsilon}),
            Contestant("EXP3-tau", {"epsilon": epsilon, "delta": horizon**-2}),
            Contestant("Batched-Lap-EXP3", {"epsilon": epsilon}),
            Contestant("Batched-Lap-HTINF", {"epsilon": epsilon}),
        )
    return Experiment("figure-1", PANELS, contestants, horizon, trials, seed)
