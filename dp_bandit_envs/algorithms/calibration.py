"""Finds the parameter at which an algorithm's real guarantee meets a target, by a monotone search."""

import functools
import math
from collections.abc import Callable, Iterable
from typing import Any, Final, NamedTuple, SupportsFloat, SupportsIndex, TypeAlias

from dp_bandit_envs import checks
from dp_bandit_envs.algorithms.algorithm import Algorithm
from dp_bandit_envs.algorithms.algorithm_table import make_algorithm
from dp_bandit_envs.algorithms.exp3_family import smallest_between
from dp_bandit_envs.algorithms.specs import Asked, Player, algorithm_of
from dp_bandit_envs.errors import UnreachableGuaranteeError
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


class AskedPrivacy(NamedTuple):
    """The privacy that is asked for.

    Attributes:
        epsilons: For all algorithms that take one; none for each algorithm's own.
        delta: For all algorithms that take one, or None for T^-2.
        at_guarantee: Whether each epsilon, with `delta` or else 0, is a guarantee that an algorithm's real one has to
            meet as closely as possible from below.
        rounds: The most rounds of a person, whom that guarantee is for; None if it is for a round.
    """

    epsilons: list[float]
    delta: float | None
    at_guarantee: bool = False
    rounds: int | None = None


NOTHING_ASKED: Final = AskedPrivacy([], None)


def asked_privacy(
    epsilons: Iterable[Any], delta: Any, *, at_guarantee: Any = False, rounds_per_person: Any = None
) -> AskedPrivacy:
    """Return the privacy that is asked for, after checking it; the arguments are those of `compare`."""
    levels = [checks.epsilon(one) for one in epsilons]
    if delta is not None:
        delta = checks.delta(delta, or_zero=at_guarantee)
    if checks.boolean("at_guarantee", at_guarantee):
        if not levels:
            raise ValueError("epsilon must be given with at_guarantee: it is the guarantee that is asked for.")
        if not all(0 < one < math.inf for one in levels):
            raise ValueError(f"epsilon must be finite and greater than 0 with at_guarantee; received {levels}.")
    if rounds_per_person is not None and not at_guarantee:
        raise ValueError("rounds_per_person is for the guarantee that is asked for with at_guarantee; leave it out.")
    if rounds_per_person is not None:
        rounds_per_person = checks.integer("rounds_per_person", rounds_per_person, at_least=1)
    return AskedPrivacy(levels, delta, at_guarantee, rounds_per_person)


def parameters_at(
    one: Asked, epsilon: float | None, wanted: AskedPrivacy, game: Callable[[], Environment]
) -> tuple[dict[str, Any], float | None]:
    """Return the parameters with which an algorithm plays a game, and the epsilon asked for; None if it takes none.

    Args:
        one: The algorithm.
        epsilon: One of the epsilons that are wanted; None if there are none.
        wanted: The privacy.
        game: Makes the game.

    Raises:
        UnreachableGuaranteeError: If its guarantee cannot meet the target. One that never guarantees anything plays as
            it is, for comparison.
        ValueError: If persons are known to serve in more rounds than the guarantee is asked for.
    """
    if epsilon is None or not wanted.at_guarantee:
        parameters = one.at(epsilon, wanted.delta, lambda: int(game().get_wrapper_attr("horizon")))
        return parameters, epsilon if one.takes_epsilon else None
    env, rounds = game(), wanted.rounds or 1
    use = None if wanted.rounds is None else env.unwrapped.adversary.data_use  # type: ignore[attr-defined]
    if use is not None and use.person is not None and use.person > rounds:
        raise ValueError(
            f"rounds_per_person must be at least {use.person:,} here, the rounds in which the data of one person can"
            f" serve; received {rounds:,}."
        )
    needed = {key for key, each in one.takes.items() if each.default is each.empty and key not in one.parameters}
    made = one.made({**one.parameters, **{key: epsilon if key == "epsilon" else 1e-6 for key in needed}})
    made.check_game(env)
    if (one.maker is not None or not one.takes_epsilon) and made.guarantee_in(env).model == "none":
        return one.parameters, None
    target = (epsilon, wanted.delta or 0.0)
    measure = functools.partial(Algorithm.guarantee_in, env=env)
    return _calibrated(one, target, measure, env.get_wrapper_attr("horizon"), rounds), epsilon


