"""A privacy guarantee as one object: stated bounds, their consequence at every delta, and how tables show it."""

import dataclasses
import math
from collections.abc import Iterable
from typing import Any, Final, Literal, NamedTuple, SupportsFloat, SupportsIndex, TypeAlias

from dp_bandit_envs import checks
from dp_bandit_envs.privacy import dp_accounting_forms
from dp_bandit_envs.privacy.accounting import (
    ORDERS,
    ROUNDING,
    DominatingNoise,
    RenyiCurve,
    added_delta,
    at_orders,
    curve_of_group,
    delta_from_renyi,
    delta_with_draws,
    epsilon_from_renyi,
    epsilon_with_draws,
    rho_from_renyi,
    zcdp_delta,
    zcdp_epsilon,
)
from dp_bandit_envs.privacy.participation import Participation

REPLACE_ONE_ROUND: Final = "replace the gains of all arms in one round"
ANY_AGENT: Final = "any agent"
Model: TypeAlias = Literal["local", "central", "none"]
MODELS: Final = ("local", "central", "none")
Covers: TypeAlias = Literal["nothing", "arms", "releases", "arms and releases"]
COVERS: Final = ("nothing", "arms", "releases", "arms and releases")
LARGEST: Final = {"epsilon": math.inf, "delta": 1, "rho": math.inf, "pure": math.inf, "draw_distance": 1}
"""The largest that each number of a guarantee can be; the smallest is 0."""


