"""EXP3-SET for graph feedback, of Alon, Cesa-Bianchi, Gentile and Mansour (2013); not private."""

from dp_bandit_envs.agents.exp3_set import Exp3Set
from dp_bandit_envs.algorithms.algorithm import Algorithm


def exp3_set() -> Algorithm:
    """EXP3-SET (Alon, Cesa-Bianchi, Gentile and Mansour 2013): exponential weights with every loss revealed.

    Rule: draws each arm with a probability that falls with its estimated loss. Each loss that a round reveals is
    divided by the probability that it is revealed, and added to its arm's estimate.

    Not private because it learns from exact gains, and nothing is known of what its own draws hide.

    Differs from the source in: nothing that is known.
    """
    return Algorithm(
        name="EXP3-SET",
        make_agent=Exp3Set,
        reference="Alon, Cesa-Bianchi, Gentile and Mansour (2013), EXP3-SET",
    )
