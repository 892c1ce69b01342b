"""Lab 8, the HIV trial: what may one publish about the people of a real study?"""

import marimo

__generated_with = "0.25.2"
app = marimo.App(width="medium", app_title="A trial of HIV drugs")

with app.setup:
    import gymnasium as gym
    import marimo as mo

    from dp_bandit_envs import Ledger, make_algorithm, play, simulate
    from dp_bandit_envs.adversaries.trial import TREATMENTS, Trial
    from dp_bandit_envs.course.checks.check_hiv import CASES, check_epsilon_of_a_round, check_publishing
    from dp_bandit_envs.errors import BudgetSpentError


@app.cell(hide_code=True)
def _():
    study = Trial()
    patients = [532, 522, 524, 561]
    mo.md(
        r"""
    # Lab 8: a trial of HIV drugs

    **What may one publish about the people of a real study?**

    In 1996, 2,139 people with HIV were given one of four treatments by chance (ACTG 175, Hammer et al.). A gain of 1: no
    event until the end of the study, which is that the CD4 count halves, AIDS, or death. These records have been public for years, so nothing that
    you do here can harm anyone; we treat them as if they were secret.

    | treatment | patients | without an event |
    | --- | ---: | ---: |
    """
        + "\n".join(
            f"    | {name} | {number} | {mean:.1%} |"
            for name, number, mean in zip(TREATMENTS, patients, study.means, strict=True)
        )
        + r"""

    A bandit runs the trial again: each round is a patient who arrives, each arm a treatment, and it pays the recorded outcomes of
    its own patients, in random order. Three arms are better than the first. By chance three of four patients would get
    one of them: 1,604 of 2,139.

    **What is published:** which treatment was given in each round. **What epsilon protects:** the outcome in one round, from whoever reads
    that. But a record comes back when those of its arm are used up: 522 records for up to 2,139 rounds.
    One patient can serve in five rounds, and what holds for a patient is $5\,\epsilon$.
    """
    )
    return


@app.cell(hide_code=True)
def _():
    prediction = mo.ui.radio(
        {"about 1,600: no better than chance": 1600, "about 1,850": 1850, "about 2,100: nearly all": 2100},
        label="Of 2,139 patients, one of the better treatments goes to …",
    )
    mo.vstack(
        [
            mo.md(r"""
            ## Predict first

            You promise every *patient* $\epsilon = 1$, so that a round may cost 0.2, and let DP-KLUCB choose the treatments. On
            average, how many patients get one of the three better ones?
            """),
            prediction,
        ]
    )
    return (prediction,)


@app.cell
def _():
    # The seed is secret and never written down, as it has to be for real data: each run of this page is a new one.
    def rerun_trial(name, promise, trials=100):
        """Let an algorithm choose the treatments in many re-runs, at this epsilon for a patient."""
        algorithm = make_algorithm(name, epsilon=promise / 5)
        return simulate("DPBandit-Trial-v0", [algorithm], trials=trials, seed=None)[name]

    def better(outcome):
        """Return how many patients got one of the three better treatments, on average over the re-runs."""
        return outcome.pulls[:, 1:].sum(axis=1).mean()

    return better, rerun_trial


@app.cell(hide_code=True)
def _(better, prediction, rerun_trial):
    mo.stop(
        prediction.value is None and mo.app_meta().mode != "script",
        mo.md("*Choose an answer, and the trial is run 100 times. Compiling takes about five seconds, once.*"),
    )
    with mo.status.spinner("compiling, about 5 seconds, once; then playing"):
        asked = better(rerun_trial("DP-KLUCB", 1.0))
        per_round = better(rerun_trial("DP-KLUCB", 5.0))
    mo.md(
        f"**{asked:,.0f}** of 2,139, in the mean of 100 re-runs. Had you put $\\epsilon = 1$ into the algorithm as it"
        f" stands, it would be {per_round:,.0f}; but that is $\\epsilon = 5$ for a patient: what they told you could make a"
        " published list $e^5 \\approx 148$ times as likely, instead of $e \\approx 2.7$ times."
    )
    return (asked,)


@app.cell(hide_code=True)
def _(asked):
    assert asked  # the sliders come after the prediction
    algorithm = mo.ui.dropdown(
        ["DP-KLUCB", "DP-IMED", "Batched-Lap-HTINF", "DP-EXP3-Lap"], value="DP-KLUCB", label="algorithm"
    )
    promise = mo.ui.slider(steps=[0.25, 0.5, 1.0, 2.5, 5.0, 10.0], value=1.0, label="epsilon of a patient", show_value=True)
    spent = []
    mo.vstack(
        [
            mo.md("""
            ## Try it

            Which algorithm would you recommend to the doctors, and at which epsilon? Look at the bad re-runs as well: a trial is run once.
            """),
            algorithm,
            promise,
        ]
    )
    return algorithm, promise, spent


