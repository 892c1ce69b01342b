"""Lab 2: how much more regret does a smaller epsilon cost?"""

import marimo

__generated_with = "0.25.2"
app = marimo.App(width="medium", app_title="The price of privacy")


@app.cell(hide_code=True)
def _():
    import math
    import os

    import marimo as mo
    import numpy as np

    from dp_bandit_envs import compare, make_algorithm, simulate
    from dp_bandit_envs.course.checking import judged
    from dp_bandit_envs.course.notebooks import begin, you_said

    # Tests make the games smaller.
    HORIZON = int(os.environ.get("LAB_HORIZON", "10000"))
    TRIALS = 60
    TWINS = {"DP-KLUCB": "KL-UCB", "DP-UCB": "UCB", "LDP-UCB-L": "UCB", "DP-EXP3-Lap": "EXP3"}

    slider = begin(mo)
    return HORIZON, TRIALS, TWINS, compare, judged, make_algorithm, math, mo, np, simulate, slider, you_said


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    # The price of privacy

    A clinic tries four treatments. In each **round** one patient gets one of them, and it helps (gain 1) or not (gain
    0). The clinic publishes which treatment each patient got, and nothing else. But a clever learner goes where the
    gains were, so its choices say something about each patient's gain.

    A learner is **epsilon-differentially private** if this something is little: whatever the gain of any one patient
    was, no published sequence of treatments becomes more than $e^{\varepsilon}$ times as likely. At epsilon = 0.1 that
    is a factor of 1.1, at epsilon = 1 one of 2.7, at epsilon = 10 one of 22,000, which protects nobody. It protects
    one round: a patient who comes in ten rounds has ten times this epsilon.

    The learner gets this by adding **noise** to what it learns from, and pays with **regret**: what the best treatment
    would have earned on average, less what its own choices do. How much does it pay?
    """)
    return


@app.cell(hide_code=True)
def _(HORIZON, mo):
    guess = mo.ui.radio(
        ["less than twice as large", "about ten times as large", "as large as without learning at all"],
        label=f"KL-UCB is as good as any learner can be here, and has no privacy. DP-KLUCB is its private twin. After"
        f" {HORIZON:,} rounds at epsilon = 1, the best treatment helping 70 % of patients and the others 50 %, the"
        " private twin's regret is ...",
    )
    mo.vstack([mo.md("## Predict"), guess])
    return (guess,)


@app.cell(hide_code=True)
def _(HORIZON, TRIALS, TWINS, guess, make_algorithm, mo, simulate, you_said):
    mo.stop(guess.value is None, mo.md("*Choose one; then the answer appears.*"))

    def play_all(private, epsilon, gap):
        algorithms = list(dict.fromkeys(TWINS[name] for name in private))
        algorithms += [make_algorithm(name, epsilon=epsilon) for name in private]
        means = {"means": [0.5 + gap, 0.5, 0.5, 0.5]}
        return simulate("DPBandit-Stochastic-v0", algorithms, horizon=HORIZON, trials=TRIALS, env_kwargs=means, seed=1)

    with mo.status.spinner(title="Compiling seven learners: about 20 seconds, once on this machine"):
        first = {name: one.pseudo_regret[:, -1].mean() for name, one in play_all(TWINS, 1.0, 0.2).items()}
    ratio, unlearnt = first["DP-KLUCB"] / first["KL-UCB"], HORIZON * 0.15
    said = you_said(
        guess.value,
        {
            "less than twice as large": ratio < 2,
            "about ten times as large": ratio >= 5 and first["DP-KLUCB"] < 0.7 * unlearnt,
            "as large as without learning at all": first["DP-KLUCB"] >= 0.7 * unlearnt,
        },
    )
    mo.md(
        f"{said} KL-UCB has a mean regret of {first['KL-UCB']:.0f}, DP-KLUCB of"
        f" {first['DP-KLUCB']:.0f}: **{ratio:.1f} times as much**. Without learning it"
        f" would be {unlearnt:,.0f}. But that is today's best. DP-UCB, of 2016, has"
        f" {first['DP-UCB']:,.0f}. LDP-UCB-L trusts nobody, not even the clinic: each patient's gain becomes"
        f" noisy before anyone stores it, which costs {first['LDP-UCB-L']:,.0f}. DP-EXP3-Lap is made for"
        f" opponents that are no coins, and has {first['DP-EXP3-Lap']:,.0f}."
    )
    return (play_all,)


@app.cell(hide_code=True)
def _(TWINS, mo, slider):
    learner = mo.ui.dropdown(list(TWINS), value="DP-KLUCB", label="private learner")
    epsilon = slider("epsilon", 1.0, [0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0])
    gap = slider("gap: how much the best is ahead", 0.2, [0.05, 0.1, 0.2, 0.3, 0.4])
    return epsilon, gap, learner


@app.cell(hide_code=True)
def _(HORIZON, TWINS, epsilon, gap, learner, mo, play_all):
    games = play_all([learner.value], epsilon.value, gap.value)
    regret = {name: one.pseudo_regret[:, -1].mean() for name, one in games.items()}
    twin = TWINS[learner.value]
    mo.vstack(
        [
            mo.md("## Try it"),
            mo.hstack([learner, epsilon, gap], justify="start", wrap=True),
            mo.Html(
                f'<p id="answer">Mean regret at the end: {learner.value} {regret[learner.value]:,.1f}, {twin}'
                f" {regret[twin]:,.1f}: {regret[learner.value] / regret[twin]:.2f} times as much."
                f" No learning: {0.75 * gap.value * HORIZON:,.0f}.</p>"
            ),
            games.plot("pseudo_regret", columns=1),
        ]
    )
    return


@app.cell(hide_code=True)
def _(mo):
    against = mo.ui.run_button(label="Draw regret against epsilon, for this learner and gap")
    mo.vstack(
        [
            mo.md("""
    Find out, and write down:

    1. From epsilon = 1 to 0.1: how much does DP-KLUCB's regret grow? From 10 to 1?
    2. Make the gap small (0.05), then large (0.4). At which of them is privacy nearly free? Why? (Without privacy, how
       many patients does it take to see a small gap? And how many more, to see it through noise of size 1 / epsilon?)
    3. Where does each learner stop learning, that is, come near the regret without learning?
    """),
            against,
        ]
    )
    return (against,)


@app.cell(hide_code=True)
def _(HORIZON, TRIALS, TWINS, against, compare, gap, learner, mo):
    mo.stop(not against.value)
    comparison = compare(
        f"Stochastic:means=[{0.5 + gap.value},.5,.5,.5]",
        [TWINS[learner.value], learner.value],
        epsilon=[0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0],
        horizon=HORIZON,
        trials=TRIALS,
        seed=1,
    )
    comparison.plot(against="epsilon", measure="pseudo_regret", columns=1)
    return


@app.cell(hide_code=True)
def _(mo):
    mo.stop(mo.app_meta().mode == "run", mo.md("*Read-only: the tasks are in `dp-bandit lab price-of-privacy`.*"))
    from dp_bandit_envs.course.lab_price import check_noise_scale, check_release

    mo.md(r"""
    ## Task 1: how much noise?

    A clinic releases the **average** of n gains, each in [0, 1], with Laplace noise. One of the n gains may change from
    0 to 1, or back; the release has to be epsilon-differentially private. Laplace noise of **scale** b has the density
    $e^{-|x|/b} / 2b$. Write the smallest scale that will do.

    A loop that never ends is stopped by the yellow square at the bottom right, marimo's stop button.
    """)
    return check_noise_scale, check_release


@app.cell
def _():
    # np and math are imported already; do not import them again.
    def noise_scale(n, epsilon):
        # n: number of gains, a whole number from 1. epsilon: greater than 0. Return one number.
        ...

    return (noise_scale,)


@app.cell(hide_code=True)
def _(check_noise_scale, judged, noise_scale):
    judged(check_noise_scale, lambda: noise_scale)
    return


@app.cell(hide_code=True)
def _(mo):
    mo.stop(mo.app_meta().mode == "run")
    mo.md("""
    ## Task 2: release it

    Now write the release itself. `gains` is an array of numbers in [0, 1]; take random numbers from `rng`, a
    `numpy.random.Generator`, and from nowhere else.
    """)
    return


@app.cell
def _():
    # Your answers, for whoever collects them: what you predicted, and each question by its number.
    written_down = {"prediction": "", 1: "", 2: "", 3: ""}
    return (written_down,)


@app.cell
def _():
    # np and math are imported already; do not import them again.
    def release(gains, epsilon, rng):
        # Return the average of the gains, with noise that makes it epsilon-private.
        ...

    return (release,)


@app.cell(hide_code=True)
def _(check_release, judged, release):
    judged(check_release, lambda: release)
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md("""
    ## What you have seen

    - Regret with privacy is the regret without it, plus something that grows as 1 / epsilon. Where the gap is small,
      learning is slow anyway, and that weighs little; where it is large, it is nearly all of the regret.
    - The algorithm matters more than epsilon: at epsilon = 1, the one of 2016 costs eight times as much as today's.
    - Noise on an average of n gains may be n times smaller than on one gain: private learners release averages, rarely.

    Read on: the pages `docs/guarantees.md` and `docs/algorithms.md`, and `dp-bandit reproduce price-of-privacy`.
    """)
    return


if __name__ == "__main__":
    app.run()
