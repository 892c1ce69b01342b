"""One result of a comparison: the games of one algorithm, at one epsilon, in one environment."""

import dataclasses
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, SupportsIndex

from numpy.typing import NDArray

from dp_bandit_envs import checks
from dp_bandit_envs.errors import WrongTypeError
from dp_bandit_envs.experiments.configurations import Cell, cells_of
from dp_bandit_envs.privacy.guarantee import CONVENTION, ShownEpsilon
from dp_bandit_envs.protocols import FloatArray, IntArray
from dp_bandit_envs.simulation.results import MEASURES, STOPPING, of_measure


@dataclasses.dataclass(frozen=True)
class Entry:
    """The games of one algorithm, at one epsilon, in one environment.

    Attributes:
        key: The game's name in files.
        environment: The environment without number of arms and horizon.
        title: The environment, with sizes that vary in the comparison.
        n_arms: Number of arms K.
        horizon: Number of rounds T.
        algorithm: The algorithm, without its epsilon.
        name: The algorithm, with its epsilon if that varies in the comparison.
        asked: The requested epsilon; None if the algorithm takes none, or has its own.
        level: The guaranteed (epsilon, delta), as returned by `shown_epsilon`; epsilon is inf without a guarantee.
        model: `"local"`, `"central"` or `"none"`.
        covers: Coverage of the guarantee, such as `"arms"`.
        guarantee: The guarantee in words, with its reason.
        first_release: The number of rounds before the first possible release; above T if there is none.
        units: The guaranteed (epsilon, delta) for a `"record"` and a `"person"`, for games on data.
        all_games: The guarantee of all games together, for games on real data: for a person or record if known.
        paper: The epsilon, and the delta, that the paper claims; empty without a paper.
        parameters: The algorithm's parameters; arrays and objects as identifying text.
        calibrated: Whether they were calibrated to the requested epsilon.
        is_real: Whether the game is played on real data.
        bounds: Known upper bounds on the mean of measures at T.
        rounds: The recorded rounds, shape `(checkpoints,)`; the last is T.
        measures: Arrays of shape `(trials, checkpoints)` by name; and `"pulls"`, shape `(trials, n_arms)`.
    """

    key: str
    environment: str
    title: str
    n_arms: int
    horizon: int
    algorithm: str
    name: str
    asked: float | None
    level: ShownEpsilon
    model: str
    covers: str
    guarantee: str
    first_release: int
    units: dict[str, ShownEpsilon]
    all_games: ShownEpsilon | None
    paper: str
    parameters: dict[str, Any]
    calibrated: bool
    is_real: bool
    bounds: dict[str, float]
    rounds: IntArray = dataclasses.field(repr=False)
    measures: Mapping[str, NDArray[Any]] = dataclasses.field(repr=False)

    def values(self, measure: str) -> FloatArray:
        """Return a measure, shape `(trials, checkpoints)`.

        Raises:
            ValueError: If it is unknown, such as the pseudo-regret of arms without means.
        """
        checks.one_of("measure", measure, MEASURES)
        array: FloatArray | None = of_measure(self.measures, measure)
        if array is None:
            names = ", ".join(name for name in MEASURES if name in self.measures)
            if measure in STOPPING and STOPPING[0] not in self.measures:
                raise ValueError(
                    f"measure must be known of every algorithm; {self.name} does not look for the best arm, and has no"
                    f" {measure}. Known: {names}. select(algorithm=...) leaves it out."
                )
            raise ValueError(f"measure must be known in every game; {measure} is not in {self.title}. Known: {names}.")
        return array

    @property
    def silence(self) -> str:
        """A remark on an algorithm that cannot learn in so short a game; otherwise empty."""
        return f"released nothing in {self.horizon:,} rounds" if self.first_release > self.horizon else ""

    @property
    def trials(self) -> int:
        """Number of games."""
        return len(next(iter(self.measures.values())))


