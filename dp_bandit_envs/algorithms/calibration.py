"""Sets an algorithm's requested privacy: its own parameter, or a parameter calibrated to its actual guarantee."""

import dataclasses
import functools
import math
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple, Self, SupportsFloat, SupportsIndex, TypeAlias

from dp_bandit_envs import checks
from dp_bandit_envs.algorithms.algorithm import Algorithm
from dp_bandit_envs.algorithms.algorithm_table import make_algorithm
from dp_bandit_envs.algorithms.exp3_family import smallest_between
from dp_bandit_envs.algorithms.specs import AlgorithmSpec, Player, read_algorithm
from dp_bandit_envs.errors import UnreachableGuaranteeError, WrongTypeError
from dp_bandit_envs.privacy.accounting import added_delta
from dp_bandit_envs.privacy.guarantee import DELTA, PrivacyGuarantee
from dp_bandit_envs.protocols import Environment

Target: TypeAlias = tuple[SupportsFloat, SupportsFloat]
"""An epsilon in (0, inf) and a delta in [0, 1)."""
SEARCHED: Final = {"EXP3-tau": "batch_size", "Hedge": "learning_rate"}
"""The parameter that is searched for, where it is not `epsilon`."""
CLOSE: Final = 1e-6
"""How far the epsilon that is reached may stay below the target, relative to it, where the search can choose."""
FARTHEST: Final = 2.0**40
"""The search ends at this factor from its start."""
TRIES: Final = 100
AS_DATA_SAY: Final = 0


class PrivacyRequest(NamedTuple):
    """The requested privacy of algorithms in a game.

    Attributes:
        epsilon: For all algorithms that take an epsilon; None for each algorithm's own.
        delta: For all algorithms that take a delta, or None for T^-2.
        at_guarantee: Whether epsilon, with `delta` or else 0, is a target for the actual guarantee, to be met as
            closely as possible from below.
        rounds_per_person: The most rounds of a person, for a per-person target; None for a per-round target, and
            `AS_DATA_SAY` for the number from the game's data.
    """

    epsilon: float | None = None
    delta: float | None = None
    at_guarantee: bool = False
    rounds_per_person: int | None = None

    @classmethod
    def checked(
        cls, epsilon: Any = None, delta: Any = None, *, at_guarantee: Any = False, rounds_per_person: Any = None
    ) -> Self:
        """Return a request after checking it; arguments as for `compare`."""
        if isinstance(at_guarantee, str):
            if at_guarantee != "person":
                raise WrongTypeError(
                    f"at_guarantee must be True, False or 'person'; received {checks.shown(at_guarantee)}."
                )
            if rounds_per_person is not None:
                raise ValueError("rounds_per_person must be left out with at_guarantee='person': the data say it.")
            request = cls.checked(epsilon, delta, at_guarantee=True)
            return request._replace(rounds_per_person=AS_DATA_SAY)
        epsilon = None if epsilon is None else checks.epsilon(epsilon)
        if delta is not None:
            delta = checks.delta(delta, or_zero=at_guarantee)
        if checks.boolean("at_guarantee", at_guarantee):
            if epsilon is None:
                raise ValueError("epsilon must be given with at_guarantee: it is the guarantee that is asked for.")
            if not 0 < epsilon < math.inf:
                raise ValueError(f"epsilon must be finite and greater than 0 with at_guarantee; received {epsilon}.")
        if rounds_per_person is not None:
            if not at_guarantee:
                raise ValueError(
                    "rounds_per_person is for the guarantee that is asked for with at_guarantee=True; give that too, or"
                    " leave it out."
                )
            rounds_per_person = checks.integer("rounds_per_person", rounds_per_person, at_least=1)
        return cls(epsilon, delta, at_guarantee, rounds_per_person)

    def refuse_for(self, players: Mapping[str, Any]) -> None:
        """Raise if an epsilon or a delta is requested, but none of these players uses it."""
        if self.epsilon is None and self.delta is None:
            return
        parameter, example = ("delta", "DP-UCB-INT") if self.epsilon is None else ("epsilon", "DP-KLUCB")
        having = [name for name, player in players.items() if parameter in getattr(player, "parameters", {})]
        taking_none = [name for name in players if name not in having]
        parts = [f"{', '.join(taking_none)} take{'s' * (len(taking_none) == 1)} none"] * bool(taking_none)
        parts += [f"{', '.join(having)} {'has its' if len(having) == 1 else 'have their'} own already"] * bool(having)
        raise ValueError(
            f"{parameter} is for none of these: {'; '.join(parts)}. Leave {parameter} out, or name an algorithm that"
            f" takes it, such as '{example}'; of your own, give the function of {parameter}, not what it returns."
        )


