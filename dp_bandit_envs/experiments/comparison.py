"""Compares algorithms in several games, at several epsilons, on the same gains: one object with tables and plots."""

import dataclasses
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from dp_bandit_envs import checks
from dp_bandit_envs.algorithms.specs import Game, Player
from dp_bandit_envs.checks import require
from dp_bandit_envs.errors import ResultsError, WrongTypeError
from dp_bandit_envs.experiments.arguments import experiment_from
from dp_bandit_envs.experiments.configurations import (
    DESCRIBED,
    MADE_BY,
    SECRET,
    cells_of,
    stored_cells,
    union,
    why_not_joined,
)
from dp_bandit_envs.experiments.entries import Entries, Entry, entries_of, entry_of
from dp_bandit_envs.experiments.experiment import Experiment, Results
from dp_bandit_envs.experiments.progress import Requested, check_progress, interruption, progress_of
from dp_bandit_envs.experiments.ranking import Ranking, ranking
from dp_bandit_envs.experiments.running import Progress, StoredArrays, run
from dp_bandit_envs.experiments.store import RESULTS, ResultsFolder, read_finished
from dp_bandit_envs.experiments.tables import summary_csv, summary_of_folder, table, terminal_table, wide_table
from dp_bandit_envs.metrics import mean_and_standard_error
from dp_bandit_envs.seeding import Seed, warn_of_known_seed
from dp_bandit_envs.simulation.results import MEASURES

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from dp_bandit_envs.experiments.report import Report, Study

Algorithms = Player | Sequence[Player] | Mapping[str, Player]