@dataclasses.dataclass(frozen=True)
class PrivacyGuarantee:
    r"""A differential privacy guarantee for one game: for all arms played, and for all releases if it covers them.

    For neighbouring games and every set S of outcomes, :math:`P(S) \le e^\epsilon P'(S) + \delta`. The other fields can
    imply more: `epsilon_at` and `delta_at` return the smallest values that follow from all fields.

    Floating-point draws are not exact noise: `draw_distance` bounds the difference, and `epsilon_at` and `delta_at`
    include it, as does a `delta` greater than 0. A pure `epsilon`, `noise_law`, `rho`, `curve` and `pure` hold for
    exact noise. Secure draws have distance 0. The distance covers noise draws, not an agent's draws of arms. The proofs
    are in docs/notes/accounting.md.

    Attributes:
        epsilon: In [0, inf]; inf means that this pair is vacuous.
        delta: In [0, 1).
        rho: A zCDP parameter that holds, or None.
        neighbours: How two neighbouring games differ.
        model: `"local"`: each gain is randomised before it is stored; `"central"`: a trusted curator sees true gains;
            `"none"`: no guarantee.
        theorem: Why it holds, in a form short enough to check.
        agents: The agents for which it holds.
        covers: The data that may be published: `"arms"`, if the agent's own randomness protects gains that it sees in
            full; `"arms and releases"` for a privacy wrapper, which sets this; `"releases"` for a counter used alone;
            `"nothing"` without a guarantee.
        steps: One line per layer, innermost first, with its contribution and the theorem. Wrappers and algorithms fill
            it in.
        noise_law: Draws that dominate the whole game, or None if unknown. Stating a law also claims that up to k
            changed rounds move each of its draws by at most k times as much.
        curve: Pairs (order, divergence) of the whole game, with ascending orders greater than 1: upper bounds on the
            Renyi divergences, in both directions; or None.
        pure: If `delta` is greater than 0, an epsilon of pure differential privacy that holds as well, or None.
        draw_distance: Upper bound on the total variation distance between the releases and releases with exact noise in
            all draws that one round influences, in [0, 1].
        data: For games on recorded data, the participation of a record and of a person.

    Example:
        >>> from dp_bandit_envs import make_algorithm
        >>> guarantee = make_algorithm("DP-KLUCB", epsilon=1).guarantee(n_arms=4, horizon=1000)
        >>> guarantee.epsilon, guarantee.model, guarantee.for_group(3).epsilon
        (1.0, 'central', 3.0)
        >>> small = make_algorithm("DP-KLUCB", epsilon=0.1).guarantee(n_arms=4, horizon=1000)
        >>> print(f"{small.for_games(100).epsilon_at(1e-6):.2f}")
        4.69
        >>> print(guarantee.theorem.split(";")[0])
        a gain is in one block, whose sum is released once (Laplace)
    """

    epsilon: float
    delta: float = 0.0
    rho: float | None = None
    neighbours: str = REPLACE_ONE_ROUND
    model: Model = "central"
    theorem: str = ""
    agents: str = ANY_AGENT
    covers: Covers = "arms"
    steps: tuple[str, ...] = dataclasses.field(default=(), compare=False)
    noise_law: DominatingNoise | None = dataclasses.field(default=None, repr=False)
    curve: RenyiCurve | None = dataclasses.field(default=None, repr=False)
    pure: float | None = None
    draw_distance: float = 0.0
    data: Participation | None = dataclasses.field(default=None, compare=False)

    def __post_init__(self) -> None:
        """Refuse impossible numbers: a ledger would add them up, and a negative number would refund it."""
        for name, allowed in (("model", MODELS), ("covers", COVERS)):
            if getattr(self, name) not in allowed:
                raise ValueError(f"{name} of a guarantee must be one of {allowed}; received {getattr(self, name)!r}.")
        for name, most in LARGEST.items():
            number = getattr(self, name)
            if number is not None and not 0 <= number <= most:
                raise ValueError(f"{name} of a guarantee must be in [0, {most:g}]; received {number!r}.")
        noise = self.noise_law or DominatingNoise()
        draws = (*noise.laplace, *noise.responses, (noise.gaussian, 1))
        if not all(distance >= 0 and number >= 0 for distance, number in draws):
            raise ValueError(f"noise_law of a guarantee must have distances of at least 0; received {noise!r}.")
        if not all(order > 1 and divergence >= 0 for order, divergence in self.curve or ()):
            raise ValueError("curve of a guarantee must have orders above 1 and divergences of at least 0.")

    @classmethod
    def none(cls, reason: str) -> "PrivacyGuarantee":
        """Return the statement that there is no guarantee, with the reason."""
        return cls(epsilon=math.inf, model="none", theorem=reason, covers="nothing")

    def epsilon_at(self, delta: SupportsFloat) -> float:
        """Return the smallest epsilon such that (epsilon, delta)-DP follows from all fields; inf if none does.

        The minimum of `epsilon` (if `delta` allows it), the pure epsilon, and the conversions of `noise_law`, `curve`
        and `rho`, including the delta of fast draws.

        Args:
            delta: In (0, 1).

        Raises:
            ValueError: If `delta` is outside (0, 1).
        """
        asked = checks.delta(delta)
        exact = self._exact_epsilon
        epsilon = epsilon_with_draws(exact, asked, self.draw_distance) if self.draw_distance > 0 else exact(asked)
        return min(epsilon, self.epsilon) if 0 < self.delta <= asked else epsilon

    def delta_at(self, epsilon: SupportsFloat) -> float:
        """Return the smallest delta in [0, 1] such that (epsilon, delta)-DP follows from all fields.

        The inverse of `epsilon_at`; 1 if no bound is known.

        Args:
            epsilon: At least 0; inf gives 0.

        Raises:
            ValueError: If `epsilon` is negative or not a number.
        """
        epsilon = checks.in_range("epsilon", epsilon, 0.0, math.inf)
        if math.isinf(epsilon):
            return 0.0
        delta = delta_with_draws(self._exact_delta, epsilon, self.draw_distance)
        if self.pure_epsilon <= epsilon:
            delta = min(delta, added_delta(self.pure_epsilon, self.draw_distance))
        return min(delta, self.delta) if self.delta > 0 and self.epsilon <= epsilon else delta

    def _exact_epsilon(self, delta: float) -> float:
        epsilons = [self.pure_epsilon]
        if self.noise_law is not None:
            epsilons.append(self.noise_law.epsilon(delta))
        if self.curve is not None:
            epsilons.append(epsilon_from_renyi(self.curve, delta))
        if self.rho is not None:
            epsilons.append(zcdp_epsilon(self.rho, delta))
        return min(epsilons)

    def _exact_delta(self, epsilon: float) -> float:
        deltas = [0.0 if self.pure_epsilon <= epsilon else 1.0]
        if self.noise_law is not None:
            deltas.append(self.noise_law.delta(epsilon))
        if self.curve is not None:
            deltas.append(delta_from_renyi(self.curve, epsilon))
        if self.rho is not None:
            deltas.append(zcdp_delta(self.rho, epsilon))
        return min(deltas)

    def renyi(self) -> RenyiCurve:
        """Return the smallest known divergences for exact noise, at the orders that ledgers use."""
        noise_law = self._composable
        curves = [() if noise_law is None else noise_law.renyi(), () if self.curve is None else at_orders(self.curve)]
        rho, pure = math.inf if self.rho is None else self.rho, self.pure_epsilon
        by_order = [dict(curve) for curve in curves]
        return tuple((a, min(pure, a * rho, *(each.get(a, math.inf) for each in by_order))) for a in ORDERS)

    @property
    def _composable(self) -> DominatingNoise | None:
        """The noise law, or for a guarantee that is only pure, the randomised response that dominates it."""
        stated = (self.noise_law, self.curve, self.rho)
        if any(claim is not None for claim in stated) or math.isinf(self.pure_epsilon):
            return self.noise_law
        return DominatingNoise(responses=((self.pure_epsilon, 1),))

    def for_group(self, rounds: SupportsIndex) -> "PrivacyGuarantee":
        r"""Return the guarantee if up to k rounds are replaced, such as all rounds of one person (group privacy).

        The distances of `noise_law` and pure epsilons are multiplied by k, rho by :math:`k^2` (Bun and Steinke 2016,
        proposition 1.9); `curve` follows by Hölder's inequality (`accounting.curve_of_group`). A pair becomes
        :math:`k \epsilon` and :math:`\delta (e^{k \epsilon} - 1) / (e^\epsilon - 1)`, by a chain of k neighbours.
        Bounds for exact noise are compared with the actual draws only at the two ends of the chain, and k rounds
        influence k times as many draws: `draw_distance` is multiplied by k. If delta would reach 1, the other fields
        remain.

        Args:
            rounds: k, at least 1.
        """
        k = checks.integer("rounds", rounds, at_least=1)
        if k == 1 or self.model == "none":
            return self
        is_round = self.neighbours == REPLACE_ONE_ROUND
        changed = dataclasses.replace(
            self,
            noise_law=None if self.noise_law is None else self.noise_law.of_group(k),
            rho=None if self.rho is None else k * k * self.rho,
            curve=None if self.curve is None else curve_of_group(self.curve, k),
            pure=None if self.pure is None else k * self.pure,
            draw_distance=min(1.0, k * self.draw_distance),
            data=None,
            neighbours=f"replace the gains of all arms in up to {k} rounds"
            if is_round
            else f"{self.neighbours}, {k} times",
        )
        why = f"group privacy for {k} rounds: epsilon times {k}, rho times {k}^2"
        return changed._with(k * self.epsilon, self.delta * _chain(k, self.epsilon) if self.delta else 0.0, why)

    def for_record(self) -> "PrivacyGuarantee":
        """Return the guarantee for one record, which takes part in up to `data.record` rounds (group privacy).

        Raises:
            ValueError: If the game is not played on recorded data.
        """
        return for_unit(self, "record")

    def for_person(self) -> "PrivacyGuarantee":
        """Return the guarantee for one person, whose records take part in up to `data.person` rounds (group privacy).

        Raises:
            ValueError: If the records' persons are unknown; pass `Replay(persons=)`.
        """
        return for_unit(self, "person")

    def for_games(self, n: SupportsIndex) -> "PrivacyGuarantee":
        r"""Return the guarantee of n games on the same data, each with its own independent noise (composition).

        Noise laws are combined, so `epsilon_at` of many games is far below n epsilon; curves, rho, pure epsilons, pairs
        and `draw_distance` add up. Games that share their noise have no guarantee: differences of their releases would
        reveal gains.

        Args:
            n: Number of games, at least 1.
        """
        games = checks.integer("n", n, at_least=1)
        if games == 1 or self.model == "none":
            return self
        noise_law = self._composable
        changed = dataclasses.replace(
            self,
            noise_law=None if noise_law is None else noise_law.times(games),
            rho=None if self.rho is None else games * self.rho,
            curve=None if self.curve is None else tuple((order, games * lost) for order, lost in self.curve),
            pure=games * self.pure_epsilon if math.isfinite(self.pure_epsilon) else None,
            draw_distance=min(1.0, games * self.draw_distance),
        )
        why = f"composition of {games} games with independent noise: epsilon, delta and rho times {games}"
        # The delta of fast draws counts game by game, at one game's epsilon; beside all games' it would soon be 1.
        delta = self.delta if self.delta > 0 else added_delta(self.epsilon, self.draw_distance)
        return changed._with(games * self.epsilon, games * delta, why)

    def to_dp_event(self) -> Any:
        """Return it as a `DpEvent` of dp-accounting, for the accountants there; extra `accounting`.

        Where the noise is known these are its Laplace and Gaussian draws; otherwise a `ZCDpEvent`, which only
        `RdpAccountant` takes, with `rho`, or with the rho that follows from `curve` and what is pure. `to_pld` loses
        less. No guarantee is a `NonPrivateDpEvent`.

        An event is that of neighbours that differ in one round, as here, so use the accountants' default relation. It
        is that of exact noise: what an accountant finds as (epsilon, delta) holds for what is drawn with
        (1 + e^epsilon) `draw_distance` added to delta.

        Raises:
            ImportError: If dp-accounting is not installed.
            ValueError: If no rho follows, as from an epsilon with a delta alone; use `to_pld`.

        Example:
            >>> from dp_bandit_envs import make_algorithm
            >>> guarantee = make_algorithm("DP-KLUCB", epsilon=0.5).guarantee(n_arms=4, horizon=1000)
            >>> guarantee.to_dp_event()
            SelfComposedDpEvent(event=LaplaceDpEvent(noise_multiplier=2.0), count=1)
        """
        noise = self.noise_law
        if noise is not None and noise.draws > 0 and not noise.responses:
            return dp_accounting_forms.event_of_noise(noise)
        # What is epsilon-DP is epsilon^2 / 2-zCDP (Bun and Steinke 2016, proposition 3.3).
        pure = self.pure_epsilon
        rho = min(rho_from_renyi(self.renyi(), pure), pure * pure / 2 * (1 + ROUNDING))
        rho = rho if self.rho is None else min(self.rho, rho)
        if self.model != "none" and math.isinf(rho):
            raise ValueError(
                f"dp-accounting has no event for {self.numbers()}, from which no rho of zCDP follows. Use to_pld()."
            )
        return dp_accounting_forms.event_of_rho(rho)

    def to_pld(self, *, value_discretization_interval: SupportsFloat = 1e-4) -> Any:
        """Return it as a `PrivacyLossDistribution` of dp-accounting, which composes with others; extra `accounting`.

        It is that of `noise_law` where that is known, and otherwise one that dominates all that is known; then several
        equal games cost less if `for_games` adds up their curves first. As in `to_dp_event`, neighbours differ in one
        round, and the noise is exact.

        Args:
            value_discretization_interval: Losses are rounded up to its multiples; the same in all that is composed.

        Raises:
            ImportError: If dp-accounting is not installed.
            ValueError: If there is no guarantee.

        Example:
            >>> from dp_bandit_envs import make_algorithm
            >>> guarantee = make_algorithm("EXP3-tau", epsilon=1, delta=1e-6).guarantee(n_arms=4, horizon=2**18)
            >>> twice = guarantee.to_pld().self_compose(2)
            >>> print(f"{twice.get_epsilon_for_delta(1e-6):.2f}")
            1.26
        """
        interval = checks.greater_than("value_discretization_interval", value_discretization_interval, 0)
        if self.model == "none":
            raise ValueError(f"a game without a guarantee has no privacy loss distribution: {self.theorem}")
        noise = self._composable
        if noise is not None:
            return dp_accounting_forms.loss_of_noise(noise, interval)
        known_pairs = [(self.epsilon, self.delta), (self.pure_epsilon, 0.0)]
        pairs = [pair for pair in known_pairs if math.isfinite(pair[0])]
        return dp_accounting_forms.loss_of_profile(self.curve, self.rho, pairs, interval)

    def _with(self, epsilon: float, delta: float, why: str) -> "PrivacyGuarantee":
        """Return the guarantee with this pair, unless it is vacuous, and one more step."""
        if not delta < 1 or math.isinf(epsilon):
            if self.rho is None and self.noise_law is None and self.curve is None and self.pure is None:
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
        """Return epsilon and delta in words, with rho, and with epsilon at delta = 1e-6 if it is much smaller."""
        delta = self.delta
        if not delta > 0 and math.isfinite(self.epsilon):
            delta = added_delta(self.epsilon, self.draw_distance)
        parts = [f"epsilon = {self.epsilon:.6g}"]
        if delta == 1:
            parts[0] += " for exact noise; nothing with fast draws, whose delta reaches 1"
        elif delta > 0:
            parts.append(f"delta = {delta:.3g}" + ("" if self.delta > 0 else " from fast draws"))
        if self.rho is not None:
            parts.append(f"zCDP rho = {self.rho:.4g}")
        many = self.noise_law is not None and self.noise_law.draws > 1
        if not self.delta > 0 and (self.rho is not None or many):
            least = self.epsilon_at(DELTA)
            if self.rho is not None or least < 0.999 * self.epsilon:
                parts[-1] += f" (epsilon = {least:.4g} at delta = 1e-06)"
        return ", ".join(parts)

    def scope(self) -> str:
        """Return in words the model, the covered outputs, the neighbours, and the agents for which it holds."""
        return f"{self.model}; covers {self.covers}; {self.neighbours}; {self.agents}"

    def __str__(self) -> str:
        if self.model == "none":
            return f"none: {self.theorem}"
        return f"{self.numbers()} ({self.scope()}): {self.theorem}{units_in_words(self)}"


