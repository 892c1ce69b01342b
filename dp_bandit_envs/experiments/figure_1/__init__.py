"""Figure 1 of Tossou and Dimitrakakis (2017): EXP3, DP-EXP3-Lap and EXP3-tau against five adversaries."""

from dp_bandit_envs import checks
from dp_bandit_envs.algorithms import paper_epsilon
from dp_bandit_envs.experiments.figure_1.figure_1_claims import claims
from dp_bandit_envs.experiments.figure_1.figure_1_setup import HORIZON, N_ARMS, PANELS, TRIALS, experiment
from dp_bandit_envs.experiments.figure_1.figure_1_statistics import shares_of_bounds
from dp_bandit_envs.experiments.reproduction import Reproduction
from dp_bandit_envs.experiments.sentences import smaller_than
from dp_bandit_envs.runs.experiment import Results
from dp_bandit_envs.runs.run_report import Note, Numbers


def reproduction(
    *, epsilon: float | None = None, horizon: int = HORIZON, trials: int = TRIALS, seed: int = 0
) -> Reproduction:
    """Return what `dp-bandit reproduce figure-1` runs and reports; arguments as for `experiment`."""
    if epsilon is not None:
        epsilon = checks.epsilon(epsilon)
    return Reproduction(
        name="figure-1" if epsilon is None else f"figure-1-epsilon-{epsilon:g}",
        title="Figure 1 of Achieving Privacy in the Adversarial Multi-Armed Bandit (AAAI 2017)",
        experiments=(experiment(epsilon=epsilon, horizon=horizon, trials=trials, seed=seed),),
        notes=lambda results: notes(results[0], epsilon),
        claims=lambda results: claims(results[0]),
        numbers=lambda results: numbers(results[0], epsilon),
    )


def numbers(results: Results, epsilon: float | None) -> dict[str, Numbers]:
    """Return what the page quotes: the paper's epsilon and the real one, shares of bounds, or EXP3-tau's batches."""
    horizon = results.experiment.horizon or HORIZON
    tau = next(one.make() for one in results.experiment.contestants if one.name == "EXP3-tau")
    if epsilon is not None:
        env = tau.wrap(results.experiment.game(PANELS[0]))
        return {"EXP3-tau": {"batch": env.get_wrapper_attr("mechanism").batch_size}}
    return {
        "EXP3-tau": {"epsilon": tau.guarantee(n_arms=N_ARMS, horizon=horizon).epsilon_at(horizon**-2)},
        "DP-EXP3-Lap": {"epsilon": paper_epsilon(N_ARMS, horizon)},
        "share of bound": shares_of_bounds(results)[0].shares,
    }


def notes(results: Results, epsilon: float | None) -> list[Note]:
    """Return the notes that precede the results."""
    horizon = results.experiment.horizon or HORIZON
    if epsilon is not None:
        text = (
            f"All private algorithms have epsilon = {epsilon:g} (EXP3-tau also delta = T^-2); EXP3 has no privacy, for"
            " comparison."
        )
        return [Note(text), *smaller_than(results, HORIZON, TRIALS)]
    budget = paper_epsilon(N_ARMS, horizon)
    tau = results.experiment.contestants[2].make().guarantee(n_arms=N_ARMS, horizon=horizon)
    text = (
        f"**The paper's epsilon is {budget:.2f} (its corollary 3.2). That is no meaningful privacy:** it allows the"
        f" probability of what is published to change by a factor of e^{budget:.0f} when one person's data change, and"
        f" DP-EXP3-Lap adds noise of scale {1 / budget:.4f} to gains in [0, 1]. The"
        " theorem of `dp_bandit_envs.privacy.exp3_privacy` gives EXP3-tau"
        f" epsilon = {tau.epsilon_at(horizon**-2):.2f} at delta = T^-2 with the same batches. The same picture with all"
        " private algorithms at one level, and the batched ones beside, is one option away: `--epsilon 1` or"
        " `--epsilon 0.1`."
    )
    return [Note(text), *smaller_than(results, HORIZON, TRIALS)]
