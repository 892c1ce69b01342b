"""Lab 8: what may one publish about the people of a real study?"""

import marimo

__generated_with = "0.25.2"
app = marimo.App(width="medium", app_title="A trial of HIV drugs")


@app.cell(hide_code=True)
def _():
    import math

    import gymnasium as gym
    import marimo as mo
    import numpy as np

    from dp_bandit_envs import Ledger, make_algorithm, play, simulate
    from dp_bandit_envs.adversaries.trial import TREATMENTS, Trial
    from dp_bandit_envs.course.checking import judged
    from dp_bandit_envs.course.lab_hiv import histogram
    from dp_bandit_envs.course.notebooks import begin, you_said
    from dp_bandit_envs.errors import BudgetSpentError

    slider = begin(mo)
    return (
        BudgetSpentError,
        Ledger,
        TREATMENTS,
        Trial,
        gym,
        histogram,
        judged,
        make_algorithm,
        math,
        mo,
        np,
        play,
        simulate,
        slider,
        you_said,
    )


@app.cell(hide_code=True)
def _(TREATMENTS, Trial, mo):
    treatments = zip(TREATMENTS, (532, 522, 524, 561), Trial().means, strict=True)
    mo.md(
        """
    # A trial of HIV drugs

    In this trial 2,139 people with HIV were given one of four treatments by chance (ACTG 175, Hammer and others 1996).
    A gain is 1 if a patient had no event: AIDS, death, or half of the CD4 cells lost. The records have been public for
    years, so nothing that you do here can harm anyone. We treat them as if they were secret.

    | treatment | patients | without an event |
    | :-- | --: | --: |
    """
        + "\n".join(f"    | {name} | {number} | {mean:.1%} |" for name, number, mean in treatments)
        + r"""

    A bandit runs the trial again. A round is a patient who arrives, an arm is a treatment, and it pays the recorded
    outcomes of its own patients, in random order. Three treatments are better than the first; by chance, 1,604 of 2,139
    patients would get one of them.

    **Which treatment was given in each round is published.** Epsilon protects the outcome in one round from whoever
    reads that list. But when the records of an arm are used up, they come back: 522 records have to do for up to 2,139
    rounds, so one patient can serve in five of them. For a patient, epsilon is five times that of a round.
    """
    )
    return


@app.cell(hide_code=True)
def _(mo):
    guess = mo.ui.radio(
        ["about 1,600, no better than chance", "about 1,850", "about 2,100, nearly all"],
        label="You promise every patient epsilon = 1, so that a round may cost 0.2, and let DP-KLUCB choose the"
        " treatments. How many of 2,139 patients get one of the three better ones, on average?",
    )
    mo.vstack([mo.md("## Predict"), guess])
    return (guess,)


@app.cell(hide_code=True)
def _():
    spent = []  # the epsilon of a patient in each game that this page has played
    return (spent,)


@app.cell(hide_code=True)
def _(guess, make_algorithm, mo, simulate, spent, you_said):
    mo.stop(guess.value is None, mo.md("*Choose one; then the answer appears.*"))

    # The seed is secret and written nowhere (None), as it has to be with real data: every run of this page is new.
    def run_again(name, promise):
        algorithm = make_algorithm(name, epsilon=promise / 5)
        spent.extend([promise] * 100)
        return simulate("DPBandit-Trial-v0:arm_order=given", [algorithm], trials=100, seed=None)[name]

    def on_better(outcome):
        return outcome.pulls[:, 1:].sum(axis=1)

    with mo.status.spinner(title="Compiling a learner: about 5 seconds, once on this machine"):
        kept, broken = (on_better(run_again("DP-KLUCB", promise)).mean() for promise in (1, 5))
    said = you_said(
        guess.value,
        {
            "about 1,600, no better than chance": kept < 1_725,
            "about 1,850": 1_725 <= kept < 1_975,
            "about 2,100, nearly all": kept >= 1_975,
        },
    )
    mo.md(
        f"{said} In the mean of 100 re-runs it is **{kept:,.0f}**. With epsilon = 1 for a *round* it"
        f" would be {broken:,.0f}; but that is epsilon = 5 for a patient. One outcome could then make a list 148 times"
        " as likely, instead of 2.7 times."
    )
    return on_better, run_again


@app.cell(hide_code=True)
def _(mo, slider):
    learner = mo.ui.dropdown(
        ["DP-KLUCB", "DP-IMED", "Batched-Lap-HTINF", "DP-EXP3-Lap"], value="DP-KLUCB", label="learner"
    )
    promise = slider("epsilon of a patient", 1.0, [0.25, 0.5, 1.0, 2.5, 5.0, 10.0])
    return learner, promise


