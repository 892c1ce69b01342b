"""Lab 1: is there one best way to play against five different opponents?"""

import marimo

__generated_with = "0.25.2"
app = marimo.App(width="medium", app_title="What is a bandit?")


@app.cell(hide_code=True)
def _():
    import math
    import os

    import marimo as mo
    import numpy as np

    from dp_bandit_envs import make_algorithm, simulate
    from dp_bandit_envs.course.checking import judged
    from dp_bandit_envs.course.lab_bandits import MindReader, new_payments, scoreboard, six_rounds
    from dp_bandit_envs.course.notebooks import begin, you_said
    from dp_bandit_envs.envs.bandit_env import BanditEnv

    # Tests make the games smaller.
    LONGEST = int(os.environ.get("LAB_HORIZON", "10000"))
    TRIALS = 60
    LEARNERS = ["UCB", "EXP3", "Uniform"]
    OPPONENTS = {
        "Coins with fixed chances": "Stochastic",
        "Coins, new chances every round": "FullyOblivious",
        "Coins, each outcome lasts 200 rounds": "Oblivious",
        "Rhythms: every second or third round": "Deterministic",
        "Random walk; a change pays nothing": "Switching",
    }

    slider = begin(mo)
    return (
        BanditEnv,
        LEARNERS,
        LONGEST,
        MindReader,
        OPPONENTS,
        TRIALS,
        judged,
        make_algorithm,
        math,
        mo,
        new_payments,
        np,
        scoreboard,
        simulate,
        six_rounds,
        slider,
        you_said,
    )


@app.cell(hide_code=True)
def _(mo):
    mo.md("""
    # What is a bandit?

    There are three slot machines, the **arms**. In each **round** you pull one of them, and see what it pays: 1 or 0.
    What the others would have paid you never see. That is the whole game, and it is played wherever one of several
    options is chosen again and again: treatments in a clinic, advertisements on a page, routes of a packet.

    Play 30 rounds. You trade off two things: trying arms to learn about them, and playing the one that looks best.
    """)
    return


@app.cell(hide_code=True)
def _(mo):
    new_game = mo.ui.run_button(label="New game")
    return (new_game,)


@app.cell(hide_code=True)
def _(mo, new_game, new_payments):
    _ = new_game.value  # whoever presses the button runs this cell again
    payments = new_payments()
    get_pulled, set_pulled = mo.state([])
    return get_pulled, payments, set_pulled


@app.cell(hide_code=True)
def _(mo, new_game, payments, set_pulled):
    def pull(arm):
        set_pulled(lambda before: [*before, arm] if len(before) < len(payments) else before)

    arm_buttons = [mo.ui.button(label=f"pull arm {arm}", on_change=lambda _, arm=arm: pull(arm)) for arm in range(3)]
    mo.hstack([*arm_buttons, new_game], justify="start", wrap=True)
    return (arm_buttons,)


@app.cell(hide_code=True)
def _(get_pulled, mo, payments, scoreboard):
    mo.md(scoreboard(payments, get_pulled()))
    return


@app.cell(hide_code=True)
def _(mo, six_rounds):
    mo.stop(mo.app_meta().mode == "run", mo.md("*Read-only: the tasks are in `dp-bandit lab what-is-a-bandit`.*"))
    from dp_bandit_envs.course.lab_bandits import check_regret, check_six_rounds, check_ucb_index

    mo.md(f"""
## Task 1: a regret by hand

**Regret** is what the best single arm would have paid in all rounds, less what the player got. Here are six rounds of
somebody else. The player got the numbers in bold, and never saw the others.

{six_rounds()}

What is the regret? Type it in place of `None`, and press Ctrl + Enter (on a Mac, ⌘ + Enter) to run the cell.
""")
    return check_regret, check_six_rounds, check_ucb_index


@app.cell
def _():
    my_answer = None
    return (my_answer,)


@app.cell(hide_code=True)
def _(check_six_rounds, judged, my_answer):
    judged(check_six_rounds, lambda: my_answer)
    return


