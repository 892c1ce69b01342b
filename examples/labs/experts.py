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

    from dp_bandit_envs.course.checking import judged
    from dp_bandit_envs.course.lab_experts import (
        BETTER,
        EXPERTS,
        ROUNDS,
        TREE,
        deviations,
        last_regret,
        over_hedge,
        play_all,
        play_own_step,
    )
    from dp_bandit_envs.course.notebooks import begin, you_said

    # Tests make the games shorter.
    LONGEST = int(os.environ.get("LAB_HORIZON", 2**16))

    slider = begin(mo)
    return (
        BETTER,
        EXPERTS,
        LONGEST,
        ROUNDS,
        TREE,
        deviations,
        judged,
        last_regret,
        math,
        mo,
        np,
        over_hedge,
        play_all,
        play_own_step,
        slider,
        you_said,
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
    was, no list of rules becomes more than $e^{\varepsilon}$ times as likely. Four learners:

    | learner | what it learns from |
    | :-- | :-- |
    | Hedge | the sum of each expert's gains; it takes expert $i$ with probability in proportion to $e^{a S_i}$ |
    | binary tree | the same Hedge, but the sums have noise, from the binary tree of the lab on counters |
    | wide tree, joint noise | the same, from that lab's tree with many children, and with another kind of noise |
    | noise on rounds | the same Hedge, but each gain of each round has noise of its own; the sums are made of these |

    The best expert is ahead by only $2\sqrt{\ln 10 / T}$, so little that it can just be found in $T$ rounds without
    privacy. So long games are as hard as short ones.
    """)
    return


@app.cell(hide_code=True)
def _(mo):
    guess = mo.ui.radio(
        ["about ten times as large", "about three times as large, as before", "less than twice as large"],
        label="At epsilon = 1, in games of 1,024 rounds, all three private learners have three to four times the regret"
        " of Hedge; following rules at random has four times. Now the magazine asks 64 times as many readers, T ="
        " 65,536. Compared with Hedge, the regret with the wide tree and joint noise is ...",
    )
    mo.vstack([mo.md("## Predict"), guess])
    return (guess,)


@app.cell(hide_code=True)
def _(BETTER, LONGEST, ROUNDS, TREE, guess, mo, over_hedge, play_all, you_said):
    mo.stop(guess.value is None, mo.md("*Choose one; then the answer appears.*"))
    lengths = [LONGEST // 64, LONGEST // 16, LONGEST // 4, LONGEST]
    with mo.status.spinner(title="Compiling four learners: about 10 seconds, once on this machine"):
        first = [play_all(length, 1.0, max(20, 4 * LONGEST // length)) for length in lengths]
    rows = [
        f"| {name} | " + " | ".join(f"{over_hedge(games, name):.1f}" for games in first)
        for name in (TREE, BETTER, ROUNDS)
    ]
    table = "\n".join(
        ["| regret over that of Hedge | " + " | ".join(f"T = {n:,}" for n in lengths), "| :-- |" + " --: |" * 4, *rows]
    )
    ratio = over_hedge(first[-1], BETTER)
    said = you_said(
        guess.value,
        {
            "about ten times as large": ratio >= 5.5,
            "about three times as large, as before": 2 <= ratio < 5.5,
            "less than twice as large": ratio < 2,
        },
    )
    mo.md(
        f"{said} It is **{ratio:.1f} times as large**:\n\n{table}\n\n"
        "With noise on rounds nothing gets better, however long the game is. With the binary tree little does; it takes"
        " much longer, as you see below."
    )
    return


@app.cell(hide_code=True)
def _(LONGEST, guess, mo, slider):
    mo.stop(guess.value is None)
    most = int(LONGEST).bit_length() - 3
    length = slider("T = 2 to the power of", most - 2, range(most - 4, most + 1))
    epsilon = slider("epsilon", 1.0, [0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0])
    return epsilon, length


@app.cell(hide_code=True)
def _(BETTER, ROUNDS, TREE, epsilon, length, mo, over_hedge, play_all):
    games = play_all(2**length.value, epsilon.value, max(20, min(100, 2**17 // 2**length.value)))
    mo.vstack(
        [
            mo.md("## Try it"),
            mo.hstack([length, epsilon], justify="start", wrap=True),
            mo.Html(
                f'<p id="answer">Regret over that of Hedge: {over_hedge(games, TREE):.2f} with the binary tree,'
                f" {over_hedge(games, BETTER):.2f} with the wide tree and joint noise, {over_hedge(games, ROUNDS):.2f}"
                f" with noise on rounds, in {2**length.value:,} rounds.</p>"
            ),
            games.plot("pseudo_regret", columns=1),
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
    2. At T = 2^14, from which epsilon on is the regret with each of the trees less than twice that of Hedge?
    3. A regret of 4 times that of Hedge is that of following rules at random. Who has it, and where?
    """)
    return


@app.cell
def _():
    # Your answers, for whoever collects them: what you predicted, and each question by its number.
    written_down = {"prediction": "", 1: "", 2: "", 3: ""}
    return (written_down,)


