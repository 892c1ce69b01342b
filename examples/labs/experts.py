"""Lab 7: why is privacy nearly free when every gain is seen?"""

import marimo

__generated_with = "0.25.2"
app = marimo.App(width="medium", app_title="Experts")


@app.cell(hide_code=True)
def _():
    import math
    import os

    import marimo as mo
    import numpy as np

    from dp_bandit_envs.course.checks.check_experts import check_noise_scale, check_probabilities
    from dp_bandit_envs.course.expert_games import ROUNDS, SUMS, last_regret, over_hedge, play_all, play_own_step
    from dp_bandit_envs.course.unannounced import leave_compiling_to_spinners

    # Tests make the games shorter.
    LONGEST = int(os.environ.get("LAB_HORIZON", 2**16))

    if mo.running_in_notebook():
        leave_compiling_to_spinners()
    return (
        LONGEST,
        ROUNDS,
        SUMS,
        check_noise_scale,
        check_probabilities,
        last_regret,
        math,
        mo,
        np,
        over_hedge,
        play_all,
        play_own_step,
    )


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    # Experts

    A magazine asks its readers a question that nobody would answer in public. Ten rules, the **experts**, guess each
    answer before it arrives. A round is one reader: you follow one of the rules, and then the answer shows which of the
    ten were right. So a round reveals the gains of **all** experts; in a bandit game it reveals one.

    **Regret** is what the best rule would have earned on average, less what the rules that you followed do. **Epsilon**
    protects each reader's answer, which is one round, from whoever sees which rules you followed: whatever the answer
    was, no list of rules becomes more than $e^{\varepsilon}$ times as likely. Three learners:

    | learner | what it learns from |
    | :-- | :-- |
    | Hedge | the sum of each expert's gains; it takes expert $i$ with probability in proportion to $e^{a S_i}$ |
    | noise on sums | the same Hedge, but the sums have noise, from a tree of partial sums as in the lab on counters |
    | noise on rounds | the same Hedge, but each gain of each round has noise of its own; the sums are made of these |

    The best expert is ahead by only $2\sqrt{\ln 10 / T}$, so little that it can just be found in $T$ rounds without
    privacy. So long games are as hard as short ones.
    """)
    return


@app.cell(hide_code=True)
def _(mo):
    guess = mo.ui.radio(
        ["about ten times as large", "about three times as large, as before", "less than twice as large"],
        label="At epsilon = 1, in games of 1,024 rounds, both private learners have three to four times the regret of"
        " Hedge. Now the magazine asks 64 times as many readers, T = 65,536. Compared with Hedge, the regret with"
        " noise on sums is ...",
    )
    mo.vstack([mo.md("## Predict"), guess])
    return (guess,)


@app.cell(hide_code=True)
def _(LONGEST, ROUNDS, SUMS, guess, mo, over_hedge, play_all):
    mo.stop(guess.value is None, mo.md("*Choose one; then the answer appears.*"))
    lengths = [LONGEST // 64, LONGEST // 16, LONGEST // 4, LONGEST]
    with mo.status.spinner(title="Compiling three learners: about 10 seconds, once on this machine"):
        first = [play_all(length, 1.0, max(20, 4 * LONGEST // length)) for length in lengths]
    rows = [f"| {name} | " + " | ".join(f"{over_hedge(games, name):.1f}" for games in first) for name in (SUMS, ROUNDS)]
    table = "\n".join(
        ["| regret over that of Hedge | " + " | ".join(f"T = {n:,}" for n in lengths), "| :-- |" + " --: |" * 4, *rows]
    )
    mo.md(
        f"You said *{guess.value}*. It is **{over_hedge(first[-1], SUMS):.1f} times as large**:\n\n{table}\n\n"
        "With noise on rounds nothing gets better, however long the game is."
    )
    return


@app.cell(hide_code=True)
def _(LONGEST, guess, mo):
    mo.stop(guess.value is None)
    most = int(LONGEST).bit_length() - 3
    length = mo.ui.slider(most - 4, most, value=most - 2, label="T = 2 to the power of", show_value=True, debounce=True)
    epsilon = mo.ui.slider(
        steps=[0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0], value=1.0, label="epsilon", show_value=True, debounce=True
    )
    return epsilon, length


@app.cell(hide_code=True)
def _(ROUNDS, SUMS, epsilon, length, mo, over_hedge, play_all):
    games = play_all(2**length.value, epsilon.value, max(20, min(100, 2**17 // 2**length.value)))
    mo.vstack(
        [
            mo.md("## Try it"),
            mo.hstack([length, epsilon], justify="start", wrap=True),
            mo.Html(
                f'<p id="answer">Regret over that of Hedge: {over_hedge(games, SUMS):.2f} with noise on sums,'
                f" {over_hedge(games, ROUNDS):.2f} with noise on rounds, in {2**length.value:,} rounds.</p>"
            ),
            games.plot("pseudo_regret"),
            mo.md("Hedge's epsilon in the legend is what its own dice give; it is too large to protect anybody."),
        ]
    )
    return


@app.cell(hide_code=True)
def _(guess, mo):
    mo.stop(guess.value is None)
    mo.md("""
    Find out, and write down:

    1. Which slider makes noise on sums cheaper? Which of them helps noise on rounds?
    2. At T = 2^14, from which epsilon on is the regret with noise on sums less than twice that of Hedge?
    3. A regret of 4 times that of Hedge is that of following rules at random. Who has it, and where?
    """)
    return


@app.cell(hide_code=True)
def _(guess, mo):
    mo.stop(guess.value is None)
    mo.md(r"""
    ## Why

    How far is a sum with noise from the true one at the end, at epsilon = 1? Standard deviations for ten experts
    (both worked out exactly), beside what Hedge may lose without any noise:

    | rounds T | noise on sums | noise on rounds | regret of Hedge, at most |
    | --: | --: | --: | --: |
    | 1,024 | 63 | 453 | 34 |
    | 4,096 | 80 | 905 | 69 |
    | 16,384 | 113 | 1,810 | 137 |
    | 65,536 | 124 | 3,620 | 275 |

    A tree puts a few draws of noise on each sum, and their number grows like $\ln T$. The noise grows by less than 2
    while T grows 64-fold; the regret that nobody can avoid grows 8-fold, like $\sqrt T$. Noise on rounds piles up like
    $\sqrt T$, as fast as regret.
    In a bandit game a round tells of one gain only, and there privacy may stay dear: on the ball, where a round tells
    what one point pays, regret with noise is 2.5 to 2.9 times that without, from T = 4,096 to 1,048,576 (SCRiBLe,
    epsilon = 1).
    """)
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    ## Task 1: how much noise does a round need?

    All K gains of a round are published, each with Laplace noise of its own, of the same scale. One reader's answer
    decides all K of them, and each gain is in [0, 1]. Write the smallest scale at which publishing the round is
    epsilon-differentially private. (Open the lab with `dp-bandit lab experts` to edit; a read-only page does not let
    you.)
    """)
    return


