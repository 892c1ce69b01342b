"""The results of a comparison: games of several algorithms at several epsilons, each with its guarantee."""

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, SupportsIndex

from numpy.typing import NDArray

from dp_bandit_envs import checks
from dp_bandit_envs.comparison.compared_games import MEASURES, Entry, Named
from dp_bandit_envs.comparison.labelled import to_pandas, to_xarray
from dp_bandit_envs.comparison.ranking import Ranking, ranking
from dp_bandit_envs.comparison.tables import table, wide_table
from dp_bandit_envs.errors import WrongTypeError
from dp_bandit_envs.privacy.guarantee import Level
from dp_bandit_envs.runs.store import DESCRIBED, MADE_BY

if TYPE_CHECKING:
    import pandas
    import xarray
    from matplotlib.figure import Figure


@dataclasses.dataclass(frozen=True, repr=False)
class Comparison(Sequence[Entry]):
    """What `compare` returns and `load` reads: one entry for each algorithm, at each epsilon, in each environment.

    Attributes:
        entries: The entries, by environment.
        configuration: Everything that determined the numbers, as plain values.

    Example:
        >>> from dp_bandit_envs import compare
        >>> comparison = compare("Stochastic", ["DP-KLUCB", "KL-UCB"], horizon=200, trials=5, epsilon=1)
        >>> comparison.algorithms, comparison.epsilons
        (['DP-KLUCB', 'KL-UCB'], [1.0])
        >>> print(comparison.table("csv").splitlines()[1])
        Stochastic,DP-KLUCB,1,1,0,central; arms and releases,5,7.2,1.462873884,6,12.72
    """

    entries: tuple[Entry, ...]
    configuration: Mapping[str, Any]

    def __getitem__(self, index: Any) -> Any:
        if not isinstance(index, (SupportsIndex, slice)):
            raise WrongTypeError(f"index must be a number or a slice; received {index!r}. Use select(algorithm=...).")
        return self.entries[index]

    def __len__(self) -> int:
        return len(self.entries)

    def __repr__(self) -> str:
        seed = "secret seed" if self.seed is None else f"seed {self.seed}"
        names = ", ".join(self.algorithms)
        return f"Comparison({names} on {'; '.join(self.titles)}: {len(self)} results, {seed})"

    def _repr_html_(self) -> str:
        return self.table("html")

    @property
    def titles(self) -> list[str]:
        """The environments, with number of arms and horizon where there are several."""
        return list(dict.fromkeys(entry.title for entry in self.entries))

    @property
    def algorithms(self) -> list[str]:
        """The algorithms, at whichever epsilon."""
        return list(dict.fromkeys(entry.algorithm for entry in self.entries))

    @property
    def epsilons(self) -> list[float]:
        """The epsilons that were asked for, ascending."""
        return sorted({entry.asked for entry in self.entries if entry.asked is not None})

    @property
    def seed(self) -> int | None:
        """The seed; None if it was secret."""
        seed: int | None = self.configuration["seed"]
        return seed

    @property
    def made_by(self) -> dict[str, str]:
        """By which version and code the numbers were made."""
        return dict(self.configuration[MADE_BY])

    def select(
        self,
        *,
        environment: str | None = None,
        algorithm: str | Sequence[str] | None = None,
        epsilon: float | None = None,
        n_arms: int | None = None,
        horizon: int | None = None,
    ) -> "Comparison":
        """Return the entries that match; an algorithm that takes no epsilon matches every epsilon.

        Raises:
            ValueError: If none does.
        """
        names = None if algorithm is None else [algorithm] if isinstance(algorithm, str) else _listed(algorithm)
        for name in names or []:
            if not any(name in (entry.algorithm, entry.name) for entry in self.entries):
                raise ValueError(f"algorithm must be among {', '.join(self.algorithms)}; received {name!r}.")
        if environment is not None and not any(environment in (one.environment, one.title) for one in self.entries):
            raise ValueError(f"environment must be among {'; '.join(self.titles)}; received {environment!r}.")
        if epsilon is not None and checks.epsilon(epsilon) not in self.epsilons:
            raise ValueError(
                f"epsilon must be among {', '.join(f'{one:g}' for one in self.epsilons) or 'none'}, as asked for;"
                f" received {epsilon!r}. Leave it out for all."
            )
        kept = tuple(
            entry
            for entry in self.entries
            if (environment is None or environment in (entry.environment, entry.title))
            and (names is None or entry.algorithm in names or entry.name in names)
            and (epsilon is None or entry.asked is None or entry.asked == epsilon)
            and (n_arms is None or entry.n_arms == n_arms)
            and (horizon is None or entry.horizon == horizon)
        )
        if not kept:
            raise ValueError(
                f"the selection must match a result; none of {', '.join(self.algorithms)} on {'; '.join(self.titles)}"
                f" does. Epsilons: {self.epsilons}."
            )
        return dataclasses.replace(self, entries=kept)

    def table(self, format: str = "markdown", *, measure: str = "external_regret", wide: bool = False) -> str:
        """Return a table of a measure after the last round, with every guarantee.

        Args:
            format: `"markdown"`, `"latex"` (for the package booktabs), `"csv"` or `"html"`.
            measure: One of `MEASURES`.
            wide: Whether to write a column for each environment, with the mean and its standard error, and a row for
                each algorithm and epsilon; by default each result has a row, with its statistics.
        """
        return (wide_table if checks.boolean("wide", wide) else table)(self.entries, format, measure)

    def ranking(self, *, measure: str = "external_regret", confidence: float = 0.95) -> Ranking:
        """Compare the algorithms of each game pair by pair, on the same gains; see `Ranking`. Needs SciPy.

        Args:
            measure: One of `MEASURES`.
            confidence: That of the intervals, in (0, 1).
        """
        return ranking(self.entries, measure, confidence)

    def plot(
        self,
        against: str = "round",
        *,
        measure: str = "external_regret",
        band: str = "ci",
        x_scale: str | None = None,
        y_scale: str = "linear",
    ) -> "Figure":
        """Draw a measure, one panel a game.

        Args:
            against: `"round"`; or the last round against `"epsilon"`, `"arms"` or `"horizon"`.
            measure: One of `MEASURES`.
            band: `"ci"`, the mean with its 95 % bootstrap interval; `"quantiles"`, the median with the 10 % and 90 %
                quantiles; or `"spread"`, the median of means with Gini's mean difference below and above it.
            x_scale: `"linear"` or `"log"`; by default linear for rounds, unless they were recorded on a log scale, and
                log for the others.
            y_scale: `"linear"` or `"log"`.
        """
        from dp_bandit_envs.comparison.drawing import draw

        return draw(self, against, measure=measure, band=band, x_scale=x_scale, y_scale=y_scale)

    def to_pandas(self) -> "pandas.DataFrame":
        """Return a table with a row for each algorithm, epsilon, environment, trial and recorded round.

        Its columns are `environment`, `n_arms`, `horizon`, `algorithm`, `asked_epsilon`, `epsilon`, `delta` (those of
        the guarantee), `trial`, `round` and the measures; one that is not known is NaN.
        """
        return to_pandas(self.entries, MEASURES)

    def to_xarray(self) -> "xarray.Dataset":
        """Return a dataset with the dimensions environment, algorithm, epsilon, trial and round.

        The coordinate epsilon is what was asked for; an algorithm that takes none has the same numbers at each. The
        guarantees are the variables `guaranteed_epsilon`, `guaranteed_delta` and `guarantee`. What was not played or
        recorded is NaN.
        """
        return to_xarray(self.entries, MEASURES, self.epsilons, {**self.made_by, "seed": str(self.seed)})

    def save(self, folder: "str | Path") -> Path:
        """Write everything into a new folder, from which `load` reads it; return the folder.

        The files are `configuration.json`, `results.npz`, `summary.csv`, and with the extra `results` the same numbers
        as `results.nc` (netCDF).

        Raises:
            ResultsError: If the folder holds something else, or cannot be written.
        """
        from dp_bandit_envs.comparison.saving import folder_of, save

        return save(self, folder_of(folder))


