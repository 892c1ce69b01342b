"""A privacy guarantee as one object: its parameters, what it covers, its neighbour relation, and why it holds."""

import dataclasses
import math
from typing import Final, Literal, SupportsFloat, SupportsIndex, TypeAlias

from dp_bandit_envs import checks
from dp_bandit_envs.data_use import DataUse
from dp_bandit_envs.privacy.data_units import for_unit, units_in_words
from dp_bandit_envs.privacy.draws_distance import added_delta
from dp_bandit_envs.privacy.possible_numbers import refuse_others
from dp_bandit_envs.privacy.renyi import RenyiCurve, curve_of_group
from dp_bandit_envs.privacy.rounding import half_square_up, root_up, times_up
from dp_bandit_envs.privacy.what_follows import least_delta, least_epsilon

REPLACE_ONE_ROUND: Final = "replace the gains of all arms in one round"
ANY_AGENT: Final = "any agent"
Covers: TypeAlias = Literal["nothing", "arms", "releases", "arms and releases"]


@dataclasses.dataclass(frozen=True)
class PrivacyGuarantee:
    r"""A differential privacy guarantee for one game: for all arms played, and for all releases if it covers them.

    For neighbouring games and every set S of outcomes, :math:`P(S) \le e^\epsilon P'(S) + \delta`; and, where `rho` is
    given, rho-zero-concentrated differential privacy (Bun and Steinke 2016).

    The numbers that a computer draws are not exact noise: `draws_distance` says how far they are from it. A delta
    greater than 0 has that in it. What is stated for exact noise, which is a pure `epsilon`, `rho`, `sigma` and
    `renyi`, has not: `delta_with_draws`, `epsilon_at`, `delta_at` and all texts add what follows,
    :math:`(1 + e^\epsilon)` times that distance, to delta. Secure draws have distance 0. Draws of noise are counted,
    not those by which an agent chooses among its arms.

    Attributes:
        epsilon: In [0, inf]; inf means that there is no such guarantee.
        delta: In [0, 1); with what fast draws add where it is greater than 0.
        rho: The zCDP parameter, or None where none is claimed.
        neighbours: How two neighbouring games differ.
        model: `"local"`: the gain is noisy before anyone stores it; `"central"`: a trusted part sees true gains;
            `"none"`: nothing is guaranteed.
        theorem: Why it holds, in a form short enough to check.
        agents: For which agents it holds.
        covers: What may be published: `"arms"`, where the agent's own randomness hides gains that it sees in full;
            `"arms and releases"` for a privacy wrapper, which sets this; `"releases"` for a counter used alone;
            `"nothing"` without a guarantee.
        steps: One line for each layer, the innermost first, with what it contributes and the theorem for it. Wrappers
            and algorithms fill it in.
        sigma: Where everything published is as private as one Gaussian draw at L2 sensitivity 1, its standard
            deviation, in (0, inf); otherwise None.
        renyi: Pairs (order, divergence) of the whole game, orders greater than 1 and ascending, or None: the Renyi
            divergences of these orders are at most that, in both directions.
        pure: Where `delta` is greater than 0, an epsilon of pure differential privacy that holds as well, or None.
        draws_distance: Total variation distance, at most, between what is published and the same with exact noise in
            all draws that one round influences, in [0, 1]; see `dp_bandit_envs.privacy.draws_distance`.
        data: Where the game is played on recorded data, in how many rounds a record, and a person, can serve.

    Example:
        >>> from dp_bandit_envs import make_algorithm
        >>> guarantee = make_algorithm("DP-KLUCB", epsilon=1).guarantee(n_arms=4, horizon=1000)
        >>> guarantee.epsilon, guarantee.model, guarantee.for_group(3).epsilon
        (1.0, 'central', 3.0)
        >>> print(guarantee.theorem.split(";")[0])
        a gain is in one block, whose sum is released once (Laplace)
    """

    epsilon: float
    delta: float = 0.0
    rho: float | None = None
    neighbours: str = REPLACE_ONE_ROUND
    model: Literal["local", "central", "none"] = "central"
    theorem: str = ""
    agents: str = ANY_AGENT
    covers: Covers = "arms"
    steps: tuple[str, ...] = dataclasses.field(default=(), compare=False)
    sigma: float | None = None
    renyi: RenyiCurve | None = dataclasses.field(default=None, repr=False)
    pure: float | None = None
    draws_distance: float = 0.0
    data: DataUse | None = dataclasses.field(default=None, compare=False)

    def __post_init__(self) -> None:
        """Refuse numbers that no guarantee has."""
        refuse_others(self)

    @classmethod
    def none(cls, reason: str) -> "PrivacyGuarantee":
        """Make the statement that nothing is guaranteed, with the reason."""
        return cls(epsilon=math.inf, model="none", theorem=reason, covers="nothing")

    def epsilon_at(self, delta: SupportsFloat) -> float:
        r"""Return the smallest epsilon for which an (epsilon, delta) guarantee follows from what is stated.

        The smallest of `epsilon`, if `delta` allows it; `pure`; the optimal conversion of `rho`, which is the minimum
        over :math:`\alpha > 1` of
        :math:`\alpha \rho + (\ln(1 / \delta) - \ln \alpha) / (\alpha - 1) + \ln(1 - 1 / \alpha)` (Canonne, Kamath and
        Steinke 2020, proposition 12); the same for each pair of `renyi`; and the exact curve of a Gaussian mechanism
        with `sigma` (Balle and Wang 2018); with what the draws add to delta. It is inf where nothing is known, and
        rounded up.

        Args:
            delta: In (0, 1).

        Raises:
            ValueError: If `delta` is outside (0, 1).
        """
        return least_epsilon(self, checks.delta(delta))

    def delta_at(self, epsilon: SupportsFloat) -> float:
        """Return the smallest delta in [0, 1] for which an (epsilon, delta) guarantee follows from what is stated.

        The inverse of `epsilon_at`, by the same routes and rounded up; 1 where nothing is known.

        Args:
            epsilon: At least 0; inf gives 0.

        Raises:
            ValueError: If `epsilon` is negative or not a number.
        """
        epsilon = checks.in_range("epsilon", epsilon, 0.0, math.inf)
        return 0.0 if math.isinf(epsilon) else least_delta(self, epsilon)

    @property
    def delta_with_draws(self) -> float:
        """The delta that holds at `epsilon` with the draws as they are, in [0, 1]; 1 means that nothing holds."""
        if self.delta > 0 or math.isinf(self.epsilon):
            return self.delta
        return added_delta(self.epsilon, self.draws_distance)

    def for_group(self, rounds: SupportsIndex) -> "PrivacyGuarantee":
        r"""Return what holds if up to r rounds are replaced, such as all rounds of one person.

        A chain of r neighbours: epsilon becomes :math:`r \epsilon`, delta :math:`r e^{(r - 1) \epsilon} \delta`
        (Dwork and Roth 2014, theorem 2.2; Vadhan 2017, lemma 2.2), rho :math:`r^2 \rho` (Bun and Steinke 2016,
        proposition 1.9), and sigma :math:`\sigma / r`; the orders of `renyi` fall (`curve_of_group`, by Hölder's
        inequality). Where delta would reach 1, what remains is rho, sigma, `renyi` and `pure`. For what is stated for
        exact noise the chain is one of games with exact noise, and only its two ends are compared with what is drawn,
        where r rounds influence r times as many draws: their distance is multiplied by r.

        Args:
            rounds: r, at least 1.
        """
        r = checks.integer("rounds", rounds, at_least=1)
        if r == 1 or self.model == "none":
            return self
        epsilon, exponent = times_up(r, self.epsilon), times_up(r - 1, self.epsilon)
        delta = times_up(r, self.delta) * math.exp(min(exponent, 700.0)) * (1 + 1e-12) if self.delta else 0.0
        one = self.neighbours == REPLACE_ONE_ROUND
        changed = dataclasses.replace(
            self,
            rho=None if self.rho is None else times_up(r * r, self.rho),
            sigma=None if self.sigma is None else math.nextafter(self.sigma / r, 0.0),
            renyi=None if self.renyi is None else curve_of_group(self.renyi, r),
            pure=None if self.pure is None else times_up(r, self.pure),
            draws_distance=min(1.0, times_up(r, self.draws_distance)),
            data=None,
            neighbours=f"replace the gains of all arms in up to {r} rounds" if one else f"{self.neighbours}, {r} times",
        )
        return changed._with(epsilon, delta, f"group privacy for {r} rounds: epsilon times {r}, rho times {r}^2")

    def for_record(self) -> "PrivacyGuarantee":
        """Return what holds if one record of the data is replaced, which can serve in `data.record` rounds.

        Raises:
            ValueError: If the game is not played on recorded data.
        """
        return for_unit(self, "record")

    def for_person(self) -> "PrivacyGuarantee":
        """Return what holds if all records of one person are replaced, which can serve in `data.person` rounds.

        Raises:
            ValueError: If it is not known whose the records are; `Replay(persons=)` says it.
        """
        return for_unit(self, "person")

    def for_games(self, n: SupportsIndex) -> "PrivacyGuarantee":
        r"""Return what holds for n games over the same data together, each with independent noise of its own.

        Sequential composition: epsilon, delta, rho and the distance of the draws are multiplied by n, and sigma is
        divided by :math:`\sqrt n`. Pure epsilon-DP is also :math:`\epsilon^2 / 2`-zCDP (Bun and Steinke 2016,
        proposition 1.4), which makes `epsilon_at` of many games much smaller than n epsilon. If the games shared their
        noise, differences of their releases would show gains, and nothing would be guaranteed.

        Args:
            n: Number of games, at least 1.
        """
        games = checks.integer("n", n, at_least=1)
        if games == 1 or self.model == "none":
            return self
        rho = self.rho
        pure = self.pure_epsilon
        if math.isfinite(pure):
            rho = half_square_up(pure) if rho is None else min(rho, half_square_up(pure))
        changed = dataclasses.replace(
            self,
            rho=None if rho is None else times_up(games, rho),
            sigma=None if self.sigma is None else math.nextafter(self.sigma / root_up(games), 0.0),
            renyi=None if self.renyi is None else tuple((order, times_up(games, lost)) for order, lost in self.renyi),
            pure=None if self.pure is None else times_up(games, self.pure),
            draws_distance=min(1.0, times_up(games, self.draws_distance)),
        )
        why = f"composition of {games} games with independent noise: epsilon, delta and rho times {games}"
        return changed._with(times_up(games, self.epsilon), times_up(games, self.delta), why)

    def _with(self, epsilon: float, delta: float, why: str) -> "PrivacyGuarantee":
        """Return it with this pair, if it says anything, and one more step."""
        if not delta < 1 or math.isinf(epsilon):
            if self.rho is None and self.sigma is None and self.renyi is None and self.pure is None:
                return PrivacyGuarantee.none(f"{why}; no useful delta remains")
            epsilon, delta = math.inf if self.pure is None else self.pure, 0.0
        return dataclasses.replace(
            self, epsilon=epsilon, delta=delta, theorem=f"{self.theorem}; {why}", steps=(*self.steps, why)
        )

    @property
    def pure_epsilon(self) -> float:
        """The smallest epsilon of pure differential privacy that is stated, or inf."""
        stated = self.epsilon if self.delta == 0.0 else math.inf
        return stated if self.pure is None else min(stated, self.pure)

    def numbers(self) -> str:
        """Return epsilon, delta with what the draws add, and rho in words."""
        delta = self.delta_with_draws
        parts = [f"epsilon = {self.epsilon:.6g}"]
        if delta == 1:
            parts[0] += " for exact noise; nothing with fast draws, whose delta reaches 1"
        elif delta > 0:
            parts.append(f"delta = {delta:.3g}" + ("" if self.delta > 0 else " from fast draws"))
        if self.rho is not None:
            at = "" if self.delta > 0 else f" (epsilon = {self.epsilon_at(1e-6):.4g} at delta = 1e-06)"
            parts.append(f"zCDP rho = {self.rho:.4g}{at}")
        return ", ".join(parts)

    def scope(self) -> str:
        """Return in words who is trusted, what it covers, how neighbours differ, and for which agents it holds."""
        return f"{self.model}; covers {self.covers}; {self.neighbours}; {self.agents}"

    def __str__(self) -> str:
        if self.model == "none":
            return f"none: {self.theorem}"
        return f"{self.numbers()} ({self.scope()}): {self.theorem}{units_in_words(self)}"


def with_agent(own: PrivacyGuarantee, layers: tuple[str, ...]) -> PrivacyGuarantee:
    """Return a guarantee that comes from the agent, with the steps of the layers below it and one of its own."""
    what = f"no guarantee: {own.theorem}" if own.model == "none" else f"{own.numbers()}: {own.theorem}"
    who = "the agent" if own.model == "none" else f"the agent's own randomness ({own.agents})"
    return dataclasses.replace(own, steps=(*layers, f"{who}: {what}"))
