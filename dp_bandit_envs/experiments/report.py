"""A study (experiments with the claims that they test) and its report: figure, numbers, guarantees, verdicts, notes."""

import dataclasses
import enum
import importlib.metadata
import json
import math
import platform
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from dp_bandit_envs.algorithms.specs import GameSpec
from dp_bandit_envs.experiments.entries import Entries, Entry, convention_of
from dp_bandit_envs.experiments.experiment import Experiment, Results, labels_of
from dp_bandit_envs.experiments.store import ResultsFolder
from dp_bandit_envs.experiments.tables import markdown_table, summary_of_folder
from dp_bandit_envs.metrics import median_of_means, summary
from dp_bandit_envs.privacy.guarantee import UNITS, ShownEpsilon, format_levels, label_of
from dp_bandit_envs.protocols import FloatArray
from dp_bandit_envs.seeding import KNOWN_SEED

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from dp_bandit_envs.plots.curves_figure import Panel

EXTREMES = "least to greatest"
STATISTICS = {"mean": "mean", "error": "standard_error", "median": "median", "tail": "quantile_99"}
"""Statistics of `numbers.json`, by their names there."""
FOR_UNITS = tuple(f"for a {unit}" for unit in UNITS)
PACKAGES = ("dp-bandit-envs", "gymnasium", "numpy", "numba", "matplotlib")


ABOUT_GUARANTEES = """\
A guarantee covers the arms played in one game. It does not cover this report: regrets, figure and raw arrays are
computed from true gains, for the evaluator. If the gains are real data, every trial on the same data spends its
guarantee again, a person whose data are used in r rounds is protected at r times epsilon, and anyone who knows the seed
can subtract the noise. Where the game is played on records, the columns "for a record" and "for a person" say
what is left of the guarantee for all rounds in which the data of one of them can serve."""
Numbers: TypeAlias = Mapping[str, float]
"""Numbers by name, such as a `"mean"` and its standard `"error"`."""
CENTRES = {"ci": "mean", "quantiles": "median", "spread": "median of means"}
"""The statistic of a line, by the kind of its band."""


SECRET_SEED = (
    "The data are real, so the seed is a secret one, drawn from the operating system and written nowhere: this run"
    " cannot be repeated, nor continued after an interruption. With a given one it could, but whoever knows a seed can"
    " subtract the noise."
)
HARDLY = 10.0
"""An epsilon from which on what is seen is 20,000 times as likely with these data as with others."""


class Verdict(enum.Enum):
    """Whether the results support a claim; the values are the words in the report."""

    YES = "yes"
    NO = "no"
    UNDECIDED = "cannot tell"


@dataclasses.dataclass(frozen=True)
class Claim:
    """A claim of a paper with its verdict.

    Attributes:
        numbers: The decisive numbers.
        verdict: Whether the claim holds.
        says: The claim in words.
        seen: The numbers in words.
        why: The reason for the verdict.
    """

    numbers: Any
    verdict: Verdict
    says: str
    seen: str
    why: str = ""

    @property
    def answer(self) -> str:
        """The verdict with its reason, as in "no, it grows for two arms"."""
        between = " " if self.verdict is Verdict.UNDECIDED else ", "
        return f"{self.verdict.value}{between}{self.why}" if self.why else self.verdict.value


class Note(NamedTuple):
    """A note for the reader before the results.

    Attributes:
        text: Markdown.
        warning: A warning before the text, also shown in the terminal.
        on_terminal: Whether the terminal shows the note even without a warning.
    """

    text: str
    warning: str = ""
    on_terminal: bool = False

    def __str__(self) -> str:
        return f"**{self.warning}** {self.text}" if self.warning else self.text


class View(NamedTuple):
    """How to show regret in figure, tables and report.

    Attributes:
        measure: The measure, such as `"external_regret"`.
        centre: The statistic of a line, a value of `CENTRES`.
        scale: The axis of regret, `"linear"` or `"log"`.
        columns: Number of panels in a row of the figure; None for the figure's default.
        first_round: The first round of lines over time, if the games are longer.
        log_games: Keys of games whose panels have a logarithmic axis of regret for any scale.
        claimed_by: The author of the claims, for a heading.
    """

    measure: str = "external_regret"
    centre: str = "median of means"
    scale: str = "linear"
    columns: int | None = None
    first_round: int = 1
    log_games: tuple[str, ...] = ()
    claimed_by: str = "The paper"

    @property
    def band(self) -> str:
        """The kind of line and band in the figure, a key of `dp_bandit_envs.metrics.BANDS`."""
        return next(band for band, centre in CENTRES.items() if centre == self.centre)


