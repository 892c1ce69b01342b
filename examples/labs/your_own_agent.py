"""Lab 9, your own agent: can you beat the algorithms of the papers?"""

import marimo

__generated_with = "0.25.2"
app = marimo.App(width="medium", app_title="Your own agent")

with app.setup:
    import math
    from typing import NamedTuple

    import marimo as mo
    import numpy as np

    from dp_bandit_envs import Algorithm, LaplaceClipRescale, make_algorithm, simulate
    from dp_bandit_envs.agents import FunctionalAgent
    from dp_bandit_envs.agents.functional import Functions
    from dp_bandit_envs.arithmetic import exp, log
    from dp_bandit_envs.course.checks.check_own_agent import check_own_agent
    from dp_bandit_envs.course.greedy_agent import Greedy
    from dp_bandit_envs.course.leagues import hidden_game
    from dp_bandit_envs.course.submission_file import save_submission


@app.cell(hide_code=True)
def _():
    mo.md(r"""
    # Lab 9: your own agent

    **Can you beat the algorithms of the papers?**

    Four coins with unknown chances, new ones in every game; 10,000 rounds; a round pays what the arm shows, 0 or 1. Your
    agent never sees a gain. It sees the gain with Laplace noise, cut and rescaled to $[0, 1]$: that is what is *released*.

    *What epsilon protects*: the gains of one round, from whoever sees all released gains and all arms. The wrapper does that, and
    nothing that you write in an agent can undo it, as long as the agent sees released gains only. So you are free to try
    anything.

    The agent to beat is **greedy**: it plays the arm with the best average so far, and in one round of ten any arm.
    """)
    return


@app.cell(hide_code=True)
def _():
    prediction = mo.ui.radio(
        {
            "never: the noise makes it look around enough": 0.0,
            "in one round of twenty": 0.05,
            "in one round of three: noise needs many looks": 0.33,
        },
        label="Greedy loses least at ε = 1 if it tries any arm …",
    )
    mo.vstack([mo.md("## Predict first\n\nHow often should greedy try any arm, rather than the best so far?"), prediction])
    return (prediction,)


@app.cell
def _():
    def private(epsilon):
        """Return the wrapper that puts noise on every gain."""
        return lambda env: LaplaceClipRescale(env, epsilon=epsilon)

    def play_greedy(shares, epsilon, trials=100):
        """Play greedy at some shares of exploration in the same games, and DP-EXP3-Lap beside it."""
        players = {
            f"greedy, {share:.0%}": Algorithm(f"greedy {share}", lambda share=share: Greedy(share), private(epsilon))
            for share in shares
        }
        players["DP-EXP3-Lap"] = make_algorithm("DP-EXP3-Lap", epsilon=epsilon)
        return simulate(hidden_game, players, trials=trials, seed=9)

    def regret(outcome):
        """Return the mean regret at the end."""
        return outcome.pseudo_regret[:, -1].mean()

    return play_greedy, private, regret


@app.cell(hide_code=True)
def _(play_greedy, prediction, regret):
    mo.stop(
        prediction.value is None and mo.app_meta().mode != "script",
        mo.md("*Choose an answer, and the games are played. Compiling takes about five seconds, once.*"),
    )
    with mo.status.spinner("compiling, about 5 seconds, once; then playing"):
        three = play_greedy((0.0, 0.05, 0.33), 1.0, trials=400)
    told = ", ".join(f"{name}: **{regret(outcome):,.0f}**" for name, outcome in three.items())
    mo.md(
        f"Mean regret of 400 games: {told}. Without exploration, one bad look at the best arm is enough to leave it for"
        " good; with much of it, the agent goes on paying for what it knows. DP-EXP3-Lap would cope with an adversary"
        " as well, and pays for that here."
    )
    return (three,)


@app.cell(hide_code=True)
def _(three):
    assert three  # the sliders come after the prediction
    share = mo.ui.slider(steps=[0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5], value=0.1, label="any arm", show_value=True)
    privacy = mo.ui.slider(steps=[0.1, 0.3, 1.0, 3.0, 10.0], value=1.0, label="epsilon", show_value=True)
    mo.vstack([mo.md("## Try it\n\nDoes the best share depend on epsilon? Why?"), share, privacy])
    return privacy, share


