"""Checks on your own agents, adversaries, wrappers and algorithms; our tests run the same checks on ours.

Each returns None, or raises one `ConformanceError` that names the broken rule, the value received, and how to fix it.
They need no test framework:

    from dp_bandit_envs.conformance import check_agent
    check_agent(MyAgent)
"""

from dp_bandit_envs.conformance.adversary_rules import check_adversary
from dp_bandit_envs.conformance.agent_rules import check_agent
from dp_bandit_envs.conformance.algorithm_rules import check_algorithm
from dp_bandit_envs.conformance.wrapper_rules import check_wrapper
from dp_bandit_envs.errors import ConformanceError

__all__ = ["ConformanceError", "check_adversary", "check_agent", "check_algorithm", "check_wrapper"]
