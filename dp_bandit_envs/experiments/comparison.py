"""The results of a comparison: games of several algorithms at several epsilons, each with its guarantee."""

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, SupportsIndex

import numpy as np
from numpy.typing import NDArray

from dp_bandit_envs import checks
from dp_bandit_envs.checks import require
from dp_bandit_envs.errors import ResultsError, WrongTypeError
from dp_bandit_envs.experiments.entries import Entry, Named
from dp_bandit_envs.experiments.experiment import Experiment, Results
from dp_bandit_envs.experiments.ranking import Ranking, ranking
from dp_bandit_envs.experiments.run_report import CENTRES, Study, View
from dp_bandit_envs.experiments.store import DESCRIBED, MADE_BY, RESULTS, ResultsFolder, read_finished
from dp_bandit_envs.experiments.tables import summary_csv, table, wide_table
from dp_bandit_envs.privacy.guarantee import ShownEpsilon
from dp_bandit_envs.simulation.results import MEASURES

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure

    from dp_bandit_envs.experiments.reporting import Report


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
        Stochastic,DP-KLUCB,1,1,0,central; arms and releases,5,9.2,1.319090596,10,12.88
    """

    entries: tuple[Entry, ...]
    configuration: Mapping[str, Any]
    _results: Results | None = dataclasses.field(default=None, compare=False)

    def __reduce__(self) -> Any:
        return Comparison, (self.entries, self.configuration)  # what was played may hold what cannot be pickled

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
        n_arms = None if n_arms is None else checks.integer("n_arms", n_arms, at_least=1)
        horizon = None if horizon is None else checks.integer("horizon", horizon, at_least=1)
        if not (environment is None or isinstance(environment, str)):
            raise WrongTypeError(f"environment must be its name; received {checks.kind_of(environment)}.")
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
        columns: int | None = None,
    ) -> "Figure":
        """Draw a measure, one panel a game.

        Args:
            against: `"round"`; or the last round against `"epsilon"`, `"arms"` or `"horizon"`.
            measure: One of `MEASURES`.
            band: `"ci"`, the mean with its 95 % bootstrap interval; `"quantiles"`, the median with the 10 % and 90 %
                quantiles; or `"spread"`, the median of means with Gini's mean difference below and above it.
            x_scale: `"linear"` or `"log"`; by default linear for rounds, unless they were recorded on a log scale, and
                log for the others.
            y_scale: `"linear"` or `"log"`. Panels of one game at several epsilons share their scale.
            columns: Number of panels in a row; 1 for a figure as narrow as a column of a paper or a telephone. By
                default a figure is as wide as a page.
        """
        from dp_bandit_envs.experiments.drawing import draw

        return draw(self, against, measure=measure, band=band, x_scale=x_scale, y_scale=y_scale, columns=columns)

    def to_pandas(self) -> "pandas.DataFrame":
        """Return a table with a row for each algorithm, epsilon, environment, trial and recorded round.

        Its columns are `environment`, `n_arms`, `horizon`, `algorithm`, `asked_epsilon`, `epsilon`, `delta` (those of
        the guarantee), `trial`, `round` and the measures; one that is not known is NaN. For xarray, set an index:
        `to_pandas().set_index(["environment", "algorithm", "asked_epsilon", "trial", "round"]).to_xarray()`.
        """
        pd = require("pandas", extra="results")
        known = [measure for measure in MEASURES if any(measure in entry.measures for entry in self.entries)]
        frames = []
        for entry in self.entries:
            columns: dict[str, Any] = {
                "environment": entry.title,
                "n_arms": entry.n_arms,
                "horizon": entry.horizon,
                "algorithm": entry.algorithm,
                "asked_epsilon": np.nan if entry.asked is None else entry.asked,
                "epsilon": entry.level.epsilon,
                "delta": entry.level.delta,
                "trial": np.repeat(np.arange(entry.trials), len(entry.rounds)),
                "round": np.tile(entry.rounds, entry.trials),
            }
            for measure in known:
                columns[measure] = entry.measures[measure].ravel() if measure in entry.measures else np.nan
            frames.append(pd.DataFrame(columns))
        frame: pandas.DataFrame = pd.concat(frames, ignore_index=True)
        return frame

    def save(self, folder: "str | Path") -> Path:
        """Write everything into a new folder, from which `load` reads it; return the folder.

        The files are `configuration.json`, `results.npz` and `summary.csv`.

        Raises:
            ResultsError: If the folder holds something else, or cannot be written.
        """
        place = self._folder(folder)
        self._write(place)
        place.write_again("summary.csv", summary_csv(self.entries))
        return place.path

    def report(
        self,
        folder: "str | Path | None" = None,
        *,
        measure: str = "external_regret",
        against: str = "round",
        band: str = "ci",
        y_scale: str = "linear",
    ) -> "Report":
        """Draw, and report every guarantee with its reason, as `dp-bandit run` does.

        Args:
            folder: Where to write `report.md`, `figure.png`, `figure.svg`, `numbers.json` and what `save` writes: a new
                one, or that of the comparison. By default nothing is written.
            measure: One of `MEASURES`.
            against: As for `plot`.
            band: As for `plot`.
            y_scale: As for `plot`.

        Returns:
            The figure, the report as text, its notes and numbers.

        Raises:
            ResultsError: If the comparison was loaded, as its games are not there then; or if the folder holds
                something else, or cannot be written.

        Example:
            >>> from dp_bandit_envs import compare
            >>> report = compare("Stochastic", ["DP-KLUCB", "UCB"], epsilon=1, horizon=200, trials=5).report()
            >>> print(report.notes[0].text)
            epsilon = 1 goes to DP-KLUCB. Not to UCB (no privacy).
        """
        from dp_bandit_envs.experiments.reporting import notes_on, report_on

        view = View(measure, CENTRES[checks.one_of("band", band, tuple(CENTRES))], y_scale)
        look: dict[str, Any] = {"measure": measure, "band": band, "y_scale": y_scale}
        figure = self.plot(against, **look)
        experiment = self._experiment()
        results = Results(experiment, self._results.arrays if self._results else {})
        notes = [note._replace(text=note.text.replace("--seed", "`seed=`")) for note in notes_on(experiment)]
        study = Study(
            experiment.name,
            f"{', '.join(self.algorithms)} on {'; '.join(self.titles)}",
            (experiment,),
            view,
            notes=lambda _: notes,
            draw=lambda _, columns: figure if columns is None else self.plot(against, **look, columns=columns),
        )
        if folder is None:
            return report_on(study, [results], [self])
        place = self._folder(folder)
        if not place.has(RESULTS):
            self._write(place)
        return report_on(study, [results], [self], folders=[place, place])

    def _experiment(self) -> Experiment:
        """Return the experiment of these entries."""
        if self._results is None:
            raise ResultsError(
                "a report needs the games, to say what is guaranteed and why; this comparison was loaded without them."
                " Give compare the same arguments with folder=: a finished folder is not played again."
            )
        whole, kept = self._results.experiment, {(entry.key, entry.name) for entry in self.entries}
        panels = []
        for panel in whole.panels:
            pairs = zip(whole.contestants_of(panel), whole.players(panel), strict=True)
            chosen = tuple(one for one, player in pairs if (panel.key, player.name) in kept)
            if chosen:
                panels.append(dataclasses.replace(panel, contestants=chosen))
        experiment = dataclasses.replace(whole, panels=tuple(panels))
        vars(experiment)["files"] = whole.files  # as they were when they were played
        return experiment

    def _folder(self, folder: "str | Path") -> ResultsFolder:
        """Return the results folder of these entries."""
        kept = {(entry.key, entry.name) for entry in self.entries}
        games = [
            {**game, "results": [one for one in game["results"] if (game["key"], one["name"]) in kept]}
            for game in self.configuration[DESCRIBED]
        ]
        games = [game for game in games if game["results"]]
        return ResultsFolder(folder_of(folder), {**self.configuration, DESCRIBED: games})

    def _write(self, folder: ResultsFolder) -> None:
        arrays = {f"{entry.key}/checkpoints": entry.rounds for entry in self.entries}
        for entry in self.entries:
            arrays |= {f"{entry.key}/{entry.name}/{name}": array for name, array in entry.measures.items()}
        folder.save(RESULTS, ((name, [np.asarray(array)]) for name, array in arrays.items()))


@checks.answers_wrong_calls
def load(folder: "str | Path") -> Comparison:
    """Return the results in a finished folder, by whatever version, code and data they were made.

    Every array is checked by its digest when it is first used. `Comparison.made_by` says by which version and code the
    numbers were made; only resuming a run needs the same.

    Args:
        folder: One that `compare(..., folder=)`, `Comparison.save`, `dp-bandit run` or `dp-bandit reproduce` wrote.

    Raises:
        ResultsError: If it is no such folder, or is not finished or damaged.

    Example:
        >>> import tempfile
        >>> from dp_bandit_envs import compare, load
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = compare("Stochastic", "Uniform", horizon=100, trials=2).save(f"{folder}/results")
        ...     print(load(path))
        Comparison(Uniform on Stochastic: 1 results, seed 0)
    """
    return comparison_of(*read_finished(folder_of(folder)))


def folder_of(folder: "str | Path") -> Path:
    """Return the path of a folder, or raise if it is none."""
    return checks.path("folder", folder)


def comparison_of_results(results: Results) -> Comparison:
    """Return what was played as a comparison."""
    return comparison_of(results.experiment.configuration(), results.arrays, results.experiment)


def _listed(algorithms: Any) -> list[str]:
    if not isinstance(algorithms, Sequence):
        raise WrongTypeError(f"algorithm must be a name or several; received {checks.kind_of(algorithms)}.")
    return list(algorithms)


def comparison_of(
    configuration: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], experiment: Experiment | None = None
) -> Comparison:
    """Return the comparison of a configuration that describes its results, and their arrays by name.

    Args:
        configuration: That of a results folder.
        arrays: The arrays in it.
        experiment: What was played, if it is still there.
    """
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
                    first_release=one["first_release"],
                    units={unit: _level(level) for unit, level in one["units"].items()},
                    rounds=arrays[f"{game['key']}/checkpoints"],
                    measures=Named(arrays, names),
                )
            )
    return Comparison(tuple(entries), configuration, None if experiment is None else Results(experiment, arrays))


def _level(stored: Sequence[Any]) -> ShownEpsilon:
    epsilon, delta, exact = stored
    return ShownEpsilon(float(epsilon), delta, exact)
