"""Lab 9: can you beat the algorithms of the papers?"""

import marimo

__generated_with = "0.25.2"
app = marimo.App(width="medium", app_title="Your own agent")


@app.cell(hide_code=True)
def _():
    import math
    from pathlib import Path
    from typing import NamedTuple

    import marimo as mo
    import numpy as np

    from dp_bandit_envs import Algorithm, LaplaceClipRescale, evaluate, make_algorithm, simulate
    from dp_bandit_envs.agents import FunctionalAgent
    from dp_bandit_envs.agents.functional import Functions
    from dp_bandit_envs.course.checking import judged
    from dp_bandit_envs.course.lab_own_agent import Greedy, check_own_agent, hidden_game, save_submission
    from dp_bandit_envs.course.notebooks import begin, you_said
    from dp_bandit_envs.draws import exp, log

    slider = begin(mo)
    return (
        Algorithm,
        FunctionalAgent,
        Functions,
        Greedy,
        LaplaceClipRescale,
        NamedTuple,
        Path,
        check_own_agent,
        evaluate,
        exp,
        hidden_game,
        judged,
        log,
        make_algorithm,
        math,
        mo,
        np,
        save_submission,
        simulate,
        slider,
        you_said,
    )


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    # Your own agent

    Four coins with unknown chances, new ones in each game, and 10,000 rounds. A round pays 1 or 0, but an agent never
    sees that gain. A **wrapper** adds Laplace noise to it, throws away what is far outside, and rescales the rest to
    [0, 1]: only this number is released.

    **Epsilon** protects the gains of each round, from whoever sees all released numbers and all arms. The wrapper sees
    to that. Nothing that you write in an agent can break it, as long as the agent sees released numbers only: what is
    computed from them is post-processing. So try whatever you like.

    The agent to beat is **greedy**. It plays the arm with the best average so far, and in one round of ten any arm.
    """)
    return


@app.cell(hide_code=True)
def _(mo):
    guess = mo.ui.radio(
        [
            "never: noise makes it look around enough",
            "in one round of twenty",
            "in one round of three: noise takes many looks",
        ],
        label="How often should greedy play any arm, instead of the best so far, to have the least regret at"
        " epsilon = 1?",
    )
    mo.vstack([mo.md("## Predict"), guess])
    return (guess,)


@app.cell(hide_code=True)
def _(Algorithm, Greedy, LaplaceClipRescale, guess, hidden_game, make_algorithm, mo, simulate, you_said):
    mo.stop(guess.value is None, mo.md("*Choose one; then the answer appears.*"))

    def play_greedy(shares, epsilon, trials):
        def private(env):
            return LaplaceClipRescale(env, epsilon=epsilon)

        players = {f"greedy {share:g}": Algorithm("Greedy", lambda s=share: Greedy(s), private) for share in shares}
        players["DP-EXP3-Lap"] = make_algorithm("DP-EXP3-Lap", epsilon=epsilon)
        return simulate(hidden_game, players, trials=trials, checkpoints=40, seed=9)

    def mean_regret(outcome):
        return outcome.pseudo_regret[:, -1].mean()

    with mo.status.spinner(title="Compiling two learners: about 5 seconds, once on this machine"):
        first = play_greedy((0, 0.05, 0.33), 1.0, 200)
    never, seldom, often, exp3 = map(mean_regret, first.values())
    least = min(never, seldom, often)
    said = you_said(
        guess.value,
        {
            "never: noise makes it look around enough": never == least,
            "in one round of twenty": seldom == least,
            "in one round of three: noise takes many looks": often == least,
        },
    )
    mo.md(
        f"{said} The mean regret is {never:,.0f} if it never does, **{seldom:,.0f}** in one round of"
        f" twenty, and {often:,.0f} in one of three. Without looking around, a few bad numbers at the beginning are"
        " enough to leave the best arm for good. With too much of it, the agent pays to the end for what it knows by"
        f" then. DP-EXP3-Lap has {exp3:,.0f}: it is made for opponents that are no coins."
    )
    return mean_regret, play_greedy


@app.cell(hide_code=True)
def _(mo, slider):
    share = slider("share of rounds with any arm", 0.1, [0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5])
    epsilon = slider("epsilon", 1.0, [0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0])
    return epsilon, share


@app.cell(hide_code=True)
def _(epsilon, mean_regret, mo, play_greedy, share):
    games = play_greedy((share.value,), epsilon.value, 100)
    greedy, other = games.values()
    mo.vstack(
        [
            mo.md("## Try it"),
            mo.hstack([share, epsilon], justify="start", wrap=True),
            mo.Html(
                f'<p id="answer">Mean regret of 100 games: greedy {mean_regret(greedy):,.1f}, DP-EXP3-Lap'
                f" {mean_regret(other):,.1f}; the worst game of greedy {greedy.pseudo_regret[:, -1].max():,.0f}.</p>"
            ),
            games.plot("pseudo_regret", columns=1),
        ]
    )
    return


@app.cell(hide_code=True)
def _(guess, mo):
    mo.stop(guess.value is None)
    mo.md("""
    Find out, and write down:

    1. Which share is best at epsilon = 0.2, and which at 10? Why?
    2. Greedy's line is straight after a while. What would an agent look like whose line bends down further?
    3. Where is the mean small but the worst game bad? Which of the two counts if you play once?
    """)
    return


@app.cell
def _():
    # Your answers, for whoever collects them: what you predicted, and each question by its number.
    written_down = {"prediction": "", 1: "", 2: "", 3: ""}
    return (written_down,)


@app.cell(hide_code=True)
def _(mo):
    mo.stop(mo.app_meta().mode == "run", mo.md("*Read-only: the task is in `dp-bandit lab your-own-agent`.*"))
    mo.md(r"""
    ## Task: beat greedy

    First a worked agent, and then your cell: it holds greedy. Change that until it wins.

    A loop that never ends is stopped by the yellow square at the bottom right, marimo's stop button.

    - `State` is what the agent remembers: arrays and numbers. A number that changes is an array of length 1.
    - `select(state, rng)` returns an arm; all random numbers come from `rng`.
    - `update(state, arm, seen)` learns: `seen.gains[arm]` was released if `seen.observed[arm]` is 1.

    The functions are compiled. Single numbers, loops, conditions, `math.sqrt`, `exp` and `log` are sure to work; lists,
    dicts and arithmetic with whole arrays may not be, and the check says so.

    The check looks for broken rules first. Then your agent plays 40 leagues of 25 games against greedy, in games that
    you do not know. The smaller mean regret wins a league, and 33 have to be won. Two ideas: try all arms for a while
    and then only the best; or add to each average a width that shrinks with the number of looks at that arm.
    """)
    return


@app.cell
def _(FunctionalAgent, Functions, NamedTuple, np):
    # A worked agent, which needs no change: all arms in turn for a while, then the best. Take from it what you like.
    class Looks(NamedTuple):
        sums: np.ndarray  # arrays change from round to round: of the released gains of each arm
        counts: np.ndarray  # how many they are
        rounds: np.ndarray  # one number that changes is an array of length 1
        looking: float  # a plain number never changes: rounds in which all arms are played in turn

    def look_or_play(state, rng):
        n_arms = len(state.sums)
        if state.rounds[0] < state.looking:
            return int(state.rounds[0]) % n_arms
        best, highest = 0, -1.0
        for arm in range(n_arms):  # a loop, where Python would use max() and a list
            average = state.sums[arm] / state.counts[arm]
            if average > highest:
                best, highest = arm, average
        return best

    def remember(state, arm, seen):
        state.rounds[0] += 1.0  # in place: the array stays the same one
        if seen.observed[arm] == 1:
            state.sums[arm] += seen.gains[arm]
            state.counts[arm] += 1.0
        return state

    class InTurn(FunctionalAgent):
        functions = Functions(look_or_play, remember)

        def initial_state(self, n_arms, horizon):
            return Looks(np.zeros(n_arms), np.zeros(n_arms), np.zeros(1), 0.3 * horizon)

    return (InTurn,)


@app.cell(hide_code=True)
def _(Algorithm, Greedy, InTurn, LaplaceClipRescale, hidden_game, make_algorithm, mo, simulate):
    mo.stop(mo.app_meta().mode == "run")

    def behind(env):
        return LaplaceClipRescale(env, epsilon=1.0)

    compared_agents = {"in turn": Algorithm("in turn", InTurn, behind), "greedy": Algorithm("greedy", Greedy, behind)}
    compared_agents["DP-KLUCB"] = make_algorithm("DP-KLUCB", epsilon=1.0)
    with mo.status.spinner(title="Compiling the worked agent: about 10 seconds"):
        compared = simulate(hidden_game, compared_agents, trials=200, checkpoints=1, seed=9)
    turned, greedily, trusted = (one.pseudo_regret[:, -1].mean() for one in compared.values())
    mo.md(
        f"The worked agent has a mean regret of {turned:,.0f} in 200 games, greedy {greedily:,.0f}, and DP-KLUCB, the"
        f" private algorithm that is trusted with true sums, {trusted:,.0f}. It looks at all arms for 30 % of the"
        " rounds. How long would you look, and at which arms?"
    )
    return


@app.cell
def _(FunctionalAgent, Functions, NamedTuple, np):
    # np and math are imported already; do not import them again.
    class State(NamedTuple):
        sums: np.ndarray  # of the released gains of each arm
        counts: np.ndarray  # how many they are
        rounds: np.ndarray  # played so far: one number

    def select(state, rng):
        n_arms = len(state.sums)
        if rng.random() < 0.1:
            return int(rng.random() * n_arms)
        best, highest = 0, -1.0
        for arm in range(n_arms):
            value = state.sums[arm] / state.counts[arm] if state.counts[arm] > 0 else 2.0
            if value > highest:
                best, highest = arm, value
        return best

    def update(state, arm, seen):
        state.rounds[0] += 1.0
        if seen.observed[arm] == 1:
            state.sums[arm] += seen.gains[arm]
            state.counts[arm] += 1.0
        return state

    class MyAgent(FunctionalAgent):
        functions = Functions(select, update)

        def initial_state(self, n_arms, horizon):
            return State(np.zeros(n_arms), np.zeros(n_arms), np.zeros(1))

    return (MyAgent,)


@app.cell(hide_code=True)
def _(mo):
    mo.stop(mo.app_meta().mode == "run")  # a lecture: strangers then write no files here
    check_now = mo.ui.run_button(label="Check my agent")
    file_name = mo.ui.text(label="Name of the file", value="my_agent")
    save_now = mo.ui.run_button(label="Save it to a file")
    mo.vstack([check_now, mo.hstack([file_name, save_now], justify="start", wrap=True)])
    return check_now, file_name, save_now


@app.cell(hide_code=True)
def _(MyAgent, check_now, check_own_agent, judged, mo):
    mo.stop(not check_now.value, mo.md("*Press the first button when your agent is ready.*"))
    with mo.status.spinner(title="Compiling your agent, then 1,000 games: about 10 seconds"):
        checked = judged(check_own_agent, lambda: MyAgent, seconds=300)
    mo.vstack([checked])
    return


@app.cell(hide_code=True)
def _(MyAgent, Path, file_name, judged, mo, save_now, save_submission):
    submissions = Path("submissions").resolve()
    mo.stop(
        not save_now.value,
        mo.md(
            f"*The file goes to the folder `{submissions}`, and holds the whole cell above. The games of the"
            " class may be others, with more arms, fewer rounds and other opponents. Make shares of `horizon`, not"
            " numbers of rounds.*"
        ),
    )
    mo.vstack([judged(save_submission, lambda: MyAgent, lambda: file_name.value)])
    return


@app.cell(hide_code=True)
def _(mo):
    mo.stop(mo.app_meta().mode == "run")
    score_now = mo.ui.run_button(label="Score my agent in the suite")
    mo.vstack(
        [
            mo.md(
                "Last, your line beside all algorithms: 18 games of eight kinds, each of 1,024 rounds, at epsilon = 1."
                " The suite puts its own privacy wrapper around your agent. Score 0 is chance, 1 the best without"
                " privacy."
            ),
            score_now,
        ]
    )
    return (score_now,)


@app.cell(hide_code=True)
def _(MyAgent, evaluate, mo, score_now):
    mo.stop(not score_now.value)
    with mo.status.spinner(title="Playing 20 games ten times each: up to a minute"):
        scores = evaluate(MyAgent, size="tiny", epsilon=1, seconds=60, progress=False)
    mo.vstack([mo.md(f"```text\n{scores}\n```"), scores.plot()])
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md(r"""
    ## What you have seen

    - Noise makes each look at an arm worth less: an agent has to look longer, but it still has to stop.
    - A few games say little about who is better; leagues, or intervals, say more.
    - The guarantee is the wrapper's: it holds for your agent as for those of the papers.

    Read on: the pages `docs/own-agent.md`, also for agents that learn from private sums, which lose much less where
    somebody may be trusted to add up gains, and `docs/suite.md`.
    """)
    return


if __name__ == "__main__":
    app.run()
