"""Lab 7, experts: why is privacy nearly free when every gain is seen?"""

import marimo

__generated_with = "0.25.2"
app = marimo.App(width="medium", app_title="Experts")

with app.setup:
    import math

    import marimo as mo
    import numpy as np

    from dp_bandit_envs import Algorithm, CounterSums, make_algorithm, simulate
    from dp_bandit_envs.course.checks.check_experts import check_noise_scale, check_probabilities


@app.cell(hide_code=True)
def _():
    mo.md(r"""
    # Lab 7: Experts

    **Why is privacy nearly free when every gain is seen?**

    A magazine asks readers a question that nobody would answer in public. Ten rules (*experts*) guess each answer before it
    arrives. A round is one reader: you follow one rule, and then the answer shows which of the ten were right. So a round
    reveals the gains of **all** experts. In a bandit game it reveals one.

    *Regret*: how many right guesses you are behind the best rule after $T$ rounds.

    *What epsilon protects here*: one reader's answer, which is one round, from whoever sees all the rules that were
    followed. If the answer were another one, no list of rules that you could have followed would become more than $e^\epsilon$ times as
    likely.
    """)
    return


@app.cell(hide_code=True)
def _():
    mo.md(r"""
    ## Three learners

    | learner | what it sees |
    | --- | --- |
    | `Hedge` | the sum of each expert's gains so far; it takes an expert with probability proportional to $e^{a \cdot \text{sum}}$ |
    | noise on sums | the same Hedge; the sums are published with noise, by a tree of partial sums (lab 4) |
    | noise on rounds | the same Hedge; every gain of every round gets noise of its own, and the sums are made of that |

    The best expert is ahead by $2\sqrt{\ln 10 / T}$: just so little that it can hardly be found in $T$ rounds without
    privacy. So no length of the game is easier than another.
    """)
    return