NO_REQUEST: Final = PrivacyRequest()


def with_privacy(spec: AlgorithmSpec, request: PrivacyRequest, game: Environment | None) -> AlgorithmSpec:
    """Return an algorithm with its privacy parameters for a game.

    Args:
        spec: The algorithm.
        request: The privacy.
        game: The game; None only without a request and for algorithms without a delta.

    Raises:
        UnreachableGuaranteeError: If its guarantee cannot meet the target. Algorithms without any guarantee are
            unchanged, for comparison.
        ValueError: If the data use persons in more rounds than the target allows.
    """
    epsilon = request.epsilon
    has_horizon = game is not None and game.has_wrapper_attr("horizon")
    horizon = int(game.get_wrapper_attr("horizon")) if game is not None and has_horizon else 0
    if epsilon is None or not request.at_guarantee:
        asked = epsilon if spec.takes_epsilon else None
        return dataclasses.replace(spec, parameters=spec.parameters_at(epsilon, request.delta, horizon), asked=asked)
    assert game is not None
    adversary: Any = game.unwrapped.adversary  # type: ignore[attr-defined]
    per_person = None if adversary.data_use is None else adversary.data_use.person
    if request.rounds_per_person == AS_DATA_SAY:
        if per_person is None:
            raise ValueError(
                "at_guarantee='person' needs data that say whose each line is, as a file with persons='the column' or"
                " DPBandit-Trial-v0; here nobody knows in how many rounds a person can serve. Give"
                " rounds_per_person=3, say, which is a promise of yours."
            )
        rounds = per_person
    else:
        rounds = request.rounds_per_person or 1
        if request.rounds_per_person is not None and per_person is not None and per_person > rounds:
            raise ValueError(
                f"rounds_per_person must be at least {per_person:,} here, the rounds in which the data of one person"
                f" can serve; received {rounds:,}. at_guarantee='person' takes that number."
            )
    needed = {key: epsilon if key == "epsilon" else 1e-6 for key in spec.needed}
    built = dataclasses.replace(spec, parameters={**spec.parameters, **needed}).build()
    built.check_game(game)
    if (spec.factory is not None or not spec.takes_epsilon) and built.guarantee_in(game).model == "none":
        return spec
    measure = functools.partial(Algorithm.guarantee_in, env=game)
    delta = request.delta or 0.0
    parameters = _search(spec, (epsilon, delta), measure, horizon, rounds)
    return dataclasses.replace(spec, parameters=parameters, asked=epsilon, asked_delta=delta, calibrated=True)


def read_player(
    algorithm: Any, label: str | None, request: PrivacyRequest, game: Environment | None
) -> tuple[Algorithm, bool]:
    """Return the algorithm for a game, and whether it uses the requested epsilon or delta.

    Args:
        algorithm: See `read_algorithm`.
        label: Its name for readers; by default its own.
        request: The privacy.
        game: The game; see `with_privacy`.
    """
    if isinstance(algorithm, str) and label is None and ":" in algorithm:
        label = algorithm
    spec = read_algorithm(algorithm, label)
    filled = with_privacy(spec, request, game)
    player = filled.build() if spec.agent is None else Algorithm(spec.label, spec.agent)
    return player, filled.parameters != spec.parameters


def read_single_player(algorithm: Any, request: PrivacyRequest, env: Environment) -> Algorithm:
    """Return the algorithm that plays alone in an environment; see `read_player`.

    Raises:
        ValueError: If an epsilon or a delta is requested of an algorithm without one.
    """
    player, is_filled = read_player(algorithm, None, request, env)
    if not is_filled:
        request.refuse_for({player.name: player})
    return player