@app.cell(hide_code=True)
def _(play_greedy, privacy, regret, share):
    games = play_greedy((share.value,), privacy.value)
    own, exp3 = games.values()
    mo.vstack(
        [
            games.plot("pseudo_regret"),
            mo.Html(
                f'<p id="answer">Mean regret of greedy: <b>{regret(own):,.1f}</b>, of DP-EXP3-Lap:'
                f" {regret(exp3):,.1f}; 100 games.</p>"
            ),
        ]
    )
    return


@app.cell(hide_code=True)
def _(three):
    assert three
    mo.md(r"""
    ## Task: your agent

    The next cell holds greedy. Change it until it beats greedy. There are three parts:

    - `State`: what the agent remembers, arrays of float64 or int64 and numbers. A number that changes is an array of length 1.
    - `select(state, rng)` returns an arm; every random number comes from `rng`.
    - `update(state, arm, seen)` learns: `seen.gains[arm]` is the released gain, if `seen.observed[arm]` is 1.

    They are compiled: use single numbers, `math`, `exp`, `log`, loops; no `state.sums + 1`, no lists, no dicts. The check
    first lets `check_agent` look for broken rules, then plays 40 *leagues* of 25 hidden games against greedy. The smaller
    mean regret wins a league; 33 have to be won. It takes about ten seconds.

    Ideas: try every arm for a while, and then only the best. Or be optimistic: add to each average a width that shrinks
    as the arm is played. How wide is the noise after it is cut and rescaled?

    (To write code, open this lab with `dp-bandit lab your-own-agent`; a read-only page takes no code.)
    """)
    return


@app.cell
def _():
    class State(NamedTuple):
        sums: np.ndarray  # released gains, one number an arm
        counts: np.ndarray  # how many they are
        round: np.ndarray  # rounds played, one number

    def select(state, rng):
        n_arms = len(state.sums)
        if rng.random() < 0.1:
            return int(rng.random() * n_arms)
        best, highest = 0, -1.0
        for arm in range(n_arms):
            average = state.sums[arm] / state.counts[arm] if state.counts[arm] > 0 else 2.0
            if average > highest:
                best, highest = arm, average
        return best

    def update(state, arm, seen):
        state.round[0] += 1.0
        if seen.observed[arm] == 1:
            state.sums[arm] += seen.gains[arm]
            state.counts[arm] += 1.0
        return state

    class MyAgent(FunctionalAgent):
        functions = Functions(select, update)

        def initial_state(self, n_arms, horizon):
            return State(np.zeros(n_arms), np.zeros(n_arms), np.zeros(1))

    return (MyAgent,)


@app.cell
def _():
    check_now = mo.ui.run_button(label="Check my agent")
    check_now
    return (check_now,)


@app.cell(hide_code=True)
def _(MyAgent, check_now):
    mo.stop(not check_now.value, mo.md("*Press the button when your agent is ready.*"))
    with mo.status.spinner("compiling your agent, then 1,000 games: about ten seconds"):
        checked = check_own_agent(MyAgent)
    mo.vstack([checked])
    return


@app.cell(hide_code=True)
def _(three):
    assert three
    file_name = mo.ui.text(label="Name of your agent", value="my_agent")
    save_now = mo.ui.run_button(label="Save for the tournament")
    mo.vstack([mo.md("## Enter the tournament"), file_name, save_now])
    return file_name, save_now


@app.cell(hide_code=True)
def _(MyAgent, file_name, save_now):
    mo.stop(not save_now.value, mo.md("*The file goes to the folder `submissions`; hand it in, or play it there.*"))
    mo.vstack([save_submission(MyAgent, file_name.value)])
    return


@app.cell(hide_code=True)
def _(three):
    assert three
    mo.md(r"""
    ## What you have seen

    - Noise makes each look at an arm worth less: exploring has to be longer, but it still has to end.
    - A mean of a few games says little; leagues and intervals say who is better.
    - The guarantee is the wrapper's: it holds for your agent as it does for those of the papers.

    **Read on:** `docs/own-agent.md` (agents that learn from sums, which lose much less), `docs/conformance.md`, `docs/tournament.md`.
    """)
    return


if __name__ == "__main__":
    app.run()
