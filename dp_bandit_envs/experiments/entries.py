"""One result of a comparison: the games of one algorithm, at one epsilon, in one environment."""

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from numpy.typing import NDArray

from dp_bandit_envs import checks
from dp_bandit_envs.privacy.guarantee import ShownEpsilon
from dp_bandit_envs.protocols import FloatArray, IntArray
from dp_bandit_envs.simulation.results import MEASURES, of_measure


@dataclasses.dataclass(frozen=True)
class Entry:
    """The games of one algorithm, at one epsilon, in one environment.

    Attributes:
        key: The game's name in files.
        environment: The environment without number of arms and horizon.
        title: The environment, with these where a comparison has several.
        n_arms: Number of arms K.
        horizon: Number of rounds T.
        algorithm: The algorithm, at whichever epsilon.
        name: The algorithm, with its epsilon where a comparison has several.
        asked: The epsilon that was asked for; None if the algorithm takes none, or has its own.
        level: The guaranteed (epsilon, delta), as `shown_epsilon` shows it; epsilon is inf if nothing is guaranteed.
        model: `"local"`, `"central"` or `"none"`.
        covers: What the guarantee covers, such as `"arms"`.
        guarantee: The guarantee in words, with its reason.
        first_release: The least number of rounds after which anything can be released; above T, nothing was.
        units: The guaranteed (epsilon, delta) for a `"record"` and a `"person"`, where games are played on data.
        rounds: The rounds that were recorded, shape `(checkpoints,)`; the last is T.
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
    rounds: IntArray = dataclasses.field(repr=False)
    measures: Mapping[str, NDArray[Any]] = dataclasses.field(repr=False)

    def values(self, measure: str) -> FloatArray:
        """Return a measure, shape `(trials, checkpoints)`.

        Raises:
            ValueError: If it is not known, such as the pseudo-regret where arms have no means.
        """
        checks.one_of("measure", measure, MEASURES)
        found: FloatArray | None = of_measure(self.measures, measure)
        if found is None:
            known = ", ".join(name for name in MEASURES if name in self.measures)
            raise ValueError(f"measure must be known in every game; {measure} is not in {self.title}. Known: {known}.")
        return found

    @property
    def silence(self) -> str:
        """What is said of an algorithm that cannot learn anything in so short a game; else empty."""
        return f"released nothing in {self.horizon:,} rounds" if self.first_release > self.horizon else ""

    @property
    def trials(self) -> int:
        """Number of games."""
        return len(next(iter(self.measures.values())))


class Named(Mapping[str, NDArray[Any]]):
    """Arrays under other names, read when they are used."""

    def __init__(self, arrays: Mapping[str, NDArray[Any]], names: Mapping[str, str]) -> None:
        self._arrays, self._names = arrays, names

    def __getitem__(self, name: str) -> NDArray[Any]:
        return self._arrays[self._names[name]]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


def by_epsilon(entries: Sequence[Entry], title: Callable[[Entry], str]) -> Iterator[tuple[str, list[Entry]]]:
    """Yield entries by title, and if several epsilons were asked for by these; others are with each epsilon.

    Args:
        entries: The entries.
        title: Returns the title of an entry's group.
    """
    found = sorted({entry.asked for entry in entries if entry.asked is not None})
    epsilons: Sequence[float | None] = found or [None]
    for name in dict.fromkeys(map(title, entries)):
        for epsilon in epsilons:
            group = [entry for entry in entries if title(entry) == name and entry.asked in (None, epsilon)]
            yield (f"{name}, epsilon = {epsilon:g}" if len(found) > 1 else name), group
