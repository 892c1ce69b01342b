"""What `dp-bandit list` shows: every environment, wrapper, agent and algorithm, with what it guarantees."""

import importlib
import inspect

import gymnasium as gym
from rich.console import Console
from rich.table import Table

from dp_bandit_envs import agents, wrappers
from dp_bandit_envs.adversaries import Stochastic
from dp_bandit_envs.algorithms import ALGORITHMS, make_algorithm
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.envs.registration import IDS

N_ARMS, HORIZON = 4, 2**18


def show_all(console: Console) -> None:
    """Print all four tables."""
    console.print(environments())
    console.print(wrapper_table())
    console.print(agent_table())
    console.print(algorithm_table())


def environments() -> Table:
    """Return the table of registered ids."""
    table = _table("Environments", "id", "what it is")
    for id_ in IDS:
        module, _, name = str(gym.spec(id_).entry_point).partition(":")
        table.add_row(id_, _first_line(getattr(importlib.import_module(module), name)))
    return table


def wrapper_table() -> Table:
    """Return the table of privacy wrappers."""
    table = _table("Wrappers", "wrapper", "what it does", "guarantee")
    env = BanditEnv(Stochastic(N_ARMS, HORIZON))
    examples = (
        (wrappers.LaplaceClipRescale(env, epsilon=1.0), "(epsilon=1)"),
        (wrappers.MiniBatchAverage(env, batch_size=19), "(batch_size=19)"),
        (
            wrappers.LaplaceClipRescale(wrappers.MiniBatchAverage(env, batch_size=10), epsilon=0.1),
            "(epsilon=0.1) around MiniBatchAverage(batch_size=10)",
        ),
        (wrappers.RunningSums(env), ""),
        (wrappers.HybridSums(env, epsilon=1.0), "(epsilon=1)"),
        (wrappers.IntervalMeans(env, epsilon=1.0), "(epsilon=1)"),
        (wrappers.BlockMeans(env, epsilon=1.0), "(epsilon=1)"),
        (wrappers.RandomisedResponse(env, epsilon=1.0), "(epsilon=1)"),
    )
    for wrapper, setting in examples:
        table.add_row(type(wrapper).__name__ + setting, _first_line(type(wrapper)), str(wrapper.guarantee))
    return table


def agent_table() -> Table:
    """Return the table of agents."""
    table = _table("Agents", "agent", "what it does")
    for name in sorted(set(agents.__all__) - {"FunctionalAgent"}):
        table.add_row(name, _first_line(getattr(agents, name)))
    return table


def algorithm_table() -> Table:
    """Return the table of algorithms with their default guarantee."""
    table = _table(f"Algorithms (guarantees at K = {N_ARMS}, T = {HORIZON:,})", "name", "what it is", "guarantee")
    for name, maker in ALGORITHMS.items():
        guarantee = make_algorithm(name).guarantee(n_arms=N_ARMS, horizon=HORIZON)
        table.add_row(name, _first_line(maker), str(guarantee))
    return table


def _table(title: str, *columns: str) -> Table:
    table = Table(title=title, title_justify="left", title_style="bold", show_lines=False)
    for index, column in enumerate(columns):
        table.add_column(column, no_wrap=index == 0 and column in ("id", "name", "agent"), overflow="fold")
    return table


def _first_line(thing: object) -> str:
    return (inspect.getdoc(thing) or "").split("\n", 1)[0]