@app.cell(hide_code=True)
def _(histogram, learner, mo, on_better, promise, run_again, spent):
    numbers = on_better(run_again(learner.value, promise.value))
    mo.vstack(
        [
            mo.md("## Try it"),
            mo.hstack([learner, promise], justify="start", wrap=True),
            mo.Html(
                f'<p id="answer">Patients on a better treatment: {numbers.mean():,.1f} on average, {min(numbers):,} in'
                f" the worst of 100 re-runs. Epsilon: {promise.value:g} for a patient, {promise.value / 5:g} for a"
                " round.</p>"
            ),
            histogram(numbers, chance=1604, most=2139),
            mo.md(
                "Why bars stand alone: DP-KLUCB and DP-IMED look at a treatment's records again only when it has had"
                " twice as many patients as at the last look. So the first treatment gets one of a few numbers of"
                " patients, such as 80, 160 or 320, and re-runs fall on few numbers. The other two learners spread."
            ),
            mo.md(
                f"This page has run the trial {len(spent):,} times for you; a prediction takes 200 of them, half with"
                " epsilon = 1 for a patient and half with 5. If you published all of it, epsilon would be"
                f" {sum(spent):,.0f} for a patient: nobody would be protected. (The three games of the ledger below add"
                " 7.5.)"
            ),
        ]
    )
    return


@app.cell(hide_code=True)
def _(guess, mo):
    mo.stop(guess.value is None)
    mo.md("""
    Find out, and write down:

    1. Which learner would you recommend to the doctors, and at which epsilon? A trial is run once: look at bad
       re-runs, too.
    2. Down to which promise is each learner clearly better than chance?
    3. You have now looked at many settings. May you run the trial once more with the best one and publish that, as
       one game? What would you have had to do before?
    """)
    return


@app.cell
def _():
    # Your answers, for whoever collects them: what you predicted, and each question by its number.
    written_down = {"prediction": "", 1: "", 2: "", 3: ""}
    return (written_down,)


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    ## A budget that says no

    A **ledger** belongs to the data. Every game is entered before its first round, and the ledger refuses a game that
    would break the promise, one without a guarantee, and one whose seed is known. Here every patient is promised
    epsilon = 8, and a game at 0.5 a round costs 2.5.
    """)
    return


@app.cell
def _(BudgetSpentError, Ledger, gym, make_algorithm, mo, play):
    ledger = Ledger(epsilon=8, unit="person")
    trial = gym.make("DPBandit-Trial-v0", ledger=ledger)
    lines = []
    for number in (1, 2, 3, 4):
        try:
            play(trial, make_algorithm("DP-KLUCB", epsilon=0.5), seed=None)
            lines.append(f"{number}. played; spent so far: epsilon = {ledger.spent.epsilon:.3g} for a patient")
        except BudgetSpentError as refusal:
            lines.append(f"{number}. refused: {refusal}")
    mo.md("\n".join(lines))
    return


@app.cell(hide_code=True)
def _(mo):
    mo.stop(mo.app_meta().mode == "run", mo.md("*Read-only: the tasks are in `dp-bandit lab hiv-trial`.*"))
    from dp_bandit_envs.course.lab_hiv import CASES, check_epsilon_of_a_round, check_publishing

    mo.md(r"""
    ## Task 1: the epsilon of a round

    Other studies have other numbers. `promise` is the epsilon of every patient, `patients` a list with the number of
    records of each treatment, and there are `rounds` rounds. Each treatment goes through all of its records before one
    of them comes back. Write the largest epsilon that a round may cost: for this trial,
    `epsilon_of_a_round(1.0, [532, 522, 524, 561], 2139)` is 0.2.

    A loop that never ends is stopped by the yellow square at the bottom right, marimo's stop button.
    """)
    return CASES, check_epsilon_of_a_round, check_publishing


@app.cell
def _():
    # np and math are imported already; do not import them again.
    def epsilon_of_a_round(promise, patients, rounds):
        # Return one number.
        ...

    return (epsilon_of_a_round,)


@app.cell(hide_code=True)
def _(check_epsilon_of_a_round, epsilon_of_a_round, judged):
    judged(check_epsilon_of_a_round, lambda: epsilon_of_a_round)
    return


@app.cell(hide_code=True)
def _(CASES, mo):
    mo.md(
        "## Task 2: may this be published?\n\n"
        "Write True if the claim holds for every patient, so that it may be published, and False if not. (Noise that a"
        " computer draws adds a delta below 1e-8 to these epsilons; leave that aside.)\n\n"
        + "\n".join(f"- **{letter}.** {case.says}" for letter, case in CASES.items())
    )
    return


@app.cell
def _():
    decisions = {"A": None, "B": None, "C": None, "D": None, "E": None, "F": None, "G": None}
    return (decisions,)


@app.cell(hide_code=True)
def _(check_publishing, decisions, judged):
    judged(check_publishing, lambda: decisions)
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    ## What you have seen

    - A guarantee for a round is not one for a person: count in how many rounds a person can serve, and divide.
    - Every game on the same data costs again, even one that you only looked at; a ledger counts them all.
    - Noise protects if nobody knows its seed, and only what went through it: exact numbers beside it do not.

    Read on: the pages `docs/real-data.md`, and `docs/comparing.md` for which learner a study of your size should take.
    """)
    return


if __name__ == "__main__":
    app.run()