AS_IN_2017 = View()
"""As in Tossou and Dimitrakakis (2017)."""


@dataclasses.dataclass(frozen=True)
class Study:
    """Experiments and their report. Each function takes the results of all experiments.

    Attributes:
        name: The folder's name below `results/`.
        title: The report's heading.
        experiments: The experiments; if several, each has a folder with its name.
        view: How to show regret.
        notes: Returns the notes that precede the results.
        claims: Returns every claim with its verdict.
        numbers: Returns further numbers for `numbers.json`, by name.
        draw: Draws the results in this number of columns (None for the default), and returns figures by name; by
            default one unnamed figure of lines over time, a panel per game. Its last argument is whether to explain
            line and band below the panels.
    """

    name: str
    title: str
    experiments: tuple[Experiment, ...]
    view: View = AS_IN_2017
    notes: Callable[[Sequence[Results]], Sequence[Note]] = lambda _: ()
    claims: Callable[[Sequence[Results]], list[Claim]] = lambda _: []
    numbers: Callable[[Sequence[Results]], Mapping[str, Numbers]] = lambda _: {}
    draw: "Callable[[Sequence[Results], int | None, bool], Mapping[str, Figure]] | None" = None


@dataclasses.dataclass(frozen=True, repr=False)
class Report:
    """The findings of a study: a figure, its numbers, and verdicts on its claims. A notebook shows the figure.

    Attributes:
        title: The study's title.
        figures: The figures, by name.
        claims: Every claim in order, with `says` (the claim), `seen` (the finding), `verdict`, and `why`.
        notes: Notes that precede the results.
        results: A `Comparison` for each experiment, by its name.
        numbers: The numbers of the tables, and further numbers that claims compare, by name; None for missing.
        text: The whole report in Markdown.
        folder: The output folder, or None.
        is_written: Whether all files could be written; a folder with results may be read-only.
    """

    title: str
    figures: "Mapping[str, Figure]"
    claims: tuple[Claim, ...]
    notes: tuple[Note, ...]
    results: Mapping[str, Any]
    numbers: Mapping[str, Mapping[str, float | None]]
    text: str
    folder: Path | None = None
    is_written: bool = False

    @property
    def figure(self) -> "Figure":
        """The first figure."""
        return next(iter(self.figures.values()))

    @property
    def pictures(self) -> list[str]:
        """The names of the figures' files in the folder."""
        return pictures_of(self.figures)

    @property
    def verdicts(self) -> dict[str, str]:
        """Whether each claim holds, by its words: `"yes"`, `"no"` or `"cannot tell"`."""
        return {claim.says: claim.verdict.value for claim in self.claims}

    def __repr__(self) -> str:
        lines = [f"{self.title}" + ("" if self.folder is None else f", in {self.folder}")]
        lines += [note.warning for note in self.notes if note.warning]
        return "\n".join([*lines, *(f"- {claim.says} {claim.answer}" for claim in self.claims)])

    def _repr_png_(self) -> bytes:
        from dp_bandit_envs.plots.plot_style import as_bytes

        return as_bytes(self.figure, "png")


def folders_of(study: Study, path: Path) -> list[ResultsFolder]:
    """Return the folder of the report and of each experiment: the same folder, or subfolders for several."""
    settings = {experiment.name: experiment.configuration() for experiment in study.experiments}
    if len(settings) == 1:
        (configuration,) = settings.values()
        return [ResultsFolder(path, configuration)] * 2
    whole = ResultsFolder(path, {"name": study.name, "experiments": settings})
    return [whole, *(ResultsFolder(path / name, configuration) for name, configuration in settings.items())]


