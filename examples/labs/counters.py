"""Lab 4: how well can one know a running sum that is published all the time?"""

import marimo

__generated_with = "0.25.2"
app = marimo.App(width="medium", app_title="Counters")


@app.cell(hide_code=True)
def _():
    import math

    import marimo as mo
    import numpy as np

    from dp_bandit_envs.course.checking import judged
    from dp_bandit_envs.course.lab_counters import BY_WORDS, WAYS, errors, pictures, worst
    from dp_bandit_envs.course.notebooks import begin, you_said

    slider = begin(mo)
    return BY_WORDS, WAYS, errors, judged, math, mo, np, pictures, slider, worst, you_said


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    # Counters

    A study publishes, after each patient, how many have recovered so far. Bandit algorithms do the same inside: an
    index such as UCB reads each arm's running sum in every round. Each patient's outcome, 0 or 1, is an **item**. All
    the sums together, from the first to the last, may lose **epsilon** about one item: whoever sees them all must not
    be able to tell well whether one patient recovered. Others' outcomes may be known to the attacker.

    Two simple ways to do it, for T items, with Laplace noise of scale b (a draw that can move by 1 costs 1 / b):

    - **noise on every item**: one draw of scale 1 / epsilon for each item, then add up. The noise adds up, too: after t
      items its standard deviation is √(2t) / epsilon.
    - **fresh noise on every sum**: an item enters up to T sums, each of which costs its share: scale T / epsilon.

    A **binary tree** does something between. It has a **node** for each item, each pair of items, each four, each
    eight, and so on. A node holds the sum of its items and one draw. Each of the first t items is in exactly one of a
    few nodes: for t = 13, those of items 1 to 8, 9 to 12, and 13. Their sum is released.
    """)
    return


@app.cell(hide_code=True)
def _(mo):
    guess = mo.ui.radio(
        ["a thousand times", "about 32 times", "about 3 times", "not at all"],
        label="From 1,000 items to 1,000,000, by how much does the worst standard deviation of a binary tree's sums"
        " grow, at the same epsilon?",
    )
    mo.vstack([mo.md("## Predict"), guess])
    return (guess,)


@app.cell(hide_code=True)
def _(BY_WORDS, guess, mo, worst, you_said):
    mo.stop(guess.value is None, mo.md("*Choose one; then the answer appears.*"))
    of_tree, of_items = (
        [worst(BY_WORDS[words], horizon, 1.0) for horizon in (1_000, 1_000_000)]
        for words in ("binary tree", "noise on every item")
    )
    grows = of_tree[1] / of_tree[0]
    said = you_said(
        guess.value,
        {
            "a thousand times": grows >= 180,
            "about 32 times": 10 <= grows < 180,
            "about 3 times": 1.7 <= grows < 10,
            "not at all": grows < 1.7,
        },
    )
    mo.md(
        f"{said} With a tree it grows from {of_tree[0]:.1f} to {of_tree[1]:.1f} items,"
        f" **{grows:.1f} times**; with noise on every item from {of_items[0]:.1f} to"
        f" {of_items[1]:,.1f}, {of_items[1] / of_items[0]:.0f} times. A thousand times as many items are only ten more"
        " levels of the tree. But look at where they begin: at 1,000 items the two are nearly alike."
    )
    return


@app.cell(hide_code=True)
def _(WAYS, guess, mo, slider):
    mo.stop(guess.value is None)
    size = slider("T = 2^k - 1, with k", 12, range(6, 15))
    epsilon = slider("epsilon", 1.0, [0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0])
    stream = slider("another stream of noise", 0, range(0, 21))
    chosen = mo.ui.multiselect(
        [way.words for way in WAYS], value=["noise on every item", "binary tree"], label="ways to release sums"
    )
    mo.vstack([mo.md("## Try it"), mo.hstack([size, epsilon, stream], justify="start", wrap=True), chosen])
    return chosen, epsilon, size, stream


@app.cell(hide_code=True)
def _(BY_WORDS, WAYS, chosen, epsilon, errors, mo, np, pictures, size, stream, worst):
    horizon = 2**size.value - 1
    streams = {BY_WORDS[words]: errors(BY_WORDS[words], horizon, epsilon.value, stream.value) for words in chosen.value}
    numbers = "; ".join(
        f"{way.words} {worst(way, horizon, epsilon.value):,.1f} (the errors of this stream have a root mean square of"
        f" {np.sqrt((off**2).mean()):,.1f}; the largest is {abs(off).max():,.1f})"
        for way, off in streams.items()
    )
    mo.vstack(
        [
            mo.Html(
                f'<p id="answer">Worst standard deviation up to T = {horizon:,}, epsilon = {epsilon.value:g}:'
                f" {numbers or 'choose a way above'}.</p>"
            ),
            mo.hstack(pictures(streams, horizon, epsilon.value), justify="start", wrap=True),
            mo.md(
                "On the left, a dot is the error of one sum of this stream: released minus true sum. Half the width of"
                " a band is the exact root mean square of the errors of *all* streams, over some neighbouring sums."
                + (
                    " Fresh noise on every sum is not shown there: it would hide all others."
                    if WAYS[0] in streams
                    else ""
                )
            ),
        ]
    )
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    Find out, and write down:

    1. For which T is noise on every item better than a binary tree? Does epsilon matter for that?
    2. Why does the tree's standard deviation jump up and down? At which t is it smallest?
    3. *Tree with many children* has fewer, wider levels: what does an item save, and what does a sum pay?
    4. *Matrix factorisation* has the smallest error of all for large T. What does it promise less?
    5. The *hybrid* counter need not know T. What does that cost?
    6. At T = 4,095 the tree has the smaller standard deviation, and in 13 of 21 streams the smaller root mean square;
       but in all 21 its largest error is above that of noise on every item. Is that a contradiction? (In which of the
       two ways have neighbouring sums nearly the same error? How many chances to be far off has each?)

    The stream of noise has a seed here, because the items are made up. With real data nobody may know the seed: whoever
    has it can subtract the noise.
    """)
    return