@app.cell
def _():
    # np and math are imported already; do not import them again.
    def noise_scale(n_experts, epsilon):
        # n_experts: K, a whole number from 1. epsilon: greater than 0. Return one number.
        ...

    return (noise_scale,)


@app.cell(hide_code=True)
def _(check_noise_scale, noise_scale):
    check_noise_scale(noise_scale)
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    ## Task 2: one step of Hedge

    Write the heart of the learner: from the published sums $S_1, \dots, S_K$ and the learning rate $a$ the
    probabilities $p_i = e^{a S_i} / \sum_j e^{a S_j}$. Noise may have made sums negative, and after many rounds they
    may be large.
    """)
    return


@app.cell
def _():
    # np and math are imported already; do not import them again.
    def probabilities(sums, learning_rate):
        # sums: an array of K numbers. learning_rate: a, greater than 0. Return K probabilities.
        ...

    return (probabilities,)


@app.cell(hide_code=True)
def _(check_probabilities, mo, probabilities):
    step = check_probabilities(probabilities)
    mo.vstack([step])
    return (step,)


@app.cell(hide_code=True)
def _(last_regret, mo, play_own_step, probabilities, step):
    mo.stop(not step.passed, mo.md("*When your step is right, it plays private games here.*"))

    with mo.status.spinner(title="Your learner plays ten private games, in Python"):
        own = play_own_step(probabilities)
    mo.md(
        f"Ten games as above, of 1,024 rounds at epsilon = 10: your learner has a mean regret of"
        f" **{last_regret(own, 'your learner'):.0f}**, Hedge without noise {last_regret(own, 'Hedge'):.0f}, and"
        f" following rules at random {last_regret(own, 'Uniform'):.0f}. The guarantee is the wrapper's: it would hold"
        " for any step that you had written."
    )
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    ## What you have seen

    - Where every gain is seen, noise on sums hardly grows with T, and regret grows anyway: privacy becomes nearly free.
    - Noise on each round piles up and stays dear. All K gains of a round may change together, so that it is K times
      the noise of one gain.
    - The guarantee comes from how the sums are published, not from the learner: Hedge is the same in all three.

    Read on: the page `docs/experts-and-points.md`, and `dp-bandit reproduce price-of-privacy` for longer games.
    """)
    return


if __name__ == "__main__":
    app.run()