def at_delta(guarantee: PrivacyGuarantee, delta: float) -> PrivacyGuarantee:
    """Return a pure guarantee with the pair that follows from it at a delta; other fields stay."""
    return dataclasses.replace(guarantee, epsilon=guarantee.epsilon_at(delta), delta=delta)


def _chain(rounds: int, epsilon: float) -> float:
    """Return 1 + e^epsilon + ... + e^((rounds - 1) epsilon)."""
    if rounds * epsilon > 700:
        return math.inf
    ratio = math.expm1(rounds * epsilon) / math.expm1(epsilon) if epsilon > 0 else float(rounds)
    return ratio * (1 + ROUNDING)


def with_agent(guarantee: PrivacyGuarantee, layers: tuple[str, ...]) -> PrivacyGuarantee:
    """Return a guarantee that comes from the agent, with the steps of the layers below it and its own step."""
    what = (
        f"no guarantee: {guarantee.theorem}"
        if guarantee.model == "none"
        else f"{guarantee.numbers()}: {guarantee.theorem}"
    )
    who = "the agent" if guarantee.model == "none" else f"the agent's own randomness ({guarantee.agents})"
    return dataclasses.replace(guarantee, steps=(*layers, f"{who}: {what}"))


# Guarantees for a record, or a person ----------------------------------------------------------