@app.cell(hide_code=True)
def _(algorithm, better, promise, rerun_trial, spent):
    outcome = rerun_trial(algorithm.value, promise.value)
    spent.append(100 * promise.value)
    mo.vstack(
        [
            treatments_given(outcome),
            mo.Html(
                f'<p id="answer">On average <b>{better(outcome):,.1f}</b> of 2,139 patients get a better treatment'
                f" (chance: 1,604). Epsilon is {promise.value:g} for a patient, {promise.value / 5:g} a round."
                f" This page has shown {100 * len(spent):,} games of these patients since you predicted: if all were published, epsilon"
                f" = {sum(spent):,.0f} for a patient, which protects nobody.</p>"
            ),
        ]
    )
    return


@app.function(hide_code=True)
def treatments_given(outcome):
    """Draw in how many patients of each re-run got a better treatment."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6, 2.4), layout="constrained")
    axes = figure.subplots()
    axes.hist(outcome.pulls[:, 1:].sum(axis=1), bins=range(700, 2160, 20), color="#0072B2")
    axes.axvline(1604, color="#7F7F7F", linestyle="--")
    axes.text(1604, 0.97, "chance ", ha="right", va="top", transform=axes.get_xaxis_transform())
    axes.set(xlabel="patients on one of the better treatments", ylabel="re-runs of 100", xlim=(700, 2139))
    return figure


@app.cell(hide_code=True)
def _(asked):
    assert asked
    mo.md(r"""
    ## A budget that says no

    The number of games in the last line was for you to count. A *ledger* counts by itself: it belongs to the data, every game enters it before its first
    round, and it refuses a game that would break the promise, or one with a seed that somebody knows.
    """)
    return


@app.cell
def _(asked):
    assert asked
    ledger = Ledger(epsilon=3, unit="person")
    trial = gym.make("DPBandit-Trial-v0", ledger=ledger)
    lines = []
    for game in (1, 2, 3, 4):
        try:
            play(trial, make_algorithm("DP-KLUCB", epsilon=0.2), seed=None)
            lines.append(f"{game}. played; spent so far: epsilon = {ledger.spent.epsilon:.3g} for a patient")
        except BudgetSpentError as refusal:
            lines.append(f"{game}. refused: {refusal}")
    mo.md("\n".join(lines))
    return


@app.cell(hide_code=True)
def _(asked):
    assert asked
    mo.md(r"""
    ## Task 1: the epsilon of a round

    Other doctors have other numbers. You promise `promise` to every patient; `patients` is a list of how many records
    each treatment has; there are `rounds` rounds; an arm goes through all of its records before one comes back. What
    is the largest epsilon that a round may cost? For this trial: `epsilon_of_a_round(1.0, [532, 522, 524, 561], 2139)` is 0.2.

    (To write code, open this lab with `dp-bandit lab hiv-trial`; a read-only page takes no code.)
    """)
    return


@app.function
def epsilon_of_a_round(promise, patients, rounds):
    """Return the epsilon of a round that keeps the promise to every patient."""
    return ...


@app.cell(hide_code=True)
def _():
    check_epsilon_of_a_round(epsilon_of_a_round)
    return


@app.cell(hide_code=True)
def _(asked):
    assert asked
    mo.md(
        "## Task 2: may this be published?\n\n"
        "Write True if what they claim is true for every patient, else False. (Draws of noise are floats and add a delta"
        " below 1e-8; leave that aside.)\n\n" + "\n".join(f"- **{letter}.** {case.says}" for letter, case in CASES.items())
    )
    return


@app.cell
def _():
    decisions = {
        "A": None,
        "B": None,
        "C": None,
        "D": None,
        "E": None,
        "F": None,
        "G": None,
    }
    return (decisions,)


@app.cell(hide_code=True)
def _(decisions):
    check_publishing(decisions)
    return


@app.cell(hide_code=True)
def _(asked):
    assert asked
    mo.md(r"""
    ## What you have seen

    - A guarantee for a round is not one for a person: count in how many rounds they can serve, and divide.
    - Every game on the same data costs again, also those that you only looked at; a ledger counts them.
    - Noise protects if its seed is secret (`seed=None`), and only what went through it: exact numbers beside it are not covered.

    **Read on:** `docs/real-data.md` (your own data), `docs/ledger.md`, `docs/advice.md` (which algorithm for a study of your
    size), `docs/guarantees.md`.
    """)
    return


if __name__ == "__main__":
    app.run()
