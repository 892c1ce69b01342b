"""Noise of sums that are each released once: Laplace noise, or Gaussian noise for a delta."""

import math

import numpy as np

from dp_bandit_envs.privacy.accounting import delta_for_exact_draws, distance_of_draws, gaussian_law, one_laplace
from dp_bandit_envs.privacy.facts import STEP, InputFacts, Noise, distance_l1, distance_l2
from dp_bandit_envs.privacy.gaussian import concentrated, draw_normal, gaussian_sigma
from dp_bandit_envs.privacy.guarantee import PrivacyGuarantee
from dp_bandit_envs.privacy.laplace import grid_of, to_grid
from dp_bandit_envs.privacy.mechanism import for_rounds
from dp_bandit_envs.privacy.secure_draws import (
    ChoosesDraws,
    distance_on_grid,
    draw_normal_steps,
    normal_distance,
    on_grid,
    secure_grid,
)


def noisy_normal(value: float, scale: float, grid: float, rng: np.random.Generator) -> float:
    """Return the value plus normal noise of this deviation, on the grid; replaces `laplace.noisy`."""
    return to_grid(value + draw_normal(scale, rng), grid)


def noisy_normal_exact(value: float, scale: float, grid: float, rng: object) -> float:
    """Return the value on the grid plus exact normal noise (none for scale 0); secure replacement of `noisy_normal`."""
    return on_grid(value, grid) + grid * draw_normal_steps(scale / grid, rng) if scale > 0.0 else value


class SumNoise(ChoosesDraws):
    """A mechanism that releases each sum once, with Laplace noise for `epsilon`, or Gaussian noise for `delta` too."""

    epsilon: float
    delta: float | None = None

    def noise(self, inputs: InputFacts) -> Noise:
        """Return the scale, or the standard deviation, of the noise in one sum."""
        return Noise(inputs.sensitivity, self._scale_and_grid(inputs)[0])

    def _guarantee_once(self, inputs: InputFacts, reason: str) -> PrivacyGuarantee:
        """Return the guarantee of a round whose gains enter sums that are each released once.

        Args:
            inputs: Public facts about the gains.
            reason: Why they are released once; the kind of noise follows in brackets.
        """
        if math.isinf(self.epsilon):
            return PrivacyGuarantee.none("epsilon is inf, so there is no noise")
        scale, grid = self._scale_and_grid(inputs)
        if self.delta is None:
            off = self._distance(scale, grid, inputs.gains_in_a_round)
            law = one_laplace(self.epsilon)
            guarantee = PrivacyGuarantee(self.epsilon, model="central", noise_law=law, draw_distance=off)
            return for_rounds(guarantee, inputs.sensitivity, f"{reason} (Laplace)")
        sigma = self._sigma(inputs)
        guarantee = PrivacyGuarantee(
            self.epsilon,
            delta=self.delta,
            rho=concentrated(sigma),
            model="central",
            noise_law=gaussian_law(sigma),
            draw_distance=self._normal_distance(scale, grid, inputs),
        )
        return for_rounds(guarantee, distance_l2(inputs), f"{reason} (Gaussian)")

    def _sigma(self, inputs: InputFacts) -> float:
        """Return the standard deviation for L2 distance 1, at delta minus the part of fast draws."""
        if math.isinf(self.epsilon):
            return 0.0
        assert self.delta is not None
        sigma = gaussian_sigma(self.epsilon, self.delta)
        # Above a guarantee the noise is post-processing, and delta is not promised.
        if self._secure or inputs.is_private:
            return sigma
        off = self._normal_distance(sigma * distance_l2(inputs), 0.0, inputs)
        return gaussian_sigma(self.epsilon, delta_for_exact_draws(self.epsilon, self.delta, off))

    def _normal_distance(self, scale: float, grid: float, inputs: InputFacts) -> float:
        """Return the distance of the normal draws that one round influences from exact ones."""
        if self._secure:
            return normal_distance(scale / grid, inputs.gains_in_a_round) if grid > 0 else 0.0
        return distance_of_draws(scale, grid or grid_of(scale), inputs.gains_in_a_round, normal=True)

    def _scale_and_grid(self, inputs: InputFacts) -> tuple[float, float]:
        most = float(inputs.horizon)
        if self.delta is None:
            scale = self._scale(distance_l1(inputs), most, inputs)
            return scale, self._grid(scale, most)
        sigma, distance = self._sigma(inputs), distance_l2(inputs)
        if not self._secure:
            return sigma * distance, grid_of(sigma * distance)
        # Values are rounded to the grid itself, by less than a step, whatever the scale; so it is chosen first.
        self._grid(sigma * distance, most)
        grid = secure_grid(2 * sigma * max(distance, STEP), most)
        return sigma * distance_on_grid(distance, grid, inputs, l2=True), grid
