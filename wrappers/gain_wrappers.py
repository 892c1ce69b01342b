"""The privacy wrappers that release gains: Laplace noise, randomized response, averages of batches."""

from typing import SupportsFloat, SupportsIndex

from dp_bandit_envs.privacy import mechanisms
from dp_bandit_envs.protocols import Environment
from dp_bandit_envs.wrappers.boundary import PrivacyBoundary


class LaplaceClipRescale(PrivacyBoundary):
    r"""Adds Laplace noise of scale sensitivity / epsilon to every revealed gain and rescales what is near [0, 1] to it.

    Released is :math:`g' = (g + N + b) / (2b + 1)`, where g + N lies in [-b, 1 + b].

    With the gains of one round changed, the values that get noise move by at most `sensitivity` in L1 (1 for one
    gain, 1 / tau for the average of a batch), so their noisy versions are epsilon-DP; each round enters one release
    only, and an agent may adapt to earlier releases at no cost because the noise does not depend on the data.
    Rejecting, clipping, rescaling and the agent itself are post-processing.

    Around another privacy wrapper that already has a guarantee, this one's noise is post-processing, and the
    guarantee stays the one below.

    Args:
        env: A bandit environment, or another privacy wrapper around one.
        epsilon: Privacy parameter, in (0, inf]; `math.inf` means no noise.
        bound: How far outside [0, 1] a noisy gain may fall (b, in units of gain, at least 0). By default the noise
            scale times ln(number of releases), which for a bare environment is ln(T) / epsilon.
        outside: What happens beyond the bound: `"reject"` withholds the gain, as in the paper; `"clip"` moves it to the
            nearest end, with a bias of at most exp(-b / scale) scale / 2.

    Protects: one round's gains of all arms. Local, if nothing below it averages; central otherwise.

    Source: Tossou and Dimitrakakis (2017), algorithm 1 and theorem 3.2; around `MiniBatchAverage`, Asi, Raman and
    Talwar (2025).
    """

    def __init__(
        self,
        env: Environment,
        *,
        epsilon: SupportsFloat,
        bound: SupportsFloat | None = None,
        outside: str = "reject",
    ) -> None:
        super().__init__(env, mechanisms.LaplaceClipRescale(epsilon=epsilon, bound=bound, outside=outside))


class RandomizedResponse(PrivacyBoundary):
    r"""Answers with a coin instead of a gain: 1 or 0, more often 1 for larger gains.

    A gain g becomes 1 with probability :math:`\frac{g (e^\epsilon - 1) + 1}{e^\epsilon + 1}`, and 0 otherwise.

    The chance of either answer changes by a factor of at most e^epsilon between any two gains. An arm with mean mu
    becomes one of coins with mean :math:`\frac{1 + \mu (e^\epsilon - 1)}{e^\epsilon + 1}`: the order of the arms stays,
    and gaps shrink by :math:`\frac{e^\epsilon - 1}{e^\epsilon + 1}`. Where one round reveals s > 1 gains, each answer
    gets epsilon / s, also for averages: a coin can flip however little its chances move.

    Args:
        env: A bandit environment, or a privacy wrapper around one that hands on gains.
        epsilon: Privacy parameter, in (0, inf]; at `math.inf` a gain becomes a coin with that mean.

    Protects: one round's gains of all arms, locally.

    Source: Warner (1965); for bandits, Ren, Zhou, Liu and Shroff (2020), Multi-Armed Bandits with Local Differential
    Privacy.
    """

    def __init__(self, env: Environment, *, epsilon: SupportsFloat) -> None:
        super().__init__(env, mechanisms.RandomizedResponse(epsilon=epsilon))


class MiniBatchAverage(PrivacyBoundary):
    """Plays each chosen arm for `batch_size` rounds (tau) and then releases the average gain; T // tau steps in all.

    A round enters one average and moves it by at most 1 / tau. To keep it so, an arm's average is released only if
    its gain was revealed in all tau rounds, and the last T mod tau rounds are played but never released.

    Averaging alone guarantees nothing for an arbitrary agent. It makes one round count 1 / tau for the noise of a
    `LaplaceClipRescale` around it, or for the agent's own randomness (EXP3-tau).

    Args:
        env: A bandit environment, or another privacy wrapper around one.
        batch_size: Rounds in a batch (tau), from 1 to the horizon.

    Source: Dekel, Tewari and Arora (2012); Tossou and Dimitrakakis (2017), section 3.2.
    """

    def __init__(self, env: Environment, *, batch_size: SupportsIndex) -> None:
        super().__init__(env, mechanisms.MiniBatchAverage(batch_size=batch_size))