@dataclasses.dataclass(frozen=True, repr=False)
class Entries(Sequence[Entry]):
    """Entries of one experiment, with the configuration that describes them; base class of `Comparison`.

    Attributes:
        entries: The entries, by environment.
        configuration: Everything that determined the numbers, as plain values.
    """

    entries: tuple[Entry, ...]
    configuration: Mapping[str, Any]

    def __getitem__(self, index: Any) -> Any:
        if not isinstance(index, (SupportsIndex, slice)):
            raise WrongTypeError(f"index must be a number or a slice; received {index!r}. Use select(algorithm=...).")
        return self.entries[index]

    def __len__(self) -> int:
        return len(self.entries)

    @property
    def titles(self) -> list[str]:
        """The environments, with number of arms and horizon if these vary."""
        return list(dict.fromkeys(entry.title for entry in self.entries))

    @property
    def algorithms(self) -> list[str]:
        """The algorithms, without their epsilons."""
        return list(dict.fromkeys(entry.algorithm for entry in self.entries))

    @property
    def epsilons(self) -> list[float]:
        """The requested epsilons, ascending."""
        return sorted({entry.asked for entry in self.entries if entry.asked is not None})

    @property
    def name(self) -> str:
        """The experiment's name, such as a paper's figure."""
        return str(self.configuration["name"])

    @property
    def seed(self) -> int | None:
        """The seed; None if it was secret."""
        seed: int | None = self.configuration["seed"]
        return seed


def entries_of(configuration: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Iterator[Entry]:
    """Yield the entries of a configuration that describes its results.

    Args:
        configuration: The configuration of a results folder.
        arrays: Arrays by `"game/algorithm/measure"` and `"game/checkpoints"`.
    """
    for cell in cells_of(configuration):
        measures = measures_of(arrays, cell.prefix)
        named = RenamedArrays(arrays, {measure: (cell.prefix + measure, None) for measure in measures})
        yield entry_of(cell, arrays[f"{cell.game['key']}/checkpoints"], named)


def entry_of(cell: Cell, rounds: IntArray, measures: Mapping[str, NDArray[Any]]) -> Entry:
    """Return the entry of a cell of a configuration, with its arrays."""
    game, result = cell
    bounds = {name: float(bound) for name, bound in result.get("bounds", {}).items()}
    return Entry(
        **{name: game[name] for name in ("key", "environment", "title", "n_arms", "horizon", "is_real")},
        **{name: result[name] for name in ("algorithm", "name", "model", "covers", "guarantee", "first_release")},
        asked=None if result["asked"] is None else float(result["asked"]),
        level=_level(result["level"]),
        units={unit: _level(level) for unit, level in result["units"].items()},
        all_games=_level(result["all_games"]) if result.get("all_games") else None,
        # Earlier versions did not store these.
        paper=result.get("paper", ""),
        parameters=dict(result.get("parameters", {})),
        calibrated=result.get("calibrated", False),
        bounds={name: bound for name, bound in bounds.items() if bound < math.inf},
        rounds=rounds,
        measures=measures,
    )


def _level(stored: Sequence[Any]) -> ShownEpsilon:
    epsilon, delta, exact = stored
    return ShownEpsilon(float(epsilon), delta, exact)


def convention_of(entries: Iterable[Entry]) -> str:
    """Return which epsilon of each guarantee is shown."""
    is_asked = any(entry.calibrated and entry.level.delta > 0 for entry in entries)
    return f"{CONVENTION}; where a delta was asked for, the least at that" if is_asked else CONVENTION


def measures_of(arrays: Iterable[str], prefix: str) -> list[str]:
    """Return the measures of the arrays whose names begin with the name of a game and of an algorithm."""
    ends = (name.removeprefix(prefix) for name in arrays if name.startswith(prefix))
    return [measure for measure in ends if "/" not in measure]


ArrayPart = tuple[str, int | None]
"""The name of an array, and how many of its first trials count; None for all."""


class RenamedArrays(Mapping[str, NDArray[Any]]):
    """Arrays under other names, optionally restricted to their first trials, and read on use."""

    def __init__(self, arrays: Mapping[str, NDArray[Any]], names: Mapping[str, ArrayPart]) -> None:
        self._arrays, self._names = arrays, names

    def __getitem__(self, name: str) -> NDArray[Any]:
        source, trials = self._names[name]
        return self._arrays[source][:trials]

    def __contains__(self, name: object) -> bool:
        return name in self._names  # that of mappings would read the array

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


def by_epsilon(entries: Sequence[Entry], title: Callable[[Entry], str]) -> Iterator[tuple[str, list[Entry]]]:
    """Yield entries by title and, if several were requested, by epsilon; entries without epsilon are in each group.

    Args:
        entries: The entries.
        title: Returns the title of an entry's group.
    """
    asked = sorted({entry.asked for entry in entries if entry.asked is not None})
    epsilons: Sequence[float | None] = asked or [None]
    for name in dict.fromkeys(map(title, entries)):
        for epsilon in epsilons:
            group = [entry for entry in entries if title(entry) == name and entry.asked in (None, epsilon)]
            yield (f"{name}, epsilon = {epsilon:g}" if len(asked) > 1 else name), group