@checks.answers_wrong_calls
def calibrate(
    algorithm: Player,
    *,
    epsilon: SupportsFloat,
    delta: SupportsFloat = 0.0,
    n_arms: SupportsIndex,
    horizon: SupportsIndex,
    rounds_per_person: SupportsIndex = 1,
    **parameters: Any,
) -> Algorithm:
    """Make an algorithm whose actual guarantee is (epsilon, delta), to compare algorithms at equal privacy.

    The parameter `epsilon` of many algorithms is the paper's, and the actual guarantee differs: Private-UCB with
    `epsilon=1` is 1/K-DP. This function searches for the parameter value whose `guarantee(...)`, by
    `epsilon_at(delta)`, is as close to the target as possible from below: within a millionth, unless every value gives
    less, or values are integers. It searches for `epsilon`, for EXP3-tau's `batch_size` and for Hedge's
    `learning_rate`; an algorithm without these is returned unchanged if it meets the target. If the algorithm has a
    parameter `delta`, it is set to this delta.

    Args:
        algorithm: One of `algorithm_names()`, with parameters after a colon if wanted; a function of `epsilon` that
            returns an `Algorithm`; or an `Algorithm`, which is returned if it meets the target.
        epsilon: In (0, inf).
        delta: In [0, 1); 0 for pure differential privacy.
        n_arms: Number of arms K, at least 2.
        horizon: Number of rounds T, at least 1.
        rounds_per_person: For a per-person target: the most rounds of one person, from 1 to T;
            `guarantee.for_group(rounds_per_person)` then meets the target.
        parameters: The other parameters of the algorithm; given parameters are not searched.

    Raises:
        UnknownNameError: If the algorithm is unknown.
        UnreachableGuaranteeError: If no value meets the target, as for algorithms without privacy; or if `delta` is 0
            and fast draws add more than 1e-6 to it, from an epsilon of about 17 on.

    Example:
        >>> from dp_bandit_envs import calibrate, make_algorithm
        >>> make_algorithm("Private-UCB", epsilon=1).guarantee(n_arms=4, horizon=1000).epsilon
        0.25
        >>> equal = calibrate("Private-UCB", epsilon=1, n_arms=4, horizon=1000)
        >>> equal.parameters["epsilon"], equal.guarantee(n_arms=4, horizon=1000).epsilon
        (4.0, 1.0)
    """
    checks.integer("n_arms", n_arms, at_least=2)
    rounds = checks.integer("horizon", horizon, at_least=1)
    spec = read_algorithm(algorithm).with_parameters(parameters)
    measure = functools.partial(Algorithm.guarantee, n_arms=n_arms, horizon=rounds)
    group = checks.integer("rounds_per_person", rounds_per_person, at_least=1)
    if group > rounds:
        raise ValueError(f"rounds_per_person must be at most the horizon, {rounds}; received {group}.")
    parameters_there = _search(spec, _checked_target(epsilon, delta), measure, rounds, group)
    return dataclasses.replace(spec, parameters=parameters_there).build()


@checks.answers_wrong_calls
def calibrate_in(
    algorithm: Player | AlgorithmSpec,
    target: Target,
    env: Environment,
    *,
    rounds_per_person: SupportsIndex = 1,
    **parameters: Any,
) -> Algorithm:
    """Make an algorithm whose guarantee in one game meets a target (epsilon, delta); see `calibrate`.

    Args:
        algorithm: As for `calibrate`.
        target: (epsilon, delta).
        env: The game, without the algorithm's wrappers.
        rounds_per_person: As for `calibrate`.
        parameters: The other parameters of the algorithm; given parameters are not searched.

    Raises:
        UnknownNameError: If the algorithm is unknown.
        UnreachableGuaranteeError: If no value meets the target in this game.
        WrongGameError: If the algorithm cannot play this game.
    """
    spec = read_algorithm(algorithm).with_parameters(parameters)
    group = checks.integer("rounds_per_person", rounds_per_person, at_least=1)
    if not spec.takes_epsilon or spec.factory is None:
        spec.build().check_game(env)
    measure = functools.partial(Algorithm.guarantee_in, env=env)
    parameters_there = _search(spec, _checked_target(*target), measure, env.get_wrapper_attr("horizon"), group)
    return dataclasses.replace(spec, parameters=parameters_there).build()


def _checked_target(epsilon: SupportsFloat, delta: SupportsFloat) -> tuple[float, float]:
    return checks.greater_than("epsilon", epsilon, 0.0), checks.delta(delta, or_zero=True)


