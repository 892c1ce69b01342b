"""A karate club
=============

What is it worth to see your friends' gains, and to play the best of them instead?

Each of 34 members is an arm. Playing one also shows the gains of those who talk to them (Zachary 1977).
"""

import math

import gymnasium as gym

from dp_bandit_envs import make_algorithm, play, simulate

GAME = "DPBandit-Graph-v0"
NAMES = ["UCB-N", "UCB-MaxN", "TS-N", "TS-MaxN"]


def main(horizon: int = 5000, seed: int = 0, trials: int = 200) -> dict[str, float]:
    """Compare algorithms with and without feedback from neighbours; return their mean regret."""
    env = gym.make(GAME, graph="karate-club", horizon=horizon)
    algorithm = make_algorithm("TS-MaxN")
    game = play(env, algorithm, seed=seed)
    graph = env.unwrapped.graph
    best = int(env.unwrapped.adversary.means.argmax())
    print(f"one game: member {best} is the best, and was played in {(game.arms == best).sum():,} of {horizon:,} rounds")
    print(f"playing member 0 shows {len(graph.revealed_by(0))} gains; {graph.edges // 2} pairs talk to each other\n")

    regret = {}
    for shown, options in (("alone", {"graph": "empty", "n_arms": graph.n_arms}), ("with talk", {})):
        results = simulate(GAME, NAMES, horizon=horizon, trials=trials, seed=seed, env_kwargs=options)
        for name, outcome in results.items():
            assert outcome.pseudo_regret is not None
            regret[f"{name} {shown}"] = float(outcome.pseudo_regret[:, -1].mean())
    print(f"mean regret of {trials} games with other members on top")
    for name in NAMES:
        print(f"  {name:9s} alone {regret[f'{name} alone']:7.1f}   with talk {regret[f'{name} with talk']:7.1f}")

    # The bound for TS-N: sqrt(cliques ln K T / 2); without talk every member is a clique of one.
    cliques = len(graph.clique_cover)
    bound = math.sqrt(cliques * math.log(graph.n_arms) * horizon / 2)
    print(f"\n{cliques} cliques hold all {graph.n_arms} members: theory promises TS-N at most {bound:,.0f}")
    return regret


if __name__ == "__main__":
    main()