@app.cell(hide_code=True)
def _(LONGEST, OPPONENTS, mo):
    guess = mo.ui.radio(
        ["none of the five", "one or two of them", "four of them", "all five"],
        label=f"After {LONGEST:,} rounds of four arms, UCB has less regret than EXP3 against ...",
    )
    opponents = "\n".join(f"- {words}" for words in OPPONENTS)
    mo.vstack(
        [
            mo.md(f"""
## Predict

An **opponent** (an *adversary*) writes down beforehand what every arm pays in every round. Here are five:

{opponents}

The fifth also looks whether you changed your arm, which no list written beforehand can do; EXP3's proof does not count
that. And two learners:

- **UCB** follows averages. It plays the arm whose average, plus a bonus for arms tried rarely, is largest. There is a
  proof that its regret is small on average if the rounds are independent and an arm's mean gain never changes: the
  first two opponents. It says nothing about the others.
- **EXP3** draws an arm at random, likelier those with large (estimated) sums. There is a proof that its regret is small
  on average against *every* opponent who writes everything down beforehand.
"""),
            guess,
        ]
    )
    return (guess,)


@app.cell(hide_code=True)
def _(LEARNERS, LONGEST, OPPONENTS, TRIALS, guess, mo, simulate, you_said):
    mo.stop(guess.value is None, mo.md("*Choose one; then the answer appears.*"))

    def play_all(who, horizon):
        return simulate(f"DPBandit-{who}-v0", LEARNERS, horizon=horizon, trials=TRIALS, seed=1)

    by_opponent = {}
    progress = mo.status.progress_bar(
        list(OPPONENTS.items()), title="Compiling three learners against five opponents: about 30 seconds, once"
    )
    for words, who_writes in progress:
        games_of = play_all(who_writes, LONGEST)
        by_opponent[words] = {name: one.external_regret[:, -1].mean() for name, one in games_of.items()}
    lines = [
        f"| {words} | {' | '.join(f'{regret:,.0f}' for regret in regrets.values())} |"
        for words, regrets in by_opponent.items()
    ]
    better = sum(regrets["UCB"] < regrets["EXP3"] for regrets in by_opponent.values())
    said = you_said(
        guess.value,
        {
            "none of the five": better == 0,
            "one or two of them": better in (1, 2),
            "four of them": better == 4,
            "all five": better == 5,
        },
    )
    mo.md(
        f"{said} Mean regret in {TRIALS} games:\n\n"
        + "\n".join([f"| | {' | '.join(LEARNERS)} |", "| :-- | --: | --: | --: |", *lines])
        + f"\n\nUCB is better than EXP3 against **{better} of 5**. Uniform draws every arm alike and learns nothing."
    )
    return (play_all,)


