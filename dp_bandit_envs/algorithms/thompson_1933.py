"""Thompson sampling, of Thompson (1933)."""

from dp_bandit_envs.agents.thompson_sampling import ThompsonSampling
from dp_bandit_envs.algorithms.algorithm import Algorithm
from dp_bandit_envs.wrappers import ExactSums


def ts() -> Algorithm:
    r"""TS, Thompson sampling with Beta posteriors (Thompson 1933): optimal for Bernoulli arms; not private.

    Rule: draws :math:`\theta_i` from :math:`\mathrm{Beta}(1 + s_i, 1 + n_i - s_i)` for each arm, with :math:`s_i` the
    sum of its :math:`n_i` gains, and plays the arm with the largest draw.

    Not private because it learns from exact sums, and nothing is known of what its own draws hide.

    Differs from the source in: gains between 0 and 1 count as fractions, not as coins with that mean.
    """
    return Algorithm(
        name="TS",
        make_agent=ThompsonSampling,
        wrapping=ExactSums,
        reference="Thompson (1933); Agrawal and Goyal (2012); Kaufmann, Korda and Munos (2012)",
    )
