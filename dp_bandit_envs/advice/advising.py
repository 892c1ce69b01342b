"""Plays private algorithms in situations that a user may face, and says which to take."""

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, SupportsFloat, SupportsIndex

from dp_bandit_envs import checks
from dp_bandit_envs.advice.advice import FOR_CHANGES, LARGEST, SHARE, Advice, InReplay, Pick, Safer
from dp_bandit_envs.advice.situations import (
    GAPS,
    Role,
    Situation,
    Standing,
    TrialShape,
    drifting,
    interval_of,
    made_up,
    of_records,
    shape_of,
    shares,
    standings,
)
from dp_bandit_envs.algorithms import Algorithm, calibrate_in, make_algorithm
from dp_bandit_envs.algorithms.naming import Asked, Player, algorithm_of
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.errors import UnreachableGuaranteeError
from dp_bandit_envs.files import DataFile
from dp_bandit_envs.privacy.guarantee import in_rounds
from dp_bandit_envs.protocols import FloatArray

USUAL: Final = (
    "DP-KLUCB",
    "DP-IMED",
    "DP-UCB-INT",
    "Batched-Lap-HTINF",
    "EXP3-tau",
    "DP-EXP3-Lap",
    "LDP-UCB-B",
)
"""Those that are compared by default: in 24 settings none of ten others was the one to take (docs/recorded-data.md)."""
BEST_WHEN_LONG: Final = ("DP-IMED", "DP-KLUCB")
"""Those that lose least in long stable games, whatever comes first in short ones."""
NOT_PRIVATE: Final = ("TS", "Tsallis-INF")
"""Those that show what privacy costs: for stable arms, and for any."""
MOST_TRIALS, LEAST_TRIALS = 200, 40
ROUNDS = 5_000_000
"""About how many rounds are played by default for each algorithm in each situation."""
ROUNDS_OF_SEARCH: Final = 2**18
"""About how many rounds are played for each algorithm at each horizon of the search."""
CLEARLY: Final = 0.95
"""An algorithm is picked if the upper end of its share's interval is below this; otherwise uniform play is as good."""
NEAR: Final = 0.1
"""An algorithm is named beside the first one if its share is larger by no more than this, and bad games are better."""
MUCH: Final = 0.5
"""Bad games are better if the 99 % quantile of regret is below this part of the first one's."""
UNKNOWN_PERSONS: Final = (
    "{}: the file does not say whose lines these are, so nothing can be promised to a person. Give the most rounds of"
    " one (--rounds-per-person 1 if nobody has two), or clean the file again with its column of persons (--persons)."
)


