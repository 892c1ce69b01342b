"""Adds Laplace noise to every gain, rejects or clips what falls far outside, and rescales the rest to [0, 1]."""

import dataclasses
import math
from typing import SupportsFloat

import numpy as np

from dp_bandit_envs import checks
from dp_bandit_envs.privacy.guarantee import PrivacyGuarantee
from dp_bandit_envs.privacy.laplace import LaplaceMechanism, default_bound, noise_scale, release
from dp_bandit_envs.protocols import Environment, Observation
from dp_bandit_envs.wrappers.boundary import PrivacyBoundary

OUTSIDE = ("reject", "clip")


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
        super().__init__(env)
        self.mechanism = self._mechanism = laplace_mechanism(
            self._sensitivity_below, self._horizon_below, epsilon, bound, outside
        )
        self.guarantee = laplace_guarantee(float(epsilon), self._sensitivity_below, self._guarantee_below)
        # A released gain lies in [0, 1] or is withheld, so each that a round enters can move by 1.
        self.sensitivity = max(float(self._values_in_a_round), self._sensitivity_below)
        self.horizon = self._horizon_below

    def _begin(self) -> None:
        pass

    def _advance(self, arm: int) -> tuple[Observation, bool, bool]:
        private, terminated, truncated = self._step_below(arm)
        assert self._rng is not None
        gain, observed = private["gain"], private["observed"]
        released: Observation = {"gain": np.zeros(self.n_arms), "observed": np.zeros(self.n_arms, np.int8)}
        scale, bound, reject = self._mechanism
        for index in observed.nonzero()[0].tolist():
            value, kept = release(gain.item(index), scale, bound, reject, self._rng)
            released["gain"][index] = value
            released["observed"][index] = kept
        return released, terminated, truncated


def laplace_mechanism(
    sensitivity: float, releases: int, epsilon: SupportsFloat, bound: SupportsFloat | None, outside: str
) -> LaplaceMechanism:
    """Return the parameters that both forms of the wrapper use."""
    scale = noise_scale(sensitivity, checks.epsilon(epsilon))
    checks.one_of("outside", outside, OUTSIDE)
    kept = default_bound(scale, releases) if bound is None else checks.at_least("bound", bound, 0)
    if not math.isfinite(1 + 2 * kept):
        raise ValueError(f"the bound for epsilon = {epsilon!r} is too large for a float; use a larger epsilon.")
    return LaplaceMechanism(scale, kept, outside == "reject")


def laplace_guarantee(epsilon: float, sensitivity: float, below: PrivacyGuarantee | None) -> PrivacyGuarantee:
    """Return the guarantee of both forms of the wrapper."""
    if epsilon == float("inf"):
        return below or PrivacyGuarantee.none("epsilon is inf, so there is no noise")
    if below is not None and below.model != "none":
        return dataclasses.replace(below, theorem=f"{below.theorem}; the noise added above it is post-processing")
    averaged = below is not None
    return PrivacyGuarantee(
        epsilon=epsilon,
        model="central" if averaged else "local",
        theorem=(
            f"Laplace mechanism on values of sensitivity {sensitivity:.4g}, each round in one release"
            " (Tossou and Dimitrakakis 2017, theorem 3.2)"
        ),
    )
