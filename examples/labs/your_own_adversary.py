"""Lab 10: which game hurts a private learner most?"""

import marimo

__generated_with = "0.25.2"
app = marimo.App(width="medium", app_title="Your own adversary")


@app.cell(hide_code=True)
def _():
    import math

    import marimo as mo
    import numpy as np

    from dp_bandit_envs import Adversary, simulate
    from dp_bandit_envs.course.checking import judged
    from dp_bandit_envs.course.lab_own_adversary import (
        PROVEN,
        SEED,
        TRIALS,
        VICTIM,
        Turn,
        bound,
        check_own_adversary,
        learners,
        mean_and_error,
        ranking,
        regrets,
    )
    from dp_bandit_envs.course.notebooks import begin, you_said

    slider = begin(mo)
    return (
        Adversary,
        PROVEN,
        SEED,
        TRIALS,
        Turn,
        VICTIM,
        bound,
        check_own_adversary,
        judged,
        learners,
        math,
        mean_and_error,
        mo,
        np,
        ranking,
        regrets,
        simulate,
        slider,
        you_said,
    )


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    # Your own adversary

    Until now somebody else wrote the games, and you looked for a good learner. Now you are the other side: an
    **adversary** writes down what four arms pay in 4,000 rounds, gains in [0, 1], before a private learner plays. It
    knows the learner's code and its epsilon, but not the noise.

    The learner is **DP-KLUCB** at epsilon = 1, the best of lab 2. The adversary is judged by the learner's **regret**:
    what the best fixed arm pays in all rounds, less what the learner gets. To make all arms bad gains nothing; one arm
    has to be good, and the learner elsewhere.

    There is a proof that DP-KLUCB's regret is small if arms are coins whose chances stay as they are. About other games
    it says nothing.
    """)
    return


@app.cell(hide_code=True)
def _(mo):
    guess = mo.ui.radio(
        [
            "below 0: it changes to the second arm in time, which no fixed arm does",
            "about 90, as against coins: it notices that an arm has become better",
            "about 600: it looks away from arms that were bad",
        ],
        label="One arm pays with chance .5 and three with .4. After half of the rounds, one of the three begins to pay"
        " always. The mean regret of DP-KLUCB is ...",
    )
    mo.vstack([mo.md("## Predict"), guess])
    return (guess,)


@app.cell(hide_code=True)
def _(PROVEN, Turn, VICTIM, bound, guess, mo, regrets, you_said):
    mo.stop(guess.value is None, mo.md("*Choose one; then the answer appears.*"))
    with mo.status.spinner(title="Compiling two learners: about 10 seconds, once on this machine"):
        lost = {name: each.mean() for name, each in regrets(Turn()).items()}
    said = you_said(
        guess.value,
        {
            "below 0: it changes to the second arm in time, which no fixed arm does": lost[VICTIM] < 0,
            "about 90, as against coins: it notices that an arm has become better": 0 <= lost[VICTIM] < 250,
            "about 600: it looks away from arms that were bad": lost[VICTIM] >= 250,
        },
    )
    mo.md(
        f"{said} DP-KLUCB loses **{lost[VICTIM]:,.0f}**. It reads the released sums of an arm again"
        " only after playing this arm, and by then an arm that looked bad is played rarely: what it has become stays"
        f" unseen for long. {PROVEN} at epsilon = 10 loses {lost[PROVEN]:,.0f} here, and there is a proof that *no*"
        f" list of gains takes more than {bound(PROVEN):,.0f} from it, on average."
    )
    return


@app.cell(hide_code=True)
def _(mo, slider):
    share = slider("share of the rounds before the turn", 0.5, [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8])
    leader = slider("chance of the arm that is ahead first", 0.5, [0.45, 0.5, 0.6, 0.7, 0.8])
    return leader, share


@app.cell(hide_code=True)
def _(SEED, TRIALS, Turn, guess, leader, learners, mean_and_error, mo, share, simulate):
    mo.stop(guess.value is None)
    turn = Turn(share=share.value, leader=leader.value)
    games = simulate(turn, learners(), trials=TRIALS, checkpoints=40, seed=SEED)
    words = ", ".join(f"{name} {mean_and_error(one.external_regret[:, -1])}" for name, one in games.items())
    mo.vstack(
        [
            mo.md("## Try it"),
            mo.hstack([share, leader], justify="start", wrap=True),
            mo.Html(f'<p id="answer">Mean regret of {TRIALS:,} games, ± standard error: {words}.</p>'),
            games.plot("external_regret", columns=1),
        ]
    )
    return


@app.cell(hide_code=True)
def _(guess, mo):
    mo.stop(guess.value is None)
    mo.md("""
    Find out, and write down:

    1. Where is DP-KLUCB's regret largest, and where is it hardly any? What does a turn too early, or too late, cost the
       adversary?
    2. With a better first leader (.7), an early turn hurts DP-KLUCB, and a late one not at all. Which arm is the best
       fixed one then?
    3. Does any setting take more from the learner with the proof than its bound? How near does one come?
    """)
    return


@app.cell
def _():
    # Your answers, for whoever collects them: what you predicted, and each question by its number.
    written_down = {"prediction": "", 1: "", 2: "", 3: ""}
    return (written_down,)


@app.cell(hide_code=True)
def _(mo):
    mo.stop(mo.app_meta().mode == "run", mo.md("*Read-only: the task is in `dp-bandit lab your-own-adversary`.*"))
    mo.md(r"""
    ## Task: a harder game

    The next cell holds an adversary of coins whose chances stay. Change it until DP-KLUCB loses more in your game than
    in the hardest one of lab 1, coins of which each outcome lasts 200 rounds.

    - `begin(self, rng)` starts a game; every random number comes from this `rng`.
    - `next_gains(self, rounds)` returns what the arms pay in the next rounds, an array `(rounds, n_arms)` of numbers in
      [0, 1]. It is called several times in a game, with any number of rounds: keep in `self` how far the game is.

    The check looks for broken rules first, by `check_adversary`. Then DP-KLUCB plays 40 leagues of 25 games of yours
    and of lab 1's. The game with the larger mean regret wins a league, and 33 have to be won.

    A loop that never ends is stopped by the yellow square at the bottom right, marimo's stop button.
    """)
    return


@app.cell
def _(Adversary, np):
    # np and math are imported already; do not import them again.
    class MyAdversary(Adversary):
        def begin(self, rng):
            self.rng = rng
            self.t = 0  # rounds so far
            self.order = rng.permutation(self.n_arms)  # who is who is drawn, as a learner may like low numbers

        def next_gains(self, rounds):
            chances = np.full((rounds, self.n_arms), 0.4)
            chances[:, 0] = 0.5
            self.t += rounds
            gains = self.rng.random((rounds, self.n_arms)) < chances
            return gains[:, self.order].astype(float)

    return (MyAdversary,)


@app.cell(hide_code=True)
def _(mo):
    mo.stop(mo.app_meta().mode == "run")
    check_now = mo.ui.run_button(label="Check my adversary")
    rank_now = mo.ui.run_button(label="Rank it")
    mo.hstack([check_now, rank_now], justify="start", wrap=True)
    return check_now, rank_now


@app.cell(hide_code=True)
def _(MyAdversary, check_now, check_own_adversary, judged, mo):
    mo.stop(not check_now.value, mo.md("*Press the first button when your adversary is ready.*"))
    with mo.status.spinner(title="The rules, then 2,000 games: about two seconds, once the learners are compiled"):
        verdict = judged(check_own_adversary, lambda: MyAdversary, seconds=300)
    mo.vstack([verdict])
    return


@app.cell(hide_code=True)
def _(MyAdversary, mo, rank_now, ranking):
    mo.stop(
        not rank_now.value,
        mo.md(
            "*The second one ranks it among the opponents of lab 1, beside what is proven for every game, by the"
            " check's 1,000 games of each.*"
        ),
    )
    with mo.status.spinner(title="1,000 games of each opponent: about three seconds, once the learners are compiled"):
        table = ranking({"yours": MyAdversary})
    mo.md(f"{table}\n\nMean regrets of 1,000 games ± standard error: the numbers of the check.")
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    ## What you have seen

    - A small regret on coins promises nothing elsewhere: who follows averages can be led astray by gains that turn.
    - A bound for every game is dear (with a tenth of the noise, that learner loses more in most games of lab 1), and it
      is the only thing that an adversary cannot get around.
    - Regret is against one arm for the whole game: games that turn often may help the learner.

    Read on: `docs/own-adversary.md`, `docs/regret.md` and `docs/environments.md`.
    """)
    return


if __name__ == "__main__":
    app.run()