@checks.answers_wrong_calls
def advise(
    data: str | Path | DataFile | None = None,
    *,
    n_arms: SupportsIndex | None = None,
    horizon: SupportsIndex | None = None,
    epsilon: SupportsFloat,
    delta: SupportsFloat = 0.0,
    rounds_per_person: SupportsIndex | None = None,
    gap: SupportsFloat | Sequence[SupportsFloat] | None = None,
    persons: str | None = None,
    look_at_gains: bool = False,
    algorithms: Player | Sequence[Player] = USUAL,
    trials: SupportsIndex | None = None,
    seed: SupportsIndex = 0,
    jobs: SupportsIndex = 0,
    find_horizon: bool = True,
) -> Advice:
    """Say which private algorithm to take, by simulating those that give one person the guarantee.

    Every algorithm is calibrated, so that `guarantee.for_group(rounds_per_person)` has at most this epsilon at this
    delta. All are played on the same gains, beside uniform play and two algorithms without privacy.

    Args:
        data: A file with the columns `arm,gain`, and perhaps one of persons, such as `recorded_data.clean` makes. By
            default only its shape is used, which counts as public: the number of arms, of records, and the most records
            of a person. It fills in what is not given below.
        n_arms: Number of arms K, at least 2.
        horizon: Number of rounds T, at least K.
        epsilon: What is guaranteed to a person, in (0, inf).
        delta: In [0, 1); 0 for pure differential privacy.
        rounds_per_person: The most rounds of a person, from 1 to T; by default that of the data, or 1 without data.
            Needed if the data do not say whose lines they are.
        gap: How far the best arm is ahead of the others, in (0, 1]; one or several. By default .05, .1 and .3.
        persons: The name of the file's column of persons; by default `person`, if there is one.
        look_at_gains: Resample the file's outcomes in place of made-up ones. The advice then depends on them and is not
            private: whoever sees it learns something of the data.
        algorithms: What names the algorithms to compare, as for `calibrate`; those that do not meet the guarantee are
            left out.
        trials: Number of games of each algorithm in each situation, at least 2; by default 40 to 200.
        seed: The seed of the simulated games.
        jobs: Games to play at a time; 0 for as many as there are cores.
        find_horizon: Also search for the smallest horizon at which privacy pays.

    Returns:
        An `Advice`: print it, or look at `advice.stable.name` and `advice.standings`.

    Raises:
        ValueError: If an argument leaves its range, or is missing.
        GainFileError: If the file is not of this form.
        UnreachableGuaranteeError: If no algorithm gives this guarantee.

    Example:
        >>> from dp_bandit_envs import advise
        >>> advice = advise(
        ...     n_arms=2, horizon=500, epsilon=1, gap=0.3, algorithms=["DP-IMED"], trials=20, find_horizon=False
        ... )
        >>> print(advice.stable.name)
        DP-IMED
    """
    if data is None and persons is not None:
        raise ValueError(f"persons must come with a file, whose column it is; received {persons!r} and no file.")
    shape = None if data is None else shape_of(data, persons)
    if look_at_gains and shape is None:
        raise ValueError("look_at_gains needs the data to look at; no file was given. Give one, or leave it out.")
    arms, rounds, person_rounds = _size(n_arms, horizon, rounds_per_person, shape)
    target = (checks.greater_than("epsilon", epsilon, 0.0), 0.0 if delta == 0 else checks.delta(delta))
    gaps = _gaps(gap)
    games = _trials(trials, rounds)
    jobs = checks.integer("jobs", jobs, at_least=0) or os.cpu_count() or 1
    situations = made_up(arms, gaps)
    if shape is not None and look_at_gains:
        situations = [of_records(shape.pools, shape.name), drifting(arms, max(gaps))]
    settings: dict[str, Any] = {"seed": checks.integer("seed", seed, at_least=0), "jobs": jobs}
    game = situations[0].game(rounds)
    wanted = _wanted(algorithms)
    private, refused = eligible(wanted.values(), target, person_rounds, game)
    uniform = make_algorithm("Uniform")
    players: list[tuple[Algorithm, Role]] = [(one, "private") for one in private]
    players += [(uniform, "uniform"), *((make_algorithm(name), "not private") for name in NOT_PRIVATE)]
    found: list[Standing] = []
    for situation in situations:
        found += standings(situation, players, horizon=rounds, trials=games, **settings)
    by_name = {one.name: one for one in private}
    local = [one.name for one in private if one.guarantee_in(game).model == "local"]
    bounded = [
        one.name
        for one in private
        if one.name in FOR_CHANGES or one.regret_bound(n_arms=arms, horizon=rounds) < math.inf
    ]
    stable = [one for one in found if _kind(one, situations) == "stable"]
    drift = [one for one in found if _kind(one, situations) == "drifting"]
    leader = min(by_name, key=lambda name: float(shares(stable)[name].mean()))
    leaders = [name for name in dict.fromkeys([leader, *BEST_WHEN_LONG]) if name in by_name]
    search = {"target": target, "person_rounds": person_rounds, "start": rounds, **settings}
    pays = {
        situation.name: _pays_from(situation, [wanted[name] for name in leaders], **search)
        for situation in situations
        if find_horizon and situation.kind == "stable"
    }
    picks = [
        pick(stable, by_name, list(by_name), uniform),
        pick(drift, by_name, bounded, uniform),
        pick(stable, by_name, local, uniform),
    ]
    replayed = None
    if shape is not None:
        replayed = _in_replay(shape, person_rounds, picks, wanted, target, situations[0].game(shape.records))
    return Advice(
        n_arms=arms,
        horizon=rounds,
        epsilon=target[0],
        delta=target[1],
        rounds_per_person=person_rounds,
        trials=games,
        situations=tuple((one.name, one.kind) for one in situations),
        standings=tuple(found),
        stable=picks[0],
        drifting=picks[1],
        local=picks[2],
        pays_from=pays,
        leaders=tuple(leaders),
        left_out=refused,
        data="" if shape is None else shape.name,
        looked_at_gains=look_at_gains,
        in_replay=replayed,
    )


