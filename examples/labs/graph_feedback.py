"""Lab 6: does it help to see more than the arm that was played?"""

import marimo

__generated_with = "0.25.2"
app = marimo.App(width="medium", app_title="Graph feedback")


@app.cell(hide_code=True)
def _():
    import math
    import os

    import marimo as mo
    import numpy as np

    from dp_bandit_envs.course.checking import judged
    from dp_bandit_envs.course.lab_graphs import ARMS, graph_picture, random_graph, regret, regret_picture, revealed
    from dp_bandit_envs.course.notebooks import begin, you_said

    # Tests make the games smaller.
    HORIZON = int(os.environ.get("LAB_HORIZON", "4000"))

    slider = begin(mo)
    return (
        ARMS,
        HORIZON,
        graph_picture,
        judged,
        math,
        mo,
        np,
        random_graph,
        regret,
        regret_picture,
        revealed,
        slider,
        you_said,
    )


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    # Graph feedback

    A shop shows one advertisement to each visitor. Those who like it would like some others, too: the shop learns about
    several arms from one visitor. On a **feedback graph** with an edge for each such pair, a round reveals the gain of
    the arm played and of all its neighbours. Without edges this is the ordinary bandit; if all pairs are joined, every
    round reveals everything.

    Privacy is for one round, that is, one visitor: if one visitor's data change, **all gains that this round reveals**
    may change by up to 1 each, and still no outcome may become more than $e^{\varepsilon}$ times as likely. The graph
    itself is public.

    Two learners play against 20 arms with random means. **TS-N**, Thompson sampling on all gains seen, has no privacy.
    **DP-KLUCB** adds Laplace noise to sums of gains, and chooses by upper confidence bounds that allow for it. Neither
    looks at the graph to choose an arm; both learn from all that it reveals.
    """)
    return


@app.cell(hide_code=True)
def _(HORIZON, mo):
    guess = mo.ui.radio(
        ["a third of it", "about the same", "about three times as much"],
        label="Now every second pair of arms is joined, so that a round reveals ten gains in place of one. After"
        f" {HORIZON:,} rounds, TS-N's regret is about a third of that without edges. DP-KLUCB's at epsilon = 1 is ...",
    )
    mo.vstack([mo.md("## Predict"), guess])
    return (guess,)


@app.cell(hide_code=True)
def _(ARMS, HORIZON, guess, math, mo, random_graph, regret, revealed, you_said):
    mo.stop(guess.value is None, mo.md("*Choose one; then the answer appears.*"))

    def play(algorithm, epsilon, density, number, most):
        return regret(algorithm, epsilon, density, number, most, HORIZON)

    with mo.status.spinner(title="Compiling two learners: about 20 seconds, once on this machine"):
        ends = [
            [play(name, epsilon, density, 0, ARMS).last for density in (0.0, 0.5)]
            for name, epsilon in (("TS-N", math.inf), ("DP-KLUCB", 1.0))
        ]
    ratio = ends[1][1] / ends[1][0]
    said = you_said(
        guess.value,
        {
            "a third of it": ratio < 0.6,
            "about the same": 0.6 <= ratio < 1.7,
            "about three times as much": ratio >= 1.7,
        },
    )
    mo.md(
        f"{said} TS-N's regret goes from {ends[0][0]:.0f} to {ends[0][1]:.0f}, DP-KLUCB's from"
        f" {ends[1][0]:.0f} to {ends[1][1]:.0f}, **{ratio:.1f} times as much**. One arm of this graph"
        f" reveals {revealed(random_graph(0.5, 0), ARMS)} gains, and each has Laplace noise of its own, so the noise in"
        " every sum is that many times wider."
    )
    return (play,)


@app.cell(hide_code=True)
def _(ARMS, guess, mo, slider):
    mo.stop(guess.value is None)
    density = slider("density", 0.3, [place / 10 for place in range(11)])
    epsilon = slider("epsilon", 1.0, [0.1, 0.3, 1.0, 3.0, 10.0, 30.0])
    most = slider("most gains a round may reveal", ARMS, range(1, ARMS + 1))
    number = slider("another graph", 0, range(0, 21))
    mo.vstack([mo.md("## Try it"), mo.hstack([density, epsilon, most, number], justify="start", wrap=True)])
    return density, epsilon, most, number


@app.cell(hide_code=True)
def _(ARMS, density, epsilon, graph_picture, math, mo, most, number, play, random_graph, regret_picture, revealed):
    reveals = random_graph(density.value, number.value)
    factor = revealed(reveals, most.value)
    curves = {
        "TS-N, no edges": play("TS-N", math.inf, 0.0, 0, ARMS),
        "TS-N": play("TS-N", math.inf, density.value, number.value, most.value),
        f"DP-KLUCB, epsilon = {epsilon.value:g}, no edges": play("DP-KLUCB", epsilon.value, 0.0, 0, ARMS),
        f"DP-KLUCB, epsilon = {epsilon.value:g}": play(
            "DP-KLUCB", epsilon.value, density.value, number.value, most.value
        ),
    }
    mo.vstack(
        [
            mo.Html(
                f'<p id="answer">Density {density.value:g}, at most {factor} gains a round, epsilon ='
                f" {epsilon.value:g}: mean regret "
                + ", ".join(f"{label} {curve.last:,.1f}" for label, curve in curves.items())
                + ".</p>"
            ),
            mo.hstack([graph_picture(reveals, most.value), regret_picture(curves)], justify="start", wrap=True),
        ]
    )
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    Find out, and write down:

    1. Without privacy, is an edge ever a bad thing? And at epsilon = 1?
    2. From which epsilon on does DP-KLUCB gain by a graph of density 0.5?
    3. At density 1, every round reveals everything, and the noise is 20 times as wide. Why does DP-KLUCB do better
       there than at 0.8? (Think of what the *best* arm's rounds reveal about all others.)
    4. One may look at fewer gains than the graph reveals. At density 0.5 and epsilon = 10, which cap is best? At 1?

    This says what *these* learners lose. It is no proof that every private learner must.
    """)
    return