def played_at(
    algorithm: Any, label: str | None, wanted: AskedPrivacy, game: Callable[[], Environment]
) -> tuple[Algorithm, bool]:
    """Return what plays a game, and whether it was given the epsilon or the delta that is wanted.

    Args:
        algorithm: See `algorithm_of`.
        label: Its name for readers; by default its own.
        wanted: The privacy, with one epsilon at most.
        game: Makes the game.
    """
    if isinstance(algorithm, str) and label is None and ":" in algorithm:
        label = algorithm
    one = algorithm_of(algorithm, label)
    epsilon = next(iter(wanted.epsilons), None)
    parameters, _ = parameters_at(one, epsilon, wanted, game)
    given = parameters != one.parameters
    if one.agent is not None:
        return Algorithm(one.shown_as, one.agent), given
    return one.made(parameters), given


def played_as_asked(algorithm: Any, wanted: AskedPrivacy, env: Environment) -> Algorithm:
    """Return what plays in an environment.

    Args:
        algorithm: See `algorithm_of`.
        wanted: The privacy, with one epsilon at most.
        env: The environment.

    Raises:
        ValueError: If an epsilon or a delta is wanted of an algorithm that takes none.
    """
    played, given = played_at(algorithm, None, wanted, lambda: env)
    if not given:
        refuse_asked(wanted, played.name)
    return played


def refuse_asked(wanted: AskedPrivacy, name: str) -> None:
    """Raise if an epsilon or a delta is wanted of what takes none, which has this name."""
    if wanted.epsilons or wanted.delta is not None:
        raise ValueError(
            f"{'epsilon' if wanted.epsilons else 'delta'} must be left out for {name}, which takes none or has its own;"
            " name an algorithm, such as 'DP-KLUCB', to give one."
        )


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
    """Make an algorithm whose real guarantee is (epsilon, delta), so that algorithms can be compared at equal privacy.

    The parameter `epsilon` of many algorithms is the paper's, and more or less is guaranteed: Private-UCB with
    `epsilon=1` is 1/K-DP. This searches for the value at which `guarantee(...)`, by `epsilon_at(delta)`, is as close to
    the target as possible from below: within a millionth, unless the algorithm guarantees less at any value, or its
    values are whole numbers. It searches for `epsilon`, for EXP3-tau's `batch_size` and for Hedge's `learning_rate`; an
    algorithm without one of them is returned as it is if it meets the target. Where the algorithm has a `delta` of its
    own, it gets this one.

    Args:
        algorithm: One of `algorithm_names()`, with parameters after a colon if wanted; a function of `epsilon` that
            returns an `Algorithm`; or an `Algorithm`, which is returned if it meets the target.
        epsilon: In (0, inf).
        delta: In [0, 1); 0 for pure differential privacy.
        n_arms: Number of arms K, at least 2.
        horizon: Number of rounds T, at least 1.
        rounds_per_person: The most rounds of one person, whom the target is for, from 1 to T: it
            is `guarantee.for_group(rounds_per_person)` that meets it.
        parameters: The other parameters of the algorithm; a parameter that is given is not searched for.

    Raises:
        UnknownNameError: If there is no such algorithm.
        UnreachableGuaranteeError: If no value meets the target, such as for algorithms without privacy; or if
            `delta` is 0 and fast draws add more than 1e-6 to it, as from an epsilon of about 17 on.

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
    one = algorithm_of(algorithm).with_parameters(parameters)
    measure = functools.partial(Algorithm.guarantee, n_arms=n_arms, horizon=rounds)
    group = checks.integer("rounds_per_person", rounds_per_person, at_least=1)
    if group > rounds:
        raise ValueError(f"rounds_per_person must be at most the horizon, {rounds}; received {group}.")
    return one.made(_calibrated(one, _checked(epsilon, delta), measure, rounds, group))


def calibrate_in(
    algorithm: Player | Asked,
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
        parameters: The other parameters of the algorithm; a parameter that is given is not searched for.

    Raises:
        UnknownNameError: If there is no such algorithm.
        UnreachableGuaranteeError: If no value meets the target in this game.
        WrongGameError: If the algorithm cannot play this game.
    """
    one = algorithm_of(algorithm).with_parameters(parameters)
    group = checks.integer("rounds_per_person", rounds_per_person, at_least=1)
    if not one.takes_epsilon or one.maker is None:
        one.made(one.parameters).check_game(env)
    measure = functools.partial(Algorithm.guarantee_in, env=env)
    return one.made(_calibrated(one, _checked(*target), measure, env.get_wrapper_attr("horizon"), group))


def _checked(epsilon: SupportsFloat, delta: SupportsFloat) -> tuple[float, float]:
    return checks.greater_than("epsilon", epsilon, 0.0), checks.delta(delta, or_zero=True)


