"""Feedback graphs: which gains a round reveals besides the one of the arm played."""

from dp_bandit_envs.graphs.feedback_graph import FeedbackGraph, as_feedback_graph
from dp_bandit_envs.graphs.graph_source import NAMES, REAL, GraphSource

__all__ = ["NAMES", "REAL", "FeedbackGraph", "GraphSource", "as_feedback_graph"]