Unit: TypeAlias = Literal["record", "person"]
UNITS: Final[tuple[Unit, ...]] = ("record", "person")
UNKNOWN: Final = {
    "record": "the game must be played on recorded data; its gains are made up, so that no record is protected.",
    "person": "it must be known which records belong to one person; it is not. Give persons=, the most records of"
    " a person; a table (Replay) also takes the name of a column.",
}


def rounds_of(guarantee: PrivacyGuarantee, unit: Unit) -> int | None:
    """Return the most rounds in which a record, or a person, can take part; None if unknown."""
    rounds: int | None = None if guarantee.data is None else getattr(guarantee.data, unit)
    return rounds


def for_unit(guarantee: PrivacyGuarantee, unit: Unit) -> PrivacyGuarantee:
    """Convert a per-round guarantee to one per record or per person (group privacy).

    In any random order of the records, replacing the records of one unit changes at most that many rounds. So the
    guarantee for a group of rounds holds for every order, and for a random order.

    Args:
        guarantee: A `PrivacyGuarantee` for a round.
        unit: `"record"` or `"person"`.

    Raises:
        ValueError: If the unit's number of rounds is unknown.
    """
    rounds = rounds_of(guarantee, unit)
    if rounds is None:
        raise ValueError(UNKNOWN[unit])
    group = guarantee.for_group(rounds)
    if group.model == "none":
        return dataclasses.replace(group, data=None)
    what = "one record" if unit == "record" else "all records of one person"
    return dataclasses.replace(group, data=None, neighbours=f"replace {what}: up to {in_rounds(rounds)}")


