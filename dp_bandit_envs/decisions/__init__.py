"""Decision sets of online linear optimisation: what can be played where actions are points. One set a file."""

from dp_bandit_envs.decisions.ball import Ball
from dp_bandit_envs.decisions.cube import Cube
from dp_bandit_envs.decisions.decision_set import TOLERANCE, DecisionSet, PointSpace, payoff, payoffs
from dp_bandit_envs.decisions.simplex import Simplex

DECISION_SETS: dict[str, type[DecisionSet]] = {one.name: one for one in (Ball, Cube, Simplex)}
"""The one table of decision sets."""

__all__ = ["DECISION_SETS", "TOLERANCE", "Ball", "Cube", "DecisionSet", "PointSpace", "Simplex", "payoff", "payoffs"]