def report_on(
    study: Study,
    results: Sequence[Results],
    comparisons: Sequence[Entries],
    *,
    command: str = "",
    folders: Sequence[ResultsFolder] = (),
) -> Report:
    """Draw and judge the results of a study; write figure, tables and report if there are folders from `folders_of`.

    `comparisons` are the same results as comparisons; `command` is quoted by the report.
    """
    figures = draw_figures(study, results)
    claims, notes = tuple(study.claims(results)), tuple(study.notes(results))
    text = report_md(
        comparisons,
        title=study.title,
        command=command,
        view=study.view,
        notes=notes,
        claims=claims,
        pictures=pictures_of(figures),
    )
    numbers = numbers_json(comparisons, study.view, study.numbers(results))
    written = []
    if folders:
        from dp_bandit_envs.plots.plot_style import as_bytes

        whole, *parts = folders
        for kind in ("png", "svg"):
            for file, figure in zip(pictures_of(figures, kind), figures.values(), strict=True):
                written.append(whole.write_again(file, as_bytes(figure, kind)))
        for comparison, folder in zip(comparisons, parts, strict=True):
            table = summary_of_folder(folder, comparison.entries, comparison.configuration, study.view.measure)
            written.append(folder.write_again("summary.csv", table))
        written += [whole.write_again("report.md", text), whole.write_again("numbers.json", numbers)]
    return Report(
        title=study.title,
        figures=figures,
        claims=claims,
        notes=notes,
        results={comparison.name: comparison for comparison in comparisons},
        numbers=json.loads(numbers),
        text=text,
        folder=folders[0].path if folders else None,
        is_written=bool(written) and all(written),
    )


def draw_figures(
    study: Study, results: Sequence[Results], columns: int | None = None, *, note: bool = True
) -> "Mapping[str, Figure]":
    """Draw the results of a study, and return figures by name.

    `columns` is the number of panels in a row, 1 for a phone; `note` says whether line and band are explained below.
    """
    if study.draw is not None:
        return study.draw(results, columns, note)
    view = study.view if columns is None else study.view._replace(columns=columns)
    return {"": draw_over_time(results[0], view, note)}


def pictures_of(names: Iterable[str], kind: str = "png") -> list[str]:
    """Return the files of figures, as in "figure-bandits.png"; "figure.png" for an unnamed figure."""
    return [f"figure-{name}.{kind}" if name else f"figure.{kind}" for name in names]


def draw_over_time(results: Results, view: View, note: bool = True) -> "Figure":
    """Draw regret over time, one panel per game."""
    from dp_bandit_envs.plots.curves_figure import PLAIN, ROUND, curves_figure  # so that no import needs matplotlib

    return curves_figure(
        [regret_panel(results, game, view) for game in results.experiment.games],
        across=ROUND,
        measure=view.measure,
        band=view.band,
        x_scale=results.experiment.checkpoints,
        y_scale=view.scale,
        columns=view.columns,
        appearance=PLAIN._replace(note=note),
    )


def regret_panel(results: Results, game: GameSpec, view: View) -> "Panel":
    """Return a panel with the regret of each algorithm in a game over time, labelled by its guarantee."""
    from dp_bandit_envs.plots.curves_figure import Curve, Panel

    labels, rounds = labels_of([results], [game.key]), results.rounds(game.key)
    shown = rounds >= (view.first_round if rounds[-1] > view.first_round else 1)
    curves = [
        Curve(name, labels[name], rounds[shown], results.regret(game.key, name, view.measure)[:, shown])
        for name in results.names_in(game)
    ]
    return Panel(game.title, curves, y_scale="log" if game.key in view.log_games else "")