def _search(
    spec: AlgorithmSpec,
    target: tuple[float, float],
    measure: Callable[[Algorithm], PrivacyGuarantee],
    most_rounds: int,
    group: int,
) -> dict[str, Any]:
    """Return the parameters whose guarantee meets the target as closely as possible from below.

    Args:
        spec: The algorithm.
        target: (epsilon, delta).
        measure: Returns the guarantee of an algorithm.
        most_rounds: The horizon, which no batch size exceeds.
        group: For a per-person target, the most rounds of a person: `guarantee.for_group(group)` meets it.
    """
    epsilon, delta = target
    if spec.factory is not None and not spec.takes_epsilon:
        guarantee = PrivacyGuarantee.for_group(measure(spec.build()), group)
        already = guarantee.epsilon_at(delta) if delta > 0 else guarantee.pure_epsilon
        if not already <= epsilon:
            raise UnreachableGuaranteeError(
                f"{spec.label} must have a guarantee of at most the target; it has epsilon = {already:g}, and the"
                f" target is {epsilon:g}. Use another parameter for it, or give a function that takes epsilon and"
                " returns it."
            )
        _refuse_fast_draws(spec.label, guarantee, delta)
        return dict(spec.parameters)
    name = spec.name if spec.factory is None else spec.label
    make = functools.partial(make_algorithm, spec.name) if spec.factory is None else spec.factory
    signature, parameters = spec.signature, dict(spec.parameters)
    knob = SEARCHED.get(name, "epsilon")
    gaussian = parameters.get("noise") == "gaussian"
    has_delta = "delta" in signature and (signature["delta"].default is not None or gaussian)
    if has_delta and delta > 0 and "delta" not in parameters:
        parameters["delta"] = delta
        if group > 1:
            # A group of r has r e^((r - 1) epsilon / r) times the delta of one; a little is left for rounding.
            parameters["delta"] *= 0.9 / (group * math.exp(min((group - 1) * epsilon / group, 700.0)))
    private = False

    def reached(setting: Any) -> float:
        nonlocal private
        try:
            guarantee = measure(make(**parameters, **({} if setting is None else {knob: setting}))).for_group(group)
        except ValueError:
            return math.inf  # a setting that this algorithm cannot have in this game
        if guarantee.model == "none":
            return math.inf
        private = True
        return guarantee.epsilon_at(delta) if delta > 0 else guarantee.pure_epsilon

    searches = knob in signature and knob not in parameters and (knob != "epsilon" or not spec.is_fixed)
    best: Any
    if not searches:
        best = None
        met = reached(None) <= epsilon
    elif knob == "batch_size":
        best = smallest_between(0, most_rounds, lambda size: reached(size) <= epsilon)
        met = reached(best) <= epsilon
    else:
        best = _largest(reached, epsilon, epsilon if knob == "epsilon" else 1.0)
        met = best > 0
    if not private:
        raise UnreachableGuaranteeError(
            f"{name} must be private to be compared at a guarantee; in this game it guarantees nothing, and there is no"
            " privacy parameter to calibrate. Use a private algorithm, such as DP-KLUCB for arms or AS-SCRiBLe for"
            " points; `dp-bandit list algorithms` shows the guarantees of all."
        )
    if not met:
        searched = f" with any {knob}" if searches else ""
        whom = f" for a person with {group:,} rounds" if group > 1 else ""
        raise UnreachableGuaranteeError(
            f"{name} must have a guarantee of at most the target{searched} here; received epsilon = {epsilon:g}, delta"
            f" = {delta:g}{whom}. Use a larger epsilon or delta, or a private algorithm; `dp-bandit show {name}` says"
            " what it guarantees."
        )
    if best is not None:
        parameters[knob] = best
    _refuse_fast_draws(name, measure(make(**parameters)).for_group(group), delta)
    return parameters


def _refuse_fast_draws(name: str, guarantee: PrivacyGuarantee, delta: float) -> None:
    """Raise if pure epsilon-DP is requested, but fast draws add a delta that is not small."""
    added = added_delta(guarantee.pure_epsilon, guarantee.draw_distance)
    if delta == 0 and added > DELTA:
        raise UnreachableGuaranteeError(
            f"{name} has epsilon = {guarantee.pure_epsilon:g} for exact noise only: fast draws add a delta of"
            f" {added:.2g}. Give a delta, or a smaller epsilon, or a function of epsilon that returns"
            " dp_bandit_envs.algorithms.secured(algorithm), whose noise is exact (draws='secure')."
        )


def _largest(reached: Callable[[float], float], epsilon: float, start: float) -> float:
    """Return the largest setting whose guarantee is at most epsilon, nearly; 0 if none is found."""
    low, high, setting = 0.0, math.inf, start
    for attempt in range(TRIES):
        epsilon_there = reached(setting)
        if epsilon_there <= epsilon:
            low = setting
            if epsilon_there >= epsilon * (1 - CLOSE):
                return low
        else:
            high = setting
        if high <= low * (1 + CLOSE) or low >= start * FARTHEST or high <= start / FARTHEST:
            break
        # Most guarantees are nearly proportional to the parameter. A little less, as a product may be rounded up.
        guess = setting * (epsilon / epsilon_there) if 0 < epsilon_there < math.inf and attempt < 20 else math.nan
        if epsilon_there > epsilon:
            guess *= 1 - CLOSE / 10
        if low < guess < high and guess != setting:
            setting = guess
        elif math.isinf(high):
            setting = 2 * low
        else:
            setting = math.sqrt(low * high) if low > 0 else high / 2
    # AS-FTPL keeps the noise that its regret needs, so a larger epsilon may change nothing.
    return start if start < low and reached(start) == reached(low) else low