@app.cell
def _():
    SUMS, ROUNDS = "noise on sums", "noise on rounds"

    def learners(epsilon):
        """Return the three learners, the last two private at this epsilon."""
        return [
            make_algorithm("Hedge"),
            make_algorithm("AS-FTRL", epsilon=epsilon, counter="k-ary", noise="own-norm", label=SUMS),
            make_algorithm("Noisy-Hedge", epsilon=epsilon, label=ROUNDS),
        ]

    def play_experts(rounds, epsilon, seed=7):
        """Play many games of this length; the longer they are, the fewer."""
        gap = 2 * math.sqrt(math.log(10) / rounds)
        means = [0.5 + gap / 2] + [0.5 - gap / 2] * 9
        trials = max(20, min(200, 2**19 // rounds))
        return simulate(
            "DPBandit-Experts-v0",
            learners(epsilon),
            horizon=rounds,
            trials=trials,
            seed=seed,
            env_kwargs={"means": means},
        )

    def price(games, name):
        """Return the mean regret of a learner over that of Hedge."""
        regret = {key: outcome.pseudo_regret[:, -1].mean() for key, outcome in games.items()}
        return regret[name] / regret["Hedge"]

    return ROUNDS, SUMS, play_experts, price


@app.cell(hide_code=True)
def _():
    prediction = mo.ui.radio(
        {"about 10 times": 10, "about 3 times, as before": 3, "less than twice": 2},
        label="With noise on the **sums**, in 65,536 rounds, the regret is …",
    )
    mo.vstack(
        [
            mo.md(r"""
            ## Predict first

            At $\epsilon = 1$, in games of 1,024 rounds, both private learners have three to four times the regret of Hedge. Now
            the magazine asks 64 times as many readers: $T = 65{,}536$. By how much is the regret with privacy larger than
            without?
            """),
            prediction,
        ]
    )
    return (prediction,)


@app.cell(hide_code=True)
def _(ROUNDS, SUMS, play_experts, prediction, price):
    mo.stop(
        prediction.value is None and mo.app_meta().mode != "script",
        mo.md("*Choose an answer, and the games are played. Compiling takes about ten seconds, once on this machine.*"),
    )
    with mo.status.spinner("compiling, about 10 seconds, once; then playing"):
        lengths = [2**10, 2**12, 2**14, 2**16]
        played = [play_experts(length, 1.0) for length in lengths]
    prices = {name: [price(games, name) for games in played] for name in (SUMS, ROUNDS)}
    rows = [
        {"regret over that of Hedge": name, **{f"T = {n:,}": f"{ratio:.1f}" for n, ratio in zip(lengths, prices[name])}}
        for name in (SUMS, ROUNDS)
    ]
    mo.vstack(
        [
            mo.ui.table(rows, selection=None, show_column_summaries=False, show_download=False),
            mo.md(
                f"With noise on the sums, **{prices[SUMS][-1]:.1f} times** the regret at T = 65,536"
                + {2: ": as you said.", None: "."}.get(prediction.value, f", and not {prediction.value}.")
                + " With noise on the rounds nothing gets better, however long the game is."
            ),
        ]
    )
    return (prices,)


@app.cell(hide_code=True)
def _(prices):
    assert prices  # the sliders come after the prediction
    length = mo.ui.slider(steps=[2**k for k in range(10, 15)], value=2**12, label="rounds T", show_value=True)
    privacy = mo.ui.slider(steps=[0.1, 0.3, 1.0, 3.0, 10.0], value=1.0, label="epsilon", show_value=True)
    mo.vstack([mo.md("## Try it\n\nWhich of the two sliders makes privacy cheaper? For which learner?"), length, privacy])
    return length, privacy


@app.cell(hide_code=True)
def _(SUMS, ROUNDS, length, play_experts, price, privacy):
    games = play_experts(length.value, privacy.value)
    mo.vstack(
        [
            games.plot("pseudo_regret"),
            mo.Html(
                f'<p id="answer">Regret over that of Hedge: <b>{price(games, SUMS):.2f}</b> with noise on sums,'
                f" {price(games, ROUNDS):.2f} with noise on rounds.</p>"
            ),
        ]
    )
    return


@app.cell(hide_code=True)
def _(prices):
    assert prices
    mo.md(r"""
    ## Why

    How far is a sum with noise from the true one, at $\epsilon = 1$ with ten experts? Standard deviations, measured:

    | rounds | noise on sums | noise on rounds | regret of Hedge, at most |
    | ---: | ---: | ---: | ---: |
    | 1,024 | 64 | 453 | 34 |
    | 4,096 | 80 | 905 | 69 |
    | 16,384 | 121 | 1,810 | 137 |
    | 65,536 | 117 | 3,620 | 275 |

    A tree adds a few noise terms to each sum, a number that grows like a power of $\ln T$: the noise stands nearly still while
    the regret that nobody can avoid grows like $\sqrt T$. Noise on the rounds piles up as $\sqrt T$, as fast as
    the regret does.

    In a bandit game there is no such way out. A round tells of one arm, and an arm whose sum looks bad by chance is played less, so that
    its sum does not get better.
    """)
    return


@app.cell(hide_code=True)
def _(prices):
    assert prices
    mo.md(r"""
    ## Task 1: how much noise does a round need?

    All $K$ gains of a round are published, each with Laplace noise of its own, of scale $b$. One reader's answer decides all $K$ of
    them; each gain is in [0, 1]. How large must $b$ be, so that publishing the round is $\epsilon$-DP?

    Write the function. The cell below it says what it thinks of your answer.
    (To write code, open this lab with `dp-bandit lab experts`; a read-only page takes no code.)
    """)
    return


@app.function
def noise_scale(n_experts, epsilon):
    """Return the scale of the Laplace noise on each of the gains of a round."""
    return ...


@app.cell(hide_code=True)
def _():
    check_noise_scale(noise_scale)
    return


@app.cell(hide_code=True)
def _(prices):
    assert prices
    mo.md(r"""
    ## Task 2: one step of Hedge

    Write the heart of the learner: from the published sums $S_1, \dots, S_K$ and the learning rate $a$, the probabilities

    $$p_i = \frac{e^{a S_i}}{\sum_j e^{a S_j}}.$$

    `sums` is an array; noise may have made some of it negative, and after many rounds it may be large.
    """)
    return


@app.function
def probabilities(sums, learning_rate):
    """Return the probability of each expert, an array as long as `sums`."""
    return ...


@app.cell(hide_code=True)
def _():
    step = check_probabilities(probabilities)
    step
    return (step,)


@app.cell(hide_code=True)
def _(step):
    mo.stop(not step.passed, mo.md("*When your step is right, it plays a private game here.*"))

    class YourLearner:
        feedback = "full"

        def begin(self, *, n_arms, horizon, rng):
            self.sums, self.rng = np.zeros(n_arms), rng
            self.rate = math.sqrt(8 * math.log(n_arms) / horizon)

        def select_arm(self):
            return int(self.rng.choice(len(self.sums), p=probabilities(self.sums, self.rate)))

        def update(self, arm, observation):
            self.sums = observation["sum"]

    yours = Algorithm(
        "your learner",
        YourLearner,
        lambda env: CounterSums(env, counter="k-ary", noise="own-norm", epsilon=3.0),
    )
    with mo.status.spinner("your learner plays 20 private games in Python"):
        your_games = simulate("DPBandit-Experts-v0", [yours, "Hedge", "Uniform"], horizon=1024, trials=20, seed=1)
    mo.md(
        "Your step with noise on the sums, $\\epsilon = 3$, 1,024 rounds: it is behind the best expert by"
        + ", ".join(f" **{outcome.pseudo_regret[:, -1].mean():.0f}** ({name})" for name, outcome in your_games.items())
        + ". The guarantee is the wrapper's: whatever you had written, it would hold."
    )
    return


@app.cell(hide_code=True)
def _(prices):
    assert prices
    mo.md(r"""
    ## What you have seen

    - When every gain is seen, noise on the *sums* costs an amount that hardly grows with $T$, and regret grows like $\sqrt T$ anyway: privacy becomes free.
    - Noise on each *round* piles up like $\sqrt T$ and never becomes free; all $K$ gains of a round move together, so it is $K$ times that of one gain.
    - The guarantee belongs to what is published, not to the learner: Hedge is the same in all three.

    **Read on:** more learners are in `docs/experts-and-points.md`, longer games in `docs/reproductions/price-of-privacy.md`.
    Lab 8 asks who is protected when the data are real.
    """)
    return


if __name__ == "__main__":
    app.run()