@app.cell(hide_code=True)
def _(LONGEST, OPPONENTS, mo, slider):
    opponent = mo.ui.dropdown(OPPONENTS, value=next(iter(OPPONENTS)), label="opponent")
    horizon = slider("rounds T", LONGEST, [LONGEST // share for share in (20, 10, 5, 2, 1)])
    return horizon, opponent


@app.cell(hide_code=True)
def _(LEARNERS, horizon, make_algorithm, mo, opponent, play_all):
    games = play_all(opponent.value, horizon.value)
    bound = make_algorithm("EXP3").regret_bound(n_arms=4, horizon=horizon.value)
    regrets_now = ", ".join(f"{name} {games[name].external_regret[:, -1].mean():,.1f}" for name in LEARNERS)
    picture = games.plot("external_regret", columns=1)
    for text in picture.legends[0].get_texts():
        text.set_text(text.get_text().split(" (")[0])  # without epsilon, which lab 2 introduces
    charge = " (EXP3's proof does not count what changes of arm cost.)" if opponent.value == "Switching" else ""
    mo.vstack(
        [
            mo.md("## Try it"),
            mo.hstack([opponent, horizon], justify="start", wrap=True),
            mo.Html(
                f'<p id="answer">Mean regret after {horizon.value:,} rounds: {regrets_now}. EXP3 is proven to stay'
                f" below {bound:,.0f}.{charge}</p>"
            ),
            picture,
        ]
    )
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md("""
    Find out, and write down:

    1. From T to 2T, does UCB's regret double? EXP3's? That of Uniform?
    2. Against which opponent is a regret negative, and how can that be? (What does regret compare with?)
    3. Where changes of arm are free, EXP3 stays well below its bound. Why would one still want the proof?
    4. Why is EXP3 so bad when a change of arm pays nothing? (That is lab 3.)
    """)
    return


@app.cell
def _():
    # Your answers, for whoever collects them: what you predicted, and each question by its number.
    written_down = {"prediction": "", 1: "", 2: "", 3: "", 4: ""}
    return (written_down,)


@app.cell(hide_code=True)
def _(mo):
    second_guess = mo.ui.radio(
        ["small, about 100", "about 1,000", "about 3,000"],
        label="UCB draws no random numbers. So an opponent who has its code can work out beforehand which arm UCB will"
        " play in each round, and let that arm pay 0 and all others 1. UCB's regret after 4,000 rounds is ...",
    )
    mo.vstack([mo.md("## A sixth opponent: the mind reader"), second_guess])
    return (second_guess,)


@app.cell(hide_code=True)
def _(BanditEnv, LEARNERS, MindReader, mo, second_guess, simulate, you_said):
    mo.stop(second_guess.value is None, mo.md("*Choose one; then the answer appears.*"))
    read = simulate(lambda: BanditEnv(MindReader(4, 4_000)), LEARNERS, trials=20, seed=1)
    lost = {name: one.external_regret[:, -1].mean() for name, one in read.items()}
    second_said = you_said(
        second_guess.value,
        {
            "small, about 100": lost["UCB"] < 300,
            "about 1,000": 300 <= lost["UCB"] < 1_700,
            "about 3,000": lost["UCB"] >= 1_700,
        },
    )
    mo.md(
        f"{second_said} The best arm pays 3,000, and UCB gets nothing. Regrets: "
        + ", ".join(f"{name} has {regret_of:,.0f}" for name, regret_of in lost.items())
        + ". Whoever can be predicted can be cheated; EXP3 and Uniform draw their arms at random, and nobody can write"
        " down beforehand which. Randomness will protect in another way too: from lab 2 on, it hides what was learnt."
    )
    return


@app.cell(hide_code=True)
def _(mo):
    mo.stop(mo.app_meta().mode == "run")
    mo.md("""
    ## Task 2: regret of any game

    Write the regret of one game as a function.

    A loop that never ends is stopped by the yellow square at the bottom right, marimo's stop button.
    """)
    return


@app.cell
def _():
    # np and math are imported already; do not import them again.
    def regret(gains, arms):
        # gains: array (T, K), what each of K arms would have paid in each of T rounds, in [0, 1].
        # arms: array (T,), the arms that were played, numbers from 0 to K - 1. Return one number.
        ...

    return (regret,)


@app.cell(hide_code=True)
def _(check_regret, judged, regret):
    judged(check_regret, lambda: regret)
    return


@app.cell(hide_code=True)
def _(mo):
    mo.stop(mo.app_meta().mode == "run")
    mo.md(r"""
    ## Task 3: UCB's index

    Write the heart of a learner. Before each round UCB gives every arm a number, its **index**, and plays the arm with
    the largest: the average of the gains that the arm has paid, plus a bonus of $\sqrt{2 \ln t / n}$. Here $n$ counts
    how often the arm was played, and $t$ all rounds so far. Which arms get a large bonus?
    """)
    return


@app.cell
def _():
    # np and math are imported already; do not import them again.
    def ucb_index(total, n, t):
        # total: the sum of the arm's gains. n: how many they are, from 1. t: rounds so far, from n. Return one number.
        ...

    return (ucb_index,)


@app.cell(hide_code=True)
def _(check_ucb_index, judged, ucb_index):
    judged(check_ucb_index, lambda: ucb_index)
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md("""
    ## What you have seen

    - A bandit learner sees the gain of its own arm only, and is judged by regret: against the best *single* arm.
    - Following averages is best when arms are coins, and good against much else; but whoever can be predicted can lose
      everything, and randomness protects.
    - A proof "against every opponent" is about the worst one, and says little about a given one.

    Read on: `docs/first-game.md`, `docs/environments.md`, and `dp-bandit show EXP3`.
    """)
    return


if __name__ == "__main__":
    app.run()