def _listed(algorithms: Any) -> list[str]:
    if not isinstance(algorithms, Sequence):
        raise WrongTypeError(f"algorithm must be a name or several; received a {type(algorithms).__name__}.")
    return list(algorithms)


def comparison_of(configuration: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Comparison:
    """Return the comparison of a configuration that describes its results, and their arrays by name."""
    entries = []
    for game in configuration[DESCRIBED]:
        for one in game["results"]:
            start = f"{game['key']}/{one['name']}/"
            names = {name.removeprefix(start): name for name in arrays if name.startswith(start)}
            entries.append(
                Entry(
                    key=game["key"],
                    environment=game["environment"],
                    title=game["title"],
                    n_arms=game["n_arms"],
                    horizon=game["horizon"],
                    algorithm=one["algorithm"],
                    name=one["name"],
                    asked=None if one["asked"] is None else float(one["asked"]),
                    level=_level(one["level"]),
                    model=one["model"],
                    covers=one["covers"],
                    guarantee=one["guarantee"],
                    units={unit: _level(level) for unit, level in one["units"].items()},
                    rounds=arrays[f"{game['key']}/checkpoints"],
                    measures=Named(arrays, names),
                )
            )
    return Comparison(tuple(entries), configuration)


def _level(stored: Sequence[Any]) -> Level:
    epsilon, delta, exact = stored
    return Level(float(epsilon), delta, exact)