def report_md(
    comparisons: Sequence[Entries],
    *,
    title: str,
    command: str,
    view: View = AS_IN_2017,
    notes: Sequence[Note] = (),
    claims: Sequence[Claim] = (),
    pictures: Sequence[str] = ("figure.png",),
) -> str:
    """Return a report in Markdown.

    The claims' table is there if there are claims; `pictures` are the files of the figures.
    """
    parts = [f"# {title}", _settings(comparisons, command)]
    parts += map(str, notes)
    parts += (f"![Regret]({picture})" for picture in pictures)
    for comparison in comparisons:
        where = f", {comparison.name}" if len(comparisons) > 1 else ""
        heading = f"## {format_measure(view.measure)} after the last round{where}"
        parts.append(f"{heading}\n\n{_regrets(comparison, view)}")
    convention = convention_of(entry for comparison in comparisons for entry in comparison.entries)
    parts.append(f"## Privacy guarantees: {convention}\n\n{_guarantees(comparisons)}\n\n{ABOUT_GUARANTEES}")
    if claims:
        rows = [(claim.says, claim.seen, claim.answer) for claim in claims]
        head = (f"{view.claimed_by[0].lower()}{view.claimed_by[1:]} says", "seen here", "holds?")
        parts.append(f"## {view.claimed_by}'s claims\n\n{markdown_table(head, rows)}")
    files = (
        "`results.npz`: raw arrays, named `game/algorithm/measure`, shape (trials, checkpoints).\n"
        "`summary.csv`: one row for each game, algorithm and checkpoint. `figure*.png`, `figure*.svg`: the figures.\n"
        "`numbers.json`: these tables' numbers with all digits, and further ones that claims compare.\n"
        "`configuration.json`: everything that determines the numbers."
    )
    if len(comparisons) > 1:
        folders = " and ".join(f"`{comparison.name}/`" for comparison in comparisons)
        files += f"\nNumbers and tables are in {folders}, one experiment each."
    parts.append(f"## Files\n\n{files}")
    return "\n\n".join(parts) + "\n"


def numbers_json(comparisons: Sequence[Entries], view: View, more: Mapping[str, Numbers]) -> str:
    """Return the numbers of a report, and `more` of them, as JSON: one per line, named `experiment/game/algorithm`.

    The name of a single experiment is left out.
    """
    numbers: dict[str, Numbers] = {
        f"{comparison.name + '/' if len(comparisons) > 1 else ''}{entry.key}/{entry.name}": _at_the_end(
            entry.values(view.measure)[:, -1]
        )
        for comparison in comparisons
        for entry in comparison.entries
    }
    lines = []
    for name, of_name in {**numbers, **more}.items():
        # JSON has no NaN, as the error of a single trial is.
        plain = {key: number if math.isfinite(number) else None for key, number in of_name.items()}
        lines.append(f"{json.dumps(name)}: {json.dumps(plain)}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _at_the_end(last: FloatArray) -> Numbers:
    statistics = summary(last)
    numbers = {name: statistics[word] for name, word in STATISTICS.items()} | {"least": last.min(), "most": last.max()}
    return {"trials": len(last), **{name: float(number) for name, number in numbers.items()}}


def format_measure(measure: str) -> str:
    """Return the name of a measure for readers, such as "External regret" or "Pseudo-regret"."""
    return measure.replace("_", "-" if measure.startswith("pseudo") else " ").capitalize()


def _is_installed(package: str) -> bool:
    """Return whether a distribution is installed; without Numba, algorithms are played."""
    return any(importlib.metadata.distributions(name=package))


def _settings(comparisons: Sequence[Entries], command: str) -> str:
    versions = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in PACKAGES if _is_installed(name))
    seed = comparisons[0].seed
    sizes = [f"{_format_trials(comparison)}, horizon {_format_horizon(comparison)}" for comparison in comparisons]
    if len(comparisons) > 1:
        sizes = [f"{size} ({comparison.name})" for size, comparison in zip(sizes, comparisons, strict=True)]
    typed = "Command" if command.startswith("dp-bandit") else "Call"
    again = (
        "Nobody knows the seed, so the run cannot be repeated."
        if seed is None
        else f"The same {typed.lower()} gives the same numbers to the last bit, whatever the number of cores."
    )
    top = f"{typed}: `{command}`\n\n" if command else ""
    shown_seed = "A secret seed" if seed is None else f"Seed {seed}"
    return f"{top}{shown_seed}; {'; '.join(sizes)}. Python {platform.python_version()}, {versions}. {again}"


def _format_trials(comparison: Entries) -> str:
    least = min(entry.trials for entry in comparison.entries)
    longer: dict[int, dict[str, None]] = {}
    for entry in comparison.entries:
        if entry.trials > least:
            longer.setdefault(entry.trials, {})[entry.name] = None
    more = "; ".join(f"{trials:,} of {', '.join(names)}" for trials, names in longer.items())
    return f"{least:,} trial{'' if least == 1 else 's'}{f' ({more})' if more else ''}"