@app.cell(hide_code=True)
def _(BETTER, EXPERTS, deviations, guess, math, mo):
    mo.stop(guess.value is None)
    lines = [
        f"    | {2**power:,} | "
        + " | ".join(f"{deviation:,.0f}" for deviation in deviations(2**power).values())
        + f" | {math.sqrt(2**power * math.log(EXPERTS) / 2):,.0f} |"
        for power in (10, 12, 14, 16, 20, 24)
    ]
    binary, wide, joint, _ = deviations(2**16).values()
    mo.md(
        r"""
    ## Why

    How far is a sum with noise from the true one, at epsilon = 1? Standard deviations where each is largest, worked out
    exactly as in lab 4, beside what Hedge may lose without any noise:

    | rounds T | binary tree | wide tree | wide tree, joint noise | noise on rounds | regret of Hedge, at most |
    | --: | --: | --: | --: | --: | --: |
    """.rstrip(" ")
        + "\n".join(lines)
        + rf"""

    The first column is lab 4's tree, with Laplace noise of its own on each of the ten gains that a reader's answer may
    change (task 1 asks how much more that takes). The better learner has two inventions. The **wide tree** has many
    children to a node, so that an item is in fewer nodes: {binary / wide:.1f} times less noise at T = 65,536. **Joint
    noise** (Hardt and Talwar 2010) is one draw for all ten gains of a node: a point $x$ with a density in proportion to
    $e^{{-\max_i |x_i| / b}}$. A changed answer moves each gain by at most 1, so the largest by at most 1, which costs
    $1 / b$ for all ten together: another {wide / joint:.1f} times less.

    A tree puts a few draws of noise on each sum, and both their number and their width grow with $\ln T$ only. While T
    grows 64-fold to 65,536, its noise about doubles; the regret that nobody can avoid grows 8-fold, like $\sqrt T$. So
    any tree is nearly free in the end. At T = 65,536 the better learner's noise is
    {joint / math.sqrt(2**16 * math.log(EXPERTS) / 2):.1f} of the regret of Hedge; in which row is the binary tree's?
    Noise on rounds piles up like $\sqrt T$, as fast as regret: it never gets there.

    In a bandit game a round tells of one gain only, and there privacy may stay dear: on the ball, where a round tells
    what one point pays, regret with noise is 2.5 to 2.9 times that without, from T = 4,096 to 1,048,576 (SCRiBLe,
    epsilon = 1).
    """
    )
    return


@app.cell(hide_code=True)
def _(mo):
    mo.stop(mo.app_meta().mode == "run", mo.md("*Read-only: the tasks are in `dp-bandit lab experts`.*"))
    from dp_bandit_envs.course.lab_experts import check_noise_scale, check_probabilities

    mo.md(r"""
    ## Task 1: how much noise does a round need?

    All K gains of a round are published, each with Laplace noise of its own, of the same scale. One reader's answer
    decides all K of them, and each gain is in [0, 1]. Write the smallest scale at which publishing the round is
    epsilon-differentially private.

    A loop that never ends is stopped by the yellow square at the bottom right, marimo's stop button.
    """)
    return check_noise_scale, check_probabilities


@app.cell
def _():
    # np and math are imported already; do not import them again.
    def noise_scale(n_experts, epsilon):
        # n_experts: K, a whole number from 1. epsilon: greater than 0. Return one number.
        ...

    return (noise_scale,)


@app.cell(hide_code=True)
def _(check_noise_scale, judged, noise_scale):
    judged(check_noise_scale, lambda: noise_scale)
    return


@app.cell(hide_code=True)
def _(mo):
    mo.stop(mo.app_meta().mode == "run")
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
def _(check_probabilities, judged, mo, probabilities):
    step = judged(check_probabilities, lambda: probabilities)
    mo.vstack([step])
    return (step,)


@app.cell(hide_code=True)
def _(last_regret, mo, play_own_step, probabilities, step):
    mo.stop(not step.passed, mo.md("*When your step is right, it plays private games here.*"))

    with mo.status.spinner(title="Your learner plays ten private games, in Python"):
        own_games = play_own_step(probabilities)
    mo.md(
        f"Ten games of 1,024 rounds at epsilon = 10, with the wide tree and joint noise: your learner has a mean regret"
        f" of **{last_regret(own_games, 'your learner'):.0f}**, Hedge without noise"
        f" {last_regret(own_games, 'Hedge'):.0f}, and following rules at random"
        f" {last_regret(own_games, 'Uniform'):.0f}. The guarantee is the wrapper's: it would hold for any step that you"
        " had written."
    )
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    ## What you have seen

    - Where every gain is seen, noise on sums hardly grows with T, and regret grows anyway: privacy becomes nearly free.
      How soon depends on the noise: from tens of thousands of rounds on with a wide tree and joint noise, from millions
      on with the tree of lab 4.
    - Noise on each round piles up and stays dear. All K gains of a round may change together, so that it is K times
      the noise of one gain.
    - The guarantee comes from how the sums are published, not from the learner: Hedge is the same in all four.

    Read on: the page `docs/experts-and-points.md`, and `dp-bandit reproduce price-of-privacy` for longer games.
    """)
    return


if __name__ == "__main__":
    app.run()