def units_in_words(guarantee: PrivacyGuarantee) -> str:
    """Return the guarantees for a record and a person, as the end of a sentence; "" without data or guarantee."""
    if guarantee.model == "none":
        return ""
    parts = []
    for unit in UNITS:
        rounds = rounds_of(guarantee, unit)
        if rounds is not None:
            group = for_unit(guarantee, unit)
            worth = "nothing" if group.model == "none" else group.numbers()
            parts.append(f"; for a {unit}, which can serve in up to {in_rounds(rounds)}: {worth}")
    return "".join(parts)


def in_rounds(rounds: int) -> str:
    """Return a number of rounds in words."""
    return f"{rounds:,} round{'' if rounds == 1 else 's'}"


# How tables show it ---------------------------------------------------------------------------------------------------

NO_PRIVACY = "(no privacy)"
FEW = 3
"""The largest number of epsilons to list; more are shown as a range."""
PURE: Final = 30.0
"""The largest pure epsilon that is shown even if a smaller epsilon holds at `DELTA`."""
DELTA: Final = 1e-6
EXACT: Final = 10.0
"""The epsilon above which the delta of fast draws is no longer small."""
CONVENTION: Final = "epsilon is pure up to 30, or else the least at delta = 1e-6"
"""What headings say of the epsilons below them."""
WITH_EXACT_NOISE: Final = "with exact noise"


