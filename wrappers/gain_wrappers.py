"""The privacy wrappers that release gains: Laplace noise, randomized response, averages of batches."""

from typing import SupportsFloat, SupportsIndex

from dp_bandit_envs.privacy import mechanisms
from dp_bandit_envs.protocols import Environment
from dp_bandit_envs.wrappers.boundary import PrivacyBoundary


class LaplaceClipRescale(PrivacyBoundary):
    r"""Adds Laplace noise of scale sensitivity / epsilon to every revealed gain and rescales the result to [0, 1].

    The released gain is :math:`g' = (g + N + b) / (2b + 1)`, where :math:`g + N` is in :math:`[-b, 1 + b]`.

    Between neighbouring games the values before noise differ by at most `sensitivity` in L1 (1 for one gain, 1 / tau
    for the average of a batch), so the noisy values are epsilon-DP. Each round influences one release only, and an
    agent may adapt to earlier releases at no cost, because the noise does not depend on the data. Rejecting, clipping,
    rescaling and the agent itself are post-processing.

    If a privacy wrapper below already has a guarantee, this wrapper's noise is post-processing, and that guarantee
    stays.

    Args:
        env: A bandit environment, or another privacy wrapper around one.
        epsilon: Privacy parameter, in (0, inf]; `math.inf` means no noise.
        bound: How far outside [0, 1] a noisy gain may fall (b, in units of gain, at least 0). By default the noise
            scale times ln(number of releases), which for a bare environment is ln(T) / epsilon.
        outside: What happens beyond the bound: `"reject"` withholds the gain, as in the paper; `"clip"` moves it to the
            nearest end, with a bias of at most :math:`\frac{s}{2} e^{-b / s}` at noise scale s.

    Protects: one round's gains of all arms. Local, if nothing below it averages; central otherwise.

    Source: Tossou and Dimitrakakis (2017), algorithm 1 and theorem 3.2; above `MiniBatchAverage`, Asi, Raman and
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
    r"""Replaces each gain by a random bit, which is more often 1 for larger gains.

    The bit is 1 with probability :math:`\frac{g (e^\epsilon - 1) + 1}{e^\epsilon + 1}` for gain g, and 0 otherwise.

    The probability of either bit changes by a factor of at most :math:`e^\epsilon` between any two gains. The bits of
    an arm with mean :math:`\mu` have mean :math:`\frac{1 + \mu (e^\epsilon - 1)}{e^\epsilon + 1}`: the order of the
    arms stays, and gaps shrink by the factor :math:`\frac{e^\epsilon - 1}{e^\epsilon + 1}`. Where one round reveals
    s > 1 gains, each bit gets epsilon / s. It is the same for averages of batches: their lower sensitivity is not used.

    Args:
        env: A bandit environment, or a privacy wrapper around one that releases gains.
        epsilon: Privacy parameter, in (0, inf]; at `math.inf` the bit is a Bernoulli draw with the gain as its mean.

    Protects: one round's gains of all arms, locally.

    Source: Warner (1965); for bandits, Ren, Zhou, Liu and Shroff (2020), Multi-Armed Bandits with Local Differential
    Privacy.
    """

    def __init__(self, env: Environment, *, epsilon: SupportsFloat) -> None:
        super().__init__(env, mechanisms.RandomizedResponse(epsilon=epsilon))


class MiniBatchAverage(PrivacyBoundary):
    """Plays each chosen arm for `batch_size` rounds (tau) and then releases the average gain; T // tau releases in all.

    Each round influences one average, by at most 1 / tau. To ensure this, an arm's average is released only if its
    gain was revealed in all tau rounds, and the last T mod tau rounds are one more step, which releases nothing.

    Averaging alone guarantees nothing for an arbitrary agent. It lowers the sensitivity to 1 / tau for a mechanism
    above, such as `LaplaceClipRescale`, or for the agent's own randomness (EXP3-tau).

    Args:
        env: A bandit environment, or another privacy wrapper around one.
        batch_size: Rounds in a batch (tau), from 1 to the horizon.

    Source: Dekel, Tewari and Arora (2012); Tossou and Dimitrakakis (2017), section 3.2.
    """

    def __init__(self, env: Environment, *, batch_size: SupportsIndex) -> None:
        super().__init__(env, mechanisms.MiniBatchAverage(batch_size=batch_size))
