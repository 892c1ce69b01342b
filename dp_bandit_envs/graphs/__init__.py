"""Feedback graphs: which gains a round reveals besides the one of the arm played."""

from dp_bandit_envs.graphs.feedback_graph import FeedbackGraph
from dp_bandit_envs.graphs.graph_reading import as_feedback_graph
from dp_bandit_envs.graphs.graph_source import GraphSource
from dp_bandit_envs.graphs.named_graphs import NAMES, REAL

__all__ = ["NAMES", "REAL", "FeedbackGraph", "GraphSource", "as_feedback_graph"]
