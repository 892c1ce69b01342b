"""Lab 3: which learner is best when every change of arm costs a round?"""

import marimo

__generated_with = "0.25.2"
app = marimo.App(width="medium", app_title="Switching costs")


@app.cell(hide_code=True)
def _():
    import math
    import os

    import marimo as mo
    import matplotlib.pyplot as plt
    import numpy as np

    from dp_bandit_envs import make_algorithm, simulate
    from dp_bandit_envs.adversaries import Stochastic
    from dp_bandit_envs.course.checking import judged
    from dp_bandit_envs.course.notebooks import begin, you_said

    # Tests make the games smaller.
    HORIZON = int(os.environ.get("LAB_HORIZON", "10000"))
    TRIALS = 60
    N_ARMS = 4
    BATCHES = [size for size in (1, 2, 5, 10, 20, 50, 100, 200, 500) if size <= HORIZON]

    slider = begin(mo)
    return (
        BATCHES,
        HORIZON,
        N_ARMS,
        Stochastic,
        TRIALS,
        judged,
        make_algorithm,
        math,
        mo,
        np,
        plt,
        simulate,
        slider,
        you_said,
    )


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    # Switching costs

    To change the treatment, a hospital has to train its staff: in the first round with another arm than before, nothing
    is gained. Each change of arm costs its round.

    A learner can change arms rarely by playing **batches**: the same arm for $\tau$ rounds, and then it learns from
    their average. Three learners, which all draw their arms at random:

    - **EXP3** learns after every round; no noise, no privacy to speak of.
    - **EXP3-tau** is EXP3 on batches of $\tau$ rounds, without noise. An average of $\tau$ gains moves by $1 / \tau$ if
      one gain changes, so the larger $\tau$ is, the less its arms give away: the legend has its epsilon.
    - **Batched-Lap-HTINF** plays batches of $1 / \varepsilon$ rounds whose averages get Laplace noise: its epsilon is
      proven for any agent (no delta). A smaller epsilon has longer batches. It draws its arms by HTINF, which tries bad
      arms less often than EXP3 and skips losses that noise has made too large.
    """)
    return


@app.cell(hide_code=True)
def _(HORIZON, mo):
    guess = mo.ui.radio(
        ["EXP3, then epsilon = 1, then epsilon = 0.1", "epsilon = 0.1, then epsilon = 1, then EXP3", "all about equal"],
        label=f"Arms are coins that pay with chances .6, .5, .5, .5; {HORIZON:,} rounds; every change of arm costs its"
        " round. From the least regret to the largest, EXP3 without privacy and Batched-Lap-HTINF at epsilon = 1 and"
        " 0.1 come in this order:",
    )
    mo.vstack([mo.md("## Predict"), guess])
    return (guess,)


@app.cell(hide_code=True)
def _(HORIZON, N_ARMS, Stochastic, TRIALS, guess, mo, simulate, you_said):
    mo.stop(guess.value is None, mo.md("*Choose one; then the answer appears.*"))

    def play_all(algorithms, gap, costs):
        coins = Stochastic(means=[0.5 + gap, *[0.5] * (N_ARMS - 1)], horizon=HORIZON)
        # A gain counts only if the arms of the last `memory` rounds were the same.
        game = {"gains": coins, "memory": int(costs)}
        return simulate(
            "DPBandit-MemoryBounded-v0", algorithms, horizon=HORIZON, trials=TRIALS, env_kwargs=game, seed=1
        )

    private = ["Batched-Lap-HTINF:epsilon=1", "Batched-Lap-HTINF:epsilon=0.1"]
    names = ["EXP3", "HTINF", *private, "Uniform"]
    with mo.status.spinner(title="Compiling five learners: about 15 seconds, once on this machine"):
        with_costs, without = (play_all(names, 0.1, costs) for costs in (True, False))
    lines, costly, free = [], {}, {}
    for name in names:
        costly[name], free[name] = (games_of[name].policy_regret[:, -1].mean() for games_of in (with_costs, without))
        changes = with_costs[name].switches[:, -1].mean()
        lines.append(f"| {name} | {costly[name]:,.0f} | {free[name]:,.0f} | {changes:,.0f} |")
    order = [costly[name] for name in ("EXP3", *private)]
    apart = max(order) > 1.2 * min(order)
    said = you_said(
        guess.value,
        {
            "EXP3, then epsilon = 1, then epsilon = 0.1": apart and order == sorted(order),
            "epsilon = 0.1, then epsilon = 1, then EXP3": apart and order == sorted(order, reverse=True),
            "all about equal": not apart,
        },
    )
    mo.md(
        f"{said} Mean regret of {TRIALS} games:\n\n"
        + "\n".join(["| | changes cost | changes are free | changes of arm |", "| :-- | --: | --: | --: |", *lines])
        + "\n\nWhere changes cost a round, **epsilon = 0.1 has the least regret**, less than EXP3 and HTINF without"
        " privacy: in batches of ten rounds an arm is changed once in ten rounds at most. Where changes are free the"
        f" order is turned round: EXP3 has {free['EXP3']:,.0f}, epsilon = 1 has {free[private[0]]:,.0f}, and epsilon ="
        f" 0.1 has {free[private[1]]:,.0f}, still less than by choosing at random (Uniform, {free['Uniform']:,.0f})."
        " Long batches are good against switching costs, and privacy asks for them, too."
    )
    return (play_all,)


@app.cell(hide_code=True)
def _(BATCHES, mo, slider):
    size = slider("batch size τ", BATCHES[3], BATCHES)
    gap = slider("gap: how much the best is ahead", 0.2, [0.05, 0.1, 0.2, 0.3])
    costs = mo.ui.switch(value=True, label="a change of arm costs its round")
    return costs, gap, size


@app.cell(hide_code=True)
def _(costs, gap, make_algorithm, mo, play_all, size):
    noisy = make_algorithm("Batched-Lap-HTINF", epsilon=1 / size.value)
    games = play_all(["EXP3", make_algorithm("EXP3-tau", batch_size=size.value), noisy], gap.value, costs.value)
    words = "; ".join(
        f"{name} {one.policy_regret[:, -1].mean():,.0f} ({one.switches[:, -1].mean():,.0f} changes)"
        for name, one in games.items()
    )
    mo.vstack(
        [
            mo.md("## Try it"),
            mo.hstack([size, gap, costs], justify="start", wrap=True),
            mo.Html(f'<p id="answer">Mean regret: {words}.</p>'),
            games.plot("policy_regret", columns=1),
        ]
    )
    return


@app.cell(hide_code=True)
def _(guess, mo):
    mo.stop(guess.value is None)
    mo.md(r"""
    (The regret here is **policy regret**: against playing one arm throughout, which never pays for a change. The
    guarantee of EXP3-tau comes from its own draws; Batched-Lap-HTINF is played at $\varepsilon = 1 / \tau$.)

    Find out, and write down:

    1. With gap 0.3 and costs, which batch size is best for EXP3-tau? Which one with gap 0.1? Which one without costs?
    2. With gap 0.3, at which epsilon does Batched-Lap-HTINF lose least, with costs and without? Is it the noise that
       helps, or the batches? (EXP3-tau has the same batches.)
    3. A batch size is chosen before the game. What would you choose if you knew neither the gap nor the gains?
    """)
    return


@app.cell
def _():
    # Your answers, for whoever collects them: what you predicted, and each question by its number.
    written_down = {"prediction": "", 1: "", 2: "", 3: ""}
    return (written_down,)


@app.cell(hide_code=True)
def _(mo):
    mo.stop(mo.app_meta().mode == "run", mo.md("*Read-only: the task is in `dp-bandit lab switching-costs`.*"))
    from dp_bandit_envs.course.lab_switching import check_best_batch

    mo.md(r"""
    ## Task: the best batch, in the worst case

    Batches of $\tau$ rounds make a game of $T / \tau$ steps whose gains reach up to $\tau$. EXP3's regret in it is at
    most $2 \tau \sqrt{(e - 1) (T / \tau) K \ln K}$, and there are at most $T / \tau$ changes of arm, which cost at most
    1 each. Together,

    $$\text{regret}(\tau) \le 2 \sqrt{(e - 1)\, \tau\, T K \ln K} + T / \tau.$$

    Write the $\tau$ at which this is least: a number, which need not be whole.

    A loop that never ends is stopped by the yellow square at the bottom right, marimo's stop button.
    """)
    return (check_best_batch,)


@app.cell
def _():
    # np and math are imported already; do not import them again.
    def best_batch(horizon, n_arms):
        # horizon: T. n_arms: K, at least 2. Return one number.
        ...

    return (best_batch,)


@app.cell(hide_code=True)
def _(best_batch, check_best_batch, judged):
    verdict = judged(check_best_batch, lambda: best_batch)
    verdict
    return (verdict,)


@app.cell(hide_code=True)
def _(BATCHES, HORIZON, N_ARMS, best_batch, gap, make_algorithm, mo, np, play_all, plt, verdict):
    mo.stop(not verdict.passed)
    by_size = [make_algorithm("EXP3-tau", batch_size=batch) for batch in BATCHES]
    measured = [next(iter(play_all([one], gap.value, True).values())).policy_regret[:, -1].mean() for one in by_size]
    best = best_batch(HORIZON, N_ARMS)
    picture, axes = plt.subplots(figsize=(4.7, 3), layout="constrained")
    axes.semilogx(BATCHES, measured, "o-", label="measured: EXP3-tau, changes cost their round")
    axes.axvline(best, color="black", linestyle="--", label=f"your τ = {best:.1f}, for the worst case")
    axes.set(xlabel="batch size τ", ylabel="mean policy regret (gain)", ylim=(0, None), title=f"gap {gap.value:g}")
    axes.legend(frameon=False)
    plt.close(picture)
    mo.vstack(
        [
            picture,
            mo.md(
                f"Measured at this gap (move its slider), the best of these batch sizes is"
                f" {BATCHES[int(np.argmin(measured))]}. A worst case is no forecast of a given game."
            ),
        ]
    )
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    ## What you have seen

    - Where a change of arm costs something, regret cannot stay near $\sqrt{T}$: against the worst opponent it grows as
      $T^{2/3}$, and batches of about $T^{1/3}$ rounds reach that.
    - Batches also hide single gains, so that more privacy may come with less regret.
    - Which learner is best depends on what is charged: say which regret you mean.

    Read on: `docs/environments.md`, `docs/reproductions/figure-1.md`, and `dp-bandit show EXP3-tau`.
    """)
    return


if __name__ == "__main__":
    app.run()