def _calibrated(
    one: Asked,
    target: tuple[float, float],
    measure: Callable[[Algorithm], PrivacyGuarantee],
    most_rounds: int,
    group: int,
) -> dict[str, Any]:
    """Return the parameters at which an algorithm's guarantee meets the target as closely as possible from below.

    Args:
        one: The algorithm.
        target: (epsilon, delta).
        measure: Returns the guarantee that counts.
        most_rounds: The horizon, which no batch size exceeds.
        group: The most rounds of a person, whom the target is for: `guarantee.for_group(group)` meets it.
    """
    epsilon, delta = target
    if one.maker is not None and not one.takes_epsilon:
        guarantee = PrivacyGuarantee.for_group(measure(one.made(one.parameters)), group)
        already = guarantee.epsilon_at(delta) if delta > 0 else guarantee.pure_epsilon
        if not already <= epsilon:
            raise UnreachableGuaranteeError(
                f"{one.shown_as} must have a guarantee of at most the target; it has epsilon = {already:g}, and the"
                f" target is {epsilon:g}. Use another parameter for it, or give a function that takes epsilon and"
                " returns it."
            )
        _refuse_fast_draws(one.shown_as, guarantee, delta)
        return dict(one.parameters)
    name = one.name if one.maker is None else one.shown_as
    make = functools.partial(make_algorithm, one.name) if one.maker is None else one.maker
    takes, parameters = one.takes, one.parameters
    knob = SEARCHED.get(name, "epsilon")
    has_delta = "delta" in takes and (takes["delta"].default is not None or parameters.get("noise") == "gaussian")
    if has_delta and delta > 0 and "delta" not in parameters:
        parameters = {**parameters, "delta": delta}
        if group > 1:
            # A group of r has r e^((r - 1) epsilon / r) times the delta of one; a little is left for rounding.
            parameters["delta"] *= 0.9 / (group * math.exp(min((group - 1) * epsilon / group, 700.0)))
    private = False

    def reached(value: Any) -> float:
        nonlocal private
        try:
            guarantee = measure(make(**parameters, **({} if value is None else {knob: value}))).for_group(group)
        except ValueError:
            return math.inf  # a value that this algorithm cannot have in this game
        if guarantee.model == "none":
            return math.inf
        private = True
        if delta > 0:
            return guarantee.epsilon_at(delta)
        return guarantee.pure_epsilon

    searches = knob in takes and knob not in parameters and (knob != "epsilon" or not one.is_fixed)
    if not searches:
        best: Any = None
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
            " points; `dp-bandit list` shows the guarantees of all."
        )
    if not met:
        searched = f" with any {knob}" if searches else ""
        whom = f" for a person with {group:,} rounds" if group > 1 else ""
        raise UnreachableGuaranteeError(
            f"{name} must have a guarantee of at most the target{searched} here; received epsilon = {epsilon:g}, delta"
            f" = {delta:g}{whom}. Use a larger epsilon or delta, or a private algorithm; `dp-bandit show {name}` says"
            " what it guarantees."
        )
    found = {**parameters, **({} if best is None else {knob: best})}
    _refuse_fast_draws(name, measure(make(**found)).for_group(group), delta)
    return found


def _refuse_fast_draws(name: str, guarantee: PrivacyGuarantee, delta: float) -> None:
    """Raise if an epsilon without a delta was asked for, and fast draws add one that is not small."""
    added = added_delta(guarantee.pure_epsilon, guarantee.draw_distance)
    if delta == 0 and added > DELTA:
        raise UnreachableGuaranteeError(
            f"{name} has epsilon = {guarantee.pure_epsilon:g} for exact noise only: fast draws add a delta of"
            f" {added:.2g}. Give a delta, or a smaller epsilon, or a function of epsilon that returns"
            " dp_bandit_envs.algorithms.secured(algorithm), whose noise is exact (draws='secure')."
        )


def _largest(reached: Callable[[float], float], epsilon: float, start: float) -> float:
    """Return the largest value whose guarantee is at most epsilon, nearly; 0 if none is found."""
    low, high, value = 0.0, math.inf, start
    for attempt in range(TRIES):
        found = reached(value)
        if found <= epsilon:
            low = value
            if found >= epsilon * (1 - CLOSE):
                return low
        else:
            high = value
        if high <= low * (1 + CLOSE) or low >= start * FARTHEST or high <= start / FARTHEST:
            break
        # Most guarantees are nearly proportional to the parameter. A little less, as a product may be rounded up.
        guess = value * (epsilon / found) if 0 < found < math.inf and attempt < 20 else math.nan
        if found > epsilon:
            guess *= 1 - CLOSE / 10
        if low < guess < high and guess != value:
            value = guess
        elif math.isinf(high):
            value = 2 * low
        else:
            value = math.sqrt(low * high) if low > 0 else high / 2
    # AS-FTPL keeps the noise that its regret needs, so a larger epsilon may change nothing.
    return start if start < low and reached(start) == reached(low) else low