def _kind(one: Standing, situations: Sequence[Situation]) -> str:
    return next(situation.kind for situation in situations if situation.name == one.situation)


def _size(
    n_arms: SupportsIndex | None,
    horizon: SupportsIndex | None,
    rounds_per_person: SupportsIndex | None,
    shape: TrialShape | None,
) -> tuple[int, int, int]:
    if shape is None and (n_arms is None or horizon is None):
        absent = [name for name, value in (("n_arms", n_arms), ("horizon", horizon)) if value is None]
        raise ValueError(
            f"advise needs {' and '.join(f'{name}=' for name in absent)}, or a file that shows"
            f" {'them' if absent[1:] else 'it'}, such as clean.csv; there is neither."
        )
    if shape is not None and n_arms is not None and checks.integer("n_arms", n_arms, at_least=2) != shape.n_arms:
        raise ValueError(f"n_arms must be that of {shape.name}, {shape.n_arms}; received {n_arms}. Leave it out.")
    arms = checks.integer("n_arms", shape.n_arms if n_arms is None and shape is not None else n_arms, at_least=2)  # type: ignore[arg-type]
    rounds = checks.integer("horizon", shape.records if horizon is None and shape is not None else horizon, at_least=1)  # type: ignore[arg-type]
    if rounds < arms:
        raise ValueError(
            f"horizon must be at least the number of arms, {arms}; received {rounds}. Play more rounds, or fewer arms."
        )
    if rounds_per_person is None and shape is not None and shape.most is None:
        raise ValueError(UNKNOWN_PERSONS.format(shape.name))
    if rounds_per_person is None:
        rounds_per_person = 1 if shape is None or shape.most is None else shape.most
    person = checks.integer("rounds_per_person", rounds_per_person, at_least=1)
    if person > rounds:
        raise ValueError(f"rounds_per_person must be at most the horizon, {rounds}; received {person}.")
    return arms, rounds, person


def _gaps(gap: SupportsFloat | Sequence[SupportsFloat] | None) -> list[float]:
    if gap is None:
        return list(GAPS)
    gaps = [checks.in_range("gap", one, 0.0, 1.0) for one in (gap if isinstance(gap, Sequence) else [gap])]
    if not gaps or min(gaps) == 0:
        raise ValueError(
            "gap must be greater than 0 and at most 1; received 0 or none. With a gap of 0 all arms are equal, and any"
            " algorithm is as good as any other."
        )
    if len(set(gaps)) < len(gaps):
        raise ValueError(f"gap must have each value once; received {gaps}.")
    return sorted(gaps)