@dataclasses.dataclass(frozen=True, repr=False)
class Comparison(Entries):
    """The result of `compare` and `load`: one entry for each algorithm, at each epsilon, in each environment.

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

    def __repr__(self) -> str:
        names, results = ", ".join(self.algorithms), f"{len(self)} result{'s' * (len(self) != 1)}"
        return f"Comparison({names} on {'; '.join(self.titles)}: {results}, {self._seed_in_words})"

    def __str__(self) -> str:
        """Return an aligned table of the external regret after the last round, with every guarantee."""
        titles, counts = self.titles, {entry.trials for entry in self.entries}

        def regret(entry: Entry) -> str:
            mean, error = map(float, mean_and_standard_error(entry.values("external_regret")[:, -1]))
            return f"{mean:,.1f} ± {error:,.1f}" if entry.trials > 1 else f"{mean:,.1f}"

        about = ["External regret after the last round", *(titles if len(titles) == 1 else [])]
        about += [f"{count:,} trial{'s' * (count != 1)}" for count in counts if len(counts) == 1]
        table = terminal_table(self.entries, "mean ± s.e.", regret)
        return f"{', '.join([*about, self._seed_in_words])}\n{table}"

    @property
    def _seed_in_words(self) -> str:
        return "secret seed" if self.seed is None else f"seed {self.seed}"

    def _repr_html_(self) -> str:
        return self.table("html")

    @property
    def made_by(self) -> dict[str, str]:
        """The version and code that made the numbers."""
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
            ValueError: If no entry matches.
        """
        names = None if algorithm is None else [algorithm] if isinstance(algorithm, str) else _list_names(algorithm)
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
            format: `"markdown"`, `"latex"` (for the package booktabs), `"csv"` or `"html"`. In LaTeX letters are small,
                so that most tables fit the line of a page. For a column of a paper use `wide=True`, `select` and
                short names, or write `table*` for `table`.
            measure: One of `MEASURES`.
            wide: Whether to write a column for each environment, with the mean and its standard error, and a row for
                each algorithm and epsilon; by default each result has a row, with its statistics.
        """
        return (wide_table if checks.boolean("wide", wide) else table)(self.entries, format, measure)

    def ranking(self, *, measure: str = "external_regret", confidence: float = 0.95) -> Ranking:
        """Compare the algorithms of each game pair by pair, on the same gains; see `Ranking`. Needs SciPy.

        Args:
            measure: One of `MEASURES`.
            confidence: Confidence of the intervals, in (0, 1).
        """
        return ranking(self.entries, measure, confidence)

    def plot(
        self,
        against: str = "round",
        *,
        measure: str = "external_regret",
        band: str | None = "ci",
        x_scale: str | None = None,
        y_scale: str = "linear",
        columns: int | None = None,
        ax: "Axes | Sequence[Axes] | NDArray[Any] | None" = None,
        size: tuple[float, float] | None = None,
        colors: Mapping[str, Any] | None = None,
        labels: Mapping[str, str] | None = None,
        legend: str | bool | None = None,
        note: bool | None = None,
    ) -> "Figure":
        """Draw a measure, one panel per game.

        Your matplotlib settings (`plt.rcParams`, `plt.style.use`) are obeyed, including the font size: 8 points unless
        `font.size` differs from matplotlib's default of 10, or you pass axes.

        Args:
            against: `"round"`; or the last round against `"epsilon"`, `"arms"` or `"horizon"`.
            measure: One of `MEASURES`.
            band: `"ci"`, the mean with its 95 % bootstrap interval; `"quantiles"`, the median with the 10 % and 90 %
                quantiles; `"spread"`, the median of means with Gini's mean difference below and above it; or None, the
                mean alone.
            x_scale: `"linear"` or `"log"`; by default linear for rounds, unless they were recorded on a log scale, and
                log otherwise.
            y_scale: `"linear"` or `"log"`. Panels of one game at several epsilons share their scale.
            columns: Number of panels in a row; 1 for a figure as narrow as a column of a paper or a phone. By default a
                figure is as wide as a page.
            ax: Your axes to draw on, one per panel, so that one figure can show several comparisons. An algorithm keeps
                its look within a figure.
            size: Width and height in inches of the whole figure, as in `(3.4, 2.2)`; by default the size that the
                panels need.
            colors: A colour by algorithm; other algorithms avoid these.
            labels: Legend labels by algorithm, replacing name and guarantee.
            legend: `"below"` the panels, `"inside"` the first panel, or False. By default below, and inside on your
                axes.
            note: Whether to explain line and band below the figure. By default only without `size` and `ax`:
                `plot_note` returns it as text for a caption.

        Raises:
            ValueError: If an argument is unknown or out of range, or the size leaves too little room for the panels.
            WrongTypeError: If an argument has the wrong type.

        Example:
            >>> from dp_bandit_envs import compare
            >>> comparison = compare("Stochastic", ["DP-KLUCB", "UCB"], epsilon=1, horizon=200, trials=5)
            >>> figure = comparison.plot(size=(3.4, 2.2), labels={"DP-KLUCB": "ours"}, colors={"UCB": "black"})
            >>> print(comparison.plot_note(labels={"DP-KLUCB": "ours"}).partition(". ")[2])
            ours: epsilon = 1; UCB: no privacy; epsilon is pure up to 30, or else the least at delta = 1e-6.
        """
        from dp_bandit_envs.experiments.drawing import PlotContent, draw

        content = PlotContent(against, measure, band, x_scale, y_scale, labels)
        return draw(self, content, columns=columns, ax=ax, size=size, colors=colors, legend=legend, note=note)

    def plot_note(
        self,
        against: str = "round",
        *,
        measure: str = "external_regret",
        band: str | None = "ci",
        y_scale: str = "linear",
        labels: Mapping[str, str] | None = None,
        format: str = "text",
    ) -> str:
        """Return a caption for a plot: the meaning of line and band, and every guarantee.

        Args:
            against: As for `plot`.
            measure: As for `plot`.
            band: As for `plot`.
            y_scale: As for `plot`.
            labels: As for `plot`.
            format: `"text"` or `"latex"`.
        """
        from dp_bandit_envs.experiments.drawing import PlotContent, write_note

        return write_note(self, PlotContent(against, measure, band, None, y_scale, labels), format)

    def to_pandas(self) -> "pandas.DataFrame":
        """Return a table with a row for each algorithm, epsilon, environment, trial and recorded round.

        Its columns are `environment`, `n_arms`, `horizon`, `algorithm`, `asked_epsilon`, `epsilon`, `delta` (of the
        guarantee), `trial`, `round` and the measures; unknown measures are NaN. For xarray, set an index:
        `to_pandas().set_index(["environment", "algorithm", "asked_epsilon", "trial", "round"]).to_xarray()`.
        """
        pd = require("pandas", extra="results")
        measures = [name for name in MEASURES if any(name in entry.measures for entry in self.entries)]
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
            for name in measures:
                columns[name] = entry.measures[name].ravel() if name in entry.measures else np.nan
            frames.append(pd.DataFrame(columns))
        frame: pandas.DataFrame = pd.concat(frames, ignore_index=True)
        return frame

    def save(self, folder: "str | Path") -> Path:
        """Write all results into a new folder for `load`; return the folder.

        The files are `configuration.json`, `results.npz` and `summary.csv`.

        Raises:
            ResultsError: If the folder holds something else, or cannot be written.
        """
        results, stored = self._folder(folder)
        if stored in (None, self._configuration()):
            self._write(results)
            results.write_again("summary.csv", summary_csv(self.entries))
        return results.path

    def join(self, other: "Comparison") -> "Comparison":
        """Return the union of two comparisons with the same seed, checkpoints, code and data; `a + b` is the same.

        Common entries appear once, under their names here, with the larger number of trials.

        Raises:
            ResultsError: If they do not agree, or one has a secret seed: its games cannot be paired with others.

        Example:
            >>> from dp_bandit_envs import compare
            >>> first = compare("Stochastic", "Uniform", horizon=100, trials=2)
            >>> (first + compare("Stochastic", ["Uniform", "UCB"], horizon=100, trials=3)).algorithms
            ['Uniform', 'UCB']
        """
        if not isinstance(other, Comparison):
            raise WrongTypeError(f"join needs another comparison; received {checks.kind_of(other)}.")
        mine, theirs = self._configuration(), other._configuration()
        if other is self or (mine == theirs and not _has_secret_seed(mine)):
            return self
        if reason := SECRET if mine == theirs else why_not_joined(theirs, mine):
            differs = reason if reason == SECRET else f"Different: {reason}"
            raise ResultsError(f"comparisons must agree to be joined. {differs}.")
        longest: dict[tuple[str, str], Entry] = {}
        for configuration, comparison in ((mine, self), (theirs, other)):
            for cell, entry in zip(cells_of(configuration), comparison.entries, strict=True):
                longest.setdefault(cell.identity, entry)
                if entry.trials > longest[cell.identity].trials:
                    longest[cell.identity] = entry
        configuration = union(theirs, mine)
        pairs = [(cell, longest[cell.identity]) for cell in cells_of(configuration)]
        entries = tuple(entry_of(cell, entry.rounds, entry.measures) for cell, entry in pairs)
        return Comparison(entries, configuration)

    def __add__(self, other: "Comparison") -> "Comparison":
        return self.join(other)

    def report(
        self,
        folder: "str | Path | None" = None,
        *,
        measure: str = "external_regret",
        against: str = "round",
        band: str = "ci",
        y_scale: str = "linear",
    ) -> "Report":
        """Draw the figure, and report every guarantee with its reason, as `dp-bandit run` does.

        Args:
            folder: Folder for `report.md`, `figure.png`, `figure.svg`, `numbers.json` and the files of `save`: a new
                folder, or the comparison's. By default no files are written.
            measure: One of `MEASURES`.
            against: As for `plot`.
            band: As for `plot`.
            y_scale: As for `plot`.

        Returns:
            The figure, the report as text, its notes and numbers.

        Raises:
            ResultsError: If the folder holds something else, or cannot be written.

        Example:
            >>> from dp_bandit_envs import compare
            >>> report = compare("Stochastic", ["DP-KLUCB", "UCB"], epsilon=1, horizon=200, trials=5).report()
            >>> print(report.notes[0].text)
            epsilon = 1 goes to DP-KLUCB. Not to UCB (no privacy).
        """
        from dp_bandit_envs.experiments.report import CENTRES, Study, View, notes_on, report_on

        view = View(measure, CENTRES[checks.one_of("band", band, tuple(CENTRES))], y_scale)
        look: dict[str, Any] = {"measure": measure, "band": band, "y_scale": y_scale}
        figure = self.plot(against, **look)
        notes = [note._replace(text=note.text.replace("--seed", "`seed=`")) for note in notes_on(self)]
        study = Study(
            self.name,
            f"{', '.join(self.algorithms)} on {'; '.join(self.titles)}",
            (),
            view,
            notes=lambda _: notes,
            draw=lambda _, columns, note: {"": figure},
        )
        if folder is None:
            return report_on(study, [], [self])
        results, stored = self._folder(folder)
        if stored is None:
            self._write(results)
        return report_on(study, [], [self], folders=[results, results])

    def _configuration(self) -> dict[str, Any]:
        """Return the configuration of these entries alone, in their order."""
        kept = {(entry.key, entry.name) for entry in self.entries}
        games = [
            {**game, "results": [one for one in game["results"] if (game["key"], one["name"]) in kept]}
            for game in self.configuration[DESCRIBED]
        ]
        return {**self.configuration, DESCRIBED: [game for game in games if game["results"]]}

    def _folder(self, folder: "str | Path") -> tuple[ResultsFolder, dict[str, Any] | None]:
        """Return a folder for these results, and the configuration of the results that it has; raise if these lack."""
        wanted = self._configuration()
        results = ResultsFolder(folder_of(folder), wanted)
        if (finished := results.finished()) is None:
            return results, None
        stored, _ = finished
        trials = {prefix: cell.trials for prefix, cell in stored_cells(stored, wanted).items()}
        if any(trials.get(cell.prefix, 0) < cell.trials for cell in cells_of(wanted)):
            raise ResultsError(
                f"{results.path}: the folder has other finished results; nothing was changed. Choose another folder, or"
                " join them there: (load(folder) + comparison).save(another)."
            )
        if _has_secret_seed(wanted) and not self._has_games_of(load(results.path)):
            raise ResultsError(
                f"{results.path}: the folder has the games of another secret seed; nothing was changed. Choose another"
                " folder."
            )
        return results, stored

    def _has_games_of(self, other: "Comparison") -> bool:
        """Return whether two comparisons with equal configurations have the same games, to the bit."""
        return all(
            np.array_equal(array, theirs.measures[name], equal_nan=True)
            for mine, theirs in zip(self.entries, other.entries, strict=True)
            for name, array in mine.measures.items()
        )

    def _write(self, folder: ResultsFolder) -> None:
        arrays = {f"{entry.key}/checkpoints": entry.rounds for entry in self.entries}
        for entry in self.entries:
            arrays |= {f"{entry.key}/{entry.name}/{name}": array for name, array in entry.measures.items()}
        folder.save(RESULTS, ((name, [np.asarray(array)]) for name, array in arrays.items()))


def _has_secret_seed(configuration: Mapping[str, Any]) -> bool:
    """Return whether a run has a secret seed; two of these have equal configurations and different games."""
    return "seed" in configuration and configuration["seed"] is None


@checks.answers_wrong_calls
def load(folder: "str | Path") -> Comparison:
    """Return the results in a finished folder, made by any version, code and data.

    Every array is checked by its digest when it is first used. `Comparison.made_by` has the version and code that made
    the numbers; only resuming a run needs the same.

    Args:
        folder: A folder written by `compare(..., folder=)`, `Comparison.save`, `dp-bandit run` or
            `dp-bandit reproduce`.

    Raises:
        ResultsError: If it is not such a folder, or is unfinished or damaged.

    Example:
        >>> import tempfile
        >>> from dp_bandit_envs import compare, load
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = compare("Stochastic", "Uniform", horizon=100, trials=2).save(f"{folder}/results")
        ...     load(path)
        Comparison(Uniform on Stochastic: 1 result, seed 0)
    """
    path = folder_of(folder)
    configuration, archive = read_finished(path)
    arrays = StoredArrays(path, configuration, configuration, archive)
    return Comparison(tuple(entries_of(configuration, arrays)), configuration)


def folder_of(folder: "str | Path") -> Path:
    """Return the path of a folder, or raise if it is not a path."""
    return checks.path("folder", folder)


def comparison_of(results: Results) -> Comparison:
    """Return results as a comparison."""
    configuration = results.experiment.configuration()
    return Comparison(tuple(entries_of(configuration, results.arrays)), configuration)


def _list_names(algorithms: Any) -> list[str]:
    if not isinstance(algorithms, Sequence):
        raise WrongTypeError(f"algorithm must be a name or several; received {checks.kind_of(algorithms)}.")
    return list(algorithms)


@checks.answers_wrong_calls
def compare(
    environments: Game | Sequence[Game],
    algorithms: Algorithms,
    *,
    epsilon: float | Sequence[float] | None = None,
    delta: float | None = None,
    at_guarantee: bool | Literal["person"] = False,
    rounds_per_person: int | None = None,
    horizon: int | Sequence[int] | None = None,
    n_arms: int | Sequence[int] | None = None,
    trials: int = 100,
    seed: Seed = "auto",
    checkpoints: str = "linear",
    folder: str | Path | None = None,
    jobs: int = 1,
    progress: Callable[[int, int], None] | bool = True,
) -> Comparison:
    """Play every algorithm at every epsilon in every environment; in one trial all of them face the same gains.

    Args:
        environments: One or several, as for `simulate`, but without wrappers; or `"mine:Drifting"` for a class in the
            module `mine`.
        algorithms: One or several, as for `simulate`; or `"mine:Name"` for an algorithm in the module `mine`. A mapping
            gives them display names; otherwise equal names get their modules, as in `anna:MyAgent`.
        epsilon: One or several, for every algorithm that takes an epsilon without one in its name; by default each
            algorithm's own. Other algorithms play once.
        delta: For every algorithm with a delta; by default T^-2, or your own function's default.
        at_guarantee: Whether each epsilon, with `delta` or else 0, is a target: each algorithm is calibrated so that
            its actual guarantee is as close as possible from below, as with `calibrate`. Algorithms without a guarantee
            are unchanged. With `"person"` it is the guarantee of a person, whose number of rounds comes from the data.
        rounds_per_person: For a per-person target, the most rounds of one person; by default the target is per round.
        horizon: One or several numbers of rounds T; by default each environment's own.
        n_arms: One or several numbers of arms K; by default each environment's own.
        trials: Number of games of each.
        seed: The seed; None for a secret seed. By default 0, and a secret seed for real data. See `simulate`.
        checkpoints: The spacing of the 100 recorded rounds, `"linear"` or `"log"`.
        folder: Folder for intermediate and final results. The same call resumes an interrupted run, and loads a
            finished one. A finished folder can grow: a call with other algorithms, epsilons, environments or more
            trials plays the missing games, with the same numbers as a single call. Other code, data, seeds and
            checkpoints are refused, and so is growth with a secret seed. `load` reads all results in the folder; this
            function reads only the results named by its arguments. Only one process at a time can use it. By default
            results are in memory only.
        jobs: Number of games to play in parallel.
        progress: Whether to show the progress of longer runs on stderr (one line in a terminal, a few lines in a file
            or a notebook), and whether code is compiled first. Or a function that is called with (rounds played, total
            rounds).

    Raises:
        ResultsError: If the folder has other contents, or results that these cannot join, or another process uses it.
        UnknownNameError: If an environment or algorithm is unknown; the message suggests near names.
        UnreachableGuaranteeError: If an algorithm cannot meet a guarantee.
        ValueError: If an argument is duplicated or out of range.
        WrongGameError: If an algorithm cannot play a game.
        WrongTypeError: If an environment or algorithm has the wrong type.

    Example:
        >>> from dp_bandit_envs import compare
        >>> comparison = compare("Stochastic", ["Uniform", "DP-KLUCB"], epsilon=[0.1, 2], horizon=2000, trials=50)
        >>> for entry in comparison.entries:
        ...     print(f"{entry.name}: mean regret {entry.values('external_regret')[:, -1].mean():.1f}")
        Uniform: mean regret 70.2
        DP-KLUCB (epsilon=0.1): mean regret 65.8
        DP-KLUCB (epsilon=2): mean regret 49.4
    """
    checks.integer("jobs", jobs, at_least=1)
    check_progress(progress)
    experiment = None
    try:
        experiment = experiment_from(
            environments,
            algorithms,
            epsilon=epsilon,
            delta=delta,
            at_guarantee=at_guarantee,
            rounds_per_person=rounds_per_person,
            horizon=horizon,
            n_arms=n_arms,
            trials=trials,
            seed=seed,
            checkpoints=checkpoints,
        )
        experiment.check()
        if experiment.seed is not None:
            warn_of_known_seed(experiment.is_real)
        return _compare(experiment, folder, jobs, progress)
    except KeyboardInterrupt:
        is_secret = experiment is not None and experiment.seed is None
        raise interruption(folder, is_secret=is_secret) from None


def _compare(experiment: Experiment, folder: str | Path | None, jobs: int, progress: Requested) -> Comparison:
    with (
        tempfile.TemporaryDirectory() as temporary,
        progress_of("compare", progress, experiment.rounds) as advance,
    ):
        path = Path(temporary) if folder is None else folder_of(folder)
        results = ResultsFolder(path, experiment.configuration())
        arrays = run(experiment, results, jobs=jobs, progress=advance).arrays
        if folder is None:
            arrays = dict(arrays)  # the folder will be gone
    comparison = Comparison(tuple(entries_of(results.configuration, arrays)), results.configuration)
    if folder is not None:
        results.write_again("summary.csv", summary_of_folder(results, comparison.entries, comparison.configuration))
    return comparison


def run_study(study: "Study", folder: Path | None, *, jobs: int, progress: Progress, command: str) -> "Report":
    """Run the missing parts of a study, in a folder or else in memory; write and return its report."""
    from dp_bandit_envs.experiments.report import folders_of, report_on

    with tempfile.TemporaryDirectory() as temporary:
        folders = folders_of(study, Path(temporary) if folder is None else folder)
        pairs = zip(study.experiments, folders[1:], strict=True)
        results = [run(experiment, part, jobs=jobs, progress=progress) for experiment, part in pairs]
        if folder is None:
            results = [Results(of_experiment.experiment, dict(of_experiment.arrays)) for of_experiment in results]
    comparisons = list(map(comparison_of, results))
    return report_on(study, results, comparisons, command=command, folders=[] if folder is None else folders)