def _format_horizon(comparison: Entries) -> str:
    horizons = {entry.horizon for entry in comparison.entries}
    return f"{horizons.pop():,}" if len(horizons) == 1 else "each game's own"


def _regrets(comparison: Entries, view: View) -> str:
    rows: list[dict[str, str]] = []
    for entry in comparison.entries:
        last = entry.values(view.measure)[:, -1]
        numbers = {name: float(number) for name, number in summary(last).items()}
        confidence = median_of_means(last).confidence
        row = {
            "game": entry.title,
            "algorithm": entry.name,
            f"guarantee ({convention_of(comparison.entries)})": str(entry.level),
            "trials": f"{len(last):,}",
            "mean ± s.e.": f"{numbers['mean']:,.1f} ± {numbers['standard_error']:,.1f}",
            "median / 99 % quantile": f"{numbers['median']:,.1f} / {numbers['quantile_99']:,.1f}",
            "median of means": f"{numbers['median_of_means']:,.1f}",
            f"its interval ({confidence:.3f})": f"{numbers['interval_low']:,.1f} to {numbers['interval_high']:,.1f}",
            "Gini's mean difference below / above": f"{numbers['gini_below']:,.1f} / {numbers['gini_above']:,.1f}",
            EXTREMES: f"{last.min():,.1f} to {last.max():,.1f}",
            "bound on the mean": f"{entry.bounds[view.measure]:,.0f}" if view.measure in entry.bounds else "none known",
        }
        # Only the claims about figure 2 mention the extremes.
        if view.measure != "pseudo_regret":
            del row[EXTREMES]
        rows.append(row)
    return markdown_table(list(rows[-1]), [list(row.values()) for row in rows])


def _guarantees(comparisons: Sequence[Entries]) -> str:
    rows: dict[tuple[str, ...], list[str]] = {}
    games: dict[str, int] = {}
    for comparison in comparisons:
        units = format_units(comparison.entries)
        for entry in comparison.entries:
            of_units = [units.get(unit, {}).get(entry.name, "") for unit in UNITS]
            row = (entry.name, str(entry.level), *of_units, entry.paper, entry.guarantee)
            rows.setdefault(row, []).append(entry.title)
            games[entry.name] = games.get(entry.name, 0) + 1
    cells = [
        (*row[:-1], "all" if len(titles) == games[row[0]] else "; ".join(dict.fromkeys(titles)), row[-1])
        for row, titles in rows.items()
    ]
    head = ("algorithm", "guaranteed", *FOR_UNITS, "the paper's figure", "games", "guarantee and reason")
    kept = [index for index, title in enumerate(head) if title not in FOR_UNITS or any(row[index] for row in cells)]
    return markdown_table([head[index] for index in kept], [[row[index] for index in kept] for row in cells])


def format_units(entries: Iterable[Entry]) -> dict[str, dict[str, str]]:
    """Return each algorithm's guarantee for a record, and for a person, over all games, in words.

    By the unit's name; without units whose participation is unknown in all games.
    """
    levels: dict[str, dict[str, dict[ShownEpsilon, None]]] = {}
    for entry in entries:
        for unit, level in entry.units.items():
            levels.setdefault(unit, {}).setdefault(entry.name, {})[level] = None
    return {
        unit: {name: format_levels(of_name) for name, of_name in levels[unit].items()}
        for unit in UNITS
        if unit in levels
    }


def notes_on(comparison: Entries) -> list[Note]:
    """Return the notes before the results of games without a paper: epsilons, seed, real data."""
    is_real = any(entry.is_real for entry in comparison.entries)
    calibrated = any(entry.calibrated for entry in comparison.entries)
    asked = _about_guarantees(comparison) if calibrated else _about_epsilons(comparison)
    notes = [Note(text, on_terminal=True) for text in (asked, _about_silence(comparison)) if text]
    if not is_real:
        return notes
    known_seed = Note(f"{KNOWN_SEED[0].upper()}{KNOWN_SEED[1:]}", warning="The noise can be subtracted.")
    return [*notes, Note(SECRET_SEED) if comparison.seed is None else known_seed, _about_results(comparison)]


