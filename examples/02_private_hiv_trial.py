"""A private HIV trial
===================

A real trial, run by bandits: how many patients get the better treatments?

Patients arrive in random order, so an algorithm for stochastic games does best; adversarial ones would also cope with
patients who change over the years. Both kinds are compared at the same privacy.
"""

import matplotlib.pyplot as plt

from dp_bandit_envs import make_algorithm, simulate
from dp_bandit_envs.adversaries.trial import TREATMENTS, Trial


def draw(better: dict[str, float], horizon: int) -> None:
    """Draw the share of patients on the three better treatments."""
    _, axes = plt.subplots(figsize=(8, 3), layout="constrained")
    bars = axes.barh(list(better), [number / horizon for number in better.values()], color="#0072B2")
    axes.bar_label(bars, fmt="{:.0%}", padding=3)
    axes.axvline(0.75, color="black", linestyle=":")
    axes.set(xlim=(0, 1.08), xlabel="patients on one of the three better treatments (dotted: chance)")
    axes.invert_yaxis()


def main(horizon: int = 2139, seed: int | None = None, trials: int = 400) -> dict[str, float]:
    """Compare algorithms over many re-runs of the trial; return patients on the three better treatments."""
    algorithms = [
        make_algorithm("Uniform", label="the real trial (chance)"),
        make_algorithm("Tsallis-INF"),
        make_algorithm("DP-IMED", epsilon=1.0, label="DP-IMED (stochastic), epsilon = 1"),
        make_algorithm("Batched-Lap-HTINF", epsilon=1.0, label="Batched-Lap-HTINF (adversarial), epsilon = 1"),
        make_algorithm("DP-EXP3-Lap", epsilon=1.0, label="DP-EXP3-Lap (adversarial), epsilon = 1"),
    ]
    study = Trial(horizon)
    # So that arms are the treatments in this order in every game, and plays of one can be added up.
    order = {"arm_order": "given"}
    results = simulate("DPBandit-Trial-v0", algorithms, horizon=horizon, trials=trials, seed=seed, env_kwargs=order)

    print("treatment, and patients without an event:")
    for name, mean in zip(TREATMENTS, study.means, strict=True):
        print(f"  {name:28s} {mean:.1%}")
    print(f"\npatients of {horizon:,} on the three better treatments, mean of {trials} re-runs:")
    better = {}
    for name, outcome in results.items():
        better[name] = float(outcome.pulls[:, study.means > study.means.min()].sum(axis=1).mean())
        events = horizon - outcome.collected[:, -1].mean()
        print(f"  {name:44s} {better[name]:7,.0f}   with an event {events:6,.0f}   privacy: {outcome.guarantee}")

    # The guarantee is for a round, and for a patient whose outcome serves again once those of the arm are used up. The
    # seed is secret (None), as the data are real; every re-run spends the guarantee again, for which there is a Ledger.
    print(f"chance gives 3 of 4 patients a better treatment: {0.75 * horizon:,.0f}")
    draw(better, horizon)
    return better


if __name__ == "__main__":
    main()
    plt.show()