@app.cell
def _():
    # Your answers, for whoever collects them: what you predicted, and each question by its number.
    written_down = {"prediction": "", 1: "", 2: "", 3: "", 4: "", 5: "", 6: ""}
    return (written_down,)


@app.cell(hide_code=True)
def _(mo):
    mo.stop(mo.app_meta().mode == "run", mo.md("*Read-only: the tasks are in `dp-bandit lab counters`.*"))
    from dp_bandit_envs.course.lab_counters import check_node_scale, check_private_sums

    mo.md(r"""
    ## Task 1: the noise of a node

    Write the Laplace scale of each node of a binary tree over T items so that all sums together lose epsilon about an
    item. The tree has levels of nodes of 1, 2, 4, ... items, as long as one such node fits into T.

    A loop that never ends is stopped by the yellow square at the bottom right, marimo's stop button.
    """)
    return check_node_scale, check_private_sums


@app.cell
def _():
    # np and math are imported already; do not import them again.
    def node_scale(horizon, epsilon):
        # horizon: T, a whole number from 1. epsilon: greater than 0. Return one number.
        ...

    return (node_scale,)


@app.cell(hide_code=True)
def _(check_node_scale, judged, node_scale):
    judged(check_node_scale, lambda: node_scale)
    return


@app.cell(hide_code=True)
def _(mo):
    mo.stop(mo.app_meta().mode == "run")
    mo.md(r"""
    ## Task 2: private running sums

    Write all T sums, each the exact sum plus the draws of its nodes. `rng.laplace(scale=b)` draws Laplace noise of
    scale b; use no other noise. The check hands out draws of its own choice, finds how each enters your sums, and works
    out exactly what all of them together lose about each of up to 32 items, and about three of 100. Any tree will do,
    of any shape, if its sums are not much noisier than a binary tree's for 4,095 items.

    A hint: after item t, one new node is full that is needed later. It holds the last 1, 2, 4, 8, ... items, as many as
    the largest power of two that divides t, `t & -t` in Python.
    """)
    return


@app.cell
def _(np):
    # np and math are imported already; do not import them again.
    def private_sums(items, epsilon, rng):
        # items: an array of T numbers in [0, 1]. Return an array of T sums.
        sums = np.cumsum(items)  # exact, so not yet private
        return sums

    return (private_sums,)


@app.cell(hide_code=True)
def _(check_private_sums, judged, private_sums):
    judged(check_private_sums, lambda: private_sums)
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    ## What you have seen

    - The loss of all releases together counts, and it is paid in draws: how many an item enters, and how wide each is.
    - A tree makes the error of a sum grow with a power of ln T in place of √T; for a small T the simple way wins.
    - Fewer levels, or Gaussian noise and a delta, save much of the tree's noise: compare before you choose.

    Read on: the page `docs/counters.md`. `dp-bandit show counters` prints
    the same comparison for any T, and `dp-bandit run Stochastic DP-UCB-BOUND DP-UCB-BOUND:counter=k-ary` shows what a
    better counter is worth to a bandit.
    """)
    return


if __name__ == "__main__":
    app.run()
