"""Which kind of game each algorithm is for, in which game it is measured, and what it is compared with."""

import dataclasses
import inspect
from typing import Any

from dp_bandit_envs.algorithms import ALGORITHMS, make_algorithm
from dp_bandit_envs.protocols import Sums

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


@dataclasses.dataclass(frozen=True, eq=False)
class MeasuredGame:
    """A game in which algorithms are measured: its id, its arguments, the measure, and its name in pictures."""

    id: str
    arguments: dict[str, Any]
    measure: str
    title: str


HORIZON = 10_000
COINS = MeasuredGame(
    "DPBandit-Stochastic-v0",
    {"means": [0.8, 0.5, 0.5, 0.5], "horizon": HORIZON},
    "pseudo_regret",
    "coins: .8, .5, .5, .5",
)
RHYTHMS = MeasuredGame(
    "DPBandit-Deterministic-v0", {"n_arms": 4, "horizon": HORIZON}, "external_regret", "deterministic, 4 arms"
)
SHIFTING = MeasuredGame(
    "DPBandit-Shifting-v0", {"gap": 0.6, "horizon": HORIZON}, "dynamic_regret", "4 coins, 5 changes, gap .6"
)
GRAPH = MeasuredGame(
    "DPBandit-Graph-v0", {"graph": "karate-club", "horizon": HORIZON}, "pseudo_regret", "karate club, 34 arms"
)
FEATURES = MeasuredGame(
    "DPBandit-Linear-v0", {"gap": 0.6, "horizon": HORIZON}, "external_regret", "10 arms with 5 features, gap .6"
)
EXPERTS = MeasuredGame(
    "DPBandit-Experts-v0",
    {"means": [0.6] + [0.5] * 9, "horizon": HORIZON},
    "external_regret",
    "10 experts, means .6 and .5",
)
BALL = MeasuredGame(
    "DPBandit-Ball-v0",
    {"dimension": 5, "gap": 0.2, "horizon": HORIZON},
    "external_regret",
    "ball of dimension 5, gap .2",
)
PAYOFFS = MeasuredGame(
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
PRIVATE_TWINS = {
    "EXP3": "DP-EXP3-Lap DP-Lambda-Lap EXP3-tau Batched-Lap-EXP3 Clipped-Lap",
    "HTINF": "Batched-Lap-HTINF",
    "UCB": "DP-UCB-BOUND DP-UCB DP-UCB-INT Private-UCB DP-SE AdaP-UCB AdaC-UCB LDP-UCB-L LDP-UCB-B",
    "SW-UCB": "SW-KLUCB-CF Restarted-AdaP-UCB",
    "KL-UCB": "AdaP-KLUCB DP-KLUCB DP-IMED",
    "TS": "DP-TS Lazy-DP-TS",
    "Gaussian-TS": "Tuned-TS",
    "Top-Two": "AdaP-TT DP-TT CTB-TT",
    "Hedge": "DP-Hedge Lazy-Hedge DP-Epochs Noisy-Hedge AS-FTRL AS-FTPL DP-FTRL",
    "EXP2": "AS-EXP2",
    "GOPE": "DP-GOPE AdaC-GOPE",
    "SCRiBLe": "AS-SCRiBLe Batched-Lap-SCRiBLe",
    "OSMD": "AS-OSMD",
    "TS-N": "TS-MaxN",
    "UCB-N": "UCB-MaxN",
}
"""For an algorithm without privacy, those that play the same way with it; on graphs, one that is less simple."""
TWINS = {private: name for name, others in PRIVATE_TWINS.items() for private in others.split()}


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
