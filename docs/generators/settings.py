"""Which kind of game each algorithm is for, in which game it is measured, and what it is compared with."""

import inspect
from typing import Any, NamedTuple

from dp_bandit_envs.algorithms import ALGORITHMS, make_algorithm
from dp_bandit_envs.observations import Sums

ON_GRAPHS = ("TS-N", "TS-MaxN", "UCB-N", "UCB-MaxN", "EXP3-SET")
ON_CHANGES = ("SW-UCB", "D-UCB", "SW-KLUCB-CF", "Restarted-AdaP-UCB")
SETTINGS = {
    "any": "any gains",
    "adversarial": "adversarial",
    "stochastic": "stochastic",
    "changes": "means that change",
    "graph": "graph feedback",
    "features": "arms with features",
    "experts": "experts",
    "experts and points": "experts and points, full information",
    "points": "points, bandit feedback",
}


class Measured(NamedTuple):
    """A game in which algorithms are measured: its id, its arguments, the measure, and its name in pictures."""

    id: str
    arguments: dict[str, Any]
    measure: str
    title: str


HORIZON = 10_000
COINS = Measured(
    "DPBandit-Stochastic-v0",
    {"means": [0.8, 0.5, 0.5, 0.5], "horizon": HORIZON},
    "pseudo_regret",
    "coins: .8, .5, .5, .5",
)
RHYTHMS = Measured(
    "DPBandit-Deterministic-v0", {"n_arms": 4, "horizon": HORIZON}, "external_regret", "deterministic, 4 arms"
)
SHIFTING = Measured(
    "DPBandit-Shifting-v0", {"gap": 0.6, "horizon": HORIZON}, "dynamic_regret", "4 coins, 5 changes, gap .6"
)
GRAPH = Measured(
    "DPBandit-Graph-v0", {"graph": "karate-club", "horizon": HORIZON}, "pseudo_regret", "karate club, 34 arms"
)
FEATURES = Measured(
    "DPBandit-Linear-v0", {"gap": 0.6, "horizon": HORIZON}, "external_regret", "10 arms with 5 features, gap .6"
)
EXPERTS = Measured(
    "DPBandit-Experts-v0",
    {"means": [0.6] + [0.5] * 9, "horizon": HORIZON},
    "external_regret",
    "10 experts, means .6 and .5",
)
BALL = Measured(
    "DPBandit-Ball-v0",
    {"dimension": 5, "gap": 0.2, "horizon": HORIZON},
    "external_regret",
    "ball of dimension 5, gap .2",
)
PAYOFFS = Measured(
    "DPBandit-Ball-v0",
    {"dimension": 5, "gap": 0.5, "feedback": "bandit", "horizon": HORIZON},
    "external_regret",
    "ball of dimension 5, gap .5, payoffs only",
)
GAMES = {
    "any": (COINS,),
    "adversarial": (COINS, RHYTHMS),
    "stochastic": (COINS,),
    "changes": (SHIFTING,),
    "graph": (GRAPH,),
    "features": (FEATURES,),
    "experts": (EXPERTS,),
    "experts and points": (EXPERTS, BALL),
    "points": (PAYOFFS,),
}
"""The games in which the algorithms of a setting are measured."""
TWINS = {
    "DP-EXP3-Lap": "EXP3",
    "DP-Lambda-Lap": "EXP3",
    "EXP3-tau": "EXP3",
    "Batched-Lap-EXP3": "EXP3",
    "Batched-Lap-HTINF": "HTINF",
    "DP-UCB-BOUND": "UCB",
    "DP-UCB": "UCB",
    "DP-UCB-INT": "UCB",
    "Private-UCB": "UCB",
    "DP-SE": "UCB",
    "AdaP-UCB": "UCB",
    "LDP-UCB-L": "UCB",
    "LDP-UCB-B": "UCB",
    "SW-KLUCB-CF": "SW-UCB",
    "Restarted-AdaP-UCB": "SW-UCB",
    "AdaP-KLUCB": "KL-UCB",
    "DP-KLUCB": "KL-UCB",
    "DP-IMED": "KL-UCB",
    "DP-TS": "TS",
    "Lazy-DP-TS": "TS",
    "DP-Hedge": "Hedge",
    "Lazy-Hedge": "Hedge",
    "DP-Epochs": "Hedge",
    "Noisy-Hedge": "Hedge",
    "AS-FTRL": "Hedge",
    "AS-FTPL": "Hedge",
    "DP-FTRL": "Hedge",
    "AS-EXP2": "EXP2",
    "DP-GOPE": "GOPE",
    "AdaC-GOPE": "GOPE",
    "AS-SCRiBLe": "SCRiBLe",
    "Batched-Lap-SCRiBLe": "SCRiBLe",
    "AS-OSMD": "OSMD",
    "TS-MaxN": "TS-N",
    "UCB-MaxN": "UCB-N",
}
"""For each private algorithm, one that plays the same way without privacy; for those on graphs, a simpler one."""


def setting_of(name: str) -> str:
    """Return a key of `SETTINGS`."""
    algorithm = make_algorithm(name)
    if name in ON_GRAPHS:
        return "graph"
    if name in ON_CHANGES:
        return "changes"
    if algorithm.make_agent is None:
        return "points"
    if algorithm.feedback == "full":
        return "experts" if algorithm.make_point_agent is None else "experts and points"
    agent = algorithm.agent()
    if hasattr(agent, "see_features"):
        return "features"
    if getattr(agent, "learns_from", None) is Sums:
        return "stochastic"
    return "any" if name == "Uniform" else "adversarial"


def takes(name: str) -> list[str]:
    """Return an algorithm's parameters."""
    return list(inspect.signature(ALGORITHMS[name]).parameters)


def can_be_calibrated(name: str) -> bool:
    """Whether an algorithm is private by a parameter, so that its guarantee can be chosen."""
    return "epsilon" in takes(name)
