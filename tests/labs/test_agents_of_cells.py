"""An agent that is defined in a cell of a notebook is compiled, also after the cell was changed and run again."""

import linecache
import textwrap

import gymnasium as gym
import pytest

from dp_bandit_envs import play, simulate

CELL = textwrap.dedent("""
    from typing import NamedTuple

    import numpy as np

    from dp_bandit_envs import Algorithm
    from dp_bandit_envs.agents import FunctionalAgent
    from dp_bandit_envs.agents.functional import Functions

    STEP = 1

    class State(NamedTuple):
        turn: np.ndarray

    def select(state, rng):
        return int(state.turn[0]) % 4

    def update(state, arm, seen):
        state.turn[0] += STEP
        return state

    class Turns(FunctionalAgent):
        functions = Functions(select, update)

        def initial_state(self, n_arms, horizon):
            return State(np.zeros(1))

    turns = Algorithm("Turns", Turns, lambda env: env)
""")


def run_cell(source):
    """Run a cell as marimo does: always under the same file name, which is no file, and outside of any module."""
    name = "/nowhere/__marimo__cell_Hbol_.py"
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    names = {"__name__": "__main__"}
    exec(compile(source, name, "exec"), names)
    return names["turns"]


@pytest.mark.slow
def test_a_changed_cell_is_compiled_anew():
    id_, pulls = "DPBandit-Stochastic-v0", []
    for source in (CELL, CELL.replace("STEP = 1", "STEP = 2"), CELL.replace("% 4", "% 3")):
        turns = run_cell(source)
        outcome = simulate(id_, [turns], horizon=1_000, trials=25)["Turns"]
        assert outcome.engine == "compiled"
        game = play(gym.make(id_, horizon=1_000), turns, seed=0, trial=24)
        assert game.pseudo_regret[-1] == outcome.pseudo_regret[24, -1]
        pulls.append(outcome.pulls[0].tolist())
    assert pulls == [[250, 250, 250, 250], [500, 0, 500, 0], [334, 333, 333, 0]]