def _about_epsilons(comparison: Entries) -> str:
    """Return a sentence on the algorithms that use the epsilon, their delta, and algorithms with another guarantee."""
    with_delta: dict[float | None, dict[str, None]] = {}
    others: dict[str, list[ShownEpsilon]] = {}
    for entry in comparison.entries:
        if entry.asked is not None:
            with_delta.setdefault(entry.parameters.get("delta"), {})[entry.algorithm] = None
        else:
            others.setdefault(entry.name, []).append(entry.level)
    if not with_delta:
        return ""
    usual = {float(entry.horizon) ** -2 for entry in comparison.entries}
    parts = [
        ", ".join(names)
        + ("" if delta is None else f" with delta = {delta:.3g}" + (" = T^-2" if delta in usual else ""))
        for delta, names in with_delta.items()
    ]
    epsilons = dict.fromkeys(entry.asked for entry in comparison.entries if entry.asked is not None)
    goes = "goes" if len(epsilons) == 1 else "go"
    text = f"epsilon = {' and '.join(f'{level:g}' for level in epsilons)} {goes} to {'; '.join(parts)}."
    labels = [label_of(name, list(dict.fromkeys(levels))) for name, levels in others.items()]
    return text + (f" Not to {', '.join(labels)}." if labels else "")


def _about_guarantees(comparison: Entries) -> str:
    """Return a sentence on the parameters that give algorithms the requested guarantee."""

    def format_parameter(name: str, setting: Any) -> str:
        return f"{name} = {setting:.7g}" if isinstance(setting, float) else f"{name} = {setting}"

    parts = []
    for title in comparison.titles:
        of_game = [
            f"{entry.name} with {', '.join(format_parameter(*pair) for pair in entry.parameters.items())}"
            for entry in comparison.entries
            if entry.title == title and entry.asked is not None and entry.parameters
        ]
        parts.append((f"{title}: " if len(comparison.titles) > 1 else "") + "; ".join(of_game))
    return f"At the guarantees that were asked for, found by their real ones: {'. '.join(filter(None, parts))}."


def _about_silence(comparison: Entries) -> str:
    """Return a sentence for each game on algorithms whose first release would come after its end."""
    sentences = []
    for title in comparison.titles:
        silent = [entry for entry in comparison.entries if entry.title == title and entry.silence]
        if silent:
            where = f" of {title}" if len(comparison.titles) > 1 else ""
            sentences.append(f"{', '.join(entry.name for entry in silent)} {silent[0].silence}{where}.")
    return f"{' '.join(sentences)} What is played so is chance, not learning." if sentences else ""


def _about_results(comparison: Entries) -> Note:
    sentences = [
        "Regrets, figure and all files here are computed from true outcomes: they are NOT private, keep them where the"
        " data are. A guarantee is for the arms played in one game."
    ]
    trials = max(entry.trials for entry in comparison.entries)
    if trials > 1:
        together = {(entry.name, tuple(entry.units)): entry.all_games for entry in comparison.entries}
        labels = ", ".join(
            label_of(name, [level]) + (f" for a {units[-1]}" if units else "")
            for (name, units), level in together.items()
            if level and math.isfinite(level.epsilon)
        )
        sentences.append(
            f"Showing the arms of all {trials} games spends it {trials} times"
            + (f", together {labels}." if labels else ".")
        )
    if weak := _with_large_epsilons(comparison):
        sentences.append(f"An epsilon of {HARDLY:g} or more hardly protects anybody: {', '.join(weak)}.")
    return Note(" ".join(sentences), on_terminal=True)


def _with_large_epsilons(comparison: Entries) -> list[str]:
    """Return the algorithms with a large epsilon for a round, or for a record or person if known."""
    weak: dict[str, None] = {}
    for entry in comparison.entries:
        levels = {"a round": entry.level, **{f"a {unit}": level for unit, level in entry.units.items()}}
        unit, worst = max(levels.items(), key=lambda pair: pair[1].epsilon)
        if worst.epsilon >= HARDLY:
            least = f"{worst.epsilon:.4g}" if math.isfinite(worst.epsilon) else "none"
            level = "none" if entry.model == "none" else f"{least} for {unit}"
            weak[f"{entry.name} ({level})"] = None
    return list(weak)
