"""A karate club
=============

What is it worth to see your friends' gains, and to play the best of them instead?

Each of 34 members is an arm. Playing one also shows the gains of those who talk to them (Zachary 1977).
"""

import math

import gymnasium as gym
import matplotlib.pyplot as plt
import networkx as nx
import numpy as np

from dp_bandit_envs import make_algorithm, play, simulate
from dp_bandit_envs.graphs import FeedbackGraph

GAME = "DPBandit-Graph-v0"
NAMES = ["UCB-N", "UCB-MaxN", "TS-N", "TS-MaxN"]


def draw(arms: np.ndarray, graph: FeedbackGraph, best: int, regret: dict[str, float]) -> None:
    """Draw who was played in one game, and the mean regret of all."""
    _, (left, right) = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
    friends = nx.Graph((one, int(other)) for one in range(graph.n_arms) for other in graph.revealed_by(one))
    friends.remove_edges_from([(member, member) for member in friends])
    plays = np.bincount(arms, minlength=graph.n_arms)
    look = {"node_size": [20 + 600 * plays[one] / len(arms) for one in friends], "edge_color": "#B0B0B0"}
    colours = ["#D55E00" if one == best else "#56B4E9" for one in friends]
    nx.draw(friends, nx.spring_layout(friends, seed=1), left, node_color=colours, **look)
    left.set_title("who is played (red: the best)")
    places = np.arange(len(NAMES))
    right.bar(places - 0.2, [regret[f"{name} alone"] for name in NAMES], 0.4, label="alone")
    right.bar(places + 0.2, [regret[f"{name} with talk"] for name in NAMES], 0.4, label="with talk")
    right.set_xticks(places, NAMES)
    right.set(ylabel="mean pseudo-regret (gain)", title="what talk is worth")
    right.legend()


def main(horizon: int = 5000, seed: int = 0, trials: int = 200) -> dict[str, float]:
    """Compare algorithms with and without feedback from neighbours; return their mean regret."""
    env = gym.make(GAME, graph="karate-club", arm_order="given", horizon=horizon)
    algorithm = make_algorithm("TS-MaxN")
    game = play(env, algorithm, seed=seed)
    graph = env.unwrapped.graph
    best = int(env.unwrapped.adversary.means.argmax())
    print(f"one game: member {best} is the best, and was played in {(game.arms == best).sum():,} of {horizon:,} rounds")
    print(f"playing member 0 shows {len(graph.revealed_by(0))} gains; {graph.edges // 2} pairs talk to each other\n")

    regret = {}
    for talk, options in (("alone", {"graph": "empty", "n_arms": graph.n_arms}), ("with talk", {})):
        results = simulate(
            GAME, NAMES, horizon=horizon, trials=trials, seed=seed, env_kwargs=options | {"arm_order": "given"}
        )
        for name, outcome in results.items():
            assert outcome.pseudo_regret is not None
            regret[f"{name} {talk}"] = float(outcome.pseudo_regret[:, -1].mean())
    print(f"mean regret of {trials} games with other members on top")
    for name in NAMES:
        print(f"  {name:9s} alone {regret[f'{name} alone']:7.1f}   with talk {regret[f'{name} with talk']:7.1f}")

    # The bound for TS-N: sqrt(cliques ln K T / 2); without talk every member is a clique of one.
    cliques = len(graph.clique_cover)
    bound = math.sqrt(cliques * math.log(graph.n_arms) * horizon / 2)
    print(f"\n{cliques} cliques hold all {graph.n_arms} members: theory promises TS-N at most {bound:,.0f}")
    draw(game.arms, graph, best, regret)
    return regret


if __name__ == "__main__":
    main()
    plt.show()
