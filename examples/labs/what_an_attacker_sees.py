"""Lab 5: what do the arms alone give away, and how sure can one be?"""

import marimo

__generated_with = "0.25.2"
app = marimo.App(width="medium", app_title="What an attacker sees")


@app.cell(hide_code=True)
def _():
    import math
    from functools import partial

    import marimo as mo
    import numpy as np

    from dp_bandit_envs import make_algorithm
    from dp_bandit_envs.audits import exact_loss
    from dp_bandit_envs.audits.gallery import LESSONS
    from dp_bandit_envs.course.checking import judged
    from dp_bandit_envs.course.lab_attacker import (
        CONFIDENCE,
        GAMES,
        TABLES,
        attack,
        counts_pictures,
        losses_pictures,
        neighbours,
        right,
        suspects_tables,
    )
    from dp_bandit_envs.course.notebooks import begin, you_said

    slider = begin(mo)
    return (
        CONFIDENCE,
        GAMES,
        LESSONS,
        TABLES,
        attack,
        counts_pictures,
        exact_loss,
        judged,
        losses_pictures,
        make_algorithm,
        math,
        mo,
        neighbours,
        np,
        partial,
        right,
        slider,
        suspects_tables,
        you_said,
    )


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    # What an attacker sees

    A private bandit algorithm promises **epsilon** for each round: change the gain of one round (one patient recovers
    or not), and no event that others can see becomes more than $e^{\varepsilon}$ times as probable. An attacker who
    knows the gains of all other rounds still cannot tell well which of the two it was.

    A promise can be wrong: a formula with one level too few, noise that is used twice. Nobody sees that in the regret.
    But one can attack: play many games on a table of gains, and many on its **neighbour**, in which one round differs;
    find an **event** that is more frequent on one of them. If its probabilities are p and q, epsilon is at least
    ln(p / q). An attack proves a lower bound; it never proves that a promise is kept.

    Here the attacker sees the **arms** alone, not even the noisy gains: twelve rounds, two arms.
    """)
    return


@app.cell(hide_code=True)
def _(mo):
    guess = mo.ui.radio(
        ["nothing at all", "about a tenth", "about a half", "more than two thirds"],
        label="AdaP-UCB keeps epsilon = 1 by noise on sums of gains, and the attacker sees only which arms were played."
        " How much of that epsilon can the attacker show?",
    )
    mo.vstack([mo.md("## Predict"), guess])
    return (guess,)


@app.cell(hide_code=True)
def _(attack, guess, make_algorithm, mo, neighbours, partial, right, you_said):
    mo.stop(guess.value is None, mo.md("*Choose one; then the games are played, the first time for a few seconds.*"))
    with mo.status.spinner(title="Compiling AdaP-UCB, a few seconds, once"):
        seen = attack(partial(make_algorithm, "AdaP-UCB", epsilon=1.0), neighbours("arm 1 pays", 0), 20_000, seed=1)
    least = right(seen.more, seen.less, seen.games, 0.99)
    said = you_said(
        guess.value,
        {
            "nothing at all": least < 0.03,
            "about a tenth": 0.03 <= least < 0.25,
            "about a half": 0.25 <= least <= 2 / 3,
            "more than two thirds": least > 2 / 3,
        },
    )
    mo.md(
        f"{said} An event happened in {seen.more:,} of {seen.games:,} games on one table and in"
        f" {seen.less:,} on its neighbour, so with confidence 99 % epsilon is **at least {least:.2f}**; the promise is"
        " 1. Arms are chosen by what was released: to hide the gains protects nobody if the arms are public, as"
        " treatments in a hospital are."
    )
    return


@app.cell(hide_code=True)
def _(TABLES, guess, mo, slider):
    mo.stop(guess.value is None)
    name = mo.ui.dropdown(
        ["AdaP-UCB", "DP-KLUCB", "LDP-UCB-B", "DP-UCB", "EXP3 (no promise)"], value="AdaP-UCB", label="algorithm"
    )
    epsilon = slider("epsilon", 1.0, [0.1, 0.2, 0.5, 1.0, 2.0, 3.0])
    games = slider("games on each table", 5_000, [200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000])
    changed = slider("round that differs", 1, range(1, 13))
    table = mo.ui.dropdown(list(TABLES), value="both arms pay 1", label="in all other rounds")
    look = slider("other games", 0, range(0, 21))
    mo.vstack(
        [
            mo.md(
                "## Attack it yourself\n\nAn algorithm is compiled when you first choose it, which takes a few seconds"
                " once. The event is chosen in games of its own, and counted in fresh ones: otherwise chance would"
                " choose it."
            ),
            mo.hstack([name, table], justify="start", wrap=True),
            mo.hstack([epsilon, games, changed, look], justify="start", wrap=True),
        ]
    )
    return changed, epsilon, games, look, name, table


@app.cell(hide_code=True)
def _(
    attack,
    changed,
    counts_pictures,
    epsilon,
    games,
    look,
    make_algorithm,
    math,
    mo,
    name,
    neighbours,
    partial,
    right,
    table,
):
    promises = "no promise" not in name.value
    make = partial(make_algorithm, name.value, epsilon=epsilon.value) if promises else partial(make_algorithm, "EXP3")
    with mo.status.spinner(title="Playing; the first time an algorithm is compiled, a few seconds"):
        counted = attack(make, neighbours(table.value, changed.value - 1), games.value, seed=look.value)
    bound = right(counted.more, counted.less, counted.games, 0.99)
    mo.vstack(
        [
            mo.Html(
                f'<p id="answer">{counted.more:,} against {counted.less:,} of {counted.games:,} games: with confidence'
                f" 99 %, epsilon is at least {bound:.3f}.</p>"
            ),
            mo.hstack(
                counts_pictures(counted, epsilon.value if promises else math.inf, bound, 0.99),
                justify="start",
                wrap=True,
            ),
        ]
    )
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md("""
    Find out, and write down:

    1. Move *other games*: how often is the grey ratio above the declared epsilon? Is the bound ever?
    2. Which rounds give AdaP-UCB away, and why do the last ones show nothing?
    3. DP-UCB keeps its sums in trees. Its bound is low: is it more private than it says, or is the attack weak?
    4. EXP3 promises nothing and adds no noise. Why can the attacker still not be sure?
    """)
    return


@app.cell
def _():
    # Your answers, for whoever collects them: what you predicted, and each question by its number.
    written_down = {"prediction": "", 1: "", 2: "", 3: "", 4: ""}
    return (written_down,)


@app.cell(hide_code=True)
def _(mo):
    mo.md("""
    ## Broken on purpose

    With the noise known, one need not sample: the audit works out the loss of each round **exactly**, for an attacker
    who sees all that is released. Each mechanism here has a fault that real code had; think about it before you open
    what an attacker sees.
    """)
    return


@app.cell(hide_code=True)
def _(LESSONS, mo, slider):
    lessons = [each for each in LESSONS if each != "no grid"]
    fault = mo.ui.dropdown(lessons, value="tree levels", label="fault")
    declared = slider("declared epsilon", 1.0, [0.1, 0.5, 1.0, 2.0, 4.0])
    mo.hstack([fault, declared], justify="start", wrap=True)
    return declared, fault


@app.cell(hide_code=True)
def _(LESSONS, declared, exact_loss, fault, losses_pictures, mo):
    lesson = LESSONS[fault.value]
    names = (f"broken: {fault.value}", "repaired")
    losses = [exact_loss(part(declared.value), environment=lesson.game()) for part in (lesson.broken, lesson.repaired)]
    mo.vstack(
        [
            mo.hstack(losses_pictures(losses, names, declared.value), justify="start", wrap=True),
            mo.Html(
                f'<p id="exact">Declared: {declared.value:g}. The broken one loses {losses[0].epsilon:.4g}, the'
                f" repaired one {losses[1].epsilon:.4g}.</p>"
            ),
            mo.accordion({"What an attacker sees": mo.md(lesson.seen)}),
        ]
    )
    return


@app.cell(hide_code=True)
def _(mo):
    mo.stop(mo.app_meta().mode == "run", mo.md("*Read-only: the tasks are in `dp-bandit lab what-an-attacker-sees`.*"))
    from dp_bandit_envs.course.lab_attacker import check_accused, check_epsilon_bound

    mo.md(r"""
    ## Task 1: a bound that you can trust

    An event, chosen before, happened in `more` of `games` games on one table, and in `less` of as many on its
    neighbour. Return a number that is at most epsilon with the given confidence: ln(low / high), with a lower
    Clopper-Pearson bound on the one probability and an upper one on the other; 0 if that is below 0 or `more` is 0.
    The whole statement may fail with probability 1 - confidence, so each of its two bounds with half of that.

    The lower bound for k hits in n games that fails with probability a is `beta.ppf(a, k, n - k + 1)` (0 for k = 0),
    the upper one `beta.ppf(1 - a, k + 1, n - k)` (1 for k = n), with `from scipy.stats import beta`.

    A loop that never ends is stopped by the yellow square at the bottom right, marimo's stop button.
    """)
    return check_accused, check_epsilon_bound


@app.cell
def _():
    # np and math are imported already; do not import them again.
    def epsilon_bound(more, less, games, confidence):
        # three whole numbers, and a number between 0 and 1; return one number
        ...

    return (epsilon_bound,)


@app.cell(hide_code=True)
def _(check_epsilon_bound, epsilon_bound, judged):
    judged(check_epsilon_bound, lambda: epsilon_bound)
    return


@app.cell(hide_code=True)
def _(CONFIDENCE, GAMES, mo):
    mo.stop(mo.app_meta().mode == "run")
    mo.md(f"""
    ## Task 2: who is it?

    A, B and C all declare epsilon = 1. Two of them keep it; one has half the noise that it needs. All you have is
    counts of {GAMES:,} games on each table. Accuse the one whose bound is above 1, with confidence {CONFIDENCE}: that
    is what an honest one survives in 9,999 of 10,000 cases. Write three different numbers of your own, and get games of
    your own: for each number the suspects are lined up anew.
    """)
    return


@app.cell
def _():
    your_numbers = None  # three different whole numbers from 0 to 100,000, such as (3, 14, 159)
    return (your_numbers,)


@app.cell(hide_code=True)
def _(epsilon_bound, mo, suspects_tables, your_numbers):
    mo.stop(mo.app_meta().mode == "run")
    with mo.status.spinner(title="The suspects play; the first time they are compiled, a few seconds"):
        suspects = suspects_tables(your_numbers, epsilon_bound)
    mo.md(suspects)
    return


@app.cell
def _():
    # np and math are imported already; do not import them again.
    accused = None  # three letters, such as "ABA": one for each of your numbers
    return (accused,)


@app.cell(hide_code=True)
def _(accused, check_accused, judged, your_numbers):
    judged(check_accused, lambda: accused, lambda: your_numbers)
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    ## What you have seen

    - Arms alone can show nearly as much as the releases that they are chosen by: only the noise protects.
    - An attack bounds epsilon from below, with a confidence; the ratio of frequencies alone accuses the innocent.
    - A low bound proves nothing. That a promise is kept takes a proof, or the exact loss of the noise.

    Read on: the page `docs/audits.md`. `dp-bandit audit AdaP-UCB --epsilon 1` searches for the best attack, and
    `dp-bandit audit gallery` shows all eight broken mechanisms.
    """)
    return


if __name__ == "__main__":
    app.run()