class ShownEpsilon(NamedTuple):
    """A guaranteed (epsilon, delta); epsilon is inf without a guarantee. `exact`: fast draws are not counted."""

    epsilon: float
    delta: float
    exact: bool = False

    def __str__(self) -> str:
        return format_levels([self])


def shown_epsilon(guarantee: PrivacyGuarantee, delta: float = 0.0) -> ShownEpsilon:
    """Return the (epsilon, delta) shown for a guarantee in every table and legend.

    This is pure epsilon-DP up to `PURE`, or if no smaller epsilon holds at `DELTA`; otherwise the smallest epsilon at
    `DELTA`, including fast draws; otherwise the guarantee's own pair. A pure epsilon above `EXACT` holds for exact
    noise: fast draws add a delta.

    Args:
        guarantee: The guarantee.
        delta: Above 0 the delta that was asked for: the smallest epsilon at this delta is shown.
    """
    if guarantee.model == "none":
        return ShownEpsilon(math.inf, 0.0)
    if delta > 0:
        return ShownEpsilon(guarantee.epsilon_at(delta), delta)
    pure = guarantee.pure_epsilon
    least = guarantee.epsilon_at(DELTA) if pure > PURE else pure
    if least < pure:
        return ShownEpsilon(least, DELTA)
    if math.isinf(pure):
        return ShownEpsilon(guarantee.epsilon, guarantee.delta)
    return ShownEpsilon(pure, 0.0, exact=pure > EXACT and guarantee.delta_at(pure) > 0)


def label_of(name: str, levels: Iterable[ShownEpsilon]) -> str:
    """Return an algorithm's label in a legend: its name and its levels, as in "DP-KLUCB (eps 1)"."""
    words = format_levels(levels)
    # "(no privacy)" already has brackets.
    return f"{name} {words}" if words == NO_PRIVACY else f"{name} ({words})"


def format_levels(levels: Iterable[ShownEpsilon]) -> str:
    """Return levels as `eps 1`, `eps 1, delta 1e-06`, `eps 1 or 0.1`, `eps 0.05 to 2` or `(no privacy)`."""
    levels = list(levels)
    kinds = dict.fromkeys((level.delta, level.exact) for level in levels)
    if all(math.isinf(level.epsilon) for level in levels):
        return NO_PRIVACY
    if len(kinds) > 1 or any(math.isinf(level.epsilon) for level in levels):
        return " or ".join(dict.fromkeys(format_levels([level]) for level in levels))
    epsilons = list(dict.fromkeys(_short(level.epsilon) for level in levels))
    if len(epsilons) > FEW:
        ends = [end(level.epsilon for level in levels) for end in (min, max)]
        epsilons = [" to ".join(map(_short, ends))]
    delta, exact = next(iter(kinds))
    more = (f", delta {delta:.3g}" if delta else "") + (f" {WITH_EXACT_NOISE}" if exact else "")
    return f"eps {' or '.join(epsilons)}{more}"


def _short(epsilon: float) -> str:
    return f"{epsilon:,.0f}" if epsilon >= 1000 else f"{epsilon:.4g}"