def _trials(trials: SupportsIndex | None, rounds: int) -> int:
    if trials is None:
        return max(LEAST_TRIALS, min(MOST_TRIALS, ROUNDS // rounds))
    return checks.integer("trials", trials, at_least=2)


def _wanted(algorithms: Player | Sequence[Player]) -> dict[str, Asked]:
    """Return the algorithms by their names for readers."""
    listed = list(algorithms) if isinstance(algorithms, (list, tuple)) else [algorithms]
    if not listed:
        raise ValueError("algorithms must name at least one; received none.")
    return {one.shown_as: one for one in map(algorithm_of, listed)}


def eligible(
    players: Iterable[Player | Asked], target: tuple[float, float], rounds: int, game: BanditEnv
) -> tuple[list[Algorithm], dict[str, str]]:
    """Return the algorithms that meet a target for a person, and why the others do not.

    Raises:
        UnknownNameError: If there is no algorithm of a name.
        UnreachableGuaranteeError: If none meets the target.
    """
    found, refused = [], {}
    for one in map(algorithm_of, players):
        try:
            found.append(calibrate_in(one, target, game, rounds_per_person=rounds))
        except ValueError as reason:
            if isinstance(reason, KeyError):
                raise
            refused[one.shown_as] = str(reason)
    if not found:
        raise UnreachableGuaranteeError(
            f"at least one algorithm must guarantee epsilon = {target[0]:g} at delta = {target[1]:g} for a person with"
            f" {in_rounds(rounds)}; none of {', '.join(refused)} does. Use a larger epsilon, fewer rounds a person, or"
            " other algorithms."
        )
    return found, refused


def pick(
    found: Sequence[Standing], algorithms: Mapping[str, Algorithm], names: Sequence[str], uniform: Algorithm
) -> Pick | None:
    """Return which of some algorithms to take; uniform play if the best is not clearly better.

    Of `algorithms`, those that meet the guarantee, only `names` may be picked; None if there are none.
    """
    parts = {name: part for name, part in shares(found).items() if name in names}
    if not parts:
        return None
    best = min(parts, key=lambda name: _mean(parts[name]))
    low, high = interval_of(parts[best])
    if not high < CLEARLY:
        return Pick(uniform.name, uniform, 1.0, (1.0, 1.0))
    near = [name for name in parts if name != best and _mean(parts[name]) <= _mean(parts[best]) + NEAR]
    calm = next((name for name in sorted(near, key=lambda name: _mean(parts[name])) if _safer(found, name, best)), "")
    safer = Safer(calm, algorithms[calm], _mean(parts[calm])) if calm else None
    return Pick(best, algorithms[best], _mean(parts[best]), (low, high), safer)


def _safer(found: Sequence[Standing], name: str, best: str) -> bool:
    """Return whether an algorithm has much better bad games in some situation, and much worse ones in none."""
    tails = {(one.situation, one.algorithm): one.tail for one in found}
    pairs = [(tail, tails[situation, best]) for (situation, other), tail in tails.items() if other == name]
    return any(tail < MUCH * first for tail, first in pairs) and not any(first < MUCH * tail for tail, first in pairs)


def _mean(part: FloatArray) -> float:
    mean = float(part.mean())
    return math.inf if math.isnan(mean) else mean


def _pays_from(
    situation: Situation,
    players: Sequence[Player | Asked],
    *,
    target: tuple[float, float],
    person_rounds: int,
    start: int,
    seed: int,
    jobs: int,
) -> int | None:
    """Return the smallest power of two T at which the best of some algorithms loses less than half of uniform play.

    From a first T it goes down as long as that holds, or up until it does: the share falls with T. It is at least the
    number of arms, and None if that does not hold up to `LARGEST`. Algorithms are calibrated anew for each T.
    """
    if situation.uniform <= 0:
        return None

    def holds(horizon: int) -> bool:
        trials = max(16, min(100, ROUNDS_OF_SEARCH // horizon))
        game = situation.game(horizon)
        try:
            found, _ = eligible(players, target, min(person_rounds, horizon), game)
        except UnreachableGuaranteeError:
            return False
        pairs = [(one, "private") for one in found]
        best = standings(situation, pairs, horizon=horizon, trials=trials, seed=seed, jobs=jobs)[0]  # type: ignore[arg-type]
        return best.mean < SHARE * situation.uniform * horizon

    smallest = 1 << (situation.n_arms - 1).bit_length()
    horizon = min(LARGEST, max(smallest, 1 << (start - 1).bit_length()))
    if holds(horizon):
        while horizon > smallest and holds(horizon // 2):
            horizon //= 2
        return horizon
    while horizon < LARGEST:
        horizon *= 2
        if holds(horizon):
            return horizon
    return None


def _in_replay(
    shape: TrialShape,
    most: int,
    picks: Sequence[Pick | None],
    wanted: Mapping[str, Asked],
    target: tuple[float, float],
    game: BanditEnv,
) -> InReplay:
    """Calibrate the algorithms to take to a replay of a file at its own length, with that many rounds of a person."""
    rounds = shape.rounds_in_replay(most)
    found: dict[str, Algorithm] = {}
    for name in dict.fromkeys(one.name for one in picks if one is not None and one.name != "Uniform"):
        try:
            found[name] = calibrate_in(wanted[name], target, game, rounds_per_person=rounds)
        except UnreachableGuaranteeError:
            continue
    return InReplay(shape.records, rounds, found)