@app.cell
def _():
    # Your answers, for whoever collects them: what you predicted, and each question by its number.
    written_down = {"prediction": "", 1: "", 2: "", 3: "", 4: ""}
    return (written_down,)


@app.cell(hide_code=True)
def _(mo):
    mo.stop(mo.app_meta().mode == "run", mo.md("*Read-only: the tasks are in `dp-bandit lab graph-feedback`.*"))
    from dp_bandit_envs.course.lab_graphs import check_clique_cover, check_noise_factor

    mo.md(r"""
    ## Task 1: what privacy costs on a graph

    `reveals` is a matrix of 0 and 1: `reveals[i, j]` is 1 if playing arm i reveals the gain of arm j. Edges may lead
    one way only. Each gain that a round reveals gets Laplace noise of its own, independent of the others. By which
    factor must its scale grow, compared with rounds that reveal one gain?

    A loop that never ends is stopped by the yellow square at the bottom right, marimo's stop button.
    """)
    return check_clique_cover, check_noise_factor


@app.cell
def _():
    # np and math are imported already; do not import them again.
    def noise_factor(reveals):
        # reveals: an array of shape (n_arms, n_arms). Return one number.
        ...

    return (noise_factor,)


@app.cell(hide_code=True)
def _(check_noise_factor, judged, noise_factor):
    judged(check_noise_factor, lambda: noise_factor)
    return


@app.cell(hide_code=True)
def _(mo):
    mo.stop(mo.app_meta().mode == "run")
    mo.md(r"""
    ## Task 2: what a graph is worth

    Without privacy, how much does a graph help? In a **clique** every arm reveals every other, so whoever plays one of
    them learns about all. If C cliques hold all K arms, TS-N's mean regret over random means is at most
    $\sqrt{C \ln(K)\, T / 2}$. Without edges, C is K. So fewer cliques give a better bound.

    Put the arms into cliques: return a list of lists of arms, each arm once, of which no two can be merged into one
    clique. The fewest possible are hard to find on large graphs; a greedy way will do. Here all edges go both ways.
    """)
    return


@app.cell
def _():
    # np and math are imported already; do not import them again.
    def clique_cover(reveals):
        # reveals: an array of shape (n_arms, n_arms). Return a list of lists of arms, such as [[0, 2], [1]].
        ...

    return (clique_cover,)


@app.cell(hide_code=True)
def _(check_clique_cover, clique_cover, judged, mo):
    cover_verdict = judged(check_clique_cover, lambda: clique_cover)
    mo.vstack([cover_verdict])
    return (cover_verdict,)


@app.cell(hide_code=True)
def _(ARMS, HORIZON, clique_cover, cover_verdict, density, math, mo, number, play, random_graph):
    mo.stop(not cover_verdict.passed)
    cliques = len(clique_cover(random_graph(density.value, number.value)))
    bound = math.sqrt(cliques * math.log(ARMS) * HORIZON / 2)
    regret_of_cover = play("TS-N", math.inf, density.value, number.value, ARMS).last
    mo.md(
        f"Your cover of the graph above, without a cap, has {cliques} cliques: TS-N's mean regret is at most"
        f" {bound:,.0f}; in our games it is {regret_of_cover:,.1f}."
    )
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    ## What you have seen

    - Without privacy, seeing more never hurt; a graph counts as few arms as cliques that hold them all.
    - With privacy, a round that reveals s gains needs s times the noise, if each gain has Laplace noise of its own: at
      a small epsilon, seeing more can hurt. Noise that is drawn for all s together needs less (lab 7).
    - What one looks at is a choice: a cap on the gains of a round trades chance against noise.

    Read on: the pages `docs/graphs.md` and `docs/reproductions/figure-graph.md`; `examples/06_karate_club.py` plays on
    a graph of real friendships.
    """)
    return


if __name__ == "__main__":
    app.run()
